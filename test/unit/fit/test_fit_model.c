/*
 * test_fit_model.c - fits as a whole: brute-force leave-one-out, the rules for odd
 * data, the planner's bytes, equal bits, cancels, and every allocation failing.
 */
#include "fit/fit_internal.h"
#include "fit/factor.h"
#include "base/sort.h"
#include "test_env.h"
#include "test_world.h"

#include <stdlib.h>

static uint64_t seed = 7;

static int
draw(int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int) ((seed >> 33) % (uint64_t) n);
}

static int	stride = 1;			/* node i is called i * stride % n */

/* A random graph with features and labels that follow them; every step-th node is labelled. */
static world
make_world(gp_env *env, int n, int dims, int step, gp_type type)
{
	world		w = world_open(env, n);
	gp_edges   *edges = gp_edges_create(env, n, false, false);
	gp_features_builder *b = gp_features_create(env, n, dims, type);
	int32_t		r1;
	int32_t		r2;

	seed = 7;
	for (int i = 0; i < n; i++)
	{
		double		x[16] = {0};
		int32_t		from = i;
		int32_t		to = (i + 3 * (1 + draw(n / 3))) % n;	/* edges join equal classes */

		from = (int32_t) (i * stride % n);
		to = (int32_t) (to * stride % n);
		gp_edges_add(edges, 1, &from, &to, NULL);
		x[i % 3] = 1.0;
		x[3 + draw(dims - 3)] = 1.0;
		gp_features_add_row(b, from, x);
		if (i % step == 0)
			world_label(&w, i, i % 3, 5.0 + i % 3 + 0.01 * draw(100));
	}
	w.graph = gp_graph_build(edges);
	w.features = gp_features_build(b, &r1, &r2);
	return w;
}

/* Leaves one label out and fits again: the mean must be what leave-one-out says. */
static void
check_leave_one_out(gp_env *env, gp_strategy strategy, int step)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = make_world(env, 60, 8, step, GP_DOUBLE);
	gp_problem	p = world_problem(env, &w, "gcn(sigma_b=0.2)", GP_TASK_CLASSES, GP_DOUBLE);
	gp_targets	t;
	gp_plan		plan;
	gp_eval		ev;
	gp_posterior out;
	gp_solution s;
	double		worst = 0.0;
	char		name[120];
	int32_t		marks[12];

	for (int k = 0; k < 12; k++)
		marks[k] = 5 * k;
	p.landmark = marks;
	p.nlandmarks = 12;
	p.strategy = strategy;
	p.nugget = 0.05;
	memset(&plan, 0, sizeof(plan));
	plan.by_columns = true;
	plan.exact_diagonal = true;
	for (int64_t left = -1; left < w.nlabelled; left++)
	{
		int32_t		labelled[64];
		int32_t		label[64];
		gp_problem	q = p;
		static double loo[64 * 3];

		q.nlabelled = 0;
		for (int64_t i = 0; i < w.nlabelled; i++)
			if (i != left)
			{
				labelled[q.nlabelled] = w.labelled[i];
				label[q.nlabelled++] = w.label[i];
			}
		q.labelled = labelled;
		q.label = label;
		t = gp_targets_make(env, &q);
		gp_eval_open(&ev, dev, q.program, q.graph, q.features, q.seed, q.type);
		memset(&out, 0, sizeof(out));
		out.nodes = 60;
		out.columns = 3;
		out.mean = gp_alloc_array(env, 180, sizeof(double));
		out.variance = gp_alloc_array(env, 60, sizeof(double));
		if (strategy == GP_STRATEGY_EXACT)
			s = gp_regress_exact(&ev, &q, &t, &plan, &out);
		else
		{
			out.landmark = marks;
			out.nlandmarks = 12;
			s = gp_regress_lowrank(&ev, &q, &t, &plan, &out);
		}
		for (int c = 0; c < 3 && left >= 0; c++)
			worst = fmax(worst, fabs(loo[left * 3 + c] - out.mean[w.labelled[left] * 3 + c]));
		if (left < 0)
			memcpy(loo, s.loo_mean, w.nlabelled * 3 * sizeof(double));
		gp_solution_free(dev, &s);
		gp_eval_close(&ev);
	}
	snprintf(name, sizeof(name), "leave-one-out is leaving one out: %s, %d labels (%.2g)",
			 strategy == GP_STRATEGY_EXACT ? "exact" : "low rank", (int) w.nlabelled, worst);
	ok(worst < 1e-9, name);
}

