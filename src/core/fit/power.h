/*
 * power.h - the spectrum of a factor, and factors of powers.
 */
#ifndef GP_POWER_H
#define GP_POWER_H

#include "fit_internal.h"

/* The eigenproblem of Q'Q / n, or its leading part. */
typedef struct gp_spectrum
{
	gp_matrix	v;				/* columns of Q x kept double; the device's */
	double	   *w;				/* ascending, not negative */
	int64_t		kept;
} gp_spectrum;

extern gp_spectrum gp_spectrum_take(gp_eval *ev, const gp_factor *f);
extern void gp_spectrum_free(gp_eval *ev, gp_spectrum *s);

/* V diag(w / w_max)^((p-1)/2), owned by the caller: F = Q times it. */
extern gp_matrix gp_spectrum_directions(gp_eval *ev, const gp_spectrum *s, double p);

/* The mean of |f_i|^2. */
extern double gp_spectrum_mean(const gp_eval *ev, const gp_spectrum *s, double p);

/* The factor F of all nodes, one panel; the former factor goes. */
extern gp_factor *gp_spectrum_factor(gp_eval *ev, gp_factor *f, const gp_spectrum *s, double p);

#endif							/* GP_POWER_H */
