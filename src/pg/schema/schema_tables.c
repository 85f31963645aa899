/*
 * schema_tables.c - the tables of a graph and their columns, as far as the user may read them.
 */
#include "postgres.h"

#include "access/relation.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "schema_internal.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

int
gnngp_table_find_column(const gnngp_schema_table *t, const char *name)
{
	for (int i = 0; i < t->ncolumns; i++)
		if (strcmp(t->column[i].column.name, name) == 0)
			return i;
	return -1;
}

int
gnngp_schema_find(const gnngp_schema *s, Oid table)
{
	for (int i = 0; i < s->ntables; i++)
		if (s->table[i].table.oid == table)
			return i;
	return -1;
}

/*
 * Looks up the columns and the primary key of a locked table, as far as the reader may read them,
 * and the graph's owner, whose columns a model has.
 */
static void
find_columns(gnngp_schema_table *t, Oid reader, Oid owner)
{
	Relation	rel = relation_open(t->table.oid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *key = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_PRIMARY_KEY);

	t->column = palloc0(sizeof(gnngp_schema_column) * Max(desc->natts, 1));
	t->id = palloc0(sizeof(int) * Max(desc->natts, 1));
	t->time = -1;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		gnngp_schema_column *c = &t->column[t->ncolumns];
		const char *name = NameStr(att->attname);

		if (att->attisdropped)
			continue;
		c->column = (gnngp_column) {pstrdup(name), pstrdup(quote_identifier(name)), att->atttypid,
									getBaseType(att->atttypid)};
		c->number = att->attnum;
		c->collation = att->attcollation;
		c->not_null = att->attnotnull;
		c->role = gnngp_cell_type_of(c->column.base, &c->type) ? GNNGP_COLUMN_CELL :
			GNNGP_COLUMN_TYPE;
		if (!gnngp_may_read_column(t->table.oid, att->attnum, reader) ||
			!gnngp_may_read_column(t->table.oid, att->attnum, owner))
			c->role = GNNGP_COLUMN_HIDDEN;
		bool		is_id = bms_is_member(att->attnum - FirstLowInvalidHeapAttributeNumber, key);
		if (is_id)
			t->id[t->nid++] = t->ncolumns;
		/* Of a word in a key of several columns there may be few: the kind of a measurement. */
		if (is_id && bms_membership(key) == BMS_MULTIPLE && c->role == GNNGP_COLUMN_CELL &&
			c->type.kind == GP_CELL_WORD)
			c->type.kind = GP_CELL_KEY;
		else if (is_id ? !gnngp_is_time_type(c->column.base) :
				 c->role == GNNGP_COLUMN_CELL && gnngp_is_numbered(rel, att))
			c->role = GNNGP_COLUMN_KEY;
		t->ncolumns++;
	}
	relation_close(rel, NoLock);
}

gnngp_schema_table
gnngp_schema_table_open(gnngp_table table)
{
	gnngp_schema_table t = {.table = table,.label = get_rel_name(table.oid)};

	find_columns(&t, GetUserId(), GetUserId());
	return t;
}

int
gnngp_table_id(const gnngp_schema_table *t, const gnngp_graph_def *task)
{
	int			id = t->nid == 1 ? t->id[0] : gnngp_table_find_column(t, "id");
	char		kind = get_rel_relkind(t->table.oid);
	bool		alters = kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE;

	if (id < 0)
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					psprintf("The rows that are asked about need an id of one column: a primary key, or a column \"id\"%s.",
							 alters ? psprintf(", such as ALTER TABLE %s ADD id bigint GENERATED ALWAYS AS IDENTITY", t->table.quoted) :
							 " that is another one in each row"),
					"table \"%s\" of task \"%s\" has no primary key of one column", t->table.name,
					task->name);
	return id;
}

