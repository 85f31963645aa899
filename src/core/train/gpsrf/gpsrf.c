/*
 * gpsrf.c - structure-aware random Fourier kernels: the network, its steps, its plan, its fit.
 *
 *		H1 = relu(P drop(X) W1),  H = relu(P drop(H1) W2),  F = Phi(H) A,  p(y | F) = softmax(F)
 *
 * Steps of two kinds take turns (Fang, Zhu, Liu and Wang 2021): one with A's posterior and the network, by
 * the likelihood of the labels less the divergence over the number of classes; one with the
 * frequencies and the network, by the likelihood of the labels and of nodes that are sure of their class.
 * Values have F itself with a Gaussian noise, which is learnt.
 */
#include "train/gckm/gckm.h"
#include "gpsrf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOLDS 5
#define OWN_WEIGHT (1.0 / 23.0)	/* of a node among 22 neighbours drawn with replacement and itself */
#define BATCH 512
#define MOST_LABELS 384			/* of a batch that has other nodes, too */
#define SPECTRUM_UNITS 64
#define CLIP 5.0
#define POSTERIOR 0				/* the groups of steps, and their rates */
#define FREQUENCIES 1
#define POSTERIOR_RATE 5e-4
#define FREQUENCIES_RATE 1.5e-3
#define WARM_RATE 0.3			/* times that, from a start where little is left to learn */

/* ---- what is multiplied with ---- */

/* P: a node's neighbours, by their weight, and the node itself with OWN_WEIGHT. */
static gp_csr *
make_average(gp_env *env, const gp_graph *graph, gp_type type)
{
	gp_csr	   *one = gp_csr_identity(env, graph->nodes, type);
	int64_t		entries = graph->start[graph->nodes];
	gp_csr		w = {graph->nodes, graph->nodes, graph->start, graph->col, NULL, type, 0};
	gp_csr	   *sum;
	int64_t		next = 0;

	w.value = gp_alloc_array(env, entries, gp_type_size(type));
	for (int64_t i = 0; i < graph->nodes; i++)
	{
		double		degree = 0.0;

		gp_poll(env, graph->start[i] + i, &next);
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
			degree += graph->weight ? graph->weight[k] : 1.0;
		gp_number_put(one->value, type, i, degree > 0.0 ? OWN_WEIGHT : 1.0);
		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
			gp_number_put(w.value, type, k, degree > 0.0 ?
						  (1.0 - OWN_WEIGHT) * (graph->weight ? graph->weight[k] : 1.0) / degree : 0.0);
	}
	sum = gp_csr_add(env, one, &w);
	gp_free(env, w.value);
	gp_csr_free(env, one);
	return sum;
}

/* Makes what a training multiplies with. */
static gp_learner
learner_open(gp_device *dev, const gp_problem *problem, const gp_gpsrf *options)
{
	gp_env	   *env = dev->env;
	gp_learner		l = {.dev = dev,.env = env,.options = options,.problem = problem};

	l.x = problem->features ? gp_features_unit(env, problem->features, problem->type, GP_ROW_SUM) :
		gp_features_identity(env, problem->graph->nodes, problem->type);
	if (l.x->csr)
		l.x_turned = gp_csr_transpose(env, l.x->csr);
	l.op = make_average(env, problem->graph, problem->type);
	l.op_turned = gp_csr_transpose(env, l.op);
	l.targets = gp_targets_make(env, problem);
	l.kind = problem->task == GP_TASK_CLASSES ? &gp_likelihood_classes : &gp_likelihood_values;
	return l;
}

/* Frees it. */
static void
learner_close(gp_learner *l)
{
	gp_targets_free(l->env, &l->targets);
	gp_csr_free(l->env, l->op_turned);
	gp_csr_free(l->env, l->op);
	gp_csr_free(l->env, l->x_turned);
	gp_features_free(l->env, l->x);
}

/* ---- the network ---- */

/* A linear map behind what is there. */
static gp_block *
add_linear(gp_network *c, int64_t width, unsigned groups, double decay, bool biased)
{
	gp_block   *b = gp_network_add(c, &gp_block_linear);

	b->width = width;
	b->groups = groups;
	b->decay = decay;
	b->linear.biased = biased;
	return b;
}

/* A mean over neighbours, rectified. */
static void
add_average(gp_learner *l)
{
	gp_network_add(l->net, &gp_block_propagate)->propagate = (gp_propagate) {l->op, l->op_turned};
	gp_network_add(l->net, &gp_block_relu);
}

