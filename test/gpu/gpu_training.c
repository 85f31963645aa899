/*
 * gpu_training.c - operations of a training on the GPU and on the CPU: their values and all gradients.
 */
#include "gpu.h"
#include "gpu_world.h"
#include "train/engine/engine.h"

#define NODES 150
#define UNITS 9
#define COSINES 11
#define POINTS 5
#define SPAN 6
#define PAIRS 70
#define ROOM 40000				/* numbers of a network */

/* A network of operations, and what its operations borrow. */
typedef struct network
{
	gp_trainer	t;
	gp_network	c;
	world		w;
	gp_csr	   *op;
	gp_csr	   *transposed;
	gp_matrix	map;
	gp_matrix	frequency;
	int32_t		row[NODES / 2];
	int32_t		end[2 * PAIRS];
	int32_t		inducing[2 * SPAN];
} network;

/* Adds an operation whose parameters are learnt. */
static gp_operation *
add(network *s, const gp_operation_class *class, int64_t width)
{
	gp_operation *op = gp_network_add(&s->t, &s->c, class);

	op->groups = 1;
	op->width = width;
	return op;
}

/* A network on features that are dropped now and then, sums of some rows, and cosines of these. */
static void
add_network(network *s)
{
	gp_operation *op = add(s, &gp_operation_linear, UNITS);

	op->linear.x = s->w.features;
	op->linear.transposed = s->w.features->csr ?
		gp_csr_transpose(s->t.env, s->w.features->csr) : NULL;
	op->linear.dropout = 0.25;
	add(s, &gp_operation_propagate, 0)->propagate = (gp_propagate) {s->op, s->transposed};
	add(s, &gp_operation_relu, 0);
	add(s, &gp_operation_dropout, 0)->dropout = 0.4;
	op = add(s, &gp_operation_linear, UNITS);
	op->linear.biased = true;
	op = add(s, &gp_operation_cosines, 3);
	op->cosines.count = COSINES;
	op->cosines.frequency = &s->frequency;
	op->cosines.amplitude = 1.5;
}

/* A layer that is drawn, by cosines or by inducing points, and its sums over neighbours. */
static void
add_layer(network *s, bool inducing, bool first)
{
	gp_operation *op = add(s, inducing ? &gp_operation_inducing : &gp_operation_cosines, UNITS);

	if (inducing)
	{
		op->inducing.count = POINTS;
		op->weights.map = first ? &s->map : NULL;
		op->weights.carries = !first;
	}
	else
	{
		op->cosines.count = COSINES;
		op->weights.sampled = true;
		op->cosines.frequency = &s->frequency;
		op->weights.map = first ? &s->map : NULL;
		op->weights.carries = !first;
		op->weights.log_length.groups = op->weights.log_a.groups = 1;
	}
	add(s, &gp_operation_mix, 0)->mix = (gp_mix) {.sums = 2,.groups = 3,.matrix = s->op,.transposed = s->transposed};
}

/* Two layers, and pairs of their rows. */
static void
add_layers(network *s, bool inducing)
{
	static const int32_t pair[2 * SPAN] = {0, 0, 0, 1, 2, 3, 1, 2, 4, 3, 4, 4};

	add_layer(s, inducing, true);
	add_layer(s, inducing, false);
	if (!inducing)
		add(s, &gp_operation_unit, 0)->unit.length = 1.7;
	gp_operation *op = add(s, inducing ? &gp_operation_inducing_pairs : &gp_operation_pairs, 0);
	op->ends.most = PAIRS;
	op->ends.end = s->end;
	if (!inducing)
		return;
	memcpy(s->inducing, pair, sizeof(pair));
	op->inducing.count = POINTS;
	op->inducing.span = SPAN;
	op->inducing.pair = s->inducing;
}

/* The numbers that a training starts from: for each parameter, and what is drawn. */
static void
start(network *s)
{
	gp_trainer *t = &s->t;

	for (int p = 0; p < t->nparameters; p++)
		gp_fill_normal(t, t->parameter[p]->value, 100 + p, 0.5);
	gp_fill_normal(t, s->map, 1, 0.5);
	gp_fill_normal(t, s->frequency, 2, 1.0);
	for (int k = 0; k < s->c.n; k++)
	{
		gp_operation *op = &s->c.operation[k];

		if (op->class == &gp_operation_cosines)
		{
			gp_fill_uniform(t, op->cosines.phase, 3, M_PI);
			gp_fill_normal(t, op->weights.sampled ? op->weights.noise : op->cosines.draw, 4 + k, 1.0);
		}
		else if (op->class->prior)
		{
			gp_fill_normal(t, op->weights.noise, 4 + k, 1.0);
			t->dev->shift(t->dev, op->weights.log_length.value, 1.5);
		}
	}
}

