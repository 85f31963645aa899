/*
 * account.h - the memory that a backend holds for its computations.
 *
 * All environments and the states of aggregates share one account, which is held
 * against gnngp.memory_limit.  What an error or a cancel leaves behind is given
 * back by the memory contexts that it was counted in.
 */
#ifndef GNNGP_ACCOUNT_H
#define GNNGP_ACCOUNT_H

/* Memory outside of any environment; begins zeroed, and lives in the context it is counted in. */
typedef struct gnngp_holding
{
	MemoryContextCallback callback;
	size_t		bytes;
} gnngp_holding;

/* The bytes held. */
extern size_t *gnngp_account(void);

/* Sets the bytes of a holding; they are given back with the context. */
extern void gnngp_account_hold(gnngp_holding *holding, MemoryContext context, size_t bytes);

/*
 * Counts memory that is kept for a later call only, outside of the account; 0 when
 * there is none any more.  give_up frees it when its room is needed.
 */
extern void gnngp_account_keep(size_t bytes, void (*give_up) (void));

/* Has what is kept given up where so many bytes more would not fit beside it; limit 0 is none. */
extern void gnngp_account_make_room(size_t bytes, size_t limit);

/* Has what is kept given up when it takes more than so many bytes: 0 in any case. */
extern void gnngp_account_give_up(size_t most);

#endif							/* GNNGP_ACCOUNT_H */
