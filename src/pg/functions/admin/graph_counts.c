/*
 * graph_counts.c - what the tables of a new graph hold, counted before the first fit.
 *
 * A fit refuses an edge without a node, and takes the row 17 of another table for the node 17
 * without a word; both are told here.
 */
#include "postgres.h"

#include "access/relation.h"
#include "graph_counts.h"
#include "pg/reader/read_ids.h"

/* The columns of gp_create_graph's row. */
enum count_column
{
	COUNT_NODES,
	COUNT_LABELS,
	COUNT_CLASSES,
	COUNT_EDGES,			/* rows of the edge table */
	COUNT_WITHOUT_NODE,	/* of them, those with an end that is NULL or no node */
	COUNT_SELF_LOOPS,
	COUNT_DUPLICATES,		/* those that repeat another */
	COUNT_NULL_FEATURES,
	COUNT_BARE_COMPONENTS,	/* without a label */
	COUNTS = GNNGP_GRAPH_COUNTS
};

#define NOT_COUNTED (-1)

/* A count in progress. */
typedef struct graph_count
{
	const gnngp_graph_def *graph;
	gp_env	   *env;
	int64	   *count;
	gnngp_finder src;
	gnngp_finder dst;
	int64		src_unknown;	/* ends that are no nodes */
	int64		dst_unknown;
	bool	   *is_src;			/* of each node: a row of edges has it at this end */
	bool	   *is_dst;
	int64		at_both_ends;	/* nodes; 0 unless their ids are integers */
	int64		null_weights;
	gp_edges   *edges;
} graph_count;

/* Takes one row of the edge table. */
static void
edge_row(void *state, const Datum *values, const bool *nulls)
{
	graph_count *c = state;
	int32		src = gnngp_finder_try(&c->src, values[0], nulls[0]);
	int32		dst = gnngp_finder_try(&c->dst, values[1], nulls[1]);

	c->count[COUNT_EDGES]++;
	c->null_weights += c->graph->weight && DatumGetBool(values[2]);
	c->src_unknown += src < 0;
	c->dst_unknown += dst < 0;
	c->count[COUNT_WITHOUT_NODE] += src < 0 || dst < 0;
	c->count[COUNT_SELF_LOOPS] += src >= 0 && src == dst;
	if (src >= 0)
		c->is_src[src] = true;
	if (dst >= 0)
		c->is_dst[dst] = true;
	if (src >= 0 && dst >= 0)
		gp_edges_add(c->edges, 1, &src, &dst, NULL);
}

/* Counts the edges that repeat another, and the components that no label is in. */
static void
count_structure(graph_count *c, const gnngp_data *data)
{
	gp_graph   *graph = gp_graph_build(c->edges);
	int64		nodes = data->ids.n;
	int32_t    *component;

	c->count[COUNT_DUPLICATES] = c->count[COUNT_EDGES] - graph->edges -
		c->count[COUNT_WITHOUT_NODE] - c->count[COUNT_SELF_LOOPS];
	if (c->graph->target == NULL)
		return;
	component = gp_graph_components(c->env, nodes, graph->start, graph->col, NULL, graph->directed);
	bool	   *reached = gp_alloc_zero(c->env, nodes, sizeof(bool));
	for (int64 k = 0; k < data->nlabelled; k++)
		reached[component[data->labelled[k]]] = true;
	c->count[COUNT_BARE_COMPONENTS] = 0;
	for (int64 i = 0; i < nodes; i++)
		c->count[COUNT_BARE_COMPONENTS] += component[i] == i && !reached[i];
}

