/*
 * test_metapath.c - covariances of rows by what they refer to, against sums over all pairs of rows.
 */
#include "kernel/live/live_state.h"
#include "facts/metapath.h"
#include "device/device.h"
#include "test_env.h"
#include "test_world.h"

#define ROWS 7
#define KEYS 5
#define COLUMNS 2
#define PATHS 2

/* Who refers to what: row 5 shares nothing with anyone, row 6 refers to nothing. */
static const bool refers[PATHS][ROWS][KEYS] = {
	{{1, 1, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 1, 1, 0, 0}, {0, 0, 1, 0, 0}, {1, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {0}},
	{{1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0}}
};

static float own[ROWS * COLUMNS] = {1, 0.5f, -1, 0, 0.25f, 2, 0, 1, 1, 1, -2, 0, 0.5f, -0.5f};

/* The rows that refer to a key. */
static int
members(int path, int key)
{
	int			n = 0;

	for (int i = 0; i < ROWS; i++)
		n += refers[path][i][key];
	return n;
}

/* y = A x: the mean over keys, of the mean over the other rows that refer to them. */
static void
mean_beside(int path, int width, double x[][KEYS], double y[][KEYS])
{
	for (int i = 0; i < ROWS; i++)
	{
		int			shared = 0;

		memset(y[i], 0, sizeof(double) * KEYS);
		for (int a = 0; a < KEYS; a++)
			shared += refers[path][i][a] && members(path, a) > 1;
		for (int a = 0; a < KEYS; a++)
			for (int j = 0; j < ROWS; j++)
				for (int c = 0; c < width; c++)
					if (j != i && refers[path][i][a] && refers[path][j][a])
						y[i][c] += x[j][c] / (members(path, a) - 1) / shared;
	}
}

/* Adds the products of rows, over the mean of their squares. */
static void
add_unit(int width, double x[][KEYS], double sum[ROWS][ROWS])
{
	double		mean = 0.0;

	for (int i = 0; i < ROWS; i++)
		for (int c = 0; c < width; c++)
			mean += x[i][c] * x[i][c] / ROWS;
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < ROWS; j++)
			for (int c = 0; c < width; c++)
				sum[i][j] += x[i][c] * x[j][c] / mean / ((1 + PATHS) * (1 + PATHS));
}

/* The covariances by their definition. */
static void
expected(double sum[ROWS][ROWS])
{
	memset(sum, 0, sizeof(double) * ROWS * ROWS);
	for (int leaf = -1; leaf < PATHS; leaf++)
	{
		double		x[ROWS][KEYS] = {{0}};
		double		y[ROWS][KEYS];

		for (int i = 0; i < ROWS; i++)
		{
			double		length = 0.0;

			for (int c = 0; leaf >= 0 && c < KEYS; c++)
				length += refers[leaf][i][c];
			for (int c = 0; c < (leaf < 0 ? COLUMNS : KEYS); c++)
				x[i][c] = leaf < 0 ? own[i * COLUMNS + c] : refers[leaf][i][c] ? 1.0 / sqrt(length) : 0.0;
		}
		add_unit(KEYS, x, sum);
		for (int p = 0; p < PATHS; p++)
		{
			mean_beside(p, KEYS, x, y);
			add_unit(KEYS, y, sum);
		}
	}
}

/* The paths, whose pairs come backwards or twice. */
static gp_metapath *
make_typed(gp_env *env, bool backwards)
{
	gp_metapath   *t = gp_metapath_create(env, ROWS);

	for (int p = 0; p < PATHS; p++)
	{
		gp_metapath_pair pair[2 * ROWS * KEYS];
		int			n = 0;

		for (int k = 0; k < 2 * ROWS * KEYS; k++)
		{
			int			at = (backwards ? 2 * ROWS * KEYS - 1 - k : k) / 2;

			if (refers[p][at / KEYS][at % KEYS])
				pair[n++] = (gp_metapath_pair) {UINT64_MAX / (uint64_t) (1 + at % KEYS), at / KEYS};
		}
		gp_metapath_add(t, p == 0 ? "first" : "other", n, pair);
	}
	return t;
}

