/*
 * live_common.c - opening a live model, and reading what is asked about as the caller.
 */
#include "postgres.h"

#include "live_common.h"

/* From so many nodes on, all threads are taken: for fewer they would cost more than they bring. */
#define MANY_NODES 16

#define DAMAGED_ENCODING "the encoding of its live state is none"

void
gnngp_live_call_open(gnngp_live_call *c, FunctionCallInfo fcinfo, bool owner_only)
{
	*c = (gnngp_live_call) {.fcinfo = fcinfo,.result = gnngp_result_start(fcinfo)};
	c->model = gnngp_model_lookup(gnngp_text_argument(fcinfo, 0, "model"), false);
	Oid			owner = c->model->owner_role;
	if (owner_only)
		gnngp_require_owner(owner, "model", c->model->name);
	gnngp_require_node_part(c->model);
	/* What the owner's views and policies call runs with the rights of the caller. */
	if (superuser() && !superuser_arg(owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("a superuser may not read the tables of model \"%s\", whose owner is not a superuser", c->model->name),
				 errdetail("Views and policies of the tables would run with the rights of a superuser."),
				 errhint("Take the owner's rights first: SET ROLE %s.",
						 GetUserNameFromId(owner, true) ? GetUserNameFromId(owner, true) : "...")));
	c->live = gnngp_live_open(c->model);
	(void) gp_live_read(c->live->state, &c->scalars);
	gnngp_identity saved = gnngp_become_extension();
	c->graph = gnngp_graph_by_id(c->model->graph_id);
	gnngp_become_again(&saved);
	if (gnngp_graph_shape(c->graph) != c->live->shape)
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Fit the model again with gp_refresh.",
					"graph \"%s\" was altered after model \"%s\" was fitted", c->graph->name,
					c->model->name);
	c->env = gnngp_env_create(CurrentMemoryContext);
	c->guc_level = gnngp_output_level();
}

gnngp_numbered
gnngp_live_call_number(const gnngp_live_call *c, const gnngp_given_ids *ids, const char *argument)
{
	gnngp_numbered numbered = {.env = c->env};

	for (int64 i = 0; i < ids->n; i++)
	{
		gnngp_poll(i);
		if (gnngp_number_add(&numbered, &ids->id[i]) != i)
			gnngp_raise(INVALID_PARAMETER_VALUE, "Name each node once.",
						"argument \"%s\" names node %s twice", argument,
						gnngp_id_name(&ids->id[i]));
	}
	return numbered;
}

void
gnngp_live_call_read_nodes(gnngp_live_call *c, int argno, const char *argument)
{
	int64		n = 0;

	c->nodes = gnngp_given_ids_argument(&c->id_type, c->model, c->fcinfo, argno);
	if (!c->nodes.all)
		gnngp_id_type_require_input(&c->id_type);
	/* Leaves out ids that are NULL, as gp_predict does */
	for (int64 i = 0; i < c->nodes.n; i++)
		if (!c->nodes.id[i].null)
			c->nodes.id[n++] = c->nodes.id[i];
	c->nodes.n = n;
	c->numbered = gnngp_live_call_number(c, &c->nodes, argument);
}

void
gnngp_live_call_nodes(gnngp_live_call *c)
{
	FunctionCallInfo fcinfo = c->fcinfo;

	/* Whatever the type of the NULL is. */
	if (PG_ARGISNULL(1))
		gnngp_raise(NULL_VALUE_NOT_ALLOWED,
					"Name the nodes by an id, or by an array of ids; gp_predict gives all nodes.",
					"nodes must not be NULL");
	gnngp_live_call_read_nodes(c, 1, "nodes");
}

/* What the fit's features were made by, in doubles; NULL where it was not: damaged is the error. */
static const gp_piece *
fit_piece(const gnngp_live_call *c, gp_piece_kind kind, const char *damaged)
{
	const gp_piece *piece = gp_state_find(c->live->state, kind, 0, 0);

	if (piece && (piece->dense == NULL || piece->ints || piece->type != GP_DOUBLE ||
				  (kind == GP_PIECE_ENCODING ? piece->cols != GNNGP_ENCODED_DOUBLES :
				   (double) piece->rows * (double) piece->cols != 2.0 * c->scalars.dims)))
		gnngp_store_corrupted(c->model, damaged);
	return piece;
}

/* True for a question that takes a while. */
static bool
asks_many(const gnngp_live_call *c)
{
	return c->everything || c->nodes.n >= MANY_NODES || c->given.n >= MANY_NODES;
}

gp_live_question
gnngp_live_call_read(gnngp_live_call *c, gnngp_neighbourhood **read)
{
	const gp_piece *moments = fit_piece(c, GP_PIECE_MOMENTS,
										"the moments of its live state do not fit its features");
	const gp_piece *pieces = fit_piece(c, GP_PIECE_ENCODING, DAMAGED_ENCODING);
	gp_encoding *encoding = pieces == NULL ? NULL :
		gp_encoding_of(c->env, pieces->dense, (int32_t) pieces->rows);
	gp_program *program = gnngp_compile_kernel(c->env, c->model->kernel);
	gp_live_question q = {.state = c->live->state,.program = program,.asked = c->nodes.n};
	gnngp_rim	rim = program->norm == GP_NORM_SYM ? GNNGP_RIM_DEGREES : GNNGP_RIM_NOTHING;
	gnngp_neighbourhood *some;

	/* Of the farthest nodes lists of neighbours read all edges; degrees are enough elsewhere. */
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_LISTS)
			rim = GNNGP_RIM_EDGES;

	if (pieces && encoding == NULL)
		gnngp_store_corrupted(c->model, DAMAGED_ENCODING);
	if (c->model->rows > 0)
		gnngp_raise(FEATURE_NOT_SUPPORTED,
					"gp_explain names the facts behind a score.",
					"model \"%s\" is of a task, which has no edges or neighbours", c->model->name);
	if (asks_many(c))
		gnngp_progress_begin(c->model->name);
	some = gnngp_read_neighbourhood(c->env, c->graph, c->wanted, c->nwanted,
									c->everything ? GNNGP_ALL_HOPS :
									gp_program_hops(c->env, program), rim, (int64) c->scalars.dims,
									moments ? moments->dense : NULL, encoding);
	q.graph = some->graph;
	q.inner = some->ids.n;
	q.node = some->wanted;
	q.features = gp_features_as(c->env, some->features, gp_live_type(&c->scalars));
	/* The number that each node of a neighbourhood had in the fit */
	int32	   *number = gp_alloc_array(c->env, some->graph->nodes, sizeof(int32));
	for (int64 i = 0; i < some->graph->nodes; i++)
	{
		gnngp_id	id = gnngp_ids_at(&some->ids, i);

		CHECK_FOR_INTERRUPTS();
		number[i] = gnngp_ids_find(&c->live->ids, &id);
	}
	q.fit_node = number;
	*read = some;
	return q;
}

gp_device *
gnngp_live_call_device(const gnngp_live_call *c)
{
	return gnngp_device_open(c->env, c->nodes.n < MANY_NODES && !c->everything ? 1 : 0);
}

void
gnngp_live_call_close(gnngp_live_call *c)
{
	if (asks_many(c))
		gnngp_progress_end();
	gnngp_env_destroy(c->env);
	gnngp_live_close(c->live);
	AtEOXact_GUC(false, c->guc_level);
}
