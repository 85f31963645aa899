/*
 * test_gckm_fit.c - the whole graph convolutional kernel machine: against plain loops, odd
 * graphs, equal bits, plans, limits, cancels, and every allocation failing.
 */
#include "parse_methods.h"
#include "plain_gckm.h"

/* ---- the whole ---- */

/* A problem on the karate club. */
static gp_problem
karate_problem(gp_env *env, const gp_features *features)
{
	static const int32_t labelled[] = {0, 1, 5, 32, 33};
	static const int32_t label[] = {0, 0, 0, 1, 1};
	gp_problem	p;

	memset(&p, 0, sizeof(p));
	p.graph = karate_graph(env, false, false);
	p.features = features;
	p.task = GP_TASK_CLASSES;
	p.nlabelled = 5;
	p.labelled = labelled;
	p.label = label;
	p.nclasses = 2;
	p.type = features ? features->type : GP_FLOAT;
	return p;
}

/* A whole machine of two layers with every node a landmark, by plain loops. */
static void
check_chain(gp_env *env, bool sum, bool own)
{
	gp_device  *dev = gp_device_cpu(env, 3);
	double		x[N * 6];
	gp_features *f = make_features(env, N, 6, false, GP_DOUBLE, x);
	gp_problem	p = karate_problem(env, f);
	gp_gckm		o = parse_gckm(env, "gckm(components=5, components2=3)");
	gp_csr	   *op = gp_graph_normalise(env, p.graph, GP_NORM_SYM, GP_DOUBLE);
	gp_rkm		m = {1.0, 0.07, 1.0, p.nlabelled, p.labelled, p.label, 2};
	double		e[N * 2];
	char		name[100];

	o.aggregate = sum ? GP_GCKM_SUM : GP_GCKM_SYM;
	o.own = own;
	for (int64_t t = 0; t < gp_csr_entries(op) && sum; t++)
		((double *) op->value)[t] = 1.0;
	double	   *a = plain_gather(env, op, 6, x);
	double	   *k = plain_rbf(env, N, 6, a, 8.0 * plain_variance(N, 6, a));
	double	   *h = plain_components(env, N, 5, k);
	a = plain_gather(env, op, 5, h);
	k = plain_rbf(env, N, 5, a, 16.0 * plain_variance(N, 5, a));
	h = plain_components(env, N, 3, k);
	k = plain_rbf(env, N, 3, h, 8.0 * plain_variance(N, 3, h));
	a = plain_rows(env, N, 6, NULL, x);
	for (int i = 0; i < N && own; i++)
		for (int j = 0; j < N; j++)
		{
			double		away = 0.0;

			for (int c = 0; c < 6; c++)
				away += (a[i * 6 + c] - a[j * 6 + c]) * (a[i * 6 + c] - a[j * 6 + c]);
			k[i * N + j] *= exp(-0.8 * sqrt(away) / sqrt(2.0 * plain_variance(N, 6, a)));
		}
	equation(&m, N, k, -1, e, NULL, NULL);
	gp_posterior *out = gp_method_fit(dev, &gp_method_gckm, &p, &o);
	for (int i = 0; i < N * 2; i += 2)
	{
		double		length = sqrt(0.5 + 0.25 * (e[i] * e[i] + e[i + 1] * e[i + 1]));

		for (int c = i; c < i + 2; c++)
		{
			e[c] = 0.5 * (1.0 + e[c] / length);
			e[c] = 0.5 * (e[c] + sqrt(e[c] * e[c] + 0.15 * 0.15));
		}
		length = e[i] + e[i + 1];
		e[i] /= length;
		e[i + 1] /= length;
	}
	snprintf(name, sizeof(name), "two layers%s%s: as by plain loops to %.2g", sum ? ", sums" : "",
			 own ? ", own view" : "", worst(N * 2, out->mean, e));
	ok(worst(N * 2, out->mean, e) < 1e-9, name);
	ok(out->nlandmarks == N && isnan(out->nugget) && isnan(out->log_marginal_likelihood) &&
	   out->loo.n == p.nlabelled && out->variance[3] >= 0.0 && out->variance[3] <= 2.0 &&
	   out->metric[GP_METRIC_ACCURACY] >= 0.0, "the posterior has what its readers look for");
}

/* Whether every number of a posterior is one. */
static bool
sound(const gp_posterior *out)
{
	bool		finite = true;

	for (int64_t i = 0; i < out->nodes; i++)
	{
		finite = finite && out->variance[i] >= 0.0 && out->variance[i] <= 2.0;
		for (int32_t c = 0; c < out->columns; c++)
			finite = finite && isfinite(out->mean[i * out->columns + c]);
	}
	for (int64_t k = 0; k < out->loo.n * out->columns; k++)
		finite = finite && isfinite(out->loo.mean[k]);
	return finite;
}

