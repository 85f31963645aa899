/*
 * inputs.c - a few dense numbers of each node, for networks to start from.
 *
 * Of features: their principal components.  Of a graph alone: the leading singular vectors of
 * DeepWalk's matrix, log(vol / T sum_{r=1..T} (D^-1/2 S^r D^-1/2)) (Qiu et al. 2018), where it is more
 * than 0.  On a large graph some columns stand for all (Drineas, Kannan and Mahoney 2006).
 */
#include "train/gckm/gckm.h"
#include "graph/random_walks.h"

#include <math.h>

#define OVERSAMPLED 8			/* directions more than components (Halko, Martinsson and Tropp 2011) */
#define PASSES 2				/* over the features, beside the first */
#define WALK_LENGTH 10			/* T */
#define WALK_BLOCK 64			/* columns at once */
#define WALK_ENTRIES 1e8		/* of a step of all columns */
#define LEAST_COLUMNS 128
#define LOOK_ROWS 1024
#define LEAST_SHARE 1e-10		/* of the largest eigenvalue: what is smaller is rounding */

/* x (n x count) = X v, or X' v. */
static void
times(gp_device *dev, const gp_csr *csr, gp_matrix dense, bool turned, gp_matrix v, gp_matrix x)
{
	if (csr)
		dev->spmm(dev, 1.0, csr, v, 0.0, x);
	else
		dev->gemm(dev, turned, false, 1.0, dense, v, 0.0, x);
}

/* The lengths of columns, on the host. */
static void
column_lengths(gp_device *dev, gp_matrix z, double *length)
{
	gp_matrix	turned = dev->create(dev, z.cols, z.rows, z.type);
	gp_matrix	dots = dev->create(dev, z.cols, 1, GP_DOUBLE);

	dev->transpose(dev, turned, z);
	dev->row_dots(dev, dots, turned, turned);
	dev->download(dev, gp_matrix_wrap(length, z.cols, 1, GP_DOUBLE), dots);
	for (int64_t k = 0; k < z.cols && !dev->env->dry; k++)
		length[k] = sqrt(length[k]);
	dev->destroy(dev, &dots);
	dev->destroy(dev, &turned);
}

/* h with the orders of its columns turned round, and each times length^power; h is destroyed. */
static gp_matrix
largest_first(gp_device *dev, gp_matrix *h, const double *length, double power)
{
	int64_t		n = h->cols;
	gp_matrix	turn = dev->create(dev, n, n, h->type);
	gp_matrix	out = dev->create(dev, h->rows, n, h->type);
	double	   *host = gp_alloc_zero(dev->env, n * n, sizeof(double));

	for (int64_t k = 0; k < n && !dev->env->dry; k++)
		host[k * n + n - 1 - k] = pow(length[k], power);
	dev->upload(dev, turn, gp_matrix_wrap(host, n, n, GP_DOUBLE));
	dev->gemm(dev, false, false, 1.0, *h, turn, 0.0, out);
	gp_free(dev->env, host);
	dev->destroy(dev, &turn);
	dev->destroy(dev, h);
	return out;
}

/* The directions that the first products are with. */
static void
draw_directions(gp_device *dev, gp_matrix m, uint64_t seed)
{
	gp_matrix	none = {0};

	dev->each(dev, &(gp_each) {.op = GP_EACH_NORMAL,.factor = 1.0,.seed = gp_hash(seed)}, m, none, none, none);
}

/*
 * Orthonormal columns h that span what X, centred, has most of: those of q, which is
 * multiplied with X X' so many times.
 */
static void
find_range(gp_device *dev, const gp_features *x, const gp_csr *turned, gp_matrix dense, uint64_t seed,
		   gp_matrix h, gp_matrix z)
{
	gp_matrix	q = dev->create(dev, h.rows, h.cols, GP_DOUBLE);
	gp_matrix	product = dev->create(dev, h.rows, h.cols, x->type);

	draw_directions(dev, z, seed);
	for (int pass = 0; pass <= PASSES; pass++)
	{
		times(dev, x->csr, dense, false, z, product);
		dev->copy(dev, q, product);
		gp_principal_components(dev, q, h);
		dev->copy(dev, product, h);
		times(dev, turned, dense, true, product, z);
	}
	dev->destroy(dev, &product);
	dev->destroy(dev, &q);
}

