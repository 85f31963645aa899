/*
 * auto_kernel.c - the kernel that suits a graph, where the user names none.
 *
 * Kernels that differ in kind are compared on one reading, by Nystrom on the same number of
 * landmarks, and the one that loses least on labels left out is fitted in full.  With few labels
 * a choice among kernels that are alike is worse than none (measured: the best of nine lost to
 * one that was fixed): there the order of the list decides.
 */
#include "postgres.h"

#include "auto_kernel.h"

#include "core/precision/precision.h"
#include "methods.h"
#include "utils/json.h"

#define SURE 1.0				/* standard errors by which a kernel has to be better */
#define LAPLACIAN "laplacian"
#define LINEAR "linear"			/* what anybody would try first, and the rest is held against */
#define FEWEST_LABELS 30		/* by which candidates are told apart to the user */

static const char *const of_classes[] = {"appnp", "gcn", "sage2", "profile", "hops", "mlp", "field", LAPLACIAN, LINEAR, NULL};
static const char *const of_values[] = {"gin", "sage2", "profile", "hops", "mlp", "field", LAPLACIAN, LINEAR, NULL};
static const char *const of_edges[] = {LAPLACIAN, "gcn", "profile", NULL};	/* there are no features */
static const char *const of_sparse_inverse[] = {LAPLACIAN, NULL};

/* Of these, those that reach every node from each: they have no live state. */
static const char *const without_live[] = {"appnp", "field", LAPLACIAN};

/*
 * True when no feature is anything but zero, as of constant columns: no kernel of features can be
 * fitted then.
 */
static bool
features_are_zero(const gp_features *f)
{
	int64_t		n = f->csr ? gp_csr_entries(f->csr) : f->rows * f->dims;

	for (int64_t k = 0; k < n; k++)
		if (gp_number_at(f->csr ? f->csr->value : f->dense, f->csr ? f->csr->type : f->type,
						 k) != 0.0)
			return false;
	return true;
}

/* The list that suits what there is. */
static const char *const *
kernels_for(gp_env *env, const gnngp_data *data, const gnngp_fit_settings *settings)
{
	bool		classes = data->target_kind == GP_TASK_CLASSES;

	if (strcmp(settings->strategy, gp_strategy_names[GP_STRATEGY_PRECISION]) == 0)
		return of_sparse_inverse;
	if (data->features == NULL)
		return of_edges;
	if (!settings->live && features_are_zero(data->features))
	{
		gp_notice(env, "A constant column does not distinguish nodes.",
				  "the features are zero at every node, so only the edges are used");
		return of_sparse_inverse;
	}
	return classes ? of_classes : of_values;
}

gnngp_candidate *
gnngp_candidates(gp_env *env, const gnngp_data *data, const gnngp_fit_settings *settings, int *n,
				 StringInfo left_out)
{
	const char *const *kernel = kernels_for(env, data, settings);
	bool		live = settings->live && kernel != of_sparse_inverse;
	gnngp_candidate *out = palloc0(sizeof(gnngp_candidate) * lengthof(of_classes));

	for (*n = 0; *kernel; kernel++)
	{
		bool		serves = true;

		for (int k = 0; live && k < (int) lengthof(without_live); k++)
			serves = serves && strcmp(*kernel, without_live[k]) != 0;
		if (serves)
			out[(*n)++].kernel = *kernel;
		else
			appendStringInfo(left_out, "%s%s", left_out->len > 0 ? ", " : "", *kernel);
	}
	return out;
}

/* The canonical text of a kernel, with the prior that its posterior chose, or NULL. */
static char *
canonical(gp_env *env, const char *text, const gp_posterior *posterior)
{
	gp_kernel  *kernel;

	gnngp_env_set_text(env, text, "kernel");
	kernel = gp_kernel_parse(env, text);
	if (posterior && posterior->prior_d > 0)
		gp_kernel_give_prior(kernel, posterior->prior_d, posterior->prior_sigma2);
	return gp_kernel_print(env, kernel);
}

static void
copy_figures(gp_env *env, const gp_problem *problem, MemoryContext context,
			 const gp_posterior *posterior, gnngp_candidate *c)
{
	double	   *loss = gp_loo_losses(env, problem, posterior, &c->n);
	Size		size = sizeof(double) * c->n;

	c->problem = NULL;
	c->landmarks = posterior->nlandmarks;
	/* Conjugate gradients try no powers. */
	c->power = posterior->nlandmarks > 0 ? posterior->power : 0.0;
	c->nugget = posterior->nugget;
	c->nll = posterior->metric[GP_METRIC_NLL];
	c->loo_score = posterior->loo_score;
	c->log_marginal_likelihood = posterior->log_marginal_likelihood;
	if (loss)
		c->loss = memcpy(MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE), loss, size);
	gp_free(env, loss);
}

