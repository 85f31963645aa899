/*
 * schema_open.c - a schema while it is read: all that is looked up, and what is not used.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "optimizer/optimizer.h"
#include "pg/server/server.h"
#include "reading/table_join.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/*
 * 22023, or 42501 where it may not be read, for the one key that says since when rows without a
 * time are known: they would be so always.
 */
static void
require_no_time(const gnngp_schema *s, const gnngp_schema_relation *r)
{
	const gnngp_schema_table *t = &s->table[r->child];

	if (t->timeless || gnngp_is_timed(s, r->child, GNNGP_MOST_LEVELS) ||
		!gnngp_is_timed(s, r->parent, GNNGP_MOST_LEVELS - 1))
		return;
	if (!r->excluded)
		gnngp_raise(INSUFFICIENT_PRIVILEGE,
					psprintf("Grant SELECT on the key, or take the table out of tables. If its rows are known at all times, pass %s.",
							 gnngp_times_with(s, t, NULL)),
					"role \"%s\" may not read %s, which says since when rows of table \"%s\" are known",
					GetUserNameFromId(GetUserId(), false), r->name, t->table.name);
	gnngp_raise(INVALID_PARAMETER_VALUE,
				psprintf("Take the table out of tables. If its rows are known at all times, pass %s.",
						 gnngp_times_with(s, t, NULL)),
				"argument \"exclude\": %s says since when rows of table \"%s\" are known", r->name,
				t->table.name);
}

/* Marks the columns that must not be used, and sets the relations that need one of them aside. */
static void
mark_excluded(gnngp_schema *s)
{
	const gnngp_texts *exclude = &s->def->tables.exclude;

	for (int i = 0; i < exclude->n; i++)
	{
		gnngp_column_list list = gnngp_column_list_read(s, exclude->text[i], "exclude");
		gnngp_schema_table *t = &s->table[list.table];

		for (int k = 0; k < list.n; k++)
			if (list.column[k] != t->time)
				t->column[list.column[k]].role = GNNGP_COLUMN_EXCLUDED;
	}
	for (int r = 0; r < s->nrelations; r++)
		for (int k = 0; k < s->relation[r].n; k++)
			if (s->table[s->relation[r].child].column[s->relation[r].from[k]].role ==
				GNNGP_COLUMN_EXCLUDED)
				s->relation[r].aside = s->relation[r].excluded = true;
	for (int r = 0; r < s->nrelations; r++)
		if (s->relation[r].aside)
			require_no_time(s, &s->relation[r]);
}

/* Marks a table's columns, and what it refers to, as not used; false: there is nothing to mark. */
static bool
leave_table_out(gnngp_schema *s, int table)
{
	gnngp_schema_table *t = &s->table[table];
	bool		known = false;
	bool		any = false;

	for (int k = 0; k < t->ncolumns; k++)
	{
		gnngp_schema_column *c = &t->column[k];

		if (c->role != GNNGP_COLUMN_CELL)
			continue;
		known = known || c->known;
		any = any || !c->known;
		c->role = c->known ? c->role : GNNGP_COLUMN_GATHERED;
	}
	for (int r = 0; r < s->nrelations; r++)
		if (s->relation[r].child == table && !known)
			s->relation[r].aside = any = true;
	return any;
}

/* Leaves views out that show what happens later. */
static void
leave_views_out(gnngp_schema *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		gnngp_schema_table *t = &s->table[i];
		Oid			later = gnngp_reads_later(s, i);

		if (!OidIsValid(later) || !leave_table_out(s, i))
			continue;
		t->later = get_rel_name(later);
		if (s->altered)
			gnngp_notice(psprintf("Use a view of single rows with their times, or take it out of tables. If its values are known at all times, pass %s.",
								  gnngp_times_with(s, t, NULL)),
						 "view \"%s\" is left out: it reads table \"%s\", whose rows have times, and may show later ones",
						 t->table.name, t->later);
	}
	gnngp_set_relations_aside(s);
}

