/*
 * test_precision.c - the posterior by conjugate gradients against dense linear algebra, on
 * graphs small enough for it; the same bits with any number of threads, bounds, faults.
 */
#include "fit/fit_internal.h"
#include "precision/precision_fit.h"
#include "test_env.h"
#include "test_world.h"

#include <stdlib.h>

typedef enum shape
{
	SHAPE_CLUB,
	SHAPE_WEIGHTED,
	SHAPE_DIRECTED,				/* and weighted: counts as W + W' */
	SHAPE_ISLANDS,
	SHAPES
} shape;

static const char *const shape_name[] = {"club", "weighted", "directed", "islands"};

/*
 * A star of 14 leaves, a ring of 8 nodes, a pair of which one is labelled, a
 * triangle, an edge of weight 0, and four nodes without any edge.
 */
static gp_graph *
islands(gp_env *env)
{
	static const int32_t rest[][2] = {{23, 24}, {25, 26}, {26, 27}, {27, 25}, {28, 29}};
	gp_edges   *edges = gp_edges_create(env, 34, false, true);

	for (int32_t k = 0; k < 14; k++)
		gp_edges_add(edges, 1, &(int32_t) {0}, &(int32_t) {k + 1}, &(double) {0.5 + k % 3});
	for (int32_t k = 0; k < 8; k++)
		gp_edges_add(edges, 1, &(int32_t) {15 + k}, &(int32_t) {15 + (k + 1) % 8}, &(double) {1.0 + k % 2});
	for (int k = 0; k < 5; k++)
		gp_edges_add(edges, 1, &rest[k][0], &rest[k][1], &(double) {k == 4 ? 0.0 : 2.0});
	return gp_graph_build(edges);
}

/* A graph with labels of every step-th node, the first one included, and without features. */
static world
labelled_world(gp_env *env, gp_graph *graph, int step)
{
	world		w = world_open(env, graph->nodes);
	uint64_t	state = 11;

	w.graph = graph;
	for (int32_t i = 0; i < graph->nodes; i += step)
	{
		int32_t		label = (i / step + draw_below(&state, 2)) % WORLD_CLASSES;

		world_label(&w, i, label, 7.0 + draw_unit(&state));
	}
	return w;
}

/* A world of 34 nodes. */
static world
small_world(gp_env *env, shape s, int step)
{
	return labelled_world(env, s == SHAPE_ISLANDS ? islands(env) :
						  karate_graph(env, s == SHAPE_DIRECTED, s != SHAPE_CLUB), step);
}

/* A random world with hubs. */
static world
large_world(gp_env *env, int n, int step)
{
	uint64_t	state = 5;

	return labelled_world(env, random_hub_graph(env, &state, n, 2 * n, 2, n / 20, false), step);
}

/* The problem of a world. */
static gp_problem
make_problem(gp_env *env, const world *w, const char *kernel, gp_task task, gp_type type)
{
	gp_problem	p = world_problem(env, w, kernel, task, type);

	p.strategy = GP_STRATEGY_PRECISION;
	p.seed = 1;
	return p;
}

/* The same kernel's text. */
static const char *
laplacian(double sigma2, int d)
{
	static char text[80];

	snprintf(text, sizeof(text), "laplacian(sigma2=%g, d=%d)", sigma2, d);
	return text;
}

/* Inverts a positive definite matrix, n x n, where it stands (Gauss and Jordan). */
static void
invert(double *a, int64_t n)
{
	for (int64_t k = 0; k < n; k++)
	{
		double		pivot = 1.0 / a[k * n + k];

		a[k * n + k] = 1.0;
		for (int64_t j = 0; j < n; j++)
			a[k * n + j] *= pivot;
		for (int64_t i = 0; i < n; i++)
		{
			double		factor = a[i * n + k];

			if (i == k || factor == 0.0)
				continue;
			a[i * n + k] = 0.0;
			for (int64_t j = 0; j < n; j++)
				a[i * n + j] -= factor * a[k * n + j];
		}
	}
}

