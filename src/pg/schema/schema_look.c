/*
 * schema_look.c - what gp_relations and gp_columns say of a graph of tables, and gp_create_task of
 * what a task reads.
 */
#include "postgres.h"

#include "reading/table_join.h"
#include "task/task.h"
#include "utils/builtins.h"

/* Why a view is left out. */
static const char *
later_note(const gnngp_schema_table *t)
{
	return psprintf("%s reads table %s, whose rows have times, and may show later ones, unless times names it",
					t->label, t->later);
}

const char *
gnngp_relation_note(const gnngp_schema *s, int relation)
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
	static const char *const note[] = {
		[GNNGP_COLUMN_TIME] = "from this time on the row is known",
		[GNNGP_COLUMN_EXCLUDED] = "excluded",
		[GNNGP_COLUMN_LATER] = "its name says that it is written later than the row, unless times has null for it",
		[GNNGP_COLUMN_HIDDEN] = "the graph's owner may not read it",
		[GNNGP_COLUMN_ANSWER] = "the answers of the task, or what shows them"
	};

	return c->role == GNNGP_COLUMN_GATHERED ? t->left_out ? t->left_out : later_note(t) :
		c->role == GNNGP_COLUMN_TYPE ? psprintf("type %s is not encoded", format_type_be(c->column.type)) :
		note[c->role];
}

/* What a key is to rows that have a list of it, where that is not all of its values. */
static const char *
key_note(const gnngp_schema *s, int table, int column, gp_time before)
{
	char		way[100];
	char		note[200];

	for (int r = 0; r < s->nrelations; r++)
	{
		const gnngp_schema_relation *key = &s->relation[r];

		if (key->child != table || key->parent == table || key->n != 1 ||
			key->from[0] != column || s->table[table].time >= 0)
			continue;
		gp_encoding *encoding = gnngp_encode_table(s, gnngp_key_encoding(s, r),
												   GP_CELL_LISTED_KEY, before);
		if (encoding->encoded[0].distinct <= GP_ENCODED_KEYS)
			continue;
		(void) gp_encoding_describe(encoding, 0, way, sizeof(way), note, sizeof(note));
		if (encoding->width > 0)
			return psprintf("a key; of lists %s", note);
		/* What has a list, as a job has one of skills, is mostly of some time. */
		if (s->table[key->parent].time < 0)
			return "a key; no value is frequent enough to be a category of lists";
	}
	return "a key";
}

void
gnngp_read_columns(gp_env *env, const gnngp_graph_def *graph, gnngp_column_fn put, void *arg)
{
	gnngp_schema_use use;

	gnngp_schema_begin(&use, env, graph, true);
	const gnngp_schema *s = use.schema;
	gp_time		before = gnngp_behind_newest(s);
	for (int i = 0; i < s->ntables; i++)
	{
		const gnngp_schema_table *t = &s->table[i];
		gp_encoding *encoding = gnngp_encode_table(s, i, GP_CELL_KEY, before);
		int			cell = 0;

		for (int k = 0; k < t->ncolumns; k++)
		{
			const gnngp_schema_column *c = &t->column[k];
			char		way[100];
			char		note[200];
			int			width;

			if (c->role != GNNGP_COLUMN_CELL && c->role != GNNGP_COLUMN_TARGET)
			{
				put(arg, t->table.oid, c->column.name, c->role == GNNGP_COLUMN_TIME ? "time" :
					c->role == GNNGP_COLUMN_KEY ? "key" : "left out", 0,
					c->role == GNNGP_COLUMN_KEY ? key_note(s, i, k, before) : role_note(t, c));
				continue;
			}
			/* Numbers of a list are one column. */
			width = gp_encoding_describe(encoding, cell++, way, sizeof(way), note, sizeof(note));
			put(arg, t->table.oid, c->column.name, way, width, c->role == GNNGP_COLUMN_TARGET ?
				"what the task asks: rows show it of others" : note);
		}
	}
	gnngp_schema_end(&use);
}

/* True for a table one of whose encoded columns is among some, by gnngp_column_key. */
static bool
has_read_cell(const gnngp_schema_table *t, const List *columns)
{
	bool		has = false;

	for (int k = 0; k < t->ncolumns && !has; k++)
		has = t->column[k].role == GNNGP_COLUMN_CELL && !t->column[k].known &&
			list_member(columns, gnngp_column_key(t->table.oid, t->column[k].number));
	return has;
}

void
gnngp_task_notice_later(const gnngp_task_rows *rows)
{
	const gnngp_schema *s = rows->schema;
	gp_time		before = GP_TIME_ALWAYS;

	for (int i = 0; i < s->ntables; i++)
	{
		if (!has_read_cell(&s->table[i], rows->read_columns))
			continue;
		if (before == GP_TIME_ALWAYS)
			before = gnngp_behind_newest(s);
		gnngp_note_table_later(s, i, before);
	}
	gnngp_notice_later_read(s, rows->task, rows->read_columns);
}
