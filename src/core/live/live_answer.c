/*
 * live_answer.c - the posterior of a few nodes, evaluated against what a fit kept.
 *
 * A node i has the row t_i = k_i L^-T (exact, L of K(t,t) + noise I) or q_i L^-T (low rank, L of
 * Q'Q + noise I).  So the posterior covariance of two nodes is k_ij - <t_i, t_j>, or
 * noise <t_i, t_j>, by which labels that are given or taken change it (live_change.c).
 */
#include "base/sort.h"
#include "live_change.h"
#include "live_rows.h"

#include <math.h>
#include <string.h>

#define LABELLED_AT_ONCE 64		/* rows of labels that are multiplied */

/* A label, given or taken, with the row that it is of. */
typedef struct observation
{
	double		sign;			/* 1 given, -1 taken */
	int64_t		row;			/* of the evaluation */
	int64_t		label;			/* of the fit's; -1: as the node is now */
	double	   *y;				/* as s->width has them, in the targets' unit */
} observation;

/* A question at work. */
typedef struct live
{
	gp_live_rows r;
	int32_t		columns;
	int32_t		width;			/* of mean: columns, and for values what targets of 1 would give */
	int64_t		nseen;
	observation *seen;
	int64_t		asked;			/* the nodes asked for, then the one of them without each cut */
	int64_t		points;			/* these, then the observations */
	int32_t    *row;			/* of each point, among the evaluation's */
	double	   *mean;			/* points x width */
	double	   *prior;			/* points: k_ii; what the variances begin with */
	double	   *half;			/* points x rank: t_i */
	int64_t		rank;
	double	   *cross;			/* exact: points x nseen, K; low rank: NULL */
} live;

/* Adds an observation. */
static observation *
add_seen(live *s, double sign, int64_t row, int64_t label)
{
	observation *o = &s->seen[s->nseen++];

	*o = (observation) {.sign = sign,.row = row,.label = label};
	o->y = gp_alloc_zero(s->r.env, s->width, sizeof(double));
	if (s->r.f.values)
		o->y[1] = 1.0;
	return o;
}

/* The observations that a change of one label makes. */
static void
see_label(live *s, const gp_live_label *change)
{
	int64_t		n;
	const int32_t *labelled = gp_live_labelled(s->r.q->keep, &n);
	int32_t		node = s->r.q->fit_node[change->node];
	int64_t		label = node < 0 ? -1 : gp_sorted_find(labelled, n, node);
	observation *taken = label >= 0 ? add_seen(s, -1.0, s->r.f.exact ? gp_live_anchor(&s->r, node) : 0, label) : NULL;

	for (int32_t c = 0; taken && c < s->columns; c++)
		taken->y[c] = gp_live_target(s->r.q->keep, label, c);
	if (change->taken)
		return;
	if (s->r.f.values)
		add_seen(s, 1.0, gp_live_row(&s->r.ev, change->node), -1)->y[0] = (change->target - s->r.f.offset) / s->r.f.unit;
	else
		add_seen(s, 1.0, gp_live_row(&s->r.ev, change->node), -1)->y[change->label] = 1.0;
}

/* Lists the points. */
static void
list_points(live *s)
{
	const gp_live_question *q = s->r.q;

	s->seen = gp_alloc_zero(s->r.env, 2 * q->nlabels, sizeof(observation));
	for (int64_t k = 0; k < q->nlabels; k++)
		see_label(s, &q->label[k]);
	s->asked = q->asked + q->ncuts;
	s->points = s->asked + s->nseen;
	s->row = gp_alloc_array(s->r.env, s->points, sizeof(int32_t));
	for (int64_t i = 0; i < q->asked; i++)
		s->row[i] = gp_live_row(&s->r.ev, q->node ? q->node[i] : (int32_t) i);
	for (int64_t k = 0; k < q->ncuts; k++)
		s->row[q->asked + k] = gp_live_row_cut(&s->r.ev, k);
	for (int64_t k = 0; k < s->nseen; k++)
		s->row[s->asked + k] = (int32_t) s->seen[k].row;
	s->mean = gp_alloc_array(s->r.env, s->points, s->width * sizeof(double));
	s->prior = gp_alloc_zero(s->r.env, s->points, sizeof(double));
}

