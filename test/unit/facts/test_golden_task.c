/*
 * test_golden_task.c - a task with time from its tables to its posterior, against numbers that were
 * computed independently in double precision: three customers, seven orders of two products, eight
 * labels, 30 days ahead.
 */
#include "facts/facts_internal.h"
#include "test_env.h"
#include "test_graphs.h"

#define ROWS 9
#define LABELS 8
#define COLUMNS 10

static const struct order
{
	int			customer;
	int			product;
	double		amount;
	int			day;
}			orders[] = {
	{0, 0, 12, 0}, {0, 1, 30, 20}, {1, 1, 35, 25}, {0, 0, 8, 50}, {1, 0, 9, 70}, {2, 1, 28, 75}, {0, 1, 31, 95}
};

static const double price[] = {10.0, 30.0};
static const int32_t customer[ROWS] = {0, 1, 0, 1, 2, 0, 1, 2, 0};
static const int day[ROWS] = {30, 30, 60, 60, 60, 90, 90, 90, 120};
static const double target[LABELS] = {1, 0, 0, 1, 1, 1, 0, 0};

static const double encoded[7][2] = {
	{-0.913607, -1.154701}, {0.754719, 0.866025}, {1.218142, 0.866025}, {-1.284346, -1.154701},
	{-1.191661, -1.154701}, {0.569349, 0.866025}, {0.847403, 0.866025}
};

static const double columns[ROWS][COLUMNS] = {
	{0.010591, -0.018062, -0.052963, -0.096225, 1.098612, 0.954744, 2.397895, 3.433987, 0, 0},
	{0.609071, 0.433013, 0.609071, 0.433013, 0.693147, 0.664683, 1.791759, 1.791759, 0, 0},
	{-0.386565, -0.364216, -0.176542, -0.096225, 1.386294, 1.105541, 2.397895, 4.110874, 0, 0.5},
	{0.609071, 0.433013, 0.609071, 0.433013, 0.693147, 0.511277, 3.583519, 3.583519, 0, -0.5},
	{0, 0, 0, 0, 0, 0, 3.713572, 4.51086, 1, 0},
	{-0.386565, -0.364216, -0.176542, -0.096225, 1.386294, 0.887465, 3.713572, 4.51086, 0, -0.108194},
	{-0.180124, -0.246573, 0.008827, -0.096225, 1.098612, 0.817856, 3.044522, 4.189655, 0, 0.108194},
	{0.284675, 0.433013, 0.284675, 0.433013, 0.693147, 0.610253, 2.772589, 2.772589, 0, 0.5},
	{0.028717, 0.047247, -0.145647, -0.096225, 1.609438, 1.01508, 3.258097, 4.795791, 0, 0.24723}
};

static const double scaled[ROWS][COLUMNS] = {
	{-0.050335, -0.053773, -0.199382, -0.267573, 0.159479, 0.25867, -0.250965, -0.064056, -0.119523, -0.06489},
	{0.456567, 0.376989, 0.491118, 0.405183, -0.137884, -0.029059, -0.538514, -0.651652, -0.119523, -0.06489},
	{-0.386718, -0.384339, -0.328275, -0.267573, 0.370462, 0.408255, -0.250965, 0.178137, -0.119523, 0.454228},
	{0.456567, 0.376989, 0.491118, 0.405183, -0.137884, -0.181231, 0.31149, -0.010553, -0.119523, -0.584007},
	{-0.059305, -0.036524, -0.144142, -0.145254, -0.64623, -0.688399, 0.373187, 0.321253, 0.83666, -0.06489},
	{-0.386718, -0.384339, -0.328275, -0.267573, 0.370462, 0.191932, 0.373187, 0.321253, -0.119523, -0.177221},
	{-0.211866, -0.271993, -0.134935, -0.267573, 0.159479, 0.122883, 0.055792, 0.206325, -0.119523, 0.047441},
	{0.181809, 0.376989, 0.152773, 0.405183, -0.137884, -0.083052, -0.073212, -0.300707, -0.119523, 0.454228},
	{-0.034982, 0.008596, -0.296052, -0.267573, 0.534113, 0.318521, 0.157111, 0.423203, -0.119523, 0.191793}
};

