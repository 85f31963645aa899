/*
 * later_columns.c - the NOTICE of columns that are left out, as they are written later than their
 * rows.
 */
#include "postgres.h"

#include "schema_internal.h"
#include "utils/builtins.h"

/* Stands in hints for the column that the user knows to be known with its row. */
#define SOME_COLUMN "TABLE.COLUMN"

struct gnngp_later_columns
{
	List	   *names;			/* as times has them */
	List	   *sentences;		/* why; NULL: by the name */
	const gnngp_schema_table *table;	/* of the last one */
	const char *column;
	List	   *all;			/* also of former NOTICEs, by gnngp_column_key */
};

struct gnngp_later_columns *
gnngp_later_columns_create(void)
{
	return palloc0(sizeof(struct gnngp_later_columns));
}

void
gnngp_note_later(const gnngp_schema *s, const gnngp_schema_table *t, const char *column,
				 const char *why)
{
	struct gnngp_later_columns *later = s->later_columns;

	later->names = lappend(later->names, psprintf("%s.%s", t->label, column));
	later->sentences = lappend(later->sentences, unconstify(char *, why));
	later->all = lappend(later->all, gnngp_column_key(
							 t->table.oid, t->column[gnngp_table_find_column(t, column)].number));
	later->table = t;
	later->column = column;
}

static void
notice_one(const struct gnngp_later_columns *later, const char *hint)
{
	const char *why = linitial(later->sentences);

	if (why)
		gnngp_notice_detail(why, hint,
							"column \"%s\" of table \"%s\" is left out: it is written later than the row",
							later->column, later->table->table.name);
	else
		gnngp_notice(hint,
					 "column \"%s\" of table \"%s\" is left out: its name says that it is written later than the row",
					 later->column, later->table->table.name);
}

/* The NOTICE of several columns, and a line for each that says why. */
static void
notice_several(const struct gnngp_later_columns *later, const char *hint)
{
	StringInfoData names;
	StringInfoData lines;

	initStringInfo(&names);
	initStringInfo(&lines);
	for (int i = 0; i < list_length(later->names); i++)
	{
		const char *why = list_nth(later->sentences, i);

		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", (char *) list_nth(later->names, i));
		appendStringInfo(&lines, "%s%s: %s", i > 0 ? "\n" : "", (char *) list_nth(later->names, i),
						 why ? why : "Its name says so.");
	}
	gnngp_notice_detail(lines.data, hint,
						"columns are left out, as they are written later than their rows: %s",
						names.data);
}

void
gnngp_notice_later(const gnngp_schema *s)
{
	struct gnngp_later_columns *later = s->later_columns;
	bool		one = list_length(later->names) == 1;

	if (later->names == NIL)
		return;
	const char *hint =
		psprintf("%s: gp_alter_graph(%s, %s).%s",
				 one ? "If it is known with its row, take it in" :
				 "To take in one that is known with its row, put its name for " SOME_COLUMN,
				 quote_literal_cstr(s->def->name),
				 gnngp_times_known(s, one ? linitial(later->names) : SOME_COLUMN),
				 s->altered ? " Leave out others that are written later with exclude => '{table.column}'." : "");
	if (one)
		notice_one(later, hint);
	else
		notice_several(later, hint);
	*later = (struct gnngp_later_columns) {.all = later->all};
}

void
gnngp_notice_later_read(const gnngp_schema *s, const gnngp_graph_def *task, const List *columns)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < s->ntables; i++)
		for (int k = 0; k < s->table[i].ncolumns; k++)
		{
			const gnngp_schema_column *c = &s->table[i].column[k];
			List	   *key = gnngp_column_key(s->table[i].table.oid, c->number);

			if (list_member(columns, key) &&
				(c->role == GNNGP_COLUMN_LATER || list_member(s->later_columns->all, key)))
				appendStringInfo(&names, "%s%s.%s", names.len > 0 ? ", " : "", s->table[i].label,
								 c->column.name);
		}
	if (names.len > 0)
		gnngp_notice_detail("Past rows are judged by what that holds today, so that they are chosen, or answered, by what came later.",
							"Judge by rows until t, such as EXISTS (SELECT FROM ... WHERE ... AND at <= t), or compare a time with t: closed_at IS NULL OR closed_at > t. Ignore this if the expression already leaves out what came after t.",
							"target or filter of task \"%s\" reads what is written later than its row: %s",
							task->name, names.data);
}
