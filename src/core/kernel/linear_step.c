/*
 * linear_step.c - the explicit factor of a step, made once.
 *
 * A sparse one belongs to the kernel, and serves every evaluation of it.  A dense
 * one belongs to the evaluation, on its device; what making it took is noted, so
 * that each further dry run accounts for the same without making it.
 */
#include "prepared.h"

/* Makes the factor of a step, sparse matrices in the kernel's own environment. */
static gp_linear
make_linear(gp_eval *ev, int step)
{
	gp_eval		on_host = *ev;
	gp_terms   *terms = gp_alloc_zero(ev->env, 1, sizeof(gp_terms));

	on_host.env = ev->kernel->env;
	if (gp_step_is_linear(ev, step))
		gp_linear_collect(ev, step, terms);
	else
	{
		terms->n = 1;
		terms->term[0].value = 1.0;
	}
	gp_linear	z = gp_linear_build(&on_host, terms);
	gp_anchors_fill(&on_host, GP_PIECE_LINEAR, step, terms, &z);
	gp_free(ev->env, terms);
	return z;
}

/* The bytes held before, and the high-water mark to go back to. */
typedef struct tide
{
	size_t		used;
	size_t		peak;
} tide;

static tide
tide_begin(gp_env *env)
{
	tide		t = {env->used, env->peak};

	env->peak = env->used;
	return t;
}

/* The most that was held more than now is. */
static size_t
tide_end(gp_env *env, tide t)
{
	size_t		more = env->peak - env->used;

	if (env->peak < t.peak)
		env->peak = t.peak;
	return more;
}

/* Makes the factor of a step in a dry run, and notes what a dense one took. */
static gp_linear
learn_linear(gp_eval *ev, int step, gp_known_linear *known)
{
	gp_env	   *host = ev->kernel->env;
	gp_count	before = gp_dry_count(ev->dev);
	tide		on_host = tide_begin(host);
	tide		on_device = tide_begin(ev->env);
	gp_linear	z = make_linear(ev, step);
	gp_count	after = gp_dry_count(ev->dev);

	known->scratch = tide_end(host, on_host);
	size_t		device_tide = tide_end(ev->env, on_device);
	if (z.csr == NULL || z.dense.cols == 0)
		known->scratch += device_tide;
	else
	{
		/* Sparse columns are joined first; they are made again, though the former are there. */
		if (known->scratch < device_tide)
			known->scratch = device_tide;
		known->scratch += gp_csr_entries(z.csr) * (sizeof(int32_t) + gp_type_size(z.csr->type))
			+ (z.csr->rows + 1) * sizeof(int64_t);
	}
	known->dense = z.dense.cols > 0;
	known->dense_width = z.dense.cols;
	known->width = z.width;
	known->count.flops = after.flops - before.flops;
	known->count.effort = after.effort - before.effort;
	known->count.doubles = after.doubles - before.doubles;
	return z;
}

/* Makes the factor of a step on this evaluation's device, from what is known of it. */
static gp_linear
linear_of_known(gp_eval *ev, int step, gp_known_linear *known)
{
	gp_linear	z = {.width = known->width, .csr = known->csr, .borrowed = true};

	if (z.csr && !known->dense)
		return z;
	if (!ev->env->dry)
	{
		z = make_linear(ev, step);
		if (known->csr)
		{
			gp_csr_free(ev->kernel->env, z.csr);
			z.csr = known->csr;
		}
	}
	else if (!known->dense)
	{
		z = learn_linear(ev, step, known);
		/* Where the kernel, too, is a dry run's, all that took has been counted. */
		if (ev->kernel->env == ev->env)
			return z;
	}
	else
	{
		z.dense = ev->dev->create(ev->dev, ev->n, known->dense_width, ev->type);
		gp_dry_add(ev->dev, &known->count);
	}
	if (ev->env->dry && z.dense.cols > 0)
		gp_free(ev->env, gp_alloc_values(ev->env, 1, known->scratch));
	return z;
}

const gp_linear *
gp_linear_of_step(gp_eval *ev, int step)
{
	gp_linear  *z = &ev->linear[step];
	gp_known_linear *known = &ev->kernel->linear[step];
	gp_step_kind kind = ev->kernel->program->steps[step].kind;
	/* X0 and N are sparse matrices that are there. */
	gp_csr	   *leaf = ev->live ? NULL : kind == GP_STEP_INPUT ? ev->kernel->x->csr :
		kind == GP_STEP_LISTS ? ev->kernel->lists : NULL;

	if (z->made)
		return z;
	if (ev->implicit_terms && known->csr == NULL && gp_step_is_linear(ev, step))
	{
		gp_terms   *terms = gp_alloc_zero(ev->env, 1, sizeof(gp_terms));

		gp_linear_collect(ev, step, terms);
		if (gp_terms_fill(ev, terms))
			*z = gp_linear_unmade(ev, terms);
		gp_free(ev->env, terms);
		z->made = z->terms != NULL;
		if (z->made)
			return z;
	}
	if (leaf)
	{
		known->csr = leaf;
		known->width = leaf->cols;
		known->borrowed = true;
	}
	*z = linear_of_known(ev, step, known);
	known->csr = z->csr;
	known->width = z->width;
	known->dense = z->dense.cols > 0;
	known->dense_width = z->dense.cols;
	z->borrowed = z->csr != NULL;
	z->made = true;
	return z;
}

void
gp_linear_forget(gp_eval *ev)
{
	for (int step = 0; step < ev->kernel->program->nsteps; step++)
	{
		gp_linear_free(ev, &ev->linear[step]);
		ev->linear[step].made = false;
	}
}
