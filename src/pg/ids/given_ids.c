/*
 * given_ids.c - from stored ids to values and back, and the nodes that calls name.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "given_ids.h"
#include "parser/parse_type.h"
#include "utils/fmgroids.h"

#define NODES	1				/* the argument that names nodes, in every function that has one */

/* The model's id type, or InvalidOid when it is gone. */
static Oid
lookup_type(const gnngp_model *model)
{
	Oid			type = InvalidOid;
	int32		typmod;

	(void) parseTypeString(model->id_type, &type, &typmod, GNNGP_NO_ERROR);
	return type;
}

/* True when the model's ids are values of the type. */
static bool
fits(const gnngp_model *model, Oid base)
{
	if (model->integer_ids)
		return gnngp_is_integer_type(base);
	if (strcmp(gnngp_type_name(base), model->id_type) == 0)
		return true;
	Oid			own = lookup_type(model);
	own = OidIsValid(own) ? getBaseType(own) : InvalidOid;
	return own == base || (gnngp_is_string_type(own) && gnngp_is_string_type(base));
}

/* 42804: the model's ids are of another type. */
static void
report_mismatch(const gnngp_model *model, Oid type)
{
	Oid			own = lookup_type(model);
	const char *name = OidIsValid(own) ? format_type_be(own) : model->id_type;

	gnngp_raise(DATATYPE_MISMATCH,
				psprintf("Give ids of type %s, or NULL::text for all nodes where that is possible.",
						 name),
				"%s \"%s\" has nodes of type %s, not %s", model->id > 0 ? "model" : "graph",
				model->name, name, format_type_be(type));
}

static void
open_type(gnngp_id_type *t, const gnngp_model *model, Oid type)
{
	Oid			input;

	memset(t, 0, sizeof(*t));
	t->model = model;
	t->type = type;
	t->base = getBaseType(type);
	t->string = gnngp_is_string_type(t->base);
	getTypeInputInfo(t->base, &input, &t->ioparam);
	fmgr_info(input, &t->input);
}

void
gnngp_id_type_open(gnngp_id_type *t, const gnngp_model *model, Oid type)
{
	if (!fits(model, getBaseType(type)))
		report_mismatch(model, type);
	open_type(t, model, type);
}

/* True for the type of a literal that lists integers: the extension's domain over text. */
static bool
is_literal(Oid type)
{
	return type != TEXTOID && getBaseType(type) == TEXTOID;
}

void
gnngp_id_type_open_argument(gnngp_id_type *t, const gnngp_model *model, FunctionCallInfo fcinfo,
							int argno)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argno);
	Oid			element = get_element_type(getBaseType(type));
	Oid			asked = lookup_type(model);
	Oid			own = model->integer_ids ? INT8OID :
		OidIsValid(asked) ? getBaseType(asked) : InvalidOid;

	if (OidIsValid(element))
		type = element;
	else if (is_literal(type) || gnngp_is_integers(type))
		type = INT8OID;
	if (type == TEXTOID && !fits(model, TEXTOID))
	{
		/* Texts as ids of a type that is none. A type's input function must not run code of the
		 * model's owner in the name of a caller who did not name the type: arrays, ranges and rows
		 * may have a domain within. Their texts are compared as they are stored. */
		char		kind = OidIsValid(own) ? get_typtype(own) : '\0';
		bool		read = (kind == TYPTYPE_BASE || kind == TYPTYPE_ENUM) &&
			!OidIsValid(get_element_type(own));

		open_type(t, model, read ? own : TEXTOID);
		t->as_text = read;
		t->as_stored = !read;
		t->shown = OidIsValid(asked) ? format_type_be(asked) : model->id_type;
	}
	/* An integer may be an id of type numeric; but not all of these are integers. */
	else if (gnngp_is_integer_type(getBaseType(type)) && !PG_ARGISNULL(argno) &&
			 own == NUMERICOID)
		open_type(t, model, type);
	else
		gnngp_id_type_open(t, model, type);
}

/* The id of a row as a value of the type under a domain. */
static Datum
base_datum(const gnngp_id_type *t, const gnngp_id *id)
{
	if (t->as_text && t->model->integer_ids)
		return CStringGetTextDatum(psprintf(INT64_FORMAT, id->key));
	if (t->model->integer_ids)
	{
		if (t->base == INT8OID)
			return Int64GetDatum(id->key);
		if (t->base == INT4OID && id->key >= PG_INT32_MIN && id->key <= PG_INT32_MAX)
			return Int32GetDatum((int32) id->key);
		if (t->base == INT2OID && id->key >= PG_INT16_MIN && id->key <= PG_INT16_MAX)
			return Int16GetDatum((int16) id->key);
		gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE, "Use the type bigint.",
					"node " INT64_FORMAT " does not fit the type %s", id->key,
					format_type_be(t->type));
	}
	if (t->string || t->as_text)
		return PointerGetDatum(cstring_to_text_with_len(id->text, id->length));
	if (gnngp_is_integer_type(t->base))
	{
		/* 22003 for an id of type numeric that is not an integer, where the caller names nodes by
		 * integers */
		const char *text = pnstrdup(id->text, id->length);

		if (text[strspn(text, "-0123456789")] != '\0')
			gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE, "Name nodes by ids of type numeric.",
						"node %s does not fit the type %s", text, format_type_be(t->type));
	}
	return InputFunctionCall(unconstify(FmgrInfo *, &t->input),
							 pnstrdup(id->text, id->length), t->ioparam, -1);
}

