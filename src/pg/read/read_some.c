/*
 * read_some.c - the neighbourhood of a few nodes, hop by hop, or all that the caller sees.
 *
 * A round asks for the rows of the nodes that the round before has found, and for their
 * edges, by arrays of ids.  The last round's edges count for degrees alone, if at all: they
 * are counted as they come, and their other ends are not met.  Nodes that the caller does not see are neighbours of which nothing is known.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_index.h"
#include "core/base/places.h"
#include "miscadmin.h"
#include "pg/host/host.h"
#include "read_ids.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* A node that was met. */
typedef struct met_node
{
	int64		key;
	char	   *text;
	int32		row;			/* of the node table, as it came; -1: not seen */
	int32		number;			/* at the end */
	double		degree;			/* where it alone was read of the edges; else below 0 */
} met_node;

/* An edge that was read. */
typedef struct met_edge
{
	int32		src;
	int32		dst;
	double		weight;
} met_edge;

/* A place of the table of nodes. */
typedef struct met_place
{
	int64		key;
	int64		node;			/* -1: free */
} met_place;

/* An integer id that was looked up, for the next row: tables often stand in the order of one end. */
typedef struct last_id
{
	bool		any;
	int64		key;
	int32		number;
} last_id;

typedef struct some_state
{
	gnngp_reader *r;
	gp_env	   *env;
	MemoryContext context;
	gp_places	places;			/* of the nodes, by their keys */
	met_place  *at;				/* what is at each place */
	met_node   *node;
	int64		nnodes;
	int64		room;
	met_edge   *edge;
	int64		nedges;
	int64		edge_room;
	int64		first;			/* of the nodes of this round */
	int64		last;			/* behind them */
	gnngp_query nodes;
	gnngp_feature_part *features;
	int64		nrows;
	gnngp_query ends[2];		/* edges by src, and by dst */
	gnngp_column end[2];
	Oid			end_base[2];
	gnngp_column weight;
	bool		weighted;
	bool		by_dst;			/* the round's second query */
	bool		all;			/* one round that reads everything */
	gnngp_row_fn end_row;		/* takes a row for the end that by_dst tells */
	last_id		last_end[2];	/* of this round */
	gp_tally   *tally;			/* of the round's edges, without weights */
	bool		counted;		/* some nodes have a degree */
} some_state;

/* The place of a node, or the free one where it belongs. */
static uint64
find_place(some_state *s, int64 key, const char *text, int length)
{
	uint64		place = gp_first_place(&s->places, (uint64) key);

	for (; s->at[place].node >= 0; place = gp_next_place(&s->places, place))
	{
		const char *other;

		if (s->at[place].key != key)
			continue;
		other = text ? s->node[s->at[place].node].text : NULL;
		if (text == NULL || (strncmp(other, text, length) == 0 && other[length] == '\0'))
			break;
	}
	return place;
}

/* Makes room for twice as many nodes. */
static void
grow(some_state *s)
{
	s->room = s->room ? 2 * s->room : 256;
	s->node = gp_realloc_array(s->env, s->node, s->room, sizeof(met_node));
	gp_free(s->env, s->at);
	s->places = gp_places_open(s->env, 2 * (uint64) s->room);
	s->at = gp_alloc_array(s->env, 2 * s->room, sizeof(met_place));
	memset(s->at, -1, 2 * s->room * sizeof(met_place));
	for (int64 i = 0; i < s->nnodes; i++)
	{
		uint64		place = gp_first_place(&s->places, (uint64) s->node[i].key);

		CHECK_FOR_INTERRUPTS();
		while (s->at[place].node >= 0)
			place = gp_next_place(&s->places, place);
		s->at[place] = (met_place) {s->node[i].key, i};
	}
}

