/*
 * facts.h - tables with time as columns of numbers: scan, columns, weights.
 *
 * A task has rows: an entity, an as-of time t and, of those that are known, a label.  A fact is a
 * row of another table that refers to an entity, and is visible from a time on.  What a row of the
 * task gets of a fact table are aggregates of the facts that are visible before t, strictly; so no
 * column knows what comes after.  In order, of rows that are encoded (encoding.h):
 *
 *		task columns	those of the rows of the task: groups that are put, facts that are scanned
 *		scale		standardises them over the rows that train, clips, drops what is constant
 *		features	of a low-rank fit (gp_facts_fit), whose nodes are the rows of the task
 *
 * What a model stores (gp_facts_column) is plain numbers without pointers.
 */
#ifndef GP_FACTS_H
#define GP_FACTS_H

#include "encoding/encoding.h"
#include "fit/fit.h"

/* ---- the columns of a task's rows (task_columns.c, scan.c, label_facts.c) ---- */

/* Rows of a task with the columns that they have so far. */
typedef struct gp_task_columns gp_task_columns;

#define GP_FACTS_NAME 128		/* bytes of a name, its end included; longer ones are cut */

/*
 * as_of, one for each row, is the caller's and stays.  All groups are declared before the first is
 * filled.
 */
extern gp_task_columns *gp_task_columns_create(gp_env *env, int64_t rows, const gp_time *as_of);
extern void gp_task_columns_free(gp_task_columns *columns);

/*
 * Declares a group of columns that the caller puts: "own columns", a parent's columns.  Returns its
 * number.  Rows that are never put are 0.
 */
extern int32_t gp_task_columns_group(gp_task_columns *columns, const char *relation,
									 const char *aggregate, int32_t width);
extern void gp_task_columns_put(gp_task_columns *columns, int32_t group, int64_t row,
								const double *value);

/*
 * Declares the day of the year of each row, sine and cosine; fills it, once all groups are
 * declared.
 */
extern int32_t gp_task_columns_calendar(gp_task_columns *columns);
extern void gp_task_columns_fill_calendar(gp_task_columns *columns, int32_t group);

/* Which aggregates facts have; each is a group, by these names. */
typedef enum gp_facts_aggregate
{
	GP_FACTS_HALF_LIFE = 1,	/* "half-life": mean whose weights halve over half_life before the last fact */
	GP_FACTS_LAST = 2,		/* "last": mean of the last facts */
	GP_FACTS_PACE = 4,		/* "pace": how many facts are new, for how many there usually are */
	GP_FACTS_META = 8,		/* "count and age": log count, decayed count, days since last and first, none */
	GP_FACTS_MEAN = 16,		/* "mean" */
	GP_FACTS_SUM = 32,		/* "sum" */
	GP_FACTS_COUNT = 64,	/* "count": log(1 + n) alone, for tables without time */
	GP_FACTS_CHANGE = 128,	/* "change": the last fact less the mean of the last ones */
	GP_FACTS_SPREAD = 256,	/* "spread": deviation of the last ones */
	/* "decayed sum": log(1 + sum) of each number apart, halved by half_life, and by a quarter */
	GP_FACTS_DECAYED = 512
} gp_facts_aggregate;

/* What tells how facts change: such columns count where blocks of time say so. */
#define GP_FACTS_OF_CHANGES (GP_FACTS_PACE | GP_FACTS_CHANGE | GP_FACTS_SPREAD)

/* The default of facts with time. */
#define GP_FACTS_USUAL (GP_FACTS_HALF_LIFE | GP_FACTS_LAST | GP_FACTS_META)

typedef struct gp_aggregates
{
	uint32_t	which;			/* gp_facts_aggregate, or-ed */
	int32_t		last;			/* facts of LAST; 0: 5 */
	double		half_life;		/* microseconds; usually two horizons */
	double		pseudo;			/* pseudo-count of means, which shrink to 0; < 0: 1 */
	bool		apart;			/* each number of the facts by itself, of those that have it */
	bool		joint;			/* its facts count in gp_task_columns_joint as well */
} gp_aggregates;

