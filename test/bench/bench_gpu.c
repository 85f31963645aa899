/*
 * bench_gpu.c - the GPU library beside cuBLAS's own best, the card's copies, and the CPU.
 *
 *		cc -O2 -Isrc/core test/bench/bench_gpu.c <the core's files>
 *			-o bench_gpu -lm -lpthread -ldl
 *		./bench_gpu gnngp_cuda.so [scale [threads]]
 *
 * Each kind of work is held against the card's peak, as its clock and its memory
 * have it, products against one large product in the same run, sparse products
 * against copies, whole low-rank fits against the CPU device with so many threads
 * (0 leaves the CPU out).  scale divides the sizes.  Prints one line for each;
 * doc/performance.md has the table.
 */
#include <dlfcn.h>
#include <math.h>

#include "bench_env.h"
#include "device/cuda_module.h"
#include "fit/fit.h"

#define RUNS 5

static gp_env *env = &host;
static gp_device *dev;
static gp_cuda_card card[1];
static int64_t scale = 1;
static int	threads = 0;

/* Waits for all that the device has queued. */
static void
finish(gp_matrix m)
{
	double		one;

	dev->download(dev, gp_matrix_wrap(&one, 1, 1, GP_DOUBLE), gp_matrix_part(m, 0, 0, 1, 1));
}

/* The seconds of the best run of a statement that writes m. */
#define BEST(m, stmt) \
	(__extension__ ({ \
		double		best_ = INFINITY; \
		for (int run_ = 0; run_ < RUNS; run_++) \
		{ \
			double		start_; \
			finish(m); \
			start_ = seconds(); \
			stmt; \
			finish(m); \
			best_ = fmin(best_, seconds() - start_); \
		} \
		best_; \
	}))

/* A matrix of small numbers. */
static gp_matrix
make_typed(int64_t rows, int64_t cols, gp_type type)
{
	gp_matrix	m = dev->create(dev, rows, cols, type);
	float	   *host = gp_alloc_array(env, 1000 * cols, sizeof(float));

	for (int64_t i = 0; i < 1000 * cols; i++)
		host[i] = (float) (i * 7919 % 1009) / 1009.0f - 0.5f;
	for (int64_t row = 0; row < rows; row += 1000)
	{
		int64_t		take = rows - row < 1000 ? rows - row : 1000;

		dev->upload(dev, gp_matrix_rows(m, row, take), gp_matrix_wrap(host, take, cols, GP_FLOAT));
	}
	gp_free(env, host);
	return m;
}

static gp_matrix
make(int64_t rows, int64_t cols)
{
	return make_typed(rows, cols, GP_FLOAT);
}

/* One kind of work: what it did in its seconds, as a fraction of what the card can at most. */
static void
tell(const char *what, double amount, double taken, double peak, const char *unit)
{
	printf("%s: %.3g %s/s, %.2f of the peak (%.3g)\n", what, amount / taken / 1e9, unit, amount / taken / peak, peak / 1e9);
	fflush(stdout);
}

/* A large covariance: the products of random rows with themselves, and more on the diagonal. */
static void
fill_covariance(gp_matrix k, gp_matrix rows)
{
	dev->syrk(dev, false, 1.0 / (double) rows.cols, rows, 0.0, k);
	dev->shift(dev, gp_matrix_diagonal(k), 1.0);
}

/* Symmetric products, factors and solves in double precision, of n landmarks. */
static void
bench_factors(int64_t n, int64_t rows)
{
	gp_matrix	x = make_typed(n, 256, GP_DOUBLE);
	gp_matrix	tall = make_typed(rows, n, GP_DOUBLE);
	gp_matrix	k = make_typed(n, n, GP_DOUBLE);
	double		peak = card->flops[GP_DOUBLE];
	double		cube = pow((double) n, 3);

	printf("%lld landmarks, %lld rows, double:\n", (long long) n, (long long) rows);
	double		taken = BEST(k, dev->syrk(dev, true, 1.0, tall, 0.0, k));
	tell("  syrk", (double) n * (double) n * (double) rows, taken, peak, "GFLOP");
	fill_covariance(k, x);
	finish(k);
	double		start = seconds();
	(void) dev->potrf(dev, k);
	finish(k);
	tell("  potrf", cube / 3.0, seconds() - start, peak, "GFLOP");
	taken = BEST(tall, dev->trsm(dev, false, true, k, tall));
	tell("  trsm", (double) n * (double) n * (double) rows, taken, peak, "GFLOP");
	finish(k);
	start = seconds();
	dev->trtri(dev, k);
	finish(k);
	tell("  trtri", cube / 3.0, seconds() - start, peak, "GFLOP");
	gp_destroy_all(dev, &x, &tall, &k);
}

