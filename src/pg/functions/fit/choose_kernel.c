/*
 * choose_kernel.c - compares candidates, and fits the best of them in full.
 *
 * Each fit has an environment of its own, a child of the run's, in which it is planned beside what
 * the others leave alone: gnngp_fit_kernel calls compare and fit_in_full, these run_fit, which goes
 * by gnngp_compute_planned, fit_in_child and gnngp_fit_on_device to the core's gp_fit.
 */
#include "postgres.h"

#include "choose_kernel.h"

#include "methods.h"
#include "utils/json.h"

#define EXPLAINED 0.001			/* a loss, in nats a label, that leaves nothing to choose by */

/* A fit in a child environment. */
typedef struct child_fit
{
	gp_problem	problem;
	const char *method;			/* NULL: a Gaussian process */
	bool		compares;		/* the problem is that of its candidate's comparison */
	gp_candidate *c;			/* gets the figures; NULL: they are not asked for */
	gp_env	   *env;			/* where the posterior is; NULL: nothing is left of the fit */
	gp_posterior *posterior;
	const char *device;
	size_t		peak;
} child_fit;

/* True where an error is one of the kernel on these data, or of too little memory for it. */
static bool
is_of_candidate(int sqlstate)
{
	return sqlstate == ERRCODE_CONFIGURATION_LIMIT_EXCEEDED || sqlstate == ERRCODE_OUT_OF_MEMORY ||
		sqlstate == ERRCODE_DATA_EXCEPTION || sqlstate == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
}

