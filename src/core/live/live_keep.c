/*
 * live_keep.c - what a fit notes of its regression for later questions.
 */
#include "fit/fit_internal.h"
#include "kernel/live/live_state.h"

#include <string.h>

#define SLOW_ENTRIES 5e6		/* of the kernel, which take some tenths of a second */

/* Refuses kernels whose rows are made of all nodes. */
void
gp_live_check_kernel(gp_env *env, const gp_program *program)
{
	const char *what = gp_program_is_global(program);

	if (what)
		gp_raise(env, GP_ERR_UNSUPPORTED,
				 "Fit without live, or by a kernel of neighbours such as gcn, sage or gin.",
				 "a kernel with %s has no live state: it reaches every node", what);
}

/* Begins. */
void
gp_live_open(gp_eval *ev, const gp_problem *problem)
{
	if (!problem->live)
		return;
	gp_live_check_kernel(ev->env, problem->program);
	ev->keep = gp_keep_create(ev->env);
}

/* Keeps the regression. */
void
gp_live_keep_weights(gp_eval *ev, gp_matrix weights, gp_matrix root, gp_matrix right)
{
	gp_device  *dev = ev->dev;

	gp_keep_matrix(dev, ev->keep, GP_PIECE_WEIGHTS, 0, 0, weights);
	gp_keep_lower(dev, ev->keep, GP_PIECE_POSTERIOR, 0, 0, root);
	dev->trsm(dev, true, false, root, right);
	dev->trsm(dev, true, true, root, right);
	gp_keep_matrix(dev, ev->keep, GP_PIECE_WEIGHTS, 0, 1, right);
}

/* Keeps the labels. */
static void
keep_labels(gp_keep *keep, const gp_problem *problem, const gp_targets *targets)
{
	gp_keep_nodes(keep, GP_PIECE_LABELLED, problem->labelled, problem->nlabelled);
	if (problem->task == GP_TASK_VALUES)
		gp_keep_numbers(keep, GP_PIECE_TARGETS, 0, 0, targets->y, targets->m, targets->columns);
	else
		gp_keep_nodes(keep, GP_PIECE_TARGETS, problem->label, problem->nlabelled);
}

/* Keeps what makes probabilities of means. */
static void
keep_calibrator(gp_keep *keep, const gp_posterior *out)
{
	double		number[2] = {out->calibrator.delta, out->calibrator.gamma};

	gp_keep_numbers(keep, GP_PIECE_CALIBRATOR, 0, 0, number, 2, 1);
	if (out->calibrator.bias)
		gp_keep_numbers(keep, GP_PIECE_CALIBRATOR, 0, 1, out->calibrator.bias, out->columns, 1);
	if (out->prior_share)
		gp_keep_numbers(keep, GP_PIECE_SHARES, 0, 0, out->prior_share, out->columns, 1);
}

/* Keeps the figures. */
static void
keep_figures(gp_keep *keep, const gp_problem *problem, const gp_targets *targets, const gp_solution *solution,
			 const gp_posterior *out)
{
	gp_live_figures f = {
		.nodes = (double) out->nodes,
		.columns = out->columns,
		.values = problem->task == GP_TASK_VALUES,
		.exact = out->plan.strategy == GP_STRATEGY_EXACT,
		.by_columns = out->plan.by_columns,
		.exact_diagonal = out->plan.exact_diagonal,
		.dims = problem->features ? (double) problem->features->dims : 0.0,
		.noise = solution->noise,
		.mean_diag = solution->mean_diag,
		.scale = solution->scale,
		.unit = targets->unit,
		.offset = targets->offset,
		.wide = problem->type == GP_DOUBLE
	};

	gp_keep_numbers(keep, GP_PIECE_FIGURES, 0, 0, (double *) &f, sizeof(f) / sizeof(double), 1);
}

/* Says where an answer takes long: an exact one computes the kernel of the labelled nodes anew. */
static void
tell_slow(gp_eval *ev, const gp_problem *problem, const gp_posterior *out)
{
	int64_t		anchors = gp_keep_find(ev->keep, GP_PIECE_ANCHORS, 0, 0)->rows;
	double		entries = (double) anchors * (double) (out->plan.by_columns ? problem->nlabelled : anchors);

	if (out->plan.strategy == GP_STRATEGY_EXACT && entries > SLOW_ENTRIES)
		gp_notice(ev->env, "For answers in milliseconds fit with strategy => 'nystrom'.",
				  "a live answer of this exact fit computes the kernel of %lld labelled nodes anew, which takes long",
				  (long long) problem->nlabelled);
}

/* Ends: what is kept goes to the posterior. */
void
gp_live_close(gp_eval *ev, const gp_problem *problem, const gp_targets *targets, const gp_solution *solution,
			  gp_posterior *out)
{
	gp_keep    *keep = ev->keep;

	if (keep == NULL)
		return;
	if (out->plan.strategy == GP_STRATEGY_NYSTROM)
		gp_keep_nodes(keep, GP_PIECE_ANCHORS, out->landmark, out->nlandmarks);
	if (problem->moments)
		gp_keep_numbers(keep, GP_PIECE_MOMENTS, 0, 0, problem->moments, 2, problem->features->dims);
	keep_labels(keep, problem, targets);
	keep_figures(keep, problem, targets, solution, out);
	if (!ev->env->dry)
	{
		keep_calibrator(keep, out);
		tell_slow(ev, problem, out);
	}
	out->keep = keep;
	ev->keep = NULL;
}

