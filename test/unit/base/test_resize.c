/*
 * test_resize.c - arrays that grow in the host's memory: content, alignment, account and limit; and
 * blocks that wait for the next request.
 */
#include "test_env.h"

#include <string.h>

#include "tap.h"

/* True when n bytes hold their own numbers. */
static bool
is_filled(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != (unsigned char) (i * 7))
			return false;
	return true;
}

/* An array that grows and shrinks keeps what both lengths have. */
static void
check_content(gp_env *env)
{
	unsigned char *p = gp_resize_array(env, NULL, 5, 1);
	size_t		old = 5;
	bool		kept = true;
	bool		aligned = true;

	for (size_t i = 0; i < old; i++)
		p[i] = (unsigned char) (i * 7);
	for (int k = 0; k < 40; k++)
	{
		size_t		n = k % 3 == 2 ? old / 2 : old * 3 / 2 + 1;

		p = gp_resize_array(env, p, n, 1);
		kept = kept && is_filled(p, n < old ? n : old);
		aligned = aligned && (uintptr_t) p % 64 == 0;
		for (size_t i = 0; i < n; i++)
			p[i] = (unsigned char) (i * 7);
		old = n;
	}
	ok(kept, "the content is kept");
	ok(aligned, "and aligned");
	is_int(env->used, gp_alloc_size(old), "the last length is what is held");
	gp_free(env, p);
	is_int(env->used, 0, "and nothing afterwards");
}

/* Only the difference is held against the limit, which other environments share. */
static void
check_limit(gp_env *env)
{
	size_t		account = 1000;
	char	   *volatile p;

	env->account = &account;
	env->limit = 11000;
	p = gp_alloc(env, 8000);
	p = gp_resize_array(env, p, 9000, 1);
	is_int(account, 1000 + gp_alloc_size(9000), "the account follows");
	is_int(env->peak, gp_alloc_size(9000), "the high-water mark is that of one array");
	ok(test_catch(env, gp_resize_array(env, p, 11000, 1)) && test_state(env)->code == GP_ERR_LIMIT,
	   "more than the limit is refused");
	ok(test_catch(env, gp_resize_array(env, p, -1, 1)) && test_state(env)->code == GP_ERR_INTERNAL,
	   "and so is a length that is none");
	test_state(env)->fail_at = test_state(env)->allocations + 1;
	ok(test_catch(env, gp_resize_array(env, p, 9500, 1)) && test_state(env)->code == GP_ERR_MEMORY,
	   "and what the host has no memory for");
	is_int(account, 1000 + gp_alloc_size(9000), "which changes nothing");
	p = gp_resize_array(env, p, 10, 1);
	is_int(account, 1000 + gp_alloc_size(10), "less is given back");
	gp_free(env, p);
	is_int(account, 1000, "all of it at the end");
	env->account = NULL;
	env->limit = 0;
}

/* A host that cannot resize has the array copied. */
static void
check_absent(gp_env *env)
{
	void	   *(*resize) (gp_env *, void *, size_t, size_t) = env->resize;
	char	   *p = gp_alloc(env, 4);

	env->resize = NULL;
	memcpy(p, "abc", 4);
	p = gp_resize_array(env, p, 400, 1);
	ok(strcmp(p, "abc") == 0, "without resize the content is copied");
	gp_free(env, p);
	env->resize = resize;
}

/* What is freed serves the next request of its size, and gives way to others. */
static void
check_spares(gp_env *env)
{
	size_t		size = (size_t) 1 << 20;

	env->spares = true;
	void	   *first = gp_alloc(env, size);
	gp_free(env, first);
	void	   *next = gp_alloc(env, size);
	ok(next == first, "a block that was freed is taken again");
	gp_free(env, next);
	is_int(env->used, 0, "it counts as freed");
	is_int(env->spare_bytes, gp_alloc_size(size), "though it waits");
	next = gp_alloc(env, size + 1);
	is_int(env->spare_bytes, 0, "but not beyond the high-water mark");
	gp_free(env, next);
	gp_drop_spares(env);
	is_int(env->nspare, 0, "nor when none is wanted");
	env->spares = false;
}

int
main(void)
{
	gp_env	   *env = test_env();

	check_content(env);
	test_env_reset(env);
	check_limit(env);
	test_env_reset(env);
	check_absent(env);
	test_env_reset(env);
	check_spares(env);
	test_env_close(env);
	return done_testing();
}
