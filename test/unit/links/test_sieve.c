/*
 * test_sieve.c - candidates are ranked by few rows nearly as by all.
 */
#include "links/model/link_regression.h"
#include "test_env.h"

#define ROWS 600
#define WIDTH 8
#define ASKED 400
#define BEST 10

/* Scores of which a label depends on some, and not as a line does; the state is the caller's. */
static void
draw_rows(uint64_t *state, int n, double *score, bool *label)
{
	for (int i = 0; i < n; i++)
	{
		double		sum = 0.0;

		for (int j = 0; j < WIDTH; j++)
		{
			score[i * WIDTH + j] = draw_unit(state) - 0.5;
			sum += j < 3 ? score[i * WIDTH + j] * score[i * WIDTH + (j + 1) % 3] : 0.0;
		}
		label[i] = sum + 0.1 * (draw_unit(state) - 0.5) > 0.0;
	}
}

/* Means of rows by some of the regression's and their weights. */
static void
means_by(gp_device *dev, const gp_link_regression *r, int32_t n, const int32_t *row, const double *weight, gp_matrix asked,
		 double *mean)
{
	gp_matrix	z = dev->create(dev, n, WIDTH, GP_DOUBLE);
	gp_matrix	k = dev->create(dev, ASKED, n, GP_DOUBLE);
	gp_matrix	own = dev->create(dev, ASKED, 1, GP_DOUBLE);

	dev->gather_rows(dev, z, r->z, row);
	gp_link_cross_covariance(dev, asked, z, k, own);
	dev->gemm(dev, false, false, 1.0, k, gp_matrix_wrap((void *) weight, n, 1, GP_DOUBLE), 0.0, own);
	dev->download(dev, gp_matrix_wrap(mean, ASKED, 1, GP_DOUBLE), own);
	dev->destroy(dev, &z);
	dev->destroy(dev, &k);
	dev->destroy(dev, &own);
}

/* How many numbers are larger than one of them. */
static int
place_of(const double *value, int which)
{
	int			above = 0;

	for (int i = 0; i < ASKED; i++)
		above += value[i] > value[which];
	return above;
}

/* How many of the best by all rows are among so many by few. */
static int
found_among(const double *all, const double *few, int most)
{
	int			found = 0;

	for (int i = 0; i < ASKED; i++)
		found += place_of(all, i) < BEST && place_of(few, i) < most;
	return found;
}

/* The regression's weights of its rows, and all of its rows. */
static double *
own_weights(gp_device *dev, const gp_link_regression *r, int32_t *all)
{
	double	   *alpha = gp_alloc_array(dev->env, ROWS, sizeof(double));

	dev->download(dev, gp_matrix_wrap(alpha, ROWS, 1, GP_DOUBLE), r->solution.weights);
	for (int i = 0; i < ROWS; i++)
		all[i] = i;
	return alpha;
}

/* True where no row stands twice. */
static bool
all_differ(const int32_t *row, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j < i; j++)
			if (row[i] == row[j])
				return false;
	return true;
}

/* Both sieves against all rows. */
static void
check_ranks(gp_env *env)
{
	static double score[ROWS * WIDTH];
	static double asked[ASKED * WIDTH];
	static double mean[ASKED];
	static double nearly[ASKED];
	static bool label[ROWS];
	static int32_t all[ROWS];
	uint64_t	state = 7;
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_regression r;
	gp_matrix	z;
	double	   *alpha;
	double	   *weight;
	int32_t    *row;
	int32_t		taken;

	draw_rows(&state, ASKED, asked, label);
	draw_rows(&state, ROWS, score, label);
	r = gp_link_regress(dev, ROWS, WIDTH, score, label);
	z = gp_link_standardise(dev, ASKED, WIDTH, asked, r.centre, r.spread, GP_DOUBLE);
	alpha = own_weights(dev, &r, all);
	means_by(dev, &r, ROWS, all, alpha, z, mean);
	taken = gp_link_sieves_make(dev, r.z, alpha, &row, &weight);
	is_int(taken, ROWS / 3, "a third of few rows is taken");
	ok(all_differ(row, taken), "each of them once");
	means_by(dev, &r, gp_link_sieve_rows(0, taken), row, weight, z, nearly);
	ok(found_among(mean, nearly, 60) >= BEST - 1, "the first sieve lets the best through");
	means_by(dev, &r, gp_link_sieve_rows(1, taken), row, weight + gp_link_sieve_rows(0, taken), z, nearly);
	is_int(found_among(mean, nearly, 25), BEST, "and so does the second, among fewer");
	gp_link_regression_free(dev, &r);
	dev->close(dev);
}

/* Rows that are few, or few different ones. */
static void
check_few(gp_env *env)
{
	static double score[ROWS * WIDTH];
	static bool label[ROWS];
	static int32_t all[ROWS];
	uint64_t	state = 9;
	gp_device  *dev = gp_device_cpu(env, 1);
	gp_link_regression r;
	double	   *alpha;
	double	   *weight;
	int32_t    *row;
	int32_t		taken;

	draw_rows(&state, 60, score, label);
	for (int i = 60; i < ROWS; i++)
	{
		memcpy(score + i * WIDTH, score + i % 60 * WIDTH, WIDTH * sizeof(double));
		label[i] = label[i % 60];
	}
	r = gp_link_regress(dev, ROWS, WIDTH, score, label);
	alpha = own_weights(dev, &r, all);
	taken = gp_link_sieves_make(dev, r.z, alpha, &row, &weight);
	is_int(taken, 60, "of rows that stand there ten times one each is taken");
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < WIDTH; j++)
			score[i * WIDTH + j] = (j + i) % 5 == 0;
	gp_link_regression_free(dev, &r);
	r = gp_link_regress(dev, ROWS, WIDTH, score, label);
	taken = gp_link_sieves_make(dev, r.z, own_weights(dev, &r, all), &row, &weight);
	is_int(taken, 5, "and five of five different ones");
	is_int(gp_link_sieves_make(dev, gp_matrix_rows(r.z, 0, 143), alpha, &row, &weight), 0, "of few rows none");
	ok(row == NULL && weight == NULL, "and nothing is left of them");
	gp_link_regression_free(dev, &r);
	dev->close(dev);
}

int
main(void)
{
	in_env(check_ranks(env));
	in_env(check_few(env));
	return done_testing();
}
