/*
 * late_keys.c - keys by which rows without a time come to refer to rows with times after they were
 * written.
 */
#include "postgres.h"

#include "table_join.h"

#define MANY_ROWS 10000			/* from so many on a sample is looked at, */
#define SAMPLED_ROWS 5000		/* of about so many */
#define LATER_ROWS 0.01			/* share of rows that are later by a key than by others */

/* A key of rows with a time, beside their other keys. */
typedef struct late_key
{
	int			own;			/* the query's columns of the time by it, */
	int			others;			/* and by all others */
	int64		both;			/* rows that have times by it and by others, */
	int64		later;			/* of these later by it, */
	int64		alone;			/* by it alone, */
	int64		without;		/* by others alone, */
	int64		bare;			/* by none */
} late_key;

static void
late_key_row(void *state, const Datum *values, const bool *nulls)
{
	late_key   *k = state;
	gp_time		own = gnngp_time_of(values[k->own], nulls[k->own]);
	gp_time		others = gnngp_time_of(values[k->others], nulls[k->others]);

	if (own == GP_TIME_ALWAYS)
		(*(others == GP_TIME_ALWAYS ? &k->bare : &k->without))++;
	else if (others == GP_TIME_ALWAYS)
		k->alone++;
	else
	{
		k->both++;
		k->later += own > others;
	}
}

/*
 * True where rows may come to have a key after they were written: some lack it, and those that have
 * it refer to what is later than the rest of them.  Rows of one of several tables each do not.
 */
static bool
comes_later(const gnngp_schema *s, int relation)
{
	if (s->later[relation] != 0)
		return s->later[relation] > 0;
	gnngp_join *j = gnngp_join_open(s, s->relation[relation].child);
	late_key	k = {0};

	gnngp_join_sample(j, MANY_ROWS, SAMPLED_ROWS);
	gnngp_join_parents(j, relation);
	k.others = gnngp_join_visible(j);
	resetStringInfo(&j->visible);
	(void) gnngp_join_between(j, relation, -1);
	k.own = gnngp_join_visible(j);
	gnngp_join_run(j, s->env, late_key_row, &k, GP_PHASE_NODES, 0);
	bool		later = (k.bare > 0 && k.alone > 0) ||
		(k.without + k.bare > 0 && (double) k.later > LATER_ROWS * (double) k.both);
	s->later[relation] = later ? 1 : -1;
	return later;
}

/*
 * A key of rows without a time, other than a relation's, by which they come to refer to rows with
 * times after they were written.  Those that lack it are known before, those that have it only
 * since: a row that is not there yet tells that it will be.  NULL: none.
 */
static const gnngp_schema_relation *
find_late_key(const gnngp_schema *s, int but)
{
	int			child = s->relation[but].child;

	for (int i = 0; i < s->nrelations; i++)
	{
		const gnngp_schema_relation *k = &s->relation[i];
		const gnngp_schema_column *key = &s->table[child].column[k->from[0]];

		if (k->child == child && i != but && !key->known && !key->not_null &&
			gnngp_is_timed(s, k->parent, -1, GNNGP_MOST_LEVELS - 1) && comes_later(s, i))
			return k;
	}
	return NULL;
}

void
gnngp_leave_late_out(gnngp_join *j, int relation)
{
	const gnngp_schema *s = j->schema;
	const gnngp_schema_relation *late = find_late_key(s, relation);

	for (int i = 0; i < s->nrollups && late == NULL; i++)
		if (s->rollup[i].timed && s->relation[s->rollup[i].relation].parent == j->table)
			late = find_late_key(s, s->rollup[i].relation);
	if (late == NULL)
		return;
	gnngp_join_never(j);
	j->late = late;
}
