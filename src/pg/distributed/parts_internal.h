/*
 * parts_internal.h - what the files of a fit in parts share.
 */
#ifndef GNNGP_PARTS_INT_H
#define GNNGP_PARTS_INT_H

#include "postgres.h"

#include "core/fit/landmarks.h"
#include "pg/reader/reader.h"
#include "pg/types/types.h"
#include "placement.h"

/* The factor of a step: panels side by side in one table, whose roots and values are here. */
typedef struct gnngp_part_factor
{
	const char *table;			/* NULL: not made */
	gp_factor  *f;				/* its panels have columns but no numbers */
} gnngp_part_factor;

/* A fit in parts. */
typedef struct gnngp_parts
{
	gp_eval		ev;				/* device, environment and jitter; no kernel */
	gnngp_place place;
	const gnngp_sources *src;
	const gp_program *program;
	const char *schema;			/* of the extension, quoted */
	bool		listed;			/* statements are listed, and nothing is run */
	int64		n;
	int64		parts;
	const int64 *bound;			/* parts - 1: the first id of each part but the first one */
	const char *bounds;			/* the same in a query */
	int64		dims;
	int64		nlandmarks;
	int32	   *landmark;		/* ascending */
	const char *x;				/* the table of features */
	const char *graph;			/* and of edges */
	const char *edges_near;		/* the same for everybody */
	const gnngp_graph_def *graph_def;
	const gnngp_model *keep;	/* whose refresh keeps edges; NULL: none */
	const char *model_name;
	Oid			predictions;	/* the table that was made for them; InvalidOid: they came here */
	const char *kept;			/* the table of the refresh before, where it is taken */
	gnngp_part_factor *factor;	/* of each step */
	double		written;		/* bytes of tables */
	double		shuffled;		/* of them between keys */
	double		edges;			/* rows of the edge table as the planner knows them, or edges */
	double		task;			/* the most that one task holds */
} gnngp_parts;

/* parts_rows.c */
/* Rows of a table by nodes, ascending, in double: n x cols on the device. */
extern gp_matrix gnngp_parts_gather(gnngp_parts *p, const char *table, const int32 *node, int64 n, int64 cols);

/* The ids of nodes, ascending, and the parts that they lie in, as two arrays of a query: bigint and integer. */
extern void gnngp_parts_places(const gnngp_parts *p, const int32 *node, int64 n, Datum *values);

/* Frees a matrix of the device; a list has none. */
extern void gnngp_parts_free(gnngp_parts *p, gp_matrix *m);

/* Gives everybody a matrix of the device, in a type, with the ids of nodes or, NULL, 0, 1, ...; its text in a query. */
extern const char *gnngp_parts_copy(gnngp_parts *p, const char *what, gp_matrix m, gp_type type, const int32 *node);

/* The combined root of a factor's panels, R_b / sqrt(v_b), times l (NULL: I); data NULL where that is I. */
extern gp_matrix gnngp_parts_root(gnngp_parts *p, const gp_factor *f, const gp_matrix *l);

/* x <- x times the inverse of its transpose: rows of panels as rows of Q. */
extern void gnngp_parts_whiten(gnngp_parts *p, const gp_factor *f, gp_matrix x);

/* parts_steps.c: the factor of the program's last step. */
extern gnngp_part_factor gnngp_parts_steps(gnngp_parts *p);

/* 0A000 for programs that are not fitted in parts. */
extern void gnngp_parts_check(const gp_program *program, const gnngp_sources *src);

/* Notes a task that holds so many bytes. */
extern void gnngp_parts_task(gnngp_parts *p, double bytes);

/* parts_precision.c: the posterior of a Laplacian prior, from the table of edges; NULL for a list. */
extern gp_posterior *gnngp_parts_precision(gnngp_parts *p, gp_problem *problem);

/* Its operations, about. */
extern double gnngp_parts_precision_flops(const gnngp_parts *p, const gp_problem *problem);

/* parts_input.c */
/* How many features there are, and rows of edges; then the tables of features and edges. */
extern int64 gnngp_parts_count_features(const gnngp_sources *src);
extern int64 gnngp_parts_count_edges(const gnngp_sources *src);
extern void gnngp_parts_dims(gnngp_parts *p);
extern void gnngp_parts_features(gnngp_parts *p);
extern void gnngp_parts_edges(gnngp_parts *p);

/* Reads the edges that were packed: degrees, and which nodes are labelled or next to one that is; returns how many there are. */
extern int64 gnngp_parts_degrees(gnngp_parts *p, int64 *degree, bool *field);

/* parts_kept.c: what marks rows n with columns of these names, as a list of three sums. */
extern const char *gnngp_parts_mark(const char *src, const char *dst, const char *weight);

/* The packed edges of the refresh before, where they are those of today, or NULL; and keeps those of this one. */
extern const char *gnngp_parts_kept(gnngp_parts *p);
extern void gnngp_parts_keep(gnngp_parts *p);

/* The columns of a matrix that answers are made of: means, and where these are not 0 a column for all means, variances, and whether there is a kernel. */
typedef struct gnngp_answer_layout
{
	int32		first;			/* of the means */
	int32		columns;
	int32		level;
	int32		variance;
	int32		present;
} gnngp_answer_layout;

#define GNNGP_LAYOUT 5			/* numbers of one in an array */
#define GNNGP_FIGURES 7			/* before those of classes: 1 where labels bring a variance along, then gp_row_scale */

/* What the answers of all nodes are made of. */
typedef struct gnngp_part_rows
{
	const char *query;			/* with columns (pk, part, m): an array of matrices for each part */
	int			n;				/* matrices of an array */
	const gnngp_answer_layout *layout;
	const char *labelled;		/* a table of (pk, part, m): the labelled nodes */
	bool		own_variance;	/* m is their variance */
} gnngp_part_rows;

/* parts_answers.c: has them made, and put into a table beside the nodes; or into the posterior, where there may be none. */
extern void gnngp_parts_answer(gnngp_parts *p, const gnngp_part_rows *rows, gp_posterior *out);

/* Puts numbers of the labelled nodes (labelled x columns) into a table of parts, (pk, part, m). */
extern const char *gnngp_parts_put_labelled(gnngp_parts *p, const double *y, int32 columns);

/* A table of columns (part integer, m gp_matrix). */
extern const char *gnngp_parts_table(gnngp_parts *p, const char *what, int64 cols);

#endif							/* GNNGP_PARTS_INT_H */
