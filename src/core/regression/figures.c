/*
 * figures.c - the figures of a fit, all by leave-one-out.
 */
#include "solution.h"

#include "base/sort.h"

#define FEWEST_RESIDUALS 100	/* of the last time blocks, which scale the intervals of values */
#define ECE_BINS 15

/*
 * True when labelled node i has no kernel: then it gets the prior, and says nothing of the others.
 */
static bool
is_prior(const gp_problem *problem, const gp_posterior *out, int64_t i)
{
	return out->is_prior != NULL && out->is_prior[problem->labelled[i]];
}

void
gp_label_probabilities(const gp_problem *problem, const gp_targets *t, const gp_posterior *out,
					   int64_t i, double *probability)
{
	if (is_prior(problem, out, i))
		memcpy(probability, t->share, t->columns * sizeof(double));
	else
		gp_probabilities(&out->calibrator, t->columns, out->loo.mean + i * t->columns,
						 out->loo.variance ? out->loo.variance[i] : 0.0, probability);
}

/* Sums of one calibration bin. */
typedef struct bin
{
	double		confidence;
	double		right;
} bin;

/* What is counted of each class. */
typedef struct tally
{
	double		labels;
	double		reported;
	double		right;
} tally;

/* Everything that is summed over the labels. */
typedef struct label_sums
{
	double		right;
	double		nll;
	double		brier;
	bin			bins[ECE_BINS];
	tally	   *class;
} label_sums;

/* Of two classes: how well the probability of the rarer one finds it. */
static void
rank_two(gp_env *env, const gp_problem *problem, const gp_targets *t, gp_posterior *out)
{
	int32_t		rare = t->share[0] < t->share[1] ? 0 : 1;
	double	   *score = gp_alloc_array(env, t->m, sizeof(double));
	bool	   *label = gp_alloc_array(env, t->m, sizeof(bool));
	int64_t		n = 0;

	for (int64_t i = 0; i < t->m; i++)
	{
		double		probability[2];

		if (!t->counts[i])
			continue;
		gp_label_probabilities(problem, t, out, i, probability);
		score[n] = probability[rare];
		label[n++] = problem->label[i] == rare;
	}
	gp_ranking_metrics(env, n, score, label, &out->metric[GP_METRIC_ROC_AUC],
					   &out->metric[GP_METRIC_PR_AUC]);
	gp_free_all(env, label, score);
}

static void
class_metrics(gp_env *env, const gp_problem *problem, const gp_targets *t, gp_posterior *out)
{
	double	   *metric = out->metric;
	double	   *probability = gp_alloc_array(env, t->columns, sizeof(double));
	label_sums	s = {0};
	double		ece = 0.0;

	s.class = gp_alloc_zero(env, t->columns, sizeof(tally));
	GP_EACH(env, i, t->m, i * t->columns)
	{
		if (!t->counts[i])
			continue;
		gp_label_probabilities(problem, t, out, i, probability);
		int32_t		label = problem->label[i];

		/* The most probable class: ties go to the class with more labels, then to the first. */
		int32_t		best = 0;
		for (int32_t c = 1; c < t->columns; c++)
			if (probability[c] > probability[best] ||
				(probability[c] == probability[best] && t->share[c] > t->share[best]))
				best = c;
		int			b = (int) fmin(ECE_BINS - 1, floor(probability[best] * ECE_BINS));
		s.bins[b].confidence += probability[best];
		s.bins[b].right += best == label;
		s.right += best == label;
		s.nll -= log(fmax(probability[label], 1e-300));
		for (int32_t c = 0; c < t->columns; c++)
			s.brier += (probability[c] - (c == label)) * (probability[c] - (c == label));
		s.class[label].labels += 1.0;
		s.class[best].reported += 1.0;
		s.class[label].right += best == label;
	}
	for (int b = 0; b < ECE_BINS; b++)
		ece += fabs(s.bins[b].confidence - s.bins[b].right);
	metric[GP_METRIC_ACCURACY] = s.right / t->ncounted;
	metric[GP_METRIC_NLL] = s.nll / t->ncounted;
	metric[GP_METRIC_ECE] = ece / t->ncounted;
	metric[GP_METRIC_BRIER] = s.brier / t->ncounted;
	/* The mean recall of the classes, and the mean of the harmonic means of precision and
	 * recall. */
	double		recall = 0.0;
	double		f1 = 0.0;
	double		seen = 0.0;

	for (int32_t c = 0; c < t->columns; c++)
	{
		if (s.class[c].labels == 0.0)
			continue;
		seen += 1.0;
		recall += s.class[c].right / s.class[c].labels;
		f1 += 2.0 * s.class[c].right / (s.class[c].labels + s.class[c].reported);
	}
	metric[GP_METRIC_BALANCED_ACCURACY] = recall / seen;
	metric[GP_METRIC_MACRO_F1] = f1 / seen;
	if (t->columns == 2)
		rank_two(env, problem, t, out);
	gp_free_all(env, s.class, probability);
}

