/*
 * precision.h - the Laplacian prior by its precision, which is sparse.
 *
 * The kernel K = (I + s2 L)^-d is dense, its inverse B^d, B = I + s2 L, is not.  With
 * labels at the nodes t and noise e the posterior's precision is H = B^d + M / e, M the
 * diagonal with a 1 at each labelled node, and the posterior mean solves H F = M Y / e.
 * No factor is held: some matrices of nodes x columns, and in a Krylov space one a product.
 */
#ifndef GP_PRECISION_H
#define GP_PRECISION_H

#include "regression/regression.h"

/* A graph's H for some prior and noise, scaled to a diagonal of ones. */
typedef struct gp_precision gp_precision;

/* Single elements of a matrix, nodes x cols, whose columns may be a band of more. */
typedef struct gp_elements
{
	int64_t		n;
	int32_t    *row;
	int32_t    *col;			/* in the band */
	double	   *value;
	int64_t		first;			/* the band's */
	int64_t		cols;
} gp_elements;

/* Room for so many elements; in a dry run they count as used. */
extern gp_elements gp_elements_make(gp_env *env, int64_t n, int64_t first, int64_t cols);
extern void gp_elements_free(gp_env *env, gp_elements *b);

/* Adds an element where it is not 0 and its column is of the band. */
extern void gp_elements_add(gp_elements *b, int32_t row, int64_t col, double value);

/* How far the conjugate gradients came. */
typedef struct gp_convergence
{
	int			iterations;
	double		error;			/* about how far from the end; see gp_precision_solve */
} gp_convergence;

/* A graph's S = D^-1/2 W D^-1/2 (W + W' where directed), double, with a full diagonal of zeros. */
extern gp_csr *gp_precision_matrix(gp_env *env, const gp_graph *graph);

/* Takes S, which stays the caller's. */
extern gp_precision *gp_precision_open(gp_device *dev, const gp_csr *s, gp_type type);
extern void gp_precision_close(gp_precision *p);

/* Makes H for a prior and labels with this noise; without labels H is the prior's precision. */
extern void gp_precision_set(gp_precision *p, double sigma2, int d, const int32_t *labelled,
							 int64_t nlabelled, double noise);

/*
 * Solves H X = B for single elements of B, all columns at once, until the error has fallen to the
 * tolerance or so many iterations are done.  Columns should be of one size, for the error is that
 * of all of them: in H's norm, relative to the solution where energy is 0.  For right sides M Y /
 * e, energy is |Y|^2 / e, and the error relative to the root of energy - <B, X> = <Y, (K(t,t) + e
 * I)^-1 Y>: a residual is small as soon as the labels are met, long before the far away converges.
 * Where priors are wide a step may bring little though the end is far, so that the residual has to
 * fall as much.  X is nodes x cols of the type, owned by the caller.
 *
 * A start, which is freed, is the solution of much the same system: the far away, which takes the
 * most steps, is mostly in it.
 */
extern gp_matrix gp_precision_solve(gp_precision *p, const gp_elements *b, double energy,
									double tolerance, int most, gp_matrix *start,
									gp_convergence *reached);

/* What (H^-1)_ii is at least, 1 / H_ii or less, of a node whose label has this noise (INFINITY:
 * none), whatever H has been made. */
extern double gp_precision_variance_floor(const gp_precision *p, double sigma2, int d,
										  double noise, int64_t node);

/* ---- moments of S (precision_moments.c) ---- */

/*
 * tr T_k(S) / n, measured by random signs (Hutchinson 1989); the caller's.  With z_k = T_k(S) z the
 * moments of 2k and 2k + 1 are twice z_k'z_k and z_k'z_(k+1), less the first ones.
 */
extern double *gp_prior_moments(gp_device *dev, const gp_csr *s, gp_type type, uint64_t seed);

/* tr (I + s2 L)^-d / n, the mean of diag K, from the moments. */
extern double gp_prior_mean(const double *moment, double sigma2, int d);

/* ---- posteriors of all priors from one run of products with S (krylov.c) ---- */

typedef struct gp_krylov gp_krylov;

/*
 * Spans the space of so many products with S of right sides, elements in the rows of the
 * labelled nodes.  Vectors of it, nodes x cols each, are held until it is closed; three of them
 * where solutions are asked for at the labels only.
 */
extern gp_krylov *gp_krylov_open(gp_device *dev, const gp_csr *s, gp_type type,
								 const int32_t *labelled, int64_t nlabelled,
								 const gp_elements *b, int products, bool labels_only);
extern void gp_krylov_close(gp_krylov *k);

/*
 * The solution of (B^d + M / noise) X = B / noise that is best in the space, d at most 2: x has the
 * labels' rows, n x cols double, until the next call.  Returns the root of what the last two
 * vectors of the space gain over what is left of the whole, as gp_precision_solve has it: large
 * where the space is too small.
 */
extern double gp_krylov_solve(gp_krylov *k, double sigma2, int d, double noise, const double **x);

/* The last solution at all nodes; the caller's. */
extern gp_matrix gp_krylov_solution(gp_krylov *k);

/* ---- what probes of a diagonal need (precision_probe.c) ---- */

/* The sign of a node among the probes of its colour. */
extern double gp_probe_sign(uint64_t seed, int32_t node);

/*
 * Colours n nodes (NULL: all of them) so that neighbours differ where possible; each its own
 * where there are as many colours.  Owned by the caller.
 */
extern int32_t *gp_probe_colours(gp_env *env, const gp_csr *s, const int32_t *node, int64_t n,
								 int32_t colours);

/* ---- the fit ---- */

#define GP_PRIORS_TRIED 10

/* A Laplacian prior with a nugget, and how well it explains labels that were left out. */
typedef struct gp_prior_score
{
	double		sigma2;
	int			d;
	double		nugget;			/* relative */
	double		score;			/* as loo_score, less what the class shares know; NaN: not looked
								 * at */
} gp_prior_score;

typedef struct gp_prior_choice
{
	bool		chooses_nugget;	/* the best one's nugget need not be searched for again */
	int			n;
	int			best;			/* of tried */
	gp_prior_score tried[GP_PRIORS_TRIED];
} gp_prior_choice;

/* The best one, its nugget the given one unless that is NaN; NaN where it is still to be chosen. */
extern gp_prior_score gp_prior_best(const gp_prior_choice *all, double nugget);

/*
 * The Laplacian prior that fits a graph, by leave-one-out on conjugate gradients
 * (precision_choose.c), whatever the problem's program.  Too few labels: one that serves most
 * graphs.  gp_fit does it by itself where the program leaves the prior open.
 */
extern gp_prior_choice gp_precision_choose(gp_device *dev, const gp_problem *problem);

/* precision_posterior.c: the posterior without a factor, from the matrix of gp_precision_matrix. */
extern gp_posterior *gp_posterior_precision(gp_device *dev, const gp_problem *problem,
											const gp_csr *s, const gp_plan *plan);

/*
 * True where conjugate gradients are asked for, or serve best: a Laplacian kernel on a graph too
 * large for its root, and nobody asks for landmarks or the walks' columns, which mean the factor.
 * Refuses kernels that they do not serve.
 */
extern bool gp_precision_serves(gp_env *env, const gp_problem *problem);

#endif							/* GP_PRECISION_H */
