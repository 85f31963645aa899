/*
 * predict_links.c - gp_predict_links, all forms, gp_score_links and gp_embedding.
 */
#include "postgres.h"

#include "fit_links.h"
#include "pg/store/store_links.h"

#define ARG_AMONG 4
#define BRIEF 512				/* nodes or pairs, up to which a call is brief */

/* The pairs that gp_predict_links may look at. */
static const char *const candidate_names[] = {
	[GP_CANDIDATES_AUTO] = "auto",
	[GP_CANDIDATES_TWO_HOPS] = "two_hops",
	[GP_CANDIDATES_THREE_HOPS] = "three_hops",
	[GP_CANDIDATES_ALL] = "all"
};

typedef struct link_predict
{
	gnngp_model *model;			/* with the ids of the link part */
	gnngp_id_type id_type;
	gnngp_open_links *open;
	gnngp_result *result;
} link_predict;

/* Prepares the rows, and looks up the model. */
static void
open_call(FunctionCallInfo fcinfo, link_predict *p)
{
	memset(p, 0, sizeof(*p));
	p->result = gnngp_result_start(fcinfo);
	p->model = gnngp_link_view(gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false));
}

static void
emit_pair(link_predict *p, const gnngp_id *src, const gnngp_id *dst, double score, double variance,
		  double probability)
{
	gnngp_emit(p->result, gnngp_out(gnngp_id_type_datum(&p->id_type, src)),
			   gnngp_out(gnngp_id_type_datum(&p->id_type, dst)), gnngp_out_float(score),
			   gnngp_out_float(variance), gnngp_out_float(probability));
}

static void
emit_row(void *state, const gp_link_row *row)
{
	link_predict *p = state;
	gnngp_id	src = gnngp_ids_at(&p->open->ids, row->src);
	gnngp_id	dst = gnngp_ids_at(&p->open->ids, row->dst);

	emit_pair(p, &src, &dst, row->score, row->variance, row->probability);
}

/*
 * ---- from what a fit kept ----
 *
 * All nodes are answered block by block.  Of nodes that are given, what was kept is collected
 * first: they are answered in the order given, and an undirected pair of two of them once, under
 * the first.
 */

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
	link_predict *p;
	int64		k;
	gp_env	   *env;
	MemoryContext context;		/* of what is collected */
	bool		directed;
	gp_set		emitted;		/* pairs */
	gnngp_given_ids sorted;
	kept_answer *answer;		/* of each of the sorted ids */
	gnngp_kept_pair *pair;		/* room for those of one node, */
	gp_scored  *order;			/* and for their order */
} kept_call;

/* Emits the pairs of a node, n of them as they rank, except those that their other ends had. */
static void
emit_kept_pairs(kept_call *t, int32 node, const gnngp_id *id, const gnngp_kept_pair *pair, int32 n)
{
	int32		left = 0;

	CHECK_FOR_INTERRUPTS();
	for (int32 e = 0; e < n; e++)
		if (t->directed || gp_set_add(&t->emitted, gp_link_key(node, pair[e].dst)))
			t->order[left++] = (gp_scored) {pair[e].score, pair[e].dst, e};
	gnngp_sort(t->order, left, sizeof(gp_scored), gp_compare_scored, NULL);
	for (int32 e = 0; e < left; e++)
	{
		const gnngp_kept_pair *best = &pair[t->order[e].place];

		emit_pair(t->p, id, &best->id, best->score, best->variance, best->probability);
	}
}

static int32
unpack(const kept_call *t, const gnngp_block *block, const gnngp_kept_node *node,
	   gnngp_kept_pair *pair)
{
	int32		n = (int32) Min((int64) (node->end - node->first), t->k);

	for (int32 e = 0; e < n; e++)
		gnngp_kept_pair_at(block, node->first + e, &pair[e]);
	return n;
}

