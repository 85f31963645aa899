/*
 * link_predict.c - the posterior of pairs from a stored model.
 *
 * Candidates are ranked by logits in float; the rows returned have logits and variances in double.
 */
#include "candidates.h"
#include "link_predict.h"

#define POSTERIOR_ROWS 256		/* pairs whose basis functions are held at once, in double */
#define MEAN_ROWS 256			/* the same in float; what fits the cache */
#define CHUNK_ROWS 65536		/* pairs whose scores are held at once */

gp_links *
gp_links_open(gp_device *dev, const gp_link_model *model)
{
	gp_links   *l = gp_alloc_zero(dev->env, 1, sizeof(gp_links));
	bool		scores = gp_link_has_scores(model->method);
	int64_t		p = gp_link_model_functions(model);

	l->dev = dev;
	l->env = dev->env;
	l->model = model;
	if (model->method == GP_LINK_DGP)
		return l;
	l->alpha = gp_upload(dev, gp_matrix_wrap(model->alpha, p, 1, GP_DOUBLE), GP_DOUBLE);
	l->root = gp_upload(dev, gp_matrix_wrap(model->root, p, p, GP_FLOAT), GP_DOUBLE);
	if (!scores)
		return l;
	if (model->method == GP_LINK_EASE)
		gp_link_context_open_ease(&l->context, dev, model->graph, NULL, model);
	else
		gp_link_context_open(&l->context, dev, model->graph, model->features, model->steps,
							 model);
	l->z = (gp_matrix) {.type = GP_DOUBLE};
	l->rough_z = (gp_matrix) {.type = GP_FLOAT};
	l->rough_alpha = gp_copy(dev, l->alpha, GP_FLOAT);
	if (model->scores.landmarks == 0)
		return l;
	l->z = gp_upload(dev, gp_matrix_wrap(model->scores.landmark, model->scores.landmarks,
										 model->scores.width, GP_FLOAT), GP_DOUBLE);
	l->rough_z = gp_copy(dev, l->z, GP_FLOAT);
	return l;
}

void
gp_links_close(gp_links *l)
{
	gp_device  *dev = l->dev;

	if (l->search)
		gp_link_search_close(l->search);
	if (gp_link_has_scores(l->model->method))
		gp_link_context_close(&l->context);
	gp_destroy_all(dev, &l->alpha, &l->root, &l->z, &l->rough_z, &l->rough_alpha);
	gp_free(l->env, l);
}

/* The basis functions of pairs: from their scores, in the type of z, or from their ends. */
static gp_matrix
pair_functions(gp_links *l, int64_t n, const double *score, const gp_link_row *pair, gp_matrix z)
{
	const gp_link_model *model = l->model;

	if (gp_link_has_scores(model->method))
		return gp_link_basis(l->dev, n, model->scores.width, score, model->scores.centre,
							 model->scores.deviation, z);
	gp_matrix	psi = l->dev->create(l->dev, n, model->inducing.n, GP_DOUBLE);
	gp_link_pairs ends = gp_link_pairs_create(l->env, n);
	for (int64_t e = 0; e < n; e++)
		gp_link_pairs_add(&ends, pair[e].src, pair[e].dst);
	gp_link_pairs_kernel(l->dev, model, n, ends.src, ends.dst, psi);
	gp_link_pairs_free(l->env, &ends);
	return psi;
}

/*
 * The basis functions of a band of pairs by z, and their logits, which the weights alpha make of
 * them.
 */
static gp_matrix
pair_logits(gp_links *l, const gp_band *band, const double *score, const gp_link_row *row,
			gp_matrix z, gp_matrix alpha, double *logit)
{
	gp_device  *dev = l->dev;
	gp_matrix	psi = pair_functions(l, band->count, score ? score + band->first *
									 l->model->scores.width : NULL, row + band->first, z);
	gp_matrix	sum = dev->create(dev, band->count, 1, psi.type);

	dev->gemm(dev, false, false, 1.0, psi, alpha, 0.0, sum);
	dev->download(dev, gp_matrix_wrap(logit, band->count, 1, GP_DOUBLE), sum);
	dev->destroy(dev, &sum);
	return psi;
}

void
gp_links_posterior(gp_links *l, int64_t n, const double *score, gp_link_row *out)
{
	gp_device  *dev = l->dev;
	const gp_link_model *model = l->model;
	double		logit[POSTERIOR_ROWS];

	if (model->method == GP_LINK_DGP)
	{
		gp_link_dgp_posterior(l->env, model, n, out);
		return;
	}
	for (gp_band band = gp_band_first(n, POSTERIOR_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_link_row *row = out + band.first;
		gp_matrix	psi = pair_logits(l, &band, score, out, l->z, l->alpha, logit);
		gp_matrix	rooted = dev->create(dev, band.count, psi.cols, GP_DOUBLE);

		dev->gemm(dev, false, false, 1.0, psi, l->root, 0.0, rooted);
		double	   *variance = gp_row_products(dev, rooted, rooted);

		for (int64_t e = 0; e < gp_items(l->env, band.count); e++)
		{
			row[e].score = logit[e];
			row[e].variance = variance[e];
			row[e].probability = gp_link_probability(&model->curve, logit[e]);
		}
		gp_free(l->env, variance);
		gp_destroy_all(dev, &psi, &rooted);
	}
}

void
gp_links_means(gp_links *l, int64_t n, const double *score, gp_link_row *row, double *mean)
{
	bool		scores = gp_link_has_scores(l->model->method);

	if (l->model->method == GP_LINK_DGP)
	{
		gp_link_dgp_posterior(l->env, l->model, n, row);
		for (int64_t e = 0; e < n; e++)
			mean[e] = row[e].score;
		return;
	}
	for (gp_band band = gp_band_first(n, MEAN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	psi = pair_logits(l, &band, score, row, l->rough_z,
									  scores ? l->rough_alpha : l->alpha, mean + band.first);

		l->dev->destroy(l->dev, &psi);
	}
}

void
gp_links_score(gp_links *l, int64_t n, const int32_t *src, const int32_t *dst, gp_link_row *out)
{
	gp_band		band = gp_band_first(n, CHUNK_ROWS);
	double	   *score = NULL;

	if (gp_link_has_scores(l->model->method))
		score = gp_alloc_array(l->env, band.count * l->model->scores.width, sizeof(double));
	if (l->context.items)
		gp_link_ease_expect(&l->context, n);
	for (; band.count > 0; gp_band_next(&band))
	{
		l->env->progress(l->env, GP_PHASE_PAIRS, band.first, n);
		for (int64_t e = band.first; e < band.first + band.count; e++)
			out[e] = (gp_link_row) {.src = src[e], .dst = dst[e]};
		if (score)
			gp_link_pair_scores(&l->context, band.count, src + band.first, dst + band.first, score);
		gp_links_posterior(l, band.count, score, out + band.first);
	}
	gp_free(l->env, score);
}

/* ---- embeddings ---- */

int32_t
gp_links_embedding_width(const gp_links *links)
{
	return links->model->method == GP_LINK_DGP && links->model->dgp.point == NULL ?
		links->model->node.width : 0;
}

void
gp_links_embedding(const gp_links *links, int64_t node, float *out)
{
	const gp_link_model *model = links->model;
	double		root = sqrt(model->dgp.scale);

	for (int32_t d = 0; d < model->node.width; d++)
		out[d] = (float) (root * model->node.row[node * model->node.width + d]);
}
