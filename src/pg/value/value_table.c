/*
 * value_table.c - the SQL types gp_features and gp_factor: ids, then a row of floats for each node.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "value.h"

/* Ids, width and numbers of a value that is a table of floats. */
static void
read_table(gnngp_value_reader *r, gnngp_table_value *out)
{
	int			flags = gnngp_value_flags(r, GNNGP_VALUE_DENSE);
	uint64		width = gnngp_value_number(r);

	if (width < 1 || width > GNNGP_VALUE_LIMIT / sizeof(float))
		gnngp_value_refuse(r, "The length of its rows is out of range.");
	out->cols = (int64) width;
	out->ids = gnngp_value_read_ids(r, flags, width * sizeof(float));
	out->value = gnngp_value_floats(r, (uint64) out->ids.n * width);
}

/* The same for a value from outside: its numbers are looked at. */
static void
check_table(gnngp_value_reader *r)
{
	gnngp_table_value table;

	read_table(r, &table);
	for (int64 k = 0; k < table.ids.n * table.cols; k++)
	{
		float		v = gnngp_get_float4(table.value + k * sizeof(float));

		gnngp_look(k);
		if (!isfinite(v))
			gnngp_value_refuse(r, "A number is not finite.");
		if (v == 0.0f && signbit(v))
			gnngp_value_refuse(r, "A negative zero is written as zero.");
	}
}

/* Reads a stored value. */
gnngp_table_value
gnngp_table_read(Datum value, const char *type)
{
	gnngp_value_reader r = gnngp_value_open(value, type);
	gnngp_table_value table;

	read_table(&r, &table);
	return table;
}

GNNGP_VALUE_INPUT(features, check_table)
GNNGP_VALUE_INPUT(factor, check_table)

/* A table of floats as a value; rows are ld apart. */
Datum
gnngp_table_write(const gnngp_value_ids *ids, int64 cols, const float *value, int64 ld,
				  const char *what)
{
	StringInfoData out;

	gnngp_value_check_size((double) ids->n * cols * sizeof(float), what);
	gnngp_value_begin(&out, gnngp_value_ids_flag(ids));
	gnngp_value_put_number(&out, cols);
	gnngp_value_put_ids(&out, ids, what);
	gnngp_value_reserve(&out, ids->n * cols * sizeof(float), what);
	for (int64 i = 0; i < ids->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		gnngp_value_put_floats(&out, value + i * ld, cols);
	}
	return gnngp_value_end(&out);
}
