/*
 * factor_rows.c - what graphs, features and factors tell: counts, rows, entries of the kernel.
 */
#include "postgres.h"

#include "types.h"

/* A number that a value tells of itself. */
#define NUMBER(name, number) \
PG_FUNCTION_INFO_V1(gnngp_##name); \
Datum \
gnngp_##name(PG_FUNCTION_ARGS) \
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
PG_FUNCTION_INFO_V1(gnngp_kernel_value);
Datum
gnngp_kernel_value(PG_FUNCTION_ARGS)
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
PG_FUNCTION_INFO_V1(gnngp_factor_rows);
Datum
gnngp_factor_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = gnngp_rows_start(fcinfo);
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
		CHECK_FOR_INTERRUPTS();
		gnngp_value_row(factor.value, i, factor.cols, (float *) gnngp_array_data(array));
		gnngp_emit(result, gnngp_cell(Int64GetDatum(gnngp_value_id(&factor.ids, i))),
				   gnngp_cell(PointerGetDatum(array)));
	}
	return (Datum) 0;
}
