/*
 * test_gpsrf.c - random Fourier kernels of learnt subgraphs: equal bits, the plan, what is refused,
 * and every allocation failing.
 */
#include "base/hash.h"
#include "train/gpsrf/gpsrf.h"
#include "test_env.h"
#include "test_graphs.h"
#include "parse_methods.h"

#include <stdlib.h>

/* A fit as a posterior. */
static gp_posterior *
fit(gp_device *dev, const gp_problem *p, const gp_gpsrf *o)
{
	return gp_method_fit(dev, &gp_method_gpsrf, p, o);
}

#define MOST 40
#define SEEDS 8

static int32_t labelled[MOST];
static int32_t label[MOST];

/* Two rings of nodes with features that tell them apart a little; every third node is labelled. */
static gp_problem
make_problem(gp_env *env, int n, bool sparse, gp_type type)
{
	gp_problem	p;
	gp_edges   *edges = gp_edges_create(env, n, false, false);
	gp_features_builder *b = gp_features_create(env, n, sparse ? 40 : 3, type);
	uint64_t	state = 6;
	int32_t		r1;
	int32_t		r2;

	memset(&p, 0, sizeof(p));
	for (int32_t i = 0; i < n; i++)
	{
		int32_t		next = (i + 2) % n;
		double		x[3] = {draw_unit(&state), i % 2 ? 0.8 : 0.0, draw_unit(&state)};
		int32_t		one = (int32_t) (2 * draw_below(&state, 20) + i % 2);
		double		unit = 1.0;

		if (next % 2 == i % 2 && next != i)
			gp_edges_add(edges, 1, &i, &next, NULL);
		if (sparse)
			gp_features_add_entries(b, 1, &i, &one, &unit);
		else
			gp_features_add_row(b, i, x);
		if (i % 3 == 0 && p.nlabelled < MOST)
		{
			labelled[p.nlabelled] = i;
			label[p.nlabelled++] = i % 2;
		}
	}
	p.graph = gp_graph_build(edges);
	p.features = gp_features_build(b, &r1, &r2);
	p.task = GP_TASK_CLASSES;
	p.labelled = labelled;
	p.label = label;
	p.nclasses = 2;
	p.type = type;
	return p;
}

/* Own weights of nodes with 0, 1, 2 and 10 neighbours; these share the rest by the weights of the links. */
static void
check_average(gp_env *env)
{
	static const int32_t node[] = {0, 1, 2, 3};
	static const double own[] = {1.0, 0.5, 0.2, 1.0 / 23.0};
	gp_edges   *edges = gp_edges_create(env, 13, false, true);

	for (int32_t to = 2; to < 13; to++)
		gp_edges_add(edges, 1, to == 2 ? node + 1 : node + 3, &to, &(double) {to == 2 ? 3.0 : 1.0});
	gp_edges_add(edges, 1, node + 2, node + 3, &(double) {1.0});
	gp_csr	   *p = gp_gpsrf_average(env, gp_graph_build(edges), GP_DOUBLE);

	for (int k = 0; k < 4; k++)
	{
		double		sum = 0.0;

		for (int64_t e = p->start[k]; e < p->start[k + 1]; e++)
		{
			double		value = ((double *) p->value)[e];

			sum += value;
			if (p->col[e] == k)
				close_to(value, own[k], 1e-12, "a node's own weight");
			else if (k == 2)
				close_to(value, p->col[e] == 1 ? 0.6 : 0.2, 1e-12, "a neighbour's");
		}
		close_to(sum, 1.0, 1e-12, "a mean");
	}
}

