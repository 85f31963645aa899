/*
 * progress.h - long work, visible from other sessions.
 */
#ifndef GNNGP_PROGRESS_H
#define GNNGP_PROGRESS_H

#include "core/base/base.h"
#include "core/device/device.h"

/* Starts the report; model is at most 63 bytes.  An abort ends it by itself. */
extern void gnngp_progress_begin(const char *model);

/*
 * total <= 0 means that the end is not known; NAN that there is no objective.  Ignored when no
 * report has begun.
 */
extern void gnngp_progress_set(gp_phase phase, int64 done, int64 total, double objective);

/* True while a report is on. */
extern bool gnngp_progress_is_on(void);

/* Tells it again after a statement that makes a table: an index's progress took its place. */
extern void gnngp_progress_again(void);

#define GNNGP_CPU_PACE 3e10		/* weighed operations a second of one idle thread in a whole fit */
#define GNNGP_LONG_SECONDS 10.0 /* a fit that is expected to take longer says so before it begins */

/*
 * Says how much each of n parts will compute on a device, as plans weigh it, before the first
 * begins: a NOTICE where that takes long.  Ignored where a report is off, or knows already.
 * After gnngp_progress_last it is the plan of the last part, which replaces what was expected.
 */
extern void gnngp_progress_expect(const gp_device *device, int n, const double *effort);

/* So many of these parts are done: what is left will go on at their pace. */
extern void gnngp_progress_reach(int n);

/* The last part begins, which is then planned. */
extern void gnngp_progress_last(void);

/* Ends the report; every normal end of a command must. */
extern void gnngp_progress_end(void);

#endif							/* GNNGP_PROGRESS_H */
