/*
 * column_types.h - what columns of a type (under its domain) can serve as.
 */
#ifndef GNNGP_COLUMN_TYPES_H
#define GNNGP_COLUMN_TYPES_H

#include "catalog.h"

/* A number. */
extern bool gnngp_is_number_type(Oid base);

/* A date or a timestamp. */
extern bool gnngp_is_time_type(Oid base);

/* An array of features. */
extern bool gnngp_is_vector_type(Oid base);

/* A reference to ids of another type. */
extern bool gnngp_matches_id_type(Oid base, Oid id);

/* A target that is a value unless the user says otherwise. */
static inline bool
gnngp_is_value_type(Oid base)
{
	return base == FLOAT4OID || base == FLOAT8OID || base == NUMERICOID || base == CASHOID;
}

/* An integer of two, four or eight bytes. */
static inline bool
gnngp_is_integer_type(Oid base)
{
	return base == INT2OID || base == INT4OID || base == INT8OID;
}

/* A structure of values. */
static inline bool
gnngp_is_json_type(Oid base)
{
	return base == JSONBOID || base == JSONOID;
}

/* A target that is a class unless the user says otherwise. */
extern bool gnngp_is_class_type(Oid base);

/* A text that is the value itself. */
static inline bool
gnngp_is_string_type(Oid base)
{
	return base == TEXTOID || base == VARCHAROID || base == BPCHAROID;
}

#endif							/* GNNGP_COLUMN_TYPES_H */
