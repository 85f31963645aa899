/*
 * table_join.c - queries over a table, what its rows refer to, and what is part of them.
 *
 * A fact shows its own columns and those of its parents, three levels up.  Children without a time
 * of their own, such as the items of an order, are part of their parent's row: their number, and
 * the mean and the sum of each number, the mean of each number of what they refer to.
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

#define ROLLUP_LEVELS 2			/* up from its children */
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

/* Adds a time to those of which the latest counts. */
static void
add_time(gnngp_join *j, const char *expression)
{
	appendStringInfo(&j->visible, "%s%s", j->visible.len > 0 ? ", " : "", expression);
}

/* True where a join has room for another table, and for some more. */
static bool
has_room(gnngp_join *j, int more)
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

/* Adds a joined table, and selects its cells. */
static void
add_joined(gnngp_join *j, gnngp_joined joined)
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
		add_time(j, there ? psprintf("CASE WHEN %s THEN %s ELSE '-infinity' END", there, known) : known);
	}
	if (!j->bare)
		row.cell = table_cells(j->schema, table, &row.ncells);
	add_joined(j, row);
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
gnngp_join_key(gnngp_join *j, int relation, const gnngp_joined *parent)
{
	const gnngp_schema_relation *r = &j->schema->relation[relation];
	gnngp_cell_source *cell = palloc(sizeof(gnngp_cell_source));

	*cell = key_cell(j->schema, relation, GP_CELL_KEY);
	add_joined(j, (gnngp_joined) {.name = r->name,.relation = relation,.alias = j->root,
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
gnngp_join_keys(gnngp_join *j)
{
	const gnngp_schema *s = j->schema;

	for (int r = 0; r < s->nrelations; r++)
	{
		const gnngp_schema_relation *relation = &s->relation[r];
		bool		is_used = relation->child == j->table && relation->n == 1 &&
			s->table[j->table].column[relation->from[0]].role == GNNGP_COLUMN_KEY;
		const gnngp_joined *parent = is_used ? gnngp_join_parent(j, r) : NULL;

		if (parent && has_room(j, 0))
			gnngp_join_key(j, r, parent);
	}
}

/* Joins what a row refers to by a relation; returns its alias. */
static const char *
join_parent(gnngp_join *j, int relation, const char *child, const char *name, int level)
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
		if (!has_room(j, ROOM_FOR_ROLLUPS))
			return;
		own = name ? psprintf("%s, %s", name, own) : own;
		const char *parent = join_parent(j, r, alias, own, list_length(path));
		join_parents(j, s->relation[r].parent, parent, own, -1, levels - 1, path);
	}
}

/*
 * Joins the parents of rows that wait for the latest of them, which may not be among those joined:
 * then they are never known.
 */
static void
join_awaited(gnngp_join *j, int but)
{
	join_parents(j, j->table, j->root, NULL, but, GNNGP_MOST_LEVELS, NIL);
	if (j->cut && gnngp_is_timed(j->schema, j->table, but, GNNGP_MOST_LEVELS))
		gnngp_join_never(j);
}

void
gnngp_join_never(gnngp_join *j)
{
	add_time(j, "'infinity'::pg_catalog.timestamptz");
}

void
gnngp_join_parents(gnngp_join *j, int but)
{
	const gnngp_schema_table *t = &j->schema->table[j->table];

	find_nearest(j, but);
	if (but >= 0 && t->time < 0 && !t->timeless)
		join_awaited(j, but);
	else
		join_parents(j, j->table, j->root, NULL, but, GNNGP_MOST_LEVELS, NIL);
}

const char *
gnngp_join_between(gnngp_join *j, int relation, int but)
{
	const gnngp_schema_relation *r = &j->schema->relation[relation];
	const char *alias = join_parent(j, relation, j->root, r->name, 1);

	gnngp_join_as_of(j);
	if (j->bare)
		return alias;
	find_nearest(j, but);
	join_parents(j, r->parent, alias, r->name, but, GNNGP_MOST_LEVELS - 1,
				 list_make1_int(r->child));
	return alias;
}

/* ---- children as part of a row ---- */

/* Adds a cell of a rollup: an aggregate of what another cell has, called by its number. */
static void
rollup_cell(gnngp_rollup *u, StringInfo list, const gnngp_cell_source *of,
		  const char *expression)
{
	appendStringInfo(list, ", %s AS c%d", expression, u->ncells);
	u->cell[u->ncells] = (gnngp_cell_source) {psprintf("c%d", u->ncells),
	{GP_CELL_NUMBER, FLOAT8OID, ""}, false, of->known, of->table, of->name, -1};
	u->ncells++;
}

/* As avg() has it, in a quarter of its time; of numbers that are all the same, none */
#define MEAN "sum(%1$s) OPERATOR(pg_catalog./) count(%1$s)"
#define MEAN_OF_DIFFERENT "CASE WHEN min(%1$s) OPERATOR(pg_catalog.<) max(%1$s) THEN " MEAN " END"

/* What is so large that sums may overflow is left out. */
#define SUMMABLE "CASE WHEN pg_catalog.abs(%1$s) OPERATOR(pg_catalog.<) 1e290 THEN %1$s END"

/* Adds the cells that aggregate the numbers of a joined table. */
static void
rollup_row(gnngp_rollup *u, StringInfo list, const gnngp_joined *p, const char *mean,
		   const char *summed, bool sums)
{
	for (int i = 0; i < p->ncells && u->ncells < GP_ENCODED_LIST - 2; i++)
	{
		const gnngp_cell_source *c = &p->cell[i];
		char	   *number = psprintf("(%s.%s)::pg_catalog.float8", p->alias, c->expression);

		if (c->type.kind != GP_CELL_NUMBER && c->type.kind != GP_CELL_INTEGER)
			continue;
		number = psprintf(summed, number);
		rollup_cell(u, list, c, psprintf(mean, number));
		if (sums)
			rollup_cell(u, list, c, psprintf("sum(%s)", number));
	}
}

/* Adds the number of children as a cell. */
static void
rollup_number(const gnngp_schema *s, gnngp_rollup *u, StringInfo list)
{
	const gnngp_schema_relation *r = &s->relation[u->relation];
	const gnngp_schema_column *key = &s->table[r->child].column[r->from[0]];

	rollup_cell(u, list, &(gnngp_cell_source) {.known = key->known,.table = r->child,
				.name = key->column.name}, "count(*)::pg_catalog.float8");
}

/*
 * Starts what is rolled up: the children, or what refers to them by a farther relation, are d, and
 * the children's keys the first that are selected.
 */
static gnngp_join *
open_rollup(const gnngp_schema *s, int relation, int farther, gnngp_rollup *u, StringInfo list)
{
	const gnngp_schema_relation *r = &s->relation[relation];
	gnngp_join *j = gnngp_join_open(s, farther < 0 ? r->child : s->relation[farther].child);
	StringInfoData keys;

	j->root = "d";
	gnngp_join_row(j);
	*u = (gnngp_rollup) {.relation = relation,
		.child = farther < 0 ? j->root : join_parent(j, farther, j->root, NULL, 1),
		.cell = palloc(sizeof(gnngp_cell_source) * GP_ENCODED_LIST)};
	initStringInfo(list);
	initStringInfo(&keys);
	for (int i = 0; i < r->n; i++)
	{
		appendStringInfo(list, "%s%s.%s AS k%d", i > 0 ? ", " : "", u->child,
						 s->table[r->child].column[r->from[i]].column.quoted, i);
		appendStringInfo(&keys, "%s%d", i > 0 ? ", " : "", i + 1);
	}
	u->keys = keys.data;
	return j;
}

static void
make_rollup(const gnngp_schema *s, int relation, gnngp_rollup *u)
{
	const gnngp_schema_relation *r = &s->relation[relation];
	const gnngp_schema_table *parent = &s->table[r->parent];
	StringInfoData list;
	gnngp_join *j = open_rollup(s, relation, -1, u, &list);

	if (parent->time >= 0)
		j->as_of = gnngp_known_expression(parent, "o");
	if (parent->time < 0 && gnngp_is_timed(s, r->child, relation, GNNGP_MOST_LEVELS))
		join_awaited(j, relation);
	else
		join_parents(j, r->child, j->root, NULL, relation, ROLLUP_LEVELS, NIL);
	u->timed = j->visible.len > 0 && parent->time < 0;
	if (u->timed)
		appendStringInfo(&list, ", min(greatest(%s)) AS v", j->visible.data);
	else
		rollup_number(s, u, &list);
	for (int i = 0; i < j->njoined && !u->timed; i++)
		rollup_row(u, &list, &j->joined[i], MEAN, "%s", i == 0);
	u->select = list.data;
	u->tables = psprintf("%s d%s%s", s->table[r->child].table.quoted,
						 j->visible.len > 0 && parent->time >= 0
						 ? psprintf(" JOIN %s o ON %s", parent->table.quoted,
									gnngp_join_equals(s, r, "d", "o")) : "", j->tables.data);
}

void
gnngp_find_rollups(gnngp_schema *s)
{
	s->totals = palloc0(sizeof(char **) * Max(s->ntables, 1));
	s->later = palloc0(sizeof(int8) * Max(s->nrelations, 1));
	s->rollup = palloc0(sizeof(gnngp_rollup) * Max(s->nrelations, 1));
	for (int r = 0; r < s->nrelations; r++)
		if (s->table[s->relation[r].child].time < 0 &&
			s->relation[r].child != s->relation[r].parent)
			make_rollup(s, r, &s->rollup[s->nrollups++]);
}

/* The condition that finds what is rolled up of a row. */
static char *
rollup_condition(const gnngp_schema *s, const gnngp_schema_relation *r, const char *alias)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < r->n; i++)
		appendStringInfo(&text, "%st.%s %s %s.k%d", i > 0 ? " AND " : "",
						 s->table[r->parent].column[r->to[i]].column.quoted, r->equals[i], alias,
						 i);
	return text.data;
}