/* The symmetric product and the arc-cosine map in single precision. */
static void
bench_single(int64_t n, int64_t rows)
{
	gp_matrix	tall = make(rows, n);
	gp_matrix	k = make(n, n);
	gp_matrix	diag = dev->create(dev, rows, 1, GP_DOUBLE);
	gp_stage	stage = {GP_MAP_RELU, 0.0, 0.0, 1.0, 0.0, diag};
	double		taken = BEST(k, dev->syrk(dev, true, 1.0, tall, 0.0, k));

	printf("%lld landmarks, %lld rows, float:\n", (long long) n, (long long) rows);
	tell("  syrk", (double) n * (double) n * (double) rows, taken, card->flops[GP_FLOAT], "GFLOP");
	dev->fill(dev, diag, 1.0);
	taken = BEST(tall, dev->map(dev, &stage, tall, 0, NULL));
	tell("  map, bytes of memory", 8.0 * (double) rows * (double) n, taken, card->bytes, "GB");
	gp_destroy_all(dev, &tall, &k, &diag);
}

/* A sum that flows through the card from the host's memory, read once and written once. */
static void
bench_flow(int64_t rows)
{
	const int64_t cols = 1024;
	float	   *host = gp_alloc_array(env, 2 * rows * cols, sizeof(float));
	gp_matrix	x = gp_matrix_wrap(host, rows, cols, GP_FLOAT);
	gp_matrix	y = gp_matrix_wrap(host + rows * cols, rows, cols, GP_FLOAT);
	double		best = INFINITY;

	memset(host, 0, (size_t) (2 * rows * cols) * sizeof(float));
	for (int run = 0; run < RUNS; run++)
	{
		double		start = seconds();

		dev->axpby(dev, 2.0, x, 0.0, y);
		best = fmin(best, seconds() - start);
	}
	printf("flow of %lld rows of the host, each way: %.3g GB/s\n", (long long) rows,
		   (double) rows * (double) cols * 4.0 / best / 1e9);
	gp_free(env, host);
}

/* A random graph; its first nodes are hubs. */
static gp_graph *
make_graph(int64_t n, int64_t edges)
{
	gp_edges   *list = gp_edges_create(env, n, false, false);
	uint64_t	state = 7;

	for (int64_t e = 0; e < edges; e++)
	{
		int32_t		end[2];

		for (int k = 0; k < 2; k++)
		{
			state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			double		u = (double) (state >> 11) * 0x1p-53;
			end[k] = (int32_t) ((k ? u : pow(u, 1.5)) * (double) n);
		}
		gp_edges_add(list, 1, &end[0], &end[1], NULL);
	}
	return gp_graph_build(list);
}

/* Walks between the ends of pairs, hubs among them. */
static void
bench_pairs(int64_t n, int64_t edges, int64_t pairs)
{
	gp_graph   *graph = make_graph(n, edges);
	gp_csr	   *a = gp_graph_normalise(env, graph, GP_NORM_SYM, GP_FLOAT);
	gp_matrix	w = make(n, GP_PATH_LANES);
	int32_t    *end = gp_alloc_array(env, 2 * pairs, sizeof(int32_t));
	double	   *sums = gp_alloc_array(env, 2 * GP_PATH_LANES * pairs, sizeof(double));
	double		steps = 0.0;
	double		taken;

	for (int64_t e = 0; e < pairs; e++)
	{
		int64_t		few = e * 7 % n;

		end[e] = (int32_t) few;
		end[pairs + e] = (int32_t) (e * 13 % n + 1 == n ? 0 : e * 13 % n + 1);
		if (a->start[few + 1] - a->start[few] > a->start[end[pairs + e] + 1] - a->start[end[pairs + e]])
			few = end[pairs + e];
		for (int64_t k = a->start[few]; k < a->start[few + 1]; k++)
			steps += 1.0 + (double) (a->start[a->col[k] + 1] - a->start[a->col[k]]);
	}
	taken = BEST(w, dev->pair_paths(dev, a, w, pairs, end, end + pairs, NULL, sums, sums + GP_PATH_LANES * pairs));
	printf("walks of %lld pairs, %lld nodes: %.3g look-ups/s, each reading 32 bytes some times: %.2f of the peak for one\n",
		   (long long) pairs, (long long) n, steps / taken, 32.0 * steps / taken / card->bytes);
	dev->destroy(dev, &w);
	gp_free_all(env, end, sums);
	gp_csr_free(env, a);
	gp_graph_free(env, graph);
}

