/*
 * predict.c - gp_predict, all forms: rows from the stored blocks.
 *
 * The rows go into a tuplestore block by block; a FROM clause would collect
 * them in one anyway.  Class labels are made once and shared by all rows.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pg/host/host.h"
#include "pg/store/store.h"
#include "predict_ids.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

/* The columns of gp_predict's rows. */
enum predict_column
{
	PREDICT_NODE, PREDICT_CLASS, PREDICT_SCORE, PREDICT_VARIANCE, PREDICT_PROBABILITY,
	PREDICT_COLUMNS
};

static const gnngp_id_hints hints = {
	"Use gp_predict(%1$s) for all nodes, or an integer id.",
	"Use gp_predict(%1$s, NULL::%2$s) for all nodes, or ids of that type.",
	"model"
};

typedef struct predict_state
{
	const gnngp_model *model;
	gnngp_id_type id_type;
	int32		top;			/* classes for each node */
	bool		unlabelled_only;
	Datum	   *class_label;
	Tuplestorestate *store;
	TupleDesc	desc;
	MemoryContext row_context;	/* ids that are made for one row */
	gnngp_given_ids given;		/* sorted */
	int64		next;			/* the first of them that may still come */
} predict_state;

/* The probability of the k-th best class of a row. */
static double
class_probability(const predict_state *s, const gnngp_block *block, const gnngp_node_row *row,
				  uint16 class, float score)
{
	if (row->is_prior && block->shares)
		return gnngp_get_float8(block->shares + (size_t) class * sizeof(double));
	return Min(exp(s->model->temperature * (double) score - row->log_partition), 1.0);
}

/* Puts the rows of one node. */
static void
put_node(predict_state *s, const gnngp_block *block, const gnngp_node_row *row)
{
	Datum		values[PREDICT_COLUMNS];
	bool		nulls[PREDICT_COLUMNS] = {false};

	if (s->unlabelled_only && row->labelled)
		return;
	values[PREDICT_NODE] = gnngp_id_type_datum(&s->id_type, row);
	values[PREDICT_VARIANCE] = Float8GetDatum(row->variance);
	if (block->nclasses == 0)
	{
		values[PREDICT_CLASS] = values[PREDICT_PROBABILITY] = (Datum) 0;
		nulls[PREDICT_CLASS] = nulls[PREDICT_PROBABILITY] = true;
		values[PREDICT_SCORE] = Float8GetDatum(row->value);
		tuplestore_putvalues(s->store, s->desc, values, nulls);
		return;
	}
	for (int32 k = 0; k < Min(s->top, block->nclasses); k++)
	{
		uint16		class = gnngp_row_class(row, k);
		float		score = gnngp_row_score(row, k);

		if (class >= block->nclasses)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("the stored model \"%s\" is damaged: a class is unknown",
							s->model->name)));
		values[PREDICT_CLASS] = s->class_label[class];
		values[PREDICT_SCORE] = Float8GetDatum((double) score);
		values[PREDICT_PROBABILITY] =
			Float8GetDatum(class_probability(s, block, row, class, score));
		tuplestore_putvalues(s->store, s->desc, values, nulls);
	}
}

/* Puts row i of a block. */
static void
put_row(predict_state *s, const gnngp_block *block, int32 i)
{
	gnngp_node_row row;

	gnngp_block_row(block, i, &row);
	put_node(s, block, &row);
	MemoryContextReset(s->row_context);
}

/*
 * Puts the rows of a block that are asked for.  Rows with one key may go on in
 * the next block: texts may have the same hash.
 */
static void
put_given(predict_state *s, const gnngp_block *block)
{
	while (s->next < s->given.n)
	{
		int64		key = s->given.id[s->next].key;
		int32		i = gnngp_block_search(block, key);
		gnngp_node_row row;

		CHECK_FOR_INTERRUPTS();
		for (; i < block->nrows; i++)
		{
			gnngp_block_row(block, i, &row);
			if (row.key != key)
				break;
			if (gnngp_given_ids_have(&s->given, &row))
				put_row(s, block, i);
		}
		if (i == block->nrows)
			return;
		while (s->next < s->given.n && s->given.id[s->next].key == key)
			s->next++;
	}
}

/* Takes one block. */
static bool
take_block(void *state, const gnngp_block *block)
{
	predict_state *s = state;
	MemoryContext old = MemoryContextSwitchTo(s->row_context);

	if (s->given.all)
		for (int32 i = 0; i < block->nrows; i++)
			put_row(s, block, i);
	else
		put_given(s, block);
	MemoryContextSwitchTo(old);
	return true;
}

/* Looks up the model and prepares the result. */
static void
open_predict(FunctionCallInfo fcinfo, predict_state *s, int top_argument, int unlabelled_argument)
{
	char	   *name = gnngp_text_argument(fcinfo, 0, "model");

	memset(s, 0, sizeof(*s));
	s->model = gnngp_model_lookup(name, false);
	gnngp_require_node_part(s->model);
	gnngp_require_argument(fcinfo, unlabelled_argument, "unlabelled_only");
	s->unlabelled_only = PG_GETARG_BOOL(unlabelled_argument);
	s->top = PG_ARGISNULL(top_argument) ? PG_INT32_MAX : PG_GETARG_INT32(top_argument);
	if (s->top < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("top must be at least 1"),
				 errhint("Use top => NULL for all classes.")));
	s->class_label = palloc(sizeof(Datum) * Max(s->model->nclass_labels, 1));
	for (int c = 0; c < s->model->nclass_labels; c++)
		s->class_label[c] = CStringGetTextDatum(s->model->class_labels[c]);
	s->row_context = AllocSetContextCreate(CurrentMemoryContext, "gnngp prediction",
										   ALLOCSET_DEFAULT_SIZES);
	InitMaterializedSRF(fcinfo, 0);
	s->store = ((ReturnSetInfo *) fcinfo->resultinfo)->setResult;
	s->desc = ((ReturnSetInfo *) fcinfo->resultinfo)->setDesc;
}

/* Reads the blocks that are asked for. */
static void
run_predict(predict_state *s)
{
	int64	   *keys;

	if (s->given.all)
	{
		gnngp_store_scan(s->model, take_block, s);
		return;
	}
	gnngp_given_ids_sort(&s->given);
	keys = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64) * Max(s->given.n, 1));
	for (int64 i = 0; i < s->given.n; i++)
		keys[i] = s->given.id[i].key;
	gnngp_store_find(s->model, keys, s->given.n, take_block, s);
}

/* The rows of the nodes that an argument names. */
static void
predict_given(FunctionCallInfo fcinfo, int nodes, int top, int unlabelled_only)
{
	predict_state s;
	int			guc_level = NewGUCNestLevel();

	gnngp_pin_output_settings();
	open_predict(fcinfo, &s, top, unlabelled_only);
	gnngp_id_type_open_argument(&s.id_type, s.model, fcinfo, nodes, &hints);
	s.given = gnngp_given_ids_take(&s.id_type, fcinfo, nodes);
	run_predict(&s);
	AtEOXact_GUC(false, guc_level);
}

PG_FUNCTION_INFO_V1(gnngp_predict_typed);

/* gp_predict(model, id or nodes, top, unlabelled_only) */
Datum
gnngp_predict_typed(PG_FUNCTION_ARGS)
{
	predict_given(fcinfo, 1, 2, 3);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(gnngp_predict);

/* gp_predict(model, top, unlabelled_only, nodes bigint[]) of version 0.1.0 */
Datum
gnngp_predict(PG_FUNCTION_ARGS)
{
	predict_given(fcinfo, 3, 1, 2);
	return (Datum) 0;
}
