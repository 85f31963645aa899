/*
 * task_reading.c - the facts that rows of a task see, relation by relation.
 *
 * The entities are read once, with what they refer to.  Then each relation into an entity, and
 * into what it refers to, is read in the order of key and time, and scanned.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "core/base/sort.h"
#include "lib/stringinfo.h"
#include "pg/server/server.h"
#include "task_reading.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* ---- ids ---- */

/* Ids sorted, each once, in the environment. */
static gnngp_ids
distinct_ids(gp_env *env, const gnngp_id *id, int64 n, bool integer)
{
	gnngp_id   *sorted = gp_alloc_array(env, Max(n, 1), sizeof(gnngp_id));
	gnngp_ids	ids = {.integer = integer};

	for (int64 i = 0; i < n; i++)
		if (!id[i].null)
			sorted[ids.n++] = id[i];
	gp_sort(env, sorted, ids.n, sizeof(gnngp_id), gnngp_id_compare, NULL);
	n = ids.n;
	ids.n = 0;
	for (int64 i = 0; i < n; i++)
		if (i == 0 || gnngp_id_compare(&sorted[i], &sorted[ids.n - 1], NULL) != 0)
			sorted[ids.n++] = sorted[i];
	ids.key = gp_alloc_array(env, Max(ids.n, 1), sizeof(int64));
	if (!integer)
		ids.text = gp_alloc_array(env, Max(ids.n, 1), sizeof(char *));
	for (int64 i = 0; i < ids.n; i++)
	{
		ids.key[i] = sorted[i].key;
		if (!integer)
			ids.text[i] = unconstify(char *, sorted[i].text);
	}
	gp_free(env, sorted);
	return ids;
}

/* The place of an id among those of a map, or -1. */
static int32
place_of(gnngp_idmap *map, const gnngp_ids *ids, const gnngp_id *id)
{
	if (id->null || ids->n == 0)
		return -1;
	return ids->integer ? gnngp_idmap_find(map, id->key) :
		gnngp_idmap_find_text(map, id->text, id->length);
}

void
gnngp_reading_entities(gnngp_task_reading *r)
{
	gp_env	   *env = r->env;
	const gnngp_column *id = &r->schema->table[r->entity].column[r->id].column;
	int64	   *next;

	r->entities = distinct_ids(env, r->row_id, r->n, r->n > 0 ? r->row_id[0].text == NULL :
							   gnngp_is_integer_type(id->base));
	gnngp_idmap_build(env, &r->map, &r->entities);
	r->entity_of = gp_alloc_array(env, Max(r->n, 1), sizeof(int32));
	r->row_of = gp_alloc_array(env, Max(r->n, 1), sizeof(int32));
	r->row_start = gp_alloc_zero(env, r->entities.n + 2, sizeof(int64));
	/* A counting sort: next[e] is where entity e goes on, and ends as its row_start[e + 1]. */
	next = r->row_start + 1;
	for (int64 i = 0; i < r->n; i++)
	{
		r->entity_of[i] = place_of(&r->map, &r->entities, &r->row_id[i]);
		next[r->entity_of[i] + 1]++;
	}
	for (int64 e = 0; e < r->entities.n; e++)
		next[e + 1] += next[e];
	for (int64 i = 0; i < r->n; i++)
		r->row_of[next[r->entity_of[i]]++] = (int32) i;
}

/* ---- what is read ---- */

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

/* Gives a query that asks for keys these. */
static void
give_keys(gnngp_query *q, const gnngp_ids *ids)
{
	Datum	   *element = palloc_extended(sizeof(Datum) * Max(ids->n, 1), MCXT_ALLOC_HUGE);

	if (q->where == NULL)
		return;
	for (int64 i = 0; i < ids->n; i++)
		element[i] = ids->integer ? Int64GetDatum(ids->key[i]) : CStringGetTextDatum(ids->text[i]);
	q->array = PointerGetDatum(ids->integer ?
							   construct_array(element, (int) ids->n, INT8OID, 8, true,
											   TYPALIGN_DOUBLE) :
							   construct_array(element, (int) ids->n, TEXTOID, -1, false,
											   TYPALIGN_INT));
	pfree(element);
}

