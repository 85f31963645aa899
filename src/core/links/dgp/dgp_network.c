/*
 * dgp_network.c - the operations of a deep Gaussian process of links, and how they start.
 *
 * By random features, with inner products of the ends at last; or, with inducing pairs, as it was
 * published (Opolka and Lio 2022): every layer by inducing points, and a Gaussian process of pairs
 * by pairs of such points, the links of a random graph.  Points start at what some nodes have
 * there, weights at the prior.
 */
#include "dgp.h"

/* The seeds of what is drawn. */
enum
{
	DRAW_FREQUENCY = 600,
	DRAW_PHASE = 610,
	DRAW_NOISE = 620,
	DRAW_POINT = 650,
	DRAW_PAIR = 660
};

/* True for the published form. */
static bool
is_inducing(const gp_dgp_training *d)
{
	return d->options.inducing > 0;
}

/*
 * The groups of columns that get no, one, two sums over neighbours: the features' all get every
 * one.
 */
static int
groups_of(const gp_dgp_training *d)
{
	return d->x && !is_inducing(d) ? 1 : d->options.convolutions + 1;
}

/* ---- the inducing graph ---- */

/* True when a pair is among the first n. */
static bool
is_drawn(const gp_dgp_training *d, int64_t n, int32_t p, int32_t q)
{
	for (int64_t k = 0; k < n; k++)
		if (d->inducing[k] == p && d->inducing[d->span + k] == q)
			return true;
	return false;
}

/*
 * Half as many points as pairs, or so many that there are these pairs; fewer where there are fewer
 * nodes; and pairs that look random, always the same.
 */
static void
draw_inducing(gp_dgp_training *d)
{
	uint64_t	seed = gp_hash(DRAW_PAIR);
	int64_t		n = 0;

	d->points = (d->options.inducing + 1) / 2;
	while (d->points * (d->points - 1) / 2 < d->options.inducing)
		d->points++;
	d->points = gp_max64(2, gp_min64(d->points, d->nodes));
	d->span = gp_min64(d->options.inducing, d->points * (d->points - 1) / 2);
	d->inducing = gp_trainer_own(&d->t, gp_alloc_array(d->env, 2 * d->span, sizeof(int32_t)));
	for (uint64_t element = 0; n < d->span; element += 2)
	{
		int32_t		p = (int32_t) (gp_element_uniform(seed, element) * (double) d->points);
		int32_t		q = (int32_t) (gp_element_uniform(seed, element + 1) * (double) d->points);

		if (p >= q || is_drawn(d, n, p, q))
			continue;
		d->inducing[n] = p;
		d->inducing[d->span + n++] = q;
	}
}

/* Points start at what nodes of equal parts of all have there, when nothing has been learnt. */
static void
place_points(gp_dgp_training *d)
{
	gp_device  *dev = d->dev;
	int32_t    *node = gp_alloc_array(d->env, d->points, sizeof(int32_t));
	uint64_t	seed = gp_trainer_seed(&d->t, DRAW_POINT, false);

	for (int64_t k = 0; k < d->points; k++)
	{
		double		at = (double) k + gp_element_uniform(seed, (uint64_t) k);

		node[k] = (int32_t) gp_min64((int64_t) (at * (double) d->nodes / (double) d->points),
									 d->nodes - 1);
	}
	gp_dgp_use(d, &d->view[0]);
	for (int l = 0; l < d->options.layers; l++)
	{
		dev->fill(dev, d->layer[l]->weights.noise, 0.0);
		dev->gather_rows(dev, d->layer[l]->inducing.point.value,
						 l == 0 ? d->input : d->layer[l][-1].value, node);
		gp_network_forward(&d->t, d->network, 2 * l + 2);
	}
	dev->gather_rows(dev, d->pairs->inducing.point.value, d->pairs[-1].value, node);
	gp_free(d->env, node);
}

/* ---- the network ---- */

