/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file hystart.h
 * HyStart++ (RFC 9406): leave slow start when the round trip grows, before the queue overflows;
 * first for a conservative slow start (CSS), in case it grew for another reason.
 */
#ifndef TCP_HYSTART_H
#define TCP_HYSTART_H

#include <stdbool.h>
#include <stdint.h>

/** RFC 9406 section 4.3, CSS_GROWTH_DIVISOR. */
#define TCP_HYSTART_CSS_DIVISOR 4

/** Zero-initialised is the beginning. Round trips in microseconds. */
struct tcp_hystart {
	uint32_t window_end;          /**< the round ends when this is acknowledged */
	uint32_t last_min, round_min; /**< of the last and this round; UINT32_MAX: none */
	uint32_t group_min;           /**< of the last samples, up to eight */
	uint32_t css_baseline;
	uint8_t samples;    /**< of these; 0: none in this round yet */
	uint8_t css_rounds; /**< left; 0: not in CSS */
	bool running;       /**< a round has begun */
};

enum tcp_hystart_growth {
	TCP_HYSTART_FULL, /**< slow start: a byte for each byte */
	TCP_HYSTART_CSS,  /**< conservative: a part of it */
	TCP_HYSTART_DONE  /**< on to congestion avoidance */
};

/**
 * An ACK during slow start.
 * @param rtt its RTT sample in ns, 0: none.
 * @return how to grow by this ACK.
 */
enum tcp_hystart_growth tcp_hystart_ack(
	struct tcp_hystart *h, uint64_t rtt, uint32_t snd_una, uint32_t snd_nxt);

#endif
