/*
 * task_rows.c - the rows of a task: an entity, an as-of time, and a label or none.
 *
 * A table of labels has them as they are, and so has a column of a table, whose rows are the
 * entities, each as of its own time.  Those of an expression are in expression_rows.c.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
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
referred_column(const gnngp_schema *s, int table, const char *column)
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
entity_by_name(const gnngp_schema *s, const char *column, int *id)
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

/* How to have a column refer to a table: a name spelt out, of the nearest table or the first. */
static const char *
reference_hint(const gnngp_schema *s, const char *column)
{
	gp_meant	meant = gp_meant_start(column, (int) strlen(column));
	const char *table = NULL;

	for (int i = s->ntables - 1; i >= 0; i--)
		if (s->table[i].nid == 1)
		{
			table = s->table[i].label;
			gp_meant_consider(&meant, table);
		}
	table = meant.name ? meant.name : table;
	return table == NULL ? "Give it a foreign key." :
		psprintf("Give it a foreign key. In a view name it after the table that it refers to, such as \"%s_id\" for table \"%s\".",
				 table, table);
}

/* A column of the table of labels, or of the asked one. */
static gnngp_column
source_column(const gnngp_task_rows *rows, const char *name)
{
	if (get_attnum(rows->source.oid, name) == InvalidAttrNumber)
		gnngp_raise(UNDEFINED_COLUMN, gnngp_columns_there(&rows->source, name),
					"column \"%s\" of table \"%s\" does not exist", name, rows->source.name);
	return gnngp_table_column(&rows->source, name);
}

static void
find_labelled(gnngp_task_rows *rows)
{
	const gnngp_task_def *def = &rows->task->task;
	gnngp_column column = source_column(rows, def->entity_column);

	rows->id_column = column;
	rows->entity = gnngp_referred_table(rows->schema, rows->source.oid,
										get_attnum(rows->source.oid, column.name), &rows->id);
	if (rows->entity < 0)
		rows->entity = entity_by_name(rows->schema, column.name, &rows->id);
	if (rows->entity < 0 && def->entity_given)
		rows->entity = entity_by_name(rows->schema, def->entity_given, &rows->id);
	if (rows->entity < 0)
		gnngp_raise(UNDEFINED_OBJECT, reference_hint(rows->schema, column.name),
					"column \"%s\" of table \"%s\" refers to no table of graph \"%s\"", column.name,
					rows->source.name, rows->schema->def->name);
	const gnngp_column *id = &rows->schema->table[rows->entity].column[rows->id].column;

	if (!gnngp_matches_id_type(column.base, id->base))
		gnngp_wrong_type(&rows->source, &column, format_type_be(id->type), NULL);
}

/* Prepares how targets are taken. */
static void
open_target(gnngp_task_rows *rows, gnngp_column target, const char *kind)
{
	rows->target = target;
	rows->kind = gnngp_target_choose(rows->source.name, &rows->target, kind);
	if (rows->kind != GNNGP_TARGET_VALUE)
		gnngp_labels_init(&rows->labels, rows->env, rows->kind == GNNGP_TARGET_INTEGER,
						  get_typtype(target.base) == TYPTYPE_ENUM ? target.base : InvalidOid);
}

void
gnngp_task_rows_open(gnngp_task_rows *rows, gp_env *env, const gnngp_schema *s,
					 const gnngp_graph_def *task, const char *kind)
{
	const gnngp_task_def *def = &task->task;

	*rows = (gnngp_task_rows) {.env = env,.task = task,.schema = s,.horizon = -1};
	rows->source = gnngp_table_open(def->table, &def->table_name, def->table_kind[0], "table",
									task);
	if (def->horizon)
		rows->horizon = gnngp_interval_length(def->horizon);
	if (def->form == GNNGP_TASK_LABELS)
		find_labelled(rows);
	else
	{
		rows->entity = gnngp_schema_find(s, def->table);
		if (rows->entity < 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("table \"%s\" is not among the tables of graph \"%s\"",
							rows->source.name, s->def->name),
					 errhint("Add it with gp_alter_graph(%s, tables => ...).", quote_literal_cstr(s->def->name))));
		rows->id = gnngp_table_id(&s->table[rows->entity], task);
		rows->id_column = s->table[rows->entity].column[rows->id].column;
	}
	if (kind == NULL)
		return;
	if (def->form == GNNGP_TASK_EXPRESSION)
	{
		Oid			type = gnngp_task_expression_type(rows);

		open_target(rows, (gnngp_column) {"target", "target", type, getBaseType(type)}, kind);
	}
	else
		open_target(rows, source_column(rows, def->target), kind);
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
	gnngp_task_rows *rows = state;
	gp_time		at = gnngp_time_of(values[ROW_TIME], nulls[ROW_TIME]);

	if (rows->undated)
		at = rows->newest;
	if (nulls[ROW_ID])
		rows->unknown++;
	else if (nulls[ROW_TIME])
		rows->timeless++;
	else if (at == GP_TIME_ALWAYS || at == GP_TIME_NEVER)
		rows->infinite++;
	else if (!nulls[ROW_TARGET] && at > rows->now)
		rows->future++;
	else
		gnngp_task_rows_add(rows, values[ROW_ID], at, values[ROW_TARGET], nulls[ROW_TARGET]);
}

