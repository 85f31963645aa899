/*
 * deep_chain.c - the blocks of a deep Gaussian process of links, and how they start.
 *
 * By random features, with inner products of the ends at last; or, with inducing pairs, as it was published (Opolka and
 * Lio 2022): every layer by inducing points, and a Gaussian process of pairs by pairs of such points, the links of a
 * random graph.  Points start at what some nodes have there, weights at the prior.
 */
#include "deep_fit.h"

#include <math.h>
#include <string.h>

/* The seeds of what is drawn. */
enum purpose
{
	DRAW_FREQUENCY = 600,
	DRAW_PHASE = 610,
	DRAW_NOISE = 620,
	DRAW_POINT = 650,
	DRAW_PAIR = 660
};

/* True for the published form. */
static bool
is_inducing(const gp_deep *d)
{
	return d->options.inducing > 0;
}

/* The groups of columns that take no, one, two sums over neighbours: the features' all take every one. */
static int
groups_of(const gp_deep *d)
{
	return d->x && !is_inducing(d) ? 1 : d->options.convolutions + 1;
}

/* ---- blocks ---- */

/* A layer by random features. */
static gp_block *
add_cosines(gp_deep *d, int l)
{
	gp_block   *b = gp_network_add(d->chain, &gp_block_cosines);

	b->cosines.count = d->options.features;
	b->cosines.sampled = true;
	b->cosines.frequency = &d->frequency[l];
	b->cosines.map = l == 0 ? &d->map : NULL;
	b->cosines.carries = l > 0;
	b->cosines.log_length.groups = b->cosines.log_a.groups = 1;
	return b;
}

/* A layer by inducing points. */
static gp_block *
add_points(gp_deep *d, int l)
{
	gp_block   *b = gp_network_add(d->chain, &gp_block_inducing_layer);

	b->inducing.count = d->points;
	b->inducing.map = l == 0 ? &d->map : NULL;
	b->inducing.carries = l > 0;
	return b;
}

/* A layer that its input is added to, and its sums over neighbours. */
static void
add_layer(gp_deep *d, int l)
{
	gp_block   *b = is_inducing(d) ? add_points(d, l) : add_cosines(d, l);

	b->width = d->options.units;
	b->groups = 1;
	d->layer[l] = b;
	b = gp_network_add(d->chain, &gp_block_mix);
	b->groups = 1;
	b->mix.sums = d->options.convolutions;
	b->mix.groups = groups_of(d);
}

/* What makes a pair's logit of its ends. */
static void
add_pairs(gp_deep *d)
{
	gp_block   *b;

	if (d->x && !is_inducing(d))
		gp_network_add(d->chain, &gp_block_unit)->unit.length = sqrt((double) d->options.units);
	d->pairs = b = gp_network_add(d->chain, is_inducing(d) ? &gp_block_inducing_pairs : &gp_block_pairs);
	b->groups = 1;
	b->ends.most = d->most;
	b->ends.end = d->end;
	if (!is_inducing(d))
		return;
	b->inducing.count = d->points;
	b->inducing.span = d->span;
	b->inducing.pair = d->inducing;
}

/* ---- the inducing graph ---- */

/* True when a pair stands among the first n. */
static bool
is_drawn(const gp_deep *d, int64_t n, int32_t p, int32_t q)
{
	for (int64_t k = 0; k < n; k++)
		if (d->inducing[k] == p && d->inducing[d->span + k] == q)
			return true;
	return false;
}

/* Half as many points as pairs, or so many that there are these pairs; fewer where there are fewer nodes; and pairs that look random, always the same. */
static void
open_inducing(gp_deep *d)
{
	uint64_t	seed = gp_hash(DRAW_PAIR);
	uint64_t	element = 0;

	d->points = (d->options.inducing + 1) / 2;
	while (d->points * (d->points - 1) / 2 < d->options.inducing)
		d->points++;
	d->points = gp_max64(2, gp_min64(d->points, d->nodes));
	d->span = gp_min64(d->options.inducing, d->points * (d->points - 1) / 2);
	d->inducing = gp_alloc_array(d->env, 2 * d->span, sizeof(int32_t));
	for (int64_t n = 0; n < d->span;)
	{
		int32_t		p = (int32_t) (gp_each_uniform(seed, element) * (double) d->points);
		int32_t		q = (int32_t) (gp_each_uniform(seed, element + 1) * (double) d->points);

		element += 2;
		if (p >= q || is_drawn(d, n, p, q))
			continue;
		d->inducing[n] = p;
		d->inducing[d->span + n++] = q;
	}
}

