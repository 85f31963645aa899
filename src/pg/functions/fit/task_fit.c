/*
 * task_fit.c - the fit of a task: one layer over the columns that its facts give.
 */
#include "postgres.h"

#include "core/kernel/live/live_state.h"
#include "task_fit.h"
#include "methods.h"

/* 0A000: a task has no such setting. */
static void
refuse_setting(const char *setting, const char *value, const char *hint)
{
	gnngp_raise(FEATURE_NOT_SUPPORTED, hint,
				"a task cannot be fitted with %s \"%s\"", setting, value);
}

void
gnngp_task_settings(gnngp_fit_settings *settings)
{
	if (!gnngp_settings_choose_kernel(settings))
		refuse_setting("kernel", gnngp_settings_kernel(settings),
					   "Leave kernel out: the columns of its facts go through one layer of arc cosines.");
	if (strcmp(settings->strategy, gp_strategy_names[GP_STRATEGY_AUTO]) != 0 &&
		strcmp(settings->strategy, gp_strategy_names[GP_STRATEGY_NYSTROM]) != 0)
		refuse_setting("strategy", settings->strategy, "Leave strategy out, or use nystrom.");
	settings->live = true;
}

typedef struct task_fit
{
	gp_features *features;
	gp_facts_scale *scale;
	double	   *score;
	const gp_metapath *metapath;
} task_fit;

/* A fitter: all weightings, then without doubted columns. */
static gp_posterior *
fit_weightings(gp_device *device, const gp_problem *problem, const void *arg)
{
	const task_fit *f = arg;

	return gp_facts_fit(device, problem, f->features, f->scale, f->score);
}

/* A fitter of rows that are told by those beside them. */
static gp_posterior *
fit_metapaths(gp_device *device, const gp_problem *problem, const void *arg)
{
	const task_fit *f = arg;
	gp_live_state *state = gp_state_create(device->env);
	gp_features *told = gp_metapath_features(device, f->metapath, f->features, problem->landmark,
												 problem->nlandmarks, state);
	gp_posterior *out = gp_facts_fit_features(device, problem, told);

	gp_features_free(device->env, told);
	gp_state_join(out->state, state);
	return out;
}

/* What a fitter of a task's rows takes; *fitter gets it. */
static task_fit
open_fit(gnngp_task_data *task, gp_features *features, gp_fitter *fitter)
{
	*fitter = task->metapaths ? fit_metapaths : fit_weightings;
	return (task_fit) {features, &task->transform.scale, task->score, task->metapaths};
}

gp_plan
gnngp_task_plan(gp_device *device, const gnngp_data *data, const gp_problem *problem)
{
	gp_fitter	fitter;
	task_fit	fit = open_fit(data->task_data, data->features, &fitter);

	return gp_plan_fitter(device, problem, fitter, &fit);
}

static const char *
kernel_of(const gnngp_task_data *task)
{
	return task->metapaths ? gp_metapath_kernel : gp_facts_kernel;
}

void
gnngp_task_problem(gp_env *env, const gnngp_data *data, const gnngp_fit_settings *settings,
				   gp_problem *problem)
{
	int32	   *block = gp_alloc_array(env, data->nlabelled, sizeof(int32));

	problem->live = true;
	*problem = gp_facts_labelled(env, problem);
	problem->program = gnngp_compile_kernel(env, kernel_of(data->task_data));
	problem->nblocks = gp_facts_time_blocks(env, data->nlabelled, data->task_data->as_of,
											GP_FACTS_TIME_BLOCKS, block);
	problem->block = problem->nblocks < 2 ? NULL : block;
	problem->strategy = GP_STRATEGY_NYSTROM;
	problem->landmark = gp_facts_landmarks(env, problem, settings->landmarks > 0 ?
										   settings->landmarks : data->task_data->metapaths ?
										   GP_METAPATH_LANDMARKS : GP_FACTS_LANDMARKS,
										   &problem->nlandmarks);
}

/* The scores of what was compared, as JSON. */
static char *
compared(const double score[GP_FACTS_FITS])
{
	static const char *const name[] = {"weights=columns", "weights=relevance",
	"weights=changes", "targets=none"};
	StringInfoData json;

	initStringInfo(&json);
	for (int i = 0; i < GP_FACTS_FITS; i++)
		if (!isnan(score[i]))
			appendStringInfo(&json, "%s\"%s\": {\"loo_score\": %.4f}", i == 0 ? "{" : ", ", name[i],
							 score[i]);
	appendStringInfoChar(&json, '}');
	return json.data;
}

/* The figures of what earlier blocks of time say of the labels. */
static gnngp_forward
forward_figures(gp_env *env, const gnngp_data *data, const int32 *block,
				const gp_posterior *posterior)
{
	const gp_time *as_of = data->task_data->as_of;
	int64		n = data->nlabelled;
	int			columns = posterior->columns;
	bool		classes = data->target_kind == GP_TASK_CLASSES;
	int32	   *label = classes ? gp_alloc_array(env, n, sizeof(int32)) : NULL;
	double	   *target = classes ? NULL : gp_alloc_array(env, n, sizeof(double));
	double	   *mean = gp_alloc_array(env, n * columns, sizeof(double));
	gp_heldout_predictions told = {.nclasses = classes ? columns : 0,.label = label,
								   .target = target,.mean = mean,
								   .calibrator = &posterior->calibrator};
	int64		(*period)[3] = palloc(sizeof(*period) * (GP_FACTS_TIME_BLOCKS + 1));
	double		(*metric)[GP_METRICS] = palloc(sizeof(*metric) * (GP_FACTS_TIME_BLOCKS + 1));
	gnngp_forward out = {.period = period,.metric = metric};

	for (int32 b = 0; posterior->forward && b <= GP_FACTS_TIME_BLOCKS; b++)
	{
		told.n = 0;
		for (int64 i = 0; i < n; i++)
		{
			const double *forward = posterior->forward + i * columns;

			gnngp_poll(i);
			if ((b < GP_FACTS_TIME_BLOCKS && block[i] != b) || isnan(forward[0]))
				continue;
			period[out.n][0] = told.n == 0 ? as_of[i] : Min(period[out.n][0], as_of[i]);
			period[out.n][1] = told.n == 0 ? as_of[i] : Max(period[out.n][1], as_of[i]);
			if (classes)
				label[told.n] = data->label[i];
			else
				target[told.n] = data->target[i];
			memcpy(mean + told.n++ * columns, forward, sizeof(double) * columns);
		}
		if (told.n == 0)
			continue;
		period[out.n][2] = told.n;
		gp_heldout_figures(env, &told, metric[out.n++]);
	}
	gp_free_all(env, label, target, mean);
	return out;
}

gnngp_choice
gnngp_task_fit(gnngp_computation *compute, const gnngp_data *data,
			   const gnngp_fit_settings *settings, gnngp_forward *forward)
{
	gnngp_task_data *task = data->task_data;
	gp_fitter	fitter;
	task_fit	fit = open_fit(task, data->features, &fitter);
	gnngp_choice choice = {.kernel = pstrdup(kernel_of(task))};
	gp_problem	problem;

	gnngp_problem_init(&problem, data, settings);
	gnngp_task_problem(compute->env, data, settings, &problem);
	choice.posterior = gnngp_fit_on_device(compute, &problem, fitter, &fit);
	*forward = forward_figures(compute->env, data, problem.block, choice.posterior);
	choice.device = compute->used;
	if (task->metapaths == NULL && !isnan(task->score[0]))
		choice.alternatives = compared(task->score);
	return choice;
}
