/*
 * test_inducing.c - Gaussian processes by inducing points: layers and pairs against plain loops, derivatives against
 * differences, equal bits, and every allocation failing.
 */
#include "test_graphs.h"
#include "test_trainer.h"

#define POINTS 5
#define SPAN 6
#define MOST_SPAN 40
#define JITTER 1e-6

/* A small model: two layers with sums over neighbours, and pairs. */
typedef struct small
{
	gp_trainer	t;
	gp_network	network;
	gp_matrix	map;
	gp_operation *pairs;
	int32_t		pair[2 * SPAN];
	int32_t		end[3000];
	bool		linked[1500];
	int			layers;
	int			n;				/* pairs */
} small;

/* Random numbers for all parameters of an operation. */
static void
fill_parameters(gp_trainer *t, gp_operation *f, uint64_t seed)
{
	gp_fill_normal(t, f->inducing.point.value, seed, 1.0);
	gp_fill_uniform(t, f->weights.log_length.value, seed + 1, 0.3);
	gp_fill_uniform(t, f->weights.log_a.value, seed + 2, 0.5);
	gp_fill_normal(t, f->weights.mean.value, seed + 3, 1.0);
	gp_fill_uniform(t, f->weights.log_s.value, seed + 4, 0.5);
	gp_fill_normal(t, f->weights.noise, seed + 5, 1.0);
}

/* Makes it, of n nodes with so many inputs, so many units; its pairs are the caller's number. */
static void
small_open(gp_env *env, gp_device *dev, int n, int inputs, int units, int layers, int pairs, small *s)
{
	static const int32_t pair[2 * SPAN] = {0, 0, 0, 1, 2, 3, 1, 2, 4, 3, 4, 4};
	uint64_t	state = 4;
	gp_graph   *graph = random_hub_graph(env, &state, n, n, 1, 9, false);
	gp_csr	   *op = gp_graph_normalise(env, graph, GP_NORM_SYM, GP_DOUBLE);

	memset(s, 0, sizeof(*s));
	s->t = gp_trainer_open(dev, GP_DOUBLE, 9);
	s->layers = layers;
	s->n = pairs;
	memcpy(s->pair, pair, sizeof(pair));
	s->map = dev->create(dev, inputs, units, GP_DOUBLE);
	gp_fill_normal(&s->t, s->map, 3, 0.5);
	for (int k = 0; k < layers; k++)
	{
		gp_operation *b = gp_network_add(&s->t, &s->network, &gp_operation_inducing);

		b->width = units;
		b->groups = 1;
		b->inducing.count = POINTS;
		b->weights.map = k == 0 ? &s->map : NULL;
		b->weights.carries = k > 0;
		b = gp_network_add(&s->t, &s->network, &gp_operation_mix);
		b->groups = 1;
		b->mix = (gp_mix) {.sums = 2,.groups = 3,.matrix = op,.transposed = op};
	}
	s->pairs = gp_network_add(&s->t, &s->network, &gp_operation_inducing_pairs);
	s->pairs->groups = 1;
	s->pairs->inducing.count = POINTS;
	s->pairs->inducing.span = SPAN;
	s->pairs->inducing.pair = s->pair;
	s->pairs->ends.most = pairs + 2;
	s->pairs->ends.end = s->end;
	s->network.input = dev->create(dev, n, inputs, GP_DOUBLE);
	gp_fill_normal(&s->t, s->network.input, 60, 1.0);
	gp_network_open(&s->t, &s->network, n, inputs);
	for (int k = 0; k < layers; k++)
	{
		fill_parameters(&s->t, &s->network.operation[2 * k], 100 + 10 * k);
		gp_fill_uniform(&s->t, s->network.operation[2 * k + 1].mix.logit.value, 10, 2.0);
	}
	fill_parameters(&s->t, s->pairs, 200);
	dev->fill(dev, s->pairs->inducing.offset.value, -0.4);
	for (int e = 0; e < pairs; e++)
	{
		s->end[e] = (int32_t) (draw_unit(&state) * n);
		s->end[pairs + e] = (int32_t) (draw_unit(&state) * n);
		s->linked[e] = e % 3 == 0;
	}
	gp_pairs_set(&s->t, s->pairs, pairs);
}

/* Frees it. */
static void
small_close(small *s)
{
	gp_destroy_all(s->t.dev, &s->network.input, &s->map);
	gp_trainer_close(&s->t);
}

