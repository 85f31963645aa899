/*
 * anchors.c - the other side of the covariance: noted by a fit, put in place for a few rows.
 *
 * A fit notes the anchors' rows of each explicit factor that it makes, and an evaluation
 * of a few rows puts them behind its own.  Columns that are nodes (of the identity, and of
 * lists of neighbours) keep their numbers of the fit, and nodes that are new stand behind these.
 */
#include "keep.h"
#include "prepared.h"

#include <string.h>

/* Notes rows of an explicit factor: its sparse columns, and its dense ones. */
void
gp_anchors_note(gp_eval *ev, gp_piece_kind kind, int site, const gp_linear *z, const int32_t *index, int64_t n)
{
	gp_device  *dev = ev->dev;
	gp_matrix	rows;

	if (ev->keep == NULL)
		return;
	if (z->csr)
		gp_keep_rows(ev->keep, kind, site, 0, z->csr, index, n);
	if (z->dense.cols == 0)
		return;
	rows = dev->create(dev, n, z->dense.cols, ev->type);
	dev->gather_rows(dev, rows, z->dense, index);
	gp_keep_matrix(dev, ev->keep, kind, site, 1, rows);
	dev->destroy(dev, &rows);
}

/* Notes features as they are. */
void
gp_anchors_note_input(gp_eval *ev, const int32_t *index, int64_t n)
{
	const gp_features *x = ev->kernel->x;
	gp_piece   *piece;
	size_t		size = gp_type_size(x->type);

	if (ev->keep == NULL)
		return;
	if (x->csr)
	{
		gp_keep_rows(ev->keep, GP_PIECE_INPUT, 0, 0, x->csr, index, n);
		return;
	}
	piece = gp_keep_add(ev->keep, GP_PIECE_INPUT, 0, 0);
	gp_keep_dense(ev->keep, piece, n, x->dims, x->type);
	for (int64_t i = 0; i < n && !ev->env->dry; i++)
		memcpy((char *) piece->dense + i * x->dims * size, (char *) x->dense + index[i] * x->dims * size,
			   x->dims * size);
}

/* The largest power of A in an operator. */
static int
largest_power(const gp_operator *op)
{
	int			most = 0;

	for (int t = 0; t < op->nterms; t++)
		most = op->term[t].power_a > most ? op->term[t].power_a : most;
	return most;
}

/* The largest power of A over what is no explicit factor. */
static int
deep_hops(const gp_eval *ev)
{
	const gp_program *program = ev->kernel->program;
	int			most = 0;

	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_OP && !gp_step_is_linear(ev, i))
		{
			int			power = largest_power(program->steps[i].op);

			most = power > most ? power : most;
		}
	return most;
}

/* Notes the rows of A at the first nodes' fields; nodes that only stand in them have none. */
static void
note_operator(gp_eval *ev, const int32_t *all, int64_t nall, const int32_t *inner, int64_t ninner)
{
	gp_env	   *env = ev->env;
	const gp_csr *a = ev->kernel->a;
	gp_piece   *piece = gp_keep_add(ev->keep, GP_PIECE_OPERATOR, 0, 0);
	int32_t    *place = gp_alloc_zero(env, ev->n, sizeof(int32_t));
	int64_t    *start = gp_alloc_zero(env, nall + 1, sizeof(int64_t));
	gp_csr	   *s;
	int64_t		k = 0;

	for (int64_t i = 0; i < nall; i++)
		place[all[i]] = (int32_t) i;
	s = gp_csr_select(ev->keep->env, a, inner, ninner, place, nall);
	/* The rows of those that are not inner are empty. */
	for (int64_t i = 0; i < nall; i++)
	{
		if (k < ninner && all[i] == inner[k])
			k++;
		start[i + 1] = s->start[k];
	}
	gp_free(ev->keep->env, s->start);
	s->start = start;
	s->rows = nall;
	gp_free(env, place);
	piece->rows = piece->cols = nall;
	piece->type = s->type;
	piece->bytes = (double) gp_csr_entries(s) * (sizeof(int32_t) + gp_type_size(s->type));
	piece->csr = s;
}

