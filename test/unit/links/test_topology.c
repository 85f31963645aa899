/*
 * test_topology.c - what hidden links say of where links lie: sides of a graph,
 * the counts by brute force, and the suggestions for two-sided graphs.
 */
#include "base/base.h"
#include "links/search/candidates.h"
#include "test_env.h"
#include "test_graphs.h"
#include "test_rows.h"

#include <stdlib.h>

#define USERS 84
#define ITEMS 42
#define NODES (USERS + ITEMS)
#define FRIENDS 100				/* beside them */
#define MOST 400				/* nodes of any graph here */
#define MOST_PAIRS (2 * GP_LINK_FOLD_PAIRS)	/* of a fold */

/* A small generator, so that every run sees the same cases. */
static uint64_t state = 1;

/* Adds the links of users to items: most of their own taste, one or two of another. */
static void
add_likes(gp_edges *edges, bool turned)
{
	for (int32_t u = 0; u < USERS; u++)
		for (int32_t i = 0; i < ITEMS; i++)
		{
			int32_t		item = USERS + i;
			uint64_t	h = gp_hash((uint64_t) (u * ITEMS + i));

			if (u % 6 == i % 6 ? h % 3 > 0 : h % 40 == 0)
				gp_edges_add(edges, 1, turned ? &item : &u, turned ? &u : &item, NULL);
		}
}

/* Adds links within groups of 20 among the nodes from first on. */
static void
add_groups(gp_edges *edges, int32_t first, int32_t n)
{
	for (int32_t i = first; i < first + n; i++)
		for (int32_t j = i + 1; j < first + n; j++)
			if (gp_hash((uint64_t) (i * MOST + j)) % 100 < (i / 20 == j / 20 ? 40 : 1))
				gp_edges_add(edges, 1, &i, &j, NULL);
}

/* Users and items; the last node has no link, and noise links of users stay on their side. */
static gp_graph *
likes(gp_env *env, bool directed, int noise)
{
	gp_edges   *edges = gp_edges_create(env, NODES + 1, directed, false);

	add_likes(edges, false);
	for (int k = 0; k < noise; k++)
	{
		int32_t		a = 7 * k;
		int32_t		b = 7 * k + 5;

		gp_edges_add(edges, 1, &a, &b, NULL);
	}
	return gp_graph_build(edges);
}

/* Users follow users of their group, and like items; turned: all arcs the other way round. */
static gp_graph *
likes_and_follows(gp_env *env, bool turned)
{
	gp_edges   *edges = gp_edges_create(env, NODES, true, false);

	add_likes(edges, turned);
	for (int32_t i = 0; i < USERS; i++)
		for (int32_t j = 0; j < USERS; j++)
			if (i != j && gp_hash((uint64_t) (i * MOST + j)) % 100 < (i / 20 == j / 20 ? 30 : 1))
				gp_edges_add(edges, 1, &i, &j, NULL);
	return gp_graph_build(edges);
}

/* Users and items, and beside them a graph of friends. */
static gp_graph *
likes_and_friends(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, NODES + FRIENDS, false, false);

	add_likes(edges, false);
	add_groups(edges, NODES, FRIENDS);
	return gp_graph_build(edges);
}

/* A ring of n nodes from first on; a chain when it is open. */
static void
add_ring(gp_edges *edges, int32_t first, int32_t n, bool open)
{
	for (int32_t i = 0; i < n - open; i++)
	{
		int32_t		src = first + i;
		int32_t		dst = first + (i + 1) % n;

		gp_edges_add(edges, 1, &src, &dst, NULL);
	}
}

/* The sides of rings, chains, and nodes alone. */
static void
check_sides(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, 30, false, false);
	bool		right = true;

	add_ring(edges, 0, 8, false);
	add_ring(edges, 8, 7, false);
	add_ring(edges, 15, 5, true);
	gp_link_sides s = gp_link_sides_find(env, gp_graph_symmetric(env, gp_graph_build(edges)));
	for (int i = 0; i < 8; i++)
		right = right && s.component[i] == 0 && s.side[i] == i % 2;
	ok(right, "an even ring alternates");
	for (int i = 8; i < 15; i++)
		right = right && s.component[i] == 1 && s.side[i] == GP_LINK_NO_SIDE;
	ok(right, "an odd one has no sides");
	for (int i = 15; i < 20; i++)
		right = right && s.component[i] == 2 && s.side[i] == (i - 15) % 2;
	ok(right, "a chain alternates");
	ok(s.component[20] == 3 && s.component[29] == 12, "nodes alone are components");
	ok(gp_link_same_side(&s, 0, 2) && !gp_link_same_side(&s, 0, 1) && !gp_link_same_side(&s, 8, 9) &&
	   !gp_link_same_side(&s, 0, 15), "nodes of one side");
}