/* B^d, dense. */
static double *
dense_precision(gp_env *env, const gp_graph *graph, double sigma2, int d)
{
	int64_t		n = graph->nodes;
	double	   *w = gp_alloc_zero(env, n * n, sizeof(double));
	double	   *b = gp_alloc_zero(env, n * n, sizeof(double));
	double	   *degree = gp_alloc_zero(env, n, sizeof(double));
	double	   *out = gp_alloc_zero(env, n * n, sizeof(double));
	double	   *next = gp_alloc_zero(env, n * n, sizeof(double));

	for (int64_t i = 0; i < n; i++)
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
		{
			double		weight = graph->weight ? graph->weight[k] : 1.0;

			w[i * n + graph->col[k]] += weight;
			if (graph->directed)
				w[graph->col[k] * n + i] += weight;
		}
	for (int64_t e = 0; e < n * n; e++)
		degree[e / n] += w[e];
	for (int64_t e = 0; e < n * n; e++)
	{
		double		s = w[e] > 0.0 ? w[e] / sqrt(degree[e / n] * degree[e % n]) : 0.0;

		b[e] = (e / n == e % n ? 1.0 + sigma2 : 0.0) - sigma2 * s;
		out[e] = e / n == e % n ? 1.0 : 0.0;
	}
	for (int p = 0; p < d; p++)
	{
		memset(next, 0, n * n * sizeof(double));
		for (int64_t i = 0; i < n; i++)
			for (int64_t k = 0; k < n; k++)
				for (int64_t j = 0; j < n && out[i * n + k] != 0.0; j++)
					next[i * n + j] += out[i * n + k] * b[k * n + j];
		memcpy(out, next, n * n * sizeof(double));
	}
	return out;
}

/* (B^d + M / noise)^-1, without one of the labels where skip is not negative. */
static double *
dense_posterior(gp_env *env, const gp_problem *p, double sigma2, int d, double noise, int64_t skip)
{
	int64_t		n = p->graph->nodes;
	double	   *h = dense_precision(env, p->graph, sigma2, d);

	for (int64_t k = 0; k < p->nlabelled; k++)
		if (k != skip)
			h[p->labelled[k] * (n + 1)] += 1.0 / noise;
	invert(h, n);
	return h;
}

/* What a fit should give, in the targets' unit. */
typedef struct answer
{
	double	   *mean;			/* nodes x columns */
	double	   *variance;		/* nodes */
	double	   *loo_mean;		/* labels x columns */
	double	   *loo_variance;	/* labels, latent */
	double		scale;
	double		log_det;		/* of K(t,t) + noise */
} answer;

/* The mean at a node, from the inverse of H. */
static double
dense_mean(const gp_problem *p, const gp_targets *t, const double *v, double noise, int64_t node,
		   int32_t c, int64_t skip)
{
	double		sum = 0.0;

	for (int64_t k = 0; k < p->nlabelled; k++)
		if (k != skip)
			sum += v[node * p->graph->nodes + p->labelled[k]] * t->y[k * t->columns + c] / noise;
	return sum;
}

/* What brings nine in ten labels inside of their central 90% interval: the square of a rank of how far off they are. */
static double
dense_widening(const gp_problem *p, const gp_targets *t, double noise, const answer *a)
{
	int64_t		rank = (int64_t) ceil(0.9 * (p->nlabelled + 1.0) - 1e-9);

	for (int64_t k = 0; k < p->nlabelled; k++)
	{
		double		far = pow(t->y[k] - a->loo_mean[k], 2.0) / (a->scale * (a->loo_variance[k] + noise));
		int64_t		nearer = 0;

		for (int64_t i = 0; i < p->nlabelled; i++)
			nearer += pow(t->y[i] - a->loo_mean[i], 2.0) / (a->scale * (a->loo_variance[i] + noise)) < far;
		if (nearer == rank - 1)
			return far / (1.6448536269514722 * 1.6448536269514722);
	}
	return 1.0;
}

/* All of it by dense inverses, one for each label. */
static answer
dense_answer(gp_env *env, const gp_problem *p, const gp_targets *t, double sigma2, int d, double noise)
{
	int64_t		n = p->graph->nodes;
	int32_t		columns = t->columns;
	double	   *v = dense_posterior(env, p, sigma2, d, noise, -1);
	answer		a = {
		.mean = gp_alloc_array(env, n * columns, sizeof(double)),
		.variance = gp_alloc_array(env, n, sizeof(double)),
		.loo_mean = gp_alloc_array(env, p->nlabelled * columns, sizeof(double)),
		.loo_variance = gp_alloc_array(env, p->nlabelled, sizeof(double))
	};

	for (int64_t i = 0; i < n; i++)
		a.variance[i] = v[i * (n + 1)];
	for (int64_t e = 0; e < n * columns; e++)
		a.mean[e] = dense_mean(p, t, v, noise, e / columns, (int32_t) (e % columns), -1);
	for (int64_t k = 0; k < p->nlabelled; k++)
	{
		int64_t		node = p->labelled[k];
		double	   *without = dense_posterior(env, p, sigma2, d, noise, k);

		a.loo_variance[k] = without[node * (n + 1)];
		for (int32_t c = 0; c < columns; c++)
		{
			double		y = t->y[k * columns + c];

			a.loo_mean[k * columns + c] = dense_mean(p, t, without, noise, node, c, k);
			a.scale += y * (y - a.mean[node * columns + c]) / (noise * p->nlabelled * columns);
		}
		gp_free(env, without);
	}
	if (p->task == GP_TASK_VALUES)
		a.scale *= dense_widening(p, t, noise, &a);
	return a;
}

