/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rate.h
 * How fast the network delivers: one sample for each ACK (draft-cheng-iccrg-delivery-rate-
 * estimation). Each record remembers, when it is sent, what had been delivered by then; when it is
 * acknowledged, what was delivered meanwhile, over the time it took, is the sample.
 *
 * Bytes and ns; counts of bytes are modulo 2^32, only differences mean anything.
 */
#ifndef TCP_RATE_H
#define TCP_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct tcp_conn;
struct tcp_record;
struct tcp_delivery;

/** A connection's state; zero-initialised is the beginning. */
struct tcp_rate {
	uint64_t delivered_at;  /**< when delivered grew last */
	uint64_t first_sent_at; /**< of the record that began the send phase of the next sample */
	uint32_t delivered;     /**< acknowledged or SACKed in all */
	uint32_t app_limited_until; /**< while app_limited: until this much is delivered */
	uint32_t told_lost;         /**< of what was ever lost: congestion control knows of this */
	bool app_limited;           /**< the network is not what limits */
	uint32_t last_delivered,
		last_interval; /**< the last sample; the latter in 1024 ns, 0: none */
};

/** What one ACK tells: rate = delivered / interval. */
struct tcp_rate_sample {
	uint64_t interval;        /**< 0: this ACK gives no sample */
	uint32_t delivered;       /**< between the sending of the newest record delivered and now */
	uint32_t prior_delivered; /**< the connection's count when that record was sent */
	uint32_t total_delivered; /**< the same, now */
	uint32_t tx_in_flight;    /**< in flight when it was sent, itself included */
	uint32_t lost;            /**< marked lost since it was sent */
	bool app_limited;         /**< the network was not what limited then: a lower bound only */
};

/** In bytes per second. */
static inline uint64_t tcp_rate_of(const struct tcp_rate_sample *s)
{
	return s->interval ? s->delivered * UINT64_C(1000000000) / s->interval : 0;
}

/** @p r goes out now, first or again, with @p in_flight before it: remember where we are. */
void tcp_rate_on_sent(struct tcp_conn *c, struct tcp_record *r, uint32_t in_flight);

/** Nothing is left to send though windows have room, and @p in_flight is outstanding. */
void tcp_rate_app_limited(struct tcp_conn *c, uint32_t in_flight);

/** After an ACK delivered @p d: count it, and take the sample. */
void tcp_rate_take(struct tcp_conn *c, const struct tcp_delivery *d, struct tcp_rate_sample *out);

/**
 * @return what was lost since this was asked last; less than nothing, which happens, is nothing.
 */
uint32_t tcp_rate_newly_lost(struct tcp_conn *c);

/** The last sample, in bytes per second; 0: there was none. */
uint64_t tcp_rate_last(const struct tcp_rate *r);

#endif