/* The condition that children are of rows that are drawn or asked for: no others are grouped. */
static const char *
rolled_up_rows(const gnngp_join *j, const gnngp_rollup *u)
{
	const gnngp_schema_relation *r = &j->schema->relation[u->relation];
	const gnngp_schema_table *t = &j->schema->table[r->parent];
	const char *rows = psprintf("%s s", t->table.quoted);
	StringInfoData keys;

	if (j->sample[0] == '\0' && j->asked[0] == '\0')
		return "";
	initStringInfo(&keys);
	for (int i = 0; i < r->n; i++)
		appendStringInfo(&keys, "%s%s", i > 0 ? ", " : "", t->column[r->to[i]].column.quoted);
	/* The planner takes each child's parent to be among those that are drawn unless it is kept from
	 * seeing the foreign key. */
	if (j->sample[0])
		rows = psprintf("(SELECT %s FROM %s%s OFFSET 0) s", keys.data, t->table.quoted, j->sample);
	return psprintf(" WHERE EXISTS (SELECT FROM %s WHERE %s%s%s)", rows,
					gnngp_join_equals(j->schema, r, u->child, "s"), j->asked[0] ? " AND " : "", j->asked);
}

/* Joins what is rolled up, by an alias. */
static void
join_rolled_up(gnngp_join *j, const gnngp_rollup *u, const char *alias)
{
	appendStringInfo(&j->tables, " LEFT JOIN (SELECT %s FROM %s%s GROUP BY %s) %s ON %s", u->select,
					 u->tables, rolled_up_rows(j, u), u->keys, alias,
					 rollup_condition(j->schema, &j->schema->relation[u->relation], alias));
}

