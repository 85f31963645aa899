/*
 * read_task.c - all that a fit of a task reads, under one snapshot.
 */
#include "postgres.h"

#include "pg/schema/task/task.h"
#include "task_reading.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#define OLD_ANSWERS_GAIN 0.02	/* of loo_score */
#define MOSTLY_LATER 0.9		/* a share of the facts that is told */

/* ---- the rows ---- */

/* Leaves out rows whose entity is not there yet, or not at all. */
static void
drop_early(gnngp_task_rows *rows, gnngp_task_reading *r)
{
	gp_time    *from = gnngp_reading_entity_times(r);
	int64		n = 0;
	int64		early = 0;
	int64		nowhere = 0;

	for (int64 i = 0; i < rows->n; i++)
	{
		gp_time		at = from[r->entity_of[i]];

		early += at > rows->row[i].as_of && at != GNNGP_NOWHERE;
		if (at <= rows->row[i].as_of)
			rows->row[n++] = rows->row[i];
	}
	rows->n = n;
	for (int32 e = 0; e < r->entities.n; e++)
		nowhere += from[e] == GNNGP_NOWHERE;
	gp_free(r->env, from);
	if (early > 0)
		gnngp_notice(NULL, "task \"%s\" leaves out %lld %s before %s entity exists",
					 rows->task->name, (long long) early,
					 early == 1 ? "row whose time is" : "rows whose times are",
					 early == 1 ? "its" : "their");
	if (nowhere > 0)
		gnngp_notice(NULL, "task \"%s\" leaves out the rows of %lld %s not in table \"%s\"",
					 rows->task->name, (long long) nowhere,
					 nowhere == 1 ? "entity that is" : "entities that are",
					 r->schema->table[r->entity].table.name);
}

static void
point_to_rows(gnngp_task_reading *r, const gnngp_task_rows *rows)
{
	gnngp_id   *id = gp_alloc_array(r->env, Max(rows->n, 1), sizeof(gnngp_id));
	gp_time    *as_of = gp_alloc_array(r->env, Max(rows->n, 1), sizeof(gp_time));

	for (int64 i = 0; i < rows->n; i++)
	{
		id[i] = rows->row[i].id;
		as_of[i] = rows->row[i].as_of;
	}
	gnngp_reading_point(r, rows->n, id, as_of);
}

static gnngp_ids
ids_of(gp_env *env, const gnngp_task_row *row, int64 n, const gnngp_task_rows *rows)
{
	gnngp_ids	ids = {.n = n,.integer = gnngp_is_integer_type(rows->id_column.base)};

	ids.type_name = gnngp_keep_text(env, gnngp_type_name(rows->id_column.type));
	ids.key = gp_alloc_array(env, Max(n, 1), sizeof(int64));
	if (!ids.integer)
		ids.text = gp_alloc_array(env, Max(n, 1), sizeof(char *));
	for (int64 i = 0; i < n; i++)
	{
		ids.key[i] = row[i].id.key;
		if (ids.text)
			ids.text[i] = unconstify(char *, row[i].id.text);
	}
	return ids;
}

static void
take_labels(gnngp_data *data, gnngp_task_rows *rows)
{
	gp_env	   *env = rows->env;
	int32	   *final = NULL;

	data->labelled = gp_alloc_array(env, Max(data->nlabelled, 1), sizeof(int32));
	data->target_kind = rows->kind == GNNGP_TARGET_VALUE ? GP_TASK_VALUES : GP_TASK_CLASSES;
	if (data->target_kind == GP_TASK_VALUES)
		data->target = gp_alloc_array(env, Max(data->nlabelled, 1), sizeof(double));
	else
	{
		data->nclasses = rows->labels.label.n;
		final = gnngp_labels_finish(&rows->labels, &data->class_label);
		data->label = gp_alloc_array(env, Max(data->nlabelled, 1), sizeof(int32));
	}
	for (int64 i = 0; i < data->nlabelled; i++)
	{
		data->labelled[i] = (int32) i;
		if (final)
			data->label[i] = final[rows->row[i].label];
		else
			data->target[i] = rows->row[i].value;
	}
	gp_free(env, final);
}

/* 22000: nothing to learn from. */
static void
require_labels(const gnngp_task_rows *rows, int64 labelled)
{
	if (labelled == 0)
		gnngp_raise(DATA_EXCEPTION,
					psprintf("SELECT * FROM gp_task_rows(%s%s) shows the labels.",
							 quote_literal_cstr(rows->task->name),
							 gnngp_is_integer_type(rows->id_column.base) ? "" : ", NULL"),
					"task \"%s\" has no labelled row", rows->task->name);
	if (rows->n > PG_INT32_MAX - 1)
		gnngp_raise(PROGRAM_LIMIT_EXCEEDED, NULL,
					"task \"%s\" has more than %d rows", rows->task->name, PG_INT32_MAX - 1);
}

