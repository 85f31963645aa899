/*
 * cosines.c - cosines of the features A^k X of a pair's ends.
 *
 * Rows are centred: neighbours of any two nodes resemble the mean, and the
 * cosine should not see that.  A^k X is never formed.  For a source i the column
 * w = X' A^k e_i is the row of A^k X, and A^k X w holds its products with the
 * rows of all nodes.  <x_i - m, x_j - m> = <x_i, x_j> - <x_i, m> - <x_j, m> + |m|^2.
 *
 * Where a link is cut both ends' rows change, so both get a column of their own
 * and their product is taken directly.
 */
#include "scores.h"

#define FEATURE_BLOCK 128		/* features whose statistics are taken at once */
/* of a centred row, relative to the row and the mean: else it has none */
#define SMALLEST_NORM 1e-6

static gp_matrix
dense_features(const gp_link_context *f)
{
	return gp_matrix_wrap(f->x->dense, f->n, f->x->dims, GP_FLOAT);
}

/* out = X m, or X' m when turned. */
static void
features_times(gp_link_context *f, bool turned, gp_matrix m, gp_matrix out)
{
	if (f->xt)
		f->dev->spmm(f->dev, 1.0, turned ? f->xt : f->x->csr, m, 0.0, out);
	else
		f->dev->gemm(f->dev, turned, false, 1.0, dense_features(f), m, 0.0, out);
}

/* m = A m; spare is of its shape. */
static void
replace_by_product(gp_link_context *f, gp_matrix *m, gp_matrix *spare)
{
	gp_matrix	product = *spare;

	f->dev->spmm(f->dev, 1.0, f->adjacency, *m, 0.0, product);
	*spare = *m;
	*m = product;
}

/* The view of block k of b columns. */
static gp_matrix
part(gp_matrix m, int k, int64_t b)
{
	return gp_matrix_cols(m, k * b, b);
}

/*
 * The rows of A^k X at the sources as columns: w is dims x (powers b), block k first of power k.
 * u and v, n x b, are lost.
 */
static void
source_rows(gp_link_context *f, int32_t sources, const int32_t *source, const gp_link_cut *cuts,
			gp_matrix w, gp_matrix u, gp_matrix v)
{
	if (f->xt)
		f->dev->csr_rows(f->dev, part(w, 0, sources), f->x->csr, source, sources);
	else
	{
		gp_matrix	rows = f->dev->create(f->dev, sources, f->x->dims, GP_FLOAT);

		f->dev->gather_rows(f->dev, rows, dense_features(f), source);
		f->dev->transpose(f->dev, part(w, 0, sources), rows);
		f->dev->destroy(f->dev, &rows);
	}
	if (cuts || f->xt == NULL)
		gp_link_cut_columns(f, f->adjacency, sources, source, v, u, cuts);
	for (int k = 1; k < GP_LINK_POWERS; k++)
	{
		bool		first = k == 1 && cuts == NULL;
		gp_matrix	last = u;

		if (first && f->xt)
			gp_link_first_product(f, f->adjacency, f->x->csr, f->xt, source, u,
								  part(w, k, sources));
		else
			features_times(f, true, u, part(w, k, sources));
		if (k + 1 == GP_LINK_POWERS)
			break;
		if (first)
			gp_link_first_product(f, f->adjacency, f->adjacency, f->adjacency, source, u, v);
		else
			gp_link_cut_spmm(f, f->adjacency, 1.0, u, 0.0, v, cuts);
		u = v;
		v = last;
	}
}

/*
 * The products of power k's rows at a block's pairs: A^k X w, its last factor in
 * the rows of the pairs alone.  z and y are n x b.
 */
static void
power_products(gp_link_context *f, const gp_link_block *block, int k, gp_matrix w, gp_matrix z,
			   gp_matrix y, double *product)
{
	if (k == 0 && f->xt)
	{
		gp_link_last_product(f, block, f->x->csr, w, product);
		return;
	}
	features_times(f, false, w, z);
	if (k == 0)
	{
		f->dev->take(f->dev, z, block->n, block->dst, block->slot, product);
		return;
	}
	for (int step = 1; step < k; step++)
		replace_by_product(f, &z, &y);
	gp_link_last_product(f, block, f->adjacency, z, product);
}

