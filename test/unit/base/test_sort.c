/*
 * test_sort.c - the sort, the heap and the hash tables over what users choose: order,
 * work for the worst input, interrupts by work done, memory.
 */
#include "base/hash_table.h"
#include "base/sort.h"
#include "graph/graph.h"
#include "test_env.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An item of any size: a key, and its place at first. */
typedef struct item
{
	unsigned char key;
	unsigned char place[2];
} item;

static int64_t compared;

/* Orders items by key. */
static int
compare_items(const void *a, const void *b, void *arg)
{
	(*(int64_t *) arg)++;
	return (int) ((const item *) a)->key - (int) ((const item *) b)->key;
}

/* Orders numbers. */
static int
compare_numbers(const void *a, const void *b, void *unused)
{
	int64_t		x = *(const int64_t *) a;
	int64_t		y = *(const int64_t *) b;

	compared++;
	return (x > y) - (x < y);
}

/* A simple stream of numbers. */
static uint64_t
draw(uint64_t *state)
{
	return gp_hash((*state)++);
}

/* True when n items of a size, some of equal keys, come out sorted and in the order of before. */
static bool
sorts(gp_env *env, int64_t n, size_t size, int keys)
{
	unsigned char *base = gp_alloc_array(env, n, size);
	uint64_t	state = (uint64_t) n;
	bool		right = true;

	for (int64_t i = 0; i < n; i++)
	{
		item	   *at = (item *) (base + i * size);

		memset(at, (int) (i % 251), size);
		at->key = (unsigned char) (draw(&state) % (unsigned) keys);
		at->place[0] = (unsigned char) (i >> 8);
		at->place[1] = (unsigned char) i;
	}
	gp_sort(env, base, n, size, compare_items, &compared);
	for (int64_t i = 1; i < n; i++)
	{
		item	   *a = (item *) (base + (i - 1) * size);
		item	   *b = (item *) (base + i * size);
		int			pa = a->place[0] << 8 | a->place[1];
		int			pb = b->place[0] << 8 | b->place[1];

		right = right && (a->key < b->key || (a->key == b->key && pa < pb)) &&
			(size < 4 || base[i * size + size - 1] == pb % 251);
	}
	gp_free(env, base);
	return right;
}

/* All sizes, all small numbers of items, some large ones. */
static void
check_order(gp_env *env)
{
	bool		right = true;

	for (size_t size = sizeof(item); size <= GP_SORT_LARGEST; size++)
		for (int64_t n = 0; n <= 70; n++)
			right = right && sorts(env, n, size, 7);
	ok(right, "items of all sizes are sorted, equal ones in their order");
	ok(sorts(env, 60000, 4, 255) && sorts(env, 60000, 24, 3) && sorts(env, 60000, 40, 1),
	   "many of them, too");
}

/* The core stops where an assertion does not hold; that of make check has none. */
static void
check_assertion(gp_env *env)
{
#ifdef NDEBUG
	ok(true, "an assertion that does not hold stops the program # SKIP no assertions");
#else
	int			status = 0;
	pid_t		child = fork();

	if (child == 0)
	{
		fclose(stderr);
		sorts(env, 9, GP_SORT_LARGEST + 1, 2);
		_exit(0);
	}
	ok(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
	   WTERMSIG(status) == SIGABRT, "an assertion that does not hold stops the program");
#endif
}

/*
 * An adversary that decides the order as it is asked (McIlroy 1999): items are
 * equal and large until two of them are compared, then one of them is the least
 * of the large.  Any quicksort needs some n^2 comparisons for it.
 */
typedef struct adversary
{
	int64_t		solid;			/* items that are decided */
	int64_t		candidate;		/* the item that seems to be a pivot */
	int64_t		open;			/* the value of an item that is not decided */
	int64_t    *value;
} adversary;

/* Answers so as to do the most harm. */
static int
compare_harmfully(const void *a, const void *b, void *arg)
{
	adversary  *foe = arg;
	int64_t		x = *(const int64_t *) a;
	int64_t		y = *(const int64_t *) b;

	compared++;
	if (foe->value[x] == foe->open && foe->value[y] == foe->open)
		foe->value[x == foe->candidate ? x : y] = foe->solid++;
	if (foe->value[x] == foe->open)
		foe->candidate = x;
	else if (foe->value[y] == foe->open)
		foe->candidate = y;
	return (foe->value[x] > foe->value[y]) - (foe->value[x] < foe->value[y]);
}

/* Comparisons that an adversary wrings from the sort. */
static int64_t
worst_case(gp_env *env, int64_t n)
{
	int64_t    *number = gp_alloc_array(env, n, sizeof(int64_t));
	adversary	foe = {.open = n, .value = gp_alloc_array(env, n, sizeof(int64_t))};

	for (int64_t i = 0; i < n; i++)
	{
		number[i] = i;
		foe.value[i] = n;
	}
	compared = 0;
	gp_sort(env, number, n, sizeof(int64_t), compare_harmfully, &foe);
	gp_free_all(env, foe.value, number);
	return compared;
}

