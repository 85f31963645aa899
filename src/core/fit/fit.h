/*
 * fit.h - from a graph, features and labels to the posterior of every node.
 *
 * The model is a Gaussian process with prior covariance s^2 K, K from the
 * kernel's program, and noise s^2 eps, regressed on one-hot classes (not
 * centred) or on the centred target.
 */
#ifndef GP_FIT_H
#define GP_FIT_H

#include "precision/precision.h"

/* The names of strategies, as users write them. */
extern const char *const gp_strategy_names[GP_STRATEGIES];

/*
 * A NOTICE names the nodes in components without a label, where they are many; program NULL: of a
 * method (unlabelled_components.c).
 */
extern void gp_notice_unlabelled(gp_env *env, const gp_problem *problem);

/* Tells that landmarks, of which so many (0: any) were asked for, are none (strategy.c). */
extern void gp_notice_no_landmarks(gp_env *env, int64_t asked, const gp_posterior *out);

#define GP_CHEAP_EFFORT 2e11	/* operations, as a plan weighs them, that take seconds */

/* Counts operations and bytes and chooses; raises GP_ERR_LIMIT when nothing fits. */
extern gp_plan gp_plan_make(gp_device *dev, const gp_problem *problem);

/* A fit of one or more posteriors, which returns one. */
typedef gp_posterior *(*gp_fitter) (gp_device *dev, const gp_problem *problem, const void *arg);

/* The plan of a low-rank one, by a dry run of all of it. */
extern gp_plan gp_plan_fitter(gp_device *dev, const gp_problem *problem, gp_fitter fitter,
							  const void *arg);

/* plan.c: true where what a dry run took may be held beside what is held. */
extern bool gp_plan_fits(const gp_device *dev, const gp_problem *problem, const gp_count *count);

/*
 * plan.c: the figures of a plan from what a dry run took, held against what may be held unless
 * only an estimate is asked for (GP_ERR_LIMIT: what needs so much, and a hint); and these behind
 * its reason.
 */
extern void gp_plan_set_figures(gp_device *dev, const gp_problem *problem, const gp_count *count,
								const char *what, const char *hint, gp_plan *plan);
extern void gp_plan_add_figures(gp_plan *plan);

/*
 * Plans, computes and returns the posterior; checks the plan against gp_limit first.  NULL where a
 * comparison's does not fit what may be held.
 */
extern gp_posterior *gp_fit(gp_device *dev, const gp_problem *problem);

/* True when the kernel has a low-rank factor, as its powers need: its parts are not too many. */
extern bool gp_fit_has_factor(gp_device *dev, const gp_problem *problem);

/*
 * The problem whose fit says how well a kernel explains labels that are left out, by Nystrom on the
 * landmarks asked for (0: as many as any other gets), a Laplacian kernel by conjugate gradients: a
 * posterior whose figures and leave-one-out are all that it has.
 */
extern gp_problem gp_comparison_problem(const gp_device *dev, const gp_problem *problem);

/*
 * The kernel of all nodes as one dense factor, nodes x r float with K = QQ', on
 * the landmarks asked for (0: every node), of at most so many columns (0: any number); labels are
 * not looked at.  Owned by the caller.
 */
extern gp_matrix gp_kernel_factor(gp_device *dev, const gp_problem *problem, int64_t most);

/*
 * The posterior from such a factor, which is spoilt: the problem's graph,
 * features, program and strategy are not looked at.
 */
extern gp_posterior *gp_fit_factor(gp_device *dev, const gp_problem *problem, gp_matrix q);

/*
 * power_choice.c: true where leave-one-out should choose a power.  A comparison does, if it can
 * afford that; a fit takes the one that its program names.
 */
extern bool gp_power_is_open(const gp_problem *problem);

#define GP_POWER_TRIED 1.25		/* above 1: all such take as much */

/* power.c: refuses kernels with a power where nothing takes it. */
extern void gp_power_refuse(gp_env *env, const gp_program *program);

/*
 * A factor K = QQ' whose rows the host keeps, and what is asked about it.  Matrices are the
 * device's, arrays are host memory.
 */
typedef struct gp_external_factor
{
	void	   *state;
	int64_t		rank;
	double		first_jitter;	/* that its making began with, and the largest that it used */
	double		jitter;
	/* Q'Q and Q'y of the labelled rows, in double; y is labelled x columns. */
	void		(*gram) (void *state, const double *y, int32_t columns, gp_matrix gram,
						 gp_matrix qty);
	/*
	 * Rows of Q: n x rank, double.  It is called twice: with any nodes, for the mean of the
	 * diagonal, and then with labelled ones, for the nugget.
	 */
	void		(*rows) (void *state, const int32_t *node, int64_t n, gp_matrix out);
	/*
	 * Keeps of every node |F' q_i|^2 of an upper triangular root F, and q_i' w behind it.  Both
	 * matrices are double, and so is what the labelled nodes get (labelled x (1 + columns); NULL:
	 * not asked for): rounding must not bring a leverage to 1.
	 */
	gp_kept_rows (*project_all) (void *state, gp_matrix root, gp_matrix w, double *labelled);
} gp_external_factor;

/* The posterior from such a factor, in its kept rows; graph, features and program are not looked
 * at. */
extern gp_posterior *gp_fit_external(gp_device *dev, const gp_problem *problem,
									 const gp_external_factor *factor, int64_t nodes);

#endif							/* GP_FIT_H */
