/*
 * schema_internal.h - what the files of the schema's reader share.
 */
#ifndef GNNGP_SCHEMA_INTERNAL_H
#define GNNGP_SCHEMA_INTERNAL_H

#include "postgres.h"

#include "common/hashfn.h"
#include "executor/spi.h"
#include "pg/ids/given_ids.h"
#include "schema.h"

/* ---- names that users give (schema_names.c) ---- */

/* A member of a JSON object whose values are texts; value is NULL for null. */
typedef struct gnngp_json_pair
{
	const char *key;
	const char *value;
} gnngp_json_pair;

/* The members of an object; NIL for NULL; 22023 for anything else.  argument is for the message. */
extern List *gnngp_json_pairs(const char *json, const char *argument);

/*
 * The table that a name means, with or without its schema: 42P01, or 42501 for one that may not be
 * read.
 */
extern int	gnngp_schema_table_named(const gnngp_tables *s, const char *name, const char *argument);

/* True for a name that is of a column, as far as no table has it. */
extern bool gnngp_schema_names_column(const gnngp_tables *s, const char *name);

/* Columns of one table: table.column, or table(column,column). */
typedef struct gnngp_column_list
{
	int			table;
	int			n;
	int		   *column;
} gnngp_column_list;

extern gnngp_column_list gnngp_column_list_read(const gnngp_tables *s, const char *text,
												const char *argument);

/* The same in a text: the table by its label. */
extern char *gnngp_column_list_text(const gnngp_tables *s, int table, int n, const int *column);

/* The place of a column, or -1. */
extern int	gnngp_table_find_column(const gnngp_schema_table *t, const char *name);

/*
 * The same of a name that an argument has, and that may be quoted: 42703 where there is none, with
 * the call that changes the argument of a graph that is there.
 */
extern int	gnngp_table_require_column(const gnngp_tables *s, const gnngp_schema_table *t,
									   const char *name, const char *argument);

/* ---- foreign keys (schema_relations.c) ---- */

/* Finds the foreign keys of the tables, in the server's catalog and in the argument keys. */
extern void gnngp_find_relations(gnngp_tables *s);

/* Moves the relations that are not used behind the others. */
extern void gnngp_set_relations_aside(gnngp_tables *s);

/* 23505 where a key that the user names is not unique in the table that it refers to. */
extern void gnngp_require_parents(const gnngp_tables *s);

/* The first table of the schema that a column of any table refers to by itself, or -1. */
extern int	gnngp_referred_table(const gnngp_tables *s, Oid table, AttrNumber column,
								 int *referred_column);

/* ---- what views read (schema_views.c) ---- */

/* Finds what a table reads: itself, and what is behind a view. */
extern void gnngp_find_reads(gnngp_schema_table *t);

/*
 * Follows a column of a view of single rows to the table that has it; false where it is no column
 * of one as it is.
 */
extern bool gnngp_find_origin(Oid *table, AttrNumber *column);

/* True for a table, what it is part of, its partitions, and views that read these. */
extern bool gnngp_table_reads(const gnngp_schema_table *t, Oid oid);

/* ---- what a query joins (schema_join.c) ---- */

#define GNNGP_MOST_PARTS 40		/* tables that one query joins, at most */
#define GNNGP_MOST_LEVELS 3		/* up from a row */

/* An expression that a query reads as a cell. */
typedef struct gnngp_cell_source
{
	const char *expression;		/* without the alias, where it is a column's */
	gnngp_cell_type type;
	bool		target;			/* of the task: never shown of the entity's own row */
	bool		known;			/* with its row, as the user says */
	int			table;			/* whose column it is, or tells of, */
	const char *name;			/* and how that is called */
} gnngp_cell_source;

/*
 * A table whose rows' cells are encoded: one of the graph's, or the children of its rows as part
 * of them.
 */
typedef struct gnngp_part
{
	const char *name;			/* of what it is to the rows */
	int			encoding;		/* its number among the encodings */
	int			table;			/* -1: children as part of a row */
	int			level;			/* above the row; 0: the row itself, or a rollup */
	const char *alias;
	int			ncells;
	gnngp_cell_source *cell;
	/* the query's column that tells whether there is a row; -1: always */
	int			there;
	int			visible;		/* the query's column of its own time; -1: without time */
	int			first;			/* the query's column of its first cell */
} gnngp_part;

/* Children without a time of their own, which are part of their parents' rows. */
typedef struct gnngp_rollup
{
	int			relation;
	int			ncells;
	gnngp_cell_source *cell;
	const char *select;			/* of children, grouped: their keys as k0, k1, ..., the cells */
	const char *tables;
	const char *keys;			/* to group by: the first that are selected */
	bool		timed;			/* parents of theirs have times: the list has the latest as v */
} gnngp_rollup;

