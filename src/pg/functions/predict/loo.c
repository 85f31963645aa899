/*
 * loo.c - gp_loo: what a model says of each labelled node without its label.
 */
#include "postgres.h"

#include "node_rows.h"
#include "parser/parse_func.h"
#include "utils/float.h"

/* The columns of gp_loo's rows. */
enum loo_column
{
	LOO_NODE, LOO_TARGET, LOO_PREDICTED, LOO_SCORE, LOO_VARIANCE, LOO_PROBABILITY, LOO_AS_OF,
		LOO_COLUMNS
};

static Datum
number_text(double v)
{
	return CStringGetTextDatum(float8out_internal(v));
}

/* What is said of a labelled node: its target, what it is taken for, and how its target fares. */
static void
label_datums(const gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row,
		   Datum *target, Datum *predicted, Datum *score, Datum *probability)
{
	int32		own = 0;		/* the rank of the node's own class */

	if (!block->has_targets)
		gnngp_store_corrupted(rows->model, "a labelled node has no label");
	if (block->nclasses == 0)
	{
		*target = number_text(row->target);
		*predicted = number_text(row->value);
		*score = Float8GetDatum(row->value);
		return;
	}
	while (own < block->nclasses && gnngp_row_class(row, own) != row->target)
		own++;
	if (own == block->nclasses)
		gnngp_store_corrupted(rows->model, "the class of a labelled node is unknown");
	*target = gnngp_node_rows_class(rows, block, row, own);
	*predicted = gnngp_node_rows_class(rows, block, row, 0);
	*score = Float8GetDatum((double) gnngp_row_score(row, own));
	*probability = Float8GetDatum(gnngp_row_probability(block, row, own));
}

static void
put_node(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	const gnngp_task_state *state = rows->arg;
	Datum		values[LOO_COLUMNS] = {0};
	bool		nulls[LOO_COLUMNS] = {false};

	values[LOO_NODE] = gnngp_id_type_datum(&rows->id_type, &row->id);
	values[LOO_VARIANCE] = Float8GetDatum(row->variance);
	nulls[LOO_PROBABILITY] = block->nclasses == 0;
	nulls[LOO_AS_OF] = state == NULL;
	if (state)
		values[LOO_AS_OF] = TimestampTzGetDatum(state->as_of[row->number]);
	label_datums(rows, block, row, &values[LOO_TARGET], &values[LOO_PREDICTED], &values[LOO_SCORE],
			   &values[LOO_PROBABILITY]);
	tuplestore_putvalues(rows->store, rows->desc, values, nulls);
}

/* The columns of report_labels's rows. */
enum label_column
{
	LABEL_TARGET, LABEL_PREDICTED, LABEL_PROBABILITY, LABEL_BEST, LABEL_SCORE, LABEL_VARIANCE,
	LABEL_COLUMNS
};

/* Puts what the charts of a report are made of: the row of gp_loo, without its id. */
static void
put_label(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	bool		values_only = block->nclasses == 0;
	Datum		values[LABEL_COLUMNS] = {0};
	bool		nulls[LABEL_COLUMNS] = {false, false, values_only, values_only};

	label_datums(rows, block, row, &values[LABEL_TARGET], &values[LABEL_PREDICTED],
			   &values[LABEL_SCORE], &values[LABEL_PROBABILITY]);
	if (!values_only)
		values[LABEL_BEST] = Float8GetDatum(gnngp_row_probability(block, row, 0));
	values[LABEL_VARIANCE] = Float8GetDatum(row->variance);
	tuplestore_putvalues(rows->store, rows->desc, values, nulls);
}

/* Opens a call that tells the owner's labels, which a grant of the model does not give away. */
static void
open_labels(gnngp_node_rows *rows, FunctionCallInfo fcinfo)
{
	gnngp_node_rows_open(rows, fcinfo);
	gnngp_require_owner(rows->model->owner_role, "model", rows->model->name);
}

/* gp_loo(model, id or nodes); rows of a task have the time as of which they are asked, too */
PG_FUNCTION_INFO_V1(gnngp_loo);
Datum
gnngp_loo(PG_FUNCTION_ARGS)
{
	gnngp_node_rows rows;
	gnngp_task_state *state = NULL;
	gp_env	   *env;

	open_labels(&rows, fcinfo);
	env = gnngp_env_create(CurrentMemoryContext);
	if (rows.model->rows > 0)
		state = gnngp_facts_read(env, rows.model);
	gnngp_node_rows_run(&rows, fcinfo, "loo", 1, put_node, state);
	gnngp_env_destroy(env);
	return (Datum) 0;
}

/* report_labels(model) */
PG_FUNCTION_INFO_V1(gnngp_report_labels);
Datum
gnngp_report_labels(PG_FUNCTION_ARGS)
{
	gnngp_node_rows rows;

	open_labels(&rows, fcinfo);
	gnngp_node_rows_all(&rows, "loo", put_label);
	return (Datum) 0;
}

/* model_id(model) */
PG_FUNCTION_INFO_V1(gnngp_model_id);
Datum
gnngp_model_id(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false)->id);
}

/*
 * gp_report(model): the page that SQL makes; who may not have it is refused here, for an error
 * within has the context of SQL functions.
 */
PG_FUNCTION_INFO_V1(gnngp_report);
Datum
gnngp_report(PG_FUNCTION_ARGS)
{
	const gnngp_model *model = gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false);
	List	   *name = list_make2(makeString(GNNGP_SCHEMA), makeString("report_page"));
	Oid			types[] = {TEXTOID};

	gnngp_require_owner(model->owner_role, "model", model->name);
	PG_RETURN_DATUM(OidFunctionCall1Coll(LookupFuncName(name, 1, types, false), PG_GET_COLLATION(),
										 PG_GETARG_DATUM(0)));
}
