/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file telemetry_row.h
 * A QP with its connection, or a connection without a QP, at one time: read from what telemetry
 * answers (docs/telemetry.md), or from the same fields in the lines of a record (stat_record.h).
 */
#ifndef TOOLS_TELEMETRY_ROW_H
#define TOOLS_TELEMETRY_ROW_H

#include "base/json_text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** Texts have nothing in them but printable ASCII: nothing in one is a terminal's command. */
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

/** Read pid, program and device. What is not there is 0, here and below. */
void telemetry_row_read_process(struct telemetry_row *r, const json_t *o);

/** Read number, state and queues of a QP. */
void telemetry_row_read_qp(struct telemetry_row *r, const json_t *o);

/** Read a connection, but for its state. */
void telemetry_row_read_connection(struct telemetry_row *r, const json_t *o);

/** Read the state, of a connection without a QP. */
void telemetry_row_read_state(struct telemetry_row *r, const json_t *o);

/** Write the members of an object from which the above read the same row, without its rates. */
void telemetry_row_write(const struct telemetry_row *r, struct json_text *j);

#endif
