/*
 * dgp_fit.c - a deep graph convolutional Gaussian process of links: its views of the graph, its
 * steps, its fit (Opolka and Lio 2022).
 *
 *		F_l = G_(l-1) M_l + Phi_l A_l',  Phi_l = a_l sqrt(2/M) cos(G_(l-1) diag(1/len_l) O_l + b_l),
 *		G_l = F_l, its groups of columns summed over neighbours 0, 1, 2 times,  A_l ~ N(0, I)
 *
 * Random features stand for the inducing points of the paper, so that no layer has a factor or
 * jitter.  A link that lies in the graph while it is learnt vouches for itself: each step
 * convolves over a graph without a fold of the links, and learns from those.  A tenth of all links
 * is never learnt from until the figures are known; the last steps then learn from them, too.
 */
#include "dgp.h"
#include "links/scores/scores.h"

#include <stdio.h>

#define HIDDEN_SHARE 0.1		/* of all links, for the figures */
#define MOST_HIDDEN 5000
#define LAST_SHARE 0.1			/* of the steps, with all links */
#define SLOW_SHARE 0.3			/* of the steps, whose rate is SLOW times less */
#define SLOW 0.3
#define SAMPLES 32				/* of all layers, for the moments */
#define SAMPLE_STEP (INT64_C(1) << 40)	/* steps that no training takes: draws for the moments */
#define POLL_ROWS 1024
#define FEW_NODES 1000
#define MANY_NODES 20000

/* The seeds of what is drawn. */
enum
{
	DRAW_MISSING = 630,
	DRAW_WINDOW = 640
};

/* ---- steps ---- */

/*
 * The pairs of a step: the links that a view hides, or a window of them, and as many without a
 * link, if there are.
 */
static void
draw_pairs(gp_dgp_training *d, const gp_dgp_view *view)
{
	int64_t		links = gp_min64(view->links.n, d->most / 2);
	gp_link_draws draws = gp_link_draws_open(d->env, d->view[0].graph,
											 gp_trainer_seed(&d->t, DRAW_MISSING, true), links,
											 d->rules);
	double		at = gp_element_uniform(gp_trainer_seed(&d->t, DRAW_WINDOW, true), 0);
	int64_t		first = links < view->links.n ? (int64_t) (at * (double) view->links.n) : 0;
	int64_t		n = d->env->dry ? 2 * links : links;

	for (int64_t e = 0; e < gp_items(d->env, links); e++)
	{
		int64_t		k = (first + e) % view->links.n;

		d->end[e] = view->links.src[k];
		d->second[e] = view->links.dst[k];
		d->linked[e] = true;
	}
	while (n < 2 * links && gp_link_draw(&draws, &d->end[n], &d->second[n]))
		d->linked[n++] = false;
	if (!d->env->dry)
		memcpy(d->end + n, d->second, n * sizeof(int32_t));
	gp_pairs_set(&d->t, d->pairs, n);
}

/* One step with the links that a view hides. */
static void
step(gp_dgp_training *d, const gp_dgp_view *view, double rate)
{
	gp_device  *dev = d->dev;
	double		ll;

	gp_dgp_use(d, view);
	draw_pairs(d, view);
	gp_dgp_noise(d);
	gp_trainer_clear(&d->t);
	gp_network_forward(&d->t, d->network, d->network->n);
	gp_matrix	value = gp_network_value(d->network);
	gp_matrix	host = gp_matrix_wrap(d->r, value.rows, 1, GP_DOUBLE);
	dev->download(dev, host, value);
	ll = gp_logistic(d->env, value.rows, d->linked, 1.0 / (double) gp_max64(value.rows, 1), d->r);
	if (!d->env->dry && !isfinite(ll))
		gp_raise(d->env, GP_ERR_RANGE, "Use a lower rate, or scale the features to ordinary sizes.",
				 "the training of method dgp is out of range at step %lld", (long long) d->t.step + 1);
	d->env->objective = ll;
	dev->upload(dev, gp_network_gradient(d->network), host);
	gp_network_backward(&d->t, d->network);
	gp_network_prior(&d->t, d->network, 0.5 / (double) d->view[0].graph->edges);
	gp_trainer_step(&d->t, 0, rate);
}

