/*
 * gckm_fit.c - the graph convolutional kernel machine: its layers in a row, and its fit.
 */
#include "gckm.h"
#include "graph/laplacian.h"
#include "regression/solution.h"

#include <stdio.h>

#define SMOOTHNESS 0.3			/* of means at 0, in even shares of the classes */

/* A machine.  Sparse matrices are the host's, and are shared with its dry run. */
typedef struct machine
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_gckm *options;
	const gp_problem *problem;
	const gp_features *x;
	gp_features *own_x;			/* the identity, where there are no features */
	gp_csr	   *op;				/* S, or I + G */
	int64_t		m;				/* landmarks */
	gp_rkm		rkm;			/* the labels that are learnt from */
	double		sigma2[GP_GCKM_MAX_LAYERS + 1];	/* of the kernels made so far */
	double		jitter;
} machine;

static void
machine_open(void *state, gp_device *dev, const gp_problem *problem, const void *options)
{
	const gp_gckm *o = options;
	gp_env	   *env = dev->env;
	machine    *a = state;
	/* Who wants the nodes' own view has neighbours that differ: a mean says nothing, and the paper
	 * sums. */
	bool		sums = o->aggregate == GP_GCKM_SUM || (o->aggregate == GP_GCKM_AUTO && o->own);

	if (o->own && problem->features == NULL)
		gp_raise(env, GP_ERR_VALUE, "Leave own out, or give the nodes features.",
				 "option \"own\" of method gckm needs features");
	*a = (machine) {.dev = dev,.env = env,.options = o,.problem = problem,.x = problem->features};
	a->rkm = (gp_rkm) {o->lambda1, o->lambda2, o->eta, problem->nlabelled, problem->labelled,
	problem->label, problem->nclasses};
	if (a->x == NULL)
		a->x = a->own_x = gp_features_identity(env, problem->graph->nodes, GP_DOUBLE);
	a->op = gp_graph_normalise(env, problem->graph, sums ? GP_NORM_NONE : GP_NORM_SYM, GP_DOUBLE);
	a->m = gp_min64(o->landmarks, problem->graph->nodes);
}

static void
machine_close(void *state)
{
	machine    *a = state;

	gp_csr_free(a->env, a->op);
	gp_features_free(a->env, a->own_x);
}

/* Sets a kernel's sigma^2; where all nodes are alike any will do. */
static double
set_width(machine *a, int layer, double variance)
{
	double		sigma2 = gp_gckm_width(a->options, layer) * variance;

	if (!a->env->dry && !isfinite(variance))
		gp_raise(a->env, GP_ERR_RANGE, "Scale the features to ordinary sizes.",
				 "the spread of the features is out of range");
	a->sigma2[layer] = sigma2 > 0.0 ? sigma2 : 1.0;
	return a->sigma2[layer];
}

/* The last layer's components, by way of q and norm; owned by the caller. */
static gp_matrix
embed(machine *a, const gp_points *points, gp_matrix q, gp_matrix norm)
{
	gp_device  *dev = a->dev;
	const gp_gckm *o = a->options;
	gp_matrix	h = {0};

	for (int l = 0; l < o->layers; l++)
	{
		double		variance;

		a->env->progress(a->env, GP_PHASE_KERNEL, l, o->layers + 1);
		if (l == 0)
			variance = gp_feature_products(dev, a->x, a->op, points, q, norm);
		else
		{
			gp_matrix	x = dev->create(dev, h.rows, h.cols, GP_DOUBLE);

			dev->spmm(dev, 1.0, a->op, h, 0.0, x);
			variance = gp_rows_products(dev, x, points, q, norm);
			gp_destroy_all(dev, &x, &h);
		}
		gp_rbf(dev, q, norm, points, set_width(a, l, variance));
		a->jitter = fmax(a->jitter, gp_points_factor(dev, q, points));
		h = dev->create(dev, q.rows, gp_gckm_components(o, l, a->problem->nclasses), GP_DOUBLE);
		gp_principal_components(dev, q, h);
	}
	/* the variance of components, whose columns have the mean 0 */
	dev->row_dots(dev, norm, h, h);
	set_width(a, o->layers, gp_mean_entry(dev, norm));
	return h;
}

/*
 * Makes means and variances of scores, a row at a time.  The size of a node's scores says less of
 * its class than their direction, and a score below -1 no more than -1.  So they come halfway to
 * a code's length, (1 + e) / 2 is kept above 0 smoothly, and a node's means sum to 1.  A variance
 * is 1 less the cosine to the nearest code.
 */
