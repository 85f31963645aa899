/*
 * weight_check.c - whether the edges' weights say more of the labels than no weights would.
 *
 * Each labelled node is told by the mean of its labelled neighbours, with the weights, without
 * them, and with their inverses: distances, which are small where nodes are near, do best so.
 */
#include "regression.h"

#define FEWEST_NODES 50			/* with a labelled neighbour, to be sure */

/* How neighbours are weighed. */
typedef enum vote
{
	VOTE_WEIGHT,
	VOTE_PLAIN,
	VOTE_INVERSE,
	VOTES
} vote;

/* The squared error of each vote on the label at place k, by the place of each node's label;
 * false: no neighbour votes. */
static bool
vote_errors(const gp_problem *problem, const int32_t *place, int64_t k, double *error)
{
	const gp_graph *graph = problem->graph;
	int32_t		node = problem->labelled[k];
	double		sum[VOTES] = {0.0};
	double		mean[VOTES] = {0.0};

	for (int64_t e = graph->start[node]; e < graph->start[node + 1]; e++)
	{
		int32_t		other = place[graph->col[e]];
		double		w = graph->weight[e];
		const double by[VOTES] = {w, 1.0, 1.0 / w};

		if (other < 0 || !(w > 0.0))
			continue;
		double		value = problem->label ? problem->label[other] == problem->label[k] :
			problem->target[other];
		for (int v = 0; v < VOTES; v++)
		{
			sum[v] += by[v];
			mean[v] += by[v] * value;
		}
	}
	for (int v = 0; v < VOTES; v++)
	{
		double		off = mean[v] / sum[v] - (problem->label ? 1.0 : problem->target[k]);

		error[v] = off * off;
	}
	return sum[VOTE_PLAIN] > 0.0 && isfinite(error[VOTE_WEIGHT]) && isfinite(error[VOTE_INVERSE]);
}

void
gp_notice_weights(gp_env *env, const gp_problem *problem)
{
	int64_t		nodes = problem->graph->nodes;
	int64_t		n = 0;
	double	   *loss[VOTES];

	if (problem->graph->weight == NULL || problem->nlabelled < FEWEST_NODES)
		return;
	int32_t    *place = gp_alloc_array(env, nodes, sizeof(int32_t));
	for (int v = 0; v < VOTES; v++)
		loss[v] = gp_alloc_array(env, problem->nlabelled, sizeof(double));
	for (int64_t i = 0; i < nodes; i++)
		place[i] = -1;
	for (int64_t k = 0; k < problem->nlabelled; k++)
		place[problem->labelled[k]] = (int32_t) k;
	GP_EACH(env, k, problem->nlabelled, problem->graph->start[problem->labelled[k]])
	{
		double		error[VOTES];

		if (!vote_errors(problem, place, k, error))
			continue;
		for (int v = 0; v < VOTES; v++)
			loss[v][n] = error[v];
		n++;
	}
	if (n >= FEWEST_NODES && gp_loss_gain(loss[VOTE_PLAIN], loss[VOTE_WEIGHT], n) > GP_SURE)
		gp_notice(env, gp_loss_gain(loss[VOTE_INVERSE], loss[VOTE_PLAIN], n) > GP_SURE ?
				  "They look like distances, but larger must mean nearer: use a view with the inverse." :
				  "Compare with a graph without the weight column.",
				  "labelled neighbours predict a label worse with the edges' weights than without them");
	gp_free_all(env, place, loss[VOTE_WEIGHT], loss[VOTE_PLAIN], loss[VOTE_INVERSE]);
}
