/*
 * matrix_steps.c - what is computed from one matrix: its rows and columns, covariances, products.
 *
 * Each call has an environment of its own, as factors have (factor_make.c).
 */
#include "postgres.h"

#include "distributed_internal.h"

/* An argument that is a matrix; its numbers belong to env. */
static gp_matrix
matrix_argument(FunctionCallInfo fcinfo, gp_env *env, int argno, gnngp_table_value *table)
{
	*table = gnngp_matrix_read(PG_GETARG_DATUM(argno));
	return gnngp_matrix_numbers(env, table);
}

bool
gnngp_root_argument(FunctionCallInfo fcinfo, gp_env *env, int64 cols, gp_matrix *root)
{
	gnngp_table_value table;

	if (PG_ARGISNULL(3))
		return false;
	*root = matrix_argument(fcinfo, env, 3, &table);
	if (root->rows != cols || root->cols != cols)
		gnngp_matrix_refuse("The root has a row and a column for each column of the rows.");
	for (int64 i = 0; i < cols; i++)
		if (gp_number_at(root->data, root->type, i * cols + i) == 0.0)
			gnngp_matrix_refuse("The root has a zero on its diagonal.");
	return true;
}

const int64 *
gnngp_ascending(ArrayType *array, const char *what, int *n)
{
	const int64 *number = gnngp_array_data(array);

	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (array_contains_nulls(array))
		gnngp_matrix_refuse(psprintf("NULL is among the %s.", what));
	for (int k = 1; k < *n; k++)
		if (number[k] <= number[k - 1])
			gnngp_matrix_refuse(psprintf("The %s do not ascend.", what));
	return number;
}

gp_matrix
gnngp_matrix_some(gp_env *env, const gnngp_table_value *m, gnngp_value_ids *ids)
{
	gp_matrix	all = gnngp_matrix_numbers(env, m);
	size_t		bytes = m->cols * gp_type_size(all.type);
	int64		most = Min(ids->n, all.rows);
	gp_matrix	rows = gp_matrix_wrap(gp_alloc_array(env, most, bytes), 0, m->cols, all.type);
	int64	   *id = gp_alloc_array(env, most, sizeof(int64));

	for (int64 i = 0; i < ids->n; i++)
	{
		int64		at = gnngp_value_find(&m->ids, gnngp_value_id(ids, i));

		gnngp_poll(i);
		if (at < 0)
			continue;
		memcpy((char *) rows.data + rows.rows * bytes, (char *) all.data + at * bytes, bytes);
		id[rows.rows++] = gnngp_value_id(ids, i);
	}
	gp_free(env, all.data);
	*ids = (gnngp_value_ids) {.n = rows.rows,.id = id};
	return rows;
}

/* gp_rows(matrix, ids): those rows whose ids it has; NULL for none. */
GNNGP_FUNCTION(gnngp_matrix_rows)
{
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gnngp_table_value table = gnngp_matrix_read(PG_GETARG_DATUM(0));
	int			n;
	const int64 *wanted = gnngp_ascending(PG_GETARG_ARRAYTYPE_P(1), "ids", &n);
	gnngp_value_ids ids = {.n = n,.id = unconstify(int64 *, wanted)};
	gp_matrix	rows = gnngp_matrix_some(env, &table, &ids);

	if (rows.rows == 0)
	{
		gnngp_env_destroy(env);
		PG_RETURN_NULL();
	}
	ids = gnngp_value_ids_part(&ids, 0, ids.n);
	Datum		result = gnngp_matrix_write(&ids, rows);
	gnngp_env_destroy(env);
	PG_RETURN_DATUM(result);
}

/* gp_split(matrix, width): groups of so many columns, numbered from 0. */
GNNGP_FUNCTION(gnngp_matrix_split)
{
	gnngp_result *result = gnngp_result_start(fcinfo);
	int32		width = PG_GETARG_INT32(1);
	gnngp_table_value table;

	if (width < 1)
		gnngp_matrix_refuse("A group has at least one column.");
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_matrix	all = matrix_argument(fcinfo, env, 0, &table);
	size_t		size = gp_type_size(all.type);
	char	   *part = gp_alloc_array(env, all.rows * Min((int64) width, all.cols), size);
	for (gp_band band = gp_band_first(all.cols, width); band.count > 0; gp_band_next(&band))
	{
		for (int64 i = 0; i < all.rows; i++)
			memcpy(part + i * band.count * size,
				   (char *) all.data + (i * all.cols + band.first) * size, band.count * size);
		gnngp_emit(result, gnngp_out(Int32GetDatum((int32) (band.first / width))),
				   gnngp_out(gnngp_matrix_write(&table.ids,
												gp_matrix_wrap(part, all.rows, band.count,
															   all.type))));
	}
	gnngp_env_destroy(env);
	return (Datum) 0;
}

