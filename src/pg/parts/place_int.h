/*
 * place_int.h - what the placements share.
 */
#ifndef GNNGP_PLACE_INT_H
#define GNNGP_PLACE_INT_H

#include "postgres.h"

#include "place.h"

/* Names a schema as none is; where several servers share it, the name has that of this one. */
extern void gnngp_place_name_schema(gnngp_place *p, const char *server);

/* Settings of this session for the statements of any placement. */
extern void gnngp_place_pin_settings(void);

/* Takes one number that a query gives. */
extern void gnngp_place_take_number(void *state, const Datum *values, const bool *nulls);

#endif							/* GNNGP_PLACE_INT_H */
