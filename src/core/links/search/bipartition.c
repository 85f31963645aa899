/*
 * bipartition.c - the two sides of a graph whose links lead from one to the other.
 *
 * Users and items, readers and books: no two of a side are linked.  Each component is coloured in
 * two colours by the parity of the steps from its first node.  A few links within a side turn what
 * lies behind them; so nodes that share the colour of most of their neighbours change it, again and
 * again.  A component has two sides when hardly any of its cycles needs a link within a side: a
 * tree always has, and most other graphs are far from it.
 */
#include "bipartition.h"

#define SWEEPS 8				/* over a component's nodes, for changes of colour */
#define ODD_SHARE 0.05			/* of a component's cycles: links within a side, at most */

/* A component as it is coloured. */
typedef struct painter
{
	gp_env	   *env;
	const gp_csr *a;
	gp_link_sides sides;		/* component -1 before a node is reached */
	int32_t    *queue;			/* the component's nodes */
	int64_t		n;				/* of them */
	int64_t		work;
	int64_t		next_look;
} painter;

/* The neighbours of a node on its own side. */
static int64_t
alike(painter *p, int32_t node)
{
	const gp_csr *a = p->a;
	const uint8_t *side = p->sides.side;
	int64_t		n = 0;

	for (int64_t k = a->start[node]; k < a->start[node + 1]; k++)
		n += side[a->col[k]] == side[node];
	p->work += 1 + a->start[node + 1] - a->start[node];
	gp_poll(p->env, p->work, &p->next_look);
	return n;
}

/*
 * Colours what can be reached from a node by the parity of the steps; returns the links among it.
 */
static int64_t
paint(painter *p, int32_t first, int32_t component)
{
	const gp_csr *a = p->a;
	gp_link_sides *s = &p->sides;
	int64_t		entries = 0;

	s->component[first] = component;
	s->side[first] = 0;
	p->queue[0] = first;
	p->n = 1;
	for (int64_t at = 0; at < p->n; at++)
	{
		int32_t		node = p->queue[at];

		for (int64_t k = a->start[node]; k < a->start[node + 1]; k++)
		{
			int32_t		next = a->col[k];

			if (s->component[next] >= 0)
				continue;
			s->component[next] = component;
			s->side[next] = s->side[node] ^ 1;
			p->queue[p->n++] = next;
		}
		entries += a->start[node + 1] - a->start[node];
		gp_poll(p->env, p->work + entries + at, &p->next_look);
	}
	p->work += entries + p->n;
	return entries / 2;
}

/* Twice the links within a side of the component. */
static int64_t
within(painter *p)
{
	int64_t		n = 0;

	for (int64_t at = 0; at < p->n; at++)
		n += alike(p, p->queue[at]);
	return n;
}

/* Lets nodes that share the colour of most of their neighbours change it, while any does. */
static void
recolour_by_majority(painter *p)
{
	bool		changed = true;

	for (int sweep = 0; sweep < SWEEPS && changed; sweep++)
	{
		changed = false;
		for (int64_t at = 0; at < p->n; at++)
		{
			int32_t		node = p->queue[at];

			if (2 * alike(p, node) > p->a->start[node + 1] - p->a->start[node])
			{
				p->sides.side[node] ^= 1;
				changed = true;
			}
		}
	}
}

gp_link_sides
gp_link_sides_find(gp_env *env, const gp_csr *a)
{
	painter		p = {.env = env, .a = a};
	int32_t		component = 0;

	p.sides.component = gp_alloc_array(env, a->rows, sizeof(int32_t));
	p.sides.side = gp_alloc_array(env, a->rows, sizeof(uint8_t));
	p.queue = gp_alloc_array(env, a->rows, sizeof(int32_t));
	memset(p.sides.component, -1, a->rows * sizeof(int32_t));
	for (int64_t i = 0; i < a->rows; i++)
	{
		if (p.sides.component[i] >= 0)
			continue;
		int64_t		cycles = paint(&p, (int32_t) i, component++) - p.n + 1;
		if (within(&p) == 0)
			continue;
		recolour_by_majority(&p);
		if ((double) within(&p) > 2.0 * ODD_SHARE * (double) cycles)
			for (int64_t at = 0; at < p.n; at++)
				p.sides.side[p.queue[at]] = GP_LINK_NO_SIDE;
	}
	gp_free(env, p.queue);
	return p.sides;
}

void
gp_link_sides_free(gp_env *env, gp_link_sides *sides)
{
	gp_free_all(env, sides->component, sides->side);
	memset(sides, 0, sizeof(*sides));
}
