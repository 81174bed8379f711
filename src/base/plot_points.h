/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file plot_points.h
 * The points of a series as they come, in memory that is limited: in long ones only every n-th
 * point is kept.
 */
#ifndef BASE_PLOT_POINTS_H
#define BASE_PLOT_POINTS_H

#include <stddef.h>

/** Zero-initialised is empty. x, y and n are to be read, and x and y may be changed in place. */
struct plot_points {
	double *x, *y;
	size_t n, room;
	unsigned stride; /**< of so many that came one is kept; a power of 2 */
	unsigned skip;   /**< that have come */
};

/**
 * Add one, or not: every second is left out from when there are @p limit, then of those every
 * second, and so on. Without memory, too.
 * @param limit an even number, the same for each call.
 */
void plot_points_add(struct plot_points *p, size_t limit, double x, double y);

/** Free the memory; then it is empty. */
void plot_points_free(struct plot_points *p);

#endif
