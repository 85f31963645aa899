/*
 * base.h - the lowest folder: everything else includes it.
 *
 * The environment is all that the core knows of its host: memory, errors,
 * interrupts, progress.  Matrices are views of memory that an environment gave.
 * Hashes are seeded, tables have no clusters that a user could choose (hash_table.h),
 * one sort serves every size (sort.h), and names are of ASCII (names.h).  Nothing here knows a
 * graph.
 */
#ifndef GP_BASE_H
#define GP_BASE_H

#include "env.h"
#include "hash.h"
#include "matrix.h"
#include "names.h"

#endif							/* GP_BASE_H */
