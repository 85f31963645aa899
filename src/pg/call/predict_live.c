/*
 * predict_live.c - gp_predict_live: predictions from the tables as they are now.
 *
 * The model's live state has the landmarks and the weights of the fit; the nodes, their
 * neighbourhoods and their features are read as the caller.  Nothing is stored.
 */
#include "postgres.h"

#include <math.h>

#include "call.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pg/host/host.h"
#include "pg/read/read.h"
#include "pg/store/store_live.h"
#include "pg/value/value.h"
#include "predict_ids.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

/* The columns of the rows. */
enum live_column
{
	LIVE_NODE, LIVE_CLASS, LIVE_SCORE, LIVE_VARIANCE, LIVE_PROBABILITY, LIVE_COLUMNS
};

/* The arguments of all forms. */
enum live_argument
{
	ARG_MODEL, ARG_NODES, ARG_TOP, ARG_GIVEN_NODES, ARG_GIVEN_CLASSES, ARG_GIVEN_VALUES
};

/* From so many nodes on, all threads are taken: for fewer they would cost more than they bring. */
#define MANY_NODES 16

/* A call. */
typedef struct live_call
{
	FunctionCallInfo fcinfo;
	gnngp_model *model;
	gnngp_live *live;
	gnngp_graph_def *graph;
	gp_live_figures figures;
	gp_env	   *env;
	gnngp_id_type id_type;
	int32		top;
	gnngp_given_ids nodes;
	gnngp_given_ids given;
	gp_live_label *label;		/* of each node that is given */
	int64		nwanted;		/* the nodes asked for, then those that are given and not among them */
	gnngp_wanted *wanted;
} live_call;

/* Takes the graph of a model. */
static void
take_graph(void *arg)
{
	live_call  *c = arg;

	c->graph = gnngp_graph_by_id(c->model->graph_id);
}

/* 55000 when the graph's columns or their reading were altered after the fit. */
static void
check_shape(const live_call *c)
{
	if (gnngp_graph_shape(c->graph) != c->live->shape)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("graph \"%s\" was altered after model \"%s\" was fitted", c->graph->name, c->model->name),
				 errhint("Fit the model again with gp_refresh.")));
}

/* Opens the model, its graph and its live state. */
static void
open_model(live_call *c)
{
	c->model = gnngp_model_lookup(gnngp_text_argument(c->fcinfo, ARG_MODEL, "model"), false);
	gnngp_require_node_part(c->model);
	c->live = gnngp_live_open(c->model);
	(void) gp_live_read(c->live->keep, &c->figures);
	gnngp_as_extension(take_graph, c);
	check_shape(c);
	c->top = gnngp_count_argument(c->fcinfo, ARG_TOP, "top", GNNGP_TOP_HINT);
}

/* ---- labels that are given ---- */

/* An array argument of a type as values; NULL is none. */
static int
take_values(FunctionCallInfo fcinfo, int argno, Oid type, int16 length, bool by_value, Datum **value, bool **null)
{
	int			n = 0;

	*value = NULL;
	if (!PG_ARGISNULL(argno))
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(argno), type, length, by_value, TYPALIGN_INT, value, null, &n);
	return n;
}

/* 22023: the arrays of what is given do not fit together. */
static void
check_given(const live_call *c, int classes, int values, bool has_classes, bool has_values)
{
	bool		regression = c->model->classes == 0;

	if (regression ? has_classes : has_values)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("model \"%s\" predicts %s", c->model->name, regression ? "values" : "classes"),
				 errhint(regression ? "Use given_values." : "Use given_classes.")));
	if ((regression ? values : classes) != c->given.n)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("given_nodes has %d elements, but %s has %d", (int) c->given.n,
						regression ? "given_values" : "given_classes", regression ? values : classes),
				 errhint("Give each node one label, or NULL to take its label away.")));
}

/* The number of a class; 22023 for one that the model does not know. */
static int32
class_number(const gnngp_model *model, Datum class)
{
	char	   *name = TextDatumGetCString(class);

	for (int32 k = 0; k < model->class_labels.n; k++)
		if (strcmp(model->class_labels.text[k], name) == 0)
			return k;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("model \"%s\" does not know the class \"%s\"", model->name, name),
			 errhint("A class that no label had is known after a refresh.")));
}

