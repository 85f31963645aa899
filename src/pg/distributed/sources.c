/*
 * sources.c - a graph's tables for statements that read them where they are.
 *
 * Ids and targets are read as for any fit.  Features and edges are left to statements of the
 * caller, which run as the graph's owner under SECURITY_RESTRICTED_OPERATION, the tables locked,
 * and under the one snapshot that the ids were read with.
 */
#include "postgres.h"

#include "distributed_internal.h"

/* The features of a row as an array; NULL where the graph has none in columns. */
static char *
features_expression(const gnngp_reader *r, bool *array)
{
	const gnngp_texts *names = &r->def->features;
	StringInfoData text;

	*array = names->n == 1 &&
		!gnngp_is_number_type(gnngp_table_column(&r->nodes, names->text[0]).base);
	if (names->n == 0)
		return NULL;
	initStringInfo(&text);
	for (int i = 0; i < names->n; i++)
	{
		gnngp_column column = gnngp_table_column(&r->nodes, names->text[i]);

		/* Others are encoded by what all rows hold, which a statement over them does not know. */
		if (!gnngp_is_number_type(column.base) && !(*array && gnngp_is_vector_type(column.base)))
			gnngp_raise(FEATURE_NOT_SUPPORTED,
						"Use strategy => 'nystrom', or a view with the column as numbers.",
						"strategy sql takes feature columns of numbers, and column \"%s\" of table \"%s\" has type %s",
						column.name, r->nodes.name, format_type_be(column.type));
		appendStringInfo(&text, *array ? OidIsValid(get_element_type(column.base)) ? "t.%s"
						 : "t.%s::pg_catalog.float4[]" : i == 0 ? "ARRAY[t.%s::pg_catalog.float8" :
						 ", t.%s::pg_catalog.float8", column.quoted);
	}
	return *array ? text.data : psprintf("%s]", text.data);
}

gnngp_sources *
gnngp_sources_open(gp_env *env, const gnngp_graph_def *graph, const char *kind)
{
	gnngp_owner_reading *reading = gnngp_owner_reading_open(env, graph);
	gnngp_reader *r = &reading->r;
	gnngp_graph_def *without = palloc(sizeof(gnngp_graph_def));
	gnngp_sources *s = palloc0(sizeof(gnngp_sources));

	s->reading = reading;
	s->r = r;
	s->features = features_expression(r, &s->array);
	/* The edges are locked as their reader does it, which then tells what is wrong with them. */
	s->edge_reading = gnngp_plan_edges(r);
	s->edge_rows = gnngp_table_rows(&r->edges);
	s->src = gnngp_table_column(&r->edges, graph->src).quoted;
	s->dst = gnngp_table_column(&r->edges, graph->dst).quoted;
	if (graph->weight)
		s->weight = gnngp_table_number(&r->edges, graph->weight).quoted;
	*without = *graph;
	without->features.n = 0;
	r->def = without;
	r->sorted = true;
	gnngp_node_reading *nodes = gnngp_plan_nodes(r, kind, true);
	gnngp_push_read_snapshot();
	gnngp_read_nodes(nodes);
	s->data = r->data;
	s->apart = r->nodes_apart || r->edges_apart;
	return s;
}

void
gnngp_sources_close(gnngp_sources *s)
{
	PopActiveSnapshot();
	gnngp_owner_reading_close(s->reading);
}

void
gnngp_refuse_edges(const gnngp_sources *s)
{
	gnngp_reader *r = &s->reading->r;

	gnngp_idmap_build(r->env, &r->map, &r->data->ids);
	gnngp_read_edges(s->edge_reading);
	gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Try again.",
				"table \"%s\" changed while it was read", r->edges.name);
}
