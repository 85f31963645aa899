/*
 * test_rivals.c - the candidates that hidden links are ranked among, and that probabilities are
 * learnt from.
 */
#include <math.h>

#include "links/links_internal.h"
#include "test_env.h"

#define NODES 400
#define LINKS 30

/* Nodes on a ring with shortcuts; the first is linked with many. */
static gp_graph *
ring(gp_env *env, bool directed)
{
	gp_edges   *edges = gp_edges_create(env, NODES, directed, false);
	const int32_t steps[] = {1, 7, 40};

	for (int32_t i = 0; i < NODES; i++)
		for (int s = 0; s < 3; s++)
		{
			int32_t		j = (i + steps[s]) % NODES;

			gp_edges_add(edges, 1, &i, &j, NULL);
		}
	for (int32_t i = 50; i < 250; i++)
	{
		int32_t		hub = 0;

		gp_edges_add(edges, 1, &hub, &i, NULL);
	}
	return gp_graph_build(edges);
}

/* True when a node can be reached in at most three steps along the links of a graph, in any direction. */
static bool
is_near(const gp_csr *a, int32_t from, int32_t to)
{
	for (int64_t k = a->start[from]; k < a->start[from + 1]; k++)
		for (int64_t l = a->start[a->col[k]]; l < a->start[a->col[k] + 1]; l++)
			if (a->col[l] == to || gp_csr_find(a->start, a->col, a->col[l], to) >= 0)
				return true;
	return false;
}

/* Each link stands before a hundred other pairs of one of its ends. */
static void
check_rivals(gp_env *env, bool directed)
{
	gp_graph   *g = ring(env, directed);
	gp_link_fold fold[GP_LINK_FOLDS];
	int			folds = gp_link_folds_make(env, g, 5, fold);
	gp_csr	   *a = gp_graph_symmetric(env, fold[0].graph);
	size_t		base = env->used;
	gp_link_rivals r = gp_link_rivals_make(env, g, &fold[0], LINKS, 11, NULL);
	gp_link_rivals again = gp_link_rivals_make(env, g, &fold[0], LINKS, 11, NULL);
	gp_link_rivals other = gp_link_rivals_make(env, g, &fold[0], LINKS, 12, NULL);
	int			wrong = 0;
	int			far = 0;

	ok(folds > 1 && r.links == LINKS && r.pairs.n == r.first[LINKS], "so many links are asked about");
	for (int64_t e = 0; e < r.links; e++)
	{
		bool		turn = !directed && e % 2 == 1;
		int64_t		first = r.first[e];

		wrong += r.pairs.src[first] != (turn ? fold[0].pairs.dst[e] : fold[0].pairs.src[e]) ||
			r.pairs.dst[first] != (turn ? fold[0].pairs.src[e] : fold[0].pairs.dst[e]);
		wrong += r.first[e + 1] - first != 1 + GP_LINK_RIVALS;
		for (int64_t k = first + 1; k < r.first[e + 1]; k++)
		{
			wrong += r.pairs.src[k] != r.pairs.src[first] || r.pairs.dst[k] == r.pairs.src[k] ||
				gp_link_exists(g, r.pairs.src[k], r.pairs.dst[k]);
			for (int64_t l = first; l < k; l++)
				wrong += r.pairs.dst[l] == r.pairs.dst[k];
			far += !is_near(a, r.pairs.src[k], r.pairs.dst[k]);
		}
	}
	is_int(wrong, 0, "a link before its rivals, each once, of one end, none of them a link");
	ok(far < LINKS * GP_LINK_RIVALS / 4, "most of them are near");
	ok(memcmp(r.pairs.dst, again.pairs.dst, r.pairs.n * sizeof(int32_t)) == 0 &&
	   memcmp(r.pairs.dst, other.pairs.dst, r.pairs.n * sizeof(int32_t)) != 0, "the seed decides which");
	gp_link_rivals_free(env, &r);
	gp_link_rivals_free(env, &again);
	gp_link_rivals_free(env, &other);
	is_int((long long) (env->used - base), 0, "nothing is left behind");
}

