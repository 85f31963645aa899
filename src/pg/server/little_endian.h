/*
 * little_endian.h - numbers among bytes: the low byte first, and not aligned.
 */
#ifndef GNNGP_LITTLE_ENDIAN_H
#define GNNGP_LITTLE_ENDIAN_H

#include "port/pg_bswap.h"

#ifdef WORDS_BIGENDIAN
#define GNNGP_SWAP(bits, v) pg_bswap##bits(v)
#else
#define GNNGP_SWAP(bits, v) (v)
#endif

/* gnngp_get... and gnngp_put... of a type. */
#define GNNGP_NUMBER(name, type, bits) \
static inline type \
gnngp_get##name(const void *p) \
{ \
	uint##bits	raw; \
	type		v; \
\
	memcpy(&raw, p, sizeof(raw)); \
	raw = GNNGP_SWAP(bits, raw); \
	memcpy(&v, &raw, sizeof(v)); \
	return v; \
} \
\
static inline void \
gnngp_put##name(void *p, type v) \
{ \
	uint##bits	raw; \
\
	memcpy(&raw, &v, sizeof(raw)); \
	raw = GNNGP_SWAP(bits, raw); \
	memcpy(p, &raw, sizeof(raw)); \
}

GNNGP_NUMBER(16, uint16, 16)
GNNGP_NUMBER(32, uint32, 32)
GNNGP_NUMBER(64, uint64, 64)
GNNGP_NUMBER(_float4, float4, 32)
GNNGP_NUMBER(_float8, float8, 64)

/* Turns numbers of size bytes each from the machine's order, or back to it. */
static inline void
gnngp_turn_numbers(void *data, size_t bytes, size_t size)
{
#ifdef WORDS_BIGENDIAN
	for (char *p = data; p < (char *) data + bytes; p += size)
		for (size_t i = 0; i < size / 2; i++)
		{
			char		low = p[i];

			p[i] = p[size - 1 - i];
			p[size - 1 - i] = low;
		}
#endif
}

#endif							/* GNNGP_LITTLE_ENDIAN_H */
