/*
 * read_live_rows.c - the columns of a few entities as of any time, for live answers.
 *
 * They are read as the caller, whose grants and row-level security hold, by the indexes that there
 * are on keys; how they are encoded is the fit's.
 */
#include "postgres.h"

#include "access/xact.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pg/schema/task/task.h"
#include "task_reading.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

struct gnngp_live_rows
{
	gnngp_schema_use use;
	gnngp_task_reading reading;
	gp_time    *as_of;
	bool		as_of_given;	/* by the caller */
	gp_time		until;			/* as of which metapaths see what rows refer to */
};

/* 42501: the caller may not read all that the owner reads, of which these tables are. */
pg_noreturn static void
refuse_hidden(const gnngp_graph_def *task, const List *hidden)
{
	StringInfoData names;
	ListCell   *cell;

	initStringInfo(&names);
	foreach(cell, hidden)
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "",
						 ((const gnngp_table *) lfirst(cell))->name);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg_plural("permission denied for table %s", "permission denied for tables %s",
						   list_length(hidden), names.data),
			 errdetail("Live answers of task \"%s\" read its columns as the caller.",
					   task->name),
			 errhint("%s", gnngp_missing_grants(hidden, false))));
}

/*
 * 55000: what the model's columns are made of is not there any more, or not alone; 42501: the
 * caller may not read it.
 */
static void
check_shape(const gnngp_graph_def *task, const gnngp_schema *s, const gnngp_task_state *state)
{
	if (gnngp_schema_shape(s, false) == state->transform.shape[0] ||
		gnngp_schema_shape(s, true) == state->transform.shape[1])
		return;
	const List *hidden = gnngp_schema_hidden(s);
	if (hidden != NIL)
		refuse_hidden(task, hidden);
	gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE,
				psprintf("Fit it again: CALL gp_refresh(%s). To leave a new column out instead, put its name for TABLE.COLUMN: gp_alter_graph(%s, %s).",
						 quote_literal_cstr(task->name), quote_literal_cstr(s->def->name),
						 gnngp_exclude_argument(s, list_make1("TABLE.COLUMN"))),
				"the tables of task \"%s\" have other columns, keys or times than when its model was fitted",
				task->name);
}

/* Keeps the ids that are there; 42704 for one that is not in its table. */
static int64
keep_there(gnngp_live_rows *live, const gnngp_graph_def *task, gnngp_id *id, int64 n, gp_time as_of)
{
	gnngp_task_reading *r = &live->reading;
	gp_time    *from = gnngp_reading_entity_times(r);
	int64		there = 0;

	for (int64 i = 0; i < n; i++)
	{
		gp_time		at = from[r->entity_of[i]];
		gp_time		asked = as_of == GNNGP_AS_OF_NOW && at != GNNGP_NOWHERE ? at : as_of;

		if (at == GNNGP_NOWHERE)
			gnngp_raise(UNDEFINED_OBJECT, "Name rows of that table.",
						"node %s is not in table \"%s\"", gnngp_id_name(&id[i]),
						live->use.schema->table[r->entity].table.name);
		live->as_of[there] = asked;
		if (at <= asked && asked != GP_TIME_NEVER)
			id[there++] = id[i];
	}
	if (there < n)
		ereport(NOTICE,
				(errmsg_plural("%lld node of task \"%s\" is left out: it does not exist yet as of that time",
							   "%lld nodes of task \"%s\" are left out: they do not exist yet as of that time",
							   (unsigned long) (n - there), (long long) (n - there), task->name)));
	gp_free(r->env, from);
	return there;
}

/* Tells where some are asked about as of times that the fit knows nothing of. */
static void
notice_far_times(const gnngp_live_rows *live, const gnngp_task_state *state, int64 n)
{
	const gnngp_task_transform *learnt = &state->transform;
	int64		labelled = state->labelled;
	gp_time		first = labelled > 0 ? state->by_time[0].as_of : GP_TIME_ALWAYS;
	/* Labels may be later than all facts. */
	gp_time		newest = labelled > 0 ? state->by_time[labelled - 1].as_of : GP_TIME_ALWAYS;

	newest = Max(newest, learnt->newest);
	gp_time		last = newest + Max(learnt->horizon, learnt->half_life);
	int64		i = 0;

	while (i < n && live->as_of[i] >= first && live->as_of[i] <= last)
		i++;
	if (i < n)
		gnngp_notice_detail("The variance does not grow with that distance, and only the labels of the fit count.",
							"CALL gp_refresh to learn from newer rows.",
							"the model of task \"%s\" is asked as of %s, but has learnt from %s to %s",
							live->reading.task->name, gnngp_time_text(live->as_of[i]),
							gnngp_time_text(first), gnngp_time_text(newest));
}