/* The network that frequencies come from: a number e_m of each, 64 and 64 units, mu and log sigma. */
static void
open_spectrum(gp_learner *l)
{
	const gp_gpsrf *o = l->options;
	gp_trainer *t = &l->t;
	unsigned	group = 1u << FREQUENCIES;

	memset(l->spectrum, 0, sizeof(gp_network));
	for (int k = 0; k < 2; k++)
	{
		add_linear(l->spectrum, SPECTRUM_UNITS, group, o->decay, true);
		gp_network_add(l->spectrum, &gp_block_relu);
	}
	add_linear(l->spectrum, 2 * o->units, group, o->decay, true);
	gp_network_add(l->spectrum, &gp_block_spectrum);
	gp_network_open(t, l->spectrum, o->features, 1);
	l->spectrum->input = l->dev->create(l->dev, o->features, 1, t->type);
	gp_fill_normal(t, l->spectrum->input, gp_trainer_seed(t, 1, false), 1.0);
}

/* The network of nodes, up to the logits of a batch. */
static void
open_net(gp_learner *l)
{
	const gp_gpsrf *o = l->options;
	gp_trainer *t = &l->t;
	unsigned	both = 1u << POSTERIOR | 1u << FREQUENCIES;
	gp_block   *b;

	memset(l->net, 0, sizeof(gp_network));
	b = add_linear(l->net, o->hidden, both, o->decay, false);
	b->linear.x = l->x;
	b->linear.turned = l->x_turned;
	b->linear.dropout = o->dropout;
	add_average(l);
	gp_network_add(l->net, &gp_block_dropout)->dropout = o->dropout;
	add_linear(l->net, o->units, both, o->decay, false);
	add_average(l);
	l->gather = gp_network_add(l->net, &gp_block_gather);
	l->gather->gather.index = l->index;
	l->gather->gather.most = gp_min64(BATCH, l->x->rows);
	l->head = b = gp_network_add(l->net, &gp_block_cosines);
	b->groups = 1u << POSTERIOR;
	b->width = l->targets.columns;
	b->cosines.count = o->features;
	b->cosines.amplitude = 1.0;
	b->cosines.frequency = &l->spectrum->block[l->spectrum->n - 1].value;
	gp_network_open(t, l->net, l->x->rows, l->x->dims);
	gp_fill_uniform(t, b->cosines.phase, gp_trainer_seed(t, 2, false), M_PI);
	gp_fill_normal(t, b->cosines.draw, gp_trainer_seed(t, 3, false), sqrt(1.0 / 5.0));
}

/* ---- steps ---- */

/* About k of n numbers, ascending: one of each of k equal parts. */
static int64_t
draw_some(gp_trainer *t, int64_t n, int64_t k, uint64_t purpose, int32_t *out)
{
	uint64_t	seed = gp_trainer_seed(t, purpose, true);
	int64_t		count = 0;

	for (int64_t j = 0; j < k; j++)
	{
		int64_t		i = k == n ? j : (int64_t) (((double) j + gp_each_uniform(seed, (uint64_t) j)) * (double) n / (double) k);

		i = gp_min64(i, n - 1);
		if (count == 0 || i > out[count - 1])
			out[count++] = (int32_t) i;
	}
	return count;
}

/* What is learnt from a place among the labels: its class, or the place itself, of a value. */
static int32_t
label_of(const gp_learner *l, int32_t place)
{
	return place >= 0 && l->problem->task == GP_TASK_CLASSES ? l->problem->label[place] : place;
}

/* The nodes of a step: labels, and others (label -1) where those are asked for; returns the labels. */
static int64_t
make_batch(gp_learner *l, bool others)
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
		gp_gather_rows(&l->t, l->net, l->gather, nlabels + nothers);
		return nlabels;
	}
	nlabels = draw_some(&l->t, l->nlearnt, nlabels, 4, label);
	nothers = draw_some(&l->t, l->x->rows, nothers, 5, other);
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
		l->label[k] = label_of(l, l->place[l->index[k]]);
	gp_gather_rows(&l->t, l->net, l->gather, n);
	return nlabels;
}

