/*
 * account.c - the memory that a backend holds for its computations.
 */
#include "postgres.h"

#include "account.h"

static size_t held = 0;
static size_t kept = 0;
static void (*give_up_kept) (void) = NULL;

size_t *
gnngp_account(void)
{
	return &held;
}

static void
end_holding(void *arg)
{
	held -= ((gnngp_holding *) arg)->bytes;
}

void
gnngp_account_hold(gnngp_holding *holding, MemoryContext context, size_t bytes)
{
	if (holding->callback.func == NULL)
	{
		holding->callback.func = end_holding;
		holding->callback.arg = holding;
		MemoryContextRegisterResetCallback(context, &holding->callback);
	}
	held += bytes - holding->bytes;
	holding->bytes = bytes;
}

void
gnngp_account_keep(size_t bytes, void (*give_up) (void))
{
	kept = bytes;
	give_up_kept = give_up;
}

void
gnngp_account_make_room(size_t bytes, size_t limit)
{
	if (kept > 0 && limit > 0 && (bytes > limit || held + kept > limit - bytes))
		give_up_kept();
}

void
gnngp_account_give_up(size_t most)
{
	if (kept > most)
		give_up_kept();
}
