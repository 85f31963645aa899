/*
 * infer_nugget.c - the nugget by leave-one-out squared error.
 *
 * The error is smooth in the logarithm of the nugget: a coarse grid finds the
 * valley, a golden-section search in the bracket around it does the rest.
 *
 * For classes the error is taken after the best common rescaling of the
 * predictions, and without the mean of each row: softmax(b * mean) sees
 * neither, so neither may count.  A plain squared error would punish the shrinkage that a
 * larger nugget brings and choose it too small.
 */
#include "infer_internal.h"

#include <math.h>

/* The labels that count; at most limit of them, evenly spread. */
int32_t *
gp_loo_sample(gp_env *env, const gp_targets *targets, int64_t limit, int64_t *n)
{
	int64_t		counted = targets->ncounted;
	int64_t		count = counted < limit ? counted : limit;
	int32_t    *index = gp_alloc_array(env, count, sizeof(int32_t));
	int64_t		seen = 0;

	*n = 0;
	for (int64_t i = 0; i < targets->m && *n < count; i++)
		if (targets->counts[i] && seen++ == *n * counted / count)
			index[(*n)++] = (int32_t) i;
	return index;
}

/* The squared error of values. */
static double
value_error(const gp_targets *t, const double *mean, const int32_t *index, int64_t n,
			double *total)
{
	double		sum = 0.0;

	*total = 0.0;
	for (int64_t k = 0; k < n; k++)
	{
		double		y = t->y[index[k]];
		double		r = y - mean[index[k]];

		sum += r * r;
		*total += y * y;
	}
	return sum;
}

/*
 * The squared error of class scores after the best common factor: with rows
 * centred, |y|^2 - <y, mean>^2 / |mean|^2.
 */
static double
class_error(const gp_targets *t, const double *mean, const int32_t *index, int64_t n,
			double *total)
{
	double		yy = 0.0;
	double		ym = 0.0;
	double		mm = 0.0;

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

			yy += yc * yc;
			ym += yc * (m[c] - row);
			mm += (m[c] - row) * (m[c] - row);
		}
	}
	*total = yy;
	return ym > 0.0 && mm > 0.0 ? yy - ym * ym / mm : yy;
}

/* The leave-one-out error of some labels; total is the error without any model. */
double
gp_loo_error(const gp_problem *problem, const gp_targets *targets, const double *mean,
			 const int32_t *index, int64_t n, double *total)
{
	return problem->task == GP_TASK_VALUES ? value_error(targets, mean, index, n, total) :
		class_error(targets, mean, index, n, total);
}

/* Evaluates the error and tells the progress. */
static double
evaluate(gp_env *env, double (*error) (void *state, double nugget), void *state, double log_nugget,
		 int done, int total)
{
	env->check_interrupts(env);
	env->progress(env, GP_PHASE_NUGGET, done, total);
	return error(state, exp(log_nugget));
}

/* Narrows a bracket by golden sections; returns the best point seen. */
static double
golden_section(gp_env *env, double (*error) (void *state, double nugget), void *state,
			   double low, double best, double high, double best_error, int steps)
{
	const double golden = 0.3819660112501051;

	for (int k = 0; k < steps; k++)
	{
		bool		right = high - best > best - low;
		double		x = right ? best + golden * (high - best) : best - golden * (best - low);
		double		e = evaluate(env, error, state, x, k, steps);

		if (e < best_error || (e == best_error && x > best))
		{
			if (right)
				low = best;
			else
				high = best;
			best = x;
			best_error = e;
		}
		else if (right)
			high = x;
		else
			low = x;
	}
	return best;
}

/* The minimum of the error over the nugget; ties take the larger one. */
double
gp_nugget_search(gp_env *env, double (*error) (void *state, double nugget), void *state,
				 int coarse, int refine)
{
	double		low = log(GP_NUGGET_MIN);
	double		step = (log(GP_NUGGET_MAX) - low) / (coarse - 1);
	double		best_error = INFINITY;
	int			best = coarse - 1;
	double		found;

	for (int k = coarse - 1; k >= 0; k--)
	{
		double		e = evaluate(env, error, state, low + k * step, coarse - 1 - k, coarse + refine);

		if (e < best_error)
		{
			best_error = e;
			best = k;
		}
	}
	found = low + best * step;
	if (best == 0 || best == coarse - 1)
	{
		gp_notice(env, "Give nugget => ... to choose another.",
				  "the leave-one-out error is smallest at the edge of the nuggets tried, %g",
				  exp(found));
		return best == 0 ? GP_NUGGET_MIN : GP_NUGGET_MAX;
	}
	return exp(golden_section(env, error, state, found - step, found, found + step, best_error,
							  refine));
}

/* The nugget of a problem. */
double
gp_nugget_choose(gp_env *env, const gp_problem *problem, const gp_targets *targets,
				 double (*error) (void *state, double nugget), void *state,
				 int coarse, int refine)
{
	if (!isnan(problem->nugget))
		return problem->nugget;
	if (targets->few || targets->flat)
	{
		gp_notice(env, "Label more nodes, or give nugget => ....",
				  "too few labels to choose the nugget by leave-one-out, so it is set to %g",
				  GP_NUGGET_FEW);
		return GP_NUGGET_FEW;
	}
	return gp_nugget_search(env, error, state, coarse, refine);
}
