/*
 * metapath.c - covariances of rows of tables without time, by what they refer to.
 */
#include "metapath.h"

#include "base/sort.h"
#include "kernel/live/live_state.h"

#include <math.h>

#define BAND 64					/* landmarks that are taken at once */
#define FIRST_JITTER 1e-8

const char gp_metapath_kernel[] = "relu(X0*W)*W";

/* A path: k is the number of things that rows refer to. */
typedef struct path
{
	const char *name;
	uint64_t   *key;			/* k, ascending */
	gp_csr	   *members;		/* k x rows, of ones: who refers to it */
	gp_csr	   *list;			/* N: rows x k */
	gp_csr	   *gather;			/* rows x (k + rows): A = gather * [members; I] */
} path;

struct gp_metapath
{
	gp_env	   *env;
	int64_t		rows;
	int			n;
	path	   *path;
};

gp_metapath *
gp_metapath_create(gp_env *env, int64_t rows)
{
	gp_metapath *t = gp_alloc_zero(env, 1, sizeof(gp_metapath));

	t->env = env;
	t->rows = rows;
	return t;
}

/* ---- operators ---- */

/* By key, then by row. */
static int
compare_pairs(const void *first, const void *second, void *unused)
{
	const gp_metapath_pair *a = first;
	const gp_metapath_pair *b = second;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Who refers to each key, of sorted pairs. */
static gp_csr *
make_members(gp_env *env, int64_t rows, int64_t n, const gp_metapath_pair *pair, uint64_t **key)
{
	int64_t		keys = 0;
	int64_t		at = 0;

	for (int64_t i = 0; i < n; i++)
		keys += i == 0 || pair[i].key != pair[i - 1].key;
	gp_csr	   *s = gp_csr_create(env, keys, rows, n, GP_DOUBLE);
	*key = gp_alloc_array(env, keys, sizeof(uint64_t));
	keys = 0;
	for (int64_t i = 0; i < n; i++)
	{
		if (i > 0 && compare_pairs(&pair[i], &pair[i - 1], NULL) == 0)
			continue;
		keys += i == 0 || pair[i].key != pair[i - 1].key;
		s->col[at] = pair[i].row;
		gp_number_put(s->value, s->type, at++, 1.0);
		s->start[keys] = at;
		(*key)[keys - 1] = pair[i].key;
	}
	return s;
}

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
gp_metapath_add(gp_metapath *t, const char *name, int64_t n, gp_metapath_pair *pair)
{
	t->path = gp_realloc_array(t->env, t->path, t->n + 1, sizeof(path));
	path	   *p = &t->path[t->n++];
	p->name = name;
	gp_sort(t->env, pair, n, sizeof(gp_metapath_pair), compare_pairs, NULL);
	p->members = make_members(t->env, t->rows, n, pair, &p->key);
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
	double	   *unit;			/* of each term: its leaf and its path, -1: none, and the mean */
	gp_live_state *state;
	/* Of some rows the covariances with the landmarks of the fit are wanted instead. */
	const int32_t *row;
	gp_metapath_terms *cross;
	bool		keeps_terms;	/* each of them, beside their sum */
	const gp_metapath *metapath;
} term_sum;

/* The parts of what is kept. */
enum kept
{
	KEPT_ROWS,					/* of the landmarks, in the columns of a leaf: at each term */
	KEPT_ROOT,					/* of the landmarks' covariance */
	KEPT_TERMS,					/* term_sum.unit */
	KEPT_KEYS					/* the columns of a path's list, at the path */
};

#define UNITS 3					/* numbers of a term there */

static gp_csr *
rows_of(gp_env *env, const gp_csr *g, const gp_csr *z, const int32_t *row, int64_t n)
{
	gp_csr	   *some = gp_csr_select(env, g, row, n, NULL, g->cols);
	gp_csr	   *out = gp_csr_product(env, some, z);

	gp_csr_free(env, some);
	return out;
}

/* Notes a term, and keeps the landmarks' rows. */
static void
note_term(term_sum *s, const gp_csr *g, const gp_csr *z, int leaf, int path, double unit)
{
	gp_env	   *env = s->dev->env;
	int64_t		n = s->panel.cols;
	int32_t    *all = gp_alloc_array(env, n, sizeof(int32_t));
	gp_csr	   *rows = rows_of(env, g, z, s->landmark, n);

	for (int32_t k = 0; k < n; k++)
		all[k] = k;
	gp_state_rows(s->state, GP_PIECE_METAPATH, s->terms, KEPT_ROWS, rows, all, n);
	s->unit = gp_realloc_array(env, s->unit, (s->terms + 1) * UNITS, sizeof(double));
	memcpy(s->unit + (int64_t) s->terms * UNITS, (double[UNITS]) {leaf, path, unit},
		   UNITS * sizeof(double));
	gp_csr_free(env, rows);
	gp_free(env, all);
}

/* The columns that those of a leaf had in the fit, -1: none. */
static int32_t *
columns_then(gp_env *env, const gp_live_state *state, const path *p, int leaf, int64_t then)
{
	const gp_piece *keys = gp_state_need(env, state, GP_PIECE_METAPATH, leaf, KEPT_KEYS, then);
	const uint64_t *key = keys->dense;
	int32_t    *column = gp_alloc_array(env, p->members->rows, sizeof(int32_t));
	int64_t		at = 0;

	for (int64_t k = 0; k < p->members->rows; k++)
	{
		while (at < then && key[at] < p->key[k])
			at++;
		column[k] = at < then && key[at] == p->key[k] ? (int32_t) at : -1;
	}
	return column;
}

/* The next term of the rows asked for, with the fit's landmarks, unless the fit had none such. */
static void
cross_term(term_sum *s, const gp_csr *g, const gp_csr *z, int leaf, int path)
{
	gp_env	   *env = s->metapath->env;
	gp_metapath_terms *cross = s->cross;
	const double *unit = s->unit + (int64_t) cross->n * UNITS;
	int64_t		n = cross->landmarks;

	if (cross->n == s->terms || unit[0] != leaf || unit[1] != path)
		return;
	const gp_csr *then = gp_state_find(s->state, GP_PIECE_METAPATH, cross->n, KEPT_ROWS)->csr;
	int32_t    *column = leaf < 0 ? NULL :
		columns_then(env, s->state, &s->metapath->path[leaf], leaf, then->cols);
	gp_csr	   *rows = rows_of(env, g, z, s->row, cross->rows);
	gp_csr	   *common = gp_csr_select(env, rows, NULL, rows->rows, column, then->cols);
	gp_csr	   *turned = gp_csr_transpose(env, then);
	gp_csr	   *product = gp_csr_product(env, common, turned);

	double		scale = 1.0 / (unit[2] * s->terms);
	double	   *covariance = gp_alloc_zero(env, cross->rows * (n + 1), sizeof(double));
	cross->term[cross->n++] = (gp_metapath_term) {leaf < 0 ? NULL : s->metapath->path[leaf].name,
		path < 0 ? NULL : s->metapath->path[path].name, s->keeps_terms ? covariance : NULL};
	GP_EACH(env, i, cross->rows, i * n)
	{
		double	   *out = covariance + i * (n + 1);

		for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
			out[n] += scale * pow(gp_number_at(rows->value, rows->type, k), 2.0);
		for (int64_t k = product->start[i]; k < product->start[i + 1]; k++)
			out[product->col[k]] += scale * gp_number_at(product->value, product->type, k);
	}
	for (int64_t i = 0; i < cross->rows * (n + 1); i++)
		cross->sum[i] += covariance[i];
	gp_csr_free(env, rows);
	gp_csr_free(env, common);
	gp_csr_free(env, turned);
	gp_csr_free(env, product);
	gp_free_all(env, column, s->keeps_terms ? NULL : covariance);
}

/* Adds the covariance g z z' g', over the mean of its diagonal. */
static void
add_term(term_sum *s, const gp_csr *g, const gp_csr *z, int leaf, int path)
{
	gp_device  *dev = s->dev;
	gp_matrix	diag = dev->create(dev, g->rows, 1, GP_DOUBLE);

	dev->pair_diag(dev, g, z, NULL, NULL, 0, diag);
	double		unit = gp_mean_entry(dev, diag);
	if (unit > 0.0 || dev->env->dry)
	{
		if (s->state)
			note_term(s, g, z, leaf, path, unit);
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

/* Takes a term, of all rows or of some. */
static void
take_term(term_sum *s, const gp_csr *g, const gp_csr *z, int leaf, int path)
{
	if (s->cross)
		cross_term(s, g, z, leaf, path);
	else
		add_term(s, g, z, leaf, path);
}

/* Adds the terms of a leaf, X or N[q]: itself, and its means over each path. */
static void
add_leaf(term_sum *s, const gp_metapath *t, const gp_csr *self, const gp_csr *leaf, int number)
{
	gp_env	   *env = t->env;

	take_term(s, self, leaf, number, -1);
	for (int p = 0; p < t->n; p++)
	{
		gp_csr	   *sums = gp_csr_product(env, t->path[p].members, leaf);
		gp_csr	   *both = gp_csr_stack(env, sums, sums->rows, leaf, leaf->cols);

		take_term(s, t->path[p].gather, both, number, p);
		gp_csr_free(env, both);
		gp_csr_free(env, sums);
	}
}

static void
add_terms(term_sum *s, const gp_metapath *t, const gp_features *own)
{
	gp_env	   *env = t->env;
	gp_csr	   *x = gp_csr_of_dense(env, own->dense, own->rows, own->dims, own->rows * own->dims,
								   own->type, GP_DOUBLE);
	gp_csr	   *self = gp_csr_identity(env, t->rows, GP_DOUBLE);

	add_leaf(s, t, self, x, -1);
	for (int q = 0; q < t->n; q++)
		add_leaf(s, t, self, t->path[q].list, q);
	gp_csr_free(env, self);
	gp_csr_free(env, x);
}

/* The panel becomes the factor of what it approximates; returns the root of the landmarks'. */
static gp_matrix
factor_panel(term_sum *s, int64_t n)
{
	gp_device  *dev = s->dev;
	gp_matrix	c = dev->create(dev, n, n, GP_DOUBLE);
	gp_matrix	root = dev->create(dev, n, n, GP_DOUBLE);

	dev->gather_rows(dev, c, s->panel, s->landmark);
	gp_covariance_root(dev, c, 1.0, FIRST_JITTER, GP_MAX_JITTER, root, "the landmarks",
					   "Try fewer landmarks.");
	dev->trsm(dev, false, true, root, s->panel);
	dev->destroy(dev, &c);
	return root;
}

/* The factor as features, and in their last column the root of what it leaves of each variance. */
static gp_features *
features_of(gp_device *dev, gp_matrix panel, gp_matrix diag)
{
	gp_env	   *env = dev->env;
	int64_t		dims = panel.cols + 1;
	gp_features *out = gp_alloc_zero(env, 1, sizeof(gp_features));
	double	   *left = gp_alloc_array(env, panel.rows, sizeof(double));
	gp_matrix	square = dev->create(dev, panel.rows, 1, GP_DOUBLE);

	dev->row_dots(dev, square, panel, panel);
	dev->axpby(dev, 1.0, diag, -1.0, square);
	dev->download(dev, gp_matrix_wrap(left, panel.rows, 1, GP_DOUBLE), square);
	*out = (gp_features) {.rows = panel.rows,.dims = dims,.type = GP_FLOAT};
	out->dense = gp_alloc_array(env, panel.rows * dims, sizeof(float));
	dev->download(dev, gp_matrix_cols(gp_matrix_wrap(out->dense, panel.rows, dims, GP_FLOAT), 0,
									  panel.cols), panel);
	for (int64_t i = 0; i < gp_items(env, panel.rows); i++)
		((float *) out->dense)[i * dims + panel.cols] = (float) sqrt(fmax(left[i], 0.0));
	gp_free(env, left);
	dev->destroy(dev, &square);
	return out;
}

gp_features *
gp_metapath_features(gp_device *dev, const gp_metapath *t, const gp_features *own,
				  const int32_t *landmark, int64_t n, gp_live_state *state)
{
	term_sum	s = {.dev = dev,.metapath = t,.landmark = landmark,.state = state,
		.panel = dev->create(dev, t->rows, n, GP_DOUBLE),
	.diag = dev->create(dev, t->rows, 1, GP_DOUBLE)};

	dev->fill(dev, s.panel, 0.0);
	dev->fill(dev, s.diag, 0.0);
	add_terms(&s, t, own);
	if (s.terms == 0)
		gp_raise(dev->env, GP_ERR_DATA, "Add tables or columns that differ between the rows of the task.",
				 "no column of the tables differs between the rows of the task");
	dev->axpby(dev, 0.0, s.panel, 1.0 / s.terms, s.panel);
	dev->axpby(dev, 0.0, s.diag, 1.0 / s.terms, s.diag);
	gp_matrix	root = factor_panel(&s, n);
	gp_features *out = features_of(dev, s.panel, s.diag);
	/* Of a landmark nothing is left. */
	for (int64_t k = 0; k < n; k++)
		((float *) out->dense)[landmark[k] * (n + 1) + n] = 0.0f;
	if (state)
	{
		gp_state_lower(dev, state, GP_PIECE_METAPATH, 0, KEPT_ROOT, root);
		gp_state_numbers(state, GP_PIECE_METAPATH, 0, KEPT_TERMS, s.unit, s.terms, UNITS);
		/* Keys have the size of doubles, and are kept as the bits of these. */
		for (int q = 0; q < t->n; q++)
			gp_state_numbers(state, GP_PIECE_METAPATH, q, KEPT_KEYS,
							 (const double *) t->path[q].key, t->path[q].members->rows, 1);
		gp_free(dev->env, s.unit);
	}
	gp_destroy_all(dev, &s.panel, &s.diag, &root);
	return out;
}

/* ---- some rows ---- */

gp_metapath_terms *
gp_metapath_cross(gp_env *env, const gp_metapath *t, const gp_features *own,
				  const gp_live_state *state, const int32_t *row, int64_t rows, bool keeps_terms)
{
	const gp_piece *terms = gp_state_find(state, GP_PIECE_METAPATH, 0, KEPT_TERMS);
	const gp_piece *first = gp_state_find(state, GP_PIECE_METAPATH, 0, KEPT_ROWS);
	gp_metapath_terms *cross = gp_alloc_zero(env, 1, sizeof(gp_metapath_terms));
	term_sum	s = {.metapath = t,.state = (gp_live_state *) state,.row = row,.cross = cross,
	.keeps_terms = keeps_terms};

	if (terms == NULL || terms->cols != UNITS || first == NULL)
		gp_raise(env, GP_ERR_DAMAGED, "Fit the model again.",
				 "the live state is not of rows without time");
	s.terms = (int) terms->rows;
	s.unit = terms->dense;
	*cross = (gp_metapath_terms) {.rows = rows,.landmarks = first->rows};
	cross->sum = gp_alloc_zero(env, rows * (first->rows + 1), sizeof(double));
	cross->term = gp_alloc_array(env, s.terms, sizeof(gp_metapath_term));
	for (int k = 0; k < s.terms; k++)
	{
		const gp_piece *p = gp_state_find(state, GP_PIECE_METAPATH, k, KEPT_ROWS);

		if (p == NULL || p->rows != first->rows || (s.unit[k * UNITS] < 0 && p->cols != own->dims))
			gp_raise(env, GP_ERR_DAMAGED, "Fit the model again.",
					 "the live state does not fit its terms");
	}
	add_terms(&s, t, own);
	if (cross->n < s.terms)
		gp_raise(env, GP_ERR_DATA, "Fit the model again.",
				 "the tables have other terms than the live state");
	return cross;
}

gp_features *
gp_metapath_rows(gp_device *dev, const gp_live_state *state, double *covariance, int64_t rows,
			  int64_t n)
{
	const gp_piece *root = gp_state_need(dev->env, state, GP_PIECE_METAPATH, 0, KEPT_ROOT,
										n * (n + 1) / 2);
	gp_matrix	all = gp_matrix_wrap(covariance, rows, n + 1, GP_DOUBLE);
	gp_matrix	panel = dev->create(dev, rows, n, GP_DOUBLE);
	gp_matrix	diag = dev->create(dev, rows, 1, GP_DOUBLE);

	dev->upload(dev, panel, gp_matrix_cols(all, 0, n));
	dev->upload(dev, diag, gp_matrix_cols(all, n, 1));
	gp_state_solve(dev, root, true, panel);
	gp_features *out = features_of(dev, panel, diag);
	gp_destroy_all(dev, &panel, &diag);
	return out;
}