/* The time column of a table of labels: named, or the only one that may be; -1: it has none. */
static int
label_time(const gnngp_task_rows *rows, const gnngp_schema_table *labels)
{
	if (rows->task->task.time_column)
	{
		gnngp_column column = source_column(rows, rows->task->task.time_column);

		if (!gnngp_is_time_type(column.base))
			gnngp_wrong_type(&rows->source, &column, "date or timestamp", NULL);
		return gnngp_table_find_column(labels, column.name);
	}
	List	   *candidates = gnngp_time_candidates(labels, true);
	int			first = candidates == NIL ? -1 : linitial_int(candidates);
	if (list_length(candidates) > 1)
		gnngp_raise(AMBIGUOUS_COLUMN,
					psprintf("Name the time as of which a label is asked for: time_column => %s.",
							 quote_literal_cstr(labels->column[first].column.name)),
					"table \"%s\" has several columns that may be the time of its labels",
					rows->source.name);
	return first;
}

/* How to ask for what a column of times or of structures tells: by a generated column. */
static const char *
target_hint(const gnngp_task_rows *rows)
{
	const gnngp_schema_table *t = &rows->schema->table[rows->entity];
	const gnngp_column *target = &rows->target;
	const gnngp_column *time = t->time < 0 ? NULL : &t->column[t->time].column;
	bool		times = gnngp_is_time_type(target->base);
	const char *what = times ? "Ask for a number, such as one of days" :
		target->base == UUIDOID ? "Ask for a number, or for few different values" :
		"Ask for one of the values within";
	const char *value = gnngp_is_json_type(target->base) ?
		psprintf("%s ->> 'KEY'", target->quoted) :
		!times || time == NULL || time->base != target->base ||
		strcmp(time->name, target->name) == 0 ? NULL :
		target->base == DATEOID ? psprintf("%s - %s", target->quoted, time->quoted) :
		psprintf("extract(epoch FROM %s - %s) / 86400", target->quoted, time->quoted);

	if (value == NULL || t->table.oid != rows->source.oid ||
		get_rel_relkind(t->table.oid) != RELKIND_RELATION)
		return psprintf("%s, in a column of its own.", what);
	return psprintf("%s: ALTER TABLE %s ADD COLUMN %s %s GENERATED ALWAYS AS (%s) STORED.", what,
					rows->source.quoted,
					quote_identifier(psprintf("%s_%s", target->name, times ? "days" : "value")),
					times ? "float8" : "text", value);
}

/* 42809 and 42804 for a target that no fit could learn; looks up all that reading rows needs. */
static void
check_target(const gnngp_task_rows *rows)
{
	if (rows->task->task.form == GNNGP_TASK_EXPRESSION)
		return;
	gnngp_schema_table source = gnngp_schema_table_open(rows->source);
	int			target = gnngp_table_find_column(&source, rows->target.name);
	/* A column of several that identify a row may well be asked for. */
	if (source.column[target].role == GNNGP_COLUMN_KEY && source.nid <= 1)
		gnngp_raise(WRONG_OBJECT_TYPE, "Ask for a column that says something of a row.",
					"column \"%s\" of table \"%s\" numbers its rows", rows->target.name,
					rows->source.name);
	if (gnngp_is_time_type(rows->target.base) || rows->target.base == UUIDOID ||
		gnngp_is_json_type(rows->target.base))
		gnngp_wrong_type(&rows->source, &rows->target, "a number or a class",
						 target_hint(rows));
	if (rows->task->task.form == GNNGP_TASK_LABELS)
		(void) label_time(rows, &source);
}

/*
 * Reads a table of labels, or a column of the entities: each row as of its time, or without one as
 * of the newest.
 */
