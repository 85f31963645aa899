/*
 * neighbourhood.c - the neighbourhood of a few nodes, hop by hop, or all that the caller sees.
 *
 * A round asks for the rows of the nodes that the round before has met, and for their edges, by
 * arrays of ids.  The last round's edges count for degrees alone, if at all: they are counted as
 * they come, and their other ends are not met.  Nodes that the caller does not see are neighbours
 * of which nothing is known.
 *
 * Nodes are numbered as they are met; at the end those whose rows were read come first, by their
 * ids, as they do where all is read.
 */
#include "postgres.h"

#include "read_ids.h"

/* A node that was met. */
typedef struct met_node
{
	int32		row;			/* of the node table, as it came; -1: not seen */
	int32		number;			/* at the end */
	double		degree;			/* where it alone was read of the edges; else below 0 */
} met_node;

/* An edge between nodes that were met. */
typedef struct met_edge
{
	int32		src;
	int32		dst;
	double		weight;
} met_edge;

typedef struct neighbourhood
{
	gnngp_reader *r;
	gp_env	   *env;
	gnngp_numbered met;			/* the ids of the nodes */
	met_node   *node;
	int64		nnodes;
	int64		room;
	int64		nrows;			/* of nodes that were read */
	met_edge   *edge;
	int64		nedges;
	int64		edge_room;
	MemoryContext context;
	int64		first;			/* of the nodes of this round */
	int64		end;			/* one past them */
	gnngp_query nodes;
	gnngp_feature_reading *features;
	gnngp_query edges[2];		/* edges by src, and by dst */
	gnngp_column end_column[2];
	Oid			end_base[2];
	gnngp_column weight;
	bool		weighted;
	int			ends;			/* that a query of the round reads edges by: 1 src, 2 dst, 3 both */
	int			before;			/* that the query before it had */
	gnngp_id	last[2];		/* the ends of the row before: tables often stand in their order */
	int32		last_node[2];
	bool		all;			/* one round that reads everything */
	gp_set		seen;			/* edges of the round, hashed: without weights each counts once */
	bool		counted;		/* some nodes have a degree */
} neighbourhood;

/* ---- nodes ---- */

/* The number of a node, which is met now if it was not before. */
static int32
meet(neighbourhood *s, const gnngp_id *id)
{
	int32		number = gnngp_number_add(&s->met, id);

	if (number < s->nnodes)
		return number;
	GP_GROW(s->env, s->node, s->nnodes, s->room);
	s->node[s->nnodes++] = (met_node) {.row = -1,.number = -1,.degree = -1.0};
	return number;
}

/* The node of this round that has an id, or -1. */
static int32
find(neighbourhood *s, const gnngp_id *id)
{
	int32		node = gnngp_number_find(&s->met, id);

	return node >= s->first && node < s->end ? node : -1;
}

/* An array of the ids of some nodes; with rows, only of those whose rows were read. */
static Datum
id_array(const neighbourhood *s, int64 first, int64 end, bool rows)
{
	Oid			base = s->r->integer_ids ? INT8OID : s->r->id.base;
	Datum	   *value = MemoryContextAllocHuge(CurrentMemoryContext,
											   sizeof(Datum) * Max(end - first, 1));
	Oid			input;
	Oid			ioparam;
	int			n = 0;

	getTypeInputInfo(base, &input, &ioparam);
	for (int64 i = first; i < end; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (rows && s->node[i].row < 0)
			continue;
		value[n++] = s->r->integer_ids ? Int64GetDatum(s->met.key[i]) :
			OidInputFunctionCall(input, s->met.text[i], ioparam, -1);
	}
	return gnngp_make_array(value, n, base);
}

static void
node_row(void *state, const Datum *values, const bool *nulls)
{
	neighbourhood *s = state;

	if (nulls[0])
		return;
	gnngp_id	id = gnngp_datum_id(values[0], s->r->id.base, &s->r->id_output);
	int32		number = s->all ? meet(s, &id) : find(s, &id);
	/* What is equal by the type's rules and has another text was not asked for. */
	if (number < 0)
		return;
	met_node   *node = &s->node[number];
	if (node->row >= 0)
		gnngp_raise(UNIQUE_VIOLATION, "Ids must be unique.",
					"column \"%s\" of table \"%s\" repeats the node %s", s->r->id.name,
					s->r->nodes.name, gnngp_id_name(&id));
	node->row = (int32) s->nrows++;
	if (s->features)
		gnngp_features_add_row(s->features, node->row, gnngp_number_id(&s->met, number),
							   values + 1, nulls + 1);
}

/* ---- edges ---- */

