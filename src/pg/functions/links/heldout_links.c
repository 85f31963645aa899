/*
 * heldout_links.c - gp_heldout_links: what a link model says of the pairs that it held out.
 */
#include "postgres.h"

#include "fit_links.h"
#include "pg/store/store_links.h"

/* gp_heldout_links(model, id or nodes): the pairs that have an end among the nodes.  A grant of the
 * model does not give its links away. */
GNNGP_FUNCTION(gnngp_heldout_links)
{
	gnngp_model *model = gnngp_link_view(gnngp_own_model(gnngp_text_argument(fcinfo, 0, "model")));
	gnngp_result *result = gnngp_result_start(fcinfo);
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	int			guc_level = gnngp_output_level();
	gp_link_held held;
	gnngp_ids	ids;
	gnngp_id_type type;

	gnngp_held_store_read(env, model, &ids, &held);
	gnngp_given_ids given = gnngp_given_ids_argument(&type, model, fcinfo, 1);
	gnngp_given_ids_sort(&given);
	for (int64 e = 0; e < held.n; e++)
	{
		const gp_link_row *row = &held.row[e];
		gnngp_id	src = gnngp_ids_at(&ids, row->src);
		gnngp_id	dst = gnngp_ids_at(&ids, row->dst);

		gnngp_poll(e);
		if (gnngp_given_ids_have(&given, &src) || gnngp_given_ids_have(&given, &dst))
			gnngp_emit(result, gnngp_out(gnngp_id_type_datum(&type, &src)),
					   gnngp_out(gnngp_id_type_datum(&type, &dst)),
					   gnngp_out(BoolGetDatum(held.linked[e])), gnngp_out_float(row->score),
					   gnngp_out_float(row->variance), gnngp_out_float(row->probability));
	}
	gnngp_env_destroy(env);
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}
