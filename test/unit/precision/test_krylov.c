/*
 * test_krylov.c - posteriors from a Krylov space of S against those of conjugate gradients on H.
 */
#include "precision/precision_fit.h"
#include "test_env.h"
#include "test_world.h"

#define NODES 400
#define COLUMNS 4
#define NOISE 1e-3
#define MOST 16					/* products */

/* A graph where ten steps reach everybody, or a ring, where they do not; each 25th node is labelled. */
static world
make_world(gp_env *env, bool ring)
{
	world		w = world_open(env, NODES);
	uint64_t	state = 5;

	if (ring)
	{
		gp_edges   *edges = gp_edges_create(env, NODES, false, false);

		for (int32_t i = 0; i < NODES; i++)
			gp_edges_add(edges, 1, &i, &(int32_t) {(i + 1) % NODES}, NULL);
		w.graph = gp_graph_build(edges);
	}
	else
		w.graph = random_hub_graph(env, &state, NODES, 4 * NODES, 2, NODES / 20, false);
	for (int32_t i = 0; i < NODES; i += 25)
		world_label(&w, i, (i / 25 + draw_below(&state, 2)) % WORLD_CLASSES, draw_unit(&state));
	return w;
}

/* Some numbers in the labels' rows. */
static gp_elements
make_right_sides(gp_env *env, const gp_problem *p, double factor)
{
	gp_elements b = gp_elements_make(env, p->nlabelled * COLUMNS, 0, COLUMNS);
	uint64_t	state = 7;

	for (int64_t k = 0; k < p->nlabelled; k++)
		for (int j = 0; j < COLUMNS; j++)
			gp_elements_add(&b, p->labelled[k], j, factor * (draw_unit(&state) - 0.5));
	return b;
}

/* The largest difference to the solution by conjugate gradients, as a share of the largest number. */
static double
off(gp_env *env, gp_device *dev, const gp_csr *s, const gp_problem *p, double sigma2, int d, const double *labels,
	const double *all)
{
	gp_precision *h = gp_precision_open(dev, s, GP_DOUBLE);
	gp_elements b = make_right_sides(env, p, 1.0 / NOISE);
	double		worst = 0.0;
	double		size = 0.0;
	gp_convergence reached;

	gp_precision_set(h, sigma2, d, p->labelled, p->nlabelled, NOISE);
	gp_matrix	x = gp_precision_solve(h, &b, 0.0, 1e-12, 5000, NULL, &reached);
	for (int64_t e = 0; e < NODES * COLUMNS; e++)
	{
		double		want = ((double *) x.data)[e / COLUMNS * x.ld + e % COLUMNS];

		size = fmax(size, fabs(want));
		worst = fmax(worst, fabs(all[e] - want));
	}
	for (int64_t e = 0; e < p->nlabelled * COLUMNS; e++)
		worst = fmax(worst, fabs(labels[e] - all[p->labelled[e / COLUMNS] * COLUMNS + e % COLUMNS]));
	gp_precision_close(h);
	return worst / size;
}

/* One space serves any prior, and says how well. */
static void
check_priors(gp_env *env)
{
	static const struct
	{
		double		sigma2;
		int			d;
	}			prior[] = {{2.0, 1}, {10.0, 1}, {2.0, 2}, {10.0, 2}};
	world		w = make_world(env, false);
	gp_problem	p = world_problem(env, &w, "laplacian", GP_TASK_VALUES, GP_DOUBLE);
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_csr	   *s = gp_precision_matrix(env, w.graph);
	gp_elements b = make_right_sides(env, &p, 1.0);
	gp_krylov  *k = gp_krylov_open(dev, s, GP_DOUBLE, p.labelled, p.nlabelled, &b, MOST, false);
	const double *x;
	double	   *all = gp_alloc_array(env, NODES * COLUMNS, sizeof(double));

	for (size_t c = 0; c < sizeof(prior) / sizeof(prior[0]); c++)
	{
		double		gained = gp_krylov_solve(k, prior[c].sigma2, prior[c].d, NOISE, &x);
		gp_matrix	solution = gp_krylov_solution(k);
		char		name[120];

		dev->download(dev, gp_matrix_wrap(all, NODES, COLUMNS, GP_DOUBLE), solution);
		dev->destroy(dev, &solution);
		double		worst = off(env, dev, s, &p, prior[c].sigma2, prior[c].d, x, all);
		snprintf(name, sizeof(name), "sigma2 %g, d %d: %.2g off, the last products gained %.2g", prior[c].sigma2,
				 prior[c].d, worst, gained);
		ok(worst < 0.1 && gained < 0.05, name);
	}
	gp_krylov_close(k);
}

