/*
 * task_rows.c - the rows of a task: an entity, an as-of time, and a label or none.
 *
 * A table of labels has them as they are, and so has a column of a table, whose rows are the
 * entities, each as of its own time.  Those of an expression are in expression_rows.c.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "core/base/sort.h"
#include "pg/server/server.h"
#include "task.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* ---- the entities ---- */

/* True where a column is named after a table: customer_id or customers_id of customers. */
static bool
is_named_after(const char *column, const char *table)
{
	size_t		stem = strlen(column) > 3 ? strlen(column) - 3 : 0;

	return stem > 0 && pg_strcasecmp(column + stem, "_id") == 0 &&
		pg_strncasecmp(column, table, stem) == 0 &&
		(table[stem] == '\0' || strcmp(table + stem, "s") == 0);
}

/*
 * The column of a table that a column of this name refers to: its key, or what foreign keys refer
 * to; -1.
 */
static int
referred_column(const gnngp_tables *s, int table, const char *column)
{
	const gnngp_schema_table *t = &s->table[table];

	for (int r = 0; r < s->nrelations + s->naside; r++)
	{
		const gnngp_schema_relation *relation = &s->relation[r];

		if (relation->parent == table && relation->n == 1 &&
			(strcmp(s->table[relation->child].column[relation->from[0]].column.name, column) == 0 ||
			 strcmp(t->column[relation->to[0]].column.name, column) == 0))
			return relation->to[0];
	}
	if (t->nid == 1 && (strcmp(t->column[t->id[0]].column.name, column) == 0 ||
						is_named_after(column, t->label)))
		return t->id[0];
	return -1;
}

/* The same by names; -1 unless it is one table. */
static int
entity_by_name(const gnngp_tables *s, const char *column, int *id)
{
	int			found = -1;

	for (int i = 0; i < s->ntables; i++)
	{
		int			referred = referred_column(s, i, column);

		if (referred < 0)
			continue;
		if (found >= 0)
			return -1;
		found = i;
		*id = referred;
	}
	return found;
}

static void
find_labelled(gnngp_task_rows *t)
{
	const gnngp_task_def *def = &t->task->task;
	gnngp_column column = gnngp_table_column(&t->source, def->entity_column);

	t->id_column = column;
	t->entity = gnngp_referred_table(t->schema, t->source.oid,
									 get_attnum(t->source.oid, column.name), &t->id);
	if (t->entity < 0)
		t->entity = entity_by_name(t->schema, column.name, &t->id);
	if (t->entity < 0 && def->entity_given)
		t->entity = entity_by_name(t->schema, def->entity_given, &t->id);
	if (t->entity < 0)
		gnngp_raise(UNDEFINED_OBJECT,
					"Give it a foreign key, or the name of the primary key that it refers to.",
					"column \"%s\" of table \"%s\" refers to no table of graph \"%s\"", column.name,
					t->source.name, t->schema->def->name);
	if (!gnngp_matches_id_type(column.base, t->schema->table[t->entity].column[t->id].column.base))
		gnngp_wrong_type(&t->source, &column,
						 format_type_be(t->schema->table[t->entity].column[t->id].column.type),
						 NULL);
}

/* Prepares how targets are taken. */
static void
open_target(gnngp_task_rows *t, gnngp_column target, const char *kind)
{
	t->target = target;
	t->kind = gnngp_target_choose(t->source.name, &t->target, kind);
	if (t->kind != GNNGP_TARGET_VALUE)
		gnngp_labels_init(&t->labels, t->env, t->kind == GNNGP_TARGET_INTEGER,
						  get_typtype(target.base) == TYPTYPE_ENUM ? target.base : InvalidOid);
}

