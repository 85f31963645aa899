/*
 * explain.c - gp_explain and gp_explain_edges: which labels and which edges make the score of a
 * node.
 *
 * A score is linear in the targets, h_i'y with h_i = (K + noise I)^-1 k_i (Rasmussen and Williams
 * 2006, section 2.6): a part for each label, which for a class are those of this class.  Sums of
 * kernel times alpha add up to the same, but of large numbers that cancel.  The rows name
 * labels, so that they are for the model's owner.
 */
#include "postgres.h"

#include "pg/functions/functions.h"
#include "live_common.h"
#include "miscadmin.h"
#include "pg/server/server.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The arguments, and the columns of the rows. */
enum explain_argument
{
	ARG_MODEL, ARG_NODE, ARG_CLASS, ARG_K
};

enum explain_column
{
	EXPLAIN_LABELLED, EXPLAIN_CLASS, EXPLAIN_SHARE, EXPLAIN_RELATION, EXPLAIN_AGGREGATE,
		EXPLAIN_COLUMNS
};

enum edge_column
{
	EDGE_SRC, EDGE_DST, EDGE_EFFECT, EDGE_COLUMNS
};

/* The class that is asked about, or the most probable one, as gp_predict_live gives it. */
static int32
class_or_best(const gnngp_live_call *c, const gp_live_answer *a)
{
	FunctionCallInfo fcinfo = c->fcinfo;

	if (!PG_ARGISNULL(ARG_CLASS))
		return gnngp_class_number(c->model, text_to_cstring(PG_GETARG_TEXT_PP(ARG_CLASS)));
	return c->model->classes == 0 ? 0 : gnngp_live_best_class(c, a, 0);
}

/* Puts the largest parts, and the rest in one row. */
static void
put_parts(gnngp_live_call *c, gnngp_part *parts, int64 n, int64 k, double score)
{
	int64		m;
	const int32 *labelled = gp_live_labelled(c->live->keep, &m);
	Datum		values[EXPLAIN_COLUMNS] = {0};
	bool		rest[EXPLAIN_COLUMNS] = {true, true, false, true, true};

	gnngp_sort(parts, n, sizeof(gnngp_part), gnngp_part_compare, NULL);
	for (int64 i = 0; i < Min(n, k); i++)
	{
		gnngp_id	id = gnngp_link_id(&c->live->ids, labelled[parts[i].number]);
		int32		class = gp_live_class(c->live->keep, parts[i].number);
		bool		nulls[EXPLAIN_COLUMNS] = {false, class < 0, false, true, true};

		CHECK_FOR_INTERRUPTS();
		values[EXPLAIN_LABELLED] = gnngp_id_type_datum(&c->id_type, &id);
		values[EXPLAIN_CLASS] = class < 0 ? (Datum) 0
			: CStringGetTextDatum(c->model->class_labels.text[class]);
		values[EXPLAIN_SHARE] = Float8GetDatum(parts[i].share);
		tuplestore_putvalues(c->result->setResult, c->result->setDesc, values, nulls);
		score -= parts[i].share;
	}
	values[EXPLAIN_LABELLED] = values[EXPLAIN_CLASS] = (Datum) 0;
	values[EXPLAIN_SHARE] = Float8GetDatum(score);
	tuplestore_putvalues(c->result->setResult, c->result->setDesc, values, rest);
}

/* Takes the node, of which there has to be one. */
static void
read_node(gnngp_live_call *c)
{
	gnngp_live_call_nodes(c);
	if (c->nodes.n != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is about one node, not %d", get_func_name(c->fcinfo->flinfo->fn_oid),
						(int) c->nodes.n),
				 errhint("Call it for each node: FROM nodes, LATERAL %s('model', nodes.id).",
						 get_func_name(c->fcinfo->flinfo->fn_oid))));
	c->wanted = palloc(sizeof(gnngp_id));
	c->wanted[c->nwanted++] = c->nodes.id[0];
}

