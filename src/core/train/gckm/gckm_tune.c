/*
 * gckm_tune.c - fine-tuning of the components: the paper's energy, its gradients, and steps along
 * these.
 *
 *		J = -1/2 sum_l tr(H_l' K_lc H_l) - 1/(2 eta) tr(H3' R K R H3) + 1/2 tr(H3' R H3)
 *			- tr(H3' L C)/lambda2,
 *
 * over n, with H3 solved anew at each pass (Achten et al. 2024, eq. 10).  Kernels after the first
 * follow the components: K = C W^-1 C' on the landmarks, W = C(a,:).  With P = C W^-1 and S the
 * symmetric gradient by K, that by C is 2 S P and by W is -P' S P; S has few columns' rank, so
 * nothing is made that is larger than C.
 */
#include "gckm.h"

#define ROUNDS 5				/* of the fixed point in a step */
#define RATE 1.0
#define DECAY 0.99				/* of the gradient's running size */
/* a cosine that falls by less has not fallen: that of two classes is always 1 */
#define SAME 1e-9

static const gp_matrix none = {0};

/* The product of all elements of two matrices of one shape, in the order of the rows. */
static double
dot(gp_device *dev, gp_matrix a, gp_matrix b)
{
	gp_matrix	part = dev->create(dev, a.rows, 1, GP_DOUBLE);
	double		sum;

	dev->row_dots(dev, part, a, b);
	sum = gp_sum(dev, part);
	dev->destroy(dev, &part);
	return sum;
}

/* out = QQ' x */
static void
times_factor(gp_device *dev, gp_matrix q, gp_matrix x, gp_matrix out)
{
	gp_matrix	small = dev->create(dev, q.cols, x.cols, GP_DOUBLE);

	dev->gemm(dev, true, false, 1.0, q, x, 0.0, small);
	dev->gemm(dev, false, false, 1.0, q, small, 0.0, out);
	dev->destroy(dev, &small);
}

/* ---- backwards through a kernel on landmarks ---- */

/*
 * A kernel on landmarks, and the symmetric gradient by it, S = 1/2 (left right' + right left').
 * right is factor times left, but for two last columns of left that trade places and are over n.
 */
typedef struct backward
{
	gp_matrix	x;				/* n x s: what the kernel acts on */
	double		sigma2;
	gp_matrix	root;			/* m x m */
	gp_matrix	left;			/* n x p */
	double		factor;
	bool		trade;
} backward;

/* A matrix of the device in host memory. */
static double *
fetch(gp_device *dev, gp_matrix m)
{
	double	   *host = gp_alloc_figures(dev->env, m.rows, (size_t) m.cols * sizeof(double));

	dev->download(dev, gp_matrix_wrap(host, m.rows, m.cols, GP_DOUBLE), m);
	return host;
}

/* out = (sum of all of a node's terms but the last - the last times x) / sigma2: x has a last
 * column of 1; the terms of points and of pairs are added to their nodes'. */
static void
sum_by_node(gp_device *dev, const gp_points *points, double sigma2, gp_matrix with_one,
			gp_matrix by_node, gp_matrix by_point, gp_matrix by_pair, gp_matrix out)
{
	gp_env	   *env = dev->env;
	int64_t		s = out.cols;
	double	   *x = fetch(dev, with_one);
	double	   *node = fetch(dev, by_node);
	double	   *point = fetch(dev, by_point);
	double	   *pair = fetch(dev, by_pair);

	for (int64_t k = 0; k < gp_items(env, points->n * (s + 1)); k++)
		node[points->node[k / (s + 1)] * (s + 1) + k % (s + 1)] += point[k] + 2.0 * pair[k];
	GP_EACH(env, i, gp_items(env, out.rows), i * s)
	{
		const double *sum = node + i * (s + 1);

		for (int64_t c = 0; c < s; c++)
			x[i * s + c] = (sum[c] - sum[s] * x[i * (s + 1) + c]) / sigma2;
	}
	dev->upload(dev, out, gp_matrix_wrap(x, out.rows, s, GP_DOUBLE));
	gp_free_all(env, pair, point, node, x);
}

/*
 * out (n x s) = the gradient by what the kernel acts on, -(sum_j E_ij (x_i - y_j)) / sigma2 for a
 * node and likewise for a point, E being the gradient by C times C; twice that for a pair of
 * points. The tuner's factor becomes P.
 */
