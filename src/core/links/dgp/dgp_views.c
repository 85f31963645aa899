/*
 * dgp_views.c - the graph without a fold of its links, and what a node's inputs are then.
 *
 * Inputs are numbers of the features, or of random walks, and the node's degree.  What comes from
 * the graph is made for each view: a link would show in it.  Singular vectors are known up to a
 * rotation, so those of all views are rotated onto the first.
 */
#include "dgp.h"

#define COMPONENTS 128			/* of features */
#define WALK_COMPONENTS 64		/* at most; one for each so many nodes, for more overfit */
#define NODES_OF_A_COMPONENT 8
#define DEGREE_WEIGHT 0.3
#define MOST_LINKS 32768		/* of a step */

/* ---- views ---- */

static void
open_view(gp_dgp_training *d, gp_dgp_view *v, const gp_graph *graph)
{
	v->graph = graph;
	v->op = gp_graph_normalise(d->env, graph, GP_NORM_SYM, d->type);
	v->transposed = graph->directed ? gp_csr_transpose(d->env, v->op) : v->op;
}

void
gp_dgp_views_open(gp_dgp_training *d, const gp_graph *graph)
{
	gp_env	   *env = d->env;
	/* in the order of their hashes */
	gp_link_pairs all = gp_link_sample_links(env, graph, gp_hash(d->problem->seed), graph->edges);
	int64_t		most = 0;

	memset(d->view, 0, sizeof(d->view));
	d->folds = (int) gp_min64(GP_DGP_FOLDS, all.n);
	open_view(d, &d->view[0], graph);
	for (int f = 0; f < d->folds; f++)
	{
		gp_dgp_view *v = &d->view[1 + f];
		int64_t		first = f * all.n / d->folds;
		int64_t		n = (f + 1) * all.n / d->folds - first;

		v->links = gp_link_pairs_create(env, n);
		gp_link_pairs_append(&v->links, &all, first, n);
		v->own = gp_graph_without(env, graph, v->links.n, v->links.src, v->links.dst);
		open_view(d, v, v->own);
		most = gp_max64(most, v->links.n);
	}
	/* The room is that of the graph with all links, which has at most one more link in a fold. */
	if (d->most == 0)
		d->most = 2 * gp_min64(most + d->problem->graph->edges - graph->edges + 1, MOST_LINKS);
	gp_link_pairs_free(env, &all);
}

void
gp_dgp_views_close(gp_dgp_training *d)
{
	for (int k = 0; k <= d->folds; k++)
	{
		gp_dgp_view *v = &d->view[k];

		if (v->transposed != v->op)
			gp_csr_free(d->env, v->transposed);
		gp_csr_free(d->env, v->op);
		if (v->own)
			gp_graph_free(d->env, v->own);
		gp_link_pairs_free(d->env, &v->links);
		d->dev->destroy(d->dev, &v->inputs);
	}
	d->folds = -1;
}

/* ---- inputs ---- */

/* The logarithms of 1 + degree, standardised, times their weight. */
static void
fill_degrees(gp_dgp_training *d, const gp_graph *graph, gp_matrix column)
{
	int64_t		n = d->nodes;
	double	   *z = gp_alloc_array(d->env, n, sizeof(double));
	double		mean = 0.0;
	double		square = 0.0;

	GP_EACH(d->env, i, n, i)
	{
		z[i] = log1p((double) (graph->start[i + 1] - graph->start[i]));
		mean += z[i] / (double) n;
		square += z[i] * z[i] / (double) n;
	}
	square = sqrt(fmax(square - mean * mean, 0.0));
	for (int64_t i = 0; i < n; i++)
		z[i] = square > 0.0 ? DEGREE_WEIGHT * (z[i] - mean) / square : 0.0;
	d->dev->upload(d->dev, column, gp_matrix_wrap(z, n, 1, GP_DOUBLE));
	gp_free(d->env, z);
}

/* Scales q so that its rows' mean squared length is the number of its columns, into out. */
static void
scale_inputs(gp_dgp_training *d, gp_matrix q, gp_matrix out)
{
	gp_device  *dev = d->dev;
	double		square = gp_product_sum(&d->t, q, q);

	if (square > 0.0)
		dev->axpby(dev, sqrt((double) q.rows * (double) q.cols / square), q, 0.0, q);
	dev->copy(dev, out, q);
}

void
gp_dgp_inputs_again(gp_dgp_training *d)
{
	gp_device  *dev = d->dev;
	int64_t		own = d->x ? 1 : d->input.cols;

	for (int k = 0; k <= d->folds; k++)
	{
		gp_dgp_view *v = &d->view[k];

		v->inputs = dev->create(dev, d->nodes, own, GP_FLOAT);
		if (d->x == NULL)
		{
			gp_matrix	q = gp_inputs_of_walks(dev, v->graph, own - 1, d->problem->seed);

			/* rotated onto the frame, which the first ones become */
			if (d->frame.rows > 0)
				q = gp_inputs_turn(dev, &q, d->frame);
			else
			{
				d->frame = gp_trainer_matrix(&d->t, q.rows, q.cols, GP_DOUBLE);
				dev->copy(dev, d->frame, q);
			}
			scale_inputs(d, q, gp_matrix_cols(v->inputs, 0, own - 1));
			dev->destroy(dev, &q);
		}
		fill_degrees(d, v->graph, gp_matrix_cols(v->inputs, own - 1, 1));
	}
}

void
gp_dgp_inputs_open(gp_dgp_training *d)
{
	gp_device  *dev = d->dev;
	int64_t		count = d->x ? gp_min64(COMPONENTS, d->x->dims) :
		gp_min64(WALK_COMPONENTS, gp_max64(1, d->nodes / NODES_OF_A_COMPONENT));

	d->frame = (gp_matrix) {0};
	d->input = gp_trainer_matrix(&d->t, d->nodes, count + 1, d->type);
	if (d->x)
	{
		gp_matrix	q = gp_inputs_of_features(dev, d->x, count, d->problem->seed);
		scale_inputs(d, q, gp_matrix_cols(d->input, 0, count));
		dev->destroy(dev, &q);
	}
	gp_dgp_inputs_again(d);
}

void
gp_dgp_use(gp_dgp_training *d, const gp_dgp_view *view)
{
	int64_t		own = view->inputs.cols;

	d->dev->copy(d->dev, gp_matrix_cols(d->input, d->input.cols - own, own), view->inputs);
	for (int l = 0; l < d->options.layers; l++)
	{
		d->layer[l][1].mix.matrix = view->op;
		d->layer[l][1].mix.transposed = view->transposed;
	}
}
