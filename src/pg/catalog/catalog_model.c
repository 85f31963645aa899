/*
 * catalog_model.c - rows of gp_model_catalog.
 *
 * One table says which column holds which member of gnngp_model; loading, saving and
 * the rows of gp_fit and gp_fit_links all go through it.
 */
#include "postgres.h"

#include <stddef.h>

#include "catalog_internal.h"

#define CLASSES_NAMED 10		/* in a hint */
#define LINK_PREFIX "link_"		/* of columns of the link part */

#define PART(part, name, type, member) {name, type, offsetof(gnngp_model, member), part, false}
#define COLUMN(name, type, member) PART(GNNGP_PART_NODES, name, type, member)
#define COUNT_OR_NONE(name, type, member) \
	{name, type, offsetof(gnngp_model, member), GNNGP_PART_NODES, true}
#define LINK(name, type, member) PART(GNNGP_PART_LINKS, LINK_PREFIX name, type, link.member)

/* What a fit writes, the owner first, */
static const gnngp_member columns[] = {
	PART(0, "owner", REGROLEOID, owner_role),
	PART(0, "name", TEXTOID, name),
	PART(0, "graph", INT8OID, graph_id),
	PART(0, "version", INT8OID, version),
	PART(0, "link_version", INT8OID, link.version),
	COLUMN("notices", TEXTARRAYOID, notices),
	LINK("notices", TEXTARRAYOID, notices),
	COLUMN("fitted", TIMESTAMPTZOID, fitted),
	LINK("fitted", TIMESTAMPTZOID, fitted),
	COLUMN("asked_kernel", TEXTOID, settings.kernel),
	COLUMN("asked_task", TEXTOID, settings.target_kind),
	COLUMN("asked_strategy", TEXTOID, settings.strategy),
	COLUMN("asked_landmarks", INT4OID, settings.landmarks),
	COLUMN("asked_nugget", FLOAT8OID, settings.nugget),
	COLUMN("asked_seed", INT8OID, settings.seed),
	COLUMN("task", TEXTOID, target_kind),
	COLUMN("strategy", TEXTOID, strategy),
	COLUMN("device", TEXTOID, device),
	COLUMN("nodes", INT8OID, nodes),
	COLUMN("edges", INT8OID, edges),
	COLUMN("features", INT8OID, features),
	COUNT_OR_NONE("classes", INT4OID, classes),
	COLUMN("labelled", INT8OID, labelled),
	COUNT_OR_NONE("landmarks", INT8OID, landmarks),
	COLUMN("nugget", FLOAT8OID, nugget),
	COLUMN("log_marginal_likelihood", FLOAT8OID, log_marginal_likelihood),
	COLUMN("loo_score", FLOAT8OID, loo_score),
	COLUMN("seconds", FLOAT8OID, seconds),
	COLUMN("peak_bytes", INT8OID, peak_bytes),
	COLUMN("id_type", TEXTOID, id_type),
	COLUMN("integer_ids", BOOLOID, integer_ids),
	COLUMN("class_labels", TEXTARRAYOID, class_labels),
	COLUMN("scale", FLOAT8OID, scale),
	COLUMN("mean_diag", FLOAT8OID, mean_diag),
	COLUMN("jitter", FLOAT8OID, jitter),
	COLUMN("exact_diagonal", BOOLOID, exact_diagonal),
	LINK("asked_kernel", TEXTOID, settings.kernel),
	LINK("asked_method", TEXTOID, settings.method),
	LINK("asked_seed", INT8OID, settings.seed),
	LINK("method", TEXTOID, method),
	LINK("nodes", INT8OID, nodes),
	LINK("edges", INT8OID, edges),
	LINK("pairs", INT8OID, pairs),
	LINK("auc", FLOAT8OID, auc),
	LINK("average_precision", FLOAT8OID, average_precision),
	LINK("steps", INT4OID, steps),
	LINK("seconds", FLOAT8OID, seconds),
	LINK("peak_bytes", INT8OID, peak_bytes),
	LINK("id_type", TEXTOID, id_type),
	LINK("integer_ids", BOOLOID, integer_ids),
	COLUMN("kernel", TEXTOID, kernel),
	COLUMN("alternatives", JSONBOID, alternatives),
	COLUMN("asked_method", TEXTOID, settings.method),
	LINK("asked_keep", INT4OID, settings.keep),
	LINK("asked_min_probability", FLOAT8OID, settings.min_probability),
	LINK("asked_missing_share", FLOAT8OID, settings.missing_share),
	LINK("kept_bytes", INT8OID, kept_bytes),
	COLUMN("asked_live", BOOLOID, settings.live),
	COLUMN("live_bytes", INT8OID, live_bytes),
	COLUMN("power", FLOAT8OID, power),
	COUNT_OR_NONE("relations", INT4OID, relations),
	COUNT_OR_NONE("facts", INT8OID, facts),
	COUNT_OR_NONE("rows", INT8OID, rows),
	COLUMN("forward_score", FLOAT8OID, forward_score),
	/* and what else is read; the owner as text, too, which names a role that is gone. */
	PART(0, "owner", TEXTOID, owner),
	PART(0, "id", INT8OID, id),
};

