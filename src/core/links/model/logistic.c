/*
 * logistic.c - logistic regression on given basis functions, by Newton's method.
 */
#include "logistic.h"

#define STEPS 50
#define HALVINGS 30
#define TYPICAL_STEPS 5			/* of a fit, for its plan */
#define CLOSE 1e-10				/* the decrement of a step, over the rows' weight, that ends them */

gp_link_logistic
gp_link_logistic_open(gp_device *dev, gp_matrix phi)
{
	gp_link_logistic l = {.dev = dev, .phi = phi, .penalty = 1.0};

	l.b = gp_alloc_zero(dev->env, phi.rows, sizeof(double));
	l.root = dev->create(dev, phi.rows, phi.rows, GP_DOUBLE);
	l.logit = gp_alloc_zero(dev->env, phi.cols, sizeof(double));
	return l;
}

void
gp_link_logistic_close(gp_link_logistic *l)
{
	gp_destroy_all(l->dev, &l->phi, &l->root);
	gp_free_all(l->dev->env, l->b, l->logit);
}

/* The logits of b, and what is minimised. */
static double
objective(gp_link_logistic *l, const double *b, const bool *label, const double *weight)
{
	gp_device  *dev = l->dev;
	gp_matrix	row = gp_upload(dev, gp_matrix_wrap((double *) b, 1, l->phi.rows, GP_DOUBLE),
								GP_DOUBLE);
	gp_matrix	f = dev->create(dev, 1, l->phi.cols, GP_DOUBLE);
	double		loss = 0.0;

	dev->gemm(dev, false, false, 1.0, row, l->phi, 0.0, f);
	dev->download(dev, gp_matrix_wrap(l->logit, 1, l->phi.cols, GP_DOUBLE), f);
	gp_destroy_all(dev, &row, &f);
	for (int64_t r = 0; r < l->phi.cols; r++)
		if (weight[r] > 0.0)
			loss += weight[r] * gp_link_loss(label[r], l->logit[r]);
	for (int64_t k = 0; k < l->phi.rows; k++)
		loss += 0.5 * l->penalty * b[k] * b[k];
	return loss;
}

/* root = the Cholesky factor of phi V phi' + penalty I; step = phi (w (t - p)) - penalty b. */
static void
derivatives(gp_link_logistic *l, const bool *label, const double *weight, double *step)
{
	gp_device  *dev = l->dev;
	int64_t		n = l->phi.cols;
	int64_t		p = l->phi.rows;
	double	   *slope = gp_alloc_array(dev->env, n, sizeof(double));
	double	   *root_curvature = gp_alloc_array(dev->env, n, sizeof(double));

	for (int64_t r = 0; r < n; r++)
	{
		double		probability = 1.0 / (1.0 + exp(-l->logit[r]));

		slope[r] = weight[r] * ((label[r] ? 1.0 : 0.0) - probability);
		root_curvature[r] = sqrt(weight[r] * probability * (1.0 - probability));
	}
	gp_matrix	scaled = gp_copy(dev, l->phi, GP_DOUBLE);
	gp_matrix	row = gp_upload(dev, gp_matrix_wrap(root_curvature, 1, n, GP_DOUBLE), GP_DOUBLE);
	gp_matrix	column = gp_upload(dev, gp_matrix_wrap(slope, n, 1, GP_DOUBLE), GP_DOUBLE);
	gp_matrix	gradient = dev->create(dev, p, 1, GP_DOUBLE);

	dev->elementwise(dev, &(gp_elementwise) {.op = GP_ELEMENT_TIMES}, scaled, row, row, row);
	dev->syrk(dev, false, 1.0, scaled, 0.0, l->root);
	dev->shift(dev, gp_matrix_diagonal(l->root), l->penalty);
	if (dev->potrf(dev, l->root) >= 0)
		gp_raise(dev->env, GP_ERR_RANGE, "Scale the features down.", "the regression on links has no mode");
	dev->gemm(dev, false, false, 1.0, l->phi, column, 0.0, gradient);
	dev->download(dev, gp_matrix_wrap(step, p, 1, GP_DOUBLE), gradient);
	for (int64_t k = 0; k < p; k++)
		step[k] -= l->penalty * l->b[k];
	gp_destroy_all(dev, &scaled, &row, &column, &gradient);
	gp_free_all(dev->env, slope, root_curvature);
}

