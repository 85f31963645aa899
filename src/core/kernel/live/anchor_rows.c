/*
 * anchor_rows.c - the other side of the covariance: noted by a fit, put in place for a few rows.
 *
 * A fit notes the anchors' rows of each explicit factor that it makes, and an evaluation
 * of a few rows puts them behind its own.  Columns that are nodes (of the identity, and of
 * lists of neighbours) keep their numbers of the fit, and nodes that are new stand behind these.
 */
#include "kernel/prepared.h"

void
gp_anchors_note(gp_eval *ev, gp_piece_kind kind, int site, const gp_linear *z, const int32_t *index,
				int64_t n)
{
	gp_device  *dev = ev->dev;

	if (ev->state == NULL)
		return;
	if (z->csr)
		gp_state_rows(ev->state, kind, site, 0, z->csr, index, n);
	if (z->dense.cols == 0)
		return;
	gp_matrix	rows = gp_gather(dev, z->dense, index, n);
	gp_state_matrix(dev, ev->state, kind, site, 1, rows);
	dev->destroy(dev, &rows);
}

void
gp_anchors_note_input(gp_eval *ev, const int32_t *index, int64_t n)
{
	const gp_features *x = ev->kernel->x;
	size_t		size = gp_type_size(x->type);

	if (ev->state == NULL)
		return;
	if (x->csr)
	{
		gp_state_rows(ev->state, GP_PIECE_INPUT, 0, 0, x->csr, index, n);
		return;
	}
	gp_piece   *piece = gp_state_add(ev->state, GP_PIECE_INPUT, 0, 0);
	gp_state_dense(ev->state, piece, n, x->dims, x->type);
	for (int64_t i = 0; i < n && !ev->env->dry; i++)
		memcpy((char *) piece->dense + i * x->dims * size,
			   (char *) x->dense + index[i] * x->dims * size, x->dims * size);
}

/* Notes the rows of A at the first nodes' fields; nodes that only stand in them have none. */
static void
note_operator(gp_eval *ev, const int32_t *all, int64_t nall, const int32_t *inner, int64_t ninner)
{
	gp_env	   *env = ev->env;
	gp_piece   *piece = gp_state_add(ev->state, GP_PIECE_OPERATOR, 0, 0);
	int32_t    *place = gp_alloc_zero(env, ev->n, sizeof(int32_t));
	int64_t    *start = gp_alloc_zero(env, nall + 1, sizeof(int64_t));
	int64_t		k = 0;

	for (int64_t i = 0; i < nall; i++)
		place[all[i]] = (int32_t) i;
	gp_csr	   *s = gp_csr_select(ev->state->env, ev->kernel->a, inner, ninner, place, nall);
	/* The rows of those that are not inner are empty. */
	for (int64_t i = 0; i < nall; i++)
	{
		if (k < ninner && all[i] == inner[k])
			k++;
		start[i + 1] = s->start[k];
	}
	gp_free(ev->state->env, s->start);
	s->start = start;
	s->rows = nall;
	gp_free(env, place);
	piece->rows = piece->cols = nall;
	piece->type = s->type;
	piece->bytes = (double) gp_csr_entries(s) * (sizeof(int32_t) + gp_type_size(s->type));
	piece->csr = s;
}

void
gp_anchors_note_exact(gp_eval *ev, const int32_t *node, int64_t n, bool whole)
{
	gp_env	   *env = ev->env;
	int32_t    *all = gp_alloc_array(env, whole ? ev->n : n, sizeof(int32_t));
	int64_t		nall = whole ? ev->n : n;
	int32_t    *inner = NULL;
	int64_t		ninner = 0;
	const gp_program *program = ev->kernel->program;
	int			hops = 0;

	for (int64_t i = 0; i < nall; i++)
		all[i] = whole ? (int32_t) i : node[i];
	/* as far as the largest power of A over what is no explicit factor */
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_OP && !gp_step_is_linear(ev, i) && !whole)
			hops = (int) gp_max64(hops, gp_operator_reach(program->steps[i].op));
	for (int hop = hops; hop > 0; hop--)
	{
		gp_free(env, inner);
		inner = all;
		ninner = nall;
		all = gp_graph_field(env, ev->kernel->a, inner, ninner, &nall);
	}
	gp_state_nodes(ev->state, GP_PIECE_ANCHORS, all, nall);
	note_operator(ev, all, nall, whole ? all : inner, whole ? nall : ninner);
	for (int i = 0; i < program->nsteps; i++)
		if (!ev->linear[i].made)
			continue;
		else if (gp_step_is_linear(ev, i))
			gp_anchors_note(ev, GP_PIECE_LINEAR, i, &ev->linear[i], all, nall);
		else
			gp_anchors_note_input(ev, all, nall);
	gp_free_all(env, inner, all);
}

/* ---- rows behind rows ---- */

int64_t
gp_anchors_term_width(const gp_eval *ev, const gp_linear_term *term)
{
	if (ev->live == NULL || term->leaf == GP_LEAF_BIAS)
		return gp_term_width(ev, term);
	return term->leaf == GP_LEAF_LISTS || ev->kernel->node_columns ? ev->kernel->fit_nodes :
		ev->kernel->fit_dims;
}

