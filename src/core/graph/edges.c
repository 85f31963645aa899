/*
 * edges.c - from a list of edges to a sorted sparse matrix.
 *
 * The list is kept in chunks, so that growing it copies nothing.  Sorting is
 * two counting passes, by column and then by row, linear in the edges and the
 * same for every order of arrival.
 */
#include "base/sort.h"
#include "graph.h"

#include <math.h>

#define FIRST_CHUNK 4096
#define LAST_CHUNK (1 << 18)

typedef struct edge_chunk
{
	struct edge_chunk *next;
	int64_t		used;
	int64_t		room;
	int32_t    *src;
	int32_t    *dst;
	double	   *weight;			/* NULL without weights */
} edge_chunk;

struct gp_edges
{
	gp_env	   *env;
	int64_t		nodes;
	bool		directed;
	bool		weighted;
	edge_chunk *first;
	edge_chunk *last;
};

/* One direction of every edge, grouped by one of its ends. */
typedef struct edge_groups
{
	int64_t    *start;			/* nodes + 1 */
	int32_t    *other;
	double	   *weight;
} edge_groups;

gp_edges *
gp_edges_create(gp_env *env, int64_t nodes, bool directed, bool weighted)
{
	gp_edges   *edges = gp_alloc_zero(env, 1, sizeof(gp_edges));

	edges->env = env;
	edges->nodes = nodes;
	edges->directed = directed;
	edges->weighted = weighted;
	return edges;
}

/* Appends an empty chunk, twice as large as the last one up to a limit. */
static void
add_chunk(gp_edges *edges)
{
	edge_chunk *chunk = gp_alloc_zero(edges->env, 1, sizeof(edge_chunk));
	int64_t		room = edges->last ? edges->last->room * 2 : FIRST_CHUNK;

	chunk->room = room > LAST_CHUNK ? LAST_CHUNK : room;
	if (edges->last)
		edges->last->next = chunk;
	else
		edges->first = chunk;
	edges->last = chunk;
	chunk->src = gp_alloc_array(edges->env, chunk->room, sizeof(int32_t));
	chunk->dst = gp_alloc_array(edges->env, chunk->room, sizeof(int32_t));
	if (edges->weighted)
		chunk->weight = gp_alloc_array(edges->env, chunk->room, sizeof(double));
}

void
gp_edges_add(gp_edges *edges, int64_t n, const int32_t *src, const int32_t *dst,
			 const double *weight)
{
	for (int64_t i = 0; i < n; i++)
	{
		edge_chunk *chunk = edges->last;

		if (src[i] == dst[i])
			continue;
		if (chunk == NULL || chunk->used == chunk->room)
		{
			add_chunk(edges);
			chunk = edges->last;
		}
		chunk->src[chunk->used] = src[i];
		chunk->dst[chunk->used] = dst[i];
		if (edges->weighted)
			chunk->weight[chunk->used] = weight[i];
		chunk->used++;
	}
}

/* Turns counts at start[i + 1] into offsets. */
static void
counts_to_offsets(int64_t *start, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		start[i + 1] += start[i];
}

/* Puts one entry at the cursor of its group. */
static inline void
put_entry(edge_groups *groups, int64_t *cursor, int32_t group, int32_t other, double weight)
{
	int64_t		at = cursor[group]++;

	groups->other[at] = other;
	if (groups->weight)
		groups->weight[at] = weight;
}

/* Allocates groups for the counted entries. */
static edge_groups
groups_create(const gp_edges *edges, int64_t *start)
{
	edge_groups groups = {start, NULL, NULL};

	groups.other = gp_alloc_array(edges->env, start[edges->nodes], sizeof(int32_t));
	if (edges->weighted)
		groups.weight = gp_alloc_array(edges->env, start[edges->nodes], sizeof(double));
	return groups;
}

/* A working copy of the offsets, advanced while entries are placed. */
static int64_t *
copy_offsets(gp_env *env, const int64_t *start, int64_t n)
{
	int64_t    *cursor = gp_alloc_array(env, n + 1, sizeof(int64_t));

	memcpy(cursor, start, (n + 1) * sizeof(int64_t));
	return cursor;
}