gnngp_query
gnngp_reading_keys(const gnngp_task_reading *r, const char *alias)
{
	gnngp_query q = {0};

	ask_for(&q, &r->schema->table[r->entity], alias, 1, &r->id, r->entities.integer);
	give_keys(&q, &r->entities);
	return q;
}

/* The id in a column of a row. */
static gnngp_id
id_in(const Datum *values, const bool *nulls, int column, Oid type)
{
	if (nulls[column])
		return (gnngp_id) {.null = true};
	return gnngp_datum_id(values[column], type, NULL);
}

int32
gnngp_reading_place(gnngp_task_reading *r, const gnngp_id *id)
{
	return place_of(&r->map, &r->entities, id);
}

int32
gnngp_reading_entity(gnngp_task_reading *r, Datum value, bool null, Oid type)
{
	gnngp_id	id = id_in(&value, &null, 0, type);

	return gnngp_reading_place(r, &id);
}

/* The times of entities. */
typedef struct entity_times
{
	gnngp_task_reading *r;
	Oid			type;
	gp_time    *from;
} entity_times;

/* Takes that of one. */
static void
entity_row(void *state, const Datum *values, const bool *nulls)
{
	entity_times *e = state;
	int32		place = gnngp_reading_entity(e->r, values[0], nulls[0], e->type);

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
	gnngp_query_add(&q, TEXTOID, "%s", gnngp_key_expression(t, "t", 1, &r->id, &e.type));
	llast_oid(q.types) = e.type;
	gnngp_query_add(&q, TIMESTAMPTZOID, "%s", t->time < 0 ? GNNGP_TIMELESS :
					gnngp_time_expression(t, "t"));
	if (asks_few(r, t))
		ask_for(&q, t, "t", 1, &r->id, r->entities.integer);
	give_keys(&q, &r->entities);
	gnngp_query_plan(&q);
	gnngp_query_run(&q, r->env, entity_row, &e, GP_PHASE_NODES, gnngp_table_rows(&t->table));
	return e.from;
}

/* Plans the query for the entities: their id, their rows, what they refer to. */
static void
plan_own(gnngp_task_reading *r)
{
	const gnngp_schema_table *t = &r->schema->table[r->entity];
	Oid			type;

	r->own = gnngp_join_open(r->schema, r->rollups, r->entity);
	if (asks_few(r, t))
		ask_for(&r->own->query, t, "t", 1, &r->id, r->entities.integer);
	gnngp_query_add(&r->own->query, gnngp_is_integer_type(t->column[r->id].column.base) ? INT8OID :
					TEXTOID, "%s",
					gnngp_key_expression(t, "t", 1, &r->id, &type));
	gnngp_join_row(r->own, r->entity);
	gnngp_join_parents(r->own, r->entity, -1);
}

/* Adds a relation of facts that are found by a column of the query for the entities. */
static void
add_fact_relation(gnngp_task_reading *r, const char *name, int relation, int by, int part,
				  int column, Oid type)
{
	r->fact_relation[r->nfact_relations++] = (gnngp_fact_relation) {.name = name,
		.relation = relation,.by = by,.part = part,.column = column,.key_type = type};
}

/*
 * Adds the facts of the entities' children: a customer's transfers by his accounts.  Children that
 * are without time are part of their parents' rows instead.
 */
static void
add_grandchildren(gnngp_task_reading *r, int by, int column, Oid type)
{
	const gnngp_tables *s = r->schema;
	int			child = s->relation[by].child;

	for (int i = 0; i < s->nrelations && child != r->entity; i++)
	{
		int			facts = s->relation[i].child;

		if (s->relation[i].parent == child && facts != child && facts != r->entity &&
			s->table[facts].time >= 0)
			add_fact_relation(r, psprintf("%s, %s", s->relation[i].name, s->relation[by].name), i, by, 0,
						column, type);
	}
}

