/*
 * predict_rows.c - gp_answers: what the regression says of some rows, as predictions are stored.
 *
 * Whoever has the rows makes their posterior (gp_row_finish), so that no row of a fit in parts passes through the server that
 * has asked for it.  What one row needs is what the fit found for all: a scale, and for classes a calibrator and shares.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parts_internal.h"
#include "pg/server/server.h"
#include "pg/store/store.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#define MOST_CLASSES 65535

/* The arguments. */
enum
{
	ARG_ROWS, ARG_LABELLED, ARG_LAYOUT, ARG_FIGURES, ARG_CLASSES
};

/* The rows of a call on their way to predictions. */
typedef struct answering
{
	gp_env	   *env;
	gnngp_model model;			/* nothing but classes and integer ids */
	gnngp_data	data;
	gp_posterior posterior;
	bool	   *has_kernel;
	double	   *share;
	bool		own_variance;	/* labelled rows bring one along */
	ReturnSetInfo *result;
	MemoryContext context;
	Datum	   *label;
} answering;

/* The elements of an array of fixed size, without NULLs. */
static const void *
elements(FunctionCallInfo fcinfo, int argno, int *n)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argno);

	if (array_contains_nulls(array))
		gnngp_matrix_refuse("An array has a NULL.");
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	return gnngp_array_data(array);
}

/* The elements of an array of others; what is told of a NULL. */
static Datum *
datums(FunctionCallInfo fcinfo, int argno, const char *what, int *n)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argno);
	Datum	   *value;

	if (array_contains_nulls(array))
		gnngp_matrix_refuse(what);
	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_INT, &value, NULL, n);
	return value;
}

/* The names of the classes; none for values. */
static void
take_classes(answering *a, FunctionCallInfo fcinfo)
{
	int			n;

	a->label = datums(fcinfo, ARG_CLASSES, "A class is NULL.", &n);
	if (n > MOST_CLASSES)
		gnngp_matrix_refuse("There are too many classes.");
	a->model.class_labels.n = a->data.nclasses = n;
	a->data.task = n > 0 ? GP_TASK_CLASSES : GP_TASK_VALUES;
	a->posterior.columns = Max(n, 1);
}

/* Scale, calibrator and shares. */
static void
take_figures(answering *a, FunctionCallInfo fcinfo)
{
	int			n;
	int			classes = a->data.nclasses;
	const double *figure = elements(fcinfo, ARG_FIGURES, &n);

	if (n != GNNGP_FIGURES + (classes > 0 ? 2 * classes + 2 : 0))
		gnngp_matrix_refuse("The figures are not as many as the classes need.");
	for (int i = 0; i < n; i++)
		if (!isfinite(figure[i]))
			gnngp_matrix_refuse("A figure is not finite.");
	a->own_variance = figure[0] > 0.0;
	a->posterior.row = (gp_row_scale) {.values = classes == 0,.leverage = figure[1],.scale = figure[2],.noise = figure[3],
		.prior = figure[4],.unit = figure[5],.offset = figure[6]
	};
	if (classes == 0)
		return;
	figure += GNNGP_FIGURES;
	a->posterior.calibrator = (gp_calibrator) {figure[0], figure[1], unconstify(double *, figure + 2)};
	a->share = unconstify(double *, figure + 2 + classes);
}

/* Makes room for the rows of some ids. */
static void
open_rows(answering *a, const gnngp_value_ids *ids)
{
	gp_posterior *p = &a->posterior;
	int64		n = ids->n;

	if (n < 1 || n >= PG_INT32_MAX)
		gnngp_matrix_refuse("There are no rows, or too many.");
	p->nodes = n;
	p->mean = gp_alloc_zero(a->env, (int64_t) gp_size_mul(a->env, n, p->columns), sizeof(double));
	p->variance = gp_alloc_zero(a->env, n, sizeof(double));
	p->is_prior = gp_alloc_zero(a->env, n, sizeof(bool));
	a->has_kernel = gp_alloc_array(a->env, n, sizeof(bool));
	memset(a->has_kernel, true, n);
	a->data.ids = (gnngp_ids) {.n = n,.integer = true,.key = gp_alloc_array(a->env, n, sizeof(int64)),.type_name = "bigint"};
	for (int64 i = 0; i < n; i++)
		a->data.ids.key[i] = gnngp_value_id(ids, i);
}

/* Adds what one matrix has of the rows: means of some classes, what all have in common, variances, and whether there is a kernel. */
static void
add_matrix(answering *a, const gnngp_table_value *m, const gnngp_answer_layout *l, int32 *covered)
{
	gp_posterior *p = &a->posterior;

	if (l->first < 0 || l->columns < 0 || l->columns > p->columns - l->first || !m->wide ||
		m->cols != (int64) l->columns + (l->level != 0) + (l->variance != 0) + (l->present != 0))
		gnngp_matrix_refuse("A matrix is not as its layout says.");
	if (l->first != *covered && l->columns > 0)
		gnngp_matrix_refuse("Means are missing, or come twice.");
	*covered += l->columns;
	for (int64 i = 0; i < m->ids.n; i++)
	{
		const unsigned char *value = m->value + i * m->cols * sizeof(double);

		gnngp_poll(i);
		if (gnngp_value_id(&m->ids, i) != a->data.ids.key[i])
			gnngp_matrix_refuse("Matrices have rows of other nodes.");
		for (int32 c = 0; c < l->columns; c++, value += sizeof(double))
			p->mean[i * p->columns + l->first + c] += gnngp_get_float8(value);
		if (l->level)
		{
			for (int32 c = 0; c < p->columns; c++)
				p->mean[i * p->columns + c] += gnngp_get_float8(value);
			value += sizeof(double);
		}
		if (l->variance)
		{
			p->variance[i] += gnngp_get_float8(value);
			value += sizeof(double);
		}
		if (l->present)
			a->has_kernel[i] = gnngp_get_float8(value) > 0.0;
	}
}

