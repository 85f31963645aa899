/*
 * edge_list.c - from pairs of ids in any order, as rows bring them, to the value of a graph.
 *
 * The ids become node numbers, and the core sorts the edges.  The result is the same for every
 * order of arrival; value_graph.c says what its bytes are.
 *
 * A list grows by doubling.  A long one without weights is first rid of what repeats, so that its
 * memory follows the distinct edges; and a graph that would be too large for a value is refused
 * then, not at the end.
 */
#include "postgres.h"

#include "edge_list.h"
#include "pg/ids/idmap.h"

#define DIRECT_MIN 4096			/* a range of ids up to this has a bit for each of them, */
#define DIRECT_SHARE 32			/* and so has one of so many ids an edge */

#define FIRST_ROOM 32
#define COMPACT_FROM ((int64) 1 << 24)	/* edges from which a full list is rid of repeats first */

/* The ids of a range in order: a bit for each id stays in the processor's cache. */
static void
find_ids_by_bits(gp_env *env, const gnngp_edge_list *list, uint64 range, gnngp_value_ids *ids)
{
	int64		words = (int64) (range >> 6) + 1;
	uint64	   *bits = gp_alloc_zero(env, words, sizeof(uint64));
	int64		n = 0;

	for (int64 i = 0; i < 2 * list->n; i++)
	{
		uint64		at = (uint64) list->end[i] - (uint64) ids->first;

		gnngp_poll(i);
		bits[at >> 6] |= UINT64CONST(1) << (at & 63);
	}
	for (int64 k = 0; k < words; k++)
		ids->n += pg_popcount64(bits[k]);
	if ((uint64) ids->n != range + 1)
		ids->id = gp_alloc_array(env, ids->n, sizeof(int64));
	for (int64 k = 0; ids->id && k < words; k++)
	{
		gnngp_poll(k);
		for (uint64 left = bits[k]; left; left &= left - 1)
			ids->id[n++] = (int64) ((uint64) ids->first + (k << 6) + pg_rightmost_one_pos64(left));
	}
	gp_free(env, bits);
}

/* The same of ids that lie far apart. */
static void
find_ids_by_sorting(gp_env *env, const gnngp_edge_list *list, gnngp_value_ids *ids)
{
	uint64	   *key = gp_alloc_array(env, 2 * list->n, sizeof(uint64));

	for (int64 i = 0; i < 2 * list->n; i++)
	{
		gnngp_poll(i);
		key[i] = (uint64) list->end[i] - (uint64) ids->first;
	}
	gnngp_sort_keys(key, 2 * list->n);
	ids->id = (int64 *) key;
	for (int64 i = 0; i < 2 * list->n; i++)
	{
		int64		id = (int64) ((uint64) ids->first + key[i]);

		gnngp_poll(i);
		if (ids->n == 0 || ids->id[ids->n - 1] != id)
			ids->id[ids->n++] = id;
	}
}

/* The ids of all edges in order, each once. */
static gnngp_value_ids
find_ids(gp_env *env, const gnngp_edge_list *list)
{
	gnngp_value_ids ids = {.first = list->end[0]};
	int64		high = list->end[0];

	for (int64 i = 0; i < 2 * list->n; i++)
	{
		gnngp_poll(i);
		ids.first = Min(ids.first, list->end[i]);
		high = Max(high, list->end[i]);
	}
	uint64		range = (uint64) high - (uint64) ids.first;
	if (range < (uint64) DIRECT_MIN || range < (uint64) list->n * DIRECT_SHARE)
		find_ids_by_bits(env, list, range, &ids);
	else
		find_ids_by_sorting(env, list, &ids);
	/* Nodes have 31 bits. */
	if (ids.n > PG_INT32_MAX)
		gnngp_raise(PROGRAM_LIMIT_EXCEEDED, NULL, "the graph has " INT64_FORMAT " nodes, but a value may have %d",
					ids.n, PG_INT32_MAX);
	return ids;
}

gnngp_listed_graph
gnngp_edge_list_graph(const gnngp_edge_list *list, bool repeats)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gnngp_listed_graph g = {.env = env,.weighted = list->weighted,.repeats = repeats,
							.ids = find_ids(env, list)};
	gnngp_ids	ids = {.n = g.ids.n,.integer = true,.key = g.ids.id};
	gp_edges   *edges = gp_edges_create(env, g.ids.n, true, list->weighted);
	gnngp_idmap map = {0};

	if (ids.key)
		gnngp_idmap_build(env, &map, &ids);
	gp_edges_make_room(edges, list->n);
	for (int64 i = 0; i < list->n; i++)
	{
		const int64 *end = list->end + 2 * i;
		int32		a = ids.key ? gnngp_idmap_find(&map, end[0]) :
			(int32) ((uint64) end[0] - (uint64) g.ids.first);
		int32		b = ids.key ? gnngp_idmap_find(&map, end[1]) :
			(int32) ((uint64) end[1] - (uint64) g.ids.first);
		int32		low = Min(a, b);
		int32		high = Max(a, b);

		gnngp_poll(i);
		gp_edges_add(edges, 1, &low, &high, list->weighted ? &list->weight[i] : NULL);
	}
	gnngp_idmap_free(env, &map);
	g.edges = gp_edges_sort(edges, !repeats);
	return g;
}

