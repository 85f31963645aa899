/*
 * test_golden.c - kernels and posteriors of the karate club against reference values.
 *
 * Kernels agree to 1e-9 relative and posteriors to 1e-8 in double, to 1e-5 and
 * 1e-3 in float, for every way of computing them: columns, full recursion, factor.
 */
#include "fit/fit_internal.h"
#include "fit/factor.h"
#include "test_env.h"
#include "test_graphs.h"

#include <stdlib.h>

#define N 34

static const int32_t train[4] = {0, 1, 32, 33};
static const int32_t landmarks[6] = {0, 1, 2, 5, 32, 33};
static const int32_t label[4] = {0, 0, 1, 1};
static const int column_node[3] = {0, 5, 33};

/* The program of a golden kernel. */
static gp_program *
golden_program(gp_env *env, const golden *g)
{
	char		text[128];

	/* sage's bias-like scale is its self weight, and it has no bias */
	snprintf(text, sizeof(text), strcmp(g->kernel, "sage") == 0 ?
			 "%s(layers=%d, sigma_self=0.1)" :
			 strcmp(g->kernel, "gcnii") == 0 ? "%s(layers=%d)" : "%s(layers=%d, sigma_b=0.1)",
			 g->kernel, g->layers);
	return gp_kernel_program(env, gp_kernel_parse(env, text));
}

#define JITTER 1e-8				/* of the landmarks' covariance */

/* The problem of all golden posteriors. */
static gp_problem
golden_problem(const gp_graph *graph, const gp_program *program, gp_type type)
{
	gp_problem	p;

	memset(&p, 0, sizeof(p));
	p.graph = graph;
	p.program = program;
	p.task = GP_TASK_CLASSES;
	p.nlabelled = 4;
	p.labelled = train;
	p.label = label;
	p.nclasses = 2;
	p.nugget = 0.01;
	p.type = type;
	p.landmark = landmarks;
	p.nlandmarks = 6;
	return p;
}

/* The largest difference relative to the largest reference value. */
static double
worst(const double *got, const double *want, int n)
{
	double		diff = 0.0;
	double		size = 1e-300;

	for (int i = 0; i < n; i++)
	{
		diff = fmax(diff, fabs(got[i] - want[i]));
		size = fmax(size, fabs(want[i]));
		if (got[i] != got[i])
			return NAN;
	}
	return diff / size;
}

/* One line of the report. */
static void
check(const golden *g, const char *way, const char *what, gp_type type, double error, double bound)
{
	char		name[200];

	snprintf(name, sizeof(name), "%s L=%d %s, %s: %s within %g (%.2g)", g->kernel, g->layers,
			 type == GP_FLOAT ? "float" : "double", way, what, bound, error);
	ok(error <= bound, name);
}

/* QQ' of a factor, n x n in double. */
static void
factor_kernel(gp_eval *ev, const gp_factor *f, double *out)
{
	gp_device  *dev = ev->dev;
	gp_matrix	k = dev->create(dev, N, N, GP_DOUBLE);

	dev->fill(dev, k, 0.0);
	for (int b = 0; b < f->npanels; b++)
	{
		gp_matrix	p = dev->create(dev, N, f->panel[b].p.cols, GP_DOUBLE);

		dev->copy(dev, p, f->panel[b].p);
		if (f->panel[b].root.data)
			dev->trsm(dev, false, true, f->panel[b].root, p);
		dev->syrk(dev, false, f->panel[b].value, p, 1.0, k);
		dev->destroy(dev, &p);
	}
	dev->download(dev, gp_matrix_wrap(out, N, N, GP_DOUBLE), k);
	dev->destroy(dev, &k);
}

/* Compares three columns of a kernel. */
static void
check_columns(const golden *g, const char *way, gp_type type, const double *k, int stride,
			  const int *at)
{
	double		bound = type == GP_FLOAT ? 1e-5 : 1e-9;
	double		error = 0.0;

	for (int c = 0; c < 3; c++)
	{
		double		column[N];

		for (int i = 0; i < N; i++)
			column[i] = k[i * stride + at[c]];
		error = fmax(error, worst(column, g->column[c], N));
	}
	check(g, way, "kernel", type, error, bound);
}

