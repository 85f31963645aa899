/*
 * read_ids.h - ids as rows bring them: their text, and the nodes that they mean.
 */
#ifndef GNNGP_READ_IDS_H
#define GNNGP_READ_IDS_H

#include "reader_internal.h"

/* Selects a column that holds ids, as its own type where that is the ids' one or both are integers,
 * else by a cast; the type of its values. */
extern Oid	gnngp_query_add_id(const gnngp_reader *r, gnngp_query *q, const gnngp_column *column);

/*
 * An end of an edge, or the node of a feature: finds ids and remembers the
 * smallest one that is unknown, so that the error does not depend on the order
 * of the rows.
 */
typedef struct gnngp_finder
{
	gnngp_reader *r;
	const gnngp_query *query;
	gnngp_column column;
	Oid			base;			/* of what is selected */
	int64		nulls;
	int64		unknown;		/* how many rows name an unknown node */
	int64		unknown_key;	/* the smallest */
	char	   *unknown_text;
} gnngp_finder;

/* Prepares a finder for a column, which it selects. */
extern void gnngp_finder_init(gnngp_finder *f, gnngp_reader *r, gnngp_query *q,
							  const char *column);
extern int32 gnngp_finder_find_slow(gnngp_finder *f, Datum value, bool null);

/* 23502 when a column held NULLs; 23503 when it held ids that are not in the node table. */
extern void gnngp_check_nulls(const gnngp_table *table, const gnngp_column *column, int64 nulls,
							  const char *hint);
extern void gnngp_finder_check_unknown(const gnngp_finder *f);

/* The node of an id, or -1 when it is NULL or unknown. */
static inline int32
gnngp_finder_find(gnngp_finder *f, Datum value, bool null)
{
	if (likely(!null && f->r->integer_ids))
	{
		int32		node = gnngp_idmap_find(&f->r->map, gnngp_integer_datum(value, f->base));

		if (likely(node >= 0))
			return node;
	}
	return gnngp_finder_find_slow(f, value, null);
}

/* The same without a word of what is not found: -1. */
static inline int32
gnngp_finder_try(gnngp_finder *f, Datum value, bool null)
{
	if (null)
		return -1;
	gnngp_id	id = gnngp_datum_id(value, f->base, &f->r->id_output);
	return id.text ? gnngp_idmap_find_text(&f->r->map, id.text, id.length) :
		gnngp_idmap_find(&f->r->map, id.key);
}

#endif							/* GNNGP_READ_IDS_H */
