/*
 * evaluate.c - gp_evaluate: the figures of a stored model, by leave-one-out and of held-out pairs.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "pg/server/server.h"
#include "pg/store/store.h"
#include "pg/store/store_links.h"
#include "utils/tuplestore.h"

/* True for the figures that are told, unknown or not: the task's first ones, of those that were stored. */
static bool
always_told(gp_metric metric, bool classes, bool stored)
{
	return classes ? metric <= (stored ? GP_METRIC_BRIER : GP_METRIC_ECE) : metric >= GP_METRIC_R2;
}

/* Puts one figure. */
static void
put_figure(ReturnSetInfo *result, const char *name, double value)
{
	Datum		values[2];
	bool		nulls[2] = {false, false};

	gnngp_put_text(values, nulls, 0, name);
	gnngp_put_float(values, nulls, 1, value);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Puts the figures of the node part. */
static void
put_nodes(ReturnSetInfo *result, const gnngp_model *model)
{
	gnngp_figures figures;
	bool		stored = gnngp_figures_read(model, &figures);

	if (!stored)
		memcpy(figures.metric, model->metric, sizeof(figures.metric));
	for (int i = 0; i < GP_METRICS; i++)
		if (!isnan(figures.metric[i]) || always_told(i, strcmp(model->task, "classification") == 0, stored))
			put_figure(result, gp_metric_name(i), figures.metric[i]);
}

/* Puts those of the link part; a version that stored none has its first two in the catalog. */
static void
put_links(ReturnSetInfo *result, const gnngp_model *model)
{
	double		metric[GP_LINK_METRICS];
	bool		stored = gnngp_link_figures_read(model, metric);

	if (!stored)
	{
		metric[GP_LINK_METRIC_AUC] = model->link.auc;
		metric[GP_LINK_METRIC_PRECISION] = model->link.average_precision;
	}
	for (int i = 0; i < (stored ? GP_LINK_METRICS : GP_LINK_METRIC_PRECISION + 1); i++)
		put_figure(result, gp_link_metric_name(i), metric[i]);
}

PG_FUNCTION_INFO_V1(gnngp_evaluate);

/* gp_evaluate(model): the figures that the model's task has, then those of its links. */
Datum
gnngp_evaluate(PG_FUNCTION_ARGS)
{
	gnngp_model *model = gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	if (model->task || model->link.method == NULL)
	{
		gnngp_require_node_part(model);
		put_nodes(result, model);
	}
	if (model->link.method)
	{
		gnngp_require_link_part(model);
		put_links(result, model);
	}
	return (Datum) 0;
}
