/*
 * catalog_internal.h - what the files of the catalog share.
 */
#ifndef GNNGP_CATALOG_INTERNAL_H
#define GNNGP_CATALOG_INTERNAL_H

#include "catalog.h"

/* "graph" or "model": which table, and the hint where there is no such row. */
typedef struct gnngp_kind
{
	const char *noun;
	const char *table;
	const char *view;			/* of its rows, with columns as they are now */
	const char *hint;
} gnngp_kind;

extern const gnngp_kind gnngp_graph_kind;
extern const gnngp_kind gnngp_model_kind;

/*
 * Deletes a model, or all models of a graph, with their blocks, grants and log
 * rows, inside SPI that the caller has connected.  column is "id" or "graph".
 */
extern void gnngp_delete_models(const char *column, int64 id);

/*
 * Locks the row of a graph or model until the transaction ends, inside SPI, as
 * "FOR UPDATE" or "FOR KEY SHARE".  Never waits: 55006 when another session is
 * at it, or has given it away since owner was looked up; 42704 when it is gone.
 */
extern void gnngp_lock_row(const gnngp_kind *kind, int64 id, Oid owner, const char *strength,
						   const char *name);

/* Locks the name of a graph that is made or given away: 55006 when another session does so. */
extern void gnngp_graph_name_lock(Oid owner, const char *name);

/*
 * Locks a graph and all its models for a change of them all, inside SPI: 55006
 * when a fit, a refresh or another change runs.  Returns the models' names.
 */
extern List *gnngp_lock_whole_graph(const gnngp_graph_def *graph);

extern bool gnngp_role_is_alive(Oid role);

/* A role as a value of the type gp_role; 0 is everybody. */
extern gnngp_param gnngp_role_param(Oid role);

/* The role in an owner's column, InvalidOid when it is gone. */
extern Oid	gnngp_role_read(Datum value);

/* True for the text of a role that is gone. */
extern bool gnngp_role_is_gone(const char *text);

/* ---- members of a struct as columns of a catalog's row (members.c) ---- */

/* A column and the member that it is kept in. */
typedef struct gnngp_member
{
	const char *name;			/* of the column */
	Oid			type;			/* how the member is kept in C (members.c) */
	size_t		offset;
	/* of a model's row */
	int			part;			/* that the column belongs to; 0: both */
	bool		null_for_zero;
} gnngp_member;

/* Loads columns of the first row that SPI has found, palloc'd in the current context. */
extern void gnngp_members_load(const gnngp_member *member, int n, void *record);

/*
 * Loads those of the row that a name means or, without one, that has an id: 42704 when there is
 * none (false when missing_ok), 42P09 when several are meant as well, 42501 when it would be
 * another than a grant named before (names.c).
 */
extern bool gnngp_find_record(const gnngp_kind *kind, const char *name, int64 id, bool missing_ok,
							  const gnngp_member *member, int n, void *record);

/* The parameter that a column is written from; the server casts texts to names. */
extern gnngp_param gnngp_member_save(const gnngp_member *member, const void *record);

/*
 * Writes these columns of the row of an id, all but the first, which is its owner; id 0: of a new
 * row.  Returns the id, 0 where there is a row of this owner and name, inside SPI.
 */
extern int64 gnngp_members_write(const gnngp_kind *kind, const gnngp_member *member, int n,
								 const gnngp_param *param, int64 id);

#endif							/* GNNGP_CATALOG_INTERNAL_H */
