/*
 * methods.c - the methods beside the Gaussian process: one line of a table for each.
 */
#include "postgres.h"

#include "methods.h"

#include "core/train/train.h"

/* The methods that learn from the labels of nodes. */
static const gp_method *const methods[] = {&gp_method_gckm, &gp_method_gpsrf};

/* Options of any method. */
typedef union method_options
{
	gp_gckm		gckm;
	gp_gpsrf	gpsrf;
} method_options;

bool
gnngp_method_is_gp(const char *text)
{
	return pg_strcasecmp(text, GNNGP_METHOD_GP) == 0;
}

const char *
gnngp_method_name(gp_env *env, const char *text)
{
	if (gnngp_kernel_is_auto(text) || gnngp_method_is_gp(text))
		return NULL;
	gnngp_env_set_text(env, text, "kernel");
	gp_kernel  *kernel = gp_kernel_parse(env, text);
	const char *name = gp_kernel_method(kernel);
	gp_kernel_free(kernel);
	return name;
}

/* The method of nodes among these; 22023 for one of links. */
static const gp_method *
named_method(gp_env *env, const char *text)
{
	const char *name = gnngp_method_name(env, text);

	if (name == NULL)
		return NULL;
	for (int i = 0; i < (int) lengthof(methods); i++)
		if (strcmp(name, methods[i]->name) == 0)
			return methods[i];
	gnngp_raise(INVALID_PARAMETER_VALUE,
				psprintf("Use gp_fit_links(..., method => %s).", quote_literal_cstr(text)),
				"kernel \"%s\" is for links", text);
}

/* The method that a text must name, and its options. */
static const gp_method *
find_method(gp_env *env, const char *text, method_options *options)
{
	const gp_method *m = named_method(env, text);

	if (m == NULL)
		gnngp_raise(DATA_CORRUPTED, NULL, "kernel \"%s\" of a model is not one that is learnt",
					text);
	gp_method_parse(env, m->text, text, options);
	return m;
}

/* 22023 when a setting was given that means nothing for a method. */
static void
refuse_setting(const gp_method *m, const char *setting, bool given)
{
	if (given)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					psprintf("The options of kernel %s are part of its text.", m->name),
					"%s cannot be given with kernel %s", setting, m->name);
}

void
gnngp_method_check(gnngp_fit_settings *settings)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	const gp_method *m = named_method(env, settings->kernel);
	method_options options;

	/* As they are stored: a method beside kernel auto. */
	if (m == NULL && !gnngp_method_is_gp(settings->method) &&
		!gnngp_kernel_is_auto(settings->kernel))
		gnngp_raise(DATA_CORRUPTED, NULL, "kernel \"%s\" and method \"%s\" of a model contradict each other",
					settings->kernel, settings->method);
	if (m == NULL && !gnngp_method_is_gp(settings->method))
		(void) find_method(env, settings->method, &options);
	if (m != NULL)
	{
		gp_method_parse(env, m->text, settings->kernel, &options);
		if (m == &gp_method_gckm && settings->landmarks > GP_SYEV_MAX)
			gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "landmarks must be at most %d for kernel gckm",
						GP_SYEV_MAX);
		refuse_setting(m, "landmarks", m != &gp_method_gckm && settings->landmarks > 0);
		if (settings->landmarks > 0)
			options.gckm.landmarks = settings->landmarks;
		settings->method = pstrdup(gp_method_print(env, m->text, &options));
		settings->kernel = GNNGP_KERNEL_AUTO;
		refuse_setting(m, "strategy", pg_strcasecmp(settings->strategy, "auto") != 0);
		refuse_setting(m, "nugget", !isnan(settings->nugget));
		refuse_setting(m, "live", settings->live);
	}
	gnngp_env_destroy(env);
}

bool
gnngp_settings_choose_kernel(const gnngp_fit_settings *settings)
{
	return gnngp_method_is_gp(settings->method) && gnngp_kernel_is_auto(settings->kernel);
}

char *
gnngp_settings_kernel(const gnngp_fit_settings *settings)
{
	return gnngp_method_is_gp(settings->method) ? settings->kernel : settings->method;
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
gnngp_method_fit(gnngp_computation *compute, gp_problem *problem, const char *text)
{
	return gnngp_fit_on_device(compute, problem, fit_by_method, text);
}

gp_plan
gnngp_method_plan(gp_device *device, const gp_problem *problem, const char *text)
{
	method_options options;
	const gp_method *m = find_method(device->env, text, &options);

	return gp_method_plan(device, m, problem, &options);
}

gp_features *
gnngp_method_embedding(gp_device *device, const gnngp_data *data, const char *text, int32 clusters,
					   int64 seed)
{
	method_options options;
	const gp_method *m = find_method(device->env, text, &options);

	if (m != &gp_method_gckm)
		gnngp_raise(FEATURE_NOT_SUPPORTED, "Use kernel => 'gckm', or one of a Gaussian process.",
					"kernel %s does not group nodes", m->name);
	int		   *last = &options.gckm.components_of[options.gckm.layers - 1];
	if (*last == 0)
		*last = Min(clusters, GP_SYEV_MAX);
	return gp_gckm_embedding(device, data->graph, data->features, (uint64_t) seed, &options.gckm);
}
