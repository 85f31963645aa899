/*
 * deep_pairs.c - the posterior of pairs from the moments of their ends.
 *
 * With a mean mu and a variance v for each number of a node, and nodes independent,
 *
 *		E r = c + k sum_d mu_id mu_jd,  var r = k^2 sum_d (mu_id^2 v_jd + mu_jd^2 v_id + v_id v_jd),
 *
 * the readout's weights being worked into mu and v.  The score is the logit that such a normal
 * r stands for, E r / sqrt(1 + pi var r / 8) (MacKay 1992).
 */
#include "links/search/link_predict.h"

#include <math.h>

/* Mean and variance of an inner product. */
static void
product_moments(const gp_link_model *model, int32_t i, int32_t j, double *out, double *variance)
{
	int64_t		width = model->width;
	const float *a = model->row + i * width;
	const float *b = model->row + j * width;
	const float *u = model->row_variance + i * width;
	const float *v = model->row_variance + j * width;
	double		mean = 0.0;
	double		sum = 0.0;

	for (int64_t d = 0; d < width; d++)
	{
		mean += (double) a[d] * b[d];
		sum += (double) a[d] * a[d] * v[d] + ((double) b[d] * b[d] + v[d]) * u[d];
	}
	*variance = model->scale * model->scale * sum;
	*out = model->offset + model->scale * mean;
}

/* Score and variance of a pair; without directions the lesser end comes first, so that both ways round have the same bits. */
static void
moments(const gp_link_model *model, gp_link_reach *room, int32_t i, int32_t j, double *score, double *variance)
{
	bool		turn = !model->graph->directed && i > j;
	int32_t		first = turn ? j : i;
	int32_t		second = turn ? i : j;
	double		mean;

	if (model->point)
		gp_link_reach_moments(model, room, first, second, &mean, variance);
	else
		product_moments(model, first, second, &mean, variance);
	*score = mean / sqrt(1.0 + M_PI * *variance / 8.0);
}

/* The numbers that a pair takes. */
static int64_t
work_of(const gp_link_model *model)
{
	return model->width + model->points * (int64_t) model->width + model->m * model->m;
}

/* Score, variance and probability of pairs. */
void
gp_link_deep_posterior(gp_env *env, const gp_link_model *model, int64_t n, gp_link_row *row)
{
	gp_link_reach *room = gp_link_reach_open(env, model);
	int64_t		next = 0;

	for (int64_t e = 0; e < n; e++)
	{
		gp_poll(env, e * work_of(model), &next);
		moments(model, room, row[e].src, row[e].dst, &row[e].score, &row[e].variance);
		row[e].probability = 1.0 / (1.0 + exp(-(model->intercept + model->slope * row[e].score)));
	}
	gp_free(env, room);
}

/* What ranks pairs. */
void
gp_link_deep_means(gp_env *env, const gp_link_model *model, int64_t n, const gp_link_row *pair, double *mean)
{
	gp_link_reach *room = gp_link_reach_open(env, model);
	int64_t		next = 0;
	double		variance;

	for (int64_t e = 0; e < n; e++)
	{
		gp_poll(env, e * work_of(model), &next);
		moments(model, room, pair[e].src, pair[e].dst, &mean[e], &variance);
	}
	gp_free(env, room);
}

/* The numbers of an embedding. */
int32_t
gp_links_embedding_width(const gp_links *links)
{
	return links->model->method == GP_LINK_DEEP && links->model->point == NULL ? links->model->width : 0;
}

/* The embedding of a node: its means, scaled so that inner products are logits less the offset. */
void
gp_links_embedding(const gp_links *links, int64_t node, float *out)
{
	const gp_link_model *model = links->model;
	double		root = sqrt(model->scale);

	for (int32_t d = 0; d < model->width; d++)
		out[d] = (float) (root * model->row[node * model->width + d]);
}