/* Products of the fit's shape against a large one. */
static void
bench_products(void)
{
	int64_t		big = 8192 / scale;
	int64_t		rows = 16384 / scale;
	int64_t		side = 1800 / scale;
	gp_matrix	a = make(big, big);
	gp_matrix	b = make(big, big);
	gp_matrix	c = make(big, big);
	gp_matrix	p = make(rows, side);
	gp_matrix	q = make(side, side);
	gp_matrix	r = make(rows, side);
	double		whole = 2.0 * pow((double) big, 3) / BEST(c, dev->gemm(dev, false, true, 1.0, a, b, 0.0, c));
	double		part = 2.0 * (double) rows * pow((double) side, 2) /
		BEST(r, dev->gemm(dev, false, true, 1.0, p, q, 0.0, r));

	printf("product %lld x %lld x %lld: %.3g TFLOP/s, %.2f of the peak, %.2f of one large product (%.3g)\n",
		   (long long) rows, (long long) side, (long long) side, part / 1e12, part / card->flops[GP_FLOAT], part / whole,
		   whole / 1e12);
	gp_destroy_all(dev, &a, &b, &c, &p, &q, &r);
}

/* Sparse products against copies. */
static void
bench_sparse(int64_t n, int64_t edges)
{
	gp_graph   *graph = make_graph(n, edges);
	gp_csr	   *a = gp_graph_normalise(env, graph, GP_NORM_SYM, GP_FLOAT);
	gp_matrix	x = make(n, 128);
	gp_matrix	y = make(n, 128);
	gp_matrix	big = make(n, 1024);
	gp_matrix	copy = make(n, 1024);
	double		bytes = ((double) gp_csr_entries(a) + (double) n) * 128.0 * 4.0;
	double		copied = 2.0 * (double) n * 1024.0 * 4.0 / BEST(copy, dev->copy(dev, copy, big));
	double		gathered = bytes / BEST(y, dev->spmm(dev, 1.0, a, x, 0.0, y));

	printf("sparse product, %lld nodes, %lld entries, 128 columns: %.3g GB/s, %.2f of the peak, %.2f of a copy (%.3g)\n",
		   (long long) n, (long long) gp_csr_entries(a), gathered / 1e9, gathered / card->bytes, gathered / copied,
		   copied / 1e9);
	gp_destroy_all(dev, &x, &y, &big, &copy);
	gp_csr_free(env, a);
	gp_graph_free(env, graph);
}

/* Dense features that follow the classes, and half of the nodes labelled. */
static gp_problem
make_problem(gp_graph *graph, int64_t dims, int64_t landmarks)
{
	gp_features_builder *builder = gp_features_create(env, graph->nodes, dims, GP_FLOAT);
	gp_problem	p;
	int32_t    *labelled = gp_alloc_array(env, graph->nodes, sizeof(int32_t));
	int32_t    *label = gp_alloc_array(env, graph->nodes, sizeof(int32_t));
	float	   *x = gp_alloc_array(env, dims, sizeof(float));
	int32_t		node;
	int32_t		feature;

	memset(&p, 0, sizeof(p));
	for (int32_t i = 0; i < graph->nodes; i++)
	{
		for (int64_t k = 0; k < dims; k++)
			x[k] = (float) ((i * 31 + k * k * 17 + i % 40 * k) % 101) / 101.0f - 0.5f;
		gp_features_add_row_float(builder, i, x);
		if (i % 2 == 0)
		{
			labelled[p.nlabelled] = i;
			label[p.nlabelled++] = i % 40;
		}
	}
	gp_free(env, x);
	p.graph = graph;
	p.features = gp_features_build(builder, &node, &feature);
	p.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"));
	p.task = GP_TASK_CLASSES;
	p.labelled = labelled;
	p.label = label;
	p.nclasses = 40;
	p.strategy = GP_STRATEGY_NYSTROM;
	p.nlandmarks = landmarks;
	p.nugget = NAN;
	p.type = GP_FLOAT;
	p.quiet = true;
	return p;
}

