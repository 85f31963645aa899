/*
 * store_pairs.c - the section "link_best": the best missing links of every node.
 *
 * The count of a block is the number of its pairs.  A row has, behind its id, the end of
 * its pairs uint32.  Behind the rows stand the pairs: key of the other end int64, end of
 * its id's text uint32, its number uint32, score, variance and probability double.  The
 * texts are those of the nodes, then of the other ends.
 */
#include "postgres.h"

#include "store_links.h"
#include "store_rows.h"

#define PAIRS_MAGIC 0x4b504e42	/* BNPK */
#define PAIRS_TARGET (32 * 1024)	/* whoever wants a node reads one block */

#define PAIRS_DIRECTED 2		/* a flag */

#define AT_PAIR_END AT_REST		/* of a row */
#define ROW_BYTES (AT_REST + 4)

#define AT_DST AT_REST			/* of a pair */
#define AT_SCORE (AT_REST + 4)
#define AT_VARIANCE (AT_REST + 12)
#define AT_PROBABILITY (AT_REST + 20)
#define PAIR_BYTES (AT_REST + 28)

/* ---- writing ---- */

typedef struct pair_writer
{
	const gnngp_ids *ids;
	const gp_link_kept *kept;
	bool		directed;
} pair_writer;

/* The bytes of a node with its pairs. */
static size_t
bytes_of(void *state, int64 i)
{
	const pair_writer *w = state;
	size_t		bytes = ROW_BYTES + gnngp_text_bytes(w->ids, i);

	for (int64 e = w->kept->first[i]; e < w->kept->first[i + 1]; e++)
		bytes += PAIR_BYTES + gnngp_text_bytes(w->ids, w->kept->row[e].dst);
	return bytes;
}

static void
pack_rows(void *state, char *block, int64 first, int64 n)
{
	const pair_writer *w = state;
	const int64_t *start = w->kept->first + first;
	int64		npairs = start[n] - start[0];
	char	   *row = block + ROWS_HEADER;
	char	   *pair = row + n * ROW_BYTES;
	char	   *texts = pair + npairs * PAIR_BYTES;
	size_t		text_end = 0;

	gnngp_put32(block + AT_FLAGS, (w->ids->integer ? 0 : ROWS_TEXT_IDS) |
				(w->directed ? PAIRS_DIRECTED : 0));
	gnngp_put32(block + AT_COUNT, (uint32) npairs);
	for (int64 i = 0; i < n; i++, row += ROW_BYTES)
	{
		gnngp_pack_id(w->ids, first + i, row, texts, &text_end);
		gnngp_put32(row + AT_PAIR_END, (uint32) (start[i + 1] - start[0]));
	}
	for (int64 e = start[0]; e < start[n]; e++, pair += PAIR_BYTES)
	{
		const gp_link_row *from = &w->kept->row[e];

		gnngp_pack_id(w->ids, from->dst, pair, texts, &text_end);
		gnngp_put32(pair + AT_DST, (uint32) from->dst);
		gnngp_put_float8(pair + AT_SCORE, from->score);
		gnngp_put_float8(pair + AT_VARIANCE, from->variance);
		gnngp_put_float8(pair + AT_PROBABILITY, from->probability);
	}
}

/* ---- reading ---- */

static size_t
open_pairs(gnngp_block *block, uint32 count)
{
	size_t		rows = (size_t) block->nrows * ROW_BYTES;

	if (count > PG_INT32_MAX)
		return SIZE_MAX;
	block->stride = ROW_BYTES;
	block->rows = block->data + ROWS_HEADER;
	block->npairs = (int32) count;
	block->directed = (block->flags & PAIRS_DIRECTED) != 0;
	block->pairs = block->rows + rows;
	return ROWS_HEADER + rows + (size_t) count * PAIR_BYTES;
}

static gnngp_row_section
section_of(const gnngp_model *model)
{
	return (gnngp_row_section) {
		.model = model,.name = "link_best",.version = model->link.version,.magic = PAIRS_MAGIC,
		.integer_ids = model->link.integer_ids,.rows = model->link.nodes,
		.row_bytes = ROW_BYTES + (size_t) model->link.settings.keep * PAIR_BYTES,
		.target = PAIRS_TARGET,.open = open_pairs
	};
}

int64
gnngp_kept_write(const gnngp_model *model, const gnngp_ids *ids, const gp_link_kept *kept,
				 bool directed)
{
	gnngp_row_section section = section_of(model);
	pair_writer w = {ids, kept, directed};
	gnngp_row_packer packer = {
		.head = ROWS_HEADER,.n = kept->nodes,.bytes = bytes_of,.pack = pack_rows,
		.state = &w
	};

	gnngp_spi_connect();
	int64		bytes = gnngp_section_write(&section, ids, &packer);
	gnngp_spi_finish();
	return bytes;
}

int64
gnngp_kept_bytes(const gnngp_ids *ids, int64 keep)
{
	size_t		texts = 0;

	for (int64 i = 0; i < ids->n; i++)
		texts += gnngp_text_bytes(ids, i);
	return ids->n * (ROW_BYTES + keep * PAIR_BYTES) + (1 + keep) * (int64) texts;
}

void
gnngp_kept_read(const gnngp_model *model, const gnngp_given_ids *given, gnngp_stored_row_fn row,
				void *state)
{
	gnngp_row_section section = section_of(model);

	gnngp_section_read(&section, given, row, state);
}

void
gnngp_kept_node_at(const gnngp_block *block, int32 i, gnngp_kept_node *node)
{
	const char *row = block->rows + (size_t) i * ROW_BYTES;
	const char *before = i > 0 ? row - ROW_BYTES : NULL;
	uint32		first = before ? gnngp_get32(before + AT_PAIR_END) : 0;
	uint32		end = gnngp_get32(row + AT_PAIR_END);

	if (first > end || end > (uint32) block->npairs)
		gnngp_store_corrupted(block->model, "a kept link lies outside its block");
	node->node = block->first + i;
	node->first = (int32) first;
	node->end = (int32) end;
	gnngp_block_id(block, row, before, &node->id);
}

void
gnngp_kept_pair_at(const gnngp_block *block, int32 e, gnngp_kept_pair *pair)
{
	const char *from = block->pairs + (size_t) e * PAIR_BYTES;
	/* The text of the first pair begins where that of the last node ends. */
	const char *before = e > 0 ? from - PAIR_BYTES : block->pairs - ROW_BYTES;

	gnngp_block_id(block, from, before, &pair->id);
	pair->dst = (int32) gnngp_get32(from + AT_DST);
	pair->score = gnngp_get_float8(from + AT_SCORE);
	pair->variance = gnngp_get_float8(from + AT_VARIANCE);
	pair->probability = gnngp_get_float8(from + AT_PROBABILITY);
	if (pair->dst < 0 || pair->dst >= block->model->link.nodes || !isfinite(pair->score) ||
		!(pair->variance >= 0.0 && pair->probability >= 0.0 && pair->probability <= 1.0))
		gnngp_store_corrupted(block->model, "a kept link is out of range");
}
