/*
 * predict_support.c - how many rows the planner may expect of predictions.
 *
 * A model's row knows its nodes and classes.  Whatever cannot be told while
 * planning is left to the function's own ROWS.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "pg/catalog/catalog.h"
#include "pg/ids/ids.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/* An argument, simplified. */
static Node *
argument(PlannerInfo *root, List *args, int i)
{
	return eval_const_expressions(root, list_nth(args, i));
}

/* An argument when it is a constant. */
static Const *
constant(PlannerInfo *root, List *args, int i)
{
	Node	   *node = argument(root, args, i);

	return IsA(node, Const) ? (Const *) node : NULL;
}

/* The model that a call names, when that is known and can be seen. */
static gnngp_model *
call_model(SupportRequestRows *req, List *args)
{
	Const	   *name = constant(req->root, args, 0);

	if (name == NULL || name->constisnull || !ActiveSnapshotSet())
		return NULL;
	return gnngp_model_lookup(TextDatumGetCString(name->constvalue), true);
}

/* The arguments of the call that is asked about; NIL when it is none of so many. */
static List *
call_arguments(SupportRequestRows *req, int n)
{
	List	   *args = NIL;

	if (req->node != NULL && IsA(req->node, FuncExpr))
		args = ((FuncExpr *) req->node)->args;
	return list_length(args) == n ? args : NIL;
}

/* The elements of an array, or of a literal that lists some. */
static double
count_elements(Const *given, bool array)
{
	double		n = 1;

	if (array)
	{
		ArrayType  *value = DatumGetArrayTypeP(given->constvalue);

		return ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
	}
	for (const char *s = TextDatumGetCString(given->constvalue); *s; s++)
		n += *s == ',';
	return n;
}

/* The nodes that an argument names, of so many when it is NULL. */
static double
count_nodes(Node *nodes, double all)
{
	Const	   *given = IsA(nodes, Const) ? (Const *) nodes : NULL;
	Oid			type = exprType(nodes);
	bool		array = OidIsValid(get_element_type(getBaseType(type))) || gnngp_is_integers(type);

	if (given && given->constisnull)
		return all;
	if (!array && (type == TEXTOID || getBaseType(type) != TEXTOID))
		return 1;
	/* The planner, too, takes arrays that it does not know to have ten elements. */
	return Min(all, given ? count_elements(given, array) : 10);
}

/* The nodes that gp_predict gives where none are named. */
static double
all_nodes(Const *unlabelled_only, const gnngp_model *model)
{
	if (unlabelled_only && !unlabelled_only->constisnull &&
		DatumGetBool(unlabelled_only->constvalue))
		return (double) (model->nodes - model->labelled);
	return (double) model->nodes;
}

/* The rows of each node. */
static double
count_classes(Const *top, const gnngp_model *model)
{
	double		classes = Max(model->classes, 1);

	if (top == NULL)
		return 1;
	if (top->constisnull)
		return classes;
	return Max(1, Min(classes, DatumGetInt32(top->constvalue)));
}

/* Answers the planner's question for rows of gp_predict(model, nodes, top, unlabelled_only,
 * class). */
PG_FUNCTION_INFO_V1(gnngp_predict_support);
Datum
gnngp_predict_support(PG_FUNCTION_ARGS)
{
	SupportRequestRows *req = (SupportRequestRows *) PG_GETARG_POINTER(0);
	List	   *args = IsA(req, SupportRequestRows) ? call_arguments(req, 5) : NIL;
	gnngp_model *model = args ? call_model(req, args) : NULL;
	double		all;

	if (model == NULL || exprType(lthird(args)) != INT4OID)
		PG_RETURN_POINTER(NULL);
	all = all_nodes(constant(req->root, args, 3), model);
	req->rows = Max(1, count_nodes(argument(req->root, args, 1), all) *
					count_classes(constant(req->root, args, 2), model));
	PG_RETURN_POINTER(req);
}

/* The rows of gp_predict_links(model, nodes, k, candidates, among): k for each node. */
static double
count_best_links(PlannerInfo *root, List *args, const gnngp_model *model)
{
	double		nodes = (double) model->link.nodes;
	Const	   *k = constant(root, args, 2);
	double		per_node = 10;

	if (k)
		per_node = k->constisnull ? 100 : Max(DatumGetInt32(k->constvalue), 1);
	return Min(per_node, nodes) * count_nodes(argument(root, args, 1), nodes);
}

/* The same for gp_predict_links, and for gp_score_links(model, src, dst). */
PG_FUNCTION_INFO_V1(gnngp_links_support);
Datum
gnngp_links_support(PG_FUNCTION_ARGS)
{
	SupportRequestRows *req = (SupportRequestRows *) PG_GETARG_POINTER(0);
	bool		asked = IsA(req, SupportRequestRows);
	List	   *pairs = asked ? call_arguments(req, 3) : NIL;
	List	   *args = asked ? call_arguments(req, 5) : NIL;
	gnngp_model *model = args ? call_model(req, args) : NULL;

	if (pairs)
		req->rows = Max(1, count_nodes(argument(req->root, pairs, 1), PG_INT32_MAX));
	else if (model && exprType(lthird(args)) == INT4OID)
		req->rows = Max(1, count_best_links(req->root, args, model));
	else
		PG_RETURN_POINTER(NULL);
	PG_RETURN_POINTER(req);
}
