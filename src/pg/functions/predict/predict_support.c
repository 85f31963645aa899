/*
 * predict_support.c - how many rows the planner may expect of predictions.
 *
 * A model's row knows its nodes and classes.  Whatever cannot be told while
 * planning is left to the function's own ROWS.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "pg/ids/ids.h"

/* An argument, simplified. */
static Node *
argument(PlannerInfo *root, List *args, int i)
{
	return eval_const_expressions(root, list_nth(args, i));
}

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

/* The nodes that an argument names, of so many when it is NULL. */
static double
count_nodes(Node *nodes, double all)
{
	Const	   *given = IsA(nodes, Const) ? (Const *) nodes : NULL;
	Oid			type = exprType(nodes);
	bool		array = OidIsValid(get_element_type(getBaseType(type))) || gnngp_is_integers(type);
	double		n = 1;

	if (given && given->constisnull)
		return all;
	if (!array && (type == TEXTOID || getBaseType(type) != TEXTOID))
		return 1;
	if (given == NULL)
		n = 10;					/* as the planner counts of arrays that it does not know */
	else if (array)
	{
		ArrayType  *value = DatumGetArrayTypeP(given->constvalue);

		n = ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
	}
	else
		for (const char *s = TextDatumGetCString(given->constvalue); *s; s++)
			n += *s == ',';
	return Min(all, n);
}

/* Answers the planner's question for rows of gp_predict(model, nodes, top, unlabelled_only,
 * class). */
GNNGP_FUNCTION(gnngp_predict_support)
{
	SupportRequestRows *req = (SupportRequestRows *) PG_GETARG_POINTER(0);
	List	   *args = IsA(req, SupportRequestRows) ? call_arguments(req, 5) : NIL;
	gnngp_model *model = args ? call_model(req, args) : NULL;
	double		classes = 1;

	if (model == NULL || exprType(lthird(args)) != INT4OID)
		PG_RETURN_POINTER(NULL);
	Const	   *top = constant(req->root, args, 2);
	Const	   *unlabelled_only = constant(req->root, args, 3);
	double		all = (double) model->nodes;
	if (unlabelled_only && !unlabelled_only->constisnull &&
		DatumGetBool(unlabelled_only->constvalue))
		all -= (double) model->labelled;
	if (top)
		classes = Max(model->classes, 1);
	if (top && !top->constisnull)
		classes = Max(1, Min(classes, DatumGetInt32(top->constvalue)));
	req->rows = Max(1, count_nodes(argument(req->root, args, 1), all) * classes);
	PG_RETURN_POINTER(req);
}

/* The same for gp_predict_links(model, nodes, k, candidates, among), k for each node, and for
 * gp_score_links(model, src, dst). */
GNNGP_FUNCTION(gnngp_links_support)
{
	SupportRequestRows *req = (SupportRequestRows *) PG_GETARG_POINTER(0);
	bool		asked = IsA(req, SupportRequestRows);
	List	   *pairs = asked ? call_arguments(req, 3) : NIL;
	List	   *args = asked ? call_arguments(req, 5) : NIL;
	gnngp_model *model = args ? call_model(req, args) : NULL;

	if (pairs)
		req->rows = Max(1, count_nodes(argument(req->root, pairs, 1), PG_INT32_MAX));
	else if (model && exprType(lthird(args)) == INT4OID)
	{
		double		nodes = (double) model->link.nodes;
		Const	   *k = constant(req->root, args, 2);
		double		each = k == NULL ? 10 : k->constisnull ? 100 :
			Max(DatumGetInt32(k->constvalue), 1);

		req->rows = Max(1, Min(each, nodes) * count_nodes(argument(req->root, args, 1), nodes));
	}
	else
		PG_RETURN_POINTER(NULL);
	PG_RETURN_POINTER(req);
}
