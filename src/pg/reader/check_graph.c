/*
 * check_graph.c - whether tables and columns can serve as a graph.
 *
 * A mistake in a name or type is reported when the graph is created, not when
 * it is first read.
 */
#include "postgres.h"

#include "access/relation.h"
#include "nodes/nodeFuncs.h"
#include "reader_internal.h"
#include "rewrite/rewriteHandler.h"
#include "utils/fmgroids.h"

#define SRC_HOLDS "the sources of the edges"

/*
 * Opens a table that may hold nodes, edges or features; 42809 for another kind of relation.  former
 * is what a graph calls it that has it already, or NULL.
 */
static gnngp_table
open_table(Oid oid, const char *argument, const char *graph, const gnngp_source_name *former)
{
	Relation	rel = try_relation_open(oid, AccessShareLock);
	gnngp_table table = {.oid = oid};

	if (rel == NULL && former && former->table)
		gnngp_raise(UNDEFINED_TABLE,
					psprintf("Name another table: gp_alter_graph(%s, %s => ...).",
							 quote_literal_cstr(graph), argument),
					"table \"%s\" of graph \"%s\" no longer exists",
					gnngp_shown_table(former->schema, former->table), graph);
	if (rel == NULL)
		gnngp_raise(UNDEFINED_TABLE, "Name a table, a view or a foreign table.",
					"relation with OID %u does not exist", oid);
	table.name = gnngp_shown_oid(oid);
	if (rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE &&
		rel->rd_rel->relkind != RELKIND_VIEW && rel->rd_rel->relkind != RELKIND_MATVIEW &&
		rel->rd_rel->relkind != RELKIND_FOREIGN_TABLE)
		gnngp_raise(WRONG_OBJECT_TYPE,
					psprintf("Argument \"%s\" takes a table, view, materialized view or foreign table.",
							 argument),
					"\"%s\" is not a table or view", table.name);
	relation_close(rel, NoLock);
	return table;
}

void
gnngp_require_table(Oid oid, const char *argument)
{
	(void) open_table(oid, argument, NULL, NULL);
}

/* 42501 unless the caller may read this column. */
static void
require_select(const gnngp_table *table, const char *column)
{
	if (!gnngp_may_read_column(table->oid, get_attnum(table->oid, column), GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(table->oid)),
					   get_rel_name(table->oid));
}

/* Finds a column by name, with its argument as a user writes it: 42703 with a hint, 42501 when it
 * may not be read. */
static gnngp_column
find_column(const gnngp_table *table, const char *name, const char *holds, const char *argument)
{
	if (get_attnum(table->oid, name) <= 0)
		gnngp_raise(UNDEFINED_COLUMN,
					psprintf("%s Name the column that holds %s with the argument %s.",
							 gnngp_columns_there(table, name), holds, argument),
					"column \"%s\" of table \"%s\" does not exist", name, table->name);
	require_select(table, name);
	return gnngp_table_column(table, name);
}

/* 42701 where a column stands in a list before; what: "feature" or "edge feature". */
static void
require_once(const gnngp_texts *names, int i, const char *what)
{
	for (int j = 0; j < i; j++)
		if (strcmp(names->text[i], names->text[j]) == 0)
			gnngp_raise(DUPLICATE_COLUMN, NULL, "%s column \"%s\" is named twice", what,
						names->text[i]);
}

static void
check_features(const gnngp_table *nodes, const gnngp_graph_def *def)
{
	for (int i = 0; i < def->features.n; i++)
	{
		gnngp_column column = find_column(nodes, def->features.text[i], "features", "features => '{...}'");

		require_once(&def->features, i, "feature");
		if (def->target != NULL && strcmp(def->features.text[i], def->target) == 0)
			gnngp_raise(INVALID_PARAMETER_VALUE, "Leave it out of \"features\".",
						"column \"%s\" cannot be both a feature and the target", column.name);
		gnngp_require_feature(nodes, &column, def->features.n == 1);
	}
}

