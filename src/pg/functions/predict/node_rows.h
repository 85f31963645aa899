/*
 * node_rows.h - rows for the stored nodes of a model that a call names.
 */
#ifndef GNNGP_NODE_ROWS_H
#define GNNGP_NODE_ROWS_H

#include "pg/store/store.h"
#include "pg/ids/given_ids.h"

typedef struct gnngp_node_rows gnngp_node_rows;

/* Emits what a call says of one node: any number of rows.  Its memory lasts for a block. */
typedef void (*gnngp_emit_node) (gnngp_node_rows *rows, const gnngp_block *block,
								 const gnngp_node_row *row);

/* A call for nodes; what it needs for its rows stands behind arg. */
struct gnngp_node_rows
{
	const gnngp_model *model;
	gnngp_emit_node emit;
	void	   *arg;
	gnngp_id_type id_type;
	Datum	   *class_label;	/* text of each class, shared by all rows */
	gnngp_result *result;
	gnngp_given_ids given;		/* sorted */
	int64		found;			/* how many of them the section has */
};

/*
 * Looks up the model that the first argument names, and prepares its class labels and the result.
 */
extern void gnngp_node_rows_open(gnngp_node_rows *rows, FunctionCallInfo fcinfo);

/* Reads the nodes of a section that argument nodes names, and emits them one by one. */
extern void gnngp_node_rows_run(gnngp_node_rows *rows, FunctionCallInfo fcinfo, const char *section,
								int nodes, gnngp_emit_node emit, void *arg);

/* The same for all nodes of the section, without looking at their ids. */
extern void gnngp_node_rows_all(gnngp_node_rows *rows, const char *section, gnngp_emit_node emit);

/* The label of the k-th best class of a row; XX001 when the model has no such class. */
extern Datum gnngp_node_rows_class(const gnngp_node_rows *rows, const gnngp_block *block,
								   const gnngp_node_row *row, int32 k);

#endif							/* GNNGP_NODE_ROWS_H */
