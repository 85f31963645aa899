/*
 * schema_relations.c - the foreign keys between the tables of a graph, and a hash of all that was
 * found.
 *
 * They come from pg_constraint, with the operators that compare their columns there, and from the
 * user.  Those of partitions are their table's.
 */
#include "postgres.h"

#include "catalog/pg_constraint.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "pg/server/server.h"
#include "schema_internal.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/* The foreign keys among tables, the columns as numbers, the operators as texts for a query. */
static const char *const query =
"SELECT c.conrelid, c.confrelid, c.conkey::int4[], c.confkey::int4[],"
" ARRAY(SELECT format('OPERATOR(%I.%s)', n.nspname, o.oprname)"
"   FROM unnest(c.conpfeqop) WITH ORDINALITY AS u (op, place) JOIN pg_operator o ON o.oid = u.op"
"    JOIN pg_namespace n ON n.oid = o.oprnamespace ORDER BY u.place)"
" FROM pg_constraint c WHERE c.contype = 'f' AND c.conrelid = ANY ($1) AND c.confrelid = ANY ($1)"
"  AND c.conparentid = 0"
" ORDER BY array_position($1, c.conrelid), c.conkey, array_position($1, c.confrelid)";

/* A new relation between two tables, with room for n pairs of columns. */
static gnngp_schema_relation *
add_relation(gnngp_tables *s, int child, int parent, int n)
{
	gnngp_schema_relation *r;

	s->relation = s->nrelations == 0 ? palloc0(sizeof(gnngp_schema_relation)) :
		repalloc(s->relation, sizeof(gnngp_schema_relation) * (s->nrelations + 1));
	r = &s->relation[s->nrelations++];
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

/*
 * Reads a catalog of the server's as it is now: the transaction's snapshot may be older than our
 * locks.  Nor is that taken for parallel workers, which plans of SPI_prepare never have, where a
 * refresh has yet to take it.
 */
static void
each_catalog_row(const char *text, int nargs, const Oid *types, const Datum *values,
				 const gnngp_rows *rows)
{
	SPIPlanPtr	plan;

	PushActiveSnapshot(GetCatalogSnapshot(ConstraintRelationId));
	plan = SPI_prepare(text, nargs, unconstify(Oid *, types));
	if (plan == NULL)
		elog(ERROR, "preparing a query of the catalog returned %s", SPI_result_code_string(SPI_result));
	gnngp_each_row(plan, NULL, nargs, types, values, rows);
	SPI_freeplan(plan);
	PopActiveSnapshot();
}

/* The i-th integer of an array. */
static int32
array_integer(Datum array, int i)
{
	return ((const int32 *) gnngp_array_data(DatumGetArrayTypeP(array)))[i];
}

/* What receives the foreign keys. */
typedef struct key_rows
{
	gnngp_tables *s;
	MemoryContext context;
} key_rows;

/* Takes a foreign key. */
static void
key_row(void *state, const Datum *values, const bool *nulls)
{
	key_rows   *k = state;
	MemoryContext old = MemoryContextSwitchTo(k->context);
	int			child = gnngp_schema_find(k->s, DatumGetObjectId(values[0]));
	int			parent = gnngp_schema_find(k->s, DatumGetObjectId(values[1]));
	Datum	   *operator;
	bool	   *no_operator;
	int			n;
	gnngp_schema_relation *r;
	bool		hidden = false;

	deconstruct_array(DatumGetArrayTypeP(values[4]), TEXTOID, -1, false, TYPALIGN_INT, &operator,
					  &no_operator, &n);
	r = add_relation(k->s, child, parent, n);
	for (int i = 0; i < n; i++)
	{
		r->from[i] = column_at(&k->s->table[child], (AttrNumber) array_integer(values[2], i));
		r->to[i] = column_at(&k->s->table[parent], (AttrNumber) array_integer(values[3], i));
		r->equals[i] = TextDatumGetCString(operator[i]);
		hidden = hidden || k->s->table[child].column[r->from[i]].role == GNNGP_COLUMN_HIDDEN ||
			k->s->table[parent].column[r->to[i]].role == GNNGP_COLUMN_HIDDEN;
	}
	/* One that the user may not read is left out, as its columns are. */
	if (hidden)
		k->s->nrelations--;
	MemoryContextSwitchTo(old);
}

/* Finds the foreign keys that the server knows. */
static void
find_constraints(gnngp_tables *s)
{
	key_rows	k = {s, CurrentMemoryContext};
	gnngp_rows	rows = {.row = key_row,.state = &k};
	Datum	   *oid = palloc(sizeof(Datum) * Max(s->ntables, 1));
	Oid			type = OIDARRAYOID;
	Datum		array;

	for (int i = 0; i < s->ntables; i++)
		oid[i] = ObjectIdGetDatum(s->table[i].table.oid);
	array = PointerGetDatum(construct_array(oid, s->ntables, OIDOID, sizeof(Oid), true,
											TYPALIGN_INT));
	each_catalog_row(query, 1, &type, &array, &rows);
}

/* 42804 where the columns of a key that the user names cannot be compared. */
static void
check_types(const gnngp_tables *s, const gnngp_schema_relation *r, int i)
{
	const gnngp_column *from = &s->table[r->child].column[r->from[i]].column;
	const gnngp_column *to = &s->table[r->parent].column[r->to[i]].column;

	if (!gnngp_matches_id_type(from->base, to->base))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" has type %s, but column \"%s\" of table \"%s\", which it refers to, has type %s",
						from->name, s->table[r->child].table.name, format_type_be(from->type),
						to->name,
						s->table[r->parent].table.name, format_type_be(to->type)),
				 errhint("Use a view that casts the column.")));
}

