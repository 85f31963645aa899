/*
 * test_value_spread.c - the width of intervals of values over what is predicted.
 */
#include <math.h>

#include "regression/solution.h"
#include "test_env.h"

#define LABELS 3000

static uint64_t seed = 3;

/* Counts of rare events, known by their rates up to a factor; predictions may lie below 0. */
static gp_solution
make_counts(gp_env *env, int n, double *count)
{
	gp_solution s = {.scale = 1.0,.loo_mean = gp_alloc_array(env, n, sizeof(double)),
		.loo_variance = gp_alloc_array(env, n, sizeof(double))
	};

	for (int i = 0; i < n; i++)
	{
		double		rate = exp(6.0 * draw_unit(&seed) - 4.0);
		double		left = exp(-rate * (0.5 + draw_unit(&seed)));

		count[i] = 0.0;
		for (double p = draw_unit(&seed); p > left; p *= draw_unit(&seed))
			count[i]++;
		s.loo_mean[i] = rate < 0.05 ? -rate : rate;
		s.loo_variance[i] = 2.0;
	}
	return s;
}

static const gp_problem values = {.task = GP_TASK_VALUES};

/* The targets of counts; predictions become those of the targets' unit. */
static gp_targets
make_targets(gp_env *env, int n, const double *count, gp_solution *s)
{
	gp_problem	p = {.task = GP_TASK_VALUES,.nlabelled = n,.target = count};
	gp_targets	t = gp_targets_make(env, &p);

	for (int i = 0; i < n; i++)
		s->loo_mean[i] = (s->loo_mean[i] - t.offset) / t.unit;
	return t;
}

/* Nine in ten lie inside, of those of small, of middling and of large predictions. */
static void
check_counts(gp_env *env)
{
	static const double bound[] = {-INFINITY, 0.05, 0.3, 1.5, INFINITY};
	double	   *count = gp_alloc_array(env, LABELS, sizeof(double));
	gp_solution s = make_counts(env, LABELS, count);
	gp_targets	t = make_targets(env, LABELS, count, &s);

	gp_solution_spread(env, &values, &t, NULL, LABELS, &s);
	for (int part = 0; part < 4; part++)
	{
		double		n = 0.0;
		double		inside = 0.0;
		char		name[80];

		for (int i = 0; i < LABELS; i++)
		{
			double		told = t.offset + t.unit * s.loo_mean[i];
			double		half = GP_NORMAL_90 * t.unit * sqrt(s.loo_variance[i]);

			if (!(told >= bound[part] && told < bound[part + 1]))
				continue;
			n++;
			inside += fabs(count[i] - fmax(told, 0.0)) <= half;
		}
		snprintf(name, sizeof(name), "counts, part %d: %.2f of the values are inside", part, inside / n);
		ok(n > 300.0 && inside / n > 0.85 && inside / n < 0.98, name);
	}
	ok(gp_spread_at(&s.spread, -1.0) == gp_spread_at(&s.spread, 0.0) && gp_spread_at(&s.spread, 0.0) > 0.0 &&
	   gp_spread_at(&s.spread, 1e9) == s.spread.knot[s.spread.n - 1][1], "beyond the ends the curve is level");
}

/* Few labels, and predictions that are all equal, have one width. */
static void
check_flat(gp_env *env)
{
	double	   *count = gp_alloc_array(env, LABELS, sizeof(double));
	gp_solution s = make_counts(env, 99, count);
	gp_targets	t = make_targets(env, 99, count, &s);

	gp_solution_spread(env, &values, &t, NULL, 99, &s);
	ok(s.spread.n == 0 && s.loo_variance[0] == s.loo_variance[98], "few labels have one width");
	s = make_counts(env, LABELS, count);
	t = make_targets(env, LABELS, count, &s);
	for (int i = 0; i < LABELS; i++)
		s.loo_mean[i] = 0.25;
	gp_solution_spread(env, &values, &t, NULL, LABELS, &s);
	ok(s.spread.n == 0 && s.loo_variance[0] == s.loo_variance[98], "equal predictions have one width");
}

int
main(void)
{
	in_env(check_counts(env));
	in_env(check_flat(env));
	return done_testing();
}
