/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file prr.h
 * Proportional rate reduction (RFC 6937, with the reduction bound of RFC 9937): during recovery,
 * how much may be sent for what each ACK says has arrived. Sizes in bytes.
 */
#ifndef TCP_PRR_H
#define TCP_PRR_H

#include "tcp/seq.h"

struct tcp_prr {
	uint32_t recover_fs; /**< in flight when recovery began, not 0 */
	uint32_t delivered;  /**< since then */
	uint32_t out;        /**< sent since then */
};

/** Recovery begins with @p in_flight believed to be in the network. */
static inline void tcp_prr_begin(struct tcp_prr *p, uint32_t in_flight)
{
	*p = (struct tcp_prr){.recover_fs = in_flight ? in_flight : 1};
}

/** @p n bytes are sent, for the first time or again. */
static inline void tcp_prr_sent(struct tcp_prr *p, uint32_t n)
{
	p->out += n;
}

/**
 * An ACK, or the reordering timer with nothing @p delivered.
 * @param pipe believed to be in the network now.
 * @param safe the ACK acknowledged new text and told of no further loss (RFC 9937: SafeACK).
 * @return how much may be sent now.
 */
static inline uint32_t tcp_prr_ack(struct tcp_prr *p, uint32_t delivered, uint32_t pipe,
	uint32_t ssthresh, uint32_t smss, bool safe)
{
	uint64_t due;
	uint32_t n;

	p->delivered += delivered;
	if (pipe > ssthresh) {
		due = ((uint64_t)p->delivered * ssthresh + p->recover_fs - 1) / p->recover_fs;
		n = due > p->out ? (uint32_t)(due - p->out) : 0;
	} else {
		/* The conservative bound, unless all goes well: then slow start's. */
		n = p->delivered > p->out ? p->delivered - p->out : 0;
		n = u32_max(n, delivered) + (safe ? smss : 0);
		n = u32_min(n, ssthresh - pipe);
	}
	return n || p->out ? n : smss; /* the fast retransmit itself */
}

#endif
