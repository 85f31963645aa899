/*
 * parts_steps.c - from the steps of a program to statements over tables of parts.
 *
 * Every step but a number has a table of its own.  An operator acts on each column by itself: the
 * rows of all parts are turned into groups of whole columns, multiplied there, and turned back, so that
 * each number moves twice, whatever the graph looks like.  Everything else takes parts one by
 * one, against the landmarks' rows, which everybody has a copy of.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "parts_internal.h"
#include "utils/builtins.h"

#define GROUP_BYTES 67108864.0	/* of the columns that one task stacks, at most */
#define GROUPS 8				/* of columns, at least, where there are so many */
#define STACK_COPIES 5			/* of stacked columns: pieces, value, numbers, product, parts */
#define EDGE_BYTES 110.0		/* of an edge there, measured, while edges are put together */
#define NODE_BYTES 48.0			/* of a node there: ids, offsets, places */
#define PART_COPIES 4			/* of a part's rows */

/* 0A000 with what there is instead. */
static void
refuse_kernel(const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("strategy sql does not serve %s", what),
			 errhint("%s", hint)));
}

/* Refuses programs that are not fitted in parts. */
void
gnngp_parts_check(const gp_program *program, const gnngp_sources *src)
{
	const char *other = "Use another kernel, or strategy => 'nystrom'.";

	if (src->directed)
		refuse_kernel("directed graphs", "Create the graph with directed => false, or use strategy => 'nystrom'.");
	if (!src->data->ids.integer)
		refuse_kernel("ids that are no integers", "Use a view that gives each node an integer, or strategy => 'nystrom'.");
	if (gp_program_is_laplacian(program))
		return;
	if (src->features == NULL)
		refuse_kernel(src->sparse ? "features in a table of their own" : "graphs without features",
					  "Give the graph features in columns of the node table, or use kernel => 'laplacian(sigma2=10)' or strategy => 'nystrom'.");
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
			refuse_kernel("this input kernel", "Use input linear, rbf, poly or arccos, or strategy => 'nystrom'.");
	}
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_LISTS || program->steps[i].kind == GP_STEP_UNIT)
			refuse_kernel(program->steps[i].kind == GP_STEP_LISTS ? "lists of neighbours" : "steps of mean variance 1", other);
}

/* A table of matrices that have so many columns together, and these columns before them. */
static const char *
make_table(gnngp_parts *p, const char *what, const char *columns, int64 cols)
{
	const char *table = gnngp_place_table(&p->place, what);

	p->place.verbs->create(&p->place, table, psprintf("%sm %s.gp_matrix", columns, p->schema));
	p->written += (double) p->n * cols * sizeof(float);
	return table;
}

/* A table of parts. */
const char *
gnngp_parts_table(gnngp_parts *p, const char *what, int64 cols)
{
	return make_table(p, what, "part integer, ", cols);
}

/* A task that holds so many bytes. */
void
gnngp_parts_task(gnngp_parts *p, double bytes)
{
	p->task = Max(p->task, bytes);
}

/* A factor of one panel without numbers. */
static gnngp_part_factor
one_panel(gnngp_parts *p, const char *table, int64 cols)
{
	gnngp_part_factor out = {table, gp_factor_create(p->ev.env)};

	out.f->npanels = 1;
	out.f->panel[0].p.cols = cols;
	out.f->panel[0].value = 1.0;
	return out;
}

/* The factor of the landmarks' covariance, of a panel that lies in a table. */
static void
take_root(gnngp_parts *p, gnngp_part_factor *panel)
{
	gp_matrix	c = gnngp_parts_gather(p, panel->table, p->landmark, p->nlandmarks, p->nlandmarks);

	if (!p->listed)
		gp_landmark_root(&p->ev, c);
	panel->f->panel[0].root = c;
}

/* A panel of covariances with the landmarks, by a kernel of rows alone. */
static gnngp_part_factor
covariances(gnngp_parts *p, const gnngp_part_factor *arg, const char *kernel)
{
	int64		cols = gp_factor_rank(arg->f);
	gp_matrix	rows = gnngp_parts_gather(p, arg->table, p->landmark, p->nlandmarks, cols);
	gp_matrix	root = gnngp_parts_root(p, arg->f, NULL);
	const char *landmarks;
	const char *roots = psprintf("NULL::%s.gp_matrix", p->schema);
	gnngp_part_factor out = one_panel(p, gnngp_parts_table(p, "covariances", p->nlandmarks), p->nlandmarks);

	gnngp_parts_whiten(p, arg->f, rows);
	landmarks = gnngp_parts_copy(p, "landmarks", rows, GP_FLOAT, p->landmark);
	if (root.data || p->listed)
		roots = gnngp_parts_copy(p, "root", root, GP_FLOAT, NULL);
	p->place.verbs->run(&p->place, out.table,
						psprintf("SELECT t.pk, t.part, %s.gp_step(t.m, '%s'::%s.gp_kernel, %s, %s) FROM %s AS t",
								 p->schema, kernel, gnngp_public_schema(), landmarks, roots, arg->table));
	gnngp_parts_free(p, &rows);
	gnngp_parts_free(p, &root);
	take_root(p, &out);
	gnngp_parts_task(p, PART_COPIES * (double) p->n / Max(p->parts, 1) * (cols + p->nlandmarks) * sizeof(float) +
					 3.0 * cols * (cols + p->nlandmarks) * sizeof(double));
	return out;
}

