/*
 * extension.h - the extension in this database: its schema, its version, and queries of its
 * tables.
 *
 * Reading runs as the caller, so that row-level security decides what there is to see.
 * Writing runs as the tables' owner, for one statement that this library wrote itself, after
 * the owner of the graph or model was checked.  Both pin search_path: a statement must mean
 * the same whoever runs it.
 */
#ifndef GNNGP_EXTENSION_H
#define GNNGP_EXTENSION_H

#include "pg/server/server.h"

/*
 * What all that writes begins with: 25006 in a read-only transaction or on a
 * standby, 55000 when the extension's SQL objects are of another version than
 * this library.  command is for the message, such as "gp_fit".
 */
extern void gnngp_prevent_read_only(const char *command);

/*
 * The schema of the extension's tables and helpers, and that of what users call, for use in a
 * query: 42704 where the extension is not installed.  Statements that run by the functions below,
 * which ask for it, name the first themselves.
 */
#define GNNGP_SCHEMA "gnngp_internal"
extern const char *gnngp_public_schema(void);

extern Oid	gnngp_type(const char *name);

/* Becomes the extension tables' owner, who sees all rows, until gnngp_become_again. */
extern gnngp_identity gnngp_become_extension(void);

/* Who runs a statement on the extension's tables, and on which snapshot. */
typedef enum gnngp_use
{
	GNNGP_SELECT,				/* the caller, row security on, read only */
	GNNGP_SELECT_ALL,			/* the tables' owner, read only on the calling query's snapshot,
								 * which may be parallel */
	GNNGP_WRITE,				/* the tables' owner */
	GNNGP_LATEST				/* the same on what is committed now: a row that came after the
								 * transaction's snapshot must not be left behind by what drops or
								 * gives away all rows */
} gnngp_use;

/* A parameter of a statement. */
typedef struct gnngp_param
{
	Oid			type;
	Datum		value;
	bool		null;
} gnngp_param;

static inline gnngp_param
gnngp_param_int8(int64 value)
{
	return (gnngp_param) {INT8OID, Int64GetDatum(value), false};
}

static inline gnngp_param
gnngp_param_oid(Oid value)
{
	return (gnngp_param) {OIDOID, ObjectIdGetDatum(value), false};
}

/* NULL where there is no text. */
static inline gnngp_param
gnngp_param_text(const char *text)
{
	return (gnngp_param) {TEXTOID, text ? CStringGetTextDatum(text) : (Datum) 0, text == NULL};
}

/* Runs one such statement, with these parameters, inside SPI that the caller has connected. */
#define gnngp_execute(use, query, ...) \
	gnngp_execute_with(use, query, lengthof(((gnngp_param[]) {__VA_ARGS__})), \
					   (const gnngp_param[]) {__VA_ARGS__})
extern void gnngp_execute_with(gnngp_use use, const char *query, int n, const gnngp_param *param);

#endif							/* GNNGP_EXTENSION_H */
