/*
 * task_reading.c - what is read for the rows of a task: their entities, and relation by relation
 * the facts that they see.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "task_reading.h"
#include "utils/array.h"
#include "utils/builtins.h"

#define MANY_CELLS 400			/* columns of facts: from so many on their parents are not read, */
#define MOST_CELLS 800			/* and no more facts beside what the entities refer to */

/* ---- the entities ---- */

void
gnngp_reading_point(gnngp_task_reading *r, int64 n, const gnngp_id *id, const gp_time *as_of)
{
	gp_env	   *env = r->env;

	r->n = n;
	r->as_of = as_of;
	r->entities = (gnngp_numbered) {.env = env};
	r->integer_ids = n > 0 ? id[0].text == NULL :
		gnngp_is_integer_type(r->schema->table[r->entity].column[r->id].column.base);
	r->entity_of = gp_alloc_array(env, Max(n, 1), sizeof(int32));
	r->row_of = gp_alloc_array(env, Max(n, 1), sizeof(int32));
	for (int64 i = 0; i < n; i++)
		r->entity_of[i] = gnngp_number_add(&r->entities, &id[i]);
	/* A counting sort: next[e] is where entity e goes on, and ends as its row_start[e + 1]. */
	r->row_start = gp_alloc_zero(env, r->entities.n + 2, sizeof(int64));
	int64	   *next = r->row_start + 1;
	for (int64 i = 0; i < n; i++)
		next[r->entity_of[i] + 1]++;
	for (int64 e = 0; e < r->entities.n; e++)
		next[e + 1] += next[e];
	for (int64 i = 0; i < n; i++)
		r->row_of[next[r->entity_of[i]]++] = (int32) i;
}

/*
 * True where so few rows of a table are asked for that reading no others is faster: of a fit fewer
 * than an eighth.
 */
static bool
asks_few(const gnngp_task_reading *r, const gnngp_schema_table *t)
{
	return r->few || r->entities.n < gnngp_table_rows(&t->table) / 8;
}

/* The condition that a key is among those of the array $1, of integers or texts. */
static char *
key_is_asked(const gnngp_schema_table *t, const char *alias, int n, const int *column, bool integer)
{
	Oid			type;
	char	   *key = gnngp_key_expression(t, alias, n, column, &type);
	const gnngp_column *first = &t->column[column[0]].column;
	bool		same = integer == (type == INT8OID);

	/* The column itself, so that an index serves; of integers that refer to numbers the text. */
	if (n == 1)
		key = same ? psprintf("%s.%s", alias, first->quoted) :
			psprintf("%s::pg_catalog.%s", key, integer ? "int8" : "text");
	return n == 1 && same && !integer ?
		psprintf("%s = ANY ($1::%s[])", key, gnngp_type_name(first->base)) :
		psprintf("%s = ANY ($1)", key);
}

/* Has a query read the rows alone whose key is asked for. */
static void
ask_for(gnngp_query *q, const gnngp_schema_table *t, const char *alias, int n, const int *column,
		bool integer)
{
	q->where = key_is_asked(t, alias, n, column, integer);
	q->array_type = integer ? INT8ARRAYOID : TEXTARRAYOID;
}

void
gnngp_give_keys(gnngp_query *q, const gnngp_numbered *keys)
{
	bool		integer = q->array_type == INT8ARRAYOID;

	if (q->where == NULL)
		return;
	Datum	   *element = palloc_extended(sizeof(Datum) * Max(keys->n, 1), MCXT_ALLOC_HUGE);
	for (int32 i = 0; i < keys->n; i++)
		element[i] = integer ? Int64GetDatum(keys->key[i]) : CStringGetTextDatum(keys->text[i]);
	q->array = PointerGetDatum(construct_array(element, keys->n, integer ? INT8OID : TEXTOID,
											   integer ? 8 : -1, integer,
											   integer ? TYPALIGN_DOUBLE : TYPALIGN_INT));
	pfree(element);
}

gnngp_query
gnngp_reading_key_query(const gnngp_task_reading *r, const char *alias)
{
	gnngp_query q = {0};

	ask_for(&q, &r->schema->table[r->entity], alias, 1, &r->id, r->integer_ids);
	gnngp_give_keys(&q, &r->entities);
	return q;
}

int32
gnngp_key_number(gnngp_numbered *keys, Datum value, bool null, Oid type)
{
	if (null)
		return -1;
	gnngp_id	id = gnngp_datum_id(value, type, NULL);
	return gnngp_number_find(keys, &id);
}

