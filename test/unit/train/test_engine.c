/*
 * test_engine.c - operations of a training: golden values, derivatives against differences,
 * equal bits, and every allocation failing.
 */
#include "test_env.h"
#include "test_graphs.h"
#include "test_trainer.h"

#define N 34

static const int32_t labelled_rows[N] = {[0] = 0, [1] = 0, [32] = 1, [33] = 1};
static int32_t labels[N];

/* The log likelihood of the network's value, whose gradient is set. */
static double
likelihood(gp_trainer *t, gp_network *c, const int32_t *label, double weight)
{
	gp_matrix	value = gp_network_value(c);
	double		host[4000];
	gp_matrix	wrapped = gp_matrix_wrap(host, value.rows, value.cols, GP_DOUBLE);

	t->dev->download(t->dev, wrapped, value);
	double		sum = gp_softmax(t->env, value.rows, (int32_t) value.cols, label, weight, host);
	t->dev->upload(t->dev, gp_network_gradient(c), wrapped);
	return sum;
}

/* Two convolutions and cosine features of the karate club. */
static void
check_golden(gp_env *env, gp_type type)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	double		tolerance = type == GP_DOUBLE ? 1e-9 : 1e-4;
	gp_trainer	t = gp_trainer_open(dev, type, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_features *x = gp_features_identity(env, N, type);
	gp_csr	   *op = gp_graph_normalise(env, graph, GP_NORM_ROW, type);
	gp_csr	   *transposed = gp_csr_transpose(env, op);
	gp_csr	   *identity = gp_csr_transpose(env, x->csr);
	gp_matrix	o = dev->create(dev, 16, 4, type);
	gp_matrix	go = dev->create(dev, 16, 4, type);
	gp_network	c = {.n = 0};
	gp_operation *b[7];
	double		value[2];

	b[0] = gp_network_add(&t, &c, &gp_operation_linear);
	b[1] = gp_network_add(&t, &c, &gp_operation_propagate);
	b[2] = gp_network_add(&t, &c, &gp_operation_relu);
	b[3] = gp_network_add(&t, &c, &gp_operation_linear);
	b[4] = gp_network_add(&t, &c, &gp_operation_propagate);
	b[5] = gp_network_add(&t, &c, &gp_operation_relu);
	b[6] = gp_network_add(&t, &c, &gp_operation_cosines);
	b[0]->linear.x = x;
	b[0]->linear.transposed = identity;
	b[0]->width = 8;
	b[3]->width = 4;
	b[6]->width = 2;
	b[0]->groups = b[3]->groups = b[6]->groups = 1;
	b[1]->propagate = b[4]->propagate = (gp_propagate) {op, transposed};
	gp_cosines *f = &b[6]->cosines;
	gp_weights *w = &b[6]->weights;
	f->count = 16;
	w->sampled = true;
	f->frequency = &o;
	f->frequency_gradient = &go;
	w->log_length.groups = w->log_a.groups = 1;
	gp_network_open(&t, &c, N, N);
	fill(&t, b[0]->linear.weight.value, sin, 0.3, 0.0, false);
	fill(&t, b[3]->linear.weight.value, sin, 0.3, 0.0, false);
	fill(&t, o, sin, 1.0, 0.0, true);
	fill(&t, f->phase, sin, M_PI, M_PI, false);
	fill(&t, w->mean.value, sin, 0.3, 0.0, false);
	fill(&t, w->log_s.value, sin, 0.5, -1.0, false);
	fill(&t, w->noise, cos, 1.0, 0.0, false);
	for (int i = 0; i < N; i++)
		labels[i] = i < 2 || i > 31 ? labelled_rows[i] : -1;
	gp_trainer_clear(&t);
	dev->fill(dev, go, 0.0);
	gp_network_forward(&t, &c, c.n);
	dev->download(dev, gp_matrix_wrap(value, 1, 2, GP_DOUBLE), gp_matrix_rows(gp_network_value(&c), 0, 1));
	close_to(value[0], 0.9003630736846421, tolerance, type == GP_DOUBLE ? "F of the first node, double" : "F of the first node, float");
	close_to(value[1], -0.1144767603117179, tolerance, "and its other class");
	double		ll = likelihood(&t, &c, labels, 1.0);
	close_to(ll, -2.730964719630628, tolerance, "the log likelihood");
	close_to(gp_weights_divergence(&t, w), 19.27880168223796, tolerance, "the divergence");
	gp_network_backward(&t, &c);
	b[6]->class->prior(&t, b[6], 1.0);
	check_gradient(&t, b[0]->linear.weight.gradient, .03773213413930975, .00014563248587617234, tolerance, "W1");
	check_gradient(&t, b[3]->linear.weight.gradient, .0554703685922006, 0, tolerance, "W2");
	check_gradient(&t, go, .0035560052548604683, 0, tolerance, "O");
	check_gradient(&t, w->mean.gradient, 1.6438093154387772, -.4193632983034607, tolerance, "m");
	check_gradient(&t, w->log_s.gradient, 4.744846092134044, .7111935942063405, tolerance, "log s");
	check_gradient(&t, w->log_length.gradient, .005818574649592277, 0, tolerance, "log len");
	check_gradient(&t, w->log_a.gradient, .15565993179401344, -.15565993179401344, tolerance, "log a");
	gp_trainer_close(&t);
	dev->close(dev);
}

