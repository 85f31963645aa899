/*
 * store_arrays.h - a part of a model that is a list of arrays.
 *
 * Arrays have tags of the caller's; the ids of the nodes that they are about stand last.
 * Each array is cut into blocks of about 256 kB.
 */
#ifndef GNNGP_STORE_ARRAYS_H
#define GNNGP_STORE_ARRAYS_H

#include "postgres.h"

#include "core/links/links.h"
#include "pg/catalog/catalog.h"
#include "pg/reader/reader.h"
#include "store.h"

#define GNNGP_ELEMENT_BYTE 100	/* an element type beside the core's */
#define GNNGP_MAX_ARRAYS (GP_LINK_MAX_ARRAYS + 3)

typedef struct gnngp_arrays
{
	int			n;
	gp_link_array array[GNNGP_MAX_ARRAYS];
} gnngp_arrays;

/* Adds an array to the list; the element type is the core's or GNNGP_ELEMENT_BYTE. */
extern void gnngp_arrays_add(gnngp_arrays *list, int32 tag, int element, int64 count,
							 const void *data);

/*
 * Writes a part under (model->id, model->link.version), one whose name does not begin with "link"
 * under the nodes' version, and the ids, unless they are NULL, after its arrays.
 */
extern void gnngp_arrays_write(const gnngp_model *model, const char *part, gnngp_arrays *list,
							   const gnngp_ids *ids);

/* Reads it under the active snapshot, into memory of the environment; false where it has no
 * block. */
extern bool gnngp_arrays_read(gp_env *env, const gnngp_model *model, const char *part,
							  gnngp_arrays *list);

/*
 * Puts the arrays of a list, its ids taken, into the order of their tags: XX001 unless each
 * tag is below n, stands once, and has the element type that it should.  One that is not
 * there has no elements, and data NULL.
 */
extern void gnngp_arrays_sort(const gnngp_model *model, const char *part, const gnngp_arrays *list,
							  const int *element, int n, gp_link_array *array);

/* XX001: the arrays of a part contradict each other. */
pg_noreturn extern void gnngp_arrays_damaged(const gnngp_model *model, const char *part);

/* Takes the ids off the end of the list: XX001 unless they are there, whole and in order. */
extern void gnngp_arrays_pop_ids(const gnngp_model *model, const char *part, gnngp_arrays *list,
								  gnngp_link_ids *ids);

#endif							/* GNNGP_STORE_ARRAYS_H */
