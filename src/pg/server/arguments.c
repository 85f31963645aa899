/*
 * arguments.c - arguments of SQL functions and columns of their rows.
 */
#include "postgres.h"

#include "arguments.h"
#include "core/formula/formula.h"
#include "env_pg.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

bool
gnngp_kernel_is_auto(const char *kernel)
{
	return pg_strcasecmp(kernel, GNNGP_KERNEL_AUTO) == 0;
}

gp_program *
gnngp_compile_kernel(gp_env *env, const char *kernel)
{
	if (gnngp_kernel_is_auto(kernel))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only gp_fit takes kernel auto"),
				 errhint("Name a kernel here, such as gcn; gp_tune(graph) compares them.")));
	gnngp_env_set_text(env, kernel, "kernel");
	return gp_kernel_compile(env, gp_kernel_parse(env, kernel));
}

void
gnngp_require_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be NULL", name)));
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
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("landmarks must be at least 1"),
				 errhint("Leave landmarks NULL to have their number chosen.")));
	return PG_GETARG_INT32(argno);
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
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown %s \"%s\"", what, word),
			 meant.name ? errhint(GP_MEANT "%s", meant.name, hint) : errhint("%s", hint)));
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

void
gnngp_put_float(Datum *values, bool *nulls, int i, double v)
{
	values[i] = Float8GetDatum(v);
	nulls[i] = isnan(v);
}

void
gnngp_put_text(Datum *values, bool *nulls, int i, const char *text)
{
	nulls[i] = text == NULL;
	values[i] = text ? CStringGetTextDatum(text) : (Datum) 0;
}

void
gnngp_put_kernel(Datum *values, bool *nulls, int i, TupleDesc desc, const char *kernel)
{
	Oid			input,
				ioparam;

	getTypeInputInfo(TupleDescAttr(desc, i)->atttypid, &input, &ioparam);
	values[i] = OidInputFunctionCall(input, unconstify(char *, kernel), ioparam, -1);
	nulls[i] = false;
}
