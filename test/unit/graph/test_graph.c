/*
 * test_graph.c - edges, normalisations, sparse algebra and features against plain loops.
 */
#include "graph/graph.h"
#include "test_env.h"

#include <stdlib.h>

/* A small generator, so that every run sees the same cases. */
static uint64_t seed = 1;

/* A sparse matrix as a dense one. */
static double *
dense_of(gp_env *env, const gp_csr *s)
{
	double	   *d = gp_alloc_zero(env, s->rows * s->cols + 1, sizeof(double));

	for (int64_t i = 0; i < s->rows; i++)
		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
			d[i * s->cols + s->col[k]] += s->type == GP_FLOAT ? ((float *) s->value)[k] :
				((double *) s->value)[k];
	return d;
}

/* The largest difference of two arrays. */
static double
difference(const double *a, const double *b, int64_t n)
{
	double		worst = 0.0;

	for (int64_t i = 0; i < n; i++)
		worst = fmax(worst, fabs(a[i] - b[i]));
	return worst;
}

/* True when the columns of every row ascend without repeats. */
static bool
sorted(const int64_t *start, const int32_t *col, int64_t rows)
{
	for (int64_t i = 0; i < rows; i++)
		for (int64_t k = start[i] + 1; k < start[i + 1]; k++)
			if (col[k] <= col[k - 1])
				return false;
	return true;
}

typedef struct edge
{
	int32_t		src;
	int32_t		dst;
	double		weight;
} edge;

/* W by plain loops: repeats count once without weights, add up with them. */
static double *
plain_weights(gp_env *env, const edge *e, int m, int n, bool directed, bool weighted)
{
	double	   *w = gp_alloc_zero(env, n * n + 1, sizeof(double));

	for (int k = 0; k < m; k++)
	{
		double		v = weighted ? e[k].weight : 1.0;

		if (e[k].src == e[k].dst)
			continue;
		w[e[k].src * n + e[k].dst] = weighted ? w[e[k].src * n + e[k].dst] + v : 1.0;
		if (!directed)
			w[e[k].dst * n + e[k].src] = weighted ? w[e[k].dst * n + e[k].src] + v : 1.0;
	}
	return w;
}

/* A by the formulas of the header. */
static double *
plain_normalised(gp_env *env, const double *w, int n, gp_norm norm)
{
	double	   *a = gp_alloc_zero(env, n * n + 1, sizeof(double));

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			double		out = 1.0;
			double		in = 1.0;

			for (int k = 0; k < n; k++)
			{
				out += w[i * n + k];
				in += w[k * n + j];
			}
			a[i * n + j] = (w[i * n + j] + (i == j)) *
				(norm == GP_NORM_SYM ? 1.0 / sqrt(out * in) : 1.0 / out);
		}
	return a;
}

/* One random graph, its edges in two orders. */
static void
check_graph(gp_env *env, int n, int m, bool directed, bool weighted)
{
	edge	   *e = gp_alloc_zero(env, m + 1, sizeof(edge));
	gp_graph   *graph[2];
	bool		same;
	char		name[120];

	for (int k = 0; k < m; k++)
		e[k] = (edge) {draw_below(&seed, n), draw_below(&seed, n), draw_below(&seed, 1000) / 7.0};
	for (int order = 0; order < 2; order++)
	{
		gp_edges   *edges = gp_edges_create(env, n, directed, weighted);

		for (int k = 0; k < m; k++)
		{
			const edge *one = &e[order ? m - 1 - k : k];

			gp_edges_add(edges, 1, &one->src, &one->dst, weighted ? &one->weight : NULL);
		}
		graph[order] = gp_graph_build(edges);
	}
	double	   *w = plain_weights(env, e, m, n, directed, weighted);
	snprintf(name, sizeof(name), "%d nodes, %d edges%s%s", n, m, directed ? ", directed" : "",
			 weighted ? ", weighted" : "");
	ok(sorted(graph[0]->start, graph[0]->col, n), name);
	same = graph[0]->start[n] == graph[1]->start[n] &&
		memcmp(graph[0]->col, graph[1]->col, graph[0]->start[n] * sizeof(int32_t)) == 0 &&
		(!weighted || memcmp(graph[0]->weight, graph[1]->weight,
							 graph[0]->start[n] * sizeof(double)) == 0);
	ok(same, "the order of arrival does not change a bit");
	for (int norm = 0; norm < 2; norm++)
	{
		double	   *want = plain_normalised(env, w, n, norm);
		gp_csr	   *a = gp_graph_normalise(env, graph[0], norm, GP_DOUBLE);

		ok(sorted(a->start, a->col, n), "the self-loops are in their places");
		ok(difference(dense_of(env, a), want, n * n) < 1e-14, "the normalisation is the formula's");
	}
}