/* A comparison of one candidate. */
typedef struct comparison
{
	const gnngp_data *data;
	const gnngp_fit_settings *settings;
	MemoryContext context;
	gnngp_candidate *c;
	size_t		peak;			/* of where it ran */
} comparison;

/*
 * The problem by which a kernel is compared.  Without features conjugate gradients compare as
 * exactly as they fit, and little is left to do then: its fit in full is both.
 */
static gp_problem
compared_problem(gnngp_computation *compute, const gnngp_data *data,
				 const gnngp_fit_settings *settings, const gnngp_candidate *c)
{
	gp_problem	problem;

	gnngp_problem_init(&problem, data, gnngp_compile_kernel(compute->env, c->kernel), settings);
	problem.plan = c->plan;
	if (data->features == NULL && gp_precision_serves(compute->env, &problem))
		return problem;
	problem.nlandmarks = c->landmarks;
	return gp_comparison_problem(compute->device, &problem);
}

static void
compare_one(gnngp_computation *compute, void *arg)
{
	comparison *of = arg;
	gnngp_candidate *c = of->c;
	gp_env	   *env = compute->env;
	bool		is_kernel = gnngp_method_is_gp(of->settings->method);
	gp_problem	problem;
	gp_posterior *posterior;

	if (is_kernel)
	{
		problem = compared_problem(compute, of->data, of->settings, c);
		posterior = gnngp_fit_on_device(compute, &problem, NULL, NULL);
		c->full = problem.loo_only ? NULL : posterior;
		c->device = compute->used;
	}
	else
	{
		gnngp_problem_init(&problem, of->data, NULL, of->settings);
		posterior = gnngp_method_fit(compute, &problem, of->settings->method);
	}
	if (posterior)
		copy_figures(env, &problem, of->context, posterior, c);
	else
		c->problem = "the comparison does not fit in gnngp.memory_limit";
	c->kernel = MemoryContextStrdup(of->context, is_kernel ?
									canonical(env, c->kernel, posterior) : of->settings->method);
	of->peak = env->peak;
}

void
gnngp_forget_comparison(gnngp_candidate *c)
{
	if (c->alone)
		gnngp_env_destroy(c->alone);
	c->alone = NULL;
	c->full = NULL;
}

/* True where an error is one of the kernel on these data, or of too little memory for it. */
static bool
is_of_candidate(int sqlstate)
{
	return sqlstate == ERRCODE_CONFIGURATION_LIMIT_EXCEEDED || sqlstate == ERRCODE_OUT_OF_MEMORY ||
		sqlstate == ERRCODE_DATA_EXCEPTION || sqlstate == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
}

void
gnngp_compare(gp_env *env, bool by_plan, const gnngp_data *data,
			  const gnngp_fit_settings *settings, MemoryContext context, gnngp_candidate *c)
{
	comparison	of = {data, settings, context, c, 0};
	gp_env	   *alone = gnngp_env_create_child(env);
	MemoryContext current = CurrentMemoryContext;
	instr_time	start,
				elapsed;

	(void) gnngp_env_collect_notices(alone);
	INSTR_TIME_SET_CURRENT(start);
	c->nugget = c->nll = c->loo_score = c->log_marginal_likelihood = NAN;
	/* There is nothing to undo in the database: see run_guarded. */
	PG_TRY();
	{
		gnngp_compute(alone, 0, by_plan, compare_one, &of);
	}
	PG_CATCH();
	{
		if (!is_of_candidate(geterrcode()))
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		c->problem = CopyErrorData()->message;
		MemoryContextSwitchTo(current);
		FlushErrorState();
	}
	PG_END_TRY();
	/* What is kept leaves its account later. */
	env->peak = Max(env->peak, of.peak);
	c->alone = alone;
	if (c->full == NULL)
		gnngp_forget_comparison(c);
	INSTR_TIME_SET_CURRENT(elapsed);
	INSTR_TIME_SUBTRACT(elapsed, start);
	c->seconds = INSTR_TIME_GET_DOUBLE(elapsed);
}

