/*
 * predict_live.c - gp_predict_live: predictions from the tables as they are now.
 *
 * The model's live state has the landmarks and the weights of the fit; the nodes, their
 * neighbourhoods and their features are read as the caller.  Nothing is stored.
 */
#include "postgres.h"

#include "live_common.h"
#include "utils/fmgroids.h"

/* The arguments of all forms. */
enum live_argument
{
	ARG_MODEL, ARG_NODES, ARG_TOP, ARG_GIVEN_NODES, ARG_GIVEN_CLASSES, ARG_GIVEN_VALUES, ARG_AS_OF,
	ARG_CLASS
};

/* ---- labels that are given ---- */

/* The classes as an array, of whatever type they are; a literal is one of texts. */
static ArrayType *
class_array(FunctionCallInfo fcinfo)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, ARG_GIVEN_CLASSES);

	if (type == UNKNOWNOID)
		return DatumGetArrayTypeP(OidInputFunctionCall(F_ARRAY_IN,
													   PG_GETARG_CSTRING(ARG_GIVEN_CLASSES),
														   TEXTOID, -1));
	if (!OidIsValid(type) || !OidIsValid(get_element_type(getBaseType(type))))
		gnngp_raise(DATATYPE_MISMATCH,
					"Write given_classes => ARRAY[...], a class for each node of given_nodes.",
					"given_classes must be an array of classes");
	return PG_GETARG_ARRAYTYPE_P(ARG_GIVEN_CLASSES);
}

static void
read_given(gnngp_live_call *c)
{
	FunctionCallInfo fcinfo = c->fcinfo;
	bool		regression = c->model->classes == 0;
	Datum	   *value;
	bool	   *no_value;
	int			classes = 0;
	char	  **class = NULL;	/* NULL for a label that is taken away */
	int			values = 0;

	if (!PG_ARGISNULL(ARG_GIVEN_NODES))
		c->given = gnngp_given_list_argument(c->model, fcinfo, ARG_GIVEN_NODES, "given_nodes");
	for (int64 k = 0; k < c->given.n; k++)
		if (c->given.id[k].null)
			gnngp_raise(NULL_VALUE_NOT_ALLOWED, "To remove a label, pass NULL among the labels.",
						"given_nodes must not contain NULL");
	(void) gnngp_live_call_number(c, &c->given, "given_nodes");
	if (!PG_ARGISNULL(ARG_GIVEN_CLASSES))
		class = gnngp_array_texts(class_array(fcinfo), &classes);
	if (!PG_ARGISNULL(ARG_GIVEN_VALUES))
		values = gnngp_array_elements(PG_GETARG_ARRAYTYPE_P(ARG_GIVEN_VALUES), &value, &no_value);
	if (!PG_ARGISNULL(regression ? ARG_GIVEN_CLASSES : ARG_GIVEN_VALUES))
		gnngp_raise(INVALID_PARAMETER_VALUE,
					regression ? "Use given_values." : "Use given_classes.",
					"model \"%s\" predicts %s", c->model->name, regression ? "values" : "classes");
	if ((regression ? values : classes) != c->given.n)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg_plural("given_nodes has %d element, but %s has %d",
							   "given_nodes has %d elements, but %s has %d",
							   (unsigned long) c->given.n, (int) c->given.n,
							   regression ? "given_values" : "given_classes", regression ? values :
								   classes),
				 errhint("Pass one label for each node, or NULL to remove its label.")));
	c->label = palloc0(sizeof(gp_live_label) * Max(c->given.n, 1));
	for (int64 k = 0; k < c->given.n; k++)
	{
		gp_live_label *label = &c->label[k];

		if (!regression)
		{
			label->taken = class[k] == NULL;
			label->label = label->taken ? 0 : gnngp_class_number(c->model, class[k]);
			continue;
		}
		label->taken = no_value[k];
		label->target = label->taken ? 0.0 : DatumGetFloat8(value[k]);
		if (!isfinite(label->target))
			gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE, "Values must be finite.",
						"a value of given_values is %g", label->target);
	}
}

/* ---- the question ---- */

/* 42501 where the label of the fit's would be taken away by somebody who may not see it. */
static void
check_taken(const gnngp_live_call *c, const int32 *fit_node)
{
	int64		n;
	const int32 *labelled = gp_live_labelled(c->live->state, &n);

	if (gnngp_is_owner(c->model->owner_role))
		return;
	for (int64 k = 0; k < c->given.n; k++)
	{
		int32		node = fit_node[c->label[k].node];

		if (node >= 0 && bsearch_arg(&node, labelled, n, sizeof(int32), gp_compare_int32,
									 NULL) != NULL)
			gnngp_raise_detail(INSUFFICIENT_PRIVILEGE, "The model learned from this node's label; an answer without it could reveal it.",
							   "Name nodes that had no label when the model was fitted.",
							   "must be owner of model \"%s\" to replace the label of node %s", c->model->name, gnngp_id_name(&c->given.id[k]));
	}
}

/* The nodes that are wanted: those asked for, then those given that are not among them; the place
 * of each label among them. */