Datum
gnngp_graph_write(const gnngp_listed_graph *g, const char *kernel, int64 landmarks)
{
	const gp_csr *edges = g->edges;
	const double *weight = edges->value;
	int64		n = gp_csr_entries(edges);
	StringInfoData out;

	gnngp_value_begin(&out, gnngp_value_ids_flag(&g->ids) |
					  (g->weighted ? GNNGP_VALUE_WEIGHTED : 0) |
					  (kernel ? GNNGP_VALUE_KERNEL : 0));
	if (kernel)
	{
		gnngp_value_reserve(&out, strlen(kernel) + 20, "graph");
		gnngp_value_put_number(&out, strlen(kernel));
		appendBinaryStringInfo(&out, kernel, (int) strlen(kernel));
		gnngp_value_put_number(&out, landmarks);
	}
	gnngp_value_put_ids(&out, &g->ids, "graph");
	gnngp_value_reserve(&out, 10, "graph");
	gnngp_value_put_number(&out, n);
	for (int64 node = 0; node < g->ids.n; node++)
	{
		int64		least = node + 1;

		gnngp_poll(node);
		gnngp_value_reserve(&out, 10, "graph");
		gnngp_value_put_number(&out, edges->start[node + 1] - edges->start[node]);
		for (int64 k = edges->start[node]; k < edges->start[node + 1]; k++)
		{
			gnngp_poll(k);
			/* Room for all of them at once would be refused at nodes of many edges. */
			gnngp_value_reserve(&out, 10, "graph");
			gnngp_value_put_number(&out, edges->col[k] - least);
			least = edges->col[k] + (g->repeats ? 0 : 1);
		}
	}
	gnngp_value_reserve(&out, g->weighted ? n * sizeof(double) : 0, "graph");
	for (int64 i = 0; g->weighted && i < n; i++)
	{
		gnngp_poll(i);
		if (!isfinite(weight[i]))
			gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE, NULL, "the weights of a repeated edge add up to more than a double precision number holds");
		gnngp_put_float8(out.data + out.len, weight[i] + 0.0);
		out.len += sizeof(double);
	}
	return gnngp_value_end(&out);
}

Datum
gnngp_graph_of_edges(const gnngp_edge_list *list)
{
	gnngp_listed_graph g = gnngp_edge_list_graph(list, false);
	Datum		value = gnngp_graph_write(&g, NULL, 0);

	gnngp_env_destroy(g.env);
	return value;
}

void
gnngp_edge_list_add_lone(gnngp_edge_list *list, const gnngp_value_ids *ids, const bool *seen)
{
	for (int64 i = 0; i < ids->n; i++)
		if (!seen[i])
			gnngp_edge_list_add(list, gnngp_value_id(ids, i), gnngp_value_id(ids, i), 0.0);
}

/* Rids the list of repeated edges, unless they have weights; refuses more than a value holds. */
static void
compact(gnngp_edge_list *list)
{
	gnngp_listed_graph g = gnngp_edge_list_graph(list, false);
	bool	   *seen = gp_alloc_zero(g.env, g.ids.n, sizeof(bool));

	pfree(DatumGetPointer(gnngp_graph_write(&g, NULL, 0)));
	if (!list->weighted)
		list->n = 0;
	for (int64 node = 0; !list->weighted && node < g.ids.n; node++)
		for (int64 k = g.edges->start[node]; k < g.edges->start[node + 1]; k++)
		{
			gnngp_poll(k);
			seen[node] = seen[g.edges->col[k]] = true;
			gnngp_edge_list_add(list, gnngp_value_id(&g.ids, node),
								gnngp_value_id(&g.ids, g.edges->col[k]), 0.0);
		}
	/* Nodes without an edge; there is room, for each came with a loop of its own. */
	if (!list->weighted)
		gnngp_edge_list_add_lone(list, &g.ids, seen);
	gnngp_env_destroy(g.env);
}

void
gnngp_edge_list_grow(gnngp_edge_list *list, int64 more)
{
	int64		room = Max(list->room, FIRST_ROOM);
	int64		bytes = list->weighted ? 24 : 16;	/* of an edge */

	if (list->n + more > list->room && list->n >= COMPACT_FROM)
		compact(list);
	while (room < list->n + more || room / 2 < list->n)
		room *= 2;
	if (room <= list->room)
		return;
	gnngp_value_hold(&list->held, list->context, (double) room * bytes,
					 (double) room * (list->weighted ? 32 : 16), psprintf(INT64_FORMAT " edges", room));
	list->end = gnngp_value_grow(list->context, list->end, room * 2 * sizeof(int64));
	gp_use_large_pages(list->end, room * 2 * sizeof(int64));
	if (list->weighted)
	{
		list->weight = gnngp_value_grow(list->context, list->weight, room * sizeof(double));
		gp_use_large_pages(list->weight, room * sizeof(double));
	}
	list->room = room;
}