#define NCOLUMNS ((int) lengthof(columns) - 2)	/* that are written */

/* The model that a name means, or without one an id; NULL, where missing_ok, for none. */
static gnngp_model *
find_model(const char *name, int64 id, bool missing_ok)
{
	gnngp_model *model = palloc0(sizeof(gnngp_model));

	return gnngp_find_record(&gnngp_model_kind, name, id, missing_ok, columns, lengthof(columns),
							 model) ? model : NULL;
}

gnngp_model *
gnngp_model_lookup(const char *name, bool missing_ok)
{
	return find_model(name, 0, missing_ok);
}

gnngp_model *
gnngp_own_model(const char *name)
{
	gnngp_model *model = gnngp_model_lookup(name, false);

	gnngp_require_owner(model->owner_role, "model", model->name);
	return model;
}

gnngp_model *
gnngp_model_by_id(int64 id)
{
	return find_model(NULL, id, false);
}

int
gnngp_model_parts(const gnngp_model *model)
{
	return (model->target_kind ? GNNGP_PART_NODES : 0) |
		(model->link.method ? GNNGP_PART_LINKS : 0);
}

/* 55000 for a model without a part. */
static void
require_part(const gnngp_model *model, bool there, const char *part, const char *function)
{
	if (!there)
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE,
					model->rows > 0 ? "It is a model of a task, and tasks have no links." :
					psprintf("Fit it with %s.", function),
					"model \"%s\" has no %s part", model->name, part);
}

void
gnngp_require_node_part(const gnngp_model *model)
{
	require_part(model, model->target_kind != NULL, "node", "gp_fit");
}

void
gnngp_require_link_part(const gnngp_model *model)
{
	require_part(model, model->link.method != NULL, "link", "gp_fit_links");
}

Datum
gnngp_model_row(FunctionCallInfo fcinfo, const gnngp_model *model, int part)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "a fit returns a row");
	NullableDatum *cell = palloc(sizeof(NullableDatum) * desc->natts);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		const char *name = NameStr(attribute->attname);
		const gnngp_member *column = columns;

		if (strcmp(name, "model") == 0)
			name = "name";
		else if (part == GNNGP_PART_LINKS)
			name = psprintf(LINK_PREFIX "%s", name);
		while (column < columns + NCOLUMNS && strcmp(column->name, name) != 0)
			column++;
		/* A kernel is a text, too. */
		if (column == columns + NCOLUMNS ||
			(attribute->atttypid != column->type &&
			 (column->type != TEXTOID || attribute->attlen != -1)))
			elog(ERROR, "a fit has no figure \"%s\" of its type", NameStr(attribute->attname));
		gnngp_param value = gnngp_member_save(column, model);
		cell[i] = (NullableDatum) {value.value, value.null};
	}
	return gnngp_make_row(fcinfo, desc->natts, cell);
}

void
gnngp_model_claim(const gnngp_graph_def *graph, const char *name, int parts, bool replace)
{
	gnngp_spi_connect();
	gnngp_execute(GNNGP_LATEST,
				  "SELECT g.name, m.task, m.link_method FROM gnngp_internal.gp_model_catalog m"
				  " JOIN gnngp_internal.gp_graph_catalog g ON g.id = m.graph"
				  " WHERE m.name = $1 AND gnngp_internal.gp_role_oid(m.owner) = $2 AND m.graph <> $3",
				  gnngp_param_text(name), gnngp_param_oid(graph->owner_role),
				  gnngp_param_int8(graph->id));
	if (SPI_processed > 0)
	{
		bool		nodes = !(parts & GNNGP_PART_NODES) && gnngp_found_text(0, 2);
		bool		links = !(parts & GNNGP_PART_LINKS) && gnngp_found_text(0, 3);

		if (!replace)
			gnngp_raise(DUPLICATE_OBJECT,
						"Choose another name, or pass replace => true to replace the model.",
						"model \"%s\" belongs to graph \"%s\"", name, gnngp_found_text(0, 1));
		if (nodes || links)
			gnngp_notice(NULL,
						 "model \"%s\" of graph \"%s\" is dropped with its predictions of %s", name, gnngp_found_text(0, 1), nodes ? "nodes" : "links");
	}
	gnngp_spi_finish();
}

/* The parts of one statement see one snapshot, so their order does not matter. */
void
gnngp_delete_models(const char *column, int64 id)
{
	gnngp_execute(GNNGP_LATEST,
				  psprintf("WITH doomed AS (SELECT id FROM gnngp_internal.gp_model_catalog WHERE %s = $1),"
								  " grants AS (DELETE FROM gnngp_internal.gp_grant_catalog"
								  " WHERE model IN (SELECT id FROM doomed)),"
								  " refreshes AS (DELETE FROM gnngp_internal.gp_refresh_log"
								  " WHERE model IN (SELECT id FROM doomed)),"
								  " blocks AS (DELETE FROM gnngp_internal.gp_block"
								  " WHERE model IN (SELECT id FROM doomed))"
								  " DELETE FROM gnngp_internal.gp_model_catalog WHERE %s = $1",
								  column, column), gnngp_param_int8(id));
}

