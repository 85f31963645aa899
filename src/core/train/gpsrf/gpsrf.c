/*
 * gpsrf.c - structure-aware random Fourier kernels: the network, its likelihoods, its steps, its
 * fit.
 *
 *		H1 = relu(P drop(X) W1),  H = relu(P drop(H1) W2),  F = Phi(H) A,  p(y | F) = softmax(F)
 *
 * Steps of two kinds take turns (Fang, Zhu, Liu and Wang 2021): one with A's posterior and the
 * network, by the likelihood of the labels less the divergence over the number of classes; one with
 * the frequencies and the network, by the likelihood of the labels and of nodes that are sure of
 * their class. Values have F itself with a Gaussian noise, which is learnt.
 */
#include "train/engine/engine.h"
#include "regression/solution.h"

#include <stdio.h>

#define FOLDS 5
/* of a node among 22 neighbours drawn with replacement and itself */
#define OWN_WEIGHT (1.0 / 23.0)
#define BATCH 512
#define MOST_LABELS 384			/* of a batch that has other nodes, too */
#define SPECTRUM_UNITS 64
#define CLIP 5.0
#define POSTERIOR 0				/* the groups of steps, and their rates */
#define FREQUENCIES 1
#define POSTERIOR_RATE 5e-4
#define FREQUENCIES_RATE 1.5e-3

enum							/* purposes of gp_trainer_seed */
{
	DRAW_SPECTRUM = 1,
	DRAW_PHASE,
	DRAW_WEIGHTS,
	DRAW_LABELS,
	DRAW_OTHERS
};

/* A training.  Features and sparse matrices are the host's, and are shared with its dry run. */
typedef struct learner
{
	gp_device  *dev;
	gp_env	   *env;
	const gp_gpsrf *options;
	const gp_problem *problem;
	bool		classes;
	gp_targets	targets;
	gp_features *x;				/* rows of sum 1 */
	gp_csr	   *x_transposed;	/* x' where it is sparse */
	gp_csr	   *average;		/* P */
	gp_csr	   *average_transposed;
	gp_trainer	t;
	gp_network *net;
	gp_network *spectrum;
	gp_operation *sum[2];		/* over neighbours */
	gp_operation *head;
	gp_features some;			/* features of the nodes that a step needs, */
	gp_csr	   *part[2];		/* what a sum takes of P, */
	gp_csr	   *transposed[3];	/* and their transposes */
	int32_t    *needed[2];		/* nodes before each sum */
	int32_t    *number;			/* of a node among these */
	void	   *spare;			/* of a plan: what other batches take in addition */
	int64_t		nlearnt;		/* labels that are learnt from */
	int32_t    *learnt;			/* their nodes, ascending */
	int32_t    *place;			/* of each node among the labels; -1: not learnt from */
	int32_t    *index;			/* of a batch */
	int32_t    *label;			/* of a batch: class, or place among the labels; -1: none */
	int32_t    *drawn;			/* two of the same size */
	double	   *logits;			/* of a batch, a row of columns each */
	gp_parameter noise;			/* 1 x 1, of values: the logarithm of its deviation */
	double		deviation;
	double		bound;
	int			folds;
	int32_t    *fold;			/* of each label */
	int64_t		done;			/* steps, for the progress */
	int64_t		total;
} learner;

/* ---- what is multiplied with ---- */

