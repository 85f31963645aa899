/*
 * parts_fit.c - a fit in parts, from the tables to the posterior.
 *
 * The regression sees sums over labelled rows, a sample, and one pass over all rows (core/infer/outside.c);
 * each is a statement.  Everything happens in one transaction, as the graph's owner.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "parts.h"
#include "parts_internal.h"
#include "pg/server/server.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#define PART_BYTES 16777216.0	/* of a part of the widest table, about */
#define LEAST_PARTS 8			/* where there are so many nodes */
#define FIELD 2048				/* a field of labels up to this size is taken whole, as in memory */
#define LANDMARKS 512			/* else so many landmarks */

/* What a fit is asked, and gives. */
typedef struct job
{
	gp_env	   *env;
	Oid			owner;
	const gnngp_fit_settings *settings;
	const gnngp_graph_def *graph;
	const gnngp_model *keep;
	const char *model_name;
	gnngp_parts_fit out;
	gnngp_parts_plan plan;
	int64		dims;			/* features, and rows of edges, where they were asked for before */
	int64		edges;
	gnngp_parts p;
	gnngp_part_factor factor;
	const char *targets;		/* a table of those of labelled nodes */
	const char *told;			/* and of what the regression says of each row */
} job;

/* True for settings with strategy sql. */
bool
gnngp_fits_in_parts(const gnngp_fit_settings *settings)
{
	return strcmp(settings->strategy, gp_strategy_names[GP_STRATEGY_SQL]) == 0;
}

/* True where structure is all there is, and the Laplacian prior that leave-one-out likes best is meant. */
static bool
prior_is_open(const gnngp_fit_settings *settings, const gnngp_sources *src)
{
	return gnngp_kernel_is_auto(settings->kernel) && src->features == NULL && !src->sparse;
}

/* 22023 for settings that need a fit in memory. */
static void
check_settings(const gnngp_fit_settings *settings, const gnngp_sources *src)
{
	if (gnngp_kernel_is_auto(settings->kernel) && !prior_is_open(settings, src))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("strategy sql chooses no kernel"),
				 errhint("Name one, such as kernel => 'gcn'.")));
	if (settings->live)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("strategy sql keeps no live state"),
				 errhint("Leave out live, or use another strategy.")));
}

/* Cuts the nodes into parts: by their ids, of which it takes the first of each. */
static void
cut_parts(gnngp_parts *p, int64 landmarks)
{
	const int64 *key = p->src->data->ids.key;
	double		most = PART_BYTES / (sizeof(float) * (double) Max(landmarks, p->dims));
	int64		height = Max(1, (int64) Min(most, ceil((double) p->n / LEAST_PARTS)));
	int64	   *bound;
	StringInfoData text;

	p->parts = (p->n + height - 1) / height;
	bound = gp_alloc_array(p->ev.env, Max(p->parts - 1, 1), sizeof(int64));
	initStringInfo(&text);
	appendStringInfoString(&text, "'{");
	for (int64 k = 1; k < p->parts; k++)
	{
		bound[k - 1] = key[k * height];
		appendStringInfo(&text, "%s" INT64_FORMAT, k > 1 ? "," : "", bound[k - 1]);
	}
	appendStringInfoString(&text, "}'::bigint[]");
	p->bound = bound;
	p->bounds = text.data;
}

/* How many landmarks there are before the edges are known. */
static int64
most_landmarks(const job *j, int64 nodes)
{
	return Min(nodes, j->settings->landmarks > 0 ? j->settings->landmarks : LANDMARKS);
}

