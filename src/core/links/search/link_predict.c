/*
 * link_predict.c - the posterior of pairs from a stored model.
 *
 * Means are computed in double; variances in float, whose error is then below a
 * hundredth of them, and again in double where it would not be.  Ranking the
 * candidates of a node takes sieves of few rows first and the Gaussian process in
 * float then, so that only the rows returned cost a variance.
 */
#include "link_predict.h"

#include <math.h>

#define POSTERIOR_ROWS 512		/* pairs whose covariances are held at once, in double */
#define MEAN_ROWS 256			/* the same in float; what fits the cache */
#define CHUNK_ROWS 65536		/* pairs whose scores are held at once */
#define SURE_SHARE 1e-4			/* of a covariance: below, float leaves less than two digits of the variance */

/* What the observations take off a variance. */
static void
open_root(gp_links *l)
{
	gp_device  *dev = l->dev;
	const gp_link_model *m = l->model;
	int64_t		size = gp_link_root_size(m->m);

	if (m->lean)
	{
		l->few = gp_link_lean_open(dev, m->m, m->directions, m->lean);
		return;
	}
	l->root = dev->create(dev, size, 1, GP_FLOAT);
	dev->upload(dev, l->root, gp_matrix_wrap(m->root, size, 1, GP_FLOAT));
}

/* The rows of the sieves and their weights. */
static void
open_sieves(gp_links *l)
{
	gp_device  *dev = l->dev;
	const gp_link_model *m = l->model;
	int64_t		weights = gp_link_sieve_weights(m->sieve);

	l->sieve_z = dev->create(dev, m->sieve, m->width, GP_FLOAT);
	dev->gather_rows(dev, l->sieve_z, l->rough_z, m->sieve_row);
	l->sieve_weight = dev->create(dev, weights, 1, GP_FLOAT);
	dev->upload(dev, l->sieve_weight, gp_matrix_wrap(m->sieve_weight, weights, 1, GP_DOUBLE));
}

/* Makes a model ready. */
gp_links *
gp_links_open(gp_device *dev, const gp_link_model *model)
{
	gp_links   *l = gp_alloc_zero(dev->env, 1, sizeof(gp_links));

	l->dev = dev;
	l->env = dev->env;
	l->model = model;
	if (model->method == GP_LINK_DEEP)
		return l;
	l->alpha = dev->create(dev, model->m, 1, GP_DOUBLE);
	dev->upload(dev, l->alpha, gp_matrix_wrap(model->alpha, model->m, 1, GP_DOUBLE));
	open_root(l);
	if (model->method == GP_LINK_PAIRS)
		return l;
	gp_link_frame_open(&l->frame, dev, model->graph, model->features, model->steps,
					   model->powers, model);
	gp_link_frame_place(&l->frame, model->place, model->place_width);
	l->z = dev->create(dev, model->m, model->width, GP_DOUBLE);
	dev->upload(dev, l->z, gp_matrix_wrap(model->row, model->m, model->width, GP_FLOAT));
	l->rough_z = dev->create(dev, model->m, model->width, GP_FLOAT);
	dev->copy(dev, l->rough_z, l->z);
	l->rough_alpha = dev->create(dev, model->m, 1, GP_FLOAT);
	dev->copy(dev, l->rough_alpha, l->alpha);
	if (model->sieve > 0)
		open_sieves(l);
	return l;
}

/* Frees it. */
void
gp_links_close(gp_links *l)
{
	gp_device  *dev = l->dev;

	if (l->search)
		gp_link_search_close(l->search);
	gp_link_local_free(l->env, l->local);
	gp_csr_free(l->env, l->neighbours);
	if (l->model->method == GP_LINK_SCORES)
		gp_link_frame_close(&l->frame);
	dev->destroy(dev, &l->alpha);
	dev->destroy(dev, &l->root);
	gp_link_lean_close(dev, &l->few);
	dev->destroy(dev, &l->z);
	dev->destroy(dev, &l->rough_z);
	dev->destroy(dev, &l->rough_alpha);
	dev->destroy(dev, &l->sieve_z);
	dev->destroy(dev, &l->sieve_weight);
	gp_free(l->env, l);
}

/* L^-1 k of each row of k, which becomes it. */
static void
solve_rows(gp_links *l, gp_matrix rows)
{
	gp_device  *dev = l->dev;
	gp_matrix	turned = dev->create(dev, rows.cols, rows.rows, rows.type);

	dev->transpose(dev, turned, rows);
	gp_link_root_solve(dev, l->root, turned);
	dev->transpose(dev, rows, turned);
	dev->destroy(dev, &turned);
}