static void
scores_to_means(gp_env *env, int64_t n, int32_t columns, double *score, double *variance)
{
	GP_EACH(env, i, gp_items(env, n), i * columns)
	{
		double	   *e = score + i * columns;
		double		square = 0.0;
		double		sum = 0.0;

		variance[i] = fmax(1.0 - gp_rkm_cosine(e, columns), 0.0);
		for (int32_t c = 0; c < columns; c++)
			square += e[c] * e[c] / columns;
		for (int32_t c = 0; c < columns; c++)
		{
			double		mean = 0.5 + 0.5 * e[c] / sqrt(0.5 + 0.5 * square);

			e[c] = mean + hypot(mean, SMOOTHNESS / columns);
			sum += e[c];
		}
		for (int32_t c = 0; c < columns; c++)
			e[c] /= sum;
	}
}

static void *
machine_run(void *state, gp_device *dev, const gp_plan *plan)
{
	machine    *a = state;
	const gp_problem *p = a->problem;
	gp_env	   *env = a->env = dev->env;
	gp_targets	targets;
	gp_posterior *out = gp_posterior_begin(env, p, plan, &targets);
	gp_points	points = gp_points_choose(env, p->graph->nodes, p->nlabelled, p->labelled, a->m,
										  p->seed);
	size_t		row = (size_t) p->nclasses * sizeof(double);
	double	   *loo_mean = gp_alloc_values(env, p->nlabelled, row);
	double	   *loo_variance = gp_alloc_values(env, p->nlabelled, sizeof(double));

	a->dev = dev;
	/* Scores of all nodes from the labels of the machine, and of each label without it. */
	int64_t		n = p->graph->nodes;
	gp_matrix	q = dev->create(dev, n, a->m, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	h = embed(a, &points, q, norm);

	/* the labels' kernel */
	a->env->progress(a->env, GP_PHASE_KERNEL, a->options->layers, a->options->layers + 1);
	gp_rows_products(dev, h, &points, q, norm);
	gp_rbf(dev, q, norm, &points, a->sigma2[a->options->layers]);
	dev->destroy(dev, &h);
	if (a->options->own)
	{
		gp_matrix	work = dev->create(dev, n, a->m, GP_DOUBLE);

		gp_own_view(dev, a->x, &points, a->options->gamma, work, norm, q);
		dev->destroy(dev, &work);
	}
	dev->destroy(dev, &norm);
	a->jitter = fmax(a->jitter, gp_points_factor(dev, q, &points));
	a->jitter = fmax(a->jitter, gp_rkm_solve(dev, &a->rkm, q, out->mean, loo_mean, NULL));
	dev->destroy(dev, &q);
	scores_to_means(env, out->nodes, out->columns, out->mean, out->variance);
	scores_to_means(env, p->nlabelled, out->columns, loo_mean, loo_variance);
	out->landmark = points.node;
	out->nlandmarks = points.n;
	out->jitter = a->jitter;
	gp_solution solution = gp_solution_of_scores(env, p, &targets, loo_mean, loo_variance, out);
	gp_posterior_end(dev, p, &targets, &solution, out);
	return out;
}

static void *
embedding_run(void *state, gp_device *dev, const gp_plan *plan)
{
	machine    *a = state;
	const gp_problem *p = a->problem;
	int64_t		n = p->graph->nodes;
	gp_env	   *env = a->env = dev->env;
	gp_points	points = gp_points_choose(env, n, p->nlabelled, p->labelled, a->m, p->seed);
	gp_matrix	q = dev->create(dev, n, a->m, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, n, 1, GP_DOUBLE);

	a->dev = dev;
	gp_matrix	h = embed(a, &points, q, norm);
	gp_destroy_all(dev, &norm, &q);
	gp_free(env, points.node);
	return gp_features_of_matrix(dev, h, GP_DOUBLE);
}

static void
machine_describe(const void *state, gp_plan *plan)
{
	const machine *a = state;

	plan->nlandmarks = a->m;
	snprintf(plan->reason, sizeof(plan->reason),
			 "graph convolutional kernel machine of %d %s on %lld landmarks: ",
			 a->options->layers, a->options->layers == 1 ? "layer" : "layers", (long long) a->m);
}

static void
release_features(gp_env *env, void *out)
{
	gp_features_free(env, out);
}

#define SMALLER "Use fewer landmarks, or raise gnngp.memory_limit."

const gp_method gp_method_gckm = {
	.name = "gckm",.text = &gp_gckm_text,.what = "fit",.hint = SMALLER,.labels = true,
	.state = sizeof(machine),.open = machine_open,.run = machine_run,
	.describe = machine_describe,.close = machine_close
};

static const gp_method embedding = {
	.name = "gckm",.text = &gp_gckm_text,.what = "embedding",.hint = SMALLER,
	.state = sizeof(machine),.open = machine_open,.run = embedding_run,.release = release_features,
	.describe = machine_describe,.close = machine_close
};

gp_features *
gp_gckm_embedding(gp_device *dev, const gp_graph *graph, const gp_features *features, uint64_t seed,
				  const gp_gckm *options)
{
	gp_problem	problem = {.graph = graph,.features = features,.seed = seed};

	return gp_method_fit(dev, &embedding, &problem, options);
}
