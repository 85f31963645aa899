/*
 * predict_sets.c - gp_predict_sets: sets of classes, or intervals, that hold what they promise.
 *
 * The set of a node has every class that is no stranger to it than so many labels in a
 * hundred are to a model without them (conformal prediction by leave-one-out, no label
 * held back), and the most probable class in any case.  The promise is over nodes of
 * which the labelled ones are a random sample.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "node_rows.h"
#include "pg/server/server.h"
#include "utils/array.h"

/* The columns of gp_predict_sets's rows. */
enum set_column
{
	SET_NODE, SET_CLASSES, SET_PROBABILITY, SET_LOWER, SET_UPPER, SET_COLUMNS
};

typedef struct promise
{
	double		quantile;		/* how strange a class or value may be */
	Datum	   *class;			/* room for all classes of a node */
} promise;

/* The classes of a node, the most probable first, and their probability. */
static void
fill_classes(const gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row,
			 Datum *values)
{
	const promise *p = rows->arg;
	double		sum = 0.0;
	int32		n = 0;

	for (; n < block->nclasses; n++)
	{
		double		probability = gnngp_row_probability(block, row, n);

		if (n > 0 && 1.0 - probability > p->quantile)
			break;
		p->class[n] = gnngp_node_rows_class(rows, block, row, n);
		sum += probability;
	}
	values[SET_CLASSES] = PointerGetDatum(construct_array(p->class, n, TEXTOID, -1, false,
														  TYPALIGN_INT));
	values[SET_PROBABILITY] = Float8GetDatum(Min(sum, 1.0));
}

static void
put_node(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	const promise *p = rows->arg;
	bool		values_only = block->nclasses == 0;
	Datum		values[SET_COLUMNS] = {0};
	bool		nulls[SET_COLUMNS] = {false, values_only, values_only, !values_only, !values_only};

	values[SET_NODE] = gnngp_id_type_datum(&rows->id_type, &row->id);
	if (values_only)
	{
		double		half = isinf(p->quantile) ? INFINITY
			: p->quantile * sqrt(Max(row->variance, 0.0));

		values[SET_LOWER] = Float8GetDatum(row->value - half);
		values[SET_UPPER] = Float8GetDatum(row->value + half);
	}
	else
		fill_classes(rows, block, row, values);
	tuplestore_putvalues(rows->store, rows->desc, values, nulls);
}

/* gp_predict_sets(model, id or nodes, coverage) */
PG_FUNCTION_INFO_V1(gnngp_predict_sets);
Datum
gnngp_predict_sets(PG_FUNCTION_ARGS)
{
	gnngp_node_rows rows;
	promise		p;
	gnngp_figures figures;
	double		coverage;

	gnngp_node_rows_open(&rows, fcinfo);
	gnngp_require_argument(fcinfo, 2, "coverage");
	coverage = PG_GETARG_FLOAT8(2);
	if (!(coverage > 0.0 && coverage < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("coverage must be between 0 and 1"),
				 errhint("With 0.9, nine in ten sets hold the true class or value.")));
	/* The quantile that keeps the promise */
	gnngp_figures_read(rows.model, &figures);
	p.quantile = gp_loo_quantile(figures.score, figures.n, coverage);
	p.class = palloc(sizeof(Datum) * Max(rows.model->class_labels.n, 1));
	gnngp_node_rows_run(&rows, fcinfo, "node", 1, put_node, &p);
	return (Datum) 0;
}