/* The figures. */
bool
gp_live_read(const gp_keep *keep, gp_live_figures *figures)
{
	const gp_piece *piece = gp_keep_find(keep, GP_PIECE_FIGURES, 0, 0);

	if (piece == NULL || piece->rows != (int64_t) (sizeof(*figures) / sizeof(double)) || piece->dense == NULL)
		return false;
	memcpy(figures, piece->dense, sizeof(*figures));
	return true;
}

/* True for a dense piece of real numbers of this shape; rows or cols below 0: any. */
static bool
is_dense(const gp_piece *piece, int64_t rows, int64_t cols, bool wide)
{
	return piece && piece->dense && !piece->ints && (rows < 0 || piece->rows == rows) && (cols < 0 || piece->cols == cols) &&
		(!wide || piece->type == GP_DOUBLE);
}

/* True when a piece of the kernel has the form that evaluators take it in. */
static bool
kernel_piece_fits(const gp_piece *piece)
{
	switch (piece->kind)
	{
		case GP_PIECE_UNIT:
			return is_dense(piece, 1, 1, true);
		case GP_PIECE_ROOT:
			return is_dense(piece, -1, -1, true);
		case GP_PIECE_ROWS:
		case GP_PIECE_POWER:
			return is_dense(piece, -1, -1, false);
		case GP_PIECE_OPERATOR:
			return piece->csr && piece->rows == piece->cols;
		case GP_PIECE_LINEAR:
		case GP_PIECE_TERMS:
			return piece->part == 0 ? piece->csr != NULL : is_dense(piece, -1, -1, false);
		default:
			return true;
	}
}

/* True for a class of each labelled node, or for their values. */
static bool
targets_fit(const gp_piece *piece, int64_t labelled, int64_t columns, bool values)
{
	const int32_t *label = piece ? piece->dense : NULL;

	if (values)
		return is_dense(piece, labelled, columns, true);
	if (label == NULL || !piece->ints || piece->rows != labelled || piece->cols != 1)
		return false;
	for (int64_t i = 0; i < labelled; i++)
		if (label[i] < 0 || label[i] >= columns)
			return false;
	return true;
}

/* True when the pieces have the types and the shapes that an answer takes them for. */
bool
gp_live_fits(const gp_keep *keep)
{
	gp_live_figures f;
	const gp_piece *labelled = gp_keep_find(keep, GP_PIECE_LABELLED, 0, 0);
	const gp_piece *weights = gp_keep_find(keep, GP_PIECE_WEIGHTS, 0, 0);
	const gp_piece *power = gp_keep_find(keep, GP_PIECE_POWER, 0, 0);
	const gp_piece *anchors = gp_keep_find(keep, GP_PIECE_ANCHORS, 0, 0);
	const gp_piece *among = gp_keep_find(keep, GP_PIECE_OPERATOR, 0, 0);
	int64_t		columns;
	int64_t		rank;

	if (!gp_live_read(keep, &f) || labelled == NULL || !(f.columns >= 1.0 && f.columns < INT32_MAX))
		return false;
	columns = (int64_t) f.columns;
	if (!is_dense(weights, f.exact ? labelled->rows : -1, columns, true) || weights->rows < 1 || weights->rows >= INT32_MAX)
		return false;
	rank = weights->rows;
	for (int k = 0; k < keep->n; k++)
		if (!kernel_piece_fits(&keep->piece[k]))
			return false;
	return is_dense(gp_keep_find(keep, GP_PIECE_WEIGHTS, 0, 1), rank, 1, true) &&
		is_dense(gp_keep_find(keep, GP_PIECE_POSTERIOR, 0, 0), rank * (rank + 1) / 2, 1, true) &&
		targets_fit(gp_keep_find(keep, GP_PIECE_TARGETS, 0, 0), labelled->rows, columns, f.values) &&
		(f.exact || is_dense(gp_keep_find(keep, GP_PIECE_LABELLED_ROWS, 0, 0), labelled->rows, rank, false)) &&
		(power == NULL || power->cols == rank) && (among == NULL || (anchors && among->rows == anchors->rows));
}

/* The labelled nodes. */
const int32_t *
gp_live_labelled(const gp_keep *keep, int64_t *n)
{
	const gp_piece *piece = gp_keep_find(keep, GP_PIECE_LABELLED, 0, 0);

	*n = piece->rows;
	return piece->dense;
}

/* The class of a label. */
int32_t
gp_live_class(const gp_keep *keep, int64_t label)
{
	const gp_piece *piece = gp_keep_find(keep, GP_PIECE_TARGETS, 0, 0);

	return piece->ints ? ((const int32_t *) piece->dense)[label] : -1;
}

/* The target of a label: what was regressed on. */
double
gp_live_target(const gp_keep *keep, int64_t label, int32_t column)
{
	const gp_piece *piece = gp_keep_find(keep, GP_PIECE_TARGETS, 0, 0);

	return piece->ints ? gp_live_class(keep, label) == column : ((const double *) piece->dense)[label * piece->cols + column];
}

/* The calibrator. */
gp_calibrator
gp_live_calibrator(const gp_keep *keep)
{
	const double *number = gp_keep_find(keep, GP_PIECE_CALIBRATOR, 0, 0)->dense;
	const gp_piece *bias = gp_keep_find(keep, GP_PIECE_CALIBRATOR, 0, 1);

	return (gp_calibrator) {.delta = number[0],.gamma = number[1],.bias = bias ? bias->dense : NULL};
}

/* The class shares. */
const double *
gp_live_shares(const gp_keep *keep)
{
	return gp_keep_find(keep, GP_PIECE_SHARES, 0, 0)->dense;
}