/* Where labels are far apart ten products are too few, and it shows. */
static void
check_far(gp_env *env)
{
	world		w = make_world(env, true);
	gp_problem	p = world_problem(env, &w, "laplacian", GP_TASK_VALUES, GP_DOUBLE);
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_elements b = make_right_sides(env, &p, 1.0);
	gp_krylov  *k = gp_krylov_open(dev, gp_precision_matrix(env, w.graph), GP_DOUBLE, p.labelled,
								   p.nlabelled, &b, 10, false);
	const double *x;

	ok(gp_krylov_solve(k, 50.0, 2, 0.1 * NOISE, &x) > 0.1, "a ring is too long for ten products, and it shows");
	gp_krylov_close(k);
}

/* A fit compares priors in such a space, and predicts as without it. */
static void
check_fit(gp_env *env)
{
	world		w = make_world(env, false);
	gp_problem	p = world_problem(env, &w, "laplacian", GP_TASK_VALUES, GP_DOUBLE);
	gp_targets	t = gp_targets_make(env, &p);
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_plan		plan = {.products = MOST};
	gp_csr	   *s = gp_precision_matrix(env, w.graph);
	gp_precision_fit f;
	double		score[2];
	double		total;
	bool		spanned[2];

	for (int c = 0; c < 2; c++)
	{
		gp_precision_fit_open(&f, dev, &p, &t, s);
		f.costly_products = c == 1;
		gp_precision_set_targets(&f, false);
		gp_precision_span(&f, &plan, 2.0, 1);
		gp_precision_set_prior(&f, 2.0, 1);
		spanned[c] = f.krylov != NULL;
		gp_precision_solve_labels(&f, 0.1, 1e-8, NULL);
		score[c] = gp_precision_loo_error(&f, &total) / total;
		gp_precision_fit_close(&f);
	}
	ok(!spanned[0] && spanned[1] && fabs(score[1] / score[0] - 1.0) < 0.05,
	   "a fit of a large graph has a space, and scores as without it");
	gp_precision_fit_open(&f, dev, &p, &t, s);
	f.costly_products = true;
	gp_precision_set_targets(&f, false);
	plan.products = 0;
	gp_precision_span(&f, &plan, 2.0, 1);
	ok(f.krylov == NULL, "none without the memory");
	plan.products = MOST;
	gp_precision_span(&f, &plan, 2.0, 3);
	ok(f.krylov == NULL, "and none for d = 3");
	gp_precision_fit_close(&f);
}

typedef struct comparison
{
	gp_problem *problem;
	gp_csr	   *s;
} comparison;

/* A comparison, with the products of a large graph. */
static void
compare(gp_device *dev, void *arg)
{
	comparison *c = arg;
	gp_plan		plan = {.strategy = GP_STRATEGY_PRECISION,.products = 10};

	gp_posterior_free(dev->env, gp_posterior_precision(dev, c->problem, c->s, &plan));
}

/* A plan of a comparison counts the conjugate gradients of a ring, where the space is too small. */
static void
check_plan(gp_env *env)
{
	world		w = make_world(env, true);
	gp_problem	p = world_problem(env, &w, "laplacian", GP_TASK_CLASSES, GP_FLOAT);
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_features_builder *b = gp_features_create(env, NODES, 1, GP_FLOAT);
	int32_t		none;
	char		name[80];

	/* Beside features few labels are compared as on a large graph. */
	for (int32_t i = 0; i < NODES; i++)
		gp_features_add_row(b, i, &(double) {1.0});
	p.features = gp_features_build(b, &none, &none);
	p.loo_only = true;
	p.quiet = true;
	comparison	c = {&p, gp_precision_matrix(env, p.graph)};
	double		plan = gp_dry_run(dev, compare, &c).bytes + (double) env->used;
	env->peak = env->used;
	compare(dev, &c);
	snprintf(name, sizeof(name), "the plan of a comparison on a ring is %.3f of the peak", plan / (double) env->peak);
	ok(plan >= (double) env->peak && plan <= 1.1 * (double) env->peak, name);
}

int
main(void)
{
	in_env(check_priors(env));
	in_env(check_far(env));
	in_env(check_fit(env));
	in_env(check_plan(env));
	return done_testing();
}
