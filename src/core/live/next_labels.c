/*
 * next_labels.c - which labels would tell most of some nodes.
 *
 * A label at c takes C_ic^2 / (C_cc + noise) of the variance C_ii of node i, whatever it will be
 * (Rasmussen and Williams 2006, equation 2.26).  So the expected squared error over nodes T falls
 * by
 *
 * 		g_c = sum over i in T of C_ic^2 / (C_cc + noise) = G_cc / (V_cc + noise)
 *
 * with V = C(D,D) and G = C(D,T) C(T,D) for the nodes D that may be chosen (Ji and Han 2012, "A
 * variance minimization criterion to active learning on graphs").  With a chosen and w = V(:,a) /
 * (V_aa + noise), V' = V - w V(a,:) and G' = G - w G(a,:) - G(:,a) w' + G_aa w w': nothing larger
 * than D x D changes.
 *
 * Where there are more nodes than D can hold, the ones with the largest g over a sample of T are D.
 *
 * With t_i as in live_answer.c, C_ij = k_ij - <t_i, t_j> (exact) or noise <t_i, t_j> (low rank, Q
 * B^-1 Q').  Neither C nor, for a low rank, t is ever held for all rows: columns come in blocks of
 * rows.
 */
#include "base/sort.h"
#include "fit/factor.h"
#include "live_rows.h"

#define WIDTH 1024				/* nodes that are chosen from */
#define WIDTH_EACH 4			/* or so many for each that is asked for */
#define SAMPLE 256				/* nodes that the others are screened by */

/* ---- columns of the posterior covariance ---- */

typedef struct covariance
{
	gp_live_rows *r;
	int64_t		n;				/* rows */
	double	   *own;			/* n: C_ii */
	double	   *left;			/* n: the variance of the row, with what no label takes away */
	gp_matrix	half;			/* exact: n x labels, k_i L^-T */
	gp_factor  *factor;			/* low rank */
	int64_t		ncols;			/* the columns at hand */
	const int32_t *col;
	gp_matrix	kernel;			/* exact: K(:, col) */
	gp_matrix	rows;			/* t of the columns' rows: ncols x rank, double */
	gp_matrix	right;			/* low rank: rank x ncols, solved with the factor's roots */
} covariance;

/* What is left of each row's variance where it has no kernel: the prior's, as a fit has it. */
static void
set_left(covariance *c, int64_t i, bool present, double left)
{
	const gp_live_scalars *f = &c->r->f;

	c->own[i] = fmax(c->own[i], 0.0);
	c->left[i] = !present ? f->mean_diag + f->noise :
		fmax(left, 0.0) + (f->values ? f->noise : 0.0);
}

/* The half covariances with the labels, and the variances of an exact model. */
static void
open_exact(covariance *c)
{
	gp_live_rows *r = c->r;
	gp_device  *dev = r->dev;
	int64_t		m = r->nlabelled;
	int32_t    *col = gp_alloc_array(r->env, m, sizeof(int32_t));
	gp_matrix	l = gp_live_root(r, m);

	for (int64_t k = 0; k < m; k++)
		col[k] = gp_live_anchor(r, r->labelled[k]);
	gp_live_diagonal(r, NULL, c->n, c->left);
	gp_matrix	all = gp_live_columns(r, col, m);
	c->half = gp_copy(dev, gp_matrix_rows(all, 0, c->n), GP_DOUBLE);
	dev->destroy(dev, &all);
	dev->trsm(dev, false, true, l, c->half);
	double	   *dot = gp_row_products(dev, c->half, c->half);
	for (int64_t i = 0; i < c->n; i++)
	{
		c->own[i] = c->left[i] - dot[i];
		set_left(c, i, c->left[i] > 0.0, c->own[i]);
	}
	dev->destroy(dev, &l);
	gp_free_all(r->env, dot, col);
}

/* The factor and the variances of a low-rank model. */
static void
open_lowrank(covariance *c)
{
	gp_live_rows *r = c->r;
	gp_device  *dev = r->dev;
	double	   *norm = NULL;

	c->factor = gp_live_factor(r);
	gp_factor_load_roots(dev, c->factor);
	gp_matrix	l = gp_live_root(r, gp_factor_rank(c->factor));
	gp_lowrank_variances(&r->ev, c->factor, l, r->f.noise, c->own);
	if (r->f.exact_diagonal)
	{
		gp_live_diagonal(r, NULL, c->n, c->left);
		norm = gp_alloc_array(r->env, c->n, sizeof(double));
		gp_lowrank_norms(&r->ev, c->factor, norm);
	}
	for (int64_t i = 0; i < c->n; i++)
		set_left(c, i, norm ? c->left[i] > 0.0 : c->own[i] > 0.0,
				 c->own[i] + (norm ? c->left[i] - norm[i] : 0.0));
	gp_free(r->env, norm);
}

