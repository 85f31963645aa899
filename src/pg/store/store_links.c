/*
 * store_links.c - writing, reading and opening what is stored of links.
 *
 * The section "link" has the arrays that the core names, and the ids of all nodes.  The section
 * "link_loo" has the pairs that the fit held out, which are links of the owner's: no
 * grantee may read it.  Its ids are those of the pairs' ends alone.
 */
#include "postgres.h"

#include "store_arrays.h"
#include "store_links.h"

/* The arrays of the section "link_loo". */
enum held_array
{
	HELD_ENDS,					/* of each pair: the places of src and dst among the ids */
	HELD_LINKED,				/* 0 or 1 */
	HELD_NUMBERS,				/* score, variance and probability */
	HELD_ARRAYS
};

static const int held_element[HELD_ARRAYS] = {GP_ARRAY_I32, GNNGP_ELEMENT_BYTE, GP_ARRAY_F64};

void
gnngp_link_store_write(const gnngp_model *model, const gnngp_ids *ids, const gp_link_model *links)
{
	gp_link_array array[GP_LINK_MAX_ARRAYS];
	double		scalars[GP_LINK_SCALARS];
	int			n = gp_link_model_arrays(links, scalars, array);
	gnngp_arrays list = {0};

	for (int i = 0; i < n; i++)
		gnngp_arrays_add(&list, array[i].tag, (int) array[i].element, array[i].count,
						 array[i].data);
	gnngp_arrays_write(model, "link", &list, ids);
}

void
gnngp_held_store_write(const gnngp_model *model, const gnngp_ids *all, const gp_link_held *held)
{
	int32	   *place = MemoryContextAllocExtended(CurrentMemoryContext,
												   sizeof(int32) * Max(all->n, 1),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	gnngp_ids	ids = {.integer = all->integer};
	int32	   *end = palloc(sizeof(int32) * 2 * held->n);
	double	   *number = palloc(sizeof(double) * 3 * held->n);
	const int64 count[HELD_ARRAYS] = {2 * held->n, held->n, 3 * held->n};
	const void *const array[HELD_ARRAYS] = {end, held->linked, number};

	/* The ids of the nodes that are an end of some pair, and where each of them stands */
	for (int64 e = 0; e < held->n; e++)
		place[held->row[e].src] = place[held->row[e].dst] = 1;
	ids.key = palloc(sizeof(int64) * 2 * held->n);
	ids.text = all->integer ? NULL : palloc(sizeof(char *) * 2 * held->n);
	for (int64 i = 0; i < all->n; i++)
	{
		if (place[i] == 0)
			continue;
		place[i] = (int32) ids.n;
		ids.key[ids.n] = all->key[i];
		if (!all->integer)
			ids.text[ids.n] = all->text[i];
		ids.n++;
	}
	for (int64 e = 0; e < held->n; e++)
	{
		const gp_link_row *row = &held->row[e];

		end[2 * e] = place[row->src];
		end[2 * e + 1] = place[row->dst];
		memcpy(number + 3 * e, (double[3]) {row->score, row->variance, row->probability},
			   3 * sizeof(double));
	}
	gnngp_arrays_save(model, "link_loo", HELD_ARRAYS, held_element, count, array, &ids);
}

void
gnngp_held_store_read(gp_env *env, const gnngp_model *model, gnngp_ids *ids,
					  gp_link_held *held)
{
	gp_link_array array[HELD_ARRAYS];

	memset(held, 0, sizeof(*held));
	(void) gnngp_arrays_load(env, model, "link_loo", HELD_ARRAYS, held_element, array, ids);
	held->n = array[HELD_LINKED].count;
	if (array[HELD_ENDS].count != 2 * held->n || array[HELD_NUMBERS].count != 3 * held->n)
		gnngp_arrays_damaged(model, "link_loo");
	held->linked = array[HELD_LINKED].data;
	held->row = gp_alloc_array(env, held->n, sizeof(gp_link_row));
	for (int64 e = 0; e < held->n; e++)
	{
		const int32 *end = (int32 *) array[HELD_ENDS].data + 2 * e;
		const double *number = (double *) array[HELD_NUMBERS].data + 3 * e;

		gnngp_poll(e);
		held->row[e] = (gp_link_row) {.src = end[0],.dst = end[1],.score = number[0],
									  .variance = number[1],.probability = number[2]};
		if (!(end[0] >= 0 && end[0] < ids->n && end[1] >= 0 && end[1] < ids->n &&
			  end[0] != end[1] && isfinite(number[0]) && isfinite(number[1]) && number[1] >= 0.0 &&
			  number[2] >= 0.0 && number[2] <= 1.0) || ((uint8 *) held->linked)[e] > 1)
			gnngp_store_corrupted(model, "a held-out pair is out of range");
	}
}

/*
 * ---- opening, and keeping the last one ----
 *
 * An error frees a model that is used.  A nested call finds nothing kept and opens its own.
 */

gnngp_open_links *
gnngp_links_open(const gnngp_model *model, bool brief)
{
	const gnngp_link_part *part = &model->link;
	const gnngp_kept_key key = {GNNGP_KEPT_LINKS, brief, model->id, part->version, part->fitted,
		part->nodes, part->integer_ids, gnngp_setting_device()
	};
	gnngp_open_links *open = gnngp_env_resume(key);
	gnngp_arrays list;

	if (open)
		return open;
	gp_env	   *env = gnngp_env_create(CurrentMemoryContext);
	open = gp_alloc_zero(env, 1, sizeof(gnngp_open_links));
	open->env = env;
	memcpy(open->key, key, sizeof(open->key));
	open->brief = brief && gnngp_setting_device() != GNNGP_DEVICE_CUDA;
	(void) gnngp_arrays_read(env, model, "link", &list, &open->ids);
	if (open->ids.n != model->link.nodes)
		gnngp_store_corrupted(model, "the ids of its link part are missing");
	gp_link_model *links = gp_link_model_restore(env, list.array, list.n);
	if (links->graph->nodes != open->ids.n)
		gnngp_store_corrupted(model, "its link part has another number of nodes than ids");

	/*
	 * A device of one thread: the products of a block of columns are so short, and each needs so
	 * much of the one before it, that handing their parts from processor to processor costs more
	 * than it saves.  Threads take whole lots of nodes instead (best.c).
	 */
	open->device = gnngp_device_open(env, 1);
	open->links = gp_links_open(open->device, links);
	return open;
}

void
gnngp_links_close(gnngp_open_links *open)
{
	gnngp_env_keep(open->env, CacheMemoryContext,
				   open->brief ? gnngp_setting_link_cache_size() : 0, open->key, open);
}
