/*
 * pass.c - one pass over the steps that a step needs, arguments first.
 *
 * A program may be thousands of steps deep and share each of them, so that a
 * recursion would need a large stack and, without a memory, more time than there
 * is.  Steps are numbered, arguments before those who take them: a loop makes the
 * value of each once and keeps it until the last taker has it.
 */
#include "prepared.h"

/* How often each step's value is taken when that of a step is made; uses starts at zero. */
void
gp_step_uses(const gp_eval *ev, int step, const bool *leaf, int *uses)
{
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
}

/* The value of a step for one taker; the last one gets the original, a chain's is made anew. */
gp_matrix
gp_pass_take(gp_pass *pass, int step)
{
	gp_device  *dev = pass->ev->dev;
	gp_matrix	kept = pass->kept[step];
	gp_matrix	copy;

	if (gp_step_is_chain(pass->ev, step))
		return pass->chain(pass, step);
	if (--pass->uses[step] == 0)
		return kept;
	copy = dev->create(dev, kept.rows, kept.cols, kept.type);
	dev->copy(dev, copy, kept);
	return copy;
}

/* The value of a step. */
gp_matrix
gp_pass_run(gp_pass *pass, int step)
{
	gp_eval    *ev = pass->ev;
	gp_matrix	out;

	pass->uses = gp_alloc_zero(ev->env, step + 1, sizeof(int));
	pass->kept = gp_alloc_zero(ev->env, step + 1, sizeof(gp_matrix));
	gp_step_uses(ev, step, ev->kernel->is_chain, pass->uses);
	for (int i = 0; i <= step; i++)
	{
		if (pass->uses[i] == 0 || gp_step_is_chain(ev, i))
			continue;
		ev->env->check_interrupts(ev->env);
		pass->kept[i] = pass->compute(pass, i);
	}
	out = gp_pass_take(pass, step);
	gp_free(ev->env, pass->uses);
	gp_free(ev->env, pass->kept);
	return out;
}

