/*
 * store_kept.c - writing and reading the part "link_best".
 *
 * A block is
 *
 *   header    mark, format, length, checksum as in every block, then
 *             flags uint32      whether ids are texts, whether links have a direction
 *             nrows uint32      nodes
 *             npairs uint32     pairs of all of them
 *             first uint32      the number of the first node
 *   rows      nrows times: key int64, end of its pairs uint32, end of the id's text uint32
 *   pairs     npairs times: key of the other end int64, score, variance and probability
 *             double, number of the other end uint32, end of its id's text uint32
 *   texts     the ids' texts: of the nodes, then of the other ends; only when ids are texts
 */
#include "postgres.h"

#include <math.h>

#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "store_format.h"
#include "store_links.h"
#include "utils/memutils.h"

#define KEPT_PART "link_best"
#define KEPT_MAGIC 0x4b504e42	/* BNPK */
#define KEPT_FORMAT 1
#define KEPT_TARGET (32 * 1024)	/* bytes from which a block is closed: whoever asks for a node reads one */

#define KEPT_TEXT_IDS 1			/* flags */
#define KEPT_DIRECTED 2

#define AT_KEPT_FLAGS 20
#define AT_KEPT_ROWS 24
#define AT_KEPT_PAIRS 28
#define AT_KEPT_FIRST 32
#define KEPT_HEADER 36

#define KEPT_ROW 16				/* bytes; offsets in it: */
#define AT_ROW_PAIR_END 8
#define AT_ROW_TEXT_END 12

#define KEPT_PAIR 40
#define AT_PAIR_SCORE 8
#define AT_PAIR_VARIANCE 16
#define AT_PAIR_PROBABILITY 24
#define AT_PAIR_DST 32
#define AT_PAIR_TEXT_END 36

typedef struct kept_writer
{
	const gnngp_model *model;
	const gnngp_ids *ids;
	const gp_link_kept *kept;
	bool		directed;
	char	   *buffer;
	size_t		size;
	int32		block;
	int64		bytes;			/* of all blocks so far */
} kept_writer;

/* The length of a node's text. */
static size_t
text_length(const gnngp_ids *ids, int64 node)
{
	return ids->integer ? 0 : strlen(ids->text[node]);
}

/* The bytes of a node with its pairs. */
static size_t
node_bytes(const kept_writer *w, int64 node)
{
	size_t		bytes = KEPT_ROW + text_length(w->ids, node);

	for (int64 e = w->kept->first[node]; e < w->kept->first[node + 1]; e++)
		bytes += KEPT_PAIR + text_length(w->ids, w->kept->row[e].dst);
	return bytes;
}

/* The bytes of so many pairs of every node, texts taken as they are in the mean. */
int64
gnngp_kept_bytes(const gnngp_ids *ids, int64 keep)
{
	size_t		texts = 0;

	for (int64 i = 0; i < ids->n; i++)
		texts += text_length(ids, i);
	return ids->n * (KEPT_ROW + keep * KEPT_PAIR) + (1 + keep) * (int64) texts;
}

/* How many nodes from the first on make a block, and its bytes: at least one, and no more than a target. */
static int64
measure(const kept_writer *w, int64 first, size_t *length)
{
	int64		n = 0;

	*length = KEPT_HEADER;
	while (first + n < w->kept->nodes)
	{
		size_t		bytes = node_bytes(w, first + n);

		if (n > 0 && *length + bytes > KEPT_TARGET)
			break;
		*length += bytes;
		n++;
	}
	return n;
}

/* Appends the text of a node; returns where it ends. */
static uint32
put_text(const gnngp_ids *ids, int64 node, char *texts, size_t *end)
{
	size_t		length = text_length(ids, node);

	if (length > 0)
		memcpy(texts + *end, ids->text[node], length);
	*end += length;
	return (uint32) *end;
}

/* Packs n nodes from the first on into the buffer. */
static void
pack(kept_writer *w, int64 first, int64 n)
{
	const int64_t *start = w->kept->first + first;
	int64		npairs = start[n] - start[0];
	char	   *block = VARDATA(w->buffer);
	char	   *row = block + KEPT_HEADER;
	char	   *pair = row + n * KEPT_ROW;
	char	   *texts = pair + npairs * KEPT_PAIR;
	size_t		text_end = 0;

	gnngp_put32(block + AT_KEPT_FLAGS, (w->ids->integer ? 0 : KEPT_TEXT_IDS) | (w->directed ? KEPT_DIRECTED : 0));
	gnngp_put32(block + AT_KEPT_ROWS, (uint32) n);
	gnngp_put32(block + AT_KEPT_PAIRS, (uint32) npairs);
	gnngp_put32(block + AT_KEPT_FIRST, (uint32) first);
	for (int64 i = 0; i < n; i++, row += KEPT_ROW)
	{
		gnngp_put64(row, (uint64) w->ids->key[first + i]);
		gnngp_put32(row + AT_ROW_PAIR_END, (uint32) (start[i + 1] - start[0]));
		gnngp_put32(row + AT_ROW_TEXT_END, put_text(w->ids, first + i, texts, &text_end));
	}
	for (int64 e = start[0]; e < start[n]; e++, pair += KEPT_PAIR)
	{
		const gp_link_row *from = &w->kept->row[e];

		gnngp_put64(pair, (uint64) w->ids->key[from->dst]);
		gnngp_put_float8(pair + AT_PAIR_SCORE, from->score);
		gnngp_put_float8(pair + AT_PAIR_VARIANCE, from->variance);
		gnngp_put_float8(pair + AT_PAIR_PROBABILITY, from->probability);
		gnngp_put32(pair + AT_PAIR_DST, (uint32) from->dst);
		gnngp_put32(pair + AT_PAIR_TEXT_END, put_text(w->ids, from->dst, texts, &text_end));
	}
}

