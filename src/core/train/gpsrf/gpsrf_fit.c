/*
 * gpsrf_fit.c - structure-aware random Fourier kernels: the steps, the trainings, the fit.
 *
 * Steps of two kinds take turns (Fang, Zhu, Liu and Wang 2021): one with A's posterior and the
 * network, by the likelihood of the labels less the divergence over the number of classes; one with
 * the frequencies and the network, by the likelihood of the labels and of nodes that are sure of
 * their class.
 */
#include "gpsrf.h"

#include <stdio.h>

#define FOLDS 5
#define CLIP 5.0
#define POSTERIOR_RATE 5e-4
#define FREQUENCIES_RATE 1.5e-3

static void
learner_open(void *state, gp_device *dev, const gp_problem *problem, const void *options)
{
	gp_env	   *env = dev->env;
	const gp_graph *graph = problem->graph;
	gp_gpsrf_learner *l = state;

	*l = (gp_gpsrf_learner) {.dev = dev,.env = env,.options = options,.problem = problem,
	.classes = problem->task == GP_TASK_CLASSES};
	l->x = problem->features ? gp_features_unit(env, problem->features, problem->type, GP_ROW_SUM) :
		gp_features_identity(env, problem->graph->nodes, problem->type);
	if (l->x->csr)
		l->x_transposed = gp_csr_transpose(env, l->x->csr);
	l->average = gp_gpsrf_average(env, graph, problem->type);
	l->average_transposed = gp_csr_transpose(env, l->average);
}

static void
learner_close(void *state)
{
	gp_gpsrf_learner *l = state;

	gp_csr_free(l->env, l->average_transposed);
	gp_csr_free(l->env, l->average);
	gp_csr_free(l->env, l->x_transposed);
	gp_features_free(l->env, l->x);
}

/* ---- steps ---- */

static void
step_frequencies(gp_gpsrf_learner *l)
{
	gp_matrix	gradient = gp_network_gradient(l->spectrum);
	int64_t		nlabels = gp_gpsrf_batch(l, true);

	gp_trainer_clear(&l->t);
	l->dev->fill(l->dev, gradient, 0.0);
	l->head->cosines.frequency_gradient = &gradient;
	gp_network_forward(&l->t, l->net, l->net->n);
	gp_gpsrf_likelihood(l, nlabels, true);
	gp_network_backward(&l->t, l->net);
	gp_network_backward(&l->t, l->spectrum);
	gp_trainer_step(&l->t, GP_GPSRF_FREQUENCIES, FREQUENCIES_RATE);
	gp_network_forward(&l->t, l->spectrum, l->spectrum->n);
}

/* All steps: first some with the posterior alone.  A dry run makes one of each kind for all. */
static void
run_steps(gp_gpsrf_learner *l, int64_t first, int64_t steps)
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
		int64_t		nlabels = gp_gpsrf_batch(l, false);

		gp_trainer_clear(&l->t);
		l->head->cosines.frequency_gradient = NULL;
		gp_network_forward(&l->t, l->net, l->net->n);
		double		ll = gp_gpsrf_likelihood(l, nlabels, false);
		if (dry || k + 1 == first + steps)
			l->bound = ll * (double) l->nlearnt - gp_weights_divergence(&l->t, &l->head->weights);
		gp_network_backward(&l->t, l->net);
		gp_network_prior(&l->t, l->net, divergence);
		gp_trainer_step(&l->t, GP_GPSRF_POSTERIOR, POSTERIOR_RATE);
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
train(gp_gpsrf_learner *l, int fold, int64_t steps, double *logit, double *variance)
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
	gp_gpsrf_networks_open(l);
	gp_matrix	mean = gp_trainer_matrix(&l->t, n, c, l->t.type);
	gp_matrix	square = gp_trainer_matrix(&l->t, n, c, l->t.type);
	run_steps(l, first_of(steps), steps);
	/* predictions */
	gp_gpsrf_all_nodes(l);
	gp_network_forward(&l->t, l->net, l->head->number);
	gp_cosines_predict(&l->t, l->head, l->head[-1].value, mean, square);
	dev->download(dev, gp_matrix_wrap(logit, n, c, GP_DOUBLE), mean);
	dev->download(dev, gp_matrix_wrap(variance, n, c, GP_DOUBLE), square);
	l->deviation = exp(gp_parameter_number(&l->t, &l->noise));
	gp_trainer_close(&l->t);
}

