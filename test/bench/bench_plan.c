/*
 * bench_plan.c - what planning a fit costs.
 *
 *		cc -O2 -Isrc/core test/bench/bench_plan.c <the core's files>
 *			-o bench_plan -lm -lpthread -ldl
 *		./bench_plan [nodes [degree]]
 *
 * Plans fits of several kernels with all strategies on one graph with sparse
 * features, and prints processor seconds: of preparing, which the fit needs
 * anyhow (the first plan, with sparse matrices of operators and factors), and of
 * planning itself (the second), and the latter over the time in which the edges become a graph.
 */
#include "bench_env.h"
#include "fit/fit_internal.h"

#include <math.h>

#define DIMS 500
#define FEATURES 20				/* of a node */
#define CLASSES 40

/* The processor's time, which other work on the machine disturbs less. */
static double
processor_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* A graph of n nodes with any two linked; *seconds is what building it takes. */
static gp_graph *
make_graph(int64_t n, int64_t degree, double *seconds)
{
	gp_edges   *edges = gp_edges_create(&host, n, false, false);

	for (int64_t e = 0; e < n * degree / 2; e++)
	{
		int32_t		src = (int32_t) (e % n);
		int32_t		dst = (int32_t) (gp_hash((uint64_t) e) % (uint64_t) n);

		gp_edges_add(edges, 1, &src, &dst, NULL);
	}
	*seconds = processor_seconds();
	gp_graph   *graph = gp_graph_build(edges);
	*seconds = processor_seconds() - *seconds;
	return graph;
}

/* Sparse features. */
static gp_features *
make_features(int64_t n)
{
	gp_features_builder *b = gp_features_create(&host, n, DIMS, GP_FLOAT);
	int32_t		r1;
	int32_t		r2;

	for (int32_t i = 0; i < n; i++)
	{
		double		x[DIMS] = {0.0};

		for (uint64_t k = 0; k < FEATURES; k++)
			x[gp_hash((uint64_t) i * FEATURES + k) % DIMS] = 1.0;
		gp_features_add_row(b, i, x);
	}
	return gp_features_build(b, &r1, &r2);
}

/* Plans one kernel twice. */
static void
plan(gp_device *dev, gp_problem *p, const char *kernel, double built)
{
	gp_eval		ev;
	double		spent[2];
	gp_plan		chosen;

	p->program = gp_kernel_program(&host, gp_kernel_parse(&host, kernel));
	gp_eval_open(&ev, dev, p->program, p->graph, p->features, 1, p->type);
	for (int r = 0; r < 2; r++)
	{
		spent[r] = processor_seconds();
		chosen = gp_plan_of_evaluation(&ev, p);
		spent[r] = processor_seconds() - spent[r];
	}
	gp_eval_close(&ev);
	printf("%-36s%12.3f%12.3f%12.3f  %s\n", kernel, spent[0] - spent[1], spent[1],
		   spent[1] / built, chosen.strategy == GP_STRATEGY_EXACT ? "exact" : "nystrom");
}

int
main(int argc, char **argv)
{
	static const char *const kernel[] = {
		"gcn", "gcn(layers=3)", "gin", "gcnii", "sage", "appnp", "ggp", "rbf", "mlp",
		"(I+0.5*A+0.2*A^2)*relu(X)*W + b"
	};
	int64_t		n = argc > 1 ? atoll(argv[1]) : 200000;
	int64_t		degree = argc > 2 ? atoll(argv[2]) : 10;
	double		built;
	gp_problem	p;
	int32_t    *labelled = malloc(n * sizeof(int32_t));
	int32_t    *label = malloc(n * sizeof(int32_t));

	gp_device  *dev = gp_device_cpu(&host, 1);
	memset(&p, 0, sizeof(p));
	p.graph = make_graph(n, degree, &built);
	p.features = make_features(n);
	for (int32_t i = 0; i < n; i += 2)
	{
		labelled[p.nlabelled] = i;
		label[p.nlabelled++] = i / 2 % CLASSES;
	}
	p.labelled = labelled;
	p.label = label;
	p.nclasses = CLASSES;
	p.nugget = NAN;
	p.type = GP_FLOAT;
	printf("plans on %lld nodes; their edges become a graph in %.3f s\n", (long long) n, built);
	printf("%-36s%12s%12s%12s  %s\n", "kernel", "prepare, s", "plan, s", "ratio", "strategy");
	for (size_t k = 0; k < sizeof(kernel) / sizeof(kernel[0]); k++)
		plan(dev, &p, kernel[k], built);
	return 0;
}
