/*
 * chunk_input.c - features and edges of the user's tables as chunks.
 *
 * Nodes are cut into chunks by their ids, which every server can do by itself.  Edges are packed
 * where their smaller end is, so that one that the table has twice is seen to be.
 */
#include "postgres.h"

#include "distributed_internal.h"

/* The expression of a node's features, of type real[]; columns by their moments where there are
 * any. */
static const char *
row_expression(const gnngp_sources *src, int64 columns, const double *moments)
{
	const char *features = src->features;
	StringInfoData text;

	if (src->array)
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

typedef struct column_moments
{
	int64		columns;
	double	   *value;			/* means, then deviations; 0 for constants */
} column_moments;

/* Takes means beside deviations. */
static void
read_moments(void *state, const Datum *values, const bool *nulls)
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
find_moments(gnngp_dfit *d)
{
	column_moments m = {0};
	gnngp_rows	rows = {.row = read_moments,.state = &m,.n = 0,.types = NULL};
	Oid		   *types;
	StringInfoData list;
	bool		standard = strcmp(d->src->scale, "standard") == 0 ||
		(strcmp(d->src->scale, "auto") == 0 && !d->src->array);

	if (strcmp(d->src->scale, "length") == 0 || (standard && d->src->array))
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					"Scale them in a view and use gp_alter_graph(..., scale => 'none'), or use strategy => 'nystrom'.",
					"strategy sql does not scale features to scale => '%s'", d->src->scale);
	if (!standard)
		return NULL;
	m.columns = d->dims;
	m.value = gp_alloc_zero(d->ev.env, 2 * m.columns, sizeof(double));
	initStringInfo(&list);
	types = palloc((2 * m.columns + 1) * sizeof(Oid));
	for (int64 j = 0; j < 2 * m.columns; j++)
		types[j] = FLOAT8OID;
	rows.types = types;
	rows.n = (int) (2 * m.columns);
	for (int64 j = 1; j <= m.columns; j++)
		appendStringInfo(&list,
						 "%spg_catalog.avg(f.v[" INT64_FORMAT "]), pg_catalog.stddev_pop(f.v[" INT64_FORMAT "])", j > 1 ? ", " : "", j, j);
	/* A view computes each feature once, but on other servers, which take no such query. */
	gnngp_placement_read(&d->placement,
						 psprintf("SELECT %s FROM (SELECT ARRAY[%s] AS v FROM %s AS t%s) AS f",
								  list.data,
												 d->src->features, d->src->nodes, d->placement.apart
												 ? "" : " OFFSET 0"), &rows);
	return m.value;
}

int64
gnngp_count_features(const gnngp_sources *src)
{
	return src->features == NULL ? 0 :
		gnngp_query_number(psprintf("SELECT pg_catalog.cardinality(%s)::bigint FROM %s AS t LIMIT 1",
									row_expression(src, 0, NULL), src->nodes));
}

static void
features_context(void *arg)
{
	errcontext("features of table \"%s\"", ((const gnngp_sources *) arg)->nodes_name);
}

void
gnngp_chunk_features(gnngp_dfit *d)
{
	const gnngp_sources *s = d->src;
	ErrorContextCallback context = {error_context_stack, features_context,
									unconstify(gnngp_sources *, s)};
	const char *row = row_expression(s, d->dims, find_moments(d));
	gnngp_grouping rows = {
		.query =
			psprintf("SELECT pg_catalog.width_bucket(t.%s::bigint, %s) AS chunk, t.%s::bigint AS id, %s AS x FROM %s AS t",
						  s->id, d->bounds, s->id, row, s->nodes),
		.declared = "id bigint, x real[]",
		.columns = "n.id, n.x",
		.values = psprintf("%s.gp_features(n.id, n.x)::gnngp_internal.gp_matrix",
						   gnngp_public_schema())
	};
	int64		n;

	d->x = gnngp_chunk_table(d, "features", "", d->dims);
	error_context_stack = &context;
	n = gnngp_placement_group(&d->placement, d->x, &rows);
	error_context_stack = context.previous;
	/* Servers of Citus have no moment that they share. */
	if (n >= 0 && n != d->n && !d->listed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" had " INT64_FORMAT " rows, and then " INT64_FORMAT,
						s->nodes_name, d->n, n),
				 errdetail("It changed while it was read."),
				 errhint("Try again, or in a transaction of ISOLATION LEVEL REPEATABLE READ.")));
}

static void
take_sum(void *state, const Datum *values, const bool *nulls)
{
	*(int64 *) state = nulls[0] ? 0 : DatumGetInt64(values[0]);
}

