/*
 * schema_tables.c - the tables of a graph: their columns, keys and times.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteHandler.h"
#include "schema_internal.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

/* A hint where numbers are times. */
#define OF_NUMBERS "If it holds seconds since 1970, make a view with to_timestamp(%s), and name the view in tables and its foreign keys in keys."

/* Words that begin the name of a time at which a row is written again; */
static const char *const later_words[] = {
	"updated", "modified", "changed", "closed", "deleted", "removed", "last_updated", "last_modified",
	"last_changed", "last_update", "last_change", "completed", "finished", "ended", "cancelled", "canceled",
	"resolved", "archived", "discharged", "returned", "delivered", "last_login", "last_seen", NULL
};

/* and of a time that is known long before or after the row: of a birth, or an end. */
static const char *const other_words[] = {
	"birth", "birthday", "birthdate", "born", "dob", "date_of_birth", "expires", "expiry", "expiration", "expired",
	"due", "until", "valid_until", "valid_to", "end", "deadline", NULL
};

/* What may follow them. */
static const char *const name_ends[] = {
	"", "_at", "_on", "_time", "_date", "_day", "at", "_ts", "_timestamp", NULL
};

/* True for a name that is one of these words, with what may follow it. */
static bool
is_named(const char *name, const char *const *words)
{
	for (; *words; words++)
	{
		size_t		length = strlen(*words);

		if (pg_strncasecmp(name, *words, length) != 0)
			continue;
		for (int k = 0; name_ends[k]; k++)
			if (pg_strcasecmp(name + length, name_ends[k]) == 0)
				return true;
	}
	return false;
}

static bool
is_nextval(Oid function, void *unused)
{
	return function == F_NEXTVAL;
}

/* Walks an expression for a number that is drawn from a sequence. */
static bool
draws_number(Node *node, void *unused)
{
	return node != NULL &&
		(IsA(node, NextValueExpr) || check_functions_in_node(node, is_nextval, NULL) ||
		 expression_tree_walker(node, draws_number, NULL));
}

/* True for a column that numbers the rows, a key by another name: an identity, or serial. */
static bool
is_numbered(Relation rel, Form_pg_attribute att)
{
	return att->attidentity || (att->atthasdef && !att->attgenerated &&
								draws_number(build_column_default(rel, att->attnum), NULL));
}

/* Looks up the columns and the primary key of a locked table. */
static void
find_columns(gnngp_schema_table *t)
{
	Relation	rel = relation_open(t->table.oid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *key = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_PRIMARY_KEY);
	bool		all = pg_class_aclcheck(t->table.oid, GetUserId(), ACL_SELECT) == ACLCHECK_OK;

	t->column = palloc0(sizeof(gnngp_schema_column) * Max(desc->natts, 1));
	t->id = palloc0(sizeof(int) * Max(desc->natts, 1));
	t->time = -1;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		gnngp_schema_column *c = &t->column[t->ncolumns];
		const char *name = NameStr(att->attname);
		bool		is_id;

		if (att->attisdropped)
			continue;
		c->column = (gnngp_column) {pstrdup(name), pstrdup(quote_identifier(name)), att->atttypid,
									getBaseType(att->atttypid)};
		c->number = att->attnum;
		c->not_null = att->attnotnull;
		c->role = gnngp_cell_type_of(c->column.base, &c->type) ? GNNGP_COLUMN_CELL :
			GNNGP_COLUMN_TYPE;
		if (!all && pg_attribute_aclcheck(t->table.oid, att->attnum, GetUserId(),
										  ACL_SELECT) != ACLCHECK_OK)
			c->role = GNNGP_COLUMN_HIDDEN;
		is_id = bms_is_member(att->attnum - FirstLowInvalidHeapAttributeNumber, key);
		if (is_id)
			t->id[t->nid++] = t->ncolumns;
		/* Of a word in a key of several columns there may be few: the kind of a measurement. */
		if (is_id && bms_membership(key) == BMS_MULTIPLE && c->role == GNNGP_COLUMN_CELL &&
			c->type.kind == GP_CELL_WORD)
			c->type.kind = GP_CELL_KEY;
		else if (is_id ? !gnngp_is_time_type(c->column.base) :
				 c->role == GNNGP_COLUMN_CELL && is_numbered(rel, att))
			c->role = GNNGP_COLUMN_KEY;
		t->ncolumns++;
	}
	relation_close(rel, NoLock);
}

