/*
 * label_scans.c - tables that a task's expressions read all of for each label, for want of an
 * index.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "task.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

#define LONG 5e6				/* by the planner's cost: some ten seconds */

/* The scan of a plan that costs most, of those that compare columns with what is outside. */
typedef struct costly_scan
{
	const SeqScan *scan;
	double		cost;
	List	   *equal;			/* numbers of its columns that are compared with that, */
	List	   *ordered;		/* by an operator that an index on them could serve */
} costly_scan;

/* True where an expression has a value from outside of its query. */
static bool
is_outer(Node *node, void *unused)
{
	return node != NULL && ((IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC) ||
							expression_tree_walker(node, is_outer, NULL));
}

/* The column of a scan that an expression is; 0: none. */
static AttrNumber
column_of(Node *node)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) ? Max(((Var *) node)->varattno, 0) : 0;
}

static void
find_compared(const SeqScan *scan, costly_scan *found)
{
	ListCell   *cell;

	*found = (costly_scan) {.scan = scan,.cost = scan->scan.plan.total_cost};
	foreach(cell, scan->scan.plan.qual)
	{
		const OpExpr *compare = lfirst(cell);

		if (!IsA(compare, OpExpr) || list_length(compare->args) != 2)
			continue;
		int			side = is_outer(linitial(compare->args), NULL);
		AttrNumber	column = column_of(list_nth(compare->args, side));
		if (column == 0 || !is_outer(list_nth(compare->args, 1 - side), NULL))
			continue;
		switch (get_oprrest(compare->opno))
		{
			case F_EQSEL:
				found->equal = list_append_unique_int(found->equal, column);
				break;
			case F_SCALARLTSEL:
			case F_SCALARLESEL:
			case F_SCALARGTSEL:
			case F_SCALARGESEL:
				found->ordered = list_append_unique_int(found->ordered, column);
				break;
		}
	}
}

/* Looks at all scans of a plan that is run again for each label. */
static void
look_at(const Plan *plan, costly_scan *most)
{
	ListCell   *cell;

	if (plan == NULL)
		return;
	if (IsA(plan, SeqScan) && plan->total_cost > most->cost)
	{
		costly_scan found;

		find_compared((const SeqScan *) plan, &found);
		if (found.equal != NIL)
			*most = found;
	}
	if (IsA(plan, Append))
		foreach(cell, ((const Append *) plan)->appendplans)
			look_at(lfirst(cell), most);
	if (IsA(plan, SubqueryScan))
		look_at(((const SubqueryScan *) plan)->subplan, most);
	look_at(plan->lefttree, most);
	look_at(plan->righttree, most);
}

static char *
index_statement(Oid table, List *columns)
{
	StringInfoData text;
	ListCell   *cell;

	initStringInfo(&text);
	foreach(cell, columns)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "",
						 quote_identifier(get_attname(table, lfirst_int(cell), false)));
	return psprintf("CREATE INDEX ON %s (%s)",
					quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
											   get_rel_name(table)), text.data);
}

void
gnngp_notice_scans(SPIPlanPtr plan, const gnngp_graph_def *task, int64 labels)
{
	CachedPlan *cached = SPI_plan_get_cached_plan(plan);
	const PlannedStmt *statement = linitial_node(PlannedStmt, cached->stmt_list);
	costly_scan most = {0};
	ListCell   *cell;

	foreach(cell, statement->subplans)
	{
		const Plan *plan = lfirst(cell);
		costly_scan found = {0};

		/* What depends on nothing outside is run once. */
		if (plan == NULL || bms_is_empty(plan->extParam))
			continue;
		look_at(plan, &found);
		/* EXISTS ends with the first of its rows. */
		found.cost /= Max(plan->plan_rows, 1.0);
		if (found.cost > most.cost)
			most = found;
	}
	if (most.cost * (double) labels > LONG)
	{
		Oid			table = rt_fetch(most.scan->scan.scanrelid, statement->rtable)->relid;

		gnngp_notice(psprintf("An index makes it fast: %s.",
							  index_statement(table, list_concat(most.equal, most.ordered))),
					 "task \"%s\" reads all of table \"%s\" for each of up to %lld labels",
					 task->name, gnngp_shown_oid(table), (long long) labels);
	}
	ReleaseCachedPlan(cached, NULL);
}
