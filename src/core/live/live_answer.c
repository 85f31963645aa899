/*
 * live_answer.c - the posterior of a few nodes, evaluated against what a fit recorded.
 *
 * A node i has the row t_i = k_i L^-T (exact, L of K(t,t) + noise I) or q_i L^-T (low rank, L of
 * Q'Q + noise I).  The posterior covariance of two nodes is k_ij - <t_i, t_j>, or noise <t_i, t_j>.
 *
 * Labels that are given or removed condition it once more.  With J the observations and
 * S = C(J,J) + noise D, where D has 1 for a label that is given and -1 for one that is removed,
 * m' = m + C(:,J) S^-1 (y_J - m_J) and C' = C - C(:,J) S^-1 C(J,:) (Rasmussen and Williams 2006,
 * equations 2.23 and 2.24).  S is indefinite, but the part of the labels given is positive
 * definite, and its Schur complement is negative definite while a label remains to predict by.
 * So two Cholesky factors serve (Vanderbei 1995, "Symmetric quasidefinite matrices").
 */
#include "base/sort.h"
#include "live_rows.h"

#define LABELLED_AT_ONCE 64		/* rows of labels that are multiplied */

/* A label, given or removed, with the row that it is of. */
typedef struct observation
{
	int32_t		row;			/* of the evaluation */
	int64_t		label;			/* of the fit's; -1: as the node is now */
	double	   *y;				/* width targets, in the targets' unit */
} observation;

/* A question at work. */
typedef struct live
{
	gp_env	   *env;
	gp_device  *dev;
	gp_live_rows r;
	int32_t		columns;
	int32_t		width;			/* of mean: columns, and for values what targets of 1 would give */
	int64_t		given;			/* observations: those given come first, */
	int64_t		nseen;			/* then those removed */
	observation *seen;
	int64_t		asked;			/* the nodes asked for */
	int64_t		points;			/* these, then the observations */
	int32_t    *row;			/* of each point, among the evaluation's */
	double	   *mean;			/* points x width */
	double	   *prior;			/* points: k_ii */
	double	   *left;			/* points: of it, what no label explains; exact: k_ii */
	double	   *half;			/* points x rank: t_i */
	int64_t		rank;
	double	   *cross;			/* exact: points x nseen, K; low rank: NULL */
} live;

static observation *
add_observation(live *s, int64_t row, int64_t label)
{
	observation *o = &s->seen[s->nseen++];

	*o = (observation) {.row = (int32_t) row,.label = label};
	o->y = gp_alloc_zero(s->env, s->width, sizeof(double));
	if (s->r.f.values)
		o->y[1] = 1.0;
	return o;
}

static void
list_points(live *s)
{
	const gp_live_question *q = s->r.q;

	s->seen = gp_alloc_zero(s->env, 2 * q->nlabels, sizeof(observation));
	for (int64_t k = 0; k < q->nlabels; k++)
	{
		const gp_live_label *l = &q->label[k];

		if (l->taken)
			continue;
		observation *o = add_observation(s, gp_live_row(&s->r.ev, l->node), -1);
		if (s->r.f.values)
			o->y[0] = (l->target - s->r.f.offset) / s->r.f.unit;
		else
			o->y[l->label] = 1.0;
	}
	s->given = s->nseen;
	/* A new label, too, removes the one that the fit had. */
	for (int64_t k = 0; k < q->nlabels; k++)
	{
		int32_t		node = q->fit_node[q->label[k].node];
		int64_t		label = node < 0 ? -1 : gp_sorted_find(s->r.labelled, s->r.nlabelled, node);

		if (label < 0)
			continue;
		observation *o = add_observation(s, s->r.f.exact ? gp_live_anchor(&s->r, node) : 0, label);
		for (int32_t c = 0; c < s->columns; c++)
			o->y[c] = gp_live_target(q->state, label, c);
	}
	s->asked = q->asked;
	s->points = s->asked + s->nseen;
	s->row = gp_alloc_array(s->env, s->points, sizeof(int32_t));
	for (int64_t i = 0; i < q->asked; i++)
		s->row[i] = gp_live_row(&s->r.ev, q->node ? q->node[i] : (int32_t) i);
	for (int64_t k = 0; k < s->nseen; k++)
		s->row[s->asked + k] = s->seen[k].row;
	s->mean = gp_alloc_array(s->env, s->points, s->width * sizeof(double));
	s->prior = gp_alloc_zero(s->env, s->points, sizeof(double));
	s->left = gp_alloc_array(s->env, s->points, sizeof(double));
}

