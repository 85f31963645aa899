/*
 * parts_input.c - features and edges of the user's tables as parts.
 *
 * Nodes are cut into parts by their ids, which everybody can do by himself.  Edges are packed where
 * their smaller end is, so that one that the table has twice is seen to be.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parts_internal.h"
#include "utils/builtins.h"

/* The expression of a node's features, of type real[]; columns by their moments where there are any. */
static const char *
row_expression(const gnngp_parts *p, int64 columns, const double *moments)
{
	const char *features = p->src->features;
	StringInfoData text;

	if (p->src->array)
		return features;
	if (moments == NULL)
		return psprintf("ARRAY[%s]::pg_catalog.float4[]", features);
	initStringInfo(&text);
	for (int64 j = 0; j < columns; j++)
		appendStringInfo(&text, "%s%s", j > 0 ? ", " : "",
						 moments[columns + j] > 0.0 ?
						 psprintf("(f.v[" INT64_FORMAT "] - '%.17g'::pg_catalog.float8) / '%.17g'::pg_catalog.float8",
								  j + 1, moments[j], moments[columns + j]) : "0");
	return psprintf("(SELECT ARRAY[%s]::pg_catalog.float4[] FROM (SELECT ARRAY[%s] AS v OFFSET 0) AS f)", text.data, features);
}

/* Moments of feature columns. */
typedef struct column_moments
{
	int64		columns;
	double	   *value;			/* means, then deviations; 0 for constants */
} column_moments;

/* Takes them: means beside deviations. */
static void
take_moments(void *state, const Datum *values, const bool *nulls)
{
	column_moments *m = state;

	for (int64 j = 0; j < m->columns; j++)
	{
		double		mean = nulls[2 * j] ? 0.0 : DatumGetFloat8(values[2 * j]);
		double		deviation = nulls[2 * j + 1] ? 0.0 : DatumGetFloat8(values[2 * j + 1]);

		m->value[j] = mean;
		/* The same as a feature in memory (graph/scale.c). */
		m->value[m->columns + j] = deviation > 1e-12 * fabs(mean) ? deviation : 0.0;
	}
}

/* The moments by which feature columns are standardised, or NULL where they are not. */
static double *
find_moments(gnngp_parts *p)
{
	column_moments m = {0};
	gnngp_place_taker taker = {take_moments, &m, 0, NULL};
	Oid		   *types;
	StringInfoData list;
	bool		standard = strcmp(p->src->scale, "standard") == 0 || (strcmp(p->src->scale, "auto") == 0 && !p->src->array);

	if (strcmp(p->src->scale, "length") == 0 || (standard && p->src->array))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("strategy sql does not scale features to scale => '%s'", p->src->scale),
				 errhint("Scale them in a view and use gp_alter_graph(..., scale => 'none'), or use strategy => 'nystrom'.")));
	if (!standard)
		return NULL;
	m.columns = p->dims;
	m.value = gp_alloc_zero(p->ev.env, 2 * m.columns, sizeof(double));
	initStringInfo(&list);
	types = palloc((2 * m.columns + 1) * sizeof(Oid));
	for (int64 j = 0; j < 2 * m.columns; j++)
		types[j] = FLOAT8OID;
	taker.type = types;
	taker.n = (int) (2 * m.columns);
	for (int64 j = 1; j <= m.columns; j++)
		appendStringInfo(&list, "%spg_catalog.avg(f.v[" INT64_FORMAT "]), pg_catalog.stddev_pop(f.v[" INT64_FORMAT "])",
						 j > 1 ? ", " : "", j, j);
	/* A view computes each feature once, but on other servers, which take no such query. */
	gnngp_place_query(&p->place, psprintf("SELECT %s FROM (SELECT ARRAY[%s] AS v FROM %s AS t%s) AS f", list.data,
										  p->src->features, p->src->nodes, p->place.apart ? "" : " OFFSET 0"), 0, NULL, NULL, &taker);
	return m.value;
}

/* Tells whose features are at fault. */
static void
tell_features(void *arg)
{
	const gnngp_parts *p = arg;

	errcontext("features of table \"%s\"", p->src->nodes_name);
}

/* How many features the first row has, asked without a placement. */
int64
gnngp_parts_count_features(const gnngp_sources *src)
{
	gnngp_parts p = {.src = src};
	int64		dims = 0;

	if (src->features == NULL)
		return 0;
	if (SPI_execute(psprintf("SELECT pg_catalog.cardinality(%s) FROM %s AS t LIMIT 1", row_expression(&p, 0, NULL), src->nodes),
					true, 1) == SPI_OK_SELECT && SPI_processed == 1)
	{
		bool		null;
		Datum		length = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null);

		dims = null ? 0 : DatumGetInt32(length);
	}
	return dims;
}

/* How many rows of edges there are: as the planner knows them, or, of views and tables that lie elsewhere, counted. */
int64
gnngp_parts_count_edges(const gnngp_sources *src)
{
	bool		null;

	if (src->edge_rows > 0)
		return src->edge_rows;
	if (SPI_execute(psprintf("SELECT pg_catalog.count(*) FROM %s", src->edges), true, 1) != SPI_OK_SELECT || SPI_processed != 1)
		return 0;
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null));
}

/* 2202E where nodes have no features. */
void
gnngp_parts_dims(gnngp_parts *p)
{
	if (p->listed)
		return;
	p->dims = gnngp_parts_count_features(p->src);
	if (p->dims < 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("a row of table \"%s\" has no features", p->src->nodes_name),
				 errhint("Give every node its features.")));
}

