/*
 * deep_warm.c - what a deep Gaussian process of links leaves, and how the next one starts from it.
 *
 * The parameters are those from before the last steps, which learn from all links: of the links
 * that were hidden they know nothing, so that these tell the next training's figures, too.
 * Inputs are known but for a rotation; those of a sample of the nodes tell it.
 */
#include "deep_fit.h"

#include "base/sort.h"

#include <string.h>

#define SAMPLE 1024				/* nodes, about */
#define LEAST_HIDDEN 0.25		/* of the links that would be hidden else */

/* ---- hidden links ---- */

/* The key of a pair of nodes. */
static uint64_t
pair_key(const gp_link_problem *problem, int32_t src, int32_t dst)
{
	return gp_warm_pair(gp_warm_node(problem->key, src), gp_warm_node(problem->key, dst));
}

/* Lists the links of a graph that were hidden, or counts them where pairs have no room. */
static int64_t
list_hidden(gp_env *env, const gp_link_problem *problem, gp_link_pairs *pairs)
{
	const gp_graph *graph = problem->graph;
	const gp_warm *before = problem->warm;
	int64_t		n = 0;
	int64_t		next = 0;

	for (int32_t i = 0; i < graph->nodes; i++)
	{
		gp_poll(env, 8 * graph->start[i] + i, &next);
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
		{
			if (graph->col[k] <= i || gp_warm_find(before->held, before->nheld, pair_key(problem, i, graph->col[k])) < 0)
				continue;
			if (pairs && n < pairs->n)
			{
				pairs->src[n] = i;
				pairs->dst[n] = graph->col[k];
			}
			n++;
		}
	}
	return n;
}

/* The links that were hidden. */
gp_link_pairs
gp_deep_hidden_before(gp_env *env, const gp_link_problem *problem, int64_t wanted)
{
	gp_link_pairs pairs = {0};
	int64_t		n = list_hidden(env, problem, NULL);

	if (n == 0 || (double) n < LEAST_HIDDEN * (double) wanted)
		return pairs;
	pairs = gp_link_pairs_create(env, n);
	list_hidden(env, problem, &pairs);
	return pairs;
}

/* ---- inputs ---- */

/* True for a node of the sample: about so many, and the same ones in the next training. */
static bool
is_sampled(const gp_deep *d, int64_t node)
{
	double		place = (double) (gp_hash(~gp_warm_node(d->problem->key, node)) >> 11) / 9007199254740992.0;

	return place * (double) d->nodes < SAMPLE;
}

/* The nodes whose inputs were left, and where they stand there; returns how many. */
static int64_t
find_sample(const gp_deep *d, int32_t *node, int32_t *place)
{
	const gp_warm *before = d->before;
	int64_t		n = 0;
	int64_t		next = 0;

	for (int64_t i = 0; i < d->nodes && n < before->nsample; i++)
	{
		int64_t		at = gp_warm_find(before->sample, before->nsample, gp_warm_node(d->problem->key, i));

		gp_poll(d->env, i, &next);
		if (at < 0)
			continue;
		node[n] = (int32_t) i;
		place[n++] = (int32_t) at;
	}
	return n;
}

/* Turns inputs by so many nodes of the sample. */
static gp_matrix
turn_by(gp_deep *d, gp_matrix *q, int64_t n, const int32_t *node, const int32_t *place)
{
	gp_device  *dev = d->dev;
	const gp_warm *before = d->before;
	gp_matrix	left = dev->create(dev, before->nsample, before->inputs, GP_DOUBLE);
	gp_matrix	onto = dev->create(dev, n, before->inputs, GP_DOUBLE);
	gp_matrix	some = dev->create(dev, n, before->inputs, GP_DOUBLE);
	gp_matrix	out;

	dev->upload(dev, left, gp_matrix_wrap(before->input, before->nsample, before->inputs, GP_FLOAT));
	dev->gather_rows(dev, onto, left, place);
	dev->gather_rows(dev, some, *q, node);
	dev->destroy(dev, &left);
	out = gp_inputs_turn(dev, q, some, onto);
	dev->destroy(dev, &onto);
	dev->destroy(dev, &some);
	return out;
}

