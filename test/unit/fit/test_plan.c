/*
 * test_plan.c - what a fit takes is what its plan says, for every preset and strategy.
 *
 * The plan may not be less than the peak, and at most a tenth more.
 */
#include "fit/fit_internal.h"
#include "kernel/prepared.h"
#include "test_env.h"
#include "test_world.h"

#include <math.h>
#include <stdlib.h>

#define NODES 300
#define DIMS 40
#define LANDMARKS 48

typedef enum features_kind
{
	FEATURES_NONE,
	FEATURES_DENSE,
	FEATURES_SPARSE,
	FEATURES_KINDS
} features_kind;

static const char *const features_name[] = {"no", "dense", "sparse"};

/* A way to fit. */
typedef enum way
{
	WAY_COLUMNS,
	WAY_FULL,
	WAY_LOWRANK,				/* variances from the low-rank diagonal */
	WAY_LOWRANK_EXACT,			/* from the exact one */
	WAYS
} way;

static const char *const way_name[] = {"columns", "full", "low rank", "low rank, exact diagonal"};

/* Features of a kind: a few numbers of each row, or all of them. */
static gp_features *
make_features(gp_env *env, features_kind kind, gp_type type)
{
	uint64_t	state = 5;
	gp_features_builder *b;
	int32_t		r1;
	int32_t		r2;

	if (kind == FEATURES_NONE)
		return NULL;
	b = gp_features_create(env, NODES, kind == FEATURES_SPARSE ? 8 * DIMS : DIMS, type);
	for (int32_t i = 0; i < NODES; i++)
	{
		double		x[8 * DIMS] = {0.0};

		if (kind == FEATURES_SPARSE)
			for (int k = 0; k < 4; k++)
				x[draw_below(&state, 8 * DIMS)] = 1.0;
		else
			for (int k = 0; k < DIMS; k++)
				x[k] = draw_below(&state, 1000) / 1000.0;
		gp_features_add_row(b, i, x);
	}
	return gp_features_build(b, &r1, &r2);
}

/* A problem with every step-th node labelled. */
static gp_problem
make_problem(gp_env *env, const char *kernel, features_kind features, gp_task task, gp_type type,
			 int step)
{
	uint64_t	state = 3;
	world		w = world_open(env, NODES);

	for (int32_t i = 0; i < NODES; i += step)
	{
		int32_t		label = draw_below(&state, WORLD_CLASSES);

		world_label(&w, i, label, draw_below(&state, 1000) / 100.0);
	}
	w.graph = random_hub_graph(env, &state, NODES, 2 * NODES, 2, 20, false);
	w.features = make_features(env, features, type);
	gp_problem	p = world_problem(env, &w, kernel, task, type);
	p.nlandmarks = LANDMARKS;
	return p;
}

/* A fit that is tried. */
typedef struct trial
{
	const gp_problem *problem;
	gp_plan		plan;
} trial;

static void
run_trial(gp_eval *ev, void *arg)
{
	const trial *t = arg;

	gp_posterior_free(ev->env, gp_posterior_planned(ev, t->problem, &t->plan));
}

/* The worst ratios of plan to peak so far. */
typedef struct extremes
{
	double		least;
	double		most;
	char		where_least[200];
	char		where_most[200];
	int			fits;
} extremes;

/* Notes a ratio. */
static void
note(extremes *e, double plan, double peak, const char *where)
{
	double		ratio = plan / peak;

	e->fits++;
	if (ratio < e->least)
		snprintf(e->where_least, sizeof(e->where_least), "%s", where);
	if (ratio > e->most)
		snprintf(e->where_most, sizeof(e->where_most), "%s", where);
	e->least = fmin(e->least, ratio);
	e->most = fmax(e->most, ratio);
}

