/*
 * dgp_posterior.c - the posterior of pairs from the moments of their ends.
 *
 * With a mean mu and a variance v for each number of a node, and nodes independent, an inner
 * product has
 *
 *		E r = c + k sum_d mu_id mu_jd,  var r = k^2 sum_d (mu_id^2 v_jd + mu_jd^2 v_id + v_id v_jd),
 *
 * the readout's weights being worked into mu and v.  By inducing pairs, lengths worked in, the
 * covariance of node i with point p has
 *
 *		psi_ip = E k_ip = a^2 prod_d (1 + v)^-1/2 exp(-(mu - z)^2 / (2 (1 + v))),
 *		E k_ip^2 = a^4 prod_d (1 + 2 v)^-1/2 exp(-(mu - z)^2 / (1 + 2 v)),
 *
 * and of two nodes the same with mu_i - mu_j and v_i + v_j.  c_pq = psi_ip psi_jq + psi_iq psi_jp
 * is the mean covariance with an inducing pair, and
 *
 *		E r = c + alpha'c,  var r = a^4 + E k_ij^2 - c'T c + var(alpha'c)
 *
 * where the last takes the covariances of a node with two points as independent; what these vary
 * is left out of c'T c.  The score is the logit that such a normal r stands for (MacKay 1992):
 *
 *		E r / sqrt(1 + pi var r / 8)
 */
#include "links/links_internal.h"

/* The covariances of a node with the points. */
typedef struct covered
{
	int32_t		node;			/* -1: none */
	double		mean[GP_LINK_MOST_POINTS];
	double		variance[GP_LINK_MOST_POINTS];
} covered;

/* What pairs by inducing pairs are computed in. */
typedef struct reach
{
	covered		end[2];
	double		cross[GP_SYEV_MAX];	/* with the inducing pairs */
	double		weight[2][GP_LINK_MOST_POINTS]; /* W psi of the other end */
} reach;

/* Mean and variance of an inner product. */
static void
product_moments(const gp_link_model *model, int32_t i, int32_t j, double *out, double *variance)
{
	int64_t		width = model->node.width;
	const float *a = model->node.row + i * width;
	const float *b = model->node.row + j * width;
	const float *u = model->node.variance + i * width;
	const float *v = model->node.variance + j * width;
	double		mean = 0.0;
	double		sum = 0.0;

	for (int64_t d = 0; d < width; d++)
	{
		mean += (double) a[d] * b[d];
		sum += (double) a[d] * a[d] * v[d] + ((double) b[d] * b[d] + v[d]) * u[d];
	}
	*variance = model->dgp.scale * model->dgp.scale * sum;
	*out = model->dgp.offset + model->dgp.scale * mean;
}

/* ---- by inducing pairs ---- */

/* The covariances of a node with the points, unless they stand there. */
static void
cover(const gp_link_model *m, int32_t node, covered *out)
{
	const float *mu = m->node.row + (int64_t) node * m->node.width;
	const float *v = m->node.variance + (int64_t) node * m->node.width;
	/* of the variances alone: the sums of log(1 + v), and of log(1 + 2 v) */
	double		once = 0.0;
	double		twice = 0.0;

	if (out->node == node)
		return;
	out->node = node;
	for (int32_t d = 0; d < m->node.width; d++)
	{
		once += log1p(v[d]);
		twice += log1p(2.0 * v[d]);
	}
	for (int32_t p = 0; p < m->dgp.points; p++)
	{
		const float *z = m->dgp.point + (int64_t) p * m->node.width;
		double		near = 0.0;
		double		near_square = 0.0;

		for (int32_t d = 0; d < m->node.width; d++)
		{
			double		square = ((double) mu[d] - z[d]) * ((double) mu[d] - z[d]);

			near += square / (1.0 + v[d]);
			near_square += square / (1.0 + 2.0 * v[d]);
		}
		double		mean = m->dgp.scale * exp(-0.5 * (near + once));
		out->variance[p] = fmax(m->dgp.scale * m->dgp.scale * exp(-near_square - 0.5 * twice) -
								mean * mean, 0.0);
		out->mean[p] = mean;
	}
}

