/*
 * read_source.c - tables that are locked before they are looked at, and queries over them.
 *
 * The lock and the comparison of types each keep a callback from taking another table's datums when
 * somebody swaps tables at this moment.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "read_source.h"
#include "reader.h"
#include "utils/fmgroids.h"

/* Columns that a hint lists at most. */
#define HINT_COLUMNS 10

/* Rows between two progress reports. */
#define PROGRESS_ROWS 8192

/* Rows of a table whose scan takes as long as a look into an index, about. */
#define ROWS_A_LOOK 32

/* A run of a query, and how far it is. */
typedef struct query_run
{
	gp_env	   *env;
	gnngp_row_fn row;
	void	   *state;
	gp_phase	phase;
	int64		done;
	int64		total;
} query_run;

/* The lock that keeps a table from being altered or truncated while it is read. */
static bool
lock_table(Oid oid)
{
#ifndef GNNGP_TEST_WITHOUT_LOCKS
	Relation	rel = try_relation_open(oid, AccessShareLock);

	if (rel == NULL)
		return false;
	relation_close(rel, NoLock);
#endif
	return true;
}

/* A call that has a graph read another table; a task is made again. */
static const char *
alter_call(const gnngp_graph_def *def, const char *argument, const char *table)
{
	if (def->task.form)
		return psprintf("gp_drop_graph(%s), and gp_create_task again", quote_literal_cstr(def->name));
	return psprintf("gp_alter_graph(%s, %s => %s)", quote_literal_cstr(def->name), argument,
					def->tables.tables.oid ? "'{...}'" : table);
}

/* A table as an argument of such a call. */
static const char *
table_literal(const char *schema, const char *table)
{
	return quote_literal_cstr(quote_qualified_identifier(schema, table));
}

gnngp_table
gnngp_table_open(Oid oid, const gnngp_source_name *given, char kind, const char *argument,
				 const gnngp_graph_def *def)
{
	gnngp_table table = {.oid = oid};
	char	   *name = OidIsValid(oid) && lock_table(oid) ? get_rel_name(oid) : NULL;
	char	   *schema = name ? get_namespace_name(get_rel_namespace(oid)) : NULL;
	Oid			given_schema = given->schema ? get_namespace_oid(given->schema, true) : InvalidOid;
	Oid			of_name = OidIsValid(given_schema) ? get_relname_relid(given->table, given_schema)
		: InvalidOid;
	bool		renamed = schema == NULL || given->table == NULL ||
		strcmp(name, given->table) != 0 || strcmp(schema, given->schema) != 0;
	bool		replaced = renamed && OidIsValid(of_name) && of_name != oid;

	if (schema == NULL || replaced)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 given->table ? errmsg("table \"%s\" of graph \"%s\" %s",
									   gnngp_shown_table(given->schema, given->table),
									   def->name, replaced ? "was replaced"
									   : "no longer exists")
				 : errmsg("a table of graph \"%s\" no longer exists", def->name),
				 errhint("To read %s, run SELECT %s.",
						 replaced ? "the table that has this name now" : "another table",
						 alter_call(def, argument,
									replaced ? table_literal(given->schema, given->table) : "..."))));
	table.name = gnngp_shown_table(schema, name);
	table.quoted = quote_qualified_identifier(schema, name);
	char		now = get_rel_relkind(oid);
	if (now != kind)
		gnngp_raise(WRONG_OBJECT_TYPE,
					psprintf("To read it as it is now, run SELECT %s.",
							 alter_call(def, argument, table_literal(schema, name))),
					"\"%s\" of graph \"%s\" has become a %s since the graph was made", table.name,
					def->name,
					now == RELKIND_VIEW ? "view" : now == RELKIND_MATVIEW ? "materialized view" :
					now == RELKIND_FOREIGN_TABLE ? "foreign table" :
					now == RELKIND_PARTITIONED_TABLE ? "partitioned table" : "table");
	return table;
}

int64
gnngp_table_rows(const gnngp_table *table)
{
	double		rows = 0;
	ListCell   *cell;

	/* Of a partitioned table only its partitions are sure to be counted. */
	foreach(cell, get_rel_relkind(table->oid) == RELKIND_PARTITIONED_TABLE ?
			find_all_inheritors(table->oid, NoLock, NULL) : list_make1_oid(table->oid))
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!HeapTupleIsValid(tuple))
			continue;
		Form_pg_class class = (Form_pg_class) GETSTRUCT(tuple);
		if (class->relkind != RELKIND_PARTITIONED_TABLE)
			rows += Max(class->reltuples, 0);
		ReleaseSysCache(tuple);
	}
	return (int64) rows;
}

