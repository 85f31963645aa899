/*
 * next_labels_sql.c - gp_next_labels: which nodes to label next, from today's tables.
 *
 * All nodes that the caller sees are read: those that may be labelled, and those whose error
 * counts. What a label will be does not matter for it, and nothing is stored.
 */
#include "postgres.h"

#include "pg/functions/functions.h"
#include "live_common.h"

/* gp_next_labels(model, k, among) and gp_next_labels(model, among) */
PG_FUNCTION_INFO_V1(gnngp_next_labels);
Datum
gnngp_next_labels(PG_FUNCTION_ARGS)
{
	gnngp_live_call c;
	gnngp_neighbourhood *some = NULL;
	gp_live_question q;
	gp_live_choice choice = {0};
	bool		has_k = PG_NARGS() > 2;
	int32		k = has_k ? gnngp_count_argument(fcinfo, 1, "k", "Use k => NULL for all nodes.") :
		20;

	/* Who is left out has a label. */
	gnngp_live_call_open(&c, fcinfo, true);
	c.everything = true;
	gnngp_live_call_read_nodes(&c, has_k ? 2 : 1, "among");
	c.wanted = c.nodes.id;
	c.nwanted = c.nodes.n;
	if (c.nodes.all || c.nodes.n > 0)
	{
		q = gnngp_live_call_read(&c, &some);
		if (c.nodes.all)
		{
			q.asked = some->ids.n;
			q.node = NULL;
		}
		if (q.asked > 0)
			choice = gp_live_next(gnngp_live_call_device(&c), &q, k);
	}
	for (int64 i = 0; i < choice.n; i++)
	{
		gnngp_id	id = gnngp_ids_at(&some->ids, choice.node[i]);

		CHECK_FOR_INTERRUPTS();
		gnngp_emit(c.result, gnngp_cell(gnngp_id_type_datum(&c.id_type, &id)),
				   gnngp_cell_float(choice.gain[i]));
	}
	gnngp_live_call_close(&c);
	return (Datum) 0;
}