/* What is minimised, and its gradient. */
static double
small_loss(void *training)
{
	small	   *s = training;
	double		ll = pairs_likelihood(&s->t, &s->network, s->linked);
	double		divergence = 0.0;

	for (int k = 0; k <= s->layers; k++)
	{
		s->network.operation[2 * k].class->prior(&s->t, &s->network.operation[2 * k], 0.2);
		divergence += gp_weights_divergence(&s->t, &s->network.operation[2 * k].weights);
	}
	return -ll + 0.2 * divergence;
}

/* ---- plain loops ---- */

/* A matrix as doubles; memory of the environment. */
static double *
read_matrix(gp_trainer *t, gp_matrix m)
{
	double	   *out = gp_alloc_array(t->env, m.rows * m.cols, sizeof(double));

	t->dev->download(t->dev, gp_matrix_wrap(out, m.rows, m.cols, GP_DOUBLE), m);
	return out;
}

/* k of two rows. */
static double
plain_kernel(const double *x, const double *z, const double *log_length, double log_a, int width)
{
	double		sum = 0.0;

	for (int d = 0; d < width; d++)
		sum += pow((x[d] - z[d]) / exp(log_length[d]), 2.0);
	return exp(2.0 * log_a - sum / 2.0);
}

/* L^-1 c for LL' = a, n x n. */
static void
plain_solve(const double *a, int n, double *c)
{
	double		l[MOST_SPAN][MOST_SPAN] = {{0}};

	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j <= i; j++)
		{
			double		sum = a[i * n + j];

			for (int k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
		}
		for (int k = 0; k < i; k++)
			c[i] -= l[i][k] * c[k];
		c[i] /= l[i][i];
	}
}

/* A draw: phi mean + sqrt(level + phi^2 (s^2 - 1)) e. */
static double
plain_draw(const double *phi, int span, const double *mean, const double *log_s, int cols, int col, double level, double e)
{
	double		out = 0.0;

	for (int k = 0; k < span; k++)
	{
		out += phi[k] * mean[k * cols + col];
		level += phi[k] * phi[k] * (exp(2.0 * log_s[k * cols + col]) - 1.0);
	}
	return out + sqrt(level) * e;
}

/* The points' covariance. */
static void
plain_points(const double *z, const double *log_length, double log_a, int width, double *k)
{
	for (int i = 0; i < POINTS; i++)
		for (int j = 0; j < POINTS; j++)
			k[i * POINTS + j] = plain_kernel(z + i * width, z + j * width, log_length, log_a, width) +
				(i == j ? JITTER * exp(2.0 * log_a) : 0.0);
}

