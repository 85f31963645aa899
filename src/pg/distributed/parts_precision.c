/*
 * parts_precision.c - a Laplacian prior in parts: conjugate gradients in shares of their right sides.
 *
 * There is no factor.  Whoever works has the packed edges and the nodes with their labels, and solves some bands of
 * whole columns (core/infer/precision_share.c).  The first share settles prior and nugget, each trial of which goes on from the
 * one before, and solves the labels' band where that is alone; all the others are one statement.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "core/base/sort.h"
#include "lib/stringinfo.h"
#include "parts_internal.h"
#include "pg/server/server.h"
#include "utils/builtins.h"

#define MOST_SHARES 8			/* in the second statement, beside a multiple of the servers */
#define TAKEN_BITS 64			/* shares, at most */
#define VECTORS 6.0				/* of a band's columns: solution, residual, direction, product, spare, last one */
#define PUT_BYTES 110.0			/* of an edge while edges are put together */
#define MATRIX_BYTES 56.0		/* and in the system: places, S and its factors, twice */
#define NODE_BYTES 120.0
#define STEPS 30.0				/* of a solution */

/* A range of bands. */
typedef struct share
{
	int64		first;
	int64		last;
	int64		from;			/* of the columns of means */
	int64		columns;
	bool		level;
	bool		variance;
	int64		seen;			/* rows of nodes that came */
} share;

/* A fit on its way. */
typedef struct solver
{
	gnngp_parts *p;
	gp_problem *problem;
	gp_precision_bands bands;
	const char *nodes;			/* tables */
	const char *shares;
	const char *solved;			/* what they gave: (share, what, part, m) */
	int			n;
	share	   *share;
	int32	   *asked;			/* nodes of which something is needed here: labelled ones, and the sample */
	int64		nasked;
	uint64	   *taken;			/* of these: which shares have told of each */
	gp_posterior *out;
	gp_precision_part all;
} solver;

/* ---- tables ---- */

/* The row of each node of a part: whether it is labelled, and its class or target. */
static Datum
nodes_of_part(const gnngp_parts *p, int64 first, int64 n, int64 *label)
{
	const gnngp_data *data = p->src->data;
	gnngp_value_ids ids = {n, data->ids.key[first], data->ids.key + first};
	bool		wide = data->target != NULL;
	size_t		size = wide ? sizeof(double) : sizeof(float);
	gp_matrix	m = gp_matrix_wrap(MemoryContextAllocExtended(CurrentMemoryContext, n * GNNGP_NODE_COLUMNS * size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO), n, GNNGP_NODE_COLUMNS, wide ? GP_DOUBLE : GP_FLOAT);
	Datum		value;

	for (; *label < data->nlabelled && data->labelled[*label] < first + n; (*label)++)
	{
		int64		at = (data->labelled[*label] - first) * GNNGP_NODE_COLUMNS;

		gp_number_put(m.data, m.type, at, 1.0);
		gp_number_put(m.data, m.type, at + 1, wide ? data->target[*label] : (double) data->label[*label]);
	}
	ids = gnngp_value_ids_part(&ids, 0, n);
	value = gnngp_matrix_write(&ids, m);
	pfree(m.data);
	return value;
}

/* Puts the nodes into a table by parts, which everybody has a copy of. */
static const char *
put_nodes(gnngp_parts *p)
{
	const char *declared = psprintf("part integer, m %s.gp_matrix", p->schema);
	const char *table = gnngp_parts_table(p, "nodes", GNNGP_NODE_COLUMNS);
	Oid			types[] = {INT4OID, INT4OID, gnngp_type("gp_matrix")};
	gnngp_value_ids all = {.n = p->n,.id = p->src->data->ids.key};
	int64		label = 0;
	int64		first = 0;

	for (int64 part = 0; part < p->parts && !p->listed; part++)
	{
		int64		n = gnngp_rows_of_part(&all, first, p->bound, (int) p->parts - 1, (int) part);
		Datum		values[3];

		values[0] = Int32GetDatum(gnngp_place_key_of(&p->place, part));
		values[1] = Int32GetDatum((int32) part);
		values[2] = nodes_of_part(p, first, n, &label);
		gnngp_place_execute(&p->place, psprintf("INSERT INTO %s VALUES ($1, $2, $3)", table), 3, types, values);
		pfree(DatumGetPointer(values[2]));
		first += n;
	}
	return gnngp_place_everywhere(&p->place, table, declared, "t.part, t.m");
}

