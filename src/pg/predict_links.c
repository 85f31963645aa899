/*
 * predict_links.c - gp_predict_links, all forms, and gp_score_links.
 *
 * A call opens the link part of the model, lets the core score pairs, and puts
 * the rows into a tuplestore.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "links_open.h"
#include "miscadmin.h"
#include "predict_ids.h"
#include "problem.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#define BRIEF 64				/* nodes or pairs, up to which a call is brief */

/* The columns of both functions' rows. */
enum link_column
{
	LINK_SRC, LINK_DST, LINK_SCORE, LINK_VARIANCE, LINK_PROBABILITY, LINK_COLUMNS
};

static const gnngp_id_hints predict_hints = {
	"Use gp_predict_links(%1$s) for all nodes, or an array of integers.",
	"Use gp_predict_links(%1$s, NULL::%2$s[]) for all nodes, or an array of that type.",
	"model"
};

static const gnngp_id_hints score_hints = {
	"Use gp_score_links(%1$s, ...) with arrays of integers.",
	"Use gp_score_links(%1$s, ...) with arrays of type %2$s[].",
	"model"
};

/* The pairs that gp_predict_links may look at. */
static const char *const candidate_names[] = {
	[GP_CANDIDATES_AUTO] = "auto",
	[GP_CANDIDATES_TWO_HOPS] = "two_hops",
	[GP_CANDIDATES_THREE_HOPS] = "three_hops",
	[GP_CANDIDATES_ALL] = "all"
};

typedef struct link_predict
{
	gnngp_model model;			/* a copy whose ids are those of the link part */
	gnngp_id_type id_type;
	gnngp_open_links *open;
	Tuplestorestate *store;
	TupleDesc	desc;
	MemoryContext row_context;	/* ids that are made for one row */
} link_predict;

/* Ids as they were given. */
typedef struct given_ids
{
	Oid			type;
	int			n;
	Datum	   *value;
	bool	   *null;
} given_ids;

/* Looks up the model; the link part's ids take the place of the node part's. */
static void
open_model(FunctionCallInfo fcinfo, link_predict *p)
{
	gnngp_model *model = gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false);

	memset(p, 0, sizeof(*p));
	gnngp_require_link_part(model);
	p->model = *model;
	p->model.id_type = model->link.id_type;
	p->model.integer_ids = model->link.integer_ids;
}

/* Opens the link part for so many nodes or pairs, and prepares the result. */
static void
open_links(FunctionCallInfo fcinfo, link_predict *p, int64 asked)
{
	InitMaterializedSRF(fcinfo, 0);
	p->store = ((ReturnSetInfo *) fcinfo->resultinfo)->setResult;
	p->desc = ((ReturnSetInfo *) fcinfo->resultinfo)->setDesc;
	p->row_context = AllocSetContextCreate(CurrentMemoryContext, "gnngp prediction",
										   ALLOCSET_DEFAULT_SIZES);
	p->open = gnngp_links_open(&p->model, asked <= BRIEF);
}

/* The text of a node's id. */
static const char *
id_text(const gnngp_link_ids *ids, int64 node, int *length)
{
	int64		start = node > 0 ? ids->text_end[node - 1] : 0;

	*length = (int) (ids->text_end[node] - start);
	return ids->text + start;
}

/* The id of a node as a value. */
static Datum
id_datum(link_predict *p, int32 node)
{
	gnngp_node_row row = {.key = p->open->ids.key[node]};

	if (p->open->ids.text_end)
		row.id_text = id_text(&p->open->ids, node, &row.id_length);
	return gnngp_id_type_datum(&p->id_type, &row);
}

