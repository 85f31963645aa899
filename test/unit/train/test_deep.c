/*
 * test_deep.c - operations of the deep Gaussian process of pairs: golden values, derivatives against
 * differences, equal bits, and every allocation failing.
 */
#include "test_env.h"
#include "test_graphs.h"
#include "test_trainer.h"

/* A layer: cosine features, then sums over neighbours. */
static gp_operation *
add_layer(gp_trainer *t, gp_network *c, gp_matrix *o, int64_t units, int64_t count, int groups, const gp_csr *op,
		  const gp_csr *transposed)
{
	gp_operation *b = gp_network_add(t, c, &gp_operation_cosines);
	gp_operation *layer = b;

	b->width = units;
	b->groups = 1;
	b->cosines.count = count;
	b->weights.sampled = true;
	b->cosines.frequency = o;
	b->weights.log_length.groups = b->weights.log_a.groups = 1;
	b = gp_network_add(t, c, &gp_operation_mix);
	b->groups = 1;
	b->mix.sums = 2;
	b->mix.groups = groups;
	b->mix.matrix = op;
	b->mix.transposed = transposed;
	return layer;
}

/* The inputs of the golden values: log(1 + degree), fill(34, 4, 1). */
static void
golden_inputs(gp_trainer *t, const gp_graph *graph, gp_matrix x)
{
	double		host[34 * 5];

	for (int i = 0; i < 34; i++)
		for (int j = 0; j < 5; j++)
			host[i * 5 + j] = j == 0 ? log(1.0 + (double) (graph->start[i + 1] - graph->start[i])) : sin(4.0 * i + j);
	t->dev->upload(t->dev, x, gp_matrix_wrap(host, 34, 5, GP_DOUBLE));
}

