/*
 * test_factor.c - the dense factor of a kernel against the evaluators, and the posterior
 * from it against a fit's.
 */
#include "fit/fit_internal.h"
#include "fit/factor.h"
#include "test_env.h"
#include "test_graphs.h"

#include <math.h>
#include <string.h>

#define N 34

/* The karate club with two labels. */
static gp_problem
problem_of(gp_env *env, const char *kernel, int64_t nlandmarks)
{
	static const int32_t labelled[] = {0, 1, 2, 30, 32, 33};
	static const int32_t label[] = {0, 0, 0, 1, 1, 1};
	gp_problem	p;

	memset(&p, 0, sizeof(p));
	p.graph = karate_graph(env, false, false);
	p.program = gp_kernel_program(env, gp_kernel_parse(env, kernel));
	p.task = GP_TASK_CLASSES;
	p.nlabelled = 6;
	p.labelled = labelled;
	p.label = label;
	p.nclasses = 2;
	p.strategy = GP_STRATEGY_NYSTROM;
	p.nlandmarks = nlandmarks;
	p.nugget = 0.1;
	p.type = GP_FLOAT;
	return p;
}

/* The largest difference between QQ' and the low-rank evaluator's own factor, or the exact kernel. */
static void
check_product(gp_env *env, const char *kernel, int64_t count, bool exact, double tolerance)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = problem_of(env, kernel, count);
	gp_matrix	k = dev->create(dev, N, N, GP_DOUBLE);
	gp_eval		ev;
	double		worst = 0.0;
	char		name[160];

	p.task = GP_TASK_VALUES;
	gp_matrix	q = gp_kernel_factor(dev, &p, 0);
	gp_eval_open(&ev, dev, p.program, p.graph, NULL, 0, GP_DOUBLE);
	if (exact)
		dev->copy(dev, k, gp_eval_full(&ev, p.program->nsteps - 1));
	else
	{
		int64_t		n;
		int32_t    *landmark = gp_landmarks_choose(&ev, &p, count, false, &n);

		ev.jitter = 1e-5;
		gp_factor  *f = gp_eval_nystrom(&ev, p.program->nsteps - 1, landmark, n);
		dev->fill(dev, k, 0.0);
		for (int b = 0; b < f->npanels; b++)
		{
			gp_panel_whiten(&ev, &f->panel[b]);
			dev->gemm(dev, false, true, f->panel[b].value, f->panel[b].p, f->panel[b].p, 1.0, k);
		}
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
		{
			const float *a = (const float *) q.data + i * q.ld;
			const float *b = (const float *) q.data + j * q.ld;
			double		sum = 0.0;

			for (int64_t c = 0; c < q.cols; c++)
				sum += (double) a[c] * b[c];
			worst = fmax(worst, fabs(sum - ((const double *) k.data)[i * k.ld + j]));
		}
	snprintf(name, sizeof(name), "%s on %d landmarks: QQ' is %s within %g (%.1e)", kernel, (int) count,
			 exact ? "the kernel" : "the evaluator's", tolerance, worst);
	ok(worst < tolerance, name);
}

/* The posterior from the factor of all nodes against the fit's. */
static void
check_posterior(gp_env *env, const char *kernel)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = problem_of(env, kernel, N);
	gp_posterior *a = gp_fit(dev, &p);
	double		worst = 0.0;
	char		name[160];

	gp_posterior *b = gp_fit_factor(dev, &p, gp_kernel_factor(dev, &p, 0));
	for (int i = 0; i < 2 * N; i++)
		worst = fmax(worst, fabs(a->mean[i] - b->mean[i]));
	snprintf(name, sizeof(name), "%s: the same means as the fit's (%.1e)", kernel, worst);
	ok(worst < 1e-3, name);
}