void
gnngp_model_save(gnngp_model *model, int parts)
{
	gnngp_param param[NCOLUMNS];
	gnngp_model *former = NULL; /* of this name; NULL: none */
	int			kept;			/* parts of the former model that stay */

	gnngp_check_name("model", model->name);
	gnngp_spi_connect();
	/* The graph may have been dropped or given away before the fit locked it; else it stays. */
	gnngp_execute(GNNGP_WRITE, "SELECT FROM gnngp_internal.gp_graph_catalog WHERE id = $1"
				  " AND gnngp_internal.gp_role_oid(owner) = $2 FOR KEY SHARE",
				  gnngp_param_int8(model->graph_id),
				  gnngp_param_oid(model->owner_role));
	if (SPI_processed != 1)
		gnngp_raise(UNDEFINED_OBJECT, NULL, "the graph of model \"%s\" was dropped or given to another role while it was being fitted",
					model->name);
	gnngp_execute(GNNGP_LATEST, "SELECT * FROM gnngp_internal.gp_model_catalog WHERE name = $1"
				  " AND gnngp_internal.gp_role_oid(owner) = $2",
				  gnngp_param_text(model->name), gnngp_param_oid(model->owner_role));
	if (SPI_processed > 0)
		gnngp_members_load(columns, lengthof(columns), former = palloc0(sizeof(gnngp_model)));
	bool		moves = former && former->graph_id != model->graph_id;	/* from another graph */
	kept = former && !moves ? gnngp_model_parts(former) & ~parts : 0;
	/* A part that is new, or goes, has the next version. */
	model->version = (former ? former->version : 0) + (moves || (parts & GNNGP_PART_NODES));
	model->link.version = (former ? former->link.version : 0) +
		(moves || (parts & GNNGP_PART_LINKS));
	model->fitted = model->link.fitted = GetCurrentTimestamp();
	for (int i = 0; i < NCOLUMNS; i++)
	{
		int			part = columns[i].part;

		param[i] = gnngp_member_save(&columns[i], part & kept ? former : model);
		param[i].null = param[i].null || (part & ~(parts | kept)) != 0;
	}
	model->id = gnngp_members_write(&gnngp_model_kind, columns, NCOLUMNS, param,
									former ? former->id : 0);
	if (model->id == 0)
		gnngp_raise(T_R_SERIALIZATION_FAILURE, "The transaction might succeed if retried.",
					"could not serialize access: model \"%s\" was fitted by another session after this transaction began",
					model->name);
	gnngp_spi_finish();
}

void
gnngp_model_save_seconds(const gnngp_model *model, int parts)
{
	bool		no_nodes = !(parts & GNNGP_PART_NODES);
	bool		no_links = !(parts & GNNGP_PART_LINKS);

	gnngp_spi_connect();
	gnngp_execute(GNNGP_WRITE,
				  "UPDATE gnngp_internal.gp_model_catalog SET seconds = coalesce($2, seconds),"
				  " link_seconds = coalesce($3, link_seconds),"
				  " link_kept_bytes = coalesce($4, link_kept_bytes) WHERE id = $1",
				  gnngp_param_int8(model->id),
				  {FLOAT8OID, Float8GetDatum(model->seconds), no_nodes},
				  {FLOAT8OID, Float8GetDatum(model->link.seconds), no_links},
				  {INT8OID, Int64GetDatum(model->link.kept_bytes), no_links});
	gnngp_spi_finish();
}

/* Where a class stands among a model's, or -1. */
static int32
class_place(const gnngp_model *model, const char *name)
{
	for (int32 k = 0; k < model->class_labels.n; k++)
		if (strcmp(model->class_labels.text[k], name) == 0)
			return k;
	return -1;
}

int32
gnngp_class_number(const gnngp_model *model, const char *name)
{
	StringInfoData known;
	bool		truth;
	int32		place = class_place(model, name);

	if (place < 0 && parse_bool(name, &truth))
		place = class_place(model, truth ? "true" : "false");
	if (place >= 0)
		return place;
	initStringInfo(&known);
	for (int32 k = 0; k < Min(model->class_labels.n, CLASSES_NAMED); k++)
		appendStringInfo(&known, "%s\"%s\"", k > 0 ? ", " : "", model->class_labels.text[k]);
	if (model->class_labels.n > CLASSES_NAMED)
		appendStringInfoString(&known, ", ...");
	gnngp_raise(INVALID_PARAMETER_VALUE,
				model->classes > 0 ? psprintf("Its classes are %s; a new class needs a refresh.", known.data) :
				"It predicts values: leave class NULL.",
				"model \"%s\" does not know the class \"%s\"", model->name, name);
}
