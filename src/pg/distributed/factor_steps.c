/*
 * factor_steps.c - from the steps of a program to statements over tables of chunks.
 *
 * Most steps work on each chunk by itself, against the landmarks' rows, which everybody has a copy
 * of: they are computed where a later statement asks for their rows.  An operator acts on each
 * column by itself: the rows of all chunks are turned into groups of whole columns, multiplied
 * there, and turned back into a table, so that each number moves twice, whatever the graph looks
 * like.  On several servers covariances of few columns do not move: each server has all of these,
 * and computes groups of covariances from them.
 *
 * The last step's operator has no table of all rows.  What is asked about it are rows of some
 * nodes, and products, of which sums of squares move.
 */
#include "postgres.h"

#include "distributed_internal.h"

#define GROUP_BYTES 50331648.0	/* of the columns that one task multiplies, at most, */
#define GROUP_MOST 536870912.0	/* or so many beside a large graph, */
#define GROUP_SHARE 8.0			/* bytes of them for each of its edges */
#define GROUPS 8				/* of columns, at least, where there are so many */
#define NARROW_GROUPS 24		/* each of which may compute all covariances again */
#define EDGE_BYTES 28.0			/* of an edge there: both ways, and in A with a value */
#define WEIGHT_BYTES 28.0		/* of its weight: as it is read, and both ways twice */
#define NODE_BYTES 48.0			/* of a node there: ids, offsets, places */
#define NARROW 4				/* so many times fewer columns move in place of covariances */
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

	if (src->r->def->directed)
		refuse_kernel("directed graphs",
					  "Create the graph with directed => false, or use strategy => 'nystrom'.");
	if (!src->data->ids.integer)
		refuse_kernel("ids that are not integers",
					  "Use a view that gives each node an integer, or strategy => 'nystrom'.");
	if (gp_program_is_laplacian(program))
		refuse_kernel("Laplacian kernels",
					  "Leave out strategy: a fit in memory takes 8 seconds and 1 GB for a million nodes.");
	if (src->features == NULL)
		refuse_kernel(OidIsValid(src->r->sparse.oid) ? "features in a table of their own" : "graphs without features",
					  "Give the graph features in columns of the node table, or use strategy => 'nystrom'.");
	if (program->power != 1.0)
		refuse_kernel("powers of a kernel", other);
	if (program->input.kind == GP_INPUT_IDENTITY || program->input.kind == GP_INPUT_LAPLACIAN ||
		program->input.kind == GP_INPUT_COSINE)
		refuse_kernel("this input kernel",
					  "Use input linear, rbf, poly or arccos, or strategy => 'nystrom'.");
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_LISTS || program->steps[i].kind == GP_STEP_UNIT)
			refuse_kernel(program->steps[i].kind == GP_STEP_LISTS ? "lists of neighbours"
						  : "unit(...)", other);
}

/* A factor of one panel without numbers, the rows of a table. */
static gnngp_chunked_factor
one_panel(gnngp_table_fit *d, const char *table, int64 cols)
{
	gnngp_chunked_factor out = {.table = table,.cols = cols,.f = gp_factor_create(d->ev.env)};

	out.f->npanels = 1;
	out.f->panel[0].p.cols = cols;
	out.f->panel[0].value = 1.0;
	return out;
}

/* The factor of the landmarks' covariance with each other, by a kernel of rows alone. */
static gp_matrix
landmarks_root(gnngp_table_fit *d, const char *kernel, gp_matrix rows)
{
	gp_env	   *env = d->ev.env;
	gp_device  *dev = d->ev.dev;
	int64		n = d->nlandmarks;
	gp_matrix	at = gp_matrix_wrap(gp_alloc_array(env, n * rows.cols, sizeof(float)), n, rows.cols,
									GP_FLOAT);
	gp_matrix	c = gp_matrix_wrap(gp_alloc_array(env, n * n, sizeof(float)), n, n, GP_FLOAT);
	int32	   *own = gp_alloc_array(env, n, sizeof(int32));
	gp_matrix	root = dev->create(dev, n, n, GP_DOUBLE);

	for (int64 i = 0; i < n; i++)
		own[i] = (int32) i;
	dev->download(dev, at, rows);
	gp_block_covariances(dev, gnngp_compile_kernel(env, kernel), at, NULL, at, own, c);
	dev->upload(dev, root, c);
	gp_landmark_root(&d->ev, root);
	gp_free_all(env, at.data, c.data, own);
	return root;
}

