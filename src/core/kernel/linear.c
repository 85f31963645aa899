/*
 * linear.c - the explicit factor of steps without activation.
 *
 * The factor Z has the columns of a step's terms (linear_terms.c) side by side.  Z stays sparse
 * while it has few non-zeros, so that wide, sparse features never become a dense matrix.
 */
#include "prepared.h"

#define DENSE_SHARE 0.25		/* of non-zeros, from which a factor is dense */
#define UPLOAD_ROWS 256
#define NUMBERS_HELD INT64_C(33554432)	/* of a factor's rows as columns at once, */
#define FEWEST_ROWS 16			/* or so many rows */

static gp_csr *
csr_copy_scaled(gp_env *env, const gp_csr *s, double factor)
{
	gp_csr	   *c = gp_csr_hstack(env, 1, (gp_csr *const *) &s);

	gp_csr_scale(c, factor);
	return c;
}

/* A sparse matrix as a dense one on the device, a block of rows at a time; frees the former. */
static gp_matrix
csr_to_device(gp_eval *ev, gp_csr *s)
{
	gp_device  *dev = ev->dev;
	gp_matrix	m = dev->create(dev, s->rows, s->cols, s->type);
	size_t		size = gp_type_size(s->type);
	int64_t		height = gp_min64(s->rows, UPLOAD_ROWS);
	char	   *block = gp_alloc_values(dev->env, (int64_t) gp_size_mul(ev->env, height, s->cols),
										 size);

	for (gp_band band = gp_band_first(dev->env->dry ? 0 : s->rows, height); band.count > 0;
		 gp_band_next(&band))
	{
		const int64_t *start = s->start + band.first;

		memset(block, 0, band.count * s->cols * size);
		for (int64_t i = 0; i < band.count; i++)
			for (int64_t k = start[i]; k < start[i + 1]; k++)
				memcpy(block + (i * s->cols + s->col[k]) * size, (char *) s->value + k * size,
					   size);
		dev->upload(dev, gp_matrix_rows(m, band.first, band.count),
					gp_matrix_wrap(block, band.count, s->cols, s->type));
	}
	gp_free(dev->env, block);
	gp_csr_free(ev->env, s);
	return m;
}

/* ---- a factor under construction, in one of its two forms ---- */

static void
form_densify(gp_eval *ev, gp_linear *f)
{
	if (f->csr == NULL)
		return;
	f->dense = csr_to_device(ev, f->csr);
	f->csr = NULL;
}

/* Fills a matrix with a leaf of dense features, times the term's factor. */
static void
fill_features(gp_eval *ev, const gp_linear_term *term, gp_matrix to)
{
	gp_device  *dev = ev->dev;
	const gp_features *x = ev->kernel->x;

	dev->upload(dev, to, gp_matrix_wrap(x->dense, ev->n, x->dims, x->type));
	/* Without the mean of every column distances stay, and keep their digits in float; the
	 * second pass takes off what rounding left of it. */
	for (int pass = 0; ev->kernel->input == GP_INPUT_RBF && pass < 2; pass++)
		gp_centre_rows(dev, to);
	if (term->value != 1.0)
		dev->axpby(dev, sqrt(term->value), to, 0.0, to);
}

/* Starts with the term's leaf, times its factor; features that join() fills in are only as wide. */
static gp_linear
form_leaf(gp_eval *ev, const gp_linear_term *term, bool joined)
{
	const gp_csr *csr = gp_term_csr(ev, term);
	gp_linear	f = {0};

	if (term->leaf == GP_LEAF_BIAS)
	{
		/* A column of ones, as a sparse matrix. */
		gp_csr	   *s = gp_csr_identity(ev->env, ev->n, ev->type);
		memset(s->col, 0, ev->n * sizeof(int32_t));
		s->cols = 1;
		f.csr = s;
		gp_csr_scale(f.csr, sqrt(term->value));
	}
	else if (csr)
		f.csr = csr_copy_scaled(ev->env, csr, sqrt(term->value));
	else if (joined)
		f.dense.cols = ev->kernel->x->dims;
	else
	{
		f.dense = ev->dev->create(ev->dev, ev->n, ev->kernel->x->dims, ev->type);
		fill_features(ev, term, f.dense);
	}
	return f;
}