static void
want_nodes(gnngp_live_call *c)
{
	c->wanted = MemoryContextAllocHuge(CurrentMemoryContext,
									   sizeof(gnngp_id) * Max(c->nodes.n + c->given.n, 1));
	if (c->nodes.n > 0)
		memcpy(c->wanted, c->nodes.id, sizeof(gnngp_id) * c->nodes.n);
	for (int64 k = 0; k < c->given.n; k++)
	{
		int32		place = gnngp_number_add(&c->numbered, &c->given.id[k]);

		c->wanted[place] = c->given.id[k];
		c->label[k].node = place;
	}
	c->nwanted = c->numbered.n;
}

/* Reads the neighbourhood, or the facts of a task as of any time, and asks. */
static gp_live_answer
ask(gnngp_live_call *c)
{
	FunctionCallInfo fcinfo = c->fcinfo;
	gnngp_neighbourhood *some;
	gp_live_question q;

	if (c->model->rows > 0)
		q = gnngp_task_question(c, PG_ARGISNULL(ARG_AS_OF) ? GNNGP_AS_OF_NOW :
								(gp_time) PG_GETARG_TIMESTAMPTZ(ARG_AS_OF), false);
	else
	{
		q = gnngp_live_call_read(c, &some);
		for (int64 k = 0; k < c->given.n; k++)
			c->label[k].node = some->wanted[c->label[k].node];
		check_taken(c, q.fit_node);
		q.nlabels = c->given.n;
		q.label = c->label;
	}
	return c->nodes.n > 0 ? gp_live_ask(gnngp_live_call_device(c), &q) : (gp_live_answer) {0};
}

/* ---- rows ---- */

static gnngp_class_order
order_open(const gnngp_live_call *c, const gp_live_answer *a)
{
	const gp_live_state *state = c->live->state;

	return c->model->classes == 0 ? (gnngp_class_order) {0} :
		gnngp_class_order_open(gp_live_calibrator(state), a->columns, gp_live_shares(state));
}

static void
order_classes(gnngp_class_order *order, const gp_live_answer *a, int64 i)
{
	gnngp_order_classes(order, a->mean + i * a->columns, a->variance[i],
						a->is_prior && a->is_prior[i]);
}

int32
gnngp_live_best_class(const gnngp_live_call *c, const gp_live_answer *a)
{
	gnngp_class_order order = order_open(c, a);

	order_classes(&order, a, 0);
	return gnngp_class_at(&order, 0);
}

/* Emits the best classes of each node, or a class (-1: none). */
static void
emit_rows(gnngp_live_call *c, const gp_live_answer *a, int32 only)
{
	bool		values_only = c->model->classes == 0;
	int32		most = only < 0 ? Min(c->top, a->columns) : a->columns;
	gnngp_class_order order = order_open(c, a);

	for (int64 i = 0; i < a->n; i++)
	{
		NullableDatum node = gnngp_out(gnngp_id_type_datum(&c->id_type, &c->nodes.id[i]));
		NullableDatum variance = gnngp_out_float(a->variance[i]);

		if (values_only)
			gnngp_emit(c->result, node, GNNGP_OUT_NULL, gnngp_out_float(a->mean[i]), variance,
					   GNNGP_OUT_NULL);
		else
			order_classes(&order, a, i);
		for (int32 k = 0; !values_only && k < most; k++)
		{
			uint16		class = gnngp_class_at(&order, k);

			if (only >= 0 && class != only)
				continue;
			gnngp_emit(c->result, node, gnngp_out_text(c->model->class_labels.text[class]),
					   gnngp_out_float(a->mean[i * a->columns + class]), variance,
					   gnngp_out_float(gnngp_class_probability(&order, class)));
		}
	}
}

/* gp_predict_live(model, id or nodes, top, given_nodes, given_classes, given_values, as_of,
 * class) */
GNNGP_FUNCTION(gnngp_predict_live)
{
	gnngp_live_call c;
	int32		class = -1;

	gnngp_live_call_open(&c, fcinfo, false);
	c.top = gnngp_count_argument(fcinfo, ARG_TOP, "top", GNNGP_TOP_HINT);
	bool		task = c.model->rows > 0;
	if (task && (!PG_ARGISNULL(ARG_GIVEN_NODES) || !PG_ARGISNULL(ARG_GIVEN_CLASSES) ||
				 !PG_ARGISNULL(ARG_GIVEN_VALUES)))
		gnngp_raise(FEATURE_NOT_SUPPORTED, "Write them into the tables, and refresh the model.",
					"labels cannot be given to the model of a task");
	(void) gnngp_as_of_argument(&c, ARG_AS_OF, GNNGP_AS_OF_NOW);
	if (!PG_ARGISNULL(ARG_CLASS))
	{
		class = gnngp_class_number(c.model, text_to_cstring(PG_GETARG_TEXT_PP(ARG_CLASS)));
		/* By falling probability, then score, as gp_predict */
		gnngp_result_sort(c.result, 5, 3);
	}
	gnngp_live_call_nodes(&c);
	read_given(&c);
	want_nodes(&c);
	if (c.nodes.n > 0)
	{
		gp_live_answer answer = ask(&c);
		emit_rows(&c, &answer, class);
	}
	gnngp_result_end_sort(c.result);
	gnngp_live_call_close(&c);
	return (Datum) 0;
}
