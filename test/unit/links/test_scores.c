/*
 * test_scores.c - scores of pairs against dense loops, and links that are
 * ignored against graphs that lack them.
 */
#include "links/scores/scores.h"
#include "test_env.h"

#include <stdlib.h>

#define NODES 41
#define DIMS 13
#define MOST_SCORES 40

/* A small generator, so that every run sees the same cases. */
static uint64_t state = 1;

/* A list of links with weights; a link may be left out of the graph that is made of it. */
typedef struct links
{
	int			n;
	int32_t		src[400];
	int32_t		dst[400];
	double		weight[400];
	bool		directed;
	bool		weighted;
} links;

/* Random links, each once; the last two nodes have none. */
static links
random_links(int n, bool directed, bool weighted)
{
	links		l = {.directed = directed, .weighted = weighted};
	static bool used[NODES][NODES];

	memset(used, 0, sizeof(used));
	while (l.n < n)
	{
		int			i = (int) (draw_unit(&state) * draw_unit(&state) * (NODES - 2));
		int			j = (int) (draw_unit(&state) * (NODES - 2));

		if (i == j || used[i][j] || (!directed && used[j][i]))
			continue;
		used[i][j] = true;
		l.src[l.n] = i;
		l.dst[l.n] = j;
		l.weight[l.n++] = 0.5 + 2.0 * draw_unit(&state);
	}
	return l;
}

/* The graph of all links but one. */
static gp_graph *
graph_of(gp_env *env, const links *l, int without)
{
	gp_edges   *edges = gp_edges_create(env, NODES, l->directed, l->weighted);

	for (int e = 0; e < l->n; e++)
		if (e != without)
			gp_edges_add(edges, 1, &l->src[e], &l->dst[e], l->weighted ? &l->weight[e] : NULL);
	return gp_graph_build(edges);
}

/* Sparse features, some rows empty; or dense ones. */
static gp_features *
random_features(gp_env *env, bool dense)
{
	gp_features_builder *b = gp_features_create(env, NODES, DIMS, GP_FLOAT);
	int32_t		node;
	int32_t		feature;

	for (int32_t i = 0; i < NODES; i++)
		for (int32_t j = 0; j < DIMS; j++)
		{
			double		v = dense ? draw_unit(&state) - 0.5 : 1.0;

			if (dense || (i % 7 != 3 && draw_unit(&state) < 0.15))
				gp_features_add_entries(b, 1, &i, &j, &v);
		}
	return gp_features_build(b, &node, &feature);
}

/* Dense matrices of a graph. */
typedef struct dense
{
	double		w[NODES][NODES];	/* symmetric weights */
	double		p[NODES][NODES];	/* symmetric pattern */
	double		arc[NODES][NODES];
	double		d[NODES];
	double		strength[NODES];
	double		laplacian[NODES][NODES];
	double		ease[NODES][NODES];	/* A (A^2 + ridge I)^-1 of the pattern */
	double		ridge;
	double		rows[GP_LINK_POWERS][NODES][DIMS];	/* of A^k X, centred */
} dense;

/* Fills them. */
static void
make_dense(const gp_graph *g, dense *m)
{
	memset(m, 0, sizeof(*m));
	for (int i = 0; i < NODES; i++)
		for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
		{
			int			j = g->col[k];
			double		w = g->weight ? g->weight[k] : 1.0;

			m->arc[i][j] = 1.0;
			m->w[i][j] += w;
			if (g->directed)
				m->w[j][i] += w;
			m->p[i][j] = m->p[j][i] = 1.0;
		}
	for (int i = 0; i < NODES; i++)
		for (int j = 0; j < NODES; j++)
		{
			m->d[i] += m->p[i][j];
			m->strength[i] += m->w[i][j];
		}
}

/* out = a^-1, by Gaussian elimination. */
static void
invert(double in[NODES][NODES], double out[NODES][NODES])
{
	static double a[NODES][2 * NODES];

	memset(a, 0, sizeof(a));
	for (int r = 0; r < NODES; r++)
	{
		memcpy(a[r], in[r], NODES * sizeof(double));
		a[r][NODES + r] = 1.0;
	}
	for (int k = 0; k < NODES; k++)
		for (int r = 0; r < NODES; r++)
			if (r != k)
			{
				double		f = a[r][k] / a[k][k];

				for (int c = k; c < 2 * NODES; c++)
					a[r][c] -= f * a[k][c];
			}
	for (int r = 0; r < NODES; r++)
		for (int c = 0; c < NODES; c++)
			out[r][c] = a[r][NODES + c] / a[r][r];
}

