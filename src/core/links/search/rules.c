/*
 * rules.c - pairs that are never linked, by what hidden links say, and draws of the others.
 *
 * Where links lead from side to side most random pairs may lie within one side, such as two
 * patients, and tell nothing: no search proposes them.  So nodes stand in the order of their sides,
 * and what a node may be linked with is all of that order but the range of its own side.  Of a node
 * without links nobody knows the side: it is drawn in place of a random node with links.
 */
#include "rules.h"

#define WITHOUT_LINKS (INT64_C(1) << 62)	/* the keys of such nodes, which stand last */

gp_link_rules
gp_link_rules_open(gp_env *env, const gp_graph *graph, const gp_csr *a, gp_link_topology topology)
{
	gp_link_rules r = {.graph = graph,.topology = topology};

	if (topology.two_sided)
		r.sides = gp_link_sides_find(env, a);
	if (topology.starts || topology.ends)
		r.ends = gp_link_ends_find(env, graph);
	return r;
}

void
gp_link_rules_close(gp_env *env, gp_link_rules *r)
{
	gp_link_sides_free(env, &r->sides);
	gp_free_all(env, r->ends, r->order, r->own, r->before);
	memset(r, 0, sizeof(*r));
}

/*
 * Orders the nodes by their sides; those of no side stand each for itself.  Those without links are
 * last, each as often drawn as the others are in the mean.
 */
static void
order_by_sides(gp_env *env, gp_link_rules *r, const gp_csr *a)
{
	const gp_link_sides *s = &r->sides;
	int64_t		n = r->graph->nodes;
	int64_t    *key = gp_alloc_array(env, n, sizeof(int64_t));

	r->order = gp_alloc_array(env, n, sizeof(int32_t));
	r->own = gp_alloc_zero(env, n, sizeof(gp_link_range));
	r->before = gp_alloc_zero(env, n + 1, sizeof(int64_t));
	for (int64_t i = 0; i < n; i++)
	{
		bool		linked = a->start[i] < a->start[i + 1];

		key[i] = i | (linked ? (2 * (int64_t) s->component[i] + (s->side[i] == 1)) << 32 :
					  WITHOUT_LINKS);
		r->linked += linked;
	}
	gp_sort(env, key, n, sizeof(int64_t), gp_compare_int64, NULL);
	for (int64_t from = 0, to; from < r->linked; from = to)
	{
		bool		sided = s->side[key[from] & INT32_MAX] != GP_LINK_NO_SIDE;

		for (to = from + 1; sided && to < r->linked && key[to] >> 32 == key[from] >> 32;)
			to++;
		for (int64_t k = from; k < to; k++)
		{
			r->order[k] = (int32_t) (key[k] & INT32_MAX);
			r->own[r->order[k]] = (gp_link_range) {(int32_t) from, (int32_t) to};
			r->before[k + 1] = r->before[k] + r->linked - (to - from);
		}
	}
	for (int64_t k = r->linked; k < n; k++)
	{
		r->order[k] = (int32_t) (key[k] & INT32_MAX);
		r->before[k + 1] = r->before[k] + r->before[r->linked] / r->linked;
	}
	gp_free(env, key);
}

gp_link_rules *
gp_link_rules_learn(gp_env *env, const gp_graph *graph, const int64_t *count)
{
	gp_link_topology topology = gp_link_topology_read(count);

	/* Links from many nodes to others that have none have two sides, too. */
	if (!topology.two_sided && !(topology.starts && topology.ends))
		return NULL;
	gp_link_rules *r = gp_alloc_zero(env, 1, sizeof(gp_link_rules));
	gp_csr	   *a = gp_graph_symmetric(env, graph);
	*r = gp_link_rules_open(env, graph, a, topology);
	if (topology.two_sided)
		order_by_sides(env, r, a);
	gp_csr_free(env, a);
	return r;
}

/* One of the first nodes of the order, as often as it has pairs across sides. */
static int32_t
draw_node(const gp_link_rules *r, int64_t nodes, uint64_t hash)
{
	int64_t		low = 0;
	int64_t		high = nodes;
	int64_t		at = r->before[high] > 0 ? (int64_t) (hash % (uint64_t) r->before[high]) : 0;

	while (low + 1 < high)
	{
		int64_t		middle = (low + high) / 2;

		if (r->before[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return r->order[low];
}

int32_t
gp_link_rules_draw_first(const gp_link_rules *r, uint64_t hash)
{
	return draw_node(r, r->graph->nodes, hash);
}

int32_t
gp_link_rules_draw_second(const gp_link_rules *r, int32_t first, uint64_t hash)
{
	bool		linked = r->own[first].last > 0;
	gp_link_range own = r->own[linked ? first : draw_node(r, r->linked, gp_hash(hash))];
	int64_t		others = r->linked - (own.last - own.first);
	int64_t		at = others > 0 ? (int64_t) (hash % (uint64_t) others) : own.first;

	return r->order[others > 0 && at >= own.first ? at + own.last - own.first : at];
}