/*
 * One minus the error of the predictions of labels (m x columns; rows of NaN: nothing is), relative
 * to that of the mean, or of the class shares; NaN where nothing is said, or all labels are one.
 */
static double
score_of(gp_env *env, const gp_problem *problem, const gp_targets *t, const double *mean)
{
	int64_t		n = 0;
	int64_t		counted = 0;
	int32_t    *index = mean ? gp_loo_sample(env, t, t->m, &n) : NULL;
	double		total = 0.0;

	for (int64_t k = 0; k < n; k++)
		if (!isnan(mean[(int64_t) index[k] * t->columns]))
			index[counted++] = index[k];
	double		error = gp_loo_error(problem, t, mean, index, counted, &total);
	double		told = 0.0;
	if (problem->task == GP_TASK_CLASSES)
	{
		/*
		 * What the error of a model would be that knows the class shares alone, after the best
		 * common factor as in gp_loo_error: with d the shares less their mean,
		 * |y|^2 - <y, d>^2 / |d|^2.
		 */
		double		yd = 0.0;
		double		dd = 0.0;

		for (int64_t k = 0; k < counted; k++)
			yd += t->share[problem->label[index[k]]] - 1.0 / t->columns;
		for (int32_t c = 0; c < t->columns; c++)
			dd += (t->share[c] - 1.0 / t->columns) * (t->share[c] - 1.0 / t->columns);
		told = dd > 1e-12 && yd > 0.0 ? yd * yd / (dd * (double) counted) : 0.0;
	}
	else
	{
		for (int64_t k = 0; k < counted; k++)
			told += t->y[index[k]];
		told = counted > 0 ? told * told / (double) counted : 0.0;
	}
	/* What is left of equal labels is rounding. */
	total = total - told > 1e-12 * total ? total - told : 0.0;
	gp_free(env, index);
	return total > 0.0 ? 1.0 - error / total : NAN;
}

int32_t
gp_blocks_recent(const gp_problem *problem)
{
	int32_t		first = problem->nblocks;
	int64_t		n = 0;

	while (first > 0 && n < FEWEST_RESIDUALS)
	{
		first--;
		for (int64_t i = 0; i < problem->nlabelled; i++)
			n += problem->block[i] == first;
	}
	return first;
}

/* R2, root mean squared and mean absolute error, and the share inside the 90% interval. */
static void
value_metrics(gp_env *env, const gp_problem *problem, const gp_targets *t, gp_posterior *out)
{
	const gp_loo *loo = &out->loo;
	double	   *metric = out->metric;
	double		squares = 0.0;
	double		sizes = 0.0;
	double		inside = 0.0;

	for (int64_t i = 0; i < t->m; i++)
	{
		double		r = t->y[i] - loo->mean[i];

		squares += r * r;
		sizes += fabs(r);
		inside += loo->variance && fabs(r) <= GP_NORMAL_90 * sqrt(loo->variance[i]);
	}
	metric[GP_METRIC_R2] = score_of(env, problem, t, loo->mean);
	metric[GP_METRIC_RMSE] = t->unit * sqrt(squares / t->m);
	metric[GP_METRIC_MAE] = t->unit * sizes / t->m;
	metric[GP_METRIC_COVERAGE90] = loo->variance ? inside / t->m : NAN;
}

/* The nonconformity of a label to a model without it. */
typedef struct ranked_label
{
	double		score;
	int32_t		class;
} ranked_label;