/* The likelihood of a batch, whose gradient is set: a mean over its labels. */
static double
set_gradient(gp_learner *l, int64_t nlabels, bool others)
{
	gp_device  *dev = l->dev;
	gp_matrix	value = gp_network_value(l->net);
	gp_matrix	host = gp_matrix_wrap(l->logits, value.rows, value.cols, GP_DOUBLE);
	double		ll;

	dev->download(dev, host, value);
	ll = l->kind->gradient(l, value.rows, nlabels, others);
	if (!l->env->dry && !isfinite(ll))
		gp_raise(l->env, GP_ERR_RANGE, "Scale the features to ordinary sizes.",
				 "the training of method gpsrf is out of range at step %lld", (long long) l->t.step + 1);
	l->env->objective = ll;
	dev->upload(dev, gp_network_gradient(l->net), host);
	return ll;
}

/* The rate of steps. */
static double
rate_of(const gp_learner *l, double rate)
{
	return l->before ? WARM_RATE * rate : rate;
}

/* A step with the weights' posterior and the network; last: keeps the bound. */
static void
step_posterior(gp_learner *l, bool last)
{
	double		divergence = 1.0 / ((double) l->targets.columns * (double) gp_max64(l->nlearnt, 1));
	int64_t		nlabels = make_batch(l, false);
	double		ll;

	gp_trainer_clear(&l->t);
	l->head->cosines.frequency_gradient = NULL;
	gp_network_forward(&l->t, l->net, l->net->n);
	ll = set_gradient(l, nlabels, false);
	if (last)
		l->bound = ll * (double) l->nlearnt - gp_weights_divergence(&l->t, &l->head->cosines.mean, &l->head->cosines.log_s);
	gp_network_backward(&l->t, l->net);
	l->head->class->prior(&l->t, l->head, divergence);
	gp_trainer_step(&l->t, POSTERIOR, rate_of(l, POSTERIOR_RATE));
}

/* A step with the frequencies and the network. */
static void
step_frequencies(gp_learner *l)
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
	gp_trainer_step(&l->t, FREQUENCIES, rate_of(l, FREQUENCIES_RATE));
	gp_network_forward(&l->t, l->spectrum, l->spectrum->n);
}

/* All steps: first some with the posterior alone.  A dry run takes one of each kind for all. */
static void
run_steps(gp_learner *l, int64_t first, int64_t steps)
{
	gp_count	before = {0};

	gp_network_forward(&l->t, l->spectrum, l->spectrum->n);
	l->t.training = true;
	if (l->env->dry)
		before = gp_dry_count(l->dev);
	for (int64_t k = 0; k < first + steps; k++)
	{
		l->t.step = k;
		l->env->check_interrupts(l->env);
		l->env->progress(l->env, GP_PHASE_TRAIN, l->done++, l->total);
		step_posterior(l, k + 1 == first + steps || l->env->dry);
		if (k >= first || l->env->dry)
			step_frequencies(l);
		if (l->env->dry)
			break;
	}
	if (l->env->dry)
		gp_dry_repeat(l->dev, &before, (double) steps + 0.5 * (double) first - 1.0);
	l->t.training = false;
}

/* ---- the fit ---- */

/* The labels that are learnt from: all but those of a fold; f = -1: all. */
static void
choose_labels(gp_learner *l, const int32_t *fold, int f)
{
	const gp_problem *p = l->problem;

	l->nlearnt = p->nlabelled;
	if (l->env->dry)
		return;
	memset(l->place, -1, l->x->rows * sizeof(int32_t));
	l->nlearnt = 0;
	for (int64_t k = 0; k < p->nlabelled; k++)
		if (f < 0 || fold[k] != f)
		{
			l->place[p->labelled[k]] = (int32_t) k;
			l->learnt[l->nlearnt++] = p->labelled[k];
		}
}

/* The steps of a training, of so many where it starts from nothing. */
static int64_t
steps_of(const gp_learner *l, int64_t steps)
{
	return l->before ? (steps + GP_WARM_SHARE - 1) / GP_WARM_SHARE : steps;
}

/* The steps of all trainings. */
static int64_t
all_steps(const gp_learner *l)
{
	int64_t		half = steps_of(l, (l->options->steps + 1) / 2);
	int64_t		whole = steps_of(l, l->options->steps);

	return (l->folds > 1 ? l->folds * (half + (half + 7) / 8) : 0) + whole + (whole + 7) / 8;
}

/* What was left with folds as many as these, whose labels stay where they were; NULL: nothing was. */
static const gp_warm *
dealt_before(const gp_learner *l)
{
	const gp_warm *w = l->problem->warm;

	return l->options->warm && w && l->folds > 1 && w->sets == l->folds + 1 ? w : NULL;
}

/*
 * Settles, once parameters are there, where trainings start from and what they leave.  Without features there
 * are parameters for each node, which are of no use to the next one.
 */
