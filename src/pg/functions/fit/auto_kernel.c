/*
 * auto_kernel.c - the kernel that suits a graph, where the user names none.
 *
 * Without features nodes are alike that lie near each other, which a Laplacian kernel says;
 * its two parameters are chosen by leave-one-out.  Where that explains next to nothing, as where edges join what is not
 * alike, nodes may be alike that have the same neighbours.  With features and few labels a choice by
 * labels is worse than none among kernels that are alike (measured: the best of nine lost to one
 * that was fixed), so it is one kernel, unless labels say clearly that it is wrong: that it explains
 * next to nothing, as where the features are noise or the edges join what is not alike, or another
 * one more by some standard errors.  With several hundred the choice is real, and all that differ
 * in kind are fitted, on one reading, and the best by leave-one-out is kept.
 */
#include "auto_kernel.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/json.h"

#define MANY_LABELS 300			/* from here on leave-one-out tells kernels apart */
#define LAPLACIAN "laplacian"	/* among candidates: with the best parameters */
#define MOST_CANDIDATES 8
#define CHEAP 4e11				/* operations that a candidate may always take: about ten seconds */
#define MANY_EDGES 1000000		/* beyond which structure alone is left to conjugate gradients */
#define PATIENCE 10.0			/* else, where there are features, so many times those of the first */
#define DOUBTFUL 0.5			/* with few labels: a score of the first above which no other is tried for classes, */
#define LITTLE 0.1				/* and below which another need not be better by more than chance */
#define SURE 2.0				/* else it has to be, by so many standard errors, */
#define CHEAP_FEW 8e10			/* and all others together may take so much, */
#define PATIENCE_FEW 0.2		/* or so much of what the first took; */
#define PATIENCE_LITTLE 2.0		/* below, what any candidate may, or so many times what the first took */

/* A kernel that is tried. */
typedef struct candidate
{
	const char *kernel;
	double		score;			/* NaN: not fitted */
	bool		skipped;		/* nobody asked */
} candidate;

/* Candidates and the best fit so far. */
typedef struct contest
{
	gnngp_run  *run;
	const gnngp_data *data;
	const gnngp_fit_settings *settings;
	bool		guarded;		/* the first stays unless labels say clearly that it is wrong */
	int			n;
	candidate	candidates[MOST_CANDIDATES];
	int			best;
	double		first_flops;	/* as the first candidate was planned */
	double		spent;			/* operations of the others, with few labels */
	gnngp_choice choice;
	gnngp_notices *notices;		/* of the best */
} contest;

static const char *const structure_few[] = {LAPLACIAN, "profile", NULL};
static const char *const structure_sparse[] = {LAPLACIAN, NULL};	/* whose inverse is as sparse as the graph */
static const char *const structure_blank[] = {LAPLACIAN, NULL};	/* the same, told apart by where it lies: features are zero */
static const char *const structure_many[] = {LAPLACIAN, "gcn", "profile", NULL};
static const char *const classes_few[] = {"appnp", LAPLACIAN, "mlp", "mlp(sigma_b=1)", "sage2", "profile", NULL};
static const char *const classes_many[] = {"gcn", "appnp", "sage2", "profile", "mlp", "mlp(sigma_b=1)", LAPLACIAN, NULL};
static const char *const values[] = {"gin", LAPLACIAN, "mlp", "mlp(sigma_b=1)", "sage2", "profile", NULL};

/* Of these, those that do not reach every node: the others have no live state. */
static const char *const live_structure[] = {"gcn", "profile", NULL};
static const char *const live_classes[] = {"gcn", "mlp", "sage2", "profile", NULL};
static const char *const live_values[] = {"gin", "mlp", "sage2", "profile", NULL};

/* The same for a model that answers of today's tables. */
static const char *const *
live_candidates_for(const gnngp_data *data)
{
	if (data->features == NULL)
		return live_structure;
	return data->task == GP_TASK_CLASSES ? live_classes : live_values;
}

/* True when no feature is anything but zero, as of constant columns: no kernel of features can be fitted then. */
static bool
features_are_zero(const gp_features *f)
{
	int64_t		n = f->csr ? gp_csr_entries(f->csr) : f->rows * f->dims;

	for (int64_t k = 0; k < n; k++)
		if (gp_number_at(f->csr ? f->csr->value : f->dense, f->csr ? f->csr->type : f->type, k) != 0.0)
			return false;
	return true;
}

