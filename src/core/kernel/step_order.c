/*
 * step_order.c - one pass over the steps that a step needs, arguments first.
 *
 * A program may be thousands of steps deep and share each of them, so that a
 * recursion would need a large stack and, without a memory, more time than there
 * is.  Steps are numbered, arguments before those who take them: a loop makes the
 * value of each once and keeps it until the last taker has it.
 */
#include "prepared.h"

int *
gp_step_uses(const gp_eval *ev, int step, const bool *leaf)
{
	int		   *uses = gp_alloc_zero(ev->env, step + 1, sizeof(int));

	uses[step]++;
	for (int i = step; i >= 0; i--)
	{
		const gp_step *s = &ev->kernel->program->steps[i];

		if (uses[i] == 0 || leaf[i])
			continue;
		if (s->arg0 >= 0)
			uses[s->arg0]++;
		if (s->arg1 >= 0)
			uses[s->arg1]++;
	}
	return uses;
}

gp_matrix
gp_pass_value(gp_pass *pass, int step)
{
	gp_matrix	value = pass->value[step];

	if (gp_step_is_chain(pass->ev, step))
		return pass->chain(pass, step);
	return --pass->uses[step] == 0 ? value : gp_copy(pass->ev->dev, value, value.type);
}

/* The value of a sum.  A chain is added to the other term. */
static gp_matrix
add_terms(gp_pass *pass, const gp_step *s)
{
	gp_device  *dev = pass->ev->dev;
	const gp_step *other = &pass->ev->kernel->program->steps[s->arg1];
	bool		turned = other->kind != GP_STEP_BIAS && gp_step_is_chain(pass->ev, s->arg0);
	int			second = turned ? s->arg0 : s->arg1;
	gp_matrix	k = gp_pass_value(pass, turned ? s->arg1 : s->arg0);

	if (other->kind == GP_STEP_BIAS && pass->shifts)
		dev->shift(dev, k, other->value);
	else if (gp_step_is_chain(pass->ev, second) && pass->add_chain)
		pass->add_chain(pass, second, k);
	else
	{
		gp_matrix	value = gp_pass_value(pass, second);

		dev->axpby(dev, 1.0, value, 1.0, k);
		dev->destroy(dev, &value);
	}
	return k;
}

/* Computes the value of a step that is no chain, from those of its arguments, which it takes. */
static gp_matrix
compute(gp_pass *pass, int step)
{
	gp_device  *dev = pass->ev->dev;
	const gp_step *s = &pass->ev->kernel->program->steps[step];
	gp_stage	relu = {.map = GP_MAP_RELU,.scale = 1.0};
	double		scale;

	if (s->kind == GP_STEP_OP)
		return pass->gather(pass, s);
	if (s->kind == GP_STEP_SUM)
		return add_terms(pass, s);
	gp_matrix	k = gp_pass_value(pass, s->arg0);
	switch (s->kind)
	{
		case GP_STEP_SCALE:
			dev->axpby(dev, s->value, k, 0.0, k);
			break;
		case GP_STEP_RELU:
			/* the arc-cosine map, by the variances before it */
			if (pass->diagonal == NULL)
				dev->map_diag(dev, &relu, k);
			else
			{
				relu.diag = pass->diagonal(pass, s->arg0, k);
				dev->map(dev, &relu, k, 0, pass->cols);
				dev->destroy(dev, &relu.diag);
			}
			break;
		case GP_STEP_UNIT:
			if (!gp_unit_kept(pass->ev, GP_UNIT_EXACT, step, &scale))
			{
				gp_matrix	diag = pass->diagonal ? pass->diagonal(pass, s->arg0, k) : k;

				scale = gp_unit_note(pass->ev, GP_UNIT_EXACT, step, gp_mean_entry(dev, diag));
				if (pass->diagonal)
					dev->destroy(dev, &diag);
			}
			dev->axpby(dev, scale, k, 0.0, k);
			break;
		default:
			assert(false);
	}
	return k;
}

gp_matrix
gp_pass_run(gp_pass *pass, int step)
{
	gp_eval    *ev = pass->ev;

	pass->uses = gp_step_uses(ev, step, ev->kernel->is_chain);
	pass->value = gp_alloc_zero(ev->env, step + 1, sizeof(gp_matrix));
	for (int i = 0; i <= step; i++)
	{
		if (pass->uses[i] == 0 || gp_step_is_chain(ev, i))
			continue;
		ev->env->check_interrupts(ev->env);
		pass->value[i] = compute(pass, i);
	}
	gp_matrix	out = gp_pass_value(pass, step);
	gp_free_all(ev->env, pass->uses, pass->value);
	return out;
}
