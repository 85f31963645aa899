/*
 * problem.h - what a fit starts from, and what the planner made of it.
 */
#ifndef GP_PROBLEM_H
#define GP_PROBLEM_H

#include "kernel/kernel.h"

typedef enum gp_task
{
	GP_TASK_CLASSES,
	GP_TASK_VALUES
} gp_task;

typedef enum gp_strategy
{
	GP_STRATEGY_AUTO,
	GP_STRATEGY_EXACT,
	GP_STRATEGY_NYSTROM,
	/* of a Laplacian kernel: conjugate gradients on its sparse inverse */
	GP_STRATEGY_PRECISION,
	/* the host's: a low-rank factor whose rows it keeps (gp_fit_external) */
	GP_STRATEGY_SQL,
	GP_STRATEGIES
} gp_strategy;

typedef struct gp_plan gp_plan;

/*
 * What a fit starts from.  Nothing in it is changed or freed.
 *
 * A comparison of kernels (gp_comparison_problem) is loo_only and quiet and never live.  A fit
 * whose nugget the user cannot give is quiet alone; compared is one of several fits that the user
 * hears about together.
 */
typedef struct gp_problem
{
	/* ---- the data ---- */
	const gp_graph *graph;
	const gp_features *features;	/* NULL: structure only */
	const double *moments;		/* by which the features were standardised, or NULL */
	const gp_features *other;	/* the same, standardised where those are not, and the other way
								 * round, where the labels may choose; or NULL */
	const double *other_moments;	/* by which those were standardised, or NULL */
	/*
	 * by which the host made them of its columns, encoding_rows x encoding_cols, kept as it is; or
	 * NULL
	 */
	const double *encoding;
	int64_t		encoding_rows;
	int64_t		encoding_cols;
	gp_task		task;
	int64_t		nlabelled;
	const int32_t *labelled;	/* nodes, ascending */
	const int32_t *label;		/* class of each labelled node, or NULL */
	const double *target;		/* value of each labelled node, or NULL */
	int32_t		nclasses;		/* 0 for values */
	/*
	 * The block of each labelled node, 0 .. nblocks - 1 in order of time: everything that a label
	 * is otherwise judged by without itself is then without its block (time_blocks.c).  NULL: by
	 * itself.
	 */
	const int32_t *block;
	int32_t		nblocks;

	/* ---- what the user asks for ---- */
	const gp_program *program;
	gp_strategy strategy;
	int64_t		nlandmarks;		/* 0 = automatic */
	double		nugget;			/* relative to mean diag K; NaN = by leave-one-out */
	uint64_t	seed;
	/* the posterior keeps what rows can be evaluated against later (live_answer.c) */
	bool		live;

	/* ---- how it is computed ---- */
	gp_type		type;			/* of the large matrices */
	double		nugget_min;		/* the least one searched; 0 = GP_NUGGET_MIN */
	const int32_t *landmark;	/* the landmarks, nlandmarks of them, ascending; NULL: choose */
	/* What was made for several kernels of this graph, these features, type and seed; or NULL */
	const gp_shared *shared;
	const gp_plan *plan;		/* of this very problem, made before; or NULL */
	size_t		estimate_limit; /* for an estimate: bytes to plan for, without an error when
								 * nothing fits; 0 = gp_limit */
	/* Chooses the device once the plan is known; NULL stays with the one that planned. */
	gp_device  *(*device_for) (void *arg, gp_device *planner, const gp_plan *plan);
	void	   *device_arg;

	/* ---- what is left out, and what is not said ---- */
	/* figures and leave-one-out alone: means and variances of the nodes are left empty */
	bool		loo_only;
	bool		quiet;			/* no notices about the nugget, or of the worth of the fit */
	bool		compared;		/* no notice of the worth of the fit */
	bool		divided;		/* the host has the nodes in partitions, or on several servers: an
								 * error about memory hints at strategy sql */
} gp_problem;

/* What the planner counted and chose. */
struct gp_plan
{
	gp_strategy strategy;		/* not auto */
	bool		by_columns;		/* exact: only the receptive field's columns */
	bool		exact_diagonal; /* variances start from the exact diagonal */
	int64_t		nlandmarks;		/* nystrom: how many, */
	int64_t		most_landmarks; /* and how many it would be with more memory */
	int64_t		stored_panel;	/* see gp_eval */
	int			products;		/* precision: of the space in which priors are compared, or 0 */
	bool		try_powers;		/* a comparison's: leave-one-out chooses a power, too */
	double		bytes;			/* high-water mark of the environment, inputs included */
	double		flops;			/* floating-point operations of the whole fit */
	double		effort;			/* the same, weighed by how fast they run */
	double		doubles;		/* those of flops that are in double precision */
	double		live_bytes;		/* of what a live problem keeps */
	double		live_entries;	/* of the kernel that each live answer of an exact fit computes */
	char		reason[512];	/* one sentence for the user */
};

#endif							/* GP_PROBLEM_H */
