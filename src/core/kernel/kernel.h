/*
 * kernel.h - from a program and a graph to covariances.
 *
 * Three evaluators share the pieces declared here: columns of the exact kernel,
 * the whole exact kernel, and a low-rank factor.  All run on the device table.
 *
 * Steps come in three kinds.  A linear step has no activation and a linear
 * input: its factor is explicit, Z = [sqrt(v1) S1 X, sqrt(v2) S2 1, ...].  A chain is
 * a linear step followed by pointwise stages: any entry of its covariance costs
 * one product of two rows of Z.  Everything else needs sums over neighbours.
 */
#ifndef GP_KERNEL_H
#define GP_KERNEL_H

#include "numeric/numeric.h"
#include "graph/graph.h"
#include "formula/formula.h"

#define GP_MAX_LINEAR_TERMS 48	/* terms of one linear step */
#define GP_MAX_PANELS 48		/* panels of a factor */
#define GP_MAX_OPS 48			/* operators over one term: one a layer at most, and a few */
#define GP_COLUMN_BLOCK 128		/* columns of a kernel that are computed at once */
#define GP_ROW_BLOCK 1024		/* rows that are evaluated at once */

/* What can be had cheaply of a step's covariance. */
typedef enum gp_cheapness
{
	GP_CHEAP_PAIRS,				/* every entry: a chain */
	GP_CHEAP_DIAGONAL,			/* the diagonal, by pairs of neighbours */
	GP_CHEAP_NONE				/* only by the full recursion or a low-rank factor */
} gp_cheapness;

/* What was prepared for a kernel on a graph; evaluations on several devices share it
 * (prepared.h). */
typedef struct gp_prepared gp_prepared;

/*
 * The explicit factor of a linear step, n x width: sparse, dense, or sparse columns
 * and dense ones behind them, where lists of neighbours meet dense features.
 */
typedef struct gp_linear
{
	int64_t		width;
	gp_csr	   *csr;			/* NULL when all is dense */
	gp_matrix	dense;			/* without columns when all is sparse */
	struct gp_terms *terms;		/* not NULL: it fills up, and is not made (linear_blocks.c) */
	bool		made;
	bool		borrowed;		/* csr is not its own */
} gp_linear;

/* What a fit keeps, so that rows can be evaluated against it later (live_state.h). */
typedef struct gp_live_state gp_live_state;

/* An evaluation of a kernel on a device. */
typedef struct gp_eval
{
	gp_device  *dev;
	gp_env	   *env;
	gp_prepared *kernel;
	int64_t		n;
	gp_type		type;			/* of the large matrices */
	double		jitter;			/* first jitter of C(a,a), relative to its mean diagonal */
	double		max_jitter;		/* the largest one used so far */
	bool		accepts_any_jitter; /* beyond the largest that is any good, without an error */
	bool		implicit_terms; /* of a low-rank factor: linear factors that fill up are not made */
	int64_t		stored_panel;	/* the most numbers of a panel of its last layer that is stored: see
								 * gp_panel; 0: no matter how many */
	bool		coarse_ppr;		/* P(a) is a shorter polynomial in A, to compare kernels by */
	gp_linear  *linear;			/* for each step: its explicit factor, once it was asked for */
	int32_t    *shuffled;		/* all nodes in an order of their own, once it was asked for */
	int32_t    *kept_rows;		/* that factors are asked for, ascending (gp_eval_keep_rows) */
	int64_t		nkept_rows;
	gp_live_state *state;		/* gets what a later evaluation needs; NULL: nothing is kept */
	const gp_live_state *live;	/* what the rows are evaluated against; NULL: all nodes are
								 * there */
	int64_t		live_rows;		/* rows before those of what was kept */
	const int64_t *near;		/* how many of these lie within each number of hops of what is asked
								 * for; NULL: in no order */
	int			hops;			/* as far as these lie */
	int			hop;			/* and as far as those that are computed now */
} gp_eval;