/* The first terms of the Chebyshev series of 1 / (1 + s2 - s2 S). */
static void
make_laplacian(dense *m)
{
	static double t[GP_LINK_STEPS + 1][NODES][NODES];
	double		b = 1.1;		/* (1 + s2) / s2 with s2 = 10 */
	double		c = 0.2 / sqrt(b * b - 1.0);

	memset(t, 0, sizeof(t));
	for (int k = 0; k <= GP_LINK_STEPS; k++)
		for (int i = 0; i < NODES; i++)
			for (int j = 0; j < NODES; j++)
			{
				if (k == 0)
					t[k][i][j] = i == j ? 1.0 : 0.0;
				else
					for (int a = 0; a < NODES; a++)
						if (m->w[i][a] > 0.0)
							t[k][i][j] += (k == 1 ? 1.0 : 2.0) * m->w[i][a] /
								sqrt(m->strength[i] * m->strength[a]) * t[k - 1][a][j];
				if (k > 1)
					t[k][i][j] -= t[k - 2][i][j];
			}
	memset(m->laplacian, 0, sizeof(m->laplacian));
	for (int k = 0; k <= GP_LINK_STEPS; k++, c *= b - sqrt(b * b - 1.0))
		for (int i = 0; i < NODES; i++)
			for (int j = 0; j < NODES; j++)
				m->laplacian[i][j] += (k == 0 ? 0.5 : 1.0) * c * t[k][i][j];
}

/* The linear auto-encoder. */
static void
make_ease(dense *m)
{
	static double a[NODES][NODES];
	static double inverse[NODES][NODES];

	m->ridge = 0.0;
	for (int i = 0; i < NODES; i++)
		m->ridge += 4.0 * m->d[i] / NODES;
	memset(a, 0, sizeof(a));
	for (int i = 0; i < NODES; i++)
		for (int j = 0; j < NODES; j++)
		{
			a[i][j] = i == j ? m->ridge : 0.0;
			for (int k = 0; k < NODES; k++)
				a[i][j] += m->p[i][k] * m->p[k][j];
		}
	invert(a, inverse);
	memset(m->ease, 0, sizeof(m->ease));
	for (int i = 0; i < NODES; i++)
		for (int j = 0; j < NODES; j++)
			for (int k = 0; k < NODES; k++)
				m->ease[i][j] += m->p[i][k] * inverse[k][j];
}

/* DeepWalk's entry: vol / 10 sum over r of (D^-1/2 S^r D^-1/2)_ij. */
static double
walk_entry(const dense *m, int i, int j)
{
	double		v[NODES] = {0.0};
	double		volume = 0.0;
	double		sum = 0.0;

	v[j] = 1.0;
	for (int r = 0; r < 10; r++)
	{
		double		next[NODES] = {0.0};

		for (int a = 0; a < NODES; a++)
			for (int b = 0; b < NODES; b++)
				if (m->w[a][b] > 0.0)
					next[a] += m->w[a][b] / sqrt(m->strength[a] * m->strength[b]) * v[b];
		memcpy(v, next, sizeof(v));
		sum += v[i];
	}
	for (int a = 0; a < NODES; a++)
		volume += m->strength[a];
	return m->strength[i] * m->strength[j] > 0.0 ?
		volume / 10.0 * sum / sqrt(m->strength[i] * m->strength[j]) : 0.0;
}

/* The rows of A^k X less their mean, for all powers. */
static void
smooth_features(dense *m, double x[NODES][DIMS])
{
	static double z[NODES][DIMS];
	static double y[NODES][DIMS];

	memcpy(z, x, sizeof(z));
	for (int k = 0; k < GP_LINK_POWERS; k++)
	{
		memset(y, 0, sizeof(y));
		for (int c = 0; c < DIMS; c++)
		{
			double		mean = 0.0;

			for (int a = 0; a < NODES; a++)
				mean += z[a][c] / NODES;
			for (int a = 0; a < NODES; a++)
				m->rows[k][a][c] = z[a][c] - mean;
		}
		for (int a = 0; a < NODES; a++)
			for (int b = 0; b < NODES; b++)
				for (int c = 0; c < DIMS; c++)
					y[a][c] += (m->w[a][b] + (a == b)) /
						sqrt((1.0 + m->strength[a]) * (1.0 + m->strength[b])) * z[b][c];
		memcpy(z, y, sizeof(z));
	}
}