/* For gnngp_attempt. */
static void
find_filtered(void *arg)
{
	gnngp_find_filtered(arg);
}

/*
 * Tells where some do not pass the task's filter.  It is the owner's code, and so it is run where
 * the owner asks; answers do not depend on it.
 */
static void
notice_filtered(const gnngp_live_rows *live, const gnngp_task_rows *rows, gp_time as_of)
{
	const gnngp_graph_def *task = rows->task;
	gnngp_filtered f = {.rows = rows,.as_of = as_of};

	/* Up to version 16 there are no subtransactions beside parallel workers. */
	if (task->task.form != GNNGP_TASK_EXPRESSION || task->task.filter == NULL ||
		live->reading.n == 0 || GetUserId() != gnngp_owner_role(task) || IsInParallelMode())
		return;
	f.keys = gnngp_reading_key_query(&live->reading, "e");
	ErrorData  *error = gnngp_attempt_but_cancel(find_filtered, &f);
	if (error)
		gnngp_notice(NULL,
					 "the filter of task \"%s\" cannot tell whether nodes pass it as of that time: %s",
					 task->name, error->message);
	else if (f.n > 0)
		ereport(NOTICE,
				(errmsg_plural("%lld node does not pass the filter of task \"%s\" as of that time",
							   "%lld nodes do not pass the filter of task \"%s\" as of that time",
							   (unsigned long) f.n, (long long) f.n, task->name),
				 errdetail("Node %s does not. The model has learnt from rows that do.", f.one)));
}

/* The ids of a table as they are read. */
typedef struct table_ids
{
	Oid			type;
	gnngp_numbered ids;
} table_ids;

static void
id_row(void *state, const Datum *values, const bool *nulls)
{
	table_ids  *all = state;

	if (!nulls[0])
	{
		gnngp_id	id = gnngp_datum_id(values[0], all->type, NULL);

		(void) gnngp_number_add(&all->ids, &id);
	}
}

static void
point_to_all(gnngp_live_rows *live, gp_time as_of)
{
	gnngp_task_reading *r = &live->reading;
	const gnngp_schema_table *t = &r->schema->table[r->entity];
	table_ids	all = {.ids = {.env = r->env}};
	gnngp_query q;

	gnngp_query_init(&q, &t->table);
	all.type = gnngp_query_add_key(&q, t, "t", 1, &r->id);
	gnngp_query_plan(&q);
	gnngp_query_run(&q, r->env, id_row, &all, GP_PHASE_NODES, gnngp_table_rows(&t->table));
	r->few = false;
	gnngp_id   *id = gp_alloc_array(r->env, Max(all.ids.n, 1), sizeof(gnngp_id));
	live->as_of = gp_alloc_array(r->env, Max(all.ids.n, 1), sizeof(gp_time));
	for (int32 i = 0; i < all.ids.n; i++)
	{
		id[i] = gnngp_number_id(&all.ids, i);
		live->as_of[i] = as_of;
	}
	gnngp_reading_point(r, all.ids.n, id, live->as_of);
}