/* The rows that are so many hops further than those that are computed now. */
static inline int64_t
gp_eval_rows_behind(const gp_eval *ev, int more)
{
	if (ev->near == NULL)
		return ev->live ? ev->live_rows : ev->n;
	return ev->near[ev->hop + more < ev->hops ? ev->hop + more : ev->hops];
}

/* The rows that panels and blocks have: all, or those before what was kept, of which a step
 * computes those that are near. */
static inline int64_t
gp_eval_rows(const gp_eval *ev)
{
	return gp_eval_rows_behind(ev, 0);
}

/* What a linear term is of. */
typedef enum gp_leaf
{
	GP_LEAF_INPUT,				/* X0 */
	GP_LEAF_LISTS,				/* N */
	GP_LEAF_BIAS				/* 1 */
} gp_leaf;

/* One term of a linear step: value S_1 S_2 ... leaf, the outermost operator first. */
typedef struct gp_linear_term
{
	double		value;			/* factor on the variance */
	gp_leaf		leaf;
	int			nops;
	const gp_operator *op[GP_MAX_OPS];
} gp_linear_term;

typedef struct gp_terms
{
	int			n;
	gp_linear_term term[GP_MAX_LINEAR_TERMS];
} gp_terms;

/* A linear factor and the stages on top of it; diag is the variance after them. */
typedef struct gp_chain
{
	const gp_linear *z;			/* the evaluation's */
	int			nstages;
	gp_stage   *stage;
	gp_matrix	diag;			/* n x 1 double */
} gp_chain;

/*
 * Prepares an evaluation: A, the identity where there are no features, and the
 * factor of a Laplacian input, whose walks depend on the seed.
 */
extern void gp_eval_open(gp_eval *ev, gp_device *dev, const gp_program *program,
						 const gp_graph *graph, const gp_features *features, uint64_t seed,
						 gp_type type);

/* What fits of a graph and its features have in common, whatever the kernel. */
typedef struct gp_shared
{
	gp_csr	   *a[GP_NORM_NONE + 1];	/* A in each norm, NULL where no program has it */
	gp_csr	   *lists;			/* N; NULL: no program has it */
	const gp_features *features;	/* for which the next two serve, too; NULL: there are none */
	uint64_t   *hash;			/* of each node's features, or x; NULL: there are none */
	int32_t    *shuffled;		/* all nodes, as gp_eval_shuffled has them */
	gp_csr	   *s;				/* as gp_precision_matrix makes it, by whoever wants it; or NULL */
	gp_features *x;				/* gp_input_factor, where one program alone is fitted; or NULL */
} gp_shared;

/* The hashes, the shuffled nodes, and A in one norm; features may be NULL. */
extern gp_shared gp_shared_open(gp_env *env, const gp_graph *graph, const gp_features *features,
								gp_norm norm, gp_type type, uint64_t seed);

/* Adds A in a program's norm, and N where the program has it. */
extern void gp_shared_add(gp_env *env, gp_shared *shared, const gp_graph *graph,
						  const gp_program *program, gp_type type);
extern void gp_shared_close(gp_env *env, gp_shared *shared);

/* How else an evaluation may be opened. */
typedef struct gp_eval_options
{
	/* of this graph, these features, type and seed, which stays the caller's; or NULL */
	const gp_shared *shared;
	/* A as it is there, in the program's norm and this type, which stays the caller's */
	gp_csr	   *a;
	/* within limit bytes (0 = gp_limit): the root of a Laplacian kernel, which is large and dense,
	 * is left out, for a dry run does without its numbers */
	bool		to_plan;
	size_t		limit;
} gp_eval_options;

/* The factor of a program's Laplacian input: a root or walks; NULL for a root that is left out. */
extern gp_features *gp_input_factor(gp_device *dev, const gp_program *program,
									const gp_graph *graph, uint64_t seed, gp_type type,
									gp_eval_options set);

extern void gp_eval_open_with(gp_eval *ev, gp_device *dev, const gp_program *program,
							  const gp_graph *graph, const gp_features *features, uint64_t seed,
							  gp_type type, gp_eval_options set);

/* What was left out: the bytes that it will hold, and at most while it is made; 0 where nothing
 * was. */
