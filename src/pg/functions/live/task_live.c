/*
 * task_live.c - live answers of the model of a task: columns as of a time, then the fit's weights.
 */
#include "postgres.h"

#include "live_common.h"

/* The labels of the fit, as facts, by numbers of their entities in the order of ids. */
static gp_facts_labels
fit_labels(const gnngp_live_call *c)
{
	const gnngp_live *live = c->live;
	const gnngp_task_state *task = live->task;
	const gp_piece *piece = gp_state_find(live->state, GP_PIECE_TARGETS, 0, 0);
	int64		n = live->ids.n;
	int32	   *entity = gp_alloc_array(c->env, Max(n, 1), sizeof(int32));
	double	   *target = piece->ints ? NULL : gp_alloc_array(c->env, Max(n, 1), sizeof(double));
	const double *stored = piece->dense;

	for (int64 i = 0; i < n; i++)
	{
		gnngp_id	id = gnngp_ids_at(&live->ids, i);
		gnngp_id	former = i > 0 ? gnngp_ids_at(&live->ids, i - 1) : id;

		gnngp_poll(i);
		entity[i] = i == 0 ? 0 : entity[i - 1] + (gnngp_id_compare(&former, &id, NULL) != 0);
		if (i > 0 && entity[i] == entity[i - 1] && task->as_of[i] < task->as_of[i - 1])
			gnngp_store_corrupted(c->model, "its labels are not in the order of their times");
		if (target)
			target[i] = c->scalars.offset + c->scalars.unit * stored[i * piece->cols];
	}
	return (gp_facts_labels) {.n = n,.entity = entity,.as_of = task->as_of,
		.label = piece->ints ? piece->dense : NULL,.target = target,
		.nclasses = c->model->classes,.horizon = task->transform.horizon,
		.by_time = task->by_time};
}

gp_time
gnngp_as_of_argument(const gnngp_live_call *c, int argno, gp_time usual)
{
	FunctionCallInfo fcinfo = c->fcinfo;

	if (PG_ARGISNULL(argno))
		return usual;
	if (c->model->rows == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE, "as_of applies to models of tasks only; gp_create_task makes a task.",
					"model \"%s\" is of a graph, which has no times", c->model->name);
	if (TIMESTAMP_NOT_FINITE(PG_GETARG_TIMESTAMPTZ(argno)))
		gnngp_raise(DATETIME_VALUE_OUT_OF_RANGE,
					"Leave as_of NULL to ask as of now, or just after the newest fact.",
					"as_of must be finite");
	return (gp_time) PG_GETARG_TIMESTAMPTZ(argno);
}

void
gnngp_task_ask_rows(gnngp_live_call *c, gp_live_question *q, gp_features *rows)
{
	int64		n = rows->rows;
	int32	   *nowhere = gp_alloc_array(c->env, Max(n, 1), sizeof(int32));

	memset(nowhere, -1, sizeof(int32) * n);
	q->features = gp_features_as(c->env, rows, gp_live_type(&c->scalars));
	q->graph = gp_graph_build(gp_edges_create(c->env, n, false, false));
	q->fit_node = nowhere;
	q->inner = q->asked = n;
}

/* Reads what tells the call's nodes, of a task without time. */
static void
read_terms(gnngp_live_call *c, gnngp_live_rows *rows, bool keeps_terms)
{
	int32	   *row = gp_alloc_array(c->env, Max(c->nodes.n, 1), sizeof(int32));
	gp_metapath *metapath;
	const gp_features *own = gnngp_live_rows_read_metapaths(rows, &metapath);

	for (int64 i = 0; i < c->nodes.n; i++)
	{
		row[i] = gnngp_live_rows_place(rows, &c->nodes.id[i]);
		if (row[i] < 0)
			gnngp_raise(UNDEFINED_OBJECT,
						"A view whose rows change between two reads cannot be used here.",
						"node %s is missing from one of two reads of its table",
						gnngp_id_name(&c->nodes.id[i]));
	}
	c->terms = gp_metapath_cross(c->env, metapath, own, c->live->state, row, c->nodes.n,
								 keeps_terms);
}

gp_features *
gnngp_task_sums(gnngp_live_call *c, double *sum, int64 rows)
{
	return gp_metapath_rows(gnngp_live_call_device(c), c->live->state, sum, rows,
							c->terms->landmarks);
}

gp_live_question
gnngp_task_question(gnngp_live_call *c, gp_time as_of, bool keeps_terms)
{
	gp_live_question q = {.state = c->live->state,
						  .program = gnngp_compile_kernel(c->env, c->model->kernel)};
	gnngp_live_rows *rows = gnngp_live_rows_open(c->env, c->graph, c->live->task, c->nodes.id,
												 &c->nodes.n, as_of);

	if (c->live->task->transform.metapaths)
	{
		read_terms(c, rows, keeps_terms);
		gnngp_task_ask_rows(c, &q, gnngp_task_sums(c, c->terms->sum, c->terms->rows));
		return q;
	}
	gp_facts_labels labels = fit_labels(c);
	gnngp_task_ask_rows(c, &q, gnngp_live_rows_read(rows, &labels, &c->live->ids));
	return q;
}
