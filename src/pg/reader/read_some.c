/*
 * read_some.c - the neighbourhood of a few nodes, hop by hop, or all that the caller sees.
 *
 * A round asks for the rows of the nodes that the round before has found, and for their
 * edges, by arrays of ids.  The last round's edges count for degrees alone, if at all: they
 * are counted as they come, and their other ends are not met.  Nodes that the caller does not see
 * are neighbours of which nothing is known.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "pg/server/server.h"
#include "neighbourhood.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

typedef struct some_state
{
	gnngp_reader *r;
	gp_env	   *env;
	gnngp_met	met;
	MemoryContext context;
	int64		first;			/* of the nodes of this round */
	int64		last;			/* behind them */
	gnngp_query nodes;
	gnngp_feature_part *features;
	gnngp_query ends[2];		/* edges by src, and by dst */
	gnngp_column end[2];
	Oid			end_base[2];
	gnngp_column weight;
	bool		weighted;
	bool		by_dst;			/* the round's second query */
	bool		all;			/* one round that reads everything */
	gnngp_row_fn end_row;		/* takes a row for the end that by_dst tells */
	struct						/* the last integer id of each end */
	{
		bool		any;
		int64		key;
		int32		number;
	}			last_end[2];	/* of this round */
	gp_tally   *tally;			/* of the round's edges, without weights */
	bool		counted;		/* some nodes have a degree */
} some_state;

static int32
find_datum(some_state *s, Datum value, Oid base)
{
	int32		number = gnngp_met_find(&s->met, value, base);

	return number >= s->first && number < s->last ? number : -1;
}

/* The same of an end of an edge, which may be that of the row before. */
static int32
find_end(some_state *s, int end, Datum value)
{
	Oid			base = s->end_base[end];
	int64		key = s->r->integer_ids ? gnngp_integer_datum(value, base) : 0;

	if (!s->r->integer_ids || !s->last_end[end].any || s->last_end[end].key != key)
	{
		s->last_end[end].any = true;
		s->last_end[end].key = key;
		s->last_end[end].number = find_datum(s, value, base);
	}
	return s->last_end[end].number;
}

static void
node_row(void *state, const Datum *values, const bool *nulls)
{
	some_state *s = state;
	int32		number;
	gnngp_met_node *node;

	if (nulls[0])
		return;
	number = s->all ? gnngp_meet_datum(&s->met, values[0], s->r->id.base)
		: find_datum(s, values[0], s->r->id.base);
	/* What is equal by the type's rules and has another text was not asked for. */
	if (number < 0)
		return;
	node = &s->met.node[number];
	if (node->row >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("column \"%s\" of table \"%s\" repeats the node %s", s->r->id.name,
						s->r->nodes.name,
						node->text ? node->text : psprintf(INT64_FORMAT, node->key)),
				 errhint("Ids must be unique.")));
	node->row = (int32) s->met.nrows++;
	if (s->features)
		gnngp_features_add_row(s->features, node->row, (gnngp_row_id) {node->key, node->text},
							values + 1, nulls + 1);
}

