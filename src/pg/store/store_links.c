/*
 * store_links.c - writing and reading the link part of a model.
 *
 * A block is
 *
 *   header    mark, format, length, checksum as in every block, then
 *             block uint32      the number of this block, from 0
 *             blocks uint32     how many the part has
 *             tag uint32        which array
 *             element uint32    the type of its elements
 *             count uint64      elements of the whole array
 *             first uint64      the first element that is here
 *   elements  little-endian, to the end of the block
 *
 * A prediction needs the arrays whole, so reading is copying: the toaster gives
 * a block, the checksum runs over it while it is in the cache, and it lands in
 * its place.  Blocks of 60 kB to 4 MB read equally fast; larger rows than a page
 * keep the number of rows small that row-level security looks at.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "store.h"
#include "store_format.h"
#include "store_links.h"
#include "utils/memutils.h"

#define LINK_MAGIC 0x4c504e42	/* BNPL */
#define LINK_FORMAT 3
#define LINK_OLDEST 2			/* without counts of how far apart links reach: still read */
#define LINK_TARGET (256 * 1024)	/* bytes of elements in a block */

#define AT_BLOCK 20				/* uint32 */
#define AT_BLOCKS 24			/* uint32 */
#define AT_TAG 28				/* uint32 */
#define AT_ELEMENT 32			/* uint32 */
#define AT_COUNT 36				/* uint64 */
#define AT_FIRST 44				/* uint64 */
#define LINK_HEADER 52

/* Arrays beside the core's. */
#define TAG_KEYS 1001			/* int64 */
#define TAG_TEXT_ENDS 1002		/* int64 */
#define TAG_TEXTS 1003			/* bytes */
#define ELEMENT_BYTE 100
#define MAX_ARRAYS (GP_LINK_MAX_ARRAYS + 3)

typedef struct link_writer
{
	const gnngp_model *model;
	char	   *buffer;			/* the varlena of a block */
	uint32		block;
	uint32		blocks;
} link_writer;

typedef struct link_reader
{
	DestReceiver pub;
	gp_env	   *env;
	const gnngp_model *model;
	MemoryContext context;		/* of one block */
	gp_link_array array[MAX_ARRAYS];
	int			narrays;
	int64		filled;			/* elements of the last array that are there */
	uint32		block;
	uint32		blocks;
} link_reader;

/* The bytes of an element; 0 for a type that is unknown. */
static size_t
element_size(uint32 element)
{
	if (element == ELEMENT_BYTE)
		return 1;
	return element <= GP_LINK_U64 ? gp_link_element_size((gp_link_element) element) : 0;
}

/* The elements of a full block. */
static int64
block_elements(const gp_link_array *array)
{
	return LINK_TARGET / (int64) element_size(array->element);
}

/* Inserts the block of an array that begins with an element. */
static void
write_block(link_writer *w, const gp_link_array *array, int64 first)
{
	size_t		size = element_size(array->element);
	int64		n = Min(array->count - first, block_elements(array));
	size_t		length = LINK_HEADER + (size_t) n * size;
	char	   *block = VARDATA(w->buffer);
	gnngp_block_place place = {w->model->id, w->model->link.version, "link", (int32) w->block, NULL};

	memcpy(block + LINK_HEADER, (char *) array->data + (size_t) first * size, (size_t) n * size);
	gnngp_turn_numbers(block + LINK_HEADER, (size_t) n * size, size);
	gnngp_put32(block + AT_BLOCK, w->block++);
	gnngp_put32(block + AT_BLOCKS, w->blocks);
	gnngp_put32(block + AT_TAG, (uint32) array->tag);
	gnngp_put32(block + AT_ELEMENT, array->element);
	gnngp_put64(block + AT_COUNT, (uint64) array->count);
	gnngp_put64(block + AT_FIRST, (uint64) first);
	gnngp_store_insert(place, LINK_MAGIC, LINK_FORMAT, w->buffer, length, (int32) n);
}