/* A query over one table with its parents and its rollups. */
typedef struct gnngp_join
{
	const gnngp_tables *schema;
	struct gnngp_rollups *rollups;
	const char *root;			/* what the query calls the table: t, or d in a rollup */
	/* Of the table's rows those that are drawn, or asked for as $1, called s; "": all. */
	const char *sample;
	const char *asked;
	gnngp_query query;
	StringInfoData tables;		/* what is joined */
	StringInfoData visible;		/* arguments of greatest(): the times of all parts */
	const char *as_of;			/* what is later than this is not there yet; NULL: all is */
	int			nparts;
	gnngp_part	part[GNNGP_MOST_PARTS];
} gnngp_join;

/* All rollups of a schema; a rollup's encoding is the tables' number and its place here. */
typedef struct gnngp_rollups
{
	int			n;
	gnngp_rollup *rollup;
} gnngp_rollups;

extern gnngp_rollups *gnngp_rollups_find(const gnngp_tables *s);

/* The encoding of what rows refer to by a relation, behind those of tables and rollups. */
static inline int
gnngp_key_encoding(const gnngp_tables *s, const gnngp_rollups *rollups, int relation)
{
	return s->ntables + rollups->n + relation;
}

/* Starts a query over a table, which it calls t. */
extern gnngp_join *gnngp_join_open(const gnngp_tables *s, gnngp_rollups *rollups, int table);

/*
 * Adds the table's row as a part; then its parents but for one (a relation, or -1), theirs, and so
 * on, three levels up; then the rollups of its row.  Cells of all parts are selected.
 */
extern void gnngp_join_row(gnngp_join *j, int table);
extern void gnngp_join_parents(gnngp_join *j, int table, int but);

/*
 * What is joined from here on counts only where it is there at the latest time of the rows so far:
 * for facts, which have one time.
 */
extern void gnngp_join_as_of(gnngp_join *j);

/* Adds what the row refers to by a relation, and its parents but for one; returns its alias. */
extern const char *gnngp_join_between(gnngp_join *j, int relation, int but);
extern void gnngp_join_rollups(gnngp_join *j, int table);
extern void gnngp_join_rollup(gnngp_join *j, int place);

/*
 * Adds which rows a row refers to, as parts: by each key of one column, which is known when the
 * parent is, or by a relation, at all times.
 */
extern void gnngp_join_keys(gnngp_join *j, int table);
extern gnngp_part *gnngp_join_key(gnngp_join *j, int relation);

/*
 * The expression of columns as a key of facts, and the type that it is read as: an integer, or
 * text.
 */
extern char *gnngp_key_expression(const gnngp_schema_table *t, const char *alias, int n,
								  const int *column, Oid *type);

/* The condition that a row has such a key: none of its columns is NULL. */
extern char *gnngp_key_condition(const gnngp_schema_table *t, const char *alias, int n,
								 const int *column);

/* The condition that a row of the alias child refers to that of the alias parent. */
extern char *gnngp_join_equals(const gnngp_tables *s, const gnngp_schema_relation *r,
							   const char *child,
							   const char *parent);

/*
 * Plans a query with all that it joins, and runs it (pg/reader/read_source.h); its errors name the
 * tables whose rows are rolled up.
 */
extern void gnngp_join_run(gnngp_join *j, gp_env *env, gnngp_row_fn row, void *state,
						   gp_phase phase, int64 total);

/* Selects the latest time of all parts, as timestamptz: -infinity without any. */
extern int	gnngp_join_visible(gnngp_join *j);

/* The time of rows of a table without one. */
#define GNNGP_TIMELESS "'-infinity'::pg_catalog.timestamptz"

/* The expression of a table's time as timestamptz: a row whose time is NULL is never visible. */
extern char *gnngp_time_expression(const gnngp_schema_table *t, const char *alias);

/*
 * The same of when a row is a fact.  That of a day may be from its last second: it is known when
 * the day is over, as of its last microsecond.  Those of today that stand in the table are known.
 */
extern char *gnngp_known_expression(const gnngp_schema_table *t, const char *alias);

/* ---- how tables are encoded (schema_encode.c) ---- */

/*
 * Looks at the rows of a table, or of a rollup, that are there before a time, and at which columns
 * are filled in later.  Large tables are sampled.
 */
extern gp_encoding *gnngp_encode_table(const gnngp_tables *s, gnngp_rollups *rollups, int encoding,
									   gp_time before);

/*
 * The numbers of a part of a row, or 0 where it is not there; room for the cells is the caller's.
 */
extern void gnngp_encode_part(const gnngp_part *part, const gp_encoding *encoding,
							  const Datum *values,
							  const bool *nulls, bool own, gp_cell *cell, double *out);

/* ---- rows of a task (task_rows.c, task_collect.c, task_expression.c) ---- */

