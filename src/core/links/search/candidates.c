/*
 * candidates.c - the pairs of a node that are worth a score.
 *
 * Missing links close short paths, or join nodes that the kernel finds alike. So the candidates of
 * a node are what walks of two or three steps reach, and its nearest nodes by the sign codes of the
 * kernel.  The work is bounded for each node, and grows with the links in all.
 *
 * Walks go along the symmetric pattern.  Middles of few links are passed whole: they say most, and
 * are cheap.  Hubs follow, the smaller ones first, until a budget is spent; a hub that does not fit
 * is walked in part, from a place that depends on the two nodes alone.
 *
 * A search that has learnt where links lie leaves out the pairs that are never linked.  Where links
 * lead from side to side, what lies two steps from a node, and what the kernel finds like it, are
 * of its own side: these nodes are no candidates but middles, and what they are linked with is.
 */
#include "candidates.h"
#include "lsh.h"

#define HUB_DEGREE 100			/* a node of more neighbours is a hub */
#define WALK_BUDGET 4000		/* entries walked for a node before hubs and third steps end */
#define FEW (2 * GP_LINK_KEPT)	/* candidates, below which two hops give few */
#define LAST_SEARCH (UINT32_MAX >> GP_MARK_BITS)

struct gp_link_search
{
	gp_env	   *env;
	const gp_graph *graph;
	const gp_csr *neighbours;
	gp_csr	   *own;			/* the same where they are the search's */
	gp_link_candidates candidates;
	int64_t		n;
	gp_link_marks marks;
	uint64_t   *hub;			/* degree and number of the node's hubs */
	gp_link_tables tables;
	/* what was learnt; all false and NULL before */
	gp_link_rules rules;
	int64_t		targets;		/* nodes that alone are candidates, where target is set */
	const int32_t *target;
	bool		features;		/* the kernel tells nodes without a path between them apart */
	/* of the node that is searched */
	int32_t    *out;
	int64_t		found;
	int64_t		walked;
	/* of all nodes */
	int64_t		work;
	int64_t		next_look;
};

/* ---- opening and closing ---- */

/* The neighbours of a node. */
static inline int64_t
degree(const gp_link_search *s, int64_t node)
{
	return s->neighbours->start[node + 1] - s->neighbours->start[node];
}

static void
make_marks(gp_link_search *s)
{
	int64_t		hubs = 0;

	s->out = gp_alloc_array(s->env, s->n, sizeof(int32_t));
	s->marks = (gp_link_marks) {.stamp = gp_alloc_zero(s->env, s->n, sizeof(uint32_t))};
	for (int64_t i = 0; i < s->n; i++)
		hubs += degree(s, i) > HUB_DEGREE;
	s->hub = gp_alloc_array(s->env, hubs, sizeof(uint64_t));
}

gp_link_search *
gp_link_search_open(gp_env *env, const gp_graph *graph, const gp_csr *neighbours,
					const uint64_t *code, gp_link_candidates candidates)
{
	gp_link_search *s = gp_alloc_zero(env, 1, sizeof(gp_link_search));

	s->env = env;
	s->graph = graph;
	s->n = graph->nodes;
	s->own = neighbours ? NULL : gp_graph_symmetric(env, graph);
	s->neighbours = neighbours ? neighbours : s->own;
	s->candidates = candidates;
	make_marks(s);
	if (candidates != GP_CANDIDATES_ALL)
		s->tables = gp_link_tables_make(env, code, s->n);
	return s;
}

void
gp_link_search_learn(gp_link_search *s, gp_link_topology topology, bool features)
{
	s->features = features;
	s->rules = gp_link_rules_open(s->env, s->graph, s->neighbours, topology);
}

void
gp_link_search_among(gp_link_search *s, int64_t n, const int32_t *node)
{
	s->targets = n;
	s->target = node;
}

void
gp_link_search_close(gp_link_search *s)
{
	gp_env	   *env = s->env;

	gp_link_rules_close(env, &s->rules);
	gp_link_tables_free(env, &s->tables);
	gp_csr_free(env, s->own);
	gp_link_search_twin_free(env, s);
}

gp_link_search *
gp_link_search_twin(const gp_link_search *search)
{
	gp_link_search *twin = gp_alloc_array(search->env, 1, sizeof(gp_link_search));

	*twin = *search;
	make_marks(twin);
	return twin;
}

void
gp_link_search_twin_free(gp_env *env, gp_link_search *twin)
{
	gp_free_all(env, twin->hub, twin->marks.stamp, twin->out, twin);
}

const gp_csr *
gp_link_search_pattern(const gp_link_search *search)
{
	return search->neighbours;
}

gp_link_search *
gp_link_search_set_env(gp_link_search *s, gp_env *env)
{
	s->env = env;
	return s;
}

/* ---- walks ---- */