static void
go_back(const gp_tuner *t, const backward *b, gp_matrix out)
{
	gp_device  *dev = t->dev;
	const gp_points *points = t->points;
	const gp_each times = {.op = GP_EACH_TIMES,.factor = 1.0};
	int64_t		n = b->x.rows;
	int64_t		m = points->n;
	int64_t		s = b->x.cols;
	int64_t		p = b->left.cols;
	int64_t		height = gp_min64(n, GP_PANEL_ROWS);
	gp_matrix	f = dev->create(dev, p, m, GP_DOUBLE);
	gp_matrix	with_one = dev->create(dev, n, s + 1, GP_DOUBLE);	/* [x, 1] */
	gp_matrix	rows = dev->create(dev, m, s + 1, GP_DOUBLE);	/* the same at the points */
	gp_matrix	by_node = dev->create(dev, n, s + 1, GP_DOUBLE);
	gp_matrix	by_point = dev->create(dev, m, s + 1, GP_DOUBLE);
	gp_matrix	by_pair = dev->create(dev, m, s + 1, GP_DOUBLE);
	gp_matrix	middle = dev->create(dev, p, m, GP_DOUBLE);
	gp_matrix	block;
	gp_matrix	w;

	dev->copy(dev, gp_matrix_cols(with_one, 0, s), b->x);
	dev->fill(dev, gp_matrix_cols(with_one, s, 1), 1.0);
	dev->gather_rows(dev, rows, with_one, points->node);
	dev->trsm(dev, false, false, b->root, t->factor);
	/* F = left' P and T = right' P: the gradient by C is left T, that by W is -F' T / 2 */
	dev->gemm(dev, true, false, 1.0, b->left, t->factor, 0.0, f);
	dev->axpby(dev, b->factor, f, 0.0, middle);
	for (int k = 0; k < 2 && b->trade; k++)
		dev->axpby(dev, 1.0 / (double) n, gp_matrix_rows(f, p - 1 - k, 1), 0.0,
				   gp_matrix_rows(middle, p - 2 + k, 1));
	/* E = C o (left T), a panel of rows at a time */
	block = dev->create(dev, height, m, GP_DOUBLE);
	for (gp_band band = gp_band_first(n, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	e = gp_matrix_rows(block, 0, band.count);

		dev->gemm(dev, false, false, 1.0, gp_matrix_rows(b->left, band.first, band.count), middle,
				  0.0, e);
		dev->each(dev, &times, e, gp_matrix_rows(t->kernel, band.first, band.count), none, none);
		dev->gemm(dev, false, false, 1.0, e, rows, 0.0,
				  gp_matrix_rows(by_node, band.first, band.count));
		dev->gemm(dev, true, false, 1.0, e, gp_matrix_rows(with_one, band.first, band.count),
				  band.first > 0 ? 1.0 : 0.0, by_point);
	}
	dev->destroy(dev, &block);
	/* the same for W */
	block = dev->create(dev, m, m, GP_DOUBLE);
	w = dev->create(dev, m, m, GP_DOUBLE);
	dev->gather_rows(dev, w, t->kernel, points->node);
	dev->gemm(dev, true, false, -0.5, f, middle, 0.0, block);
	dev->each(dev, &times, block, w, none, none);
	dev->gemm(dev, false, false, 1.0, block, rows, 0.0, by_pair);
	gp_destroy_all(dev, &w, &block);
	sum_by_node(dev, points, b->sigma2, with_one, by_node, by_point, by_pair, out);
	gp_destroy_all(dev, &middle, &by_pair, &by_point, &by_node, &rows, &with_one, &f);
}

/* ---- layers ---- */

/* kernel, factor and its root of the rows x. */
static gp_matrix
make_kernel(gp_tuner *t, gp_matrix x, double sigma2, bool labels)
{
	gp_device  *dev = t->dev;
	gp_matrix	norm = dev->create(dev, x.rows, 1, GP_DOUBLE);
	gp_matrix	root;

	gp_rows_products(dev, x, t->points, t->kernel, norm);
	gp_rbf(dev, t->kernel, norm, t->points, sigma2);
	if (labels && t->own)
		gp_own_view(dev, t->own, t->points, t->gamma, t->factor, norm, t->kernel);
	dev->destroy(dev, &norm);
	dev->copy(dev, t->factor, t->kernel);
	gp_points_factor(dev, t->factor, t->points, &root);
	return root;
}

/* Layer l: its energy, its own gradient, and what goes back to the layer before; the first kernel
 * is fixed. */
static void
component_layer(gp_tuner *t, int l)
{
	gp_device  *dev = t->dev;
	gp_matrix	h = t->h[l];
	double		n = (double) h.rows;
	backward	b = {.sigma2 = t->sigma2[l],.factor = -1.0 / n};
	gp_matrix	back;

	if (l == 0)
	{
		times_factor(dev, t->first, h, t->gradient[0]);
		t->energy = -0.5 * dot(dev, h, t->gradient[0]) / n;
		dev->axpby(dev, -1.0 / n, t->gradient[0], 0.0, t->gradient[0]);
		return;
	}
	back = dev->create(dev, h.rows, t->h[l - 1].cols, GP_DOUBLE);
	b.x = dev->create(dev, h.rows, t->h[l - 1].cols, GP_DOUBLE);
	b.left = dev->create(dev, h.rows, h.cols, GP_DOUBLE);
	dev->spmm(dev, 1.0, t->op, t->h[l - 1], 0.0, b.x);
	b.root = make_kernel(t, b.x, b.sigma2, false);
	dev->copy(dev, b.left, h);
	gp_centre_rows(dev, b.left);
	times_factor(dev, t->factor, b.left, t->gradient[l]);
	gp_centre_rows(dev, t->gradient[l]);
	t->energy -= 0.5 * dot(dev, h, t->gradient[l]) / n;
	dev->axpby(dev, -1.0 / n, t->gradient[l], 0.0, t->gradient[l]);
	go_back(t, &b, back);
	dev->spmm(dev, 1.0, t->turned, back, 1.0, t->gradient[l - 1]);
	gp_destroy_all(dev, &b.root, &b.left, &b.x, &back);
}

/* What the layer of labels has on the host, a row for each node. */
typedef struct labels
{
	double	   *h;				/* columns of H3 */
	double	   *r;
	double	   *b;				/* R H3 */
	double	   *kb;				/* K R H3 */
	double	   *v;				/* the gradient by d = K 1 */
} labels;

/* The energy of the labels' layer, and its gradient by d, by way of r. */
static double
labels_energy(gp_env *env, const gp_rkm *m, int64_t n, const labels *x)
{
	int32_t		p = m->columns;
	double		energy = 0.0;

	GP_EACH(env, i, n, i * p)
	{
		double		dr = 0.0;

		for (int64_t k = i * p; k < (i + 1) * p; k++)
		{
			energy += 0.5 * (x->b[k] * x->h[k] - x->b[k] * x->kb[k] / m->eta);
			dr += 0.5 * x->h[k] * x->h[k] - x->kb[k] * x->h[k] / m->eta;
		}
		x->v[i] = dr;
	}
	for (int64_t k = 0; k < m->nlabelled; k++)
		for (int32_t c = 0; c < p; c++)
			energy -= x->h[m->labelled[k] * (int64_t) p + c] * gp_rkm_code(m, k, c) / m->lambda2;
	for (int64_t k = 0; k < m->nlabelled; k++)
		x->r[m->labelled[k]] += 1.0 / m->lambda2;
	/* r is 1 / (lambda1 d) now; where d was taken for 1 it does not change */
	for (int64_t i = 0; i < n; i++)
		x->v[i] *= m->lambda1 * x->r[i] < 1.0 ? -m->lambda1 * x->r[i] * x->r[i] : 0.0;
	return energy / (double) n;
}

/* Solves the layer of labels with the tuner's factor; left becomes [R H3, v, 1]. */
static void
solve_labels(gp_tuner *t, gp_matrix left)
{
	gp_device  *dev = t->dev;
	gp_env	   *env = dev->env;
	const gp_rkm *m = t->rkm;
	int64_t		n = left.rows;
	int32_t		p = m->columns;
	gp_matrix	b = gp_matrix_cols(left, 0, p);
	gp_matrix	kb = dev->create(dev, n, p, GP_DOUBLE);
	double	   *loo = gp_alloc_figures(env, m->nlabelled, (size_t) p * sizeof(double));
	double	   *wide = gp_alloc_figures(env, n, 3 * (size_t) p * sizeof(double));
	double	   *narrow = gp_alloc_figures(env, n, 2 * sizeof(double));
	labels		x = {wide, narrow, wide + n * p, wide + 2 * n * p, narrow + n};

	gp_rkm_solve(dev, m, t->factor, x.h, loo, x.r, NULL);
	t->cosine = 0.0;
	GP_EACH(env, i, gp_items(env, n), i * p)
		t->cosine += gp_rkm_cosine(x.h + i * p, p);
	t->cosine /= (double) n;
	/* h_i = e_i + [labelled] c_i/(r_i lambda2) */
	for (int64_t k = 0; k < gp_items(env, m->nlabelled); k++)
		for (int32_t c = 0; c < p; c++)
			x.h[(int64_t) m->labelled[k] * p + c] += gp_rkm_code(m, k,
																 c) / (x.r[m->labelled[k]]
																	   * m->lambda2);
	GP_EACH(env, i, gp_items(env, n * p), i)
		x.b[i] = x.r[i / p] * x.h[i];
	dev->upload(dev, b, gp_matrix_wrap(x.b, n, p, GP_DOUBLE));
	times_factor(dev, t->factor, b, kb);
	dev->download(dev, gp_matrix_wrap(x.kb, n, p, GP_DOUBLE), kb);
	if (!env->dry)
		t->energy += labels_energy(env, m, n, &x);
	dev->upload(dev, gp_matrix_cols(left, p, 1), gp_matrix_wrap(x.v, n, 1, GP_DOUBLE));
	dev->fill(dev, gp_matrix_cols(left, p + 1, 1), 1.0);
	gp_free_all(env, narrow, wide, loo);
	dev->destroy(dev, &kb);
}

void
gp_tuner_pass(gp_tuner *t)
{
	for (int l = 0; l < t->layers; l++)
		component_layer(t, l);
	if (t->rkm)
	{
		/* The layer of labels: S = (-BB'/eta + v 1' + 1 v') / (2 n) */
		gp_device  *dev = t->dev;
		gp_matrix	h = t->h[t->layers - 1];
		backward	b = {.sigma2 = t->sigma2[t->layers],
						 .factor = -1.0 / (t->rkm->eta * (double) h.rows),
		.trade = true};
		gp_matrix	back = dev->create(dev, h.rows, h.cols, GP_DOUBLE);

		b.x = dev->create(dev, h.rows, h.cols, GP_DOUBLE);
		b.left = dev->create(dev, h.rows, t->rkm->columns + 2, GP_DOUBLE);
		dev->copy(dev, b.x, h);
		b.root = make_kernel(t, b.x, b.sigma2, true);
		solve_labels(t, b.left);
		go_back(t, &b, back);
		dev->axpby(dev, 1.0, back, 1.0, t->gradient[t->layers - 1]);
		gp_destroy_all(dev, &b.root, &b.left, &b.x, &back);
	}
	if (!t->dev->env->dry && !(isfinite(t->energy) && isfinite(t->cosine)))
		gp_raise(t->dev->env, GP_ERR_RANGE, "Take fewer iterations.", "the energy is out of range");
}

/* ---- steps that keep columns orthonormal ---- */

/* A bound of the largest column sum of |W|, W = Mh H' - H Mh': sum_k |Mh_k|_1 |H_jk| + |H_k|_1
 * |Mh_jk|. */
static double
norm_bound(gp_device *dev, gp_matrix of_h, gp_matrix of_m)
{
	gp_env	   *env = dev->env;
	int64_t		n = gp_items(env, of_h.rows);
	int64_t		cols = of_h.cols;
	double	   *h = fetch(dev, of_h);
	double	   *m = fetch(dev, of_m);
	double	   *size = gp_alloc_zero(env, 2 * cols, sizeof(double));
	double		most = 0.0;

	GP_EACH(env, i, n, i * cols)
		for (int64_t j = 0; j < cols; j++)
		{
			size[j] += fabs(h[i * cols + j]);
			size[cols + j] += fabs(m[i * cols + j]);
		}
	GP_EACH(env, i, n, i * cols)
	{
		double		sum = 0.0;

		for (int64_t j = 0; j < cols; j++)
			sum += size[cols + j] * fabs(h[i * cols + j]) + size[j] * fabs(m[i * cols + j]);
		most = fmax(most, sum);
	}
	gp_free_all(env, size, m, h);
	return most;
}

/*
 * Cayley-Adam (Li, Fuxin and Todorovic 2020) without momentum of the direction: with
 * Mh = (G - H H'G / 2) / sqrt(v) and the skew W = Mh H' - H Mh' the step solves
 * Y = H - a/2 W (H + Y) by fixed-point rounds.  W is never formed.  A Cholesky factor takes
 * away what the rounds leave of Y'Y - I.
 */
void
gp_stiefel_step(gp_device *dev, gp_matrix h, gp_matrix g, double root, double rate, int rounds)
{
	gp_matrix	small = dev->create(dev, h.cols, h.cols, GP_DOUBLE);
	gp_matrix	sum = dev->create(dev, h.rows, h.cols, GP_DOUBLE);
	gp_matrix	y = dev->create(dev, h.rows, h.cols, GP_DOUBLE);
	double		bound;

	dev->gemm(dev, true, false, 1.0, h, g, 0.0, small);
	dev->gemm(dev, false, false, -0.5, h, small, 1.0, g);
	dev->axpby(dev, root > 0.0 ? 1.0 / root : 0.0, g, 0.0, g);
	bound = norm_bound(dev, h, g);
	rate = rate * bound > 1.0 ? 1.0 / bound : rate;
	for (int k = 0; k <= rounds; k++)
	{
		double		a = k == 0 ? rate : 0.5 * rate;

		dev->copy(dev, sum, h);
		if (k > 0)
			dev->axpby(dev, 1.0, y, 1.0, sum);
		/* y = h - a W sum */
		dev->copy(dev, y, h);
		dev->gemm(dev, true, false, 1.0, h, sum, 0.0, small);
		dev->gemm(dev, false, false, -a, g, small, 1.0, y);
		dev->gemm(dev, true, false, 1.0, g, sum, 0.0, small);
		dev->gemm(dev, false, false, a, h, small, 1.0, y);
	}
	dev->copy(dev, h, y);
	if (!gp_orthonormalise(dev, h, 0.0))
		gp_raise(dev->env, GP_ERR_RANGE, "Take fewer iterations.",
				 "the components are no longer orthogonal");
	gp_destroy_all(dev, &y, &sum, &small);
}

/* Copies all components. */
static void
copy_components(const gp_tuner *t, gp_matrix *to, const gp_matrix *from)
{
	for (int l = 0; l < t->layers; l++)
		t->dev->copy(t->dev, to[l], from[l]);
}

void
gp_tuner_run(gp_tuner *t, int iterations)
{
	gp_device  *dev = t->dev;
	gp_matrix	best[GP_GCKM_MAX_LAYERS];
	double		square[GP_GCKM_MAX_LAYERS] = {0.0};	/* the gradients' running sizes */
	double		cosine = -INFINITY;
	double		energy = INFINITY;

	for (int l = 0; l < t->layers; l++)
	{
		best[l] = dev->create(dev, t->h[l].rows, t->h[l].cols, GP_DOUBLE);
		t->gradient[l] = dev->create(dev, t->h[l].rows, t->h[l].cols, GP_DOUBLE);
	}
	for (int k = 0; k <= iterations; k++)
	{
		dev->env->progress(dev->env, GP_PHASE_KERNEL, k, iterations);
		gp_tuner_pass(t);
		/* better by the cosine, or without labels by the energy */
		if (!dev->env->dry && !(t->rkm ? t->cosine > cosine - SAME : t->energy < energy))
			break;
		cosine = fmax(cosine, t->cosine);
		energy = t->energy;
		copy_components(t, best, t->h);
		for (int l = 0; l < t->layers && k < iterations; l++)
		{
			double		size = dot(dev, t->gradient[l], t->gradient[l]);

			square[l] = DECAY * square[l] + (1.0 - DECAY) * size;
			gp_stiefel_step(dev, t->h[l], t->gradient[l],
							sqrt(square[l] / (1.0 - pow(DECAY, k + 1))), RATE, ROUNDS);
		}
	}
	copy_components(t, t->h, best);
	for (int l = 0; l < t->layers; l++)
	{
		gp_destroy_all(dev, &t->gradient[l], &best[l]);
	}
}
