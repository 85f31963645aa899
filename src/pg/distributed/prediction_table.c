/*
 * prediction_table.c - predictions in a table of their own, which is the graph's owner's.
 *
 * A fit whose factor lies in tables writes a new table beside the node table: partitioned or
 * distributed likewise, so that a join of the two stays where their rows are.  The model's row names the table that is
 * read; readers see the old one or the new one, and wait for nobody.  The old one is kept until the next
 * fit, for queries that have begun with it, and longer while somebody reads it or something depends on it.
 *
 * All is done as the owner under SECURITY_RESTRICTED_OPERATION: event triggers, domains and
 * bounds of partitions may have code behind them.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "model_tables.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* 55000: the table is not there, or another one's. */
void
gnngp_predictions_gone(const gnngp_model *model)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the predictions of model \"%s\" are no longer in a table of its owner", model->name),
			 errdetail("The table was dropped or given away, or the model was fitted twice since this query began."),
			 errhint("Try again; where that does not help, fit the model again with gp_refresh.")));
}

/* Locks the table of a model for reading, and names it. */
const char *
gnngp_predictions_open(const gnngp_model *model)
{
	const char *name;

	LockRelationOid(model->predictions, AccessShareLock);
	name = gnngp_table_name(model->predictions, model->owner_role);
	if (name == NULL)
		gnngp_predictions_gone(model);
	return name;
}

/* How a table of predictions is to be partitioned: as the nodes are, where that is by their id. */
static const char *
partition_clause(const gnngp_graph_def *graph)
{
	return gnngp_table_ask("SELECT CASE p.partstrat WHEN 'h' THEN 'HASH' WHEN 'l' THEN 'LIST' ELSE 'RANGE' END FROM pg_partitioned_table AS p"
						   " JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]"
						   " JOIN pg_opclass AS o ON o.oid = p.partclass[0] AND o.opcdefault"
						   " WHERE p.partrelid = $1 AND p.partnatts = 1 AND a.attname = $3::name",
						   graph->nodes, InvalidOid, graph->id_column) == 0 ? "" : psprintf(" PARTITION BY %s (node)", gnngp_table_answer(0));
}

/* Makes a partition for each of the nodes', with the same bounds. */
static void
make_partitions(const gnngp_graph_def *graph, Oid schema, const char *table, const char *quoted)
{
	uint64		n = gnngp_table_ask("SELECT pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid"
									" WHERE i.inhparent = $1 ORDER BY c.oid", graph->nodes, InvalidOid, "");
	char	  **bounds = palloc(sizeof(char *) * Max(n, 1));

	for (uint64 i = 0; i < n; i++)
		bounds[i] = pstrdup(gnngp_table_answer(i));
	for (uint64 i = 0; i < n; i++)
	{
		char	   *name = ChooseRelationName(table, NULL, psprintf(UINT64_FORMAT, i + 1), schema, false);

		gnngp_table_execute(psprintf("CREATE TABLE %s PARTITION OF %s %s",
									 quote_qualified_identifier(get_namespace_name(schema), name), quoted, bounds[i]));
	}
}

/* The type of the nodes' ids, or, of a domain, of its values: a domain may have code behind it, which a later owner would run. */
static Oid
node_type(const gnngp_graph_def *graph)
{
	return getBaseType(get_atttype(graph->nodes, get_attnum(graph->nodes, graph->id_column)));
}

/* Has Citus distribute the table by its nodes; near the node table, where that is distributed by its id, which is of the same type. */
static void
distribute(const gnngp_graph_def *graph, const char *quoted)
{
	bool		near = gnngp_citus_has_table(graph->nodes) &&
		gnngp_table_ask("SELECT FROM pg_dist_partition JOIN pg_attribute ON attrelid = $1 AND attname = $3::name AND atttypid = $2"
						" WHERE logicalrelid = $1 AND partmethod = 'h' AND column_to_column_name(logicalrelid, partkey) = $3",
						graph->nodes, node_type(graph), graph->id_column) > 0;
	const char *nodes = quote_qualified_identifier(get_namespace_name(get_rel_namespace(graph->nodes)), get_rel_name(graph->nodes));

	gnngp_table_execute(psprintf("SELECT pg_catalog.create_distributed_table(%s, 'node', colocate_with => %s)", quote_literal_cstr(quoted),
								 quote_literal_cstr(near ? nodes : "default")));
}