/* 54000: the ids of one node's pairs are too long for a block. */
static void
check_length(const kept_writer *w, size_t length)
{
	if (length > BLOCK_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the pairs of a node of model \"%s\" take %zu bytes, more than a block of %d",
						w->model->name, length, BLOCK_MAX),
				 errhint("Keep fewer pairs of each node, or use shorter ids.")));
}

/* Writes the part. */
int64
gnngp_kept_write(const gnngp_model *model, const gnngp_ids *ids, const gp_link_kept *kept, bool directed)
{
	kept_writer w = {.model = model, .ids = ids, .kept = kept, .directed = directed};
	size_t		length;
	int64		n;

	gnngp_spi_connect();
	for (int64 i = 0; i < kept->nodes; i += n)
	{
		gnngp_block_place place = {model->id, model->link.version, KEPT_PART, w.block++, &ids->key[i]};

		CHECK_FOR_INTERRUPTS();
		n = measure(&w, i, &length);
		check_length(&w, length);
		if (length > w.size)
		{
			w.size = Max(length, KEPT_TARGET);
			w.buffer = palloc(VARHDRSZ + w.size);
		}
		pack(&w, i, n);
		gnngp_store_insert(place, KEPT_MAGIC, KEPT_FORMAT, w.buffer, length, (int32) n);
		w.bytes += (int64) length;
	}
	gnngp_spi_finish();
	return w.bytes;
}

/* Hands each block to the caller. */
typedef struct kept_reader
{
	DestReceiver pub;
	const gnngp_model *model;
	gnngp_kept_fn take;
	void	   *state;
	MemoryContext context;		/* of one block */
	int64		rows;
	int64		blocks;
	int64		last_key;
} kept_reader;

/* Checks a block and finds its parts. */
static gnngp_kept_block
open_block(const gnngp_model *model, const char *data, size_t length)
{
	gnngp_kept_block block = {.model = model};
	uint32		flags;
	uint64		nrows,
				npairs,
				first,
				need;

	gnngp_store_check_block(model, KEPT_MAGIC, KEPT_FORMAT, KEPT_HEADER, data, length);
	flags = gnngp_get32(data + AT_KEPT_FLAGS);
	nrows = gnngp_get32(data + AT_KEPT_ROWS);
	npairs = gnngp_get32(data + AT_KEPT_PAIRS);
	first = gnngp_get32(data + AT_KEPT_FIRST);
	need = KEPT_HEADER + nrows * KEPT_ROW + npairs * KEPT_PAIR;
	if (nrows < 1 || first + nrows > (uint64) model->link.nodes || need > length ||
		((flags & KEPT_TEXT_IDS) == 0) != model->link.integer_ids)
		gnngp_store_corrupted(model, "a block of its kept links does not belong to it");
	block.first = (int32) first;
	block.nrows = (int32) nrows;
	block.npairs = (int32) npairs;
	block.directed = (flags & KEPT_DIRECTED) != 0;
	block.rows = data + KEPT_HEADER;
	block.pairs = block.rows + nrows * KEPT_ROW;
	block.texts = data + need;
	block.texts_length = length - need;
	return block;
}

/* The key of node i. */
static int64
key_at(const gnngp_kept_block *block, int32 i)
{
	return (int64) gnngp_get64(block->rows + (size_t) i * KEPT_ROW);
}

/* Validates one block and hands it on. */
static bool
receive_block(TupleTableSlot *slot, DestReceiver *self)
{
	kept_reader *r = (kept_reader *) self;
	MemoryContext old = MemoryContextSwitchTo(r->context);
	struct varlena *data;
	gnngp_kept_block block;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	data = PG_DETOAST_DATUM(slot->tts_values[0]);
	block = open_block(r->model, VARDATA(data), VARSIZE(data) - VARHDRSZ);
	r->blocks++;
	r->rows += block.nrows;
	r->last_key = key_at(&block, block.nrows - 1);
	r->take(r->state, &block);
	MemoryContextSwitchTo(old);
	MemoryContextReset(r->context);
	return true;
}