/* The number of a node, which is met now if it was not before. */
static int32
meet(some_state *s, int64 key, const char *text, int length)
{
	uint64		place;
	met_node   *node;

	if (s->nnodes == s->room)
		grow(s);
	place = find_place(s, key, text, length);
	if (s->at[place].node >= 0)
		return (int32) s->at[place].node;
	s->at[place] = (met_place) {key, s->nnodes};
	node = &s->node[s->nnodes];
	*node = (met_node) {.key = key,.row = -1,.number = -1,.degree = -1.0};
	if (text)
	{
		node->text = gp_alloc(s->env, length + 1);
		memcpy(node->text, text, length);
		node->text[length] = '\0';
	}
	return (int32) s->nnodes++;
}

/* The number of the node of a datum, if it is of this round; else -1. */
static int32
find_datum(some_state *s, Datum value, Oid base)
{
	const char *text = NULL;
	int			length = 0;
	int64		key;
	int32		number;

	if (s->r->integer_ids)
		key = gnngp_integer_datum(value, base);
	else
	{
		text = gnngp_id_datum_text(s->r, value, &length);
		key = gnngp_text_key(text, length);
	}
	number = (int32) s->at[find_place(s, key, text, length)].node;
	return number >= s->first && number < s->last ? number : -1;
}

/* The same of an end of an edge, which may be that of the row before: nodes of a round stay what they are in it. */
static int32
find_end(some_state *s, int end, Datum value)
{
	last_id    *last = &s->last_end[end];
	int64		key;

	if (!s->r->integer_ids)
		return find_datum(s, value, s->end_base[end]);
	key = gnngp_integer_datum(value, s->end_base[end]);
	if (!last->any || last->key != key)
		*last = (last_id) {true, key, find_datum(s, value, s->end_base[end])};
	return last->number;
}

/* The number of the node of a datum, met now if it was not before. */
static int32
meet_datum(some_state *s, Datum value, Oid base)
{
	const char *text;
	int			length;

	if (s->r->integer_ids)
		return meet(s, gnngp_integer_datum(value, base), NULL, 0);
	text = gnngp_id_datum_text(s->r, value, &length);
	return meet(s, gnngp_text_key(text, length), text, length);
}

/* An array of the ids of some nodes that were met; of rows alone where only these are wanted. */
static Datum
id_array(some_state *s, int64 first, int64 last, bool rows)
{
	Oid			base = s->r->integer_ids ? INT8OID : s->r->id.base;
	Datum	   *value = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(Datum) * Max(last - first, 1));
	int16		length;
	bool		by_value;
	char		align;
	Oid			input;
	Oid			ioparam;
	int			n = 0;

	get_typlenbyvalalign(base, &length, &by_value, &align);
	getTypeInputInfo(base, &input, &ioparam);
	for (int64 i = first; i < last; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (rows && s->node[i].row < 0)
			continue;
		value[n++] = s->r->integer_ids ? Int64GetDatum(s->node[i].key) :
			OidInputFunctionCall(input, s->node[i].text, ioparam, -1);
	}
	return PointerGetDatum(construct_array(value, n, base, length, by_value, align));
}

/* Takes a row of the node table. */
static void
node_row(void *state, const Datum *values, const bool *nulls)
{
	some_state *s = state;
	int32		number;
	met_node   *node;

	if (nulls[0])
		return;
	number = s->all ? meet_datum(s, values[0], s->r->id.base) : find_datum(s, values[0], s->r->id.base);
	/* What is equal by the type's rules and has another text was not asked for. */
	if (number < 0)
		return;
	node = &s->node[number];
	if (node->row >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("column \"%s\" of table \"%s\" repeats the node %s", s->r->id.name, s->r->nodes.name,
						node->text ? node->text : psprintf(INT64_FORMAT, node->key)),
				 errhint("Ids must be unique.")));
	node->row = (int32) s->nrows++;
	if (s->features)
		gnngp_take_features(s->features, node->row, (gnngp_row_id) {node->key, node->text}, values + 1, nulls + 1);
}

