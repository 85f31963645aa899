/*
 * test_class_calibration.c - class probabilities from leave-one-out means.
 */
#include <string.h>

#include "fit/fit_internal.h"
#include "test_env.h"

#define LABELS 3000
#define CLASSES 5
#define FEW 150
#define DELTAS 14
#define NOISE 0.5

/* Of the labels without themselves: 1 on average. */
static double variance[LABELS];

static uint64_t seed = 7;

/* Means as a regression gives them, and labels drawn from a calibrator's own probabilities. */
static void
make_labels(const gp_calibrator *truth, double *mean, int32_t *label)
{
	for (int i = 0; i < LABELS; i++)
	{
		double	   *row = mean + i * CLASSES;
		double		p[CLASSES];
		double		at = draw_unit(&seed);

		for (int c = 0; c < CLASSES; c++)
			row[c] = 0.15 * draw_unit(&seed) + (c == i % CLASSES ? draw_unit(&seed) : 0.0);
		gp_probabilities(truth, CLASSES, row, variance[i], p);
		label[i] = 0;
		while (label[i] < CLASSES - 1 && at >= p[label[i]])
			at -= p[label[i]++];
	}
}

/* By how much the means are too small: half of how much ones and zeros are larger, by least squares. */
static double
plain_smallness(int n, const double *mean, const int32_t *label)
{
	double		product = 0.0;
	double		squares = 0.0;

	for (int i = 0; i < n; i++)
	{
		const double *row = mean + i * CLASSES;
		double		level = 0.0;

		for (int c = 0; c < CLASSES; c++)
			level += row[c] / CLASSES;
		for (int c = 0; c < CLASSES; c++)
		{
			product += ((c == label[i]) - 1.0 / CLASSES) * (row[c] - level);
			squares += (row[c] - level) * (row[c] - level);
		}
	}
	return fmax(1.0, 0.5 * product / squares);
}

/* How many labels of a class there are for each that an even share would have. */
static double
relative_share(int n, const int32_t *label, int c)
{
	double		count = 0.0;

	for (int i = 0; i < n; i++)
		count += label[i] == c;
	return CLASSES * count / n;
}

/* The loss that the second step minimises, in plain loops. */
static double
plain_loss(const gp_calibrator *k, int n, const double *mean, const int32_t *label)
{
	double		ratio = k->gamma / 2.5;
	double		loss = 0.5 * (ratio - 1.0 - log(ratio));

	for (int i = 0; i < n; i++)
	{
		double		p[CLASSES];
		double		own = 0.0;

		for (int j = 0; j < n; j++)
			own += label[j] == label[i];
		memcpy(p, mean + i * CLASSES, sizeof(p));
		/* Its class has one label less than that of a node without one. */
		if (p[label[i]] > 0.0 && own > 1.0)
			p[label[i]] *= own / (own - 1.0);
		for (int c = 0; c < CLASSES; c++)
			p[c] *= sqrt(fmin(1.0, (1.0 + NOISE) / (variance[i] + NOISE)));
		gp_probabilities(k, CLASSES, p, 0.0, p);
		loss -= log(p[label[i]]);
	}
	loss += 5.0 * (k->slope - 0.25 * k->gamma) * (k->slope - 0.25 * k->gamma);
	for (int c = 0; k->bias && c < CLASSES; c++)
		loss += 2.5 * relative_share(n, label, c) * k->bias[c] * k->bias[c];
	return loss;
}

/* What the first step minimises over gamma at a delta: by thirds, for it has one minimum. */
static double
plain_delta_loss(double delta, int n, const double *mean, const int32_t *label)
{
	double		low = log(0.1);
	double		high = log(400.0);
	double		away = log(delta / 0.1) / 0.5;
	gp_calibrator k = {delta / plain_smallness(n, mean, label), 0.0, 0.0, 1.0, NOISE, NULL};

	for (int step = 0; step < 60; step++)
	{
		double		third = (high - low) / 3.0;

		k.gamma = exp(low + third);
		k.slope = 0.25 * k.gamma;
		double		left = plain_loss(&k, n, mean, label);
		k.gamma = exp(high - third);
		k.slope = 0.25 * k.gamma;
		if (left < plain_loss(&k, n, mean, label))
			high -= third;
		else
			low += third;
	}
	k.gamma = exp(low);
	k.slope = 0.25 * k.gamma;
	return plain_loss(&k, n, mean, label) + 0.5 * away * away;
}

