/*
 * store_read.c - reading blocks and unpacking their rows.
 *
 * A block is trusted only after its length and checksum are right, and then
 * only within its own bounds.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/params.h"
#include "port/pg_crc32c.h"
#include "store.h"
#include "store_format.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

/* Hands each block of a query to the caller. */
typedef struct block_receiver
{
	DestReceiver pub;
	const gnngp_model *model;
	gnngp_block_fn take;
	void	   *state;
	MemoryContext context;		/* of one block */
	int64		blocks;
	int64		rows;
	int64		last_key;
	bool		stopped;
} block_receiver;

/* XX001: a block is not what was written. */
void
gnngp_store_corrupted(const gnngp_model *model, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the stored model \"%s\" is damaged: %s", model->name, what),
			 errhint("Fit the model again with gp_refresh.")));
}

/* The checksum of a block, its own field taken as zero. */
static uint32
block_checksum(const char *data, size_t length)
{
	static const char zero[4] = {0};
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, data, AT_CHECKSUM);
	COMP_CRC32C(crc, zero, sizeof(zero));
	COMP_CRC32C(crc, data + AT_CHECKSUM + 4, length - AT_CHECKSUM - 4);
	FIN_CRC32C(crc);
	return crc;
}

/* Checks what every block begins with. */
void
gnngp_store_check_block(const gnngp_model *model, uint32 magic, uint32 format, size_t header,
						const char *data, size_t length)
{
	if (length < header || gnngp_get32(data + AT_MAGIC) != magic)
		gnngp_store_corrupted(model, "a block has no header");
	if (gnngp_get32(data + AT_FORMAT) != format)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the stored model \"%s\" has format %u, this version of gnngp reads format %u",
						model->name, gnngp_get32(data + AT_FORMAT), format),
				 errhint("Fit the model again with gp_refresh.")));
	if (gnngp_get64(data + AT_LENGTH) != length)
		gnngp_store_corrupted(model, "a block has the wrong length");
	if (gnngp_get32(data + AT_CHECKSUM) != block_checksum(data, length))
		gnngp_store_corrupted(model, "a block has the wrong checksum");
}

/* Fills in what every block begins with. */
void
gnngp_store_seal(uint32 magic, uint32 format, char *buffer, size_t length)
{
	char	   *data = VARDATA(buffer);

	gnngp_put32(data + AT_MAGIC, magic);
	gnngp_put32(data + AT_FORMAT, format);
	gnngp_put64(data + AT_LENGTH, length);
	gnngp_put32(data + AT_CHECKSUM, block_checksum(data, length));
	SET_VARSIZE(buffer, VARHDRSZ + length);
}

/* Seals a block and inserts it. */
void
gnngp_store_insert(gnngp_block_place place, uint32 magic, uint32 format, char *buffer, size_t length,
				   int32 nrows)
{
	Oid			types[] = {INT8OID, INT8OID, TEXTOID, INT4OID, INT8OID, INT4OID, BYTEAOID};
	Datum		values[] = {Int64GetDatum(place.model), Int64GetDatum(place.version),
		CStringGetTextDatum(place.part), Int32GetDatum(place.block),
		place.first_key ? Int64GetDatum(*place.first_key) : (Datum) 0, Int32GetDatum(nrows),
	PointerGetDatum(buffer)};
	char		nulls[] = {' ', ' ', ' ', ' ', place.first_key ? ' ' : 'n', ' ', ' '};

	gnngp_store_seal(magic, format, buffer, length);
	gnngp_execute_as_extension(psprintf("INSERT INTO %s.gp_block"
										" (model, version, part, block, first_key, nrows, data)"
										" VALUES ($1, $2, $3, $4, $5, $6, $7)", gnngp_schema()),
							   lengthof(types), types, values, nulls);
}

/* Finds what makes probabilities of scores; returns the bytes that it takes. */
static size_t
open_calibrator(const gnngp_model *model, const char *data, gnngp_block *block)
{
	block->biases = NULL;
	if (block->nclasses == 0)
		return 0;
	if (data + gnngp_calibrator_size(block->nclasses) > block->data + block->length)
		gnngp_store_corrupted(model, "a block is too short");
	block->calibrator = (gp_calibrator) {gnngp_get_float8(data), gnngp_get_float8(data + sizeof(double)), NULL};
	block->biases = data + 2 * sizeof(double);
	return gnngp_calibrator_size(block->nclasses);
}

