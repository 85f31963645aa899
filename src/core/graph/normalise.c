/*
 * normalise.c - symmetric and normalised adjacency matrices.
 */
#include "graph.h"

/* Fills one row of A, the self-loop at its sorted place. */
static void
normalise_row(const gp_graph *graph, int64_t i, double left, const double *right, gp_csr *a)
{
	int64_t		at = a->start[i];
	bool		self = false;

	for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
	{
		int32_t		j = graph->col[k];

		if (!self && j > i)
		{
			a->col[at] = (int32_t) i;
			gp_number_put(a->value, a->type, at++, left * right[i]);
			self = true;
		}
		a->col[at] = j;
		gp_number_put(a->value, a->type, at++,
					  left * (graph->weight ? graph->weight[k] : 1.0) * right[j]);
	}
	if (!self)
	{
		a->col[at] = (int32_t) i;
		gp_number_put(a->value, a->type, at++, left * right[i]);
	}
	a->start[i + 1] = at;
}

gp_csr *
gp_graph_normalise(gp_env *env, const gp_graph *graph, gp_norm norm, gp_type type)
{
	int64_t		n = graph->nodes;
	gp_csr	   *a = gp_csr_create(env, n, n, graph->start[n] + n, type);
	double	   *out = gp_alloc_zero(env, n, sizeof(double));
	double	   *in = gp_alloc_zero(env, n, sizeof(double));

	/* The sums of the rows (out-degrees) and columns (in-degrees) of G.  Where
	 * all edges are here both ways, a column has what its row has, in the same order, and need
	 * not be looked for. */
	bool		alike = !graph->directed && graph->degree == NULL;
	GP_EACH(env, i, graph->nodes, graph->start[i])
	{
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
		{
			double		w = graph->weight ? graph->weight[k] : 1.0;

			out[i] += w;
			in[alike ? i : graph->col[k]] += w;
		}
	}
	for (int64_t i = 0; graph->degree && i < graph->nodes; i++)
		if (graph->degree[i] >= 0.0)
		{
			in[i] = graph->degree[i];
			out[i] = graph->directed ? out[i] : in[i];
		}
	for (int64_t i = 0; graph->weight && i < graph->nodes; i++)
		if (isinf(out[i]) || isinf(in[i]))
			gp_raise(env, GP_ERR_RANGE, "Divide the weights by a constant.",
					 "the weights of a node's edges add up to more than a double precision number holds");
	for (int64_t i = 0; i < n; i++)
	{
		out[i] = norm == GP_NORM_SYM ? 1.0 / sqrt(1.0 + out[i]) :
			norm == GP_NORM_ROW ? 1.0 / (1.0 + out[i]) : 1.0;
		in[i] = norm == GP_NORM_SYM ? 1.0 / sqrt(1.0 + in[i]) : 1.0;
	}
	GP_EACH(env, i, n, graph->start[i])
		normalise_row(graph, i, out[i], in, a);
	gp_free_all(env, out, in);
	return a;
}

gp_csr *
gp_graph_symmetric(gp_env *env, const gp_graph *graph)
{
	gp_csr		view = {graph->nodes, graph->nodes, graph->start, graph->col, NULL, GP_DOUBLE, 0};
	int64_t		entries = graph->start[graph->nodes];
	double	   *ones = graph->weight ? NULL : gp_alloc_array(env, entries, sizeof(double));

	for (int64_t k = 0; ones && k < entries; k++)
		ones[k] = 1.0;
	view.value = ones ? ones : graph->weight;
	/* Without directions each edge is in both rows. */
	gp_csr	   *t = graph->directed ? gp_csr_transpose(env, &view) : NULL;
	gp_csr	   *w = t ? gp_csr_add(env, &view, t) :
		gp_csr_select(env, &view, NULL, view.rows, NULL, view.cols);
	gp_csr_free(env, t);
	gp_free(env, ones);
	return w;
}

gp_csr *
gp_graph_smooth(gp_env *env, const gp_graph *graph, double factor, gp_type type)
{
	gp_csr	   *s = gp_graph_symmetric(env, graph);
	double	   *w = s->value;
	double	   *degree = gp_csr_row_sums(env, s);

	GP_EACH(env, i, s->rows, s->start[i] + i)
		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
			w[k] = w[k] > 0.0 ? factor * w[k] / sqrt(degree[i] * degree[s->col[k]]) : 0.0;
	gp_free(env, degree);
	gp_csr_retype(env, s, type);
	return s;
}