/* Takes a key that the user names. */
static void
add_named_key(gnngp_tables *s, const gnngp_json_pair *pair)
{
	gnngp_column_list from = gnngp_column_list_read(s, pair->key, "keys");
	gnngp_column_list to = {0};
	gnngp_schema_relation *r;

	if (pair->value)
		to = gnngp_column_list_read(s, pair->value, "keys");
	if (from.n != to.n || from.n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"keys\": \"%s\" and \"%s\" have different numbers of columns", pair->key,
						pair->value ? pair->value : "null"),
				 errhint("Write keys => '{\"results.driver_id\": \"drivers.id\"}'.")));
	r = add_relation(s, from.table, to.table, from.n);
	r->named = true;
	for (int i = 0; i < from.n; i++)
	{
		r->from[i] = from.column[i];
		r->to[i] = to.column[i];
		r->equals[i] = "OPERATOR(pg_catalog.=)";
		check_types(s, r, i);
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
gnngp_find_relations(gnngp_tables *s)
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
gnngp_set_relations_aside(gnngp_tables *s)
{
	const gnngp_schema_relation *all = s->relation;
	int			n = s->nrelations + s->naside;

	s->relation = palloc0(sizeof(gnngp_schema_relation) * Max(n, 1));
	s->nrelations = s->naside = 0;
	for (int i = 0; i < n; i++)
		s->relation[all[i].aside ? n - ++s->naside : s->nrelations++] = all[i];
}

/* A relation whose parent's key is looked at. */
typedef struct parent_key
{
	const gnngp_tables *schema;
	const gnngp_schema_relation *relation;
} parent_key;

/* 23505: a row that refers to this key would have several parents, and count for each of them. */
static void
repeated_key(void *state, const Datum *values, const bool *nulls)
{
	const gnngp_tables *s = ((const parent_key *) state)->schema;
	const gnngp_schema_relation *r = ((const parent_key *) state)->relation;

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("table \"%s\" repeats the key %s, which \"%s\" refers to", s->table[r->parent].table.name,
					TextDatumGetCString(values[0]), r->name),
			 errhint("Argument \"keys\" of graph \"%s\" must refer to columns that identify a row. Use a view that has each key once.",
					 s->def->name)));
}

