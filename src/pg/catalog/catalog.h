/*
 * catalog.h - graphs and models as rows of the extension's own tables.
 *
 * Names are unique for each owner.  A look-up finds the caller's own row first, then one
 * of a role that the caller is a member of, then one that is granted to such a role by
 * name, then one that is granted to everybody; where two of a kind come first it asks
 * for 'owner.name'.  Rows are written by C after an owner check, as the extension's
 * owner for that statement alone.
 * Everything returned is palloc'd in the current memory context.
 */
#ifndef GNNGP_CATALOG_H
#define GNNGP_CATALOG_H

#include "core/fit/fit.h"
#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "extension.h"
#include "pg/server/compat.h"

/* A list of tables; oid is NULL where there is no list. */
typedef struct gnngp_oids
{
	int			n;
	Oid		   *oid;
} gnngp_oids;

/* The name that a table had; NULL where it is not known. */
typedef struct gnngp_source_name
{
	char	   *schema;
	char	   *table;
} gnngp_source_name;

/* A graph of tables; tables.oid is NULL for another. */
typedef struct gnngp_tables_def
{
	gnngp_oids	tables;
	gnngp_texts names;			/* schema and name of each in turn, when they were given */
	char	   *kinds;			/* the relkind of each table when they were given */
	char	   *timed;			/* of each then: t where it had a time, - where not, or this: */
#define GNNGP_TIME_UNREAD '?'	/* the table could not be read */
	gnngp_texts time;			/* the column that was the time of each then, or "" */
	bool		anew;			/* times is given by the present call */
	char	   *times;			/* JSON as given, or NULL; the same for keys */
	char	   *keys;
	gnngp_texts exclude;		/* "table.column" */
	char	   *time_zone;		/* in which dates and timestamps without a zone are meant */
} gnngp_tables_def;

/* What a task asks for: an expression over entities, a table of labels, a column of a table. */
typedef enum gnngp_task_form
{
	GNNGP_NO_TASK,
	GNNGP_TASK_EXPRESSION,
	GNNGP_TASK_LABELS,
	GNNGP_TASK_COLUMN
} gnngp_task_form;

/* A task on a graph of tables; the form of another graph is GNNGP_NO_TASK. */
typedef struct gnngp_task_def
{
	int64		graph;			/* its graph's id */
	gnngp_task_form form;
	char	   *form_name;		/* expression, labels, column, or NULL */
	Oid			table;			/* of the entities, or of the labels */
	gnngp_source_name table_name;
	char	   *table_kind;
	char	   *entity_column;	/* of a table of labels; */
	char	   *entity_given;	/* and as it was called when the task was made; NULL: as it is */
	char	   *target;			/* an expression, or a column */
	char	   *filter;			/* an expression, or NULL */
	char	   *path;			/* the search_path of both */
	char	   *time_column;	/* NULL: by the rule */
	char	   *horizon;		/* as text, or NULL */
	char	   *every;
	TimestampTz since;			/* -infinity: the first fact */
	int64		rows;			/* labels at most */
} gnngp_task_def;

/* A row of gp_graph_catalog: where the user's nodes and edges, or tables, are; or a task. */
typedef struct gnngp_graph_def
{
	int64		id;
	char	   *name;
	char	   *owner;			/* the role's name of today, as it is told */
	Oid			owner_role;		/* may be gone; InvalidOid after a restore without it */
	Oid			nodes;
	Oid			edges;
	char	   *id_column;
	gnngp_texts features;		/* an array column, or several; none with sparse_features */
	char	   *target;			/* NULL when not given */
	char	   *src;
	char	   *dst;
	char	   *weight;			/* NULL when not given */
	bool		directed;
	Oid			sparse_features;	/* InvalidOid when not given */
	char	   *scale;			/* auto, none, standard, length */
	char	   *time;			/* of the edges; NULL when not given */
	gnngp_texts edge_features;	/* columns of the edges that describe their ends */
	gnngp_source_name nodes_name;	/* of the tables when they were given */
	gnngp_source_name edges_name;
	gnngp_source_name sparse_name;
	char	   *kinds;			/* relkinds of nodes, edges and sparse_features or '-' as given */
	char	   *shape;			/* of a graph that was looked up: what its live states depend on */
	gnngp_tables_def tables;
	gnngp_task_def task;
} gnngp_graph_def;

