/*
 * store_links.c - writing, reading and opening what is stored of links.
 *
 * The part "link" has the arrays that the core names, and the ids of all nodes.  The part
 * "link_loo" has the pairs that the fit held out, which are links of the owner's: no
 * grantee may read it.  Its ids are those of the pairs' ends alone.
 */
#include "postgres.h"

#include "store.h"
#include "store_arrays.h"
#include "store_links.h"

/* The arrays of the part "link_loo", one element for each pair. */
enum held_array
{
	HELD_SRC,					/* int32: the place among the ids */
	HELD_DST,					/* int32 */
	HELD_LINKED,				/* byte: 0 or 1 */
	HELD_SCORE,					/* double */
	HELD_VARIANCE,				/* double */
	HELD_PROBABILITY,			/* double */
	HELD_ARRAYS
};

static const int held_element[HELD_ARRAYS] = {
	GP_ARRAY_I32, GP_ARRAY_I32, GNNGP_ELEMENT_BYTE, GP_ARRAY_F64, GP_ARRAY_F64, GP_ARRAY_F64
};

void
gnngp_link_store_write(const gnngp_model *model, const gnngp_ids *ids, const gp_link_model *links)
{
	gp_link_array array[GP_LINK_MAX_ARRAYS];
	double		scalars[GP_LINK_SCALARS];
	int			n = gp_link_model_arrays(links, scalars, array);
	gnngp_arrays list = {0};

	Assert(n <= GP_LINK_MAX_ARRAYS);
	for (int i = 0; i < n; i++)
		gnngp_arrays_add(&list, array[i].tag, (int) array[i].element, array[i].count,
						 array[i].data);
	gnngp_arrays_write(model, "link", &list, ids);
}

/*
 * Reads the link part under the active snapshot; memory of the environment.  XX001 when it is not
 * what was written.
 */
static gp_link_model *
read_links(gp_env *env, const gnngp_model *model, gnngp_stored_ids *ids)
{
	gnngp_arrays list;
	gp_link_model *links;

	(void) gnngp_arrays_read(env, model, "link", &list, ids);
	if (ids->n != model->link.nodes)
		gnngp_store_corrupted(model, "the ids of its link part are missing");
	links = gp_link_model_restore(env, list.array, list.n);
	if (links->graph->nodes != ids->n)
		gnngp_store_corrupted(model, "its link part has another number of nodes than ids");
	return links;
}

void
gnngp_held_store_write(const gnngp_model *model, const gnngp_ids *all, const gp_link_held *held)
{
	int32	   *place = MemoryContextAllocExtended(CurrentMemoryContext,
												   sizeof(int32) * Max(all->n, 1),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	gnngp_ids	ids = {.integer = all->integer};
	void	   *column[HELD_ARRAYS];
	int64		count[HELD_ARRAYS];

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
	/* The pairs as columns, each with room for 8 bytes a pair */
	for (int k = 0; k < HELD_ARRAYS; k++)
	{
		count[k] = held->n;
		column[k] = palloc(sizeof(double) * held->n);
	}
	for (int64 e = 0; e < held->n; e++)
	{
		((int32 *) column[HELD_SRC])[e] = place[held->row[e].src];
		((int32 *) column[HELD_DST])[e] = place[held->row[e].dst];
		((uint8 *) column[HELD_LINKED])[e] = held->linked[e];
		((double *) column[HELD_SCORE])[e] = held->row[e].score;
		((double *) column[HELD_VARIANCE])[e] = held->row[e].variance;
		((double *) column[HELD_PROBABILITY])[e] = held->row[e].probability;
	}
	gnngp_arrays_save(model, "link_loo", HELD_ARRAYS, held_element, count,
					  (const void *const *) column, &ids);
}

void
gnngp_held_store_read(gp_env *env, const gnngp_model *model, gnngp_stored_ids *ids,
					  gp_link_held *held)
{
	gp_link_array array[HELD_ARRAYS];

	memset(held, 0, sizeof(*held));
	(void) gnngp_arrays_load(env, model, "link_loo", HELD_ARRAYS, held_element, array, ids);
	for (int k = 1; k < HELD_ARRAYS; k++)
		if (array[k].count != array[0].count)
			gnngp_arrays_damaged(model, "link_loo");
	held->n = array[0].count;
	held->linked = array[HELD_LINKED].data;
	held->row = gp_alloc_array(env, held->n, sizeof(gp_link_row));
	for (int64 e = 0; e < held->n; e++)
	{
		gp_link_row *row = &held->row[e];

		CHECK_FOR_INTERRUPTS();
		row->src = ((int32 *) array[HELD_SRC].data)[e];
		row->dst = ((int32 *) array[HELD_DST].data)[e];
		row->score = ((double *) array[HELD_SCORE].data)[e];
		row->variance = ((double *) array[HELD_VARIANCE].data)[e];
		row->probability = ((double *) array[HELD_PROBABILITY].data)[e];
		if (!(row->src >= 0 && row->src < ids->n && row->dst >= 0 && row->dst < ids->n && row->src
			  != row->dst && isfinite(row->score) && isfinite(row->variance) && row->variance
			  >= 0.0 && row->probability >= 0.0 && row->probability <= 1.0) ||
			  ((uint8 *) array[HELD_LINKED].data)[e] > 1)
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
	gp_link_model *links;
	gp_env	   *env;

	if (open)
		return open;
	env = gnngp_env_create(CurrentMemoryContext);
	open = gp_alloc_zero(env, 1, sizeof(gnngp_open_links));
	open->env = env;
	memcpy(open->key, key, sizeof(open->key));
	open->brief = brief && gnngp_setting_device() != GNNGP_DEVICE_CUDA;
	links = read_links(env, model, &open->ids);

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
