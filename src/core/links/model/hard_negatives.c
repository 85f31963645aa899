/*
 * hard_negatives.c - hidden links among the pairs that a search would propose in their place.
 *
 * A random pair is easily told from a link: hardly any has a common neighbour.  Whoever asks
 * for missing links asks of one node, and is answered from what lies around it.  So some hidden
 * links are ranked among other candidates of one of their ends: what two or three steps reach
 * (Li et al. 2023, "Evaluating graph neural networks for link prediction"), and random nodes
 * where these are too few.
 */
#include "hard_negatives.h"

#include "base/sort.h"

#include <string.h>

#define RIVALS_SALT UINT64_C(0x726976616c730000)	/* draws are not those of the folds */
#define TRIES 64				/* random nodes drawn for each one wanted */
#define HITS 20					/* ranks that count as a hit */

/* A candidate with the hash that it is ordered by. */
typedef struct keyed
{
	uint64_t	key;
	int32_t		node;
} keyed;

/* Orders candidates by their hashes. */
static int
compare_keyed(const void *a, const void *b, void *unused)
{
	const keyed *x = a;
	const keyed *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Makes room for some links. */
static gp_link_rivals
rivals_create(gp_env *env, int64_t links, int64_t nodes)
{
	gp_link_rivals r = {.links = links};

	r.first = gp_alloc_zero(env, links + 1, sizeof(int64_t));
	r.pairs = gp_link_pairs_create(env, links * (1 + gp_min64(GP_LINK_RIVALS, nodes)));
	r.pairs.n = 0;
	return r;
}

/* Adds a pair. */
static void
add_pair(gp_link_rivals *r, int32_t node, int32_t other)
{
	r->pairs.src[r->pairs.n] = node;
	r->pairs.dst[r->pairs.n++] = other;
}

/* Adds at most GP_LINK_RIVALS of n candidates of a node, none of them linked with it, by their hashes. */
static void
add_found(gp_env *env, gp_link_rivals *r, const gp_graph *full, uint64_t stream, int32_t node,
		  const int32_t *found, int64_t n)
{
	keyed		kept[GP_LINK_RIVALS];
	gp_heap		heap = {.env = env, .item = kept, .room = GP_LINK_RIVALS, .size = sizeof(keyed),
		.compare = compare_keyed};

	for (int64_t k = 0; k < n; k++)
		if (!gp_link_exists(full, node, found[k]))
			gp_heap_offer(&heap, &(keyed) {gp_hash(stream ^ (uint64_t) found[k]), found[k]});
	gp_heap_sort(&heap);
	for (int64_t k = 0; k < heap.n; k++)
		add_pair(r, node, kept[k].node);
}

/* True when a node is the other end of one of the pairs from first on. */
static bool
is_taken(const gp_link_rivals *r, int64_t first, int32_t node)
{
	for (int64_t k = first; k < r->pairs.n; k++)
		if (r->pairs.dst[k] == node)
			return true;
	return false;
}

/* Fills up with random nodes that are not linked with the node; stops after many tries. */
static void
add_random(gp_link_rivals *r, const gp_graph *full, uint64_t stream, int32_t node, int64_t first)
{
	for (uint64_t t = 0; t < TRIES * GP_LINK_RIVALS && r->pairs.n < first + 1 + GP_LINK_RIVALS; t++)
	{
		int32_t		other = (int32_t) (gp_hash(stream + t) % (uint64_t) full->nodes);

		if (other != node && !gp_link_exists(full, node, other) && !is_taken(r, first, other))
			add_pair(r, node, other);
	}
}

/* The rivals of some hidden links of a fold. */
gp_link_rivals
gp_link_rivals_make(gp_env *env, const gp_graph *full, const gp_link_fold *fold, int64_t links, uint64_t seed)
{
	gp_link_rivals r = rivals_create(env, gp_min64(links, fold->links), full->nodes);
	const gp_graph *g = fold->graph;
	gp_csr	   *symmetric = g->directed ? gp_graph_symmetric(env, g) : NULL;
	gp_csr		pattern = {g->nodes, g->nodes, g->start, g->col, NULL, GP_DOUBLE, 0};
	gp_link_search *search = gp_link_search_open(env, g, symmetric ? symmetric : &pattern, NULL,
												 GP_CANDIDATES_THREE_HOPS);
	int32_t    *found = gp_alloc_array(env, g->nodes, sizeof(int32_t));

	for (int64_t e = 0; e < r.links; e++)
	{
		bool		turn = !g->directed && e % 2 == 1;
		int32_t		node = turn ? fold->pairs.dst[e] : fold->pairs.src[e];
		uint64_t	stream = gp_hash(gp_hash(seed ^ RIVALS_SALT) + (uint64_t) e);

		env->check_interrupts(env);
		add_pair(&r, node, turn ? fold->pairs.src[e] : fold->pairs.dst[e]);
		add_found(env, &r, full, stream, node, found, gp_link_search_node(search, node, found));
		add_random(&r, full, stream, node, r.first[e]);
		r.first[e + 1] = r.pairs.n;
	}
	gp_free(env, found);
	gp_link_search_close(search);
	gp_csr_free(env, symmetric);
	return r;
}

/* Adds the ranks of the links among their rivals; ties count half. */
void
gp_link_rivals_rank(const gp_link_rivals *r, const double *score, gp_link_ranks *ranks)
{
	for (int64_t e = 0; e < r->links; e++)
	{
		double		rank = 1.0;
		double		own = score[r->first[e]];

		for (int64_t k = r->first[e] + 1; k < r->first[e + 1]; k++)
			rank += score[k] > own ? 1.0 : score[k] == own ? 0.5 : 0.0;
		ranks->links++;
		ranks->reciprocal += 1.0 / rank;
		ranks->hits += rank <= HITS;
	}
}

/* The bytes of the rivals of so many links in all, with width numbers for each pair. */
double
gp_link_rivals_bytes(int64_t nodes, int64_t links, int64_t width)
{
	return 16.0 * (double) nodes + (double) links * (double) (1 + gp_min64(GP_LINK_RIVALS, nodes)) *
		(8.0 + 8.0 * (double) width);
}

/* Frees them. */
void
gp_link_rivals_free(gp_env *env, gp_link_rivals *r)
{
	gp_free(env, r->first);
	gp_link_pairs_free(env, &r->pairs);
	memset(r, 0, sizeof(*r));
}
