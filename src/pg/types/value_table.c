/*
 * value_table.c - the SQL types gp_features, gp_factor and gp_matrix: ids, then a row of numbers
 * for each node.
 *
 * Those of a matrix may be of double precision.  What has floats is a matrix, too.
 */
#include "postgres.h"

#include "types.h"

#define PIECE 65536				/* numbers that are written between two looks for a cancel */

static inline size_t
number_size(const gnngp_table_value *table)
{
	return table->wide ? sizeof(double) : sizeof(float);
}

/* Ids, width and numbers of a value that is a table of numbers. */
static void
read_table(gnngp_value_reader *r, gnngp_table_value *out)
{
	bool		matrix = strcmp(r->type, "gp_matrix") == 0;
	int			flags = gnngp_value_flags(r, GNNGP_VALUE_DENSE | (matrix ? GNNGP_VALUE_WIDE : 0));
	uint64		width = gnngp_value_number(r);

	out->wide = (flags & GNNGP_VALUE_WIDE) != 0;
	if (width < 1 || width > GNNGP_VALUE_LIMIT / number_size(out))
		gnngp_value_refuse(r, "The length of its rows is out of range.");
	out->cols = (int64) width;
	uint64		row = width * number_size(out);
	out->ids = gnngp_value_read_ids(r, flags, row);
	out->value = r->at;
	if ((r->end - r->at) % row != 0 || (r->end - r->at) / row != (uint64) out->ids.n)
		gnngp_value_refuse(r, "Its length does not fit its numbers.");
}

/* The same for a value from outside: its numbers are looked at. */
static void
check_numbers(gnngp_value_reader *r)
{
	gnngp_table_value table;

	read_table(r, &table);
	for (int64 k = 0; k < table.ids.n * table.cols; k++)
	{
		double		v = table.wide ? gnngp_get_float8(table.value + k * sizeof(double)) :
			gnngp_get_float4(table.value + k * sizeof(float));

		gnngp_poll(k);
		if (!isfinite(v))
			gnngp_value_refuse(r, "A number is not finite.");
		if (v == 0.0 && signbit(v))
			gnngp_value_refuse(r, "A negative zero is written as zero.");
	}
}

gnngp_table_value
gnngp_table_read(Datum value, const char *type)
{
	gnngp_value_reader r = gnngp_value_open(value, type);
	gnngp_table_value table;

	read_table(&r, &table);
	return table;
}

gnngp_table_value
gnngp_matrix_read(Datum value)
{
	return gnngp_table_read(value, "gp_matrix");
}

gp_matrix
gnngp_matrix_numbers(gp_env *env, const gnngp_table_value *matrix)
{
	size_t		size = number_size(matrix);
	size_t		bytes = matrix->ids.n * matrix->cols * size;
	void	   *value = gp_alloc(env, bytes);

	memcpy(value, matrix->value, bytes);
	gnngp_turn_numbers(value, bytes, size);
	return gp_matrix_wrap(value, matrix->ids.n, matrix->cols, matrix->wide ? GP_DOUBLE : GP_FLOAT);
}

GNNGP_VALUE_INPUT(features, check_numbers)
GNNGP_VALUE_INPUT(factor, check_numbers)
GNNGP_VALUE_INPUT(matrix, check_numbers)

/* Writes n numbers of a type; a negative zero becomes zero, so that equal rows are equal bytes. */
#define PUT_NUMBERS(type, to, from, n, finite) \
	for (int64 k = 0; k < (n); k++) \
	{ \
		type		v = ((const type *) (from))[k] + 0; \
\
		(finite) &= isfinite(v); \
		memcpy((to) + k * sizeof(type), &v, sizeof(type)); \
	}

Datum
gnngp_table_write(const gnngp_value_ids *ids, gp_matrix m, const char *what)
{
	StringInfoData out;
	bool		wide = m.type == GP_DOUBLE;
	size_t		size = gp_type_size(m.type);
	bool		finite = true;

	gnngp_value_check_size((double) m.rows * m.cols * size, what);
	gnngp_value_begin(&out, gnngp_value_ids_flag(ids) | (wide ? GNNGP_VALUE_WIDE : 0));
	gnngp_value_put_number(&out, m.cols);
	gnngp_value_put_ids(&out, ids, what);
	gnngp_value_reserve(&out, m.rows * m.cols * size, what);
	for (gp_band band = gp_band_first(m.rows * m.cols, PIECE); band.count > 0; gp_band_next(&band))
	{
		char	   *to = out.data + out.len;
		const char *from = (const char *) m.data + band.first * size;

		CHECK_FOR_INTERRUPTS();
		if (wide)
			PUT_NUMBERS(double, to, from, band.count, finite)
		else
			PUT_NUMBERS(float, to, from, band.count, finite)
		gnngp_turn_numbers(to, band.count * size, size);
		out.len += (int) (band.count * size);
	}
	if (!finite)
		gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE, "Scale the features to ordinary sizes.",
					"a number of the %s is out of range", what);
	return gnngp_value_end(&out);
}

Datum
gnngp_matrix_write(const gnngp_value_ids *ids, gp_matrix m)
{
	return gnngp_table_write(ids, m, "matrix");
}

gnngp_value_ids
gnngp_value_ids_part(const gnngp_value_ids *ids, int64 first, int64 n)
{
	gnngp_value_ids part = {n, gnngp_value_id(ids, first), ids->id ? ids->id + first : NULL};

	if (part.id && (uint64) part.id[n - 1] - (uint64) part.id[0] == (uint64) n - 1)
		part.id = NULL;
	return part;
}

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

void
gnngp_matrix_refuse(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the matrices do not fit each other"),
			 errdetail_internal("%s", what)));
}