/* ---- the fit's data ---- */

/*
 * How long a question reaches, and the half-life: of tasks that do not say by the gaps between
 * their rows.
 */
static void
choose_horizon(gnngp_task_reading *r, const gnngp_task_rows *rows, int64 labelled)
{
	gnngp_task_transform *transform = r->transform;
	gp_time		reach = rows->horizon;

	/* Of rows that are their own entities their parents' facts will tell the half-life. */
	if (reach <= 0 && !r->asks_column)
		reach = (gp_time) gp_facts_median_gap(r->env, labelled, r->entity_of, r->as_of);
	if (reach <= 0 && !r->asks_column)
		reach = 30 * GP_TIME_DAY;
	transform->horizon = rows->horizon >= 0 ? rows->horizon : Max(reach, 0);
	transform->half_life = Max(2 * reach, 0);
	if (rows->horizon < 0 && !r->asks_column)
		gnngp_notice(psprintf("If that is wrong, drop the task with gp_drop_graph(%s) and pass horizon to gp_create_task, '0 days' where labels are known at once.",
							  quote_literal_cstr(rows->task->name)),
					 "task \"%s\" has no horizon: a label is taken to be known %.1f days after its time",
					 rows->task->name, (double) transform->horizon / (double) GP_TIME_DAY);
}

/*
 * A NOTICE where rows are asked about before nearly all of their facts, unless the user named their
 * time.
 */
static void
notice_mostly_later(const gnngp_task_reading *r)
{
	const gnngp_schema_table *t = &r->schema->table[r->entity];

	if (r->asks_column && t->candidates != NIL &&
		(double) r->later_own > MOSTLY_LATER * (double) r->read_own)
		gnngp_notice(psprintf("If it asks about today, let all of them count: gp_alter_graph(%s, %s). What follows from the answer counts, too, then. If it asks about that time, name it: %s.",
							  quote_literal_cstr(r->schema->def->name),
							  gnngp_times_with(r->schema, t, NULL),
							  gnngp_times_with(r->schema, t, t->column[t->time].column.name)),
					 "task \"%s\" asks about each row of table \"%s\" as of the row's own time: %.0f%% of the rows that refer to these are later and do not count",
					 r->task->name, t->table.name,
					 floor(100.0 * (double) r->later_own / (double) r->read_own));
}

/* Reads the columns of all rows, and scales them by those that are labelled. */
static gp_features *
make_features(gnngp_task_reading *r, gnngp_data *data)
{
	gp_env	   *env = r->env;
	gnngp_task_transform *transform = r->transform;
	bool	   *trains = gp_alloc_zero(env, r->n, sizeof(bool));
	gp_facts_labels labels = {.n = data->nlabelled,.entity = r->entity_of,.as_of = r->as_of,
		.label = data->label,
	.target = data->target,.nclasses = data->nclasses,.horizon = transform->horizon};
	gp_time		latest = GP_TIME_ALWAYS;
	gp_facts_freshness labels_are;

	for (int64 i = 0; i < data->nlabelled; i++)
	{
		trains[i] = true;
		latest = Max(latest, r->as_of[i]);
	}
	gnngp_reading_encode(r, latest);
	transform->target = gp_facts_target_of(env, &labels);
	labels_are = gp_facts_labels_freshness(env, &labels, r->n, r->as_of, trains, transform->newest);
	if (labels_are != GP_FACTS_FRESH)
		r->answered = gp_facts_block_starts(env, r->n, r->as_of, data->nlabelled,
											GP_FACTS_TIME_BLOCKS);
	gnngp_reading_run(r, &labels);
	/* Old answers mislead what has learnt from fresh ones. */
	if (labels_are == GP_FACTS_OLD)
		gp_task_columns_clear(r->columns, r->of_targets, r->beside - r->of_targets);
	if (r->asks_column)
		gnngp_clear_later(r, data->nlabelled);
	notice_mostly_later(r);
	gnngp_notice_later(r->schema);
	gnngp_leave_out_silent(r, &labels);
	if (labels_are == GP_FACTS_OLD_AS_FACTS)
		gnngp_leave_out_amounts(r);
	gnngp_notice_leakage(r, &labels);
	transform->scale = *gp_task_columns_measure(r->columns, trains);
	transform->scale.doubted = labels_are == GP_FACTS_OLD_AS_FACTS ? r->of_targets : r->beside;
	/* Answers are older at the rows to predict: keep these columns only for a large gain. */
	transform->scale.margin = labels_are == GP_FACTS_OLD_AS_FACTS && !r->asks_column ?
		OLD_ANSWERS_GAIN : 0.0;
	gp_free(env, trains);
	return gp_task_columns_features(r->columns, &transform->scale);
}