/* Notes what an exact evaluation needs: factors, features and A in the field of some nodes. */
void
gp_anchors_note_exact(gp_eval *ev, const int32_t *node, int64_t n, bool whole)
{
	gp_env	   *env = ev->env;
	int32_t    *all = gp_alloc_array(env, whole ? ev->n : n, sizeof(int32_t));
	int64_t		nall = whole ? ev->n : n;
	int32_t    *inner = NULL;
	int64_t		ninner = 0;

	for (int64_t i = 0; i < nall; i++)
		all[i] = whole ? (int32_t) i : node[i];
	for (int hop = whole ? 0 : deep_hops(ev); hop > 0; hop--)
	{
		gp_free(env, inner);
		inner = all;
		ninner = nall;
		all = gp_graph_field(env, ev->kernel->a, inner, ninner, &nall);
	}
	gp_keep_nodes(ev->keep, GP_PIECE_ANCHORS, all, nall);
	note_operator(ev, all, nall, whole ? all : inner, whole ? nall : ninner);
	for (int i = 0; i < ev->kernel->program->nsteps; i++)
		if (!ev->linear[i].made)
			continue;
		else if (gp_step_is_linear(ev, i))
			gp_anchors_note(ev, GP_PIECE_LINEAR, i, &ev->linear[i], all, nall);
		else
			gp_anchors_note_input(ev, all, nall);
	gp_free(env, inner);
	gp_free(env, all);
}

/* ---- rows behind rows ---- */

/* A sparse matrix of the first rows of one and all rows of another. */
static gp_csr *
stack_csr(gp_env *env, const gp_csr *top, int64_t rows, const gp_csr *below, int64_t cols)
{
	int64_t		first = top ? top->start[rows] : 0;
	int64_t		more = below ? gp_csr_entries(below) : 0;
	gp_type		type = top ? top->type : below->type;
	size_t		size = gp_type_size(type);
	gp_csr	   *s = gp_csr_create(env, rows + (below ? below->rows : 0), cols, first + more, type);

	for (int64_t i = 0; i <= rows; i++)
		s->start[i] = top ? top->start[i] : 0;
	for (int64_t i = 0; below && i < below->rows; i++)
		s->start[rows + i + 1] = first + below->start[i + 1];
	if (first > 0)
	{
		memcpy(s->col, top->col, first * sizeof(int32_t));
		memcpy(s->value, top->value, first * size);
	}
	if (more > 0)
	{
		memcpy(s->col + first, below->col, more * sizeof(int32_t));
		memcpy((char *) s->value + first * size, below->value, more * size);
	}
	return s;
}

/* The columns that a term had in the fit: those of nodes that are new are not among them. */
int64_t
gp_anchors_term_width(const gp_eval *ev, const gp_linear_term *term)
{
	if (ev->live == NULL || term->leaf == GP_LEAF_BIAS)
		return gp_term_width(ev, term);
	return term->leaf == GP_LEAF_LISTS || ev->kernel->node_columns ? ev->kernel->fit_nodes : ev->kernel->fit_dims;
}

/* The columns of all terms' factor in the fit. */
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

/* The anchors' sparse rows with the columns of now; the order of columns stays. */
static gp_csr *
place_columns(gp_eval *ev, const gp_terms *terms, const gp_csr *s, int64_t cols)
{
	gp_csr	   *out = stack_csr(ev->env, NULL, 0, s, cols);

	for (int64_t k = 0; terms->n > 1 && k < gp_csr_entries(out); k++)
		out->col[k] = (int32_t) column_now(ev, terms, out->col[k]);
	return out;
}

/* Adds the anchors' rows to a dense factor, of whichever form they are. */
static void
fill_dense(gp_eval *ev, const gp_terms *terms, const gp_piece *sparse, const gp_piece *dense, gp_linear *z)
{
	gp_device  *dev = ev->dev;
	int64_t		rows = sparse ? sparse->rows : dense->rows;
	int64_t		first = sparse ? sparse->cols : 0;
	double	   *row = gp_alloc_array(ev->env, z->width, sizeof(double));

	for (int64_t i = 0; i < rows; i++)
	{
		memset(row, 0, z->width * sizeof(double));
		for (int64_t k = sparse ? sparse->csr->start[i] : 0; sparse && k < sparse->csr->start[i + 1]; k++)
			row[column_now(ev, terms, sparse->csr->col[k])] = gp_number_at(sparse->csr->value, sparse->csr->type, k);
		for (int64_t j = 0; dense && j < dense->cols; j++)
			row[column_now(ev, terms, first + j)] = gp_number_at(dense->dense, dense->type, i * dense->cols + j);
		dev->upload(dev, gp_matrix_rows(z->dense, ev->live_rows + i, 1), gp_matrix_wrap(row, 1, z->width, GP_DOUBLE));
	}
	gp_free(ev->env, row);
}

