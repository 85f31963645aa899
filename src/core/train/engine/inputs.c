/*
 * inputs.c - a few dense numbers of each node, for networks to start from.
 *
 * Of features: their principal components.  Of a graph alone: the leading singular vectors of
 * DeepWalk's matrix, log(vol / T sum_{r=1..T} (D^-1/2 S^r D^-1/2)) (Qiu et al. 2018), where it is
 * more than 0.  On a large graph some columns stand for all (Drineas, Kannan and Mahoney 2006).
 */
#include "train/train.h"

/* directions more than components (Halko, Martinsson and Tropp 2011) */
#define OVERSAMPLED 8
#define PASSES 2				/* over the features, beside the first */
#define WALK_LENGTH 10			/* T */
#define WALK_BLOCK 64			/* columns at once */
#define WALK_ENTRIES 1e8		/* of a step of all columns */
#define LEAST_COLUMNS 128
#define LOG_ROWS 1024			/* whose logarithms are computed between two polls */
#define LEAST_SHARE 1e-10		/* of the largest eigenvalue: what is smaller is rounding */

/* h with the order of its columns reversed, each times its length in z to a power; h is
 * destroyed. */
static gp_matrix
largest_first(gp_device *dev, gp_matrix *h, gp_matrix z, double power)
{
	int64_t		n = h->cols;
	gp_matrix	transposed = gp_transpose(dev, z);
	gp_matrix	turn = dev->create(dev, n, n, h->type);
	gp_matrix	out = dev->create(dev, h->rows, n, h->type);
	double	   *length = gp_row_products(dev, transposed, transposed);
	double	   *host = gp_alloc_zero(dev->env, n * n, sizeof(double));

	for (int64_t k = 0; k < gp_items(dev->env, n); k++)
		host[k * n + n - 1 - k] = pow(sqrt(length[k]), power);
	dev->upload(dev, turn, gp_matrix_wrap(host, n, n, GP_DOUBLE));
	dev->gemm(dev, false, false, 1.0, *h, turn, 0.0, out);
	gp_free_all(dev->env, host, length);
	gp_destroy_all(dev, &turn, &transposed, h);
	return out;
}

/* ---- features ---- */

/* x (n x count) = X v, or X' v. */
static void
times(gp_device *dev, const gp_csr *csr, gp_matrix dense, bool transposed, gp_matrix v, gp_matrix x)
{
	if (csr)
		dev->spmm(dev, 1.0, csr, v, 0.0, x);
	else
		dev->gemm(dev, transposed, false, 1.0, dense, v, 0.0, x);
}

gp_matrix
gp_inputs_of_features(gp_device *dev, const gp_features *x, int64_t count, uint64_t seed)
{
	gp_env	   *env = dev->env;
	gp_matrix	none = {0};
	int64_t		all = gp_min64(count + OVERSAMPLED, gp_min64(x->dims, GP_SYEV_MAX));
	gp_csr	   *transposed = x->csr ? gp_csr_transpose(env, x->csr) : NULL;
	gp_matrix	dense = {0};
	gp_matrix	h = dev->create(dev, x->rows, all, GP_DOUBLE);
	gp_matrix	z = dev->create(dev, x->dims, all, x->type);
	gp_matrix	out = dev->create(dev, x->rows, count, GP_DOUBLE);

	if (x->csr == NULL)
		dense = gp_upload(dev, gp_matrix_wrap(x->dense, x->rows, x->dims, x->type), x->type);
	/* orthonormal columns h that span what X, centred, has most of: random ones times X X', again
	 * and again */
	gp_matrix	q = dev->create(dev, h.rows, h.cols, GP_DOUBLE);
	gp_matrix	product = dev->create(dev, h.rows, h.cols, x->type);
	gp_elementwise normal = {.op = GP_ELEMENT_NORMAL,.factor = 1.0,.seed = gp_hash(seed)};
	dev->elementwise(dev, &normal, z, none, none, none);
	for (int pass = 0; pass <= PASSES; pass++)
	{
		times(dev, x->csr, dense, false, z, product);
		dev->copy(dev, q, product);
		gp_principal_components(dev, q, h);
		dev->copy(dev, product, h);
		times(dev, transposed, dense, true, product, z);
	}
	gp_destroy_all(dev, &product, &q);
	h = largest_first(dev, &h, z, 1.0);
	dev->fill(dev, out, 0.0);
	dev->copy(dev, gp_matrix_cols(out, 0, gp_min64(count, all)),
			  gp_matrix_cols(h, 0, gp_min64(count, all)));
	gp_destroy_all(dev, &h, &z, &dense);
	gp_csr_free(env, transposed);
	return out;
}

/* ---- random walks ---- */