/* Kernels by every evaluator that can serve. */
static void
check_kernel(gp_device *dev, const golden *g, const gp_graph *graph, const gp_program *program,
			 gp_type type)
{
	static const int32_t cols[3] = {0, 5, 33};
	static const int first[3] = {0, 1, 2};
	double		k[N * N];
	gp_eval		ev;

	gp_eval_open(&ev, dev, program, graph, NULL, 0, type);
	ev.jitter = JITTER;
	if (g->lowrank)
	{
		gp_factor  *f = gp_eval_nystrom(&ev, program->nsteps - 1, landmarks, 6);

		factor_kernel(&ev, f, k);
		gp_factor_free(&ev, f);
		check_columns(g, "low rank", type, k, N, column_node);
	}
	else
	{
		gp_matrix	full = gp_eval_full(&ev, program->nsteps - 1);

		dev->download(dev, gp_matrix_wrap(k, N, N, GP_DOUBLE), full);
		dev->destroy(dev, &full);
		check_columns(g, "full recursion", type, k, N, column_node);
	}
	if (!g->lowrank && gp_step_cheapness(&ev, program->nsteps - 1) != GP_CHEAP_NONE)
	{
		double		diag[N];
		double		full_diag[N];
		gp_matrix	d = gp_eval_diagonal(&ev, program->nsteps - 1);
		gp_matrix	columns = gp_eval_columns(&ev, program->nsteps - 1, cols, 3);

		for (int i = 0; i < N; i++)
			full_diag[i] = k[i * N + i];
		dev->download(dev, gp_matrix_wrap(diag, N, 1, GP_DOUBLE), d);
		check(g, "pairs of neighbours", "diagonal", type, worst(diag, full_diag, N),
			  type == GP_FLOAT ? 1e-5 : 1e-12);
		dev->download(dev, gp_matrix_wrap(k, N, 3, GP_DOUBLE), columns);
		check_columns(g, "columns", type, k, 3, first);
		gp_destroy_all(dev, &d, &columns);
	}
	gp_eval_close(&ev);
}

/* Figures of scale 1, as the golden ones are, of those of the best scale. */
static void
forget_scale(gp_solution *s, double *variance, int n)
{
	double		count = 8.0;	/* labels times classes */

	for (int i = 0; i < n; i++)
		variance[i] /= s->scale;
	for (int i = 0; i < 4; i++)
		s->loo_variance[i] /= s->scale;
	s->log_marginal_likelihood += 0.5 * count * (1.0 + log(s->scale) - s->scale);
}

/* Compares everything that a solution and a posterior tell. */
static void
compare_posterior(const golden *g, const char *way, gp_type type,
				  const gp_solution *s, const gp_posterior *out)
{
	double		bound = type == GP_FLOAT ? 1e-3 : 1e-8;
	double		residual[8];

	for (int i = 0; i < 8; i++)
		residual[i] = (label[i / 2] == i % 2) - s->loo_mean[i];
	check(g, way, "mean", type, worst(out->mean, &g->mean[0][0], 2 * N), bound);
	check(g, way, "variance", type, worst(out->variance, g->variance, N), bound);
	check(g, way, "leave-one-out residual", type, worst(residual, &g->loo_residual[0][0], 8),
		  bound);
	check(g, way, "leave-one-out variance", type, worst(s->loo_variance, g->loo_variance, 4),
		  bound);
	check(g, way, "mean diagonal", type, worst(&s->mean_diag, &g->mean_diag, 1), bound);
	check(g, way, "log marginal likelihood", type,
		  worst(&s->log_marginal_likelihood, &g->log_marginal_likelihood, 1), bound);
}