/* Opens a fit over some tables; a listed one runs nothing. */
static void
open_parts(job *j, gnngp_parts *p, const gnngp_sources *src, bool listed)
{
	gp_env	   *env = j->env;
	double		bytes = sizeof(float) * (double) src->data->ids.n * most_landmarks(j, src->data->ids.n);

	memset(p, 0, sizeof(*p));
	p->src = src;
	p->graph_def = j->graph;
	p->keep = j->keep;
	p->model_name = j->model_name;
	p->n = src->data->ids.n;
	p->listed = listed;
	p->schema = gnngp_schema();
	p->program = gnngp_compile_kernel(env, prior_is_open(j->settings, src) ? GP_OPEN_PRIOR : j->settings->kernel);
	gnngp_parts_check(p->program, src);
	p->edges = (double) Max(src->edge_rows, j->edges);
	p->ev = (gp_eval) {.env = env,.n = p->n,.type = GP_FLOAT,.jitter = 1e-5};
	p->ev.dev = listed ? NULL : gnngp_device_open(env, 0);
	if (listed)
		p->dims = j->dims;
	if (src->spread && listed)
		gnngp_place_list_citus(&p->place, env);
	else if (src->spread)
		gnngp_place_citus(&p->place, env, j->owner);
	else if (listed)
		gnngp_place_list(&p->place, env, bytes);
	else
		gnngp_place_partitions(&p->place, env, j->owner, bytes);
}

/* Notes how many edges there are. */
static void
note_edges(gnngp_parts *p, int64 edges)
{
	gp_graph   *graph = gp_alloc_zero(p->ev.env, 1, sizeof(gp_graph));

	graph->nodes = p->n;
	graph->edges = edges;
	p->src->data->graph = graph;
	p->edges = (double) edges;
}

/* Counts them, where nothing else is asked about them. */
static void
count_edges(gnngp_parts *p)
{
	int64	   *degree = gp_alloc_zero(p->ev.env, p->n, sizeof(int64));
	bool	   *field = gp_alloc_zero(p->ev.env, p->n, sizeof(bool));
	int64		edges = gnngp_parts_degrees(p, degree, field);

	if (!p->listed)
		note_edges(p, edges);
	gp_free(p->ev.env, degree);
	gp_free(p->ev.env, field);
}

/* Chooses the landmarks: the field of few labels, else nodes of many neighbours (core/infer/landmarks.c). */
static void
choose_landmarks(job *j, gnngp_parts *p)
{
	const gnngp_data *data = p->src->data;
	int64	   *degree = gp_alloc_zero(p->ev.env, p->n, sizeof(int64));
	bool	   *field = gp_alloc_zero(p->ev.env, p->n, sizeof(bool));
	bool		classes = data->task == GP_TASK_CLASSES;
	int64		edges = gnngp_parts_degrees(p, degree, field);
	int64		size = 0;

	for (int64 i = 0; i < p->n; i++)
		size += field[i];
	p->nlandmarks = most_landmarks(j, p->n);
	if (j->settings->landmarks == 0 && classes && size <= FIELD)
		p->nlandmarks = size;
	if (!p->listed)
	{
		p->landmark = gp_landmarks_of_degrees(p->ev.env, (uint64) j->settings->seed, p->n, degree,
											  classes && size <= p->nlandmarks ? field : NULL, p->nlandmarks);
		note_edges(p, edges);
	}
	gp_free(p->ev.env, degree);
	gp_free(p->ev.env, field);
}

/* Up to the factor: tables of features and edges, landmarks, steps. */
static void
make_factor(job *j, gnngp_parts *p)
{
	gnngp_parts_dims(p);
	cut_parts(p, most_landmarks(j, p->n));
	gnngp_parts_features(p);
	gnngp_parts_edges(p);
	choose_landmarks(j, p);
	j->factor = gnngp_parts_steps(p);
	p->place.phase = GP_PHASE_NUGGET;
}

/* ---- what the regression asks ---- */

/* Sums of labelled rows that are added up. */
typedef struct sums
{
	int64		rank;
	int64		columns;
	double	   *value;			/* rank x (rank + columns) */
} sums;

/* Adds the sums of one key; they come in order, so that their bits do not depend on who was first. */
static void
take_sums(void *state, const Datum *values, const bool *nulls)
{
	sums	   *s = state;
	gnngp_table_value m;

	if (nulls[1])
		return;
	m = gnngp_matrix_read(values[1]);
	if (!m.wide || m.ids.n != s->rank || m.cols != s->rank + s->columns)
		gnngp_matrix_refuse("The sums of a part have another shape.");
	for (int64 k = 0; k < s->rank * m.cols; k++)
		s->value[k] += gnngp_get_float8(m.value + k * sizeof(double));
}