/* The kernels that may suit a graph; the likeliest comes first. */
static const char *const *
candidates_for(const gnngp_data *data, const gnngp_fit_settings *settings)
{
	bool		many = data->nlabelled >= MANY_LABELS;

	if (strcmp(settings->strategy, gp_strategy_names[GP_STRATEGY_PRECISION]) == 0)
		return structure_sparse;
	if (settings->live)
		return live_candidates_for(data);
	if (data->features == NULL)
		return many ? structure_many : structure_few;
	if (features_are_zero(data->features))
		return structure_blank;
	if (data->task == GP_TASK_CLASSES)
		return many ? classes_many : classes_few;
	return values;
}

/* The canonical text of a kernel. */
static char *
canonical(gp_env *env, const char *text)
{
	gnngp_env_set_text(env, text, "kernel");
	return gp_kernel_print(env, gp_kernel_parse(env, text));
}

gp_posterior *
gnngp_fit_laplacian(gnngp_run *run, gp_problem *problem, MemoryContext context, const char **kernel)
{
	gp_posterior *posterior;

	problem->program = gnngp_compile_kernel(run->env, GP_OPEN_PRIOR);
	problem->open_prior = true;
	posterior = gnngp_run_fit(run, problem);
	*kernel = MemoryContextStrdup(context, gp_prior_kernel(run->env, posterior));
	return posterior;
}

const char *
gnngp_likely_kernel(const gnngp_data *data, const gnngp_fit_settings *settings)
{
	const char *first = candidates_for(data, settings)[0];

	return strcmp(first, LAPLACIAN) == 0 ? GP_OPEN_PRIOR : first;
}

/* True when another candidate is worth a fit: always, or with few labels where the first one leaves much open. */
static bool
is_wanted(const contest *c)
{
	if (!c->guarded)
		return true;
	if (c->data->features == NULL)
		return c->candidates[0].score < LITTLE;
	return c->data->task == GP_TASK_VALUES || c->candidates[0].score < DOUBTFUL;
}

/* The operations that a candidate may take. */
static double
most_flops(const contest *c)
{
	if (!c->guarded)
		return fmax(CHEAP, PATIENCE * c->first_flops);
	if (c->candidates[0].score >= LITTLE)
		return fmax(CHEAP_FEW, PATIENCE_FEW * c->first_flops) - c->spent;
	return fmax(CHEAP, PATIENCE_LITTLE * c->first_flops) - c->spent;
}

/*
 * Plans candidate i.  The first one has to fit, and an error says when it does not; of the
 * others false means that they would not, or would take long.
 */
static bool
is_affordable(contest *c, int i, const char *kernel)
{
	gp_env	   *env = c->run->env;
	size_t		limit = env->limit;
	gp_problem	problem;
	gp_plan		plan;
	bool		affordable;

	/* Planning takes seconds there, to no avail: the first one's fit does it once more. */
	if (c->data->graph->edges > MANY_EDGES &&
		(c->data->features == NULL || (c->guarded && c->candidates[0].score >= LITTLE)))
		return i == 0;
	gnngp_problem_init(&problem, c->data, gnngp_compile_kernel(env, kernel), c->settings);
	problem.estimate_limit = i == 0 ? 0 : env->limit == 0 ? SIZE_MAX / 2 : gp_limit(env);
	/* What planning itself takes is not held against the limit, as in an estimate. */
	env->limit = i == 0 ? limit : 0;
	plan = gp_plan_make(c->run->device, &problem);
	env->limit = limit;
	if (i == 0 && c->data->features)
		c->first_flops = plan.flops;
	affordable = i == 0 || (plan.bytes <= (double) problem.estimate_limit && plan.flops <= most_flops(c));
	if (affordable && c->guarded)
		c->spent += plan.flops;
	return affordable;
}

/*
 * True when a fit of a higher score may replace the best so far.  With few labels the first one is
 * given up where it is worth nothing, or surely worse; those behind it are compared by their scores.
 */
static bool
is_sure(const contest *c, const gp_posterior *posterior)
{
	gp_problem	problem;

	if (!c->guarded || c->best != 0 || c->candidates[0].score < LITTLE)
		return true;
	gnngp_problem_init(&problem, c->data, NULL, c->settings);
	return gp_loo_gain(c->run->env, &problem, posterior, c->choice.posterior) > SURE;
}

/*
 * What a fit is compared by.  Of classes the likelihood of the labels without themselves, for a score of means that have no
 * level of their own for each class is below 0 where one is rare, however well that is told; but few labels that
 * a feature explains are compared label by label, by the errors that is_sure looks at.
 */
static double
worth(const contest *c, const gp_posterior *posterior)
{
	bool		likely = c->data->task == GP_TASK_CLASSES && !(c->guarded && c->data->features);

	return likely ? -posterior->metric[GP_METRIC_NLL] : posterior->loo_score;
}

