/*
 * fit_links.c - gp_fit_links, and the link part of any fit.
 *
 * The steps are those of gp_fit; only what happens to the data differs.  The
 * targets of the graph are not read.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fit.h"
#include "fit_links.h"
#include "funcapi.h"
#include "pg/host/host.h"
#include "pg/store/links_open.h"
#include "problem.h"
#include "utils/builtins.h"

/* The columns of gp_fit_links's row. */
enum link_fit_column
{
	LINK_FIT_MODEL, LINK_FIT_METHOD, LINK_FIT_NODES, LINK_FIT_EDGES, LINK_FIT_PAIRS, LINK_FIT_AUC,
	LINK_FIT_AP, LINK_FIT_SECONDS, LINK_FIT_PEAK_BYTES, LINK_FIT_COLUMNS
};

/* The names of methods, as they are asked for and stored. */
static const char *const methods[] = {
	[GP_LINK_AUTO] = "auto",
	[GP_LINK_SCORES] = "scores",
	[GP_LINK_PAIRS] = "pairs"
};

/* The method of a name; -1 when there is none. */
static int
find_method(const char *name)
{
	for (int i = 0; i < (int) lengthof(methods); i++)
		if (pg_strcasecmp(methods[i], name) == 0)
			return i;
	return -1;
}

/* Checks settings and brings the method to its stored form. */
void
gnngp_link_settings_check(gnngp_link_settings *settings)
{
	int			method = find_method(settings->method);

	if (method < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown method \"%s\"", settings->method),
				 errhint("A method is auto, scores or pairs.")));
	settings->method = pstrdup(methods[method]);
}

/* Tells when the scores stop short of what they could be. */
static void
notice_cut(gp_env *env, const gp_link_model *links)
{
	const char *features = "";

	if (!links->cut)
		return;
	if (links->powers > 0 && links->powers < GP_LINK_POWERS)
		features = psprintf(", and features are compared to %d steps instead of %d",
							links->powers - 1, GP_LINK_POWERS - 1);
	gp_notice(env, "More would take long on a graph of this size;"
			  " auc and average_precision hold for the scores as they are.",
			  "the Laplacian scores take %d steps, fewer than an error of 1e-9 takes%s",
			  links->steps, features);
}

/* Fits the links of what has been read. */
gp_link_model *
gnngp_link_compute(gp_device *device, const gnngp_data *data, const gnngp_link_settings *settings)
{
	gp_link_problem problem;
	gp_link_model *links;

	memset(&problem, 0, sizeof(problem));
	problem.graph = data->graph;
	problem.features = data->features;
	problem.program = gnngp_compile_kernel(device->env, settings->kernel);
	problem.method = (gp_link_method) find_method(settings->method);
	problem.seed = (uint64_t) settings->seed;
	links = gp_link_fit(device, &problem);
	notice_cut(device->env, links);
	return links;
}

/* Fills all but time and memory. */
void
gnngp_link_fill(const gp_link_model *links, const gnngp_data *data,
				const gnngp_link_settings *settings, gnngp_link_part *part)
{
	part->settings = *settings;
	part->settings.kernel = pstrdup(settings->kernel);
	part->settings.method = pstrdup(settings->method);
	part->method = pstrdup(methods[links->method]);
	part->nodes = data->ids.n;
	part->edges = data->graph->edges;
	part->pairs = links->pairs;
	part->auc = links->auc;
	part->average_precision = links->average_precision;
	part->steps = links->steps;
	part->cut = links->cut;
	part->id_type = pstrdup(data->ids.type_name);
	part->integer_ids = data->ids.integer;
}

/* The row that gp_fit_links returns. */
static Datum
link_fit_row(FunctionCallInfo fcinfo, const gnngp_model *model)
{
	const gnngp_link_part *part = &model->link;
	TupleDesc	desc;
	Datum		values[LINK_FIT_COLUMNS] = {0};
	bool		nulls[LINK_FIT_COLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != LINK_FIT_COLUMNS)
		elog(ERROR, "gp_fit_links's row type is not the one that was installed");
	gnngp_put_text(values, nulls, LINK_FIT_MODEL, model->name);
	gnngp_put_text(values, nulls, LINK_FIT_METHOD, part->method);
	values[LINK_FIT_NODES] = Int64GetDatum(part->nodes);
	values[LINK_FIT_EDGES] = Int64GetDatum(part->edges);
	values[LINK_FIT_PAIRS] = Int64GetDatum(part->pairs);
	gnngp_put_float(values, nulls, LINK_FIT_AUC, part->auc);
	gnngp_put_float(values, nulls, LINK_FIT_AP, part->average_precision);
	gnngp_put_float(values, nulls, LINK_FIT_SECONDS, part->seconds);
	values[LINK_FIT_PEAK_BYTES] = Int64GetDatum(part->peak_bytes);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* The settings among gp_fit_links's arguments. */
static gnngp_link_settings
link_fit_settings(FunctionCallInfo fcinfo)
{
	gnngp_link_settings settings;

	settings.kernel = gnngp_kernel_argument(fcinfo, 2);
	settings.method = gnngp_text_argument(fcinfo, 3, "method");
	gnngp_require_argument(fcinfo, 4, "seed");
	settings.seed = PG_GETARG_INT64(4);
	gnngp_link_settings_check(&settings);
	return settings;
}

PG_FUNCTION_INFO_V1(gnngp_fit_links);

/* gp_fit_links(graph, model, kernel, method, seed, replace) */
Datum
gnngp_fit_links(PG_FUNCTION_ARGS)
{
	gnngp_link_settings settings;
	gnngp_graph_def *graph;
	gnngp_fit_run *run;
	gnngp_model model;
	char	   *name;

	gnngp_prevent_read_only("gp_fit_links");
	settings = link_fit_settings(fcinfo);
	graph = gnngp_fit_open(fcinfo, settings.kernel, 5, &name);

	gnngp_links_forget(0);
	gnngp_progress_begin(name);
	run = gnngp_fit_read(CurrentMemoryContext, graph, NULL, &settings, name);
	gnngp_fit_compute(run);
	gnngp_fit_store(run, &model);
	gnngp_fit_free(run);
	gnngp_progress_end();
	PG_RETURN_DATUM(link_fit_row(fcinfo, &model));
}