/* One layer and its pairs, without sums over neighbours, against loops. */
static void
check_plain(gp_env *env)
{
	enum {NODES = 9, WIDTH = 3, PAIRS = 12};
	gp_device  *dev = gp_device_cpu(env, 2);
	small		s;
	double	   *part[6];
	double		k[POINTS * POINTS];
	double		c[SPAN * SPAN];
	double		worst = 0.0;

	small_open(env, dev, NODES, WIDTH, WIDTH, 1, PAIRS, &s);
	dev->fill(dev, s.network.operation[1].mix.logit.value, -1e4);
	small_loss(&s);
	double	   *x = read_matrix(&s.t, s.network.input);
	double	   *y = read_matrix(&s.t, s.network.operation[0].value);
	gp_operation *f = &s.network.operation[0];
	for (int j = 0; j < 6; j++)
		part[j] = read_matrix(&s.t, ((gp_matrix[]) {f->inducing.point.value, f->weights.log_length.value, f->weights.log_a.value, f->weights.mean.value,
			f->weights.log_s.value, f->weights.noise})[j]);
	plain_points(part[0], part[1], part[2][0], WIDTH, k);
	for (int i = 0; i < NODES; i++)
		for (int u = 0; u < WIDTH; u++)
		{
			double		phi[POINTS];
			double	   *map = read_matrix(&s.t, s.map);
			double		want;

			for (int p = 0; p < POINTS; p++)
				phi[p] = plain_kernel(x + i * WIDTH, part[0] + p * WIDTH, part[1], part[2][0], WIDTH);
			plain_solve(k, POINTS, phi);
			want = plain_draw(phi, POINTS, part[3], part[4], WIDTH, u, exp(2.0 * part[2][0]), part[5][i * WIDTH + u]);
			for (int d = 0; d < WIDTH; d++)
				want += x[i * WIDTH + d] * map[d * WIDTH + u];
			worst = fmax(worst, fabs(want - y[i * WIDTH + u]));
		}
	ok(worst < 1e-9, "a layer against loops");
	worst = 0.0;
	f = s.pairs;
	for (int j = 0; j < 6; j++)
		part[j] = read_matrix(&s.t, ((gp_matrix[]) {f->inducing.point.value, f->weights.log_length.value, f->weights.log_a.value, f->weights.mean.value,
			f->weights.log_s.value, f->weights.noise})[j]);
	plain_points(part[0], part[1], part[2][0], WIDTH, k);
	for (int a = 0; a < SPAN; a++)
		for (int b = 0; b < SPAN; b++)
			c[a * SPAN + b] = k[s.pair[a] * POINTS + s.pair[b]] * k[s.pair[SPAN + a] * POINTS + s.pair[SPAN + b]] +
				k[s.pair[a] * POINTS + s.pair[SPAN + b]] * k[s.pair[SPAN + a] * POINTS + s.pair[b]] +
				(a == b ? JITTER * exp(4.0 * part[2][0]) : 0.0);
	gp_network_forward(&s.t, &s.network, s.network.n);
	for (int e = 0; e < PAIRS; e++)
	{
		const double *xi = y + s.end[e] * WIDTH;
		const double *xj = y + s.end[PAIRS + e] * WIDTH;
		double		phi[SPAN];
		double		near = plain_kernel(xi, xj, part[1], part[2][0], WIDTH);
		double	   *got = read_matrix(&s.t, gp_network_value(&s.network));

		for (int a = 0; a < SPAN; a++)
		{
			const double *p = part[0] + s.pair[a] * WIDTH;
			const double *q = part[0] + s.pair[SPAN + a] * WIDTH;

			phi[a] = plain_kernel(xi, p, part[1], part[2][0], WIDTH) * plain_kernel(xj, q, part[1], part[2][0], WIDTH) +
				plain_kernel(xi, q, part[1], part[2][0], WIDTH) * plain_kernel(xj, p, part[1], part[2][0], WIDTH);
		}
		plain_solve(c, SPAN, phi);
		worst = fmax(worst, fabs(-0.4 + plain_draw(phi, SPAN, part[3], part[4], 1, 0, exp(4.0 * part[2][0]) + near * near,
												   part[5][e]) - got[e]));
	}
	ok(worst < 1e-9, "and pairs");
	dev->close(dev);
}

/* ---- derivatives and bits ---- */

/* All derivatives against central differences. */
static void
check_differences(gp_env *env, int n, int inputs, int units, int layers, int pairs)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	small		s;
	char		name[120];

	small_open(env, dev, n, inputs, units, layers, pairs, &s);
	snprintf(name, sizeof(name), "%d nodes, %d inputs, %d units, %d layers, %d pairs", n, inputs, units, layers, pairs);
	check_derivatives(&s.t, small_loss, &s, name);
	dev->close(dev);
}

/* Some steps of a training; the bits of all parameters.  Rows and pairs take more than one panel. */
static uint64_t
some_steps(gp_device *dev, gp_type type)
{
	small		s;

	small_open(dev->env, dev, 1333, 7, 33, 2, 1300, &s);
	for (s.t.step = 0; s.t.step < 4; s.t.step++)
	{
		small_loss(&s);
		gp_trainer_step(&s.t, 0, 0.01);
	}
	uint64_t	hash = hash_parameters(&s.t);
	small_close(&s);
	return hash;
}

/* Points that are not numbers are refused. */
static void
check_range(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	small		s;

	small_open(env, dev, 7, 3, 3, 1, 5, &s);
	dev->fill(dev, s.pairs->weights.log_length.value, NAN);
	expect_error(env, GP_ERR_RANGE, small_loss(&s));
	dev->close(dev);
}

int
main(void)
{
	in_env(check_plain(env));
	in_env(check_differences(env, 12, 4, 6, 2, 21));
	in_env(check_differences(env, 5, 6, 31, 1, 3));
	in_env(check_differences(env, 33, 1, 3, 2, 40));
	in_env(check_differences(env, 20, 3, 33, 2, 1));
	in_env(check_range(env));
	in_env(check_bits(env, GP_DOUBLE, some_steps));
	disturb("a training by inducing points", TEST_REFUSE, 1, 25, whole_training(env, some_steps));
	disturb("a training by inducing points", TEST_CANCEL, 1, 15, whole_training(env, some_steps));
	return done_testing();
}