gnngp_schema_table
gnngp_schema_table_open(gnngp_table table)
{
	gnngp_schema_table t = {.table = table,.label = get_rel_name(table.oid)};

	find_columns(&t);
	return t;
}

int
gnngp_table_id(const gnngp_schema_table *t, const gnngp_graph_def *task)
{
	int			id = t->nid == 1 ? t->id[0] : gnngp_table_find_column(t, "id");

	if (id < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" of task \"%s\" has no primary key of one column", t->table.name, task->name),
				 errhint("The rows that are asked about need an id of one column: a primary key, or a column \"id\", such as ALTER TABLE %s ADD id bigint GENERATED ALWAYS AS IDENTITY.",
						 t->table.name)));
	return id;
}

/* True where the present user may read a table, or some columns of it. */
static bool
may_read(Oid oid)
{
	return gnngp_schema_usable(get_rel_namespace(oid), GetUserId()) &&
		(pg_class_aclcheck(oid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck_all(oid, GetUserId(), ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK);
}

/* Names each table by its name alone where that is one table's. */
static void
label_tables(gnngp_tables *s)
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
refuse_lost_table(const gnngp_tables *s, int place, const char *name)
{
	const gnngp_tables_def *def = &s->def->tables;
	StringInfoData others;

	if (s->altered || def->timed[place] == '?' || GetUserId() != s->def->owner_role)
		return;
	initStringInfo(&others);
	for (int i = 0; i < def->tables.n; i++)
	{
		Oid			oid = def->tables.oid[i];
		const char *schema = may_read(oid) ? get_namespace_name(get_rel_namespace(oid)) : NULL;
		const char *table = schema ? get_rel_name(oid) : NULL;

		if (table)
			appendStringInfo(&others, "%s%s", others.len > 0 ? ", " : "",
							 quote_literal_cstr(quote_qualified_identifier(schema, table)));
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("role \"%s\" may not read table \"%s\" now, and could when graph \"%s\" was made",
					GetUserNameFromId(GetUserId(), false), name, s->def->name),
			 errhint("Grant it SELECT on table \"%s\", or leave the table out: gp_alter_graph(%s, tables => ARRAY[%s]::regclass[]).",
					 name, quote_literal_cstr(s->def->name), others.data)));
}

/* Locks the tables; those that may not be read are left out. */
static void
open_tables(gnngp_tables *s)
{
	const gnngp_tables_def *def = &s->def->tables;

	s->table = palloc0(sizeof(gnngp_schema_table) * Max(def->tables.n, 1));
	for (int i = 0; i < def->tables.n; i++)
	{
		gnngp_source_name name = {NULL, NULL};
		gnngp_table table;

		if (def->names.n > 2 * i + 1)
			name = (gnngp_source_name) {def->names.text[2 * i], def->names.text[2 * i + 1]};
		table = gnngp_table_open(def->tables.oid[i], &name, def->kinds[i], "tables", s->def);
		if (!may_read(table.oid))
		{
			refuse_lost_table(s, i, table.name);
			if (s->altered)
				ereport(NOTICE,
						(errmsg("table \"%s\" is left out of graph \"%s\": role \"%s\" may not read it", table.name,
								s->def->name, GetUserNameFromId(GetUserId(), false))));
			continue;
		}
		s->table[s->ntables].table = table;
		find_columns(&s->table[s->ntables]);
		gnngp_find_reads(&s->table[s->ntables++]);
	}
	if (s->ntables == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" may read none of the tables of graph \"%s\"",
						GetUserNameFromId(GetUserId(), false), s->def->name),
				 errhint("Grant it SELECT on them.")));
	label_tables(s);
}

