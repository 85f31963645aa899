/*
 * read_nodes.c - the node table: ids, the targets of the labelled nodes, features.
 *
 * Rows are kept in the order of arrival, then sorted by key, so that a node's
 * number depends on the ids alone.
 */
#include "postgres.h"

#include "read_ids.h"

#define MAX_NODES (PG_INT32_MAX - 1)
#define MANY_INTEGER_CLASSES 50
#define FEW_LABELS 20			/* below, a class of its own is nothing odd */
#define TEXT_CHUNK (256 * 1024)

struct gnngp_node_reading
{
	gnngp_reader *r;
	gnngp_query query;
	bool		automatic;		/* the task is ours to choose */
	gnngp_target_kind kind;
	gnngp_column target;
	gnngp_labels labels;
	gnngp_feature_reading *features;	/* NULL: none in columns */
	int			first_feature;	/* its column of the query */
	bool		too_many_classes;
	int64		null_ids;
	int64		n;
	int64		room;
	int64	   *key;
	char	  **text;			/* NULL for integer ids */
	int32	   *label;			/* -1: not labelled; NULL without target */
	double	   *value;			/* NULL unless values */
	char	   *chunk;			/* the texts of ids are cut from it */
	size_t		chunk_left;
};

/* A row to be sorted by its id. */
typedef struct node_order
{
	gnngp_id	id;				/* first: it is sorted by */
	int64		row;
} node_order;

static char *
copy_text(gnngp_node_reading *s, const char *text, int length)
{
	size_t		need = (size_t) length + 1;

	if (need > s->chunk_left)
	{
		s->chunk_left = Max(need, TEXT_CHUNK);
		s->chunk = gp_alloc(s->r->env, s->chunk_left);
	}
	char	   *copy = s->chunk;
	memcpy(copy, text, length);
	copy[length] = '\0';
	s->chunk += need;
	s->chunk_left -= need;
	return copy;
}

static void
add_label(gnngp_node_reading *s, Datum value, bool null)
{
	int32		label = -1;

	if (s->kind == GNNGP_TARGET_VALUE)
	{
		s->value[s->n] = null ? 0.0 : gnngp_number_datum(value, s->target.base);
		label = null ? -1 : 0;
	}
	else if (!null)
	{
		label = gnngp_labels_number(&s->labels, value,
									s->kind == GNNGP_TARGET_INTEGER ? s->target.base : TEXTOID);
		s->too_many_classes |= label < 0;
		label = Max(label, 0);
	}
	s->label[s->n] = label;
}

static void
node_row(void *state, const Datum *values, const bool *nulls)
{
	gnngp_node_reading *s = state;

	if (nulls[0])
	{
		s->null_ids++;
		return;
	}
	if (s->n >= s->room)
	{
		int64		room = s->room ? s->room + s->room / 2 : 4096;

		s->key = gp_realloc_array(s->r->env, s->key, room, sizeof(int64));
		if (!s->r->integer_ids)
			s->text = gp_realloc_array(s->r->env, s->text, room, sizeof(char *));
		if (s->kind != GNNGP_TARGET_NONE)
			s->label = gp_realloc_array(s->r->env, s->label, room, sizeof(int32));
		if (s->kind == GNNGP_TARGET_VALUE)
			s->value = gp_realloc_array(s->r->env, s->value, room, sizeof(double));
		s->room = room;
	}
	if (s->n >= MAX_NODES)
		gnngp_raise(PROGRAM_LIMIT_EXCEEDED, NULL, "table \"%s\" has more than %d nodes",
					s->r->nodes.name, MAX_NODES);
	gnngp_id	id = gnngp_datum_id(values[0], s->r->id.base, &s->r->id_output);
	s->key[s->n] = id.key;
	if (id.text)
		id.text = s->text[s->n] = copy_text(s, id.text, id.length);
	if (s->kind != GNNGP_TARGET_NONE)
		add_label(s, values[1], nulls[1]);
	if (s->features)
		gnngp_features_add_row(s->features, s->n, id, values + s->first_feature,
							   nulls + s->first_feature);
	if (s->r->null_features)
		*s->r->null_features += DatumGetInt32(values[s->first_feature]);
	s->n++;
}

static inline int
compare_rows(const gnngp_node_reading *s, int64 a, int64 b)
{
	return s->key[a] != s->key[b] ? (s->key[a] < s->key[b] ? -1 : 1) :
		s->text ? strcmp(s->text[a], s->text[b]) : 0;
}

/* Moves an array into node order: a new array that replaces the old one. */
static void *
permute(gp_env *env, void *old, const node_order *order, int64 n, size_t size)
{
	if (old == NULL)
		return NULL;
	char	   *new = gp_alloc_array(env, n, size);
	for (int64 i = 0; i < n; i++)
	{
		gnngp_poll(i);
		if (size == sizeof(int32))
			((int32 *) new)[i] = ((int32 *) old)[order[i].row];
		else
			((int64 *) new)[i] = ((int64 *) old)[order[i].row];
	}
	gp_free(env, old);
	return new;
}

/* Sorts the rows by key; returns the node of each row where features need it and it is another
 * one. */
