/*
 * typed.c - covariances of rows of tables without time, by what they refer to.
 */
#include "typed.h"

#include "base/sort.h"
#include "kernel/kernel.h"

#include <math.h>

#define BAND 64					/* landmarks that are taken at once */
#define FIRST_JITTER 1e-8

/* A path: k is the number of things that rows refer to. */
typedef struct path
{
	gp_csr	   *members;		/* k x rows, of ones: who refers to it */
	gp_csr	   *list;			/* N: rows x k */
	gp_csr	   *gather;			/* rows x (k + rows): A = gather * [members; I] */
} path;

struct gp_typed
{
	gp_env	   *env;
	int64_t		rows;
	int			n;
	path	   *path;
};

gp_typed *
gp_typed_create(gp_env *env, int64_t rows)
{
	gp_typed   *t = gp_alloc_zero(env, 1, sizeof(gp_typed));

	t->env = env;
	t->rows = rows;
	return t;
}

/* ---- operators ---- */

/* By key, then by row. */
static int
compare_pairs(const void *first, const void *second, void *unused)
{
	const gp_typed_pair *a = first;
	const gp_typed_pair *b = second;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Who refers to each key, of sorted pairs. */
static gp_csr *
make_members(gp_env *env, int64_t rows, int64_t n, const gp_typed_pair *pair)
{
	int64_t		keys = 0;
	int64_t		at = 0;
	gp_csr	   *s;

	for (int64_t i = 0; i < n; i++)
		keys += i == 0 || pair[i].key != pair[i - 1].key;
	s = gp_csr_create(env, keys, rows, n, GP_DOUBLE);
	keys = 0;
	for (int64_t i = 0; i < n; i++)
	{
		if (i > 0 && compare_pairs(&pair[i], &pair[i - 1], NULL) == 0)
			continue;
		keys += i == 0 || pair[i].key != pair[i - 1].key;
		s->col[at] = pair[i].row;
		gp_number_put(s->value, s->type, at++, 1.0);
		s->start[keys] = at;
	}
	return s;
}

/* The number of entries in a row. */
static int64_t
row_entries(const gp_csr *s, int64_t row)
{
	return s->start[row + 1] - s->start[row];
}

/*
 * The mean over what a row refers to, of the mean over the others who do: what is left of a sum
 * over all who do, once the row itself is taken off.
 */
static gp_csr *
make_gather(gp_env *env, const gp_csr *lists, const gp_csr *members)
{
	int64_t		rows = lists->rows;
	gp_csr	   *g = gp_csr_create(env, rows, members->rows + rows, gp_csr_entries(lists) + rows,
								  GP_DOUBLE);
	int64_t		at = 0;

	GP_EACH(env, i, rows, at)
	{
		double		shared = 0.0;
		double		own = 0.0;

		for (int64_t k = lists->start[i]; k < lists->start[i + 1]; k++)
			shared += row_entries(members, lists->col[k]) > 1;
		for (int64_t k = lists->start[i]; k < lists->start[i + 1]; k++)
		{
			double		others = (double) row_entries(members, lists->col[k]) - 1.0;

			if (others == 0.0)
				continue;
			g->col[at] = lists->col[k];
			gp_number_put(g->value, g->type, at++, 1.0 / (shared * others));
			own += 1.0 / (shared * others);
		}
		if (shared > 0.0)
		{
			g->col[at] = (int32_t) (members->rows + i);
			gp_number_put(g->value, g->type, at++, -own);
		}
		g->start[i + 1] = at;
	}
	return g;
}

void
gp_typed_add(gp_typed *t, int64_t n, gp_typed_pair *pair)
{
	path	   *p;

	t->path = gp_realloc_array(t->env, t->path, t->n + 1, sizeof(path));
	p = &t->path[t->n++];
	gp_sort(t->env, pair, n, sizeof(gp_typed_pair), compare_pairs, NULL);
	p->members = make_members(t->env, t->rows, n, pair);
	if (p->members->rows > INT32_MAX - t->rows)
		gp_raise(t->env, GP_ERR_LIMIT, NULL, "the rows of the task refer to too many rows");
	p->list = gp_csr_transpose(t->env, p->members);
	p->gather = make_gather(t->env, p->list, p->members);
	for (int64_t i = 0; i < t->rows; i++)
		for (int64_t k = p->list->start[i]; k < p->list->start[i + 1]; k++)
			gp_number_put(p->list->value, p->list->type, k,
						  1.0 / sqrt((double) row_entries(p->list, i)));
}

/* ---- covariances ---- */

/* The sum of the terms so far. */
typedef struct term_sum
{
	gp_device  *dev;
	const int32_t *landmark;
	int			terms;
	gp_matrix	panel;			/* rows x landmarks */
	gp_matrix	diag;			/* rows x 1 */
} term_sum;

/* Adds the covariance g z z' g', over the mean of its diagonal. */
static void
add_term(term_sum *s, const gp_csr *g, const gp_csr *z)
{
	gp_device  *dev = s->dev;
	gp_matrix	diag = dev->create(dev, g->rows, 1, GP_DOUBLE);
	double		unit;

	dev->pair_diag(dev, g, z, NULL, NULL, 0, diag);
	unit = gp_mean_entry(dev, diag);
	if (unit > 0.0)
	{
		s->terms++;
		dev->axpby(dev, 1.0 / unit, diag, 1.0, s->diag);
		for (gp_band band = gp_band_first(s->panel.cols, BAND); band.count > 0; gp_band_next(&band))
		{
			gp_matrix	landmarks = dev->create(dev, z->cols, band.count, GP_DOUBLE);
			gp_matrix	product = dev->create(dev, z->rows, band.count, GP_DOUBLE);

			dev->csr_product_rows(dev, landmarks, 1.0 / unit, g, z, s->landmark + band.first,
								  band.count);
			dev->spmm(dev, 1.0, z, landmarks, 0.0, product);
			dev->spmm(dev, 1.0, g, product, 1.0, gp_matrix_cols(s->panel, band.first, band.count));
			gp_destroy_all(dev, &landmarks, &product);
		}
	}
	dev->destroy(dev, &diag);
}

/* Adds the terms of a leaf, X or N[q]: itself, and its means over each path. */
static void
add_leaf(term_sum *s, const gp_typed *t, const gp_csr *self, const gp_csr *leaf)
{
	gp_env	   *env = t->env;

	add_term(s, self, leaf);
	for (int p = 0; p < t->n; p++)
	{
		gp_csr	   *sums = gp_csr_product(env, t->path[p].members, leaf);
		gp_csr	   *both = gp_csr_stack(env, sums, sums->rows, leaf, leaf->cols);

		add_term(s, t->path[p].gather, both);
		gp_csr_free(env, both);
		gp_csr_free(env, sums);
	}
}

/*
 * The panel becomes the factor of what it approximates; returns what that leaves of each variance.
 */
static double *
factor_panel(term_sum *s, int64_t n)
{
	gp_device  *dev = s->dev;
	int64_t		rows = s->panel.rows;
	double	   *left = gp_alloc_array(dev->env, rows, sizeof(double));
	gp_matrix	square = dev->create(dev, rows, 1, GP_DOUBLE);
	gp_matrix	c = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	root = dev->create(dev, n, n, GP_DOUBLE);

	dev->gather_rows(dev, c, s->panel, s->landmark);
	if (isnan(gp_cholesky_jitter(dev, c, 1.0, FIRST_JITTER, GP_MAX_JITTER, root)))
		gp_raise(dev->env, GP_ERR_DATA, "Try fewer landmarks.",
				 "the covariance of the landmarks is not positive definite");
	dev->trsm(dev, false, true, root, s->panel);
	dev->row_dots(dev, square, s->panel, s->panel);
	dev->axpby(dev, 1.0, s->diag, -1.0, square);
	dev->download(dev, gp_matrix_wrap(left, rows, 1, GP_DOUBLE), square);
	for (int64_t k = 0; k < n; k++)
		left[s->landmark[k]] = 0.0;
	gp_destroy_all(dev, &square, &c, &root);
	return left;
}

gp_features *
gp_typed_features(gp_device *dev, const gp_typed *t, const gp_features *own,
				  const int32_t *landmark, int64_t n)
{
	gp_env	   *env = dev->env;
	term_sum	s = {.dev = dev,.landmark = landmark,
		.panel = dev->create(dev, t->rows, n, GP_DOUBLE),
	.diag = dev->create(dev, t->rows, 1, GP_DOUBLE)};
	gp_features *out = gp_alloc_zero(env, 1, sizeof(gp_features));
	gp_csr	   *x = gp_csr_of_dense(env, own->dense, own->rows, own->dims, own->rows * own->dims,
								   own->type, GP_DOUBLE);
	gp_csr	   *self = gp_csr_identity(env, t->rows, GP_DOUBLE);
	double	   *left;

	dev->fill(dev, s.panel, 0.0);
	dev->fill(dev, s.diag, 0.0);
	add_leaf(&s, t, self, x);
	for (int q = 0; q < t->n; q++)
		add_leaf(&s, t, self, t->path[q].list);
	gp_csr_free(env, self);
	gp_csr_free(env, x);
	if (s.terms == 0)
		gp_raise(env, GP_ERR_DATA, "Add tables or columns that differ between the rows of the task.",
				 "nothing in the tables tells the rows of the task apart");
	dev->axpby(dev, 0.0, s.panel, 1.0 / s.terms, s.panel);
	dev->axpby(dev, 0.0, s.diag, 1.0 / s.terms, s.diag);
	left = factor_panel(&s, n);
	*out = (gp_features) {.rows = t->rows,.dims = n + 1,.type = GP_FLOAT};
	out->dense = gp_alloc_array(env, t->rows * (n + 1), sizeof(float));
	dev->download(dev, gp_matrix_cols(gp_matrix_wrap(out->dense, t->rows, n + 1, GP_FLOAT), 0, n),
				  s.panel);
	for (int64_t i = 0; i < t->rows; i++)
		((float *) out->dense)[i * (n + 1) + n] = (float) sqrt(fmax(left[i], 0.0));
	gp_free(env, left);
	gp_destroy_all(dev, &s.panel, &s.diag);
	return out;
}