/* The cosine of the centred rows i and j of A^k X. */
static double
cosine_entry(const dense *m, int power, int i, int j)
{
	const double *a = m->rows[power][i];
	const double *b = m->rows[power][j];
	double		dot = 0.0;
	double		ni = 0.0;
	double		nj = 0.0;

	for (int c = 0; c < DIMS; c++)
	{
		dot += a[c] * b[c];
		ni += a[c] * a[c];
		nj += b[c] * b[c];
	}
	return dot / sqrt(ni * nj);
}

/* The cosine of i's features with those of the neighbour of j that has the largest. */
static double
most_similar(const dense *m, int i, int j)
{
	double		most = m->d[j] > 0.0 ? -1.0 : 0.0;

	for (int a = 0; a < NODES; a++)
		if (m->p[j][a] > 0.0)
		{
			double		cosine = cosine_entry(m, 0, i, a);

			most = fmax(most, isnan(cosine) ? 0.0 : cosine);
		}
	return most;
}

/* The sums over paths of length two (scaled by power of the middle's degree) and three. */
static double
paths(const dense *m, int i, int j, double power, bool three)
{
	double		sum = 0.0;

	for (int a = 0; a < NODES; a++)
	{
		if (m->p[i][a] == 0.0)
			continue;
		if (!three)
			sum += m->p[a][j] * pow(m->d[a], power);
		for (int b = 0; three && b < NODES; b++)
			sum += m->p[a][b] * m->p[b][j] * pow(m->d[a] * m->d[b], power);
	}
	return sum;
}

/* The scores of one pair by dense loops, in the order of the names. */
static void
dense_scores(const gp_graph *g, const dense *m, bool features, int i, int j, double *out)
{
	double		mean = sqrt(fmax(m->d[i], 1.0) * fmax(m->d[j], 1.0));
	int			n = 0;

	out[n++] = log1p(m->d[i]) + log1p(m->d[j]);
	out[n++] = fabs(log1p(m->d[i]) - log1p(m->d[j]));
	out[n++] = log1p(paths(m, i, j, 0.0, false));
	out[n++] = log(paths(m, i, j, -1.0, false) + 1e-3);
	out[n++] = paths(m, i, j, 0.0, false) / mean;
	out[n++] = log1p(paths(m, i, j, 0.0, true) / mean);
	out[n++] = log(paths(m, i, j, -1.0, true) + 1e-4);
	if (g->directed)
	{
		double		sum[7] = {0.0};

		for (int a = 0; a < NODES; a++)
		{
			sum[0] += m->arc[i][a];
			sum[1] += m->arc[a][i];
			sum[2] += m->arc[j][a];
			sum[3] += m->arc[a][j];
			sum[4] += m->arc[i][a] * m->arc[a][j];
			sum[5] += m->arc[i][a] * m->arc[j][a];
			sum[6] += m->arc[a][i] * m->arc[a][j];
		}
		for (int k = 0; k < 4; k++)
			out[n++] = log1p(sum[k]);
		out[n++] = m->arc[j][i];
		for (int k = 4; k < 7; k++)
			out[n++] = log1p(sum[k]);
	}
	out[n++] = log(fmax(m->laplacian[i][j], 1e-6));
	out[n++] = log(fmax(walk_entry(m, i, j), 1e-3));
	out[n++] = -m->ease[i][j] * sqrt((m->ridge + m->d[i]) * (m->ridge + m->d[j]));
	out[n++] = -m->ease[i][j] * fmax(m->ridge + m->d[i], m->ridge + m->d[j]);
	for (int k = 0; features && k < GP_LINK_POWERS; k++)
		out[n++] = cosine_entry(m, k, i, j);
	if (features)
		out[n++] = most_similar(m, i, j) + most_similar(m, j, i);
}

