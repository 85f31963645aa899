/*
 * citus.h - what one has to know of Citus, where it is installed.
 */
#ifndef GNNGP_CITUS_H
#define GNNGP_CITUS_H

#include "postgres.h"

/* True in a session in which another node's session has Citus run a query; inside SPI. */
extern bool gnngp_citus_serves_other(void);

/* True for a table whose rows Citus has spread over nodes. */
extern bool gnngp_citus_has_table(Oid table);

/*
 * Has Citus, where it is loaded, use one connection to each server from now on, in a nest level of
 * settings: with more of them a table's definition cannot change.
 */
extern void gnngp_citus_prepare(void);

#endif							/* GNNGP_CITUS_H */
