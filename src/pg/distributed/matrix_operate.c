/*
 * matrix_operate.c - gp_operate and gp_degrees: aggregates that take a whole graph, which lies in a
 * table.
 *
 * A task of gp_operate holds all rows of some columns and the whole graph, so that any power of A,
 * and P(a), is a few products there and no message.  Blocks of the graph's edges are read one by
 * one.  A fit asks several times in each of several statements, and what takes long is reading
 * the blocks, sorting edges and normalising.  One graph is kept from call to call until another
 * one is asked for, its memory is needed or the transaction ends; it is told by the rows of its
 * table.
 */
#include "postgres.h"

#include "distributed_internal.h"
#include "pg/types/aggregate_state.h"

/* Rows of a matrix as an array of one for each chunk, NULL where a chunk has none; frees the
 * numbers. */
static Datum
array_of_parts(gp_env *env, const gnngp_value_ids *ids, gp_matrix m, const int64 *bound, int n)
{
	Datum	   *part = palloc0((n + 1) * sizeof(Datum));
	bool	   *null = palloc((n + 1) * sizeof(bool));
	int			lower = 1;
	int			dim = n + 1;
	int64		first = 0;

	gp_drop_spares(env);
	for (int k = 0; k <= n; k++)
	{
		int64		rows = gnngp_rows_of_chunk(ids, first, bound, n, k);

		null[k] = rows == 0;
		if (rows > 0)
		{
			gnngp_value_ids of = gnngp_value_ids_part(ids, first, rows);

			part[k] = gnngp_matrix_write(&of, gp_matrix_rows(m, first, rows));
		}
		first += rows;
	}
	gp_free(env, m.data);
	gp_drop_spares(env);
	ArrayType  *all = construct_md_array(part, null, 1, &dim, &lower, gnngp_type("gp_matrix"), -1, false,
										 TYPALIGN_INT);
	/* They would stay beside the array until the next group of columns has come. */
	for (int k = 0; k <= n; k++)
		if (!null[k])
			pfree(DatumGetPointer(part[k]));
	gnngp_trim_memory();
	return PointerGetDatum(all);
}

/* The table of a graph's edges, (chunk integer, g gp_graph), in a query. */
static const char *
edge_table(Oid table)
{
	char	   *name = get_rel_name(table);

	if (name == NULL)
		gnngp_raise(UNDEFINED_TABLE, NULL, "there is no table of edges with OID %u", table);
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), name);
}

/* A hash of the versions of its rows, which tells one content from another. */
static int64
table_stamp(Oid table)
{
	const char *of_row = "pg_catalog.format('%s %s %s %s', g.tableoid, g.ctid, g.xmin, g.cmin)";

	gnngp_spi_connect();
	int64		stamp = gnngp_query_number(psprintf("SELECT pg_catalog.bit_xor(pg_catalog.hashtextextended(%s, 0)) FROM %s AS g",
													of_row, edge_table(table)));
	gnngp_spi_finish();
	return stamp;
}

/* A graph on its way from blocks, which may have an edge several times. */
typedef struct graph_reading
{
	gp_env	   *env;
	const gnngp_value_ids *ids; /* of all nodes */
	gp_edges   *edges;			/* NULL: there was no block */
	bool		weighted;
	bool		unknown;		/* an edge has a node, missing, that is not among these */
	int64		missing;
} graph_reading;

