/*
 * factor_steps.c - from the steps of a program to statements over tables of chunks.
 *
 * Every step but a factor on the covariance has a table of its own.  An operator acts on each
 * column by itself: the rows of all chunks are turned into groups of whole columns, multiplied
 * there, and turned back, so that each number moves twice, whatever the graph looks like.  All
 * other steps work on each chunk by itself, against the landmarks' rows, which everybody has a
 * copy of.
 */
#include "postgres.h"

#include "distributed_internal.h"

#define GROUP_BYTES 67108864.0	/* of the columns that one task stacks, at most */
#define GROUPS 8				/* of columns, at least, where there are so many */
#define STACK_COPIES 2			/* of stacked columns: value and numbers, beside the operator's
								 * blocks; each partition keeps one more */
#define EDGE_BYTES 28.0			/* of an edge there: both ways, and in A with a value */
#define WEIGHT_BYTES 28.0		/* of its weight: as it is read, and both ways twice */
#define NODE_BYTES 48.0			/* of a node there: ids, offsets, places */
#define CHUNK_COPIES 4			/* of a chunk's rows */

/* 0A000 with what there is instead. */
static void
refuse_kernel(const char *what, const char *hint)
{
	gnngp_raise(FEATURE_NOT_SUPPORTED, hint, "strategy sql does not serve %s", what);
}

void
gnngp_distributed_check(const gp_program *program, const gnngp_sources *src)
{
	const char *other = "Use another kernel, or strategy => 'nystrom'.";

	if (src->directed)
		refuse_kernel("directed graphs",
					  "Create the graph with directed => false, or use strategy => 'nystrom'.");
	if (!src->data->ids.integer)
		refuse_kernel("ids that are not integers",
					  "Use a view that gives each node an integer, or strategy => 'nystrom'.");
	if (gp_program_is_laplacian(program))
		refuse_kernel("Laplacian kernels",
					  "Leave out strategy: a fit in memory takes 8 seconds and 1 GB for a million nodes.");
	if (src->features == NULL)
		refuse_kernel(src->sparse ? "features in a table of their own" : "graphs without features",
					  "Give the graph features in columns of the node table, or use strategy => 'nystrom'.");
	if (program->power != 1.0)
		refuse_kernel("powers of a kernel", other);
	switch (program->input.kind)
	{
		case GP_INPUT_LINEAR:
		case GP_INPUT_RBF:
		case GP_INPUT_POLY:
		case GP_INPUT_ARCCOS:
			break;
		case GP_INPUT_IDENTITY:
		case GP_INPUT_LAPLACIAN:
		case GP_INPUT_COSINE:
			refuse_kernel("this input kernel",
						  "Use input linear, rbf, poly or arccos, or strategy => 'nystrom'.");
	}
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_LISTS || program->steps[i].kind == GP_STEP_UNIT)
			refuse_kernel(program->steps[i].kind == GP_STEP_LISTS ? "lists of neighbours"
						  : "unit(...)", other);
}

/* A factor of one panel without numbers. */
static gnngp_chunked_factor
one_panel(gnngp_dfit *d, const char *table, int64 cols)
{
	gnngp_chunked_factor out = {table, gp_factor_create(d->ev.env)};

	out.f->npanels = 1;
	out.f->panel[0].p.cols = cols;
	out.f->panel[0].value = 1.0;
	return out;
}

/* A panel of covariances with the landmarks, by a kernel of rows alone. */
static gnngp_chunked_factor
covariances(gnngp_dfit *d, const gnngp_chunked_factor *arg, const char *kernel)
{
	int64		cols = gp_factor_rank(arg->f);
	gp_matrix	rows = gnngp_chunk_gather(d, arg->table, d->landmark, d->nlandmarks, cols);
	gp_matrix	root = gnngp_chunk_root(d, arg->f, NULL);
	const char *landmarks;
	const char *roots = "NULL::gnngp_internal.gp_matrix";
	gnngp_chunked_factor out = one_panel(d, gnngp_chunk_table(d, "covariances", "", d->nlandmarks),
										 d->nlandmarks);

	gnngp_chunk_whiten(d, arg->f, rows);
	landmarks = gnngp_chunk_copy(d, "landmarks", rows, GP_FLOAT, d->landmark);
	if (root.data || d->listed)
		roots = gnngp_chunk_copy(d, "root", root, GP_FLOAT, NULL);
	gnngp_placement_fill(&d->placement, out.table,
						psprintf("SELECT t.pk, t.chunk, gnngp_internal.gp_step(t.m, '%s'::%s.gp_kernel, %s, %s) FROM %s AS t",
								 kernel, gnngp_public_schema(), landmarks, roots, arg->table));
	gnngp_chunk_free(d, &rows);
	gnngp_chunk_free(d, &root);
	/* The factor of the landmarks' covariance, of a panel that lies in a table */
	gp_matrix	c = gnngp_chunk_gather(d, out.table, d->landmark, d->nlandmarks, d->nlandmarks);

	if (!d->listed)
		gp_landmark_root(&d->ev, c);
	out.f->panel[0].root = c;
	d->task = Max(d->task, CHUNK_COPIES * (double) d->n / Max(d->chunks, 1) *
				  (cols + d->nlandmarks) * sizeof(float) +
				  3.0 * cols * (cols + d->nlandmarks) * sizeof(double));
	return out;
}