/* The end of an edge that a row names. */
static gnngp_id
end_id(const neighbourhood *s, int end, const Datum *values)
{
	if (s->r->integer_ids)
		return (gnngp_id) {.key = gnngp_integer_datum(values[end], s->end_base[end])};
	return gnngp_datum_id(values[end], s->end_base[end], &s->r->id_output);
}

/* The weight of an edge; 22003 or 22004 for what is none. */
static double
edge_weight(const neighbourhood *s, const Datum *values, const bool *nulls)
{
	double		w = nulls[2] ? NAN : gnngp_number_datum(values[2], s->weight.base);

	if (unlikely(!isfinite(w) || w < 0.0))
	{
		gnngp_id	src = end_id(s, 0, values);
		gnngp_id	dst = end_id(s, 1, values);

		gnngp_raise_edge(s->r, &s->weight, gnngp_weight_fault(nulls[2], w), w,
						 gnngp_id_name(&src), gnngp_id_name(&dst));
	}
	return w;
}

/*
 * The ends of a row of the edge table, and the nodes of this round that they are; -1: without a
 * row.  False where another query has had the row: an edge is read by the first of its ends that a
 * round reaches, by src where one round reaches both.
 */
static bool
read_ends(neighbourhood *s, const Datum *values, const bool *nulls, gnngp_id *id, int32 *node)
{
	int			reached = 0;

	if (nulls[0] || nulls[1])
		return false;
	for (int k = 0; k < 2; k++)
	{
		id[k] = end_id(s, k, values);
		node[k] = s->last_node[k];
		if (!s->all && (s->last[k].null || id[k].text || id[k].key != s->last[k].key))
			node[k] = find(s, &id[k]);
		if (node[k] >= 0 && s->node[node[k]].row < 0)
			node[k] = -1;
		s->last[k] = id[k];
		s->last_node[k] = node[k];
		reached |= (node[k] >= 0) << k;
	}
	return s->all || ((reached & s->ends) && !(reached & s->before));
}

/* Whether a round before has read the edges of a node. */
static bool
read_before(const neighbourhood *s, int32 node)
{
	return node < s->first && s->node[node].row >= 0;
}

static void
edge_row(void *state, const Datum *values, const bool *nulls)
{
	neighbourhood *s = state;
	gnngp_id	id[2];
	int32		node[2];

	if (!read_ends(s, values, nulls, id, node))
		return;
	for (int k = 0; k < 2; k++)
		if (node[k] < 0)
			node[k] = meet(s, &id[k]);
	if (read_before(s, node[0]) || read_before(s, node[1]))
		return;
	GP_GROW(s->env, s->edge, s->nedges, s->edge_room);
	s->edge[s->nedges++] = (met_edge) {
		node[0], node[1], s->weighted ? edge_weight(s, values, nulls) : 1.0
	};
}

/* True for an edge that comes for the first time. */
static bool
is_new(neighbourhood *s, uint64 a, uint64 b)
{
	if (s->r->def->directed || a < b)
		return gp_set_add(&s->seen, gp_hash(gp_hash(a) ^ b) | 1);
	return gp_set_add(&s->seen, gp_hash(gp_hash(b) ^ a) | 1);
}

/* Counts a row for the degrees of its ends; repeated edges count once without weights. */
static void
degree_row(void *state, const Datum *values, const bool *nulls)
{
	neighbourhood *s = state;
	gnngp_id	id[2];
	int32		node[2];

	if (!read_ends(s, values, nulls, id, node) || node[0] == node[1])
		return;
	double		w = s->weighted ? edge_weight(s, values, nulls) : 1.0;
	if (!s->weighted && !is_new(s, (uint64) id[0].key, (uint64) id[1].key))
		return;
	/* Of directed edges those that lead to the nodes count. */
	for (int k = s->r->def->directed ? 1 : 0; k < 2; k++)
		if (node[k] >= 0)
			s->node[node[k]].degree += w;
}

/* Reads the edges of the nodes of a round, by each end; at once for both where all are read. */
static void
read_edges(neighbourhood *s, gnngp_row_fn row, int first)
{
	Datum		ids = id_array(s, s->first, s->end, true);
	bool		both;

	s->edges[0].array = s->edges[1].array = ids;
	both = first == 0 && gnngp_query_scans(&s->edges[0]) && gnngp_query_scans(&s->edges[1]);
	s->before = 0;
	s->last[0].null = s->last[1].null = true;
	for (int k = first; k < (both ? 1 : 2); k++)
	{
		s->ends = both ? 3 : 1 << k;
		gnngp_query_run(&s->edges[k], s->env, row, s, GP_PHASE_EDGES, 0);
		s->before = s->ends;
	}
}

/* ---- rounds ---- */

