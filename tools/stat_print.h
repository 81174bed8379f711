/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stat_print.h What `uiwarp stat` writes. */
#ifndef TOOLS_STAT_PRINT_H
#define TOOLS_STAT_PRINT_H

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

/**
 * Everything that a process tells, or NULL: it has gone.
 * @param metrics only what is asked of it for stat_print_prometheus().
 */
json_t *stat_print_collect(struct telemetry_client *c, bool metrics);

/** Write JSON of what stat_print_collect() has, as it stands in an array. @return false: no memory.
 */
bool stat_print_json(FILE *out, const json_t *process);

/** Of what stat_print_keep() keeps of all processes: some 200,000 QPs with connections. */
#define STAT_PRINT_BYTES ((size_t)1 << 30)

/**
 * Append to @p all what metrics need of @p process: samples of a metric stand together, so that of
 * all has to be there before the first is written.
 * @param room bytes that may still be kept. @return 0, or -ENOBUFS: it is too much.
 */
int stat_print_keep(json_t *all, const json_t *process, size_t *room);

/** The text exposition format of Prometheus. @param all an array of stat_print_keep(). */
void stat_print_prometheus(FILE *out, const json_t *all);

#endif
