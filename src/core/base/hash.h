/*
 * hash.h - mixing of 64 bits, for fingerprints and for random numbers by counter.
 */
#ifndef GP_HASH_H
#define GP_HASH_H

#include <stdint.h>

#define GP_GOLDEN UINT64_C(0x9e3779b97f4a7c15)	/* 2^64 over the golden ratio */

#ifndef GP_ON_CARD
#define GP_ON_CARD				/* what a function for host and card is marked with */
#endif

/* Mixes 64 bits one to one (the finaliser of splitmix64); 0 stays 0. */
GP_ON_CARD static inline uint64_t
gp_mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* The same, moved so that 0 gives an ordinary value. */
static inline uint64_t
gp_hash(uint64_t x)
{
	return gp_mix64(x + GP_GOLDEN);
}

#endif							/* GP_HASH_H */