/* The weights of what is predicted, and for values of targets that are all 1. */
static gp_matrix
take_weights(live *s, int64_t rank)
{
	gp_device  *dev = s->r.dev;
	gp_matrix	w = gp_keep_take(dev, gp_keep_need(s->r.env, s->r.q->keep, GP_PIECE_WEIGHTS, 0, 0, rank), GP_DOUBLE);
	gp_matrix	ones;
	gp_matrix	out;

	if (!s->r.f.values)
		return w;
	ones = gp_keep_take(dev, gp_keep_need(s->r.env, s->r.q->keep, GP_PIECE_WEIGHTS, 0, 1, rank), GP_DOUBLE);
	out = dev->create(dev, w.rows, 2, GP_DOUBLE);
	dev->copy(dev, gp_matrix_cols(out, 0, 1), w);
	dev->copy(dev, gp_matrix_cols(out, 1, 1), ones);
	dev->destroy(dev, &w);
	dev->destroy(dev, &ones);
	return out;
}

/* Means and half covariances from rows in the regression's columns, which are spoilt. */
static void
take_rows(live *s, gp_matrix rows)
{
	gp_device  *dev = s->r.dev;
	gp_matrix	w = take_weights(s, rows.cols);
	gp_matrix	mean = dev->create(dev, s->points, s->width, GP_DOUBLE);

	s->rank = rows.cols;
	s->half = gp_alloc_array(s->r.env, s->points, s->rank * sizeof(double));
	dev->gemm(dev, false, false, 1.0, rows, w, 0.0, mean);
	dev->download(dev, gp_matrix_wrap(s->mean, s->points, s->width, GP_DOUBLE), mean);
	gp_live_solve(&s->r, true, rows);
	dev->download(dev, gp_matrix_wrap(s->half, s->points, s->rank, GP_DOUBLE), rows);
	dev->destroy(dev, &mean);
	dev->destroy(dev, &w);
}

/* ---- exact ---- */

/* A node's covariance with itself is the diagonal, which the variances use, too. */
static void
put_diagonal(live *s, double *block, int64_t width, const int32_t *col)
{
	for (int64_t i = 0; i < s->points; i++)
		for (int64_t j = 0; j < width; j++)
			if (s->row[i] == col[j])
				block[i * width + j] = s->prior[i];
}

/* The points' rows of K. */
static void
ask_exact(live *s)
{
	gp_device  *dev = s->r.dev;
	int64_t		m;
	const int32_t *labelled = gp_live_labelled(s->r.q->keep, &m);
	int64_t		ncols = m + s->nseen;
	int32_t    *col = gp_alloc_array(s->r.env, ncols, sizeof(int32_t));
	double	   *block;
	gp_matrix	all;
	gp_matrix	some;
	gp_matrix	rows;

	for (int64_t k = 0; k < ncols; k++)
		col[k] = (int32_t) (k < m ? gp_live_anchor(&s->r, labelled[k]) : s->seen[k - m].row);
	gp_live_diagonal(&s->r, s->row, s->points, s->prior);
	all = gp_live_columns(&s->r, col, ncols);
	gp_live_forget(&s->r);
	some = dev->create(dev, s->points, ncols, s->r.ev.type);
	dev->gather_rows(dev, some, all, s->row);
	dev->destroy(dev, &all);
	block = gp_alloc_array(s->r.env, s->points, ncols * sizeof(double));
	dev->download(dev, gp_matrix_wrap(block, s->points, ncols, GP_DOUBLE), some);
	dev->destroy(dev, &some);
	put_diagonal(s, block, ncols, col);
	s->cross = gp_alloc_array(s->r.env, s->points * s->nseen, sizeof(double));
	for (int64_t i = 0; i < s->points; i++)
		for (int64_t k = 0; k < s->nseen; k++)
			s->cross[i * s->nseen + k] = block[i * ncols + m + k];
	rows = dev->create(dev, s->points, m, GP_DOUBLE);
	for (int64_t i = 0; i < s->points; i++)
		dev->upload(dev, gp_matrix_rows(rows, i, 1), gp_matrix_wrap(block + i * ncols, 1, m, GP_DOUBLE));
	take_rows(s, rows);
	dev->destroy(dev, &rows);
	gp_free(s->r.env, block);
	gp_free(s->r.env, col);
}