static void
learner_open(void *state, gp_device *dev, const gp_problem *problem, const void *options)
{
	gp_env	   *env = dev->env;
	const gp_graph *graph = problem->graph;
	learner    *l = state;

	*l = (learner) {.dev = dev,.env = env,.options = options,.problem = problem,
	.classes = problem->task == GP_TASK_CLASSES};
	l->x = problem->features ? gp_features_unit(env, problem->features, problem->type, GP_ROW_SUM) :
		gp_features_identity(env, problem->graph->nodes, problem->type);
	if (l->x->csr)
		l->x_transposed = gp_csr_transpose(env, l->x->csr);
	/* P: a node's neighbours, by their weight, and the node itself with OWN_WEIGHT. */
	l->average = gp_graph_normalise(env, graph, GP_NORM_NONE, problem->type);
	GP_EACH(env, i, graph->nodes, l->average->start[i])
	{
		int64_t		edge = graph->start[i];
		double		degree = 0.0;

		for (int64_t k = edge; k < graph->start[i + 1]; k++)
			degree += graph->weight ? graph->weight[k] : 1.0;
		for (int64_t k = l->average->start[i]; k < l->average->start[i + 1]; k++)
		{
			bool		own = l->average->col[k] == i;
			double		weight = own || !graph->weight ? 1.0 : graph->weight[edge];

			edge += !own;
			gp_number_put(l->average->value, problem->type, k, degree > 0.0 ?
						  own ? OWN_WEIGHT : (1.0 - OWN_WEIGHT) * weight / degree : own);
		}
	}
	l->average_transposed = gp_csr_transpose(env, l->average);
}

static void
learner_close(void *state)
{
	learner    *l = state;

	gp_csr_free(l->env, l->average_transposed);
	gp_csr_free(l->env, l->average);
	gp_csr_free(l->env, l->x_transposed);
	gp_features_free(l->env, l->x);
}

/* ---- the network ---- */

/* A linear map behind what is there. */
static gp_operation *
add_linear(gp_trainer *t, gp_network *c, int64_t width, unsigned groups, double decay, bool biased)
{
	gp_operation *op = gp_network_add(t, c, &gp_operation_linear);

	op->width = width;
	op->groups = groups;
	op->decay = decay;
	op->linear.biased = biased;
	return op;
}

/* A mean over neighbours, rectified. */
static void
add_average(learner *l)
{
	gp_operation *op = gp_network_add(&l->t, l->net, &gp_operation_propagate);

	l->sum[l->sum[0] != NULL] = op;
	gp_network_add(&l->t, l->net, &gp_operation_relu);
}

/* Frees the matrices of a step. */
static void
free_parts(learner *l)
{
	gp_csr_free(l->env, l->some.csr);
	for (int k = 0; k < 2; k++)
		gp_csr_free(l->env, l->part[k]);
	for (int k = 0; k < 3; k++)
		gp_csr_free(l->env, l->transposed[k]);
	gp_free(l->env, l->spare);
	l->some.csr = l->part[0] = l->part[1] = NULL;
	l->spare = NULL;
	memset(l->transposed, 0, sizeof(l->transposed));
}

/* A plan does not know the batches: some may need all of the sums and the features. */
static void
plan_whole(learner *l)
{
	const gp_csr *whole[] = {l->average, l->average, l->x->csr};
	const gp_csr *part[] = {l->part[0], l->part[1], l->some.csr};
	int64_t		bytes = 0;

	for (int k = 0; k < 3; k++)
		if (part[k])
		{
			int64_t		entry = (int64_t) (sizeof(int32_t) + gp_type_size(part[k]->type));
			int64_t		more = gp_csr_entries(whole[k]) - gp_csr_entries(part[k]);
			int64_t		cols = whole[k]->cols - part[k]->cols;

			bytes += 2 * more * entry + cols * (int64_t) sizeof(int64_t);
			/* The rows of the last sum are those of the batch. */
			if (k != 1)
				bytes += (whole[k]->rows - part[k]->rows) * (int64_t) sizeof(int64_t);
		}
	l->spare = gp_alloc_values(l->env, bytes, 1);
}

/* All nodes are computed. */
static void
need_all(learner *l)
{
	free_parts(l);
	l->net->operation[0].linear.x = l->x;
	l->net->operation[0].linear.transposed = l->x_transposed;
	for (int k = 0; k < 2; k++)
		l->sum[k]->propagate = (gp_propagate) {l->average, l->average_transposed};
	gp_network_rows(l->net, 0, l->head->number, l->x->rows);
}

/* Some rows of a matrix, which no device keeps; its transpose, too. */
static gp_csr *
some_rows(learner *l, const gp_csr *s, const int32_t *row, int64_t n, const int32_t *number,
		  int64_t cols, gp_csr **transposed)
{
	gp_csr	   *out = gp_csr_select(l->env, s, row, n, number, cols);

	*transposed = gp_csr_transpose(l->env, out);
	out->stamp = (*transposed)->stamp = 0;
	return out;
}

