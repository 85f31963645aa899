/*
 * test_candidates.c - candidates of a node by brute force, hubs and the
 * budget, codes against angles in the kernel, odd graphs, faults and cancels.
 */
#include "base/base.h"
#include "links/search/candidates.h"
#include "test_env.h"
#include "test_graphs.h"
#include "test_codes.h"

#include <stdlib.h>

#define BUDGET 4000
#define HUB 100
#define NEAREST 50

/* A small generator, so that every run sees the same cases. */
static uint64_t state = 1;

/* Random codes; every tenth node has none, and groups of four differ in few bits. */
static uint64_t *
random_codes(gp_env *env, int n, int flips)
{
	uint64_t   *code = gp_alloc_zero(env, n * WORDS, sizeof(uint64_t));

	for (int i = 0; i < n; i++)
	{
		for (int w = 0; w < WORDS; w++)
			code[i * WORDS + w] = gp_hash(gp_hash(i / 4 * WORDS + w));
		for (int f = 0; f < flips; f++)
			code[i * WORDS + draw_below(&state, WORDS)] ^= UINT64_C(1) << draw_below(&state, 64);
		if (i % 10 == 9)
			memset(code + i * WORDS, 0, WORDS * sizeof(uint64_t));
	}
	return code;
}

/* True when the graph has the arc. */
static bool
linked(const gp_graph *g, int i, int j)
{
	for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
		if (g->col[k] == j)
			return true;
	return false;
}

static int64_t
degree(const gp_csr *a, int i)
{
	return a->start[i + 1] - a->start[i];
}

/* Marks the neighbours of a middle. */
static void
reach(const gp_csr *a, int middle, bool *in)
{
	for (int64_t k = a->start[middle]; k < a->start[middle + 1]; k++)
		in[a->col[k]] = true;
}

/* Marks the 50 nearest codes that are not linked. */
static void
reach_nearest(const gp_graph *g, const uint64_t *code, int i, bool *in)
{
	bool	   *used = calloc(g->nodes, 1);

	for (int k = 0; k < NEAREST && has_code(code, i); k++)
	{
		int			best = -1;

		for (int j = 0; j < g->nodes; j++)
			if (j != i && !used[j] && has_code(code, j) && !linked(g, i, j) &&
				(best < 0 || distance(code, i, j) < distance(code, i, best)))
				best = j;
		if (best < 0)
			break;
		used[best] = in[best] = true;
	}
	free(used);
}

/* The nodes that are left of a set, counted. */
static int64_t
strike_out(const gp_graph *g, int i, bool *in)
{
	int64_t		n = 0;

	in[i] = false;
	for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
		in[g->col[k]] = false;
	for (int j = 0; j < g->nodes; j++)
		n += in[j];
	return n;
}

/* Candidates without hubs and without an end of the budget, the simple way. */
static void
brute(const gp_graph *g, const gp_csr *a, const uint64_t *code, gp_link_candidates mode, int i,
	  bool *in)
{
	bool	   *two = calloc(g->nodes + 1, 1);
	int64_t		found;

	memset(in, mode == GP_CANDIDATES_ALL, g->nodes);
	if (mode != GP_CANDIDATES_ALL)
	{
		reach(a, i, in);
		for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
			reach(a, a->col[k], in);
		found = strike_out(g, i, in);
		memcpy(two, in, g->nodes);
		if (mode == GP_CANDIDATES_THREE_HOPS ||
			(mode == GP_CANDIDATES_AUTO && found < 2 * GP_LINK_KEPT))
			for (int j = 0; j < g->nodes; j++)
				if (two[j])
					reach(a, j, in);
		if (code)
			reach_nearest(g, code, i, in);
	}
	strike_out(g, i, in);
	free(two);
}

/* True when the list is the set, ascending. */
static bool
same(const int32_t *list, int64_t n, const bool *in, int64_t nodes)
{
	int64_t		at = 0;

	for (int64_t j = 0; j < nodes; j++)
		if (in[j] && (at >= n || list[at++] != j))
			return false;
	return at == n;
}

