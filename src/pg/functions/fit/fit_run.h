/*
 * fit_run.h - one fit of a model's parts in three steps: read, compute, store.
 *
 * gp_fit runs the steps in one transaction; a refresh commits between them, so
 * a run keeps everything that it needs in memory of its own.  The caller has
 * checked ownership, holds the model's lock and has begun the progress report.
 */
#ifndef GNNGP_FIT_RUN_H
#define GNNGP_FIT_RUN_H

#include "pg/reader/reader.h"

typedef struct gnngp_fit_run gnngp_fit_run;

/*
 * Locks the graph's tables and reads them in one snapshot, as the graph's owner.  With strategy sql
 * it also fits the nodes, whose factor is made of the tables in that snapshot.  Settings that are
 * NULL leave out their part; targets are read for the node part alone.  The run lives under parent
 * and needs neither the transaction nor SPI, which the caller may have connected.  NOTICEs of a
 * former model, numbers apart, are not told again; NULL: all are.
 */
extern gnngp_fit_run *gnngp_fit_read(MemoryContext parent, const gnngp_graph_def *graph,
									 const gnngp_fit_settings *settings,
									 const gnngp_link_settings *link_settings,
									 const char *model_name, const gnngp_model *former);

/* What was read for the nodes, or for the links alone. */
extern const gnngp_data *gnngp_fit_data(const gnngp_fit_run *run);

/* Fits each part that reading has not fitted; touches no table and needs no snapshot. */
extern void gnngp_fit_compute(gnngp_fit_run *run);

/*
 * Saves the model row and the blocks of the parts in the current transaction
 * and removes the blocks of earlier versions.  Fills the parts that were fitted
 * of *model, which may be uninitialised and points into the run.
 */
extern void gnngp_fit_store(gnngp_fit_run *run, gnngp_model *model);

#endif							/* GNNGP_FIT_RUN_H */
