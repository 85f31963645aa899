/*
 * external_factor.c - the posterior from a factor whose rows the host keeps.
 *
 * The regression is the primal one.  It needs sums over the labelled rows, a sample of rows, and
 * at the end one pass over all rows.
 */
#include "fit_internal.h"

/* A fit on its way. */
typedef struct external_fit
{
	gp_device  *dev;
	const gp_problem *problem;
	const gp_external_factor *factor;
	gp_posterior *out;
} external_fit;

/* gram of gp_primal_rows */
static void
sum_rows(void *state, const gp_targets *targets, gp_matrix gram, gp_matrix qty)
{
	const gp_external_factor *f = ((external_fit *) state)->factor;

	f->gram(f->state, targets->y, targets->columns, gram, qty);
}

/* sample of gp_primal_rows */
static void
sample_rows(void *state, const int32_t *index, int64_t n, gp_matrix out)
{
	external_fit *fit = state;
	int32_t    *node = gp_alloc_array(fit->dev->env, n, sizeof(int32_t));

	for (int64_t i = 0; i < n; i++)
		node[i] = fit->problem->labelled[index[i]];
	fit->factor->rows(fit->factor->state, node, n, out);
	gp_free(fit->dev->env, node);
}

/* explain of gp_primal_rows: the pass over all rows, of which the labelled ones are asked for. */
static void
predict_rows(void *state, gp_matrix root, gp_matrix w, double *mean, double *leverage)
{
	external_fit *fit = state;
	gp_device  *dev = fit->dev;
	gp_posterior *out = fit->out;
	gp_matrix	l = gp_copy(dev, root, GP_DOUBLE);

	dev->trtri(dev, l);
	dev->transpose_square(dev, l);
	fit->factor->explain(fit->factor->state, l, w, out->mean, out->variance);
	dev->destroy(dev, &l);
	for (int64_t k = 0; k < fit->problem->nlabelled; k++)
	{
		int64_t		node = fit->problem->labelled[k];

		memcpy(mean + k * out->columns, out->mean + node * out->columns,
			   out->columns * sizeof(double));
		leverage[k] = out->variance[node];
	}
}

/* The prior's variances where a posterior asks for them, else NULL. */
static double *
prior_rows(external_fit *fit)
{
	gp_device  *dev = fit->dev;
	int64_t		rank = fit->factor->rank;
	double	   *prior;
	gp_matrix	one;

	if (!gp_posterior_wants_prior(fit->problem, fit->out))
		return NULL;
	prior = gp_alloc_array(dev->env, fit->out->nodes, sizeof(double));
	one = gp_identity(dev, rank);
	fit->factor->explain(fit->factor->state, one, (gp_matrix) {0}, NULL, prior);
	dev->destroy(dev, &one);
	return prior;
}

/* The gp_regression of such a factor. */
static gp_solution
regress_on_rows(void *arg, const gp_problem *problem, const gp_targets *targets, gp_posterior *out)
{
	external_fit *fit = arg;
	gp_env	   *env = fit->dev->env;
	gp_eval		ev = {.dev = fit->dev,.env = env,.n = out->nodes,.max_jitter = fit->factor->jitter};
	gp_primal_rows rows = {fit, fit->factor->rank, GP_DOUBLE, sum_rows, sample_rows, predict_rows};
	double		mean = gp_rows_mean(&ev, fit->factor->rank, fit->factor->rows, fit->factor->state);
	gp_solution solution;
	double	   *prior;

	gp_check_mean_diagonal(env, GP_FLOAT, mean);
	fit->out = out;
	solution = gp_primal_solve_rows(fit->dev, problem, targets, &rows, mean);
	/* What is left of a variance is its leverage times the noise (lowrank.c). */
	for (int64_t i = 0; i < out->nodes; i++)
		out->variance[i] *= solution.noise;
	prior = prior_rows(fit);
	gp_posterior_finish(env, problem, targets, &solution, prior ? prior : out->variance, out);
	gp_free(env, prior);
	out->jitter = fit->factor->jitter;
	gp_notice_no_kernel(env, problem, out);
	gp_notice_lowrank(&ev, &out->plan, fit->factor->first_jitter);
	return solution;
}

gp_posterior *
gp_fit_external(gp_device *dev, const gp_problem *problem, const gp_external_factor *factor,
				int64_t nodes)
{
	gp_graph	none = {.nodes = nodes};
	gp_problem	p = *problem;
	gp_plan		plan = {.strategy = problem->strategy};
	external_fit fit = {.dev = dev,.problem = &p,.factor = factor};

	p.graph = &none;
	p.features = NULL;
	p.type = GP_FLOAT;
	gp_problem_check(dev->env, &p);
	return gp_posterior_make(dev, &p, &plan, regress_on_rows, &fit);
}