/* What a share will give. */
static share
make_share(const solver *s, int64 first, int64 last)
{
	int64		before = s->bands.labels + s->bands.level;
	share		out = {.first = first,.last = last};

	out.columns = gp_precision_band_columns(s->problem, first, last, &out.from);
	out.level = s->bands.level > 0 && first <= s->bands.labels && last > s->bands.labels;
	out.variance = last > before && last > first;
	return out;
}

/* Cuts the bands into shares: the first one for what is searched, the others of bands that follow each other. */
static void
cut_shares(solver *s)
{
	int64		alone = s->bands.labels == 1 ? 1 : 0;
	int64		all = s->bands.labels + s->bands.level + s->bands.variances;
	int			keys = s->p->place.keys;
	int64		most = s->p->place.apart ? (MOST_SHARES + keys - 1) / keys * keys : MOST_SHARES;
	int64		others = Min(Min(all - alone, most), TAKEN_BITS - 1);

	s->n = (int) others + 1;
	s->share = gp_alloc_zero(s->p->ev.env, s->n, sizeof(share));
	s->share[0] = make_share(s, 0, alone);
	for (int64 k = 0; k < others; k++)
		s->share[k + 1] = make_share(s, alone + (all - alone) * k / others, alone + (all - alone) * (k + 1) / others);
}

/* Puts the shares into a table, each where it is worked on. */
static const char *
put_shares(const solver *s)
{
	gnngp_place *place = &s->p->place;
	const char *table = gnngp_place_table(place, "shares");
	Oid			types[] = {INT4OID, INT4OID, INT4OID, INT4OID};

	place->verbs->create(place, table, "part integer, first integer, last integer");
	for (int k = 0; k < s->n && !s->p->listed; k++)
	{
		Datum		values[] = {Int32GetDatum(gnngp_place_key_of(place, k)), Int32GetDatum(k),
			Int32GetDatum((int32) s->share[k].first), Int32GetDatum((int32) s->share[k].last)
		};

		gnngp_place_execute(place, psprintf("INSERT INTO %s VALUES ($1, $2, $3, $4)", table), 4, types, values);
	}
	return table;
}

/* ---- what comes back ---- */

/* One number of a row. */
static inline double
number_of(const gnngp_table_value *m, int64 row, int64 col)
{
	return gnngp_get_float8(m->value + (row * m->cols + col) * sizeof(double));
}

/* Takes prior and nugget from the first share, and errors and the sample from all. */
static void
take_prior(solver *s, int k, const gnngp_table_value *m)
{
	gp_precision_prior *prior = &s->all.prior;
	double		error = k == 0 ? 0.0 : prior->error;
	double		figure[GP_PRECISION_FIGURES];
	gp_precision_part part;

	if (m->ids.n != 1 || m->cols != GP_PRECISION_FIGURES)
		gnngp_matrix_refuse("A share's figures have another shape.");
	for (int i = 0; i < GP_PRECISION_FIGURES; i++)
		figure[i] = number_of(m, 0, i);
	gp_precision_take_figures(&part, figure);
	if (k == 0)
		*prior = part.prior;
	prior->error = Max(error, part.prior.error);
	for (int i = 0; i < GP_PRECISION_SAMPLE; i++)
		s->all.apart[i] += part.apart[i];
}