/* A layer that its input is added to, and its sums over neighbours. */
static void
add_layer(gp_dgp_training *d, int l)
{
	const gp_dgp *o = &d->options;
	gp_operation *op = gp_network_add(&d->t, d->network,
								   is_inducing(d) ? &gp_operation_inducing : &gp_operation_cosines);

	if (is_inducing(d))
	{
		op->inducing.count = d->points;
	}
	else
	{
		d->frequency[l] = gp_trainer_matrix(&d->t, o->features, l == 0 ? d->input.cols : o->units,
											GP_FLOAT);
		op->cosines.count = o->features;
		op->cosines.frequency = &d->frequency[l];
		op->weights.sampled = true;
		op->weights.log_length.groups = op->weights.log_a.groups = 1;
	}
	op->weights.map = l == 0 ? &d->map : NULL;
	op->weights.carries = l > 0;
	op->width = o->units;
	op->groups = 1;
	d->layer[l] = op;
	op = gp_network_add(&d->t, d->network, &gp_operation_mix);
	op->groups = 1;
	op->mix.sums = o->convolutions;
	op->mix.groups = groups_of(d);
}

/*
 * The first layer's mean: the inputs, the most telling ones first, dealt round the groups of units.
 */
static void
fill_map(gp_dgp_training *d)
{
	int64_t		units = d->options.units;
	int64_t		groups = groups_of(d);
	int64_t		inputs = d->map.rows;
	double	   *host = gp_alloc_zero(d->env, inputs * units, sizeof(double));
	int64_t		input = 0;

	for (int64_t k = 0; input < inputs && k <= units; k++)
		for (int64_t g = 0; g < groups && input < inputs; g++)
		{
			int64_t		unit = g * units / groups + k;

			if (unit < (g + 1) * units / groups)
				host[input++ * units + unit] = 1.0;
		}
	d->dev->upload(d->dev, d->map, gp_matrix_wrap(host, inputs, units, GP_DOUBLE));
	gp_free(d->env, host);
}

/* The parameters as they are at first: the posterior is the prior. */
static void
start_parameters(gp_dgp_training *d)
{
	gp_device  *dev = d->dev;
	gp_trainer *t = &d->t;

	fill_map(d);
	for (int l = 0; l < d->options.layers; l++)
	{
		gp_operation *op = d->layer[l];
		gp_mix	   *m = &op[1].mix;
		double		inputs = (double) (l == 0 ? d->input.cols : d->options.units);

		for (int q = 0; q < m->sums; q++)
			dev->fill(dev, gp_matrix_cols(m->logit.value, q, 1),
					  m->groups == 1 ? 2.0 : q == 0 ? 0.0 : -0.85);
		dev->fill(dev, op->weights.log_length.value, 0.5 * log(inputs));
		dev->fill(dev, op->weights.log_a.value, log(0.1));
		if (is_inducing(d))
			continue;
		gp_fill_normal(t, d->frequency[l], gp_trainer_seed(t, DRAW_FREQUENCY + l, false), 1.0);
		gp_fill_uniform(t, op->cosines.phase, gp_trainer_seed(t, DRAW_PHASE + l, false), M_PI);
	}
	if (!is_inducing(d))
		return;
	dev->fill(dev, d->pairs->weights.log_length.value, 0.5 * log((double) d->options.units));
	place_points(d);
}

void
gp_dgp_network_open(gp_dgp_training *d)
{
	gp_operation *op;

	memset(d->network, 0, sizeof(gp_network));
	d->map = gp_trainer_matrix(&d->t, d->input.cols, d->options.units, d->type);
	if (is_inducing(d))
		draw_inducing(d);
	for (int l = 0; l < d->options.layers; l++)
		add_layer(d, l);
	if (d->x && !is_inducing(d))
		gp_network_add(&d->t, d->network, &gp_operation_unit)->unit.length =
			sqrt((double) d->options.units);
	/* what makes a pair's logit of its ends */
	d->pairs = op =
		gp_network_add(&d->t, d->network,
					   is_inducing(d) ? &gp_operation_inducing_pairs : &gp_operation_pairs);
	op->groups = 1;
	op->ends.most = d->most;
	op->ends.end = d->end;
	if (is_inducing(d))
	{
		op->inducing.count = d->points;
		op->inducing.span = d->span;
		op->inducing.pair = d->inducing;
	}
	d->network->input = d->input;
	gp_network_open(&d->t, d->network, d->nodes, d->input.cols);
	start_parameters(d);
}

