/*
 * plan.c - the planner: tries each strategy without computing it, and chooses.
 *
 * It takes the more exact strategy that fits the memory limit, unless that
 * would take much longer than the low-rank one.
 */
#include "fit_internal.h"
#include "landmarks.h"
#include "kernel/prepared.h"
#include "precision/precision_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHEAP_EFFORT 2e11		/* an exact fit of so many operations is never refused: seconds */
#define PATIENCE 3.0			/* else it may take so many times the low-rank fit's */
#define DIAGONAL_SHARE 0.1		/* the exact diagonal may cost so much of a low-rank fit */
#define DIAGONAL_CHEAP 2e10
#define FEWEST_LANDMARKS 64
#define POWERS_SHARE 0.15		/* the choice of a power may cost so much of a fit */
#define POWERS_CHEAP 6e10		/* or so many operations: about a second */

/* What the planner weighs. */
typedef struct options
{
	bool		has_columns;
	gp_count	columns;
	gp_count	full;
	gp_count	diagonal;		/* alone */
	gp_count	lowrank;
	int64_t		nlandmarks;
	bool		exact_diagonal;
	double		base;			/* bytes held during every strategy, */
	double		before;			/* and at most before it begins */
	double		limit;			/* INFINITY without one */
} options;

/* Bytes in a unit that reads well. */
static double
megabytes(double bytes)
{
	return bytes / (1024.0 * 1024.0);
}

/* Raises the limit's error with both numbers. */
static void
refuse(gp_env *env, const char *what, double needed, double allowed, const char *hint)
{
	gp_raise(env, GP_ERR_LIMIT, hint,
			 "the %s needs %.1f MB, but gnngp.memory_limit allows %.1f MB",
			 what, megabytes(needed), megabytes(allowed));
}

/* True for a term of a linear step whose part of the factor is sure to be dense. */
static bool
term_is_dense(const gp_eval *ev, const gp_linear_term *term)
{
	if (term->leaf == GP_LEAF_INPUT && ev->kernel->x->dense)
		return true;
	for (int k = 0; k < term->nops; k++)
		if (gp_operator_is_global(term->op[k]))
			return true;
	return false;
}

/* The bytes of a step's explicit factor, of one term at a time, where it is sure to be dense; else 0. */
static double
dense_bytes(gp_eval *ev, int step)
{
	gp_terms   *terms = gp_alloc_zero(ev->env, 1, sizeof(gp_terms));
	int64_t		width = ev->kernel->x->dense ? ev->kernel->x->dims : 0;

	if (gp_step_is_linear(ev, step))
	{
		gp_linear_collect(ev, step, terms);
		width = 0;
		for (int t = 0; t < terms->n; t++)
			if (term_is_dense(ev, &terms->term[t]))
				width = gp_max64(width, gp_term_width(ev, &terms->term[t]));
	}
	gp_free(ev->env, terms);
	return width > 0 ? gp_matrix_bytes(ev->n, width, ev->type) : 0.0;
}

/* Refuses explicit factors of the program's steps that would not fit, before any of them is made. */
void
gp_plan_check_factors(gp_eval *ev, double limit)
{
	int			root = ev->kernel->program->nsteps - 1;
	int		   *uses = gp_alloc_zero(ev->env, root + 1, sizeof(int));
	double		most;
	double		promised = gp_eval_promised(ev, &most);

	gp_step_uses(ev, root, ev->kernel->is_linear, uses);
	for (int i = 0; i <= root; i++)
	{
		double		bytes;

		if (uses[i] == 0 ||
			!(gp_step_is_linear(ev, i) || ev->kernel->program->steps[i].kind == GP_STEP_INPUT))
			continue;
		ev->env->check_interrupts(ev->env);
		bytes = (double) ev->env->used + promised + dense_bytes(ev, i);
		if (bytes > limit)
			refuse(ev->env, "fit", bytes, limit,
				   "Use fewer features, or a kernel without P(a) on the input.");
	}
	gp_free(ev->env, uses);
}

