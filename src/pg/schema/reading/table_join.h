/*
 * table_join.h - queries over a table with what its rows refer to, and how their cells are encoded.
 */
#ifndef GNNGP_TABLE_JOIN_H
#define GNNGP_TABLE_JOIN_H

#include "pg/schema/schema_internal.h"

/* ---- what a query joins (table_join.c) ---- */

#define GNNGP_MOST_JOINED 40		/* tables that one query joins, at most */

/* An expression that a query reads as a cell. */
typedef struct gnngp_cell_source
{
	const char *expression;		/* without the alias, where it is a column's */
	gnngp_cell_type type;
	bool		target;			/* of the task: never shown of the entity's own row */
	bool		known;			/* with its row, as the user says */
	int			table;			/* whose column it is, or has the key, */
	const char *name;			/* and how that is called */
	int			relation;		/* whose key it is; -1: of none */
} gnngp_cell_source;

/*
 * A table whose rows' cells are encoded: one of the graph's, or the children of its rows as part
 * of them.
 */
typedef struct gnngp_joined
{
	const char *name;			/* of what it is to the rows */
	int			relation;		/* by which it is joined, the last one; -1: the row itself */
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
} gnngp_joined;

/* Children without a time of their own, which are part of their parents' rows. */
typedef struct gnngp_rollup
{
	int			relation;
	const char *child;			/* what refers by it is called */
	int			ncells;
	gnngp_cell_source *cell;
	const char *select;			/* of children, grouped: their keys as k0, k1, ..., the cells */
	const char *tables;
	const char *keys;			/* to group by: the first that are selected */
	/* other parents of theirs have times, and the one that they are children of has none: the list
	 * has the time of the first as v, and no cells */
	bool		timed;
} gnngp_rollup;

/* A query over one table with its parents and its rollups. */
typedef struct gnngp_join
{
	const gnngp_schema *schema;
	int			table;
	const char *root;			/* what the query calls it: t, or d in a rollup */
	/* Of the table's rows those that are drawn, or asked for as $1, called s; "": all. */
	const char *sample;
	const char *asked;
	gnngp_query query;
	StringInfoData tables;		/* what is joined */
	StringInfoData visible;		/* arguments of greatest(): the times of all that is joined */
	StringInfoData first;		/* arguments of least(): of the first child by each rollup */
	const char *as_of;			/* what is later than this is not there yet; NULL: all is */
	int		   *nearest;		/* how many keys away each table is; NULL: no matter */
	bool		bare;			/* no cells are read: times alone count */
	bool		cut;			/* there is more to join than is joined */
	const gnngp_schema_relation *late;	/* by which rows come to refer to later ones; NULL: none */
	int			njoined;
	gnngp_joined	joined[GNNGP_MOST_JOINED];
} gnngp_join;

extern void gnngp_find_rollups(gnngp_schema *s);

/* The encodings of rollups stand behind those of tables, then come those of what rows refer to. */
static inline int
gnngp_rollup_encoding(const gnngp_schema *s, int rollup)
{
	return s->ntables + rollup;
}

static inline int
gnngp_key_encoding(const gnngp_schema *s, int relation)
{
	return s->ntables + s->nrollups + relation;
}

/* Starts a query over a table, which it calls t. */
extern gnngp_join *gnngp_join_open(const gnngp_schema *s, int table);

/* Has a query draw about so many of the table's rows where it has many, the same each time. */
extern void gnngp_join_sample(gnngp_join *j, int64 many, int64 drawn);

/*
 * Adds the table's row; then its parents except by one relation (-1: all), theirs, and so on, three
 * levels up; then the rollups of its row, or one.  The cells of all are selected.
 */
extern void gnngp_join_row(gnngp_join *j);
extern void gnngp_join_parents(gnngp_join *j, int but);
extern void gnngp_join_rollups(gnngp_join *j);
extern void gnngp_join_rollup(gnngp_join *j, int rollup);

/*
 * Adds what a row's children by a relation are, or what refers to these by a farther one (-1:
 * none), whatever their times: how many, the sum of each number of theirs, and the mean where it
 * differs; or lists: when they were, in seconds, and all columns, also those of what they refer to,
 * words as hashes.  Returns the query's column of the time of the last one, before which that of
 * the first stands; -1: they have none, and nothing is added.
 */
