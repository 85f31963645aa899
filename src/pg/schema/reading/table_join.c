/*
 * table_join.c - queries over a table and what its rows refer to; what is part of them is joined by
 * rollups.c.
 *
 * A fact shows its own columns and those of its parents, three levels up.
 *
 * A row is visible from its own time on, without what comes later than it or its children: if it
 * waited for that, or its children did, their absence would tell that it comes.  A row without a
 * time is visible from the latest of those of its parents on, and not before the first of children
 * that have times by their parents.  These are no part of it, as more of them may follow.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "table_join.h"
#include "utils/lsyscache.h"

#define ROOM_FOR_ROLLUPS 4		/* beside the parents */
#define MANY_RELATIONS 20		/* in a schema: of each table the nearest rows alone are joined */

/* The key of a relation, of one column, as a word. */
static gnngp_cell_source
key_cell(const gnngp_schema *s, int relation, gp_cell_kind kind)
{
	const gnngp_schema_relation *r = &s->relation[relation];
	const gnngp_schema_column *key = &s->table[r->child].column[r->from[0]];

	return (gnngp_cell_source) {psprintf("%s::pg_catalog.text", key->column.quoted),
	{kind, TEXTOID, ""}, false, key->known, r->child, key->column.name, relation};
}

/*
 * The cells of a table, and behind its columns its keys: these may be categories, such as the kind
 * of a measurement, within which numbers are encoded.
 */
static gnngp_cell_source *
table_cells(const gnngp_schema *s, int table, int *n)
{
	const gnngp_schema_table *t = &s->table[table];
	gnngp_cell_source *cell = palloc(sizeof(gnngp_cell_source) * (t->ncolumns + s->nrelations + 1));

	*n = 0;
	for (int i = 0; i < t->ncolumns; i++)
	{
		const gnngp_schema_column *c = &t->column[i];

		if (c->role == GNNGP_COLUMN_CELL || c->role == GNNGP_COLUMN_TARGET)
			cell[(*n)++] = (gnngp_cell_source) {psprintf("%s%s", c->column.quoted, c->type.cast),
				c->type, c->role == GNNGP_COLUMN_TARGET, c->known, table, c->column.name, -1};
	}
	for (int r = 0; r < s->nrelations; r++)
	{
		const gnngp_schema_relation *k = &s->relation[r];

		if (k->child == table && k->parent != table && k->n == 1 &&
			t->column[k->from[0]].role == GNNGP_COLUMN_KEY)
			cell[(*n)++] = key_cell(s, r, GP_CELL_CATEGORY_KEY);
	}
	return cell;
}

gnngp_join *
gnngp_join_open(const gnngp_schema *s, int table)
{
	gnngp_join *j = palloc0(sizeof(gnngp_join));

	j->schema = s;
	j->table = table;
	j->root = "t";
	j->sample = j->asked = "";
	gnngp_query_init(&j->query, &s->table[table].table);
	initStringInfo(&j->tables);
	initStringInfo(&j->visible);
	initStringInfo(&j->first);
	return j;
}

void
gnngp_join_sample(gnngp_join *j, int64 many, int64 drawn)
{
	const gnngp_table *table = &j->schema->table[j->table].table;
	char		kind = get_rel_relkind(table->oid);
	int64		rows = gnngp_table_rows(table);

	if (rows < many || (kind != RELKIND_RELATION && kind != RELKIND_MATVIEW &&
						kind != RELKIND_PARTITIONED_TABLE))
		return;
	j->sample = psprintf(" TABLESAMPLE BERNOULLI (%g) REPEATABLE (1)",
						 100.0 * (double) drawn / (double) rows);
	appendStringInfoString(&j->tables, j->sample);
}

void
gnngp_join_add_time(gnngp_join *j, const char *expression)
{
	appendStringInfo(&j->visible, "%s%s", j->visible.len > 0 ? ", " : "", expression);
}

bool
gnngp_join_has_room(gnngp_join *j, int more)
{
	bool		room = j->njoined < GNNGP_MOST_JOINED - more;

	j->cut = j->cut || !room;
	return room;
}

/* A cell as a query reads it: a time that no timestamp is, is infinite. */
static const char *
cell_of(const gnngp_schema *s, const gnngp_cell_source *cell, const char *alias)
{
	const gnngp_schema_table *t = &s->table[cell->table];

	return cell->type.kind != GP_CELL_TIME ? psprintf("%s.%s", alias, cell->expression) :
		gnngp_moment_expression(&t->column[gnngp_table_find_column(t, cell->name)].column, alias);
}

