/*
 * matrix_spread.c - gp_spread and gp_degrees: what takes a whole graph, which lies in a table.
 *
 * A task of gp_spread holds all rows of some columns and the whole graph, so that any power of A,
 * and P(a), is a few products there and no message.  Blocks of the graph's edges are read one by
 * one.  A fit asks several times in each of several statements, and what takes long is reading
 * the blocks, sorting edges and normalising.  One graph is kept from call to call until another
 * one is asked for, its memory is needed or the transaction ends; it is told by its table, which
 * does not change meanwhile.
 */
#include "postgres.h"

#include "core/fit/landmarks.h"
#include "core/graph/graph.h"
#include "pg/catalog/catalog.h"
#include "pg/types/types.h"

int64
gnngp_rows_of_chunk(const gnngp_value_ids *ids, int64 first, const int64 *bound, int n, int k)
{
	int64		last = first;

	if (k == n)
		return ids->n - first;
	while (last < ids->n && gnngp_value_id(ids, last) < bound[k])
		last++;
	return last - first;
}

static void
emit_parts(gnngp_result *result, const gnngp_value_ids *ids, gp_matrix m, const int64 *bound,
		   int n)
{
	int64		first = 0;

	for (int k = 0; k <= n; k++)
	{
		int64		rows = gnngp_rows_of_chunk(ids, first, bound, n, k);
		gnngp_value_ids part;

		if (rows == 0)
			continue;
		part = gnngp_value_ids_part(ids, first, rows);
		gnngp_emit(result, gnngp_cell(Int32GetDatum(k)),
				   gnngp_cell(gnngp_matrix_write(&part, gp_matrix_rows(m, first, rows))));
		first += rows;
	}
}

/* Hands over the blocks of a graph's edges, a table (chunk integer, g gp_graph), in order. */
static void
each_block(Oid table, gnngp_row_fn row, void *state)
{
	Oid			type = gnngp_type("gp_graph");
	gnngp_rows	rows = {.row = row,.state = state,.n = 1,.types = &type};
	char	   *name = get_rel_name(table);

	if (name == NULL)
		gnngp_raise(UNDEFINED_TABLE, NULL, "there is no table of edges with OID %u", table);
	name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), name);
	gnngp_spi_connect();
	gnngp_each_row(NULL, psprintf("SELECT g.g FROM %s AS g WHERE g.g IS NOT NULL ORDER BY g.chunk",
								  name), 0, NULL, NULL, &rows);
	gnngp_spi_finish();
}

/* A graph on its way from blocks, which may have an edge several times. */
typedef struct block_reading
{
	gp_env	   *env;
	const gnngp_value_ids *ids; /* of all nodes */
	gp_edges   *edges;			/* NULL: there was no block */
	bool		weighted;
	bool		unknown;		/* an edge has a node, missing, that is not among these */
	int64		missing;
} block_reading;

static void
add_block(void *state, const Datum *values, const bool *nulls)
{
	block_reading *r = state;
	gnngp_graph_value g;
	const int32 *node;

	if (r->unknown)
		return;
	gnngp_graph_read(values[0], "gp_graph", &g);
	if (r->edges == NULL)
		r->edges = gp_edges_create(r->env, r->ids->n, false, r->weighted = g.weight != NULL);
	if ((g.weight != NULL) != r->weighted)
		gnngp_matrix_refuse("Some graphs have weights, and others have none.");
	node = gnngp_graph_places(&g, r->ids, &r->missing);
	r->unknown = node == NULL;
	if (node)
		gnngp_graph_add_edges(r->edges, &g, node);
}

/*
 * The graph of the blocks in a table (InvalidOid: without edges); NULL where one has a node,
 * *missing, that is not among these.
 */
static gp_graph *
graph_of_blocks(gp_env *env, Oid table, const gnngp_value_ids *ids, int64 *missing)
{
	block_reading r = {.env = env,.ids = ids};

	if (OidIsValid(table))
		each_block(table, add_block, &r);
	*missing = r.missing;
	return r.unknown ? NULL :
		gp_graph_build(r.edges ? r.edges : gp_edges_create(env, ids->n, false, false));
}

/* A graph that is kept from call to call. */
typedef struct whole_graph
{
	gp_env	   *env;
	gnngp_kept_key key;			/* the table that it was made from, as who could read it */
	gnngp_value_ids ids;
	gp_csr	   *a;				/* A in this norm, in float */
} whole_graph;

/* The graph of a call over the rows of its nodes: the one that was kept, or a new one. */
static whole_graph *
find_whole_graph(Oid table, gp_norm norm, const gnngp_value_ids *rows)
{
	const gnngp_kept_key key = {GNNGP_KEPT_GRAPH, table, GetUserId(), norm};
	whole_graph *w = gnngp_env_resume(key);
	gp_env	   *env;
	gp_graph   *graph;
	int64		missing;

	if (w && gnngp_value_ids_equal(&w->ids, rows))
		return w;
	if (w)
		gnngp_env_destroy(w->env);
	env = gnngp_env_create(CurrentMemoryContext);
	w = gp_alloc_zero(env, 1, sizeof(whole_graph));
	w->env = env;
	memcpy(w->key, key, sizeof(w->key));
	w->ids = *rows;
	if (rows->id)
	{
		w->ids.id = gp_alloc_array(env, rows->n, sizeof(int64));
		memcpy(w->ids.id, rows->id, rows->n * sizeof(int64));
	}
	graph = graph_of_blocks(env, table, rows, &missing);
	if (graph == NULL)
		gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "node " INT64_FORMAT " of the graph has no row in the matrix",
					missing);
	w->a = gp_graph_normalise(env, graph, norm, GP_FLOAT);
	gp_graph_free(env, graph);
	return w;
}

