/*
 * schema.h - graphs of tables: foreign keys, times, and the facts that tasks are answered from.
 *
 * Each reading looks at a graph of tables again: its columns, the foreign keys between its
 * tables, the time column of each.  A task then has rows, each an entity as of a time; the tables'
 * rows that refer to the entity, or to what it refers to, are facts.  All queries of one reading
 * run as the reader's other ones do (pg/reader/reader.h), ordered by key and time.
 */
#ifndef GNNGP_SCHEMA_H
#define GNNGP_SCHEMA_H

#include "postgres.h"

#include "core/facts/facts.h"
#include "core/facts/metapath.h"
#include "pg/catalog/catalog.h"
#include "pg/reader/read_tables.h"
#include "pg/reader/reader.h"

/* What a column is to the graph. */
typedef enum gnngp_column_role
{
	GNNGP_COLUMN_CELL,			/* encoded */
	GNNGP_COLUMN_TIME,			/* the time of the row */
	GNNGP_COLUMN_KEY,			/* identifies the row, or refers to another */
	GNNGP_COLUMN_EXCLUDED,		/* by the user */
	GNNGP_COLUMN_LATER,			/* its name says that it is written later than the row */
	GNNGP_COLUMN_GATHERED,		/* of a view that reads rows of later times */
	GNNGP_COLUMN_TARGET,		/* what the task asks */
	GNNGP_COLUMN_HIDDEN,		/* the owner may not read it */
	GNNGP_COLUMN_TYPE,			/* its type has no encoding */
	GNNGP_COLUMN_ANSWER			/* the task's labels show it */
} gnngp_column_role;

typedef struct gnngp_schema_column
{
	gnngp_column column;
	AttrNumber	number;			/* of the server's */
	Oid			collation;
	bool		not_null;
	gnngp_column_role role;
	bool		known;			/* with its row, as the user says */
	gnngp_cell_type type;		/* of a cell */
} gnngp_schema_column;

typedef struct gnngp_schema_table
{
	gnngp_table table;
	const char *label;			/* its name, with the schema where two tables have one name */
	int			ncolumns;
	gnngp_schema_column *column;
	int			time;			/* its time column; -1: without time */
	bool		timeless;		/* as the user says */
	bool		hidden;			/* the present user may not read it, and the owner may */
	bool		gathers;		/* a view that makes a row of several */
	List	   *reads;			/* the table itself, and all that a view reads */
	const char *left_out;		/* why a task does not use it; NULL: it does */
	const char *later;			/* the table with times that leaves this view out; NULL: none */
	List	   *candidates;		/* columns that may be the time, where the user names none */
	int			nid;			/* columns of its primary key */
	int		   *id;
} gnngp_schema_table;

/* A foreign key. */
typedef struct gnngp_schema_relation
{
	const char *name;			/* orders.customer_id, salaries(team,year) */
	int			child;			/* tables */
	int			parent;
	int			n;				/* pairs of columns */
	int		   *from;			/* columns of the child */
	int		   *to;
	const char **equals;		/* operators, of a column of the parent and one of the child */
	bool		named;			/* by the user: nothing says that the parent's columns are unique */
	bool		aside;			/* not used: it shows later times, or a task's answer, */
	bool		excluded;		/* or the user says so; or it may not be read */
} gnngp_schema_relation;

typedef struct gnngp_schema
{
	gp_env	   *env;
	const gnngp_graph_def *def;
	bool		altered;		/* the definition is new, its user sees what follows from it */
	int			ntables;
	gnngp_schema_table *table;
	int			nrelations;
	int			naside;			/* relations that are set aside; they stand behind the others */
	gnngp_schema_relation *relation;
	int			nrollups;
	struct gnngp_rollup *rollup;	/* children that are part of their parents' rows */
	const char ***totals;		/* of each table, once they are looked for (reading/totals.c) */
	/* of each relation, once that is asked: 1: rows come to have its key later, -1: not */
	int8	   *later;
	const char *times_named;	/* the argument times as hints have it so far (schema_times.c) */
	struct gnngp_later_columns *later_columns;	/* that a NOTICE is to name (later_columns.c) */
	int			answer_table;
	const char *answer;			/* a column that is not used, because a task's labels show it */
} gnngp_schema;