/* Adds an array to the list; the element type may be one of our own. */
static void
add_array(gp_link_array *list, int *n, int32 tag, int element, int64 count, const void *data)
{
	gp_link_array *array = &list[(*n)++];

	array->tag = tag;
	array->element = (gp_link_element) element;
	array->count = count;
	array->data = unconstify(void *, data);
}

/* Adds the ids: keys, and the texts in one string. */
static void
add_ids(gp_link_array *list, int *n, const gnngp_ids *ids)
{
	int64	   *end;
	int64		length = 0;
	char	   *texts;

	add_array(list, n, TAG_KEYS, GP_LINK_I64, ids->n, ids->key);
	if (ids->integer)
		return;
	end = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64) * Max(ids->n, 1));
	for (int64 i = 0; i < ids->n; i++)
		end[i] = length += (int64) strlen(ids->text[i]);
	texts = MemoryContextAllocHuge(CurrentMemoryContext, Max(length, 1));
	for (int64 i = 0; i < ids->n; i++)
		memcpy(texts + (i > 0 ? end[i - 1] : 0), ids->text[i], end[i] - (i > 0 ? end[i - 1] : 0));
	add_array(list, n, TAG_TEXT_ENDS, GP_LINK_I64, ids->n, end);
	if (length > 0)
		add_array(list, n, TAG_TEXTS, ELEMENT_BYTE, length, texts);
}

/* Writes the link part. */
void
gnngp_link_store_write(const gnngp_model *model, const gnngp_ids *ids, const gp_link_model *links)
{
	gp_link_array list[MAX_ARRAYS];
	double		scalars[GP_LINK_SCALARS];
	link_writer w = {.model = model};
	int			n;

	gnngp_spi_connect();
	n = gp_link_model_arrays(links, scalars, list);
	Assert(n <= GP_LINK_MAX_ARRAYS);
	add_ids(list, &n, ids);
	for (int i = 0; i < n; i++)
		w.blocks += (uint32) ((list[i].count + block_elements(&list[i]) - 1) /
							  block_elements(&list[i]));
	w.buffer = palloc(VARHDRSZ + LINK_HEADER + LINK_TARGET);
	for (int i = 0; i < n; i++)
		for (int64 first = 0; first < list[i].count; first += block_elements(&list[i]))
		{
			CHECK_FOR_INTERRUPTS();
			write_block(&w, &list[i], first);
		}
	gnngp_spi_finish();
}

/* Starts an array: the one before it must be whole. */
static gp_link_array *
begin_array(link_reader *r, const char *block)
{
	gp_link_array *array;
	uint64		count = gnngp_get64(block + AT_COUNT);
	uint32		element = gnngp_get32(block + AT_ELEMENT);

	if (r->narrays == MAX_ARRAYS || count == 0 || count > PG_INT64_MAX ||
		element_size(element) == 0 ||
		(r->narrays > 0 && r->filled != r->array[r->narrays - 1].count))
		gnngp_store_corrupted(r->model, "an array of its link part is not whole");
	add_array(r->array, &r->narrays, (int32) gnngp_get32(block + AT_TAG), (int) element,
			  (int64) count, gp_alloc_array(r->env, (int64) count, element_size(element)));
	array = &r->array[r->narrays - 1];
	r->filled = 0;
	return array;
}

/* Copies the elements of a block to their place. */
static void
take_block(link_reader *r, const char *block, size_t length)
{
	uint64		first = gnngp_get64(block + AT_FIRST);
	gp_link_array *array = first == 0 ? begin_array(r, block)
		: r->narrays > 0 ? &r->array[r->narrays - 1] : NULL;
	size_t		size;
	uint64		n;

	if (array == NULL || first != (uint64) r->filled ||
		array->tag != (int32) gnngp_get32(block + AT_TAG) ||
		array->element != (gp_link_element) gnngp_get32(block + AT_ELEMENT) ||
		array->count != (int64) gnngp_get64(block + AT_COUNT))
		gnngp_store_corrupted(r->model, "the blocks of its link part do not fit together");
	size = element_size(array->element);
	n = length / size;
	if (length % size != 0 || n == 0 || n > (uint64) (array->count - r->filled))
		gnngp_store_corrupted(r->model, "a block of its link part has a wrong number of elements");
	memcpy((char *) array->data + first * size, block + LINK_HEADER, length);
	gnngp_turn_numbers((char *) array->data + first * size, length, size);
	r->filled += (int64) n;
}