/* Nodes of equal parts of all, one for each point. */
static int32_t *
choose_nodes(const gp_deep *d)
{
	int32_t    *node = gp_alloc_array(d->env, d->points, sizeof(int32_t));
	uint64_t	seed = gp_trainer_seed(&d->t, DRAW_POINT, false);

	for (int64_t k = 0; k < d->points; k++)
		node[k] = (int32_t) gp_min64((int64_t) (((double) k + gp_each_uniform(seed, (uint64_t) k)) *
												(double) d->nodes / (double) d->points), d->nodes - 1);
	return node;
}

/* Points start at what some nodes have there, when nothing has been learnt. */
static void
place_points(gp_deep *d)
{
	int32_t    *node = choose_nodes(d);
	gp_device  *dev = d->dev;

	gp_deep_use(d, d->whole);
	for (int l = 0; l < d->options.layers; l++)
	{
		dev->fill(dev, d->layer[l]->inducing.noise, 0.0);
		dev->gather_rows(dev, d->layer[l]->inducing.point.value, l == 0 ? d->input : d->layer[l][-1].value, node);
		gp_network_forward(&d->t, d->chain, 2 * l + 2);
	}
	dev->gather_rows(dev, d->pairs->inducing.point.value, d->pairs[-1].value, node);
	gp_free(d->env, node);
}

/* ---- parameters ---- */

/* The first layer's mean: the inputs, the most telling ones first, dealt round the groups of units. */
static void
fill_map(gp_deep *d)
{
	int64_t		units = d->options.units;
	int64_t		groups = groups_of(d);
	int64_t		inputs = d->map.rows;
	double	   *host = gp_alloc_zero(d->env, inputs * units, sizeof(double));
	int64_t		place = 0;

	for (int64_t k = 0; place < inputs && k <= units; k++)
		for (int64_t g = 0; g < groups && place < inputs; g++)
		{
			int64_t		unit = g * units / groups + k;

			if (unit < (g + 1) * units / groups)
				host[place++ * units + unit] = 1.0;
		}
	d->dev->upload(d->dev, d->map, gp_matrix_wrap(host, inputs, units, GP_DOUBLE));
	gp_free(d->env, host);
}

/* The shares of neighbours at first. */
static void
start_shares(gp_deep *d, gp_mix *m)
{
	for (int q = 0; q < m->sums; q++)
		d->dev->fill(d->dev, gp_matrix_cols(m->logit.value, q, 1),
					 m->groups == 1 ? 2.0 : q == 0 ? 0.0 : -0.85);
}

/* The parameters as they are at first: the posterior is the prior. */
static void
start_parameters(gp_deep *d)
{
	gp_device  *dev = d->dev;
	gp_trainer *t = &d->t;

	fill_map(d);
	for (int l = 0; l < d->options.layers; l++)
	{
		gp_block   *b = d->layer[l];
		int64_t		inputs = l == 0 ? d->input.cols : d->options.units;
		gp_cosines *f = &b->cosines;

		start_shares(d, &b[1].mix);
		dev->fill(dev, is_inducing(d) ? b->inducing.log_length.value : f->log_length.value, 0.5 * log((double) inputs));
		dev->fill(dev, is_inducing(d) ? b->inducing.log_a.value : f->log_a.value, log(0.1));
		if (is_inducing(d))
			continue;
		gp_fill_normal(t, d->frequency[l], gp_trainer_seed(t, DRAW_FREQUENCY + l, false), 1.0);
		gp_fill_uniform(t, f->phase, gp_trainer_seed(t, DRAW_PHASE + l, false), M_PI);
	}
	if (!is_inducing(d))
		return;
	dev->fill(dev, d->pairs->inducing.log_length.value, 0.5 * log((double) d->options.units));
	place_points(d);
}

/* Makes the chain and its parameters. */
void
gp_deep_chain_open(gp_deep *d)
{
	const gp_dgp *o = &d->options;
	gp_device  *dev = d->dev;

	memset(d->chain, 0, sizeof(gp_network));
	d->map = dev->create(dev, d->input.cols, o->units, GP_FLOAT);
	if (is_inducing(d))
		open_inducing(d);
	for (int l = 0; l < o->layers; l++)
	{
		if (!is_inducing(d))
			d->frequency[l] = dev->create(dev, o->features, l == 0 ? d->input.cols : o->units, GP_FLOAT);
		add_layer(d, l);
	}
	add_pairs(d);
	d->chain->input = d->input;
	gp_network_open(&d->t, d->chain, d->nodes, d->input.cols);
	start_parameters(d);
}

/* Frees it. */
void
gp_deep_chain_close(gp_deep *d)
{
	gp_network_close(&d->t, d->chain);
	for (int l = 0; l < d->options.layers; l++)
		d->dev->destroy(d->dev, &d->frequency[l]);
	d->dev->destroy(d->dev, &d->map);
	gp_free(d->env, d->inducing);
}

