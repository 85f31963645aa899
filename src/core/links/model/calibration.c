/*
 * calibration.c - from logits to the probabilities of links.
 */
#include "links/search/candidates.h"

#define CALIBRATION_SALT UINT64_C(0x61736b6564000000)	/* draws are not those of the folds */
#define LEAST_NODES 400			/* drawn of all folds, and as many as have, with all, */
#define MOST_NODES 1600
#define NODE_LINKS 4000.0		/* so many ends of links */
#define STEPS 50
#define CLOSE 1e-10				/* what a step promises, over the information, that ends them */
#define CLOSE_MOVE 1e-6		/* the same of a curve that is moved: of its logits */
#define FLAT 1e-12				/* a relative deviation of scores below this is none */
#define LEAST_BENT 100			/* links that a knee takes: fewer tell one slope alone */
#define PARAMETERS 3			/* of a curve: intercept, and slopes below and beyond its knee */

/* A curve over n scores, and what is known of them (gp_link_calibrate). */
typedef struct curve
{
	gp_env	   *env;
	int64_t		n;
	const double *score;
	const bool *label;
	const double *weight;
	double		known;
	double		centre;			/* of the scores, which are standardised */
	double		deviation;
	double		knee;			/* of standardised scores; INFINITY: none */
	double		target[2];		/* smoothed: of no link, and of one */
	bool		open[PARAMETERS];	/* those that are not held at their value */
} curve;

/* The log likelihood, its gradient and Fisher's information. */
typedef struct likelihood
{
	double		value;
	double		gradient[PARAMETERS];
	double		information[PARAMETERS][PARAMETERS];
} likelihood;

/* The likelihood of b, a pair being labelled with the probability known p. */
static likelihood
likelihood_of(const curve *c, const double *b)
{
	likelihood	out = {.value = 0.0};

	GP_EACH(c->env, i, c->n, i)
	{
		double		z = (c->score[i] - c->centre) / c->deviation;
		double		x[PARAMETERS] = {1.0, fmin(z, c->knee), z > c->knee ? z - c->knee : 0.0};
		double		p = 1.0 / (1.0 + exp(-(b[0] + b[1] * x[1] + b[2] * x[2])));
		double		labelled = fmax(c->known * p, 1e-300);
		double		other = fmax(1.0 - c->known * p, 1e-300);
		double		t = c->target[c->label[i]];
		double		slope = c->weight[i] * (1.0 - p) * (t - (1.0 - t) * labelled / other);
		double		curvature = c->weight[i] * labelled * (1.0 - p) * (1.0 - p) / other;

		out.value += c->weight[i] * (t * log(labelled) + (1.0 - t) * log(other));
		for (int k = 0; k < PARAMETERS; k++)
		{
			out.gradient[k] += slope * x[k];
			for (int l = 0; l < PARAMETERS; l++)
				out.information[k][l] += curvature * x[k] * x[l];
		}
	}
	return out;
}

/* The step of Fisher's scoring, 0 in parameters that are held; returns what it promises. */
static double
scoring_step(const curve *c, const likelihood *at, double *step)
{
	double		h[PARAMETERS][PARAMETERS];
	double		gradient[PARAMETERS];

	memcpy(h, at->information, sizeof(h));
	memcpy(gradient, at->gradient, sizeof(gradient));
	for (int k = 0; k < PARAMETERS; k++)
		if (!c->open[k])
		{
			for (int l = 0; l < PARAMETERS; l++)
				h[k][l] = h[l][k] = k == l ? 1.0 : 0.0;
			gradient[k] = 0.0;
		}
	return gp_solve_small(PARAMETERS, *h, PARAMETERS, gradient, step);
}

