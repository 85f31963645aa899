/*
 * notices.c - NOTICEs: what a fit tells is kept with its model, and a refresh tells what is new.
 */
#include "postgres.h"

#include "nodes/pg_list.h"
#include "raise.h"
#include "utils/memutils.h"

typedef struct hearing
{
	MemoryContext context;
	List	   *told;			/* messages of the last fit */
	List	   *kept;			/* those of this one */
} hearing;

static hearing *present = NULL;

static void
end_hearing(void *arg)
{
	if (present == arg)
		present = NULL;
}

void
gnngp_hear(MemoryContext context)
{
	MemoryContextCallback *end = MemoryContextAllocZero(context, sizeof(MemoryContextCallback));

	present = MemoryContextAllocZero(context, sizeof(hearing));
	present->context = context;
	end->func = end_hearing;
	end->arg = present;
	MemoryContextRegisterResetCallback(context, end);
}

char **
gnngp_heard(int *n)
{
	char	  **text;

	*n = present ? list_length(present->kept) : 0;
	text = palloc(sizeof(char *) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
		text[i] = list_nth(present->kept, i);
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

/* Adds a message to those of the fit. */
static void
keep(List **messages, const char *message)
{
	MemoryContext old = MemoryContextSwitchTo(present->context);

	*messages = lappend(*messages, pstrdup(message));
	MemoryContextSwitchTo(old);
}

void
gnngp_told(const char *message)
{
	keep(&present->told, message);
}

bool
gnngp_is_news(const char *message)
{
	ListCell   *cell;

	if (present == NULL)
		return true;
	keep(&present->kept, message);
	foreach(cell, present->told)
		if (is_like(message, lfirst(cell)))
			return false;
	return true;
}

void
gnngp_tell(const char *message, const char *detail, const char *hint)
{
	if (gnngp_is_news(message))
		ereport(NOTICE,
				(errmsg_internal("%s", message),
				 detail ? errdetail_internal("%s", detail) : 0,
				 gnngp_errhint(hint)));
}
