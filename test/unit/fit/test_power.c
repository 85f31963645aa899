/*
 * test_power.c - powers of the kernel against its dense eigenproblem, and when one is chosen.
 */
#include "fit/fit_internal.h"
#include "test_env.h"
#include "test_graphs.h"

#include <math.h>
#include <string.h>

#define N 34
#define WIDE 420				/* nodes whose factor has more columns than are kept */
#define BLOCKS 600

/* A problem of a kernel on a graph, with no labels. */
static gp_problem
problem_of(gp_env *env, const gp_graph *graph, const char *kernel)
{
	gp_problem	p;

	memset(&p, 0, sizeof(p));
	p.graph = graph;
	p.program = gp_kernel_program(env, gp_kernel_parse(env, kernel));
	p.type = GP_FLOAT;
	p.nugget = NAN;
	return p;
}

/* The exact kernel, its program's power left out. */
static gp_matrix
exact_kernel(gp_device *dev, const gp_problem *p)
{
	gp_eval		ev;

	gp_eval_open(&ev, dev, p->program, p->graph, NULL, 0, GP_DOUBLE);
	gp_matrix	k = gp_eval_full(&ev, p->program->nsteps - 1);
	gp_eval_close(&ev);
	return k;
}

/* K^p by its eigenproblem. */
static gp_matrix
dense_power(gp_device *dev, gp_matrix k, double p)
{
	int64_t		n = k.rows;
	double	   *w = gp_alloc_array(dev->env, n, sizeof(double));
	double	   *v = gp_alloc_array(dev->env, n * n, sizeof(double));
	gp_matrix	values = dev->create(dev, n, 1, GP_DOUBLE);
	gp_matrix	out = dev->create(dev, n, n, GP_DOUBLE);

	dev->syev(dev, k, values);
	dev->download(dev, gp_matrix_wrap(w, n, 1, GP_DOUBLE), values);
	dev->download(dev, gp_matrix_wrap(v, n, n, GP_DOUBLE), k);
	for (int64_t i = 0; i < n * n; i++)
		v[i] *= pow(fmax(w[i % n], 0.0), 0.5 * p);
	dev->upload(dev, k, gp_matrix_wrap(v, n, n, GP_DOUBLE));
	dev->syrk(dev, false, 1.0, k, 0.0, out);
	return out;
}

/* The largest difference of two kernels, each over the mean of its diagonal. */
static double
difference(gp_device *dev, gp_matrix a, gp_matrix b)
{
	int64_t		n = a.rows;
	double	   *x = gp_alloc_array(dev->env, n * n, sizeof(double));
	double		worst = 0.0;

	dev->axpby(dev, 1.0 / gp_mean_diagonal(dev, a), a, 0.0, a);
	dev->axpby(dev, -1.0 / gp_mean_diagonal(dev, b), b, 1.0, a);
	dev->download(dev, gp_matrix_wrap(x, n, n, GP_DOUBLE), a);
	for (int64_t i = 0; i < n * n; i++)
		worst = fmax(worst, isfinite(x[i]) ? fabs(x[i]) : INFINITY);
	return worst;
}

/* FF' of a problem's kernel on all nodes. */
static gp_matrix
factor_product(gp_device *dev, gp_problem *p)
{
	gp_matrix	k = dev->create(dev, p->graph->nodes, p->graph->nodes, GP_DOUBLE);

	p->nlandmarks = p->graph->nodes;
	gp_matrix	q = gp_kernel_factor(dev, p, 0);
	gp_matrix	wide = dev->create(dev, q.rows, q.cols, GP_DOUBLE);
	dev->copy(dev, wide, q);
	dev->syrk(dev, false, 1.0, wide, 0.0, k);
	return k;
}

/* A power on the karate club, all nodes landmarks. */
static void
check_power(gp_env *env, const char *kernel, double power)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	char		text[120];
	char		name[200];

	snprintf(text, sizeof(text), "%s, power=%g", kernel, power);
	gp_problem	p = problem_of(env, karate_graph(env, false, false), text);
	gp_matrix	want = dense_power(dev, exact_kernel(dev, &p), power);
	double		error = difference(dev, factor_product(dev, &p), want);
	snprintf(name, sizeof(name), "%s is the power of the eigenvalues (%.2g)", text, error);
	ok(error < 2e-3, name);
}

/* A factor that is too wide for an eigenproblem: K^2 = KK of its leading directions. */
static void
check_wide(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	uint64_t	state = 3;
	gp_problem	p = problem_of(env, random_hub_graph(env, &state, WIDE, 3000, 0, 0, false),
							   "A*relu(A*X0*W)*W + A*relu(A*relu(A*X0*W)*W)*W, power=2");
	gp_matrix	k = exact_kernel(dev, &p);
	gp_matrix	square = dev->create(dev, WIDE, WIDE, GP_DOUBLE);
	char		name[120];

	dev->gemm(dev, false, false, 1.0, k, k, 0.0, square);
	double		error = difference(dev, factor_product(dev, &p), square);
	snprintf(name, sizeof(name), "a wide factor keeps the leading directions (%.2g)", error);
	ok(error < 0.02, name);
}

/* ---- the choice ---- */