/*
 * Declares facts that have so many numbers (0: they are only counted), by the name of the relation
 * that they are found by, perhaps with more words.  Returns their number, which below is facts.
 */
extern int32_t gp_task_columns_facts(gp_task_columns *columns, const char *relation,
									 int32_t width, gp_aggregates aggregates);

/*
 * Declares the decayed count and the newest age of all joint facts together: those of one relation
 * do not tell when anything happened last.  Returns the group, or -1 where those of fewer than two
 * are joint.  Filled once these are scanned.
 */
extern int32_t gp_task_columns_joint(gp_task_columns *columns);
extern void gp_task_columns_fill_joint(gp_task_columns *columns, int32_t group);

/* Changes the half-life of all facts, before the first scan. */
extern void gp_task_columns_half_life(gp_task_columns *columns, double half_life);

/* Has rows see facts as of earlier times of theirs, which stay the caller's. */
extern void gp_task_columns_lag(gp_task_columns *columns, int32_t facts, const gp_time *as_of);

/*
 * A scan fills the columns of facts.  key[row] is what the row's facts are found by: the
 * entity, one of its parents, 0 for all rows; any number, or -1 for none.  It is the caller's and
 * stays until the scan is closed.
 *
 * Facts of one key come one after the other in order of their times; keys come in any order, each
 * once.  A fact with key -1, of a key that no row has, or visible from GP_TIME_NEVER on is looked
 * over.  Facts of equal times count the same in any order: where the last few begin within them,
 * each counts its share.  A row sees a fact if visible < its as-of time.  Of numbers apart NaN is
 * one that the fact does not have.
 */
typedef struct gp_scan gp_scan;

extern gp_scan *gp_scan_open(gp_task_columns *columns, int32_t facts, const int32_t *key);
extern void gp_scan_fact(gp_scan *scan, int32_t key, gp_time visible, const double *value);
extern void gp_scan_close(gp_scan *scan);

/* How many facts so far are later than all rows of their keys. */
extern int64_t gp_scan_later(const gp_scan *scan);

/* True when some row has this key: a reader may spare itself the encoding of other facts. */
extern bool gp_scan_wants(const gp_scan *scan, int32_t key);

/*
 * The labels of a task as facts of their entities, and of all together.  A label of as-of time t'
 * is visible from t' + horizon on, inclusively.
 */
typedef struct gp_facts_labels
{
	int64_t		n;
	const int32_t *entity;		/* ascending */
	const gp_time *as_of;		/* ascending within an entity */
	const int32_t *label;		/* classes; else NULL */
	const double *target;		/* values; else NULL */
	int32_t		nclasses;
	gp_time		horizon;
	const gp_timed *by_time;	/* labels in the order of their times; NULL: the scan sorts them */
} gp_facts_labels;

/*
 * How labels are told in numbers: one for values and two classes, else one for each class, 16 at
 * most.
 */
typedef struct gp_facts_target
{
	int32_t		width;
	int32_t		nclasses;		/* 0: values */
	/* of class c's indicator; of two classes that of class 1 is [0] */
	double		mean[GP_ENCODED_HOT];
	double		deviation[GP_ENCODED_HOT];
} gp_facts_target;

extern gp_facts_target gp_facts_target_of(gp_env *env, const gp_facts_labels *labels);

/*
 * Scans labels as facts that were declared with the target's width: "earlier
 * targets" by each row's entity, "all targets" with key NULL, usually with a mean and a half-life.
 */
extern void gp_scan_labels(gp_task_columns *columns, int32_t facts, const int32_t *key,
						   const gp_facts_target *target, const gp_facts_labels *labels);

/*
 * The same of labels by other keys than their entities, such as what these refer to.  Such a key
 * has the labels of so many entities, each from the time on when the entity is known to have it.
 */
typedef struct gp_answering
{
	int32_t		key;
	int32_t		entity;			/* of the labels */
	gp_time		from;
} gp_answering;

extern void gp_scan_answers(gp_task_columns *columns, int32_t facts, const int32_t *key,
							const gp_facts_target *target, const gp_facts_labels *labels,
							int64_t n, const gp_answering *answering);

