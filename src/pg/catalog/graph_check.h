/*
 * graph_check.h - whether tables and columns can serve as a graph.
 */
#ifndef GNNGP_GRAPH_CHECK_H
#define GNNGP_GRAPH_CHECK_H

#include "catalog.h"

/*
 * Checks everything about a definition that can be checked without reading a
 * row: columns, their types, and the caller's SELECT privilege.
 */
extern void gnngp_check_graph(const gnngp_graph_def *def);

/* 42809 for a relation that is no table, view or foreign table, as an argument has to name. */
extern void gnngp_require_table(Oid oid, const char *argument);

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

/* What a column of the node table is as one of several features. */
typedef enum gnngp_feature_kind
{
	GNNGP_FEATURE_NONE,			/* it cannot be one */
	GNNGP_FEATURE_NUMBER,
	GNNGP_FEATURE_WORD,			/* text, enum, boolean */
	GNNGP_FEATURE_TIME			/* date, timestamp */
} gnngp_feature_kind;

extern gnngp_feature_kind gnngp_feature_kind_of(Oid base);

/* All columns that can be features, no keys and not the target; a NOTICE of the others. */
extern gnngp_texts gnngp_all_features(const gnngp_graph_def *def);

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

static inline bool
gnngp_is_string_type(Oid base)
{
	return base == TEXTOID || base == VARCHAROID || base == BPCHAROID;
}

/* A table's name between the quotes of a message: schema.table, both quoted where one needs it. */
extern char *gnngp_shown_table(const char *schema, const char *table);

/* The same of a table; its number where it is gone. */
extern char *gnngp_shown_oid(Oid table);

#endif							/* GNNGP_GRAPH_CHECK_H */