/*
 * Only what n nodes of the index need is computed: their neighbours, and the neighbours of these.
 * Dense features are all there.
 */
static void
need_some(learner *l, int64_t n)
{
	const int32_t *row = l->index;
	int			last = l->head->number;

	free_parts(l);
	for (int k = 1; k >= 0; k--)
	{
		gp_operation *op = l->sum[k];
		int64_t		before = l->x->rows;
		bool		all = k == 0 && l->x->csr == NULL;

		memset(l->number, -1, l->x->rows * sizeof(int32_t));
		for (int64_t i = 0; i < n; i++)
			for (int64_t e = l->average->start[row[i]]; e < l->average->start[row[i] + 1]; e++)
				l->number[l->average->col[e]] = 0;
		if (!all)
			before = 0;
		GP_EACH(l->env, j, all ? 0 : l->x->rows, j)
			if (l->number[j] == 0)
			{
				l->needed[k][before] = (int32_t) j;
				l->number[j] = (int32_t) before++;
			}
		l->part[k] = some_rows(l, l->average, row, n, all ? NULL : l->number, before,
							   &l->transposed[k]);
		op->propagate = (gp_propagate) {l->part[k], l->transposed[k]};
		gp_network_rows(l->net, op->number, last, n);
		last = op->number - 1;
		row = l->needed[k];
		n = before;
	}
	gp_network_rows(l->net, 0, last, n);
	if (l->x->csr == NULL)
		return;
	l->some = (gp_features) {.rows = n,.dims = l->x->dims,.type = l->x->type};
	l->some.csr = some_rows(l, l->x->csr, row, n, NULL, l->x->dims, &l->transposed[2]);
	l->net->operation[0].linear.x = &l->some;
	l->net->operation[0].linear.transposed = l->transposed[2];
}

/* Opens both networks: that of the frequencies, and that of nodes up to the logits of a batch. */
static void
open_networks(learner *l)
{
	const gp_gpsrf *o = l->options;
	gp_trainer *t = &l->t;
	unsigned	alone = 1u << FREQUENCIES;
	unsigned	both = 1u << POSTERIOR | 1u << FREQUENCIES;

	/* frequencies: a number e_m of each, 64 and 64 units, mu and log sigma */
	memset(l->spectrum, 0, sizeof(gp_network));
	for (int k = 0; k < 2; k++)
	{
		add_linear(t, l->spectrum, SPECTRUM_UNITS, alone, o->decay, true);
		gp_network_add(&l->t, l->spectrum, &gp_operation_relu);
	}
	add_linear(t, l->spectrum, 2 * o->units, alone, o->decay, true);
	gp_network_add(&l->t, l->spectrum, &gp_operation_spectrum);
	gp_network_open(t, l->spectrum, o->features, 1);
	l->spectrum->input = gp_trainer_matrix(t, o->features, 1, t->type);
	gp_fill_normal(t, l->spectrum->input, gp_trainer_seed(t, DRAW_SPECTRUM, false), 1.0);
	/* nodes */
	memset(l->net, 0, sizeof(gp_network));
	l->sum[0] = NULL;
	gp_operation *op = add_linear(t, l->net, o->hidden, both, o->decay, false);
	op->linear.x = l->x;
	op->linear.transposed = l->x_transposed;
	op->linear.dropout = o->dropout;
	add_average(l);
	gp_network_add(&l->t, l->net, &gp_operation_dropout)->dropout = o->dropout;
	add_linear(t, l->net, o->units, both, o->decay, false);
	add_average(l);
	l->head = op = gp_network_add(&l->t, l->net, &gp_operation_cosines);
	op->groups = 1u << POSTERIOR;
	op->width = l->targets.columns;
	op->cosines.count = o->features;
	op->cosines.amplitude = 1.0;
	op->cosines.frequency = &l->spectrum->operation[l->spectrum->n - 1].value;
	gp_network_open(t, l->net, l->x->rows, l->x->dims);
	gp_fill_uniform(t, op->cosines.phase, gp_trainer_seed(t, DRAW_PHASE, false), M_PI);
	gp_fill_normal(t, op->cosines.draw, gp_trainer_seed(t, DRAW_WEIGHTS, false), sqrt(1.0 / 5.0));
	gp_parameter_make(t, &l->noise, 1, 1, both, 0.0);
}

