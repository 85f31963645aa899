/*
 * deep_points.c - the posterior of pairs by inducing pairs, from the moments of their ends.
 *
 * With g_i ~ N(mu, diag v), lengths worked in, the covariance of node i with point p has, in closed form,
 *
 *		psi_ip = E k_ip = a^2 prod_d (1 + v)^-1/2 exp(-(mu - z)^2 / (2 (1 + v))),
 *		E k_ip^2 = a^4 prod_d (1 + 2 v)^-1/2 exp(-(mu - z)^2 / (1 + 2 v)),
 *
 * and of two nodes the same with mu_i - mu_j and v_i + v_j.  Nodes being independent, c_pq = psi_ip psi_jq + psi_iq psi_jp
 * is the mean covariance with an inducing pair, and
 *
 *		E r = c + alpha'c,  var r = a^4 + E k_ij^2 - c'T c + var(alpha'c)
 *
 * where the last takes the covariances of a node with two points as independent; what these vary is left out of c'T c.
 */
#include "links/search/link_predict.h"

#include <math.h>
#include <string.h>

/* The covariances of a node with the points. */
typedef struct covered
{
	int32_t		node;			/* -1: none */
	double		mean[GP_LINK_MOST_POINTS];
	double		spread[GP_LINK_MOST_POINTS];	/* their variances */
} covered;

struct gp_link_reach
{
	covered		end[2];
	double		cross[GP_SYEV_MAX];	/* with the inducing pairs */
	double		weight[2][GP_LINK_MOST_POINTS]; /* W psi of the other end */
};

/* The exponents of a node's covariances with the points, but for what the variances alone give. */
static void
reach(const gp_link_model *m, int32_t node, covered *out)
{
	const float *mu = m->row + (int64_t) node * m->width;
	const float *v = m->row_variance + (int64_t) node * m->width;

	out->node = node;
	for (int32_t p = 0; p < m->points; p++)
	{
		const float *z = m->point + (int64_t) p * m->width;
		double		once = 0.0;
		double		twice = 0.0;

		for (int32_t d = 0; d < m->width; d++)
		{
			double		square = ((double) mu[d] - z[d]) * ((double) mu[d] - z[d]);

			once += square / (1.0 + v[d]);
			twice += square / (1.0 + 2.0 * v[d]);
		}
		out->mean[p] = once;
		out->spread[p] = twice;
	}
}

/* What the variances alone give to all points: the sums of log(1 + v), and of log(1 + 2 v). */
static void
finish_reach(const gp_link_model *m, covered *out)
{
	const float *v = m->row_variance + (int64_t) out->node * m->width;
	double		once = 0.0;
	double		twice = 0.0;

	for (int32_t d = 0; d < m->width; d++)
	{
		once += log1p(v[d]);
		twice += log1p(2.0 * v[d]);
	}
	for (int32_t p = 0; p < m->points; p++)
	{
		double		mean = m->scale * exp(-0.5 * (out->mean[p] + once));

		out->spread[p] = fmax(m->scale * m->scale * exp(-out->spread[p] - 0.5 * twice) - mean * mean, 0.0);
		out->mean[p] = mean;
	}
}

/* The same, unless they stand there. */
static const covered *
reach_of(const gp_link_model *m, int32_t node, covered *kept)
{
	if (kept->node != node)
	{
		reach(m, node, kept);
		finish_reach(m, kept);
	}
	return kept;
}

/* The mean square of two nodes' covariance. */
static double
near_square(const gp_link_model *m, int32_t i, int32_t j)
{
	const float *a = m->row + (int64_t) i * m->width;
	const float *b = m->row + (int64_t) j * m->width;
	const float *u = m->row_variance + (int64_t) i * m->width;
	const float *v = m->row_variance + (int64_t) j * m->width;
	double		sum = 0.0;

	for (int32_t d = 0; d < m->width; d++)
	{
		double		both = 1.0 + 2.0 * ((double) u[d] + v[d]);

		sum += ((double) a[d] - b[d]) * ((double) a[d] - b[d]) / both + 0.5 * log(both);
	}
	return m->scale * m->scale * exp(-sum);
}

/* c'T c, T being symmetric. */
static double
taken(const gp_link_model *m, const double *cross)
{
	double		sum = 0.0;

	for (int64_t k = 0; k < m->m; k++)
	{
		const double *row = m->taken + k * m->m;
		double		dot = 0.5 * row[k] * cross[k];

		for (int64_t l = 0; l < k; l++)
			dot += row[l] * cross[l];
		sum += 2.0 * cross[k] * dot;
	}
	return sum;
}

/*
 * var(alpha'c): with W of alpha on the inducing graph, sum_p u_ip (W psi_j)_p^2 + u_jp (W psi_i)_p^2 + sum_pq W_pq^2 u_ip u_jq,
 * u being the variances of covariances.
 */
static double
swing(const gp_link_model *m, gp_link_reach *room)
{
	const covered *a = &room->end[0];
	const covered *b = &room->end[1];
	double	   *at_a = room->weight[0];
	double	   *at_b = room->weight[1];
	double		sum = 0.0;

	memset(room->weight, 0, sizeof(room->weight));
	for (int64_t k = 0; k < m->m; k++)
	{
		int32_t		p = m->inducing[2 * k];
		int32_t		q = m->inducing[2 * k + 1];
		double		w = m->alpha[k];

		at_a[p] += w * b->mean[q];
		at_a[q] += w * b->mean[p];
		at_b[p] += w * a->mean[q];
		at_b[q] += w * a->mean[p];
		sum += w * w * (a->spread[p] * b->spread[q] + a->spread[q] * b->spread[p]);
	}
	for (int32_t p = 0; p < m->points; p++)
		sum += a->spread[p] * at_a[p] * at_a[p] + b->spread[p] * at_b[p] * at_b[p];
	return sum;
}

/* Room, in which nothing stands. */
gp_link_reach *
gp_link_reach_open(gp_env *env, const gp_link_model *model)
{
	gp_link_reach *room;

	if (model->point == NULL)
		return NULL;
	room = gp_alloc(env, sizeof(gp_link_reach));
	room->end[0].node = room->end[1].node = -1;
	return room;
}

/* Mean and variance of a pair's logit. */
void
gp_link_reach_moments(const gp_link_model *m, gp_link_reach *room, int32_t i, int32_t j, double *mean, double *variance)
{
	const covered *a = reach_of(m, i, &room->end[0]);
	const covered *b = reach_of(m, j, &room->end[1]);
	double	   *cross = room->cross;
	double		sum = m->offset;

	for (int64_t k = 0; k < m->m; k++)
	{
		int32_t		p = m->inducing[2 * k];
		int32_t		q = m->inducing[2 * k + 1];

		cross[k] = a->mean[p] * b->mean[q] + a->mean[q] * b->mean[p];
		sum += m->alpha[k] * cross[k];
	}
	*mean = sum;
	*variance = fmax(m->scale * m->scale + near_square(m, i, j) - taken(m, cross), 0.0) + swing(m, room);
}