/* First pass: groups the rows of every column. */
static edge_groups
group_by_column(gp_edges *edges)
{
	int64_t    *start = gp_alloc_zero(edges->env, edges->nodes + 1, sizeof(int64_t));
	int64_t    *cursor;
	edge_groups groups;

	/* Counts the entries of each column, both directions for undirected edges */
	for (const edge_chunk *chunk = edges->first; chunk; chunk = chunk->next)
	{
		for (int64_t i = 0; i < chunk->used; i++)
			start[chunk->dst[i] + 1]++;
		if (!edges->directed)
			for (int64_t i = 0; i < chunk->used; i++)
				start[chunk->src[i] + 1]++;
		edges->env->check_interrupts(edges->env);
	}
	counts_to_offsets(start, edges->nodes);
	groups = groups_create(edges, start);
	cursor = copy_offsets(edges->env, start, edges->nodes);
	for (edge_chunk *chunk = edges->first; chunk; chunk = chunk->next)
	{
		for (int64_t i = 0; i < chunk->used; i++)
		{
			double		w = edges->weighted ? chunk->weight[i] : 1.0;

			put_entry(&groups, cursor, chunk->dst[i], chunk->src[i], w);
			if (!edges->directed)
				put_entry(&groups, cursor, chunk->src[i], chunk->dst[i], w);
		}
		edges->env->check_interrupts(edges->env);
	}
	gp_free(edges->env, cursor);
	return groups;
}

/* Merges repeated columns of every row in place and closes the gaps. */
static void
merge_repeated(gp_env *env, edge_groups *rows, int64_t nodes)
{
	int64_t		next = 0;
	int64_t		out = 0;
	int64_t		k = 0;

	for (int64_t r = 0; r < nodes; r++)
	{
		int64_t		end = rows->start[r + 1];

		rows->start[r] = out;
		while (k < end)
		{
			int64_t		same = k + 1;

			gp_poll(env, k, &next);
			while (same < end && rows->other[same] == rows->other[k])
				same++;
			rows->other[out] = rows->other[k];
			if (rows->weight)
			{
				/* Weights are added from the smallest on, whatever the order of arrival. */
				double		sum = 0.0;

				gp_sort(env, rows->weight + k, same - k, sizeof(double), gp_compare_double, NULL);
				for (int64_t i = k; i < same; i++)
					sum += rows->weight[i];
				rows->weight[out] = sum;
			}
			out++;
			k = same;
		}
	}
	rows->start[nodes] = out;
}

gp_graph *
gp_graph_build(gp_edges *edges)
{
	gp_env	   *env = edges->env;
	gp_graph   *graph = gp_alloc_zero(env, 1, sizeof(gp_graph));
	edge_groups columns = group_by_column(edges);
	edge_groups rows;

	/* Frees the chunks, not the list's head */
	edge_chunk *chunk = edges->first;

	while (chunk)
	{
		edge_chunk *next = chunk->next;

		gp_free_all(edges->env, chunk->src, chunk->dst, chunk->weight, chunk);
		chunk = next;
	}
	edges->first = edges->last = NULL;
	/* Second pass: walking the columns in order leaves every row sorted by column. */
	int64_t		n = edges->nodes;
	int64_t    *start = gp_alloc_zero(env, n + 1, sizeof(int64_t));
	int64_t    *cursor;
	int64_t		next = 0;

	GP_EACH(env, k, columns.start[n], k)
		start[columns.other[k] + 1]++;
	next = 0;
	counts_to_offsets(start, n);
	rows = groups_create(edges, start);
	cursor = copy_offsets(env, start, n);
	for (int64_t c = 0; c < n; c++)
	{
		for (int64_t k = columns.start[c]; k < columns.start[c + 1]; k++)
			put_entry(&rows, cursor, columns.other[k], (int32_t) c,
					  columns.weight ? columns.weight[k] : 1.0);
		gp_poll(env, columns.start[c + 1], &next);
	}
	gp_free(env, cursor);
	gp_free_all(env, columns.start, columns.other, columns.weight);
	merge_repeated(env, &rows, edges->nodes);
	graph->nodes = edges->nodes;
	graph->directed = edges->directed;
	graph->edges = rows.start[edges->nodes] / (edges->directed ? 1 : 2);
	graph->start = rows.start;
	graph->col = rows.other;
	graph->weight = rows.weight;
	gp_free(env, edges);
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

void
gp_graph_free(gp_env *env, gp_graph *graph)
{
	if (graph == NULL)
		return;
	gp_free_all(env, graph->start, graph->col, graph->weight, graph->time, graph->degree, graph);
}
