/*
 * cpu_cross.c - covariances between two small sets of rows of Z.
 *
 * For a sparse Z the second set is indexed by column, so that a row of the
 * first set meets only those entries that it shares a column with: most pairs
 * of rows share none.  For a dense Z the rows are gathered and multiplied.
 */

#include "cpu_blas.h"
#include "cpu_cross.h"

void
gp_cross_create(gp_env *env, gp_cross_space *space, const gp_csr *zs, const gp_matrix *zd,
				int64_t rows, int64_t entries)
{
	if (zs != NULL)
	{
		space->column = gp_alloc_zero(env, zs->cols, sizeof(gp_cross_column));
		space->entry = gp_alloc_array(env, entries + 1, sizeof(gp_cross_entry));
		space->sum = gp_alloc_array(env, rows, sizeof(double));
	}
	else
	{
		size_t		bytes = gp_size_mul(env, (size_t) zd->cols, gp_type_size(zd->type));

		space->left = gp_alloc_array(env, rows, bytes);
		space->right = gp_alloc_array(env, rows, bytes);
	}
}

void
gp_cross_free(gp_env *env, gp_cross_space *space)
{
	gp_free_all(env, space->column, space->entry, space->sum, space->left, space->right);
}

void
gp_cross_sparse(const gp_csr *z, const int32_t *row, const int32_t *col, bool lower,
				gp_cross_space *space, gp_matrix k)
{
	double	   *sum = space->sum;

	/* Sorts the entries of the rows of k by column: a count, then a place for each. */
	gp_cross_column *column = space->column;
	int32_t		place = 1;
	for (int64_t i = 0; i < k.cols; i++)
		for (int64_t e = z->start[col[i]]; e < z->start[col[i] + 1]; e++)
			column[z->col[e]].end++;
	for (int64_t i = 0; i < k.cols; i++)
		for (int64_t e = z->start[col[i]]; e < z->start[col[i] + 1]; e++)
		{
			gp_cross_column *c = &column[z->col[e]];

			if (c->begin == 0)
			{
				int32_t		count = c->end;

				c->begin = c->end = place;
				place += count;
			}
			space->entry[c->end].row = (int32_t) i;
			space->entry[c->end++].value = gp_number_at(z->value, z->type, e);
		}
	for (int64_t i = 0; i < k.rows; i++)
	{
		int64_t		n = lower ? i + 1 : k.cols;

		memset(sum, 0, (size_t) n * sizeof(double));
		for (int64_t e = z->start[row[i]]; e < z->start[row[i] + 1]; e++)
		{
			gp_cross_column c = space->column[z->col[e]];
			double		v = gp_number_at(z->value, z->type, e);

			for (int32_t at = c.begin; at < c.end && space->entry[at].row < n; at++)
				sum[space->entry[at].row] += v * space->entry[at].value;
		}
		for (int64_t j = 0; j < n; j++)
			gp_number_put(k.data, k.type, i * k.ld + j, sum[j]);
	}
	for (int64_t i = 0; i < k.cols; i++)
		for (int64_t e = z->start[col[i]]; e < z->start[col[i] + 1]; e++)
			space->column[z->col[e]] = (gp_cross_column) {0, 0};
}

/* Gathers rows of a dense z. */
static gp_matrix
gather(gp_matrix z, const int32_t *row, int64_t n, void *to)
{
	gp_matrix	m = gp_matrix_wrap(to, n, z.cols, z.type);
	size_t		bytes = (size_t) z.cols * gp_type_size(z.type);

	for (int64_t i = 0; i < n; i++)
		memcpy(gp_matrix_at(m, i, 0), gp_matrix_at(z, row[i], 0), bytes);
	return m;
}

void
gp_cross_dense(gp_matrix z, const int32_t *row, const int32_t *col, bool lower,
			   gp_cross_space *space, gp_matrix k)
{
	gp_matrix	left = gather(z, row, k.rows, space->left);

	if (lower)
		gp_blas_syrk(false, 1.0, left, 0.0, k);
	else
		gp_blas_gemm(false, true, 1.0, left, gather(z, col, k.cols, space->right), 0.0, k);
}
