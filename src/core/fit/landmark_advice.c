/*
 * landmark_advice.c - whether more landmarks are likely to help: by what the last quarter of them brought.
 *
 * Landmarks have ranks, and a fit with fewer has the first ones, so that the rest of its factor
 * can be taken off this one.  With the landmarks' covariance RR', the columns of U = R^-1 E,
 * E those of the last landmarks, span what these alone add; here they are made orthonormal.
 * Weights without a part in U are w - B^-1 U M^-1 U'w for B = Q'Q + noise I, M = U'B^-1 U, which
 * is regression under the constraint U'w = 0.  With F = Q B^-1 U residuals grow by
 * F M^-1 U'w and 1 - h_i by f_i' M^-1 f_i: nothing is factorised that is as large as the factor.
 */
#include "fit_internal.h"

#include <math.h>

#define SAMPLE 256				/* labels looked at */
#define FEWEST_LABELS 200		/* to say anything */
#define FEWEST_LANDMARKS 16
#define PART 4					/* one landmark in so many is taken off */
#define HELPFUL 0.02			/* a fall of loo_score by so much is told */

typedef struct fewer
{
	gp_eval    *ev;
	gp_device  *dev;
	const gp_problem *problem;
	const gp_targets *targets;
	const gp_factor *f;
	const gp_solution *solution;
	gp_matrix	u;				/* rank x directions, orthonormal columns */
	gp_matrix	utw;			/* U'w: directions x columns */
	gp_matrix	rows;			/* F of the sample */
	gp_matrix	middle;			/* M over unit */
	double		unit;
	int64_t		nsample;
	int32_t    *sample;
} fewer;

/* The landmarks of a panel, or 0 where it has none: a linear term. */
static int64_t
panel_landmarks(const gp_panel *panel)
{
	return panel->root.data ? panel->root.rows : 0;
}

/* The directions that the last landmarks add, in all panels. */
static int64_t
direction_count(const gp_factor *f)
{
	int64_t		count = 0;

	for (int b = 0; b < f->npanels; b++)
		count += panel_landmarks(&f->panel[b]) / PART;
	return count;
}

/* Writes E into a matrix of zeros, whose rows are landmarks. */
static void
put_units(gp_device *dev, gp_matrix e, const int32_t *place)
{
	int32_t    *col = gp_alloc_array(dev->env, e.cols, sizeof(int32_t));
	double	   *one = gp_alloc_array(dev->env, e.cols, sizeof(double));

	for (int64_t j = 0; j < e.cols; j++)
	{
		col[j] = (int32_t) j;
		one[j] = 1.0;
	}
	if (!dev->env->dry)
		dev->put(dev, e, e.cols, place, col, one);
	gp_free(dev->env, col);
	gp_free(dev->env, one);
}

/* Makes U; place lists the last landmarks among all.  False where rounding has left no basis. */
static bool
take_directions(fewer *w, const int32_t *place)
{
	gp_device  *dev = w->dev;
	gp_matrix	gram;
	bool		sound;
	int64_t		row = 0;
	int64_t		col = 0;

	w->u = dev->create(dev, gp_factor_rank(w->f), direction_count(w->f), GP_DOUBLE);
	gram = dev->create(dev, w->u.cols, w->u.cols, GP_DOUBLE);
	dev->fill(dev, w->u, 0.0);
	for (int b = 0; b < w->f->npanels; b++)
	{
		const gp_panel *panel = &w->f->panel[b];
		int64_t		last = panel_landmarks(panel) / PART;
		gp_matrix	part = gp_matrix_cols(gp_matrix_rows(w->u, row, panel->p.cols), col, last);

		if (last > 0)
		{
			put_units(dev, part, place);
			dev->trsm(dev, true, false, panel->root, part);
		}
		row += panel->p.cols;
		col += last;
	}
	dev->syrk(dev, true, 1.0, w->u, 0.0, gram);
	sound = dev->potrf(dev, gram) < 0;
	if (sound)
		dev->trsm(dev, false, true, gram, w->u);
	dev->destroy(dev, &gram);
	return sound;
}

