/*
 * count_lowrank.c - the cost of the low-rank strategy.
 */
#include "count.h"

#include <math.h>
#include <string.h>

#define MAP_FLOPS 20.0

/* The state of a play-through of gp_eval_nystrom: panels held, the most so far. */
typedef struct lowrank_play
{
	gp_eval    *ev;
	double		na;
	int		   *uses;
	int		   *panels;			/* of each step's factor, once it is made */
	int			held;
	int			most;
	double		temporary;		/* largest working memory beside the panels */
	gp_count	count;
} lowrank_play;

/* Keeps the largest working memory. */
static void
temporary(lowrank_play *p, double bytes)
{
	p->temporary = fmax(p->temporary, bytes);
}

/* Takes panels into account. */
static void
hold(lowrank_play *p, int panels)
{
	p->held += panels;
	if (p->held > p->most)
		p->most = p->held;
}

/* The working memory of the landmarks' root. */
static double
root_bytes(const lowrank_play *p)
{
	return 2.0 * gp_matrix_bytes(p->na, p->na, GP_DOUBLE) +
		gp_matrix_bytes(p->na, p->na, p->ev->type);
}

/* The columns that are worked on at once. */
static double
block_columns(const lowrank_play *p)
{
	return p->na < GP_COLUMN_BLOCK ? p->na : GP_COLUMN_BLOCK;
}

/* The working memory of an operator on a panel. */
static double
operator_bytes(const lowrank_play *p, const gp_operator *op)
{
	double		block = gp_matrix_bytes(p->ev->n, block_columns(p), p->ev->type);

	return block * ((gp_operator_is_global(op) ? 3.0 : 1.0) + (op->nterms > 1 ? 2.0 : 0.0));
}

/* An activation on a linear step: products with the factor, a map. */
static void
play_linear(lowrank_play *p, int step)
{
	gp_eval    *ev = p->ev;
	const gp_linear *z = gp_linear_of_step(ev, step);
	gp_terms   *terms = gp_alloc_zero(ev->env, 1, sizeof(gp_terms));
	double		working = gp_matrix_bytes(z->width, block_columns(p), ev->type);

	gp_linear_collect(ev, step, terms);
	if (gp_terms_cheaper(ev, terms, z))
	{
		double		entries = 0.0;

		for (int t = 0; t < terms->n; t++)
		{
			if (!terms->term[t].bias)
				entries += ev->x->csr ? (double) gp_csr_entries(ev->x->csr) :
					(double) ev->n * ev->x->dims / GP_SPARSE_EFFORT;
			for (int k = 0; k < terms->term[t].nops; k++)
			{
				entries += gp_operator_products(ev, terms->term[t].op[k]) *
					gp_csr_entries(ev->a);
				temporary(p, working + gp_matrix_bytes(ev->n, block_columns(p), ev->type) +
						  (k == 0 && gp_operator_is_a(terms->term[t].op[k]) ? 0.0 :
						   operator_bytes(p, terms->term[t].op[k])));
			}
		}
		gp_count_sparse(&p->count, 2.0 * entries * p->na);
	}
	else
		gp_count_linear(ev, step, p->na, &p->count);
	temporary(p, working + 2.0 * gp_matrix_bytes(ev->n, 1, GP_DOUBLE));
	gp_free(ev->env, terms);
}

/* One step's factor for one taker: its panels. */
static int
take(lowrank_play *p, int step)
{
	if (gp_step_is_linear(p->ev, step))
		return 0;
	if (--p->uses[step] > 0)
		hold(p, p->panels[step]);
	return p->panels[step];
}

