/*
 * identity.h - who the user is while tables that are not the extension's are read or written.
 */
#ifndef GNNGP_IDENTITY_H
#define GNNGP_IDENTITY_H

#include "postgres.h"

/* Who was the user before another one was taken. */
typedef struct gnngp_identity
{
	Oid			user;
	int			context;
	int			level;			/* of settings */
} gnngp_identity;

/*
 * Becomes a role that can do nothing but what the statements say, on a level of settings of its own;
 * the second pins search_path and row security, too.  The third is the user before again.
 */
extern gnngp_identity gnngp_become(Oid role);
extern gnngp_identity gnngp_become_owner(Oid owner);
extern void gnngp_become_again(const gnngp_identity *saved);

#endif							/* GNNGP_IDENTITY_H */
