/*
 * read_graph.c - reading the user's tables under one snapshot.
 *
 * A snapshot that is older than a lock could see a table empty that another session had just filled
 * again.  Planning, which locks, takes place under the one that the caller has pushed.
 */
#include "postgres.h"

#include "reader_internal.h"

/* True for a table whose rows lie in several. */
static bool
is_divided(Oid table)
{
	return get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE || gnngp_citus_has_table(table);
}

/* The kind that a table had when it was given: nodes, edges, sparse features; '-': not known. */
static char
kind_of(const gnngp_graph_def *def, int which)
{
	return def->kinds && strlen(def->kinds) == 3 ? def->kinds[which] : '-';
}

void
gnngp_reader_open(gnngp_reader *r, gp_env *env, const gnngp_graph_def *def)
{
	Oid			output;
	bool		is_varlena;

	memset(r, 0, sizeof(*r));
	r->env = env;
	r->def = def;
	if (OidIsValid(def->nodes))
		r->nodes = gnngp_table_open(def->nodes, &def->nodes_name, kind_of(def, 0), "nodes", def);
	r->edges = gnngp_table_open(def->edges, &def->edges_name, kind_of(def, 1), "edges", def);
	if (!OidIsValid(def->nodes))
	{
		/* The ends of the edges are the nodes, whose id is called as the sources are. */
		r->nodes = r->edges;
		r->nodes.quoted = psprintf("(SELECT %1$s FROM %2$s UNION SELECT %3$s FROM %2$s)", quote_identifier(def->src),
								   r->edges.quoted, quote_identifier(def->dst));
	}
	if (OidIsValid(def->sparse_features))
		r->sparse = gnngp_table_open(def->sparse_features, &def->sparse_name, kind_of(def, 2),
									 "sparse_features", def);
	r->id = gnngp_table_column(&r->nodes, def->id_column);
	r->integer_ids = gnngp_is_integer_type(r->id.base);
	getTypeOutputInfo(r->id.base, &output, &is_varlena);
	fmgr_info(output, &r->id_output);

	const char *type_name = gnngp_type_name(r->id.type);
	r->data = palloc0(sizeof(gnngp_data));
	r->data->divided = is_divided(r->nodes.oid) || is_divided(r->edges.oid);
	r->data->ids.integer = r->integer_ids;
	r->data->ids.type_name = gp_alloc(env, strlen(type_name) + 1);
	strcpy(r->data->ids.type_name, type_name);
}

/*
 * Takes the snapshot to read under.  In parallel mode, which calls that store
 * nothing may be part of, the server gives none, and the query's own has to do.
 */
void
gnngp_push_read_snapshot(void)
{
	PushActiveSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetTransactionSnapshot());
}

gnngp_owner_reading *
gnngp_owner_reading_open(gp_env *env, const gnngp_graph_def *graph)
{
	gnngp_owner_reading *reading = palloc(sizeof(gnngp_owner_reading));

	gnngp_require_edges(graph);
	reading->saved = gnngp_become_reader(gnngp_owner_role(graph));
	gnngp_spi_connect();
	gnngp_reader_open(&reading->r, env, graph);
	reading->r.as_owner = true;
	gnngp_rights_open(&reading->rights, &reading->r);
	return reading;
}

void
gnngp_owner_reading_close(gnngp_owner_reading *reading)
{
	gnngp_rights_close(&reading->rights);
	gnngp_spi_finish();
	gnngp_become_again(&reading->saved);
}

gnngp_data *
gnngp_read(gp_env *env, const gnngp_graph_def *graph, const char *kind, bool need_target,
		   bool both_forms)
{
	gnngp_owner_reading *reading = gnngp_owner_reading_open(env, graph);
	gnngp_reader *r = &reading->r;

	r->both_forms = both_forms;
	gnngp_node_reading *nodes = gnngp_plan_nodes(r, kind, need_target);
	gnngp_sparse_reading *sparse = gnngp_plan_sparse(r);
	gnngp_edge_reading *edges = gnngp_plan_edges(r);
	gnngp_data *data = gp_alloc(env, sizeof(gnngp_data));

	gnngp_push_read_snapshot();
	gnngp_read_nodes(nodes);
	gnngp_idmap_build(r->env, &r->map, &r->data->ids);
	if (sparse)
		gnngp_read_sparse(sparse);
	gnngp_read_edges(edges);
	gnngp_idmap_free(r->env, &r->map);
	PopActiveSnapshot();
	*data = *r->data;
	gnngp_owner_reading_close(reading);
	return data;
}
