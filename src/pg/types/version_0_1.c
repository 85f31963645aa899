/*
 * version_0_1.c - what the SQL objects of version 0.1.0 call, beside what is called today.
 *
 * CREATE FUNCTION looks for them when 0.1.0 is installed, and a database that has not
 * been updated compares and hashes with them.  From 0.2.0 on the server's own functions
 * are named in SQL.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"

/* A function of the server under a former name. */
#define FORMER(name, function) \
	PG_FUNCTION_INFO_V1(name); \
	Datum name(PG_FUNCTION_ARGS) { return function(fcinfo); }

FORMER(gnngp_value_send, byteasend)
FORMER(gnngp_value_eq, byteaeq)
FORMER(gnngp_value_ne, byteane)
FORMER(gnngp_value_hash, hashvarlena)
FORMER(gnngp_value_hash_extended, hashvarlenaextended)
FORMER(gnngp_kernel_out, textout)
FORMER(gnngp_kernel_send, textsend)
FORMER(gnngp_kernel_eq, byteaeq)
FORMER(gnngp_kernel_ne, byteane)
FORMER(gnngp_kernel_lt, bytealt)
FORMER(gnngp_kernel_le, byteale)
FORMER(gnngp_kernel_gt, byteagt)
FORMER(gnngp_kernel_ge, byteage)
FORMER(gnngp_kernel_cmp, byteacmp)
FORMER(gnngp_kernel_hash, hashvarlena)
FORMER(gnngp_kernel_hash_extended, hashvarlenaextended)
