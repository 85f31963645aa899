/*
 * store_rows.c - blocks of rows that are looked up by key.
 */
#include "postgres.h"

#include "store_rows.h"

/* ---- reading ---- */

/* A reading of blocks, and how far it is. */
typedef struct block_reading
{
	const gnngp_row_section *section;
	const gnngp_given_ids *given;	/* NULL: blocks are counted only */
	gnngp_stored_row_fn row;
	void	   *state;
	int64		next;			/* the first of the given ids that may still come */
	int64		blocks;
	int64		rows;
	int64		last_key;
} block_reading;

static int64
row_key(const gnngp_block *block, int32 i)
{
	return (int64) gnngp_get64(block->rows + (size_t) i * block->stride + AT_KEY);
}

/* The first row of a block with at least this key, or nrows. */
static int32
first_row(const gnngp_block *block, int64 key)
{
	int32		low = 0;

	GP_BISECT(low, block->nrows, at, row_key(block, at) < key);
	return low;
}

/*
 * Hands out the given rows of a block.  Rows with one key may go on in the next block: texts may
 * have the same hash.
 */
static void
hand_out_given(block_reading *r, const gnngp_block *block)
{
	const gnngp_given_ids *given = r->given;

	while (r->next < given->n)
	{
		int64		key = given->id[r->next].key;
		int32		i = first_row(block, key);

		CHECK_FOR_INTERRUPTS();
		for (; i < block->nrows && row_key(block, i) == key; i++)
		{
			const char *row = block->rows + (size_t) i * block->stride;
			gnngp_id	id;

			gnngp_block_id(block, row, i > 0 ? row - block->stride : NULL, &id);
			int64		place = gnngp_given_ids_find(given, &id);
			if (place >= 0)
				r->row(r->state, block, i, place);
		}
		if (i == block->nrows)
			return;
		while (r->next < given->n && given->id[r->next].key == key)
			r->next++;
	}
}

/* Validates one block, finds what is in it and hands out its rows. */
static void
block_row(void *state, const Datum *values, const bool *nulls)
{
	block_reading *r = state;
	const gnngp_row_section *section = r->section;
	struct varlena *value = PG_DETOAST_DATUM(values[0]);
	const char *data = VARDATA(value);
	size_t		length = VARSIZE(value) - VARHDRSZ;
	gnngp_block block = {.model = section->model,.data = data,.length = length};

	CHECK_FOR_INTERRUPTS();
	gnngp_store_check_block(section->model, section->magic, ROWS_FORMAT, ROWS_HEADER, data, length);
	block.flags = gnngp_get32(data + AT_FLAGS);
	block.text_ids = (block.flags & ROWS_TEXT_IDS) != 0;
	block.nrows = (int32) gnngp_get32(data + AT_NROWS);
	block.first = (int32) gnngp_get32(data + AT_FIRST);
	if (block.nrows < 1 || block.first < 0 || block.nrows > section->rows - block.first ||
		block.text_ids == section->integer_ids)
		gnngp_store_corrupted(section->model, "a block does not belong to it");
	size_t		need = section->open(&block, gnngp_get32(data + AT_COUNT));
	if (need > length)
		gnngp_store_corrupted(section->model, "a block is too short");
	block.texts = data + need;
	block.texts_length = length - need;
	r->blocks++;
	r->rows += block.nrows;
	r->last_key = row_key(&block, block.nrows - 1);
	for (int32 i = 0; r->given && r->given->all && i < block.nrows; i++)
		r->row(r->state, &block, i, 0);
	if (r->given)
		hand_out_given(r, &block);
}

