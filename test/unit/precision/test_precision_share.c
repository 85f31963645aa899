/*
 * test_precision_share.c - shares of a fit by conjugate gradients, put together, are the fit of memory to the bit.
 */
#include "fit/fit_internal.h"
#include "precision/precision_fit.h"
#include "test_env.h"
#include "test_world.h"

#include <string.h>

/* A problem: a random graph with hubs, a label at each so-many-th node, and an isolated one with a label. */
static gp_problem
make_problem(gp_env *env, int n, int every, int classes, const char *kernel)
{
	uint64_t	state = 11;
	world		w = world_open(env, n);
	gp_problem	p;

	w.graph = random_hub_graph(env, &state, n - 1, 3 * n, 2, 20, false);
	for (int32_t i = 0; i < n - 1; i += every)
		world_label(&w, i, (i / every) % (classes > 0 ? classes : 1), sin(i * 0.01) + 0.1 * draw_unit(&state));
	p = world_problem(env, &w, kernel, classes > 0 ? GP_TASK_CLASSES : GP_TASK_VALUES, GP_FLOAT);
	p.nclasses = classes;
	p.strategy = GP_STRATEGY_PRECISION;
	p.seed = 3;
	return p;
}

/* What shares say of the nodes, which who closes the fit does not see. */
typedef struct told
{
	double	   *mean;
	double	   *variance;
} told;

/* Adds what one share gives. */
static void
add_share(const gp_problem *p, const gp_precision_part *part, gp_precision_part *all, gp_posterior *out, told *rows)
{
	int64_t		n = p->graph->nodes;

	for (int64_t i = 0; i < n; i++)
	{
		for (int64_t c = 0; c < part->columns; c++)
			rows->mean[i * out->columns + part->first + c] = part->mean[i * part->columns + c];
		if (part->level)
			all->level[i] = part->level[i];
		if (part->variance)
			rows->variance[i] += part->variance[i];
	}
	for (int64_t k = 0; part->label && k < p->nlabelled; k++)
	{
		all->label[3 * k] += part->label[3 * k];
		all->label[3 * k + 1] = part->label[3 * k + 1];
		all->label[3 * k + 2] = part->label[3 * k + 2];
		for (int64_t c = 0; c < part->columns; c++)
			all->at[k * out->columns + part->first + c] = part->at[k * part->columns + c];
	}
	for (int k = 0; k < GP_PRECISION_SAMPLE; k++)
		all->apart[k] += part->apart[k];
	all->prior.error = fmax(all->prior.error, part->prior.error);
}

/* Closes the fit, and makes the nodes' posterior of what was told of them. */
static void
close_shares(gp_device *dev, const gp_problem *p, gp_precision_part *all, gp_posterior *out, told *rows)
{
	int32_t		sample[GP_PRECISION_SAMPLE];
	int			n = gp_precision_sample(p, sample);
	double	   *level = all->level;

	memset(out->variance, 0, p->graph->nodes * sizeof(double));
	for (int k = 0; k < n; k++)
		out->variance[sample[k]] = rows->variance[sample[k]];
	gp_precision_close_outside(dev, p, all, out);
	for (int64_t k = 0; k < p->nlabelled; k++)
		rows->variance[p->labelled[k]] = out->variance[p->labelled[k]];
	for (int64_t i = 0; i < p->graph->nodes; i++)
	{
		for (int32_t c = 0; level && c < out->columns; c++)
			rows->mean[i * out->columns + c] += level[i];
		gp_row_finish(&out->row, out->columns, true, rows->mean + i * out->columns, rows->variance + i);
	}
	gp_free(dev->env, out->variance);
	out->mean = rows->mean;
	out->variance = rows->variance;
}