/* Variances and probabilities are what they must be, for every kernel and strategy. */
static void
check_kernel(gp_env *env, const char *kernel, gp_strategy strategy, gp_task task)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	world		w = make_world(env, 201, 12, 4, GP_FLOAT);
	gp_problem	p = world_problem(env, &w, kernel, task, GP_FLOAT);
	bool		sound = true;
	double		right = 0.0;
	char		name[160];

	p.strategy = strategy;
	gp_posterior *out = gp_fit(dev, &p);
	for (int i = 0; i < 201; i++)
	{
		const double *mean = out->mean + i * out->columns;
		double		probability[3];

		sound = sound && out->variance[i] >= 0.0 && isfinite(out->variance[i]) &&
			isfinite(mean[0]);
		if (task == GP_TASK_VALUES)
		{
			right += fabs(mean[0] - 5.5 - i % 3) < 0.6;
			continue;
		}
		gp_probabilities(&out->calibrator, 3, mean, out->variance[i], probability);
		sound = sound && fabs(probability[0] + probability[1] + probability[2] - 1.0) < 1e-12;
		right += probability[i % 3] >= fmax(probability[0], fmax(probability[1], probability[2]));
	}
	snprintf(name, sizeof(name), "%s, %s, %s: sound, and right on %.0f of 201", kernel,
			 strategy == GP_STRATEGY_EXACT ? "exact" : "low rank",
			 task == GP_TASK_VALUES ? "values" : "classes", right);
	ok(sound && right > 185, name);
}

/* The planner's bytes against the environment's own count. */
static void
check_bytes(gp_env *env, const char *kernel, gp_strategy strategy, int n, int step)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = make_world(env, n, 16, step, GP_FLOAT);
	gp_problem	p = world_problem(env, &w, kernel, GP_TASK_CLASSES, GP_FLOAT);
	char		name[160];

	p.strategy = strategy;
	p.nlandmarks = strategy == GP_STRATEGY_NYSTROM ? 100 : 0;
	gp_posterior *out = gp_fit(dev, &p);
	double		ratio = env->peak / out->plan.bytes;
	snprintf(name, sizeof(name), "%s, %s, %d nodes: the peak is %.2f of the estimate (%.1f MB)",
			 kernel, strategy == GP_STRATEGY_EXACT ? "exact" : "low rank", n, ratio,
			 env->peak / 1048576.0);
	ok(ratio <= 1.0 && ratio >= 1.0 / 1.1, name);
}

/* What one fit depends on must not be the number of threads. */
static void
check_threads(gp_env *env)
{
	world		w = make_world(env, 1500, 16, 2, GP_FLOAT);
	gp_strategy strategy[2] = {GP_STRATEGY_EXACT, GP_STRATEGY_NYSTROM};

	for (int s = 0; s < 2; s++)
	{
		gp_problem	p = world_problem(env, &w, "gcn", GP_TASK_CLASSES, GP_FLOAT);
		gp_posterior *out[3];
		bool		same = true;

		p.strategy = strategy[s];
		p.nlandmarks = s ? 100 : 0;
		for (int k = 0; k < 3; k++)
			out[k] = gp_fit(gp_device_cpu(env, k + 1), &p);
		for (int k = 1; k < 3; k++)
			same = same && memcmp(out[0]->mean, out[k]->mean, 4500 * sizeof(double)) == 0 &&
				memcmp(out[0]->variance, out[k]->variance, 1500 * sizeof(double)) == 0;
		ok(same, s ? "low rank: the same bits with 1, 2 and 3 threads" :
		   "exact: the same bits with 1, 2 and 3 threads");
	}
}

