/*
 * targets.c - the targets of a regression.
 */
#include "solution.h"

#define SPREAD_MIN 1e-150		/* of a target: its square is a number */
#define SPREAD_MAX 1e150
#define SMALLEST_MEAN_FLOAT 1e-28	/* small products keep some bits above the float range's end */

void
gp_problem_check(gp_env *env, const gp_problem *problem)
{
	if (problem->nlabelled < 1)
		gp_raise(env, GP_ERR_DATA, NULL, "no node is labelled");
	assert(problem->features == NULL || problem->features->type == problem->type);
	if (!isnan(problem->nugget) && !(problem->nugget > 0.0 && isfinite(problem->nugget)))
		gp_raise(env, GP_ERR_VALUE, NULL, "the nugget must be finite and greater than 0");
	if (problem->live)
		gp_program_check_live(env, problem->program);
}

/* One-hot rows, not centred; a node counts while its class keeps another label. */
static void
class_targets(gp_env *env, const gp_problem *problem, gp_targets *t)
{
	int64_t    *size = gp_alloc_zero(env, problem->nclasses, sizeof(int64_t));
	int			usable = 0;

	t->columns = problem->nclasses;
	t->y = gp_alloc_zero(env, (int64_t) gp_size_mul(env, t->m, t->columns), sizeof(double));
	t->share = gp_alloc_zero(env, t->columns, sizeof(double));
	for (int64_t i = 0; i < t->m; i++)
	{
		t->y[i * t->columns + problem->label[i]] = 1.0;
		size[problem->label[i]]++;
	}
	for (int64_t i = 0; i < t->m; i++)
	{
		t->counts[i] = size[problem->label[i]] > 1;
		t->ncounted += t->counts[i];
	}
	for (int32_t c = 0; c < t->columns; c++)
	{
		t->share[c] = (double) size[c] / t->m;
		usable += size[c] > 1;
		if (size[c] == t->m)
			t->flat = true;
	}
	t->few = usable < 2;
	gp_free(env, size);
}

/*
 * Values less their mean, in units of their root mean square: the regression
 * then sees ordinary numbers whatever the target's unit.
 */
static void
value_targets(gp_env *env, const gp_problem *problem, gp_targets *t)
{
	double		largest = 0.0;
	double		squares = 0.0;

	t->columns = 1;
	t->y = gp_alloc_array(env, t->m, sizeof(double));
	/* The mean, each part divided first, so that the largest numbers cannot overflow. What
	 * rounding took is put right, so that the mean of one number many times is that number. */
	double		mean = 0.0;
	double		rest = 0.0;
	for (int64_t i = 0; i < t->m; i++)
		mean += problem->target[i] / t->m;
	for (int64_t i = 0; i < t->m; i++)
		rest += (problem->target[i] - mean) / t->m;
	t->offset = mean + rest;
	t->flat = true;
	t->least = 0.0;
	for (int64_t i = 0; i < t->m; i++)
	{
		t->y[i] = problem->target[i] - t->offset;
		t->flat = t->flat && problem->target[i] == problem->target[0];
		t->counts[i] = true;
		if (problem->target[i] < 0.0)
			t->least = -INFINITY;
		largest = fmax(largest, fabs(t->y[i]));
	}
	if (!t->flat && !(largest >= SPREAD_MIN && largest <= SPREAD_MAX))
		gp_raise(env, GP_ERR_RANGE, "Scale the target to ordinary sizes.",
				 "the target spreads over %g, which is out of range", largest);
	for (int64_t i = 0; i < t->m; i++)
	{
		t->y[i] = t->flat ? 0.0 : t->y[i] / largest;
		squares += t->y[i] * t->y[i];
	}
	if (!t->flat)
	{
		double		root = sqrt(squares / t->m);

		t->unit = largest * root;
		for (int64_t i = 0; i < t->m; i++)
			t->y[i] /= root;
	}
	t->ncounted = t->m;
	t->few = t->m < 3;
}

void
gp_check_mean_diagonal(gp_env *env, gp_type type, double mean)
{
	if (env->dry)
		return;
	gp_kernel_check_finite(env, mean);
	if (!(mean > 0.0))
		gp_raise(env, GP_ERR_DATA,
				 "Give the nodes features of ordinary size, or a bias such as sigma_b=0.1 in the kernel.",
				 "the kernel is zero at every node");
	if (type == GP_FLOAT && mean < SMALLEST_MEAN_FLOAT)
		gp_raise(env, GP_ERR_RANGE, "Scale the features up.",
				 "the kernel's mean diagonal, %g, is too small for single precision", mean);
}

gp_targets
gp_targets_make(gp_env *env, const gp_problem *problem)
{
	gp_targets	t = {0};

	t.m = problem->nlabelled;
	t.unit = 1.0;
	t.least = -INFINITY;
	if (env->dry)
	{
		/*
		 * Targets of a dry run: each of them takes part in leave-one-out.  A live state copies
		 * values; there is room for those.
		 */
		t.counts = gp_alloc_values(env, t.m, sizeof(bool));
		if (problem->task == GP_TASK_CLASSES)
		{
			t.columns = problem->nclasses;
			t.y = gp_alloc_values(env, (int64_t) gp_size_mul(env, t.m, t.columns),
								   sizeof(double));
			t.share = gp_alloc_values(env, t.columns, sizeof(double));
		}
		else
		{
			t.columns = 1;
			t.y = gp_alloc_zero(env, t.m, sizeof(double));
		}
		t.ncounted = t.m;
		return t;
	}
	t.counts = gp_alloc_zero(env, t.m, sizeof(bool));
	if (problem->task == GP_TASK_CLASSES)
		class_targets(env, problem, &t);
	else
		value_targets(env, problem, &t);
	return t;
}

void
gp_targets_free(gp_env *env, gp_targets *t)
{
	gp_free_all(env, t->y, t->counts, t->share);
}