/* Adds the relations by which facts refer to the entities, or to a part of theirs. */
static void
add_fact_relations(gnngp_task_reading *r, int part)
{
	const gnngp_tables *s = r->schema;
	int			table = r->own->part[part].table;
	const char *alias = r->own->part[part].alias;
	const char *via = part > 0 ? r->own->part[part].name : NULL;

	for (int i = 0; i < s->nrelations; i++)
	{
		const gnngp_schema_relation *relation = &s->relation[i];
		int			column = list_length(r->own->query.types);
		Oid			type;

		if (relation->parent != table ||
			(via && r->metapaths && relation->child == r->entity))
			continue;
		gnngp_query_add(&r->own->query, TEXTOID, "%s",
						gnngp_key_expression(&s->table[table], alias, relation->n, relation->to,
											 &type));
		/* As it was selected. */
		llast_oid(r->own->query.types) = type;
		add_fact_relation(r, via ? psprintf("%s beside %s", relation->name, via) : relation->name, i, i,
					part, column, type);
		if (via == NULL)
			add_grandchildren(r, i, column, type);
	}
}

/* Plans the query of a relation's facts. */
static void
plan_relation(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	const gnngp_tables *s = r->schema;
	int			facts = s->relation[h->relation].child;
	const gnngp_schema_relation *by = &s->relation[h->by];
	const gnngp_schema_table *t = &s->table[by->child];
	gnngp_join *j = gnngp_join_open(s, r->rollups, facts);
	bool		integer = h->key_type == INT8OID;
	bool		few = asks_few(r, &s->table[by->parent]);
	Oid			type;
	char	   *key;

	h->join = j;
	h->alias = "t";
	gnngp_join_row(j, facts);
	if (h->by != h->relation)
		h->alias = gnngp_join_between(j, h->relation, h->by);
	key = gnngp_key_expression(t, h->alias, by->n, by->from, &type);
	/* Where the two columns are of different kinds their texts are compared. */
	if (type != h->key_type)
		key = psprintf("%s::pg_catalog.%s", key, integer ? "int8" : "text");
	h->key_column = list_length(j->query.types);
	gnngp_query_add(&j->query, h->key_type, "%s", key);
	if (few)
		ask_for(&j->query, t, h->alias, by->n, by->from, integer);
	if (few)
		j->asked = h->by == h->relation ? key_is_asked(t, "s", by->n, by->from, integer) :
			psprintf("EXISTS (SELECT FROM %s m WHERE %s AND %s)", t->table.quoted,
					 gnngp_join_equals(s, &s->relation[h->relation], "s", "m"),
					 key_is_asked(t, "m", by->n, by->from, integer));
	gnngp_join_as_of(j);
	gnngp_join_parents(j, facts, h->relation);
	gnngp_join_rollups(j, facts);
	h->visible = gnngp_join_visible(j);
	h->own_time = j->part[0].visible;
	h->timed = j->visible.len > 0;
	j->query.condition = gnngp_key_condition(t, h->alias, by->n, by->from);
	j->query.order = psprintf("%d, %d", h->key_column + 1, h->visible + 1);
}

void
gnngp_reading_plan(gnngp_task_reading *r)
{
	int			n = r->schema->nrelations;

	plan_own(r);
	r->fact_relation = palloc0(sizeof(gnngp_fact_relation) * (1 + n * (n + r->own->nparts + 1)));
	for (int p = 0; p < r->own->nparts; p++)
		if (r->own->part[p].level <= 1)
			add_fact_relations(r, p);
	if (!r->metapaths)
		gnngp_join_keys(r->own, r->entity);
	for (int h = 0; h < r->nfact_relations; h++)
		plan_relation(r, &r->fact_relation[h]);
}

