/*
 * test_lists.c - lists of neighbours, rows of length one and mean variances of one, by every
 * evaluator, against covariances in plain loops.
 */
#include "formula/formula_internal.h"
#include "kernel/prepared.h"
#include "test_env.h"
#include "test_graphs.h"

#include <math.h>
#include <stdlib.h>

#define N 48
#define DIMS 7

typedef double square[N][N];

typedef enum shape
{
	SHAPE_NONE,					/* no features */
	SHAPE_SPARSE,
	SHAPE_DENSE
} shape;

/* A graph with a node that has no edge, and features with a row of zeros. */
typedef struct world
{
	gp_graph   *graph;
	gp_features *features;
	double		x[N][DIMS];
} world;

/* Makes a world. */
static world
make_world(gp_env *env, shape features, bool directed, bool weighted)
{
	world		w = {0};
	uint64_t	state = 11;
	gp_edges   *edges = gp_edges_create(env, N, directed, weighted);
	gp_features_builder *b = gp_features_create(env, N, DIMS, GP_DOUBLE);
	int32_t		at[2];

	for (int k = 0; k < 110; k++)
	{
		int32_t		src = draw_below(&state, N - 1);
		int32_t		dst = draw_below(&state, N - 1);
		double		weight = draw_below(&state, 5);	/* 0, too */

		gp_edges_add(edges, 1, &src, &dst, weighted ? &weight : NULL);
	}
	for (int i = 0; i < N; i++)
	{
		for (int j = 0; i > 0 && j < DIMS; j++)
			if (features == SHAPE_DENSE || draw_below(&state, 6) == 0)
				w.x[i][j] = 1.0 + draw_below(&state, 4);
		gp_features_add_row(b, i, w.x[i]);
	}
	w.graph = gp_graph_build(edges);
	w.features = gp_features_build(b, &at[0], &at[1]);
	if (features == SHAPE_NONE)
		w.features = NULL;
	ok(w.features == NULL || (w.features->csr != NULL) == (features == SHAPE_SPARSE),
	   "the features have the form that is meant");
	return w;
}

/* An entry of W; 0 where there is none, and 1 of a node with itself where no edge joins it. */
static double
edge_weight(const gp_graph *g, int i, int j)
{
	for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
		if (g->col[k] == j)
			return g->weight ? g->weight[k] : 1.0;
	return i == j && g->start[i] == g->start[i + 1] && !g->directed;
}

/* k = <x_i, x_j> / (|x_i| |x_j|) of rows of some width, or without the lengths. */
static void
inner_products(const double *x, int width, bool unit, square k)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
		{
			double		xy = 0.0;
			double		xx = 0.0;
			double		yy = 0.0;

			for (int c = 0; c < width; c++)
			{
				xy += x[i * width + c] * x[j * width + c];
				xx += x[i * width + c] * x[i * width + c];
				yy += x[j * width + c] * x[j * width + c];
			}
			k[i][j] = !unit ? xy : xx > 0.0 && yy > 0.0 ? xy / sqrt(xx * yy) : 0.0;
		}
}

/* S K S' for the matrix of an operator. */
static void
convolve(gp_eval *ev, const gp_operator *op, square k)
{
	gp_device  *dev = ev->dev;
	gp_matrix	s = dev->create(dev, N, N, GP_DOUBLE);
	static square half;
	static square dense;

	dev->fill(dev, s, 0.0);
	dev->shift(dev, gp_matrix_diagonal(s), 1.0);
	gp_operator_apply(ev, op, s);
	dev->download(dev, gp_matrix_wrap(dense, N, N, GP_DOUBLE), s);
	dev->destroy(dev, &s);
	memset(half, 0, sizeof(half));
	for (int i = 0; i < N; i++)
		for (int l = 0; l < N; l++)
			for (int j = 0; j < N; j++)
				half[i][j] += dense[i][l] * k[l][j];
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
		{
			k[i][j] = 0.0;
			for (int l = 0; l < N; l++)
				k[i][j] += half[i][l] * dense[j][l];
		}
}