/* Inputs turned as those before. */
gp_matrix
gp_deep_turn(gp_deep *d, gp_matrix *q)
{
	const gp_warm *before = d->before;
	gp_matrix	out = *q;
	int32_t    *node;
	int32_t    *place;
	int64_t		n;

	if (before == NULL || before->inputs != q->cols)
		return out;
	node = gp_alloc_figures(d->env, before->nsample, sizeof(int32_t));
	place = gp_alloc_figures(d->env, before->nsample, sizeof(int32_t));
	n = d->env->dry ? before->nsample : find_sample(d, node, place);
	/* Fewer rows than columns tell no rotation. */
	if (n >= q->cols)
		out = turn_by(d, q, n, node, place);
	else
		d->before = NULL;
	gp_free(d->env, place);
	gp_free(d->env, node);
	return out;
}

/* ---- parameters ---- */

/* The inputs that are turned: of the features, or of the whole graph's walks. */
static gp_matrix
turned_inputs(const gp_deep *d)
{
	return gp_matrix_cols(d->input, 0, d->input.cols - 1);
}

/* Starts from what was left. */
void
gp_deep_start(gp_deep *d)
{
	const gp_warm *asked = d->options.warm ? d->problem->warm : NULL;

	if (d->before && (d->before->values != gp_trainer_values(&d->t) || d->before->inputs != d->input.cols - 1))
		d->before = NULL;
	if (d->before)
	{
		gp_trainer_start(&d->t, d->before, 0);
		d->options.steps = (d->options.steps + GP_WARM_SHARE - 1) / GP_WARM_SHARE;
	}
	else if (asked && !d->env->dry)
		gp_notice(d->env, NULL, "the training of links starts anew: features or most hidden links are other ones than before");
}

/* Writes the sample's keys in order, and its inputs. */
static void
leave_sample(gp_deep *d, gp_warm *left, const int32_t *node)
{
	gp_device  *dev = d->dev;
	gp_matrix	rows = dev->create(dev, left->nsample, left->inputs, GP_FLOAT);

	dev->gather_rows(dev, rows, turned_inputs(d), node);
	dev->download(dev, gp_matrix_wrap(left->input, left->nsample, left->inputs, GP_FLOAT), rows);
	dev->destroy(dev, &rows);
	for (int64_t k = 0; k < left->nsample && !d->env->dry; k++)
		left->sample[k] = gp_warm_node(d->problem->key, node[k]);
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

/* The sample's nodes in the order of their keys; returns how many, at most the room. */
static int64_t
draw_sample(const gp_deep *d, int64_t room, int32_t *node)
{
	sampled    *all = gp_alloc_figures(d->env, room, sizeof(sampled));
	int64_t		n = 0;
	int64_t		next = 0;

	for (int64_t i = 0; i < d->nodes && n < room && !d->env->dry; i++)
	{
		gp_poll(d->env, i, &next);
		if (is_sampled(d, i))
			all[n++] = (sampled) {gp_warm_node(d->problem->key, i), (int32_t) i};
	}
	if (!d->env->dry)
		gp_sort(d->env, all, n, sizeof(sampled), compare_sampled, NULL);
	for (int64_t k = 0; k < n; k++)
		node[k] = all[k].node;
	gp_free(d->env, all);
	return d->env->dry ? room : n;
}

/* By value. */
static int
compare_keys(const void *a, const void *b, void *unused)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* What is left. */
gp_warm *
gp_deep_leave(gp_deep *d, const gp_link_pairs *hidden, int64_t nhidden)
{
	gp_env	   *env = d->env;
	int64_t		room = gp_min64(d->nodes, 2 * SAMPLE);
	int32_t    *node = gp_alloc_figures(env, room, sizeof(int32_t));
	int64_t		n = draw_sample(d, room, node);
	gp_warm    *left = gp_warm_create(env, (gp_warm) {.sets = 1,.values = gp_trainer_values(&d->t),.nheld = nhidden,
	.nsample = n,.inputs = d->input.cols - 1});
	gp_warm		none = {.nsample = n,.inputs = d->input.cols - 1};

	leave_sample(d, env->dry ? &none : left, node);
	gp_trainer_leave(&d->t, left, 0);
	for (int64_t e = 0; e < nhidden && !env->dry; e++)
	{
		left->held[e] = pair_key(d->problem, hidden->src[e], hidden->dst[e]);
		left->part[e] = 0;
	}
	if (!env->dry)
		gp_sort(env, left->held, nhidden, sizeof(uint64_t), compare_keys, NULL);
	gp_free(env, node);
	return left;
}
