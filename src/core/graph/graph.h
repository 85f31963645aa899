/*
 * graph.h - the graph and the features of its nodes.
 *
 * Nodes are numbered 0 .. nodes - 1 in the order of the reader's choice; the
 * core never sees the user's ids.  Builders take rows in any order and give the
 * same result for every order.
 */
#ifndef GP_GRAPH_H
#define GP_GRAPH_H

#include "base/base.h"
#include "norm.h"

/* The user's edges as a sparse matrix G without self-loops. */
typedef struct gp_graph
{
	int64_t		nodes;
	int64_t		edges;			/* distinct pairs: undirected ones count once */
	bool		directed;
	int64_t    *start;			/* nodes + 1 offsets */
	int32_t    *col;			/* ascending in each row; both directions if undirected */
	double	   *weight;			/* W_ij, or NULL: all 1 */
	double	   *time;			/* of each entry's first edge, in one unit; NULL: not known */
	double	   *degree;			/* of nodes whose edges are not all here, what they add up to
								 * (directed: the columns of G); below 0 elsewhere; NULL: all are
								 * here */
} gp_graph;

typedef struct gp_edges gp_edges;

/* Starts a list of edges. */
extern gp_edges *gp_edges_create(gp_env *env, int64_t nodes, bool directed, bool weighted);

/* Gives a list room for so many edges in all; it also grows by itself. */
extern void gp_edges_make_room(gp_edges *edges, int64_t room);

/*
 * Adds n edges.  Self-loops are dropped.  Repeated edges count once without
 * weights and add up with them, in an order that does not depend on the
 * arrival.  weight is NULL for an unweighted list; weights are finite and >= 0.
 */
extern void gp_edges_add(gp_edges *edges, int64_t n, const int32_t *src, const int32_t *dst,
						 const double *weight);

/* Sorts the list into a graph and frees the list. */
extern gp_graph *gp_graph_build(gp_edges *edges);

/* The same as rows; unless they are merged, repeated edges stand beside each other. */
extern gp_csr *gp_edges_sort(gp_edges *edges, bool merge);

/*
 * Dates the graph by its edges, each of which it has, or leads from a node to itself; links go by
 * the first of theirs.
 */
extern void gp_graph_date(gp_env *env, gp_graph *graph, int64_t n, const int32_t *src,
						  const int32_t *dst, const double *time);

/* The graph without n of its links; degrees that are told fall by their weights. */
extern gp_graph *gp_graph_without(gp_env *env, const gp_graph *graph, int64_t n,
								  const int32_t *src, const int32_t *dst);

extern void gp_graph_free(gp_env *env, gp_graph *graph);

/*
 * The normalised adjacency matrix with self-loops of weight 1, values of the given type: sym =
 * (I+Dout)^-1/2 (I+G) (I+Din)^-1/2 (Kipf and Welling 2017), row = (I+Dout)^-1 (I+G) (Niu et al.
 * 2023), none = I+G.
 */
extern gp_csr *gp_graph_normalise(gp_env *env, const gp_graph *graph, gp_norm norm, gp_type type);

/* The next column that two sorted rows have in common, from entries p and q on; false: none is. */
static inline bool
gp_csr_common(const gp_csr *a, int64_t *p, int64_t p_end, int64_t *q, int64_t q_end)
{
	while (*p < p_end && *q < q_end && a->col[*p] != a->col[*q])
	{
		if (a->col[*p] < a->col[*q])
			++*p;
		else
			++*q;
	}
	return *p < p_end && *q < q_end;
}

/*
 * The rows of G, each of length one: N (unit_rows.c).  A node that no edge joins is its own
 * neighbour: what others have of theirs is not known of it, rather than nothing.
 */
extern gp_csr *gp_graph_lists(gp_env *env, const gp_graph *graph, gp_type type);

/* G as a sparse matrix of double, or G + G' for a directed graph (normalise.c). */
extern gp_csr *gp_graph_symmetric(gp_env *env, const gp_graph *graph);

/* factor S, S = D^-1/2 G D^-1/2 of that G, without self-loops. */
extern gp_csr *gp_graph_smooth(gp_env *env, const gp_graph *graph, double factor, gp_type type);

/*
 * What stands for the component of each of n nodes, one of its nodes, by the rows of a matrix or
 * graph; weights of 0 join nothing, NULL: all are 1.  Unless it is directed each edge is in both
 * rows, columns ascending.  The caller owns the result (components.c).
 */
extern int32_t *gp_graph_components(gp_env *env, int64_t n, const int64_t *start,
									const int32_t *col, const double *weight, bool directed);

/* A new stamp for the content of a sparse matrix. */
extern uint64_t gp_csr_stamp(void);