/* The arc-cosine map. */
static void
activate(square k)
{
	double		v[N];

	for (int i = 0; i < N; i++)
		v[i] = k[i][i];
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
		{
			double		root = sqrt(v[i] * v[j]);
			double		c = root > 0.0 ? fmax(-1.0, fmin(1.0, k[i][j] / root)) : 0.0;

			if (i == j)
				c = 1.0;
			k[i][j] = root / (2.0 * M_PI) * (sqrt(1.0 - c * c) + (M_PI - acos(c)) * c);
		}
}

/* k over the mean of its diagonal. */
static void
scale_to_unit(square k)
{
	double		mean = 0.0;

	for (int i = 0; i < N; i++)
		mean += k[i][i] / N;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			k[i][j] /= mean;
}

/* The covariance of a leaf. */
static void
leaf(const world *w, const gp_program *program, const gp_step *s, square k)
{
	static square rows;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
		{
			rows[i][j] = edge_weight(w->graph, i, j);
			k[i][j] = s->kind == GP_STEP_BIAS ? s->value : i == j;
		}
	if (s->kind == GP_STEP_LISTS)
		inner_products(rows[0], N, true, k);
	else if (s->kind == GP_STEP_INPUT && w->features)
		inner_products(w->x[0], DIMS, program->input.kind == GP_INPUT_COSINE, k);
}

/* The covariance of each step. */
static void
reference(const world *w, gp_eval *ev, const gp_program *program, square *k)
{
	for (int i = 0; i < program->nsteps; i++)
	{
		const gp_step *s = &program->steps[i];
		double	   *to = (double *) k[i];
		const double *more = s->arg1 >= 0 ? (double *) k[s->arg1] : NULL;

		if (s->arg0 < 0)
			leaf(w, program, s, k[i]);
		else
			memcpy(k[i], k[s->arg0], sizeof(square));
		for (int e = 0; e < N * N && s->kind == GP_STEP_SUM; e++)
			to[e] += more[e];
		for (int e = 0; e < N * N && s->kind == GP_STEP_SCALE; e++)
			to[e] *= s->value;
		if (s->kind == GP_STEP_OP)
			convolve(ev, s->op, k[i]);
		if (s->kind == GP_STEP_RELU)
			activate(k[i]);
		if (s->kind == GP_STEP_UNIT)
			scale_to_unit(k[i]);
	}
}

/* Compares a matrix on the device with some columns of the reference. */
static void
compare(gp_device *dev, gp_matrix got, const double *want, const int32_t *cols, double bound,
		const char *kernel, const char *way)
{
	double	   *host = calloc(got.rows * got.cols, sizeof(double));
	double		worst = 0.0;
	double		size = 0.0;
	char		name[300];

	dev->download(dev, gp_matrix_wrap(host, got.rows, got.cols, GP_DOUBLE), got);
	for (int64_t i = 0; i < N; i++)
		for (int64_t c = 0; c < got.cols; c++)
		{
			double		value = want[i * N + (cols ? cols[c] : got.cols == 1 ? i : c)];

			worst = fmax(worst, fabs(host[i * got.cols + c] - value));
			size = fmax(size, fabs(value));
		}
	free(host);
	snprintf(name, sizeof(name), "%s: %s (%.2g)", kernel, way, worst / size);
	ok(worst <= bound * size, name);
	dev->destroy(dev, &got);
}

/* QQ' of a factor on all nodes. */
static gp_matrix
product(gp_eval *ev, int root)
{
	gp_device  *dev = ev->dev;
	int32_t		all[N];
	gp_matrix	k = dev->create(dev, N, N, GP_DOUBLE);

	for (int i = 0; i < N; i++)
		all[i] = i;
	gp_factor  *f = gp_eval_nystrom(ev, root, all, N);
	gp_matrix	q = dev->create(dev, N, gp_factor_rank(f), GP_DOUBLE);
	gp_factor_rows(ev, f, all, N, q);
	dev->syrk(dev, false, 1.0, q, 0.0, k);
	dev->destroy(dev, &q);
	gp_factor_free(ev, f);
	return k;
}

