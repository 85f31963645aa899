/*
 * score_context.c - a graph made ready for the scores of pairs.
 *
 * The sparse matrices differ in their values and share the pattern's arrays,
 * except those with self-loops or directions.
 */
#include "scores.h"

/* The symmetric weights, the neighbours that they count, and what they add up to. */
static void
open_weights(gp_link_context *f)
{
	f->weights = gp_graph_symmetric(f->env, f->graph);
	f->degree = gp_alloc_array(f->env, f->n, sizeof(double));
	f->strength = gp_csr_row_sums(f->env, f->weights);
	for (int64_t i = 0; i < f->n; i++)
	{
		f->degree[i] = (double) (f->weights->start[i + 1] - f->weights->start[i]);
		f->volume += f->strength[i];
	}
}

/* S = D^-1/2 W D^-1/2. */
static void
make_smooth(gp_link_context *f)
{
	const double *w = f->weights->value;
	double	   *root = gp_alloc_array(f->env, f->n, sizeof(double));
	float	   *value;

	for (int64_t i = 0; i < f->n; i++)
		root[i] = f->strength[i] > 0.0 ? 1.0 / sqrt(f->strength[i]) : 0.0;
	f->smooth = *f->weights;
	f->smooth.stamp = gp_csr_stamp();
	f->smooth.type = GP_FLOAT;
	f->smooth.value = value = gp_alloc_values(f->env, gp_csr_entries(f->weights), sizeof(float));
	if (!f->env->dry)
		gp_use_large_pages(value, gp_csr_entries(f->weights) * sizeof(float));
	GP_EACH(f->env, i, gp_items(f->env, f->n), f->weights->start[i])
	{
		for (int64_t k = f->weights->start[i]; k < f->weights->start[i + 1]; k++)
			value[k] = (float) (w[k] * root[i] * root[f->weights->col[k]]);
	}
	gp_free(f->env, root);
}

/* What a node counts for as a middle of a walk. */
static void
make_middle(gp_link_context *f)
{
	float	   *host = gp_alloc_values(f->env, f->n, GP_PATH_LANES * sizeof(float));

	for (int64_t i = 0; i < gp_items(f->env, f->n); i++)
	{
		double		d = f->degree[i];
		float	   *w = host + i * GP_PATH_LANES;

		w[GP_LINK_COUNT] = 1.0f;
		w[GP_LINK_BY_DEGREE] = d > 0.0 ? (float) (1.0 / d) : 0.0f;
	}
	f->middle = gp_upload(f->dev, gp_matrix_wrap(host, f->n, GP_PATH_LANES, GP_FLOAT), GP_FLOAT);
	gp_free(f->env, host);
}

/*
 * Makes A by the symmetric weights; takes the features' means and norms from a model, or computes
 * them.
 */
static void
open_features(gp_link_context *f, const gp_link_model *model)
{
	const gp_csr *w = f->weights;
	gp_graph	symmetric = {.nodes = f->n, .start = w->start, .col = w->col, .weight = w->value};

	f->adjacency = gp_graph_normalise(f->env, &symmetric, GP_NORM_SYM, GP_FLOAT);
	if (f->x->csr)
		f->xt = gp_csr_transpose(f->env, f->x->csr);
	f->owns_statistics = model == NULL;
	if (model == NULL)
		gp_link_feature_statistics(f);
	else
	{
		f->mean = model->feature_mean;
		f->dot = model->feature_dot;
		f->norm = model->feature_norm;
	}
	for (int k = 0; k < GP_LINK_POWERS; k++)
		for (int64_t j = 0; j < gp_items(f->env, f->x->dims); j++)
			f->mean_square[k] += (double) f->mean[k * f->x->dims + j] * f->mean[k * f->x->dims + j];
}

void
gp_link_context_open(gp_link_context *f, gp_device *dev, const gp_graph *graph,
					 const gp_features *x, int32_t steps, const gp_link_model *model)
{
	*f = (gp_link_context) {.dev = dev, .env = dev->env, .graph = graph, .n = graph->nodes,
	.steps = steps, .x = x};
	f->width = gp_link_width(graph, x != NULL);
	open_weights(f);
	make_smooth(f);
	make_middle(f);
	if (graph->directed)
	{
		float	   *one = gp_alloc_array(f->env, graph->start[f->n], sizeof(float));

		for (int64_t k = 0; k < graph->start[f->n]; k++)
			one[k] = 1.0f;
		f->out = (gp_csr) {f->n, f->n, graph->start, graph->col, one, GP_FLOAT, gp_csr_stamp()};
		f->in = gp_csr_transpose(f->env, &f->out);
	}
	gp_link_autoencoder_open(f);
	gp_link_decay_open(f);
	if (x)
		open_features(f, model);
}

void
gp_link_context_open_ease(gp_link_context *f, gp_device *dev, const gp_graph *graph,
						  const bool *item, const gp_link_model *model)
{
	*f = (gp_link_context) {.dev = dev, .env = dev->env, .graph = graph, .n = graph->nodes,
		.width = 1, .ridge = model ? model->ease.ridge : 1.0};
	open_weights(f);
	gp_link_ease_open(f, item, model);
}

void
gp_link_context_close(gp_link_context *f)
{
	gp_env	   *env = f->env;

	f->dev->destroy(f->dev, &f->middle);
	gp_free_all(env, f->smooth.value, f->out.value);
	gp_csr_free(env, f->in);
	gp_csr_free(env, f->weights);
	gp_link_ease_close(f);
	gp_free_all(env, f->degree, f->strength, f->pattern.value, f->decayed, f->activity);
	gp_csr_free(env, f->adjacency);
	gp_csr_free(env, f->xt);
	if (f->owns_statistics)
		gp_free_all(env, f->mean, f->dot, f->norm);
	memset(f, 0, sizeof(*f));
}