static void
fit_in_child(gnngp_computation *compute, void *arg)
{
	child_fit  *f = arg;
	gp_problem	problem = f->compares && f->method == NULL ?
		gp_candidate_problem(compute->device, &f->problem, f->c) : f->problem;

	gnngp_env_collect_notices(compute->env);
	f->posterior = f->method ? gnngp_method_fit(compute, &problem, f->method) :
		gnngp_fit_on_device(compute, &problem, NULL, NULL);
	f->problem = problem;
	f->device = compute->used;
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
forget(child_fit *f)
{
	if (f->env)
		gnngp_env_destroy(f->env);
	f->env = NULL;
}

/*
 * Runs a fit; its peak counts at once, for what is left of it leaves its account later.  Where the
 * candidate does not allow the fit, *error gets the reason; error NULL: that is raised.
 */
static void
run_fit(gp_env *env, child_fit *f, ErrorData **error)
{
	MemoryContext context = CurrentMemoryContext;

	/* There is nothing to undo in the database: see run_below. */
	PG_TRY();
	{
		f->env = gnngp_compute_planned(env, fit_in_child, f);
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
	env->peak = Max(env->peak, f->peak);
}

/*
 * Compares one candidate; its fit in full is left where that is the same.  An error of one that has
 * no rivals is raised.
 */
static child_fit
compare(gp_env *env, const gp_problem *problem, const char *method, gp_candidate *c)
{
	child_fit	f = {.problem = *problem,.method = method,.compares = true,.c = c};
	ErrorData  *error = NULL;
	instr_time	start,
				elapsed;

	INSTR_TIME_SET_CURRENT(start);
	c->nugget = c->nll = c->loo_score = c->log_marginal_likelihood = NAN;
	run_fit(env, &f, c->is_alone ? NULL : &error);
	if (error)
		c->problem = error->message;
	if (f.env && (f.posterior == NULL || f.problem.loo_only || method))
		forget(&f);
	gp_candidate_close_prior(env, c);
	INSTR_TIME_SET_CURRENT(elapsed);
	INSTR_TIME_SUBTRACT(elapsed, start);
	c->seconds = INSTR_TIME_GET_DOUBLE(elapsed);
	return f;
}

void
gnngp_compare(gp_env *env, const gp_problem *problem, const char *method, gp_candidate *c)
{
	child_fit	f = compare(env, problem, method, c);

	forget(&f);
}

/* Adds the figures of what was compared, by name, to JSON, or why it was skipped. */
static void
describe(StringInfo text, const char *name, const gp_candidate *c)
{
	appendStringInfoString(text, text->len == 0 ? "{" : ", ");
	escape_json(text, name);
	if (c->problem)
	{
		appendStringInfoString(text, ": {\"skipped\": ");
		escape_json(text, c->problem);
		appendStringInfoChar(text, '}');
		return;
	}
	appendStringInfo(text, ": {\"seconds\": %.3f", c->seconds);
	if (!isnan(c->nll))
		appendStringInfo(text, ", \"nll\": %.4f", c->nll);
	if (!isnan(c->loo_score))
		appendStringInfo(text, ", \"loo_score\": %.4f", c->loo_score);
	if (c->landmarks > 0)
		appendStringInfo(text, ", \"landmarks\": " INT64_FORMAT, c->landmarks);
	appendStringInfoChar(text, '}');
}

/* The figures of all kernels, and those of the form of features that lost. */
static char *
describe_all(const gp_candidate *candidates, int n, const gp_problem *problem,
			 const gp_candidate *lost)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
		describe(&text, candidates[i].kernel, &candidates[i]);
	if (lost->kernel)
		describe(&text, psprintf("%s with scale %s", lost->kernel,
								 problem->moments ? "none" : "standard"), lost);
	appendStringInfoChar(&text, '}');
	return text.data;
}

gp_shared *
gnngp_candidates_share(gp_env *env, const gp_problem *problem, const gp_candidate *candidates,
					   int n)
{
	gp_device  *device = gnngp_device_open(env, 0);
	gp_shared  *shared = gp_candidates_share(device, problem, candidates, n);

	device->close(device);
	gnngp_env_set_device_error(env, NULL, NULL);
	return shared;
}

/* A device to plan on, in an environment below env. */
static gp_device *
planner_open(gp_env *env)
{
	gp_env	   *child = gnngp_env_create_child(env);

	gnngp_env_collect_notices(child);
	return gnngp_device_open(child, 0);
}

static void
planner_close(gp_device *planner)
{
	gp_env	   *child = planner->env;

	planner->close(planner);
	gnngp_env_destroy(child);
}

/* Plans all fits before the first candidate is compared. */
static void
expect_fits(gp_env *env, const gp_problem *problem, gp_candidate *candidates, int n)
{
	gp_device  *planner = planner_open(env);
	int			forms = problem->other ? 1 : 0;
	double	   *effort = palloc0(sizeof(double) * (n + 2));

	effort[n + forms] = gp_candidates_plan(planner, problem, candidates, n).full.effort;
	/* The last is compared first; any may be compared with another form of the features. */
	for (int i = 0; i < n + forms; i++)
		effort[i] = candidates[Max(n - 1 - i, 0)].plan.effort;
	gnngp_progress_expect(planner, n + forms + 1, effort);
	planner_close(planner);
}

/* Compares all candidates; *full gets the fit in full of the best, where that is left. */
static void
compare_all(gp_env *env, const gp_problem *problem, gp_candidate *candidates, int n,
			child_fit *full)
{
	if (n > 1)
		expect_fits(env, problem, candidates, n);
	/* What may be left is the first candidate's, which comes last. */
	for (int i = n - 1; i >= 0; i--)
	{
		forget(full);
		*full = compare(env, problem, NULL, &candidates[i]);
		gnngp_progress_reach(n - i);
	}
	if (gp_candidates_best(candidates, n) != 0)
		forget(full);
}

/*
 * Compares a kernel that sees features with their other form.  *problem takes the form that
 * explains the labels better, and the candidate its figures; the first one stays where the labels
 * cannot tell, and is alone where it leaves no more to explain.  Gives the candidate of the form
 * that lost, without a kernel where none is compared.
 */
static gp_candidate
choose_form(gp_env *env, gp_problem *problem, gp_candidate *c)
{
	gp_problem	swapped = *problem;
	gp_candidate other = {.tree = c->tree,.program = c->program,.kernel = c->kernel,
		.is_planned = c->is_planned,.plan = c->plan};

	if (problem->other == NULL || c->problem || gp_program_is_laplacian(c->program) ||
		c->nll < EXPLAINED)
		return (gp_candidate) {0};
	swapped.features = problem->other;
	swapped.moments = problem->other_moments;
	swapped.other = problem->features;
	swapped.other_moments = problem->moments;
	gnngp_compare(env, &swapped, NULL, &other);
	if (!gp_candidate_is_better(&other, c))
		return other;
	gp_candidate lost = *c;
	*c = other;
	*problem = swapped;
	return lost;
}

static void
notice_form(gp_env *env, const gp_problem *problem)
{
	gp_notice(env, psprintf("gp_alter_graph(..., scale => '%s') has them so for every kernel.",
							problem->moments ? "standard" : "none"),
			  "the array of features is %s, for labels left out are predicted better so",
			  problem->moments ? "standardised" : "taken as it is");
}

/*
 * True where a fit in full is not worth its time: it would take long, and longer than a fit as the
 * kernel was compared, whose labels half of the landmarks explain as well.
 */
static bool
is_compared_enough(gp_env *env, const gp_problem *full, const gp_problem *compared,
				   const gp_candidate *c)
{
	gp_candidate half = {.program = c->program,.landmarks = (c->landmarks + 1) / 2};
	gp_problem	problem = *full;
	gp_device  *planner = planner_open(env);
	bool		is_long = gp_fit_is_long(planner, full, compared);

	planner_close(planner);
	if (!is_long)
		return false;
	problem.strategy = GP_STRATEGY_AUTO;
	gnngp_compare(env, &problem, NULL, &half);
	return half.problem == NULL && !gp_candidate_is_better(c, &half);
}

/* The power of a fit in full: that of the comparison; where it compared none, the best. */
static double
choose_power(gp_env *env, const gp_problem *problem, const gp_problem *full, const gp_candidate *c)
{
	gp_candidate alone = {.tree = c->tree,.program = c->program,.is_alone = true};

	if (c->power > 0.0)
		return c->power;
	/* Conjugate gradients have compared no powers. */
	if (gp_power_is_open(full) && !gp_precision_serves(env, full))
		gnngp_compare(env, problem, NULL, &alone);
	return alone.power > 0.0 ? alone.power : full->program->power;
}

/*
 * Fits a kernel by the planner's strategy, or as it was compared: where that is enough, or where
 * it was surely better and explains more.  Where it has rivals and the fit fails, it is left out
 * with a NOTICE, and nothing is left of the fit.
 */
static child_fit
fit_in_full(gp_env *env, const gp_problem *problem, bool has_rivals, gp_candidate *c)
{
	gp_candidate figures = {0};
	child_fit	full = {.problem = *problem,.c = &figures};
	gp_program *program = gp_alloc(env, sizeof(gp_program));
	ErrorData  *error = NULL;
	ErrorData **caught = has_rivals ? &error : NULL;

	*program = *c->program;
	full.problem.program = program;
	program->power = choose_power(env, problem, &full.problem, c);
	program->open_power = false;
	bool		may_be_enough = has_rivals && c->landmarks > 0 && program->power == 1.0 &&
		problem->strategy == GP_STRATEGY_AUTO && problem->nlandmarks == 0;
	gp_problem	as_compared = full.problem;
	as_compared.strategy = GP_STRATEGY_NYSTROM;
	as_compared.nlandmarks = c->landmarks;
	if (may_be_enough && is_compared_enough(env, &full.problem, &as_compared, c))
		full.problem = as_compared;
	gnngp_progress_last();
	run_fit(env, &full, caught);
	if (full.env && may_be_enough && full.posterior->plan.strategy == GP_STRATEGY_EXACT &&
		c->loo_score > figures.loo_score && gp_candidate_is_better(c, &figures))
	{
		forget(&full);
		full.problem = as_compared;
		run_fit(env, &full, caught);
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
gnngp_fit_kernel(gp_env *env, const gp_problem *asked, const char *kernel)
{
	int			n;
	gp_candidate *candidates = gnngp_candidates(env, asked, kernel, &n);
	gp_shared  *shared = gnngp_candidates_share(env, asked, candidates, n);
	gp_problem	problem = *asked;
	child_fit	full = {.problem = *asked};
	gp_candidate *chosen = candidates;
	gp_candidate lost = {0};
	gnngp_choice choice = {0};

	problem.shared = shared;
	compare_all(env, &problem, candidates, n, &full);
	const int	winner = n > 1 ? gp_candidates_best(candidates, n) : -1;
	/* Its form of the features; others are fitted with the form that they were compared with. */
	gp_problem	of_winner = problem;
	if (winner >= 0)
		lost = choose_form(env, &of_winner, &candidates[winner]);
	while (full.env == NULL)
	{
		/* Where none is left the first one's error ends the fit. */
		int			best = gp_candidates_best(candidates, n);

		chosen = &candidates[Max(best, 0)];
		full = fit_in_full(env, best == winner ? &of_winner : &problem, n > 1 && best >= 0, chosen);
	}
	if (n > 1)
	{
		if (chosen == &candidates[Max(winner, 0)] && of_winner.features != asked->features)
			notice_form(env, &of_winner);
		gp_notice_choice(env, candidates, n, chosen);
		choice.alternatives = describe_all(candidates, n, &of_winner, &lost);
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
