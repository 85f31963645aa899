/*
 * fit_run.c - gp_fit and gp_fit_links, and the three steps of a fit, which a refresh shares.
 */
#include "postgres.h"

#include "task_fit.h"
#include "fit_run.h"
#include "pg/functions/links/fit_links.h"
#include "methods.h"
#include "pg/distributed/distributed.h"
#include "pg/store/store_live.h"

#define WORSE 0.02				/* a difference of loo_score that is told */

/* A way to fit the nodes. */
typedef enum node_fit
{
	FIT_NONE,					/* links alone */
	FIT_IN_TABLES,				/* by strategy sql, while they are read */
	FIT_TASK,
	FIT_METHOD,
	FIT_KERNEL					/* in pieces that choose their devices */
} node_fit;

/* A fit between its steps. */
struct gnngp_fit_run
{
	MemoryContext context;
	gp_env	   *env;
	int64		graph_id;
	uint64		graph_shape;
	Oid			owner;
	char	   *model_name;
	int			parts;
	gnngp_fit_settings settings;
	gnngp_link_settings link_settings;
	gnngp_data *data;			/* for the node part; */
	gnngp_data *link_data;		/* and for the link part, mostly the same */
	node_fit	nodes;			/* how they are fitted */
	gnngp_choice chosen;		/* of the node part */
	gnngp_forward forward;		/* of a task */
	gp_link_model *links;
	gp_link_kept kept;			/* their best pairs */
	instr_time	lap;			/* when the step in hand began */
	double		read_seconds;
	double		seconds;		/* of the node part, reading included */
	double		link_seconds;
	size_t		read_peak;
	size_t		peak;
	size_t		link_peak;
};

/* The seconds since the last lap, or the start. */
static double
lap_seconds(gnngp_fit_run *run)
{
	instr_time	now,
				lap;

	INSTR_TIME_SET_CURRENT(now);
	lap = now;
	INSTR_TIME_SUBTRACT(lap, run->lap);
	run->lap = now;
	return INSTR_TIME_GET_DOUBLE(lap);
}

/* 0A000: edge features become features of the nodes, from all their edges: only a fit of nodes in
 * memory reads these. */
static void
refuse_edge_features(const gnngp_graph_def *graph, const gnngp_fit_run *run)
{
	bool		live = run->settings.live;
	const char *what = run->parts & GNNGP_PART_LINKS ? "links cannot be fitted" :
		run->nodes == FIT_IN_TABLES ? "strategy sql cannot be used" :
		live ? "no live state can be kept" : NULL;

	if (graph->edge_features.n > 0 && what)
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					live ? "Make another graph, whose nodes are a view with sums and counts of their edges as columns. A model that lacks what the edges say may be far worse." :
					"Make another graph of the same tables without them.",
					"%s on graph \"%s\", which has edge features", what, graph->name);
}

/* Reads the nodes; those of strategy sql are then fitted, too. */
static void
read_nodes(gnngp_fit_run *run, const gnngp_graph_def *graph)
{
	const char *kind = run->settings.target_kind;

	if (run->nodes == FIT_IN_TABLES)
	{
		/* A node part whose factor lies in tables is fitted where it is read, in one moment. */
		gnngp_distributed_fit fit = gnngp_fit_distributed(run->env, graph, &run->settings);

		run->data = fit.data;
		run->chosen.posterior = fit.posterior;
		run->chosen.device = fit.device;
		run->chosen.kernel = pstrdup(run->settings.kernel);
		run->peak = run->env->peak;
		run->seconds = lap_seconds(run);
	}
	else if (run->nodes == FIT_TASK)
		run->data = gnngp_read_task(run->env, graph, kind);
	else if (run->nodes != FIT_NONE)
		run->data = gnngp_read(run->env, graph, kind, true,
							   gnngp_settings_choose_kernel(&run->settings));
}