/* The posterior from shares of so many bands, by somebody who has no graph. */
static gp_posterior *
fit_shares(gp_env *env, const gp_problem *asked, int64_t bands)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = *asked;
	gp_problem	without = *asked;
	gp_graph	none = {.nodes = p.graph->nodes};
	gp_precision_bands count = gp_precision_count_bands(&p);
	int64_t		total = count.labels + count.level + count.variances;
	int64_t		first = count.labels == 1 ? 1 : 0;
	gp_precision_prior open = {.mean_diag = NAN};
	gp_precision_part all = {.label = gp_alloc_zero(env, p.nlabelled, 3 * sizeof(double))};
	gp_precision_part part;
	gp_posterior *out;
	told		rows;

	without.graph = &none;
	without.strategy = GP_STRATEGY_SQL;
	out = gp_precision_open_outside(env, &without);
	rows.mean = gp_alloc_zero(env, none.nodes, out->columns * sizeof(double));
	rows.variance = gp_alloc_zero(env, none.nodes, sizeof(double));
	all.at = gp_alloc_zero(env, p.nlabelled, out->columns * sizeof(double));
	if (count.level > 0)
		all.level = gp_alloc_zero(env, none.nodes, sizeof(double));
	p.nugget = without.nugget;
	part = gp_precision_solve_share(dev, &p, &open, 0, first);
	all.prior = part.prior;
	add_share(&p, &part, &all, out, &rows);
	for (int64_t k = first; k < total; k += bands)
	{
		p.nugget = all.prior.nugget;
		part = gp_precision_solve_share(dev, &p, &all.prior, k, gp_min64(total, k + bands));
		add_share(&p, &part, &all, out, &rows);
	}
	close_shares(dev, &without, &all, out, &rows);
	return out;
}

/* True when two arrays are the same. */
static bool
same(const double *a, const double *b, int64_t n)
{
	return memcmp(a, b, n * sizeof(double)) == 0;
}

/* Compares the two. */
static void
check_problem(gp_env *env, const char *what, gp_problem p)
{
	gp_precision_bands count;
	gp_posterior *memory;
	gp_posterior *shares;
	int64_t		m = p.nlabelled;
	char		name[160];

	count = gp_precision_count_bands(&p);
	memory = gp_fit(gp_device_cpu(env, 1), &p);
	for (int64_t bands = 1; bands <= 4; bands += 3)
	{
		shares = fit_shares(env, &p, bands);
		snprintf(name, sizeof(name), "%s, %d + %d + %d bands by %d: nugget %g, score %.3f", what, (int) count.labels, (int) count.level,
				 (int) count.variances, (int) bands, shares->nugget, shares->loo_score);
		ok(shares->nugget == memory->nugget && shares->prior_sigma2 == memory->prior_sigma2 && shares->prior_d == memory->prior_d &&
		   shares->mean_diag == memory->mean_diag && shares->scale == memory->scale && same(&shares->loo_score, &memory->loo_score, 1) &&
		   shares->plan.exact_diagonal == memory->plan.exact_diagonal && shares->plan.strategy == GP_STRATEGY_SQL &&
		   same(shares->mean, memory->mean, p.graph->nodes * memory->columns) &&
		   same(shares->variance, memory->variance, p.graph->nodes) && same(shares->loo.mean, memory->loo.mean, m * memory->columns) &&
		   same(shares->loo.variance, memory->loo.variance, m) && shares->calibrator.gamma == memory->calibrator.gamma &&
		   shares->calibrator.delta == memory->calibrator.delta, name);
	}
}

/* The same for a random graph. */
static void
check(gp_env *env, const char *what, int n, int every, int classes, const char *kernel, bool open, double nugget)
{
	gp_problem	p = make_problem(env, n, every, classes, kernel);

	p.open_prior = open;
	p.nugget = nugget;
	check_problem(env, what, p);
}

/* The same where products are dear: what the choice of a prior has solved last, with a tenth of its nugget, is not solved again. */
static void
check_dear(gp_env *env)
{
	for (int classes = 0; classes <= 5; classes += 5)
	{
		gp_problem	p = make_problem(env, 4500, 4, classes, "laplacian");

		p.dear = p.open_prior = true;
		p.nugget = 0.1 * 0.1;
		check_problem(env, "dear products", p);
	}
}

int
main(void)
{
	in_env(check(env, "classes", 300, 9, 3, "laplacian(sigma2=10, d=2)", false, NAN));
	in_env(check(env, "a nugget, d = 1", 300, 9, 3, "laplacian(sigma2=2, d=1)", false, 0.3));
	in_env(check(env, "values, d = 3", 300, 2, 0, "laplacian(sigma2=3, d=3)", false, NAN));
	in_env(check(env, "an open prior", 1000, 5, 3, "laplacian", true, NAN));
	in_env(check(env, "many classes", 1200, 3, 90, "laplacian", false, NAN));
	in_env(check(env, "a few labels", 300, 200, 2, "laplacian", false, NAN));
	in_env(check(env, "estimated variances", 4500, 4, 5, "laplacian", false, NAN));
	in_env(check(env, "and values", 4500, 4, 0, "laplacian", true, NAN));
	in_env(check_dear(env));
	return done_testing();
}
