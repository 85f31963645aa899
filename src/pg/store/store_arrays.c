/*
 * store_arrays.c - sections of a model that are lists of arrays, the ids of nodes last.
 *
 * A block is
 *
 *   header    mark, format, length, checksum as in every block, then
 *             block uint32      the number of this block, from 0
 *             blocks uint32     how many the section has
 *             tag uint32        which array
 *             element uint32    the type of its elements
 *             count uint64      elements of the whole array
 *             first uint64      the first element that is here
 *   elements  little-endian, to the end of the block
 *
 * Whoever asks needs the arrays whole, so reading is copying: the toaster gives
 * a block, the checksum runs over it while it is in the cache, and it lands in
 * its place.  Blocks of 60 kB to 4 MB read equally fast; larger rows than a page
 * keep the number of rows small that row-level security looks at.
 */
#include "postgres.h"

#include "store_arrays.h"
#include "store_blocks.h"

#define ARRAY_MAGIC 0x4c504e42	/* BNPL */
#define ARRAY_FORMAT 1
#define ARRAY_TARGET (256 * 1024)	/* bytes of elements in a block */

#define AT_BLOCK AT_CONTENT		/* uint32 */
#define AT_BLOCKS (AT_CONTENT + 4)	/* uint32 */
#define AT_TAG (AT_CONTENT + 8) /* uint32 */
#define AT_ELEMENT (AT_CONTENT + 12)	/* uint32 */
#define AT_COUNT (AT_CONTENT + 16)	/* uint64 */
#define AT_FIRST (AT_CONTENT + 24)	/* uint64 */
#define ARRAY_HEADER (AT_CONTENT + 32)

/* The arrays of the ids. */
#define TAG_KEYS 1001			/* int64 */
#define TAG_TEXTS 1002			/* bytes: each text, and a zero behind it */

typedef struct array_reader
{
	gp_env	   *env;
	const gnngp_model *model;
	const char *section;
	gnngp_arrays *arrays;
	MemoryContext context;		/* of the list */
	int64		filled;			/* elements of the last array that are there */
	uint32		block;
	uint32		blocks;
} array_reader;

/* True for a section that belongs to the links' version. */
static bool
is_of_links(const char *section)
{
	return strncmp(section, "link", 4) == 0;
}

static int64
version_of(const gnngp_model *model, const char *section)
{
	return is_of_links(section) ? model->link.version : model->version;
}

/* XX001, naming the section; the text has one %s for it. */
pg_noreturn static void
corrupted(const gnngp_model *model, const char *section, const char *what)
{
	gnngp_store_corrupted(model, psprintf(what, (strstr(section, "figure") ? "figures"
												 : strcmp(section, "link_loo") == 0 ? "held-out pairs"
												 : strcmp(section, "facts") == 0 ? "facts"
												 : is_of_links(section) ? "link part"
												 : "live state")));
}

void
gnngp_arrays_damaged(const gnngp_model *model, const char *section)
{
	corrupted(model, section, "the arrays of its %s do not fit together");
}

/* The bytes of an element; 0 for a type that is unknown. */
static size_t
element_size(uint32 element)
{
	if (element == GNNGP_ELEMENT_BYTE)
		return 1;
	return element <= GP_ARRAY_U64 ? gp_link_element_size((gp_link_element) element) : 0;
}

static int64
block_elements(const gp_link_array *array)
{
	return ARRAY_TARGET / (int64) element_size(array->element);
}

/* The blocks of an array; one without elements has one, which says so. */
static int64
count_blocks(const gp_link_array *array)
{
	return Max(1, (array->count + block_elements(array) - 1) / block_elements(array));
}

void
gnngp_arrays_add(gnngp_arrays *list, int32 tag, int element, int64 count, const void *data)
{
	if (list->n == list->room)
	{
		list->room = Max(2 * list->room, 16);
		list->array = list->array ? repalloc(list->array, sizeof(gp_link_array) * list->room) :
			palloc(sizeof(gp_link_array) * list->room);
	}
	list->array[list->n++] = (gp_link_array) {
		.tag = tag,.element = (gp_link_element) element,.count = count,
		.data = unconstify(void *, data)
	};
}

