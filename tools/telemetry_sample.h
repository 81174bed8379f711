/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file telemetry_sample.h
 * What all processes did at one time: a row for each QP with its connection, and for each
 * connection without a QP; and their rates since the sample before.
 */
#ifndef TOOLS_TELEMETRY_SAMPLE_H
#define TOOLS_TELEMETRY_SAMPLE_H

#include "tools/telemetry_client.h"
#include "tools/telemetry_row.h"

struct telemetry_sample {
	double time;  /**< seconds since 1970 */
	double clock; /**< seconds of CLOCK_MONOTONIC: for rates */
	struct telemetry_row *row;
	size_t n, most; /**< rows */
	unsigned processes;
};

/** Ask all. @param before NULL: there was none. @return 0, -ENOMEM, or -ENOBUFS: it has more than
 * TELEMETRY_CLIENTS_ROWS.
 */
int telemetry_sample_take(struct telemetry_sample *s, struct telemetry_clients *c,
	const struct telemetry_sample *before);

/** A negative errno, of this or of what else keeps what all processes tell, for people. */
const char *telemetry_sample_error(int rc);

void telemetry_sample_free(struct telemetry_sample *s);

#endif
