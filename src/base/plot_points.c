/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/plot_points.h"

#include <stdlib.h>

/** Room at first; it doubles. */
#define PLOT_POINTS_FIRST 64

static void plot_points_halve(struct plot_points *p)
{
	for (size_t i = 0; i < p->n / 2; i++) {
		p->x[i] = p->x[2 * i];
		p->y[i] = p->y[2 * i];
	}
	p->n /= 2;
	p->stride *= 2;
}

/** Have room for one more. */
static int plot_points_grow(struct plot_points *p, size_t limit)
{
	size_t room = p->room ? 2 * p->room : PLOT_POINTS_FIRST;
	double *x, *y;

	if (p->n < p->room)
		return 0;
	room = room < limit ? room : limit;
	x = realloc(p->x, room * sizeof *x);
	p->x = x ? x : p->x;
	y = realloc(p->y, room * sizeof *y);
	p->y = y ? y : p->y;
	if (!x || !y)
		return -1;
	p->room = room;
	return 0;
}

void plot_points_add(struct plot_points *p, size_t limit, double x, double y)
{
	if (p->stride == 0)
		p->stride = 1;
	if (p->skip++ % p->stride != 0)
		return;
	if (p->n == limit)
		plot_points_halve(p);
	if (plot_points_grow(p, limit) != 0)
		return;
	p->x[p->n] = x;
	p->y[p->n++] = y;
}

void plot_points_free(struct plot_points *p)
{
	free(p->x);
	free(p->y);
	*p = (struct plot_points){.x = NULL};
}