/* A random sparse matrix. */
static gp_csr *
random_csr(gp_env *env, int rows, int cols, gp_type type)
{
	gp_features_builder *b = gp_features_create(env, rows, cols, type);
	int32_t		node;
	int32_t		feature;

	for (int i = 0; i < rows; i++)
		for (int j = 0; j < cols; j++)
			if (draw_below(&seed, 9) == 0)
			{
				int32_t		r = i;
				int32_t		c = j;
				double		v = draw_below(&seed, 100) + 1.0;

				gp_features_add_entries(b, 1, &r, &c, &v);
			}
	gp_features *f = gp_features_build(b, &node, &feature);
	gp_csr	   *s = f->csr;
	return s;
}

/* Product, sum, transpose, selection, stacking. */
static void
check_algebra(gp_env *env)
{
	gp_csr	   *a = random_csr(env, 31, 17, GP_DOUBLE);
	gp_csr	   *b = random_csr(env, 17, 41, GP_DOUBLE);
	gp_csr	   *a2 = random_csr(env, 31, 17, GP_DOUBLE);
	gp_csr	   *pair[2] = {a, a2};
	double	   *da = dense_of(env, a);
	double	   *db = dense_of(env, b);
	double	   *da2 = dense_of(env, a2);
	double	   *want = gp_alloc_zero(env, 31 * 41, sizeof(double));
	int32_t		rows[3] = {30, 2, 2};
	bool		right = true;

	for (int i = 0; i < 31; i++)
		for (int k = 0; k < 17; k++)
			for (int j = 0; j < 41; j++)
				want[i * 41 + j] += da[i * 17 + k] * db[k * 41 + j];
	gp_csr	   *s = gp_csr_product(env, a, b);
	ok(sorted(s->start, s->col, 31) && difference(dense_of(env, s), want, 31 * 41) < 1e-9,
	   "the product is the dense one");
	s = gp_csr_add(env, a, a2);
	for (int i = 0; i < 31 * 17; i++)
		want[i] = da[i] + da2[i];
	ok(sorted(s->start, s->col, 31) && difference(dense_of(env, s), want, 31 * 17) == 0.0,
	   "the sum is the dense one");
	double	   *d = dense_of(env, gp_csr_transpose(env, a));
	for (int i = 0; i < 31; i++)
		for (int j = 0; j < 17; j++)
			right = right && d[j * 31 + i] == da[i * 17 + j];
	ok(right, "the transpose is the dense one");
	d = dense_of(env, gp_csr_hstack(env, 2, pair));
	for (int i = 0; i < 31; i++)
		for (int j = 0; j < 34; j++)
			right = right && d[i * 34 + j] == (j < 17 ? da : da2)[i * 17 + j % 17];
	ok(right, "stacking puts columns side by side");
	d = dense_of(env, gp_csr_select(env, a, rows, 3, NULL, 17));
	ok(memcmp(d, da + 30 * 17, 17 * sizeof(double)) == 0 &&
	   memcmp(d + 34, da + 2 * 17, 17 * sizeof(double)) == 0, "rows are selected, twice if asked");
}