/* A column of the same number: features times zeros, and a constant. */
static gnngp_chunked_factor
bias_step(gnngp_dfit *d, const gp_step *s)
{
	gnngp_chunked_factor out = one_panel(d, gnngp_chunk_table(d, "bias", "", 1), 1);
	gp_matrix	w = {.rows = d->dims + 1,.cols = 1};

	if (!d->listed)
	{
		w = d->ev.dev->create(d->ev.dev, d->dims + 1, 1, GP_DOUBLE);
		d->ev.dev->fill(d->ev.dev, w, 0.0);
		d->ev.dev->fill(d->ev.dev, gp_matrix_rows(w, d->dims, 1), 1.0);
	}
	gnngp_placement_fill(&d->placement, out.table,
						psprintf("SELECT t.pk, t.chunk, gnngp_internal.gp_apply(t.m, %s) FROM %s AS t",
								 gnngp_chunk_copy(d, "ones", w, GP_FLOAT, NULL), d->x));
	gnngp_chunk_free(d, &w);
	out.f->panel[0].value = s->value;
	return out;
}

/* An operator of the kernel language as text, which multiplies columns that stand for X0. */
static const char *
operator_kernel(const gp_operator *op, gp_norm norm)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int t = 0; t < op->nterms; t++)
	{
		const gp_monomial *m = &op->term[t];

		appendStringInfo(&text, "%s%.17g*%s", m->coef < 0.0 ? (t > 0 ? " - " : "-")
						 : (t > 0 ? " + " : ""), fabs(m->coef),
						 m->power_a > 0 ? psprintf("A^%d", m->power_a) : "I");
		for (int k = 0; k < op->np; k++)
			if (m->power_p[k] > 0)
				appendStringInfo(&text, "*P(%.17g)^%d", op->p_alpha[k], m->power_p[k]);
	}
	return psprintf("(%s)*X0%s", text.data, norm == GP_NORM_ROW ? ", norm=row" : "");
}

/* The rows of an operator's argument, turned, multiplied and turned back. */
static gnngp_chunked_factor
operator_step(gnngp_dfit *d, const gp_step *s, const gnngp_chunked_factor *arg)
{
	int64		cols = gp_factor_rank(arg->f);
	int			keys = d->placement.keys;
	int			ngroups = d->placement.apart ? (GROUPS + keys - 1) / keys * keys : GROUPS;
	double		most = GROUP_BYTES / ((double) d->n * sizeof(float));
	int			width = (int) Max(1, Min(Min(most, GP_COLUMN_BLOCK),
									 (cols + ngroups - 1) / ngroups));
	const char *groups = gnngp_chunk_table(d, "groups", "", cols);
	const char *spread = gnngp_chunk_table(d, "spread", "place integer, ", cols);
	gnngp_chunked_factor out = {NULL, gp_factor_create(d->ev.env)};
	gnngp_placement *p = &d->placement;

	gnngp_placement_fill(p, groups,
		   psprintf("SELECT %s, s.place, s.columns FROM %s AS t, LATERAL gnngp_internal.gp_split(t.m, %d) AS s",
					gnngp_placement_key(p, "s.place"), arg->table, width));
	gnngp_placement_fill(p, spread,
		   psprintf("SELECT %s, s.chunk, x.place, s.rows FROM"
					" (SELECT t.pk, t.chunk AS place, gnngp_internal.gp_stack(t.m) AS m FROM %s AS t GROUP BY t.pk, t.chunk) AS x,"
					" LATERAL gnngp_internal.gp_spread(x.m, %s, '%s'::%s.gp_kernel, %s) AS s",
					gnngp_placement_key(p, "s.chunk"), groups,
					gnngp_placement_table_near(p, d->edges_near, "x.pk"),
					operator_kernel(s->op, d->program->norm), gnngp_public_schema(), d->bounds));
	gnngp_placement_drop(p, groups);
	out.table = gnngp_chunk_table(d, "columns", "", cols);
	gnngp_placement_fill(p, out.table,
		   psprintf("SELECT t.pk, t.chunk, gnngp_internal.gp_glue(t.place, t.m) FROM %s AS t GROUP BY t.pk, t.chunk", spread));
	gnngp_placement_drop(p, spread);
	*out.f = *arg->f;
	d->shuffled += 2.0 * d->n * cols * sizeof(float);
	d->task = Max(d->task, (STACK_COPIES + gp_operator_blocks(s->op) + (p->apart ? 0 : keys)) *
				  (double) d->n * width * sizeof(float) +
				  (EDGE_BYTES + (d->src->weight ? WEIGHT_BYTES : 0.0)) * d->edges +
				  NODE_BYTES * d->n);
	return out;
}

