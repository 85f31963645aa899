/*
 * kernel_full.c - the whole exact kernel, n x n.
 *
 * The recursion works in place: S K S' is S applied to the columns of K, a
 * transposition, and S applied again, which is right for any S because K is
 * symmetric.  A kernel without sums of two deep terms needs one n x n matrix.
 */
#include "kernel_eval.h"

#include <string.h>

/* Results that several steps use, kept until the last of them has taken its copy. */
typedef struct full_cache
{
	gp_eval    *ev;
	int		   *uses;			/* left, for each step */
	gp_matrix  *kept;			/* data NULL: not computed yet */
} full_cache;

static gp_matrix full_step(full_cache *cache, int step);

/* Visits the block columns of a chain's kernel and adds or writes them to out. */
static void
add_chain(gp_eval *ev, int step, bool add, gp_matrix out)
{
	gp_device  *dev = ev->dev;
	gp_chain	chain = gp_chain_build(ev, step);
	int64_t		width = ev->n < GP_ROW_BLOCK ? ev->n : GP_ROW_BLOCK;
	int32_t    *cols = gp_alloc_array(ev->env, width, sizeof(int32_t));
	gp_matrix	right = dev->create(dev, chain.z->width, width, ev->type);
	gp_matrix	temp = add ? dev->create(dev, width, width, ev->type) : (gp_matrix) {0};

	for (int64_t c = 0; c < ev->n; c += width)
	{
		int64_t		ncols = ev->n - c < width ? ev->n - c : width;
		gp_matrix	r = gp_matrix_cols(right, 0, ncols);

		for (int64_t j = 0; j < ncols; j++)
			cols[j] = (int32_t) (c + j);
		gp_linear_rows(ev, chain.z, cols, ncols, r);
		for (int64_t row = 0; row < ev->n; row += width)
		{
			int64_t		rows = ev->n - row < width ? ev->n - row : width;
			gp_matrix	part = gp_matrix_part(out, row, c, rows, ncols);
			gp_matrix	block = add ? gp_matrix_part(temp, 0, 0, rows, ncols) : part;

			gp_chain_block(ev, &chain, row, rows, cols, r, block);
			if (add)
				dev->axpby(dev, 1.0, block, 1.0, part);
		}
		ev->env->progress(ev->env, GP_PHASE_KERNEL, c + ncols, ev->n);
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

/* Computes a step that is no chain. */
static gp_matrix
compute(full_cache *cache, int step)
{
	gp_eval    *ev = cache->ev;
	gp_device  *dev = ev->dev;
	const gp_step *s = &ev->program->steps[step];
	gp_stage	relu = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, {0}};
	gp_matrix	k = full_step(cache, s->arg0);
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
			if (ev->program->steps[s->arg1].kind == GP_STEP_BIAS)
				dev->shift(dev, k, ev->program->steps[s->arg1].value);
			else if (gp_step_is_chain(ev, s->arg1))
				add_chain(ev, s->arg1, true, k);
			else
			{
				other = full_step(cache, s->arg1);
				dev->axpby(dev, 1.0, other, 1.0, k);
				dev->destroy(dev, &other);
			}
			break;
		default:
			gp_raise(ev->env, GP_ERR_INTERNAL, NULL, "step %d has no arguments", step);
	}
	return k;
}

/* The kernel of a step, owned by the caller. */
static gp_matrix
full_step(full_cache *cache, int step)
{
	gp_eval    *ev = cache->ev;
	gp_device  *dev = ev->dev;
	gp_matrix	k;

	if (gp_step_is_chain(ev, step))
	{
		k = dev->create(dev, ev->n, ev->n, ev->type);
		add_chain(ev, step, false, k);
		return k;
	}
	if (cache->kept[step].data == NULL)
		cache->kept[step] = compute(cache, step);
	k = cache->kept[step];
	if (--cache->uses[step] > 0)
	{
		gp_matrix	copy = dev->create(dev, ev->n, ev->n, ev->type);

		dev->copy(dev, copy, k);
		return copy;
	}
	cache->kept[step].data = NULL;
	return k;
}

/* The whole exact kernel of a step. */
gp_matrix
gp_eval_full(gp_eval *ev, int step)
{
	full_cache	cache = {ev, NULL, NULL};
	gp_matrix	k;

	cache.uses = gp_alloc_zero(ev->env, ev->program->nsteps, sizeof(int));
	cache.kept = gp_alloc_zero(ev->env, ev->program->nsteps, sizeof(gp_matrix));
	gp_step_uses(ev, step, ev->is_chain, cache.uses);
	k = full_step(&cache, step);
	gp_free(ev->env, cache.uses);
	gp_free(ev->env, cache.kept);
	return k;
}

/* Plays the recursion with matrices counted instead of computed. */
static void
play(const gp_eval *ev, int step, int *uses, bool *kept, int *held, int *most)
{
	const gp_step *s = &ev->program->steps[step];

	if (gp_step_is_chain(ev, step))
		++*held;
	else
	{
		if (!kept[step])
		{
			/* The result takes the first argument's place; the second one goes. */
			play(ev, s->arg0, uses, kept, held, most);
			if (s->kind == GP_STEP_SUM && !gp_step_is_chain(ev, s->arg1))
			{
				play(ev, s->arg1, uses, kept, held, most);
				--*held;
			}
			kept[step] = true;
		}
		if (--uses[step] > 0)
			++*held;			/* a copy for this taker */
		else
			kept[step] = false;
	}
	if (*held > *most)
		*most = *held;
}

/* The most n x n matrices that gp_eval_full holds at once. */
int
gp_eval_full_matrices(const gp_eval *ev, int step)
{
	int		   *uses = gp_alloc_zero(ev->env, ev->program->nsteps, sizeof(int));
	bool	   *kept = gp_alloc_zero(ev->env, ev->program->nsteps, sizeof(bool));
	int			held = 0;
	int			most = 0;

	gp_step_uses(ev, step, ev->is_chain, uses);
	play(ev, step, uses, kept, &held, &most);
	gp_free(ev->env, uses);
	gp_free(ev->env, kept);
	return most;
}