/* True where a role may read a table, or some columns of it. */
static bool
may_read(Oid oid, Oid role)
{
	return gnngp_namespace_usable(get_rel_namespace(oid), role) &&
		(pg_class_aclcheck(oid, role, ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck_all(oid, role, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK);
}

/* Names each table by its name alone where that is one table's. */
static void
label_tables(gnngp_schema *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		const char *name = get_rel_name(s->table[i].table.oid);

		s->table[i].label = name;
		for (int k = 0; k < s->ntables; k++)
			if (k != i && strcmp(get_rel_name(s->table[k].table.oid), name) == 0)
			{
				Oid			namespace = get_rel_namespace(s->table[i].table.oid);

				s->table[i].label = psprintf("%s.%s", get_namespace_name(namespace), name);
			}
	}
}

/* 55000 where the graph's owner has lost a table: without it his models would be others, unseen. */
static void
refuse_lost_table(const gnngp_schema *s, int place, const char *name)
{
	const gnngp_tables_def *def = &s->def->tables;

	if (s->altered || def->timed[place] == GNNGP_TIME_UNREAD || GetUserId() != s->def->owner_role)
		return;
	gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE,
				psprintf("Grant it SELECT on table \"%s\", or leave the table out: gp_alter_graph(%s, tables => ...).",
						 name, quote_literal_cstr(s->def->name)),
				"role \"%s\" may not read table \"%s\" now, and could when graph \"%s\" was made",
				GetUserNameFromId(GetUserId(), false), name, s->def->name);
}

void
gnngp_open_tables(gnngp_schema *s)
{
	const gnngp_tables_def *def = &s->def->tables;
	Oid			owner = OidIsValid(s->def->owner_role) ? s->def->owner_role : GetUserId();

	bool		any = false;

	s->table = palloc0(sizeof(gnngp_schema_table) * Max(def->tables.n, 1));
	for (int i = 0; i < def->tables.n; i++)
	{
		gnngp_source_name name = {NULL, NULL};

		if (def->names.n > 2 * i + 1)
			name = (gnngp_source_name) {def->names.text[2 * i], def->names.text[2 * i + 1]};
		gnngp_table table = gnngp_table_open(def->tables.oid[i], &name, def->kinds[i], "tables", s->def);
		bool		hidden = !may_read(table.oid, GetUserId());

		if (!may_read(table.oid, owner) || (hidden && s->altered))
		{
			refuse_lost_table(s, i, table.name);
			if (s->altered)
				gnngp_notice(NULL,
							 "table \"%s\" is left out of graph \"%s\": role \"%s\" may not read it",
							 table.name, s->def->name,
							 GetUserNameFromId(may_read(table.oid, owner) ? GetUserId() : owner,
											   false));
			continue;
		}
		gnngp_schema_table *t = &s->table[s->ntables++];
		t->table = table;
		t->hidden = hidden;
		any = any || !hidden;
		/* A live answer to who may not read it is refused if it is used: that has to be known. */
		find_columns(t, hidden ? owner : GetUserId(), owner);
		gnngp_find_reads(t, table.oid);
	}
	if (!any)
		gnngp_raise(INSUFFICIENT_PRIVILEGE, "Grant it SELECT on them.",
					"role \"%s\" may read none of the tables of graph \"%s\"",
					GetUserNameFromId(GetUserId(), false), s->def->name);
	label_tables(s);
}

/* True for a column that the owner may read, and a model reads, and the present user may not. */
static bool
is_lacking(const gnngp_schema *s, const gnngp_schema_table *t, const gnngp_schema_column *c)
{
	bool		read = c->role <= GNNGP_COLUMN_KEY || c->role == GNNGP_COLUMN_TARGET ||
		c->role == GNNGP_COLUMN_HIDDEN;

	return read && !gnngp_may_read_column(t->table.oid, c->number, GetUserId()) &&
		gnngp_may_read_column(t->table.oid, c->number, gnngp_owner_role(s->def));
}

List *
gnngp_schema_hidden(const gnngp_schema *s)
{
	List	   *hidden = NIL;

	for (int i = 0; i < s->ntables; i++)
	{
		const gnngp_schema_table *t = &s->table[i];
		gnngp_table *table = palloc(sizeof(gnngp_table));
		StringInfoData names;
		int			n = 0;

		*table = t->table;
		initStringInfo(&names);
		for (int k = 0; k < t->ncolumns; k++)
			if (is_lacking(s, t, &t->column[k]))
				appendStringInfo(&names, "%s%s", n++ > 0 ? ", " : "", t->column[k].column.quoted);
		table->lacking = n > 0 && n < t->ncolumns ? names.data : NULL;
		if ((n > 0 || t->hidden) && gnngp_is_used(s, i))
			hidden = lappend(hidden, table);
	}
	return hidden;
}