/*
 * Locks the tables of a graph and looks them up, as the present user and inside SPI.  altered: by
 * the call that makes or alters the graph; NOTICEs then say which tables were left out or taken for
 * timeless, and which columns are written later.
 * 42702 where a table has several columns that may be its time; 42P01 and 42703 for names in times,
 * keys and exclude that there are not; 42501 for a table named there that may not be read; 55000
 * where a table's time is not the one that the definition has noted, or its owner may not read a
 * table that he could.
 */
extern gnngp_schema *gnngp_schema_open(gp_env *env, const gnngp_graph_def *def, bool altered);

/* The place of a table among those of a schema; -1: none. */
extern int	gnngp_schema_find(const gnngp_schema *s, Oid table);

/*
 * The tables (gnngp_table) that are used, and of which the present user may not read all columns
 * that a model reads; the columns that he lacks, if these are not all.
 */
extern List *gnngp_schema_hidden(const gnngp_schema *s);

/*
 * A hash of all that encodings and columns of a stored model depend on: by names, which a dump
 * keeps, or by the server's numbers, which stay where something is renamed.  Columns that are
 * excluded do not count, nor do those of tables that are left out.
 */
extern uint64 gnngp_schema_shape(const gnngp_schema *s, bool by_number);

/*
 * A schema while it is read: the user is the graph's owner, or the caller, and a snapshot is
 * active.
 */
typedef struct gnngp_schema_use
{
	gnngp_schema *schema;
	gnngp_identity saved;
	bool		read_only;		/* as the transaction was before */
} gnngp_schema_use;

extern void gnngp_schema_begin(gnngp_schema_use *use, gp_env *env, const gnngp_graph_def *graph,
							   bool as_owner);
extern void gnngp_schema_end(gnngp_schema_use *use);

/* ---- what a fit of a task reads ---- */

typedef struct gnngp_task_data gnngp_task_data;
typedef struct gnngp_task_state gnngp_task_state;

/* How facts become columns: by a fit, and then by its live answers. */
typedef struct gnngp_task_transform
{
	uint64		shape[2];		/* of the schema, by names and by numbers */
	gp_time		horizon;
	gp_time		half_life;		/* of facts; 0: to be chosen by the rows */
	gp_time		newest;			/* as of which is predicted where rows have no time of their own */
	int			nencodings;
	gp_encoding **encoding;		/* of tables, then of rollups; NULL: it is not read */
	gp_facts_scale scale;
	gp_facts_target target;
	bool		metapaths;		/* rows without time, by what they refer to */
} gnngp_task_transform;

/*
 * The figures of each block of time, predicted from those before it; last those of all of them.  No
 * block: n is 0.
 */
typedef struct gnngp_forward
{
	int64		n;
	const int64 (*period)[3];	/* the first and the last time of a block, and its labels */
	const double (*metric)[GP_METRICS];	/* NaN: none of the task */
} gnngp_forward;

/* What of the rows of a task, and of the facts that they see, its model stores. */
struct gnngp_task_data
{
	gnngp_task_transform transform;
	gnngp_ids	label_ids;		/* of the labelled rows: by id, then time */
	gp_time    *as_of;			/* of all rows: those labelled, then those to predict */
	gp_metapath *metapaths;			/* of a column of a table without time; else NULL */
	int			relations;
	int64		facts;
	double		score[GP_FACTS_FITS];	/* of the fits that were compared */
};

/*
 * Reads the rows of a task and the facts that they see.  The data's graph has a node for each row,
 * and no edges; its ids are those of the rows to predict, which follow the labelled ones.
 */
extern gnngp_data *gnngp_read_task(gp_env *env, const gnngp_graph_def *task, const char *kind);

