/*
 * reader_internal.h - what the files of the reader share.
 */
#ifndef GNNGP_READER_INTERNAL_H
#define GNNGP_READER_INTERNAL_H

#include "pg/catalog/column_types.h"
#include "pg/ids/idmap.h"
#include "reader.h"
#include "read_tables.h"

/* One reading of a graph. */
typedef struct gnngp_reader
{
	gp_env	   *env;
	const gnngp_graph_def *def;
	gnngp_table nodes;
	gnngp_table edges;
	gnngp_table sparse;			/* oid is InvalidOid when not given */
	gnngp_column id;
	bool		integer_ids;
	FmgrInfo	id_output;		/* for ids that are not integers */
	bool		nodes_apart;	/* Citus has them on several nodes */
	bool		edges_apart;	/* and the edges */
	gnngp_idmap map;			/* valid after the nodes are read */
	gnngp_data *data;
	bool		as_owner;		/* not as the caller */
	bool		sorted;			/* nodes come by their ids, if integers: the server sorts */
	bool		both_forms;		/* gnngp_read's */
	bool		some;			/* a neighbourhood is read, and not all */
	Datum		some_ids;		/* an array of its nodes, once they are known */
	int64		dims;			/* and so many features at least */
	const double *moments;		/* by which features are standardised; NULL: their own, or none */
	const gp_encoding *encoding;	/* by which the fit made them of columns, or NULL */
	int64	   *null_features;	/* tables are counted: the NULLs among features are added here, and
								 * neither features nor classes are read; else NULL */
} gnngp_reader;

/* Locks the tables, then looks up the type of the ids (read_graph.c). */
extern void gnngp_reader_open(gnngp_reader *r, gp_env *env, const gnngp_graph_def *def);

/* While they are open, errors about rights tell who lacks which on the reader's tables: the present
 * user (read_rights.c). */
typedef struct gnngp_rights
{
	ErrorContextCallback callback;
	const char *grants;			/* NULL: none is missing */
	const char *whose;
} gnngp_rights;
extern void gnngp_rights_open(gnngp_rights *rights, const gnngp_reader *r);
extern void gnngp_rights_close(const gnngp_rights *rights);

/* A reading as the owner of the graph, inside SPI, until it is closed. */
typedef struct gnngp_owner_reading
{
	gnngp_reader r;
	gnngp_rights rights;
	gnngp_identity saved;
} gnngp_owner_reading;

extern gnngp_owner_reading *gnngp_owner_reading_open(gp_env *env, const gnngp_graph_def *graph);
extern void gnngp_owner_reading_close(gnngp_owner_reading *reading);

/* For a neighbourhood: has a query read rows whose id is among those of an array (read_ids.c). */
extern void gnngp_query_some(const gnngp_reader *r, gnngp_query *q, const gnngp_column *column);

/* Scales features that were just built, by the graph's setting or by_itself where that is auto
 * (read_features.c). */
extern void gnngp_scale_features(gnngp_reader *r, gp_scale scale);

/* 2202E unless a neighbourhood has as many features as the fit had. */
extern void gnngp_check_dims(const gnngp_reader *r, int64 dims);

/*
 * What is read in turn.  Each is planned, which locks what it reads, before the
 * snapshot is taken and the first is read.  Reading frees it; NULL is none.
 */
typedef struct gnngp_node_reading gnngp_node_reading;
typedef struct gnngp_feature_reading gnngp_feature_reading;
typedef struct gnngp_sparse_reading gnngp_sparse_reading;
typedef struct gnngp_edge_reading gnngp_edge_reading;

/* Ids in node order, targets, and features in columns of the node table (read_nodes.c). */
extern gnngp_node_reading *gnngp_plan_nodes(gnngp_reader *r, const char *kind, bool need_target);
extern void gnngp_read_nodes(gnngp_node_reading *s);

/*
 * Features in columns of the node table (read_features.c), which the query for the
 * ids reads, too; NULL is none.  Rows are numbered from 0 as they come; at the end
 * node[row], which is used up, tells their nodes, or NULL that row i is node i.
 */