/* An activation: the panels of its argument become one. */
static int
play_relu(lowrank_play *p, const gp_step *s)
{
	gp_eval    *ev = p->ev;
	int			panels = take(p, s->arg0);

	if (panels == 0)
	{
		hold(p, 1);
		play_linear(p, s->arg0);
	}
	else
	{
		/* solve, product; the result overwrites the first panel */
		gp_count_dense(&p->count, panels * 3.0 * ev->n * p->na * p->na);
		temporary(p, gp_matrix_bytes(p->ev->dev->row_block, p->na, ev->type) +
				  (panels + 1) * gp_matrix_bytes(p->na, p->na, ev->type) +
				  panels * gp_matrix_bytes(p->na, p->na, GP_DOUBLE));
		p->held -= panels - 1;
	}
	gp_count_dense(&p->count, MAP_FLOPS * ev->n * p->na + p->na * p->na * p->na / 3.0);
	temporary(p, root_bytes(p));
	return 1;
}

/* One step's factor is made: its panels. */
static int
play_step(lowrank_play *p, int step)
{
	gp_eval    *ev = p->ev;
	const gp_step *s = &ev->program->steps[step];
	int			panels;

	switch (s->kind)
	{
		case GP_STEP_INPUT:
			hold(p, 1);
			gp_count_linear(ev, step, p->na, &p->count);
			temporary(p, root_bytes(p));
			temporary(p, gp_matrix_bytes(gp_linear_of_step(ev, step)->width, p->na, ev->type) +
					  4.0 * 8.0 * ev->n);
			return 1;
		case GP_STEP_RELU:
			return play_relu(p, s);
		case GP_STEP_OP:
			panels = take(p, s->arg0);
			gp_count_sparse(&p->count, 2.0 * panels * gp_operator_products(ev, s->op) *
							gp_csr_entries(ev->a) * p->na);
			if (panels > 0)
				temporary(p, operator_bytes(p, s->op));
			return panels;
		case GP_STEP_SUM:
			panels = take(p, s->arg0);
			panels += take(p, s->arg1);
			/* More are refused, and would overflow where layers multiply them. */
			return panels < GP_MAX_LINEAR_TERMS ? panels : GP_MAX_LINEAR_TERMS;
		default:
			return take(p, s->arg0);
	}
}

/* The columns of linear terms that are left in the last layer: all leaves not under an activation. */
static double
loose_width(const gp_eval *ev, int root)
{
	double	   *width = gp_alloc_zero(ev->env, root + 1, sizeof(double));
	double		loose;

	for (int i = 0; i <= root; i++)
	{
		const gp_step *s = &ev->program->steps[i];

		if (s->kind == GP_STEP_INPUT)
			width[i] = gp_step_is_linear(ev, i) ? (double) ev->x->dims : 0.0;
		else if (s->kind == GP_STEP_BIAS)
			width[i] = 1.0;
		else if (s->kind == GP_STEP_SUM)
			width[i] = width[s->arg0] + width[s->arg1];
		else if (s->kind != GP_STEP_RELU)
			width[i] = width[s->arg0];
	}
	loose = width[root];
	gp_free(ev->env, width);
	return loose;
}

/* The regression and the posterior of all nodes from a factor of r columns. */
static void
add_posterior(gp_eval *ev, const gp_problem *problem, double r, double panels, bool exact_diagonal,
			  gp_count *count)
{
	double		m = (double) problem->nlabelled;
	double		n = (double) ev->n;
	double		columns = problem->nclasses > 0 ? problem->nclasses : 1;
	double		square = gp_matrix_bytes(r, r, GP_DOUBLE);
	double		q = gp_matrix_bytes(m, r, ev->type);
	double		height = (double) ev->dev->row_block;
	double		block = gp_matrix_bytes(fmin(n, 4.0 * height), r, ev->type);
	double		rows = gp_matrix_bytes(fmin(m, height), r, GP_DOUBLE);
	double		sample = gp_matrix_bytes(m < 1024 ? m : 1024, r, ev->type);
	double		narrow = gp_matrix_bytes(r, r, ev->type);
	double		working;

	if (m <= r)
	{
		gp_count	dual = gp_count_dual(ev, problem);
		double		wide = gp_matrix_bytes(m, r, GP_DOUBLE);

		working = wide + dual.bytes;
		if (exact_diagonal)
			working = fmax(working, 2.0 * wide + gp_matrix_bytes(m, m, GP_DOUBLE) + q +
						   gp_matrix_bytes(n < 4096 ? n : 4096, m, ev->type));
		else
			working = fmax(working, wide + gp_matrix_bytes(m, m, GP_DOUBLE) + 2.0 * square +
						   narrow + block);
		count->flops += dual.flops + m * m * r;
		count->effort += dual.effort + m * m * r;
		gp_count_dense(count, exact_diagonal ? 2.0 * n * m * r : n * r * r + m * r * r);
	}
	else
	{
		double		searches = isnan(problem->nugget) ? 9.0 : 0.0;

		working = 2.0 * square + fmax(rows, 2.0 * sample + narrow);
		working = fmax(working, square + 2.0 * square + narrow + block);
		/* whitened rows, Gram matrix and leverages of the labels, then the search */
		gp_count_dense(count, 3.0 * m * r * r + searches * (sample / gp_type_size(ev->type) * r +
														   r * r * r / 3.0));
		gp_count_dense(count, exact_diagonal ? 2.0 * n * r * r : n * r * r);
	}
	gp_count_dense(count, 2.0 * n * r * columns);
	working = fmax(working, square + gp_matrix_bytes(n, columns, ev->type));
	count->bytes = fmax(count->bytes, panels + q + fmax(working, rows));
}