/* One fit one way, planned and done. */
static void
try_way(gp_env *env, const gp_problem *p, way w, extremes *e, const char *name)
{
	gp_device  *dev = gp_device_cpu(env, w == WAY_FULL ? 1 : 2);
	trial		t = {p, {.strategy = w >= WAY_LOWRANK ? GP_STRATEGY_NYSTROM : GP_STRATEGY_EXACT,
	.by_columns = w == WAY_COLUMNS, .exact_diagonal = w != WAY_LOWRANK, .nlandmarks = LANDMARKS}};
	gp_eval		ev;
	char		where[200];

	gp_eval_open(&ev, dev, p->program, p->graph, p->features, 1, p->type);
	if (gp_step_cheapness(&ev, p->program->nsteps - 1) != GP_CHEAP_NONE ||
		w == WAY_FULL || w == WAY_LOWRANK)
	{
		double		plan = gp_eval_dry(&ev, run_trial, &t).bytes + (double) env->used;

		env->peak = env->used;
		run_trial(&ev, &t);
		snprintf(where, sizeof(where), "%s, %s", name, way_name[w]);
		note(e, plan, (double) env->peak, where);
	}
	gp_eval_close(&ev);
	dev->close(dev);
}

/* The same in an environment of its own. */
static void
try_problem(const char *kernel, features_kind features, gp_type type, gp_task task, int step,
			way w, extremes *e)
{
	gp_env	   *env = test_env();
	gp_problem	p = make_problem(env, kernel, features, task, type, step);
	char		name[100];

	snprintf(name, sizeof(name), "%s features, %s, %s, %d labels", features_name[features],
			 type == GP_FLOAT ? "single" : "double",
			 task == GP_TASK_CLASSES ? "classes" : "values", (int) p.nlabelled);
	if (test_catch(env, try_way(env, &p, w, e, name)))
		ok(false, test_state(env)->message);
	test_env_close(env);
}

/* A kernel in every way, with every kind of features, labels and numbers: any two of them together; with GNNGP_LONG=1 any three. */
static void
check_kernel(const char *kernel)
{
	extremes	e = {INFINITY, 0.0, "", "", 0};
	int			apart = getenv("GNNGP_LONG") != NULL ? 2 : WAYS;
	char		name[600];

	for (int features = 0; features < FEATURES_KINDS; features++)
		for (int type = GP_FLOAT; type <= GP_DOUBLE; type++)
			for (int task = GP_TASK_CLASSES; task <= GP_TASK_VALUES; task++)
				for (int w = (features + type + apart / 2 * task) % apart; w < WAYS; w += apart)
					try_problem(kernel, (features_kind) features, (gp_type) type, (gp_task) task,
								type == GP_FLOAT ? 2 : 24,
								(way) w, &e);
	snprintf(name, sizeof(name), "%s: %d plans are %.3f (%s) to %.3f (%s) of the peak", kernel, e.fits,
			 e.least, e.where_least, e.most, e.where_most);
	ok(e.fits > 0 && e.least >= 1.0 && e.most <= 1.1, name);
}

/* A plan as the user sees it, with all that was held before and while planning. */
static void
check_fit(gp_env *env, const char *kernel, gp_strategy strategy)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_problem	p = make_problem(env, kernel, FEATURES_SPARSE, GP_TASK_CLASSES, GP_FLOAT, 10);
	char		name[200];

	p.strategy = strategy;
	gp_posterior *out = gp_fit(dev, &p);
	double		ratio = out->plan.bytes / (double) env->peak;
	snprintf(name, sizeof(name), "%s, strategy %d: the plan is %.3f of the peak", kernel, strategy, ratio);
	ok(ratio >= 1.0 && ratio <= 1.1, name);
}

/* The same by each strategy. */
static void
check_fits(const char *kernel)
{
	in_env(check_fit(env, kernel, GP_STRATEGY_EXACT));
	in_env(check_fit(env, kernel, GP_STRATEGY_NYSTROM));
}