/* A product with so many columns that short rows take a table; a row of many does not. */
static void
check_wide_product(gp_env *env)
{
	enum
	{
		ROWS = 40, INNER = 60, COLS = 50000
	};
	gp_csr	   *a = random_csr(env, ROWS, INNER, GP_DOUBLE);
	gp_csr	   *b = gp_csr_identity(env, INNER, GP_DOUBLE);
	double	   *da = dense_of(env, a);
	int64_t		entries = 0;
	gp_csr	   *s;
	double		worst = 0.0;
	bool		right = true;

	gp_free_all(env, b->col, b->value);
	b->cols = COLS;
	b->col = gp_alloc_array(env, INNER * 20 + 30000, sizeof(int32_t));
	b->value = gp_alloc_array(env, INNER * 20 + 30000, sizeof(double));
	for (int i = 0; i < INNER; i++)
	{
		int			length = i == 7 ? 30000 : 20;

		for (int m = 0; m < length; m++)
		{
			b->col[entries] = i == 7 ? m : (i * 131 + m * 2048) % COLS;
			((double *) b->value)[entries++] = i + m % 20;
		}
		gp_sort_columns(env, b->col + b->start[i], length);
		b->start[i + 1] = entries;
	}
	for (int unit = 0; unit < 2; unit++)
	{
		s = gp_csr_product_plus(env, a, b, unit);
		right = right && sorted(s->start, s->col, ROWS);
		for (int i = 0; i < ROWS; i++)
		{
			double	   *want = gp_alloc_zero(env, COLS, sizeof(double));

			want[i] = unit;
			for (int k = 0; k < INNER; k++)
				for (int64_t m = b->start[k]; m < b->start[k + 1]; m++)
					want[b->col[m]] += da[i * INNER + k] * ((double *) b->value)[m];
			for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
			{
				worst = fmax(worst, fabs(((double *) s->value)[k] - want[s->col[k]]));
				want[s->col[k]] = 0.0;
			}
			for (int j = 0; j < COLS; j++)
				right = right && want[j] == 0.0;
			gp_free(env, want);
		}
	}
	ok(right && worst < 1e-9, "products of many columns are the dense ones, with the identity, too");
}

/* The same features by rows, by floats, by entries; sparse and dense. */
static void
check_features(gp_env *env, int nodes, int dims, int percent)
{
	double	   *x = gp_alloc_zero(env, nodes * dims, sizeof(double));
	float	   *xf = gp_alloc_zero(env, nodes * dims, sizeof(float));
	gp_features *f[3];
	int32_t		node;
	int32_t		feature;
	char		name[120];

	for (int k = 0; k < nodes * dims; k++)
	{
		x[k] = draw_below(&seed, 100) < percent ? draw_below(&seed, 50) + 1 : 0;
		xf[k] = (float) x[k];
	}
	for (int way = 0; way < 3; way++)
	{
		gp_features_builder *b = gp_features_create(env, nodes, dims, GP_DOUBLE);

		for (int k = 0; k < nodes; k++)
		{
			int32_t		i = way == 1 ? nodes - 1 - k : k;

			if (way == 0)
				gp_features_add_row(b, i, x + i * dims);
			else if (way == 1)
				gp_features_add_row_float(b, i, xf + i * dims);
			else
				for (int32_t j = 0; j < dims; j++)
					if (x[i * dims + j] != 0.0)
						gp_features_add_entries(b, 1, &i, &j, x + i * dims + j);
		}
		f[way] = gp_features_build(b, &node, &feature);
	}
	for (int way = 0; way < 3; way++)
	{
		double	   *got = f[way]->csr ? dense_of(env, f[way]->csr) : f[way]->dense;

		snprintf(name, sizeof(name), "%d x %d features, %d%% set, way %d", nodes, dims, percent, way);
		ok(memcmp(got, x, nodes * dims * sizeof(double)) == 0, name);
		ok((f[way]->csr == NULL) == (percent > 25), "the form follows from the share of non-zeros");
	}
}

/* Features of rows whose nodes are told at the end, in the order of the nodes or in another one. */
static gp_features *
place_features(gp_env *env, int nodes, int dims, const double *x, bool in_order)
{
	gp_features_builder *b = gp_features_create(env, GP_NODES_UNKNOWN, dims, GP_DOUBLE);
	int32_t    *node = gp_alloc_array(env, nodes, sizeof(int32_t));
	int32_t		r1;
	int32_t		r2;

	for (int i = 0; i < nodes; i++)
		node[i] = in_order ? i : (i * 7 + 3) % nodes;
	for (int i = 0; i < nodes; i++)
		gp_features_add_row(b, i, x + node[i] * dims);
	gp_features_place(b, nodes, in_order ? NULL : node);
	gp_free(env, node);
	return gp_features_build(b, &r1, &r2);
}

