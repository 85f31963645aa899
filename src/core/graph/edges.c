/*
 * edges.c - from a list of edges to a sorted sparse matrix.
 *
 * Sorting is two counting passes, by column and then by row, linear in the edges
 * and the same for every order of arrival.
 */
#include "base/sort.h"
#include "graph.h"

#define LEAST_ROOM 512

struct gp_edges
{
	gp_env	   *env;
	int64_t		nodes;
	bool		directed;
	bool		weighted;
	int64_t		n;
	int64_t		room;
	int32_t    *src;
	int32_t    *dst;
	double	   *weight;			/* NULL without weights */
};

gp_edges *
gp_edges_create(gp_env *env, int64_t nodes, bool directed, bool weighted)
{
	gp_edges   *edges = gp_alloc_zero(env, 1, sizeof(gp_edges));

	*edges = (gp_edges) {.env = env,.nodes = nodes,.directed = directed,.weighted = weighted};
	return edges;
}

void
gp_edges_make_room(gp_edges *edges, int64_t room)
{
	edges->room = room;
	edges->src = gp_resize_array(edges->env, edges->src, room, sizeof(int32_t));
	edges->dst = gp_resize_array(edges->env, edges->dst, room, sizeof(int32_t));
	if (edges->weighted)
		edges->weight = gp_resize_array(edges->env, edges->weight, room, sizeof(double));
}

void
gp_edges_add(gp_edges *edges, int64_t n, const int32_t *src, const int32_t *dst,
			 const double *weight)
{
	if (edges->n + n > edges->room)
		gp_edges_make_room(edges, gp_max64(edges->room + edges->room / 2,
										   edges->n + n + LEAST_ROOM));
	for (int64_t i = 0; i < n; i++)
	{
		if (src[i] == dst[i])
			continue;
		edges->src[edges->n] = src[i];
		edges->dst[edges->n] = dst[i];
		if (edges->weighted)
			edges->weight[edges->n] = weight[i];
		edges->n++;
	}
}

/* Merges repeated columns of every row in place and closes the gaps. */
static void
merge_repeated(gp_env *env, gp_csr *rows)
{
	double	   *weight = rows->value;
	int64_t		next = 0;
	int64_t		out = 0;
	int64_t		k = 0;

	for (int64_t r = 0; r < rows->rows; r++)
	{
		int64_t		end = rows->start[r + 1];

		rows->start[r] = out;
		while (k < end)
		{
			int64_t		same = k + 1;

			gp_poll(env, k, &next);
			while (same < end && rows->col[same] == rows->col[k])
				same++;
			rows->col[out] = rows->col[k];
			if (weight)
			{
				/* Weights are added from the smallest on, whatever the order of arrival. */
				double		sum = 0.0;

				gp_sort(env, weight + k, same - k, sizeof(double), gp_compare_double, NULL);
				for (int64_t i = k; i < same; i++)
					sum += weight[i];
				weight[out] = sum;
			}
			out++;
			k = same;
		}
	}
	rows->start[rows->rows] = out;
}

gp_csr *
gp_edges_sort(gp_edges *edges, bool merge)
{
	gp_env	   *env = edges->env;

	gp_edges_make_room(edges, edges->n);
	gp_csr	   *columns = gp_csr_by_column(env, edges->nodes, edges->nodes, edges->n, edges->src,
										   edges->dst, edges->weight, GP_DOUBLE, !edges->directed);
	gp_free_all(env, edges->src, edges->dst, edges->weight, edges);
	/* Walking the columns in order leaves every row sorted by column. */
	gp_csr	   *rows = gp_csr_transpose(env, columns);
	gp_csr_free(env, columns);
	if (merge)
		merge_repeated(env, rows);
	return rows;
}

gp_graph *
gp_graph_build(gp_edges *edges)
{
	gp_env	   *env = edges->env;
	gp_graph   *graph = gp_alloc_zero(env, 1, sizeof(gp_graph));
	bool		directed = edges->directed;
	gp_csr	   *rows = gp_edges_sort(edges, true);

	*graph = (gp_graph) {.nodes = rows->rows,.directed = directed,
		.edges = gp_csr_entries(rows) / (directed ? 1 : 2),
	.start = rows->start,.col = rows->col,.weight = rows->value};
	gp_free(env, rows);
	return graph;
}

void
gp_graph_date(gp_env *env, gp_graph *graph, int64_t n, const int32_t *src, const int32_t *dst,
			  const double *time)
{
	int64_t		entries = graph->start[graph->nodes];

	graph->time = gp_alloc_array(env, entries, sizeof(double));
	for (int64_t k = 0; k < entries; k++)
		graph->time[k] = INFINITY;
	GP_EACH(env, e, n, e)
	{
		int64_t		at = gp_csr_find(graph->start, graph->col, src[e], dst[e]);
		int64_t		back = graph->directed ? -1 :
			gp_csr_find(graph->start, graph->col, dst[e], src[e]);

		if (at >= 0)
			graph->time[at] = fmin(graph->time[at], time[e]);
		if (back >= 0)
			graph->time[back] = fmin(graph->time[back], time[e]);
	}
}

gp_graph *
gp_graph_without(gp_env *env, const gp_graph *graph, int64_t n, const int32_t *src,
				 const int32_t *dst)
{
	/* of the links that go, in both directions where there are two */
	bool	   *mark = gp_alloc_zero(env, graph->start[graph->nodes], sizeof(bool));
	gp_graph   *out = gp_alloc_zero(env, 1, sizeof(gp_graph));
	int64_t		entries = graph->start[graph->nodes] - n * (graph->directed ? 1 : 2);
	int64_t		at = 0;

	*out = (gp_graph) {.nodes = graph->nodes,.edges = graph->edges - n,.directed = graph->directed};
	out->start = gp_alloc_zero(env, graph->nodes + 1, sizeof(int64_t));
	out->col = gp_alloc_array(env, entries, sizeof(int32_t));
	if (graph->weight)
		out->weight = gp_alloc_array(env, entries, sizeof(double));
	if (graph->time)
		out->time = gp_alloc_array(env, entries, sizeof(double));
	if (graph->degree)
	{
		out->degree = gp_alloc_array(env, graph->nodes, sizeof(double));
		memcpy(out->degree, graph->degree, graph->nodes * sizeof(double));
	}
	GP_EACH(env, k, n, k)
	{
		mark[gp_csr_find(graph->start, graph->col, src[k], dst[k])] = true;
		if (!graph->directed)
			mark[gp_csr_find(graph->start, graph->col, dst[k], src[k])] = true;
	}
	GP_EACH(env, i, graph->nodes, graph->start[i] + i)
	{
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
		{
			int32_t		j = graph->col[k];

			if (mark[k] && graph->degree && graph->degree[j] >= 0.0)
				out->degree[j] = fmax(out->degree[j] - (graph->weight ? graph->weight[k] : 1.0),
									  0.0);
			if (mark[k])
				continue;
			out->col[at] = j;
			if (graph->weight)
				out->weight[at] = graph->weight[k];
			if (graph->time)
				out->time[at] = graph->time[k];
			at++;
		}
		out->start[i + 1] = at;
	}
	gp_free(env, mark);
	return out;
}

void
gp_graph_free(gp_env *env, gp_graph *graph)
{
	if (graph == NULL)
		return;
	gp_free_all(env, graph->start, graph->col, graph->weight, graph->time, graph->degree, graph);
}
