/*
 * gckm_tune.c - fine-tuning of the components: the paper's energy and its gradients.
 *
 *		J = -1/2 sum_l tr(H_l' K_lc H_l) - 1/(2 eta) tr(H3' R K R H3) + 1/2 tr(H3' R H3)
 *			- tr(H3' L C)/lambda2,
 *
 * over n, with H3 solved anew at each pass (Achten et al. 2024, eq. 10).  Kernels after
 * the first follow the components: K = C W^-1 C' on the landmarks, W = C(a,:).  With
 * P = C W^-1 and S the symmetric gradient by K, that by C is 2 S P and by W is -P' S P; S has few
 * columns' rank, so nothing is made that is larger than C.
 */
#include "gckm.h"

#include <math.h>
#include <string.h>

#define ROUNDS 5				/* of the fixed point in a step */
#define RATE 1.0
#define DECAY 0.99				/* of the gradient's running size */
#define SAME 1e-9				/* a cosine that falls by less has not fallen: that of two classes is always 1 */

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

/* The first layer: its kernel is fixed. */
static void
first_layer(gp_tuner *t)
{
	gp_device  *dev = t->dev;
	double		n = (double) t->h[0].rows;

	times_factor(dev, t->first, t->h[0], t->gradient[0]);
	t->energy = -0.5 * dot(dev, t->h[0], t->gradient[0]) / n;
	dev->axpby(dev, -1.0 / n, t->gradient[0], 0.0, t->gradient[0]);
}

/* ---- backwards through a kernel on landmarks ---- */

/* A kernel on landmarks, and the symmetric gradient by it: 1/2 (left right' + right left'). */
typedef struct backward
{
	gp_tuner   *tuner;
	gp_matrix	x;				/* n x s: what the kernel acts on */
	double		sigma2;
	gp_matrix	root;			/* m x m */
	gp_matrix	left;			/* n x p */
	double	   *sign;			/* p: right's column k is left's column other[k] times this */
	int		   *other;
} backward;

/* What the panels work in. */
typedef struct room
{
	gp_matrix	with_one;		/* n x (s + 1): [x, 1] */
	gp_matrix	points;			/* m x (s + 1): its rows at the points */
	gp_matrix	by_node;		/* n x (s + 1): E points */
	gp_matrix	by_point;		/* m x (s + 1): E' with_one */
	gp_matrix	by_pair;		/* m x (s + 1): the same for W */
} room;

/* a := a o b, both rows x m, by way of the host. */
static void
multiply(gp_device *dev, gp_matrix a, gp_matrix b)
{
	gp_env	   *env = dev->env;
	int64_t		n = a.rows * a.cols;
	double	   *x = gp_alloc_figures(env, a.rows, (size_t) a.cols * sizeof(double));
	double	   *y = gp_alloc_figures(env, a.rows, (size_t) a.cols * sizeof(double));

	dev->download(dev, gp_matrix_wrap(x, a.rows, a.cols, GP_DOUBLE), a);
	dev->download(dev, gp_matrix_wrap(y, a.rows, a.cols, GP_DOUBLE), b);
	for (int64_t k = 0; k < n && !env->dry; k++)
		x[k] *= y[k];
	dev->upload(dev, a, gp_matrix_wrap(x, a.rows, a.cols, GP_DOUBLE));
	gp_free(env, y);
	gp_free(env, x);
	env->check_interrupts(env);
}

/* The middle of the gradient by C, left T: T (p x m) = right' P, from F = left' P. */
static gp_matrix
make_middle(const backward *b, gp_matrix f)
{
	gp_device  *dev = b->tuner->dev;
	gp_env	   *env = dev->env;
	int64_t		m = f.cols;
	gp_matrix	out = dev->create(dev, f.rows, m, GP_DOUBLE);

	for (int64_t k = 0; k < f.rows; k++)
	{
		int64_t		from = env->dry ? k : b->other[k];

		dev->axpby(dev, env->dry ? 1.0 : b->sign[k], gp_matrix_rows(f, from, 1), 0.0, gp_matrix_rows(out, k, 1));
	}
	return out;
}

