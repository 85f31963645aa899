/*
 * gpu_walks.c - random walks on the card: the same bits as the host's.
 */
#include "gpu.h"
#include "graph/laplacian.h"
#include "test_graphs.h"

/* One factor from the host and one from the card. */
static void
check_factor(gp_env *env, const gp_graph *graph, const gp_laplacian *kernel, size_t memory)
{
	gp_device  *dev = gpu_open(env, memory);
	gp_csr	   *host = gp_walk_factor(env, NULL, graph, kernel, 5, 1, GP_DOUBLE);
	gp_csr	   *card = gp_walk_factor(env, dev, graph, kernel, 5, 1, GP_DOUBLE);
	size_t		n = (size_t) gp_csr_entries(host);
	char		name[200];
	bool		same;

	same = memcmp(host->start, card->start, (size_t) (host->rows + 1) * sizeof(int64_t)) == 0 &&
		memcmp(host->col, card->col, n * sizeof(int32_t)) == 0 &&
		memcmp(host->value, card->value, n * sizeof(double)) == 0;
	snprintf(name, sizeof(name), "%d walks of %lld nodes, d = %d, %s, %lld anchors, %zu bytes: the host's bits",
			 kernel->walks, (long long) graph->nodes, kernel->d,
			 kernel->choice == GP_WALK_WEIGHTED ? "weighted" : "uniform", (long long) kernel->dims, memory);
	ok(same && n > 0, name);
	dev->close(dev);
}

/* Graphs small and large, all ways of choosing and cutting that the card knows. */
static void
check_factors(gp_env *env)
{
	uint64_t	state = 3;
	gp_graph   *graph[3] = {
		karate_graph(env, false, true), karate_graph(env, true, false),
		random_hub_graph(env, &state, 500, 1200, 3, 100, false)
	};

	for (int g = 0; g < 3; g++)
		for (int choice = GP_WALK_UNIFORM; choice <= GP_WALK_WEIGHTED; choice++)
			for (int dims = 0; dims <= 12; dims += 12)
			{
				gp_laplacian kernel = {
					.d = 1 + g, .sigma2 = 2.0, .walks = 33, .p_term = g == 0 ? 0.05 : 0.2,
					.choice = (gp_walk_choice) choice, .trim = GP_TRIM_ANCHORS, .dims = dims
				};

				check_factor(env, graph[g], &kernel, g == 2 ? 0 : 4096);
			}
}

/* A graph without edges, and walks that the card leaves to the host. */
static void
check_edges(gp_env *env)
{
	gp_edges   *none = gp_edges_create(env, 5, false, false);
	gp_laplacian kernel = {.d = 2, .sigma2 = 1.0, .walks = 3, .p_term = 0.5};

	check_factor(env, gp_graph_build(none), &kernel, 0);
	kernel.choice = GP_WALK_REPELLED;
	check_factor(env, karate_graph(env, false, false), &kernel, 0);
}

void
gpu_walks(void)
{
	in_env(check_factors(env));
	in_env(check_edges(env));
	ok(gpu_clean(), "walks leave nothing on the card");
}
