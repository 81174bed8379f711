/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file select.h
 * What of a capture is told of: connections by number and by host, and a span of time. All of the
 * capture is followed all the same, so that numbers and judgement do not hang on the selection.
 */
#ifndef PCAP_SELECT_H
#define PCAP_SELECT_H

#include "pcap/connection.h"

#define SELECT_MAX 16

/** Hosts with the same first bits. */
struct select_net {
	struct ip_addr addr;
	unsigned prefix;
};

/** Without ids and nets: all connections. With both: those that meet both. */
struct select {
	uint64_t ids[SELECT_MAX];
	struct select_net nets[SELECT_MAX]; /**< either end is in one of them */
	unsigned num_ids, num_nets;
	const struct connection_ops *ops; /**< of who is told of them */
	void *user;                       /**< of ops */
	uint64_t connections;             /**< that were selected */
};

/**
 * For follow_init(), with a struct select: passes the selected connections on to its ops, and what
 * the port mappers of selected hosts say, unless connections are selected by number.
 */
extern const struct connection_ops select_ops;

/** A time in ns: since 1970, or since the first frame of the capture. */
struct select_time {
	bool given, since_1970;
	uint64_t ns;
};

/** Zero-initialised is all of the time. */
struct select_span {
	struct select_time from, to;
};

/**
 * Parse "SECONDS" since the first frame or "@SECONDS" since 1970, with at most nine decimals.
 * @return false: it is neither.
 */
bool select_parse_time(const char *text, struct select_time *t);

/** True if @p time (since 1970) is in the span, of a capture that began at @p origin. */
bool select_holds(const struct select_span *span, uint64_t origin, uint64_t time);

#endif