/* The input kernel of features as a kernel of rows alone. */
static const char *
input_kernel(const gp_input *input)
{
	switch (input->kind)
	{
		case GP_INPUT_RBF:
			return psprintf("X0, input=rbf(gamma=%.17g)", input->p[0]);
		case GP_INPUT_POLY:
			return psprintf("X0, input=poly(c=%.17g, d=%.17g)", input->p[0], input->p[1]);
		default:
			return "X0, input=arccos";
	}
}

/* The input: features as they are, or their covariances with the landmarks. */
static gnngp_part_factor
input_step(gnngp_parts *p)
{
	gnngp_part_factor x = one_panel(p, p->x, p->dims);

	return p->program->input.kind == GP_INPUT_LINEAR ? x : covariances(p, &x, input_kernel(&p->program->input));
}

/* A column of the same number: features times zeros, and a constant. */
static gnngp_part_factor
bias_step(gnngp_parts *p, const gp_step *s)
{
	gnngp_part_factor out = one_panel(p, gnngp_parts_table(p, "bias", 1), 1);
	gp_matrix	w = {.rows = p->dims + 1,.cols = 1};

	if (!p->listed)
	{
		w = p->ev.dev->create(p->ev.dev, p->dims + 1, 1, GP_DOUBLE);
		p->ev.dev->fill(p->ev.dev, w, 0.0);
		p->ev.dev->fill(p->ev.dev, gp_matrix_rows(w, p->dims, 1), 1.0);
	}
	p->place.verbs->run(&p->place, out.table,
						psprintf("SELECT t.pk, t.part, %s.gp_apply(t.m, %s) FROM %s AS t", p->schema,
								 gnngp_parts_copy(p, "ones", w, GP_FLOAT, NULL), p->x));
	gnngp_parts_free(p, &w);
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

		appendStringInfo(&text, "%s%.17g*%s", m->coef < 0.0 ? (t > 0 ? " - " : "-") : (t > 0 ? " + " : ""), fabs(m->coef),
						 m->power_a > 0 ? psprintf("A^%d", m->power_a) : "I");
		for (int k = 0; k < op->np; k++)
			if (m->power_p[k] > 0)
				appendStringInfo(&text, "*P(%.17g)^%d", op->p_alpha[k], m->power_p[k]);
	}
	return psprintf("(%s)*X0%s", text.data, norm == GP_NORM_ROW ? ", norm=row" : "");
}

/* How many columns a group has. */
static int
group_width(const gnngp_parts *p, int64 cols)
{
	double		most = GROUP_BYTES / ((double) p->n * sizeof(float));
	int			keys = p->place.keys;
	int			groups = p->place.apart ? (GROUPS + keys - 1) / keys * keys : GROUPS;

	return (int) Max(1, Min(Min(most, GP_COLUMN_BLOCK), (cols + groups - 1) / groups));
}

/* The rows of an operator's argument, turned, multiplied and turned back. */
static gnngp_part_factor
operator_step(gnngp_parts *p, const gp_step *s, const gnngp_part_factor *arg)
{
	int64		cols = gp_factor_rank(arg->f);
	int			width = group_width(p, cols);
	const char *groups = gnngp_parts_table(p, "groups", cols);
	const char *spread = make_table(p, "spread", "part integer, place integer, ", cols);
	gnngp_part_factor out = {NULL, gp_factor_create(p->ev.env)};
	const gnngp_place_verbs *v = p->place.verbs;

	v->run(&p->place, groups,
		   psprintf("SELECT %s, s.place, s.columns FROM %s AS t, LATERAL %s.gp_split(t.m, %d) AS s",
					gnngp_place_key(&p->place, "s.place"), arg->table, p->schema, width));
	v->run(&p->place, spread,
		   psprintf("SELECT %s, s.part, x.place, s.rows FROM"
					" (SELECT t.pk, t.part AS place, %s.gp_stack(t.m) AS m FROM %s AS t GROUP BY t.pk, t.part) AS x,"
					" LATERAL %s.gp_spread(x.m, ARRAY(SELECT g.g FROM %s AS g WHERE g.g IS NOT NULL%s ORDER BY g.part),"
					" '%s'::%s.gp_kernel, %s) AS s",
					gnngp_place_key(&p->place, "s.part"), p->schema, groups, p->schema, p->edges_near,
					gnngp_place_near(&p->place, "g", "x"),
					operator_kernel(s->op, p->program->norm), gnngp_public_schema(), p->bounds));
	v->drop(&p->place, groups);
	out.table = gnngp_parts_table(p, "columns", cols);
	v->run(&p->place, out.table,
		   psprintf("SELECT t.pk, t.part, %s.gp_glue(t.place, t.m) FROM %s AS t GROUP BY t.pk, t.part", p->schema, spread));
	v->drop(&p->place, spread);
	*out.f = *arg->f;
	p->shuffled += 2.0 * p->n * cols * sizeof(float);
	gnngp_parts_task(p, STACK_COPIES * (double) p->n * width * sizeof(float) + EDGE_BYTES * p->edges + NODE_BYTES * p->n);
	return out;
}