/* Every class is dealt to all folds. */
static void
check_folds(gp_env *env)
{
	static const int32_t few[] = {0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0, 2};
	int32_t    *fold = gp_folds_deal(env, 12, few, 5, 1);
	int			dealt[3][5] = {{0}};

	for (int k = 0; k < 12; k++)
		dealt[few[k]][fold[k]]++;
	ok(dealt[0][0] == 1 && dealt[0][4] == 1 &&
	   dealt[1][0] + dealt[1][1] + dealt[1][2] + dealt[1][3] + dealt[1][4] == 6, "each class is dealt to all folds");
}

/* The same bits with any number of threads. */
static void
check_bits(gp_env *env, const char *text)
{
	static const int threads[] = {1, 2, 3, 7};
	uint64_t	state = 5;
	double	   *x = gp_alloc_array(env, 400 * 70, sizeof(double));
	gp_features *f = make_features(env, 400, 70, true, GP_FLOAT, x);
	int32_t		labelled[40];
	int32_t		label[40];
	gp_problem	p = karate_problem(env, f);
	gp_gckm		o = parse_gckm(env, text);
	gp_posterior *first = NULL;
	bool		same = true;
	char		name[200];

	p.graph = random_hub_graph(env, &state, 400, 900, 2, 40, false);
	for (int i = 0; i < 40; i++)
	{
		labelled[i] = 10 * i;
		label[i] = i % 3;
	}
	p.nlabelled = 40;
	p.labelled = labelled;
	p.label = label;
	p.nclasses = 3;
	for (int t = 0; t < 4; t++)
	{
		gp_device  *dev = gp_device_cpu(env, threads[t]);

		if (t == 3)
			dev->row_block = 64;
		gp_posterior *out = gp_method_fit(dev, &gp_method_gckm, &p, &o);
		first = first ? first : out;
		same = same && memcmp(out->mean, first->mean, 400 * 3 * sizeof(double)) == 0 &&
			memcmp(out->loo.mean, first->loo.mean, 40 * 3 * sizeof(double)) == 0 &&
			out->metric[GP_METRIC_NLL] == first->metric[GP_METRIC_NLL];
		dev->close(dev);
	}
	snprintf(name, sizeof(name), "%s: the same with 1, 2, 3 and 7 threads, whatever the device's panels", text);
	ok(same, name);
}

/* A fit of a graph with so many nodes, labels and classes; features are all alike, or none. */
static void
check_odd(gp_env *env, int n, int every, int classes, bool alike, const char *text)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_gckm		o = parse_gckm(env, text);
	int32_t    *labelled = gp_alloc_array(env, n, sizeof(int32_t));
	int32_t    *label = gp_alloc_array(env, n, sizeof(int32_t));
	gp_problem	p = karate_problem(env, NULL);
	gp_features_builder *b = gp_features_create(env, n, 2, GP_FLOAT);
	double		one[2] = {1.0, 1.0};
	uint64_t	state = 2;
	int32_t		r1;
	int32_t		r2;
	char		name[200];

	p.graph = n > 3 ? random_hub_graph(env, &state, n, n / 2, 0, 0, false) :
		gp_graph_build(gp_edges_create(env, n, false, false));
	p.nlabelled = 0;
	for (int i = 0; i < n; i += every)
	{
		labelled[p.nlabelled] = i;
		label[p.nlabelled++] = draw_below(&state, classes);
	}
	p.labelled = labelled;
	p.label = label;
	p.nclasses = classes;
	for (int i = 0; i < n; i++)
		gp_features_add_row(b, i, one);
	if (alike)
		p.features = gp_features_build(b, &r1, &r2);
	gp_posterior *out = gp_method_fit(dev, &gp_method_gckm, &p, &o);
	snprintf(name, sizeof(name), "%d nodes, %d labels, %d classes, %s features, %s: sound, jitter %g", n,
			 (int) p.nlabelled, classes, alike ? "equal" : "no", text, out->jitter);
	ok(sound(out) && out->nlandmarks <= o.landmarks, name);
	gp_posterior_free(env, out);
}

