/*
 * table_encoding.c - how the columns of tables are encoded, by a look at their rows; those that are
 * written later than their rows are told.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "task_reading.h"
#include "utils/builtins.h"

#define MANY_ROWS 100000		/* from so many on a sample is looked at, */
#define SAMPLED_ROWS (2 * GP_ENCODER_ROWS)	/* of about so many, as some may be of later times */

/* A look at a table. */
typedef struct look
{
	const gnngp_joined *joined;
	int			visible;		/* the query's column of the row's time; -1: without time */
	gp_encoder *encoder;
	gp_cell    *cell;
	int			identity;		/* the query's column */
	gp_time		before;
} look;

static void
look_row(void *state, const Datum *values, const bool *nulls)
{
	const look *l = state;
	const gnngp_joined *p = l->joined;
	gp_time		at = l->visible < 0 ? GP_TIME_ALWAYS :
		gnngp_time_of(values[l->visible], nulls[l->visible]);
	uint64		identity = (uint64) DatumGetInt64(values[l->identity]);

	if (at == GP_TIME_NEVER || !gp_encoder_wants(l->encoder, identity))
		return;
	for (int i = 0; i < p->ncells; i++)
		gnngp_read_cell(&p->cell[i].type, values[p->first + i], nulls[p->first + i], &l->cell[i]);
	gp_encoder_look(l->encoder, identity, at == GP_TIME_ALWAYS ? l->before : at, l->cell);
}

gp_encoding *
gnngp_encode_table(const gnngp_schema *s, int encoding, gp_cell_kind kind_of_key, gp_time before)
{
	int			rollup = encoding - gnngp_rollup_encoding(s, 0);
	int			key = encoding - gnngp_key_encoding(s, 0);
	bool		is_rollup = rollup >= 0 && key < 0;
	int			table = is_rollup ? s->relation[s->rollup[rollup].relation].parent :
		key >= 0 ? s->relation[key].child : encoding;
	const gnngp_schema_table *t = &s->table[table];
	gnngp_join *j = gnngp_join_open(s, table);
	look		l = {.before = before};
	Oid			type;

	gnngp_join_sample(j, MANY_ROWS, SAMPLED_ROWS);
	if (is_rollup)
		gnngp_join_rollup(j, rollup);
	else if (key >= 0)
		gnngp_join_key(j, key, kind_of_key, NULL);
	else
		gnngp_join_row(j);
	l.joined = &j->joined[0];
	l.visible = l.joined->visible;
	/* Children, and keys, are looked at as of the time of the row that they are part of. */
	if (encoding >= s->ntables && t->time >= 0)
		l.visible = gnngp_query_add_text(&j->query, TIMESTAMPTZOID, gnngp_time_expression(t, "t"));
	bool	   *known = palloc(sizeof(bool) * Max(l.joined->ncells, 1));
	gp_cell_kind *kind = palloc(sizeof(gp_cell_kind) * Max(l.joined->ncells, 1));
	for (int i = 0; i < l.joined->ncells; i++)
	{
		const gnngp_cell_source *c = &l.joined->cell[i];

		kind[i] = c->type.kind;
		/* What is asked for is filled in later. */
		known[i] = c->known || (c->target && c->type.kind != GP_CELL_TIME);
	}
	l.cell = palloc(sizeof(gp_cell) * Max(l.joined->ncells, 1));
	l.encoder = gp_encoder_create(s->env, l.joined->ncells, kind,
								  l.visible < 0 ? before : before - 1, known);
	for (int i = 0; i < l.joined->ncells; i++)
		if (gnngp_cell_totals(s, &l.joined->cell[i]))
			gp_encoder_total(l.encoder, i);
	/* A hash of the primary key tells rows apart. */
	l.identity = gnngp_query_add_text(&j->query, INT8OID, t->nid == 0 ? "0::pg_catalog.int8" :
									  psprintf("pg_catalog.hashtextextended((%s)::pg_catalog.text, 0)",
											   gnngp_key_expression(t, "t", t->nid, t->id, &type)));
	gnngp_join_run(j, s->env, look_row, &l, GP_PHASE_FEATURES, 0);
	return gp_encoder_finish(l.encoder, encoding < s->ntables);
}

