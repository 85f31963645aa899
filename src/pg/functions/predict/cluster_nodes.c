/*
 * cluster_nodes.c - gp_cluster, all forms: groups of nodes that a kernel, or a method, holds alike.
 *
 * Like a fit it reads the graph's tables with the rights of the graph's owner,
 * and like gp_tune it stores nothing.
 */
#include "postgres.h"

#include "pg/functions/functions.h"
#include "core/cluster/cluster.h"
#include "pg/functions/fit/methods.h"
#include "pg/ids/given_ids.h"

typedef struct cluster_call
{
	gnngp_graph_def *graph;
	int32		clusters;
	char	   *kernel;			/* of the Gaussian process */
	char	   *method;
	int64		seed;
	gp_env	   *env;
	gnngp_data *data;
	gnngp_model ids;			/* as far as ids of the type asked for go */
	gp_clustering *clustering;
} cluster_call;

static void
compute_clusters(gnngp_computation *compute, void *arg)
{
	cluster_call *call = arg;
	gp_cluster_problem problem = {0};

	problem.graph = call->data->graph;
	problem.clusters = call->clusters;
	problem.seed = (uint64) call->seed;
	if (gnngp_method_is_gp(call->method))
	{
		problem.features = call->data->features;
		problem.program = gnngp_compile_kernel(compute->env, call->kernel);
		problem.type = GP_FLOAT;
	}
	else
	{
		/* Groups by the features that a method makes, as they are */
		gp_features *features = gnngp_method_embedding(compute->device, call->data, call->method,
													   call->clusters, call->seed);

		problem.features = features;
		problem.program = gnngp_compile_kernel(compute->env, "X0");
		problem.type = features->type;
	}
	call->clustering = gp_cluster(compute->device, &problem);
}

/* gp_cluster(graph, id or nodes, clusters, ...) and gp_cluster(graph, clusters, ..., nodes) */
GNNGP_FUNCTION(gnngp_cluster)
{
	gnngp_result *result = gnngp_result_start(fcinfo);
	bool		second = get_fn_expr_argtype(fcinfo->flinfo, 2) == INT4OID;	/* nodes stand there */
	int			first = second ? 2 : 1; /* of the arguments after graph and nodes */
	gnngp_fit_settings settings = gnngp_fit_settings_default();
	int			guc_level = gnngp_output_level();
	cluster_call call;
	gnngp_id_type type;

	memset(&call, 0, sizeof(call));
	call.graph = gnngp_own_graph(gnngp_text_argument(fcinfo, 0, "graph"));
	gnngp_require_argument(fcinfo, first, "clusters");
	call.clusters = PG_GETARG_INT32(first);
	if (call.clusters < 1)
		gnngp_raise(INVALID_PARAMETER_VALUE, NULL, "clusters must be at least 1, not %d",
					call.clusters);
	if (!second && PG_ARGISNULL(first + 1))
		gnngp_raise(NULL_VALUE_NOT_ALLOWED,
					psprintf("Leave it out for its default. Nodes go before clusters: gp_cluster(%s, NULL::text, %d) gives nodes of type text.",
							 quote_literal_cstr(call.graph->name), call.clusters),
					"kernel must not be NULL");
	/* The kernel, and the method where it is one */
	settings.kernel = call.kernel = gnngp_kernel_argument(fcinfo, first + 1);
	gnngp_method_check(&settings);
	call.method = settings.method;
	gnngp_require_argument(fcinfo, first + 2, "seed");
	call.seed = PG_GETARG_INT64(first + 2);

	gnngp_account_give_up(0);
	gnngp_progress_begin(call.graph->name);
	call.env = gnngp_env_create(CurrentMemoryContext);
	call.data = gnngp_read(call.env, call.graph, "auto", false, false);
	call.ids.name = call.graph->name;
	call.ids.id_type = call.data->ids.type_name;
	call.ids.integer_ids = call.data->ids.integer;
	gnngp_given_ids given = gnngp_given_ids_argument(&type, &call.ids, fcinfo, second ? 1 : 4);
	gnngp_given_ids_sort(&given);
	gnngp_compute(call.env, 0, compute_clusters, &call);
	for (int64 i = 0; i < call.clustering->nodes; i++)
	{
		gnngp_id	id = gnngp_ids_at(&call.data->ids, i);

		gnngp_poll(i);
		if (gnngp_given_ids_have(&given, &id))
			gnngp_emit(result, gnngp_out(gnngp_id_type_datum(&type, &id)),
					   gnngp_out(Int32GetDatum(call.clustering->cluster[i])));
	}
	gnngp_env_destroy(call.env);
	gnngp_progress_end();
	AtEOXact_GUC(false, guc_level);
	return (Datum) 0;
}
