/*
 * live_order.c - the rows of a live evaluation: which nodes, in which order, and what A has for
 * them.
 *
 * Each node that was read has a row, the nearest to what is asked for first.  Where the question is
 * what the score would be without an edge, only the rows that this touches stand there once more:
 * nodes whose row of A changes, and those that later steps reach from these.  All such edges
 * share the rows of the others.
 */
#include "base/sort.h"
#include "live_state.h"
#include "kernel/prepared.h"

#include <math.h>

#define NO_ROW (-1)

/* An order under construction. */
typedef struct ordering
{
	gp_env	   *env;
	const gp_asked *asked;
	/* 1 where a step reads lists of neighbours, one hop beyond the operators' */
	int			lists;
	bool		sym;
	gp_order   *o;
	int		   *distance;		/* of each inner node */
	int64_t		ncopies;
	int64_t		room;
	gp_copy    *copy;			/* of nodes, as cuts touch them */
	int64_t    *mark;			/* of each inner node: the cut that touched it last, plus one */
} ordering;

/* How far each inner node is; what cannot be reached is as far as the farthest. */
static void
find_distances(ordering *s)
{
	const gp_asked *q = s->asked;
	int32_t    *queue = gp_alloc_array(s->env, q->inner, sizeof(int32_t));
	int64_t		n = 0;

	for (int64_t i = 0; i < q->inner; i++)
		s->distance[i] = s->o->hops;
	for (int64_t k = 0; k < q->n; k++)
	{
		queue[n++] = q->node ? q->node[k] : (int32_t) k;
		s->distance[queue[k]] = 0;
	}
	GP_EACH(s->env, at, n, q->graph->start[queue[at]])
	{
		if (s->distance[queue[at]] + 1 >= s->o->hops)
			break;
		for (int64_t k = q->graph->start[queue[at]]; k < q->graph->start[queue[at] + 1]; k++)
		{
			int32_t		v = q->graph->col[k];

			if (v >= q->inner || s->distance[v] < s->o->hops)
				continue;
			s->distance[v] = s->distance[queue[at]] + 1;
			queue[n++] = v;
		}
	}
	gp_free(s->env, queue);
}

/* Adds the copy of a node that a cut touches. */
static void
touch(ordering *s, int64_t cut, int32_t node)
{
	if (s->mark[node] == cut + 1)
		return;
	s->mark[node] = cut + 1;
	if (s->ncopies == s->room)
	{
		s->room = s->room ? 2 * s->room : 64;
		s->copy = gp_realloc_array(s->env, s->copy, s->room, sizeof(gp_copy));
	}
	s->copy[s->ncopies++] = (gp_copy) {cut, node, NO_ROW};
}

/* Whether the row of A of a node changes without an edge. */
static bool
changes(const ordering *s, const gp_cut *cut, int32_t node)
{
	const gp_graph *g = s->asked->graph;

	if (node == cut->src || (!g->directed && node == cut->dst))
		return true;
	return s->sym && (node == cut->dst || gp_csr_find(g->start, g->col, node, cut->dst) >= 0 ||
					  (!g->directed && gp_csr_find(g->start, g->col, node, cut->src) >= 0));
}

/* Whether a row reads one of the nodes that a cut has touched. */
static bool
reads_touched(const ordering *s, int64_t cut, int32_t node)
{
	const gp_graph *g = s->asked->graph;

	for (int64_t k = g->start[node]; k < g->start[node + 1]; k++)
		if (g->col[k] < s->asked->inner && s->mark[g->col[k]] == cut + 1)
			return true;
	return false;
}

/* Adds the copies of all nodes that a cut touches: near holds the inner nodes whose row is read. */
static void
touch_all(ordering *s, int64_t cut, const int32_t *near, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (changes(s, &s->asked->cut[cut], near[i]))
			touch(s, cut, near[i]);
	/* What reads a value that changed, as far as a later step still asks for it. */
	for (int left = s->o->hops - 2 + s->lists; left >= 0; left--)
		for (int64_t i = 0; i < n; i++)
			if (s->distance[near[i]] <= left && s->mark[near[i]] != cut + 1 &&
				reads_touched(s, cut, near[i]))
				touch(s, cut, near[i]);
	touch(s, cut, s->asked->node ? s->asked->node[0] : 0);
}

