/*
 * store_arrays.h - a section of a model that is a list of arrays.
 *
 * Arrays have tags of the caller's; the ids of the nodes that they are about stand last.
 * Each array is cut into blocks of about 256 kB.  A section belongs to the version of the links
 * where its name begins with "link", else to that of the nodes.
 */
#ifndef GNNGP_STORE_ARRAYS_H
#define GNNGP_STORE_ARRAYS_H

#include "core/links/links.h"
#include "pg/reader/reader.h"
#include "store.h"

#define GNNGP_ELEMENT_BYTE 100	/* an element type beside the core's */

typedef struct gnngp_arrays
{
	int			n;
	int			room;
	gp_link_array *array;		/* palloc'd */
} gnngp_arrays;

/* Adds an array to the list; the element type is the core's or GNNGP_ELEMENT_BYTE. */
extern void gnngp_arrays_add(gnngp_arrays *list, int32 tag, int element, int64 count,
							 const void *data);

/* Writes a section, and the ids, unless they are NULL, after its arrays. */
extern void gnngp_arrays_write(const gnngp_model *model, const char *section, gnngp_arrays *list,
							   const gnngp_ids *ids);

/* The same of n arrays, by tags from 0 on; those without elements are left out. */
extern void gnngp_arrays_save(const gnngp_model *model, const char *section, int n,
							  const int *element, const int64 *count, const void *const *data,
							  const gnngp_ids *ids);

/*
 * Reads a section under the active snapshot, into memory of the environment; ids, unless NULL, gets
 * those that stand last.  XX001 for a section that is not whole; false where what a training left,
 * or a live state, which dumps may leave out, is not there.
 */
extern bool gnngp_arrays_read(gp_env *env, const gnngp_model *model, const char *section,
							  gnngp_arrays *list, gnngp_ids *ids);

/*
 * The same of a section of n arrays of these elements, in the order of their tags.  One that is not
 * there has no elements, and data NULL.
 */
extern bool gnngp_arrays_load(gp_env *env, const gnngp_model *model, const char *section, int n,
							  const int *element, gp_link_array *array, gnngp_ids *ids);

/* XX001: the arrays of a section contradict each other. */
pg_noreturn extern void gnngp_arrays_damaged(const gnngp_model *model, const char *section);

#endif							/* GNNGP_STORE_ARRAYS_H */
