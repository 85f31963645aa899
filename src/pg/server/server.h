/*
 * server.h - the server as the core sees it.
 *
 * The environment in memory contexts, the account of what a backend holds,
 * settings, progress, arguments of calls, statements and their rows, who the user is, and the
 * choice of the device that a computation runs on.
 * This floor knows no table: neither the catalog's nor the user's.
 */
#ifndef GNNGP_HOST_H
#define GNNGP_HOST_H

#include "account.h"
#include "arguments.h"
#include "compute.h"
#include "env_pg.h"
#include "little_endian.h"
#include "progress.h"
#include "settings.h"
#include "spi.h"

#endif							/* GNNGP_HOST_H */