/* Means and half covariances from rows in the regression's columns, which are spoilt. */
static void
regress_rows(live *s, gp_matrix rows)
{
	gp_device  *dev = s->dev;
	gp_matrix	w = dev->create(dev, rows.cols, s->width, GP_DOUBLE);
	gp_matrix	mean = dev->create(dev, s->points, s->width, GP_DOUBLE);

	/* The weights of the targets, and for values those of targets that are all 1. */
	for (int part = 0; part <= (s->r.f.values ? 1 : 0); part++)
	{
		gp_matrix	some = gp_state_load(dev, gp_state_need(s->env, s->r.q->state,
															GP_PIECE_WEIGHTS, 0, part, rows.cols),
										 GP_DOUBLE);

		dev->copy(dev, gp_matrix_cols(w, part == 0 ? 0 : s->columns, some.cols), some);
		dev->destroy(dev, &some);
	}
	s->rank = rows.cols;
	s->half = gp_alloc_values(s->env, s->points, s->rank * sizeof(double));
	dev->gemm(dev, false, false, 1.0, rows, w, 0.0, mean);
	dev->download(dev, gp_matrix_wrap(s->mean, s->points, s->width, GP_DOUBLE), mean);
	gp_live_solve(&s->r, true, rows);
	dev->download(dev, gp_matrix_wrap(s->half, s->points, s->rank, GP_DOUBLE), rows);
	gp_destroy_all(dev, &mean, &w);
}

/* Evaluates the points' rows of K. */
static void
evaluate_exact(live *s)
{
	gp_device  *dev = s->dev;
	int64_t		m = s->r.nlabelled;
	int64_t		ncols = m + s->nseen;
	int32_t    *col = gp_alloc_array(s->env, ncols, sizeof(int32_t));
	double	   *block = gp_alloc_array(s->env, s->points, ncols * sizeof(double));
	gp_matrix	host = gp_matrix_wrap(block, s->points, ncols, GP_DOUBLE);

	for (int64_t k = 0; k < ncols; k++)
		col[k] = k < m ? gp_live_anchor(&s->r, s->r.labelled[k]) : s->seen[k - m].row;
	gp_live_diagonal(&s->r, s->row, s->points, s->prior);
	memcpy(s->left, s->prior, s->points * sizeof(double));
	gp_matrix	all = gp_live_columns(&s->r, col, ncols);
	s->dev->destroy(s->dev, &s->r.whole);
	gp_matrix	some = gp_gather(dev, all, s->row, s->points);
	dev->destroy(dev, &all);
	dev->download(dev, host, some);
	dev->destroy(dev, &some);
	/* A node's covariance with itself is the diagonal, which the variances use, too. */
	for (int64_t i = 0; i < s->points; i++)
		for (int64_t j = 0; j < ncols; j++)
			if (s->row[i] == col[j])
				block[i * ncols + j] = s->prior[i];
	s->cross = gp_alloc_array(s->env, s->points * s->nseen, sizeof(double));
	for (int64_t i = 0; i < s->points; i++)
		for (int64_t k = 0; k < s->nseen; k++)
			s->cross[i * s->nseen + k] = block[i * ncols + m + k];
	gp_matrix	rows = gp_upload(dev, gp_matrix_cols(host, 0, m), GP_DOUBLE);
	regress_rows(s, rows);
	dev->destroy(dev, &rows);
	gp_free_all(s->env, block, col);
}