void
gnngp_join_add(gnngp_join *j, gnngp_joined joined)
{
	joined.first = list_length(j->query.types);
	for (int i = 0; i < joined.ncells; i++)
		gnngp_query_add(&j->query, joined.cell[i].type.read_as, "%s",
						cell_of(j->schema, &joined.cell[i], joined.alias));
	j->joined[j->njoined++] = joined;
}

/*
 * Adds the row itself, or its parent by a relation; there tells whether it is, or NULL: always.
 */
static void
add_row(gnngp_join *j, int relation, const char *name, const char *alias, const char *there,
		int level)
{
	int			table = relation < 0 ? j->table : j->schema->relation[relation].parent;
	const gnngp_schema_table *t = &j->schema->table[table];
	gnngp_joined	row = {.name = name,.relation = relation,.alias = alias,.encoding = table,
		.table = table,.level = level,.visible = -1};

	row.there = there ? gnngp_query_add(&j->query, BOOLOID, "%s", there) : -1;
	if (t->time >= 0)
	{
		const char *time = gnngp_time_expression(t, alias);
		/* What a row refers to is there with it. */
		const char *known = level == 0 ? gnngp_known_expression(t, alias) : time;

		row.visible = gnngp_query_add(&j->query, TIMESTAMPTZOID, "%s", time);
		gnngp_join_add_time(j, there ? psprintf("CASE WHEN %s THEN %s ELSE '-infinity' END", there, known) : known);
	}
	if (!j->bare)
		row.cell = table_cells(j->schema, table, &row.ncells);
	gnngp_join_add(j, row);
}

void
gnngp_join_row(gnngp_join *j)
{
	add_row(j, -1, j->schema->table[j->table].label, j->root, NULL, 0);
}

void
gnngp_join_as_of(gnngp_join *j)
{
	if (j->as_of == NULL && j->visible.len > 0)
		j->as_of = psprintf("greatest(%s)", j->visible.data);
}

void
gnngp_join_key(gnngp_join *j, int relation, gp_cell_kind kind, const gnngp_joined *parent)
{
	const gnngp_schema_relation *r = &j->schema->relation[relation];
	gnngp_cell_source *cell = palloc(sizeof(gnngp_cell_source));

	*cell = key_cell(j->schema, relation, kind);
	gnngp_join_add(j, (gnngp_joined) {.name = r->name,.relation = relation,.alias = j->root,
		.encoding = gnngp_key_encoding(j->schema, relation),.table = r->child,
		.level = parent ? parent->level : 0,.there = parent ? parent->there : -1,
		.visible = parent ? parent->visible : -1,.ncells = 1,.cell = cell});
}

const gnngp_joined *
gnngp_join_parent(const gnngp_join *j, int relation)
{
	for (int p = 0; p < j->njoined; p++)
		if (j->joined[p].level == 1 && j->joined[p].relation == relation)
			return &j->joined[p];
	return NULL;
}

void
gnngp_join_keys(gnngp_join *j, gp_cell_kind kind)
{
	const gnngp_schema *s = j->schema;

	for (int r = 0; r < s->nrelations; r++)
	{
		const gnngp_schema_relation *relation = &s->relation[r];
		bool		is_used = relation->child == j->table && relation->n == 1 &&
			s->table[j->table].column[relation->from[0]].role == GNNGP_COLUMN_KEY;
		const gnngp_joined *parent = is_used ? gnngp_join_parent(j, r) : NULL;

		if (parent && gnngp_join_has_room(j, 0))
			gnngp_join_key(j, r, kind, parent);
	}
}

const char *
gnngp_join_add_parent(gnngp_join *j, int relation, const char *child, const char *name, int level)
{
	const gnngp_schema_relation *r = &j->schema->relation[relation];
	const gnngp_schema_table *t = &j->schema->table[r->parent];
	const char *alias = psprintf("p%d", j->njoined);

	appendStringInfo(&j->tables, " LEFT JOIN %s %s ON %s", t->table.quoted, alias,
					 gnngp_join_equals(j->schema, r, child, alias));
	if (j->as_of && t->time >= 0)
		appendStringInfo(&j->tables, " AND %s <= %s", gnngp_time_expression(t, alias), j->as_of);
	add_row(j, relation, name, alias, gnngp_key_condition(t, alias, 1, r->to), level);
	return alias;
}

/*
 * Finds how many keys each table is away from a join's rows, without one relation.  Where each
 * table refers to the users who made and changed its rows, only the nearest of them are read.  What
 * a fact without a time refers to may say since when it is known, so all of that is read.
 */
