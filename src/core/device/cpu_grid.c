/*
 * cpu_grid.c - matrices cut into tiles, and the refusal of operands that do not fit.
 */
#include "cpu_internal.h"

/* Raises GP_ERR_INTERNAL for arguments that an operation cannot have. */
void
gp_cpu_refuse(gp_device *dev, const char *operation)
{
	gp_raise(dev->env, GP_ERR_INTERNAL, NULL,
			 "operands of the device operation \"%s\" do not fit together", operation);
}

/* Cuts a matrix into tiles of a given size. */
gp_grid
gp_grid_make(int64_t rows, int64_t cols, int64_t tile_rows, int64_t tile_cols)
{
	gp_grid		grid = {rows, cols, gp_max64(tile_rows, 1), gp_max64(tile_cols, 1), 0, 0};

	if (rows > 0 && cols > 0)
	{
		grid.across = (cols - 1) / grid.tile_cols + 1;
		grid.tiles = grid.across * ((rows - 1) / grid.tile_rows + 1);
	}
	return grid;
}

/* Whole rows where that gives tiles of about so many elements, else parts of rows. */
gp_grid
gp_grid_elements(int64_t rows, int64_t cols, int64_t elements)
{
	return gp_grid_make(rows, cols, elements / gp_max64(cols, 1), gp_min64(cols, elements));
}

/* The range of one tile. */
gp_tile_range
gp_grid_at(const gp_grid *grid, int64_t tile)
{
	gp_tile_range r;

	r.row = tile / grid->across * grid->tile_rows;
	r.col = tile % grid->across * grid->tile_cols;
	r.rows = gp_min64(grid->tile_rows, grid->rows - r.row);
	r.cols = gp_min64(grid->tile_cols, grid->cols - r.col);
	return r;
}
