/*
 * gckm_fit.c - the graph convolutional kernel machine: its layers in a row, its plan, its fit.
 */
#include "gckm.h"
#include "regression/regression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOLDS 5

/* A machine on a device.  Sparse matrices are the host's, and are shared with its dry run. */
typedef struct machine
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_gckm *options;
	const gp_problem *problem;
	const gp_features *x;
	gp_features *own_x;			/* the identity, where there are no features */
	gp_csr	   *op;				/* S, or I + W */
	gp_csr	   *turned;			/* op', for the fine-tuning */
	int64_t		m;				/* landmarks */
	gp_rkm		rkm;			/* the labels that are learnt from */
	double		sigma2[GP_GCKM_MAX_LAYERS + 1];	/* of the kernels made so far */
	double		jitter;
} machine;

/* I + W. */
static gp_csr *
closed_neighbourhoods(gp_env *env, const gp_graph *graph)
{
	gp_csr	   *one = gp_csr_identity(env, graph->nodes, GP_DOUBLE);
	int64_t		entries = graph->start[graph->nodes];
	gp_csr		w = {graph->nodes, graph->nodes, graph->start, graph->col, graph->weight, GP_DOUBLE, 0};
	double	   *unit = NULL;
	gp_csr	   *sum;
	int64_t		next = 0;

	if (graph->weight == NULL)
	{
		w.value = unit = gp_alloc_array(env, entries, sizeof(double));
		for (int64_t k = 0; k < entries; k++)
		{
			gp_poll(env, k, &next);
			unit[k] = 1.0;
		}
	}
	sum = gp_csr_add(env, one, &w);
	gp_free(env, unit);
	gp_csr_free(env, one);
	return sum;
}

/*
 * True when neighbours are summed up.  Who wants the nodes' own view has neighbours that
 * differ: there a mean says nothing, and the paper sums.
 */
static bool
sums(const gp_gckm *o)
{
	return o->aggregate == GP_AGGREGATE_SUM || (o->aggregate == GP_AGGREGATE_AUTO && o->own);
}

/* Refuses what has no answer. */
static void
check_options(gp_env *env, const gp_problem *problem, const gp_gckm *o)
{
	if (o->own && problem->features == NULL)
		gp_raise(env, GP_ERR_VALUE, "Leave own out, or give the nodes features.",
				 "option \"own\" of method gckm needs features");
}

/* Makes what a machine multiplies with. */
static machine
machine_open(gp_device *dev, const gp_problem *problem, const gp_gckm *options)
{
	gp_env	   *env = dev->env;
	machine		a = {.dev = dev,.env = env,.options = options,.problem = problem,.x = problem->features,
		.rkm = {options->lambda1, options->lambda2, options->eta, problem->nlabelled, problem->labelled,
	problem->label, problem->nclasses}};

	check_options(env, problem, options);
	if (a.x == NULL)
		a.x = a.own_x = gp_features_identity(env, problem->graph->nodes, GP_DOUBLE);
	a.op = sums(options) ? closed_neighbourhoods(env, problem->graph)
		: gp_graph_normalise(env, problem->graph, GP_NORM_SYM, GP_DOUBLE);
	if (options->iterations > 0)
		a.turned = gp_csr_transpose(env, a.op);
	a.m = gp_min64(options->landmarks, problem->graph->nodes);
	return a;
}

/* Frees it. */
static void
machine_close(machine *a)
{
	gp_csr_free(a->env, a->turned);
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
				 "the features spread over more than numbers can hold");
	a->sigma2[layer] = sigma2 > 0.0 ? sigma2 : 1.0;
	return a->sigma2[layer];
}

/* q becomes a factor of the kernel that it holds. */
static void
make_factor(machine *a, const gp_points *points, gp_matrix q)
{
	a->jitter = fmax(a->jitter, gp_points_factor(a->dev, q, points, NULL));
}

/* The kernel of the first layer: the features summed over neighbours. */
static void
first_kernel(machine *a, const gp_points *points, gp_matrix q, gp_matrix norm)
{
	gp_view		view = gp_view_open(a->dev, a->x, a->op);
	double		variance = gp_view_products(&view, points, q, norm);

	gp_view_close(&view);
	gp_rbf(a->dev, q, norm, points, set_width(a, 0, variance));
}