/* The columns of a table that are keys, or parts of some. */
static Bitmapset *
key_columns(Relation rel)
{
	Bitmapset  *keys = NULL;
	Bitmapset  *primary = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_PRIMARY_KEY);
	ListCell   *cell;
	int			attribute = -1;

	while ((attribute = bms_next_member(primary, attribute)) >= 0)
		keys = bms_add_member(keys, attribute + FirstLowInvalidHeapAttributeNumber);
	foreach(cell, RelationGetFKeyList(rel))
	{
		const ForeignKeyCacheInfo *key = lfirst(cell);

		for (int i = 0; i < key->nkeys; i++)
			keys = bms_add_member(keys, key->conkey[i]);
	}
	return keys;
}

static bool
is_nextval(Oid function, void *unused)
{
	return function == F_NEXTVAL;
}

/* Walks an expression for a number that is drawn from a sequence. */
static bool
draws_number(Node *node, void *unused)
{
	return node != NULL &&
		(IsA(node, NextValueExpr) || check_functions_in_node(node, is_nextval, NULL) ||
		 expression_tree_walker(node, draws_number, NULL));
}

bool
gnngp_is_numbered(Relation rel, Form_pg_attribute att)
{
	return att->attidentity || (att->atthasdef && !att->attgenerated &&
								draws_number(build_column_default(rel, att->attnum), NULL));
}

/* Why a column is none of the features that '{*}' stands for; NULL: it is one. */
static const char *
why_no_feature(const gnngp_column *column, Relation rel, int place, const Bitmapset *keys,
			   const gnngp_graph_def *def)
{
	bool		edges = def->nodes == def->edges;

	if (strcmp(column->name, def->id_column) == 0 || bms_is_member(place + 1, keys) ||
		gnngp_is_numbered(rel, TupleDescAttr(RelationGetDescr(rel), place)))
		return "key";
	if (def->target && strcmp(column->name, def->target) == 0)
		return "target";
	if (edges && (strcmp(column->name, def->src) == 0 || strcmp(column->name, def->dst) == 0 ||
				  (def->weight && strcmp(column->name, def->weight) == 0)))
		return "of the edges";
	if (!gnngp_may_read_column(def->nodes, place + 1, GetUserId()))
		return "may not be read";
	return gnngp_is_feature_type(column->base) ? NULL : format_type_be(column->type);
}

gnngp_texts
gnngp_all_features(const gnngp_graph_def *def)
{
	gnngp_table nodes = open_table(def->nodes, "nodes", def->name, &def->nodes_name);
	Relation	rel = relation_open(nodes.oid, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *keys = key_columns(rel);
	gnngp_texts list = {0, palloc(sizeof(char *) * Max(desc->natts, 1))};
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < desc->natts; i++)
	{
		gnngp_column column;

		if (TupleDescAttr(desc, i)->attisdropped)
			continue;
		column = gnngp_table_column(&nodes, pstrdup(NameStr(TupleDescAttr(desc, i)->attname)));
		const char *why = why_no_feature(&column, rel, i, keys, def);
		if (why)
			appendStringInfo(&out, "%s\"%s\" (%s)", out.len > 0 ? ", " : "", column.name, why);
		else
			list.text[list.n++] = unconstify(char *, column.name);
	}
	if (list.n == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE, "Leave \"features\" out for a graph without features.",
					"table \"%s\" has no column that can be a feature", nodes.name);
	if (out.len > 0)
		gnngp_notice(NULL, "columns of table \"%s\" that are not used as features: %s", nodes.name, out.data);
	relation_close(rel, NoLock);
	return list;
}

/* The first three columns of a table of sparse features. */
static void
check_sparse(const gnngp_graph_def *def, const gnngp_table *nodes, const gnngp_column *id)
{
	gnngp_table table = open_table(def->sparse_features, "sparse_features", def->name,
								   &def->sparse_name);
	gnngp_column column[3];

	for (int i = 0; i < 3; i++)
	{
		column[i] = gnngp_table_column(&table, gnngp_table_column_name(&table, i));
		require_select(&table, column[i].name);
	}
	gnngp_require_reference(&table, &column[0], nodes, id);
	gnngp_require_feature_number(&table, &column[1]);
	(void) gnngp_table_number(&table, column[2].name);
}