/* The bounds of chunks among the arguments; n of them. */
static const int64 *
bounds_argument(FunctionCallInfo fcinfo, int argno, int *n)
{
	ArrayType  *bounds = PG_GETARG_ARRAYTYPE_P(argno);
	const int64 *bound = gnngp_array_data(bounds);

	*n = ArrayGetNItems(ARR_NDIM(bounds), ARR_DIMS(bounds));
	if (array_contains_nulls(bounds))
		gnngp_matrix_refuse("A bound is NULL.");
	for (int k = 1; k < *n; k++)
		if (bound[k] <= bound[k - 1])
			gnngp_matrix_refuse("The bounds do not ascend.");
	return bound;
}

/* The nodes of ids that ascend, which become those of rows; n of them. */
static int32 *
wanted_nodes(gp_env *env, ArrayType *array, const gnngp_value_ids *all, gnngp_value_ids *ids)
{
	const int64 *wanted = gnngp_array_data(array);
	int32	   *node;

	if (array_contains_nulls(array))
		gnngp_matrix_refuse("A row that is wanted is NULL.");
	ids->n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	ids->id = gp_alloc_array(env, ids->n, sizeof(int64));
	node = gp_alloc_array(env, ids->n, sizeof(int32));
	for (int64 i = 0; i < ids->n; i++)
	{
		ids->id[i] = wanted[i];
		node[i] = (int32) gnngp_value_find(all, wanted[i]);
		gnngp_poll(i);
		if (node[i] < 0 || (i > 0 && node[i] <= node[i - 1]))
			gnngp_matrix_refuse("Rows that are wanted ascend, and columns have them.");
	}
	return node;
}

/*
 * gp_spread(columns, edges, kernel, bounds [, wanted]): S columns, in parts of rows; edges NULL:
 * none; wanted NULL: all rows, else those with these ids.
 */
PG_FUNCTION_INFO_V1(gnngp_matrix_spread);
Datum
gnngp_matrix_spread(PG_FUNCTION_ARGS)
{
	gnngp_result *result = gnngp_rows_start(fcinfo);
	gnngp_table_value table;
	const int64 *bound;
	int			n;
	gp_env	   *env;
	gp_device  *dev;
	whole_graph *whole;
	const gp_program *program;
	gp_matrix	m;
	gnngp_value_ids some = {0};
	int32	   *node = NULL;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		return (Datum) 0;
	bound = bounds_argument(fcinfo, 3, &n);
	table = gnngp_matrix_read(PG_GETARG_DATUM(0));
	if (table.wide)
		gnngp_matrix_refuse("Columns are of single precision.");
	env = gnngp_env_create(CurrentMemoryContext);
	program = gnngp_compile_kernel(env, text_to_cstring(PG_GETARG_TEXT_PP(2)));
	whole = find_whole_graph(PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1), program->norm,
							 &table.ids);
	m = gnngp_matrix_numbers(env, &table);
	dev = gnngp_device_open(env, gnngp_factor_threads(8.0 * gp_csr_entries(whole->a) * m.cols));
	if (!PG_ARGISNULL(4))
		node = wanted_nodes(env, PG_GETARG_ARRAYTYPE_P(4), &table.ids, &some);
	gp_block_operate(dev, program, whole->a, m, node, some.n);
	dev->close(dev);
	for (int64 i = 0; i < some.n; i++)
		memmove((float *) m.data + i * m.cols, (float *) m.data + node[i] * m.cols,
				m.cols * sizeof(float));
	emit_parts(result, node ? &some : &table.ids, m, bound, n);
	gnngp_env_destroy(env);
	gnngp_env_keep(whole->env, TopTransactionContext, SIZE_MAX, whole->key, whole);
	return (Datum) 0;
}

/*
 * gp_degrees(labelled, edges, bounds): how many neighbours each node has, and how many of them are
 * labelled, in parts of rows; no row where edges have a node that labelled, a column, has not.
 */
PG_FUNCTION_INFO_V1(gnngp_matrix_degrees);
Datum
gnngp_matrix_degrees(PG_FUNCTION_ARGS)
{
	gnngp_result *result = gnngp_rows_start(fcinfo);
	gnngp_table_value table;
	const int64 *bound;
	int			n;
	gp_env	   *env;
	gp_matrix	m;
	gp_graph   *graph;
	int64		missing;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		return (Datum) 0;
	bound = bounds_argument(fcinfo, 2, &n);
	table = gnngp_matrix_read(PG_GETARG_DATUM(0));
	if (table.wide || table.cols != 1)
		gnngp_matrix_refuse("Labelled nodes are a column of single precision.");
	env = gnngp_env_create(CurrentMemoryContext);
	m = gnngp_matrix_numbers(env, &table);
	graph = graph_of_blocks(env, PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1), &table.ids,
							&missing);
	if (graph)
	{
		const float *labelled = m.data;
		float	   *out = gp_alloc_zero(env, m.rows, 2 * sizeof(float));

		for (int64 i = 0; i < m.rows; i++)
		{
			gnngp_poll(i);
			out[2 * i] = (float) (graph->start[i + 1] - graph->start[i]);
			for (int64 k = graph->start[i]; k < graph->start[i + 1]; k++)
				out[2 * i + 1] += labelled[graph->col[k]] != 0.0;
		}
		emit_parts(result, &table.ids, gp_matrix_wrap(out, m.rows, 2, GP_FLOAT), bound, n);
	}
	gnngp_env_destroy(env);
	return (Datum) 0;
}
