/*
 * links_open.c - opening link models, and keeping the last one.
 *
 * An error frees a model that is used.  A nested call finds nothing kept and opens its own.
 */
#include "postgres.h"

#include "store_links.h"

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
	links = gnngp_link_store_read(env, model, &open->ids);

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
