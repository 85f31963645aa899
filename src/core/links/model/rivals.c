/*
 * rivals.c - hidden links among the pairs that a search would propose in their place.
 *
 * A random pair is easily told from a link: hardly any has a common neighbour.  Whoever asks
 * for missing links asks of one node, and is answered from what lies around it.  So some hidden
 * links are ranked among other candidates of one of their ends: what two or three steps reach
 * (Li et al. 2023, "Evaluating graph neural networks for link prediction"), and random nodes
 * where these are too few.  The candidates are drawn at random; HeaRT's selection of the hardest
 * by rank is another, which only test/bench/rank_links.py makes.
 */

#include "links/search/candidates.h"

#define HOP_SALT UINT64_C(0x686f706e65617200)
#define RIVALS_SALT UINT64_C(0x726976616c730000)	/* draws are not those of the folds */

/*
 * Adds the first candidates of a node that are not linked with it, and random nodes where these
 * are too few.
 */
static void
add_rivals(gp_link_rivals *r, gp_env *env, const gp_graph *full, gp_link_search *search,
		   uint64_t stream, int32_t node, const gp_link_rules *rules)
{
	int64_t		first = r->pairs.n;
	int64_t		last = first + GP_LINK_RIVALS;
	gp_link_draws draws = gp_link_draws_open(env, full, stream, GP_LINK_RIVALS, rules);
	int32_t    *found;
	int64_t		unlinked = gp_link_draw_unlinked(full, search, stream, node, GP_LINK_RIVALS,
												 &found);
	int32_t		other;

	for (int64_t k = 0; k < gp_min64(unlinked, GP_LINK_RIVALS); k++)
		gp_link_pairs_add(&r->pairs, node, found[k]);
	draws.node = node;
	while (r->pairs.n < last && gp_link_draw(&draws, &node, &other))
	{
		int64_t		k = first;

		while (k < r->pairs.n && r->pairs.dst[k] != other)
			k++;
		if (k == r->pairs.n)
			gp_link_pairs_add(&r->pairs, node, other);
	}
}

/*
 * What the nodes that both ends of each pair are linked with say, and how many the second end is
 * linked with, directions aside.
 */
static void
count_neighbours(gp_env *env, const gp_csr *a, gp_link_rivals *r)
{
	r->common = gp_alloc_zero(env, r->pairs.n, sizeof(double));
	r->allocation = gp_alloc_zero(env, r->pairs.n, sizeof(double));
	r->attachment = gp_alloc_zero(env, r->pairs.n, sizeof(double));
	for (int64_t e = 0; e < r->pairs.n; e++)
	{
		int64_t		i = a->start[r->pairs.src[e]];
		int64_t		j = a->start[r->pairs.dst[e]];

		r->attachment[e] = (double) (a->start[r->pairs.dst[e] + 1] - j);
		for (; gp_csr_common(a, &i, a->start[r->pairs.src[e] + 1], &j,
							 a->start[r->pairs.dst[e] + 1]); i++, j++)
		{
			int32_t		middle = a->col[i];

			r->common[e]++;
			r->allocation[e] += 1.0 / (double) (a->start[middle + 1] - a->start[middle]);
		}
	}
}

gp_link_rivals
gp_link_rivals_make(gp_env *env, const gp_graph *full, const gp_link_fold *fold, int64_t links,
					uint64_t seed, const gp_link_prepared *prepared)
{
	gp_link_rivals r = {.links = gp_min64(links, fold->links)};
	gp_link_search *search = gp_link_search_open(env, fold->graph, NULL, NULL,
												 GP_CANDIDATES_THREE_HOPS);

	if (prepared)
		gp_link_search_learn(search, gp_link_topology_read(prepared->topology), false);
	r.first = gp_alloc_zero(env, r.links + 1, sizeof(int64_t));
	r.pairs = gp_link_pairs_create(env, r.links * (1 + gp_min64(GP_LINK_RIVALS, full->nodes)));
	for (int64_t e = 0; e < r.links; e++)
	{
		int32_t		other;
		int32_t		node = gp_link_query_end(fold, e, &other);

		env->check_interrupts(env);
		gp_link_pairs_add(&r.pairs, node, other);
		add_rivals(&r, env, full, search, gp_hash(gp_hash(seed ^ RIVALS_SALT) + (uint64_t) e),
				   node, prepared ? prepared->rules : NULL);
		r.first[e + 1] = r.pairs.n;
	}
	count_neighbours(env, gp_link_search_pattern(search), &r);
	gp_link_search_close(search);
	return r;
}

gp_link_pairs
gp_link_hop_negatives(gp_env *env, const gp_graph *full, const gp_link_fold *fold, uint64_t seed,
					  const gp_link_rules *rules)
{
	gp_link_pairs pairs = gp_link_pairs_create(env, fold->links);
	gp_link_search *search = gp_link_search_open(env, fold->graph, NULL, NULL,
												 GP_CANDIDATES_THREE_HOPS);
	int32_t    *found;

	if (rules)
		gp_link_search_learn(search, rules->topology, false);
	for (int64_t e = 0; e < fold->links; e++)
	{
		int32_t		other;
		int32_t		node = gp_link_query_end(fold, e, &other);

		env->check_interrupts(env);
		if (gp_link_draw_unlinked(full, search, gp_hash(gp_hash(seed ^ HOP_SALT) + (uint64_t) e),
								  node, 1, &found) > 0)
			gp_link_pairs_add(&pairs, node, found[0]);
	}
	gp_link_search_close(search);
	return pairs;
}

double
gp_link_rank(const double *score, const int64_t *range)
{
	double		rank = 1.0;
	double		own = score[range[0]];

	for (int64_t k = range[0] + 1; k < range[1]; k++)
		rank += score[k] > own ? 1.0 : score[k] == own ? 0.5 : 0.0;
	return rank;
}

void
gp_link_rivals_rank(const gp_link_rivals *r, const double *score, gp_link_ranks *ranks)
{
	static const double places[GP_LINK_PLACES] = {1.0, 10.0, 20.0};

	for (int64_t e = 0; e < r->links; e++)
	{
		double		rank = gp_link_rank(score, &r->first[e]);

		ranks->links++;
		ranks->reciprocal += 1.0 / rank;
		for (int k = 0; k < GP_LINK_PLACES; k++)
			ranks->hits[k] += rank <= places[k];
		ranks->common += 1.0 / gp_link_rank(r->common, &r->first[e]);
		ranks->allocation += 1.0 / gp_link_rank(r->allocation, &r->first[e]);
		ranks->attachment += 1.0 / gp_link_rank(r->attachment, &r->first[e]);
	}
}
