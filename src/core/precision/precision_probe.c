/*
 * precision_probe.c - what probes of a diagonal need: signs and colours.
 *
 * Nodes of one colour share a right side of random signs, and neighbours have different
 * colours where there are enough (Tang and Saad 2012).  What is left of the others of a
 * colour is small beside the diagonal.
 */
#include "precision.h"

double
gp_probe_sign(uint64_t seed, int32_t node)
{
	return gp_hash(seed ^ gp_hash(~(uint64_t) node)) & 1 ? 1.0 : -1.0;
}

/* The colour that is rarest among the neighbours of a node, the first one from its own place on. */
static int32_t
rarest_colour(const gp_csr *s, int32_t node, const int32_t *of_node, int32_t colours,
			  int32_t *count)
{
	int32_t		first = (int32_t) (gp_hash((uint64_t) node) % (uint64_t) colours);
	int32_t		best = first;

	for (int32_t c = 0; c < colours; c++)
		count[c] = 0;
	for (int64_t k = s->start[node]; k < s->start[node + 1]; k++)
		if (of_node[s->col[k]] >= 0)
			count[of_node[s->col[k]]]++;
	for (int32_t c = 1; c < colours; c++)
		if (count[(first + c) % colours] < count[best])
			best = (first + c) % colours;
	return best;
}

int32_t *
gp_probe_colours(gp_env *env, const gp_csr *s, const int32_t *node, int64_t n, int32_t colours)
{
	int32_t    *colour = gp_alloc_values(env, n, sizeof(int32_t));
	int32_t    *of_node = gp_alloc_values(env, s->rows, sizeof(int32_t));
	int32_t    *count = gp_alloc_values(env, colours, sizeof(int32_t));

	GP_EACH(env, i, gp_items(env, s->rows), i)
		of_node[i] = -1;
	GP_EACH(env, k, gp_items(env, n), s->start[node ? node[k] : k] + k * colours)
	{
		int32_t		i = node ? node[k] : (int32_t) k;

		colour[k] = of_node[i] = n <= colours ? (int32_t) k :
			rarest_colour(s, i, of_node, colours, count);
	}
	gp_free_all(env, count, of_node);
	return colour;
}