/* The weight of an edge; 22003 or 22004 for what is none. */
static double
edge_weight(const some_state *s, Datum value, bool null)
{
	double		w = null ? NAN : gnngp_number_datum(value, s->weight.base);

	if (!isfinite(w) || w < 0.0)
		ereport(ERROR,
				(errcode(null ? ERRCODE_NULL_VALUE_NOT_ALLOWED : ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 null ? errmsg("column \"%s\" of table \"%s\" is NULL for an edge", s->weight.name, s->r->edges.name) :
				 errmsg("column \"%s\" of table \"%s\" is %g for an edge", s->weight.name, s->r->edges.name, w),
				 errhint("Weights must be finite and not negative.")));
	return w;
}

/* True for a node whose row was read. */
static bool
has_row(const some_state *s, int32 number)
{
	return number >= 0 && s->node[number].row >= 0;
}

/* Takes a row of the edge table, unless another query has had it. */
static void
edge_row(void *state, const Datum *values, const bool *nulls)
{
	some_state *s = state;
	met_edge   *edge;
	int32		src,
				dst;

	if (nulls[0] || nulls[1] || (!s->all && !has_row(s, find_end(s, s->by_dst, values[s->by_dst]))))
		return;
	src = meet_datum(s, values[0], s->end_base[0]);
	dst = meet_datum(s, values[1], s->end_base[1]);
	/* By src: not where dst was in a round before.  By dst: not where src was in one, or is in this one. */
	if (s->by_dst ? src < s->last && s->node[src].row >= 0 : dst < s->first && s->node[dst].row >= 0)
		return;
	if (s->nedges == s->edge_room)
	{
		s->edge_room = s->edge_room ? 2 * s->edge_room : 1024;
		s->edge = gp_realloc_array(s->env, s->edge, s->edge_room, sizeof(met_edge));
	}
	edge = &s->edge[s->nedges++];
	edge->src = src;
	edge->dst = dst;
	edge->weight = s->weighted ? edge_weight(s, values[2], nulls[2]) : 1.0;
}

/* A key for the other end of an edge; 0 where both ends are one. */
static uint64
other_end(some_state *s, int32 near, Datum value, Oid base)
{
	const met_node *node = &s->node[near];
	const char *text;
	int			length;
	int64		key;

	if (s->r->integer_ids)
	{
		key = gnngp_integer_datum(value, base);
		return key == node->key ? 0 : gp_hash((uint64) key) | 1;
	}
	text = gnngp_id_datum_text(s->r, value, &length);
	key = gnngp_text_key(text, length);
	return key == node->key && strncmp(node->text, text, length) == 0 && node->text[length] == '\0' ? 0 :
		gp_hash((uint64) key) | 1;
}

/* Counts a row of the edge table for the degree of one end; repeated edges count once without weights. */
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
	key = other_end(s, near, values[far], s->end_base[far]);
	if (key == 0)
		return;
	if (s->weighted)
		s->node[near].degree += edge_weight(s, values[2], nulls[2]);
	else
		gp_tally_add(s->tally, near - (int32) s->first, key);
}

/* Takes a row for both of its ends. */
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

/* Plans the queries. */
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
	List	   *indexes = rel->rd_rel->relkind == RELKIND_RELATION ? RelationGetIndexList(rel) : NIL;
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

/* Tells once in a session where an index would help; with the column beside it, if any, degrees are counted in the index alone. */
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
		HASHCTL		control = {.keysize = sizeof(int64),.entrysize = sizeof(int64),.hcxt = TopMemoryContext};

		told = hash_create("gnngp advice", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	key = ((int64) table->oid << 16) | (uint16) get_attnum(table->oid, column->name);
	(void) hash_search(told, &key, HASH_ENTER, &found);
	if (!found)
		ereport(NOTICE,
				(errmsg("column \"%s\" of table \"%s\" has no index, so all of the table is read", column->name, table->name),
				 errhint("CREATE INDEX ON %s (%s%s%s);", table->quoted, column->quoted, beside ? ", " : "",
						 beside ? beside->quoted : "")));
}

