/*
 * schema_relations.c - the relations of a graph: foreign keys between its tables.
 *
 * They come from the server, with the operators that compare their columns there, and from the
 * user.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/relation.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "schema_internal.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

/* A new relation between two tables, with room for n pairs of columns. */
static gnngp_schema_relation *
add_relation(gnngp_schema *s, int child, int parent, int n)
{
	s->relation = s->nrelations == 0 ? palloc0(sizeof(gnngp_schema_relation)) :
		repalloc(s->relation, sizeof(gnngp_schema_relation) * (s->nrelations + 1));
	gnngp_schema_relation *r = &s->relation[s->nrelations++];
	*r = (gnngp_schema_relation) {.child = child,.parent = parent,.n = n,
		.from = palloc0(sizeof(int) * n),.to = palloc0(sizeof(int) * n),
		.equals = palloc0(sizeof(char *) * n)};
	return r;
}

/* The column of a number of the server's. */
static int
column_at(const gnngp_schema_table *t, AttrNumber attnum)
{
	for (int i = 0; i < t->ncolumns; i++)
		if (t->column[i].number == attnum)
			return i;
	return -1;
}

/* An operator in a query, whatever the search_path is. */
static char *
operator_text(Oid operator)
{
	ObjectAddress address = {OperatorRelationId, operator, 0};
	Oid			schema = get_object_namespace(&address);

	return psprintf("OPERATOR(%s.%s)", quote_identifier(get_namespace_name(schema)),
					get_opname(operator));
}

/* The foreign keys of a locked table, in the present memory context. */
static List *
foreign_keys(Oid table)
{
	Relation	rel = relation_open(table, AccessShareLock);
	List	   *keys = copyObject(RelationGetFKeyList(rel));

	relation_close(rel, NoLock);
	return keys;
}

/* By tables and columns: the server sorts by names of constraints. */
static int
compare_relations(const void *first, const void *second, void *unused)
{
	const gnngp_schema_relation *a = first;
	const gnngp_schema_relation *b = second;

	if (a->child != b->child)
		return a->child - b->child;
	for (int i = 0; i < Min(a->n, b->n); i++)
		if (a->from[i] != b->from[i])
			return a->from[i] - b->from[i];
	return a->n != b->n ? a->n - b->n : a->parent - b->parent;
}

/* Adds a foreign key; one whose columns may not be read is not used. */
static void
add_foreign_key(gnngp_schema *s, int child, int parent, const ForeignKeyCacheInfo *key)
{
	gnngp_schema_relation *r = add_relation(s, child, parent, key->nkeys);

	for (int i = 0; i < r->n; i++)
	{
		r->from[i] = column_at(&s->table[child], key->conkey[i]);
		r->to[i] = column_at(&s->table[parent], key->confkey[i]);
		r->equals[i] = operator_text(key->conpfeqop[i]);
		r->aside = r->aside || s->table[child].column[r->from[i]].role == GNNGP_COLUMN_HIDDEN ||
			s->table[parent].column[r->to[i]].role == GNNGP_COLUMN_HIDDEN;
	}
}

static void
find_constraints(gnngp_schema *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		ListCell   *cell;

		foreach(cell, foreign_keys(s->table[i].table.oid))
		{
			const ForeignKeyCacheInfo *key = lfirst(cell);
			int			parent = gnngp_schema_find(s, key->confrelid);

			if (parent >= 0)
				add_foreign_key(s, i, parent, key);
		}
	}
	gp_sort(s->env, s->relation, s->nrelations, sizeof(gnngp_schema_relation), compare_relations,
			NULL);
}

static void
add_named_key(gnngp_schema *s, const gnngp_json_pair *pair)
{
	gnngp_column_list from = gnngp_column_list_read(s, pair->key, "keys");
	gnngp_column_list to = {0};

	if (pair->value)
		to = gnngp_column_list_read(s, pair->value, "keys");
	if (from.n != to.n || from.n == 0)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					"Write keys => '{\"results.driver_id\": \"drivers.id\"}'.",
					"argument \"keys\": \"%s\" and \"%s\" have different numbers of columns",
					pair->key, pair->value ? pair->value : "null");
	gnngp_schema_relation *r = add_relation(s, from.table, to.table, from.n);
	r->named = true;
	for (int i = 0; i < from.n; i++)
	{
		r->from[i] = from.column[i];
		r->to[i] = to.column[i];
		r->equals[i] = "OPERATOR(pg_catalog.=)";
	}
}

/* A column that would be a cell is part of a key. */
static void
mark_key(gnngp_schema_column *c)
{
	if (c->role == GNNGP_COLUMN_CELL)
		c->role = GNNGP_COLUMN_KEY;
}

void
gnngp_find_relations(gnngp_schema *s)
{
	ListCell   *cell;

	find_constraints(s);
	foreach(cell, gnngp_json_pairs(s->def->tables.keys, "keys"))
		add_named_key(s, lfirst(cell));
	for (int i = 0; i < s->nrelations; i++)
	{
		gnngp_schema_relation *r = &s->relation[i];
		gnngp_schema_table *child = &s->table[r->child];

		r->name = gnngp_column_list_text(s, r->child, r->n, r->from);
		for (int k = 0; k < r->n; k++)
		{
			mark_key(&child->column[r->from[k]]);
			/* The time of a row may be part of what others refer to. */
			if (!gnngp_is_time_type(s->table[r->parent].column[r->to[k]].column.base))
				mark_key(&s->table[r->parent].column[r->to[k]]);
		}
	}
}