/* A fit that is tried without being computed. */
typedef struct trial
{
	const gp_problem *problem;
	gp_plan		plan;
} trial;

/* The fit itself; runs in a dry run. */
static void
run_trial(gp_eval *ev, void *arg)
{
	const trial *t = arg;

	gp_posterior_free(ev->env, gp_infer(ev, t->problem, &t->plan));
}

/* What the fit keeps; runs in a dry run. */
static void
run_keep(gp_eval *ev, void *arg)
{
	trial	   *t = arg;
	gp_posterior *out = gp_infer(ev, t->problem, &t->plan);

	t->plan.live_bytes = gp_keep_bytes(out->keep);
	gp_posterior_free(ev->env, out);
}

/* The bytes that a live problem's fit keeps. */
static double
count_keep(gp_eval *ev, const gp_problem *problem, const gp_plan *plan)
{
	trial		t = {problem, *plan};

	if (problem->live)
		(void) gp_eval_dry(ev, run_keep, &t);
	return t.plan.live_bytes;
}

/* What an exact fit takes. */
static gp_count
count_exact(gp_eval *ev, const gp_problem *problem, bool by_columns)
{
	trial		t = {problem, {.strategy = GP_STRATEGY_EXACT, .by_columns = by_columns,
	.exact_diagonal = true}};

	return gp_eval_dry(ev, run_trial, &t);
}

/* What a low-rank fit takes. */
static gp_count
count_nystrom(gp_eval *ev, const gp_problem *problem, int64_t nlandmarks, bool exact_diagonal)
{
	trial		t = {problem, {.strategy = GP_STRATEGY_NYSTROM, .nlandmarks = nlandmarks,
	.exact_diagonal = exact_diagonal}};

	return gp_eval_dry(ev, run_trial, &t);
}

/* The diagonal of the whole kernel; runs in a dry run. */
static void
run_diagonal(gp_eval *ev, void *arg)
{
	gp_matrix	diag = gp_eval_diagonal(ev, ev->kernel->program->nsteps - 1);

	ev->dev->destroy(ev->dev, &diag);
}

/* Counts the low-rank fit, with the exact diagonal where that is affordable. */
static void
count_lowrank(gp_eval *ev, const gp_problem *problem, options *o)
{
	gp_count	none = {INFINITY, INFINITY, INFINITY, INFINITY};
	bool		cheap;

	if (!gp_nystrom_possible(ev, ev->kernel->program->nsteps - 1))
	{
		o->lowrank = none;
		return;
	}
	if (o->has_columns && o->diagonal.effort == 0.0)
		o->diagonal = gp_eval_dry(ev, run_diagonal, NULL);
	cheap = o->has_columns && o->diagonal.effort <= DIAGONAL_CHEAP;
	o->lowrank = count_nystrom(ev, problem, o->nlandmarks, cheap);
	o->exact_diagonal = cheap ||
		(o->has_columns && o->diagonal.effort <= DIAGONAL_SHARE * o->lowrank.effort);
	if (o->exact_diagonal && !cheap)
		o->lowrank = count_nystrom(ev, problem, o->nlandmarks, true);
}

/* Halves an automatic number of landmarks until the fit fits. */
static void
fit_landmarks(gp_eval *ev, const gp_problem *problem, options *o)
{
	while (problem->nlandmarks == 0 && isfinite(o->lowrank.bytes) && o->nlandmarks > FEWEST_LANDMARKS &&
		   o->base + o->lowrank.bytes > o->limit)
	{
		o->nlandmarks /= 2;
		count_lowrank(ev, problem, o);
	}
}

/* Adds to a plan's reason what it takes, behind the words that say how. */
void
gp_plan_explain(gp_plan *plan)
{
	size_t		used = strlen(plan->reason);

	snprintf(plan->reason + used, sizeof(plan->reason) - used, "%.3g GFLOP, %.0f MB", plan->flops / 1e9,
			 ceil(megabytes(plan->bytes)));
}

