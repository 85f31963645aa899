/*
 * gckm_points.c - which nodes stand for all others.
 *
 * The labelled ones, whose covariances count most, and a random choice of the
 * others: a score in the embedding that degree would not cover.
 */
#include "gckm.h"

#include "base/sort.h"

gp_points
gp_points_choose(gp_env *env, int64_t nodes, int64_t nlabelled, const int32_t *labelled,
				 int64_t count, uint64_t seed)
{
	gp_points	p = {gp_min64(count, nodes), NULL};
	int64_t		least = gp_min64(nodes - nlabelled, p.n - p.n * 3 / 4);	/* without a label */
	int64_t		with_label = gp_min64(nlabelled, p.n - least);
	gp_drawn   *first = gp_alloc_figures(env, p.n, sizeof(gp_drawn));
	gp_heap		heap = {.env = env,.item = first,.room = with_label,.size = sizeof(gp_drawn),
	.compare = gp_compare_drawn};
	gp_heap		others = heap;
	int64_t		k = 0;

	others.item = first + with_label;
	others.room = p.n - with_label;
	GP_EACH(env, i, gp_items(env, nodes), i)
	{
		gp_drawn	d = {gp_hash(seed ^ gp_hash((uint64_t) i)), (int32_t) i};
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
