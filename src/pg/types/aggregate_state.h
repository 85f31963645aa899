/*
 * aggregate_state.h - states of aggregates that are expanded objects.
 */
#ifndef GNNGP_AGGREGATE_STATE_H
#define GNNGP_AGGREGATE_STATE_H

#include "edge_list.h"
#include "utils/expandeddatum.h"

/* The head of a state that lives expanded; write makes its flat value, and tells states apart. */
typedef struct gnngp_state_head
{
	ExpandedObjectHeader header;
	Datum		(*write) (struct gnngp_state_head *state);
	struct varlena *flat;		/* between the two steps of flattening */
} gnngp_state_head;

typedef Datum (*gnngp_state_write) (gnngp_state_head *state);

/* The methods of all such states. */
extern const ExpandedObjectMethods gnngp_state_methods;

/* The expanded state behind a datum, or NULL where it is flat or another; in line, for it runs for
 * every row. */
static inline void *
gnngp_expanded_state(Datum value, gnngp_state_write write)
{
	struct varlena *pointer = (struct varlena *) DatumGetPointer(value);
	varatt_expanded external;

	if (!VARATT_IS_EXTERNAL_EXPANDED(pointer))
		return NULL;
	/* DatumGetEOHP without a call. */
	memcpy(&external, VARDATA_EXTERNAL(pointer), sizeof(external));
	gnngp_state_head *head = (gnngp_state_head *) external.eohptr;
	return head->header.eoh_methods == &gnngp_state_methods && head->write == write ? head : NULL;
}

/*
 * Makes a state of a size, which begins with its head and is zero behind it.  All states of one
 * name, a literal, share a context below their parent: for every new group the server adds up the
 * memory of all contexts there.  So no state is deleted alone.
 */
extern void *gnngp_state_create(MemoryContext parent, const char *name, Size size,
								gnngp_state_write write);

/* The context of the states of an aggregate; an error outside of one. */
extern MemoryContext gnngp_aggregate_context(FunctionCallInfo fcinfo, const char *aggregate);

/* 22004 for an input that is NULL. */
pg_noreturn extern void gnngp_aggregate_null(const char *argument);

#endif							/* GNNGP_AGGREGATE_STATE_H */
