/*
 * tiers.h - columns of categories that follow from the rows that refer to theirs.
 */
#ifndef GNNGP_TIERS_H
#define GNNGP_TIERS_H

#include "table_join.h"

#define GNNGP_MOST_VALUES 16	/* of a status or a tier, or a column of facts */

#define GNNGP_FEWEST_TIERED 40	/* rows whose columns are looked at, */
#define GNNGP_MOST_TIERED 2000	/* and so many of more, */
#define GNNGP_TIERED_FACTS 60000	/* with about so many facts */

/*
 * A row's facts: their first and last time, in days, and lists of all of them, the newest first;
 * the first list is their times.
 */
typedef struct gnngp_history
{
	double		time[2];
	bool		later;			/* the last is later than the row */
	int			nfacts;
	double	   *fact;			/* nfacts numbers of each list */
	uint64		word[FLEXIBLE_ARRAY_MEMBER];	/* what the row's columns hold as categories */
} gnngp_history;

/*
 * Sets which columns of rows (gnngp_history), of those that are not found already, are a status
 * that follows from the last fact.  True where others have few values, and may be tiers.
 */
extern bool gnngp_find_statuses(gp_env *env, const List *rows, int ncolumns, bool *found);

/*
 * Sets which of the others are tiers of measures of their facts.  Lists are numbers, or hashes of
 * words.
 */
extern void gnngp_find_tiers(gp_env *env, const List *rows, int nlists, const bool *is_number,
							 int ncolumns, bool *found);

#endif							/* GNNGP_TIERS_H */