/*
 * Checks the expressions of a task as the present user, under the task's path, which becomes the
 * present search_path where it is NULL: 42601 for what is no single expression, 42P17 for a
 * volatile function, 42804 for a filter that is not boolean.  Returns what the target does not
 * depend on and should, "e", "t" or "horizon"; NULL where it depends on all.
 */
extern const char *gnngp_check_expressions(gnngp_graph_def *task);

/* The NOTICE of it, once the task is made. */
extern void gnngp_tell_target_lacks(const gnngp_graph_def *task, const char *lacking);

/* What a model keeps of it (pg/store/store.h). */
struct gnngp_task_state
{
	gnngp_task_transform transform;
	int64		labelled;
	const int64 *as_of;			/* of each labelled row */
	const gp_timed *by_time;	/* these in order of time */
	gnngp_forward forward;
};

/*
 * As of now, by what a task asks for:
 *
 *		column of a table with times	as of the time of each row
 *		column of a table without		as of the newest time of the fit, their parents as of now
 *		anything else					as of the moment of the call
 */
#define GNNGP_AS_OF_NOW GP_TIME_NEVER

/*
 * The entities of a task that are there as of a time, of n given ones, which are put to the front:
 * 42704 for one that is not in its table.  The state must outlive the reading.
 */
typedef struct gnngp_live_rows gnngp_live_rows;
extern gnngp_live_rows *gnngp_live_rows_open(gp_env *env, const gnngp_graph_def *task,
											 gnngp_task_state *state, gnngp_id *id, int64 *n,
											 gp_time as_of);

/*
 * Their features as of that time, read as the caller; ends the reading.  The labels of the fit,
 * each of the entity that label_ids names, are facts.
 */
extern gp_features *gnngp_live_rows_read(gnngp_live_rows *rows, const gp_facts_labels *labels,
										 const gnngp_ids *label_ids);

/*
 * The same of rows without time, which those beside them tell: of all rows of their table, with
 * what they refer to, and the place of each of these by its id.
 */
extern gp_features *gnngp_live_rows_read_metapaths(gnngp_live_rows *rows, gp_metapath **metapath);
extern int32 gnngp_live_rows_place(gnngp_live_rows *rows, const gnngp_id *id);

typedef struct gnngp_task_row
{
	gnngp_id	id;
	gp_time		as_of;
	int32		label;			/* a class as it came; 0 for a value; -1: to predict */
	double		value;
	const char *target;			/* as text, for gp_task_rows alone */
} gnngp_task_row;

/*
 * The labelled rows of a task, as gp_task_rows gives them, and the type of their ids as a column
 * without names.  They may be of times before their entity is there: a fit leaves these out.
 */
extern const gnngp_task_row *gnngp_read_task_rows(gp_env *env, const gnngp_graph_def *task,
												  gnngp_column *id, int64 *n);

/*
 * Looks up all that a new task names, as a fit would; the errors are those of a fit.  With later, a
 * NOTICE names the columns that its expressions read and that are written later than their rows, as
 * a fit would give it.  That looks at the rows of tables that have others than such names.
 */
extern void gnngp_task_check(gp_env *env, const gnngp_graph_def *task, bool later);

/* The table of a column that is written as table.column; sets the task's target. */
extern Oid	gnngp_task_column(gp_env *env, gnngp_graph_def *task, const char *target);

/* ---- looking ---- */

/* The note of a relation in gp_relations; NULL: none. */
extern const char *gnngp_relation_note(const gnngp_schema *s, int relation);

/* Puts how each column of each table is encoded, or why it is not; note may be NULL. */
typedef void (*gnngp_column_fn) (void *arg, Oid table, const char *column, const char *encoding,
								 int width, const char *note);
extern void gnngp_read_columns(gp_env *env, const gnngp_graph_def *graph, gnngp_column_fn put,
							   void *arg);

#endif							/* GNNGP_SCHEMA_H */