/* Reads the edges of the nodes of a round, by each end; at once for both where all are read. */
static void
read_edges(some_state *s, gnngp_row_fn row, int first)
{
	Datum		ids = id_array(s, s->first, s->last, true);
	bool		both;

	s->end_row = row;
	memset(s->last_end, 0, sizeof(s->last_end));
	s->ends[0].array = s->ends[1].array = ids;
	both = first == 0 && gnngp_query_scans(&s->ends[0]) && gnngp_query_scans(&s->ends[1]);
	for (int k = first; k < (both ? 1 : 2); k++)
	{
		s->by_dst = k == 1;
		gnngp_query_run(&s->ends[k], s->env, s->r->row_context, both ? both_ends_row : row, s, GP_PHASE_EDGES, 0);
	}
}

/* Puts how many neighbours each node of a round has. */
static void
put_degrees(some_state *s)
{
	double	   *count = gp_alloc_array(s->env, s->last - s->first, sizeof(double));

	gp_tally_close(s->tally, s->last - s->first, count);
	for (int64 i = s->first; i < s->last; i++)
		if (s->node[i].row >= 0)
			s->node[i].degree = count[i - s->first];
	gp_free(s->env, count);
}

/* Counts the edges of the nodes of a round: of directed ones those that lead there. */
static void
read_degrees(some_state *s)
{
	s->counted = true;
	for (int64 i = s->first; i < s->last; i++)
		if (s->node[i].row >= 0)
			s->node[i].degree = 0.0;
	s->tally = s->weighted ? NULL : gp_tally_open(s->env);
	read_edges(s, degree_row, s->r->def->directed ? 1 : 0);
	if (s->tally)
		put_degrees(s);
}

/* Reads one round: the nodes that were met last, and their edges. */
static void
read_round(some_state *s, gnngp_rim edges)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	s->nodes.array = id_array(s, s->first, s->last, false);
	gnngp_query_run(&s->nodes, s->env, s->r->row_context, node_row, s, GP_PHASE_NODES, 0);
	if (edges == GNNGP_RIM_EDGES)
		read_edges(s, edge_row, 0);
	else if (edges == GNNGP_RIM_DEGREES)
		read_degrees(s);
	MemoryContextSwitchTo(old);
	MemoryContextReset(s->context);
}

/* Reads all nodes and all edges. */
static void
read_all(some_state *s)
{
	gnngp_query_run(&s->nodes, s->env, s->r->row_context, node_row, s, GP_PHASE_NODES, gnngp_table_rows(&s->r->nodes));
	gnngp_query_run(&s->ends[0], s->env, s->r->row_context, edge_row, s, GP_PHASE_EDGES, gnngp_table_rows(&s->r->edges));
}

/* Reads hop by hop, and tells where an index would help. */
static void
read_rounds(some_state *s, int hops, gnngp_rim rim)
{
	for (int hop = 0; hop <= hops && s->last < s->nnodes; hop++)
	{
		s->first = s->last;
		s->last = s->nnodes;
		read_round(s, hop < hops ? GNNGP_RIM_EDGES : rim);
	}
	/* Behind the queries, which tell who may not know of these tables. */
	advise_index(&s->r->nodes, &s->r->id, NULL);
	for (int k = 0; k < 2; k++)
		advise_index(&s->r->edges, &s->end[k], &s->end[1 - k]);
}

/* Compares two nodes that were met, by the order of ids. */
static int
compare_met(const void *a, const void *b, void *arg)
{
	const some_state *s = arg;
	const met_node *x = &s->node[*(const int32 *) a];
	const met_node *y = &s->node[*(const int32 *) b];

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->text ? strcmp(x->text, y->text) : 0;
}

