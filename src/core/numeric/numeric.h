/*
 * numeric.h - numerical methods that several folders use.
 */
#ifndef GP_NUMERIC_H
#define GP_NUMERIC_H

#include "device/device.h"

/* ---- matrices made of others, the caller's ---- */

/* The rows index of m. */
static inline gp_matrix
gp_gather(gp_device *dev, gp_matrix m, const int32_t *index, int64_t n)
{
	gp_matrix	out = dev->create(dev, n, m.cols, m.type);

	dev->gather_rows(dev, out, m, index);
	return out;
}

static inline gp_matrix
gp_transpose(gp_device *dev, gp_matrix m)
{
	gp_matrix	out = dev->create(dev, m.cols, m.rows, m.type);

	dev->transpose(dev, out, m);
	return out;
}

static inline gp_matrix
gp_filled(gp_device *dev, int64_t rows, int64_t cols, gp_type type, double value)
{
	gp_matrix	out = dev->create(dev, rows, cols, type);

	dev->fill(dev, out, value);
	return out;
}

/* I, double, owned by the caller. */
static inline gp_matrix
gp_identity(gp_device *dev, int64_t n)
{
	gp_matrix	one = gp_filled(dev, n, n, GP_DOUBLE, 0.0);

	dev->shift(dev, gp_matrix_diagonal(one), 1.0);
	return one;
}

/* The columns index of a symmetric m. */
static inline gp_matrix
gp_gather_columns(gp_device *dev, gp_matrix m, const int32_t *index, int64_t n)
{
	gp_matrix	rows = gp_gather(dev, m, index, n);
	gp_matrix	out = gp_transpose(dev, rows);

	dev->destroy(dev, &rows);
	return out;
}

/* m in a type. */
static inline gp_matrix
gp_copy(gp_device *dev, gp_matrix m, gp_type type)
{
	gp_matrix	out = dev->create(dev, m.rows, m.cols, type);

	dev->copy(dev, out, m);
	return out;
}

/* The host's numbers in a type; m as numbers of the host. */
static inline gp_matrix
gp_upload(gp_device *dev, gp_matrix host, gp_type type)
{
	gp_matrix	out = dev->create(dev, host.rows, host.cols, type);

	dev->upload(dev, out, host);
	return out;
}

static inline double *
gp_download(gp_device *dev, gp_matrix m)
{
	double	   *host = gp_alloc_values(dev->env, (int64_t) gp_size_mul(dev->env, m.rows, m.cols),
										sizeof(double));

	dev->download(dev, gp_matrix_wrap(host, m.rows, m.cols, GP_DOUBLE), m);
	return host;
}

/* The mean of numbers of the host; 0 in a dry run. */
static inline double
gp_host_mean(gp_env *env, const double *x, int64_t n)
{
	double		sum = 0.0;

	for (int64_t i = 0; i < gp_items(env, n); i++)
		sum += x[i];
	return sum / (double) n;
}

/* The inner products of the rows of a and b, which may be one, as numbers of the host. */
static inline double *
gp_row_products(gp_device *dev, gp_matrix a, gp_matrix b)
{
	gp_matrix	dots = dev->create(dev, a.rows, 1, GP_DOUBLE);

	dev->row_dots(dev, dots, a, b);
	double	   *host = gp_download(dev, dots);
	dev->destroy(dev, &dots);
	return host;
}

/* ---- cholesky.c ---- */

/* The mean of a vector, and of the diagonal of a matrix, on the device. */
extern double gp_mean_entry(gp_device *dev, gp_matrix v);
extern double gp_mean_diagonal(gp_device *dev, gp_matrix c);

/*
 * The Cholesky factor of k + jitter unit I, in root; both are m x m, and k stays as it is.
 * The jitter begins with first and grows by factors of ten (after 0 comes 1e-12), to most at the
 * most.  Returns the one that did, or NaN where none does.
 */
extern double gp_cholesky_jitter(gp_device *dev, gp_matrix k, double unit, double first,
								 double most, gp_matrix root);

/* The same; raises GP_ERR_DATA where none does, and names whose covariance it is. */
extern double gp_covariance_root(gp_device *dev, gp_matrix k, double unit, double first,
								 double most, gp_matrix root, const char *what, const char *hint);

/*
 * The columns of y (n x s double) become orthonormal and keep their span, by the Cholesky factor of
 * y'y (Halko, Martinsson and Tropp 2011, 4.5).  Columns without rank become small.  Returns
 * false where the factor needs a jitter of more than 1e-3 of its trace.
 */
