/*
 * explain_task.c - which relations, and which aggregates of them, make the score of an entity.
 *
 * The blocks of columns are taken in one after the other, each order and its reverse, from none of
 * them to all: what each adds, averaged over the orders, adds up to the score (Shapley 1953, by a
 * sample of orders).  A block that is not taken in stands at its mean, 0.
 */
#include "postgres.h"

#include "pg/server/server.h"
#include "live_common.h"

#define ORDERS 8				/* and their reverses */

/* The rows of all orders: none of the blocks, then one more each. */
static gp_features *
make_rows(gp_env *env, const gp_facts_scale *scale, const gp_features *one, int32 *order)
{
	int32		n = scale->nblocks;
	int64		rows = (int64) 2 * ORDERS * (n + 1);
	gp_features *x = gp_alloc_zero(env, 1, sizeof(gp_features));
	float	   *dense = gp_alloc_zero(env, rows * one->dims, sizeof(float));
	int32	   *place = palloc(sizeof(int32) * Max(n, 1));

	*x = (gp_features) {.rows = rows,.dims = one->dims,.type = GP_FLOAT,.dense = dense};
	for (int o = 0; o < 2 * ORDERS; o++)
	{
		gnngp_part *drawn = palloc(sizeof(gnngp_part) * n);

		for (int32 b = 0; b < n; b++)
			drawn[b] = (gnngp_part) {b, (double) (gp_hash(((uint64) o / 2 << 32) + b) >> 11)};
		gnngp_sort(drawn, n, sizeof(gnngp_part), gnngp_part_compare, NULL);
		for (int32 b = 0; b < n; b++)
			order[o * n + (o % 2 ? n - 1 - b : b)] = (int32) drawn[b].number;
		pfree(drawn);
		for (int32 k = 0; k < n; k++)
			place[order[o * n + k]] = k;
		for (int32 j = 0; j <= n; j++)
		{
			float	   *row = dense + ((int64) o * (n + 1) + j) * one->dims;
			int64		at = 0;

			CHECK_FOR_INTERRUPTS();
			for (int32 c = 0; c < scale->width; c++)
				if (scale->column[c].deviation > 0.0)
				{
					if (place[scale->column[c].block] < j)
						row[at] = ((const float *) one->dense)[at];
					at++;
				}
		}
	}
	return x;
}

void
gnngp_task_explain(gnngp_live_call *c,
				   int32 (*column_of) (const gnngp_live_call *c, const gp_live_answer *a),
				   int32 *column, gnngp_task_share **shares, double *score)
{
	const gnngp_task_state *state = c->live->task;
	const gp_facts_scale *scale = &state->columns.scale;
	int32		n = scale->nblocks;
	int32	   *order = palloc(sizeof(int32) * 2 * ORDERS * Max(n, 1));
	gnngp_part *block = palloc0(sizeof(gnngp_part) * Max(n, 1));
	gp_live_question q = gnngp_task_question(c, strcmp(c->graph->task.form, "column") == 0 ?
											 GP_TIME_NEVER : state->columns.newest);
	gp_live_answer one;
	gp_live_answer all;

	if (c->nodes.n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the node is not there yet as of the newest fact"),
				 errhint("Name an entity that gp_predict returns.")));
	one = gp_live_ask(gnngp_live_call_device(c), &q);
	*column = column_of(c, &one);
	*score = one.mean[*column];
	gnngp_task_ask_rows(c, &q, make_rows(c->env, scale, q.features, order));
	all = gp_live_ask(gnngp_live_call_device(c), &q);
	for (int32 b = 0; b < n; b++)
		block[b].number = b;
	for (int o = 0; o < 2 * ORDERS; o++)
		for (int32 k = 0; k < n; k++)
		{
			int64		row = (int64) o * (n + 1) + k;

			block[order[o * n + k]].share += (all.mean[(row + 1) * all.columns + *column] -
											  all.mean[row * all.columns + *column]) / (2 * ORDERS);
		}
	gnngp_sort(block, n, sizeof(gnngp_part), gnngp_part_compare, NULL);
	*shares = palloc0(sizeof(gnngp_task_share) * Max(n, 1));
	for (int32 b = 0; b < n; b++)
		(*shares)[b] = (gnngp_task_share) {scale->relation[block[b].number],
										   scale->aggregate[block[b].number], block[b].share};
}