/* The prepared features as a dense matrix. */
static void
unpack(const gp_features *x, double out[NODES][DIMS])
{
	memset(out, 0, NODES * DIMS * sizeof(double));
	for (int i = 0; i < NODES; i++)
		if (x->csr)
			for (int64_t k = x->csr->start[i]; k < x->csr->start[i + 1]; k++)
				out[i][x->csr->col[k]] = ((const float *) x->csr->value)[k];
		else
			for (int c = 0; c < DIMS; c++)
				out[i][c] = ((const float *) x->dense)[i * DIMS + c];
}

/* The largest difference between two lists of scores, relative to the larger of 1 and the score. */
static double
difference(int width, const double *a, const double *b, int *worst)
{
	double		most = 0.0;

	for (int k = 0; k < width; k++)
	{
		double		e = fabs(a[k] - b[k]) / fmax(1.0, fabs(b[k]));

		if (!(e <= most))
		{
			most = e;
			*worst = k;
		}
	}
	return most;
}

/* All pairs without a link against dense loops. */
static void
check_pairs(gp_env *env, bool directed, bool weighted, int features)
{
	links		l = random_links(110, directed, weighted);
	gp_graph   *g = graph_of(env, &l, -1);
	gp_features *raw = features ? random_features(env, features == 2) : NULL;
	gp_features *x = raw ? gp_link_features_prepare(env, raw, 0) : NULL;
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_link_context f;
	static dense m;
	static double full[NODES][DIMS];
	int32_t		src[NODES * NODES];
	int32_t		dst[NODES * NODES];
	double		want[MOST_SCORES];
	int			n = 0;
	int			worst = 0;
	double		most = 0.0;
	char		name[200];

	make_dense(g, &m);
	make_laplacian(&m);
	make_ease(&m);
	if (x)
	{
		unpack(x, full);
		smooth_features(&m, full);
	}
	for (int i = 0; i < NODES; i++)
		for (int j = 0; j < NODES; j++)
			if (i != j && !gp_link_exists(g, i, j))
			{
				src[n] = i;
				dst[n++] = j;
			}
	gp_link_context_open(&f, dev, g, x, GP_LINK_STEPS, NULL);
	double	   *got = gp_alloc_array(env, (int64_t) n * f.width, sizeof(double));
	gp_link_pair_scores(&f, n, src, dst, got);
	for (int e = 0; e < n; e++)
	{
		int			at = 0;

		dense_scores(g, &m, x != NULL, src[e], dst[e], want);
		double		d = difference(f.width, got + e * f.width, want, &at);
		if (!(d <= most))
		{
			most = d;
			worst = at;
		}
	}
	snprintf(name, sizeof(name), "%s%sfeatures %d: %d pairs, worst %g at score %d",
			 directed ? "directed, " : "", weighted ? "weighted, " : "", features, n, most,
			 worst);
	ok(most < 2e-4, name);
	gp_link_context_close(&f);
}

/* The scores of a pair do not change when other hidden links are put back elsewhere, only with their graph. */
static void
check_leak(gp_env *env)
{
	links		l = random_links(110, false, false);
	gp_graph   *whole = graph_of(env, &l, -1);
	gp_graph   *less = graph_of(env, &l, 5);
	gp_device  *dev = gp_device_cpu(env, 1);
	double		linked[MOST_SCORES];
	double		hidden[MOST_SCORES];
	gp_link_context f;
	int			at = 0;

	gp_link_context_open(&f, dev, whole, NULL, GP_LINK_STEPS, NULL);
	gp_link_pair_scores(&f, 1, &l.src[5], &l.dst[5], linked);
	gp_link_context_close(&f);
	gp_link_context_open(&f, dev, less, NULL, GP_LINK_STEPS, NULL);
	gp_link_pair_scores(&f, 1, &l.src[5], &l.dst[5], hidden);
	ok(difference(f.width, linked, hidden, &at) < 2e-4, "a link does not see itself");
	gp_link_context_close(&f);
}

