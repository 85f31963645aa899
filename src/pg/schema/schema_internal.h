/*
 * schema_internal.h - what the files of the schema's reader share.
 */
#ifndef GNNGP_SCHEMA_INTERNAL_H
#define GNNGP_SCHEMA_INTERNAL_H

#include "postgres.h"

#include "executor/spi.h"
#include "pg/ids/given_ids.h"
#include "schema.h"

#define GNNGP_MOST_LEVELS 3		/* of tables, up from a row */

/* A copy of a text in the environment. */
static inline char *
gnngp_keep_text(gp_env *env, const char *text)
{
	return gnngp_copy_text(env, text, (int) strlen(text));
}

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
extern int	gnngp_schema_table_named(const gnngp_schema *s, const char *name, const char *argument);

/* True for a name that is of a column, as far as no table has it. */
extern bool gnngp_schema_names_column(const gnngp_schema *s, const char *name);

/* Columns of one table: table.column, or table(column,column). */
typedef struct gnngp_column_list
{
	int			table;
	int			n;
	int		   *column;
} gnngp_column_list;

extern gnngp_column_list gnngp_column_list_read(const gnngp_schema *s, const char *text,
												const char *argument);

/* The same in a text: the table by its label. */
extern char *gnngp_column_list_text(const gnngp_schema *s, int table, int n, const int *column);

/* The argument exclude of the graph with more columns. */
extern char *gnngp_exclude_argument(const gnngp_schema *s, const List *more);

/* A JSON object with a member, which replaces one of this name; NULL: {}, and null. */
extern char *gnngp_json_with(const char *json, const char *name, const char *value);

/* Such an object as the argument times. */
extern char *gnngp_times_argument(const char *times);

/* The table of a name that times has for its time; -1: a name of columns. */
extern int	gnngp_timed_table(const gnngp_schema *s, const char *name);

/*
 * For hints, the argument times of the graph, as SQL, with a member more: the table's time, or null
 * where column is NULL.
 */
extern char *gnngp_times_with(const gnngp_schema *s, const gnngp_schema_table *t,
							  const char *column);

/* The same with null for a column, as table.column, which is then known with its row. */
extern char *gnngp_times_known(const gnngp_schema *s, const char *column);

/*
 * The place of a column that an argument names, perhaps quoted: 42703 where there is none, with
 * the call that changes the argument of a graph that is there.
 */
extern int	gnngp_table_require_column(const gnngp_schema *s, const gnngp_schema_table *t,
									   const char *name, const char *argument);

/* ---- foreign keys (schema_relations.c) ---- */

/* Finds the foreign keys of the tables, in the server's catalog and in the argument keys. */
extern void gnngp_find_relations(gnngp_schema *s);

/* Moves the relations that are not used behind the others. */
extern void gnngp_set_relations_aside(gnngp_schema *s);

/* 42804 and 0A000 where keys are not equal by their texts, by which facts are found. */
extern void gnngp_require_texts(const gnngp_schema *s);

/* 23505 where a key that the user names is not unique in the table that it refers to. */
extern void gnngp_require_parents(const gnngp_schema *s);

/* The first table of the schema that a column of any table refers to by itself, or -1. */
extern int	gnngp_referred_table(const gnngp_schema *s, Oid table, AttrNumber column,
								 int *referred_column);

/* ---- what views read (schema_views.c) ---- */

/* Notes what a table reads, of which a relation is one: itself, and what is behind a view. */
extern void gnngp_find_reads(gnngp_schema_table *t, Oid oid);

/*
 * Follows a column of a view of single rows to the table that has it; false where it is no column
 * of one as it is.
 */
extern bool gnngp_find_origin(Oid *table, AttrNumber *column);

/* True for a table, what it is part of, its partitions, and views that read these. */
extern bool gnngp_table_reads(const gnngp_schema_table *t, Oid oid);

/* ---- tables (schema_tables.c) ---- */

/* Locks the tables and looks up their columns; those that may not be read are left out. */
extern void gnngp_open_tables(gnngp_schema *s);

/* A table that is not among those of the schema, with its columns. */
extern gnngp_schema_table gnngp_schema_table_open(gnngp_table table);

/* The column of a table's primary key, or called id; 0A000 where there is none. */
extern int	gnngp_table_id(const gnngp_schema_table *t, const gnngp_graph_def *task);

/* The place of a column, or -1. */
extern int	gnngp_table_find_column(const gnngp_schema_table *t, const char *name);

