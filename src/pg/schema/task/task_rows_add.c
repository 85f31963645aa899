/*
 * task_rows_add.c - takes rows of a task as they come.
 */
#include "postgres.h"

#include <math.h>

#include "task.h"
#include "utils/builtins.h"

/* Takes a target: a class as it came, or a value. */
static void
read_target(gnngp_task_rows *rows, gnngp_task_row *row, Datum target)
{
	if (rows->texts)
		row->target = gnngp_keep_text(rows->env, TextDatumGetCString(target));
	else if (rows->kind == GNNGP_TARGET_VALUE)
	{
		row->value = gnngp_number_datum(target, rows->target.base);
		if (!isfinite(row->value))
			gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE,
						"A target must be finite; NULL marks the rows to predict.",
						"a target of task \"%s\" is %g", rows->task->name, row->value);
	}
	else
		row->label = gnngp_labels_number(&rows->labels, target,
										 rows->kind == GNNGP_TARGET_INTEGER ?
										 rows->target.base : TEXTOID);
	if (row->label < 0)
		gnngp_raise(DATA_EXCEPTION,
					"Use a coarser target, or task => 'regression' if it is a number.",
					"the target of task \"%s\" has more than %d classes", rows->task->name,
					GNNGP_MAX_CLASSES);
}

void
gnngp_task_rows_add(gnngp_task_rows *rows, Datum id, gp_time as_of, Datum target, bool no_target)
{
	GP_GROW(rows->env, rows->row, rows->n, rows->room);
	gnngp_task_row *row = &rows->row[rows->n++];

	*row = (gnngp_task_row) {.id = gnngp_datum_id(id, rows->id_column.base, NULL),.as_of = as_of};
	if (row->id.text)
		row->id.text = gnngp_copy_text(rows->env, row->id.text, row->id.length);
	if (no_target)
		row->label = -1;
	else
		read_target(rows, row, target);
}