static void
check_covariances(gp_env *env)
{
	static const int32_t landmark[] = {0, 2, 5};
	gp_device  *dev = gp_device_cpu(env, 2);
	gp_features x = {.rows = ROWS,.dims = COLUMNS,.dense = own,.type = GP_FLOAT};
	gp_features *f = gp_metapath_features(dev, make_typed(env, false), &x, landmark, 3, NULL);
	gp_features *same = gp_metapath_features(dev, make_typed(env, true), &x, landmark, 3, NULL);
	const float *row = f->dense;
	double		want[ROWS][ROWS];
	double		worst = 0.0;

	expected(want);
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < ROWS; j++)
		{
			double		got = 0.0;

			if (j != i && j != 0 && j != 2 && j != 5)
				continue;
			for (int c = 0; c < f->dims; c++)
				got += row[i * f->dims + c] * row[j * f->dims + c];
			worst = fmax(worst, fabs(got - want[i][j]));
		}
	ok(f->dims == 4 && worst < 1e-5, "rows and landmarks have the covariances of the definition");
	ok(memcmp(f->dense, same->dense, sizeof(float) * ROWS * 4) == 0, "the order of pairs does not matter");
	dev->close(dev);
}

/* The terms of some rows add up to their features in the fit, and those of no columns are refused. */
static void
check_terms(gp_env *env)
{
	static const int32_t landmark[] = {0, 2, 5};
	static const int32_t asked[] = {5, 1};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_live_state *state = gp_state_create(env);
	gp_features x = {.rows = ROWS,.dims = COLUMNS,.dense = own,.type = GP_FLOAT};
	gp_features *f = gp_metapath_features(dev, make_typed(env, false), &x, landmark, 3, state);
	gp_metapath_terms *told = gp_metapath_cross(env, make_typed(env, true), &x, state, asked, 2, true);
	gp_metapath_terms *together = gp_metapath_cross(env, make_typed(env, true), &x, state, asked, 2,
											 false);
	double		sum[2 * 4] = {0};
	double		worst = 0.0;

	is_int(told->n, (1 + PATHS) * (1 + PATHS), "each leaf, and its means over each path");
	is_str(told->term[1].path, "first", "are named");
	for (int t = 0; t < told->n; t++)
		for (int k = 0; k < 8; k++)
			sum[k] += told->term[t].covariance[k];
	ok(memcmp(together->sum, sum, sizeof(sum)) == 0 && together->term[0].covariance == NULL,
	   "where only their sum is asked for, none is kept");
	gp_features *rows = gp_metapath_rows(dev, state, sum, 2, 3);
	for (int i = 0; i < 2; i++)
		for (int c = 0; c < 3; c++)
			worst = fmax(worst, fabs(((float *) rows->dense)[i * 4 + c] -
									 ((float *) f->dense)[asked[i] * 4 + c]));
	worst = fmax(worst, fabs(((float *) rows->dense)[7] - ((float *) f->dense)[asked[1] * 4 + 3]));
	ok(worst < 1e-5, "terms add up to the features of the fit");
	x.dims = COLUMNS - 1;
	expect_error(env, GP_ERR_DAMAGED,
				 gp_metapath_cross(env, make_typed(env, true), &x, state, asked, 2, true));
	dev->close(dev);
}

/* Nothing at all. */
static void
check_nothing(gp_env *env)
{
	static const int32_t landmark[] = {0};
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_features none = {.rows = ROWS,.type = GP_FLOAT};
	gp_metapath   *t = gp_metapath_create(env, ROWS);

	gp_metapath_add(t, "none", 0, NULL);
	expect_error(env, GP_ERR_DATA, gp_metapath_features(dev, t, &none, landmark, 1, NULL));
	dev->close(dev);
}

int
main(void)
{
	in_env(check_covariances(env));
	in_env(check_terms(env));
	in_env(check_nothing(env));
	return done_testing();
}
