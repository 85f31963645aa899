/*
 * fit.c - gp_fit.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "call.h"
#include "fit_run.h"
#include "funcapi.h"
#include "pg/host/host.h"

/* The columns of gp_fit's row. */
enum fit_column
{
	FIT_MODEL, FIT_TASK, FIT_KERNEL, FIT_STRATEGY, FIT_DEVICE, FIT_NODES, FIT_EDGES, FIT_FEATURES,
	FIT_CLASSES, FIT_LABELLED, FIT_LANDMARKS, FIT_NUGGET, FIT_LML, FIT_LOO, FIT_SECONDS,
	FIT_PEAK_BYTES, FIT_COLUMNS
};

/* The row that gp_fit returns. */
static Datum
fit_row(FunctionCallInfo fcinfo, const gnngp_model *model)
{
	TupleDesc	desc;
	Datum		values[FIT_COLUMNS] = {0};
	bool		nulls[FIT_COLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != FIT_COLUMNS)
		elog(ERROR, "gp_fit's row type is not the one that was installed");
	desc = BlessTupleDesc(desc);
	gnngp_put_text(values, nulls, FIT_MODEL, model->name);
	gnngp_put_text(values, nulls, FIT_TASK, model->task);
	gnngp_put_kernel(values, nulls, FIT_KERNEL, desc, model->settings.kernel);
	gnngp_put_text(values, nulls, FIT_STRATEGY, model->strategy);
	gnngp_put_text(values, nulls, FIT_DEVICE, model->device);
	values[FIT_NODES] = Int64GetDatum(model->nodes);
	values[FIT_EDGES] = Int64GetDatum(model->edges);
	values[FIT_FEATURES] = Int64GetDatum(model->features);
	values[FIT_CLASSES] = Int32GetDatum(model->classes);
	nulls[FIT_CLASSES] = model->classes == 0;
	values[FIT_LABELLED] = Int64GetDatum(model->labelled);
	values[FIT_LANDMARKS] = Int64GetDatum(model->landmarks);
	nulls[FIT_LANDMARKS] = model->landmarks == 0;
	gnngp_put_float(values, nulls, FIT_NUGGET, model->nugget);
	gnngp_put_float(values, nulls, FIT_LML, model->log_marginal_likelihood);
	gnngp_put_float(values, nulls, FIT_LOO, model->loo_score);
	gnngp_put_float(values, nulls, FIT_SECONDS, model->seconds);
	values[FIT_PEAK_BYTES] = Int64GetDatum(model->peak_bytes);
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

/* The settings among gp_fit's arguments. */
static gnngp_fit_settings
fit_settings(FunctionCallInfo fcinfo)
{
	gnngp_fit_settings settings = gnngp_fit_settings_default();

	settings.kernel = gnngp_kernel_argument(fcinfo, 2);
	settings.task = gnngp_text_argument(fcinfo, 3, "task");
	settings.strategy = gnngp_text_argument(fcinfo, 4, "strategy");
	settings.landmarks = gnngp_landmarks_argument(fcinfo, 5);
	if (!PG_ARGISNULL(6))
		settings.nugget = isnan(PG_GETARG_FLOAT8(6)) ? -1.0 : PG_GETARG_FLOAT8(6);
	gnngp_require_argument(fcinfo, 7, "seed");
	settings.seed = PG_GETARG_INT64(7);
	gnngp_fit_settings_check(&settings);
	return settings;
}

PG_FUNCTION_INFO_V1(gnngp_fit);

/* gp_fit(graph, model, kernel, task, strategy, landmarks, nugget, seed, replace) */
Datum
gnngp_fit(PG_FUNCTION_ARGS)
{
	gnngp_fit_settings settings;
	gnngp_graph_def *graph;
	gnngp_fit_run *run;
	gnngp_model model;
	char	   *name;

	gnngp_prevent_read_only("gp_fit");
	settings = fit_settings(fcinfo);
	graph = gnngp_fit_open(fcinfo, settings.kernel, 8, &name);

	gnngp_account_give_up(0);
	gnngp_progress_begin(name);
	run = gnngp_fit_read(CurrentMemoryContext, graph, &settings, NULL, name);
	gnngp_fit_compute(run);
	gnngp_fit_store(run, &model);
	gnngp_fit_free(run);
	gnngp_progress_end();
	PG_RETURN_DATUM(fit_row(fcinfo, &model));
}
