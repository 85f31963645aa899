/*
 * class_calibration.c - class probabilities that mean what they say.
 *
 * A regression on one-hot classes estimates probabilities, not logits: a softmax
 * of its means makes sure ones too sure and leaves many unlikely classes too much.
 * So the logit of class c is
 *
 *		gamma asinh(u mean_c / (2 delta)) + slope u mean_c + bias_c,  u = min(1, sqrt(v / own v))
 *
 * which for large means grows as their logarithm, and a little as they do.  delta, gamma, slope
 * and the biases maximise the likelihood of the leave-one-out means:
 * delta over a grid with a weak preference for the middle, for a hundred labels
 * alone say little of it, and with slope = gamma / 4; then gamma, slope and the biases together,
 * slope drawn to gamma / 4 and the biases to zero.  Thousands of labels tell a slope of their own.
 * The rarer a class, the less its labels say of the bias, which is therefore drawn the less.
 * gamma has a weak preference as well, a gamma density: labels that are all found without
 * themselves would want it infinite, and leave no doubt about nodes of which they say little.
 * A normal density of log gamma would leave a loss that is not convex.  Few labels of a method
 * without a regression tell too little of gamma.  So the preference is strong where its means tell
 * the labels clearly better than the shares of the classes do.  All of this is meant for means of
 * ordinary size: small ones, as of a few labels of a large graph, are brought to it first.
 *
 * v is the mean over the labels of the leave-one-out variance, and own v the node's variance, each
 * with the noise.  Without u nodes in components without a label would be too sure.
 *
 * The last rows tell best what later rows are like.  So where labels have blocks of time, gamma,
 * slope and the biases are fitted once more, to the last blocks, and drawn to what all blocks say.
 *
 * A label that is left out leaves its class one short of the others, which a node without a label
 * does not: of n labels of a class the own class's mean counts n / (n - 1) times.  Where folds are
 * left out instead, a class's labels weigh as much together as the nodes that are predicted of it.
 */
#include "solution.h"

#define DELTA_MIN 0.01			/* the grid of delta, evenly in its logarithm */
#define DELTA_MAX 1.0
#define DELTAS 14
#define DELTA_MIDDLE 0.1
#define DELTA_SPREAD 0.5		/* of log delta: one deviation of the preference */
#define GAMMA_MIN 0.0820849986	/* exp(-2.5) */
#define GAMMA_MAX 403.428793	/* exp(6) */
#define GAMMA_MIDDLE 2.5		/* where the preference is, and what too few labels get */
#define GAMMA_WEIGHT 0.5		/* of the preference: its curvature over log gamma */
#define STRONG_GAMMA_WEIGHT 16.0
#define CLEARLY 4.0				/* so much less loss than that of the shares is clearly better */
/* means that should be more than so many times as large are small */
#define SMALL 2.0
#define RIDGE 5.0				/* the biases' mean precision */
#define SLOPE_RIDGE 10.0		/* the slope's */
#define RECENT_BLOCKS 2			/* the last blocks */
#define RECENT_GAMMA_WEIGHT 200.0	/* in place of those above there */
#define RECENT_RIDGE 400.0
#define RECENT_SLOPE_RIDGE (RECENT_RIDGE / 3.0)
#define MOST_ENTRIES (INT64_C(1) << 21)	/* labels times classes that the fit looks at */
#define SAMPLE_LABELS 100		/* but at least so many labels */
#define NEWTON_STEPS 50
#define CG_STEPS 50
#define HALVINGS 30
#define CLOSE 1e-10				/* a Newton decrement, relative to the loss, that ends the search */
#define STRAIGHT 0.25			/* slope / gamma that few labels have */
#define SHAPES 2				/* gamma, and slope less STRAIGHT gamma: what precedes the biases */

static double
curve(double mean, double delta)
{
	return asinh(0.5 * mean / delta);
}

/* What the means of a node with this variance are multiplied by. */
static double
sureness(const gp_calibrator *calibrator, double variance)
{
	return variance > calibrator->variance ?
		sqrt((calibrator->variance + calibrator->noise) / (variance + calibrator->noise)) : 1.0;
}

double
gp_logit(const gp_calibrator *calibrator, int32_t c, double mean, double variance)
{
	double		m = sureness(calibrator, variance) * mean;

	return calibrator->gamma * curve(m, calibrator->delta) + calibrator->slope * m +
		(calibrator->bias ? calibrator->bias[c] : 0.0);
}