/* The weight of an edge; 22003 or 22004 for what is none. */
static double
edge_weight(const some_state *s, Datum value, bool null)
{
	double		w = null ? NAN : gnngp_number_datum(value, s->weight.base);

	if (!isfinite(w) || w < 0.0)
		ereport(ERROR,
				(errcode(null ? ERRCODE_NULL_VALUE_NOT_ALLOWED
						 : ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 null ? errmsg("column \"%s\" of table \"%s\" is NULL for an edge", s->weight.name,
							   s->r->edges.name) :
				 errmsg("column \"%s\" of table \"%s\" is %g for an edge", s->weight.name,
						s->r->edges.name, w),
				 errhint("Weights must be finite and not negative.")));
	return w;
}

static bool
has_row(const some_state *s, int32 number)
{
	return number >= 0 && s->met.node[number].row >= 0;
}

/* Takes a row of the edge table, unless another query has had it. */
static void
edge_row(void *state, const Datum *values, const bool *nulls)
{
	some_state *s = state;
	int32		src,
				dst;

	if (nulls[0] || nulls[1] || (!s->all && !has_row(s, find_end(s, s->by_dst, values[s->by_dst]))))
		return;
	src = gnngp_meet_datum(&s->met, values[0], s->end_base[0]);
	dst = gnngp_meet_datum(&s->met, values[1], s->end_base[1]);
	/* By src: not where dst was in an earlier round.  By dst: nor where src is in this one. */
	if (s->by_dst && src < s->last && s->met.node[src].row >= 0)
		return;
	if (!s->by_dst && dst < s->first && s->met.node[dst].row >= 0)
		return;
	gnngp_met_add_edge(&s->met, src, dst, s->weighted ? edge_weight(s, values[2], nulls[2]) : 1.0);
}

/* Counts a row for the degree of one end; repeated edges count once without weights. */
static void
degree_row(void *state, const Datum *values, const bool *nulls)
{
	some_state *s = state;
	int			far = s->by_dst ? 0 : 1;
	int32		near;
	uint64		key;

	if (nulls[0] || nulls[1])
		return;
	near = find_end(s, 1 - far, values[1 - far]);
	if (!has_row(s, near))
		return;
	key = gnngp_met_other_end(&s->met, near, values[far], s->end_base[far]);
	if (key == 0)
		return;
	if (s->weighted)
		s->met.node[near].degree += edge_weight(s, values[2], nulls[2]);
	else
		gp_tally_add(s->tally, near - (int32) s->first, key);
}

static void
both_ends_row(void *state, const Datum *values, const bool *nulls)
{
	some_state *s = state;

	for (int k = 0; k < 2; k++)
	{
		s->by_dst = k == 1;
		s->end_row(s, values, nulls);
	}
}

static void
plan_queries(some_state *s)
{
	gnngp_reader *r = s->r;
	const gnngp_graph_def *def = r->def;

	gnngp_query_init(&s->nodes, &r->nodes);
	gnngp_query_add(&s->nodes, r->id.base, "t.%s", r->id.quoted);
	s->features = gnngp_add_features(r, &s->nodes);
	if (!s->all)
		gnngp_query_some(r, &s->nodes, &r->id);
	gnngp_query_plan(&s->nodes);
	s->weighted = def->weight != NULL;
	if (s->weighted)
		s->weight = gnngp_table_number(&r->edges, def->weight);
	s->end[0] = gnngp_table_column(&r->edges, def->src);
	s->end[1] = gnngp_table_column(&r->edges, def->dst);
	for (int k = 0; k < (s->all ? 1 : 2); k++)
	{
		gnngp_query_init(&s->ends[k], &r->edges);
		for (int e = 0; e < 2; e++)
			s->end_base[e] = gnngp_query_add_id(r, &s->ends[k], &s->end[e]);
		if (s->weighted)
			gnngp_query_add_number(&s->ends[k], &s->weight);
		if (!s->all)
			gnngp_query_some(r, &s->ends[k], &s->end[k]);
		gnngp_query_plan(&s->ends[k]);
	}
}

/* True when an index begins with a column, or that can't be told of what is no table. */
static bool
has_index(const gnngp_table *table, const gnngp_column *column)
{
	Relation	rel = table_open(table->oid, NoLock);
	List	   *indexes = rel->rd_rel->relkind == RELKIND_RELATION ? RelationGetIndexList(rel)
		: NIL;
	bool		found = rel->rd_rel->relkind != RELKIND_RELATION;
	AttrNumber	number = get_attnum(table->oid, column->name);
	ListCell   *cell;

	foreach(cell, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!HeapTupleIsValid(tuple))
			continue;
		found = found || ((Form_pg_index) GETSTRUCT(tuple))->indkey.values[0] == number;
		ReleaseSysCache(tuple);
	}
	table_close(rel, NoLock);
	return found;
}

/*
 * Tells once in a session where an index would help; with the column beside it, degrees are counted
 * in the index alone.
 */
