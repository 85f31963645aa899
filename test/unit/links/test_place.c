/*
 * test_place.c - the logit of a deep Gaussian process as one of the scores of a pair: what a fit keeps, its way through
 * a store, what predictions make of it, damage, equal bits, and every allocation failing.
 */
#include "links/links_internal.h"
#include "links/scores/scores.h"
#include "test_env.h"
#include "test_graphs.h"

/* Options with few steps. */
static gp_dgp
quick(void)
{
	gp_dgp		o = gp_dgp_defaults;

	o.features = 8;
	o.units = 6;
	o.steps = 30;
	return o;
}

/* Features of n nodes in groups that are alike; NULL where none are asked for. */
static gp_features *
some_features(gp_env *env, bool asked, int n)
{
	gp_features *x = gp_alloc_zero(env, 1, sizeof(*x));
	double	   *dense = gp_alloc_zero(env, n * 5, sizeof(double));
	uint64_t	state = 8;

	for (int k = 0; k < n * 5; k++)
		dense[k] = (k / 5 % 3 == k % 5 % 3) + 0.3 * draw_unit(&state);
	*x = (gp_features) {.rows = n,.dims = 5,.dense = dense,.type = GP_DOUBLE};
	return asked ? x : NULL;
}

/* A fit of the scores, with the logit or without. */
static gp_link_model *
fit(gp_device *dev, const gp_graph *graph, const gp_features *x, const gp_dgp *deep)
{
	gp_link_problem p = {.graph = graph,.features = x,.method = GP_LINK_SCORES,.deep = deep,.seed = 3,
	.program = gp_kernel_compile(dev->env, gp_kernel_parse(dev->env, "gcn"))};

	dev->env->limit = (size_t) 1 << 30;
	return gp_link_fit(dev, &p);
}

/* A fit has one score more, comes back from its arrays, and predicts the same then; threads change no bit. */
static void
check_fit(gp_env *env, bool features, bool directed)
{
	gp_graph   *graph = karate_graph(env, directed, false);
	gp_features *x = some_features(env, features, 34);
	gp_dgp		o = quick();
	gp_link_row first[3];

	for (int threads = 1; threads <= 3; threads++)
	{
		static const int32_t src[3] = {0, 5, 33};
		static const int32_t dst[3] = {1, 30, 9};
		gp_device  *dev = gp_device_cpu(env, threads);
		gp_link_model *plain = fit(dev, graph, x, NULL);
		gp_link_model *m = fit(dev, graph, x, &o);
		double		scalars[GP_LINK_SCALARS];
		gp_link_array array[GP_LINK_MAX_ARRAYS];
		int			n = gp_link_model_arrays(m, scalars, array);
		gp_link_row row[3];
		gp_link_row back[3];
		gp_links   *links = gp_links_open(dev, m);

		ok(m->width == plain->width + 1 && m->place && m->place_width == 6 && plain->place == NULL, "one score more");
		gp_links_score(links, 3, src, dst, row);
		gp_links_close(links);
		links = gp_links_open(dev, gp_link_model_restore(env, array, n));
		gp_links_score(links, 3, src, dst, back);
		ok(memcmp(row, back, sizeof(row)) == 0, "a stored model says the same");
		if (threads == 1)
			memcpy(first, row, sizeof(row));
		ok(memcmp(row, first, sizeof(row)) == 0, "with any number of threads");
		gp_links_close(links);
		dev->close(dev);
	}
}

/* Takes a row into one place. */
static void
take_row(void *state, const gp_link_row *row)
{
	gp_link_row **at = state;

	*(*at)++ = *row;
}

/* The best pairs of a node stand in the order of their scores, and those are what pairs by themselves get. */
static void
check_best(gp_env *env, bool features)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	gp_dgp		o = quick();
	gp_link_model *m = fit(dev, graph, some_features(env, features, 34), &o);
	gp_links   *links = gp_links_open(dev, m);
	gp_link_row best[40];
	gp_link_row again[40];
	gp_link_row *end = best;
	int32_t		node = 11;
	double		worst = 0.0;

	gp_links_best(links, 1, &node, 5, GP_CANDIDATES_ALL, take_row, &end);
	ok(end - best == 5, "five pairs of a node");
	for (int k = 0; k < end - best; k++)
	{
		gp_links_score(links, 1, &best[k].src, &best[k].dst, &again[k]);
		worst = fmax(worst, fabs(again[k].score - best[k].score));
	}
	ok(worst < 1e-6, "score as by themselves");
	gp_links_close(links);
	dev->close(dev);
}

