/*
 * chunk_input.c - features and edges of the user's tables as chunks.
 *
 * Nodes are cut into chunks by their ids, which every server can do by itself.  Edges are packed
 * where their smaller end is, so that one that the table has twice is seen to be.
 */
#include "postgres.h"

#include "distributed_internal.h"

/* The expression of a node's features, of type real[]; by their moments where there are any. */
static const char *
row_expression(const gnngp_sources *src, int64 columns, const double *moments)
{
	StringInfoData text;

	if (moments == NULL)
		return psprintf("(%s)::pg_catalog.float4[]", src->features);
	initStringInfo(&text);
	for (int64 j = 0; j < columns; j++)
		appendStringInfo(&text, "%s%s", j > 0 ? ", " : "",
						 moments[columns + j] > 0.0 ?
						 psprintf("(f.v[" INT64_FORMAT "]::pg_catalog.float8 - '%.17g'::pg_catalog.float8) / '%.17g'::pg_catalog.float8",
								  j + 1, moments[j], moments[columns + j]) : "0");
	/* Rows of another length stay as they are, and are refused. */
	return psprintf("(SELECT CASE WHEN pg_catalog.cardinality(f.v) = " INT64_FORMAT " THEN ARRAY[%s]::pg_catalog.float4[]"
					" ELSE f.v::pg_catalog.float4[] END FROM (SELECT %s AS v OFFSET 0) AS f)",
					columns, text.data, src->features);
}

typedef struct feature_moments
{
	const gnngp_sources *src;
	int64		columns;
	double	   *value;			/* means, then deviations; 0 for constants */
	bool		units;			/* numbers of an array have units of their own */
} feature_moments;

/* Takes what gp_moments gives. */
static void
read_moments(void *state, const Datum *values, const bool *nulls)
{
	feature_moments *m = state;
	ArrayType  *array = nulls[0] ? NULL : DatumGetArrayTypeP(values[0]);
	const double *x = array ? gnngp_array_data(array) : NULL;
	int64		n = array ? ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) : 0;
	double		low = INFINITY;
	double		high = 0.0;

	if (n != GNNGP_MOMENTS + 2 * m->columns)
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Give every node the same number of features.",
					"rows of table \"%s\" have no features, or other ones than the first one has",
					m->src->r->nodes.name);
	for (int64 j = 0; j < m->columns; j++)
	{
		double		mean = x[GNNGP_MOMENTS + j];
		double		deviation = sqrt(x[GNNGP_MOMENTS + m->columns + j] / x[0]);

		if (!isfinite(mean) || !isfinite(deviation))
			gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE, "Features must be finite.",
						"feature " INT64_FORMAT " of table \"%s\" is not finite for some node", j + 1,
						m->src->r->nodes.name);
		m->value[j] = mean;
		m->value[m->columns + j] = gp_feature_deviation(mean, deviation);
		if (m->value[m->columns + j] > 0.0)
		{
			low = fmin(low, deviation);
			high = fmax(high, deviation);
		}
	}
	m->units = high > GNNGP_UNITS_RATIO * low && !gp_have_length(x[3] != 0.0, x[1], x[2]);
}

/* The moments by which features are standardised, or NULL where they are not (choose_scale of
 * reader/read_features.c). */
static double *
find_moments(gnngp_table_fit *d)
{
	const gnngp_sources *s = d->sources;
	bool		by_itself = s->array && strcmp(s->r->def->scale, "auto") == 0;
	feature_moments m = {.src = s,.columns = d->dims};
	gnngp_sink	rows = {.row = read_moments,.state = &m,.n = 1,.types = (Oid[]) {FLOAT8ARRAYOID}};

	if (strcmp(s->r->def->scale, "length") == 0)
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					"Scale them in a view and use gp_alter_graph(..., scale => 'none'), or use strategy => 'nystrom'.",
					"strategy sql does not scale features to scale => '%s'", s->r->def->scale);
	if (strcmp(s->r->def->scale, "none") == 0 || (by_itself && d->dims >= GNNGP_SHORT_ARRAY))
		return NULL;
	m.value = gp_alloc_zero(d->ev.env, 2 * m.columns, sizeof(double));
	gnngp_placement_read(&d->placement,
						 psprintf("SELECT gnngp_internal.gp_moments((%s)::pg_catalog.float8[]) FROM %s AS t",
								  s->features, s->r->nodes.quoted), &rows);
	return by_itself && !d->placement.listed && !m.units ? NULL : m.value;
}

int64
gnngp_count_features(const gnngp_sources *src)
{
	return src->features == NULL ? 0 :
		gnngp_query_number(psprintf("SELECT pg_catalog.cardinality(%s)::bigint FROM %s AS t LIMIT 1",
									src->features, src->r->nodes.quoted));
}

