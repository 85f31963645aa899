/*
 * store_facts.c - writing and reading what the model of a task keeps of its facts.
 */
#include "postgres.h"

#include "store_arrays.h"

/* The arrays. */
enum facts_array
{
	FACTS_HEAD, FACTS_COUNTS, FACTS_ENCODED, FACTS_COLUMNS, FACTS_NAMES, FACTS_TARGET, FACTS_AS_OF,
	FACTS_PERIODS, FACTS_METRICS, FACTS_ARRAYS
};

static const int facts_element[FACTS_ARRAYS] = {
	GP_ARRAY_I64, GP_ARRAY_I64, GNNGP_ELEMENT_BYTE, GNNGP_ELEMENT_BYTE, GNNGP_ELEMENT_BYTE,
	GNNGP_ELEMENT_BYTE, GP_ARRAY_I64, GP_ARRAY_I64, GP_ARRAY_F64
};

/* The numbers of FACTS_HEAD. */
enum facts_head
{
	HEAD_SHAPE, HEAD_SHAPE_BY_NUMBER, HEAD_HORIZON, HEAD_HALF_LIFE, HEAD_NEWEST, HEAD_WIDTH,
	HEAD_KEPT, HEAD_NGROUPS, HEAD_METAPATHS, FACTS_HEADS
};

/* Lays the parts of all encodings end to end; their numbers, -1 for a table that is not read. */
static int64 *
lay_encodings(const gnngp_task_transform *task, StringInfo parts)
{
	int64	   *count = palloc(sizeof(int64) * Max(task->nencodings, 1));

	initStringInfo(parts);
	for (int i = 0; i < task->nencodings; i++)
	{
		const gp_encoding *e = task->encoding[i];

		count[i] = e ? e->nencoded + e->nwithin : -1;
		if (e)
			appendBinaryStringInfo(parts, (const char *) e->encoded, sizeof(gp_encoded) * count[i]);
	}
	return count;
}

void
gnngp_facts_write(const gnngp_model *model, const gnngp_data *data, gnngp_forward forward)
{
	const gnngp_task_transform *task = &data->task_data->transform;
	const gp_facts_scale *scale = &task->scale;
	int64		head[FACTS_HEADS] = {(int64) task->shape[0], (int64) task->shape[1], task->horizon,
									 task->half_life, task->newest, scale->width,
	scale->kept, scale->ngroups, task->metapaths};
	size_t		names = (size_t) scale->ngroups * GP_FACTS_NAME;
	char	   *name = palloc(Max(2 * names, 1));
	StringInfoData parts;
	int64	   *encodings = lay_encodings(task, &parts);
	const int64 count[FACTS_ARRAYS] = {
		FACTS_HEADS, task->nencodings, parts.len,
		scale->width * sizeof(gp_facts_column), 2 * names, sizeof(gp_facts_target),
		data->nlabelled, 3 * forward.n, GP_METRICS * forward.n
	};
	const void *const array[FACTS_ARRAYS] = {
		head, encodings, parts.data, scale->column, name, &task->target, data->task_data->as_of,
		forward.period, forward.metric
	};

	memcpy(name, scale->relation, names);
	memcpy(name + names, scale->aggregate, names);
	gnngp_arrays_save(model, "facts", FACTS_ARRAYS, facts_element, count, array, NULL);
}

/* Makes the encodings of their parts; NULL where these do not fit together. */
static gp_encoding **
make_encodings(gp_env *env, const int64 *count, int64 n, const gp_encoded *encoded, int64 nencoded)
{
	gp_encoding **encoding = gp_alloc_zero(env, Max(n, 1), sizeof(gp_encoding *));
	int64		at = 0;

	for (int64 i = 0; i < n; i++)
	{
		if (count[i] >= 0 && count[i] <= nencoded - at)
			encoding[i] = gp_encoding_of(env, encoded + at, (int32_t) count[i]);
		if (count[i] >= 0 && encoding[i] == NULL)
			return NULL;
		at += Max(count[i], 0);
	}
	return at == nencoded ? encoding : NULL;
}