/* One label, one class, one label for each class, equal targets, a zero kernel. */
static void
check_odd(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = make_world(env, 60, 8, 6, GP_FLOAT);
	gp_problem	p = world_problem(env, &w, "gcn", GP_TASK_CLASSES, GP_FLOAT);
	int32_t		zero[64] = {0};
	int32_t		three[3] = {0, 1, 2};
	double		five[64];

	p.nlabelled = 1;
	gp_posterior *out = gp_fit(dev, &p);
	ok(out->nugget == 0.1 && out->calibrator.gamma == 2.5 && isnan(out->metric[GP_METRIC_ACCURACY]),
	   "one label: the defaults of few labels");
	ok(out->scale == 1.0, "one label: scale 1");
	p.nlabelled = 3;
	p.labelled = three;
	p.label = three;
	out = gp_fit(dev, &p);
	ok(out->nugget == 0.1 && isfinite(out->mean[100]), "one label for each class");
	p = world_problem(env, &w, "gcn", GP_TASK_CLASSES, GP_FLOAT);
	p.label = zero;
	out = gp_fit(dev, &p);
	ok(out->nugget == 0.1 && out->mean[0] > out->mean[1], "one class only");
	p = world_problem(env, &w, "gcn", GP_TASK_VALUES, GP_FLOAT);
	for (int i = 0; i < 64; i++)
		five[i] = 5.0;
	p.target = five;
	out = gp_fit(dev, &p);
	ok(out->mean[7] == 5.0 && out->scale == 1.0, "equal targets: their value, scale 1");
	ok(test_state(env)->notices > 0, "and a notice");
}

/* Nodes without features nearby get the prior, and no node is surer for it. */
static void
check_prior(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_edges   *edges = gp_edges_create(env, 40, false, false);
	gp_features_builder *b = gp_features_create(env, 40, 2, GP_FLOAT);
	int32_t		labelled[6] = {0, 1, 2, 3, 4, 5};
	int32_t		label[6] = {0, 1, 0, 1, 0, 0};
	gp_problem	p;
	gp_posterior *out;
	double		most = 0.0;
	int32_t		r1;
	int32_t		r2;

	for (int32_t i = 0; i < 30; i++)
	{
		double		x[2] = {i % 2 == 0, i % 2 == 1};
		int32_t		next = (i + 2) % 30;

		gp_edges_add(edges, 1, &i, &next, NULL);
		gp_features_add_row(b, i, x);
	}
	memset(&p, 0, sizeof(p));
	p.graph = gp_graph_build(edges);
	p.features = gp_features_build(b, &r1, &r2);
	p.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"));
	p.labelled = labelled;
	p.label = label;
	p.nlabelled = 6;
	p.nclasses = 2;
	p.nugget = NAN;
	for (int s = 1; s <= 2; s++)
	{
		p.strategy = s == 1 ? GP_STRATEGY_EXACT : GP_STRATEGY_NYSTROM;
		out = gp_fit(dev, &p);
		is_int(out->no_kernel, 10, "ten nodes have no kernel");
		for (int i = 0; i < 30; i++)
			most = fmax(most, out->variance[i]);
		ok(out->is_prior[35] && out->variance[35] >= most && out->mean[70] == 0.0,
		   "they have the prior's variance, the largest");
		ok(fabs(out->prior_share[0] - 4.0 / 6.0) < 1e-15, "and the shares of the classes");
	}
	p.labelled = labelled;
	for (int i = 0; i < 6; i++)
		labelled[i] = 30 + i;
	expect_error(env, GP_ERR_DATA,
				 (p.features = gp_features_identity(env, 40, GP_FLOAT),
				  memset(p.features->csr->value, 0, 40 * sizeof(float)), gp_fit(dev, &p)));
}