/* ---- times ---- */

/* How likely a column is the time of its rows, from 0 on: moments, days, other times. */
static int
time_rank(const gnngp_schema_column *c)
{
	return is_named(c->column.name, other_words) ? 2 : c->column.base == DATEOID;
}

/* Those of the columns that may be the time of a table's rows that are NOT NULL, or all. */
static List *
times_among(const gnngp_schema_table *t, bool nullable)
{
	List	   *found = NIL;

	for (int later = 0; later < 2 && found == NIL; later++)
		for (int rank = 0; rank < (nullable ? 2 : 3); rank++)
			for (int i = 0; i < t->ncolumns; i++)
			{
				const gnngp_schema_column *c = &t->column[i];

				if (gnngp_is_time_type(c->column.base) && (nullable || c->not_null) &&
					(c->role == GNNGP_COLUMN_CELL || c->role == GNNGP_COLUMN_HIDDEN) &&
					time_rank(c) == rank &&
					(later == 1 || !is_named(c->column.name, later_words)))
					found = lappend_int(found, i);
			}
	/* A birth is none by itself. */
	return found == NIL || time_rank(&t->column[linitial_int(found)]) < 2 ? found : NIL;
}

List *
gnngp_time_candidates(const gnngp_schema_table *t, bool or_nullable)
{
	List	   *sure = times_among(t, false);

	return sure != NIL || !or_nullable ? sure : times_among(t, true);
}

/* The names of columns, for a message. */
static char *
column_names(const gnngp_schema_table *t, List *columns)
{
	StringInfoData text;
	ListCell   *cell;

	initStringInfo(&text);
	foreach(cell, columns)
		appendStringInfo(&text, "%s\"%s\"", text.len > 0 ? ", " : "",
						 t->column[lfirst_int(cell)].column.name);
	return text.data;
}

/* A member of times: the time of a table, or of a column; column NULL: it has none of its own. */
static char *
time_pair(const char *name, const char *column)
{
	StringInfoData json;

	initStringInfo(&json);
	escape_json(&json, name);
	appendStringInfoString(&json, ": ");
	if (column)
		escape_json(&json, column);
	else
		appendStringInfoString(&json, "null");
	return json.data;
}

/*
 * The argument times that has what is given and one more pair (column NULL: null); with name NULL
 * a pair for each table that needs one.
 */
static char *
times_argument(const gnngp_tables *s, const char *name, const char *column)
{
	StringInfoData json;
	ListCell   *cell;
	List	   *members = NIL;

	foreach(cell, gnngp_json_pairs(s->def->tables.times, "times"))
	{
		const gnngp_json_pair *pair = lfirst(cell);

		if (name == NULL || strcmp(pair->key, name) != 0)
			members = lappend(members, time_pair(pair->key, pair->value));
	}
	if (name)
		members = lappend(members, time_pair(name, column));
	for (int i = 0; i < s->ntables; i++)
	{
		const gnngp_schema_table *t = &s->table[i];

		if (name == NULL && list_length(t->candidates) > 1)
			members = lappend(members,
							  time_pair(t->label,
										t->column[linitial_int(t->candidates)].column.name));
	}
	initStringInfo(&json);
	foreach(cell, members)
		appendStringInfo(&json, "%s%s", json.len > 0 ? ", " : "", (char *) lfirst(cell));
	return psprintf("times => %s", quote_literal_cstr(psprintf("{%s}", json.data)));
}

char *
gnngp_times_known(const gnngp_tables *s, int table, const char *column)
{
	return time_pair(psprintf("%s.%s", s->table[table].label, column), NULL);
}