/* The nonconformity of each label, ascending, and of which class. */
static void
rank_labels(gp_env *env, const gp_problem *problem, const gp_targets *t, gp_posterior *out)
{
	ranked_label *ranked = gp_alloc_array(env, t->m, sizeof(ranked_label));
	double	   *probability = gp_alloc_array(env, t->columns, sizeof(double));
	bool		values = problem->task == GP_TASK_VALUES;
	int32_t		recent = values && problem->block ? gp_blocks_recent(problem) : 0;
	int64_t		n = 0;

	GP_EACH(env, i, t->m, i * t->columns)
	{
		if (values && problem->block && problem->block[i] < recent)
			continue;
		if (values)
		{
			double		size = fabs(t->y[i] - out->loo.mean[i]) / sqrt(out->loo.variance[i]);

			ranked[n++] = (ranked_label) {isnan(size) ? 0.0 : size, 0};
			continue;
		}
		gp_label_probabilities(problem, t, out, i, probability);
		ranked[n++] = (ranked_label) {1.0 - probability[problem->label[i]], problem->label[i]};
	}
	gp_sort(env, ranked, n, sizeof(ranked_label), gp_compare_double, NULL);
	out->loo.nonconformity = gp_alloc_array(env, t->m, sizeof(double));
	out->loo.nonconformity_class = gp_alloc_array(env, t->m, sizeof(int32_t));
	for (int64_t i = 0; i < t->m; i++)
	{
		/* The recent ones stand for all. */
		out->loo.nonconformity[i] = ranked[i * n / t->m].score;
		out->loo.nonconformity_class[i] = ranked[i * n / t->m].class;
	}
	gp_free_all(env, probability, ranked);
}

/* The leave-one-out posterior of a solution becomes that of the posterior. */
static void
hand_over_loo(gp_solution *solution, gp_posterior *out)
{
	out->loo.mean = solution->loo_mean;
	out->loo.variance = solution->loo_variance;
	out->forward = solution->forward;
	solution->loo_mean = solution->loo_variance = solution->forward = NULL;
}

/* Values that a model without their labels predicts are no less than the least prediction. */
static void
bound_predictions(const gp_targets *t, gp_posterior *out)
{
	double		least = (t->least - t->offset) / t->unit;

	for (int64_t i = 0; i < t->m; i++)
	{
		if (out->loo.mean[i] < least)
			out->loo.mean[i] = least;
		if (out->forward && out->forward[i] < least)
			out->forward[i] = least;
	}
}

/* A dry run has nothing to look at, only what that takes. */
static void
plan_figures(gp_env *env, const gp_problem *problem, const gp_targets *targets, gp_posterior *out)
{
	if (problem->task == GP_TASK_CLASSES)
		out->calibrator = gp_calibrator_plan(env, problem, targets);
	ranked_label *ranked = gp_alloc_values(env, targets->m, sizeof(ranked_label));

	out->loo.nonconformity = gp_alloc_values(env, targets->m, sizeof(double));
	out->loo.nonconformity_class = gp_alloc_values(env, targets->m, sizeof(int32_t));
	gp_free(env, ranked);
}

void
gp_figures(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
		   gp_solution *solution, gp_posterior *out)
{
	gp_env	   *env = dev->env;
	bool		classes = problem->task == GP_TASK_CLASSES;

	hand_over_loo(solution, out);
	if (env->dry)
	{
		plan_figures(env, problem, targets, out);
		return;
	}
	for (int i = 0; i < GP_METRICS; i++)
		out->metric[i] = NAN;
	if (!classes)
		bound_predictions(targets, out);
	/* Gives labels without kernel the variance that any node without kernel has; what the
	 * regression says of them is that of noise alone. */
	double		noise = classes ? 2.0 * solution->noise : solution->noise;
	bool		has_spread = !classes && !targets->flat;
	for (int64_t i = 0; i < problem->nlabelled && out->is_prior; i++)
		if (is_prior(problem, out, i))
			out->loo.variance[i] = has_spread ? 1.0 :
				solution->scale * (solution->mean_diag + noise);
	/* Of classes it is that of the latent function, as a node's. */
	for (int64_t i = 0; classes && i < targets->m; i++)
		out->loo.variance[i] = fmax(out->loo.variance[i] - solution->scale * solution->noise, 0.0);
	out->loo_score = targets->few ? NAN : score_of(env, problem, targets, out->loo.mean);
	out->forward_score = targets->few ? NAN : score_of(env, problem, targets, out->forward);
	/* The predictions of a method without a regression have no variance of that kind. */
	gp_loo		loo = {.mean = out->loo.mean,
		.variance = isnan(solution->nugget) ? NULL : out->loo.variance,
		.node_share = solution->node_share};
	if (classes)
		out->calibrator = gp_calibrator_fit(dev, problem, targets, &loo,
											solution->scale * solution->noise, out->is_prior);
	if (!targets->few && classes)
		class_metrics(env, problem, targets, out);
	else if (!targets->few)
		value_metrics(env, problem, targets, out);
	else if (classes)
		gp_notice(env, "Label at least two nodes of each of two classes.",
				  "too few labels to calibrate the probabilities: they are rough guesses");
	out->loo.n = targets->m;
	rank_labels(env, problem, targets, out);
	/* In the units of the target. */
	for (int64_t i = 0; !classes && i < targets->m; i++)
	{
		if (out->forward)
			out->forward[i] = gp_target_value(targets, out->forward[i]);
		out->loo.mean[i] = gp_target_value(targets, out->loo.mean[i]);
		out->loo.variance[i] *= targets->unit * targets->unit;
	}
}

