/*
 * power_choice.c - the power of a kernel by leave-one-out.
 *
 * With few labels a power above 1 predicts classes better, with many it does not;
 * the leave-one-out error that chooses the nugget tells which.
 */
#include "kernel/prepared.h"
#include "fit_internal.h"
#include "factor.h"

#define FEWEST_LABELS 20		/* that the choice of a power needs */
#define MOST_OF_A_CLASS 50		/* labels a class, on average, from which 1 is right */
#define SLACK 0.02				/* errors that differ by less are the same */
#define POWERS 4

static const double powers[POWERS] = {1.0, GP_POWER_TRIED, 1.5, 1.75};

bool
gp_power_is_open(const gp_problem *problem)
{
	return problem->task == GP_TASK_CLASSES && problem->program->open_power &&
		(problem->strategy == GP_STRATEGY_AUTO || problem->loo_only) &&
		problem->nlandmarks == 0 && problem->landmark == NULL && isnan(problem->nugget) &&
		problem->nlabelled >= FEWEST_LABELS && problem->nlabelled <= GP_SYEV_MAX &&
		problem->nlabelled <= (int64_t) MOST_OF_A_CLASS * problem->nclasses;
}

gp_problem
gp_power_problem(const gp_problem *problem)
{
	gp_problem	p = *problem;

	p.nugget_min = GP_NUGGET_MIN_POWER;
	return p;
}

/* The regression by one power; rows are those of Q at the labelled nodes. */
static gp_solution
solve_power(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
			const gp_spectrum *s, gp_matrix rows, double p)
{
	gp_device  *dev = ev->dev;
	gp_matrix	x = gp_spectrum_directions(ev, s, p);
	gp_matrix	f = dev->create(dev, rows.rows, s->kept, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, rows.rows, rows.rows, GP_DOUBLE);

	dev->gemm(dev, false, false, 1.0, rows, x, 0.0, f);
	dev->syrk(dev, false, 1.0, f, 0.0, k);
	gp_destroy_all(dev, &x, &f);
	return gp_dual_solve(dev, problem, targets, k, gp_spectrum_mean(ev, s, p));
}

/*
 * The largest power whose error is within slack of the least, and its nugget.  Where the error
 * hardly tells them apart, leading directions generalise better.
 */
static double
best_power(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
		   const gp_spectrum *s, gp_matrix rows, double *nugget)
{
	gp_env	   *env = ev->env;
	gp_problem	strengthened = gp_power_problem(problem);
	double		errors[POWERS];
	double		nuggets[POWERS];
	double		least = INFINITY;
	int			best = POWERS - 1;
	int64_t		n;
	int32_t    *index = gp_loo_sample(env, targets, targets->m, &n);

	for (int k = 0; k < POWERS; k++)
	{
		gp_solution solution = solve_power(ev, k == 0 ? problem : &strengthened, targets, s, rows,
										   powers[k]);

		errors[k] = env->dry ? 0.0 :
			gp_loo_error(problem, targets, solution.loo_mean, index, n, NULL);
		nuggets[k] = solution.nugget;
		gp_solution_free(ev->dev, &solution);
		least = fmin(least, errors[k]);
	}
	gp_free(env, index);
	while (best > 0 && !(errors[best] <= (1.0 + SLACK) * least))
		best--;
	*nugget = nuggets[best];
	return powers[best];
}

gp_solution
gp_power_choose(gp_eval *ev, const gp_problem *problem, const gp_targets *targets,
				gp_posterior *out)
{
	gp_device  *dev = ev->dev;
	gp_problem	p = gp_power_problem(problem);
	gp_solution solution;

	out->landmark = gp_landmarks_choose(ev, problem, gp_power_landmarks(ev), true,
										&out->nlandmarks);
	p.quiet = ev->accepts_any_jitter = true;
	gp_eval_keep_rows(ev, problem->labelled, problem->nlabelled);
	gp_factor  *f = gp_eval_nystrom(ev, ev->kernel->program->nsteps - 1, out->landmark,
									out->nlandmarks);
	gp_spectrum s = gp_spectrum_compute(ev, f);
	gp_matrix	rows = dev->create(dev, targets->m, s.v.rows, GP_DOUBLE);

	gp_factor_rows(ev, f, problem->labelled, targets->m, rows);
	/* A factor to choose by has directions, and no more jitter than is good. */
	double		largest = ev->env->dry ? 1.0 : s.w[s.kept - 1];

	if (isfinite(largest) && largest > 0.0 && ev->max_jitter <= GP_MAX_JITTER * 1.0001)
		out->power = best_power(ev, problem, targets, &s, rows, &p.nugget);
	if (out->power != 1.0)
		solution = solve_power(ev, &p, targets, &s, rows, out->power);
	dev->destroy(dev, &rows);
	gp_spectrum_free(ev, &s);
	if (out->power == 1.0)
		solution = gp_regress_panels(ev, &p, targets, f, NULL, out);
	ev->accepts_any_jitter = false;
	gp_factor_free(ev, f);
	return solution;
}