/* The mean loss; without one, any that fits is as good. */
static double
mean_loss(const gnngp_candidate *c)
{
	double		sum = 0.0;

	for (int64 k = 0; c->loss && k < c->n; k++)
		sum += c->loss[k] / c->n;
	return c->problem ? INFINITY : sum;
}

/* True when labels tell that one candidate is better than another. */
static bool
is_surely_better(const gnngp_candidate *one, const gnngp_candidate *other)
{
	double	   *gain;
	double		sureness;

	if (one->loss == NULL || other->problem)
		return other->problem != NULL;
	gain = palloc_extended(sizeof(double) * one->n, MCXT_ALLOC_HUGE);
	for (int64 k = 0; k < one->n; k++)
		gain[k] = other->loss[k] - one->loss[k];
	sureness = gp_standard_errors(gain, one->n);
	pfree(gain);
	return sureness > SURE;
}

/* The candidate with the least mean loss. */
static int
least_loss(const gnngp_candidate *candidates, int n)
{
	int			least = 0;

	for (int i = 1; i < n; i++)
		if (mean_loss(&candidates[i]) < mean_loss(&candidates[least]))
			least = i;
	return least;
}

int
gnngp_best_candidate(const gnngp_candidate *candidates, int n)
{
	int			least = least_loss(candidates, n);
	int			best = 0;

	if (candidates[least].problem)
		return -1;
	while (best < least && is_surely_better(&candidates[least], &candidates[best]))
		best++;
	return best;
}

/*
 * Tells where the order of the list decided, and where linear regression is as good; of few labels
 * neither says much.
 */
static void
notice_choice(gp_env *env, const gnngp_candidate *candidates, int n, const gnngp_candidate *chosen)
{
	const gnngp_candidate *least = &candidates[least_loss(candidates, n)];
	const gnngp_candidate *last = &candidates[n - 1];

	if (chosen->n < FEWEST_LABELS)
		return;
	if (chosen != least)
		gp_notice(env, psprintf("kernel => '%s' fits that one.", least->kernel),
				  "kernel \"%s\" was chosen, though \"%s\" loses less on labels left out: "
				  "the difference is within its standard error", chosen->kernel, least->kernel);
	if (strcmp(last->kernel, LINEAR) != 0 || last->problem)
		return;
	if (chosen == last)
		gp_notice(env, "Other columns, or other edges, may say more of the labels.",
				  "no kernel predicts labels left out better than linear regression on own columns "
				  "and neighbours' means");
	else if (!is_surely_better(chosen, last))
		gp_notice(env, "kernel => '" LINEAR "' is simpler; alternatives has the figures of both.",
				  "linear regression on own columns and neighbours' means predicts labels left out "
				  "as well as kernel \"%s\"", chosen->kernel);
}

/* The figures of all that were compared, as JSON, or why one was skipped. */
static char *
describe(const gnngp_candidate *candidates, int n)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
	{
		const gnngp_candidate *c = &candidates[i];

		appendStringInfoString(&text, i == 0 ? "{" : ", ");
		escape_json(&text, c->kernel);
		if (c->problem)
		{
			appendStringInfoString(&text, ": {\"skipped\": ");
			escape_json(&text, c->problem);
			appendStringInfoChar(&text, '}');
			continue;
		}
		appendStringInfo(&text, ": {\"seconds\": %.3f", c->seconds);
		if (!isnan(c->nll))
			appendStringInfo(&text, ", \"nll\": %.4f", c->nll);
		if (!isnan(c->loo_score))
			appendStringInfo(&text, ", \"loo_score\": %.4f", c->loo_score);
		if (c->landmarks > 0)
			appendStringInfo(&text, ", \"landmarks\": " INT64_FORMAT, c->landmarks);
		appendStringInfoChar(&text, '}');
	}
	appendStringInfoChar(&text, '}');
	return text.data;
}

/* True where half of the landmarks explain the labels as well: more bring nothing. */
static bool
are_landmarks_enough(gnngp_computation *compute, const gnngp_data *data,
					 const gnngp_fit_settings *settings, const gnngp_candidate *c)
{
	gnngp_candidate half = {.kernel = c->kernel,.landmarks = (c->landmarks + 1) / 2};

	gnngp_compare(compute->env, compute->by_plan, data, settings, CurrentMemoryContext, &half);
	return half.problem == NULL && !is_surely_better(c, &half);
}

