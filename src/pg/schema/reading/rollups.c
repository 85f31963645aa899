/*
 * rollups.c - children as part of their parents' rows.
 *
 * Children without a time of their own, such as the items of an order, are part of their parent's
 * row: their number, and the mean and the sum of each number, the mean of each number of what they
 * refer to.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "table_join.h"

#define ROLLUP_LEVELS 2			/* up from its children */

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
		.child = farther < 0 ? j->root : gnngp_join_add_parent(j, farther, j->root, NULL, 1),
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
		gnngp_join_awaited(j, relation);
	else
		gnngp_join_levels(j, relation, ROLLUP_LEVELS);
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
	gnngp_join_add(j, (gnngp_joined) {.name = j->schema->relation[u->relation].name,
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
			gnngp_join_parent(d, r) == NULL && gnngp_join_has_room(d, 0))
			(void) gnngp_join_add_parent(d, r, d->root, NULL, 1);
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
			(j->schema->rollup[i].timed || (!j->bare && gnngp_join_has_room(j, 0))))
			gnngp_join_rollup(j, i);
	if (j->first.len > 0)
		gnngp_join_add_time(j, psprintf("coalesce(least(%s), 'infinity')", j->first.data));
}