static void
plan_queries(neighbourhood *s)
{
	gnngp_reader *r = s->r;
	const gnngp_graph_def *def = r->def;

	gnngp_query_init(&s->nodes, &r->nodes);
	gnngp_query_add(&s->nodes, r->id.base, "t.%s", r->id.quoted);
	s->features = gnngp_add_features(r, &s->nodes);
	if (!s->all)
		gnngp_query_some(r, &s->nodes, &r->id);
	gnngp_query_plan(&s->nodes);
	s->weighted = def->weight != NULL;
	if (s->weighted)
		s->weight = gnngp_table_number(&r->edges, def->weight);
	s->end_column[0] = gnngp_table_column(&r->edges, def->src);
	s->end_column[1] = gnngp_table_column(&r->edges, def->dst);
	for (int k = 0; k < (s->all ? 1 : 2); k++)
	{
		gnngp_query_init(&s->edges[k], &r->edges);
		for (int e = 0; e < 2; e++)
			s->end_base[e] = gnngp_query_add_id(r, &s->edges[k], &s->end_column[e]);
		if (s->weighted)
			gnngp_query_add_number(&s->edges[k], &s->weight);
		if (!s->all)
			gnngp_query_some(r, &s->edges[k], &s->end_column[k]);
		gnngp_query_plan(&s->edges[k]);
	}
}

