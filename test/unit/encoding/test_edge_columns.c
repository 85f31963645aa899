/*
 * test_edge_columns.c - what the edges of a node come to, in any order, before and after its own
 * features.
 */
#include "encoding/edge_columns.h"
#include "test_env.h"

#define NODES 4
#define EDGES 7

static const struct
{
	int32_t		src;
	int32_t		dst;
	double		value[2];		/* an amount, and a time */
}			edges[EDGES] = {
	{0, 1, {0.1, 5}}, {0, 2, {0.2, 9}}, {1, 0, {1e16, 1}}, {1, 2, {3, NAN}}, {1, 2, {-1e16, 4}},
	{2, 2, {NAN, 7}}, {0, 1, {0.3, INFINITY}}
};

/* Features by each column, and by the number of edges, of the last join. */
static int32_t numbers[3];

/* The features of all nodes, the edges forwards or backwards. */
static gp_features *
join(gp_env *env, bool directed, bool backwards, gp_features *own)
{
	static const bool is_time[] = {false, true};
	gp_edge_columns *e = gp_edge_columns_create(env, NODES, directed, 2, is_time);

	for (int k = 0; k < EDGES; k++)
	{
		int			at = backwards ? EDGES - 1 - k : k;

		gp_edge_columns_add(e, edges[at].src, edges[at].dst, edges[at].value);
	}
	return gp_edge_columns_join(e, own, GP_DOUBLE, numbers);
}

/* True where two nodes have one feature alike. */
static bool
alike(const gp_features *f, int64_t column, int a, int b)
{
	return gp_number_at(f->dense, f->type, a * f->dims + column) ==
		gp_number_at(f->dense, f->type, b * f->dims + column);
}

static void
check_sides(gp_env *env)
{
	gp_features *directed = join(env, true, false, NULL);
	gp_features *one = join(env, false, false, NULL);
	gp_features *own = gp_features_identity(env, NODES, GP_DOUBLE);
	gp_features *joined = join(env, true, false, own);

	ok(directed->rows == NODES && one->dims > 0 && directed->dims > one->dims, "directed edges have two sides");
	ok(alike(directed, 0, 0, 1) && !alike(directed, 0, 0, 2) && !alike(directed, 0, 2, 3),
	   "nodes with as many edges are alike in their number");
	ok(numbers[0] + numbers[1] + numbers[2] == directed->dims && numbers[2] == 2 &&
	   numbers[0] >= 6, "features are counted by column");
	ok(joined->dims == NODES + directed->dims &&
	   gp_number_at(joined->dense, joined->type, joined->dims) == 0.0 &&
	   gp_number_at(joined->dense, joined->type, joined->dims + 1) == 1.0 &&
	   gp_number_at(joined->dense, joined->type, joined->dims + NODES) ==
	   gp_number_at(directed->dense, directed->type, directed->dims),
	   "features of edges stand behind a node's own");
}

static void
check_order(gp_env *env)
{
	gp_features *first = join(env, true, false, NULL);
	gp_features *second = join(env, true, true, NULL);

	ok(first->dims == second->dims &&
	   memcmp(first->dense, second->dense, sizeof(double) * NODES * (size_t) first->dims) == 0,
	   "sums do not depend on the order of edges");
}

int
main(void)
{
	in_env(check_sides(env));
	in_env(check_order(env));
	return done_testing();
}
