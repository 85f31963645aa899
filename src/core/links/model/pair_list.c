/*
 * pair_list.c - lists of pairs of nodes, alone or with what is known of each.
 */
#include "links/links_internal.h"

gp_link_pairs
gp_link_pairs_create(gp_env *env, int64_t room)
{
	return (gp_link_pairs) {.src = gp_alloc_array(env, room, sizeof(int32_t)),
		.dst = gp_alloc_array(env, room, sizeof(int32_t))};
}

void
gp_link_pairs_free(gp_env *env, gp_link_pairs *pairs)
{
	gp_free_all(env, pairs->src, pairs->dst);
	memset(pairs, 0, sizeof(*pairs));
}

void
gp_link_pairs_append(gp_link_pairs *pairs, const gp_link_pairs *from, int64_t first, int64_t n)
{
	if (n == 0)
		return;
	memcpy(pairs->src + pairs->n, from->src + first, n * sizeof(int32_t));
	memcpy(pairs->dst + pairs->n, from->dst + first, n * sizeof(int32_t));
	pairs->n += n;
}

gp_link_pairs
gp_link_pairs_concat(gp_env *env, const gp_link_pairs *a, const gp_link_pairs *b)
{
	gp_link_pairs pairs = gp_link_pairs_create(env, a->n + b->n);

	gp_link_pairs_append(&pairs, a, 0, a->n);
	gp_link_pairs_append(&pairs, b, 0, b->n);
	return pairs;
}

void
gp_link_rivals_free(gp_env *env, gp_link_rivals *r)
{
	gp_free_all(env, r->first, r->common, r->allocation, r->attachment);
	gp_link_pairs_free(env, &r->pairs);
	memset(r, 0, sizeof(*r));
}

void
gp_link_calibration_pairs_free(gp_env *env, gp_link_calibration_pairs *c)
{
	gp_link_pairs_free(env, &c->pairs);
	gp_free_all(env, c->linked, c->weight);
	memset(c, 0, sizeof(*c));
}
