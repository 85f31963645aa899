/*
 * sort.c - a merge sort that can be interrupted, and a heap.
 *
 * At most n log2 n comparisons for every order of the items, few more than n when
 * they are sorted already.  Merging moves items of the usual sizes in registers.
 */
#include "sort.h"

#include "hash.h"

typedef struct sorter
{
	gp_env	   *env;
	size_t		size;
	gp_compare	compare;
	void	   *arg;
	char	   *half;			/* room for half of the items */
	char		one[GP_SORT_LARGEST];
	int64_t		work;			/* items moved or compared */
	int64_t		next;			/* work at which interrupts are looked at */
} sorter;

static inline __attribute__((always_inline)) void
insert_items(sorter *s, char *base, int64_t n, size_t size)
{
	for (int64_t i = 1; i < n; i++)
	{
		char	   *at = base + i * size;

		if (s->compare(at - size, at, s->arg) <= 0)
			continue;
		memcpy(s->one, at, size);
		do
		{
			memcpy(at, at - size, size);
			at -= size;
		} while (at > base && s->compare(at - size, s->one, s->arg) > 0);
		memcpy(at, s->one, size);
	}
}

/* Merges two sorted halves; the first one is moved out of the way. */
static inline __attribute__((always_inline)) void
merge_halves(sorter *s, char *base, int64_t left, int64_t n, size_t size)
{
	const char *a = s->half;
	const char *a_end = a + left * size;
	const char *b = base + left * size;
	const char *b_end = base + n * size;
	char	   *to = base;

	memcpy(s->half, base, left * size);
	while (b < b_end)
	{
		bool		second = s->compare(b, a, s->arg) < 0;

		gp_poll(s->env, ++s->work, &s->next);
		memcpy(to, second ? b : a, size);
		b += second ? size : 0;
		a += second ? 0 : size;
		to += size;
		if (a == a_end)
			return;				/* the others stand where they belong */
	}
	memcpy(to, a, a_end - a);
}

/* Sorts a few items, or merges sorted halves that are not in order; size is a constant mostly. */
static inline __attribute__((always_inline)) void
sort_once(sorter *s, char *base, int64_t left, int64_t n, size_t size)
{
	if (left == 0)
		insert_items(s, base, n, size);
	else if (s->compare(base + (left - 1) * size, base + left * size, s->arg) > 0)
		merge_halves(s, base, left, n, size);
}

/* The same, with the usual sizes as constants. */
static void
sort_known(sorter *s, char *base, int64_t left, int64_t n)
{
	switch (s->size)
	{
		case 4:
			sort_once(s, base, left, n, 4);
			break;
		case 8:
			sort_once(s, base, left, n, 8);
			break;
		case 16:
			sort_once(s, base, left, n, 16);
			break;
		case 24:
			sort_once(s, base, left, n, 24);
			break;
		default:
			sort_once(s, base, left, n, s->size);
	}
}

/* Halves the items down to a few, and merges them again. */
static void
sort_items(sorter *s, char *base, int64_t n)
{
	int64_t		left = n > GP_SORT_FEW ? n / 2 : 0;

	gp_poll(s->env, s->work += GP_SORT_FEW, &s->next);
	if (left > 0)
	{
		sort_items(s, base, left);
		sort_items(s, base + left * s->size, n - left);
	}
	sort_known(s, base, left, n);
}

void
gp_sort(gp_env *env, void *base, int64_t n, size_t size, gp_compare compare, void *arg)
{
	sorter		s = {.env = env, .size = size, .compare = compare, .arg = arg};

	assert(size <= GP_SORT_LARGEST);
	if (n <= GP_SORT_FEW)
	{
		sort_known(&s, base, 0, n);
		return;
	}
	s.half = gp_alloc_array(env, n / 2, size);
	sort_items(&s, base, n);
	gp_free(env, s.half);
}

static inline char *
item_at(const gp_heap *h, int64_t at)
{
	return (char *) h->item + at * h->size;
}

/* Puts an item on top of a heap of n and lets it sink. */
static void
sink(gp_heap *h, int64_t n, const char *own)
{
	int64_t		at = 0;

	for (int64_t child; (child = 2 * at + 1) < n; at = child)
	{
		if (child + 1 < n && h->compare(item_at(h, child + 1), item_at(h, child), NULL) > 0)
			child++;
		if (h->compare(item_at(h, child), own, NULL) <= 0)
			break;
		memcpy(item_at(h, at), item_at(h, child), h->size);
	}
	memcpy(item_at(h, at), own, h->size);
}

void
gp_heap_offer(gp_heap *h, const void *item)
{
	gp_poll(h->env, ++h->work, &h->next);
	if (h->n < h->room)
	{
		memmove(item_at(h, h->n), item, h->size);
		/* Lets the last of n items rise */
		int64_t at = h->n++;
		char		own[GP_SORT_LARGEST];

		memcpy(own, item_at(h, at), h->size);
		for (int64_t above; at > 0; at = above)
		{
			above = (at - 1) / 2;
			if (h->compare(own, item_at(h, above), NULL) <= 0)
				break;
			memcpy(item_at(h, at), item_at(h, above), h->size);
		}
		memcpy(item_at(h, at), own, h->size);
	}
	else if (h->room > 0 && h->compare(item, h->item, NULL) < 0)
		sink(h, h->n, item);
}

void
gp_heap_sort(gp_heap *h)
{
	char		own[GP_SORT_LARGEST];

	for (int64_t end = h->n - 1; end > 0; end--)
	{
		gp_poll(h->env, ++h->work, &h->next);
		memcpy(own, item_at(h, end), h->size);
		memcpy(item_at(h, end), h->item, h->size);
		sink(h, end, own);
	}
}

/* A function that compares items by the number of a type that they begin with. */
#define COMPARE(name, type) \
int \
name(const void *a, const void *b, void *unused) \
{ \
	type		x = *(const type *) a; \
	type		y = *(const type *) b; \
\
	return (x > y) - (x < y); \
}

COMPARE(gp_compare_int32, int32_t)
COMPARE(gp_compare_int64, int64_t)
COMPARE(gp_compare_double, double)

int
gp_compare_scored(const void *a, const void *b, void *unused)
{
	const gp_scored *x = a;
	const gp_scored *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

int
gp_compare_drawn(const void *a, const void *b, void *unused)
{
	const gp_drawn *x = a;
	const gp_drawn *y = b;

	if (x->draw != y->draw)
		return x->draw < y->draw ? -1 : 1;
	return gp_hash((uint64_t) x->node) < gp_hash((uint64_t) y->node) ? -1 : 1;
}