void
gnngp_chunk_edges(gnngp_dfit *d)
{
	const gnngp_sources *s = d->src;
	const char *bad = s->weight
		? "n.src IS NULL OR n.dst IS NULL OR n.w IS NULL OR NOT (n.w >= 0 AND n.w < 'Infinity')" :
		"n.src IS NULL OR n.dst IS NULL";
	const char *declared = psprintf("chunk integer, g %s.gp_graph", gnngp_public_schema());
	const char *table = gnngp_placement_table(&d->placement, "edges");
	int64		refused = 0;
	Oid			type = INT8OID;
	gnngp_rows	sum = {.row = take_sum,.state = &refused,.n = 1,.types = &type};
	gnngp_grouping rows = {
		.query =
			psprintf("SELECT coalesce(pg_catalog.width_bucket(least(t.%s, t.%s)::bigint, %s), 0) AS chunk,"
						  " t.%s::bigint AS src, t.%s::bigint AS dst%s FROM %s AS t", s->src,
						  s->dst, d->bounds, s->src, s->dst, s->weight
						  ? psprintf(", t.%s::pg_catalog.float8 AS w", s->weight) : "", s->edges),
		.declared = s->weight ? "src bigint, dst bigint, w float8" : "src bigint, dst bigint",
		.columns = s->weight ? "n.src, n.dst, n.w" : "n.src, n.dst",
		.values = psprintf("%s.gp_graph(n.src, n.dst%s) FILTER (WHERE n.src <> n.dst AND NOT (%s)),"
						   " pg_catalog.count(*) FILTER (WHERE %s)", gnngp_public_schema(),
						   s->weight ? ", n.w" : "", bad, bad)
	};

	gnngp_placement_create(&d->placement, table, psprintf("%s, bad bigint", declared));
	gnngp_placement_group(&d->placement, table, &rows);
	gnngp_placement_query(&d->placement, psprintf("SELECT pg_catalog.sum(t.bad)::bigint FROM %s AS t",
												  table), 0, NULL, NULL, &sum);
	if (refused > 0)
		gnngp_refuse_edges(s);
	d->edges_near = gnngp_placement_everywhere(&d->placement, table, declared, "t.chunk, t.g");
}

/* Degrees on their way into arrays over all nodes. */
typedef struct degree_rows
{
	const gnngp_sources *src;
	int64	   *degree;
	bool	   *field;
	int64		found;
} degree_rows;

static void
take_degrees(void *state, const Datum *values, const bool *nulls)
{
	degree_rows *r = state;
	gnngp_table_value m = gnngp_matrix_read(values[0]);

	for (int64 i = 0; i < m.ids.n; i++)
	{
		int32		node = gnngp_source_node(r->src, gnngp_value_id(&m.ids, i));
		float		row[2];

		if (node < 0 || m.cols != 2 || m.wide)
			gnngp_matrix_refuse("Degrees are not as they were asked for.");
		gnngp_value_row(m.value, i, 2, row);
		r->degree[node] = (int64) row[0];
		r->field[node] |= row[1] > 0.0;
	}
	r->found += m.ids.n;
}

int64
gnngp_chunk_degrees(gnngp_dfit *d, int64 *degree, bool *field)
{
	const gnngp_data *data = d->src->data;
	gnngp_placement *p = &d->placement;
	const char *key = psprintf("%d", gnngp_placement_key_of(p, 0));
	degree_rows r = {d->src, degree, field, 0};
	Oid			matrix = gnngp_type("gp_matrix");
	gnngp_rows	rows = {.row = take_degrees,.state = &r,.n = 1,.types = &matrix};
	Datum		column = 0;		/* 1 for labelled nodes, of which one server is told */
	int64		ends = 0;

	if (!d->listed)
	{
		gnngp_value_ids ids = {.n = d->n,.first = data->ids.key[0],.id = data->ids.key};
		float	   *labelled = gp_alloc_zero(d->ev.env, d->n, sizeof(float));

		for (int64 k = 0; k < data->nlabelled; k++)
		{
			labelled[data->labelled[k]] = 1.0;
			field[data->labelled[k]] = true;
		}
		ids = gnngp_value_ids_part(&ids, 0, ids.n);
		column = gnngp_matrix_write(&ids, gp_matrix_wrap(labelled, d->n, 1, GP_FLOAT));
		gp_free(d->ev.env, labelled);
	}
	gnngp_placement_query(p, psprintf("SELECT s.rows FROM gnngp_internal.gp_degrees($1, %s, %s) AS s",
									  gnngp_placement_table_near(p, d->edges_near, key),
									  d->bounds), 1, &matrix, &column, &rows);
	if (d->listed)
		return 0;
	if (r.found != d->n)
		gnngp_refuse_edges(d->src);
	for (int64 i = 0; i < d->n; i++)
		ends += degree[i];
	return ends / 2;
}