/* The plan of a fit, whatever it needs. */
static gp_plan
plan_of(gnngp_computation *compute, gp_problem problem)
{
	gp_env	   *env = compute->env;
	size_t		limit = env->limit;
	gp_plan		plan;

	/* What planning itself takes is not held against the limit, as in an estimate. */
	if (problem.estimate_limit == 0)
		problem.estimate_limit = gp_limit(env);
	env->limit = 0;
	plan = gp_plan_make(compute->device, &problem);
	env->limit = limit;
	return plan;
}

double *
gnngp_expected_efforts(gnngp_computation *compute, const gnngp_data *data,
					   const gnngp_fit_settings *settings, size_t limit,
					   gnngp_candidate *candidates, int n)
{
	gnngp_notices *former = gnngp_env_collect_notices(compute->env);
	double	   *effort = palloc0(sizeof(double) * (n + 1));
	gp_plan    *plan = palloc(sizeof(gp_plan) * n);
	double		compared = 0.0;
	gp_problem	problem;

	for (int i = 0; i < n; i++)
	{
		problem = compared_problem(compute, data, settings, &candidates[i]);
		problem.estimate_limit = limit;
		plan[i] = plan_of(compute, problem);
		effort[n - 1 - i] = plan[i].effort;
		compared += plan[i].effort;
		candidates[i].plan = &plan[i];
	}
	gnngp_problem_init(&problem, data, gnngp_compile_kernel(compute->env, candidates[0].kernel),
					   settings);
	problem.strategy = GP_STRATEGY_AUTO;
	problem.estimate_limit = limit;
	/* To plan random walks is to make them, which is most of such a fit. */
	if (problem.program->input.kind != GP_INPUT_LAPLACIAN)
		effort[n] = plan_of(compute, problem).effort;
	/* What would take longer is mostly fitted as it was compared (fit_in_full). */
	effort[n] = Min(effort[n], compared / 2);
	gnngp_env_join_notices(compute->env, former, NULL);
	return effort;
}

/*
 * Makes of a problem with an open power the fit that compares powers; false where none does.
 * Conjugate gradients, which compare a Laplacian kernel with others, try none.
 */
static bool
compare_powers(gnngp_computation *compute, gp_problem *problem)
{
	if (!gp_power_is_open(problem) || gp_precision_serves(compute->env, problem) ||
		!gp_fit_has_factor(compute->device, problem))
		return false;
	*problem = gp_comparison_problem(compute->device, problem);
	problem->strategy = GP_STRATEGY_NYSTROM;
	return true;
}

double
gnngp_powers_effort(gnngp_computation *compute, gp_problem problem)
{
	return compare_powers(compute, &problem) ? plan_of(compute, problem).effort : 0.0;
}

/* The power that a fit takes where none is given: the one that the kernel was compared by. */
static double
choose_power(gnngp_computation *compute, gp_problem problem, const gnngp_candidate *c)
{
	double		power = c->power;

	if (power == 0.0 && compare_powers(compute, &problem))
	{
		gp_posterior *posterior = gnngp_fit_on_device(compute, &problem, NULL, NULL);

		power = posterior ? posterior->power : 1.0;
		gp_posterior_free(compute->env, posterior);
	}
	return power > 0.0 ? power : 1.0;
}

/*
 * Fits the kernel that was chosen by the planner's strategy, or as it was compared: where that was
 * surely better and explains more, or where the planner's would take long, and longer than that,
 * and more landmarks bring nothing.
 */