/* Fills the plan from a count. */
static void
settle(const gp_eval *ev, const options *o, const gp_count *count, gp_plan *plan)
{
	plan->bytes = fmax(fmax(o->base + count->bytes, o->before), (double) ev->env->peak);
	plan->flops = count->flops;
	plan->effort = count->effort;
	plan->doubles = count->doubles;
}

/* Takes the cheaper exact way that fits; false when none does. */
static bool
take_exact(const gp_eval *ev, const gp_problem *problem, const options *o, gp_plan *plan)
{
	bool		columns = o->has_columns && o->base + o->columns.bytes <= o->limit;
	bool		full = o->base + o->full.bytes <= o->limit;

	if (!columns && !full)
		return false;
	plan->strategy = GP_STRATEGY_EXACT;
	plan->by_columns = columns && (!full || o->columns.effort <= o->full.effort);
	plan->exact_diagonal = true;
	plan->nlandmarks = 0;
	settle(ev, o, plan->by_columns ? &o->columns : &o->full, plan);
	snprintf(plan->reason, sizeof(plan->reason),
			 plan->by_columns ?
			 "exact, by the receptive field of %lld labelled nodes: " :
			 "exact, by the full recursion with %lld labelled nodes: ",
			 (long long) problem->nlabelled);
	gp_plan_explain(plan);
	return true;
}

/* Takes the low-rank way; false when it does not fit. */
static bool
take_lowrank(const gp_eval *ev, const options *o, gp_plan *plan)
{
	gp_nystrom_check(ev, ev->kernel->program->nsteps - 1);
	if (o->base + o->lowrank.bytes > o->limit)
		return false;
	plan->strategy = GP_STRATEGY_NYSTROM;
	plan->by_columns = false;
	plan->exact_diagonal = o->exact_diagonal;
	plan->nlandmarks = o->nlandmarks;
	settle(ev, o, &o->lowrank, plan);
	snprintf(plan->reason, sizeof(plan->reason),
			 "low rank on %lld landmarks, variances from the %s diagonal: ",
			 (long long) o->nlandmarks, o->exact_diagonal ? "exact" : "low-rank");
	gp_plan_explain(plan);
	if (ev->kernel->program->power != 1.0)
	{
		size_t		used = strlen(plan->reason);

		snprintf(plan->reason + used, sizeof(plan->reason) - used,
				 "; a power of the kernel is one of a factor");
	}
	return true;
}

/* Adds to the reason what the other strategy would have cost. */
static void
explain(const options *o, gp_plan *plan, const char *why)
{
	size_t		used = strlen(plan->reason);
	const gp_count *exact = o->has_columns && o->columns.effort <= o->full.effort ?
		&o->columns : &o->full;
	const gp_count *other = plan->strategy == GP_STRATEGY_EXACT ? &o->lowrank : exact;

	if (!isfinite(other->bytes))
		return;
	snprintf(plan->reason + used, sizeof(plan->reason) - used,
			 "; %s (%s would take %.3g GFLOP and %.0f MB)", why,
			 plan->strategy == GP_STRATEGY_EXACT ? "low rank" : "exact",
			 other->flops / 1e9, ceil(megabytes(o->base + other->bytes)));
}

/* Chooses without being told. */
static bool
choose(const gp_eval *ev, const gp_problem *problem, const options *o, gp_plan *plan)
{
	bool		exact = take_exact(ev, problem, o, plan);
	double		effort = !exact ? INFINITY : plan->by_columns ? o->columns.effort : o->full.effort;

	if (exact && effort <= fmax(CHEAP_EFFORT, PATIENCE * o->lowrank.effort))
	{
		explain(o, plan, "the more exact strategy fits");
		return true;
	}
	if (take_lowrank(ev, o, plan))
	{
		explain(o, plan, exact ? "exact would take much longer" : "exact does not fit");
		return true;
	}
	return exact;
}

