/*
 * given_ids.h - ids of nodes as callers give them and get them.
 *
 * The argument of a call that names nodes is an id of any type, an array of ids,
 * a text that serves ids of every type, or a literal that lists integers; NULL
 * means all nodes.  The rows' ids are of the type of the argument's elements.
 */
#ifndef GNNGP_GIVEN_IDS_H
#define GNNGP_GIVEN_IDS_H

#include "ids.h"

/* How ids come in and out. */
typedef struct gnngp_id_type
{
	const gnngp_model *model;
	Oid			type;			/* as asked for */
	Oid			base;
	bool		string;			/* text or varchar: made without the input function */
	bool		as_text;		/* texts stand for ids that are none */
	bool		as_stored;		/* the same, compared as they are stored: their type is not read */
	const char *shown;			/* then the type of the ids, by the name that users give it */
	FmgrInfo	input;
	Oid			ioparam;
	void	   *domain;			/* what domain_check keeps between calls */
} gnngp_id_type;

/* The nodes that a call names. */
typedef struct gnngp_given_ids
{
	bool		all;			/* no nodes were named */
	int64		n;
	gnngp_id *id;				/* in the order given, until they are sorted */
} gnngp_given_ids;

/* Checks that ids of the model are values of the type; 42804 with a hint when not. */
extern void gnngp_id_type_open(gnngp_id_type *t, const gnngp_model *model, Oid type);

/* The same with the type that an argument's declaration asks for. */
extern void gnngp_id_type_open_argument(gnngp_id_type *t, const gnngp_model *model,
										FunctionCallInfo fcinfo, int argno);

/*
 * The nodes that this argument names, in the current memory context.  A text that is written as an
 * array is a list: drivers send lists without a type.
 */
extern gnngp_given_ids gnngp_given_ids_read(const gnngp_id_type *t, FunctionCallInfo fcinfo,
											int argno);

/* Both. */
extern gnngp_given_ids gnngp_given_ids_argument(gnngp_id_type *t, const gnngp_model *model,
												FunctionCallInfo fcinfo, int argno);

/* 42804 for texts as they are stored, which queries of the tables cannot take. */
extern void gnngp_id_type_require_input(const gnngp_id_type *t);

/* The same of a list beside the nodes: 42804 for an argument that is no array. */
extern gnngp_given_ids gnngp_given_list_argument(const gnngp_model *model, FunctionCallInfo fcinfo,
												 int argno, const char *name);

/* Such a text as one id, for models whose ids are texts; false for every other argument. */
extern bool gnngp_given_ids_as_written(const gnngp_id_type *t, FunctionCallInfo fcinfo, int argno,
									   gnngp_given_ids *given);

#define GNNGP_UNKNOWN_HINT "It has the nodes of its last fit; CALL gp_refresh adds new ones."
#define GNNGP_UNKNOWN_HINT_OF_TASK \
	"It has the rows that its task asked about at its last fit: those that the filter kept, or that had no label."

/* A NOTICE of how many of the nodes that a call names a model does not have, if there are any. */
extern void gnngp_notice_unknown(const gnngp_model *model, int64 unknown, int64 given);

/* Sorts the ids as they are stored, each once and without NULL. */
extern void gnngp_given_ids_sort(gnngp_given_ids *given);

/* The place of an id among sorted ones, or -1. */
extern int64 gnngp_given_ids_find(const gnngp_given_ids *given, const gnngp_id *id);

/* True when an id is among sorted ids, or all are given. */
extern bool gnngp_given_ids_have(const gnngp_given_ids *given, const gnngp_id *id);

/* An id as a value of the type, in the current memory context. */
extern Datum gnngp_id_type_datum(gnngp_id_type *t, const gnngp_id *id);

#endif							/* GNNGP_GIVEN_IDS_H */