/* The largest difference, relative to the largest number wanted. */
static double
worst(const double *got, const double *want, int64_t n)
{
	double		diff = 0.0;
	double		size = 1e-300;

	for (int64_t i = 0; i < n; i++)
	{
		if (!isfinite(got[i]))
			return INFINITY;
		diff = fmax(diff, fabs(got[i] - want[i]));
		size = fmax(size, fabs(want[i]));
	}
	return diff / size;
}

/* Brings an answer to the units that a fit reports. */
static void
in_units(const gp_problem *p, const gp_targets *t, double noise, answer *a)
{
	bool		values = p->task == GP_TASK_VALUES;
	double		scale = a->scale * t->unit * t->unit;

	for (int64_t i = 0; i < p->graph->nodes; i++)
	{
		/* Values vary at most as the labels do, and as these where none is near. */
		double		most = values ? t->unit * t->unit * (1.0 + a->mean[i] * a->mean[i]) : INFINITY;

		a->variance[i] = values && fabs(a->mean[i]) < 1e-6 ? t->unit * t->unit :
			fmin(most, scale * (a->variance[i] + (values ? noise : 0.0)));
	}
	for (int64_t k = 0; k < p->nlabelled; k++)
		a->loo_variance[k] = scale * (a->loo_variance[k] + (values ? noise : 0.0));
	for (int64_t i = 0; values && i < p->graph->nodes; i++)
		a->mean[i] = t->offset + t->unit * a->mean[i];
	for (int64_t k = 0; values && k < p->nlabelled; k++)
		a->loo_mean[k] = t->offset + t->unit * a->loo_mean[k];
}

/* One fit against the dense answer at the noise that it reports. */
static void
check_dense(gp_env *env, shape s, int step, double sigma2, int d, gp_task task, gp_type type, double nugget)
{
	world		w = small_world(env, s, step);
	gp_problem	p = make_problem(env, &w, laplacian(sigma2, d), task, type);
	gp_targets	t = gp_targets_make(env, &p);
	double		bound = type == GP_FLOAT ? 7e-4 : 1e-7;
	double		lost;			/* digits of 1 - V / e where the noise is small */
	double		off[4];
	char		name[200];

	p.nugget = nugget;
	gp_posterior *out = gp_fit(gp_device_cpu(env, 2), &p);
	double		noise = out->nugget * out->mean_diag;
	lost = fmax(1.0, 0.1 / out->nugget);
	answer		a = dense_answer(env, &p, &t, sigma2, d, noise);
	in_units(&p, &t, noise, &a);
	off[0] = worst(out->mean, a.mean, out->nodes * out->columns);
	off[1] = worst(out->variance, a.variance, out->nodes);
	off[2] = worst(out->loo.mean, a.loo_mean, p.nlabelled * out->columns);
	off[3] = worst(out->loo.variance, a.loo_variance, p.nlabelled);
	snprintf(name, sizeof(name), "%s, sigma2 %g, d %d, %s, %s, nugget %.2g: mean %.1g, variance %.1g, left out %.1g, %.1g",
			 shape_name[s], sigma2, d, task == GP_TASK_CLASSES ? "classes" : "values",
			 type == GP_FLOAT ? "float" : "double", out->nugget, off[0], off[1], off[2], off[3]);
	ok(off[0] < bound && off[1] < 2e-3 && off[2] < 10.0 * bound && off[3] < 10.0 * bound * lost &&
	   fabs(out->scale / (a.scale * t.unit * t.unit) - 1.0) < 10.0 * bound, name);
}

