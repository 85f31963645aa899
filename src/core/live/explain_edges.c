/*
 * explain_edges.c - the edges near a node whose removal moves its score most, by evaluating without
 * each.
 *
 * The edges that are tried are those on the kernel's walks from the node, the heaviest first: the
 * weight of an edge is the sum of p_h(u) A_uv over the steps, p_h being row h of the walk by A.
 * The score without an edge is that of the same question on a graph that lacks it; many edges are
 * tried in one evaluation, where only the rows that each touches stand anew (kernel/live_order.c).
 */
#include "base/sort.h"
#include "live.h"

#include <math.h>

#define TRIED 32				/* edges that are tried */
#define TRIED_EACH 2			/* or so many for each that is asked for */
/* rows that stand anew for all edges that are tried, about, and at least one edge */
#define ROWS 131072
#define ROWS_AT_ONCE 65536		/* and in one evaluation */
#define ENTRIES_A_ROW 64		/* of the operator, that weigh as much as a row */

/* An edge on the way. */
typedef struct trial
{
	gp_live_edge edge;
	double		weight;
	int64_t		rows;			/* that stand anew without it, about */
} trial;

/* Compares two edges: the heaviest first. */
static int
compare_weight(const void *first, const void *second, void *unused)
{
	const trial *a = first;
	const trial *b = second;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->edge.src != b->edge.src)
		return a->edge.src < b->edge.src ? -1 : 1;
	return a->edge.dst < b->edge.dst ? -1 : a->edge.dst > b->edge.dst;
}

/* Compares two edges: the largest effect first, whatever its sign. */
static int
compare_effect(const void *first, const void *second, void *unused)
{
	const gp_live_edge *a = first;
	const gp_live_edge *b = second;

	if (fabs(a->effect) != fabs(b->effect))
		return fabs(a->effect) > fabs(b->effect) ? -1 : 1;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return a->dst < b->dst ? -1 : a->dst > b->dst;
}

/* Adds one step of the walk to the weights of the edges that it takes. */
static void
walk(gp_env *env, const gp_graph *g, const gp_csr *a, const double *p, double *next, double *weight)
{
	GP_EACH(env, u, g->nodes, a->start[u])
	{
		for (int64_t k = a->start[u]; p[u] > 0.0 && k < a->start[u + 1]; k++)
		{
			int32_t		v = a->col[k];
			double		mass = p[u] * gp_number_at(a->value, a->type, k);
			bool		turn = !g->directed && v < u;

			next[v] += mass;
			if (v != u)
				weight[gp_csr_find(g->start, g->col, turn ? v : (int32_t) u, turn ? (int32_t) u :
								   v)] += mass;
		}
	}
}

/*
 * The weights of all edges, in the order of the graph's columns; those of undirected ones stand
 * with the lower end. *near counts the nodes whose edges are walked.
 */
static double *
walk_weights(gp_env *env, const gp_live_question *q, int64_t *near)
{
	const gp_graph *g = q->graph;
	gp_csr	   *a = gp_graph_normalise(env, g, q->program->norm, GP_DOUBLE);
	double	   *weight = gp_alloc_zero(env, g->start[g->nodes], sizeof(double));
	double	   *p = gp_alloc_zero(env, g->nodes, sizeof(double));

	p[q->node ? q->node[0] : 0] = 1.0;
	for (int hop = gp_program_hops(env, q->program); hop > 0; hop--)
	{
		double	   *next = gp_alloc_zero(env, g->nodes, sizeof(double));

		*near = 0;
		for (int64_t u = 0; u < g->nodes; u++)
			*near += p[u] > 0.0;
		walk(env, g, a, p, next, weight);
		gp_free(env, p);
		p = next;
	}
	gp_free(env, p);
	gp_csr_free(env, a);
	return weight;
}

/*
 * The rows that stand anew without an edge: both ends', and with degrees on both sides those of
 * their neighbours; the entries of hubs' own rows count as rows, too.
 */
