/*
 * leakage_notice.c - columns that may be the answer in disguise, or are written with it.
 *
 * A row of a table may be written again when the answer is known: a customer's status, a total.  No
 * time says so.  What gives it away is how much such a column tells alone of the labels, of all or
 * of the newest: nearly everything, or about as much as the best of the facts, which have times.
 * Where the rows to predict are known, a comparison with them says more: nearly all of them lack
 * what comes with the answer.
 */
#include "postgres.h"

#include "task_reading.h"
#include "utils/builtins.h"

/* Shares of the labels that a column alone explains: */
#define OWN_SHARE 0.8			/* of the asked rows' own, a NOTICE names it */
#define FACT_SHARE 0.98			/* of facts, each of which has a time of its own; no cause does */
#define SUSPECT_SHARE 0.35		/* of the asked rows' own where that is also */
#define OF_BEST_FACT 0.8		/* this much of what the best fact explains */
#define NEWEST_LABELS 0.1		/* labels that are looked at alone, too */

/* What is asked of columns. */
typedef struct disguise
{
	const gnngp_task_reading *r;
	const gp_facts_labels *labels;
	gp_time		newest;			/* since when the newest labels are */
	double		by_facts;		/* what a column of facts tells at the most; -1: not known yet */
	List	   *noticed;		/* columns that NOTICEs have named, as their tables name them */
	List	   *exclude;		/* the same with their tables */
} disguise;

/* How much some columns tell alone, of all labels or of the newest. */
static double
explained_share(const disguise *d, int32 first, int32 width)
{
	gp_task_columns *columns = d->r->columns;

	return Max(gp_task_columns_explained_share(columns, d->labels, first, width, GP_TIME_ALWAYS),
			   gp_task_columns_explained_share(columns, d->labels, first, width, d->newest));
}

/* The most that a column of facts with times tells alone, and of earlier labels. */
static double
told_by_facts(disguise *d)
{
	const gnngp_task_reading *r = d->r;

	if (d->by_facts >= 0.0)
		return d->by_facts;
	d->by_facts = 0.0;
	for (int i = 0; i <= r->nfact_sources && d->by_facts < 1.0; i++)
	{
		int32		seen = i == r->nfact_sources ? r->earlier_labels :
			r->fact_source[i].time_column < 0 ? -1 : r->fact_source[i].columns[GNNGP_FACTS_ALL];
		int32		columns = 0;
		int32		first = seen < 0 ? 0 :
			gp_task_columns_facts_first(r->columns, seen, &columns);

		for (int32 c = 0; c < columns; c++)
			d->by_facts = Max(d->by_facts, explained_share(d, first + c, 1));
	}
	return d->by_facts;
}

/* True for a share of the labels that is too much for what the asked rows themselves have. */
static bool
gives_away(disguise *d, double much)
{
	return much >= OWN_SHARE ||
		(much > SUSPECT_SHARE && (d->r->nfact_sources == 0 ||
								  (!d->r->asks_column && much > OF_BEST_FACT * told_by_facts(d))));
}

