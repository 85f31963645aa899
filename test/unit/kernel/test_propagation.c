/*
 * test_propagation.c - P(a) as kernels are compared by it, against its whole series.
 */
#include "formula/formula_internal.h"
#include "kernel/prepared.h"
#include "test_env.h"
#include "test_graphs.h"

#include <math.h>

#define N 2000
#define COLS 6
#define ALPHA 0.01

/* A graph whose spectrum is a short interval and 1: many edges, drawn, with weights. */
static gp_graph *
drawn_graph(gp_env *env)
{
	uint64_t	state = 5;
	gp_edges   *edges = gp_edges_create(env, N, false, true);

	for (int k = 0; k < 8 * N; k++)
	{
		int32_t		src = draw_below(&state, N);
		int32_t		dst = draw_below(&state, N);
		double		weight = 1.0 + draw_below(&state, 3);

		gp_edges_add(edges, 1, &src, &dst, &weight);
	}
	return gp_graph_build(edges);
}

/* A ring, whose spectrum has no gap. */
static gp_graph *
ring(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, N, false, false);

	for (int32_t src = 0; src < N; src++)
	{
		int32_t		dst = (src + 1) % N;

		gp_edges_add(edges, 1, &src, &dst, NULL);
	}
	return gp_graph_build(edges);
}

/*
 * P x of columns that are positive, as those of covariances, of about this size; *length: of the
 * short polynomial.
 */
static gp_matrix
propagate(gp_env *env, const gp_graph *graph, gp_norm norm, double size, bool rough, int threads,
		  int *length)
{
	gp_device  *dev = gp_device_cpu(env, threads);
	gp_program *program = gp_kernel_program(env, gp_kernel_parse(env, "P(0.01)*X0*W"));
	gp_matrix	x = dev->create(dev, N, COLS, GP_DOUBLE);
	gp_matrix	work[2];
	uint64_t	state = 7;
	gp_eval		ev;

	program->norm = norm;
	for (int k = 0; k < 2; k++)
		work[k] = dev->create(dev, N, COLS, GP_DOUBLE);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < COLS; j++)
			((double *) x.data)[i * x.ld + j] = size * (1.0 + draw_below(&state, 1000) / 1000.0);
	gp_eval_open(&ev, dev, program, graph, NULL, 0, GP_DOUBLE);
	ev.coarse_ppr = rough;
	gp_propagate(&ev, ALPHA, x, work[0], work[1]);
	*length = ev.kernel->rough.length;
	gp_eval_close(&ev);
	return x;
}

/* |a - b| / |b|, all columns as one vector. */
static double
difference(gp_matrix a, gp_matrix b)
{
	double		apart = 0.0;
	double		all = 0.0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < COLS; j++)
		{
			double		x = ((double *) a.data)[i * a.ld + j];
			double		y = ((double *) b.data)[i * b.ld + j];

			apart += (x - y) * (x - y);
			all += y * y;
		}
	return sqrt(apart / all);
}

static void
check_norm(gp_env *env, gp_norm norm)
{
	gp_graph   *graph = drawn_graph(env);
	int			length;
	gp_matrix	whole = propagate(env, graph, norm, 1.0, false, 1, &length);

	ok(length == 0, "a fit takes the whole series");
	gp_matrix	rough = propagate(env, graph, norm, 1.0, true, 1, &length);
	ok(length > 2 && length <= 12, "a comparison takes few products in place of 36");
	close_to(difference(rough, whole), 0.0, 1e-3, "and means the same operator");
	gp_matrix	same = propagate(env, graph, norm, 1.0, true, 3, &length);
	ok(difference(same, rough) == 0.0, "with the same bits by three threads");

	gp_matrix	huge = propagate(env, graph, norm, 1e200, true, 1, &length);
	ok(length == 0 && isfinite(*(double *) huge.data), "what overflows when it is squared takes the series");

	graph = ring(env);
	whole = propagate(env, graph, norm, 1.0, false, 1, &length);
	rough = propagate(env, graph, norm, 1.0, true, 1, &length);
	ok(length == 0, "where no short polynomial serves it is the series");
	close_to(difference(rough, whole), 0.0, 0.02, "cut short");
}

int
main(void)
{
	in_env(check_norm(env, GP_NORM_SYM));
	in_env(check_norm(env, GP_NORM_ROW));
	return done_testing();
}