/* The predictions of each label by a training that has not seen it; room is of nodes x columns. */
static void
hold_out(gp_gpsrf_learner *l, int64_t steps, double *logit, double *room, double *loo_mean,
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
				loo_variance[k] = gp_gpsrf_to_posterior(l, loo_mean + k * c, room + at);
			}
	}
}

static void *
learner_run(void *state, gp_device *dev, const gp_plan *plan)
{
	gp_gpsrf_learner *l = state;
	const gp_problem *p = l->problem;
	gp_env	   *env = l->env = dev->env;
	gp_posterior *out = gp_posterior_begin(env, p, plan, &l->targets);
	int32_t		c = l->targets.columns;
	double		unit = l->targets.unit;
	int64_t		steps = l->options->steps;
	double	   *loo_mean = gp_alloc_values(env, p->nlabelled, (size_t) c * sizeof(double));
	double	   *loo_variance = gp_alloc_values(env, p->nlabelled, sizeof(double));
	double	   *room = gp_alloc_values(env, out->nodes, (size_t) c * sizeof(double));
	double	   *share = gp_alloc_zero(env, c, sizeof(double));	/* of nodes */

	l->dev = dev;
	l->learnt = gp_alloc_values(env, p->nlabelled, sizeof(int32_t));
	l->place = gp_alloc_values(env, out->nodes, sizeof(int32_t));
	for (int k = 0; k < 2; k++)
		l->needed[k] = gp_alloc_array(env, out->nodes, sizeof(int32_t));
	l->number = gp_alloc_array(env, out->nodes, sizeof(int32_t));
	l->index = gp_alloc_array(env, GP_GPSRF_BATCH, sizeof(int32_t));
	l->label = gp_alloc_array(env, GP_GPSRF_BATCH, sizeof(int32_t));
	l->drawn = gp_alloc_array(env, GP_GPSRF_BATCH, 2 * sizeof(int32_t));
	l->net = gp_alloc(env, sizeof(gp_network));
	l->spectrum = gp_alloc(env, sizeof(gp_network));
	l->logits = gp_alloc_values(env, GP_GPSRF_BATCH, (size_t) c * sizeof(double));
	l->folds = (int) gp_min64(FOLDS, p->nlabelled);
	l->fold = gp_folds_deal(env, p->nlabelled, p->label, l->folds, p->seed);
	l->total = (steps + first_of(steps)) * (l->folds > 1 ? l->folds + 1 : 1);
	hold_out(l, steps, out->mean, room, loo_mean, loo_variance);
	/* no label is of the fold behind the last one */
	train(l, l->folds, steps, out->mean, room);
	GP_EACH(env, i, gp_items(env, out->nodes), i * c)
	{
		out->variance[i] = unit * unit * gp_gpsrf_to_posterior(l, out->mean + i * c, room + i * c);
		for (int32_t j = 0; l->classes && j < c; j++)
			share[j] += out->mean[i * c + j] / (double) out->nodes;
		if (!l->classes)
			out->mean[i] = gp_target_value(&l->targets, out->mean[i]);
	}
	gp_free_all(env, l->fold, l->logits, l->spectrum, l->net, l->drawn, l->label, l->index,
				l->place, l->learnt, l->needed[0], l->needed[1], l->number, room);
	gp_solution	solution = gp_solution_of_scores(env, p, &l->targets, loo_mean, loo_variance, out);
	solution.node_share = share;
	/* the bound is that of values in units of their deviation */
	solution.log_marginal_likelihood = l->bound - (l->classes ? 0.0
											   : (double) p->nlabelled * log(unit));
	gp_posterior_end(dev, p, &l->targets, &solution, out);
	gp_free(env, share);
	return out;
}

static void
learner_describe(const void *state, gp_plan *plan)
{
	const gp_gpsrf *o = ((const gp_gpsrf_learner *) state)->options;

	plan->nlandmarks = o->features;
	snprintf(plan->reason, sizeof(plan->reason),
			 "random Fourier features of two convolutions, %d cosines, %d steps: ", o->features,
			 o->steps);
}

const gp_method gp_method_gpsrf = {
	.name = "gpsrf",.text = &gp_gpsrf_text,.what = "fit",
	.hint = "Use fewer features, units or hidden units, or raise gnngp.memory_limit.",
	.labels = true,.values = true,.state = sizeof(gp_gpsrf_learner),.open = learner_open,
	.run = learner_run,.describe = learner_describe,.close = learner_close
};
