/*
 * matrix_solve.c - gp_solve: a share of a fit by conjugate gradients, by somebody who has the whole graph.
 *
 * The right sides of a Laplacian kernel's posterior come in bands of whole columns (core/infer/precision_share.c),
 * each of which is solved here from beginning to end, without a message.  Everything else follows from nodes and seed.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "core/fit/fit.h"
#include "pg/types/factor_make.h"
#include "funcapi.h"
#include "matrix_spread.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
#include "pg/types/types.h"
#include "whole_graph.h"

#define USUAL_FLOPS 3000.0		/* of an edge */

/* The arguments. */
enum
{
	ARG_NODES, ARG_GRAPH, ARG_KERNEL, ARG_CLASSES, ARG_NUGGET, ARG_MEAN, ARG_SEED, ARG_FIRST, ARG_LAST, ARG_BOUNDS
};

/* The nodes of a call. */
typedef struct solve_nodes
{
	gnngp_value_ids ids;
	int32	   *labelled;
	int32	   *label;			/* or NULL */
	double	   *target;			/* or NULL */
	int64		m;
} solve_nodes;

/* Checks one class, and notes it. */
static void
note_class(solve_nodes *s, double value, int32 classes)
{
	if (!(value >= 0.0 && value < classes) || value != floor(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%g is no class", value),
				 errhint("Classes are numbered from 0.")));
	s->label[s->m] = (int32) value;
}

/* Adds the nodes of one matrix. */
static void
add_nodes(solve_nodes *s, const gnngp_table_value *table, int64 first, int32 classes)
{
	size_t		size = table->wide ? sizeof(double) : sizeof(float);

	for (int64 i = 0; i < table->ids.n; i++)
	{
		const unsigned char *row = table->value + i * GNNGP_NODE_COLUMNS * size;
		double		value = table->wide ? gnngp_get_float8(row + size) : gnngp_get_float4(row + size);
		int64		id = gnngp_value_id(&table->ids, i);

		gnngp_poll(i);
		if (first + i > 0 && id <= s->ids.id[first + i - 1])
			gnngp_matrix_refuse("The ids of nodes do not ascend.");
		s->ids.id[first + i] = id;
		if ((table->wide ? gnngp_get_float8(row) : gnngp_get_float4(row)) == 0.0)
			continue;
		s->labelled[s->m] = (int32) (first + i);
		if (s->label)
			note_class(s, value, classes);
		else
			s->target[s->m] = value;
		s->m++;
	}
}

/* Reads the nodes, which lie in several matrices, one behind the other. */
static solve_nodes
read_nodes(gp_env *env, ArrayType *array, int32 classes)
{
	solve_nodes s = {0};
	Datum	   *value;
	bool	   *null;
	int			n;
	int64		first = 0;
	gnngp_table_value *table;

	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_INT, &value, &null, &n);
	table = palloc0(Max(n, 1) * sizeof(gnngp_table_value));
	for (int k = 0; k < n; k++)
	{
		if (null[k])
			gnngp_matrix_refuse("A matrix of nodes is NULL.");
		table[k] = gnngp_matrix_read(value[k]);
		if (table[k].cols != GNNGP_NODE_COLUMNS)
			gnngp_matrix_refuse("Nodes have two columns: labelled or not, and class or value.");
		s.ids.n += table[k].ids.n;
	}
	if (s.ids.n < 1 || s.ids.n >= PG_INT32_MAX)
		gnngp_matrix_refuse("There are no nodes, or too many.");
	s.ids.id = gp_alloc_array(env, s.ids.n, sizeof(int64));
	s.labelled = gp_alloc_array(env, s.ids.n, sizeof(int32));
	if (classes > 0)
		s.label = gp_alloc_array(env, s.ids.n, sizeof(int32));
	else
		s.target = gp_alloc_array(env, s.ids.n, sizeof(double));
	for (int k = 0; k < n; k++)
	{
		add_nodes(&s, &table[k], first, classes);
		first += table[k].ids.n;
	}
	s.ids.first = s.ids.id[0];
	s.ids = gnngp_value_ids_part(&s.ids, 0, s.ids.n);
	return s;
}

