/*
 * evaluate.c - gp_evaluate: the figures of a model; gp_backtest: those of each block of time,
 * predicted from earlier blocks alone.
 *
 * The fit has made these predictions from the same Gram matrices, and stored their figures.
 */
#include "postgres.h"

#include "node_rows.h"
#include "pg/store/store_links.h"

/* The figures of each block of time, which labels are behind. */
static gnngp_forward
read_forward(gp_env *env, const gnngp_model *model)
{
	gnngp_identity saved = gnngp_become_extension();
	gnngp_forward forward = gnngp_facts_read(env, model)->forward;

	gnngp_become_again(&saved);
	return forward;
}

/* gp_backtest(task) */
GNNGP_FUNCTION(gnngp_backtest)
{
	gnngp_result *result = gnngp_result_start(fcinfo);
	const gnngp_model *model = gnngp_own_model(gnngp_text_argument(fcinfo, 0, "task"));
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);

	gnngp_require_node_part(model);
	if (model->rows == 0)
		gnngp_raise(WRONG_OBJECT_TYPE, "Tasks are made with gp_create_task.",
					"model \"%s\" is of a graph, which has no times", model->name);
	gnngp_forward t = read_forward(env, model);
	for (int64 b = 0; b < t.n - 1; b++)
		for (int i = 0; i < GP_METRICS; i++)
			if (!isnan(t.metric[b][i]))
				gnngp_emit(result, gnngp_out(TimestampTzGetDatum(t.period[b][0])),
						   gnngp_out(TimestampTzGetDatum(t.period[b][1])),
						   gnngp_out(Int64GetDatum(t.period[b][2])),
						   gnngp_out_text(gp_metric_name(i)), gnngp_out_float(t.metric[b][i]));
	gnngp_env_destroy(env);
	return (Datum) 0;
}

/* The arguments of gp_evaluate. */
enum evaluate_argument
{
	ARG_MODEL, ARG_CLASS, ARG_K, ARG_FALSE_ALARMS
};

static void
emit_figure(gnngp_result *result, const char *name, double value)
{
	gnngp_emit(result, gnngp_out_text(name), gnngp_out_float(value));
}

/* The labels of a model, scored by the probability of a class without them; place: 1 for its
 * own. */
typedef struct ranking
{
	int32		class;
	int64		n;
	int64		hits;
	gp_scored  *label;
} ranking;

static void
add_label(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	ranking    *r = rows->arg;

	for (int32 k = 0; k < block->nclasses && r->n < rows->model->labelled; k++)
		if (gnngp_row_class(row, k) == r->class)
		{
			bool		hit = row->target == r->class;

			r->label[r->n++] = (gp_scored) {gnngp_row_probability(block, row, k),
											(int32) row->number, hit};
			r->hits += hit;
			return;
		}
}

/* The class with fewer labels of two, by the labels' scores; -1: there are not two. */
static int32
rarer_class(const gnngp_model *model, const gnngp_figures *figures)
{
	int64		of_second = 0;

	if (model->classes != 2)
		return -1;
	for (int64 i = 0; i < figures->n; i++)
		of_second += figures->class[i];
	return 2 * of_second <= figures->n;
}

/*
 * Emits how well the class that a call names, or the rarer one of two, is ranked: of the k most
 * probable labels, or as many as it has, and at a threshold.  Labels are the owner's.
 */