/* Evaluates the points' rows of Q: as nodes are now, or as the fit had labelled ones. */
static void
evaluate_lowrank(live *s)
{
	gp_device  *dev = s->dev;
	gp_factor  *f = gp_live_factor(&s->r);
	const gp_piece *labelled = s->nseen == 0 ? NULL :
		gp_state_need(s->env, s->r.q->state, GP_PIECE_LABELLED_ROWS, 0, 0, s->r.nlabelled);
	gp_matrix	rows = dev->create(dev, s->points, gp_factor_rank(f), GP_DOUBLE);

	if (s->r.f.exact_diagonal)
		gp_live_diagonal(&s->r, s->row, s->points, s->prior);
	gp_factor_rows(&s->r.ev, f, s->row, s->points, rows);
	for (int64_t k = 0; k < s->nseen; k++)
		if (s->seen[k].label >= 0)
			dev->upload(dev, gp_matrix_rows(rows, s->asked + k, 1),
						gp_matrix_rows(gp_matrix_wrap(labelled->dense, labelled->rows,
													  labelled->cols, labelled->type),
									   s->seen[k].label, 1));
	gp_factor_free(&s->r.ev, f);
	double	   *own = gp_row_products(dev, rows, rows);
	/* What the factor lacks of the diagonal stays whatever is labelled. */
	for (int64_t i = 0; i < gp_items(s->env, s->points); i++)
	{
		s->prior[i] = s->r.f.exact_diagonal ? s->prior[i] : own[i];
		s->left[i] = s->prior[i] - own[i];
	}
	regress_rows(s, rows);
	gp_free(s->env, own);
	dev->destroy(dev, &rows);
}

/* ---- labels that are given and removed ---- */

static void
raise_nothing_left(gp_env *env)
{
	gp_raise(env, GP_ERR_DATA, "Remove fewer labels at once.",
			 "no label is left to predict from");
}

/* a <- the Cholesky factor of a + noise I. */
static void
factorise(live *s, gp_matrix a)
{
	gp_device  *dev = s->dev;

	dev->shift(dev, gp_matrix_diagonal(a), s->r.f.noise);
	bool		sound = dev->potrf(dev, a) < 0;
	double	   *diagonal = gp_download(dev, gp_matrix_diagonal(a));
	for (int64_t i = 0; i < a.rows; i++)
		sound = sound && diagonal[i] * diagonal[i] > 1e-9 * s->r.f.noise;
	gp_free(s->env, diagonal);
	if (!sound)
		raise_nothing_left(s->env);
}

/* x <- S^-1 x for S = c + noise D, whose first rows are those of the labels given. */
static void
solve_quasidefinite(live *s, gp_matrix c, gp_matrix x)
{
	gp_device  *dev = s->dev;
	int64_t		g = s->given;
	int64_t		t = s->nseen - g;
	gp_matrix	given = gp_matrix_rows(x, 0, g);
	gp_matrix	removed = gp_matrix_rows(x, g, t);
	gp_matrix	root = dev->create(dev, g, g, GP_DOUBLE);
	gp_matrix	beside = dev->create(dev, g, t, GP_DOUBLE); /* root^-1 S(given, removed) */
	/* the root of minus the Schur complement */
	gp_matrix	rest = dev->create(dev, t, t, GP_DOUBLE);

	if (g > 0)
	{
		dev->copy(dev, root, gp_matrix_part(c, 0, 0, g, g));
		factorise(s, root);
		dev->trsm(dev, true, false, root, given);
	}
	if (t > 0)
		dev->axpby(dev, -1.0, gp_matrix_part(c, g, g, t, t), 0.0, rest);
	if (g > 0 && t > 0)
	{
		dev->copy(dev, beside, gp_matrix_part(c, 0, g, g, t));
		dev->trsm(dev, true, false, root, beside);
		dev->gemm(dev, true, false, 1.0, beside, beside, 1.0, rest);
		dev->gemm(dev, true, false, -1.0, beside, given, 1.0, removed);
	}
	if (t > 0)
	{
		factorise(s, rest);
		dev->trsm(dev, true, false, rest, removed);
		dev->trsm(dev, true, true, rest, removed);
		dev->axpby(dev, -1.0, removed, 0.0, removed);
	}
	if (g > 0 && t > 0)
		dev->gemm(dev, false, false, -1.0, beside, removed, 1.0, given);
	if (g > 0)
		dev->trsm(dev, true, true, root, given);
	gp_destroy_all(dev, &root, &beside, &rest);
}