static int64_t
rows_without(const gp_live_question *q, int64_t near, int32_t src, int32_t dst)
{
	const int64_t *start = q->graph->start;
	int32_t		node = q->node ? q->node[0] : 0;
	int64_t		ends = start[src + 1] - start[src] + start[dst + 1] - start[dst];
	int64_t		entries = ends + start[node + 1] - start[node];

	return (q->program->norm == GP_NORM_SYM ? gp_min64(near, ends + 2) : 2) +
		entries / ENTRIES_A_ROW;
}

/* The edges to try; *n counts them, *left those that would be too much. */
static trial *
find_edges(gp_env *env, const gp_live_question *q, int64_t most, int64_t *n, int64_t *left)
{
	const gp_graph *g = q->graph;
	int64_t		near = 0;
	int64_t		rows = 0;
	double	   *weight = walk_weights(env, q, &near);
	trial	   *list = gp_alloc_array(env, g->start[g->nodes], sizeof(trial));
	int64_t		found = 0;

	for (int64_t u = 0; u < g->nodes; u++)
		for (int64_t k = g->start[u]; k < g->start[u + 1]; k++)
			if (weight[k] > 0.0)
				list[found++] = (trial) {{(int32_t) u, g->col[k], 0.0}, weight[k],
										 rows_without(q, near, (int32_t) u, g->col[k])};
	gp_sort(env, list, found, sizeof(trial), compare_weight, NULL);
	gp_free(env, weight);
	most = gp_min64(found, most);
	for (*n = 0; *n < most && (*n == 0 || rows + list[*n].rows <= ROWS); (*n)++)
		rows += list[*n].rows;
	*left = most - *n;
	return list;
}

/* How many edges from one on are tried in one evaluation. */
static int64_t
count_together(const trial *list, int64_t first, int64_t n)
{
	int64_t		count = 0;
	int64_t		rows = 0;

	while (first + count < n && (count == 0 || rows + list[first + count].rows <= ROWS_AT_ONCE))
		rows += list[first + count++].rows;
	return count;
}

/* Evaluates the node without each of some edges: what its score becomes less what it is. */
static void
evaluate(gp_device *dev, const gp_live_question *q, int32_t column, gp_live_edge *edge, int64_t n)
{
	gp_env	   *env = dev->env;
	gp_live_question without = *q;
	gp_cut	   *cut = gp_alloc_array(env, n, sizeof(gp_cut));
	gp_live_answer a;

	for (int64_t e = 0; e < n; e++)
		cut[e] = (gp_cut) {edge[e].src, edge[e].dst};
	without.ncuts = n;
	without.cut = cut;
	a = gp_live_ask(dev, &without);
	for (int64_t e = 0; e < n; e++)
		edge[e].effect = a.mean[(e + 1) * a.columns + column] - a.mean[column];
	gp_free(env, a.mean);
	gp_free(env, a.variance);
	gp_free(env, a.is_prior);
	gp_free(env, cut);
}

gp_live_edge *
gp_live_explain_edges(gp_device *dev, const gp_live_question *question, int32_t column, int64_t k,
					  int64_t *n, int64_t *left)
{
	gp_env	   *env = dev->env;
	trial	   *list = find_edges(env, question, k < INT32_MAX / TRIED_EACH ?
								  gp_max64(TRIED, TRIED_EACH * k) : k, n, left);
	gp_live_edge *edge = gp_alloc_array(env, *n, sizeof(gp_live_edge));
	int64_t		count;

	for (int64_t e = 0; e < *n; e++)
		edge[e] = list[e].edge;
	for (int64_t e = 0; e < *n; e += count)
	{
		count = count_together(list, e, *n);
		evaluate(dev, question, column, edge + e, count);
	}
	gp_free(env, list);
	gp_sort(env, edge, *n, sizeof(gp_live_edge), compare_effect, NULL);
	*n = gp_min64(*n, k);
	return edge;
}