/* All of them. */
static void
check_all_dense(void)
{
	static const double sigma2[] = {0.2, 10.0, 50.0};

	for (volatile int s = 0; s < SHAPES; s++)
		for (volatile int k = 0; k < 3; k++)
			for (volatile int d = 1; d <= 4; d++)
				for (volatile int task = GP_TASK_CLASSES; task <= GP_TASK_VALUES; task++)
					for (volatile int type = GP_FLOAT; type <= GP_DOUBLE; type++)
						in_env(check_dense(env, (shape) s, 3, sigma2[k], d, (gp_task) task, (gp_type) type,
										   (d + k) % 3 == 0 ? 1.0 : (d + k) % 3 == 1 ? NAN : 0.01));
}

/* All nodes but one labelled, and hardly any noise: the last one's variance is the least there can be. */
static void
check_least(gp_env *env, shape s, int d)
{
	world		w = small_world(env, s, 1);
	gp_problem	p = make_problem(env, &w, laplacian(20.0, d), GP_TASK_CLASSES, GP_DOUBLE);
	char		name[100];

	/* The hub, or the first of the club. */
	p.labelled++;
	p.label++;
	p.nlabelled--;
	p.nugget = 1e-6;
	gp_posterior *out = gp_fit(gp_device_cpu(env, 1), &p);
	double	   *v = dense_posterior(env, &p, 20.0, d, out->nugget * out->mean_diag, -1);
	snprintf(name, sizeof(name), "%s, d = %d: the least variance", shape_name[s], d);
	close_to(out->variance[0] / out->scale / v[0], 1.0, 1e-3, name);
}

/* The same posterior as by the exact kernel, with the nugget that means the same noise. */
static void
check_exact(gp_env *env, double sigma2, int d, gp_task task)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = large_world(env, 300, 9);
	gp_problem	p = make_problem(env, &w, laplacian(sigma2, d), task, GP_DOUBLE);
	char		name[200];

	p.nugget = 0.1;
	gp_posterior *got = gp_fit(dev, &p);
	p.strategy = GP_STRATEGY_EXACT;
	p.nugget = 1.0;
	p.nugget = got->nugget * got->mean_diag / gp_fit(dev, &p)->mean_diag;
	gp_posterior *want = gp_fit(dev, &p);
	snprintf(name, sizeof(name), "strategy exact, sigma2 %g, d %d, %s", sigma2, d,
			 task == GP_TASK_CLASSES ? "classes" : "values");
	ok(worst(got->mean, want->mean, want->nodes * want->columns) < 1e-7 &&
	   worst(got->variance, want->variance, want->nodes) < 2e-3 &&
	   worst(got->loo.mean, want->loo.mean, p.nlabelled * want->columns) < 1e-6 &&
	   worst(got->loo.variance, want->loo.variance, p.nlabelled) < 1e-6 &&
	   fabs(got->scale / want->scale - 1.0) < 1e-7 &&
	   fabs(got->loo_score - want->loo_score) < 1e-6, name);
}

/* The trace of a prior against the exact one, within three standard errors of 16 random vectors. */
static void
check_trace(gp_env *env, double sigma2, int d)
{
	world		w = large_world(env, 200, 9);
	int64_t		n = w.graph->nodes;
	gp_csr	   *s = gp_precision_matrix(env, w.graph);
	double	   *k = dense_precision(env, w.graph, sigma2, d);
	double		got = gp_prior_mean(gp_prior_moments(gp_device_cpu(env, 1), s, GP_FLOAT, 1), sigma2, d);
	double		want = 0.0;
	double		spread = 0.0;
	char		name[100];

	invert(k, n);
	for (int64_t e = 0; e < n * n; e++)
		if (e / n == e % n)
			want += k[e] / n;
		else
			spread += 2.0 * k[e] * k[e] / (16.0 * n * n);
	spread = sqrt(spread);
	snprintf(name, sizeof(name), "sigma2 %g, d %d: the mean diagonal is %.4g, for %.4g +- %.1g", sigma2, d, got,
			 want, spread);
	ok(fabs(got - want) < 3.0 * spread + 0.02 * want, name);
}