extern double gp_eval_promised(const gp_eval *ev, double *most);

/* Makes it; the evaluation then is one that can be run. */
extern void gp_eval_make_promised(gp_eval *ev);

extern void gp_eval_close(gp_eval *ev);

/* Goes on on another device; what was made on the one before is made again when it is asked for. */
extern void gp_eval_move(gp_eval *ev, gp_device *dev);

/*
 * What a piece of work on an evaluation takes: runs it on a device that only
 * accounts.  The evaluation that work gets has the same kernel.
 */
typedef void (*gp_eval_work) (gp_eval *ev, void *arg);
extern gp_count gp_eval_dry(gp_eval *ev, gp_eval_work work, void *arg);

/* ---- nodes that stand for all (sample.c) ---- */

/*
 * The evaluation's nodes, shuffled by its seed: under other ids they come in the same order.
 */
extern const int32_t *gp_eval_shuffled(gp_eval *ev);

/* Nodes that means and spectra of a factor are taken over: so many, or all of fewer. */
#define GP_FACTOR_SAMPLE 1536

/* So many nodes, ascending, taken evenly from that order; of rows without a kernel by number. */
extern int32_t *gp_eval_sample(gp_eval *ev, int64_t count);

/* Nodes 0 .. n - 1 shuffled by a seed and a hash of each (NULL: its number). */
extern int32_t *gp_shuffle(gp_env *env, int64_t n, uint64_t seed, const uint64_t *hash);

/* Hashes of each node's features, and of a row whose columns begin at first; 0 without any. */
extern uint64_t *gp_hash_features(gp_env *env, const gp_features *x);
extern uint64_t gp_hash_sparse(const gp_csr *s, int64_t row, int64_t first);

/* What is true of a kind of step (step_kinds.c). */
typedef struct gp_step_nature
{
	int			arguments;
	bool		linear;			/* its factor is explicit where those of its arguments are */
	bool		pointwise;		/* an entry needs the same entry of its argument, and variances */
	bool		gathers;		/* sums over neighbours: s->op */
	bool		panel;			/* its low-rank factor is one panel of its own: an input, an
								 * activation */
} gp_step_nature;

extern const gp_step_nature *gp_step_nature_of(const gp_step *s);

/* Properties of a step (step_kinds.c). */
extern bool gp_step_is_linear(const gp_eval *ev, int step);
extern bool gp_step_is_chain(const gp_eval *ev, int step);
extern gp_cheapness gp_step_cheapness(const gp_eval *ev, int step);

/* ---- what a program reaches (step_kinds.c) ---- */

/* The most operators A in a row that reach the value of a step. */
extern int gp_program_hops(gp_env *env, const gp_program *program);

/* How far from what is asked for rows of each step are needed: an operator's argument as much
 * further as its power. */
extern int *gp_step_hops(gp_env *env, const gp_program *program);

/* What of a program reaches every node, so that it has no live state; NULL: nothing does. */
extern const char *gp_program_global_part(const gp_program *program);

/* Refuses a program whose rows cannot be evaluated by their neighbourhood. */
extern void gp_program_check_live(gp_env *env, const gp_program *program);

/* The largest power of A in an operator: how many hops it reaches. */
extern int gp_operator_reach(const gp_operator *op);

/* True when the operator contains P(a), whose field is the whole graph. */
extern bool gp_operator_is_global(const gp_operator *op);

/* True when the operator's sparse matrix would fill up: high powers on a dense graph. */
extern bool gp_operator_fills(gp_eval *ev, const gp_operator *op);

/*
 * One step of walks over A's entries, each of which counts as 1: *walk = min(A *walk, most), whose
 * sum is *entries.  Returns the sum before the minimum, what a sparse product costs.
 */
extern double gp_walk_on(gp_env *env, const gp_csr *a, double **walk, double most, double *entries);

/* The sparse matrix of an operator without P(a), made at the first call and kept by the kernel. */
extern const gp_csr *gp_operator_csr(gp_eval *ev, const gp_operator *op);

