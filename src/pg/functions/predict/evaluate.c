/*
 * evaluate.c - gp_evaluate: the figures of a model; gp_backtest: those of each block of time,
 * predicted from earlier blocks alone.
 *
 * The fit has made these predictions from the same Gram matrices, and stored them.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "pg/server/server.h"
#include "pg/store/store.h"
#include "pg/store/store_links.h"
#include "pg/store/store_live.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

/* The predictions of a model's labels by earlier blocks. */
typedef struct forward
{
	const gnngp_model *model;
	gnngp_live *live;
	const gnngp_task_state *state;
	gp_live_figures figures;
	int			columns;
	int64		n;				/* labels of a block that are told */
	int32	   *label;
	double	   *target;
	double	   *mean;
	gp_time		since;
	gp_time		until;
} forward;

/* Opens them; false where the fit had one block alone. */
static bool
open_forward(forward *f, const gnngp_model *model)
{
	*f = (forward) {.model = model,.columns = Max(model->classes, 1)};
	if (model->live_bytes == 0)
		return false;
	f->live = gnngp_live_open(model);
	f->state = f->live->task;
	(void) gp_live_read(f->live->keep, &f->figures);
	if (f->state == NULL || f->state->block == NULL || f->state->forward == NULL)
		return false;
	if (model->classes > 0)
		f->label = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int32) * f->state->labelled);
	else
		f->target = MemoryContextAllocHuge(CurrentMemoryContext,
										   sizeof(double) * f->state->labelled);
	f->mean = MemoryContextAllocHuge(CurrentMemoryContext,
									 sizeof(double) * f->state->labelled * f->columns);
	return true;
}

/* Gathers the labels of a block, or of all (-1), that earlier blocks tell. */
static void
gather(forward *f, int32 block)
{
	f->n = 0;
	for (int64 i = 0; i < f->state->labelled; i++)
	{
		const double *mean = f->state->forward + i * f->columns;

		gnngp_poll(i);
		if ((block >= 0 && f->state->block[i] != block) || isnan(mean[0]))
			continue;
		f->since = f->n == 0 ? f->state->as_of[i] : Min(f->since, f->state->as_of[i]);
		f->until = f->n == 0 ? f->state->as_of[i] : Max(f->until, f->state->as_of[i]);
		if (f->model->classes > 0)
			f->label[f->n] = gp_live_class(f->live->keep, i);
		else
			f->target[f->n] = f->figures.offset + f->figures.unit * gp_live_target(f->live->keep,
																				   i, 0);
		memcpy(f->mean + f->n++ * f->columns, mean, sizeof(double) * f->columns);
	}
}

static void
figures(forward *f, double *metric)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_calibrator calibrator = {0};
	gp_told		told = {.n = f->n,.nclasses = f->model->classes,.label = f->label,
						.target = f->target,.mean = f->mean,.calibrator = &calibrator};

	if (f->model->classes > 0)
		calibrator = gp_live_calibrator(f->live->keep);
	for (int i = 0; i < GP_METRICS; i++)
		metric[i] = NAN;
	if (f->n > 0)
		gp_told_figures(env, &told, metric);
	gnngp_env_destroy(env);
}

/* The figures of all labels that earlier blocks tell; NaN where there are none. */
static void
forward_figures(const gnngp_model *model, double *metric)
{
	forward		f;

	for (int i = 0; i < GP_METRICS; i++)
		metric[i] = NAN;
	if (open_forward(&f, model))
	{
		gather(&f, -1);
		figures(&f, metric);
	}
	gnngp_live_close(f.live);
}

/* gp_backtest(task) */
PG_FUNCTION_INFO_V1(gnngp_backtest);
Datum
gnngp_backtest(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	const gnngp_model *model = gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "task"), false);
	forward		f;
	int32		blocks = 0;

	gnngp_require_owner(model->owner_role, "model", model->name);
	gnngp_require_node_part(model);
	if (model->rows == 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("model \"%s\" is of a graph, which has no times", model->name),
				 errhint("Tasks are made with gp_create_task.")));
	InitMaterializedSRF(fcinfo, 0);
	if (open_forward(&f, model))
	{
		for (int64 i = 0; i < f.state->labelled; i++)
			blocks = Max(blocks, f.state->block[i] + 1);
		for (int32 b = 0; b < blocks; b++)
		{
			double		metric[GP_METRICS];

			gather(&f, b);
			if (f.n == 0)
				continue;
			figures(&f, metric);
			for (int i = 0; i < GP_METRICS; i++)
			{
				Datum		values[5] = {TimestampTzGetDatum(f.since), TimestampTzGetDatum(f.until),
									 Int64GetDatum(f.n)};
				bool		nulls[5] = {false};

				if (isnan(metric[i]))
					continue;
				gnngp_put_text(values, nulls, 3, gp_metric_name(i));
				gnngp_put_float(values, nulls, 4, metric[i]);
				tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
			}
		}
	}
	gnngp_live_close(f.live);
	return (Datum) 0;
}

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

			forward_figures(model, metric);
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
