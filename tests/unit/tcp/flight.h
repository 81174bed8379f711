/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flight.h Ten records in flight on a path with a known round trip, for recovery's tests. */
#ifndef TESTS_UNIT_TCP_FLIGHT_H
#define TESTS_UNIT_TCP_FLIGHT_H

#include "host.h"

#define LEN 1000
#define RTT (20 * MS)

struct flight {
	struct host h;
	struct peer p;
	struct tcp_conn *c;
	uint32_t first; /**< sequence number of record 0 */
	uint32_t made;  /**< records given to the connection so far */
};

/** Accept a connection with a known round trip of RTT; nothing is in flight. */
void flight_init(struct flight *f, unsigned options, const char *congestion_control);

/** Hand @p n records of LEN bytes to the connection. */
void flight_make(struct flight *f, unsigned n);

/** flight_init() with newreno, ten records in flight, and a round trip gone by. */
void flight_start(struct flight *f, unsigned options);

/** Take record @p i off the wire, sent again or for the first time. */
void flight_expect(struct flight *f, unsigned i);

/** The peer acknowledges all before record @p n. */
void flight_ack(struct flight *f, unsigned n);

/** The peer acknowledges all before record @p acked, and has [@p from, @p to). */
void flight_sack(struct flight *f, unsigned acked, unsigned from, unsigned to);

/** The peer's answer comes with the time stamp of what it got @p ago. */
void flight_echo(struct flight *f, uint64_t ago);

#endif