/* Takes the labels that are given. */
static void
take_labels(live_call *c)
{
	FunctionCallInfo fcinfo = c->fcinfo;
	Datum	   *class,
			   *value;
	bool	   *no_class,
			   *no_value;
	int			classes = take_values(fcinfo, ARG_GIVEN_CLASSES, TEXTOID, -1, false, &class, &no_class);
	int			values;

	values = PG_ARGISNULL(ARG_GIVEN_VALUES) ? 0 : ArrayGetNItems(ARR_NDIM(PG_GETARG_ARRAYTYPE_P(ARG_GIVEN_VALUES)),
																  ARR_DIMS(PG_GETARG_ARRAYTYPE_P(ARG_GIVEN_VALUES)));
	if (values > 0)
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(ARG_GIVEN_VALUES), FLOAT8OID, sizeof(float8), true, TYPALIGN_DOUBLE,
						  &value, &no_value, &values);
	check_given(c, classes, values, !PG_ARGISNULL(ARG_GIVEN_CLASSES), !PG_ARGISNULL(ARG_GIVEN_VALUES));
	c->label = palloc0(sizeof(gp_live_label) * Max(c->given.n, 1));
	for (int64 k = 0; k < c->given.n; k++)
	{
		gp_live_label *label = &c->label[k];

		if (c->model->classes > 0)
		{
			label->taken = no_class[k];
			label->label = label->taken ? 0 : class_number(c->model, class[k]);
			continue;
		}
		label->taken = no_value[k];
		label->target = label->taken ? 0.0 : DatumGetFloat8(value[k]);
		if (!isfinite(label->target))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("a value of given_values is %g", label->target),
					 errhint("Values must be finite.")));
	}
}

/* ---- nodes ---- */

/* An id as the reader takes it. */
static gnngp_wanted
wanted_of(const gnngp_given_id *id)
{
	return (gnngp_wanted) {id->key, id->text, id->length};
}

/* A copy of ids in the order that they are stored in. */
static gnngp_given_id *
sorted_ids(const gnngp_given_ids *ids)
{
	gnngp_given_id *copy = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(gnngp_given_id) * Max(ids->n, 1));

	memcpy(copy, ids->id, sizeof(gnngp_given_id) * ids->n);
	gnngp_sort(copy, ids->n, sizeof(gnngp_given_id), gnngp_given_id_compare, NULL);
	return copy;
}

/* 22023 for an id that stands twice in a list. */
static void
check_twice(const live_call *c, const gnngp_given_ids *ids, const char *argument)
{
	gnngp_given_id *sorted = sorted_ids(ids);

	for (int64 i = 1; i < ids->n; i++)
		if (gnngp_given_id_compare(&sorted[i - 1], &sorted[i], NULL) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" names node %s twice", argument, sorted[i].text ? pnstrdup(sorted[i].text, sorted[i].length) :
							psprintf(INT64_FORMAT, sorted[i].key)),
					 errhint("Name each node once.")));
}

/* Leaves out ids that are NULL, as gp_predict does. */
static void
drop_nulls(gnngp_given_ids *ids)
{
	int64		n = 0;

	for (int64 i = 0; i < ids->n; i++)
		if (!ids->id[i].null)
			ids->id[n++] = ids->id[i];
	ids->n = n;
}

/* Takes the nodes that are asked for. */
static void
take_nodes(live_call *c)
{
	gnngp_id_hints hints = gnngp_id_hints_for(c->fcinfo);

	gnngp_id_type_open_argument(&c->id_type, c->model, c->fcinfo, ARG_NODES, &hints);
	c->nodes = gnngp_given_ids_take(&c->id_type, c->fcinfo, ARG_NODES);
	if (c->nodes.all)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("nodes must not be NULL"),
				 errhint("Name the nodes; gp_predict tells of all nodes.")));
	drop_nulls(&c->nodes);
	check_twice(c, &c->nodes, "nodes");
}

/* 42804 unless the nodes that labels are given to are an array. */
static void
require_array(FunctionCallInfo fcinfo)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, ARG_GIVEN_NODES);

	if (!OidIsValid(type) || !OidIsValid(get_element_type(getBaseType(type))))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("given_nodes must be an array of ids"),
				 errhint("Write given_nodes => ARRAY[...], of the type of the nodes' ids.")));
}

/* Takes the nodes that labels are given to. */
static void
take_given(live_call *c)
{
	FunctionCallInfo fcinfo = c->fcinfo;
	gnngp_id_hints hints = gnngp_id_hints_for(fcinfo);
	gnngp_id_type type;

	c->given = (gnngp_given_ids) {0};
	if (!PG_ARGISNULL(ARG_GIVEN_NODES))
	{
		require_array(fcinfo);
		gnngp_id_type_open_argument(&type, c->model, fcinfo, ARG_GIVEN_NODES, &hints);
		c->given = gnngp_given_ids_take(&type, fcinfo, ARG_GIVEN_NODES);
	}
	for (int64 k = 0; k < c->given.n; k++)
		if (c->given.id[k].null)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("given_nodes must not contain NULL"),
					 errhint("NULL among the labels takes the label of a node away.")));
	check_twice(c, &c->given, "given_nodes");
	take_labels(c);
}

