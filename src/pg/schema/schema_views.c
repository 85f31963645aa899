/*
 * schema_views.c - what views read: rows without a time may be made of rows that have one.
 *
 * A view that sums up a customer's orders shows the orders to come, too.  The time of the newest of
 * them is no time of its row: that the row is there then tells that no other order follows.  A view
 * of single rows, even of several tables, shows what these show.  What functions in a view read is
 * not followed.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/prs2lock.h"
#include "schema_internal.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* True where a query makes a row of several, or chooses it by others. */
static bool
gathers_rows(const Query *q)
{
	return q->hasAggs || q->hasWindowFuncs || q->hasSubLinks || q->groupClause != NIL ||
		q->groupingSets != NIL || q->distinctClause != NIL || q->limitCount != NULL ||
		q->limitOffset != NULL;
}

/* What a view selects, of its relation, which stays locked; NULL: no view. */
static Query *
view_query(Oid oid, Relation *rel)
{
	char		kind = get_rel_relkind(oid);

	*rel = kind == RELKIND_VIEW || kind == RELKIND_MATVIEW ? relation_open(oid, AccessShareLock) :
		NULL;
	for (int i = 0; *rel && (*rel)->rd_rules && i < (*rel)->rd_rules->numLocks; i++)
		if ((*rel)->rd_rules->rules[i]->event == CMD_SELECT)
			return linitial_node(Query, (*rel)->rd_rules->rules[i]->actions);
	return NULL;
}

/* Notes what a query reads, and how. */
static bool
look_at_query(Node *node, void *table)
{
	gnngp_schema_table *t = table;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		if (((RangeTblEntry *) node)->rtekind == RTE_RELATION)
			gnngp_find_reads(t, ((RangeTblEntry *) node)->relid);
		return false;
	}
	if (IsA(node, SetOperationStmt))	/* UNION ALL alone leaves each row as it is */
		t->gathers = t->gathers || ((SetOperationStmt *) node)->op != SETOP_UNION ||
			!((SetOperationStmt *) node)->all;
	if (!IsA(node, Query))
		return expression_tree_walker(node, look_at_query, table);
	t->gathers = t->gathers || gathers_rows((Query *) node);
	return query_tree_walker((Query *) node, look_at_query, table, QTW_EXAMINE_RTES_BEFORE);
}

void
gnngp_find_reads(gnngp_schema_table *t, Oid oid)
{
	Relation	rel;

	/* Once: a rule may name its own view. */
	if (list_member_oid(t->reads, oid))
		return;
	t->reads = lappend_oid(t->reads, oid);
	(void) look_at_query((Node *) view_query(oid, &rel), t);
	if (rel)
		relation_close(rel, NoLock);
}

bool
gnngp_find_origin(Oid *table, AttrNumber *column)
{
	gnngp_schema_table t = {.table = {.oid = *table}};
	Relation	rel;
	Query	   *q;

	gnngp_find_reads(&t, *table);
	while (!t.gathers && (q = view_query(*table, &rel)) != NULL)
	{
		TargetEntry *shown = get_tle_by_resno(q->targetList, *column);

		*table = shown ? shown->resorigtbl : InvalidOid;
		*column = shown ? shown->resorigcol : InvalidAttrNumber;
		relation_close(rel, NoLock);
	}
	return !t.gathers && *column > 0;
}

/* True for a partition of a table, or what inherits from it. */
static bool
is_part(Oid part, Oid table)
{
	Oid			type[] = {get_rel_type_id(part), get_rel_type_id(table)};

	return OidIsValid(type[0]) && OidIsValid(type[1]) && typeInheritsFrom(type[0], type[1]);
}

bool
gnngp_table_reads(const gnngp_schema_table *t, Oid oid)
{
	ListCell   *cell;

	foreach(cell, t->reads)
		if (lfirst_oid(cell) == oid || is_part(lfirst_oid(cell), oid) ||
			is_part(oid, lfirst_oid(cell)))
			return true;
	return false;
}
