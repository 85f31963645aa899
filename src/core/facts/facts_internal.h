/*
 * facts_internal.h - what the files of this folder share.
 */
#ifndef GP_FACTS_INTERNAL_H
#define GP_FACTS_INTERNAL_H

#include "facts.h"

#define GP_YEAR_DAYS 365.25

/* True for a kind that is told apart by a hash. */
static inline bool
gp_cell_is_word(gp_cell_kind kind)
{
	return kind == GP_CELL_WORD || kind == GP_CELL_KEY;
}

/* What a value is told from others by: of a number its bits, of a word its bytes. */
extern uint64_t gp_category_of_number(double number);
extern uint64_t gp_category_of_cell(gp_cell_kind kind, const gp_cell *cell);
#define GP_CATEGORY_NULL UINT64_C(1)	/* of a NULL */

/* The columns of a part that are no categories: a number or age, and whether it is NULL. */
extern int32_t gp_encoded_numbers(const gp_encoded *part);

/* A number as it is standardised: winsorised and, where that is so, its logarithm. */
static inline double
gp_encoded_winsorise(const gp_encoded *part, double z)
{
	z = fmin(fmax(z, part->low), part->high);
	return part->logarithm ? log1p(z) : z;
}

/*
 * The deviation of an indicator of a share: that of a rare one is no smaller than a common one's.
 */
static inline double
gp_indicator_deviation(double share)
{
	return sqrt(fmax(share * (1.0 - share), 0.0025));
}

/* A row and its time, which comes first: it is sorted by it. */
typedef struct gp_timed
{
	gp_time		as_of;
	int64_t		row;
} gp_timed;

/* All rows in order of time. */
extern gp_timed *gp_by_time(gp_env *env, int64_t n, const gp_time *as_of);

/* ---- columns of rows (task_columns.c) ---- */

typedef struct gp_column_group
{
	char		relation[GP_FACTS_NAME];
	char		aggregate[GP_FACTS_NAME];
	int32_t		first;
	int32_t		width;
} gp_column_group;

/* A relation's groups stand one after the other, in the order of gp_facts_aggregate. */
typedef struct gp_relation
{
	gp_aggregates a;
	int32_t		width;			/* of its facts */
	int32_t		first;			/* of its columns */
	int32_t		columns;		/* of all its aggregates */
	const gp_time *as_of;		/* rows see what is visible before these */
} gp_relation;

struct gp_task_columns
{
	gp_env	   *env;
	int64_t		rows;
	const gp_time *as_of;
	int32_t		width;
	int32_t		ngroups;
	int32_t		nrelations;
	gp_column_group *group;
	gp_relation *relation;
	/* rows x width; NaN: an age without facts.  NULL before the first is filled */
	float	   *column;
};

/* The columns of a row, which are made at the first use. */
extern float *gp_task_columns_row(gp_task_columns *columns, int64_t row);

#define GP_META_COLUMNS 5

/* The columns that an aggregate of facts of this width has. */
extern int32_t gp_aggregate_width(gp_facts_aggregate which, int32_t width);

#endif							/* GP_FACTS_INTERNAL_H */
