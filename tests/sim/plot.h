/* SPDX-License-Identifier: BSD-2-Clause */
/** @file plot.h Plots over a common time axis, one above the other, as SVG. */
#ifndef TESTS_SIM_PLOT_H
#define TESTS_SIM_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_PLOT_SERIES 16

enum sim_plot_kind { SIM_PLOT_LINE, SIM_PLOT_STEPS, SIM_PLOT_DOTS };

/** Points by rising x; NaN leaves one out. */
struct sim_plot_series {
	const char *name;
	enum sim_plot_kind kind;
	unsigned color; /**< of a small palette, from 0 */
	size_t n;
	const double *x, *y;
};

struct sim_plot_panel {
	const char *label; /**< of the y axis, with the unit */
	bool not_from_zero;
	unsigned n;
	struct sim_plot_series series[SIM_PLOT_SERIES];
};

/**
 * @param x_label with the unit; the axis goes from @p x_min to @p x_max.
 * @return 0 or a negative errno.
 */
int sim_plot_write(const char *path, const char *title, const char *x_label, double x_min,
	double x_max, const struct sim_plot_panel *panel, unsigned n_panels);

#endif