/* Takes what a share says of the labels of a part. */
static void
take_labels(solver *s, int k, const gnngp_table_value *m)
{
	const gp_problem *problem = s->problem;
	const share *of = &s->share[k];

	if (m->cols != GP_PRECISION_LABEL + of->columns)
		gnngp_matrix_refuse("A share's labels have another shape.");
	for (int64 i = 0; i < m->ids.n; i++)
	{
		int64		at = gp_sorted_find(problem->labelled, problem->nlabelled,
										gnngp_source_node(s->p->src, gnngp_value_id(&m->ids, i)));

		gnngp_poll(i);
		if (at < 0)
			gnngp_matrix_refuse("A share has a label of no node.");
		s->all.label[at * GP_PRECISION_LABEL] += number_of(m, i, 0);
		s->all.label[at * GP_PRECISION_LABEL + 1] = number_of(m, i, 1);
		s->all.label[at * GP_PRECISION_LABEL + 2] = number_of(m, i, 2);
		for (int64 c = 0; c < of->columns; c++)
			s->all.at[at * s->out->columns + of->from + c] = number_of(m, i, GP_PRECISION_LABEL + c);
	}
}

/* Takes what a share says of nodes that were asked for: the level, and variances of some of them. */
static void
take_nodes(solver *s, int k, const gnngp_table_value *m)
{
	share	   *of = &s->share[k];

	if (m->cols != of->columns + of->level + of->variance)
		gnngp_matrix_refuse("A share's nodes have another shape.");
	for (int64 i = 0; i < m->ids.n; i++)
	{
		int32		node = gnngp_source_node(s->p->src, gnngp_value_id(&m->ids, i));
		int64		place = gp_sorted_find(s->asked, s->nasked, node);
		int64		at = of->columns;

		gnngp_poll(i);
		if (place < 0)
			gnngp_matrix_refuse("A share has a row that was not asked for.");
		if (s->taken[place] >> k & 1)
			gnngp_matrix_refuse("A row comes twice.");
		s->taken[place] |= UINT64CONST(1) << k;
		if (of->level)
			s->all.level[node] = number_of(m, i, at++);
		if (of->variance)
			s->out->variance[node] += number_of(m, i, at);
	}
	of->seen += m->ids.n;
}

/* Takes one row. */
static void
take_row(void *state, const Datum *values, const bool *nulls)
{
	solver	   *s = state;
	int			k = nulls[0] ? -1 : DatumGetInt32(values[0]);
	char	   *what;
	gnngp_table_value m;

	if (k < 0 || k >= s->n || nulls[1])
		gnngp_matrix_refuse("A row is of no share.");
	if (nulls[2])
		return;
	what = TextDatumGetCString(values[1]);
	m = gnngp_matrix_read(values[2]);
	if (!m.wide)
		gnngp_matrix_refuse("A share has numbers of single precision.");
	if (strcmp(what, "prior") == 0)
		take_prior(s, k, &m);
	else if (strcmp(what, "labels") == 0)
		take_labels(s, k, &m);
	else
		take_nodes(s, k, &m);
}

/* Refuses what is missing: the owner's code may have changed the tables. */
static void
check_rows(const solver *s)
{
	for (int k = 0; k < s->n; k++)
		if (s->share[k].seen != (s->share[k].columns + s->share[k].level + s->share[k].variance > 0 ? s->nasked : 0))
			gnngp_matrix_refuse("A row is missing.");
	for (int64 i = 0; i < s->problem->nlabelled; i++)
		if (!(s->all.label[i * GP_PRECISION_LABEL + 1] > 0.0))
			gnngp_matrix_refuse("A label is missing.");
}

/* ---- statements ---- */

/* A number, or NULL, in a query. */
static const char *
number_text(double value)
{
	return isnan(value) ? "NULL" : psprintf("'%.17g'::pg_catalog.float8", value);
}

/* The kernel in a query: NULL where it is to be chosen. */
static const char *
kernel_text(const solver *s, bool settled)
{
	const gp_problem *problem = s->problem;
	double		sigma2 = settled ? s->all.prior.sigma2 : problem->program->input.p[GP_LAPLACIAN_SIGMA2];
	int			d = settled ? s->all.prior.d : (int) problem->program->input.p[GP_LAPLACIAN_D];

	if (problem->open_prior && !settled)
		return "NULL";
	return psprintf("'laplacian(d=%d, sigma2=%.17g)'::%s.gp_kernel", d, sigma2, gnngp_public_schema());
}