/* Climbs to the largest likelihood. */
static void
climb(const curve *c, double *b)
{
	likelihood	at = likelihood_of(c, b);

	for (int k = 0; k < STEPS; k++)
	{
		double		step[PARAMETERS];
		double		next[PARAMETERS];
		double		gain = scoring_step(c, &at, step);
		likelihood	then = at;

		if (!(gain > CLOSE * at.information[0][0]) || !isfinite(gain))
			break;
		for (double part = 1.0; part > 1e-6; part *= 0.5)
		{
			for (int j = 0; j < PARAMETERS; j++)
				next[j] = b[j] + part * step[j];
			then = likelihood_of(c, next);
			if (then.value > at.value)
				break;
		}
		if (!(then.value > at.value))
			break;
		memcpy(b, next, sizeof(next));
		at = then;
	}
}

/* The same from b[0] among curves that never fall: a slope that would is held at 0. */
static void
climb_rising(curve *c, double *b)
{
	const double start = b[0];

	c->open[0] = c->open[1] = true;
	c->open[2] = isfinite(c->knee);
	b[1] = b[2] = 0.0;
	for (int k = 0; k < PARAMETERS; k++)
	{
		climb(c, b);
		int			low = b[1] < b[2] ? 1 : 2;
		if (!(b[low] < 0.0))
			return;
		c->open[low] = false;
		b[0] = start;
		b[1] = b[2] = 0.0;
	}
}

/* Standardises the scores, and places the knee; returns the share of links that are labelled. */
static double
standardise_scores(curve *c)
{
	double		total[2] = {0.0, 0.0};	/* of the weights: without a link, with one */
	double		links = 0.0;
	double		sum = 0.0;		/* of the links' scores */

	for (int64_t i = 0; i < c->n; i++)
	{
		total[c->label[i]] += c->weight[i];
		c->centre += c->score[i] / (double) c->n;
		links += c->label[i];
		sum += c->label[i] ? c->score[i] : 0.0;
	}
	for (int64_t i = 0; i < c->n; i++)
		c->deviation += (c->score[i] - c->centre) * (c->score[i] - c->centre) / (double) c->n;
	c->deviation = sqrt(c->deviation);
	c->knee = links < LEAST_BENT ? INFINITY : (sum / links - c->centre) / c->deviation;
	/* Scores that separate links make the curve no step (Platt 1999). */
	c->target[1] = (total[1] + 1.0) / (total[1] + 2.0);
	c->target[0] = 1.0 / (total[0] + 2.0);
	return c->n > 0 ?
		(total[0] * c->target[0] + total[1] * c->target[1]) / (total[0] + total[1]) : 0.5;
}

gp_link_curve
gp_link_calibrate(gp_env *env, int64_t n, const double *score, const bool *label,
				  const double *weight, double known)
{
	curve		c = {.env = env,.n = n,.score = score,.label = label,.weight = weight,
	.known = known};
	double		share = fmin(standardise_scores(&c) / known, 1.0 - 1e-9);
	double		b[PARAMETERS] = {log(share / (1.0 - share)), 0.0, 0.0};
	gp_link_curve out = {.intercept = b[0]};

	/* Equal scores, or NaN, give every pair the share of links. */
	if (env->dry || !(c.deviation > FLAT * fabs(c.centre)) || !isfinite(c.deviation))
		return out;
	climb_rising(&c, b);
	if (b[2] > b[1])
	{
		c.knee = INFINITY;
		climb_rising(&c, b);
	}
	if (!isfinite(b[1] / c.deviation) || !isfinite(b[2] / c.deviation))
		return out;
	out.slope = b[1] / c.deviation;
	out.intercept = b[0] - out.slope * c.centre;
	if (isfinite(c.knee))
	{
		out.knee = c.centre + c.knee * c.deviation;
		out.bend = b[2] / c.deviation - out.slope;
	}
	return out;
}

/* What a curve promises of the pairs without a link. */
static double
promised(const gp_link_calibration_pairs *c, const double *logit, const gp_link_curve *curve)
{
	double		sum = 0.0;

	for (int64_t e = 0; e < c->pairs.n; e++)
		if (!c->linked[e])
			sum += c->weight[e] * gp_link_probability(curve, logit[e]);
	return sum;
}

