/*
 * store_rows.h - sections whose blocks hold rows that are looked up by the key of a node.
 *
 * A block is
 *
 *   header    as in every block (store_blocks.h), then
 *             flags uint32      ROWS_TEXT_IDS, and others of the section
 *             nrows uint32
 *             count uint32      what else the section counts
 *             first uint32      the number of the first row in the section
 *   ...       what the section puts before its rows
 *   rows      nrows times: key int64, end of the id's text uint32, then what the section has
 *   ...       what it puts behind them
 *   texts     the ids' texts; only when ids are texts
 *
 * Rows ascend by key.  Numbers are little-endian.
 */
#ifndef GNNGP_STORE_ROWS_H
#define GNNGP_STORE_ROWS_H

#include "pg/reader/reader.h"
#include "store.h"
#include "store_blocks.h"

#define ROWS_FORMAT 1

#define AT_FLAGS AT_CONTENT		/* uint32 */
#define AT_NROWS (AT_CONTENT + 4)	/* uint32 */
#define AT_COUNT (AT_CONTENT + 8)	/* uint32 */
#define AT_FIRST (AT_CONTENT + 12)	/* uint32 */
#define ROWS_HEADER (AT_CONTENT + 16)

#define ROWS_TEXT_IDS 1			/* a flag; a section has others from 2 on */

#define AT_KEY 0				/* int64 */
#define AT_TEXT_END 8			/* uint32 */
#define AT_REST 12

/* A section of a model, and how its blocks are made. */
typedef struct gnngp_row_section
{
	const gnngp_model *model;
	const char *name;
	int64		version;
	uint32		magic;
	bool		integer_ids;
	int64		rows;			/* of all its blocks */
	size_t		row_bytes;		/* about */
	size_t		target;			/* bytes of a block */

	/*
	 * Sets what a block has beside what is common: stride and rows, and what is of the
	 * section alone; gives the bytes before the texts, rows included.
	 */
	size_t		(*open) (gnngp_block *block, uint32 count);
} gnngp_row_section;

/* Hands out the rows of given ids, sorted, by reading the blocks that may hold their keys. */
extern void gnngp_section_read(const gnngp_row_section *section, const gnngp_given_ids *given,
							   gnngp_stored_row_fn row, void *state);

/* Unpacks the id of a row; before is the row before it, or NULL where its text is the first. */
extern void gnngp_block_id(const gnngp_block *block, const char *row, const char *before,
						   gnngp_id *id);

/* How rows become blocks. */
typedef struct gnngp_row_packer
{
	size_t		head;			/* bytes of a block without rows, header included */
	int64		n;				/* rows */

	const int32 *node;			/* of each row; NULL: its number */

	/* The bytes that row i takes, with all texts. */
	size_t		(*bytes) (void *state, int64 i);

	/* Packs n rows from the first on, and flags and count of the header. */
	void		(*pack) (void *state, char *block, int64 first, int64 n);
	void	   *state;
} gnngp_row_packer;

/* Writes a section inside SPI; returns its bytes.  54000 for a row that is too long for a block. */
extern int64 gnngp_section_write(const gnngp_row_section *section, const gnngp_ids *ids,
								 const gnngp_row_packer *packer);

extern size_t gnngp_text_bytes(const gnngp_ids *ids, int64 node);

/* Packs the id of a row, whose text goes to the end of the texts. */
extern void gnngp_pack_id(const gnngp_ids *ids, int64 node, char *row, char *texts,
						  size_t *text_end);

#endif							/* GNNGP_STORE_ROWS_H */
