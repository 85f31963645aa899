/*
 * predict_ids.c - from stored ids to values and back.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "parser/parse_type.h"
#include "predict_ids.h"
#include "reader.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#endif

/* True for the types whose values are integers. */
static bool
is_integer(Oid base)
{
	return base == INT2OID || base == INT4OID || base == INT8OID;
}

/* True for the types whose text is the value itself. */
static bool
is_string(Oid base)
{
	return base == TEXTOID || base == VARCHAROID || base == BPCHAROID;
}

/* The model's id type, or InvalidOid when it is gone. */
static Oid
lookup_type(const gnngp_model *model)
{
	Oid			type = InvalidOid;
	int32		typmod;

#if PG_VERSION_NUM >= 160000
	ErrorSaveContext quiet = {.type = T_ErrorSaveContext};

	(void) parseTypeString(model->id_type, &type, &typmod, (Node *) &quiet);
#else
	parseTypeString(model->id_type, &type, &typmod, true);
#endif
	return type;
}

/* True when the model's ids are values of the type. */
static bool
fits(const gnngp_model *model, Oid base)
{
	Oid			own;

	if (model->integer_ids)
		return is_integer(base);
	if (strcmp(gnngp_type_name(base), model->id_type) == 0)
		return true;
	own = lookup_type(model);
	own = OidIsValid(own) ? getBaseType(own) : InvalidOid;
	return own == base || (is_string(own) && is_string(base));
}

/* The name of the model's id type for messages: short where it can be. */
const char *
gnngp_id_type_name(const gnngp_model *model)
{
	Oid			type = lookup_type(model);

	return OidIsValid(type) ? format_type_be(type) : model->id_type;
}

/* 42804: the model's ids are of another type. */
static void
report_mismatch(const gnngp_model *model, Oid type, const gnngp_id_hints *hints)
{
	const char *name = gnngp_id_type_name(model);

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("%s \"%s\" has nodes of type %s, not %s", hints->kind, model->name, name,
					format_type_be(type)),
			 errhint(model->integer_ids ? hints->integers : hints->others,
					 quote_literal_cstr(model->name), name)));
}

/* Checks the type and looks up how to make its values. */
void
gnngp_id_type_open(gnngp_id_type *t, const gnngp_model *model, Oid type,
				   const gnngp_id_hints *hints)
{
	Oid			input;

	memset(t, 0, sizeof(*t));
	t->model = model;
	t->type = type;
	t->base = getBaseType(type);
	if (!fits(model, t->base))
		report_mismatch(model, type, hints);
	t->string = is_string(t->base);
	getTypeInputInfo(t->base, &input, &t->ioparam);
	fmgr_info(input, &t->input);
}

/* An integer id as a value of the type; 22003 when it does not fit. */
static Datum
integer_datum(const gnngp_id_type *t, int64 key)
{
	if (t->base == INT8OID)
		return Int64GetDatum(key);
	if (t->base == INT4OID && key >= PG_INT32_MIN && key <= PG_INT32_MAX)
		return Int32GetDatum((int32) key);
	if (t->base == INT2OID && key >= PG_INT16_MIN && key <= PG_INT16_MAX)
		return Int16GetDatum((int16) key);
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("node " INT64_FORMAT " does not fit the type %s", key,
					format_type_be(t->type)),
			 errhint("Use the type bigint.")));
	return (Datum) 0;			/* keeps the compiler quiet */
}

/* The id of a row as a value of the type under a domain. */
static Datum
base_datum(const gnngp_id_type *t, const gnngp_node_row *row)
{
	if (t->model->integer_ids)
		return integer_datum(t, row->key);
	if (t->string)
		return PointerGetDatum(cstring_to_text_with_len(row->id_text, row->id_length));
	return InputFunctionCall(unconstify(FmgrInfo *, &t->input),
							 pnstrdup(row->id_text, row->id_length), t->ioparam, -1);
}

/* The id of a row as a value; a domain's own checks have the last word. */
Datum
gnngp_id_type_datum(gnngp_id_type *t, const gnngp_node_row *row)
{
	Datum		value = base_datum(t, row);

	if (t->type != t->base)
		domain_check(value, false, t->type, &t->domain, t->input.fn_mcxt);
	return value;
}

/* The key under which a value is stored. */
int64
gnngp_id_type_key(const gnngp_id_type *t, Datum value, const char **text, int *length)
{
	*text = NULL;
	*length = 0;
	if (t->model->integer_ids)
		return t->base == INT8OID ? DatumGetInt64(value)
			: t->base == INT4OID ? DatumGetInt32(value) : DatumGetInt16(value);
	*text = gnngp_value_text(value, t->base, length);
	return gnngp_text_key(*text, *length);
}
