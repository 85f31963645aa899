/*
 * fact_columns.c - the columns of a task's rows: which there are, and which are cleared again as
 * they tell nothing.
 */
#include "postgres.h"

#include "task_reading.h"

#define MANY_COLUMNS 1000		/* from so many on facts beside an entity have to tell */
#define TELLING 0.1				/* so much of the labels as the best facts do */

/* Notes which numbers of a joined table, from one of the fact on, tell what is asked for. */
static void
find_target(gnngp_fact_source *facts, const gnngp_joined *joined, const gp_encoding *encoding,
			int32 first)
{
	for (int i = 0; i < encoding->nencoded && facts->target_column < 0; i++)
	{
		const gp_encoded *e = &encoding->encoded[i];

		if (!joined->cell[e->column].target || e->width == 0)
			continue;
		facts->target_column = joined->first + e->column;
		facts->target_first = first + e->first;
		facts->target_width = e->width;
	}
}

/* Aggregates of facts, which halve as the task asks. */
static gp_aggregates
aggregates(const gnngp_task_reading *r, uint32 which)
{
	return (gp_aggregates) {.which = which,.half_life = (double) r->transform->half_life,
		.pseudo = -1.0};
}

static void
declare_usual(gnngp_task_reading *r, gnngp_fact_source *facts)
{
	gp_aggregates usual = aggregates(r, facts->timed ? GP_FACTS_USUAL | GP_FACTS_PACE :
									 GP_FACTS_MEAN | GP_FACTS_SUM | GP_FACTS_COUNT);

	memset(facts->columns, -1, sizeof(facts->columns));
	facts->target_column = -1;
	if (facts->answers)
		return;
	usual.joint = facts->time_column >= 0 && facts->joined == 0;
	for (int p = 0; p < facts->join->njoined; p++)
	{
		const gnngp_joined *joined = &facts->join->joined[p];
		const gp_encoding *encoding = r->transform->encoding[joined->encoding];

		if (facts->timed)
			find_target(facts, joined, encoding, facts->width);
		facts->width += encoding->width;
		if (joined->level == 0)
			facts->apart += gp_encoding_apart(encoding);
		/* Sums tell how much, and not whether. */
		if (p == 0 && r->transform->target.nclasses == 0)
			facts->amounts = gp_encoding_amounts(encoding);
	}
	facts->columns[GNNGP_FACTS_ALL] = gp_task_columns_facts(r->columns, facts->name,
															facts->width, usual);
}

/*
 * Declares the numbers of a relation's facts by themselves.  Within categories each has a mean of
 * its own: among all facts the kind of a number would be lost.
 */
static void
declare_apart(gnngp_task_reading *r, gnngp_fact_source *facts)
{
	int32		nwithin = facts->answers ? 0 :
		r->transform->encoding[facts->join->joined[0].encoding]->nwithin;
	gp_aggregates each = aggregates(r, facts->timed ? GP_FACTS_HALF_LIFE | GP_FACTS_LAST :
									GP_FACTS_MEAN);
	gp_aggregates change = aggregates(r, GP_FACTS_CHANGE | GP_FACTS_SPREAD);
	gp_aggregates amount = aggregates(r, GP_FACTS_DECAYED);

	each.last = amount.last = 1;
	each.apart = change.apart = amount.apart = true;
	if (nwithin > 0 && facts->target_column < 0)
		facts->columns[GNNGP_FACTS_WITHIN] =
			gp_task_columns_facts(r->columns, psprintf("%s within categories", facts->name),
								  nwithin, each);
	if (facts->apart > 0 && facts->target_column < 0 && facts->timed)
		facts->columns[GNNGP_FACTS_CHANGES] =
			gp_task_columns_facts(r->columns, facts->name, facts->apart, change);
	if (facts->amounts > 0 && facts->target_column < 0 && facts->timed)
		facts->columns[GNNGP_FACTS_AMOUNTS] =
			gp_task_columns_facts(r->columns, facts->name, facts->amounts, amount);
}

/*
 * Declares the earlier targets of a relation's facts as columns of their own: among all columns of
 * the facts they would hardly count.  They are a column of the facts, or the labels that these have
 * as entities.
 */
