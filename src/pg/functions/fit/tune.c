/*
 * tune.c - gp_tune, which compares kernels on one reading of the tables.
 */
#include "postgres.h"

#include "auto_kernel.h"
#include "pg/functions/functions.h"
#include "methods.h"

typedef struct tuner
{
	gp_env	   *env;			/* of the data */
	gnngp_data *data;
	gnngp_fit_settings settings;
	bool		by_likelihood;
	char	   *name;			/* for progress */
	MemoryContext context;		/* of the candidates */
	const char *best;			/* the kernel that a fit would choose; NULL: by likelihood */
} tuner;

/* The kernels of an array. */
static gnngp_candidate *
named_candidates(FunctionCallInfo fcinfo, int *n)
{
	gnngp_texts kernels = gnngp_texts_argument(fcinfo, 1, "kernels");
	gnngp_candidate *candidates = palloc0(sizeof(gnngp_candidate) * Max(kernels.n, 1));

	if (kernels.n == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE, "Leave kernels NULL to compare the usual ones.",
					"kernels must not be empty");
	for (*n = 0; *n < kernels.n; (*n)++)
		candidates[*n].kernel = kernels.text[*n];
	return candidates;
}

/* Compares one kernel, which may be a method. */
static void
try_kernel(const tuner *t, gnngp_candidate *candidate)
{
	gnngp_fit_settings settings = t->settings;

	settings.kernel = pstrdup(candidate->kernel);
	gnngp_method_check(&settings);
	gnngp_compare(t->env, true, t->data, &settings, t->context, candidate);
	gnngp_forget_comparison(candidate);
	if (candidate->problem == NULL)
		return;
	candidate->seconds = NAN;
	ereport(NOTICE,
			(errmsg("kernel \"%s\" is skipped: %s", candidate->kernel, candidate->problem)));
}

/* What a candidate is ordered by, the larger the better. */
static double
criterion(const tuner *t, const gnngp_candidate *c)
{
	if (t->by_likelihood)
		return c->log_marginal_likelihood;
	return t->data->target_kind == GP_TASK_CLASSES ? -c->nll : c->loo_score;
}

/* Best first; what has no figure comes last. */
static int
compare_candidates(const void *a, const void *b, void *arg)
{
	const tuner *t = arg;
	const gnngp_candidate *x = *(gnngp_candidate *const *) a;
	const gnngp_candidate *y = *(gnngp_candidate *const *) b;
	double		one = criterion(t, x);
	double		other = criterion(t, y);

	if (x->kernel == t->best || y->kernel == t->best)
		return (y->kernel == t->best) - (x->kernel == t->best);
	if (isnan(one) || isnan(other))
		return (isnan(one) ? 1 : 0) - (isnan(other) ? 1 : 0);
	if (one != other)
		return one > other ? -1 : 1;
	return strcmp(x->kernel, y->kernel);
}

/* gp_tune(graph, kernels, criterion, task) */
PG_FUNCTION_INFO_V1(gnngp_tune);
Datum
gnngp_tune(PG_FUNCTION_ARGS)
{
	static const char *const words[] = {"loo", "marginal_likelihood", "lml"};
	gnngp_result *result = gnngp_rows_start(fcinfo);
	gnngp_graph_def *graph = gnngp_own_graph(gnngp_text_argument(fcinfo, 0, "graph"));
	tuner		t = {.settings = gnngp_fit_settings_default()};
	gnngp_candidate *candidates = NULL;
	gnngp_candidate **ordered;
	int			n = 0;

	t.by_likelihood = gnngp_require_word("criterion", gnngp_text_argument(fcinfo, 2, "criterion"),
										 lengthof(words), words,
										 "A criterion is loo or marginal_likelihood.") > 0;
	t.settings.task = gnngp_text_argument(fcinfo, 3, "task");
	gnngp_fit_settings_check(&t.settings);
	if (!PG_ARGISNULL(1))
		candidates = named_candidates(fcinfo, &n);

	t.name = graph->name;
	t.context = CurrentMemoryContext;
	gnngp_account_give_up(0);
	gnngp_progress_begin(t.name);
	t.env = gnngp_env_create(CurrentMemoryContext);
	t.data = gnngp_read(t.env, graph, t.settings.task, true);
	if (candidates == NULL)
		candidates = gnngp_candidates(t.env, t.data, &t.settings, &n, NULL);
	gnngp_share(t.env, t.data, &t.settings, candidates, n);
	for (int i = 0; i < n; i++)
		try_kernel(&t, &candidates[i]);
	if (!t.by_likelihood && gnngp_best_candidate(candidates, n) >= 0)
		t.best = candidates[gnngp_best_candidate(candidates, n)].kernel;
	ordered = palloc(sizeof(gnngp_candidate *) * n);
	for (int i = 0; i < n; i++)
		ordered[i] = &candidates[i];
	gnngp_sort(ordered, n, sizeof(gnngp_candidate *), compare_candidates, &t);
	for (int i = 0; i < n; i++)
	{
		const gnngp_candidate *c = ordered[i];

		gnngp_emit(result, gnngp_cell_text(c->kernel), gnngp_cell_float(c->nugget),
				   gnngp_cell_float(c->nll), gnngp_cell_float(c->loo_score),
				   gnngp_cell_float(c->log_marginal_likelihood), gnngp_cell_float(c->seconds));
	}
	gnngp_env_destroy(t.env);
	gnngp_progress_end();
	return (Datum) 0;
}
