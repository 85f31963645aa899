/*
 * gckm_kernels.c - kernels of the graph convolutional kernel machine, on landmarks.
 *
 * They follow from inner products of all nodes with the landmarks.  Features come a band
 * of columns at a time, sparse ones a band of points, so that neither op X nor a second matrix
 * of the nodes' size is made.
 */
#include "gckm.h"

#include "base/sort.h"
#include "numeric/accumulator.h"

#define TALL_ROWS (8 * GP_PANEL_ROWS)	/* a panel whose work is little */
#define BAND_COLUMNS 64			/* columns of features, or landmarks, worked on at once */
#define FIRST_JITTER 1e-12		/* of the points' kernel, relative to its diagonal, which is 1 */
#define LAST_JITTER 1e-3
#define TYPICAL 0.8				/* gamma times the root mean squared distance */

/* The labelled ones, whose covariances count most, and a random choice of the others: a score in
 * the embedding that degree would not cover. */
gp_points
gp_points_choose(gp_env *env, int64_t nodes, int64_t nlabelled, const int32_t *labelled,
				 int64_t count, uint64_t seed)
{
	gp_points	p = {gp_min64(count, nodes), NULL};
	int64_t		least = gp_min64(nodes - nlabelled, p.n - p.n * 3 / 4);	/* without a label */
	int64_t		with_label = gp_min64(nlabelled, p.n - least);
	int64_t		left[] = {p.n - with_label, with_label};
	int32_t    *order = gp_shuffle(env, nodes, seed, NULL);
	int64_t		k = 0;

	p.node = gp_alloc_values(env, p.n, sizeof(int32_t));
	for (int64_t i = 0; i < gp_items(env, nodes) && k < p.n; i++)
	{
		int64_t    *of_kind = &left[gp_sorted_find(labelled, nlabelled, order[i]) >= 0];

		if (*of_kind > 0)
			p.node[k++] = order[i];
		*of_kind -= *of_kind > 0;
	}
	gp_free(env, order);
	if (!env->dry)
		gp_sort(env, p.node, p.n, sizeof(int32_t), gp_compare_int32, NULL);
	return p;
}

void
gp_rbf(gp_device *dev, gp_matrix products, gp_matrix norm, const gp_points *points, double sigma2)
{
	gp_stage	stage = {.map = GP_MAP_RBF,.p1 = 0.5 / sigma2,.scale = 1.0,.diag = norm};

	dev->map(dev, &stage, products, 0, points->node);
}

double
gp_points_factor(gp_device *dev, gp_matrix k, const gp_points *points)
{
	gp_matrix	own = gp_gather(dev, k, points->node, points->n);
	gp_matrix	root = dev->create(dev, points->n, points->n, GP_DOUBLE);
	double		jitter = gp_covariance_root(dev, own, 1.0, FIRST_JITTER, LAST_JITTER, root,
											"the landmarks", "Scale the features to ordinary sizes.");
	dev->destroy(dev, &own);
	dev->trsm(dev, false, true, root, k);
	dev->destroy(dev, &root);
	return jitter;
}

/* ---- features ---- */

static void
add_row(const gp_csr *x, int64_t i, double factor, gp_accumulator *row)
{
	for (int64_t k = x->start[i]; k < x->start[i + 1]; k++)
		*gp_accumulator_at(row, x->col[k]) += factor * ((const double *) x->value)[k];
}

