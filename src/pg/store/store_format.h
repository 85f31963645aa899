/*
 * store_format.h - the layout of a block of nodes.
 *
 *   header    HEADER_SIZE bytes, offsets below
 *   shares    double for each class; only when HAS_SHARES
 *   calibrator doubles: delta, gamma, then the bias of each class; only for classes
 *   rows      nrows times: key int64, variance double, log partition or value
 *             double, flags uint32, end of the id's text uint32, then for
 *             classes nclasses float4 scores and nclasses uint16 class numbers,
 *             best first, filled up to a multiple of 4 bytes; with HAS_TARGETS
 *             the target double: the number of the node's own class, or its value
 *   texts     the ids' texts; only when TEXT_IDS
 *
 * The checksum is a CRC-32C of the block with the checksum's field zero.
 */
#ifndef GNNGP_STORE_FORMAT_H
#define GNNGP_STORE_FORMAT_H

#define BLOCK_MAGIC 0x47504e42	/* GPNB */
#define BLOCK_FORMAT 1
#define BLOCK_TARGET (256 * 1024)	/* bytes from which a block is closed */
#define BLOCK_MAX (16 * 1024 * 1024)

#define BLOCK_TEXT_IDS 1		/* flags of a block */
#define BLOCK_HAS_SHARES 2
#define BLOCK_HAS_TARGETS 4

/* So begins every block, of nodes or of links. */
#define AT_MAGIC 0				/* uint32 */
#define AT_FORMAT 4				/* uint32 */
#define AT_LENGTH 8				/* uint64 */
#define AT_CHECKSUM 16			/* uint32 */

#define AT_FLAGS 20				/* uint32 */
#define AT_NROWS 24				/* uint32 */
#define AT_NCLASSES 28			/* uint32 */
#define HEADER_SIZE 32

#define ROW_LABELLED 1			/* flags of a row */
#define ROW_PRIOR 2

#define AT_KEY 0
#define AT_VARIANCE 8
#define AT_VALUE 16
#define AT_ROW_FLAGS 24
#define AT_TEXT_END 28
#define ROW_FIXED 32

/* The bytes of the calibrator of this many classes. */
static inline size_t
gnngp_calibrator_size(int32 nclasses)
{
	return nclasses > 0 ? ((size_t) nclasses + 2) * sizeof(double) : 0;
}

/* The bytes of a row with this many classes. */
static inline size_t
gnngp_row_stride(int32 nclasses)
{
	size_t		n = (size_t) nclasses;

	return ROW_FIXED + n * sizeof(float) + ((n * sizeof(uint16) + 3) & ~(size_t) 3);
}

#endif							/* GNNGP_STORE_FORMAT_H */
