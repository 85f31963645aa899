/*
 * plan.c - the planner: tries each strategy without computing it, and chooses.
 *
 * It takes the more exact strategy that fits the memory limit, unless that
 * would take much longer than the low-rank one.
 */
#include "fit_internal.h"
#include "factor.h"
#include "kernel/prepared.h"
#include "precision/precision_fit.h"

#include <stdarg.h>
#include <stdio.h>

/* An exact fit beyond GP_CHEAP_EFFORT may take so many times the low-rank one. */
#define PATIENCE 3.0
#define DIAGONAL_SHARE 0.1		/* the exact diagonal may cost so much of a low-rank fit */
#define DIAGONAL_CHEAP 2e10
#define FEWEST_LANDMARKS 64
#define STORED_PANEL INT64_C(33554432)	/* numbers of a panel that is stored where there is room */
#define POWERS_SHARE 0.15		/* the choice of a power may cost so much of a comparison */

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

/*
 * The bytes of a step's explicit factor, of one term at a time, where it is sure to be dense; else
 * 0.
 */
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
		{
			const gp_linear_term *term = &terms->term[t];
			bool		dense = term->leaf == GP_LEAF_INPUT && ev->kernel->x->dense;

			for (int k = 0; k < term->nops; k++)
				dense = dense || gp_operator_is_global(term->op[k]);
			if (dense)
				width = gp_max64(width, gp_term_width(ev, term));
		}
	}
	gp_free(ev->env, terms);
	return width > 0 ? gp_matrix_bytes(ev->n, width, ev->type) : 0.0;
}

void
gp_plan_check_factors(gp_eval *ev, double limit)
{
	int			root = ev->kernel->program->nsteps - 1;
	int		   *uses = gp_step_uses(ev, root, ev->kernel->is_linear);
	double		most;
	double		promised = gp_eval_promised(ev, &most);

	for (int i = 0; i <= root; i++)
	{
		if (uses[i] == 0 ||
			!(gp_step_is_linear(ev, i) || ev->kernel->program->steps[i].kind == GP_STEP_INPUT))
			continue;
		ev->env->check_interrupts(ev->env);
		double		bytes = (double) ev->env->used + promised + dense_bytes(ev, i);
		if (bytes > limit)
			refuse(ev->env, "fit", bytes, limit,
				   "Use fewer features, or a kernel without P(a) on the input.");
	}
	gp_free(ev->env, uses);
}

/* A plan that was tried in a dry run, and what that took; INFINITY: not tried, or impossible. */
typedef struct tried_plan
{
	gp_plan		plan;
	gp_count	count;
} tried_plan;

static const tried_plan NONE = {.count = {INFINITY, INFINITY, INFINITY, INFINITY}};

typedef struct planner
{
	gp_eval    *ev;
	const gp_problem *problem;
	int			root;			/* the program's last step */
	bool		has_columns;	/* single columns of the kernel can be evaluated */
	tried_plan	columns;
	tried_plan	full;
	tried_plan	lowrank;
	gp_count	diagonal;		/* alone */
	int64_t		stored_panel;	/* of the low-rank fit */
	double		base;			/* bytes held during every strategy, */
	double		before;			/* and at most before it begins */
	double		limit;			/* INFINITY without one */
} planner;

/* A fit by a plan; runs in a dry run. */
typedef struct dry_fit
{
	const gp_problem *problem;
	gp_plan    *plan;
} dry_fit;

static void
run_dry_fit(gp_eval *ev, void *arg)
{
	const dry_fit *t = arg;
	gp_posterior *out = gp_posterior_planned(ev, t->problem, t->plan);

	t->plan->live_bytes = out->state ? gp_state_bytes(out->state) : 0.0;
	t->plan->live_entries = gp_live_entries(out->state, t->problem, t->plan);
	gp_posterior_free(ev->env, out);
}

/* Tries a plan without computing it. */
static tried_plan
try_plan(const planner *p, gp_plan plan)
{
	tried_plan	c = {.plan = plan};
	dry_fit		t = {p->problem, &c.plan};

	c.count = gp_eval_dry(p->ev, run_dry_fit, &t);
	return c;
}

/* The diagonal of the whole kernel; runs in a dry run. */
static void
run_diagonal(gp_eval *ev, void *arg)
{
	gp_matrix	diag = gp_eval_diagonal(ev, ev->kernel->program->nsteps - 1);

	ev->dev->destroy(ev->dev, &diag);
}