void
gnngp_notice_later(const gnngp_tables *s, const gnngp_cell_source *column, const char *detail)
{
	ereport(NOTICE,
			(errmsg("column \"%s\" of table \"%s\" is left out: it is written later than the row",
					column->name, s->table[column->table].table.name),
			 errdetail("%s", detail),
			 errhint("If it is known with its row, add %s to times in gp_alter_graph.",
					 gnngp_times_known(s, column->table, column->name))));
}

/* Tells of a column of a part that is written later than its row. */
static void
notice_later(gnngp_task_reading *r, const gnngp_part *p, const gp_encoded *e)
{
	const gnngp_tables *s = r->schema;
	const gnngp_cell_source *c = &p->cell[e->column];
	const char *of = p->table >= 0 ? NULL :
		s->table[s->relation[r->rollups->rollup[p->encoding - s->ntables].relation].parent]
		.table.name;

	gnngp_notice_later(s, c,
					   e->way == GP_ENCODED_LATER ? "Its times are later than those of their rows." :
					   of == NULL ? "It is NULL in the newest rows, and in few others." :
					   psprintf("It is NULL or has no row yet for the newest rows of table \"%s\", and for few others.", of));
}

/* Looks at the table or rollup of a part, unless it was; tells what is written after its row. */
static void
encode_part(gnngp_task_reading *r, const gnngp_part *p, gp_time before)
{
	gp_encoding **encoding = &r->transform->encoding[p->encoding];

	if (*encoding)
		return;
	*encoding = gnngp_encode_table(r->schema, r->rollups, p->encoding, before);
	for (int32 k = 0; k < (*encoding)->nparts; k++)
	{
		const gp_encoded *e = &(*encoding)->part[k];
		/* Of a list, or of the mean and the sum of children, once */
		bool		told = k > 0 && p->cell[e[-1].column].name == p->cell[e->column].name &&
			e[-1].way == e->way;

		if (!told && (e->way == GP_ENCODED_LATER || e->way == GP_ENCODED_FILLED))
			notice_later(r, p, e);
	}
}

void
gnngp_reading_encode(gnngp_task_reading *r, gp_time before)
{
	r->transform->nencodings = gnngp_key_encoding(r->schema, r->rollups, r->schema->nrelations);
	r->transform->encoding = gp_alloc_zero(r->env, r->transform->nencodings, sizeof(gp_encoding *));
	for (int p = 0; p < r->own->nparts; p++)
		encode_part(r, &r->own->part[p], before);
	for (int h = 0; h < r->nfact_relations; h++)
		for (int p = 0; p < r->fact_relation[h].join->nparts; p++)
			encode_part(r, &r->fact_relation[h].join->part[p], before);
}

/* ---- the columns ---- */

/* Notes the numbers of a part, which begin at one of the fact, that tell what is asked for. */
static void
find_target(gnngp_fact_relation *h, const gnngp_part *part, const gp_encoding *encoding,
			int32 first)
{
	for (int i = 0; i < encoding->nparts && h->target < 0; i++)
	{
		const gp_encoded *e = &encoding->part[i];

		if (!part->cell[e->column].target || e->width == 0)
			continue;
		h->target = part->first + e->column;
		h->target_first = first + e->first;
		h->target_width = e->width;
	}
}

/* Declares the columns of a relation. */
static void
declare_relation(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	gp_aggregates usual = {.which = GP_FACTS_USUAL,.half_life = (double) r->transform->half_life,
		.pseudo = -1.0};

	h->target = -1;
	for (int p = 0; p < h->join->nparts; p++)
	{
		const gnngp_part *part = &h->join->part[p];
		const gp_encoding *encoding = r->transform->encoding[part->encoding];

		if (h->timed)
			find_target(h, part, encoding, h->width);
		h->width += encoding->width;
	}
	if (!h->timed)
		usual.which = GP_FACTS_MEAN | GP_FACTS_SUM | GP_FACTS_COUNT;
	h->number = gp_task_columns_relation(r->columns, h->name, h->width, usual);
}