/* Every link, scored on the whole graph, against a context of the graph without it. */
static void
check_links(gp_env *env, bool directed, bool weighted, int features)
{
	links		l = random_links(90, directed, weighted);
	gp_graph   *g = graph_of(env, &l, -1);
	gp_features *raw = features ? random_features(env, features == 2) : NULL;
	gp_features *x = raw ? gp_link_features_prepare(env, raw, 0) : NULL;
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_context f;
	double		want[MOST_SCORES];
	double		most = 0.0;
	double		cosines = 0.0;
	int			worst = 0;
	int			own = gp_link_width(g, false);
	char		name[200];

	gp_link_context_open(&f, dev, g, x, GP_LINK_STEPS, NULL);
	double	   *got = gp_alloc_array(env, (int64_t) l.n * f.width, sizeof(double));
	gp_link_pair_scores(&f, l.n, l.src, l.dst, got);
	for (int e = 0; e < l.n; e++)
	{
		gp_graph   *less = graph_of(env, &l, e);
		gp_link_context lf;
		int			at = 0;

		gp_link_context_open(&lf, dev, less, x, GP_LINK_STEPS, NULL);
		/* The features' means are those of the whole graph. */
		gp_link_pair_scores(&lf, 1, &l.src[e], &l.dst[e], want);
		gp_link_context_close(&lf);
		double		d = difference(own, got + e * f.width, want, &at);
		if (!(d <= most))
		{
			most = d;
			worst = at;
		}
		for (int k = own; k < f.width; k++)
			cosines += fabs(got[e * f.width + k] - want[k]) / (l.n * GP_LINK_POWERS);
	}
	snprintf(name, sizeof(name), "%s%sfeatures %d: links as if they were not there, worst %g at score %d",
			 directed ? "directed, " : "", weighted ? "weighted, " : "", features, most,
			 worst);
	/* Logarithms of what is left after a subtraction in float. */
	ok(most < 2e-4, name);
	snprintf(name, sizeof(name), "and their cosines differ by the features' mean only, %g", cosines);
	ok(cosines < 0.03, name);
	gp_link_context_close(&f);
}

/* Cosines do not see a factor, not even a huge one; equal features say nothing. */
static void
check_features(gp_env *env)
{
	gp_features_builder *b = gp_features_create(env, 3, 2, GP_DOUBLE);
	double		huge[] = {1e200, -3e200};
	double		small[] = {-2e199, 1e200};
	int32_t		node;
	int32_t		feature;
	bool		finite = true;

	gp_features_add_row(b, 0, huge);
	gp_features_add_row(b, 1, small);
	gp_features_add_row(b, 2, huge);
	gp_features *x = gp_link_features_prepare(env, gp_features_build(b, &node, &feature), 0);
	for (int k = 0; k < 6; k++)
		finite = finite && fabs(((float *) x->dense)[k]) <= 1.0f;
	ok(finite, "huge features are brought to ordinary size");
}

/* Features wider than the limit are folded, and products of rows about keep their values. */
static void
check_fold(gp_env *env)
{
	gp_features_builder *b = gp_features_create(env, 40, 20000, GP_FLOAT);
	int32_t		node;
	int32_t		feature;
	double		one = 1.0;
	double		norm = 0.0;

	for (int32_t i = 0; i < 40; i++)
		for (int32_t k = 0; k < 50; k++)
		{
			int32_t		col = (i * 400 + k * 7) % 20000;

			gp_features_add_entries(b, 1, &i, &col, &one);
		}
	gp_features *x = gp_link_features_prepare(env, gp_features_build(b, &node, &feature), 7);
	is_int(x->dims, 4096, "wide features are folded");
	for (int64_t k = x->csr->start[0]; k < x->csr->start[1]; k++)
		norm += ((float *) x->csr->value)[k] * ((float *) x->csr->value)[k];
	ok(norm > 0.0 && x->csr->start[1] <= 50, "a folded row has no more entries than it had");
}

/* Both checks on one kind of graph. */
static void
check_kind(bool directed, bool weighted, int features)
{
	in_env(check_pairs(env, directed, weighted, features));
	in_env(check_links(env, directed, weighted, features));
}

int
main(void)
{
	for (int kind = 0; kind < 12; kind++)
		check_kind(kind % 2 == 1, kind / 2 % 2 == 1, kind / 4);
	in_env(check_leak(env));
	in_env(check_features(env));
	in_env(check_fold(env));
	return done_testing();
}
