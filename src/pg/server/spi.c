/*
 * spi.c - statements that run inside the server, and who the user is meanwhile.
 *
 * Rows go straight from the executor to a callback, without a result table between them.
 *
 * Behind a table there may be code of anybody's: views, policies, triggers, domains.  It runs with
 * the rights of the role that reads, under SECURITY_RESTRICTED_OPERATION, which keeps it from
 * becoming somebody else, and on a level of settings of its own.  An abort sets the user and the
 * settings back.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "spi.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#define MOST_SHOWN 100			/* bytes of a query in the context of an error */

void
gnngp_spi_connect(void)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

void
gnngp_spi_finish(void)
{
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

int64
gnngp_found_int64(uint64 row)
{
	bool		null;

	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1, &null));
}

int64
gnngp_query_number(const char *query)
{
	bool		null;

	if (SPI_execute(query, true, 1) != SPI_OK_SELECT || SPI_processed != 1)
		return 0;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null);
	return null ? 0 : DatumGetInt64(value);
}

void
gnngp_pin(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}

gnngp_identity
gnngp_become(Oid role)
{
	gnngp_identity saved;

	GetUserIdAndSecContext(&saved.user, &saved.context);
	SetUserIdAndSecContext(role, saved.context | SECURITY_RESTRICTED_OPERATION);
	saved.level = NewGUCNestLevel();
	gnngp_pin("row_security", "on");
	return saved;
}

/* Pins search_path, and what output functions depend on, until the GUC nest level ends. */
static void
pin_output_settings(void)
{
	static const char *const pins[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{"DateStyle", "ISO, YMD"},
		{"IntervalStyle", "postgres"},
		{"extra_float_digits", "1"},
		{"bytea_output", "hex"},
		{"TimeZone", "UTC"},
		{"lc_monetary", "C"},
	};

	for (int i = 0; i < (int) lengthof(pins); i++)
		gnngp_pin(pins[i][0], pins[i][1]);
}

gnngp_identity
gnngp_become_reader(Oid role)
{
	gnngp_identity saved = gnngp_become(role);

	pin_output_settings();
	return saved;
}

int
gnngp_output_level(void)
{
	int			level = NewGUCNestLevel();

	pin_output_settings();
	return level;
}

void
gnngp_become_again(const gnngp_identity *saved)
{
	AtEOXact_GUC(false, saved->level);
	SetUserIdAndSecContext(saved->user, saved->context);
}

typedef struct row_receiver
{
	DestReceiver pub;
	const gnngp_sink *rows;
	MemoryContext context;		/* of one row */
} row_receiver;

/*
 * Compares the columns that are about to come with what was said: a callback reads datums of
 * those types, and tables may be altered or swapped between two statements.
 */
static void
receive_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	const gnngp_sink *rows = ((row_receiver *) self)->rows;

	for (int i = 0; rows->types != NULL && i < Max(desc->natts, rows->n); i++)
	{
		Oid			type = i < desc->natts ? TupleDescAttr(desc, i)->atttypid : InvalidOid;

		if (!OidIsValid(type) || i >= rows->n || getBaseType(type) != rows->types[i])
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 rows->source ? errmsg("table \"%s\" changed while it was read", rows->source)
					 : errmsg("a working table changed while it was read"),
					 OidIsValid(type) && i < rows->n ?
					 errdetail("Column %d has type %s instead of %s.", i + 1, format_type_be(type),
							   format_type_be(rows->types[i])) : 0,
					 errhint("Try again.")));
	}
}

/* Hands over one row; true goes on. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	row_receiver *r = (row_receiver *) self;

	slot_getallattrs(slot);
	MemoryContext old = MemoryContextSwitchTo(r->context);
	r->rows->row(r->rows->state, slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(r->context);
	return true;
}

/* Nothing to end: the receiver lives on its caller's stack. */
static void
receive_nothing(DestReceiver *self)
{
}

/*
 * Raises the error of a query that was cancelled, with no more than its beginning in the context:
 * it is not the user's, and may be long.
 */
static void
raise_cancelled(const char *query)
{
	ErrorData  *error = CopyErrorData();
	char	   *at = error->context ? strstr(error->context, query) : NULL;
	size_t		length = strlen(query);
	int			shown = pg_mbcliplen(query, (int) length, MOST_SHOWN);

	if (at && length > shown + strlen("..."))
	{
		memcpy(at + shown, "...", strlen("..."));
		memmove(at + shown + strlen("..."), at + length, strlen(at + length) + 1);
	}
	FlushErrorState();
	ReThrowError(error);
}

void
gnngp_each_row(SPIPlanPtr plan, const char *query, int nargs, const Oid *types,
			   const Datum *values, const gnngp_sink *rows)
{
	SPIExecuteOptions options = {.read_only = true};
	row_receiver r = {
		.pub = {receive_row, receive_startup, receive_nothing, receive_nothing, DestTuplestore},
		.rows = rows,
		.context = AllocSetContextCreate(CurrentMemoryContext, "gnngp row", ALLOCSET_DEFAULT_SIZES)
	};
	const CachedPlanSource *source = plan ? linitial(SPI_plan_get_plan_sources(plan)) : NULL;
	MemoryContext context = CurrentMemoryContext;
	volatile int rc = 0;

	options.dest = &r.pub;
	if (nargs > 0)
		options.params = makeParamList(nargs);
	for (int i = 0; i < nargs; i++)
		options.params->params[i] = (ParamExternData) {
			.value = values[i],.ptype = types[i],.pflags = PARAM_FLAG_CONST
		};
	PG_TRY();
	{
		rc = plan ? SPI_execute_plan_extended(plan, &options) :
			SPI_execute_extended(query, &options);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		if (geterrcode() == ERRCODE_QUERY_CANCELED)
			raise_cancelled(source ? source->query_string : query);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "a query returned %s", SPI_result_code_string(rc));
	MemoryContextDelete(r.context);
}

ErrorData *
gnngp_attempt(void (*work) (void *arg), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	if (IsInParallelMode())
	{
		work(arg);
		return NULL;
	}
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		work(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

ErrorData *
gnngp_attempt_but_cancel(void (*work) (void *arg), void *arg)
{
	ErrorData  *error = gnngp_attempt(work, arg);

	if (error && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	return error;
}
