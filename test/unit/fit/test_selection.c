/*
 * test_selection.c - which of several kernels is chosen, and what comparing them takes.
 */
#include "fit/selection/selection.h"
#include "kernel/prepared.h"
#include "test_env.h"
#include "test_world.h"

#include <math.h>
#include <string.h>

#define LABELS 40
#define NODES 600

/* Candidates whose losses are a level, and what labels are worth to each: the same, or by turns. */
static void
check_best(gp_env *env)
{
	static const double level[] = {1.0, 0.98, 0.9, 0.5};
	static const double turns[] = {0.0, 0.3, -0.3, 0.0};
	double		loss[4][LABELS];
	gp_candidate c[4] = {{0}};

	for (int i = 0; i < 4; i++)
	{
		for (int k = 0; k < LABELS; k++)
			loss[i][k] = level[i] + turns[i] * (k % 2 ? 1.0 : -1.0) + 0.01 * (k % 3);
		c[i] = (gp_candidate) {.kernel = i == 3 ? "linear" : "other",.n = LABELS,.loss = loss[i]};
	}
	is_int(gp_candidates_best(c, 2), 0, "a gain within its standard error leaves the first");
	is_int(gp_candidates_best(c, 3), 1, "the first of those that are as good as the best");
	is_int(gp_candidates_best(c, 4), 3, "one that is surely better than all before");
	gp_notice_choice(env, c, 4, &c[3]);
	ok(strncmp(test_state(env)->notice, "no kernel predicts", 18) == 0, "where that is regression, it is told");
	c[3].problem = "too large";
	is_int(gp_candidates_best(c, 4), 1, "what does not fit is nobody's rival");
	for (int i = 0; i < 4; i++)
		c[i].problem = "too large";
	is_int(gp_candidates_best(c, 4), -1, "nothing fits");
}

/* Nodes in rings of their own, each of a class, and features that tell nothing or all of it. */
static gp_problem
rings(gp_env *env, bool told, int labels)
{
	world		w = world_open(env, NODES);
	gp_features_builder *b = gp_features_create(env, NODES, 4, GP_FLOAT);
	gp_edges   *edges = gp_edges_create(env, NODES, false, false);
	int32_t		r1;
	int32_t		r2;

	for (int32_t i = 0; i < NODES; i++)
	{
		double		x[4] = {1.0, sin(i * i), cos(3.0 * i), told ? i % WORLD_CLASSES : 0.0};
		int32_t		next[2] = {(i + WORLD_CLASSES) % NODES, (i * 7 + 2 * WORLD_CLASSES) % NODES};

		gp_features_add_row(b, i, x);
		gp_edges_add(edges, 2, (int32_t[]) {i, i}, next, NULL);
		if (i < labels)
			world_label(&w, i, i % WORLD_CLASSES, 0.0);
	}
	w.graph = gp_graph_build(edges);
	w.features = gp_features_build(b, &r1, &r2);
	return world_problem(env, &w, "gcn", GP_TASK_CLASSES, GP_FLOAT);
}

/*
 * The plan of a comparison of powers on so many landmarks (0: automatic), whichever of them wins,
 * and of a fit in full by each: the forecast is the largest, and says what it is at least.  On few
 * landmarks the comparison needs less than either fit.
 */
static void
check_powers(gp_env *env, const char *kernel, bool told, int64_t landmarks)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_problem	p = rings(env, told, 60);
	gp_candidate c = gp_candidate_make(env, gp_kernel_parse(env, kernel));
	double		fit[2];
	char		name[100];

	c.is_alone = true;
	c.landmarks = landmarks;
	p.estimate_limit = SIZE_MAX / 2;
	p.shared = gp_candidates_share(dev, &p, &c, 1);
	gp_forecast f = gp_candidates_plan(dev, &p, &c, 1);
	p.estimate_limit = 0;
	gp_problem compared = gp_candidate_problem(dev, &p, &c);
	compared.plan = NULL;
	ok(compared.loo_only, "few labels leave the power open");
	env->peak = env->used;
	gp_posterior *out = gp_fit(dev, &compared);

	snprintf(name, sizeof(name), "%s, power %g: the plan is %.3f of the peak", kernel, out->power,
			 f.before.bytes / (double) env->peak);
	ok(f.before.bytes >= (double) env->peak && f.before.bytes <= 1.1 * (double) env->peak, name);
	gp_posterior_free(env, out);
	for (int k = 0; k < 2; k++)
	{
		gp_program program = *c.program;

		program.power = k == 0 ? 1.0 : GP_POWER_TRIED;
		p.program = &program;
		env->peak = env->used;
		gp_posterior_free(env, gp_fit(dev, &p));
		fit[k] = fmax(f.before.bytes, (double) env->peak);
	}
	double		most = fmax(fit[0], fit[1]);
	double		least = fmin(fit[0], fit[1]);

	ok(landmarks == 0 || f.before.bytes < 0.8 * least, "the comparison does not hide the smaller fit");
	snprintf(name, sizeof(name), "%s: at most %.3f of the larger fit's, at least %.3f of the other's", kernel,
			 f.full.bytes / most, f.least / least);
	ok(f.full.bytes >= most && f.full.bytes <= 1.1 * most && f.least <= 1.1 * least && f.least >= least / 1.1, name);
}