gnngp_fit_run *
gnngp_fit_read(MemoryContext parent, const gnngp_graph_def *graph,
			   const gnngp_fit_settings *settings, const gnngp_link_settings *link_settings,
			   const char *model_name, const gnngp_model *former)
{
	MemoryContext context = AllocSetContextCreate(parent, "gnngp fit", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	gnngp_fit_run *run = palloc0(sizeof(gnngp_fit_run));

	*run = (gnngp_fit_run) {.context = context,.env = gnngp_env_create(context),
							.graph_id = graph->id,.graph_shape = gnngp_graph_shape(graph),
							.owner = graph->owner_role,.model_name = pstrdup(model_name)};
	INSTR_TIME_SET_CURRENT(run->lap);
	gnngp_notices_begin(context);
	for (int i = 0; former && i < former->notices.n; i++)
		gnngp_notices_add_former(former->notices.text[i]);
	for (int i = 0; former && i < former->link.notices.n; i++)
		gnngp_notices_add_former(former->link.notices.text[i]);
	if (settings)
	{
		run->parts |= GNNGP_PART_NODES;
		run->settings = *settings;
		gnngp_fit_settings_check(&run->settings);
		run->settings.kernel = pstrdup(settings->kernel);
	}
	if (link_settings)
	{
		run->parts |= GNNGP_PART_LINKS;
		run->link_settings = *link_settings;
		gnngp_link_settings_check(&run->link_settings);
		run->link_settings.kernel = pstrdup(link_settings->kernel);
	}
	if (graph->task.form && settings)
		gnngp_task_settings(&run->settings);
	run->nodes = settings == NULL ? FIT_NONE :
		gnngp_is_distributed(&run->settings) ? FIT_IN_TABLES :
		graph->task.form ? FIT_TASK :
		gnngp_method_is_gp(run->settings.method) ? FIT_KERNEL : FIT_METHOD;
	refuse_edge_features(graph, run);
	gnngp_env_collect_notices(run->env);
	read_nodes(run, graph);
	if (link_settings)
		run->link_data = run->nodes == FIT_NONE || run->nodes == FIT_IN_TABLES ?
			gnngp_read(run->env, graph, "auto", false, false) : run->data;
	gnngp_fit_set_precision(run->env, run->data, &run->settings);
	run->read_peak = run->env->peak;
	run->read_seconds = lap_seconds(run);
	MemoryContextSwitchTo(old);
	return run;
}

const gnngp_data *
gnngp_fit_data(const gnngp_fit_run *run)
{
	return run->data ? run->data : run->link_data;
}

static void
compute_kernel(gnngp_fit_run *run)
{
	gp_env	   *env = run->env;
	gp_problem	problem;

	gnngp_problem_init(&problem, run->data, &run->settings);
	/* What asks for another graph comes before errors about the model. */
	gp_notice_weights(env, &problem);
	run->chosen = gnngp_fit_kernel(env, &problem, run->settings.kernel);
	gp_notice_no_landmarks(env, run->settings.landmarks, run->chosen.posterior);
	/* Nodes that no label reaches, once for all kernels that were tried */
	problem.program = run->chosen.program;
	gp_notice_unlabelled(env, &problem);
	run->peak = env->peak;
	run->seconds = run->read_seconds + lap_seconds(run);
}

static void
compute_nodes(gnngp_computation *compute, void *arg)
{
	gnngp_fit_run *run = arg;
	gp_problem	problem;

	if (run->nodes == FIT_TASK)
		run->chosen = gnngp_task_fit(compute, run->data, &run->settings, &run->forward);
	else
	{
		gnngp_problem_init(&problem, run->data, &run->settings);
		gp_notice_weights(compute->env, &problem);
		run->chosen.kernel = run->settings.method;
		run->chosen.posterior = gnngp_method_fit(compute, &problem, run->settings.method);
		run->chosen.device = compute->used;
		gp_notice_unlabelled(compute->env, &problem);
	}
	run->peak = compute->env->peak;
	run->seconds = run->read_seconds + lap_seconds(run);
}

static void
compute_links(gnngp_computation *compute, void *arg)
{
	gnngp_fit_run *run = arg;
	gp_device  *card = NULL;

	compute->env->peak = compute->env->used;
	run->links = gnngp_link_compute(compute, run->link_data, &run->link_settings, &card);
	run->kept = gnngp_link_keep(card ? card : compute->device, run->links, &run->link_settings);
	gnngp_card_close(compute, card);
	run->link_peak = Max(compute->env->peak, run->read_peak);
	run->link_seconds = run->read_seconds + lap_seconds(run);
}

void
gnngp_fit_compute(gnngp_fit_run *run)
{
	MemoryContext old = MemoryContextSwitchTo(run->context);

	(void) lap_seconds(run);
	if (run->nodes == FIT_KERNEL)
		compute_kernel(run);
	else if (run->nodes == FIT_TASK || run->nodes == FIT_METHOD)
		gnngp_compute_planned(run->env, compute_nodes, run);
	if (run->parts & GNNGP_PART_LINKS)
		gnngp_compute_planned(run->env, compute_links, run);
	gnngp_env_send_notices(run->env);
	MemoryContextSwitchTo(old);
}

static void
fill_nodes(const gnngp_fit_run *run, gnngp_model *model)
{
	const gp_posterior *p = run->chosen.posterior;
	const gnngp_data *data = run->data;
	bool		classes = data->target_kind == GP_TASK_CLASSES;

	*model = (gnngp_model) {
		.settings = run->settings,.kernel = run->chosen.kernel,
		.alternatives = run->chosen.alternatives,
		.device = unconstify(char *, run->chosen.device),
		.strategy = unconstify(char *, gp_strategy_names[p->plan.strategy]),
		.target_kind = classes ? "classification" : "regression",
		.nodes = data->ids.n,.id_type = data->ids.type_name,.integer_ids = data->ids.integer,
		.edges = data->graph->edges,.features = data->features ? data->features->dims : 0,
		.labelled = data->nlabelled,.classes = classes ? data->nclasses : 0,
		.class_labels = {classes ? data->nclasses : 0, data->class_label},
		.landmarks = p->nlandmarks,.nugget = p->nugget,.scale = p->scale,
		.log_marginal_likelihood = p->log_marginal_likelihood,.loo_score = p->loo_score,
		.forward_score = p->forward_score,.mean_diag = p->mean_diag,.jitter = p->jitter,
		.exact_diagonal = p->plan.exact_diagonal,
		.power = run->nodes == FIT_METHOD ? NAN : p->power,
		.live_bytes = p->state ? (int64) gp_state_bytes(p->state) : 0,
		.seconds = run->seconds,.peak_bytes = (int64) run->peak
	};
	if (data->task_data)
	{
		model->relations = data->task_data->relations;
		model->facts = data->task_data->facts;
		model->rows = data->graph->nodes;
	}
}

void
gnngp_fit_store(gnngp_fit_run *run, gnngp_model *model)
{
	int64		nodes = gnngp_fit_data(run)->ids.n;

	run->env->progress(run->env, GP_PHASE_STORE, 0, nodes);
	(void) lap_seconds(run);
	*model = (gnngp_model) {0};
	if (run->parts & GNNGP_PART_NODES)
		fill_nodes(run, model);
	model->name = run->model_name;
	model->owner_role = run->owner;
	model->graph_id = run->graph_id;
	gnngp_texts *notices = run->parts & GNNGP_PART_NODES ? &model->notices : &model->link.notices;
	notices->text = gnngp_notices_given(&notices->n);
	if (run->parts & GNNGP_PART_LINKS)
	{
		gnngp_link_fill(run->links, run->link_data, &run->link_settings, &model->link);
		model->link.seconds = run->link_seconds;
		model->link.peak_bytes = (int64) run->link_peak;
	}
	gnngp_model_save(model, run->parts);
	if (run->parts & GNNGP_PART_NODES)
	{
		gnngp_store_posterior(model, run->data, run->chosen.posterior);
		if (run->chosen.posterior->state)
			gnngp_live_write(model, run->data->task_data ? &run->data->task_data->label_ids :
							 &run->data->ids, run->graph_shape,
							 run->chosen.posterior->state);
		if (run->data->task_data)
			gnngp_facts_write(model, run->data, run->forward);
		model->seconds += lap_seconds(run);
	}
	if (run->parts & GNNGP_PART_LINKS)
	{
		gnngp_link_store_write(model, &run->link_data->ids, run->links);
		gnngp_held_store_write(model, &run->link_data->ids, &run->links->held);
		gnngp_link_figures_write(model, run->links->metric);
		if (run->kept.nodes > 0)
			model->link.kept_bytes = gnngp_kept_write(model, &run->link_data->ids, &run->kept,
													  run->links->graph->directed);
		model->link.seconds += lap_seconds(run);
	}
	gnngp_store_drop_versions(model);
	gnngp_model_save_seconds(model, run->parts);
	run->env->progress(run->env, GP_PHASE_STORE, nodes, nodes);
}

/* The graph and the model's name of a call, looked up, owned and locked. */
static gnngp_graph_def *
open_call(FunctionCallInfo fcinfo, const char *kernel, const char *usual_kernel, int part,
		  bool replace, char **model_name)
{
	gnngp_graph_def *graph = gnngp_own_graph(gnngp_text_argument(fcinfo, 0, "graph"));

	*model_name = graph->name;
	if (!PG_ARGISNULL(1))
	{
		char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(1));

		/* A kernel, with options or not, that stands in the name's place was most likely meant. */
		if (gp_kernel_is_preset(pnstrdup(name, strcspn(name, "("))) &&
			strcmp(kernel, usual_kernel) == 0)
			gnngp_raise(INVALID_PARAMETER_VALUE,
						psprintf("To fit with this kernel write kernel => %s.",
								 quote_literal_cstr(name)),
						"model name \"%s\" is the name of a kernel", name);
		*model_name = name;
	}
	gnngp_fit_lock(graph, *model_name);
	gnngp_model_claim(graph, *model_name, part, replace);
	return graph;
}

