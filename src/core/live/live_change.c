/*
 * live_change.c - labels that are given and taken change a posterior by a few rows.
 *
 * With J the observations and S = C(J,J) + noise D, where D has 1 for a label that is given and
 * -1 for one that is taken, m' = m + C(:,J) S^-1 (y_J - m_J) and C' = C - C(:,J) S^-1 C(J,:)
 * (Rasmussen and Williams 2006, equations 2.23 and 2.24).  S has neither sign, but its parts
 * have: that of the labels given is positive definite, and what it leaves of that of the labels
 * taken is negative definite while a label remains to predict by.  So two Cholesky factors serve
 * (Vanderbei 1995, "Symmetric quasidefinite matrices").
 */
#include "live_change.h"

#include <math.h>

/* A change at work. */
typedef struct changing
{
	const gp_change *c;
	int64_t		given;			/* observations, which come first */
	int64_t		taken;
	int64_t    *order;			/* of the observations */
	gp_matrix	cov;			/* C of points and observations with the observations */
	gp_matrix	root;			/* of the given ones' part of S */
	gp_matrix	beside;			/* root^-1 S(given, taken) */
	gp_matrix	rest;			/* the root of what is left of the taken ones' part, whose sign is turned */
	gp_matrix	x;				/* S^-1 of what the observations say, then of their covariances with the points */
} changing;

/* The given ones first. */
static void
order_observations(changing *s)
{
	s->order = gp_alloc_array(s->c->dev->env, s->c->n, sizeof(int64_t));
	for (int64_t k = 0; k < s->c->n; k++)
		if (s->c->sign[k] > 0.0)
			s->order[s->given++] = k;
	for (int64_t k = 0; k < s->c->n; k++)
		if (!(s->c->sign[k] > 0.0))
			s->order[s->given + s->taken++] = k;
}

/* Row i of points and ordered observations, as they were given. */
static int64_t
row_of(const changing *s, int64_t i)
{
	return i < s->c->points ? i : s->c->points + s->order[i - s->c->points];
}

/* The covariances: K less what the half covariances explain, or noise times what they share. */
static void
take_covariances(changing *s)
{
	gp_device  *dev = s->c->dev;
	int64_t		rows = s->c->points + s->c->n;
	gp_matrix	half = dev->create(dev, rows, s->c->rank, GP_DOUBLE);
	double	   *row = gp_alloc_array(dev->env, s->c->n, sizeof(double));

	s->cov = dev->create(dev, rows, s->c->n, GP_DOUBLE);
	for (int64_t i = 0; i < rows; i++)
	{
		dev->upload(dev, gp_matrix_rows(half, i, 1),
					gp_matrix_wrap((double *) s->c->half + row_of(s, i) * s->c->rank, 1, s->c->rank, GP_DOUBLE));
		if (s->c->cross == NULL)
			continue;
		for (int64_t k = 0; k < s->c->n; k++)
			row[k] = s->c->cross[row_of(s, i) * s->c->n + s->order[k]];
		dev->upload(dev, gp_matrix_rows(s->cov, i, 1), gp_matrix_wrap(row, 1, s->c->n, GP_DOUBLE));
	}
	dev->gemm(dev, false, true, s->c->cross ? -1.0 : s->c->noise, half, gp_matrix_rows(half, s->c->points, s->c->n),
			  s->c->cross ? 1.0 : 0.0, s->cov);
	dev->destroy(dev, &half);
	gp_free(dev->env, row);
}

/* Some rows and columns of S without its noise. */
static gp_matrix
part(const changing *s, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
	return gp_matrix_part(s->cov, s->c->points + row, col, rows, cols);
}

/* Factorises a part of S, or raises where nothing is left. */
static void
factorise(const changing *s, gp_matrix a)
{
	gp_device  *dev = s->c->dev;
	double	   *diagonal = gp_alloc_array(dev->env, a.rows, sizeof(double));
	bool		sound;

	dev->shift(dev, gp_matrix_diagonal(a), s->c->noise);
	sound = dev->potrf(dev, a) < 0;
	dev->download(dev, gp_matrix_wrap(diagonal, a.rows, 1, GP_DOUBLE), gp_matrix_diagonal(a));
	for (int64_t i = 0; i < a.rows; i++)
		sound = sound && diagonal[i] * diagonal[i] > 1e-9 * s->c->noise;
	gp_free(dev->env, diagonal);
	if (!sound)
		gp_raise(dev->env, GP_ERR_DATA, "Take fewer labels away at once.",
				 "the labels that are taken away leave nothing to predict by");
}

