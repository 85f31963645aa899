/*
 * read_edges.c - the edge table as a graph of the core.
 */
#include "postgres.h"

#include <math.h>

#include "pg/server/server.h"
#include "read_ids.h"
#include "utils/array.h"

/* Edges handed to the core at once. */
#define EDGE_BATCH 4096

/* Rows of which a value is made in their place, and the memory that takes for each. */
#define MOST_PACKED INT64CONST(16000000)
#define PACKED_ROW_BYTES 100.0

/* Weights that are no weights, in the order in which they are reported. */
typedef enum weight_fault
{
	WEIGHT_NULL,
	WEIGHT_NOT_FINITE,
	WEIGHT_NEGATIVE,
	WEIGHT_FAULTS
} weight_fault;

/* The smallest edge with a fault. */
typedef struct weight_report
{
	bool		found;
	int32		src;
	int32		dst;
	double		value;
} weight_report;

struct gnngp_edge_part
{
	gnngp_reader *r;
	gnngp_query query;
	gnngp_query count;			/* how many rows there are; without a plan where they are not packed */
	gnngp_query packed;			/* all edges in one value, or one array for each column */
	int64		rows;
	bool		taken;			/* from that value */
	gnngp_finder src;
	gnngp_finder dst;
	gnngp_column weight;
	bool		weighted;
	weight_report fault[WEIGHT_FAULTS];
	gp_edges   *edges;
	int			n;
	int32		src_node[EDGE_BATCH];
	int32		dst_node[EDGE_BATCH];
	double		value[EDGE_BATCH];
};

typedef gnngp_edge_part edge_state;

/* Hands the batch to the core. */
static void
flush_edges(edge_state *s)
{
	if (s->n > 0)
		gp_edges_add(s->edges, s->n, s->src_node, s->dst_node, s->weighted ? s->value : NULL);
	s->n = 0;
}

/* Adds an edge. */
static inline void
put_edge(edge_state *s, int32 src, int32 dst)
{
	s->src_node[s->n] = src;
	s->dst_node[s->n] = dst;
	if (++s->n == EDGE_BATCH)
		flush_edges(s);
}

/* Remembers a weight that is none, for the smallest edge. */
static void
note_fault(edge_state *s, weight_fault kind, int32 src, int32 dst, double value)
{
	weight_report *w = &s->fault[kind];

	if (w->found && (w->src < src || (w->src == src && w->dst <= dst)))
		return;
	w->found = true;
	w->src = src;
	w->dst = dst;
	w->value = value;
}

/* Takes one row of the edge table. */
static void
edge_row(void *state, const Datum *values, const bool *nulls)
{
	edge_state *s = state;
	int32		src = gnngp_finder_find(&s->src, values[0], nulls[0]);
	int32		dst = gnngp_finder_find(&s->dst, values[1], nulls[1]);

	if (src < 0 || dst < 0)
		return;
	if (s->weighted)
	{
		double		w = nulls[2] ? 0.0 : gnngp_number_datum(values[2], s->weight.base);

		if (unlikely(nulls[2] || !isfinite(w) || w < 0))
		{
			note_fault(s, nulls[2] ? WEIGHT_NULL : !isfinite(w) ? WEIGHT_NOT_FINITE : WEIGHT_NEGATIVE,
					   src, dst, w);
			return;
		}
		s->value[s->n] = w;
	}
	put_edge(s, src, dst);
}

/* Takes the number of rows. */
static void
count_row(void *state, const Datum *values, const bool *nulls)
{
	((edge_state *) state)->rows = DatumGetInt64(values[0]);
}

/* True when all ids are those of nodes. */
static bool
all_known(const edge_state *s, const int64 *id, int n)
{
	for (int i = 0; i < n; i++)
	{
		gnngp_poll(i);
		if (gnngp_idmap_find(&s->r->map, id[i]) < 0)
			return false;
	}
	return true;
}