/* A small training of everything: the network, and the network of its frequencies. */
typedef struct small
{
	gp_trainer	t;
	gp_network	network;
	gp_network	spectrum;
	gp_operation *head;
	int32_t		index[40];
	int32_t		label[40];
} small;

/* Makes it: sparse or dense features, frequencies learnt, sums of some rows. */
static void
small_open(gp_env *env, gp_device *dev, gp_type type, bool sparse, bool sampled, int n, int width, small *s)
{
	uint64_t	state = 4;
	gp_graph   *graph = random_hub_graph(env, &state, n, n, 1, 9, false);
	gp_csr	   *op = gp_graph_normalise(env, graph, GP_NORM_ROW, type);
	gp_features *x = gp_features_identity(env, n, type);

	memset(s, 0, sizeof(*s));
	s->t = gp_trainer_open(dev, type, 9);
	s->t.training = true;
	if (!sparse)
	{
		double	   *dense = gp_alloc_array(env, n * width, sizeof(double));

		for (int k = 0; k < n * width; k++)
			dense[k] = draw_unit(&state) - 0.5;
		x = gp_alloc_zero(env, 1, sizeof(*x));
		*x = (gp_features) {n, width, NULL, dense, GP_DOUBLE};
	}
	gp_operation *b = gp_network_add(&s->t, &s->network, &gp_operation_linear);
	b->linear.x = x;
	b->linear.transposed = sparse ? gp_csr_transpose(env, x->csr) : NULL;
	b->linear.dropout = 0.25;
	b->width = width;
	b->groups = 1;
	b = gp_network_add(&s->t, &s->network, &gp_operation_propagate);
	b->propagate = (gp_propagate) {op, gp_csr_transpose(env, op)};
	gp_network_add(&s->t, &s->network, &gp_operation_relu);
	gp_network_add(&s->t, &s->network, &gp_operation_dropout)->dropout = 0.4;
	s->head = b = gp_network_add(&s->t, &s->network, &gp_operation_cosines);
	b->groups = 3;
	b->width = 3;
	b->cosines.count = 7;
	b->weights.sampled = sampled;
	b->weights.log_length.groups = sampled ? 1 : 0;
	b->weights.log_a.groups = sampled ? 1 : 0;
	b->cosines.amplitude = 1.5;
	b = gp_network_add(&s->t, &s->spectrum, &gp_operation_linear);
	b->linear.biased = true;
	b->width = 5;
	b->groups = 2;
	gp_network_add(&s->t, &s->spectrum, &gp_operation_relu);
	b = gp_network_add(&s->t, &s->spectrum, &gp_operation_linear);
	b->linear.biased = true;
	b->width = 2 * width;
	b->groups = 2;
	gp_network_add(&s->t, &s->spectrum, &gp_operation_spectrum);
	gp_network_open(&s->t, &s->spectrum, 7, 1);
	s->head->cosines.frequency = &s->spectrum.operation[3].value;
	s->head->cosines.frequency_gradient = &s->spectrum.operation[3].gradient;
	gp_network_open(&s->t, &s->network, n, x->dims);
	gp_matrix	points = dev->create(dev, 7, 1, type);
	gp_fill_normal(&s->t, points, 5, 1.0);
	s->spectrum.input = points;
	gp_fill_uniform(&s->t, s->head->cosines.phase, 6, M_PI);
	gp_fill_normal(&s->t, sampled ? s->head->weights.noise : s->head->cosines.draw, 7, 1.0);
	gp_fill_normal(&s->t, s->head->weights.mean.value, 8, 1.0);
	gp_fill_uniform(&s->t, s->head->weights.log_s.value, 9, 0.5);
	for (int k = 0; k <= n / 2 && k < 40; k++)
	{
		s->index[k] = 2 * k < n ? 2 * k : n - 1;
		s->label[k] = k % 4 - 1;
	}
	/* half of the sums, in matrices that change between steps as no device knows them */
	op = gp_csr_select(env, op, s->index, (n + 1) / 2, NULL, n);
	s->network.operation[1].propagate = (gp_propagate) {op, gp_csr_transpose(env, op)};
	gp_network_rows(&s->network, 1, s->network.n - 1, (n + 1) / 2);
}