bool
gnngp_has_parent(const gnngp_tables *s, int table)
{
	for (int r = 0; r < s->nrelations; r++)
		if (s->relation[r].child == table && s->relation[r].parent != table)
			return true;
	return false;
}

/* 42702 where a table has several columns that may be its time: that is the user's to say. */
static void
require_one_time(const gnngp_tables *s)
{
	StringInfoData tables;
	int			n = 0;

	initStringInfo(&tables);
	for (int i = 0; i < s->ntables; i++)
		if (list_length(s->table[i].candidates) > 1)
			appendStringInfo(&tables, "%stable \"%s\" has several columns that may be the time of its rows: %s",
							 n++ > 0 ? "; " : "", s->table[i].table.name,
							 column_names(&s->table[i], s->table[i].candidates));
	if (n > 0)
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_COLUMN),
				 errmsg("%s", tables.data),
				 errhint("Name the column that says since when a row is known, such as %s. null means that the table has no time.",
						 times_argument(s, NULL, NULL))));
}

/* The place of a table among those of the definition. */
static int
table_place(const gnngp_tables_def *def, const gnngp_schema_table *t)
{
	int			place = 0;

	while (place < def->tables.n - 1 && def->tables.oid[place] != t->table.oid)
		place++;
	return place;
}

/*
 * 55000 for a table whose time is not what it was when the graph was made: of a table without time
 * all rows are known always, those of the future too, and by another column some are known early.
 */
static void
require_former_time(const gnngp_tables *s, const gnngp_schema_table *t)
{
	const gnngp_tables_def *def = &s->def->tables;
	int			place = table_place(def, t);
	const char *former = def->time.text[place];
	List	   *others = gnngp_time_candidates(t, true);
	const char *now = t->time < 0 ? "" : t->column[t->time].column.name;
	const char *column = others == NIL ? NULL : t->column[linitial_int(others)].column.name;
	int			at = gnngp_table_find_column(t, former);

	/* Of a table that was not readable then, nobody was told that it is without time. */
	if (def->timed[place] == '?' ? s->altered || t->time >= 0 || others == NIL :
		strcmp(former, now) == 0)
		return;
	if (at >= 0 && gnngp_is_time_type(t->column[at].column.base))
		column = former;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 t->time < 0 ?
			 errmsg("table \"%s\" has no time column now, and had one when graph \"%s\" was made", t->table.name,
					s->def->name) :
			 former[0] == '\0' ?
			 errmsg("table \"%s\" had no time column when graph \"%s\" was made, and now column \"%s\" may be one",
					t->table.name, s->def->name, now) :
			 errmsg("column \"%s\" was the time of table \"%s\" when graph \"%s\" was made, and now column \"%s\" would be",
					former, t->table.name, s->def->name, now),
			 get_rel_relkind(t->table.oid) == RELKIND_VIEW ? 0 :
			 errdetail("A time column has type date or timestamp and is NOT NULL."),
			 errhint("Name the time column, or null for none: gp_alter_graph(%s, %s).",
					 quote_literal_cstr(s->def->name), times_argument(s, t->label, column))));
}

/* Tells of a number that by its name is the time of the rows of a table without one. */
static void
notice_number(const gnngp_schema_table *t)
{
	static const char *const ends[] = {"at", "ts", "timestamp", "epoch"};

	for (int i = 0; i < t->ncolumns; i++)
		for (size_t k = 0; k < lengthof(ends); k++)
		{
			const gnngp_schema_column *c = &t->column[i];
			const char *word = strrchr(c->column.name, '_');

			if (c->role != GNNGP_COLUMN_CELL || !gnngp_is_number_type(c->column.base) ||
				pg_strcasecmp(word ? word + 1 : c->column.name, ends[k]) != 0)
				continue;
			ereport(NOTICE,
					(errmsg("table \"%s\" has no time column: its rows count as known at all times", t->table.name),
					 errdetail("Column \"%s\" could be its time, but has type %s.", c->column.name,
							   format_type_be(c->column.type)),
					 errhint(OF_NUMBERS, c->column.quoted)));
			return;
		}
}