/* Looks at each column of a joined table whose numbers begin at a column of the rows. */
static void
look_at_joined(disguise *d, const gnngp_joined *joined, int32 first, bool own)
{
	const gnngp_task_reading *r = d->r;
	const gp_encoding *encoding = r->transform->encoding[joined->encoding];

	for (int32 p = 0; p < encoding->nencoded; p++)
	{
		const gp_encoded *e = &encoding->encoded[p];
		const gnngp_cell_source *cell = &joined->cell[e->column];
		double		much = e->width == 0 || cell->target || cell->known || cell->name == NULL ||
			list_member_ptr(d->noticed, cell->name) ? 0.0 :
			explained_share(d, first + e->first, e->width);

		if (!(own ? gives_away(d, much) : much >= FACT_SHARE))
			continue;
		const gnngp_schema_table *t = &r->schema->table[cell->table];

		d->noticed = lappend(d->noticed, (void *) cell->name);
		d->exclude = lappend(d->exclude, psprintf("%s.%s", t->label, cell->name));
		gnngp_notice_detail(much >= FACT_SHARE ?
							"If the column is written once the answer is known, the scores are too good." :
							"It may be a cause. If it is written once the answer is known, or updated in place, the scores are too good.",
							psprintf("In that case leave it out: gp_alter_graph(%s, %s). If it is known with its row, pass %s to it.",
									 quote_literal_cstr(r->schema->def->name),
									 gnngp_exclude_argument(r->schema, d->exclude),
									 gnngp_times_known(r->schema, llast(d->exclude))),
							"column \"%s\" of table \"%s\" %s the answer of task \"%s\": alone it explains %.0f%% of it",
							cell->name, t->table.name,
							much >= FACT_SHARE ? "may give away" : "tells much of", r->task->name,
							100.0 * much);
	}
}

/* A key that a table's rows may lack, to a table with times; NULL: none. */
static const char *
later_key(const gnngp_schema *s, int child)
{
	for (int i = 0; i < s->nrelations; i++)
	{
		const gnngp_schema_relation *r = &s->relation[i];

		if (r->child == child && s->table[r->parent].time >= 0 &&
			!s->table[child].column[r->from[0]].not_null)
			return gnngp_column_list_text(s, child, 1, r->from);
	}
	return NULL;
}

/* Looks at the number of children without a time: they are there once all they refer to is. */
static void
look_at_number(disguise *d, const gnngp_fact_source *facts, int32 column)
{
	const gnngp_schema *s = d->r->schema;
	const gnngp_schema_relation *relation = &s->relation[facts->relation];
	double		much = explained_share(d, column, 1);

	if (!gives_away(d, much))
		return;
	const char *key = later_key(s, relation->child);
	if (key)
		d->exclude = lappend(d->exclude, unconstify(char *, key));
	gnngp_notice_detail("Rows without a time are known once all that they refer to is, or are written later than that.",
						key == NULL ? "Give the table a time column, or leave it out of tables." :
						psprintf("If the rows refer to it later, leave the key out: gp_alter_graph(%s, %s).",
								 quote_literal_cstr(s->def->name),
								 gnngp_exclude_argument(s, d->exclude)),
						"the number of rows of table \"%s\" may give away the answer of task \"%s\": alone it explains %.0f%% of it",
						s->table[relation->child].table.name, d->r->task->name, 100.0 * much);
}

void
gnngp_notice_leakage(const gnngp_task_reading *r, const gp_facts_labels *labels)
{
	disguise	d = {.r = r,.labels = labels,.by_facts = -1.0};
	gp_time    *sorted = gp_alloc_array(r->env, labels->n, sizeof(gp_time));

	memcpy(sorted, labels->as_of, sizeof(gp_time) * labels->n);
	gp_sort(r->env, sorted, labels->n, sizeof(gp_time), gp_compare_int64, NULL);
	d.newest = sorted[(int64) ((1.0 - NEWEST_LABELS) * (double) (labels->n - 1))];
	gp_free(r->env, sorted);
	for (int p = 0; p < r->own->njoined; p++)
		if (r->own_group[p] >= 0)
			look_at_joined(&d, &r->own->joined[p],
						 gp_task_columns_group_first(r->columns, r->own_group[p]), true);
	for (int i = 0; i < r->nfact_sources; i++)
	{
		const gnngp_fact_source *facts = &r->fact_source[i];
		int32		columns;

		if (facts->answers)
			continue;
		int32		first = gp_task_columns_facts_first(r->columns,
														facts->columns[GNNGP_FACTS_ALL],
														&columns);
		int32		count = first + columns - 1;	/* COUNT, or whether there are none */

		for (int p = 0; p < facts->join->njoined; p++)
		{
			look_at_joined(&d, &facts->join->joined[p], first, false);
			first += r->transform->encoding[facts->join->joined[p].encoding]->width;
		}
		if (facts->time_column < 0)
			look_at_number(&d, facts, count);
	}
}