/*
 * How fresh labels are at the rows that do not train, compared with those that do.  Where they are
 * old, such as in a table of labels whose last years are to be predicted, a model that has learnt
 * to look at the last answer looks at an old one: the facts of labels are then better left out.
 * Those that come at certain times are as fresh until the next of these.
 * Where facts, of which newest is the last, are old there too, labels may still help.
 */
typedef enum gp_facts_freshness
{
	GP_FACTS_FRESH,
	GP_FACTS_OLD_AS_FACTS,
	GP_FACTS_OLD
} gp_facts_freshness;

extern gp_facts_freshness gp_facts_labels_freshness(gp_env *env, const gp_facts_labels *labels,
													int64_t rows, const gp_time *as_of,
													const bool *trains, gp_time newest);

/*
 * Where the columns of a group, or those of facts, begin, the latter with how many there are.
 */
extern int32_t gp_task_columns_group_first(const gp_task_columns *columns, int32_t group);
extern int32_t gp_task_columns_facts_first(const gp_task_columns *columns, int32_t facts,
										   int32_t *width);

/* Makes some columns 0 in all rows, so that a scale drops them. */
extern void gp_task_columns_clear(gp_task_columns *columns, int32_t first, int32_t width);

/* How many columns there are so far. */
extern int32_t gp_task_columns_width(const gp_task_columns *columns);

/* The median gap between the different times of one key; 0: no key has two. */
extern double gp_facts_median_gap(gp_env *env, int64_t n, const int32_t *key, const gp_time *time);

/* ---- how much of the labels some columns explain (leakage.c) ---- */

/*
 * How much of the labels, which the first rows have, some neighbouring columns tell alone by least
 * squares, each half of the rows fitted on the other: of values the share of their variance, or of
 * that of their logarithms; of classes twice the area under the ROC curve, less one, of the class
 * that they tell best.  More than two classes are values as well: integers are in their order.
 * The largest of these counts.  Rows as of since and later are looked at, a sample of many.  0
 * where there are too few rows, or more columns than one column of a table has.
 */
extern double gp_task_columns_explained_share(gp_task_columns *columns,
											  const gp_facts_labels *labels,
											  int32_t first, int32_t width, gp_time since);

/* What chance gives the R2 of labels on the best of so many columns of n rows. */
static inline double
gp_chance_r2(int64_t width, double n)
{
	return 2.0 * log((double) width + 1.0) / n;
}

/*
 * The largest R2 of the labels on one of some neighbouring columns, over a sample of the rows, less
 * what chance gives.
 */
extern double gp_task_columns_relevance(gp_task_columns *columns, const gp_facts_labels *labels,
										int32_t first, int32_t width);

/*
 * True where some neighbouring columns are written once the answer is known: nearly all rows to
 * predict, which follow the labelled ones, hold the same in them.  In no stretch of equal length of
 * the newest labelled rows, which come in order of time, nearly so many do.  Of many rows a smaller
 * difference counts, if it is far above both chance and what stretches differ by.  False where
 * there are few rows, or where those to predict are mostly not later than the labelled ones.
 */
extern bool gp_task_columns_stand_apart(gp_task_columns *columns, int64_t nlabelled,
										const gp_timed *labelled, int32_t first, int32_t width);

/* ---- scaling, weights, and the fit (column_scale.c, facts_fit.c) ---- */

/* A column of a model: what makes it of a new row, and where it belongs. */
typedef struct gp_facts_column
{
	int32_t		group;			/* its number, from 0 */
	int32_t		place;			/* among the group's columns */
	int32_t		changes;		/* of one of GP_FACTS_OF_CHANGES */
	double		empty;			/* an age without facts: the largest of those that train */
	double		mean;
	double		deviation;		/* 0: constant, dropped */
	double		square;			/* mean square over the rows that train, after clipping */
	double		relevance;		/* R2 of the labels on it alone, beyond chance */
	double		weight;			/* factor after standardising and clipping to +-3 */
} gp_facts_column;

#define GP_FACTS_CLIP 3.0

/* How much columns count: all the same, or by their relevance; then what changes, too. */
typedef enum gp_facts_weights
{
	GP_FACTS_COLUMNS,
	GP_FACTS_RELEVANCE,
	GP_FACTS_CHANGES
} gp_facts_weights;