/*
 * Moves a curve to the whole graph's logits, where hidden links have returned: pairs are as likely
 * as before.  The odds grow by what is due over what is promised, which falls short of it.
 */
static void
move_curve(const gp_link_calibration_pairs *c, const gp_link_trial *t, gp_link_curve *curve)
{
	double		due = promised(c, t->logit_on_fold, curve);

	for (int k = 0; k < STEPS; k++)
	{
		double		step = log(due / promised(c, t->logit_on_whole, curve));

		if (!isfinite(step) || fabs(step) < CLOSE_MOVE)
			return;
		curve->intercept += step;
	}
}

void
gp_link_calibrate_model(gp_env *env, const gp_link_fold *fold, int folds, const gp_link_trial *t,
						double share, gp_link_model *model)
{
	/* links that the graph does not show, over its own, where nobody says how many */
	const double missing = GP_LINK_MISSING_SHARE / (1.0 - GP_LINK_MISSING_SHARE);
	double		hidden = 0.0;	/* links that a fold hides, over all of the graph's */
	gp_link_calibration_pairs all = {0};
	int64_t		n = 0;

	for (int f = 0; f < folds; f++)
	{
		int64_t		edges = model->graph->edges;

		n += fold[f].calibration.pairs.n;
		hidden += (double) (edges - fold[f].graph->edges) / (double) edges / folds;
	}
	double	   *score = gp_alloc_array(env, n, sizeof(double));
	all.weight = gp_alloc_array(env, n, sizeof(double));
	all.linked = gp_alloc_array(env, n, sizeof(bool));
	n = 0;
	for (int f = 0; f < folds; f++)
	{
		const gp_link_calibration_pairs *c = &fold[f].calibration;

		memcpy(score + n, t->calibration[f], c->pairs.n * sizeof(double));
		memcpy(all.weight + n, c->weight, c->pairs.n * sizeof(double));
		memcpy(all.linked + n, c->linked, c->pairs.n * sizeof(bool));
		n += c->pairs.n;
	}
	model->curve = gp_link_calibrate(env, n, score, all.linked, all.weight,
									 hidden / (hidden + missing));
	model->curve.intercept += log(missing / (hidden + missing));
	if (t->logit_on_whole)
		move_curve(&fold[0].calibration, t, &model->curve);
	if (share > 0.0)
		model->curve.intercept += log(share / (1.0 - share) / missing);
	gp_free(env, score);
	gp_link_calibration_pairs_free(env, &all);
}

/* ---- pairs ---- */

static void
add_pair(gp_link_calibration_pairs *c, int32_t node, int32_t other, bool linked, double weight)
{
	c->linked[c->pairs.n] = linked;
	c->weight[c->pairs.n] = weight;
	gp_link_pairs_add(&c->pairs, node, other);
}

/*
 * Adds pairs without a link of nodes that are drawn evenly, one of each equal part of the nodes in
 * the order of their links: of all their candidates an even sample, for the likely ones lie around
 * hubs, which have many.
 */