/* Numbers the nodes that were read by their ids, and then the others; the node of each row. */
static int32 *
number_nodes(some_state *s, gnngp_ids *ids)
{
	int32	   *order = gp_alloc_array(s->env, Max(s->nrows, 1), sizeof(int32));
	int32	   *node_of_row = gp_alloc_array(s->env, Max(s->nrows, 1), sizeof(int32));
	int64		n = 0;

	for (int64 i = 0; i < s->nnodes; i++)
		if (s->node[i].row >= 0)
			order[n++] = (int32) i;
	gnngp_sort(order, n, sizeof(int32), compare_met, s);
	ids->n = n;
	ids->key = gp_alloc_array(s->env, s->nnodes, sizeof(int64));
	ids->text = ids->integer ? NULL : gp_alloc_array(s->env, s->nnodes, sizeof(char *));
	for (int64 i = 0; i < n; i++)
	{
		s->node[order[i]].number = (int32) i;
		node_of_row[s->node[order[i]].row] = (int32) i;
	}
	for (int64 i = 0; i < s->nnodes; i++)
		if (s->node[i].row < 0)
			s->node[i].number = (int32) n++;
	for (int64 i = 0; i < s->nnodes; i++)
	{
		const met_node *node = &s->node[i];

		ids->key[node->number] = node->key;
		if (!ids->integer)
			ids->text[node->number] = node->text;
	}
	gp_free(s->env, order);
	return node_of_row;
}

/* The graph of the edges that were read. */
static gp_graph *
build_graph(some_state *s)
{
	gp_edges   *edges = gp_edges_create(s->env, s->nnodes, s->r->def->directed, s->weighted);
	gp_graph   *graph;

	for (int64 e = 0; e < s->nedges; e++)
	{
		const met_edge *edge = &s->edge[e];

		gp_edges_add(edges, 1, &s->node[edge->src].number, &s->node[edge->dst].number,
					 s->weighted ? &edge->weight : NULL);
	}
	graph = gp_graph_build(edges);
	if (s->counted)
		graph->degree = gp_alloc_array(s->env, s->nnodes, sizeof(double));
	for (int64 i = 0; s->counted && i < s->nnodes; i++)
		graph->degree[s->node[i].number] = s->node[i].degree;
	return graph;
}

/* Raises for a node that is given twice, or that is not there. */
static int32 *
find_wanted(some_state *s, int64 n)
{
	int32	   *number = gp_alloc_array(s->env, Max(n, 1), sizeof(int32));

	for (int64 i = 0; i < n; i++)
	{
		const met_node *node = &s->node[i];

		if (node->row < 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("table \"%s\" has no node %s", s->r->nodes.name,
							node->text ? node->text : psprintf(INT64_FORMAT, node->key)),
					 errhint("Insert the node first, or see whether you may read its row.")));
		number[i] = node->number;
	}
	return number;
}

/* Meets the nodes that are asked for. */
static void
meet_wanted(some_state *s, const gnngp_wanted *wanted, int64 n)
{
	for (int64 i = 0; i < n; i++)
		if (meet(s, wanted[i].key, wanted[i].text, wanted[i].length) != i)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("node %s is given twice", wanted[i].text ? pnstrdup(wanted[i].text, wanted[i].length) :
							psprintf(INT64_FORMAT, wanted[i].key)),
					 errhint("Name each node once.")));
}

/* Features from the rows, and from a table of their own. */
static void
read_features(some_state *s, gnngp_sparse_part *sparse, int32 *node_of_row)
{
	gnngp_reader *r = s->r;
	int64		dims = r->dims;

	if (s->features && s->nrows > 0)
		gnngp_finish_features(s->features, node_of_row);
	if (sparse)
	{
		r->some_ids = id_array(s, 0, s->nnodes, true);
		gnngp_idmap_build(s->env, &r->map, &r->data->ids);
		gnngp_read_sparse(sparse);
		gnngp_idmap_free(s->env, &r->map);
	}
	if (r->data->features && s->features)
		gnngp_check_dims(r, dims);
	if (r->data->features)
		r->data->features = gp_features_widen(s->env, r->data->features, r->data->ids.n, dims);
}

