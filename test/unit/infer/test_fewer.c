/*
 * test_fewer.c - what the last landmarks brought is what a fit without them loses.
 */
#include "fit/fit_internal.h"
#include "test_env.h"
#include "test_world.h"

#include <math.h>

#define NODES 900

/* A graph of blocks whose nodes are known by their edges alone; every step-th node is labelled. */
static gp_problem
make_problem(gp_env *env, const char *kernel, gp_task task, int step)
{
	uint64_t	state = 11;
	gp_edges   *edges = gp_edges_create(env, NODES, false, false);
	world		w = world_open(env, NODES);
	gp_problem	p;

	for (int k = 0; k < 5 * NODES; k++)
	{
		int32_t		src = draw_below(&state, NODES);
		int32_t		dst = draw_below(&state, 5) < 4 ?
			draw_below(&state, NODES / WORLD_CLASSES) + src / (NODES / WORLD_CLASSES) * (NODES / WORLD_CLASSES) :
			draw_below(&state, NODES);

		if (src != dst)
			gp_edges_add(edges, 1, &src, &dst, NULL);
	}
	for (int32_t i = 0; i < NODES; i += step)
		world_label(&w, i, i / (NODES / WORLD_CLASSES), i / (NODES / WORLD_CLASSES) + 0.001 * draw_below(&state, 100));
	w.graph = gp_graph_build(edges);
	p = world_problem(env, &w, kernel, task, GP_DOUBLE);
	p.nugget = 0.1;
	return p;
}

/* The leave-one-out error of a fit on some landmarks, from the exact diagonal; *ratio is what it foretells. */
static double
error_on(gp_eval *ev, const gp_problem *problem, const gp_targets *t, int32_t *landmark, int64_t n, double *ratio)
{
	gp_env	   *env = ev->env;
	gp_plan		plan = {.strategy = GP_STRATEGY_NYSTROM,.exact_diagonal = true};
	gp_posterior *out = gp_posterior_create(env, problem, t, &plan);
	int64_t		counted;
	int32_t    *index = gp_loo_sample(env, t, 256, &counted);
	double		total;
	double		error;
	gp_solution s;

	out->landmark = landmark;
	out->nlandmarks = n;
	s = gp_infer_lowrank(ev, problem, t, &plan, out);
	*ratio = s.fewer_error;
	error = gp_loo_error(problem, t, s.loo_mean, index, counted, &total);
	out->landmark = NULL;
	gp_posterior_free(env, out);
	gp_solution_free(ev->dev, &s);
	return error;
}

/* Holds what is foretold against a fit on the landmarks that rank first. */
static void
check_error(gp_env *env, const char *kernel, gp_task task, int step, int64_t count)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, kernel, task, step);
	gp_targets	t = gp_targets_make(env, &p);
	int64_t		last = count / 4;
	int64_t		n;
	int64_t		kept = 0;
	int32_t    *landmark;
	int32_t    *first = gp_alloc_array(env, count, sizeof(int32_t));
	int32_t    *fewer;
	bool	   *without = gp_alloc_zero(env, count, sizeof(bool));
	int32_t    *place;
	bool		same;
	double		ratio;
	double		unused;
	double		all;
	double		part;
	gp_eval		ev;
	char		name[200];

	gp_eval_open(&ev, dev, p.program, p.graph, NULL, 1, p.type);
	landmark = gp_landmarks_choose(&ev, &p, count, &n);
	place = gp_landmarks_last(&ev, &p, landmark, n, last);
	for (int64_t k = 0; k < last; k++)
		without[place[k]] = true;
	for (int64_t k = 0; k < n; k++)
		if (!without[k])
			first[kept++] = landmark[k];
	fewer = gp_landmarks_choose(&ev, &p, count - last, &n);
	same = n == kept && memcmp(first, fewer, n * sizeof(int32_t)) == 0;
	ok(same, "landmarks that rank first are those of a fit with fewer");
	all = error_on(&ev, &p, &t, landmark, count, &ratio);
	part = error_on(&ev, &p, &t, first, kept, &unused);
	snprintf(name, sizeof(name), "%s, %d labels, %d landmarks: without the last %d the error is %.5f of it (%.5f)",
			 kernel, (int) p.nlabelled, (int) count, (int) last, ratio, part / all);
	ok(fabs(ratio - part / all) < 1e-4 && ratio > 0.0, name);
	gp_eval_close(&ev);
}

/* Whether a fit says that more landmarks help. */
static void
check_notice(gp_env *env, int64_t count, int step, bool helps, const char *name)
{
	gp_problem	p = make_problem(env, "gcn", GP_TASK_CLASSES, step);
	gp_posterior *out;

	p.strategy = GP_STRATEGY_NYSTROM;
	p.nlandmarks = count;
	out = gp_fit(gp_device_cpu(env, 1), &p);
	ok((strstr(test_state(env)->notice, "more landmarks are likely to help") != NULL) == helps, name);
	ok(out->plan.bytes >= (double) env->peak && out->plan.bytes <= 1.1 * (double) env->peak,
	   "and the plan holds");
}

int
main(void)
{
	in_env(check_error(env, "gcn", GP_TASK_CLASSES, 2, 100));
	in_env(check_error(env, "gcn", GP_TASK_CLASSES, 4, 240));
	in_env(check_error(env, "gcn", GP_TASK_VALUES, 2, 100));
	in_env(check_error(env, "gcn", GP_TASK_VALUES, 4, 240));
	in_env(check_error(env, "A*relu(X)*W1 + A*X0", GP_TASK_CLASSES, 2, 100));
	in_env(check_error(env, "sage", GP_TASK_CLASSES, 2, 100));
	in_env(check_error(env, "sage", GP_TASK_CLASSES, 4, 160));
	in_env(check_notice(env, 60, 2, true, "few landmarks: more are likely to help"));
	in_env(check_notice(env, 240, 4, false, "the last of many brought little"));
	in_env(check_notice(env, 60, 9, false, "too few labels to say so"));
	in_env(check_notice(env, 900, 2, false, "every node is a landmark"));
	return done_testing();
}
