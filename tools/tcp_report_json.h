/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tcp_report_json.h
 * The JSON output of uiwarp tcp: one object a line, with its kind in "event". Times are in seconds
 * since the connection was established, or in ns if the name says so. Sizes are in bytes.
 */
#ifndef TOOLS_TCP_REPORT_JSON_H
#define TOOLS_TCP_REPORT_JSON_H

#include "tools/tcp_report.h"

/** The differences between two views of a connection. */
struct tcp_figures {
	double start, end; /**< seconds since it was established */
	uint64_t bytes;    /**< source: acknowledged; others: received */
	uint64_t messages, retransmits, timeouts, out_of_order;
	double bits_per_second;
};

void tcp_report_json_listening(const struct tcp_session *s);
void tcp_report_json_connected(const struct tcp_stream *t);
void tcp_report_json_interval(const struct tcp_stream *t, const struct tcp_figures *f);

/** @param error why it failed, or NULL. */
void tcp_report_json_end(
	const struct tcp_stream *t, const struct tcp_figures *f, const char *error);
void tcp_report_json_total(const struct tcp_totals *totals, double cpu_seconds);

#endif