/* Chooses the time column of a table that times does not name. */
static void
choose_time(gnngp_tables *s, int i)
{
	gnngp_schema_table *t = &s->table[i];
	List	   *others;

	t->candidates = gnngp_time_candidates(t, gnngp_has_parent(s, i));
	if (list_length(t->candidates) == 1)
	{
		t->time = linitial_int(t->candidates);
		if (!t->column[t->time].not_null && s->altered)
			ereport(NOTICE,
					(errmsg("column \"%s\" is the time of table \"%s\" and allows NULL: rows without a time are left out",
							t->column[t->time].column.name, t->table.name),
					 errhint("If it is not the time of the rows, add %s to times.", time_pair(t->label, NULL))));
	}
	others = t->candidates == NIL ? gnngp_time_candidates(t, true) : NIL;
	if (t->candidates == NIL && others == NIL && s->altered)
		notice_number(t);
	if (others != NIL && s->altered)
		ereport(NOTICE,
				(errmsg("table \"%s\" has no time column: its rows count as known at all times", t->table.name),
				 errdetail("These columns could be its time, but allow NULL: %s.", column_names(t, others)),
				 errhint("To use one, add %s to times.",
						 time_pair(t->label, t->column[linitial_int(others)].column.name))));
}

/* True for a table whose rows have times, be it one of the graph's or not. */
static bool
has_time(const gnngp_tables *s, Oid oid)
{
	int			i = gnngp_schema_find(s, oid);
	gnngp_schema_table t;

	if (i >= 0)
		return s->table[i].time >= 0;
	t = gnngp_schema_table_open((gnngp_table) {.oid = oid});
	return gnngp_time_candidates(&t, true) != NIL;
}

/* True where a table refers to another. */
static bool
refers_to(const gnngp_tables *s, int table, int parent)
{
	for (int r = 0; r < s->nrelations; r++)
		if (s->relation[r].child == table && s->relation[r].parent == parent)
			return true;
	return false;
}

/*
 * The first table with times that a view without one gathers rows of; or whose rows it has one by
 * one, without their times, as facts of others.  InvalidOid: none, or the user says that it is
 * timeless.
 */
static Oid
reads_later(const gnngp_tables *s, int table)
{
	const gnngp_schema_table *t = &s->table[table];
	ListCell   *cell;

	if (t->time >= 0 || t->timeless || (!t->gathers && !gnngp_has_parent(s, table)))
		return InvalidOid;
	foreach(cell, t->reads)
	{
		int			read = gnngp_schema_find(s, lfirst_oid(cell));

		if (lfirst_oid(cell) != t->table.oid && has_time(s, lfirst_oid(cell)) &&
			(t->gathers || read < 0 || !refers_to(s, table, read)))
			return lfirst_oid(cell);
	}
	return InvalidOid;
}

/* Takes the time column that the user has named, by its name of today, or that there is none. */
static void
set_named_time(const gnngp_tables *s, gnngp_schema_table *t, const char *name)
{
	const gnngp_tables_def *def = &s->def->tables;

	if (name == NULL)
		return;
	if (!def->anew && gnngp_table_find_column(t, name) < 0)
		t->time = gnngp_table_find_column(t, def->time.text[table_place(def, t)]);
	if (t->time < 0)
		t->time = gnngp_table_require_column(s, t, name, "times");
	name = t->column[t->time].column.name;
	if (!gnngp_is_time_type(t->column[t->time].column.base))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\", which times names, has type %s, not date or timestamp", name,
						t->table.name, format_type_be(t->column[t->time].column.type)),
				 gnngp_is_number_type(t->column[t->time].column.base) ?
				 errhint(OF_NUMBERS, t->column[t->time].column.quoted) :
				 errhint("Name a column of type date or timestamp, or null for a table without time.")));
}

