/*
 * refresh.c - CALL gp_refresh: fit all parts of a model again and swap the result in.
 *
 * Outside of a transaction block the refresh commits between its steps: (1) a
 * log row says 'running'; (2) the tables are read in one snapshot, of
 * REPEATABLE READ, so that tables on other servers are read so, too; (3) the
 * computation holds neither a snapshot nor a transaction id, so that vacuum is
 * not held back; (4) the new version is stored and the log row closed.  Readers
 * see the old version or the new one.  Each step runs in a subtransaction: one
 * that fails leaves nothing open in SPI, so that the failure can be logged and
 * committed before the error is raised again.
 *
 * Inside a transaction block everything is one transaction, and a failure
 * leaves no trace.
 *
 * search_path is pinned in each statement: a procedure with a SET clause could
 * not commit.
 */
#include "postgres.h"

#include "fit_run.h"
#include "pg/schema/schema.h"

#define LOG_ROWS 100			/* kept for each model */

typedef struct refresh
{
	MemoryContext context;		/* lives until the CALL ends, across commits */
	bool		atomic;			/* inside a transaction block */
	gnngp_model *old;			/* as it was when the refresh began */
	gnngp_model new;
	gnngp_graph_def *graph;
	gnngp_fit_run *run;
	int64		log_id;
	const char *losses;			/* what shrank to less than half, or NULL */
	bool		refused;		/* for that reason */
} refresh;

/* Commits, unless a transaction block forbids it. */
static void
commit(const refresh *r)
{
	if (!r->atomic)
		SPI_commit();
}

/* Reads the model again, now that nobody else can change or drop it, and its graph. */
static void
reload(refresh *r)
{
	MemoryContext old = MemoryContextSwitchTo(r->context);

	PushActiveSnapshot(GetLatestSnapshot());
	gnngp_model *model = gnngp_model_by_id(r->old->id);
	if (model->owner_role != r->old->owner_role || model->graph_id != r->old->graph_id)
		gnngp_raise(OBJECT_IN_USE, "Try again.",
					"model \"%s\" has been changed by another session", r->old->name);
	r->old = model;
	r->graph = gnngp_graph_by_id(r->old->graph_id);
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
}

/*
 * Writes the log row 'running'.  We hold the lock, so that an older row which
 * still says so is of a session that ended.
 */
static void
log_start(refresh *r)
{
	gnngp_param model = gnngp_param_int8(r->old->id);

	gnngp_execute(GNNGP_WRITE, "UPDATE gnngp_internal.gp_refresh_log SET outcome = 'interrupted'"
				  " WHERE model = $1 AND outcome = 'running'", model);
	/* Forgets all but the newest rows of the model, with room for one more */
	gnngp_execute(GNNGP_WRITE, "DELETE FROM gnngp_internal.gp_refresh_log WHERE model = $1 AND id <"
				  " (SELECT id FROM gnngp_internal.gp_refresh_log WHERE model = $1"
				  " ORDER BY id DESC OFFSET $2 LIMIT 1)",
				  model, gnngp_param_int8(LOG_ROWS - 2));
	gnngp_execute(GNNGP_WRITE, "INSERT INTO gnngp_internal.gp_refresh_log (model, outcome)"
				  " VALUES ($1, 'running') RETURNING id", model);
	r->log_id = gnngp_found_int64(0);
}

static void
log_end(const refresh *r, const char *outcome, const char *message)
{
	gnngp_execute(GNNGP_WRITE, "UPDATE gnngp_internal.gp_refresh_log SET outcome = $2, message = $3,"
				  " ended = clock_timestamp() WHERE id = $1",
				  gnngp_param_int8(r->log_id), gnngp_param_text(outcome),
				  gnngp_param_text(message));
}

/* Appends "nodes 34 to 35", or of a number that stayed, where equal, "nodes 34". */
static void
append_number(StringInfo text, const char *what, int64 before, int64 after, bool equal)
{
	if (before == after && !equal)
		return;
	appendStringInfo(text, "%s%s " INT64_FORMAT, text->len > 0 ? ", " : "", what, before);
	if (before != after)
		appendStringInfo(text, " to " INT64_FORMAT, after);
}

