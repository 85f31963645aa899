/*
 * matrix_spread.c - gp_spread: a linear operator of the kernel language on whole columns.
 *
 * A task holds all rows of some columns and the whole graph, so that any power of A, and
 * P(a), is a few products there and no message.
 */
#include "postgres.h"

#include "core/fit/landmarks.h"
#include "pg/types/factor_make.h"
#include "funcapi.h"
#include "pg/types/types.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
#include "whole_graph.h"

int64
gnngp_rows_of_chunk(const gnngp_value_ids *ids, int64 first, const int64 *bound, int n, int k)
{
	int64		last = first;

	if (k == n)
		return ids->n - first;
	while (last < ids->n && gnngp_value_id(ids, last) < bound[k])
		last++;
	return last - first;
}

static void
put_parts(ReturnSetInfo *result, const gnngp_value_ids *ids, gp_matrix m, const int64 *bound, int n)
{
	Datum		values[2];
	bool		nulls[2] = {false, false};
	int64		first = 0;

	for (int k = 0; k <= n; k++)
	{
		int64		rows = gnngp_rows_of_chunk(ids, first, bound, n, k);
		gnngp_value_ids part;

		if (rows == 0)
			continue;
		part = gnngp_value_ids_part(ids, first, rows);
		values[0] = Int32GetDatum(k);
		values[1] = gnngp_matrix_write(&part, gp_matrix_rows(m, first, rows));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(DatumGetPointer(values[1]));
		first += rows;
	}
}

/* gp_spread(columns, graph, kernel, bounds): S columns, in parts of rows. */
PG_FUNCTION_INFO_V1(gnngp_matrix_spread);
Datum
gnngp_matrix_spread(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	gnngp_table_value table;
	ArrayType  *bounds = PG_GETARG_ARRAYTYPE_P(3);
	const int64 *bound = gnngp_array_data(bounds);
	int			n = ArrayGetNItems(ARR_NDIM(bounds), ARR_DIMS(bounds));
	gp_env	   *env;
	gp_device  *dev;
	gp_graph   *graph;
	const gp_program *program;
	gp_matrix	m;

	InitMaterializedSRF(fcinfo, 0);
	if (array_contains_nulls(bounds))
		gnngp_matrix_refuse("A bound is NULL.");
	for (int k = 1; k < n; k++)
		if (bound[k] <= bound[k - 1])
			gnngp_matrix_refuse("The bounds do not ascend.");
	table = gnngp_matrix_read(PG_GETARG_DATUM(0));
	if (table.wide)
		gnngp_matrix_refuse("Columns are of single precision.");
	graph = gnngp_whole_graph(PG_GETARG_ARRAYTYPE_P(1), &table.ids);
	env = gnngp_env_create(CurrentMemoryContext);
	m = gnngp_matrix_numbers(env, &table);
	dev = gnngp_device_open(env, gnngp_factor_threads(16.0 * graph->edges * m.cols));
	program = gnngp_compile_kernel(env, text_to_cstring(PG_GETARG_TEXT_PP(2)));
	gp_block_operate(dev, program, graph, gnngp_whole_matrix(program->norm), m);
	dev->close(dev);
	put_parts(result, &table.ids, m, bound, n);
	gnngp_env_destroy(env);
	gnngp_whole_graph_keep();
	return (Datum) 0;
}
