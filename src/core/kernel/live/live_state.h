/*
 * live_state.h - what a fit keeps, so that rows can be evaluated against it later.
 *
 * An evaluator needs two things: the rows that are asked for, and the other side of the
 * covariance, which is landmarks or labelled nodes.  A fit that keeps its state notes that
 * other side, the anchors, where it has it in its hands; an evaluation of a few rows
 * takes it from there.  Their rows stand behind the rows that are asked for, so that
 * every evaluator finds them where it finds landmarks in a fit.
 */
#ifndef GP_LIVE_STATE_H
#define GP_LIVE_STATE_H

#include "kernel/kernel.h"

/* These numbers are stored: none is used for another piece, and 8 is that of none. */
typedef enum gp_piece_kind
{
	GP_PIECE_ANCHORS = 1,		/* the anchors' nodes: ints */
	GP_PIECE_LINEAR,			/* the anchors' rows of the explicit factor of a step */
	GP_PIECE_TERMS,				/* the same of the terms that a step joins */
	GP_PIECE_INPUT,				/* their features, where the input kernel is not linear */
	GP_PIECE_OPERATOR,			/* A among the anchors */
	GP_PIECE_UNIT,				/* what a step was scaled by, by a gp_unit_pass */
	GP_PIECE_ROWS,				/* the anchors' rows of a whitened panel of a step */
	GP_PIECE_ROOT = 9,			/* the Cholesky factor of the anchors' covariance at a step */
	GP_PIECE_MOMENTS,			/* mean and deviation of each feature, where they are
								 * standardised */
	GP_PIECE_FIGURES,			/* of the posterior (live_answer.c); those that follow are, too */
	GP_PIECE_WEIGHTS,			/* part 1: of targets that are all 1 */
	GP_PIECE_POSTERIOR,
	GP_PIECE_POWER,
	GP_PIECE_LABELLED,
	GP_PIECE_TARGETS,			/* classes: the number of each, ints */
	GP_PIECE_LABELLED_ROWS,
	GP_PIECE_CALIBRATOR,
	GP_PIECE_SHARES,
	GP_PIECE_ENCODING,			/* the host's, of columns as features */
	GP_PIECE_METAPATH				/* of rows without time (facts/metapath.c) */
} gp_piece_kind;

/* The evaluators that scale a step by a mean of their own. */
typedef enum gp_unit_pass
{
	GP_UNIT_CHAIN,
	GP_UNIT_EXACT,
	GP_UNIT_LOWRANK
} gp_unit_pass;

/* One piece: sparse, or dense with packed rows; host memory of the state. */
typedef struct gp_piece
{
	int32_t		kind;
	int32_t		site;			/* a step; nsteps: behind the last one; 0: of no step */
	int32_t		part;			/* of several pieces of one site */
	int64_t		rows;
	int64_t		cols;
	gp_type		type;
	bool		ints;			/* dense holds int32 */
	double		bytes;			/* also of a dry run's, which holds nothing */
	gp_csr	   *csr;
	void	   *dense;
} gp_piece;

/* What a state says of its fit; numbers that stand together in one piece. */
typedef struct gp_live_scalars
{
	double		nodes;			/* of the fit */
	double		columns;		/* classes, or 1 */
	double		values;			/* 1 for a regression */
	double		exact;			/* 1: K itself, 0: a low-rank factor */
	double		by_columns;		/* exact: 1 by columns, 0 the whole */
	double		exact_diagonal; /* variances start from the exact diagonal */
	double		dims;			/* features; 0: structure only */
	double		noise;
	double		mean_diag;
	double		scale;			/* in the targets' unit */
	double		unit;
	double		offset;
	double		least;			/* below which no value is predicted */
	double		flat;			/* 1: all targets are equal */
	double		wide;			/* 1: large matrices are of double */
} gp_live_scalars;

/* The type of the fit's large matrices. */
static inline gp_type
gp_live_type(const gp_live_scalars *scalars)
{
	return scalars->wide > 0.0 ? GP_DOUBLE : GP_FLOAT;
}

struct gp_live_state
{
	gp_env	   *env;
	int			n;
	int			room;
	gp_piece   *piece;
};

extern gp_live_state *gp_state_create(gp_env *env);
extern void gp_state_free(gp_live_state *state);	/* NULL is allowed */

/* The piece of this name; NULL: there is none. */
extern gp_piece *gp_state_find(const gp_live_state *state, gp_piece_kind kind, int site, int part);

/* Raises GP_ERR_DAMAGED: the state is not one of its kernel. */
extern void gp_state_refuse(gp_env *env) __attribute__((noreturn));