void
gnngp_set_relations_aside(gnngp_schema *s)
{
	const gnngp_schema_relation *all = s->relation;
	int			n = s->nrelations + s->naside;

	s->relation = palloc0(sizeof(gnngp_schema_relation) * Max(n, 1));
	s->nrelations = s->naside = 0;
	for (int i = 0; i < n; i++)
		s->relation[all[i].aside ? n - ++s->naside : s->nrelations++] = all[i];
}

/*
 * 0A000 for a column whose equal values may differ as texts, such as intervals, citext and what has
 * a nondeterministic collation: those that b-trees must not merge.
 */
static void
require_one_text(const gnngp_schema_table *t, const gnngp_schema_column *c)
{
	/* As text, char(n) has lost its blanks. */
	TypeCacheEntry *type = lookup_type_cache(gnngp_is_string_type(c->column.base) ? TEXTOID :
											 c->column.base, TYPECACHE_BTREE_OPFAMILY);
	Oid			in = type->btree_opintype;
	Oid			equal_image = get_opfamily_proc(type->btree_opf, in, in, BTEQUALIMAGE_PROC);

	if (!gnngp_is_number_type(c->column.base) &&
		!(OidIsValid(equal_image) &&
		  DatumGetBool(OidFunctionCall1Coll(equal_image, c->collation, ObjectIdGetDatum(in)))))
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					"Use a view that casts the column, such as by lower(column::text), or exclude the columns that refer to it.",
					"column \"%s\" of table \"%s\" is part of a key, and its type or collation takes values of different text for equal",
					c->column.name, t->table.name);
}

/* 42804 where columns of a key cannot be compared, or not by their texts: a day and a moment. */
static void
require_like_texts(const gnngp_schema *s, const gnngp_schema_relation *r, int i)
{
	const gnngp_schema_table *child = &s->table[r->child];
	const gnngp_schema_table *parent = &s->table[r->parent];
	const gnngp_column *from = &child->column[r->from[i]].column;
	const gnngp_column *to = &parent->column[r->to[i]].column;

	if (!gnngp_matches_id_type(from->base, to->base) ||
		(from->base != to->base &&
		 !(gnngp_is_number_type(from->base) && gnngp_is_number_type(to->base)) &&
		 !(gnngp_is_string_type(from->base) && gnngp_is_string_type(to->base))))
		gnngp_raise(DATATYPE_MISMATCH, "Use a view that casts the column.",
					"column \"%s\" of table \"%s\" has type %s, but column \"%s\" of table \"%s\", which it refers to, has type %s",
					from->name, child->table.name, format_type_be(from->type), to->name,
					parent->table.name, format_type_be(to->type));
	require_one_text(child, &child->column[r->from[i]]);
	require_one_text(parent, &parent->column[r->to[i]]);
}

void
gnngp_require_texts(const gnngp_schema *s)
{
	for (int i = 0; i < s->nrelations; i++)
		for (int k = 0; k < s->relation[i].n; k++)
			require_like_texts(s, &s->relation[i], k);
}

/* A relation whose parent's key is looked at. */
typedef struct parent_key
{
	const gnngp_schema *schema;
	const gnngp_schema_relation *relation;
} parent_key;

/* 23505: a row that refers to this key would have several parents, and count for each of them. */
static void
repeated_key(void *state, const Datum *values, const bool *nulls)
{
	const gnngp_schema *s = ((const parent_key *) state)->schema;
	const gnngp_schema_relation *r = ((const parent_key *) state)->relation;

	gnngp_raise(UNIQUE_VIOLATION,
				psprintf("Argument \"keys\" of graph \"%s\" must refer to columns that identify a row. Use a view that has each key once.",
						 s->def->name),
				"table \"%s\" repeats the key %s, which \"%s\" refers to",
				s->table[r->parent].table.name, TextDatumGetCString(values[0]), r->name);
}

void
gnngp_require_parents(const gnngp_schema *s)
{
	for (int i = 0; i < s->nrelations; i++)
	{
		const gnngp_schema_relation *r = &s->relation[i];
		const gnngp_schema_table *t = &s->table[r->parent];
		parent_key key = {s, r};
		Oid			type;
		gnngp_query q;

		if (!r->named)
			continue;
		char	   *key_of_row = gnngp_key_expression(t, "t", r->n, r->to, &type);
		gnngp_query_init(&q, &t->table);
		gnngp_query_add(&q, TEXTOID, "(%s)::pg_catalog.text", key_of_row);
		q.condition = psprintf("%s GROUP BY %s HAVING count(*) > 1 LIMIT 1",
							   gnngp_key_condition(t, "t", r->n, r->to), key_of_row);
		gnngp_query_plan(&q);
		gnngp_query_run(&q, s->env, repeated_key, &key, GP_PHASE_NODES, 0);
	}
}

int
gnngp_referred_table(const gnngp_schema *s, Oid table, AttrNumber column, int *referred_column)
{
	int			found = -1;
	ListCell   *cell;

	foreach(cell, foreign_keys(table))
	{
		const ForeignKeyCacheInfo *key = lfirst(cell);
		int			parent = gnngp_schema_find(s, key->confrelid);

		if (key->nkeys != 1 || key->conkey[0] != column || parent < 0 ||
			(found >= 0 && found <= parent))
			continue;
		found = parent;
		*referred_column = column_at(&s->table[parent], key->confkey[0]);
	}
	return found;
}