static const char *const mode_name[] = {"auto", "two hops", "three hops", "all"};

/* Every node of a graph in every mode, with and without codes, in two orders. */
static void
check_brute(gp_env *env, gp_graph *g, bool coded, const char *what)
{
	gp_csr	   *a = gp_graph_symmetric(env, g);
	uint64_t   *code = coded ? random_codes(env, (int) g->nodes, 30) : NULL;
	int32_t    *out;
	bool	   *in = calloc(g->nodes + 1, 1);
	size_t		base = env->used;
	char		name[200];

	for (int mode = 0; mode < 4; mode++)
	{
		gp_link_search *s = gp_link_search_open(env, g, a, code, mode);
		int64_t		wrong = 0;
		int64_t		total = 0;

		for (int64_t k = 0; k < 2 * g->nodes; k++)
		{
			int			i = (int) (k < g->nodes ? k : 2 * g->nodes - 1 - k);
			int64_t		n = gp_link_search_node(s, i, &out);

			brute(g, a, code, mode, i, in);
			wrong += !same(out, n, in, g->nodes);
			total += n;
		}
		gp_link_search_close(s);
		snprintf(name, sizeof(name), "%s%s, %s: %d candidates of %d nodes", what,
				 coded ? " with codes" : "", mode_name[mode], (int) total / 2, (int) g->nodes);
		is_int(wrong, 0, name);
	}
	is_int((long long) (env->used - base), 0, "a closed search holds nothing");
	free(in);
}

/* Graphs of many kinds. */
static void
check_graphs(gp_env *env, bool coded)
{
	check_brute(env, karate_graph(env, false, false), coded, "karate");
	check_brute(env, karate_graph(env, true, false), coded, "directed karate");
	check_brute(env, random_hub_graph(env, &state, 200, 250, 0, 0, false), coded, "sparse graph");
	check_brute(env, random_hub_graph(env, &state, 200, 350, 0, 0, true), coded, "sparse directed graph");
	check_brute(env, random_hub_graph(env, &state, 300, 5000, 0, 0, false), coded, "dense graph");
}

/* The key of the node's next hub after the last: degree, then number; INT64_MAX at the end. */
static int64_t
next_hub(const gp_csr *a, int i, int64_t last)
{
	int64_t		next = INT64_MAX;

	for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
	{
		int64_t		key = degree(a, a->col[k]) << 32 | a->col[k];

		if (degree(a, a->col[k]) > HUB && key > last && key < next)
			next = key;
	}
	return next;
}

/*
 * Two hops with hubs: least gets what must be found, most what may be.  Returns
 * how many more than least may be found.
 */
static int64_t
brute_hubs(const gp_graph *g, const gp_csr *a, int i, bool *least, bool *most)
{
	int64_t		walked = 0;
	int64_t		room = 0;

	memset(least, 0, g->nodes);
	reach(a, i, least);
	for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
		if (degree(a, a->col[k]) <= HUB)
		{
			reach(a, a->col[k], least);
			walked += degree(a, a->col[k]);
		}
	int64_t		hub = next_hub(a, i, 0);
	for (; hub != INT64_MAX && walked + (hub >> 32) <= BUDGET; hub = next_hub(a, i, hub))
	{
		reach(a, (int32_t) (hub & INT32_MAX), least);
		walked += hub >> 32;
	}
	memcpy(most, least, g->nodes);
	if (hub != INT64_MAX && walked < BUDGET)
	{
		reach(a, (int32_t) (hub & INT32_MAX), most);
		room = BUDGET - walked;
	}
	strike_out(g, i, least);
	strike_out(g, i, most);
	return hub == INT64_MAX ? -1 : room;
}