static int32 *
sort_rows(gnngp_node_reading *s)
{
	gp_env	   *env = s->r->env;
	int32	   *node = NULL;
	bool		sorted = true;
	int64		next = 0;

	StaticAssertStmt(sizeof(char *) == sizeof(int64) && sizeof(double) == sizeof(int64),
					 "texts and values are moved as 64-bit items");
	for (int64 i = 1; i < s->n && sorted; i++)
	{
		gp_poll(env, i, &next);
		sorted = compare_rows(s, i - 1, i) <= 0;
	}
	if (sorted)
		return NULL;
	CHECK_FOR_INTERRUPTS();
	node_order *order = gp_alloc_array(env, s->n, sizeof(node_order));
	for (int64 i = 0; i < s->n; i++)
	{
		gnngp_poll(i);
		order[i].id = gnngp_ids_at(&(gnngp_ids) {.key = s->key,.text = s->text}, i);
		order[i].row = i;
	}
	gp_sort(env, order, s->n, sizeof(node_order), gnngp_id_compare, NULL);
	for (int64 i = 0; i < s->n; i++)
		s->key[i] = order[i].id.key;
	s->text = permute(env, s->text, order, s->n, sizeof(char *));
	s->label = permute(env, s->label, order, s->n, sizeof(int32));
	s->value = permute(env, s->value, order, s->n, sizeof(double));
	if (s->features)
	{
		node = gp_alloc_array(env, s->n, sizeof(int32));
		for (int64 i = 0; i < s->n; i++)
		{
			gnngp_poll(i);
			node[order[i].row] = (int32) i;
		}
	}
	gp_free(env, order);
	return node;
}

/* Sorts the classes and keeps the label of each labelled node. */
static void
finish_classes(gnngp_node_reading *s, gnngp_data *data, bool automatic)
{
	if (s->too_many_classes)
		gnngp_raise(DATA_EXCEPTION,
					"Use a coarser column, or task => 'regression' if it holds numbers.",
					"column \"%s\" of table \"%s\" has more than %d classes", s->target.name,
					s->r->nodes.name, GNNGP_MAX_CLASSES);
	int32	   *final = gnngp_labels_finish(&s->labels, &data->class_label);
	data->label = gp_alloc_array(s->r->env, data->nlabelled, sizeof(int32));
	for (int64 k = 0; k < data->nlabelled; k++)
		data->label[k] = final[s->label[data->labelled[k]]];
	gp_free(s->r->env, final);
	if (automatic)
	{
		/* Most rows have a class of their own: a name, or a number.  Who says task means it. */
		int32	   *rows = gp_alloc_zero(s->r->env, data->nclasses, sizeof(int32));
		int64		single = 0;

		for (int64 k = 0; k < data->nlabelled; k++)
			rows[data->label[k]]++;
		for (int32 c = 0; c < data->nclasses; c++)
			single += rows[c] == 1;
		gp_free(s->r->env, rows);
		if (data->nlabelled >= FEW_LABELS && single > data->nlabelled / 2)
			gnngp_raise(DATA_EXCEPTION,
						"Use a coarser column, or task => 'regression' if it holds numbers. task => 'classification' makes each value a class.",
						"column \"%s\" of table \"%s\" does not look like a class: %lld of %lld labelled rows have a unique value",
						s->target.name, s->r->nodes.name, (long long) single,
						(long long) data->nlabelled);
	}
}

/* Lists the labelled nodes, and their targets unless tables are only counted. */
static void
finish_targets(gnngp_node_reading *s, gnngp_data *data, bool automatic)
{
	gp_env	   *env = s->r->env;
	int64		labelled = 0;

	for (int64 i = 0; i < s->n; i++)
		data->nlabelled += s->label[i] >= 0;
	data->labelled = gp_alloc_array(env, Max(data->nlabelled, 1), sizeof(int32));
	for (int64 i = 0; i < s->n; i++)
		if (s->label[i] >= 0)
			data->labelled[labelled++] = (int32) i;
	data->nclasses = s->labels.label.n;
	if (s->r->null_features)
		return;
	if (data->nlabelled == 0)
		gnngp_raise(DATA_EXCEPTION,
					"Rows whose target is NULL are the ones to predict: at least one other row needs a value.",
					"column \"%s\" of table \"%s\" has no labelled row", s->target.name,
					s->r->nodes.name);
	if (s->kind == GNNGP_TARGET_VALUE)
	{
		for (int64 i = 0; i < s->n; i++)
			if (s->label[i] >= 0 && !isfinite(s->value[i]))
				gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE,
							"A target must be finite; NULL marks the nodes to predict.",
							"column \"%s\" of table \"%s\" is %g for node %s", s->target.name,
							s->r->nodes.name, s->value[i],
							s->text ? s->text[i] : psprintf(INT64_FORMAT, s->key[i]));
		data->target_kind = GP_TASK_VALUES;
		data->target = gp_alloc_array(env, data->nlabelled, sizeof(double));
		for (int64 k = 0; k < data->nlabelled; k++)
			data->target[k] = s->value[data->labelled[k]];
	}
	else
	{
		data->target_kind = GP_TASK_CLASSES;
		finish_classes(s, data, automatic);
		if (automatic && s->kind == GNNGP_TARGET_INTEGER && data->nclasses > MANY_INTEGER_CLASSES)
			gp_notice(s->r->env, "Use task => 'regression' to predict them as numbers.",
					  "column \"%s\" of table \"%s\" has %d integer values, which are taken as classes",
					  s->target.name, s->r->nodes.name, data->nclasses);
		if (data->nclasses == 1)
			gp_notice(s->r->env, "Label nodes of another class, too.",
					  "all labelled rows of table \"%s\" have the class \"%s\"", s->r->nodes.name,
					  data->class_label[0]);
	}
	gp_free_all(env, s->label, s->value);
}