/* A panel of covariances with the landmarks, by a kernel of rows alone. */
static gnngp_chunked_factor
covariances(gnngp_table_fit *d, const gnngp_chunked_factor *arg, const char *kernel)
{
	int64		cols = gp_factor_rank(arg->f);
	gp_matrix	root = gnngp_chunk_root(d, arg->f);
	gnngp_chunked_factor out = one_panel(d, arg->table, d->nlandmarks);

	out.cols = arg->cols;
	out.arg = memcpy(palloc(sizeof(*arg)), arg, sizeof(*arg));
	out.kernel = psprintf("'%s'::%s.gp_kernel", kernel, gnngp_public_schema());
	out.root = "NULL";
	out.at = gnngp_chunk_gather(d, arg, d->landmark, d->nlandmarks);
	gnngp_chunk_whiten(d, arg->f, out.at);
	if (root.data || d->placement.listed)
		out.root = gnngp_chunk_copy(d, "root", root, GP_FLOAT, NULL);
	out.landmarks = gnngp_chunk_copy(d, "landmarks", out.at, GP_FLOAT, d->landmark);
	gnngp_chunk_free(d, &root);
	if (!d->placement.listed)
		out.f->panel[0].root = landmarks_root(d, kernel, out.at);
	d->task_bytes = Max(d->task_bytes, CHUNK_COPIES * (double) d->n / Max(d->chunks, 1) *
						(cols + d->nlandmarks) * sizeof(float) +
						3.0 * cols * (cols + d->nlandmarks) * sizeof(double));
	return out;
}