/* The factor on this many landmarks. */
gp_count
gp_count_factor(gp_eval *ev, int64_t nlandmarks, double *rank, double *kept)
{
	int			root = ev->program->nsteps - 1;
	double		na = (double) nlandmarks;
	lowrank_play p = {ev, na, NULL, NULL, 0, 0, 0.0, {0.0, 0.0, 0.0}};
	double		panel = gp_matrix_bytes(ev->n, na, ev->type);
	double		width = loose_width(ev, root);
	int			panels;

	p.uses = gp_alloc_zero(ev->env, root + 1, sizeof(int));
	p.panels = gp_alloc_zero(ev->env, root + 1, sizeof(int));
	gp_step_uses(ev, root, ev->is_linear, p.uses);
	for (int i = 0; i <= root; i++)
	{
		if (p.uses[i] == 0 || gp_step_is_linear(ev, i))
			continue;
		ev->env->check_interrupts(ev->env);
		p.panels[i] = play_step(&p, i);
	}
	panels = take(&p, root);
	gp_free(ev->env, p.uses);
	gp_free(ev->env, p.panels);
	*rank = panels * na;
	*kept = panels * panel + panels * gp_matrix_bytes(na, na, GP_DOUBLE);
	/* At most one factor at a time has no panels. */
	p.count.bytes = p.most * panel + panels * gp_matrix_bytes(na, na, GP_DOUBLE) + p.temporary +
		(p.most + 1.0) * sizeof(gp_factor);
	if (width > 0.0)
	{
		double		exact = (double) gp_nystrom_exact_width(nlandmarks);
		double		loose = width <= exact ? width : na;

		*rank += loose;
		*kept += gp_matrix_bytes(ev->n, loose, ev->type);
		p.count.bytes = fmax(p.count.bytes, *kept + gp_matrix_bytes(width, GP_COLUMN_BLOCK, ev->type));
		if (width > 64.0)
			gp_count_sparse(&p.count, 2.0 * loose * gp_csr_entries(ev->a));
	}
	return p.count;
}

/* Low rank on this many landmarks. */
gp_count
gp_count_lowrank(gp_eval *ev, const gp_problem *problem, int64_t nlandmarks, bool exact_diagonal)
{
	double		rank;
	double		kept;
	gp_count	count = gp_count_factor(ev, nlandmarks, &rank, &kept);

	add_posterior(ev, problem, rank, kept, exact_diagonal, &count);
	count.bytes += 2.0 * 8.0 * ev->n;
	if (exact_diagonal)
	{
		gp_count	diag = gp_count_diagonal(ev, ev->program->nsteps - 1);

		count.bytes = fmax(count.bytes, diag.bytes);
		count.flops += diag.flops;
		count.effort += diag.effort;
	}
	return count;
}
