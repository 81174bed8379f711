/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file telemetry_row.h
 * A QP with its connection, or a connection without a QP, at one time: read from what telemetry
 * answers (docs/telemetry.md), or from the same fields in the lines of a record (stat_record.h).
 */
#ifndef TOOLS_TELEMETRY_ROW_H
#define TOOLS_TELEMETRY_ROW_H

#include "base/json_reader.h"
#include "base/json_text.h"
#include "host/telemetry_socket.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** Texts have nothing in them but printable ASCII: nothing in one is a terminal's command. */
struct telemetry_row {
	pid_t pid;
	uint32_t qp; /**< 0: a connection without a QP */
	/**
	 * Of the process: PID namespaces may have the same numbers. The directory may be cut: at
	 * most one of them has a long name.
	 */
	char socket[TELEMETRY_NAME], directory[64];
	uint64_t started; /**< the process's stack, ns: its number may come again; 0: not told */
	char program[20], device[36], state[16], local[72], remote[72], cc[16];
	bool connected;
	uint64_t srtt, min_rtt, cwnd, pacing_rate, mss, queued, unread; /**< ns, bytes */
	uint64_t bytes_acked, bytes_received, retransmits, timeouts, out_of_order;
	uint32_t sends, receives;           /**< completed; modulo 2^32 */
	uint32_t send_depth, receive_depth; /**< posted, and not completed */
	/** Per second, since the sample before; 0 if it was not there. */
	double bytes_out_rate, bytes_in_rate, operation_rate, retransmit_rate;
};

/**
 * Read the object that is next, of any of the lists, of /uiwarp/info or of a record. What is not
 * there is 0, and what is not known is skipped. It is connected if it has a "remote".
 */
void telemetry_row_read(struct telemetry_row *r, struct json_reader *j);

/**
 * The same for a caller who has members of its own: read one. @param next 0 for the first; private.
 * @return false: it is not known, and the caller has to skip it.
 */
bool telemetry_row_read_member(struct telemetry_row *r, struct json_reader *j,
	const struct json_reader_key *key, size_t *next);

/** After the last one, of a row that was zero-initialised. */
void telemetry_row_read_end(struct telemetry_row *r);

/** By the process, for qsort(). */
int telemetry_row_compare_process(const struct telemetry_row *a, const struct telemetry_row *b);

/** "PID", or "PID.N" of another stack of that number. @return @p text. */
const char *telemetry_row_process(const struct telemetry_row *r, char text[TELEMETRY_NAME]);

/** Give a QP, of the same process, the numbers of its connection. */
void telemetry_row_connect(struct telemetry_row *qp, const struct telemetry_row *c);

/** Take the ends from a QP whose connection is not there. */
void telemetry_row_disconnect(struct telemetry_row *qp);

/** Write the members of an object from which telemetry_row_read() reads the same row, without its
 * rates. */
void telemetry_row_write(const struct telemetry_row *r, struct json_text *j);

#endif