/* F, M and U'w from the primal form: with B = LL' and Z = L^-1 U, F = (Q L^-T) Z and M = Z'Z. */
static void
by_weights(fewer *w, gp_matrix q)
{
	gp_device  *dev = w->dev;
	gp_matrix	narrow = dev->create(dev, w->nsample, q.cols, q.type);
	gp_matrix	wide = dev->create(dev, w->nsample, q.cols, GP_DOUBLE);

	dev->gather_rows(dev, narrow, q, w->sample);
	dev->copy(dev, wide, narrow);
	dev->destroy(dev, &narrow);
	dev->gemm(dev, true, false, 1.0, w->u, w->solution->weights, 0.0, w->utw);
	dev->trsm(dev, true, false, w->solution->root, w->u);
	dev->syrk(dev, true, 1.0, w->u, 0.0, w->middle);
	dev->trsm(dev, false, true, w->solution->root, wide);
	dev->gemm(dev, false, false, 1.0, wide, w->u, 0.0, w->rows);
	dev->destroy(dev, &wide);
	w->unit = 1.0;
}

/*
 * The same from the dual form: with S = QQ' + noise I = LL' and V = QU, F = S^-1 V, U'w is V' alpha
 * and M is (I - V'S^-1 V) / noise.
 */
static void
by_covariance(fewer *w, gp_matrix q)
{
	gp_device  *dev = w->dev;
	gp_matrix	v = dev->create(dev, q.rows, w->u.cols, GP_DOUBLE);

	dev->gemm(dev, false, false, 1.0, q, w->u, 0.0, v);
	dev->gemm(dev, true, false, 1.0, v, w->solution->weights, 0.0, w->utw);
	dev->trsm(dev, true, false, w->solution->root, v);
	dev->syrk(dev, true, -1.0, v, 0.0, w->middle);
	dev->shift(dev, gp_matrix_diagonal(w->middle), 1.0);
	dev->trsm(dev, true, true, w->solution->root, v);
	dev->gather_rows(dev, w->rows, v, w->sample);
	dev->destroy(dev, &v);
	w->unit = w->solution->noise;
}

/* The left-out predictions of the sample from what its residuals and 1 - h grow by. */
static double
error_without(const fewer *w, const double *residual, const double *free)
{
	gp_env	   *env = w->dev->env;
	const gp_solution *s = w->solution;
	int32_t		columns = w->targets->columns;
	double	   *mean = gp_alloc_figures(env, w->targets->m * columns, sizeof(double));
	double		total;
	double		error = 0.0;

	for (int64_t k = 0; k < w->nsample && !env->dry; k++)
	{
		int64_t		i = w->sample[k];
		double		was = s->scale * s->noise / s->loo_variance[i];
		double		is = was + w->unit * free[k];

		for (int32_t c = 0; c < columns; c++)
		{
			double		y = w->targets->y[i * columns + c];
			double		e = (y - s->loo_mean[i * columns + c]) * was;

			mean[i * columns + c] = y - (e + w->unit * residual[k * columns + c]) / is;
		}
	}
	if (!env->dry)
		error = gp_loo_error(w->problem, w->targets, mean, w->sample, w->nsample, &total);
	gp_free(env, mean);
	return error;
}

/* The error of the sample without the last landmarks, over that with all; 0 where rounding forbids it. */
static double
error_ratio(fewer *w)
{
	gp_device  *dev = w->dev;
	int32_t		columns = w->targets->columns;
	gp_matrix	grown;
	gp_matrix	norm;
	double	   *residual;
	double	   *free;
	double		total;
	double		ratio = 0.0;

	if (dev->potrf(dev, w->middle) >= 0)
		return 0.0;
	grown = dev->create(dev, w->nsample, columns, GP_DOUBLE);
	norm = dev->create(dev, w->nsample, 1, GP_DOUBLE);
	residual = gp_alloc_figures(dev->env, w->nsample * columns, sizeof(double));
	free = gp_alloc_figures(dev->env, w->nsample, sizeof(double));
	dev->trsm(dev, false, true, w->middle, w->rows);
	dev->trsm(dev, true, false, w->middle, w->utw);
	dev->gemm(dev, false, false, 1.0, w->rows, w->utw, 0.0, grown);
	dev->row_dots(dev, norm, w->rows, w->rows);
	dev->download(dev, gp_matrix_wrap(residual, w->nsample, columns, GP_DOUBLE), grown);
	dev->download(dev, gp_matrix_wrap(free, w->nsample, 1, GP_DOUBLE), norm);
	ratio = error_without(w, residual, free);
	if (!dev->env->dry)
		ratio /= gp_loo_error(w->problem, w->targets, w->solution->loo_mean, w->sample, w->nsample, &total);
	dev->destroy(dev, &grown);
	dev->destroy(dev, &norm);
	gp_free(dev->env, residual);
	gp_free(dev->env, free);
	return ratio;
}

