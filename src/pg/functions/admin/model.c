/*
 * model.c - finding and dropping models, letting others read them, and giving them away.
 */
#include "postgres.h"

#include "pg/catalog/catalog_internal.h"

/* model_id(model) */
GNNGP_FUNCTION(gnngp_model_id)
{
	PG_RETURN_INT64(gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false)->id);
}

/* gp_drop_model(model) */
GNNGP_FUNCTION(gnngp_drop_model)
{
	char	   *name = gnngp_text_argument(fcinfo, 0, "model");

	gnngp_prevent_read_only("gp_drop_model");
	gnngp_model *model = gnngp_own_model(name);
	gnngp_model_lock(model->owner_role, model->name);
	gnngp_spi_connect();
	gnngp_lock_row(&gnngp_model_kind, model->id, model->owner_role, "FOR UPDATE", model->name);
	gnngp_delete_models("id", model->id);
	gnngp_spi_finish();
	PG_RETURN_VOID();
}

/* The role that a grant is for: 0 for public, 42704 for a role that does not exist. */
static Oid
grantee_role(const char *name)
{
	Oid			role = get_role_oid(name, true);

	if (!OidIsValid(role) && strcmp(name, "public") != 0)
		gnngp_raise(UNDEFINED_OBJECT, "Name a role of this server, or public.",
					"role \"%s\" does not exist", name);
	return role;
}

/* What gp_grant and gp_revoke begin with: a model that is locked, inside SPI; the grantee. */
static const gnngp_model *
open_grant(FunctionCallInfo fcinfo, const char *command, const char **grantee)
{
	char	   *name = gnngp_text_argument(fcinfo, 0, "model");

	gnngp_require_argument(fcinfo, 1, "grantee");
	gnngp_prevent_read_only(command);
	/* public in any case, as in GRANT, unless there is a role of that name */
	*grantee = NameStr(*PG_GETARG_NAME(1));
	if (pg_strcasecmp(*grantee, "public") == 0 && !OidIsValid(get_role_oid(*grantee, true)))
		*grantee = "public";
	const gnngp_model *model = gnngp_own_model(name);
	gnngp_spi_connect();
	gnngp_lock_row(&gnngp_model_kind, model->id, model->owner_role, "FOR KEY SHARE", model->name);
	return model;
}

/* gp_grant(model, grantee) */
GNNGP_FUNCTION(gnngp_grant)
{
	const char *grantee;
	const gnngp_model *model = open_grant(fcinfo, "gp_grant", &grantee);

	/* Inserts a grant, unless there is one; the model can't be dropped meanwhile */
	gnngp_execute(GNNGP_LATEST,
				  "INSERT INTO gnngp_internal.gp_grant_catalog (model, grantee, owner)"
				  " SELECT id, $2, owner FROM gnngp_internal.gp_model_catalog WHERE id = $1"
				  " ON CONFLICT (model, gnngp_internal.gp_role_oid(grantee))"
				  " DO UPDATE SET revoked = false",
				  gnngp_param_int8(model->id), gnngp_role_param(grantee_role(grantee)));
	gnngp_spi_finish();
	PG_RETURN_VOID();
}

/*
 * gp_revoke(model, grantee); a grantee that was dropped may still be named.  The grant to a role
 * that there is stays as revoked, for names that it looks up (names.c).
 */
GNNGP_FUNCTION(gnngp_revoke)
{
	const char *grantee;
	const gnngp_model *model = open_grant(fcinfo, "gp_revoke", &grantee);

	gnngp_execute(GNNGP_LATEST, "UPDATE gnngp_internal.gp_grant_catalog SET revoked = true"
				  " WHERE model = $1 AND grantee::text = $2 AND $2 <> 'public'",
				  gnngp_param_int8(model->id), gnngp_param_text(grantee));
	uint64		rows = SPI_processed;
	gnngp_execute(GNNGP_LATEST, "DELETE FROM gnngp_internal.gp_grant_catalog WHERE model = $1"
				  " AND (grantee::text = 'pg_gone:' || $2"
				  " OR grantee::text = 'public' AND $2 = 'public')",
				  gnngp_param_int8(model->id), gnngp_param_text(grantee));
	rows += SPI_processed;
	gnngp_spi_finish();
	if (rows == 0)
		(void) grantee_role(grantee);
	PG_RETURN_VOID();
}

/*
 * ---- giving a graph with its models to another role ----
 *
 * A refresh runs the code of the tables' views with the rights of the graph's
 * owner.  Nobody can therefore give to a role that it could not become.
 */

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
GNNGP_FUNCTION(gnngp_set_owner)
{
	char	   *name = gnngp_text_argument(fcinfo, 0, "graph");
	ListCell   *cell;

	gnngp_prevent_read_only("gp_set_owner");
	gnngp_graph_def *graph = gnngp_own_graph(name);
	gnngp_require_argument(fcinfo, 1, "new_owner");
	Oid			owner = get_role_oid(NameStr(*PG_GETARG_NAME(1)), false);
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