static void
find_nearest(gnngp_join *j, int but)
{
	const gnngp_schema *s = j->schema;

	if (j->nearest || s->nrelations < MANY_RELATIONS ||
		(but >= 0 && s->table[j->table].time < 0))
		return;
	j->nearest = palloc(sizeof(int) * s->ntables);
	for (int i = 0; i < s->ntables; i++)
		j->nearest[i] = i == j->table ? 0 : GNNGP_MOST_LEVELS;
	for (int level = 0; level < GNNGP_MOST_LEVELS - 1; level++)
		for (int r = 0; r < s->nrelations; r++)
		{
			int		   *parent = &j->nearest[s->relation[r].parent];

			if (r != but && j->nearest[s->relation[r].child] == level)
				*parent = Min(*parent, level + 1);
		}
}

/*
 * Joins the parents of a row except one, and theirs; on the way to it were the tables of a path.
 */
static void
join_parents(gnngp_join *j, int table, const char *alias, const char *name, int but, int levels,
			 List *path)
{
	const gnngp_schema *s = j->schema;

	path = lappend_int(list_copy(path), table);
	for (int r = 0; r < s->nrelations && levels > 0; r++)
	{
		const char *own = s->relation[r].name;

		if (s->relation[r].child != table || r == but)
			continue;
		/* A row and the rows above it of its own table: one level. */
		if (list_length(path) > 1 && list_member_int(path, s->relation[r].parent))
			continue;
		if (j->nearest && j->nearest[s->relation[r].parent] < list_length(path) &&
			s->relation[r].parent != j->table)
			continue;
		if (!gnngp_join_has_room(j, ROOM_FOR_ROLLUPS))
			return;
		own = name ? psprintf("%s, %s", name, own) : own;
		const char *parent = gnngp_join_add_parent(j, r, alias, own, list_length(path));
		join_parents(j, s->relation[r].parent, parent, own, -1, levels - 1, path);
	}
}

void
gnngp_join_levels(gnngp_join *j, int but, int levels)
{
	join_parents(j, j->table, j->root, NULL, but, levels, NIL);
}

void
gnngp_join_awaited(gnngp_join *j, int but)
{
	gnngp_join_levels(j, but, GNNGP_MOST_LEVELS);
	if (j->cut && gnngp_is_timed(j->schema, j->table, but, GNNGP_MOST_LEVELS))
		gnngp_join_never(j);
}

void
gnngp_join_never(gnngp_join *j)
{
	gnngp_join_add_time(j, "'infinity'::pg_catalog.timestamptz");
}

void
gnngp_join_parents(gnngp_join *j, int but)
{
	const gnngp_schema_table *t = &j->schema->table[j->table];

	find_nearest(j, but);
	if (but >= 0 && t->time < 0 && !t->timeless)
		gnngp_join_awaited(j, but);
	else
		gnngp_join_levels(j, but, GNNGP_MOST_LEVELS);
}

const char *
gnngp_join_between(gnngp_join *j, int relation, int but)
{
	const gnngp_schema_relation *r = &j->schema->relation[relation];
	const char *alias = gnngp_join_add_parent(j, relation, j->root, r->name, 1);

	gnngp_join_as_of(j);
	if (j->bare)
		return alias;
	find_nearest(j, but);
	join_parents(j, r->parent, alias, r->name, but, GNNGP_MOST_LEVELS - 1,
				 list_make1_int(r->child));
	return alias;
}

int
gnngp_join_visible(gnngp_join *j)
{
	return gnngp_query_add_text(&j->query, TIMESTAMPTZOID, j->visible.len == 0 ? GNNGP_TIMELESS :
								psprintf("greatest(%s)", j->visible.data));
}

/* For an error's CONTEXT: the children that are part of a row. */
static void
rollup_context(void *arg)
{
	const gnngp_join *j = arg;

	for (int p = 0; p < j->njoined; p++)
		if (j->joined[p].table < 0)
			errcontext("adding up the rows of %s", j->joined[p].name);
}

void
gnngp_join_run(gnngp_join *j, gp_env *env, gnngp_row_fn row, void *state, gp_phase phase,
			   int64 total)
{
	ErrorContextCallback context = {error_context_stack, rollup_context, j};

	error_context_stack = &context;
	j->query.joins = j->tables.data;
	gnngp_query_plan(&j->query);
	gnngp_query_run(&j->query, env, row, state, phase, total);
	error_context_stack = context.previous;
}
