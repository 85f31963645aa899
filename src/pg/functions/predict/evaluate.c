/*
 * evaluate.c - gp_evaluate: the figures of a stored model, by leave-one-out and of held-out pairs.
 */
#include "postgres.h"

#include <math.h>

#include "backtest.h"
#include "fmgr.h"
#include "funcapi.h"
#include "pg/server/server.h"
#include "pg/store/store.h"
#include "pg/store/store_links.h"
#include "utils/tuplestore.h"

static void
put_figure(ReturnSetInfo *result, const char *name, double value)
{
	Datum		values[2];
	bool		nulls[2] = {false, false};

	gnngp_put_text(values, nulls, 0, name);
	gnngp_put_float(values, nulls, 1, value);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* gp_evaluate(model): the figures that the model's task has, then those of its links. */
PG_FUNCTION_INFO_V1(gnngp_evaluate);
Datum
gnngp_evaluate(PG_FUNCTION_ARGS)
{
	gnngp_model *model = gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	if (model->task || model->link.method == NULL)
	{
		gnngp_figures figures;

		gnngp_require_node_part(model);
		gnngp_figures_read(model, &figures);
		for (int i = 0; i < GP_METRICS; i++)
			if (!isnan(figures.metric[i]) ||
				(model->classes > 0 ? i <= GP_METRIC_BRIER : i >= GP_METRIC_R2))
				put_figure(result, gp_metric_name(i), figures.metric[i]);
		if (model->rows > 0)
		{
			double		metric[GP_METRICS];

			gnngp_forward_figures(model, metric);
			for (int i = 0; i < GP_METRICS; i++)
				if (!isnan(metric[i]))
					put_figure(result, psprintf("forward_%s", gp_metric_name(i)), metric[i]);
		}
	}
	if (model->link.method)
	{
		double		metric[GP_LINK_METRICS];

		gnngp_require_link_part(model);
		gnngp_link_figures_read(model, metric);
		for (int i = 0; i < GP_LINK_METRICS; i++)
			put_figure(result, gp_link_metric_name(i), metric[i]);
	}
	return (Datum) 0;
}