/*
 * Declares the earlier targets among a relation's facts as columns of their own: among all columns
 * of the facts they would hardly count.
 */
static void
declare_targets(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	gp_aggregates own = {.which = GP_FACTS_HALF_LIFE | GP_FACTS_LAST | GP_FACTS_MEAN,
		.half_life = (double) r->transform->half_life,.pseudo = -1.0};

	if (h->target < 0)
		return;
	h->targets = gp_task_columns_relation(r->columns, psprintf("earlier targets, %s", h->name),
										  h->target_width, own);
	if (r->answered)
		gp_task_columns_lag(r->columns, h->targets, r->answered);
}

/* Declares all columns. */
static void
declare(gnngp_task_reading *r)
{
	int32		target_width = r->transform->target.width;
	gp_aggregates earlier = {.which = GP_FACTS_HALF_LIFE | GP_FACTS_LAST,
		.half_life = (double) r->transform->half_life,.pseudo = -1.0};
	gp_aggregates all = {.which = GP_FACTS_MEAN | GP_FACTS_HALF_LIFE,
		.half_life = (double) r->transform->half_life,.pseudo = -1.0};

	r->columns = gp_task_columns_create(r->env, r->n, r->as_of);
	r->own_group = palloc(sizeof(int32) * r->own->nparts);
	for (int p = 0; p < r->own->nparts; p++)
	{
		int32		width = r->transform->encoding[r->own->part[p].encoding]->width;

		r->own_group[p] = width == 0 ? -1 :
			gp_task_columns_group(r->columns, r->own->part[p].name, "columns", width);
	}
	r->calendar = gp_task_columns_calendar(r->columns);
	for (int h = 0; h < r->nfact_relations; h++)
		declare_relation(r, &r->fact_relation[h]);
	r->of_targets = gp_task_columns_width(r->columns);
	for (int h = 0; h < r->nfact_relations; h++)
		declare_targets(r, &r->fact_relation[h]);
	r->earlier = r->all = -1;
	if (target_width == 0)
		return;
	if (!r->own_time)
		r->earlier = gp_task_columns_relation(r->columns, "earlier targets", target_width, earlier);
	r->all = gp_task_columns_relation(r->columns, "all targets", target_width, all);
}

/* ---- the entities ---- */

typedef struct own_rows
{
	gnngp_task_reading *r;
	gp_cell    *cell;
	double	   *encoded;
	double	   *aged;
	gp_time    *from;			/* of each part */
	bool	   *seen;			/* of each entity */
} own_rows;

/* From when on a part of an entity is known: not before what refers to it, but for the entity. */
static gp_time
visible_from(const gnngp_part *part, const gp_time *above, const Datum *values, const bool *nulls)
{
	if (part->level == 0)
		return GP_TIME_ALWAYS;
	return part->visible < 0 ? above[part->level - 1] :
		Max(above[part->level - 1], gnngp_time_of(values[part->visible], nulls[part->visible]));
}

/* Puts a part of an entity into the columns of its rows, as of times behind that. */
static void
put_part(own_rows *o, int p, int32 entity, gp_time from, const Datum *values, const bool *nulls)
{
	gnngp_task_reading *r = o->r;
	const gnngp_part *part = &r->own->part[p];
	const gp_encoding *encoding = r->transform->encoding[part->encoding];
	bool		is_there = part->there < 0 ||
		(!nulls[part->there] && DatumGetBool(values[part->there]));

	if (r->own_group[p] < 0 || !is_there)
		return;
	gnngp_encode_part(part, encoding, values, nulls, p == 0, o->cell, o->encoded);
	for (int64 k = r->row_start[entity]; k < r->row_start[entity + 1]; k++)
	{
		int32		row = r->row_of[k];

		if (from >= r->as_of[row])
			continue;
		memcpy(o->aged, o->encoded, sizeof(double) * encoding->width);
		gp_encode_ages(encoding, r->as_of[row], o->aged);
		gp_task_columns_put(r->columns, r->own_group[p], row, o->aged);
	}
}

