/*
 * table_encoding.c - how the columns of tables are encoded, by a look at their rows.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "table_join.h"

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

/* A number that tells rows apart: a hash of the primary key. */
static char *
identity_of(const gnngp_schema_table *t)
{
	Oid			type;

	return t->nid == 0 ? "0::pg_catalog.int8" :
		psprintf("pg_catalog.hashtextextended((%s)::pg_catalog.text, 0)",
				 gnngp_key_expression(t, "t", t->nid, t->id, &type));
}

gp_encoding *
gnngp_encode_table(const gnngp_schema *s, int encoding, gp_time before)
{
	int			rollup = encoding - gnngp_rollup_encoding(s, 0);
	int			key = encoding - gnngp_key_encoding(s, 0);
	bool		is_rollup = rollup >= 0 && key < 0;
	int			table = is_rollup ? s->relation[s->rollup[rollup].relation].parent :
		key >= 0 ? s->relation[key].child : encoding;
	const gnngp_schema_table *t = &s->table[table];
	gnngp_join *j = gnngp_join_open(s, table);
	look		l = {.before = before};

	gnngp_join_sample(j, MANY_ROWS, SAMPLED_ROWS);
	if (is_rollup)
		gnngp_join_rollup(j, rollup);
	else if (key >= 0)
		gnngp_join_key(j, key, NULL);
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
	l.identity = gnngp_query_add_text(&j->query, INT8OID, identity_of(t));
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