/* The times of entities. */
typedef struct entity_times
{
	gnngp_task_reading *r;
	Oid			type;
	gp_time    *from;
} entity_times;

static void
entity_row(void *state, const Datum *values, const bool *nulls)
{
	entity_times *e = state;
	int32		place = gnngp_key_number(&e->r->entities, values[0], nulls[0], e->type);

	if (place >= 0)
		e->from[place] = gnngp_time_of(values[1], nulls[1]);
}

gp_time *
gnngp_reading_entity_times(gnngp_task_reading *r)
{
	const gnngp_schema_table *t = &r->schema->table[r->entity];
	entity_times e = {.r = r};
	gnngp_query q;

	e.from = gp_alloc_array(r->env, Max(r->entities.n, 1), sizeof(gp_time));
	for (int64 i = 0; i < r->entities.n; i++)
		e.from[i] = GNNGP_NOWHERE;
	gnngp_query_init(&q, &t->table);
	e.type = gnngp_query_add_key(&q, t, "t", 1, &r->id);
	gnngp_query_add_text(&q, TIMESTAMPTZOID, gnngp_time_expression(t, "t"));
	if (asks_few(r, t))
		ask_for(&q, t, "t", 1, &r->id, r->integer_ids);
	gnngp_give_keys(&q, &r->entities);
	gnngp_query_plan(&q);
	gnngp_query_run(&q, r->env, entity_row, &e, GP_PHASE_NODES, gnngp_table_rows(&t->table));
	return e.from;
}

/* ---- what is read ---- */

/*
 * Adds the facts of the entities' children, found by the same key: a customer's transfers by his
 * accounts.  Children that are without time are part of their parents' rows instead.
 */
static void
add_grandchildren(gnngp_task_reading *r, const gnngp_fact_source *children)
{
	const gnngp_schema *s = r->schema;
	int			child = s->relation[children->relation].child;

	for (int i = 0; i < s->nrelations && child != r->entity; i++)
	{
		int			table = s->relation[i].child;
		gnngp_fact_source facts = *children;

		if (s->relation[i].parent != child || table == child || table == r->entity ||
			s->table[table].time < 0)
			continue;
		facts.name = psprintf("%s, %s", s->relation[i].name, children->name);
		facts.relation = i;
		r->fact_source[r->nfact_sources++] = facts;
	}
}

/*
 * The relation by which asked rows refer to what refers to a joined table by another, on the way to
 * it: applications to jobs, where these refer to the company that is two keys away.  What was
 * answered before of all applications for its jobs then counts; -1: it is not so.
 */
static int
relation_of_answers(const gnngp_task_reading *r, int joined, int relation)
{
	const gnngp_joined *to = &r->own->joined[joined];

	if (r->transform->metapaths || to->level != 2 || to->relation != relation)
		return -1;
	/* What leads to a table stands before it. */
	while (to->level > 1)
		to--;
	return to->relation;
}

/* Adds the sources of facts that refer to the entities, or to what they refer to. */
static void
add_fact_sources(gnngp_task_reading *r, int joined)
{
	const gnngp_schema *s = r->schema;
	const gnngp_joined *to = &r->own->joined[joined];

	for (int i = 0; i < s->nrelations; i++)
	{
		const gnngp_schema_relation *relation = &s->relation[i];
		gnngp_fact_source facts = {.name = relation->name,.relation = i,.key_relation = i,
			.joined = joined,.entity_key_column = list_length(r->own->query.types)};
		int			answers = relation->parent == to->table ?
			relation_of_answers(r, joined, i) : -1;
		bool		reads = to->level <= 1 || s->table[relation->child].time >= 0;

		if (relation->parent != to->table || (!reads && answers < 0) ||
			(joined > 0 && r->transform->metapaths && relation->child == r->entity))
			continue;
		if (joined > 0)
			facts.name = psprintf("%s beside %s", relation->name, to->name);
		facts.key_type = gnngp_query_add_key(&r->own->query, &s->table[to->table], to->alias,
											 relation->n, relation->to);
		if (reads)
			r->fact_source[r->nfact_sources++] = facts;
		if (joined == 0)
			add_grandchildren(r, &facts);
		if (answers >= 0)
		{
			facts.relation = answers;
			facts.answers = !r->asks_column;
			facts.name = psprintf("%s, %s", s->relation[answers].name, facts.name);
			r->fact_source[r->nfact_sources++] = facts;
		}
	}
}