/* Adds all copies. */
static void
find_copies(ordering *s)
{
	int32_t    *near = gp_alloc_array(s->env, s->asked->inner, sizeof(int32_t));
	int64_t		n = 0;

	s->mark = gp_alloc_zero(s->env, s->asked->inner, sizeof(int64_t));
	for (int64_t i = 0; i < s->asked->inner; i++)
		if (s->distance[i] < s->o->hops + s->lists)
			near[n++] = (int32_t) i;
	for (int64_t cut = 0; cut < s->asked->ncuts; cut++)
	{
		s->env->check_interrupts(s->env);
		touch_all(s, cut, near, n);
	}
	gp_free(s->env, s->mark);
	gp_free(s->env, near);
}

/* Numbers the rows, the nearest first; nodes before copies of such. */
static void
number_rows(ordering *s)
{
	gp_order   *o = s->o;
	int64_t		rows = s->asked->inner + s->ncopies;

	if (rows >= INT32_MAX)
		gp_raise(s->env, GP_ERR_LIMIT, "Ask about fewer edges at once.",
				 "the neighbourhood has too many nodes");
	o->node = gp_alloc_array(s->env, rows, sizeof(int32_t));
	o->copy_of = gp_alloc_array(s->env, rows, sizeof(int64_t));
	for (int hop = 0; hop <= o->hops; hop++)
	{
		for (int64_t i = 0; i < s->asked->inner; i++)
			if (s->distance[i] == hop)
			{
				o->place[i] = (int32_t) o->rows;
				o->copy_of[o->rows] = -1;
				o->node[o->rows++] = (int32_t) i;
			}
		for (int64_t k = 0; k < s->ncopies; k++)
			if (s->distance[s->copy[k].node] == hop)
			{
				s->copy[k].row = (int32_t) o->rows;
				o->copy_of[o->rows] = s->copy[k].cut;
				o->node[o->rows++] = s->copy[k].node;
			}
		o->near[hop] = o->rows;
	}
}

