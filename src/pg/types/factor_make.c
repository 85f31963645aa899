/*
 * factor_make.c - gp_factor(graph, features, kernel, landmarks, seed), and what values tell.
 *
 * The same core as gp_fit's low-rank strategy: landmarks are the nodes of highest
 * degree.  Each factor has an environment of its own, which costs microseconds
 * as long as no threads are started; small graphs therefore have one thread.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "core/fit/factor.h"
#include "types.h"

#define FLOPS_OF_THREADS 1e9	/* from which threads are worth their start: tens of milliseconds */

/* A factor on its way. */
typedef struct making
{
	gp_problem	problem;
	float	   *q;				/* on the host */
	int64_t		rank;
} making;

int
gnngp_factor_threads(double flops)
{
	return flops < FLOPS_OF_THREADS || IsParallelWorker() ? 1 : 0;
}

static gp_graph *
build_graph(gp_env *env, const gnngp_factor_task *task, int64 nodes)
{
	const gnngp_graph_value *g = task->graph;
	gp_edges   *edges = gp_edges_create(env, nodes, false, g->weight != NULL);
	int64		missing;

	if (task->features == NULL)
	{
		gp_edges_add(edges, g->edges, g->src, g->dst, g->weight);
		return gp_graph_build(edges);
	}
	int32	   *node = gnngp_graph_places(g, &task->features->ids, &missing);
	if (node == NULL)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"Pass features of every node, or NULL to use the structure of the graph only.",
					"node " INT64_FORMAT " of the graph has no features", missing);
	gnngp_graph_add_edges(edges, g, node);
	pfree(node);
	return gp_graph_build(edges);
}

static void
compute_factor(gnngp_computation *compute, void *arg)
{
	making	   *job = arg;
	gp_device  *dev = compute->device;
	gp_matrix	q = gp_kernel_factor(dev, &job->problem, 0);

	gnngp_value_check_size((double) q.rows * q.cols * sizeof(float), "factor");
	job->rank = q.cols;
	job->q = gp_alloc_array(compute->env, q.rows * q.cols, sizeof(float));
	dev->download(dev, gp_matrix_wrap(job->q, q.rows, q.cols, GP_FLOAT), q);
	dev->destroy(dev, &q);
}

Datum
gnngp_factor_make(const gnngp_factor_task *task)
{
	const gnngp_value_ids *ids = task->features ? &task->features->ids : &task->graph->ids;
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	making		job = {0};
	Datum		value;
	int			threads;

	job.problem.task = GP_TASK_VALUES;
	job.problem.type = GP_FLOAT;
	job.problem.seed = (uint64) task->seed;
	/* How many landmarks: what is asked for, refused early where the value would be too large */
	int64		most = (GNNGP_VALUE_LIMIT - GNNGP_VALUE_LIMIT / 16) / (ids->n * sizeof(float));
	int64		count = Min(task->landmarks > 0 ? task->landmarks : GP_LANDMARKS_MOST, ids->n);

	if (task->landmarks == 0 && count > most && most >= GP_LANDMARKS_MOST / 16)
		count = most;
	gnngp_value_check_size((double) ids->n * count * sizeof(float), "factor");
	job.problem.nlandmarks = count;
	job.problem.program = gnngp_compile_kernel(env, task->kernel);
	job.problem.graph = build_graph(env, task, ids->n);
	if (task->features)
	{
		const gnngp_table_value *x = task->features;
		gp_features_builder *builder = gp_features_create(env, x->ids.n, x->cols, GP_FLOAT);
		float	   *row = palloc(x->cols * sizeof(float));
		int32		unused;

		for (int64 i = 0; i < x->ids.n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			gnngp_value_row(x->value, i, x->cols, row);
			gp_features_add_row_float(builder, (int32) i, row);
		}
		pfree(row);
		job.problem.features = gp_features_build(builder, &unused, &unused);
	}
	threads = gnngp_factor_threads(4.0 * ids->n * job.problem.nlandmarks * job.problem.nlandmarks);
	gnngp_compute(env, threads, compute_factor, &job);
	/* 22003 for a number that is none */
	for (int64 i = 0; i < ids->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int64 j = 0; j < job.rank; j++)
			if (!isfinite(job.q[i * job.rank + j]))
				gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE,
							"Scale the features down, or take fewer layers.",
							"the kernel overflows at node " INT64_FORMAT, gnngp_value_id(ids, i));
	}
	value = gnngp_table_write(ids, gp_matrix_wrap(job.q, ids->n, job.rank, GP_FLOAT), "factor");
	gnngp_env_destroy(env);
	return value;
}

