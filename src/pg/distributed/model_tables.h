/*
 * model_tables.h - what the files on the tables of models share.  All of it works inside SPI.
 */
#ifndef GNNGP_MODEL_TABLES_H
#define GNNGP_MODEL_TABLES_H

#include "postgres.h"

#include "pg/catalog/catalog_internal.h"
#include "nodes/pg_list.h"

/* The name of a table in a statement; NULL when there is none, or it is no longer a table of the owner's. */
extern const char *gnngp_table_name(Oid table, Oid owner);

/* Runs one statement, as the current user. */
extern void gnngp_table_execute(const char *statement);

/* Runs a query about oids and a name, those of which it takes, on what is committed now; then the first column of one of its rows. */
extern uint64 gnngp_table_ask(const char *query, Oid a, Oid b, const char *name);
extern char *gnngp_table_answer(uint64 row);

/* A list of tables by a query of the catalog about a model. */
extern List *gnngp_tables_list(const char *query, int64 model);

/* Works on one table of a model's. */
typedef void (*gnngp_table_work) (Oid table, const char *quoted, void *arg);

/* Works on tables as their owner; those that are no longer his are left alone. */
extern void gnngp_tables_each(List *tables, Oid owner, gnngp_table_work work, void *arg);

/*
 * Locks tables of an owner with their partitions until the transaction ends, for what drops or alters them (table_lock.c): never waits for
 * who reads one, 55006.
 */
extern void gnngp_tables_lock(List *tables, Oid owner);

/* Locks one where nobody is at it, else returns false and leaves no lock; and gives it free again. */
extern bool gnngp_table_lock_unused(Oid table);
extern void gnngp_table_unlock(Oid table);

/* Takes the rights of all but its owner from a table and its partitions, as the owner (prediction_rights.c). */
extern void gnngp_table_make_private(Oid table);

/* True where the owner of a graph may make a table beside its nodes (prediction_table.c). */
extern bool gnngp_tables_may_make(const gnngp_graph_def *graph);

#endif							/* GNNGP_MODEL_TABLES_H */