/* Makes the table. */
static Oid
make_table(const gnngp_model *model, const gnngp_graph_def *graph, bool spread)
{
	Oid			schema = get_rel_namespace(graph->nodes);
	char	   *table = ChooseRelationName(model->name, NULL, "predictions", schema, false);
	const char *quoted = quote_qualified_identifier(get_namespace_name(schema), table);
	const char *partitions = spread ? "" : partition_clause(graph);

	gnngp_pin("client_min_messages", "warning");
	gnngp_pin("default_table_access_method", "heap");
	gnngp_citus_prepare();
	gnngp_table_execute(psprintf("CREATE TABLE %s (node %s PRIMARY KEY, class text, score float8, variance float8,"
								 " probability float8, packed bytea)%s", quoted, format_type_be_qualified(node_type(graph)), partitions));
	gnngp_table_execute(psprintf("ALTER TABLE %s ALTER packed SET STORAGE EXTERNAL", quoted));
	gnngp_table_execute(psprintf("COMMENT ON TABLE %s IS %s", quoted,
								 quote_literal_cstr(psprintf("predictions of the model %s: gp_fit and gp_refresh make the table,"
															 " gp_predict reads it", model->name))));
	if (*partitions)
		make_partitions(graph, schema, table, quoted);
	if (spread)
		distribute(graph, quoted);
	return get_relname_relid(table, schema);
}

/* True where the owner may make a table beside the nodes. */
bool
gnngp_tables_may_make(const gnngp_graph_def *graph)
{
	Oid			schema = get_rel_namespace(graph->nodes);

	return OidIsValid(schema) && !isAnyTempNamespace(schema) &&
		gnngp_table_ask("SELECT WHERE has_schema_privilege($1, $2, 'CREATE')", graph->owner_role, schema, "") > 0;
}

/*
 * Holds the row of a model that is about to get a table: a grant or revoke that is open is waited for, and
 * one that comes is refused (55006) until the fit is over, for it would not see the table.
 */
static void
hold_grants(const gnngp_model *model)
{
	const char *schema = gnngp_schema();

	gnngp_table_ask(psprintf("SELECT m.id FROM %s.%s AS m WHERE %s.gp_role_oid(m.owner) = $1 AND m.name = $3 FOR UPDATE OF m", schema,
							 gnngp_model_kind.table, schema), model->owner_role, InvalidOid, model->name);
}

/* True where tables may be made. */
bool
gnngp_predictions_may_make(const gnngp_graph_def *graph)
{
	bool		may;

	gnngp_spi_connect();
	may = gnngp_tables_may_make(graph);
	gnngp_spi_finish();
	return may;
}

/* Notes a new table among those that are dropped with the next fit, which a fit that is saved takes it from. */
static void
note_table(const gnngp_model *stored, Oid table)
{
	Oid			types[] = {INT8OID, REGCLASSOID};
	Datum		values[] = {Int64GetDatum(stored->id), ObjectIdGetDatum(table)};

	const char *schema = gnngp_schema();

	gnngp_execute_latest(psprintf("UPDATE %s.%s SET predictions_past = predictions_past || $2::%s.gp_table WHERE id = $1", schema,
								  gnngp_model_kind.table, schema), 2, types, values);
}

/* Makes a table for the predictions of a model that is about to be saved. */
void
gnngp_predictions_make(gnngp_model *model, const gnngp_graph_def *graph, bool spread, const gnngp_model *refreshed)
{
	gnngp_identity saved;

	gnngp_spi_connect();
	hold_grants(model);
	/* What a refresh that came no further has left would else grow from night to night. */
	if (refreshed)
		gnngp_predictions_prune(model);
	saved = gnngp_become_owner(model->owner_role);
	model->predictions = make_table(model, graph, spread);
	gnngp_become_again(&saved);
	if (refreshed)
		note_table(refreshed, model->predictions);
	gnngp_spi_finish();
}

/* Says that a model has no table. */
void
gnngp_predictions_tell_none(const gnngp_model *model)
{
	ereport(NOTICE,
			(errmsg("predictions of model \"%s\" are kept inside of it", model->name),
			 errdetail("Role \"%s\" may not make tables where the nodes are.", GetUserNameFromId(model->owner_role, false)),
			 errhint("With CREATE on that schema they are put into a table of their own, which queries can join.")));
}