/* Squared lengths of the rows of op X, one row at a time; returns the variance. */
static double
sparse_norms(gp_device *dev, const gp_csr *x, const gp_csr *op, gp_matrix norm)
{
	gp_env	   *env = dev->env;
	int64_t		n = x->rows;
	double	   *length = gp_alloc_values(env, n, sizeof(double));
	double	   *mean = gp_alloc_zero(env, x->cols, sizeof(double));
	gp_accumulator row = gp_accumulator_open(env, x->cols);
	double		variance = 0.0;
	int64_t		work = 0;

	GP_EACH(env, i, gp_items(env, n), work)
	{
		gp_accumulator_begin(&row, x->cols);
		if (op == NULL)
			add_row(x, i, 1.0, &row);
		for (int64_t e = op ? op->start[i] : 0; op && e < op->start[i + 1]; e++)
			add_row(x, op->col[e], ((const double *) op->value)[e], &row);
		work += row.n + 1;
		length[i] = 0.0;
		for (int64_t k = 0; k < row.n; k++)
		{
			double		value = *gp_accumulator_at(&row, row.touched[k]);

			length[i] += value * value;
			mean[row.touched[k]] += value / (double) n;
		}
		variance += length[i] / (double) n;
	}
	for (int64_t c = 0; c < gp_items(env, x->cols); c++)
		variance -= mean[c] * mean[c];
	dev->upload(dev, norm, gp_matrix_wrap(length, n, 1, GP_DOUBLE));
	gp_accumulator_close(&row);
	gp_free_all(env, mean, length);
	return fmax(variance, 0.0);
}

/* Products of sparse features with the points: X' at these, then X, then op. */
static double
sparse_products(gp_device *dev, const gp_csr *from, const gp_csr *op, const double *unit,
				const gp_points *points, gp_matrix products, gp_matrix norm)
{
	gp_env	   *env = dev->env;
	int64_t		width = gp_min64(points->n, BAND_COLUMNS);
	gp_csr		x = gp_csr_as(env, from, GP_DOUBLE);
	double	   *value = x.value;
	gp_matrix	right = {0};
	gp_matrix	middle = {0};

	GP_EACH(env, k, gp_items(env, unit ? gp_csr_entries(from) : 0), k)
		value[k] *= unit[from->col[k]];
	right = dev->create(dev, x.cols, width, GP_DOUBLE);
	if (op)
		middle = dev->create(dev, x.rows, width, GP_DOUBLE);
	for (gp_band band = gp_band_first(points->n, width); band.count > 0; gp_band_next(&band))
	{
		const int32_t *node = points->node + band.first;
		gp_matrix	out = gp_matrix_cols(products, band.first, band.count);
		gp_matrix	r = gp_matrix_cols(right, 0, band.count);
		gp_matrix	m = op ? gp_matrix_cols(middle, 0, band.count) : out;

		if (op)
			dev->csr_product_rows(dev, r, 1.0, op, &x, node, band.count);
		else
			dev->csr_rows(dev, r, &x, node, band.count);
		dev->spmm(dev, 1.0, &x, r, 0.0, m);
		if (op)
			dev->spmm(dev, 1.0, op, m, 0.0, out);
	}
	gp_destroy_all(dev, &middle, &right);
	double		variance = sparse_norms(dev, &x, op, norm);
	gp_free(env, value);
	return variance;
}

/* Adds the products of some columns, which lose their mean; at is m x their number. */
static void
add_columns(gp_device *dev, gp_matrix a, const gp_points *points, bool first, gp_matrix at,
			gp_matrix part, gp_matrix products, gp_matrix norm)
{
	gp_centre_rows(dev, a);
	dev->gather_rows(dev, at, a, points->node);
	/* in bands: a product of so few columns moves more memory than a device reckons with */
	for (gp_band band = gp_band_first(a.rows, TALL_ROWS); band.count > 0; gp_band_next(&band))
		dev->gemm(dev, false, true, 1.0, gp_matrix_rows(a, band.first, band.count), at,
				  first ? 0.0 : 1.0, gp_matrix_rows(products, band.first, band.count));
	dev->row_dots(dev, part, a, a);
	dev->axpby(dev, 1.0, part, first ? 0.0 : 1.0, norm);
}

