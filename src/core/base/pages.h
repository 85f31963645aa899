/*
 * pages.h - large pages behind large arrays.
 *
 * The first touch of small pages costs as much as going over an array, and who
 * jumps about in it misses fewer translations of addresses.
 */
#ifndef GP_PAGES_H
#define GP_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define GP_LARGE_PAGE ((uintptr_t) 1 << 21)
#define GP_LARGE_ARRAY ((size_t) 1 << 22)	/* below, they are not worth a system call */

/* Asks for large pages behind an array that will be filled; the system may as well not. */
static inline void
gp_use_large_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	first = ((uintptr_t) p + GP_LARGE_PAGE - 1) / GP_LARGE_PAGE * GP_LARGE_PAGE;
	uintptr_t	end = ((uintptr_t) p + bytes) / GP_LARGE_PAGE * GP_LARGE_PAGE;

	if (bytes >= GP_LARGE_ARRAY && end > first)
		(void) madvise((void *) first, end - first, MADV_HUGEPAGE);
#endif
}

#endif							/* GP_PAGES_H */