void
gp_dgp_noise(gp_dgp_training *d)
{
	for (int l = 0; l < d->options.layers; l++)
		gp_fill_normal(&d->t, d->layer[l]->weights.noise,
					   gp_trainer_seed(&d->t, DRAW_NOISE + l, true), 1.0);
	if (is_inducing(d))
		gp_fill_normal(&d->t, d->pairs->weights.noise,
					   gp_trainer_seed(&d->t, DRAW_NOISE + GP_DGP_MAX_LAYERS, true), 1.0);
}

/* ---- the readout ---- */

/*
 * The inducing pairs as a model has them: alpha = L^-T m, and L^-T (I - S) L^-1, what the pairs
 * take off a variance.
 */
static void
write_inducing(gp_dgp_training *d, gp_link_model *model)
{
	gp_inducing *f = &d->pairs->inducing;
	gp_weights *w = &d->pairs->weights;
	gp_device  *dev = d->dev;
	int64_t		m = d->span;
	gp_matrix	out = dev->create(dev, m, m, GP_DOUBLE);
	gp_matrix	alpha = gp_matrix_cols(out, 0, 1);

	if (model->alpha == NULL)
	{
		model->inducing.n = m;
		model->dgp.points = (int32_t) d->points;
		model->alpha = gp_alloc_array(d->env, m, sizeof(double));
		model->dgp.taken = gp_alloc_array(d->env, m * m, sizeof(double));
		model->dgp.point = gp_alloc_array(d->env, d->points * d->options.units, sizeof(float));
		model->inducing.pair = gp_alloc_array(d->env, 2 * m, sizeof(int32_t));
		for (int64_t k = 0; k < 2 * m; k++)
			model->inducing.pair[k] = d->inducing[k % 2 * m + k / 2];
	}
	gp_inducing_pairs_ready(&d->t, d->pairs);
	dev->gemm(dev, true, false, 1.0, f->root_inverse, w->mean.value, 0.0, alpha);
	dev->download(dev, gp_matrix_wrap(model->alpha, m, 1, GP_DOUBLE), alpha);
	double	   *s = gp_download(dev, w->log_s.value);
	double	   *host = gp_download(dev, f->root_inverse);
	for (int64_t k = 0; k < gp_items(d->env, m * m); k++)
		host[k] *= -expm1(2.0 * s[k / m]);
	gp_matrix	rows = gp_upload(dev, gp_matrix_wrap(host, m, m, GP_DOUBLE), GP_DOUBLE);
	dev->gemm(dev, true, false, 1.0, f->root_inverse, rows, 0.0, out);
	dev->download(dev, gp_matrix_wrap(model->dgp.taken, m, m, GP_DOUBLE), out);
	dev->download(dev, gp_matrix_wrap(model->dgp.point, d->points, f->scaled.cols, GP_FLOAT),
				  f->scaled);
	gp_free_all(d->env, host, s);
	gp_destroy_all(dev, &out, &rows);
}

gp_matrix
gp_dgp_readout(gp_dgp_training *d, gp_link_model *model)
{
	if (is_inducing(d))
	{
		write_inducing(d, model);
		model->dgp.scale = d->pairs->inducing.amplitude;
		model->dgp.offset = gp_parameter_number(&d->t, &d->pairs->inducing.offset);
		return d->pairs->weights.inverse;
	}
	model->dgp.scale = gp_pairs_scale(&d->t, &d->pairs->pairs);
	model->dgp.offset = gp_parameter_number(&d->t, &d->pairs->pairs.offset);
	return gp_pairs_weights(&d->t, &d->pairs->pairs);
}