/* Two layers and pairs of the karate club. */
static void
check_golden(gp_env *env, gp_type type)
{
	static const double norms[2][5] = {
		{4.197229462803787, 3.9808764940298986, .4054535559593689, .4180184597609377, .08366641894497388},
		{4.025483103307236, 4.024562542062694, .6832063295221372, .36657601775523385, .07057024106109534}};
	static const double firsts[2][5] = {
		{-2.2407089780265066, .5526212229289035, -.24894988144894362, -.4180184597609377, -.07672638447835983},
		{-.8404268449791759, .7692748340173603, -.6646359032412943, -.36657601775523385, -.07015926383003025}};
	static int32_t end[20] = {0, 2, 5, 8, 32, 0, 3, 9, 16, 26, 1, 3, 16, 30, 33, 33, 29, 12, 20, 5};
	static const bool linked[10] = {true, true, true, true, true};
	static const double logit[2] = {0.0, -0.85};
	static const double readout[2] = {-0.5, 0.2};
	gp_device  *dev = gp_device_cpu(env, 2);
	double		tolerance = type == GP_DOUBLE ? 1e-9 : 1e-4;
	gp_trainer	t = gp_trainer_open(dev, type, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_csr	   *op = gp_graph_normalise(env, graph, GP_NORM_SYM, type);
	gp_matrix	o[2] = {dev->create(dev, 8, 5, type), dev->create(dev, 8, 3, type)};
	gp_matrix	map = dev->create(dev, 5, 3, type);
	gp_network	c = {.n = 0};
	gp_operation *f[2] = {add_layer(&t, &c, &o[0], 3, 8, 3, op, op), add_layer(&t, &c, &o[1], 3, 8, 3, op, op)};
	gp_operation *pairs = gp_network_add(&t, &c, &gp_operation_pairs);
	double		unit[15] = {[0] = 1.0, [4] = 1.0, [8] = 1.0};
	double		r[10];
	gp_matrix	host = gp_matrix_wrap(r, 10, 1, GP_DOUBLE);

	f[0]->weights.map = &map;
	f[1]->weights.carries = true;
	dev->upload(dev, map, gp_matrix_wrap(unit, 5, 3, GP_DOUBLE));
	pairs->groups = 1;
	pairs->ends.most = 10;
	pairs->ends.end = end;
	c.input = dev->create(dev, 34, 5, type);
	golden_inputs(&t, graph, c.input);
	gp_network_open(&t, &c, 34, 5);
	for (int k = 0; k < 2; k++)
	{
		fill(&t, o[k], sin, 1.0, 0.1 * k, true);
		fill(&t, f[k]->cosines.phase, sin, M_PI, M_PI, false);
		for (int j = 0; j < 8; j++)
			r[j] = M_PI * (1.0 + sin(1.0 + j + k));
		dev->upload(dev, f[k]->cosines.phase, gp_matrix_wrap(r, 1, 8, GP_DOUBLE));
		fill(&t, f[k]->weights.mean.value, sin, 0.3, 0.0, false);
		fill(&t, f[k]->weights.log_s.value, sin, 0.5, -1.0, false);
		fill(&t, f[k]->weights.log_length.value, sin, 0.2, 0.0, false);
		dev->fill(dev, f[k]->weights.log_a.value, -1.0);
		fill(&t, f[k]->weights.noise, cos, 1.0, 0.0, false);
		dev->upload(dev, c.operation[2 * k + 1].mix.logit.value, gp_matrix_wrap((void *) logit, 1, 2, GP_DOUBLE));
	}
	fill(&t, pairs->pairs.log_w.value, sin, 0.3, 0.0, false);
	dev->fill(dev, pairs->pairs.offset.value, readout[0]);
	dev->fill(dev, pairs->pairs.gain.value, readout[1]);
	gp_pairs_set(&t, pairs, 10);
	gp_trainer_clear(&t);
	gp_network_forward(&t, &c, c.n);
	dev->download(dev, host, gp_network_value(&c));
	close_to(r[0], 6.7182703689903, tolerance, type == GP_DOUBLE ? "r of a pair, double" : "r of a pair, float");
	close_to(r[1], 4.653443055407813, tolerance, "and of another");
	double		ll = gp_logistic(env, 10, linked, 1.0, r);
	close_to(ll, -17.233985915528084, tolerance, "the log likelihood");
	close_to(gp_weights_divergence(&t, &f[0]->weights) + gp_weights_divergence(&t, &f[1]->weights), 29.214782662755173, tolerance,
			 "the divergence");
	dev->upload(dev, gp_network_gradient(&c), host);
	gp_network_backward(&t, &c);
	for (int k = 0; k < 2; k++)
	{
		gp_matrix	gradient[5] = {f[k]->weights.mean.gradient, f[k]->weights.log_s.gradient, f[k]->weights.log_length.gradient,
		f[k]->weights.log_a.gradient, c.operation[2 * k + 1].mix.logit.gradient};
		static const char *const name[5] = {"m", "log s", "log len", "log a", "the shares"};

		gp_operation_cosines.prior(&t, &c.operation[2 * k], 1.0);
		for (int j = 0; j < 5; j++)
			check_gradient(&t, gradient[j], norms[k][j], firsts[k][j], tolerance, name[j]);
	}
	check_gradient(&t, pairs->pairs.log_w.gradient, 33.500419516821665, -33.49770369505073, tolerance, "log w");
	dev->download(dev, gp_matrix_wrap(&r[0], 1, 1, GP_DOUBLE), pairs->pairs.offset.gradient);
	dev->download(dev, gp_matrix_wrap(&r[1], 1, 1, GP_DOUBLE), pairs->pairs.gain.gradient);
	close_to(hypot(r[0], r[1]), 16.97517786985838, tolerance, "c and gain");
	close_to(-r[0], -3.865199258932079, tolerance, "c");
	gp_trainer_close(&t);
	dev->close(dev);
}

/* A small model: two layers, rows of one length, pairs. */
typedef struct small
{
	gp_trainer	t;
	gp_network	network;
	gp_matrix	o[2];
	gp_operation *pairs;
	int32_t		end[60];
	bool		linked[30];
} small;

/* Makes it, of n nodes, so many units and groups of columns. */
static void
small_open(gp_env *env, gp_device *dev, gp_type type, int n, int units, int groups, small *s)
{
	uint64_t	state = 4;
	gp_graph   *graph = random_hub_graph(env, &state, n, n, 1, 9, true);
	gp_csr	   *op = gp_graph_normalise(env, graph, GP_NORM_SYM, type);
	gp_csr	   *transposed = gp_csr_transpose(env, op);

	memset(s, 0, sizeof(*s));
	s->t = gp_trainer_open(dev, type, 9);
	s->o[0] = dev->create(dev, 7, units, type);
	s->o[1] = dev->create(dev, 7, units, type);
	for (int k = 0; k < 2; k++)
	{
		gp_fill_normal(&s->t, s->o[k], 50 + k, 1.0);
		add_layer(&s->t, &s->network, &s->o[k], units, 7, groups, op, transposed)->weights.carries = true;
	}
	gp_network_add(&s->t, &s->network, &gp_operation_unit)->unit.length = 1.7;
	s->pairs = gp_network_add(&s->t, &s->network, &gp_operation_pairs);
	s->pairs->groups = 1;
	s->pairs->ends.most = 30;
	s->pairs->ends.end = s->end;
	s->network.input = dev->create(dev, n, units, type);
	gp_fill_normal(&s->t, s->network.input, 60, 1.0);
	gp_network_open(&s->t, &s->network, n, units);
	for (int k = 0; k < 2; k++)
	{
		gp_operation *f = &s->network.operation[2 * k];

		gp_fill_uniform(&s->t, f->cosines.phase, 6, M_PI);
		gp_fill_normal(&s->t, f->weights.noise, 70 + k, 1.0);
		gp_fill_normal(&s->t, f->weights.mean.value, 8, 1.0);
		gp_fill_uniform(&s->t, f->weights.log_s.value, 9, 0.5);
		gp_fill_uniform(&s->t, s->network.operation[2 * k + 1].mix.logit.value, 10, 2.0);
	}
	gp_fill_uniform(&s->t, s->pairs->pairs.log_w.value, 11, 0.3);
	for (int e = 0; e < 30; e++)
	{
		s->end[e] = (int32_t) (draw_unit(&state) * n);
		s->end[(n > 1 ? 21 : 30) + e % 21] = (int32_t) (draw_unit(&state) * n);
		s->linked[e] = e % 3 == 0;
	}
	gp_pairs_set(&s->t, s->pairs, n > 1 ? 21 : 0);
}

/* What is minimised, and its gradient. */
static double
small_loss(void *training)
{
	small	   *s = training;
	double		ll = pairs_likelihood(&s->t, &s->network, s->linked);
	double		divergence = 0.0;

	for (int k = 0; k < 2; k++)
	{
		gp_operation_cosines.prior(&s->t, &s->network.operation[2 * k], 0.2);
		divergence += gp_weights_divergence(&s->t, &s->network.operation[2 * k].weights);
	}
	return -ll + 0.2 * divergence;
}

/* All derivatives against central differences. */
static void
check_differences(gp_env *env, int n, int units, int groups)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	small		s;
	char		name[120];

	small_open(env, dev, GP_DOUBLE, n, units, groups, &s);
	snprintf(name, sizeof(name), "%d nodes, %d units in %d groups", n, units, groups);
	check_derivatives(&s.t, small_loss, &s, name);
	dev->close(dev);
}

