/*
 * reader.h - the user's tables as arrays of the core.
 *
 * All queries of one read run under one snapshot, read only, as the graph's owner under
 * SECURITY_RESTRICTED_OPERATION, with search_path pinned.  What they read is locked first, until
 * the transaction ends, and the snapshot taken then.  Nodes are numbered in the order of their key:
 * the id itself for integer ids, a hash of the id's text otherwise (ties by the text).
 */
#ifndef GNNGP_READER_H
#define GNNGP_READER_H

#include "core/graph/graph.h"
#include "core/encoding/encoding.h"
#include "pg/ids/ids.h"
#include "utils/plancache.h"

/*
 * For a plan over a table, of this name, that is about to be made, and whose relations are locked:
 * 42501 where the present user is a superuser and the plan runs code of a role that is none
 * (read_trust.c).
 */
extern void gnngp_require_trust(const char *table, const CachedPlanSource *source);

/*
 * Checks everything about a definition that can be checked without reading a row: columns, their
 * types, and the caller's SELECT privilege (check_graph.c).
 */
extern void gnngp_check_graph(const gnngp_graph_def *def);

/* 42809 for a relation that is no table, view or foreign table, as an argument has to name. */
extern void gnngp_require_table(Oid oid, const char *argument);

/* All columns that can be features, no keys and not the target; a NOTICE of the others. */
extern gnngp_texts gnngp_all_features(const gnngp_graph_def *def);

/* Everything that a fit reads.  Memory of the environment. */
typedef struct gnngp_data
{
	gnngp_ids	ids;
	bool		divided;		/* nodes or edges are in a partitioned table, or on several
								 * servers */
	gp_graph   *graph;
	gp_features *features;		/* NULL: structure only */
	double	   *moments;		/* by which they were standardised, or NULL */
	gp_features *other;			/* in the form that was not taken, where the labels
								 * may choose; or NULL */
	double	   *other_moments;	/* by which those were standardised, or NULL */
	gp_encoding *encoding;		/* by which they were made of columns of any type, or NULL */
	int32_t    *edge_numbers;	/* features by each column of the edges, last by their number */
	gp_type		type;			/* of the features, and of all large matrices */
	gp_task		target_kind;	/* auto resolved */
	int64		nlabelled;
	int32	   *labelled;
	int32	   *label;			/* classes, or NULL */
	double	   *target;			/* values, or NULL */
	int32		nclasses;
	char	  **class_label;	/* as text: integer classes by number, others by text order, enums
								 * by enum order, booleans false, true */
	/* of a task (pg/schema/schema.h), whose labelled rows stand before the ids' ones; else NULL */
	struct gnngp_task_data *task_data;
} gnngp_data;

/*
 * Reads nodes, features, edges and, when need_target, targets.  kind is auto,
 * classes or values.  both_forms: an array of features that auto scales comes as other, too, where
 * it may be better so.  Raises the input rules' errors (class 22 and 23).
 */
extern gnngp_data *gnngp_read(gp_env *env, const gnngp_graph_def *graph, const char *kind,
							  bool need_target, bool both_forms);

/* An array of features is standardised by itself, as columns are, when it is shorter than this, */
#define GNNGP_SHORT_ARRAY 64
/* and the largest deviation of its elements is more than so many times the smallest. */
#define GNNGP_UNITS_RATIO 3

/*
 * The neighbourhood of a few nodes, as the tables are now, is read as the caller, whose
 * grants and row-level security hold, under the active snapshot, by the indexes that the
 * tables have (neighbourhood.c).
 */

/* What was read; node numbers are those of ids. */
typedef struct gnngp_neighbourhood
{
	gnngp_ids	ids;			/* nodes that were read; behind them stand ends of edges alone */
	gp_graph   *graph;			/* of all these */
	gp_features *features;		/* NULL: structure only */
	int32	   *wanted;			/* the number of each node that was asked for */
} gnngp_neighbourhood;

#define GNNGP_ALL_HOPS (-1)		/* everything is read, whatever is asked for */

/* What is read of the edges of the nodes that are farthest away. */
typedef enum gnngp_rim
{
	GNNGP_RIM_NOTHING,
	GNNGP_RIM_DEGREES,
	GNNGP_RIM_EDGES
} gnngp_rim;

/*
 * Reads so many hops around some nodes, and the edges of all nodes nearer than that.  dims, moments
 * and encoding are those of the fit's features.  No node is wanted twice; 42704 for one that is not
 * there.
 */
extern gnngp_neighbourhood *gnngp_read_neighbourhood(gp_env *env, const gnngp_graph_def *graph,
													 const gnngp_id *wanted, int64 n, int hops,
													 gnngp_rim rim, int64 dims,
													 const double *moments,
													 const gp_encoding *encoding);

/* A part of an encoding is stored as so many numbers. */
#define GNNGP_ENCODED_DOUBLES ((int64) (sizeof(gp_encoded) / sizeof(double)))

#endif							/* GNNGP_READER_H */
