/*
 * gpu_fits.c - whole computations on the GPU against the CPU's.
 *
 * Fits of every kind with the same nugget and landmarks, with all matrices on the
 * card and with hardly any; the choice of the nugget; links; clusters.
 */
#include <stdlib.h>

#include "cluster/cluster.h"
#include "gpu.h"
#include "gpu_world.h"
#include "links/links.h"
#include "../unit/train/parse_methods.h"

#define SMALL 300
#define LARGE 523
#define MANY 2050				/* all of them labelled: their variances are probed */
#define FEW 60					/* whose links are learnt */
#define LITTLE ((size_t) 200 << 10)

static const char *const kernels[] = {"gcn", "gin", "gcnii(layers=3)", "sage", "appnp",
	"P(0.3)*relu(X)*W + b", "(0.7*A + 0.3*I)^2*relu(X)*W + b", "rbf", "gcn(input=poly)"};

#define KERNELS ((int) (sizeof(kernels) / sizeof(kernels[0])))

/* What a device is for, in the name of a test. */
typedef struct fit
{
	const world *w;
	const char *graph;
	const char *kernel;
	gp_task		task;
	gp_type		type;
	gp_strategy strategy;
	size_t		memory;
	bool		free_nugget;
} fit;

/* The largest difference relative to the largest number of the CPU's. */
static double
worst(const double *got, const double *want, int64_t n)
{
	double		diff = 0.0;
	double		size = 1e-300;

	for (int64_t i = 0; i < n; i++)
	{
		if (isnan(got[i]))
			return NAN;
		diff = fmax(diff, fabs(got[i] - want[i]));
		size = fmax(size, fabs(want[i]));
	}
	return diff / size;
}

/* Takes the GPU once the CPU device has planned. */
static gp_device *
take_gpu(void *arg, gp_device *planner, const gp_plan *plan)
{
	return arg;
}

/* True where there is time for all nodes of what the emulated card takes long for. */
static bool
all_nodes(void)
{
	return getenv("GNNGP_LONG") != NULL || emulator.lazy == NULL;
}

/* One fit on both devices. */
static void
check_fit(gp_env *env, const fit *f)
{
	gp_device  *cpu = gp_device_cpu(env, 1);
	gp_device  *card = gpu_open(env, f->memory);
	gp_problem	p = gpu_problem(env, f->w, f->kernel, f->task, f->type);
	double		bound = f->type == GP_FLOAT ? 1e-4 : 1e-8;
	double		mean;
	double		variance;
	bool		negative = false;
	char		name[300];

	p.strategy = f->strategy;
	if (f->strategy == GP_STRATEGY_NYSTROM)
		p.nlandmarks = f->w->graph->nodes < 100 ? 8 : 70;
	if (f->free_nugget)
		p.nugget = NAN;
	gp_posterior *want = gp_fit(cpu, &p);
	if (f->strategy == GP_STRATEGY_NYSTROM)
	{
		p.landmark = want->landmark;
		p.nlandmarks = want->nlandmarks;
	}
	p.device_for = take_gpu;
	p.device_arg = card;
	gp_posterior *got = gp_fit(cpu, &p);
	mean = worst(got->mean, want->mean, want->nodes * want->columns);
	variance = worst(got->variance, want->variance, want->nodes);
	for (int64_t i = 0; i < got->nodes; i++)
		negative = negative || got->variance[i] < 0.0;
	snprintf(name, sizeof(name), "%s, %s, %s, %s, %s%s%s: means %.2g, variances %.2g", f->graph, f->kernel,
			 gp_strategy_names[f->strategy],
			 f->task == GP_TASK_CLASSES ? "classes" : "values",
			 f->type == GP_FLOAT ? "float" : "double", f->memory > 0 ? ", streamed" : "",
			 f->free_nugget ? ", nugget chosen" : "", mean, variance);
	ok(mean <= bound && variance <= 3.0 * bound && !negative, name);
	if (f->free_nugget)
		close_to(got->nugget, want->nugget, 1e-6, "the same nugget");
	card->close(card);
	ok(gpu_clean(), "nothing is left behind");
}

/* All kernels on one graph in one strategy; tasks and types take turns on larger ones. */
static void
fits_of(gp_env *env, const char *graph, int n, gp_strategy strategy)
{
	for (int k = 0; k < KERNELS; k++)
		for (int form = 0; form < 4; form++)
		{
			gp_type		type = form & 1 ? GP_DOUBLE : GP_FLOAT;
			world		w;
			fit			f = {&w, graph, kernels[k], form & 2 ? GP_TASK_VALUES : GP_TASK_CLASSES,
			type, strategy, 0, false};

			if (n > 0 && (k + (int) strategy) % 4 != form && (n == LARGE || getenv("GNNGP_LONG") == NULL))
				continue;
			if (n == 0 && (strcmp(f.kernel, "rbf") == 0 || strstr(f.kernel, "poly") != NULL))
				continue;		/* they need features */
			if (n == SMALL && strategy == GP_STRATEGY_EXACT && !all_nodes() &&
				(strcmp(f.kernel, "appnp") == 0 || strncmp(f.kernel, "P(", 2) == 0))
			{
				f.graph = "100 nodes";
				w = random_world(env, 100, 3, type);
			}
			else
				w = n > 0 ? random_world(env, n, 3, type) : karate_world(env);
			check_fit(env, &f);
		}
}