static const double kernel[ROWS][ROWS] = {
	{0.304701, 0.180968, 0.422028, 0.060398, 0.073467, 0.287789, 0.203139, 0.070016, 0.300332},
	{0.180968, 1.518944, 0.143897, 0.837297, 0.290713, 0.020771, 0.022361, 0.771617, 0.076984},
	{0.422028, 0.143897, 1.105866, 0.0158, 0.21826, 0.683502, 0.495707, 0.163878, 0.704069},
	{0.060398, 0.837297, 0.0158, 1.270288, 0.547025, 0.159286, 0.042917, 0.431735, 0.133729},
	{0.073467, 0.290713, 0.21826, 0.547025, 1.894915, 0.385469, 0.194612, 0.274855, 0.219956},
	{0.287789, 0.020771, 0.683502, 0.159286, 0.385469, 0.948872, 0.494625, 0.030574, 0.664754},
	{0.203139, 0.022361, 0.495707, 0.042917, 0.194612, 0.494625, 0.321424, 0.027381, 0.392838},
	{0.070016, 0.771617, 0.163878, 0.431735, 0.274855, 0.030574, 0.027381, 0.714991, 0.117521},
	{0.300332, 0.076984, 0.704069, 0.133729, 0.219956, 0.664754, 0.392838, 0.117521, 0.812127}
};

static const double left_out[LABELS] = {0.392599, 0.491539, 0.550395, 0.438072, 0.56429, 0.410177, 0.564122, 0.389126};
static const double block_left_out[LABELS] = {0.420226, 0.430478, 0.554192, 0.272283, 0.387782, 0.567725, 0.540663, 0.451804};

/* The largest difference of n numbers. */
static double
worst(const double *got, const double *want, int n)
{
	double		diff = 0.0;

	for (int i = 0; i < n; i++)
		diff = got[i] == got[i] ? fmax(diff, fabs(got[i] - want[i])) : INFINITY;
	return diff;
}

/* One test of that. */
static void
agree(const double *got, const double *want, int n, const char *what)
{
	double		diff = worst(got, want, n);

	if (!ok(diff < 1.5e-6, what))
		printf("# differs by %g\n", diff);
}

/* How amounts, or prices as orders have them, are encoded. */
static gp_encoding *
encoding_of_orders(gp_env *env, bool of_prices)
{
	gp_cell_kind number = GP_CELL_NUMBER;
	gp_encoder *encoder = gp_encoder_create(env, 1, &number, GP_TIME_NEVER, NULL);

	for (int i = 0; i < 7; i++)
	{
		gp_cell		cell = {.number = of_prices ? price[orders[i].product] : orders[i].amount};

		gp_encoder_look(encoder, i + 1, orders[i].day * GP_TIME_DAY, &cell);
	}
	return gp_encoder_finish(encoder, false);
}

/* The numbers of all orders. */
static void
encode_orders(gp_env *env, double out[7][2])
{
	for (int c = 0; c < 2; c++)
	{
		gp_encoding *e = encoding_of_orders(env, c == 1);

		is_int(e->width, 1, "an amount is one number");
		for (int i = 0; i < 7; i++)
		{
			gp_cell		cell = {.number = c == 1 ? price[orders[i].product] : orders[i].amount};

			gp_encode(e, &cell, &out[i][c]);
		}
		gp_free(env, e);
	}
}

/* The columns of the task's rows. */
static gp_task_columns *
golden_columns(gp_env *env, const gp_time *as_of)
{
	static const int order[] = {0, 1, 3, 6, 2, 4, 5};	/* of the customers, one by one */
	static const int labels_by_customer[] = {0, 2, 5, 1, 3, 6, 4, 7};
	gp_aggregates a = {GP_FACTS_USUAL, 2, 60.0 * GP_TIME_DAY, 1.0, false, false};
	gp_aggregates of_labels = {GP_FACTS_HALF_LIFE, 2, 60.0 * GP_TIME_DAY, 1.0, false, false};
	gp_task_columns *f = gp_task_columns_create(env, ROWS, as_of);
	int32_t		relation = gp_task_columns_facts(f, "orders.customer", 2, a);
	int32_t		earlier = gp_task_columns_facts(f, "earlier targets", 1, of_labels);
	gp_scan    *scan = gp_scan_open(f, relation, customer);
	double		value[7][2];
	int32_t		entity[LABELS];
	gp_time		time[LABELS];
	int32_t		label[LABELS];
	gp_facts_labels labels = {LABELS, entity, time, label, NULL, 2, 30 * GP_TIME_DAY, NULL};

	encode_orders(env, value);
	agree(&value[0][0], &encoded[0][0], 14, "orders are encoded");
	for (int i = 0; i < 7; i++)
		gp_scan_fact(scan, orders[order[i]].customer, orders[order[i]].day * GP_TIME_DAY, value[order[i]]);
	gp_scan_close(scan);
	for (int i = 0; i < LABELS; i++)
	{
		int			at = labels_by_customer[i];

		entity[i] = customer[at];
		time[i] = as_of[at];
		label[i] = (int32_t) target[at];
	}
	gp_facts_target told = gp_facts_target_of(env, &labels);
	gp_scan_labels(f, earlier, customer, &told, &labels);
	return f;
}

