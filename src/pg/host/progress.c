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

#include <math.h>

#include "catalog/pg_authid.h"
#include "compat.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "progress.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

/* Far from the server's own numbers, which count up from 1. */
#define COMMAND ((ProgressCommandType) 1196)
#define MAGIC INT64CONST(0x676e6e67702d3031)

/* The slots of an entry; the first eight hold the model's name. */
#define NAME_SLOTS (NAMEDATALEN / 8)
#define SLOT_PHASE NAME_SLOTS
#define SLOT_DONE (NAME_SLOTS + 1)
#define SLOT_TOTAL (NAME_SLOTS + 2)
#define SLOT_STARTED (NAME_SLOTS + 3)
#define SLOT_MAGIC (NAME_SLOTS + 4)
#define SLOT_OBJECTIVE (NAME_SLOTS + 5)	/* the bits of a double */

StaticAssertDecl(SLOT_OBJECTIVE < PGSTAT_NUM_PROGRESS_PARAM, "a name fits into the slots");

static const char *const phase_names[GP_PHASE_COUNT] = {
	"starting", "reading nodes", "reading features", "reading edges", "planning",
	"building the kernel", "exact diagonal", "choosing the nugget", "posterior", "storing",
	"scoring pairs", "clustering", "training"
};

/* When the report began. */
static TimestampTz report_started;

/* Starts the report; model is at most 63 bytes.  An abort ends it by itself. */
void
gnngp_progress_begin(const char *model)
{
	char		name[NAMEDATALEN] = {0};
	int			index[SLOT_MAGIC + 1];
	int64		value[SLOT_MAGIC + 1] = {0};

	strlcpy(name, model, sizeof(name));
	memcpy(value, name, sizeof(name));
	value[SLOT_STARTED] = report_started = GetCurrentTimestamp();
	value[SLOT_MAGIC] = MAGIC;
	for (int i = 0; i <= SLOT_MAGIC; i++)
		index[i] = i;
	pgstat_progress_start_command(COMMAND, InvalidOid);
	pgstat_progress_update_multi_param(lengthof(index), index, value);
}

/* True while this backend's entry is ours. */
static bool
is_reporting(void)
{
	return MyBEEntry != NULL && MyBEEntry->st_progress_command == COMMAND;
}

/*
 * total <= 0 means that the end is not known.  Ignored when no report has begun.  A table that is made in between
 * builds the index of its long values, and the server writes that one's progress over ours: all but the name is told again.
 */
void
gnngp_progress_set(gp_phase phase, int64 done, int64 total, double objective)
{
	static const int index[] = {SLOT_PHASE, SLOT_DONE, SLOT_TOTAL, SLOT_OBJECTIVE, SLOT_STARTED, SLOT_MAGIC};
	int64		value[] = {phase, done, total, 0, report_started, MAGIC};

	memcpy(&value[3], &objective, sizeof(objective));
	if (is_reporting())
		pgstat_progress_update_multi_param(lengthof(index), index, value);
}

/* Ends the report; every normal end of a command must. */
void
gnngp_progress_end(void)
{
	if (is_reporting())
		pgstat_progress_end_command();
}

/* The i-th backend's entry, from 1; NULL when it has none. */
static PgBackendStatus *
backend_entry(int i)
{
	LocalPgBackendStatus *local = pgstat_get_local_beentry_by_index(i);

	return local ? &local->backendStatus : NULL;
}

/* True when the caller may see what this backend does. */
static bool
may_see(const PgBackendStatus *entry)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
		has_privs_of_role(GetUserId(), entry->st_userid);
}

/* Turns one entry into a row; the function of 0.1.0 has no column for the objective, and gets none. */
static void
put_entry(ReturnSetInfo *rsinfo, const PgBackendStatus *entry)
{
	const int64 *param = entry->st_progress_param;
	Datum		values[7];
	bool		nulls[7] = {0};
	char		name[NAMEDATALEN];
	int64		phase = param[SLOT_PHASE];
	double		objective;

	memcpy(name, param, sizeof(name));
	name[NAMEDATALEN - 1] = '\0';
	if (phase < 0 || phase >= GP_PHASE_COUNT)
		phase = GP_PHASE_IDLE;
	values[0] = Int32GetDatum(entry->st_procpid);
	values[1] = CStringGetTextDatum(name);
	values[2] = CStringGetTextDatum(phase_names[phase]);
	values[3] = Int64GetDatum(param[SLOT_DONE]);
	values[4] = Int64GetDatum(param[SLOT_TOTAL]);
	nulls[4] = param[SLOT_TOTAL] <= 0;
	values[5] = TimestampTzGetDatum(param[SLOT_STARTED]);
	memcpy(&objective, &param[SLOT_OBJECTIVE], sizeof(objective));
	nulls[6] = phase != GP_PHASE_TRAIN || isnan(objective);
	values[6] = Float8GetDatum(nulls[6] ? 0.0 : objective);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(gnngp_progress_rows);

/* The running computations of this database that the caller may see. */
Datum
gnngp_progress_rows(PG_FUNCTION_ARGS)
{
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	n = pgstat_fetch_stat_numbackends();
	for (int i = 1; i <= n; i++)
	{
		PgBackendStatus *entry = backend_entry(i);

		if (entry == NULL || entry->st_progress_command != COMMAND ||
			entry->st_progress_param[SLOT_MAGIC] != MAGIC ||
			entry->st_databaseid != MyDatabaseId || !may_see(entry))
			continue;
		put_entry((ReturnSetInfo *) fcinfo->resultinfo, entry);
	}
	return (Datum) 0;
}
