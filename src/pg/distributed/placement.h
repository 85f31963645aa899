/*
 * placement.h - where the parts of a factor lie: six verbs, and what a table is told to be.
 *
 * A working table has rows (pk, part, m) or (pk, place, part, m): pk is one of a few keys by
 * which rows are spread, and what has one key lies together.  A placement says what the verbs
 * come to: partitions of this server, tables of Citus, or a list of statements that nobody runs.
 * A statement asks for the key of a number (gnngp_place_key), and finds what was copied to everybody
 * near a row of its own (gnngp_place_near), and is then the same for all of them.
 */
#ifndef GNNGP_PLACE_H
#define GNNGP_PLACE_H

#include "postgres.h"

#include "core/base/base.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "tcop/dest.h"
#include "utils/snapshot.h"

typedef struct gnngp_place gnngp_place;

/* Takes one row of a query, in a context that is reset after it; its columns are of these types. */
typedef struct gnngp_place_taker
{
	void		(*row) (void *state, const Datum *values, const bool *nulls);
	void	   *state;
	int			n;
	const Oid  *type;
} gnngp_place_taker;

/* The verbs. */
typedef struct gnngp_place_verbs
{
	const char *name;
	/* How many keys tables of so many bytes are spread by: 0, 1, ... */
	int			(*keys) (gnngp_place *p, double bytes);
	/* Makes a table with these columns behind pk. */
	void		(*create) (gnngp_place *p, const char *table, const char *columns);
	/* Gives everybody who works a matrix under a name. */
	void		(*copy) (gnngp_place *p, const char *name, Datum matrix);
	/* Has a query fill a table. */
	void		(*run) (gnngp_place *p, const char *table, const char *query);
	/* The rows of a table. */
	int64		(*count) (gnngp_place *p, const char *table);
	void		(*drop) (gnngp_place *p, const char *table);
} gnngp_place_verbs;

struct gnngp_place
{
	const gnngp_place_verbs *verbs;
	gp_env	   *env;
	Oid			owner;			/* whose tables they are */
	char	   *schema;			/* quoted; the tables' */
	int			keys;
	const int  *key;			/* what pk is for each of them; NULL: their numbers */
	bool		apart;			/* keys lie on several servers: one reads but what has its key */
	int			made;			/* tables so far, for names that do not repeat */
	const char *tablespace;		/* the session's default, for tables that stay */
	gp_phase	phase;
	int64		rows;			/* that the last statement without a result has written */
	int64		done;			/* statements */
	int64		total;			/* 0: not known */
	List	   *tables;			/* that were made and not dropped: names */
	List	   *statements;		/* what was run, or would be: texts */
};

/* Partitions of this server, for tables of so many bytes: makes a schema for them. */
extern void gnngp_place_partitions(gnngp_place *p, gp_env *env, Oid owner, double bytes);

/* A list of statements, as partitions would be asked for. */
extern void gnngp_place_list(gnngp_place *p, gp_env *env, double bytes);

/* Tables of Citus, one key for each server that has parts of tables; and a list of statements as they would be. */
extern void gnngp_place_citus(gnngp_place *p, gp_env *env, Oid owner);
extern void gnngp_place_list_citus(gnngp_place *p, gp_env *env);

/* Removes what is left of a placement. */
extern void gnngp_place_end(gnngp_place *p);

/* What pk is for a number, given as an expression. */
extern const char *gnngp_place_key(const gnngp_place *p, const char *number);

/* What it is for a number that is known. */
extern int	gnngp_place_key_of(const gnngp_place *p, int64 number);

/* A condition, behind another one, by which a row of what everybody has a copy of is the one near a row; empty where there is one copy. */
extern const char *gnngp_place_near(const gnngp_place *p, const char *copy, const char *row);

/* Gives everybody the rows of a table, whose columns behind pk are declared and named: the table that has them. */
extern const char *gnngp_place_everywhere(gnngp_place *p, const char *table, const char *declared, const char *columns);

/* Rows that are put together. */
typedef struct gnngp_place_rows
{
	const char *query;			/* gives a part and the columns */
	const char *declared;		/* the columns with their types */
	const char *columns;		/* and without */
	const char *values;			/* what rows n of one part come to, aggregates all */
} gnngp_place_rows;

/* Has rows, which lie anywhere, put together by parts where these belong; how many they were where they had to be moved, else -1. */
extern int64 gnngp_place_group(gnngp_place *p, const char *table, const gnngp_place_rows *rows);

/* A new name for a table. */
extern const char *gnngp_place_table(gnngp_place *p, const char *what);

/* A matrix that was copied to everybody, in a query whose rows are called t. */
extern const char *gnngp_place_matrix(gnngp_place *p, const char *name);

/* Runs a query, and hands each row over. */
extern void gnngp_place_query(gnngp_place *p, const char *query, int nargs, Oid *types, Datum *values,
							  const gnngp_place_taker *taker);

/* Runs a statement with values that returns nothing. */
extern void gnngp_place_execute(gnngp_place *p, const char *statement, int nargs, Oid *types, Datum *values);

/* Counts a statement as done, and looks at interrupts. */
extern void gnngp_place_count_statement(gnngp_place *p, const char *text);

#endif							/* GNNGP_PLACE_H */