/* Comparisons stay below n log2 n; sorted input costs little more than a look. */
static void
check_work(gp_env *env)
{
	int64_t		n = 1 << 17;
	int64_t    *number = gp_alloc_array(env, n, sizeof(int64_t));

	for (int64_t i = 0; i < n; i++)
		number[i] = i;
	compared = 0;
	gp_sort(env, number, n, sizeof(int64_t), compare_numbers, NULL);
	ok(compared <= 2 * n, "sorted input is looked through");
	for (int64_t i = 0; i < n; i++)
		number[i] = n - i;
	compared = 0;
	gp_sort(env, number, n, sizeof(int64_t), compare_numbers, NULL);
	ok(compared <= 18 * n, "input in reverse takes n log n comparisons");
	ok(worst_case(env, n) <= 18 * n, "so does an adversary's");
	gp_free(env, number);
}

/* Interrupts are served on the way, and memory is counted and given back. */
static void
check_interrupts(gp_env *env)
{
	int64_t		n = 1 << 19;
	int64_t    *number = gp_alloc_array(env, n, sizeof(int64_t));
	uint64_t	state = 1;
	size_t		used = env->used;
	test_host  *host = test_state(env);

	for (int64_t i = 0; i < n; i++)
		number[i] = (int64_t) draw(&state);
	host->checks = 0;
	compared = 0;
	env->peak = env->used;
	gp_sort(env, number, n, sizeof(int64_t), compare_numbers, NULL);
	ok(host->checks >= compared / GP_POLL_EVERY / 2, "interrupts are looked at as comparisons are made");
	ok(env->used == used && env->peak - used <= gp_alloc_size((size_t) n / 2 * sizeof(int64_t)),
	   "half of the items are copied, no more");
	for (int64_t i = 0; i < n; i++)
		number[i] = (int64_t) draw(&state);
	host->cancel_at = host->checks + 20;
	expect_error(env, TEST_CANCELLED, gp_sort(env, number, n, sizeof(int64_t), compare_numbers, NULL));
	host->cancel_at = 0;
	env->limit = env->used + 1000;
	expect_error(env, GP_ERR_LIMIT, gp_sort(env, number, n, sizeof(int64_t), compare_numbers, NULL));
	env->limit = 0;
}

/* Fills a table with keys; the places that were taken. */
static int64_t
fill_table(gp_env *env, uint64_t places, const uint64_t *key, int64_t n)
{
	uint64_t   *table = gp_alloc_zero(env, (int64_t) places, sizeof(uint64_t));
	gp_places	p = gp_places_open(env, places);

	for (int64_t i = 0; i < n; i++)
	{
		uint64_t	at = gp_first_place(&p, key[i]);

		while (table[at])
			at = gp_next_place(&p, at);
		table[at] = key[i];
	}
	gp_free(env, table);
	return p.taken;
}

/* Keys of one place under one seed look at interrupts by places, and are ordinary keys under another. */
static void
check_places(gp_env *env)
{
	int64_t		n = 2000;
	uint64_t   *key = gp_alloc_array(env, n, sizeof(uint64_t));
	test_host  *host = test_state(env);
	gp_places	p = gp_places_open(env, 4096);
	int64_t		checks;

	for (int64_t i = 0, k = 1; i < n; k++)
		if (gp_first_place(&p, (uint64_t) k) == 0)
			key[i++] = (uint64_t) k;
	checks = host->checks;
	int64_t		taken = fill_table(env, 4096, key, n);
	is_int(taken, n * (n - 1) / 2, "keys of one place stand in a row");
	ok(host->checks - checks >= taken / GP_POLL_EVERY, "which is walked with looks at interrupts");
	host->cancel_at = host->checks + 3;
	expect_error(env, TEST_CANCELLED, fill_table(env, 4096, key, n));
	host->cancel_at = 0;
	env->hash_seed = UINT64_C(0x6f70656e20736573);
	ok(fill_table(env, 4096, key, n) < 4 * n, "another seed spreads them");
	for (int64_t i = 0; i < n; i++)
		key[i] = (uint64_t) (i + 1) << 40;
	ok(fill_table(env, 4096, key, n) < 4 * n, "and keys that differ in high bits");
	env->hash_seed = 0;
}

#define COLUMNS (1 << 20)
#define TOUCHED 4000

/* One row of columns whose first places in a table of 8192 lie close together under the seed. */
static gp_csr *
colliding_row(gp_env *env)
{
	gp_csr	   *b = gp_alloc_zero(env, 1, sizeof(gp_csr));
	gp_places	p = gp_places_open(env, 8192);

	b->rows = 1;
	b->cols = COLUMNS;
	b->type = GP_DOUBLE;
	b->stamp = gp_csr_stamp();
	b->start = gp_alloc_zero(env, 2, sizeof(int64_t));
	b->col = gp_alloc_array(env, TOUCHED, sizeof(int32_t));
	b->value = gp_alloc_array(env, TOUCHED, sizeof(double));
	for (int32_t j = 0; j < COLUMNS && b->start[1] < TOUCHED; j++)
		if (gp_first_place(&p, (uint64_t) j) < 40)
		{
			((double *) b->value)[b->start[1]] = j;
			b->col[b->start[1]++] = j;
		}
	return b;
}

