/*
 * unit_rows.c - rows of length or sum one: of the features, and of the lists of neighbours.
 *
 * Lists of neighbours as features say that two nodes are alike when they are
 * linked to the same nodes, where a convolution says that neighbours are alike.
 */
#include "graph.h"

/* The length of a row, 1 where it is zero; its largest value is taken out, so that no square
 * overflows. */
static double
row_length(const void *value, gp_type type, int64_t start, int64_t end)
{
	double		largest = 0.0;
	double		square = 0.0;

	for (int64_t k = start; k < end; k++)
		largest = fmax(largest, fabs(gp_number_at(value, type, k)));
	if (largest == 0.0)
		return 1.0;
	for (int64_t k = start; k < end; k++)
		square += pow(gp_number_at(value, type, k) / largest, 2.0);
	return largest * sqrt(square);
}

/* The sum of the sizes of a row's numbers, 1 where it is zero. */
static double
row_sum(const void *value, gp_type type, int64_t start, int64_t end)
{
	double		sum = 0.0;

	for (int64_t k = start; k < end; k++)
		sum += fabs(gp_number_at(value, type, k));
	return sum > 0.0 ? sum : 1.0;
}

void
gp_features_write(gp_env *env, const gp_features *f, gp_row_size size, void *to, gp_type type)
{
	const void *from = f->csr ? f->csr->value : f->dense;

	GP_EACH(env, i, f->rows, f->csr ? f->csr->start[i] : i * f->dims)
	{
		int64_t		start = f->csr ? f->csr->start[i] : i * f->dims;
		int64_t		end = f->csr ? f->csr->start[i + 1] : start + f->dims;
		double		whole = size == GP_ROW_KEPT ? 1.0 :
			(size == GP_ROW_SUM ? row_sum : row_length) (from, f->type, start, end);

		for (int64_t k = start; k < end; k++)
			gp_number_put(to, type, k, gp_number_at(from, f->type, k) / whole);
	}
}

gp_csr *
gp_graph_lists(gp_env *env, const gp_graph *graph, gp_type type)
{
	int64_t		n = graph->nodes;
	int64_t		alone = 0;
	int64_t		at = 0;

	GP_EACH(env, i, graph->directed ? 0 : n, i)
		alone += graph->start[i] == graph->start[i + 1];
	gp_csr	   *s = gp_csr_create(env, n, n, graph->start[n] + alone, type);
	GP_EACH(env, i, n, graph->start[i])
	{
		int64_t		start = graph->start[i];
		int64_t		end = graph->start[i + 1];
		double		length = graph->weight ? row_length(graph->weight, GP_DOUBLE, start, end) :
			sqrt((double) (end - start));

		for (int64_t k = start; k < end; k++, at++)
		{
			s->col[at] = graph->col[k];
			gp_number_put(s->value, type, at, (graph->weight ? graph->weight[k] : 1.0) / length);
		}
		if (start == end && !graph->directed)
		{
			s->col[at] = (int32_t) i;
			gp_number_put(s->value, type, at++, 1.0);
		}
		s->start[i + 1] = at;
	}
	return s;
}

gp_features *
gp_features_unit(gp_env *env, const gp_features *f, gp_type type, gp_row_size size)
{
	gp_features *out = gp_features_of_dense(env, NULL, f->rows, f->dims, type);

	if (f->csr)
	{
		out->csr = gp_csr_create(env, f->rows, f->dims, gp_csr_entries(f->csr), type);
		memcpy(out->csr->start, f->csr->start, (f->rows + 1) * sizeof(int64_t));
		memcpy(out->csr->col, f->csr->col, gp_csr_entries(f->csr) * sizeof(int32_t));
	}
	else
		out->dense = gp_alloc_array(env, (int64_t) gp_size_mul(env, f->rows, f->dims),
									gp_type_size(type));
	gp_features_write(env, f, size, out->csr ? out->csr->value : out->dense, type);
	return out;
}