/* Some columns of the matrix; s is S = D^-1/2 W D^-1/2. */
static void
walk_columns(gp_device *dev, const gp_csr *s, const int32_t *node, const double *root,
			 double volume, gp_matrix out)
{
	gp_env	   *env = dev->env;
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

		dev->spmm(dev, 1.0, s, v, 0.0, next);
		dev->axpby(dev, 1.0, next, 1.0, sum);
		v = next;
		next = old;
	}
	double	   *host = gp_alloc_array(env, LOG_ROWS * out.cols, sizeof(double));
	for (gp_band band = gp_band_first(sum.rows, LOG_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_wrap(host, band.count, sum.cols, GP_DOUBLE);

		env->check_interrupts(env);
		dev->download(dev, part, gp_matrix_rows(sum, band.first, band.count));
		for (int64_t k = 0; k < gp_items(env, band.count * sum.cols); k++)
		{
			double		factor = volume / WALK_LENGTH * root[band.first + k / sum.cols]
				* root[node[k % sum.cols]];

			host[k] = log(fmax(factor * host[k], 1.0));
		}
		dev->upload(dev, gp_matrix_rows(out, band.first, band.count), part);
	}
	gp_free(env, host);
	gp_destroy_all(dev, &sum, &next, &v);
}

gp_matrix
gp_inputs_of_walks(gp_device *dev, const gp_graph *graph, int64_t count, uint64_t seed)
{
	gp_env	   *env = dev->env;
	int64_t		n = graph->nodes;
	double		most = WALK_ENTRIES / fmax(1.0, (double) graph->start[n]);
	int64_t		m = gp_min64(n, most > GP_SYEV_MAX ? GP_SYEV_MAX
							 : gp_max64((int64_t) most, LEAST_COLUMNS));
	/* The columns of DeepWalk's matrix that stand for all: one node of each of so many equal
	 * parts. */
	int32_t    *node = gp_alloc_array(env, m, sizeof(int32_t));
	for (int64_t k = 0; k < m; k++)
	{
		double		at = (double) k;

		if (m < n)
			at += gp_element_uniform(gp_hash(seed), (uint64_t) k);

		node[k] = (int32_t) gp_min64((int64_t) (at * (double) n / (double) m), n - 1);
	}
	gp_csr	   *s = gp_graph_smooth(env, graph, 1.0, GP_FLOAT);
	/* the degrees' inverse roots, and the sum of degrees, the volume */
	gp_csr	   *w = gp_graph_symmetric(env, graph);
	double	   *root = gp_csr_row_sums(env, w);
	double		volume = 0.0;
	for (int64_t i = 0; i < n; i++)
	{
		volume += root[i];
		root[i] = root[i] > 0.0 ? 1.0 / sqrt(root[i]) : 0.0;
	}
	gp_csr_free(env, w);
	gp_matrix	q = dev->create(dev, n, m, GP_DOUBLE);
	gp_matrix	h = dev->create(dev, n, count, GP_DOUBLE);
	gp_matrix	z = dev->create(dev, m, count, GP_DOUBLE);

	for (gp_band band = gp_band_first(m, WALK_BLOCK); band.count > 0; gp_band_next(&band))
		walk_columns(dev, s, node + band.first, root, volume,
					 gp_matrix_cols(q, band.first, band.count));
	gp_principal_components(dev, q, h);
	dev->gemm(dev, true, false, 1.0, q, h, 0.0, z);
	h = largest_first(dev, &h, z, 0.5);
	gp_destroy_all(dev, &z, &q);
	gp_free(env, root);
	gp_csr_free(env, s);
	gp_free(env, node);
	return h;
}

/* ---- rotations ---- */

gp_matrix
gp_inputs_turn(gp_device *dev, gp_matrix *q, gp_matrix onto)
{
	int64_t		n = q->cols;
	gp_matrix	m = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	gram = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	scaled = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	root = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	w = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	out = dev->create(dev, q->rows, n, GP_DOUBLE);
	double	   *value = gp_alloc_zero(dev->env, n, sizeof(double));

	dev->gemm(dev, true, false, 1.0, *q, onto, 0.0, m);
	dev->gemm(dev, true, false, 1.0, m, m, 0.0, gram);
	dev->syev(dev, gram, w);
	dev->download(dev, gp_matrix_wrap(value, n, 1, GP_DOUBLE), w);
	for (int64_t k = 0; k < n; k++)
		value[k] = value[k] > LEAST_SHARE * value[n - 1] ? 1.0 / sqrt(value[k]) : 0.0;
	dev->fill(dev, root, 0.0);
	dev->upload(dev, gp_matrix_diagonal(root), gp_matrix_wrap(value, n, 1, GP_DOUBLE));
	dev->gemm(dev, false, false, 1.0, gram, root, 0.0, scaled);
	dev->gemm(dev, false, true, 1.0, scaled, gram, 0.0, root);
	dev->gemm(dev, false, false, 1.0, m, root, 0.0, gram);
	dev->gemm(dev, false, false, 1.0, *q, gram, 0.0, out);
	gp_free(dev->env, value);
	gp_destroy_all(dev, &w, &root, &scaled, &gram, &m, q);
	return out;
}
