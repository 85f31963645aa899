/*
 * dgp_logit_score.c - the logit of a deep Gaussian process as one of the scores of a pair.
 *
 * It is fitted anew to the graph of each fold, so that what the fold hides stays hidden, and to the whole graph at last.
 * What is kept of it are the means of the nodes.
 */
#include "links/links_internal.h"

#include <math.h>
#include <string.h>

/* The means, scaled so that inner products are logits but for a constant, which stands behind them. */
static float *
keep_means(gp_env *env, const gp_link_model *model, int64_t nodes)
{
	int64_t		n = (int64_t) gp_size_mul(env, nodes, model->width);
	float	   *place = gp_alloc_array(env, n + 1, sizeof(float));
	double		root = sqrt(model->scale);
	int64_t		next = 0;

	for (int64_t k = 0; k < n; k++)
	{
		gp_poll(env, k, &next);
		place[k] = (float) (root * model->row[k]);
	}
	place[n] = (float) model->offset;
	return place;
}

/* Fits it. */
float *
gp_link_deep_place(gp_device *dev, const gp_link_problem *problem, const gp_graph *graph, int32_t *width)
{
	gp_link_problem deep = *problem;
	gp_dgp		options = *problem->deep;
	gp_link_model *model = gp_alloc_zero(dev->env, 1, sizeof(gp_link_model));
	float	   *place;

	options.warm = 0;
	deep.graph = graph;
	deep.method = GP_LINK_DEEP;
	deep.deep = &options;
	deep.warm = NULL;
	model->method = GP_LINK_DEEP;
	model->graph = graph;
	gp_link_deep_fit(dev, &deep, model);
	place = keep_means(dev->env, model, graph->nodes);
	*width = model->width;
	gp_link_model_free(dev->env, model);
	return place;
}

/* What it says of a pair. */
double
gp_link_place_logit(const float *place, int32_t width, int64_t nodes, int32_t i, int32_t j)
{
	const float *a = place + (int64_t) i * width;
	const float *b = place + (int64_t) j * width;
	double		sum = place[nodes * width];

	for (int32_t d = 0; d < width; d++)
		sum += (double) a[d] * b[d];
	return sum;
}