/* One posterior by one plan. */
static void
check_posterior(gp_device *dev, const golden *g, const gp_problem *problem, const char *way,
				const gp_plan *plan)
{
	gp_env	   *env = dev->env;
	gp_targets	targets = gp_targets_make(env, problem);
	gp_posterior *out = gp_alloc_zero(env, 1, sizeof(gp_posterior));
	gp_solution s;
	gp_eval		ev;

	gp_eval_open(&ev, dev, problem->program, problem->graph, NULL, 0, problem->type);
	ev.jitter = JITTER;
	out->nodes = N;
	out->columns = 2;
	out->mean = gp_alloc_array(env, 2 * N, sizeof(double));
	out->variance = gp_alloc_array(env, N, sizeof(double));
	if (g->lowrank)
	{
		out->landmark = gp_landmarks_choose(&ev, problem, 6, false, &out->nlandmarks);
		s = gp_regress_lowrank(&ev, problem, &targets, plan, out);
	}
	else
		s = gp_regress_exact(&ev, problem, &targets, plan, out);
	forget_scale(&s, out->variance, N);
	compare_posterior(g, way, problem->type, &s, out);
	gp_solution_free(dev, &s);
	gp_targets_free(env, &targets);
	gp_posterior_free(env, out);
	gp_eval_close(&ev);
}

/*
 * The primal form on the same rows of Q.  Four labels are fewer than columns,
 * so a fit never takes it here: it must still agree.
 */
static void
check_primal(gp_device *dev, const golden *g, const gp_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_targets	targets = gp_targets_make(env, problem);
	gp_eval		ev;
	int64_t		at = 0;
	double		residual[8];

	gp_eval_open(&ev, dev, problem->program, problem->graph, NULL, 0, problem->type);
	ev.jitter = JITTER;
	gp_factor  *f = gp_eval_nystrom(&ev, problem->program->nsteps - 1, landmarks, 6);
	gp_matrix	q = dev->create(dev, 4, gp_factor_rank(f), GP_DOUBLE);
	for (int b = 0; b < f->npanels; b++)
	{
		gp_matrix	part = gp_matrix_cols(q, at, f->panel[b].p.cols);

		dev->gather_rows(dev, part, f->panel[b].p, train);
		if (f->panel[b].root.data)
			dev->trsm(dev, false, true, f->panel[b].root, part);
		dev->axpby(dev, sqrt(f->panel[b].value), part, 0.0, part);
		at += f->panel[b].p.cols;
	}
	gp_solution s = gp_primal_solve(dev, problem, &targets, q, g->mean_diag);
	forget_scale(&s, NULL, 0);
	for (int i = 0; i < 8; i++)
		residual[i] = (label[i / 2] == i % 2) - s.loo_mean[i];
	check(g, "primal", "leave-one-out residual", GP_DOUBLE,
		  worst(residual, &g->loo_residual[0][0], 8), 1e-8);
	check(g, "primal", "log marginal likelihood", GP_DOUBLE,
		  worst(&s.log_marginal_likelihood, &g->log_marginal_likelihood, 1), 1e-8);
	gp_solution_free(dev, &s);
	gp_targets_free(env, &targets);
	dev->destroy(dev, &q);
	gp_factor_free(&ev, f);
	gp_eval_close(&ev);
}

/* All checks of one golden kernel in one type. */
static void
check_golden(gp_device *dev, const golden *g, const gp_graph *graph, gp_type type)
{
	gp_program *program = golden_program(dev->env, g);
	gp_problem	problem = golden_problem(graph, program, type);
	gp_plan		plan;

	memset(&plan, 0, sizeof(plan));
	check_kernel(dev, g, graph, program, type);
	check_posterior(dev, g, &problem, g->lowrank ? "low rank" : "full recursion", &plan);
	if (!g->lowrank && g->layers == 2)
	{
		plan.by_columns = true;
		check_posterior(dev, g, &problem, "columns", &plan);
	}
	if (g->lowrank && type == GP_DOUBLE)
		check_primal(dev, g, &problem);
}

int
main(void)
{
	int			n = sizeof(karate_golden) / sizeof(karate_golden[0]);

	for (volatile int i = 0; i < n; i++)
	{
		gp_env	   *env = test_env();
		gp_device  *dev = gp_device_cpu(env, 1);
		gp_graph   *graph = karate_graph(env, false, false);

		if (test_catch(env, check_golden(dev, &karate_golden[i], graph, GP_DOUBLE)) ||
			test_catch(env, check_golden(dev, &karate_golden[i], graph, GP_FLOAT)))
			ok(false, test_state(env)->message);
		test_env_close(env);
	}
	return done_testing();
}
