/*
 * task_look.c - a look at a task before it is stored or fitted.
 */
#include "postgres.h"

#include "task.h"

void
gnngp_task_check(gp_env *env, const gnngp_graph_def *task)
{
	gnngp_schema_use use;
	gnngp_task_rows rows;

	gnngp_schema_begin(&use, env, task, true);
	gnngp_task_rows_open(&rows, env, use.schema, task, "classes");
	gnngp_task_rows_check(&rows);
	gnngp_schema_end(&use);
}

Oid
gnngp_task_column(gp_env *env, gnngp_graph_def *task, const char *target)
{
	gnngp_schema_use use;
	gnngp_column_list list;
	Oid			table;
	char	   *name;

	gnngp_schema_begin(&use, env, gnngp_graph_of_task(task), true);
	list = gnngp_column_list_read(use.schema, target, "target");
	if (list.n != 1)
		gnngp_raise(INVALID_PARAMETER_VALUE, "Write it as 'table.column'.",
					"\"target\" must name one column");
	table = use.schema->table[list.table].table.oid;
	name = gnngp_keep_text(env, use.schema->table[list.table].column[list.column[0]].column.name);
	gnngp_schema_end(&use);
	task->task.target = pstrdup(name);
	return table;
}

const gnngp_task_row *
gnngp_read_task_rows(gp_env *env, const gnngp_graph_def *task, gnngp_model *model, int64 *n)
{
	gnngp_schema_use use;
	gnngp_task_rows rows;

	gnngp_schema_begin(&use, env, task, true);
	gnngp_task_rows_open(&rows, env, use.schema, task, "classes");
	rows.texts = true;
	gnngp_find_newest(&rows);
	gnngp_task_rows_read(&rows);
	model->integer_ids = gnngp_is_integer_type(rows.id_column.base);
	model->id_type = gnngp_keep_text(env, gnngp_type_name(rows.id_column.type));
	gnngp_schema_end(&use);
	/* Those to predict stand behind. */
	for (*n = 0; *n < rows.n && rows.row[*n].label >= 0; ++*n)
		;
	return rows.row;
}
