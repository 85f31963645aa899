/*
 * gckm_view.c - inner products of what nodes are compared by with that of the points.
 *
 * Features are taken a band of columns at a time, sparse ones a band of points, so
 * that neither op X nor a second matrix of the nodes' size is made.
 */
#include "gckm.h"

#include <math.h>
#include <string.h>

/* The reciprocal of every column's deviation; 0 for a constant one. */
static double *
column_units(gp_env *env, const gp_features *x)
{
	double	   *mean = gp_alloc_figures(env, x->dims, sizeof(double));
	double	   *unit = gp_alloc_figures(env, x->dims, 3 * sizeof(double));
	double	   *square = unit + x->dims;
	double	   *seen = square + x->dims;
	int64_t		entries = x->csr ? gp_csr_entries(x->csr) : x->rows * x->dims;
	const void *value = x->csr ? x->csr->value : x->dense;
	int64_t		next = 0;

	if (env->dry)
	{
		gp_free(env, mean);
		return unit;
	}
	memset(mean, 0, x->dims * sizeof(double));
	memset(unit, 0, 3 * x->dims * sizeof(double));
	for (int64_t k = 0; k < entries; k++)
	{
		gp_poll(env, k, &next);
		mean[x->csr ? x->csr->col[k] : k % x->dims] += gp_number_at(value, x->type, k) / (double) x->rows;
	}
	next = 0;
	for (int64_t k = 0; k < entries; k++)
	{
		int64_t		c = x->csr ? x->csr->col[k] : k % x->dims;
		double		away = gp_number_at(value, x->type, k) - mean[c];

		gp_poll(env, k, &next);
		square[c] += away * away;
		seen[c] += 1.0;
	}
	for (int64_t c = 0; c < x->dims; c++)
	{
		double		deviation = sqrt((square[c] + ((double) x->rows - seen[c]) * mean[c] * mean[c]) / (double) x->rows);

		unit[c] = deviation > 1e-12 * fabs(mean[c]) ? 1.0 / deviation : 0.0;
	}
	gp_free(env, mean);
	return unit;
}

/* The features' entries in double, by units where there are some. */
static void
widen_csr(gp_env *env, const gp_csr *from, const double *unit, gp_csr *to)
{
	int64_t		entries = gp_csr_entries(from);
	double	   *value = gp_alloc_figures(env, entries, sizeof(double));
	int64_t		next = 0;

	*to = *from;
	to->value = value;
	to->type = GP_DOUBLE;
	to->stamp = gp_csr_stamp();
	for (int64_t k = 0; k < entries && !env->dry; k++)
	{
		gp_poll(env, k, &next);
		value[k] = gp_number_at(from->value, from->type, k) * (unit ? unit[from->col[k]] : 1.0);
	}
}

/* Prepares a view. */
gp_view
gp_view_open(gp_device *dev, const gp_features *x, const gp_csr *op)
{
	gp_view		v = {.dev = dev,.x = x,.op = op};

	if (op == NULL)
		v.unit = column_units(dev->env, x);
	if (x->csr == NULL)
		return v;
	widen_csr(dev->env, x->csr, v.unit, &v.csr);
	gp_free(dev->env, v.unit);
	v.unit = NULL;
	return v;
}

/* Frees what a view holds. */
void
gp_view_close(gp_view *v)
{
	gp_free(v->dev->env, v->csr.value);
	gp_free(v->dev->env, v->unit);
}

/* ---- sparse features ---- */

/* Adds a multiple of row i of X to sum, and lists the columns that it may have made other than 0. */
static int64_t
add_row(const gp_csr *x, int32_t i, double factor, double *sum, int32_t *touched, int64_t n)
{
	const double *value = x->value;

	for (int64_t k = x->start[i]; k < x->start[i + 1]; k++)
	{
		int32_t		c = x->col[k];

		if (sum[c] == 0.0)
			touched[n++] = c;
		sum[c] += factor * value[k];
	}
	return n;
}

