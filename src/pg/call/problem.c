/*
 * problem.c - checking the settings of a fit and handing them to the core.
 */
#include "postgres.h"

#include <math.h>

#include "access/tupdesc.h"
#include "fit.h"
#include "pg/host/host.h"
#include "problem.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* A word that a user may write, and the one that is stored. */
typedef struct word
{
	const char *written;
	const char *stored;
} word;

static const word tasks[] = {
	{"auto", "auto"},
	{"classification", "classes"},
	{"classes", "classes"},
	{"regression", "values"},
	{"values", "values"},
	{NULL, NULL}
};

static const word strategies[] = {
	{"auto", "auto"},
	{"exact", "exact"},
	{"nystrom", "nystrom"},
	{NULL, NULL}
};

/* The stored form of a word; 22023 when it is none of the list. */
static char *
normalise_word(const word *list, const char *what, const char *written, const char *hint)
{
	for (; list->written; list++)
		if (pg_strcasecmp(list->written, written) == 0)
			return pstrdup(list->stored);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown %s \"%s\"", what, written),
			 errhint("%s", hint)));
	return NULL;				/* keeps the compiler quiet */
}

/* Checks settings and brings words to their stored form. */
void
gnngp_fit_settings_check(gnngp_fit_settings *settings)
{
	settings->task = normalise_word(tasks, "task", settings->task,
									"A task is auto, classification or regression.");
	settings->strategy = normalise_word(strategies, "strategy", settings->strategy,
										"A strategy is auto, exact or nystrom.");
	if (settings->landmarks < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("landmarks must be at least 1"),
				 errhint("Leave landmarks NULL to have their number chosen.")));
	if (!isnan(settings->nugget) && !(settings->nugget > 0 && isfinite(settings->nugget)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("nugget must be positive and finite"),
				 errhint("Leave nugget NULL to have it chosen by leave-one-out.")));
}

/* What is used where the user says nothing. */
gnngp_fit_settings
gnngp_fit_settings_default(void)
{
	gnngp_fit_settings settings;

	memset(&settings, 0, sizeof(settings));
	settings.kernel = "gcn";
	settings.task = "auto";
	settings.strategy = "auto";
	settings.nugget = NAN;
	return settings;
}

/* Compiles a kernel. */
gp_program *
gnngp_compile_kernel(gp_env *env, const char *kernel)
{
	gnngp_env_set_text(env, kernel);
	return gp_kernel_compile(env, gp_kernel_parse(env, kernel));
}

/* Fills what the core starts from. */
void
gnngp_problem_init(gp_problem *problem, const gnngp_data *data, const gp_program *program,
				   const gnngp_fit_settings *settings)
{
	memset(problem, 0, sizeof(*problem));
	problem->graph = data->graph;
	problem->features = data->features;
	problem->program = program;
	problem->task = data->task;
	problem->nlabelled = data->nlabelled;
	problem->labelled = data->labelled;
	problem->label = data->label;
	problem->target = data->target;
	problem->nclasses = data->nclasses;
	problem->strategy = strcmp(settings->strategy, "exact") == 0 ? GP_STRATEGY_EXACT
		: strcmp(settings->strategy, "nystrom") == 0 ? GP_STRATEGY_NYSTROM
		: GP_STRATEGY_AUTO;
	problem->nlandmarks = settings->landmarks;
	problem->nugget = settings->nugget;
	problem->seed = (uint64_t) settings->seed;
	problem->type = GP_FLOAT;
}

/* 22004 for a NULL that means nothing. */
void
gnngp_require_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be NULL", name)));
}

/* A text argument. */
char *
gnngp_text_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	gnngp_require_argument(fcinfo, argno, name);
	return text_to_cstring(PG_GETARG_TEXT_PP(argno));
}

/* A kernel argument, by the output function of its type. */
char *
gnngp_kernel_argument(FunctionCallInfo fcinfo, int argno)
{
	Oid			output;
	bool		is_varlena;

	gnngp_require_argument(fcinfo, argno, "kernel");
	getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, argno), &output, &is_varlena);
	return OidOutputFunctionCall(output, PG_GETARG_DATUM(argno));
}

/* A number of landmarks. */
int32
gnngp_landmarks_argument(FunctionCallInfo fcinfo, int argno)
{
	if (PG_ARGISNULL(argno))
		return 0;
	return PG_GETARG_INT32(argno) >= 1 ? PG_GETARG_INT32(argno) : -1;
}

/* A float8 in a result row. */
void
gnngp_put_float(Datum *values, bool *nulls, int i, double v)
{
	values[i] = Float8GetDatum(v);
	nulls[i] = isnan(v);
}

/* A text in a result row. */
void
gnngp_put_text(Datum *values, bool *nulls, int i, const char *text)
{
	nulls[i] = text == NULL;
	values[i] = text ? CStringGetTextDatum(text) : (Datum) 0;
}

/* A kernel in a result row. */
void
gnngp_put_kernel(Datum *values, bool *nulls, int i, TupleDesc desc, const char *kernel)
{
	Oid			input,
				ioparam;

	getTypeInputInfo(TupleDescAttr(desc, i)->atttypid, &input, &ioparam);
	values[i] = OidInputFunctionCall(input, unconstify(char *, kernel), ioparam, -1);
	nulls[i] = false;
}