typedef struct gnngp_task_row
{
	gnngp_id	id;
	gp_time		as_of;
	int32		label;			/* a class as it came; 0 for a value; -1: to predict */
	double		value;
	const char *target;			/* as text, for gp_task_rows alone */
} gnngp_task_row;

typedef struct gnngp_task_rows
{
	gp_env	   *env;
	const gnngp_graph_def *task;
	const gnngp_tables *schema;
	bool		texts;			/* targets are wanted as texts */
	int			entity;			/* the entities' table */
	int			id;				/* its column that is their id */
	gnngp_column id_column;		/* of which the rows' ids are */
	gnngp_table source;			/* for messages: labels, or the entities */
	gnngp_column target;
	gnngp_target_kind kind;
	List	   *read;			/* tables that an expression reads, the entities' one of them */
	gnngp_labels labels;
	gp_time		newest;
	gp_time		first;			/* the first fact; GP_TIME_NEVER: no table has times */
	gp_time		horizon;		/* -1: not given */
	int64		n;
	int64		room;
	gnngp_task_row *row;
	bool		undated;		/* the rows of a table have no time column */
	gp_time		now;			/* labels of its later rows are from the future */
	int64		timeless;		/* rows left out for want of a time, */
	int64		infinite;		/* as of no moment, */
	int64		future;			/* as of one that has not come, */
	int64		unknown;		/* for want of an entity, */
	int64		unlabelled;		/* for an expression that is NULL there */
	int64		early;			/* as of a time before their entity's */
} gnngp_task_rows;

/*
 * Finds the entities of a task among the tables; kind NULL: its target, which is the owner's, is
 * not looked at.
 */
extern void gnngp_task_rows_open(gnngp_task_rows *t, gp_env *env, const gnngp_tables *s,
								 const gnngp_graph_def *task, const char *kind);

/*
 * Reads the rows, labelled and to predict, under the active snapshot; sorted: labels by id and
 * time, then the others.
 */
extern void gnngp_task_rows_read(gnngp_task_rows *t);

/* Looks up all that reading them needs. */
extern void gnngp_task_rows_check(const gnngp_task_rows *t);

/* Adds a row; the id is copied.  A target that is NULL is to be predicted. */
extern void gnngp_task_rows_add(gnngp_task_rows *t, Datum id, gp_time as_of, Datum target,
								bool no_target);

/* A copy of a text in the environment. */
static inline char *
gnngp_keep_text(gp_env *env, const char *text)
{
	return gnngp_copy_text(env, text, (int) strlen(text));
}

/*
 * The type of a task's target, and the tables that it reads; its text has been checked
 * (task_expression.c).
 */
extern Oid	gnngp_task_expression_type(gnngp_task_rows *t);

/*
 * How many of the entities e that a query's keys ask for do not pass the filter, which is the
 * owner's code, as of a time.
 */
extern int64 gnngp_count_filtered(const gnngp_task_rows *t, const gnngp_query *keys,
								  gp_time as_of);

/*
 * A NOTICE with the index to make, where a plan for labels reads all of a table for each of them
 * and that takes long (label_scans.c).
 */
extern void gnngp_notice_scans(SPIPlanPtr plan, const gnngp_graph_def *task, int64 labels);

/* The rows of a task that is an expression. */
extern void gnngp_task_expression_read(gnngp_task_rows *t);

/* The latest time of a row of any table until now; GP_TIME_ALWAYS where there is none. */
extern gp_time gnngp_newest_fact(const gnngp_tables *s);

/*
 * Finds the first fact, and the moment as of which a task predicts: just behind the newest fact, or
 * now where there are no times.  A NOTICE where other rows are much later.
 */
extern void gnngp_find_newest(gnngp_task_rows *rows);

/*
 * The columns of a table that may be its time, as numbers, the most likely first: those that are
 * NOT NULL, or where there are none perhaps the others (schema_tables.c).
 */
extern List *gnngp_time_candidates(const gnngp_schema_table *t, bool or_nullable);

/* True for a table that refers to others: its rows most likely happen at some time. */
extern bool gnngp_has_parent(const gnngp_tables *s, int table);

/*
 * Marks a table's columns, and what it refers to, as not used; false: there is nothing to mark
 * (schema_tables.c).
 */
extern bool gnngp_table_leave_out(gnngp_tables *s, int table);

/* The member of times that says that a column is known with its row: "table.column": null. */
extern char *gnngp_times_known(const gnngp_tables *s, int table, const char *column);

/* A table that is not among those of the schema, with its columns. */
extern gnngp_schema_table gnngp_schema_table_open(gnngp_table table);

/* The column of a table's primary key, or called id; 0A000 where there is none. */
extern int	gnngp_table_id(const gnngp_schema_table *t, const gnngp_graph_def *task);

#endif							/* GNNGP_SCHEMA_INTERNAL_H */