/* ---- batches ---- */

/* About k of n numbers, ascending: one of each of k equal parts. */
static int64_t
draw_some(gp_trainer *t, int64_t n, int64_t k, uint64_t purpose, int32_t *out)
{
	uint64_t	seed = gp_trainer_seed(t, purpose, true);
	int64_t		count = 0;

	for (int64_t j = 0; j < k; j++)
	{
		double		at = (double) j + gp_element_uniform(seed, (uint64_t) j);
		int64_t		i = k == n ? j : (int64_t) (at * (double) n / (double) k);

		i = gp_min64(i, n - 1);
		if (count == 0 || i > out[count - 1])
			out[count++] = (int32_t) i;
	}
	return count;
}

/* The nodes of a step: labels, and others (label -1) where those are asked for; returns the
 * labels. */
static int64_t
make_batch(learner *l, bool others)
{
	int32_t    *label = l->drawn;
	int32_t    *other = l->drawn + BATCH;
	int64_t		most = gp_min64(BATCH, l->x->rows);
	int64_t		nlabels = gp_min64(l->nlearnt, gp_min64(others ? MOST_LABELS : BATCH, most));
	int64_t		nothers = others ? most - nlabels : 0;
	int64_t		n = 0;
	int64_t		a = 0;

	if (l->env->dry)
	{
		n = nlabels + nothers;
		for (int64_t k = 0; k < n; k++)
			l->index[k] = (int32_t) (k * l->x->rows / n);
		need_some(l, n);
		plan_whole(l);
		return nlabels;
	}
	nlabels = draw_some(&l->t, l->nlearnt, nlabels, DRAW_LABELS, label);
	nothers = draw_some(&l->t, l->x->rows, nothers, DRAW_OTHERS, other);
	for (int64_t k = 0; k < nothers; k++)
	{
		while (a < nlabels && l->learnt[label[a]] < other[k])
			l->index[n++] = l->learnt[label[a++]];
		if (l->place[other[k]] < 0)
			l->index[n++] = other[k];
	}
	while (a < nlabels)
		l->index[n++] = l->learnt[label[a++]];
	for (int64_t k = 0; k < n; k++)
	{
		int32_t		at = l->place[l->index[k]];

		l->label[k] = at >= 0 && l->classes ? l->problem->label[at] : at;
	}
	need_some(l, n);
	return nlabels;
}

/* ---- likelihoods ---- */

/* Gives nodes that are sure of a class that class; returns how many. */
static int64_t
believe(learner *l, int64_t n)
{
	int32_t		c = l->problem->nclasses;
	int64_t		sure = 0;

	for (int64_t i = 0; i < n; i++)
	{
		const double *f = l->logits + i * c;
		double		total = 0.0;
		int32_t		best = 0;

		if (l->label[i] >= 0)
			continue;
		for (int32_t j = 1; j < c; j++)
			best = f[j] > f[best] ? j : best;
		for (int32_t j = 0; j < c; j++)
			total += exp(f[j] - f[best]);
		if (1.0 / total < l->options->tau || l->options->tau >= 1.0)
			continue;
		l->label[i] = best;
		sure++;
	}
	return sure;
}

/* log N(y; F, s^2) of values, and what the deviation s gets of it. */
static double
value_gradient(learner *l, int64_t n, double weight)
{
	double		noise = gp_parameter_number(&l->t, &l->noise);
	double		precision = exp(-2.0 * noise);
	double		sum = 0.0;
	double		slope = 0.0;

	for (int64_t i = 0; i < gp_items(l->env, n); i++)
	{
		double		error = l->label[i] < 0 ? 0.0 : l->logits[i] - l->targets.y[l->label[i]];

		if (l->label[i] >= 0)
		{
			sum -= 0.5 * (error * error * precision + log(2.0 * M_PI)) + noise;
			slope += 1.0 - error * error * precision;
		}
		l->logits[i] = weight * error * precision;
	}
	l->dev->shift(l->dev, l->noise.gradient, weight * slope);
	return weight * sum;
}