/* Replaces a sparse factor by S times it; it becomes dense when it fills up. */
static void
form_multiply(gp_eval *ev, gp_linear *f, const gp_csr *s)
{
	gp_csr	   *product = gp_csr_product(ev->env, s, f->csr);

	gp_csr_free(ev->env, f->csr);
	f->csr = product;
	if (product->cols > 1 && ev->live == NULL &&
		gp_csr_entries(product) > DENSE_SHARE * (double) product->rows * product->cols)
		form_densify(ev, f);
}

/* Applies coef A^power one A at a time, so that no power of A is ever formed. */
static void
form_power(gp_eval *ev, gp_linear *f, const gp_operator *op)
{
	gp_device  *dev = ev->dev;
	gp_operator a = *op;
	int			left = op->term[0].power_a;

	while (left > 0 && f->csr)
	{
		form_multiply(ev, f, ev->kernel->a);
		left--;
	}
	if (f->csr)
	{
		gp_csr_scale(f->csr, op->term[0].coef);
		return;
	}
	a.term[0].power_a = left;
	if (left > 0)
		gp_operator_apply(ev, &a, f->dense);
	else if (a.term[0].coef != 1.0)
		dev->axpby(dev, a.term[0].coef, f->dense, 0.0, f->dense);
}

static void
form_apply(gp_eval *ev, gp_linear *f, const gp_operator *op)
{
	bool		global = gp_operator_is_global(op);

	if (!global && op->nterms == 1 && f->csr)
	{
		form_power(ev, f, op);
		return;
	}
	if (f->csr && (global || gp_operator_fills(ev, op)))
		form_densify(ev, f);
	if (f->csr == NULL)
	{
		gp_operator_apply(ev, op, f->dense);
		return;
	}
	form_multiply(ev, f, gp_operator_csr(ev, op));
}

/*
 * Puts dense parts side by side, and frees them.  Features are filled in here: wide ones are not
 * copied twice.
 */
static gp_matrix
join_dense(gp_eval *ev, int n, gp_matrix *part, const gp_linear_term *const *term)
{
	gp_device  *dev = ev->dev;
	gp_matrix	out = {0};
	int64_t		at = 0;

	if (n == 0 || (n == 1 && part[0].data))
		return n == 0 ? out : part[0];
	for (int t = 0; t < n; t++)
		at += part[t].cols;
	out = dev->create(dev, ev->n, at, ev->type);
	at = 0;
	for (int t = 0; t < n; t++)
	{
		gp_matrix	to = gp_matrix_cols(out, at, part[t].cols);

		at += to.cols;
		if (part[t].data)
			dev->copy(dev, to, part[t]);
		else
			fill_features(ev, term[t], to);
		dev->destroy(dev, &part[t]);
	}
	return out;
}

/*
 * Puts the terms' factors side by side.  One that is dense makes all dense, except lists
 * of neighbours: they are as wide as the graph has nodes.
 */
static gp_linear
join(gp_eval *ev, const gp_terms *terms, gp_linear *part)
{
	gp_linear	z = {0};
	bool		sparse = true;
	gp_csr	   *csr[GP_MAX_LINEAR_TERMS];
	gp_matrix	dense[GP_MAX_LINEAR_TERMS];
	const gp_linear_term *of[GP_MAX_LINEAR_TERMS];	/* the dense ones */
	int			ncsr = 0;
	int			ndense = 0;

	for (int t = 0; t < terms->n; t++)
		sparse = sparse && part[t].csr;
	for (int t = 0; t < terms->n; t++)
		if (part[t].csr && (sparse || terms->term[t].leaf == GP_LEAF_LISTS))
			csr[ncsr++] = part[t].csr;
		else
		{
			form_densify(ev, &part[t]);
			of[ndense] = &terms->term[t];
			dense[ndense++] = part[t].dense;
		}
	z.csr = ncsr > 1 ? gp_csr_hstack(ev->env, ncsr, csr) : ncsr == 1 ? csr[0] : NULL;
	for (int t = 0; t < ncsr && ncsr > 1; t++)
		gp_csr_free(ev->env, csr[t]);
	z.dense = join_dense(ev, ndense, dense, of);
	z.width = (z.csr ? z.csr->cols : 0) + z.dense.cols;
	return z;
}

