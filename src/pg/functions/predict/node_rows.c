/*
 * node_rows.c - rows for the stored nodes of a model that a call names.
 *
 * The rows go into a tuplestore block by block; a FROM clause would collect
 * them in one anyway.  Class labels are made once and shared by all rows.
 */
#include "postgres.h"

#include "node_rows.h"

/* Puts row i of a block. */
static void
put_row(gnngp_node_rows *rows, const gnngp_block *block, int32 i)
{
	gnngp_node_row row;

	gnngp_block_row(block, i, &row);
	rows->put(rows, block, &row);
	MemoryContextReset(rows->row_context);
}

/*
 * Puts the rows of a block that are asked for.  Rows with one key may go on in
 * the next block: texts may have the same hash.
 */
static bool
put_block(void *state, const gnngp_block *block)
{
	gnngp_node_rows *rows = state;
	MemoryContext old = MemoryContextSwitchTo(rows->row_context);

	for (int32 i = 0; rows->given.all && i < block->nrows; i++)
		put_row(rows, block, i);
	while (rows->next < rows->given.n)
	{
		int64		key = rows->given.id[rows->next].key;
		int32		i = gnngp_block_search(block, key);
		gnngp_node_row row;

		CHECK_FOR_INTERRUPTS();
		for (; i < block->nrows; i++)
		{
			gnngp_block_row(block, i, &row);
			if (row.id.key != key)
				break;
			if (gnngp_given_ids_have(&rows->given, &row.id))
			{
				rows->found++;
				put_row(rows, block, i);
			}
		}
		if (i == block->nrows)
			break;
		while (rows->next < rows->given.n && rows->given.id[rows->next].key == key)
			rows->next++;
	}
	MemoryContextSwitchTo(old);
	return true;
}

void
gnngp_node_rows_open(gnngp_node_rows *rows, FunctionCallInfo fcinfo)
{
	memset(rows, 0, sizeof(*rows));
	rows->model = gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false);
	gnngp_require_node_part(rows->model);
	rows->class_label = palloc(sizeof(Datum) * Max(rows->model->class_labels.n, 1));
	for (int c = 0; c < rows->model->class_labels.n; c++)
		rows->class_label[c] = CStringGetTextDatum(rows->model->class_labels.text[c]);
	rows->row_context = AllocSetContextCreate(CurrentMemoryContext, "gnngp prediction",
											  ALLOCSET_DEFAULT_SIZES);
	rows->result = gnngp_rows_start(fcinfo);
}

static void
read_blocks(gnngp_node_rows *rows, const char *part)
{
	int64	   *keys = NULL;

	if (!rows->given.all)
	{
		gnngp_given_ids_sort(&rows->given);
		keys = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64) * Max(rows->given.n, 1));
		for (int64 i = 0; i < rows->given.n; i++)
			keys[i] = rows->given.id[i].key;
	}
	gnngp_store_read(rows->model, part, keys, rows->given.n, put_block, rows);
}

void
gnngp_node_rows_run(gnngp_node_rows *rows, FunctionCallInfo fcinfo, const char *part, int nodes,
					gnngp_put_node put, void *arg)
{
	gnngp_id_hints hints = gnngp_id_hints_for(fcinfo);
	int			guc_level = NewGUCNestLevel();

	gnngp_pin_output_settings();
	rows->put = put;
	rows->arg = arg;
	gnngp_id_type_open_argument(&rows->id_type, rows->model, fcinfo, nodes, &hints);
	if (gnngp_given_ids_as_written(&rows->id_type, fcinfo, nodes, &rows->given))
		read_blocks(rows, part);
	if (rows->found == 0)
	{
		rows->next = 0;
		rows->given = gnngp_given_ids_read(&rows->id_type, fcinfo, nodes);
		read_blocks(rows, part);
	}
	/* Only labelled nodes are among those that were left out. */
	if (strcmp(part, "node") == 0 && !rows->given.all)
		gnngp_notice_unknown(rows->model, rows->given.n - rows->found, rows->given.n);
	AtEOXact_GUC(false, guc_level);
}

void
gnngp_node_rows_all(gnngp_node_rows *rows, const char *part, gnngp_put_node put)
{
	int			guc_level = NewGUCNestLevel();

	gnngp_pin_output_settings();
	rows->put = put;
	rows->given.all = true;
	read_blocks(rows, part);
	AtEOXact_GUC(false, guc_level);
}

Datum
gnngp_node_rows_class(const gnngp_node_rows *rows, const gnngp_block *block,
					  const gnngp_node_row *row, int32 k)
{
	uint16		class = gnngp_row_class(row, k);

	if (class >= block->nclasses)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the stored model \"%s\" is damaged: a class is unknown", rows->model->name)));
	return rows->class_label[class];
}
