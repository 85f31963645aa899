/*
 * gckm_rkm.c - the semi-supervised restricted kernel machine, in closed form.
 *
 * With d = K 1 and r_i = 1/(lambda1 d_i) - [i labelled]/lambda2 the paper's stationary
 * point (Achten et al. 2024, eq. 11) is
 *
 *		[K/eta - R^-1, 1; 1', 0] [RH; b'] = [-R^-1 L C/lambda2; 0],
 *
 * and its scores are e_i = h_i - [i labelled] c_i/(r_i lambda2).  L selects the labelled nodes, C
 * holds their codes c, +1 or -1 for each class.  For K = QQ' the identity of Woodbury gives
 * (K/eta - R^-1)^-1 = -(R + R Q B^-1 Q' R) with B = eta I - Q' R Q, which has a row for each
 * landmark and is positive definite as soon as the unlabelled nodes' part is, whatever the labels
 * add.  All that is left is
 *
 *		e = Q B^-1 (g + u b') + 1 b',  g = Q' L C/lambda2,  u = Q' r,
 *		b' = -(1' C/lambda2 + u' B^-1 g) / (1' r + u' B^-1 u).
 *
 * One node less among the labels changes B by -q_i q_i'/lambda2, so that every
 * leave-one-out score follows from q_i' B^-1 q_i (Sherman and Morrison 1950).
 */
#include "gckm.h"

#define LAST_JITTER 1e-3		/* of B, relative to eta */
#define ROUNDING 1e-13			/* a label whose node is like no other leaves less than this */

/* The code of a class for labelled node k. */
static double
code_of(const gp_rkm *rkm, int64_t k, int32_t c)
{
	return rkm->label[k] == c ? 1.0 : -1.0;
}

/* What a solve works with; of columns + 1 columns the last one belongs to r. */
typedef struct solve
{
	gp_device  *dev;
	const gp_rkm *rkm;
	gp_matrix	q;				/* n x m */
	double	   *r;				/* n */
	gp_matrix	root;			/* m x m: the Cholesky factor of B */
	gp_matrix	weight;			/* m x (columns + 1): g and u, then B^-1 times them */
	double	   *cross;			/* columns + 1: u' B^-1 g, u' B^-1 u */
	double	   *codes;			/* columns: 1' C / lambda2 */
	double		total;			/* 1' r */
	double	   *along;			/* n: Q B^-1 u */
	double		jitter;
} solve;

/* r from d = Q (Q' 1); a node's own similarity is 1, whatever the landmarks make of it. */
static void
make_r(solve *s)
{
	gp_device  *dev = s->dev;
	const gp_rkm *rkm = s->rkm;
	int64_t		n = s->q.rows;
	gp_matrix	one = gp_filled(dev, n, 1, GP_DOUBLE, 1.0);
	gp_matrix	sum = dev->create(dev, s->q.cols, 1, GP_DOUBLE);

	dev->gemm(dev, true, false, 1.0, s->q, one, 0.0, sum);
	dev->gemm(dev, false, false, 1.0, s->q, sum, 0.0, one);
	dev->download(dev, gp_matrix_wrap(s->r, n, 1, GP_DOUBLE), one);
	gp_destroy_all(dev, &sum, &one);
	for (int64_t i = 0; i < gp_items(dev->env, n); i++)
		s->r[i] = 1.0 / (rkm->lambda1 * fmax(s->r[i], 1.0));
	for (int64_t k = 0; k < gp_items(dev->env, rkm->nlabelled); k++)
		s->r[rkm->labelled[k]] -= 1.0 / rkm->lambda2;
	for (int64_t i = 0; i < gp_items(dev->env, n); i++)
		s->total += s->r[i];
}

/* The Cholesky factor of B, made panel by panel; what rounding and few landmarks took from it is
 * given back. */
