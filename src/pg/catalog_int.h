/*
 * catalog_int.h - what the files of the catalog share.
 */
#ifndef GNNGP_CATALOG_INT_H
#define GNNGP_CATALOG_INT_H

#include "postgres.h"

#include "catalog.h"
#include "fmgr.h"

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
 * Finds the row that a name means, inside SPI that the caller has connected,
 * and returns its number in SPI_tuptable.  42704 when there is none (-1 when
 * missing_ok).  The owner comes first among the columns.
 */
extern int	gnngp_find_named(const gnngp_kind *kind, const char *columns, const char *name,
							 bool missing_ok);

/* Runs a query as the caller, read only, with search_path pinned and row security on. */
extern void gnngp_select(const char *query, int nargs, Oid *types, Datum *values,
						 const char *nulls);

/*
 * Deletes a model, or all models of a graph, with their blocks, grants and log
 * rows, inside SPI that the caller has connected.  column is "id" or "graph".
 */
extern void gnngp_delete_models(const char *column, int64 id);

/* Locks a graph's row until the transaction ends, inside SPI; false when it is gone. */
extern bool gnngp_lock_graph(int64 id, const char *strength);

/* 22004 when an argument is NULL. */
extern char *gnngp_name_argument(FunctionCallInfo fcinfo, int argno, const char *name);

/* SPI_connect and SPI_finish that cannot fail quietly. */
extern void gnngp_spi_connect(void);
extern void gnngp_spi_finish(void);

#endif							/* GNNGP_CATALOG_INT_H */