gnngp_live_rows *
gnngp_live_rows_open(gp_env *env, const gnngp_graph_def *task, gnngp_task_state *state,
					 gnngp_id *id, int64 *n, gp_time as_of)
{
	gnngp_live_rows *live = gp_alloc_zero(env, 1, sizeof(gnngp_live_rows));
	gnngp_task_rows rows;

	/* Texts of the caller's ids are not NUL-terminated. */
	for (int64 i = 0; i < *n; i++)
		if (id[i].text)
			id[i].text = gnngp_copy_text(env, id[i].text, id[i].length);
	gnngp_schema_begin(&live->use, env, task, false);
	check_shape(task, live->use.schema, state);
	gnngp_task_rows_open(&rows, env, live->use.schema, task, NULL);
	live->reading = (gnngp_task_reading) {.env = env,.schema = live->use.schema,
		.few = true,.task = task,.entity = rows.entity,.id = rows.id,
		.asks_column = task->task.form == GNNGP_TASK_COLUMN,
		.transform = &state->transform};
	live->as_of = gp_alloc_array(env, Max(*n, 1), sizeof(gp_time));
	live->until = as_of == GNNGP_AS_OF_NOW ? (gp_time) GetCurrentTimestamp() : as_of;
	live->as_of_given = as_of != GNNGP_AS_OF_NOW && as_of != state->transform.newest;
	/* The landmarks of a model by metapaths keep the ages that they had in the fit. */
	if (as_of == GNNGP_AS_OF_NOW && state->transform.metapaths)
		as_of = state->transform.newest;
	else if (!live->reading.asks_column)
		as_of = live->until;
	gnngp_reading_point(&live->reading, *n, id, live->as_of);
	*n = keep_there(live, task, id, *n, as_of);
	notice_far_times(live, state, *n);
	if (state->transform.metapaths)
		point_to_all(live, as_of);
	else if (*n < live->reading.n)
		gnngp_reading_point(&live->reading, *n, id, live->as_of);
	notice_filtered(live, &rows, as_of);
	gnngp_reading_plan(&live->reading);
	return live;
}

/* True for an encoding of the cells that a joined table has. */
static bool
encodes(const gp_encoding *e, const gnngp_joined *joined)
{
	bool		fits = e != NULL;

	for (int32 p = 0; fits && p < e->nencoded; p++)
		fits = e->encoded[p].column < joined->ncells &&
			e->encoded[p].kind == (int32) joined->cell[e->encoded[p].column].type.kind;
	return fits;
}

/* 55000: a rollup or table of the model's is not among those that are read. */
static void
check_encodings(const gnngp_live_rows *live)
{
	const gnngp_task_reading *r = &live->reading;
	bool		fits = r->transform->nencodings ==
		gnngp_key_encoding(r->schema, r->schema->nrelations);

	for (int p = 0; fits && p < r->own->njoined; p++)
		fits = encodes(r->transform->encoding[r->own->joined[p].encoding], &r->own->joined[p]);
	for (int i = 0; i < r->nfact_sources; i++)
		for (int p = 0; fits && p < r->fact_source[i].join->njoined; p++)
			fits = encodes(r->transform->encoding[r->fact_source[i].join->joined[p].encoding],
						   &r->fact_source[i].join->joined[p]);
	if (!fits)
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Fit it again with gp_refresh.",
					"the tables of task \"%s\" are not those that its model was fitted on",
					r->task->name);
}

gp_features *
gnngp_live_rows_read(gnngp_live_rows *live, const gp_facts_labels *labels,
					 const gnngp_ids *label_ids)
{
	check_encodings(live);
	live->reading.label_ids = label_ids;
	gnngp_reading_run(&live->reading, labels);
	gnngp_schema_end(&live->use);
	return gp_task_columns_features(live->reading.columns, &live->reading.transform->scale);
}

gp_features *
gnngp_live_rows_read_metapaths(gnngp_live_rows *live, gp_metapath **metapath)
{
	gp_features *own;

	check_encodings(live);
	/* Labels are no facts of theirs. */
	gnngp_reading_run(&live->reading, &(gp_facts_labels) {0});
	own = gp_task_columns_features(live->reading.columns, &live->reading.transform->scale);
	for (int64 i = 0; i < live->reading.n; i++)
		live->as_of[i] = live->until;
	*metapath = gnngp_reading_paths(&live->reading);
	if (live->reading.timeless_path && live->as_of_given)
		gnngp_notice(NULL,
					 "task \"%s\" reads rows without a time as they are today, whatever as_of is",
					 live->reading.task->name);
	gnngp_schema_end(&live->use);
	return own;
}

int32
gnngp_live_rows_place(gnngp_live_rows *live, const gnngp_id *id)
{
	int32		entity = gnngp_number_find(&live->reading.entities, id);

	return entity < 0 ? -1 : live->reading.row_of[live->reading.row_start[entity]];
}