/* What is minimised, and its gradient. */
static double
small_loss(void *training)
{
	small	   *s = training;

	gp_trainer_clear(&s->t);
	s->t.dev->fill(s->t.dev, gp_network_gradient(&s->spectrum), 0.0);
	gp_network_forward(&s->t, &s->spectrum, s->spectrum.n);
	gp_network_forward(&s->t, &s->network, s->network.n);
	double		ll = likelihood(&s->t, &s->network, s->label, 0.7);
	gp_network_backward(&s->t, &s->network);
	s->head->class->prior(&s->t, s->head, 0.2);
	gp_network_backward(&s->t, &s->spectrum);
	return -ll + 0.2 * gp_weights_divergence(&s->t, &s->head->weights);
}

/* All derivatives against central differences. */
static void
check_differences(gp_env *env, bool sparse, bool sampled, int n, int width)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	small		s;
	char		name[120];

	small_open(env, dev, GP_DOUBLE, sparse, sampled, n, width, &s);
	snprintf(name, sizeof(name), "%s features, weights %s, %d nodes, %d units", sparse ? "sparse" : "dense",
			 sampled ? "drawn" : "fixed", n, width);
	check_derivatives(&s.t, small_loss, &s, name);
	dev->close(dev);
}

/* Some steps of a training; the bits of all parameters. */
static uint64_t
steps_of(gp_device *dev, gp_type type, bool sparse)
{
	small		s;

	small_open(dev->env, dev, type, sparse, false, 77, 33, &s);
	s.t.clip = 0.5;
	for (s.t.step = 0; s.t.step < 6; s.t.step++)
	{
		small_loss(&s);
		gp_trainer_step(&s.t, (int) (s.t.step % 2), 0.01);
	}
	uint64_t	hash = hash_parameters(&s.t);
	dev->destroy(dev, &s.spectrum.input);
	gp_trainer_close(&s.t);
	return hash;
}

/* The same of both kinds of features. */
static uint64_t
some_steps(gp_device *dev, gp_type type)
{
	return steps_of(dev, type, true) ^ steps_of(dev, type, false);
}

/* A batch's likelihood against plain sums. */
static void
check_softmax(gp_env *env)
{
	static const int32_t label[] = {1, -1, 0};
	double		f[] = {1000.0, 1001.0, 999.0, 1.0, 2.0, 3.0, -5.0, 0.0, 0.5};
	double		ll = gp_softmax(env, 3, 3, label, 0.5, f);
	double		first = exp(-1.0) + 1.0 + exp(-2.0);
	double		last = exp(-5.0) + 1.0 + exp(0.5);

	close_to(ll, 0.5 * (-log(first) - 5.0 - log(last)), 1e-12, "the likelihood of a batch");
	close_to(f[0], 0.5 * exp(-1.0) / first, 1e-12, "its gradient");
	close_to(f[1], 0.5 * (1.0 / first - 1.0), 1e-12, "and at the class");
	ok(f[3] == 0.0 && f[5] == 0.0, "a row without a class has none");
}

/* What is drawn is uniform, or normal, and depends on its place alone. */
static void
check_draws(gp_env *env)
{
	double		mean = 0.0;
	double		square = 0.0;
	double		kept = 0.0;

	for (uint64_t k = 0; k < 100000; k++)
	{
		double		z = gp_element_normal(3, k);

		mean += z;
		square += z * z;
		kept += gp_element_draw(5, k) >= gp_element_bound(0.3);
	}
	ok(fabs(mean) < 1300.0 && fabs(square - 100000.0) < 1800.0, "normal numbers have their moments");
	ok(fabs(kept - 70000.0) < 600.0, "elements are dropped at their rate");
	ok(gp_element_normal(3, 7) == gp_element_normal(3, 7) && gp_element_normal(3, 7) != gp_element_normal(4, 7), "by seed and place");
}

int
main(void)
{
	in_env(check_golden(env, GP_DOUBLE));
	in_env(check_golden(env, GP_FLOAT));
	in_env(check_softmax(env));
	in_env(check_draws(env));
	for (volatile int way = 0; way < 4; way++)
	{
		in_env(check_differences(env, way & 1, way & 2, 12, 4));
		in_env(check_differences(env, way & 1, way & 2, 5, 1));
		in_env(check_differences(env, way & 1, way & 2, 33, 31));
	}
	in_env(check_bits(env, GP_FLOAT, some_steps));
	in_env(check_bits(env, GP_DOUBLE, some_steps));
	disturb("a training", TEST_REFUSE, 1, 25, whole_training(env, some_steps));
	disturb("a training", TEST_CANCEL, 1, 25, whole_training(env, some_steps));
	return done_testing();
}
