/*
 * neighbourhood.c - the nodes that a reading meets, by their ids, and the edges among them.
 *
 * Nodes are found by open addressing, and are numbered as they are met; at the end those
 * whose rows were read come first, by their ids, as they do where all is read.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pg/server/server.h"
#include "neighbourhood.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* The place of a node, or the free one where it belongs. */
static uint64
find_place(gnngp_met *m, int64 key, const char *text, int length)
{
	uint64		place = gp_first_place(&m->places, (uint64) key);

	for (; m->at[place].node >= 0; place = gp_next_place(&m->places, place))
	{
		const char *other;

		if (m->at[place].key != key)
			continue;
		other = text ? m->node[m->at[place].node].text : NULL;
		if (text == NULL || (strncmp(other, text, length) == 0 && other[length] == '\0'))
			break;
	}
	return place;
}

int32
gnngp_meet(gnngp_met *m, int64 key, const char *text, int length)
{
	uint64		place;
	gnngp_met_node *node;

	if (m->nnodes == m->room)
	{
		/* Makes room for twice as many nodes */
		m->room = m->room ? 2 * m->room : 256;
		m->node = gp_realloc_array(m->env, m->node, m->room, sizeof(gnngp_met_node));
		gp_free(m->env, m->at);
		m->places = gp_places_open(m->env, 2 * (uint64) m->room);
		m->at = gp_alloc_array(m->env, 2 * m->room, sizeof(gnngp_met_place));
		memset(m->at, -1, 2 * m->room * sizeof(gnngp_met_place));
		for (int64 i = 0; i < m->nnodes; i++)
		{
			uint64		place = gp_first_place(&m->places, (uint64) m->node[i].key);

			CHECK_FOR_INTERRUPTS();
			while (m->at[place].node >= 0)
				place = gp_next_place(&m->places, place);
			m->at[place] = (gnngp_met_place) {m->node[i].key, i};
		}
	}
	place = find_place(m, key, text, length);
	if (m->at[place].node >= 0)
		return (int32) m->at[place].node;
	m->at[place] = (gnngp_met_place) {key, m->nnodes};
	node = &m->node[m->nnodes];
	*node = (gnngp_met_node) {.key = key,.row = -1,.number = -1,.degree = -1.0};
	if (text)
	{
		node->text = gp_alloc(m->env, length + 1);
		memcpy(node->text, text, length);
		node->text[length] = '\0';
	}
	return (int32) m->nnodes++;
}

int32
gnngp_met_find(gnngp_met *m, Datum value, Oid base)
{
	const char *text;
	int			length = 0;
	int64		key = gnngp_id_datum_key(m->r, value, base, &text, &length);

	return (int32) m->at[find_place(m, key, text, length)].node;
}

int32
gnngp_meet_datum(gnngp_met *m, Datum value, Oid base)
{
	const char *text;
	int			length = 0;
	int64		key = gnngp_id_datum_key(m->r, value, base, &text, &length);

	return gnngp_meet(m, key, text, length);
}

Datum
gnngp_met_ids(gnngp_met *m, int64 first, int64 last, bool rows)
{
	Oid			base = m->r->integer_ids ? INT8OID : m->r->id.base;
	Datum	   *value = MemoryContextAllocHuge(CurrentMemoryContext,
											   sizeof(Datum) * Max(last - first, 1));
	int16		length;
	bool		by_value;
	char		align;
	Oid			input;
	Oid			ioparam;
	int			n = 0;

	get_typlenbyvalalign(base, &length, &by_value, &align);
	getTypeInputInfo(base, &input, &ioparam);
	for (int64 i = first; i < last; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (rows && m->node[i].row < 0)
			continue;
		value[n++] = m->r->integer_ids ? Int64GetDatum(m->node[i].key) :
			OidInputFunctionCall(input, m->node[i].text, ioparam, -1);
	}
	return PointerGetDatum(construct_array(value, n, base, length, by_value, align));
}

uint64
gnngp_met_other_end(gnngp_met *m, int32 near, Datum value, Oid base)
{
	const gnngp_met_node *node = &m->node[near];
	const char *text;
	int			length = 0;
	int64		key = gnngp_id_datum_key(m->r, value, base, &text, &length);

	if (key == node->key && (text == NULL || (strncmp(node->text, text, length) == 0 &&
											  node->text[length] == '\0')))
		return 0;
	return gp_hash((uint64) key) | 1;
}

void
gnngp_met_add_edge(gnngp_met *m, int32 src, int32 dst, double weight)
{
	if (m->nedges == m->edge_room)
	{
		m->edge_room = m->edge_room ? 2 * m->edge_room : 1024;
		m->edge = gp_realloc_array(m->env, m->edge, m->edge_room, sizeof(gnngp_met_edge));
	}
	m->edge[m->nedges++] = (gnngp_met_edge) {src, dst, weight};
}

/* Compares two nodes that were met, by the order of ids. */
static int
compare_met(const void *a, const void *b, void *arg)
{
	const gnngp_met *m = arg;
	const gnngp_met_node *x = &m->node[*(const int32 *) a];
	const gnngp_met_node *y = &m->node[*(const int32 *) b];

	return gnngp_row_id_compare(&(gnngp_row_id) {x->key, x->text},
								&(gnngp_row_id) {y->key, y->text});
}

int32 *
gnngp_met_number(gnngp_met *m, gnngp_ids *ids)
{
	int32	   *order = gp_alloc_array(m->env, Max(m->nrows, 1), sizeof(int32));
	int32	   *node_of_row = gp_alloc_array(m->env, Max(m->nrows, 1), sizeof(int32));
	int64		n = 0;

	for (int64 i = 0; i < m->nnodes; i++)
		if (m->node[i].row >= 0)
			order[n++] = (int32) i;
	gnngp_sort(order, n, sizeof(int32), compare_met, m);
	ids->n = n;
	ids->key = gp_alloc_array(m->env, m->nnodes, sizeof(int64));
	ids->text = ids->integer ? NULL : gp_alloc_array(m->env, m->nnodes, sizeof(char *));
	for (int64 i = 0; i < n; i++)
	{
		m->node[order[i]].number = (int32) i;
		node_of_row[m->node[order[i]].row] = (int32) i;
	}
	for (int64 i = 0; i < m->nnodes; i++)
		if (m->node[i].row < 0)
			m->node[i].number = (int32) n++;
	for (int64 i = 0; i < m->nnodes; i++)
	{
		const gnngp_met_node *node = &m->node[i];

		ids->key[node->number] = node->key;
		if (!ids->integer)
			ids->text[node->number] = node->text;
	}
	gp_free(m->env, order);
	return node_of_row;
}

gp_graph *
gnngp_met_graph(const gnngp_met *m, bool weighted, bool counted)
{
	gp_edges   *edges = gp_edges_create(m->env, m->nnodes, m->r->def->directed, weighted);
	gp_graph   *graph;

	for (int64 e = 0; e < m->nedges; e++)
	{
		const gnngp_met_edge *edge = &m->edge[e];

		gp_edges_add(edges, 1, &m->node[edge->src].number, &m->node[edge->dst].number,
					 weighted ? &edge->weight : NULL);
	}
	graph = gp_graph_build(edges);
	if (counted)
		graph->degree = gp_alloc_array(m->env, m->nnodes, sizeof(double));
	for (int64 i = 0; counted && i < m->nnodes; i++)
		graph->degree[m->node[i].number] = m->node[i].degree;
	return graph;
}