/* Makes a factor dense as a whole. */
static void
make_dense(gp_eval *ev, gp_linear *z)
{
	gp_device  *dev = ev->dev;
	gp_matrix	all;
	gp_matrix	eye;

	if (z->csr == NULL)
		return;
	if (z->dense.cols > 0)
		all = gp_linear_dense(ev, z);
	else
	{
		all = dev->create(dev, ev->n, z->width, ev->type);
		eye = dev->create(dev, z->width, z->width, ev->type);
		dev->fill(dev, eye, 0.0);
		dev->shift(dev, gp_matrix_diagonal(eye), 1.0);
		gp_linear_times(ev, z, 0, ev->n, eye, 0.0, all);
		dev->destroy(dev, &eye);
	}
	gp_linear_free(ev, z);
	z->dense = all;
}

/* Refuses rows of another shape than the terms and the anchors have. */
static void
check_piece(gp_eval *ev, const gp_piece *sparse, const gp_piece *dense, const gp_terms *terms)
{
	int64_t		cols = (sparse ? sparse->cols : 0) + (dense ? dense->cols : 0);
	int64_t		anchors = ev->n - ev->live_rows;

	if (cols != gp_anchors_width(ev, terms) || (sparse && (sparse->rows != anchors || sparse->csr == NULL)) ||
		(dense && (dense->rows != anchors || dense->dense == NULL)))
		gp_raise(ev->env, GP_ERR_DATA, "Fit the model again.", "the live state does not fit its kernel");
}

/* Puts the anchors' rows in place of what their rows hold. */
void
gp_anchors_fill(gp_eval *ev, gp_piece_kind kind, int site, const gp_terms *terms, gp_linear *z)
{
	const gp_piece *sparse;
	const gp_piece *dense;
	gp_csr	   *below;
	gp_csr	   *all;

	if (ev->live == NULL)
		return;
	sparse = gp_keep_find(ev->live, kind, site, 0);
	dense = gp_keep_find(ev->live, kind, site, 1);
	if (sparse == NULL && dense == NULL)
		return;
	check_piece(ev, sparse, dense, terms);
	if (z->csr == NULL || z->dense.cols > 0 || sparse == NULL || dense)
	{
		make_dense(ev, z);
		fill_dense(ev, terms, sparse, dense, z);
		return;
	}
	below = place_columns(ev, terms, sparse->csr, z->csr->cols);
	all = stack_csr(ev->env, z->csr, ev->live_rows, below, z->csr->cols);
	gp_csr_free(ev->env, below);
	gp_csr_free(ev->env, z->csr);
	z->csr = all;
}

/* ---- opening ---- */

/* The first rows of a sparse matrix, without entries in columns from a number on. */
static gp_csr *
first_rows(gp_env *env, const gp_csr *s, int64_t rows, int64_t cols)
{
	gp_csr	   *out = gp_csr_create(env, rows, cols, s->start[rows], s->type);
	int64_t		at = 0;

	for (int64_t i = 0; i < rows; i++)
	{
		for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
			if (s->col[k] < cols)
			{
				out->col[at] = s->col[k];
				gp_number_put(out->value, s->type, at++, gp_number_at(s->value, s->type, k));
			}
		out->start[i + 1] = at;
	}
	return out;
}

/* A among the rows, with that among the anchors behind it. */
static gp_csr *
stack_operator(gp_env *env, const gp_csr *a, int64_t rows, const gp_piece *kept, int64_t anchors)
{
	gp_csr	   *own = first_rows(env, a, rows, rows);
	gp_csr	   *below = kept ? stack_csr(env, NULL, 0, kept->csr, rows + anchors) :
		gp_csr_create(env, anchors, rows + anchors, 0, a->type);
	gp_csr	   *out;

	for (int64_t k = 0; k < gp_csr_entries(below); k++)
		below->col[k] += (int32_t) rows;
	out = stack_csr(env, own, rows, below, rows + anchors);
	gp_csr_free(env, own);
	gp_csr_free(env, below);
	return out;
}

/* Dense features as a sparse matrix that has all their entries. */
static gp_csr *
sparse_of(gp_env *env, const gp_features *x)
{
	int64_t		entries = (int64_t) gp_size_mul(env, x->rows, x->dims);
	gp_csr	   *s = gp_csr_create(env, x->rows, x->dims, entries, x->type);

	for (int64_t i = 0; i < x->rows; i++)
		s->start[i + 1] = (i + 1) * x->dims;
	for (int64_t k = 0; k < entries; k++)
		s->col[k] = (int32_t) (k % x->dims);
	memcpy(s->value, x->dense, entries * gp_type_size(x->type));
	return s;
}