/* Takes a node unless it is taken. */
static inline void
take(gp_link_search *s, int32_t node)
{
	if (gp_link_mark(&s->marks, node, GP_MARK_TAKEN))
		s->out[s->found++] = node;
}

/* Counts work, and looks at interrupts. */
static inline void
count_work(gp_link_search *s, int64_t entries)
{
	s->work += 1 + entries;
	gp_poll(s->env, s->work, &s->next_look);
}

/* Takes the neighbours of a middle, at most limit of them from place first on, round. */
static void
walk(gp_link_search *s, int32_t middle, int64_t first, int64_t limit)
{
	const int32_t *col = s->neighbours->col + s->neighbours->start[middle];
	int64_t		n = degree(s, middle);
	int64_t		length = limit < n ? limit : n;
	int64_t		tail = n - first < length ? n - first : length;

	for (int64_t k = 0; k < tail; k++)
		take(s, col[first + k]);
	for (int64_t k = 0; k < length - tail; k++)
		take(s, col[k]);
	s->walked += length;
	count_work(s, length);
}

/* Where a walk of part of n items begins, by a number that is all that it depends on. */
static inline int64_t
begin_at(uint64_t key, int64_t n)
{
	return n > 0 ? (int64_t) (gp_hash(key) % (uint64_t) n) : 0;
}

static inline int64_t
left(const gp_link_search *s)
{
	return s->walked < WALK_BUDGET ? WALK_BUDGET - s->walked : 0;
}

/* Orders hubs by degree, then by number. */
static int
compare_hubs(const void *a, const void *b, void *unused)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/*
 * Takes at most so many neighbours of a middle, from a place that depends on the two nodes alone.
 */
static void
walk_part(gp_link_search *s, int32_t node, int32_t middle, int64_t most)
{
	int64_t		n = degree(s, middle);
	int64_t		first = n > most ? begin_at(gp_hash((uint64_t) node) ^ (uint64_t) middle, n) : 0;

	walk(s, middle, first, gp_min64(most, left(s)));
}

/* Takes all nodes within two steps, and those whose only link with the node comes from them. */
static void
two_hops(gp_link_search *s, int32_t node)
{
	const gp_csr *a = s->neighbours;
	int64_t		hubs = 0;

	for (int64_t k = a->start[node]; k < a->start[node + 1]; k++)
	{
		int32_t		middle = a->col[k];
		int64_t		n = degree(s, middle);

		take(s, middle);
		if (n <= HUB_DEGREE)
			walk(s, middle, 0, n);
		else
			s->hub[hubs++] = (uint64_t) n << 32 | (uint32_t) middle;
	}
	/* The smallest hub first, while the budget lasts. */
	if (left(s) > 0)
		gp_sort(s->env, s->hub, hubs, sizeof(uint64_t), compare_hubs, NULL);
	for (int64_t h = 0; h < hubs && left(s) > 0; h++)
		walk_part(s, node, (int32_t) (s->hub[h] & UINT32_MAX), left(s));
}

/* ---- what was learnt ---- */

/* True when links lead from side to side where the node is. */
static inline bool
has_side(const gp_link_search *s, int32_t node)
{
	return s->rules.topology.two_sided && s->rules.sides.side[node] != GP_LINK_NO_SIDE;
}

/*
 * True when so few of the nodes that were found may be linked with the node that a third step is
 * due.
 */
static bool
found_few(const gp_link_search *s, int32_t node)
{
	int64_t		n = 0;

	for (int64_t k = 0; k < s->found && n < FEW; k++)
		n += !gp_link_never_to(&s->rules, node, s->out[k]);
	return n < FEW;
}

static void
drop_never(gp_link_search *s, int32_t node)
{
	int64_t		n = 0;

	if (!s->rules.topology.two_sided && !s->rules.topology.ends)
		return;
	for (int64_t k = 0; k < s->found; k++)
		if (gp_link_never_to(&s->rules, node, s->out[k]))
			gp_link_mark(&s->marks, s->out[k], GP_MARK_NEVER);
		else
			s->out[n++] = s->out[k];
	count_work(s, s->found);
	s->found = n;
}

/*
 * Takes what lies behind the nodes that are nearest in the kernel, for these are of
 * the own side; one that is known to be of the other is taken itself.
 */
static void
behind_nearest(gp_link_search *s, int32_t node)
{
	const gp_link_sides *sides = &s->rules.sides;
	gp_link_nearest best;

	count_work(s, gp_link_nearest_find(&s->tables, &s->marks, node, &best));
	for (int k = 0; k < best.n && left(s) > 0; k++)
	{
		int32_t		other = (int32_t) (best.key[k] & UINT32_MAX);
		bool		joined = sides->component[other] == sides->component[node];

		if (!joined && !s->features)
			continue;
		if (joined && sides->side[other] != sides->side[node])
			take(s, other);
		else
			walk_part(s, node, other, HUB_DEGREE);
	}
}