static void
emit_kept_row(void *state, const gnngp_block *block, int32 i, int64 place)
{
	kept_call  *t = state;
	gnngp_kept_node node;

	t->directed = block->directed;
	gnngp_kept_node_at(block, i, &node);
	int32		n = unpack(t, block, &node, t->pair);
	emit_kept_pairs(t, node.node, &node.id, t->pair, n);
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

/* Emits the very rows that gp_links_best gives for the nodes that were given. */
static void
answer_from_kept(link_predict *p, const gnngp_given_ids *given, int64 k)
{
	kept_call	t = {.p = p,.k = k,.context = CurrentMemoryContext,.sorted = *given};
	int64		unknown = 0;

	t.env = gnngp_env_create(CurrentMemoryContext);
	t.emitted = gp_set_open(t.env, 0);
	t.pair = palloc(sizeof(gnngp_kept_pair) * k);
	t.order = palloc(sizeof(gp_scored) * k);
	if (given->all)
	{
		gnngp_kept_read(p->model, given, emit_kept_row, &t);
		gnngp_env_destroy(t.env);
		return;
	}
	/* Collects what was kept of the given nodes */
	t.sorted.id = gp_alloc_array(t.env, given->n, sizeof(gnngp_id));
	memcpy(t.sorted.id, given->id, sizeof(gnngp_id) * given->n);
	gnngp_given_ids_sort(&t.sorted);
	t.answer = gp_alloc_zero(t.env, t.sorted.n, sizeof(kept_answer));
	gnngp_kept_read(p->model, &t.sorted, collect_row, &t);
	for (int64 i = 0; i < t.sorted.n; i++)
		unknown += !t.answer[i].found;
	gnngp_notice_unknown(p->model, unknown, given->n);
	/* Emits each node once and in the order given */
	for (int64 i = 0; i < given->n; i++)
	{
		int64		place = given->id[i].null ? -1 :
			gnngp_given_ids_find(&t.sorted, &given->id[i]);
		kept_answer *answer = place < 0 ? NULL : &t.answer[place];

		if (answer == NULL || !answer->found)
			continue;
		answer->found = false;
		emit_kept_pairs(&t, answer->node, &answer->id, answer->pair, answer->npairs);
	}
	gnngp_env_destroy(t.env);
}

/* ---- from the model ---- */

/*
 * The nodes of a call: all of them, or those given, each once and in the order
 * given.  NULL elements are left out, and ids that the model does not know, with a NOTICE.
 */
static int32 *
choose_nodes(const link_predict *p, const gnngp_given_ids *given, int64 *n)
{
	int32	   *node = gp_alloc_array(p->open->env, given->all ? p->open->ids.n : given->n,
									  sizeof(int32));
	int64		unknown = 0;

	*n = 0;
	if (given->all)
	{
		for (int64 i = 0; i < p->open->ids.n; i++)
			node[(*n)++] = (int32) i;
		return node;
	}
	bool	   *seen = gp_alloc_zero(p->open->env, p->open->ids.n, sizeof(bool));
	for (int64 i = 0; i < given->n; i++)
	{
		int32		found = given->id[i].null ? -1 :
			gnngp_ids_find(&p->open->ids, &given->id[i]);

		CHECK_FOR_INTERRUPTS();
		unknown += found < 0 && !given->id[i].null;
		if (found < 0 || seen[found])
			continue;
		seen[found] = true;
		node[(*n)++] = found;
	}
	gp_free(p->open->env, seen);
	gnngp_notice_unknown(p->model, unknown, given->n);
	return node;
}

/* gp_predict_links(model, id or nodes, k, candidates, among) */
GNNGP_FUNCTION(gnngp_predict_links)
{
	link_predict p;
	int			guc_level = gnngp_output_level();

	open_call(fcinfo, &p);
	gnngp_given_ids given = gnngp_given_ids_argument(&p.id_type, p.model, fcinfo, 1);
	gnngp_given_ids among = {.all = PG_ARGISNULL(ARG_AMONG)};
	int32	   *other = NULL;
	int64		others = 0;
	int64		k = gnngp_count_argument(fcinfo, 2, "k", "Use k => NULL for all candidates.");
	int			candidates = gnngp_require_word("candidates", gnngp_text_argument(fcinfo, 3, "candidates"),
												lengthof(candidate_names), candidate_names,
												"Candidates are auto, two_hops, three_hops or all.");
	int64		n;

	if (!among.all)
		among = gnngp_given_list_argument(p.model, fcinfo, ARG_AMONG, "among");
	if (among.all && candidates == GP_CANDIDATES_AUTO && k <= p.model->link.settings.keep)
	{
		answer_from_kept(&p, &given, k);
		AtEOXact_GUC(false, guc_level);
		return (Datum) 0;
	}
	p.open = gnngp_links_open(p.model, !given.all && given.n <= BRIEF);
	int32	   *node = choose_nodes(&p, &given, &n);
	if (!among.all)
		other = choose_nodes(&p, &among, &others);
	if (!among.all && others == 0)
		n = 0;
	gp_links_set_threads(p.open->links, gnngp_setting_threads());
	if (other)
		gp_links_among(p.open->links, others, other);
	if (n > 0)
		gp_links_best(p.open->links, n, node, Min(k, p.open->ids.n),
					  (gp_link_candidates) candidates, emit_row, &p);
	/* The model is kept for the next call, which may be of other nodes. */
	if (other)
		gp_links_among(p.open->links, 0, NULL);
	gp_free_all(p.open->env, node, other);
	gnngp_links_close(p.open);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}

/* The nodes of the ids at one end: 22004 for NULL among them, 22023 for an unknown id. */
static int32 *
find_nodes(const link_predict *p, const gnngp_given_ids *given, const char *argument)
{
	int32	   *node = gp_alloc_array(p->open->env, given->n, sizeof(int32));

	for (int64 i = 0; i < given->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (given->id[i].null)
			gnngp_raise(NULL_VALUE_NOT_ALLOWED, NULL, "%s must not contain NULL", argument);
		node[i] = gnngp_ids_find(&p->open->ids, &given->id[i]);
		if (node[i] < 0)
			gnngp_raise(INVALID_PARAMETER_VALUE, GNNGP_UNKNOWN_HINT,
						"model \"%s\" has no node \"%s\"", p->model->name,
						gnngp_id_name(&given->id[i]));
	}
	return node;
}

/* gp_score_links(model, src, dst): one pair or arrays of them */
GNNGP_FUNCTION(gnngp_score_links)
{
	link_predict p;
	gnngp_given_ids src,
				dst;
	int			guc_level = gnngp_output_level();

	open_call(fcinfo, &p);
	gnngp_require_argument(fcinfo, 1, "src");
	gnngp_require_argument(fcinfo, 2, "dst");
	src = gnngp_given_ids_argument(&p.id_type, p.model, fcinfo, 1);
	dst = gnngp_given_ids_read(&p.id_type, fcinfo, 2);
	if (src.n != dst.n)
		gnngp_raise(ARRAY_SUBSCRIPT_ERROR,
					"Each element of src is paired with the element of dst at its place.",
					"src and dst have different lengths: %lld and %lld", (long long) src.n,
					(long long) dst.n);
	p.open = gnngp_links_open(p.model, src.n <= BRIEF);
	int32	   *source = find_nodes(&p, &src, "src");
	int32	   *other = find_nodes(&p, &dst, "dst");
	for (int64_t i = 0; i < src.n; i++)
		if (source[i] == other[i])
			gnngp_raise(INVALID_PARAMETER_VALUE, "Leave out pairs whose ends are one node.",
						"node \"%s\" is paired with itself", gnngp_id_name(&src.id[i]));
	gp_link_row *row = gp_alloc_array(p.open->env, src.n, sizeof(gp_link_row));
	if (src.n > 0)
		gp_links_score(p.open->links, src.n, source, other, row);
	for (int64_t i = 0; i < src.n; i++)
		emit_row(&p, &row[i]);
	gp_free_all(p.open->env, row, other, source);
	gnngp_links_close(p.open);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}

/* gp_embedding(model, id or nodes) */
GNNGP_FUNCTION(gnngp_embedding)
{
	link_predict p;
	int			guc_level = gnngp_output_level();
	int64		n;

	open_call(fcinfo, &p);
	gnngp_given_ids given = gnngp_given_ids_argument(&p.id_type, p.model, fcinfo, 1);
	p.open = gnngp_links_open(p.model, !given.all && given.n <= BRIEF);
	int			width = gp_links_embedding_width(p.open->links);
	if (width == 0)
		gnngp_raise_detail(FEATURE_NOT_SUPPORTED, psprintf("They were learnt with method %s.", p.model->link.method),
						   "Use gp_fit_links(..., method => 'dgp').",
						   "the links of model \"%s\" have no embedding", p.model->name);
	int32	   *node = choose_nodes(&p, &given, &n);
	float4	   *numbers = palloc(sizeof(float4) * width);
	Datum	   *elements = palloc(sizeof(Datum) * width);
	for (int64 i = 0; i < n; i++)
	{
		gnngp_id	id = gnngp_ids_at(&p.open->ids, node[i]);

		gp_links_embedding(p.open->links, node[i], numbers);
		for (int d = 0; d < width; d++)
			elements[d] = Float4GetDatum(numbers[d]);
		gnngp_emit(p.result, gnngp_out(gnngp_id_type_datum(&p.id_type, &id)),
				   gnngp_out(gnngp_make_array(elements, width, FLOAT4OID)));
	}
	gp_free(p.open->env, node);
	gnngp_links_close(p.open);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}