/* A product whose columns meet in one place of its table can be cancelled, and no seed changes it. */
static void
check_product(gp_env *env)
{
	gp_csr	   *b = colliding_row(env);
	gp_csr	   *a = gp_alloc_zero(env, 1, sizeof(gp_csr));
	test_host  *host = test_state(env);
	int64_t		checks;

	*a = *b;
	a->cols = 1;
	a->start = gp_alloc_zero(env, 2, sizeof(int64_t));
	a->start[1] = 1;
	a->col = gp_alloc_zero(env, 1, sizeof(int32_t));
	a->value = gp_alloc_array(env, 1, sizeof(double));
	*(double *) a->value = 1.0;
	is_int(b->start[1], TOUCHED, "there are columns that collide");
	checks = host->checks;
	gp_csr	   *c = gp_csr_product(env, a, b);
	ok(host->checks - checks > 100, "a product looks at interrupts as its columns collide");
	env->hash_seed = 12345;
	checks = host->checks;
	gp_csr	   *d = gp_csr_product(env, a, b);
	ok(host->checks - checks < 20, "under another seed they do not");
	ok(c->start[1] == TOUCHED && d->start[1] == TOUCHED &&
	   memcmp(c->col, d->col, TOUCHED * sizeof(int32_t)) == 0 &&
	   memcmp(c->value, d->value, TOUCHED * sizeof(double)) == 0, "the product is the same");
	env->hash_seed = 0;
}

/* A heap keeps the first of many, whose order it is not told in, and looks at interrupts. */
static void
check_heap(gp_env *env)
{
	static const int64_t rooms[] = {0, 1, 2, 100, 200000};
	int64_t		n = 200000;
	int64_t    *number = gp_alloc_array(env, n, sizeof(int64_t));
	int			checks = test_state(env)->checks;

	for (int r = 0; r < 5; r++)
	{
		gp_heap		heap = {.env = env, .item = number, .room = rooms[r], .size = sizeof(int64_t),
		.compare = compare_numbers};
		bool		right = true;

		for (int64_t i = 0; i < n; i++)
			number[i] = i * 7919 % n;
		for (int64_t i = 0; i < n; i++)
			gp_heap_offer(&heap, &number[i]);
		gp_heap_sort(&heap);
		for (int64_t i = 0; i < rooms[r]; i++)
			right = right && number[i] == i;
		ok(right && heap.n == rooms[r], "the first of many are in order");
	}
	ok(test_state(env)->checks - checks >= 10, "a heap looks at interrupts");
	gp_free(env, number);
}

/* A set finds what it was given, whatever it has grown to. */
static void
check_set(gp_env *env)
{
	gp_set		set = gp_set_open(env, 0);
	bool		right = true;

	for (uint64_t key = 1; key <= 5000; key++)
		right = right && !gp_set_has(&set, key << 32) && gp_set_add(&set, key << 32);
	for (uint64_t key = 1; key <= 5000; key++)
		right = right && gp_set_has(&set, key << 32) && !gp_set_add(&set, key << 32);
	ok(right && set.n == 5000, "a set grows and keeps what it has");
	is_int((int64_t) set.places.mask + 1, 16384, "and is at most half full");
	gp_set_close(&set);
}

/* Environments that share an account are held to one limit together. */
static void
check_account(gp_env *env)
{
	gp_env	   *other = test_env();
	size_t		account = 0;

	env->account = other->account = &account;
	env->used = other->used = 0;
	env->limit = other->limit = 1 << 20;
	void	   *p = gp_alloc(env, 600000);
	size_t		own = env->used;
	is_int((int64_t) account, (int64_t) own, "what one holds is in the account");
	is_int((int64_t) gp_limit(other), (1 << 20) - (int64_t) own, "and is missing in the other's limit");
	is_int((int64_t) gp_limit(env), 1 << 20, "not in its own");
	expect_error(other, GP_ERR_LIMIT, gp_alloc(other, 600000));
	ok(strstr(test_state(other)->message, "0.6 MB are held and 0.6 MB more are needed, but gnngp.memory_limit allows 1.0 MB") != NULL,
	   test_state(other)->message);
	gp_free(env, p);
	ok(account == 0 && gp_alloc(other, 600000) != NULL, "until it is given back");
	is_int((int64_t) other->peak, 600080, "the high-water mark is one's own");
	env->account = other->account = NULL;
	test_env_close(other);
}

int
main(void)
{
	in_env(check_order(env));
	in_env(check_assertion(env));
	in_env(check_work(env));
	in_env(check_interrupts(env));
	in_env(check_places(env));
	in_env(check_heap(env));
	in_env(check_set(env));
	in_env(check_product(env));
	in_env(check_account(env));
	return done_testing();
}
