/*
 * test_unlabelled_components.c - components, against a search in depth, and the NOTICE about those without a label.
 */
#include "test_env.h"
#include "test_world.h"

#define NODES 300
#define FIRST 60				/* nodes of the component that has the labels */

/* Gives what can be reached from a node its number, by a table of all pairs. */
static void
reach(const bool *joined, int node, int number, int *of_node)
{
	of_node[node] = number;
	for (int j = 0; j < NODES; j++)
		if ((joined[node * NODES + j] || joined[j * NODES + node]) && of_node[j] < 0)
			reach(joined, j, number, of_node);
}

/* Components of random edges, some of which weigh nothing. */
static void
check_components(gp_env *env, bool directed, bool weighted, int m, const char *name)
{
	gp_edges   *edges = gp_edges_create(env, NODES, directed, weighted);
	bool	   *joined = gp_alloc_zero(env, NODES * NODES, sizeof(bool));
	int			want[NODES];
	uint64_t	state = (uint64_t) m;
	int32_t    *found;
	bool		right = true;

	for (int k = 0; k < m; k++)
	{
		int32_t		src = draw_below(&state, NODES);
		int32_t		dst = draw_below(&state, NODES);
		double		weight = draw_below(&state, 3);

		gp_edges_add(edges, 1, &src, &dst, weighted ? &weight : NULL);
		joined[src * NODES + dst] |= !weighted || weight > 0.0;
	}
	gp_graph   *graph = gp_graph_build(edges);
	found = gp_graph_components(env, NODES, graph->start, graph->col, graph->weight, directed);
	for (int i = 0; i < NODES; i++)
		want[i] = -1;
	for (int i = 0; i < NODES; i++)
		if (want[i] < 0)
			reach(joined, i, i, want);
	for (int i = 0; i < NODES; i++)
		for (int j = 0; j < NODES; j++)
			right = right && (want[i] == want[j]) == (found[i] == found[j]);
	ok(right, name);
}

/* A path of the first nodes, some of them labelled, one of a number of others, and nodes that are alone. */
static gp_problem
make_problem(gp_env *env, int others, bool features, const char *kernel)
{
	gp_edges   *edges = gp_edges_create(env, FIRST + others, false, false);
	gp_features_builder *rows = gp_features_create(env, FIRST + others, 1, GP_DOUBLE);
	world		w = world_open(env, FIRST);

	for (int32_t i = 0; i < FIRST + others; i++)
	{
		int32_t		dst = i + 1;
		double		x = i;

		gp_features_add_row(rows, i, &x);
		if (dst != FIRST && dst < FIRST + others / 2)
			gp_edges_add(edges, 1, &i, &dst, NULL);
	}
	for (int32_t i = 0; i < FIRST; i += 3)
		world_label(&w, i, i % WORLD_CLASSES, i);
	w.graph = gp_graph_build(edges);
	if (features)
		w.features = gp_features_build(rows, &(int32_t) {0}, &(int32_t) {0});
	return world_problem(env, &w, kernel ? kernel : "gcn", GP_TASK_CLASSES, GP_DOUBLE);
}

/* The NOTICE; hint NULL: none. */
static void
check_notice(gp_env *env, int others, bool features, const char *kernel, const char *hint)
{
	gp_problem	p = make_problem(env, others, features, kernel);
	char		want[100];
	size_t		live = env->used;

	if (kernel == NULL)
		p.program = NULL;
	snprintf(want, sizeof(want), "%d of %d unlabelled nodes are in components of the graph without a label",
			 others, FIRST * 2 / 3 + others);
	gp_notice_unlabelled(env, &p);
	ok(env->used == live, "nothing is kept");
	if (hint == NULL)
	{
		is_int(test_state(env)->notices, 0, "and nothing is said");
		return;
	}
	is_str(test_state(env)->notice, want, "it is said how many");
	ok(strstr(test_state(env)->notice_hint, hint) != NULL, test_state(env)->notice_hint);
}

/* Without room for the count nothing is said. */
static void
check_room(gp_env *env)
{
	gp_problem	p = make_problem(env, 30, false, "gcn");

	env->limit = env->used + 100;
	gp_notice_unlabelled(env, &p);
	is_int(test_state(env)->notices, 0, "a fit does not fail for it");
}

/* The same to be disturbed. */
static void
tell(gp_env *env)
{
	gp_problem	p = make_problem(env, 30, false, "gcn");

	gp_notice_unlabelled(env, &p);
}

int
main(void)
{
	in_env(check_components(env, false, false, 150, "few edges"));
	in_env(check_components(env, false, false, 1200, "many edges"));
	in_env(check_components(env, true, false, 200, "edges with directions"));
	in_env(check_components(env, false, true, 300, "edges with weights"));
	in_env(check_components(env, true, true, 300, "edges with both"));
	in_env(check_notice(env, 4, false, "gcn", NULL));
	in_env(check_notice(env, 5, false, "gcn", "nothing but the prior: label some of these nodes, or give the nodes features"));
	in_env(check_notice(env, 200, false, "laplacian", "nothing but the prior: label some of these nodes, or give"));
	in_env(check_notice(env, 200, true, "laplacian", "nothing but the prior: label some of these nodes, or take a kernel that uses the features"));
	in_env(check_notice(env, 200, true, "relu(N*W)*W", "nothing but the prior: label some of these nodes, or take a kernel"));
	in_env(check_notice(env, 200, true, "gcn(input=identity)", "nothing but the prior: label some of these nodes, or take a kernel"));
	in_env(check_notice(env, 200, true, "gcn", "rest on features alone"));
	in_env(check_notice(env, 200, true, "profile", "rest on features alone"));
	in_env(check_notice(env, 200, true, NULL, "rest on features alone"));
	in_env(check_notice(env, 200, false, NULL, "nothing but the prior"));
	in_env(check_notice(env, 200, true, "mlp", NULL));
	in_env(check_notice(env, 200, true, "rbf", NULL));
	in_env(check_room(env));
	disturb("the NOTICE", TEST_CANCEL, 1, 3, tell(env));
	disturb("the NOTICE", TEST_REFUSE, 1, 3, tell(env));
	return done_testing();
}