static void
emit_ranking(FunctionCallInfo fcinfo, gnngp_result *result, const gnngp_model *model,
			 const gnngp_figures *figures)
{
	bool		named = !PG_ARGISNULL(ARG_CLASS);
	ranking		r = {0};
	gnngp_node_rows rows = {.model = model,.arg = &r};
	int32		k = gnngp_count_argument(fcinfo, ARG_K, "k",
										 "Leave k NULL for as many nodes as the class has labels.");
	int64		hits = 0;
	int64		hits_of_first = 0;
	int64		taken = 0;		/* above the threshold: all of one probability, or none */
	int64		hits_of_taken = 0;

	gnngp_require_argument(fcinfo, ARG_FALSE_ALARMS, "false_alarms");
	double		false_alarms = PG_GETARG_FLOAT8(ARG_FALSE_ALARMS);
	if (!(false_alarms >= 0.0 && false_alarms <= 1.0))
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"With 0.01, one in a hundred labels of other classes may be above the threshold.",
					"false_alarms must be between 0 and 1");
	if (named)
		gnngp_require_owner(model->owner_role, "model", model->name);
	else if (!gnngp_is_owner(model->owner_role))
		return;
	r.class = named ?
		gnngp_class_number(model, text_to_cstring(PG_GETARG_TEXT_PP(ARG_CLASS))) :
		rarer_class(model, figures);
	if (r.class < 0)
		return;
	r.label = palloc_extended(sizeof(gp_scored) * Max(model->labelled, 1), MCXT_ALLOC_HUGE);
	gnngp_node_rows_all(&rows, "loo", add_label);
	gnngp_sort(r.label, r.n, sizeof(gp_scored), gp_compare_scored, NULL);
	int64		first = Min(PG_ARGISNULL(ARG_K) ? r.hits : k, r.n);	/* k labels, or all */
	int64		most = (int64) (false_alarms * (double) (r.n - r.hits) + 1e-9);	/* false alarms */
	for (int64 i = 0; i < r.n; i++)
	{
		hits += r.label[i].place;
		if (i < first)
			hits_of_first = hits;
		if (i + 1 - hits <= most && (i + 1 == r.n || r.label[i + 1].score < r.label[i].score))
		{
			taken = i + 1;
			hits_of_taken = hits;
		}
	}
	emit_figure(result, "recall_at_k", (double) hits_of_first / (double) r.hits);
	emit_figure(result, "precision_at_k", (double) hits_of_first / (double) first);
	emit_figure(result, "threshold", taken > 0 ? r.label[taken - 1].score : NAN);
	emit_figure(result, "recall_at_threshold", (double) hits_of_taken / (double) r.hits);
	emit_figure(result, "precision_at_threshold", (double) hits_of_taken / (double) taken);
}

/* gp_evaluate(model, class, k, false_alarms): the figures of the model's task, then of its
 * links. */
GNNGP_FUNCTION(gnngp_evaluate)
{
	gnngp_model *model = gnngp_model_lookup(gnngp_text_argument(fcinfo, ARG_MODEL, "model"), false);
	gnngp_result *result = gnngp_result_start(fcinfo);

	if (model->target_kind || model->link.method == NULL)
	{
		gnngp_figures figures;

		gnngp_require_node_part(model);
		gnngp_figures_read(model, &figures);
		for (int i = 0; i < GP_METRICS; i++)
			if (!isnan(figures.metric[i]) ||
				(model->classes > 0 ? i <= GP_METRIC_BRIER : i >= GP_METRIC_R2))
				emit_figure(result, gp_metric_name(i), figures.metric[i]);
		emit_ranking(fcinfo, result, model, &figures);
		if (model->rows > 0)
		{
			gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
			gnngp_forward t = read_forward(env, model);

			for (int i = 0; t.n > 0 && i < GP_METRICS; i++)
				if (!isnan(t.metric[t.n - 1][i]))
					emit_figure(result, psprintf("forward_%s", gp_metric_name(i)),
								t.metric[t.n - 1][i]);
			gnngp_env_destroy(env);
		}
	}
	if (model->link.method)
	{
		double		metric[GP_LINK_METRICS];

		gnngp_require_link_part(model);
		gnngp_link_figures_read(model, metric);
		for (int i = 0; i < GP_LINK_METRICS; i++)
			emit_figure(result, gp_link_metric_name(i), metric[i]);
	}
	return (Datum) 0;
}