static gp_posterior *
fit_in_full(gnngp_computation *compute, const gnngp_data *data, const gnngp_fit_settings *settings,
			const gnngp_candidate *c)
{
	gp_env	   *env = compute->env;
	gnngp_notices *former = gnngp_env_collect_notices(env);
	gp_posterior *posterior = NULL;
	gp_program	program = *gnngp_compile_kernel(env, c->kernel);
	gp_problem	problem;
	gp_problem	as_compared;
	bool		open;

	if (c->full)
	{
		compute->used = c->device;
		gnngp_env_join_notices(env, former, gnngp_env_collect_notices(c->alone));
		return c->full;
	}
	gnngp_problem_init(&problem, data, &program, settings);
	open = problem.strategy == GP_STRATEGY_AUTO && problem.nlandmarks == 0 && c->landmarks > 0;
	if (gp_power_is_open(&problem))
	{
		program.power = choose_power(compute, problem, c);
		program.open_power = false;
		open &= program.power == 1.0;
		(void) gnngp_env_collect_notices(env);
	}
	as_compared = problem;
	as_compared.strategy = GP_STRATEGY_NYSTROM;
	as_compared.nlandmarks = c->landmarks;
	if (!open ||
		plan_of(compute, problem).effort <=
		fmax(GP_CHEAP_EFFORT, plan_of(compute, as_compared).effort) ||
		!are_landmarks_enough(compute, data, settings, c))
	{
		gnngp_candidate full = {.kernel = c->kernel};

		posterior = gnngp_fit_on_device(compute, &problem, NULL, NULL);
		open = open && posterior->plan.strategy == GP_STRATEGY_EXACT;
		if (open)
			copy_figures(env, &problem, CurrentMemoryContext, posterior, &full);
		open = open && is_surely_better(c, &full) && c->loo_score > full.loo_score;
	}
	if (open)
	{
		gp_posterior_free(env, posterior);
		(void) gnngp_env_collect_notices(env);
		posterior = gnngp_fit_on_device(compute, &as_compared, NULL, NULL);
	}
	gnngp_env_join_notices(env, former, gnngp_env_collect_notices(env));
	return posterior;
}

/* True where a kernel's text is of the Laplacian prior, the only one that asks for S. */
static bool
is_laplacian(const char *kernel)
{
	return pg_strncasecmp(kernel, LAPLACIAN, strlen(LAPLACIAN)) == 0;
}

void
gnngp_share(gp_env *env, gnngp_data *data, const gnngp_fit_settings *settings,
			const gnngp_candidate *candidates, int n)
{
	gp_shared  *shared = palloc(sizeof(gp_shared));
	bool		any = false;

	if (n < 2)
		return;
	*shared = gp_shared_open(env, data->graph, data->features, GP_NORM_SYM, data->type,
							 (uint64_t) settings->seed);
	/* Without features only the one that is compared last asks for S. */
	for (int i = 0; i < n; i++)
		any |= data->features && is_laplacian(candidates[i].kernel);
	if (any)
		shared->s = gp_precision_matrix(env, data->graph);
	data->shared = shared;
}

/* Compares all candidates, says what there is to say of them, and returns the one to fit. */
static gnngp_candidate *
choose_kernel(gnngp_computation *compute, gnngp_data *data, const gnngp_fit_settings *settings,
			  char **alternatives)
{
	gp_env	   *env = compute->env;
	StringInfoData left_out;
	int			n;

	initStringInfo(&left_out);
	gnngp_candidate *candidates = gnngp_candidates(env, data, settings, &n, &left_out);
	gnngp_share(env, data, settings, candidates, n);
	gnngp_progress_expect(compute->device, n + 1,
						  gnngp_expected_efforts(compute, data, settings, gp_limit(env), candidates,
												 n));
	/* What may be kept comes last. */
	for (int i = n - 1; i >= 0; i--)
	{
		gnngp_compare(env, compute->by_plan, data, settings, CurrentMemoryContext,
					  &candidates[i]);
		gnngp_progress_reach(n - i);
	}
	gnngp_candidate *chosen = &candidates[Max(gnngp_best_candidate(candidates, n), 0)];
	for (int i = 0; i < n; i++)
		if (&candidates[i] != chosen)
			gnngp_forget_comparison(&candidates[i]);
	*alternatives = describe(candidates, n);
	notice_choice(env, candidates, n, chosen);
	if (left_out.len > 0)
		gp_notice(env, "gp_tune(graph) compares them, too; a fit without live => true can have one.",
				  "kernels that cannot answer live were left out: %s", left_out.data);
	return chosen;
}

gnngp_choice
gnngp_fit_kernel(gnngp_computation *compute, const gnngp_data *read,
				 const gnngp_fit_settings *settings)
{
	gnngp_data	data = *read;
	gnngp_choice choice = {0};
	gnngp_candidate named = {.kernel = settings->kernel};
	gnngp_candidate *chosen = &named;

	if (gnngp_kernel_is_auto(settings->kernel))
		chosen = choose_kernel(compute, &data, settings, &choice.alternatives);
	choice.posterior = fit_in_full(compute, &data, settings, chosen);
	choice.device = compute->used;
	choice.kernel = canonical(compute->env, chosen->kernel, choice.posterior);
	if (data.shared)
		gp_shared_close(compute->env, unconstify(gp_shared *, data.shared));
	return choice;
}
