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

#define HOP_SALT UINT64_C(0x686f706e65617200)
#define CALIBRATION_SALT UINT64_C(0x61736b6564000000)
#define RIVALS_SALT UINT64_C(0x726976616c730000)	/* draws are not those of the folds */
#define TRIES 64				/* random nodes drawn for each one wanted */

/* Exchanges two nodes. */
static void
exchange(int32_t *a, int32_t *b)
{
	int32_t		old = *a;

	*a = *b;
	*b = old;
}

/*
 * Brings those of n candidates that are not linked with a node to the front, the first `most` of
 * them in a random order; returns how many they are.
 */
static int64_t
draw_unlinked(const gp_graph *full, uint64_t stream, int32_t node, int32_t *found, int64_t n,
			  int64_t most)
{
	int64_t		missing = 0;

	for (int64_t k = 0; k < n; k++)
		if (!gp_link_exists(full, node, found[k]))
			exchange(&found[missing++], &found[k]);
	for (int64_t k = 0; k < gp_min64(most, missing); k++)
	{
		uint64_t	draw = gp_hash(stream + (uint64_t) k);

		exchange(&found[k], &found[k + (int64_t) (draw % (uint64_t) (missing - k))]);
	}
	return missing;
}

/* Adds a pair. */
static void
add_pair(gp_link_rivals *r, int32_t node, int32_t other)
{
	r->pairs.src[r->pairs.n] = node;
	r->pairs.dst[r->pairs.n++] = other;
}

/* Fills up with random nodes that are not linked with the node; stops after many tries. */
static void
add_random(gp_link_rivals *r, const gp_graph *full, uint64_t stream, int32_t node, int64_t first)
{
	for (uint64_t t = 0; t < TRIES * GP_LINK_RIVALS && r->pairs.n < first + 1 + GP_LINK_RIVALS; t++)
	{
		int32_t		other = (int32_t) (gp_hash(stream + t) % (uint64_t) full->nodes);
		int64_t		k = first;

		while (k < r->pairs.n && r->pairs.dst[k] != other)
			k++;
		if (other != node && !gp_link_exists(full, node, other) && k == r->pairs.n)
			add_pair(r, node, other);
	}
}

/* A search for candidates in a fold's graph. */
typedef struct reach
{
	gp_env	   *env;
	gp_csr	   *symmetric;		/* NULL: the graph's own pattern */
	gp_csr		pattern;
	gp_link_search *search;
	int32_t    *found;			/* room for all nodes */
} reach;

static reach *
reach_open(gp_env *env, const gp_graph *g, gp_link_candidates candidates, const int64_t *topology,
		   const uint64_t *code, bool features)
{
	reach	   *r = gp_alloc_zero(env, 1, sizeof(reach));

	r->env = env;
	r->symmetric = g->directed ? gp_graph_symmetric(env, g) : NULL;
	r->pattern = (gp_csr) {g->nodes, g->nodes, g->start, g->col, NULL, GP_DOUBLE, 0};
	r->search = gp_link_search_open(env, g, r->symmetric ? r->symmetric : &r->pattern, code,
									candidates);
	if (topology)
		gp_link_search_learn(r->search, gp_link_topology_read(topology), features);
	r->found = gp_alloc_array(env, g->nodes, sizeof(int32_t));
	return r;
}

static void
reach_close(reach *r)
{
	gp_link_search_close(r->search);
	gp_free(r->env, r->found);
	gp_csr_free(r->env, r->symmetric);
	gp_free(r->env, r);
}

int32_t
gp_link_query_end(const gp_link_fold *fold, int64_t e, int32_t *other)
{
	bool		turn = !fold->graph->directed && e % 2 == 1;

	*other = turn ? fold->pairs.src[e] : fold->pairs.dst[e];
	return turn ? fold->pairs.dst[e] : fold->pairs.src[e];
}