/* Targets and features of any size give numbers or a clear error. */
static void
check_sizes(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = make_world(env, 60, 8, 3, GP_FLOAT);
	gp_problem	p = world_problem(env, &w, "gcn", GP_TASK_VALUES, GP_FLOAT);
	double		size[5] = {1.0, 1e-100, 1e39, 1e100, 1e-30};
	double	   *plain = NULL;
	float	   *x = w.features->csr->value;
	double		big[64];

	for (int k = 0; k < 5; k++)
		for (int s = 1; s <= 2; s++)
		{
			double		worst = 0.0;

			for (int64_t i = 0; i < w.nlabelled; i++)
				big[i] = w.target[i] * size[k];
			p.target = big;
			p.strategy = (gp_strategy) s;
			p.nlandmarks = s == 2 ? 60 : 0;
			gp_posterior *out = gp_fit(dev, &p);
			if (plain == NULL)
				plain = out->mean;
			for (int i = 0; i < 60; i++)
				worst = fmax(worst, fabs(out->mean[i] / size[k] - plain[i]));
			ok(worst < 1e-2, "the unit of the target does not matter");
			ok(isfinite(out->scale) && isfinite(out->metric[GP_METRIC_RMSE]), "nor to the figures");
		}
	for (int64_t i = 0; i < w.nlabelled; i++)
		big[i] = w.target[i] * 1e200;
	expect_error(env, GP_ERR_RANGE, gp_fit(dev, &p));
	p.target = w.target;
	for (volatile int s = 1; s <= 2; s++)
		for (volatile int k = 0; k < 2; k++)
		{
			p.strategy = (gp_strategy) s;
			for (int64_t e = 0; e < gp_csr_entries(w.features->csr); e++)
				x[e] = k ? 1e-20f : 1e30f;
			expect_error(env, GP_ERR_RANGE, gp_fit(dev, &p));
		}
}

/* Neighbours that share a neighbourhood but not their features are no twins to every kernel. */
static void
check_twins(gp_env *env)
{
	static const char *const kernels[3] = {"gcn", "sage", "appnp"};
	static const int want[3] = {1, 2, 2};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_edges   *edges = gp_edges_create(env, 2, false, false);
	gp_features_builder *b = gp_features_create(env, 2, 4, GP_FLOAT);
	int32_t		zero = 0;
	int32_t		one = 1;
	double		x[8] = {1, 0, 0, 0, 0, 1, 0, 0};
	world		w = {0};

	gp_edges_add(edges, 1, &zero, &one, NULL);
	gp_features_add_row(b, 0, x);
	gp_features_add_row(b, 1, x + 4);
	w.graph = gp_graph_build(edges);
	w.features = gp_features_build(b, &zero, &one);
	zero = 0;
	w.labelled = w.label = &zero;
	w.nlabelled = 1;
	for (int k = 0; k < 3; k++)
	{
		gp_problem	p = world_problem(env, &w, kernels[k], GP_TASK_CLASSES, GP_FLOAT);

		p.strategy = GP_STRATEGY_NYSTROM;
		p.nlandmarks = 2;
		is_int(gp_fit(dev, &p)->nlandmarks, want[k], kernels[k]);
	}
}

/* Nodes of the same features are no twins where their lists of neighbours count. */
static void
check_lists(gp_env *env)
{
	static const char *const kernels[3] = {"A*X0", "A*X0 + N", "relu(N*W + X0*W)*W"};
	static const int want[3] = {1, 2, 2};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_edges   *edges = gp_edges_create(env, 2, false, false);
	int32_t		zero = 0;
	int32_t		one = 1;
	gp_csr	   *x = gp_csr_identity(env, 2, GP_FLOAT);
	world		w = {.labelled = &zero, .label = &zero, .nlabelled = 1};

	gp_edges_add(edges, 1, &zero, &one, NULL);
	w.graph = gp_graph_build(edges);
	x->col[1] = 0;
	w.features = gp_features_of_csr(env, x);
	for (int k = 0; k < 3; k++)
	{
		gp_problem	p = world_problem(env, &w, kernels[k], GP_TASK_CLASSES, GP_FLOAT);

		p.strategy = GP_STRATEGY_NYSTROM;
		p.nlandmarks = 2;
		is_int(gp_fit(dev, &p)->nlandmarks, want[k], kernels[k]);
	}
}

