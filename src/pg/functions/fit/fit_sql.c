/*
 * fit_sql.c - gp_fit.
 */
#include "postgres.h"

#include "pg/functions/functions.h"
#include "fit_run.h"
#include "methods.h"
#include "pg/server/server.h"

/* gp_fit(graph, model, kernel, task, strategy, landmarks, nugget, seed, replace, live) */
PG_FUNCTION_INFO_V1(gnngp_fit);
Datum
gnngp_fit(PG_FUNCTION_ARGS)
{
	gnngp_fit_settings settings;

	gnngp_prevent_read_only("gp_fit");
	settings = gnngp_fit_settings_default();

	settings.kernel = gnngp_kernel_argument(fcinfo, 2);
	settings.task = gnngp_text_argument(fcinfo, 3, "task");
	settings.strategy = gnngp_text_argument(fcinfo, 4, "strategy");
	settings.landmarks = gnngp_landmarks_argument(fcinfo, 5);
	settings.nugget = gnngp_nugget_argument(fcinfo, 6);
	gnngp_require_argument(fcinfo, 7, "seed");
	settings.seed = PG_GETARG_INT64(7);
	settings.live = gnngp_live_argument(fcinfo, 9);
	gnngp_fit_settings_check(&settings);
	PG_RETURN_DATUM(gnngp_fit_call(fcinfo, &settings, NULL, 8));
}