/* Keeps a block of a product. */
static void
keep_block(void *arg, int64_t row, int64_t col, gp_matrix block)
{
	gp_matrix  *out = arg;

	for (int64_t i = 0; i < block.rows; i++)
		memcpy((float *) out->data + (row + i) * out->ld + col,
			   (const float *) block.data + i * block.ld, block.cols * sizeof(float));
}

/*
 * A product with a triangle leaves out what is 0, and one with few columns has nothing left out: the
 * same numbers as the whole product, whatever its memory held before.  The layer on wide features is
 * made again for both of its panels.
 */
static void
check_triangle(gp_env *env, const char *kernel)
{
	enum {WIDE = 1500, COUNT = 20, FEW = 2};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = problem_of(env, kernel, COUNT);
	gp_features_builder *b = gp_features_create(env, N, WIDE, GP_FLOAT);
	int32_t		landmark[COUNT];
	uint64_t	state = 3;
	int			wrong = 0;
	gp_matrix	out[3];
	gp_eval		ev;
	int32_t		r1;
	int32_t		r2;
	char		name[160];

	for (int32_t i = 0; i < N; i++)
		for (int32_t c = 40 * i; c < 40 * i + 90; c += 3)
			gp_features_add_entries(b, 1, &i, &c, &(double) {draw_unit(&state)});
	p.features = gp_features_build(b, &r1, &r2);
	for (int32_t i = 0; i < COUNT; i++)
		landmark[i] = i + 7;
	gp_eval_open(&ev, dev, p.program, p.graph, p.features, 0, GP_FLOAT);
	ev.stored_panel = 1;
	gp_factor  *f = gp_eval_nystrom(&ev, p.program->nsteps - 1, landmark, COUNT);
	gp_matrix	x = dev->create(dev, gp_factor_rank(f), gp_factor_rank(f), GP_FLOAT);
	for (int64_t i = 0; i < x.rows; i++)
		for (int64_t j = 0; j < x.cols; j++)
			((float *) x.data)[i * x.ld + j] = j < i ? 0.0f : (float) draw_unit(&state);
	for (int k = 0; k < 3; k++)
	{
		out[k] = dev->create(dev, N, k == 2 ? FEW : x.cols, GP_FLOAT);
		gp_factor_product(&ev, f, gp_matrix_cols(x, 0, out[k].cols), k == 1, keep_block, &out[k]);
	}
	for (int64_t i = 0; i < N; i++)
		for (int64_t j = 0; j < x.cols; j++)
			for (int k = 1; k < (j < FEW ? 3 : 2); k++)
			{
				double		off = fabs(((float *) out[0].data)[i * out[0].ld + j] -
									   ((float *) out[k].data)[i * out[k].ld + j]);

				wrong += !(off < 1e-4);
			}
	snprintf(name, sizeof(name), "%s: a triangle, and few columns, give what the whole gives", kernel);
	ok(f->npanels > 0 && wrong == 0, name);
}

/* What the faults are injected into. */
static void
small_factor(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = problem_of(env, "gcnii(layers=2)", 8);
	gp_matrix	q = gp_kernel_factor(dev, &p, 0);

	gp_posterior_free(env, gp_fit_factor(dev, &p, q));
	dev->destroy(dev, &q);
	dev->close(dev);
}

/* Fails every allocation in turn. */
static void
check_faults(void)
{
	disturb("a factor", TEST_REFUSE, 1, 30, small_factor(env));
}

int
main(void)
{
	in_env(check_product(env, "gcn", N, true, 1e-5));
	in_env(check_product(env, "A*X0", N, true, 1e-5));
	in_env(check_product(env, "gcn", 8, false, 1e-5));
	in_env(check_product(env, "sage", 16, false, 1e-5));
	in_env(check_product(env, "gcnii(layers=3)", 8, false, 1e-5));
	in_env(check_triangle(env, "sage"));
	in_env(check_triangle(env, "relu(X)*W1 + A*relu(X)*W2"));
	in_env(check_posterior(env, "gcn"));
	in_env(check_posterior(env, "appnp"));
	check_faults();
	return done_testing();
}
