/*
 * predict_support.c - how many rows the planner may expect of predictions.
 *
 * A model's row knows its nodes and classes.  Whatever cannot be told while
 * planning is left to the function's own ROWS.
 */
#include "postgres.h"

#include "catalog.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

/* The arguments of a call, as far as they are constants. */
typedef struct predict_call
{
	Const	   *model;
	Const	   *top;
	Const	   *unlabelled_only;
	Node	   *nodes;			/* the array or the id: a Const, or something else */
	bool		array;
} predict_call;

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

/* Takes a call apart; false when it is none of gp_predict's forms. */
static bool
read_call(SupportRequestRows *req, predict_call *call)
{
	List	   *args;

	memset(call, 0, sizeof(*call));
	if (req->node == NULL || !IsA(req->node, FuncExpr))
		return false;
	args = ((FuncExpr *) req->node)->args;
	if (list_length(args) != 4)
		return false;
	call->array = exprType(list_nth(args, 3)) == INT8ARRAYOID;
	call->model = constant(req->root, args, 0);
	call->top = constant(req->root, args, call->array ? 1 : 2);
	call->unlabelled_only = constant(req->root, args, call->array ? 2 : 3);
	call->nodes = argument(req->root, args, call->array ? 3 : 1);
	return call->model != NULL && !call->model->constisnull;
}

/* The nodes that a call asks for. */
static double
count_nodes(const predict_call *call, const gnngp_model *model)
{
	Const	   *given = IsA(call->nodes, Const) ? (Const *) call->nodes : NULL;
	double		all = (double) model->nodes;

	if (call->unlabelled_only && !call->unlabelled_only->constisnull &&
		DatumGetBool(call->unlabelled_only->constvalue))
		all = (double) (model->nodes - model->labelled);
	if (given && given->constisnull)
		return all;
	if (!call->array)
		return 1;
	if (given)
	{
		ArrayType  *array = DatumGetArrayTypeP(given->constvalue);

		return Min(all, ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
	}
	return Min(all, 10);		/* as the planner takes arrays that it does not know */
}

/* The rows of each node. */
static double
count_classes(const predict_call *call, const gnngp_model *model)
{
	double		classes = Max(model->classes, 1);

	if (call->top == NULL)
		return 1;
	if (call->top->constisnull)
		return classes;
	return Max(1, Min(classes, DatumGetInt32(call->top->constvalue)));
}

PG_FUNCTION_INFO_V1(gnngp_predict_support);

/* Answers the planner's question for rows. */
Datum
gnngp_predict_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestRows *req = (SupportRequestRows *) request;
	predict_call call;
	gnngp_model *model;

	if (!IsA(request, SupportRequestRows) || !ActiveSnapshotSet() || !read_call(req, &call))
		PG_RETURN_POINTER(NULL);
	model = gnngp_model_lookup(TextDatumGetCString(call.model->constvalue), true);
	if (model == NULL)
		PG_RETURN_POINTER(NULL);
	req->rows = Max(1, count_nodes(&call, model) * count_classes(&call, model));
	PG_RETURN_POINTER(request);
}

/* The elements of an array argument; all when it is NULL. */
static double
count_elements(Node *array, double all)
{
	Const	   *given = IsA(array, Const) ? (Const *) array : NULL;
	ArrayType  *value;

	if (given == NULL)
		return 10;				/* as the planner takes arrays that it does not know */
	if (given->constisnull)
		return all;
	if (given->consttype == TEXTOID)
		return 10;
	value = DatumGetArrayTypeP(given->constvalue);
	return ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
}

/* The rows of gp_predict_links: k for each node. */
static double
count_best_links(PlannerInfo *root, List *args, const gnngp_model *model)
{
	int			k_argument = exprType(list_nth(args, 1)) == INT4OID ? 1 : 2;
	Const	   *k = constant(root, args, k_argument);
	double		per_node = 10;

	if (k)
		per_node = k->constisnull ? 100 : Max(DatumGetInt32(k->constvalue), 1);
	return Min(per_node, (double) model->link.nodes) *
		Min(count_elements(argument(root, args, 3 - k_argument), (double) model->link.nodes),
			(double) model->link.nodes);
}

PG_FUNCTION_INFO_V1(gnngp_links_support);

/* Answers the planner's question for rows of gp_predict_links and gp_score_links. */
Datum
gnngp_links_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestRows *req = (SupportRequestRows *) request;
	gnngp_model *model;
	Const	   *name;
	List	   *args;

	if (!IsA(request, SupportRequestRows) || req->node == NULL || !IsA(req->node, FuncExpr))
		PG_RETURN_POINTER(NULL);
	args = ((FuncExpr *) req->node)->args;
	if (list_length(args) == 3)
	{
		req->rows = Max(1, count_elements(argument(req->root, args, 1), 1));
		PG_RETURN_POINTER(request);
	}
	name = list_length(args) == 4 ? constant(req->root, args, 0) : NULL;
	if (name == NULL || name->constisnull || !ActiveSnapshotSet())
		PG_RETURN_POINTER(NULL);
	model = gnngp_model_lookup(TextDatumGetCString(name->constvalue), true);
	if (model == NULL)
		PG_RETURN_POINTER(NULL);
	req->rows = Max(1, count_best_links(req->root, args, model));
	PG_RETURN_POINTER(request);
}
