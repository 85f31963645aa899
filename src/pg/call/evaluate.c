/*
 * evaluate.c - gp_evaluate: the leave-one-out figures of a stored model.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "pg/host/host.h"
#include "pg/store/store.h"
#include "utils/tuplestore.h"

/* True for the figures that are told, unknown or not: the task's first ones, of those that were stored. */
static bool
always_told(gp_metric metric, bool classes, bool stored)
{
	return classes ? metric <= (stored ? GP_METRIC_BRIER : GP_METRIC_ECE) : metric >= GP_METRIC_R2;
}

PG_FUNCTION_INFO_V1(gnngp_evaluate);

/* gp_evaluate(model): the figures that the model's task has. */
Datum
gnngp_evaluate(PG_FUNCTION_ARGS)
{
	gnngp_model *model = gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	gnngp_figures figures;
	bool		stored;

	gnngp_require_node_part(model);
	stored = gnngp_figures_read(model, &figures);
	if (!stored)
		memcpy(figures.metric, model->metric, sizeof(figures.metric));
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < GP_METRICS; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		if (isnan(figures.metric[i]) && !always_told(i, strcmp(model->task, "classification") == 0, stored))
			continue;
		gnngp_put_text(values, nulls, 0, gp_metric_name(i));
		gnngp_put_float(values, nulls, 1, figures.metric[i]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
