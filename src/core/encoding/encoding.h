/*
 * encoding.h - rows of a table as columns of numbers.
 *
 *		encoder		looks at the rows of a table, a sample of which tells how each column is encoded
 *		encoding	turns rows of that table into numbers, now and in later sessions
 *
 * What a model stores (gp_encoded) is plain numbers without pointers.
 */
#ifndef GP_ENCODING_H
#define GP_ENCODING_H

#include "base/base.h"

/* ---- time ---- */

/* Microseconds since 2000-01-01 00:00 UTC, as a timestamptz has them. */
typedef int64_t gp_time;

#define GP_TIME_ALWAYS INT64_MIN	/* of a table without time: before everything */
#define GP_TIME_NEVER INT64_MAX		/* of a row whose time is NULL: no task row sees it */
#define GP_TIME_DAY INT64_C(86400000000)
#define GP_YEAR_DAYS 365.25

/* A row and its time, which comes first: it is sorted by it. */
typedef struct gp_timed
{
	gp_time		as_of;
	int64_t		row;
} gp_timed;

/* All rows in order of time. */
extern gp_timed *gp_by_time(gp_env *env, int64_t n, const gp_time *as_of);

/* ---- encoding (encoder.c, encode.c) ---- */

/* What a column of a table holds. */
typedef enum gp_cell_kind
{
	GP_CELL_NUMBER,
	GP_CELL_INTEGER,			/* few different values are categories as well */
	GP_CELL_WORD,				/* text, enum, boolean, uuid, inet: told apart by a hash */
	GP_CELL_TIME,				/* date, timestamp: an age */
	GP_CELL_LIST,				/* array, vector: its numbers */
	GP_CELL_KEY,				/* what a row refers to, as a word: categories where they are few */
	GP_CELL_CATEGORY_KEY,		/* a key that numbers are encoded within, no columns of its own */
	GP_CELL_LISTED_KEY			/* of a list: the most frequent of many are categories, too */
} gp_cell_kind;

/* One value of a row; the caller owns what it points to. */
typedef struct gp_cell
{
	bool		null;			/* also for a number that is none (NaN, infinity) */
	double		number;			/* NUMBER, INTEGER */
	gp_time		time;			/* TIME */
	uint64_t	word;			/* WORD: no other word has it, whoever chose that */
	const double *list;			/* LIST: NaN for a NULL in it */
	int32_t		length;			/* of the list */
} gp_cell;

#define GP_ENCODED_HOT 16		/* categories of a column, at most, */
#define GP_ENCODED_KEYS 50		/* and of a key, left out with more except of a list */
#define GP_ENCODED_WITHIN_MOST 32	/* numbers within categories of a table */
#define GP_ENCODED_COUNTED 1000	/* different values that are told apart from more */
#define GP_ENCODED_LIST 256		/* numbers of a list, at most; the rest is left out */

/* How a column is encoded, or why it is left out. */
typedef enum gp_encoded_way
{
	/* (z - mean) / deviation, z winsorised, its logarithm where that is skewed */
	GP_ENCODED_NUMBER,
	GP_ENCODED_CATEGORY,		/* one-hot */
	GP_ENCODED_BOTH,			/* an integer of few values: a number, and one-hot */
	GP_ENCODED_AGE,				/* years before the row's time, as a number */
	GP_ENCODED_EMPTY,			/* left out: no value */
	GP_ENCODED_CONSTANT,		/* left out: one value */
	GP_ENCODED_NAME,			/* left out: nearly as many values as rows */
	/* left out: times later than the row's, so it is written afterwards */
	GP_ENCODED_LATER,
	GP_ENCODED_FILLED,			/* left out: NULL in the newest rows, so it is filled in later */
	GP_ENCODED_WITHIN,			/* a number once more, of the rows of one category alone */
	GP_ENCODED_TOTAL,			/* left out: of facts, later ones too */
	GP_ENCODED_REWRITTEN		/* left out: the newest rows have a value that changes later */
} gp_encoded_way;

/*
 * How one column, or one number of a list, is encoded: numbers first .. first + width - 1 of a row.
 * Order: the number or age; whether it is NULL, where some are; the categories.
 */
typedef struct gp_encoded
{
	int32_t		column;			/* of the table, from 0 */
	int32_t		element;		/* of a list, from 0; else 0 */
	int32_t		kind;			/* gp_cell_kind */
	int32_t		way;			/* gp_encoded_way */
	int32_t		first;
	int32_t		width;			/* 0 where it is left out */
	int32_t		logarithm;		/* log(1 + z) */
	int32_t		nulls;			/* there is a column of whether it is NULL */
	int32_t		hot;			/* categories */
	int32_t		distinct;		/* different values; of more than COUNTED one more */
	int32_t		known;			/* with its row, whatever its values say */
	int32_t		within;			/* WITHIN: which one has the category, */
	int32_t		rank;			/* and which of its categories it is */
	double		low;			/* z is winsorised to [low, high], before its logarithm */
	double		high;
	double		mean;
	double		deviation;
	double		null_share;
	uint64_t	category[GP_ENCODED_KEYS];	/* hashes of values, the most frequent first */
	double		share[GP_ENCODED_KEYS];
} gp_encoded;