static covariance
covariance_open(gp_live_rows *r)
{
	covariance c = {.r = r,.n = r->ev.live_rows};

	c.own = gp_alloc_zero(r->env, c.n, sizeof(double));
	c.left = gp_alloc_zero(r->env, c.n, sizeof(double));
	if (r->f.exact)
		open_exact(&c);
	else
		open_lowrank(&c);
	return c;
}

static void
forget_columns(covariance *c)
{
	gp_destroy_all(c->r->dev, &c->kernel, &c->rows, &c->right);
}

static void
covariance_close(covariance *c)
{
	forget_columns(c);
	c->r->dev->destroy(c->r->dev, &c->half);
	if (c->factor)
		gp_factor_free(&c->r->ev, c->factor);
	gp_free_all(c->r->env, c->own, c->left);
}

/* Takes these columns in place of others; col stays the caller's. */
static void
set_columns(covariance *c, const int32_t *col, int64_t ncols)
{
	gp_device  *dev = c->r->dev;

	forget_columns(c);
	c->col = col;
	c->ncols = ncols;
	c->rows = dev->create(dev, ncols, c->factor ? gp_factor_rank(c->factor) : c->half.cols,
						  GP_DOUBLE);
	if (c->factor)
	{
		/* noise B^-1 Q(col)', solved with the factor's roots. */
		gp_live_rows *r = c->r;
		int64_t		rank = gp_factor_rank(c->factor);
		gp_matrix	l = gp_live_root(r, rank);

		gp_factor_rows(&r->ev, c->factor, c->col, c->ncols, c->rows);
		dev->trsm(dev, false, true, l, c->rows);
		gp_matrix	x = gp_transpose(dev, c->rows);
		dev->trsm(dev, true, true, l, x);
		dev->axpby(dev, r->f.noise, x, 0.0, x);
		gp_factor_solve(&r->ev, c->factor, x);
		c->right = gp_copy(dev, x, r->ev.type);
		gp_destroy_all(dev, &x, &l);
		return;
	}
	c->kernel = gp_live_columns(c->r, col, ncols);
	dev->gather_rows(dev, c->rows, c->half, col);
}

/* Some rows of the columns at hand: out is count x ncols, double. */
static void
covariance_block(covariance *c, int64_t first, int64_t count, gp_matrix out)
{
	gp_device  *dev = c->r->dev;

	if (c->factor == NULL)
	{
		dev->copy(dev, out, gp_matrix_rows(c->kernel, first, count));
		dev->gemm(dev, false, true, -1.0, gp_matrix_rows(c->half, first, count), c->rows, 1.0, out);
		return;
	}
	gp_matrix	narrow = dev->create(dev, count, c->ncols, c->r->ev.type);
	gp_factor_times(&c->r->ev, c->factor, first, count, c->right, narrow);
	dev->copy(dev, out, narrow);
	dev->destroy(dev, &narrow);
}

/* The rows that the columns are of: out is ncols x ncols, double. */
static void
covariance_square(covariance *c, gp_matrix out)
{
	gp_device  *dev = c->r->dev;

	if (c->factor)
	{
		dev->syrk(dev, false, c->r->f.noise, c->rows, 0.0, out);
		return;
	}
	gp_matrix	rows = gp_gather(dev, c->kernel, c->col, c->ncols);
	dev->copy(dev, out, rows);
	dev->destroy(dev, &rows);
	dev->gemm(dev, false, true, -1.0, c->rows, c->rows, 1.0, out);
}

/* ---- what is chosen from ---- */

typedef struct choosing
{
	gp_env	   *env;
	gp_device  *dev;
	covariance c;
	double		noise;
	bool	   *counts;			/* rows: in T; NULL: all are */
	int64_t		ntarget;
	double		left;			/* the sum of their variances */
	int64_t		n;				/* D */
	int32_t    *node;			/* their rows, ascending */
	double	   *v;				/* n x n */
	double	   *g;
} choosing;

/* ---- screening ---- */

/* Evenly spread rows of T, ascending. */
static int32_t *
sample_target(choosing *s, int64_t *n)
{
	int32_t    *row = gp_alloc_array(s->env, gp_min64(s->ntarget, SAMPLE), sizeof(int32_t));
	int64_t		seen = 0;

	*n = gp_min64(s->ntarget, SAMPLE);
	for (int64_t i = 0, k = 0; i < s->c.n && k < *n; i++)
		if (s->counts == NULL || s->counts[i])
			if (seen++ == (2 * k + 1) * s->ntarget / (2 * *n))
				row[k++] = (int32_t) i;
	return row;
}