/* ---- low rank ---- */

/* The points' rows of Q: as nodes are now, or as the fit had labelled ones. */
static void
ask_lowrank(live *s)
{
	gp_device  *dev = s->r.dev;
	gp_factor  *f = gp_live_factor(&s->r);
	int64_t		m;
	const int32_t *unused = gp_live_labelled(s->r.q->keep, &m);
	const gp_piece *labelled = gp_keep_need(s->r.env, s->r.q->keep, GP_PIECE_LABELLED_ROWS, 0, 0, m);
	gp_matrix	rows = dev->create(dev, s->points, gp_factor_rank(f), GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, s->points, 1, GP_DOUBLE);

	(void) unused;
	if (s->r.f.exact_diagonal)
		gp_live_diagonal(&s->r, s->row, s->points, s->prior);
	gp_factor_rows(&s->r.ev, f, s->row, s->points, rows);
	for (int64_t k = 0; k < s->nseen; k++)
		if (s->seen[k].label >= 0)
			dev->upload(dev, gp_matrix_rows(rows, s->asked + k, 1),
						gp_matrix_wrap((char *) labelled->dense +
									   s->seen[k].label * labelled->cols * gp_type_size(labelled->type),
									   1, labelled->cols, labelled->type));
	gp_factor_free(&s->r.ev, f);
	if (s->r.f.exact_diagonal)
	{
		double	   *host = gp_alloc_array(s->r.env, s->points, sizeof(double));

		/* What the factor lacks of the diagonal stays whatever is labelled. */
		dev->row_dots(dev, norm, rows, rows);
		dev->download(dev, gp_matrix_wrap(host, s->points, 1, GP_DOUBLE), norm);
		for (int64_t i = 0; i < s->points; i++)
			s->prior[i] = s->prior[i] > 0.0 ? s->prior[i] - host[i] : -INFINITY;
		gp_free(s->r.env, host);
	}
	else
	{
		dev->row_dots(dev, norm, rows, rows);
		dev->download(dev, gp_matrix_wrap(s->prior, s->points, 1, GP_DOUBLE), norm);
		for (int64_t i = 0; i < s->points; i++)
			s->prior[i] = s->prior[i] > 0.0 ? 0.0 : -INFINITY;
	}
	take_rows(s, rows);
	dev->destroy(dev, &norm);
	dev->destroy(dev, &rows);
}

/* ---- labels that are given and taken ---- */

/* The means and variances (of points asked for) with the observations. */
static void
observe(live *s, double *variance)
{
	int64_t		n = s->nseen;
	double	   *sign = gp_alloc_array(s->r.env, n, sizeof(double));
	double	   *left = gp_alloc_array(s->r.env, n, s->width * sizeof(double));
	gp_change	change = {.dev = s->r.dev,.noise = s->r.f.noise,.points = s->asked,.n = n,.rank = s->rank,.half = s->half,
	.cross = s->r.f.exact ? s->cross : NULL,.width = s->width,.sign = sign,.left = left};

	for (int64_t k = 0; k < n; k++)
	{
		sign[k] = s->seen[k].sign;
		for (int32_t c = 0; c < s->width; c++)
			left[k * s->width + c] = s->seen[k].y[c] - s->mean[(s->asked + k) * s->width + c];
	}
	gp_live_change(&change, s->mean, variance);
	gp_free(s->r.env, sign);
	gp_free(s->r.env, left);
}