/* Adds ids: keys, and the texts in one string. */
static void
add_ids(gnngp_arrays *list, const gnngp_ids *ids)
{
	int64		length = 0;
	char	   *texts;
	char	   *at;

	gnngp_arrays_add(list, TAG_KEYS, GP_ARRAY_I64, ids->n, ids->key);
	if (ids->integer)
		return;
	for (int64 i = 0; i < ids->n; i++)
		length += (int64) strlen(ids->text[i]) + 1;
	at = texts = MemoryContextAllocHuge(CurrentMemoryContext, Max(length, 1));
	for (int64 i = 0; i < ids->n; i++)
		at = stpcpy(at, ids->text[i]) + 1;
	gnngp_arrays_add(list, TAG_TEXTS, GNNGP_ELEMENT_BYTE, length, texts);
}

void
gnngp_arrays_write(const gnngp_model *model, const char *section, gnngp_arrays *list,
				   const gnngp_ids *ids)
{
	int32		blocks = 0;
	gnngp_block_key place = {model->id, version_of(model, section), section, 0, NULL};

	gnngp_spi_connect();
	if (ids)
		add_ids(list, ids);
	for (int i = 0; i < list->n; i++)
		blocks += (int32) count_blocks(&list->array[i]);
	char	   *buffer = palloc(VARHDRSZ + ARRAY_HEADER + ARRAY_TARGET);
	char	   *block = VARDATA(buffer);
	for (int i = 0; i < list->n; i++)
	{
		const gp_link_array *array = &list->array[i];
		size_t		size = element_size(array->element);

		for (int64 k = 0; k < count_blocks(array); k++, place.block++)
		{
			int64		first = k * block_elements(array);
			int64		n = Min(array->count - first, block_elements(array));

			CHECK_FOR_INTERRUPTS();
			memcpy(block + ARRAY_HEADER, (char *) array->data + first * size, n * size);
			gnngp_turn_numbers(block + ARRAY_HEADER, n * size, size);
			gnngp_put32(block + AT_BLOCK, (uint32) place.block);
			gnngp_put32(block + AT_BLOCKS, (uint32) blocks);
			gnngp_put32(block + AT_TAG, (uint32) array->tag);
			gnngp_put32(block + AT_ELEMENT, array->element);
			gnngp_put64(block + AT_COUNT, (uint64) array->count);
			gnngp_put64(block + AT_FIRST, (uint64) first);
			gnngp_store_insert(place, ARRAY_MAGIC, ARRAY_FORMAT, buffer, ARRAY_HEADER + n * size,
							   (int32) n);
		}
	}
	gnngp_spi_finish();
}

void
gnngp_arrays_save(const gnngp_model *model, const char *section, int n, const int *element,
				  const int64 *count, const void *const *data, const gnngp_ids *ids)
{
	gnngp_arrays list = {0};

	for (int k = 0; k < n; k++)
		if (count[k] > 0 && data[k])
			gnngp_arrays_add(&list, k, element[k], count[k], data[k]);
	gnngp_arrays_write(model, section, &list, ids);
}

/* The array that was begun last; NULL before the first. */
static gp_link_array *
last_array(const gnngp_arrays *list)
{
	return list->n > 0 ? &list->array[list->n - 1] : NULL;
}

/* Starts an array: the one before it must be whole. */
static gp_link_array *
begin_array(array_reader *r, const char *block)
{
	gp_link_array *last = last_array(r->arrays);
	uint64		count = gnngp_get64(block + AT_COUNT);
	uint32		element = gnngp_get32(block + AT_ELEMENT);

	if (count > PG_INT64_MAX || element_size(element) == 0 ||
		(last != NULL && r->filled != last->count))
		corrupted(r->model, r->section, "an array of its %s is not whole");
	void	   *data = gp_alloc_array(r->env, Max((int64) count, 1), element_size(element));
	gp_use_large_pages(data, count * element_size(element));	/* a graph's rows are read in no
																 * order */
	MemoryContext old = MemoryContextSwitchTo(r->context);
	gnngp_arrays_add(r->arrays, (int32) gnngp_get32(block + AT_TAG), (int) element, (int64) count,
					 data);
	MemoryContextSwitchTo(old);
	r->filled = 0;
	return last_array(r->arrays);
}