void
gp_probabilities(const gp_calibrator *calibrator, int32_t columns, const double *mean,
				 double variance, double *probability)
{
	for (int32_t c = 0; c < columns; c++)
		probability[c] = gp_logit(calibrator, c, mean[c], variance);
	gp_softmax_log(columns, probability, probability, -1);
}

/* What the fit looks at: some labels, each with as much weight as it stands for. */
typedef struct fitter
{
	gp_device  *dev;
	gp_env	   *env;
	int64_t		n;
	int32_t		columns;
	const int32_t *label;		/* n */
	double	   *balance;		/* columns: what the own class's mean is multiplied by */
	double	   *weight;			/* columns: of a label */
	double	   *m;				/* n x columns: u mean */
	double	   *s;				/* n x columns: the logit of gamma 1 at it, without bias */
	double	   *p;				/* n x columns: probabilities at the last x */
	double	   *unit;			/* 1 over the root of the Hessian's diagonal, and as much room */
	double		gamma;			/* the last one */
	/* what x is drawn to, and how strongly */
	double	   *middle;			/* columns + SHAPES */
	double		gamma_weight;
	double		ridge;			/* of a bias for each unit of its class's share */
	double		slope_ridge;
	const double *share;		/* columns: of the labels */
} fitter;

static void
set_delta(fitter *f, const gp_loo *loo, const int32_t *index, const gp_calibrator *out)
{
	GP_EACH(f->env, i, f->n, i * f->columns)
	{
		const double *row = loo->mean + (int64_t) index[i] * f->columns;
		double		u = sureness(out, loo->variance ? loo->variance[index[i]] : 0.0);

		for (int32_t c = 0; c < f->columns; c++)
		{
			double		m = u * row[c] * (c == f->label[i] && row[c] > 0.0 ? f->balance[c] : 1.0);

			f->m[i * f->columns + c] = m;
			f->s[i * f->columns + c] = curve(m, out->delta) + STRAIGHT * m;
		}
	}
}

/* How strongly the number c of x, which is not gamma, is drawn to its middle. */
static double
ridge_of(const fitter *f, int32_t c)
{
	return c < SHAPES ? f->slope_ridge : f->ridge * f->share[c - SHAPES];
}

/*
 * The negative log likelihood at x = (gamma, slope - STRAIGHT gamma, biases) with the
 * preferences, and its gradient where that is asked for; leaves the probabilities in p.
 */
static double
loss_at(fitter *f, const double *x, double *gradient)
{
	int32_t		n = f->columns;
	double		ratio = x[0] / f->middle[0];
	double		slope = f->gamma_weight * (1.0 / f->middle[0] - 1.0 / x[0]);
	double		loss = 0.0;

	if (gradient)
		memset(gradient, 0, sizeof(double) * (n + SHAPES));
	GP_EACH(f->env, i, f->n, i * n)
	{
		const double *s = f->s + i * n;
		const double *m = f->m + i * n;
		double	   *p = f->p + i * n;
		int32_t		y = f->label[i];
		double		weight = f->weight[y];

		for (int32_t c = 0; c < n; c++)
			p[c] = x[0] * s[c] + x[1] * m[c] + x[c + SHAPES];
		gp_softmax_log(n, p, p, -1);
		loss -= weight * log(fmax(p[y], 1e-300));
		for (int32_t c = 0; gradient && c < n; c++)
		{
			double		r = weight * (p[c] - (c == y));

			gradient[0] += r * s[c];
			gradient[1] += r * m[c];
			gradient[c + SHAPES] += r;
		}
	}
	f->gamma = x[0];
	loss += f->gamma_weight * (ratio - 1.0 - log(ratio));
	for (int32_t c = 1; c < n + SHAPES; c++)
		loss += 0.5 * ridge_of(f, c) * (x[c] - f->middle[c]) * (x[c] - f->middle[c]);
	for (int32_t c = 0; gradient && c < n + SHAPES; c++)
		gradient[c] += c > 0 ? ridge_of(f, c) * (x[c] - f->middle[c]) : slope;
	return loss;
}