/* A sparse matrix with a new stamp, its offsets 0, and room for so many entries. */
extern gp_csr *gp_csr_create(gp_env *env, int64_t rows, int64_t cols, int64_t entries,
							 gp_type type);

/* Counts at start[i + 1] become offsets. */
static inline void
gp_offsets_of_counts(int64_t *start, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		start[i + 1] += start[i];
}

/*
 * The transpose; rows ascend, and what comes twice keeps its order.  Values of NULL, of a pattern,
 * stay so.
 */
extern gp_csr *gp_csr_transpose(gp_env *env, const gp_csr *s);

/*
 * The transpose of a matrix of n entries in any order; those of a column stay as they came.  Both:
 * each is at its mirror image, too.  value may be NULL.
 */
extern gp_csr *gp_csr_by_column(gp_env *env, int64_t rows, int64_t cols, int64_t n,
								const int32_t *row, const int32_t *col, const void *value,
								gp_type type, bool both);

/*
 * The non-zero numbers of a dense matrix, rows x dims, of one type, as a sparse one of another;
 * entries is at least their number (features.c).
 */
extern gp_csr *gp_csr_of_dense(gp_env *env, const void *dense, int64_t rows, int64_t dims,
							   int64_t entries, gp_type from, gp_type type);

/* How many entries the n longest rows have, or columns. */
extern int64_t gp_csr_longest(gp_env *env, const gp_csr *s, int64_t n, bool columns);

/*
 * Rows index[0 .. n) of s (NULL: the first n), columns renumbered by newcol (NULL: as they are), or
 * left out where that is negative; or the same in a matrix that has room for them.
 */
extern void gp_csr_select_into(gp_env *env, const gp_csr *s, const int32_t *index,
							   const int32_t *newcol, gp_csr *out);
extern gp_csr *gp_csr_select(gp_env *env, const gp_csr *s, const int32_t *index, int64_t n,
							 const int32_t *newcol, int64_t cols);

/* The first rows of top and all rows of below, either of which may be NULL, with so many
 * columns. */
extern gp_csr *gp_csr_stack(gp_env *env, const gp_csr *top, int64_t rows, const gp_csr *below,
							int64_t cols);

/* The sparse product a b, columns ascending; both of one type. */
extern gp_csr *gp_csr_product(gp_env *env, const gp_csr *a, const gp_csr *b);

/* The same + unit I, whose diagonal is there when unit is not 0. */
extern gp_csr *gp_csr_product_plus(gp_env *env, const gp_csr *a, const gp_csr *b, double unit);

/* The sum a + b; both of one shape and type. */
extern gp_csr *gp_csr_add(gp_env *env, const gp_csr *a, const gp_csr *b);

/* The columns of n matrices side by side; all of one height and type. */
extern gp_csr *gp_csr_hstack(gp_env *env, int n, gp_csr *const *s);

extern void gp_csr_free(gp_env *env, gp_csr *s);

extern gp_csr *gp_csr_identity(gp_env *env, int64_t n, gp_type type);

/* The places of s with its values in another type, which are the caller's. */
extern gp_csr gp_csr_as(gp_env *env, const gp_csr *s, gp_type type);

/* The values of a matrix in another type, in place. */
extern void gp_csr_retype(gp_env *env, gp_csr *s, gp_type type);

/* s *= factor. */
extern void gp_csr_scale(gp_csr *s, double factor);

/* The sum of each row of a matrix of double; the caller's. */
extern double *gp_csr_row_sums(gp_env *env, const gp_csr *s);

/* The place of a column among the entries of a row, by the offsets and columns of a matrix or
 * graph; -1: none. */
extern int64_t gp_csr_find(const int64_t *start, const int32_t *col, int32_t row, int32_t column);

extern void gp_sort_columns(gp_env *env, int32_t *col, int64_t n);

/* The closed field of a node set: all j with s_ij != 0 for some i of the set; ascending. */
extern int32_t *gp_graph_field(gp_env *env, const gp_csr *s, const int32_t *index, int64_t n,
							   int64_t *nfield);

/*
 * The features X, nodes x dims.  Exactly one of csr and dense is set; a graph
 * without features has X = I as a csr.
 */
typedef struct gp_features
{
	int64_t		rows;
	int64_t		dims;
	gp_csr	   *csr;
	void	   *dense;			/* host memory, row major, rows packed, of type */
	gp_type		type;
} gp_features;

typedef struct gp_features_builder gp_features_builder;

#define GP_NODES_UNKNOWN (-1)

/*
 * Starts features for nodes rows, or for rows that are numbered as they come and
 * whose nodes are told when all have come; dims is the length of each row, or 0
 * when it follows from the largest feature number added.
 */
extern gp_features_builder *gp_features_create(gp_env *env, int64_t nodes, int64_t dims,
											   gp_type type);

