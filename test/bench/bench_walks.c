/*
 * bench_walks.c - what a node's random walks cost as graphs grow.
 *
 *		cc -O2 -Isrc/core test/bench/bench_walks.c <the core's files>
 *			-o bench_walks -lm -lpthread -ldl
 *		./bench_walks [largest [degree]]
 *
 * Makes the walks of a Laplacian kernel on graphs of 10,000 to 1,000,000 nodes
 * of one mean degree, and prints processor seconds, microseconds a node, and the latter
 * over that of the smallest graph: 1 is linear.  Edges are either near (a ring
 * whose nodes know their neighbourhood) or far (any two nodes); far ones make
 * each step of a walk wait for memory once the graph is larger than the cache.
 */
#include "base/base.h"
#include "bench_env.h"
#include "graph/laplacian.h"

/* A graph of n nodes; near: both ends within a hundred places. */
static gp_graph *
make_graph(int64_t n, int64_t degree, bool near)
{
	gp_edges   *edges = gp_edges_create(&host, n, false, false);

	for (int64_t e = 0; e < n * degree / 2; e++)
	{
		uint64_t	draw = gp_hash((uint64_t) e);
		int32_t		src = (int32_t) (e % n);
		int32_t		dst = (int32_t) (near ? (src + 1 + draw % 100) % n : draw % n);

		gp_edges_add(edges, 1, &src, &dst, NULL);
	}
	return gp_graph_build(edges);
}

/* The processor's time, which other work on the machine disturbs less; walks have one thread. */
static double
processor_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* The best of some runs; *entries is what the factor holds. */
static double
time_walks(const gp_graph *graph, const gp_laplacian *kernel, double *entries)
{
	double		best = 1e30;

	for (int r = 0; r < (graph->nodes <= 100000 ? 5 : 2); r++)
	{
		double		t = processor_seconds();
		gp_csr	   *factor = gp_walk_factor(&host, NULL, graph, kernel, 1, 0, GP_FLOAT);

		t = processor_seconds() - t;
		best = t < best ? t : best;
		*entries = (double) gp_csr_entries(factor);
		gp_csr_free(&host, factor);
	}
	return best;
}

/* One kind of graph in all sizes. */
static void
bench(const char *name, const gp_laplacian *kernel, int64_t largest, int64_t degree, bool near)
{
	static const int64_t sizes[] = {10000, 30000, 100000, 300000, 1000000};
	double		first = 0.0;

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]) && sizes[k] <= largest; k++)
	{
		gp_graph   *graph = make_graph(sizes[k], degree, near);
		double		entries;
		double		each = time_walks(graph, kernel, &entries) / (double) sizes[k];

		first = k == 0 ? each : first;
		printf("%-24s %9lld %9.2f %9.2f %9.1f %7.2f\n", name, (long long) sizes[k],
			   each * (double) sizes[k], each * 1e6, entries / (double) sizes[k], each / first);
		fflush(stdout);
		gp_graph_free(&host, graph);
	}
}

int
main(int argc, char **argv)
{
	int64_t		largest = argc > 1 ? atoll(argv[1]) : 1000000;
	int64_t		degree = argc > 2 ? atoll(argv[2]) : 10;
	gp_laplacian kernel = {2, 0.2, 10, 0.3, GP_WALK_UNIFORM, GP_TRIM_ANCHORS, 0};

	printf("%d walks a node, p_term %g, degree %lld\n%-24s %9s %9s %9s %9s %7s\n", kernel.walks,
		   kernel.p_term, (long long) degree, "", "nodes", "seconds", "us/node", "entries", "ratio");
	bench("edges near", &kernel, largest, degree, true);
	bench("edges far", &kernel, largest, degree, false);
	kernel.dims = 1000;
	bench("far, 1000 anchors", &kernel, largest, degree, false);
	return 0;
}
