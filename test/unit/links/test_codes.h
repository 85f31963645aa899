/*
 * test_codes.h - codes of nodes, as several tests look at them.
 */
#ifndef TEST_CODES_H
#define TEST_CODES_H

#include "links/links_internal.h"

#define WORDS GP_LINK_CODE_WORDS

/* The bits in which the codes of two nodes differ. */
static inline int
distance(const uint64_t *code, int i, int j)
{
	int			d = 0;

	for (int w = 0; w < WORDS; w++)
		d += __builtin_popcountll(code[i * WORDS + w] ^ code[j * WORDS + w]);
	return d;
}

/* True for a node that the kernel knows something of. */
static inline bool
has_code(const uint64_t *code, int i)
{
	for (int w = 0; w < WORDS; w++)
		if (code[i * WORDS + w])
			return true;
	return false;
}

#endif							/* TEST_CODES_H */
