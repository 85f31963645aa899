/*
 * predict.c - gp_predict, both forms: rows from the stored blocks.
 *
 * The rows go into a tuplestore block by block; a FROM clause would collect
 * them in one anyway.  Class labels are made once and shared by all rows.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "predict_ids.h"
#include "problem.h"
#include "store.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

/* The columns of gp_predict's rows. */
enum predict_column
{
	PREDICT_NODE, PREDICT_CLASS, PREDICT_SCORE, PREDICT_VARIANCE, PREDICT_PROBABILITY,
	PREDICT_COLUMNS
};

static const gnngp_id_hints hints = {
	"Use gp_predict(%1$s) for all nodes, or an integer id.",
	"Use gp_predict(%1$s, NULL::%2$s) for all nodes, or an id of that type.",
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
	/* all nodes unless keys is set */
	int64	   *keys;			/* ascending */
	int64		nkeys;
	int64		next;
	const char *text;			/* of the one key, when ids are no integers */
	int			text_length;
} predict_state;

/* The probability of the k-th best class of a row. */
static double
class_probability(const predict_state *s, const gnngp_block *block, const gnngp_node_row *row,
				  uint16 class, float score)
{
	if (row->is_prior && block->shares)
		return gnngp_get_double(block->shares + (size_t) class * sizeof(double));
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

/* Puts the rows of a block that are asked for by key. */
static void
put_keys(predict_state *s, const gnngp_block *block)
{
	for (; s->next < s->nkeys; s->next++)
	{
		int64		key = s->keys[s->next];
		int32		i = gnngp_block_search(block, key);
		gnngp_node_row row;

		if (i == block->nrows)
			return;				/* it may be in a later block */
		gnngp_block_row(block, i, &row);
		if (row.key == key)
			put_row(s, block, i);
	}
}

/* Puts the row of a block that is asked for by text. */
static void
put_text(predict_state *s, const gnngp_block *block)
{
	for (int32 i = gnngp_block_search(block, s->keys[0]); i < block->nrows; i++)
	{
		gnngp_node_row row;

		gnngp_block_row(block, i, &row);
		if (row.key != s->keys[0])
			return;
		if (row.id_length == s->text_length &&
			memcmp(row.id_text, s->text, s->text_length) == 0)
			put_row(s, block, i);
	}
}

/* Takes one block. */
static bool
take_block(void *state, const gnngp_block *block)
{
	predict_state *s = state;
	MemoryContext old = MemoryContextSwitchTo(s->row_context);

	if (s->keys == NULL)
		for (int32 i = 0; i < block->nrows; i++)
			put_row(s, block, i);
	else if (s->text)
		put_text(s, block);
	else
		put_keys(s, block);
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
	if (s->keys == NULL)
		gnngp_store_scan(s->model, take_block, s);
	else
		gnngp_store_find(s->model, s->keys, s->nkeys, take_block, s);
}

/* Orders keys. */
static int
compare_keys(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* The keys of an array of nodes, sorted, each once; NULL elements are left out. */
static void
take_node_array(predict_state *s, ArrayType *array)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &elements, &nulls, &n);
	s->keys = palloc(sizeof(int64) * Max(n, 1));
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			s->keys[s->nkeys++] = DatumGetInt64(elements[i]);
	qsort(s->keys, s->nkeys, sizeof(int64), compare_keys);
	s->nkeys = qunique(s->keys, s->nkeys, sizeof(int64), compare_keys);
}

PG_FUNCTION_INFO_V1(gnngp_predict);

/* gp_predict(model, top, unlabelled_only, nodes bigint[]) */
Datum
gnngp_predict(PG_FUNCTION_ARGS)
{
	predict_state s;
	int			guc_level = NewGUCNestLevel();

	gnngp_pin_output_settings();
	open_predict(fcinfo, &s, 1, 2);
	if (!s.model->integer_ids)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the nodes of model \"%s\" are no integers but of type %s",
						s.model->name, gnngp_id_type_name(s.model)),
				 errhint("Use gp_predict(%s, NULL::%s), which gives nodes of that type.",
						 quote_literal_cstr(s.model->name), gnngp_id_type_name(s.model))));
	gnngp_id_type_open(&s.id_type, s.model, INT8OID, &hints);
	if (!PG_ARGISNULL(3))
		take_node_array(&s, PG_GETARG_ARRAYTYPE_P(3));
	run_predict(&s);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(gnngp_predict_typed);

/* gp_predict(model, id anyelement, top, unlabelled_only) */
Datum
gnngp_predict_typed(PG_FUNCTION_ARGS)
{
	predict_state s;
	int			guc_level = NewGUCNestLevel();

	gnngp_pin_output_settings();
	open_predict(fcinfo, &s, 2, 3);
	gnngp_id_type_open(&s.id_type, s.model, get_fn_expr_argtype(fcinfo->flinfo, 1), &hints);
	if (!PG_ARGISNULL(1))
	{
		s.keys = palloc(sizeof(int64));
		s.keys[0] = gnngp_id_type_key(&s.id_type, PG_GETARG_DATUM(1), &s.text, &s.text_length);
		s.nkeys = 1;
	}
	run_predict(&s);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}