/* x <- S x in place, a block of columns at a time (operator.c). */
extern void gp_operator_apply(gp_eval *ev, const gp_operator *op, gp_matrix x);

/* True when the operator is a number times A. */
extern bool gp_operator_is_a(const gp_operator *op);

/* The sparse products that one application costs, and the copies of a block that it takes. */
extern double gp_operator_products(const gp_eval *ev, const gp_operator *op);
extern int	gp_operator_blocks(const gp_operator *op);

/* Linear steps (linear_terms.c, linear.c). */
extern void gp_linear_collect(const gp_eval *ev, int step, gp_terms *terms);
extern gp_linear gp_linear_build(gp_eval *ev, const gp_terms *terms);
/* The same; with implicit_terms it is not made where it fills up, and has norms alone. */
extern gp_linear gp_linear_of_terms(gp_eval *ev, const gp_terms *terms);
extern gp_linear gp_linear_unmade(gp_eval *ev, const gp_terms *terms);
/* The factor of a linear step, or X for a step that maps <x, y>; kept until gp_eval_close. */
extern const gp_linear *gp_linear_of_step(gp_eval *ev, int step);
extern void gp_linear_free(gp_eval *ev, gp_linear *z);
extern void gp_linear_norms(gp_eval *ev, const gp_linear *z, gp_matrix out);	/* n x 1 double */
/* The same of a factor that may not be made. */
extern void gp_linear_diagonal(gp_eval *ev, const gp_linear *z, gp_matrix out);
/* All of a factor that has sparse columns as one dense matrix, owned by the caller. */
extern gp_matrix gp_linear_dense(gp_eval *ev, const gp_linear *z);
/* The rows index of Z as columns: dst is width x n. */
extern void gp_linear_rows(gp_eval *ev, const gp_linear *z, const int32_t *index, int64_t n,
						   gp_matrix dst);
/* So many are held at once: lists of neighbours are as wide as the graph. */
extern int64_t gp_linear_rows_held(const gp_linear *z);
/* out (rows x m) = Z[row0 .. row0 + rows) right + beta out, right being width x m. */
extern void gp_linear_times(gp_eval *ev, const gp_linear *z, int64_t row0, int64_t rows,
							gp_matrix right, double beta, gp_matrix out);
/* The same for all rows by way of the terms, which is cheaper where Z fills up. */
extern void gp_terms_times(gp_eval *ev, const gp_terms *terms, gp_matrix right, gp_matrix work,
						   gp_matrix out);	/* work is n x m, too */
/* Puts lists of neighbours before all other terms, as where terms of two steps were joined. */
extern void gp_terms_order(gp_terms *terms);
/* The sparse matrix that a term's leaf is; NULL for dense features, and for 1. */
extern const gp_csr *gp_term_csr(const gp_eval *ev, const gp_linear_term *term);
/* The columns of a term, and of all terms' factor. */
extern int64_t gp_term_width(const gp_eval *ev, const gp_linear_term *term);
extern int64_t gp_terms_width(const gp_eval *ev, const gp_terms *terms);
/* What a product by way of the terms costs, and one with some rows of their factor, a column. */
extern double gp_terms_cost(const gp_eval *ev, const gp_terms *terms);
extern double gp_linear_cost(const gp_linear *z, int64_t rows, const int32_t *index);
extern bool gp_terms_cheaper(const gp_eval *ev, const gp_terms *terms, const gp_linear *z);

/*
 * Of a factor that is not made (linear_blocks.c), in one pass: the norms of its rows (n x 1 double)
 * and the rows index as columns (width x n); either without data is not wanted.
 */
extern void gp_terms_look(gp_eval *ev, const gp_terms *terms, gp_matrix norm, const int32_t *index,
						  gp_matrix rows);
/* True where the terms' factor has so many more entries than their leaves that this is cheaper. */
extern bool gp_terms_fill(gp_eval *ev, const gp_terms *terms);
/* True where that holds for a step of the kernel. */
extern bool gp_eval_fills(gp_eval *ev);

/*
 * A pass over the steps that a step needs, arguments first, without recursion
 * (step_order.c).  chain makes the value of a chain, once more for each taker; gather that
 * of an operator on s->arg0, which it takes.
 */
