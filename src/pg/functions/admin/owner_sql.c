/*
 * owner_sql.c - gp_set_owner: giving a graph with its models to another role.
 *
 * A refresh runs the code of the tables' views with the rights of the graph's
 * owner.  Nobody can therefore give to a role that it could not become.
 */
#include "postgres.h"

#include "pg/catalog/catalog_internal.h"

/* 42710 when the new owner has a graph or model of that name already. */
static void
require_free(const gnngp_kind *kind, const char *name, Oid owner)
{
	gnngp_execute(GNNGP_LATEST, psprintf("SELECT FROM gnngp_internal.%s WHERE name = $1"
										 " AND gnngp_internal.gp_role_oid(owner) = $2", kind->table),
				  gnngp_param_text(name), gnngp_param_oid(owner));
	if (SPI_processed == 0)
		return;
	gnngp_raise(DUPLICATE_OBJECT, "Drop one of the two.",
				"role \"%s\" already has a %s named \"%s\"", GetUserNameFromId(owner, false),
				kind->noun, name);
}

/* Writes the new owner into the rows of a table that belong to a graph. */
static void
update_owner(int64 graph, Oid owner, const char *table, const char *condition)
{
	gnngp_execute(GNNGP_LATEST,
				  psprintf("UPDATE gnngp_internal.%s SET owner = $2 WHERE %s", table, condition),
				  gnngp_param_int8(graph), gnngp_role_param(owner));
}

/* Gives a graph with all that belongs to it to another role, inside SPI. */
static void
give(const gnngp_graph_def *graph, Oid owner)
{
	List	   *models = gnngp_lock_whole_graph(graph);
	ListCell   *cell;

	gnngp_graph_name_lock(owner, graph->name);
	require_free(&gnngp_graph_kind, graph->name, owner);
	foreach(cell, models)
	{
		gnngp_model_lock(owner, lfirst(cell));
		require_free(&gnngp_model_kind, lfirst(cell), owner);
	}
	update_owner(graph->id, owner, gnngp_graph_kind.table, "id = $1");
	update_owner(graph->id, owner, gnngp_model_kind.table, "graph = $1");
	update_owner(graph->id, owner, "gp_grant_catalog",
				 "model IN (SELECT id FROM gnngp_internal.gp_model_catalog WHERE graph = $1)");
}

/* gp_set_owner(graph, new_owner) */
PG_FUNCTION_INFO_V1(gnngp_set_owner);
Datum
gnngp_set_owner(PG_FUNCTION_ARGS)
{
	char	   *name = gnngp_text_argument(fcinfo, 0, "graph");
	gnngp_graph_def *graph;
	ListCell   *cell;
	Oid			owner;

	gnngp_prevent_read_only("gp_set_owner");
	graph = gnngp_own_graph(name);
	gnngp_require_argument(fcinfo, 1, "new_owner");
	owner = get_role_oid(NameStr(*PG_GETARG_NAME(1)), false);
	gnngp_check_can_become(GetUserId(), owner);
	if (graph->task.form)
	{
		/* Looked up before the error begins: it is a query. */
		const char *of = quote_literal_cstr(gnngp_graph_of_task(graph)->name);

		gnngp_raise(FEATURE_NOT_SUPPORTED,
					psprintf("Give its graph away: gp_set_owner(%s, ...).", of),
					"the owner of task \"%s\" is always the owner of its graph", graph->name);
	}
	gnngp_spi_connect();
	if (owner != graph->owner_role)
	{
		foreach(cell, graph->tables.tables.oid ? gnngp_graph_tasks(graph->id) : NIL)
			give(lfirst(cell), owner);
		give(graph, owner);
	}
	gnngp_spi_finish();
	PG_RETURN_VOID();
}