/* Puts the blocks of columns that make the score of an entity, and what is there without them. */
static void
explain_task(gnngp_live_call *c, int32 k)
{
	gnngp_task_share *share;
	double		score;
	int32		column;
	int32		n = c->live->task->columns.scale.nblocks;

	gnngp_task_explain(c, class_or_best, &column, &share, &score);
	for (int32 b = 0; b <= Min(n, k); b++)
	{
		bool		rest = b == Min(n, k);
		Datum		values[EXPLAIN_COLUMNS] = {0};
		bool		nulls[EXPLAIN_COLUMNS] = {true, c->model->classes == 0, false, rest, rest};

		if (c->model->classes > 0)
			values[EXPLAIN_CLASS] = CStringGetTextDatum(c->model->class_labels.text[column]);
		values[EXPLAIN_SHARE] = Float8GetDatum(rest ? score : share[b].share);
		if (!rest)
		{
			values[EXPLAIN_RELATION] = CStringGetTextDatum(share[b].relation);
			values[EXPLAIN_AGGREGATE] = CStringGetTextDatum(share[b].aggregate);
			score -= share[b].share;
		}
		tuplestore_putvalues(c->result->setResult, c->result->setDesc, values, nulls);
	}
}

/* gp_explain(model, node, class, k) */
PG_FUNCTION_INFO_V1(gnngp_explain);
Datum
gnngp_explain(PG_FUNCTION_ARGS)
{
	gnngp_live_call c;
	gnngp_some *some;
	gp_live_question q;
	double	   *share;
	gnngp_part *parts;
	gp_live_answer answer;
	int32		column;
	int32		k = gnngp_count_argument(fcinfo, ARG_K, "k",
										 "Use k => NULL for all labelled nodes.");
	int64		n;

	gnngp_live_call_open(&c, fcinfo, true);
	read_node(&c);
	if (c.model->rows > 0)
	{
		explain_task(&c, k);
		gnngp_live_call_close(&c);
		return (Datum) 0;
	}
	q = gnngp_live_call_read(&c, &some);
	(void) gp_live_labelled(c.live->keep, &n);
	share = gp_alloc_zero(c.env, n, sizeof(double));
	answer = gp_live_explain(gnngp_live_call_device(&c), &q, share);
	column = class_or_best(&c, &answer);
	gp_live_parts(c.env, c.live->keep, column, share);
	parts = gp_alloc_array(c.env, n, sizeof(gnngp_part));
	for (int64 t = 0; t < n; t++)
		parts[t] = (gnngp_part) {t, share[t]};
	put_parts(&c, parts, n, k, answer.mean[column]);
	gnngp_live_call_close(&c);
	return (Datum) 0;
}

static Datum
read_id(gnngp_live_call *c, const gnngp_some *some, int32 node)
{
	gnngp_id	id = gnngp_ids_at(&some->ids, node);

	return gnngp_id_type_datum(&c->id_type, &id);
}

/*
 * gp_explain_edges(model, node, class, k): of edges that the caller sees, so that it is for every
 * reader
 */
PG_FUNCTION_INFO_V1(gnngp_explain_edges);
Datum
gnngp_explain_edges(PG_FUNCTION_ARGS)
{
	gnngp_live_call c;
	gnngp_some *some;
	gp_live_question q;
	gp_live_answer answer;
	gp_device  *dev;
	gp_live_edge *edge;
	bool		nulls[EDGE_COLUMNS] = {false};
	int32		k = gnngp_count_argument(fcinfo, ARG_K, "k", "Use k => NULL for all edges near.");
	int64		n;
	int64		left;

	gnngp_live_call_open(&c, fcinfo, false);
	read_node(&c);
	q = gnngp_live_call_read(&c, &some);
	dev = gnngp_live_call_device(&c);
	answer = gp_live_ask(dev, &q);
	edge = gp_live_explain_edges(dev, &q, class_or_best(&c, &answer), k, &n, &left);
	if (left > 0)
		ereport(NOTICE,
				(errmsg("%lld edges around hubs were not tried", (long long) left),
				 errdetail("Each edge is tried by evaluating all nodes near without it; the heaviest edges were tried first.")));
	for (int64 e = 0; e < n; e++)
	{
		Datum		values[EDGE_COLUMNS];

		CHECK_FOR_INTERRUPTS();
		values[EDGE_SRC] = read_id(&c, some, edge[e].src);
		values[EDGE_DST] = read_id(&c, some, edge[e].dst);
		values[EDGE_EFFECT] = Float8GetDatum(edge[e].effect);
		tuplestore_putvalues(c.result->setResult, c.result->setDesc, values, nulls);
	}
	gnngp_live_call_close(&c);
	return (Datum) 0;
}
