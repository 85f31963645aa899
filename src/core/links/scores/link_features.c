/*
 * link_features.c - the nodes' features, made ready for cosines.
 *
 * Sparse features that are nowhere negative are counts of words, tags or items:
 * frequent ones say little, so each column is weighted by log((N + 1) / (n + 1)),
 * n being the nodes that have it (tf-idf).  Others stay as they are.
 *
 * Very wide features are hashed into a few thousand columns with signs
 * (count sketch: products of rows keep their expectation), because the scores'
 * work has a part that grows with the width.
 */
#include "scores.h"

#define MOST_DIMS 4096

/*
 * The inverse of the largest value: cosines do not see a common factor, and
 * squares of the largest numbers would overflow.
 */
static double
inverse_size(gp_env *env, const void *value, gp_type type, int64_t n)
{
	double		largest = 0.0;

	GP_EACH(env, k, n, k)
		largest = fmax(largest, fabs(gp_number_at(value, type, k)));
	return largest > 0.0 ? 1.0 / largest : 1.0;
}

static double *
column_weights(gp_env *env, const gp_csr *x)
{
	double	   *weight = gp_alloc_zero(env, x->cols, sizeof(double));
	bool		count = true;	/* no entry is negative */
	double		inverse = inverse_size(env, x->value, x->type, gp_csr_entries(x));

	GP_EACH(env, k, gp_csr_entries(x), k)
	{
		double		value = gp_number_at(x->value, x->type, k);

		weight[x->col[k]] += value != 0.0;
		count = count && !(value < 0.0);
	}
	for (int64_t j = 0; j < x->cols; j++)
		weight[j] = inverse * (count ? log(((double) x->rows + 1.0) / (weight[j] + 1.0)) : 1.0);
	return weight;
}

/* Copies x, its columns weighted. */
static gp_csr *
weigh(gp_env *env, const gp_csr *x, const double *weight)
{
	int64_t		n = gp_csr_entries(x);
	gp_csr	   *out = gp_csr_create(env, x->rows, x->cols, n, GP_FLOAT);
	float	   *value = out->value;

	memcpy(out->start, x->start, (x->rows + 1) * sizeof(int64_t));
	GP_EACH(env, k, n, k)
	{
		out->col[k] = x->col[k];
		value[k] = (float) (weight[x->col[k]] * gp_number_at(x->value, x->type, k));
	}
	return out;
}

/* Adds up one row in sum, hashed; marks lists the columns touched.  Returns how many. */
static int32_t
sketch_row(const gp_csr *x, int64_t row, const double *weight, uint64_t seed, float *sum,
		 bool *marked, int32_t *marks)
{
	int32_t		n = 0;

	for (int64_t k = x->start[row]; k < x->start[row + 1]; k++)
	{
		uint64_t	h = gp_hash(seed ^ gp_hash((uint64_t) x->col[k]));
		int32_t		col = (int32_t) (h % MOST_DIMS);
		double		v = weight[x->col[k]] * gp_number_at(x->value, x->type, k);

		if (!marked[col])
		{
			marked[col] = true;
			marks[n++] = col;
			sum[col] = 0.0f;
		}
		sum[col] += (float) (h >> 63 ? v : -v);
	}
	return n;
}

/* The count sketch of the columns of x, MOST_DIMS wide. */
static gp_csr *
sketch(gp_env *env, const gp_csr *x, const double *weight, uint64_t seed)
{
	gp_csr	   *out = gp_csr_create(env, x->rows, MOST_DIMS, gp_csr_entries(x), GP_FLOAT);
	float	   *sum = gp_alloc_array(env, MOST_DIMS, sizeof(float));
	bool	   *marked = gp_alloc_zero(env, MOST_DIMS, sizeof(bool));
	float	   *value = out->value;
	int64_t		next = 0;

	for (int64_t i = 0; i < x->rows; i++)
	{
		int32_t    *marks = out->col + out->start[i];
		int32_t		n = sketch_row(x, i, weight, seed, sum, marked, marks);

		gp_poll(env, x->start[i], &next);
		gp_sort_columns(env, marks, n);
		for (int32_t k = 0; k < n; k++)
		{
			value[out->start[i] + k] = sum[marks[k]];
			marked[marks[k]] = false;
		}
		out->start[i + 1] = out->start[i] + n;
	}
	gp_free_all(env, sum, marked);
	return out;
}

gp_features *
gp_link_features_prepare(gp_env *env, const gp_features *x, uint64_t seed)
{
	gp_features *out = gp_alloc_zero(env, 1, sizeof(gp_features));

	out->rows = x->rows;
	out->type = GP_FLOAT;
	out->dims = x->dims;
	if (x->csr == NULL)
	{
		int64_t		n = (int64_t) gp_size_mul(env, x->rows, x->dims);
		float	   *value = out->dense = gp_alloc_array(env, n, sizeof(float));
		double		inverse = inverse_size(env, x->dense, x->type, n);

		GP_EACH(env, k, n, k)
			value[k] = (float) (inverse * gp_number_at(x->dense, x->type, k));
		return out;
	}
	double	   *weight = column_weights(env, x->csr);
	out->csr = x->dims > MOST_DIMS ? sketch(env, x->csr, weight, seed) : weigh(env, x->csr, weight);
	out->dims = out->csr->cols;
	gp_free(env, weight);
	return out;
}
