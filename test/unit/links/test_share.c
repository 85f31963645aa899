/*
 * test_share.c - the folds of a fit scored, and the best missing links found, by several threads: the bits of one.
 */
#include "links/links_internal.h"
#include "test_env.h"
#include "test_rows.h"

#include <stdlib.h>

#define NODES 60
#define MOST (NODES * 8)

static uint64_t state = 1;

/* A graph of groups; of fewer links for pairs, whose fit takes the cube of their number. */
static gp_graph *
groups(gp_env *env, gp_link_method method)
{
	gp_edges   *edges = gp_edges_create(env, NODES, false, false);
	double		within = method == GP_LINK_PAIRS ? 0.2 : 0.4;

	state = 7;
	for (int32_t i = 0; i < NODES; i++)
		for (int32_t j = i + 1; j < NODES; j++)
			if (draw_unit(&state) < (i / 20 == j / 20 ? within : 0.005))
				gp_edges_add(edges, 1, &i, &j, NULL);
	return gp_graph_build(edges);
}

/* Features that tell groups apart. */
static gp_features *
group_features(gp_env *env)
{
	gp_features_builder *b = gp_features_create(env, NODES, 40, GP_FLOAT);
	int32_t		node;
	int32_t		feature;
	double		one = 1.0;

	for (int32_t i = 0; i < NODES; i++)
		for (int32_t c = 0; c < 40; c++)
			if (draw_unit(&state) < (c / 2 == i / 20 ? 0.7 : 0.05))
				gp_features_add_entries(b, 1, &i, &c, &one);
	return gp_features_build(b, &node, &feature);
}

/* The best of all nodes by so many threads. */
static rows *
ask(gp_env *env, gp_links *l, int threads)
{
	rows	   *r = rows_create(env, MOST);
	int32_t		node[NODES];

	for (int32_t i = 0; i < NODES; i++)
		node[i] = NODES - 1 - i;
	gp_links_set_threads(l, threads);
	gp_links_best(l, NODES, node, 8, GP_CANDIDATES_AUTO, keep, r);
	return r;
}

/* The same bits. */
static bool
same(const rows *a, const rows *b)
{
	return a->n == b->n && a->n > NODES && memcmp(a->row, b->row, a->n * sizeof(gp_link_row)) == 0;
}