/* Appends "auc 0.951 to 0.953" when a figure has changed as far as it is shown. */
static void
append_figure(StringInfo text, const char *what, double before, double after)
{
	char	   *old = psprintf("%.3f", before);
	char	   *new = psprintf("%.3f", after);

	if (!isnan(before) && !isnan(after) && strcmp(old, new) != 0)
		appendStringInfo(text, "%s%s %s to %s", text->len > 0 ? ", " : "", what, old, new);
}

/* The numbers and figures of the version before and of this one: equal numbers do not say that
 * nothing was replaced. */
static char *
describe_changes(const gnngp_model *old, const gnngp_model *new)
{
	bool		nodes = (gnngp_model_parts(new) & GNNGP_PART_NODES) != 0;
	StringInfoData text;

	initStringInfo(&text);
	append_number(&text, "nodes", nodes ? old->nodes : old->link.nodes,
				 nodes ? new->nodes : new->link.nodes, true);
	append_number(&text, "edges", nodes ? old->edges : old->link.edges,
				 nodes ? new->edges : new->link.edges, new->rows == 0);
	append_number(&text, "features", old->features, new->features, false);
	if (nodes)
		append_number(&text, "labelled", old->labelled, new->labelled, true);
	append_number(&text, "classes", old->classes, new->classes, false);
	append_number(&text, "facts", old->facts, new->facts, new->rows > 0);
	if (new->link.method)
	{
		append_figure(&text, "auc", old->link.auc, new->link.auc);
		append_figure(&text, "average precision", old->link.average_precision,
					  new->link.average_precision);
	}
	if (strstr(text.data, " to ") == NULL)
		appendStringInfoString(&text, ", as before");
	return text.data;
}

/* Appends "edges 500 to 3" when less than half is left. */
static void
append_loss(StringInfo text, const char *what, int64 before, int64 after)
{
	if (after < before - after)
		append_number(text, what, before, after, false);
}

/*
 * A table that was emptied by mistake, or is being filled, gives a model that is
 * right and of no use: who runs this at night is told, or has set that it ends here.
 */
static void
check_losses(refresh *r)
{
	MemoryContext old = MemoryContextSwitchTo(r->context);
	const gnngp_data *now = gnngp_fit_data(r->run);
	bool		nodes = (gnngp_model_parts(r->old) & GNNGP_PART_NODES) != 0;
	StringInfoData text;

	initStringInfo(&text);
	append_loss(&text, "nodes", nodes ? r->old->nodes : r->old->link.nodes, now->ids.n);
	append_loss(&text, "edges", nodes ? r->old->edges : r->old->link.edges, now->graph->edges);
	if (nodes)
		append_loss(&text, "labelled", r->old->labelled, now->nlabelled);
	append_loss(&text, "facts", r->old->facts, now->task_data ? now->task_data->facts : 0);
	r->losses = text.len > 0 ? text.data : NULL;
	MemoryContextSwitchTo(old);
	r->refused = r->losses != NULL && gnngp_setting_refresh_guard;
	if (r->refused)
		gnngp_raise_detail(OBJECT_NOT_IN_PREREQUISITE_STATE, psprintf("Stored and now: %s.", r->losses),
						   "If the tables are right, set gnngp.refresh_guard = off and refresh again.",
						   "refresh of model \"%s\" refused: it would lose more than half", r->old->name);
	if (r->losses)
		ereport(WARNING,
				(errcode(ERRCODE_WARNING),
				 errmsg("model \"%s\" loses more than half", r->old->name),
				 errdetail("Stored and now: %s.", r->losses),
				 errhint("Set gnngp.refresh_guard = on to keep the stored model in such a case.")));
}

/*
 * Step 2: reads the tables under one snapshot.  In a transaction of our own that is
 * the transaction's, which the reader takes when all is locked: whatever comes
 * before that looks at the catalog as it is now.
 */