/* The likelihood of a batch, whose gradient is set: a mean over its labels. */
static double
set_gradient(learner *l, int64_t nlabels, bool others)
{
	gp_device  *dev = l->dev;
	gp_matrix	value = gp_network_value(l->net);
	gp_matrix	host = gp_matrix_wrap(l->logits, value.rows, value.cols, GP_DOUBLE);
	double		ll;

	dev->download(dev, host, value);
	if (l->classes && others)
		nlabels += believe(l, gp_items(l->env, value.rows));
	double		weight = 1.0 / (double) gp_max64(nlabels, 1);
	ll = l->classes ? gp_softmax(l->env, value.rows, l->problem->nclasses, l->label, weight,
								 l->logits) :
		value_gradient(l, value.rows, weight);
	if (!l->env->dry && !isfinite(ll))
		gp_raise(l->env, GP_ERR_RANGE, "Scale the features to ordinary sizes.",
				 "the training of method gpsrf is out of range at step %lld",
				 (long long) l->t.step + 1);
	l->env->objective = ll;
	dev->upload(dev, gp_network_gradient(l->net), host);
	return ll;
}

/*
 * Brings the arguments of a node and their variances to what a posterior has; returns the variance.
 * Logits become probabilities, softmax(F / sqrt(1 + pi v / 8)) (MacKay 1992), with the mean
 * variance; values stay in the targets' unit, with the variance of an observation.
 */
static double
to_posterior(const learner *l, double *f, const double *variance)
{
	int32_t		c = l->targets.columns;
	double		sum = 0.0;

	if (!l->classes)
		return variance[0] + l->deviation * l->deviation;
	for (int32_t j = 0; j < c; j++)
	{
		f[j] /= sqrt(1.0 + M_PI * variance[j] / 8.0);
		sum += variance[j];
	}
	gp_softmax_log(c, f, f, -1);
	return sum / c;
}

/* ---- steps ---- */

static void
step_frequencies(learner *l)
{
	gp_matrix	gradient = gp_network_gradient(l->spectrum);
	int64_t		nlabels = make_batch(l, true);

	gp_trainer_clear(&l->t);
	l->dev->fill(l->dev, gradient, 0.0);
	l->head->cosines.frequency_gradient = &gradient;
	gp_network_forward(&l->t, l->net, l->net->n);
	set_gradient(l, nlabels, true);
	gp_network_backward(&l->t, l->net);
	gp_network_backward(&l->t, l->spectrum);
	gp_trainer_step(&l->t, FREQUENCIES, FREQUENCIES_RATE);
	gp_network_forward(&l->t, l->spectrum, l->spectrum->n);
}

/* All steps: first some with the posterior alone.  A dry run makes one of each kind for all. */
static void
run_steps(learner *l, int64_t first, int64_t steps)
{
	bool		dry = l->env->dry;
	gp_count	before = {0};

	gp_network_forward(&l->t, l->spectrum, l->spectrum->n);
	l->t.training = true;
	if (dry)
		before = gp_dry_count(l->dev);
	for (int64_t k = 0; k < (dry ? 1 : first + steps); k++)
	{
		l->t.step = k;
		l->env->check_interrupts(l->env);
		l->env->progress(l->env, GP_PHASE_TRAIN, l->done++, l->total);
		/* A step with the weights' posterior and the network; last: keeps the bound */
		double		divergence = 1.0 / ((double) l->targets.columns *
								   (double) gp_max64(l->nlearnt, 1));
		int64_t		nlabels = make_batch(l, false);

		gp_trainer_clear(&l->t);
		l->head->cosines.frequency_gradient = NULL;
		gp_network_forward(&l->t, l->net, l->net->n);
		double		ll = set_gradient(l, nlabels, false);
		if (dry || k + 1 == first + steps)
			l->bound = ll * (double) l->nlearnt - gp_weights_divergence(&l->t, &l->head->weights);
		gp_network_backward(&l->t, l->net);
		gp_network_prior(&l->t, l->net, divergence);
		gp_trainer_step(&l->t, POSTERIOR, POSTERIOR_RATE);
		if (dry || k >= first)
			step_frequencies(l);
	}
	if (dry)
		gp_dry_repeat(l->dev, &before, (double) steps + 0.5 * (double) first - 1.0);
	l->t.training = false;
}

