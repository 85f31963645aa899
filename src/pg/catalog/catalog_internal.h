/*
 * catalog_internal.h - what the files of the catalog share.
 */
#ifndef GNNGP_CATALOG_INT_H
#define GNNGP_CATALOG_INT_H

#include "postgres.h"

#include "catalog.h"
#include "fmgr.h"
#include "pg/server/server.h"

/* "graph" or "model": which table, and what to tell who looks in vain. */
typedef struct gnngp_kind
{
	const char *noun;
	const char *table;
	const char *hint;
} gnngp_kind;

extern const gnngp_kind gnngp_graph_kind;
extern const gnngp_kind gnngp_model_kind;

/*
 * Finds the row that a name means, inside SPI that the caller has connected: the
 * first of SPI_tuptable.  42704 when there is none (false when missing_ok), 42P09 when
 * several are meant as well, 42501 when it would be another than a grant named before.
 * The owner and the id must be among the columns.
 */
extern bool gnngp_find_named(const gnngp_kind *kind, const char *columns, const char *name,
							 bool missing_ok);

/* True in a session in which another node's session has Citus run a query (citus.c); inside SPI. */
extern bool gnngp_citus_serves_other(void);

/* The same for a row of this id, which is then the first: 42704 when it is gone. */
extern void gnngp_find_id(const gnngp_kind *kind, const char *columns, int64 id);

/* Runs a query as the caller, read only, with search_path pinned and row security on. */
extern void gnngp_select(const char *query, int nargs, Oid *types, Datum *values,
						 const char *nulls);

/*
 * Deletes a model, or all models of a graph, with their blocks, tables, grants and log
 * rows, inside SPI that the caller has connected.  column is "id" or "graph".
 */
extern void gnngp_delete_models(const char *column, int64 id, Oid owner);

/* Tables of predictions, inside SPI: those of models by a column of theirs, "id" or "graph", with those before them, and of edges. */
extern List *gnngp_predictions_of(const char *column, int64 id, bool edges);

/* Drops tables of an owner, and gives them to another one: 55000 where the owner has added to them. */
extern void gnngp_predictions_drop(List *tables, Oid owner);
extern void gnngp_predictions_give(List *tables, Oid owner, Oid new_owner);

/* Drops the packed edges of a graph's models. */
extern void gnngp_edges_forget(const gnngp_graph_def *graph);

/* Drops those that a model had before its last fit, but for what somebody reads, or something depends on. */
extern void gnngp_predictions_prune(const gnngp_model *model);

/* Lets a role (0: everybody) read the tables of a model, or no longer. */
extern void gnngp_predictions_grant(const gnngp_model *model, Oid grantee, bool given);

/*
 * Locks the row of a graph or model until the transaction ends, inside SPI, as
 * "FOR UPDATE" or "FOR KEY SHARE".  Never waits: 55006 when another session is
 * at it, or has given it away since owner was looked up; 42704 when it is gone.
 */
extern void gnngp_lock_row(const gnngp_kind *kind, int64 id, Oid owner, const char *strength,
						   const char *name);

/* Takes the name of a graph that is made or given away, until the transaction ends: 55006 when another session does so. */
extern void gnngp_graph_name_lock(Oid owner, const char *name);

/*
 * Locks a graph and all its models for a change of them all, inside SPI: 55006
 * when a fit, a refresh or another change runs.  Returns the models' names.
 */
extern List *gnngp_lock_whole_graph(const gnngp_graph_def *graph);

/* True when a role exists. */
extern bool gnngp_role_is_alive(Oid role);

/* The oid of the type gp_role, and a role as a value of it; 0 is everybody. */
extern Oid	gnngp_role_type(void);
extern Datum gnngp_role_datum(Oid role);

/* The role in an owner's column, InvalidOid when it is gone, and its text, palloc'd. */
extern Oid	gnngp_role_read(Datum value, char **text);

/* True for the text of a role that is gone. */
extern bool gnngp_role_is_gone(const char *text);

/* The schema of the extension's tables and helpers. */
extern Oid	gnngp_schema_oid(void);

/*
 * Runs one catalog statement as gnngp_execute_as_extension does, but always on
 * what is committed now: a row that came after the transaction's snapshot must
 * not be left behind by what drops or gives away all rows.
 */
extern void gnngp_execute_latest(const char *query, int nargs, Oid *types, Datum *values);

#endif							/* GNNGP_CATALOG_INT_H */