/* Puts all matrices together. */
static void
take_rows(answering *a, FunctionCallInfo fcinfo)
{
	int			n,
				parts;
	int32		covered = 0;
	Datum	   *matrix = datums(fcinfo, ARG_ROWS, "A matrix is missing.", &n);
	const int32 *layout = elements(fcinfo, ARG_LAYOUT, &parts);

	if (n < 1 || parts != n * GNNGP_LAYOUT)
		gnngp_matrix_refuse("Each matrix has a layout.");
	for (int k = 0; k < n; k++, layout += GNNGP_LAYOUT)
	{
		gnngp_table_value m = gnngp_matrix_read(matrix[k]);
		gnngp_answer_layout l = {layout[0], layout[1], layout[2], layout[3], layout[4]};

		if (k == 0)
			open_rows(a, &m.ids);
		if (m.ids.n != a->data.ids.n)
			gnngp_matrix_refuse("Matrices have rows of other nodes.");
		add_matrix(a, &m, &l, &covered);
	}
	if (covered != a->posterior.columns)
		gnngp_matrix_refuse("Means are missing, or come twice.");
}

/* Notes which rows are labelled. */
static void
take_labelled(answering *a, FunctionCallInfo fcinfo)
{
	gnngp_value_ids all = {a->data.ids.n, a->data.ids.key[0], a->data.ids.key};
	gnngp_table_value m;

	if (PG_ARGISNULL(ARG_LABELLED))
		return;
	m = gnngp_matrix_read(PG_GETARG_DATUM(ARG_LABELLED));
	if (a->own_variance && (m.cols != 1 || !m.wide))
		gnngp_matrix_refuse("The variances of labels are one column of double precision.");
	a->data.nlabelled = m.ids.n;
	a->data.labelled = gp_alloc_array(a->env, m.ids.n, sizeof(int32));
	for (int64 k = 0; k < m.ids.n; k++)
	{
		int64		at = gnngp_value_find(&all, gnngp_value_id(&m.ids, k));

		if (at < 0)
			gnngp_matrix_refuse("A labelled node has no row.");
		a->data.labelled[k] = (int32) at;
		if (a->own_variance)
			a->posterior.variance[at] = gnngp_get_float8(m.value + k * sizeof(double));
	}
}

/* Makes posteriors of what the regression says. */
static void
finish_rows(answering *a)
{
	gp_posterior *p = &a->posterior;

	for (int64 i = 0; i < p->nodes; i++)
	{
		gnngp_poll(i);
		p->is_prior[i] = !gp_row_finish(&p->row, p->columns, a->has_kernel[i], p->mean + i * p->columns, p->variance + i);
	}
}

/* Puts the rows of a block into the result. */
static bool
put_block(void *state, const gnngp_block *block)
{
	answering  *a = state;
	bool		classes = block->nclasses > 0;
	bool		nulls[6] = {false, !classes, false, false, !classes, false};

	for (int32 i = 0; i < block->nrows; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(a->context);
		bytea	   *packed = palloc(VARHDRSZ + block->stride);
		gnngp_node_row row;
		Datum		values[6];

		gnngp_poll(i);
		gnngp_block_row(block, i, &row);
		SET_VARSIZE(packed, VARHDRSZ + block->stride);
		memcpy(VARDATA(packed), block->rows + i * block->stride, block->stride);
		values[0] = Int64GetDatum(row.id.key);
		values[1] = classes ? a->label[gnngp_row_class(&row, 0)] : (Datum) 0;
		values[2] = Float8GetDatum(classes ? (double) gnngp_row_score(&row, 0) : row.value);
		values[3] = Float8GetDatum(row.variance);
		values[4] = classes ? Float8GetDatum(gnngp_row_probability(block, &row, 0)) : (Datum) 0;
		values[5] = PointerGetDatum(packed);
		tuplestore_putvalues(a->result->setResult, a->result->setDesc, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(a->context);
	}
	return true;
}

PG_FUNCTION_INFO_V1(gnngp_matrix_answers);

/* gp_answers(rows, labelled, layout, figures, classes) */
Datum
gnngp_matrix_answers(PG_FUNCTION_ARGS)
{
	answering	a = {.model = {.name = "",.integer_ids = true},.result = (ReturnSetInfo *) fcinfo->resultinfo};

	InitMaterializedSRF(fcinfo, 0);
	for (int k = 0; k <= ARG_CLASSES; k++)
		if (PG_ARGISNULL(k) && k != ARG_LABELLED)
			return (Datum) 0;
	a.env = gnngp_env_create(CurrentMemoryContext);
	a.context = AllocSetContextCreate(CurrentMemoryContext, "gnngp answers", ALLOCSET_DEFAULT_SIZES);
	take_classes(&a, fcinfo);
	take_figures(&a, fcinfo);
	take_rows(&a, fcinfo);
	take_labelled(&a, fcinfo);
	finish_rows(&a);
	gnngp_store_pack(&a.model, &a.data, &a.posterior, a.share, put_block, &a);
	MemoryContextDelete(a.context);
	gnngp_env_destroy(a.env);
	return (Datum) 0;
}
