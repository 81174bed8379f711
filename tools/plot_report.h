/* SPDX-License-Identifier: BSD-2-Clause */
/** @file plot_report.h A record as one page of HTML that needs no other file. */
#ifndef TOOLS_PLOT_REPORT_H
#define TOOLS_PLOT_REPORT_H

#include "tools/plot_record.h"

#include <stdio.h>

/**
 * Write a table of all connections, and plots of each.
 * @param p changed: counts become rates. It can be drawn once.
 * @param name of the record, for people.
 * @param begun when it began, in seconds since 1970.
 */
void plot_report_write(FILE *out, struct plot_record *p, const char *name, double begun);

#endif
