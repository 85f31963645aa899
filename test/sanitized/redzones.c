/*
 * redzones.c - gives each piece of memory of the server's a red zone of its own, for the address sanitizer.
 *
 * The server cuts small pieces out of blocks, between which the sanitizer sees no border.  Calls of the
 * library are linked to these (-Wl,--wrap), which ask for so much that each piece is a block of malloc's,
 * and poison what is beyond it.
 */
#include "postgres.h"

#include <sanitizer/asan_interface.h>

#include "utils/memutils.h"

#define BLOCK 8300				/* more than the server takes from a shared block */
#define ZONE 64

extern void *__real_MemoryContextAllocExtended(MemoryContext context, Size size, int flags);
extern void *__real_repalloc_huge(void *p, Size size);

/* What is asked for in place of size bytes. */
static Size
with_zone(Size size)
{
	return Max(size + ZONE, BLOCK);
}

/* Poisons what is beyond a piece. */
static void *
closed(void *p, Size size)
{
	if (p != NULL)
		ASAN_POISON_MEMORY_REGION((char *) p + size, with_zone(size) - size);
	return p;
}

void *
__wrap_MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	return closed(__real_MemoryContextAllocExtended(context, with_zone(size), flags), size);
}

void *
__wrap_MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return __wrap_MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE);
}

void *
__wrap_MemoryContextAlloc(MemoryContext context, Size size)
{
	return __wrap_MemoryContextAllocExtended(context, size, 0);
}

void *
__wrap_MemoryContextAllocZero(MemoryContext context, Size size)
{
	return __wrap_MemoryContextAllocExtended(context, size, MCXT_ALLOC_ZERO);
}

void *
__wrap_palloc(Size size)
{
	return __wrap_MemoryContextAllocExtended(CurrentMemoryContext, size, 0);
}

void *
__wrap_palloc0(Size size)
{
	return __wrap_MemoryContextAllocExtended(CurrentMemoryContext, size, MCXT_ALLOC_ZERO);
}

/* The block is copied as a whole, with what was poisoned. */
void *
__wrap_repalloc_huge(void *p, Size size)
{
	ASAN_UNPOISON_MEMORY_REGION(p, BLOCK);
	return closed(__real_repalloc_huge(p, with_zone(size)), size);
}

void *
__wrap_repalloc(void *p, Size size)
{
	return __wrap_repalloc_huge(p, size);
}