Datum
gnngp_id_type_datum(gnngp_id_type *t, const gnngp_id *id)
{
	Datum		value = base_datum(t, id);

	if (t->type != t->base)
		domain_check(value, false, t->type, &t->domain, t->input.fn_mcxt);
	return value;
}

/* Says what ids look like where a text is none. */
static void
hint_id_type(void *arg)
{
	const gnngp_id_type *t = arg;

	errhint("The nodes of \"%s\" are named by their ids, of type %s; find the id of a name in "
			"the node table.",
			t->model->name, t->shown);
}

/* The key under which a value is stored, and its text unless ids are integers. */
static gnngp_id
given_id(const gnngp_id_type *t, Datum value)
{
	ErrorContextCallback context = {
		error_context_stack, hint_id_type, unconstify(gnngp_id_type *, t)
	};
	gnngp_id	id = {0};

	if (t->as_text)
	{
		error_context_stack = &context;
		value = InputFunctionCall(unconstify(FmgrInfo *, &t->input), TextDatumGetCString(value),
								  t->ioparam, -1);
		error_context_stack = context.previous;
	}
	if (t->model->integer_ids)
		return (gnngp_id) {.key = gnngp_integer_datum(value, t->base)};
	id.text = gnngp_value_text(value, t->base, NULL, &id.length);
	id.key = gnngp_text_key(id.text, id.length);
	return id;
}

static gnngp_given_ids
one_id(const gnngp_id_type *t, Datum value)
{
	gnngp_given_ids given = {.n = 1,.id = palloc(sizeof(gnngp_id))};

	given.id[0] = given_id(t, value);
	return given;
}

static gnngp_given_ids
read_array(const gnngp_id_type *t, ArrayType *array)
{
	gnngp_given_ids given = {0};
	Datum	   *value;
	bool	   *null;
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	size_t		bytes = (size_t) n * (sizeof(gnngp_id) + sizeof(Datum) + sizeof(bool) +
									  sizeof(int64));
	size_t		left = gnngp_account_left();

	/* What the ids will take, their sorted keys included, is counted before they are read. */
	if (bytes > left)
		gnngp_raise(CONFIGURATION_LIMIT_EXCEEDED,
					"Ask for fewer nodes at a time, or for all of them with NULL.",
					"%d ids need %.1f MB, but gnngp.memory_limit leaves %.1f MB", n,
					bytes / 1048576.0, left / 1048576.0);
	gnngp_account_make_room(bytes, gnngp_setting_memory_limit());
	gnngp_account_hold(palloc0(sizeof(gnngp_holding)), CurrentMemoryContext, bytes);
	(void) gnngp_array_elements(array, &value, &null);
	given.n = n;
	given.id = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(gnngp_id) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (null[i])
			given.id[i] = (gnngp_id) {.null = true};
		else
			given.id[i] = given_id(t, value[i]);
	}
	return given;
}

/* The array of this type that a literal lists. */
static ArrayType *
parse_array(Datum literal, Oid element)
{
	return DatumGetArrayTypeP(OidFunctionCall3(F_ARRAY_IN,
											   CStringGetDatum(TextDatumGetCString(literal)),
											   ObjectIdGetDatum(element), Int32GetDatum(-1)));
}

/* True for a text that is written as an array, as a driver sends a list without a type. */
static bool
is_list(Datum id)
{
	const char *s = TextDatumGetCString(id);
	size_t		end = strlen(s);

	while (end > 0 && strchr(" \t\n", s[end - 1]))
		end--;
	return s[strspn(s, " \t\n")] == '{' && s[end - 1] == '}';
}

gnngp_given_ids
gnngp_given_ids_read(const gnngp_id_type *t, FunctionCallInfo fcinfo, int argno)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argno);
	Datum		value = PG_GETARG_DATUM(argno);

	if (PG_ARGISNULL(argno))
	{
		if (argno == NODES && !get_fn_expr_arg_stable(fcinfo->flinfo, argno))
			gnngp_notice("ARRAY(SELECT ...) is an empty list where a subquery has no row.",
						 "the nodes that this call computes are NULL, which means all nodes");
		return (gnngp_given_ids) {.all = true};
	}
	if (OidIsValid(get_element_type(getBaseType(type))) || gnngp_is_integers(type))
		return read_array(t, DatumGetArrayTypeP(value));
	if (is_literal(type) && !is_list(value))
		gnngp_raise(INVALID_TEXT_REPRESENTATION, "Write '{5,6}'; the argument \"id\" takes one node.",
					"nodes must be a list, not \"%.100s\"", TextDatumGetCString(value));
	if (is_literal(type))
		return read_array(t, parse_array(value, INT8OID));
	if (type == TEXTOID && t->model->integer_ids && is_list(value))
	{
		gnngp_id_type integer = *t;

		integer.as_text = false;
		return read_array(&integer, parse_array(value, INT8OID));
	}
	if (type == TEXTOID && is_list(value))
		return read_array(t, parse_array(value, TEXTOID));
	return one_id(t, value);
}