/* The leading principal components of features. */
gp_matrix
gp_inputs_of_features(gp_device *dev, const gp_features *x, int64_t count, uint64_t seed)
{
	gp_env	   *env = dev->env;
	int64_t		all = gp_min64(count + OVERSAMPLED, gp_min64(x->dims, GP_SYEV_MAX));
	gp_csr	   *turned = x->csr ? gp_csr_transpose(env, x->csr) : NULL;
	gp_matrix	dense = {0};
	gp_matrix	h = dev->create(dev, x->rows, all, GP_DOUBLE);
	gp_matrix	z = dev->create(dev, x->dims, all, x->type);
	double	   *length = gp_alloc_figures(env, all, sizeof(double));
	gp_matrix	sorted;
	gp_matrix	out = dev->create(dev, x->rows, count, GP_DOUBLE);

	if (x->csr == NULL)
	{
		dense = dev->create(dev, x->rows, x->dims, x->type);
		dev->upload(dev, dense, gp_matrix_wrap(x->dense, x->rows, x->dims, x->type));
	}
	find_range(dev, x, turned, dense, seed, h, z);
	column_lengths(dev, z, length);
	sorted = largest_first(dev, &h, length, 1.0);
	dev->fill(dev, out, 0.0);
	dev->copy(dev, gp_matrix_cols(out, 0, gp_min64(count, all)), gp_matrix_cols(sorted, 0, gp_min64(count, all)));
	dev->destroy(dev, &sorted);
	gp_free(env, length);
	dev->destroy(dev, &z);
	dev->destroy(dev, &dense);
	gp_csr_free(env, turned);
	return out;
}

/* The columns of DeepWalk's matrix that stand for all: one node of each of so many equal parts. */
static int32_t *
choose_columns(gp_env *env, int64_t nodes, int64_t count, uint64_t seed)
{
	int32_t    *node = gp_alloc_array(env, count, sizeof(int32_t));

	for (int64_t k = 0; k < count; k++)
	{
		double		at = (double) k + (count < nodes ? gp_each_uniform(gp_hash(seed), (uint64_t) k) : 0.0);

		node[k] = (int32_t) gp_min64((int64_t) (at * (double) nodes / (double) count), nodes - 1);
	}
	return node;
}

/* The degrees' inverse roots, and their sum, the volume. */
static double *
inverse_roots(gp_env *env, const gp_graph *graph, double *volume)
{
	gp_csr	   *w = gp_graph_symmetric(env, graph);
	double	   *root = gp_alloc_zero(env, w->rows, sizeof(double));
	int64_t		next = 0;

	*volume = 0.0;
	for (int64_t i = 0; i < w->rows; i++)
	{
		gp_poll(env, w->start[i] + i, &next);
		for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
			root[i] += ((double *) w->value)[k];
		*volume += root[i];
		root[i] = root[i] > 0.0 ? 1.0 / sqrt(root[i]) : 0.0;
	}
	gp_csr_free(env, w);
	return root;
}

