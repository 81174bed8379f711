/* SPDX-License-Identifier: BSD-2-Clause */
/** @file rto.h The retransmission timeout of RFC 6298. Times in ns. */
#ifndef TCP_RTO_H
#define TCP_RTO_H

#include <stdbool.h>
#include <stdint.h>

#define TCP_MS UINT64_C(1000000)

/** RFC 6298 section 2.1. */
#define TCP_RTO_INITIAL (1000 * TCP_MS)
/** RFC 6298 section 5.7: when text begins after a SYN that had to be sent again. */
#define TCP_RTO_AFTER_SYN_LOSS (3000 * TCP_MS)
/**
 * RFC 6298 section 2.4 recommends 1 s against spurious timeouts of coarse clocks; ours is fine, so
 * the floor only has to exceed the delayed ACKs that are deployed (200 ms, as most stacks). They
 * come on top of the round trip, so it is the floor of what is added to SRTT.
 */
#define TCP_RTO_MIN (200 * TCP_MS)
/** RFC 6298 section 2.5: at least 60 s. */
#define TCP_RTO_MAX (60000 * TCP_MS)
/** What an outage leaves of the doublings, once the peer is heard again: tcp_rto_progress(). */
#define TCP_RTO_KEPT (4000 * TCP_MS)

struct tcp_rto {
	uint64_t srtt, rttvar, base;               /**< srtt 0: no sample yet */
	uint64_t srtt_frac : 20, rttvar_frac : 20; /**< of ns, in 2^-20 */
	uint64_t backoff : 4;                      /**< doublings since the last sample */
	uint64_t kept : 4;      /**< of them, those from before the last progress */
	uint64_t spurious : 16; /**< timeouts that were; no more than can be counted so */
};

void tcp_rto_init(struct tcp_rto *r);

/**
 * A round trip was measured (RFC 6298 sections 2.2 and 2.3), as it is 2^@p log2 times in each: so
 * much less it weighs, lest the history be forgotten within one (RFC 7323 appendix G). It ends the
 * doubling (the end of RFC 6298 section 5): an old timeout on top of a slow round trip is no sign
 * of either.
 */
void tcp_rto_sample_often(struct tcp_rto *r, uint64_t rtt, unsigned log2);

static inline void tcp_rto_sample(struct tcp_rto *r, uint64_t rtt)
{
	tcp_rto_sample_often(r, rtt, 0);
}

/** The timeout now, doublings included (section 5.5). */
uint64_t tcp_rto_get(const struct tcp_rto *r);

/** How long an answer may take. */
static inline uint64_t tcp_rto_answer(const struct tcp_rto *r)
{
	return r->srtt ? r->base : TCP_RTO_MIN;
}

/** The timer expired: double (section 5.5). */
void tcp_rto_expired(struct tcp_rto *r);

/**
 * New data was acknowledged. That alone does not end the doubling: it may be the late answer to
 * what was sent again in vain. So says Karn (RFC 1122 section 4.2.3.1), lest a timeout that is
 * shorter than the round trip stays so. But of an outage, however long, no more is left than
 * TCP_RTO_KEPT, or one doubling since the last progress: so a path that is slower still gets the
 * timeout that it needs, a little more each time.
 */
void tcp_rto_progress(struct tcp_rto *r);

/** What was doubled for was not the path. */
static inline void tcp_rto_collapse(struct tcp_rto *r)
{
	r->backoff = r->kept = 0;
}

#endif
