/*
 * test_crew.c - threads that take whole pieces of work: what they cannot do is done again by the
 * calling thread, which alone raises.
 */
#include "device/device.h"
#include "test_env.h"

#include <unistd.h>

#define PIECES 40
#define ROOM ((size_t) 1 << 20)

static int64_t polls;
static int64_t cancel_poll;
static int64_t harmless_every;

/* A host whose interrupts come after a number of polls, whoever polls. */
static bool
counted_pending(gp_env *env)
{
	int64_t		n = __atomic_add_fetch(&polls, 1, __ATOMIC_RELAXED);

	if (n == cancel_poll)
		__atomic_store_n(&test_state(env)->cancel, true, __ATOMIC_RELAXED);
	return __atomic_load_n(&test_state(env)->cancel, __ATOMIC_RELAXED) || (harmless_every > 0 && n % harmless_every == 0);
}

typedef struct task
{
	double		sum[PIECES];
	bool		alone[PIECES];	/* done on the host's device */
	gp_device  *host;
	int			hungry;			/* the piece that wants more than there is; -1: none */
	int			wrong;			/* the piece that raises; -1: none */
} task;

/* A product, for which matrices are made and freed. */
static void
piece(void *job, gp_device *dev, int worker, int64_t number)
{
	task	   *t = job;
	gp_matrix	a = dev->create(dev, 64, 64, GP_DOUBLE);
	gp_matrix	b = dev->create(dev, 64, 64, GP_DOUBLE);
	double		corner;

	usleep(200);
	dev->fill(dev, a, (double) number);
	for (int k = 0; k < 20; k++)
	{
		dev->gemm(dev, false, false, 1.0, a, a, 0.0, b);
		dev->env->check_interrupts(dev->env);
	}
	if (number == t->hungry)
		gp_free(dev->env, gp_alloc(dev->env, 2 * ROOM));
	if (number == t->wrong)
		gp_raise(dev->env, GP_ERR_DATA, NULL, "piece %d is wrong", (int) number);
	dev->download(dev, gp_matrix_wrap(&corner, 1, 1, GP_DOUBLE), gp_matrix_part(b, 0, 0, 1, 1));
	t->sum[number] = corner;
	t->alone[number] = dev == t->host;
	gp_destroy_all(dev, &a, &b);
}

/* Runs all pieces; tells whether each is right. */
static bool
run(gp_env *env, int threads, task *t)
{
	gp_crew    *crew = gp_crew_open(env, threads, ROOM);
	bool		right = true;

	t->host = gp_device_cpu(env, 1);
	gp_crew_run(crew, piece, t, PIECES, t->host);
	for (int k = 0; k < PIECES; k++)
		right = right && t->sum[k] == 64.0 * k * k;
	gp_crew_close(crew);
	t->host->close(t->host);
	return right;
}

/* Pieces that go well, and one that does not fit. */
static void
check_pieces(gp_env *env)
{
	task		t = {.hungry = -1, .wrong = -1};
	int			alone = 0;

	ok(run(env, 1, &t), "every piece is done by one thread");
	ok(run(env, 3, &t), "and by several");
	for (int k = 0; k < PIECES; k++)
		alone += t.alone[k];
	is_int(alone, 0, "by threads with memory of their own");
	t = (task) {.hungry = 17, .wrong = -1};
	ok(run(env, 3, &t) && t.alone[17] && !t.alone[16], "what does not fit is done in the host's memory");
	is_int(test_state(env)->live, 0, "nothing is left");
}

/* Errors, and interrupts. */
static void
check_ends(gp_env *env)
{
	task		t = {.hungry = -1, .wrong = 11};

	expect_error(env, GP_ERR_DATA, run(env, 3, &t));
	ok(strcmp(test_state(env)->message, "piece 11 is wrong") == 0, "an error of a piece is raised as it is");
	test_env_reset(env);
	env->interrupt_pending = counted_pending;
	t = (task) {.hungry = -1, .wrong = -1};
	polls = 0;
	cancel_poll = 300;
	ok(test_catch(env, run(env, 3, &t)) && test_state(env)->code == TEST_CANCELLED, "a cancel ends the run");
	test_env_reset(env);
	env->interrupt_pending = counted_pending;
	polls = 0;
	cancel_poll = 0;
	harmless_every = 97;
	ok(run(env, 3, &t), "pieces that an interrupt ended are done again");
	harmless_every = 0;
}

/* A limit leaves room for few threads, or none. */
static void
check_limit(gp_env *env)
{
	env->limit = env->used + 5 * ROOM;
	gp_crew    *crew = gp_crew_open(env, 8, ROOM);
	is_int(gp_crew_size(crew), 2, "half of the memory that is left decides how many threads there are");
	gp_crew_close(crew);
	env->limit = env->used + 3 * ROOM;
	crew = gp_crew_open(env, 8, ROOM);
	is_int(gp_crew_size(crew), 1, "one has memory that was allocated before, too");
	gp_crew_close(crew);
	env->limit = env->used + ROOM;
	ok(gp_crew_open(env, 8, ROOM) == NULL, "where there is too little there are none");
}

/* Blocks of a thread's memory do not overlap, and come together again. */
static void
use_memory(void *job, gp_device *dev, int worker, int64_t number)
{
	bool	   *right = job;
	gp_env	   *env = dev->env;
	char	   *a = gp_alloc(env, 100000);
	char	   *b = gp_alloc(env, 100000);
	char	   *c = gp_alloc(env, 100000);

	right[0] = b >= a + 100000 && c >= b + 100000;
	gp_free_all(env, a, b);
	a = gp_alloc(env, 200000);
	right[1] = a + 200000 <= c;
	gp_free(env, a);
	gp_free(env, c);
	gp_free(env, gp_alloc(env, 500000));
	right[2] = true;
}

static void
check_memory(gp_env *env)
{
	gp_crew    *crew = gp_crew_open(env, 1, ROOM);
	bool		right[3] = {false};

	gp_crew_run(crew, use_memory, right, 1, NULL);
	ok(right[0], "blocks lie side by side");
	ok(right[1] && right[2], "free neighbours are one block");
	gp_crew_close(crew);
}

int
main(void)
{
	in_env(check_pieces(env));
	in_env(check_ends(env));
	in_env(check_limit(env));
	in_env(check_memory(env));
	return done_testing();
}
