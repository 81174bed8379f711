/* SPDX-License-Identifier: BSD-2-Clause */
/** @file plot.h Plots over a common time axis, one above the other, as SVG. */
#ifndef BASE_PLOT_H
#define BASE_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PLOT_SERIES 16

enum plot_kind { PLOT_LINE, PLOT_STEPS, PLOT_DOTS };

/** Points in ascending order of x. NaN leaves a gap. */
struct plot_series {
	const char *name;
	enum plot_kind kind;
	unsigned color; /**< index into the palette */
	size_t n;
	const double *x, *y;
};

struct plot_panel {
	const char *label; /**< of the y axis, with the unit */
	bool not_from_zero;
	unsigned n;
	struct plot_series series[PLOT_SERIES];
};

/**
 * Print it, to be a file of its own or a part of HTML.
 * @param x_label with the unit; the axis goes from @p x_min to @p x_max.
 */
void plot_print(FILE *o, const char *title, const char *x_label, double x_min, double x_max,
	const struct plot_panel *panel, unsigned n_panels);

/**
 * @param x_label with the unit; the axis goes from @p x_min to @p x_max.
 * @return 0 or a negative errno.
 */
int plot_write(const char *path, const char *title, const char *x_label, double x_min, double x_max,
	const struct plot_panel *panel, unsigned n_panels);

#endif