void
gnngp_section_read(const gnngp_row_section *section, const gnngp_given_ids *given,
				   gnngp_stored_row_fn row, void *state)
{
	const gnngp_model *model = section->model;
	int64		blocks = 1 + section->rows / (1 + (int64) (section->target / section->row_bytes));
	block_reading r = {.section = section,.given = given,.row = row,.state = state};
	gnngp_sink	rows = {.row = block_row,.state = &r};

	gnngp_spi_connect();
	if (given->all || (given->n > 1 && given->n > blocks / 4))
		gnngp_store_receive(model, section->version, section->name, GNNGP_BLOCKS_ALL, 0, &rows);
	else
		for (int64 i = 0; i < given->n; i++)
			if (r.blocks == 0 || given->id[i].key > r.last_key)
				gnngp_store_receive(model, section->version, section->name, GNNGP_BLOCKS_KEY,
									given->id[i].key, &rows);
	bool		missing = given->all ? r.rows != section->rows : r.blocks == 0 && section->rows > 0;
	if (!given->all && missing)
	{
		/* No block may hold a key: is the section there? */
		r.given = NULL;
		gnngp_store_receive(model, section->version, section->name, GNNGP_BLOCKS_FIRST, 0, &rows);
		missing = r.blocks == 0;
	}
	if (missing)
		gnngp_store_corrupted(model, "some of its blocks are missing");
	gnngp_spi_finish();
}

void
gnngp_block_id(const gnngp_block *block, const char *row, const char *before, gnngp_id *id)
{
	size_t		start = before ? gnngp_get32(before + AT_TEXT_END) : 0;
	size_t		end = gnngp_get32(row + AT_TEXT_END);

	*id = (gnngp_id) {.key = (int64) gnngp_get64(row + AT_KEY)};
	if (!block->text_ids)
		return;
	if (start > end || end > block->texts_length)
		gnngp_store_corrupted(block->model, "an id lies outside its block");
	id->text = block->texts + start;
	id->length = (int) (end - start);
	if (gnngp_text_key(id->text, id->length) != id->key)
		gnngp_store_corrupted(block->model, "an id does not belong to its key");
}

/* ---- writing ---- */

size_t
gnngp_text_bytes(const gnngp_ids *ids, int64 node)
{
	return ids->integer ? 0 : strlen(ids->text[node]);
}

void
gnngp_pack_id(const gnngp_ids *ids, int64 node, char *row, char *texts, size_t *text_end)
{
	size_t		length = gnngp_text_bytes(ids, node);

	if (length > 0)
		memcpy(texts + *text_end, ids->text[node], length);
	*text_end += length;
	gnngp_put64(row + AT_KEY, (uint64) ids->key[node]);
	gnngp_put32(row + AT_TEXT_END, (uint32) *text_end);
}

int64
gnngp_section_write(const gnngp_row_section *section, const gnngp_ids *ids,
					const gnngp_row_packer *packer)
{
	char	   *buffer = NULL;
	size_t		room = 0;
	int64		bytes = 0;
	int32		block = 0;

	for (int64 first = 0, n; first < packer->n; first += n)
	{
		int64		node = packer->node ? packer->node[first] : first;
		size_t		length = packer->head + packer->bytes(packer->state, first);
		gnngp_block_key place = {section->model->id, section->version, section->name, block++,
		&ids->key[node]};

		CHECK_FOR_INTERRUPTS();
		for (n = 1; first + n < packer->n; n++)
		{
			size_t		more = packer->bytes(packer->state, first + n);

			if (length + more > section->target)
				break;
			length += more;
		}
		if (length > BLOCK_MAX)
			gnngp_raise(PROGRAM_LIMIT_EXCEEDED,
						"Use shorter ids, or keep fewer pairs of each node.",
						"a node of model \"%s\" takes %zu bytes, more than a block of %d",
						section->model->name, length, BLOCK_MAX);
		if (length > room)
		{
			if (buffer)
				pfree(buffer);
			room = Max(length, section->target);
			buffer = palloc(VARHDRSZ + room);
		}
		packer->pack(packer->state, VARDATA(buffer), first, n);
		gnngp_put32(VARDATA(buffer) + AT_NROWS, (uint32) n);
		gnngp_put32(VARDATA(buffer) + AT_FIRST, (uint32) first);
		gnngp_store_insert(place, section->magic, ROWS_FORMAT, buffer, length, (int32) n);
		bytes += (int64) length;
	}
	return bytes;
}