void
gp_heldout_figures(gp_env *env, const gp_heldout_predictions *given, double *metric)
{
	gp_problem	problem = {.task = given->label ? GP_TASK_CLASSES : GP_TASK_VALUES,
		.label = given->label};
	double	   *mean = given->label ? NULL : gp_alloc_array(env, given->n, sizeof(double));
	/* Targets that nothing was fitted on: values less their mean. */
	gp_targets	t = {.m = given->n,.ncounted = given->n,.columns = given->nclasses > 0 ?
		given->nclasses : 1,.unit = 1.0};
	t.counts = gp_alloc_array(env, t.m, sizeof(bool));
	t.share = gp_alloc_zero(env, t.columns, sizeof(double));
	t.y = gp_alloc_array(env, t.m, sizeof(double));
	for (int64_t i = 0; i < t.m; i++)
	{
		t.counts[i] = true;
		t.offset += given->label ? 0.0 : given->target[i] / (double) t.m;
		if (given->label)
			t.share[given->label[i]] += 1.0 / (double) t.m;
	}
	for (int64_t i = 0; i < t.m && given->label == NULL; i++)
	{
		t.y[i] = given->target[i] - t.offset;
		mean[i] = given->mean[i] - t.offset;
	}
	gp_posterior out = {.columns = t.columns,.loo = {
			.mean = given->label ? (double *) given->mean : mean,
			.variance = (double *) given->variance
	}};

	if (given->label)
		out.calibrator = *given->calibrator;
	for (int i = 0; i < GP_METRICS; i++)
		out.metric[i] = NAN;
	if (given->n > 0 && given->label)
		class_metrics(env, &problem, &t, &out);
	else if (given->n > 0)
		value_metrics(env, &problem, &t, &out);
	memcpy(metric, out.metric, sizeof(out.metric));
	gp_targets_free(env, &t);
	gp_free(env, mean);
}

double
gp_loo_quantile(const double *score, int64_t n, double coverage)
{
	double		rank = ceil((n + 1.0) * coverage - 1e-9);

	if (rank > (double) n)
		return INFINITY;
	return score[rank < 1.0 ? 0 : (int64_t) rank - 1];
}

const char *
gp_metric_name(gp_metric metric)
{
	static const char *const names[] = {
		[GP_METRIC_ACCURACY] = "accuracy",
		[GP_METRIC_NLL] = "nll",
		[GP_METRIC_ECE] = "ece",
		[GP_METRIC_BALANCED_ACCURACY] = "balanced_accuracy",
		[GP_METRIC_MACRO_F1] = "macro_f1",
		[GP_METRIC_BRIER] = "brier",
		[GP_METRIC_ROC_AUC] = "roc_auc",
		[GP_METRIC_PR_AUC] = "pr_auc",
		[GP_METRIC_PROPAGATION] = "accuracy_label_propagation",
		[GP_METRIC_R2] = "r2",
		[GP_METRIC_RMSE] = "rmse",
		[GP_METRIC_COVERAGE90] = "coverage90",
		[GP_METRIC_MAE] = "mae"
	};

	return names[metric];
}