/* step becomes H^-1 step; returns the product of both, which Newton calls the decrement. */
static double
newton_step(gp_link_logistic *l, double *step)
{
	gp_device  *dev = l->dev;
	int64_t		p = l->phi.rows;
	gp_matrix	x = gp_upload(dev, gp_matrix_wrap(step, p, 1, GP_DOUBLE), GP_DOUBLE);
	double	   *gradient = gp_alloc_array(dev->env, p, sizeof(double));
	double		decrement = 0.0;

	memcpy(gradient, step, p * sizeof(double));
	dev->trsm(dev, true, false, l->root, x);
	dev->trsm(dev, true, true, l->root, x);
	dev->download(dev, gp_matrix_wrap(step, p, 1, GP_DOUBLE), x);
	for (int64_t k = 0; k < p; k++)
		decrement += gradient[k] * step[k];
	dev->destroy(dev, &x);
	gp_free(dev->env, gradient);
	return decrement;
}

void
gp_link_logistic_fit(gp_link_logistic *l, const bool *label, const double *weight)
{
	gp_env	   *env = l->dev->env;
	int64_t		p = l->phi.rows;
	double	   *step = gp_alloc_zero(env, p, sizeof(double));
	double	   *next = gp_alloc_zero(env, p, sizeof(double));
	gp_count	before = env->dry ? gp_dry_count(l->dev) : (gp_count) {0};
	double		loss = objective(l, l->b, label, weight);
	double		all = 0.0;

	/* A dry run ends with its first step, which is zero. */
	for (int64_t r = 0; r < l->phi.cols; r++)
		all += weight[r];
	for (int k = 0; k < STEPS; k++)
	{
		double		part = 1.0;
		double		value = loss;

		env->check_interrupts(env);
		derivatives(l, label, weight, step);
		double		decrement = newton_step(l, step);
		if (!(decrement > CLOSE * all))
			break;
		/* Halved until the loss falls by a part of what the slope promises (Armijo). */
		for (int h = 0; h < HALVINGS; h++, part *= 0.5)
		{
			for (int64_t j = 0; j < p; j++)
				next[j] = l->b[j] + part * step[j];
			value = objective(l, next, label, weight);
			if (value <= loss - 1e-4 * part * decrement)
				break;
		}
		if (!(value < loss))
		{
			(void) objective(l, l->b, label, weight);
			break;
		}
		memcpy(l->b, next, p * sizeof(double));
		loss = value;
		if (decrement < l->last * all)
			break;
	}
	if (env->dry)
		gp_dry_repeat(l->dev, &before, TYPICAL_STEPS - 1.0);
	gp_free_all(env, step, next);
}

void
gp_link_logistic_variances(gp_link_logistic *l, int64_t first, int64_t n, double *out)
{
	gp_device  *dev = l->dev;
	gp_matrix	rows = dev->create(dev, n, l->phi.rows, GP_DOUBLE);
	gp_matrix	sum = dev->create(dev, n, 1, GP_DOUBLE);

	dev->transpose(dev, rows, gp_matrix_cols(l->phi, first, n));
	dev->trsm(dev, false, true, l->root, rows);
	dev->row_dots(dev, sum, rows, rows);
	dev->download(dev, gp_matrix_wrap(out, n, 1, GP_DOUBLE), sum);
	gp_destroy_all(dev, &rows, &sum);
}

double *
gp_link_logistic_weights(gp_link_logistic *l, gp_matrix root)
{
	gp_device  *dev = l->dev;
	int64_t		p = l->phi.rows;
	double	   *out = gp_alloc_array(dev->env, p, sizeof(double));
	gp_matrix	x = gp_upload(dev, gp_matrix_wrap(l->b, p, 1, GP_DOUBLE), GP_DOUBLE);

	if (root.data)
		dev->trsm(dev, true, true, root, x);
	dev->download(dev, gp_matrix_wrap(out, p, 1, GP_DOUBLE), x);
	dev->destroy(dev, &x);
	return out;
}

float *
gp_link_covariance_root(gp_link_logistic *l, gp_matrix root)
{
	gp_device  *dev = l->dev;
	int64_t		p = l->phi.rows;
	float	   *out = gp_alloc_array(dev->env, p * p, sizeof(float));
	gp_matrix	inverse = gp_copy(dev, l->root, GP_DOUBLE);

	dev->trtri(dev, inverse);
	gp_matrix	w = gp_transpose(dev, inverse);
	if (root.data)
		dev->trsm(dev, true, true, root, w);
	dev->download(dev, gp_matrix_wrap(out, p, p, GP_FLOAT), w);
	gp_destroy_all(dev, &w, &inverse);
	return out;
}
