/*
 * value_graph.c - the SQL type gp_graph, and the state that becomes one.
 *
 * After the ids come the edges, each under its smaller node: for every node how
 * many there are, then the gaps from node to node.  With dense ids a graph of a
 * million nodes takes two to three bytes an edge.  Weights follow in the same order.
 *
 * A state (gp_graph_state) keeps repeated edges that have weights apart, because
 * sums of floats depend on their order: they are added up once all are there,
 * the smallest first.  It may also hold the kernel of gp_factor.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "types.h"

#define STATE "gp_graph_state"

static bool
is_state(const gnngp_value_reader *r)
{
	return strcmp(r->type, STATE) == 0;
}

/* Header, ids and number of edges. */
static int
read_head(gnngp_value_reader *r, gnngp_graph_value *g)
{
	int			flags = gnngp_value_flags(r, GNNGP_VALUE_DENSE | GNNGP_VALUE_WEIGHTED |
										  (is_state(r) ? GNNGP_VALUE_KERNEL : 0));

	memset(g, 0, sizeof(*g));
	if (flags & GNNGP_VALUE_KERNEL)
	{
		/* The kernel of a state */
		uint64		length = gnngp_value_number(r);

		if (length > (uint64) (r->end - r->at))
			gnngp_value_refuse(r, "It ends too early.");
		if (!pg_verifymbstr((const char *) r->at, (int) length, true))
			gnngp_value_refuse(r, "Its kernel is not a text.");
		g->kernel = pnstrdup((const char *) r->at, length);
		r->at += length;
		g->landmarks = (int64) gnngp_value_number(r);
		if (g->landmarks < 0 || g->landmarks > PG_INT32_MAX)
			gnngp_value_refuse(r, "Its number of landmarks is out of range.");
	}
	g->ids = gnngp_value_read_ids(r, flags, 1);
	uint64		edges = gnngp_value_number(r);
	if (edges > (uint64) (r->end - r->at))
		gnngp_value_refuse(r, "It ends too early.");
	g->edges = (int64) edges;
	return flags;
}

/* Reads a whole value; nothing in it is trusted. */
static void
read_value(gnngp_value_reader *r, gnngp_graph_value *g)
{
	int			flags = read_head(r, g);
	bool		repeats = is_state(r) && (flags & GNNGP_VALUE_WEIGHTED);
	int64		at = 0;

	g->src = MemoryContextAllocHuge(CurrentMemoryContext, Max(g->edges, 1) * sizeof(int32));
	g->dst = MemoryContextAllocHuge(CurrentMemoryContext, Max(g->edges, 1) * sizeof(int32));
	for (int64 node = 0; node < g->ids.n; node++)
	{
		uint64		count = gnngp_value_number(r);
		int64		other = node + 1;

		gnngp_poll(node);
		if (count > (uint64) (g->edges - at))
			gnngp_value_refuse(r, "There are more edges than it says.");
		for (uint64 k = 0; k < count; k++, at++)
		{
			uint64		gap = gnngp_value_number(r);
			int64		least = k > 0 && !repeats ? other + 1 : other;

			if (gap >= (uint64) (g->ids.n - least) || least >= g->ids.n)
				gnngp_value_refuse(r, "An edge leads to an unknown node.");
			other = least + (int64) gap;
			gnngp_poll(at);
			g->src[at] = (int32) node;
			g->dst[at] = (int32) other;
		}
	}
	if (at < g->edges)
		gnngp_value_refuse(r, "There are fewer edges than it says.");
	if (flags & GNNGP_VALUE_WEIGHTED)
	{
		/* The weights */
		if ((uint64) (r->end - r->at) / sizeof(double) < (uint64) g->edges)
			gnngp_value_refuse(r, "It ends too early.");
		g->weight = MemoryContextAllocHuge(CurrentMemoryContext, Max(g->edges, 1) * sizeof(double));
		for (int64 i = 0; i < g->edges; i++, r->at += sizeof(double))
		{
			g->weight[i] = gnngp_get_float8(r->at);
			gnngp_poll(i);
			/* A negative zero would be another encoding of zero. */
			if (!isfinite(g->weight[i]) || signbit(g->weight[i]))
				gnngp_value_refuse(r, "A weight is not finite, or negative.");
		}
	}
	if (r->at != r->end)
		gnngp_value_refuse(r, "Bytes are left over.");
}

void
gnngp_graph_read(Datum value, const char *type, gnngp_graph_value *out)
{
	gnngp_value_reader r = gnngp_value_open(value, type);

	read_value(&r, out);
}

gnngp_graph_value
gnngp_graph_head(Datum value, const char *type, bool *weighted)
{
	gnngp_value_reader r = gnngp_value_open(value, type);
	gnngp_graph_value g;
	int			flags = read_head(&r, &g);

	if (weighted)
		*weighted = flags & GNNGP_VALUE_WEIGHTED;
	return g;
}

int32 *
gnngp_graph_places(const gnngp_graph_value *graph, const gnngp_value_ids *rows, int64 *missing)
{
	int32	   *node = MemoryContextAllocHuge(CurrentMemoryContext,
											  Max(graph->ids.n, 1) * sizeof(int32));
	int64		at = 0;

	for (int64 i = 0; i < graph->ids.n; i++)
	{
		int64		id = gnngp_value_id(&graph->ids, i);
		int64		step = 1;

		gnngp_poll(i);
		/* Steps that double, and halve again: far ahead for a block of few nodes */
		while (at + step < rows->n && gnngp_value_id(rows, at + step) <= id)
		{
			at += step;
			step *= 2;
		}
		for (; step > 0; step /= 2)
			if (at + step < rows->n && gnngp_value_id(rows, at + step) <= id)
				at += step;
		if (at >= rows->n || gnngp_value_id(rows, at) != id)
		{
			*missing = id;
			return NULL;
		}
		node[i] = (int32) at;
	}
	return node;
}

void
gnngp_graph_add_edges(gp_edges *edges, const gnngp_graph_value *graph, const int32 *node)
{
	for (int64 i = 0; i < graph->edges; i++)
	{
		gnngp_poll(i);
		gp_edges_add(edges, 1, &node[graph->src[i]], &node[graph->dst[i]],
					 graph->weight ? &graph->weight[i] : NULL);
	}
}

static void
check_graph(gnngp_value_reader *r)
{
	gnngp_graph_value g;

	read_value(r, &g);
}

GNNGP_VALUE_INPUT(graph, check_graph)
GNNGP_VALUE_INPUT(graph_state, check_graph)
