/*
 * read_labels.c - numbering the classes among the labels.
 */
#include "postgres.h"

#include "catalog/pg_enum.h"
#include "read_tables.h"

/* What the classes are sorted by. */
typedef struct label_rank
{
	int32		provisional;
	double		enum_order;
	int64		value;
	const char *text;
} label_rank;

gnngp_target_kind
gnngp_target_choose(const char *table, const gnngp_column *target, const char *kind)
{
	Oid			base = target->base;
	bool		value = gnngp_is_value_type(base);

	if (strcmp(kind, "values") == 0 && !value && !gnngp_is_integer_type(target->base))
		gnngp_raise(DATATYPE_MISMATCH, "Use task => 'classification', or a numeric column.",
					"column \"%s\" of table \"%s\" has type %s, which is not a number",
					target->name, table, format_type_be(target->type));
	if (strcmp(kind, "auto") == 0 && !value && !gnngp_is_class_type(base))
		gnngp_raise(DATATYPE_MISMATCH,
					"Pass task => 'classification' to make each distinct text a class.",
					"column \"%s\" of table \"%s\" has type %s, which is neither a class nor a number",
					target->name, table, format_type_be(target->type));
	if (strcmp(kind, "values") == 0 || (strcmp(kind, "auto") == 0 && value))
		return GNNGP_TARGET_VALUE;
	return gnngp_is_integer_type(target->base) ? GNNGP_TARGET_INTEGER : GNNGP_TARGET_TEXT;
}

void
gnngp_labels_init(gnngp_labels *labels, gp_env *env, bool integer, Oid enum_type)
{
	memset(labels, 0, sizeof(*labels));
	labels->label.env = env;
	labels->integer = integer;
	labels->enum_type = enum_type;
}

int32
gnngp_labels_number(gnngp_labels *labels, Datum value, Oid base)
{
	gnngp_id	id = gnngp_datum_id(value, base, NULL);
	int32		number = gnngp_number_find(&labels->label, &id);

	return number >= 0 || labels->label.n >= GNNGP_MAX_CLASSES ? number :
		gnngp_number_add(&labels->label, &id);
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
	const gnngp_numbered *label = &labels->label;
	gp_env	   *env = label->env;
	int32		n = label->n;
	label_rank *rank = palloc0(sizeof(label_rank) * Max(n, 1));
	int32	   *final = gp_alloc_array(env, Max(n, 1), sizeof(int32));

	for (int32 i = 0; i < n; i++)
	{
		rank[i].provisional = i;
		rank[i].text = label->text[i];
		if (labels->integer)
			rank[i].value = label->key[i];
		if (OidIsValid(labels->enum_type))
			rank[i].enum_order = enum_order(labels->enum_type, label->text[i]);
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
			(*names)[i] = label->text[rank[i].provisional];
	}
	pfree(rank);
	gp_free_all(env, label->key, label->text, label->table);
	memset(labels, 0, sizeof(*labels));
	return final;
}