/* Finds the nodes that may be chosen: without a label in the fit, and if they are too many the most
 * promising ones. */
static void
find_candidates(choosing *s, int64_t k)
{
	const gp_live_rows *r = s->c.r;
	const int32_t *fit_node = r->q->fit_node;
	int64_t		n = 0;
	gp_scored  *list = gp_alloc_array(s->env, s->c.n, sizeof(gp_scored));	/* by estimates of g */
	int64_t		width = gp_max64(WIDTH, k < INT32_MAX / WIDTH_EACH ? k * WIDTH_EACH : INT32_MAX);

	for (int64_t i = 0; i < s->c.n; i++)
		if (fit_node[i] < 0 || gp_sorted_find(r->labelled, r->nlabelled, fit_node[i]) < 0)
			list[n++] = (gp_scored) {.node = (int32_t) i};
	if (n > width)
	{
		/* Brings the most promising candidates to the front: a node's own share is known, that of
		 * others is taken from the sample */
		int64_t		j;
		int32_t    *row = sample_target(s, &j);
		/* The sum of C_ij^2 over sampled rows j, for all rows i. */
		gp_device  *dev = s->dev;
		double	   *sum = gp_alloc_array(s->env, s->c.n, sizeof(double));
		int64_t		height = gp_min64(s->c.n, 4 * dev->row_block);
		gp_matrix	block = dev->create(dev, height, j, GP_DOUBLE);
		gp_matrix	norm = dev->create(dev, height, 1, GP_DOUBLE);

		set_columns(&s->c, row, j);
		for (gp_band band = gp_band_first(s->c.n, height); band.count > 0; gp_band_next(&band))
		{
			gp_matrix	b = gp_matrix_rows(block, 0, band.count);
			gp_matrix	d = gp_matrix_rows(norm, 0, band.count);

			covariance_block(&s->c, band.first, band.count, b);
			dev->row_dots(dev, d, b, b);
			dev->download(dev, gp_matrix_wrap(sum + band.first, band.count, 1, GP_DOUBLE), d);
		}
		gp_destroy_all(dev, &block, &norm);
		double		each = (double) s->ntarget / (double) j;

		for (int64_t c = 0; c < j; c++)
			sum[row[c]] -= s->c.own[row[c]] * s->c.own[row[c]];
		for (int64_t c = 0; c < n; c++)
		{
			int32_t		i = list[c].node;
			double		own = s->counts == NULL || s->counts[i] ? s->c.own[i] * s->c.own[i] : 0.0;

			list[c].score = (own + each * sum[i]) / (s->c.own[i] + s->noise);
		}
		gp_sort(s->env, list, n, sizeof(gp_scored), gp_compare_scored, NULL);
		gp_free_all(s->env, row, sum);
		n = width;
	}
	s->n = n;
	s->node = gp_alloc_array(s->env, n, sizeof(int32_t));
	for (int64_t i = 0; i < n; i++)
		s->node[i] = list[i].node;
	gp_sort(s->env, s->node, n, sizeof(int32_t), gp_compare_int32, NULL);
	gp_free(s->env, list);
}

/* ---- the two squares ---- */

static void
add_band(choosing *s, gp_band band, int32_t *place, gp_matrix block, gp_matrix g)
{
	gp_device  *dev = s->dev;
	/* The places, within a band, of rows that count; returns how many */
	int64_t		n = 0;

	for (int64_t i = 0; i < band.count; i++)
		if (s->counts == NULL || s->counts[band.first + i])
			place[n++] = (int32_t) i;
	gp_matrix	all = gp_matrix_rows(block, 0, band.count);

	if (n == 0)
		return;
	covariance_block(&s->c, band.first, band.count, all);
	if (n == band.count)
	{
		dev->syrk(dev, true, 1.0, all, 1.0, g);
		return;
	}
	gp_matrix	some = gp_gather(dev, all, place, n);
	dev->syrk(dev, true, 1.0, some, 1.0, g);
	dev->destroy(dev, &some);
}

/* ---- one after the other ---- */

/* The candidate of the largest gain that is not chosen yet, the first of equal ones. */
static int64_t
best_candidate(const choosing *s, const bool *chosen, double *gain)
{
	int64_t		best = -1;

	for (int64_t j = 0; j < s->n; j++)
	{
		double		own = fmax(s->v[j * s->n + j], 0.0);
		double		g = fmax(s->g[j * s->n + j], 0.0) / (own + s->noise);

		if (chosen[j] || (best >= 0 && !(g > *gain)))
			continue;
		best = j;
		*gain = g;
	}
	return best;
}