/* Takes all edges, unless there is something to be said of a row. */
static void
packed_row(void *state, const Datum *values, const bool *nulls)
{
	edge_state *s = state;
	ArrayType  *ends = nulls[0] ? NULL : DatumGetArrayTypeP(values[0]);
	const int64 *id = ends ? gnngp_array_data(ends) : NULL;
	int			n = ends && ARR_NDIM(ends) == 1 ? ARR_DIMS(ends)[0] : 0;

	s->taken = DatumGetInt64(values[1]) == 0 && n > 0 && n % 2 == 0 && all_known(s, id, n);
	for (int i = 0; i < n && s->taken; i += 2)
	{
		gnngp_poll(i);
		put_edge(s, gnngp_idmap_find(&s->r->map, id[i]), gnngp_idmap_find(&s->r->map, id[i + 1]));
	}
}

/* The numbers of an array, which has so many; NULL where it has not. */
static const void *
take_array(Datum value, bool null, int64 n)
{
	ArrayType  *array = null ? NULL : DatumGetArrayTypeP(value);

	return array && ARR_NDIM(array) == 1 && ARR_DIMS(array)[0] == n && !ARR_HASNULL(array) ? gnngp_array_data(array) : NULL;
}

/* True when all weights are some. */
static bool
all_weights(const double *w, int64 n)
{
	for (int64 i = 0; i < n; i++)
	{
		gnngp_poll(i);
		if (!isfinite(w[i]) || w[i] < 0)
			return false;
	}
	return true;
}

/* Takes all edges of which each column is an array, unless there is something to be said of a row. */
static void
listed_row(void *state, const Datum *values, const bool *nulls)
{
	edge_state *s = state;
	int64		n = DatumGetInt64(values[0]);
	const int64 *src = n == s->rows ? take_array(values[1], nulls[1], n) : NULL;
	const int64 *dst = src ? take_array(values[2], nulls[2], n) : NULL;
	const double *w = dst && s->weighted ? take_array(values[3], nulls[3], n) : NULL;

	s->taken = dst && n <= INT_MAX && all_known(s, src, (int) n) && all_known(s, dst, (int) n) &&
		(!s->weighted || (w && all_weights(w, n)));
	for (int64 i = 0; i < n && s->taken; i++)
	{
		gnngp_poll(i);
		if (s->weighted)
			s->value[s->n] = w[i];
		put_edge(s, gnngp_idmap_find(&s->r->map, src[i]), gnngp_idmap_find(&s->r->map, dst[i]));
	}
}

/* True where a value of a graph tells all that the rows do: it has no directions, and adds up weights in an order of its own. */
static bool
packs_values(const edge_state *s)
{
	return !s->weighted && !s->r->def->directed;
}

/*
 * Has Citus pack the edges of a table where their rows are, if that comes to the same: a
 * row that comes alone costs this node and the network several times as much.
 */
static bool
read_packed(edge_state *s)
{
	gnngp_reader *r = s->r;

	if (s->packed.plan == NULL)
		return false;
	gnngp_query_run(&s->count, r->env, count_row, s, GP_PHASE_EDGES, 0);
	if (s->rows > MOST_PACKED || s->rows * PACKED_ROW_BYTES > (double) gnngp_account_left())
		return false;
	gnngp_query_run(&s->packed, r->env, packs_values(s) ? packed_row : listed_row, s, GP_PHASE_EDGES, s->rows);
	r->env->progress(r->env, GP_PHASE_EDGES, s->taken ? s->rows : 0, s->rows);
	return s->taken;
}

