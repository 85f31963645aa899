/*
 * nugget.c - the nugget by leave-one-out squared error.
 *
 * The error is smooth in the logarithm of the nugget: a coarse grid finds the
 * valley, parabolas through the bracket around it lead to the best tenth of a
 * decade.  No finer: the curve is flat there, and the place of its minimum would
 * follow the last bits of the kernel, which differ from device to device.
 *
 * For classes the error is taken after the best common rescaling of the predictions, and without
 * the mean of each row: the order of the classes depends on neither, so neither may count.  A plain
 * squared error would punish the shrinkage that a larger nugget brings and choose it too small.
 */
#include "solution.h"

#define UNIT (0.1 * M_LN10)		/* a tenth of a decade */
#define TENTHS 8				/* steps that find a tenth of a decade in two decades */

int32_t *
gp_loo_sample(gp_env *env, const gp_targets *targets, int64_t limit, int64_t *n)
{
	int64_t		counted = targets->ncounted;
	int64_t		count = counted < limit ? counted : limit;
	int32_t    *index = gp_alloc_values(env, count, sizeof(int32_t));
	int64_t		seen = 0;

	*n = env->dry ? count : 0;
	for (int64_t i = 0; i < targets->m && *n < count; i++)
		if (targets->counts[i] && seen++ == *n * counted / count)
			index[(*n)++] = (int32_t) i;
	return index;
}

/* Sums over class scores and one-hot classes, both less their mean over the classes. */
typedef struct class_sums
{
	double		yy;
	double		ym;
	double		mm;
} class_sums;

static class_sums
sum_classes(const gp_targets *t, const double *mean, const int32_t *index, int64_t n)
{
	class_sums	s = {0};

	for (int64_t k = 0; k < n; k++)
	{
		const double *y = t->y + (int64_t) index[k] * t->columns;
		const double *m = mean + (int64_t) index[k] * t->columns;
		double		row = 0.0;

		for (int32_t c = 0; c < t->columns; c++)
			row += m[c] / t->columns;
		for (int32_t c = 0; c < t->columns; c++)
		{
			double		yc = y[c] - 1.0 / t->columns;

			s.yy += yc * yc;
			s.ym += yc * (m[c] - row);
			s.mm += (m[c] - row) * (m[c] - row);
		}
	}
	return s;
}

double
gp_class_rescaling(const gp_targets *t, const double *mean, const int32_t *index, int64_t n)
{
	class_sums	s = sum_classes(t, mean, index, n);

	return s.ym > 0.0 && s.mm > 0.0 ? s.ym / s.mm : 0.0;
}

double
gp_loo_error(const gp_problem *problem, const gp_targets *targets, const double *mean,
			 const int32_t *index, int64_t n, double *total)
{
	double		sum = 0.0;
	double		squares = 0.0;

	if (problem->task == GP_TASK_CLASSES)
	{
		/* After the best factor: |y|^2 - <y, mean>^2 / |mean|^2 */
		class_sums	s = sum_classes(targets, mean, index, n);

		if (total)
			*total = s.yy;
		return s.ym > 0.0 && s.mm > 0.0 ? s.yy - s.ym * s.ym / s.mm : s.yy;
	}
	for (int64_t k = 0; k < n; k++)
	{
		double		y = targets->y[index[k]];
		double		r = y - mean[index[k]];

		sum += r * r;
		squares += y * y;
	}
	if (total)
		*total = squares;
	return sum;
}

/* Evaluates the error and tells the progress. */
static double
evaluate(gp_env *env, gp_nugget_error error, void *state, double log_nugget, int done, int total)
{
	env->check_interrupts(env);
	env->progress(env, GP_PHASE_NUGGET, done, total);
	return error(state, exp(log_nugget));
}

/* A point of the search: the logarithm of a nugget and its error. */
typedef struct point
{
	double		x;
	double		error;
} point;

/*
 * Where to look next in a bracket: the minimum of the parabola through its three
 * points, or the golden section of its longer side where that is too near.
 */
static double
next_place(point low, point best, point high)
{
	const double golden = 0.3819660112501051;
	double		left = (best.x - low.x) * (best.error - high.error);
	double		right = (best.x - high.x) * (best.error - low.error);
	double		x = best.x - 0.5 * ((best.x - low.x) * left - (best.x - high.x) * right) /
		(left - right);
	double		margin = 0.05 * (high.x - low.x);

	if (x > low.x + margin && x < high.x - margin && fabs(x - best.x) > 0.2 * margin)
		return x;
	return high.x - best.x > best.x - low.x ? best.x + golden * (high.x - best.x) :
		best.x - golden * (best.x - low.x);
}

/* Narrows a bracket until no tenth of a decade is left in it; returns the best point seen. */
static point
narrow(gp_env *env, gp_nugget_error error, void *state, point low, point best, point high,
	   int steps)
{
	for (int k = 0; k < steps && high.x - low.x > 2.5 * UNIT; k++)
	{
		point		p;

		/* The next place, on whole tenths of a decade where nobody has been; the bracket has such
		 * a place. */
		double		middle = round(best.x / UNIT);
		double		first = round(low.x / UNIT) + 1.0;
		double		last = round(high.x / UNIT) - 1.0;
		double		place = fmin(last, fmax(first, round(next_place(low, best, high) / UNIT)));

		if (place == middle)
			place += last - middle >= middle - first ? 1.0 : -1.0;
		p.x = place * UNIT;
		p.error = evaluate(env, error, state, p.x, k, steps);
		if (p.error < best.error || (p.error == best.error && p.x > best.x))
		{
			if (p.x > best.x)
				low = best;
			else
				high = best;
			best = p;
		}
		else if (p.x > best.x)
			high = p;
		else
			low = p;
	}
	return best;
}

