/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file external_backoff.h
 * A device may lose the segments that it is to gather, without a word: it cannot read a part that
 * crosses pages, or has a limit of parts. As what is sent again is a copy, the stream goes on,
 * slowly, and nothing tells. So a connection that has to send many of them again makes copies for a
 * while.
 *
 * They are counted in series, by those that are sent for the first time. So what a link loses at
 * once, be it ever so much, is one bad series, or two. Pure.
 */
#ifndef TCP_EXTERNAL_BACKOFF_H
#define TCP_EXTERNAL_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/** Segments of a series; it is bad if a fifth is lost. */
#define TCP_EXTERNAL_SERIES 16
/** Bad series in succession that are the device's fault. */
#define TCP_EXTERNAL_BAD 4
/** Good ones in succession after which that is forgotten. */
#define TCP_EXTERNAL_GOOD 16

/** Zeros at first. */
struct tcp_external_backoff {
	uint32_t sent, lost; /**< of this series */
	uint32_t bad, good;  /**< series in succession */
	uint32_t times;      /**< that they were lost, up to where the time no longer doubles */
	uint64_t until;      /**< when the next is sent, in ns */
};

/** One is sent at @p now. @return how long copies are made from now on, in ns; 0: as before. */
uint64_t tcp_external_backoff_sent(struct tcp_external_backoff *b, uint64_t now);

/** One is sent again. */
static inline void tcp_external_backoff_lost(struct tcp_external_backoff *b)
{
	b->lost++;
}

static inline bool tcp_external_backoff_lasts(const struct tcp_external_backoff *b, uint64_t now)
{
	return now < b->until;
}

#endif
