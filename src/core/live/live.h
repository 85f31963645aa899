/*
 * live.h - answers about nodes as they are now, from what a live fit has recorded.
 *
 * The state (kernel/live/live_state.h) has the rows of the landmarks or labelled nodes that the
 * kernel of a new row is evaluated against, and the regression in the columns that these give.
 */
#ifndef GP_LIVE_H
#define GP_LIVE_H

#include "fit/fit.h"
#include "kernel/live/live_state.h"

/* The scalars of its fit; false for a state that is damaged. */
extern bool gp_live_read(const struct gp_live_state *state, gp_live_scalars *scalars);

/* True when the pieces of a state have the types and the shapes that an answer takes them for. */
extern bool gp_live_fits(const struct gp_live_state *state);

/* The labelled nodes of a fit, ascending. */
extern const int32_t *gp_live_labelled(const struct gp_live_state *state, int64_t *n);

/*
 * The class of a label of the fit, or -1 for a value; its target in a column: 0 or 1, or the value
 * as it was regressed on.
 */
extern int32_t gp_live_class(const struct gp_live_state *state, int64_t label);
extern double gp_live_target(const struct gp_live_state *state, int64_t label, int32_t column);

/* The calibrator of a fit of classes, and their shares; the state owns both. */
extern gp_calibrator gp_live_calibrator(const struct gp_live_state *state);
extern const double *gp_live_shares(const struct gp_live_state *state);

/*
 * A label that is given or taken: of a node of the question, or as the fit knew it.  A node
 * that the fit had labelled loses that label first.
 */
typedef struct gp_live_label
{
	int32_t		node;			/* of the question */
	bool		taken;			/* no new label in its place */
	int32_t		label;			/* a class */
	double		target;			/* or a value */
} gp_live_label;

/* What is asked: of some nodes of a graph that reaches as far around them as the kernel does. */
typedef struct gp_live_question
{
	const struct gp_live_state *state;
	const gp_program *program;
	const gp_graph *graph;
	const gp_features *features;	/* NULL: structure only */
	const int32_t *fit_node;	/* the number of each in the fit, or -1 */
	int64_t		inner;			/* nodes whose rows may matter: the first of the graph */
	int64_t		asked;
	const int32_t *node;		/* those asked for; NULL: the first */
	int64_t		nlabels;
	const gp_live_label *label;
} gp_live_question;

/* The answer, as in gp_posterior. */
typedef struct gp_live_answer
{
	int64_t		n;
	int32_t		columns;
	double	   *mean;
	double	   *variance;
	bool	   *is_prior;		/* NULL: none */
} gp_live_answer;

extern gp_live_answer gp_live_ask(gp_device *dev, const gp_live_question *question);

/*
 * Why: the answer about the one node that is asked for, and how much the label of each labelled
 * node of the fit counts there; count has room for them all.
 */
extern gp_live_answer gp_live_explain(gp_device *dev, const gp_live_question *question,
									  double *count);

/*
 * Makes the parts of the score of one column (a class, or 0 for values) of these counts: each times
 * its target.
 */
extern void gp_live_parts(gp_env *env, const struct gp_live_state *state, int32_t column,
						  double *count);

/*
 * An edge, by nodes of a question, and by how much the score of the node asked for moves without
 * it.
 */
typedef struct gp_live_edge
{
	int32_t		src;
	int32_t		dst;
	double		effect;
} gp_live_edge;

/*
 * The k edges near the one node that is asked for, with no labels given or removed, whose removal
 * moves most its score of a column, as gp_live_ask gives it: the largest effect first
 * (explain_edges.c).  *n counts them, *left those that were not tried because each takes too much
 * among so many nodes.  Of an undirected edge src is the lower end.
 */
extern gp_live_edge *gp_live_explain_edges(gp_device *dev, const gp_live_question *question,
										   int32_t column, double score, int64_t k,
										   int64_t *n, int64_t *left);

/*
 * What to label next: rows of a question, the most telling first, each with the share of what is
 * left that it takes.
 */
typedef struct gp_live_choice
{
	int64_t		n;
	int32_t    *node;			/* of the question */
	double	   *gain;
} gp_live_choice;

/*
 * The k nodes without a label in the fit whose labels would reduce the variance of the nodes asked
 * for (all, where node is NULL) most, one after the other, each with those before it
 * (next_labels.c).
 */
extern gp_live_choice gp_live_next(gp_device *dev, const gp_live_question *question, int64_t k);

#endif							/* GP_LIVE_H */
