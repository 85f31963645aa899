/*
 * dot.h - matrices as one long vector each: their inner products.
 */
#ifndef GP_DOT_H
#define GP_DOT_H

#include "device/device.h"

/* What such products of matrices of so many rows take. */
typedef struct gp_long_dots
{
	gp_device  *dev;
	gp_matrix	dots;			/* rows x 1 double */
	double	   *host;			/* the same */
} gp_long_dots;

extern gp_long_dots gp_long_dots_open(gp_device *dev, int64_t rows);
extern void gp_long_dots_close(gp_long_dots *l);

/* The product of all elements of a with those of b, added up; in a dry run 1. */
extern double gp_long_dot(gp_long_dots *l, gp_matrix a, gp_matrix b);

#endif							/* GP_DOT_H */