/* Takes an entity. */
static void
own_row(void *state, const Datum *values, const bool *nulls)
{
	own_rows   *o = state;
	gnngp_task_reading *r = o->r;
	gnngp_id	id = id_in(values, nulls, 0, linitial_oid(r->own->query.types));
	int32		entity = place_of(&r->map, &r->entities, &id);
	gp_time		from[GNNGP_MOST_LEVELS + 1];

	if (entity < 0)
		return;
	if (o->seen[entity])
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("table \"%s\" repeats the id %s", r->schema->table[r->entity].table.name,
						gnngp_id_name(&id)),
				 errhint("The rows that are asked about, and those that they refer to, need ids of their own.")));
	o->seen[entity] = true;
	for (int p = 0; p < r->own->nparts; p++)
	{
		const gnngp_part *part = &r->own->part[p];

		from[part->level] = o->from[p] = visible_from(part, from, values, nulls);
		put_part(o, p, entity, o->from[p], values, nulls);
	}
	for (int i = 0; i < r->nfact_relations; i++)
	{
		gnngp_fact_relation *h = &r->fact_relation[i];
		gnngp_id	key = id_in(values, nulls, h->column, h->key_type);

		if (key.text)
			key.text = gnngp_copy_text(r->env, key.text, key.length);
		h->key_of[entity] = key;
		if (h->from_of)
			h->from_of[entity] = o->from[h->part];
	}
}

/* The widest part, or the one of most cells. */
static int
most(const gnngp_task_reading *r, const gnngp_join *j, bool cells)
{
	int			n = 1;

	for (int p = 0; p < j->nparts; p++)
		n = Max(n, cells ? j->part[p].ncells : r->transform->encoding[j->part[p].encoding]->width);
	return n;
}

/* Reads the entities. */
static void
read_own(gnngp_task_reading *r)
{
	own_rows	o = {.r = r};

	o.cell = palloc(sizeof(gp_cell) * most(r, r->own, true));
	o.encoded = palloc(sizeof(double) * most(r, r->own, false));
	o.aged = palloc(sizeof(double) * most(r, r->own, false));
	o.from = palloc(sizeof(gp_time) * r->own->nparts);
	o.seen = gp_alloc_zero(r->env, Max(r->entities.n, 1), sizeof(bool));
	for (int i = 0; i < r->nfact_relations; i++)
	{
		r->fact_relation[i].key_of = gp_alloc_zero(r->env, Max(r->entities.n, 1), sizeof(gnngp_id));
		if (r->fact_relation[i].part > 0)
			r->fact_relation[i].from_of = gp_alloc_zero(r->env, Max(r->entities.n, 1),
														sizeof(gp_time));
		for (int64 e = 0; e < r->entities.n; e++)
			r->fact_relation[i].key_of[e].null = true;
	}
	give_keys(&r->own->query, &r->entities);
	gnngp_join_run(r->own, r->env, own_row, &o, GP_PHASE_NODES, 0);
	gp_free(r->env, o.seen);
}

/* ---- the facts ---- */

typedef struct fact_rows
{
	gnngp_task_reading *r;
	gnngp_fact_relation *h;
	gp_scan    *scan;
	gp_scan    *targets;		/* of facts whose target is known; NULL: there are none */
	gp_cell    *cell;
	double	   *value;
} fact_rows;

