/*
 * read_facts.c - the columns of a task's rows: what is read fills them.
 *
 * The entities are read once, with what they refer to.  Then each relation into an entity, and
 * into what it refers to, is read in the order of key and time, and scanned.
 */
#include "postgres.h"

#include "task_reading.h"

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

/* Aggregates of facts, which halve as the task asks. */
static gp_aggregates
aggregates(const gnngp_task_reading *r, uint32 which)
{
	return (gp_aggregates) {.which = which,.half_life = (double) r->transform->half_life,
		.pseudo = -1.0};
}

static void
declare_relation(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	gp_aggregates usual = aggregates(r, h->timed ? GP_FACTS_USUAL | GP_FACTS_PACE :
									 GP_FACTS_MEAN | GP_FACTS_SUM | GP_FACTS_COUNT);

	usual.joint = h->own_time >= 0 && h->part == 0;
	h->target = -1;
	for (int p = 0; p < h->join->nparts; p++)
	{
		const gnngp_part *part = &h->join->part[p];
		const gp_encoding *encoding = r->transform->encoding[part->encoding];

		if (h->timed)
			find_target(h, part, encoding, h->width);
		h->width += encoding->width;
	}
	h->number = gp_task_columns_relation(r->columns, h->name, h->width, usual);
}

/*
 * Declares the numbers of a relation's facts by themselves.  Within categories each has a mean of
 * its own: among all facts the kind of a number would be lost.
 */
static void
declare_apart(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	int32		nwithin = r->transform->encoding[h->join->part[0].encoding]->nwithin;
	gp_aggregates each = aggregates(r, h->timed ? GP_FACTS_HALF_LIFE | GP_FACTS_LAST :
									GP_FACTS_MEAN);
	gp_aggregates change = aggregates(r, GP_FACTS_CHANGE | GP_FACTS_SPREAD);

	each.last = 1;
	each.apart = change.apart = true;
	h->apart = 0;
	for (int p = 0; p < h->join->nparts; p++)
		if (h->join->part[p].level == 0)
			h->apart += gp_encoding_apart(r->transform->encoding[h->join->part[p].encoding]);
	h->within = nwithin == 0 || h->target >= 0 ? -1 :
		gp_task_columns_relation(r->columns, psprintf("%s within categories", h->name), nwithin,
								 each);
	h->changes = h->apart == 0 || h->target >= 0 || !h->timed ? -1 :
		gp_task_columns_relation(r->columns, h->name, h->apart, change);
}

/*
 * Declares the earlier targets among a relation's facts as columns of their own: among all columns
 * of the facts they would hardly count.
 */
static void
declare_targets(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	if (h->target < 0)
		return;
	h->targets = gp_task_columns_relation(r->columns, psprintf("earlier targets, %s", h->name),
										  h->target_width,
										  aggregates(r, GP_FACTS_HALF_LIFE | GP_FACTS_LAST |
													 GP_FACTS_MEAN));
	if (r->answered)
		gp_task_columns_lag(r->columns, h->targets, r->answered);
}

static void
declare(gnngp_task_reading *r)
{
	int32		target_width = r->transform->target.width;

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
	{
		declare_relation(r, &r->fact_relation[h]);
		declare_apart(r, &r->fact_relation[h]);
	}
	r->joint = gp_task_columns_joint(r->columns);
	r->of_targets = gp_task_columns_width(r->columns);
	for (int h = 0; h < r->nfact_relations; h++)
		declare_targets(r, &r->fact_relation[h]);
	r->earlier = r->all = -1;
	if (target_width == 0)
		return;
	if (!r->own_time)
		r->earlier = gp_task_columns_relation(r->columns, "earlier targets", target_width,
											  aggregates(r, GP_FACTS_HALF_LIFE | GP_FACTS_LAST));
	r->all = gp_task_columns_relation(r->columns, "all targets", target_width,
									  aggregates(r, GP_FACTS_MEAN | GP_FACTS_HALF_LIFE));
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

	if (r->own_group[p] < 0 ||
		!gnngp_encode_part(part, encoding, values, nulls, p == 0, o->cell, o->encoded))
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
	for (int p = 0; p < r->own->nparts; p++)
	{
		const gnngp_part *part = &r->own->part[p];

		from[part->level] = o->from[p] = visible_from(part, from, values, nulls);
		put_part(o, p, entity, o->from[p], values, nulls);
	}
	for (int i = 0; i < r->nfact_relations; i++)
	{
		gnngp_fact_relation *h = &r->fact_relation[i];

		if (!nulls[h->column])
		{
			gnngp_id	key = gnngp_datum_id(values[h->column], h->key_type, NULL);

			h->entity_key[entity] = gnngp_number_add(&h->keys, &key);
		}
		if (h->entity_key_from)
			h->entity_key_from[entity] = o->from[h->part];
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
		gnngp_fact_relation *h = &r->fact_relation[i];

		h->keys.env = r->env;
		h->entity_key = gp_alloc_array(r->env, Max(r->entities.n, 1), sizeof(int32));
		memset(h->entity_key, -1, sizeof(int32) * r->entities.n);
		if (h->part > 0)
			h->entity_key_from = gp_alloc_zero(r->env, Max(r->entities.n, 1), sizeof(gp_time));
	}
	gnngp_give_keys(&r->own->query, &r->entities);
	gnngp_join_run(r->own, r->env, own_row, &o, GP_PHASE_NODES, 0);
	gp_free(r->env, o.seen);
}