/* ---- what is used of them (schema_shape.c) ---- */

/*
 * Marks a table's columns, and what it refers to, as not used, except what the user says is known;
 * false: there is nothing to mark.  gnngp_set_relations_aside has to follow.
 */
extern bool gnngp_leave_table_out(gnngp_schema *s, int table);

/* True for a table that is not left out: its cells are read, or it refers or is referred to. */
extern bool gnngp_is_used(const gnngp_schema *s, int table);

/* ---- what a task leaves out (task/task_exclusions.c) ---- */

/*
 * Marks the column that a task asks for: its own row never shows it, and rows without time show
 * none.  Leaves out what tells the labels.
 */
extern void gnngp_mark_target(gnngp_schema *s, const gnngp_task_def *task);

/* ---- their times (schema_times.c) ---- */

/* Gives each table its time, and marks the times that are written later than their rows. */
extern void gnngp_find_times(gnngp_schema *s);

/*
 * The columns of a table that may be its time, as numbers, the most likely first: those that are
 * NOT NULL, or where there are none perhaps the others.
 */
extern List *gnngp_time_candidates(const gnngp_schema_table *t, bool or_nullable);

/*
 * True for a table that refers to a parent; -1: to any other, so that its rows most likely happen
 * at some time.
 */
extern bool gnngp_refers_to(const gnngp_schema *s, int table, int parent);

/*
 * True for a table whose rows have a time, or refer to such rows by a relation that is used, except
 * by one (-1: any).
 */
extern bool gnngp_is_timed(const gnngp_schema *s, int table, int but, int levels);

/*
 * The first table with times whose rows a view without time shows: it gathers them, or shows them
 * one by one without their times.  InvalidOid: none, or the user says that the view is timeless.
 */
extern Oid	gnngp_reads_later(const gnngp_schema *s, int table);

/* ---- columns that are left out, as they are written later (later_columns.c) ---- */

extern struct gnngp_later_columns *gnngp_later_columns_create(void);

/* Notes such a column, with a sentence that says how that is known; NULL: by its name. */
extern void gnngp_note_later(const gnngp_schema *s, const gnngp_schema_table *t,
							 const char *column, const char *why);

/* The one NOTICE of all that were noted since the last one, if any. */
extern void gnngp_notice_later(const gnngp_schema *s);

/* A column as a member of a list of columns, for list_member. */
static inline List *
gnngp_column_key(Oid table, AttrNumber number)
{
	return list_make2_oid(table, (Oid) number);
}

/*
 * A NOTICE of all that were noted since the schema was opened, or are named so, which the
 * expressions of a task read: columns by gnngp_column_key.
 */
extern void gnngp_notice_later_read(const gnngp_schema *s, const gnngp_graph_def *task,
									const List *columns);

/* ---- times and keys as SQL (row_sql.c) ---- */

/* The time of rows of a table without one. */
#define GNNGP_TIMELESS "'-infinity'::pg_catalog.timestamptz"

/* A column of times as timestamptz: a day, or a time without a zone, that is none is infinite. */
extern char *gnngp_moment_expression(const gnngp_column *time, const char *alias);

/* The same of a table's time, if any: a row whose time is NULL is never visible. */
extern char *gnngp_time_expression(const gnngp_schema_table *t, const char *alias);

/*
 * The same of when a row is a fact.  That of a day may be from its last second: it is known when
 * the day is over, as of its last microsecond.  Those of today that stand in the table are known.
 */
extern char *gnngp_known_expression(const gnngp_schema_table *t, const char *alias);

/*
 * The expression of columns as a key of facts, and the type that it is read as: an integer, or
 * text.
 */
extern char *gnngp_key_expression(const gnngp_schema_table *t, const char *alias, int n,
								  const int *column, Oid *type);

/* Selects a key; returns that type. */
extern Oid	gnngp_query_add_key(gnngp_query *q, const gnngp_schema_table *t, const char *alias,
								int n, const int *column);

/* The condition that a row has such a key: none of its columns is NULL. */
extern char *gnngp_key_condition(const gnngp_schema_table *t, const char *alias, int n,
								 const int *column);

/* The condition that a row of the alias child refers to that of the alias parent. */
extern char *gnngp_join_equals(const gnngp_schema *s, const gnngp_schema_relation *r,
							   const char *child, const char *parent);

#endif							/* GNNGP_SCHEMA_INTERNAL_H */
