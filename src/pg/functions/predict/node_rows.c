/*
 * node_rows.c - rows for the stored nodes of a model that a call names.
 *
 * The rows go into a tuplestore block by block; a FROM clause would collect
 * them in one anyway.  Class labels are made once and shared by all rows.
 */
#include "postgres.h"

#include "node_rows.h"

static void
emit_row(void *state, const gnngp_block *block, int32 i, int64 place)
{
	gnngp_node_rows *rows = state;
	gnngp_node_row row;

	rows->found++;
	gnngp_block_row(block, i, &row);
	rows->emit(rows, block, &row);
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
	rows->result = gnngp_result_start(fcinfo);
}

static void
read_blocks(gnngp_node_rows *rows, const char *section)
{
	gnngp_given_ids_sort(&rows->given);
	gnngp_store_read(rows->model, section, &rows->given, emit_row, rows);
}

void
gnngp_node_rows_run(gnngp_node_rows *rows, FunctionCallInfo fcinfo, const char *section, int nodes,
					gnngp_emit_node emit, void *arg)
{
	int			guc_level = gnngp_output_level();

	rows->emit = emit;
	rows->arg = arg;
	gnngp_id_type_open_argument(&rows->id_type, rows->model, fcinfo, nodes);
	if (gnngp_given_ids_as_written(&rows->id_type, fcinfo, nodes, &rows->given))
		read_blocks(rows, section);
	if (rows->found == 0)
	{
		rows->given = gnngp_given_ids_read(&rows->id_type, fcinfo, nodes);
		read_blocks(rows, section);
	}
	/* Only labelled nodes are among those that were left out. */
	if (strcmp(section, "node") == 0 && !rows->given.all)
		gnngp_notice_unknown(rows->model, rows->given.n - rows->found, rows->given.n);
	AtEOXact_GUC(false, guc_level);
}

void
gnngp_node_rows_all(gnngp_node_rows *rows, const char *section, gnngp_emit_node emit)
{
	int			guc_level = gnngp_output_level();

	rows->emit = emit;
	rows->given.all = true;
	read_blocks(rows, section);
	AtEOXact_GUC(false, guc_level);
}

Datum
gnngp_node_rows_class(const gnngp_node_rows *rows, const gnngp_block *block,
					  const gnngp_node_row *row, int32 k)
{
	uint16		class = gnngp_row_class(row, k);

	if (class >= block->nclasses)
		gnngp_store_corrupted(rows->model, "a class is unknown");
	return rows->class_label[class];
}
