/*
 * schema_open.c - a schema while it is read: all that is looked up, and what nothing may use.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "reading/table_join.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/*
 * 22023, or 42501 where it may not be read, for the one key that says since when rows without a
 * time are known: they would be so always.
 */
static void
require_no_time(const gnngp_schema *s, const gnngp_schema_relation *r)
{
	const gnngp_schema_table *t = &s->table[r->child];

	if (t->timeless || gnngp_is_timed(s, r->child, -1, GNNGP_MOST_LEVELS) ||
		!gnngp_is_timed(s, r->parent, -1, GNNGP_MOST_LEVELS - 1))
		return;
	if (!r->excluded)
		gnngp_raise(INSUFFICIENT_PRIVILEGE,
					psprintf("Grant SELECT on the key, or take the table out of tables. If its rows are known at all times, pass %s.",
							 gnngp_times_with(s, t, NULL)),
					"role \"%s\" may not read %s, which says since when rows of table \"%s\" are known",
					GetUserNameFromId(GetUserId(), false), r->name, t->table.name);
	gnngp_raise(INVALID_PARAMETER_VALUE,
				psprintf("Take the table out of tables. If its rows are known at all times, pass %s.",
						 gnngp_times_with(s, t, NULL)),
				"argument \"exclude\": %s says since when rows of table \"%s\" are known", r->name,
				t->table.name);
}

/* Marks the columns that must not be used, and sets the relations that need one of them aside. */
static void
mark_excluded(gnngp_schema *s)
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
			if (s->table[s->relation[r].child].column[s->relation[r].from[k]].role ==
				GNNGP_COLUMN_EXCLUDED)
				s->relation[r].aside = s->relation[r].excluded = true;
	for (int r = 0; r < s->nrelations; r++)
		if (s->relation[r].aside)
			require_no_time(s, &s->relation[r]);
}

/* Leaves views out that show what happens later. */
static void
leave_views_out(gnngp_schema *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		gnngp_schema_table *t = &s->table[i];
		Oid			later = gnngp_reads_later(s, i);

		if (!OidIsValid(later) || !gnngp_leave_table_out(s, i))
			continue;
		t->later = get_rel_name(later);
		if (s->altered)
			gnngp_notice(psprintf("Use a view of single rows with their times, or take it out of tables. If its values are known at all times, pass %s.",
								  gnngp_times_with(s, t, NULL)),
						 "view \"%s\" is left out: it reads table \"%s\", whose rows have times, and may show later ones",
						 t->table.name, t->later);
	}
	gnngp_set_relations_aside(s);
}

/* NOTICEs of tables that no foreign key connects: no task sees them.  One left out has had one. */
static void
notice_unconnected(const gnngp_schema *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		bool		alone = s->ntables > 1 && s->table[i].later == NULL;

		for (int r = 0; alone && r < s->nrelations + s->naside; r++)
			alone = s->relation[r].child != i && s->relation[r].parent != i;
		if (alone)
			gnngp_notice(psprintf("Name those that the catalog does not have: keys => '{\"%s.column\": \"table.column\"}'.",
								  s->table[i].label),
						 "no foreign key connects table \"%s\" to the others of graph \"%s\"",
						 s->table[i].table.name, s->def->name);
	}
}

/* A NOTICE of columns of types that have no encoding. */
static void
notice_types(const gnngp_schema *s)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < s->ntables; i++)
		for (int k = 0; k < s->table[i].ncolumns; k++)
		{
			const gnngp_schema_column *c = &s->table[i].column[k];

			if (c->role == GNNGP_COLUMN_TYPE)
				appendStringInfo(&names, "%s%s.%s (%s)", names.len > 0 ? ", " : "",
								 s->table[i].label, c->column.name,
								 format_type_be(c->column.type));
		}
	if (names.len > 0)
		gnngp_notice("Give what they hold columns of their own, such as GENERATED ALWAYS AS (COLUMN ->> 'KEY') STORED, or a view.",
					 "columns are left out, as their types are not encoded: %s", names.data);
}

gnngp_schema *
gnngp_schema_open(gp_env *env, const gnngp_graph_def *def, bool altered)
{
	gnngp_schema *s = palloc0(sizeof(gnngp_schema));

	s->env = env;
	s->def = def;
	s->altered = altered;
	s->later_columns = gnngp_later_columns_create();
	gnngp_open_tables(s);
	gnngp_find_relations(s);
	gnngp_find_times(s);
	mark_excluded(s);
	leave_views_out(s);
	gnngp_require_texts(s);
	if (altered)
	{
		notice_types(s);
		notice_unconnected(s);
	}
	return s;
}

/* Plans a look at what lies behind views and partitions, which locks it. */
static void
lock_behind(const gnngp_schema *s)
{
	for (int i = 0; i < s->ntables; i++)
	{
		gnngp_query q;

		if (s->table[i].hidden)
			continue;
		gnngp_query_init(&q, &s->table[i].table);
		gnngp_query_add(&q, INT4OID, "1");
		gnngp_query_plan(&q);
	}
}

void
gnngp_schema_begin(gnngp_schema_use *use, gp_env *env, const gnngp_graph_def *graph, bool as_owner)
{
	const gnngp_graph_def *tables = graph->task.form ? gnngp_graph_of_task(graph) : graph;

	use->saved = gnngp_become_reader(as_owner ? gnngp_owner_role(graph) : GetUserId());
	/* Not by its setting, which functions may not save from version 16 on; an abort restores it. */
	use->read_only = XactReadOnly;
	XactReadOnly = true;
	gnngp_pin("TimeZone", tables->tables.time_zone);
	gnngp_spi_connect();
	use->schema = gnngp_schema_open(env, tables, false);
	if (graph->task.form)
		gnngp_mark_target(use->schema, &graph->task);
	gnngp_find_rollups(use->schema);
	lock_behind(use->schema);
	gnngp_push_read_snapshot();
}

void
gnngp_schema_end(gnngp_schema_use *use)
{
	PopActiveSnapshot();
	gnngp_spi_finish();
	XactReadOnly = use->read_only;
	gnngp_become_again(&use->saved);
}