static void
step_read(void *arg)
{
	refresh    *r = arg;
	int			parts = gnngp_model_parts(r->old);
	const gnngp_fit_settings *nodes = parts != GNNGP_PART_LINKS ? &r->old->settings : NULL;
	const gnngp_link_settings *links = parts & GNNGP_PART_LINKS ? &r->old->link.settings : NULL;

	PushActiveSnapshot(r->atomic ? GetTransactionSnapshot() : GetCatalogSnapshot(InvalidOid));
	if (nodes && (nodes->kernel == NULL || nodes->target_kind == NULL || nodes->strategy == NULL ||
				  nodes->method == NULL))
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Fit it with gp_fit.",
					"model \"%s\" has no settings to fit it with again", r->old->name);
	if (links && (links->kernel == NULL || links->method == NULL))
		gnngp_raise(OBJECT_NOT_IN_PREREQUISITE_STATE, "Fit it with gp_fit_links.",
					"model \"%s\" has no settings to fit its links with again", r->old->name);
	r->run = gnngp_fit_read(r->context, r->graph, nodes, links, r->old->name, r->old);
	PopActiveSnapshot();
	check_losses(r);
}

/* Step 3: computes. */
static void
step_compute(void *arg)
{
	refresh    *r = arg;

	gnngp_fit_compute(r->run);
}

/* Step 4: swaps the new version in and closes the log row. */
static void
step_store(void *arg)
{
	refresh    *r = arg;

	PushActiveSnapshot(GetTransactionSnapshot());
	gnngp_fit_store(r->run, &r->new);
	gnngp_spi_connect();
	log_end(r, "succeeded", psprintf("%s%s%s", describe_changes(r->old, &r->new),
									 r->losses ? "; more than half is gone: " : "",
									 r->losses ? r->losses : ""));
	gnngp_spi_finish();
	PopActiveSnapshot();
}

/*
 * What the log says of an error; of a device's, and of rights, which only the detail explains,
 * that as well.
 */
static const char *
failure_text(const refresh *r, const ErrorData *error)
{
	const char *message = error->message ? error->message : "";

	if (r->refused)
		return psprintf("more than half would be gone: %s", r->losses);
	if (error->sqlerrcode != ERRCODE_SYSTEM_ERROR &&
		error->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE)
		return message;
	return error->detail ? psprintf("%s: %s", message, error->detail) : message;
}

/* Runs a step in a subtransaction, and commits it. */
static void
run_step(refresh *r, void (*step) (void *arg))
{
	MemoryContext old = MemoryContextSwitchTo(r->context);
	ErrorData  *error = gnngp_attempt(step, r);

	MemoryContextSwitchTo(old);
	if (error != NULL)
	{
		if (!r->atomic)
		{
			SPI_rollback();
			PushActiveSnapshot(GetTransactionSnapshot());
			log_end(r, r->refused ? "refused" : "failed", failure_text(r, error));
			PopActiveSnapshot();
			SPI_commit();
		}
		ReThrowError(error);
	}
	commit(r);
}

/* CALL gp_refresh(model) */
GNNGP_FUNCTION(gnngp_refresh)
{
	char	   *name = gnngp_text_argument(fcinfo, 0, "model");
	bool		atomic = fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic || IsSubTransaction();
	MemoryContext context = AllocSetContextCreate(atomic ? CurrentMemoryContext : PortalContext,
												  "gnngp refresh", ALLOCSET_DEFAULT_SIZES);
	refresh    *r = MemoryContextAllocZero(context, sizeof(refresh));

	r->context = context;
	r->atomic = atomic;
	gnngp_prevent_read_only("gp_refresh");
	if (SPI_connect_ext(atomic ? 0 : SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	MemoryContext old = MemoryContextSwitchTo(r->context);
	r->old = gnngp_own_model(name);
	gnngp_refresh_lock(r->old, !r->atomic);
	MemoryContextSwitchTo(old);
	PG_TRY();
	{
		reload(r);
		log_start(r);
		commit(r);
		gnngp_account_give_up(0);
		gnngp_progress_begin(r->old->name);
		/* One snapshot for the reading, whatever the session's default; it is yet to be taken. */
		if (!r->atomic)
			XactIsoLevel = XACT_REPEATABLE_READ;
		run_step(r, step_read);
		run_step(r, step_compute);
		run_step(r, step_store);
		gnngp_progress_end();
	}
	PG_FINALLY();
	{
		if (!atomic)
			gnngp_refresh_unlock(r->old);
	}
	PG_END_TRY();
	gnngp_spi_finish();
	MemoryContextDelete(context);
	PG_RETURN_VOID();
}