/* Conjugate gradients, or all columns, with few labels and many, on a graph of any shape. */
static void
check_precision(gp_env *env, const char *kernel, int nodes, int step, gp_task task, gp_type type, int classes)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_problem	p = make_problem(env, kernel, FEATURES_NONE, task, type, 10);
	uint64_t	state = 5;
	int32_t    *labelled = gp_alloc_array(env, nodes, sizeof(int32_t));
	int32_t    *label = gp_alloc_array(env, nodes, sizeof(int32_t));
	double	   *target = gp_alloc_array(env, nodes, sizeof(double));
	char		name[200];

	p.graph = random_hub_graph(env, &state, nodes, 3 * nodes, 2, 20, nodes % 2 == 1);
	p.nlabelled = 0;
	for (int32_t i = 0; i < nodes; i += step)
	{
		labelled[p.nlabelled] = i;
		label[p.nlabelled] = draw_below(&state, classes);
		target[p.nlabelled++] = draw_unit(&state);
	}
	p.labelled = labelled;
	p.label = task == GP_TASK_CLASSES ? label : NULL;
	p.target = task == GP_TASK_VALUES ? target : NULL;
	p.nclasses = task == GP_TASK_CLASSES ? classes : 0;
	p.strategy = strncmp(kernel, "laplacian", 9) == 0 ? GP_STRATEGY_PRECISION : GP_STRATEGY_EXACT;
	p.nlandmarks = 0;
	env->peak = env->used;
	gp_posterior *out = gp_fit(dev, &p);
	double		ratio = out->plan.bytes / (double) env->peak;
	snprintf(name, sizeof(name), "%s, %d nodes, %d labels, %d classes, %s: the plan is %.3f of the peak", kernel,
			 nodes, (int) p.nlabelled, p.nclasses, type == GP_FLOAT ? "single" : "double", ratio);
	ok(ratio >= 1.0 && ratio <= 1.1, name);
}

/* The same, of several sizes. */
static void
check_precisions(void)
{
	static const int sizes[][3] = {{300, 2, 3}, {300, 30, 3}, {1201, 4, 40}, {5001, 3, 12}};
	static const char *const kernel[] = {"laplacian(d=1)", "laplacian(d=2, sigma2=0.2)", "laplacian(d=3)"};

	for (volatile int k = 0; k < 4; k++)
		for (volatile int d = k < 2 ? 1 : 2; d <= (k < 2 ? 3 : 2); d++)
		{
			in_env(check_precision(env, kernel[d - 1], sizes[k][0], sizes[k][1], GP_TASK_CLASSES,
								   d == 2 ? GP_FLOAT : GP_DOUBLE, sizes[k][2]));
			if (d == 2)
				in_env(check_precision(env, kernel[d - 1], sizes[k][0], sizes[k][1], GP_TASK_VALUES, GP_FLOAT, 3));
		}
	in_env(check_precision(env, "laplacian", 1201, 4, GP_TASK_CLASSES, GP_FLOAT, 5));
	/* The errors of all nodes, beside all of K */
	in_env(check_precision(env, "gcn", 700, 1, GP_TASK_VALUES, GP_FLOAT, 3));
}

/* A plan leaves nothing behind, and its dry runs count by themselves. */
static void
check_traces(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, "gcnii(layers=3)", FEATURES_SPARSE, GP_TASK_CLASSES, GP_FLOAT, 5);
	uint64_t	state = 9;
	size_t		used;
	int64_t		live;

	p.graph = random_hub_graph(env, &state, 30000, 60000, 0, 0, false);
	p.features = NULL;
	used = env->used;
	live = test_state(env)->live;
	env->peak = used;
	gp_plan		plan = gp_plan_make(dev, &p);
	ok(env->used == used && test_state(env)->live == live, "a plan leaves nothing behind");
	ok(plan.bytes > 3.0 * (double) (env->peak - used), "and holds little while it is made");
}