/*
 * True where there is something to ask: enough labels, to say anything and for the landmarks that
 * there are (with far fewer of them low rank keeps noise out), and nodes that are no landmarks but might be.
 */
static bool
is_open(gp_eval *ev, const gp_problem *problem, const gp_targets *targets, const gp_factor *f,
		const gp_posterior *out)
{
	return targets->ncounted >= gp_max64(FEWEST_LABELS, out->nlandmarks / PART) &&
		!targets->few && !targets->flat && !problem->quiet &&
		out->nlandmarks >= FEWEST_LANDMARKS && out->nlandmarks < ev->n &&
		problem->program->power == 1.0 && direction_count(f) > 0 &&
		!gp_landmarks_are_field(ev, problem, out->nlandmarks);
}

/*
 * The leave-one-out error without the last quarter of the landmarks, over that with all; 0 where it
 * is not known.  q has the labelled rows of the factor.
 */
double
gp_fewer_error(gp_eval *ev, const gp_problem *problem, const gp_targets *targets, const gp_factor *f,
			   gp_matrix q, const gp_solution *solution, const gp_posterior *out)
{
	gp_device  *dev = ev->dev;
	fewer		w = {.ev = ev, .dev = dev, .problem = problem, .targets = targets, .f = f, .solution = solution};
	int64_t		count = direction_count(f);
	int32_t    *place;
	double		ratio = 0.0;

	if (!is_open(ev, problem, targets, f, out))
		return 0.0;
	place = gp_landmarks_last(ev, problem, out->landmark, out->nlandmarks, out->nlandmarks / PART);
	if (take_directions(&w, place))
	{
		w.sample = gp_loo_sample(dev->env, targets, SAMPLE, &w.nsample);
		w.utw = dev->create(dev, count, targets->columns, GP_DOUBLE);
		w.rows = dev->create(dev, w.nsample, count, GP_DOUBLE);
		w.middle = dev->create(dev, count, count, GP_DOUBLE);
		if (q.rows <= q.cols)
			by_covariance(&w, q);
		else
			by_weights(&w, q);
		ratio = error_ratio(&w);
		dev->destroy(dev, &w.utw);
		dev->destroy(dev, &w.rows);
		dev->destroy(dev, &w.middle);
		gp_free(dev->env, w.sample);
	}
	dev->destroy(dev, &w.u);
	gp_free(dev->env, place);
	return ratio;
}

/* Tells where more landmarks are likely to help. */
void
gp_tell_fewer(gp_env *env, const gp_problem *problem, const gp_solution *solution, const gp_posterior *out)
{
	double		without = 1.0 - (1.0 - out->loo_score) * solution->fewer_error;
	bool		prior;

	if (solution->fewer_error == 0.0 || !(out->loo_score - without > HELPFUL))
		return;
	prior = gp_program_is_laplacian(problem->program);
	gp_notice(env, prior ? "Compare it with strategy => 'precision', which takes none, or give more with landmarks => ...." :
			  problem->features ? "Give more with landmarks => ...; gp_estimate tells what they take." :
			  "Compare it with kernel => 'laplacian', which takes none, or give more with landmarks => ....",
			  "more landmarks are likely to help: loo_score is %.2f with the first three quarters of %lld and %.2f with all",
			  without, (long long) out->nlandmarks, out->loo_score);
}