/* Brings means and variances of the points asked for up to date with the observations. */
static void
condition(live *s, double *variance)
{
	gp_device  *dev = s->dev;
	int64_t		n = s->nseen;
	bool		exact = s->r.f.exact;
	gp_matrix	half = gp_upload(dev, gp_matrix_wrap(s->half, s->points, s->rank, GP_DOUBLE),
								 GP_DOUBLE);
	gp_matrix	cov = dev->create(dev, s->points, n, GP_DOUBLE);	/* C(:,J) */
	gp_matrix	asked = gp_matrix_rows(cov, 0, s->asked);
	gp_matrix	x = dev->create(dev, n, s->width + s->asked, GP_DOUBLE);
	gp_matrix	host = gp_matrix_wrap(s->mean, s->asked, s->width, GP_DOUBLE);
	gp_matrix	mean = gp_upload(dev, host, GP_DOUBLE);

	if (exact)
		dev->upload(dev, cov, gp_matrix_wrap(s->cross, s->points, n, GP_DOUBLE));
	dev->gemm(dev, false, true, exact ? -1.0 : s->r.f.noise, half,
			  gp_matrix_rows(half, s->asked, n), exact ? 1.0 : 0.0, cov);
	/* x = S^-1 [y_J - m_J, C(J,:)] */
	for (int64_t k = 0; k < n; k++)
	{
		for (int32_t c = 0; c < s->width; c++)
			s->seen[k].y[c] -= s->mean[(s->asked + k) * s->width + c];
		dev->upload(dev, gp_matrix_part(x, k, 0, 1, s->width),
					gp_matrix_wrap(s->seen[k].y, 1, s->width, GP_DOUBLE));
	}
	dev->transpose(dev, gp_matrix_cols(x, s->width, s->asked), asked);
	solve_quasidefinite(s, gp_matrix_rows(cov, s->asked, n), x);

	dev->gemm(dev, false, false, 1.0, asked, gp_matrix_cols(x, 0, s->width), 1.0, mean);
	dev->download(dev, host, mean);
	gp_matrix	solved = gp_transpose(dev, gp_matrix_cols(x, s->width, s->asked));
	double	   *less = gp_row_products(dev, asked, solved);
	for (int64_t i = 0; i < s->asked; i++)
		variance[i] -= less[i];
	gp_destroy_all(dev, &half, &cov, &x, &solved, &mean);
	gp_free(s->env, less);
}

/* The answer from means and half covariances, as a fit finishes its posterior. */
static gp_live_answer
finish(live *s)
{
	const gp_live_scalars *f = &s->r.f;
	gp_problem	problem = {.task = f->values ? GP_TASK_VALUES : GP_TASK_CLASSES};
	gp_targets	targets = {.unit = f->unit,.offset = f->offset,.least = f->least,
	.flat = f->flat > 0.0};
	gp_solution solution = {.noise = f->noise,.mean_diag = f->mean_diag,.scale = f->scale};
	const gp_piece *spread = gp_state_find(s->r.q->state, GP_PIECE_FIGURES, 0, 1);
	gp_posterior out = {.nodes = s->asked,.columns = s->columns,.mean = s->mean};
	/* The mean of the targets now less that of the fit, in the targets' unit, where the fit's sum
	 * is 0 */
	double		sum = 0.0;

	for (int64_t k = 0; k < s->nseen; k++)
		sum += (k < s->given ? 1.0 : -1.0) * s->seen[k].y[0];
	for (int64_t k = 0; f->values && k < s->r.q->nlabels; k++)
		if (!s->r.q->label[k].taken && s->r.q->label[k].target < 0.0)
			targets.least = -INFINITY;
	double		gain = s->nseen > 0 ? sum / (double) (s->r.nlabelled + 2 * s->given - s->nseen)
		: 0.0;

	if (spread)
	{
		solution.spread.n = spread->rows;
		memcpy(solution.spread.knot, spread->dense, (size_t) spread->rows * 2 * sizeof(double));
	}
	out.variance = gp_alloc_array(s->env, s->asked, sizeof(double));
	for (int64_t i = 0; i < gp_items(s->env, s->asked); i++)
	{
		double		dot = 0.0;

		for (int64_t j = 0; j < s->rank; j++)
			dot += s->half[i * s->rank + j] * s->half[i * s->rank + j];
		out.variance[i] = s->left[i] + (f->exact ? -dot : f->noise * dot);
	}
	if (s->nseen > 0 && s->r.nlabelled + 2 * s->given - s->nseen < 1)
		raise_nothing_left(s->env);
	if (s->nseen > 0)
		condition(s, out.variance);
	/* Values are centred again: what their mean has gained is predicted as targets of 1 are. */
	for (int64_t i = 0; f->values && i < s->asked; i++)
		s->mean[i] = s->mean[2 * i] - gain * s->mean[2 * i + 1];
	if (f->values)
		targets.offset += f->unit * gain;
	gp_posterior_finish(s->env, &problem, &targets, &solution, s->prior, &out);
	if (!gp_all_finite(s->env, out.mean, gp_items(s->env, out.nodes * out.columns)) ||
		!gp_all_finite(s->env, out.variance, gp_items(s->env, out.nodes)))
		gp_raise(s->env, GP_ERR_RANGE, "Give labels of ordinary sizes.",
				 "an answer is out of range");
	return (gp_live_answer) {.n = out.nodes,.columns = out.columns,.mean = out.mean,
	.variance = out.variance,.is_prior = out.is_prior};
}

