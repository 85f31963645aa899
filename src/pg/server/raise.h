/*
 * raise.h - errors, in the form of the core's gp_raise.
 */
#ifndef GNNGP_RAISE_H
#define GNNGP_RAISE_H

static inline int
gnngp_errhint(const char *hint)
{
	return hint ? errhint("%s", hint) : 0;
}

/* Raises an error: its SQLSTATE, by the name behind ERRCODE_, a hint or NULL, and the message. */
#define gnngp_raise(code, hint, ...) \
	ereport(ERROR, (errcode(ERRCODE_##code), errmsg(__VA_ARGS__), gnngp_errhint(hint)))

#endif							/* GNNGP_RAISE_H */
