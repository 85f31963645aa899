/*
 * predict.c - gp_predict, all forms: rows from the stored blocks.
 */
#include "postgres.h"

#include "pg/functions/functions.h"
#include "fmgr.h"
#include "node_rows.h"
#include "pg/server/server.h"

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
} wish;

static void
put_node(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
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
		tuplestore_putvalues(rows->store, rows->desc, values, nulls);
		return;
	}
	for (int32 k = 0; k < Min(w->top, block->nclasses); k++)
	{
		values[PREDICT_CLASS] = gnngp_node_rows_class(rows, block, row, k);
		values[PREDICT_SCORE] = Float8GetDatum((double) gnngp_row_score(row, k));
		values[PREDICT_PROBABILITY] = Float8GetDatum(gnngp_row_probability(block, row, k));
		tuplestore_putvalues(rows->store, rows->desc, values, nulls);
	}
}

/* gp_predict(model, id or nodes, top, unlabelled_only) */
PG_FUNCTION_INFO_V1(gnngp_predict);
Datum
gnngp_predict(PG_FUNCTION_ARGS)
{
	gnngp_node_rows rows;
	wish		w;

	gnngp_node_rows_open(&rows, fcinfo);
	gnngp_require_argument(fcinfo, 3, "unlabelled_only");
	w.unlabelled_only = PG_GETARG_BOOL(3);
	w.top = gnngp_count_argument(fcinfo, 2, "top", GNNGP_TOP_HINT);
	gnngp_node_rows_run(&rows, fcinfo, "node", 1, put_node, &w);
	return (Datum) 0;
}
