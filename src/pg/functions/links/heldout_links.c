/*
 * heldout_links.c - gp_heldout_links: what a link model says of the pairs that it held out.
 */
#include "postgres.h"

#include "fit_links.h"
#include "pg/store/store.h"
#include "pg/store/store_links.h"
#include "pg/ids/given_ids.h"

/* A call for held-out pairs. */
typedef struct held_rows
{
	gnngp_model *model;			/* with the ids of the link part */
	gp_env	   *env;
	gp_link_held held;
	gnngp_stored_ids ids;
	gnngp_result *result;
} held_rows;

/* Looks up the model, whose links a grant of it does not give away. */
static void
open_held(held_rows *h, FunctionCallInfo fcinfo)
{
	h->model = gnngp_link_view(gnngp_own_model(gnngp_text_argument(fcinfo, 0, "model")));
	h->result = gnngp_rows_start(fcinfo);
	h->env = gnngp_env_create(CurrentMemoryContext);
	gnngp_held_store_read(h->env, h->model, &h->ids, &h->held);
}

/* Emits the pairs that have an end among some nodes, where these are given. */
static void
emit_pairs(const held_rows *h, gnngp_id_type *type, const gnngp_given_ids *given)
{
	for (int64 e = 0; e < h->held.n; e++)
	{
		const gp_link_row *row = &h->held.row[e];
		gnngp_id	src = gnngp_stored_id(&h->ids, row->src);
		gnngp_id	dst = gnngp_stored_id(&h->ids, row->dst);

		gnngp_poll(e);
		if (gnngp_given_ids_have(given, &src) || gnngp_given_ids_have(given, &dst))
			gnngp_emit(h->result, gnngp_cell(gnngp_id_type_datum(type, &src)),
					   gnngp_cell(gnngp_id_type_datum(type, &dst)),
					   gnngp_cell(BoolGetDatum(h->held.linked[e])), gnngp_cell_float(row->score),
					   gnngp_cell_float(row->variance), gnngp_cell_float(row->probability));
	}
}

PG_FUNCTION_INFO_V1(gnngp_heldout_links);

/* gp_heldout_links(model, id or nodes) */
Datum
gnngp_heldout_links(PG_FUNCTION_ARGS)
{
	held_rows	h = {0};
	gnngp_id_type type;
	int			guc_level = gnngp_output_level();

	open_held(&h, fcinfo);
	gnngp_given_ids given = gnngp_given_ids_argument(&type, h.model, fcinfo, 1);
	gnngp_given_ids_sort(&given);
	emit_pairs(&h, &type, &given);
	gnngp_env_destroy(h.env);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(gnngp_report_pairs);

/* gnngp_report_pairs(model): what the curves of a report are made of. */
Datum
gnngp_report_pairs(PG_FUNCTION_ARGS)
{
	held_rows	h = {0};

	open_held(&h, fcinfo);
	for (int64 e = 0; e < h.held.n; e++)
		gnngp_emit(h.result, gnngp_cell(BoolGetDatum(h.held.linked[e])),
				   gnngp_cell_float(h.held.row[e].score));
	gnngp_env_destroy(h.env);
	return (Datum) 0;
}
