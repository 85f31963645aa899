/*
 * test_amounts.c - sums of amounts that decay, from cells to columns, against a plain loop.
 */
#include "facts/facts_internal.h"
#include "test_env.h"

/* Amounts of two columns as of their rows' times, from a skewed column of some NULLs and one of integers. */
static void
check_amounts(gp_env *env)
{
	enum { FACTS = 400, KEYS = 4, DAYS = 50 };
	static const gp_cell_kind kind[] = {GP_CELL_NUMBER, GP_CELL_NUMBER, GP_CELL_WORD, GP_CELL_INTEGER, GP_CELL_NUMBER};
	gp_aggregates a = {GP_FACTS_DECAYED, 1, 8.0 * GP_TIME_DAY, 1.0, true, false};
	uint64_t	state = 3;
	int32_t		key[KEYS * DAYS];
	gp_time		as_of[KEYS * DAYS];
	gp_cell		cell[FACTS][5];
	gp_encoder *e = gp_encoder_create(env, 5, kind, GP_TIME_NEVER, NULL);
	gp_task_columns *f = gp_task_columns_create(env, KEYS * DAYS, as_of);
	double		off = 0.0;

	for (int i = 0; i < KEYS * DAYS; i++)
	{
		key[i] = i % KEYS;
		as_of[i] = i / KEYS * GP_TIME_DAY;
	}
	for (int i = 0; i < FACTS; i++)
	{
		cell[i][0] = (gp_cell) {.null = i % 9 == 0,.number = exp(9.0 * pow(draw_unit(&state), 9.0))};
		cell[i][1] = (gp_cell) {.number = draw_unit(&state) - 0.5};
		cell[i][2] = (gp_cell) {.word = 2 + i % 2};
		cell[i][3] = (gp_cell) {.number = draw_below(&state, 5)};
		cell[i][4] = (gp_cell) {.number = 7.0};
		gp_encoder_look(e, (uint64_t) i + 1, 0, cell[i]);
	}
	gp_encoding *of = gp_encoder_finish(e, false);
	is_int(gp_encoding_amounts(of), 2, "numbers that are negative, words and constants are no amounts");
	ok(of->encoded[0].logarithm && !of->encoded[3].logarithm, "one takes its logarithm, the other does not");
	gp_scan    *s = gp_scan_open(f, gp_task_columns_facts(f, "facts", 2, a), key);
	for (int i = 0; i < FACTS; i++)
	{
		double		amount[2];

		gp_encode_amounts(of, cell[i], amount);
		gp_scan_fact(s, i / (FACTS / KEYS), (i % (FACTS / KEYS) / 3) * GP_TIME_DAY, amount);
	}
	gp_scan_close(s);
	for (int i = 0; i < KEYS * DAYS; i++)
		for (int c = 0; c < 4; c++)
		{
			const gp_encoded *column = &of->encoded[c < 2 ? 0 : 3];
			double		usual = c < 2 ? expm1(column->mean) : column->mean;
			double		sum = 0.0;

			for (int k = 0; k < FACTS; k++)
			{
				const gp_cell *z = &cell[k][c < 2 ? 0 : 3];
				int			days = i / KEYS - k % (FACTS / KEYS) / 3;

				if (k / (FACTS / KEYS) == key[i] && days > 0 && !z->null)
					sum += fmin(fmax(z->number, column->low), column->high) / usual *
						exp2(-days / (c % 2 ? 2.0 : 8.0));
			}
			off = fmax(off, fabs(log1p(sum) - gp_task_columns_row(f, i)[c]));
		}
	close_to(off, 0.0, 1e-5, "sums by a plain loop: halved by the half-life and by a quarter, without NULLs");
	gp_task_columns_free(f);
	gp_free(env, of);
}

int
main(void)
{
	in_env(check_amounts(env));
	return done_testing();
}
