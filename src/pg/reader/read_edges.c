/*
 * read_edges.c - the edge table as a graph of the core.
 */
#include "postgres.h"

#include "core/encoding/edge_columns.h"
#include "read_ids.h"

struct gnngp_edge_reading
{
	gnngp_reader *r;
	gnngp_query query;
	gnngp_finder src;
	gnngp_finder dst;
	gnngp_column weight;
	bool		weighted;
	gnngp_fault fault[GNNGP_EDGE_FAULTS];	/* second: dst */
	gnngp_column time;
	bool		dated;
	int			nfeatures;		/* columns that describe both ends, */
	int			first_feature;	/* the query's first of them, */
	Oid		   *feature_base;	/* what each is read as, */
	bool	   *feature_time;	/* and whether that is a time */
	double	   *feature;		/* of one row */
	gp_edge_columns *columns;
	int64		ntimes;			/* edges with their times, where the graph has some */
	int64		room;
	int32	   *from;
	int32	   *to;
	double	   *at;
	gp_edges   *edges;
};

static void
edge_row(void *state, const Datum *values, const bool *nulls)
{
	gnngp_edge_reading *s = state;
	int32		src = gnngp_finder_find(&s->src, values[0], nulls[0]);
	int32		dst = gnngp_finder_find(&s->dst, values[1], nulls[1]);
	double		w = 0.0;

	if (src < 0 || dst < 0)
		return;
	for (int i = 0; i < s->nfeatures; i++)
		s->feature[i] = nulls[s->first_feature + i] ? NAN :
			gnngp_number_datum(values[s->first_feature + i], s->feature_base[i]);
	if (s->columns)
		gp_edge_columns_add(s->columns, src, dst, s->feature);
	if (s->dated)
	{
		int			at = s->weighted ? 3 : 2;
		double		time = nulls[at] ? NAN : gnngp_number_datum(values[at], s->time.base);

		if (s->ntimes == s->room)
		{
			s->room = Max(2 * s->room, 4096);
			s->from = gp_resize_array(s->r->env, s->from, s->room, sizeof(int32));
			s->to = gp_resize_array(s->r->env, s->to, s->room, sizeof(int32));
			s->at = gp_resize_array(s->r->env, s->at, s->room, sizeof(double));
		}
		s->from[s->ntimes] = src;
		s->to[s->ntimes] = dst;
		s->at[s->ntimes++] = time;
		if (unlikely(!isfinite(time)))
			gnngp_note_fault(&s->fault[nulls[at] ? GNNGP_TIME_NULL : GNNGP_TIME_NOT_FINITE],
							 src, dst, time);
	}
	if (s->weighted)
	{
		w = nulls[2] ? 0.0 : gnngp_number_datum(values[2], s->weight.base);
		if (unlikely(nulls[2] || !isfinite(w) || w < 0))
		{
			gnngp_note_fault(&s->fault[gnngp_weight_fault(nulls[2], w)], src, dst, w);
			return;
		}
	}
	gp_edges_add(s->edges, 1, &src, &dst, &w);
}

void
gnngp_raise_edge(const gnngp_reader *r, const gnngp_column *column, gnngp_edge_fault fault,
				 double value, const char *src, const char *dst)
{
	static const struct
	{
		int			sqlstate;
		const char *what;
		const char *hint;
	}			said[GNNGP_EDGE_FAULTS] = {
		[GNNGP_WEIGHT_NULL] = {ERRCODE_NULL_VALUE_NOT_ALLOWED, "NULL",
			"Give each edge a weight, or create the graph without a weight column."},
		[GNNGP_WEIGHT_NOT_FINITE] = {ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, NULL,
			"Weights must be finite and not negative."},
		[GNNGP_WEIGHT_NEGATIVE] = {ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, NULL,
			"Weights must be finite and not negative."},
		[GNNGP_TIME_NULL] = {ERRCODE_NULL_VALUE_NOT_ALLOWED, "NULL",
			"Give each edge the time that it was made at, or take the column away with time_column => ''."},
		[GNNGP_TIME_NOT_FINITE] = {ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "infinite",
			"Give each edge the time that it was made at, or take the column away with time_column => ''."}
	};

	ereport(ERROR,
			(errcode(said[fault].sqlstate),
			 errmsg("column \"%s\" of table \"%s\" is %s for the edge from %s to %s",
					column->name, r->edges.name,
					said[fault].what ? said[fault].what : psprintf("%g", value), src, dst),
			 errhint("%s", said[fault].hint)));
}

