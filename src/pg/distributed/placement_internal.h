/*
 * placement_internal.h - what the placements share.
 */
#ifndef GNNGP_PLACE_INT_H
#define GNNGP_PLACE_INT_H

#include "postgres.h"

#include "placement.h"

/* Names a schema as none is, and nobody can guess. */
extern void gnngp_place_name_schema(gnngp_place *p);

/* Settings of this session for the statements of any placement. */
extern void gnngp_place_pin_settings(gnngp_place *p);

/* The rows of a table, wherever it lies. */
extern int64 gnngp_place_count_rows(gnngp_place *p, const char *table);

#endif							/* GNNGP_PLACE_INT_H */