/* A few links within a side do not hide the sides; friends have none. */
static void
check_noise(gp_env *env)
{
	gp_link_sides s = gp_link_sides_find(env, gp_graph_symmetric(env, likes(env, false, 10)));
	int			wrong = 0;

	for (int i = 0; i < NODES; i++)
		wrong += s.component[i] == s.component[0] && s.side[i] != (s.side[0] ^ (i >= USERS));
	is_int(wrong, 0, "10 links among users leave the sides");
	s = gp_link_sides_find(env, gp_graph_symmetric(env, likes_and_friends(env)));
	for (int i = 0; i < NODES + FRIENDS; i++)
		wrong += (s.side[i] == GP_LINK_NO_SIDE) != (i >= NODES);
	is_int(wrong, 0, "the friends beside them have none");
}

/* Steps from a node to all others along the pattern; -1 where there are none. */
static void
steps_from(const gp_csr *a, int from, int *steps)
{
	bool		more = true;

	for (int i = 0; i < a->rows; i++)
		steps[i] = i == from ? 0 : -1;
	for (int d = 0; more; d++)
	{
		more = false;
		for (int i = 0; i < a->rows; i++)
			for (int64_t k = a->start[i]; steps[i] == d && k < a->start[i + 1]; k++)
				if (steps[a->col[k]] < 0)
				{
					steps[a->col[k]] = d + 1;
					more = true;
				}
	}
}

/* Counts a fold the simple way; returns of how many pairs it is not said right whether they are together. */
static int
brute_counts(gp_env *env, const gp_link_fold *fold, int64_t *count, const bool *together)
{
	const gp_graph *g = fold->graph;
	gp_csr	   *a = gp_graph_symmetric(env, g);
	gp_link_sides s = gp_link_sides_find(env, a);
	int			in[MOST] = {0};
	int			wrong = 0;

	for (int64_t k = 0; k < g->start[g->nodes]; k++)
		in[g->col[k]]++;
	for (int64_t e = 0; e < fold->pairs.n; e++)
	{
		int			i = fold->pairs.src[e];
		int			j = fold->pairs.dst[e];
		int64_t    *c = count + (e < fold->links ? 0 : GP_LINK_TOPOLOGY_COUNTS / 2);
		int			steps[MOST];

		steps_from(a, i, steps);
		c[GP_TOPOLOGY_PAIRS]++;
		c[steps[j] < 0 ? GP_TOPOLOGY_APART : steps[j] > 3 ? GP_TOPOLOGY_MORE : GP_TOPOLOGY_ONE + steps[j] - 1]++;
		c[GP_TOPOLOGY_SIDED] += steps[j] > 0 && s.side[i] != GP_LINK_NO_SIDE;
		c[GP_TOPOLOGY_SAME_SIDE] += gp_link_same_side(&s, i, j);
		c[GP_TOPOLOGY_FROM_END] += in[i] > 0 && g->start[i + 1] == g->start[i];
		c[GP_TOPOLOGY_TO_START] += in[j] == 0 && g->start[j + 1] > g->start[j];
		wrong += together[e] != (steps[j] >= 0);
	}
	return wrong;
}

/* The counts of a graph's folds; they must be those of brute force. */
static void
check_counts(gp_env *env, gp_graph *g, const char *name, int64_t *count)
{
	int64_t		want[GP_LINK_TOPOLOGY_COUNTS] = {0};
	gp_link_fold fold[GP_LINK_FOLDS];
	int			folds = gp_link_folds_make(env, g, 5, fold);
	bool	   *together = gp_alloc_zero(env, folds * MOST_PAIRS, sizeof(bool));
	size_t		base = env->used;
	int			wrong = 0;

	memset(count, 0, GP_LINK_TOPOLOGY_COUNTS * sizeof(int64_t));
	for (int f = 0; f < folds; f++)
		gp_link_topology_count(env, &fold[f], count, together + f * MOST_PAIRS);
	is_int((long long) (env->used - base), 0, "counting holds nothing");
	for (int f = 0; f < folds; f++)
		wrong += brute_counts(env, &fold[f], want, together + f * MOST_PAIRS);
	ok(memcmp(count, want, sizeof(want)) == 0, name);
	is_int(wrong, 0, "and both ends are in one component where they are");
}

