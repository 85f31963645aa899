/*
 * sort_pg.c - sorts of the server.
 */
#include "postgres.h"

#include "env_pg.h"

void
gnngp_sort(void *base, int64 n, Size size, gp_compare compare, void *arg)
{
	gp_env	   *env = n > GP_SORT_FEW ? gnngp_env_create(CurrentMemoryContext) : NULL;

	gp_sort(env, base, n, size, compare, arg);
	if (env)
		gnngp_env_destroy(env);
}

#define ST_SORT gnngp_sort_keys
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE extern
#define ST_DEFINE
#define ST_CHECK_FOR_INTERRUPTS
#include "lib/sort_template.h"