/* out = Hessian v at the point of the last loss_at; the Hessian's diagonal for v = NULL. */
static void
hessian_times(fitter *f, const double *v, double *out)
{
	int32_t		n = f->columns;

	memset(out, 0, sizeof(double) * (n + SHAPES));
	GP_EACH(f->env, i, f->n, i * n)
	{
		const double *s = f->s + i * n;
		const double *m = f->m + i * n;
		const double *p = f->p + i * n;
		double		weight = f->weight[f->label[i]];
		double		mean = 0.0;
		double		of_m = 0.0;

		for (int32_t c = 0; c < n; c++)
		{
			mean += p[c] * (v ? v[0] * s[c] + v[1] * m[c] + v[c + SHAPES] : s[c]);
			of_m += v ? 0.0 : p[c] * m[c];
		}
		for (int32_t c = 0; c < n; c++)
		{
			double		q = weight * p[c];
			double		r = q *
				(v ? v[0] * s[c] + v[1] * m[c] + v[c + SHAPES] - mean : s[c] - mean);

			out[0] += r * s[c];
			out[1] += v ? r * m[c] : q * (m[c] - of_m) * m[c];
			out[c + SHAPES] += v ? r : q * (1.0 - p[c]);
		}
	}
	for (int32_t c = 0; c < n + SHAPES; c++)
		out[c] += (c > 0 ? ridge_of(f, c) : f->gamma_weight / (f->gamma * f->gamma)) *
			(v ? v[c] : 1.0);
}

/* The Hessian's product, scaled from both sides to a diagonal of ones. */
static void
scaled_hessian_times(void *system, gp_matrix from, gp_matrix to)
{
	fitter	   *f = system;
	int32_t		n = f->columns + SHAPES;
	double	   *v = gp_download(f->dev, from);
	double	   *out = f->unit + n;

	for (int32_t i = 0; i < n; i++)
		v[i] *= f->unit[i];
	hessian_times(f, v, out);
	for (int32_t i = 0; i < n; i++)
		out[i] *= f->unit[i];
	f->dev->upload(f->dev, to, gp_matrix_wrap(out, n, 1, GP_DOUBLE));
	gp_free(f->env, v);
}

/* d solves Hessian d = -gradient as far as a Newton step deserves. */
static void
newton_direction(fitter *f, const double *gradient, double *d)
{
	int32_t		n = f->columns + SHAPES;
	gp_matrix	host = gp_matrix_wrap(d, n, 1, GP_DOUBLE);
	gp_conjugate g = gp_conjugate_open(f->dev, n, 1, GP_DOUBLE, scaled_hessian_times, f);

	g.x = gp_filled(f->dev, n, 1, GP_DOUBLE, 0.0);
	hessian_times(f, NULL, f->unit);
	for (int32_t i = 0; i < n; i++)
	{
		f->unit[i] = 1.0 / sqrt(fmax(f->unit[i], 1e-12));
		d[i] = -gradient[i] * f->unit[i];
	}
	f->dev->upload(f->dev, g.residual, host);
	gp_conjugate_solve(&g, 1e-2, CG_STEPS);
	f->dev->download(f->dev, host, g.x);
	for (int32_t i = 0; i < n; i++)
		d[i] *= f->unit[i];
	f->dev->destroy(f->dev, &g.x);
	gp_conjugate_close(&g);
}

/*
 * Goes along d until the loss falls, which it does not where gamma is negative; false where it
 * never does, or by nothing that counts.
 */
static bool
line_search(fitter *f, double *x, const double *d, const double *gradient, double loss,
			double *trial)
{
	int32_t		n = f->columns + SHAPES;
	double		slope = 0.0;
	double		step = 1.0;

	for (int32_t i = 0; i < n; i++)
		slope += gradient[i] * d[i];
	if (!(-slope > CLOSE * (1.0 + fabs(loss))))
		return false;
	for (int k = 0; k < HALVINGS; k++, step *= 0.5)
	{
		for (int32_t i = 0; i < n; i++)
			trial[i] = x[i] + step * d[i];
		if (loss_at(f, trial, NULL) <= loss + 1e-4 * step * slope)
		{
			memcpy(x, trial, sizeof(double) * n);
			return true;
		}
	}
	return false;
}

/* The loss where all of x but gamma is 0, with its slope and its curvature there. */
static double
loss_of_gamma(fitter *f, double gamma, double *slope, double *curvature)
{
	int32_t		n = f->columns;
	double		ratio = gamma / f->middle[0];
	double		loss = 0.0;
	double		first = 0.0;
	double		second = 0.0;
	double	   *p = f->p;

	GP_EACH(f->env, i, f->n, i * n)
	{
		const double *s = f->s + i * n;
		double		weight = f->weight[f->label[i]];
		double		mean = 0.0;

		for (int32_t c = 0; c < n; c++)
			p[c] = gamma * s[c];
		gp_softmax_log(n, p, p, -1);
		loss -= weight * log(fmax(p[f->label[i]], 1e-300));
		for (int32_t c = 0; c < n; c++)
		{
			mean += p[c] * s[c];
			first += weight * (p[c] - (c == f->label[i])) * s[c];
		}
		for (int32_t c = 0; c < n; c++)
			second += weight * p[c] * (s[c] - mean) * s[c];
	}
	*slope = first + f->gamma_weight * (1.0 / f->middle[0] - 1.0 / gamma);
	*curvature = second + f->gamma_weight / (gamma * gamma);
	return loss + f->gamma_weight * (ratio - 1.0 - log(ratio));
}

