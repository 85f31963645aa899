/*
 * graph_check.c - whether tables and columns can serve as a graph.
 *
 * A mistake in a name or type is reported when the graph is created, not when
 * it is first read.
 */
#include "postgres.h"

#include "access/relation.h"
#include "graph_check.h"
#include "parser/parse_coerce.h"

/* Columns that a hint lists at most. */
#define HINT_COLUMNS 10
#define SRC_HOLDS "the sources of the edges"

typedef struct column_ref
{
	Relation	rel;
	const char *name;
	AttrNumber	attnum;
	Oid			type;
	Oid			base;			/* the type under a domain */
} column_ref;

char *
gnngp_shown_table(const char *schema, const char *table)
{
	const char *parts[] = {schema, table};
	StringInfoData text;

	if (quote_identifier(schema) == schema && quote_identifier(table) == table)
		return psprintf("%s.%s", schema, table);
	initStringInfo(&text);
	for (int i = 0; i < 2; i++)
	{
		appendStringInfoString(&text, i > 0 ? "\".\"" : "");
		for (const char *c = parts[i]; *c != '\0'; c++)
			appendStringInfo(&text, *c == '"' ? "\"%c" : "%c", *c);
	}
	return text.data;
}

char *
gnngp_shown_oid(Oid table)
{
	gnngp_source_name name = gnngp_source_name_of(table);

	return name.schema && name.table ? gnngp_shown_table(name.schema, name.table) :
		psprintf("%u", table);
}

/* The same of an open table. */
static char *
shown(Relation rel)
{
	return gnngp_shown_oid(RelationGetRelid(rel));
}

/*
 * Opens a table that may hold nodes, edges or features; 42809 for another kind of relation.  former
 * is what a graph calls it that has it already, or NULL.
 */
static Relation
open_table(Oid oid, const char *argument, const char *graph, const gnngp_source_name *former)
{
	Relation	rel = try_relation_open(oid, AccessShareLock);

	if (rel == NULL && former && former->table)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" of graph \"%s\" no longer exists",
						gnngp_shown_table(former->schema, former->table), graph),
				 errhint("Name another table: gp_alter_graph(%s, %s => ...).",
						 quote_literal_cstr(graph), argument)));
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", oid)));
	switch (rel->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_VIEW:
		case RELKIND_MATVIEW:
		case RELKIND_FOREIGN_TABLE:
			return rel;
	}
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a table or view", shown(rel)),
			 errhint("Argument \"%s\" takes a table, view, materialized view or foreign table.",
					 argument)));
}

void
gnngp_require_table(Oid oid, const char *argument)
{
	relation_close(open_table(oid, argument, NULL, NULL), NoLock);
}

/* What there is in place of a column that is not there: the nearest one, or the list of all. */
static const char *
columns_there(TupleDesc desc, const char *name)
{
	gp_meant	meant = gp_meant_start(name, (int) strlen(name));
	StringInfoData list;
	int			shown = 0;

	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			gp_meant_consider(&meant, NameStr(TupleDescAttr(desc, i)->attname));
	if (meant.name != NULL)
		return psprintf("Perhaps you meant the column \"%s\".", meant.name);
	initStringInfo(&list);
	appendStringInfoString(&list, "The columns are ");
	for (int i = 0; i < desc->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attisdropped)
			continue;
		if (shown == HINT_COLUMNS)
		{
			appendStringInfoString(&list, ", ...");
			break;
		}
		appendStringInfo(&list, "%s\"%s\"", shown++ > 0 ? ", " : "",
						 NameStr(TupleDescAttr(desc, i)->attname));
	}
	appendStringInfoChar(&list, '.');
	return list.data;
}

/* Describes a column that is known to be there. */
static column_ref
column_at(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	return (column_ref) {rel, NameStr(att->attname), attnum, att->atttypid,
						 getBaseType(att->atttypid)};
}

/* 42501 unless the caller may read this column. */
static void
require_select(const column_ref *column)
{
	Oid			oid = RelationGetRelid(column->rel);

	if (pg_class_aclcheck(oid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(oid, column->attnum, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return;
	aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(column->rel->rd_rel->relkind),
				   RelationGetRelationName(column->rel));
}

/* Finds a column by name, with its argument as a user writes it: 42703 with a hint, 42501 when it
 * may not be read. */
static column_ref
find_column(Relation rel, const char *name, const char *holds, const char *argument)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);
	column_ref	column;

	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of table \"%s\" does not exist", name,
						shown(rel)),
				 errhint("%s Name the column that holds %s with the argument %s.",
						 columns_there(RelationGetDescr(rel), name), holds, argument)));
	column = column_at(rel, attnum);
	require_select(&column);
	return column;
}

/* True for a type that casts to another by a function, or as it is. */
static bool
casts_to(Oid target, Oid base, CoercionContext context)
{
	Oid			function;
	CoercionPathType path = find_coercion_pathway(target, base, context, &function);

	return path == COERCION_PATH_FUNC || path == COERCION_PATH_RELABELTYPE;
}