/* So many steps, fold after fold.  A dry run makes one for all. */
static void
train(gp_dgp_training *d, int64_t steps)
{
	gp_env	   *env = d->env;
	int64_t		total = d->options.steps;
	gp_count	before = {0};

	if (env->dry)
		before = gp_dry_count(d->dev);
	for (int64_t k = 0; k < (env->dry ? 1 : steps); k++)
	{
		double		slow = (double) d->t.step >= (1.0 - SLOW_SHARE) * (double) total ? SLOW : 1.0;

		env->check_interrupts(env);
		env->progress(env, GP_PHASE_TRAIN, d->t.step, total);
		step(d, &d->view[1 + k % d->folds], slow * d->options.rate);
		d->t.step++;
	}
	if (env->dry)
		gp_dry_repeat(d->dev, &before, (double) (steps - 1));
}

/* ---- moments ---- */

/*
 * Means and variances of all nodes by samples over the whole view, and the readout, whose weights
 * are worked in.
 */
static void
estimate_moments(gp_dgp_training *d, gp_link_model *model)
{
	gp_env	   *env = d->env;
	int64_t		step = d->t.step;
	int64_t		width = d->options.units;
	gp_matrix	value = d->network->operation[d->network->n - 2].value;
	double	   *sum = gp_alloc_values(env, d->nodes, (size_t) width * sizeof(double));
	double	   *square = gp_alloc_values(env, d->nodes, (size_t) width * sizeof(double));
	double	   *host = gp_alloc_array(env, POLL_ROWS * width, sizeof(double));
	double	   *w = gp_alloc_zero(env, width, sizeof(double));
	bool		sound = true;

	gp_dgp_use(d, &d->view[0]);
	for (int s = 0; s < SAMPLES; s++)
	{
		d->t.step = SAMPLE_STEP + s;
		gp_dgp_noise(d);
		gp_network_forward(&d->t, d->network, d->network->n - 1);
		for (gp_band band = gp_band_first(value.rows, POLL_ROWS); band.count > 0;
			 gp_band_next(&band))
		{
			double	   *to = sum + gp_items(env, band.first * width);
			double	   *to_square = square + gp_items(env, band.first * width);

			env->check_interrupts(env);
			d->dev->download(d->dev, gp_matrix_wrap(host, band.count, width, GP_DOUBLE),
							 gp_matrix_rows(value, band.first, band.count));
			for (int64_t k = 0; k < gp_items(env, band.count * width); k++)
			{
				to[k] = (s == 0 ? 0.0 : to[k]) + host[k];
				to_square[k] = (s == 0 ? 0.0 : to_square[k]) + host[k] * host[k];
			}
		}
	}
	d->t.step = step;
	d->dev->download(d->dev, gp_matrix_wrap(w, 1, width, GP_DOUBLE), gp_dgp_readout(d, model));
	GP_EACH(env, k, gp_items(env, d->nodes * width), k)
	{
		double		mean = sum[k] / SAMPLES;
		double		variance = fmax(square[k] / SAMPLES - mean * mean, 0.0) * SAMPLES /
			(SAMPLES - 1);

		model->node.row[k] = (float) (mean * w[k % width]);
		model->node.variance[k] = (float) (variance * w[k % width] * w[k % width]);
		sound = sound && isfinite(model->node.row[k]) && isfinite(model->node.variance[k]);
	}
	if (!sound)
		gp_raise(env, GP_ERR_RANGE, "Use a lower rate, or scale the features to ordinary sizes.",
				 "the training of method dgp is out of range after step %lld", (long long) d->t.step);
	gp_free_all(env, w, host, square, sum);
}

/* ---- the fit ---- */

/* What the hidden links say of the model as it is, and the curve through them. */
static void
judge(gp_dgp_training *d, const gp_link_prepared *prepared, const gp_link_fold *hidden,
	  gp_link_model *model)
{
	gp_env	   *env = d->env;
	const gp_link_problem *p = d->problem;
	gp_link_fold fold = *hidden;
	gp_link_trial trial = gp_link_trial_open(env, &model->held);

	fold.rivals = gp_link_rivals_make(env, p->graph, hidden, GP_LINK_RANKED, p->seed, prepared);
	fold.calibration = gp_link_calibration_pairs_make(env, model, hidden, NULL,
													  gp_link_calibration_nodes(p->graph, 1),
													  p->seed);
	gp_link_pairs pairs = gp_link_pairs_concat(env, &fold.rivals.pairs, &fold.calibration.pairs);
	gp_link_row *row = gp_alloc_zero(env, pairs.n, sizeof(gp_link_row));
	double	   *score = gp_alloc_zero(env, pairs.n, sizeof(double));

	gp_link_dgp_posterior(env, model, gp_items(env, hidden->pairs.n), trial.row);
	for (int64_t e = 0; e < pairs.n; e++)
		row[e] = (gp_link_row) {.src = pairs.src[e],.dst = pairs.dst[e]};
	gp_link_dgp_posterior(env, model, gp_items(env, pairs.n), row);
	for (int64_t e = 0; e < pairs.n; e++)
		score[e] = row[e].score;
	gp_link_trial_rank(env, &trial, &fold, 0, score);
	gp_link_trial_judge(env, &trial, &fold, 1, p->missing_share, model);
	gp_link_trial_free(env, &trial);
	gp_free_all(env, score, row);
	gp_link_pairs_free(env, &pairs);
	gp_link_calibration_pairs_free(env, &fold.calibration);
	gp_link_rivals_free(env, &fold.rivals);
}

