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
visit_chain(gp_eval *ev, int step, bool add, gp_matrix out)
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

/* Makes a chain's kernel. */
static gp_matrix
full_chain(gp_pass *pass, int step)
{
	gp_eval    *ev = pass->ev;
	gp_matrix	k = ev->dev->create(ev->dev, ev->n, ev->n, ev->type);

	visit_chain(ev, step, false, k);
	return k;
}

/* Adds a chain's kernel, of which only a block is held. */
static void
add_chain(gp_pass *pass, int step, gp_matrix k)
{
	visit_chain(pass->ev, step, true, k);
}

/* S K S' in place of K. */
static gp_matrix
full_operator(gp_pass *pass, const gp_step *s)
{
	gp_device  *dev = pass->ev->dev;
	gp_matrix	k = gp_pass_take(pass, s->arg0);

	gp_operator_apply(pass->ev, s->op, k);
	dev->transpose_square(dev, k);
	gp_operator_apply(pass->ev, s->op, k);
	return k;
}

/* K <- g(K), whose diagonal is its own. */
static void
full_relu(gp_pass *pass, int arg, gp_matrix k)
{
	gp_device  *dev = pass->ev->dev;
	gp_stage	relu = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, dev->create(dev, k.rows, 1, GP_DOUBLE)};

	dev->copy(dev, relu.diag, gp_matrix_diagonal(k));
	dev->map(dev, &relu, k, 0, NULL);
	dev->destroy(dev, &relu.diag);
}

/* The whole exact kernel of a step. */
gp_matrix
gp_eval_full(gp_eval *ev, int step)
{
	gp_pass		pass = {.ev = ev, .chain = full_chain, .gather = full_operator, .relu = full_relu,
	.add_chain = add_chain, .shifts = true};

	return gp_pass_run(&pass, step);
}