/* A reader of the part. */
static kept_reader
open_reader(const gnngp_model *model, gnngp_kept_fn take, void *state)
{
	kept_reader r = {.model = model, .take = take, .state = state};

	gnngp_receiver_init(&r.pub, receive_block);
	r.context = AllocSetContextCreate(CurrentMemoryContext, "gnngp block", ALLOCSET_DEFAULT_SIZES);
	return r;
}

/* Hands out all blocks. */
void
gnngp_kept_scan(const gnngp_model *model, gnngp_kept_fn take, void *state)
{
	kept_reader r;

	gnngp_spi_connect();
	r = open_reader(model, take, state);
	gnngp_store_receive(model->id, model->link.version, KEPT_PART, &r.pub);
	if (r.rows != model->link.nodes)
		gnngp_store_corrupted(model, "some blocks of its kept links are missing");
	gnngp_spi_finish();
}

/* Takes nothing of a block. */
static void
take_nothing(void *state, const gnngp_kept_block *block)
{
}

/* Hands out the blocks of some keys; where none may have one, any other tells that the part is there. */
void
gnngp_kept_find(const gnngp_model *model, const int64 *keys, int64 n, gnngp_kept_fn take, void *state)
{
	kept_reader r;

	gnngp_spi_connect();
	r = open_reader(model, take, state);
	for (int64 i = 0; i < n; i++)
		if (r.blocks == 0 || keys[i] > r.last_key)
			gnngp_store_receive_key(model->id, model->link.version, KEPT_PART, keys[i], &r.pub);
	r.take = take_nothing;
	if (r.blocks == 0)
		gnngp_store_receive_key(model->id, model->link.version, KEPT_PART, PG_INT64_MAX, &r.pub);
	if (r.blocks == 0)
		gnngp_store_corrupted(model, "the blocks of its kept links are missing");
	gnngp_spi_finish();
}

/* The first node with at least this key. */
int32
gnngp_kept_search(const gnngp_kept_block *block, int64 key)
{
	int32		low = 0,
				high = block->nrows;

	while (low < high)
	{
		int32		mid = low + (high - low) / 2;

		if (key_at(block, mid) < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The id of a key whose text lies between two places; integer ids have none. */
static gnngp_id
id_between(const gnngp_kept_block *block, int64 key, uint32 start, uint32 end)
{
	gnngp_id	id = {.key = key};

	if (block->model->link.integer_ids)
		return id;
	if (start > end || end > block->texts_length)
		gnngp_store_corrupted(block->model, "an id lies outside its block");
	id.text = block->texts + start;
	id.length = (int) (end - start);
	return id;
}

/* Unpacks node i. */
void
gnngp_kept_node_at(const gnngp_kept_block *block, int32 i, gnngp_kept_node *node)
{
	const char *row = block->rows + (size_t) i * KEPT_ROW;
	uint32		first = i > 0 ? gnngp_get32(row - KEPT_ROW + AT_ROW_PAIR_END) : 0;
	uint32		end = gnngp_get32(row + AT_ROW_PAIR_END);

	if (first > end || end > (uint32) block->npairs)
		gnngp_store_corrupted(block->model, "a kept link lies outside its block");
	node->node = block->first + i;
	node->first = (int32) first;
	node->end = (int32) end;
	node->id = id_between(block, (int64) gnngp_get64(row),
						  i > 0 ? gnngp_get32(row - KEPT_ROW + AT_ROW_TEXT_END) : 0,
						  gnngp_get32(row + AT_ROW_TEXT_END));
}

/* Unpacks pair e; its text begins where that of the one before it ends, or that of the last node. */
void
gnngp_kept_pair_at(const gnngp_kept_block *block, int32 e, gnngp_kept_pair *pair)
{
	const char *from = block->pairs + (size_t) e * KEPT_PAIR;
	const char *before = e > 0 ? from - KEPT_PAIR + AT_PAIR_TEXT_END :
		block->rows + (size_t) (block->nrows - 1) * KEPT_ROW + AT_ROW_TEXT_END;

	pair->dst = (int32) gnngp_get32(from + AT_PAIR_DST);
	pair->id = id_between(block, (int64) gnngp_get64(from), gnngp_get32(before), gnngp_get32(from + AT_PAIR_TEXT_END));
	pair->score = gnngp_get_float8(from + AT_PAIR_SCORE);
	pair->variance = gnngp_get_float8(from + AT_PAIR_VARIANCE);
	pair->probability = gnngp_get_float8(from + AT_PAIR_PROBABILITY);
	if (pair->dst < 0 || pair->dst >= block->model->link.nodes || !isfinite(pair->score) ||
		!(pair->variance >= 0.0 && pair->probability >= 0.0 && pair->probability <= 1.0))
		gnngp_store_corrupted(block->model, "a kept link is out of range");
}
