/*
 * fit_distributed.c - a fit of strategy sql, from the tables to the posterior.
 *
 * The regression sees sums over labelled rows, a sample of rows, and one pass over all rows
 * (core/fit/external_factor.c); each is a statement.  Everything happens in one transaction.
 */
#include "postgres.h"

#include "distributed.h"
#include "distributed_internal.h"

#define CHUNK_BYTES 16777216.0	/* of a chunk of the widest table, about */
#define LEAST_CHUNKS 8			/* where there are so many nodes */
#define LANDMARKS 512			/* where the labels' field is larger */

/* What a fit is asked for, and works on. */
typedef struct job
{
	gp_env	   *env;
	const gnngp_fit_settings *settings;
	gnngp_sources *sources;
	int			guc_level;
	int64		dims;			/* of a plan: features, and rows of edges */
	int64		edges;
	gnngp_table_fit	d;
	gnngp_chunked_factor factor;
	gnngp_chunked_factor some;	/* rows of it, of labelled nodes and a sample; no table: not made */
} job;

bool
gnngp_is_distributed(const gnngp_fit_settings *settings)
{
	return strcmp(settings->strategy, gp_strategy_names[GP_STRATEGY_SQL]) == 0;
}

/* Opens a fit; a listed one runs nothing.  22023 and 0A000 for settings that need a fit in
 * memory. */
static void
open_fit(job *j, bool listed)
{
	gnngp_table_fit *d = &j->d;
	const gnngp_sources *sources = j->sources;
	const gnngp_fit_settings *settings = j->settings;
	bool		chosen = gnngp_kernel_is_auto(settings->kernel);
	int64		n = sources->data->ids.n;

	if (chosen && (sources->features || OidIsValid(sources->r->sparse.oid)))
		gnngp_raise(INVALID_PARAMETER_VALUE, "Pass one, such as kernel => 'gcn'.",
					"strategy sql needs a named kernel");
	if (settings->live)
		gnngp_raise(FEATURE_NOT_SUPPORTED, "Leave out live, or use another strategy.",
					"strategy sql cannot store a live state");
	*d = (gnngp_table_fit) {.sources = sources,.n = n,.dims = j->dims};
	d->ids = (gnngp_value_ids) {n, sources->data->ids.key[0], sources->data->ids.key};
	d->ids = gnngp_value_ids_part(&d->ids, 0, n);
	/* Without features the kernel that is chosen is a Laplacian one. */
	d->program = gnngp_compile_kernel(j->env, chosen ? "laplacian" : settings->kernel);
	gnngp_distributed_check(d->program, sources);
	d->edges = (double) Max(sources->edge_rows, j->edges);
	d->nlandmarks = Min(n, settings->landmarks > 0 ? settings->landmarks : LANDMARKS);
	d->ev = (gp_eval) {.env = j->env,.n = n,.type = GP_FLOAT,.jitter = GP_FLOAT_JITTER};
	d->ev.dev = listed ? NULL : gnngp_device_open(j->env, 0);
	gnngp_placement_open(&d->placement, j->env, sources->apart, listed,
						 sizeof(float) * (double) n * d->nlandmarks);
}

/* Chooses the landmarks: the field of few labels, else nodes of many neighbours
 * (core/fit/landmarks.c). */
static void
choose_landmarks(job *j)
{
	gnngp_table_fit *d = &j->d;
	gp_env	   *env = d->ev.env;
	gnngp_data *data = d->sources->data;
	int64		n = d->placement.listed ? 0 : d->n;
	int32	   *degree = gp_alloc_zero(env, n, sizeof(int32));
	bool	   *field = gp_alloc_zero(env, n, sizeof(bool));
	bool		classes = data->target_kind == GP_TASK_CLASSES;
	int64		edges = gnngp_chunk_degrees(d, degree, field);
	int64		size = 0;

	for (int64 i = 0; i < n; i++)
		size += field[i];
	if (j->settings->landmarks == 0 && classes && size <= GP_FIELD_MOST)
		d->nlandmarks = size;
	if (!d->placement.listed)
	{
		d->landmark = gp_landmarks_of_degrees(env, (uint64) j->settings->seed, d->n, degree,
											  classes && size <= d->nlandmarks ? field : NULL,
											  d->nlandmarks);
		data->graph = gp_alloc_zero(env, 1, sizeof(gp_graph));
		data->graph->nodes = d->n;
		data->graph->edges = edges;
		d->edges = (double) edges;
	}
	gp_free_all(env, degree, field);
}