/* Takes a fact. */
static void
fact_row(void *state, const Datum *values, const bool *nulls)
{
	fact_rows  *f = state;
	gnngp_fact_relation *h = f->h;
	gnngp_id	id = id_in(values, nulls, h->key_column, h->key_type);
	int32		key = place_of(&h->map, &h->ids, &id);
	gp_time		visible = gnngp_time_of(values[h->visible], nulls[h->visible]);
	gp_time		own = h->own_time < 0 ? visible :
		gnngp_time_of(values[h->own_time], nulls[h->own_time]);
	double	   *at = f->value;

	if (key < 0 || visible == GP_TIME_NEVER || !gp_scan_wants(f->scan, key))
		return;
	for (int p = 0; p < h->join->nparts; p++)
	{
		const gnngp_part *part = &h->join->part[p];
		const gp_encoding *encoding = f->r->transform->encoding[part->encoding];

		gnngp_encode_part(part, encoding, values, nulls, false, f->cell, at);
		gp_encode_ages(encoding, own, at);
		at += encoding->width;
	}
	if (f->targets)
	{
		double	   *target = f->value + h->target_first;

		if (!nulls[h->target])
			gp_scan_fact(f->targets, key, visible, target);
		/* Among the other columns it would fade where answers are no longer known. */
		memset(target, 0, sizeof(double) * h->target_width);
	}
	gp_scan_fact(f->scan, key, visible, f->value);
	f->r->read++;
}

/* Numbers the keys that rows have in a relation. */
static void
number_keys(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	h->ids = distinct_ids(r->env, h->key_of, r->entities.n, h->key_type == INT8OID);
	gnngp_idmap_build(r->env, &h->map, &h->ids);
	h->key = gp_alloc_array(r->env, Max(r->n, 1), sizeof(int32));
	for (int64 i = 0; i < r->n; i++)
	{
		int32		entity = r->entity_of[i];

		/* What the entity refers to later tells nothing yet. */
		h->key[i] = h->from_of && h->from_of[entity] >= r->as_of[i] ? -1 :
			place_of(&h->map, &h->ids, &h->key_of[entity]);
	}
}

/*
 * The half-life of rows that are their own entities: two median gaps between the rows of one
 * parent.  Of several the slowest tells: too short a memory loses more than too long a one.
 */
static void
follow_pace(gnngp_task_reading *r)
{
	double		gap = 0.0;

	for (int i = 0; i < r->nfact_relations; i++)
	{
		gnngp_fact_relation *h = &r->fact_relation[i];

		if (h->part == 0 || r->schema->relation[h->relation].child != r->entity)
			continue;
		number_keys(r, h);
		gap = Max(gap, gp_facts_median_gap(r->env, r->n, h->key, r->as_of));
	}
	r->transform->half_life = gap > 0.0 ? (gp_time) (2.0 * gap) : 60 * GP_TIME_DAY;
	gp_task_columns_half_life(r->columns, (double) r->transform->half_life);
}

/* Reads and scans the facts of a relation. */
static void
read_relation(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	fact_rows	f = {.r = r,.h = h};

	if (h->key == NULL)
		number_keys(r, h);
	f.cell = palloc(sizeof(gp_cell) * most(r, h->join, true));
	f.value = palloc(sizeof(double) * Max(h->width, 1));
	give_keys(&h->join->query, &h->ids);
	f.scan = gp_scan_open(r->columns, h->number, h->key);
	if (h->target >= 0)
		f.targets = gp_scan_open(r->columns, h->targets, h->key);
	if (h->ids.n > 0)
		gnngp_join_run(h->join, r->env, fact_row, &f, GP_PHASE_FEATURES,
					   gnngp_table_rows(h->join->query.table));
	gp_scan_close(f.scan);
	if (f.targets)
		gp_scan_close(f.targets);
	gnngp_idmap_free(r->env, &h->map);
}

void
gnngp_reading_run(gnngp_task_reading *r, const gp_facts_labels *labels, const int32 *key)
{
	const gp_facts_target *target = &r->transform->target;

	declare(r);
	gp_task_columns_fill_calendar(r->columns, r->calendar);
	read_own(r);
	if (r->transform->half_life == 0)
		follow_pace(r);
	for (int h = 0; h < r->nfact_relations; h++)
		read_relation(r, &r->fact_relation[h]);
	if (r->earlier >= 0)
		gp_scan_labels(r->columns, r->earlier, key, target, labels);
	if (r->all >= 0)
		gp_scan_labels(r->columns, r->all, NULL, target, labels);
}
