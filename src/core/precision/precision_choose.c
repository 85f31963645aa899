/*
 * precision_choose.c - the Laplacian prior that fits a graph.
 */
#include "precision_fit.h"

#define ROUGH_NUGGET 1.0		/* where little depends on it, while priors are compared */
/* gains of the score from which on another prior, or nugget, replaces the best one */
#define WORTH 0.002
#define WORTH_NOISE 0.02		/* a larger nugget, which few products flatter */

/* Scores a prior with a nugget, and keeps it when it gains so much over the best so far; true when
 * it does. */
static bool
try_prior(gp_precision_fit *f, gp_prior_choice *all, double sigma2, int d, double nugget,
		  double worth)
{
	gp_prior_score *score = &all->tried[all->n];
	double		total;

	if (all->n == GP_PRIORS_TRIED)
		return false;
	f->env->progress(f->env, GP_PHASE_NUGGET, all->n, GP_PRIORS_TRIED);
	gp_precision_set_prior(f, sigma2, d);
	gp_precision_solve_labels(f, nugget, gp_precision_compare_tolerance(f), NULL);
	double		error = gp_precision_loo_error(f, &total);
	*score = (gp_prior_score) {sigma2, d, nugget, total > 0.0 ? 1.0 - error / total : 0.0};
	all->n++;
	if (all->n > 1 && score->score < all->tried[all->best].score + worth)
		return false;
	all->best = all->n - 1;
	return true;
}

/*
 * Looks at other nuggets for the best prior, a smaller one first, which is the cheapest; larger
 * ones where that takes no products.
 */
static void
try_nuggets(gp_precision_fit *f, gp_prior_choice *all)
{
	gp_prior_score best = all->tried[all->best];
	bool		smaller = try_prior(f, all, best.sigma2, best.d, 0.1 * best.nugget, WORTH);

	for (double larger = 10.0 * best.nugget; f->krylov && !smaller && larger <= GP_NUGGET_MAX;
		 larger *= 10.0)
		if (!try_prior(f, all, best.sigma2, best.d, larger, WORTH_NOISE))
			break;
}

double
gp_precision_choose_nugget(gp_precision_fit *f)
{
	gp_prior_choice all = {.chooses_nugget = true};

	try_prior(f, &all, f->sigma2, f->d, GP_PRECISION_NUGGET, WORTH);
	try_nuggets(f, &all);
	return all.tried[all.best].nugget;
}

/* Tries reaches in their order as long as they serve better; true when one does. */
static bool
follow(gp_precision_fit *f, gp_prior_choice *all, const double *sigma2, int n, double nugget)
{
	int			k = 0;

	while (k < n && try_prior(f, all, sigma2[k], all->tried[all->best].d, nugget, WORTH))
		k++;
	return k > 0;
}

gp_prior_score
gp_prior_best(const gp_prior_choice *all, double nugget)
{
	gp_prior_score best = all->tried[all->best];

	if (!all->chooses_nugget || !isnan(nugget))
		best.nugget = nugget;
	return best;
}

gp_prior_choice
gp_precision_choose_on(gp_precision_fit *f, const gp_plan *plan)
{
	gp_prior_choice all = {.n = 1, .tried[0] = {10.0, 2, GP_NUGGET_FEW, NAN}};
	static const double wider[] = {50.0, 200.0, 1000.0};
	static const double narrower[] = {2.0, 0.2};

	if (f->targets->few || f->targets->flat)
		return all;
	all.n = 0;
	gp_precision_set_targets(f, true);
	all.chooses_nugget = f->costly_products;
	double		nugget = all.chooses_nugget ? GP_PRECISION_NUGGET : ROUGH_NUGGET;

	/* The widest prior needs the most products. */
	gp_precision_span(f, plan, wider[0], 2);
	try_prior(f, &all, 10.0, 2, nugget, WORTH);
	try_prior(f, &all, 10.0, 1, nugget, WORTH);
	if (!follow(f, &all, wider, f->costly_products ? 1 : 3, nugget))
		follow(f, &all, narrower, 2, nugget);
	if (all.chooses_nugget)
		try_nuggets(f, &all);
	return all;
}

gp_prior_choice
gp_precision_choose(gp_device *dev, const gp_problem *problem)
{
	gp_env	   *env = dev->env;
	gp_targets	targets = gp_targets_make(env, problem);
	gp_csr	   *s = gp_precision_matrix(env, problem->graph);
	gp_plan		none = {0};
	gp_precision_fit f;

	gp_precision_fit_open(&f, dev, problem, &targets, s);
	gp_prior_choice all = gp_precision_choose_on(&f, &none);
	gp_precision_fit_close(&f);
	gp_csr_free(env, s);
	gp_free(env, f.loo);
	gp_targets_free(env, &targets);
	return all;
}