static void
add_drawn_nodes(gp_link_calibration_pairs *c, const gp_graph *full, gp_link_search *search,
				int64_t nodes, uint64_t stream, gp_heap *sample)
{
	const gp_link_keyed *drawn = sample->item;
	/* Nodes with fewer links first: what each is ordered by, its number below. */
	int64_t    *order = gp_alloc_array(sample->env, full->nodes, sizeof(int64_t));
	int64_t		all = 0;

	for (int64_t i = 0; i < full->nodes; i++)
		order[i] = (full->start[i + 1] - full->start[i]) << 32 | i;
	gp_sort(sample->env, order, full->nodes, sizeof(int64_t), gp_compare_int64, NULL);
	for (int64_t q = 0; q < nodes; q++)
	{
		uint64_t	draw = gp_hash(stream + (uint64_t) q);
		double		place = ((double) q + (double) (draw >> 32) / 4294967296.0) / (double) nodes;
		int32_t		node = (int32_t) order[(int64_t) (place * (double) full->nodes)];
		int32_t    *found;
		int64_t		unlinked = gp_link_draw_unlinked(full, search, 0, node, 0, &found);

		for (int64_t k = 0; k < unlinked; k++)
			gp_heap_offer(sample, &(gp_link_keyed) {gp_hash(gp_hash(draw + (uint64_t) q) ^
													(uint64_t) found[k]), node, found[k]});
		all += unlinked;
	}
	gp_free(sample->env, order);
	gp_heap_sort(sample);
	for (int64_t k = 0; k < sample->n; k++)
		add_pair(c, drawn[k].src, drawn[k].dst, false, (double) all / (double) sample->n);
}

/*
 * Adds the hidden links that are candidates of their query end, each for what it stands for among
 * the candidates of so many nodes: few of those that are drawn have one.  Where every pair is a
 * candidate, none is looked for.
 */
static void
add_hidden_links(gp_link_calibration_pairs *c, const gp_graph *full, const gp_link_fold *fold,
				 gp_link_search *search, bool all, int64_t nodes)
{
	double		ends = full->directed ? 1.0 : 2.0;
	double		weight = ends * (double) (full->edges - fold->graph->edges) /
		(double) gp_max64(fold->links, 1) * (double) nodes / (double) full->nodes;

	for (int64_t e = 0; e < fold->links; e++)
	{
		int32_t		other;
		int32_t		node = gp_link_query_end(fold, e, &other);
		int32_t    *found;
		int64_t		n = all ? 0 : gp_link_search_node(search, node, &found);
		int64_t		k = 0;

		while (k < n && found[k] != other)
			k++;
		if (all || k < n)
			add_pair(c, node, other, true, weight);
	}
}

int64_t
gp_link_calibration_nodes(const gp_graph *graph, int folds)
{
	double		nodes = NODE_LINKS * (double) graph->nodes / fmax(2.0 * (double) graph->edges, 1.0);

	return (int64_t) fmin(fmax(nodes, LEAST_NODES), MOST_NODES) / folds;
}

int64_t
gp_link_calibration_pairs_most(const gp_link_fold *fold, int64_t nodes)
{
	return fold->links + nodes * gp_min64(GP_LINK_OTHERS, fold->graph->nodes);
}

gp_link_calibration_pairs
gp_link_calibration_pairs_make(gp_env *env, const gp_link_model *model, const gp_link_fold *fold,
							   const uint64_t *code, int64_t nodes, uint64_t seed)
{
	const gp_graph *full = model->graph;
	bool		all = model->method == GP_LINK_EASE;
	gp_link_calibration_pairs c = {0};
	int64_t		room = gp_link_calibration_pairs_most(fold, nodes);

	c.pairs = gp_link_pairs_create(env, room);
	c.linked = gp_alloc_zero(env, room, sizeof(bool));
	c.weight = gp_alloc_zero(env, room, sizeof(double));
	/* Codes of a dry run say nothing: as many as there can be. */
	if (env->dry && gp_link_has_scores(model->method))
	{
		c.pairs.n = room;
		return c;
	}
	gp_heap		sample = gp_link_sample_open(env, room - fold->links);
	gp_link_search *search = gp_link_search_open(env, fold->graph, NULL, code, all ?
												 GP_CANDIDATES_ALL : GP_CANDIDATES_AUTO);
	gp_link_search_learn(search, gp_link_topology_read(model->topology), model->features != NULL);
	add_hidden_links(&c, full, fold, search, all, nodes);
	add_drawn_nodes(&c, full, search, nodes, gp_hash(gp_hash(seed ^ CALIBRATION_SALT)), &sample);
	gp_free(env, sample.item);
	gp_link_search_close(search);
	return c;
}
