/*
 * links_open.c - opening link models, and keeping the last one.
 *
 * While it is used a model hangs below the caller's memory context, so that an
 * error frees it; between uses it hangs below the cache's.  A nested call finds
 * nothing kept and opens its own.
 */
#include "postgres.h"

#include "store_links.h"

static const char kind_of_kept = 0;	/* its address tells link models from others */

gnngp_open_links *
gnngp_links_open(const gnngp_model *model, bool brief)
{
	const gnngp_link_part *part = &model->link;
	gnngp_open_links *open = gnngp_env_kept(&kind_of_kept);
	gp_link_model *links;
	gp_env	   *env;

	/* Is what is kept this very model, and may it be used as it is? */
	if (open && brief && open->model == model->id && open->version == part->version &&
		open->fitted == part->fitted && open->ids.n == part->nodes &&
		(open->ids.text_end == NULL) == part->integer_ids &&
		open->choice == gnngp_setting_device() && open->env->used <= gnngp_account_left())
	{
		gnngp_env_resume(open->env, CurrentMemoryContext);
		return open;
	}
	gnngp_account_give_up(0);
	env = gnngp_env_create(CurrentMemoryContext);
	open = gp_alloc_zero(env, 1, sizeof(gnngp_open_links));
	*open = (gnngp_open_links) {.env = env,.model = model->id,.version = part->version,
								.fitted = part->fitted,.choice = gnngp_setting_device(),
								.brief = brief};
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
	if (!open->brief || open->choice == GNNGP_DEVICE_CUDA ||
		open->env->used > gnngp_setting_link_cache_size())
	{
		gnngp_env_destroy(open->env);
		return;
	}
	gnngp_env_keep(open->env, CacheMemoryContext, &kind_of_kept, open);
}