const char *
gnngp_columns_there(const gnngp_table *table, const char *name)
{
	Relation	rel = relation_open(table->oid, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);
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

gnngp_column
gnngp_table_column(const gnngp_table *table, const char *name)
{
	gnngp_column column = {name, quote_identifier(name), InvalidOid, InvalidOid};
	AttrNumber	attnum = get_attnum(table->oid, name);

	if (attnum == InvalidAttrNumber)
		gnngp_raise(UNDEFINED_COLUMN,
					psprintf("%s Of a graph, gp_alter_graph names another one.",
							 gnngp_columns_there(table, name)),
					"column \"%s\" of table \"%s\" does not exist", name, table->name);
	column.type = get_atttype(table->oid, attnum);
	column.base = getBaseType(column.type);
	return column;
}

void
gnngp_wrong_type(const gnngp_table *table, const gnngp_column *column, const char *expected,
				 const char *hint)
{
	gnngp_raise(DATATYPE_MISMATCH, hint ? hint : "Use a view that casts the column.",
				"column \"%s\" of table \"%s\" has type %s, not %s", column->name, table->name,
				format_type_be(column->type), expected);
}

void
gnngp_require_reference(const gnngp_table *table, const gnngp_column *column,
						const gnngp_table *nodes, const gnngp_column *id)
{
	if (!gnngp_matches_id_type(column->base, id->base))
		gnngp_wrong_type(table, column,
						 psprintf("%s, the type of column \"%s\" of table \"%s\"",
								  format_type_be(id->type), id->name, nodes->name), NULL);
}

gnngp_column
gnngp_table_number(const gnngp_table *table, const char *name)
{
	gnngp_column column = gnngp_table_column(table, name);

	if (!gnngp_is_number_type(column.base))
		gnngp_wrong_type(table, &column, "a numeric type", NULL);
	return column;
}

gnngp_column
gnngp_table_time(const gnngp_table *table, const char *name)
{
	gnngp_column column = gnngp_table_column(table, name);

	if (!gnngp_is_number_type(column.base) && !gnngp_is_time_type(column.base))
		gnngp_wrong_type(table, &column, "a date, a timestamp or a number", NULL);
	return column;
}

const char *
gnngp_table_column_name(const gnngp_table *table, int n)
{
	Relation	rel = relation_open(table->oid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	const char *name = NULL;

	for (int i = 0; i < desc->natts && name == NULL; i++)
		if (!TupleDescAttr(desc, i)->attisdropped && n-- == 0)
			name = pstrdup(NameStr(TupleDescAttr(desc, i)->attname));
	relation_close(rel, NoLock);
	if (name == NULL)
		gnngp_raise(UNDEFINED_COLUMN,
					"Its first three columns are the node, the number of the feature and the value.",
					"table \"%s\" has too few columns for sparse features", table->name);
	return name;
}

void
gnngp_query_init(gnngp_query *q, const gnngp_table *table)
{
	*q = (gnngp_query) {.table = table};
	initStringInfo(&q->list);
}

int
gnngp_query_add_text(gnngp_query *q, Oid type, char *expression)
{
	appendStringInfo(&q->list, "%s%s", q->types == NIL ? "" : ", ", expression);
	q->types = lappend_oid(q->types, type);
	q->expressions = lappend(q->expressions, expression);
	return list_length(q->types) - 1;
}

const char *
gnngp_number_cast(Oid base)
{
	return base == CASHOID ? "::pg_catalog.numeric::pg_catalog.float8" : "::pg_catalog.float8";
}

void
gnngp_query_add_number(gnngp_query *q, const gnngp_column *column)
{
	if (column->base == NUMERICOID)
		gnngp_query_add(q, NUMERICOID, "t.%s", column->quoted);
	else
		gnngp_query_add(q, FLOAT8OID, "t.%s%s", column->quoted, gnngp_number_cast(column->base));
}

void
gnngp_query_add_time(gnngp_query *q, const gnngp_column *column)
{
	if (gnngp_is_time_type(column->base))
		gnngp_query_add(q, FLOAT8OID, "pg_catalog.date_part('epoch', t.%s)", column->quoted);
	else
		gnngp_query_add_number(q, column);
}

/* The file of a relation as a snapshot shows it. */
static Oid
file_at(Oid oid, Snapshot snapshot)
{
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	Oid			file = InvalidOid;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(oid));
	SysScanDesc scan = systable_beginscan(catalog, ClassOidIndexId, true, snapshot, 1, &key);
	HeapTuple	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		file = ((Form_pg_class) GETSTRUCT(tuple))->relfilenode;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return file;
}

/*
 * A table that was truncated or rewritten after the snapshot was taken looks
 * empty to it.  Only a transaction whose one snapshot is older than our locks
 * can be in that place: not one that has yet to take it.
 */
static void
check_age(const CachedPlan *plan)
{
	ListCell   *cell;

	if (!IsolationUsesXactSnapshot() || !FirstSnapshotSet)
		return;
	foreach(cell, linitial_node(PlannedStmt, plan->stmt_list)->relationOids)
	{
		Oid			oid = lfirst_oid(cell);

		if (file_at(oid, GetTransactionSnapshot()) != file_at(oid, NULL))
			gnngp_raise(T_R_SERIALIZATION_FAILURE, "The transaction might succeed if retried.",
						"could not serialize access: table \"%s\" was truncated or rewritten after this transaction began",
						gnngp_shown_oid(oid));
	}
}

/* True when a plan looks up the elements of an array in an index. */
static bool
looks_up(const PlannedStmt *stmt)
{
	const Plan *plan = stmt->planTree;
	List	   *conditions = NIL;
	ListCell   *cell;

	if (plan && IsA(plan, BitmapHeapScan))
		plan = plan->lefttree;
	if (plan && IsA(plan, IndexScan))
		conditions = ((const IndexScan *) plan)->indexqual;
	else if (plan && IsA(plan, IndexOnlyScan))
		conditions = ((const IndexOnlyScan *) plan)->indexqual;
	else if (plan && IsA(plan, BitmapIndexScan))
		conditions = ((const BitmapIndexScan *) plan)->indexqual;
	foreach(cell, conditions)
		if (IsA(lfirst(cell), ScalarArrayOpExpr))
			return true;
	return false;
}

/*
 * Plans a query: parsing and rewriting lock the tables behind a view, planning
 * those under a partitioned one.  The name must have led to the table that was
 * locked, though a schema can be renamed beside that lock.
 */
static SPIPlanPtr
prepare(gnngp_query *q, const char *where)
{
	char	   *sql = psprintf("SELECT %s FROM %s t%s%s%s%s%s%s%s", q->list.data, q->table->quoted,
							   q->joins ? q->joins : "", where || q->condition ? " WHERE " : "",
							   where ? where : "", where && q->condition ? " AND " : "",
							   q->condition ? q->condition : "", q->order ? " ORDER BY " : "",
							   q->order ? q->order : "");
	SPIPlanPtr	prepared = SPI_prepare(sql, where ? 1 : 0, where ? &q->array_type : NULL);

	if (prepared == NULL)
		elog(ERROR, "preparing a query returned %s", SPI_result_code_string(SPI_result));
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(prepared));
	gnngp_require_trust(q->table->name, source);
	CachedPlan *plan = SPI_plan_get_cached_plan(prepared);
	check_age(plan);
	if (where)
		q->by_index = looks_up(linitial_node(PlannedStmt, plan->stmt_list));
	ReleaseCachedPlan(plan, NULL);
#ifndef GNNGP_TEST_WITHOUT_LOCKS
	if (!list_member_oid(source->relationOids, q->table->oid))
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Try again.",
					"table \"%s\" changed while it was read", q->table->name);