/* Pairs of the graph as it is: what is known of a node stands together. */
static void
cosines_of_columns(gp_link_context *f, const gp_link_block *block, double *out)
{
	gp_device  *dev = f->dev;
	int32_t		b = block->sources;
	int64_t		powers = GP_LINK_POWERS;
	gp_matrix	w = dev->create(dev, f->x->dims, powers * b, GP_FLOAT);
	gp_matrix	z = dev->create(dev, f->n, b, GP_FLOAT);
	gp_matrix	y = dev->create(dev, f->n, b, GP_FLOAT);
	double	   *product = gp_alloc_array(f->env, gp_size_mul(f->env, block->n, powers),
										 sizeof(double));

	source_rows(f, b, block->source, NULL, w, z, y);
	for (int k = 0; k < powers; k++)
		power_products(f, block, k, part(w, k, b), z, y, product + k * block->n);
	GP_EACH(f->env, e, gp_items(f->env, block->n), powers * e)
		for (int k = 0; k < powers; k++)
		{
			int64_t		i = block->source[block->slot[e]] * powers + k;
			int64_t		j = block->dst[e] * powers + k;
			double		centred = product[k * block->n + e] - f->dot[i] - f->dot[j] +
				f->mean_square[k];
			bool		any = f->norm[i] > 0.0f && f->norm[j] > 0.0f;
			double		cosine = any ? centred / ((double) f->norm[i] * f->norm[j]) : 0.0;

			out[e * f->width + k] = fmax(-1.0, fmin(1.0, cosine));
		}
	gp_free(f->env, product);
	gp_destroy_all(dev, &w, &z, &y);
}

/* The cosine of columns ci and cj of the sources' rows, power k. */
static double
explicit_cosine(const gp_link_context *f, const float *w, int64_t ld, int64_t ci, int64_t cj,
				int k)
{
	const float *mean = f->mean + k * f->x->dims;
	double		product = 0.0;
	double		norm_i = 0.0;	/* squared, centred */
	double		norm_j = 0.0;
	double		row_i = 0.0;	/* squared */
	double		row_j = 0.0;

	for (int64_t d = 0; d < f->x->dims; d++)
	{
		double		a = w[d * ld + ci] - mean[d];
		double		b = w[d * ld + cj] - mean[d];

		product += a * b;
		norm_i += a * a;
		norm_j += b * b;
		row_i += (double) w[d * ld + ci] * w[d * ld + ci];
		row_j += (double) w[d * ld + cj] * w[d * ld + cj];
	}
	if (norm_i <= SMALLEST_NORM * SMALLEST_NORM * (row_i + f->mean_square[k]) ||
		norm_j <= SMALLEST_NORM * SMALLEST_NORM * (row_j + f->mean_square[k]))
		return 0.0;
	return fmax(-1.0, fmin(1.0, product / sqrt(norm_i * norm_j)));
}

/* Linked pairs: both ends as columns, each without the link. */
static void
cosines_of_ends(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts,
				double *out)
{
	gp_device  *dev = f->dev;
	int32_t		b = block->sources;
	int64_t		ld = (int64_t) GP_LINK_POWERS * 2 * b;
	gp_matrix	w = f->dev->create(f->dev, f->x->dims, ld, GP_FLOAT);
	gp_matrix	u = dev->create(dev, f->n, 2 * b, GP_FLOAT);
	gp_matrix	v = dev->create(dev, f->n, 2 * b, GP_FLOAT);
	float	   *host = gp_alloc_values(f->env, (int64_t) gp_size_mul(f->env, f->x->dims, ld),
										sizeof(float));
	int32_t		source[2 * GP_LINK_BLOCK];
	gp_link_cut *both = gp_alloc_array(f->env, 2 * b, sizeof(gp_link_cut));

	for (int32_t t = 0; t < b; t++)
	{
		source[t] = block->source[t];
		source[b + t] = block->partner[t];
		both[t] = both[b + t] = cuts[t];
	}
	source_rows(f, 2 * b, source, both, w, u, v);
	gp_free(f->env, both);
	gp_destroy_all(dev, &u, &v);
	dev->download(dev, gp_matrix_wrap(host, f->x->dims, ld, GP_FLOAT), w);
	f->dev->destroy(f->dev, &w);
	for (int64_t e = 0; e < gp_items(f->env, block->n); e++)
	{
		f->env->check_interrupts(f->env);
		for (int k = 0; k < GP_LINK_POWERS; k++)
			out[e * f->width + k] = explicit_cosine(f, host, ld, k * 2 * b + block->slot[e],
													k * 2 * b + b + block->slot[e], k);
	}
	gp_free(f->env, host);
}