/* What is read from the counts of a graph. */
static void
check_topology(gp_env *env, gp_graph *g, const char *name, bool two_sided, bool starts, bool ends, bool three)
{
	int64_t		count[GP_LINK_TOPOLOGY_COUNTS];

	check_counts(env, g, name, count);
	gp_link_topology h = gp_link_topology_read(count);
	ok(h.two_sided == two_sided && h.starts == starts && h.ends == ends && h.three == three,
	   "and what they say");
}

/* Graphs of many kinds. */
static void
check_graphs(gp_env *env)
{
	gp_edges   *friends = gp_edges_create(env, 200, false, false);
	gp_edges   *turned = gp_edges_create(env, NODES, true, false);
	gp_edges   *few = gp_edges_create(env, 40, false, false);
	gp_edges   *tree = gp_edges_create(env, 300, false, false);

	check_topology(env, likes(env, false, 0), "users and items", true, false, false, true);
	check_topology(env, likes(env, true, 0), "users like items", true, true, true, true);
	add_likes(turned, true);
	check_topology(env, gp_graph_build(turned), "items are liked by users", true, true, true, true);
	check_topology(env, likes(env, false, 5), "users and items, and a few friends", true, false, false, true);
	check_topology(env, likes_and_friends(env), "users and items beside friends", true, false, false, true);
	check_topology(env, likes_and_follows(env, false), "users like and follow", false, true, false, false);
	check_topology(env, likes_and_follows(env, true), "the other way round", false, false, true, false);
	add_groups(friends, 0, 200);
	check_topology(env, gp_graph_build(friends), "friends", false, false, false, false);
	add_ring(few, 0, 40, false);
	check_topology(env, gp_graph_build(few), "few links", false, false, false, false);
	add_ring(tree, 0, 300, true);
	check_topology(env, gp_graph_build(tree), "a chain: each hidden link parts it", false, false, false, false);
	check_topology(env, random_hub_graph(env, &state, 300, 500, 0, 0, true), "a sparse random graph", false,
				 false, false, false);
}

/* A model of a graph. */
static gp_link_model *
model_of(gp_env *env, const gp_graph *g, gp_link_method method)
{
	gp_link_problem p = {.graph = g,.method = method,.seed = 3,
	.program = gp_kernel_program(env, gp_kernel_parse(env, "gcn"))};

	return gp_link_fit(gp_device_cpu(env, 1), &p);
}

/* All candidates of every node, of a model with its counts or without. */
static rows *
best_of(gp_env *env, const gp_link_model *model, bool learnt, gp_link_candidates candidates)
{
	gp_link_model used = *model;
	rows	   *r = rows_create(env, MOST * MOST);
	int32_t		nodes = (int32_t) model->graph->nodes;
	int32_t		node[MOST];

	if (!learnt)
		used.topology = NULL;
	gp_links   *l = gp_links_open(gp_device_cpu(env, 1), &used);
	for (int32_t i = 0; i < nodes; i++)
		node[i] = i;
	gp_links_best(l, nodes, node, nodes, candidates, keep, r);
	gp_links_close(l);
	return r;
}

/* The side of a node: 0 for users, 1 for items, 2 for others. */
static int
side_of(int node)
{
	return node < USERS ? 0 : node < NODES ? 1 : 2;
}

/* No candidate is of the node's own side, or leads backwards; every user gets some. */
static void
check_suggestions(gp_env *env, gp_graph *g, gp_link_method method, const char *name)
{
	rows	   *r = best_of(env, model_of(env, g, method), true, GP_CANDIDATES_AUTO);
	bool		answered[USERS] = {false};
	int			wrong = 0;
	int			users = 0;

	for (int e = 0; e < r->n; e++)
	{
		int			src = side_of(r->row[e].src);
		int			dst = side_of(r->row[e].dst);

		wrong += src != 2 && (dst == src || dst == 2);
		wrong += src == 2 && g->nodes == NODES + 1;
		wrong += g->directed && src != 0;
		if (src == 0)
			answered[r->row[e].src] = true;
		if (dst == 0)
			answered[r->row[e].dst] = true;
	}
	for (int u = 0; u < USERS; u++)
		users += answered[u];
	is_int(wrong, 0, name);
	is_int(users, USERS, "and every user is answered");
}