/* The best gamma alone, from one given, by Newton's steps kept inside of a shrinking bracket. */
static double
fit_gamma(fitter *f, double gamma, double *loss)
{
	double		low = GAMMA_MIN;
	double		high = GAMMA_MAX;
	double		slope;
	double		curvature;

	for (int k = 0; k < NEWTON_STEPS; k++)
	{
		*loss = loss_of_gamma(f, gamma, &slope, &curvature);
		if (slope > 0.0)
			high = gamma;
		else
			low = gamma;
		double		next = curvature > 0.0 ? gamma - slope / curvature : 0.0;
		if (!(next > low && next < high))
			next = sqrt(low * high);
		if (fabs(next - gamma) <= 1e-6 * gamma)
			break;
		gamma = next;
	}
	return gamma;
}

/*
 * Prefers the middle of gamma strongly where the labels of a method without a regression are told
 * clearly better by it than by the shares of the classes.
 */
static void
prefer_gamma(fitter *f, const gp_loo *loo, const int32_t *index, const gp_calibrator *middle)
{
	double		gain = 0.0;
	double		loss;

	if (loo->variance || loo->node_share)
		return;
	set_delta(f, loo, index, middle);
	fit_gamma(f, GAMMA_MIDDLE, &loss);
	for (int64_t i = 0; i < f->n; i++)
		gain -= f->weight[f->label[i]] * log(f->share[f->label[i]]);
	if (gain - loss > CLEARLY)
		f->gamma_weight = STRONG_GAMMA_WEIGHT;
}

/*
 * The delta of the largest likelihood, and its gamma; s is left at that delta.  Small means are
 * first brought to half of the size that they should have.
 */
static void
fit_delta(fitter *f, const gp_targets *targets, const gp_loo *loo, const int32_t *index,
		  gp_calibrator *out)
{
	double		best = INFINITY;
	gp_calibrator at = *out;
	double		smallness = fmax(gp_class_rescaling(targets, loo->mean, index, f->n) / SMALL, 1.0);

	for (int k = 0; k < DELTAS; k++)
	{
		double		delta = DELTA_MIN * pow(DELTA_MAX / DELTA_MIN, (double) k / (DELTAS - 1));
		double		away = log(delta / DELTA_MIDDLE) / DELTA_SPREAD;
		double		loss;

		at.delta = delta / smallness;
		set_delta(f, loo, index, &at);
		at.gamma = fit_gamma(f, at.gamma, &loss);
		loss += 0.5 * away * away;
		if (loss < best)
		{
			best = loss;
			*out = at;
		}
	}
	set_delta(f, loo, index, out);
}

/* Minimises the loss over x: convex.  room has three vectors. */
static void
fit_all(fitter *f, double *x, double *room)
{
	double	   *d = room + f->columns + SHAPES;

	for (int k = 0; k < NEWTON_STEPS; k++)
	{
		double		loss = loss_at(f, x, room);

		newton_direction(f, room, d);
		if (!line_search(f, x, d, room, loss, d + f->columns + SHAPES))
			break;
	}
}

/* Fits x once more, to the last blocks of time. */
static void
lean_to_recent(fitter *f, const gp_problem *problem, const gp_loo *loo, int32_t *index,
			   int32_t *label, const gp_calibrator *out, double *x, double *room)
{
	int64_t		left = 0;

	for (int64_t i = 0; i < f->n; i++)
		if (problem->block[index[i]] >= problem->nblocks - RECENT_BLOCKS)
		{
			index[left] = index[i];
			label[left++] = label[i];
		}
	f->n = left;
	set_delta(f, loo, index, out);
	memcpy(f->middle, x, sizeof(double) * (f->columns + SHAPES));
	f->gamma_weight = RECENT_GAMMA_WEIGHT;
	f->ridge = RECENT_RIDGE * f->columns;
	f->slope_ridge = RECENT_SLOPE_RIDGE;
	fit_all(f, x, room);
}

/* How many labels the fit looks at: all, where their classes are not too many numbers. */
static int64_t
labels_looked_at(int32_t columns)
{
	return gp_max64(MOST_ENTRIES / columns, SAMPLE_LABELS);
}

