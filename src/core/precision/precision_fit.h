/*
 * precision_fit.h - the parts of a fit by conjugate gradients: labels, probes, variances.
 */
#ifndef GP_PRECISION_FIT_H
#define GP_PRECISION_FIT_H

#include "precision.h"
#include "regression/solution.h"

#define GP_PRECISION_BATCH 64	/* columns that are solved at once */
#define GP_PRECISION_MOST 500	/* iterations */
/* nodes x colours that are cheap: where so few serve, each has its own */
#define GP_PROBE_WORK 4e6

#define GP_PRECISION_PRODUCTS 10	/* of a Krylov space that all priors share */
#define GP_PRECISION_NUGGET 0.1	/* the first one tried where products are costly */
/* entries of the graph's matrix from which a product takes a tenth of a second */
#define GP_PRECISION_COSTLY 4e6

/* Tolerances: errors of gp_precision_solve at which it ends; costly: where each product counts. */
#define GP_TOLERANCE_COMPARED 1e-2	/* of priors and nuggets that are compared, of labels alone */
#define GP_TOLERANCE_COMPARED_COSTLY 1e-1
#define GP_TOLERANCE_FLOAT 1e-3	/* of the means in the end */
#define GP_TOLERANCE_FLOAT_COSTLY 5e-2
#define GP_TOLERANCE_DOUBLE 1e-8
#define GP_TOLERANCE_VARIANCES 1e-3	/* that are exact */
#define GP_TOLERANCE_PROBES 3e-2	/* no better than what probes miss */
#define GP_TOLERANCE_PROBES_COSTLY 1e-1

/* True for a graph on which each product counts. */
static inline bool
gp_precision_is_costly(const gp_csr *s)
{
	return (double) gp_csr_entries(s) >= GP_PRECISION_COSTLY;
}

/* A solution of all columns, and its prior and noise; noise 0: it is a start alone. */
typedef struct gp_precision_solution
{
	gp_matrix	x;
	double		sigma2;
	int			d;
	double		noise;
	double		error;
} gp_precision_solution;

/* A fit on its way. */
typedef struct gp_precision_fit
{
	gp_env	   *env;
	gp_device  *dev;
	const gp_csr *s;			/* the graph's, which the caller has */
	gp_precision *p;
	double	   *moment;			/* of S, once a prior was set */
	const gp_problem *problem;
	const gp_targets *targets;
	bool		costly_products;	/* each product counts */
	double		sigma2;
	int			d;
	double		mean_diag;
	double		noise;
	int32_t		columns;		/* of the right sides in hand: */
	const double *y;			/* m x columns, the targets or a sketch of them */
	double	   *sketch;			/* m x SKETCH of many classes, or NULL */
	int32_t		colours;
	int32_t    *colour;			/* of each label */
	int32_t    *component;		/* nodes: that each is in */
	bool	   *sole_label;		/* labels without another one in their component */
	bool		is_last;		/* what is solved is the fit's posterior: class_mean is added */
	double		class_mean;		/* subtracted from the targets of classes (right_sides) */
	double	   *fitted;			/* m x columns: the posterior mean of y, or of y - class_mean */
	double	   *variance;		/* m: V_ii at the labels */
	double	   *variance_floor; /* m: what it is at least */
	double	   *loo;			/* m x columns */
	gp_precision_solution last; /* where the next one may start from */
	gp_krylov  *krylov;			/* where few products serve all priors and nuggets, or NULL */
	double		error;			/* the worst one met since it was set to 0 */
	int32_t    *index;			/* the labels that count */
	int64_t		nindex;
} gp_precision_fit;

static inline double
gp_precision_compare_tolerance(const gp_precision_fit *f)
{
	return f->costly_products ? GP_TOLERANCE_COMPARED_COSTLY : GP_TOLERANCE_COMPARED;
}

/* precision_fit.c: starts with the matrix of gp_precision_matrix. */
extern void gp_precision_fit_open(gp_precision_fit *f, gp_device *dev, const gp_problem *problem,
								  const gp_targets *targets, const gp_csr *s);

/* Frees all but the leave-one-out means, loo. */
extern void gp_precision_fit_close(gp_precision_fit *f);

extern void gp_precision_set_prior(gp_precision_fit *f, double sigma2, int d);

/* Works on a sketch of the targets where the classes are many, or on all of them. */
extern void gp_precision_set_targets(gp_precision_fit *f, bool sketch);

/*
 * Spans a Krylov space for priors and nuggets that are compared, where products are costly, labels
 * few and plan->products some; not where this prior, one that is hard for it, shows that it is too
 * small.
 */
extern void gp_precision_span(gp_precision_fit *f, const gp_plan *plan, double sigma2, int d);

/* The posterior at the labels with this nugget, and without each; at all nodes where mean is
 * given. */
extern void gp_precision_solve_labels(gp_precision_fit *f, double nugget, double tolerance,
									  double *mean);

/* The leverage of label k, V_ii over the noise, within its bounds: 1 / H_ii, and what its own label
 * alone leaves of a prior that is at most 1. */
extern double gp_precision_leverage(const gp_precision_fit *f, int64_t k);

/* The leave-one-out error of the predictions in hand, as gp_loo_error has it. */
extern double gp_precision_loo_error(const gp_precision_fit *f, double *total);

/* The same with some nugget, for gp_nugget_choose. */
extern double gp_precision_nugget_error(void *state, double nugget);

/* precision_choose.c: the prior and the nugget that leave-one-out likes best, on a fit that has no
 * prior yet. */
extern gp_prior_choice gp_precision_choose_on(gp_precision_fit *f, const gp_plan *plan);

/* The nugget that leave-one-out likes best, on a fit that has a prior and a Krylov space. */
extern double gp_precision_choose_nugget(gp_precision_fit *f);

/* precision_variance.c: fills the variance of all nodes; returns the typical error, 0 where it is
 * exact. */
extern double gp_precision_variances(gp_precision_fit *f, double *variance);

#endif							/* GP_PRECISION_FIT_H */
