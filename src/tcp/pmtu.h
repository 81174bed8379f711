/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pmtu.h
 * The size of packets that the path takes. A connection begins with what the IP layer says and
 * goes down when it is told to (RFC 1191, RFC 8201), as far as RFC 5927 section 7 lets it believe
 * that, or when large segments vanish and nobody says why: a black hole (RFC 8899 section 4.3). It
 * goes up again by probes (RFC 4821, RFC 8899).
 *
 * A probe is one segment that repeats text which is in flight, as much of it as the size asks for.
 * The peer has that text already when the probe comes, so it tells of the probe in a D-SACK
 * (RFC 2883); and if the path drops the probe, nothing is missing: no gap to be filled, no signal
 * of congestion, no byte that comes later.
 */
#ifndef TCP_PMTU_H
#define TCP_PMTU_H

#include "tcp/conn.h"

/** What remains to be done about a path's MTU; connections at rest have none. Sizes of packets. */
struct tcp_pmtu {
	uint16_t high; /**< the largest that may still pass; the connection's mtu is what does */
	uint16_t size; /**< of the probe that is out; 0: none */
	uint16_t lost; /**< the largest of those that were lost since the last news of one, ... */
	uint8_t tries; /**< ... and how many they are */
	bool try_high; /**< next: high itself, not what lies between */
	uint32_t seq, len; /**< the text of the last probe */
	uint64_t sent_at;
	uint64_t raise_at; /**< the search is over until then; 0: it is not */
	uint16_t claimed;  /**< an ICMP message's MTU that is not believed yet; 0: none */
	uint32_t claimed_seq;
};

/** The IP layer's MTU of the path is another one than before. */
void tcp_pmtu_path_changed(struct tcp_conn *c);

/**
 * "Too big" came for the packet that begins at @p seq, which is in flight.
 * @param mtu the next hop's, as told; 0: it did not tell (before RFC 1191).
 * @return false: not believed.
 */
bool tcp_pmtu_too_big(struct tcp_conn *c, uint32_t seq, uint16_t mtu);

/**
 * Record @p i of the queue is about to be sent again. @return true if the MTU fell for that: the
 * queue has changed.
 */
bool tcp_pmtu_suspect(struct tcp_conn *c, uint32_t i);

/** Everything has been sent that may be: is it time for a probe? */
void tcp_pmtu_consider(struct tcp_conn *c);

/** Take the answer to a probe out of @p seg's SACK option: it tells nothing of loss. */
void tcp_pmtu_sack(struct tcp_conn *c, struct tcp_segment *seg);

void tcp_pmtu_free(struct tcp_conn *c);

/** Segments no larger than this (text) are not what black holes swallow. */
#define TCP_PMTU_SMALL 512

/** An ACK told of the delivery of a segment with @p len bytes of text. */
static inline void tcp_pmtu_delivered(struct tcp_conn *c, uint32_t len)
{
	if (len >= c->big_len || c->s->now_ms - c->big_ms > 1000) {
		c->big_len = (uint16_t)len;
		c->big_ms = c->s->now_ms;
	}
	if (len > c->largest_acked)
		c->largest_acked = (uint16_t)len;
}

#endif
