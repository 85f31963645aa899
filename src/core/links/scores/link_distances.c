/*
 * link_distances.c - how far apart the ends of links lie in the graph without them.
 *
 * Folds hide links; where their ends are found then is where links that nobody
 * knows of should be looked for: two steps apart among friends, three between
 * users and items, from those that follow to those that are followed.  Random
 * pairs without a link say what is worth knowing: a kind of pairs is left out when
 * random pairs are often of it and links practically never.
 */
#include "links/links_internal.h"

#define PAIR_WORK 100000		/* entries that are gone through for the distance of a pair */
#define RARE 20					/* times rarer than random pairs: practically never */
#define ENOUGH 40				/* links at three steps, before they count */

/* A fold's graph. */
typedef struct fold_view
{
	gp_env	   *env;
	const gp_graph *graph;
	gp_csr	   *symmetric;		/* of a directed graph */
	gp_csr		a;				/* the symmetric pattern */
	gp_link_sides sides;
	bool	   *ends;			/* nodes that links lead to */
	int32_t    *mark;			/* the last pair that marked a node, from 1 */
	int64_t		work;
	int64_t		next_look;
} fold_view;

/* Opens it. */
static fold_view
view_open(gp_env *env, const gp_graph *graph)
{
	fold_view	v = {.env = env, .graph = graph};

	if (graph->directed)
	{
		v.symmetric = gp_graph_symmetric(env, graph);
		v.a = *v.symmetric;
	}
	else
		v.a = (gp_csr) {graph->nodes, graph->nodes, graph->start, graph->col, NULL, GP_DOUBLE, 0};
	v.sides = gp_link_sides_find(env, &v.a);
	v.ends = gp_link_ends_find(env, graph);
	v.mark = gp_alloc_zero(env, graph->nodes, sizeof(int32_t));
	return v;
}

/* Frees it. */
static void
view_close(fold_view *v)
{
	gp_free(v->env, v->mark);
	gp_free(v->env, v->ends);
	gp_link_sides_free(v->env, &v->sides);
	gp_csr_free(v->env, v->symmetric);
}

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
	const gp_csr *a = &v->a;
	int64_t		k = a->start[node];

	while (k < a->start[node + 1] && v->mark[a->col[k]] != mark)
		k++;
	v->work += 1 + k - a->start[node];
	gp_poll(v->env, v->work, &v->next_look);
	return k < a->start[node + 1];
}

/* How far apart two nodes lie; mark is this pair's. */
static enum gp_link_habit
distance(fold_view *v, int32_t i, int32_t j, int32_t mark)
{
	const gp_csr *a = &v->a;
	int64_t		most;

	if (v->sides.component[i] != v->sides.component[j])
		return GP_HABIT_APART;
	for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
		v->mark[a->col[k]] = mark;
	if (v->mark[j] == mark)
		return GP_HABIT_ONE;
	if (touches(v, j, mark))
		return GP_HABIT_TWO;
	most = v->work + PAIR_WORK;
	for (int64_t k = a->start[j]; k < a->start[j + 1] && v->work < most; k++)
		if (touches(v, a->col[k], mark))
			return GP_HABIT_THREE;
	return GP_HABIT_MORE;
}

/* Counts one pair. */
static void
count_pair(fold_view *v, int32_t i, int32_t j, int32_t mark, int64_t *count)
{
	const int64_t *start = v->graph->start;
	bool		i_starts = start[i + 1] > start[i];
	bool		j_starts = start[j + 1] > start[j];

	count[GP_HABIT_PAIRS]++;
	count[distance(v, i, j, mark)]++;
	count[GP_HABIT_SIDED] += v->sides.component[i] == v->sides.component[j] &&
		v->sides.side[i] != GP_LINK_NO_SIDE;
	count[GP_HABIT_SAME_SIDE] += gp_link_same_side(&v->sides, i, j);
	count[GP_HABIT_FROM_END] += v->ends[i] && !i_starts;
	count[GP_HABIT_TO_START] += j_starts && !v->ends[j];
}

void
gp_link_habits_count(gp_env *env, const gp_link_fold *fold, int64_t *count, bool *together)
{
	const gp_link_pairs *pairs = &fold->pairs;
	fold_view	v = view_open(env, fold->graph);

	for (int64_t e = 0; e < pairs->n; e++)
	{
		count_pair(&v, pairs->src[e], pairs->dst[e], (int32_t) e + 1,
				   count + (e < fold->links ? 0 : GP_LINK_HABITS / 2));
		together[e] = v.sides.component[pairs->src[e]] == v.sides.component[pairs->dst[e]];
	}
	view_close(&v);
}

/*
 * True when links are of a kind practically never, for pairs of that kind and what
 * it is a kind of.  One link of it counts as seen: a few pairs prove nothing.
 */
static bool
never(const int64_t *count, enum gp_link_habit kind, enum gp_link_habit all)
{
	const int64_t *other = count + GP_LINK_HABITS / 2;

	return other[kind] > 0 && RARE * (count[kind] + 1) * other[all] <= other[kind] * count[all];
}

/* What the counts say. */
gp_link_habits
gp_link_habits_read(const int64_t *count)
{
	gp_link_habits h;

	h.two_sided = never(count, GP_HABIT_SAME_SIDE, GP_HABIT_SIDED);
	h.starts = never(count, GP_HABIT_FROM_END, GP_HABIT_PAIRS);
	h.ends = never(count, GP_HABIT_TO_START, GP_HABIT_PAIRS);
	h.three = count[GP_HABIT_THREE] >= ENOUGH && 2 * count[GP_HABIT_THREE] > count[GP_HABIT_TWO];
	return h;
}