/* Reads hop by hop, and tells where an index would help. */
static void
read_rounds(neighbourhood *s, int hops, gnngp_rim rim)
{
	for (int hop = 0; hop <= hops && s->end < s->nnodes; hop++)
	{
		gnngp_rim	edges = hop < hops ? GNNGP_RIM_EDGES : rim;
		MemoryContext old = MemoryContextSwitchTo(s->context);

		s->first = s->end;
		s->end = s->nnodes;
		s->nodes.array = id_array(s, s->first, s->end, false);
		gnngp_query_run(&s->nodes, s->env, node_row, s, GP_PHASE_NODES, 0);
		if (edges == GNNGP_RIM_EDGES)
			read_edges(s, edge_row, 0);
		else if (edges == GNNGP_RIM_DEGREES)
		{
			s->counted = true;
			for (int64 i = s->first; i < s->end; i++)
				if (s->node[i].row >= 0)
					s->node[i].degree = 0.0;
			s->seen = gp_set_open(s->env, 0);
			read_edges(s, degree_row, s->r->def->directed ? 1 : 0);
			gp_set_close(&s->seen);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(s->context);
	}
	/* After the queries, which refuse who may not know of these tables. */
	gnngp_advise_index(&s->r->nodes, &s->r->id, NULL);
	for (int k = 0; k < 2; k++)
		gnngp_advise_index(&s->r->edges, &s->end_column[k], &s->end_column[1 - k]);
}

/* ---- what was read, for the core ---- */

/* Compares two nodes by the order of ids. */
static int
compare_nodes(const void *a, const void *b, void *arg)
{
	const neighbourhood *s = arg;
	gnngp_id	x = gnngp_number_id(&s->met, *(const int32 *) a);
	gnngp_id	y = gnngp_number_id(&s->met, *(const int32 *) b);

	return gnngp_id_compare(&x, &y, NULL);
}

/* Numbers the nodes that were read by their ids, and then the others; the node of each row. */
static int32 *
number_nodes(neighbourhood *s, gnngp_ids *ids)
{
	int32	   *order = gp_alloc_array(s->env, Max(s->nrows, 1), sizeof(int32));
	int32	   *node_of_row = gp_alloc_array(s->env, Max(s->nrows, 1), sizeof(int32));
	int64		n = 0;

	for (int64 i = 0; i < s->nnodes; i++)
		if (s->node[i].row >= 0)
			order[n++] = (int32) i;
	gnngp_sort(order, n, sizeof(int32), compare_nodes, s);
	ids->n = n;
	ids->key = gp_alloc_array(s->env, s->nnodes, sizeof(int64));
	ids->text = ids->integer ? NULL : gp_alloc_array(s->env, s->nnodes, sizeof(char *));
	for (int64 i = 0; i < ids->n; i++)
	{
		s->node[order[i]].number = (int32) i;
		node_of_row[s->node[order[i]].row] = (int32) i;
	}
	for (int64 i = 0; i < s->nnodes; i++)
	{
		met_node   *node = &s->node[i];

		if (node->row < 0)
			node->number = (int32) n++;
		ids->key[node->number] = s->met.key[i];
		if (!ids->integer)
			ids->text[node->number] = s->met.text[i];
	}
	gp_free(s->env, order);
	return node_of_row;
}

/* The graph of the edges, with the degrees that nodes have. */
static gp_graph *
build_graph(const neighbourhood *s)
{
	gp_edges   *edges = gp_edges_create(s->env, s->nnodes, s->r->def->directed, s->weighted);

	for (int64 e = 0; e < s->nedges; e++)
		gp_edges_add(edges, 1, &s->node[s->edge[e].src].number, &s->node[s->edge[e].dst].number,
					 s->weighted ? &s->edge[e].weight : NULL);
	gp_graph   *graph = gp_graph_build(edges);
	if (s->counted)
		graph->degree = gp_alloc_array(s->env, s->nnodes, sizeof(double));
	for (int64 i = 0; s->counted && i < s->nnodes; i++)
		graph->degree[s->node[i].number] = s->node[i].degree;
	return graph;
}

/* Features from the rows, and from a table of their own. */
static void
read_features(neighbourhood *s, gnngp_sparse_reading *sparse, int32 *node_of_row)
{
	gnngp_reader *r = s->r;
	int64		dims = r->dims;

	if (s->features && s->nrows > 0)
		gnngp_finish_features(s->features, node_of_row);
	if (sparse)
	{
		r->some_ids = id_array(s, 0, s->nnodes, true);
		gnngp_idmap_build(s->env, &r->map, &r->data->ids);
		gnngp_read_sparse(sparse);
		gnngp_idmap_free(s->env, &r->map);
	}
	if (r->data->features && s->features)
		gnngp_check_dims(r, dims);
	if (r->data->features)
		r->data->features = gp_features_widen(s->env, r->data->features, r->data->ids.n, dims);
}

static gnngp_neighbourhood *
read_tables(neighbourhood *s, const gnngp_id *wanted, int64 n, int hops, gnngp_rim rim)
{
	gnngp_reader *r = s->r;
	gnngp_neighbourhood *some = gp_alloc_zero(s->env, 1, sizeof(gnngp_neighbourhood));

	plan_queries(s);
	gnngp_sparse_reading *sparse = gnngp_plan_sparse(r);
	for (int64 i = 0; i < n; i++)
		if (meet(s, &wanted[i]) != i)
			elog(ERROR, "node %s is given twice", gnngp_id_name(&wanted[i]));
	if (s->all)
	{
		gnngp_query_run(&s->nodes, s->env, node_row, s, GP_PHASE_NODES,
						gnngp_table_rows(&s->r->nodes));
		gnngp_query_run(&s->edges[0], s->env, edge_row, s, GP_PHASE_EDGES,
						gnngp_table_rows(&s->r->edges));
	}
	else
		read_rounds(s, hops, rim);
	int32	   *node_of_row = number_nodes(s, &r->data->ids);
	some->wanted = gp_alloc_array(s->env, Max(n, 1), sizeof(int32));
	for (int64 i = 0; i < n; i++)
	{
		if (s->node[i].row < 0)
			gnngp_raise(UNDEFINED_OBJECT,
						"Insert the node first, or check that you may read its row.",
						"table \"%s\" has no node %s", r->nodes.name, gnngp_id_name(&wanted[i]));
		some->wanted[i] = s->node[i].number;
	}
	read_features(s, sparse, node_of_row);
	some->graph = build_graph(s);
	some->ids = r->data->ids;
	some->features = r->data->features;
	return some;
}

gnngp_neighbourhood *
gnngp_read_neighbourhood(gp_env *env, const gnngp_graph_def *graph, const gnngp_id *wanted, int64 n,
						 int hops, gnngp_rim rim, int64 dims, const double *moments,
						 const gp_encoding *encoding)
{
	gnngp_reader r;
	neighbourhood s = {.env = env,.r = &r,.met = {.env = env},
		.all = hops == GNNGP_ALL_HOPS,.last_node = {-1, -1}};
	gnngp_rights rights;
	bool		save_read_only = XactReadOnly;
	gnngp_identity saved = gnngp_become_reader(GetUserId());

	/* Not by its setting, which functions may not save from version 16 on; an abort restores it. */
	XactReadOnly = true;
	gnngp_spi_connect();
	gnngp_reader_open(&r, env, graph);
	/* 55000 where ids were numbers and are none now, or the other way round */
	if (n > 0 && (wanted[0].text == NULL) != r.integer_ids)
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Fit the model again with gp_refresh.",
					"column \"%s\" of table \"%s\" has another type than when the model was fitted",
					r.id.name, r.nodes.name);
	r.some = true;
	r.dims = dims;
	r.moments = moments;
	r.encoding = encoding;
	s.context = AllocSetContextCreate(CurrentMemoryContext, "gnngp round", ALLOCSET_DEFAULT_SIZES);
	gnngp_rights_open(&rights, &r);
	gnngp_neighbourhood *some = read_tables(&s, wanted, n, hops, rim);
	gnngp_rights_close(&rights);
	gnngp_spi_finish();
	XactReadOnly = save_read_only;
	gnngp_become_again(&saved);
	return some;
}