/* It learns what the features and the rings say, of labels that were held out, too: the mean over seeds. */
static void
check_learns(gp_env *env, bool sparse, gp_type type)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, 90, sparse, type);
	gp_gpsrf	o = parse_gpsrf(env, "gpsrf(features=60, units=8, hidden=16, steps=150)");
	double		right = 0.0;
	double		held_out = 0.0;
	bool		sound = true;
	char		name[120];

	for (p.seed = 0; p.seed < SEEDS; p.seed++)
	{
		gp_posterior *out = fit(dev, &p, &o);

		for (int i = 0; i < 90; i++)
		{
			double		sum = out->mean[2 * i] + out->mean[2 * i + 1];

			right += (out->mean[2 * i + 1] > out->mean[2 * i]) == i % 2;
			sound = sound && fabs(sum - 1.0) < 1e-9 && out->variance[i] >= 0.0;
		}
		held_out += out->metric[GP_METRIC_ACCURACY] / SEEDS;
		sound = sound && isfinite(out->log_marginal_likelihood) && isnan(out->nugget) && out->loo.n == p.nlabelled;
		gp_posterior_free(env, out);
	}
	snprintf(name, sizeof(name), "%s features, %s: accuracy %.3f, held out %.3f", sparse ? "sparse" : "dense",
			 type == GP_FLOAT ? "float" : "double", right / (90.0 * SEEDS), held_out);
	ok(right > (sparse ? 0.85 : 0.95) * 90.0 * SEEDS && held_out > (sparse ? 0.65 : 0.8), name);
	ok(sound, "each posterior has what its readers look for");
}

/* The same bits with any number of threads and any panels of the device. */
static void
check_bits(gp_env *env, bool sparse)
{
	static const int threads[] = {1, 2, 3, 7};
	gp_problem	p = make_problem(env, 200, sparse, GP_FLOAT);
	gp_gpsrf	o = parse_gpsrf(env, "gpsrf(features=70, units=9, hidden=17, steps=6)");
	gp_posterior *first = NULL;
	bool		same = true;

	for (int k = 0; k < 4; k++)
	{
		gp_device  *dev = gp_device_cpu(env, threads[k]);

		dev->row_block = k == 3 ? 64 : 1024;
		gp_posterior *out = gp_method_fit(dev, &gp_method_gpsrf, &p, &o);
		first = first ? first : out;
		same = same && memcmp(out->mean, first->mean, 400 * sizeof(double)) == 0 &&
			memcmp(out->variance, first->variance, 200 * sizeof(double)) == 0 &&
			out->metric[GP_METRIC_NLL] == first->metric[GP_METRIC_NLL];
		dev->close(dev);
	}
	ok(same, sparse ? "the same bits, sparse features" : "the same bits, dense features");
}

/* Adds links between the labelled nodes and 800 others, 34 of each of these, which the others lack. */
static void
add_crowd(gp_env *env, gp_problem *p)
{
	gp_edges   *edges = gp_edges_create(env, p->graph->nodes, false, false);
	uint64_t	state = 6;

	for (int k = 0; k < 86000; k++)
	{
		int32_t		from = k < 6000 ? labelled[k % p->nlabelled] : 1 + 5 * (int32_t) draw_below(&state, 800);
		int32_t		to = 1 + 5 * (int32_t) draw_below(&state, 800);

		if (from != to)
			gp_edges_add(edges, 1, &from, &to, NULL);
	}
	p->graph = gp_graph_build(edges);
}

/* A fit takes what its plan says; where only some nodes have many neighbours, no more. */
static void
check_plan(int n, bool sparse, bool crowd, const char *text)
{
	gp_env	   *env = test_env();
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, n, sparse, GP_FLOAT);
	gp_gpsrf	o = parse_gpsrf(env, text);
	char		name[160];

	if (crowd)
		add_crowd(env, &p);
	gp_plan		plan = gp_method_plan(dev, &gp_method_gpsrf, &p, &o);
	env->peak = env->used;
	gp_method_fit(dev, &gp_method_gpsrf, &p, &o);
	double		ratio = plan.bytes / (double) env->peak;
	snprintf(name, sizeof(name), "%d nodes, %s: planned over taken %.3f", n, text, ratio);
	ok(ratio >= 1.0 && ratio <= 1.1, name);
	env->limit = (size_t) (0.7 * plan.bytes);
	expect_error(env, GP_ERR_LIMIT, gp_method_fit(dev, &gp_method_gpsrf, &p, &o));
	test_env_close(env);
}

