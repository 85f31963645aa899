/*
 * placement.h - where the chunks of a factor lie, and statements on them.
 *
 * A working table has rows (pk, chunk, m) or (pk, chunk, place, m): pk is one of a few keys, and
 * rows of one key lie together.  The tables are partitions of this server, or distributed by
 * Citus.  A statement uses gnngp_placement_key for the key of a number, gnngp_placement_matrix and
 * gnngp_placement_table_near for the copy near its row, and is then the same for both.
 */
#ifndef GNNGP_PLACEMENT_H
#define GNNGP_PLACEMENT_H

#include "core/base/base.h"
#include "nodes/pg_list.h"
#include "pg/server/server.h"

typedef struct gnngp_placement
{
	gp_env	   *env;
	bool		listed;			/* statements are counted, and nothing is run */
	bool		apart;			/* keys lie on several servers: one reads but what has its key */
	Oid			role;			/* who has the tables, and runs the statements on them alone */
	const char *schema;			/* theirs, quoted */
	int			keys;
	const int  *key;			/* what pk is for each of them; NULL: their numbers */
	int			made;			/* tables so far, for names that do not repeat */
	gp_phase	phase;
	int64		rows;			/* that the last statement without a result has written */
	int64		done;			/* statements */
	int64		total;			/* 0: not known */
	List	   *tables;			/* that were made and not dropped: names */
} gnngp_placement;

/*
 * Makes a schema for working tables of so many bytes.  With apart they are distributed by Citus,
 * else partitioned.  listed: only counts what would be run.
 */
extern void gnngp_placement_open(gnngp_placement *p, gp_env *env, bool apart, bool listed,
								 double bytes);

/* Drops the schema with all that is left in it. */
extern void gnngp_placement_close(gnngp_placement *p);

/* A new name for a table. */
extern const char *gnngp_placement_table(gnngp_placement *p, const char *what);

/* Makes a table of this name, with these columns behind pk. */
extern void gnngp_placement_create(gnngp_placement *p, const char *table, const char *columns);

/* Fills a table with the rows of a query on working tables. */
extern void gnngp_placement_fill(gnngp_placement *p, const char *table, const char *query);
extern void gnngp_placement_drop(gnngp_placement *p, const char *table);

/* Rows that are put together by chunks. */
typedef struct gnngp_grouping
{
	const char *query;			/* on the user's tables; gives a chunk and the columns */
	const char *declared;		/* the columns with their types */
	const char *columns;		/* and without, of rows n */
	const char *values;			/* what rows n of one chunk come to, aggregates all */
} gnngp_grouping;

/*
 * Fills a table with rows of the user's tables, put together where their chunks belong.
 * Returns how many rows there were where they had to be moved first, else -1.
 */
extern int64 gnngp_placement_group(gnngp_placement *p, const char *table,
								   const gnngp_grouping *rows);

/* Gives everybody a matrix under a name, and its text in a query whose rows are called t. */
extern void gnngp_placement_copy(gnngp_placement *p, const char *name, Datum matrix);
extern const char *gnngp_placement_matrix(const gnngp_placement *p, const char *name);

/*
 * Gives everybody the rows of a table, whose columns behind pk are declared and named; returns the
 * table that has them.
 */
extern const char *gnngp_placement_everywhere(gnngp_placement *p, const char *table,
											  const char *declared, const char *columns);

/* The key of a number, given as an expression or known. */
extern const char *gnngp_placement_key(const gnngp_placement *p, const char *number);
extern int	gnngp_placement_key_of(const gnngp_placement *p, int64 number);

/*
 * An expression for the OID of a table that everybody has: its copy with a key, on the server that
 * runs the statement; NULL where that copy has no row.
 */
extern const char *gnngp_placement_table_near(const gnngp_placement *p, const char *table,
											  const char *key);

/* Runs a query on working tables, or on the user's, and hands each row over. */
extern void gnngp_placement_query(gnngp_placement *p, const char *query, const gnngp_sink *rows);
extern void gnngp_placement_read(gnngp_placement *p, const char *query, const gnngp_sink *rows);

/* Runs a statement with values on working tables that returns nothing. */
extern void gnngp_placement_execute(gnngp_placement *p, const char *statement, int nargs,
									Oid *types, Datum *values);

#endif							/* GNNGP_PLACEMENT_H */
