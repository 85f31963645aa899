/*
 * test_precision_products.c - conjugate gradients spare the products of a system that is solved already.
 */
#include "fit/fit_internal.h"
#include "precision/precision_fit.h"
#include "test_env.h"
#include "test_world.h"

#define NODES 300

/* A problem on a random graph with hubs, of which each ninth node is labelled. */
static gp_problem
make_problem(gp_env *env, gp_task task, gp_type type)
{
	uint64_t	state = 5;
	world		w = world_open(env, NODES);

	w.graph = random_hub_graph(env, &state, NODES, 2 * NODES, 2, NODES / 20, false);
	for (int32_t i = 0; i < NODES; i += 9)
		world_label(&w, i, (i / 9 + draw_below(&state, 2)) % WORLD_CLASSES, 7.0 + draw_unit(&state));
	gp_problem	p = world_problem(env, &w, "laplacian", task, type);
	p.seed = 1;
	return p;
}

/* Sparse products that have been made since the count was set to 0. */
static int64_t products;
static void (*spmm) (gp_device *, double, const gp_csr *, gp_matrix, double, gp_matrix);

/* Counts one. */
static void
counted_spmm(gp_device *dev, double alpha, const gp_csr *s, gp_matrix b, double beta, gp_matrix c)
{
	products++;
	spmm(dev, alpha, s, b, beta, c);
}

/* A fit whose products are counted, with a prior. */
static gp_precision_fit
counted_fit(gp_env *env, const gp_problem *p, const gp_targets *t)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_precision_fit f;

	spmm = dev->spmm;
	dev->spmm = counted_spmm;
	gp_precision_fit_open(&f, dev, p, t, gp_precision_matrix(env, p->graph));
	gp_precision_set_prior(&f, 10.0, 2);
	gp_precision_set_targets(&f, false);
	return f;
}

/* A system that has been solved is not solved again, unless another one, or a better solution, is asked for. */
static void
check_solved(gp_env *env)
{
	gp_problem	p = make_problem(env, GP_TASK_VALUES, GP_DOUBLE);
	gp_targets	t = gp_targets_make(env, &p);
	gp_precision_fit f = counted_fit(env, &p, &t);
	double	   *mean = gp_alloc_array(env, NODES, sizeof(double));
	double		off = 0.0;

	gp_precision_solve_labels(&f, 0.1, 1e-4, NULL);
	products = 0;
	gp_precision_solve_labels(&f, 0.1, 1e-4, mean);
	for (int64_t k = 0; k < p.nlabelled; k++)
		off = fmax(off, fabs(mean[p.labelled[k]] - f.fitted[k]));
	ok(products == 0 && off < 1e-9 && f.last.x.data == NULL, "what is solved gives its means without a product, and its memory");
	gp_precision_solve_labels(&f, 0.1, 1e-4, NULL);
	products = 0;
	gp_precision_solve_labels(&f, 0.1, 1e-8, mean);
	ok(products > 0, "a better solution takes some");
	gp_precision_solve_labels(&f, 0.1, 1e-4, NULL);
	products = 0;
	gp_precision_solve_labels(&f, 0.2, 1e-4, mean);
	ok(products > 0, "another nugget, too");
	gp_precision_solve_labels(&f, 0.1, 1e-4, NULL);
	gp_precision_set_prior(&f, 11.0, 2);
	products = 0;
	gp_precision_solve_labels(&f, 0.1, 1e-4, mean);
	ok(products > 0, "another prior, too");
}

int
main(void)
{
	in_env(check_solved(env));
	return done_testing();
}