/* Chooses at most k nodes. */
static gp_live_choice
choose(choosing *s, int64_t k)
{
	gp_live_choice out = {.n = gp_min64(k, s->n)};
	bool	   *chosen = gp_alloc_zero(s->env, s->n, sizeof(bool));
	double	   *va = gp_alloc_array(s->env, s->n, sizeof(double));
	double	   *ga = gp_alloc_array(s->env, s->n, sizeof(double));

	out.node = gp_alloc_array(s->env, out.n, sizeof(int32_t));
	out.gain = gp_alloc_array(s->env, out.n, sizeof(double));
	for (int64_t step = 0; step < out.n; step++)
	{
		double		gain = 0.0;
		int64_t		a = best_candidate(s, chosen, &gain);

		out.node[step] = s->node[a];
		out.gain[step] = s->left > 0.0 ? fmin(gain / s->left, 1.0) : 0.0;
		s->left -= gain;
		chosen[a] = true;
		/* V and G with a label at a */
		int64_t		n = s->n;
		double		gaa = s->g[a * n + a];
		double		scale = 1.0 / (fmax(s->v[a * n + a], 0.0) + s->noise);

		memcpy(va, s->v + a * n, n * sizeof(double));
		memcpy(ga, s->g + a * n, n * sizeof(double));
		GP_EACH(s->env, i, n, i * n)
		{
			double		w = va[i] * scale;
			double	   *v = s->v + i * n;
			double	   *g = s->g + i * n;
			double		both = w * gaa - ga[i];

			for (int64_t j = 0; j < n; j++)
			{
				v[j] -= w * va[j];
				g[j] += both * scale * va[j] - w * ga[j];
			}
		}
		s->env->progress(s->env, GP_PHASE_POSTERIOR, step + 1, out.n);
	}
	gp_free_all(s->env, chosen, va, ga);
	return out;
}

gp_live_choice
gp_live_next(gp_device *dev, const gp_live_question *question, int64_t k)
{
	gp_live_rows r = gp_live_rows_open(dev, question, true);
	choosing	s = {.env = dev->env,.dev = dev,.noise = r.f.noise};

	s.c = covariance_open(&r);
	/* Notes which rows count, and what is left of their variances. */
	const gp_live_question *q = s.c.r->q;
	s.ntarget = q->node ? q->asked : s.c.n;
	if (q->node)
		s.counts = gp_alloc_zero(s.env, s.c.n, sizeof(bool));
	for (int64_t i = 0; q->node && i < q->asked; i++)
		s.counts[q->node[i]] = true;
	for (int64_t i = 0; i < s.c.n; i++)
		if (s.counts == NULL || s.counts[i])
			s.left += s.c.left[i];
	find_candidates(&s, k);
	/* V and G. */
	int64_t		height = gp_min64(s.c.n, dev->row_block);
	int32_t    *place = gp_alloc_array(s.env, height, sizeof(int32_t));
	gp_matrix	block = dev->create(dev, height, s.n, GP_DOUBLE);
	gp_matrix	square = dev->create(dev, s.n, s.n, GP_DOUBLE);

	set_columns(&s.c, s.node, s.n);
	s.v = gp_alloc_array(s.env, s.n, s.n * sizeof(double));
	s.g = gp_alloc_array(s.env, s.n, s.n * sizeof(double));
	covariance_square(&s.c, square);
	dev->download(dev, gp_matrix_wrap(s.v, s.n, s.n, GP_DOUBLE), square);
	dev->fill(dev, square, 0.0);
	for (gp_band band = gp_band_first(s.c.n, height); band.count > 0; gp_band_next(&band))
	{
		add_band(&s, band, place, block, square);
		s.env->progress(s.env, GP_PHASE_POSTERIOR, band.first + band.count, s.c.n);
	}
	dev->download(dev, gp_matrix_wrap(s.g, s.n, s.n, GP_DOUBLE), square);
	gp_destroy_all(dev, &block, &square);
	gp_free(s.env, place);
	covariance_close(&s.c);
	gp_live_rows_close(&r);
	gp_live_choice out = choose(&s, k);
	gp_free_all(s.env, s.counts, s.node, s.v, s.g);
	if (!gp_all_finite(s.env, out.gain, out.n))
		gp_raise(s.env, GP_ERR_RANGE, "Fit the model again.", "an answer is out of range");
	return out;
}