gnngp_given_ids
gnngp_given_ids_argument(gnngp_id_type *t, const gnngp_model *model, FunctionCallInfo fcinfo,
						 int argno)
{
	gnngp_id_type_open_argument(t, model, fcinfo, argno);
	return gnngp_given_ids_read(t, fcinfo, argno);
}

void
gnngp_id_type_require_input(const gnngp_id_type *t)
{
	if (t->as_stored)
		report_mismatch(t->model, TEXTOID);
}

gnngp_given_ids
gnngp_given_list_argument(const gnngp_model *model, FunctionCallInfo fcinfo, int argno,
						  const char *name)
{
	gnngp_id_type type;
	Oid			given = get_fn_expr_argtype(fcinfo->flinfo, argno);

	if (!OidIsValid(get_element_type(getBaseType(given))) &&
		(given != TEXTOID || !is_list(PG_GETARG_DATUM(argno))))
		gnngp_raise(DATATYPE_MISMATCH,
					psprintf("Write %s => ARRAY[...], of the type of the nodes' ids.", name),
					"%s must be an array of ids", name);
	gnngp_id_type_open_argument(&type, model, fcinfo, argno);
	gnngp_id_type_require_input(&type);
	return gnngp_given_ids_read(&type, fcinfo, argno);
}

bool
gnngp_given_ids_as_written(const gnngp_id_type *t, FunctionCallInfo fcinfo, int argno,
						   gnngp_given_ids *given)
{
	if (PG_ARGISNULL(argno) || get_fn_expr_argtype(fcinfo->flinfo, argno) != TEXTOID ||
		t->as_text || !is_list(PG_GETARG_DATUM(argno)))
		return false;
	*given = one_id(t, PG_GETARG_DATUM(argno));
	return true;
}

void
gnngp_given_ids_sort(gnngp_given_ids *given)
{
	int64		n = 0;

	for (int64 i = 0; i < given->n; i++)
		if (!given->id[i].null)
			given->id[n++] = given->id[i];
	gnngp_sort(given->id, n, sizeof(gnngp_id), gnngp_id_compare, NULL);
	given->n = 0;
	for (int64 i = 0; i < n; i++)
		if (i == 0 || gnngp_id_compare(&given->id[i], &given->id[given->n - 1], NULL) != 0)
			given->id[given->n++] = given->id[i];
}

int64
gnngp_given_ids_find(const gnngp_given_ids *given, const gnngp_id *id)
{
	const gnngp_id *at = bsearch_arg(id, given->id, given->n, sizeof(gnngp_id), gnngp_id_compare,
									 NULL);

	return at ? at - given->id : -1;
}

bool
gnngp_given_ids_have(const gnngp_given_ids *given, const gnngp_id *id)
{
	return given->all || gnngp_given_ids_find(given, id) >= 0;
}

void
gnngp_notice_unknown(const gnngp_model *model, int64 unknown, int64 given)
{
	if (unknown > 0)
		ereport(NOTICE,
				(given == 1 ? errmsg("model \"%s\" does not have the requested node", model->name) :
				 errmsg("model \"%s\" does not have " INT64_FORMAT " of the " INT64_FORMAT
						" requested nodes", model->name, unknown, given),
				 errhint(model->rows > 0 ? GNNGP_UNKNOWN_HINT_OF_TASK : GNNGP_UNKNOWN_HINT)));
}

/* ---- the type gp_integers (sql/parts/nodes.sql says what for) ---- */

bool
gnngp_is_integers(Oid type)
{
	Oid			schema = get_namespace_oid(GNNGP_SCHEMA, true);

	return type == GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("gp_integers"),
								   ObjectIdGetDatum(schema));
}

/* Reads the text of an array of bigint. */
GNNGP_FUNCTION(gnngp_integers_in)
{
	return OidFunctionCall3(F_ARRAY_IN, PG_GETARG_DATUM(0), ObjectIdGetDatum(INT8OID),
							Int32GetDatum(-1));
}

/* The cast from smallint[], integer[] and bigint[]. */
GNNGP_FUNCTION(gnngp_integers)
{
	ArrayType  *given = PG_GETARG_ARRAYTYPE_P(0);
	Oid			type = ARR_ELEMTYPE(given);
	Datum	   *value;
	bool	   *null;
	int			n = gnngp_array_elements(given, &value, &null);

	if (type == INT8OID)
		PG_RETURN_ARRAYTYPE_P(given);
	for (int i = 0; i < n; i++)
		value[i] = Int64GetDatum(gnngp_integer_datum(value[i], type));
	PG_RETURN_ARRAYTYPE_P(construct_md_array(value, null, ARR_NDIM(given), ARR_DIMS(given),
											 ARR_LBOUND(given),
											 INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
