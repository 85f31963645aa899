/*
 * module.c - what the server calls when it loads the library.
 *
 * Loading defines the settings and nothing else: BLAS and its threads come with
 * the first computation, so that a preloaded library starts no thread in the
 * postmaster.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "settings.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

/*
 * Defines the settings.  A warning about one of them serves interrupts; a cancel then would
 * leave a library that is half loaded, and that the session could never load again.
 */
void
_PG_init(void)
{
	HOLD_INTERRUPTS();
	gnngp_settings_define();
	RESUME_INTERRUPTS();
}