/* The first node with at least this key, or the number of nodes. */
static int64
search_key(const gnngp_link_ids *ids, int64 key)
{
	int64		low = 0,
				high = ids->n;

	while (low < high)
	{
		int64		mid = low + (high - low) / 2;

		if (ids->key[mid] < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The node of an id, or -1. */
static int32
find_node(const link_predict *p, Datum value)
{
	const char *text;
	int			length;
	int64		key = gnngp_id_type_key(&p->id_type, value, &text, &length);

	for (int64 i = search_key(&p->open->ids, key); i < p->open->ids.n && p->open->ids.key[i] == key; i++)
	{
		int			own_length = 0;
		const char *own = text ? id_text(&p->open->ids, i, &own_length) : NULL;

		if (text == NULL || (own_length == length && memcmp(own, text, length) == 0))
			return (int32) i;
	}
	return -1;
}

/* Puts a row; either end as a node. */
static void
put_row(link_predict *p, int32 src, int32 dst, const gp_link_row *row)
{
	MemoryContext old = MemoryContextSwitchTo(p->row_context);
	Datum		values[LINK_COLUMNS];
	bool		nulls[LINK_COLUMNS] = {false};

	CHECK_FOR_INTERRUPTS();
	values[LINK_SRC] = id_datum(p, src);
	values[LINK_DST] = id_datum(p, dst);
	values[LINK_SCORE] = Float8GetDatum(row->score);
	values[LINK_VARIANCE] = Float8GetDatum(row->variance);
	values[LINK_PROBABILITY] = Float8GetDatum(row->probability);
	tuplestore_putvalues(p->store, p->desc, values, nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(p->row_context);
}

/* Takes a row of the core. */
static void
take_row(void *state, const gp_link_row *row)
{
	put_row(state, row->src, row->dst, row);
}

/* The elements of an array. */
static given_ids
take_array(ArrayType *array)
{
	given_ids	given = {.type = ARR_ELEMTYPE(array)};
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(given.type, &length, &by_value, &align);
	deconstruct_array(array, given.type, length, by_value, align, &given.value, &given.null,
					  &given.n);
	return given;
}

/* The type of the elements that a call declares, also where the array is NULL. */
static Oid
element_type(FunctionCallInfo fcinfo, int argno)
{
	return get_element_type(getBaseType(get_fn_expr_argtype(fcinfo->flinfo, argno)));
}

/* The kind of candidates; 22023 when there is none of that name. */
static gp_link_candidates
candidates_argument(FunctionCallInfo fcinfo, int argno)
{
	char	   *name = gnngp_text_argument(fcinfo, argno, "candidates");

	for (int i = 0; i < (int) lengthof(candidate_names); i++)
		if (pg_strcasecmp(candidate_names[i], name) == 0)
			return (gp_link_candidates) i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown candidates \"%s\"", name),
			 errhint("Candidates are auto, two_hops, three_hops or all.")));
	return GP_CANDIDATES_AUTO;	/* keeps the compiler quiet */
}

/* How many pairs of each node; all when NULL. */
static int64
k_argument(FunctionCallInfo fcinfo, int argno)
{
	int64		k = PG_ARGISNULL(argno) ? PG_INT32_MAX : PG_GETARG_INT32(argno);

	if (k < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k must be at least 1"),
				 errhint("Use k => NULL for all candidates.")));
	return k;
}

/*
 * The nodes of a call: all of them, or those given, each once and in the order
 * given.  NULL elements and ids that the model does not know are left out.
 */
static int32 *
choose_nodes(const link_predict *p, const given_ids *given, int64 *n)
{
	int32	   *node = gp_alloc_array(p->open->env, given ? given->n : p->open->ids.n, sizeof(int32));
	bool	   *seen;

	*n = 0;
	if (given == NULL)
	{
		for (int64 i = 0; i < p->open->ids.n; i++)
			node[(*n)++] = (int32) i;
		return node;
	}
	seen = gp_alloc_zero(p->open->env, p->open->ids.n, sizeof(bool));
	for (int i = 0; i < given->n; i++)
	{
		int32		found = given->null[i] ? -1 : find_node(p, given->value[i]);

		CHECK_FOR_INTERRUPTS();
		if (found < 0 || seen[found])
			continue;
		seen[found] = true;
		node[(*n)++] = found;
	}
	gp_free(p->open->env, seen);
	return node;
}

/* Puts the best pairs of the nodes of an array, or of all nodes. */
static void
predict_links(FunctionCallInfo fcinfo, link_predict *p, ArrayType *array, int k_argno)
{
	int64		k = k_argument(fcinfo, k_argno);
	gp_link_candidates candidates = candidates_argument(fcinfo, 3);
	given_ids	given = {0};
	int32	   *node;
	int64		n;

	if (array)
		given = take_array(array);
	open_links(fcinfo, p, array ? given.n : PG_INT64_MAX);
	node = choose_nodes(p, array ? &given : NULL, &n);
	if (n > 0)
		gp_links_best(p->open->links, n, node, Min(k, p->open->ids.n), candidates, take_row, p);
	gp_free(p->open->env, node);
	gnngp_links_close(p->open);
}

/* Opens a model whose ids must be integers. */
static void
open_integer_model(FunctionCallInfo fcinfo, link_predict *p)
{
	open_model(fcinfo, p);
	if (!p->model.integer_ids)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the nodes of model \"%s\" are no integers but of type %s",
						p->model.name, gnngp_id_type_name(&p->model)),
				 errhint("Use gp_predict_links(%s, NULL::%s[]), which gives nodes of that type.",
						 quote_literal_cstr(p->model.name), gnngp_id_type_name(&p->model))));
	gnngp_id_type_open(&p->id_type, &p->model, INT8OID, &predict_hints);
}

PG_FUNCTION_INFO_V1(gnngp_predict_links);

