/*
 * shadow.h - a device whose matrices are host memory and whose work another device does.
 *
 * Test cases look at elements of what create gives, which a card does not allow.
 * The shadow gives them host memory; each operation takes its operands to the
 * device under test, gaps between rows included, runs there, and brings back
 * what it changes.
 */
#ifndef SHADOW_H
#define SHADOW_H

#include "device/device.h"

typedef enum shadow_way
{
	SHADOW_UPLOAD,				/* every operand is a matrix of the device under test */
	SHADOW_DIRECT,				/* every operand is given as it is, in host memory */
	SHADOW_MIXED				/* every other one */
} shadow_way;

/* A shadow of a device, which stays open when the shadow closes. */
extern gp_device *shadow_open(gp_device *under, shadow_way way);

#endif							/* SHADOW_H */