/* The delta of the grid that the first step should find. */
static double
plain_delta(int n, const double *mean, const int32_t *label)
{
	double		best = 0.01;
	double		least = INFINITY;

	for (int k = 0; k < DELTAS; k++)
	{
		double		delta = 0.01 * pow(100.0, k / (DELTAS - 1.0));
		double		loss = plain_delta_loss(delta, n, mean, label);

		if (loss < least)
		{
			least = loss;
			best = delta / plain_smallness(n, mean, label);
		}
	}
	return best;
}

/* The targets of such labels. */
static gp_targets
make_targets(gp_env *env, gp_problem *problem, int n, const int32_t *label)
{
	memset(problem, 0, sizeof(*problem));
	problem->task = GP_TASK_CLASSES;
	problem->nclasses = CLASSES;
	problem->nlabelled = n;
	problem->label = label;
	return gp_targets_make(env, problem);
}

static gp_calibrator
fit(gp_env *env, const gp_problem *problem, const gp_targets *targets, double *mean)
{
	gp_loo		loo = {.mean = mean,.variance = variance};

	return gp_calibrator_fit(gp_device_cpu(env, 1), problem, targets, &loo, NOISE,
							 NULL);
}

/* No small change of gamma, the slope or a bias makes the labels likelier. */
static void
check_minimum(const gp_calibrator *found, int n, const double *mean, const int32_t *label)
{
	double		bias[CLASSES];
	gp_calibrator near = *found;
	double		least = plain_loss(found, n, mean, label);
	bool		lowest = true;

	near.bias = bias;
	for (int k = 0; k <= CLASSES + 1; k++)
		for (int sign = -1; sign <= 1; sign += 2)
		{
			memcpy(bias, found->bias, sizeof(bias));
			near.gamma = found->gamma;
			near.slope = found->slope;
			if (k < CLASSES)
				bias[k] += 0.02 * sign;
			else if (k == CLASSES)
				near.gamma *= 1.0 + 0.02 * sign;
			else
				near.slope += 0.005 * sign;
			lowest = lowest && plain_loss(&near, n, mean, label) > least;
		}
	ok(lowest, "gamma, the slope and the biases are where the likelihood is largest");
}

/* Labels drawn from a calibrator bring one back that says nearly the same. */
static void
check_recovery(gp_env *env)
{
	double		bias[CLASSES] = {0.6, -0.4, 0.0, 0.3, -0.5};
	gp_calibrator truth = {0.1, 2.5, 3.0, 1.0, NOISE, bias};
	double	   *mean = gp_alloc_array(env, LABELS * CLASSES, sizeof(double));
	int32_t    *label = gp_alloc_array(env, LABELS, sizeof(int32_t));
	double		far = 0.0;
	gp_problem	problem;

	make_labels(&truth, mean, label);
	gp_targets	targets = make_targets(env, &problem, LABELS, label);
	gp_calibrator found = fit(env, &problem, &targets, mean);
	for (int i = 0; i < LABELS; i++)
	{
		double		p[CLASSES];
		double		q[CLASSES];

		gp_probabilities(&truth, CLASSES, mean + i * CLASSES, variance[i], p);
		gp_probabilities(&found, CLASSES, mean + i * CLASSES, variance[i], q);
		for (int c = 0; c < CLASSES; c++)
			far += fabs(p[c] - q[c]) / (LABELS * CLASSES);
	}
	ok(far < 0.02, "the probabilities that labels were drawn from are found again");
	check_minimum(&found, LABELS, mean, label);
}

/* The loss of the labels of the last blocks of time, drawn to what all blocks say. */
static double
recent_loss(const gp_calibrator *k, const gp_calibrator *all, int first, const double *mean,
			const int32_t *label)
{
	double		ratio = k->gamma / all->gamma;
	double		away = k->slope - 0.25 * k->gamma - all->slope + 0.25 * all->gamma;
	double		loss = 200.0 * (ratio - 1.0 - log(ratio)) + 200.0 / 3.0 * away * away;
	double		p[CLASSES];

	for (int c = 0; c < CLASSES; c++)
		loss += 200.0 * relative_share(LABELS, label, c) *
			(k->bias[c] - all->bias[c]) * (k->bias[c] - all->bias[c]);
	for (int i = first; i < LABELS; i++)
	{
		gp_probabilities(k, CLASSES, mean + i * CLASSES, variance[i], p);
		loss -= log(p[label[i]]);
	}
	return loss;
}