/* Makes what a training has beside its views; all of it is the trainer's. */
static void
training_open(gp_dgp_training *d, gp_device *dev)
{
	gp_trainer *t = &d->t;

	d->dev = dev;
	d->env = dev->env;
	*t = gp_trainer_open(dev, d->type, d->problem->seed);
	t->training = true;
	d->end = gp_trainer_own(t, gp_alloc_array(d->env, 2 * d->most, sizeof(int32_t)));
	d->second = gp_trainer_own(t, gp_alloc_array(d->env, d->most, sizeof(int32_t)));
	d->linked = gp_trainer_own(t, gp_alloc_array(d->env, d->most, sizeof(bool)));
	d->r = gp_trainer_own(t, gp_alloc_array(d->env, d->most, sizeof(double)));
	d->network = gp_trainer_own(t, gp_alloc(d->env, sizeof(gp_network)));
	gp_dgp_inputs_open(d);
	gp_dgp_network_open(d);
}

/* The links that are hidden for the figures, as a fold. */
static gp_link_fold
hide_links(gp_env *env, const gp_link_problem *problem)
{
	const gp_graph *graph = problem->graph;
	int64_t		share = gp_max64(llround(HIDDEN_SHARE * (double) graph->edges), 1);
	gp_link_pairs links;

	gp_link_require_two(env, graph);
	links = gp_link_sample_links(env, graph, problem->seed, gp_min64(share, MOST_HIDDEN));
	gp_link_fold fold = gp_link_fold_hide(env, graph, problem->seed, &links, &links, links.n);
	gp_link_pairs_free(env, &links);
	return fold;
}

/* What the user leaves open, by rules that were measured on graphs of 300 to 3,000 nodes. */
static gp_dgp
default_options(const gp_dgp *asked, int64_t nodes, bool features)
{
	gp_dgp		o = *asked;

	if (o.layers == 0)
		o.layers = o.inducing > 0 ? 3 : 2;
	if (o.units == 0)
		o.units = o.inducing > 0 ? 33 : features ? 128 : 63;
	if (o.steps == 0)
		o.steps = features ? (nodes < MANY_NODES ? 300 : 150) : nodes < FEW_NODES ? 1000 :
			nodes < MANY_NODES ? 500 : 150;
	if (o.rate == 0.0)
		o.rate = features || nodes < FEW_NODES ? 0.02 : 0.03;
	return o;
}

/* The graph without directions; owned by the caller. */
static gp_graph *
forget_directions(gp_env *env, const gp_graph *graph)
{
	gp_edges   *edges = gp_edges_create(env, graph->nodes, false, graph->weight != NULL);

	GP_EACH(env, i, graph->nodes, graph->start[i] + i)
	{
		int32_t		node = (int32_t) i;

		for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
			gp_edges_add(edges, 1, &node, &graph->col[k], graph->weight ? &graph->weight[k] : NULL);
	}
	return gp_graph_build(edges);
}

/* What a fit works with: a training, its views of the graph without the links that it hides. */
typedef struct dgp_fit
{
	gp_dgp_training d;
	gp_link_problem problem;	/* of the graph without directions */
	gp_graph   *undirected;		/* NULL: that of the problem */
	gp_link_prepared prepared;
	gp_link_fold hidden;
} dgp_fit;