/* Q'Q and Q'y. */
static void
gram_of_parts(void *state, const double *y, int32_t columns, gp_matrix gram, gp_matrix qty)
{
	job		   *j = state;
	gnngp_parts *p = &j->p;
	gp_matrix	root = gnngp_parts_root(p, j->factor.f, NULL);
	const char *roots = root.data ? gnngp_parts_copy(p, "root", root, GP_DOUBLE, NULL) : psprintf("NULL::%s.gp_matrix", p->schema);
	sums		s = {gp_factor_rank(j->factor.f), columns, NULL};
	Oid			types[] = {INT4OID, gnngp_type("gp_matrix")};
	gnngp_place_taker taker = {take_sums, &s, 2, types};
	gp_matrix	host;

	j->targets = gnngp_parts_put_labelled(p, y, columns);
	s.value = gp_alloc_zero(p->ev.env, s.rank * (s.rank + columns), sizeof(double));
	gnngp_place_query(&p->place,
					  psprintf("SELECT t.pk, %s.gp_gram(t.m, y.m, %s ORDER BY t.part) FROM %s AS t JOIN %s AS y USING (pk, part)"
							   " GROUP BY t.pk ORDER BY t.pk", p->schema, roots, j->factor.table, j->targets),
					  0, NULL, NULL, &taker);
	host = gp_matrix_wrap(s.value, s.rank, s.rank + columns, GP_DOUBLE);
	p->ev.dev->upload(p->ev.dev, gram, gp_matrix_cols(host, 0, s.rank));
	p->ev.dev->upload(p->ev.dev, qty, gp_matrix_cols(host, s.rank, columns));
	gp_free(p->ev.env, s.value);
	gnngp_parts_free(p, &root);
}

/* Fills a table with what weights and a root say of each row. */
static void
fill_told(job *j, gnngp_parts *p, int64 columns, const char *weights, const char *roots)
{
	j->told = gnngp_parts_table(p, "told", columns + 2);
	p->place.phase = GP_PHASE_POSTERIOR;
	p->place.verbs->run(&p->place, j->told, psprintf("SELECT t.pk, t.part, %s.gp_apply(t.m, %s, %s) FROM %s AS t", p->schema,
													 weights, roots, j->factor.table));
}

/* Rows of Q. */
static void
rows_of_parts(void *state, const int32_t *node, int64_t n, gp_matrix out)
{
	job		   *j = state;
	gp_matrix	rows = gnngp_parts_gather(&j->p, j->factor.table, node, n, out.cols);

	gnngp_parts_whiten(&j->p, j->factor.f, rows);
	j->p.ev.dev->copy(j->p.ev.dev, out, rows);
	j->p.ev.dev->destroy(j->p.ev.dev, &rows);
}

/* Has weights and a root make what answers follow from, row by row where the rows are; gives that of the labelled nodes. */
static void
predict_parts(void *state, gp_matrix w, gp_matrix root, double *mean, double *norm, double *present)
{
	job		   *j = state;
	gnngp_parts *p = &j->p;
	const gnngp_data *data = p->src->data;
	gp_device  *dev = p->ev.dev;
	gp_matrix	solved = dev->create(dev, w.rows, w.cols, GP_DOUBLE);
	gp_matrix	combined = gnngp_parts_root(p, j->factor.f, &root);
	gp_matrix	rows;

	dev->copy(dev, solved, w);
	gp_factor_solve(&p->ev, j->factor.f, solved);
	fill_told(j, p, w.cols, gnngp_parts_copy(p, "weights", solved, GP_DOUBLE, NULL), gnngp_parts_copy(p, "root", combined, GP_DOUBLE, NULL));
	rows = gnngp_parts_gather(p, j->told, data->labelled, data->nlabelled, w.cols + 2);
	dev->download(dev, gp_matrix_wrap(mean, data->nlabelled, w.cols, GP_DOUBLE), gp_matrix_cols(rows, 0, w.cols));
	dev->download(dev, gp_matrix_wrap(norm, data->nlabelled, 1, GP_DOUBLE), gp_matrix_cols(rows, w.cols, 1));
	dev->download(dev, gp_matrix_wrap(present, data->nlabelled, 1, GP_DOUBLE), gp_matrix_cols(rows, w.cols + 1, 1));
	dev->destroy(dev, &solved);
	dev->destroy(dev, &combined);
	dev->destroy(dev, &rows);
}

