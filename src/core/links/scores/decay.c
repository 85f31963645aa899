/*
 * decay.c - of a graph whose links have times: what recent links say of a pair.
 *
 * A link of age a counts exp(-a / tau), ages being those at the graph's last link and tau some
 * shares of its span.  No half-life suits all graphs, so the regression weighs three of them.
 */
#include "scores.h"

#include <math.h>

#define LEAST_COMMON 1e-3		/* added before a logarithm: no path at all */
#define LEAST_ACTIVITY 1e-2

static const double shares[GP_LINK_DECAYS] = {0.3, 0.1, 0.03};

/* The time of a symmetric entry: of two arcs the first. */
static double
time_of(const gp_graph *g, int32_t i, int32_t j)
{
	int64_t		at = gp_csr_find(g->start, g->col, i, j);
	int64_t		back = g->directed ? gp_csr_find(g->start, g->col, j, i) : -1;

	return fmin(at >= 0 ? g->time[at] : INFINITY, back >= 0 ? g->time[back] : INFINITY);
}

void
gp_link_decay_open(gp_link_context *f)
{
	const gp_graph *g = f->graph;
	const gp_csr *w = f->weights;
	double		first = INFINITY;
	double		last = -INFINITY;

	if (g->time == NULL)
		return;
	for (int64_t k = 0; k < g->start[g->nodes]; k++)
	{
		first = fmin(first, g->time[k]);
		last = fmax(last, g->time[k]);
	}
	f->decayed = gp_alloc_values(f->env, gp_csr_entries(w), GP_LINK_DECAYS * sizeof(float));
	f->activity = gp_alloc_zero(f->env, f->n * GP_LINK_DECAYS, sizeof(double));
	GP_EACH(f->env, i, gp_items(f->env, f->n), w->start[i])
	{
		for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
		{
			double		age = last > first ?
				(last - time_of(g, (int32_t) i, w->col[k])) / (last - first) : 0.0;

			for (int d = 0; d < GP_LINK_DECAYS; d++)
			{
				f->decayed[k * GP_LINK_DECAYS + d] = (float) exp(-age / shares[d]);
				f->activity[i * GP_LINK_DECAYS + d] += f->decayed[k * GP_LINK_DECAYS + d];
			}
		}
	}
}

/* Logarithms of what is in common, and of both ends' activities. */
static void
compute(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *out)
{
	const gp_csr *w = f->weights;
	int64_t		next = 0;

	for (int64_t e = 0; e < gp_items(f->env, block->n); e++)
	{
		const gp_link_cut *cut = cuts && cuts[block->slot[e]].edge ? &cuts[block->slot[e]] : NULL;
		int32_t		i = block->source[block->slot[e]];
		int32_t		j = block->dst[e];
		int64_t		own = cut ? gp_csr_find(w->start, w->col, i, j) : -1;
		double		common[GP_LINK_DECAYS] = {0.0};
		double	   *row = out + e * f->width;

		gp_poll(f->env, e, &next);
		/* Both links of each neighbour in common, over its activity. */
		for (int64_t p = w->start[i], q = w->start[j];
			 gp_csr_common(w, &p, w->start[i + 1], &q, w->start[j + 1]); p++, q++)
			for (int d = 0; d < GP_LINK_DECAYS; d++)
			{
				double		both = (double) f->decayed[p * GP_LINK_DECAYS + d] *
					f->decayed[q * GP_LINK_DECAYS + d];

				if (both > 0.0)
					common[d] += both / f->activity[w->col[p] * GP_LINK_DECAYS + d];
			}
		for (int d = 0; d < GP_LINK_DECAYS; d++)
		{
			double		lost = own >= 0 ? f->decayed[own * GP_LINK_DECAYS + d] : 0.0;

			row[2 * d] = log(common[d] + LEAST_COMMON);
			row[2 * d + 1] = log(fmax(f->activity[i * GP_LINK_DECAYS + d] - lost, 0.0) +
								 LEAST_ACTIVITY) +
				log(fmax(f->activity[j * GP_LINK_DECAYS + d] - lost, 0.0) + LEAST_ACTIVITY);
		}
	}
}

const gp_link_score_family gp_link_decay = {
	.width = 2 * GP_LINK_DECAYS,.needs_times = true,.compute = compute
};
