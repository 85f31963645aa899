/*
 * read_source.h - the tables that a graph is read from, and queries over them.
 *
 * Each table is locked before anything about it is looked up, and stays locked
 * until the transaction ends.  Queries are planned before the snapshot is taken,
 * which locks what stands behind a view or a partitioned table, though not what a
 * function reads; and each holds the rows that the executor delivers against the
 * types that its callback takes.
 */
#ifndef GNNGP_READ_SOURCE_H
#define GNNGP_READ_SOURCE_H

#include "core/base/base.h"
#include "nodes/pg_list.h"
#include "pg/catalog/catalog.h"

/* A table of the user, locked. */
typedef struct gnngp_table
{
	Oid			oid;			/* InvalidOid when the graph has none */
	char	   *name;			/* with its schema, for messages */
	const char *quoted;			/* the same for queries */
	const char *lacking;		/* columns to grant, where these are not all; NULL: all */
} gnngp_table;

/* A column: its name, its quoted name, its type and the type under its domain. */
typedef struct gnngp_column
{
	const char *name;
	const char *quoted;
	Oid			type;
	Oid			base;
} gnngp_column;

/* SELECT of some expressions over one table. */
typedef struct gnngp_query
{
	const gnngp_table *table;
	StringInfoData list;		/* what is selected */
	List	   *types;			/* of each, under domains */
	List	   *expressions;	/* each as text */
	const char *joins;			/* behind the table, or NULL; the same for the next two */
	const char *condition;
	const char *order;
	const char *where;			/* rows that are wanted by an array $1; NULL: all */
	Oid			array_type;		/* of $1 */
	Datum		array;			/* and what it is at the next run */
	bool		by_index;		/* planned for few elements, the query looks them up in an index */
	int64		rows;			/* of the table, as the planner counts; 0: not known */
	SPIPlanPtr	plan;
	SPIPlanPtr	whole;			/* the same of all rows */
} gnngp_query;

/*
 * Locks a table for reading; 42P01 when it has been dropped, or another one has
 * taken its name, since it was given as this argument; 42809 when it is of another
 * kind (relkind) than it was then.
 */
extern gnngp_table gnngp_table_open(Oid oid, const gnngp_source_name *given, char kind,
									const char *argument, const gnngp_graph_def *def);

/* The planner's count of a table's rows, for progress; 0 when it is not known. */
extern int64 gnngp_table_rows(const gnngp_table *table);

/* A column of a locked table; 42703 when it has been dropped since. */
extern gnngp_column gnngp_table_column(const gnngp_table *table, const char *name);

/* The same for a column of numbers; 42804 when it has been given another type since. */
extern gnngp_column gnngp_table_number(const gnngp_table *table, const char *name);

/* The same for a date, a timestamp or a number. */
extern gnngp_column gnngp_table_time(const gnngp_table *table, const char *name);

/* The n-th column that has not been dropped, from 0; 42703 when there is none. */
extern const char *gnngp_table_column_name(const gnngp_table *table, int n);

/* 42804: a column has a type that does not serve.  hint NULL: that a view may cast it. */
pg_noreturn extern void gnngp_wrong_type(const gnngp_table *table, const gnngp_column *column,
										 const char *expected, const char *hint);

/* 42804 unless a column can refer to the ids of nodes. */
extern void gnngp_require_reference(const gnngp_table *table, const gnngp_column *column,
									const gnngp_table *nodes, const gnngp_column *id);

/* Starts a query over a table, which its expressions call t. */
extern void gnngp_query_init(gnngp_query *q, const gnngp_table *table);

/* Selects an expression whose value has this type, or a domain over it; returns its place. */
#define gnngp_query_add(q, type, ...) gnngp_query_add_text(q, type, psprintf(__VA_ARGS__))
extern int	gnngp_query_add_text(gnngp_query *q, Oid type, char *expression);

/* What makes a number of this type, money included, one of double precision in a query. */
extern const char *gnngp_number_cast(Oid base);

/* What there is in place of a column that is not there: the nearest one, or the list of all. */
extern const char *gnngp_columns_there(const gnngp_table *table, const char *name);

/* Selects a number, to be taken by gnngp_number_datum. */
extern void gnngp_query_add_number(gnngp_query *q, const gnngp_column *column);

/* The same of a time: seconds since 1970, or the number that it is. */
extern void gnngp_query_add_time(gnngp_query *q, const gnngp_column *column);

/*
 * Plans the query inside SPI, and so locks all that it reads.  40001 when the
 * transaction's one snapshot is older than a table's file and would see it empty.
 */
extern void gnngp_query_plan(gnngp_query *q);

/* True when a planned query reads a table that Citus has on several servers, also behind a view. */
extern bool gnngp_query_is_apart(const gnngp_query *q);

/* True when the next run delivers all rows, for an array of many ids: callbacks check them. */
extern bool gnngp_query_scans(const gnngp_query *q);

/*
 * Runs a planned query under the active snapshot and hands each row to the
 * callback; 55000 when the rows are not of the types that were said.
 */
extern void gnngp_query_run(const gnngp_query *q, gp_env *env, gnngp_row_fn row, void *state,
							gp_phase phase, int64 total);

#endif							/* GNNGP_READ_SOURCE_H */
