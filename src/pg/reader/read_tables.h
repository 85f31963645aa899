/*
 * read_tables.h - what readers of tables of any kind share: queries, targets, numbers, whose code
 * runs.
 */
#ifndef GNNGP_READ_TABLES_H
#define GNNGP_READ_TABLES_H

#include "core/encoding/encoding.h"
#include "nodes/pg_list.h"
#include "pg/ids/idmap.h"
#include "read_source.h"
#include "utils/fmgrprotos.h"

/* Pushes the snapshot to read under (read_graph.c). */
extern void gnngp_push_read_snapshot(void);

/* True where a role may read a column of a table (read_rights.c). */
extern bool gnngp_may_read_column(Oid table, AttrNumber column, Oid role);

/*
 * True for a column that numbers the rows, a key by another name: an identity, or serial
 * (check_graph.c).
 */
extern bool gnngp_is_numbered(Relation rel, Form_pg_attribute att);

/*
 * The statements that grant the present user what he lacks of some tables (gnngp_table), in_part:
 * of each any column; NULL: nothing.  Where a table names columns, these alone (read_rights.c).
 */
extern char *gnngp_missing_grants(const List *tables, bool in_part);

/*
 * A number read without an error for what double precision cannot hold: such a
 * numeric becomes infinite, and the message can name its row.
 */
static inline double
gnngp_number_datum(Datum value, Oid base)
{
	if (base == NUMERICOID)
		value = DirectFunctionCall1(numeric_float8_no_overflow, value);
	return DatumGetFloat8(value);
}

/* ---- cells: columns of any type (cells.c) ---- */

/* How a column is read as a cell. */
typedef struct gnngp_cell_type
{
	gp_cell_kind kind;
	Oid			read_as;		/* the type that a query gives it */
	const char *cast;			/* what follows its name there, or "" */
} gnngp_cell_type;

/* By the column's type (under its domain); false where nothing is made of it. */
extern bool gnngp_cell_type_of(Oid base, gnngp_cell_type *type);

/* True for a type of columns that can be one of several features: all but lists. */
extern bool gnngp_is_feature_type(Oid base);

/* Takes a cell; a list is in the present memory context. */
extern void gnngp_read_cell(const gnngp_cell_type *type, Datum value, bool null, gp_cell *cell);

/* A time of a row as the core has it. */
extern gp_time gnngp_time_of(Datum value, bool null);

/* 64 bits of a text's SHA-256 digest: nobody can make a text that passes for another. */
extern uint64 gnngp_word_hash(const char *text, int length);

/*
 * ---- the classes among labels (read_labels.c) ----
 *
 * Labels are numbered as they come and renumbered at the end: integers by value, enums by their
 * order, booleans false before true, others by text.
 */

/* Class numbers are stored in 16 bits. */
#define GNNGP_MAX_CLASSES 65535

typedef struct gnngp_labels
{
	bool		integer;		/* labels are integers, else texts */
	Oid			enum_type;		/* InvalidOid when they are no enum values */
	gnngp_numbered label;		/* numbers are provisional */
} gnngp_labels;

/* How a target is read. */
typedef enum gnngp_target_kind
{
	GNNGP_TARGET_NONE,
	GNNGP_TARGET_INTEGER,		/* a class each */
	GNNGP_TARGET_TEXT,			/* a class each */
	GNNGP_TARGET_VALUE
} gnngp_target_kind;

/* Decides how a target is read; 42804 for a type that does not go with the kind. */
extern gnngp_target_kind gnngp_target_choose(const char *table, const gnngp_column *target,
											 const char *kind);

extern void gnngp_labels_init(gnngp_labels *labels, gp_env *env, bool integer, Oid enum_type);

/*
 * The provisional number of a label, an integer of a type or a text, which is added when new; -1
 * when there are too many.
 */
extern int32 gnngp_labels_number(gnngp_labels *labels, Datum value, Oid base);

/*
 * Sorts the classes.  The result maps provisional numbers to final ones; *names
 * are the labels in class order.  Both belong to the environment.
 */
extern int32 *gnngp_labels_finish(gnngp_labels *labels, char ***names);

#endif							/* GNNGP_READ_TABLES_H */