/* Has the first share worked on, or all others; what they say of the labels comes here. */
static void
solve(solver *s, bool settled)
{
	gnngp_parts *p = s->p;
	Oid			types[] = {INT4OID, TEXTOID, gnngp_type("gp_matrix")};
	gnngp_place_taker taker = {take_row, s, 3, types};
	const char *which = settled ? ">" : "=";

	p->place.phase = settled ? GP_PHASE_POSTERIOR : GP_PHASE_NUGGET;
	p->place.verbs->run(&p->place, s->solved,
						psprintf("SELECT %s, t.part, s.what, s.part, s.rows FROM %s AS t, LATERAL %s.gp_solve("
								 "ARRAY(SELECT n.m FROM %s AS n WHERE n.m IS NOT NULL%s ORDER BY n.part),"
								 " ARRAY(SELECT g.g FROM %s AS g WHERE g.g IS NOT NULL%s ORDER BY g.part),"
								 " %s, %d, %s, %s, " INT64_FORMAT ", t.first, t.last, %s) AS s WHERE t.part %s 0",
								 gnngp_place_key(&p->place, "s.part"), s->shares, p->schema, s->nodes, gnngp_place_near(&p->place, "n", "t"),
								 p->edges_near, gnngp_place_near(&p->place, "g", "t"),
								 kernel_text(s, settled), s->problem->nclasses,
								 number_text(settled ? s->all.prior.nugget : s->problem->nugget),
								 number_text(settled ? s->all.prior.mean_diag : NAN),
								 (int64) s->problem->seed, p->bounds, which));
	gnngp_place_query(&p->place, psprintf("SELECT s.share, s.what, s.m FROM %s AS s WHERE s.what <> 'nodes' AND s.share %s 0",
										  s->solved, which), 0, NULL, NULL, &taker);
	if (!settled && !p->listed && !(s->all.prior.mean_diag > 0.0 && s->all.prior.nugget > 0.0))
		gnngp_matrix_refuse("The first share is missing.");
}

/* Lists the nodes of which level and variance are needed here. */
static void
list_asked(solver *s)
{
	gnngp_parts *p = s->p;
	const gp_problem *problem = s->problem;
	int32		sample[GP_PRECISION_SAMPLE];
	int			n = gp_precision_sample(problem, sample);
	bool	   *asked = gp_alloc_zero(p->ev.env, p->n, sizeof(bool));

	for (int64 i = 0; i < problem->nlabelled; i++)
		asked[problem->labelled[i]] = true;
	for (int k = 0; k < n; k++)
		asked[sample[k]] = true;
	s->asked = gp_alloc_array(p->ev.env, problem->nlabelled + n, sizeof(int32));
	for (int64 i = 0; i < p->n; i++)
		if (asked[i])
			s->asked[s->nasked++] = (int32) i;
	s->taken = gp_alloc_zero(p->ev.env, s->nasked, sizeof(uint64));
	gp_free(p->ev.env, asked);
}

/* Asks for these. */
static void
ask_nodes(solver *s)
{
	gnngp_parts *p = s->p;
	Oid			types[] = {INT4OID, TEXTOID, gnngp_type("gp_matrix")};
	Oid			given[] = {INT8ARRAYOID, INT4ARRAYOID};
	Datum		values[2] = {0};
	gnngp_place_taker taker = {take_row, s, 3, types};

	if (!p->listed)
		gnngp_parts_places(p, s->asked, s->nasked, values);
	gnngp_place_query(&p->place, psprintf("SELECT s.share, s.what, %s.gp_rows(s.m, $1) FROM %s AS s"
										  " WHERE s.what = 'nodes' AND s.part = ANY ($2)", p->schema, s->solved),
					  2, given, values, &taker);
}