/* What a user asked for in gp_fit; a refresh uses it again. */
typedef struct gnngp_fit_settings
{
	char	   *kernel;			/* canonical text, or auto */
	char	   *target_kind;	/* auto, classes, values: as asked for */
	char	   *strategy;		/* auto, exact, nystrom, precision, sql */
	int32		landmarks;		/* 0 = automatic */
	double		nugget;			/* NaN = by leave-one-out */
	int64		seed;
	char	   *method;			/* gp, or the canonical text of another method */
	bool		live;			/* what rows can be evaluated against later is stored, too */
} gnngp_fit_settings;

/* What a user asked for in gp_fit_links. */
typedef struct gnngp_link_settings
{
	char	   *kernel;			/* canonical text */
	char	   *method;			/* auto, scores, pairs, ease, dgp */
	int64		seed;
	int32		keep;			/* best pairs of each node that are stored; 0: none */
	double		min_probability;	/* of these */
	double		missing_share;	/* of all links, which probabilities go by */
} gnngp_link_settings;

/* The parts of a model; each is fitted, stored and replaced alone. */
#define GNNGP_PART_NODES 1
#define GNNGP_PART_LINKS 2

/* The link part of a model; method is NULL when there is none. */
typedef struct gnngp_link_part
{
	gnngp_link_settings settings;
	int64		version;		/* of its blocks; grows with each fit of links */
	TimestampTz fitted;			/* of a model that was looked up; 0 when it has no link part */
	char	   *method;			/* scores, pairs, ease or dgp */
	int64		nodes;
	int64		edges;
	int64		pairs;			/* that it learnt from */
	double		auc;			/* NaN when there are too few links to tell */
	double		average_precision;
	int32		steps;			/* of the Laplacian scores */
	double		seconds;
	int64		peak_bytes;
	char	   *id_type;		/* as in the node part; the two may have been fitted apart */
	bool		integer_ids;
	int64		kept_bytes;		/* of the stored pairs */
	gnngp_texts notices;		/* of its fit; those of both parts together are the nodes' */
} gnngp_link_part;

/* A row of gp_model_catalog.  target_kind is NULL when there is no node part. */
typedef struct gnngp_model
{
	int64		id;
	int64		version;		/* of the node blocks; grows with each fit */
	TimestampTz fitted;			/* of a model that was looked up; 0 when it has no node part */
	char	   *name;
	char	   *owner;			/* both as in gnngp_graph_def */
	Oid			owner_role;
	int64		graph_id;
	gnngp_fit_settings settings;
	/* the summary, as gp_fit returns it */
	char	   *target_kind;	/* classification or regression */
	char	   *kernel;			/* canonical text of the kernel, or of another method */
	char	   *alternatives;	/* JSON, figures of what was compared; NULL where nothing was */
	char	   *strategy;
	char	   *device;
	int64		nodes;
	int64		edges;
	int64		features;
	int32		classes;		/* 0 for regression */
	int64		labelled;
	int64		landmarks;
	double		nugget;
	double		log_marginal_likelihood;
	double		loo_score;
	double		seconds;
	int64		peak_bytes;
	/* what gp_predict and gp_evaluate need besides the blocks */
	char	   *id_type;		/* schema-qualified type name, as gnngp_type_name gives */
	bool		integer_ids;
	gnngp_texts class_labels;	/* in class order */
	gnngp_texts notices;		/* what its fit told */
	double		scale;
	double		mean_diag;
	double		jitter;
	bool		exact_diagonal;
	double		power;			/* of the kernel, given or chosen; NaN with another method */
	int64		live_bytes;		/* of the section "live"; 0 without one */
	/* of a task */
	int32		relations;
	int64		facts;			/* that were read */
	int64		rows;			/* of the task: those labelled and those to predict; 0: no task */
	double		forward_score;	/* as loo_score, each block of time from those before it */
	gnngp_link_part link;
} gnngp_model;

/* Looks up a graph ('name' or 'owner.name'): 42704 for none, 42501 for one of somebody else's. */
extern gnngp_graph_def *gnngp_own_graph(const char *name);

/* The same, locked against fits and changes until the transaction ends: the row is as it is now. */
extern gnngp_graph_def *gnngp_graph_to_change(const char *name);

extern gnngp_graph_def *gnngp_graph_by_id(int64 id);

/* Writes the row of a new graph or task; 42710 when its owner has one of this name. */
extern void gnngp_graph_insert(const gnngp_graph_def *graph);

/* Changes the row of a graph that is locked to change. */
extern void gnngp_graph_update(const gnngp_graph_def *graph);

/* 42809 unless a graph is one of tables, or one of nodes and edges. */
extern void gnngp_require_tables(const gnngp_graph_def *graph);
extern void gnngp_require_edges(const gnngp_graph_def *graph);