/* Two factors side by side. */
static gnngp_chunked_factor
sum_step(gnngp_dfit *d, const gnngp_chunked_factor *a, const gnngp_chunked_factor *b)
{
	gnngp_chunked_factor out = {NULL, gp_factor_create(d->ev.env)};

	if (a->f->npanels + b->f->npanels > GP_MAX_LINEAR_TERMS)
		refuse_kernel(psprintf("kernels of more than %d terms", GP_MAX_LINEAR_TERMS),
					  "Use fewer terms or layers.");
	out.table = gnngp_chunk_table(d, "sum", "", gp_factor_rank(a->f) + gp_factor_rank(b->f));
	gnngp_placement_fill(&d->placement, out.table,
						psprintf("SELECT u.pk, u.chunk, gnngp_internal.gp_glue(u.place, u.m) FROM"
								 " (SELECT pk, chunk, 0 AS place, m FROM %s UNION ALL SELECT pk, chunk, 1, m FROM %s) AS u"
								 " GROUP BY u.pk, u.chunk", a->table, b->table));
	*out.f = *a->f;
	for (int k = 0; k < b->f->npanels; k++)
		out.f->panel[out.f->npanels++] = b->f->panel[k];
	return out;
}

static gnngp_chunked_factor
make_step(gnngp_dfit *d, const gp_step *s)
{
	const gp_input *input = &d->program->input;
	const gnngp_chunked_factor *a = s->arg0 >= 0 ? &d->factor[s->arg0] : NULL;
	gnngp_chunked_factor out;

	switch (s->kind)
	{
		case GP_STEP_INPUT:
			out = one_panel(d, d->x, d->dims);
			if (input->kind == GP_INPUT_LINEAR)
				return out;
			return covariances(d, &out, input->kind == GP_INPUT_RBF ?
							   psprintf("X0, input=rbf(gamma=%.17g)", input->p[0]) :
							   input->kind == GP_INPUT_POLY ?
							   psprintf("X0, input=poly(c=%.17g, d=%.17g)", input->p[0], input->p[1]) :
							   "X0, input=arccos");
		case GP_STEP_BIAS:
			return bias_step(d, s);
		case GP_STEP_SCALE:		/* the same table, with a number on the covariance */
			out = (gnngp_chunked_factor) {a->table, gp_factor_create(d->ev.env)};
			*out.f = *a->f;
			for (int k = 0; k < out.f->npanels; k++)
				out.f->panel[k].value *= s->value;
			return out;
		case GP_STEP_OP:
			return operator_step(d, s, a);
		case GP_STEP_RELU:
			return covariances(d, a, "relu(X0*W)");
		case GP_STEP_SUM:
			return sum_step(d, a, &d->factor[s->arg1]);
		default:
			elog(ERROR, "step kind %d has no statements", s->kind);
	}
}

/* True when a later step than this one takes a table; the features stay to the end. */
static bool
is_needed(const gnngp_dfit *d, const char *table, int step)
{
	const gp_program *program = d->program;

	if (table == d->x || (step == program->nsteps - 1 && table == d->factor[step].table))
		return true;
	for (int later = step + 1; later < program->nsteps; later++)
		for (int k = 0; k < 2; k++)
		{
			int			arg = k == 0 ? program->steps[later].arg0 : program->steps[later].arg1;

			if (arg >= 0 && arg <= step && d->factor[arg].table == table)
				return true;
		}
	return false;
}

gnngp_chunked_factor
gnngp_factor_steps(gnngp_dfit *d)
{
	int			n = d->program->nsteps;

	d->factor = gp_alloc_zero(d->ev.env, n, sizeof(gnngp_chunked_factor));
	for (int i = 0; i < n; i++)
	{
		d->factor[i] = make_step(d, &d->program->steps[i]);
		/* Drops the tables that no later step takes; each is dropped by the last step that has
		 * it */
		for (int j = 0; j <= i; j++)
		{
			const char *table = d->factor[j].table;

			if (table == NULL || is_needed(d, table, i))
				continue;
			gnngp_placement_drop(&d->placement, table);
			for (int k = 0; k <= i; k++)
				if (d->factor[k].table == table)
					d->factor[k].table = NULL;
		}
	}
	return d->factor[n - 1];
}