/* What one fit depends on must not be the number of threads. */
static void
check_threads(gp_env *env, int n, gp_task task)
{
	static const int threads[] = {1, 3, 7};
	world		w = large_world(env, n, 7);
	gp_problem	p = make_problem(env, &w, laplacian(3.0, 2), task, GP_FLOAT);
	gp_posterior *first = NULL;
	bool		same = true;
	bool		sound = true;

	p.nugget = task == GP_TASK_CLASSES ? 0.3 : NAN;
	for (int k = 0; k < 3; k++)
	{
		gp_posterior *out = gp_fit(gp_device_cpu(env, threads[k]), &p);

		if (k == 0)
			first = out;
		same = same && memcmp(out->mean, first->mean, n * out->columns * sizeof(double)) == 0 &&
			memcmp(out->variance, first->variance, n * sizeof(double)) == 0 &&
			memcmp(out->loo.mean, first->loo.mean, p.nlabelled * out->columns * sizeof(double)) == 0 &&
			memcmp(out->loo.variance, first->loo.variance, p.nlabelled * sizeof(double)) == 0;
	}
	for (int64_t i = 0; i < n; i++)
	{
		double		noise = task == GP_TASK_VALUES ? first->nugget * first->mean_diag : 0.0;
		double		share = first->variance[i] / first->scale - noise;

		sound = sound && share >= 0.0 && share <= 1.0 + 1e-9;
	}
	ok(same, "the same bits with 1, 3 and 7 threads");
	ok(sound, "variances are between 0 and the prior's");
}

/* Estimated variances of unlabelled nodes are near the exact ones, and the notice says how near. */
static void
check_probes(gp_env *env, int n)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	world		w = large_world(env, n, 5);
	gp_problem	p = make_problem(env, &w, laplacian(3.0, 1), GP_TASK_CLASSES, GP_FLOAT);
	gp_elements one = {1, &(int32_t) {0}, &(int32_t) {0}, &(double) {1.0}, .cols = 1};
	double		sum = 0.0;
	int			told = 0;
	char		name[200];

	p.nugget = 0.1;
	gp_posterior *out = gp_fit(dev, &p);
	sscanf(test_state(env)->notice, "variances of unlabelled nodes are estimates, typically %d%% off", &told);
	gp_precision *system = gp_precision_open(dev, gp_precision_matrix(env, w.graph), GP_DOUBLE);
	gp_precision_set(system, 3.0, 1, p.labelled, p.nlabelled, out->nugget * out->mean_diag);
	for (int k = 0; k < 60; k++)
	{
		int32_t		node = 1 + 5 * (k * n / 300);
		gp_convergence reached;
		double		v = 0.0;

		one.row[0] = node;
		gp_matrix	x = gp_precision_solve(system, &one, 0.0, 1e-8, 500, NULL, &reached);
		dev->take(dev, x, 1, one.row, one.col, &v);
		sum += pow(out->variance[node] / out->scale / v - 1.0, 2.0) / 60.0;
		dev->destroy(dev, &x);
	}
	snprintf(name, sizeof(name), "%d nodes: variances are %.1f%% off, and %d%% is told", n, 100.0 * sqrt(sum), told);
	ok(sqrt(sum) < 0.15 && fabs(100.0 * sqrt(sum) - told) < 0.5 * told + 2.0, name);
}

/* A chain that information takes long to travel: the work is bounded, and the notice says so. */
static void
check_bound(gp_env *env)
{
	enum {NODES = 400};
	gp_edges   *edges = gp_edges_create(env, NODES, false, false);
	bool		sound = true;

	for (int32_t i = 0; i + 1 < NODES; i++)
		gp_edges_add(edges, 1, &i, &(int32_t) {i + 1}, NULL);
	world		w = labelled_world(env, gp_graph_build(edges), 300);
	gp_problem	p = make_problem(env, &w, laplacian(1e6, 2), GP_TASK_VALUES, GP_DOUBLE);
	p.nugget = 0.1;
	p.quiet = true;
	gp_posterior *out = gp_fit(gp_device_cpu(env, 2), &p);
	for (int64_t i = 0; i < NODES; i++)
		sound = sound && isfinite(out->mean[i]) && out->variance[i] >= 0.0 && isfinite(out->variance[i]);
	ok(sound, "a chain that does not converge: numbers, and no variance is negative");
	ok(strstr(test_state(env)->notice, "conjugate gradients ended after 500 iterations") != NULL, test_state(env)->notice);
}

