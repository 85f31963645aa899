/*
 * explain_edges.c - the edges near a node whose removal moves its score most, by evaluating without each.
 *
 * The edges that are tried are those on the kernel's walks from the node, the heaviest first: the weight
 * of an edge is the sum of p_h(u) A_uv over the steps, p_h being row h of the walk by A.  The score
 * without an edge is that of the same question on a graph that lacks it; several such
 * graphs stand side by side in one evaluation.
 */
#include "base/sort.h"
#include "infer_internal.h"
#include "kernel/keep.h"

#include <math.h>
#include <string.h>

#define TRIED 32				/* edges that are tried */
#define TRIED_EACH 2			/* or so many for each that is asked for */
#define ROWS 4096				/* rows of one evaluation, about */
#define COPIED 64				/* nodes and edges of a copied graph that count as one of them */

/* An edge on the way. */
typedef struct trial
{
	gp_live_edge edge;
	double		weight;
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
	int64_t		look = 0;

	for (int64_t u = 0; u < g->nodes; u++)
	{
		gp_look(env, a->start[u], &look);
		for (int64_t k = a->start[u]; p[u] > 0.0 && k < a->start[u + 1]; k++)
		{
			int32_t		v = a->col[k];
			double		mass = p[u] * gp_number_at(a->value, a->type, k);
			bool		turn = !g->directed && v < u;

			next[v] += mass;
			if (v != u)
				weight[gp_csr_find(g->start, g->col, turn ? v : (int32_t) u, turn ? (int32_t) u : v)] += mass;
		}
	}
}

/* The weights of all edges, in the order of the graph's columns; those of undirected ones stand with the lower end. */
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

		walk(env, g, a, p, next, weight);
		gp_free(env, p);
		p = next;
	}
	gp_free(env, p);
	gp_csr_free(env, a);
	return weight;
}

/* The edges to try; *n counts them. */
static gp_live_edge *
find_edges(gp_env *env, const gp_live_question *q, int64_t most, int64_t *n)
{
	const gp_graph *g = q->graph;
	double	   *weight = walk_weights(env, q);
	trial	   *list = gp_alloc_array(env, g->start[g->nodes], sizeof(trial));
	gp_live_edge *edge;
	int64_t		found = 0;

	for (int64_t u = 0; u < g->nodes; u++)
		for (int64_t k = g->start[u]; k < g->start[u + 1]; k++)
			if (weight[k] > 0.0)
				list[found++] = (trial) {{(int32_t) u, g->col[k], 0.0}, weight[k]};
	gp_sort(env, list, found, sizeof(trial), compare_weight, NULL);
	*n = gp_min64(found, most);
	edge = gp_alloc_array(env, *n, sizeof(gp_live_edge));
	for (int64_t k = 0; k < *n; k++)
		edge[k] = list[k].edge;
	gp_free(env, list);
	gp_free(env, weight);
	return edge;
}

/* The number of a node in one of several graphs side by side: all inner nodes come first. */
static int32_t
beside(const gp_live_question *q, int64_t graphs, int64_t which, int32_t node)
{
	int64_t		outer = q->graph->nodes - q->inner;

	return (int32_t) (node < q->inner ? which * q->inner + node : graphs * q->inner + which * outer + node - q->inner);
}

/* The graph so many times, each without one edge. */
static gp_graph *
graphs_without(gp_env *env, const gp_live_question *q, const gp_live_edge *edge, int64_t graphs)
{
	const gp_graph *g = q->graph;
	gp_edges   *edges = gp_edges_create(env, graphs * g->nodes, g->directed, g->weight != NULL);

	for (int64_t e = 0; e < graphs; e++)
		for (int32_t u = 0; u < g->nodes; u++)
			for (int64_t k = g->start[u]; k < g->start[u + 1]; k++)
			{
				int32_t		v = g->col[k];
				int32_t		src = beside(q, graphs, e, u);
				int32_t		dst = beside(q, graphs, e, v);

				if ((g->directed || u < v) && (edge[e].src != u || edge[e].dst != v))
					gp_edges_add(edges, 1, &src, &dst, g->weight ? &g->weight[k] : NULL);
			}
	return gp_graph_build(edges);
}