/* The logit is what the inner product says, and the column of a frame. */
static void
check_logit(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = karate_graph(env, false, false);
	float		place[34 * 2 + 1];
	gp_link_frame f;
	int32_t		src = 3;
	int32_t		dst = 20;
	double		out[GP_LINK_MAX_SCORES];

	for (int k = 0; k < 69; k++)
		place[k] = (float) sin(k);
	gp_link_frame_open(&f, dev, graph, NULL, 3, 0, NULL);
	gp_link_frame_place(&f, place, 2);
	gp_link_pair_scores(&f, 1, &src, &dst, out);
	close_to(out[f.width - 1], (double) place[6] * place[40] + (double) place[7] * place[41] + place[68], 1e-12,
			 "the last score is the logit");
	gp_link_frame_close(&f);
	dev->close(dev);
}

/* A stored model that was tampered with. */
static void
check_damage(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_dgp		o = quick();
	gp_link_model *m = fit(dev, karate_graph(env, false, false), NULL, &o);
	double		scalars[GP_LINK_SCALARS];
	gp_link_array array[GP_LINK_MAX_ARRAYS];
	int			n = gp_link_model_arrays(m, scalars, array);
	float		was = m->place[7];

	m->place[7] = NAN;
	expect_error(env, GP_ERR_DATA, gp_link_model_restore(env, array, n));
	m->place[7] = was;
	for (volatile int k = 0; k < n; k++)
		if (array[k].data == m->place)
		{
			gp_link_array kept = array[k];

			array[k].count--;
			expect_error(env, GP_ERR_DATA, gp_link_model_restore(env, array, n));
			array[k].count = 1;
			expect_error(env, GP_ERR_DATA, gp_link_model_restore(env, array, n));
			array[k] = array[n - 1];
			expect_error(env, GP_ERR_DATA, gp_link_model_restore(env, array, n - 1));
			array[k] = kept;
		}
	ok(gp_link_model_restore(env, array, n) != NULL, "undamaged it comes back");
	dev->close(dev);
}

/* What is planned is taken, and less is refused. */
static void
check_memory(gp_env *env)
{
	uint64_t	state = 3;
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_graph   *graph = random_hub_graph(env, &state, 300, 300, 3, 9, false);
	gp_dgp		o = quick();
	gp_link_problem p = {.graph = graph,.method = GP_LINK_SCORES,.deep = &o,.seed = 3,.program = gp_kernel_compile(env, gp_kernel_parse(env, "gcn"))};
	gp_link_plan plan;
	size_t		before;
	char		name[80];

	o.steps = 10;
	env->limit = (size_t) 1 << 30;
	/* What threads need is there from the first fit on. */
	gp_link_model_free(env, gp_link_fit(dev, &p));
	plan = gp_link_plan_make(dev, &p);
	before = env->used;
	env->peak = before;
	gp_link_model_free(env, gp_link_fit(dev, &p));
	is_int((long long) (env->used - before), 0, "nothing is held after the model is freed");
	snprintf(name, sizeof(name), "%.2f of what is planned is taken", (double) env->peak / plan.bytes);
	ok(fabs((double) env->peak / plan.bytes - 1.0) < 0.1, name);
	env->limit = env->peak / 4;
	expect_error(env, GP_ERR_LIMIT, gp_link_fit(dev, &p));
}

/* A whole fit, where an allocation fails or that is cancelled. */
static void
whole(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_dgp		o = quick();

	o.steps = 10;
	fit(dev, karate_graph(env, false, false), NULL, &o);
	dev->close(dev);
}

int
main(void)
{
	for (volatile int way = 0; way < 4; way++)
		in_env(check_fit(env, way & 1, way & 2));
	in_env(check_best(env, false));
	in_env(check_best(env, true));
	in_env(check_logit(env));
	in_env(check_damage(env));
	in_env(check_memory(env));
	disturb("scores with a deep Gaussian process's", TEST_REFUSE, 397, 20, whole(env));
	disturb("scores with a deep Gaussian process's", TEST_CANCEL, 499, 4, whole(env));
	return done_testing();
}