/* Where items only end links, or only start them, so do the suggestions. */
static void
check_direction(gp_env *env, bool turned)
{
	gp_graph   *g = likes_and_follows(env, turned);
	rows	   *r = best_of(env, model_of(env, g, GP_LINK_SCORES), true, GP_CANDIDATES_AUTO);
	int			wrong = 0;
	int			items = 0;

	for (int e = 0; e < r->n; e++)
	{
		wrong += side_of(turned ? r->row[e].dst : r->row[e].src) == 1;
		items += side_of(turned ? r->row[e].src : r->row[e].dst) == 1;
	}
	is_int(wrong, 0, turned ? "nothing leads to an item" : "nothing leads from an item");
	ok(items > NODES, "and many the other way");
}

/* True when two lists hold the same pairs. */
static bool
same_pairs(const rows *a, const rows *b)
{
	for (int e = 0; e < a->n && e < b->n; e++)
		if (a->row[e].src != b->row[e].src || a->row[e].dst != b->row[e].dst)
			return false;
	return a->n == b->n;
}

/* A model without counts answers as before, which is wrong here; what is asked for by name does not learn. */
static void
check_unlearnt(gp_env *env)
{
	gp_link_model *m = model_of(env, likes(env, false, 0), GP_LINK_SCORES);
	rows	   *r = best_of(env, m, false, GP_CANDIDATES_AUTO);
	int			same = 0;

	for (int e = 0; e < r->n; e++)
		same += side_of(r->row[e].src) == side_of(r->row[e].dst);
	ok(same > 0, "a model without counts looks around as it did");
	ok(same_pairs(best_of(env, m, true, GP_CANDIDATES_TWO_HOPS), best_of(env, m, false, GP_CANDIDATES_TWO_HOPS)),
	   "two hops are two hops");
}

/* Where links stay among friends nothing changes. */
static void
check_friends(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, 120, false, false);

	add_groups(edges, 0, 120);
	gp_link_model *m = model_of(env, gp_graph_build(edges), GP_LINK_SCORES);
	ok(same_pairs(best_of(env, m, true, GP_CANDIDATES_AUTO), best_of(env, m, false, GP_CANDIDATES_AUTO)),
	   "among friends the learnt and the plain search agree");
}

/* Every item is a hub and so is every user: a search stays within its bounds, and finds. */
static void
check_hubs(gp_env *env)
{
	int			users = 3000;
	gp_edges   *edges = gp_edges_create(env, users + 3000, false, false);
	gp_link_topology h = {.two_sided = true};
	int32_t    *out;
	gp_link_search *s;
	int64_t		most = 0;
	int64_t		least = INT64_MAX;
	int			wrong = 0;

	for (int32_t u = 0; u < users; u++)
		for (int k = 0; k < 150; k++)
		{
			int32_t		item = users + draw_below(&state, 3000);

			gp_edges_add(edges, 1, &u, &item, NULL);
		}
	gp_graph   *g = gp_graph_build(edges);
	s = gp_link_search_open(env, g, gp_graph_symmetric(env, g), NULL, GP_CANDIDATES_AUTO);
	gp_link_search_learn(s, h, false);
	for (int i = 0; i < 2 * users; i += 61)
	{
		int64_t		n = gp_link_search_node(s, i, &out);

		most = n > most ? n : most;
		least = n < least ? n : least;
		for (int64_t k = 0; k < n; k++)
			wrong += (out[k] < users) == (i < users);
	}
	gp_link_search_close(s);
	is_int(wrong, 0, "hubs on both sides: no candidate of the own side");
	ok(least > 1000 && most <= 4000, "and no more than the budget");
}