static void
features_context(void *arg)
{
	errcontext("features of table \"%s\"", ((const gnngp_sources *) arg)->r->nodes.name);
}

void
gnngp_chunk_features(gnngp_table_fit *d)
{
	const gnngp_sources *s = d->sources;
	ErrorContextCallback context = {error_context_stack, features_context,
									unconstify(gnngp_sources *, s)};
	const char *row = row_expression(s, d->dims, find_moments(d));
	gnngp_grouping rows = {
		.query =
			psprintf("SELECT pg_catalog.width_bucket(t.%s::bigint, %s) AS chunk, t.%s::bigint AS id, %s AS x FROM %s AS t",
						  s->r->id.quoted, d->bounds, s->r->id.quoted, row, s->r->nodes.quoted),
		.declared = "id bigint, x real[]",
		.columns = "n.id, n.x",
		.values = psprintf("%s.gp_features(n.id, n.x)::gnngp_internal.gp_matrix",
						   gnngp_public_schema())
	};

	d->x = gnngp_chunk_table(d, "features", "", d->dims);
	error_context_stack = &context;
	int64		n = gnngp_placement_group(&d->placement, d->x, &rows);
	error_context_stack = context.previous;
	/* Servers of Citus have no moment that they share. */
	if (n >= 0 && n != d->n && !d->placement.listed)
		gnngp_raise_detail(OBJECT_NOT_IN_PREREQUISITE_STATE, "It changed while it was read.",
						   "Try again, or in a transaction of ISOLATION LEVEL REPEATABLE READ.",
						   "table \"%s\" had " INT64_FORMAT " rows, and then " INT64_FORMAT, s->r->nodes.name, d->n, n);
}

static void
read_number(void *state, const Datum *values, const bool *nulls)
{
	*(double *) state = nulls[0] ? 0.0 : DatumGetFloat8(values[0]);
}

/* The one number of a query, which runs as gnngp_placement_query or gnngp_placement_read. */
static double
query_number(gnngp_placement *p, void (*run) (gnngp_placement *, const char *, const gnngp_sink *),
			 const char *query)
{
	double		number = 0.0;
	gnngp_sink	rows = {.row = read_number,.state = &number,.n = 1,.types = (Oid[]) {FLOAT8OID}};

	run(p, query, &rows);
	return number;
}

/* Where edges lie on several servers: each takes its own, and gives everybody blocks of them. */
static void
take_edges(gnngp_table_fit *d)
{
	const gnngp_sources *s = d->sources;
	gnngp_placement *p = &d->placement;
	StringInfoData keys;

	initStringInfo(&keys);
	for (int k = 0; k < p->keys; k++)
		appendStringInfo(&keys, "%s%d", k > 0 ? "," : "", gnngp_placement_key_of(p, k));
	d->edges_near = gnngp_placement_table(p, "edges");
	gnngp_placement_create(p, d->edges_near, psprintf("chunk integer, g %s.gp_graph, edges float8",
													  gnngp_public_schema()));
	double		edges = query_number(p, gnngp_placement_read, psprintf("SELECT pg_catalog.sum(gnngp_internal.gp_take_edge(%s, t.%s::bigint, t.%s::bigint%s)) FROM %s AS t",
									 d->bounds, s->src, s->dst, s->weight
									 ? psprintf(", t.%s::pg_catalog.float8", s->weight) : "",
									 s->r->edges.quoted));
	if (isnan(edges))
		gnngp_refuse_edges(s);
	gnngp_placement_fill(p, d->edges_near,
						 psprintf("SELECT s.* FROM %s.small AS t, LATERAL gnngp_internal.gp_taken_edges(t.pk, '{%s}') AS s"
								  " WHERE t.name = ''", p->schema, keys.data));
	/* Those of a table here, which no shard of this server's has handed over */
	if (gnngp_edges_are_taken())
		gnngp_placement_execute(p, psprintf("INSERT INTO %s SELECT s.* FROM gnngp_internal.gp_taken_edges(0, '{%s}') AS s",
											d->edges_near, keys.data), 0, NULL, NULL);
	double		packed = query_number(p, gnngp_placement_query,
									  psprintf("SELECT pg_catalog.sum(t.edges) FROM %s AS t",
											   d->edges_near));
	if (packed != edges * p->keys)
		elog(ERROR, "%.0f of %.0f edges were packed", packed / p->keys, edges);
}

