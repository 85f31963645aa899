/*
 * reach.c - what can be had cheaply of each step.
 *
 * The reach decides which evaluator can serve: pairs of a chain cost one dot
 * product each, the diagonal of S C S' over a chain C costs the pairs of
 * neighbours of each node, and anything deeper needs the full recursion.
 */
#include "prepared.h"

/* A step without activation over a linear input has an explicit factor. */
static bool
find_linear(const gp_eval *ev, const gp_step *s)
{
	switch (s->kind)
	{
		case GP_STEP_INPUT:
			return ev->kernel->input == GP_INPUT_LINEAR;
		case GP_STEP_BIAS:
			return true;
		case GP_STEP_SCALE:
		case GP_STEP_OP:
			return ev->kernel->is_linear[s->arg0];
		case GP_STEP_SUM:
			return ev->kernel->is_linear[s->arg0] && ev->kernel->is_linear[s->arg1];
		case GP_STEP_RELU:
			return false;
	}
	return false;
}

/* A chain: pointwise stages over one linear step. */
static bool
find_chain(const gp_eval *ev, int step)
{
	const gp_step *s = &ev->kernel->program->steps[step];

	if (ev->kernel->is_linear[step] || s->kind == GP_STEP_INPUT)
		return true;
	if (s->kind == GP_STEP_SCALE || s->kind == GP_STEP_RELU)
		return ev->kernel->is_chain[s->arg0];
	return s->kind == GP_STEP_SUM &&
		((ev->kernel->program->steps[s->arg1].kind == GP_STEP_BIAS && ev->kernel->is_chain[s->arg0]) ||
		 (ev->kernel->program->steps[s->arg0].kind == GP_STEP_BIAS && ev->kernel->is_chain[s->arg1]));
}

/* The worse of two reaches. */
static gp_reach
worse(gp_reach a, gp_reach b)
{
	return a > b ? a : b;
}

/* What can be had cheaply of a step. */
static gp_reach
find_reach(gp_eval *ev, int step)
{
	const gp_step *s = &ev->kernel->program->steps[step];

	if (ev->kernel->is_chain[step])
		return GP_REACH_PAIRS;
	switch (s->kind)
	{
		case GP_STEP_SUM:
			/* Two chains have no common factor: only their diagonals add up cheaply. */
			return worse(GP_REACH_DIAGONAL, worse(ev->kernel->reach[s->arg0], ev->kernel->reach[s->arg1]));
		case GP_STEP_SCALE:
		case GP_STEP_RELU:
			return ev->kernel->reach[s->arg0];
		case GP_STEP_OP:
			return ev->kernel->is_chain[s->arg0] && !gp_operator_is_global(s->op) &&
				!gp_operator_fills(ev, s->op) ? GP_REACH_DIAGONAL : GP_REACH_NONE;
		default:
			return GP_REACH_PAIRS;
	}
}

/* Finds the properties of all steps, arguments first: a step may be shared by many. */
void
gp_find_properties(gp_eval *ev)
{
	int			n = ev->kernel->program->nsteps;

	ev->kernel->is_linear = gp_alloc_zero(ev->env, n, sizeof(bool));
	ev->kernel->is_chain = gp_alloc_zero(ev->env, n, sizeof(bool));
	ev->kernel->reach = gp_alloc_zero(ev->env, n, sizeof(gp_reach));
	for (int step = 0; step < n; step++)
	{
		ev->kernel->is_linear[step] = find_linear(ev, &ev->kernel->program->steps[step]);
		ev->kernel->is_chain[step] = find_chain(ev, step);
		ev->kernel->reach[step] = find_reach(ev, step);
	}
}

/* True when a step has an explicit factor. */
bool
gp_step_is_linear(const gp_eval *ev, int step)
{
	return ev->kernel->is_linear[step];
}

/* True when any entry of a step's covariance is cheap. */
bool
gp_step_is_chain(const gp_eval *ev, int step)
{
	return ev->kernel->is_chain[step];
}

/* What can be had cheaply of a step. */
gp_reach
gp_step_reach(const gp_eval *ev, int step)
{
	return ev->kernel->reach[step];
}