static void
declare_targets(gnngp_task_reading *r, gnngp_fact_source *facts)
{
	int32	   *targets = &facts->columns[GNNGP_FACTS_TARGETS];

	if (facts->target_column < 0 && facts->id_column < 0)
		return;
	*targets = gp_task_columns_facts(r->columns, psprintf("earlier targets, %s", facts->name),
									 facts->target_column < 0 ? r->transform->target.width :
									 facts->target_width,
									 aggregates(r, GP_FACTS_HALF_LIFE | GP_FACTS_LAST |
												GP_FACTS_MEAN));
	if (r->answered)
		gp_task_columns_lag(r->columns, *targets, r->answered);
}

void
gnngp_reading_declare(gnngp_task_reading *r)
{
	int32		target_width = r->transform->target.width;

	r->columns = gp_task_columns_create(r->env, r->n, r->as_of);
	r->own_group = palloc(sizeof(int32) * r->own->njoined);
	for (int p = 0; p < r->own->njoined; p++)
	{
		int32		width = r->transform->encoding[r->own->joined[p].encoding]->width;

		r->own_group[p] = width == 0 ? -1 :
			gp_task_columns_group(r->columns, r->own->joined[p].name, "columns", width);
	}
	r->calendar = gp_task_columns_calendar(r->columns);
	for (int i = 0; i < r->nfact_sources; i++)
	{
		declare_usual(r, &r->fact_source[i]);
		declare_apart(r, &r->fact_source[i]);
	}
	r->joint = gp_task_columns_joint(r->columns);
	r->of_targets = gp_task_columns_width(r->columns);
	r->earlier_labels = r->all_labels = -1;
	if (!r->asks_column)
	{
		r->earlier_labels = gp_task_columns_facts(r->columns, "earlier targets", target_width,
												  aggregates(r, GP_FACTS_HALF_LIFE |
															 GP_FACTS_LAST));
		r->all_labels = gp_task_columns_facts(r->columns, "all targets", target_width,
											  aggregates(r, GP_FACTS_MEAN | GP_FACTS_HALF_LIFE));
	}
	r->beside = gp_task_columns_width(r->columns);
	for (int i = 0; i < r->nfact_sources; i++)
		declare_targets(r, &r->fact_source[i]);
}

/* How much of the labels the facts of a relation tell by their best column. */
static double
told_by(const gnngp_task_reading *r, const gnngp_fact_source *facts,
		const gp_facts_labels *labels)
{
	double		told = 0.0;

	for (int k = 0; k < GNNGP_FACT_NUMBERS; k++)
		if (facts->columns[k] >= 0)
		{
			int32		width;
			int32		first = gp_task_columns_facts_first(r->columns, facts->columns[k],
															&width);

			told = Max(told, gp_task_columns_relevance(r->columns, labels, first, width));
		}
	return told;
}

static void
clear_facts(const gnngp_task_reading *r, int32 facts)
{
	int32		width;
	int32		first = gp_task_columns_facts_first(r->columns, facts, &width);

	gp_task_columns_clear(r->columns, first, width);
}

void
gnngp_leave_out_silent(const gnngp_task_reading *r, const gp_facts_labels *labels)
{
	double	   *told = palloc(sizeof(double) * Max(r->nfact_sources, 1));
	double		most = 0.0;
	int32		width = gp_task_columns_width(r->columns) - r->beside;
	/* beyond chance, again: a fit with columns that tell no more takes its time */
	double		chance = gp_chance_r2(width, (double) labels->n);

	if (width > 0 && gp_task_columns_relevance(r->columns, labels, r->beside, width) < chance)
		gp_task_columns_clear(r->columns, r->beside, width);
	if (gp_task_columns_width(r->columns) <= MANY_COLUMNS)
		return;
	for (int i = 0; i < r->nfact_sources; i++)
		most = Max(most, told[i] = told_by(r, &r->fact_source[i], labels));
	for (int i = 0; i < r->nfact_sources; i++)
		for (int k = 0; k < GNNGP_FACT_NUMBERS; k++)
			if (r->fact_source[i].joined > 0 && r->fact_source[i].columns[k] >= 0 &&
				(told[i] == 0.0 || told[i] < TELLING * most))
				clear_facts(r, r->fact_source[i].columns[k]);
}

void
gnngp_leave_out_amounts(const gnngp_task_reading *r)
{
	for (int i = 0; i < r->nfact_sources; i++)
		if (r->fact_source[i].columns[GNNGP_FACTS_AMOUNTS] >= 0)
			clear_facts(r, r->fact_source[i].columns[GNNGP_FACTS_AMOUNTS]);
}