void
gnngp_chunk_edges(gnngp_table_fit *d)
{
	const gnngp_sources *s = d->sources;
	const char *bad = s->weight
		? "n.src IS NULL OR n.dst IS NULL OR n.w IS NULL OR NOT (n.w >= 0 AND n.w < 'Infinity')" :
		"n.src IS NULL OR n.dst IS NULL";
	gnngp_grouping rows = {
		.query =
			psprintf("SELECT coalesce(pg_catalog.width_bucket(least(t.%s, t.%s)::bigint, %s), 0) AS chunk,"
						  " t.%s::bigint AS src, t.%s::bigint AS dst%s FROM %s AS t", s->src,
						  s->dst, d->bounds, s->src, s->dst, s->weight
						  ? psprintf(", t.%s::pg_catalog.float8 AS w", s->weight) : "", s->r->edges.quoted),
		.values = psprintf("%s.gp_graph(n.src, n.dst%s) FILTER (WHERE n.src <> n.dst AND NOT (%s)),"
						   " (pg_catalog.count(*) FILTER (WHERE %s))::pg_catalog.float8", gnngp_public_schema(),
						   s->weight ? ", n.w" : "", bad, bad)
	};

	if (d->placement.apart)
	{
		take_edges(d);
		return;
	}
	d->edges_near = gnngp_placement_table(&d->placement, "edges");
	gnngp_placement_create(&d->placement, d->edges_near,
						   psprintf("chunk integer, g %s.gp_graph, bad float8", gnngp_public_schema()));
	gnngp_placement_group(&d->placement, d->edges_near, &rows);
	if (query_number(&d->placement, gnngp_placement_query,
					 psprintf("SELECT pg_catalog.sum(t.bad) FROM %s AS t", d->edges_near)) > 0.0)
		gnngp_refuse_edges(s);
}

/* Degrees on their way into arrays over all nodes. */
typedef struct degree_rows
{
	const gnngp_value_ids *ids;
	int32	   *degree;
	bool	   *field;
	int64		found;
} degree_rows;

static void
take_degrees(void *state, const Datum *values, const bool *nulls)
{
	degree_rows *r = state;

	if (nulls[0])
		return;
	gnngp_table_value m = gnngp_matrix_read(values[0]);
	for (int64 i = 0; i < m.ids.n; i++)
	{
		int64		node = gnngp_value_find(r->ids, gnngp_value_id(&m.ids, i));
		float		row[2];

		if (node < 0 || m.cols != 2 || m.wide)
			gnngp_matrix_refuse("Degrees are not as they were asked for.");
		gnngp_value_row(m.value, i, 2, row);
		r->degree[node] = (int32) row[0];
		r->field[node] |= row[1] > 0.0;
	}
	r->found += m.ids.n;
}

/* A table with a column that is 1 for labelled nodes, all of it where one server counts. */
static const char *
labelled_column(gnngp_table_fit *d, const bool *labelled)
{
	const char *table = gnngp_chunk_table(d, "labels", "", 1);
	float	   *column = gp_alloc_array(d->ev.env, d->height, sizeof(float));

	for (gp_band band = gp_band_first(d->n, d->height); band.count > 0 && !d->placement.listed;
		 gp_band_next(&band))
	{
		gnngp_value_ids ids = gnngp_value_ids_part(&d->ids, band.first, band.count);

		for (int64 i = 0; i < band.count; i++)
			column[i] = labelled[band.first + i];
		gnngp_chunk_insert(d, table, 0, band.first / d->height,
						   gnngp_matrix_write(&ids, gp_matrix_wrap(column, band.count, 1,
																   GP_FLOAT)));
	}
	gp_free(d->ev.env, column);
	return table;
}

int64
gnngp_chunk_degrees(gnngp_table_fit *d, int32 *degree, bool *field)
{
	const gnngp_data *data = d->sources->data;
	gnngp_placement *p = &d->placement;
	const char *key = psprintf("%d", gnngp_placement_key_of(p, 0));
	degree_rows r = {&d->ids, degree, field, 0};
	Oid			matrix = gnngp_type("gp_matrix");
	gnngp_sink	rows = {.row = take_degrees,.state = &r,.n = 1,.types = &matrix};
	int64		ends = 0;

	for (int64 k = 0; k < data->nlabelled && !d->placement.listed; k++)
		field[data->labelled[k]] = true;
	const char *labelled = labelled_column(d, field);
	gnngp_placement_query(p, psprintf("SELECT pg_catalog.unnest(gnngp_internal.gp_degrees(t.m, %s, '%s'::%s.gp_kernel, %s))"
									  " FROM %s AS t WHERE t.pk = %s",
									  gnngp_placement_table_near(p, d->edges_near, key),
									  d->program->norm == GP_NORM_ROW ? "A*X0, norm=row" : "A*X0",
									  gnngp_public_schema(), d->bounds, labelled, key),
						  &rows);
	gnngp_placement_drop(p, labelled);
	if (d->placement.listed)
		return 0;
	if (r.found != d->n)
		gnngp_refuse_edges(d->sources);
	for (int64 i = 0; i < d->n; i++)
		ends += degree[i];
	return ends / 2;
}
