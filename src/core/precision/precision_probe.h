/*
 * precision_probe.h - what probes of a diagonal need: signs, colours, and which labels are alone.
 */
#ifndef GP_PRECISION_PROBE_H
#define GP_PRECISION_PROBE_H

#include "device/device.h"

/* The sign of a node among the probes of its colour. */
extern double gp_probe_sign(uint64_t seed, int32_t node);

/*
 * Colours n nodes (NULL: all of them) so that neighbours differ where possible; each its own
 * where there are as many colours.  Owned by the caller.
 */
extern int32_t *gp_probe_colours(gp_env *env, const gp_csr *s, const int32_t *node, int64_t n,
								 int32_t colours);

/*
 * Labels of which no other label can know anything, being alone in their component: without theirs
 * the posterior mean is exactly 0, and rounding must not hint at the class.  Owned by the caller.
 */
extern bool *gp_probe_alone(gp_env *env, const gp_csr *s, const int32_t *labelled, int64_t n);

#endif							/* GP_PRECISION_PROBE_H */
