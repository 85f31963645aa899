/*
 * distributed_internal.h - a fit of strategy sql on its way.
 */
#ifndef GNNGP_DISTRIBUTED_INTERNAL_H
#define GNNGP_DISTRIBUTED_INTERNAL_H

#include "core/fit/factor.h"
#include "pg/reader/read_ids.h"
#include "pg/types/types.h"
#include "placement.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/*
 * sources.c: a graph's tables for statements that read them where they are.  Texts are expressions
 * and names for a query, whose table of nodes or edges is called t.
 */
typedef struct gnngp_sources
{
	gnngp_owner_reading *reading;
	const gnngp_reader *r;
	gnngp_data *data;			/* ids and targets, no features and no graph */
	const char *features;		/* an array of numbers; NULL: none in columns */
	bool		array;
	gnngp_edge_reading *edge_reading;
	int64		edge_rows;		/* the planner's count; 0: not known */
	const char *src;
	const char *dst;
	const char *weight;			/* NULL: none */
	bool		apart;			/* Citus has nodes or edges on several servers */
} gnngp_sources;

/* Until they are closed the graph's owner is the user, the tables are locked, and their snapshot is
 * the active one; inside SPI. */
extern gnngp_sources *gnngp_sources_open(gp_env *env, const gnngp_graph_def *graph,
										 const char *kind);
extern void gnngp_sources_close(gnngp_sources *s);

/* There is something wrong with an edge: reads them all, for the error that says what; inside
 * SPI. */
pg_noreturn extern void gnngp_refuse_edges(const gnngp_sources *s);

/*
 * The factor of a step: panels side by side, whose roots and values are here.  Its rows are those
 * of a table, or what is computed of each of its chunks, t.m, whenever they are asked for.
 */
typedef struct gnngp_chunked_factor
{
	const char *table;			/* NULL: not made */
	int64		cols;			/* of the table */
	gp_factor  *f;				/* its panels have columns but no numbers */
	/* Of rows that are computed; parts of a query */
	const struct gnngp_chunked_factor *arg; /* of what; NULL: rows are those of the table */
	const char *kernel;			/* of covariances of its rows with landmarks; NULL: there are
								 * none */
	const char *root;
	const char *landmarks;
	const char *weights;		/* that rows are multiplied by where there is no kernel */
	gp_matrix	at;				/* the landmarks' rows */
	/* Of the last step */
	const gp_operator *op;		/* that is still to be applied, to groups of columns; or NULL */
} gnngp_chunked_factor;

/* A fit on its way. */
typedef struct gnngp_table_fit
{
	gp_eval		ev;				/* device, environment and jitter; no kernel */
	gnngp_placement placement;
	const gnngp_sources *sources;
	const gp_program *program;
	int64		n;
	gnngp_value_ids ids;		/* of all nodes */
	int64		chunks;
	int64		height;			/* nodes of a chunk but the last one */
	const int64 *bound;			/* chunks - 1: the first id of each chunk but the first one */
	const char *bounds;			/* the same in a query */
	int64		dims;
	int64		nlandmarks;
	int32	   *landmark;		/* ascending */
	const char *x;				/* the table of features */
	const char *edges_near;		/* and of edges, which everybody has */
	const char *narrow;			/* the last table of few columns of which everybody has a copy */
	const char *narrow_near;
	gnngp_chunked_factor *factor;	/* of each step */
	double		written;		/* bytes of tables */
	double		shuffled;		/* of them between keys */
	double		edges;			/* rows of the edge table as the planner knows them, or edges */
	double		task_bytes;		/* the most bytes that one task holds */
} gnngp_table_fit;

