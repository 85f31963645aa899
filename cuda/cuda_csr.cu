/*
 * cuda_csr.cu - sparse matrices on the card.
 *
 * A matrix with a stamp is kept for the operations to come, as far as the
 * device's room goes; the one that was used longest ago makes way first.
 *
 * A view of some rows (its start moved on) has the stamp of the whole, and is
 * served by the whole where that is kept.
 *
 * Rows longer than GP_CUDA_SEGMENT entries are cut, so that a hub of a million
 * neighbours is the work of many warps; the parts of a row are added in order.
 */
#include <string.h>

#include "gp_cuda.h"

/* Frees a copy. */
static void
drop_csr(gp_cuda *c, gp_cuda_csr *s)
{
	if (s->whole == NULL)
	{
		gp_cuda_scratch_free(c, s->start);
		gp_cuda_scratch_free(c, s->col);
		gp_cuda_scratch_free(c, s->value);
		gp_cuda_scratch_free(c, s->segment_first);
		gp_cuda_scratch_free(c, s->segment_length);
		gp_cuda_scratch_free(c, s->long_row);
		gp_cuda_scratch_free(c, s->long_start);
		gp_free(c->env, s->host_row);
		gp_free(c->env, s->host_start);
	}
	gp_free(c->env, s);
}

/* The entries of a matrix, or of a view. */
static int64_t
own_entries(const gp_csr *s)
{
	return s->start[s->rows] - s->start[0];
}

/* The bytes that a copy takes, segments of long rows left aside. */
static size_t
csr_bytes(const gp_csr *s)
{
	size_t		entry = sizeof(int32_t) + (s->value ? gp_type_size(s->type) : 0);

	return (size_t) (s->rows + 1) * sizeof(int64_t) + (size_t) own_entries(s) * entry;
}

/* The copy that was used longest ago and is not in use now; NULL when there is none. */
static gp_cuda_csr **
oldest_csr(gp_cuda *c)
{
	gp_cuda_csr **oldest = NULL;

	for (gp_cuda_csr **p = &c->csr; *p; p = &(*p)->next)
		if ((*p)->open == 0 && (oldest == NULL || (*p)->used < (*oldest)->used))
			oldest = p;
	return oldest;
}

/* Frees that copy; false when there is none. */
static bool
evict_oldest(gp_cuda *c)
{
	gp_cuda_csr **oldest = oldest_csr(c);
	gp_cuda_csr *s;

	if (oldest == NULL)
		return false;
	s = *oldest;
	*oldest = s->next;
	c->cache_bytes -= s->bytes;
	drop_csr(c, s);
	return true;
}

/* Frees the matrices that are kept and not in use; true when there were any. */
bool
gp_cuda_csr_evict(gp_cuda *c)
{
	bool		any = false;

	while (evict_oldest(c))
		any = true;
	return any;
}

/* The copy that holds all rows of a matrix, or NULL. */
static gp_cuda_csr *
find_csr(gp_cuda *c, const gp_csr *s)
{
	for (gp_cuda_csr *k = c->csr; s->stamp != 0 && k; k = k->next)
		if (k->source.stamp == s->stamp && k->source.col == s->col &&
			k->source.value == s->value && k->cols == s->cols && k->source.start <= s->start &&
			s->start + s->rows <= k->source.start + k->rows)
			return k;
	return NULL;
}

/* The first long row that is not before a row. */
static int64_t
long_from(const gp_cuda_csr *s, int64_t row)
{
	int64_t		k = 0;

	while (k < s->nlong && s->host_row[k] < row)
		k++;
	return k;
}

/* Some rows of a copy. */
static gp_cuda_csr *
view_csr(gp_cuda *c, gp_cuda_csr *whole, const gp_csr *s)
{
	gp_cuda_csr *view = (gp_cuda_csr *) gp_alloc_zero(c->env, 1, sizeof(gp_cuda_csr));
	int64_t		row = s->start - whole->source.start;
	int64_t		first = long_from(whole, row);
	int64_t		end = long_from(whole, row + s->rows);

	*view = *whole;
	view->whole = whole;
	view->kept = false;
	view->open = 0;
	view->rows = s->rows;
	view->entries = own_entries(s);
	view->start += row;
	view->row0 = row;
	view->nlong = end - first;
	if (view->nlong > 0)
	{
		view->segment0 = whole->host_start[first];
		view->nsegments = whole->host_start[end] - view->segment0;
		view->segment_first += view->segment0;
		view->segment_length += view->segment0;
		view->long0 = first;
		view->long_row += first;
		view->long_start += first;
	}
	return view;
}