/*
 * 42710 where kernels that can answer live would be compared, and the best of them replace a model
 * whose kernel cannot: that may be far better.
 */
static void
refuse_worse_live(const gnngp_model *former, const gnngp_graph_def *graph)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);

	if (former->kernel && gnngp_method_is_gp(former->settings.method) &&
		gp_program_global_part(gnngp_compile_kernel(env, former->kernel)))
		gnngp_raise(DUPLICATE_OBJECT,
					psprintf("Fit a live one beside it: gp_fit(%s, %s, live => true). It may be worse. To replace the model pass replace => true.",
							 quote_literal_cstr(graph->name),
							 quote_literal_cstr(psprintf("%s live", former->name))),
					"model \"%s\" has kernel \"%s\", which cannot answer live", former->name,
					former->kernel);
	gnngp_env_destroy(env);
}

/*
 * All of a function that fits one part, whose settings are given, of the model that its arguments
 * graph, model and replace name; returns its row.  22023 for a model with the name of a kernel that
 * was not asked for; 42710 for another graph's model that is not to be replaced.
 */
static Datum
fit_call(FunctionCallInfo fcinfo, const gnngp_fit_settings *settings,
		 const gnngp_link_settings *link_settings, int replace_argno)
{
	bool		replace = !PG_ARGISNULL(replace_argno) && PG_GETARG_BOOL(replace_argno);
	char	   *name;
	gnngp_graph_def *graph = settings ?
		open_call(fcinfo, gnngp_settings_kernel(settings), gnngp_fit_settings_default().kernel,
				  GNNGP_PART_NODES, replace, &name) :
		open_call(fcinfo, link_settings->kernel, GNNGP_LINK_KERNEL, GNNGP_PART_LINKS, replace,
				  &name);
	const gnngp_model *former = settings ? gnngp_model_lookup(name, true) : NULL;
	gnngp_model model;
	Datum		row;

	if (former && former->owner_role != graph->owner_role)
		former = NULL;
	if (former && settings->live && !replace && gnngp_settings_choose_kernel(settings))
		refuse_worse_live(former, graph);
	gnngp_account_give_up(0);
	gnngp_progress_begin(name);
	gnngp_fit_run *run = gnngp_fit_read(CurrentMemoryContext, graph, settings, link_settings, name,
										NULL);
	if (former && !run->settings.live && former->live_bytes > 0)
		gnngp_notice("To keep one, fit with live => true; gp_refresh keeps it, too.",
					 "the live state of model \"%s\" is dropped: this fit has none", name);
	gnngp_fit_compute(run);
	if (former && former->loo_score > run->chosen.posterior->loo_score + WORSE)
		gnngp_notice(run->data->task_data ? "gp_fit(task, 'another name') keeps both." :
						 "gp_fit(graph, 'another name', ...) keeps both; gp_tune compares kernels.",
					 "this fit has loo_score %.2f, and the model \"%s\" that it replaces had %.2f", run->chosen.posterior->loo_score, name, former->loo_score);
	gnngp_fit_store(run, &model);
	row = gnngp_model_row(fcinfo, &model, settings ? GNNGP_PART_NODES : GNNGP_PART_LINKS);
	MemoryContextDelete(run->context);
	gnngp_progress_end();
	return row;
}