/* An item that all users like is no middle to all of them. */
static void
check_favourite(gp_env *env)
{
	int			users = 6000;
	gp_edges   *edges = gp_edges_create(env, users + 40, false, false);
	gp_link_topology h = {.two_sided = true};
	int32_t    *out;
	gp_link_search *s;

	for (int32_t u = 0; u < users; u++)
		for (int32_t k = 0; k < 5; k++)
		{
			int32_t		item = users + (k == 0 ? 0 : draw_below(&state, 40));

			gp_edges_add(edges, 1, &u, &item, NULL);
		}
	gp_graph   *g = gp_graph_build(edges);
	s = gp_link_search_open(env, g, gp_graph_symmetric(env, g), NULL, GP_CANDIDATES_AUTO);
	gp_link_search_learn(s, h, false);
	int64_t		n = gp_link_search_node(s, users + 1, &out);
	ok(n > 1000 && n <= 4000, "a hub between is walked in part");
	gp_link_search_close(s);
}

/* With features a node without links is given what its like are linked with, and without them nothing. */
static void
check_newcomer(gp_env *env)
{
	gp_graph   *g = likes(env, false, 0);
	gp_csr	   *a = gp_graph_symmetric(env, g);
	uint64_t   *code = gp_alloc_zero(env, (NODES + 1) * GP_LINK_CODE_WORDS, sizeof(uint64_t));
	gp_link_topology h = {.two_sided = true};
	int32_t    *out;
	int			items = 0;

	/* Users are alike, and the newcomer is one; items are otherwise. */
	for (int i = 0; i <= NODES; i++)
		for (int w = 0; w < GP_LINK_CODE_WORDS; w++)
			code[i * GP_LINK_CODE_WORDS + w] = side_of(i) == 1 ? UINT64_C(0x00ff00ff00ff00ff) : UINT64_MAX;
	gp_link_search *s = gp_link_search_open(env, g, a, code, GP_CANDIDATES_AUTO);
	gp_link_search_learn(s, h, true);
	int64_t		n = gp_link_search_node(s, NODES, &out);
	for (int64_t k = 0; k < n; k++)
		items += side_of(out[k]) == 1;
	ok(n > 0 && items == n, "a new user is given items");
	gp_link_search_close(s);
	s = gp_link_search_open(env, g, a, code, GP_CANDIDATES_AUTO);
	gp_link_search_learn(s, h, false);
	is_int(gp_link_search_node(s, NODES, &out), 0, "nothing is known of one without features");
	gp_link_search_close(s);
}

/* Counts and a search that learns, to be disturbed. */
static void
count_and_search(gp_env *env)
{
	gp_graph   *g = likes(env, true, 0);
	gp_csr	   *a = gp_graph_symmetric(env, g);
	gp_link_fold fold[GP_LINK_FOLDS];
	int64_t		count[GP_LINK_TOPOLOGY_COUNTS] = {0};
	bool		together[MOST_PAIRS];
	int32_t    *out;

	gp_link_folds_make(env, g, 5, fold);
	gp_link_topology_count(env, &fold[0], count, together);
	gp_link_search *s = gp_link_search_open(env, g, a, NULL, GP_CANDIDATES_AUTO);
	gp_link_search_learn(s, gp_link_topology_read(count), false);
	for (int i = 0; i <= NODES; i++)
		gp_link_search_node(s, i, &out);
	gp_link_search_close(s);
}

/* Fails every allocation in turn. */
static void
check_faults(void)
{
	disturb("topology", TEST_REFUSE, 1, 20, count_and_search(env));
}

int
main(void)
{
	in_env(check_sides(env));
	in_env(check_noise(env));
	in_env(check_graphs(env));
	in_env(check_suggestions(env, likes(env, false, 0), GP_LINK_SCORES, "users and items"));
	in_env(check_suggestions(env, likes(env, true, 0), GP_LINK_SCORES, "users like items"));
	in_env(check_suggestions(env, likes(env, false, 5), GP_LINK_SCORES, "users and items, and a few friends"));
	in_env(check_suggestions(env, likes_and_friends(env), GP_LINK_SCORES, "users and items beside friends"));
	in_env(check_direction(env, false));
	in_env(check_direction(env, true));
	in_env(check_unlearnt(env));
	in_env(check_friends(env));
	in_env(check_hubs(env));
	in_env(check_favourite(env));
	in_env(check_newcomer(env));
	check_faults();
	return done_testing();
}
