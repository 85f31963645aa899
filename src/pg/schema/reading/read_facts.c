/*
 * read_facts.c - reads what fills the columns of a task's rows.
 *
 * The entities are read once, with what they refer to.  Then each relation into an entity, and
 * into what it refers to, is read in the order of key and time, and scanned.
 */
#include "postgres.h"

#include "task_reading.h"

/* ---- the entities ---- */

typedef struct own_rows
{
	gnngp_task_reading *r;
	gp_cell    *cell;
	double	   *encoded;
	double	   *aged;
	gp_time    *from;			/* of each joined table */
	bool	   *seen;			/* of each entity */
} own_rows;

/* From when on what an entity refers to is known: not before what refers to it. */
static gp_time
visible_from(const gnngp_joined *joined, const gp_time *above, const Datum *values,
			 const bool *nulls)
{
	if (joined->level == 0)
		return GP_TIME_ALWAYS;
	return joined->visible < 0 ? above[joined->level - 1] :
		Max(above[joined->level - 1],
			gnngp_time_of(values[joined->visible], nulls[joined->visible]));
}

/* Puts a row joined to an entity into the columns of its rows, as of times behind that. */
static void
put_joined(own_rows *o, int p, int32 entity, gp_time from, const Datum *values, const bool *nulls)
{
	gnngp_task_reading *r = o->r;
	const gnngp_joined *joined = &r->own->joined[p];
	const gp_encoding *encoding = r->transform->encoding[joined->encoding];

	if (r->own_group[p] < 0 ||
		!gnngp_encode_joined(joined, encoding, values, nulls, p == 0, o->cell, o->encoded))
		return;
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

static void
own_row(void *state, const Datum *values, const bool *nulls)
{
	own_rows   *o = state;
	gnngp_task_reading *r = o->r;
	int32		entity = gnngp_key_number(&r->entities, values[0], nulls[0],
										  linitial_oid(r->own->query.types));
	gp_time		from[GNNGP_MOST_LEVELS + 1];

	if (entity < 0)
		return;
	gnngp_id	id = gnngp_number_id(&r->entities, entity);
	if (o->seen[entity])
		gnngp_raise(UNIQUE_VIOLATION,
					"The rows that are asked about, and those that they refer to, need ids of their own.",
					"table \"%s\" repeats the id %s", r->schema->table[r->entity].table.name,
					gnngp_id_name(&id));
	o->seen[entity] = true;
	for (int p = 0; p < r->own->njoined; p++)
	{
		const gnngp_joined *joined = &r->own->joined[p];

		from[joined->level] = o->from[p] = visible_from(joined, from, values, nulls);
		put_joined(o, p, entity, o->from[p], values, nulls);
	}
	for (int i = 0; i < r->nfact_sources; i++)
	{
		gnngp_fact_source *facts = &r->fact_source[i];
		int			column = facts->entity_key_column;

		if (!nulls[column])
		{
			gnngp_id	key = gnngp_datum_id(values[column], facts->key_type, NULL);

			facts->entity_key[entity] = gnngp_number_add(&facts->keys, &key);
		}
		if (facts->entity_key_from)
			facts->entity_key_from[entity] = o->from[facts->joined];
	}
}

/* Room for the cells of any joined table. */
static gp_cell *
room_for_cells(const gnngp_join *j)
{
	int			n = 1;

	for (int p = 0; p < j->njoined; p++)
		n = Max(n, j->joined[p].ncells);
	return palloc(sizeof(gp_cell) * n);
}

static void
read_own(gnngp_task_reading *r)
{
	own_rows	o = {.r = r,.cell = room_for_cells(r->own)};
	int			width = 1;

	for (int p = 0; p < r->own->njoined; p++)
		width = Max(width, r->transform->encoding[r->own->joined[p].encoding]->width);
	o.encoded = palloc(sizeof(double) * width);
	o.aged = palloc(sizeof(double) * width);
	o.from = palloc(sizeof(gp_time) * r->own->njoined);
	o.seen = gp_alloc_zero(r->env, Max(r->entities.n, 1), sizeof(bool));
	for (int i = 0; i < r->nfact_sources; i++)
	{
		gnngp_fact_source *facts = &r->fact_source[i];

		facts->keys.env = r->env;
		facts->entity_key = gp_alloc_array(r->env, Max(r->entities.n, 1), sizeof(int32));
		memset(facts->entity_key, -1, sizeof(int32) * r->entities.n);
		if (facts->joined > 0)
			facts->entity_key_from = gp_alloc_zero(r->env, Max(r->entities.n, 1), sizeof(gp_time));
	}
	gnngp_give_keys(&r->own->query, &r->entities);
	gnngp_join_run(r->own, r->env, own_row, &o, GP_PHASE_NODES, 0);
	gp_free(r->env, o.seen);
}

/* ---- the facts ---- */

typedef struct fact_rows
{
	gnngp_task_reading *r;
	const gp_facts_labels *labels;
	gnngp_fact_source *facts;
	gp_scan    *scan[GNNGP_FACT_NUMBERS];	/* NULL: there are none */
	gp_cell    *cell;
	double	   *value;
} fact_rows;

/*
 * A key is a category of a fact once the row that it leads to is there.  The key by which facts are
 * found is not: of one key they are all alike.
 */
static void
hide_category_keys(const gnngp_join *j, const Datum *values, const bool *nulls, gp_cell *cell)
{
	for (int c = 0; c < j->joined[0].ncells; c++)
	{
		int			relation = j->joined[0].cell[c].relation;
		const gnngp_joined *parent = relation < 0 ? NULL : gnngp_join_parent(j, relation);

		if (relation >= 0 &&
			(parent == NULL || nulls[parent->there] || !DatumGetBool(values[parent->there])))
			cell[c].word = 0;
	}
}

/* The numbers of a joined row by themselves, NaN where it is not there; returns how many. */
static int32
encode_apart(const gp_encoding *encoding, bool there, const gp_cell *cell, double *out)
{
	int32		n = gp_encoding_apart(encoding);

	if (there && n > 0)
		gp_encode_apart(encoding, cell, out);
	for (int32 k = 0; k < n && !there; k++)
		out[k] = NAN;
	return n;
}

/* The entity among those of the labels that an id is of; -1: none. */
static int32
labelled_entity(gnngp_task_reading *r, const gp_facts_labels *labels, const gnngp_id *id)
{
	int32		label = r->label_ids ? gnngp_ids_find(r->label_ids, id) : -1;

	return r->label_ids == NULL ? gnngp_number_find(&r->entities, id) :
		label < 0 ? -1 : labels->entity[label];
}

/* Notes that the labels of a fact, which is an entity, count. */
static void
add_answering(fact_rows *f, int32 key, gp_time visible, Datum value)
{
	gnngp_fact_source *facts = f->facts;
	Oid			type = list_nth_oid(facts->join->query.types, facts->id_column);
	gnngp_id	id = gnngp_datum_id(value, type, NULL);
	int32		entity = labelled_entity(f->r, f->labels, &id);

	if (entity < 0)
		return;
	GP_GROW(f->r->env, facts->answering, facts->nanswering, facts->answering_room);
	facts->answering[facts->nanswering++] = (gp_answering) {key, entity, visible};
}

static void
fact_row(void *state, const Datum *values, const bool *nulls)
{
	fact_rows  *f = state;
	gnngp_fact_source *facts = f->facts;
	int			key_at = facts->fact_key_column;
	int			visible_at = facts->visible_column;
	int			time_at = facts->time_column < 0 ? visible_at : facts->time_column;
	int32		key = gnngp_key_number(&facts->keys, values[key_at], nulls[key_at],
									   facts->key_type);
	gp_time		visible = gnngp_time_of(values[visible_at], nulls[visible_at]);
	gp_time		own = gnngp_time_of(values[time_at], nulls[time_at]);
	double	   *at = f->value;
	double	   *apart = f->value + facts->width;
	double	   *amounts = apart + facts->apart;

	if (key < 0 || visible == GP_TIME_NEVER)
		return;
	if (facts->id_column >= 0 && !nulls[facts->id_column])
		add_answering(f, key, visible, values[facts->id_column]);
	if (facts->answers || !gp_scan_wants(f->scan[GNNGP_FACTS_ALL], key))
		return;
	for (int p = 0; p < facts->join->njoined; p++)
	{
		const gnngp_joined *joined = &facts->join->joined[p];
		const gp_encoding *encoding = f->r->transform->encoding[joined->encoding];
		bool		there = gnngp_encode_joined(joined, encoding, values, nulls, false, f->cell,
												at);

		if (there)
			gp_encode_ages(encoding, own, at);
		at += encoding->width;
		if (there && p == 0)
			hide_category_keys(facts->join, values, nulls, f->cell);
		if (joined->level == 0)
			apart += encode_apart(encoding, there, f->cell, apart);
		if (p == 0 && f->scan[GNNGP_FACTS_AMOUNTS])
			gp_encode_amounts(encoding, f->cell, amounts);
	}
	for (int k = GNNGP_FACTS_WITHIN; k <= GNNGP_FACTS_CHANGES; k++)
		if (f->scan[k])
			gp_scan_fact(f->scan[k], key, visible, f->value + facts->width);
	if (f->scan[GNNGP_FACTS_AMOUNTS])
		gp_scan_fact(f->scan[GNNGP_FACTS_AMOUNTS], key, visible, amounts);
	if (f->scan[GNNGP_FACTS_TARGETS])
	{
		double	   *target = f->value + facts->target_first;

		if (!nulls[facts->target_column])
			gp_scan_fact(f->scan[GNNGP_FACTS_TARGETS], key, visible, target);
		/* Among the other columns it would fade where answers are no longer known. */
		memset(target, 0, sizeof(double) * facts->target_width);
	}
	gp_scan_fact(f->scan[GNNGP_FACTS_ALL], key, visible, f->value);
	f->r->read++;
}

static void
set_keys(gnngp_task_reading *r, gnngp_fact_source *facts)
{
	facts->row_key = gp_alloc_array(r->env, Max(r->n, 1), sizeof(int32));
	for (int64 i = 0; i < r->n; i++)
	{
		int32		entity = r->entity_of[i];

		/* What the entity refers to later tells nothing yet. */
		facts->row_key[i] = facts->entity_key_from &&
			facts->entity_key_from[entity] >= r->as_of[i] ? -1 : facts->entity_key[entity];
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

	for (int i = 0; i < r->nfact_sources; i++)
	{
		gnngp_fact_source *facts = &r->fact_source[i];

		if (facts->joined == 0 || r->schema->relation[facts->relation].child != r->entity)
			continue;
		set_keys(r, facts);
		gap = Max(gap, gp_facts_median_gap(r->env, r->n, facts->row_key, r->as_of));
	}
	r->transform->half_life = gap > 0.0 ? (gp_time) (2.0 * gap) : 60 * GP_TIME_DAY;
	gp_task_columns_half_life(r->columns, (double) r->transform->half_life);
}

/* True where the fit has found that none of the columns of a source counts. */
static bool
is_left_out(const gnngp_task_reading *r, const gnngp_fact_source *facts)
{
	const gp_facts_scale *scale = &r->transform->scale;
	bool		counts = scale->width != gp_task_columns_width(r->columns);

	for (int k = 0; k < GNNGP_FACT_NUMBERS; k++)
	{
		int32		width = 0;
		int32		first = facts->columns[k] < 0 ? 0 :
			gp_task_columns_facts_first(r->columns, facts->columns[k], &width);

		for (int32 c = first; !counts && c < first + width; c++)
			counts = scale->column[c].weight > GP_FACTS_UNUSED;
	}
	return !counts;
}

static void
read_source(gnngp_task_reading *r, gnngp_fact_source *facts, const gp_facts_labels *labels)
{
	fact_rows	f = {.r = r,.labels = labels,.facts = facts,.cell = room_for_cells(facts->join)};
	int64		before = r->read;

	if (facts->row_key == NULL)
		set_keys(r, facts);
	f.value = palloc(sizeof(double) * (facts->width + facts->apart + facts->amounts));
	gnngp_give_keys(&facts->join->query, &facts->keys);
	for (int k = 0; k < GNNGP_FACT_NUMBERS; k++)
		if (facts->columns[k] >= 0 && (k != GNNGP_FACTS_TARGETS || facts->id_column < 0))
			f.scan[k] = gp_scan_open(r->columns, facts->columns[k], facts->row_key);
	if (facts->keys.n > 0)
		gnngp_join_run(facts->join, r->env, fact_row, &f, GP_PHASE_FEATURES,
					   gnngp_table_rows(facts->join->query.table));
	if (facts->joined == 0 && f.scan[GNNGP_FACTS_ALL])
	{
		r->read_own += r->read - before;
		r->later_own += gp_scan_later(f.scan[GNNGP_FACTS_ALL]);
	}
	for (int k = 0; k < GNNGP_FACT_NUMBERS; k++)
		if (f.scan[k])
			gp_scan_close(f.scan[k]);
	/* Rows that are entities have labels. */
	if (facts->id_column >= 0)
		gp_scan_answers(r->columns, facts->columns[GNNGP_FACTS_TARGETS], facts->row_key,
						&r->transform->target, labels, facts->nanswering, facts->answering);
	gp_free_all(r->env, facts->keys.key, facts->keys.text, facts->keys.table, facts->row_key,
				facts->entity_key, facts->entity_key_from, facts->answering);
}

/* Scans the labels of the entities themselves, and all of them. */
static void
scan_labels(gnngp_task_reading *r, const gp_facts_labels *labels)
{
	const gp_facts_target *target = &r->transform->target;
	int32	   *labelled = gp_alloc_array(r->env, Max(r->entities.n, 1), sizeof(int32));
	int32	   *key = gp_alloc_array(r->env, Max(r->n, 1), sizeof(int32));

	for (int32 e = 0; e < r->entities.n; e++)
	{
		gnngp_id	id = gnngp_number_id(&r->entities, e);

		labelled[e] = labelled_entity(r, labels, &id);
	}
	for (int64 i = 0; i < r->n; i++)
		key[i] = labelled[r->entity_of[i]];
	gp_scan_labels(r->columns, r->earlier_labels, key, target, labels);
	gp_scan_labels(r->columns, r->all_labels, NULL, target, labels);
	gp_free_all(r->env, labelled, key);
}

void
gnngp_reading_run(gnngp_task_reading *r, const gp_facts_labels *labels)
{
	gnngp_reading_declare(r);
	gp_task_columns_fill_calendar(r->columns, r->calendar);
	read_own(r);
	if (r->transform->half_life == 0)
		follow_pace(r);
	for (int i = 0; i < r->nfact_sources; i++)
		if (r->fact_source[i].joined == 0 || !is_left_out(r, &r->fact_source[i]))
			read_source(r, &r->fact_source[i], labels);
	if (r->joint >= 0)
		gp_task_columns_fill_joint(r->columns, r->joint);
	if (!r->asks_column)
		scan_labels(r, labels);
}
