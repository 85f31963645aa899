/*
 * nystrom_parts.c - the parts that a low-rank factor will have: panels, and linear terms.
 *
 * A sum puts the parts of both sides side by side, so that deep kernels of many terms could grow
 * beyond any bound; what is too much is refused before anything is made.
 */
#include "kernel/prepared.h"

/* Why a factor cannot be made. */
typedef enum refusal
{
	REFUSED_NOT,
	REFUSED_PARTS,
	REFUSED_OPERATORS
} refusal;

/* The parts that a step's factor will have. */
typedef struct part_count
{
	int			panels;
	int			terms;
	int			nops;			/* the most over one term */
	refusal		refused;
} part_count;

/* Refuses a factor of so many panels and terms; what terms are left at last become one more
 * panel. */
static void
check_parts(part_count *c, bool last)
{
	if (c->panels + (last && c->terms > 0) > GP_MAX_PANELS || c->terms > GP_MAX_LINEAR_TERMS)
		c->refused = REFUSED_PARTS;
}

/* Counts the parts of a step that is not linear, from those of its arguments. */
static part_count
step_parts(const gp_step *s, const part_count *count)
{
	const gp_step_nature *nature = gp_step_nature_of(s);
	part_count	c = {1, 0, 0, REFUSED_NOT};

	if (nature->panel)
		return c;
	c = count[s->arg0];
	if (nature->gathers && c.terms > 0 && ++c.nops > GP_MAX_OPS)
		c.refused = REFUSED_OPERATORS;
	if (nature->arguments < 2)
		return c;
	const part_count *other = &count[s->arg1];
	c.panels += other->panels;
	c.terms += other->terms;
	c.nops = other->nops > c.nops ? other->nops : c.nops;
	check_parts(&c, false);
	return c;
}

/* Counts the parts of all steps up to the first that is refused; those of the last, or what
 * refuses. */
static part_count
count_parts(const gp_eval *ev, int step)
{
	int		   *uses = gp_step_uses(ev, step, ev->kernel->is_linear);
	part_count *count = gp_alloc_zero(ev->env, step + 1, sizeof(part_count));
	gp_terms   *terms = gp_alloc_zero(ev->env, 1, sizeof(gp_terms));
	part_count	last = {0, 0, 0, REFUSED_NOT};

	for (int i = 0; i <= step && last.refused == REFUSED_NOT; i++)
	{
		if (uses[i] == 0)
			continue;
		ev->env->check_interrupts(ev->env);
		if (gp_step_is_linear(ev, i))
		{
			gp_linear_collect(ev, i, terms);
			count[i].terms = terms->n;
			for (int t = 0; t < terms->n; t++)
				count[i].nops = (int) gp_max64(count[i].nops, terms->term[t].nops);
		}
		else
			count[i] = step_parts(&ev->kernel->program->steps[i], count);
		if (i == step)
			check_parts(&count[i], true);
		last = count[i];
	}
	gp_free_all(ev->env, uses, count, terms);
	return last;
}

bool
gp_nystrom_possible(const gp_eval *ev, int step)
{
	return count_parts(ev, step).refused == REFUSED_NOT;
}

int
gp_nystrom_panels(const gp_eval *ev, int step, bool terms)
{
	part_count	c = count_parts(ev, step);

	return c.panels + (c.terms > 0 && (terms || c.panels == 0));
}

void
gp_nystrom_check(const gp_eval *ev, int step)
{
	refusal		refused = count_parts(ev, step).refused;

	if (refused == REFUSED_PARTS)
		gp_raise(ev->env, GP_ERR_UNSUPPORTED, "Use fewer terms or layers.",
				 "the kernel's factor has more than %d parts", GP_MAX_PANELS);
	if (refused == REFUSED_OPERATORS)
		gp_raise(ev->env, GP_ERR_UNSUPPORTED, "Use fewer layers.",
				 "the kernel has more than %d operators in a row", GP_MAX_OPS);
}
