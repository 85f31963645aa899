/*
 * place.h - where the parts of a factor lie: six verbs, and what a table is told to be.
 *
 * A working table has rows (pk, part, m) or (pk, place, part, m): pk is one of a few keys by
 * which rows are spread, and what has one key lies together.  A placement says what the verbs
 * come to: partitions of this server, or a list of statements that nobody runs.
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
	int			made;			/* tables so far, for names that do not repeat */
	gp_phase	phase;
	int64		done;			/* statements */
	int64		total;			/* 0: not known */
	List	   *tables;			/* that were made and not dropped: names */
	List	   *statements;		/* what was run, or would be: texts */
};

/* Partitions of this server, for tables of so many bytes: makes a schema for them. */
extern void gnngp_place_partitions(gnngp_place *p, gp_env *env, Oid owner, double bytes);

/* A list of statements, as partitions would be asked for. */
extern void gnngp_place_list(gnngp_place *p, gp_env *env, double bytes);

/* Removes what is left of partitions. */
extern void gnngp_place_end(gnngp_place *p);

/* A new name for a table. */
extern const char *gnngp_place_table(gnngp_place *p, const char *what);

/* A matrix that was copied to everybody, in a query. */
extern const char *gnngp_place_matrix(gnngp_place *p, const char *name);

/* Runs a query, and hands each row over. */
extern void gnngp_place_query(gnngp_place *p, const char *query, int nargs, Oid *types, Datum *values,
							  const gnngp_place_taker *taker);

/* Runs a statement with values that returns nothing. */
extern void gnngp_place_execute(gnngp_place *p, const char *statement, int nargs, Oid *types, Datum *values);

/* Counts a statement as done, and looks at interrupts. */
extern void gnngp_place_count_statement(gnngp_place *p, const char *text);

#endif							/* GNNGP_PLACE_H */