/* The row of op X that belongs to node i; returns how many columns were touched. */
static int64_t
add_rows(const gp_view *v, int32_t i, double *sum, int32_t *touched)
{
	const double *value;
	int64_t		n = 0;

	if (v->op == NULL)
		return add_row(&v->csr, i, 1.0, sum, touched, 0);
	value = v->op->value;
	for (int64_t e = v->op->start[i]; e < v->op->start[i + 1]; e++)
		n = add_row(&v->csr, v->op->col[e], value[e], sum, touched, n);
	return n;
}

/* The most entries that the rows of one node's neighbours have together. */
static int64_t
most_touched(const gp_view *v)
{
	const int64_t *start = v->csr.start;
	int64_t		most = 0;
	int64_t		next = 0;

	for (int64_t i = 0; i < v->csr.rows; i++)
	{
		int64_t		n = v->op ? 0 : start[i + 1] - start[i];

		gp_poll(v->dev->env, v->op ? v->op->start[i] : i, &next);
		for (int64_t e = v->op ? v->op->start[i] : 0; v->op && e < v->op->start[i + 1]; e++)
			n += start[v->op->col[e] + 1] - start[v->op->col[e]];
		most = gp_max64(most, n);
	}
	return most;
}

/* Squared lengths of the rows, one row at a time; returns the variance. */
static double
sparse_norms(const gp_view *v, gp_matrix norm)
{
	gp_env	   *env = v->dev->env;
	int64_t		n = v->csr.rows;
	double	   *length = gp_alloc_figures(env, n, sizeof(double));
	double	   *sum = gp_alloc_figures(env, v->csr.cols, 2 * sizeof(double));
	double	   *mean = sum + v->csr.cols;
	int32_t    *touched = gp_alloc_figures(env, most_touched(v), sizeof(int32_t));
	double		variance = 0.0;
	int64_t		work = 0;
	int64_t		next = 0;

	if (!env->dry)
		memset(sum, 0, 2 * v->csr.cols * sizeof(double));
	for (int64_t i = 0; i < n && !env->dry; i++)
	{
		int64_t		count = add_rows(v, (int32_t) i, sum, touched);

		work += count + 1;
		gp_poll(env, work, &next);
		length[i] = 0.0;
		for (int64_t k = 0; k < count; k++)
		{
			double		value = sum[touched[k]];

			length[i] += value * value;
			mean[touched[k]] += value / (double) n;
			sum[touched[k]] = 0.0;
		}
		variance += length[i] / (double) n;
	}
	for (int64_t c = 0; c < v->csr.cols && !env->dry; c++)
		variance -= mean[c] * mean[c];
	v->dev->upload(v->dev, norm, gp_matrix_wrap(length, n, 1, GP_DOUBLE));
	gp_free(env, touched);
	gp_free(env, sum);
	gp_free(env, length);
	return fmax(variance, 0.0);
}

