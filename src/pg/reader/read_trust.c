/*
 * read_trust.c - whose code a superuser runs by reading a table.
 *
 * Code behind a table runs with the rights of the role that reads, and
 * SECURITY_RESTRICTED_OPERATION does not take a superuser's.  A superuser therefore reads no view
 * and no foreign table of a role that is no superuser, and nothing that runs a function of such a
 * role: a view's, a cast's, or one that the planner runs where it stands in an index, a check
 * constraint, a partition key or statistics.  Policies are not looked at: they do not hold for
 * superusers, nor for their views.
 */
#include "postgres.h"

#include "catalog/pg_inherits.h"
#include "nodes/nodeFuncs.h"
#include "reader.h"

/*
 * All that stands behind the relations of $1, by their dependencies, with the functions of $2, and
 * the first of it that is code of a role without superuser's rights.  Built-in objects have no
 * dependencies and are not followed.
 */
static const char *const query =
"WITH RECURSIVE behind (class, object) AS ("
" (SELECT 'pg_class'::regclass::oid, r FROM unnest($1) r"
"  UNION ALL SELECT 'pg_proc'::regclass, f FROM unnest($2) f)"
" UNION"
" SELECT n.class, n.object FROM behind b CROSS JOIN LATERAL ("
/* what it is made of */
"  SELECT d.refclassid, d.refobjid FROM pg_depend d"
"   WHERE d.classid = b.class AND d.objid = b.object AND b.class <> 'pg_proc'::regclass"
"    AND (d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)"
"     OR (d.refclassid = 'pg_class'::regclass AND b.class = 'pg_rewrite'::regclass))"
"  UNION ALL"
/* a view's query, a table's or domain's constraints, a table's statistics */
"  SELECT d.classid, d.objid FROM pg_depend d"
"   WHERE d.refclassid = b.class AND d.refobjid = b.object"
"    AND b.class IN ('pg_class'::regclass, 'pg_type'::regclass)"
"    AND ((d.deptype = 'i' AND d.classid = 'pg_rewrite'::regclass)"
"     OR (d.deptype = 'a' AND d.classid IN ('pg_constraint'::regclass, 'pg_statistic_ext'::regclass)))"
"  UNION ALL"
"  SELECT 'pg_class'::regclass, i.indexrelid FROM pg_index i"
"   WHERE b.class = 'pg_class'::regclass AND i.indrelid = b.object"
"  UNION ALL"
/* a type's casts, of which a query of columns may take one */
"  SELECT 'pg_proc'::regclass, c.castfunc FROM pg_cast c"
"   WHERE b.class = 'pg_type'::regclass AND c.castsource = b.object AND c.castfunc <> 0"
"  UNION ALL"
/* inheritance children and partitions */
"  SELECT 'pg_class'::regclass, i.inhrelid FROM pg_inherits i"
"   WHERE b.class = 'pg_class'::regclass AND i.inhparent = b.object) n (class, object))"
" SELECT coalesce(pg_describe_object(b.class, b.object, 0), 'an object that was dropped'), a.rolname::text"
" FROM behind b"
"  LEFT JOIN pg_class c ON b.class = 'pg_class'::regclass AND c.oid = b.object AND c.relkind IN ('v', 'f')"
"  LEFT JOIN pg_proc p ON b.class = 'pg_proc'::regclass AND p.oid = b.object"
"  JOIN pg_authid a ON a.oid = coalesce(c.relowner, p.proowner)"
" WHERE NOT a.rolsuper LIMIT 1";

/* True for a table that runs no code but that of its owner, who is a superuser. */
static bool
is_plain(Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(oid));
	bool		plain = false;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class class = (Form_pg_class) GETSTRUCT(tuple);

		plain = (class->relkind == RELKIND_RELATION || class->relkind == RELKIND_MATVIEW) &&
			!class->relhassubclass && superuser_arg(class->relowner);
		ReleaseSysCache(tuple);
	}
	return plain;
}

/* Notes a function that is no built-in one. */
static bool
note_function(Oid function, void *functions)
{
	if (function >= FirstNormalObjectId)
		*(List **) functions = list_append_unique_oid(*(List **) functions, function);
	return false;
}

/* Collects the functions that a query calls itself: those of its views are behind its relations,
 * too. */
static bool
collect_functions(Node *node, void *functions)
{
	if (node == NULL)
		return false;
	(void) check_functions_in_node(node, note_function, functions);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, collect_functions, functions, 0);
	return expression_tree_walker(node, collect_functions, functions);
}

static Datum
oid_array(const List *list)
{
	Datum	   *oid = palloc(sizeof(Datum) * Max(list_length(list), 1));

	for (int i = 0; i < list_length(list); i++)
		oid[i] = ObjectIdGetDatum(list_nth_oid(list, i));
	return gnngp_make_array(oid, list_length(list), OIDOID);
}

void
gnngp_require_trust(const char *table, const CachedPlanSource *source)
{
	static Oid	types[] = {OIDARRAYOID, OIDARRAYOID};
	static SPIPlanPtr plan = NULL;	/* of the session: planning takes longer than a small read */
	List	   *relations = NIL;
	List	   *functions = NIL;
	Datum		arrays[2];
	ListCell   *cell;

	if (!superuser_arg(GetUserId()))
		return;
	foreach(cell, source->relationOids)
		if (!is_plain(lfirst_oid(cell)))
			relations = lappend_oid(relations, lfirst_oid(cell));
	(void) collect_functions((Node *) source->query_list, &functions);
	if (relations == NIL && functions == NIL)
		return;
	arrays[0] = oid_array(relations);
	arrays[1] = oid_array(functions);
	/* As the catalogs are now: the transaction's snapshot may be older, or not be taken yet, as it
	 * is for the parallel workers that plans of SPI_prepare never have. */
	PushActiveSnapshot(GetCatalogSnapshot(InheritsRelationId));
	if (plan == NULL)
	{
		SPIPlanPtr	prepared = SPI_prepare_cursor(query, 2, types, CURSOR_OPT_GENERIC_PLAN);

		SPI_keepplan(prepared);
		plan = prepared;
	}
	if (SPI_execute_plan(plan, arrays, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "a query of what stands behind tables failed");
	PopActiveSnapshot();
	if (SPI_processed > 0)
	{
		char	   *what = gnngp_found_text(0, 1);
		char	   *owner = gnngp_found_text(0, 2);

		gnngp_raise_detail(INSUFFICIENT_PRIVILEGE, psprintf("The code is that of %s.", what),
						   psprintf("Let role \"%s\" or another ordinary role own the graph and call its functions; gp_set_owner gives a graph away.", owner),
						   "a superuser cannot read table \"%s\" for a graph: that would run code of role \"%s\"", table, owner);
	}
	SPI_freetuptable(SPI_tuptable);
}