/* A column of the same number: features times zeros, and a constant. */
static gnngp_chunked_factor
bias_step(gnngp_table_fit *d, const gp_step *s)
{
	gnngp_chunked_factor *x = palloc(sizeof(*x));
	gnngp_chunked_factor out = one_panel(d, d->x, 1);
	gp_matrix	w = {.rows = d->dims + 1,.cols = 1};

	if (!d->placement.listed)
	{
		w = d->ev.dev->create(d->ev.dev, d->dims + 1, 1, GP_DOUBLE);
		d->ev.dev->fill(d->ev.dev, w, 0.0);
		d->ev.dev->fill(d->ev.dev, gp_matrix_rows(w, d->dims, 1), 1.0);
	}
	out.cols = d->dims;
	*x = one_panel(d, d->x, d->dims);
	out.arg = x;
	out.weights = gnngp_chunk_copy(d, "ones", w, GP_FLOAT, NULL);
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

static int
most_columns(const gnngp_table_fit *d)
{
	double		bytes = Max(GROUP_BYTES, Min(GROUP_SHARE * d->edges, GROUP_MOST));

	return (int) Max(1.0, Min(bytes / ((double) d->n * sizeof(float)), GP_COLUMN_BLOCK));
}

/* How many columns of a factor, or of so many products, are a group: as many for each key. */
static int
group_width(const gnngp_table_fit *d, const gnngp_chunked_factor *a, int64 products)
{
	int			keys = d->placement.apart ? d->placement.keys : 1;
	int			most = most_columns(d);
	int64		cols = products > 0 ? products : gp_factor_rank(a->f);
	/* A process of Citus has one group at a time, and each reads the whole graph. */
	int64		least = d->placement.apart ? (cols + most - 1) / most : GROUPS;
	int64		ngroups = (Max(least, 1) + keys - 1) / keys * keys;

	return (int) Max(1, Min(most, (cols + ngroups - 1) / ngroups));
}

/*
 * What groups are computed from where each server has all rows of few columns: landmarks, or
 * columns of w, in a table of which each group has a row.
 */
static const char *
group_parts(gnngp_table_fit *d, const gnngp_chunked_factor *a, const gp_matrix *w, int width)
{
	const char *parts = gnngp_chunk_table(d, "parts", "", 0);
	int64		n = w ? w->cols : d->nlandmarks;

	for (gp_band band = gp_band_first(n, width); band.count > 0 && !d->placement.listed;
		 gp_band_next(&band))
	{
		int64		place = band.first / width;
		gp_matrix	part = w ? gp_matrix_cols(*w, band.first, band.count)
			: gp_matrix_rows(a->at, band.first, band.count);

		gnngp_chunk_insert(d, parts, place, place,
						   gnngp_chunk_value(d, part, GP_FLOAT, w ? NULL :
											 d->landmark + band.first));
	}
	return parts;
}

/*
 * The columns of a factor, or of its rows times w, in a table of which a group is the rows of a key
 * and a place: what a group is made of, t.m, and the tables, of which the first goes with it.
 */
static const char *
groups_of(gnngp_table_fit *d, const gnngp_chunked_factor *a, const gp_matrix *w, int width,
		  const char **groups, const char **from)
{
	gnngp_placement *p = &d->placement;
	int64		cols = w ? w->cols : gp_factor_rank(a->f);
	const char *rows = gnngp_chunk_call(a, "t.m", NULL, NULL);

	/* From few columns: a group of products computes all covariances again, as few groups may. */
	if (p->apart && a->kernel && NARROW * a->cols <= gp_factor_rank(a->f) &&
		(w == NULL || cols <= (int64) NARROW_GROUPS * most_columns(d)))
	{
		*groups = group_parts(d, a, w, width);
		if (d->narrow != a->table)
			d->narrow_near = gnngp_placement_everywhere(p, d->narrow = a->table,
														"chunk integer, m gnngp_internal.gp_matrix",
														"t.chunk, t.m");
		*from = psprintf("%s AS x JOIN %s AS t USING (pk)", *groups, d->narrow_near);
		return gnngp_chunk_call(a, "t.m", w ? NULL : "x.m", w ? "x.m" : NULL);
	}
	*groups = gnngp_chunk_table(d, "groups", "", cols);
	*from = psprintf("%s AS x", *groups);
	d->shuffled += (double) d->n * cols * sizeof(float);
	if (w)
		rows = psprintf("gnngp_internal.gp_apply(%s, %s)", rows,
						gnngp_chunk_copy(d, "weights", *w, GP_FLOAT, NULL));
	gnngp_placement_fill(p, *groups,
		   psprintf("SELECT %s, s.place, s.columns FROM %s AS t, LATERAL gnngp_internal.gp_split(%s, %d) AS s",
					gnngp_placement_key(p, "s.place"), a->table, rows, width));
	return "x.m";
}

/*
 * An operator times the columns of a factor, or of its rows times w; of the resulting rows, which
 * the query calls s.rows, a table has what is asked for.
 */
static const char *
operate_groups(gnngp_table_fit *d, const gnngp_chunked_factor *a, const gp_operator *op,
			   const gp_matrix *w, const char *rows, const char *wanted, int64 moved)
{
	gnngp_placement *p = &d->placement;
	int			width = group_width(d, a, w ? w->cols : 0);
	const char *groups;
	const char *from;
	const char *columns = groups_of(d, a, w, width, &groups, &from);
	const char *table = gnngp_chunk_table(d, "operated", "place integer, ", moved);

	gnngp_placement_fill(p, table,
		   psprintf("SELECT %s, s.chunk, s.place, %s FROM (SELECT g.place, pg_catalog.generate_subscripts(g.parts, 1) - 1 AS chunk,"
					" pg_catalog.unnest(g.parts) AS rows FROM (SELECT x.pk, x.chunk AS place,"
					" gnngp_internal.gp_operate(%s, %s, '%s'::%s.gp_kernel, %s, %s) AS parts FROM %s GROUP BY x.pk, x.chunk) AS g) AS s"
					" WHERE s.rows IS NOT NULL",
					gnngp_placement_key(p, "s.chunk"), rows, columns,
					gnngp_placement_table_near(p, d->edges_near, "x.pk"),
					operator_kernel(op, d->program->norm), gnngp_public_schema(), d->bounds,
					wanted, from));
	gnngp_placement_drop(p, groups);
	d->shuffled += (double) d->n * moved * sizeof(float);
	d->task_bytes = Max(d->task_bytes, (1 + gp_operator_blocks(op) + (p->apart ? 0 : p->keys)) *
						(double) d->n * width * sizeof(float) +
						(EDGE_BYTES + (d->sources->weight ? WEIGHT_BYTES : 0.0)) * d->edges +
						NODE_BYTES * d->n);
	return table;
}

/* Groups of columns side by side, with the panels of a factor. */
static gnngp_chunked_factor
glue(gnngp_table_fit *d, const char *what, const char *groups, const gp_factor *f)
{
	int64		cols = gp_factor_rank(f);
	gnngp_chunked_factor out = one_panel(d, gnngp_chunk_table(d, what, "", cols), cols);

	*out.f = *f;
	gnngp_placement_fill(&d->placement, out.table,
		   psprintf("SELECT t.pk, t.chunk, gnngp_internal.gp_glue(t.place, t.m) FROM %s AS t WHERE t.m IS NOT NULL GROUP BY t.pk, t.chunk",
					groups));
	return out;
}

/* An operator times the columns of a factor: a table of the rows that are wanted. */
static gnngp_chunked_factor
operate(gnngp_table_fit *d, const gnngp_chunked_factor *a, const gp_operator *op, const char *what,
		const char *wanted, int64 moved)
{
	const char *groups = operate_groups(d, a, op, NULL, "s.rows", wanted, moved);
	gnngp_chunked_factor out = glue(d, what, groups, a->f);

	gnngp_placement_drop(&d->placement, groups);
	return out;
}

/* Two factors side by side. */
static gnngp_chunked_factor
sum_step(gnngp_table_fit *d, const gnngp_chunked_factor *a, const gnngp_chunked_factor *b)
{
	gp_factor  *f = gp_factor_create(d->ev.env);

	if (a->f->npanels + b->f->npanels > GP_MAX_PANELS)
		refuse_kernel(psprintf("kernels of more than %d terms", GP_MAX_PANELS),
					  "Use fewer terms or layers.");
	*f = *a->f;
	for (int k = 0; k < b->f->npanels; k++)
		f->panel[f->npanels++] = b->f->panel[k];
	return glue(d, "sum",
				psprintf("(SELECT t.pk, t.chunk, 0 AS place, %s AS m FROM %s AS t UNION ALL SELECT t.pk, t.chunk, 1, %s FROM %s AS t)",
						 gnngp_chunk_call(a, "t.m", NULL, NULL), a->table,
						 gnngp_chunk_call(b, "t.m", NULL, NULL), b->table), f);
}

static gnngp_chunked_factor
make_step(gnngp_table_fit *d, const gp_step *s)
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
			out = *a;
			out.f = gp_factor_create(d->ev.env);
			*out.f = *a->f;
			for (int k = 0; k < out.f->npanels; k++)
				out.f->panel[k].value *= s->value;
			return out;
		case GP_STEP_OP:
			if (s < &d->program->steps[d->program->nsteps - 1])
				return operate(d, a, s->op, "columns", "NULL", gp_factor_rank(a->f));
			out = *a;
			out.op = s->op;
			return out;
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
is_needed(const gnngp_table_fit *d, const char *table, int step)
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
gnngp_factor_steps(gnngp_table_fit *d)
{
	int			n = d->program->nsteps;

	d->factor = gp_alloc_zero(d->ev.env, n, sizeof(gnngp_chunked_factor));
	for (int i = 0; i < n; i++)
	{
		d->factor[i] = make_step(d, &d->program->steps[i]);
		/* Several steps may have one table, which goes when no later step takes it. */
		for (int j = 0; j <= i; j++)
			if (list_member_ptr(d->placement.tables, d->factor[j].table) &&
				!is_needed(d, d->factor[j].table, i))
				gnngp_placement_drop(&d->placement, d->factor[j].table);
	}
	return d->factor[n - 1];
}

gnngp_chunked_factor
gnngp_factor_some(gnngp_table_fit *d, const gnngp_chunked_factor *a, const int32 *node, int64 n)
{
	if (a->op == NULL)
		return *a;
	return operate(d, a, a->op, "some", gnngp_chunk_ids(d, node, n), 0);
}

/*
 * What adds the sums of squares of all groups, each of which has one column for them, and keeps the
 * columns behind.
 */
static const char *
sums_of_groups(gnngp_table_fit *d, int64 squares, int64 cols, int width)
{
	int64		sums = (squares + width - 1) / width;
	int64		others = cols - squares;
	gp_matrix	m = {.rows = sums + others,.cols = 1 + others};

	if (!d->placement.listed)
	{
		m = d->ev.dev->create(d->ev.dev, m.rows, m.cols, GP_DOUBLE);
		d->ev.dev->fill(d->ev.dev, m, 0.0);
		d->ev.dev->fill(d->ev.dev, gp_matrix_part(m, 0, 0, sums, 1), 1.0);
		d->ev.dev->shift(d->ev.dev, gp_matrix_diagonal(gp_matrix_part(m, sums, 1, others, others)),
						 1.0);
	}
	const char *copy = gnngp_chunk_copy(d, "sums", m, GP_DOUBLE, NULL);
	gnngp_chunk_free(d, &m);
	return copy;
}

gp_kept_rows
gnngp_factor_product(gnngp_table_fit *d, const gnngp_chunked_factor *a, gp_matrix w, int32 columns)
{
	int64		squares = w.cols - columns;
	const char *rows;

	d->placement.phase = GP_PHASE_POSTERIOR;
	if (a->op == NULL)
	{
		rows = psprintf("gnngp_internal.gp_apply(%s, %s)", gnngp_chunk_call(a, "t.m", NULL, NULL),
						gnngp_chunk_copy(d, "weights", w, GP_FLOAT, NULL));
		return gnngp_chunk_collect(d, psprintf("SELECT gnngp_internal.gp_squares(%s, " INT64_FORMAT ") FROM %s AS t",
											   rows, squares, a->table), columns + 1);
	}
	/* Each group has a column of sums, or others alone. */
	int			width = group_width(d, a, w.cols);
	rows = psprintf("gnngp_internal.gp_squares(s.rows, " INT64_FORMAT " - s.place * %d)", squares,
					width);
	const char *table = operate_groups(d, a, a->op, &w, rows, "NULL", columns + GROUPS);
	gp_kept_rows kept = gnngp_chunk_collect(d, psprintf("SELECT gnngp_internal.gp_apply(gnngp_internal.gp_glue(t.place, t.m), %s) FROM %s AS t GROUP BY t.pk, t.chunk",
												 sums_of_groups(d, squares, w.cols, width), table),
									 columns + 1);
	gnngp_placement_drop(&d->placement, table);
	return kept;
}