/* What the nodes that both ends of each pair are linked with say, directions aside. */
static void
count_common(const reach *search, gp_link_rivals *r)
{
	const gp_csr *a = search->symmetric ? search->symmetric : &search->pattern;

	r->common = gp_alloc_zero(search->env, r->pairs.n, sizeof(double));
	r->allocation = gp_alloc_zero(search->env, r->pairs.n, sizeof(double));
	for (int64_t e = 0; e < r->pairs.n; e++)
	{
		int64_t		i = a->start[r->pairs.src[e]];
		int64_t		j = a->start[r->pairs.dst[e]];

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
					uint64_t seed, const int64_t *topology)
{
	gp_link_rivals r = {.links = gp_min64(links, fold->links)};
	reach	   *search = reach_open(env, fold->graph, GP_CANDIDATES_THREE_HOPS, topology, NULL,
								  false);

	r.first = gp_alloc_zero(env, r.links + 1, sizeof(int64_t));
	r.pairs = gp_link_pairs_create(env, r.links * (1 + gp_min64(GP_LINK_RIVALS, full->nodes)));
	r.pairs.n = 0;
	for (int64_t e = 0; e < r.links; e++)
	{
		int32_t		other;
		int32_t		node = gp_link_query_end(fold, e, &other);
		uint64_t	stream = gp_hash(gp_hash(seed ^ RIVALS_SALT) + (uint64_t) e);
		int64_t		missing;

		env->check_interrupts(env);
		add_pair(&r, node, other);
		missing = draw_unlinked(full, stream, node, search->found,
							   gp_link_search_node(search->search, node, search->found),
							   GP_LINK_RIVALS);
		for (int64_t k = 0; k < gp_min64(missing, GP_LINK_RIVALS); k++)
			add_pair(&r, node, search->found[k]);
		add_random(&r, full, stream, node, r.first[e]);
		r.first[e + 1] = r.pairs.n;
	}
	count_common(search, &r);
	reach_close(search);
	return r;
}

gp_link_pairs
gp_link_hop_negatives(gp_env *env, const gp_graph *full, const gp_link_fold *fold, uint64_t seed)
{
	gp_link_pairs pairs = gp_link_pairs_create(env, fold->links);
	reach	   *search = reach_open(env, fold->graph, GP_CANDIDATES_THREE_HOPS, NULL, NULL, false);

	pairs.n = 0;
	for (int64_t e = 0; e < fold->links; e++)
	{
		int32_t		other;
		int32_t		node = gp_link_query_end(fold, e, &other);

		env->check_interrupts(env);
		if (draw_unlinked(full, gp_hash(gp_hash(seed ^ HOP_SALT) + (uint64_t) e), node,
						 search->found,
						 gp_link_search_node(search->search, node, search->found), 1) == 0)
			continue;
		pairs.src[pairs.n] = node;
		pairs.dst[pairs.n++] = search->found[0];
	}
	reach_close(search);
	return pairs;
}

/* Adds a candidate. */
static void
add_candidate(gp_calibration_pairs *c, int32_t node, int32_t other, bool linked, double weight)
{
	int64_t		at = c->pairs.n++;

	c->pairs.src[at] = node;
	c->pairs.dst[at] = other;
	c->linked[at] = linked;
	c->weight[at] = weight;
}

/* Adds candidates without a link of nodes that are drawn evenly. */
static void
add_drawn_nodes(gp_calibration_pairs *c, const gp_graph *full, reach *search, int64_t nodes,
				uint64_t stream)
{
	for (int64_t q = 0; q < nodes; q++)
	{
		uint64_t	draw = gp_hash(stream + (uint64_t) q);
		int32_t		node = (int32_t) (draw % (uint64_t) full->nodes);
		int64_t		missing = draw_unlinked(full, gp_hash(draw), node, search->found,
										   gp_link_search_node(search->search, node, search->found),
										   GP_LINK_OTHERS);
		int64_t		kept = gp_min64(missing, GP_LINK_OTHERS);

		search->env->check_interrupts(search->env);
		for (int64_t k = 0; k < kept; k++)
			add_candidate(c, node, search->found[k], false, (double) missing / (double) kept);
	}
}

/*
 * Adds the hidden links that are candidates of their query end, each for what it stands for among
 * the candidates of so many nodes: few of those that are drawn have one.  The codes, which know
 * the hidden links, find none of them.
 */
static void
add_hidden_links(gp_calibration_pairs *c, const gp_graph *full, const gp_link_fold *fold,
				 reach *search, int64_t nodes, bool all)
{
	double		ends = full->directed ? 1.0 : 2.0;
	double		weight = ends * (double) (full->edges - fold->graph->edges) /
		(double) gp_max64(fold->links, 1) * (double) nodes / (double) full->nodes;

	for (int64_t e = 0; e < fold->links; e++)
	{
		int32_t		other;
		int32_t		node = gp_link_query_end(fold, e, &other);
		int64_t		n = all ? 0 : gp_link_search_node(search->search, node, search->found);
		int64_t		k = 0;

		search->env->check_interrupts(search->env);
		while (k < n && search->found[k] != other)
			k++;
		if (all || k < n)
			add_candidate(c, node, other, true, weight);
	}
}

int64_t
gp_calibration_pairs_most(const gp_link_fold *fold, int64_t nodes)
{
	return fold->links + nodes * gp_min64(GP_LINK_OTHERS, fold->graph->nodes);
}

gp_calibration_pairs
gp_calibration_pairs_make(gp_env *env, const gp_link_model *model, const gp_link_fold *fold,
						  int64_t nodes, uint64_t seed)
{
	const gp_graph *full = model->graph;
	bool		all = model->method == GP_LINK_EASE;
	int64_t		hidden = full->edges - fold->graph->edges;
	gp_calibration_pairs c = {.share = (double) hidden / (double) full->edges};
	int64_t		room = gp_calibration_pairs_most(fold, nodes);
	bool		features = model->features != NULL;
	reach	   *near;
	reach	   *search;

	c.pairs = gp_link_pairs_create(env, room);
	c.linked = gp_alloc_zero(env, room, sizeof(bool));
	c.weight = gp_alloc_zero(env, room, sizeof(double));
	/* Codes of a dry run say nothing: as many as there can be. */
	if (env->dry && gp_link_has_scores(model->method))
		return c;
	c.pairs.n = 0;
	near = reach_open(env, fold->graph, GP_CANDIDATES_AUTO, model->topology, NULL, features);
	search = reach_open(env, fold->graph, all ? GP_CANDIDATES_ALL : GP_CANDIDATES_AUTO,
						model->topology, all ? NULL : model->code, features);
	add_hidden_links(&c, full, fold, near, nodes, all);
	add_drawn_nodes(&c, full, search, nodes, gp_hash(gp_hash(seed ^ CALIBRATION_SALT)));
	reach_close(near);
	reach_close(search);
	return c;
}

void
gp_calibration_pairs_free(gp_env *env, gp_calibration_pairs *c)
{
	gp_link_pairs_free(env, &c->pairs);
	gp_free_all(env, c->linked, c->weight);
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
	}
}

void
gp_link_rivals_free(gp_env *env, gp_link_rivals *r)
{
	gp_free_all(env, r->first, r->common, r->allocation);
	gp_link_pairs_free(env, &r->pairs);
	memset(r, 0, sizeof(*r));
}
