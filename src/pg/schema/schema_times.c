/*
 * schema_times.c - which column is the time of a table's rows, and which are written later by their
 * names.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "schema_internal.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* A hint where numbers are times. */
#define OF_NUMBERS "If it holds seconds since 1970, make a view with to_timestamp(%s), and name the view in tables and its foreign keys in keys."

#define WITHOUT_TIME "table \"%s\" has no time column: its rows count as known at all times"

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

/* How likely a column is the time of its rows, from 0 on: moments, days, other times. */
static int
time_rank(const gnngp_schema_column *c)
{
	return is_named(c->column.name, other_words) ? 2 : c->column.base == DATEOID;
}

/*
 * The time columns that may be the rows' time, NOT NULL or nullable ones, the likeliest first.
 * Names that mean a later change count only where there is no other; a birth only if it is NOT
 * NULL, and never as the first.
 */
static List *
times_among(const gnngp_schema_table *t, bool nullable)
{
	List	   *found[2][3] = {0};	/* by whether the name means a later change, then by rank */

	for (int i = 0; i < t->ncolumns; i++)
	{
		const gnngp_schema_column *c = &t->column[i];
		List	  **alike = &found[is_named(c->column.name, later_words)][time_rank(c)];

		if (gnngp_is_time_type(c->column.base) && (nullable ? time_rank(c) < 2 : c->not_null) &&
			(c->role == GNNGP_COLUMN_CELL || c->role == GNNGP_COLUMN_HIDDEN))
			*alike = lappend_int(*alike, i);
	}
	for (int later = 0; later < 2; later++)
	{
		List	   *likely = list_concat(found[later][0], found[later][1]);

		if (likely != NIL || found[later][2] != NIL)
			return likely == NIL ? NIL : list_concat(likely, found[later][2]);
	}
	return NIL;
}

List *
gnngp_time_candidates(const gnngp_schema_table *t, bool or_nullable)
{
	List	   *sure = times_among(t, false);

	return sure != NIL || !or_nullable ? sure : times_among(t, true);
}

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

/* The argument with one time more than what hints have named so far: the last one has all. */
static char *
times_named(gnngp_schema *s, const gnngp_schema_table *t, const char *column)
{
	s->times_named = gnngp_json_with(s->times_named ? s->times_named : s->def->tables.times,
									 t->label, column);
	return gnngp_times_argument(s->times_named);
}

bool
gnngp_refers_to(const gnngp_schema *s, int table, int parent)
{
	for (int r = 0; r < s->nrelations; r++)
		if (s->relation[r].child == table &&
			(parent < 0 ? s->relation[r].parent != table : s->relation[r].parent == parent))
			return true;
	return false;
}

bool
gnngp_is_timed(const gnngp_schema *s, int table, int but, int levels)
{
	bool		timed = s->table[table].time >= 0;

	for (int r = 0; r < s->nrelations && levels > 0 && !timed; r++)
		timed = r != but && s->relation[r].child == table && !s->relation[r].aside &&
			gnngp_is_timed(s, s->relation[r].parent, -1, levels - 1);
	return timed;
}

