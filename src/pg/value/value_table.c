/*
 * value_table.c - the SQL types gp_features and gp_factor: ids, then a row of floats for each node.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "value.h"

/* Ids, width and numbers of a value that is a table of floats. */
static const unsigned char *
read_table(gnngp_value_reader *r, gnngp_value_ids *ids, int64 *cols)
{
	int			flags = gnngp_value_flags(r, GNNGP_VALUE_DENSE);
	uint64		width = gnngp_value_number(r);

	if (width < 1 || width > GNNGP_VALUE_LIMIT / sizeof(float))
		gnngp_value_refuse(r, "The length of its rows is out of range.");
	*cols = (int64) width;
	*ids = gnngp_value_read_ids(r, flags, width * sizeof(float));
	return gnngp_value_floats(r, (uint64) ids->n * width);
}

/* The same for a value from outside: its numbers are looked at. */
static void
check_table(gnngp_value_reader *r)
{
	gnngp_value_ids ids;
	int64		cols;
	const unsigned char *value = read_table(r, &ids, &cols);

	for (int64 k = 0; k < ids.n * cols; k++)
	{
		float		v = gnngp_get_float4(value + k * sizeof(float));

		gnngp_look(k);
		if (!isfinite(v))
			gnngp_value_refuse(r, "A number is not finite.");
		if (v == 0.0f && signbit(v))
			gnngp_value_refuse(r, "A negative zero is written as zero.");
	}
}

/* Reads a gp_features. */
void
gnngp_features_read(Datum value, gnngp_table_value *out)
{
	gnngp_value_reader r = gnngp_value_open(value, "gp_features");

	out->value = read_table(&r, &out->ids, &out->cols);
}

/* Reads a gp_factor. */
void
gnngp_factor_read(Datum value, gnngp_table_value *out)
{
	gnngp_value_reader r = gnngp_value_open(value, "gp_factor");

	out->value = read_table(&r, &out->ids, &out->cols);
}

static const gnngp_value_type features_type = {"gp_features", check_table};
static const gnngp_value_type factor_type = {"gp_factor", check_table};

PG_FUNCTION_INFO_V1(gnngp_features_in);

/* gp_features' input function. */
Datum
gnngp_features_in(PG_FUNCTION_ARGS)
{
	return gnngp_value_in(fcinfo, &features_type);
}

PG_FUNCTION_INFO_V1(gnngp_features_recv);

/* gp_features' binary input function. */
Datum
gnngp_features_recv(PG_FUNCTION_ARGS)
{
	return gnngp_value_recv(fcinfo, &features_type);
}

PG_FUNCTION_INFO_V1(gnngp_factor_in);

/* gp_factor's input function. */
Datum
gnngp_factor_in(PG_FUNCTION_ARGS)
{
	return gnngp_value_in(fcinfo, &factor_type);
}

PG_FUNCTION_INFO_V1(gnngp_factor_recv);

/* gp_factor's binary input function. */
Datum
gnngp_factor_recv(PG_FUNCTION_ARGS)
{
	return gnngp_value_recv(fcinfo, &factor_type);
}

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