/* Adds the cells of what is rolled up. */
static void
add_rollup(gnngp_join *j, const gnngp_rollup *u, int encoding, const char *alias)
{
	add_joined(j, (gnngp_joined) {.name = j->schema->relation[u->relation].name,
		.relation = u->relation,.alias = alias,.encoding = encoding,.table = -1,.there = -1,
		.visible = -1,.ncells = u->ncells,.cell = u->cell});
}

/* Adds a list of what some cell of all children is, as numbers; NaN: nothing. */
static void
list_cell(gnngp_rollup *u, StringInfo list, const gnngp_cell_source *of, const char *number)
{
	rollup_cell(u, list, of, psprintf("array_agg(coalesce(%s, 'NaN'))", number));
	u->cell[u->ncells - 1].type = (gnngp_cell_type) {of->type.kind, FLOAT8ARRAYOID, ""};
}

/* Adds lists of what children are: numbers, words and keys, the latter as hashes. */
static void
list_row(gnngp_rollup *u, StringInfo list, const gnngp_joined *p)
{
	for (int i = 0; i < p->ncells && u->ncells < GNNGP_MOST_LISTED; i++)
	{
		const gnngp_cell_source *c = &p->cell[i];
		char	   *cell = psprintf("%s.%s", p->alias, c->expression);

		if (c->type.kind == GP_CELL_NUMBER || c->type.kind == GP_CELL_INTEGER)
			list_cell(u, list, c, psprintf("(%s)::pg_catalog.float8", cell));
		else if (c->type.kind == GP_CELL_WORD ||
				 (p->level == 0 && c->type.kind == GP_CELL_CATEGORY_KEY))
			list_cell(u, list, c, psprintf("pg_catalog.hashtext(%s)::pg_catalog.float8", cell));
	}
}

