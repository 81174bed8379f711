/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pace.h
 * Pacing: records go out at the rate that congestion control gives, not in the bursts in which
 * windows open. In quanta: what takes some microseconds at that rate, two segments at least,
 * leaves together; then the next waits for its time, to the nanosecond.
 */
#ifndef TCP_PACE_H
#define TCP_PACE_H

#include "base/timer_heap.h"
#include "tcp/seq.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * A quantum is what the rate gives in 2^-17 s, 7.6 us: up to 10 Gbit/s bursts of two to seven
 * packets of 1500 bytes, 66 at 100 Gbit/s.
 */
#define TCP_PACE_QUANTUM_SHIFT 17
/** No more leaves together at any rate; sums of a few of these and a window do not wrap. */
#define TCP_PACE_QUANTUM_MAX (1u << 28)
/** Below this rate, bytes per second (1.2 Mbit/s), segments leave one by one. */
#define TCP_PACE_SINGLES 150000

struct tcp_conn;

/** A connection's state. */
struct tcp_pace {
	uint64_t at;      /**< nothing leaves before */
	int32_t sent;     /**< bytes since then; negative: that much is free */
	uint32_t quantum; /**< bytes that leave together */
	uint32_t owed;    /**< ns of lateness that is still to be made up for */
	bool behind;      /**< something has waited since we last had nothing to send */
};

/** Bytes that leave together at @p rate bytes per second, in segments of @p mss. */
static inline uint32_t tcp_pace_quantum(uint64_t rate, uint32_t mss)
{
	uint64_t quantum = u64_min(rate >> TCP_PACE_QUANTUM_SHIFT, TCP_PACE_QUANTUM_MAX);

	return u32_max(rate < TCP_PACE_SINGLES ? mss : 2 * mss, (uint32_t)quantum);
}

/** The handshake is over: the initial window goes out at once (RFC 6928 is about that burst). */
void tcp_pace_init(struct tcp_conn *c);

/** The connection ends. */
void tcp_pace_stop(struct tcp_conn *c);

/**
 * Sending begins again after a pause of at least a round trip: a few segments at once do no harm.
 */
void tcp_pace_restart(struct tcp_conn *c);

/** Has the time come? If not, the connection becomes dirty when it has. */
bool tcp_pace_may_send(struct tcp_conn *c);

/** @p len bytes went out; @p in_flight are outstanding. */
void tcp_pace_sent(struct tcp_conn *c, uint32_t len, uint32_t in_flight);

/** Nothing waits any more, or waits for something else than time. */
void tcp_pace_idle(struct tcp_conn *c);

#endif