/* Some steps of a training; the bits of all parameters. */
static uint64_t
some_steps(gp_device *dev, gp_type type)
{
	small		s;

	small_open(dev->env, dev, type, 1333, 33, 3, &s);
	for (s.t.step = 0; s.t.step < 6; s.t.step++)
	{
		small_loss(&s);
		gp_trainer_step(&s.t, 0, 0.01);
	}
	uint64_t	hash = hash_parameters(&s.t);
	gp_destroy_all(dev, &s.network.input, &s.o[0], &s.o[1]);
	gp_trainer_close(&s.t);
	return hash;
}

/* The likelihood of links, far from 0 too. */
static void
check_logistic(gp_env *env)
{
	static const bool linked[] = {true, false, true, false};
	double		r[] = {0.3, 0.3, -800.0, -800.0};
	double		ll = gp_logistic(env, 4, linked, 0.5, r);

	close_to(ll, 0.5 * (-log1p(exp(-0.3)) - log1p(exp(0.3)) - 800.0), 1e-12, "the likelihood of links");
	close_to(r[0], -0.5 / (1.0 + exp(0.3)), 1e-12, "its gradient at a link");
	close_to(r[1], 0.5 / (1.0 + exp(-0.3)), 1e-12, "and at none");
	ok(r[2] == -0.5 && r[3] == 0.0, "far from 0 it is that of a line, or 0");
}

/* A whole training where an allocation fails. */
static void
whole(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);

	some_steps(dev, GP_FLOAT);
	dev->close(dev);
}

int
main(void)
{
	in_env(check_golden(env, GP_DOUBLE));
	in_env(check_golden(env, GP_FLOAT));
	in_env(check_logistic(env));
	in_env(check_differences(env, 12, 6, 3));
	in_env(check_differences(env, 12, 5, 1));
	in_env(check_differences(env, 5, 31, 3));
	in_env(check_differences(env, 33, 1, 1));
	in_env(check_bits(env, GP_FLOAT, some_steps));
	in_env(check_bits(env, GP_DOUBLE, some_steps));
	disturb("a training of pairs", TEST_REFUSE, 1, 25, whole(env));
	disturb("a training of pairs", TEST_CANCEL, 1, 25, whole(env));
	return done_testing();
}
