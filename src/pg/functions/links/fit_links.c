/*
 * fit_links.c - the link part of a fit.
 */
#include "postgres.h"

#include "fit_links.h"
#include "pg/functions/fit/methods.h"

#define LEAST_AUC 0.6			/* within a component; a model of less says little there */

/* The names of methods, as they are asked for and stored; that of dgp has options behind it. */
static const char *const methods[] = {
	[GP_LINK_AUTO] = "auto",
	[GP_LINK_SCORES] = "scores",
	[GP_LINK_PAIRS] = "pairs",
	[GP_LINK_DGP] = "dgp",
	[GP_LINK_EASE] = "ease"
};

/* The method of a text, and the options of dgp (else features is 0); 22023 when there is none. */
static gp_link_method
find_method(gp_env *env, const char *text, gp_dgp *options)
{
	char	   *word = pnstrdup(text, strcspn(text, " ("));
	gp_link_method method = (gp_link_method)
		gnngp_require_word("method", word, lengthof(methods), methods,
						   "A method is auto, scores, pairs, ease or dgp; options follow in parentheses: dgp(steps=300).");

	*options = (gp_dgp) {0};
	(void) gnngp_method_name(env, text);	/* refuses options that a method does not have */
	if (method == GP_LINK_DGP)
		gp_method_parse(env, &gp_dgp_text, text, options);
	return method;
}

const char *
gnngp_link_method_name(gp_link_method method)
{
	return methods[method];
}

bool
gnngp_link_has_method(gp_env *env, const char *text)
{
	const char *name = gnngp_method_name(env, text);

	for (int k = 0; name && k < (int) lengthof(methods); k++)
		if (strcmp(name, methods[k]) == 0)
			return true;
	return false;
}

void
gnngp_link_settings_check(gnngp_link_settings *settings)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_dgp		options;
	gp_link_method method = find_method(env, settings->method, &options);

	settings->method = pstrdup(method == GP_LINK_DGP ?
							   gp_method_print(env, &gp_dgp_text, &options) : methods[method]);
	gnngp_env_destroy(env);
	if (settings->keep < 0 || settings->keep > GP_LINK_KEPT)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"keep is the number of pairs that are stored for each node.",
					"keep must be between 0 and %d", GP_LINK_KEPT);
	if (!(settings->min_probability >= 0.0 && settings->min_probability <= 1.0))
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"Pairs with a smaller probability are not stored.",
					"min_probability must be between 0 and 1");
	if (!(settings->missing_share > 0.0 && settings->missing_share < 1.0))
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"missing_share is the share of all links that the graph lacks. It scales the odds of every probability.",
					"missing_share must be greater than 0 and less than 1");
	if (settings->min_probability > 0.0 && settings->keep == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"min_probability limits which pairs are stored: pass keep => 10 as well.",
					"min_probability needs keep");
}

gp_link_kept
gnngp_link_keep(gp_device *device, const gp_link_model *links, const gnngp_link_settings *settings)
{
	if (settings->keep == 0)
		return (gp_link_kept) {0};
	gp_link_kept kept = gp_link_model_keep(device, links, gnngp_setting_threads(), settings->keep,
										   settings->min_probability);
	/* There are candidates, and none of them is likely enough to be kept. */
	if (kept.passed > 0 && kept.first[kept.nodes] == 0)
		gp_notice(device->env, "Pass a smaller one; gp_predict_links shows the probabilities of the "
				  "likeliest pairs.",
				  "no pair is kept: none has a probability of at least %g",
				  settings->min_probability);
	return kept;
}

/* What is to be fitted; options is room. */
static gp_link_problem
make_problem(gp_env *env, const gnngp_data *data, const gnngp_link_settings *settings,
			 gp_dgp *options)
{
	gp_link_problem problem = {0};

	problem.graph = data->graph;
	problem.features = data->features;
	problem.program = gnngp_compile_kernel(env, settings->kernel);
	problem.method = find_method(env, settings->method, options);
	problem.dgp = options->features > 0 ? options : NULL;
	problem.seed = (uint64_t) settings->seed;
	problem.missing_share = settings->missing_share;
	problem.keep = settings->keep;
	return problem;
}

gp_plan
gnngp_link_estimate(gp_device *device, const gnngp_data *data, const gnngp_link_settings *settings,
					size_t limit,
					gp_link_method *method)
{
	gp_dgp		options;
	gp_link_problem problem = make_problem(device->env, data, settings, &options);

	problem.estimate_limit = limit;
	return gp_link_plan_make(device, &problem, method);
}

/* A NOTICE where a count that anybody can query ranks hidden links better. */
static void
notice_counts(gp_env *env, const double *metric)
{
	double		common = Max(metric[GP_LINK_METRIC_MRR_COMMON],
							 metric[GP_LINK_METRIC_MRR_ALLOCATION]);
	double		attachment = metric[GP_LINK_METRIC_MRR_ATTACHMENT];

	/* All are NAN where no hidden link was ranked. */
	if (!(metric[GP_LINK_METRIC_MRR] < Max(common, attachment)))
		return;
	gp_notice(env, "gp_evaluate compares mrr with that of such counts; another method may do better.",
			  "%s rank hidden links better than this model", attachment > common ?
			  "plain numbers of links of each node, such as the popularity of items," :
			  "plain counts of common neighbours");
}

gp_link_model *
gnngp_link_compute(gnngp_computation *compute, const gnngp_data *data,
				   const gnngp_link_settings *settings, gp_device **card)
{
	gp_device  *device = compute->device;
	gp_dgp		options;
	gp_link_problem problem = make_problem(device->env, data, settings, &options);

	if (problem.method == GP_LINK_DGP && problem.graph->directed)
		gp_notice(device->env, "Method 'scores' distinguishes directions.",
				  "method dgp ignores the direction of links");
	if (compute->by_plan)
	{
		problem.device_for = gnngp_device_for;
		problem.device_arg = card;
	}
	gp_link_model *links = gp_link_fit(device, &problem);
	notice_counts(device->env, links->metric);
	if (links->metric[GP_LINK_METRIC_AUC_COMPONENT] < LEAST_AUC)
		gp_notice(device->env, "It distinguishes components; more edges, or features of the nodes, may tell more.",
				  "within a component this model hardly distinguishes links from random pairs (auc_component %.2f)",
				  links->metric[GP_LINK_METRIC_AUC_COMPONENT]);
	return links;
}

void
gnngp_link_fill(const gp_link_model *links, const gnngp_data *data,
				const gnngp_link_settings *settings, gnngp_link_part *part)
{
	part->settings = *settings;
	part->method = links->method == GP_LINK_DGP ? settings->method :
		unconstify(char *, methods[links->method]);
	part->nodes = data->ids.n;
	part->edges = data->graph->edges;
	part->pairs = links->pairs;
	part->auc = links->metric[GP_LINK_METRIC_AUC];
	part->average_precision = links->metric[GP_LINK_METRIC_PRECISION];
	part->steps = links->steps;
	part->id_type = data->ids.type_name;
	part->integer_ids = data->ids.integer;
}

gnngp_model *
gnngp_link_view(gnngp_model *model)
{
	gnngp_model *view = palloc(sizeof(gnngp_model));

	gnngp_require_link_part(model);
	*view = *model;
	view->id_type = model->link.id_type;
	view->integer_ids = model->link.integer_ids;
	return view;
}

gnngp_link_settings
gnngp_link_settings_argument(FunctionCallInfo fcinfo)
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
	if (given && strncmp(settings.method, "dgp", 3) == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"Its kernel is learnt; the options of method dgp are part of its text.",
					"kernel cannot be given with method dgp");
	return settings;
}
