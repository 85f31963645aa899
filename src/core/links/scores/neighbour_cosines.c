/*
 * neighbour_cosines.c - how much the features of one end resemble those of the other's neighbours.
 *
 * Of each end the cosine with the most similar neighbour of the other, both added up: who links to
 * one of two similar nodes is likely to link to the other, too.
 */
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
		int64_t		at = w->start[node] + k * n / count;

		out[k] = w->col[at + (skip >= 0 && at >= skip)];
	}
	return count;
}

/* The pairs [from, to) of one source, whose partner is cut (or -1); most has room for them. */
static void
score_source(gp_link_context *f, const gp_link_block *block, int64_t from, int64_t to,
			 int32_t partner, float *room, double *most, double *out)
{
	int32_t		source = block->source[block->slot[from]];
	const float *row = features_of(f, source, room);
	int32_t		neighbour[MOST_NEIGHBOURS];
	int32_t		count;

	for (int64_t e = from; e < to; e++)
	{
		f->env->check_interrupts(f->env);
		count = choose_neighbours(f->weights, block->dst[e], partner < 0 ? -1 : source, neighbour);
		out[e * f->width] = count > 0 ? -1.0 : 0.0;
		for (int32_t k = 0; k < count; k++)
			out[e * f->width] = fmax(out[e * f->width], cosine(f, source, row, neighbour[k]));
	}
	count = choose_neighbours(f->weights, source, partner, neighbour);
	for (int64_t e = from; e < to; e++)
		most[e - from] = count > 0 ? -1.0 : 0.0;
	for (int32_t k = 0; k < count; k++)
	{
		f->env->check_interrupts(f->env);
		row = features_of(f, neighbour[k], room);
		for (int64_t e = from; e < to; e++)
			most[e - from] = fmax(most[e - from], cosine(f, neighbour[k], row, block->dst[e]));
	}
	for (int64_t e = from; e < to; e++)
		out[e * f->width] += most[e - from];
}

static void
compute(gp_link_context *f, const gp_link_block *block, const gp_link_cut *cuts, double *out)
{
	float	   *room = gp_alloc_array(f->env, f->x->csr ? f->x->dims : 0, sizeof(float));
	double	   *most = gp_alloc_array(f->env, block->n, sizeof(double));
	int64_t		to;

	for (int64_t from = 0; from < gp_items(f->env, block->n); from = to)
	{
		int32_t		slot = block->slot[from];

		for (to = from + 1; to < block->n && block->slot[to] == slot;)
			to++;
		score_source(f, block, from, to, cuts && cuts[slot].edge ? cuts[slot].j : -1, room, most,
					 out);
	}
	gp_free_all(f->env, room, most);
}

const gp_link_score_family gp_link_neighbour_cosines = {
	.width = 1,.needs_features = true,.compute = compute
};
