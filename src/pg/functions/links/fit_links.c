/*
 * fit_links.c - gp_fit_links, whose steps are those of gp_fit.
 */
#include "postgres.h"

#include "pg/functions/fit/fit_run.h"
#include "links_settings.h"

/* The settings among gp_fit_links's arguments. */
static gnngp_link_settings
link_fit_settings(FunctionCallInfo fcinfo)
{
	gnngp_link_settings settings;
	bool		given = !PG_ARGISNULL(2);
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);

	settings.kernel = given ? gnngp_kernel_argument(fcinfo, 2) : pstrdup(GNNGP_LINK_KERNEL);
	settings.method = gnngp_text_argument(fcinfo, 3, "method");
	/* A method may be named as the kernel, too. */
	if (given && gnngp_link_has_method(env, settings.kernel))
	{
		if (!gnngp_kernel_is_auto(settings.method))
			gnngp_raise(INVALID_PARAMETER_VALUE, "It is a method itself: leave method out.",
						"kernel \"%s\" cannot be given with method %s", settings.kernel,
						settings.method);
		settings.method = settings.kernel;
		settings.kernel = pstrdup(GNNGP_LINK_KERNEL);
		given = false;
	}
	gnngp_env_destroy(env);
	gnngp_require_argument(fcinfo, 4, "seed");
	settings.seed = PG_GETARG_INT64(4);
	settings.keep = PG_ARGISNULL(6) ? 0 : PG_GETARG_INT32(6);
	settings.min_probability = PG_ARGISNULL(7) ? 0.0 : PG_GETARG_FLOAT8(7);
	settings.missing_share = PG_ARGISNULL(8) ? GP_LINK_MISSING_SHARE : PG_GETARG_FLOAT8(8);
	gnngp_link_settings_check(&settings);
	if (given)
		gnngp_link_allow_kernel(&settings);
	return settings;
}

PG_FUNCTION_INFO_V1(gnngp_fit_links);

/*
 * gp_fit_links(graph, model, kernel, method, seed, replace, keep, min_probability, missing_share)
 */
Datum
gnngp_fit_links(PG_FUNCTION_ARGS)
{
	gnngp_link_settings settings;

	gnngp_prevent_read_only("gp_fit_links");
	settings = link_fit_settings(fcinfo);
	PG_RETURN_DATUM(gnngp_fit_call(fcinfo, NULL, &settings, 5));
}
