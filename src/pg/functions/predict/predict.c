/*
 * predict.c - gp_predict, all forms: rows from the stored blocks.
 */
#include "postgres.h"

#include "node_rows.h"
#include "pg/functions/functions.h"
#include "utils/typcache.h"

/* The arguments of gp_predict. */
enum predict_argument
{
	ARG_MODEL, ARG_NODES, ARG_TOP, ARG_UNLABELLED, ARG_CLASS
};

/* The columns of gp_predict's rows. */
enum predict_column
{
	PREDICT_NODE, PREDICT_CLASS, PREDICT_SCORE, PREDICT_VARIANCE, PREDICT_PROBABILITY,
	PREDICT_COLUMNS
};

typedef struct wish
{
	int32		top;			/* classes for each node */
	bool		unlabelled_only;
	int32		class;			/* that is asked for; -1: the best of each node */
	Tuplesortstate *sort;
	TupleTableSlot *slot;
} wish;

/* Emits a row, or hands it to the sort. */
static void
emit_row(gnngp_node_rows *rows, Datum *values, bool *nulls)
{
	const wish *w = rows->arg;

	if (w->class < 0)
	{
		tuplestore_putvalues(rows->result->setResult, rows->result->setDesc, values, nulls);
		return;
	}
	ExecForceStoreMinimalTuple(gnngp_minimal_tuple(rows->result->setDesc, values, nulls), w->slot,
							   true);
	tuplesort_puttupleslot(w->sort, w->slot);
	ExecClearTuple(w->slot);
}

/* Emits the rows of one node. */
static void
emit_node(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	const wish *w = rows->arg;
	Datum		values[PREDICT_COLUMNS];
	bool		nulls[PREDICT_COLUMNS] = {false};

	if (w->unlabelled_only && row->labelled)
		return;
	values[PREDICT_NODE] = gnngp_id_type_datum(&rows->id_type, &row->id);
	values[PREDICT_VARIANCE] = Float8GetDatum(row->variance);
	if (block->nclasses == 0)
	{
		values[PREDICT_CLASS] = values[PREDICT_PROBABILITY] = (Datum) 0;
		nulls[PREDICT_CLASS] = nulls[PREDICT_PROBABILITY] = true;
		values[PREDICT_SCORE] = Float8GetDatum(row->value);
		emit_row(rows, values, nulls);
		return;
	}
	for (int32 k = 0; k < (w->class < 0 ? Min(w->top, block->nclasses) : block->nclasses); k++)
	{
		if (w->class >= 0 && gnngp_row_class(row, k) != w->class)
			continue;
		values[PREDICT_CLASS] = gnngp_node_rows_class(rows, block, row, k);
		values[PREDICT_SCORE] = Float8GetDatum((double) gnngp_row_score(row, k));
		values[PREDICT_PROBABILITY] = Float8GetDatum(gnngp_row_probability(block, row, k));
		emit_row(rows, values, nulls);
	}
}

/* gp_predict(model, id or nodes, top, unlabelled_only, class) */
PG_FUNCTION_INFO_V1(gnngp_predict);
Datum
gnngp_predict(PG_FUNCTION_ARGS)
{
	gnngp_node_rows rows;
	wish		w = {.class = -1};
	TupleDesc	desc;

	gnngp_node_rows_open(&rows, fcinfo);
	desc = rows.result->setDesc;
	w.unlabelled_only = gnngp_bool_argument(fcinfo, ARG_UNLABELLED, "unlabelled_only");
	w.top = gnngp_count_argument(fcinfo, ARG_TOP, "top", GNNGP_TOP_HINT);
	if (!PG_ARGISNULL(ARG_CLASS))
	{
		/* Rows are sorted by falling probability, then score. */
		Oid			greater = lookup_type_cache(FLOAT8OID, TYPECACHE_GT_OPR)->gt_opr;
		AttrNumber	by[] = {PREDICT_PROBABILITY + 1, PREDICT_SCORE + 1};
		Oid			operators[] = {greater, greater};
		Oid			collations[] = {InvalidOid, InvalidOid};
		bool		nulls_first[] = {false, false};

		w.class = gnngp_class_number(rows.model, text_to_cstring(PG_GETARG_TEXT_PP(ARG_CLASS)));
		w.sort = tuplesort_begin_heap(desc, lengthof(by), by, operators, collations,
									  nulls_first, work_mem, NULL, TUPLESORT_NONE);
		w.slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	}
	gnngp_node_rows_run(&rows, fcinfo, "node", ARG_NODES, emit_node, &w);
	if (w.class < 0)
		return (Datum) 0;
	tuplesort_performsort(w.sort);
	while (tuplesort_gettupleslot(w.sort, true, false, w.slot, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		tuplestore_puttupleslot(rows.result->setResult, w.slot);
	}
	ExecDropSingleTupleTableSlot(w.slot);
	tuplesort_end(w.sort);
	return (Datum) 0;
}