/* E = C o (left T), a panel of rows at a time, and its products with what the kernel acts on. */
static void
by_panels(const backward *b, gp_matrix middle, room *r)
{
	gp_tuner   *t = b->tuner;
	gp_device  *dev = t->dev;
	int64_t		n = b->x.rows;
	int64_t		height = gp_min64(n, GP_PANEL_ROWS);
	gp_matrix	block = dev->create(dev, height, middle.cols, GP_DOUBLE);

	for (gp_band band = gp_band_first(n, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	e = gp_matrix_rows(block, 0, band.count);

		dev->gemm(dev, false, false, 1.0, gp_matrix_rows(b->left, band.first, band.count), middle, 0.0, e);
		multiply(dev, e, gp_matrix_rows(t->kernel, band.first, band.count));
		dev->gemm(dev, false, false, 1.0, e, r->points, 0.0, gp_matrix_rows(r->by_node, band.first, band.count));
		dev->gemm(dev, true, false, 1.0, e, gp_matrix_rows(r->with_one, band.first, band.count),
				  band.first > 0 ? 1.0 : 0.0, r->by_point);
	}
	dev->destroy(dev, &block);
}

/* The same for W, whose gradient is -F' T / 2. */
static void
by_pairs(const backward *b, gp_matrix f, gp_matrix middle, room *r)
{
	gp_tuner   *t = b->tuner;
	gp_device  *dev = t->dev;
	int64_t		m = f.cols;
	gp_matrix	e = dev->create(dev, m, m, GP_DOUBLE);
	gp_matrix	w = dev->create(dev, m, m, GP_DOUBLE);

	dev->gather_rows(dev, w, t->kernel, t->points->node);
	dev->gemm(dev, true, false, -0.5, f, middle, 0.0, e);
	multiply(dev, e, w);
	dev->gemm(dev, false, false, 1.0, e, r->points, 0.0, r->by_pair);
	dev->destroy(dev, &w);
	dev->destroy(dev, &e);
}

/* A matrix of the device in host memory. */
static double *
fetch(gp_device *dev, gp_matrix m)
{
	double	   *host = gp_alloc_figures(dev->env, m.rows, (size_t) m.cols * sizeof(double));

	dev->download(dev, gp_matrix_wrap(host, m.rows, m.cols, GP_DOUBLE), m);
	return host;
}

/*
 * The gradient by what the kernel acts on, from sums of E: -(sum_j E_ij (x_i - y_j)) / sigma2
 * for a node, likewise for a point, and twice that for a pair of points.
 */
static void
collect(const backward *b, const room *r, gp_matrix out)
{
	gp_device  *dev = b->tuner->dev;
	gp_env	   *env = dev->env;
	const gp_points *points = b->tuner->points;
	int64_t		s = b->x.cols;
	double	   *x = fetch(dev, r->with_one);
	double	   *node = fetch(dev, r->by_node);
	double	   *point = fetch(dev, r->by_point);
	double	   *pair = fetch(dev, r->by_pair);
	int64_t		next = 0;

	for (int64_t j = 0; j < points->n && !env->dry; j++)
	{
		double	   *to = node + (int64_t) points->node[j] * (s + 1);

		for (int64_t c = 0; c <= s; c++)
			to[c] += point[j * (s + 1) + c] + 2.0 * pair[j * (s + 1) + c];
	}
	for (int64_t i = 0; i < b->x.rows && !env->dry; i++)
	{
		gp_poll(env, i * s, &next);
		for (int64_t c = 0; c < s; c++)
			x[i * s + c] = (node[i * (s + 1) + c] - node[i * (s + 1) + s] * x[i * (s + 1) + c]) / b->sigma2;
	}
	dev->upload(dev, out, gp_matrix_wrap(x, b->x.rows, s, GP_DOUBLE));
	gp_free(env, pair);
	gp_free(env, point);
	gp_free(env, node);
	gp_free(env, x);
}

/* out (n x s) = the gradient by what the kernel acts on.  The tuner's factor becomes P. */
static void
go_back(const backward *b, gp_matrix out)
{
	gp_tuner   *t = b->tuner;
	gp_device  *dev = t->dev;
	int64_t		n = b->x.rows;
	int64_t		m = t->points->n;
	int64_t		s = b->x.cols;
	gp_matrix	f = dev->create(dev, b->left.cols, m, GP_DOUBLE);
	room		r = {dev->create(dev, n, s + 1, GP_DOUBLE), dev->create(dev, m, s + 1, GP_DOUBLE),
		dev->create(dev, n, s + 1, GP_DOUBLE), dev->create(dev, m, s + 1, GP_DOUBLE),
	dev->create(dev, m, s + 1, GP_DOUBLE)};
	gp_matrix	middle;

	dev->copy(dev, gp_matrix_cols(r.with_one, 0, s), b->x);
	dev->fill(dev, gp_matrix_cols(r.with_one, s, 1), 1.0);
	dev->gather_rows(dev, r.points, r.with_one, t->points->node);
	dev->trsm(dev, false, false, b->root, t->factor);
	dev->gemm(dev, true, false, 1.0, b->left, t->factor, 0.0, f);
	middle = make_middle(b, f);
	by_panels(b, middle, &r);
	by_pairs(b, f, middle, &r);
	collect(b, &r, out);
	dev->destroy(dev, &middle);
	dev->destroy(dev, &r.by_pair);
	dev->destroy(dev, &r.by_point);
	dev->destroy(dev, &r.by_node);
	dev->destroy(dev, &r.points);
	dev->destroy(dev, &r.with_one);
	dev->destroy(dev, &f);
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

/* Signs and places where S is -1/2 of a matrix times its transpose, over n. */
static void
negative_square(backward *b, int64_t count, double factor)
{
	b->sign = gp_alloc_figures(b->tuner->dev->env, count, sizeof(double));
	b->other = gp_alloc_figures(b->tuner->dev->env, count, sizeof(int));
	for (int64_t k = 0; k < count && !b->tuner->dev->env->dry; k++)
	{
		b->sign[k] = factor;
		b->other[k] = (int) k;
	}
}

/* Frees them. */
static void
end_backward(backward *b)
{
	gp_env	   *env = b->tuner->dev->env;

	gp_free(env, b->sign);
	gp_free(env, b->other);
	b->tuner->dev->destroy(b->tuner->dev, &b->root);
}

/* Layer l > 0: its energy, its own gradient, and what goes back to the layer before. */
static void
inner_layer(gp_tuner *t, int l)
{
	gp_device  *dev = t->dev;
	int64_t		rows = t->h[l].rows;
	double		n = (double) rows;
	int64_t		s = t->h[l - 1].cols;
	backward	b = {.tuner = t,.sigma2 = t->sigma2[l]};
	gp_matrix	back = dev->create(dev, rows, s, GP_DOUBLE);

	b.x = dev->create(dev, rows, s, GP_DOUBLE);
	b.left = dev->create(dev, rows, t->h[l].cols, GP_DOUBLE);
	dev->spmm(dev, 1.0, t->op, t->h[l - 1], 0.0, b.x);
	b.root = make_kernel(t, b.x, b.sigma2, false);
	dev->copy(dev, b.left, t->h[l]);
	gp_centre_rows(dev, b.left);
	times_factor(dev, t->factor, b.left, t->gradient[l]);
	gp_centre_rows(dev, t->gradient[l]);
	t->energy -= 0.5 * dot(dev, t->h[l], t->gradient[l]) / n;
	dev->axpby(dev, -1.0 / n, t->gradient[l], 0.0, t->gradient[l]);
	negative_square(&b, b.left.cols, -1.0 / n);
	go_back(&b, back);
	dev->spmm(dev, 1.0, t->turned, back, 1.0, t->gradient[l - 1]);
	end_backward(&b);
	dev->destroy(dev, &b.left);
	dev->destroy(dev, &b.x);
	dev->destroy(dev, &back);
}

/* What the layer of labels has on the host, a row for each node. */
typedef struct labels
{
	double	   *h;				/* columns of H3 */
	double	   *r;
	double	   *b;				/* R H3 */
	double	   *kb;				/* K R H3 */
	double	   *v;				/* the gradient by d */
} labels;

/* Makes H3 of scores: h_i = e_i + [labelled] c_i/(r_i lambda2). */
static void
make_h3(gp_env *env, const gp_rkm *m, int64_t n, labels *x)
{
	int32_t		p = m->columns;
	int64_t		next = 0;

	for (int64_t k = 0; k < m->nlabelled; k++)
		for (int32_t c = 0; c < p; c++)
		{
			int64_t		i = m->labelled[k];

			x->h[i * p + c] += gp_rkm_code(m, k, c) / (x->r[i] * m->lambda2);
		}
	for (int64_t i = 0; i < n * p; i++)
	{
		gp_poll(env, i, &next);
		x->b[i] = x->r[i / p] * x->h[i];
	}
}

/* The energy of the labels' layer, and its gradient by d = K 1 by way of r. */
static double
labels_energy(gp_env *env, const gp_rkm *m, int64_t n, const labels *x)
{
	int32_t		p = m->columns;
	double		energy = 0.0;
	int64_t		next = 0;

	for (int64_t i = 0; i < n; i++)
	{
		double		dr = 0.0;

		gp_poll(env, i * p, &next);
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

/* The mean cosine of scores to the nearest code. */
static double
mean_cosine(gp_env *env, const double *score, int64_t n, int32_t columns)
{
	double		sum = 0.0;
	int64_t		next = 0;

	for (int64_t i = 0; i < n; i++)
	{
		gp_poll(env, i * columns, &next);
		sum += gp_rkm_cosine(score + i * columns, columns);
	}
	return sum / (double) n;
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
	if (!env->dry)
	{
		t->cosine = mean_cosine(env, x.h, n, p);
		make_h3(env, m, n, &x);
	}
	dev->upload(dev, b, gp_matrix_wrap(x.b, n, p, GP_DOUBLE));
	times_factor(dev, t->factor, b, kb);
	dev->download(dev, gp_matrix_wrap(x.kb, n, p, GP_DOUBLE), kb);
	if (!env->dry)
		t->energy += labels_energy(env, m, n, &x);
	dev->upload(dev, gp_matrix_cols(left, p, 1), gp_matrix_wrap(x.v, n, 1, GP_DOUBLE));
	dev->fill(dev, gp_matrix_cols(left, p + 1, 1), 1.0);
	gp_free(env, narrow);
	gp_free(env, wide);
	gp_free(env, loo);
	dev->destroy(dev, &kb);
}

/* The layer of labels: S = (-BB'/eta + v 1' + 1 v') / (2 n). */
static void
label_layer(gp_tuner *t)
{
	gp_device  *dev = t->dev;
	int			l = t->layers - 1;
	int64_t		rows = t->h[l].rows;
	int32_t		p = t->rkm->columns;
	backward	b = {.tuner = t,.sigma2 = t->sigma2[t->layers]};
	gp_matrix	back = dev->create(dev, rows, t->h[l].cols, GP_DOUBLE);

	b.x = dev->create(dev, rows, t->h[l].cols, GP_DOUBLE);
	b.left = dev->create(dev, rows, p + 2, GP_DOUBLE);
	dev->copy(dev, b.x, t->h[l]);
	b.root = make_kernel(t, b.x, b.sigma2, true);
	solve_labels(t, b.left);
	negative_square(&b, p + 2, -1.0 / (t->rkm->eta * (double) rows));
	if (!dev->env->dry)
	{
		b.sign[p] = b.sign[p + 1] = 1.0 / (double) rows;
		b.other[p] = p + 1;
		b.other[p + 1] = p;
	}
	go_back(&b, back);
	dev->axpby(dev, 1.0, back, 1.0, t->gradient[l]);
	end_backward(&b);
	dev->destroy(dev, &b.left);
	dev->destroy(dev, &b.x);
	dev->destroy(dev, &back);
}

/* Energy, cosine and gradients. */
void
gp_tuner_pass(gp_tuner *t)
{
	first_layer(t);
	for (int l = 1; l < t->layers; l++)
		inner_layer(t, l);
	if (t->rkm)
		label_layer(t);
	if (!t->dev->env->dry && !(isfinite(t->energy) && isfinite(t->cosine)))
		gp_raise(t->dev->env, GP_ERR_RANGE, "Take fewer iterations.", "the energy is out of range");
}

/* One step of every layer; square is each one's running size, count the steps with this one. */
static void
make_step(gp_tuner *t, double *square, int count)
{
	for (int l = 0; l < t->layers; l++)
	{
		double		size = dot(t->dev, t->gradient[l], t->gradient[l]);
		double		bound;

		square[l] = DECAY * square[l] + (1.0 - DECAY) * size;
		bound = gp_stiefel_direct(t->dev, t->h[l], t->gradient[l], sqrt(square[l] / (1.0 - pow(DECAY, count))));
		gp_stiefel_step(t->dev, t->h[l], t->gradient[l], RATE * bound > 1.0 ? 1.0 / bound : RATE, ROUNDS);
	}
}

/* Copies all components. */
static void
copy_components(gp_tuner *t, gp_matrix *to, const gp_matrix *from)
{
	for (int l = 0; l < t->layers; l++)
		t->dev->copy(t->dev, to[l], from[l]);
}

/* True when the components are as good as the best so far: by the cosine, or without labels by the energy. */
static bool
is_better(const gp_tuner *t, double cosine, double energy)
{
	return t->rkm ? t->cosine > cosine - SAME : t->energy < energy;
}

/* The steps. */
void
gp_tuner_run(gp_tuner *t, int iterations)
{
	gp_device  *dev = t->dev;
	gp_matrix	best[GP_GCKM_MAX_LAYERS];
	double		square[GP_GCKM_MAX_LAYERS] = {0.0};
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
		if (!dev->env->dry && !is_better(t, cosine, energy))
			break;
		cosine = fmax(cosine, t->cosine);
		energy = t->energy;
		copy_components(t, best, t->h);
		if (k < iterations)
			make_step(t, square, k + 1);
	}
	copy_components(t, t->h, best);
	for (int l = 0; l < t->layers; l++)
	{
		dev->destroy(dev, &t->gradient[l]);
		dev->destroy(dev, &best[l]);
	}
}