static void
settle_warm(gp_learner *l)
{
	const gp_problem *p = l->problem;
	int64_t		sets = l->folds > 1 ? l->folds + 1 : 1;
	int64_t		values = gp_trainer_values(&l->t);

	if (l->options->warm && p->features)
	{
		if (p->warm && p->warm->sets == sets && p->warm->values == values)
			l->before = p->warm;
		else if (p->warm && !l->env->dry)
			gp_notice(l->env, NULL, "the training starts anew: features, classes or folds are other ones than before");
		l->left = gp_warm_hold(l->env, p, dealt_before(l), l->fold, sets, values);
	}
	l->total = all_steps(l);
}

/* Trains a set of parameters, and gives logits and their variances of all nodes (host, n x classes). */
static void
train(gp_learner *l, int64_t set, int64_t steps, double *logit, double *variance)
{
	gp_device  *dev = l->dev;
	int64_t		n = l->x->rows;
	int32_t		c = l->targets.columns;
	gp_matrix	mean;
	gp_matrix	spread;

	l->t = gp_trainer_open(dev, l->problem->type, l->problem->seed);
	l->t.clip = CLIP;
	open_spectrum(l);
	open_net(l);
	gp_parameter_make(&l->t, &l->noise, 1, 1, 1u << POSTERIOR | 1u << FREQUENCIES, 0.0);
	mean = dev->create(dev, n, c, l->t.type);
	spread = dev->create(dev, n, c, l->t.type);
	if (l->total == 0)
		settle_warm(l);
	if (l->before)
		gp_trainer_start(&l->t, l->before, set);
	steps = steps_of(l, steps);
	run_steps(l, (steps + 7) / 8, steps);
	if (l->left)
		gp_trainer_leave(&l->t, l->left, set);
	gp_network_forward(&l->t, l->net, l->net->n - 2);
	gp_cosines_predict(&l->t, l->head, l->net->block[l->net->n - 3].value, mean, spread);
	dev->download(dev, gp_matrix_wrap(logit, n, c, GP_DOUBLE), mean);
	dev->download(dev, gp_matrix_wrap(variance, n, c, GP_DOUBLE), spread);
	l->deviation = exp(gp_learner_noise(l));
	dev->destroy(dev, &spread);
	dev->destroy(dev, &mean);
	gp_parameter_free(&l->t, &l->noise);
	gp_network_close(&l->t, l->net);
	dev->destroy(dev, &l->spectrum->input);
	gp_network_close(&l->t, l->spectrum);
	gp_trainer_close(&l->t);
}

/* Deals the labels to folds. */
static void
deal(gp_learner *l)
{
	const gp_problem *p = l->problem;
	const gp_warm *before;

	l->folds = (int) gp_min64(FOLDS, p->nlabelled);
	before = dealt_before(l);
	l->fold = before ? gp_warm_deal(l->env, p, before, l->folds) :
		gp_folds_deal(l->env, p->nlabelled, p->label, l->folds, p->seed);
}

/* What is said of each label by a training that has not seen it; room is of nodes x classes. */
static void
hold_out(gp_learner *l, double *logit, double *room, double *loo_mean, double *loo_variance)
{
	const gp_problem *p = l->problem;
	int32_t		c = l->targets.columns;

	for (int64_t k = 0; k < p->nlabelled && l->folds == 1 && !l->env->dry; k++)
	{
		for (int32_t j = 0; j < c; j++)
			loo_mean[k * c + j] = p->task == GP_TASK_CLASSES ? 1.0 / c : 0.0;
		loo_variance[k] = 1.0;
	}
	for (int f = 0; f < l->folds && l->folds > 1; f++)
	{
		choose_labels(l, l->fold, f);
		train(l, f, (l->options->steps + 1) / 2, logit, room);
		for (int64_t k = 0; k < p->nlabelled && !l->env->dry; k++)
			if (l->fold[k] == f)
			{
				int64_t		at = (int64_t) p->labelled[k] * c;

				memcpy(loo_mean + k * c, logit + at, c * sizeof(double));
				loo_variance[k] = l->kind->settle(l, loo_mean + k * c, room + at);
			}
	}
}