/* Checks the header of a block and finds its parts. */
void
gnngp_block_open(const gnngp_model *model, const char *data, size_t length, gnngp_block *block)
{
	uint32		flags;
	size_t		need;

	gnngp_store_check_block(model, BLOCK_MAGIC, BLOCK_FORMAT, HEADER_SIZE, data, length);
	flags = gnngp_get32(data + AT_FLAGS);
	block->data = data;
	block->length = length;
	block->nrows = (int32) gnngp_get32(data + AT_NROWS);
	block->nclasses = (int32) gnngp_get32(data + AT_NCLASSES);
	block->text_ids = (flags & BLOCK_TEXT_IDS) != 0;
	if (block->nrows < 1 || block->nclasses != model->class_labels.n ||
		block->text_ids == model->integer_ids)
		gnngp_store_corrupted(model, "a block does not belong to it");
	block->has_targets = (flags & BLOCK_HAS_TARGETS) != 0;
	block->stride = gnngp_row_stride(block->nclasses) + (block->has_targets ? sizeof(double) : 0);
	block->shares = (flags & BLOCK_HAS_SHARES) ? data + HEADER_SIZE : NULL;
	need = HEADER_SIZE + (block->shares ? (size_t) block->nclasses * sizeof(double) : 0);
	need += open_calibrator(model, data + need, block);
	block->rows = data + need;
	need += (size_t) block->nrows * block->stride;
	if (need > length)
		gnngp_store_corrupted(model, "a block is too short");
	block->texts = data + need;
	block->texts_length = length - need;
}

/* Unpacks a row. */
void
gnngp_block_row(const gnngp_block *block, int32 i, gnngp_node_row *row)
{
	const char *p = block->rows + (size_t) i * block->stride;
	uint32		flags = gnngp_get32(p + AT_ROW_FLAGS);

	row->id.key = (int64) gnngp_get64(p + AT_KEY);
	row->variance = gnngp_get_float8(p + AT_VARIANCE);
	row->log_partition = row->value = gnngp_get_float8(p + AT_VALUE);
	row->labelled = (flags & ROW_LABELLED) != 0;
	row->is_prior = (flags & ROW_PRIOR) != 0;
	row->scores = p + ROW_FIXED;
	row->order = row->scores + (size_t) block->nclasses * sizeof(float);
	row->target = block->has_targets ? gnngp_get_float8(p + block->stride - sizeof(double)) : 0.0;
	row->id.text = NULL;
	row->id.length = 0;
	if (block->text_ids)
	{
		size_t		end = gnngp_get32(p + AT_TEXT_END);
		size_t		start = i > 0 ? gnngp_get32(p - block->stride + AT_TEXT_END) : 0;

		if (start > end || end > block->texts_length)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("a stored model is damaged: an id lies outside its block")));
		row->id.text = block->texts + start;
		row->id.length = (int) (end - start);
		if (gnngp_text_key(row->id.text, row->id.length) != row->id.key)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("a stored model is damaged: an id does not belong to its key"),
					 errhint("Fit the model again with gp_fit or gp_refresh.")));
	}
}

/* The probability of the k-th best class. */
double
gnngp_row_probability(const gnngp_block *block, const gnngp_node_row *row, int32 k)
{
	uint16		class = gnngp_row_class(row, k);
	size_t		at = (size_t) class * sizeof(double);
	double		logit;

	if (class >= block->nclasses)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("a stored model is damaged: a class is unknown"),
				 errhint("Fit the model again with gp_fit or gp_refresh.")));
	if (row->is_prior && block->shares)
		return gnngp_get_float8(block->shares + at);
	logit = gp_logit(&block->calibrator, 0, gnngp_row_score(row, k)) +
		(block->biases ? gnngp_get_float8(block->biases + at) : 0.0);
	return Min(exp(logit - row->log_partition), 1.0);
}

/* The key of row i. */
static int64
row_key(const gnngp_block *block, int32 i)
{
	return (int64) gnngp_get64(block->rows + (size_t) i * block->stride + AT_KEY);
}

