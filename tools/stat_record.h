/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stat_record.h
 * The file that `uiwarp stat --record` writes and `uiwarp plot` reads (docs/telemetry.md): JSON
 * lines. The first tells what it is, each other one is a row (telemetry_row.h) with "time_ns" since
 * the beginning. Times never go back.
 */
#ifndef TOOLS_STAT_RECORD_H
#define TOOLS_STAT_RECORD_H

#include "tools/telemetry_sample.h"

#include <stdio.h>

/** The longest line, with its end. A reader needs no more memory than for one. */
#define STAT_RECORD_LINE 4096

/**
 * Write the first line.
 * @param begun seconds since 1970
 * @param interval between two samples, in seconds
 * @return 0 or a negative errno.
 */
int stat_record_begin(FILE *out, double begun, double interval);

/** Write a line for each row of @p s, and flush. @return 0 or a negative errno. */
int stat_record_write(FILE *out, const struct telemetry_sample *s, uint64_t time_ns);

enum stat_record_result {
	STAT_RECORD_ROW,
	STAT_RECORD_END,
	STAT_RECORD_BAD, /**< error says why, in a sentence without its end */
};

/** Zero-initialised but for in. */
struct stat_record_reader {
	FILE *in;
	double begun, interval; /**< as for stat_record_begin(), once something was read */
	unsigned long line;     /**< the number of the last one */
	uint64_t time_ns;       /**< of the last row */
	bool cut;               /**< whoever wrote it was ended within the last line */
	char error[128];
	char text[STAT_RECORD_LINE + 1];
};

/** Read the next row, of which nothing is believed but its types. */
enum stat_record_result stat_record_read(struct stat_record_reader *r, struct telemetry_row *row);

#endif