/*
 * The weight of a label of each class, given the mean weight; and n / (n - 1) of the n labels of
 * each class, but 1 where blocks or folds are left out, which have labels of all classes.
 */
static void
weigh_classes(fitter *f, const gp_problem *problem, const gp_targets *targets,
			  const double *node_share, double weight)
{
	f->balance = gp_alloc_array(f->env, f->columns, 2 * sizeof(double));
	f->weight = f->balance + f->columns;
	for (int32_t c = 0; c < f->columns; c++)
	{
		double		n = f->share[c] * (double) targets->m;

		f->balance[c] = n > 1.5 && problem->block == NULL && !node_share ? n / (n - 1.0) : 1.0;
		f->weight[c] = weight * (node_share && n > 0.0 ? node_share[c] / f->share[c] : 1.0);
	}
}

gp_calibrator
gp_calibrator_fit(gp_device *dev, const gp_problem *problem, const gp_targets *targets,
				  const gp_loo *loo, double noise, const bool *is_prior)
{
	gp_env	   *env = dev->env;
	int32_t		columns = targets->columns;
	gp_calibrator out = {.delta = DELTA_MIDDLE,.gamma = GAMMA_MIDDLE,
	.slope = STRAIGHT * GAMMA_MIDDLE,.variance = INFINITY,.noise = noise};
	fitter		f = {.dev = dev,.env = env,.columns = columns,.gamma_weight = GAMMA_WEIGHT,
	.ridge = RIDGE * columns,.slope_ridge = SLOPE_RIDGE,.share = targets->share};

	if (targets->few)
		return out;
	int32_t    *index = gp_loo_sample(env, targets, labels_looked_at(columns), &f.n);
	weigh_classes(&f, problem, targets, loo->node_share,
				  (double) targets->ncounted / (double) f.n);
	/* Leaves out the labels of nodes that are given the prior. */
	int64_t		left = 0;
	double		sum = 0.0;
	for (int64_t k = 0; k < f.n; k++)
		if (is_prior == NULL || !is_prior[problem->labelled[index[k]]])
			index[left++] = index[k];
	f.n = left;
	if (f.n == 0)
	{
		gp_free_all(env, f.balance, index);
		return out;
	}
	int32_t    *label = gp_alloc_array(env, f.n, sizeof(int32_t));
	for (int64_t i = 0; i < f.n; i++)
		label[i] = problem->label[index[i]];
	f.label = label;
	for (int64_t i = 0; i < f.n && loo->variance; i++)
		sum += loo->variance[index[i]];
	out.variance = loo->variance ? sum / (double) f.n : INFINITY;
	f.s = gp_alloc_array(env, f.n * columns, 3 * sizeof(double));
	f.p = f.s + f.n * columns;
	f.m = f.p + f.n * columns;
	/* gradient and direction, a trial, the Hessian's unit, and what is drawn to */
	int32_t		n = columns + SHAPES;
	double	   *x = gp_alloc_zero(env, n, sizeof(double));
	double	   *room = gp_alloc_zero(env, n, 6 * sizeof(double));

	f.unit = room + 3 * n;
	f.middle = room + 5 * n;
	f.middle[0] = GAMMA_MIDDLE;
	prefer_gamma(&f, loo, index, &out);
	fit_delta(&f, targets, loo, index, &out);
	x[0] = out.gamma;
	fit_all(&f, x, room);
	if (problem->block && problem->nblocks > RECENT_BLOCKS)
		lean_to_recent(&f, problem, loo, index, label, &out, x, room);
	gp_free(env, room);
	out.gamma = x[0];
	/* Probabilities never fall where the means grow. */
	out.slope = fmax(x[1] + STRAIGHT * x[0], 0.0);
	memmove(x, x + SHAPES, columns * sizeof(double));
	out.bias = x;
	gp_free_all(env, f.s, f.balance, label, index);
	return out;
}

gp_calibrator
gp_calibrator_plan(gp_env *env, const gp_problem *problem, const gp_targets *targets)
{
	int32_t		columns = targets->columns;
	double		labels = fmin((double) problem->nlabelled, (double) labels_looked_at(columns));

	if (targets->few)
		return (gp_calibrator) {0};
	gp_free(env, gp_alloc_values(env, 1, (size_t) (labels * (24.0 * columns + 8.0) +
													112.0 * columns + 4096.0)));
	return (gp_calibrator) {.bias = gp_alloc_zero(env, columns + SHAPES, sizeof(double))};
}