/* ---- trainings ---- */

/* The steps of a training with the posterior alone, before so many of both. */
static int64_t
first_of(int64_t steps)
{
	return (steps + 7) / 8;
}

int32_t *
gp_folds_deal(gp_env *env, int64_t n, const int32_t *label, int folds, uint64_t seed)
{
	int32_t    *fold = gp_alloc_values(env, n, sizeof(int32_t));
	int32_t    *order = gp_shuffle(env, n, seed, NULL);
	int32_t		classes = 1;

	for (int64_t k = 0; label && k < gp_items(env, n); k++)
		classes = (int32_t) gp_max64(classes, label[k] + 1);
	/* The place of the next label of each class, one class behind the other */
	int64_t    *place = gp_alloc_zero(env, classes + 1, sizeof(int64_t));
	for (int64_t k = 0; label && k < gp_items(env, n); k++)
		place[label[k] + 1]++;
	gp_offsets_of_counts(place, classes);
	for (int64_t k = 0; k < gp_items(env, n); k++)
		fold[order[k]] = (int32_t) (place[label ? label[order[k]] : 0]++ % folds);
	gp_free_all(env, place, order);
	return fold;
}

/*
 * Trains without the labels of a fold, where there is such a one, and gives logits and their
 * variances of all nodes (host, n x columns).
 */
static void
train(learner *l, int fold, int64_t steps, double *logit, double *variance)
{
	gp_device  *dev = l->dev;
	const gp_problem *p = l->problem;
	int64_t		n = l->x->rows;
	int32_t		c = l->targets.columns;

	/* labels */
	l->nlearnt = 0;
	memset(l->place, -1, gp_items(l->env, n) * sizeof(int32_t));
	for (int64_t k = 0; k < gp_items(l->env, p->nlabelled); k++)
		if (l->folds == 1 || l->fold[k] != fold)
		{
			l->place[p->labelled[k]] = (int32_t) k;
			l->learnt[l->nlearnt++] = p->labelled[k];
		}
	if (l->env->dry)
		l->nlearnt = p->nlabelled;
	/* parameters */
	l->t = gp_trainer_open(dev, p->type, p->seed);
	l->t.clip = CLIP;
	open_networks(l);
	gp_matrix	mean = gp_trainer_matrix(&l->t, n, c, l->t.type);
	gp_matrix	square = gp_trainer_matrix(&l->t, n, c, l->t.type);
	run_steps(l, first_of(steps), steps);
	/* predictions */
	need_all(l);
	gp_network_forward(&l->t, l->net, l->head->number);
	gp_cosines_predict(&l->t, l->head, l->head[-1].value, mean, square);
	dev->download(dev, gp_matrix_wrap(logit, n, c, GP_DOUBLE), mean);
	dev->download(dev, gp_matrix_wrap(variance, n, c, GP_DOUBLE), square);
	l->deviation = exp(gp_parameter_number(&l->t, &l->noise));
	gp_trainer_close(&l->t);
}

/* The predictions of each label by a training that has not seen it; room is of nodes x columns. */
static void
hold_out(learner *l, int64_t steps, double *logit, double *room, double *loo_mean,
		 double *loo_variance)
{
	const gp_problem *p = l->problem;
	int32_t		c = l->targets.columns;

	for (int64_t k = 0; k < gp_items(l->env, p->nlabelled) && l->folds == 1; k++)
	{
		for (int32_t j = 0; j < c; j++)
			loo_mean[k * c + j] = l->classes ? 1.0 / c : 0.0;
		loo_variance[k] = 1.0;
	}
	for (int f = 0; f < l->folds && l->folds > 1; f++)
	{
		train(l, f, steps, logit, room);
		for (int64_t k = 0; k < gp_items(l->env, p->nlabelled); k++)
			if (l->fold[k] == f)
			{
				int64_t		at = (int64_t) p->labelled[k] * c;

				memcpy(loo_mean + k * c, logit + at, c * sizeof(double));
				loo_variance[k] = to_posterior(l, loo_mean + k * c, room + at);
			}
	}
}