/*
 * Two significant digits, so that what is shown is what was used.  A power of ten
 * below one has no exact form, so that it is divided by its inverse.
 */
static double
round_nugget(double nugget)
{
	double		digits = 1.0 - floor(log10(nugget));
	double		unit = pow(10.0, fabs(digits));

	return digits > 0.0 ? round(nugget * unit) / unit : round(nugget / unit) * unit;
}

/*
 * From the best point so far and the one before it, a decade at a time as long as that goes
 * downhill, to the logarithm of the last nugget at most; then within the bracket.
 */
static point
walk(gp_env *env, gp_nugget_error error, void *state, point before, point best, double last,
	 int steps)
{
	double		step = best.x < before.x ? -M_LN10 : M_LN10;

	while (fabs(last - best.x) > UNIT)
	{
		point		p = {.x = best.x + step};

		p.error = evaluate(env, error, state, p.x, 0, 1);
		if (p.error >= best.error)
			return step < 0.0 ? narrow(env, error, state, p, best, before, steps) :
				narrow(env, error, state, before, best, p, steps);
		before = best;
		best = p;
	}
	return best;
}

/* The minimum of the error over the nugget; ties go to the larger one. */
static double
search(gp_env *env, const gp_problem *problem, gp_nugget_error error, void *state, int grid,
	   int refine)
{
	double		least = problem->nugget_min > 0.0 ? problem->nugget_min : GP_NUGGET_MIN;
	double		low = log(least);
	double		step = (log(GP_NUGGET_MAX) - low) / (grid - 1);
	point	   *at = gp_alloc_array(env, grid, sizeof(point));
	int			best = grid - 1;

	for (int k = grid - 1; k >= 0; k--)
	{
		at[k].x = low + k * step;
		at[k].error = evaluate(env, error, state, at[k].x, grid - 1 - k, grid + refine);
		if (at[k].error < at[best].error)
			best = k;
	}
	point		found = at[best];
	if (best > 0 && best < grid - 1)
		found = narrow(env, error, state, at[best - 1], at[best], at[best + 1], refine);
	else if (best == 0)
		found = walk(env, error, state, at[1], at[0], log(GP_NUGGET_BELOW), TENTHS);
	else
	{
		/* The best place where the grid's largest nugget is better than the one before: noisy
		 * targets need more. */
		point		p = {.x = log(GP_NUGGET_BEYOND)};

		p.error = evaluate(env, error, state, p.x, 0, 1 + refine);
		found = p.error <= at[best].error ? p : narrow(env, error, state, at[best - 1],
														 at[best], p, refine);
	}
	gp_free(env, at);
	return round_nugget(exp(found.x));
}

/*
 * The minimum by steps of a decade from the middle, downhill, and then within the bracket: for
 * errors that are costly, the more so the larger the nugget.
 */
static double
climb(gp_env *env, gp_nugget_error error, void *state, int refine)
{
	point		middle = {.x = 0.5 * (log(GP_NUGGET_MIN) + log(GP_NUGGET_MAX))};
	point		lower = {.x = middle.x - M_LN10};

	middle.error = evaluate(env, error, state, middle.x, 0, 1);
	lower.error = evaluate(env, error, state, lower.x, 0, 1);
	point		found = lower.error < middle.error ?
		walk(env, error, state, middle, lower, log(GP_NUGGET_MIN), refine) :
		walk(env, error, state, lower, middle, log(GP_NUGGET_MAX), refine);
	return round_nugget(exp(found.x));
}

/* The search of a dry run, which has no errors to go by: as many as there can be. */
static double
longest_search(gp_env *env, gp_nugget_error error, void *state, int grid, int refine)
{
	point	   *at = gp_alloc_values(env, grid, sizeof(point));

	for (int k = 0; k < grid + refine; k++)
		evaluate(env, error, state, 0.0, k, grid + refine);
	gp_free(env, at);
	return 1.0;
}

double
gp_nugget_choose(gp_env *env, const gp_problem *problem, const gp_targets *targets,
				 gp_nugget_error error, void *state, int grid, int refine)
{
	if (!isnan(problem->nugget))
		return problem->nugget;
	if (env->dry && grid == GP_NUGGET_CLIMB)
		return longest_search(env, error, state, 3, refine);
	if (env->dry)
		return longest_search(env, error, state, grid + 1, refine);
	if (targets->few || targets->flat)
	{
		if (!problem->quiet && targets->flat)
			gp_notice(env, "Check that the target is the column that you meant.",
					  "all targets are equal, so the nugget is set to %g", GP_NUGGET_FEW);
		else if (!problem->quiet)
			gp_notice(env, "Label more nodes, or pass nugget => ....",
					  "too few labels to choose the nugget by leave-one-out, so it is set to %g",
					  GP_NUGGET_FEW);
		return GP_NUGGET_FEW;
	}
	if (grid == GP_NUGGET_CLIMB)
		return climb(env, error, state, refine);
	return search(env, problem, error, state, grid, refine);
}