/* Nodes that are like no other, labelled or not, leave the others' scores as they are. */
static void
check_outliers(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_gckm		o = parse_gckm(env, "gckm(layers=1, landmarks=60)");
	gp_features_builder *b = gp_features_create(env, 200, 2, GP_FLOAT);
	gp_problem	p = karate_problem(env, NULL);
	int32_t		labelled[20];
	int32_t		label[20];
	int32_t		r1;
	int32_t		r2;
	int			right = 0;

	p.graph = gp_graph_build(gp_edges_create(env, 200, false, false));
	p.nlabelled = 20;
	p.labelled = labelled;
	p.label = label;
	for (int i = 0; i < 200; i++)
	{
		double		x[2] = {i % 2 + 0.1 * sin(i), 0.1 * cos(i)};

		if (i == 30 || i == 37)
			x[0] = i * 1e4;
		gp_features_add_row(b, i, x);
		if (i % 10 == i / 10 % 2)
		{
			labelled[i / 10] = i;
			label[i / 10] = i % 2;
		}
	}
	p.features = gp_features_build(b, &r1, &r2);
	gp_posterior *out = gp_method_fit(dev, &gp_method_gckm, &p, &o);
	for (int i = 0; i < 200; i++)
		right += out->mean[i * 2 + i % 2] > out->mean[i * 2 + 1 - i % 2];
	printf("# %d of 200 right, the outliers' scores are %g and %g\n", right, out->mean[60], out->mean[74]);
	ok(sound(out), "nodes like no other: sound");
}

/* ---- memory, limits, faults ---- */

/* What a machine works on in the tests of memory. */
static gp_problem
memory_problem(gp_env *env, int n, int features, gp_type type, int every)
{
	uint64_t	state = 5;
	gp_problem	p = karate_problem(env, NULL);
	int			dims = features == 2 ? 200 : 40;
	double	   *x = gp_alloc_array(env, (int64_t) n * dims, sizeof(double));
	int32_t    *labelled = gp_alloc_array(env, n, sizeof(int32_t));
	int32_t    *label = gp_alloc_array(env, n, sizeof(int32_t));

	p.graph = random_hub_graph(env, &state, n, 2 * n, 2, 20, false);
	if (features > 0)
		p.features = make_features(env, n, dims, features == 2, type, x);
	gp_free(env, x);
	p.nlabelled = 0;
	for (int i = 0; i < n; i += every)
	{
		labelled[p.nlabelled] = i;
		label[p.nlabelled++] = i / every % 3;
	}
	p.labelled = labelled;
	p.label = label;
	p.nclasses = 3;
	return p;
}

/* The plan is what the fit takes, at most a tenth more. */
static void
check_plan(gp_env *env, int n, int features, gp_type type, int every, const char *text)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_problem	p = memory_problem(env, n, features, type, every);
	gp_gckm		o = parse_gckm(env, text);
	size_t		base = env->used;
	char		name[250];

	env->peak = base;
	gp_plan		plan = gp_method_plan(dev, &gp_method_gckm, &p, &o);
	ok(env->used == base, "a plan leaves nothing behind");
	env->peak = base;
	gp_posterior *out = gp_method_fit(dev, &gp_method_gckm, &p, &o);
	double		ratio = plan.bytes / (double) env->peak;
	snprintf(name, sizeof(name), "%d nodes, features of kind %d, %s, %d labels, %s: the plan is %.3f of the peak", n,
			 features, type == GP_FLOAT ? "float" : "double", (int) p.nlabelled, text, ratio);
	ok(ratio >= 1.0 && ratio <= 1.1 && out->plan.bytes == plan.bytes, name);
	gp_posterior_free(env, out);
	is_int((long long) (env->used - base), 0, "nothing is held after the fit");
	env->limit = env->used + (size_t) ((plan.bytes - (double) base) / 2.0);
	env->peak = env->used;
	expect_error(env, GP_ERR_LIMIT, gp_method_fit(dev, &gp_method_gckm, &p, &o));
	p.estimate_limit = 1;
	ok(gp_method_plan(dev, &gp_method_gckm, &p, &o).bytes > 0.0, "an estimate is given all the same");
}

/* An embedding has as many columns as the last layer has components, and frees what it took. */
static void
check_embedding(gp_env *env, const char *text)
{
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_problem	p = memory_problem(env, 300, 2, GP_FLOAT, 10);
	gp_gckm		o = parse_gckm(env, text);
	size_t		base = env->used;
	gp_features *h = gp_gckm_embedding(dev, p.graph, p.features, 1, &o);
	const double *x = h->dense;
	double		off = 0.0;

	for (int a = 0; a < 4; a++)
		for (int b = 0; b <= a; b++)
		{
			double		dot = 0.0;

			for (int i = 0; i < 300; i++)
				dot += x[i * 4 + a] * x[i * 4 + b];
			off = fmax(off, fabs(dot - (a == b)));
		}
	ok(h->rows == 300 && h->dims == 4 && h->type == GP_DOUBLE && off < 1e-9, "an embedding has orthonormal columns");
	gp_features_free(env, h);
	is_int((long long) (env->used - base), 0, "nothing is held after it");
	env->limit = env->used + (1 << 18);
	expect_error(env, GP_ERR_LIMIT, gp_gckm_embedding(dev, p.graph, p.features, 1, &o));
}