/* gp_factor(graph, features, kernel, landmarks, seed); NULL without a graph. */
GNNGP_FUNCTION(gnngp_factor)
{
	gnngp_factor_task task = {0};
	gnngp_graph_value graph;
	gnngp_table_value features;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	gnngp_require_argument(fcinfo, 2, "kernel");
	gnngp_require_argument(fcinfo, 4, "seed");
	gnngp_graph_read(PG_GETARG_DATUM(0), "gp_graph", &graph);
	task.graph = &graph;
	if (!PG_ARGISNULL(1))
	{
		features = gnngp_table_read(PG_GETARG_DATUM(1), "gp_features");
		task.features = &features;
	}
	task.kernel = text_to_cstring(PG_GETARG_TEXT_PP(2));
	task.landmarks = gnngp_landmarks_argument(fcinfo, 3);
	task.seed = PG_GETARG_INT64(4);
	PG_RETURN_DATUM(gnngp_factor_make(&task));
}

/* ---- what graphs, features and factors tell: counts, rows, entries of the kernel ---- */

/* A number that a value says about itself. */
#define NUMBER(name, number) \
GNNGP_FUNCTION(gnngp_##name) \
{ \
	PG_RETURN_INT64(number); \
}

NUMBER(graph_nodes, gnngp_graph_head(PG_GETARG_DATUM(0), "gp_graph", NULL).ids.n)
NUMBER(graph_edges, gnngp_graph_head(PG_GETARG_DATUM(0), "gp_graph", NULL).edges)
NUMBER(features_nodes, gnngp_table_read(PG_GETARG_DATUM(0), "gp_features").ids.n)
NUMBER(factor_nodes, gnngp_table_read(PG_GETARG_DATUM(0), "gp_factor").ids.n)
NUMBER(factor_rank, gnngp_table_read(PG_GETARG_DATUM(0), "gp_factor").cols)

/* The row of a node; 22023 where there is none. */
static int64
find_node(const gnngp_table_value *factor, int64 id)
{
	int64		node = gnngp_value_find(&factor->ids, id);

	if (node < 0)
		gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "node " INT64_FORMAT " is not in the factor",
					id);
	return node;
}

/* gp_kernel_value(gp_factor, a, b): <q_a, q_b>, added in double. */
GNNGP_FUNCTION(gnngp_kernel_value)
{
	gnngp_table_value factor = gnngp_table_read(PG_GETARG_DATUM(0), "gp_factor");
	const unsigned char *a;
	const unsigned char *b;
	double		sum = 0.0;

	a = factor.value + find_node(&factor, PG_GETARG_INT64(1)) * factor.cols * sizeof(float);
	b = factor.value + find_node(&factor, PG_GETARG_INT64(2)) * factor.cols * sizeof(float);
	for (int64 j = 0; j < factor.cols; j++)
		sum += (double) gnngp_get_float4(a + j * sizeof(float)) *
			(double) gnngp_get_float4(b + j * sizeof(float));
	PG_RETURN_FLOAT8(sum);
}

/* gp_factor_rows(gp_factor) */
GNNGP_FUNCTION(gnngp_factor_rows)
{
	gnngp_result *result = gnngp_result_start(fcinfo);
	gnngp_table_value factor = gnngp_table_read(PG_GETARG_DATUM(0), "gp_factor");
	Size		bytes = ARR_OVERHEAD_NONULLS(1) + factor.cols * sizeof(float);
	ArrayType  *array = palloc0(bytes);

	SET_VARSIZE(array, bytes);
	array->ndim = 1;
	array->elemtype = FLOAT4OID;
	ARR_DIMS(array)[0] = (int) factor.cols;
	ARR_LBOUND(array)[0] = 1;
	for (int64 i = 0; i < factor.ids.n; i++)
	{
		gnngp_value_row(factor.value, i, factor.cols, (float *) gnngp_array_data(array));
		gnngp_emit(result, gnngp_out(Int64GetDatum(gnngp_value_id(&factor.ids, i))),
				   gnngp_out(PointerGetDatum(array)));
	}
	return (Datum) 0;
}