/* Products with the points: X' taken at them, then X, then op. */
static void
sparse_products(const gp_view *v, const gp_points *points, gp_matrix products)
{
	gp_device  *dev = v->dev;
	int64_t		width = gp_min64(points->n, GP_BAND_COLUMNS);
	gp_matrix	right = dev->create(dev, v->csr.cols, width, GP_DOUBLE);
	gp_matrix	middle = {0};

	if (v->op)
		middle = dev->create(dev, v->csr.rows, width, GP_DOUBLE);
	for (gp_band band = gp_band_first(points->n, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	out = gp_matrix_cols(products, band.first, band.count);
		gp_matrix	r = gp_matrix_cols(right, 0, band.count);
		gp_matrix	m = v->op ? gp_matrix_cols(middle, 0, band.count) : out;

		if (v->op)
			dev->csr_product_rows(dev, r, 1.0, v->op, &v->csr, points->node + band.first, band.count);
		else
			dev->csr_rows(dev, r, &v->csr, points->node + band.first, band.count);
		dev->spmm(dev, 1.0, &v->csr, r, 0.0, m);
		if (v->op)
			dev->spmm(dev, 1.0, v->op, m, 0.0, out);
	}
	dev->destroy(dev, &middle);
	dev->destroy(dev, &right);
}

/* ---- dense features ---- */

/* Columns first .. of X, by units where there are some, on the device. */
static void
upload_columns(const gp_view *v, int64_t first, double *host, gp_matrix to)
{
	const gp_features *x = v->x;
	gp_env	   *env = v->dev->env;
	int64_t		next = 0;

	for (int64_t i = 0; i < x->rows && !env->dry; i++)
	{
		gp_poll(env, i * to.cols, &next);
		for (int64_t j = 0; j < to.cols; j++)
			host[i * to.cols + j] = gp_number_at(x->dense, x->type, i * x->dims + first + j) *
				(v->unit ? v->unit[first + j] : 1.0);
	}
	v->dev->upload(v->dev, to, gp_matrix_wrap(host, x->rows, to.cols, GP_DOUBLE));
}

/* Adds the products of some columns, which lose their mean; at is m x their number. */
static void
add_columns(gp_device *dev, gp_matrix a, const gp_points *points, bool first, gp_matrix at,
			gp_matrix part, gp_matrix products, gp_matrix norm)
{
	gp_centre_rows(dev, a);
	dev->gather_rows(dev, at, a, points->node);
	/* in bands: a product of so few columns moves more memory than a device reckons with */
	for (gp_band band = gp_band_first(a.rows, GP_TALL_ROWS); band.count > 0; gp_band_next(&band))
		dev->gemm(dev, false, true, 1.0, gp_matrix_rows(a, band.first, band.count), at, first ? 0.0 : 1.0,
				  gp_matrix_rows(products, band.first, band.count));
	dev->row_dots(dev, part, a, a);
	dev->axpby(dev, 1.0, part, first ? 0.0 : 1.0, norm);
}

/* Products and norms of dense features. */
static double
dense_products(const gp_view *v, const gp_points *points, gp_matrix products, gp_matrix norm)
{
	gp_device  *dev = v->dev;
	int64_t		n = v->x->rows;
	int64_t		width = gp_min64(v->x->dims, GP_BAND_COLUMNS);
	double	   *host = gp_alloc_figures(dev->env, n, width * sizeof(double));
	gp_matrix	in = dev->create(dev, n, width, GP_DOUBLE);
	gp_matrix	at = dev->create(dev, points->n, width, GP_DOUBLE);
	gp_matrix	part = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	out = {0};

	if (v->op)
		out = dev->create(dev, n, width, GP_DOUBLE);
	for (gp_band band = gp_band_first(v->x->dims, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	a = gp_matrix_cols(in, 0, band.count);

		upload_columns(v, band.first, host, a);
		if (v->op)
		{
			gp_matrix	sum = gp_matrix_cols(out, 0, band.count);

			dev->spmm(dev, 1.0, v->op, a, 0.0, sum);
			a = sum;
		}
		add_columns(dev, a, points, band.first == 0, gp_matrix_cols(at, 0, band.count), part, products,
					norm);
	}
	dev->destroy(dev, &out);
	dev->destroy(dev, &part);
	dev->destroy(dev, &at);
	dev->destroy(dev, &in);
	gp_free(dev->env, host);
	return gp_sum(dev, norm) / (double) n;
}

/* Products and norms of the rows of a matrix. */
double
gp_rows_products(gp_device *dev, gp_matrix a, const gp_points *points, gp_matrix products,
				 gp_matrix norm)
{
	gp_matrix	at = dev->create(dev, points->n, a.cols, GP_DOUBLE);
	gp_matrix	part = dev->create(dev, a.rows, 1, GP_DOUBLE);

	add_columns(dev, a, points, true, at, part, products, norm);
	dev->destroy(dev, &part);
	dev->destroy(dev, &at);
	return gp_sum(dev, norm) / (double) a.rows;
}

/* Products and norms of a view. */
double
gp_view_products(const gp_view *v, const gp_points *points, gp_matrix products, gp_matrix norm)
{
	if (v->x->csr == NULL)
		return dense_products(v, points, products, norm);
	sparse_products(v, points, products);
	return sparse_norms(v, norm);
}