static void *
learner_run(void *state, gp_device *dev, const gp_plan *plan)
{
	learner    *l = state;
	const gp_problem *p = l->problem;
	gp_env	   *env = l->env = dev->env;
	gp_posterior *out = gp_posterior_begin(env, p, plan, &l->targets);
	int32_t		c = l->targets.columns;
	double		unit = l->targets.unit;
	int64_t		whole = l->options->steps;
	int64_t		half = (whole + 1) / 2;	/* of a training that a fold is held out of */
	double	   *loo_mean = gp_alloc_values(env, p->nlabelled, (size_t) c * sizeof(double));
	double	   *loo_variance = gp_alloc_values(env, p->nlabelled, sizeof(double));
	double	   *room = gp_alloc_values(env, out->nodes, (size_t) c * sizeof(double));

	l->dev = dev;
	l->learnt = gp_alloc_values(env, p->nlabelled, sizeof(int32_t));
	l->place = gp_alloc_values(env, out->nodes, sizeof(int32_t));
	for (int k = 0; k < 2; k++)
		l->needed[k] = gp_alloc_array(env, out->nodes, sizeof(int32_t));
	l->number = gp_alloc_array(env, out->nodes, sizeof(int32_t));
	l->index = gp_alloc_array(env, BATCH, sizeof(int32_t));
	l->label = gp_alloc_array(env, BATCH, sizeof(int32_t));
	l->drawn = gp_alloc_array(env, BATCH, 2 * sizeof(int32_t));
	l->net = gp_alloc(env, sizeof(gp_network));
	l->spectrum = gp_alloc(env, sizeof(gp_network));
	l->logits = gp_alloc_values(env, BATCH, (size_t) c * sizeof(double));
	l->folds = (int) gp_min64(FOLDS, p->nlabelled);
	l->fold = gp_folds_deal(env, p->nlabelled, p->label, l->folds, p->seed);
	l->total = whole + first_of(whole) + (l->folds > 1 ? l->folds * (half + first_of(half)) : 0);
	hold_out(l, half, out->mean, room, loo_mean, loo_variance);
	/* no label is of the fold behind the last one */
	train(l, l->folds, whole, out->mean, room);
	GP_EACH(env, i, gp_items(env, out->nodes), i * c)
	{
		out->variance[i] = unit * unit * to_posterior(l, out->mean + i * c, room + i * c);
		if (!l->classes)
			out->mean[i] = gp_target_value(&l->targets, out->mean[i]);
	}
	gp_free_all(env, l->fold, l->logits, l->spectrum, l->net, l->drawn, l->label, l->index,
				l->place, l->learnt, l->needed[0], l->needed[1], l->number, room);
	gp_solution	solution = gp_solution_of_scores(env, p, &l->targets, loo_mean, loo_variance, out);
	solution.stratified = true;
	/* the bound is that of values in units of their deviation */
	solution.log_marginal_likelihood = l->bound - (l->classes ? 0.0
											   : (double) p->nlabelled * log(unit));
	gp_posterior_end(dev, p, &l->targets, &solution, out);
	return out;
}

static void
learner_describe(const void *state, gp_plan *plan)
{
	const gp_gpsrf *o = ((const learner *) state)->options;

	plan->nlandmarks = o->features;
	snprintf(plan->reason, sizeof(plan->reason),
			 "random Fourier features of two convolutions, %d cosines, %d steps: ", o->features,
			 o->steps);
}

const gp_method gp_method_gpsrf = {
	.name = "gpsrf",.text = &gp_gpsrf_text,.what = "fit",
	.hint = "Use fewer features, units or hidden units, or raise gnngp.memory_limit.",
	.labels = true,.values = true,.state = sizeof(learner),.open = learner_open,.run = learner_run,
	.describe = learner_describe,.close = learner_close
};