/* A block of the matrix's columns from the sums of powers of S. */
static void
take_logarithms(gp_device *dev, gp_matrix sum, const int32_t *node, const double *root, double volume, gp_matrix out)
{
	gp_env	   *env = dev->env;
	double	   *host = gp_alloc_array(env, LOOK_ROWS * sum.cols, sizeof(double));

	for (gp_band band = gp_band_first(sum.rows, LOOK_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_wrap(host, band.count, sum.cols, GP_DOUBLE);

		env->check_interrupts(env);
		dev->download(dev, part, gp_matrix_rows(sum, band.first, band.count));
		for (int64_t k = 0; k < band.count * sum.cols && !env->dry; k++)
		{
			double		factor = volume / WALK_LENGTH * root[band.first + k / sum.cols] * root[node[k % sum.cols]];

			host[k] = log(fmax(factor * host[k], 1.0));
		}
		dev->upload(dev, gp_matrix_rows(out, band.first, band.count), part);
	}
	gp_free(env, host);
}

/* Some columns of the matrix; s is half of S = D^-1/2 W D^-1/2. */
static void
walk_columns(gp_device *dev, const gp_csr *s, const int32_t *node, const double *root, double volume, gp_matrix out)
{
	gp_matrix	v = dev->create(dev, s->rows, out.cols, GP_FLOAT);
	gp_matrix	next = dev->create(dev, s->rows, out.cols, GP_FLOAT);
	gp_matrix	sum = dev->create(dev, s->rows, out.cols, GP_FLOAT);
	int32_t		col[WALK_BLOCK];
	double		one[WALK_BLOCK];

	for (int64_t k = 0; k < out.cols; k++)
	{
		col[k] = (int32_t) k;
		one[k] = 1.0;
	}
	dev->fill(dev, v, 0.0);
	dev->put(dev, v, out.cols, node, col, one);
	dev->fill(dev, sum, 0.0);
	for (int r = 1; r <= WALK_LENGTH; r++)
	{
		gp_matrix	old = v;

		dev->spmm(dev, 2.0, s, v, 0.0, next);
		dev->axpby(dev, 1.0, next, 1.0, sum);
		v = next;
		next = old;
	}
	take_logarithms(dev, sum, node, root, volume, out);
	dev->destroy(dev, &sum);
	dev->destroy(dev, &next);
	dev->destroy(dev, &v);
}

/* The columns of the matrix that are computed. */
static int64_t
columns_count(const gp_graph *graph)
{
	double		most = WALK_ENTRIES / fmax(1.0, (double) graph->start[graph->nodes]);
	int64_t		count = most > GP_SYEV_MAX ? GP_SYEV_MAX : gp_max64((int64_t) most, LEAST_COLUMNS);

	return gp_min64(count, graph->nodes);
}

/* The leading singular vectors of DeepWalk's matrix, each times the root of its value. */
gp_matrix
gp_inputs_of_walks(gp_device *dev, const gp_graph *graph, int64_t count, uint64_t seed)
{
	gp_env	   *env = dev->env;
	int64_t		n = graph->nodes;
	int64_t		m = columns_count(graph);
	int32_t    *node = choose_columns(env, n, m, seed);
	gp_csr	   *s = gp_walk_matrix(env, graph, 1.0, GP_FLOAT);
	double		volume;
	double	   *root = inverse_roots(env, graph, &volume);
	gp_matrix	q = dev->create(dev, n, m, GP_DOUBLE);
	gp_matrix	h = dev->create(dev, n, count, GP_DOUBLE);
	gp_matrix	z = dev->create(dev, m, count, GP_DOUBLE);
	double	   *length = gp_alloc_figures(env, count, sizeof(double));

	for (gp_band band = gp_band_first(m, WALK_BLOCK); band.count > 0; gp_band_next(&band))
		walk_columns(dev, s, node + band.first, root, volume, gp_matrix_cols(q, band.first, band.count));
	gp_principal_components(dev, q, h);
	dev->gemm(dev, true, false, 1.0, q, h, 0.0, z);
	column_lengths(dev, z, length);
	h = largest_first(dev, &h, length, 0.5);
	gp_free(env, length);
	dev->destroy(dev, &z);
	dev->destroy(dev, &q);
	gp_free(env, root);
	gp_csr_free(env, s);
	gp_free(env, node);
	return h;
}

/* gram becomes its eigenvectors, scaled the same over the roots of their values; what has no value is 0. */
static void
inverse_root(gp_device *dev, gp_matrix gram, gp_matrix scaled)
{
	int64_t		n = gram.cols;
	gp_matrix	w = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	diagonal = dev->create(dev, n, n, GP_DOUBLE);
	double	   *value = gp_alloc_zero(dev->env, n, sizeof(double));

	dev->syev(dev, gram, w);
	dev->download(dev, gp_matrix_wrap(value, n, 1, GP_DOUBLE), w);
	for (int64_t k = 0; k < n; k++)
		value[k] = value[k] > LEAST_SHARE * value[n - 1] ? 1.0 / sqrt(value[k]) : 0.0;
	dev->fill(dev, diagonal, 0.0);
	dev->upload(dev, gp_matrix_diagonal(diagonal), gp_matrix_wrap(value, n, 1, GP_DOUBLE));
	dev->gemm(dev, false, false, 1.0, gram, diagonal, 0.0, scaled);
	gp_free(dev->env, value);
	dev->destroy(dev, &diagonal);
	dev->destroy(dev, &w);
}

/* q R for the orthogonal R that brings some of its rows nearest to onto (Schonemann 1966); q is destroyed. */
gp_matrix
gp_inputs_turn(gp_device *dev, gp_matrix *q, gp_matrix some, gp_matrix onto)
{
	int64_t		n = q->cols;
	gp_matrix	m = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	gram = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	scaled = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	root = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	out = dev->create(dev, q->rows, n, GP_DOUBLE);

	dev->gemm(dev, true, false, 1.0, some, onto, 0.0, m);
	dev->gemm(dev, true, false, 1.0, m, m, 0.0, gram);
	inverse_root(dev, gram, scaled);
	/* M (M'M)^-1/2 */
	dev->gemm(dev, false, true, 1.0, scaled, gram, 0.0, root);
	dev->gemm(dev, false, false, 1.0, m, root, 0.0, gram);
	dev->gemm(dev, false, false, 1.0, *q, gram, 0.0, out);
	dev->destroy(dev, &root);
	dev->destroy(dev, &scaled);
	dev->destroy(dev, &gram);
	dev->destroy(dev, &m);
	dev->destroy(dev, q);
	return out;
}
