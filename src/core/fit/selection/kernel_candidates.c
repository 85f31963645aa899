/*
 * kernel_candidates.c - the kernels that may suit a graph, and which explains its labels best.
 */
#include <stdio.h>
#include <string.h>

#include "selection.h"

#define ONE_ERROR 1.0			/* by which a kernel has to be better */
#define LAPLACIAN "laplacian"
#define LINEAR "linear"			/* what anybody would try first, and the rest is held against */
#define NOTICE_LABELS 30		/* by which candidates are told apart to the user */

static const char *const of_classes[] = {"appnp", "gcn", "sage2", "profile", "hops", "mlp", "field", LAPLACIAN, LINEAR, NULL};
static const char *const of_values[] = {"gin", "sage2", "profile", "hops", "mlp", "field", LAPLACIAN, LINEAR, NULL};
static const char *const of_edges[] = {LAPLACIAN, "gcn", "profile", NULL};	/* there are no features */
static const char *const of_sparse_inverse[] = {LAPLACIAN, NULL};

/* Of these, those that reach every node from each: they have no live state. */
static const char *const without_live[] = {"appnp", "field", LAPLACIAN, NULL};

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
kernels_for(gp_env *env, const gp_problem *problem)
{
	if (problem->strategy == GP_STRATEGY_PRECISION)
		return of_sparse_inverse;
	if (problem->features == NULL)
		return of_edges;
	if (!problem->live && features_are_zero(problem->features))
	{
		gp_notice(env, "A constant column does not distinguish nodes.",
				  "the features are zero at every node, so only the edges are used");
		return of_sparse_inverse;
	}
	return problem->task == GP_TASK_CLASSES ? of_classes : of_values;
}

gp_candidate
gp_candidate_make(gp_env *env, gp_kernel *kernel)
{
	return (gp_candidate) {.tree = kernel,.program = gp_kernel_program(env, kernel),
		.kernel = gp_kernel_print(env, kernel)};
}

gp_candidate *
gp_candidates(gp_env *env, const gp_problem *problem, int *n)
{
	const char *const *kernel = kernels_for(env, problem);
	bool		live = problem->live && kernel != of_sparse_inverse;
	char		left_out[100] = "";
	int			most = 0;

	while (kernel[most])
		most++;
	gp_candidate *out = gp_alloc_zero(env, most, sizeof(gp_candidate));
	for (*n = 0; *kernel; kernel++)
		if (!live || !gp_is_among(without_live, *kernel))
			out[(*n)++] = gp_candidate_make(env, gp_kernel_parse(env, *kernel));
		else
		{
			size_t		length = strlen(left_out);

			snprintf(left_out + length, sizeof(left_out) - length, "%s%s", length ? ", " : "",
					 *kernel);
		}
	if (*left_out)
		gp_notice(env, "gp_tune(graph) compares them, too; a fit without live => true can have one.",
				  "kernels that cannot answer live were left out: %s", left_out);
	return out;
}

/* What the comparison of a kernel's powers and its fit have in common: the factor of a Laplacian
 * input, which takes longer than the rest. */
static gp_shared *
share_input(gp_device *dev, const gp_problem *problem, const gp_candidate *lone)
{
	const gp_program *program = lone->program;
	gp_problem	p = *problem;
	gp_eval_options set = {.to_plan = p.estimate_limit > 0,.limit = p.estimate_limit};

	p.program = program;
	if (!lone->is_alone || program->input.kind != GP_INPUT_LAPLACIAN || program->open_prior ||
		!gp_power_is_open(&p) || gp_precision_serves(dev->env, &p))
		return NULL;
	dev->env->progress(dev->env, GP_PHASE_KERNEL, 0, 0);
	/* First, for making it may take most of all. */
	gp_features *x = gp_input_factor(dev, program, p.graph, p.seed, p.type, set);
	if (x == NULL)
		return NULL;
	gp_shared  *shared = gp_alloc(dev->env, sizeof(gp_shared));
	*shared = gp_shared_open(dev->env, p.graph, NULL, program->norm, p.type, p.seed);
	shared->features = p.features;
	shared->x = x;
	if (x->csr)
		shared->hash = gp_hash_features(dev->env, x);
	return shared;
}