/* What has no answer. */
static void
check_refused(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, 30, false, GP_FLOAT);
	gp_gpsrf	o = parse_gpsrf(env, "gpsrf(features=10, units=3, hidden=4, steps=2)");

	p.nlabelled = 1;
	gp_posterior *out = gp_method_fit(dev, &gp_method_gpsrf, &p, &o);
	ok(out->mean[0] > 0.0, "one label is enough");
	p.nlabelled = 0;
	expect_error(env, GP_ERR_DATA, gp_method_fit(dev, &gp_method_gpsrf, &p, &o));
	p.nlabelled = 5;
	((float *) p.features->dense)[4] = NAN;
	expect_error(env, GP_ERR_RANGE, gp_method_fit(dev, &gp_method_gpsrf, &p, &o));
}

/* Values: means follow them, whatever their unit, and variances are those of errors where nothing was learnt. */
static void
check_values(gp_env *env, gp_type type)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, 90, false, type);
	gp_gpsrf	o = parse_gpsrf(env, "gpsrf(features=60, units=8, hidden=16, steps=300)");
	double		target[MOST];
	double		error = 0.0;
	double		square = 0.0;
	double		least = INFINITY;
	char		name[120];

	p.task = GP_TASK_VALUES;
	p.nclasses = 0;
	p.label = NULL;
	p.target = target;
	for (int64_t k = 0; k < p.nlabelled; k++)
		target[k] = 1000.0 + 50.0 * (labelled[k] % 2) + 2.0 * cos((double) k);
	gp_posterior *out = gp_method_fit(dev, &gp_method_gpsrf, &p, &o);
	for (int i = 0; i < 90; i++)
	{
		error += pow(out->mean[i] - 1000.0 - 50.0 * (i % 2), 2.0) / 90.0;
		least = fmin(least, out->variance[i]);
	}
	for (int64_t k = 0; k < out->loo.n; k++)
		square += pow(out->loo.mean[k] - target[k], 2.0) / out->loo.variance[k] / (double) out->loo.n;
	snprintf(name, sizeof(name), "values, %s: error %.2f of a deviation of 25", type == GP_FLOAT ? "float" : "double", sqrt(error));
	ok(sqrt(error) < 12.0 && out->metric[GP_METRIC_R2] > 0.5, name);
	close_to(square, 1.0, 1e-6, "held-out errors are as large as their variances say");
	ok(least > 0.0 && isnan(out->nugget), "variances are positive");
	p.nlabelled = 1;
	ok(isfinite(fit(dev, &p, &o)->variance[3]), "one value is enough");
}

/* A whole fit, disturbed. */
static void
whole(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, 20, true, GP_FLOAT);
	gp_gpsrf	o = parse_gpsrf(env, "gpsrf(features=10, units=3, hidden=4, steps=1)");

	gp_posterior_free(env, gp_method_fit(dev, &gp_method_gpsrf, &p, &o));
	dev->close(dev);
}

/* On a graph without features the nodes themselves are. */
static void
check_structure(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = make_problem(env, 30, false, GP_FLOAT);
	gp_gpsrf	o = parse_gpsrf(env, "gpsrf(features=40, units=8, hidden=16, steps=400)");

	p.features = NULL;
	ok(fit(dev, &p, &o)->mean[0] > 0.5, "structure alone");
}

int
main(void)
{
	in_env(check_average(env));
	in_env(check_learns(env, true, GP_FLOAT));
	in_env(check_learns(env, false, GP_FLOAT));
	in_env(check_learns(env, false, GP_DOUBLE));
	in_env(check_bits(env, true));
	in_env(check_bits(env, false));
	check_plan(300, true, false, "gpsrf(steps=2)");
	check_plan(300, false, false, "gpsrf(steps=2, features=100)");
	check_plan(5000, true, false, "gpsrf(steps=2, features=200)");
	check_plan(5000, true, true, "gpsrf(steps=2, features=100)");
	in_env(check_refused(env));
	in_env(check_structure(env));
	in_env(check_values(env, GP_FLOAT));
	in_env(check_values(env, GP_DOUBLE));
	disturb("a fit", TEST_REFUSE, 13, 25, whole(env));
	disturb("a fit", TEST_CANCEL, 7, 20, whole(env));
	return done_testing();
}