/* 42702 where a table has several columns that may be its time: that is the user's to say. */
static void
require_one_time(const gnngp_schema *s)
{
	const char *times = s->def->tables.times;
	StringInfoData tables;

	initStringInfo(&tables);
	for (int i = 0; i < s->ntables; i++)
	{
		const gnngp_schema_table *t = &s->table[i];

		if (list_length(t->candidates) < 2)
			continue;
		appendStringInfo(&tables, "%stable \"%s\" has several columns that may be the time of its rows: %s",
						 tables.len > 0 ? "; " : "", t->table.name,
						 column_names(t, t->candidates));
		times = gnngp_json_with(times, t->label,
								t->column[linitial_int(t->candidates)].column.name);
	}
	if (tables.len > 0)
		gnngp_raise(AMBIGUOUS_COLUMN,
					psprintf("Name the column that says since when a row is known, such as %s. null means that the table has no time.",
							 gnngp_times_argument(times)),
					"%s", tables.data);
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

static bool
is_time_as_before(const gnngp_schema *s, const gnngp_schema_table *t, int place)
{
	const gnngp_tables_def *def = &s->def->tables;

	/* Of a table that was not readable then, nobody was told that it is without time. */
	if (def->timed[place] == GNNGP_TIME_UNREAD)
		return s->altered || t->time >= 0 || gnngp_time_candidates(t, true) == NIL;
	return strcmp(def->time.text[place], t->time < 0 ? "" : t->column[t->time].column.name) == 0;
}

/*
 * 55000 for a table whose time is not what it was when the graph was made: of a table without time
 * all rows are known always, those of the future too, and by another column some are known early.
 */
static void
require_former_time(const gnngp_schema *s, const gnngp_schema_table *t)
{
	int			place = table_place(&s->def->tables, t);
	const char *former = s->def->tables.time.text[place];
	List	   *others = gnngp_time_candidates(t, true);
	const char *now = t->time < 0 ? "" : t->column[t->time].column.name;
	const char *column = others == NIL ? NULL : t->column[linitial_int(others)].column.name;
	int			at = gnngp_table_find_column(t, former);

	if (is_time_as_before(s, t, place))
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
					 quote_literal_cstr(s->def->name),
					 gnngp_times_with(s, t, column))));
}

/* A NOTICE of a number that by its name is the time of the rows of a table without one. */
static void
notice_number(const gnngp_schema_table *t)
{
	static const char *const ends[] = {"at", "ts", "timestamp", "epoch"};

	for (size_t k = 0; k < lengthof(ends) * t->ncolumns; k++)
	{
		const gnngp_schema_column *c = &t->column[k / lengthof(ends)];
		const char *word = strrchr(c->column.name, '_');

		if (c->role != GNNGP_COLUMN_CELL || !gnngp_is_number_type(c->column.base) ||
			pg_strcasecmp(word ? word + 1 : c->column.name, ends[k % lengthof(ends)]) != 0)
			continue;
		gnngp_notice_detail(psprintf("Column \"%s\" could be its time, but has type %s.",
									 c->column.name, format_type_be(c->column.type)),
							psprintf(OF_NUMBERS, c->column.quoted), WITHOUT_TIME, t->table.name);
		return;
	}
}

/* Chooses the time column of a table that times does not name. */
static void
choose_time(gnngp_schema *s, int i)
{
	gnngp_schema_table *t = &s->table[i];

	t->candidates = gnngp_time_candidates(t, gnngp_refers_to(s, i, -1));
	if (list_length(t->candidates) == 1)
	{
		t->time = linitial_int(t->candidates);
		if (!t->column[t->time].not_null && s->altered)
			gnngp_notice(psprintf("If it is not the time of the rows, pass %s.",
								  gnngp_times_with(s, t, NULL)),
						 "column \"%s\" is the time of table \"%s\" and allows NULL: rows without a time are left out",
						 t->column[t->time].column.name, t->table.name);
	}
	List	   *others = t->candidates == NIL ? gnngp_time_candidates(t, true) : NIL;
	if (t->candidates == NIL && others == NIL && s->altered)
		notice_number(t);
	if (others != NIL && s->altered)
		gnngp_notice_detail(psprintf("These columns could be its time, but allow NULL: %s.",
									 column_names(t, others)),
							psprintf("To use such columns, pass %s.",
									 times_named(s, t,
												 t->column[linitial_int(others)].column.name)),
							WITHOUT_TIME, t->table.name);
}

/* True for a table whose rows have times, be it one of the graph's or not. */
static bool
has_time(const gnngp_schema *s, Oid oid)
{
	int			i = gnngp_schema_find(s, oid);

	if (i >= 0)
		return s->table[i].time >= 0;
	gnngp_schema_table t = gnngp_schema_table_open((gnngp_table) {.oid = oid});
	return gnngp_time_candidates(&t, true) != NIL;
}