int64_t
gp_anchors_width(const gp_eval *ev, const gp_terms *terms)
{
	int64_t		width = 0;

	for (int t = 0; t < terms->n; t++)
		width += gp_anchors_term_width(ev, &terms->term[t]);
	return width;
}

/* Where a column of the fit stands now. */
static int64_t
column_now(const gp_eval *ev, const gp_terms *terms, int64_t col)
{
	int64_t		then = 0;
	int64_t		shift = 0;

	for (int t = 0; t < terms->n; t++)
	{
		int64_t		width = gp_anchors_term_width(ev, &terms->term[t]);

		then += width;
		if (col < then)
			break;
		shift += gp_term_width(ev, &terms->term[t]) - width;
	}
	return col + shift;
}

/* Adds the anchors' rows to a dense factor, of whichever form they are. */
static void
fill_dense(gp_eval *ev, const gp_terms *terms, const gp_piece *sparse, const gp_piece *dense,
		   gp_linear *z)
{
	gp_device  *dev = ev->dev;
	int64_t		rows = sparse ? sparse->rows : dense->rows;
	int64_t		first = sparse ? sparse->cols : 0;
	double	   *row = gp_alloc_array(ev->env, z->width, sizeof(double));

	for (int64_t i = 0; i < gp_items(ev->env, rows); i++)
	{
		memset(row, 0, z->width * sizeof(double));
		for (int64_t k = sparse ? sparse->csr->start[i] : 0; sparse &&
			 k < sparse->csr->start[i + 1]; k++)
			row[column_now(ev, terms, sparse->csr->col[k])] =
				gp_number_at(sparse->csr->value, sparse->csr->type, k);
		for (int64_t j = 0; dense && j < dense->cols; j++)
			row[column_now(ev, terms, first + j)] =
				gp_number_at(dense->dense, dense->type, i * dense->cols + j);
		dev->upload(dev, gp_matrix_rows(z->dense, ev->live_rows + i, 1),
					gp_matrix_wrap(row, 1, z->width, GP_DOUBLE));
	}
	gp_free(ev->env, row);
}

void
gp_anchors_fill(gp_eval *ev, gp_piece_kind kind, int site, const gp_terms *terms, gp_linear *z)
{
	gp_csr	   *all;

	if (ev->live == NULL)
		return;
	const gp_piece *sparse = gp_state_find(ev->live, kind, site, 0);
	const gp_piece *dense = gp_state_find(ev->live, kind, site, 1);
	if (sparse == NULL && dense == NULL)
		return;
	/* Refuses rows of another shape than the terms and the anchors have */
	int64_t		cols = (sparse ? sparse->cols : 0) + (dense ? dense->cols : 0);
	int64_t		anchors = ev->n - ev->live_rows;

	if (cols != gp_anchors_width(ev, terms) ||
		(sparse && (sparse->rows != anchors || sparse->csr == NULL)) ||
		(dense && (dense->rows != anchors || dense->dense == NULL)))
		gp_state_refuse(ev->env);
	/* Where the same columns are sparse as in the fit, each part takes its own. */
	if (z->csr == NULL || sparse == NULL || z->dense.cols != (dense ? dense->cols : 0) ||
		(dense && column_now(ev, terms, sparse->cols) != z->csr->cols))
	{
		if (z->csr)
		{
			gp_matrix	all = gp_linear_dense(ev, z);

			gp_linear_free(ev, z);
			z->dense = all;
		}
		fill_dense(ev, terms, sparse, dense, z);
		return;
	}
	if (dense)
		ev->dev->upload(ev->dev, gp_matrix_rows(z->dense, ev->live_rows, anchors),
						gp_matrix_wrap(dense->dense, anchors, dense->cols, dense->type));
	/* The anchors' sparse rows with the columns of now; the order of columns stays. */
	gp_csr	   *below = gp_csr_stack(ev->env, NULL, 0, sparse->csr, z->csr->cols);
	for (int64_t k = 0; terms->n > 1 && k < gp_csr_entries(below); k++)
		below->col[k] = (int32_t) column_now(ev, terms, below->col[k]);
	all = gp_csr_stack(ev->env, z->csr, ev->live_rows, below, z->csr->cols);
	gp_csr_free(ev->env, below);
	gp_csr_free(ev->env, z->csr);
	z->csr = all;
}

/* ---- scales, and how far a program reaches ---- */

bool
gp_unit_kept(const gp_eval *ev, gp_unit_pass pass, int step, double *scale)
{
	const gp_piece *piece = ev->live ? gp_state_find(ev->live, GP_PIECE_UNIT, step, pass) : NULL;

	if (piece)
		*scale = *(double *) piece->dense;
	return piece != NULL;
}

double
gp_unit_note(gp_eval *ev, gp_unit_pass pass, int step, double mean)
{
	double		scale = mean > 0.0 && !ev->env->dry ? 1.0 / mean : 1.0;

	gp_kernel_check_finite(ev->env, mean);
	if (ev->state)
		gp_state_numbers(ev->state, GP_PIECE_UNIT, step, pass, &scale, 1, 1);
	return scale;
}