typedef struct gp_pass gp_pass;

struct gp_pass
{
	gp_eval    *ev;
	gp_matrix	(*chain) (gp_pass *pass, int step);
	gp_matrix	(*gather) (gp_pass *pass, const gp_step *s);
	/* the diagonal of arg, whose value is k, to be destroyed; NULL: values are diagonals */
	gp_matrix	(*diagonal) (gp_pass *pass, int arg, gp_matrix k);
	/* NULL: its value is made first */
	void		(*add_chain) (gp_pass *pass, int step, gp_matrix k);
	bool		shifts;			/* a bias is added to every entry as the number that it is */
	const int32_t *cols;		/* of a pass that makes columns */
	int64_t		ncols;
	int		   *uses;			/* left, for each step */
	gp_matrix  *value;			/* of each step, once it is made */
};

extern gp_matrix gp_pass_run(gp_pass *pass, int step);
extern gp_matrix gp_pass_value(gp_pass *pass, int step);

/* How often the value of each step up to this one is taken; leaf steps are not entered. */
extern int *gp_step_uses(const gp_eval *ev, int step, const bool *leaf);

/* Chains (chain.c). */
extern gp_chain gp_chain_build(gp_eval *ev, int step);
extern void gp_chain_free(gp_eval *ev, gp_chain *chain);
/* out (rows x ncols) = K[row0.., cols]; right holds gp_linear_rows of cols. */
extern void gp_chain_block(gp_eval *ev, const gp_chain *chain, int64_t row0, int64_t rows,
						   const int32_t *cols, gp_matrix right, gp_matrix out);

/* The diagonal of a step whose cheapness is not NONE: n x 1 double, owned by the caller. */
extern gp_matrix gp_eval_diagonal(gp_eval *ev, int step);

/* Columns cols of the exact kernel of a step: n x ncols, owned by the caller. */
extern gp_matrix gp_eval_columns(gp_eval *ev, int step, const int32_t *cols, int64_t ncols);

/* The whole exact kernel of a step: n x n, owned by the caller. */
extern gp_matrix gp_eval_full(gp_eval *ev, int step);

/*
 * The low-rank factor (nystrom.c): K ~ sum of value_b P_b (R_b R_b')^-1 P_b',
 * R_b lower triangular, or I where root has no data.  It is too large for a stack.
 */
typedef struct gp_panel
{
	gp_matrix	p;				/* n x r; has no data where it is implicit: */
	struct gp_implicit_panel *implicit; /* C with P = S_1 S_2 ... C, the outermost operator first,
										 * whose rows are made for each use (implicit_panel.c) */
	int			nops;
	const gp_operator *op[GP_MAX_OPS];
	gp_matrix	root;			/* r x r double, lower; data NULL: identity, or: */
	const struct gp_piece *stored_root; /* of a fit, which few rows are solved with as it stands */
	gp_matrix	kept_rows;		/* those that the evaluation keeps, once some were asked for */
	double		value;
} gp_panel;

typedef struct gp_factor
{
	int			npanels;
	gp_panel	panel[GP_MAX_PANELS];
	gp_terms	terms;			/* linear terms that are not panels */
} gp_factor;

/* A factor without parts, owned by the caller. */
extern gp_factor *gp_factor_create(gp_env *env);

/* Frees a factor and its panels; NULL is allowed. */
extern void gp_factor_free(gp_eval *ev, gp_factor *factor);

/*
 * The factor of a step on these landmarks, owned by the caller; it has panels only.  A panel of the
 * last layer that is larger than stored_panel is implicit where the layer is one on explicit
 * factors; one on layers below, or on terms that fill up, is stored.  The landmarks must stay as
 * long as the factor.
 */
extern gp_factor *gp_eval_nystrom(gp_eval *ev, int step, const int32_t *landmark, int64_t n);

/*
 * Tells what rows of factors beside its sample's will be asked for: of a panel that is not stored
 * all are made when the first are, for P(a) sums over all rows for any of them.  Until they are
 * forgotten, panels hold these.
 */
