/*
 * methods.c - the methods beside the Gaussian process: one line of a table for each.
 */
#include "pg/functions/links/links_settings.h"
#include "methods.h"

#include <math.h>

#include "core/train/train.h"
#include "utils/builtins.h"

/* What a method can do. */
typedef struct method
{
	const char *name;
	char	   *(*canonical) (gp_env *env, const char *text, int32 landmarks);
	gp_plan		(*plan) (gp_device *device, const gp_problem *problem, const char *text);
	gp_posterior *(*fit) (gp_device *device, const gp_problem *problem, const void *text);
	gp_features *(*embed) (gp_device *device, const gnngp_data *data, const char *text, int32 clusters,
						   int64 seed);	/* NULL: it does not group nodes */
} method;

/*
 * The calls that methods have alike: the options of a text, errors pointing at its characters; what a
 * fit takes; a fit.
 */
#define METHOD_CALLS(name) \
static gp_##name \
name##_options(gp_env *env, const char *text) \
{ \
	gnngp_env_set_text(env, text, "method"); \
	return gp_##name##_parse(env, text); \
} \
\
static gp_plan \
name##_plan(gp_device *device, const gp_problem *problem, const char *text) \
{ \
	gp_##name	options = name##_options(device->env, text); \
\
	return gp_##name##_plan(device, problem, &options); \
} \
\
static gp_posterior * \
name##_fit(gp_device *device, const gp_problem *problem, const void *text) \
{ \
	gp_##name	options = name##_options(device->env, text); \
\
	return gp_##name##_fit(device, problem, &options); \
}

METHOD_CALLS(gckm)
METHOD_CALLS(gpsrf)

/* The canonical text, in which landmarks that were asked for, 0 when none were, take the option's place. */
static char *
gckm_canonical(gp_env *env, const char *text, int32 landmarks)
{
	gp_gckm		options = gckm_options(env, text);

	if (landmarks > GP_SYEV_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("landmarks must be at most %d for method gckm", GP_SYEV_MAX)));
	if (landmarks > 0)
		options.landmarks = landmarks;
	return gp_gckm_print(env, &options);
}

/* The last layer's components, as many as there are clusters where nothing else is said. */
static gp_features *
gckm_embed(gp_device *device, const gnngp_data *data, const char *text, int32 clusters, int64 seed)
{
	gp_gckm		options = gckm_options(device->env, text);
	int		   *last = &options.components_of[options.layers - 1];

	if (*last == 0)
		*last = Min(clusters, GP_SYEV_MAX);
	return gp_gckm_embedding(device, data->graph, data->features, (uint64_t) seed, &options);
}

/* The canonical text; there are no landmarks. */
static char *
gpsrf_canonical(gp_env *env, const char *text, int32 landmarks)
{
	gp_gpsrf	options = gpsrf_options(env, text);

	if (landmarks > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method gpsrf has no landmarks"),
				 errhint("The number of its cosines is an option: gpsrf(features=500).")));
	return gp_gpsrf_print(env, &options);
}

static const method methods[] = {
	{"gckm", gckm_canonical, gckm_plan, gckm_fit, gckm_embed},
	{"gpsrf", gpsrf_canonical, gpsrf_plan, gpsrf_fit, NULL},
};

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
		list = psprintf("%s%s%s", list, i + 1 < (int) lengthof(methods) ? ", " : " and ", methods[i].name);
	return list;
}

/* The method that a text names; 22023 when there is none. */
static const method *
find_method(gp_env *env, const char *text)
{
	gnngp_env_set_text(env, text, "method");
	for (int i = 0; i < (int) lengthof(methods); i++)
		if (gp_method_is(env, text, methods[i].name))
			return &methods[i];
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
refuse_setting(const method *m, const char *setting, bool given)
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
	const method *m;
	char	   *canonical;

	if (gnngp_method_is_gp(settings->method))
		return pstrdup(GNNGP_METHOD_GP);
	env = gnngp_env_create(CurrentMemoryContext);
	m = find_method(env, settings->method);
	canonical = pstrdup(m->canonical(env, settings->method, settings->landmarks));
	gnngp_env_destroy(env);
	refuse_setting(m, "kernel", !gnngp_kernel_is_auto(settings->kernel));
	refuse_setting(m, "strategy", pg_strcasecmp(settings->strategy, "auto") != 0);
	refuse_setting(m, "nugget", !isnan(settings->nugget));
	refuse_setting(m, "live", settings->live);
	return canonical;
}

/* Fits by a method. */
gp_posterior *
gnngp_method_fit(gnngp_run *run, gp_problem *problem, const char *text)
{
	return gnngp_run_fit_by(run, problem, find_method(run->env, text)->fit, text);
}

/* Plans a fit by a method. */
gp_plan
gnngp_method_plan(gp_device *device, const gp_problem *problem, const char *text)
{
	return find_method(device->env, text)->plan(device, problem, text);
}

/* Features to group nodes by. */
gp_features *
gnngp_method_embedding(gp_device *device, const gnngp_data *data, const char *text, int32 clusters, int64 seed)
{
	const method *m = find_method(device->env, text);

	if (m->embed == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("method %s does not group nodes", m->name),
				 errhint("Use method => 'gckm', or a kernel.")));
	return m->embed(device, data, text, clusters, seed);
}