static void
compute(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *out)
{
	if (cuts)
		cosines_of_ends(f, block, cuts, out);
	else
		cosines_of_columns(f, block, out);
}

const gp_link_score_family gp_link_cosines = {
	.width = GP_LINK_POWERS,.needs_features = true,.compute = compute
};

/*
 * The mean rows and what they give with every row, by products with single columns: the mean row of
 * A^k X is X' A^k 1 / n.
 */
static void
mean_rows(gp_link_context *f)
{
	gp_device  *dev = f->dev;
	gp_matrix	weight = gp_filled(dev, f->n, 1, GP_FLOAT, 1.0 / (double) f->n);
	gp_matrix	mean = dev->create(dev, f->x->dims, 1, GP_FLOAT);
	gp_matrix	dot = dev->create(dev, f->n, 1, GP_FLOAT);
	gp_matrix	spare = dev->create(dev, f->n, 1, GP_FLOAT);

	for (int k = 0; k < GP_LINK_POWERS; k++)
	{
		if (k > 0)
			replace_by_product(f, &weight, &spare);
		features_times(f, true, weight, mean);
		dev->download(dev, gp_matrix_wrap(f->mean + k * f->x->dims, f->x->dims, 1, GP_FLOAT), mean);
		features_times(f, false, mean, dot);
		for (int step = 0; step < k; step++)
			replace_by_product(f, &dot, &spare);
		double	   *host = gp_download(dev, dot);
		for (int64_t i = 0; i < gp_items(f->env, f->n); i++)
			f->dot[i * GP_LINK_POWERS + k] = (float) host[i];
		gp_free(f->env, host);
	}
	gp_destroy_all(dev, &weight, &mean, &dot, &spare);
}

/* |row - mean| of every node, from |row|^2. */
static void
finish_statistics(gp_link_context *f, const double *squares)
{
	for (int k = 0; k < gp_items(f->env, GP_LINK_POWERS); k++)
	{
		double		mean_square = 0.0;

		for (int64_t d = 0; d < f->x->dims; d++)
			mean_square += (double) f->mean[k * f->x->dims + d] * f->mean[k * f->x->dims + d];
		for (int64_t i = 0; i < f->n; i++)
		{
			double		square = squares[i * GP_LINK_POWERS + k];
			double		dot = f->dot[i * GP_LINK_POWERS + k];
			double		norm = square - 2.0 * dot + mean_square;
			bool		none = norm <= SMALLEST_NORM * (square + mean_square);

			f->norm[i * GP_LINK_POWERS + k] = none ? 0.0f : (float) sqrt(norm);
		}
	}
}

void
gp_link_feature_statistics(gp_link_context *f)
{
	gp_device  *dev = f->dev;
	gp_env	   *env = f->env;
	int64_t		entries = (int64_t) gp_size_mul(env, f->n, GP_LINK_POWERS);
	int32_t		index[FEATURE_BLOCK];

	f->mean = gp_alloc_values(env, (int64_t) gp_size_mul(env, f->x->dims, GP_LINK_POWERS),
							   sizeof(float));
	f->dot = gp_alloc_values(env, entries, sizeof(float));
	f->norm = gp_alloc_values(env, entries, sizeof(float));
	double	   *square = gp_alloc_values(env, entries, sizeof(double));	/* |row|^2 */

	memset(square, 0, gp_items(env, entries) * sizeof(double));
	mean_rows(f);
	for (gp_band band = gp_band_first(f->x->dims, FEATURE_BLOCK); band.count > 0;
		 gp_band_next(&band))
	{
		gp_matrix	x = dev->create(dev, f->n, band.count, GP_FLOAT);
		gp_matrix	y = dev->create(dev, f->n, band.count, GP_FLOAT);

		for (int64_t c = 0; c < band.count; c++)
			index[c] = (int32_t) (band.first + c);
		if (f->xt)
			dev->csr_rows(dev, x, f->xt, index, band.count);
		else
			dev->copy(dev, x, gp_matrix_cols(dense_features(f), band.first, band.count));
		for (int k = 0; k < GP_LINK_POWERS; k++)
		{
			if (k > 0)
				replace_by_product(f, &x, &y);
			double	   *added = gp_row_products(dev, x, x);
			for (int64_t i = 0; i < gp_items(env, f->n); i++)
				square[i * GP_LINK_POWERS + k] += added[i];
			gp_free(env, added);
		}
		gp_destroy_all(dev, &x, &y);
	}
	finish_statistics(f, square);
	gp_free(env, square);
}
