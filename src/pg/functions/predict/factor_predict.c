/*
 * factor_predict.c - gp_factor_predict(factor, nodes, classes): a posterior from a value.
 *
 * The same inference as gp_fit, on the rows of the factor.  Nothing is stored;
 * labels that are NULL are the ones to predict.
 */
#include "postgres.h"

#include "pg/functions/functions.h"
#include "pg/store/store.h"
#include "pg/types/types.h"

#define UPLOAD_ROWS 1024

/* A labelled node. */
typedef struct labelled
{
	int32		node;			/* first: it is sorted by */
	int32		class;
} labelled;

/* The labels, understood. */
typedef struct labels
{
	int64		n;
	int32	   *node;			/* ascending */
	int32	   *class;
	int32		nclasses;
	char	  **name;			/* by their bytes */
} labels;

typedef struct predict_job
{
	const gnngp_table_value *factor;
	gp_problem	problem;
	gp_posterior *posterior;
} predict_job;

/* Reads the labelled nodes of the two arrays, numbers their classes and sorts them by node. */
static labels
read_labels(gp_env *env, const gnngp_table_value *factor, ArrayType *nodes, ArrayType *classes)
{
	Datum	   *id;
	Datum	   *label;
	bool	   *no_id;
	bool	   *no_label;
	int			nids = gnngp_array_elements(nodes, &id, &no_id);
	int			nlabels = gnngp_array_elements(classes, &label, &no_label);
	labelled   *l = gp_alloc_array(env, Max(nids, 1), sizeof(labelled));
	labels		out = {.node = gp_alloc_array(env, Max(nids, 1), sizeof(int32)),
					   .class = gp_alloc_array(env, Max(nids, 1), sizeof(int32))};
	gnngp_labels names;

	if (nids != nlabels)
		gnngp_raise(ARRAY_SUBSCRIPT_ERROR, NULL, "there are %d nodes, but %d classes",
					nids, nlabels);
	gnngp_labels_init(&names, env, false, InvalidOid);
	for (int i = 0; i < nids; i++)
	{
		gnngp_poll(i);
		if (no_id[i])
			gnngp_raise(NULL_VALUE_NOT_ALLOWED, NULL, "an element of nodes is NULL");
		int64		node = gnngp_value_find(&factor->ids, DatumGetInt64(id[i]));
		if (node < 0)
			gnngp_raise(INVALID_PARAMETER_VALUE,
						"A factor has the nodes of its edges, or of its features.",
						"node " INT64_FORMAT " is not in the factor", DatumGetInt64(id[i]));
		if (no_label[i])
			continue;
		l[out.n].node = (int32) node;
		l[out.n].class = gnngp_labels_number(&names, label[i], TEXTOID);
		if (l[out.n++].class < 0)
			gnngp_raise(DATA_EXCEPTION, NULL, "there are more than %d classes", GNNGP_MAX_CLASSES);
	}
	out.nclasses = names.label.n;
	int32	   *final = gnngp_labels_finish(&names, &out.name);
	gnngp_sort(l, out.n, sizeof(labelled), gp_compare_int32, NULL);
	for (int64 i = 0; i < out.n; i++)
	{
		if (i > 0 && l[i].node == l[i - 1].node)
			gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "node " INT64_FORMAT " is labelled twice",
						gnngp_value_id(&factor->ids, l[i].node));
		out.node[i] = l[i].node;
		out.class[i] = final[l[i].class];
	}
	return out;
}

static void
compute_posterior(gnngp_computation *compute, void *arg)
{
	predict_job *job = arg;
	const gnngp_table_value *factor = job->factor;
	gp_device  *dev = compute->device;
	gp_matrix	q = dev->create(dev, factor->ids.n, factor->cols, GP_FLOAT);
	float	   *block = gp_alloc_array(dev->env, UPLOAD_ROWS * factor->cols, sizeof(float));

	for (int64 row = 0; row < q.rows; row += UPLOAD_ROWS)
	{
		int64		rows = Min(q.rows - row, UPLOAD_ROWS);

		CHECK_FOR_INTERRUPTS();
		for (int64 i = 0; i < rows; i++)
			gnngp_value_row(factor->value, row + i, factor->cols, block + i * factor->cols);
		dev->upload(dev, gp_matrix_rows(q, row, rows),
					gp_matrix_wrap(block, rows, factor->cols, GP_FLOAT));
	}
	gp_free(dev->env, block);
	job->posterior = gp_fit_factor(dev, &job->problem, q);
	dev->destroy(dev, &q);
}

/* gp_factor_predict(factor, nodes, classes, top, nugget); no rows without a factor. */
GNNGP_FUNCTION(gnngp_factor_predict)
{
	gnngp_result *result = gnngp_result_start(fcinfo);
	gnngp_table_value factor;
	predict_job job = {.factor = &factor};
	gnngp_class_order order;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	gnngp_require_argument(fcinfo, 1, "nodes");
	gnngp_require_argument(fcinfo, 2, "classes");
	int32		top = gnngp_count_argument(fcinfo, 3, "top", GNNGP_TOP_HINT);
	factor = gnngp_table_read(PG_GETARG_DATUM(0), "gp_factor");
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	labels		l = read_labels(env, &factor, PG_GETARG_ARRAYTYPE_P(1), PG_GETARG_ARRAYTYPE_P(2));
	/* There may be a query of thousands of these, so that they are quiet. */
	job.problem = (gp_problem) {.task = GP_TASK_CLASSES,.type = GP_FLOAT,.nlabelled = l.n,
								.labelled = l.node,.label = l.class,.nclasses = l.nclasses,
								.quiet = true,.nugget = gnngp_nugget_argument(fcinfo, 4)};
	gnngp_check_nugget(job.problem.nugget);
	gnngp_compute(env, gnngp_factor_threads(4.0 * factor.ids.n * factor.cols * factor.cols),
				  compute_posterior, &job);
	const gp_posterior *post = job.posterior;
	order = gnngp_class_order_open(post->calibrator, l.nclasses, post->prior_share);
	for (int64 i = 0; i < post->nodes; i++)
	{
		const double *mean = post->mean + i * l.nclasses;

		gnngp_poll(i);
		gnngp_order_classes(&order, mean, post->variance[i], post->is_prior && post->is_prior[i]);
		for (int32 k = 0; k < Min(top, l.nclasses); k++)
		{
			uint16		class = gnngp_class_at(&order, k);

			gnngp_emit(result, gnngp_out(Int64GetDatum(gnngp_value_id(&factor.ids, i))),
					   gnngp_out_text(l.name[class]),
					   gnngp_out_float((float) mean[class] + 0.0f),
					   gnngp_out_float(post->variance[i]),
					   gnngp_out_float(gnngp_class_probability(&order, class)));
		}
	}
	gnngp_env_destroy(env);
	return (Datum) 0;
}