/* One kernel by every evaluator. */
static void
check_kernel(gp_env *env, const char *text, shape features, bool directed, bool weighted)
{
	static const int32_t cols[] = {0, 5, N - 1};
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = make_world(env, features, directed, weighted);
	gp_program *program = gp_kernel_program(env, gp_kernel_parse(env, text));
	square	   *k = gp_alloc_zero(env, program->nsteps, sizeof(square));
	int			root = program->nsteps - 1;
	gp_eval		ev;

	gp_eval_open(&ev, dev, program, w.graph, w.features, 0, GP_DOUBLE);
	ev.jitter = 1e-11;
	reference(&w, &ev, program, k);
	compare(dev, gp_eval_full(&ev, root), k[root][0], NULL, 1e-9, text, "the whole");
	if (gp_step_cheapness(&ev, root) != GP_CHEAP_NONE)
	{
		compare(dev, gp_eval_diagonal(&ev, root), k[root][0], NULL, 1e-9, text, "the diagonal");
		compare(dev, gp_eval_columns(&ev, root, cols, 3), k[root][0], cols, 1e-9, text, "columns");
	}
	compare(dev, product(&ev, root), k[root][0], NULL, 1e-5, text, "a factor on all nodes");
	gp_eval_close(&ev);
	dev->close(dev);
}

/* A kernel on each sort of graph and features. */
static void
check_worlds(const char *text)
{
	for (volatile int features = SHAPE_NONE; features <= SHAPE_DENSE; features++)
		for (volatile int kind = 0; kind < 3; kind++)
			in_env(check_kernel(env, text, (shape) features, kind == 1, kind == 2));
}

/* Z right by way of the terms, where Z has sparse columns and dense ones. */
static void
check_terms(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = make_world(env, SHAPE_DENSE, false, true);
	gp_program *program = gp_kernel_program(env, gp_kernel_parse(env, "A*X0 + 2*N"));
	int			root = program->nsteps - 1;
	gp_terms   *terms = gp_alloc_zero(env, 1, sizeof(gp_terms));
	gp_eval		ev;
	gp_matrix	work = dev->create(dev, N, N, GP_DOUBLE);
	gp_matrix	out = dev->create(dev, N, N, GP_DOUBLE);
	gp_matrix	want = dev->create(dev, N, N, GP_DOUBLE);
	int32_t		all[N];
	static double host[N * N];

	for (int i = 0; i < N; i++)
		all[i] = i;
	gp_eval_open(&ev, dev, program, w.graph, w.features, 0, GP_DOUBLE);
	gp_linear_collect(&ev, root, terms);
	const gp_linear *z = gp_linear_of_step(&ev, root);
	ok(z->csr != NULL && z->dense.cols == DIMS && z->width == N + DIMS, "a factor has both kinds of columns");
	gp_matrix	right = dev->create(dev, z->width, N, GP_DOUBLE);
	gp_linear_rows(&ev, z, all, N, right);
	gp_linear_times(&ev, z, 0, N, right, 0.0, want);
	gp_terms_times(&ev, terms, right, work, out);
	dev->download(dev, gp_matrix_wrap(host, N, N, GP_DOUBLE), want);
	compare(dev, out, host, NULL, 1e-12, "A*X0 + 2*N", "by its terms");
	gp_eval_close(&ev);
	dev->close(dev);
}