/* Of ten blocks of time the last two, whose classes are others, count more than the rest. */
static void
check_recent(gp_env *env)
{
	double		bias[2][CLASSES] = {{0.6, -0.4, 0.0, 0.3, -0.5}, {-0.6, 0.8, 0.0, -0.3, 0.1}};
	gp_calibrator truth = {0.1, 2.5, 3.0, 1.0, NOISE, NULL};
	double	   *mean = gp_alloc_array(env, LABELS * CLASSES, sizeof(double));
	int32_t    *label = gp_alloc_array(env, LABELS, sizeof(int32_t));
	int32_t    *later = gp_alloc_array(env, LABELS, sizeof(int32_t));
	int32_t    *block = gp_alloc_array(env, LABELS, sizeof(int32_t));
	int			first = LABELS / 10 * 8;
	uint64_t	start = seed;
	bool		lowest = true;
	gp_problem	problem;

	truth.bias = bias[0];
	make_labels(&truth, mean, label);
	truth.bias = bias[1];
	seed = start;				/* the same means */
	make_labels(&truth, mean, later);
	memcpy(label + first, later + first, sizeof(int32_t) * (LABELS - first));
	for (int i = 0; i < LABELS; i++)
		block[i] = i / (LABELS / 10);
	gp_targets	targets = make_targets(env, &problem, LABELS, label);
	problem.block = block;
	problem.nblocks = 2;
	gp_calibrator all = fit(env, &problem, &targets, mean);
	problem.nblocks = 10;
	gp_calibrator found = fit(env, &problem, &targets, mean);
	double		least = recent_loss(&found, &all, first, mean, label);
	for (int k = 0; k <= CLASSES + 1; k++)
		for (int sign = -1; sign <= 1; sign += 2)
		{
			gp_calibrator near = found;

			near.bias = memcpy(bias[0], found.bias, sizeof(bias[0]));
			if (k < CLASSES)
				near.bias[k] += 0.02 * sign;
			else if (k == CLASSES)
				near.gamma *= 1.0 + 0.02 * sign;
			else
				near.slope += 0.005 * sign;
			lowest = lowest && recent_loss(&near, &all, first, mean, label) > least;
		}
	ok(lowest, "the last blocks of time are likeliest, near to what all blocks say");
	ok(found.delta == all.delta, "the width is that of all blocks");
}

/* Means that find every label, times a factor. */
static void
make_separable(double factor, double *mean, int32_t *label)
{
	for (int i = 0; i < FEW; i++)
	{
		label[i] = i % CLASSES;
		for (int c = 0; c < CLASSES; c++)
			mean[i * CLASSES + c] = factor * (c == label[i] ? 0.6 + 0.3 * draw_unit(&seed) : 0.1 * draw_unit(&seed));
	}
}

/*
 * Labels that are all found without themselves leave a doubt, some part of what one wrong label among
 * them would, and a larger one about a node that is less clear; small means no other one than large ones.
 */
static void
check_separable(gp_env *env, double factor)
{
	double		mean[FEW * CLASSES];
	int32_t		label[FEW];
	double		unclear[CLASSES] = {0.5 * factor, 0.3 * factor, 0.1 * factor, 0.05 * factor, 0.05 * factor};
	double		p[CLASSES];
	double		lone[CLASSES];
	double		doubt = 0.0;
	gp_problem	problem;

	make_separable(factor, mean, label);
	gp_targets	targets = make_targets(env, &problem, FEW, label);
	gp_calibrator found = fit(env, &problem, &targets, mean);
	for (int i = 0; i < FEW; i++)
	{
		gp_probabilities(&found, CLASSES, mean + i * CLASSES, variance[i], p);
		doubt += 1.0 - p[label[i]];
	}
	ok(doubt > 0.01 && doubt < 0.5, "labels that are all found leave a doubt");
	gp_probabilities(&found, CLASSES, unclear, 0.0, p);
	ok(p[0] > 0.5 && p[0] < 0.999, "and a larger one about what is less clear");
	gp_probabilities(&found, CLASSES, unclear, 4.0 * found.variance + 3.0 * NOISE, lone);
	for (int c = 0; c < CLASSES; c++)
		unclear[c] /= 2.0;
	gp_probabilities(&found, CLASSES, unclear, 0.0, p);
	ok(memcmp(lone, p, sizeof(p)) == 0, "of four times the variance, half of the means is left");
	ok(fabs(found.delta / plain_delta(FEW, mean, label) - 1.0) < 1e-9, "the width is that of the least loss");
	check_minimum(&found, FEW, mean, label);
}