/* ---- steps ---- */

/* Fresh noise for every layer. */
void
gp_deep_noise(gp_deep *d)
{
	for (int l = 0; l < d->options.layers; l++)
		gp_fill_normal(&d->t, is_inducing(d) ? d->layer[l]->inducing.noise : d->layer[l]->cosines.noise,
					   gp_trainer_seed(&d->t, DRAW_NOISE + l, true), 1.0);
	if (is_inducing(d))
		gp_fill_normal(&d->t, d->pairs->inducing.noise, gp_trainer_seed(&d->t, DRAW_NOISE + GP_DGP_MAX_LAYERS, true), 1.0);
}

/* The divergences of all weights. */
void
gp_deep_prior(gp_deep *d, double weight)
{
	for (int k = 0; k < d->chain->n; k++)
		if (d->chain->block[k].class->prior)
			d->chain->block[k].class->prior(&d->t, &d->chain->block[k], weight);
}

/* ---- the readout ---- */

/* The inducing pairs as a model keeps them: alpha = L^-T m, and L^-T (I - S) L^-1, what the pairs take off a variance. */
static void
keep_inducing(gp_deep *d, gp_link_model *model)
{
	gp_inducing *f = &d->pairs->inducing;
	gp_device  *dev = d->dev;
	int64_t		m = d->span;
	gp_matrix	rows = dev->create(dev, m, m, GP_DOUBLE);
	gp_matrix	out = dev->create(dev, m, m, GP_DOUBLE);
	gp_matrix	number = dev->create(dev, m, 1, GP_DOUBLE);
	double	   *s = gp_alloc_zero(d->env, m, sizeof(double));
	double	   *host = gp_alloc_array(d->env, m * m, sizeof(double));

	gp_inducing_pairs_ready(&d->t, d->pairs);
	dev->copy(dev, number, f->mean.value);
	dev->gemm(dev, true, false, 1.0, f->turned, number, 0.0, gp_matrix_cols(out, 0, 1));
	dev->download(dev, gp_matrix_wrap(model->alpha, m, 1, GP_DOUBLE), gp_matrix_cols(out, 0, 1));
	dev->download(dev, gp_matrix_wrap(s, m, 1, GP_DOUBLE), f->log_s.value);
	dev->download(dev, gp_matrix_wrap(host, m, m, GP_DOUBLE), f->turned);
	for (int64_t k = 0; k < m * m && !d->env->dry; k++)
		host[k] *= -expm1(2.0 * s[k / m]);
	dev->upload(dev, rows, gp_matrix_wrap(host, m, m, GP_DOUBLE));
	dev->gemm(dev, true, false, 1.0, f->turned, rows, 0.0, out);
	dev->download(dev, gp_matrix_wrap(model->taken, m, m, GP_DOUBLE), out);
	dev->download(dev, gp_matrix_wrap(model->point, d->points, f->scaled.cols, GP_FLOAT), f->scaled);
	dev->download(dev, gp_matrix_wrap(&model->offset, 1, 1, GP_DOUBLE), f->offset.value);
	model->scale = f->amplitude;
	gp_free(d->env, host);
	gp_free(d->env, s);
	dev->destroy(dev, &number);
	dev->destroy(dev, &out);
	dev->destroy(dev, &rows);
}

/* Room for them in a model, made once. */
static void
make_inducing(gp_deep *d, gp_link_model *model)
{
	if (model->alpha)
		return;
	model->m = d->span;
	model->points = (int32_t) d->points;
	model->alpha = gp_alloc_array(d->env, d->span, sizeof(double));
	model->taken = gp_alloc_array(d->env, d->span * d->span, sizeof(double));
	model->point = gp_alloc_array(d->env, d->points * d->options.units, sizeof(float));
	model->inducing = gp_alloc_array(d->env, 2 * d->span, sizeof(int32_t));
	for (int64_t k = 0; k < d->span; k++)
	{
		model->inducing[2 * k] = d->inducing[k];
		model->inducing[2 * k + 1] = d->inducing[d->span + k];
	}
}

/* The readout, and what a node's numbers are multiplied with. */
gp_matrix
gp_deep_readout(gp_deep *d, gp_link_model *model)
{
	if (is_inducing(d))
	{
		make_inducing(d, model);
		keep_inducing(d, model);
		return d->pairs->inducing.inverse;
	}
	model->scale = gp_pairs_scale(&d->t, &d->pairs->pairs);
	model->offset = gp_pairs_offset(&d->t, &d->pairs->pairs);
	return gp_pairs_weights(&d->t, &d->pairs->pairs);
}
