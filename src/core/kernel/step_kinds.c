/*
 * step_kinds.c - the table of step kinds: what is true of each whatever evaluates it.
 */
#include "kernel.h"

static const gp_step_nature nature[] = {
	[GP_STEP_INPUT] = {.arguments = 0, .linear = true, .pointwise = true, .panel = true},
	[GP_STEP_BIAS] = {.arguments = 0, .linear = true, .constant = true},
	[GP_STEP_SCALE] = {.arguments = 1, .linear = true, .pointwise = true},
	[GP_STEP_OP] = {.arguments = 1, .linear = true, .gathers = true},
	[GP_STEP_RELU] = {.arguments = 1, .pointwise = true, .panel = true},
	[GP_STEP_SUM] = {.arguments = 2, .linear = true}
};

/* What is true of a step. */
const gp_step_nature *
gp_step_nature_of(const gp_step *s)
{
	return &nature[s->kind];
}
