/*
 * tune.c - gp_tune, which compares kernels on one reading of the tables.
 */
#include "postgres.h"

#include "choose_kernel.h"
#include "methods.h"

typedef struct tuner
{
	gp_env	   *env;			/* of the data */
	gnngp_data *data;
	gnngp_fit_settings settings;
	bool		by_likelihood;
	const char *best;			/* the kernel that a fit would choose; NULL: by likelihood */
} tuner;

/* The kernels of an array, which may be methods. */
static gp_candidate *
named_candidates(const tuner *t, const gnngp_texts *kernels, int *n)
{
	gp_candidate *candidates = palloc0(sizeof(gp_candidate) * kernels->n);

	for (*n = 0; *n < kernels->n; (*n)++)
	{
		gnngp_fit_settings settings = t->settings;
		gp_candidate *c = &candidates[*n];

		settings.kernel = kernels->text[*n];
		gnngp_method_check(&settings);
		if (gnngp_method_is_gp(settings.method))
			*c = gp_candidate_make(t->env, gnngp_parse_kernel(t->env, settings.kernel));
		else
			*c = (gp_candidate) {.kernel = settings.method};
	}
	return candidates;
}

/* What a candidate is ordered by, the larger the better. */
static double
criterion(const tuner *t, const gp_candidate *c)
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
	const gp_candidate *x = *(gp_candidate *const *) a;
	const gp_candidate *y = *(gp_candidate *const *) b;
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
GNNGP_FUNCTION(gnngp_tune)
{
	static const char *const words[] = {"loo", "marginal_likelihood", "lml"};
	gnngp_result *result = gnngp_result_start(fcinfo);
	gnngp_graph_def *graph = gnngp_own_graph(gnngp_text_argument(fcinfo, 0, "graph"));
	tuner		t = {.settings = gnngp_fit_settings_default()};
	gnngp_texts kernels = {0};
	gp_candidate *candidates = NULL;
	gp_problem	problem;
	int			n = 0;

	t.by_likelihood = gnngp_require_word("criterion", gnngp_text_argument(fcinfo, 2, "criterion"),
										 lengthof(words), words,
										 "A criterion is loo or marginal_likelihood.") > 0;
	t.settings.target_kind = gnngp_text_argument(fcinfo, 3, "task");
	gnngp_fit_settings_check(&t.settings);
	if (!PG_ARGISNULL(1))
		kernels = gnngp_texts_argument(fcinfo, 1, "kernels");
	if (!PG_ARGISNULL(1) && kernels.n == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE, "Leave kernels NULL to compare the usual ones.",
					"kernels must not be empty");

	gnngp_account_give_up(0);
	gnngp_progress_begin(graph->name);
	t.env = gnngp_env_create(CurrentMemoryContext);
	if (kernels.n > 0)
		candidates = named_candidates(&t, &kernels, &n);
	t.data = gnngp_read(t.env, graph, t.settings.target_kind, true, false);
	gnngp_problem_init(&problem, t.data, &t.settings);
	if (candidates == NULL)
		candidates = gp_candidates(t.env, &problem, &n);
	problem.shared = gnngp_candidates_share(t.env, &problem, candidates, n);
	for (int i = 0; i < n; i++)
	{
		gp_candidate *c = &candidates[i];

		gnngp_compare(t.env, &problem, c->program ? NULL : c->kernel, c);
		if (c->problem == NULL)
			continue;
		c->seconds = NAN;
		ereport(NOTICE, (errmsg("kernel \"%s\" is skipped: %s", c->kernel, c->problem)));
	}
	if (!t.by_likelihood && gp_candidates_best(candidates, n) >= 0)
		t.best = candidates[gp_candidates_best(candidates, n)].kernel;
	gp_candidate **ordered = palloc(sizeof(gp_candidate *) * n);
	for (int i = 0; i < n; i++)
		ordered[i] = &candidates[i];
	gnngp_sort(ordered, n, sizeof(gp_candidate *), compare_candidates, &t);
	for (int i = 0; i < n; i++)
	{
		const gp_candidate *c = ordered[i];

		gnngp_emit(result, gnngp_out_text(c->kernel), gnngp_out_float(c->nugget),
				   gnngp_out_float(c->nll), gnngp_out_float(c->loo_score),
				   gnngp_out_float(c->log_marginal_likelihood), gnngp_out_float(c->seconds));
	}
	gnngp_env_destroy(t.env);
	gnngp_progress_end();
	return (Datum) 0;
}