/* Lists the nodes asked for, then those given that are not among them. */
static void
list_wanted(live_call *c)
{
	gnngp_given_ids asked = {.n = c->nodes.n,.id = sorted_ids(&c->nodes)};

	c->wanted = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(gnngp_wanted) * Max(c->nodes.n + c->given.n, 1));
	for (int64 i = 0; i < c->nodes.n; i++)
		c->wanted[c->nwanted++] = wanted_of(&c->nodes.id[i]);
	for (int64 k = 0; k < c->given.n; k++)
	{
		gnngp_node_row row = {.key = c->given.id[k].key,.id_text = c->given.id[k].text,.id_length = c->given.id[k].length};

		if (!gnngp_given_ids_have(&asked, &row))
			c->wanted[c->nwanted++] = wanted_of(&c->given.id[k]);
	}
}

/* ---- the question ---- */

/* Compares an id with that of a node of the fit. */
static int
compare_stored(const gnngp_given_id *id, const gnngp_link_ids *ids, int64 node)
{
	gnngp_node_row row = gnngp_link_id(ids, node);
	gnngp_given_id stored = {row.key, row.id_text, row.id_length, false};

	return gnngp_given_id_compare(id, &stored, NULL);
}

/* The number of a node in the fit, or -1: keys ascend, texts of one key are looked at one by one. */
static int32
fit_number(const gnngp_link_ids *ids, int64 key, const char *text)
{
	gnngp_given_id id = {key, text, text ? (int) strlen(text) : 0, false};
	int64		low = 0,
				high = ids->n;

	while (low < high)
	{
		int64		middle = low + (high - low) / 2;

		if (ids->key[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < ids->n && ids->key[low] == key; low++)
		if (compare_stored(&id, ids, low) == 0)
			return (int32) low;
	return -1;
}

/* The number that each node of a neighbourhood had in the fit. */
static int32 *
fit_numbers(const live_call *c, const gnngp_some *some)
{
	int32	   *number = gp_alloc_array(c->env, some->graph->nodes, sizeof(int32));

	for (int64 i = 0; i < some->graph->nodes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		number[i] = fit_number(&c->live->ids, some->ids.key[i], some->ids.text ? some->ids.text[i] : NULL);
	}
	return number;
}

/* 42501 where the label of the fit's would be taken away by somebody who may not see it. */
static void
check_taken(const live_call *c, const int32 *fit_node)
{
	int64		n;
	const int32 *labelled = gp_live_labelled(c->live->keep, &n);

	for (int64 k = 0; k < c->given.n; k++)
	{
		int32		node = fit_node[c->label[k].node];

		if (node >= 0 && bsearch_arg(&node, labelled, n, sizeof(int32), gp_compare_int32, NULL) != NULL)
		{
			gnngp_require_owner(c->model->owner_role, "model", c->model->name);
			return;
		}
	}
}

/* The place of each given node among those that were read. */
static void
place_labels(live_call *c, const gnngp_some *some)
{
	int64		next = c->nodes.n;

	for (int64 k = 0; k < c->given.n; k++)
	{
		int64		i = 0;

		while (i < c->nodes.n && gnngp_given_id_compare(&c->nodes.id[i], &c->given.id[k], NULL) != 0)
			i++;
		c->label[k].node = some->wanted[i < c->nodes.n ? i : next++];
	}
}

/* Reads the neighbourhood and asks. */
static gp_live_answer
ask(live_call *c)
{
	const gp_piece *moments = gp_keep_find(c->live->keep, GP_PIECE_MOMENTS, 0, 0);
	gp_program *program = gnngp_compile_kernel(c->env, c->model->kernel);
	gnngp_some *some = gnngp_read_some(c->env, c->graph, c->wanted, c->nwanted, gp_program_hops(c->env, program),
									   (int64) c->figures.dims, moments ? moments->dense : NULL);
	gp_live_question q = {.keep = c->live->keep,.program = program,.graph = some->graph,
		.inner = some->ids.n,.asked = c->nodes.n,.node = some->wanted,.nlabels = c->given.n,.label = c->label};

	q.features = gp_features_as(c->env, some->features, gp_live_type(&c->figures));
	q.fit_node = fit_numbers(c, some);
	place_labels(c, some);
	check_taken(c, q.fit_node);
	return gp_live_ask(gnngp_device_open(c->env, c->nodes.n < MANY_NODES ? 1 : 0), &q);
}

/* ---- rows ---- */

/* A class of a node, to be sorted. */
typedef struct ranked
{
	double		logit;
	double		share;
	int32		class;
} ranked;

/* The most probable first, then that of the largest share, then by class: as a fit stores them. */
static int
compare_ranked(const void *first, const void *second, void *unused)
{
	const ranked *a = first;
	const ranked *b = second;

	if (a->logit != b->logit)
		return a->logit > b->logit ? -1 : 1;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->class - b->class;
}

/* The classes of a node in order; *total gets the logarithm of the sum that makes probabilities of logits. */
static void
rank_classes(const live_call *c, const gp_live_answer *a, int64 i, ranked *rank, double *total)
{
	gp_calibrator calibrator = gp_live_calibrator(c->live->keep);
	const double *share = gp_live_shares(c->live->keep);
	bool		prior = a->is_prior && a->is_prior[i];
	double		top = -INFINITY;
	double		sum = 0.0;

	for (int32 k = 0; k < a->columns; k++)
	{
		/* What a fit stores are floats. */
		double		score = (float) a->mean[i * a->columns + k];

		rank[k] = (ranked) {prior ? log(share[k]) : gp_logit(&calibrator, k, score), share[k], k};
		top = Max(top, rank[k].logit);
	}
	for (int32 k = 0; k < a->columns; k++)
		sum += exp(rank[k].logit - top);
	gnngp_sort(rank, a->columns, sizeof(ranked), compare_ranked, NULL);
	*total = top + log(sum);
}

/* Puts the rows of one node. */
static void
put_node(live_call *c, const gp_live_answer *a, int64 i, ranked *rank, Datum *class)
{
	ReturnSetInfo *result = (ReturnSetInfo *) c->fcinfo->resultinfo;
	const gnngp_given_id *id = &c->nodes.id[i];
	gnngp_node_row row = {.key = id->key,.id_text = id->text,.id_length = id->length};
	Datum		values[LIVE_COLUMNS] = {0};
	bool		nulls[LIVE_COLUMNS] = {false};
	double		total;

	values[LIVE_NODE] = gnngp_id_type_datum(&c->id_type, &row);
	values[LIVE_VARIANCE] = Float8GetDatum(a->variance[i]);
	if (c->model->classes == 0)
	{
		nulls[LIVE_CLASS] = nulls[LIVE_PROBABILITY] = true;
		values[LIVE_SCORE] = Float8GetDatum(a->mean[i]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		return;
	}
	rank_classes(c, a, i, rank, &total);
	for (int32 k = 0; k < Min(c->top, a->columns); k++)
	{
		values[LIVE_CLASS] = class[rank[k].class];
		values[LIVE_SCORE] = Float8GetDatum(a->mean[i * a->columns + rank[k].class]);
		values[LIVE_PROBABILITY] = Float8GetDatum(exp(rank[k].logit - total));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* Puts all rows. */
static void
put_rows(live_call *c, const gp_live_answer *a)
{
	ranked	   *rank = palloc(sizeof(ranked) * Max(a->columns, 1));
	Datum	   *class = palloc(sizeof(Datum) * Max(c->model->class_labels.n, 1));
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "gnngp prediction", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;

	for (int k = 0; k < c->model->class_labels.n; k++)
		class[k] = CStringGetTextDatum(c->model->class_labels.text[k]);
	old = MemoryContextSwitchTo(row_context);
	for (int64 i = 0; i < a->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_node(c, a, i, rank, class);
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(old);
}

PG_FUNCTION_INFO_V1(gnngp_predict_live);

/* gp_predict_live(model, id or nodes, top, given_nodes, given_classes, given_values) */
Datum
gnngp_predict_live(PG_FUNCTION_ARGS)
{
	live_call	c = {.fcinfo = fcinfo};
	gp_live_answer answer;
	int			guc_level;

	InitMaterializedSRF(fcinfo, 0);
	open_model(&c);
	guc_level = NewGUCNestLevel();
	gnngp_pin_output_settings();
	take_nodes(&c);
	take_given(&c);
	list_wanted(&c);
	c.env = gnngp_env_create(CurrentMemoryContext);
	if (c.nodes.n > 0)
	{
		answer = ask(&c);
		put_rows(&c, &answer);
	}
	gnngp_env_destroy(c.env);
	gnngp_live_close(c.live);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}