/* Numbers too large for the type are an error, or a notice; never a wrong answer in silence. */
static void
check_hostile(gp_env *env, double sigma2, int d, gp_type type)
{
	world		w = small_world(env, SHAPE_CLUB, 3);
	gp_problem	p = make_problem(env, &w, laplacian(sigma2, d), GP_TASK_VALUES, type);
	volatile bool sound = true;
	char		name[1200];

	p.nugget = 0.1;
	bool		raised = test_catch(env, {
					gp_posterior *out = gp_fit(gp_device_cpu(env, 1), &p);

		for (int64_t i = 0; i < out->nodes; i++)
			sound = sound && out->variance[i] >= 0.0 && isfinite(out->variance[i]);
		sound = sound && fabs(out->mean[0] - 7.5) < 1.0;
	});
	snprintf(name, sizeof(name), "sigma2 %g, d %d, %s: %s", sigma2, d, type == GP_FLOAT ? "float" : "double",
			 raised ? test_state(env)->message : test_state(env)->notice);
	ok(raised ? test_state(env)->code == GP_ERR_VALUE || test_state(env)->code == GP_ERR_RANGE : sound, name);
}

/* Who is served, and who is refused. */
static void
check_choice(gp_env *env)
{
	static const char *const refused[] = {"gcn", "gcn(input=laplacian)", "laplacian(dims=16)"};
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = small_world(env, SHAPE_CLUB, 3);
	gp_problem	p = make_problem(env, &w, "laplacian", GP_TASK_CLASSES, GP_FLOAT);

	ok(gp_fit(dev, &p)->plan.strategy == GP_STRATEGY_PRECISION, "a laplacian is served where it is asked for");
	for (volatile size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++)
	{
		p = make_problem(env, &w, refused[k], GP_TASK_CLASSES, GP_FLOAT);
		expect_error(env, GP_ERR_VALUE, gp_fit(dev, &p));
		is_str(test_state(env)->message, "strategy precision serves laplacian kernels without dims only", refused[k]);
		is_str(test_state(env)->hint, "Use kernel => 'laplacian(sigma2=10, d=2)', or another strategy.", "with a hint");
	}
	p = make_problem(env, &w, "laplacian", GP_TASK_CLASSES, GP_FLOAT);
	p.strategy = GP_STRATEGY_AUTO;
	ok(gp_plan_make(dev, &p).strategy == GP_STRATEGY_EXACT, "a small graph has the exact root");
	w = large_world(env, 5000, 50);
	p = make_problem(env, &w, "laplacian", GP_TASK_CLASSES, GP_FLOAT);
	p.strategy = GP_STRATEGY_AUTO;
	ok(gp_plan_make(dev, &p).strategy == GP_STRATEGY_PRECISION, "a larger one does not");
	p.nlandmarks = 20;
	ok(!gp_precision_serves(env, &p), "who names landmarks means them");
}

/* One label, one class, equal targets, a label that no other can know anything about. */
static void
check_odd(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = small_world(env, SHAPE_ISLANDS, 3);
	gp_problem	p = make_problem(env, &w, "laplacian(sigma2=10)", GP_TASK_CLASSES, GP_FLOAT);
	int32_t		zero[34] = {0};
	double		five[34];
	gp_posterior *out = gp_fit(dev, &p);
	bool		none = true;

	for (int64_t k = 0; k < p.nlabelled; k++)
		for (int c = 0; c < WORLD_CLASSES && p.labelled[k] >= 30; c++)
			none = none && out->loo.mean[k * WORLD_CLASSES + c] == 0.0;
	ok(none && isnan(out->log_marginal_likelihood), "nothing is known of a label that has nobody");
	p.nlabelled = 1;
	out = gp_fit(dev, &p);
	ok(out->nugget == 0.1 && out->scale == 1.0 && isnan(out->metric[GP_METRIC_ACCURACY]), "one label");
	p = make_problem(env, &w, "laplacian(sigma2=10)", GP_TASK_CLASSES, GP_FLOAT);
	p.label = zero;
	out = gp_fit(dev, &p);
	ok(out->nugget == 0.1 && out->mean[0] > out->mean[1], "one class");
	p = make_problem(env, &w, "laplacian(sigma2=10)", GP_TASK_VALUES, GP_FLOAT);
	for (int i = 0; i < 34; i++)
		five[i] = 5.0;
	p.target = five;
	out = gp_fit(dev, &p);
	ok(out->mean[7] == 5.0 && out->scale == 1.0, "equal targets: their value, scale 1");
}

/* The score of a prior that was tried, by leaving each label out. */
static double
dense_score(gp_env *env, const gp_problem *p, const gp_prior_score *tried, double mean_diag)
{
	gp_targets	t = gp_targets_make(env, p);
	answer		a = dense_answer(env, p, &t, tried->sigma2, tried->d, tried->nugget * mean_diag);
	int64_t		n;
	int32_t    *index = gp_loo_sample(env, &t, t.m, &n);
	double		total;
	double		error = gp_loo_error(p, &t, a.loo_mean, index, n, &total);

	return 1.0 - error / total;
}