extern gnngp_feature_reading *gnngp_add_features(gnngp_reader *r, gnngp_query *q);
extern void gnngp_features_add_row(gnngp_feature_reading *s, int64 row, gnngp_id id,
								   const Datum *values, const bool *nulls);
extern void gnngp_finish_features(gnngp_feature_reading *s, int32 *node);

/* 42804 unless a column can be one of several features or, alone, an array of them. */
extern void gnngp_require_feature(const gnngp_table *table, const gnngp_column *column, bool alone);

/* Several columns as features (encode_features.c). */

/* Selects a column, and takes its values as numbers that tell them apart, NaN for NULL. */
extern void gnngp_add_feature(gnngp_query *q, const gnngp_column *column, gnngp_cell_type *type);
extern double gnngp_feature_number(const gnngp_cell_type *type, Datum value, bool null);

/*
 * Takes features of such numbers, and gives them as they are encoded: by the fit's encoding where
 * there is one, else by one that they make, which data gets.
 */
extern gp_features *gnngp_encode_features(gnngp_reader *r, gp_features *numbers,
										  const gnngp_column *column,
										  const gnngp_cell_type *type);

/* Features in a table of their own (read_sparse.c).  42804 unless a column can number them. */
extern void gnngp_require_feature_number(const gnngp_table *table, const gnngp_column *column);
extern gnngp_sparse_reading *gnngp_plan_sparse(gnngp_reader *r);
extern void gnngp_read_sparse(gnngp_sparse_reading *s);

/* The graph (read_edges.c). */
extern gnngp_edge_reading *gnngp_plan_edges(gnngp_reader *r);
extern void gnngp_read_edges(gnngp_edge_reading *s);

/* Weights that are no weights, and times that are none, in the order in which they are reported. */
typedef enum gnngp_edge_fault
{
	GNNGP_WEIGHT_NULL,
	GNNGP_WEIGHT_NOT_FINITE,
	GNNGP_WEIGHT_NEGATIVE,
	GNNGP_TIME_NULL,
	GNNGP_TIME_NOT_FINITE,
	GNNGP_EDGE_FAULTS
} gnngp_edge_fault;

/* What is wrong with a weight that is NULL, not finite or negative. */
static inline gnngp_edge_fault
gnngp_weight_fault(bool null, double w)
{
	return null ? GNNGP_WEIGHT_NULL : !isfinite(w) ? GNNGP_WEIGHT_NOT_FINITE :
		GNNGP_WEIGHT_NEGATIVE;
}

/* Raises such a fault of the edge between two ids: class 22. */
pg_noreturn extern void gnngp_raise_edge(const gnngp_reader *r, const gnngp_column *column,
										 gnngp_edge_fault fault, double value, const char *src,
										 const char *dst);

/* How a graph's features are scaled; by_itself where the graph says auto. */
static inline gp_scale
gnngp_scale(const gnngp_graph_def *def, gp_scale by_itself)
{
	if (strcmp(def->scale, "standard") == 0)
		return GP_SCALE_STANDARD;
	if (strcmp(def->scale, "length") == 0)
		return GP_SCALE_LENGTH;
	return strcmp(def->scale, "auto") == 0 ? by_itself : GP_SCALE_NONE;
}

/* The first row with a fault, by its node, by what else tells rows apart, and by its value. */
typedef struct gnngp_fault
{
	bool		found;
	int32		node;
	double		second;
	double		value;
} gnngp_fault;

static inline void
gnngp_note_fault(gnngp_fault *f, int32 node, double second, double value)
{
	if (!f->found || (node != f->node ? node < f->node :
					  second != f->second ? second < f->second : value < f->value))
		*f = (gnngp_fault) {true, node, second, value};
}

static inline void
gnngp_reader_run(gnngp_reader *r, const gnngp_query *q, gnngp_row_fn row, void *state,
				 gp_phase phase)
{
	gnngp_query_run(q, r->env, row, state, phase, gnngp_table_rows(q->table));
}

/*
 * Says once in a session where a table has no index that begins with a column; with the column
 * beside it, degrees are counted in the index alone (index_advice.c).
 */
extern void gnngp_advise_index(const gnngp_table *table, const gnngp_column *column,
							   const gnngp_column *beside);

#endif							/* GNNGP_READER_INTERNAL_H */