/* The problem of a call, but for its graph. */
static gp_problem
make_problem(FunctionCallInfo fcinfo, gp_env *env, const solve_nodes *nodes, int32 classes)
{
	const char *kernel = PG_ARGISNULL(ARG_KERNEL) ? GP_OPEN_PRIOR : text_to_cstring(PG_GETARG_TEXT_PP(ARG_KERNEL));
	gp_problem	problem = {
		.program = gnngp_compile_kernel(env, kernel),
		.task = classes > 0 ? GP_TASK_CLASSES : GP_TASK_VALUES,
		.nlabelled = nodes->m,
		.labelled = nodes->labelled,
		.label = nodes->label,
		.target = nodes->target,
		.nclasses = classes,
		.open_prior = PG_ARGISNULL(ARG_KERNEL),
		.nugget = PG_ARGISNULL(ARG_NUGGET) ? NAN : PG_GETARG_FLOAT8(ARG_NUGGET),
		.seed = (uint64) PG_GETARG_INT64(ARG_SEED),
		.type = GP_FLOAT
	};

	if (!gp_program_is_laplacian(problem.program))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gp_solve serves laplacian kernels without dims only"),
				 errhint("Use a kernel such as 'laplacian(sigma2=10, d=2)'.")));
	if (!PG_ARGISNULL(ARG_NUGGET) && !(problem.nugget > 0.0 && isfinite(problem.nugget)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("nugget must be positive and finite"),
				 errhint("Leave nugget NULL to have it chosen by leave-one-out.")));
	if (problem.nlabelled < 1)
		gnngp_matrix_refuse("No node is labelled.");
	return problem;
}

/* What was settled before; without a mean of the diagonal nothing was. */
static gp_precision_prior
settled_prior(FunctionCallInfo fcinfo, const gp_problem *problem)
{
	gp_precision_prior prior = {.mean_diag = NAN,.nugget = problem->nugget};

	if (PG_ARGISNULL(ARG_MEAN))
		return prior;
	prior.sigma2 = problem->program->input.p[GP_LAPLACIAN_SIGMA2];
	prior.d = (int) problem->program->input.p[GP_LAPLACIAN_D];
	prior.mean_diag = PG_GETARG_FLOAT8(ARG_MEAN);
	if (!(prior.mean_diag > 0.0 && prior.mean_diag <= 1.0) || problem->open_prior || isnan(prior.nugget))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("mean_diagonal is a number up to 1, with a kernel and a nugget"),
				 errhint("Leave it NULL to have it measured.")));
	return prior;
}

/* Puts one row into the result. */
static void
put_row(ReturnSetInfo *result, const char *what, int part, Datum rows)
{
	Datum		values[3] = {CStringGetTextDatum(what), Int32GetDatum(part), rows};
	bool		nulls[3] = {false, false, false};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	pfree(DatumGetPointer(values[0]));
	pfree(DatumGetPointer(rows));
}

/* Columns of doubles that stand side by side in the result. */
typedef struct solve_columns
{
	int			n;
	int64		width;
	const double *value[3];
	int64		cols[3];
} solve_columns;

/* Adds columns where there are any. */
static void
add_columns(solve_columns *c, const double *value, int64 cols)
{
	if (value == NULL)
		return;
	c->value[c->n] = value;
	c->cols[c->n++] = cols;
	c->width += cols;
}

/* Puts columns into the result, in parts of rows. */
static void
put_parts(ReturnSetInfo *result, gp_env *env, const char *what, const gnngp_value_ids *ids, const solve_columns *c, ArrayType *bounds)
{
	const int64 *bound = gnngp_array_data(bounds);
	int			n = ArrayGetNItems(ARR_NDIM(bounds), ARR_DIMS(bounds));
	int64		first = 0;

	for (int k = 0; k <= n && c->width > 0; k++)
	{
		int64		rows = gnngp_rows_of_part(ids, first, bound, n, k);
		gnngp_value_ids part;
		double	   *all;

		CHECK_FOR_INTERRUPTS();
		if (rows == 0)
			continue;
		gnngp_value_check_size((double) rows * c->width * sizeof(double), "matrix");
		all = gp_alloc_array(env, rows * c->width, sizeof(double));
		for (int64 i = 0; i < rows; i++)
		{
			double	   *to = all + i * c->width;

			for (int j = 0; j < c->n; to += c->cols[j], j++)
				memcpy(to, c->value[j] + (first + i) * c->cols[j], c->cols[j] * sizeof(double));
		}
		part = gnngp_value_ids_part(ids, first, rows);
		put_row(result, what, k, gnngp_matrix_write(&part, gp_matrix_wrap(all, rows, c->width, GP_DOUBLE)));
		gp_free(env, all);
		first += rows;
	}
}

