/*
 * test_lean.c - the variance from few directions: hardly smaller than the whole one, and little larger, in either type.
 */
#include "links/model/link_regression.h"
#include "test_env.h"

#define ROWS 1536				/* the fewest that have few directions */
#define WIDTH 12
#define ASKED 200

/* Scores that have something in common, on which a label depends, and a part of their own; the state is the caller's. */
static void
draw_rows(uint64_t *state, int n, double own, double *score, bool *label)
{
	for (int i = 0; i < n; i++)
	{
		double		common = draw_unit(state) - 0.5;
		double		other = draw_unit(state);

		label[i] = sin(9.0 * other) + sin(7.0 * common) > 0.0;
		for (int j = 0; j < WIDTH; j++)
			score[i * WIDTH + j] = common * j + other * (j % 5) + own * draw_unit(state);
	}
}

/* The variances of a regression's posterior by few directions. */
static void
lean_variances(gp_device *dev, const gp_link_regression *r, int32_t directions, const float *lean, const double *score, gp_type type, double *out)
{
	double		scale = r->solution.scale * r->unit * r->unit;
	gp_link_few few = gp_link_lean_open(dev, r->z.rows, directions, lean);
	gp_matrix	z = gp_link_standardise(dev, ASKED, WIDTH, score, r->centre, r->spread, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, ASKED, r->z.rows, GP_DOUBLE);
	gp_matrix	sum = dev->create(dev, ASKED, 1, GP_DOUBLE);
	double		off[ASKED];

	gp_link_cross_covariance(dev, z, r->z, k, sum);
	dev->download(dev, gp_matrix_wrap(out, ASKED, 1, GP_DOUBLE), sum);
	gp_link_lean_explained(dev, &few, k, type, off);
	for (int i = 0; i < ASKED; i++)
		out[i] = scale * (out[i] - off[i]);
	gp_link_lean_close(dev, &few);
}

/* Against the whole, for rows with more or less of their own. */
static void
check_lean(gp_env *env, double own)
{
	static double score[ROWS * WIDTH];
	static double asked[ASKED * WIDTH];
	static bool label[ROWS];
	gp_link_row row[ASKED];
	double		variance[ASKED];
	uint64_t	state = 5;
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_regression r;
	float	   *lean;
	int32_t		directions;
	double		least = INFINITY;
	double		most = 0.0;

	draw_rows(&state, ASKED, own, asked, label);
	draw_rows(&state, ROWS, own, score, label);
	r = gp_link_regress(dev, ROWS, WIDTH, score, label);
	gp_link_regression_predict(dev, &r, ASKED, WIDTH, asked, row);
	lean = gp_link_lean_make(dev, &r, 1, &directions);
	if (!ok(lean != NULL, "there are few directions of many rows"))
		return;
	is_int(gp_link_lean_directions(ROWS, gp_link_lean_size(ROWS, directions)), directions, "as many as the numbers tell");
	is_int(gp_link_lean_directions(ROWS, gp_link_lean_size(ROWS, directions) + 1), 0, "and no others");
	for (int type = 0; type < 2; type++)
	{
		lean_variances(dev, &r, directions, lean, asked, type ? GP_DOUBLE : GP_FLOAT, variance);
		for (int i = 0; i < ASKED; i++)
		{
			least = fmin(least, variance[i] / row[i].variance);
			most = fmax(most, variance[i] / row[i].variance);
		}
	}
	ok(least > 1.0 - 3e-3, "no variance is too small by more than some thousandths");
	ok(most < 1.02, "and none more than two in a hundred too large");
	gp_link_regression_free(dev, &r);
}

/* Where few directions do not serve. */
static void
check_whole(gp_env *env)
{
	static double score[ROWS * WIDTH];
	static bool label[ROWS];
	uint64_t	state = 5;
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_regression r;
	int32_t		directions;

	draw_rows(&state, ROWS, 1.0, score, label);
	r = gp_link_regress(dev, ROWS - 1, WIDTH, score, label);
	ok(gp_link_lean_make(dev, &r, 1, &directions) == NULL && directions == 0, "of fewer rows the whole is kept");
	gp_link_regression_free(dev, &r);
	for (int i = 0; i < ROWS * WIDTH; i++)
		score[i] = draw_unit(&state);
	for (int i = 0; i < ROWS; i++)
		label[i] = score[i * WIDTH] + score[i * WIDTH + 1] * score[i * WIDTH + 2] > 0.75;
	r = gp_link_regress(dev, ROWS, WIDTH, score, label);
	ok(gp_link_lean_make(dev, &r, 1, &directions) == NULL && directions == 0, "and of rows that have nothing in common");
}

int
main(void)
{
	in_env(check_lean(env, 0.8));
	in_env(check_lean(env, 1.0));
	in_env(check_lean(env, 2.0));
	in_env(check_whole(env));
	return done_testing();
}