/* Without variances gamma stays nearer to the middle, unless the means tell nothing of the labels. */
static void
check_few(gp_env *env)
{
	double		mean[FEW * CLASSES];
	double		one[FEW];
	int32_t		label[FEW];
	gp_problem	problem;

	make_separable(1.0, mean, label);
	for (int i = 0; i < FEW; i++)
		one[i] = 1.0;
	for (int told = 1; told >= 0; told--)
	{
		gp_targets	targets = make_targets(env, &problem, FEW, label);
		gp_loo		loo = {.mean = mean,.variance = one};
		gp_calibrator weak = gp_calibrator_fit(gp_device_cpu(env, 1), &problem, &targets, &loo, NOISE, NULL);

		loo.variance = NULL;
		gp_calibrator strong = gp_calibrator_fit(gp_device_cpu(env, 1), &problem, &targets, &loo, NOISE, NULL);
		if (told)
			ok(strong.gamma > 2.5 && log(strong.gamma / 2.5) < 0.5 * log(weak.gamma / 2.5),
			   "labels of a method without variances are drawn to the middle");
		else
			ok(strong.gamma == weak.gamma, "but not labels of chance");
		for (int i = 0; i < FEW; i++)
			label[i] = i / CLASSES % CLASSES;
	}
}

/* Means that tell nothing, or everything, or far outside of what was seen, give probabilities. */
static void
check_extremes(gp_env *env)
{
	double	   *mean = gp_alloc_zero(env, LABELS * CLASSES, sizeof(double));
	int32_t    *label = gp_alloc_array(env, LABELS, sizeof(int32_t));
	double		wild[CLASSES] = {1e6, -1e6, 0.0, 1e-300, 40.0};
	double		p[CLASSES];
	double		sum = 0.0;
	gp_problem	problem;

	for (int i = 0; i < LABELS; i++)
		label[i] = i % CLASSES;
	gp_targets	targets = make_targets(env, &problem, LABELS, label);
	gp_calibrator found = fit(env, &problem, &targets, mean);
	gp_probabilities(&found, CLASSES, mean, 0.0, p);
	ok(fabs(p[0] - 1.0 / CLASSES) < 1e-9, "means that tell nothing give the shares");
	const double share[CLASSES] = {0.4, 0.3, 0.1, 0.1, 0.1};
	gp_loo		folds = {.mean = mean,.node_share = share};
	found = gp_calibrator_fit(gp_device_cpu(env, 1), &problem, &targets, &folds, NOISE, NULL);
	gp_probabilities(&found, CLASSES, mean, 0.0, p);
	ok(fabs(p[0] - 0.4) < 0.01 && fabs(p[2] - 0.1) < 0.01, "of folds those of the nodes");
	for (int i = 0; i < LABELS; i++)
		mean[i * CLASSES + label[i]] = 1.0;
	found = fit(env, &problem, &targets, mean);
	gp_probabilities(&found, CLASSES, mean, 0.0, p);
	ok(p[0] > 0.99 && isfinite(found.gamma), "means that tell everything are believed");
	gp_probabilities(&found, CLASSES, wild, 0.0, p);
	for (int c = 0; c < CLASSES; c++)
		sum += p[c];
	ok(fabs(sum - 1.0) < 1e-12 && p[1] >= 0.0, "wild means give probabilities, too");
}

int
main(void)
{
	for (int i = 0; i < LABELS; i++)
		variance[i] = i % 2 ? 0.5 : 1.5;
	in_env(check_recovery(env));
	in_env(check_recent(env));
	in_env(check_separable(env, 1.0));
	in_env(check_separable(env, 0.02));
	in_env(check_few(env));
	in_env(check_extremes(env));
	return done_testing();
}
