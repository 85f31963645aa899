/*
 * explain.c - gp_explain and gp_explain_edges: which labels, which relations of a task, and which
 * edges make the score of a node; gp_next_labels: which labels would help most.
 *
 * A score is linear in the targets, h_i'y with h_i = (K + noise I)^-1 k_i (Rasmussen and Williams
 * 2006, section 2.6): a part for each label, which for a class are those of this class.  Sums of
 * kernel times alpha add up to the same, but of large numbers that cancel.  The rows name
 * labels, so that they are for the model's owner.
 */
#include "postgres.h"

#include "live_common.h"

/* The arguments. */
enum explain_argument
{
	ARG_MODEL, ARG_NODE, ARG_CLASS, ARG_K, ARG_AS_OF
};

/* A part of a score; the largest come first, whatever their sign, equal ones by their number. */
typedef struct score_part
{
	int64		number;
	double		share;
} score_part;

static int
compare_parts(const void *first, const void *second, void *unused)
{
	const score_part *a = first;
	const score_part *b = second;

	if (fabs(a->share) != fabs(b->share))
		return fabs(a->share) > fabs(b->share) ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* The class that is asked about, or the most probable one, as gp_predict_live gives it. */
static int32
class_or_best(const gnngp_live_call *c, const gp_live_answer *a)
{
	FunctionCallInfo fcinfo = c->fcinfo;

	if (!PG_ARGISNULL(ARG_CLASS))
		return gnngp_class_number(c->model, text_to_cstring(PG_GETARG_TEXT_PP(ARG_CLASS)));
	return c->model->classes == 0 ? 0 : gnngp_live_best_class(c, a);
}

/* Emits the row of a part: of a label, or of a group of columns of a task. */
static void
emit_part(gnngp_live_call *c, score_part part, const char *class)
{
	const gp_facts_scale *scale = c->live->task ? &c->live->task->transform.scale : NULL;
	const gp_metapath_term *term = c->terms ? &c->terms->term[part.number] : NULL;
	const char *relation = NULL;
	const char *aggregate = NULL;
	NullableDatum labelled = GNNGP_OUT_NULL;

	if (term)
	{
		relation = term->leaf ? term->leaf : get_rel_name(c->graph->task.table);
		if (term->path)
			relation = psprintf("%s beside %s", relation, term->path);
		aggregate = term->leaf ? "list" : "columns";
	}
	else if (scale)
	{
		relation = scale->relation[part.number];
		aggregate = scale->aggregate[part.number];
	}
	else
	{
		int64		n;
		gnngp_id	id = gnngp_ids_at(&c->live->ids,
									   gp_live_labelled(c->live->state, &n)[part.number]);
		int32		number = gp_live_class(c->live->state, part.number);

		labelled = gnngp_out(gnngp_id_type_datum(&c->id_type, &id));
		class = number < 0 ? NULL : c->model->class_labels.text[number];
	}
	gnngp_emit(c->result, labelled, gnngp_out_text(class), gnngp_out_float(part.share),
			   gnngp_out_text(relation), gnngp_out_text(aggregate));
}

/* Emits the largest k of n parts, and the rest of the score in one row; class: of all rows, or
 * NULL. */
static void
emit_parts(gnngp_live_call *c, score_part *parts, int64 n, int64 k, double score,
		   const char *class)
{
	gnngp_sort(parts, n, sizeof(score_part), compare_parts, NULL);
	for (int64 i = 0; i < Min(n, k); i++)
	{
		emit_part(c, parts[i], class);
		score -= parts[i].share;
	}
	gnngp_emit(c->result, GNNGP_OUT_NULL, gnngp_out_text(class), gnngp_out_float(score),
			   GNNGP_OUT_NULL, GNNGP_OUT_NULL);
}

/* Takes the node, of which there has to be one. */
static void
read_node(gnngp_live_call *c)
{
	gnngp_live_call_nodes(c);
	if (c->nodes.n != 1)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					psprintf("Call it for each node: FROM nodes, LATERAL %s('model', nodes.id).",
							 get_func_name(c->fcinfo->flinfo->fn_oid)),
					"%s takes one node, not %d", get_func_name(c->fcinfo->flinfo->fn_oid),
					(int) c->nodes.n);
	c->wanted = c->nodes.id;
	c->nwanted = 1;
}

/*
 * ---- models of tasks ----
 *
 * The groups of columns are added one after the other, in each of some orders and in its reverse,
 * from none of them to all: what each adds, averaged over the orders, adds up to the score (Shapley
 * 1953, by a sample of orders).  A group that is not yet added stands at its mean, 0.  Of a task
 * without time the groups are the terms of its covariance.
 */

#define ORDERS 8				/* and their reverses */