/* The network of one kind: a network, layers by cosines, layers by inducing points. */
static void
chain_open(network *s, gp_device *dev, gp_type type, int kind)
{
	gp_env	   *env = dev->env;

	memset(s, 0, sizeof(*s));
	s->w = random_world(env, NODES, 3, type);
	s->op = gp_graph_normalise(env, s->w.graph, kind == 0 ? GP_NORM_ROW : GP_NORM_SYM, type);
	s->transposed = gp_csr_transpose(env, s->op);
	s->t = gp_trainer_open(dev, type, 9);
	s->t.training = true;
	s->map = dev->create(dev, UNITS, UNITS, type);
	s->frequency = dev->create(dev, COSINES, UNITS, type);
	for (int k = 0; k < NODES / 2; k++)
		s->row[k] = 2 * k;
	for (int e = 0; e < 2 * PAIRS; e++)
		s->end[e] = e * 37 % NODES;
	if (kind == 0)
		add_network(s);
	else
		add_layers(s, kind == 2);
	s->c.input = kind == 0 ? (gp_matrix) {0} : dev->create(dev, NODES, UNITS, type);
	if (kind > 0)
		gp_fill_normal(&s->t, s->c.input, 60, 1.0);
	gp_network_open(&s->t, &s->c, NODES, kind == 0 ? s->w.features->dims : UNITS);
	start(s);
	if (kind == 0)
	{
		gp_csr	   *some = gp_csr_select(s->t.env, s->op, s->row, NODES / 2, NULL, NODES);

		s->c.operation[1].propagate = (gp_propagate) {some, gp_csr_transpose(s->t.env, some)};
		gp_network_rows(&s->c, 1, s->c.n - 1, NODES / 2);
	}
	else
		gp_pairs_set(&s->t, &s->c.operation[s->c.n - 1], PAIRS);
}

/* Frees it. */
static void
chain_close(network *s)
{
	gp_device  *dev = s->t.dev;

	gp_destroy_all(dev, &s->c.input, &s->map, &s->frequency);
	gp_trainer_close(&s->t);
}

/* A matrix's numbers: their place among those of the network. */
typedef struct span
{
	int64_t		first[GP_MOST_PARAMETERS + 2];
	int			n;
	double	   *number;
} span;

/* Appends a matrix's numbers. */
static void
append(gp_device *dev, gp_matrix m, span *s)
{
	dev->download(dev, gp_matrix_wrap(s->number + s->first[s->n], m.rows, m.cols, GP_DOUBLE), m);
	s->first[s->n + 1] = s->first[s->n] + m.rows * m.cols;
	s->n++;
}

/* The value of a network, and all gradients of half its square and of the priors. */
static span
run_chain(gp_device *dev, gp_type type, int kind)
{
	span		out = {.number = gp_alloc_array(dev->env, ROOM, sizeof(double))};
	network		s;

	chain_open(&s, dev, type, kind);
	gp_trainer_clear(&s.t);
	gp_network_forward(&s.t, &s.c, s.c.n);
	append(dev, gp_network_value(&s.c), &out);
	dev->copy(dev, gp_network_gradient(&s.c), gp_network_value(&s.c));
	gp_network_backward(&s.t, &s.c);
	for (int k = 0; k < s.c.n; k++)
		if (s.c.operation[k].class->prior)
			s.c.operation[k].class->prior(&s.t, &s.c.operation[k], 0.2);
	for (int p = 0; p < s.t.nparameters; p++)
		if (s.t.parameter[p]->groups)
			append(dev, s.t.parameter[p]->gradient, &out);
	chain_close(&s);
	return out;
}

/* The largest difference of a matrix's numbers relative to the largest of them, over all matrices. */
static double
compare(const span *want, const span *got)
{
	double		worst = 0.0;

	for (int m = 0; m < want->n; m++)
	{
		double		diff = 0.0;
		double		size = 0.0;

		for (int64_t k = want->first[m]; k < want->first[m + 1]; k++)
		{
			diff = isfinite(got->number[k]) ? fmax(diff, fabs(got->number[k] - want->number[k])) : INFINITY;
			size = fmax(size, fabs(want->number[k]));
		}
		worst = fmax(worst, size > 1e-6 ? diff / size : INFINITY);
	}
	return worst;
}

/* One kind on both devices, with so much memory for matrices. */
static void
check_kind(gp_env *env, gp_type type, int kind, size_t memory)
{
	static const char *const kinds[] = {"a network and cosines", "layers by cosines", "layers and pairs by inducing points"};
	gp_device  *cpu = gp_device_cpu(env, 1);
	gp_device  *card = gpu_open(env, memory);
	span		want = run_chain(cpu, type, kind);
	span		got = run_chain(card, type, kind);
	double		worst = compare(&want, &got);
	char		name[200];

	snprintf(name, sizeof(name), "%s, %s%s: a value and %d gradients differ by %.2g", kinds[kind],
			 type == GP_FLOAT ? "float" : "double", memory > 0 ? ", streamed" : "", want.n - 1, worst);
	ok(worst <= (type == GP_FLOAT ? 1e-3 : 1e-11), name);
	card->close(card);
	cpu->close(cpu);
	ok(gpu_clean(), "nothing is left behind");
}

/* All kinds, with all matrices on the card and with hardly any. */
void
gpu_training(void)
{
	for (volatile int kind = 0; kind < 3; kind++)
	{
		/* Inducing points are trained in double alone. */
		gp_type		narrow = kind == 2 ? GP_DOUBLE : GP_FLOAT;

		in_env(check_kind(env, GP_DOUBLE, kind, 0));
		if (narrow == GP_FLOAT)
			in_env(check_kind(env, narrow, kind, 0));
		in_env(check_kind(env, narrow, kind, 60000));
	}
}