static void
add_block(void *state, const Datum *values, const bool *nulls)
{
	graph_reading *r = state;
	gnngp_graph_value g;

	if (r->unknown)
		return;
	gnngp_graph_read(values[0], "gp_graph", &g);
	if (r->edges == NULL)
		r->edges = gp_edges_create(r->env, r->ids->n, false, r->weighted = g.weight != NULL);
	if ((g.weight != NULL) != r->weighted)
		gnngp_matrix_refuse("Some graphs have weights, and others have none.");
	const int32 *node = gnngp_graph_places(&g, r->ids, &r->missing);
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
	graph_reading r = {.env = env,.ids = ids};
	gnngp_sink	rows = {.row = add_block,.state = &r,.n = 1,
						.types = (Oid[]) {gnngp_type("gp_graph")}};

	if (OidIsValid(table))
	{
		gnngp_spi_connect();
		gnngp_each_row(NULL, psprintf("SELECT g.g FROM %s AS g WHERE g.g IS NOT NULL ORDER BY g.chunk",
									  edge_table(table)), 0, NULL, NULL, &rows);
		gnngp_spi_finish();
	}
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

/*
 * The graph of a call over the rows of its nodes: the one that was kept, or a new one; NULL where
 * it has a node, *missing, that is not among these.
 */
static whole_graph *
find_whole_graph(Oid table, gp_norm norm, const gnngp_value_ids *rows, int64 *missing)
{
	const gnngp_kept_key key = {GNNGP_KEPT_GRAPH, table, GetUserId(), norm,
		OidIsValid(table) ? table_stamp(table) : 0
	};
	whole_graph *w = gnngp_env_resume(key);

	if (w && gnngp_value_ids_equal(&w->ids, rows))
		return w;
	if (w)
		gnngp_env_destroy(w->env);
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_graph   *graph = graph_of_blocks(env, table, rows, missing);
	if (graph == NULL)
	{
		gnngp_env_destroy(env);
		return NULL;
	}
	w = gp_alloc_zero(env, 1, sizeof(whole_graph));
	w->env = env;
	memcpy(w->key, key, sizeof(w->key));
	w->ids = *rows;
	if (rows->id)
	{
		w->ids.id = gp_alloc_array(env, rows->n, sizeof(int64));
		memcpy(w->ids.id, rows->id, rows->n * sizeof(int64));
	}
	w->a = gp_graph_normalise(env, graph, norm, GP_FLOAT);
	gp_graph_free(env, graph);
	return w;
}

/* What gp_operate and gp_degrees have collected. */
typedef struct operation
{
	gnngp_pieces *columns;
	Oid			edges;
	const char *kernel;
	const int64 *bound;
	int			nbounds;
	ArrayType  *wanted;			/* NULL: all rows */
} operation;

/* The step of gp_operate and gp_degrees: state, columns, edges, kernel, bounds [, wanted], of which
 * all but the columns are the same for all rows. */
GNNGP_FUNCTION(gnngp_operate_accum)
{
	bool		some = PG_NARGS() > 5;
	MemoryContext context = gnngp_aggregate_context(fcinfo, some ? "gp_operate" : "gp_degrees");
	operation  *s = PG_ARGISNULL(0) ? NULL : (operation *) PG_GETARG_POINTER(0);

	if (PG_ARGISNULL(1))
		gnngp_aggregate_null("columns");
	if (s == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		if (PG_ARGISNULL(3) || PG_ARGISNULL(4))
			gnngp_aggregate_null(PG_ARGISNULL(3) ? "kernel" : "bounds");
		s = palloc0(sizeof(operation));
		s->columns = gnngp_pieces_create(context);
		s->edges = PG_ARGISNULL(2) ? InvalidOid : PG_GETARG_OID(2);
		s->kernel = text_to_cstring(PG_GETARG_TEXT_PP(3));
		s->bound = gnngp_ascending(PG_GETARG_ARRAYTYPE_P_COPY(4), "bounds", &s->nbounds);
		s->wanted = some && !PG_ARGISNULL(5) ? PG_GETARG_ARRAYTYPE_P_COPY(5) : NULL;
		MemoryContextSwitchTo(old);
	}
	gnngp_pieces_add(s->columns, PG_GETARG_DATUM(1));
	PG_RETURN_POINTER(s);
}

/* The nodes of ids that are wanted, which become those of rows. */
static int32 *
wanted_nodes(gp_env *env, ArrayType *array, const gnngp_value_ids *all, gnngp_value_ids *ids)
{
	int			n;
	const int64 *wanted = gnngp_ascending(array, "rows that are wanted", &n);
	int32	   *node = gp_alloc_array(env, n, sizeof(int32));

	for (int i = 0; i < n; i++)
	{
		gnngp_poll(i);
		node[i] = (int32) gnngp_value_find(all, wanted[i]);
		if (node[i] < 0)
			gnngp_matrix_refuse("Columns have the rows that are wanted.");
	}
	*ids = (gnngp_value_ids) {.n = n,.id = unconstify(int64 *, wanted)};
	return node;
}

/* The columns of a state, and the graph; NULL as find_whole_graph. */
static whole_graph *
open_operation(operation *s, gp_env *env, const gp_program **program, gp_matrix *m,
			   gnngp_value_ids *ids, int64 *missing)
{
	*program = gnngp_compile_kernel(env, s->kernel);
	/* What covariances took on the way is not held beside the columns, nor the pieces beside the
	 * graph. */
	gnngp_trim_memory();
	*m = gnngp_pieces_join(s->columns, env, false, ids);
	gnngp_trim_memory();
	if (m->type != GP_FLOAT)
		gnngp_matrix_refuse("Columns are of single precision.");
	return find_whole_graph(s->edges, (*program)->norm, ids, missing);
}

/*
 * The end of gp_operate: S columns, in an array of a matrix for each chunk of rows; edges NULL:
 * none; wanted NULL: all rows, else those with these ids.
 */
GNNGP_FUNCTION(gnngp_operate_final)
{
	operation  *s = (operation *) PG_GETARG_POINTER(0);
	gp_device  *dev;
	const gp_program *program;
	gp_matrix	m;
	gnngp_value_ids all;
	gnngp_value_ids some = {0};
	int32	   *node = NULL;
	int64		missing;
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	whole_graph *whole = open_operation(s, env, &program, &m, &all, &missing);

	if (whole == NULL)
		gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "node " INT64_FORMAT " of the graph has no row in the matrix",
					missing);
	dev = gnngp_device_open(env, gnngp_factor_threads(8.0 * gp_csr_entries(whole->a) * m.cols));
	if (s->wanted)
		node = wanted_nodes(env, s->wanted, &all, &some);
	gp_block_operate(dev, program, whole->a, m, node, some.n);
	dev->close(dev);
	for (int64 i = 0; i < some.n; i++)
		memmove((float *) m.data + i * m.cols, (float *) m.data + node[i] * m.cols,
				m.cols * sizeof(float));
	Datum		result = array_of_parts(env, node ? &some : &all, m, s->bound, s->nbounds);
	gnngp_env_destroy(env);
	gnngp_env_keep(whole->env, TopTransactionContext, SIZE_MAX, whole->key, whole);
	PG_RETURN_DATUM(result);
}