/* Makes the predictions of what the shares gave; labelled nodes have the variances that leave-one-out went by. */
static void
answer(solver *s)
{
	gnngp_parts *p = s->p;
	const gp_problem *problem = s->problem;
	gnngp_answer_layout *layout = palloc0(s->n * sizeof(gnngp_answer_layout));
	double	   *variance = palloc0(Max(problem->nlabelled, 1) * sizeof(double));
	gnngp_part_rows rows = {.layout = layout,.own_variance = true};

	for (int k = 0; k < s->n; k++)
		if (s->share[k].columns + s->share[k].level + s->share[k].variance > 0)
			layout[rows.n++] = (gnngp_answer_layout) {(int32) s->share[k].from, (int32) s->share[k].columns, s->share[k].level,
				s->share[k].variance, 0
			};
	for (int64 i = 0; i < problem->nlabelled && s->out; i++)
		variance[i] = s->out->variance[problem->labelled[i]];
	rows.labelled = gnngp_parts_put_labelled(p, variance, 1);
	rows.query = psprintf("(SELECT pk, part, pg_catalog.array_agg(m ORDER BY share) AS m FROM %s WHERE what = 'nodes' GROUP BY pk, part)",
						  s->solved);
	gnngp_parts_answer(p, &rows, s->out);
}

/* What a task holds: the edges while they are put together, or the system with the vectors of a band. */
static double
task_bytes(const solver *s)
{
	const gnngp_parts *p = s->p;
	double		result = 0.0;

	for (int k = 0; k < s->n; k++)
		result = Max(result, (double) (s->share[k].columns + s->share[k].level + s->share[k].variance));
	return Max(PUT_BYTES, MATRIX_BYTES) * p->edges + (NODE_BYTES + VECTORS * s->bands.width * sizeof(float) + 2.0 * result * sizeof(double)) * p->n;
}

/* The tables that the shares read and fill. */
static void
open_tables(solver *s)
{
	gnngp_place *place = &s->p->place;

	cut_shares(s);
	s->nodes = put_nodes(s->p);
	s->shares = put_shares(s);
	s->solved = gnngp_place_table(place, "solved");
	place->verbs->create(place, s->solved, psprintf("share integer, what text, part integer, m %s.gp_matrix", s->p->schema));
	gnngp_parts_task(s->p, task_bytes(s));
}

/* The posterior. */
gp_posterior *
gnngp_parts_precision(gnngp_parts *p, gp_problem *problem)
{
	solver		s = {.p = p,.problem = problem};
	gp_env	   *env = p->ev.env;

	s.bands = gp_precision_count_bands(problem);
	open_tables(&s);
	if (p->listed)
	{
		solve(&s, false);
		s.all.prior = (gp_precision_prior) {.sigma2 = 1.0,.d = 1,.nugget = 1.0,.mean_diag = 1.0};
		solve(&s, true);
		ask_nodes(&s);
		answer(&s);
		return NULL;
	}
	s.out = gp_precision_open_outside(env, problem);
	memset(s.out->variance, 0, p->n * sizeof(double));
	list_asked(&s);
	s.all.label = gp_alloc_zero(env, problem->nlabelled, GP_PRECISION_LABEL * sizeof(double));
	s.all.at = gp_alloc_zero(env, problem->nlabelled, s.out->columns * sizeof(double));
	if (s.bands.level > 0)
		s.all.level = gp_alloc_zero(env, p->n, sizeof(double));
	solve(&s, false);
	solve(&s, true);
	ask_nodes(&s);
	check_rows(&s);
	gp_precision_close_outside(p->ev.dev, problem, &s.all, s.out);
	answer(&s);
	gp_free(env, s.taken);
	gp_free(env, s.asked);
	gp_free(env, s.all.label);
	gp_free(env, s.all.level);
	return s.out;
}

/* Operations: a product for each step and factor of the system. */
double
gnngp_parts_precision_flops(const gnngp_parts *p, const gp_problem *problem)
{
	gp_precision_bands bands = gp_precision_count_bands(problem);
	double		columns = (double) bands.width * (bands.labels + bands.variances) + bands.level;

	return STEPS * Max(1.0, problem->program->input.p[GP_LAPLACIAN_D]) * 2.0 * (2.0 * p->edges + p->n) * columns;
}