/* The features so many times. */
static gp_features *
features_beside(gp_env *env, const gp_live_question *q, int64_t graphs)
{
	const gp_features *x = q->features;
	gp_features *out;
	size_t		bytes;
	int32_t    *row;

	if (x == NULL)
		return NULL;
	if (x->csr)
	{
		row = gp_alloc_array(env, graphs * q->inner, sizeof(int32_t));
		for (int64_t i = 0; i < graphs * q->inner; i++)
			row[i] = (int32_t) (i % q->inner);
		out = gp_features_of_csr(env, gp_csr_select(env, x->csr, row, graphs * q->inner, NULL, x->dims));
		gp_free(env, row);
		return out;
	}
	bytes = (size_t) (q->inner * x->dims) * gp_type_size(x->type);
	out = gp_alloc_zero(env, 1, sizeof(gp_features));
	*out = (gp_features) {.rows = graphs * q->inner,.dims = x->dims,.type = x->type};
	out->dense = gp_alloc_array(env, graphs, bytes);
	for (int64_t e = 0; e < graphs; e++)
		memcpy((char *) out->dense + (size_t) e * bytes, x->dense, bytes);
	return out;
}

/* Evaluates the node without each of some edges: the effects become the scores. */
static void
evaluate(gp_device *dev, const gp_live_question *q, int32_t column, gp_live_edge *edge, int64_t graphs)
{
	gp_env	   *env = dev->env;
	gp_live_question without = *q;
	gp_graph   *graph = graphs_without(env, q, edge, graphs);
	gp_features *features = features_beside(env, q, graphs);
	int32_t    *node = gp_alloc_array(env, graphs, sizeof(int32_t));
	int32_t    *fit_node = gp_alloc_array(env, graphs * q->graph->nodes, sizeof(int32_t));
	gp_live_answer a;

	for (int64_t e = 0; e < graphs; e++)
	{
		node[e] = beside(q, graphs, e, q->node ? q->node[0] : 0);
		for (int32_t i = 0; i < q->graph->nodes; i++)
			fit_node[beside(q, graphs, e, i)] = q->fit_node[i];
	}
	without.graph = graph;
	without.features = features;
	without.fit_node = fit_node;
	without.inner = graphs * q->inner;
	without.asked = graphs;
	without.node = node;
	a = gp_live_ask(dev, &without);
	for (int64_t e = 0; e < graphs; e++)
		edge[e].effect = a.mean[e * a.columns + column];
	gp_free(env, a.mean);
	gp_free(env, a.variance);
	gp_free(env, a.is_prior);
	gp_free(env, node);
	gp_free(env, fit_node);
	gp_graph_free(env, graph);
	gp_features_free(env, features);
}

/* The edges and their effects. */
gp_live_edge *
gp_live_explain_edges(gp_device *dev, const gp_live_question *question, int32_t column, int64_t k, int64_t *n)
{
	gp_live_edge none = {-1, -1, 0.0};
	gp_live_edge *edge = find_edges(dev->env, question, k < INT32_MAX / TRIED_EACH ? gp_max64(TRIED, TRIED_EACH * k) : k, n);
	/* Copies of the graph lie side by side: few of one that hubs make large. */
	int64_t		size = gp_max64(question->inner, (question->graph->nodes + question->graph->start[question->graph->nodes]) / COPIED);
	int64_t		room = gp_max64(1, ROWS / gp_max64(1, size));

	evaluate(dev, question, column, &none, 1);
	for (gp_band band = gp_band_first(*n, room); band.count > 0; gp_band_next(&band))
		evaluate(dev, question, column, edge + band.first, band.count);
	for (int64_t e = 0; e < *n; e++)
		edge[e].effect -= none.effect;
	gp_sort(dev->env, edge, *n, sizeof(gp_live_edge), compare_effect, NULL);
	*n = gp_min64(*n, k);
	return edge;
}
