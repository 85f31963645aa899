/*
 * test_env.h - the environment of the unit tests: malloc, longjmp, counters.
 *
 *		gp_env	   *env = test_env();
 *
 *		expect_error(env, GP_ERR_SYNTAX, gp_kernel_parse(env, "gnc"));
 *		is_int(test_state(env)->position, 1, "it points at the name");
 *		test_env_close(env);
 */
#ifndef TEST_ENV_H
#define TEST_ENV_H

#include <setjmp.h>

#include "base/base.h"
#include "tap.h"

/* The code of a "query cancelled", which is the host's own. */
#define TEST_CANCELLED ((gp_error) 1000)

/* Where a raised error goes. */
typedef struct test_frame
{
	jmp_buf		buffer;
	struct test_frame *up;
} test_frame;

typedef struct test_block test_block;
typedef struct test_owned test_owned;

typedef struct test_host
{
	gp_env		env;			/* first: a gp_env * is a test_host * */
	test_frame *frame;
	test_block *blocks;
	test_owned *owned;

	/* Faults to inject. */
	int64_t		fail_at;		/* the allocation that fails, counted from 1; 0 = none */
	int64_t		cancel_at;		/* the interrupt check that cancels; 0 = none */
	bool		cancel;			/* a cancel waits */
	const char *stack_base;		/* where the test's stack begins; NULL: any depth will do */
	ptrdiff_t	stack_limit;	/* the bytes of it that may be used */

	/* What happened. */
	int64_t		allocations;	/* calls of alloc so far */
	int64_t		checks;			/* calls of check_interrupts so far */
	int64_t		live;			/* blocks held now */
	int64_t		resources;		/* owned now */
	int64_t		reports;		/* calls of progress so far */
	gp_phase	phase;
	int64_t		done;
	int64_t		total;

	/* The last error, and the last notice. */
	gp_error	code;
	int			position;
	char		message[1024];
	char		hint[1024];
	int			notices;
	char		notice[1024];
	char		notice_hint[1024];
} test_host;

/* Makes an environment. */
extern gp_env *test_env(void);

/* Its counters and the last error. */
extern test_host *test_state(gp_env *env);

/* Frees everything made in it and releases what it owns; counters and faults start again. */
extern void test_env_reset(gp_env *env);

/* The same, and ends it.  Returns the blocks and resources that were still held. */
extern int64_t test_env_close(gp_env *env);

extern void test_push(gp_env *env, test_frame *frame);
extern void test_pop(gp_env *env);

/* Runs a statement; true when it raised an error, which test_state tells. */
#define test_catch(env, stmt) \
	(__extension__ ({ \
		test_frame	frame_; \
		volatile bool raised_ = true; \
		test_push((env), &frame_); \
		if (setjmp(frame_.buffer) == 0) \
		{ \
			stmt; \
			raised_ = false; \
		} \
		test_pop(env); \
		raised_; \
	}))

/* One test: the statement raises an error of this code. */
#define expect_error(env, want, stmt) \
	(__extension__ ({ \
		bool		hit_ = test_catch((env), stmt); \
		bool		pass_ = ok(hit_ && test_state(env)->code == (want), \
							   #stmt " raises " #want); \
		if (!hit_) \
			printf("# no error was raised\n"); \
		else if (!pass_) \
			printf("# got code %d: %s\n", (int) test_state(env)->code, \
				   test_state(env)->message); \
		pass_; \
	}))

/* A number below n from a small generator, so that every run sees the same cases. */
static inline int
draw_below(uint64_t *state, int n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int) ((*state >> 33) % (uint64_t) n);
}

/* A number in [0, 1) from the same. */
static inline double
draw_unit(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double) (*state >> 11) * 0x1p-53;
}

/* What disturbs a run: an allocation that is refused, or an interrupt check that cancels it. */
typedef enum test_fault
{
	TEST_REFUSE,
	TEST_CANCEL
} test_fault;

/* Starts again, to be disturbed at the allocation or check of this number. */
extern void test_env_disturb(gp_env *env, test_fault fault, int64_t at);

/* One test of how often a run was disturbed: more than least, each time with the right error. */
extern void test_disturbed(const char *what, test_fault fault, int64_t times, int64_t least,
						   bool sound);

/* The place to disturb after another: stride later, and one in 16 further; with GNNGP_LONG=1 stride later. */
extern int64_t test_next_place(int64_t at, int64_t stride);

/*
 * Runs a statement over and over in an environment of its own, env, disturbed at
 * the first allocation or check, then at the next place, and so on until it goes through.
 */
#define disturb(what, fault, stride, least, stmt) \
	do { \
		gp_env	   *env = test_env(); \
		volatile int64_t times_ = 0; \
		volatile bool sound_ = true; \
		for (volatile int64_t at_ = 1;; times_++, at_ = test_next_place(at_, stride)) \
		{ \
			test_env_disturb(env, fault, at_); \
			if (!test_catch(env, stmt)) \
				break; \
			sound_ = sound_ && times_ < 20000 && \
				test_state(env)->code == ((fault) == TEST_CANCEL ? TEST_CANCELLED : GP_ERR_MEMORY); \
			if (!sound_) \
				break; \
		} \
		test_disturbed(what, fault, times_, least, sound_); \
		test_env_close(env); \
	} while (0)

/* Runs one check in an environment of its own. */
#define in_env(call) \
	do { \
		gp_env	   *env = test_env(); \
		if (test_catch(env, call)) \
			ok(false, test_state(env)->message); \
		test_env_close(env); \
	} while (0)

#endif							/* TEST_ENV_H */