gnngp_node_reading *
gnngp_plan_nodes(gnngp_reader *r, const char *kind, bool need_target)
{
	const gnngp_graph_def *def = r->def;
	gnngp_node_reading *s = palloc0(sizeof(gnngp_node_reading));

	s->r = r;
	s->automatic = strcmp(kind, "auto") == 0;
	gnngp_query_init(&s->query, &r->nodes);
	gnngp_query_add(&s->query, r->id.base, "t.%s", r->id.quoted);
	if (need_target && def->target == NULL)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					psprintf("Name one: SELECT gp_alter_graph(%s, target => 'column').",
							 quote_literal_cstr(def->name)),
					"graph \"%s\" has no target column", def->name);
	if (need_target)
	{
		s->target = gnngp_table_column(&r->nodes, def->target);
		s->kind = gnngp_target_choose(r->nodes.name, &s->target, kind);
	}
	if (s->kind == GNNGP_TARGET_INTEGER || s->kind == GNNGP_TARGET_TEXT)
		gnngp_labels_init(&s->labels, r->env, s->kind == GNNGP_TARGET_INTEGER,
						  get_typtype(s->target.base) == TYPTYPE_ENUM ? s->target.base
						  : InvalidOid);
	if (s->kind == GNNGP_TARGET_INTEGER)
		gnngp_query_add(&s->query, s->target.base, "t.%s", s->target.quoted);
	else if (s->kind == GNNGP_TARGET_TEXT)
		gnngp_query_add(&s->query, TEXTOID, "t.%s::pg_catalog.text", s->target.quoted);
	else if (s->kind == GNNGP_TARGET_VALUE)
		gnngp_query_add_number(&s->query, &s->target);
	s->first_feature = list_length(s->query.types);
	if (r->null_features)
	{
		/* Counts the features of a row that are NULL */
		StringInfoData features;

		initStringInfo(&features);
		for (int i = 0; i < def->features.n; i++)
			appendStringInfo(&features, "%st.%s IS NULL", i > 0 ? ", " : "",
							 gnngp_table_column(&r->nodes, def->features.text[i]).quoted);
		gnngp_query_add(&s->query, INT4OID, features.len == 0 ? "%s0" :
						"pg_catalog.cardinality(pg_catalog.array_positions(ARRAY[%s], true))",
						features.data);
	}
	else
		s->features = gnngp_add_features(r, &s->query);
	if (r->sorted && r->integer_ids)
		s->query.order = psprintf("t.%s", r->id.quoted);
	gnngp_query_plan(&s->query);
	r->nodes_apart = gnngp_query_is_apart(&s->query);
	return s;
}

void
gnngp_read_nodes(gnngp_node_reading *s)
{
	gnngp_data *data = s->r->data;
	const gnngp_reader *r = s->r;

	gnngp_reader_run(s->r, &s->query, node_row, s, GP_PHASE_NODES);
	int32	   *node = sort_rows(s);
	if (OidIsValid(r->def->nodes))
		gnngp_check_nulls(&r->nodes, &r->id, s->null_ids, "Give each node an id, or remove the row.");
	else
	{
		gnngp_column ends = {.name = psprintf("%s\" or \"%s", r->def->src, r->def->dst)};

		gnngp_check_nulls(&r->nodes, &ends, s->null_ids,
						  "Each edge needs both ends: fill them in, or use a view that leaves the row out.");
	}
	if (s->n == 0 && !r->null_features)
		gnngp_raise(DATA_EXCEPTION,
					psprintf("Fill the table. If it has rows, role \"%s\", which owns the graph, must be allowed to see them by row-level security.",
							 r->def->owner),
					"table \"%s\" has no nodes", r->nodes.name);
	for (int64 i = 1; i < s->n; i++)
		if (compare_rows(s, i - 1, i) == 0)
			gnngp_raise(UNIQUE_VIOLATION,
						"Each node needs an id of its own: remove the repeated row.",
						"column \"%s\" of table \"%s\" repeats the id %s", r->id.name,
						r->nodes.name, s->text ? s->text[i] : psprintf(INT64_FORMAT, s->key[i]));
	data->ids.n = s->n;
	data->ids.key = s->key;
	data->ids.text = s->text;
	if (s->kind != GNNGP_TARGET_NONE)
		finish_targets(s, data, s->automatic);
	if (s->features)
		gnngp_finish_features(s->features, node);
	gp_free(s->r->env, node);
	pfree(s);
}