/* |L^-1 k|^2 of each row of k, or nearly that, computed in a type: the part of its variance that the regression explains. */
static void
explained(gp_links *l, gp_matrix k, gp_type type, double *out)
{
	gp_device  *dev = l->dev;
	gp_matrix	rows;
	gp_matrix	sum;

	if (l->model->lean)
	{
		gp_link_lean_explained(dev, &l->few, k, type, out);
		return;
	}
	rows = dev->create(dev, k.rows, k.cols, type);
	sum = dev->create(dev, k.rows, 1, GP_DOUBLE);
	dev->copy(dev, rows, k);
	solve_rows(l, rows);
	dev->row_dots(dev, sum, rows, rows);
	dev->download(dev, gp_matrix_wrap(out, k.rows, 1, GP_DOUBLE), sum);
	dev->destroy(dev, &rows);
	dev->destroy(dev, &sum);
}

/* Explains rows again in double where float has left too few digits of the variance. */
static void
explain_again(gp_links *l, gp_matrix k, const double *variance, double *part)
{
	gp_device  *dev = l->dev;
	int32_t    *index = gp_alloc_array(l->env, k.rows, sizeof(int32_t));
	double	   *again = gp_alloc_array(l->env, k.rows, sizeof(double));
	int64_t		n = 0;

	for (int64_t e = 0; e < k.rows; e++)
		if (!(variance[e] - part[e] > SURE_SHARE * variance[e]))
			index[n++] = (int32_t) e;
	if (n > 0)
	{
		gp_matrix	some = dev->create(dev, n, k.cols, GP_DOUBLE);

		dev->gather_rows(dev, some, k, index);
		explained(l, some, GP_DOUBLE, again);
		dev->destroy(dev, &some);
	}
	for (int64_t e = 0; e < n; e++)
		part[index[e]] = again[e];
	gp_free(l->env, index);
	gp_free(l->env, again);
}

/* Writes score, variance and probability of rows whose covariances with the regression's are k. */
static void
write_posterior(gp_links *l, gp_matrix k, const double *variance, gp_link_row *out)
{
	gp_device  *dev = l->dev;
	const gp_link_model *model = l->model;
	gp_matrix	sum = dev->create(dev, k.rows, 1, GP_DOUBLE);
	double	   *host = gp_alloc_array(l->env, k.rows, sizeof(double));

	dev->gemm(dev, false, false, 1.0, k, l->alpha, 0.0, sum);
	dev->download(dev, gp_matrix_wrap(host, k.rows, 1, GP_DOUBLE), sum);
	for (int64_t e = 0; e < k.rows; e++)
	{
		out[e].score = model->offset + host[e];
		out[e].probability = 1.0 / (1.0 + exp(-(model->intercept + model->slope * out[e].score)));
	}
	explained(l, k, GP_FLOAT, host);
	explain_again(l, k, variance, host);
	for (int64_t e = 0; e < k.rows; e++)
		out[e].variance = fmax(model->scale * (variance[e] - host[e]), 0.0);
	gp_free(l->env, host);
	dev->destroy(dev, &sum);
}

/*
 * The covariances of pairs with the regression's rows, in double, from their scores, or from
 * the pairs themselves; and their variances, which of the method pairs may be NULL.
 */
static void
pair_covariances(gp_links *l, int64_t n, const double *score, const gp_link_row *pair, gp_matrix k,
				 double *variance)
{
	gp_device  *dev = l->dev;
	const gp_link_model *model = l->model;

	if (model->method == GP_LINK_SCORES)
	{
		gp_matrix	z = gp_link_standardise(dev, n, model->width, score, model->centre,
											model->spread, GP_DOUBLE);
		gp_matrix	own = dev->create(dev, n, 1, GP_DOUBLE);

		gp_link_cross_covariance(dev, z, l->z, k, own);
		dev->download(dev, gp_matrix_wrap(variance, n, 1, GP_DOUBLE), own);
		dev->destroy(dev, &z);
		dev->destroy(dev, &own);
	}
	else
	{
		gp_link_pairs ends = gp_link_pairs_create(l->env, n);

		for (int64_t e = 0; e < n; e++)
		{
			ends.src[e] = pair[e].src;
			ends.dst[e] = pair[e].dst;
		}
		gp_link_pairs_kernel(dev, model, n, ends.src, ends.dst, k, variance);
		gp_link_pairs_free(l->env, &ends);
	}
}