/* What has no answer is refused. */
static void
check_refusals(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_problem	p = karate_problem(env, NULL);
	gp_gckm		o = parse_gckm(env, "gckm(own=true)");
	double		huge[2] = {1e300, -1e300};
	gp_features_builder *b = gp_features_create(env, N, 2, GP_DOUBLE);
	int32_t		r1;
	int32_t		r2;

	expect_error(env, GP_ERR_VALUE, gp_method_fit(dev, &gp_method_gckm, &p, &o));
	o = parse_gckm(env, "gckm");
	p.nlabelled = 0;
	expect_error(env, GP_ERR_DATA, gp_method_fit(dev, &gp_method_gckm, &p, &o));
	p.task = GP_TASK_VALUES;
	expect_error(env, GP_ERR_UNSUPPORTED, gp_method_plan(dev, &gp_method_gckm, &p, &o));
	for (int i = 0; i < N; i++)
		gp_features_add_row(b, i, huge);
	p = karate_problem(env, gp_features_build(b, &r1, &r2));
	expect_error(env, GP_ERR_RANGE, gp_method_fit(dev, &gp_method_gckm, &p, &o));
}

/* A fit and an embedding for the fault injection. */
static void
small_run(gp_env *env, bool sparse, const char *text)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	double		x[N * 6];
	gp_problem	p = karate_problem(env, make_features(env, N, 6, sparse, GP_FLOAT, x));
	gp_gckm		o = parse_gckm(env, text);

	gp_posterior_free(env, gp_method_fit(dev, &gp_method_gckm, &p, &o));
	gp_features_free(env, gp_gckm_embedding(dev, p.graph, p.features, 1, &o));
	dev->close(dev);
}

/* Fails allocations in turn, every one or in steps where they repeat, and cancels at every fifth check. */
static void
check_faults(bool sparse, const char *text, int step)
{
	disturb(text, TEST_REFUSE, step, 30, small_run(env, sparse, text));
	disturb(text, TEST_CANCEL, 5, 5, small_run(env, sparse, text));
}

int
main(void)
{
	for (volatile int k = 0; k < 4; k++)
		in_env(check_chain(env, k & 1, k & 2));
	in_env(check_folds(env));
	in_env(check_bits(env, "gckm"));
	in_env(check_bits(env, "gckm(own=true, landmarks=100, layers=3)"));
	in_env(check_odd(env, 1, 1, 1, false, "gckm"));
	in_env(check_odd(env, 2, 1, 2, false, "gckm"));
	in_env(check_odd(env, 3, 2, 2, false, "gckm(layers=1)"));
	in_env(check_odd(env, 50, 60, 2, false, "gckm(layers=4)"));
	in_env(check_odd(env, 50, 1, 1, false, "gckm"));
	in_env(check_odd(env, 50, 1, 4, true, "gckm(own=true)"));
	in_env(check_odd(env, 50, 7, 4, true, "gckm(landmarks=1)"));
	in_env(check_odd(env, 200, 2, 5, false, "gckm(landmarks=20, components=500)"));
	in_env(check_odd(env, 200, 4, 5, false, "gckm(width1=1e-4, width2=1e-4, width3=1e-4, landmarks=30)"));
	in_env(check_odd(env, 200, 4, 5, false, "gckm(width1=1e5, width2=1e5, width3=1e5)"));
	in_env(check_outliers(env));
	for (volatile int k = 0; k < 3; k++)
	{
		in_env(check_plan(env, 300, k, GP_FLOAT, 10, "gckm(landmarks=48)"));
		in_env(check_plan(env, 1500, k, GP_DOUBLE, 2, "gckm(landmarks=100, layers=3, aggregate=sum)"));
	}
	in_env(check_plan(env, 300, 1, GP_FLOAT, 10, "gckm(landmarks=48, own=true)"));
	in_env(check_plan(env, 3000, 2, GP_DOUBLE, 3, "gckm(landmarks=48, own=true)"));
	in_env(check_embedding(env, "gckm(components2=4)"));
	in_env(check_refusals(env));
	check_faults(true, "gckm(landmarks=20, aggregate=sum, own=true)", 1);
	check_faults(false, "gckm(layers=3, own=true)", 1);
	return done_testing();
}