/* The latent variances before any change; diag gets what tells nodes without kernel from others. */
static void
fill_variances(live *s, double *variance, double *diag)
{
	for (int64_t i = 0; i < s->asked; i++)
	{
		double		dot = 0.0;

		for (int64_t j = 0; j < s->rank; j++)
			dot += s->half[i * s->rank + j] * s->half[i * s->rank + j];
		variance[i] = s->r.f.exact ? s->prior[i] - dot : s->prior[i] + s->r.f.noise * dot;
		diag[i] = s->r.f.exact ? s->prior[i] : isfinite(s->prior[i]);
	}
}

/* How many labels are left, of which there has to be one. */
static int64_t
labels_now(const live *s)
{
	int64_t		n;

	(void) gp_live_labelled(s->r.q->keep, &n);
	for (int64_t k = 0; k < s->nseen; k++)
		n += s->seen[k].sign > 0.0 ? 1 : -1;
	if (n < 1)
		gp_raise(s->r.env, GP_ERR_DATA, "Take fewer labels away at once.",
				 "the labels that are taken away leave nothing to predict by");
	return n;
}

/* The mean of the targets that are left, which values are centred by. */
static double
offset_now(const live *s)
{
	double		sum = 0.0;

	/* In the targets' unit, and with those of the fit centred, their sum is 0. */
	for (int64_t k = 0; k < s->nseen; k++)
		sum += s->seen[k].sign * s->seen[k].y[0];
	return sum / (double) labels_now(s);
}

/* Centres values anew: what the mean of the targets gained is predicted as targets of 1 are. */
static void
centre(live *s)
{
	double		gain = s->nseen > 0 ? offset_now(s) : 0.0;

	for (int64_t i = 0; i < s->asked; i++)
		s->mean[i] = s->mean[2 * i] - gain * s->mean[2 * i + 1];
	s->r.f.offset += s->r.f.unit * gain;
}

/* The answer from means and latent variances, as a fit finishes its posterior. */
static gp_live_answer
finish(live *s)
{
	gp_problem	problem = {.task = s->r.f.values ? GP_TASK_VALUES : GP_TASK_CLASSES};
	gp_targets	targets = {.unit = s->r.f.unit};
	gp_solution solution = {.noise = s->r.f.noise,.mean_diag = s->r.f.mean_diag,.scale = s->r.f.scale};
	gp_posterior out = {.nodes = s->asked,.columns = s->columns,.mean = s->mean};
	double	   *diag = gp_alloc_array(s->r.env, s->asked, sizeof(double));

	out.variance = gp_alloc_array(s->r.env, s->asked, sizeof(double));
	fill_variances(s, out.variance, diag);
	if (s->nseen > 0)
	{
		(void) labels_now(s);
		observe(s, out.variance);
	}
	if (s->r.f.values)
		centre(s);
	targets.offset = s->r.f.offset;
	gp_posterior_finish(s->r.env, &problem, &targets, &solution, diag, &out);
	gp_free(s->r.env, diag);
	if (!gp_all_finite(s->r.env, out.mean, out.nodes * out.columns) || !gp_all_finite(s->r.env, out.variance, out.nodes))
		gp_raise(s->r.env, GP_ERR_RANGE, "Give labels of ordinary sizes.", "an answer is out of range");
	return (gp_live_answer) {.n = out.nodes,.columns = out.columns,.mean = out.mean,.variance = out.variance,
		.is_prior = out.is_prior};
}

/* Evaluates the points of a question. */
static void
begin(live *s)
{
	s->columns = (int32_t) s->r.f.columns;
	s->width = s->columns + (s->r.f.values ? 1 : 0);
	list_points(s);
	if (s->r.f.exact)
		ask_exact(s);
	else
		ask_lowrank(s);
}