/* The prior that is chosen scores best of those tried, and the scores are those of leaving out. */
static void
check_priors(gp_env *env, gp_task task)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = small_world(env, SHAPE_CLUB, 2);
	gp_problem	p = make_problem(env, &w, "gcn", task, GP_FLOAT);
	double	   *moment = gp_prior_moments(dev, gp_precision_matrix(env, w.graph), GP_FLOAT, p.seed);
	double		off = 0.0;
	bool		best = true;
	char		name[100];

	for (int64_t k = 0; k < p.nlabelled; k++)
		w.label[k] = karate_edge[0][0] >= 0 && p.labelled[k] < 16;
	p.nclasses = task == GP_TASK_CLASSES ? 2 : 0;
	gp_prior_choice all = gp_precision_choose(dev, &p);
	for (int k = 0; k < all.n; k++)
	{
		const gp_prior_score *s = &all.tried[k];
		double		diag = gp_prior_mean(moment, s->sigma2, s->d);

		off = fmax(off, fabs(dense_score(env, &p, s, diag) - s->score));
		best = best && s->score <= all.tried[all.best].score + 0.01;
	}
	snprintf(name, sizeof(name), "%d priors, their scores are %.2g off; the best has sigma2 %g, d %d", all.n, off,
			 all.tried[all.best].sigma2, all.tried[all.best].d);
	ok(all.n >= 3 && off < 0.03 && best, name);
	p.nlabelled = 1;
	all = gp_precision_choose(dev, &p);
	ok(all.n == 1 && all.best == 0 && isnan(all.tried[0].score), "one label: a prior that serves most graphs");
}

/* A prior left open becomes the one that is chosen, and the posterior is the same from a warm start. */
static void
check_open(gp_env *env, gp_strategy strategy, gp_task task)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = large_world(env, 300, 9);
	gp_problem	p = make_problem(env, &w, "laplacian", task, GP_FLOAT);
	gp_prior_choice all = gp_precision_choose(dev, &p);
	gp_prior_score best = all.tried[all.best];
	char		name[100];

	p.strategy = strategy;
	gp_posterior *got = gp_fit(dev, &p);
	p.program = gp_kernel_program(env, gp_kernel_parse(env, laplacian(best.sigma2, best.d)));
	p.nugget = got->nugget;
	gp_posterior *want = gp_fit(dev, &p);
	snprintf(name, sizeof(name), "strategy %s, %s: an open prior is sigma2 %g, d %d", gp_strategy_names[strategy],
			 task == GP_TASK_CLASSES ? "classes" : "values", got->prior_sigma2, got->prior_d);
	ok(got->prior_sigma2 == best.sigma2 && got->prior_d == best.d &&
	   worst(got->mean, want->mean, want->nodes * want->columns) < 5e-3 &&
	   worst(got->loo.mean, want->loo.mean, p.nlabelled * want->columns) < 1e-2, name);
}

/* From a solution of the same system there are the fewest steps that tell, and it is the same. */
static void
check_start(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = large_world(env, 300, 9);
	gp_precision *system = gp_precision_open(dev, gp_precision_matrix(env, w.graph), GP_DOUBLE);
	int32_t		row = 5, col = 0;
	double		value = 1.0;
	gp_elements one = {1, &row, &col, &value, .cols = 1};
	gp_convergence cold;
	gp_convergence warm;
	double		got[2];
	gp_matrix	x = {0};

	gp_precision_set(system, 10.0, 2, w.labelled, w.nlabelled, 0.01);
	for (int k = 0; k < 2; k++)
	{
		x = gp_precision_solve(system, &one, 0.0, 1e-6, 500, &x, k == 0 ? &cold : &warm);
		dev->take(dev, x, 1, &row, &col, &got[k]);
	}
	ok(cold.iterations > 10 && warm.iterations <= 4 && fabs(got[1] / got[0] - 1.0) < 1e-6, "a start spares the steps");
}

