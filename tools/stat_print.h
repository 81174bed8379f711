/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stat_print.h What `uiwarp stat` writes. */
#ifndef TOOLS_STAT_PRINT_H
#define TOOLS_STAT_PRINT_H

#include "tools/stat_process.h"
#include "tools/telemetry_sample.h"

#include <stdio.h>

/** Room for stat_print_scaled(). */
#define STAT_PRINT_SCALED 16

/** "812", "1.5k", "23M": three digits at least, in powers of 1000. @return @p text. */
const char *stat_print_scaled(double value, char text[STAT_PRINT_SCALED]);

/** A time: "12us", "1.5ms", "2s"; "-" for 0. @return @p text. */
const char *stat_print_time(uint64_t ns, char text[STAT_PRINT_SCALED]);

/** All QPs and connections, a line for each. */
void stat_print_table(FILE *out, const struct telemetry_sample *s);

/** One line about @p r. @param heading the names of the columns before it. */
void stat_print_follow(
	FILE *out, const struct telemetry_sample *s, const struct telemetry_row *r, bool heading);

/** Write JSON of a process, as it stands in an array. @return false: no memory. */
bool stat_print_json(FILE *out, const struct stat_process *p);

#endif
