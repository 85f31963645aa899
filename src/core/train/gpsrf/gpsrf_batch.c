/*
 * gpsrf_batch.c - the nodes that a step learns from, and those that it must compute for them.
 */
#include "gpsrf.h"

#define MOST_LABELS 384			/* of a batch that has other nodes, too */

/* ---- the nodes that are computed ---- */

/* Frees the matrices of a step. */
static void
free_parts(gp_gpsrf_learner *l)
{
	gp_csr_free(l->env, l->some.csr);
	for (int k = 0; k < 2; k++)
		gp_csr_free(l->env, l->part[k]);
	for (int k = 0; k < 3; k++)
		gp_csr_free(l->env, l->transposed[k]);
	gp_free(l->env, l->spare);
	l->some.csr = l->part[0] = l->part[1] = NULL;
	l->spare = NULL;
	memset(l->transposed, 0, sizeof(l->transposed));
}

void
gp_gpsrf_all_nodes(gp_gpsrf_learner *l)
{
	free_parts(l);
	l->net->operation[0].linear.x = l->x;
	l->net->operation[0].linear.transposed = l->x_transposed;
	for (int k = 0; k < 2; k++)
		l->sum[k]->propagate = (gp_propagate) {l->average, l->average_transposed};
	gp_network_rows(l->net, 0, l->head->number, l->x->rows);
}

/* Some rows of a matrix, which no device keeps; its transpose, too. */
static gp_csr *
some_rows(gp_gpsrf_learner *l, const gp_csr *s, const int32_t *row, int64_t n,
		  const int32_t *number, int64_t cols, gp_csr **transposed)
{
	gp_csr	   *out = gp_csr_select(l->env, s, row, n, number, cols);

	*transposed = gp_csr_transpose(l->env, out);
	out->stamp = (*transposed)->stamp = 0;
	return out;
}

/*
 * Only what n nodes of the index need is computed: their neighbours, and the neighbours of these.
 * Dense features are all there.
 */
static void
need_some(gp_gpsrf_learner *l, int64_t n)
{
	const int32_t *row = l->index;
	int			last = l->head->number;

	free_parts(l);
	for (int k = 1; k >= 0; k--)
	{
		gp_operation *op = l->sum[k];
		int64_t		before = l->x->rows;
		bool		all = k == 0 && l->x->csr == NULL;

		memset(l->number, -1, l->x->rows * sizeof(int32_t));
		for (int64_t i = 0; i < n; i++)
			for (int64_t e = l->average->start[row[i]]; e < l->average->start[row[i] + 1]; e++)
				l->number[l->average->col[e]] = 0;
		if (!all)
			before = 0;
		GP_EACH(l->env, j, all ? 0 : l->x->rows, j)
			if (l->number[j] == 0)
			{
				l->needed[k][before] = (int32_t) j;
				l->number[j] = (int32_t) before++;
			}
		l->part[k] = some_rows(l, l->average, row, n, all ? NULL : l->number, before,
							   &l->transposed[k]);
		op->propagate = (gp_propagate) {l->part[k], l->transposed[k]};
		gp_network_rows(l->net, op->number, last, n);
		last = op->number - 1;
		row = l->needed[k];
		n = before;
	}
	gp_network_rows(l->net, 0, last, n);
	if (l->x->csr == NULL)
		return;
	l->some = (gp_features) {.rows = n,.dims = l->x->dims,.type = l->x->type};
	l->some.csr = some_rows(l, l->x->csr, row, n, NULL, l->x->dims, &l->transposed[2]);
	l->net->operation[0].linear.x = &l->some;
	l->net->operation[0].linear.transposed = l->transposed[2];
}

/* A plan does not know the batches: some may need all of the sums and the features. */
static void
plan_whole(gp_gpsrf_learner *l)
{
	const gp_csr *whole[] = {l->average, l->average, l->x->csr};
	const gp_csr *part[] = {l->part[0], l->part[1], l->some.csr};
	int64_t		bytes = 0;

	for (int k = 0; k < 3; k++)
		if (part[k])
		{
			int64_t		entry = (int64_t) (sizeof(int32_t) + gp_type_size(part[k]->type));
			int64_t		more = gp_csr_entries(whole[k]) - gp_csr_entries(part[k]);
			int64_t		cols = whole[k]->cols - part[k]->cols;

			bytes += 2 * more * entry + cols * (int64_t) sizeof(int64_t);
			/* The rows of the last sum are those of the batch. */
			if (k != 1)
				bytes += (whole[k]->rows - part[k]->rows) * (int64_t) sizeof(int64_t);
		}
	l->spare = gp_alloc_values(l->env, bytes, 1);
}

/* ---- the nodes that are learnt from ---- */

/* About k of n numbers, ascending: one of each of k equal parts. */
static int64_t
draw_some(gp_trainer *t, int64_t n, int64_t k, uint64_t purpose, int32_t *out)
{
	uint64_t	seed = gp_trainer_seed(t, purpose, true);
	int64_t		count = 0;

	for (int64_t j = 0; j < k; j++)
	{
		double		at = (double) j + gp_element_uniform(seed, (uint64_t) j);
		int64_t		i = k == n ? j : (int64_t) (at * (double) n / (double) k);

		i = gp_min64(i, n - 1);
		if (count == 0 || i > out[count - 1])
			out[count++] = (int32_t) i;
	}
	return count;
}

int64_t
gp_gpsrf_batch(gp_gpsrf_learner *l, bool others)
{
	int32_t    *label = l->drawn;
	int32_t    *other = l->drawn + GP_GPSRF_BATCH;
	int64_t		most = gp_min64(GP_GPSRF_BATCH, l->x->rows);
	int64_t		nlabels = gp_min64(l->nlearnt, others ? gp_min64(MOST_LABELS, most) : most);
	int64_t		nothers = others ? most - nlabels : 0;
	int64_t		n = 0;
	int64_t		a = 0;

	if (l->env->dry)
	{
		n = nlabels + nothers;
		for (int64_t k = 0; k < n; k++)
			l->index[k] = (int32_t) (k * l->x->rows / n);
		need_some(l, n);
		plan_whole(l);
		return nlabels;
	}
	nlabels = draw_some(&l->t, l->nlearnt, nlabels, GP_GPSRF_DRAW_LABELS, label);
	nothers = draw_some(&l->t, l->x->rows, nothers, GP_GPSRF_DRAW_OTHERS, other);
	for (int64_t k = 0; k < nothers; k++)
	{
		while (a < nlabels && l->learnt[label[a]] < other[k])
			l->index[n++] = l->learnt[label[a++]];
		if (l->place[other[k]] < 0)
			l->index[n++] = other[k];
	}
	while (a < nlabels)
		l->index[n++] = l->learnt[label[a++]];
	for (int64_t k = 0; k < n; k++)
	{
		int32_t		at = l->place[l->index[k]];

		l->label[k] = at >= 0 && l->classes ? l->problem->label[at] : at;
	}
	need_some(l, n);
	return nlabels;
}
