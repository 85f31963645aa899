/*
 * cpu_grid.c - matrices cut into the tiles that threads share out.
 */
#include "cpu_internal.h"

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

gp_grid
gp_grid_elements(int64_t rows, int64_t cols, int64_t elements)
{
	return gp_grid_make(rows, cols, elements / gp_max64(cols, 1), gp_min64(cols, elements));
}

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
