/*
 * test_rows.h - a list of the rows that a search hands out.
 */
#ifndef TEST_ROWS_H
#define TEST_ROWS_H

#include "links/links.h"

typedef struct rows
{
	int			n;
	gp_link_row *row;
} rows;

/* An empty list, with room for so many. */
static inline rows *
rows_create(gp_env *env, int64_t most)
{
	rows	   *r = gp_alloc_zero(env, 1, sizeof(rows));

	r->row = gp_alloc_zero(env, most, sizeof(gp_link_row));
	return r;
}

/* Keeps a row. */
static inline void
keep(void *list, const gp_link_row *row)
{
	rows	   *r = list;

	r->row[r->n++] = *row;
}

#endif							/* TEST_ROWS_H */
