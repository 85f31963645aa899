/*
 * kept_links.c - answering gp_predict_links from what a fit kept.
 *
 * All nodes are answered block by block.  Of nodes that are given, what was kept is collected
 * first: they are answered in the order given, and an undirected pair of two of them once, under
 * the first.
 */
#include "postgres.h"

#include "core/base/hash_table.h"
#include "core/base/sort.h"
#include "kept_links.h"

/* What was kept of a given node. */
typedef struct kept_answer
{
	bool		found;
	int32		node;
	gnngp_id	id;
	int32		npairs;
	gnngp_kept_pair *pair;
} kept_answer;

typedef struct kept_call
{
	int64		k;
	gnngp_kept_emit emit;
	void	   *arg;
	gp_env	   *env;
	MemoryContext context;		/* of what is collected */
	bool		directed;
	gp_set		emitted;		/* pairs */
	gnngp_given_ids sorted;
	kept_answer *answer;		/* of each of the sorted ids */
	gnngp_kept_pair *pair;		/* room for those of one node, */
	gp_scored  *order;			/* and for their order */
} kept_call;

bool
gnngp_kept_serves(const gnngp_model *model, int64 k, gp_link_candidates candidates)
{
	return candidates == GP_CANDIDATES_AUTO && k <= model->link.settings.keep;
}

/* Emits the pairs of a node, n of them as they rank, but for those that their other ends had. */
static void
emit_pairs(kept_call *t, int32 node, const gnngp_id *id, const gnngp_kept_pair *pair, int32 n)
{
	int32		left = 0;

	CHECK_FOR_INTERRUPTS();
	for (int32 e = 0; e < n; e++)
	{
		uint64		low = (uint64) Min(node, pair[e].dst);
		uint64		high = (uint64) Max(node, pair[e].dst);

		if (t->directed || gp_set_add(&t->emitted, low << 32 | high))
			t->order[left++] = (gp_scored) {pair[e].score, pair[e].dst, e};
	}
	gnngp_sort(t->order, left, sizeof(gp_scored), gp_compare_scored, NULL);
	for (int32 e = 0; e < left; e++)
		t->emit(t->arg, id, &pair[t->order[e].place]);
}

/* Unpacks the first pairs of a node. */
static int32
unpack(const kept_call *t, const gnngp_block *block, const gnngp_kept_node *node,
	   gnngp_kept_pair *pair)
{
	int32		n = (int32) Min((int64) (node->end - node->first), t->k);

	for (int32 e = 0; e < n; e++)
		gnngp_kept_pair_at(block, node->first + e, &pair[e]);
	return n;
}

/* Emits row i of a block. */
static void
emit_kept_row(void *state, const gnngp_block *block, int32 i, int64 place)
{
	kept_call  *t = state;
	gnngp_kept_node node;
	int32		n;

	t->directed = block->directed;
	gnngp_kept_node_at(block, i, &node);
	n = unpack(t, block, &node, t->pair);
	emit_pairs(t, node.node, &node.id, t->pair, n);
}

/* Copies an id's text into what is collected. */
static void
copy_id(gnngp_id *id)
{
	if (id->text)
		id->text = pnstrdup(id->text, id->length);
}

/* Collects row i of a block, which is of the given id at a place. */
static void
collect_row(void *state, const gnngp_block *block, int32 i, int64 place)
{
	kept_call  *t = state;
	kept_answer *answer = &t->answer[place];
	MemoryContext old = MemoryContextSwitchTo(t->context);
	gnngp_kept_node node;

	t->directed = block->directed;
	gnngp_kept_node_at(block, i, &node);
	answer->found = true;
	answer->node = node.node;
	answer->id = node.id;
	copy_id(&answer->id);
	answer->pair = palloc(sizeof(gnngp_kept_pair) * Max(node.end - node.first, 1));
	answer->npairs = unpack(t, block, &node, answer->pair);
	for (int32 e = 0; e < answer->npairs; e++)
		copy_id(&answer->pair[e].id);
	MemoryContextSwitchTo(old);
}

/* Collects what was kept of the given nodes. */
static void
collect_given(kept_call *t, const gnngp_model *model, const gnngp_given_ids *given)
{
	int64		unknown = 0;

	t->sorted = *given;
	t->sorted.id = MemoryContextAllocHuge(CurrentMemoryContext,
										  sizeof(gnngp_id) * Max(given->n, 1));
	memcpy(t->sorted.id, given->id, sizeof(gnngp_id) * given->n);
	gnngp_given_ids_sort(&t->sorted);
	t->answer = MemoryContextAllocExtended(CurrentMemoryContext,
										   sizeof(kept_answer) * Max(t->sorted.n, 1),
										   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	gnngp_kept_read(model, &t->sorted, collect_row, t);
	for (int64 i = 0; i < t->sorted.n; i++)
		unknown += !t->answer[i].found;
	gnngp_notice_unknown(model, unknown, given->n);
}

/* Emits what was collected, each node once and in the order given. */
static void
emit_given(kept_call *t, const gnngp_given_ids *given)
{
	for (int64 i = 0; i < given->n; i++)
	{
		int64		place = given->id[i].null ? -1 :
			gnngp_given_ids_find(&t->sorted, &given->id[i]);
		kept_answer *answer = place < 0 ? NULL : &t->answer[place];

		if (answer == NULL || !answer->found)
			continue;
		answer->found = false;
		emit_pairs(t, answer->node, &answer->id, answer->pair, answer->npairs);
	}
}

void
gnngp_kept_answer(const gnngp_model *model, const gnngp_given_ids *given, int64 k,
				  gnngp_kept_emit emit, void *arg)
{
	kept_call	t = {.k = k,.emit = emit,.arg = arg,.context = CurrentMemoryContext};

	t.env = gnngp_env_create(CurrentMemoryContext);
	t.emitted = gp_set_open(t.env, 0);
	t.pair = palloc(sizeof(gnngp_kept_pair) * k);
	t.order = palloc(sizeof(gp_scored) * k);
	if (given->all)
		gnngp_kept_read(model, given, emit_kept_row, &t);
	else
	{
		collect_given(&t, model, given);
		emit_given(&t, given);
	}
	gnngp_env_destroy(t.env);
}
