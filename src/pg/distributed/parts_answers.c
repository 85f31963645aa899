/*
 * parts_answers.c - the predictions of a fit in parts: made where the rows are, and put into the model's table.
 *
 * Where the owner may make no table beside the nodes they come here, packed, and are kept inside of the model as
 * those of other fits are.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "parts_internal.h"
#include "pg/server/server.h"
#include "pg/store/store.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Puts numbers of the labelled nodes of each part into a table. */
const char *
gnngp_parts_put_labelled(gnngp_parts *p, const double *y, int32 columns)
{
	const gnngp_data *data = p->src->data;
	const char *table = gnngp_parts_table(p, "labelled", columns);
	Oid			types[] = {INT4OID, INT4OID, gnngp_type("gp_matrix")};
	gnngp_value_ids all = {.n = data->nlabelled,.id = palloc(Max(data->nlabelled, 1) * sizeof(int64))};
	int64		first = 0;
	int64		n;

	for (int64 k = 0; k < data->nlabelled; k++)
		all.id[k] = data->ids.key[data->labelled[k]];
	for (int64 part = 0; part < p->parts && !p->listed; part++, first += n)
	{
		gnngp_value_ids ids;
		Datum		values[3];

		n = gnngp_rows_of_part(&all, first, p->bound, (int) p->parts - 1, (int) part);
		if (n == 0)
			continue;
		ids = gnngp_value_ids_part(&all, first, n);
		values[0] = Int32GetDatum(gnngp_place_key_of(&p->place, part));
		values[1] = Int32GetDatum((int32) part);
		values[2] = gnngp_matrix_write(&ids, gp_matrix_wrap((double *) y + first * columns, n, columns, GP_DOUBLE));
		gnngp_place_execute(&p->place, psprintf("INSERT INTO %s VALUES ($1, $2, $3)", table), 3, types, values);
		pfree(DatumGetPointer(values[2]));
	}
	pfree(all.id);
	return table;
}

/* ---- the query ---- */

/* How the matrices of each part lie, as an array of a query. */
static const char *
layout_text(const gnngp_part_rows *rows)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int k = 0; k < rows->n; k++)
	{
		const gnngp_answer_layout *l = &rows->layout[k];

		appendStringInfo(&text, "%s%d,%d,%d,%d,%d", k > 0 ? "," : "", l->first, l->columns, l->level, l->variance, l->present);
	}
	return psprintf("'{%s}'::integer[]", text.data);
}

/* Appends a number. */
static void
append_figure(StringInfo text, double value)
{
	appendStringInfo(text, "%s%.17g", text->len > 2 ? "," : "", value);
}

/* What makes predictions of rows: its scale, and for classes calibrator and shares. */
static const char *
figures_text(const gnngp_parts *p, const gnngp_part_rows *rows, const gp_posterior *out)
{
	const gp_row_scale *s = &out->row;
	const gnngp_data *data = p->src->data;
	double		figure[GNNGP_FIGURES] = {rows->own_variance, s->leverage, s->scale, s->noise, s->prior, s->unit, s->offset};
	const double *share = data->task == GP_TASK_CLASSES ? gnngp_class_shares(data) : NULL;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "'{");
	for (int k = 0; k < GNNGP_FIGURES; k++)
		append_figure(&text, figure[k]);
	if (share)
	{
		append_figure(&text, out->calibrator.delta);
		append_figure(&text, out->calibrator.gamma);
	}
	for (int32 c = 0; share && c < data->nclasses; c++)
		append_figure(&text, out->calibrator.bias ? out->calibrator.bias[c] : 0.0);
	for (int32 c = 0; share && c < data->nclasses; c++)
		append_figure(&text, share[c]);
	appendStringInfoString(&text, "}'::double precision[]");
	return text.data;
}

/* The names of the classes. */
static const char *
classes_text(const gnngp_data *data)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int32 c = 0; data->task == GP_TASK_CLASSES && c < data->nclasses; c++)
		appendStringInfo(&text, "%s%s", c > 0 ? "," : "", quote_literal_cstr(data->class_label[c]));
	return psprintf("ARRAY[%s]::text[]", text.data);
}

/* A query of predictions r, with these columns. */
static const char *
answers_query(gnngp_parts *p, const gnngp_part_rows *rows, const gp_posterior *out, const char *columns)
{
	if (p->listed)
		return psprintf("SELECT %s FROM %s AS t, LATERAL %s.gp_answers(t.m, ...) AS r", columns, rows->query, p->schema);
	return psprintf("SELECT %s FROM %s AS t LEFT JOIN %s AS y USING (pk, part), LATERAL %s.gp_answers(t.m, y.m, %s, %s, %s) AS r",
					columns, rows->query, rows->labelled, p->schema, layout_text(rows), figures_text(p, rows, out),
					classes_text(p->src->data));
}

/* ---- into a table ---- */