/* Tries the low-rank fit, with the exact diagonal where that is affordable. */
static void
try_lowrank(planner *p, int64_t nlandmarks)
{
	gp_plan		plan = {.strategy = GP_STRATEGY_NYSTROM,.nlandmarks = nlandmarks,
	.stored_panel = p->stored_panel};

	if (!gp_nystrom_possible(p->ev, p->root))
		return;
	if (p->problem->loo_only)
	{
		p->lowrank = try_plan(p, plan);
		return;
	}
	if (p->has_columns && p->diagonal.effort == 0.0)
		p->diagonal = gp_eval_dry(p->ev, run_diagonal, NULL);
	plan.exact_diagonal = p->has_columns && p->diagonal.effort <= DIAGONAL_CHEAP;
	p->lowrank = try_plan(p, plan);
	if (!plan.exact_diagonal && p->has_columns &&
		p->diagonal.effort <= DIAGONAL_SHARE * p->lowrank.count.effort)
	{
		plan.exact_diagonal = true;
		p->lowrank = try_plan(p, plan);
	}
}

static bool
fits(const planner *p, const tried_plan *c)
{
	return isfinite(c->count.bytes) && p->base + c->count.bytes <= p->limit;
}

/* Stores no panel, then halves an automatic number of landmarks until the fit fits. */
static void
shrink_lowrank(planner *p, int64_t nlandmarks)
{
	p->stored_panel = 1;
	try_lowrank(p, nlandmarks);
	while (p->problem->nlandmarks == 0 && isfinite(p->lowrank.count.bytes) &&
		   nlandmarks > FEWEST_LANDMARKS && !fits(p, &p->lowrank))
		try_lowrank(p, nlandmarks /= 2);
}

/* The cheaper exact plan within the limit; NULL: none is. */
static const tried_plan *
exact_that_fits(const planner *p)
{
	if (!fits(p, &p->columns))
		return fits(p, &p->full) ? &p->full : NULL;
	return fits(p, &p->full) && p->full.count.effort < p->columns.count.effort ? &p->full :
		&p->columns;
}

/*
 * The plan that was asked for, or the better one; NULL where none fits.  *why: what speaks for
 * it.
 */
static const tried_plan *
choose(const planner *p, const char **why)
{
	gp_strategy asked = p->problem->strategy;
	const tried_plan *exact = asked == GP_STRATEGY_NYSTROM ? NULL : exact_that_fits(p);

	*why = NULL;
	if (asked == GP_STRATEGY_EXACT)
		return exact;
	bool		slow = exact && isfinite(p->lowrank.count.effort) &&
					exact->plan.live_entries > GP_LIVE_ENTRIES;
	if (exact && !slow &&
		exact->count.effort <= fmax(GP_CHEAP_EFFORT, PATIENCE * p->lowrank.count.effort))
	{
		*why = "the more exact strategy fits";
		return exact;
	}
	gp_nystrom_check(p->ev, p->root);
	if (!fits(p, &p->lowrank))
		return exact;
	if (asked == GP_STRATEGY_AUTO)
		*why = slow ? "live answers of an exact fit are slow" :
			exact ? "exact would take much longer" : "exact does not fit";
	return &p->lowrank;
}

/* The plan that needs least, for an estimate where nothing fits, and for the error. */
static const tried_plan *
least(const planner *p)
{
	if (p->problem->strategy != GP_STRATEGY_EXACT)
	{
		gp_nystrom_check(p->ev, p->root);
		return &p->lowrank;
	}
	return p->columns.count.bytes < p->full.count.bytes ? &p->columns : &p->full;
}

static void
__attribute__((format(gnu_printf, 2, 3)))
add_reason(gp_plan *plan, const char *format,...)
{
	size_t		used = strlen(plan->reason);
	va_list		arg;

	va_start(arg, format);
	vsnprintf(plan->reason + used, sizeof(plan->reason) - used, format, arg);
	va_end(arg);
}

void
gp_plan_add_figures(gp_plan *plan)
{
	add_reason(plan, "%.3g GFLOP, %.0f MB", plan->flops / 1e9, ceil(megabytes(plan->bytes)));
}

static void
set_figures(gp_plan *plan, const gp_count *count, double bytes)
{
	plan->bytes = bytes;
	plan->flops = count->flops;
	plan->effort = count->effort;
	plan->doubles = count->doubles;
}

static gp_plan
with_figures(const planner *p, const tried_plan *c)
{
	gp_plan		plan = c->plan;

	set_figures(&plan, &c->count, fmax(fmax(p->base + c->count.bytes, p->before),
									   (double) p->ev->env->peak));
	return plan;
}