/* Copies the first rows of sparse features into dense ones. */
static void
spread(const gp_features *x, int64_t rows, void *dense)
{
	for (int64_t i = 0; i < rows; i++)
		for (int64_t k = x->csr->start[i]; k < x->csr->start[i + 1]; k++)
			gp_number_put(dense, x->type, i * x->dims + x->csr->col[k], gp_number_at(x->csr->value, x->type, k));
}

/* The features of the rows, those of the anchors behind them where they were kept: in the form of these. */
static gp_features *
stack_features(gp_env *env, const gp_features *x, int64_t rows, const gp_piece *kept, int64_t anchors)
{
	gp_features *out = gp_alloc_zero(env, 1, sizeof(gp_features));
	gp_csr	   *none;
	gp_csr	   *own;
	size_t		size = gp_type_size(x->type);
	size_t		bytes = (size_t) (rows * x->dims) * size;

	*out = (gp_features) {.rows = rows + anchors,.dims = x->dims,.type = x->type};
	if (kept ? kept->csr != NULL : x->csr != NULL)
	{
		none = gp_csr_create(env, anchors, x->dims, 0, x->type);
		own = x->csr ? NULL : sparse_of(env, x);
		out->csr = stack_csr(env, own ? own : x->csr, rows, kept ? kept->csr : none, x->dims);
		gp_csr_free(env, none);
		gp_csr_free(env, own);
		return out;
	}
	out->dense = gp_alloc_zero(env, (int64_t) gp_size_mul(env, out->rows, out->dims), size);
	if (x->csr)
		spread(x, rows, out->dense);
	else
		memcpy(out->dense, x->dense, bytes);
	if (kept && (kept->dense == NULL || kept->rows != anchors || kept->cols > x->dims || kept->type != x->type))
		gp_raise(env, GP_ERR_DATA, "Fit the model again.", "the live state does not fit its features");
	/* Features that are new since the fit are 0 there. */
	for (int64_t i = 0; kept && i < anchors; i++)
		memcpy((char *) out->dense + bytes + (size_t) (i * x->dims) * size,
			   (char *) kept->dense + (size_t) (i * kept->cols) * size, (size_t) kept->cols * size);
	return out;
}

/* The column of each node: its number in the fit, or one behind these; *width counts them. */
static int32_t *
node_columns(gp_env *env, int64_t n, const int32_t *fit_node, int64_t fit_nodes, int64_t *width)
{
	int32_t    *column = gp_alloc_array(env, n, sizeof(int32_t));

	*width = fit_nodes;
	for (int64_t i = 0; i < n; i++)
		column[i] = fit_node[i] >= 0 ? fit_node[i] : (int32_t) (*width)++;
	return column;
}

/* The first rows of a sparse matrix whose columns are nodes, as columns of those of the fit and the new ones. */
static gp_csr *
rename_columns(gp_env *env, gp_csr *s, int64_t rows, const int32_t *column, int64_t width, int64_t anchors)
{
	gp_csr	   *none = gp_csr_create(env, anchors, width, 0, s->type);
	gp_csr	   *renamed = stack_csr(env, s, rows, none, width);
	gp_csr	   *turned;
	gp_csr	   *out;

	for (int64_t k = 0; k < gp_csr_entries(renamed); k++)
		renamed->col[k] = column[renamed->col[k]];
	turned = gp_csr_transpose(env, renamed);
	out = gp_csr_transpose(env, turned);
	gp_csr_free(env, turned);
	gp_csr_free(env, renamed);
	gp_csr_free(env, none);
	gp_csr_free(env, s);
	return out;
}

/* The features that the kernel takes: the rows' own, or a column for each node. */
static void
make_features(gp_prepared *kernel, const gp_features *features, int64_t nodes, const int32_t *column, int64_t width,
			  const gp_piece *kept, int64_t anchors, gp_type type)
{
	gp_env	   *env = kernel->env;
	gp_features *unit = NULL;
	gp_csr	   *eye;

	if (features == NULL || kernel->input == GP_INPUT_IDENTITY)
	{
		eye = rename_columns(env, gp_csr_identity(env, nodes, type), nodes, column, width, kept ? 0 : anchors);
		kernel->own_x = gp_features_of_csr(env, eye);
		kernel->node_columns = true;
		if (kept)
		{
			kernel->own_x->csr = stack_csr(env, eye, nodes, kept->csr, width);
			kernel->own_x->rows = nodes + anchors;
			gp_csr_free(env, eye);
		}
	}
	else
	{
		if (kernel->input == GP_INPUT_COSINE)
			unit = gp_features_unit(env, features, features->type, GP_ROW_LENGTH);
		kernel->own_x = stack_features(env, unit ? unit : features, nodes, kept, anchors);
		gp_features_free(env, unit);
	}
	if (kernel->input == GP_INPUT_IDENTITY || kernel->input == GP_INPUT_COSINE)
		kernel->input = GP_INPUT_LINEAR;
	kernel->x = kernel->own_x;
}

