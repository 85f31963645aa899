/*
 * precision_moments.h - Chebyshev moments of a graph's S, and the mean of a prior's diagonal from
 * them.
 */
#ifndef GP_PRECISION_MOMENTS_H
#define GP_PRECISION_MOMENTS_H

#include "device/device.h"

/* The places of s with its values in another type, which are the caller's. */
extern gp_csr gp_prior_matrix(gp_env *env, const gp_csr *s, gp_type type);

/* tr T_k(S) / n, measured by random signs (Hutchinson 1989); the caller's. */
extern double *gp_prior_moments(gp_device *dev, const gp_csr *s, gp_type type, uint64_t seed);

/* tr (I + s2 L)^-d / n. */
extern double gp_prior_mean(const double *moment, double sigma2, int d);

#endif							/* GP_PRECISION_MOMENTS_H */
