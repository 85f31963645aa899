/*
 * raise.h - errors and notices, in the form of the core's gp_raise.
 */
#ifndef GNNGP_RAISE_H
#define GNNGP_RAISE_H

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
#define gnngp_notice(hint, ...) gnngp_tell(psprintf(__VA_ARGS__), NULL, hint)
#define gnngp_notice_detail(detail, hint, ...) gnngp_tell(psprintf(__VA_ARGS__), detail, hint)

extern void gnngp_tell(const char *message, const char *detail, const char *hint);

/*
 * While a model is fitted, keeps what is told in a context, until that is reset.  What was told
 * before, numbers apart, is not told again: a refresh says each night what is new.
 */
extern void gnngp_hear(MemoryContext context);
extern void gnngp_told(const char *message);

/* Keeps a message; false: it need not be told. */
extern bool gnngp_is_news(const char *message);

/* What was kept; n counts it. */
extern char **gnngp_heard(int *n);

#endif							/* GNNGP_RAISE_H */
