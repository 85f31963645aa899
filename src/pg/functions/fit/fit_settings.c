/*
 * fit_settings.c - checking the settings of a fit and handing them to the core.
 */
#include "postgres.h"

#include "pg/functions/functions.h"
#include "methods.h"

#define LIVE_DOUBLE 20000		/* nodes up to which that takes little time */

/* The words that a user may write, and those that are stored for them. */
static const char *const kinds[] = {"auto", "classification", "classes", "regression", "values"};
static const char *const stored_kinds[] = {"auto", "classes", "classes", "values", "values"};

double
gnngp_nugget_argument(FunctionCallInfo fcinfo, int argno)
{
	if (PG_ARGISNULL(argno))
		return NAN;
	return isnan(PG_GETARG_FLOAT8(argno)) ? -1.0 : PG_GETARG_FLOAT8(argno);
}

void
gnngp_check_nugget(double nugget)
{
	if (!isnan(nugget) && !(nugget > 0 && isfinite(nugget)))
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"Leave nugget NULL to have it chosen by leave-one-out.",
					"nugget must be positive and finite");
}

void
gnngp_fit_settings_check(gnngp_fit_settings *settings)
{
	int			kind = gnngp_require_word("task", settings->target_kind, lengthof(kinds), kinds,
										  "A task is auto, classification or regression.");
	int			strategy =
		gnngp_require_word("strategy", settings->strategy, GP_STRATEGIES, gp_strategy_names,
											  "A strategy is auto, exact, nystrom, precision or sql.");

	settings->target_kind = pstrdup(stored_kinds[kind]);
	settings->strategy = pstrdup(gp_strategy_names[strategy]);
	gnngp_check_nugget(settings->nugget);
	gnngp_method_check(settings);
}

gnngp_fit_settings
gnngp_fit_settings_default(void)
{
	return (gnngp_fit_settings) {
		.kernel = GNNGP_KERNEL_AUTO,
		.target_kind = "auto",
		.strategy = "auto",
		.nugget = NAN,
		.method = GNNGP_METHOD_GP
	};
}

void
gnngp_fit_set_precision(gp_env *env, gnngp_data *data, const gnngp_fit_settings *settings)
{
	if (!settings->live || data->task_data || data->ids.n > LIVE_DOUBLE)
		return;
	data->type = GP_DOUBLE;
	data->features = gp_features_as(env, data->features, GP_DOUBLE);
	data->other = gp_features_as(env, data->other, GP_DOUBLE);
}

void
gnngp_problem_init(gp_problem *problem, const gnngp_data *data,
				   const gnngp_fit_settings *settings)
{
	*problem = (gp_problem) {
		.graph = data->graph,.features = data->features,.moments = data->moments,
		.other = data->other,.other_moments = data->other_moments,
		.task = data->target_kind,.nlabelled = data->nlabelled,
		.labelled = data->labelled,.label = data->label,.target = data->target,
		.nclasses = data->nclasses,.nlandmarks = settings->landmarks,.nugget = settings->nugget,
		.live = settings->live,.divided = data->divided,.seed = (uint64_t) settings->seed,
		.type = data->type
	};
	if (data->encoding)
	{
		problem->encoding = (const double *) data->encoding->encoded;
		problem->encoding_rows = data->encoding->nencoded;
		problem->encoding_cols = GNNGP_ENCODED_DOUBLES;
	}
	while (strcmp(settings->strategy, gp_strategy_names[problem->strategy]) != 0)
		problem->strategy++;
}
