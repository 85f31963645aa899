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

/* A NOTICE of the same form. */
#define gnngp_notice(hint, ...) ereport(NOTICE, (errmsg(__VA_ARGS__), gnngp_errhint(hint)))

#endif							/* GNNGP_RAISE_H */