static void
advise_index(const gnngp_table *table, const gnngp_column *column, const gnngp_column *beside)
{
	static HTAB *told = NULL;
	int64		key;
	bool		found;

	if (has_index(table, column))
		return;
	if (told == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(int64),.entrysize = sizeof(int64),
							   .hcxt = TopMemoryContext};

		told = hash_create("gnngp advice", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	key = ((int64) table->oid << 16) | (uint16) get_attnum(table->oid, column->name);
	(void) hash_search(told, &key, HASH_ENTER, &found);
	if (!found)
		ereport(NOTICE,
				(errmsg("column \"%s\" of table \"%s\" has no index, so all of the table is read",
						column->name, table->name),
				 errhint("CREATE INDEX ON %s (%s%s%s);", table->quoted, column->quoted,
						 beside ? ", " : "",
						 beside ? beside->quoted : "")));
}

/* Reads the edges of the nodes of a round, by each end; at once for both where all are read. */
static void
read_edges(some_state *s, gnngp_row_fn row, int first)
{
	Datum		ids = gnngp_met_ids(&s->met, s->first, s->last, true);
	bool		both;

	s->end_row = row;
	memset(s->last_end, 0, sizeof(s->last_end));
	s->ends[0].array = s->ends[1].array = ids;
	both = first == 0 && gnngp_query_scans(&s->ends[0]) && gnngp_query_scans(&s->ends[1]);
	for (int k = first; k < (both ? 1 : 2); k++)
	{
		s->by_dst = k == 1;
		gnngp_query_run(&s->ends[k], s->env, both ? both_ends_row : row, s, GP_PHASE_EDGES, 0);
	}
}

/* Reads hop by hop, and tells where an index would help. */
static void
read_rounds(some_state *s, int hops, gnngp_rim rim)
{
	for (int hop = 0; hop <= hops && s->last < s->met.nnodes; hop++)
	{
		s->first = s->last;
		s->last = s->met.nnodes;
		/* Reads one round: the nodes that were met last, and their edges */
		gnngp_rim edges = hop < hops ? GNNGP_RIM_EDGES : rim;
		MemoryContext old = MemoryContextSwitchTo(s->context);

		s->nodes.array = gnngp_met_ids(&s->met, s->first, s->last, false);
		gnngp_query_run(&s->nodes, s->env, node_row, s, GP_PHASE_NODES, 0);
		if (edges == GNNGP_RIM_EDGES)
			read_edges(s, edge_row, 0);
		else if (edges == GNNGP_RIM_DEGREES)
		{
			/* Counts the edges of the nodes of a round: of directed ones those that lead there */
			s->counted = true;
			for (int64 i = s->first; i < s->last; i++)
				if (s->met.node[i].row >= 0)
					s->met.node[i].degree = 0.0;
			s->tally = s->weighted ? NULL : gp_tally_open(s->env);
			read_edges(s, degree_row, s->r->def->directed ? 1 : 0);
			if (s->tally)
			{
				/* Puts how many neighbours each node of a round has */
				double	   *count = gp_alloc_array(s->env, s->last - s->first, sizeof(double));

				gp_tally_close(s->tally, s->last - s->first, count);
				for (int64 i = s->first; i < s->last; i++)
					if (s->met.node[i].row >= 0)
						s->met.node[i].degree = count[i - s->first];
				gp_free(s->env, count);
			}
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(s->context);
	}
	/* Behind the queries, which tell who may not know of these tables. */
	advise_index(&s->r->nodes, &s->r->id, NULL);
	for (int k = 0; k < 2; k++)
		advise_index(&s->r->edges, &s->end[k], &s->end[1 - k]);
}

/* Raises for a node that is given twice, or that is not there. */
static int32 *
find_wanted(some_state *s, int64 n)
{
	int32	   *number = gp_alloc_array(s->env, Max(n, 1), sizeof(int32));

	for (int64 i = 0; i < n; i++)
	{
		const gnngp_met_node *node = &s->met.node[i];

		if (node->row < 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("table \"%s\" has no node %s", s->r->nodes.name,
							node->text ? node->text : psprintf(INT64_FORMAT, node->key)),
					 errhint("Insert the node first, or check that you may read its row.")));
		number[i] = node->number;
	}
	return number;
}

/* Features from the rows, and from a table of their own. */
static void
read_features(some_state *s, gnngp_sparse_part *sparse, int32 *node_of_row)
{
	gnngp_reader *r = s->r;
	int64		dims = r->dims;

	if (s->features && s->met.nrows > 0)
		gnngp_finish_features(s->features, node_of_row);
	if (sparse)
	{
		r->some_ids = gnngp_met_ids(&s->met, 0, s->met.nnodes, true);
		gnngp_idmap_build(s->env, &r->map, &r->data->ids);
		gnngp_read_sparse(sparse);
		gnngp_idmap_free(s->env, &r->map);
	}
	if (r->data->features && s->features)
		gnngp_check_dims(r, dims);
	if (r->data->features)
		r->data->features = gp_features_widen(s->env, r->data->features, r->data->ids.n, dims);
}

static gnngp_some *
read_graph(some_state *s, const gnngp_id *wanted, int64 n, int hops, gnngp_rim rim)
{
	gnngp_reader *r = s->r;
	gnngp_sparse_part *sparse;
	gnngp_some *some = gp_alloc_zero(s->env, 1, sizeof(gnngp_some));
	int32	   *node_of_row;

	plan_queries(s);
	sparse = gnngp_plan_sparse(r);
	/* Meets the nodes that are asked for */
	for (int64 i = 0; i < n; i++)
		if (gnngp_meet(&s->met, wanted[i].key, wanted[i].text, wanted[i].length) != i)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("node %s is given twice", gnngp_id_name(&wanted[i])),
					 errhint("Name each node once.")));
	if (s->all)
	{
		gnngp_query_run(&s->nodes, s->env, node_row, s, GP_PHASE_NODES,
						gnngp_table_rows(&s->r->nodes));
		gnngp_query_run(&s->ends[0], s->env, edge_row, s, GP_PHASE_EDGES,
						gnngp_table_rows(&s->r->edges));
	}
	else
		read_rounds(s, hops, rim);
	node_of_row = gnngp_met_number(&s->met, &r->data->ids);
	some->wanted = find_wanted(s, n);
	read_features(s, sparse, node_of_row);
	some->graph = gnngp_met_graph(&s->met, s->weighted, s->counted);
	some->ids = r->data->ids;
	some->features = r->data->features;
	return some;
}