/* Cuts the long rows into segments. */
static void
cut_rows(gp_cuda *c, const gp_csr *s, gp_cuda_csr *copy)
{
	int64_t    *first;
	int32_t    *length;
	int32_t    *row;
	int64_t    *start;
	int64_t		nlong = 0;
	int64_t		nsegments = 0;

	for (int64_t i = 0; i < s->rows; i++)
	{
		int64_t		entries = s->start[i + 1] - s->start[i];

		if (entries <= GP_CUDA_SEGMENT)
			continue;
		nlong++;
		nsegments += (entries + GP_CUDA_SEGMENT - 1) / GP_CUDA_SEGMENT;
	}
	copy->nlong = nlong;
	copy->nsegments = nsegments;
	if (nlong == 0)
		return;
	first = (int64_t *) gp_alloc_array(c->env, nsegments, sizeof(int64_t));
	length = (int32_t *) gp_alloc_array(c->env, nsegments, sizeof(int32_t));
	row = (int32_t *) gp_alloc_array(c->env, nlong, sizeof(int32_t));
	start = (int64_t *) gp_alloc_array(c->env, nlong + 1, sizeof(int64_t));
	nlong = nsegments = 0;
	for (int64_t i = 0; i < s->rows; i++)
	{
		if (s->start[i + 1] - s->start[i] <= GP_CUDA_SEGMENT)
			continue;
		row[nlong] = (int32_t) i;
		start[nlong++] = nsegments;
		for (int64_t e = s->start[i]; e < s->start[i + 1]; e += GP_CUDA_SEGMENT)
		{
			first[nsegments] = e - s->start[0];
			length[nsegments++] = (int32_t) gp_min64(GP_CUDA_SEGMENT, s->start[i + 1] - e);
		}
	}
	start[nlong] = nsegments;
	copy->segment_first = (int64_t *) gp_cuda_bring(c, first, nsegments, sizeof(int64_t));
	copy->segment_length = (int32_t *) gp_cuda_bring(c, length, nsegments, sizeof(int32_t));
	copy->long_row = (int32_t *) gp_cuda_bring(c, row, nlong, sizeof(int32_t));
	copy->long_start = (int64_t *) gp_cuda_bring(c, start, nlong + 1, sizeof(int64_t));
	copy->host_row = row;
	copy->host_start = start;
	gp_free(c->env, first);
	gp_free(c->env, length);
}

/* The offsets of rows from the first of them, on the card. */
static int64_t *
bring_start(gp_cuda *c, const gp_csr *s)
{
	int64_t    *start;
	int64_t    *card;

	if (s->start[0] == 0)
		return (int64_t *) gp_cuda_bring(c, s->start, s->rows + 1, sizeof(int64_t));
	start = (int64_t *) gp_alloc_array(c->env, s->rows + 1, sizeof(int64_t));
	for (int64_t i = 0; i <= s->rows; i++)
		start[i] = s->start[i] - s->start[0];
	card = (int64_t *) gp_cuda_bring(c, start, s->rows + 1, sizeof(int64_t));
	gp_free(c->env, start);
	return card;
}

/* Makes a copy. */
static gp_cuda_csr *
bring_csr(gp_cuda *c, const gp_csr *s)
{
	gp_cuda_csr *copy = (gp_cuda_csr *) gp_alloc_zero(c->env, 1, sizeof(gp_cuda_csr));

	copy->rows = s->rows;
	copy->cols = s->cols;
	copy->entries = own_entries(s);
	copy->type = s->type;
	copy->source = *s;
	copy->bytes = csr_bytes(s);
	copy->start = bring_start(c, s);
	copy->col = (int32_t *) gp_cuda_bring(c, s->col + s->start[0], copy->entries, sizeof(int32_t));
	if (s->value)
		copy->value = gp_cuda_bring(c, (const char *) s->value +
									(size_t) s->start[0] * gp_type_size(s->type), copy->entries,
									gp_type_size(s->type));
	cut_rows(c, s, copy);
	return copy;
}

/* Brings a matrix, and keeps it where that leaves room. */
static gp_cuda_csr *
keep_csr(gp_cuda *c, const gp_csr *s)
{
	size_t		bytes = csr_bytes(s);
	size_t		most = c->dev.room + c->reserve / 2;
	gp_cuda_csr *copy;

	if (s->stamp != 0)
		while (c->held + c->cache_bytes + bytes > most && evict_oldest(c))
			;
	copy = bring_csr(c, s);
	if (s->stamp != 0 && c->held + c->cache_bytes + bytes <= most)
	{
		copy->kept = true;
		copy->next = c->csr;
		c->csr = copy;
		c->cache_bytes += bytes;
	}
	return copy;
}

/* The matrix on the card: a copy that is kept, some rows of one, or a new one. */
gp_cuda_csr *
gp_cuda_csr_open(gp_cuda *c, const gp_csr *s)
{
	gp_cuda_csr *copy = find_csr(c, s);

	if (copy == NULL)
		copy = keep_csr(c, s);
	copy->used = ++c->clock;
	copy->open++;
	if (copy->source.start == s->start && copy->rows == s->rows)
		return copy;
	return view_csr(c, copy, s);
}

/* Ends the use of a matrix; one that is not kept goes. */
void
gp_cuda_csr_close(gp_cuda *c, gp_cuda_csr *s)
{
	if (s->whole)
		s->whole->open--;
	else
		s->open--;
	if (!s->kept)
		drop_csr(c, s);
}