/* QQ' of all rows, twice ours. */
static void
check_kernel(gp_device *dev, const gp_problem *p)
{
	gp_env	   *env = dev->env;
	gp_eval		ev;
	double		got[ROWS][ROWS];

	gp_eval_open(&ev, dev, p->program, p->graph, p->features, 0, GP_DOUBLE);
	gp_matrix	k = gp_eval_full(&ev, p->program->nsteps - 1);
	dev->download(dev, gp_matrix_wrap(got, ROWS, ROWS, GP_DOUBLE), k);
	for (int i = 0; i < ROWS * ROWS; i++)
		got[i / ROWS][i % ROWS] *= 2.0;
	agree(&got[0][0], &kernel[0][0], ROWS * ROWS, "the kernel");
	dev->destroy(dev, &k);
	gp_eval_close(&ev);
	(void) env;
}

/* The mean of the diagonal over all rows, to which nuggets are relative; the golden ones are to 1.01. */
static double
mean_of_diagonal(void)
{
	double		sum = 0.0;

	for (int i = 0; i < ROWS; i++)
		sum += kernel[i][i] / ROWS;
	return sum;
}

/* The posterior, with each label left out, and with the labels of its time. */
static void
check_posterior(gp_device *dev, gp_problem p, const gp_time *as_of)
{
	gp_env	   *env = dev->env;
	int32_t		block[LABELS];
	int64_t		n;

	p.strategy = GP_STRATEGY_EXACT;
	gp_posterior *exact = gp_fit(dev, &p);
	close_to(exact->mean[ROWS - 1], 0.500987, 1.5e-6, "the posterior mean of the row that is asked for");
	agree(exact->loo.mean, left_out, LABELS, "labels without themselves");
	is_int(gp_facts_time_blocks(env, LABELS, as_of, 3, block), 3, "three times are three blocks");
	p.block = block;
	p.nblocks = 3;
	p.strategy = GP_STRATEGY_NYSTROM;
	p.landmark = gp_facts_landmarks(env, &p, 100, &n);
	p.nlandmarks = n;
	is_int(n, LABELS, "all labels are landmarks");
	gp_posterior *blocks = gp_fit(dev, &p);
	close_to(blocks->mean[ROWS - 1], 0.500987, 1.5e-6, "the posterior mean does not depend on the blocks");
	agree(blocks->loo.mean, block_left_out, LABELS, "labels without their time");
	ok(isnan(blocks->forward[0]) && isnan(blocks->forward[4]) && !isnan(blocks->forward[5]),
	   "the past predicts the last block alone");
	close_to(blocks->forward[5], blocks->loo.mean[5], 1e-9, "as do all blocks but the last");
	gp_posterior_free(env, exact);
	gp_posterior_free(env, blocks);
}

static void
check_golden(gp_env *env)
{
	gp_device  *dev = gp_device_cpu(env, 1);
	bool		trains[ROWS];
	gp_time		as_of[ROWS];
	double		got[ROWS][COLUMNS];
	int32_t		labelled[LABELS];
	gp_graph	graph = {.nodes = ROWS,.start = gp_alloc_zero(env, ROWS + 1, sizeof(int64_t)),
	.col = gp_alloc_zero(env, 1, sizeof(int32_t))};
	gp_problem	p = {.graph = &graph,.program = gp_kernel_program(env, gp_kernel_parse(env, "relu(X0*W + b)*W, sigma_b=0.1")),
	.task = GP_TASK_VALUES,.nlabelled = LABELS,.labelled = labelled,.target = target,.type = GP_DOUBLE};

	for (int i = 0; i < ROWS; i++)
	{
		as_of[i] = day[i] * GP_TIME_DAY;
		trains[i] = i < LABELS;
		labelled[i < LABELS ? i : 0] = i < LABELS ? i : 0;
	}
	gp_task_columns *f = golden_columns(env, as_of);
	is_int(gp_task_columns_width(f), COLUMNS, "ten columns");
	gp_facts_scale *s = gp_task_columns_measure(f, trains);
	for (int i = 0; i < ROWS * COLUMNS; i++)
	{
		float		raw = gp_task_columns_row(f, 0)[i];

		got[i / COLUMNS][i % COLUMNS] = isnan(raw) ? s->column[i % COLUMNS].empty : raw;
	}
	agree(&got[0][0], &columns[0][0], ROWS * COLUMNS, "columns as of each row's time");
	gp_features *x = gp_task_columns_features(f, s);
	for (int i = 0; i < ROWS * COLUMNS; i++)
		got[i / COLUMNS][i % COLUMNS] = ((float *) x->dense)[i];
	agree(&got[0][0], &scaled[0][0], ROWS * COLUMNS, "columns scaled");
	p.features = gp_features_as(env, x, GP_DOUBLE);
	p.nugget = 1.01 / mean_of_diagonal();
	check_kernel(dev, &p);
	check_posterior(dev, p, as_of);
}

int
main(void)
{
	in_env(check_golden(env));
	return done_testing();
}