/* Three blocks; so many labels a class. */
static gp_problem
block_problem(gp_env *env, int per_class)
{
	gp_edges   *edges = gp_edges_create(env, BLOCKS, false, false);
	uint64_t	state = 5;
	int32_t    *labelled = gp_alloc_array(env, 3 * per_class, sizeof(int32_t));
	int32_t    *label = gp_alloc_array(env, 3 * per_class, sizeof(int32_t));

	for (int k = 0; k < 1500; k++)
	{
		int32_t		src = draw_below(&state, BLOCKS);
		int32_t		dst = draw_below(&state, BLOCKS);

		if (k % 4 != 0)
			dst = dst / 3 * 3 + src % 3;
		gp_edges_add(edges, 1, &src, &dst, NULL);
	}
	for (int i = 0; i < 3 * per_class; i++)
	{
		labelled[i] = i;
		label[i] = i % 3;
	}
	gp_problem	p = problem_of(env, gp_graph_build(edges), "gcn");
	p.task = GP_TASK_CLASSES;
	p.nclasses = 3;
	p.nlabelled = 3 * per_class;
	p.labelled = labelled;
	p.label = label;
	return p;
}

/* The share of the nodes without a label whose class is right. */
static double
accuracy(const gp_problem *p, const gp_posterior *out)
{
	int			right = 0;

	for (int64_t i = p->nlabelled; i < BLOCKS; i++)
	{
		const double *m = out->mean + 3 * i;
		int			best = m[1] > m[0] ? 1 : 0;

		right += (m[2] > m[best] ? 2 : best) == i % 3;
	}
	return (double) right / (double) (BLOCKS - p->nlabelled);
}

/* With few labels a power is chosen, and is right; the plan holds its memory. */
static void
check_choice(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = block_problem(env, 8);
	gp_problem	q = gp_comparison_problem(dev, &p);
	gp_program	program = *p.program;
	char		name[160];

	env->peak = env->used;
	gp_posterior *compared = gp_fit(dev, &q);
	snprintf(name, sizeof(name), "the plan's %.0f bytes are at least the peak's %zu, and 1.1 of it at most",
			 compared->plan.bytes, env->peak);
	ok(compared->plan.bytes >= (double) env->peak && compared->plan.bytes <= 1.1 * (double) env->peak, name);
	gp_posterior *plain = gp_fit(dev, &p);

	program.power = compared->power;
	p.program = &program;
	gp_posterior *chosen = gp_fit(dev, &p);

	snprintf(name, sizeof(name), "few labels: power %g, right %.3f, without %.3f", chosen->power,
			 accuracy(&p, chosen), accuracy(&p, plain));
	ok(chosen->power > 1.0 && accuracy(&p, chosen) > accuracy(&p, plain), name);
	ok(chosen->plan.strategy == GP_STRATEGY_NYSTROM && chosen->nlandmarks == compared->nlandmarks,
	   "it is a fit on the same landmarks");
	ok(plain->power == 1.0, "a fit takes the power of its program");
}

/* Problems that leave no power open. */
static void
check_settled(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = block_problem(env, 8);
	gp_problem	many = block_problem(env, 60);

	ok(gp_power_is_open(&p), "a power is open");
	p.strategy = GP_STRATEGY_EXACT;
	ok(!gp_power_is_open(&p), "not where the strategy is given");
	p.strategy = GP_STRATEGY_AUTO;
	p.nugget = 0.1;
	ok(!gp_power_is_open(&p), "nor the nugget");
	p.nugget = NAN;
	p.nlandmarks = 40;
	ok(!gp_power_is_open(&p), "nor the landmarks");
	p.nlandmarks = 0;
	p.nlabelled = 18;
	ok(!gp_power_is_open(&p), "not with hardly any labels");
	ok(!gp_power_is_open(&many), "nor with many");
	p.nlabelled = 24;
	p.task = GP_TASK_VALUES;
	ok(!gp_power_is_open(&p), "nor of values");
	p.task = GP_TASK_CLASSES;
	p.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn(power=1.5)"));
	p.strategy = GP_STRATEGY_EXACT;
	ok(gp_fit(dev, &p)->power == 1.5 && gp_fit(dev, &p)->plan.strategy == GP_STRATEGY_NYSTROM,
	   "one that is written down is taken, by way of a factor");
}

/* What does not take a power says so. */
static void
check_refused(gp_env *env)
{
	gp_problem	p = problem_of(env, karate_graph(env, false, false), "gcn(power=1.5)");

	ok(test_catch(env, gp_power_refuse(env, p.program)) &&
	   test_state(env)->code == GP_ERR_UNSUPPORTED, "a power is refused where nothing takes it");
}

int
main(void)
{
	static const char *const kernel[] = {"gcn", "sage", "appnp", "mlp", "profile", "A*X0 + N"};

	for (volatile size_t k = 0; k < sizeof(kernel) / sizeof(kernel[0]); k++)
		for (volatile double p = 1.25; p <= 2.0; p += 0.25)
			in_env(check_power(env, kernel[k], p));
	in_env(check_wide(env));
	in_env(check_choice(env));
	in_env(check_settled(env));
	in_env(check_refused(env));
	return done_testing();
}
