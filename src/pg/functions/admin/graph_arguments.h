/*
 * graph_arguments.h - arguments that name the tables and columns of a graph.
 */
#ifndef GNNGP_GRAPH_ARGUMENTS_H
#define GNNGP_GRAPH_ARGUMENTS_H

#include "postgres.h"

#include "fmgr.h"
#include "pg/catalog/catalog.h"

/* A text array argument, which is not NULL; 22004 for NULL among its elements. */
extern gnngp_texts gnngp_texts_argument(FunctionCallInfo fcinfo, int argno, const char *name);

/* The name that a table has now; NULLs for no table. */
extern gnngp_source_name gnngp_source_name_of(Oid table);

#endif							/* GNNGP_GRAPH_ARGUMENTS_H */