bool
gnngp_is_time_type(Oid base)
{
	return base == DATEOID || base == TIMESTAMPOID || base == TIMESTAMPTZOID;
}

bool
gnngp_is_number_type(Oid base)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(base, &category, &preferred);
	return category == TYPCATEGORY_NUMERIC &&
		(base == FLOAT8OID || casts_to(FLOAT8OID, base, COERCION_EXPLICIT));
}

bool
gnngp_is_vector_type(Oid base)
{
	Oid			element = get_element_type(base);

	if (OidIsValid(element))
		return gnngp_is_number_type(getBaseType(element));
	return casts_to(FLOAT4ARRAYOID, base, COERCION_EXPLICIT);
}

gnngp_feature_kind
gnngp_feature_kind_of(Oid base)
{
	char		category;
	bool		preferred;

	if (gnngp_is_number_type(base))
		return GNNGP_FEATURE_NUMBER;
	if (gnngp_is_time_type(base))
		return GNNGP_FEATURE_TIME;
	get_type_category_preferred(base, &category, &preferred);
	return category == TYPCATEGORY_STRING || category == TYPCATEGORY_ENUM ||
		category == TYPCATEGORY_BOOLEAN ? GNNGP_FEATURE_WORD : GNNGP_FEATURE_NONE;
}

bool
gnngp_matches_id_type(Oid base, Oid id)
{
	if (base == id || (gnngp_is_integer_type(base) && gnngp_is_integer_type(id)))
		return true;
	return casts_to(id, base, COERCION_IMPLICIT);
}

/* 42804: a column has the wrong type. */
static void
wrong_type(const column_ref *column, const char *expected, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of table \"%s\" has type %s, not %s",
					column->name, shown(column->rel),
					format_type_be(column->type), expected),
			 errhint("%s", hint)));
}

static void
check_reference(const column_ref *column, const column_ref *id)
{
	if (!gnngp_matches_id_type(column->base, id->base))
		wrong_type(column,
				   psprintf("%s, the type of column \"%s\" of table \"%s\"",
							format_type_be(id->type), id->name, shown(id->rel)),
				   "Use a view that casts the column.");
}

static void
check_number(const column_ref *column)
{
	if (!gnngp_is_number_type(column->base))
		wrong_type(column, "a numeric type", "Use a view that casts the column.");
}

static void
check_features(Relation nodes, const gnngp_graph_def *def)
{
	for (int i = 0; i < def->features.n; i++)
	{
		column_ref	column = find_column(nodes, def->features.text[i], "features", "features => '{...}'");

		for (int j = 0; j < i; j++)
			if (strcmp(def->features.text[i], def->features.text[j]) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("feature column \"%s\" is named twice", column.name)));
		if (def->target != NULL && strcmp(def->features.text[i], def->target) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column \"%s\" cannot be both a feature and the target", column.name),
					 errhint("Leave it out of \"features\".")));
		if (gnngp_feature_kind_of(column.base) != GNNGP_FEATURE_NONE ||
			(def->features.n == 1 && gnngp_is_vector_type(column.base)))
			continue;
		wrong_type(&column, "a number, a text, an enum, a boolean or a date",
				   "Features are one array column, or columns of numbers, texts, enums, booleans and dates.");
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

/* Why a column is none of the features that '{*}' stands for; NULL: it is one. */
static const char *
why_no_feature(const column_ref *column, const Bitmapset *keys, const gnngp_graph_def *def)
{
	bool		edges = def->nodes == def->edges;

	if (strcmp(column->name, def->id_column) == 0 || bms_is_member(column->attnum, keys))
		return "key";
	if (def->target && strcmp(column->name, def->target) == 0)
		return "target";
	if (edges && (strcmp(column->name, def->src) == 0 || strcmp(column->name, def->dst) == 0 ||
				  (def->weight && strcmp(column->name, def->weight) == 0)))
		return "of the edges";
	return gnngp_feature_kind_of(column->base) == GNNGP_FEATURE_NONE ?
		format_type_be(column->type) : NULL;
}

gnngp_texts
gnngp_all_features(const gnngp_graph_def *def)
{
	Relation	nodes = open_table(def->nodes, "nodes", def->name, &def->nodes_name);
	TupleDesc	desc = RelationGetDescr(nodes);
	Bitmapset  *keys = key_columns(nodes);
	gnngp_texts list = {0, palloc(sizeof(char *) * Max(desc->natts, 1))};
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < desc->natts; i++)
	{
		column_ref	column = column_at(nodes, i + 1);
		const char *why = TupleDescAttr(desc, i)->attisdropped ? NULL :
			why_no_feature(&column, keys, def);

		if (why)
			appendStringInfo(&out, "%s\"%s\" (%s)", out.len > 0 ? ", " : "", column.name, why);
		else if (!TupleDescAttr(desc, i)->attisdropped)
			list.text[list.n++] = pstrdup(column.name);
	}
	if (list.n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("table \"%s\" has no column that can be a feature", shown(nodes)),
				 errhint("Leave \"features\" out for a graph without features.")));
	if (out.len > 0)
		ereport(NOTICE,
				(errmsg("no features of table \"%s\" are %s", shown(nodes), out.data)));
	relation_close(nodes, NoLock);
	return list;
}

