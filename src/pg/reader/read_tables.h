/*
 * read_tables.h - what readers of tables of any kind share: queries, targets, numbers, whose code
 * runs.
 */
#ifndef GNNGP_READ_TABLES_H
#define GNNGP_READ_TABLES_H

#include "core/encoding/encoding.h"
#include "read_labels.h"
#include "read_source.h"
#include "utils/fmgrprotos.h"

/* Pushes the snapshot to read under (read_graph.c). */
extern void gnngp_push_read_snapshot(void);

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

#endif							/* GNNGP_READ_TABLES_H */
