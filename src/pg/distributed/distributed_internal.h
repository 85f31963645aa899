/*
 * distributed_internal.h - a fit of strategy sql on its way.
 */
#ifndef GNNGP_DISTRIBUTED_INTERNAL_H
#define GNNGP_DISTRIBUTED_INTERNAL_H

#include "core/fit/landmarks.h"
#include "pg/reader/reader.h"
#include "pg/types/types.h"
#include "placement.h"

/* The factor of a step: panels side by side in one table, whose roots and values are here. */
typedef struct gnngp_chunked_factor
{
	const char *table;			/* NULL: not made */
	gp_factor  *f;				/* its panels have columns but no numbers */
} gnngp_chunked_factor;

/* A fit on its way. */
typedef struct gnngp_dfit
{
	gp_eval		ev;				/* device, environment and jitter; no kernel */
	gnngp_placement placement;
	const gnngp_sources *src;
	const gp_program *program;
	bool		listed;			/* statements are listed, and nothing is run */
	int64		n;
	int64		chunks;
	const int64 *bound;			/* chunks - 1: the first id of each chunk but the first one */
	const char *bounds;			/* the same in a query */
	int64		dims;
	int64		nlandmarks;
	int32	   *landmark;		/* ascending */
	const char *x;				/* the table of features */
	const char *edges_near;		/* and of edges, which everybody has */
	gnngp_chunked_factor *factor;	/* of each step */
	double		written;		/* bytes of tables */
	double		shuffled;		/* of them between keys */
	double		edges;			/* rows of the edge table as the planner knows them, or edges */
	double		task;			/* the most bytes that one task holds */
} gnngp_dfit;

/* ---- chunk_input.c: the user's tables as chunks ---- */

/* How many features the first row has. */
extern int64 gnngp_count_features(const gnngp_sources *src);

/* Makes the tables of features and of edges. */
extern void gnngp_chunk_features(gnngp_dfit *d);
extern void gnngp_chunk_edges(gnngp_dfit *d);

/*
 * Has the degrees of all nodes counted near the edges, and which nodes are labelled or next to one
 * that is (field, false before).  Returns how many edges there are; raises what is wrong with one.
 */
extern int64 gnngp_chunk_degrees(gnngp_dfit *d, int64 *degree, bool *field);

/* ---- chunk_rows.c: between tables and the device ---- */

/* A table of columns (chunk integer, more m gp_matrix), whose matrices have cols columns
 * together. */
extern const char *gnngp_chunk_table(gnngp_dfit *d, const char *what, const char *more, int64 cols);

/* Rows of a table by nodes, ascending, in double: n x cols on the device. */
extern gp_matrix gnngp_chunk_gather(gnngp_dfit *d, const char *table, const int32 *node, int64 n,
									int64 cols);

/*
 * Of all nodes: the product of the rows of a factor's table with weights (n x columns), their
 * squared lengths after a root, and before it.
 */
extern void gnngp_chunk_predict(gnngp_dfit *d, const char *table, gp_matrix weights,
								gp_matrix root, int32 columns, double *mean, double *norm,
								double *present);

/* Numbers of the labelled nodes (labelled x columns) in a table of chunks. */
extern const char *gnngp_chunk_labelled(gnngp_dfit *d, const double *y, int32 columns);

/* Gives everybody a matrix of the device, in a type, with the ids of nodes (NULL: 0, 1, ...); its
 * text in a query. */
extern const char *gnngp_chunk_copy(gnngp_dfit *d, const char *what, gp_matrix m, gp_type type,
									const int32 *node);

/* The combined root of a factor's panels, R_b / sqrt(v_b), times l (NULL: I); data NULL where that
 * is I. */
extern gp_matrix gnngp_chunk_root(gnngp_dfit *d, const gp_factor *f, const gp_matrix *l);

/* x <- x times the inverse of its transpose: rows of panels as rows of Q. */
extern void gnngp_chunk_whiten(gnngp_dfit *d, const gp_factor *f, gp_matrix x);

/* Frees a matrix of the device; a list has none. */
extern void gnngp_chunk_free(gnngp_dfit *d, gp_matrix *m);

/* ---- factor_steps.c ---- */

/* 0A000 for graphs and programs that are not fitted so. */
extern void gnngp_distributed_check(const gp_program *program, const gnngp_sources *src);

/* The factor of the program's last step. */
extern gnngp_chunked_factor gnngp_factor_steps(gnngp_dfit *d);

#endif							/* GNNGP_DISTRIBUTED_INTERNAL_H */
