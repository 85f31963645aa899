/*
 * full.c - the whole exact kernel, n x n.
 *
 * Every step works in place: S K S' is S applied to the columns of K, a
 * transposition, and S applied again, which is right for any S because K is
 * symmetric.  A kernel without sums of two deep terms needs one n x n matrix.
 */
#include "prepared.h"

#include <string.h>

/* Visits the block columns of a chain's kernel and adds or writes them to out. */
static void
add_chain(gp_eval *ev, int step, bool add, gp_matrix out)
{
	gp_device  *dev = ev->dev;
	gp_chain	chain = gp_chain_build(ev, step);
	int64_t		width = gp_min64(ev->n, GP_ROW_BLOCK);
	int64_t		height = ev->env->dry ? ev->n : width;	/* n^2 blocks would take their time */
	int32_t    *cols = gp_alloc_array(ev->env, width, sizeof(int32_t));
	gp_matrix	right = dev->create(dev, chain.z->width, width, ev->type);
	gp_matrix	temp = add ? dev->create(dev, width, width, ev->type) : (gp_matrix) {0};

	for (gp_band band = gp_band_first(ev->n, width); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	r = gp_matrix_cols(right, 0, band.count);

		for (int64_t j = 0; j < band.count; j++)
			cols[j] = (int32_t) (band.first + j);
		gp_linear_rows(ev, chain.z, cols, band.count, r);
		for (gp_band down = gp_band_first(ev->n, height); down.count > 0; gp_band_next(&down))
		{
			gp_matrix	part = gp_matrix_part(out, down.first, band.first, down.count, band.count);
			gp_matrix	block = add ? gp_matrix_part(temp, 0, 0, down.count, band.count) : part;

			gp_chain_block(ev, &chain, down.first, down.count, cols, r, block);
			if (add)
				dev->axpby(dev, 1.0, block, 1.0, part);
		}
		ev->env->progress(ev->env, GP_PHASE_KERNEL, band.first + band.count, ev->n);
	}
	dev->destroy(dev, &temp);
	dev->destroy(dev, &right);
	gp_free(ev->env, cols);
	gp_chain_free(ev, &chain);
}

/* The diagonal of a matrix on the device as a vector of double. */
static gp_matrix
diagonal_of(gp_eval *ev, gp_matrix k)
{
	gp_matrix	diag = ev->dev->create(ev->dev, k.rows, 1, GP_DOUBLE);

	ev->dev->copy(ev->dev, diag, gp_matrix_diagonal(k));
	return diag;
}

/* Makes a chain's kernel. */
static gp_matrix
full_chain(gp_pass *pass, int step)
{
	gp_eval    *ev = pass->ev;
	gp_matrix	k = ev->dev->create(ev->dev, ev->n, ev->n, ev->type);

	add_chain(ev, step, false, k);
	return k;
}

/* Computes a step that is no chain. */
static gp_matrix
full_step(gp_pass *pass, int step)
{
	gp_eval    *ev = pass->ev;
	gp_device  *dev = ev->dev;
	const gp_step *s = &ev->kernel->program->steps[step];
	gp_stage	relu = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, {0}};
	gp_matrix	k = gp_pass_take(pass, s->arg0);
	gp_matrix	other;

	switch (s->kind)
	{
		case GP_STEP_OP:
			gp_operator_apply(ev, s->op, k);
			dev->transpose_square(dev, k);
			gp_operator_apply(ev, s->op, k);
			break;
		case GP_STEP_RELU:
			relu.diag = diagonal_of(ev, k);
			dev->map(dev, &relu, k, 0, NULL);
			dev->destroy(dev, &relu.diag);
			break;
		case GP_STEP_SCALE:
			dev->axpby(dev, s->value, k, 0.0, k);
			break;
		case GP_STEP_SUM:
			if (ev->kernel->program->steps[s->arg1].kind == GP_STEP_BIAS)
				dev->shift(dev, k, ev->kernel->program->steps[s->arg1].value);
			else if (gp_step_is_chain(ev, s->arg1))
				add_chain(ev, s->arg1, true, k);
			else
			{
				other = gp_pass_take(pass, s->arg1);
				dev->axpby(dev, 1.0, other, 1.0, k);
				dev->destroy(dev, &other);
			}
			break;
		default:
			gp_raise(ev->env, GP_ERR_INTERNAL, NULL, "step %d has no arguments", step);
	}
	return k;
}

/* The whole exact kernel of a step. */
gp_matrix
gp_eval_full(gp_eval *ev, int step)
{
	gp_pass		pass = {.ev = ev, .chain = full_chain, .compute = full_step};

	return gp_pass_run(&pass, step);
}

