/*
 * primal.c - the regression in the columns of a factor: many labels.
 *
 * With B = Q'Q + noise I over the labelled rows of Q, the weights are
 * w = B^-1 Q'y, the leverage of a label is h_i = q_i' B^-1 q_i, and its
 * leave-one-out residual is e_i / (1 - h_i).  The Gram matrix is summed and
 * factorised in double, a block of rows at a time.
 */
#include "infer_internal.h"

#include <math.h>

#define SAMPLE 1024				/* labels that the search for the nugget looks at */
#define GRID 5
#define REFINE 8				/* further nuggets, at most */

typedef struct primal
{
	gp_device  *dev;
	const gp_problem *problem;
	const gp_targets *targets;
	double		mean_diag;
	gp_matrix	q;				/* m x r */
	gp_matrix	gram;			/* r x r: Q'Q */
	gp_matrix	qty;			/* r x columns: Q'y */
	gp_matrix	root;			/* r x r: L of gram + noise I */
	gp_matrix	w;				/* r x columns */
	double	   *residual;		/* m x columns: e; in the search, the left-out predictions */
	double	   *leverage;		/* m: h */
	int64_t		nsample;
	int32_t    *sample;			/* labels searched, ascending */
	gp_matrix	sample_q;		/* their rows, of q's type; what follows is, too */
	gp_matrix	sample_rows;	/* a copy to solve in */
	gp_matrix	narrow_root;
	gp_matrix	narrow_w;
} primal;

/* Q'Q and Q'y, a block of rows at a time. */
static void
accumulate(primal *p)
{
	gp_device  *dev = p->dev;
	int64_t		m = p->targets->m;
	int32_t		columns = p->targets->columns;
	int64_t		height = gp_min64(m, dev->row_block);
	gp_matrix	block = dev->create(dev, height, p->q.cols, GP_DOUBLE);
	gp_matrix	y = dev->create(dev, height, columns, GP_DOUBLE);

	for (gp_band band = gp_band_first(m, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);
		gp_matrix	yb = gp_matrix_rows(y, 0, band.count);

		dev->copy(dev, b, gp_matrix_rows(p->q, band.first, band.count));
		dev->upload(dev, yb, gp_matrix_wrap(p->targets->y + band.first * columns,
											band.count, columns, GP_DOUBLE));
		dev->syrk(dev, true, 1.0, b, band.first == 0 ? 0.0 : 1.0, p->gram);
		dev->gemm(dev, true, false, 1.0, b, yb, band.first == 0 ? 0.0 : 1.0, p->qty);
		dev->env->progress(dev->env, GP_PHASE_NUGGET, band.first + band.count, m);
	}
	dev->destroy(dev, &block);
	dev->destroy(dev, &y);
}

/* Factorises gram + noise I and solves for the weights; returns log det. */
static double
factorise(primal *p, double noise)
{
	gp_device  *dev = p->dev;

	dev->copy(dev, p->root, p->gram);
	dev->shift(dev, gp_matrix_diagonal(p->root), noise);
	if (dev->potrf(dev, p->root) >= 0)
		gp_raise(dev->env, GP_ERR_DATA, "Give a larger nugget.",
				 "the factor's Gram matrix is not positive definite");
	dev->copy(dev, p->w, p->qty);
	dev->trsm(dev, true, false, p->root, p->w);
	dev->trsm(dev, true, true, p->root, p->w);
	return gp_root_log_det(dev, p->root);
}

/*
 * Residuals and leverages of some labels, whose rows are in rows and whose
 * numbers are index (or first, first + 1, ... without).  rows is spoilt.
 */
static void
leverages(primal *p, gp_matrix rows, gp_matrix root, gp_matrix w, const int32_t *index,
		  int64_t first)
{
	gp_device  *dev = p->dev;
	gp_env	   *env = dev->env;
	int32_t		columns = p->targets->columns;
	gp_matrix	fit = dev->create(dev, rows.rows, columns, rows.type);
	gp_matrix	h = dev->create(dev, rows.rows, 1, GP_DOUBLE);
	double	   *f = gp_alloc_figures(env, rows.rows * columns, sizeof(double));
	double	   *l = gp_alloc_figures(env, rows.rows, sizeof(double));

	dev->gemm(dev, false, false, 1.0, rows, w, 0.0, fit);
	dev->trsm(dev, false, true, root, rows);
	dev->row_dots(dev, h, rows, rows);
	dev->download(dev, gp_matrix_wrap(f, rows.rows, columns, GP_DOUBLE), fit);
	dev->download(dev, gp_matrix_wrap(l, rows.rows, 1, GP_DOUBLE), h);
	for (int64_t i = 0; i < rows.rows && !env->dry; i++)
	{
		int64_t		at = index ? index[i] : first + i;

		p->leverage[at] = fmin(l[i], 1.0 - 1e-12);
		for (int32_t c = 0; c < columns; c++)
			p->residual[at * columns + c] = p->targets->y[at * columns + c] - f[i * columns + c];
	}
	dev->destroy(dev, &fit);
	dev->destroy(dev, &h);
	gp_free(env, f);
	gp_free(env, l);
}

