/*
 * selection.h - kernels compared by leave-one-out, and the one that suits a graph.
 *
 * Kernels that differ in kind are compared on one reading, by Nystrom on the same number of
 * landmarks, and the one that loses least on labels left out is fitted in full.  With few labels
 * a choice among kernels that are alike is worse than none (measured: the best of nine lost to
 * one that was fixed): there the order of the candidates decides.
 */
#ifndef GP_SELECTION_H
#define GP_SELECTION_H

#include "fit/fit.h"

/* A kernel, and how well it explains the labels, each left out in turn. */
typedef struct gp_candidate
{
	gp_kernel  *tree;			/* NULL for a method */
	gp_program *program;
	const char *kernel;			/* canonical text */
	bool		is_alone;		/* compared with no other kernel, only by its own powers */
	const char *problem;		/* why it is skipped; NULL: it fits, and the rest is known */
	bool		is_planned;
	gp_plan		plan;			/* of the comparison */
	double		seconds;		/* that it took */
	int64_t		landmarks;		/* 0: by conjugate gradients */
	double		power;			/* of the kernel; 0: not compared */
	int			prior_d;		/* the prior that it chose; 0: none */
	double		prior_sigma2;
	double		nugget;
	double		nll;			/* NaN for values */
	double		loo_score;
	double		log_marginal_likelihood;
	int64_t		n;
	double	   *loss;			/* n: gp_loo_losses; NULL where labels are too few */
} gp_candidate;

/* A candidate of which nothing is known; owns the kernel. */
extern gp_candidate gp_candidate_make(gp_env *env, gp_kernel *kernel);

/*
 * The n kernels that may suit a problem, whose program is not looked at; the likeliest comes first.
 * Tells which are left out because a live problem is not for them.
 */
extern gp_candidate *gp_candidates(gp_env *env, const gp_problem *problem, int *n);

/*
 * What the fits of several candidates have in common, or the comparison of one's powers and its
 * fit, for the problem to lend; NULL: nothing.
 */
extern gp_shared *gp_candidates_share(gp_device *dev, const gp_problem *problem,
									  const gp_candidate *candidates, int n);

/*
 * The problem by which a candidate is compared: that of its fit in full where that is as cheap, or
 * where there is nothing to compare.
 */
extern gp_problem gp_candidate_problem(gp_device *dev, const gp_problem *problem,
									   const gp_candidate *c);

/* Fills in the figures of a fit; what it loses belongs to env. */
extern void gp_candidate_record(gp_env *env, const gp_problem *problem,
								const gp_posterior *posterior, gp_candidate *c);

/* Gives the kernel the prior that it was recorded with, for good. */
extern void gp_candidate_close_prior(gp_env *env, gp_candidate *c);

/* True when labels tell that one candidate is better than another. */
extern bool gp_candidate_is_better(const gp_candidate *one, const gp_candidate *other);

/*
 * The best of some candidates: where leave-one-out cannot tell, which is a difference within its
 * standard error, the first of those that are as good as the one that loses least.  -1: none fits.
 */
extern int	gp_candidates_best(const gp_candidate *candidates, int n);

/*
 * Tells where the order of the candidates decided, and where linear regression is as good; of few
 * labels neither says much.
 */
extern void gp_notice_choice(gp_env *env, const gp_candidate *candidates, int n,
							 const gp_candidate *chosen);

/* What a fit takes. */
typedef struct gp_forecast
{
	gp_plan		full;			/* of the first candidate; its bytes are the most of all, its effort
								 * that of a likely one */
	gp_count	before;			/* the comparisons of candidates, or of powers, together */
	double		least;			/* bytes: with the fit in full that needs least */
} gp_forecast;

/*
 * Plans a fit of the best of n candidates, which get the plans of their comparisons, within what
 * the problem's estimate or the environment allows.  Without an estimate only the effort of
 * the fit in full is planned.
 */
extern gp_forecast gp_candidates_plan(gp_device *dev, const gp_problem *problem,
									  gp_candidate *candidates, int n);

/* True where a fit in full would take long, and longer than one as its kernel was compared. */
extern bool gp_fit_is_long(gp_device *dev, const gp_problem *full, const gp_problem *compared);

#endif							/* GP_SELECTION_H */