/* Two factors side by side. */
static gnngp_part_factor
sum_step(gnngp_parts *p, const gnngp_part_factor *a, const gnngp_part_factor *b)
{
	gnngp_part_factor out = {NULL, gp_factor_create(p->ev.env)};

	if (a->f->npanels + b->f->npanels > GP_MAX_LINEAR_TERMS)
		refuse_kernel(psprintf("kernels of more than %d terms", GP_MAX_LINEAR_TERMS), "Use fewer terms or layers.");
	out.table = gnngp_parts_table(p, "sum", gp_factor_rank(a->f) + gp_factor_rank(b->f));
	p->place.verbs->run(&p->place, out.table,
						psprintf("SELECT u.pk, u.part, %s.gp_glue(u.place, u.m) FROM"
								 " (SELECT pk, part, 0 AS place, m FROM %s UNION ALL SELECT pk, part, 1, m FROM %s) AS u"
								 " GROUP BY u.pk, u.part", p->schema, a->table, b->table));
	*out.f = *a->f;
	for (int k = 0; k < b->f->npanels; k++)
		out.f->panel[out.f->npanels++] = b->f->panel[k];
	return out;
}

/* The same table, with a number on the covariance. */
static gnngp_part_factor
scale_step(gnngp_parts *p, const gp_step *s, const gnngp_part_factor *arg)
{
	gnngp_part_factor out = {arg->table, gp_factor_create(p->ev.env)};

	*out.f = *arg->f;
	for (int k = 0; k < out.f->npanels; k++)
		out.f->panel[k].value *= s->value;
	return out;
}

/* The factor of one step. */
static gnngp_part_factor
make_step(gnngp_parts *p, const gp_step *s)
{
	const gnngp_part_factor *a = s->arg0 >= 0 ? &p->factor[s->arg0] : NULL;

	switch (s->kind)
	{
		case GP_STEP_INPUT:
			return input_step(p);
		case GP_STEP_BIAS:
			return bias_step(p, s);
		case GP_STEP_SCALE:
			return scale_step(p, s, a);
		case GP_STEP_OP:
			return operator_step(p, s, a);
		case GP_STEP_RELU:
			return covariances(p, a, "relu(X0*W)");
		case GP_STEP_SUM:
			return sum_step(p, a, &p->factor[s->arg1]);
		default:
			elog(ERROR, "step kind %d has no statements", s->kind);
	}
}

/* True when a later step than this one takes a table; the features stay to the end. */
static bool
is_needed(const gnngp_parts *p, const char *table, int step)
{
	const gp_program *program = p->program;

	if (table == p->x || (step == program->nsteps - 1 && table == p->factor[step].table))
		return true;
	for (int later = step + 1; later < program->nsteps; later++)
		for (int k = 0; k < 2; k++)
		{
			int			arg = k == 0 ? program->steps[later].arg0 : program->steps[later].arg1;

			if (arg >= 0 && arg <= step && p->factor[arg].table == table)
				return true;
		}
	return false;
}

/* Drops the tables that no later step takes; each is dropped by the last step that has it. */
static void
drop_used(gnngp_parts *p, int step)
{
	for (int i = 0; i <= step; i++)
	{
		const char *table = p->factor[i].table;

		if (table == NULL || is_needed(p, table, step))
			continue;
		p->place.verbs->drop(&p->place, table);
		for (int k = 0; k <= step; k++)
			if (p->factor[k].table == table)
				p->factor[k].table = NULL;
	}
}

/* The factor of the last step. */
gnngp_part_factor
gnngp_parts_steps(gnngp_parts *p)
{
	int			n = p->program->nsteps;

	p->factor = gp_alloc_zero(p->ev.env, n, sizeof(gnngp_part_factor));
	for (int i = 0; i < n; i++)
	{
		p->factor[i] = make_step(p, &p->program->steps[i]);
		drop_used(p, i);
	}
	return p->factor[n - 1];
}