/* The posterior of pairs whose ends are set; score is unused by the method pairs. */
void
gp_links_posterior(gp_links *l, int64_t n, const double *score, gp_link_row *out)
{
	gp_device  *dev = l->dev;
	double	   *variance;

	if (l->model->method == GP_LINK_DEEP)
	{
		gp_link_deep_posterior(l->env, l->model, n, out);
		return;
	}
	variance = gp_alloc_array(l->env, POSTERIOR_ROWS, sizeof(double));
	for (gp_band band = gp_band_first(n, POSTERIOR_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	k = dev->create(dev, band.count, l->model->m, GP_DOUBLE);

		pair_covariances(l, band.count, score ? score + band.first * l->model->width : NULL,
						 out + band.first, k, variance);
		write_posterior(l, k, variance, out + band.first);
		dev->destroy(dev, &k);
	}
	gp_free(l->env, variance);
}

/* Means of rows of scores by some rows of the regression, up to a constant, in float. */
static void
rough_means(gp_links *l, gp_matrix z, gp_matrix weight, int64_t n, const double *score, double *mean)
{
	gp_device  *dev = l->dev;
	const gp_link_model *m = l->model;

	for (gp_band band = gp_band_first(n, MEAN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	k = dev->create(dev, band.count, z.rows, GP_FLOAT);
		gp_matrix	own = dev->create(dev, band.count, 1, GP_DOUBLE);
		gp_matrix	out = dev->create(dev, band.count, 1, GP_FLOAT);
		gp_matrix	asked = gp_link_standardise(dev, band.count, m->width, score + band.first * m->width, m->centre, m->spread,
												GP_FLOAT);

		gp_link_cross_covariance(dev, asked, z, k, own);
		dev->gemm(dev, false, false, 1.0, k, weight, 0.0, out);
		dev->download(dev, gp_matrix_wrap(mean + band.first, band.count, 1, GP_DOUBLE), out);
		dev->destroy(dev, &asked);
		dev->destroy(dev, &out);
		dev->destroy(dev, &own);
		dev->destroy(dev, &k);
	}
}

/* Means of pairs of nodes up to a constant, in double. */
static void
pair_means(gp_links *l, int64_t n, const gp_link_row *pair, double *mean)
{
	gp_device  *dev = l->dev;

	for (gp_band band = gp_band_first(n, MEAN_ROWS); band.count > 0; gp_band_next(&band))
	{
		gp_matrix	k = dev->create(dev, band.count, l->model->m, GP_DOUBLE);
		gp_matrix	out = dev->create(dev, band.count, 1, GP_DOUBLE);

		pair_covariances(l, band.count, NULL, pair + band.first, k, NULL);
		dev->gemm(dev, false, false, 1.0, k, l->alpha, 0.0, out);
		dev->download(dev, gp_matrix_wrap(mean + band.first, band.count, 1, GP_DOUBLE), out);
		dev->destroy(dev, &k);
		dev->destroy(dev, &out);
	}
}

/* Means of pairs up to a constant, for ranking: of the method scores in float. */
void
gp_links_means(gp_links *l, int64_t n, const double *score, const gp_link_row *pair, double *mean)
{
	if (l->model->method == GP_LINK_DEEP)
		gp_link_deep_means(l->env, l->model, n, pair, mean);
	else if (l->model->method == GP_LINK_SCORES)
		rough_means(l, l->rough_z, l->rough_alpha, n, score, mean);
	else
		pair_means(l, n, pair, mean);
}

/* The same nearly, by few rows. */
void
gp_links_sieve(gp_links *l, int sieve, int64_t n, const double *score, double *mean)
{
	int32_t		taken = l->model->sieve;
	int32_t		rows = gp_link_sieve_rows(sieve, taken);
	int64_t		first = 0;

	for (int s = 0; s < sieve; s++)
		first += gp_link_sieve_rows(s, taken);
	rough_means(l, gp_matrix_rows(l->sieve_z, 0, rows), gp_matrix_rows(l->sieve_weight, first, rows), n, score, mean);
}

/* Scores n pairs, existing links on the graph without them. */
void
gp_links_score(gp_links *l, int64_t n, const int32_t *src, const int32_t *dst, gp_link_row *out)
{
	gp_band		band = gp_band_first(n, CHUNK_ROWS);
	double	   *score = NULL;

	if (l->model->method == GP_LINK_SCORES)
		score = gp_alloc_array(l->env, band.count * l->model->width, sizeof(double));
	for (; band.count > 0; gp_band_next(&band))
	{
		l->env->progress(l->env, GP_PHASE_PAIRS, band.first, n);
		for (int64_t e = band.first; e < band.first + band.count; e++)
			out[e] = (gp_link_row) {.src = src[e], .dst = dst[e]};
		if (score)
			gp_link_pair_scores(&l->frame, band.count, src + band.first, dst + band.first, score);
		gp_links_posterior(l, band.count, score, out + band.first);
	}
	gp_free(l->env, score);
}
