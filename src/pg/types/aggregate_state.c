/*
 * aggregate_state.c - what the states of all aggregates share.
 *
 * A state lives expanded in the aggregate's memory, and is written flat where it
 * travels: first for its size, then copied to its place.
 */
#include "postgres.h"

#include "aggregate_state.h"

/* Writes the state; the size of that. */
static Size
flat_size(ExpandedObjectHeader *header)
{
	gnngp_state_head *head = (gnngp_state_head *) header;
	MemoryContext old = MemoryContextSwitchTo(header->eoh_context);

	if (head->flat)
		pfree(head->flat);
	head->flat = NULL;
	head->flat = (struct varlena *) DatumGetPointer(head->write(head));
	MemoryContextSwitchTo(old);
	return VARSIZE(head->flat);
}

static void
flatten_into(ExpandedObjectHeader *header, void *result, Size size)
{
	gnngp_state_head *head = (gnngp_state_head *) header;

	memcpy(result, head->flat, size);
	pfree(head->flat);
	head->flat = NULL;
}

const ExpandedObjectMethods gnngp_state_methods = {flat_size, flatten_into};

void *
gnngp_state_create(MemoryContext parent, const char *name, Size size, gnngp_state_write write)
{
	MemoryContext context = parent->firstchild;

	while (context && context->name != name)
		context = context->nextchild;
	if (context == NULL)
		context = AllocSetContextCreateInternal(parent, name, ALLOCSET_DEFAULT_SIZES);
	gnngp_state_head *head = MemoryContextAllocZero(context, size);
	EOH_init_header(&head->header, &gnngp_state_methods, context);
	head->write = write;
	return head;
}

MemoryContext
gnngp_aggregate_context(FunctionCallInfo fcinfo, const char *aggregate)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		gnngp_raise(FEATURE_NOT_SUPPORTED, NULL, "a step of the aggregate %s cannot be called by itself",
					aggregate);
	return context;
}

void
gnngp_aggregate_null(const char *argument)
{
	gnngp_raise(NULL_VALUE_NOT_ALLOWED,
				psprintf("FILTER (WHERE %s IS NOT NULL) leaves such rows out.", argument),
				"%s must not be NULL", argument);
}