/* Hubs: the smaller ones whole, one in part, no more than the budget in all. */
static void
check_hubs(gp_env *env, int n, int m, int hubs, int links, bool directed)
{
	gp_graph   *g = random_hub_graph(env, &state, n, m, hubs, links, directed);
	gp_csr	   *a = gp_graph_symmetric(env, g);
	gp_link_search *s = gp_link_search_open(env, g, a, NULL, GP_CANDIDATES_TWO_HOPS);
	int32_t    *out;
	bool	   *least = calloc(n, 1);
	bool	   *most = calloc(n, 1);
	int64_t		wrong = 0;
	int64_t		cut = 0;
	char		name[160];

	for (int i = 0; i < n; i += n > 5000 && i > 50 ? 37 : 1)
	{
		int64_t		found = gp_link_search_node(s, i, &out);
		int64_t		room = brute_hubs(g, a, i, least, most);
		int64_t		must = strike_out(g, i, least);

		cut += room >= 0;
		wrong += found < must || found > must + (room > 0 ? room : 0);
		for (int64_t k = 0; k < found; k++)
		{
			wrong += !most[out[k]] || (k > 0 && out[k] <= out[k - 1]);
			must -= least[out[k]];
		}
		wrong += must != 0;
	}
	gp_link_search_close(s);
	snprintf(name, sizeof(name), "%s graph of %d nodes with %d hubs: %d nodes cut short",
			 directed ? "directed" : "undirected", n, hubs, (int) cut);
	is_int(wrong, 0, name);
	free(least);
	free(most);
}

/* A third step ends with the budget, and two searches agree whatever came before. */
static void
check_budget(gp_env *env)
{
	int			n = 60000;
	gp_graph   *g = random_hub_graph(env, &state, n, 40 * n / 2, 0, 0, false);
	gp_csr	   *a = gp_graph_symmetric(env, g);
	uint64_t   *code = random_codes(env, n, 10);
	gp_link_search *s = gp_link_search_open(env, g, a, code, GP_CANDIDATES_THREE_HOPS);
	gp_link_search *fresh = gp_link_search_open(env, g, a, code, GP_CANDIDATES_THREE_HOPS);
	int32_t    *out;
	int32_t    *again;
	int64_t		most = 0;

	for (int i = 0; i < 200; i++)
	{
		int64_t		found = gp_link_search_node(s, i, &out);

		most = found > most ? found : most;
	}
	ok(most > BUDGET * 3 / 4 && most <= BUDGET + NEAREST, "a third step ends with the budget");
	for (int i = 0; i < 200; i += 40)
	{
		int64_t		found = gp_link_search_node(s, i, &out);

		ok(gp_link_search_node(fresh, i, &again) == found &&
		   memcmp(out, again, found * sizeof(int32_t)) == 0, "the same after other nodes");
	}
}

/* Tables of codes: the planted groups are found; no node without a code. */
static void
check_tables(gp_env *env, int n, int flips, double least)
{
	gp_graph   *g = random_hub_graph(env, &state, n, n / 2, 0, 0, false);
	gp_csr	   *a = gp_graph_symmetric(env, g);
	uint64_t   *code = random_codes(env, n, flips);
	gp_link_search *s = gp_link_search_open(env, g, a, code, GP_CANDIDATES_TWO_HOPS);
	gp_link_search *walks = gp_link_search_open(env, g, a, NULL, GP_CANDIDATES_TWO_HOPS);
	int32_t    *out;
	int32_t    *hops;
	int64_t		wanted = 0;
	int64_t		got = 0;
	bool		right = true;
	char		name[160];

	for (int i = 0; i < n; i += 7)
	{
		int64_t		found = gp_link_search_node(s, i, &out);
		int64_t		by_hops = gp_link_search_node(walks, i, &hops);
		int64_t		h = 0;

		for (int64_t k = 0; k < found; k++)
		{
			h += h < by_hops && hops[h] == out[k];
			got += out[k] / 4 == i / 4 && has_code(code, i) && has_code(code, out[k]);
			right = right && out[k] != i && !linked(g, i, out[k]);
		}
		right = right && h == by_hops && found <= by_hops + (has_code(code, i) ? NEAREST : 0);
		for (int j = i / 4 * 4; j < i / 4 * 4 + 4 && j < n; j++)
			wanted += j != i && !linked(g, i, j) && has_code(code, i) && has_code(code, j);
	}
	snprintf(name, sizeof(name), "%d nodes, %d bits off: %d of %d alike found", n, flips,
			 (int) got, (int) wanted);
	ok(got >= least * wanted, name);
	ok(right, "beside all that walks find, and at most 50 more");
}