/* Joins what children refer to, but no rows of the table whose children they are. */
static void
join_beside(gnngp_join *d, int but)
{
	const gnngp_schema *s = d->schema;

	for (int r = 0; r < s->nrelations; r++)
		if (s->relation[r].child == d->table &&
			s->relation[r].parent != s->relation[but].parent &&
			gnngp_join_parent(d, r) == NULL && has_room(d, 0))
			(void) join_parent(d, r, d->root, NULL, 1);
}

int
gnngp_join_totals(gnngp_join *j, int relation, int farther, bool lists)
{
	gnngp_rollup u;
	StringInfoData list;
	gnngp_join *d = open_rollup(j->schema, relation, farther, &u, &list);
	const char *time = NULL;

	if (j->schema->table[d->table].time >= 0)
		/* A fact of a day may be as early as its row of that day. */
		time = gnngp_time_expression(&j->schema->table[d->table], "d");
	else if (farther < 0)
		gnngp_join_parents(d, relation);
	if (d->visible.len == 0)
		return -1;
	if (time == NULL)
		time = psprintf("greatest(%s)", d->visible.data);
	if (farther < 0 && lists)
		join_beside(d, relation);
	if (lists)
		list_cell(&u, &list, &(gnngp_cell_source) {.type.kind = GP_CELL_LIST,.table = d->table},
				  psprintf("pg_catalog.date_part('epoch', %s)", time));
	else
		rollup_number(j->schema, &u, &list);
	for (int i = 0; i < d->njoined && lists; i++)
		list_row(&u, &list, &d->joined[i]);
	if (!lists)
		rollup_row(&u, &list, &d->joined[0], MEAN_OF_DIFFERENT, SUMMABLE, true);
	appendStringInfo(&list, ", min(%s) AS u, max(%s) AS v", time, time);
	u.select = list.data;
	u.tables = psprintf("%s d%s", j->schema->table[d->table].table.quoted, d->tables.data);
	join_rolled_up(j, &u, "r");
	add_rollup(j, &u, -1, "r");
	(void) gnngp_query_add(&j->query, TIMESTAMPTZOID, "r.u");
	return gnngp_query_add(&j->query, TIMESTAMPTZOID, "r.v");
}

void
gnngp_join_rollup(gnngp_join *j, int rollup)
{
	const gnngp_rollup *u = &j->schema->rollup[rollup];
	const char *alias = psprintf("r%d", rollup);

	if (u->timed && j->schema->table[j->table].timeless)
		return;
	join_rolled_up(j, u, alias);
	if (u->timed)
	{
		appendStringInfo(&j->first, "%s%s.v", j->first.len > 0 ? ", " : "", alias);
		return;
	}
	add_rollup(j, u, gnngp_rollup_encoding(j->schema, rollup), alias);
}

void
gnngp_join_rollups(gnngp_join *j)
{
	for (int i = 0; i < j->schema->nrollups; i++)
		if (j->schema->relation[j->schema->rollup[i].relation].parent == j->table &&
			(j->schema->rollup[i].timed || (!j->bare && has_room(j, 0))))
			gnngp_join_rollup(j, i);
	if (j->first.len > 0)
		add_time(j, psprintf("coalesce(least(%s), 'infinity')", j->first.data));
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