static void
make_root(solve *s)
{
	gp_device  *dev = s->dev;
	gp_env	   *env = dev->env;
	int64_t		n = s->q.rows;
	int64_t		height = gp_min64(n, GP_PANEL_ROWS);
	gp_matrix	b = gp_filled(dev, s->q.cols, s->q.cols, GP_DOUBLE, 0.0);
	gp_matrix	block = dev->create(dev, height, s->q.cols, GP_DOUBLE);
	gp_csr	   *d = gp_csr_identity(env, height, GP_DOUBLE);

	dev->shift(dev, gp_matrix_diagonal(b), s->rkm->eta);
	for (gp_band band = gp_band_first(n, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(s->q, band.first, band.count);
		gp_matrix	scaled = gp_matrix_rows(block, 0, band.count);

		gp_csr		r = *d;

		r.rows = r.cols = band.count;
		r.value = s->r + band.first;
		r.stamp = 0;
		dev->spmm(dev, 1.0, &r, part, 0.0, scaled);
		dev->gemm(dev, true, false, -1.0, scaled, part, 1.0, b);
		env->progress(env, GP_PHASE_POSTERIOR, band.first + band.count, n);
	}
	gp_csr_free(env, d);
	dev->destroy(dev, &block);
	s->jitter = gp_cholesky_jitter(dev, b, s->rkm->eta, 0.0, LAST_JITTER, s->root);
	if (isnan(s->jitter))
		gp_raise(env, GP_ERR_RANGE, "Scale the features to ordinary sizes.",
				 "the similarity of the nodes without a label is not positive definite");
	dev->destroy(dev, &b);
}

/* Q B^-1 [g, u] of all nodes: into score and along; their products with u into cross. */
static void
make_fields(solve *s, double *score)
{
	gp_device  *dev = s->dev;
	const gp_rkm *rkm = s->rkm;
	int64_t		n = s->q.rows;
	int64_t		p = rkm->columns;
	gp_matrix	field = dev->create(dev, n, p + 1, GP_DOUBLE);	/* [L C / lambda2, r] first */
	gp_matrix	u = dev->create(dev, s->q.cols, 1, GP_DOUBLE);
	gp_matrix	cross = dev->create(dev, 1, p + 1, GP_DOUBLE);

	memset(score, 0, (size_t) gp_items(dev->env, n * p) * sizeof(double));
	memset(s->codes, 0, (size_t) gp_items(dev->env, p) * sizeof(double));
	for (int64_t k = 0; k < gp_items(dev->env, rkm->nlabelled); k++)
		for (int32_t c = 0; c < p; c++)
		{
			double		code = code_of(rkm, k, c) / rkm->lambda2;

			score[(int64_t) rkm->labelled[k] * p + c] = code;
			s->codes[c] += code;
		}
	dev->upload(dev, gp_matrix_cols(field, 0, p), gp_matrix_wrap(score, n, p, GP_DOUBLE));
	dev->upload(dev, gp_matrix_cols(field, p, 1), gp_matrix_wrap(s->r, n, 1, GP_DOUBLE));
	dev->gemm(dev, true, false, 1.0, s->q, field, 0.0, s->weight);
	dev->copy(dev, u, gp_matrix_cols(s->weight, p, 1));
	dev->trsm(dev, true, false, s->root, s->weight);
	dev->trsm(dev, true, true, s->root, s->weight);
	dev->gemm(dev, true, false, 1.0, u, s->weight, 0.0, cross);
	dev->gemm(dev, false, false, 1.0, s->q, s->weight, 0.0, field);
	dev->download(dev, gp_matrix_wrap(s->cross, 1, p + 1, GP_DOUBLE), cross);
	dev->download(dev, gp_matrix_wrap(score, n, p, GP_DOUBLE), gp_matrix_cols(field, 0, p));
	dev->download(dev, gp_matrix_wrap(s->along, n, 1, GP_DOUBLE), gp_matrix_cols(field, p, 1));
	gp_destroy_all(dev, &cross, &u, &field);
}

/* The score of labelled node k in class c had it no label; g is its row of Q B^-1 g. */
static double
left_out(const solve *s, int64_t k, int32_t c, double leverage, double g)
{
	double		l2 = s->rkm->lambda2;
	double		code = code_of(s->rkm, k, c) / l2;
	double		u = s->along[s->rkm->labelled[k]];
	double		grown = 1.0 / fmax(l2 - leverage, ROUNDING * l2);
	double		pg = g - leverage * code;	/* q_i' B^-1 times g and u without the label */
	double		pu = u + leverage / l2;
	double		ug = s->cross[c] - u * code + g / l2 - leverage * code / l2 + grown * pu * pg;
	double		uu = s->cross[s->rkm->columns] + 2.0 * u / l2 + leverage / (l2 * l2)
		+ grown * pu * pu;
	double		bias = -(s->codes[c] - code + ug) / (s->total + 1.0 / l2 + uu);

	return l2 * grown * (pg + bias * pu) + bias;
}

double
gp_rkm_cosine(const double *score, int32_t columns)
{
	/* the nearest code has 1 for the class of the highest score and -1 for all others */
	double		best = score[0];
	double		sum = 0.0;
	double		square = 0.0;

	for (int32_t c = 0; c < columns; c++)
	{
		best = fmax(best, score[c]);
		sum += score[c];
		square += score[c] * score[c];
	}
	return square > 0.0 ? (2.0 * best - sum) / sqrt(square * columns) : 0.0;
}

double
gp_rkm_solve(gp_device *dev, const gp_rkm *rkm, gp_matrix q, double *score, double *loo,
			 double *bias)
{
	gp_env	   *env = dev->env;
	int32_t		p = rkm->columns;
	solve		s = {.dev = dev,.rkm = rkm,.q = q};
	double	   *leverage = gp_alloc_values(env, rkm->nlabelled, sizeof(double));

	s.r = gp_alloc_values(env, q.rows, 2 * sizeof(double));
	s.along = s.r + gp_items(env, q.rows);
	s.cross = gp_alloc_values(env, p + 1, 3 * sizeof(double));
	s.codes = s.cross + gp_items(env, p + 1);
	s.root = dev->create(dev, q.cols, q.cols, GP_DOUBLE);
	s.weight = dev->create(dev, q.cols, p + 1, GP_DOUBLE);
	make_r(&s);
	make_root(&s);
	make_fields(&s, score);
	/* q_i' B^-1 q_i of the labelled nodes. */
	int64_t		t = s.rkm->nlabelled;
	int64_t		height = gp_min64(t, GP_PANEL_ROWS);
	gp_matrix	block = dev->create(dev, height, s.q.cols, GP_DOUBLE);
	gp_matrix	norm = dev->create(dev, height, 1, GP_DOUBLE);

	for (gp_band band = gp_band_first(t, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	part = gp_matrix_rows(block, 0, band.count);
		gp_matrix	out = gp_matrix_rows(norm, 0, band.count);

		dev->gather_rows(dev, part, s.q, s.rkm->labelled + band.first);
		dev->trsm(dev, false, true, s.root, part);
		dev->row_dots(dev, out, part, part);
		dev->download(dev, gp_matrix_wrap(leverage + band.first, band.count, 1, GP_DOUBLE), out);
	}
	gp_destroy_all(dev, &norm, &block);
	/* from rows of Q B^-1 g in score; a single label leaves nothing to say */
	GP_EACH(env, k, gp_items(env, rkm->nlabelled), k * p)
		for (int32_t c = 0; c < p; c++)
			loo[k * p + c] = rkm->nlabelled > 1 ?
				left_out(&s, k, c, leverage[k], score[(int64_t) rkm->labelled[k] * p + c]) : 0.0;
	/* what the bias brings to all scores */
	if (bias == NULL)
		bias = s.codes + gp_items(env, p + 1);
	for (int32_t c = 0; c < gp_items(env, p); c++)
		bias[c] = -(s.codes[c] + s.cross[c]) / (s.total + s.cross[p]);
	GP_EACH(env, i, gp_items(env, q.rows), i * p)
		for (int32_t c = 0; c < p; c++)
			score[i * p + c] += bias[c] * (s.along[i] + 1.0);
	gp_destroy_all(dev, &s.weight, &s.root);
	gp_free_all(env, s.cross, s.r, leverage);
	return s.jitter;
}