/* Tells of tables that no foreign key connects: no task sees them. */
static void
notice_unconnected(const gnngp_schema *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		bool		alone = s->ntables > 1;

		for (int r = 0; alone && r < s->nrelations + s->naside; r++)
			alone = s->relation[r].child != i && s->relation[r].parent != i;
		if (alone)
			gnngp_notice(psprintf("Name those that the catalog does not have: keys => '{\"%s.column\": \"table.column\"}'.",
								  s->table[i].label),
						 "no foreign key connects table \"%s\" to the others of graph \"%s\"",
						 s->table[i].table.name, s->def->name);
	}
}

gnngp_schema *
gnngp_schema_open(gp_env *env, const gnngp_graph_def *def, bool altered)
{
	gnngp_schema *s = palloc0(sizeof(gnngp_schema));

	s->env = env;
	s->def = def;
	s->altered = altered;
	gnngp_open_tables(s);
	gnngp_find_relations(s);
	gnngp_find_times(s);
	mark_excluded(s);
	leave_views_out(s);
	gnngp_require_texts(s);
	if (altered)
		notice_unconnected(s);
	return s;
}

/* ---- what a task leaves out ---- */

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
		timed[i] = i != table && gnngp_is_timed(s, i, GNNGP_MOST_LEVELS);
	for (int i = 0; i < s->nrelations; i++)
	{
		gnngp_schema_relation *r = &s->relation[i];

		r->aside = column < 0 && (r->parent == table || r->child == table);
		for (int k = 0; k < r->n; k++)
			r->aside = r->aside || (column >= 0 && r->child == table && r->from[k] == column);
	}
	for (int i = 0; i < s->ntables; i++)
		if (timed[i] && !gnngp_is_timed(s, i, GNNGP_MOST_LEVELS) && leave_table_out(s, i))
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
		c->role = GNNGP_COLUMN_EXCLUDED;
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
			c->role = GNNGP_COLUMN_EXCLUDED;
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
			leave_table_out(s, i))
			t->left_out = psprintf("it has rows of table \"%s\", which are known later, as the labels are",
								   get_rel_name(task->table));
	}
	gnngp_set_relations_aside(s);
}

/*
 * Marks the column that a task asks for: its own row never shows it, and rows without time show
 * none.
 */
static void
mark_target(gnngp_schema *s, const gnngp_task_def *task)
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
			GNNGP_COLUMN_EXCLUDED : GNNGP_COLUMN_TARGET;
}

/* ---- reading ---- */

/* Plans a look at what lies behind views and partitions, which locks it. */
static void
lock_behind(const gnngp_schema *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		gnngp_query q;

		if (s->table[i].hidden)
			continue;
		gnngp_query_init(&q, &s->table[i].table);
		gnngp_query_add(&q, INT4OID, "1");
		gnngp_query_plan(&q);
	}
}

void
gnngp_schema_begin(gnngp_schema_use *use, gp_env *env, const gnngp_graph_def *graph, bool as_owner)
{
	const gnngp_graph_def *tables = graph->task.form ? gnngp_graph_of_task(graph) : graph;

	use->saved = gnngp_become(as_owner ? gnngp_owner_role(graph) : GetUserId());
	gnngp_pin_output_settings();
	/* Not by its setting, which functions may not save from version 16 on; an abort restores it. */
	use->read_only = XactReadOnly;
	XactReadOnly = true;
	gnngp_pin("TimeZone", tables->tables.time_zone);
	gnngp_spi_connect();
	use->schema = gnngp_schema_open(env, tables, false);
	if (graph->task.form)
		mark_target(use->schema, &graph->task);
	gnngp_find_rollups(use->schema);
	lock_behind(use->schema);
	gnngp_push_read_snapshot();
}

void
gnngp_schema_end(gnngp_schema_use *use)
{
	PopActiveSnapshot();
	gnngp_spi_finish();
	XactReadOnly = use->read_only;
	gnngp_become_again(&use->saved);
}