/* Fits whose matrices are streamed, and fits that choose their nugget. */
static void
special_fits(gp_env *env)
{
	for (int k = 0; k < 4; k++)
		for (int s = GP_STRATEGY_EXACT; s <= GP_STRATEGY_NYSTROM; s++)
		{
			world		w = random_world(env, SMALL, 3, GP_DOUBLE);
			world		v = random_world(env, SMALL, 3, GP_FLOAT);
			fit			streamed = {&v, "300 nodes", kernels[k], GP_TASK_CLASSES, GP_FLOAT,
			(gp_strategy) s, LITTLE, false};
			fit			chosen = {&w, "300 nodes", kernels[k], GP_TASK_VALUES, GP_DOUBLE,
			(gp_strategy) s, 0, true};

			check_fit(env, &streamed);
			check_fit(env, &chosen);
		}
}

/* Fits by conjugate gradients: few nodes and many, one product and more, nuggets given and chosen. */
static void
precision_fits(gp_env *env)
{
	static const char *const priors[] = {"laplacian(sigma2=10, d=1)", "laplacian(sigma2=5)", "laplacian(sigma2=2, d=3)"};

	/* Probes are products like others, which the emulated card takes long for. */
	int			priors_tried = all_nodes() ? 6 : 5;
	int			small = all_nodes() ? SMALL : 100;

	for (int k = 0; k < priors_tried; k++)
	{
		gp_type		type = k & 1 ? GP_DOUBLE : GP_FLOAT;
		world		w = k < 2 ? karate_world(env) : random_world(env, k < 5 ? small : MANY, k < 5 ? 3 : 1, type);
		fit			f = {&w, k < 2 ? "the club" : k < 5 ? all_nodes() ? "300 nodes" : "100 nodes" : "2050 nodes", priors[k < 5 ? k % 3 : 0],
		k / 2 & 1 ? GP_TASK_VALUES : GP_TASK_CLASSES, type, GP_STRATEGY_PRECISION, 0, k == 3};

		check_fit(env, &f);
	}
}

/* Scores of some pairs by one device. */
static void
score_pairs(gp_env *env, gp_device *dev, const world *w, gp_link_method method, gp_link_row *row, int n)
{
	gp_dgp		dgp = parse_dgp(env, "dgp(steps=10, units=8, features=16)");
	gp_link_problem p = {.graph = w->graph,.features = w->features,.method = method,.seed = 3,
	.dgp = method == GP_LINK_DGP ? &dgp : NULL,
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};
	gp_link_model *model = gp_link_fit(dev, &p);
	gp_links   *links = gp_links_open(dev, model);
	int32_t    *src = gp_alloc_array(env, n, sizeof(int32_t));
	int32_t    *dst = gp_alloc_array(env, n, sizeof(int32_t));

	for (int e = 0; e < n; e++)
	{
		src[e] = (int32_t) (e * 7 % w->graph->nodes);
		dst[e] = (int32_t) ((src[e] + 1 + e * 13 % (w->graph->nodes - 1)) % w->graph->nodes);
	}
	gp_links_score(links, n, src, dst, row);
	gp_links_close(links);
}

/* The link posterior by a method. */
static void
check_links(gp_env *env, gp_link_method method)
{
	enum {PAIRS = 100};
	world		w = random_world(env, FEW / 2, 3, GP_FLOAT);
	gp_link_row want[PAIRS];
	gp_link_row got[PAIRS];
	gp_device  *card = gpu_open(env, 0);
	double		score = 0.0;
	double		variance = 0.0;
	char		name[200];

	score_pairs(env, gp_device_cpu(env, 1), &w, method, want, PAIRS);
	score_pairs(env, card, &w, method, got, PAIRS);
	for (int e = 0; e < PAIRS; e++)
	{
		score = fmax(score, fabs(got[e].score - want[e].score));
		variance = fmax(variance, fabs(got[e].variance - want[e].variance));
	}
	snprintf(name, sizeof(name), "links by %s: scores differ by %.2g, variances by %.2g",
			 method == GP_LINK_SCORES ? "scores" : "pairs", score, variance);
	ok(score < 1e-3 && variance < 1e-3, name);
	card->close(card);
	ok(gpu_clean(), "nothing is left behind");
}

/*
 * A deep Gaussian process of links after few steps.  Its inputs are singular vectors,
 * whose signs an eigensolver chooses, so that its draws fall otherwise on each device:
 * the scores go along with each other and are not the same.
 */
