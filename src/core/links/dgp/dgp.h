/*
 * dgp.h - the parts of the training of a deep Gaussian process of links.
 */
#ifndef GP_DGP_H
#define GP_DGP_H

#include "links/links_internal.h"
#include "train/engine/engine.h"

#define GP_DGP_FOLDS 5

/* The graph as a step sees it. */
typedef struct gp_dgp_view
{
	const gp_graph *graph;
	gp_graph   *own;			/* the same where it is the view's */
	gp_link_pairs links;		/* that it hides */
	gp_csr	   *op;				/* S, of the training's type */
	gp_csr	   *transposed;		/* S'; the same as op where that is symmetric */
	gp_matrix	inputs;			/* nodes x some float: those that depend on the graph */
} gp_dgp_view;

/* A training.  The graph has no directions: what is linked in one is linked. */
typedef struct gp_dgp_training
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_link_problem *problem;
	gp_dgp		options;		/* without a 0 */
	int64_t		nodes;
	gp_type		type;			/* of the training: double by inducing pairs */
	gp_features *x;				/* ready for products, or NULL */
	gp_dgp_view view[GP_DGP_FOLDS + 1]; /* what hides nothing, then one of each fold */
	int			folds;
	const gp_link_rules *rules; /* of pairs without a link; NULL: any */
	/* without features: nodes x some double, inputs that others are rotated onto */
	gp_matrix	frame;
	gp_matrix	input;			/* nodes x inputs, of the view in use */
	gp_trainer	t;
	gp_network *network;
	gp_operation *layer[GP_DGP_MAX_LAYERS];
	gp_operation *pairs;
	int64_t		points;			/* of every operation, by inducing pairs; else 0 */
	int64_t		span;			/* inducing pairs */
	int32_t    *inducing;		/* 2 span: their first points, then their second ones */
	gp_matrix	frequency[GP_DGP_MAX_LAYERS];
	gp_matrix	map;			/* inputs x units */
	int64_t		most;			/* pairs of a step */
	int32_t    *end;			/* 2 most: first ends, then second ones */
	int32_t    *second;			/* most: second ends, while they are drawn */
	bool	   *linked;
	double	   *r;
} gp_dgp_training;

/*
 * dgp_views.c: a view of the graph, and one of each fold without its links; those before are
 * closed.
 */
extern void gp_dgp_views_open(gp_dgp_training *d, const gp_graph *graph);
extern void gp_dgp_views_close(gp_dgp_training *d);

/* The inputs of all views, in the frame of the first; again for other views. */
extern void gp_dgp_inputs_open(gp_dgp_training *d);
extern void gp_dgp_inputs_again(gp_dgp_training *d);

/* Lets the network see a view. */
extern void gp_dgp_use(gp_dgp_training *d, const gp_dgp_view *view);

/* dgp_network.c: the network and its parameters, at the prior; its views and inputs are there. */
extern void gp_dgp_network_open(gp_dgp_training *d);

/* Fresh noise of this step. */
extern void gp_dgp_noise(gp_dgp_training *d);

/*
 * The readout as a model keeps it, and what a node's numbers are multiplied with before
 * (1 x units).
 */
extern gp_matrix gp_dgp_readout(gp_dgp_training *d, gp_link_model *model);

#endif							/* GP_DGP_H */