/* What a plan does becomes its reason. */
static void
say_strategy(gp_plan *plan, const gp_problem *problem)
{
	plan->reason[0] = '\0';
	if (plan->strategy == GP_STRATEGY_EXACT)
		add_reason(plan, "exact, by the %s %lld labelled nodes: ",
				   plan->by_columns ? "receptive field of" : "full recursion with",
				   (long long) problem->nlabelled);
	else
		add_reason(plan, "low rank on %lld landmarks, variances from the %s diagonal: ",
				   (long long) plan->nlandmarks, plan->exact_diagonal ? "exact" : "low-rank");
}

/* The chosen plan with its figures and its reason: what it does, why, and what else there was. */
static gp_plan
plan_with_reason(const planner *p, const tried_plan *c, const char *why)
{
	gp_plan		plan = with_figures(p, c);
	const tried_plan *other = &p->lowrank;

	say_strategy(&plan, p->problem);
	if (plan.strategy != GP_STRATEGY_EXACT)
		other = p->columns.count.effort <= p->full.count.effort ? &p->columns : &p->full;
	gp_plan_add_figures(&plan);
	if (plan.strategy == GP_STRATEGY_NYSTROM && p->ev->kernel->program->power != 1.0)
		add_reason(&plan, "; a power of the kernel is one of a factor");
	if (why && isfinite(other->count.bytes))
		add_reason(&plan, "; %s (%s would take %.3g GFLOP and %.0f MB)", why,
				   plan.strategy == GP_STRATEGY_EXACT ? "low rank" : "exact",
				   other->count.flops / 1e9, ceil(megabytes(p->base + other->count.bytes)));
	return plan;
}

/* The bytes that a fit may hold; INFINITY without a limit. */
static double
bytes_allowed(const gp_device *dev, const gp_problem *problem)
{
	return problem->estimate_limit > 0 ? (double) problem->estimate_limit
		: dev->env->limit > 0 ? (double) gp_limit(dev->env) + (double) dev->room : INFINITY;
}

bool
gp_plan_is_given(const gp_device *dev, const gp_problem *problem)
{
	return problem->plan && problem->plan->bytes <= bytes_allowed(dev, problem);
}

/* A comparison chooses a power, too, where that is affordable. */
static gp_plan
with_powers(const planner *p, gp_plan plan)
{
	gp_plan		powers = plan;

	if (!p->problem->loo_only || !gp_power_is_open(p->problem))
		return plan;
	powers.try_powers = true;
	tried_plan	c = try_plan(p, powers);
	bool		cheap = c.count.effort - plan.effort <=
		fmax(GP_CHEAP_EFFORT, POWERS_SHARE * plan.effort);

	return cheap && fits(p, &c) ? with_figures(p, &c) : plan;
}

gp_plan
gp_plan_of_evaluation(gp_eval *ev, const gp_problem *problem)
{
	gp_env	   *env = ev->env;
	gp_problem	asked = *problem;
	planner    *p = gp_alloc_zero(env, 1, sizeof(planner));
	gp_plan		plan = {.strategy = GP_STRATEGY_EXACT,.by_columns = true,.exact_diagonal = true,
	.stored_panel = STORED_PANEL};
	bool		fills;
	const char *why;

	*p = (planner) {.ev = ev,.problem = &asked,.root = ev->kernel->program->nsteps - 1,
	.columns = NONE,.full = NONE,.lowrank = NONE,.stored_panel = STORED_PANEL};
	env->progress(env, GP_PHASE_PLAN, 0, 0);
	/* A power of the kernel is one of a low-rank factor; the exact one would make what fills up. */
	if (problem->program->power != 1.0)
		asked.strategy = GP_STRATEGY_NYSTROM;
	p->limit = bytes_allowed(ev->dev, problem);
	gp_plan_check_factors(ev, problem->estimate_limit > 0 ? INFINITY : p->limit);
	fills = (asked.strategy == GP_STRATEGY_NYSTROM ||
			 (asked.strategy == GP_STRATEGY_AUTO && gp_nystrom_possible(ev, p->root))) &&
		gp_eval_fills(ev);
	if (fills)
		asked.strategy = GP_STRATEGY_NYSTROM;
	p->has_columns = gp_step_cheapness(ev, p->root) != GP_CHEAP_NONE &&
		problem->program->power == 1.0 && !fills;
	int64_t		most_landmarks = gp_landmarks_automatic(ev, problem);

	if (asked.strategy != GP_STRATEGY_NYSTROM && p->has_columns)
		p->columns = try_plan(p, plan);
	plan.by_columns = false;
	if (asked.strategy != GP_STRATEGY_NYSTROM)
		p->full = try_plan(p, plan);
	if (asked.strategy != GP_STRATEGY_EXACT)
		try_lowrank(p, most_landmarks);
	p->base = (double) env->used + gp_eval_promised(ev, &p->before);
	p->before += (double) env->used;
	if (isfinite(p->lowrank.count.bytes) && !fits(p, &p->lowrank))
		shrink_lowrank(p, most_landmarks);

	const tried_plan *best = choose(p, &why);
	if (best == NULL && problem->estimate_limit == 0)
		refuse(env, "fit", p->base + least(p)->count.bytes, p->limit,
			   asked.strategy == GP_STRATEGY_EXACT ?
				   "Use strategy => 'nystrom', or raise gnngp.memory_limit." :
			   problem->divided ? "Use fewer landmarks, strategy => 'sql', which keeps the factor in tables, or raise gnngp.memory_limit." :
			   "Use fewer landmarks, or raise gnngp.memory_limit.");
	if (best == NULL)
	{
		p->limit = INFINITY;
		best = asked.strategy == GP_STRATEGY_EXACT ? exact_that_fits(p) : least(p);
	}
	plan = with_powers(p, plan_with_reason(p, best, why));
	plan.most_landmarks = most_landmarks;
	gp_free(env, p);
	return plan;
}