static void
read_table(gnngp_task_rows *rows)
{
	bool		labels = rows->task->task.form == GNNGP_TASK_LABELS;
	gnngp_schema_table table = labels ? gnngp_schema_table_open(rows->source) :
		rows->schema->table[rows->entity];
	int			time = labels ? label_time(rows, &table) : table.time;
	gnngp_query q;

	rows->undated = time < 0;
	/* Another clock, or a date of another time zone, may be ahead by so much. */
	rows->now = (gp_time) GetCurrentTimestamp() + GP_TIME_DAY;
	gnngp_query_init(&q, &rows->source);
	gnngp_query_add(&q, rows->id_column.base, "t.%s", rows->id_column.quoted);
	gnngp_query_add(&q, TIMESTAMPTZOID, "%s", time < 0 ? GNNGP_TIMELESS :
					gnngp_moment_expression(&table.column[time].column, "t"));
	/* The target, as it is taken. */
	if (rows->texts || rows->kind == GNNGP_TARGET_TEXT)
		gnngp_query_add(&q, TEXTOID, "t.%s::pg_catalog.text", rows->target.quoted);
	else if (rows->kind == GNNGP_TARGET_VALUE)
		gnngp_query_add_number(&q, &rows->target);
	else
		gnngp_query_add(&q, rows->target.base, "t.%s", rows->target.quoted);
	gnngp_query_plan(&q);
	gnngp_query_run(&q, rows->env, table_row, rows, GP_PHASE_NODES,
					gnngp_table_rows(&rows->source));
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
keep_latest(gnngp_task_rows *rows)
{
	int64		n = 0;

	for (int64 i = 0; i < rows->n; i++)
		if (rows->row[i].label >= 0 || n == 0 || rows->row[n - 1].label >= 0 ||
			gnngp_id_compare(&rows->row[i].id, &rows->row[n - 1].id, NULL) != 0)
			rows->row[n++] = rows->row[i];
	rows->n = n;
}

/* Asks for each entity of the labels as of the newest time, where no row is to be predicted. */
static void
ask_labelled(gnngp_task_rows *rows)
{
	int64		labelled = rows->n;

	if (labelled == 0 || rows->row[labelled - 1].label < 0)
		return;
	rows->row = gp_realloc_array(rows->env, rows->row, 2 * labelled, sizeof(gnngp_task_row));
	rows->room = 2 * labelled;
	for (int64 i = 0; i < labelled; i++)
		if (i == 0 || gnngp_id_compare(&rows->row[i - 1].id, &rows->row[i].id, NULL) != 0)
			rows->row[rows->n++] = (gnngp_task_row) {.id = rows->row[i].id,
				.as_of = rows->newest,.label = -1};
}

static void
notice_rows_left_out(const gnngp_task_rows *rows)
{
	const struct
	{
		int64		n;
		const char *why;
		const char *hint;
	}			left[] = {
		{rows->timeless, "whose time is NULL", NULL},
		{rows->infinite, "whose time is infinite", NULL},
		{rows->future, "whose target is known, but whose time is in the future", NULL},
		{rows->unknown, "without an entity", NULL},
		{rows->unlabelled, "as of times at which the target is NULL",
		"Where NULL means no, or 0, write coalesce(..., false) or coalesce(..., 0)."}
	};

	for (size_t i = 0; i < lengthof(left); i++)
		if (left[i].n > 0)
			gnngp_notice(left[i].hint, "task \"%s\" leaves out %lld %s of table \"%s\" %s",
						 rows->task->name, (long long) left[i].n,
						 left[i].n == 1 ? "row" : "rows", rows->source.name, left[i].why);
}

void
gnngp_task_rows_read(gnngp_task_rows *rows)
{
	gnngp_task_form form = rows->task->task.form;

	if (form == GNNGP_TASK_EXPRESSION)
		gnngp_expression_rows_read(rows);
	else
		read_table(rows);
	gp_sort(rows->env, rows->row, rows->n, sizeof(gnngp_task_row), compare_rows, NULL);
	keep_latest(rows);
	if (form == GNNGP_TASK_LABELS && !rows->texts)
		ask_labelled(rows);
	notice_rows_left_out(rows);
}

/* ---- a look at a task ---- */

Oid
gnngp_task_column(gp_env *env, gnngp_graph_def *task, const char *target)
{
	gnngp_schema_use use;
	char	   *name;

	gnngp_schema_begin(&use, env, gnngp_graph_of_task(task), true);
	gnngp_column_list list = gnngp_column_list_read(use.schema, target, "target");
	if (list.n != 1)
		gnngp_raise(INVALID_PARAMETER_VALUE, "Write it as 'table.column'.",
					"\"target\" must name one column");
	Oid			table = use.schema->table[list.table].table.oid;
	name = gnngp_keep_text(env, use.schema->table[list.table].column[list.column[0]].column.name);
	gnngp_schema_end(&use);
	task->task.target = pstrdup(name);
	return table;
}

void
gnngp_task_check(gp_env *env, const gnngp_graph_def *task, bool later)
{
	gnngp_schema_use use;
	gnngp_task_rows rows;

	gnngp_schema_begin(&use, env, task, true);
	gnngp_task_rows_open(&rows, env, use.schema, task, "classes");
	check_target(&rows);
	if (later)
		gnngp_task_notice_later(&rows);
	gnngp_schema_end(&use);
}

const gnngp_task_row *
gnngp_read_task_rows(gp_env *env, const gnngp_graph_def *task, gnngp_column *id, int64 *n)
{
	gnngp_schema_use use;
	gnngp_task_rows rows;

	gnngp_schema_begin(&use, env, task, true);
	gnngp_task_rows_open(&rows, env, use.schema, task, "classes");
	rows.texts = true;
	gnngp_find_reach(&rows);
	gnngp_task_rows_read(&rows);
	*id = rows.id_column;
	gnngp_schema_end(&use);
	/* Those to predict stand behind. */
	for (*n = 0; *n < rows.n && rows.row[*n].label >= 0; ++*n)
		;
	return rows.row;
}
