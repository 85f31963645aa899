/*
 * choose_kernel.c - fits candidates, each by itself, and the best of them in full.
 */
#include "postgres.h"

#include "choose_kernel.h"

#include "methods.h"
#include "utils/json.h"

/* A fit by itself. */
typedef struct lone_fit
{
	gp_problem	problem;
	const char *method;			/* NULL: a Gaussian process */
	bool		compares;		/* the problem is that of its candidate's comparison */
	gp_candidate *c;			/* gets the figures; NULL: they are not asked for */
	gp_env	   *alone;			/* below the run's environment; NULL: nothing is left of the fit */
	gp_env	   *env;			/* that one or below: where the posterior is */
	gp_posterior *posterior;
	const char *device;
	size_t		peak;
} lone_fit;

/* True where an error is one of the kernel on these data, or of too little memory for it. */
static bool
is_of_candidate(int sqlstate)
{
	return sqlstate == ERRCODE_CONFIGURATION_LIMIT_EXCEEDED || sqlstate == ERRCODE_OUT_OF_MEMORY ||
		sqlstate == ERRCODE_DATA_EXCEPTION || sqlstate == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
}

/*
 * Runs work in an environment below env, which it returns, on a device of its own: so each piece of
 * a fit is planned beside what the others leave alone.  NULL where the candidate does not allow it,
 * as *error tells; error NULL: that is raised.
 */