/* Draws the orders: of each the numbers of the groups. */
static void
draw_orders(int32 n, int32 *order)
{
	score_part *drawn = palloc(sizeof(score_part) * Max(n, 1));

	for (int o = 0; o < 2 * ORDERS; o++)
	{
		for (int32 b = 0; b < n; b++)
			drawn[b] = (score_part) {b, (double) (gp_hash(((uint64) o / 2 << 32) + b) >> 11)};
		gnngp_sort(drawn, n, sizeof(score_part), compare_parts, NULL);
		for (int32 b = 0; b < n; b++)
			order[o * n + (o % 2 ? n - 1 - b : b)] = (int32) drawn[b].number;
	}
	pfree(drawn);
}

/* The rows of all orders: none of the groups, then one more each. */
static gp_features *
make_rows(gp_env *env, const gp_facts_scale *scale, const gp_features *one, const int32 *order)
{
	int32		n = scale->ngroups;
	int64		rows = (int64) 2 * ORDERS * (n + 1);
	gp_features *x = gp_alloc_zero(env, 1, sizeof(gp_features));
	float	   *dense = gp_alloc_zero(env, rows * one->dims, sizeof(float));
	int32	   *place = palloc(sizeof(int32) * Max(n, 1));

	*x = (gp_features) {.rows = rows,.dims = one->dims,.type = GP_FLOAT,.dense = dense};
	for (int o = 0; o < 2 * ORDERS; o++)
	{
		for (int32 k = 0; k < n; k++)
			place[order[o * n + k]] = k;
		for (int32 j = 0; j <= n; j++)
		{
			float	   *row = dense + ((int64) o * (n + 1) + j) * one->dims;
			int64		at = 0;

			CHECK_FOR_INTERRUPTS();
			for (int32 c = 0; c < scale->width; c++)
				if (scale->column[c].deviation > 0.0)
				{
					if (place[scale->column[c].group] < j)
						row[at] = ((const float *) one->dense)[at];
					at++;
				}
		}
	}
	return x;
}

/* The same of the terms of the call's one node. */
static gp_features *
sum_terms(gnngp_live_call *c, const int32 *order)
{
	int32		n = c->terms->n;
	int64		dims = c->terms->landmarks + 1;
	double	   *sum = gp_alloc_zero(c->env, 2 * ORDERS * (n + 1) * dims, sizeof(double));

	for (int o = 0; o < 2 * ORDERS; o++)
		for (int32 j = 0; j < n; j++)
		{
			double	   *row = sum + ((int64) o * (n + 1) + j) * dims;

			for (int64 i = 0; i < dims; i++)
				row[dims + i] = row[i] + c->terms->term[order[o * n + j]].covariance[i];
		}
	return gnngp_task_sums(c, sum, (int64) 2 * ORDERS * (n + 1));
}

/* Keeps of the groups of a fit those that have weight there; returns how many. */
static int32
keep_weighed(const gp_facts_scale *scale, score_part *group)
{
	bool	   *weighed = palloc0(sizeof(bool) * Max(scale->ngroups, 1));
	int32		n = 0;

	for (int32 c = 0; c < scale->width; c++)
		weighed[scale->column[c].group] |= scale->column[c].weight > GP_FACTS_UNUSED;
	for (int32 b = 0; b < scale->ngroups; b++)
		if (weighed[b])
			group[n++] = group[b];
	return n;
}

/*
 * Emits the groups of columns that make the score of the call's one entity as of a time, and the
 * rest of the score in one row.
 */
static void
explain_task(gnngp_live_call *c, int32 shown, gp_time as_of)
{
	const gnngp_task_state *state = c->live->task;
	const gp_facts_scale *scale = &state->transform.scale;
	gp_live_question q = gnngp_task_question(c, as_of, true);
	int32		n = c->terms ? c->terms->n : scale->ngroups;
	int32	   *order = palloc(sizeof(int32) * 2 * ORDERS * Max(n, 1));
	score_part *group = palloc0(sizeof(score_part) * Max(n, 1));

	if (c->nodes.n == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"Name an entity that gp_predict returns. For a row that came after the fit, pass as_of => clock_timestamp().",
					"the node does not exist yet as of that time");
	gp_live_answer one = gp_live_ask(gnngp_live_call_device(c), &q);
	int32		column = class_or_best(c, &one);
	draw_orders(n, order);
	gnngp_task_ask_rows(c, &q, c->terms ? sum_terms(c, order) :
						make_rows(c->env, scale, q.features, order));
	gp_live_answer all = gp_live_ask(gnngp_live_call_device(c), &q);
	for (int32 b = 0; b < n; b++)
		group[b].number = b;
	for (int o = 0; o < 2 * ORDERS; o++)
		for (int32 k = 0; k < n; k++)
		{
			const double *mean = all.mean + ((int64) o * (n + 1) + k) * all.columns + column;

			group[order[o * n + k]].share += (mean[all.columns] - mean[0]) / (2 * ORDERS);
		}
	emit_parts(c, group, c->terms ? n : keep_weighed(scale, group), shown, one.mean[column],
			   c->model->classes > 0 ? c->model->class_labels.text[column] : NULL);
}

/* ---- the calls ---- */