/* Rows times weights, whose last row may be a constant, in their precision. */
static gp_matrix
product(gp_device *dev, gp_matrix rows, gp_matrix weights)
{
	gp_matrix	out = gp_matrix_wrap(gp_alloc_array(dev->env, rows.rows * weights.cols,
													gp_type_size(weights.type)), rows.rows,
									 weights.cols, weights.type);

	if (weights.rows != rows.cols && weights.rows != rows.cols + 1)
		gnngp_matrix_refuse("Weights have a row for each column, and one more for a constant.");
	gp_block_apply(dev, rows, weights, out);
	return out;
}

/* gp_step(rows, kernel, landmarks, root, weights): covariances of rows with landmarks, times
 * weights where there are any. */
GNNGP_FUNCTION(gnngp_matrix_step)
{
	gnngp_table_value table;
	gnngp_table_value at;
	gp_matrix	root;
	gp_matrix	out;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_program *program = gnngp_compile_kernel(env, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	gp_matrix	rows = matrix_argument(fcinfo, env, 0, &table);
	gp_matrix	landmarks = matrix_argument(fcinfo, env, 2, &at);
	if (landmarks.cols != rows.cols)
		gnngp_matrix_refuse("Landmarks have as many columns as rows.");
	bool		rooted = gnngp_root_argument(fcinfo, env, rows.cols, &root);
	int32_t    *own = gp_alloc_array(env, landmarks.rows, sizeof(int32_t));
	for (int64 j = 0; j < landmarks.rows; j++)
		own[j] = (int32_t) gnngp_value_find(&table.ids, gnngp_value_id(&at.ids, j));
	out = gp_matrix_wrap(gp_alloc_array(env, rows.rows * landmarks.rows, sizeof(float)), rows.rows,
						 landmarks.rows, GP_FLOAT);
	gp_device  *dev = gnngp_device_open(env, gnngp_factor_threads(2.0 * rows.rows * rows.cols
																  * (landmarks.rows
																	 + (rooted ? rows.cols : 0))));
	gp_block_covariances(dev, program, rows, rooted ? &root : NULL, landmarks, own, out);
	if (!PG_ARGISNULL(4))
		out = product(dev, out, matrix_argument(fcinfo, env, 4, &at));
	dev->close(dev);
	Datum		result = gnngp_matrix_write(&table.ids, out);
	gnngp_env_destroy(env);
	PG_RETURN_DATUM(result);
}

/* gp_apply(rows, weights): the product. */
GNNGP_FUNCTION(gnngp_matrix_apply)
{
	gnngp_table_value table;
	gnngp_table_value w;
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_matrix	rows = matrix_argument(fcinfo, env, 0, &table);
	gp_matrix	weights = matrix_argument(fcinfo, env, 1, &w);
	gp_device  *dev = gnngp_device_open(env, gnngp_factor_threads(2.0 * rows.rows * rows.cols
																  * weights.cols));
	Datum		result = gnngp_matrix_write(&table.ids, product(dev, rows, weights));

	dev->close(dev);
	gnngp_env_destroy(env);
	PG_RETURN_DATUM(result);
}

/*
 * gp_squares(matrix, n): the sum of the squares of the first columns of each row, n or as many as
 * there are, before the other ones; the matrix itself where n is not above 0.
 */
GNNGP_FUNCTION(gnngp_matrix_squares)
{
	int64		n = PG_GETARG_INT64(1);
	gnngp_table_value table;
	Datum		result;

	if (n <= 0)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	gp_matrix	all = matrix_argument(fcinfo, env, 0, &table);
	size_t		size = gp_type_size(all.type);
	n = Min(n, all.cols);
	if (n == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "the matrix has no columns");
	/* In place: a row is never behind where it was. */
	for (int64 i = 0; i < all.rows; i++)
	{
		char	   *to = (char *) all.data + i * (all.cols - n + 1) * size;
		double		sum = 0.0;

		gnngp_poll(i);
		for (int64 j = 0; j < n; j++)
		{
			double		x = gp_number_at(all.data, all.type, i * all.cols + j);

			sum += x * x;
		}
		memmove(to + size, (char *) all.data + (i * all.cols + n) * size, (all.cols - n) * size);
		gp_number_put(to, all.type, 0, sum);
	}
	result = gnngp_matrix_write(&table.ids, gp_matrix_wrap(all.data, all.rows, all.cols - n + 1,
														   all.type));
	gnngp_env_destroy(env);
	PG_RETURN_DATUM(result);
}