void
gnngp_require_parents(const gnngp_tables *s)
{
	for (int i = 0; i < s->nrelations; i++)
	{
		const gnngp_schema_relation *r = &s->relation[i];
		const gnngp_schema_table *t = &s->table[r->parent];
		parent_key key = {s, r};
		char	   *key_of_row;
		Oid			type;
		gnngp_query q;

		if (!r->named)
			continue;
		key_of_row = gnngp_key_expression(t, "t", r->n, r->to, &type);
		gnngp_query_init(&q, &t->table);
		gnngp_query_add(&q, TEXTOID, "(%s)::pg_catalog.text", key_of_row);
		q.condition = psprintf("%s GROUP BY %s HAVING count(*) > 1 LIMIT 1",
							   gnngp_key_condition(t, "t", r->n, r->to), key_of_row);
		gnngp_query_plan(&q);
		gnngp_query_run(&q, s->env, repeated_key, &key, GP_PHASE_NODES, 0);
	}
}

/* A table that a column refers to, and by which column. */
typedef struct referred
{
	const gnngp_tables *s;
	int			table;
	int		   *column;
} referred;

/* Takes the first that is among the tables. */
static void
referred_row(void *state, const Datum *values, const bool *nulls)
{
	referred   *r = state;
	int			table = gnngp_schema_find(r->s, DatumGetObjectId(values[0]));

	if (table < 0 || (r->table >= 0 && r->table <= table))
		return;
	r->table = table;
	*r->column = column_at(&r->s->table[table], DatumGetInt16(values[1]));
}

int
gnngp_referred_table(const gnngp_tables *s, Oid table, AttrNumber column, int *referred_column)
{
	static const Oid types[] = {OIDOID, INT2OID};
	Datum		values[] = {ObjectIdGetDatum(table), Int16GetDatum(column)};
	referred	r = {s, -1, referred_column};
	gnngp_rows	rows = {.row = referred_row,.state = &r};

	each_catalog_row("SELECT confrelid, confkey[1] FROM pg_constraint WHERE contype = 'f' AND conrelid = $1"
					 " AND conkey = ARRAY[$2]", lengthof(types), types, values, &rows);
	return r.table;
}

/* ---- shapes ---- */

/* A column of a shape; place -1: none. */
static const char *
column_shape(const gnngp_schema_table *t, int place, bool by_number)
{
	const gnngp_schema_column *c = &t->column[place];

	if (place < 0)
		return "-";
	return by_number ? psprintf("%d", c->number) : c->column.name;
}

uint64
gnngp_schema_shape(const gnngp_tables *s, bool by_number)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < s->ntables; i++)
	{
		const gnngp_schema_table *t = &s->table[i];

		appendStringInfo(&text, "%s %s\n", by_number ? psprintf("%u", t->table.oid) : t->table.name,
						 column_shape(t, t->time, by_number));
		for (int k = 0; k < t->ncolumns; k++)
			if (t->column[k].role != GNNGP_COLUMN_EXCLUDED)
				appendStringInfo(&text, "%s %s %d\n", column_shape(t, k, by_number),
								 gnngp_type_name(t->column[k].column.base), t->column[k].role);
	}
	for (int r = 0; r < s->nrelations; r++)
	{
		const gnngp_schema_relation *relation = &s->relation[r];

		appendStringInfo(&text, "%d %d\n", relation->child, relation->parent);
		for (int k = 0; k < relation->n; k++)
			appendStringInfo(&text, "%s %s\n",
							 column_shape(&s->table[relation->child], relation->from[k], by_number),
							 column_shape(&s->table[relation->parent], relation->to[k], by_number));
	}
	return hash_bytes_extended((unsigned char *) text.data, text.len, 0);
}
