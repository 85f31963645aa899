/*
 * predict_ids.h - stored ids as values of the type that a caller asked for.
 */
#ifndef GNNGP_PREDICT_IDS_H
#define GNNGP_PREDICT_IDS_H

#include "postgres.h"

#include "catalog.h"
#include "fmgr.h"
#include "store.h"

/* How ids come out. */
typedef struct gnngp_id_type
{
	const gnngp_model *model;
	Oid			type;			/* as asked for */
	Oid			base;
	bool		string;			/* text or varchar: made without the input function */
	FmgrInfo	input;
	Oid			ioparam;
	void	   *domain;			/* what domain_check keeps between calls */
} gnngp_id_type;

/* What to do instead when ids are of another type: formats of the model's quoted name and its ids' type. */
typedef struct gnngp_id_hints
{
	const char *integers;		/* for a model with integer ids; the name alone */
	const char *others;
	const char *kind;			/* what is named: "model" or "graph" */
} gnngp_id_hints;

/* Checks that ids of the model are values of the type; 42804 with a hint when not. */
extern void gnngp_id_type_open(gnngp_id_type *t, const gnngp_model *model, Oid type,
							   const gnngp_id_hints *hints);

/* The name of the model's id type for messages. */
extern const char *gnngp_id_type_name(const gnngp_model *model);

/* The id of a row as a value of the type, in the current memory context. */
extern Datum gnngp_id_type_datum(gnngp_id_type *t, const gnngp_node_row *row);

/* The key of a value of the type; *text and *length are set for ids that are no integers. */
extern int64 gnngp_id_type_key(const gnngp_id_type *t, Datum value, const char **text,
							   int *length);

#endif							/* GNNGP_PREDICT_IDS_H */