void
gnngp_task_rows_open(gnngp_task_rows *t, gp_env *env, const gnngp_tables *s,
					 const gnngp_graph_def *task,
					 const char *kind)
{
	const gnngp_task_def *def = &task->task;

	*t = (gnngp_task_rows) {.env = env,.task = task,.schema = s,.horizon = -1};
	t->source = gnngp_table_open(def->table, &def->table_name, def->table_kind[0], "table", task);
	if (def->horizon)
		t->horizon = gnngp_interval_length(def->horizon);
	if (def->form == GNNGP_TASK_LABELS)
		find_labelled(t);
	else
	{
		t->entity = gnngp_schema_find(s, def->table);
		if (t->entity < 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("table \"%s\" is not among the tables of graph \"%s\"", t->source.name, s->def->name),
					 errhint("Add it with gp_alter_graph(%s, tables => ...).", quote_literal_cstr(s->def->name))));
		t->id = gnngp_table_id(&s->table[t->entity], task);
		t->id_column = s->table[t->entity].column[t->id].column;
	}
	if (kind == NULL)
		return;
	if (def->form == GNNGP_TASK_EXPRESSION)
	{
		Oid			type = gnngp_task_expression_type(t);

		open_target(t, (gnngp_column) {"target", "target", type, getBaseType(type)}, kind);
	}
	else
		open_target(t, gnngp_table_column(&t->source, def->target), kind);
}

/* ---- rows ---- */

/* The columns of a query over a table of labels, or over the entities. */
enum row_column
{
	ROW_ID, ROW_TIME, ROW_TARGET
};

static void
table_row(void *state, const Datum *values, const bool *nulls)
{
	gnngp_task_rows *t = state;
	gp_time		at = gnngp_time_of(values[ROW_TIME], nulls[ROW_TIME]);

	if (t->undated)
		at = t->newest;
	if (nulls[ROW_ID])
		t->unknown++;
	else if (nulls[ROW_TIME])
		t->timeless++;
	else if (at == GP_TIME_ALWAYS || at == GP_TIME_NEVER)
		t->infinite++;
	else if (!nulls[ROW_TARGET] && at > t->now)
		t->future++;
	else
		gnngp_task_rows_add(t, values[ROW_ID], at, values[ROW_TARGET], nulls[ROW_TARGET]);
}

/* The time column of a table of labels: named, or the only one that may be; -1: it has none. */
static int
label_time(const gnngp_task_rows *t, const gnngp_schema_table *labels)
{
	if (t->task->task.time_column)
	{
		gnngp_column column = gnngp_table_column(&t->source, t->task->task.time_column);

		if (!gnngp_is_time_type(column.base))
			gnngp_wrong_type(&t->source, &column, "date or timestamp", NULL);
		return gnngp_table_find_column(labels, column.name);
	}
	List	   *candidates = gnngp_time_candidates(labels, true);
	int			first = candidates == NIL ? -1 : linitial_int(candidates);
	if (list_length(candidates) > 1)
		gnngp_raise(AMBIGUOUS_COLUMN,
					psprintf("Name the time as of which a label is asked for: time_column => %s.",
							 quote_literal_cstr(labels->column[first].column.name)),
					"table \"%s\" has several columns that may be the time of its labels",
					t->source.name);
	return first;
}

void
gnngp_task_rows_check(const gnngp_task_rows *t)
{
	if (t->task->task.form == GNNGP_TASK_EXPRESSION)
		return;
	gnngp_schema_table source = gnngp_schema_table_open(t->source);
	int			target = gnngp_table_find_column(&source, t->target.name);
	/* A column of several that identify a row may well be asked for. */
	if (source.column[target].role == GNNGP_COLUMN_KEY && source.nid <= 1)
		gnngp_raise(WRONG_OBJECT_TYPE, "Ask for a column that says something of a row.",
					"column \"%s\" of table \"%s\" numbers its rows", t->target.name,
					t->source.name);
	if (gnngp_is_time_type(t->target.base) || t->target.base == UUIDOID)
		gnngp_wrong_type(&t->source, &t->target, "a number or a class",
						 "Ask for a column that has a number, such as one of days, or few different values.");
	if (t->task->task.form == GNNGP_TASK_LABELS)
		(void) label_time(t, &source);
}

/*
 * Reads a table of labels, or a column of the entities: each row as of its time, or without one as
 * of the newest.
 */
