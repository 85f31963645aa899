/*
 * scale.c - features brought to comparable scales before anything is
 * computed from them.
 *
 * Sums run over the nodes in their order and in double precision, so that the
 * result depends on the values alone.
 */
#include "graph.h"

#define ROWS_ENOUGH 1000		/* that show what rows have in common, spread evenly */

void
gp_features_row(const gp_features *f, int64_t row, double *out)
{
	if (f->dense)
	{
		for (int64_t j = 0; j < f->dims; j++)
			out[j] = gp_number_at(f->dense, f->type, row * f->dims + j);
		return;
	}
	memset(out, 0, f->dims * sizeof(double));
	for (int64_t k = f->csr->start[row]; k < f->csr->start[row + 1]; k++)
		out[f->csr->col[k]] = gp_number_at(f->csr->value, f->type, k);
}

/* gp_features_moments of every so many-th row, in two passes: the deviation of large numbers would
 * be lost in one. */
static double *
moments(gp_env *env, const gp_features *f, int64_t step)
{
	double	   *mean = gp_alloc_zero(env, (int64_t) gp_size_mul(env, 2, f->dims), sizeof(double));
	double	   *deviation = mean + f->dims;
	double	   *row = gp_alloc_array(env, f->dims, sizeof(double));
	int64_t		rows = (f->rows + step - 1) / step;

	GP_EACH(env, k, rows, k * f->dims)
	{
		gp_features_row(f, k * step, row);
		for (int64_t j = 0; j < f->dims; j++)
			mean[j] += row[j] / (double) rows;
	}
	GP_EACH(env, k, rows, k * f->dims)
	{
		gp_features_row(f, k * step, row);
		for (int64_t j = 0; j < f->dims; j++)
			deviation[j] += (row[j] - mean[j]) * (row[j] - mean[j]) / (double) rows;
	}
	for (int64_t j = 0; j < f->dims; j++)
		deviation[j] = gp_feature_deviation(mean[j], sqrt(deviation[j]));
	gp_free(env, row);
	return mean;
}

double *
gp_features_moments(gp_env *env, const gp_features *f)
{
	return moments(env, f, 1);
}

gp_features *
gp_features_standardise(gp_env *env, gp_features *f, const double *moment)
{
	const double *deviation = moment + f->dims;
	double	   *row = gp_alloc_array(env, f->dims, sizeof(double));
	float	   *dense = gp_alloc_array(env, (int64_t) gp_size_mul(env, f->rows, f->dims),
									   sizeof(float));

	GP_EACH(env, i, f->rows, i * f->dims)
	{
		gp_features_row(f, i, row);
		for (int64_t j = 0; j < f->dims; j++)
			dense[i * f->dims + j] = deviation[j] > 0.0
				? (float) ((row[j] - moment[j]) / deviation[j]) : 0.0f;
	}
	gp_features *out = gp_features_of_dense(env, dense, f->rows, f->dims, GP_FLOAT);
	gp_free(env, row);
	gp_features_free(env, f);
	return out;
}

/* The values in a type, of rows of this size. */
static void
retype(gp_env *env, gp_features *f, gp_type type, gp_row_size size)
{
	void	   *old = f->csr ? f->csr->value : f->dense;
	int64_t		n = f->csr ? gp_csr_entries(f->csr) : (int64_t) gp_size_mul(env, f->rows, f->dims);
	void	   *value = gp_alloc_array(env, n, gp_type_size(type));

	gp_features_write(env, f, size, value, type);
	gp_free(env, old);
	f->type = type;
	if (f->csr == NULL)
	{
		f->dense = value;
		return;
	}
	f->csr->value = value;
	f->csr->type = type;
	f->csr->stamp = gp_csr_stamp();
}

gp_features *
gp_features_as(gp_env *env, gp_features *f, gp_type type)
{
	if (f != NULL && f->type != type)
		retype(env, f, type, GP_ROW_KEPT);
	return f;
}

gp_features *
gp_features_scale(gp_env *env, gp_features *f, gp_scale scale)
{
	gp_features *out = f;

	if (scale == GP_SCALE_STANDARD)
	{
		double	   *moment = gp_features_moments(env, f);
		out = gp_features_standardise(env, f, moment);
		gp_free(env, moment);
	}
	else if (scale == GP_SCALE_LENGTH || f->type != GP_FLOAT)
		retype(env, f, GP_FLOAT, scale == GP_SCALE_LENGTH ? GP_ROW_LENGTH : GP_ROW_KEPT);
	return out;
}

double
gp_features_spread(gp_env *env, const gp_features *f)
{
	double	   *mean = moments(env, f, 1);
	const double *deviation = mean + f->dims;
	double		low = INFINITY;
	double		high = 0.0;

	for (int64_t j = 0; j < f->dims; j++)
		if (deviation[j] > 0.0)
		{
			low = fmin(low, deviation[j]);
			high = fmax(high, deviation[j]);
		}
	gp_free(env, mean);
	return high > 0.0 ? high / low : 1.0;
}

double
gp_features_shared(gp_env *env, const gp_features *f)
{
	double	   *moment = moments(env, f, f->rows / ROWS_ENOUGH + 1);
	double		mean = 0.0;
	double		deviation = 0.0;

	for (int64_t j = 0; j < f->dims; j++)
		if (moment[f->dims + j] > 0.0)
		{
			mean = hypot(mean, moment[j]);
			deviation = hypot(deviation, moment[f->dims + j]);
		}
	gp_free(env, moment);
	return deviation > 0.0 ? mean / deviation : 0.0;
}

bool
gp_features_have_length(gp_env *env, const gp_features *f)
{
	double	   *row = gp_alloc_array(env, f->dims, sizeof(double));
	double		low = INFINITY;
	double		high = 0.0;
	bool		binary = true;

	GP_EACH(env, i, f->rows, i * f->dims)
	{
		double		square = 0.0;

		gp_features_row(f, i, row);
		for (int64_t j = 0; j < f->dims; j++)
		{
			square += row[j] * row[j];
			binary = binary && (row[j] == 0.0 || row[j] == 1.0);
		}
		low = square > 0.0 ? fmin(low, square) : low;
		high = fmax(high, square);
	}
	gp_free(env, row);
	return gp_have_length(binary, low, high);
}
