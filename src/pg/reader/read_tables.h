/*
 * read_tables.h - what readers of tables of any kind share: queries, targets, numbers, whose code
 * runs.
 */
#ifndef GNNGP_READ_TABLES_H
#define GNNGP_READ_TABLES_H

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

#endif							/* GNNGP_READ_TABLES_H */
