/*
 * server.h - the server as the core sees it, and what of its own headers most files need.
 *
 * The environment in memory contexts, the account of what a backend holds,
 * settings, progress, arguments of calls, statements and their rows, who the user is, and the
 * choice of the device that a computation runs on.
 * This folder knows no table: neither the catalog's nor the user's.
 */
#ifndef GNNGP_SERVER_H
#define GNNGP_SERVER_H

#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "arguments.h"
#include "compute.h"
#include "env_pg.h"
#include "little_endian.h"
#include "progress.h"
#include "raise.h"
#include "settings.h"
#include "spi.h"

#endif							/* GNNGP_SERVER_H */