gp_shared *
gp_candidates_share(gp_device *dev, const gp_problem *problem, const gp_candidate *candidates,
					int n)
{
	gp_env	   *env = dev->env;

	if (n < 2)
		return share_input(dev, problem, candidates);
	gp_shared  *shared = gp_alloc(env, sizeof(gp_shared));
	*shared = gp_shared_open(env, problem->graph, problem->features, GP_NORM_SYM, problem->type,
							 problem->seed);
	/* Laplacian priors ask for S, and for nothing else. */
	for (int i = 0; i < n; i++)
	{
		const gp_program *program = candidates[i].program;

		if (program && !gp_program_is_laplacian(program))
			gp_shared_add(env, shared, problem->graph, program, problem->type);
		else if (program && !shared->s)
			shared->s = gp_precision_matrix(env, problem->graph);
	}
	return shared;
}

void
gp_candidate_record(gp_env *env, const gp_problem *problem, const gp_posterior *posterior,
					gp_candidate *c)
{
	c->problem = NULL;
	c->landmarks = posterior->nlandmarks;
	/* Conjugate gradients try no powers. */
	c->power = posterior->nlandmarks > 0 ? posterior->power : 0.0;
	c->prior_d = posterior->prior_d;
	c->prior_sigma2 = posterior->prior_sigma2;
	c->nugget = posterior->nugget;
	c->nll = posterior->metric[GP_METRIC_NLL];
	c->loo_score = posterior->loo_score;
	c->log_marginal_likelihood = posterior->log_marginal_likelihood;
	c->loss = gp_loo_losses(env, problem, posterior, &c->n);
}

void
gp_candidate_close_prior(gp_env *env, gp_candidate *c)
{
	if (c->prior_d == 0)
		return;
	gp_kernel_give_prior(c->tree, c->prior_d, c->prior_sigma2);
	c->program = gp_kernel_program(env, c->tree);
	c->kernel = gp_kernel_print(env, c->tree);
}

/* The mean loss; without one, any that fits is as good. */
static double
mean_loss(const gp_candidate *c)
{
	double		sum = 0.0;

	for (int64_t k = 0; c->loss && k < c->n; k++)
		sum += c->loss[k] / c->n;
	return c->problem ? INFINITY : sum;
}

bool
gp_candidate_is_better(const gp_candidate *one, const gp_candidate *other)
{
	if (one->loss == NULL || other->problem)
		return other->problem != NULL;
	return gp_loss_gain(one->loss, other->loss, one->n) > ONE_ERROR;
}

/* The candidate with the least mean loss. */
static int
least_loss(const gp_candidate *candidates, int n)
{
	int			least = 0;

	for (int i = 1; i < n; i++)
		if (mean_loss(&candidates[i]) < mean_loss(&candidates[least]))
			least = i;
	return least;
}

int
gp_candidates_best(const gp_candidate *candidates, int n)
{
	int			least = least_loss(candidates, n);
	int			best = 0;

	if (candidates[least].problem)
		return -1;
	while (best < least && gp_candidate_is_better(&candidates[least], &candidates[best]))
		best++;
	return best;
}

void
gp_notice_choice(gp_env *env, const gp_candidate *candidates, int n, const gp_candidate *chosen)
{
	const gp_candidate *least = &candidates[least_loss(candidates, n)];
	const gp_candidate *last = &candidates[n - 1];
	char		hint[300];

	if (chosen->n < NOTICE_LABELS)
		return;
	snprintf(hint, sizeof(hint), "kernel => '%s' fits that one.", least->kernel);
	if (chosen != least)
		gp_notice(env, hint,
				  "kernel \"%s\" was chosen, though \"%s\" loses less on labels left out: "
				  "the difference is within its standard error", chosen->kernel, least->kernel);
	if (strcmp(last->kernel, LINEAR) != 0 || last->problem)
		return;
	if (chosen == last)
		gp_notice(env, "Other columns, or other edges, may say more of the labels.",
				  "no kernel predicts labels left out better than linear regression on own columns "
				  "and neighbours' means");
	else if (!gp_candidate_is_better(chosen, last))
		gp_notice(env, "kernel => '" LINEAR "' is simpler; alternatives has the figures of both.",
				  "linear regression on own columns and neighbours' means predicts labels left out "
				  "as well as kernel \"%s\"", chosen->kernel);
}
