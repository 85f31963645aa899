/*
 * landmarks.h - low-rank factors beyond a fit: what links and groups take.
 */
#ifndef GP_LANDMARKS_H
#define GP_LANDMARKS_H

#include "infer.h"
#include "kernel/kernel.h"

/* landmarks.c: ascending, at most count, twins dropped. */
extern int32_t *gp_landmarks_choose(gp_eval *ev, const gp_problem *problem, int64_t count,
									int64_t *n);
/* How many landmarks an automatic fit takes before twins are dropped. */
extern int64_t gp_landmarks_automatic(gp_eval *ev, const gp_problem *problem);

/* power.c: refuses kernels with a power where nothing takes it. */
extern void gp_power_refuse(gp_env *env, const gp_program *program);

/* dense_factor.c: all panels side by side, nodes x rank float; owned by the caller. */
extern gp_matrix gp_factor_dense(gp_eval *ev, const gp_factor *f);

/* plan.c: refuses explicit factors of the program's steps that would not fit, before they are made. */
extern void gp_plan_check_factors(gp_eval *ev, double limit);

#endif							/* GP_LANDMARKS_H */
