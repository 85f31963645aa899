/*
 * task_exclusions.c - what of its graph a task leaves out: what shows the answer, or is made of it.
 */
#include "postgres.h"

#include "access/relation.h"
#include "optimizer/optimizer.h"
#include "pg/schema/reading/table_join.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/*
 * Sets the relations aside that tell the answer: those of the column that is asked for, which
 * refers to it, or, with column -1, those of rows of labels, which are known later than their
 * times.  Other tables that have no time without these are left out: their rows would be known
 * always.
 */
static void
set_answers_aside(gnngp_schema *s, int table, int column)
{
	bool	   *timed = palloc(sizeof(bool) * s->ntables);

	for (int i = 0; i < s->ntables; i++)
		timed[i] = i != table && gnngp_is_timed(s, i, -1, GNNGP_MOST_LEVELS);
	for (int i = 0; i < s->nrelations; i++)
	{
		gnngp_schema_relation *r = &s->relation[i];

		r->aside = column < 0 && (r->parent == table || r->child == table);
		for (int k = 0; k < r->n; k++)
			r->aside = r->aside || (column >= 0 && r->child == table && r->from[k] == column);
	}
	for (int i = 0; i < s->ntables; i++)
		if (timed[i] && !gnngp_is_timed(s, i, -1, GNNGP_MOST_LEVELS) && gnngp_leave_table_out(s, i))
			s->table[i].left_out = "the key that says since when its rows are known tells the answer";
	gnngp_set_relations_aside(s);
}

/* Leaves the column out that the labels, a view of single rows, show: they are known later. */
static void
leave_shown_out(gnngp_schema *s, const gnngp_task_def *labels)
{
	Oid			table = labels->table;
	AttrNumber	number = get_attnum(table, labels->target);
	int			i = gnngp_find_origin(&table, &number) && table != labels->table ?
		gnngp_schema_find(s, table) : -1;

	for (int k = 0; i >= 0 && k < s->table[i].ncolumns; k++)
	{
		gnngp_schema_column *c = &s->table[i].column[k];

		if (c->number != number || c->role != GNNGP_COLUMN_CELL || c->known)
			continue;
		c->role = GNNGP_COLUMN_ANSWER;
		s->answer_table = i;
		s->answer = c->column.name;
	}
}

/* The columns that a generated column is computed from, as a set of pull_varattnos. */
static Bitmapset *
computed_from(Relation rel, AttrNumber column)
{
	Bitmapset  *read = NULL;

	if (TupleDescAttr(RelationGetDescr(rel), column - 1)->attgenerated)
		pull_varattnos(build_column_default(rel, column), 1, &read);
	return read;
}

/*
 * Leaves out what the column that is asked for is computed from, and what is computed from it, or
 * from any of that.
 */
static void
leave_computed_out(gnngp_schema_table *t, AttrNumber target)
{
	Relation	rel = relation_open(t->table.oid, AccessShareLock);
	Bitmapset  *telling = bms_add_member(computed_from(rel, target),
										 target - FirstLowInvalidHeapAttributeNumber);

	for (int k = 0; k < t->ncolumns; k++)
	{
		gnngp_schema_column *c = &t->column[k];

		if (c->role == GNNGP_COLUMN_CELL && !c->known && c->number != target &&
			(bms_is_member(c->number - FirstLowInvalidHeapAttributeNumber, telling) ||
			 bms_overlap(computed_from(rel, c->number), telling)))
			c->role = GNNGP_COLUMN_ANSWER;
	}
	relation_close(rel, NoLock);
}

/*
 * Leaves tables out that show the labels: their partitions and views.  Of the table of a column,
 * views without a time do that: they show what is known later than their rows.
 */
static void
leave_labels_out(gnngp_schema *s, const gnngp_task_def *task)
{
	for (int i = 0; i < s->ntables; i++)
	{
		gnngp_schema_table *t = &s->table[i];
		bool		shows = task->form == GNNGP_TASK_LABELS || (t->time < 0 && !t->timeless);

		if (t->table.oid != task->table && shows && gnngp_table_reads(t, task->table) &&
			gnngp_leave_table_out(s, i))
			t->left_out = psprintf("it has rows of table \"%s\", which are known later, as the labels are",
								   get_rel_name(task->table));
	}
	gnngp_set_relations_aside(s);
}

void
gnngp_mark_target(gnngp_schema *s, const gnngp_task_def *task)
{
	bool		labels = task->form == GNNGP_TASK_LABELS;
	bool		expression = task->form == GNNGP_TASK_EXPRESSION;
	int			table = expression ? -1 : gnngp_schema_find(s, task->table);
	int			column = table < 0 ? -1 : gnngp_table_find_column(&s->table[table], task->target);

	if (!expression)
		leave_labels_out(s, task);
	if (labels)
		leave_shown_out(s, task);
	if (table >= 0 && (column >= 0 || labels))
		set_answers_aside(s, table, labels ? -1 : column);
	if (column >= 0)
		leave_computed_out(&s->table[table], s->table[table].column[column].number);
	if (column >= 0 && s->table[table].column[column].role == GNNGP_COLUMN_CELL)
		s->table[table].column[column].role = labels || s->table[table].time < 0 ?
			GNNGP_COLUMN_ANSWER : GNNGP_COLUMN_TARGET;
}
