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

gp_points
gp_points_choose(gp_env *env, int64_t nodes, int64_t nlabelled, const int32_t *labelled,
				 int64_t count, uint64_t seed)
{
	gp_points	p = {gp_min64(count, nodes), NULL};
	int64_t		least = gp_min64(nodes - nlabelled, p.n - p.n * 3 / 4);	/* without a label */
	int64_t		with_label = gp_min64(nlabelled, p.n - least);
	drawn	   *first = gp_alloc_figures(env, p.n, sizeof(drawn));
	gp_heap		heap = {.env = env,.item = first,.room = with_label,.size = sizeof(drawn),
	.compare = compare_drawn};
	gp_heap		others = heap;
	int64_t		k = 0;

	others.item = first + with_label;
	others.room = p.n - with_label;
	GP_EACH(env, i, gp_items(env, nodes), i)
	{
		drawn		d = {gp_hash(seed ^ gp_hash((uint64_t) i)), (int32_t) i};
		bool		is_labelled = k < nlabelled && labelled[k] == i;

		k += is_labelled;
		gp_heap_offer(is_labelled ? &heap : &others, &d);
	}
	p.node = gp_alloc_figures(env, p.n, sizeof(int32_t));
	for (k = 0; k < gp_items(env, p.n); k++)
		p.node[k] = first[k].node;
	gp_free(env, first);
	if (!env->dry)
		gp_sort(env, p.node, p.n, sizeof(int32_t), gp_compare_int32, NULL);
	return p;
}