/* Raises what the weights and the times did wrong. */
static void
check_faults(const gnngp_edge_reading *s)
{
	const gnngp_ids *ids = &s->r->data->ids;

	for (int k = 0; k < GNNGP_EDGE_FAULTS; k++)
		if (s->fault[k].found)
			gnngp_raise_edge(s->r, k < GNNGP_TIME_NULL ? &s->weight : &s->time, k,
							 s->fault[k].value, gnngp_id_text(ids, s->fault[k].node),
							 gnngp_id_text(ids, (int32) s->fault[k].second));
}

gnngp_edge_reading *
gnngp_plan_edges(gnngp_reader *r)
{
	gnngp_edge_reading *s = palloc0(sizeof(gnngp_edge_reading));
	const gnngp_graph_def *def = r->def;

	s->r = r;
	s->weighted = def->weight != NULL;
	gnngp_query_init(&s->query, &r->edges);
	gnngp_finder_init(&s->src, r, &s->query, def->src);
	gnngp_finder_init(&s->dst, r, &s->query, def->dst);
	if (s->weighted)
	{
		s->weight = gnngp_table_number(&r->edges, def->weight);
		gnngp_query_add_number(&s->query, &s->weight);
	}
	s->dated = def->time != NULL;
	if (s->dated)
	{
		s->time = gnngp_table_time(&r->edges, def->time);
		gnngp_query_add_time(&s->query, &s->time);
	}
	/* The columns that describe both ends, as numbers */
	s->nfeatures = def->edge_features.n;
	s->first_feature = list_length(s->query.types);
	s->feature_base = palloc0(sizeof(Oid) * Max(s->nfeatures, 1));
	s->feature_time = palloc0(sizeof(bool) * Max(s->nfeatures, 1));
	s->feature = palloc0(sizeof(double) * Max(s->nfeatures, 1));
	for (int i = 0; i < s->nfeatures; i++)
	{
		gnngp_column column = gnngp_table_column(&r->edges, def->edge_features.text[i]);

		s->feature_time[i] = gnngp_is_time_type(column.base);
		if (column.base == BOOLOID)
			gnngp_query_add(&s->query, FLOAT8OID, "t.%s::pg_catalog.int4::pg_catalog.float8",
							column.quoted);
		else
		{
			column = gnngp_table_time(&r->edges, def->edge_features.text[i]);
			gnngp_query_add_time(&s->query, &column);
		}
		s->feature_base[i] = llast_oid(s->query.types);
	}
	gnngp_query_plan(&s->query);
	r->edges_apart = gnngp_query_is_apart(&s->query);
	return s;
}

void
gnngp_read_edges(gnngp_edge_reading *s)
{
	gnngp_reader *r = s->r;

	s->edges = gp_edges_create(r->env, r->data->ids.n, r->def->directed, s->weighted);
	if (s->nfeatures > 0)
		s->columns = gp_edge_columns_create(r->env, r->data->ids.n, r->def->directed, s->nfeatures,
											s->feature_time);
	gnngp_reader_run(r, &s->query, edge_row, s, GP_PHASE_EDGES);
	gnngp_check_nulls(&r->edges, &s->src.column, s->src.nulls,
					  "Remove the edge, or give it both ends.");
	gnngp_check_nulls(&r->edges, &s->dst.column, s->dst.nulls,
					  "Remove the edge, or give it both ends.");
	gnngp_finder_check_unknown(&s->src);
	gnngp_finder_check_unknown(&s->dst);
	check_faults(s);
	if (s->columns)
	{
		r->data->edge_numbers = gp_alloc_array(r->env, s->nfeatures + 1, sizeof(int32));
		r->data->features = gp_edge_columns_join(s->columns, r->data->features,
												 r->data->features ? r->data->features->type :
												 GP_FLOAT, r->data->edge_numbers);
	}
	r->data->graph = gp_graph_build(s->edges);
	if (s->dated)
		gp_graph_date(r->env, r->data->graph, s->ntimes, s->from, s->to, s->at);
	gp_free_all(r->env, s->from, s->to, s->at);
	pfree(s);
}