/* The same as gp_state_find; refuses a state that has none with so many rows. */
extern const gp_piece *gp_state_need(gp_env *env, const gp_live_state *state, gp_piece_kind kind,
									 int site, int part, int64_t rows);

extern double gp_state_bytes(const gp_live_state *state);

/* Moves all pieces of another, which is freed. */
extern void gp_state_join(gp_live_state *state, gp_live_state *other);

/* A new piece of this name without content; the former one goes. */
extern gp_piece *gp_state_add(gp_live_state *state, gp_piece_kind kind, int site, int part);

/* Room for packed rows of a dense piece. */
extern void gp_state_dense(gp_live_state *state, gp_piece *piece, int64_t rows, int64_t cols,
						   gp_type type);

/* Keeps a matrix of the device, or the lower triangle of one. */
extern void gp_state_matrix(gp_device *dev, gp_live_state *state, gp_piece_kind kind, int site,
							int part, gp_matrix m);
extern void gp_state_lower(gp_device *dev, gp_live_state *state, gp_piece_kind kind, int site,
						   int part, gp_matrix m);

/* Keeps numbers, and those of nodes or classes. */
extern void gp_state_numbers(gp_live_state *state, gp_piece_kind kind, int site, int part,
							 const double *value, int64_t rows, int64_t cols);
extern void gp_state_nodes(gp_live_state *state, gp_piece_kind kind, const int32_t *node,
						   int64_t n);

/* Keeps rows of a sparse matrix. */
extern void gp_state_rows(gp_live_state *state, gp_piece_kind kind, int site, int part,
						  const gp_csr *s, const int32_t *index, int64_t n);

/* A dense piece as a matrix of the device, owned by the caller; a triangle as the matrix that it is
 * of. */
extern gp_matrix gp_state_load(gp_device *dev, const gp_piece *piece, gp_type type);
extern gp_matrix gp_state_load_lower(gp_device *dev, const gp_piece *piece, int64_t n);

/* x <- x L^-T (trans), or x L^-1, for a triangle that never stands whole: for few rows x it takes
 * the time of reading it. */
extern void gp_state_solve(gp_device *dev, const gp_piece *piece, bool trans, gp_matrix x);

/* anchor_rows.c: notes the anchors' rows of an explicit factor, and of the features where their
 * kernel is not linear. */
extern void gp_anchors_note(gp_eval *ev, gp_piece_kind kind, int site, const gp_linear *z,
							const int32_t *index, int64_t n);
extern void gp_anchors_note_input(gp_eval *ev, const int32_t *index, int64_t n);

/* Notes all that an exact evaluation of columns, or of the whole, needs of these nodes. */
extern void gp_anchors_note_exact(gp_eval *ev, const int32_t *node, int64_t n, bool whole);

/* Puts the anchors' rows behind the rows of a factor that was made for an evaluation of a few
 * rows. */
extern void gp_anchors_fill(gp_eval *ev, gp_piece_kind kind, int site, const gp_terms *terms,
							gp_linear *z);

/* What a fit had: nodes, and features of each. */
typedef struct gp_fit_size
{
	int64_t		nodes;
	int64_t		dims;
} gp_fit_size;

/* The columns that a term, and all terms' factor, had in the fit. */
extern int64_t gp_anchors_term_width(const gp_eval *ev, const gp_linear_term *term);
extern int64_t gp_anchors_width(const gp_eval *ev, const gp_terms *terms);

/*
 * What a live evaluation is of: the first nodes of a graph, the others being there for the degrees
 * of these.  fit_node tells the number that each had in the fit, or -1.
 */
typedef struct gp_asked
{
	const gp_graph *graph;
	const gp_features *features;	/* of the inner nodes; NULL: structure only */
	int64_t		inner;
	const int32_t *fit_node;
	int64_t		n;
	const int32_t *node;		/* those asked for; NULL: the first n */
} gp_asked;

/* Opens an evaluation against what a fit kept, whose anchors stand behind the rows. */
extern void gp_eval_open_live(gp_eval *ev, gp_device *dev, const gp_program *program,
							  const gp_asked *asked, gp_fit_size fit, const gp_live_state *state,
							  gp_type type);

extern int32_t gp_live_row(const gp_eval *ev, int32_t node);

/* Has a low-rank factor computed for rows as far as each step needs them. */
extern void gp_live_near(gp_eval *ev);

/* What scaled a step to a mean variance of 1, for an evaluation of a few rows; false where it is to
 * be computed. */
extern bool gp_unit_kept(const gp_eval *ev, gp_unit_pass pass, int step, double *scale);

/* The same from the mean variance, and notes it; refuses one that overflows. */
extern double gp_unit_note(gp_eval *ev, gp_unit_pass pass, int step, double mean);

#endif							/* GP_LIVE_STATE_H */