/* Opens an evaluation of a few rows. */
void
gp_eval_open_live(gp_eval *ev, gp_device *dev, const gp_program *program, const gp_graph *graph,
				  const gp_features *features, int64_t inner, const int32_t *fit_node, gp_fit_size fit,
				  const gp_keep *keep, gp_type type)
{
	gp_env	   *env = dev->env;
	gp_prepared *kernel = gp_alloc_zero(env, 1, sizeof(gp_prepared));
	int64_t		anchors = gp_keep_find(keep, GP_PIECE_ANCHORS, 0, 0)->rows;
	int64_t		width;
	int32_t    *column = node_columns(env, graph->nodes, fit_node, fit.nodes, &width);
	gp_csr	   *a = gp_graph_normalise(env, graph, program->norm, type);

	*kernel = (gp_prepared) {.env = env,.program = program,.directed = graph->directed,.input = program->input.kind,
	.fit_nodes = fit.nodes,.fit_dims = fit.dims};
	*ev = (gp_eval) {.dev = dev,.env = env,.n = inner + anchors,.type = type,.kernel = kernel,.live = keep,
	.live_rows = inner,.jitter = 1e-6};
	kernel->a = stack_operator(env, a, inner, gp_keep_find(keep, GP_PIECE_OPERATOR, 0, 0), anchors);
	gp_csr_free(env, a);
	make_features(kernel, features, inner, column, width, gp_keep_find(keep, GP_PIECE_INPUT, 0, 0), anchors, type);
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_LISTS && kernel->lists == NULL)
			kernel->lists = rename_columns(env, gp_graph_lists(env, graph, type), inner, column, width, anchors);
	gp_free(env, column);
	kernel->linear = gp_alloc_zero(env, program->nsteps, sizeof(gp_known_linear));
	kernel->op = gp_alloc_zero(env, program->nsteps, sizeof(gp_known_operator));
	gp_find_properties(ev);
	ev->linear = gp_alloc_zero(env, program->nsteps, sizeof(gp_linear));
}

/* ---- scales, and how far a program reaches ---- */

/* What a step was scaled by. */
bool
gp_unit_kept(const gp_eval *ev, gp_unit_pass pass, int step, double *scale)
{
	const gp_piece *piece = ev->live ? gp_keep_find(ev->live, GP_PIECE_UNIT, step, pass) : NULL;

	if (piece)
		*scale = *(double *) piece->dense;
	return piece != NULL;
}

/* Notes it. */
double
gp_unit_note(gp_eval *ev, gp_unit_pass pass, int step, double scale)
{
	if (ev->keep)
		gp_keep_numbers(ev->keep, GP_PIECE_UNIT, step, pass, &scale, 1, 1);
	return scale;
}

/* The most operators A in a row that reach the last step's value; arguments are numbered first. */
int
gp_program_hops(gp_env *env, const gp_program *program)
{
	int		   *hops = gp_alloc_zero(env, program->nsteps, sizeof(int));
	int			last;

	for (int i = 0; i < program->nsteps; i++)
	{
		const gp_step *s = &program->steps[i];

		if (s->arg0 >= 0)
			hops[i] = hops[s->arg0];
		if (s->arg1 >= 0 && hops[s->arg1] > hops[i])
			hops[i] = hops[s->arg1];
		if (s->kind == GP_STEP_OP)
			hops[i] += largest_power(s->op);
	}
	last = hops[program->nsteps - 1];
	gp_free(env, hops);
	return last;
}

/* Why rows cannot be evaluated by their neighbourhood. */
const char *
gp_program_is_global(const gp_program *program)
{
	if (program->input.kind == GP_INPUT_LAPLACIAN)
		return "a Laplacian input";
	for (int i = 0; i < program->nsteps; i++)
		if (program->steps[i].kind == GP_STEP_OP && gp_operator_is_global(program->steps[i].op))
			return "P(a)";
	return NULL;
}
