/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file min_rtt.h
 * The least round trip of the last minutes (RFC 8985 section 6.2, step 1): a path that became
 * longer is believed after a while. Two halves of the window, so it costs 12 bytes.
 */
#ifndef TCP_MIN_RTT_H
#define TCP_MIN_RTT_H

#include "tcp/seq.h"

/** A sample counts for this long at least and twice as long at most: in all, Linux's 300 s. */
#define TCP_MIN_RTT_HALF_MS 150000u

/** Zero-initialised has no sample. Round trips in ns; above 4.2 s they count as that. */
struct tcp_min_rtt {
	uint32_t young, old; /**< of this half of the window, of the one before; 0: none */
	uint32_t since_ms;   /**< when this half began */
};

static inline void tcp_min_rtt_sample(struct tcp_min_rtt *m, uint64_t rtt, uint32_t now_ms)
{
	uint32_t r = rtt > UINT32_MAX ? UINT32_MAX : rtt ? (uint32_t)rtt : 1;

	if (!m->young || now_ms - m->since_ms >= TCP_MIN_RTT_HALF_MS) {
		m->old = now_ms - m->since_ms < 2 * TCP_MIN_RTT_HALF_MS ? m->young : 0;
		m->young = r;
		m->since_ms = now_ms;
	} else if (r < m->young) {
		m->young = r;
	}
}

/** @return ns; 0: none yet. */
static inline uint64_t tcp_min_rtt_get(const struct tcp_min_rtt *m)
{
	return m->old && m->old < m->young ? m->old : m->young;
}

#endif
