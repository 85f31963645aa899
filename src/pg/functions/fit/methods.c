/*
 * methods.c - the methods beside the Gaussian process: one line of a table for each.
 */
#include "pg/functions/links/links_settings.h"
#include "methods.h"

#include <math.h>

#include "core/train/train.h"
#include "utils/builtins.h"

/* The methods that learn from the labels of nodes. */
static const gp_method *const methods[] = {&gp_method_gckm, &gp_method_gpsrf};

/* Options of any method. */
typedef union method_options
{
	gp_gckm		gckm;
	gp_gpsrf	gpsrf;
} method_options;

/* True for the Gaussian process. */
bool
gnngp_method_is_gp(const char *text)
{
	return pg_strcasecmp(text, GNNGP_METHOD_GP) == 0;
}

/* The names of all methods, as a hint lists them. */
static const char *
method_names(void)
{
	char	   *list = GNNGP_METHOD_GP;

	for (int i = 0; i < (int) lengthof(methods); i++)
		list = psprintf("%s%s%s", list, i + 1 < (int) lengthof(methods) ? ", " : " and ", methods[i]->name);
	return list;
}

/* The method that a text names, and its options; 22023 when there is none. */
static const gp_method *
find_method(gp_env *env, const char *text, method_options *options)
{
	gnngp_env_set_text(env, text, "method");
	for (int i = 0; i < (int) lengthof(methods); i++)
		if (gp_method_is(env, text, methods[i]->name))
		{
			gp_method_parse(env, methods[i]->text, text, options);
			return methods[i];
		}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown method \"%s\"", text),
			 pg_strcasecmp(text, "auto") == 0 ?
			 errhint("gp_fit_links alone chooses among its methods; elsewhere leave method out, or name one: scores, pairs and dgp for links, %s for nodes.", method_names()) :
			 gnngp_link_has_method(env, text) ? errhint("It is one of links: gp_fit_links(..., method => %s).", quote_literal_cstr(text)) :
			 errhint("Methods are %s; all but the first take options: gckm(layers=3). Those of links are scores, pairs and dgp.", method_names())));
}

/* 22023 when a setting was given that means nothing for a method. */
static void
refuse_setting(const gp_method *m, const char *setting, bool given)
{
	if (given)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s cannot be given with method %s", setting, m->name),
				 errhint("It is for method => 'gp'; the options of method %s are part of its text.", m->name)));
}

/* The canonical text of the method of settings. */
char *
gnngp_method_check(const gnngp_fit_settings *settings)
{
	gp_env	   *env;
	const gp_method *m;
	method_options options;
	char	   *canonical;

	if (gnngp_method_is_gp(settings->method))
		return pstrdup(GNNGP_METHOD_GP);
	env = gnngp_env_create(CurrentMemoryContext);
	m = find_method(env, settings->method, &options);
	if (m == &gp_method_gckm && settings->landmarks > GP_SYEV_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("landmarks must be at most %d for method gckm", GP_SYEV_MAX)));
	if (m != &gp_method_gckm && settings->landmarks > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method gpsrf has no landmarks"),
				 errhint("The number of its cosines is an option: gpsrf(features=500).")));
	if (settings->landmarks > 0)
		options.gckm.landmarks = settings->landmarks;
	canonical = pstrdup(gp_method_print(env, m->text, &options));
	gnngp_env_destroy(env);
	refuse_setting(m, "kernel", !gnngp_kernel_is_auto(settings->kernel));
	refuse_setting(m, "strategy", pg_strcasecmp(settings->strategy, "auto") != 0);
	refuse_setting(m, "nugget", !isnan(settings->nugget));
	refuse_setting(m, "live", settings->live);
	return canonical;
}

/* A fit by a method on the device that the run chooses. */
static gp_posterior *
fit_by_method(gp_device *device, const gp_problem *problem, const void *text)
{
	method_options options;
	const gp_method *m = find_method(device->env, text, &options);

	return gp_method_fit(device, m, problem, &options);
}

gp_posterior *
gnngp_method_fit(gnngp_run *run, gp_problem *problem, const char *text)
{
	return gnngp_run_fit_by(run, problem, fit_by_method, text);
}

gp_plan
gnngp_method_plan(gp_device *device, const gp_problem *problem, const char *text)
{
	method_options options;
	const gp_method *m = find_method(device->env, text, &options);

	return gp_method_plan(device, m, problem, &options);
}

/* The last layer's components, as many as there are clusters where nothing else is said. */
gp_features *
gnngp_method_embedding(gp_device *device, const gnngp_data *data, const char *text, int32 clusters, int64 seed)
{
	method_options options;
	const gp_method *m = find_method(device->env, text, &options);
	int		   *last;

	if (m != &gp_method_gckm)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("method %s does not group nodes", m->name),
				 errhint("Use method => 'gckm', or a kernel.")));
	last = &options.gckm.components_of[options.gckm.layers - 1];
	if (*last == 0)
		*last = Min(clusters, GP_SYEV_MAX);
	return gp_gckm_embedding(device, data->graph, data->features, (uint64_t) seed, &options.gckm);
}