bool
gnngp_encode_joined(const gnngp_joined *joined, const gp_encoding *encoding, const Datum *values,
				  const bool *nulls, bool own, gp_cell *cell, double *out)
{
	int			read = -1;

	if (joined->there >= 0 && (nulls[joined->there] || !DatumGetBool(values[joined->there])))
	{
		memset(out, 0, sizeof(double) * encoding->width);
		return false;
	}
	for (int p = 0; p < encoding->nencoded; p++)
	{
		int			i = encoding->encoded[p].column;
		int			at = joined->first + i;

		/* What is left out is not read, nor is a list for each of its numbers. */
		if (i == read || (encoding->encoded[p].width == 0 && encoding->encoded[p].hot == 0))
			continue;
		gnngp_read_cell(&joined->cell[i].type, values[at], nulls[at] ||
						(own && joined->cell[i].target), &cell[i]);
		read = i;
	}
	gp_encode(encoding, cell, out);
	return true;
}

/* ---- all tables that a reading reads ---- */

/* Notes a column of a joined table that is written later than its row. */
static void
note_encoding_later(const gnngp_schema *s, const gnngp_joined *p, const gp_encoded *e)
{
	const gnngp_cell_source *column = &p->cell[e->column];
	const char *of = p->table >= 0 ? NULL :
		s->table[s->relation[p->relation].parent].table.name;
	const char *totals = gnngp_cell_totals(s, column);

	gnngp_note_later(s, &s->table[column->table], column->name,
					 e->way == GP_ENCODED_TOTAL ?
					 psprintf("It counts the rows that refer to it by %s, adds them up, or says how new the last is, those of later times, too.",
								totals) :
					 e->way == GP_ENCODED_REWRITTEN ?
					 "Most of the newest rows have one or two values, and few of the old ones: a status that is written again looks like that." :
					 e->way == GP_ENCODED_LATER ? "Its times are later than those of their rows." :
					 of == NULL ? "It is NULL in the newest rows, and in few others." :
					 psprintf("It is NULL or has no row yet for the newest rows of table \"%s\", and for few others.", of));
}

/*
 * A NOTICE of a key that rows with a time come to have later, where what it refers to has none: it
 * is seen, and its rows are counted, from the time of the rows on.
 */
static void
notice_key_later(const gnngp_schema *s, const gnngp_cell_source *key)
{
	const gnngp_schema_table *t = &s->table[key->table];
	char	   *name = psprintf("%s.%s", t->label, key->name);

	if (t->time < 0 || s->table[s->relation[key->relation].parent].time >= 0)
		return;
	gnngp_notice_detail("It is NULL in the newest rows, and in few others. If it is filled in later, what it refers to may tell what came in between.",
						psprintf("In that case leave it out: gp_alter_graph(%s, %s). If it is known with its row, pass %s to it.",
								 quote_literal_cstr(s->def->name),
								 gnngp_exclude_argument(s, list_make1(name)),
								 gnngp_times_known(s, name)),
						"key \"%s\" of table \"%s\" may be written later than the row", key->name,
						t->table.name);
}

/* Notes the columns of a joined table that are written later than its rows. */
static void
note_all_later(const gnngp_schema *s, const gnngp_joined *p, const gp_encoding *encoding)
{
	for (int32 k = 0; k < encoding->nencoded; k++)
	{
		const gp_encoded *e = &encoding->encoded[k];
		/* Of a list, or of the mean and the sum of children, once */
		bool		told = k > 0 && p->cell[e[-1].column].name == p->cell[e->column].name &&
			e[-1].way == e->way;

		if (!told && e->kind != GP_CELL_CATEGORY_KEY &&
			(e->way == GP_ENCODED_LATER || e->way == GP_ENCODED_FILLED ||
			 e->way == GP_ENCODED_TOTAL || e->way == GP_ENCODED_REWRITTEN))
			note_encoding_later(s, p, e);
	}
}