/* A NOTICE of the columns of a table that its owner may not read. */
static void
notice_hidden(const gnngp_graph_def *task, const gnngp_schema_table *t)
{
	StringInfoData names;
	const char *role = GetUserNameFromId(GetUserId(), false);

	initStringInfo(&names);
	for (int k = 0; k < t->ncolumns; k++)
		if (t->column[k].role == GNNGP_COLUMN_HIDDEN)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", t->column[k].column.quoted);
	if (names.len > 0)
		gnngp_notice(psprintf("GRANT SELECT (%s) ON %s TO %s;", names.data, t->table.quoted,
							  quote_identifier(role)),
					 "task \"%s\" leaves columns of table \"%s\" out: role \"%s\" may not read %s",
					 task->name, t->table.name, role, names.data);
}

/* NOTICEs of what is left out: it may not be read, or shows the labels. */
static void
notice_tables_left_out(const gnngp_schema *s, const gnngp_graph_def *task)
{
	for (int i = 0; i < s->ntables; i++)
	{
		notice_hidden(task, &s->table[i]);
		if (s->table[i].left_out)
			gnngp_notice(NULL, "task \"%s\" leaves table \"%s\" out: %s", task->name,
						 s->table[i].table.name, s->table[i].left_out);
	}
	if (s->answer)
		gnngp_notice(psprintf("If it is known with its row, take it in: gp_alter_graph(%s, %s).",
							  quote_literal_cstr(s->def->name),
							  gnngp_times_known(s, psprintf("%s.%s", s->table[s->answer_table].label,
															s->answer))),
					 "task \"%s\" leaves column \"%s.%s\" out: its labels show it, and are known later",
					 task->name, s->table[s->answer_table].label, s->answer);
}

static gnngp_data *
read_all(gp_env *env, const gnngp_schema *s, const gnngp_graph_def *def, const char *kind)
{
	gnngp_data *data = gp_alloc_zero(env, 1, sizeof(gnngp_data));
	gnngp_task_data *task = gp_alloc_zero(env, 1, sizeof(gnngp_task_data));
	gnngp_task_rows rows;
	gnngp_task_reading *r = palloc0(sizeof(gnngp_task_reading));

	gnngp_require_parents(s);
	notice_tables_left_out(s, def);
	gnngp_task_rows_open(&rows, env, s, def, kind);
	gnngp_find_reach(&rows);
	task->transform.newest = rows.newest;
	gnngp_task_rows_read(&rows);
	*r = (gnngp_task_reading) {.env = env,.schema = s,.task = def,
		.transform = &task->transform,
		.entity = rows.entity,.id = rows.id,.asks_column = def->task.form == GNNGP_TASK_COLUMN};
	task->transform.metapaths = r->asks_column && s->table[rows.entity].time < 0;
	point_to_rows(r, &rows);
	drop_early(&rows, r);
	if (rows.n < r->n)
		point_to_rows(r, &rows);
	while (data->nlabelled < rows.n && rows.row[data->nlabelled].label >= 0)
		data->nlabelled++;
	require_labels(&rows, data->nlabelled);
	take_labels(data, &rows);
	if (strcmp(kind, "auto") == 0 && rows.kind == GNNGP_TARGET_INTEGER && data->nclasses > 2)
		gnngp_notice("Use task => 'regression' to predict a count.",
					 "the integer target of task \"%s\" is read as %d classes", def->name,
					 data->nclasses);
	gnngp_reading_plan(r);
	choose_horizon(r, &rows, data->nlabelled);
	data->ids = ids_of(env, rows.row + data->nlabelled, rows.n - data->nlabelled, &rows);
	task->label_ids = ids_of(env, rows.row, data->nlabelled, &rows);
	task->as_of = unconstify(gp_time *, r->as_of);
	data->type = GP_FLOAT;
	data->features = make_features(r, data);
	gnngp_notice_later_read(s, def, rows.read_columns);
	data->graph = gp_graph_build(gp_edges_create(env, rows.n, false, false));
	if (task->transform.metapaths)
		task->metapaths = gnngp_reading_paths(r);
	task->relations = r->nfact_sources;
	task->facts = r->read;
	task->transform.shape[0] = gnngp_schema_shape(s, false);
	task->transform.shape[1] = gnngp_schema_shape(s, true);
	data->task_data = task;
	return data;
}

gnngp_data *
gnngp_read_task(gp_env *env, const gnngp_graph_def *def, const char *kind)
{
	gnngp_schema_use use;

	gnngp_schema_begin(&use, env, def, true);
	gnngp_data *data = read_all(env, use.schema, def, kind);
	gnngp_schema_end(&use);
	return data;
}