/* The factors of S. */
static void
factorise_all(changing *s)
{
	gp_device  *dev = s->c->dev;

	s->root = dev->create(dev, s->given, s->given, GP_DOUBLE);
	s->beside = dev->create(dev, s->given, s->taken, GP_DOUBLE);
	s->rest = dev->create(dev, s->taken, s->taken, GP_DOUBLE);
	if (s->given > 0)
	{
		dev->copy(dev, s->root, part(s, 0, 0, s->given, s->given));
		factorise(s, s->root);
	}
	if (s->taken == 0)
		return;
	dev->axpby(dev, -1.0, part(s, s->given, s->given, s->taken, s->taken), 0.0, s->rest);
	if (s->given > 0)
	{
		dev->copy(dev, s->beside, part(s, 0, s->given, s->given, s->taken));
		dev->trsm(dev, true, false, s->root, s->beside);
		dev->gemm(dev, true, false, 1.0, s->beside, s->beside, 1.0, s->rest);
	}
	factorise(s, s->rest);
}

/* x <- S^-1 x. */
static void
solve(const changing *s)
{
	gp_device  *dev = s->c->dev;
	gp_matrix	given = gp_matrix_rows(s->x, 0, s->given);
	gp_matrix	taken = gp_matrix_rows(s->x, s->given, s->taken);

	if (s->given > 0)
		dev->trsm(dev, true, false, s->root, given);
	if (s->given > 0 && s->taken > 0)
		dev->gemm(dev, true, false, -1.0, s->beside, given, 1.0, taken);
	if (s->taken > 0)
	{
		dev->trsm(dev, true, false, s->rest, taken);
		dev->trsm(dev, true, true, s->rest, taken);
		dev->axpby(dev, -1.0, taken, 0.0, taken);
	}
	if (s->given > 0 && s->taken > 0)
		dev->gemm(dev, false, false, -1.0, s->beside, taken, 1.0, given);
	if (s->given > 0)
		dev->trsm(dev, true, true, s->root, given);
}

/* What the observations say, and their covariances with the points, solved. */
static void
take_solution(changing *s)
{
	const gp_change *c = s->c;
	gp_device  *dev = c->dev;

	s->x = dev->create(dev, c->n, c->width + c->points, GP_DOUBLE);
	for (int64_t k = 0; k < c->n; k++)
		dev->upload(dev, gp_matrix_part(s->x, k, 0, 1, c->width),
					gp_matrix_wrap((double *) c->left + s->order[k] * c->width, 1, c->width, GP_DOUBLE));
	dev->transpose(dev, gp_matrix_cols(s->x, c->width, c->points), gp_matrix_rows(s->cov, 0, c->points));
	solve(s);
}

/* Adds what the observations change. */
static void
put_change(const changing *s, double *mean, double *variance)
{
	const gp_change *c = s->c;
	gp_device  *dev = c->dev;
	gp_matrix	points = gp_matrix_rows(s->cov, 0, c->points);
	gp_matrix	solved = dev->create(dev, c->points, c->n, GP_DOUBLE);
	gp_matrix	host = gp_matrix_wrap(mean, c->points, c->width, GP_DOUBLE);
	gp_matrix	sum = dev->create(dev, c->points, c->width, GP_DOUBLE);
	gp_matrix	dot = dev->create(dev, c->points, 1, GP_DOUBLE);
	double	   *less = gp_alloc_array(dev->env, c->points, sizeof(double));

	dev->upload(dev, sum, host);
	dev->gemm(dev, false, false, 1.0, points, gp_matrix_cols(s->x, 0, c->width), 1.0, sum);
	dev->download(dev, host, sum);
	dev->transpose(dev, solved, gp_matrix_cols(s->x, c->width, c->points));
	dev->row_dots(dev, dot, points, solved);
	dev->download(dev, gp_matrix_wrap(less, c->points, 1, GP_DOUBLE), dot);
	for (int64_t i = 0; i < c->points; i++)
		variance[i] -= less[i];
	dev->destroy(dev, &solved);
	dev->destroy(dev, &sum);
	dev->destroy(dev, &dot);
	gp_free(dev->env, less);
}

/* Brings means and variances up to date. */
void
gp_live_change(const gp_change *change, double *mean, double *variance)
{
	gp_device  *dev = change->dev;
	changing	s = {.c = change};

	order_observations(&s);
	take_covariances(&s);
	factorise_all(&s);
	take_solution(&s);
	put_change(&s, mean, variance);
	dev->destroy(dev, &s.cov);
	dev->destroy(dev, &s.root);
	dev->destroy(dev, &s.beside);
	dev->destroy(dev, &s.rest);
	dev->destroy(dev, &s.x);
	gp_free(dev->env, s.order);
}