/* Reads the graph of a neighbourhood, or the whole, inside SPI. */
static gnngp_some *
read_graph(some_state *s, const gnngp_wanted *wanted, int64 n, int hops, gnngp_rim rim)
{
	gnngp_reader *r = s->r;
	gnngp_sparse_part *sparse;
	gnngp_some *some = gp_alloc_zero(s->env, 1, sizeof(gnngp_some));
	int32	   *node_of_row;

	plan_queries(s);
	sparse = gnngp_plan_sparse(r);
	meet_wanted(s, wanted, n);
	if (s->all)
		read_all(s);
	else
		read_rounds(s, hops, rim);
	node_of_row = number_nodes(s, &r->data->ids);
	some->wanted = find_wanted(s, n);
	read_features(s, sparse, node_of_row);
	some->graph = build_graph(s);
	some->ids = r->data->ids;
	some->features = r->data->features;
	return some;
}

/* 55000 where ids were numbers and are none now, or the other way round. */
static void
check_ids(const gnngp_reader *r, const gnngp_wanted *wanted, int64 n)
{
	if (n > 0 && (wanted[0].text == NULL) != r->integer_ids)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of table \"%s\" has another type than when the model was fitted", r->id.name,
						r->nodes.name),
				 errhint("Fit the model again with gp_refresh.")));
}

/* Where the caller may not read a table: which ones to be granted; NULL where all may be read. */
static char *
missing_grants(const gnngp_reader *r)
{
	const gnngp_table *table[] = {&r->nodes, &r->edges, &r->sparse};
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < (int) lengthof(table); i++)
		if (OidIsValid(table[i]->oid) && pg_class_aclcheck(table[i]->oid, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", table[i]->quoted);
	if (list.len == 0)
		return NULL;
	return psprintf("Live answers read with the rights of the caller: GRANT SELECT ON %s TO %s;", list.data,
					quote_identifier(GetUserNameFromId(GetUserId(), false)));
}

/* Adds the hint to an error about rights. */
static void
hint_grants(void *hint)
{
	if (geterrcode() == ERRCODE_INSUFFICIENT_PRIVILEGE)
		errhint("%s", (char *) hint);
}

/* Reads a neighbourhood as the caller, who can change nothing meanwhile: tables may be views that call anybody's functions. */
gnngp_some *
gnngp_read_some(gp_env *env, const gnngp_graph_def *graph, const gnngp_wanted *wanted, int64 n, int hops,
				gnngp_rim rim, int64 dims, const double *moments)
{
	some_state	s = {.env = env,.all = hops == GNNGP_ALL_HOPS};
	gnngp_reader r;
	gnngp_some *some;
	ErrorContextCallback rights;
	bool		save_read_only = XactReadOnly;
	gnngp_identity saved = gnngp_become(GetUserId());

	gnngp_pin_output_settings();
	gnngp_pin("row_security", "on");
	/* Not by its setting, which functions may not save from version 16 on; an abort restores it, too. */
	XactReadOnly = true;
	gnngp_spi_connect();
	gnngp_reader_open(&r, env, graph);
	check_ids(&r, wanted, n);
	r.some = true;
	r.dims = dims;
	r.moments = moments;
	s.r = &r;
	s.context = AllocSetContextCreate(CurrentMemoryContext, "gnngp round", ALLOCSET_DEFAULT_SIZES);
	rights = (ErrorContextCallback) {.previous = error_context_stack,.callback = hint_grants,.arg = missing_grants(&r)};
	if (rights.arg)
		error_context_stack = &rights;
	some = read_graph(&s, wanted, n, hops, rim);
	error_context_stack = rights.previous;
	gnngp_spi_finish();
	XactReadOnly = save_read_only;
	gnngp_become_again(&saved);
	return some;
}