/* True when a fit is better than the best so far; any is better than none. */
static bool
is_better(const contest *c, const gp_posterior *posterior)
{
	double		own = worth(c, posterior);
	double		best = c->choice.posterior ? worth(c, c->choice.posterior) : NAN;

	return c->choice.posterior == NULL || (own > best && is_sure(c, posterior)) || (isnan(best) && !isnan(own));
}

/* Keeps the fit of candidate i, or frees it; what it had to say goes the same way. */
static void
settle(contest *c, int i, gp_posterior *posterior, gnngp_notices *said)
{
	gp_env	   *env = c->run->env;

	c->candidates[i].score = posterior->loo_score;
	if (i == 0 && c->guarded)
		c->first_flops = posterior->plan.flops;
	if (!is_better(c, posterior))
	{
		gp_posterior_free(env, posterior);
		return;
	}
	gp_posterior_free(env, c->choice.posterior);
	c->choice.posterior = posterior;
	c->choice.device = c->run->used;
	c->best = i;
	c->notices = said;
}

/* Fits candidate i where that is affordable. */
static void
try_candidate(contest *c, int i)
{
	gp_env	   *env = c->run->env;
	const char *kernel = c->candidates[i].kernel;
	/* Whoever names the kernel means the parameters that its text stands for. */
	bool		laplacian = gnngp_kernel_is_auto(c->settings->kernel) && strcmp(kernel, LAPLACIAN) == 0;
	gp_problem	problem;
	gp_posterior *posterior;
	gnngp_notices *former;

	c->candidates[i].skipped = i > 0 && !is_wanted(c);
	if (c->candidates[i].skipped)
		return;
	/* A kernel that is alone, or may be, is planned by its fit. */
	if (i > 0 || laplacian || (c->n > 1 && !c->guarded))
		if (!is_affordable(c, i, laplacian ? GP_OPEN_PRIOR : kernel))
			return;
	gnngp_problem_init(&problem, c->data, laplacian ? NULL : gnngp_compile_kernel(env, kernel), c->settings);
	former = gnngp_env_collect_notices(env);
	posterior = laplacian ? gnngp_fit_laplacian(c->run, &problem, CurrentMemoryContext, &c->candidates[i].kernel) :
		gnngp_run_fit(c->run, &problem);
	settle(c, i, posterior, gnngp_env_collect_notices(env));
	gnngp_env_join_notices(env, former, NULL);
}

/* The scores of those that were not chosen, as JSON; null for those that were left out. */
static char *
describe_others(const contest *c)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < c->n; i++)
	{
		if (i == c->best || c->candidates[i].skipped)
			continue;
		appendStringInfoString(&text, text.len == 0 ? "{" : ", ");
		escape_json(&text, canonical(c->run->env, c->candidates[i].kernel));
		if (isnan(c->candidates[i].score))
			appendStringInfoString(&text, ": null");
		else
			appendStringInfo(&text, ": %.4f", c->candidates[i].score);
	}
	if (text.len == 0)
		return NULL;
	appendStringInfoChar(&text, '}');
	return text.data;
}

/* Lists the kernels that may suit, and says why where features do not count. */
static void
list_candidates(contest *c)
{
	const char *const *kernel = candidates_for(c->data, c->settings);
	bool		few = kernel == structure_few;

	if (kernel == structure_blank)
		gp_notice(c->run->env, "A constant column does not distinguish nodes.",
				  "the features are zero at every node, so only the edges are used");
	for (; *kernel; kernel++)
		c->candidates[c->n++].kernel = *kernel;
	c->guarded = c->n > 1 && c->data->nlabelled < MANY_LABELS && (few || c->data->features != NULL);
	/* What lies in tables takes its time. */
	if (c->guarded && strcmp(c->settings->strategy, gp_strategy_names[GP_STRATEGY_SQL]) == 0)
		c->n = 1;
}

gnngp_choice
gnngp_fit_kernel(gnngp_run *run, const gnngp_data *data, const gnngp_fit_settings *settings)
{
	contest		c = {.run = run, .data = data, .settings = settings};

	if (!gnngp_kernel_is_auto(settings->kernel))
		c.candidates[c.n++].kernel = settings->kernel;
	else
		list_candidates(&c);
	for (int i = 0; i < c.n; i++)
	{
		c.candidates[i].score = NAN;
		try_candidate(&c, i);
	}
	gnngp_env_join_notices(run->env, gnngp_env_collect_notices(run->env), c.notices);
	c.choice.kernel = canonical(run->env, c.candidates[c.best].kernel);
	c.choice.alternatives = describe_others(&c);
	return c.choice;
}
