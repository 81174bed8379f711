/* SPDX-License-Identifier: BSD-2-Clause */
/** @file report.h What a scenario gave, for people: lines of text, and plots. */
#ifndef TESTS_SIM_REPORT_H
#define TESTS_SIM_REPORT_H

#include "sim/scenario.h"
#include "sim/trace.h"

#include <stdio.h>

/** Goodput, losses and state of each flow, the queue, fairness. */
void sim_report_print(struct sim_scenario *x, FILE *to);

/**
 * Goodput, windows, round trip and queue over time, one color for each flow.
 * @return 0 or a negative errno.
 */
int sim_report_plot(const struct sim_scenario *x, const char *title, const char *path);

/** A time-sequence plot from what was traced. @return 0 or a negative errno. */
int sim_report_plot_trace(const struct sim_scenario *x, const struct sim_trace *t,
	const char *title, const char *path);

/**
 * Bits per second of text that RFC 9438 section 5 expects of CUBIC with random loss of probability
 * @p p of flow 0's segments: the larger of equation 6's window and the Reno-friendly one, not more
 * than the line. @p rtt in ns.
 */
double sim_report_cubic_model(const struct sim_scenario *x, double p, uint64_t rtt);

#endif