/*
 * The end of gp_degrees: how many neighbours each node has, and how many of them are labelled, as a
 * column of ones and zeros says; NULL where edges have a node that it has not.
 */
GNNGP_FUNCTION(gnngp_degrees_final)
{
	operation  *s = (operation *) PG_GETARG_POINTER(0);
	const gp_program *program;
	gp_matrix	m;
	gnngp_value_ids ids;
	int64		missing;
	Datum		result;
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	whole_graph *whole = open_operation(s, env, &program, &m, &ids, &missing);

	if (m.cols != 1)
		gnngp_matrix_refuse("Labelled nodes are one column.");
	if (whole == NULL)
	{
		gnngp_env_destroy(env);
		PG_RETURN_NULL();
	}
	float	   *out = gp_alloc_zero(env, m.rows, 2 * sizeof(float));
	for (int64 i = 0; i < m.rows; i++)
	{
		const gp_csr *a = whole->a;

		gnngp_poll(i);
		/* A has each node beside its neighbours. */
		out[2 * i] = (float) (a->start[i + 1] - a->start[i] - 1);
		for (int64 k = a->start[i]; k < a->start[i + 1]; k++)
			out[2 * i + 1] += a->col[k] != i && ((float *) m.data)[a->col[k]] != 0.0;
	}
	result = array_of_parts(env, &ids, gp_matrix_wrap(out, m.rows, 2, GP_FLOAT), s->bound,
							s->nbounds);
	gnngp_env_destroy(env);
	gnngp_env_keep(whole->env, TopTransactionContext, SIZE_MAX, whole->key, whole);
	PG_RETURN_DATUM(result);
}