/* Validates one block and takes it. */
static bool
receive_block(TupleTableSlot *slot, DestReceiver *self)
{
	link_reader *r = (link_reader *) self;
	MemoryContext old = MemoryContextSwitchTo(r->context);
	struct varlena *data;
	const char *block;
	size_t		length;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	data = PG_DETOAST_DATUM(slot->tts_values[0]);
	block = VARDATA(data);
	length = VARSIZE(data) - VARHDRSZ;
	gnngp_store_check_block(r->model, LINK_MAGIC, LINK_OLDEST, LINK_FORMAT, LINK_HEADER, block, length);
	if (gnngp_get32(block + AT_BLOCK) != r->block ||
		(r->block > 0 && gnngp_get32(block + AT_BLOCKS) != r->blocks))
		gnngp_store_corrupted(r->model, "some blocks of its link part are missing");
	r->blocks = gnngp_get32(block + AT_BLOCKS);
	r->block++;
	take_block(r, block, length - LINK_HEADER);
	MemoryContextSwitchTo(old);
	MemoryContextReset(r->context);
	return true;
}

/* Reads all blocks. */
static void
read_blocks(link_reader *r)
{
	gnngp_spi_connect();
	gnngp_receiver_init(&r->pub, receive_block);
	r->context = AllocSetContextCreate(CurrentMemoryContext, "gnngp block",
									   ALLOCSET_DEFAULT_SIZES);
	gnngp_store_receive(r->model->id, r->model->link.version, "link", &r->pub);
	if (r->block == 0 || r->block != r->blocks || r->filled != r->array[r->narrays - 1].count)
		gnngp_store_corrupted(r->model, "some blocks of its link part are missing");
	gnngp_spi_finish();
}

/* Takes an array of ours from the end of the list; NULL when it is not the last. */
static void *
pop_array(link_reader *r, int32 tag, int element, int64 *count)
{
	gp_link_array *last = r->narrays > 0 ? &r->array[r->narrays - 1] : NULL;

	if (last == NULL || last->tag != tag || (int) last->element != element)
		return NULL;
	r->narrays--;
	*count = last->count;
	return last->data;
}

/* Takes the ids off the list and checks them: keys ascend, and texts lie within their string. */
static void
take_ids(link_reader *r, gnngp_link_ids *ids)
{
	int64		length = 0,
				ends = 0,
				last = 0;

	memset(ids, 0, sizeof(*ids));
	if (!r->model->link.integer_ids)
	{
		ids->text = pop_array(r, TAG_TEXTS, ELEMENT_BYTE, &length);
		ids->text_end = pop_array(r, TAG_TEXT_ENDS, GP_LINK_I64, &ends);
	}
	ids->key = pop_array(r, TAG_KEYS, GP_LINK_I64, &ids->n);
	if (ids->key == NULL || ids->n != r->model->link.nodes ||
		(!r->model->link.integer_ids && (ids->text_end == NULL || ends != ids->n)))
		gnngp_store_corrupted(r->model, "the ids of its link part are missing");
	for (int64 i = 0; i < ids->n; i++)
	{
		bool		bad = i > 0 && ids->key[i - 1] > ids->key[i];

		if (ids->text_end)
		{
			bad = bad || ids->text_end[i] < last || ids->text_end[i] > length;
			last = ids->text_end[i];
		}
		if (bad)
			gnngp_store_corrupted(r->model, "the ids of its link part are out of order");
	}
}

/* Reads the link part. */
gp_link_model *
gnngp_link_store_read(gp_env *env, const gnngp_model *model, gnngp_link_ids *ids)
{
	link_reader r = {0};
	gp_link_model *links;

	r.env = env;
	r.model = model;
	read_blocks(&r);
	take_ids(&r, ids);
	links = gp_link_model_restore(env, r.array, r.narrays);
	if (links->graph->nodes != ids->n)
		gnngp_store_corrupted(model, "its link part has another number of nodes than ids");
	return links;
}
