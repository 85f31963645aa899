/*
 * schema_look.c - what gp_relations and gp_columns show, and a look at a task before it is stored.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "pg/server/server.h"
#include "reading/table_join.h"
#include "task/task.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Why a view is left out. */
static const char *
later_note(const gnngp_schema_table *t)
{
	return psprintf("%s reads table %s, whose rows have times, and may show later ones, unless times names it",
					t->label, t->later);
}

const char *
gnngp_relation_note(const gnngp_tables *s, int relation)
{
	const gnngp_schema_relation *r = &s->relation[relation];
	const gnngp_schema_table *child = &s->table[r->child];
	const gnngp_schema_table *view = child->later ? child : &s->table[r->parent];

	if (view->later)
		return later_note(view);
	if (r->aside)
		return "not used";
	if (r->child == r->parent)
		return "refers to rows of its own table";
	if (child->time < 0)
		return psprintf("rows of %s have no time of their own: they are part of the rows of %s", child->label,
						s->table[r->parent].label);
	return r->named ? "named by the argument keys" : NULL;
}

/* Why a column is not encoded. */
static const char *
role_note(const gnngp_schema_table *t, const gnngp_schema_column *c)
{
	switch (c->role)
	{
		case GNNGP_COLUMN_TIME:
			return "from this time on the row is known";
		case GNNGP_COLUMN_KEY:
			return "a key";
		case GNNGP_COLUMN_EXCLUDED:
			return "excluded";
		case GNNGP_COLUMN_LATER:
			return "its name says that it is written later than the row, unless times has null for it";
		case GNNGP_COLUMN_GATHERED:
			return later_note(t);
		case GNNGP_COLUMN_HIDDEN:
			return "the graph's owner may not read it";
		case GNNGP_COLUMN_TYPE:
			return psprintf("type %s is not encoded", format_type_be(c->column.type));
		default:
			return NULL;
	}
}

/* The word for that. */
static const char *
role_name(gnngp_column_role role)
{
	return role == GNNGP_COLUMN_TIME ? "time" : role == GNNGP_COLUMN_KEY ? "key" : "left out";
}

/* How a cell is encoded: numbers of a list are one column. */
static void
put_cell(const gnngp_schema_table *t, int column, const gp_encoding *encoding, int cell,
		 gnngp_column_fn put, void *arg)
{
	char		way[100];
	char		note[200];
	int			width = gp_encoding_describe(encoding, cell, way, sizeof(way), note, sizeof(note));

	put(arg, t->table.oid, t->column[column].column.name, way, width, note);
}

void
gnngp_read_columns(gp_env *env, const gnngp_graph_def *graph, gnngp_column_fn put, void *arg)
{
	gnngp_schema_use use;
	const gnngp_tables *s;
	gp_time		before;

	gnngp_schema_begin(&use, env, graph, true);
	s = use.schema;
	before = gnngp_behind_newest(s);
	for (int i = 0; i < s->ntables; i++)
	{
		const gnngp_schema_table *t = &s->table[i];
		gp_encoding *encoding = gnngp_encode_table(s, i, before);
		int			cell = 0;

		for (int k = 0; k < t->ncolumns; k++)
			if (t->column[k].role == GNNGP_COLUMN_CELL)
				put_cell(t, k, encoding, cell++, put, arg);
			else
				put(arg, t->table.oid, t->column[k].column.name, role_name(t->column[k].role), 0,
					role_note(t, &t->column[k]));
	}
	gnngp_schema_end(&use);
}
