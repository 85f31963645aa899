/*
 * read_labels.c - numbering the classes among the labels.
 */
#include "postgres.h"

#include "catalog/pg_enum.h"
#include "common/hashfn.h"
#include "core/base/sort.h"
#include "pg/catalog/graph_check.h"
#include "read_labels.h"

/* What the classes are sorted by. */
typedef struct label_rank
{
	int32		provisional;
	double		enum_order;
	int64		value;
	const char *text;
} label_rank;

gnngp_target_kind
gnngp_target_choose(const char *table, const gnngp_column *target, const char *task)
{
	Oid			base = target->base;
	char		category;
	bool		preferred;
	bool		value = gnngp_is_value_type(base);
	bool		class;

	/* What types are unless the user says otherwise */
	get_type_category_preferred(base, &category, &preferred);
	class = gnngp_is_integer_type(base) || base == BOOLOID || base == CHAROID ||
		category == TYPCATEGORY_STRING || category == TYPCATEGORY_ENUM;
	if (strcmp(task, "values") == 0 && !value && !gnngp_is_integer_type(target->base))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" has type %s, which is not a number",
						target->name, table, format_type_be(target->type)),
				 errhint("Use task => 'classification', or a numeric column.")));
	if (strcmp(task, "auto") == 0 && !value && !class)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" has type %s, which is neither classes nor values by itself",
						target->name, table, format_type_be(target->type)),
				 errhint("Use task => 'classification' to take its text as the class.")));
	if (strcmp(task, "values") == 0 || (strcmp(task, "auto") == 0 && value))
		return GNNGP_TARGET_VALUE;
	return gnngp_is_integer_type(target->base) ? GNNGP_TARGET_INTEGER : GNNGP_TARGET_TEXT;
}

void
gnngp_labels_init(gnngp_labels *labels, gp_env *env, bool integer, Oid enum_type)
{
	memset(labels, 0, sizeof(*labels));
	labels->env = env;
	labels->integer = integer;
	labels->enum_type = enum_type;
}

char *
gnngp_copy_text(gp_env *env, const char *text, int length)
{
	char	   *copy = gp_alloc(env, (size_t) length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

static int32
find_or_add(gnngp_labels *labels, int64 key, const char *text, int length)
{
	uint64		slot;

	if (labels->n >= labels->room)
	{
		/* Grows the arrays and the hash table, which stays at most half full */
		int32		room = labels->room ? labels->room * 2 : 64;

		labels->key = gp_realloc_array(labels->env, labels->key, room, sizeof(int64));
		labels->text = gp_realloc_array(labels->env, labels->text, room, sizeof(char *));
		gp_free(labels->env, labels->table);
		labels->table = gp_alloc_array(labels->env, 2 * (int64) room, sizeof(int32));
		memset(labels->table, 0xff, 2 * (size_t) room * sizeof(int32));
		labels->room = room;
		labels->places = gp_places_open(labels->env, 2 * (uint64) room);
		for (int32 i = 0; i < labels->n; i++)
		{
			uint64		slot = gp_first_place(&labels->places, labels->key[i]);

			while (labels->table[slot] >= 0)
				slot = gp_next_place(&labels->places, slot);
			labels->table[slot] = i;
		}
	}
	slot = gp_first_place(&labels->places, key);
	for (; labels->table[slot] >= 0; slot = gp_next_place(&labels->places, slot))
	{
		int32		i = labels->table[slot];

		if (labels->key[i] != key)
			continue;
		if (text == NULL ||
			(strncmp(labels->text[i], text, length) == 0 && labels->text[i][length] == '\0'))
			return i;
	}
	if (labels->n >= GNNGP_MAX_CLASSES)
		return -1;
	labels->table[slot] = labels->n;
	labels->key[labels->n] = key;
	labels->text[labels->n] = text ? gnngp_copy_text(labels->env, text, length) : NULL;
	return labels->n++;
}

int32
gnngp_labels_integer(gnngp_labels *labels, int64 value)
{
	return find_or_add(labels, value, NULL, 0);
}

int32
gnngp_labels_text(gnngp_labels *labels, const char *text, int length)
{
	uint64		key = hash_bytes_extended((const unsigned char *) text, length,
										  labels->env->hash_seed);

	return find_or_add(labels, (int64) key, text, length);
}

/* The place of a value among those of its enum type. */
static double
enum_order(Oid type, const char *label)
{
	HeapTuple	tuple = SearchSysCache2(ENUMTYPOIDNAME, ObjectIdGetDatum(type),
										CStringGetDatum(label));
	double		order = 0;

	if (HeapTupleIsValid(tuple))
	{
		order = ((Form_pg_enum) GETSTRUCT(tuple))->enumsortorder;
		ReleaseSysCache(tuple);
	}
	return order;
}

/* Orders classes: by enum order, by integer value, by text; what does not apply is equal. */
static int
compare_ranks(const void *a, const void *b, void *unused)
{
	const label_rank *x = a;
	const label_rank *y = b;

	if (x->enum_order != y->enum_order)
		return x->enum_order < y->enum_order ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->text ? strcmp(x->text, y->text) : 0;
}

int32 *
gnngp_labels_finish(gnngp_labels *labels, char ***names)
{
	gp_env	   *env = labels->env;
	int32		n = labels->n;
	label_rank *rank = palloc0(sizeof(label_rank) * Max(n, 1));
	int32	   *final = gp_alloc_array(env, Max(n, 1), sizeof(int32));

	for (int32 i = 0; i < n; i++)
	{
		rank[i].provisional = i;
		rank[i].text = labels->text[i];
		if (labels->integer)
			rank[i].value = labels->key[i];
		if (OidIsValid(labels->enum_type))
			rank[i].enum_order = enum_order(labels->enum_type, labels->text[i]);
	}
	gp_sort(env, rank, n, sizeof(label_rank), compare_ranks, NULL);

	*names = gp_alloc_array(env, Max(n, 1), sizeof(char *));
	for (int32 i = 0; i < n; i++)
	{
		char		digits[MAXINT8LEN + 1];

		final[rank[i].provisional] = i;
		if (labels->integer)
			(*names)[i] = gnngp_copy_text(env, digits, pg_lltoa(rank[i].value, digits));
		else
			(*names)[i] = labels->text[rank[i].provisional];
	}
	pfree(rank);
	gp_free_all(env, labels->key, labels->text, labels->table);
	memset(labels, 0, sizeof(*labels));
	return final;
}
