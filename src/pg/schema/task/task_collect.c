/*
 * task_collect.c - taking rows of a task as they come.
 */
#include "postgres.h"

#include <math.h>

#include "task.h"
#include "utils/builtins.h"

/* Takes a target: a class as it came, or a value. */
static void
read_target(gnngp_task_rows *t, gnngp_task_row *row, Datum target)
{
	if (t->texts)
		row->target = gnngp_keep_text(t->env, TextDatumGetCString(target));
	else if (t->kind == GNNGP_TARGET_VALUE)
	{
		row->value = gnngp_number_datum(target, t->target.base);
		if (!isfinite(row->value))
			gnngp_raise(NUMERIC_VALUE_OUT_OF_RANGE,
						"A target must be finite; NULL marks the rows to predict.",
						"a target of task \"%s\" is %g", t->task->name, row->value);
	}
	else
		row->label = gnngp_labels_number(&t->labels, target, t->kind == GNNGP_TARGET_INTEGER ?
										 t->target.base : TEXTOID);
	if (row->label < 0)
		gnngp_raise(DATA_EXCEPTION,
					"Use a coarser target, or task => 'regression' if it is a number.",
					"the target of task \"%s\" has more than %d classes", t->task->name,
					GNNGP_MAX_CLASSES);
}

void
gnngp_task_rows_add(gnngp_task_rows *t, Datum id, gp_time as_of, Datum target, bool no_target)
{
	if (t->n == t->room)
	{
		t->room = t->room ? 2 * t->room : 1024;
		t->row = gp_realloc_array(t->env, t->row, t->room, sizeof(gnngp_task_row));
	}
	gnngp_task_row *row = &t->row[t->n++];
	*row = (gnngp_task_row) {.id = gnngp_datum_id(id, t->id_column.base, NULL),.as_of = as_of};
	if (row->id.text)
		row->id.text = gnngp_copy_text(t->env, row->id.text, row->id.length);
	if (no_target)
		row->label = -1;
	else
		read_target(t, row, target);
}
