/*
 * edge_list.c - edges as rows bring them.
 *
 * The list grows by doubling.  A long one without weights is first sorted and
 * rid of what repeats, so that its memory follows the distinct edges; and a
 * graph that would be too large for a value is refused then, not at the end.
 */
#include "postgres.h"

#include "sorted_edges.h"
#include "pg/server/server.h"

#define FIRST_ROOM 32
#define COMPACT_FROM ((int64) 1 << 24)	/* edges from which a full list is rid of repeats first */

void
gnngp_edge_list_add_lone(gnngp_edge_list *list, const gnngp_value_ids *ids, const bool *seen)
{
	for (int64 i = 0; i < ids->n; i++)
		if (!seen[i])
			gnngp_edge_list_add(list, gnngp_value_id(ids, i), gnngp_value_id(ids, i), 0.0);
}

/* Rids the list of repeated edges; refuses more than any value holds. */
static void
compact(gnngp_edge_list *list)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "gnngp edges",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	gnngp_sorted_edges s;
	double		smallest;

	gnngp_edge_sort(list, &s);
	/* An edge takes at least a byte, and so does a node. */
	smallest = (double) s.edges + (double) s.ids.n;
	if (s.edge)
	{
		int64		before = s.edges;

		gnngp_sorted_edges_merge(&s);
		smallest = 9.0 * s.edges + s.ids.n;
		s.edges = before;
	}
	gnngp_value_check_size(smallest, "graph");
	if (s.key)
	{
		/* Rewrites the list as its distinct edges, and nodes without any as loops */
		bool	   *seen = MemoryContextAllocExtended(CurrentMemoryContext, s.ids.n,
													  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

		list->n = 0;
		for (int64 i = 0; i < s.edges; i++)
		{
			int64		a = (int64) (s.key[i] >> s.shift);
			int64		b = (int64) (s.key[i] & ((UINT64CONST(1) << s.shift) - 1));

			gnngp_poll(i);
			seen[a] = seen[b] = true;
			gnngp_edge_list_add(list, gnngp_value_id(&s.ids, a), gnngp_value_id(&s.ids, b), 0.0);
		}
		/* There is room: each of these nodes came with a loop of its own. */
		gnngp_edge_list_add_lone(list, &s.ids, seen);
		pfree(seen);
		gnngp_value_check_size(gnngp_graph_size(&s), "graph");
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
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