static double
dense_products(gp_device *dev, const gp_features *x, const gp_csr *op, const double *unit,
			   const gp_points *points, gp_matrix products, gp_matrix norm)
{
	gp_env	   *env = dev->env;
	int64_t		n = x->rows;
	int64_t		width = gp_min64(x->dims, BAND_COLUMNS);
	double	   *host = gp_alloc_values(env, n, width * sizeof(double));
	gp_matrix	in = dev->create(dev, n, width, GP_DOUBLE);
	gp_matrix	at = dev->create(dev, points->n, width, GP_DOUBLE);
	gp_matrix	part = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	out = {0};

	if (op)
		out = dev->create(dev, n, width, GP_DOUBLE);
	for (gp_band band = gp_band_first(x->dims, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	a = gp_matrix_cols(in, 0, band.count);

		GP_EACH(env, i, gp_items(env, n), i * band.count)
			for (int64_t j = 0; j < band.count; j++)
				host[i * band.count + j] = gp_number_at(x->dense, x->type,
														i * x->dims + band.first + j) *
					(unit ? unit[band.first + j] : 1.0);
		dev->upload(dev, a, gp_matrix_wrap(host, n, band.count, GP_DOUBLE));
		if (op)
		{
			dev->spmm(dev, 1.0, op, a, 0.0, gp_matrix_cols(out, 0, band.count));
			a = gp_matrix_cols(out, 0, band.count);
		}
		add_columns(dev, a, points, band.first == 0, gp_matrix_cols(at, 0, band.count), part,
					products, norm);
	}
	gp_destroy_all(dev, &out, &part, &at, &in);
	gp_free(env, host);
	return gp_mean_entry(dev, norm);
}

double
gp_rows_products(gp_device *dev, gp_matrix a, const gp_points *points, gp_matrix products,
				 gp_matrix norm)
{
	gp_matrix	at = dev->create(dev, points->n, a.cols, GP_DOUBLE);
	gp_matrix	part = dev->create(dev, a.rows, 1, GP_DOUBLE);

	add_columns(dev, a, points, true, at, part, products, norm);
	gp_destroy_all(dev, &part, &at);
	return gp_mean_entry(dev, norm);
}

double
gp_feature_products(gp_device *dev, const gp_features *x, const gp_csr *op, const gp_points *points,
					gp_matrix products, gp_matrix norm)
{
	gp_env	   *env = dev->env;
	/* each column's mean, and one over its deviation; 0 for a constant */
	double	   *moment = op ? NULL : env->dry ? gp_alloc_values(env, x->dims, 2 * sizeof(double))
		: gp_features_moments(env, x);
	double	   *unit = moment ? moment + gp_items(env, x->dims) : NULL;

	for (int64_t c = 0; unit && c < gp_items(env, x->dims); c++)
		unit[c] = unit[c] > 0.0 ? 1.0 / unit[c] : 0.0;
	double		variance = x->csr ? sparse_products(dev, x->csr, op, unit, points, products, norm) :
		dense_products(dev, x, op, unit, points, products, norm);

	gp_free(env, moment);
	return variance;
}

/* ---- the nodes' own features ---- */

void
gp_own_view(gp_device *dev, const gp_features *x, const gp_points *points, double gamma,
			gp_matrix work, gp_matrix norm, gp_matrix k)
{
	gp_env	   *env = dev->env;
	int64_t		m = points->n;
	int64_t		height = gp_min64(k.rows, GP_PANEL_ROWS);
	double	   *product = gp_alloc_values(env, height, m * sizeof(double));
	double	   *kernel = gp_alloc_values(env, height, m * sizeof(double));
	double		variance = gp_feature_products(dev, x, NULL, points, work, norm);
	double	   *length = gp_download(dev, norm);

	if (!(gamma > 0.0))
		gamma = variance > 0.0 ? TYPICAL / sqrt(2.0 * variance) : 1.0;
	for (gp_band band = gp_band_first(k.rows, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(k, band.first, band.count);

		env->check_interrupts(env);
		dev->download(dev, gp_matrix_wrap(product, band.count, m, GP_DOUBLE),
					  gp_matrix_rows(work, band.first, band.count));
		dev->download(dev, gp_matrix_wrap(kernel, band.count, m, GP_DOUBLE), part);
		for (int64_t e = 0; e < gp_items(env, band.count * m); e++)
		{
			int64_t		i = band.first + e / m;
			int32_t		a = points->node[e % m];
			double		square = i == a ? 0.0 : fmax(length[i] + length[a] - 2.0 * product[e], 0.0);

			kernel[e] *= exp(-gamma * sqrt(square));
		}
		dev->upload(dev, part, gp_matrix_wrap(kernel, band.count, m, GP_DOUBLE));
	}
	gp_free_all(env, kernel, product, length);
}
