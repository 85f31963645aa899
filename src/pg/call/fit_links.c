/*
 * fit_links.c - gp_fit_links.
 *
 * The steps are those of gp_fit; only what happens to the data differs.  The
 * targets of the graph are not read.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fit_run.h"
#include "funcapi.h"
#include "link_part.h"
#include "pg/host/host.h"
#include "utils/builtins.h"

/* The columns of gp_fit_links's row. */
enum link_fit_column
{
	LINK_FIT_MODEL, LINK_FIT_METHOD, LINK_FIT_NODES, LINK_FIT_EDGES, LINK_FIT_PAIRS, LINK_FIT_AUC,
	LINK_FIT_AP, LINK_FIT_SECONDS, LINK_FIT_PEAK_BYTES, LINK_FIT_COLUMNS
};

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

	gnngp_account_give_up(0);
	gnngp_progress_begin(name);
	run = gnngp_fit_read(CurrentMemoryContext, graph, NULL, &settings, name);
	gnngp_fit_compute(run);
	gnngp_fit_store(run, &model);
	gnngp_fit_free(run);
	gnngp_progress_end();
	PG_RETURN_DATUM(link_fit_row(fcinfo, &model));
}