/* Notes that columns are known with their row, whatever their names and values say. */
static void
mark_known(const gnngp_tables *s, const gnngp_json_pair *pair)
{
	gnngp_column_list list = gnngp_column_list_read(s, pair->key, "times");

	if (pair->value)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\", which times names, cannot have a time of its own", pair->key),
				 errhint("Write null if the column is known with its row. If it is known later, leave it out with exclude => '{%s}'.",
						 pair->key)));
	for (int k = 0; k < list.n; k++)
		s->table[list.table].column[list.column[k]].known = true;
}

/* Marks the times that are written later than their rows. */
static void
mark_later(const gnngp_tables *s, gnngp_schema_table *t)
{
	for (int i = 0; i < t->ncolumns; i++)
	{
		gnngp_schema_column *c = &t->column[i];

		if (i == t->time || c->role != GNNGP_COLUMN_CELL || c->type.kind != GP_CELL_TIME ||
			c->known || !is_named(c->column.name, later_words))
			continue;
		c->role = GNNGP_COLUMN_LATER;
		if (s->altered)
			ereport(NOTICE,
					(errmsg("column \"%s\" of table \"%s\" is left out: its name says that it is written later than the row",
							c->column.name, t->table.name),
					 errhint("If it is known with its row, add %s to times. Other columns that are written later can be left out with exclude => '{table.column}'.",
							 gnngp_times_known(s, (int) (t - s->table), c->column.name))));
	}
}

/*
 * 42501 where a table's time may not be read: without it, rows would be known before they are.
 * 22023 where times has null for it as a column.
 */
static void
require_time(const gnngp_tables *s, const gnngp_schema_table *t)
{
	const gnngp_schema_column *c = &t->column[t->time];

	if (c->role == GNNGP_COLUMN_HIDDEN)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" may not read column \"%s\" of table \"%s\", the time of its rows",
						GetUserNameFromId(GetUserId(), false), c->column.name, t->table.name),
				 errhint("Grant it SELECT on the column. If that is not the time of the rows, pass %s.",
						 times_argument(s, t->label, NULL))));
	if (c->known)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\", for which times has null, is the time of table \"%s\"", c->column.name,
						t->table.name),
				 errhint("If the table has no time, pass times => '{\"%s\": null}'.", t->label)));
}

/* Gives each table its time. */
static void
find_times(gnngp_tables *s)
{
	bool	   *named = palloc0(sizeof(bool) * Max(s->ntables, 1));
	List	   *pairs = gnngp_json_pairs(s->def->tables.times, "times");
	ListCell   *cell;

	foreach(cell, pairs)
	{
		const gnngp_json_pair *pair = lfirst(cell);
		int			i;

		if (gnngp_schema_names_column(s, pair->key))
		{
			mark_known(s, pair);
			continue;
		}
		i = gnngp_schema_table_named(s, pair->key, "times");
		named[i] = true;
		s->table[i].timeless = pair->value == NULL;
		set_named_time(s, &s->table[i], pair->value);
	}
	/* What a view gathers has no time by itself, and what it reads may have one. */
	for (int gathers = 0; gathers < 2; gathers++)
		for (int i = 0; i < s->ntables; i++)
			if (!named[i] && s->table[i].gathers == gathers &&
				!(gathers && OidIsValid(reads_later(s, i))))
				choose_time(s, i);
	require_one_time(s);
	for (int i = 0; i < s->ntables; i++)
	{
		if (!(named[i] && s->def->tables.anew))
			require_former_time(s, &s->table[i]);
		if (s->table[i].time >= 0)
		{
			require_time(s, &s->table[i]);
			s->table[i].column[s->table[i].time].role = GNNGP_COLUMN_TIME;
		}
		mark_later(s, &s->table[i]);
	}
}

