/*
 * link_tail.c - the last product of a block, in the rows that somebody asks for.
 *
 * The pairs of a block end in few nodes, compared with all.  Products that lead
 * on need every row, but the last one only these.
 */
#include "link_scores.h"

#define SELECT_COST 4			/* picking an entry out, in units of multiplying with it */

/* The distinct targets, ascending, and where each pair's stands among them. */
gp_link_tail
gp_link_tail_make(gp_link_frame *f, const gp_link_block *block)
{
	gp_env	   *env = f->env;
	gp_link_tail tail = {0, NULL, NULL, false};
	int32_t    *place = gp_alloc_zero(env, f->n, sizeof(int32_t));
	int64_t		next = 0;
	int64_t		entries = 0;

	tail.at = gp_alloc_array(env, block->n, sizeof(int32_t));
	for (int64_t e = 0; e < block->n; e++)
		place[block->dst[e]] = 1;
	for (int64_t i = 0; i < f->n; i++)
		tail.n += place[i];
	tail.node = gp_alloc_array(env, tail.n, sizeof(int32_t));
	for (int64_t i = 0, k = 0; i < f->n; i++)
		if (place[i])
		{
			entries += f->weights->start[i + 1] - f->weights->start[i];
			tail.node[k] = (int32_t) i;
			place[i] = (int32_t) k++;
		}
	for (int64_t e = 0; e < block->n; e++)
	{
		gp_look(env, e, &next);
		tail.at[e] = place[block->dst[e]];
	}
	tail.few = SELECT_COST * entries < gp_csr_entries(f->weights);
	gp_free(env, place);
	return tail;
}

/* Frees it. */
void
gp_link_tail_free(gp_env *env, gp_link_tail *tail)
{
	gp_free(env, tail->node);
	gp_free(env, tail->at);
}

/* The entries of s b at the block's pairs. */
void
gp_link_last_product(gp_link_frame *f, const gp_link_block *block, const gp_csr *s, gp_matrix b,
					 double *out)
{
	gp_device  *dev = f->dev;
	const gp_link_tail *tail = block->tail;
	gp_csr	   *rows;
	gp_matrix	c;

	if (!tail->few)
	{
		c = gp_link_lend(f, s->rows, b.cols, b.type);
		dev->spmm(dev, 1.0, s, b, 0.0, c);
		dev->take(dev, c, block->n, block->dst, block->slot, out);
		gp_link_give_back(f, &c);
		return;
	}
	rows = gp_csr_select(f->env, s, tail->node, tail->n, NULL, s->cols);
	c = gp_link_lend(f, tail->n, b.cols, b.type);
	dev->spmm(dev, 1.0, rows, b, 0.0, c);
	dev->take(dev, c, block->n, tail->at, block->slot, out);
	gp_link_give_back(f, &c);
	gp_csr_free(f->env, rows);
}
