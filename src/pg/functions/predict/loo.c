/*
 * loo.c - gp_loo: what a model says of each labelled node without its label; gp_report, whose page
 * shows it.
 */
#include "postgres.h"

#include "node_rows.h"
#include "parser/parse_func.h"
#include "utils/float.h"

static Datum
number_text(double v)
{
	return CStringGetTextDatum(float8out_internal(v));
}

/* The row of a labelled node: its target, what it is taken for, and how its target fares. */
typedef struct label_cells
{
	NullableDatum target;
	NullableDatum predicted;
	NullableDatum score;
	NullableDatum probability;
} label_cells;

static label_cells
describe_label(const gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	int32		own = 0;		/* the rank of the node's own class */

	if (!block->has_targets)
		gnngp_store_corrupted(rows->model, "a labelled node has no label");
	if (block->nclasses == 0)
		return (label_cells) {gnngp_out(number_text(row->target)),
							  gnngp_out(number_text(row->value)), gnngp_out_float(row->value),
							  GNNGP_OUT_NULL};
	while (own < block->nclasses && gnngp_row_class(row, own) != row->target)
		own++;
	if (own == block->nclasses)
		gnngp_store_corrupted(rows->model, "the class of a labelled node is unknown");
	return (label_cells) {gnngp_out(gnngp_node_rows_class(rows, block, row, own)),
						  gnngp_out(gnngp_node_rows_class(rows, block, row, 0)),
						  gnngp_out_float(gnngp_row_score(row, own)),
						  gnngp_out_float(gnngp_row_probability(block, row, own))};
}

static void
emit_node(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	const gnngp_task_state *state = rows->arg;
	label_cells l = describe_label(rows, block, row);

	gnngp_emit(rows->result, gnngp_out(gnngp_id_type_datum(&rows->id_type, &row->id)), l.target,
			   l.predicted, l.score, gnngp_out_float(row->variance), l.probability,
			   state ? gnngp_out(TimestampTzGetDatum(state->as_of[row->number])) :
			   GNNGP_OUT_NULL);
}

/* Emits what the charts of a report are made of: the row of gp_loo, without its id. */
static void
emit_label(gnngp_node_rows *rows, const gnngp_block *block, const gnngp_node_row *row)
{
	label_cells l = describe_label(rows, block, row);

	gnngp_emit(rows->result, l.target, l.predicted, l.probability,
			   gnngp_out_float(block->nclasses > 0 ? gnngp_row_probability(block, row, 0) : NAN),
			   l.score, gnngp_out_float(row->variance));
}

/* Opens a call that tells the owner's labels, which a grant of the model does not give away. */
static void
open_labels(gnngp_node_rows *rows, FunctionCallInfo fcinfo)
{
	gnngp_node_rows_open(rows, fcinfo);
	gnngp_require_owner(rows->model->owner_role, "model", rows->model->name);
}

/* gp_loo(model, id or nodes); rows of a task have the time as of which they are asked, too */
GNNGP_FUNCTION(gnngp_loo)
{
	gnngp_node_rows rows;
	gnngp_task_state *state = NULL;

	open_labels(&rows, fcinfo);
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	if (rows.model->rows > 0)
		state = gnngp_facts_read(env, rows.model);
	gnngp_node_rows_run(&rows, fcinfo, "loo", 1, emit_node, state);
	gnngp_env_destroy(env);
	return (Datum) 0;
}

/* report_labels(model) */
GNNGP_FUNCTION(gnngp_report_labels)
{
	gnngp_node_rows rows;

	open_labels(&rows, fcinfo);
	gnngp_node_rows_all(&rows, "loo", emit_label);
	return (Datum) 0;
}

/*
 * gp_report(model): the page that SQL makes; who may not have it is refused here, for an error
 * within has the context of SQL functions.
 */
GNNGP_FUNCTION(gnngp_report)
{
	List	   *name = list_make2(makeString(GNNGP_SCHEMA), makeString("report_page"));
	Oid			types[] = {TEXTOID};

	(void) gnngp_own_model(gnngp_text_argument(fcinfo, 0, "model"));
	PG_RETURN_DATUM(OidFunctionCall1Coll(LookupFuncName(name, 1, types, false), PG_GET_COLLATION(),
										 PG_GETARG_DATUM(0)));
}