/* Marks the columns that must not be used, and sets the relations that need one of them aside. */
static void
mark_excluded(gnngp_tables *s)
{
	const gnngp_texts *exclude = &s->def->tables.exclude;

	for (int i = 0; i < exclude->n; i++)
	{
		gnngp_column_list list = gnngp_column_list_read(s, exclude->text[i], "exclude");
		gnngp_schema_table *t = &s->table[list.table];

		for (int k = 0; k < list.n; k++)
			if (list.column[k] != t->time)
				t->column[list.column[k]].role = GNNGP_COLUMN_EXCLUDED;
	}
	for (int r = 0; r < s->nrelations; r++)
		for (int k = 0; k < s->relation[r].n; k++)
			s->relation[r].aside |= s->table[s->relation[r].child]
				.column[s->relation[r].from[k]].role == GNNGP_COLUMN_EXCLUDED;
}

bool
gnngp_table_leave_out(gnngp_tables *s, int table)
{
	gnngp_schema_table *t = &s->table[table];
	bool		known = false;
	bool		any = false;

	for (int k = 0; k < t->ncolumns; k++)
		if (t->column[k].role == GNNGP_COLUMN_CELL)
		{
			known = known || t->column[k].known;
			any = any || !t->column[k].known;
			if (!t->column[k].known)
				t->column[k].role = GNNGP_COLUMN_GATHERED;
		}
	for (int r = 0; r < s->nrelations; r++)
		if (s->relation[r].child == table && !known)
			s->relation[r].aside = any = true;
	return any;
}

/* Leaves views out that show what happens later. */
static void
leave_views_out(gnngp_tables *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		gnngp_schema_table *t = &s->table[i];
		Oid			later = reads_later(s, i);

		if (!OidIsValid(later) || !gnngp_table_leave_out(s, i))
			continue;
		t->later = get_rel_name(later);
		if (s->altered)
			ereport(NOTICE,
					(errmsg("view \"%s\" is left out: it reads table \"%s\", whose rows have times, and may show later ones",
							t->table.name, t->later),
					 errhint("Use a view of single rows with their times, or take it out of tables. If its values are known at all times, add %s to times.",
							 time_pair(t->label, NULL))));
	}
	gnngp_set_relations_aside(s);
}

/* Tells of tables that no foreign key connects: no task sees them. */
static void
notice_unconnected(const gnngp_tables *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		bool		alone = s->ntables > 1;

		for (int r = 0; alone && r < s->nrelations + s->naside; r++)
			alone = s->relation[r].child != i && s->relation[r].parent != i;
		if (alone)
			ereport(NOTICE,
					(errmsg("no foreign key connects table \"%s\" to the others of graph \"%s\"",
							s->table[i].table.name, s->def->name),
					 errhint("Name those that the catalog does not have: keys => '{\"%s.column\": \"table.column\"}'.",
							 s->table[i].label)));
	}
}

gnngp_tables *
gnngp_schema_open(gp_env *env, const gnngp_graph_def *def, bool altered)
{
	gnngp_tables *s = palloc0(sizeof(gnngp_tables));

	s->env = env;
	s->def = def;
	s->altered = altered;
	open_tables(s);
	gnngp_find_relations(s);
	find_times(s);
	mark_excluded(s);
	leave_views_out(s);
	if (altered)
		notice_unconnected(s);
	return s;
}

Oid
gnngp_schema_hidden(const gnngp_tables *s)
{
	for (int i = 0; i < s->def->tables.tables.n; i++)
		if (!may_read(s->def->tables.tables.oid[i]))
			return s->def->tables.tables.oid[i];
	for (int i = 0; i < s->ntables; i++)
		for (int k = 0; k < s->table[i].ncolumns; k++)
			if (s->table[i].column[k].role == GNNGP_COLUMN_HIDDEN)
				return s->table[i].table.oid;
	return InvalidOid;
}
