/*
 * column_types.h - what columns of a type can serve as, and how tables are named in messages.
 */
#ifndef GNNGP_COLUMN_TYPES_H
#define GNNGP_COLUMN_TYPES_H

#include "catalog.h"

/*
 * Whether columns of a type (under its domain) can hold numbers, arrays of
 * features, or references to ids of another type.  A fit asks again: a column
 * may have been given another type since.
 */
extern bool gnngp_is_number_type(Oid base);

/* A date or a timestamp. */
extern bool gnngp_is_time_type(Oid base);
extern bool gnngp_is_vector_type(Oid base);
extern bool gnngp_matches_id_type(Oid base, Oid id);

/* True for types (no domains) of targets that are values unless the user says otherwise. */
static inline bool
gnngp_is_value_type(Oid base)
{
	return base == FLOAT4OID || base == FLOAT8OID || base == NUMERICOID || base == CASHOID;
}

/* True for types (no domains) read as integers, or whose text is the value itself. */
static inline bool
gnngp_is_integer_type(Oid base)
{
	return base == INT2OID || base == INT4OID || base == INT8OID;
}

/* True for types (no domains) of targets that are classes unless the user says otherwise. */
extern bool gnngp_is_class_type(Oid base);

static inline bool
gnngp_is_string_type(Oid base)
{
	return base == TEXTOID || base == VARCHAROID || base == BPCHAROID;
}

/* A table's name between the quotes of a message: schema.table, both quoted where one needs it. */
extern char *gnngp_shown_table(const char *schema, const char *table);

/* The same of a table; its number where it is gone. */
extern char *gnngp_shown_oid(Oid table);

#endif							/* GNNGP_COLUMN_TYPES_H */