/* The kernel of a further layer: the components before it summed over neighbours. */
static void
next_kernel(machine *a, const gp_points *points, int layer, gp_matrix h, gp_matrix q, gp_matrix norm)
{
	gp_device  *dev = a->dev;
	gp_matrix	x = dev->create(dev, h.rows, h.cols, GP_DOUBLE);
	double		variance;

	dev->spmm(dev, 1.0, a->op, h, 0.0, x);
	variance = gp_rows_products(dev, x, points, q, norm);
	gp_rbf(dev, q, norm, points, set_width(a, layer, variance));
	dev->destroy(dev, &x);
}

/* Tells how many of the layers are done. */
static void
tell(const machine *a, int layers)
{
	a->env->progress(a->env, GP_PHASE_KERNEL, layers, a->options->layers + 1);
}

/* Fine-tunes the components h of all layers; first is the first kernel's factor, q is room. */
static void
fine_tune(machine *a, const gp_points *points, gp_matrix first, const gp_matrix *h, gp_matrix q)
{
	gp_device  *dev = a->dev;
	const gp_gckm *o = a->options;
	gp_tuner	t = {.dev = dev,.op = a->op,.turned = a->turned,.points = points,.layers = o->layers,
		.first = first,.own = o->own ? a->x : NULL,.gamma = o->gamma,
	.rkm = a->rkm.nlabelled > 0 ? &a->rkm : NULL,.kernel = q};

	for (int l = 0; l < o->layers; l++)
		t.h[l] = h[l];
	for (int l = 0; l <= o->layers; l++)
		t.sigma2[l] = a->sigma2[l];
	t.factor = dev->create(dev, q.rows, q.cols, GP_DOUBLE);
	gp_tuner_run(&t, o->iterations);
	dev->destroy(dev, &t.factor);
}

/* The variance of components, whose columns have the mean 0. */
static double
variance_of(gp_device *dev, gp_matrix h, gp_matrix norm)
{
	dev->row_dots(dev, norm, h, h);
	return gp_sum(dev, norm) / (double) h.rows;
}

/* The last layer's components, by way of q and norm; owned by the caller. */
static gp_matrix
embed(machine *a, const gp_points *points, gp_matrix q, gp_matrix norm)
{
	gp_device  *dev = a->dev;
	int			layers = a->options->layers;
	bool		tuned = a->options->iterations > 0;
	gp_matrix	h[GP_GCKM_MAX_LAYERS];
	gp_matrix	full[GP_GCKM_MAX_LAYERS];	/* the columns of h that are not 0 */
	gp_matrix	first = {0};

	for (int l = 0; l < layers; l++)
	{
		tell(a, l);
		if (l == 0)
			first_kernel(a, points, q, norm);
		else
			next_kernel(a, points, l, h[l - 1], q, norm);
		if (l > 0 && !tuned)
			dev->destroy(dev, &h[l - 1]);
		make_factor(a, points, q);
		h[l] = dev->create(dev, q.rows, gp_gckm_components(a->options, l), GP_DOUBLE);
		full[l] = gp_principal_components(dev, q, h[l]);
		if (l > 0 || !tuned)
			continue;
		first = dev->create(dev, q.rows, q.cols, GP_DOUBLE);
		dev->copy(dev, first, q);
	}
	set_width(a, layers, variance_of(dev, h[layers - 1], norm));
	if (tuned)
		fine_tune(a, points, first, full, q);
	for (int l = 0; l < layers - 1 && tuned; l++)
		dev->destroy(dev, &h[l]);
	dev->destroy(dev, &first);
	return h[layers - 1];
}

