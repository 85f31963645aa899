/*
 * raise.h - errors and notices, in the form of the core's gp_raise.
 */
#ifndef GNNGP_RAISE_H
#define GNNGP_RAISE_H

#include "nodes/pg_list.h"

static inline int
gnngp_errhint(const char *hint)
{
	return hint ? errhint("%s", hint) : 0;
}

/* The same as gnngp_raise with a detail. */
#define gnngp_raise_detail(code, detail, hint, ...) \
	ereport(ERROR, (errcode(ERRCODE_##code), errmsg(__VA_ARGS__), \
					errdetail_internal("%s", detail), gnngp_errhint(hint)))

/* Raises an error: its SQLSTATE, by the name behind ERRCODE_, a hint or NULL, and the message. */
#define gnngp_raise(code, hint, ...) \
	ereport(ERROR, (errcode(ERRCODE_##code), errmsg(__VA_ARGS__), gnngp_errhint(hint)))

/* A NOTICE of the same form, and one with a detail (notices.c). */
#define gnngp_notice(hint, ...) gnngp_notice_report(psprintf(__VA_ARGS__), NULL, hint)
#define gnngp_notice_detail(detail, hint, ...) \
	gnngp_notice_report(psprintf(__VA_ARGS__), detail, hint)

extern void gnngp_notice_report(const char *message, const char *detail, const char *hint);

/* Reports several with their hints, or NULLs, as one NOTICE (gnngp_env_collect_notices). */
extern void gnngp_notice_report_all(const List *messages, const List *hints);

/*
 * From here on until the context is reset, the NOTICEs of a fit, or of a graph that is altered, are
 * collected in it.  A message of the former ones, numbers apart, is collected but not reported.
 */
extern void gnngp_notices_begin(MemoryContext context);
extern void gnngp_notices_add_former(const char *message);

/* The same, and no NOTICE is reported: the fit that is estimated gives them. */
extern void gnngp_notices_silence(MemoryContext context);

/* What was collected; n counts it. */
extern char **gnngp_notices_given(int *n);

#endif							/* GNNGP_RAISE_H */
