/*
 * store_blocks.h - what every block of the table gp_block begins with, and how blocks are
 * written and read.
 *
 * A block is keyed (model, version, part, block).  The checksum is a CRC-32C of the block
 * with the checksum's field zero.  A block is trusted only after its length and checksum
 * are right, and then only within its own bounds.
 */
#ifndef GNNGP_STORE_BLOCKS_H
#define GNNGP_STORE_BLOCKS_H

#include "pg/catalog/catalog.h"

#define BLOCK_MAX (16 * 1024 * 1024)

#define AT_MAGIC 0				/* uint32 */
#define AT_FORMAT 4				/* uint32 */
#define AT_LENGTH 8				/* uint64 */
#define AT_CHECKSUM 16			/* uint32 */
#define AT_CONTENT 20

/* The key of a block in the table. */
typedef struct gnngp_block_key
{
	int64		model;
	int64		version;
	const char *section;
	int32		block;
	const int64 *first_key;		/* of blocks whose rows are looked up by key; else NULL */
} gnngp_block_key;

/* Fills in what a block begins with, in a varlena of so many bytes, and inserts it, inside SPI. */
extern void gnngp_store_insert(gnngp_block_key key, uint32 magic, uint32 format, char *buffer,
							   size_t length, int32 nrows);

/* Checks what a block begins with: XX001, or 0A000 for another format; header is its size. */
extern void gnngp_store_check_block(const gnngp_model *model, uint32 magic, uint32 format,
									size_t header, const char *data, size_t length);

/* Which blocks of a section are read. */
typedef enum gnngp_which_blocks
{
	GNNGP_BLOCKS_ALL,
	GNNGP_BLOCKS_FIRST,
	GNNGP_BLOCKS_KEY			/* those that may hold a key */
} gnngp_which_blocks;

/* Hands them over in order, under row-level security and inside SPI: a bytea each. */
extern void gnngp_store_receive(const gnngp_model *model, int64 version, const char *section,
								gnngp_which_blocks which, int64 key, const gnngp_sink *rows);

#endif							/* GNNGP_STORE_BLOCKS_H */