/* The graph of tables that a task is on. */
extern gnngp_graph_def *gnngp_graph_of_task(const gnngp_graph_def *task);

/* The tasks on a graph of tables: a list of gnngp_graph_def, the oldest first. */
extern List *gnngp_graph_tasks(int64 id);

/* Looks up a model; 42704 with a hint at gp_fit if there is none (NULL when missing_ok). */
extern gnngp_model *gnngp_model_lookup(const char *name, bool missing_ok);

/* The same of a model that the caller owns: 42501 for one of somebody else's. */
extern gnngp_model *gnngp_own_model(const char *name);

/* The number of a class of a model; 22023 for one that it does not know, or where there are
 * none. */
extern int32 gnngp_class_number(const gnngp_model *model, const char *name);

/* True where the caller is the owner, a member of it, or a superuser. */
extern bool gnngp_is_owner(Oid owner);

/* 42501 unless it is.  kind is "graph" or "model". */
extern void gnngp_require_owner(Oid owner, const char *kind, const char *name);

/* The graph owner's role; 42704 with a hint when the role is gone. */
extern Oid	gnngp_owner_role(const gnngp_graph_def *graph);

/*
 * Inserts the model row of (owner, name), or replaces the given parts of it and
 * leaves the other part as it is; a part that was fitted on another graph goes.
 * Sets model->id and the versions of both parts: a part that is replaced or goes
 * has the next one, and the blocks of earlier ones are still there, to be removed
 * with gnngp_store_drop_versions after the new ones are written.
 */
extern void gnngp_model_save(gnngp_model *model, int parts);

/* Sets the seconds of the given parts of a row that has been saved: storing took some, too. */
extern void gnngp_model_save_seconds(const gnngp_model *model, int parts);

/*
 * For a fit of parts of a model of this name: where the graph's owner has one on another graph,
 * 42710 or, with replace, a NOTICE of a part that goes with it.
 */
extern void gnngp_model_claim(const gnngp_graph_def *graph, const char *name, int parts,
							  bool replace);

/*
 * The row of a function that has fitted a part: each of its columns shows the figure
 * that it is named after.
 */
extern Datum gnngp_model_row(FunctionCallInfo fcinfo, const gnngp_model *model, int part);

extern int	gnngp_model_parts(const gnngp_model *model);

/* 55000 for a model without the part. */
extern void gnngp_require_node_part(const gnngp_model *model);
extern void gnngp_require_link_part(const gnngp_model *model);

/* A model by id: 42704 when it has been dropped. */
extern gnngp_model *gnngp_model_by_id(int64 id);

/* 42602 for an empty name, 42622 for one over 63 bytes.  kind as above. */
extern void gnngp_check_name(const char *kind, const char *name);

/*
 * Takes the lock that keeps fits and refreshes of one model (by owner and name)
 * apart, until the transaction ends; 55006 when another session holds it.
 * Checks the name, too.
 */
extern void gnngp_model_lock(Oid owner, const char *name);

/*
 * The same for a fit, which also keeps its graph from being dropped or given
 * away, from now on and not just once it stores.
 */
extern void gnngp_fit_lock(const gnngp_graph_def *graph, const char *name);

/*
 * As gnngp_fit_lock, and marks the refresh as running for gp_is_refreshing.
 * session: held across commits, until gnngp_refresh_unlock or the next abort.
 */
extern void gnngp_refresh_lock(const gnngp_model *model, bool session);
extern void gnngp_refresh_unlock(const gnngp_model *model);

/* The name that a table has now; NULLs for no table. */
extern gnngp_source_name gnngp_source_name_of(Oid table);

/* A table's name between the quotes of a message: schema.table, both quoted where one needs it. */
extern char *gnngp_shown_table(const char *schema, const char *table);

/* The same of a table; its number where it is gone. */
extern char *gnngp_shown_oid(Oid table);

/* ---- Citus, where it is installed (citus.c) ---- */

/* True in a session in which another node's session has Citus run a query; inside SPI. */
extern bool gnngp_citus_serves_other(void);

/* True for a table whose rows Citus has on several servers. */
extern bool gnngp_citus_has_table(Oid table);

/*
 * Has Citus, where it is loaded, use one connection to each server from now on, in a nest level of
 * settings: with more of them a table's definition cannot change.
 */
extern void gnngp_citus_prepare(void);

/* The interval of a text, and its microseconds, months of 31 days (members.c). */
extern Datum gnngp_interval_datum(const char *interval);
extern int64 gnngp_interval_length(const char *interval);

#endif							/* GNNGP_CATALOG_H */