/* Takes the strategy that was asked for, or chooses; false when nothing fits. */
static bool
take(const gp_eval *ev, const gp_problem *problem, const options *o, gp_plan *plan)
{
	if (problem->strategy == GP_STRATEGY_EXACT)
		return take_exact(ev, problem, o, plan);
	if (problem->strategy == GP_STRATEGY_NYSTROM)
		return take_lowrank(ev, o, plan);
	return choose(ev, problem, o, plan);
}

/* Takes the smallest way, though it does not fit: what an estimate shows then. */
static bool
take_anyway(const gp_eval *ev, const gp_problem *problem, options *o, gp_plan *plan)
{
	o->limit = INFINITY;
	return problem->strategy == GP_STRATEGY_EXACT ? take_exact(ev, problem, o, plan)
		: take_lowrank(ev, o, plan);
}

/* The bytes that a fit may hold; INFINITY without a limit. */
static double
bytes_allowed(const gp_device *dev, const gp_problem *problem)
{
	return problem->estimate_limit > 0 ? (double) problem->estimate_limit
		: dev->env->limit > 0 ? (double) gp_limit(dev->env) + (double) dev->room : INFINITY;
}

/* Lets leave-one-out choose a power of the kernel, where that is affordable. */
static void
plan_powers(gp_eval *ev, const gp_problem *problem, const options *o, gp_plan *plan)
{
	trial		t = {problem, *plan};
	size_t		used = strlen(plan->reason);
	gp_count	count;

	if (!gp_power_is_open(problem) || !gp_nystrom_possible(ev, ev->kernel->program->nsteps - 1))
		return;
	t.plan.try_powers = true;
	count = gp_eval_dry(ev, run_trial, &t);
	if (count.effort - plan->effort > fmax(POWERS_CHEAP, POWERS_SHARE * plan->effort) ||
		o->base + count.bytes > o->limit)
		return;
	plan->try_powers = true;
	settle(ev, o, &count, plan);
	snprintf(plan->reason + used, sizeof(plan->reason) - used,
			 "; the power of the kernel by leave-one-out%s, %.3g GFLOP in all",
			 plan->strategy == GP_STRATEGY_EXACT ? " (a power above 1 makes the fit nystrom)" : "", plan->flops / 1e9);
}

/* The problem as it is planned: a power of the kernel is one of a low-rank factor. */
static gp_problem
planned_problem(const gp_problem *problem)
{
	gp_problem	p = *problem;

	if (problem->program->power != 1.0)
		p.strategy = GP_STRATEGY_NYSTROM;
	return p;
}

/* Plans with an evaluation at hand. */
gp_plan
gp_plan_with(gp_eval *ev, const gp_problem *asked)
{
	gp_env	   *env = ev->env;
	gp_problem	planned = planned_problem(asked);
	const gp_problem *problem = &planned;
	int			root = ev->kernel->program->nsteps - 1;
	gp_plan		plan = {0};
	options		o = {0};
	double		promised;
	bool		fits;

	env->progress(env, GP_PHASE_PLAN, 0, 0);
	o.limit = bytes_allowed(ev->dev, problem);
	gp_plan_check_factors(ev, problem->estimate_limit > 0 ? INFINITY : o.limit);
	o.has_columns = gp_step_reach(ev, root) != GP_REACH_NONE && problem->program->power == 1.0;
	o.nlandmarks = gp_landmarks_automatic(ev, problem);
	if (problem->strategy != GP_STRATEGY_NYSTROM && o.has_columns)
		o.columns = count_exact(ev, problem, true);
	if (problem->strategy != GP_STRATEGY_NYSTROM)
		o.full = count_exact(ev, problem, false);
	if (problem->strategy != GP_STRATEGY_EXACT)
		count_lowrank(ev, problem, &o);
	promised = gp_eval_promised(ev, &o.before);
	o.base = (double) env->used + promised;
	o.before += (double) env->used;
	if (problem->strategy != GP_STRATEGY_EXACT)
		fit_landmarks(ev, problem, &o);
	fits = take(ev, problem, &o, &plan) ||
		(problem->estimate_limit > 0 && take_anyway(ev, problem, &o, &plan));
	if (!fits && problem->strategy == GP_STRATEGY_EXACT)
		refuse(env, "fit", o.base + fmin(o.has_columns ? o.columns.bytes : INFINITY, o.full.bytes),
			   o.limit, "Use strategy => 'nystrom', or raise gnngp.memory_limit.");
	if (!fits)
		refuse(env, "fit", o.base + o.lowrank.bytes, o.limit,
			   problem->divided ? "Use fewer landmarks, strategy => 'sql', which keeps the factor in tables, or raise gnngp.memory_limit." :
			   "Use fewer landmarks, or raise gnngp.memory_limit.");
	plan_powers(ev, problem, &o, &plan);
	plan.live_bytes = count_keep(ev, problem, &plan);
	return plan;
}