/* The first three columns of a table of sparse features. */
static void
check_sparse(const gnngp_graph_def *def, const column_ref *id)
{
	Relation	rel = open_table(def->sparse_features, "sparse_features", def->name,
								 &def->sparse_name);
	TupleDesc	desc = RelationGetDescr(rel);
	column_ref	column[3];
	int			n = 0;

	for (int i = 0; i < desc->natts && n < 3; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			column[n++] = column_at(rel, i + 1);
	if (n < 3)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has too few columns for sparse features",
						shown(rel)),
				 errhint("Its first three columns are the node, the number of the feature and the value.")));
	for (int i = 0; i < 3; i++)
		require_select(&column[i]);
	check_reference(&column[0], id);
	if (!gnngp_is_integer_type(column[1].base))
		wrong_type(&column[1], "an integer type",
				   "The first three columns are the node, the number of the feature and the value.");
	check_number(&column[2]);
	relation_close(rel, NoLock);
}

/* The columns of the edge table that are features of both ends. */
static void
check_edge_features(Relation edges, const gnngp_graph_def *def)
{
	for (int i = 0; i < def->edge_features.n; i++)
	{
		column_ref	column = find_column(edges, def->edge_features.text[i], "features of the edges", "edge_features => '{...}'");

		for (int j = 0; j < i; j++)
			if (strcmp(def->edge_features.text[i], def->edge_features.text[j]) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("edge feature column \"%s\" is named twice", column.name)));
		if (strcmp(column.name, def->src) == 0 || strcmp(column.name, def->dst) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column \"%s\" cannot be both an end of the edges and a feature",
							column.name),
					 errhint("Leave it out of \"edge_features\".")));
		if (!gnngp_is_number_type(column.base) && !gnngp_is_time_type(column.base) &&
			column.base != BOOLOID)
			wrong_type(&column, "a number, a boolean, a date or a timestamp",
					   "Make numbers of it in a view, such as (kind = 'refund')::integer.");
	}
	if (def->edge_features.n > 0 && OidIsValid(def->sparse_features))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"edge_features\" cannot be given with \"sparse_features\""),
				 errhint("Put the features of the nodes into columns of their table.")));
}

static void
check_edges(Relation edges, const gnngp_graph_def *def, const column_ref *id)
{
	column_ref	src = find_column(edges, def->src, SRC_HOLDS, "src => '...'");
	column_ref	dst = find_column(edges, def->dst, "the destinations of the edges", "dst => '...'");
	column_ref	other;

	check_reference(&src, id);
	check_reference(&dst, id);
	if (!OidIsValid(def->nodes) && src.base != dst.base)
		wrong_type(&dst, psprintf("%s, the type of column \"%s\"", format_type_be(src.type), src.name),
				   "Use a view that casts the column.");
	if (src.attnum == dst.attnum)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"src\" and \"dst\" are the same column: \"%s\"", def->src),
				 errhint("Name the columns of the two ends of an edge with the arguments src => '...' and dst => '...'.")));
	if (def->weight)
	{
		other = find_column(edges, def->weight, "the weights of the edges", "weight => '...'");
		check_number(&other);
	}
	if (def->time)
	{
		other = find_column(edges, def->time, "the times of the edges", "time_column => '...'");
		if (!gnngp_is_number_type(other.base) && !gnngp_is_time_type(other.base))
			wrong_type(&other, "a date, a timestamp or a number", "Use a view that casts the column.");
	}
	check_edge_features(edges, def);
}

void
gnngp_check_graph(const gnngp_graph_def *def)
{
	bool		ends = !OidIsValid(def->nodes);
	Relation	edges = open_table(def->edges, "edges", def->name, &def->edges_name);
	Relation	nodes = ends ? open_table(def->edges, "edges", def->name, &def->edges_name) :
		open_table(def->nodes, "nodes", def->name, &def->nodes_name);
	column_ref	id = find_column(nodes, def->id_column, ends ? SRC_HOLDS : "the ids of the nodes",
								 ends ? "src => '...'" : "id => '...'");

	if (def->target)
	{
		column_ref	column = find_column(nodes, def->target, "the labels", "target => '...'");

		/* Any type has classes or values, but the numbers of a vector are features. */
		if (gnngp_is_vector_type(column.base))
			wrong_type(&column, "a class or a value",
					   psprintf("A column of vectors holds features: features => %s.",
								quote_literal_cstr(psprintf("{%s}", quote_identifier(column.name)))));
	}
	check_features(nodes, def);
	check_edges(edges, def, &id);
	if (OidIsValid(def->sparse_features))
	{
		if (strcmp(def->scale, "standard") == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("sparse features cannot be standardised"),
					 errhint("That would make them dense; use scale => 'length' for rows of "
							 "length one.")));
		check_sparse(def, &id);
	}
	relation_close(edges, NoLock);
	relation_close(nodes, NoLock);
}