extern void gp_eval_keep_rows(gp_eval *ev, const int32_t *index, int64_t n);
extern void gp_factor_drop_kept_rows(gp_eval *ev, gp_factor *f);

/* True when a step's factor would not have too many parts. */
extern bool gp_nystrom_possible(const gp_eval *ev, int step);

/* The panels that a step's factor will have, and one for what linear terms are left: with terms, or
 * where there are no others. */
extern int gp_nystrom_panels(const gp_eval *ev, int step, bool terms);

/* Refuses a step whose factor would, before any part is made. */
extern void gp_nystrom_check(const gp_eval *ev, int step);
extern int64_t gp_factor_rank(const gp_factor *factor);

/* Rows of P become rows of Q: x <- x R^-T sqrt(v), for the root R and the value v of a panel; or
 * R^-T x sqrt(v), from the left (panel.c). */
extern void gp_panel_solve(gp_device *dev, const gp_panel *panel, bool left, gp_matrix x);

/* Rows of Q = [P_1 R_1^-T sqrt(v_1), ...] of a factor without linear terms: out is n x rank.
 * The roots are solved in double.  index may be NULL, all rows, where the panels are stored. */
extern void gp_factor_rows(gp_eval *ev, gp_factor *f, const int32_t *index, int64_t n,
						   gp_matrix out);

/* x <- R^-T x sqrt(v) for a matrix with a row for each column of Q, block by block. */
extern void gp_factor_solve(gp_eval *ev, const gp_factor *f, gp_matrix x);

/* out = P x for some rows of the stored panels side by side: Q y, where x is y solved with the
 * roots. */
extern void gp_factor_times(gp_eval *ev, const gp_factor *f, int64_t row, int64_t rows,
							gp_matrix x, gp_matrix out);

/* Gets rows row .. of columns col .. of a product, of the evaluation's type. */
typedef void (*gp_product_take) (void *arg, int64_t row, int64_t col, gp_matrix block);

/*
 * The same for all rows, in blocks that are made, taken and dropped, a few columns of x after the
 * others (product.c).  x is of the evaluation's type; triangular: column j has nothing below row j.
 */
extern void gp_factor_product(gp_eval *ev, const gp_factor *f, gp_matrix x, bool triangular,
							  gp_product_take take, void *arg);

/* The mean of |q_i|^2 over all rows, or over a sample of many; rows gives some of them, as
 * gp_factor_rows does. */
typedef void (*gp_rows_of) (void *arg, const int32_t *index, int64_t n, gp_matrix out);
extern double gp_rows_mean(gp_eval *ev, int64_t rank, gp_rows_of rows, void *arg);
extern double gp_factor_mean(gp_eval *ev, gp_factor *f);

/* Has a panel, or all panels of a factor, hold its stored root, for what is more than
 * solving for few rows. */
extern void gp_panel_load_root(gp_device *dev, gp_panel *panel);
extern void gp_factor_load_roots(gp_device *dev, gp_factor *f);

/* P <- P R^-T, so that the panel is a factor without a root. */
extern void gp_panel_whiten(gp_eval *ev, gp_panel *panel);

/*
 * The Cholesky factor of a covariance of landmarks, in double: symmetrised, with
 * the evaluation's jitter, times ten after each failure up to 1e-3 of the mean
 * diagonal, or as much as it takes with accepts_any_jitter.  c is overwritten.
 * Raises GP_ERR_DATA when even that fails.
 */
extern void gp_landmark_root(gp_eval *ev, gp_matrix c);

#define GP_MAX_JITTER 1e-3		/* the largest that is any good */
#define GP_FLOAT_JITTER 1e-5	/* the first one, of a float evaluation */

/* Refuses a kernel that has such an entry, or such a mean or sum of entries. */
static inline void
gp_kernel_check_finite(gp_env *env, double entry)
{
	if (!isfinite(entry))
		gp_raise(env, GP_ERR_RANGE, "Scale the features down, or take fewer layers.",
				 "the kernel overflows");
}

#endif							/* GP_KERNEL_H */
