/*
 * read_trust.h - whose code a superuser runs by reading a table.
 */
#ifndef GNNGP_READ_TRUST_H
#define GNNGP_READ_TRUST_H

#include "postgres.h"

#include "nodes/pg_list.h"

/*
 * For a plan over a table, of this name, that is about to be made, and whose relations are locked:
 * 42501 where the present user is a superuser and reading them runs code of a role that is none.
 */
extern void gnngp_require_trust(const char *table, List *relations);

#endif							/* GNNGP_READ_TRUST_H */