/* ---- the facts ---- */

typedef struct fact_rows
{
	gnngp_task_reading *r;
	gnngp_fact_relation *h;
	gp_scan    *scan;
	gp_scan    *within;			/* of numbers within categories; NULL: there are none */
	gp_scan    *changes;		/* of numbers by themselves; NULL: there are none */
	gp_scan    *targets;		/* of facts whose target is known; NULL: there are none */
	gp_cell    *cell;
	double	   *value;
} fact_rows;

/*
 * A key is a kind of a fact once the row that it leads to is there.  The key by which facts are
 * found is none: of one key they are all alike.
 */
static void
hide_kinds(const gnngp_join *j, const Datum *values, const bool *nulls, gp_cell *cell)
{
	for (int c = 0; c < j->part[0].ncells; c++)
	{
		int			relation = j->part[0].cell[c].relation;
		const gnngp_part *parent = relation < 0 ? NULL : gnngp_join_parent(j, relation);

		if (relation >= 0 &&
			(parent == NULL || nulls[parent->there] || !DatumGetBool(values[parent->there])))
			cell[c].word = 0;
	}
}

static void
fact_row(void *state, const Datum *values, const bool *nulls)
{
	fact_rows  *f = state;
	gnngp_fact_relation *h = f->h;
	int32		key = gnngp_key_number(&h->keys, values[h->key_column], nulls[h->key_column],
									   h->key_type);
	gp_time		visible = gnngp_time_of(values[h->visible], nulls[h->visible]);
	gp_time		own = h->own_time < 0 ? visible :
		gnngp_time_of(values[h->own_time], nulls[h->own_time]);
	double	   *at = f->value;
	double	   *apart = f->value + h->width;

	if (key < 0 || visible == GP_TIME_NEVER || !gp_scan_wants(f->scan, key))
		return;
	for (int p = 0; p < h->join->nparts; p++)
	{
		const gnngp_part *part = &h->join->part[p];
		const gp_encoding *encoding = f->r->transform->encoding[part->encoding];

		bool		there = gnngp_encode_part(part, encoding, values, nulls, false, f->cell, at);
		int32		napart = part->level == 0 ? gp_encoding_apart(encoding) : 0;

		if (there)
			gp_encode_ages(encoding, own, at);
		at += encoding->width;
		if (there && p == 0)
			hide_kinds(h->join, values, nulls, f->cell);
		if (there && napart > 0)
			gp_encode_apart(encoding, f->cell, apart);
		for (int32 k = 0; k < napart; k++)
			apart[k] = there ? apart[k] : NAN;
		apart += napart;
	}
	if (f->within)
		gp_scan_fact(f->within, key, visible, f->value + h->width);
	if (f->changes)
		gp_scan_fact(f->changes, key, visible, f->value + h->width);
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

static void
set_keys(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	h->key = gp_alloc_array(r->env, Max(r->n, 1), sizeof(int32));
	for (int64 i = 0; i < r->n; i++)
	{
		int32		entity = r->entity_of[i];

		/* What the entity refers to later tells nothing yet. */
		h->key[i] = h->entity_key_from && h->entity_key_from[entity] >= r->as_of[i] ? -1 :
			h->entity_key[entity];
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
		set_keys(r, h);
		gap = Max(gap, gp_facts_median_gap(r->env, r->n, h->key, r->as_of));
	}
	r->transform->half_life = gap > 0.0 ? (gp_time) (2.0 * gap) : 60 * GP_TIME_DAY;
	gp_task_columns_half_life(r->columns, (double) r->transform->half_life);
}

static void
read_relation(gnngp_task_reading *r, gnngp_fact_relation *h)
{
	fact_rows	f = {.r = r,.h = h};

	if (h->key == NULL)
		set_keys(r, h);
	f.cell = palloc(sizeof(gp_cell) * most(r, h->join, true));
	f.value = palloc(sizeof(double) * (h->width + h->apart));
	gnngp_give_keys(&h->join->query, &h->keys);
	f.scan = gp_scan_open(r->columns, h->number, h->key);
	if (h->within >= 0)
		f.within = gp_scan_open(r->columns, h->within, h->key);
	if (h->changes >= 0)
		f.changes = gp_scan_open(r->columns, h->changes, h->key);
	if (h->target >= 0)
		f.targets = gp_scan_open(r->columns, h->targets, h->key);
	if (h->keys.n > 0)
		gnngp_join_run(h->join, r->env, fact_row, &f, GP_PHASE_FEATURES,
					   gnngp_table_rows(h->join->query.table));
	gp_scan_close(f.scan);
	if (f.within)
		gp_scan_close(f.within);
	if (f.changes)
		gp_scan_close(f.changes);
	if (f.targets)
		gp_scan_close(f.targets);
	gp_free_all(r->env, h->keys.key, h->keys.text, h->keys.table, h->key, h->entity_key,
				h->entity_key_from);
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
	if (r->joint >= 0)
		gp_task_columns_fill_joint(r->columns, r->joint);
	if (r->earlier >= 0)
		gp_scan_labels(r->columns, r->earlier, key, target, labels);
	if (r->all >= 0)
		gp_scan_labels(r->columns, r->all, NULL, target, labels);
}