/* Raises what the weights did wrong. */
static void
check_weights(const edge_state *s)
{
	const gnngp_ids *ids = &s->r->data->ids;
	const weight_report *w = s->fault;

	if (w[WEIGHT_NULL].found)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("column \"%s\" of table \"%s\" is NULL for the edge from %s to %s",
						s->weight.name, s->r->edges.name,
						gnngp_id_text(ids, w[WEIGHT_NULL].src),
						gnngp_id_text(ids, w[WEIGHT_NULL].dst)),
				 errhint("Give each edge a weight, or create the graph without a weight column.")));
	for (int k = WEIGHT_NOT_FINITE; k <= WEIGHT_NEGATIVE; k++)
		if (w[k].found)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("column \"%s\" of table \"%s\" is %g for the edge from %s to %s",
							s->weight.name, s->r->edges.name, w[k].value,
							gnngp_id_text(ids, w[k].src), gnngp_id_text(ids, w[k].dst)),
					 errhint("Weights must be finite and not negative.")));
}

/* The edges as one value. */
static void
add_value(edge_state *s)
{
	const char *src = s->src.column.quoted;
	const char *dst = s->dst.column.quoted;

	gnngp_query_add(&s->packed, INT8ARRAYOID,
					"%s.gp_ends(%s.gp_graph(t.%s, t.%s) FILTER (WHERE t.%s IS NOT NULL AND t.%s IS NOT NULL))",
					gnngp_schema(), gnngp_public_schema(), src, dst, src, dst);
	gnngp_query_add(&s->packed, INT8OID, "pg_catalog.count(*) FILTER (WHERE t.%s IS NULL OR t.%s IS NULL)", src, dst);
}

/* The edges as an array for each column, behind their number. */
static void
add_lists(edge_state *s)
{
	gnngp_query_add(&s->packed, INT8OID, "pg_catalog.count(*)");
	gnngp_query_add(&s->packed, INT8ARRAYOID, "pg_catalog.array_agg(t.%s::bigint)", s->src.column.quoted);
	gnngp_query_add(&s->packed, INT8ARRAYOID, "pg_catalog.array_agg(t.%s::bigint)", s->dst.column.quoted);
	if (s->weighted)
		gnngp_query_add(&s->packed, FLOAT8ARRAYOID, "pg_catalog.array_agg(t.%s::pg_catalog.float8)", s->weight.quoted);
}

/* Plans what packs the edges; a numeric may be no double, and is told of by its row. */
static void
plan_packed(edge_state *s)
{
	if (!s->r->integer_ids || !gnngp_citus_has_table(s->r->edges.oid) ||
		(packs_values(s) ? !gnngp_citus_makes_graphs() : s->weighted && s->weight.base == NUMERICOID))
		return;
	gnngp_query_init(&s->count, &s->r->edges);
	gnngp_query_add(&s->count, INT8OID, "pg_catalog.count(*)");
	gnngp_query_plan(&s->count);
	gnngp_query_init(&s->packed, &s->r->edges);
	if (packs_values(s))
		add_value(s);
	else
		add_lists(s);
	gnngp_query_plan(&s->packed);
}

gnngp_edge_part *
gnngp_plan_edges(gnngp_reader *r)
{
	edge_state *s = palloc0(sizeof(edge_state));
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
	gnngp_query_plan(&s->query);
	r->edges_spread = gnngp_query_is_spread(&s->query);
	plan_packed(s);
	return s;
}

/* Reads the edges and builds the graph. */
void
gnngp_read_edges(gnngp_edge_part *s)
{
	gnngp_reader *r = s->r;

	s->edges = gp_edges_create(r->env, r->data->ids.n, r->def->directed, s->weighted);
	if (!read_packed(s))
		gnngp_reader_run(r, &s->query, edge_row, s, GP_PHASE_EDGES);
	flush_edges(s);
	gnngp_check_nulls(s->src.table, &s->src.column, s->src.nulls, "Remove the edge, or give it both ends.");
	gnngp_check_nulls(s->dst.table, &s->dst.column, s->dst.nulls, "Remove the edge, or give it both ends.");
	gnngp_finder_check_unknown(&s->src);
	gnngp_finder_check_unknown(&s->dst);
	check_weights(s);
	r->data->graph = gp_graph_build(s->edges);
	pfree(s);
}
