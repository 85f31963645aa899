/*
 * arguments.c - arguments of SQL functions and columns of their rows.
 */
#include "postgres.h"

#include "arguments.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "core/formula/formula.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "raise.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

#define MOST_COLUMNS 16			/* of a set of rows */

void
gnngp_require_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		gnngp_raise(NULL_VALUE_NOT_ALLOWED, NULL, "%s must not be NULL", name);
}

char *
gnngp_text_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	gnngp_require_argument(fcinfo, argno, name);
	return text_to_cstring(PG_GETARG_TEXT_PP(argno));
}

bool
gnngp_bool_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	gnngp_require_argument(fcinfo, argno, name);
	return PG_GETARG_BOOL(argno);
}

char *
gnngp_kernel_argument(FunctionCallInfo fcinfo, int argno)
{
	Oid			output;
	bool		is_varlena;

	gnngp_require_argument(fcinfo, argno, "kernel");
	getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, argno), &output, &is_varlena);
	return OidOutputFunctionCall(output, PG_GETARG_DATUM(argno));
}

int32
gnngp_landmarks_argument(FunctionCallInfo fcinfo, int argno)
{
	if (PG_ARGISNULL(argno))
		return 0;
	if (PG_GETARG_INT32(argno) < 1)
		gnngp_raise(INVALID_PARAMETER_VALUE, "Leave landmarks NULL to have their number chosen.",
					"landmarks must be at least 1");
	return PG_GETARG_INT32(argno);
}

int32
gnngp_count_argument(FunctionCallInfo fcinfo, int argno, const char *name, const char *hint)
{
	int32		count = PG_ARGISNULL(argno) ? PG_INT32_MAX : PG_GETARG_INT32(argno);

	if (count < 1)
		gnngp_raise(INVALID_PARAMETER_VALUE, hint, "%s must be at least 1", name);
	return count;
}

int
gnngp_require_word(const char *what, const char *word, int n, const char *const *words,
				   const char *hint)
{
	gp_meant	meant = gp_meant_start(word, (int) strlen(word));

	for (int i = 0; i < n; i++)
	{
		if (pg_strcasecmp(words[i], word) == 0)
			return i;
		gp_meant_consider(&meant, words[i]);
	}
	gnngp_raise(INVALID_PARAMETER_VALUE,
				meant.name ? psprintf(GP_MEANT "%s", meant.name, hint) : hint,
				"unknown %s \"%s\"", what, word);
}

void
gnngp_require_list(ArrayType *array, const char *name)
{
	if (ARR_NDIM(array) > 1)
		gnngp_raise(ARRAY_SUBSCRIPT_ERROR, "Write it as '{a,b}'.",
					"%s must be an array of one dimension", name);
}

int
gnngp_array_elements(ArrayType *array, Datum **element, bool **null)
{
	int16		size;
	bool		by_value;
	char		align;
	int			n;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &size, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), size, by_value, align, element, null, &n);
	return n;
}

Datum
gnngp_make_array(Datum *element, int n, Oid type)
{
	int16		size;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(type, &size, &by_value, &align);
	return PointerGetDatum(construct_array(element, n, type, size, by_value, align));
}

gnngp_texts
gnngp_texts_of(Datum value)
{
	gnngp_texts list;
	Datum	   *elements;
	ArrayType  *array = DatumGetArrayTypePCopy(value);
	bool		names = ARR_ELEMTYPE(array) == NAMEOID;

	list.n = gnngp_array_elements(array, &elements, NULL);
	list.text = palloc(sizeof(char *) * Max(list.n, 1));
	for (int i = 0; i < list.n; i++)
		list.text[i] = names ? pstrdup(NameStr(*DatumGetName(elements[i]))) :
			TextDatumGetCString(elements[i]);
	return list;
}

gnngp_texts
gnngp_texts_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argno);

	gnngp_require_list(array, name);
	if (array_contains_nulls(array))
		gnngp_raise(NULL_VALUE_NOT_ALLOWED, NULL, "%s must not contain NULL", name);
	return gnngp_texts_of(PointerGetDatum(array));
}

/* ---- rows of functions that return some ---- */

NullableDatum
gnngp_out_float(double v)
{
	return isnan(v) ? GNNGP_OUT_NULL : gnngp_out(Float8GetDatum(v));
}

NullableDatum
gnngp_out_text(const char *text)
{
	return text ? gnngp_out(CStringGetTextDatum(text)) : GNNGP_OUT_NULL;
}

gnngp_result *
gnngp_result_start(FunctionCallInfo fcinfo)
{
	gnngp_result *result = palloc(sizeof(gnngp_result));
	const ReturnSetInfo *set = (const ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	*result = (gnngp_result) {
		.store = set->setResult,.desc = set->setDesc,
		.row = AllocSetContextCreate(CurrentMemoryContext, "gnngp row", ALLOCSET_DEFAULT_SIZES)
	};
	return result;
}

/* The values and NULLs of a row, which the SQL of another version may declare otherwise. */
static void
split_cells(TupleDesc desc, int n, const NullableDatum *cell, Datum *values, bool *nulls)
{
	if (desc->natts != n)
		elog(ERROR, "a row has %d columns, and the function declares %d", n, desc->natts);
	for (int i = 0; i < n; i++)
	{
		values[i] = cell[i].value;
		nulls[i] = cell[i].isnull;
	}
}

void
gnngp_emit_row(gnngp_result *result, int n, const NullableDatum *cell)
{
	Datum		values[MOST_COLUMNS];
	bool		nulls[MOST_COLUMNS];

	Assert(n <= MOST_COLUMNS);
	CHECK_FOR_INTERRUPTS();
	split_cells(result->desc, n, cell, values, nulls);
	if (result->sort)
	{
		ExecForceStoreMinimalTuple(gnngp_minimal_tuple(result->desc, values, nulls), result->slot,
								   true);
		tuplesort_puttupleslot(result->sort, result->slot);
		ExecClearTuple(result->slot);
	}
	else
		tuplestore_putvalues(result->store, result->desc, values, nulls);
	MemoryContextSwitchTo(result->caller);
	MemoryContextReset(result->row);
}

void
gnngp_result_sort(gnngp_result *result, AttrNumber first, AttrNumber second)
{
	Oid			greater = lookup_type_cache(FLOAT8OID, TYPECACHE_GT_OPR)->gt_opr;

	result->sort = tuplesort_begin_heap(result->desc, 2, (AttrNumber[]) {first, second},
										(Oid[]) {greater, greater}, (Oid[]) {0, 0},
										(bool[]) {false, false}, work_mem, NULL, TUPLESORT_NONE);
	result->slot = MakeSingleTupleTableSlot(result->desc, &TTSOpsMinimalTuple);
}

void
gnngp_result_end_sort(gnngp_result *result)
{
	if (result->sort == NULL)
		return;
	tuplesort_performsort(result->sort);
	while (tuplesort_gettupleslot(result->sort, true, false, result->slot, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		tuplestore_puttupleslot(result->store, result->slot);
	}
	ExecDropSingleTupleTableSlot(result->slot);
	tuplesort_end(result->sort);
}

Datum
gnngp_make_row(FunctionCallInfo fcinfo, int n, const NullableDatum *cell)
{
	Datum	   *values = palloc(sizeof(Datum) * n);
	bool	   *nulls = palloc(sizeof(bool) * n);
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "a function that returns a row is not declared so");
	split_cells(desc, n, cell, values, nulls);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
