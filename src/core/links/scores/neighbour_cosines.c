/*
 * neighbour_cosines.c - how much the features of one end resemble those of the other's neighbours.
 *
 * Of each end the cosine with the most similar neighbour of the other, both added up: who links to
 * one of two similar nodes is likely to link to the other, too.
 */
#include "numeric/accumulator.h"
#include "scores.h"

#define MOST_NEIGHBOURS 32		/* of a node that are looked at, at equal distances in its list */

/* A node's features as a row of all dimensions: its own, or in room. */
static const float *
features_of(const gp_link_context *f, int32_t node, float *room)
{
	const gp_csr *x = f->x->csr;

	if (x == NULL)
		return (const float *) f->x->dense + node * f->x->dims;
	memset(room, 0, f->x->dims * sizeof(float));
	for (int64_t k = x->start[node]; k < x->start[node + 1]; k++)
		room[x->col[k]] = ((const float *) x->value)[k];
	return room;
}

/* The cosine of node i, whose features stand in row, with j. */
static double
cosine(const gp_link_context *f, int32_t i, const float *row, int32_t j)
{
	const gp_csr *x = f->x->csr;
	int64_t		at_i = (int64_t) i * GP_LINK_POWERS;
	int64_t		at_j = (int64_t) j * GP_LINK_POWERS;
	double		product = 0.0;

	if (!(f->norm[at_i] > 0.0f && f->norm[at_j] > 0.0f))
		return 0.0;
	if (x)
		for (int64_t k = x->start[j]; k < x->start[j + 1]; k++)
			product += (double) row[x->col[k]] * ((const float *) x->value)[k];
	else
		for (int64_t d = 0; d < f->x->dims; d++)
			product += (double) row[d] * ((const float *) f->x->dense)[j * f->x->dims + d];
	return (product + f->mean_square[0] - f->dot[at_i] - f->dot[at_j]) /
		((double) f->norm[at_i] * f->norm[at_j]);
}

/* The neighbours of a node that are looked at, without one (or -1); returns how many. */
static int32_t
choose_neighbours(const gp_csr *w, int32_t node, int32_t without, int32_t *out)
{
	int64_t		skip = without < 0 ? -1 : gp_csr_find(w->start, w->col, node, without);
	int64_t		n = w->start[node + 1] - w->start[node] - (skip >= 0);
	int32_t		count = (int32_t) gp_min64(n, MOST_NEIGHBOURS);

	for (int32_t k = 0; k < count; k++)
	{
		int64_t		at = w->start[node] + (n > count ? k * n / count : k);

		out[k] = w->col[at + (skip >= 0 && at >= skip)];
	}
	return count;
}

/*
 * The pairs [from, to) of one source, whose partner is cut (or -1).  Their other ends share
 * neighbours, each of which is compared with the source once.
 */
static void
score_source(gp_link_context *f, const gp_link_block *block, int64_t from, int64_t to,
			 int32_t partner, float *room, gp_accumulator *known, double *out)
{
	int32_t		source = block->source[block->slot[from]];
	int32_t		near[MOST_NEIGHBOURS];
	int32_t		near_other[MOST_NEIGHBOURS];
	const float *row[MOST_NEIGHBOURS];
	const float *own = features_of(f, source, room);
	int32_t		count = choose_neighbours(f->weights, source, partner, near);

	for (int32_t k = 0; k < count; k++)
		row[k] = features_of(f, near[k], room + (k + 1) * f->x->dims);
	gp_accumulator_begin(known, (to - from) * MOST_NEIGHBOURS);
	for (int64_t e = from; e < to; e++)
	{
		int32_t		other = block->dst[e];
		int32_t		others = choose_neighbours(f->weights, other, partner < 0 ? -1 : source,
											   near_other);
		double		most = count > 0 ? -1.0 : 0.0;
		double		most_other = others > 0 ? -1.0 : 0.0;

		f->env->check_interrupts(f->env);
		for (int32_t k = 0; k < count; k++)
			most = fmax(most, cosine(f, near[k], row[k], other));
		for (int32_t k = 0; k < others; k++)
		{
			double	   *c = gp_accumulator_at(known, near_other[k]);

			if (*c == 0.0)
				*c = cosine(f, source, own, near_other[k]);
			most_other = fmax(most_other, *c);
		}
		out[e * f->width] = most_other + most;
	}
}

static void
compute(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *out)
{
	float	   *room = gp_alloc_array(f->env, f->x->csr ? f->x->dims : 0,
									  (1 + MOST_NEIGHBOURS) * sizeof(float));
	gp_accumulator known = gp_accumulator_open(f->env, f->n);
	int64_t		to;

	for (int64_t from = 0; from < gp_items(f->env, block->n); from = to)
	{
		int32_t		slot = block->slot[from];

		for (to = from + 1; to < block->n && block->slot[to] == slot;)
			to++;
		score_source(f, block, from, to, cuts && cuts[slot].edge ? cuts[slot].j : -1, room, &known,
					 out);
	}
	gp_accumulator_close(&known);
	gp_free(f->env, room);
}

const gp_link_score_family gp_link_neighbour_cosines = {
	.width = 1,.needs_features = true,.compute = compute
};
