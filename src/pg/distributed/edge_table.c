/*
 * edge_table.c - the table of edges that a refresh has packed, which the next one takes where they are the same.
 *
 * It is the graph's owner's alone, and stays the same table from refresh to refresh, under the name that it was made with.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "model_tables.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The columns of the table: a part of the edges as it is packed, and by what they are known again. */
static const struct
{
	const char *name;
	Oid			type;			/* InvalidOid: gp_graph */
}			shape[] = {
	{"part", INT4OID}, {"g", InvalidOid}, {"bad", INT8OID}, {"n", INT8OID}, {"a", NUMERICOID}, {"b", NUMERICOID}
};

/* The type of one of them. */
static Oid
shape_type(int i)
{
	return OidIsValid(shape[i].type) ? shape[i].type : gnngp_type("gp_graph");
}

/* The columns with their types, as a statement makes them. */
static const char *
declare_columns(void)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < (int) lengthof(shape); i++)
		appendStringInfo(&list, "%s%s %s", i > 0 ? ", " : "", shape[i].name, format_type_be_qualified(shape_type(i)));
	return list.data;
}

/* 55000 where the owner has altered a column: what is read would be nothing of ours. */
static void
require_shape(Oid table, const char *quoted)
{
	for (int i = 0; i < (int) lengthof(shape); i++)
	{
		AttrNumber	column = get_attnum(table, shape[i].name);

		if (column == InvalidAttrNumber || get_atttype(table, column) != shape_type(i))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table of packed edges %s has been altered", quoted),
					 errdetail("Its column \"%s\" is missing or of another type.", shape[i].name),
					 errhint("Drop the table: the next refresh makes it again.")));
	}
}

/* Locks the table of packed edges. */
const char *
gnngp_edges_open(const gnngp_model *model)
{
	const char *quoted;

	if (!OidIsValid(model->edges_kept))
		return NULL;
	LockRelationOid(model->edges_kept, AccessShareLock);
	quoted = gnngp_table_name(model->edges_kept, model->owner_role);
	if (quoted)
		require_shape(model->edges_kept, quoted);
	return quoted;
}

/* Makes the table; rights that its owner gives by default on new tables are not meant for the edges. */
static const char *
make_edges(const gnngp_model *model, const gnngp_graph_def *graph, bool spread, Oid *made)
{
	Oid			schema = get_rel_namespace(graph->nodes);
	char	   *table = ChooseRelationName(model->name, NULL, "edges", schema, false);
	const char *quoted = quote_qualified_identifier(get_namespace_name(schema), table);

	gnngp_table_execute(psprintf("CREATE TABLE %s (%s)", quoted, declare_columns()));
	gnngp_table_execute(psprintf("COMMENT ON TABLE %s IS %s", quoted,
								 quote_literal_cstr(psprintf("edges of the model %s as its last refresh has packed them", model->name))));
	if (spread)
		gnngp_table_execute(psprintf("SELECT pg_catalog.create_distributed_table(%s, 'part', colocate_with => 'none')",
									 quote_literal_cstr(quoted)));
	*made = get_relname_relid(table, schema);
	gnngp_table_make_private(*made);
	return quoted;
}

/*
 * Empties the table, or makes it.  DELETE, not TRUNCATE: who reads it, a dump above all, goes on and sees the rows of before, and the fit,
 * whose transaction stays open until it has computed, locks nobody out.  Vacuum makes the room free for the refresh after.
 */
const char *
gnngp_edges_renew(const gnngp_model *model, const gnngp_graph_def *graph, bool spread)
{
	const char *quoted = gnngp_edges_open(model);
	Oid			types[] = {INT8OID, REGCLASSOID};
	Datum		values[] = {Int64GetDatum(model->id), 0};
	Oid			table;

	if (quoted)
	{
		gnngp_table_execute(psprintf("DELETE FROM %s", quoted));
		return quoted;
	}
	if (!gnngp_tables_may_make(graph))
		return NULL;
	quoted = make_edges(model, graph, spread, &table);
	values[1] = ObjectIdGetDatum(table);
	gnngp_execute_as_extension(psprintf("UPDATE %s.%s SET edges_kept = $2 WHERE id = $1", gnngp_schema(), gnngp_model_kind.table),
							   2, types, values, NULL);
	return quoted;
}

/* Drops the packed edges of a graph's models: who takes the graph over packs his own. */
void
gnngp_edges_forget(const gnngp_graph_def *graph)
{
	Oid			types[] = {INT8OID};
	Datum		values[] = {Int64GetDatum(graph->id)};
	const char *schema = gnngp_schema();

	gnngp_predictions_drop(gnngp_tables_list(psprintf("SELECT edges_kept::regclass::oid FROM %s.%s WHERE graph = $1"
													  " AND edges_kept IS NOT NULL ORDER BY 1", schema, gnngp_model_kind.table),
											 graph->id), graph->owner_role);
	gnngp_execute_latest(psprintf("UPDATE %s.%s SET edges_kept = NULL WHERE graph = $1", schema,
								  gnngp_model_kind.table), 1, types, values);
}