/* All codes equal: full buckets are looked at in part, around the node. */
static void
check_equal_codes(gp_env *env)
{
	int			n = 9000;
	gp_graph   *g = random_hub_graph(env, &state, n, 0, 0, 0, false);
	gp_csr	   *a = gp_graph_symmetric(env, g);
	uint64_t   *code = gp_alloc_array(env, n * WORDS, sizeof(uint64_t));
	int32_t    *out;
	int64_t		wrong = 0;

	for (int k = 0; k < n * WORDS; k++)
		code[k] = UINT64_MAX;
	gp_link_search *s = gp_link_search_open(env, g, a, code, GP_CANDIDATES_AUTO);
	for (int i = 0; i < n; i += i < 100 || i > n - 100 ? 1 : 97)
	{
		int64_t		found = gp_link_search_node(s, i, &out);

		wrong += found != NEAREST || abs(out[0] - i) > 64 || abs(out[found - 1] - i) > 64;
	}
	is_int(wrong, 0, "equal codes: 50 nodes nearby in number");
	memset(code, 0, n * WORDS * sizeof(uint64_t));
	s = gp_link_search_open(env, g, a, code, GP_CANDIDATES_AUTO);
	is_int(gp_link_search_node(s, 5, &out), 0, "neither links nor a code: no candidates");
}

/* A search, for the fault injection. */
static void
search_some(gp_env *env, const gp_graph *g, const gp_csr *a, const uint64_t *code)
{
	gp_link_search *s = gp_link_search_open(env, g, a, code, GP_CANDIDATES_AUTO);
	int32_t    *out;

	for (int32_t i = 0; i < 1000; i++)
		gp_link_search_node(s, i, &out);
	gp_link_search_close(s);
}

/* Fails every allocation of a search in turn, then cancels it at each of its checks. */
static void
check_faults(void)
{
	gp_env	   *env = test_env();
	volatile bool failed = true;
	volatile int faults = 0;
	volatile int cancels = 0;

	for (volatile int cancel = 0; cancel < 2; cancel++)
	{
		failed = true;
		for (volatile int64_t k = 1; failed; k++)
		{
			test_host  *host = test_state(env);

			test_env_reset(env);
			gp_graph   *g = random_hub_graph(env, &state, 5000, 9000, 2, 300, true);
			gp_csr	   *a = gp_graph_symmetric(env, g);
			uint64_t   *code = random_codes(env, 5000, 20);
			host->fail_at = cancel ? 0 : host->allocations + k;
			host->cancel_at = cancel ? host->checks + k : 0;
			failed = test_catch(env, search_some(env, g, a, code));
			if (failed && host->code != (cancel ? TEST_CANCELLED : GP_ERR_MEMORY))
				ok(false, host->message);
			faults += failed && !cancel;
			cancels += failed && cancel;
		}
	}
	is_int(faults, 7, "each allocation can fail");
	ok(cancels > 16, "a cancel ends it wherever it comes");
	test_env_close(env);
}

int
main(void)
{
	in_env(check_graphs(env, false));
	in_env(check_graphs(env, true));
	in_env(check_hubs(env, 900, 1500, 4, 110, false));
	in_env(check_hubs(env, 900, 1500, 4, 110, true));
	in_env(check_hubs(env, 12000, 6000, 9, 2500, false));
	in_env(check_budget(env));
	in_env(check_tables(env, 5000, 10, 0.99));
	in_env(check_tables(env, 40000, 20, 0.9));
	in_env(check_equal_codes(env));
	check_faults();
	return done_testing();
}
