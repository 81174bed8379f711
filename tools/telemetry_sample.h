/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file telemetry_sample.h
 * What all processes did at one time: a row for each QP with its connection, and for each
 * connection without a QP; and their rates since the sample before.
 */
#ifndef TOOLS_TELEMETRY_SAMPLE_H
#define TOOLS_TELEMETRY_SAMPLE_H

#include "tools/telemetry_client.h"

#include <stdint.h>

struct telemetry_row {
	pid_t pid;
	uint32_t qp; /**< 0: a connection without a QP */
	char program[20], device[36], state[16], local[72], remote[72], cc[16];
	bool connected;
	uint64_t srtt, min_rtt, cwnd, pacing_rate, mss, queued, unread; /**< ns, bytes */
	uint64_t bytes_acked, bytes_received, retransmits, timeouts, out_of_order;
	uint32_t sends, receives;           /**< completed; modulo 2^32 */
	uint32_t send_depth, receive_depth; /**< posted, and not completed */
	/** Per second, since the sample before; 0 if it was not there. */
	double bytes_out_rate, bytes_in_rate, operation_rate, retransmit_rate;
};

struct telemetry_sample {
	double time; /**< seconds since 1970 */
	struct telemetry_row *row;
	size_t n;
	unsigned processes;
};

/** Ask all. @param before NULL: there was none. @return 0 or -ENOMEM. */
int telemetry_sample_take(struct telemetry_sample *s, struct telemetry_clients *c,
	const struct telemetry_sample *before);

void telemetry_sample_free(struct telemetry_sample *s);

/** The row of the same QP or connection, or NULL. */
const struct telemetry_row *telemetry_sample_find(
	const struct telemetry_sample *s, const struct telemetry_row *like);

#endif