Oid
gnngp_reads_later(const gnngp_schema *s, int table)
{
	const gnngp_schema_table *t = &s->table[table];
	ListCell   *cell;

	if (t->time >= 0 || t->timeless || (!t->gathers && !gnngp_refers_to(s, table, -1)))
		return InvalidOid;
	foreach(cell, t->reads)
	{
		int			read = gnngp_schema_find(s, lfirst_oid(cell));

		if (lfirst_oid(cell) != t->table.oid && has_time(s, lfirst_oid(cell)) &&
			(t->gathers || read < 0 || !gnngp_refers_to(s, table, read)))
			return lfirst_oid(cell);
	}
	return InvalidOid;
}

/* Takes the time column that the user has named, by its name of today, or that there is none. */
static void
set_named_time(const gnngp_schema *s, gnngp_schema_table *t, const char *name)
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
mark_known(const gnngp_schema *s, const gnngp_json_pair *pair)
{
	gnngp_column_list list = gnngp_column_list_read(s, pair->key, "times");

	if (pair->value)
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					psprintf("Write null if the column is known with its row. If it is known later, leave it out with exclude => '{%s}'.",
							 pair->key),
					"column \"%s\", which times names, cannot have a time of its own", pair->key);
	for (int k = 0; k < list.n; k++)
		s->table[list.table].column[list.column[k]].known = true;
}

static void
mark_later(const gnngp_schema *s, gnngp_schema_table *t)
{
	for (int i = 0; i < t->ncolumns; i++)
	{
		gnngp_schema_column *c = &t->column[i];

		/* Who may not read it needs no right on what is left out. */
		if (i == t->time || (c->role != GNNGP_COLUMN_CELL && c->role != GNNGP_COLUMN_HIDDEN) ||
			c->type.kind != GP_CELL_TIME || c->known || !is_named(c->column.name, later_words))
			continue;
		c->role = GNNGP_COLUMN_LATER;
		if (s->altered)
			gnngp_note_later(s, t, c->column.name, NULL);
	}
}

/*
 * 42501 where a table's time may not be read: without it, rows would be known before they are.
 * 22023 where times has null for it as a column.
 */
static void
require_time(const gnngp_schema *s, const gnngp_schema_table *t)
{
	const gnngp_schema_column *c = &t->column[t->time];

	if (c->role == GNNGP_COLUMN_HIDDEN)
		gnngp_raise(INSUFFICIENT_PRIVILEGE,
					psprintf("Grant it SELECT on the column. If that is not the time of the rows, pass %s.",
							 gnngp_times_with(s, t, NULL)),
					"role \"%s\" may not read column \"%s\" of table \"%s\", the time of its rows",
					GetUserNameFromId(GetUserId(), false), c->column.name, t->table.name);
	if (c->known)
		gnngp_raise(INVALID_PARAMETER_VALUE,
					psprintf("If the table has no time, pass %s.",
							 gnngp_times_with(s, t, NULL)),
					"column \"%s\", for which times has null, is the time of table \"%s\"",
					c->column.name, t->table.name);
}

void
gnngp_find_times(gnngp_schema *s)
{
	bool	   *named = palloc0(sizeof(bool) * Max(s->ntables, 1));
	List	   *pairs = gnngp_json_pairs(s->def->tables.times, "times");
	ListCell   *cell;

	foreach(cell, pairs)
	{
		const gnngp_json_pair *pair = lfirst(cell);
		int			i = gnngp_timed_table(s, pair->key);

		if (i < 0)
		{
			mark_known(s, pair);
			continue;
		}
		named[i] = true;
		s->table[i].timeless = pair->value == NULL;
		set_named_time(s, &s->table[i], pair->value);
	}
	/* What a view gathers has no time by itself, and what it reads may have one. */
	for (int gathers = 0; gathers < 2; gathers++)
		for (int i = 0; i < s->ntables; i++)
			if (!named[i] && s->table[i].gathers == gathers &&
				!(gathers && OidIsValid(gnngp_reads_later(s, i))))
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
	gnngp_notice_later(s);
}