/* E k_ij^2. */
static double
near_square(const gp_link_model *m, int32_t i, int32_t j)
{
	const float *a = m->node.row + (int64_t) i * m->node.width;
	const float *b = m->node.row + (int64_t) j * m->node.width;
	const float *u = m->node.variance + (int64_t) i * m->node.width;
	const float *v = m->node.variance + (int64_t) j * m->node.width;
	double		sum = 0.0;

	for (int32_t d = 0; d < m->node.width; d++)
	{
		double		both = 1.0 + 2.0 * ((double) u[d] + v[d]);

		sum += ((double) a[d] - b[d]) * ((double) a[d] - b[d]) / both + 0.5 * log(both);
	}
	return m->dgp.scale * m->dgp.scale * exp(-sum);
}

/* c'T c, T being symmetric. */
static double
taken(const gp_link_model *m, const double *cross)
{
	double		sum = 0.0;

	for (int64_t k = 0; k < m->inducing.n; k++)
	{
		const double *row = m->dgp.taken + k * m->inducing.n;
		double		dot = 0.5 * row[k] * cross[k];

		for (int64_t l = 0; l < k; l++)
			dot += row[l] * cross[l];
		sum += 2.0 * cross[k] * dot;
	}
	return sum;
}

/*
 * Mean and variance of a pair's logit.  With W of alpha on the inducing graph and u the variances
 * of covariances,
 *
 *		var(alpha'c) = sum_p u_ip (W psi_j)_p^2 + u_jp (W psi_i)_p^2 + sum_pq W_pq^2 u_ip u_jq
 */
static void
inducing_moments(const gp_link_model *m, reach *room, int32_t i, int32_t j, double *mean,
				 double *variance)
{
	const covered *a = &room->end[0];
	const covered *b = &room->end[1];
	double	   *at_a = room->weight[0];
	double	   *at_b = room->weight[1];
	double		swing = 0.0;

	cover(m, i, &room->end[0]);
	cover(m, j, &room->end[1]);
	memset(room->weight, 0, sizeof(room->weight));
	*mean = m->dgp.offset;
	for (int64_t k = 0; k < m->inducing.n; k++)
	{
		int32_t		p = m->inducing.pair[2 * k];
		int32_t		q = m->inducing.pair[2 * k + 1];
		double		w = m->alpha[k];

		room->cross[k] = a->mean[p] * b->mean[q] + a->mean[q] * b->mean[p];
		*mean += w * room->cross[k];
		at_a[p] += w * b->mean[q];
		at_a[q] += w * b->mean[p];
		at_b[p] += w * a->mean[q];
		at_b[q] += w * a->mean[p];
		swing += w * w * (a->variance[p] * b->variance[q] + a->variance[q] * b->variance[p]);
	}
	for (int32_t p = 0; p < m->dgp.points; p++)
		swing += a->variance[p] * at_a[p] * at_a[p] + b->variance[p] * at_b[p] * at_b[p];
	*variance = swing + fmax(m->dgp.scale * m->dgp.scale + near_square(m, i, j) -
							 taken(m, room->cross), 0.0);
}

/* ---- pairs ---- */

void
gp_link_dgp_posterior(gp_env *env, const gp_link_model *model, int64_t n, gp_link_row *row)
{
	reach	   *room = model->dgp.point ? gp_alloc(env, sizeof(reach)) : NULL;
	int64_t		work = (1 + model->dgp.points) * (int64_t) model->node.width +
		model->inducing.n * model->inducing.n;

	if (room)
		room->end[0].node = room->end[1].node = -1;
	GP_EACH(env, e, gp_items(env, n), e * work)
	{
		/* Without directions the lesser end comes first: both ways round have the same bits. */
		bool		turn = !model->graph->directed && row[e].src > row[e].dst;
		int32_t		i = turn ? row[e].dst : row[e].src;
		int32_t		j = turn ? row[e].src : row[e].dst;
		double		mean;

		if (room)
			inducing_moments(model, room, i, j, &mean, &row[e].variance);
		else
			product_moments(model, i, j, &mean, &row[e].variance);
		row[e].score = mean / sqrt(1.0 + M_PI * row[e].variance / 8.0);
		row[e].probability = gp_link_probability(&model->curve, row[e].score);
	}
	gp_free(env, room);
}
