/*
 * gpsrf_network.c - the network of nodes, two graph convolutions and cosines of them, and the
 * network that gives the cosines their frequencies.
 */
#include "gpsrf.h"

/* The least weight of a node itself: of one among 22 neighbours drawn with replacement */
#define OWN_WEIGHT (1.0 / 23.0)
#define SPECTRUM_UNITS 64

gp_csr *
gp_gpsrf_average(gp_env *env, const gp_graph *graph, gp_type type)
{
	gp_csr	   *average = gp_graph_normalise(env, graph, GP_NORM_NONE, type);

	GP_EACH(env, i, graph->nodes, average->start[i])
	{
		int64_t		edge = graph->start[i];
		double		neighbours = (double) (graph->start[i + 1] - edge);
		/* One neighbour says little more of a node than its own features do. */
		double		self = fmax(OWN_WEIGHT, 1.0 / (1.0 + neighbours * neighbours));
		double		degree = 0.0;

		for (int64_t k = edge; k < graph->start[i + 1]; k++)
			degree += graph->weight ? graph->weight[k] : 1.0;
		for (int64_t k = average->start[i]; k < average->start[i + 1]; k++)
		{
			bool		own = average->col[k] == i;
			double		weight = own || !graph->weight ? 1.0 : graph->weight[edge];

			edge += !own;
			gp_number_put(average->value, type, k, degree > 0.0 ?
						  own ? self : (1.0 - self) * weight / degree : own);
		}
	}
	return average;
}

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
add_average(gp_gpsrf_learner *l)
{
	gp_operation *op = gp_network_add(&l->t, l->net, &gp_operation_propagate);

	l->sum[l->sum[0] != NULL] = op;
	gp_network_add(&l->t, l->net, &gp_operation_relu);
}

/* A number e_m of each frequency, 64 and 64 units, mu and log sigma. */
static void
open_spectrum(gp_gpsrf_learner *l)
{
	const gp_gpsrf *o = l->options;
	gp_trainer *t = &l->t;
	unsigned	alone = 1u << GP_GPSRF_FREQUENCIES;

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
	gp_fill_normal(t, l->spectrum->input, gp_trainer_seed(t, GP_GPSRF_DRAW_SPECTRUM, false), 1.0);
}

void
gp_gpsrf_networks_open(gp_gpsrf_learner *l)
{
	const gp_gpsrf *o = l->options;
	gp_trainer *t = &l->t;
	unsigned	both = 1u << GP_GPSRF_POSTERIOR | 1u << GP_GPSRF_FREQUENCIES;

	open_spectrum(l);
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
	op->groups = 1u << GP_GPSRF_POSTERIOR;
	op->width = l->targets.columns;
	op->cosines.count = o->features;
	op->cosines.amplitude = 1.0;
	op->cosines.frequency = &l->spectrum->operation[l->spectrum->n - 1].value;
	gp_network_open(t, l->net, l->x->rows, l->x->dims);
	gp_fill_uniform(t, op->cosines.phase, gp_trainer_seed(t, GP_GPSRF_DRAW_PHASE, false), M_PI);
	gp_fill_normal(t, op->cosines.draw, gp_trainer_seed(t, GP_GPSRF_DRAW_WEIGHTS, false),
				   sqrt(1.0 / 5.0));
	gp_parameter_make(t, &l->noise, 1, 1, both, 0.0);
}