/*
 * Takes what lies behind the first n nodes that were found, at two steps, while the
 * budget lasts; begins at a place that depends on the node alone.  These are the nodes
 * of the own side where there are sides, else those that are no hubs.
 */
static void
behind_found(gp_link_search *s, int32_t node, int64_t n)
{
	int64_t		first = begin_at((uint64_t) node, n);

	for (int64_t k = 0; k < n && left(s) > 0; k++)
	{
		int32_t		middle = s->out[(first + k) % n];

		if (has_side(s, node) ? gp_link_same_side(&s->rules.sides, node, middle) :
			degree(s, middle) <= HUB_DEGREE)
			walk_part(s, node, middle, HUB_DEGREE);
	}
}

/* ---- one node ---- */

/* Starts a search: what can be no candidate is marked. */
static void
begin(gp_link_search *s, int32_t node)
{
	const gp_graph *g = s->graph;

	if (s->marks.base >> GP_MARK_BITS == LAST_SEARCH)
	{
		memset(s->marks.stamp, 0, s->n * sizeof(uint32_t));
		s->marks.base = 0;
	}
	s->marks.base += UINT32_C(1) << GP_MARK_BITS;
	s->found = 0;
	s->walked = 0;
	gp_link_mark(&s->marks, node, GP_MARK_TAKEN | GP_MARK_SEEN | GP_MARK_NEVER);
	for (int64_t k = g->start[node]; k < g->start[node + 1]; k++)
		gp_link_mark(&s->marks, g->col[k], GP_MARK_TAKEN | GP_MARK_SEEN | GP_MARK_NEVER);
	count_work(s, g->start[node + 1] - g->start[node]);
}

/* Sorts what was found; where it is much, reading all stamps in their order is faster. */
static void
sort_found(gp_link_search *s)
{
	int64_t		at = 0;

	count_work(s, s->found);
	if (s->found < s->n / 64)
	{
		gp_sort_columns(s->env, s->out, s->found);
		return;
	}
	for (int64_t j = 0; j < s->n; j++)
	{
		unsigned	marks = gp_link_marks_of(&s->marks, (int32_t) j);

		s->out[at] = (int32_t) j;
		at += (marks & (GP_MARK_TAKEN | GP_MARK_NEVER)) == GP_MARK_TAKEN;
	}
}

int64_t
gp_link_search_node(gp_link_search *s, int32_t node, int32_t **found)
{
	int32_t    *out = *found = s->out;

	begin(s, node);
	if (s->target)
	{
		/* Those that alone are candidates. */
		for (int64_t k = 0; k < s->targets; k++)
			if (!(gp_link_marks_of(&s->marks, s->target[k]) & GP_MARK_NEVER))
				out[s->found++] = s->target[k];
		count_work(s, s->targets);
		gp_sort_columns(s->env, out, s->found);
		return s->found;
	}
	if (gp_link_starts_none(&s->rules, node))
		return 0;
	if (s->candidates == GP_CANDIDATES_ALL)
	{
		for (int64_t j = 0; j < s->n; j++)
			if (!(gp_link_marks_of(&s->marks, (int32_t) j) & GP_MARK_NEVER))
				out[s->found++] = (int32_t) j;
		count_work(s, s->n);
		drop_never(s, node);
		return s->found;
	}
	two_hops(s, node);
	int64_t		n = s->found;
	if (has_side(s, node))
	{
		/* Nodes of the other side, with a budget of their own. */
		s->walked = 0;
		behind_nearest(s, node);
		behind_found(s, node, n);
	}
	else
	{
		/* Three steps where that is to be, and the nearest in the kernel. */
		gp_link_nearest best;

		if (s->candidates == GP_CANDIDATES_THREE_HOPS || s->rules.topology.three ||
			(s->candidates == GP_CANDIDATES_AUTO && found_few(s, node)))
			behind_found(s, node, n);
		count_work(s, gp_link_nearest_find(&s->tables, &s->marks, node, &best));
		for (int k = 0; k < best.n; k++)
			take(s, (int32_t) (best.key[k] & UINT32_MAX));
	}
	drop_never(s, node);
	sort_found(s);
	return s->found;
}

int64_t
gp_link_draw_unlinked(const gp_graph *full, gp_link_search *search, uint64_t stream, int32_t node,
					  int64_t most, int32_t **drawn)
{
	int64_t		n = gp_link_search_node(search, node, drawn);
	int32_t    *found = *drawn;
	int64_t		unlinked = 0;

	for (int64_t k = 0; k < n; k++)
		if (!gp_link_exists(full, node, found[k]))
			gp_exchange_nodes(&found[unlinked++], &found[k]);
	for (int64_t k = 0; k < gp_min64(most, unlinked); k++)
	{
		uint64_t	draw = gp_hash(stream + (uint64_t) k);

		gp_exchange_nodes(&found[k], &found[k + (int64_t) (draw % (uint64_t) (unlinked - k))]);
	}
	return unlinked;
}