/* Finds the first row with at least this key. */
int32
gnngp_block_search(const gnngp_block *block, int64 key)
{
	int32		low = 0,
				high = block->nrows;

	while (low < high)
	{
		int32		mid = low + (high - low) / 2;

		if (row_key(block, mid) < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Validates one block and hands it on. */
static bool
receive_block(TupleTableSlot *slot, DestReceiver *self)
{
	block_receiver *br = (block_receiver *) self;
	MemoryContext old;
	struct varlena *data;
	gnngp_block block;

	slot_getallattrs(slot);
	old = MemoryContextSwitchTo(br->context);
	data = PG_DETOAST_DATUM(slot->tts_values[0]);
	gnngp_block_open(br->model, VARDATA(data), VARSIZE(data) - VARHDRSZ, &block);
	br->blocks++;
	br->rows += block.nrows;
	if (block.nrows > 0)
		br->last_key = row_key(&block, block.nrows - 1);
	CHECK_FOR_INTERRUPTS();
	br->stopped = !br->take(br->state, &block);
	MemoryContextSwitchTo(old);
	MemoryContextReset(br->context);
	return !br->stopped;
}

/* A receiver of blocks of nodes. */
static block_receiver
open_receiver(const gnngp_model *model, gnngp_block_fn take, void *state)
{
	block_receiver br = {.model = model, .take = take, .state = state};

	gnngp_receiver_init(&br.pub, receive_block);
	br.context = AllocSetContextCreate(CurrentMemoryContext, "gnngp block", ALLOCSET_DEFAULT_SIZES);
	return br;
}

/* Runs a query for blocks; its parameters are model, version and key. */
static void
run_query(const char *query, int64 model_id, int64 version, int64 key, DestReceiver *receiver)
{
	SPIExecuteOptions options = {0};
	int			guc_level = NewGUCNestLevel();
	int64		values[] = {model_id, version, key};
	ParamListInfo params = makeParamList(lengthof(values));

	for (int i = 0; i < (int) lengthof(values); i++)
	{
		params->params[i].value = Int64GetDatum(values[i]);
		params->params[i].isnull = false;
		params->params[i].pflags = PARAM_FLAG_CONST;
		params->params[i].ptype = INT8OID;
	}
	gnngp_pin("row_security", "on");
	options.params = params;
	options.read_only = true;
	options.dest = receiver;
	if (SPI_execute_extended(query, &options) != SPI_OK_SELECT)
		elog(ERROR, "reading blocks failed");
	AtEOXact_GUC(false, guc_level);
}

/* The part of every query that names the model's blocks. */
static const char *
from_blocks(const char *part, const char *columns, const char *alias)
{
	return psprintf("SELECT %s FROM %s.gp_block %s"
					" WHERE %s.model OPERATOR(pg_catalog.=) $1"
					" AND %s.version OPERATOR(pg_catalog.=) $2"
					" AND %s.part OPERATOR(pg_catalog.=) '%s'::pg_catalog.text",
					columns, gnngp_schema(), alias, alias, alias, alias, part);
}

/* Hands all blocks of a part to the receiver. */
void
gnngp_store_receive(int64 model_id, int64 version, const char *part, DestReceiver *receiver)
{
	run_query(psprintf("%s ORDER BY k.block", from_blocks(part, "k.data", "k")), model_id, version, 0, receiver);
}

/* Reads all blocks of a part in order. */
void
gnngp_store_scan(const gnngp_model *model, const char *part, gnngp_block_fn take, void *state)
{
	block_receiver br;
	int64		rows = strcmp(part, "node") == 0 ? model->nodes : model->labelled;

	gnngp_spi_connect();
	br = open_receiver(model, take, state);
	gnngp_store_receive(model->id, model->version, part, &br.pub);
	if (br.blocks == 0 || (!br.stopped && br.rows != rows))
		gnngp_store_corrupted(model, "some of its blocks are missing");
	gnngp_spi_finish();
}

/* Takes no block. */
static bool
take_none(void *state, const gnngp_block *block)
{
	return false;
}

/* The same where no block may have one of some keys: does any begin the part? */
static void
require_part(const gnngp_model *model, const char *part)
{
	block_receiver br = open_receiver(model, take_none, NULL);

	run_query(psprintf("%s AND k.block = 0", from_blocks(part, "k.data", "k")), model->id, model->version, 0,
			  &br.pub);
	if (br.blocks == 0)
		gnngp_store_corrupted(model, "some of its blocks are missing");
}

/* About how many blocks a model has. */
static int64
count_blocks(const gnngp_model *model)
{
	return 1 + model->nodes / (1 + BLOCK_TARGET / (int64) gnngp_row_stride(model->class_labels.n));
}

/*
 * Hands the blocks of a key to the receiver.  A key may begin a block and end the one
 * before it when ids are hashed texts, so all blocks from the last one that
 * begins with a smaller key are read.
 */
void
gnngp_store_receive_key(int64 model_id, int64 version, const char *part, int64 key, DestReceiver *receiver)
{
	run_query(psprintf("%s AND k.first_key OPERATOR(pg_catalog.<=) $3"
					   " AND k.block OPERATOR(pg_catalog.>=)"
					   " (%s AND b.first_key OPERATOR(pg_catalog.<) $3) ORDER BY k.block",
					   from_blocks(part, "k.data", "k"),
					   from_blocks(part, "coalesce(pg_catalog.max(b.block), 0)", "b")),
			  model_id, version, key, receiver);
}

/* Reads the blocks of some keys. */
void
gnngp_store_find(const gnngp_model *model, const char *part, const int64 *keys, int64 n,
				 gnngp_block_fn take, void *state)
{
	block_receiver br;

	gnngp_spi_connect();
	br = open_receiver(model, take, state);
	if (n > 1 && n > count_blocks(model) / 4)
		gnngp_store_receive(model->id, model->version, part, &br.pub);
	else
		for (int64 i = 0; i < n && !br.stopped; i++)
			if (br.blocks == 0 || keys[i] > br.last_key)
				gnngp_store_receive_key(model->id, model->version, part, keys[i], &br.pub);
	if (br.blocks == 0)
		require_part(model, part);
	gnngp_spi_finish();
}
