/*
 * read_labels.h - the classes among the labels of a node table.
 *
 * Labels are numbered as they come and renumbered at the end: integers by
 * value, enums by their order, booleans false before true, others by text.
 */
#ifndef GNNGP_READ_LABELS_H
#define GNNGP_READ_LABELS_H

#include "pg/ids/idmap.h"
#include "read_source.h"

/* Class numbers are stored in 16 bits. */
#define GNNGP_MAX_CLASSES 65535

typedef struct gnngp_labels
{
	bool		integer;		/* labels are integers, else texts */
	Oid			enum_type;		/* InvalidOid when they are no enum values */
	gnngp_numbered label;		/* numbers are provisional */
} gnngp_labels;

/* How a target is read. */
typedef enum gnngp_target_kind
{
	GNNGP_TARGET_NONE,
	GNNGP_TARGET_INTEGER,		/* a class each */
	GNNGP_TARGET_TEXT,			/* a class each */
	GNNGP_TARGET_VALUE
} gnngp_target_kind;

/* Decides how a target is read; 42804 for a type that does not go with the task. */
extern gnngp_target_kind gnngp_target_choose(const char *table, const gnngp_column *target,
											 const char *task);

extern void gnngp_labels_init(gnngp_labels *labels, gp_env *env, bool integer, Oid enum_type);

/*
 * The provisional number of a label, an integer of a type or a text, which is added when new; -1
 * when there are too many.
 */
extern int32 gnngp_labels_number(gnngp_labels *labels, Datum value, Oid base);

/*
 * Sorts the classes.  The result maps provisional numbers to final ones; *names
 * are the labels in class order.  Both belong to the environment.
 */
extern int32 *gnngp_labels_finish(gnngp_labels *labels, char ***names);

#endif							/* GNNGP_READ_LABELS_H */