gp_linear
gp_linear_build(gp_eval *ev, const gp_terms *terms)
{
	gp_linear  *part = gp_alloc_zero(ev->env, terms->n, sizeof(gp_linear));
	int			hop = ev->hop;

	/* Several steps may take it, so that it has the rows of all. */
	ev->hop = ev->hops;

	for (int t = 0; t < terms->n; t++)
	{
		const gp_linear_term *term = &terms->term[t];
		int			left = term->nops;

		if (ev->kernel->x_is_identity && term->leaf == GP_LEAF_INPUT && left > 0 &&
			!gp_operator_is_global(term->op[left - 1]) &&
			!gp_operator_fills(ev, term->op[left - 1]))
			/* S X for the identity X is S itself. */
			part[t].csr = csr_copy_scaled(ev->env, gp_operator_csr(ev, term->op[--left]),
										  sqrt(term->value));
		else
			part[t] = form_leaf(ev, term, terms->n > 1 && left == 0);
		while (left > 0)
			form_apply(ev, &part[t], term->op[--left]);
	}
	gp_linear	z = join(ev, terms, part);
	gp_free(ev->env, part);
	ev->hop = hop;
	return z;
}

void
gp_linear_free(gp_eval *ev, gp_linear *z)
{
	if (!z->borrowed)
		gp_csr_free(ev->env, z->csr);
	z->csr = NULL;
	gp_free(ev->env, z->terms);
	z->terms = NULL;
	ev->dev->destroy(ev->dev, &z->dense);
}

gp_matrix
gp_linear_dense(gp_eval *ev, const gp_linear *z)
{
	gp_device  *dev = ev->dev;
	gp_matrix	sparse = csr_to_device(ev, csr_copy_scaled(ev->env, z->csr, 1.0));

	if (z->dense.cols == 0)
		return sparse;
	gp_matrix	out = dev->create(dev, ev->n, z->width, ev->type);
	dev->copy(dev, gp_matrix_cols(out, 0, sparse.cols), sparse);
	dev->copy(dev, gp_matrix_cols(out, sparse.cols, z->dense.cols), z->dense);
	dev->destroy(dev, &sparse);
	return out;
}

void
gp_linear_norms(gp_eval *ev, const gp_linear *z, gp_matrix out)
{
	if (z->csr == NULL)
	{
		ev->dev->row_dots(ev->dev, out, z->dense, z->dense);
		return;
	}
	double	   *norm = gp_alloc_values(ev->env, ev->n, sizeof(double));
	for (int64_t i = 0; i < ev->n && !ev->env->dry; i++)
	{
		norm[i] = 0.0;
		for (int64_t k = z->csr->start[i]; k < z->csr->start[i + 1]; k++)
		{
			double		v = gp_number_at(z->csr->value, z->csr->type, k);

			norm[i] += v * v;
		}
	}
	ev->dev->upload(ev->dev, out, gp_matrix_wrap(norm, ev->n, 1, GP_DOUBLE));
	gp_free(ev->env, norm);
	if (z->dense.cols > 0)
	{
		/* out += the squared norms of the dense columns */
		gp_matrix	more = ev->dev->create(ev->dev, ev->n, 1, GP_DOUBLE);

		ev->dev->row_dots(ev->dev, more, z->dense, z->dense);
		ev->dev->axpby(ev->dev, 1.0, more, 1.0, out);
		ev->dev->destroy(ev->dev, &more);
	}
}

void
gp_linear_rows(gp_eval *ev, const gp_linear *z, const int32_t *index, int64_t n, gp_matrix dst)
{
	gp_device  *dev = ev->dev;

	if (z->csr)
		dev->csr_rows(dev, gp_matrix_rows(dst, 0, z->csr->cols), z->csr, index, n);
	if (z->dense.cols == 0)
		return;
	gp_matrix	rows = gp_gather(dev, z->dense, index, n);
	dev->transpose(dev, gp_matrix_rows(dst, z->width - z->dense.cols, z->dense.cols), rows);
	dev->destroy(dev, &rows);
}

int64_t
gp_linear_rows_held(const gp_linear *z)
{
	return gp_max64(FEWEST_ROWS, NUMBERS_HELD / gp_max64(1, z->width) / 16 * 16);
}

void
gp_linear_times(gp_eval *ev, const gp_linear *z, int64_t row0, int64_t rows, gp_matrix right,
				double beta, gp_matrix out)
{
	if (z->csr)
	{
		gp_csr		part = *z->csr;
		part.start += row0;
		part.rows = rows;
		ev->dev->spmm(ev->dev, 1.0, &part, gp_matrix_rows(right, 0, part.cols), beta, out);
	}
	if (z->dense.cols > 0)
		ev->dev->gemm(ev->dev, false, false, 1.0, gp_matrix_rows(z->dense, row0, rows),
					  gp_matrix_rows(right, z->width - z->dense.cols, z->dense.cols),
					  z->csr ? 1.0 : beta, out);
}
