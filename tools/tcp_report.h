/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tcp_report.h
 * The output of uiwarp tcp: as text, a line per interval and a summary; or one JSON object a line.
 * Errors go to stderr.
 */
#ifndef TOOLS_TCP_REPORT_H
#define TOOLS_TCP_REPORT_H

#include "tools/tcp_session.h"

/** Sums over the connections that have ended. */
struct tcp_totals {
	unsigned streams, failed;
	uint64_t bytes;
	double bits_per_second;
};

void tcp_report_listening(const struct tcp_session *s);
void tcp_report_connected(const struct tcp_session *s, const struct tcp_stream *t);

/** From t->start to t->view. */
void tcp_report_interval(const struct tcp_session *s, const struct tcp_stream *t);

/** The connection has ended: its summary, a sentence on stderr if it failed; count it. */
void tcp_report_end(
	const struct tcp_session *s, const struct tcp_stream *t, struct tcp_totals *totals);

/** All connections have ended. */
void tcp_report_total(const struct tcp_session *s, const struct tcp_totals *totals);

#endif
