/*
 * estimate.c - gp_estimate, which shows what the planner counts and chooses.
 */
#include "postgres.h"

#include "access/xact.h"
#include "task_fit.h"
#include "pg/functions/links/fit_links.h"
#include "methods.h"
#include "pg/server/gpu.h"
#include "pg/distributed/distributed.h"
#include "pg/store/store_links.h"

#define MEGA (1024.0 * 1024.0)

/* True where a fit of such a plan would go to the GPU. */
static bool
goes_to_gpu(const gp_plan *plan, int threads)
{
	return gnngp_setting_device() == GNNGP_DEVICE_CUDA ||
		(gnngp_setting_device() == GNNGP_DEVICE_AUTO && gnngp_gpu_suits(plan, threads));
}

/* What an estimate of nodes plans, and what it comes to. */
typedef struct estimate
{
	const gnngp_data *data;
	const char *method;
	gp_problem	problem;
	gp_candidate *candidates;	/* n of them; NULL for tasks and methods */
	int			n;
	gp_forecast forecast;
	bool		on_gpu;
	double		seconds;		/* on the CPU */
} estimate;

/* Plans what may not fit in the problem's limit either. */
static void
plan_nodes(gnngp_computation *compute, void *arg)
{
	estimate   *e = arg;
	gp_device  *device = compute->device;

	if (e->candidates)
	{
		e->problem.shared = gp_candidates_share(device, &e->problem, e->candidates, e->n);
		e->forecast = gp_candidates_plan(device, &e->problem, e->candidates, e->n);
	}
	else
		e->forecast.full = e->data->task_data ? gnngp_task_plan(device, e->data, &e->problem) :
			gnngp_method_plan(device, &e->problem, e->method);
	e->on_gpu = goes_to_gpu(&e->forecast.full, device->threads);
	e->seconds = (e->forecast.full.effort + e->forecast.before.effort) /
		(GNNGP_CPU_PACE * device->threads);
}

static Datum
estimate_row(FunctionCallInfo fcinfo, const char *strategy, const gp_plan *plan, size_t limit,
			 bool on_gpu, double seconds)
{
	StringInfoData reason;

	/* The planner's reason, with a word on the GPU, and on a limit that is too small */
	initStringInfo(&reason);
	appendStringInfoString(&reason, plan->reason);
	if (plan->live_bytes > 0.0)
		appendStringInfo(&reason, "; a live state of %.1f MB", plan->live_bytes / MEGA);
	if (on_gpu)
		appendStringInfoString(&reason, "; on the GPU");
	else if (seconds >= GNNGP_LONG_SECONDS)
		appendStringInfo(&reason, "; about %.0f s", seconds);
	if (plan->bytes > (double) limit)
		appendStringInfo(&reason, "; does not fit in gnngp.memory_limit (%.0f MB)",
						 floor((double) limit / MEGA));
	return gnngp_row(fcinfo, gnngp_out_text(strategy),
					 gnngp_out(Int64GetDatum((int64) Min(plan->bytes, 9e18))),
					 gnngp_out_float(plan->flops), gnngp_out_text(reason.data));
}

static Datum
estimate_links(FunctionCallInfo fcinfo, gp_env *env, const gnngp_graph_def *graph,
			   const gnngp_fit_settings *asked)
{
	gnngp_link_settings settings =
		{.kernel = GNNGP_LINK_KERNEL,.method = asked->kernel,
		 .missing_share = GP_LINK_MISSING_SHARE,.keep = PG_ARGISNULL(5) ? 0 : PG_GETARG_INT32(5)};
	size_t		limit = gp_limit(env);
	gp_link_method method;

	if (strcmp(asked->strategy, "auto") != 0 || asked->landmarks > 0 || asked->live)
		gnngp_raise(INVALID_PARAMETER_VALUE, "They apply to fits of nodes only.",
					"strategy, landmarks and live cannot be given with kernel %s", asked->kernel);
	gnngp_link_settings_check(&settings);
	env->limit = 0;
	gp_device  *device = gnngp_device_open(env, 0);
	gnngp_data *data = gnngp_read(env, graph, "auto", false, false);
	gp_plan		plan = gnngp_link_estimate(device, data, &settings, limit, &method);
	bool		on_gpu = goes_to_gpu(&plan, device->threads);
	double		seconds = plan.effort / (GNNGP_CPU_PACE * device->threads);
	device->close(device);
	if (settings.keep > 0)
	{
		size_t		n = strlen(plan.reason);

		snprintf(plan.reason + n, sizeof(plan.reason) - n,
				 "; %d pairs of each node are kept in %.1f MB", settings.keep,
				 gnngp_kept_bytes(&data->ids, settings.keep) / MEGA);
	}
	return estimate_row(fcinfo, gnngp_link_method_name(method), &plan, limit, on_gpu,
						seconds);
}

