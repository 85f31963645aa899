/*
 * tap.h - the Test Anything Protocol for unit tests, read by prove.
 *
 * A program calls ok and its kin, then returns done_testing().
 */
#ifndef TAP_H
#define TAP_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Weak, so that every file of a test program shares them. */
__attribute__((weak)) int tap_run = 0;
__attribute__((weak)) int tap_failed = 0;

/* Reports one test. */
static inline bool
tap_report(bool pass, const char *name, const char *file, int line)
{
	tap_run++;
	if (!pass)
		tap_failed++;
	printf("%sok %d - %s\n", pass ? "" : "not ", tap_run, name);
	if (!pass)
		printf("# failed at %s:%d\n", file, line);
	fflush(stdout);
	return pass;
}

/* Reports whether two strings are equal, and shows both when they are not. */
static inline bool
tap_is_str(const char *got, const char *want, const char *name, const char *file, int line)
{
	bool		pass = got != NULL && want != NULL ? strcmp(got, want) == 0 : got == want;

	tap_report(pass, name, file, line);
	if (!pass)
		printf("#      got: %s\n# expected: %s\n", got ? got : "NULL", want ? want : "NULL");
	return pass;
}

/* Reports whether two whole numbers are equal. */
static inline bool
tap_is_int(long long got, long long want, const char *name, const char *file, int line)
{
	tap_report(got == want, name, file, line);
	if (got != want)
		printf("#      got: %lld\n# expected: %lld\n", got, want);
	return got == want;
}

/* Reports whether two numbers agree to a tolerance relative to the larger of 1 and |want|. */
static inline bool
tap_close_to(double got, double want, double tolerance, const char *name, const char *file,
			 int line)
{
	bool		pass = fabs(got - want) <= tolerance * fmax(1.0, fabs(want));

	tap_report(pass, name, file, line);
	if (!pass)
		printf("#      got: %.17g\n# expected: %.17g\n", got, want);
	return pass;
}

/* Prints the plan; the program's exit status. */
static inline int
done_testing(void)
{
	printf("1..%d\n", tap_run);
	if (tap_failed > 0)
		printf("# %d of %d tests failed\n", tap_failed, tap_run);
	return tap_failed > 0;
}

#define ok(cond, name) tap_report((cond), (name), __FILE__, __LINE__)
#define is_str(got, want, name) tap_is_str((got), (want), (name), __FILE__, __LINE__)
#define is_int(got, want, name) tap_is_int((got), (want), (name), __FILE__, __LINE__)
#define close_to(got, want, tol, name) \
	tap_close_to((got), (want), (tol), (name), __FILE__, __LINE__)

#endif							/* TAP_H */