/* Up to the factor: tables of features and edges, landmarks, steps. */
static void
make_factor(job *j)
{
	gnngp_table_fit *d = &j->d;
	const int64 *key = d->sources->data->ids.key;
	StringInfoData text;

	if (!d->placement.listed && d->dims < 1)
		gnngp_raise(ARRAY_SUBSCRIPT_ERROR, "Give every node its features.",
					"a row of table \"%s\" has no features", d->sources->r->nodes.name);
	/* The nodes are cut into chunks by their ids, at the first one of each. */
	double		most = CHUNK_BYTES / (sizeof(float) * (double) Max(d->nlandmarks, d->dims));
	int64		height = Max(1, (int64) Min(most, ceil((double) d->n / LEAST_CHUNKS)));
	d->height = height;
	d->chunks = (d->n + height - 1) / height;
	int64	   *bound = gp_alloc_array(d->ev.env, Max(d->chunks - 1, 1), sizeof(int64));
	initStringInfo(&text);
	appendStringInfoString(&text, "'{");
	for (int64 k = 1; k < d->chunks; k++)
	{
		bound[k - 1] = key[k * height];
		appendStringInfo(&text, "%s" INT64_FORMAT, k > 1 ? "," : "", bound[k - 1]);
	}
	appendStringInfoString(&text, "}'::bigint[]");
	d->bound = bound;
	d->bounds = text.data;
	gnngp_chunk_features(d);
	gnngp_chunk_edges(d);
	choose_landmarks(j);
	j->factor = gnngp_factor_steps(d);
	d->placement.phase = GP_PHASE_NUGGET;
}

/* ---- what the regression asks for: gp_external_factor ---- */

typedef struct chunk_sums
{
	int64		rank;
	int64		columns;
	double	   *value;			/* rank x (rank + columns) */
} chunk_sums;

/* Adds the sums of one key; they come in order, so that their bits do not depend on who was
 * first. */
static void
add_sums(void *state, const Datum *values, const bool *nulls)
{
	chunk_sums *s = state;

	if (nulls[1])
		return;
	gnngp_table_value m = gnngp_matrix_read(values[1]);
	if (!m.wide || m.ids.n != s->rank || m.cols != s->rank + s->columns)
		gnngp_matrix_refuse("The sums of a chunk have another shape.");
	for (int64 k = 0; k < s->rank * m.cols; k++)
		s->value[k] += gnngp_get_float8(m.value + k * sizeof(double));
}

/* Q'Q and Q'y. */
static void
chunked_gram(void *state, const double *y, int32_t columns, gp_matrix gram, gp_matrix qty)
{
	job		   *j = state;
	gnngp_table_fit *d = &j->d;
	gp_matrix	root = gnngp_chunk_root(d, j->factor.f);
	const char *roots = root.data ? gnngp_chunk_copy(d, "root", root, GP_DOUBLE, NULL)
		: "NULL::gnngp_internal.gp_matrix";
	const char *targets = gnngp_chunk_labelled(d, y, columns);
	chunk_sums	s = {gp_factor_rank(j->factor.f), columns, NULL};
	Oid			types[] = {INT4OID, gnngp_type("gp_matrix")};
	gnngp_sink	rows = {.row = add_sums,.state = &s,.n = 2,.types = types};

	s.value = gp_alloc_zero(d->ev.env, s.rank * (s.rank + columns), sizeof(double));
	gnngp_placement_query(&d->placement,
						  psprintf("SELECT t.pk, gnngp_internal.gp_gram(%s, y.m, %s ORDER BY t.chunk) FROM %s AS t JOIN %s AS y USING (pk, chunk)"
								   " GROUP BY t.pk ORDER BY t.pk",
								   gnngp_chunk_call(&j->some, "t.m", NULL, NULL), roots, j->some.table,
								   targets),
						  &rows);
	if (d->placement.listed)
		return;
	gp_matrix	host = gp_matrix_wrap(s.value, s.rank, s.rank + columns, GP_DOUBLE);
	d->ev.dev->upload(d->ev.dev, gram, gp_matrix_cols(host, 0, s.rank));
	d->ev.dev->upload(d->ev.dev, qty, gp_matrix_cols(host, s.rank, columns));
	gp_free(d->ev.env, s.value);
	gnngp_chunk_free(d, &root);
}

/* The first call makes the table of rows: of its nodes, and of all labelled ones for the later
 * calls. */
static void
chunked_rows(void *state, const int32_t *node, int64_t n, gp_matrix out)
{
	job		   *j = state;

	if (j->some.table == NULL)
	{
		const gnngp_data *data = j->sources->data;
		bool	   *wanted = gp_alloc_zero(j->env, j->d.n, sizeof(bool));
		int32	   *all = gp_alloc_array(j->env, n + data->nlabelled, sizeof(int32));
		int64		count = 0;

		for (int64 k = 0; k < n; k++)
			wanted[node[k]] = true;
		for (int64 k = 0; k < data->nlabelled; k++)
			wanted[data->labelled[k]] = true;
		for (int64 i = 0; i < j->d.n; i++)
			if (wanted[i])
				all[count++] = (int32) i;
		gp_free(j->env, wanted);
		j->some = gnngp_factor_some(&j->d, &j->factor, all, count);
		gp_free(j->env, all);
	}
	gp_matrix	rows = gnngp_chunk_gather(&j->d, &j->some, node, n);
	if (j->d.placement.listed)
		return;
	gnngp_chunk_whiten(&j->d, j->factor.f, rows);
	j->d.ev.dev->copy(j->d.ev.dev, out, rows);
	j->d.ev.dev->destroy(j->d.ev.dev, &rows);
}