/* Plans the query for facts, with what they refer to, or as far as that tells their times. */
static void
plan_source(gnngp_task_reading *r, gnngp_fact_source *facts, bool with_parents)
{
	const gnngp_schema *s = r->schema;
	const gnngp_schema_relation *by = &s->relation[facts->key_relation];
	const gnngp_schema_table *t = &s->table[by->child];
	gnngp_join *j = gnngp_join_open(s, s->relation[facts->relation].child);
	const char *alias = "t";	/* of the table that refers by it */
	bool		integer = facts->key_type == INT8OID;
	bool		few = asks_few(r, &s->table[by->parent]);
	Oid			type;

	facts->join = j;
	j->bare = facts->answers;
	gnngp_join_row(j);
	if (facts->key_relation != facts->relation)
		alias = gnngp_join_between(j, facts->relation, facts->key_relation);
	char	   *key = gnngp_key_expression(t, alias, by->n, by->from, &type);
	/* Where the two columns are of different kinds their texts are compared. */
	if (type != facts->key_type)
		key = psprintf("%s::pg_catalog.%s", key, integer ? "int8" : "text");
	facts->fact_key_column = gnngp_query_add_text(&j->query, facts->key_type, key);
	if (few)
	{
		ask_for(&j->query, t, alias, by->n, by->from, integer);
		j->asked = facts->key_relation == facts->relation ?
			key_is_asked(t, "s", by->n, by->from, integer) :
			psprintf("EXISTS (SELECT FROM %s m WHERE %s AND %s)", t->table.quoted,
					 gnngp_join_equals(s, &s->relation[facts->relation], "s", "m"),
					 key_is_asked(t, "m", by->n, by->from, integer));
	}
	facts->id_column = -1;
	if (!r->asks_column && j->table == r->entity)
	{
		facts->id_column = list_length(j->query.types);
		(void) gnngp_query_add_key(&j->query, &s->table[r->entity], "t", 1, &r->id);
	}
	gnngp_join_as_of(j);
	if (with_parents || s->table[j->table].time < 0)
		gnngp_join_parents(j, facts->relation);
	/* What a list names, such as a job's skills: no column of theirs need tell them apart. */
	if (s->table[j->table].time < 0 && j->table != r->entity && !r->transform->metapaths)
		gnngp_join_keys(j, GP_CELL_LISTED_KEY);
	gnngp_join_rollups(j);
	if (s->table[j->table].time < 0 && !s->table[j->table].timeless &&
		r->transform->encoding == NULL)
		gnngp_leave_late_out(j, facts->relation);
	facts->visible_column = gnngp_join_visible(j);
	facts->time_column = j->joined[0].visible;
	facts->timed = j->visible.len > 0;
	j->query.condition = gnngp_key_condition(t, alias, by->n, by->from);
	j->query.order = psprintf("%d, %d", facts->fact_key_column + 1, facts->visible_column + 1);
	/* Nothing of them is encoded. */
	if (j->bare)
		j->njoined = 0;
}

/*
 * Plans the sources, the nearest first.  Where every table refers to who made its rows, dozens
 * are one key away: then facts beside an entity show no more than themselves, and the last none.
 */
static void
plan_sources(gnngp_task_reading *r)
{
	int			cells = 0;

	for (int i = 0; i < r->nfact_sources; i++)
	{
		gnngp_fact_source *facts = &r->fact_source[i];

		if (facts->joined > 0 && cells > MOST_CELLS)
		{
			r->cut = true;
			r->nfact_sources = i;
			break;
		}
		plan_source(r, facts, facts->joined == 0 || (cells < MANY_CELLS && !facts->answers));
		for (int p = 0; p < facts->join->njoined; p++)
			cells += facts->join->joined[p].ncells;
	}
}

void
gnngp_reading_plan(gnngp_task_reading *r)
{
	const gnngp_schema_table *t = &r->schema->table[r->entity];
	int			n = r->schema->nrelations;

	/* The query for the entities: their id, their rows, what they refer to */
	r->own = gnngp_join_open(r->schema, r->entity);
	if (asks_few(r, t))
		ask_for(&r->own->query, t, "t", 1, &r->id, r->integer_ids);
	(void) gnngp_query_add_key(&r->own->query, t, "t", 1, &r->id);
	gnngp_join_row(r->own);
	gnngp_join_parents(r->own, -1);
	r->fact_source = palloc0(sizeof(gnngp_fact_source) *
							   (1 + (n + 1) * (n + r->own->njoined + 1)));
	for (int level = 0; level <= 2; level++)
		for (int p = 0; p < r->own->njoined; p++)
			if (r->own->joined[p].level == level)
				add_fact_sources(r, p);
	if (!r->transform->metapaths)
		gnngp_join_keys(r->own, GP_CELL_KEY);
	plan_sources(r);
}