/* Validates one block and copies its elements to their place. */
static void
block_row(void *state, const Datum *values, const bool *nulls)
{
	array_reader *r = state;
	struct varlena *data = PG_DETOAST_DATUM(values[0]);
	const char *block = VARDATA(data);
	size_t		length = VARSIZE(data) - VARHDRSZ;

	CHECK_FOR_INTERRUPTS();
	gnngp_store_check_block(r->model, ARRAY_MAGIC, ARRAY_FORMAT, ARRAY_HEADER, block, length);
	if (gnngp_get32(block + AT_BLOCK) != r->block ||
		(r->block > 0 && gnngp_get32(block + AT_BLOCKS) != r->blocks))
		corrupted(r->model, r->section, "some blocks of its %s are missing");
	r->blocks = gnngp_get32(block + AT_BLOCKS);
	r->block++;
	length -= ARRAY_HEADER;
	uint64		first = gnngp_get64(block + AT_FIRST);
	gp_link_array *array = first == 0 ? begin_array(r, block) : last_array(r->arrays);
	if (array == NULL || first != (uint64) r->filled ||
		array->tag != (int32) gnngp_get32(block + AT_TAG) ||
		array->element != (gp_link_element) gnngp_get32(block + AT_ELEMENT) ||
		array->count != (int64) gnngp_get64(block + AT_COUNT))
		corrupted(r->model, r->section, "the blocks of its %s do not fit together");
	size_t		size = element_size(array->element);
	uint64		n = length / size;
	if (length % size != 0 || (n == 0 && array->count > 0) ||
		n > (uint64) (array->count - r->filled))
		corrupted(r->model, r->section,
				  "a block of its %s has a wrong number of elements");
	memcpy((char *) array->data + first * size, block + ARRAY_HEADER, length);
	gnngp_turn_numbers((char *) array->data + first * size, length, size);
	r->filled += (int64) n;
}

/* Takes the last array off the list when it is this one; NULL when not. */
static void *
pop_array(gnngp_arrays *list, int32 tag, int element, int64 *count)
{
	gp_link_array *last = last_array(list);

	if (last == NULL || last->tag != tag || (int) last->element != element)
		return NULL;
	list->n--;
	*count = last->count;
	return last->data;
}

/* Takes the ids off the end of the list: XX001 unless they are there, whole and in order. */
static void
pop_ids(const array_reader *r, gnngp_ids *ids)
{
	const gnngp_model *model = r->model;
	bool		integer = is_of_links(r->section) ? model->link.integer_ids : model->integer_ids;
	int64		length = 0;
	char	   *text = integer ? NULL :
		pop_array(r->arrays, TAG_TEXTS, GNNGP_ELEMENT_BYTE, &length);

	*ids = (gnngp_ids) {.integer = integer};
	ids->key = pop_array(r->arrays, TAG_KEYS, GP_ARRAY_I64, &ids->n);
	if (ids->key == NULL || (!integer && text == NULL))
		corrupted(model, r->section, "the ids of its %s are missing");
	if (!integer)
		ids->text = gp_alloc_array(r->env, Max(ids->n, 1), sizeof(char *));
	for (int64 i = 0; i < ids->n; i++)
	{
		char	   *end = integer ? NULL : memchr(text, '\0', length);

		if ((i > 0 && ids->key[i - 1] > ids->key[i]) || (!integer && end == NULL))
			corrupted(model, r->section, "the ids of its %s are out of order");
		if (integer)
			continue;
		ids->text[i] = text;
		length -= end + 1 - text;
		text = end + 1;
	}
}

bool
gnngp_arrays_read(gp_env *env, const gnngp_model *model, const char *section, gnngp_arrays *list,
				  gnngp_ids *ids)
{
	MemoryContext context = CurrentMemoryContext;
	array_reader r = {.env = env,.model = model,.section = section,.arrays = list,
		.context = context};
	gnngp_sink	rows = {.row = block_row,.state = &r};

	*list = (gnngp_arrays) {0};
	gnngp_spi_connect();
	gnngp_store_receive(model, version_of(model, section), section, GNNGP_BLOCKS_ALL, 0, &rows);
	gnngp_spi_finish();
	if (r.block == 0 && strcmp(section, "live") == 0)
		return false;
	if (r.block == 0 || r.block != r.blocks || r.filled != last_array(list)->count)
		corrupted(model, section, "some blocks of its %s are missing");
	if (ids)
		pop_ids(&r, ids);
	return true;
}

bool
gnngp_arrays_load(gp_env *env, const gnngp_model *model, const char *section, int n,
				  const int *element, gp_link_array *array, gnngp_ids *ids)
{
	gnngp_arrays list;

	memset(array, 0, sizeof(gp_link_array) * n);
	if (!gnngp_arrays_read(env, model, section, &list, ids))
		return false;
	for (int i = 0; i < list.n; i++)
	{
		const gp_link_array *from = &list.array[i];

		if (from->tag < 0 || from->tag >= n || array[from->tag].data != NULL ||
			(int) from->element != element[from->tag])
			gnngp_arrays_damaged(model, section);
		array[from->tag] = *from;
	}
	return true;
}
