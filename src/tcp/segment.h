/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file segment.h
 * A segment of a synchronized connection on its way out: what every one has in its header, and what
 * sending it settles. control.c and output.c make segments of these steps.
 */
#ifndef TCP_SEGMENT_H
#define TCP_SEGMENT_H

#include "tcp/conn.h"

/** Fill in @p h: ports, numbers, window, timestamp, ECN-Echo. Moves the window's promised edge. */
void tcp_segment_begin(struct tcp_conn *c, struct tcp_segment *h, uint32_t seq, uint8_t flags);

/** SACK blocks into @p h, as many as fit @p room bytes of options. */
void tcp_segment_add_sack(struct tcp_conn *c, struct tcp_segment *h, uint32_t room);

/**
 * The ACK in the segment being built is the newest: nothing more is owed, unless it had no room
 * for what SACK has to tell.
 */
void tcp_segment_acknowledged(struct tcp_conn *c);

/**
 * Count and send @p m, which begins with the TCP header; owns it.
 * @param text as for ip_send_summed(). @return as ip_send().
 */
int tcp_segment_send(struct tcp_conn *c, struct rte_mbuf *m, struct ip_text_sum text);

/**
 * The same, and have its headers in @p pattern, if they can be, for text as long that is sent
 * before anything else happens.
 */
int tcp_segment_send_first(struct tcp_conn *c, struct rte_mbuf *m, struct ip_text_sum text,
	struct ip_pattern *pattern);

/** Count and send the text @p m, which begins at @p seq, by @p pattern; owns it. */
void tcp_segment_send_alike(struct tcp_conn *c, const struct ip_pattern *pattern,
	struct rte_mbuf *m, uint32_t seq, uint16_t sum);

/** Send @p h and no text. @return as ip_send(), or -ENOMEM. */
int tcp_segment_send_bare(struct tcp_conn *c, const struct tcp_segment *h);

#endif