/* Q [F w] = P (R^-T [F w]) of all rows. */
static gp_kept_rows
chunked_project_all(void *state, gp_matrix root, gp_matrix w, double *labelled)
{
	job		   *j = state;
	gnngp_table_fit *d = &j->d;
	gp_device  *dev = d->ev.dev;
	int64		rank = gp_factor_rank(j->factor.f);
	int32		columns = (int32) w.cols;
	gp_matrix	both = {.rows = rank,.cols = rank + columns};

	if (!d->placement.listed)
	{
		both = dev->create(dev, rank, both.cols, GP_DOUBLE);
		dev->copy(dev, gp_matrix_cols(both, 0, rank), root);
		if (columns > 0)
			dev->copy(dev, gp_matrix_cols(both, rank, columns), w);
		gp_factor_solve(&d->ev, j->factor.f, both);
	}
	if (labelled || d->placement.listed)
		gnngp_chunk_products(d, &j->some, both, columns, labelled);
	gp_kept_rows kept = gnngp_factor_product(d, &j->factor, both, columns);
	gnngp_chunk_free(d, &both);
	return kept;
}

/* ---- the fit ---- */

/* Lists the statements of a fit: as many as it runs, and what they write. */
static void
list_statements(job *j)
{
	int32		columns = Max(j->sources->data->nclasses, 1);

	open_fit(j, true);
	make_factor(j);
	/* The regression asks twice: for the mean of the diagonal, and for the nugget. */
	for (int k = 0; k < 2; k++)
		chunked_rows(j, NULL, 0, (gp_matrix) {0});
	chunked_gram(j, NULL, columns, (gp_matrix) {0}, (gp_matrix) {0});
	chunked_project_all(j, (gp_matrix) {0}, (gp_matrix) {.cols = columns}, NULL);
	j->some.table = NULL;
}

/* Prepares a fit, in such a way that Citus can go on in the transaction. */
static job *
open_job(gp_env *env, const gnngp_graph_def *graph, const gnngp_fit_settings *settings)
{
	job		   *j = palloc0(sizeof(job));

	j->env = env;
	j->settings = settings;
	j->guc_level = NewGUCNestLevel();
	gnngp_citus_prepare();
	j->sources = gnngp_sources_open(env, graph, settings->target_kind);
	gp_drop_spares(env);
	gnngp_trim_memory();
	j->dims = gnngp_count_features(j->sources);
	return j;
}

static void
close_job(job *j)
{
	gnngp_sources_close(j->sources);
	AtEOXact_GUC(false, j->guc_level);
}

gnngp_distributed_fit
gnngp_fit_distributed(gp_env *env, const gnngp_graph_def *graph, const gnngp_fit_settings *settings)
{
	job		   *j = open_job(env, graph, settings);
	gnngp_table_fit *d = &j->d;
	gnngp_data *data = j->sources->data;
	gnngp_distributed_fit out;
	gp_problem	problem = {
		.task = data->target_kind,.nlabelled = data->nlabelled,.labelled = data->labelled,
		.label = data->label,.target = data->target,.nclasses = data->nclasses,
		.nugget = j->settings->nugget,.seed = (uint64_t) j->settings->seed,.type = GP_FLOAT
	};
	gp_external_factor factor = {j,.gram = chunked_gram,.rows = chunked_rows,
								 .project_all = chunked_project_all};

	list_statements(j);
	int64		statements = d->placement.done;
	open_fit(j, false);
	d->placement.total = statements;
	make_factor(j);
	factor.rank = gp_factor_rank(j->factor.f);
	factor.first_jitter = d->ev.jitter;
	factor.jitter = d->ev.max_jitter;
	out.posterior = gp_fit_external(d->ev.dev, &problem, &factor, d->n);
	out.posterior->landmark = d->landmark;
	out.posterior->nlandmarks = d->nlandmarks;
	data->features = gp_alloc_zero(j->env, 1, sizeof(gp_features));
	data->features->rows = d->n;
	data->features->dims = d->dims;
	out.data = gp_alloc(j->env, sizeof(gnngp_data));
	*out.data = *data;
	out.device = d->ev.dev->name;
	gnngp_placement_close(&d->placement);
	d->ev.dev->close(d->ev.dev);
	close_job(j);
	return out;
}

gnngp_distributed_plan
gnngp_plan_distributed(gp_env *env, const gnngp_graph_def *graph,
					   const gnngp_fit_settings *settings)
{
	job		   *j = open_job(env, graph, settings);
	gnngp_table_fit *d = &j->d;
	gnngp_distributed_plan plan;

	j->edges = j->sources->edge_rows > 0 ? j->sources->edge_rows :
		gnngp_query_number(psprintf("SELECT pg_catalog.count(*) FROM %s", j->sources->r->edges.quoted));
	list_statements(j);
	double		rank = (double) gp_factor_rank(j->factor.f);
	plan = (gnngp_distributed_plan) {
		.bytes = d->task_bytes,
		.written = d->written,
		.shuffled = d->shuffled,
		/* What each table's making takes, and the last pass. */
		.flops = (double) d->n * rank * (d->written / ((double) d->n * sizeof(float)) + rank),
		.chunks = d->chunks,
		.statements = (int) d->placement.done
	};
	close_job(j);
	return plan;
}
