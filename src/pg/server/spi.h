/*
 * spi.h - statements that run inside the server, and who the user is meanwhile.
 */
#ifndef GNNGP_SPI_H
#define GNNGP_SPI_H

#include "executor/spi.h"

/* SPI_connect and SPI_finish that cannot fail quietly. */
extern void gnngp_spi_connect(void);
extern void gnngp_spi_finish(void);

/* The int8 of the first column, not NULL, of a row that SPI has found. */
extern int64 gnngp_found_int64(uint64 row);

/* The text of a column of such a row; NULL where it is. */
#define gnngp_found_text(row, column) \
	SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column)

/* The one number that a query of ours gives, an int8; 0 where it is NULL or there is no row. */
extern int64 gnngp_query_number(const char *query);

/* Sets a setting until the GUC nest level ends. */
extern void gnngp_pin(const char *name, const char *value);

/* Who was the user before another one was taken. */
typedef struct gnngp_identity
{
	Oid			user;
	int			context;
	int			level;			/* of settings */
} gnngp_identity;

/*
 * Becomes a role that can do nothing but what the statements say, on a level of settings of its
 * own, where row-level security filters rows instead of refusing the query.  The second, for who
 * reads the user's tables, also pins search_path and what output functions depend on; the third is
 * the user before again.
 */
extern gnngp_identity gnngp_become(Oid role);
extern gnngp_identity gnngp_become_reader(Oid role);
extern void gnngp_become_again(const gnngp_identity *saved);

/* Begins a level of settings with those pins alone. */
extern int	gnngp_output_level(void);

/*
 * Works in a subtransaction: NULL, or the error that it was rolled back for, in the present memory
 * context.  In a parallel query, which has no subtransactions up to version 16, an error is raised.
 */
extern ErrorData *gnngp_attempt(void (*work) (void *arg), void *arg);

/* The same where an error is an answer: a cancel is none, and is raised. */
extern ErrorData *gnngp_attempt_but_cancel(void (*work) (void *arg), void *arg);

/* Receives one row of a query, in a memory context that is reset after it. */
typedef void (*gnngp_row_fn) (void *state, const Datum *values, const bool *nulls);

/* Who receives the rows of a query. */
typedef struct gnngp_sink
{
	gnngp_row_fn row;
	void	   *state;
	int			n;				/* columns */
	const Oid  *types;			/* which each has, or a domain over it; NULL: not compared */
	const char *source;			/* what is read, for messages; NULL: a working table */
} gnngp_sink;

/*
 * Runs a plan that SPI has prepared, or a query where it is NULL, read only under the active
 * snapshot and inside SPI, and hands over each row as the executor delivers it.  No argument is
 * NULL.  55000 when the columns have other types than said.
 */
extern void gnngp_each_row(SPIPlanPtr plan, const char *query, int nargs, const Oid *types,
						   const Datum *values, const gnngp_sink *rows);

#endif							/* GNNGP_SPI_H */