/* Asks one and five threads, and two for what is kept. */
static void
check_threads(gp_env *env, bool features, gp_link_method method)
{
	gp_link_problem p = {.graph = groups(env, method),.features = features ? group_features(env) : NULL,.method = method,.seed = 3,
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_links   *l = gp_links_open(dev, gp_link_fit(dev, &p));
	rows	   *one = ask(env, l, 1);
	gp_link_kept kept = gp_links_keep(l, 4, 0.0);

	ok(same(one, ask(env, l, 5)), "the same bits at any number of threads");
	gp_links_set_threads(l, 2);
	gp_link_kept by_two = gp_links_keep(l, 4, 0.0);
	ok(memcmp(kept.first, by_two.first, (NODES + 1) * sizeof(int64_t)) == 0 &&
	   memcmp(kept.row, by_two.row, kept.first[NODES] * sizeof(gp_link_row)) == 0, "of what is kept, too");
	env->limit = env->used + 16 * 1024 * 1024;
	ok(same(one, ask(env, l, 2)), "and where the limit leaves no room for two");
	env->limit = 0;
	test_state(env)->cancel_at = test_state(env)->checks + 9;
	ok(test_catch(env, ask(env, l, 2)) && test_state(env)->code == TEST_CANCELLED, "a cancel ends it");
}

/* What is planned of a fit and of what is kept of it is what they take. */
static void
check_plan(gp_env *env, bool features, gp_link_method method)
{
	gp_link_problem p = {.graph = groups(env, method),.features = features ? group_features(env) : NULL,.method = method,.seed = 3,.keep = 90,
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_link_method planned;
	double		bytes = gp_link_plan_make(dev, &p, &planned).bytes;
	char		name[120];

	env->peak = env->used;
	gp_link_model *m = gp_link_fit(dev, &p);
	gp_link_model_keep(dev, m, 2, p.keep, 0.0);
	snprintf(name, sizeof(name), "%.0f bytes were planned for a fit that keeps pairs, and %zu taken", bytes, env->peak);
	ok((double) env->peak <= bytes && bytes <= 1.1 * (double) env->peak, name);
}

/* The best pairs of a node, few of them and as many as are kept at most. */
static void
check_heads(gp_env *env)
{
	static const int64_t k[] = {GP_LINK_KEPT, 4};
	gp_link_problem p = {.graph = groups(env, GP_LINK_SCORES),.method = GP_LINK_SCORES,.seed = 3,
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_model *m = gp_link_fit(dev, &p);
	gp_links   *l = gp_links_open(dev, m);
	gp_link_kept kept[2];
	bool		head = true;
	int64_t		most = 0;

	for (int a = 0; a < 2; a++)
		kept[a] = gp_links_keep(l, k[a], 0.0);
	for (int32_t i = 0; i < NODES; i++)
	{
		most = gp_max64(most, kept[0].first[i + 1] - kept[0].first[i]);
		for (int64_t e = 0; e < kept[1].first[i + 1] - kept[1].first[i]; e++)
			head = head && kept[1].row[kept[1].first[i] + e].dst == kept[0].row[kept[0].first[i] + e].dst;
	}
	ok(most > 4 * k[1], "there are enough candidates");
	ok(head, "the first of a list are those of a shorter one");
}

/* The model of a fit by so many threads, which is asked to stop at a look at interrupts, unless that is 0. */
static gp_link_model *
fit_by(gp_env *env, const gp_link_problem *p, int threads, int stop)
{
	gp_device  *dev = gp_device_cpu(env, threads);

	test_state(env)->cancel_at = stop > 0 ? test_state(env)->checks + stop : 0;
	gp_link_model *m = gp_link_fit(dev, p);
	dev->close(dev);
	return m;
}

/* All arrays of two models. */
static bool
same_models(const gp_link_model *a, const gp_link_model *b)
{
	double		scalars[2][GP_LINK_SCALARS];
	gp_link_array array[2][GP_LINK_MAX_ARRAYS];
	int			n = gp_link_model_arrays(a, scalars[0], array[0]);
	bool		same = n == gp_link_model_arrays(b, scalars[1], array[1]);

	for (int k = 0; k < n && same; k++)
		same = array[0][k].count == array[1][k].count &&
			memcmp(array[0][k].data, array[1][k].data, array[0][k].count * gp_link_element_size(array[0][k].element)) == 0;
	return same;
}

/* Folds by one thread and by three. */
static void
check_folds(gp_env *env)
{
	gp_link_problem p = {.graph = groups(env, GP_LINK_SCORES),.features = group_features(env),.method = GP_LINK_SCORES,.seed = 3,
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};
	gp_link_model *one = fit_by(env, &p, 1, 0);
	gp_link_model *three = fit_by(env, &p, 3, 0);
	gp_link_method method;

	ok(same_models(one, three), "a fit has the same bits at any number of threads");
	ok(memcmp(one->metric, three->metric, sizeof(one->metric)) == 0, "and the same figures");
	env->limit = (size_t) gp_link_plan_make(gp_device_cpu(env, 1), &p, &method).bytes + 1024 * 1024;
	ok(same_models(one, fit_by(env, &p, 4, 0)), "and where the limit has room for one fold at a time");
	env->limit = 0;
	ok(test_catch(env, fit_by(env, &p, 2, 40)) && test_state(env)->code == TEST_CANCELLED, "a cancel ends it");
}

int
main(void)
{
	in_env(check_heads(env));
	in_env(check_folds(env));
	in_env(check_threads(env, false, GP_LINK_SCORES));
	in_env(check_threads(env, true, GP_LINK_SCORES));
	in_env(check_threads(env, false, GP_LINK_PAIRS));
	in_env(check_plan(env, true, GP_LINK_SCORES));
	in_env(check_plan(env, false, GP_LINK_PAIRS));
	return done_testing();
}
