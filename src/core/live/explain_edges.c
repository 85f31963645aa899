/*
 * explain_edges.c - the edges near a node whose removal moves its score most, by evaluating without
 * each.
 *
 * The edges that are tried are those on the kernel's walks from the node, the heaviest first: the
 * weight of an edge is the sum of p_h(u) A_uv over the steps, p_h being row h of the walk by A.
 * The score without an edge is that of the same question on a graph that lacks it; copies of a
 * small graph, each without an edge, are evaluated together.
 */
#include "base/sort.h"
#include "live.h"

#define TRIED 32				/* edges that are tried */
#define TRIED_EACH 2			/* or so many for each that is asked for */
/* that are evaluated for all of them, but one edge is tried at least */
#define ROWS 262144
#define ROWS_AT_ONCE 4096		/* in one evaluation, or of one edge */

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

/* The number of a node in one of n copies of the graph, of which the inner nodes come first. */
static int32_t
place(const gp_live_question *q, int64_t n, int64_t copy, int32_t u)
{
	int64_t		outer = q->graph->nodes - q->inner;

	return (int32_t) (u < q->inner ? copy * q->inner + u :
					  n * q->inner + copy * outer + u - q->inner);
}

/* n copies of the graph, side by side, without times of edges, which no kernel reads. */
static gp_graph *
copies_of_graph(gp_env *env, const gp_live_question *q, int64_t n)
{
	const gp_graph *g = q->graph;
	gp_graph   *out = gp_alloc_zero(env, 1, sizeof(gp_graph));
	int64_t		entries = n * g->start[g->nodes];

	*out = (gp_graph) {.nodes = n * g->nodes,.edges = n * g->edges,.directed = g->directed};
	out->start = gp_alloc_zero(env, out->nodes + 1, sizeof(int64_t));
	out->col = gp_alloc_array(env, entries, sizeof(int32_t));
	out->weight = g->weight ? gp_alloc_array(env, entries, sizeof(double)) : NULL;
	out->degree = g->degree ? gp_alloc_array(env, out->nodes, sizeof(double)) : NULL;
	for (int64_t c = 0; c < n; c++)
		for (int32_t u = 0; u < g->nodes; u++)
			out->start[place(q, n, c, u) + 1] = g->start[u + 1] - g->start[u];
	gp_offsets_of_counts(out->start, out->nodes);
	for (int64_t c = 0; c < n; c++)
		GP_EACH(env, u, g->nodes, g->start[u] + u)
		{
			int32_t		row = place(q, n, c, (int32_t) u);
			int64_t		shift = out->start[row] - g->start[u];

			if (g->degree)
				out->degree[row] = g->degree[u];
			for (int64_t k = g->start[u]; k < g->start[u + 1]; k++)
			{
				out->col[k + shift] = place(q, n, c, g->col[k]);
				if (g->weight)
					out->weight[k + shift] = g->weight[k];
			}
		}
	return out;
}

static gp_features *
copies_of_features(gp_env *env, const gp_features *x, int64_t inner, int64_t n)
{
	size_t		bytes = (size_t) (inner * x->dims) * gp_type_size(x->type);

	if (x->csr)
	{
		int32_t    *row = gp_alloc_array(env, n * inner, sizeof(int32_t));

		for (int64_t i = 0; i < n * inner; i++)
			row[i] = (int32_t) (i % inner);
		gp_csr	   *csr = gp_csr_select(env, x->csr, row, n * inner, NULL, x->dims);
		gp_free(env, row);
		return gp_features_of_csr(env, csr);
	}
	char	   *dense = gp_alloc_array(env, n, bytes);
	for (int64_t c = 0; c < n; c++)
		memcpy(dense + c * bytes, x->dense, bytes);
	return gp_features_of_dense(env, dense, n * inner, x->dims, x->type);
}

/*
 * Makes the effects of n edges by one question: of a copy of the graph for each edge, without it.
 * What was fitted is then read once for all.
 */
static void
find_effects(gp_device *dev, const gp_live_question *q, int32_t column, double score,
			 gp_live_edge *edge, int64_t n)
{
	gp_env	   *env = dev->env;
	gp_live_question all = *q;
	gp_graph   *whole = copies_of_graph(env, q, n);
	gp_features *x = q->features ? copies_of_features(env, q->features, q->inner, n) : NULL;
	int32_t    *fit_node = gp_alloc_array(env, whole->nodes, sizeof(int32_t));
	int32_t    *node = gp_alloc_array(env, 3 * n, sizeof(int32_t));	/* asked; ends of edges */

	for (int64_t c = 0; c < n; c++)
	{
		for (int32_t u = 0; u < q->graph->nodes; u++)
			fit_node[place(q, n, c, u)] = q->fit_node[u];
		node[c] = place(q, n, c, q->node ? q->node[0] : 0);
		node[n + c] = place(q, n, c, edge[c].src);
		node[2 * n + c] = place(q, n, c, edge[c].dst);
	}
	gp_graph   *without = gp_graph_without(env, whole, n, node + n, node + 2 * n);
	gp_graph_free(env, whole);
	all.graph = without;
	all.features = x;
	all.fit_node = fit_node;
	all.inner = n * q->inner;
	all.asked = n;
	all.node = node;
	gp_live_answer a = gp_live_ask(dev, &all);
	for (int64_t c = 0; c < n; c++)
		edge[c].effect = a.mean[c * a.columns + column] - score;
	gp_features_free(env, x);
	gp_graph_free(env, without);
	gp_free_all(env, a.mean, a.variance, a.is_prior, fit_node, node);
}

gp_live_edge *
gp_live_explain_edges(gp_device *dev, const gp_live_question *question, int32_t column,
					  double score, int64_t k, int64_t *n, int64_t *left)
{
	gp_env	   *env = dev->env;
	const gp_graph *g = question->graph;
	double	   *weight = walk_weights(env, question);
	gp_live_edge *edge = gp_alloc_array(env, g->start[g->nodes], sizeof(gp_live_edge));
	int64_t		most = k < INT32_MAX / TRIED_EACH ? gp_max64(TRIED, TRIED_EACH * k) : k;
	int64_t		found = 0;

	assert(question->nlabels == 0);	/* of which each copy would have its own */
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
	int64_t		count = gp_min64(*n, gp_max64(1, ROWS_AT_ONCE / question->inner));
	for (int64_t e = 0; e < *n; e += count)
		find_effects(dev, question, column, score, edge + e, gp_min64(count, *n - e));
	gp_sort(env, edge, *n, sizeof(gp_live_edge), compare_effect, NULL);
	*n = gp_min64(*n, k);
	return edge;
}