/* Makes the predictions of that. */
static void
answer_parts(job *j, gnngp_parts *p, int32 columns, gp_posterior *out)
{
	gnngp_answer_layout layout = {.columns = columns,.variance = 1,.present = 1};
	gnngp_part_rows rows = {
		.query = psprintf("(SELECT pk, part, ARRAY[m] AS m FROM %s)", j->told),.n = 1,.layout = &layout,.labelled = j->targets
	};

	gnngp_parts_answer(p, &rows, out);
}

/* ---- the fit ---- */

/* The problem of the regression. */
static gp_problem
regression_problem(const gnngp_data *data, const gnngp_fit_settings *settings)
{
	return (gp_problem) {
		.task = data->task,
		.nlabelled = data->nlabelled,
		.labelled = data->labelled,
		.label = data->label,
		.target = data->target,
		.nclasses = data->nclasses,
		.strategy = GP_STRATEGY_SQL,
		.nugget = settings->nugget,
		.seed = (uint64_t) settings->seed,
		.type = GP_FLOAT
	};
}

/* The posterior from the factor's table. */
static gp_posterior *
fit_factor(job *j)
{
	gnngp_parts *p = &j->p;
	gp_problem	problem = regression_problem(p->src->data, j->settings);
	gp_outside	outside = {j, gp_factor_rank(j->factor.f), p->ev.jitter, p->ev.max_jitter, gram_of_parts, rows_of_parts, predict_parts};
	gp_posterior *out = gp_fit_outside(p->ev.dev, &problem, &outside, p->n);

	out->landmark = p->landmark;
	out->nlandmarks = p->nlandmarks;
	answer_parts(j, p, out->columns, out);
	gp_posterior_tell(p->ev.env, &problem, out);
	return out;
}

/* The problem of a Laplacian prior. */
static gp_problem
prior_problem(const job *j, gnngp_parts *p)
{
	gp_problem	problem = regression_problem(p->src->data, j->settings);
	gp_graph   *none = gp_alloc_zero(p->ev.env, 1, sizeof(gp_graph));

	none->nodes = p->n;
	problem.graph = none;
	problem.program = p->program;
	problem.open_prior = prior_is_open(j->settings, p->src);
	return problem;
}

/* The posterior of a Laplacian prior, which has no factor. */
static gp_posterior *
fit_prior(job *j, gnngp_parts *p)
{
	gp_problem	problem = prior_problem(j, p);
	gp_posterior *out;

	/* The widest rows are those of predictions. */
	cut_parts(p, 2 * (Max(problem.nclasses, 1) + 2));
	gnngp_parts_edges(p);
	count_edges(p);
	out = gnngp_parts_precision(p, &problem);
	if (out && problem.open_prior)
		j->out.kernel = gp_prior_kernel(j->env, out);
	return out;
}

/* Lists the statements of a fit. */
static void
list_statements(job *j, const gnngp_sources *src, gnngp_parts *list)
{
	job			copy = *j;

	open_parts(&copy, list, src, true);
	if (gp_program_is_laplacian(list->program))
	{
		fit_prior(&copy, list);
		return;
	}
	make_factor(&copy, list);
	for (int k = 0; k < 2; k++)
		gnngp_parts_gather(list, copy.factor.table, NULL, 0, 0);
	gnngp_place_query(&list->place, psprintf("SELECT t.pk, %s.gp_gram(t.m, y.m, ...) FROM %s AS t JOIN targets AS y USING (pk, part) GROUP BY t.pk",
											 list->schema, copy.factor.table), 0, NULL, NULL, NULL);
	fill_told(&copy, list, Max(src->data->nclasses, 1), "...", "...");
	gnngp_parts_gather(list, copy.told, NULL, 0, 0);
	answer_parts(&copy, list, Max(src->data->nclasses, 1), NULL);
}