static void
check_deep_links(gp_env *env)
{
	enum {PAIRS = 100};
	world		w = random_world(env, FEW, 3, GP_FLOAT);
	gp_link_row want[PAIRS];
	gp_link_row got[PAIRS];
	gp_device  *card = gpu_open(env, 0);
	double		sum[5] = {0};
	bool		sound = true;
	char		name[200];

	score_pairs(env, gp_device_cpu(env, 1), &w, GP_LINK_DGP, want, PAIRS);
	score_pairs(env, card, &w, GP_LINK_DGP, got, PAIRS);
	for (int e = 0; e < PAIRS; e++)
	{
		sound = sound && isfinite(got[e].score) && got[e].variance >= 0.0 && got[e].probability > 0.0 &&
			got[e].probability < 1.0;
		sum[0] += want[e].score;
		sum[1] += got[e].score;
		sum[2] += want[e].score * want[e].score;
		sum[3] += got[e].score * got[e].score;
		sum[4] += want[e].score * got[e].score;
	}
	double		alike = (sum[4] - sum[0] * sum[1] / PAIRS) /
					sqrt((sum[2] - sum[0] * sum[0] / PAIRS) * (sum[3] - sum[1] * sum[1] / PAIRS));
	snprintf(name, sizeof(name), "links by dgp: the scores' correlation is %.3f", alike);
	ok(sound && alike > 0.9, name);
	card->close(card);
	ok(gpu_clean(), "nothing is left behind");
}

/* The graph convolutional kernel machine, with all matrices on the card and with hardly any. */
static void
check_gckm(gp_env *env, const char *method, bool features, size_t memory)
{
	world		w = features ? random_world(env, SMALL, 3, GP_FLOAT) : karate_world(env);
	gp_device  *cpu = gp_device_cpu(env, 1);
	gp_device  *card = gpu_open(env, memory);
	gp_problem	p = gpu_problem(env, &w, "gcn", GP_TASK_CLASSES, GP_FLOAT);
	gp_gckm		o = parse_gckm(env, method);
	gp_posterior *want = gp_method_fit(cpu, &gp_method_gckm, &p, &o);
	double		mean;
	double		loo;
	char		name[200];

	p.device_for = take_gpu;
	p.device_arg = card;
	gp_posterior *got = gp_method_fit(cpu, &gp_method_gckm, &p, &o);
	mean = worst(got->mean, want->mean, want->nodes * want->columns);
	loo = worst(got->loo.mean, want->loo.mean, want->loo.n * want->columns);
	snprintf(name, sizeof(name), "%s, %s features%s: means %.2g, leave-one-out %.2g", method, features ? "some" : "no",
			 memory > 0 ? ", streamed" : "", mean, loo);
	ok(mean <= 1e-7 && loo <= 1e-6, name);
	card->close(card);
	ok(gpu_clean(), "nothing is left behind");
}

/* Clusters of the club, and of a random graph by its features. */
static void
check_clusters(gp_env *env, const char *kernel, bool club)
{
	world		w = club ? karate_world(env) : random_world(env, SMALL, 3, GP_FLOAT);
	gp_device  *card = gpu_open(env, 0);
	gp_cluster_problem p;
	char		name[200];
	int			other = 0;

	memset(&p, 0, sizeof(p));
	p.graph = w.graph;
	p.features = w.features;
	p.program = gp_kernel_program(env, gp_kernel_parse(env, kernel));
	p.clusters = club ? 2 : 3;
	p.seed = 1;
	p.type = GP_FLOAT;
	gp_clustering *want = gp_cluster(gp_device_cpu(env, 1), &p);
	gp_clustering *got = gp_cluster(card, &p);
	for (int64_t i = 0; i < want->nodes; i++)
		other += got->cluster[i] != want->cluster[i];
	snprintf(name, sizeof(name), "clusters by %s: %d nodes elsewhere, inertia %g and %g", kernel, other,
			 got->inertia, want->inertia);
	ok(other == 0 && fabs(got->inertia / want->inertia - 1.0) < 1e-4, name);
	card->close(card);
	ok(gpu_clean(), "nothing is left behind");
}

/* All of it, in environments of their own. */
void
gpu_fits(void)
{
	for (volatile int s = GP_STRATEGY_EXACT; s <= GP_STRATEGY_NYSTROM; s++)
	{
		in_env(fits_of(env, "the club", 0, (gp_strategy) s));
		in_env(fits_of(env, "300 nodes", SMALL, (gp_strategy) s));
		/* The operations of these sizes are compared one by one (gpu_shapes.c). */
		if (getenv("GNNGP_LONG") != NULL)
			in_env(fits_of(env, "523 nodes", LARGE, (gp_strategy) s));
	}
	in_env(special_fits(env));
	in_env(check_gckm(env, "gckm(components=8, components2=4)", false, 0));
	in_env(check_gckm(env, "gckm(landmarks=70, components=8, components2=4, own=true)", true, 0));
	in_env(check_gckm(env, "gckm(landmarks=70, components=8, components2=4)", true, LITTLE));
	in_env(precision_fits(env));
	/* The emulated card takes long for it, and is asked for the same pairs as the CPU by the server's tests. */
	if (all_nodes())
		in_env(check_links(env, GP_LINK_SCORES));
	in_env(check_links(env, GP_LINK_PAIRS));
	in_env(check_deep_links(env));
	in_env(check_clusters(env, "gcn", true));
	in_env(check_clusters(env, "sage", false));
}