#define GNNGP_MOST_LISTED 32	/* columns of children, at most */
extern int	gnngp_join_totals(gnngp_join *j, int relation, int farther, bool lists);

/*
 * What is joined from here on counts only where it is there at the latest time of the rows so far:
 * for facts, which have one time.
 */
extern void gnngp_join_as_of(gnngp_join *j);

/* Adds what the row refers to by a relation, and its parents except one; returns its alias. */
extern const char *gnngp_join_between(gnngp_join *j, int relation, int but);

/*
 * Adds which rows a row refers to, as joined rows: by each key of one column, or by that of a
 * relation, which is known when the parent is; NULL: always.  The kind is KEY, or LISTED_KEY for
 * rows without a time that are a list of an entity's, or of what it refers to.
 */
extern void gnngp_join_keys(gnngp_join *j, gp_cell_kind kind);
extern void gnngp_join_key(gnngp_join *j, int relation, gp_cell_kind kind,
						   const gnngp_joined *parent);

/*
 * What rollups.c joins with.  Adds a table, and selects its cells.  Adds a time to those of which
 * the latest counts.  Joins what a row refers to by a relation; returns its alias.  Joins the
 * parents so many levels up, except by one relation; those of rows that wait for the latest of
 * them, and are never known where it is not among those joined.  True where there is room for
 * another table, and for some more.
 */
extern void gnngp_join_add(gnngp_join *j, gnngp_joined joined);
extern void gnngp_join_add_time(gnngp_join *j, const char *expression);
extern const char *gnngp_join_add_parent(gnngp_join *j, int relation, const char *child,
										 const char *name, int level);
extern void gnngp_join_levels(gnngp_join *j, int but, int levels);
extern void gnngp_join_awaited(gnngp_join *j, int but);
extern bool gnngp_join_has_room(gnngp_join *j, int more);

/* The joined table that is the parent of a row by a relation, or NULL. */
extern const gnngp_joined *gnngp_join_parent(const gnngp_join *j, int relation);

/*
 * Plans a query with all that it joins, and runs it (pg/reader/read_source.h); its errors name the
 * tables whose rows are rolled up.
 */
extern void gnngp_join_run(gnngp_join *j, gp_env *env, gnngp_row_fn row, void *state,
						   gp_phase phase, int64 total);

/* Has the row never be known. */
extern void gnngp_join_never(gnngp_join *j);

/* Selects the latest time of all that is joined, as timestamptz: -infinity without any. */
extern int	gnngp_join_visible(gnngp_join *j);

/*
 * Leaves facts out that come to refer to later rows, or whose children do (late_keys.c).  Live
 * answers need not: what a fit has never seen is no column of its model.
 */
extern void gnngp_leave_late_out(gnngp_join *j, int relation);

/* ---- columns that are totals of facts (totals.c) ---- */

/*
 * The name of the rows that the column of a cell follows from, those that are later than its own
 * row, too; NULL: none.
 */
extern const char *gnngp_cell_totals(const gnngp_schema *s, const gnngp_cell_source *cell);

/* ---- how tables are encoded (table_encoding.c) ---- */

/*
 * Looks at the rows of a table, or of a rollup, that are there before a time, and at which columns
 * are filled in later.  Large tables are sampled.  What rows refer to is of a kind, as above.
 */
extern gp_encoding *gnngp_encode_table(const gnngp_schema *s, int encoding,
									   gp_cell_kind kind_of_key, gp_time before);

/* Notes the columns of a table that such a look tells to be written later than their rows. */
extern void gnngp_note_table_later(const gnngp_schema *s, int table, gp_time before);

/*
 * The numbers of a joined table's row; false, and 0, where it is not there.  Room for the cells is
 * the caller's.
 */
extern bool gnngp_encode_joined(const gnngp_joined *joined, const gp_encoding *encoding,
							  const Datum *values, const bool *nulls, bool own, gp_cell *cell,
							  double *out);

#endif							/* GNNGP_TABLE_JOIN_H */