/* Drops the tables that are left, and the schema. */
static void
end_parts(job *j)
{
	gnngp_place *place = &j->p.place;

	while (place->tables != NIL)
		place->verbs->drop(place, linitial(place->tables));
	gnngp_place_end(place);
	j->p.ev.dev->close(j->p.ev.dev);
}

/* Fits within the tables. */
static void
fit_within(const gnngp_sources *src, void *arg)
{
	job		   *j = arg;
	gnngp_parts list;
	gp_features *counted;

	check_settings(j->settings, src);
	list_statements(j, src, &list);
	open_parts(j, &j->p, src, false);
	j->p.place.total = list.place.done;
	if (gp_program_is_laplacian(j->p.program))
	{
		j->out.posterior = fit_prior(j, &j->p);
		gp_tell_no_landmarks(j->env, j->settings->landmarks, j->out.posterior);
	}
	else
	{
		make_factor(j, &j->p);
		j->out.posterior = fit_factor(j);
	}
	counted = gp_alloc_zero(j->env, 1, sizeof(gp_features));
	counted->rows = j->p.n;
	counted->dims = j->p.dims;
	src->data->features = counted;
	j->out.data = gp_alloc(j->env, sizeof(gnngp_data));
	*j->out.data = *src->data;
	j->out.device = j->p.ev.dev->name;
	j->out.predictions = j->p.predictions;
	end_parts(j);
}

/* Works within the tables of a graph, in such a way that Citus can go on in the transaction. */
static void
read_within(job *j, const gnngp_graph_def *graph, gnngp_within work)
{
	int			level = NewGUCNestLevel();

	gnngp_citus_prepare();
	gnngp_read_within(j->env, graph, j->settings->task, work, j);
	AtEOXact_GUC(false, level);
}

/* Reads and fits. */
gnngp_parts_fit
gnngp_fit_in_parts(gp_env *env, const gnngp_graph_def *graph, const gnngp_fit_settings *settings, const char *model_name,
				   const gnngp_model *keep)
{
	job		   *j = palloc0(sizeof(job));

	j->env = env;
	j->owner = gnngp_owner_role(graph);
	j->graph = graph;
	j->keep = keep;
	j->model_name = model_name;
	j->settings = settings;
	read_within(j, graph, fit_within);
	return j->out;
}

/* Operations, about: what each table's making takes, and the last pass. */
static double
count_flops(const job *j, gnngp_parts *p)
{
	gp_problem	problem;
	double		rank;

	if (gp_program_is_laplacian(p->program))
	{
		problem = prior_problem(j, p);
		return gnngp_parts_precision_flops(p, &problem);
	}
	rank = (double) gp_factor_rank(p->factor[p->program->nsteps - 1].f);

	return (double) p->n * rank * (p->written / ((double) p->n * sizeof(float)) + rank);
}

/* Plans within the tables. */
static void
plan_within(const gnngp_sources *src, void *arg)
{
	job		   *j = arg;
	gnngp_parts list;

	check_settings(j->settings, src);
	j->dims = gnngp_parts_count_features(src);
	j->edges = gnngp_parts_count_edges(src);
	list_statements(j, src, &list);
	j->plan = (gnngp_parts_plan) {
		.bytes = list.task,
		.written = list.written,
		.shuffled = list.shuffled,
		.flops = count_flops(j, &list),
		.parts = list.parts,
		.statements = (int) list.place.done
	};
}

/* Plans. */
gnngp_parts_plan
gnngp_plan_in_parts(gp_env *env, const gnngp_graph_def *graph, const gnngp_fit_settings *settings)
{
	job		   *j = palloc0(sizeof(job));

	j->env = env;
	j->settings = settings;
	read_within(j, graph, plan_within);
	return j->plan;
}
