/*
 * read_within.c - a graph's tables for statements that read them where they are.
 *
 * Ids and targets are read as for any fit.  Features and edges are left to statements of the
 * caller, which runs within: as the graph's owner under SECURITY_RESTRICTED_OPERATION, the
 * tables locked, and under the one snapshot that the ids were read with.
 */
#include "postgres.h"

#include "access/xact.h"
#include "pg/catalog/graph_check.h"
#include "miscadmin.h"
#include "pg/reader/read_ids.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

/* 0A000: columns are encoded by what all rows hold, which no statement that reads them where they
 * are knows. */
static void
check_number(const gnngp_reader *r, const gnngp_column *column)
{
	if (gnngp_is_number_type(column->base))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("strategy sql takes feature columns of numbers, and column \"%s\" of table \"%s\" has type %s",
					column->name, r->nodes.name, format_type_be(column->type)),
			 errhint("Use strategy => 'nystrom', or a view with the column as numbers.")));
}

/* The features of a row as an array of real; NULL where the graph has none in columns. */
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

		if (!*array || !gnngp_is_vector_type(column.base))
			check_number(r, &column);
		appendStringInfo(&text, *array ? "t.%s::pg_catalog.float4[]" : i == 0
						 ? "t.%s::pg_catalog.float8" :
						 ", t.%s::pg_catalog.float8", column.quoted);
	}
	return text.data;
}

/* What is asked for. */
typedef struct within
{
	const char *task;
	gnngp_within work;
	void	   *arg;
} within;

/* Reads ids and targets, and has the caller work. */
static void
work_within(gnngp_reader *r, void *arg)
{
	const within *w = arg;
	gnngp_graph_def without = *r->def;
	gnngp_sources s = {.reader = r};
	gnngp_node_part *nodes;

	s.features = features_expression(r, &s.array);
	s.sparse = OidIsValid(r->def->sparse_features);
	/* The edges are locked as their reader does it, which then tells what is wrong with them. */
	s.edge_part = gnngp_plan_edges(r);
	s.edges = r->edges.quoted;
	s.edge_rows = gnngp_table_rows(&r->edges);
	s.src = gnngp_table_column(&r->edges, r->def->src).quoted;
	s.dst = gnngp_table_column(&r->edges, r->def->dst).quoted;
	if (r->def->weight)
		s.weight = gnngp_table_number(&r->edges, r->def->weight).quoted;
	without.features.n = 0;
	r->def = &without;
	nodes = gnngp_plan_nodes(r, w->task, true);
	gnngp_push_read_snapshot();
	gnngp_read_nodes(nodes);
	s.data = r->data;
	s.nodes = r->nodes.quoted;
	s.nodes_name = r->nodes.name;
	s.id = r->id.quoted;
	s.scale = without.scale;
	s.directed = without.directed;
	s.spread = r->nodes_spread || r->edges_spread;
	gnngp_idmap_build(r->env, &r->map, &r->data->ids);
	w->work(&s, w->arg);
	gnngp_idmap_free(r->env, &r->map);
	PopActiveSnapshot();
}

/* Works within the tables of a graph. */
void
gnngp_read_within(gp_env *env, const gnngp_graph_def *graph, const char *task, gnngp_within work,
				  void *arg)
{
	within		w = {task, work, arg};

	gnngp_read_as_owner(env, graph, work_within, &w);
}

int32
gnngp_source_node(const gnngp_sources *s, int64 id)
{
	return gnngp_idmap_find(&s->reader->map, id);
}

void
gnngp_refuse_edges(const gnngp_sources *s)
{
	gnngp_read_edges(s->edge_part);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s\" changed while it was read", s->reader->edges.name),
			 errhint("Try again.")));
}
