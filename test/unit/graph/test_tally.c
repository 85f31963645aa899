/*
 * test_tally.c - counts of different neighbours against a table of all pairs.
 */
#include "graph/graph.h"
#include "test_env.h"

#include <stdlib.h>

#define NODES 40
#define ENDS 600

/* Counts some edges both ways; a share of them is of one node, and most come again. */
static void
check_counts(gp_env *env, int64_t edges, const char *name)
{
	bool	   *there = gp_alloc_zero(env, NODES * ENDS, sizeof(bool));
	double	   *count = gp_alloc_array(env, NODES, sizeof(double));
	gp_tally   *t = gp_tally_open(env);
	uint64_t	state = (uint64_t) edges;
	bool		right = true;

	for (int64_t k = 0; k < edges; k++)
	{
		int			near = draw_below(&state, 3) == 0 ? 7 : draw_below(&state, NODES - 2);
		int			far = draw_below(&state, ENDS);

		there[near * ENDS + far] = true;
		/* Far ends are numbers of any size, whose order as signed ones is another. */
		gp_tally_add(t, near, (uint64_t) far * UINT64_C(0x9e3779b97f4a7c15));
	}
	gp_tally_close(t, NODES, count);
	for (int i = 0; i < NODES; i++)
	{
		int			want = 0;

		for (int j = 0; j < ENDS; j++)
			want += there[i * ENDS + j];
		right = right && count[i] == want;
	}
	ok(right, name);
	gp_free(env, there);
	gp_free(env, count);
}

/* A tally to be disturbed. */
static void
tally(gp_env *env)
{
	double		count[3];
	gp_tally   *t = gp_tally_open(env);

	for (int64_t k = 0; k < 1000; k++)
		gp_tally_add(t, (int32_t) (k % 3), (uint64_t) (k * k % 91));
	gp_tally_close(t, 3, count);
}

int
main(void)
{
	in_env(check_counts(env, 0, "no edges"));
	in_env(check_counts(env, 50, "few edges"));
	in_env(check_counts(env, 20000, "many edges, most of them again"));
	disturb("tally", TEST_REFUSE, 1, 3, tally(env));
	return done_testing();
}