static Datum
estimate_distributed(FunctionCallInfo fcinfo, gp_env *env, const gnngp_graph_def *graph,
					 const gnngp_fit_settings *settings)
{
	gnngp_distributed_plan d = gnngp_plan_distributed(env, graph, settings);
	gp_plan		plan = {.strategy = GP_STRATEGY_SQL,.bytes = d.bytes,.flops = d.flops};

	snprintf(plan.reason, sizeof(plan.reason),
			 "%d statements on " INT64_FORMAT " chunks write %.1f MB, of which %.1f MB change their place; a process holds up to %.1f MB",
			 d.statements, d.chunks, d.written / MEGA, d.shuffled / MEGA, d.bytes / MEGA);
	return estimate_row(fcinfo, gp_strategy_names[plan.strategy], &plan, gp_limit(env), false, 0.0);
}

/* What an estimate reads. */
typedef struct reading
{
	gp_env	   *env;
	const gnngp_graph_def *graph;
	const char *kind;
	bool		both_forms;
	gnngp_data *data;
} reading;

static void
read_tables(void *arg)
{
	reading    *r = arg;

	r->data = r->graph->task.form ? gnngp_read_task(r->env, r->graph, r->kind) :
		gnngp_read(r->env, r->graph, r->kind, true, r->both_forms);
}

static Datum
estimate_nodes(FunctionCallInfo fcinfo, gp_env *env, const gnngp_graph_def *graph,
			   const gnngp_fit_settings *settings)
{
	size_t		limit = gp_limit(env);
	TimestampTz began = GetCurrentTimestamp();
	MemoryContext silent = AllocSetContextCreate(CurrentMemoryContext, "gnngp estimate",
												 ALLOCSET_SMALL_SIZES);
	reading		read = {.env = env,.graph = graph,.kind = settings->target_kind,
						.both_forms = gnngp_settings_choose_kernel(settings)};

	gnngp_notices_silence(silent);
	ErrorData  *error = gnngp_attempt(read_tables, &read);
	gnngp_data *data = read.data;
	estimate	e = {.data = data,.method = settings->method};
	gp_plan    *plan = &e.forecast.full;

	if (error && error->sqlerrcode == ERRCODE_CONFIGURATION_LIMIT_EXCEEDED)
		return gnngp_row(fcinfo, GNNGP_OUT_NULL, GNNGP_OUT_NULL, GNNGP_OUT_NULL,
						 gnngp_out_text(psprintf("the tables cannot be read: %s",
												 error->message)));
	if (error)
		ReThrowError(error);
	env->limit = 0;
	double		seconds = (double) (GetCurrentTimestamp() - began) / 1e6;
	gnngp_fit_set_precision(env, data, settings);
	gnngp_problem_init(&e.problem, data, settings);
	e.problem.estimate_limit = limit;
	if (graph->task.form)
		gnngp_task_problem(env, data, settings, &e.problem);
	else if (gnngp_method_is_gp(settings->method))
		e.candidates = gnngp_candidates(env, &e.problem, settings->kernel, &e.n);
	/* As a fit does it: below what holds the tables. */
	gnngp_compute(gnngp_env_create_child(env), 0, plan_nodes, &e);
	size_t		end = strlen(plan->reason);
	if (e.n > 1)
		end += snprintf(plan->reason + end, sizeof(plan->reason) - end,
						"; by kernel %s, with the comparison of it and %d others before",
						e.candidates[0].kernel, e.n - 1);
	if (e.candidates && e.forecast.least < plan->bytes && end < sizeof(plan->reason))
		snprintf(plan->reason + end, sizeof(plan->reason) - end,
				 "; %.0f MB at least, as the labels choose", ceil(e.forecast.least / MEGA));
	plan->flops += e.forecast.before.flops;
	MemoryContextDelete(silent);
	gnngp_env_destroy(env);
	return estimate_row(fcinfo, gp_strategy_names[plan->strategy], plan, limit, e.on_gpu,
						seconds + e.seconds);
}

/* gp_estimate(graph, kernel, strategy, landmarks, live, keep, task) */
GNNGP_FUNCTION(gnngp_estimate)
{
	gnngp_graph_def *graph = gnngp_own_graph(gnngp_text_argument(fcinfo, 0, "graph"));
	gnngp_fit_settings settings = gnngp_fit_settings_default();

	settings.kernel = gnngp_kernel_argument(fcinfo, 1);
	settings.strategy = gnngp_text_argument(fcinfo, 2, "strategy");
	settings.landmarks = gnngp_landmarks_argument(fcinfo, 3);
	settings.live = gnngp_bool_argument(fcinfo, 4, "live");
	settings.target_kind = gnngp_text_argument(fcinfo, 6, "task");
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	if (gnngp_link_has_method(env, settings.kernel))
		return estimate_links(fcinfo, env, graph, &settings);
	if (!PG_ARGISNULL(5) && PG_GETARG_INT32(5) != 0)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"It is for fits of links: kernel => 'scores', 'pairs', 'ease' or 'dgp'.",
					"keep cannot be given with kernel %s", settings.kernel);
	gnngp_fit_settings_check(&settings);
	if (gnngp_is_distributed(&settings))
		return estimate_distributed(fcinfo, env, graph, &settings);
	if (graph->task.form)
		gnngp_task_settings(&settings);
	return estimate_nodes(fcinfo, env, graph, &settings);
}