extern bool gp_orthonormalise(gp_device *dev, gp_matrix y);

/*
 * Solves the first n unknowns of a symmetric system of at most GP_SMALL, whose rows a are stride
 * numbers apart; unknowns without a pivot are 0.  x may be b.  Returns <b, x>.
 */
#define GP_SMALL 18
extern double gp_solve_small(int n, const double *a, int stride, const double *b, double *x);

/* ---- conjugate.c ---- */

/* What inner products of matrices of so many rows take. */
typedef struct gp_long_dots
{
	gp_device  *dev;
	gp_matrix	dots;			/* rows x 1 double */
	double	   *host;			/* the same */
} gp_long_dots;

extern gp_long_dots gp_long_dots_open(gp_device *dev, int64_t rows);
extern void gp_long_dots_close(gp_long_dots *l);

/* The product of all elements of a with those of b, added up; in a dry run 1. */
extern double gp_long_dot(gp_long_dots *l, gp_matrix a, gp_matrix b);

/* to = A from. */
typedef void gp_conjugate_product (void *system, gp_matrix from, gp_matrix to);

/*
 * A X = B for a symmetric positive definite A, the columns as one long vector: all take the same
 * steps.
 */
typedef struct gp_conjugate
{
	gp_device  *dev;
	gp_conjugate_product *multiply;
	void	   *system;
	gp_matrix	x;				/* the caller's */
	gp_matrix	residual;		/* B - A x */
	gp_matrix	direction;
	gp_matrix	product;		/* A times the direction */
	gp_long_dots dots;
	double		square;			/* of the residual, */
	double		first;			/* and of that which it began with */
} gp_conjugate;

/* Takes memory for all but x, which is not cleared. */
extern gp_conjugate gp_conjugate_open(gp_device *dev, int64_t rows, int64_t cols, gp_type type,
									  gp_conjugate_product *multiply, void *system);
extern void gp_conjugate_close(gp_conjugate *g);

/* Begins from x and its residual, both of which the caller has set. */
extern void gp_conjugate_begin(gp_conjugate *g);

/*
 * One step.  Returns by how much <B, X> grows, which is what the square of the error in A's norm
 * falls; NaN where A is not positive to the precision of its numbers.
 */
extern double gp_conjugate_step(gp_conjugate *g);

/* Begins, and goes on until the residual has fallen to so small a part or so many steps are done;
 * in a dry run one. */
extern void gp_conjugate_solve(gp_conjugate *g, double close, int most);

/* ---- eigen.c ---- */

/*
 * The leading eigenvectors of a symmetric positive semidefinite g (m x m double), which is
 * overwritten: v (m x s) and w (s x 1), ascending.  Up to GP_SYEV_MAX rows they are exact.  Beyond
 * it one step of subspace iteration finds them (Halko, Martinsson and Tropp 2011, 4.4), for no
 * larger eigenproblem could be interrupted; s must be at most GP_SYEV_MAX.  Returns false where
 * numbers are out of range.
 */
extern bool gp_leading_vectors(gp_device *dev, gp_matrix g, gp_matrix v, gp_matrix w);

/* x (n x s) -= the mean of its rows. */
extern void gp_centre_rows(gp_device *dev, gp_matrix x);

/*
 * h (n x s) = the leading eigenvectors of QQ', ascending, once q (n x at most GP_SYEV_MAX) has lost
 * the mean of its rows.  Columns without a value are 0.
 */
extern void gp_principal_components(gp_device *dev, gp_matrix q, gp_matrix h);

/* ---- likelihoods.c ---- */

/* p (columns) = softmax(logit), which p may be; returns log p of a class, 0 for class -1. */
extern double gp_softmax_log(int32_t columns, const double *logit, double *p, int32_t class);

/*
 * Returns weight times the log likelihood of the rows with a class (label >= 0) of logits f
 * (host, n x c), which become the gradient of minus that.
 */
extern double gp_softmax(gp_env *env, int64_t n, int32_t c, const int32_t *label, double weight,
						 double *f);

/* The same for n pairs, linked or not, with logits r (host). */
extern double gp_logistic(gp_env *env, int64_t n, const bool *linked, double weight, double *r);

/* ---- ranking.c ---- */

/*
 * The area under the ROC curve and the average precision of n scores; what is not a
 * number ranks last.  Both are NaN where one of the labels is missing.
 */
extern void gp_ranking_metrics(gp_env *env, int64_t n, const double *score, const bool *label,
							   double *auc, double *average_precision);

#endif							/* GP_NUMERIC_H */