/* The leave-one-out error of the sample, in the factor's own type. */
static double
primal_error(void *state, double nugget)
{
	primal	   *p = state;
	gp_device  *dev = p->dev;
	int32_t		columns = p->targets->columns;
	double		total;

	factorise(p, nugget * p->mean_diag);
	dev->copy(dev, p->narrow_root, p->root);
	dev->copy(dev, p->narrow_w, p->w);
	dev->copy(dev, p->sample_rows, p->sample_q);
	leverages(p, p->sample_rows, p->narrow_root, p->narrow_w, p->sample, 0);
	if (dev->env->dry)
		return 0.0;
	for (int64_t k = 0; k < p->nsample; k++)
		for (int32_t c = 0; c < columns; c++)
		{
			int64_t		at = (int64_t) p->sample[k] * columns + c;

			p->residual[at] = p->targets->y[at] - p->residual[at] /
				(1.0 - p->leverage[p->sample[k]]);
		}
	return gp_loo_error(p->problem, p->targets, p->residual, p->sample, p->nsample, &total);
}

/* Residuals and leverages of all labels: positive sums, which the factor's own type holds well. */
static void
all_leverages(primal *p)
{
	gp_device  *dev = p->dev;
	int64_t		m = p->targets->m;
	int64_t		height = gp_min64(m, dev->row_block);
	gp_matrix	block = dev->create(dev, height, p->q.cols, p->q.type);

	dev->copy(dev, p->narrow_root, p->root);
	dev->copy(dev, p->narrow_w, p->w);
	for (gp_band band = gp_band_first(m, height); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	b = gp_matrix_rows(block, 0, band.count);

		dev->copy(dev, b, gp_matrix_rows(p->q, band.first, band.count));
		leverages(p, b, p->narrow_root, p->narrow_w, NULL, band.first);
	}
	dev->destroy(dev, &block);
}

/* Leave-one-out figures and the scale from residuals and leverages. */
static void
finish(primal *p, const gp_problem *problem, double log_det, gp_solution *out)
{
	gp_env	   *env = p->dev->env;
	const gp_targets *t = p->targets;
	int32_t		columns = t->columns;
	double		quadratic = 0.0;

	out->loo_mean = gp_alloc_figures(env, t->m * columns, sizeof(double));
	out->loo_variance = gp_alloc_figures(env, t->m, sizeof(double));
	for (int64_t k = 0; k < t->m * columns && !env->dry; k++)
	{
		quadratic += t->y[k] * p->residual[k] / out->noise;
		out->loo_mean[k] = t->y[k] - p->residual[k] / (1.0 - p->leverage[k / columns]);
	}
	log_det += (double) (t->m - p->q.cols) * log(out->noise);
	gp_solution_scale(env, problem, t, quadratic, log_det, out);
	for (int64_t i = 0; i < t->m && !env->dry; i++)
		out->loo_variance[i] = out->scale * out->noise / (1.0 - p->leverage[i]);
}

/* Solves the regression on the labelled rows of a factor. */
gp_solution
gp_primal_solve(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
				gp_matrix q, double mean_diag)
{
	primal		p = {0};
	gp_solution out = {0};
	double		log_det;

	p.dev = dev;
	p.problem = problem;
	p.targets = targets;
	p.mean_diag = mean_diag;
	p.q = q;
	p.gram = dev->create(dev, q.cols, q.cols, GP_DOUBLE);
	p.qty = dev->create(dev, q.cols, targets->columns, GP_DOUBLE);
	p.root = dev->create(dev, q.cols, q.cols, GP_DOUBLE);
	p.w = dev->create(dev, q.cols, targets->columns, GP_DOUBLE);
	p.residual = gp_alloc_figures(dev->env, targets->m * targets->columns, sizeof(double));
	p.leverage = gp_alloc_figures(dev->env, targets->m, sizeof(double));
	accumulate(&p);
	p.sample = gp_loo_sample(dev->env, targets, SAMPLE, &p.nsample);
	p.sample_q = dev->create(dev, p.nsample, q.cols, q.type);
	dev->gather_rows(dev, p.sample_q, q, p.sample);
	p.sample_rows = dev->create(dev, p.nsample, q.cols, q.type);
	p.narrow_root = dev->create(dev, q.cols, q.cols, q.type);
	p.narrow_w = dev->create(dev, q.cols, targets->columns, q.type);
	out.nugget = gp_nugget_choose(dev->env, problem, targets, primal_error, &p, GRID, REFINE);
	out.mean_diag = mean_diag;
	out.noise = out.nugget * mean_diag;
	dev->destroy(dev, &p.sample_q);
	dev->destroy(dev, &p.sample_rows);
	gp_free(dev->env, p.sample);
	log_det = factorise(&p, out.noise);
	all_leverages(&p);
	finish(&p, problem, log_det, &out);
	out.weights = p.w;
	out.root = p.root;
	dev->destroy(dev, &p.narrow_root);
	dev->destroy(dev, &p.narrow_w);
	dev->destroy(dev, &p.gram);
	dev->destroy(dev, &p.qty);
	gp_free(dev->env, p.residual);
	gp_free(dev->env, p.leverage);
	return out;
}
