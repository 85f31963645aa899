/*
 * norm.h - how an adjacency matrix is normalised.
 */
#ifndef GP_NORM_H
#define GP_NORM_H

typedef enum gp_norm
{
	GP_NORM_SYM,				/* (I+D)^-1/2 (I+G) (I+D)^-1/2 */
	GP_NORM_ROW,				/* (I+D)^-1 (I+G) */
	GP_NORM_NONE				/* I+G */
} gp_norm;

#endif							/* GP_NORM_H */
