/*
 * notices.c - NOTICEs of a fit: they are stored with its model, and a refresh reports those that
 * are new.
 *
 * A NOTICE passes two places.  The core's is kept in the environment of its computation where that
 * collects them (env_pg.c), once each, for work may be done again; a computation whose result is
 * not used takes its own along, and the rest is sent as one NOTICE.  Then all of them, and the
 * server's own, come here: the log of the fit has each that was given, and the client gets what is
 * new.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "raise.h"
#include "utils/memutils.h"

typedef struct notice_log
{
	MemoryContext context;
	List	   *former;			/* messages of the former fit */
	List	   *given;			/* those of this fit */
	bool		silent;			/* none is reported */
} notice_log;

static notice_log *current = NULL;

static void
end_log(void *arg)
{
	if (current == arg)
		current = NULL;
}

void
gnngp_notices_begin(MemoryContext context)
{
	MemoryContextCallback *end = MemoryContextAllocZero(context, sizeof(MemoryContextCallback));

	current = MemoryContextAllocZero(context, sizeof(notice_log));
	current->context = context;
	end->func = end_log;
	end->arg = current;
	MemoryContextRegisterResetCallback(context, end);
}

void
gnngp_notices_silence(MemoryContext context)
{
	gnngp_notices_begin(context);
	current->silent = true;
}

char **
gnngp_notices_given(int *n)
{
	*n = current ? list_length(current->given) : 0;
	char	  **text = palloc(sizeof(char *) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
		text[i] = list_nth(current->given, i);
	return text;
}

/* True for two messages that differ by numbers alone. */
static bool
is_like(const char *a, const char *b)
{
	for (;; a++, b++)
	{
		a += strspn(a, "0123456789.");
		b += strspn(b, "0123456789.");
		if (*a != *b || *a == '\0')
			return *a == *b;
	}
}

static void
append(List **messages, const char *message)
{
	MemoryContext old = MemoryContextSwitchTo(current->context);

	*messages = lappend(*messages, pstrdup(message));
	MemoryContextSwitchTo(old);
}

void
gnngp_notices_add_former(const char *message)
{
	append(&current->former, message);
}

/* Logs a message; false: it is not to be reported. */
static bool
is_new(const char *message)
{
	ListCell   *cell;

	if (current == NULL)
		return true;
	append(&current->given, message);
	foreach(cell, current->former)
		if (is_like(message, lfirst(cell)))
			return false;
	return !current->silent;
}

void
gnngp_notice_report(const char *message, const char *detail, const char *hint)
{
	if (is_new(message))
		ereport(NOTICE,
				(errmsg_internal("%s", message),
				 detail ? errdetail_internal("%s", detail) : 0,
				 gnngp_errhint(hint)));
}

void
gnngp_notice_report_all(const List *messages, const List *hints)
{
	const char *first = NULL;
	const char *first_hint = NULL;
	StringInfoData rest;

	initStringInfo(&rest);
	for (int i = 0; i < list_length(messages); i++)
	{
		const char *message = list_nth(messages, i);
		const char *hint = list_nth(hints, i);

		if (!is_new(message))
			continue;
		if (first == NULL)
		{
			first = message;
			first_hint = hint;
			continue;
		}
		if (rest.len == 0 && first_hint)
			appendStringInfoString(&rest, first_hint);
		appendStringInfo(&rest, "%s%c%s.%s%s", rest.len > 0 ? "\n" : "", pg_toupper(message[0]),
						 message + 1, hint ? " " : "", hint ? hint : "");
	}
	if (first)
		ereport(NOTICE,
				(errmsg_internal("%s", first),
				 rest.len > 0 ? errdetail_internal("%s", rest.data) :
				 first_hint ? errhint("%s", first_hint) : 0));
}