/* Fills a plan from what a dry run took, and refuses what does not fit. */
void
gp_plan_settle(gp_device *dev, const gp_problem *problem, const gp_count *count, const char *what,
			   const char *hint, gp_plan *plan)
{
	gp_env	   *env = dev->env;
	double		needed = (double) env->used + count->bytes;

	plan->bytes = fmax(needed, (double) env->peak);
	plan->flops = count->flops;
	plan->effort = count->effort;
	plan->doubles = count->doubles;
	if (problem->estimate_limit == 0 && needed > bytes_allowed(dev, problem))
		refuse(env, what, needed, bytes_allowed(dev, problem), hint);
}

/* A fit by conjugate gradients that is tried without being computed. */
typedef struct precision_trial
{
	const gp_problem *problem;
	const gp_csr *s;
	const gp_plan *plan;
} precision_trial;

/* The fit itself; runs in a dry run. */
static void
run_precision(gp_device *dry, void *arg)
{
	const precision_trial *t = arg;

	gp_posterior_free(dry->env, gp_infer_precision(dry, t->problem, t->s, t->plan));
}

/* Counts what conjugate gradients take; about so, for how many they are shows only later. */
gp_plan
gp_plan_precision(gp_device *dev, const gp_problem *problem, const gp_csr *s)
{
	gp_plan		plan = {
		.strategy = GP_STRATEGY_PRECISION,
		.reason = "conjugate gradients on the sparse precision, no factor: about "
	};
	precision_trial t = {problem, s, &plan};
	gp_count	count;

	dev->env->progress(dev->env, GP_PHASE_PLAN, 0, 0);
	plan.products = gp_precision_is_dear(s) ? GP_PRECISION_PRODUCTS : 0;
	count = gp_dry_run(dev, run_precision, &t);
	if (plan.products > 0 && (double) dev->env->used + count.bytes > bytes_allowed(dev, problem))
	{
		/* Products make up for the memory. */
		plan.products = 0;
		count = gp_dry_run(dev, run_precision, &t);
	}
	gp_plan_settle(dev, problem, &count, "fit",
				   problem->divided ? "Use strategy => 'sql', which shares the work out, or raise gnngp.memory_limit." :
				   "Raise gnngp.memory_limit.", &plan);
	gp_plan_explain(&plan);
	return plan;
}

/* Counts operations and bytes and chooses. */
gp_plan
gp_plan_make(gp_device *dev, const gp_problem *problem)
{
	gp_eval		ev;
	gp_plan		plan;

	dev->env->progress(dev->env, GP_PHASE_PLAN, 0, 0);
	if (gp_precision_serves(dev->env, problem))
	{
		gp_csr	   *s = gp_precision_matrix(dev->env, problem->graph);

		plan = gp_plan_precision(dev, problem, s);
		gp_csr_free(dev->env, s);
		return plan;
	}
	gp_eval_open_to_plan(&ev, dev, problem->program, problem->graph, problem->features, problem->seed,
						 problem->type, problem->estimate_limit);
	plan = gp_plan_with(&ev, problem);
	gp_eval_close(&ev);
	return plan;
}