/* What gp_facts_fit compares: all of these, and the fit without doubted columns. */
#define GP_FACTS_FITS 4

/* About the factor of a column that does not count, so that another weighting can undo it. */
#define GP_FACTS_UNUSED 1e-6

/* What of the columns a model stores. */
typedef struct gp_facts_scale
{
	int32_t		width;			/* columns of gp_task_columns */
	int32_t		kept;			/* those that vary: the features' dims */
	int32_t		ngroups;
	int32_t		doubted;		/* of a fit: columns from here on are tried without */
	double		margin;			/* these have to add so much to the score, and more than chance */
	gp_facts_column *column;	/* width */
	char		(*relation)[GP_FACTS_NAME];	/* of each group */
	char		(*aggregate)[GP_FACTS_NAME];
} gp_facts_scale;

/*
 * Means, deviations and largest ages over the rows that train (NULL: all), and the factors that
 * make the mean square length of their rows one.
 */
extern gp_facts_scale *gp_task_columns_measure(gp_task_columns *columns, const bool *trains);

/*
 * The factors for a weighting, and for the first columns alone.  By relevance the squares of the
 * factors are proportional to a column's relevance plus a fifth of the mean one, over the number
 * of columns in its group.  Other columns have GP_FACTS_UNUSED.
 */
extern void gp_facts_weigh(gp_env *env, gp_facts_scale *scale, gp_facts_weights weights,
						   int32_t used);

/*
 * The columns as features of nodes, which are the rows: scaled, those that vary alone, float.
 * Frees these.  The scale may be one that a model stored: columns of other groups are an
 * error.
 */
extern gp_features *gp_task_columns_features(gp_task_columns *columns, const gp_facts_scale *scale);

/* The kernel: one layer of arc cosines, with the bias that the scale of the columns calls for. */
extern const char gp_facts_kernel[];

#define GP_FACTS_LANDMARKS 400
#define GP_FACTS_TIME_BLOCKS 10

/*
 * Cuts labelled rows into blocks of time at the quantiles of their times; rows of one time are in
 * one block.  block[i] counts from 0 in order of time.  Returns how many there are, which is fewer
 * than asked for where there are fewer times; 1 means that time tells nothing apart.
 */
extern int32_t gp_facts_time_blocks(gp_env *env, int64_t n, const gp_time *as_of, int32_t blocks,
									int32_t *block);

/*
 * The times of rows, in place of those of the first, which are labelled, when their blocks of time
 * begin: what is known then is as old as where many rows to predict follow the last label.
 */
extern gp_time *gp_facts_block_starts(gp_env *env, int64_t rows, const gp_time *as_of,
									  int64_t labelled, int32_t blocks);

/*
 * Landmarks of a fit: at most so many of the labelled nodes, ascending, drawn evenly by the seed;
 * *n counts them.  Owned by the caller, for gp_problem.landmark.
 */
extern int32_t *gp_facts_landmarks(gp_env *env, const gp_problem *problem, int64_t most,
								   int64_t *n);

/*
 * A problem of all rows of a task, the labelled ones first, as one of these alone: they tell the
 * landmarks, the nugget and the weights.
 */
extern gp_problem gp_facts_labelled(gp_env *env, const gp_problem *problem);

/*
 * Fits the weightings of the columns to such a problem, which is live, and returns the posterior
 * of the first that no later one is surely better than by its leave-out score; then without the
 * columns that are doubted, if any, which earlier blocks have to confirm.  score has all that were
 * compared: of each weighting, and without those columns (NaN: there are none).  The rows to
 * predict are then answered a block at a time: the posterior has all rows.  Features are those of
 * gp_task_columns_features, made with scale, whose weights become the better ones; they are spoilt.
 */
extern gp_posterior *gp_facts_fit(gp_device *dev, const gp_problem *problem, gp_features *features,
								  gp_facts_scale *scale, double score[GP_FACTS_FITS]);

/* The same of features as they are. */
extern gp_posterior *gp_facts_fit_features(gp_device *dev, const gp_problem *problem,
										   const gp_features *features);

#endif							/* GP_FACTS_H */
