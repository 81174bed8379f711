/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rate.h
 * How fast the network delivers: one sample for each ACK (draft-cheng-iccrg-delivery-rate-
 * estimation). Each record remembers, when it is sent, what had been delivered by then; when it is
 * acknowledged, what was delivered meanwhile, over the time it took, is the sample.
 */
#ifndef TCP_RATE_H
#define TCP_RATE_H

#include <stdbool.h>
#include <stdint.h>

/** What one ACK tells. Bytes and ns; rate = delivered / interval. */
struct tcp_rate_sample {
	uint64_t interval;        /**< 0: this ACK gives no sample */
	uint64_t delivered;       /**< between the sending of the newest record delivered and now */
	uint64_t prior_delivered; /**< the connection's count when that record was sent */
	uint32_t tx_in_flight;    /**< in flight when it was sent, itself included */
	uint32_t lost;            /**< marked lost since it was sent */
	bool app_limited;         /**< the sender had nothing to send then: a lower bound only */
};

/** In bytes per second. */
static inline uint64_t tcp_rate_of(const struct tcp_rate_sample *s)
{
	/* What is delivered within one interval is less than 2^32: no overflow. */
	return s->interval ? s->delivered * UINT64_C(1000000000) / s->interval : 0;
}

#endif