bool
gp_plan_fits(const gp_device *dev, const gp_problem *problem, const gp_count *count)
{
	return (double) dev->env->used + count->bytes <= bytes_allowed(dev, problem);
}

void
gp_plan_set_figures(gp_device *dev, const gp_problem *problem, const gp_count *count,
					const char *what, const char *hint, gp_plan *plan)
{
	gp_env	   *env = dev->env;
	double		needed = (double) env->used + count->bytes;

	set_figures(plan, count, fmax(needed, (double) env->peak));
	if (problem->estimate_limit == 0 && !gp_plan_fits(dev, problem, count))
		refuse(env, what, needed, bytes_allowed(dev, problem), hint);
}

typedef struct dry_fitter
{
	const gp_problem *problem;
	gp_fitter	fitter;
	const void *arg;
	gp_plan		plan;
} dry_fitter;

/* The whole fit; runs in a dry run. */
static void
run_fitter(gp_device *dry, void *arg)
{
	dry_fitter *t = arg;
	gp_posterior *out = t->fitter(dry, t->problem, t->arg);

	t->plan = out->plan;
	t->plan.live_bytes = out->state ? gp_state_bytes(out->state) : 0.0;
	gp_posterior_free(dry->env, out);
}

gp_plan
gp_plan_fitter(gp_device *dev, const gp_problem *problem, gp_fitter fitter, const void *arg)
{
	dry_fitter t = {.problem = problem,.fitter = fitter,.arg = arg};
	gp_count	count = gp_dry_run(dev, run_fitter, &t);

	say_strategy(&t.plan, problem);
	gp_plan_set_figures(dev, problem, &count, "fit", "Raise gnngp.memory_limit.", &t.plan);
	gp_plan_add_figures(&t.plan);
	return t.plan;
}

/* A sparse precision, and how it is to be fitted. */
typedef struct sparse_fit
{
	const gp_csr *s;
	const gp_plan *plan;
} sparse_fit;

static gp_posterior *
fit_precision(gp_device *dev, const gp_problem *problem, const void *arg)
{
	return gp_posterior_precision(dev, problem, ((const sparse_fit *) arg)->s,
								  ((const sparse_fit *) arg)->plan);
}

gp_plan
gp_plan_precision(gp_device *dev, const gp_problem *problem, const gp_csr *s)
{
	gp_plan		plan = {
		.strategy = GP_STRATEGY_PRECISION,
		.reason = "conjugate gradients on the sparse precision, no factor: about "
	};
	sparse_fit	fit = {s, &plan};
	dry_fitter t = {.problem = problem,.fitter = fit_precision,.arg = &fit};

	dev->env->progress(dev->env, GP_PHASE_PLAN, 0, 0);
	plan.products = gp_precision_is_costly(s) ? GP_PRECISION_PRODUCTS : 0;
	gp_count	count = gp_dry_run(dev, run_fitter, &t);
	if (plan.products > 0 && !gp_plan_fits(dev, problem, &count))
	{
		/* Products make up for the memory. */
		plan.products = 0;
		count = gp_dry_run(dev, run_fitter, &t);
	}
	gp_plan_set_figures(dev, problem, &count, "fit", "Raise gnngp.memory_limit.", &plan);
	gp_plan_add_figures(&plan);
	return plan;
}