/* Looks at the table or rollup that is joined, unless it was; tells what is written later. */
static void
learn_encoding(gnngp_task_reading *r, const gnngp_joined *p, gp_time before)
{
	gp_encoding **encoding = &r->transform->encoding[p->encoding];

	if (*encoding)
		return;
	*encoding = gnngp_encode_table(r->schema, p->encoding,
								   p->ncells > 0 ? p->cell[0].type.kind : GP_CELL_KEY, before);
	note_all_later(r->schema, p, *encoding);
	for (int32 k = 0; k < (*encoding)->nencoded; k++)
	{
		const gp_encoded *e = &(*encoding)->encoded[k];

		if (e->kind == GP_CELL_CATEGORY_KEY && e->way == GP_ENCODED_FILLED)
			notice_key_later(r->schema, &p->cell[e->column]);
	}
}

void
gnngp_note_table_later(const gnngp_schema *s, int table, gp_time before)
{
	gnngp_join *j = gnngp_join_open(s, table);

	gnngp_join_row(j);
	note_all_later(s, &j->joined[0], gnngp_encode_table(s, table, GP_CELL_KEY, before));
}

/* NOTICEs of tables whose rows refer to more tables than a query joins. */
static void
notice_cut(const gnngp_task_reading *r)
{
	List	   *tables = r->own->cut ? list_make1_int(r->own->table) : NIL;
	ListCell   *cell;

	for (int i = 0; i < r->nfact_sources; i++)
		if (r->fact_source[i].join->cut)
			tables = list_append_unique_int(tables, r->fact_source[i].join->table);
	foreach(cell, tables)
		gnngp_notice("Exclude keys that tell little, so that others are read.",
					 "rows of table \"%s\" refer to more tables than are read with them: some are left out",
					 r->schema->table[lfirst_int(cell)].table.name);
	if (r->cut)
		gnngp_notice("Exclude keys that tell little, so that others are read.",
					 "more facts are beside the rows of table \"%s\" than are read: some are left out",
					 r->schema->table[r->entity].table.name);
}

/* NOTICEs of facts that may come to refer to later rows. */
static void
notice_late(const gnngp_task_reading *r)
{
	const gnngp_schema *s = r->schema;
	List	   *told = NIL;

	for (int i = 0; i < r->nfact_sources; i++)
	{
		const gnngp_schema_relation *late = r->fact_source[i].join->late;

		if (late == NULL || list_member_ptr(told, late))
			continue;
		told = lappend(told, unconstify(gnngp_schema_relation *, late));
		const gnngp_schema_table *t = &s->table[late->child];
		char	   *key = gnngp_column_list_text(s, late->child, 1, late->from);
		gnngp_notice_detail("Rows without a time are known once all that they refer to is. Some refer to nothing by this key: if others did at first, their absence tells what comes.",
							psprintf("If rows are known without it, leave the key out: gp_alter_graph(%s, %s). If it is known with its row, pass %s to it.",
									 quote_literal_cstr(s->def->name),
									 gnngp_exclude_argument(s, list_make1(key)),
									 gnngp_times_known(s, key)),
							"rows of table \"%s\" are left out: rows of table \"%s\" may come to refer to later ones by %s",
							s->table[r->fact_source[i].join->table].table.name, t->table.name,
							late->name);
	}
}

void
gnngp_reading_encode(gnngp_task_reading *r, gp_time before)
{
	notice_cut(r);
	notice_late(r);
	r->transform->nencodings = gnngp_key_encoding(r->schema, r->schema->nrelations);
	r->transform->encoding = gp_alloc_zero(r->env, r->transform->nencodings, sizeof(gp_encoding *));
	/* Entities are there as of their own time, which may be one for all; facts from then on. */
	for (int p = 0; p < r->own->njoined; p++)
		learn_encoding(r, &r->own->joined[p], before + 1);
	for (int i = 0; i < r->nfact_sources; i++)
		for (int p = 0; p < r->fact_source[i].join->njoined; p++)
			learn_encoding(r, &r->fact_source[i].join->joined[p], before);
}