/* Compares two copies: by cut, then by node. */
static int
compare_copies(const void *first, const void *second, void *unused)
{
	const gp_copy *a = first;
	const gp_copy *b = second;

	if (a->cut != b->cut)
		return a->cut < b->cut ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* The copy of a node in a cut; NULL: it has none. */
static const gp_copy *
find_copy(const gp_order *o, int64_t cut, int32_t node)
{
	int64_t		low = o->first[cut];
	int64_t		high = o->first[cut + 1];

	while (low < high)
	{
		int64_t		middle = low + (high - low) / 2;

		if (o->copy[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low < o->first[cut + 1] && o->copy[low].node == node ? &o->copy[low] : NULL;
}

/* Sorts the copies, so that they are found; notes the rows of the node asked for. */
static void
index_copies(ordering *s)
{
	gp_order   *o = s->o;
	int64_t		ncuts = s->asked->ncuts;

	o->copy = s->copy;
	gp_sort(s->env, o->copy, s->ncopies, sizeof(gp_copy), compare_copies, NULL);
	o->first = gp_alloc_zero(s->env, ncuts + 1, sizeof(int64_t));
	o->cut_row = gp_alloc_array(s->env, ncuts, sizeof(int32_t));
	for (int64_t k = 0; k < s->ncopies; k++)
		o->first[o->copy[k].cut + 1] = k + 1;
	for (int64_t cut = 0; cut < ncuts; cut++)
		o->cut_row[cut] = find_copy(o, cut, s->asked->node ? s->asked->node[0] : 0)->row;
}

/* Makes the order. */
gp_order *
gp_order_make(gp_env *env, const gp_program *program, const gp_asked *asked)
{
	gp_order   *o = gp_alloc_zero(env, 1, sizeof(gp_order));
	ordering	s = {.env = env,.asked = asked,.sym = program->norm == GP_NORM_SYM,.o = o};

	o->hops = gp_program_hops(env, program);
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_LISTS)
			s.lists = 1;
	o->near = gp_alloc_zero(env, o->hops + 1, sizeof(int64_t));
	o->place = gp_alloc_array(env, asked->inner, sizeof(int32_t));
	s.distance = gp_alloc_array(env, asked->inner, sizeof(int));
	find_distances(&s);
	if (asked->ncuts > 0)
	{
		find_copies(&s);
		o->out = gp_alloc_zero(env, asked->graph->nodes, sizeof(double));
		o->in = gp_alloc_zero(env, asked->graph->nodes, sizeof(double));
		gp_graph_degrees(env, asked->graph, o->out, o->in);
	}
	number_rows(&s);
	if (asked->ncuts > 0)
		index_copies(&s);
	o->sym = s.sym;
	gp_free(env, s.distance);
	return o;
}

/* Frees it; NULL is allowed. */
void
gp_order_free(gp_env *env, gp_order *o)
{
	if (o == NULL)
		return;
	gp_free(env, o->node);
	gp_free(env, o->copy_of);
	gp_free(env, o->near);
	gp_free(env, o->place);
	gp_free(env, o->copy);
	gp_free(env, o->first);
	gp_free(env, o->cut_row);
	gp_free(env, o->out);
	gp_free(env, o->in);
	gp_free(env, o);
}

/* True for the edge itself, seen from a node. */
static bool
is_cut(const gp_graph *g, const gp_cut *cut, int32_t node, int32_t col)
{
	return (cut->src == node && cut->dst == col) ||
		(!g->directed && cut->dst == node && cut->src == col);
}

/* What an end of the edge gains by normalisation: the degree d becomes d - w. */
static double
gain(double d, double w, bool root)
{
	double		ratio = (1.0 + d) / (1.0 + fmax(d - w, 0.0));

	return root ? sqrt(ratio) : ratio;
}

/* The weight of an edge. */
static double
cut_weight(const gp_graph *g, const gp_cut *cut)
{
	return g->weight ? g->weight[gp_csr_find(g->start, g->col, cut->src, cut->dst)] : 1.0;
}

/* What the entry of A becomes without an edge, relative to what it is. */
static double
cut_factor(const gp_order *o, const gp_asked *asked, const gp_cut *cut, int32_t node, int32_t col)
{
	const gp_graph *g = asked->graph;
	double		w = cut_weight(g, cut);
	double		factor = 1.0;

	if (node == cut->src || (!g->directed && node == cut->dst))
		factor = gain(o->out[node], w, o->sym);
	if (o->sym && (col == cut->dst || (!g->directed && col == cut->src)))
		factor *= gain(o->in[col], w, true);
	return factor;
}

int64_t
gp_order_fill(const gp_order *o, const gp_csr *a, const gp_asked *asked, int64_t row, gp_csr *out)
{
	int32_t		node = o->node[row];
	int64_t		cut = o->copy_of[row];
	int64_t		at = out->start[row];

	for (int64_t k = a->start[node]; k < a->start[node + 1]; k++)
	{
		int32_t		col = a->col[k];
		const gp_copy *copy;
		double		factor = 1.0;

		if (col >= asked->inner || (cut >= 0 && is_cut(asked->graph, &asked->cut[cut], node, col)))
			continue;
		copy = cut >= 0 ? find_copy(o, cut, col) : NULL;
		if (cut >= 0)
			factor = cut_factor(o, asked, &asked->cut[cut], node, col);
		out->col[at] = copy ? copy->row : o->place[col];
		gp_number_put(out->value, out->type, at++, factor * gp_number_at(a->value, a->type, k));
	}
	return at - out->start[row];
}

void
gp_order_cut_lists(const gp_order *o, const gp_asked *asked, gp_csr *lists)
{
	for (int64_t row = 0; row < o->rows; row++)
	{
		int64_t		cut = o->copy_of[row];
		double		left = 1.0;
		double		scale;

		for (int64_t k = lists->start[row]; cut >= 0 && k < lists->start[row + 1]; k++)
			if (is_cut(asked->graph, &asked->cut[cut], o->node[row], lists->col[k]))
			{
				left -= gp_number_at(lists->value, lists->type, k) *
					gp_number_at(lists->value, lists->type, k);
				gp_number_put(lists->value, lists->type, k, 0.0);
			}
		scale = left < 1.0 && left > 1e-12 ? 1.0 / sqrt(left) : 1.0;
		for (int64_t k = lists->start[row]; scale != 1.0 && k < lists->start[row + 1]; k++)
			gp_number_put(lists->value, lists->type, k,
						  scale * gp_number_at(lists->value, lists->type, k));
	}
}