/* Nodes under other ids are the same landmarks and the same sample. */
static void
check_names(gp_env *env)
{
	enum {NODES = 601, COUNT = 100};
	static const int called[2] = {1, 7};
	gp_device  *dev = gp_device_cpu(env, 1);
	bool		chosen[2][3][NODES] = {{{0}}};
	int			others[3] = {0};

	for (int k = 0; k < 2; k++)
	{
		gp_eval		ev;
		int64_t		n[2];

		stride = called[k];
		world		w = make_world(env, NODES, 16, 3, GP_FLOAT);
		stride = 1;
		gp_problem	p = world_problem(env, &w, "gcn", GP_TASK_VALUES, GP_FLOAT);
		gp_eval_open(&ev, dev, p.program, p.graph, p.features, p.seed, p.type);
		int32_t    *node[3] = {gp_landmarks_choose(&ev, &p, COUNT, false, &n[0]),
			gp_landmarks_choose(&ev, &p, COUNT, true, &n[1]), gp_eval_sample(&ev, COUNT)};

		for (int i = 0; i < NODES; i++)
			for (int way = 0; way < 3; way++)
				chosen[k][way][i] =
					gp_sorted_find(node[way], COUNT, (int32_t) (i * called[k] % NODES)) >= 0;
		gp_eval_close(&ev);
	}
	for (int i = 0; i < NODES; i++)
		for (int way = 0; way < 3; way++)
			others[way] += chosen[0][way][i] != chosen[1][way][i];
	ok(others[0] <= 2, "landmarks by degree under other ids");
	ok(others[1] <= 2, "landmarks drawn evenly under other ids");
	ok(others[2] <= 2, "a sample under other ids");
}

/* High powers of A are applied, not formed; many layers are planned at once. */
static void
check_powers(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = make_world(env, 6000, 16, 50, GP_FLOAT);
	gp_problem	p = world_problem(env, &w, "A^6*relu(X)*W", GP_TASK_CLASSES, GP_FLOAT);

	p.strategy = GP_STRATEGY_NYSTROM;
	p.nlandmarks = 50;
	env->limit = env->used + 40 * 1024 * 1024;
	ok(gp_fit(dev, &p) != NULL, "a power of A fits where its matrix would not");
	p = world_problem(env, &w, "sage(layers=32)", GP_TASK_CLASSES, GP_FLOAT);
	p.strategy = GP_STRATEGY_NYSTROM;
	p.nlandmarks = 8;
	env->limit = 0;
	ok(gp_plan_make(dev, &p).strategy == GP_STRATEGY_NYSTROM, "32 layers are planned");
}

/* Distances keep their digits where the features are far from zero. */
static void
check_offset(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_posterior *out[2];

	for (int far = 0; far < 2; far++)
	{
		world		w = make_world(env, 60, 8, 3, GP_FLOAT);
		gp_features_builder *b = gp_features_create(env, 60, 3, GP_FLOAT);
		int32_t		r1;
		int32_t		r2;

		for (int32_t i = 0; i < 60; i++)
		{
			double		x[3] = {0.25 * (i % 16) + 1000 * far, i % 3 + 1000 * far, 1 + 1000 * far};

			gp_features_add_row(b, i, x);
		}
		w.features = gp_features_build(b, &r1, &r2);
		gp_problem	p = world_problem(env, &w, "rbf(gamma=0.5)", GP_TASK_VALUES, GP_FLOAT);
		p.nugget = 0.01;
		out[far] = gp_fit(dev, &p);
	}
	close_to(out[1]->mean[17], out[0]->mean[17], 1e-3, "rbf does not see a shift of the features");
}

