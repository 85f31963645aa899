/*
 * progress.c - long work, visible from other sessions.
 *
 * The server has a place in shared memory where each backend says which
 * command it runs and how far it is.  Its own views show the server's own
 * commands only; this file writes there under a command number that the server
 * does not use, and gp_progress reads it back.  No shared_preload_libraries is
 * needed, and an abort clears the entry.
 */
#include "postgres.h"

#include "arguments.h"
#include "catalog/pg_authid.h"
#include "compat.h"
#include "progress.h"
#include "raise.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* Far from the server's own numbers, which count up from 1. */
#define COMMAND ((ProgressCommandType) 1196)
#define MAGIC INT64CONST(0x676e6e67702d3031)

/*
 * The slots of an entry; the first eight hold the model's name.  Making a table, the server builds
 * an index and writes into slots 9 to 12, 15 and 16, whoever's entry it is.
 */
#define NAME_SLOTS (NAMEDATALEN / 8)
#define SLOT_PHASE 8
#define SLOT_DONE 13
#define SLOT_TOTAL 14
#define SLOT_STARTED 17
#define SLOT_MAGIC 18
#define SLOT_OBJECTIVE 19		/* the bits of a double */

StaticAssertDecl(NAME_SLOTS <= SLOT_PHASE && SLOT_OBJECTIVE < PGSTAT_NUM_PROGRESS_PARAM,
				 "an entry fits into the slots");

static const char *const phase_names[GP_PHASE_COUNT] = {
	"starting", "reading nodes", "reading features", "reading edges", "planning",
	"building the kernel", "exact diagonal", "choosing the nugget", "posterior", "storing",
	"scoring pairs", "clustering", "training"
};

/* What was told last, and when the report began. */
static int64 told[SLOT_OBJECTIVE + 1];

/* A phase and, above it, the milliseconds from the start to the expected end; 0: not known. */
#define PHASE_BITS 8

/* How much is to be computed, up to the end of each part, and when that began. */
#define MOST_PARTS 32
static int	parts;
static double reached[MOST_PARTS];
static bool last_begins;		/* the next plan is that of the last part */
static TimestampTz parts_began;
static int64 expected_end;

static void
report(void)
{
	int			index[SLOT_OBJECTIVE + 1];

	for (int i = 0; i <= SLOT_OBJECTIVE; i++)
		index[i] = i;
	pgstat_progress_update_multi_param(lengthof(index), index, told);
}

void
gnngp_progress_begin(const char *model)
{
	char		name[NAMEDATALEN] = {0};

	strlcpy(name, model, sizeof(name));
	memset(told, 0, sizeof(told));
	memcpy(told, name, sizeof(name));
	told[SLOT_STARTED] = GetCurrentTimestamp();
	told[SLOT_MAGIC] = MAGIC;
	parts = 0;
	last_begins = false;
	expected_end = 0;
	pgstat_progress_start_command(COMMAND, InvalidOid);
	report();
}

bool
gnngp_progress_is_on(void)
{
	return MyBEEntry != NULL && MyBEEntry->st_progress_command == COMMAND;
}

void
gnngp_progress_set(gp_phase phase, int64 done, int64 total, double objective)
{
	told[SLOT_PHASE] = phase | expected_end << PHASE_BITS;
	told[SLOT_DONE] = done;
	told[SLOT_TOTAL] = total;
	memcpy(&told[SLOT_OBJECTIVE], &objective, sizeof(objective));
	if (gnngp_progress_is_on())
		report();
}

/* The end is so many seconds away. */
static void
expect_end(double seconds)
{
	expected_end = Max((GetCurrentTimestamp() - told[SLOT_STARTED]) / 1000 +
					   (int64) Min(seconds * 1000.0, 1e12), 1);
}

void
gnngp_progress_expect(const gp_device *device, int n, const double *effort)
{
	if (!gnngp_progress_is_on() || strcmp(device->name, "cpu") != 0)
		return;
	if (parts > 0)
	{
		int			before = Max(parts - 1, 1);

		if (!last_begins)
			return;
		reached[before] = reached[before - 1] + *effort;
		parts = before + 1;
		gnngp_progress_reach(before);
		return;
	}
	parts = Min(n, MOST_PARTS);
	for (int i = 0; i < parts; i++)
		reached[i] = (i > 0 ? reached[i - 1] : 0.0) + effort[i];
	parts_began = GetCurrentTimestamp();
	double		seconds = reached[parts - 1] / (GNNGP_CPU_PACE * device->threads);
	expect_end(seconds);
	/* With what is over: the reading. */
	if (seconds >= GNNGP_LONG_SECONDS)
		gnngp_notice("SELECT * FROM gp_progress in another session shows how far it is.",
					 "this takes about %.0f s", (double) expected_end / 1e3);
}

void
gnngp_progress_reach(int n)
{
	double		elapsed = (GetCurrentTimestamp() - parts_began) / 1e6;

	if (n < parts && reached[n - 1] > 0.0)
		expect_end(elapsed * (reached[parts - 1] - reached[n - 1]) / reached[n - 1]);
}

void
gnngp_progress_last(void)
{
	last_begins = true;
}

void
gnngp_progress_again(void)
{
	if (!gnngp_progress_is_on())
		pgstat_progress_start_command(COMMAND, InvalidOid);
	report();
}

void
gnngp_progress_end(void)
{
	if (gnngp_progress_is_on())
		pgstat_progress_end_command();
}

/* The running computations of this database that the caller may see. */
GNNGP_FUNCTION(gnngp_progress_rows)
{
	gnngp_result *result = gnngp_result_start(fcinfo);

	for (int i = 1; i <= pgstat_fetch_stat_numbackends(); i++)
	{
		LocalPgBackendStatus *local = pgstat_get_local_beentry_by_index(i);
		const PgBackendStatus *entry = local ? &local->backendStatus : NULL;
		const int64 *param = entry ? entry->st_progress_param : NULL;
		char		name[NAMEDATALEN];
		int64		phase,
					left;
		double		objective;

		if (entry == NULL || entry->st_progress_command != COMMAND ||
			param[SLOT_MAGIC] != MAGIC || entry->st_databaseid != MyDatabaseId ||
			!(has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
			  has_privs_of_role(GetUserId(), entry->st_userid)))
			continue;
		memcpy(name, param, sizeof(name));
		name[NAMEDATALEN - 1] = '\0';
		phase = param[SLOT_PHASE] & ((1 << PHASE_BITS) - 1);
		left = (param[SLOT_PHASE] >> PHASE_BITS) -
			(GetCurrentTimestamp() - param[SLOT_STARTED]) / 1000;
		if (phase < 0 || phase >= GP_PHASE_COUNT)
			phase = GP_PHASE_IDLE;
		memcpy(&objective, &param[SLOT_OBJECTIVE], sizeof(objective));
		gnngp_emit(result, gnngp_out(Int32GetDatum(entry->st_procpid)), gnngp_out_text(name),
				   gnngp_out_text(phase_names[phase]),
				   gnngp_out(Int64GetDatum(param[SLOT_DONE])),
				   {Int64GetDatum(param[SLOT_TOTAL]), param[SLOT_TOTAL] <= 0},
				   gnngp_out(TimestampTzGetDatum(param[SLOT_STARTED])),
				   gnngp_out_float(phase == GP_PHASE_TRAIN ? objective : NAN),
				   gnngp_out_float(left > 0 ? left / 1000.0 : NAN));
	}
	return (Datum) 0;
}