/* Adds the dims values of one node (or row), once each. */
extern void gp_features_add_row(gp_features_builder *builder, int32_t node, const double *value);
extern void gp_features_add_row_float(gp_features_builder *builder, int32_t node,
									  const float *value);

/* Adds single entries, each (node, feature) at most once; features count from 0. */
extern void gp_features_add_entries(gp_features_builder *builder, int64_t n, const int32_t *node,
									const int32_t *feature, const double *value);

/*
 * Tells the nodes of rows that were added while they were unknown: row i is of
 * node[i], a permutation of the nodes, which is used up; NULL: of node i.
 */
extern void gp_features_place(gp_features_builder *builder, int64_t nodes, int32_t *node);

/*
 * Ends the building and frees the builder.  Stays sparse below a quarter of
 * non-zeros.  When an entry was added twice, *repeated_node and
 * *repeated_feature name the first such entry and the result is NULL; else -1.
 */
extern gp_features *gp_features_build(gp_features_builder *builder, int32_t *repeated_node,
									  int32_t *repeated_feature);

/* How features are scaled before anything is computed from them. */
typedef enum gp_scale
{
	GP_SCALE_NONE,
	GP_SCALE_STANDARD,			/* mean 0 and deviation 1; constants become 0 */
	GP_SCALE_LENGTH				/* rows of length 1; rows of zeros stay */
} gp_scale;

/* One row of features, dense (scale.c); out has dims numbers. */
extern void gp_features_row(const gp_features *features, int64_t row, double *out);

/* Scales features that were just built; the result, of single precision, takes their place
 * (scale.c). */
extern gp_features *gp_features_scale(gp_env *env, gp_features *features, gp_scale scale);

/* The means of features, then their deviations, which are 0 for constants; owned by the caller. */
extern double *gp_features_moments(gp_env *env, const gp_features *features);

/* Standardises features by moments, which may be those of others; the result takes their place. */
extern gp_features *gp_features_standardise(gp_env *env, gp_features *features,
											const double *moments);

/* What is one of a row. */
typedef enum gp_row_size
{
	GP_ROW_LENGTH,
	GP_ROW_SUM,					/* of the sizes of its numbers */
	GP_ROW_KEPT					/* nothing: the row stays as it is */
} gp_row_size;

/* The values of rows of unit length, or sum, in an array of a type; rows of zeros stay
 * (unit_rows.c). */
extern void gp_features_write(gp_env *env, const gp_features *features, gp_row_size size, void *to,
							  gp_type type);

/* A copy with such rows. */
extern gp_features *gp_features_unit(gp_env *env, const gp_features *features, gp_type type,
									 gp_row_size size);

/* The largest deviation of a feature over the smallest one that varies; 1 when none does. */
extern double gp_features_spread(gp_env *env, const gp_features *features);

/* How much larger what some rows, evenly spread, have in common is than what tells them apart; 0
 * where nothing does. */
extern double gp_features_shared(gp_env *env, const gp_features *features);

/* A feature's deviation; 0 where it varies by no more than the rounding of its mean. */
static inline double
gp_feature_deviation(double mean, double deviation)
{
	return deviation > 1e-12 * fabs(mean) ? deviation : 0.0;
}

/*
 * True when rows are of one length, up to their rounding in single precision, and not of zeros
 * and ones as classes are: by the least and the largest square of a length above 0.
 */
static inline bool
gp_have_length(bool binary, double low, double high)
{
	return !binary && high <= (1.0 + 1e-3) * low;
}

/* The same of all rows but those of zeros. */
extern bool gp_features_have_length(gp_env *env, const gp_features *features);

/* Features of more rows and numbers, at least, which are 0; takes the place of those given. */
extern gp_features *gp_features_widen(gp_env *env, gp_features *features, int64_t rows,
									  int64_t dims);

/* Features with numbers of a type; takes the place of those given. */
extern gp_features *gp_features_as(gp_env *env, gp_features *features, gp_type type);

/* A sparse matrix, or a dense one of packed rows, as features, which it belongs to from then on. */
extern gp_features *gp_features_of_csr(gp_env *env, gp_csr *csr);
extern gp_features *gp_features_of_dense(gp_env *env, void *dense, int64_t rows, int64_t dims,
										 gp_type type);

/* dense (dims columns, packed) = the first rows of s where they have entries. */
extern void gp_csr_to_dense(gp_env *env, const gp_csr *s, int64_t rows, void *dense,
							int64_t dims);

/* The identity, for structure only. */
extern gp_features *gp_features_identity(gp_env *env, int64_t nodes, gp_type type);

extern void gp_features_free(gp_env *env, gp_features *features);

#endif							/* GP_GRAPH_H */