static void
dgp_open(void *state, gp_device *dev, const gp_problem *p, const void *options)
{
	gp_env	   *env = dev->env;
	dgp_fit    *fit = state;
	gp_dgp_training *d = &fit->d;

	fit->problem = *(const gp_link_problem *) options;
	if (p->graph->directed)
		fit->problem.graph = fit->undirected = forget_directions(env, p->graph);
	*d = (gp_dgp_training) {.dev = dev,.env = env,.problem = &fit->problem,
							.nodes = p->graph->nodes,.folds = -1};
	fit->hidden = hide_links(env, &fit->problem);
	fit->prepared = gp_link_prepared_make(env, fit->problem.graph, &fit->hidden, 1);
	d->rules = fit->prepared.rules;
	d->options = default_options(fit->problem.dgp ? fit->problem.dgp : &gp_dgp_defaults, d->nodes,
								 p->features != NULL);
	d->type = d->options.inducing > 0 ? GP_DOUBLE : GP_FLOAT;
	if (p->features)
		d->x = gp_link_features_prepare(env, p->features, p->seed);
	gp_dgp_views_open(d, fit->hidden.graph);
}

/*
 * Views of all links take the place of those without the hidden ones.  A dry run keeps these, and
 * accounts for the hidden links in the others and for what making them takes.
 */
static void
see_all_links(dgp_fit *fit)
{
	gp_dgp_training *d = &fit->d;
	gp_env	   *env = d->env;
	int64_t		edges = fit->problem.graph->edges;

	if (env->dry)
	{
		int64_t		hidden = 2 * (edges - d->view[0].graph->edges) * (d->folds + 1);

		gp_trainer_own(&d->t, gp_alloc_values(env, hidden, sizeof(int64_t) + 2 * sizeof(float) +
											 gp_type_size(d->type)));
		gp_free(env, gp_alloc_values(env, edges + d->nodes, 8 * sizeof(int64_t)));
		for (int k = 0; k <= d->folds; k++)
			d->dev->destroy(d->dev, &d->view[k].inputs);
	}
	else
	{
		gp_dgp_views_close(d);
		gp_link_fold_free(env, &fit->hidden);
		gp_dgp_views_open(d, fit->problem.graph);
	}
	gp_dgp_inputs_again(d);
}

static void *
dgp_run(void *state, gp_device *dev, const gp_plan *plan)
{
	dgp_fit    *fit = state;
	gp_dgp_training *d = &fit->d;
	gp_env	   *env = dev->env;
	int64_t		last = (int64_t) ceil(LAST_SHARE * d->options.steps);
	gp_link_model *model = gp_link_model_begin(env, &fit->prepared, GP_LINK_DGP,
											   fit->problem.graph);

	d->problem = &fit->problem;
	model->node.width = d->options.units;
	model->node.row = gp_alloc_values(env, d->nodes, model->node.width * sizeof(float));
	model->node.variance = gp_alloc_values(env, d->nodes, model->node.width * sizeof(float));
	/* without the hidden links, for the figures */
	training_open(d, dev);
	train(d, d->options.steps - last);
	estimate_moments(d, model);
	judge(d, &fit->prepared, &fit->hidden, model);
	see_all_links(fit);
	train(d, last);
	estimate_moments(d, model);
	model->pairs = fit->problem.graph->edges;
	if (env->dry)
		for (int k = 0; k <= d->folds; k++)
			dev->destroy(dev, &d->view[k].inputs);
	gp_trainer_close(&d->t);
	env->progress(env, GP_PHASE_KERNEL, 0, 0);
	model->code = gp_link_row_codes(dev, d->nodes, model->node.width, model->node.row,
									fit->problem.seed);
	model->owns_graph = fit->undirected && !env->dry;
	if (model->owns_graph)
		fit->undirected = NULL;
	return gp_link_model_end(dev, &fit->problem, &fit->prepared, model);
}

static void
dgp_describe(const void *state, gp_plan *plan)
{
	const dgp_fit *fit = state;

	snprintf(plan->reason, sizeof(plan->reason), "links by a deep Gaussian process, %d steps: ",
			 fit->d.options.steps);
}

static void
dgp_close(void *state)
{
	dgp_fit    *fit = state;
	gp_env	   *env = fit->d.env;

	gp_dgp_views_close(&fit->d);
	gp_link_fold_free(env, &fit->hidden);
	gp_features_free(env, fit->d.x);
	gp_link_prepared_free(env, &fit->prepared);
	gp_graph_free(env, fit->undirected);
}

const gp_method gp_method_dgp = {
	.name = "dgp",.what = GP_LINK_WHAT,
	.hint = "Take fewer units or features, raise gnngp.memory_limit, or fit a part of the graph.",
	.state = sizeof(dgp_fit),.open = dgp_open,.run = dgp_run,.release = gp_link_release,
	.describe = dgp_describe,.close = dgp_close
};