/* How much each label counts at the first point: k_i'(K + noise I)^-1, or q_i'B^-1 Q_t'. */
static void
label_counts(live *s, double *count)
{
	gp_device  *dev = s->dev;
	int64_t		m = s->r.nlabelled;
	gp_matrix	u = gp_upload(dev, gp_matrix_wrap(s->half, 1, s->rank, GP_DOUBLE), GP_DOUBLE);

	gp_live_solve(&s->r, false, u);
	if (s->r.f.exact)
		dev->download(dev, gp_matrix_wrap(count, 1, m, GP_DOUBLE), u);
	else
	{
		const gp_piece *piece = gp_state_need(s->env, s->r.q->state, GP_PIECE_LABELLED_ROWS, 0, 0,
											  m);
		gp_matrix	kept = gp_matrix_wrap(piece->dense, m, piece->cols, piece->type);
		gp_matrix	rows = dev->create(dev, LABELLED_AT_ONCE, piece->cols, GP_DOUBLE);
		gp_matrix	out = dev->create(dev, 1, LABELLED_AT_ONCE, GP_DOUBLE);

		/* A block of labelled rows at a time, which become double while they are in the cache. */
		for (gp_band band = gp_band_first(m, LABELLED_AT_ONCE); band.count > 0; gp_band_next(&band))
		{
			gp_matrix	b = gp_matrix_rows(rows, 0, band.count);
			gp_matrix	o = gp_matrix_cols(out, 0, band.count);

			dev->upload(dev, b, gp_matrix_rows(kept, band.first, band.count));
			dev->gemm(dev, false, true, 1.0, u, b, 0.0, o);
			dev->download(dev, gp_matrix_wrap(count + band.first, 1, band.count, GP_DOUBLE), o);
		}
		gp_destroy_all(dev, &rows, &out);
	}
	dev->destroy(dev, &u);
}

gp_live_answer
gp_live_explain(gp_device *dev, const gp_live_question *question, double *count)
{
	live		s = {.env = dev->env,.dev = dev,.r = gp_live_rows_open(dev, question, false)};

	s.columns = (int32_t) s.r.f.columns;
	s.width = s.columns + (s.r.f.values ? 1 : 0);
	list_points(&s);
	if (s.r.f.exact)
		evaluate_exact(&s);
	else
		evaluate_lowrank(&s);
	if (count)
		label_counts(&s, count);
	gp_live_answer answer = finish(&s);
	for (int64_t k = 0; k < s.nseen; k++)
		gp_free(s.env, s.seen[k].y);
	gp_free_all(s.env, s.seen, s.row, s.prior, s.left, s.half, s.cross);
	gp_live_rows_close(&s.r);
	return answer;
}

gp_live_answer
gp_live_ask(gp_device *dev, const gp_live_question *question)
{
	return gp_live_explain(dev, question, NULL);
}

void
gp_live_parts(gp_env *env, const gp_live_state *state, int32_t column, double *count)
{
	gp_live_scalars f;
	int64_t		m;

	if (!gp_live_read(state, &f))
		gp_raise(env, GP_ERR_INTERNAL, NULL, "the live state has no scalars");
	gp_live_labelled(state, &m);
	for (int64_t t = 0; t < m; t++)
		count[t] *= f.unit * gp_live_target(state, t, column);
}