/* gp_fit(graph, model, kernel, task, strategy, landmarks, nugget, seed, replace, live) */
GNNGP_FUNCTION(gnngp_fit)
{
	gnngp_prevent_read_only("gp_fit");
	gnngp_fit_settings settings = gnngp_fit_settings_default();
	settings.kernel = gnngp_kernel_argument(fcinfo, 2);
	settings.target_kind = gnngp_text_argument(fcinfo, 3, "task");
	settings.strategy = gnngp_text_argument(fcinfo, 4, "strategy");
	settings.landmarks = gnngp_landmarks_argument(fcinfo, 5);
	settings.nugget = gnngp_nugget_argument(fcinfo, 6);
	gnngp_require_argument(fcinfo, 7, "seed");
	settings.seed = PG_GETARG_INT64(7);
	settings.live = gnngp_bool_argument(fcinfo, 9, "live");
	gnngp_fit_settings_check(&settings);
	PG_RETURN_DATUM(fit_call(fcinfo, &settings, NULL, 8));
}

/*
 * gp_fit_links(graph, model, kernel, method, seed, replace, keep, min_probability, missing_share)
 */
GNNGP_FUNCTION(gnngp_fit_links)
{
	gnngp_prevent_read_only("gp_fit_links");
	gnngp_link_settings settings = gnngp_link_settings_argument(fcinfo);
	PG_RETURN_DATUM(fit_call(fcinfo, NULL, &settings, 5));
}
