/*
 * prepared.h - what was prepared for a kernel on a graph, whatever the device.
 *
 * All of it is host memory of the environment that the kernel was opened in.
 * Sparse matrices that several steps, several strategies or a dry run and the
 * fit after it ask for are made once.
 */
#ifndef GP_PREPARED_H
#define GP_PREPARED_H

#include "kernel/live/live_state.h"
#include "numeric/numeric.h"

/* What is known of an operator. */
typedef struct gp_known_operator
{
	const gp_operator *op;
	bool		looked;			/* fills is known */
	bool		fills;
	gp_csr	   *csr;			/* NULL before it was asked for */
} gp_known_operator;

/* What is known of the explicit factor of a step. */
typedef struct gp_known_linear
{
	gp_csr	   *csr;			/* where it is sparse */
	bool		borrowed;		/* from the features */
	bool		dense;			/* found to have dense columns; what making it took: */
	int64_t		width;
	int64_t		dense_width;
	size_t		scratch;		/* bytes beside itself */
	gp_count	count;
} gp_known_linear;

/* The rows of an evaluation of some nodes (live_order.c). */
typedef struct gp_order
{
	int64_t		rows;
	int32_t    *node;			/* of each row */
	int32_t    *place;			/* the row of each inner node */
	int			hops;
	int64_t    *near;			/* hops + 1: rows within so many hops */
} gp_order;

/*
 * The order of the first nodes of a graph by how far they are from n of them (node NULL: the first
 * n).  What lies further than so many hops is as far as the farthest, or left out where only what
 * is within reach is wanted.
 */
extern gp_order *gp_order_make(gp_env *env, const int64_t *start, const int32_t *col, int64_t inner,
							   const int32_t *node, int64_t n, int hops, bool within);
extern void gp_order_free(gp_env *env, gp_order *o);	/* NULL is allowed */

/* A rough P(alpha) by the first length Chebyshev polynomials of A; length 0: that would be long. */
typedef struct gp_polynomial
{
	double		alpha;			/* 0: not known yet */
	int			length;
	double		coef[GP_SMALL];
} gp_polynomial;

struct gp_prepared
{
	gp_env	   *env;
	const gp_program *program;
	gp_input_kind input;		/* linear where x is all that the input kernel needs */
	const gp_features *x;
	gp_features *own_x;			/* the identity, or a factor of the Laplacian kernel */
	bool		x_is_identity;
	uint64_t	seed;			/* of draws (sample.c) */
	const gp_graph *root_of;	/* x is the root of a Laplacian kernel on this graph: no two rows
								 * are alike; */
	bool		promised;		/* it is not made yet, and its making takes: */
	gp_count	making;
	gp_csr	   *a;				/* the normalised adjacency matrix */
	bool		lent_a;			/* it is somebody else's */
	const gp_shared *shared;	/* of the same features; NULL: nothing is */
	gp_csr	   *lists;			/* N, where the program has it */
	bool		lent_lists;
	bool		directed;
	bool		node_columns;	/* for a few rows: each column of x is a node */
	gp_order   *order;			/* its rows */
	int64_t		fit_nodes;		/* and how many of these the fit had */
	int64_t		fit_dims;		/* and how many features */
	bool	   *is_linear;		/* for each step, found once */
	bool	   *is_chain;
	bool	   *has_lists;
	gp_cheapness *cheapness;
	gp_known_linear *linear;	/* for each step */
	int			nops;
	gp_known_operator *op;		/* those that somebody asked about; there is room for one a step */
	gp_polynomial rough;		/* the last one that was asked for */
};

/*
 * propagation.c: x <- P(alpha) x = alpha (I - (1 - alpha) A)^-1 x, with two blocks of its size; and
 * how many products with A that takes, at most.
 */
extern void gp_propagate(gp_eval *ev, double alpha, gp_matrix x, gp_matrix work, gp_matrix sum);
extern int	gp_propagation_products(const gp_eval *ev, double alpha);

/* step_kinds.c: finds the properties of all steps, and makes room for what is learnt of each. */
extern void gp_eval_learn_steps(gp_eval *ev);

/* linear_step.c: frees the factors that an evaluation made on its device. */
extern void gp_linear_forget(gp_eval *ev);

#endif							/* GP_PREPARED_H */