/* Reads and counts, as the graph's owner; for gnngp_attempt. */
static void
count_tables(void *arg)
{
	graph_count *c = arg;
	gnngp_owner_reading *reading = gnngp_owner_reading_open(c->env, c->graph);
	gnngp_reader *r = &reading->r;
	const gnngp_data *data = r->data;
	bool		labels = c->graph->target != NULL;
	gnngp_column target = {0};
	gnngp_query edge_query;

	if (labels)
		target = gnngp_table_column(&r->nodes, r->def->target);
	bool		values = labels && gnngp_is_value_type(target.base);
	if (labels && !values && !gnngp_is_class_type(target.base))
		ereport(WARNING,
				(errmsg("target \"%s\" has type %s, which gp_fit accepts only with task => 'classification'",
						target.name, format_type_be(target.type)),
				 errhint("Each distinct text is then a class. To predict a time, make it a number in a view, such as extract(epoch FROM %s).",
						 quote_identifier(target.name))));
	c->count[COUNT_NULL_FEATURES] = 0;
	r->null_features = &c->count[COUNT_NULL_FEATURES];
	gnngp_node_reading *nodes = gnngp_plan_nodes(r, values ? "values" : "classes", labels);
	gnngp_query_init(&edge_query, &r->edges);
	gnngp_finder_init(&c->src, r, &edge_query, c->graph->src);
	gnngp_finder_init(&c->dst, r, &edge_query, c->graph->dst);
	if (c->graph->weight)
		gnngp_query_add(&edge_query, BOOLOID, "t.%s IS NULL", quote_identifier(c->graph->weight));
	gnngp_query_plan(&edge_query);

	gnngp_push_read_snapshot();
	gnngp_read_nodes(nodes);
	c->count[COUNT_NODES] = data->ids.n;
	if (labels)
		c->count[COUNT_LABELS] = data->nlabelled;
	if (labels && !values)
		c->count[COUNT_CLASSES] = data->nclasses;
	gnngp_idmap_build(r->env, &r->map, &r->data->ids);
	c->edges = gp_edges_create(r->env, data->ids.n, c->graph->directed, false);
	c->is_src = gp_alloc_zero(r->env, Max(data->ids.n, 1), sizeof(bool));
	c->is_dst = gp_alloc_zero(r->env, Max(data->ids.n, 1), sizeof(bool));
	gnngp_reader_run(r, &edge_query, edge_row, c, GP_PHASE_EDGES);
	for (int64 i = 0; data->ids.integer && i < data->ids.n; i++)
		c->at_both_ends += c->is_src[i] && c->is_dst[i];
	count_structure(c, data);
	PopActiveSnapshot();
	gnngp_owner_reading_close(reading);
}

/* The table that a foreign key of a column alone refers to, or InvalidOid. */
static Oid
referenced_table(Oid table, const char *column)
{
	Relation	rel = relation_open(table, AccessShareLock);
	AttrNumber	attnum = get_attnum(table, column);
	Oid			referenced = InvalidOid;
	ListCell   *cell;

	foreach(cell, RelationGetFKeyList(rel))
	{
		const ForeignKeyCacheInfo *key = lfirst(cell);

		if (key->nkeys == 1 && key->conkey[0] == attnum)
			referenced = key->confrelid;
	}
	relation_close(rel, NoLock);
	return referenced;
}

/* The length of what a column's name has before "_id"; 0: it does not end so. */
static size_t
key_stem(const char *column)
{
	size_t		length = strlen(column);

	return length > 3 && strcmp(column + length - 3, "_id") == 0 ? length - 3 : 0;
}

/* The table whose name a column has before "_id", in the schema of its own table, or InvalidOid. */
static Oid
named_table(Oid table, const char *column)
{
	Oid			schema = get_rel_namespace(table);
	char	   *name = pnstrdup(column, key_stem(column));

	if (name[0] == '\0')
		return InvalidOid;
	Oid			named = get_relname_relid(name, schema);
	return OidIsValid(named) ? named : get_relname_relid(psprintf("%ss", name), schema);
}

/* Warns of an end that refers to another table than the nodes, which is a plain one: by a foreign
 * key, or without one by its name.  True where the end's table is known. */
static bool
warn_reference(const gnngp_graph_def *graph, const char *column, Oid nodes)
{
	Oid			by_key = referenced_table(graph->edges, column);
	Oid			other = OidIsValid(by_key) ? by_key : named_table(graph->edges, column);

	if (OidIsValid(other) && OidIsValid(nodes) && other != nodes)
		ereport(WARNING,
				(errmsg("column \"%s\" of table \"%s\" %s table \"%s\", but nodes come from \"%s\"",
						column, gnngp_shown_oid(graph->edges), OidIsValid(by_key) ? "refers to" :
						"is named like", gnngp_shown_oid(other), gnngp_shown_oid(nodes)),
				 errhint("Rows of two tables that share an id count as one node. Pass all tables with gp_create_graph(%s, tables => '{...}'), or make the ids distinct in views, such as 'c' || id.",
						 quote_literal_cstr(graph->name))));
	return OidIsValid(other);
}

