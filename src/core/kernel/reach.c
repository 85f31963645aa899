/*
 * reach.c - what can be had cheaply of each step, and the evaluation's frame.
 *
 * The reach decides which evaluator can serve: pairs of a chain cost one dot
 * product each, the diagonal of S C S' over a chain C costs the pairs of
 * neighbours of each node, and anything deeper needs the full recursion.
 */
#include "graph/walks.h"
#include "kernel.h"

#include <math.h>
#include <string.h>

/* True when the operator contains P(a). */
bool
gp_operator_is_global(const gp_operator *op)
{
	for (int t = 0; t < op->nterms; t++)
		for (int p = 0; p < op->np; p++)
			if (op->term[t].power_p[p] > 0)
				return true;
	return false;
}

/* A step without activation over a linear input has an explicit factor. */
static bool
find_linear(const gp_eval *ev, const gp_step *s)
{
	switch (s->kind)
	{
		case GP_STEP_INPUT:
			return ev->input == GP_INPUT_LINEAR;
		case GP_STEP_BIAS:
			return true;
		case GP_STEP_SCALE:
		case GP_STEP_OP:
			return ev->is_linear[s->arg0];
		case GP_STEP_SUM:
			return ev->is_linear[s->arg0] && ev->is_linear[s->arg1];
		case GP_STEP_RELU:
			return false;
	}
	return false;
}

/* A chain: pointwise stages over one linear step. */
static bool
find_chain(const gp_eval *ev, int step)
{
	const gp_step *s = &ev->program->steps[step];

	if (ev->is_linear[step] || s->kind == GP_STEP_INPUT)
		return true;
	if (s->kind == GP_STEP_SCALE || s->kind == GP_STEP_RELU)
		return ev->is_chain[s->arg0];
	return s->kind == GP_STEP_SUM &&
		((ev->program->steps[s->arg1].kind == GP_STEP_BIAS && ev->is_chain[s->arg0]) ||
		 (ev->program->steps[s->arg0].kind == GP_STEP_BIAS && ev->is_chain[s->arg1]));
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
	const gp_step *s = &ev->program->steps[step];

	if (ev->is_chain[step])
		return GP_REACH_PAIRS;
	switch (s->kind)
	{
		case GP_STEP_SUM:
			/* Two chains have no common factor: only their diagonals add up cheaply. */
			return worse(GP_REACH_DIAGONAL, worse(ev->reach[s->arg0], ev->reach[s->arg1]));
		case GP_STEP_SCALE:
		case GP_STEP_RELU:
			return ev->reach[s->arg0];
		case GP_STEP_OP:
			return ev->is_chain[s->arg0] && !gp_operator_is_global(s->op) &&
				!gp_operator_fills(ev, s->op) ? GP_REACH_DIAGONAL : GP_REACH_NONE;
		default:
			return GP_REACH_PAIRS;
	}
}

/* Finds the properties of all steps, arguments first: a step may be shared by many. */
static void
find_properties(gp_eval *ev)
{
	int			n = ev->program->nsteps;

	ev->is_linear = gp_alloc_zero(ev->env, n, sizeof(bool));
	ev->is_chain = gp_alloc_zero(ev->env, n, sizeof(bool));
	ev->reach = gp_alloc_zero(ev->env, n, sizeof(gp_reach));
	for (int step = 0; step < n; step++)
	{
		ev->is_linear[step] = find_linear(ev, &ev->program->steps[step]);
		ev->is_chain[step] = find_chain(ev, step);
		ev->reach[step] = find_reach(ev, step);
	}
}

/* True when a step has an explicit factor. */
bool
gp_step_is_linear(const gp_eval *ev, int step)
{
	return ev->is_linear[step];
}

/* True when any entry of a step's covariance is cheap. */
bool
gp_step_is_chain(const gp_eval *ev, int step)
{
	return ev->is_chain[step];
}

/* What can be had cheaply of a step. */
gp_reach
gp_step_reach(const gp_eval *ev, int step)
{
	return ev->reach[step];
}

/* A Laplacian input as the graph's floor knows it. */
static gp_laplacian
laplacian_of(const gp_input *input)
{
	const double *p = input->p;

	return (gp_laplacian) {
		.d = (int) p[GP_LAPLACIAN_D],
		.sigma2 = p[GP_LAPLACIAN_SIGMA2],
		.walks = (int) p[GP_LAPLACIAN_WALKS],
		.p_term = p[GP_LAPLACIAN_P_TERM],
		.choice = (gp_walk_choice) p[GP_LAPLACIAN_CHOICE],
		.trim = (gp_walk_trim) p[GP_LAPLACIAN_TRIM],
		.dims = (int64_t) p[GP_LAPLACIAN_DIMS]
	};
}

/* Makes the features that the input kernel takes instead of the user's. */
static void
make_input(gp_eval *ev, const gp_graph *graph, uint64_t seed)
{
	gp_laplacian kernel;

	if (ev->input == GP_INPUT_LAPLACIAN)
	{
		kernel = laplacian_of(&ev->program->input);
		ev->own_x = gp_laplacian_features(ev->dev, graph, &kernel, seed, ev->type);
		ev->input = GP_INPUT_LINEAR;
	}
	else if (ev->x == NULL || ev->input == GP_INPUT_IDENTITY)
	{
		ev->own_x = gp_features_identity(ev->env, ev->n, ev->type);
		ev->x_is_identity = true;
		/* The identity is linear in itself; rbf, poly and arccos of it stay what they are. */
		if (ev->input == GP_INPUT_IDENTITY)
			ev->input = GP_INPUT_LINEAR;
	}
	if (ev->own_x)
		ev->x = ev->own_x;
}

/* Prepares an evaluation. */
void
gp_eval_open(gp_eval *ev, gp_device *dev, const gp_program *program, const gp_graph *graph,
			 const gp_features *features, uint64_t seed, gp_type type)
{
	memset(ev, 0, sizeof(*ev));
	ev->dev = dev;
	ev->env = dev->env;
	ev->program = program;
	ev->n = graph->nodes;
	ev->directed = graph->directed;
	ev->type = type;
	ev->jitter = type == GP_FLOAT ? 1e-5 : 1e-6;
	ev->input = program->input.kind;
	ev->x = features;
	make_input(ev, graph, seed);
	ev->a = gp_graph_normalise(ev->env, graph, program->norm, type);
	ev->linear = gp_alloc_zero(ev->env, program->nsteps, sizeof(gp_linear));
	find_properties(ev);
}

/* Goes on on another device: the dense factors that planning made go along. */
void
gp_eval_move(gp_eval *ev, gp_device *dev)
{
	for (int step = 0; step < ev->program->nsteps && dev != ev->dev; step++)
	{
		gp_matrix  *dense = &ev->linear[step].dense;
		gp_matrix	moved;

		if (dense->data == NULL)
			continue;
		moved = dev->create(dev, dense->rows, dense->cols, dense->type);
		dev->upload(dev, moved, *dense);
		ev->dev->destroy(ev->dev, dense);
		*dense = moved;
	}
	ev->dev = dev;
}

/* Frees what gp_eval_open made. */
void
gp_eval_close(gp_eval *ev)
{
	for (int step = 0; step < ev->program->nsteps; step++)
		gp_linear_free(ev, &ev->linear[step]);
	gp_free(ev->env, ev->linear);
	gp_free(ev->env, ev->is_linear);
	gp_free(ev->env, ev->is_chain);
	gp_free(ev->env, ev->reach);
	gp_features_free(ev->env, ev->own_x);
	gp_csr_free(ev->env, ev->a);
	ev->own_x = NULL;
	ev->a = NULL;
}
