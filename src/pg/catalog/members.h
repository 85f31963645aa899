/*
 * members.h - members of a struct as columns of a catalog's row.
 */
#ifndef GNNGP_MEMBERS_H
#define GNNGP_MEMBERS_H

#include "postgres.h"

/* A column and the member that it is kept in. */
typedef struct gnngp_member
{
	const char *name;			/* of the column */
	Oid			type;			/* how the member is kept in C (members.c) */
	size_t		offset;
} gnngp_member;

/* Loads a column of the first row that SPI has found, palloc'd in the current context. */
extern void gnngp_member_load(const gnngp_member *member, void *record);

/*
 * The type of a parameter that a column is written from (the server casts texts to names),
 * and its value; sets *null.
 */
extern Oid	gnngp_member_type(const gnngp_member *member);
extern Datum gnngp_member_save(const gnngp_member *member, const void *record, bool *null);

#endif							/* GNNGP_MEMBERS_H */