/* The counts of common neighbours, by their definition. */
static void
check_counts(const gp_graph *g, const gp_link_rivals *r)
{
	double		gap = 0.0;

	for (int64_t e = 0; e < r->pairs.n; e++)
	{
		double		common = 0.0;
		double		allocation = 0.0;

		for (int32_t k = 0; k < g->nodes; k++)
			if (gp_link_exists(g, r->pairs.src[e], k) && gp_link_exists(g, k, r->pairs.dst[e]))
			{
				common++;
				allocation += 1.0 / (double) (g->start[k + 1] - g->start[k]);
			}
		double		links = (double) (g->start[r->pairs.dst[e] + 1] - g->start[r->pairs.dst[e]]);

		gap = fmax(gap, fabs(links - r->attachment[e]));
		gap = fmax(gap, fmax(fabs(common - r->common[e]), fabs(allocation - r->allocation[e])));
	}
	close_to(gap, 0.0, 1e-12, "common neighbours, and links, are counted in the fold's graph");
}

/* A graph with fewer nodes than rivals. */
static void
check_small(gp_env *env)
{
	gp_edges   *edges = gp_edges_create(env, 6, false, false);
	gp_link_fold fold[GP_LINK_FOLDS];

	for (int32_t i = 0; i < 5; i++)
	{
		int32_t		next = i + 1;

		gp_edges_add(edges, 1, &i, &next, NULL);
	}
	gp_graph   *g = gp_graph_build(edges);
	gp_link_folds_make(env, g, 5, fold);
	gp_link_rivals r = gp_link_rivals_make(env, g, &fold[0], LINKS, 11, NULL);
	ok(r.links == 1 && r.pairs.n == 1 + 6 - 1 - (int) (g->start[r.pairs.src[0] + 1] - g->start[r.pairs.src[0]]),
	   "all other nodes are rivals where these are few");
	check_counts(fold[0].graph, &r);
}

/* Ranks by their definition. */
static void
check_ranks(void)
{
	int64_t		first[] = {0, 4, 6, 7};
	double		score[] = {0.5, 0.9, 0.5, 0.1, 0.7, 0.2, 0.3};
	double		none[50] = {0.0};
	gp_link_rivals r = {.links = 3,.first = first,.common = score,.allocation = none,
	.attachment = score};
	gp_link_ranks ranks = {0};
	double		many[50];
	int64_t		all[] = {0, 50};

	gp_link_rivals_rank(&r, score, &ranks);
	is_int(ranks.links, 3, "each link has a rank");
	close_to(ranks.reciprocal, 1.0 / 2.5 + 1.0 + 1.0, 1e-15, "ties count half");
	close_to(ranks.hits[0], 2.0, 0.0, "two are at the first place");
	close_to(ranks.common, ranks.reciprocal, 1e-15, "plain counts rank as scores do");
	close_to(ranks.allocation, 1.0 / 2.5 + 1.0 / 1.5 + 1.0, 1e-15, "where none counts, all are equal");
	close_to(ranks.attachment, ranks.reciprocal, 1e-15, "so do numbers of links");
	close_to(ranks.hits[2], 3.0, 0.0, "all are at the first twenty places");
	for (int k = 0; k < 50; k++)
		many[k] = k == 0 ? 20.5 : k;
	r = (gp_link_rivals) {.links = 1,.first = all,.common = none,.allocation = none,
	.attachment = none};
	gp_link_rivals_rank(&r, many, &ranks);
	close_to(ranks.hits[2], 3.0, 0.0, "the thirtieth is no hit");
	many[0] = 30.5;
	gp_link_rivals_rank(&r, many, &ranks);
	close_to(ranks.hits[2], 4.0, 0.0, "the twentieth is one");
	is_int(ranks.links, 5, "ranks are added");
}

/* With as many draws as nodes each is drawn once: all seeds find as many candidates. */
static void
check_calibration(gp_env *env)
{
	gp_graph   *g = ring(env, false);
	gp_link_fold fold[GP_LINK_FOLDS];
	int			folds = gp_link_folds_make(env, g, 5, fold);
	gp_link_model model = {.method = GP_LINK_SCORES,.graph = g,
	.topology = gp_link_prepared_make(env, g, fold, folds).topology};
	double		candidates[2] = {0.0};

	for (int k = 0; k < 2; k++)
	{
		gp_link_calibration_pairs c = gp_link_calibration_pairs_make(env, &model, &fold[0], NULL, NODES,
																	 (uint64_t) k);

		for (int64_t e = 0; e < c.pairs.n; e++)
			candidates[k] += c.linked[e] ? 0.0 : c.weight[e];
	}
	ok(candidates[0] > NODES, "calibration pairs stand for candidates");
	close_to(candidates[1], candidates[0], 1e-6 * candidates[0], "as many for each seed");
}

int
main(void)
{
	in_env(check_rivals(env, false));
	in_env(check_rivals(env, true));
	in_env(check_small(env));
	check_ranks();
	in_env(check_calibration(env));
	return done_testing();
}