/* Puts what was settled into the result, and the sample's variances. */
static void
put_prior(ReturnSetInfo *result, const gp_precision_part *p)
{
	gnngp_value_ids one = {.n = 1};
	double		figure[GP_PRECISION_FIGURES];

	gp_precision_put_figures(p, figure);
	put_row(result, "prior", 0, gnngp_matrix_write(&one, gp_matrix_wrap(figure, 1, lengthof(figure), GP_DOUBLE)));
}

/* Puts a share into the result. */
static void
put_share(ReturnSetInfo *result, gp_env *env, const solve_nodes *nodes, const gp_precision_part *p, ArrayType *bounds)
{
	solve_columns labels = {0};
	solve_columns all = {0};
	gnngp_value_ids ids = {.n = nodes->m};

	put_prior(result, p);
	add_columns(&all, p->mean, p->columns);
	add_columns(&all, p->level, 1);
	add_columns(&all, p->variance, 1);
	put_parts(result, env, "nodes", &nodes->ids, &all, bounds);
	add_columns(&labels, p->label, GP_PRECISION_LABEL);
	add_columns(&labels, p->at, p->columns);
	ids.id = gp_alloc_array(env, ids.n, sizeof(int64));
	for (int64 k = 0; k < ids.n; k++)
		ids.id[k] = gnngp_value_id(&nodes->ids, nodes->labelled[k]);
	ids.first = ids.id[0];
	put_parts(result, env, "labels", &ids, &labels, bounds);
}

/* The bands that are asked for. */
static void
check_bands(FunctionCallInfo fcinfo, const gp_problem *problem)
{
	gp_precision_bands bands = gp_precision_count_bands(problem);
	int64		all = bands.labels + bands.level + bands.variances;
	int32		first = PG_GETARG_INT32(ARG_FIRST);
	int32		last = PG_GETARG_INT32(ARG_LAST);

	if (first < 0 || last < first || last > all)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bands %d to %d are out of range", first, last),
				 errdetail_plural("There is " INT64_FORMAT " band.", "There are " INT64_FORMAT " bands.", all, all)));
}

PG_FUNCTION_INFO_V1(gnngp_matrix_solve);

/* gp_solve(nodes, graph, kernel, classes, nugget, mean_diagonal, seed, first, last, bounds) */
Datum
gnngp_matrix_solve(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	gp_env	   *env;
	gp_device  *dev;
	solve_nodes nodes;
	gp_problem	problem;
	gp_precision_prior prior;
	gp_precision_part part;
	int32		classes;

	InitMaterializedSRF(fcinfo, 0);
	for (int k = 0; k <= ARG_BOUNDS; k++)
		if (PG_ARGISNULL(k) && k != ARG_KERNEL && k != ARG_NUGGET && k != ARG_MEAN)
			return (Datum) 0;
	gnngp_check_bounds(PG_GETARG_ARRAYTYPE_P(ARG_BOUNDS));
	classes = PG_GETARG_INT32(ARG_CLASSES);
	if (classes < 0)
		gnngp_matrix_refuse("The number of classes is negative.");
	env = gnngp_env_create(CurrentMemoryContext);
	gnngp_env_collect_notices(env);
	nodes = read_nodes(env, PG_GETARG_ARRAYTYPE_P(ARG_NODES), classes);
	problem = make_problem(fcinfo, env, &nodes, classes);
	prior = settled_prior(fcinfo, &problem);
	problem.graph = gnngp_whole_graph(PG_GETARG_ARRAYTYPE_P(ARG_GRAPH), &nodes.ids);
	check_bands(fcinfo, &problem);
	dev = gnngp_device_open(env, gnngp_factor_threads(USUAL_FLOPS * problem.graph->edges));
	part = gp_precision_solve_share(dev, &problem, &prior, PG_GETARG_INT32(ARG_FIRST), PG_GETARG_INT32(ARG_LAST));
	dev->close(dev);
	/* Whoever asks for the posterior has that to say, too. */
	part.prior.edge = gnngp_env_has_notices(env) && isnan(problem.nugget);
	put_share(result, env, &nodes, &part, PG_GETARG_ARRAYTYPE_P(ARG_BOUNDS));
	gnngp_env_destroy(env);
	gnngp_whole_graph_keep();
	return (Datum) 0;
}