/* True for names that end, and columns and targets within what there is. */
static bool
state_fits(const gnngp_task_state *f)
{
	const gnngp_task_transform *t = &f->transform;
	const gp_facts_scale *s = &t->scale;
	int32		kept = 0;
	bool		fits = t->horizon >= 0 && t->half_life > 0 && t->target.width >= 0 &&
		t->target.width <= GP_ENCODED_HOT;

	for (int32 b = 0; b < s->ngroups; b++)
		fits = fits && memchr(s->relation[b], '\0', GP_FACTS_NAME) &&
			memchr(s->aggregate[b], '\0', GP_FACTS_NAME);
	for (int32 c = 0; c < s->width; c++)
	{
		kept += s->column[c].deviation > 0.0;
		fits = fits && s->column[c].group >= 0 && s->column[c].group < s->ngroups;
	}
	return fits && kept == s->kept;
}

gnngp_task_state *
gnngp_facts_read(gp_env *env, const gnngp_model *model)
{
	gnngp_task_state *f = gp_alloc_zero(env, 1, sizeof(gnngp_task_state));
	gnngp_task_transform *t = &f->transform;
	gp_link_array a[FACTS_ARRAYS];

	if (model->rows == 0)
		gnngp_raise(WRONG_OBJECT_TYPE, "Tasks are made with gp_create_task.",
					"model \"%s\" is of a graph, not of a task", model->name);
	(void) gnngp_arrays_load(env, model, "facts", FACTS_ARRAYS, facts_element, a, NULL);
	if (a[FACTS_HEAD].count != FACTS_HEADS || a[FACTS_TARGET].count != sizeof(gp_facts_target) ||
		a[FACTS_AS_OF].count != model->labelled)
		gnngp_arrays_damaged(model, "facts");
	const int64 *head = a[FACTS_HEAD].data;
	t->shape[0] = (uint64) head[HEAD_SHAPE];
	t->shape[1] = (uint64) head[HEAD_SHAPE_BY_NUMBER];
	t->horizon = head[HEAD_HORIZON];
	t->half_life = head[HEAD_HALF_LIFE];
	t->newest = head[HEAD_NEWEST];
	t->metapaths = head[HEAD_METAPATHS];
	t->scale = (gp_facts_scale) {.width = (int32_t) head[HEAD_WIDTH],
								 .kept = (int32_t) head[HEAD_KEPT],
		.ngroups = (int32_t) head[HEAD_NGROUPS]};
	size_t		names = (size_t) t->scale.ngroups * GP_FACTS_NAME;
	t->nencodings = (int) a[FACTS_COUNTS].count;
	t->encoding = make_encodings(env, a[FACTS_COUNTS].data, t->nencodings, a[FACTS_ENCODED].data,
								 a[FACTS_ENCODED].count / (int64) sizeof(gp_encoded));
	if (t->encoding == NULL ||
		a[FACTS_COLUMNS].count != t->scale.width * (int64) sizeof(gp_facts_column) ||
		a[FACTS_NAMES].count != (int64) (2 * names) || t->scale.ngroups < 0)
		gnngp_arrays_damaged(model, "facts");
	t->scale.column = a[FACTS_COLUMNS].data;
	t->scale.relation = a[FACTS_NAMES].data;
	t->scale.aggregate = (void *) ((char *) a[FACTS_NAMES].data + names);
	memcpy(&t->target, a[FACTS_TARGET].data, sizeof(gp_facts_target));
	f->labelled = a[FACTS_AS_OF].count;
	f->as_of = a[FACTS_AS_OF].data;
	f->forward = (gnngp_forward) {a[FACTS_PERIODS].count / 3, a[FACTS_PERIODS].data,
									a[FACTS_METRICS].data};
	if (a[FACTS_PERIODS].count != 3 * f->forward.n ||
		a[FACTS_METRICS].count != GP_METRICS * f->forward.n || !state_fits(f))
		gnngp_arrays_damaged(model, "facts");
	f->by_time = gp_by_time(env, f->labelled, f->as_of);
	return f;
}
