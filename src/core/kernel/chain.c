/*
 * chain.c - covariances that cost one dot product an entry.
 *
 * A chain is a linear factor Z followed by pointwise stages, each of which
 * needs the variances before it.  Any block of its covariance is one product of
 * rows of Z and a map, so no evaluator ever stores more of it than it needs.
 */
#include "prepared.h"

/* The variances after the stages so far; owned by the caller. */
static gp_matrix
current_diag(gp_eval *ev, const gp_chain *chain)
{
	gp_matrix	diag = ev->dev->create(ev->dev, ev->n, 1, GP_DOUBLE);

	if (chain->nstages == 0)
	{
		gp_linear_diagonal(ev, chain->z, diag);
		return diag;
	}
	const gp_stage *last = &chain->stage[chain->nstages - 1];
	ev->dev->copy(ev->dev, diag, last->diag);
	ev->dev->map_diag(ev->dev, last, diag);
	return diag;
}

static void
push_stage(gp_eval *ev, gp_chain *chain, gp_map map, double p1, double p2)
{
	gp_matrix	diag = current_diag(ev, chain);

	chain->stage[chain->nstages++] = (gp_stage) {map, p1, p2, 1.0, 0.0, diag};
}

/* Scales the covariance so far: the last stage's, or a stage of its own. */
static void
scale_chain(gp_eval *ev, gp_chain *chain, double factor, double shift)
{
	if (chain->nstages == 0)
		push_stage(ev, chain, GP_MAP_NONE, 0.0, 0.0);
	gp_stage   *last = &chain->stage[chain->nstages - 1];
	last->scale *= factor;
	last->shift = last->shift * factor + shift;
}

/* The step under that of a chain; -1 under the lowest, whose linear factor it has. */
static int
step_below(const gp_eval *ev, int step)
{
	const gp_step *s = &ev->kernel->program->steps[step];

	if (gp_step_is_linear(ev, step) || s->kind == GP_STEP_INPUT)
		return -1;
	if (s->kind == GP_STEP_SUM && ev->kernel->program->steps[s->arg1].kind != GP_STEP_BIAS)
		return s->arg1;
	return s->arg0;
}

/* Adds what a step does to the chain under it. */
static void
push_step(gp_eval *ev, gp_chain *chain, int step)
{
	const gp_step *s = &ev->kernel->program->steps[step];
	const double *p = ev->kernel->program->input.p;
	gp_input_kind input = ev->kernel->input;
	/* of <x, y>; other inputs are <x, y> itself */
	gp_map		map = input == GP_INPUT_RBF ? GP_MAP_RBF : input == GP_INPUT_POLY ? GP_MAP_POLY :
		input == GP_INPUT_ARCCOS ? GP_MAP_RELU : GP_MAP_NONE;
	const gp_step *below;
	double		scale;

	if (gp_step_is_linear(ev, step))
		return;
	switch (s->kind)
	{
		case GP_STEP_INPUT:
			if (map != GP_MAP_NONE)
				push_stage(ev, chain, map, p[0], p[1]);
			break;
		case GP_STEP_SCALE:
			scale_chain(ev, chain, s->value, 0.0);
			break;
		case GP_STEP_RELU:
			push_stage(ev, chain, GP_MAP_RELU, 0.0, 0.0);
			break;
		case GP_STEP_UNIT:
			if (!gp_unit_kept(ev, GP_UNIT_CHAIN, step, &scale))
			{
				gp_matrix	diag = current_diag(ev, chain);

				scale = gp_unit_note(ev, GP_UNIT_CHAIN, step, gp_mean_entry(ev->dev, diag));
				ev->dev->destroy(ev->dev, &diag);
			}
			scale_chain(ev, chain, scale, 0.0);
			break;
		case GP_STEP_SUM:
			below = &ev->kernel->program->steps[s->arg1];
			if (below->kind != GP_STEP_BIAS)
				below = &ev->kernel->program->steps[s->arg0];
			scale_chain(ev, chain, 1.0, below->value);
			break;
		default:
			assert(false);
	}
}

gp_chain
gp_chain_build(gp_eval *ev, int step)
{
	gp_chain	chain;
	int		   *path = gp_alloc_array(ev->env, step + 1, sizeof(int));
	int			n = 0;

	memset(&chain, 0, sizeof(chain));
	for (int at = step; at >= 0; at = step_below(ev, at))
		path[n++] = at;
	chain.z = gp_linear_of_step(ev, path[n - 1]);
	chain.stage = gp_alloc_array(ev->env, n, sizeof(gp_stage));
	while (n > 0)
		push_step(ev, &chain, path[--n]);
	gp_free(ev->env, path);
	chain.diag = current_diag(ev, &chain);
	return chain;
}

void
gp_chain_free(gp_eval *ev, gp_chain *chain)
{
	for (int k = 0; k < chain->nstages; k++)
		ev->dev->destroy(ev->dev, &chain->stage[k].diag);
	gp_free(ev->env, chain->stage);
	ev->dev->destroy(ev->dev, &chain->diag);
}

void
gp_chain_block(gp_eval *ev, const gp_chain *chain, int64_t row0, int64_t rows,
			   const int32_t *cols, gp_matrix right, gp_matrix out)
{
	gp_linear_times(ev, chain->z, row0, rows, right, 0.0, out);
	for (int k = 0; k < chain->nstages; k++)
		ev->dev->map(ev->dev, &chain->stage[k], out, row0, cols);
}
