/*
 * evaluate.c - gp_evaluate: the leave-one-out figures of a stored model.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "pg/catalog/catalog.h"
#include "pg/host/host.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(gnngp_evaluate);

/* gp_evaluate(model): the figures that the model's task has. */
Datum
gnngp_evaluate(PG_FUNCTION_ARGS)
{
	gnngp_model *model = gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		classes = model->task && strcmp(model->task, "classification") == 0;
	const struct
	{
		const char *name;
		bool		classes;
		double		value;
	}			metrics[] = {
		{"accuracy", true, model->metrics.accuracy},
		{"nll", true, model->metrics.nll},
		{"ece", true, model->metrics.ece},
		{"r2", false, model->metrics.r2},
		{"rmse", false, model->metrics.rmse},
		{"coverage90", false, model->metrics.coverage90},
	};

	gnngp_require_node_part(model);
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < (int) lengthof(metrics); i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		if (metrics[i].classes != classes)
			continue;
		gnngp_put_text(values, nulls, 0, metrics[i].name);
		gnngp_put_float(values, nulls, 1, metrics[i].value);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