/* Errors that choose a nugget are as good for small ones, whose labels are met at once. */
static void
check_search(gp_env *env)
{
	world		w = large_world(env, 150, 9);
	gp_problem	p = make_problem(env, &w, "laplacian", GP_TASK_CLASSES, GP_FLOAT);
	gp_targets	t = gp_targets_make(env, &p);
	gp_csr	   *s = gp_precision_matrix(env, w.graph);
	gp_precision_fit f;
	double		worst_off = 0.0;

	gp_precision_fit_open(&f, gp_device_cpu(env, 1), &p, &t, s);
	gp_precision_set_prior(&f, 10.0, 2);
	gp_precision_set_targets(&f, true);
	for (double nugget = 1e-3; nugget < 20.0; nugget *= 10.0)
	{
		gp_prior_score tried = {10.0, 2, nugget, 0.0};
		double		total;
		double		got = gp_precision_nugget_error(&f, nugget);

		gp_precision_loo_error(&f, &total);
		worst_off = fmax(worst_off, fabs(1.0 - got / total - dense_score(env, &p, &tried, f.mean_diag)));
	}
	close_to(worst_off, 0.0, 2e-3, "the errors of nuggets from 0.001 to 10 are those of leaving out");
}

/* A fit for the faults. */
static void
small_fit(gp_env *env, gp_task task, const char *kernel)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = small_world(env, SHAPE_ISLANDS, 3);
	gp_problem	p = make_problem(env, &w, kernel, task, GP_FLOAT);

	gp_posterior_free(env, gp_fit(dev, &p));
	dev->close(dev);
}

/* The choice of a prior for the faults. */
static void
small_choice(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = small_world(env, SHAPE_CLUB, 3);
	gp_problem	p = make_problem(env, &w, "laplacian", GP_TASK_CLASSES, GP_FLOAT);

	gp_precision_choose(dev, &p);
	dev->close(dev);
}

/* A fit leaves nothing behind but what it gives. */
static void
check_traces(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = small_world(env, SHAPE_CLUB, 3);
	gp_problem	p = make_problem(env, &w, "laplacian(d=3)", GP_TASK_CLASSES, GP_FLOAT);
	size_t		used = env->used;
	int64_t		live = test_state(env)->live;

	gp_posterior_free(env, gp_fit(dev, &p));
	gp_plan_make(dev, &p);
	gp_precision_choose(dev, &p);
	ok(env->used == used && test_state(env)->live == live, "nothing is left behind");
}

int
main(void)
{
	static const double sigma2[] = {0.2, 10.0, 50.0, 300.0};

	check_all_dense();
	for (volatile int d = 1; d <= 5; d++)
	{
		in_env(check_least(env, SHAPE_CLUB, d));
		in_env(check_least(env, SHAPE_ISLANDS, d));
		if (d < 4)
			in_env(check_exact(env, 10.0, d, d % 2 ? GP_TASK_CLASSES : GP_TASK_VALUES));
		for (volatile int k = 0; k < 4; k++)
			in_env(check_trace(env, sigma2[k], d));
	}
	for (volatile int type = GP_FLOAT; type <= GP_DOUBLE; type++)
		for (volatile double s = 1e4; s < 1e40; s *= s)
			for (volatile int d = 1; d <= 16; d = d == 3 ? 16 : d + 1)
				in_env(check_hostile(env, s, d, (gp_type) type));
	in_env(check_threads(env, 900, GP_TASK_CLASSES));
	in_env(check_threads(env, 700, GP_TASK_VALUES));
	in_env(check_probes(env, 6000));
	if (getenv("GNNGP_LONG") != NULL)
		in_env(check_probes(env, 62600));
	in_env(check_bound(env));
	in_env(check_choice(env));
	in_env(check_odd(env));
	in_env(check_priors(env, GP_TASK_CLASSES));
	in_env(check_priors(env, GP_TASK_VALUES));
	in_env(check_search(env));
	in_env(check_start(env));
	for (volatile int task = GP_TASK_CLASSES; task <= GP_TASK_VALUES; task++)
	{
		in_env(check_open(env, GP_STRATEGY_PRECISION, (gp_task) task));
		in_env(check_open(env, GP_STRATEGY_EXACT, (gp_task) task));
	}
	in_env(check_traces(env));
	disturb("a fit", TEST_REFUSE, 1, 30, small_fit(env, GP_TASK_CLASSES, "laplacian(d=2)"));
	disturb("a fit of values", TEST_REFUSE, 1, 30, small_fit(env, GP_TASK_VALUES, "laplacian(d=3)"));
	disturb("a fit", TEST_CANCEL, 5, 10, small_fit(env, GP_TASK_CLASSES, "laplacian(d=3)"));
	disturb("a choice", TEST_REFUSE, 1, 30, small_choice(env));
	return done_testing();
}