/* Frees what a question took, but for its means. */
static void
end(live *s)
{
	for (int64_t k = 0; k < s->nseen; k++)
		gp_free(s->r.env, s->seen[k].y);
	gp_free(s->r.env, s->seen);
	gp_free(s->r.env, s->row);
	gp_free(s->r.env, s->prior);
	gp_free(s->r.env, s->half);
	gp_free(s->r.env, s->cross);
	gp_live_rows_close(&s->r);
}

/* Answers a question. */
gp_live_answer
gp_live_ask(gp_device *dev, const gp_live_question *question)
{
	live		s = {.r = gp_live_rows_open(dev, question, false)};
	gp_live_answer answer;

	begin(&s);
	answer = finish(&s);
	end(&s);
	return answer;
}

/* count = u Q_t', a block of labelled rows at a time, which become double while they are in the cache. */
static void
times_labelled(live *s, gp_matrix u, int64_t m, double *count)
{
	gp_device  *dev = s->r.dev;
	const gp_piece *piece = gp_keep_need(s->r.env, s->r.q->keep, GP_PIECE_LABELLED_ROWS, 0, 0, m);
	size_t		row = (size_t) piece->cols * gp_type_size(piece->type);
	gp_matrix	rows = dev->create(dev, LABELLED_AT_ONCE, piece->cols, GP_DOUBLE);
	gp_matrix	out = dev->create(dev, 1, LABELLED_AT_ONCE, GP_DOUBLE);

	for (gp_band band = gp_band_first(m, LABELLED_AT_ONCE); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(rows, 0, band.count);

		dev->upload(dev, part, gp_matrix_wrap((char *) piece->dense + (size_t) band.first * row, band.count, piece->cols, piece->type));
		dev->gemm(dev, false, true, 1.0, u, part, 0.0, gp_matrix_cols(out, 0, band.count));
		dev->download(dev, gp_matrix_wrap(count + band.first, 1, band.count, GP_DOUBLE), gp_matrix_cols(out, 0, band.count));
	}
	dev->destroy(dev, &rows);
	dev->destroy(dev, &out);
}

/* How much each label counts at the first point: k_i'(K + noise I)^-1, or q_i'B^-1 q_t. */
static void
fill_counts(live *s, int64_t m, double *count)
{
	gp_device  *dev = s->r.dev;
	gp_matrix	u = dev->create(dev, 1, s->rank, GP_DOUBLE);

	dev->upload(dev, u, gp_matrix_wrap(s->half, 1, s->rank, GP_DOUBLE));
	gp_live_solve(&s->r, false, u);
	if (s->r.f.exact)
		dev->download(dev, gp_matrix_wrap(count, 1, m, GP_DOUBLE), u);
	else
		times_labelled(s, u, m, count);
	dev->destroy(dev, &u);
}

/* The answer, and how much each label counts. */
gp_live_answer
gp_live_explain(gp_device *dev, const gp_live_question *question, double *count)
{
	live		s = {.r = gp_live_rows_open(dev, question, false)};
	gp_live_answer answer;
	int64_t		m;

	(void) gp_live_labelled(question->keep, &m);
	begin(&s);
	fill_counts(&s, m, count);
	answer = finish(&s);
	end(&s);
	return answer;
}

/* The parts of the score of a column. */
void
gp_live_parts(gp_env *env, const gp_keep *keep, int32_t column, double *count)
{
	gp_live_figures f;
	int64_t		m;

	(void) gp_live_labelled(keep, &m);
	if (!gp_live_read(keep, &f))
		gp_raise(env, GP_ERR_INTERNAL, NULL, "the live state has no figures");
	for (int64_t t = 0; t < m; t++)
		count[t] *= f.unit * gp_live_target(keep, t, column);
}