/* gp_predict_links(model, k, nodes bigint[], candidates) */
Datum
gnngp_predict_links(PG_FUNCTION_ARGS)
{
	link_predict p;

	open_integer_model(fcinfo, &p);
	predict_links(fcinfo, &p, PG_ARGISNULL(2) ? NULL : PG_GETARG_ARRAYTYPE_P(2), 1);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(gnngp_predict_links_text);

/* gp_predict_links(model, nodes text, k, candidates): an array written without its type */
Datum
gnngp_predict_links_text(PG_FUNCTION_ARGS)
{
	link_predict p;
	ArrayType  *array = NULL;

	open_integer_model(fcinfo, &p);
	if (!PG_ARGISNULL(1))
		array = DatumGetArrayTypeP(OidFunctionCall3(F_ARRAY_IN,
													CStringGetDatum(text_to_cstring(PG_GETARG_TEXT_PP(1))),
													ObjectIdGetDatum(INT8OID), Int32GetDatum(-1)));
	predict_links(fcinfo, &p, array, 2);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(gnngp_predict_links_typed);

/* gp_predict_links(model, nodes anyarray, k, candidates) */
Datum
gnngp_predict_links_typed(PG_FUNCTION_ARGS)
{
	link_predict p;
	int			guc_level = NewGUCNestLevel();

	gnngp_pin_output_settings();
	open_model(fcinfo, &p);
	gnngp_id_type_open(&p.id_type, &p.model, element_type(fcinfo, 1), &predict_hints);
	predict_links(fcinfo, &p, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1), 2);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}

/* An id as text, for messages. */
static const char *
value_text(const given_ids *given, int i)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(given->type, &output, &is_varlena);
	return OidOutputFunctionCall(output, given->value[i]);
}

/* The nodes of an array of ids: 22004 for NULL among them, 22023 for an unknown id. */
static int32 *
find_nodes(const link_predict *p, const given_ids *given, const char *argument)
{
	int32	   *node = gp_alloc_array(p->open->env, given->n, sizeof(int32));

	for (int i = 0; i < given->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (given->null[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not contain NULL", argument)));
		node[i] = find_node(p, given->value[i]);
		if (node[i] < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("model \"%s\" has no node \"%s\"", p->model.name, value_text(given, i)),
					 errhint("It knows the nodes that were there when it was fitted;"
							 " CALL gp_refresh brings it up to date.")));
	}
	return node;
}

/* 22023 for a pair of a node with itself. */
static void
check_pairs(const given_ids *given, const int32 *src, const int32 *dst)
{
	for (int i = 0; i < given->n; i++)
		if (src[i] == dst[i])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("node \"%s\" is paired with itself", value_text(given, i)),
					 errhint("Leave out pairs whose ends are one node.")));
}

/* 2202E unless the arrays are of one length. */
static void
check_lengths(const given_ids *src, const given_ids *dst)
{
	if (src->n != dst->n)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("src and dst have different lengths: %d and %d", src->n, dst->n),
				 errhint("Each element of src is paired with the element of dst at its place.")));
}

/* Puts the scores of given pairs. */
static void
score_links(link_predict *p, const given_ids *given_src, const given_ids *given_dst)
{
	int32	   *src = find_nodes(p, given_src, "src");
	int32	   *dst = find_nodes(p, given_dst, "dst");
	gp_link_row *row;

	check_pairs(given_src, src, dst);
	row = gp_alloc_array(p->open->env, given_src->n, sizeof(gp_link_row));
	if (given_src->n > 0)
		gp_links_score(p->open->links, given_src->n, src, dst, row);
	for (int i = 0; i < given_src->n; i++)
		put_row(p, src[i], dst[i], &row[i]);
	gp_free(p->open->env, row);
	gp_free(p->open->env, dst);
	gp_free(p->open->env, src);
}

PG_FUNCTION_INFO_V1(gnngp_score_links);

/* gp_score_links(model, src anyarray, dst anyarray) */
Datum
gnngp_score_links(PG_FUNCTION_ARGS)
{
	link_predict p;
	given_ids	src,
				dst;
	int			guc_level = NewGUCNestLevel();

	gnngp_pin_output_settings();
	open_model(fcinfo, &p);
	gnngp_require_argument(fcinfo, 1, "src");
	gnngp_require_argument(fcinfo, 2, "dst");
	gnngp_id_type_open(&p.id_type, &p.model, element_type(fcinfo, 1), &score_hints);
	src = take_array(PG_GETARG_ARRAYTYPE_P(1));
	dst = take_array(PG_GETARG_ARRAYTYPE_P(2));
	check_lengths(&src, &dst);
	open_links(fcinfo, &p, src.n);
	score_links(&p, &src, &dst);
	gnngp_links_close(p.open);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}