/* The same as when the nodes are known beforehand, sparse and dense. */
static void
check_places(gp_env *env, int nodes, int dims, int percent)
{
	double	   *x = gp_alloc_zero(env, nodes * dims, sizeof(double));
	size_t		used;

	for (int k = 0; k < nodes * dims; k++)
		x[k] = draw_below(&seed, 100) < percent ? draw_below(&seed, 50) + 1 : 0;
	used = env->used;
	for (int in_order = 0; in_order < 2; in_order++)
	{
		gp_features *f = place_features(env, nodes, dims, x, in_order);

		ok(memcmp(f->csr ? dense_of(env, f->csr) : f->dense, x, nodes * dims * sizeof(double)) == 0,
		   "rows come to their nodes");
		ok(f->rows == nodes && (f->csr == NULL) == (percent > 25), "in the form of their share of non-zeros");
		if (f->dense)
			is_int(env->used - used, gp_alloc_size(sizeof(gp_features)) +
				   gp_alloc_size(nodes * dims * sizeof(double)), "and no more memory is held than they take");
		gp_features_free(env, f);
	}
}

/* Entries that stand twice are found; dims follow from the numbers. */
static void
check_entries(gp_env *env)
{
	int32_t		node[4] = {2, 0, 2, 1};
	int32_t		feature[4] = {7, 3, 7, 0};
	double		value[4] = {1, 2, 3, 4};
	int32_t		repeated_node;
	int32_t		repeated_feature;
	gp_features_builder *b = gp_features_create(env, 3, 0, GP_FLOAT);

	gp_features_add_entries(b, 4, node, feature, value);
	ok(gp_features_build(b, &repeated_node, &repeated_feature) == NULL &&
	   repeated_node == 2 && repeated_feature == 7, "a repeated entry is named");
	b = gp_features_create(env, 3, 0, GP_FLOAT);
	gp_features_add_entries(b, 2, node, feature, value);
	is_int(gp_features_build(b, &repeated_node, &repeated_feature)->dims, 8,
		   "the width follows from the largest number");
}

/* All checks, in one environment. */
static void
check_all(gp_env *env)
{
	check_graph(env, 1, 3, false, false);
	check_graph(env, 2, 0, false, false);
	for (int kind = 0; kind < 4; kind++)
		check_graph(env, 37, 150, kind & 1, kind & 2);
	check_algebra(env);
	check_wide_product(env);
	check_features(env, 7, 5, 10);
	check_features(env, 300, 11, 10);
	check_features(env, 600, 11, 80);
	check_places(env, 600, 11, 10);
	check_places(env, 200, 11, 80);
	check_places(env, 1000, 11, 80);
	check_entries(env);
}

/* Builds a graph and its matrices; every allocation may fail. */
static void
build_all(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, 5, false, true);
	int32_t		src[3] = {0, 1, 2};
	int32_t		dst[3] = {1, 2, 3};
	double		weight[3] = {1, 2, 3};
	double		all_ones[300];
	int32_t		r1;
	int32_t		r2;

	for (int k = 0; k < 300; k++)
		all_ones[k] = 1;
	gp_edges_add(edges, 3, src, dst, weight);
	gp_csr	   *a = gp_graph_normalise(env, gp_graph_build(edges), GP_NORM_SYM, GP_FLOAT);
	gp_features_builder *b = gp_features_create(env, 5, 3, GP_FLOAT);
	gp_features_add_row(b, 1, weight);
	gp_features *x = gp_features_build(b, &r1, &r2);
	place_features(env, 300, 2, gp_alloc_zero(env, 600, sizeof(double)), false);
	place_features(env, 300, 1, all_ones, false);
	gp_csr_product(env, a, x->csr);
	gp_csr_transpose(env, a);
}

int
main(void)
{
	in_env(check_all(env));
	disturb("graphs", TEST_REFUSE, 1, 10, build_all(env));
	return done_testing();
}