gnngp_some *
gnngp_read_some(gp_env *env, const gnngp_graph_def *graph, const gnngp_id *wanted, int64 n,
				int hops, gnngp_rim rim, int64 dims, const double *moments,
				const gp_encoding *encoding)
{
	some_state	s = {.env = env,.met = {.env = env},.all = hops == GNNGP_ALL_HOPS};
	gnngp_reader r;
	gnngp_some *some;
	gnngp_rights rights;
	bool		save_read_only = XactReadOnly;
	gnngp_identity saved = gnngp_become(GetUserId());

	gnngp_pin_output_settings();
	gnngp_pin("row_security", "on");
	/* Not by its setting, which functions may not save from version 16 on; an abort restores it. */
	XactReadOnly = true;
	gnngp_spi_connect();
	gnngp_reader_open(&r, env, graph);
	/* 55000 where ids were numbers and are none now, or the other way round */
	if (n > 0 && (wanted[0].text == NULL) != r.integer_ids)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of table \"%s\" has another type than when the model was fitted", r.id.name,
						r.nodes.name),
				 errhint("Fit the model again with gp_refresh.")));
	r.some = true;
	r.dims = dims;
	r.moments = moments;
	r.encoding = encoding;
	s.r = s.met.r = &r;
	s.context = AllocSetContextCreate(CurrentMemoryContext, "gnngp round", ALLOCSET_DEFAULT_SIZES);
	gnngp_rights_open(&rights, &r);
	some = read_graph(&s, wanted, n, hops, rim);
	gnngp_rights_close(&rights);
	gnngp_spi_finish();
	XactReadOnly = save_read_only;
	gnngp_become_again(&saved);
	return some;
}