/* The fit by a plan; on a device that only accounts, what that takes. */
static gp_posterior *
run(gp_learner *l, const gp_plan *plan)
{
	gp_env	   *env = l->env;
	const gp_problem *p = l->problem;
	int32_t		c = l->targets.columns;
	gp_posterior *out = gp_learnt_open(env, p, plan);
	double	   *loo_mean = gp_alloc_figures(env, p->nlabelled, (size_t) c * sizeof(double));
	double	   *loo_variance = gp_alloc_figures(env, p->nlabelled, sizeof(double));
	double	   *room = gp_alloc_figures(env, out->nodes, (size_t) c * sizeof(double));
	int64_t		next = 0;

	l->learnt = gp_alloc_figures(env, p->nlabelled, sizeof(int32_t));
	l->place = gp_alloc_figures(env, out->nodes, sizeof(int32_t));
	l->index = gp_alloc_array(env, BATCH, sizeof(int32_t));
	l->label = gp_alloc_array(env, BATCH, sizeof(int32_t));
	l->drawn = gp_alloc_array(env, BATCH, 2 * sizeof(int32_t));
	l->net = gp_alloc(env, sizeof(gp_network));
	l->spectrum = gp_alloc(env, sizeof(gp_network));
	l->logits = gp_alloc_figures(env, BATCH, (size_t) c * sizeof(double));
	deal(l);
	hold_out(l, out->mean, room, loo_mean, loo_variance);
	choose_labels(l, NULL, -1);
	train(l, l->folds > 1 ? l->folds : 0, l->options->steps, out->mean, room);
	out->warm = l->left;
	for (int64_t i = 0; i < out->nodes && !env->dry; i++)
	{
		gp_poll(env, i * c, &next);
		out->variance[i] = l->targets.unit * l->targets.unit * l->kind->settle(l, out->mean + i * c, room + i * c);
		if (p->task == GP_TASK_VALUES)
			out->mean[i] = l->targets.offset + l->targets.unit * out->mean[i];
	}
	/* The bound is that of values in units of their spread. */
	out->log_marginal_likelihood = l->bound - (p->task == GP_TASK_VALUES ? (double) p->nlabelled * log(l->targets.unit) : 0.0);
	gp_free(env, l->fold);
	gp_free(env, l->logits);
	gp_free(env, l->spectrum);
	gp_free(env, l->net);
	gp_free(env, l->drawn);
	gp_free(env, l->label);
	gp_free(env, l->index);
	gp_free(env, l->place);
	gp_free(env, l->learnt);
	gp_free(env, room);
	gp_learnt_settle(env, p, loo_mean, loo_variance, out);
	return out;
}

/* The fit on a device that only accounts. */
static void
run_trial(gp_device *dry, void *arg)
{
	const gp_learner *l = arg;
	gp_learner		b = *l;
	gp_plan		none = {.strategy = GP_STRATEGY_NYSTROM};

	b.dev = dry;
	b.env = dry->env;
	gp_posterior_free(b.env, run(&b, &none));
}

/* The plan; refuses what does not fit, unless only an estimate was asked for. */
static gp_plan
make_plan(gp_learner *l)
{
	gp_plan		plan = {.strategy = GP_STRATEGY_NYSTROM,.nlandmarks = l->options->features};
	gp_count	taken;

	l->env->progress(l->env, GP_PHASE_PLAN, 0, 0);
	taken = gp_dry_run(l->dev, run_trial, l);
	snprintf(plan.reason, sizeof(plan.reason), "random Fourier features of two convolutions, %d cosines, %d steps: ",
			 l->options->features, l->options->steps);
	gp_plan_settle(l->dev, l->problem, &taken, "fit",
				   "Use fewer features, units or hidden units, or raise gnngp.memory_limit.",
				   &plan);
	gp_plan_explain(&plan);
	return plan;
}

/* What a fit takes. */
gp_plan
gp_gpsrf_plan(gp_device *dev, const gp_problem *problem, const gp_gpsrf *options)
{
	gp_learner		l;
	gp_plan		plan;

	gp_learnt_check(dev->env, problem, "gpsrf", true);
	l = learner_open(dev, problem, options);
	plan = make_plan(&l);
	learner_close(&l);
	return plan;
}

/* The whole fit. */
gp_posterior *
gp_gpsrf_fit(gp_device *dev, const gp_problem *problem, const gp_gpsrf *options)
{
	gp_learner		l;
	gp_plan		plan;
	gp_posterior *out;

	gp_learnt_check(dev->env, problem, "gpsrf", true);
	l = learner_open(dev, problem, options);
	plan = make_plan(&l);
	if (problem->device_for)
		l.dev = problem->device_for(problem->device_arg, dev, &plan);
	out = run(&l, &plan);
	learner_close(&l);
	return out;
}
