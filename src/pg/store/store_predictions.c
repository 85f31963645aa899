/*
 * store_predictions.c - a model's nodes as rows of a table, which queries can join.
 *
 * A row has what gp_predict says of the best class, or the value, and beside it the bytes that a
 * block of nodes would have for it: from these, in blocks that are put together as they come, gp_predict and
 * all others answer. The table is the model owner's, who may have changed it: nothing is
 * believed that could do harm, and it is read as he is, which the grants of the model allow its reader.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/params.h"
#include "store.h"
#include "store_format.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"

#define MANY_KEYS 1000			/* from which the whole table is read where it is not much larger */

/* 55000: the table is not what the model made. */
pg_noreturn static void
report_altered(const gnngp_model *model)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the table of the predictions of model \"%s\" has been altered", model->name),
			 errhint("Fit the model again with gp_refresh.")));
}

/* Prepares a statement on a model's table: its schema can be renamed beside the table's lock. */
static SPIPlanPtr
prepare(const gnngp_model *model, const char *query, int nargs, const Oid *types, int options)
{
	SPIPlanPtr	plan = SPI_prepare_cursor(query, nargs, unconstify(Oid *, types), options);
	CachedPlanSource *source;

	if (plan == NULL)
		elog(ERROR, "preparing a statement on predictions returned %s", SPI_result_code_string(SPI_result));
	source = linitial(SPI_plan_get_plan_sources(plan));
	if (!list_member_oid(source->relationOids, model->predictions))
		report_altered(model);
	return plan;
}

/* One row by itself. */
bool
gnngp_packed_row(const bytea *packed, int32 nclasses, gnngp_node_row *row)
{
	gnngp_block one = {.nclasses = nclasses,.stride = gnngp_row_stride(nclasses),.rows = VARDATA_ANY(packed)};

	if (VARSIZE_ANY_EXHDR(packed) != one.stride)
		return false;
	gnngp_block_row(&one, 0, row);
	return true;
}

/* Puts blocks together of the rows of a query. */
typedef struct table_receiver
{
	DestReceiver pub;
	const gnngp_model *model;
	gnngp_block_fn take;
	void	   *state;
	gnngp_identity reader;		/* who is the user again while a block is taken */
	gnngp_block block;			/* what its rows need, which stay in room */
	char	   *head;			/* what the block that has them points into */
	char	   *room;
	int32		most;			/* rows */
	int64		last_key;
	int64		rows;
	bool		stopped;
} table_receiver;

/* Takes a copy of the block without rows. */
static bool
take_head(void *state, const gnngp_block *block)
{
	table_receiver *r = state;

	if (block->nrows != 0 || block->text_ids)
		gnngp_store_corrupted(r->model, "its block and its table of predictions do not go together");
	r->head = MemoryContextAlloc(GetMemoryChunkContext((void *) r->room), block->length);
	memcpy(r->head, block->data, block->length);
	gnngp_block_open(r->model, r->head, block->length, &r->block);
	return false;
}

/* Has the reader take the rows that have come. */
static void
hand_over(table_receiver *r)
{
	gnngp_identity owner;

	if (r->block.nrows == 0)
		return;
	GetUserIdAndSecContext(&owner.user, &owner.context);
	SetUserIdAndSecContext(r->reader.user, r->reader.context);
	CHECK_FOR_INTERRUPTS();
	r->stopped = !r->take(r->state, &r->block);
	SetUserIdAndSecContext(owner.user, owner.context);
	r->block.nrows = 0;
}

/* Holds the columns against those that the table was made with. */
static void
receive_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	if (desc->natts != 2 || TupleDescAttr(desc, 0)->atttypid != INT8OID || TupleDescAttr(desc, 1)->atttypid != BYTEAOID)
		report_altered(((table_receiver *) self)->model);
}

/* Takes one row of the table: nodes ascend, and each has as many bytes as the model's classes make. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	table_receiver *r = (table_receiver *) self;
	struct varlena *packed;
	int64		key;

	slot_getallattrs(slot);
	if (slot->tts_isnull[0] || slot->tts_isnull[1])
		gnngp_store_corrupted(r->model, "a row of its table of predictions is NULL");
	packed = PG_DETOAST_DATUM_PACKED(slot->tts_values[1]);
	key = DatumGetInt64(slot->tts_values[0]);
	if (VARSIZE_ANY_EXHDR(packed) != r->block.stride)
		gnngp_store_corrupted(r->model, "a row of its table of predictions has the wrong length");
	memcpy(r->room + r->block.nrows * r->block.stride, VARDATA_ANY(packed), r->block.stride);
	if ((int64) gnngp_get64(VARDATA_ANY(packed) + AT_KEY) != key ||
		(r->rows > 0 && key <= r->last_key))
		gnngp_store_corrupted(r->model, "a row of its table of predictions is of another node");
	if ((Pointer) packed != DatumGetPointer(slot->tts_values[1]))
		pfree(packed);
	r->last_key = key;
	r->rows++;
	if (++r->block.nrows == r->most)
		hand_over(r);
	return !r->stopped;
}

/* Runs the query; those of a few keys look them up. */
static void
run_query(table_receiver *r, const char *table, const int64 *keys, int64 n)
{
	SPIExecuteOptions options = {.read_only = true,.dest = &r->pub};
	Oid			type = INT8ARRAYOID;
	SPIPlanPtr	plan;
	Datum	   *key = palloc(sizeof(Datum) * Max(n, 1));

	for (int64 i = 0; i < n; i++)
		key[i] = Int64GetDatum(keys[i]);
	if (keys)
	{
		options.params = makeParamList(1);
		options.params->params[0] = (ParamExternData) {
			.value = PointerGetDatum(construct_array(key, (int) n, INT8OID, sizeof(int64), true, TYPALIGN_DOUBLE)),
			.ptype = INT8ARRAYOID,.pflags = PARAM_FLAG_CONST
		};
	}
	plan = prepare(r->model, psprintf("SELECT p.node::pg_catalog.int8, p.packed FROM %s AS p%s ORDER BY p.node", table,
									  keys ? " WHERE p.node OPERATOR(pg_catalog.=) ANY ($1)" : ""), keys ? 1 : 0, &type,
				   CURSOR_OPT_PARALLEL_OK);
	if (SPI_execute_plan_extended(plan, &options) != SPI_OK_SELECT)
		elog(ERROR, "reading predictions failed");
}

/* Reads the nodes of a model whose predictions are in a table. */
void
gnngp_predictions_read(const gnngp_model *model, const int64 *keys, int64 n, gnngp_block_fn take, void *state)
{
	table_receiver r = {.model = model,.take = take,.state = state};
	const char *table;

	gnngp_spi_connect();
	r.room = palloc(Max(BLOCK_TARGET, gnngp_row_stride(model->class_labels.n)));
	gnngp_store_scan(model, "node", take_head, &r);
	r.block.rows = r.room;
	r.most = (int32) Max(BLOCK_TARGET / r.block.stride, 1);
	gnngp_receiver_init(&r.pub, receive_row);
	r.pub.rStartup = receive_startup;
	if (keys && n > MANY_KEYS && n > model->nodes / 8)
		keys = NULL;
	r.reader = gnngp_become_owner(model->owner_role);
	gnngp_pin("row_security", "off");
	table = gnngp_predictions_open(model);
	run_query(&r, table, keys, n);
	hand_over(&r);
	gnngp_become_again(&r.reader);
	if (keys == NULL && !r.stopped && r.rows != model->nodes)
		gnngp_store_corrupted(model, "rows of its table of predictions are missing");
	gnngp_spi_finish();
}