/* ---- what is written once the answer is known ---- */

/* Clears columns of the asked rows themselves, or what they refer to by a column. */
static void
clear_own(const gnngp_task_reading *r, int p, int64 nlabelled, const gp_timed *labelled)
{
	const gnngp_joined *joined = &r->own->joined[p];
	const gp_encoding *encoding = r->transform->encoding[joined->encoding];
	int32		group = gp_task_columns_group_first(r->columns, r->own_group[p]);
	const gnngp_cell_source *noticed = NULL;

	for (int32 k = 0; k < encoding->nencoded; k++)
	{
		const gp_encoded *e = &encoding->encoded[k];
		const gnngp_cell_source *cell = &joined->cell[e->column];
		int32		first = group + e->first;

		if (e->width == 0 || cell->target || cell->known ||
			!gp_task_columns_stand_apart(r->columns, nlabelled, labelled, first, e->width))
			continue;
		gp_task_columns_clear(r->columns, first, e->width);
		if (noticed != cell)
			gnngp_note_later(r->schema, &r->schema->table[cell->table], cell->name, "Nearly all rows to predict have the same value, and far fewer of the newest labelled rows. Where its rows are facts of other rows, these still have it; exclude leaves it out of them, too.");
		noticed = cell;
	}
}

/* Clears children without a time, which are part of the asked rows. */
static void
clear_children(const gnngp_task_reading *r, const gnngp_fact_source *facts, int64 nlabelled,
			   const gp_timed *labelled)
{
	const gnngp_schema *s = r->schema;
	const gnngp_schema_relation *relation = &s->relation[facts->relation];
	const gnngp_schema_table *child = &s->table[relation->child];
	const gnngp_schema_column *key = &child->column[relation->from[0]];
	int32		columns;
	int32		first = gp_task_columns_facts_first(r->columns, facts->columns[GNNGP_FACTS_ALL],
													&columns);

	if (key->known ||
		!gp_task_columns_stand_apart(r->columns, nlabelled, labelled, first, columns))
		return;
	/* What the target was in other rows is known by their times. */
	for (int k = 0; k < GNNGP_FACTS_TARGETS; k++)
		if (facts->columns[k] >= 0)
		{
			first = gp_task_columns_facts_first(r->columns, facts->columns[k], &columns);
			gp_task_columns_clear(r->columns, first, columns);
		}
	gnngp_notice_detail("Nearly all rows to predict have the same of them, mostly none, and far fewer of the newest labelled rows.",
						psprintf("Give table \"%s\" a time column, or leave it out of tables. If its rows are known with those of table \"%s\", so is their key. In that case pass %s to gp_alter_graph.",
								 child->table.name, s->table[r->entity].table.name,
								 gnngp_times_known(s, psprintf("%s.%s", child->label,
															   key->column.name))),
						"the rows of table \"%s\" below those of table \"%s\" are left out: they are written later than these",
						child->table.name, s->table[r->entity].table.name);
}

void
gnngp_clear_later(const gnngp_task_reading *r, int64 nlabelled)
{
	gp_timed   *labelled = gp_by_time(r->env, nlabelled, r->as_of);

	for (int p = 0; p < r->own->njoined; p++)
		if (r->own_group[p] >= 0 && (r->own->joined[p].level == 0 ||
									 r->own->joined[p].encoding >= r->schema->ntables))
			clear_own(r, p, nlabelled, labelled);
	for (int i = 0; i < r->nfact_sources; i++)
		if (r->fact_source[i].joined == 0 && r->fact_source[i].time_column < 0)
			clear_children(r, &r->fact_source[i], nlabelled, labelled);
	gp_free(r->env, labelled);
}
