/*
 * gckm_points.c - which nodes stand for all others.
 *
 * The labelled ones, whose covariances count most, and a random choice of the
 * others: a score in the embedding that degree would not cover.
 */
#include "gckm.h"

#include "base/sort.h"

/* A node with its place in the draw. */
typedef struct drawn
{
	uint64_t	draw;
	int32_t		node;
} drawn;

/* By the draw, then by the node. */
static int
compare_drawn(const void *a, const void *b, void *unused)
{
	const drawn *x = a;
	const drawn *y = b;

	if (x->draw != y->draw)
		return x->draw < y->draw ? -1 : 1;
	return x->node - y->node;
}

/* Draws among the nodes that are labelled, or among the others; the first so many stay in place. */
static int64_t
draw_nodes(gp_env *env, int64_t nodes, const bool *is_labelled, bool labelled, uint64_t seed,
		   drawn *place, int64_t room)
{
	gp_heap		heap = {.env = env,.item = place,.room = room,.size = sizeof(drawn),
	.compare = compare_drawn};

	GP_EACH(env, i, room > 0 ? nodes : 0, i)
	{
		drawn		d = {gp_hash(seed ^ gp_hash((uint64_t) i)), (int32_t) i};

		if (is_labelled[i] == labelled)
			gp_heap_offer(&heap, &d);
	}
	return heap.n;
}

gp_points
gp_points_choose(gp_env *env, int64_t nodes, int64_t nlabelled, const int32_t *labelled,
				 int64_t count, uint64_t seed)
{
	gp_points	p = {gp_min64(count, nodes), NULL};
	int64_t		others = nodes - nlabelled;
	int64_t		least = gp_min64(others, p.n - p.n * 3 / 4);
	int64_t		taken = gp_min64(nlabelled, p.n - least);
	bool	   *is_labelled = gp_alloc_figures(env, nodes, sizeof(bool));
	drawn	   *place = gp_alloc_figures(env, p.n, sizeof(drawn));

	p.node = gp_alloc_figures(env, p.n, sizeof(int32_t));
	if (!env->dry)
	{
		for (int64_t i = 0; i < nodes; i++)
			is_labelled[i] = false;
		for (int64_t k = 0; k < nlabelled; k++)
			is_labelled[labelled[k]] = true;
		taken = draw_nodes(env, nodes, is_labelled, true, seed, place, taken);
		draw_nodes(env, nodes, is_labelled, false, seed, place + taken, p.n - taken);
		for (int64_t k = 0; k < p.n; k++)
			p.node[k] = place[k].node;
	}
	gp_free_all(env, place, is_labelled);
	if (!env->dry)
		gp_sort(env, p.node, p.n, sizeof(int32_t), gp_compare_int32, NULL);
	return p;
}
