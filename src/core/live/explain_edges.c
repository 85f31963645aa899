/*
 * explain_edges.c - the edges near a node whose removal moves its score most, by evaluating without
 * each.
 *
 * The edges that are tried are those on the kernel's walks from the node, the heaviest first: the
 * weight of an edge is the sum of p_h(u) A_uv over the steps, p_h being row h of the walk by A.
 * The score without an edge is that of the same question on a graph that lacks it.
 */
#include "base/sort.h"
#include "live.h"

#define TRIED 32				/* edges that are tried */
#define TRIED_EACH 2			/* or so many for each that is asked for */
/* that are evaluated for all of them, but one edge is tried at least */
#define ROWS 262144

/* The largest effect first, whatever its sign. */
static int
compare_effect(const void *first, const void *second, void *unused)
{
	const gp_live_edge *a = first;
	const gp_live_edge *b = second;

	if (fabs(a->effect) != fabs(b->effect))
		return fabs(a->effect) > fabs(b->effect) ? -1 : 1;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/*
 * The weights of all edges, in the order of the graph's columns; those of undirected ones stand
 * with the lower end.
 */
static double *
walk_weights(gp_env *env, const gp_live_question *q)
{
	const gp_graph *g = q->graph;
	gp_csr	   *a = gp_graph_normalise(env, g, q->program->norm, GP_DOUBLE);
	double	   *weight = gp_alloc_zero(env, g->start[g->nodes], sizeof(double));
	double	   *p = gp_alloc_zero(env, g->nodes, sizeof(double));

	p[q->node ? q->node[0] : 0] = 1.0;
	for (int hop = gp_program_hops(env, q->program); hop > 0; hop--)
	{
		double	   *next = gp_alloc_zero(env, g->nodes, sizeof(double));

		/* Adds one step of the walk to the weights of the edges that it takes */
		GP_EACH(env, u, g->nodes, a->start[u])
		{
			for (int64_t k = a->start[u]; p[u] > 0.0 && k < a->start[u + 1]; k++)
			{
				int32_t		v = a->col[k];
				double		mass = p[u] * gp_number_at(a->value, a->type, k);
				bool		turn = !g->directed && v < u;

				next[v] += mass;
				if (v != u)
					weight[gp_csr_find(g->start, g->col, turn ? v : (int32_t) u,
									   turn ? (int32_t) u : v)] += mass;
			}
		}
		gp_free(env, p);
		p = next;
	}
	gp_free(env, p);
	gp_csr_free(env, a);
	return weight;
}

static double
score_of(gp_device *dev, const gp_live_question *q, int32_t column)
{
	gp_live_answer a = gp_live_ask(dev, q);
	double		score = a.mean[column];

	gp_free_all(dev->env, a.mean, a.variance, a.is_prior);
	return score;
}

gp_live_edge *
gp_live_explain_edges(gp_device *dev, const gp_live_question *question, int32_t column, int64_t k,
					  int64_t *n, int64_t *left)
{
	gp_env	   *env = dev->env;
	const gp_graph *g = question->graph;
	double	   *weight = walk_weights(env, question);
	gp_live_edge *edge = gp_alloc_array(env, g->start[g->nodes], sizeof(gp_live_edge));
	int64_t		most = k < INT32_MAX / TRIED_EACH ? gp_max64(TRIED, TRIED_EACH * k) : k;
	int64_t		found = 0;

	/* The edges to try are those of most weight; *left counts those that would be too much. */
	for (int64_t u = 0; u < g->nodes; u++)
		for (int64_t e = g->start[u]; e < g->start[u + 1]; e++)
			if (weight[e] > 0.0)
				edge[found++] = (gp_live_edge) {(int32_t) u, g->col[e], weight[e]};
	gp_sort(env, edge, found, sizeof(gp_live_edge), compare_effect, NULL);
	gp_free(env, weight);
	most = gp_min64(found, most);
	*n = gp_min64(most, gp_max64(1, ROWS / question->inner));
	*left = most - *n;
	double		score = score_of(dev, question, column);
	for (int64_t e = 0; e < *n; e++)
	{
		gp_graph   *graph = gp_graph_without(env, g, 1, &edge[e].src, &edge[e].dst);
		gp_live_question without = *question;

		without.graph = graph;
		edge[e].effect = score_of(dev, &without, column) - score;
		gp_graph_free(env, graph);
	}
	gp_sort(env, edge, *n, sizeof(gp_live_edge), compare_effect, NULL);
	*n = gp_min64(*n, k);
	return edge;
}