#else
	(void) source;
#endif
	return prepared;
}

void
gnngp_query_plan(gnngp_query *q)
{
	q->plan = prepare(q, q->where);
	q->whole = q->where && q->by_index ? prepare(q, NULL) : q->plan;
	q->rows = q->by_index ? gnngp_table_rows(q->table) : 0;
}

bool
gnngp_query_is_apart(const gnngp_query *q)
{
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(q->plan));
	ListCell   *cell;

	foreach(cell, source->relationOids)
		if (gnngp_citus_has_table(lfirst_oid(cell)))
			return true;
	return false;
}

/* Hands one row to the query's callback and counts it. */
static void
count_row(void *state, const Datum *values, const bool *nulls)
{
	query_run  *run = state;

	run->row(run->state, values, nulls);
	if (++run->done % PROGRESS_ROWS != 0)
		return;
	run->env->check_interrupts(run->env);
	run->env->progress(run->env, run->phase, run->done, run->total);
}

/*
 * By an index an element takes as long as a scan takes for some dozens of rows, with all in memory.
 */
bool
gnngp_query_scans(const gnngp_query *q)
{
	if (!q->by_index || q->rows == 0)
		return false;
	ArrayType  *array = DatumGetArrayTypeP(q->array);
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) >= q->rows / ROWS_A_LOOK;
}

void
gnngp_query_run(const gnngp_query *q, gp_env *env, gnngp_row_fn row, void *state, gp_phase phase,
				int64 total)
{
	query_run	run = {env, row, state, phase, 0, total};
	int			n = list_length(q->types);
	Oid		   *types = palloc(sizeof(Oid) * n);
	gnngp_sink	rows = {.row = count_row,.state = &run,.n = n,.types = types,
						.source = q->table->name};
	bool		restricted = q->where && !gnngp_query_scans(q);
	int			guc_level = NewGUCNestLevel();

	for (int i = 0; i < n; i++)
		types[i] = list_nth_oid(q->types, i);
#ifdef GNNGP_TEST_WITHOUT_TYPES
	rows.types = NULL;
#endif
	if (restricted)
		gnngp_pin("plan_cache_mode", q->by_index ? "force_generic_plan" : "force_custom_plan");
	env->progress(env, phase, 0, total);
	gnngp_each_row(q->where && !restricted ? q->whole : q->plan, NULL, restricted ? 1 : 0,
				   &q->array_type, &q->array, &rows);
	AtEOXact_GUC(false, guc_level);
	env->progress(env, phase, run.done, run.done);
}