/* The root of a Laplacian kernel is planned without being made, within the limit that an estimate is given. */
static void
check_root(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, "laplacian(sigma2=2)", FEATURES_NONE, GP_TASK_CLASSES, GP_FLOAT, 5);
	double		square = 1000.0 * 1000.0;
	uint64_t	state = 9;
	size_t		used;
	int64_t		live;

	p.graph = random_hub_graph(env, &state, 1000, 3000, 0, 0, false);
	p.nlandmarks = 0;
	used = env->used;
	live = test_state(env)->live;
	env->peak = used;
	gp_plan		plan = gp_plan_make(dev, &p);
	is_int(plan.strategy, GP_STRATEGY_EXACT, "a root that fits is taken");
	ok(plan.bytes > 15.0 * square && (double) (env->peak - used) < 0.5 * square, "and planned without being made");
	ok(env->used == used && test_state(env)->live == live, "such a plan leaves nothing behind");
	p.estimate_limit = env->used + (size_t) (23.0 * square);
	is_int(gp_plan_make(dev, &p).strategy, GP_STRATEGY_PRECISION, "an estimate is of the strategy that fits the limit");
	env->limit = p.estimate_limit;
	p.estimate_limit = 0;
	gp_posterior *out = gp_fit(dev, &p);
	is_int(out->plan.strategy, GP_STRATEGY_PRECISION, "as the fit is");
	gp_posterior_free(env, out);
	env->limit = env->used + (size_t) (25.0 * square);
	out = gp_fit(dev, &p);
	is_int(out->plan.strategy, GP_STRATEGY_EXACT, "with a little more both are exact");
}

/* A factor of several panels is no wider than there are labels, or 1,500; linear terms are no such panel. */
static void
check_width(gp_env *env)
{
	static const char *const kernel[] = {"A*relu(X0*W)*W", "A*relu(X0*W)*W + X0*W", "A*relu(X0*W)*W + A^2*relu(X0*W)*W"};
	static const int64_t landmarks[] = {1500, 1500, 750};
	gp_device  *dev = gp_device_cpu(env, 1);
	uint64_t	state = 9;

	for (int k = 0; k < 3; k++)
	{
		gp_problem	p = make_problem(env, kernel[k], FEATURES_SPARSE, GP_TASK_VALUES, GP_FLOAT, 5);

		p.graph = random_hub_graph(env, &state, 4000, 8000, 0, 0, false);
		p.features = NULL;
		p.strategy = GP_STRATEGY_NYSTROM;
		p.nlandmarks = 0;
		is_int(gp_plan_make(dev, &p).nlandmarks, landmarks[k], kernel[k]);
	}
}

/* Equal operators of several layers have one matrix. */
static void
check_operators(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, "(A^2+0.5*I)*relu(X)*W", FEATURES_DENSE, GP_TASK_CLASSES, GP_DOUBLE, 5);
	const gp_csr *first = NULL;
	bool		same = true;
	int			n = 0;
	gp_eval		ev;

	gp_eval_open(&ev, dev, p.program, p.graph, p.features, 1, p.type);
	for (int i = 0; i < p.program->nsteps; i++)
		if (p.program->steps[i].op)
		{
			const gp_csr *csr = gp_operator_csr(&ev, p.program->steps[i].op);

			same = same && (first == NULL || csr == first);
			first = csr;
			n++;
		}
	ok(same && n == 2 && ev.kernel->nops == 1, "equal operators are one matrix");
	gp_eval_close(&ev);
}

int
main(void)
{
	static const char *const kernel[] = {
		"gcn", "gin", "gcnii", "gcnii(layers=3)", "sage", "sage(layers=3)", "appnp",
		"ggp", "rbf", "laplacian(walks=8)", "mlp", "(I+0.5*A+0.2*A^2)*relu(X)*W + b", "P(0.2)*X0", "A*relu(X)*W1 + A^2*X0, layers=3, sigma_b=0.1",
		"profile", "sage2", "A*N + X0", "unit(A*relu(N*W + X0*W)*W)"
	};

	for (size_t k = 0; k < sizeof(kernel) / sizeof(kernel[0]); k++)
	{
		check_kernel(kernel[k]);
		check_fits(kernel[k]);
	}
	in_env(check_fit(env, "gcn", GP_STRATEGY_AUTO));
	check_precisions();
	in_env(check_traces(env));
	in_env(check_root(env));
	in_env(check_width(env));
	in_env(check_operators(env));
	return done_testing();
}
