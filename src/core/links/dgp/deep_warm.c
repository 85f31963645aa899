/*
 * deep_warm.c - what a deep Gaussian process of links leaves, and how the next one starts from it.
 *
 * The parameters are those from before the last steps, which learn from all links: of the links
 * that were hidden they know nothing, so that these give the next training's figures, too.
 * Inputs are known but for a rotation; those of a sample of the nodes determine it.
 */
#include "dgp.h"

#include "base/sort.h"

#define SAMPLE 1024				/* nodes, about */
#define LEAST_HIDDEN 0.25		/* of the links that would be hidden else */

/* The key of a pair of nodes. */
static uint64_t
pair_key(const gp_link_problem *problem, int32_t src, int32_t dst)
{
	return gp_warm_pair(gp_warm_node(problem->key, src), gp_warm_node(problem->key, dst));
}

gp_link_pairs
gp_deep_hidden_before(gp_env *env, const gp_link_problem *problem, int64_t wanted)
{
	const gp_graph *graph = problem->graph;
	const gp_warm *before = problem->warm;
	gp_link_pairs pairs = gp_link_pairs_create(env, before->nheld);
	int64_t		n = 0;

	GP_EACH(env, i, graph->nodes, 8 * graph->start[i] + i)
		for (int64_t k = graph->start[i]; k < graph->start[i + 1] && n < before->nheld; k++)
			if (graph->col[k] > i &&
				gp_warm_find(before->held, before->nheld, pair_key(problem, (int32_t) i, graph->col[k])) >= 0)
			{
				pairs.src[n] = (int32_t) i;
				pairs.dst[n++] = graph->col[k];
			}
	pairs.n = n;
	if (n == 0 || (double) n < LEAST_HIDDEN * (double) wanted)
		gp_link_pairs_free(env, &pairs);
	return pairs;
}

gp_matrix
gp_deep_turn(gp_deep *d, gp_matrix *q)
{
	gp_device  *dev = d->dev;
	const gp_warm *before = d->before;
	gp_matrix	out = *q;
	int32_t    *node;
	int32_t    *at;
	int64_t		n = 0;

	if (before == NULL || before->inputs != q->cols)
		return out;
	/* the nodes whose inputs were left, and where these are there */
	node = gp_alloc_figures(d->env, before->nsample, sizeof(int32_t));
	at = gp_alloc_figures(d->env, before->nsample, sizeof(int32_t));
	GP_EACH(d->env, i, gp_items(d->env, d->nodes), i)
	{
		int64_t		found = n < before->nsample ?
			gp_warm_find(before->sample, before->nsample, gp_warm_node(d->problem->key, i)) : -1;

		if (found < 0)
			continue;
		node[n] = (int32_t) i;
		at[n++] = (int32_t) found;
	}
	if (d->env->dry)
		n = before->nsample;
	/* fewer rows than columns determine no rotation */
	if (n >= q->cols)
	{
		gp_matrix	left = dev->create(dev, before->nsample, before->inputs, GP_DOUBLE);
		gp_matrix	onto = dev->create(dev, n, before->inputs, GP_DOUBLE);
		gp_matrix	some = dev->create(dev, n, before->inputs, GP_DOUBLE);

		dev->upload(dev, left, gp_matrix_wrap(before->input, before->nsample, before->inputs, GP_FLOAT));
		dev->gather_rows(dev, onto, left, at);
		dev->gather_rows(dev, some, *q, node);
		dev->destroy(dev, &left);
		out = gp_inputs_turn(dev, q, some, onto);
		dev->destroy(dev, &some);
		dev->destroy(dev, &onto);
	}
	else
		d->before = NULL;
	gp_free(d->env, at);
	gp_free(d->env, node);
	return out;
}

void
gp_deep_start(gp_deep *d)
{
	bool		asked = d->options.warm && d->problem->warm;

	if (d->before && (d->before->values != gp_trainer_values(&d->t) || d->before->inputs != d->input.cols - 1))
		d->before = NULL;
	if (d->before)
	{
		gp_trainer_start(&d->t, d->before, 0);
		d->options.steps = (d->options.steps + GP_WARM_SHARE - 1) / GP_WARM_SHARE;
	}
	else if (asked && !d->env->dry)
		gp_notice(d->env, NULL, "the training of links starts over: the features or most hidden "
								"links have changed");
}

/* A node of the sample. */
typedef struct sampled
{
	uint64_t	key;
	int32_t		node;
} sampled;

/* By key. */
static int
compare_sampled(const void *a, const void *b, void *unused)
{
	const sampled *x = a;
	const sampled *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->node - y->node;
}

/* By value. */
static int
compare_keys(const void *a, const void *b, void *unused)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

gp_warm *
gp_deep_leave(gp_deep *d, const gp_link_pairs *hidden, int64_t nhidden)
{
	gp_env	   *env = d->env;
	int64_t		room = gp_min64(d->nodes, 2 * SAMPLE);
	int64_t		inputs = d->input.cols - 1;	/* that are turned: all but the degrees */
	int32_t    *node = gp_alloc_figures(env, room, sizeof(int32_t));
	sampled    *all = gp_alloc_figures(env, room, sizeof(sampled));
	int64_t		n = 0;
	gp_matrix	rows;
	gp_warm    *left;

	/* about SAMPLE nodes by their keys' hashes: the same ones in the next training */
	GP_EACH(env, i, gp_items(env, d->nodes), i)
	{
		uint64_t	key = gp_warm_node(d->problem->key, i);

		if (n < room && (double) (gp_hash(~key) >> 11) / 9007199254740992.0 * (double) d->nodes < SAMPLE)
			all[n++] = (sampled) {key, (int32_t) i};
	}
	if (env->dry)
		n = room;
	else
		gp_sort(env, all, n, sizeof(sampled), compare_sampled, NULL);
	for (int64_t k = 0; k < gp_items(env, n); k++)
		node[k] = all[k].node;
	left = gp_warm_create(env, (gp_warm) {.sets = 1,.values = gp_trainer_values(&d->t),.nheld = nhidden,
	.nsample = n,.inputs = inputs});
	rows = d->dev->create(d->dev, n, inputs, GP_FLOAT);
	d->dev->gather_rows(d->dev, rows, gp_matrix_cols(d->input, 0, inputs), node);
	d->dev->download(d->dev, gp_matrix_wrap(env->dry ? NULL : left->input, n, inputs, GP_FLOAT), rows);
	d->dev->destroy(d->dev, &rows);
	for (int64_t k = 0; k < gp_items(env, n); k++)
		left->sample[k] = all[k].key;
	gp_trainer_leave(&d->t, left, 0);
	for (int64_t e = 0; e < gp_items(env, nhidden); e++)
	{
		left->held[e] = pair_key(d->problem, hidden->src[e], hidden->dst[e]);
		left->part[e] = 0;
	}
	if (!env->dry)
		gp_sort(env, left->held, nhidden, sizeof(uint64_t), compare_keys, NULL);
	gp_free(env, all);
	gp_free(env, node);
	return left;
}