/* The columns of the edge table that are features of both ends. */
static void
check_edge_features(const gnngp_table *edges, const gnngp_graph_def *def)
{
	for (int i = 0; i < def->edge_features.n; i++)
	{
		gnngp_column column = find_column(edges, def->edge_features.text[i], "features of the edges", "edge_features => '{...}'");

		require_once(&def->edge_features, i, "edge feature");
		if (strcmp(column.name, def->src) == 0 || strcmp(column.name, def->dst) == 0)
			gnngp_raise(INVALID_PARAMETER_VALUE, "Leave it out of \"edge_features\".",
						"column \"%s\" cannot be both an end of the edges and a feature",
						column.name);
		if (!gnngp_is_number_type(column.base) && !gnngp_is_time_type(column.base) &&
			column.base != BOOLOID)
			gnngp_wrong_type(edges, &column, "a number, a boolean, a date or a timestamp",
							 "Make numbers of it in a view, such as (kind = 'refund')::integer.");
	}
	if (def->edge_features.n > 0 && OidIsValid(def->sparse_features))
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					"Put the features of the nodes into columns of their table.",
					"\"edge_features\" cannot be given with \"sparse_features\"");
}

static void
check_edges(const gnngp_table *edges, const gnngp_graph_def *def, const gnngp_table *nodes,
			const gnngp_column *id)
{
	gnngp_column src = find_column(edges, def->src, SRC_HOLDS, "src => '...'");
	gnngp_column dst = find_column(edges, def->dst, "the destinations of the edges", "dst => '...'");

	gnngp_require_reference(edges, &src, nodes, id);
	gnngp_require_reference(edges, &dst, nodes, id);
	if (!OidIsValid(def->nodes) && src.base != dst.base)
		gnngp_wrong_type(edges, &dst, psprintf("%s, the type of column \"%s\"",
											   format_type_be(src.type), src.name), NULL);
	if (strcmp(src.name, dst.name) == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"Name the columns of the two ends of an edge with the arguments src => '...' and dst => '...'.",
					"\"src\" and \"dst\" are the same column: \"%s\"", def->src);
	if (def->weight)
	{
		(void) find_column(edges, def->weight, "the weights of the edges", "weight => '...'");
		(void) gnngp_table_number(edges, def->weight);
	}
	if (def->time)
	{
		(void) find_column(edges, def->time, "the times of the edges", "time_column => '...'");
		(void) gnngp_table_time(edges, def->time);
	}
	check_edge_features(edges, def);
}

void
gnngp_check_graph(const gnngp_graph_def *def)
{
	bool		ends = !OidIsValid(def->nodes);
	gnngp_table edges = open_table(def->edges, "edges", def->name, &def->edges_name);
	gnngp_table nodes = ends ? edges :
		open_table(def->nodes, "nodes", def->name, &def->nodes_name);
	gnngp_column id = find_column(&nodes, def->id_column, ends ? SRC_HOLDS : "the ids of the nodes",
								 ends ? "src => '...'" : "id => '...'");

	if (def->target)
	{
		gnngp_column column = find_column(&nodes, def->target, "the labels", "target => '...'");

		/* Any type has classes or values, but the numbers of a vector are features. */
		if (gnngp_is_vector_type(column.base))
			gnngp_wrong_type(&nodes, &column, "a class or a value",
							 psprintf("A column of vectors holds features: features => %s.",
									  quote_literal_cstr(psprintf("{%s}", column.quoted))));
	}
	check_features(&nodes, def);
	check_edges(&edges, def, &nodes, &id);
	if (OidIsValid(def->sparse_features))
	{
		if (strcmp(def->scale, "standard") == 0)
			gnngp_raise(INVALID_PARAMETER_VALUE,
						"That would make them dense; use scale => 'length' for rows of length one.",
						"sparse features cannot be standardised");
		check_sparse(def, &nodes, &id);
	}
}