/* What the catalog takes for the model to come. */
static gnngp_model
model_to_come(const gnngp_parts *p)
{
	return (gnngp_model) {
		.name = unconstify(char *, p->model_name),
		.owner_role = p->graph_def->owner_role,
		.id_type = p->src->data->ids.type_name
	};
}

/* Counts the rows without kernel, where some may have none: those of a factor. They have the variance of the prior. */
static void
count_priors(gnngp_parts *p, const gnngp_part_rows *rows, const char *table, gp_posterior *out)
{
	int64		n;

	if (!rows->layout[0].present)
		return;
	n = p->place.verbs->count(&p->place, psprintf("%s AS t WHERE t.variance = '%.17g'::pg_catalog.float8", table, p->listed ? 0.0 : out->row.prior));
	if (!p->listed)
		out->no_kernel = (int32) n;
}

/* Makes the table, and has it filled where its rows go to. */
static void
fill_table(gnngp_parts *p, const gnngp_part_rows *rows, gp_posterior *out)
{
	const char *table = "predictions";
	const char *query;

	if (!p->listed)
	{
		gnngp_model model = model_to_come(p);

		gnngp_pin("default_tablespace", p->place.tablespace);
		gnngp_predictions_make(&model, p->graph_def, p->src->spread, p->keep);
		p->predictions = model.predictions;
		table = gnngp_predictions_open(&model);
	}
	query = answers_query(p, rows, out, psprintf("r.node::%s, r.class, r.score, r.variance, r.probability, r.packed",
												 p->src->data->ids.type_name));
	query = psprintf("INSERT INTO %s (node, class, score, variance, probability, packed) %s", table, query);
	if (!p->listed)
		gnngp_place_execute(&p->place, query, 0, NULL, NULL);
	if (!p->listed && p->place.rows != p->n)
		gnngp_matrix_refuse("A row is missing.");
	gnngp_place_count_statement(&p->place, query);
	count_priors(p, rows, table, out);
}

/* ---- to here ---- */

/* Predictions that come in. */
typedef struct collection
{
	gnngp_parts *p;
	gp_posterior *out;
	int32		classes;		/* 0 for values */
	bool	   *taken;			/* nodes: what user code has put into a table may come twice */
	int64		seen;
} collection;

/* Takes one. */
static void
take_answer(void *state, const Datum *values, const bool *nulls)
{
	collection *c = state;
	gp_posterior *out = c->out;
	gnngp_node_row row;
	int32		node;

	if (nulls[0] || !gnngp_packed_row(DatumGetByteaPP(values[0]), c->classes, &row))
		gnngp_matrix_refuse("A prediction has another length.");
	node = gnngp_source_node(c->p->src, row.id.key);
	if (node < 0)
		gnngp_matrix_refuse("A part has a row of no node.");
	if (c->taken[node])
		gnngp_matrix_refuse("A row comes twice.");
	c->taken[node] = true;
	for (int32 k = 0; k < c->classes; k++)
	{
		uint16		class = gnngp_row_class(&row, k);

		if (class >= c->classes)
			gnngp_matrix_refuse("A prediction is of no class.");
		out->mean[(int64) node * out->columns + class] = gnngp_row_score(&row, k);
	}
	if (c->classes == 0)
		out->mean[node] = row.value;
	out->variance[node] = row.variance;
	out->is_prior[node] = row.is_prior;
	out->no_kernel += row.variance == out->row.prior;
	c->seen++;
}

/* Collects all of them. */
static void
collect(gnngp_parts *p, const gnngp_part_rows *rows, gp_posterior *out)
{
	gp_env	   *env = p->ev.env;
	Oid			type = BYTEAOID;
	collection	c = {.p = p,.out = out};
	gnngp_place_taker taker = {take_answer, &c, 1, &type};
	const char *query = answers_query(p, rows, out, "r.packed");

	if (p->listed)
	{
		gnngp_place_query(&p->place, query, 0, NULL, NULL, &taker);
		return;
	}
	out->mean = gp_alloc_zero(env, (int64_t) gp_size_mul(env, p->n, out->columns), sizeof(double));
	if (out->is_prior == NULL)
		out->is_prior = gp_alloc_zero(env, p->n, sizeof(bool));
	out->no_kernel = 0;
	out->plan.elsewhere = false;
	c.classes = p->src->data->task == GP_TASK_CLASSES ? p->src->data->nclasses : 0;
	c.taken = gp_alloc_zero(env, p->n, sizeof(bool));
	gnngp_place_query(&p->place, query, 0, NULL, NULL, &taker);
	if (c.seen != p->n)
		gnngp_matrix_refuse("A row is missing.");
	gp_free(env, c.taken);
}

/* Makes the predictions. */
void
gnngp_parts_answer(gnngp_parts *p, const gnngp_part_rows *rows, gp_posterior *out)
{
	p->place.phase = GP_PHASE_POSTERIOR;
	/* A plan is asked of no owner. */
	if (p->graph_def == NULL || gnngp_predictions_may_make(p->graph_def))
		fill_table(p, rows, out);
	else
		collect(p, rows, out);
}
