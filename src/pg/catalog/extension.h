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
extern const char *gnngp_schema(void);
extern const char *gnngp_public_schema(void);

/* A type of the extension. */
extern Oid	gnngp_type(const char *name);

/* Becomes the extension tables' owner, who sees all rows, until gnngp_become_again. */
extern gnngp_identity gnngp_become_extension(void);

/*
 * Runs one catalog statement as the extension's owner, with search_path pinned
 * to pg_catalog, inside SPI that the caller has connected.
 */
extern void gnngp_execute_as_extension(const char *query, int nargs, Oid *types,
									   Datum *values, const char *nulls);

/* The same for a query: read only, on the calling query's snapshot, which may be parallel. */
extern void gnngp_select_as_extension(const char *query, int nargs, Oid *types, Datum *values);

/* Runs a query as the caller, read only, with search_path pinned and row security on. */
extern void gnngp_select(const char *query, int nargs, Oid *types, Datum *values,
						 const char *nulls);

/*
 * Runs one catalog statement as gnngp_execute_as_extension does, but always on
 * what is committed now: a row that came after the transaction's snapshot must
 * not be left behind by what drops or gives away all rows.
 */
extern void gnngp_execute_latest(const char *query, int nargs, Oid *types, Datum *values);

#endif							/* GNNGP_EXTENSION_H */
