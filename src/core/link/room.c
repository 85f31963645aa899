/*
 * room.c - the matrices that blocks of scores are computed in.
 *
 * Every block needs the same few tall matrices.  Taken anew each time, their
 * pages would be touched for the first time each time.
 */
#include "scores.h"

/* The elements from one row to the next, for so many columns. */
static int64_t
row_elements(int64_t cols)
{
	return (cols + 15) / 16 * 16;
}

/* The smallest free room of at least so many bytes, or NULL. */
static gp_link_room *
smallest_fit(gp_link_frame *f, size_t bytes)
{
	gp_link_room *best = NULL;

	for (int k = 0; k < GP_LINK_ROOMS; k++)
	{
		gp_link_room *r = &f->room[k];

		if (r->own.data != NULL && !r->used && r->bytes >= bytes &&
			(best == NULL || r->bytes < best->bytes))
			best = r;
	}
	return best;
}

/* A place for a room more: one that was never filled, else one that is free, or NULL. */
static gp_link_room *
free_place(gp_link_frame *f)
{
	gp_link_room *place = NULL;

	for (int k = 0; k < GP_LINK_ROOMS; k++)
		if (f->room[k].own.data == NULL)
			return &f->room[k];
	for (int k = 0; k < GP_LINK_ROOMS; k++)
		if (!f->room[k].used)
			place = &f->room[k];
	if (place)
		f->dev->destroy(f->dev, &place->own);
	return place;
}

/* A matrix of this shape, its elements undefined. */
gp_matrix
gp_link_lend(gp_link_frame *f, int64_t rows, int64_t cols, gp_type type)
{
	int64_t		ld = row_elements(cols);
	size_t		bytes = gp_size_mul(f->env, gp_size_mul(f->env, rows, ld), gp_type_size(type));
	gp_link_room *r = smallest_fit(f, bytes);
	gp_matrix	m = {NULL, rows, cols, ld, type};

	if (r == NULL)
	{
		r = free_place(f);
		if (r == NULL)
			gp_raise(f->env, GP_ERR_INTERNAL, NULL, "a block of scores needs too many matrices");
		r->bytes = 0;
		r->own = f->dev->create(f->dev, rows, ld, type);
		r->bytes = bytes;
	}
	r->used = true;
	m.data = r->own.data;
	return m;
}

/* Takes a lent matrix back. */
void
gp_link_give_back(gp_link_frame *f, gp_matrix *m)
{
	for (int k = 0; k < GP_LINK_ROOMS; k++)
		if (f->room[k].own.data == m->data)
			f->room[k].used = false;
	m->data = NULL;
}

/* Frees all rooms. */
void
gp_link_rooms_free(gp_link_frame *f)
{
	for (int k = 0; k < GP_LINK_ROOMS; k++)
		f->dev->destroy(f->dev, &f->room[k].own);
}
