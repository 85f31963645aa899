/*
 * predict.c - gp_predict, all forms: rows from the stored blocks.
 */
#include "postgres.h"

#include "node_rows.h"

/* The arguments of gp_predict. */
enum predict_argument
{
	ARG_MODEL, ARG_NODES, ARG_TOP, ARG_UNLABELLED, ARG_CLASS
};

typedef struct wish
{
	int32		top;			/* classes for each node */
	bool		unlabelled_only;
	int32		class;			/* that is asked for; -1: the best of each node */
} wish;

static void
emit_node(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	const wish *w = rows->arg;
	int32		most = w->class < 0 ? Min(w->top, block->nclasses) : block->nclasses;
	NullableDatum variance = gnngp_out_float(row->variance);

	if (w->unlabelled_only && row->labelled)
		return;
	NullableDatum node = gnngp_out(gnngp_id_type_datum(&rows->id_type, &row->id));
	if (block->nclasses == 0)
		gnngp_emit(rows->result, node, GNNGP_OUT_NULL, gnngp_out_float(row->value), variance,
				   GNNGP_OUT_NULL);
	for (int32 k = 0; k < most; k++)
		if (w->class < 0 || gnngp_row_class(row, k) == w->class)
			gnngp_emit(rows->result, node, gnngp_out(gnngp_node_rows_class(rows, block, row, k)),
					   gnngp_out_float(gnngp_row_score(row, k)), variance,
					   gnngp_out_float(gnngp_row_probability(block, row, k)));
}

/* gp_predict(model, id or nodes, top, unlabelled_only, class) */
GNNGP_FUNCTION(gnngp_predict)
{
	gnngp_node_rows rows;
	wish		w = {.class = -1};

	gnngp_node_rows_open(&rows, fcinfo);
	w.unlabelled_only = gnngp_bool_argument(fcinfo, ARG_UNLABELLED, "unlabelled_only");
	w.top = gnngp_count_argument(fcinfo, ARG_TOP, "top", GNNGP_TOP_HINT);
	if (!PG_ARGISNULL(ARG_CLASS))
	{
		w.class = gnngp_class_number(rows.model, text_to_cstring(PG_GETARG_TEXT_PP(ARG_CLASS)));
		/* By falling probability, then score */
		gnngp_result_sort(rows.result, 5, 3);
	}
	gnngp_node_rows_run(&rows, fcinfo, "node", ARG_NODES, emit_node, &w);
	gnngp_result_end_sort(rows.result);
	return (Datum) 0;
}
