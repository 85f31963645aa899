/*
 * predict_sets.c - gp_predict_sets: sets of classes, or intervals, that hold what they promise.
 *
 * The set of a node has every class that is no stranger to it than so many labels in a
 * hundred are to a model without them (conformal prediction by leave-one-out, no label
 * held back), and the most probable class in any case.  The promise is over nodes of
 * which the labelled ones are a random sample; by class it is over the nodes of each class,
 * whose own labels tell how strange it may be (Vovk 2012).
 */
#include "postgres.h"

#include "node_rows.h"

/* The arguments of gp_predict_sets. */
enum set_argument
{
	ARG_MODEL, ARG_NODES, ARG_COVERAGE, ARG_UNLABELLED, ARG_BY_CLASS
};

typedef struct promise
{
	double	   *quantile;		/* how strange each class, or a value, may be */
	double		most;			/* the largest of them */
	double		least;			/* value */
	Datum	   *class;			/* room for all classes of a node */
	bool		unlabelled_only;
} promise;

static void
emit_node(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	const promise *p = rows->arg;
	bool		values_only = block->nclasses == 0;
	double		half = isinf(p->quantile[0]) ? INFINITY :
		p->quantile[0] * sqrt(Max(row->variance, 0.0));	/* of an interval */
	double		sum = 0.0;
	int32		n = 0;

	if (p->unlabelled_only && row->labelled)
		return;
	/* The classes, the most probable first, and their probability */
	for (int32 k = 0; k < block->nclasses; k++)
	{
		double		probability = gnngp_row_probability(block, row, k);

		if (k > 0 && 1.0 - probability > p->most)
			break;
		Datum		class = gnngp_node_rows_class(rows, block, row, k);
		if (k > 0 && 1.0 - probability > p->quantile[gnngp_row_class(row, k)])
			continue;
		p->class[n++] = class;
		sum += probability;
	}
	gnngp_emit(rows->result, gnngp_out(gnngp_id_type_datum(&rows->id_type, &row->id)),
			   values_only ? GNNGP_OUT_NULL : gnngp_out(gnngp_make_array(p->class, n, TEXTOID)),
			   gnngp_out_float(values_only ? NAN : Min(sum, 1.0)),
			   gnngp_out_float(values_only ? Max(p->least, row->value - half) : NAN),
			   gnngp_out_float(values_only ? row->value + half : NAN));
}

/* The quantiles that keep the promise; by class where the scores of each one's labels are known:
 * 22023 where they are not. */
static void
find_quantiles(promise *p, const gnngp_model *model, double coverage, bool by_class)
{
	int			classes = model->class_labels.n;
	gnngp_figures figures;

	gnngp_figures_read(model, &figures);
	p->least = figures.least;
	p->quantile = palloc(sizeof(double) * Max(classes, 1));
	p->most = gp_loo_quantile(figures.score, figures.n, coverage);
	for (int c = 0; c < Max(classes, 1); c++)
		p->quantile[c] = p->most;
	if (!by_class)
		return;
	if (model->classes == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE, "It predicts values: leave by_class out.",
					"model \"%s\" has no scores by class", model->name);
	/* Sorts the scores by class, ascending in each. */
	int64	   *end = palloc0(sizeof(int64) * (classes + 1));
	double	   *score = palloc_extended(sizeof(double) * Max(figures.n, 1), MCXT_ALLOC_HUGE);
	for (int64 i = 0; i < figures.n; i++)
		end[figures.class[i] + 1]++;
	for (int c = 0; c < classes; c++)
		end[c + 1] += end[c];
	for (int64 i = 0; i < figures.n; i++)
		score[end[figures.class[i]]++] = figures.score[i];
	p->most = 0.0;
	for (int c = 0; c < classes; c++)
	{
		int64		start = c > 0 ? end[c - 1] : 0;

		p->quantile[c] = gp_loo_quantile(score + start, end[c] - start, coverage);
		p->most = Max(p->most, p->quantile[c]);
	}
}

/* gp_predict_sets(model, id or nodes, coverage, unlabelled_only, by_class) */
GNNGP_FUNCTION(gnngp_predict_sets)
{
	gnngp_node_rows rows;
	promise		p;

	gnngp_node_rows_open(&rows, fcinfo);
	gnngp_require_argument(fcinfo, ARG_COVERAGE, "coverage");
	double		coverage = PG_GETARG_FLOAT8(ARG_COVERAGE);
	if (!(coverage > 0.0 && coverage < 1.0))
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"With 0.9, nine in ten sets hold the true class or value.",
					"coverage must be between 0 and 1");
	p.unlabelled_only = gnngp_bool_argument(fcinfo, ARG_UNLABELLED, "unlabelled_only");
	find_quantiles(&p, rows.model, coverage, gnngp_bool_argument(fcinfo, ARG_BY_CLASS, "by_class"));
	p.class = palloc(sizeof(Datum) * Max(rows.model->class_labels.n, 1));
	gnngp_node_rows_run(&rows, fcinfo, "node", ARG_NODES, emit_node, &p);
	return (Datum) 0;
}