/* Gives the system what was freed: the C library keeps what lies between blocks in use. */
static inline void
gnngp_trim_memory(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

/* ---- chunk_input.c: the user's tables as chunks ---- */

/* How many features the first row has. */
extern int64 gnngp_count_features(const gnngp_sources *src);

/* Makes the tables of features and of edges. */
extern void gnngp_chunk_features(gnngp_table_fit *d);
extern void gnngp_chunk_edges(gnngp_table_fit *d);

/*
 * Has the degrees of all nodes counted near the edges, and which nodes are labelled or next to one
 * that is (field, false before).  Returns how many edges there are; raises what is wrong with one.
 */
extern int64 gnngp_chunk_degrees(gnngp_table_fit *d, int32 *degree, bool *field);

/*
 * aggregate_matrix.c: matrices on their way to one, which belongs to env: columns beside columns,
 * or rows under rows.  Ids may be in memory of the pieces, whose context is a child of the parent.
 */
typedef struct gnngp_pieces gnngp_pieces;
extern gnngp_pieces *gnngp_pieces_create(MemoryContext parent);
extern void gnngp_pieces_add(gnngp_pieces *p, Datum matrix);
extern gp_matrix gnngp_pieces_join(gnngp_pieces *p, gp_env *env, bool beside,
								   gnngp_value_ids *ids);

/*
 * matrix_steps.c: the numbers of an array of bigint, n of them; refuses those that do not ascend,
 * with what names them.
 */
extern const int64 *gnngp_ascending(ArrayType *array, const char *what, int *n);

/* The rows of a matrix that have some of these ids, which become theirs; both belong to env. */
extern gp_matrix gnngp_matrix_some(gp_env *env, const gnngp_table_value *m, gnngp_value_ids *ids);

/* The root, argument 3, square and as wide as the rows; false where it is NULL. */
extern bool gnngp_root_argument(FunctionCallInfo fcinfo, gp_env *env, int64 cols, gp_matrix *root);

/* aggregate_moments.c: so many numbers stand before means and sums of squares. */
#define GNNGP_MOMENTS 4

/* edge_blocks.c: true where this session has taken edges that it has not handed over. */
extern bool gnngp_edges_are_taken(void);

/* ---- chunk_rows.c: between tables and the device ---- */

/* A table of columns (chunk integer, more m gp_matrix), whose matrices have cols columns
 * together. */
extern const char *gnngp_chunk_table(gnngp_table_fit *d, const char *what, const char *more,
									 int64 cols);

/*
 * The rows of a factor in a query, m standing for rows of its table; covariances, which end one,
 * are with these landmarks and times these weights, unless they are NULL.
 */
extern const char *gnngp_chunk_call(const gnngp_chunked_factor *f, const char *m,
									const char *landmarks, const char *weights);

/* Rows of a factor by nodes, ascending, in double: n x cols on the device. */
extern gp_matrix gnngp_chunk_gather(gnngp_table_fit *d, const gnngp_chunked_factor *f,
									const int32 *node, int64 n);

/*
 * Of the labelled nodes, in double: the squared lengths of a factor's rows times the first columns
 * of w, and the rows times the other ones: labelled x (1 + columns).
 */
extern void gnngp_chunk_products(gnngp_table_fit *d, const gnngp_chunked_factor *f, gp_matrix w,
								 int32 columns, double *value);

/* Runs a query of matrices that have a row of so many columns for each node, and keeps the rows in
 * a temporary file. */
extern gp_kept_rows gnngp_chunk_collect(gnngp_table_fit *d, const char *query, int64 cols);

/* The ids of nodes, ascending, as an array in a query. */
extern const char *gnngp_chunk_ids(const gnngp_table_fit *d, const int32 *node, int64 n);

/* Numbers of the labelled nodes (labelled x columns) in a table of chunks. */
extern const char *gnngp_chunk_labelled(gnngp_table_fit *d, const double *y, int32 columns);

/* A row of a table of chunks, by the key of a number; the matrix is freed. */
extern void gnngp_chunk_insert(gnngp_table_fit *d, const char *table, int64 number, int64 chunk,
							   Datum matrix);

/* A matrix of the device as a value, in a type, with the ids of nodes (NULL: 0, 1, ...). */
extern Datum gnngp_chunk_value(gnngp_table_fit *d, gp_matrix m, gp_type type, const int32 *node);

/* Gives everybody such a value; its text in a query. */
extern const char *gnngp_chunk_copy(gnngp_table_fit *d, const char *what, gp_matrix m, gp_type type,
									const int32 *node);

/* The combined root of a factor's panels, R_b / sqrt(v_b); data NULL where that is I. */
extern gp_matrix gnngp_chunk_root(gnngp_table_fit *d, const gp_factor *f);

/* x <- x times the inverse of its transpose: rows of panels as rows of Q. */
extern void gnngp_chunk_whiten(gnngp_table_fit *d, const gp_factor *f, gp_matrix x);

/* Frees a matrix of the device; does nothing in a fit that only lists its statements. */
extern void gnngp_chunk_free(gnngp_table_fit *d, gp_matrix *m);

/* ---- factor_steps.c ---- */

/* 0A000 for graphs and programs that are not fitted so. */
extern void gnngp_distributed_check(const gp_program *program, const gnngp_sources *src);

/* The factor of the program's last step, whose operator, if that is one, is left to be applied. */
extern gnngp_chunked_factor gnngp_factor_steps(gnngp_table_fit *d);

/* The rows of some nodes, ascending, of that factor, in a table. */
extern gnngp_chunked_factor gnngp_factor_some(gnngp_table_fit *d, const gnngp_chunked_factor *a,
											  const int32 *node, int64 n);

/*
 * Of all nodes: the squared lengths of that factor's rows times the first columns of w, and the
 * rows times the other ones: 1 + columns numbers.
 */
extern gp_kept_rows gnngp_factor_product(gnngp_table_fit *d, const gnngp_chunked_factor *a,
										 gp_matrix w, int32 columns);

#endif							/* GNNGP_DISTRIBUTED_INTERNAL_H */
