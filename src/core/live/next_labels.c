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
 */
#include "base/sort.h"
#include "live_rows.h"

#define WIDTH 1024				/* nodes that are chosen from */
#define WIDTH_EACH 4			/* or so many for each that is asked for */
#define SAMPLE 256				/* nodes that the others are screened by */

typedef struct choosing
{
	gp_env	   *env;
	gp_device  *dev;
	gp_live_covariance c;
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

		gp_live_covariance_set_columns(&s->c, row, j);
		for (gp_band band = gp_band_first(s->c.n, height); band.count > 0; gp_band_next(&band))
		{
			gp_matrix	b = gp_matrix_rows(block, 0, band.count);
			gp_matrix	d = gp_matrix_rows(norm, 0, band.count);

			gp_live_covariance_block(&s->c, band.first, band.count, b);
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

/* Adds what a band of rows has of G. */
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
	gp_live_covariance_block(&s->c, band.first, band.count, all);
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

	s.c = gp_live_covariance_open(&r);
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

	gp_live_covariance_set_columns(&s.c, s.node, s.n);
	s.v = gp_alloc_array(s.env, s.n, s.n * sizeof(double));
	s.g = gp_alloc_array(s.env, s.n, s.n * sizeof(double));
	gp_live_covariance_square(&s.c, square);
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
	gp_live_covariance_close(&s.c);
	gp_live_rows_close(&r);
	gp_live_choice out = choose(&s, k);
	gp_free_all(s.env, s.counts, s.node, s.v, s.g);
	if (!gp_all_finite(s.env, out.gain, out.n))
		gp_raise(s.env, GP_ERR_RANGE, "Fit the model again.", "an answer is out of range");
	return out;
}