/* The largest difference of means, relative to the largest mean. */
static double
difference(const gp_posterior *a, const gp_posterior *b)
{
	double		most = 0.0;
	double		worst = 0.0;

	for (int64_t i = 0; i < a->nodes * a->columns; i++)
	{
		most = fmax(most, fabs(a->mean[i]));
		worst = fmax(worst, fabs(a->mean[i] - b->mean[i]));
	}
	return worst / most;
}

/* A low-rank fit on the card, the first and the best of some, and on the CPU. */
static void
bench_fit(int64_t n, int64_t edges, int64_t landmarks, bool compare)
{
	gp_graph   *graph = make_graph(n, edges);
	gp_problem	p = make_problem(graph, 128, landmarks);
	gp_posterior *fitted = NULL;
	double		first = 0.0;
	double		best = INFINITY;

	for (int run = 0; run < 3; run++)
	{
		double		start = seconds();

		if (fitted)
			gp_posterior_free(env, fitted);
		fitted = gp_fit(dev, &p);
		if (run == 0)
			first = seconds() - start;
		best = fmin(best, seconds() - start);
	}
	printf("fit, %lld nodes, %lld entries, %lld landmarks: %.3g s, the first %.3g s, %.3g TFLOP",
		   (long long) n, (long long) graph->start[n], (long long) landmarks, best, first,
		   fitted->plan.flops / 1e12);
	if (compare && threads > 0)
	{
		gp_device  *cpu = gp_device_cpu(env, threads);
		double		start = seconds();
		gp_posterior *host = gp_fit(cpu, &p);

		start = seconds() - start;
		printf("; the CPU %.3g s with %d threads, %.3g times as long; means differ by %.2g", start,
			   cpu->threads, start / best, difference(host, fitted));
		cpu->close(cpu);
	}
	printf("\n");
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	char		reason[GP_CUDA_REASON];
	gp_cuda_options options = {0, false, 0};

	if (argc < 2)
		return 2;
	scale = argc > 2 ? atoll(argv[2]) : 1;
	threads = argc > 3 ? atoi(argv[3]) : 0;
	const gp_cuda_module *module = gp_cuda_load(argv[1], reason);
	if (module == NULL || module->list(card, 1, reason) < 1)
	{
		printf("skipped, no GPU: %s\n", reason);
		return 0;
	}
	double		start = seconds();
	dev = module->open(env, &options);
	printf("%s, compute capability %d.%d, CUDA driver %d, runtime %d; opened in %.3g s\n", card[0].name,
		   card[0].major, card[0].minor, card[0].driver, card[0].runtime, seconds() - start);
	printf("its most: %.3g TFLOP/s in float, %.3g in double, %.3g GB/s\n", card->flops[GP_FLOAT] / 1e12,
		   card->flops[GP_DOUBLE] / 1e12, card->bytes / 1e9);
	bench_products();
	bench_single(2048 / scale, 200000 / scale);
	bench_factors(2048 / scale, 100000 / scale);
	bench_factors(16000 / scale, 16000 / scale);
	bench_flow(500000 / scale);
	bench_pairs(170000 / scale, 1250000 / scale, 200000 / scale);
	bench_sparse(170000 / scale, 1250000 / scale);
	bench_fit(170000 / scale, 1250000 / scale, 1800 / scale, true);
	bench_sparse(233000 / scale, 57500000 / scale);
	bench_fit(233000 / scale, 57500000 / scale, 3000 / scale, false);
	dev->close(dev);
	return 0;
}