/* gp_explain(model, node, class, k) */
GNNGP_FUNCTION(gnngp_explain)
{
	gnngp_live_call c;
	gnngp_neighbourhood *some;
	int32		k = gnngp_count_argument(fcinfo, ARG_K, "k",
										 "Use k => NULL for all labelled nodes.");
	int64		n;

	gnngp_live_call_open(&c, fcinfo, true);
	/* Stored answers are as of just after the newest fact, or of a column as of the row's time. */
	gp_time		as_of = gnngp_as_of_argument(&c, ARG_AS_OF, c.live->task == NULL ||
											 (c.graph->task.form == GNNGP_TASK_COLUMN &&
											  !c.live->task->transform.metapaths) ?
											 GNNGP_AS_OF_NOW : c.live->task->transform.newest);
	read_node(&c);
	if (c.model->rows > 0)
	{
		explain_task(&c, k, as_of);
		gnngp_live_call_close(&c);
		return (Datum) 0;
	}
	gp_live_question q = gnngp_live_call_read(&c, &some);
	(void) gp_live_labelled(c.live->state, &n);
	double	   *share = gp_alloc_zero(c.env, n, sizeof(double));
	gp_live_answer answer = gp_live_explain(gnngp_live_call_device(&c), &q, share);
	int32		column = class_or_best(&c, &answer);
	gp_live_parts(c.env, c.live->state, column, share);
	score_part *parts = gp_alloc_array(c.env, n, sizeof(score_part));
	for (int64 t = 0; t < n; t++)
		parts[t] = (score_part) {t, share[t]};
	emit_parts(&c, parts, n, k, answer.mean[column], NULL);
	gnngp_live_call_close(&c);
	return (Datum) 0;
}

static NullableDatum
node_cell(gnngp_live_call *c, const gnngp_neighbourhood *some, int32 node)
{
	gnngp_id	id = gnngp_ids_at(&some->ids, node);

	return gnngp_out(gnngp_id_type_datum(&c->id_type, &id));
}

/*
 * gp_explain_edges(model, node, class, k): of edges that the caller sees, so that it is for every
 * reader
 */
GNNGP_FUNCTION(gnngp_explain_edges)
{
	gnngp_live_call c;
	gnngp_neighbourhood *some;
	int32		k = gnngp_count_argument(fcinfo, ARG_K, "k", "Use k => NULL for all edges near.");
	int64		n;
	int64		left;

	gnngp_live_call_open(&c, fcinfo, false);
	read_node(&c);
	gp_live_question q = gnngp_live_call_read(&c, &some);
	gp_device  *dev = gnngp_live_call_device(&c);
	gp_live_answer answer = gp_live_ask(dev, &q);
	int32		column = class_or_best(&c, &answer);
	gp_live_edge *edge = gp_live_explain_edges(dev, &q, column, answer.mean[column], k, &n, &left);
	if (left > 0)
		ereport(NOTICE,
				(errmsg_plural("%lld edge around hubs was not tried", "%lld edges around hubs were not tried",
							   (unsigned long) left, (long long) left),
				 errdetail("Each edge is removed in turn, and all nodes nearby are evaluated again. The heaviest edges come first.")));
	for (int64 e = 0; e < n; e++)
		gnngp_emit(c.result, node_cell(&c, some, edge[e].src), node_cell(&c, some, edge[e].dst),
				   gnngp_out_float(edge[e].effect));
	gnngp_live_call_close(&c);
	return (Datum) 0;
}

/*
 * ---- what to label next ----
 *
 * All nodes that the caller sees are read: those that may be labelled, and those whose error
 * counts. What a label will be does not matter for it, and nothing is stored.
 */

/* gp_next_labels(model, k, among) and gp_next_labels(model, among) */
GNNGP_FUNCTION(gnngp_next_labels)
{
	gnngp_live_call c;
	gnngp_neighbourhood *some = NULL;
	gp_live_choice choice = {0};
	bool		has_k = PG_NARGS() > 2;
	int32		k = has_k ? gnngp_count_argument(fcinfo, 1, "k", "Use k => NULL for all nodes.") :
		20;

	/* Who is left out has a label. */
	gnngp_live_call_open(&c, fcinfo, true);
	c.everything = true;
	gnngp_live_call_read_nodes(&c, has_k ? 2 : 1, "among");
	c.wanted = c.nodes.id;
	c.nwanted = c.nodes.n;
	if (c.nodes.all || c.nodes.n > 0)
	{
		gp_live_question q = gnngp_live_call_read(&c, &some);
		if (c.nodes.all)
		{
			q.asked = some->ids.n;
			q.node = NULL;
		}
		if (q.asked > 0)
			choice = gp_live_next(gnngp_live_call_device(&c), &q, k);
	}
	for (int64 i = 0; i < choice.n; i++)
		gnngp_emit(c.result, node_cell(&c, some, choice.node[i]), gnngp_out_float(choice.gain[i]));
	gnngp_live_call_close(&c);
	return (Datum) 0;
}