/* The factor of the labels' kernel, n x m; owned by the caller. */
static gp_matrix
label_factor(machine *a, const gp_points *points)
{
	gp_device  *dev = a->dev;
	int64_t		n = a->problem->graph->nodes;
	gp_matrix	q = dev->create(dev, n, a->m, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	h = embed(a, points, q, norm);

	tell(a, a->options->layers);
	gp_rows_products(dev, h, points, q, norm);
	gp_rbf(dev, q, norm, points, a->sigma2[a->options->layers]);
	dev->destroy(dev, &h);
	if (a->options->own)
	{
		gp_matrix	work = dev->create(dev, n, a->m, GP_DOUBLE);

		gp_own_view(dev, a->x, points, a->options->gamma, work, norm, q);
		dev->destroy(dev, &work);
	}
	dev->destroy(dev, &norm);
	make_factor(a, points, q);
	return q;
}

/* The nodes that the machine takes for landmarks. */
static gp_points
choose_points(const machine *a)
{
	const gp_problem *p = a->problem;

	return gp_points_choose(a->env, p->graph->nodes, p->nlabelled, p->labelled, a->m, p->seed);
}

/*
 * Makes means and variances of scores, a row at a time: (1 + e) / 2, which is 1 for the
 * class and 0 for the others where e is a code, and 1 less the cosine to the nearest code.
 */
static void
settle_scores(gp_env *env, int64_t n, int32_t columns, double *score, double *variance)
{
	int64_t		next = 0;

	for (int64_t i = 0; i < n && !env->dry; i++)
	{
		double	   *e = score + i * columns;

		gp_poll(env, i * columns, &next);
		variance[i] = fmax(1.0 - gp_rkm_cosine(e, columns), 0.0);
		for (int32_t c = 0; c < columns; c++)
			e[c] = 0.5 * (1.0 + e[c]);
	}
}

/* Scores of all nodes from the labels of the machine, and of each label without it. */
static void
solve(machine *a, const gp_points *points, double *score, double *loo)
{
	gp_matrix	q = label_factor(a, points);

	a->jitter = fmax(a->jitter, gp_rkm_solve(a->dev, &a->rkm, q, score, loo, NULL, NULL));
	a->dev->destroy(a->dev, &q);
}

/* The scores of each label by a machine that was fine-tuned without its fold; score is room. */
static void
hold_out(machine *a, const gp_points *points, double *score, double *loo)
{
	gp_env	   *env = a->env;
	gp_rkm		all = a->rkm;
	int			folds = (int) gp_min64(FOLDS, all.nlabelled);
	int32_t    *fold = gp_folds_deal(env, all.nlabelled, all.label, folds, a->problem->seed);
	double	   *room = gp_alloc_figures(env, all.nlabelled, (size_t) all.columns * sizeof(double));
	size_t		row = (size_t) all.columns * sizeof(double);

	for (int f = 0; f < folds && folds > 1; f++)
	{
		a->rkm = gp_folds_without(env, &all, fold, f, folds);
		solve(a, points, score, room);
		for (int64_t k = 0; k < all.nlabelled && !env->dry; k++)
			if (fold[k] == f)
				memcpy(loo + k * all.columns, score + (int64_t) all.labelled[k] * all.columns, row);
		gp_free(env, (void *) a->rkm.labelled);
		gp_free(env, (void *) a->rkm.label);
	}
	a->rkm = all;
	if (folds == 1 && !env->dry)
		memset(loo, 0, row);
	gp_free(env, room);
	gp_free(env, fold);
}

/* The fit by a plan; on a device that only accounts, what that takes. */
static gp_posterior *
run(machine *a, const gp_plan *plan)
{
	gp_env	   *env = a->env;
	const gp_problem *p = a->problem;
	size_t		row = (size_t) p->nclasses * sizeof(double);
	bool		tuned = a->options->iterations > 0;
	gp_posterior *out = gp_learnt_open(env, p, plan);
	double	   *loo_mean = gp_alloc_figures(env, p->nlabelled, row);
	double	   *loo_variance = gp_alloc_figures(env, p->nlabelled, sizeof(double));
	double	   *room = tuned ? gp_alloc_figures(env, p->nlabelled, row) : NULL;
	gp_points	points = choose_points(a);

	if (tuned)
		hold_out(a, &points, out->mean, loo_mean);
	solve(a, &points, out->mean, tuned ? room : loo_mean);
	gp_free(env, room);
	settle_scores(env, out->nodes, out->columns, out->mean, out->variance);
	settle_scores(env, p->nlabelled, out->columns, loo_mean, loo_variance);
	out->landmark = points.node;
	out->nlandmarks = points.n;
	out->jitter = a->jitter;
	gp_learnt_settle(env, p, loo_mean, loo_variance, out);
	return out;
}

/* The embedding as features of the host. */
static gp_features *
run_embedding(machine *a)
{
	gp_env	   *env = a->env;
	gp_device  *dev = a->dev;
	int64_t		n = a->problem->graph->nodes;
	gp_features *out = gp_alloc_zero(env, 1, sizeof(gp_features));
	gp_points	points = choose_points(a);
	gp_matrix	q = dev->create(dev, n, a->m, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	h = embed(a, &points, q, norm);

	dev->destroy(dev, &norm);
	dev->destroy(dev, &q);
	*out = (gp_features) {n, h.cols, NULL, gp_alloc_figures(env, n, (size_t) h.cols * sizeof(double)), GP_DOUBLE};
	dev->download(dev, gp_matrix_wrap(out->dense, n, h.cols, GP_DOUBLE), h);
	dev->destroy(dev, &h);
	gp_free(env, points.node);
	return out;
}

/* A fit, or an embedding, that is tried without being computed. */
typedef struct trial
{
	const machine *machine;
	bool		fit;
} trial;

/* The same on a device that only accounts. */
static void
run_trial(gp_device *dry, void *arg)
{
	const trial *t = arg;
	machine		b = *t->machine;
	gp_plan		none = {.strategy = GP_STRATEGY_NYSTROM};

	b.dev = dry;
	b.env = dry->env;
	if (t->fit)
		gp_posterior_free(b.env, run(&b, &none));
	else
		gp_features_free(b.env, run_embedding(&b));
}

/* The plan; refuses what does not fit, unless only an estimate was asked for. */
static gp_plan
make_plan(const machine *a, bool fit)
{
	gp_plan		plan = {.strategy = GP_STRATEGY_NYSTROM,.nlandmarks = a->m};
	trial		t = {a, fit};
	gp_count	taken;

	a->env->progress(a->env, GP_PHASE_PLAN, 0, 0);
	taken = gp_dry_run(a->dev, run_trial, &t);
	snprintf(plan.reason, sizeof(plan.reason),
			 "graph convolutional kernel machine of %d %s on %lld landmarks: ",
			 a->options->layers, a->options->layers == 1 ? "layer" : "layers", (long long) a->m);
	gp_plan_settle(a->dev, a->problem, &taken, fit ? "fit" : "embedding",
				   "Use fewer landmarks, or raise gnngp.memory_limit.", &plan);
	gp_plan_explain(&plan);
	return plan;
}

/* What a fit takes. */
gp_plan
gp_gckm_plan(gp_device *dev, const gp_problem *problem, const gp_gckm *options)
{
	machine		a;
	gp_plan		plan;

	gp_learnt_check(dev->env, problem, "gckm", false);
	a = machine_open(dev, problem, options);
	plan = make_plan(&a, true);
	machine_close(&a);
	return plan;
}

/* The whole fit. */
gp_posterior *
gp_gckm_fit(gp_device *dev, const gp_problem *problem, const gp_gckm *options)
{
	machine		a;
	gp_plan		plan;
	gp_posterior *out;

	gp_learnt_check(dev->env, problem, "gckm", false);
	a = machine_open(dev, problem, options);
	plan = make_plan(&a, true);
	if (problem->device_for)
		a.dev = problem->device_for(problem->device_arg, dev, &plan);
	out = run(&a, &plan);
	machine_close(&a);
	return out;
}

/* The components of every node. */
gp_features *
gp_gckm_embedding(gp_device *dev, const gp_graph *graph, const gp_features *features, uint64_t seed,
				  const gp_gckm *options)
{
	gp_problem	problem = {.graph = graph,.features = features,.seed = seed};
	machine		a;
	gp_features *out;

	a = machine_open(dev, &problem, options);
	make_plan(&a, false);
	out = run_embedding(&a);
	machine_close(&a);
	return out;
}