/* Rows and norms of a factor that is not made, against one that is. */
static void
check_blocks(gp_env *env)
{
	world		w = make_world(env, SHAPE_SPARSE, false, true);
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_program *program = gp_kernel_program(env, gp_kernel_parse(env, "2*A^2*X0*W + A*N*W + X0*W + b, sigma_b=0.5"));
	int			root = program->nsteps - 1;
	gp_terms   *terms = gp_alloc_zero(env, 1, sizeof(gp_terms));
	gp_eval		ev;
	gp_matrix	norm = dev->create(dev, N, 1, GP_DOUBLE);
	gp_matrix	wanted = dev->create(dev, N, 1, GP_DOUBLE);
	int32_t		all[N];

	for (int i = 0; i < N; i++)
		all[i] = i;
	gp_eval_open(&ev, dev, program, w.graph, w.features, 0, GP_DOUBLE);
	gp_linear_collect(&ev, root, terms);
	gp_linear	z = gp_linear_build(&ev, terms);
	gp_matrix	want = dev->create(dev, z.width, N, GP_DOUBLE);
	gp_matrix	out = dev->create(dev, z.width, N, GP_DOUBLE);
	double	   *host = gp_alloc_zero(env, z.width * N, sizeof(double));
	gp_linear_rows(&ev, &z, all, N, want);
	gp_linear_norms(&ev, &z, wanted);
	gp_terms_look(&ev, terms, norm, all, out);
	dev->axpby(dev, -1.0, want, 1.0, out);
	dev->download(dev, gp_matrix_wrap(host, z.width, N, GP_DOUBLE), out);
	for (int64_t k = 1; k < z.width * N; k++)
		host[0] = fmax(fabs(host[0]), fabs(host[k]));
	ok(host[0] < 1e-12, "rows of a factor that is not made");
	dev->axpby(dev, -1.0, wanted, 1.0, norm);
	dev->download(dev, gp_matrix_wrap(host, N, 1, GP_DOUBLE), norm);
	for (int64_t k = 1; k < N; k++)
		host[0] = fmax(fabs(host[0]), fabs(host[k]));
	ok(host[0] < 1e-10, "and their norms");
	gp_linear_free(&ev, &z);
	gp_eval_close(&ev);
	dev->close(dev);
}

/* Lists of edges whose weights have squares beyond all numbers. */
static void
check_huge(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, 3, true, true);
	int32_t		src[2] = {0, 0};
	int32_t		dst[2] = {1, 2};
	double		weight[2] = {3e200, 4e200};

	gp_edges_add(edges, 2, src, dst, weight);
	gp_csr	   *s = gp_graph_lists(env, gp_graph_build(edges), GP_DOUBLE);
	ok(fabs(gp_number_at(s->value, GP_DOUBLE, 0) - 0.6) < 1e-15 &&
	   fabs(gp_number_at(s->value, GP_DOUBLE, 1) - 0.8) < 1e-15, "rows of huge weights have length one");
	ok(gp_csr_entries(s) == 2 && s->start[3] == 2, "nodes without edges have empty rows");
}

int
main(void)
{
	static const char *const kernel[] = {
		"N", "2*N*W + X0*W", "A*N + X0", "X0, input=cosine", "gcn(input=cosine)", "relu(N*W + b)*W, sigma_b=0.3",
		"relu(X0*W + sqrt(2)*N*W)*W", "A*relu(X0*W + N*W)*W", "A*relu(A*relu(X0*W + N*W)*W + N*W)*W",
		"unit(X0)", "unit(3*X0) + N", "unit(relu(X)*W), layers=3", "relu(unit(X0)*W + unit(N)*W)*W",
		"A*unit(relu(A*X0*W)*W)", "unit(A*relu(A*X0*W)*W) + sqrt(0.5)*unit(relu(N*W)*W)",
		"unit(b)*W + X0, sigma_b=3", "relu(A^3*X0*W + A*N*W + b)*W + N*W, sigma_b=0.3", "relu(P(0.3)*X0*W + N*W)*W",
		"profile(sigma_b=0.3)", "sage2(layers=3)", "gcn(layers=3)", "gin(layers=3)", "gcnii(layers=3)",
		"sage(layers=3)"
	};

	for (size_t k = 0; k < sizeof(kernel) / sizeof(kernel[0]); k++)
		check_worlds(kernel[k]);
	for (const gp_preset *p = gp_preset_at(0); p->text; p++)
		if (!p->input)
			check_worlds(p->name);
	in_env(check_terms(env));
	in_env(check_blocks(env));
	in_env(check_huge(env));
	return done_testing();
}
