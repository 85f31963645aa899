/*
 * topology.c - how far apart the ends of links lie in the graph without them.
 *
 * Folds hide links; where their ends are found then is where links that nobody knows of should be
 * looked for: two steps apart among friends, three between users and items, from those that follow
 * to those that are followed.  Random pairs without a link say what is worth knowing: a kind of
 * pairs is left out when random pairs are often of it and links practically never.
 */
#include "bipartition.h"
#include "topology.h"

#define PAIR_WORK 100000		/* entries that are gone through for the distance of a pair */
#define RARE 20					/* times rarer than random pairs: practically never */
#define ENOUGH 40				/* links at three steps, before they count */

/* A fold's graph. */
typedef struct fold_view
{
	gp_env	   *env;
	gp_csr	   *a;				/* the symmetric pattern */
	gp_link_sides sides;
	int32_t    *mark;			/* the last pair that marked a node, from 1 */
	int64_t		work;
	int64_t		next_look;
} fold_view;

bool *
gp_link_ends_find(gp_env *env, const gp_graph *graph)
{
	bool	   *ends = gp_alloc_zero(env, graph->nodes, sizeof(bool));

	GP_EACH(env, k, graph->start[graph->nodes], k)
		ends[graph->col[k]] = true;
	return ends;
}

/* True when a neighbour of a node is marked. */
static bool
touches(fold_view *v, int32_t node, int32_t mark)
{
	const gp_csr *a = v->a;
	int64_t		k = a->start[node];

	while (k < a->start[node + 1] && v->mark[a->col[k]] != mark)
		k++;
	v->work += 1 + k - a->start[node];
	gp_poll(v->env, v->work, &v->next_look);
	return k < a->start[node + 1];
}

/* How far apart two nodes lie; mark is this pair's. */
static enum gp_link_topology_kind
distance(fold_view *v, int32_t i, int32_t j, int32_t mark)
{
	const gp_csr *a = v->a;

	if (v->sides.component[i] != v->sides.component[j])
		return GP_TOPOLOGY_APART;
	for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
		v->mark[a->col[k]] = mark;
	if (v->mark[j] == mark)
		return GP_TOPOLOGY_ONE;
	if (touches(v, j, mark))
		return GP_TOPOLOGY_TWO;
	int64_t		most = v->work + PAIR_WORK;
	for (int64_t k = a->start[j]; k < a->start[j + 1] && v->work < most; k++)
		if (touches(v, a->col[k], mark))
			return GP_TOPOLOGY_THREE;
	return GP_TOPOLOGY_MORE;
}

void
gp_link_topology_count(gp_env *env, const gp_link_fold *fold, int64_t *count, bool *together)
{
	const gp_link_pairs *pairs = &fold->pairs;
	const gp_graph *g = fold->graph;
	fold_view	v = {.env = env,.a = gp_graph_symmetric(env, g)};
	bool	   *ends = gp_link_ends_find(env, g);

	v.sides = gp_link_sides_find(env, v.a);
	v.mark = gp_alloc_zero(env, g->nodes, sizeof(int32_t));
	for (int64_t e = 0; e < pairs->n; e++)
	{
		int32_t		i = pairs->src[e];
		int32_t		j = pairs->dst[e];
		int64_t    *own = count + (e < fold->links ? 0 : GP_LINK_TOPOLOGY_COUNTS / 2);

		together[e] = v.sides.component[i] == v.sides.component[j];
		own[GP_TOPOLOGY_PAIRS]++;
		own[distance(&v, i, j, (int32_t) e + 1)]++;
		own[GP_TOPOLOGY_SIDED] += together[e] && v.sides.side[i] != GP_LINK_NO_SIDE;
		own[GP_TOPOLOGY_SAME_SIDE] += gp_link_same_side(&v.sides, i, j);
		own[GP_TOPOLOGY_FROM_END] += ends[i] && g->start[i + 1] == g->start[i];
		own[GP_TOPOLOGY_TO_START] += !ends[j] && g->start[j + 1] > g->start[j];
	}
	gp_link_sides_free(env, &v.sides);
	gp_csr_free(env, v.a);
	gp_free_all(env, v.mark, ends);
}

/*
 * True when links are of a kind practically never, for pairs of that kind and what
 * it is a kind of.  One link of it counts as seen: a few pairs prove nothing.
 */
static bool
never(const int64_t *count, enum gp_link_topology_kind kind, enum gp_link_topology_kind all)
{
	const int64_t *other = count + GP_LINK_TOPOLOGY_COUNTS / 2;

	return other[kind] > 0 && RARE * (count[kind] + 1) * other[all] <= other[kind] * count[all];
}

gp_link_topology
gp_link_topology_read(const int64_t *count)
{
	gp_link_topology t;

	t.two_sided = never(count, GP_TOPOLOGY_SAME_SIDE, GP_TOPOLOGY_SIDED);
	t.starts = never(count, GP_TOPOLOGY_FROM_END, GP_TOPOLOGY_PAIRS);
	t.ends = never(count, GP_TOPOLOGY_TO_START, GP_TOPOLOGY_PAIRS);
	t.three = count[GP_TOPOLOGY_THREE] >= ENOUGH &&
		2 * count[GP_TOPOLOGY_THREE] > count[GP_TOPOLOGY_TWO];
	return t;
}