/* A limit refuses with both numbers, before anything large is allocated. */
static void
check_limit(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = make_world(env, 4000, 16, 2, GP_FLOAT);
	gp_problem	p = world_problem(env, &w, "gcn(layers=3)", GP_TASK_CLASSES, GP_FLOAT);

	env->limit = env->used + 40 * 1024 * 1024;
	p.strategy = GP_STRATEGY_EXACT;
	expect_error(env, GP_ERR_LIMIT, gp_fit(dev, &p));
	ok(env->peak < env->limit, "nothing large was allocated");
	p.strategy = GP_STRATEGY_AUTO;
	gp_plan		plan = gp_plan_make(dev, &p);
	ok(plan.strategy == GP_STRATEGY_NYSTROM, "auto takes the strategy that fits");
	ok(gp_fit(dev, &p) != NULL && env->peak <= env->limit, "and stays within the limit");
	env->limit = 0;
}

/* A fit for the fault injection. */
static void
small_fit(gp_env *env, gp_strategy strategy, const char *kernel)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	world		w = make_world(env, 40, 8, strategy == GP_STRATEGY_AUTO ? 2 : 3, GP_FLOAT);
	gp_problem	p = world_problem(env, &w, kernel, GP_TASK_CLASSES, GP_FLOAT);

	p.strategy = strategy;	/* with labels enough to choose a power by, where that is open */
	gp_posterior_free(env, gp_fit(dev, &p));
	dev->close(dev);
}

/* Fails every allocation in turn, or each third where fits of several powers repeat them; each time the right error, and nothing kept. */
static void
check_faults(gp_strategy strategy, const char *kernel)
{
	disturb(kernel, TEST_REFUSE, strategy == GP_STRATEGY_AUTO ? 9 : 3, 30, small_fit(env, strategy, kernel));
}

/* Cancels at every tenth interrupt check. */
static void
check_cancels(void)
{
	disturb("a fit", TEST_CANCEL, 10, 2, small_fit(env, GP_STRATEGY_NYSTROM, "gcn(layers=3)"));
}

int
main(void)
{
	static const char *const kernels[] = {"gcn", "gin", "gcnii", "sage", "appnp", "mlp", "ggp",
		"rbf", "gcn(layers=3)", "sage(layers=3)", "gcnii(layers=4)",
		"(0.7*A + 0.3*I)^2*relu(X)*W + b", "P(0.3)*X0", "A^3*relu(X)*W", "gcn(input=rbf)", "gcn(norm=row, layers=1)"};

	in_env(check_leave_one_out(env, GP_STRATEGY_EXACT, 2));
	in_env(check_leave_one_out(env, GP_STRATEGY_NYSTROM, 2));
	in_env(check_leave_one_out(env, GP_STRATEGY_NYSTROM, 7));
	for (volatile size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
		for (volatile int s = 1; s <= 2; s++)
		{
			in_env(check_kernel(env, kernels[k], (gp_strategy) s, GP_TASK_CLASSES));
			in_env(check_kernel(env, kernels[k], (gp_strategy) s, GP_TASK_VALUES));
		}
	for (volatile int s = 1; s <= 2; s++)
	{
		in_env(check_bytes(env, "gcn", (gp_strategy) s, 3000, 50));
		in_env(check_bytes(env, "gcn", (gp_strategy) s, 2000, 2));
	}
	in_env(check_threads(env));
	in_env(check_odd(env));
	in_env(check_prior(env));
	in_env(check_limit(env));
	in_env(check_sizes(env));
	in_env(check_powers(env));
	in_env(check_offset(env));
	in_env(check_twins(env));
	in_env(check_lists(env));
	in_env(check_names(env));
	check_faults(GP_STRATEGY_EXACT, "gcn");
	check_faults(GP_STRATEGY_EXACT, "sage(layers=3)");
	check_faults(GP_STRATEGY_NYSTROM, "gcnii(layers=3)");
	check_faults(GP_STRATEGY_NYSTROM, "appnp");
	check_faults(GP_STRATEGY_AUTO, "gcn");
	check_faults(GP_STRATEGY_NYSTROM, "profile(power=1.5)");
	check_cancels();
	return done_testing();
}