static void
read_table(gnngp_task_rows *t)
{
	bool		labels = t->task->task.form == GNNGP_TASK_LABELS;
	gnngp_schema_table table = labels ? gnngp_schema_table_open(t->source) :
		t->schema->table[t->entity];
	int			time = labels ? label_time(t, &table) : table.time;
	gnngp_query q;

	t->undated = time < 0;
	/* Another clock, or a date of another time zone, may be ahead by so much. */
	t->now = (gp_time) GetCurrentTimestamp() + GP_TIME_DAY;
	gnngp_query_init(&q, &t->source);
	gnngp_query_add(&q, t->id_column.base, "t.%s", t->id_column.quoted);
	gnngp_query_add(&q, TIMESTAMPTZOID, "%s", time < 0 ? GNNGP_TIMELESS :
					gnngp_moment_expression(&table.column[time].column, "t"));
	/* The target, as it is taken. */
	if (t->texts || t->kind == GNNGP_TARGET_TEXT)
		gnngp_query_add(&q, TEXTOID, "t.%s::pg_catalog.text", t->target.quoted);
	else if (t->kind == GNNGP_TARGET_VALUE)
		gnngp_query_add_number(&q, &t->target);
	else
		gnngp_query_add(&q, t->target.base, "t.%s", t->target.quoted);
	gnngp_query_plan(&q);
	gnngp_query_run(&q, t->env, table_row, t, GP_PHASE_NODES, gnngp_table_rows(&t->source));
}

/* Labels before rows to predict, then by id, then by time: the latest of those to predict first. */
static int
compare_rows(const void *first, const void *second, void *unused)
{
	const gnngp_task_row *a = first;
	const gnngp_task_row *b = second;
	int			order = (a->label < 0) - (b->label < 0);

	if (order == 0)
		order = gnngp_id_compare(&a->id, &b->id, NULL);
	if (order != 0)
		return order;
	order = (a->as_of > b->as_of) - (a->as_of < b->as_of);
	return a->label < 0 ? -order : order;
}

/* Keeps of the rows to predict the latest of each entity. */
static void
keep_latest(gnngp_task_rows *t)
{
	int64		n = 0;

	for (int64 i = 0; i < t->n; i++)
		if (t->row[i].label >= 0 || n == 0 || t->row[n - 1].label >= 0 ||
			gnngp_id_compare(&t->row[i].id, &t->row[n - 1].id, NULL) != 0)
			t->row[n++] = t->row[i];
	t->n = n;
}

/* Asks for each entity of the labels as of the newest time, where no row is to be predicted. */
static void
ask_labelled(gnngp_task_rows *t)
{
	int64		labelled = t->n;

	if (labelled == 0 || t->row[labelled - 1].label < 0)
		return;
	t->row = gp_realloc_array(t->env, t->row, 2 * labelled, sizeof(gnngp_task_row));
	t->room = 2 * labelled;
	for (int64 i = 0; i < labelled; i++)
		if (i == 0 || gnngp_id_compare(&t->row[i - 1].id, &t->row[i].id, NULL) != 0)
			t->row[t->n++] = (gnngp_task_row) {.id = t->row[i].id,.as_of = t->newest,.label = -1};
}

static void
notice_left_out(const gnngp_task_rows *t)
{
	const struct
	{
		int64		rows;
		const char *why;
		const char *hint;
	}			left[] = {
		{t->timeless, "whose time is NULL", NULL},
		{t->infinite, "whose time is infinite", NULL},
		{t->future, "whose target is known, but whose time is in the future", NULL},
		{t->unknown, "without an entity", NULL},
		{t->unlabelled, "as of times at which the target is NULL",
		"Where NULL means no, or 0, write coalesce(..., false) or coalesce(..., 0)."}
	};

	for (size_t i = 0; i < lengthof(left); i++)
		if (left[i].rows > 0)
			gnngp_notice(left[i].hint, "task \"%s\" leaves out %lld %s of table \"%s\" %s",
						 t->task->name, (long long) left[i].rows,
						 left[i].rows == 1 ? "row" : "rows", t->source.name, left[i].why);
}

void
gnngp_task_rows_read(gnngp_task_rows *t)
{
	gnngp_task_form form = t->task->task.form;

	if (form == GNNGP_TASK_EXPRESSION)
		gnngp_expression_rows_read(t);
	else
		read_table(t);
	gp_sort(t->env, t->row, t->n, sizeof(gnngp_task_row), compare_rows, NULL);
	keep_latest(t);
	if (form == GNNGP_TASK_LABELS && !t->texts)
		ask_labelled(t);
	notice_left_out(t);
}
