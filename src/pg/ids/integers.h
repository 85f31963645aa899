/*
 * integers.h - the type gp_integers: an array of bigint, which integers of all sizes become.
 */
#ifndef GNNGP_INTEGERS_H
#define GNNGP_INTEGERS_H

#include "postgres.h"

/* True for gp_integers, whose values are arrays of bigint. */
extern bool gnngp_is_integers(Oid type);

#endif							/* GNNGP_INTEGERS_H */