/* The table of features. */
void
gnngp_parts_features(gnngp_parts *p)
{
	ErrorContextCallback context = {error_context_stack, tell_features, p};
	const char *row = row_expression(p, p->dims, find_moments(p));

	gnngp_place_rows rows = {
		.query = psprintf("SELECT pg_catalog.width_bucket(t.%s::bigint, %s) AS part, t.%s::bigint AS id, %s AS x FROM %s AS t",
						  p->src->id, p->bounds, p->src->id, row, p->src->nodes),
		.declared = "id bigint, x real[]",
		.columns = "n.id, n.x",
		.values = psprintf("%s.gp_features(n.id, n.x)::%s.gp_matrix", gnngp_public_schema(), p->schema)
	};
	int64		n;

	p->x = gnngp_parts_table(p, "features", p->dims);
	error_context_stack = &context;
	n = gnngp_place_group(&p->place, p->x, &rows);
	error_context_stack = context.previous;
	/* Servers of Citus have no moment that they share. */
	if (n >= 0 && n != p->n && !p->listed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" had " INT64_FORMAT " rows, and then " INT64_FORMAT, p->src->nodes_name, p->n, n),
				 errdetail("It changed while it was read."),
				 errhint("Try again, or in a transaction of ISOLATION LEVEL REPEATABLE READ.")));
}

/* The table of edges. */
void
gnngp_parts_edges(gnngp_parts *p)
{
	const gnngp_sources *s = p->src;
	const char *bad = s->weight ? "n.src IS NULL OR n.dst IS NULL OR n.w IS NULL OR NOT (n.w >= 0 AND n.w < 'Infinity')" :
		"n.src IS NULL OR n.dst IS NULL";
	const char *declared = psprintf("part integer, g %s.gp_graph, bad bigint", gnngp_public_schema());
	gnngp_place_rows rows = {
		.query = psprintf("SELECT coalesce(pg_catalog.width_bucket(least(t.%s, t.%s)::bigint, %s), 0) AS part,"
						  " t.%s::bigint AS src, t.%s::bigint AS dst%s FROM %s AS t", s->src, s->dst, p->bounds, s->src, s->dst,
						  s->weight ? psprintf(", t.%s::pg_catalog.float8 AS w", s->weight) : "", s->edges),
		.declared = s->weight ? "src bigint, dst bigint, w float8" : "src bigint, dst bigint",
		.columns = s->weight ? "n.src, n.dst, n.w" : "n.src, n.dst",
		.values = psprintf("%s.gp_graph(n.src, n.dst%s) FILTER (WHERE n.src <> n.dst AND NOT (%s)),"
						   " pg_catalog.count(*) FILTER (WHERE %s)%s", gnngp_public_schema(), s->weight ? ", n.w" : "", bad, bad,
						   p->keep ? psprintf(", %s", gnngp_parts_mark("src", "dst", s->weight ? "w" : NULL)) : "")
	};

	p->graph = gnngp_parts_kept(p);
	if (p->graph == NULL)
	{
		p->graph = gnngp_place_table(&p->place, "edges");
		p->place.verbs->create(&p->place, p->graph, psprintf("%s%s", declared, p->keep ? ", n bigint, a numeric, b numeric" : ""));
		gnngp_place_group(&p->place, p->graph, &rows);
	}
	p->edges_near = gnngp_place_everywhere(&p->place, p->graph, declared, "t.part, t.g, t.bad");
}

/* What is counted of the edges. */
typedef struct edge_count
{
	gnngp_parts *p;
	int64	   *degree;
	bool	   *labelled;
	bool	   *field;
	int64		edges;
	bool		bad;
} edge_count;

/* Counts the edges of one part. */
static void
take_edges(void *state, const Datum *values, const bool *nulls)
{
	edge_count *c = state;
	gnngp_graph_value g;
	int32	   *node;

	c->bad |= DatumGetInt64(values[1]) > 0;
	if (nulls[0] || c->bad)
		return;
	gnngp_graph_read(values[0], "gp_graph", &g);
	node = MemoryContextAllocHuge(CurrentMemoryContext, Max(g.ids.n, 1) * sizeof(int32));
	for (int64 i = 0; i < g.ids.n; i++)
	{
		node[i] = gnngp_source_node(c->p->src, gnngp_value_id(&g.ids, i));
		c->bad |= node[i] < 0;
	}
	for (int64 k = 0; k < g.edges && !c->bad; k++)
	{
		int32		a = node[g.src[k]];
		int32		b = node[g.dst[k]];

		gnngp_poll(k);
		c->degree[a]++;
		c->degree[b]++;
		c->field[a] |= c->labelled[b];
		c->field[b] |= c->labelled[a];
	}
	c->edges += g.edges;
}

/* Reads the edges that were packed. */
int64
gnngp_parts_degrees(gnngp_parts *p, int64 *degree, bool *field)
{
	const gnngp_data *data = p->src->data;
	edge_count	c = {p, degree, NULL, field, 0, false};
	Oid			types[] = {gnngp_type("gp_graph"), INT8OID};
	gnngp_place_taker taker = {take_edges, &c, 2, types};

	c.labelled = gp_alloc_zero(p->ev.env, p->n, sizeof(bool));
	for (int64 k = 0; k < data->nlabelled; k++)
		c.labelled[data->labelled[k]] = field[data->labelled[k]] = true;
	gnngp_place_query(&p->place, psprintf("SELECT g.g, g.bad FROM %s AS g", p->graph), 0, NULL, NULL, &taker);
	gp_free(p->ev.env, c.labelled);
	if (c.bad)
		gnngp_refuse_edges(p->src);
	gnngp_parts_keep(p);
	return c.edges;
}