typedef struct gp_encoding
{
	int32_t		width;			/* numbers of an encoded row */
	int32_t		nencoded;
	int32_t		nwithin;		/* of the way WITHIN, behind the others */
	gp_encoded *encoded;		/* by column and element; those left out are there, too */
} gp_encoding;

/* Gathers what the encoding of a table follows from, in bounded memory. */
typedef struct gp_encoder gp_encoder;

/*
 * Keeps at most so many rows, drawn by a hash of what tells them apart: their order does not
 * matter.
 */
#define GP_ENCODER_ROWS 20000

/* What a value is told from others by: a hash of a number's bits, or of a word's bytes. */
#define GP_CATEGORY_NULL UINT64_C(1)	/* of a NULL */
extern uint64_t gp_category_of_cell(gp_cell_kind kind, const gp_cell *cell);

/*
 * until: rows of later times tell nothing but which columns are still NULL there.  known: of each
 * column whether its values are known with their row, even where they are filled in later or are
 * later times; NULL: of none.
 */
extern gp_encoder *gp_encoder_create(gp_env *env, int32_t columns, const gp_cell_kind *kind,
									 gp_time until, const bool *known);

/* Notes that a column counts facts or adds them up, later ones too: it is left out. */
extern void gp_encoder_total(gp_encoder *encoder, int32_t column);

/* False where a row of such an identity is not among those that are kept: it need not be read. */
extern bool gp_encoder_wants(const gp_encoder *encoder, uint64_t identity);

/*
 * Looks at a row, at its own time or, of a table without time, at the latest time that trains:
 * ages are taken there.  identity tells rows apart, such as a hash of the key; with 0 the order in
 * which they come does.
 */
extern void gp_encoder_look(gp_encoder *encoder, uint64_t identity, gp_time at,
							const gp_cell *cell);

/*
 * Ends the looking and frees the encoder.  The encoding is one allocation, encoded behind it.
 * within: a number beside which a category stands, such as a laboratory's value and its kind, is
 * encoded within each of these categories, too, the first GP_ENCODED_WITHIN_MOST of them.
 */
extern gp_encoding *gp_encoder_finish(gp_encoder *encoder, bool within);

/*
 * An encoding of what a model stored, in the order of columns, which is copied; NULL where it is
 * damaged.
 */
extern gp_encoding *gp_encoding_of(gp_env *env, const gp_encoded *encoded, int32_t nencoded);

/*
 * Encodes a row into width numbers.  Ages are not known before a time is: in their place stand
 * days, which gp_encode_ages turns into ages at a time.  So a parent's row is encoded once and
 * looked up at many times.
 */
extern void gp_encode(const gp_encoding *encoding, const gp_cell *cell, double *out);
extern void gp_encode_ages(const gp_encoding *encoding, gp_time at, double *row);

/*
 * The numbers of a row by themselves: nwithin within categories, NaN where it is of another one,
 * then those of numeric columns; all are NaN where the column is NULL.
 */
extern int32_t gp_encoding_apart(const gp_encoding *encoding);
extern void gp_encode_apart(const gp_encoding *encoding, const gp_cell *cell, double *out);

/*
 * The amounts of a row, which can be added up: numbers that are not negative, in units of a usual
 * one of their column, so that the currency does not matter.  NaN where the column is NULL.
 */
extern int32_t gp_encoding_amounts(const gp_encoding *encoding);
extern void gp_encode_amounts(const gp_encoding *encoding, const gp_cell *cell, double *out);

/*
 * What gp_columns shows of an encoded column: the way in a few words, and a note ("" where there is
 * none); both are cut to the room.
 */
extern void gp_encoded_describe(const gp_encoded *encoded, char *way, size_t way_room, char *note,
								size_t note_room);

/* The same of a column of the table, of all elements of a list; returns its numbers. */
extern int32_t gp_encoding_describe(const gp_encoding *encoding, int32_t column, char *way,
									size_t way_room, char *note,
									size_t note_room);

/*
 * The deviation of an indicator of a share: that of a rare one is no smaller than a common one's.
 */
static inline double
gp_indicator_deviation(double share)
{
	return sqrt(fmax(share * (1.0 - share), 0.0025));
}

#endif							/* GP_ENCODING_H */