static gp_env *
run_alone(gp_env *env, bool by_plan, gnngp_work work, void *arg, ErrorData **error)
{
	gp_env	   *alone = gnngp_env_create_child(env);
	MemoryContext context = CurrentMemoryContext;

	gnngp_env_collect_notices(alone);
	/* There is nothing to undo in the database: see run_guarded. */
	PG_TRY();
	{
		gnngp_compute(alone, 0, by_plan, work, arg);
	}
	PG_CATCH();
	{
		if (error == NULL || !is_of_candidate(geterrcode()))
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		*error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	if (error == NULL || *error == NULL)
		return alone;
	gnngp_env_destroy(alone);
	return NULL;
}

static void
fit_alone(gnngp_computation *compute, void *arg)
{
	lone_fit   *f = arg;
	gp_problem	problem = f->compares && f->method == NULL ?
		gp_candidate_problem(compute->device, &f->problem, f->c) : f->problem;

	f->posterior = f->method ? gnngp_method_fit(compute, &problem, f->method) :
		gnngp_fit_on_device(compute, &problem, NULL, NULL);
	f->problem = problem;
	f->device = compute->used;
	f->env = compute->env;
	if (f->c && f->posterior)
	{
		gp_candidate_record(compute->env, &problem, f->posterior, f->c);
		double	   *loss = f->c->loss;
		if (loss)
			f->c->loss = memcpy(palloc_extended(sizeof(double) * f->c->n, MCXT_ALLOC_HUGE), loss,
								sizeof(double) * f->c->n);
		gp_free(compute->env, loss);
	}
	else if (f->c)
		f->c->problem = "the comparison does not fit in gnngp.memory_limit";
	f->peak = compute->env->peak;
}

static void
forget(lone_fit *f)
{
	if (f->alone)
		gnngp_env_destroy(f->alone);
	f->alone = NULL;
}

/* Runs a fit; its peak counts at once, for what is left of it leaves its account later. */
static void
run_fit(gp_env *env, bool by_plan, lone_fit *f, ErrorData **error)
{
	f->alone = run_alone(env, by_plan, fit_alone, f, error);
	env->peak = Max(env->peak, f->peak);
}

/*
 * Compares one candidate; its fit in full is left where that is the same.  An error of one that has
 * no rivals is raised.
 */
static lone_fit
compare(gp_env *env, bool by_plan, const gp_problem *problem, const char *method, gp_candidate *c)
{
	lone_fit	f = {.problem = *problem,.method = method,.compares = true,.c = c};
	ErrorData  *error = NULL;
	instr_time	start,
				elapsed;

	INSTR_TIME_SET_CURRENT(start);
	c->nugget = c->nll = c->loo_score = c->log_marginal_likelihood = NAN;
	run_fit(env, by_plan, &f, c->is_alone ? NULL : &error);
	if (error)
		c->problem = error->message;
	if (f.alone && (f.posterior == NULL || f.problem.loo_only || method))
		forget(&f);
	gp_candidate_close_prior(env, c);
	INSTR_TIME_SET_CURRENT(elapsed);
	INSTR_TIME_SUBTRACT(elapsed, start);
	c->seconds = INSTR_TIME_GET_DOUBLE(elapsed);
	return f;
}

void
gnngp_compare(gp_env *env, bool by_plan, const gp_problem *problem, const char *method,
			  gp_candidate *c)
{
	lone_fit	f = compare(env, by_plan, problem, method, c);

	forget(&f);
}

/* The figures of all that were compared, as JSON, or why one was skipped. */
static char *
describe(const gp_candidate *candidates, int n)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
	{
		const gp_candidate *c = &candidates[i];

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

/* What is planned before the first candidate is compared. */
typedef struct forecast
{
	const gp_problem *problem;
	gp_candidate *candidates;
	int			n;
} forecast;

static void
expect_fit(gnngp_computation *compute, void *arg)
{
	const forecast *f = arg;
	double	   *effort = palloc0(sizeof(double) * (f->n + 1));

	effort[f->n] = gp_candidates_plan(compute->device, f->problem, f->candidates,
									  f->n).full.effort;
	/* The last is compared first. */
	for (int i = 0; i < f->n; i++)
		effort[f->n - 1 - i] = f->candidates[i].plan.effort;
	gnngp_progress_expect(compute->device, f->n + 1, effort);
}

/* Compares all candidates; *full gets the fit in full of the best, where that is left. */
static void
compare_all(gp_env *env, bool by_plan, const gp_problem *problem, gp_candidate *candidates, int n,
			lone_fit *full)
{
	forecast	ahead = {problem, candidates, n};

	if (n > 1)
		gnngp_env_destroy(run_alone(env, false, expect_fit, &ahead, NULL));
	/* What may be left is the first candidate's, which comes last. */
	for (int i = n - 1; i >= 0; i--)
	{
		forget(full);
		*full = compare(env, by_plan, problem, NULL, &candidates[i]);
		gnngp_progress_reach(n - i);
	}
	if (gp_candidates_best(candidates, n) != 0)
		forget(full);
}

/* A fit in full beside one as its kernel was compared. */
typedef struct two_fits
{
	const gp_problem *full;
	const gp_problem *compared;
	bool		long_full;
} two_fits;

static void
plan_two(gnngp_computation *compute, void *arg)
{
	two_fits   *two = arg;

	two->long_full = gp_fit_is_long(compute->device, two->full, two->compared);
}

/*
 * True where a fit in full is not worth its time: it would take long, and longer than a fit as the
 * kernel was compared, whose labels half of the landmarks explain as well.
 */
static bool
is_compared_enough(gp_env *env, bool by_plan, const gp_problem *full, const gp_problem *compared,
				   const gp_candidate *c)
{
	two_fits	two = {.full = full,.compared = compared};
	gp_candidate half = {.program = c->program,.landmarks = (c->landmarks + 1) / 2};
	gp_problem	problem = *full;

	gnngp_env_destroy(run_alone(env, false, plan_two, &two, NULL));
	if (!two.long_full)
		return false;
	problem.strategy = GP_STRATEGY_AUTO;
	gnngp_compare(env, by_plan, &problem, NULL, &half);
	return half.problem == NULL && !gp_candidate_is_better(c, &half);
}

/*
 * Fits a kernel by the planner's strategy, or as it was compared: where that is enough, or where
 * it was surely better and explains more.  Where it has rivals and the fit fails, it is left out
 * with a NOTICE, and nothing is left of the fit.
 */
static lone_fit
fit_in_full(gp_env *env, bool by_plan, const gp_problem *problem, bool has_rivals,
			gp_candidate *c)
{
	gp_candidate figures = {0};
	gp_candidate alone = {.tree = c->tree,.program = c->program,.is_alone = true};
	lone_fit	full = {.problem = *problem,.c = &figures};
	gp_program *program = gp_alloc(env, sizeof(gp_program));
	ErrorData  *error = NULL;
	ErrorData **caught = has_rivals ? &error : NULL;
	bool		may_be_enough = has_rivals && c->landmarks > 0 &&
		problem->strategy == GP_STRATEGY_AUTO && problem->nlandmarks == 0;

	*program = *c->program;
	full.problem.program = program;
	/* Conjugate gradients have compared no powers. */
	if (c->power == 0.0 && gp_power_is_open(&full.problem) &&
		!gp_precision_serves(env, &full.problem))
		gnngp_compare(env, by_plan, problem, NULL, &alone);
	if (c->power + alone.power > 0.0)
		program->power = c->power + alone.power;
	program->open_power = false;
	may_be_enough &= program->power == 1.0;
	gp_problem	as_compared = full.problem;
	as_compared.strategy = GP_STRATEGY_NYSTROM;
	as_compared.nlandmarks = c->landmarks;
	if (may_be_enough && is_compared_enough(env, by_plan, &full.problem, &as_compared, c))
		full.problem = as_compared;
	run_fit(env, by_plan, &full, caught);
	if (full.alone && may_be_enough && full.posterior->plan.strategy == GP_STRATEGY_EXACT &&
		c->loo_score > figures.loo_score && gp_candidate_is_better(c, &figures))
	{
		forget(&full);
		full.problem = as_compared;
		run_fit(env, by_plan, &full, caught);
	}
	if (error)
	{
		c->problem = error->message;
		gp_notice(env, error->hint, "kernel \"%s\" is left out, for its fit in full fails: %s",
				  c->kernel, error->message);
	}
	gp_free(env, program);
	return full;
}

gp_candidate *
gnngp_candidates(gp_env *env, const gp_problem *problem, const char *kernel, int *n)
{
	if (gnngp_kernel_is_auto(kernel))
		return gp_candidates(env, problem, n);
	*n = 1;
	gp_candidate *named = palloc(sizeof(gp_candidate));
	*named = gp_candidate_make(env, gnngp_parse_kernel(env, kernel));
	named->is_alone = true;
	return named;
}

gnngp_choice
gnngp_fit_kernel(gp_env *env, bool by_plan, const gp_problem *asked, const char *kernel)
{
	int			n;
	gp_candidate *candidates = gnngp_candidates(env, asked, kernel, &n);
	gp_shared  *shared = gp_candidates_share(env, asked, candidates, n);
	gp_problem	problem = *asked;
	lone_fit	full = {.problem = *asked};
	gp_candidate *chosen = candidates;
	gnngp_choice choice = {0};

	problem.shared = shared;
	compare_all(env, by_plan, &problem, candidates, n, &full);
	while (full.alone == NULL)
	{
		/* Where none is left the first one's error ends the fit. */
		int			best = gp_candidates_best(candidates, n);

		chosen = &candidates[Max(best, 0)];
		full = fit_in_full(env, by_plan, &problem, n > 1 && best >= 0, chosen);
	}
	if (n > 1)
	{
		gp_notice_choice(env, candidates, n, chosen);
		choice.alternatives = describe(candidates, n);
	}
	choice.posterior = full.posterior;
	choice.device = full.device;
	gnngp_env_join(full.env, env);
	chosen->prior_d = full.posterior->prior_d;
	chosen->prior_sigma2 = full.posterior->prior_sigma2;
	gp_candidate_close_prior(env, chosen);
	choice.kernel = pstrdup(chosen->kernel);
	choice.program = chosen->program;
	if (shared)
		gp_shared_close(env, shared);
	gp_free(env, shared);
	return choice;
}
