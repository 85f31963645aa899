/*
 * recorded_fit.c - what a fit recorded of its regression, read and checked.
 */
#include "live.h"
#include "regression/solution.h"

/* True for a dense piece of real numbers of this shape; rows or cols below 0: any. */
static bool
is_dense(const gp_piece *piece, int64_t rows, int64_t cols, bool wide)
{
	return piece && piece->dense && !piece->ints && (rows < 0 || piece->rows == rows) &&
		(cols < 0 || piece->cols == cols) &&
		(!wide || piece->type == GP_DOUBLE);
}

bool
gp_live_read(const gp_live_state *state, gp_live_scalars *scalars)
{
	const gp_piece *piece = gp_state_find(state, GP_PIECE_FIGURES, 0, 0);

	if (!is_dense(piece, (int64_t) (sizeof(*scalars) / sizeof(double)), 1, true))
		return false;
	memcpy(scalars, piece->dense, sizeof(*scalars));
	return true;
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
			return is_dense(piece, -1, 1, true);
		case GP_PIECE_ROWS:
		case GP_PIECE_POWER:
			return is_dense(piece, -1, -1, false);
		case GP_PIECE_OPERATOR:
			return piece->csr && piece->rows == piece->cols;
		case GP_PIECE_LINEAR:
		case GP_PIECE_TERMS:
			return piece->part == 0 ? piece->csr != NULL : is_dense(piece, -1, -1, false);
		case GP_PIECE_METAPATH:
			return piece->part == 0 ? piece->csr != NULL :
				is_dense(piece, -1, -1, true) && piece->cols > 0;
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

/* True for what makes probabilities of the scores of classes. */
static bool
calibration_fits(const gp_live_state *state, int64_t columns)
{
	const gp_piece *bias = gp_state_find(state, GP_PIECE_CALIBRATOR, 0, 1);

	return is_dense(gp_state_find(state, GP_PIECE_CALIBRATOR, 0, 0), 5, 1, true) &&
		is_dense(gp_state_find(state, GP_PIECE_SHARES, 0, 0), columns, 1, true) &&
		(bias == NULL || is_dense(bias, columns, 1, true));
}

bool
gp_live_fits(const gp_live_state *state)
{
	gp_live_scalars f;
	const gp_piece *labelled = gp_state_find(state, GP_PIECE_LABELLED, 0, 0);
	const gp_piece *weights = gp_state_find(state, GP_PIECE_WEIGHTS, 0, 0);
	const gp_piece *power = gp_state_find(state, GP_PIECE_POWER, 0, 0);
	const gp_piece *anchors = gp_state_find(state, GP_PIECE_ANCHORS, 0, 0);
	const gp_piece *among = gp_state_find(state, GP_PIECE_OPERATOR, 0, 0);
	const gp_piece *rows = gp_state_find(state, GP_PIECE_LABELLED_ROWS, 0, 0);
	const gp_piece *spread = gp_state_find(state, GP_PIECE_FIGURES, 0, 1);

	if (!gp_live_read(state, &f) || labelled == NULL ||
		!(f.columns >= 1.0 && f.columns < INT32_MAX))
		return false;
	int64_t		columns = (int64_t) f.columns;
	if (!is_dense(weights, f.exact ? labelled->rows : -1, columns, true) || weights->rows < 1 ||
		weights->rows >= INT32_MAX)
		return false;
	int64_t		rank = weights->rows;
	for (int k = 0; k < state->n; k++)
		if (!kernel_piece_fits(&state->piece[k]))
			return false;
	return is_dense(gp_state_find(state, GP_PIECE_WEIGHTS, 0, 1), rank, 1, true) &&
		is_dense(gp_state_find(state, GP_PIECE_POSTERIOR, 0, 0), rank * (rank + 1) / 2, 1, true) &&
		targets_fit(gp_state_find(state, GP_PIECE_TARGETS, 0, 0), labelled->rows, columns,
					f.values) &&
		(f.values || calibration_fits(state, columns)) &&
		(f.exact || rows == NULL || is_dense(rows, labelled->rows, rank, false)) &&
		(spread == NULL || (is_dense(spread, -1, 2, true) && spread->rows <= GP_SPREAD_KNOTS)) &&
		(power == NULL || power->cols == rank) &&
			(among == NULL || (anchors && among->rows == anchors->rows));
}

const int32_t *
gp_live_labelled(const gp_live_state *state, int64_t *n)
{
	const gp_piece *piece = gp_state_find(state, GP_PIECE_LABELLED, 0, 0);

	*n = piece->rows;
	return piece->dense;
}

int32_t
gp_live_class(const gp_live_state *state, int64_t label)
{
	const gp_piece *piece = gp_state_find(state, GP_PIECE_TARGETS, 0, 0);

	return piece->ints ? ((const int32_t *) piece->dense)[label] : -1;
}

double
gp_live_target(const gp_live_state *state, int64_t label, int32_t column)
{
	const gp_piece *piece = gp_state_find(state, GP_PIECE_TARGETS, 0, 0);

	return piece->ints ? gp_live_class(state, label) == column :
		((const double *) piece->dense)[label * piece->cols + column];
}

gp_calibrator
gp_live_calibrator(const gp_live_state *state)
{
	const double *number = gp_state_find(state, GP_PIECE_CALIBRATOR, 0, 0)->dense;
	const gp_piece *bias = gp_state_find(state, GP_PIECE_CALIBRATOR, 0, 1);

	return (gp_calibrator) {.delta = number[0],.gamma = number[1],.slope = number[2],
							.variance = number[3],.noise = number[4],
							.bias = bias ? bias->dense : NULL};
}

const double *
gp_live_shares(const gp_live_state *state)
{
	return gp_state_find(state, GP_PIECE_SHARES, 0, 0)->dense;
}