/* A Laplacian input is made once for the comparison of powers and the fit, which stay as they are. */
static void
check_input(gp_env *env, const char *kernel, bool root)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_problem	p = rings(env, false, 60);
	gp_candidate c = gp_candidate_make(env, gp_kernel_parse(env, kernel));
	gp_posterior *out[2][2];
	gp_eval		ev;

	c.is_alone = true;
	p.estimate_limit = SIZE_MAX / 2;
	ok((gp_candidates_share(dev, &p, &c, 1) == NULL) == root, "an estimate needs walks, and no root");
	p.estimate_limit = 0;
	gp_shared  *shared = gp_candidates_share(dev, &p, &c, 1);
	gp_eval_open_with(&ev, dev, c.program, p.graph, NULL, p.seed, p.type, (gp_eval_options) {.shared = shared});
	ok(ev.kernel->x == shared->x && (ev.kernel->root_of != NULL) == root, kernel);
	gp_eval_close(&ev);
	for (int k = 0; k < 2; k++)
	{
		p.shared = k == 0 ? NULL : shared;
		gp_problem	compared = gp_candidate_problem(dev, &p, &c);
		gp_problem	full = p;

		out[k][0] = gp_fit(dev, &compared);
		full.program = c.program;
		out[k][1] = gp_fit(dev, &full);
	}
	ok(out[0][0]->power == out[1][0]->power && out[0][0]->nugget == out[1][0]->nugget &&
	   memcmp(out[0][1]->mean, out[1][1]->mean, p.graph->nodes * p.nclasses * sizeof(double)) == 0,
	   "the same bits as of its own");
	c.is_alone = false;
	ok(gp_candidates_share(dev, &p, &c, 1) == NULL, "what is made once by itself is not shared");
}

/* Each candidate's comparison is planned as it runs; one that does not fit is not made. */
static void
check_candidates(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_problem	p = rings(env, true, 200);
	int			n;
	gp_candidate *c = gp_candidates(env, &p, &n);
	double		most = 0.0;
	bool		right = true;

	p.shared = gp_candidates_share(dev, &p, c, n);
	gp_forecast f = gp_candidates_plan(dev, &p, c, n);
	for (int i = 0; i < n; i++)
	{
		gp_problem	one = gp_candidate_problem(dev, &p, &c[i]);

		env->peak = env->used;
		gp_posterior *out = gp_fit(dev, &one);
		right &= c[i].plan.bytes >= (double) env->peak && c[i].plan.bytes <= 1.1 * (double) env->peak;
		most = fmax(most, c[i].plan.bytes);
		gp_posterior_free(env, out);
	}
	is_int(n, 9, "nine kernels suit classes and features");
	ok(right && f.before.bytes == most, "the plan of each comparison is its peak to a tenth");
	env->limit = env->used + (size_t) (1 << 20);
	p = gp_candidate_problem(dev, &p, &c[2]);
	ok(gp_fit(dev, &p) == NULL, "what does not fit is not compared");
	env->limit = 0;
	p.live = true;
	p.plan = NULL;
	c = gp_candidates(env, &p, &n);
	ok(n == 6 && strstr(test_state(env)->notice, "appnp, field, laplacian"), "those without live state are told");
}

int
main(void)
{
	in_env(check_best(env));
	in_env(check_powers(env, "gcn", true, 0));
	in_env(check_powers(env, "gcn", true, 40));
	in_env(check_powers(env, "appnp", false, 40));
	in_env(check_powers(env, "mlp", true, 0));
	in_env(check_powers(env, "gcn(input=laplacian(d=2, walks=9, dims=200))", true, 0));
	in_env(check_input(env, "gcn(input=laplacian(d=2, walks=9, dims=200))", false));
	in_env(check_input(env, "gcn(input=laplacian(d=2))", true));
	in_env(check_candidates(env));
	return done_testing();
}