/* Warns of ends that are nodes of another table.  A graph without a node table may take ids of
 * two tables for one: where its ends have names of keys, or meet, says how many are at both. */
static void
warn_references(const graph_count *c)
{
	const gnngp_graph_def *graph = c->graph;
	char		kind = OidIsValid(graph->nodes) ? get_rel_relkind(graph->nodes) : '-';

	if (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE)
	{
		(void) warn_reference(graph, graph->src, graph->nodes);
		(void) warn_reference(graph, graph->dst, graph->nodes);
	}
	else if (kind == '-')
	{
		Oid			first = referenced_table(graph->edges, graph->src);

		if (!OidIsValid(first))
			first = named_table(graph->edges, graph->src);
		if (!warn_reference(graph, graph->dst, first) && c->at_both_ends > 0 &&
			(c->count[COUNT_SELF_LOOPS] > 0 ||
			 (key_stem(graph->src) > 0 && key_stem(graph->dst) > 0)))
			ereport(NOTICE,
					(errmsg_plural("%lld id appears in both columns \"%s\" and \"%s\" and counts as one node",
								   "%lld ids appear in both columns \"%s\" and \"%s\"; each counts as one node",
								   c->at_both_ends, (long long) c->at_both_ends, graph->src,
								   graph->dst),
					 errhint("If the columns refer to two tables, such as customers and products, make the ids distinct in a view, such as 'c' || id.")));
	}
}

/* Warns of edges that a fit will refuse: without a weight, or without a node; where they miss one
 * at one end only, that end may be of another table. */
static void
warn_refused(const graph_count *c)
{
	const gnngp_graph_def *graph = c->graph;
	int64		edges = c->count[COUNT_WITHOUT_NODE];
	bool		one_side = (c->src_unknown == 0) != (c->dst_unknown == 0);
	const char *side = c->src_unknown > 0 ? graph->src : graph->dst;
	/* Ends are no nodes of a view that gives other rows each time it is read. */
	Oid			nodes = OidIsValid(graph->nodes) ? graph->nodes : graph->edges;

	if (c->null_weights > 0)
		ereport(WARNING,
				(errmsg_plural("%lld edge of table \"%s\" has no weight",
							   "%lld edges of table \"%s\" have no weight", c->null_weights,
							   (long long) c->null_weights, gnngp_shown_oid(graph->edges)),
				 errhint("gp_fit refuses such edges. Fill in column \"%s\", or leave the edges out with a view.",
						 graph->weight)));
	if (edges <= 0)
		return;
	ereport(WARNING,
			(errmsg_plural("%lld edge of table \"%s\" has an end that is not a node of table \"%s\"",
						   "%lld edges of table \"%s\" have an end that is not a node of table \"%s\"",
						   edges, (long long) edges, gnngp_shown_oid(graph->edges),
						   gnngp_shown_oid(nodes)),
			 one_side ? errdetail("All of these ends are in column \"%s\", which may refer to another table.", side) : 0,
			 one_side ? errhint("If it does, pass all tables with gp_create_graph(%s, tables => '{...}'). Otherwise add the nodes, or leave the edges out with a view: gp_fit refuses them.",
								quote_literal_cstr(graph->name)) :
			 errhint("gp_fit refuses such edges. Add the nodes, or leave the edges out with a view.")));
}

void
gnngp_count_graph(const gnngp_graph_def *graph, NullableDatum *row)
{
	int64		count[COUNTS];
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gnngp counts", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	graph_count *c = palloc0(sizeof(graph_count));

	for (int i = 0; i < COUNTS; i++)
		count[i] = i >= COUNT_EDGES && i <= COUNT_DUPLICATES ? 0 : NOT_COUNTED;
	c->graph = graph;
	c->env = gnngp_env_create(context);
	c->count = count;
	ErrorData  *error = gnngp_attempt_but_cancel(count_tables, c);
	if (error)
	{
		for (int i = 0; i < COUNTS; i++)
			count[i] = NOT_COUNTED;
		ereport(WARNING,
				(errmsg("graph \"%s\" cannot be read as its tables are now: %s", graph->name, error->message),
				 error->hint ? errhint("%s", error->hint) : 0));
	}
	warn_references(c);
	warn_refused(c);
	for (int i = 0; i < COUNTS; i++)
		row[i] = (NullableDatum) {Int64GetDatum(count[i]), count[i] == NOT_COUNTED};
	gnngp_env_destroy(c->env);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
