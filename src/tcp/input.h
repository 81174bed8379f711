/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file input.h
 * The stages of a received segment: input.c finds its connection and takes the fast path where
 * it can; input_segment.c is RFC 9293 section 3.10.7; input_ack.c and input_data.c its parts.
 */
#ifndef TCP_INPUT_H
#define TCP_INPUT_H

#include "tcp/conn.h"

/** As ip_transport's input(): owns @p m. @p ctx is the stack. */
void tcp_input(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now);

/** As ip_transport's burst(): with many connections, have theirs fetched into the cache. */
void tcp_burst_comes(void *ctx, struct rte_mbuf *const *pkts, unsigned n);

/** As ip_transport's error(). */
void tcp_icmp_error(void *ctx, const struct ip_error *e, uint64_t now);

/** RFC 9293 section 3.10.7.4, first: does any of @p seg lie in [@p nxt, @p nxt + @p wnd)? Or is it
 * an ACK at the end of that. */
bool tcp_segment_acceptable(const struct tcp_segment *seg, uint32_t nxt, uint32_t wnd);

/** A segment of an existing connection, any state. @p m begins at the text; owned. */
void tcp_segment_arrives(
	struct tcp_conn *c, const struct ip_rx *rx, struct tcp_segment *seg, struct rte_mbuf *m);

/**
 * The ACK field of a segment of a synchronized connection, known to lie within
 * [SND.UNA - MAX.SND.WND, SND.MAX]: window, scoreboard, queue, timers, congestion control.
 */
void tcp_ack_arrives(struct tcp_conn *c, const struct tcp_segment *seg);

/**
 * As tcp_ack_arrives(), for a segment whose text is next. If all has been sent, so that the ACK
 * lets nothing go, it is put off: somebody may wait for the text. One ACK at most is owed.
 */
void tcp_ack_arrives_with_text(struct tcp_conn *c, const struct tcp_segment *seg);

/**
 * Do what is owed, as of when it came. So it is before anything else comes in, before a timer does
 * anything, before text is sent that it may hold back, and when the round ends.
 */
void tcp_ack_settle(struct tcp_stack *s);

/**
 * In-order text: SEG.SEQ = RCV.NXT, within the window. To the user at once, what is left to the
 * queue. Owns @p m.
 */
void tcp_text_in_order(struct tcp_conn *c, const struct tcp_segment *seg, struct rte_mbuf *m);

/** Text anywhere, trimmed to the window here. Owns @p m. */
void tcp_text_arrives(struct tcp_conn *c, struct tcp_segment *seg, struct rte_mbuf *m);

/** Show the user what is unread, if it wants to see it. */
void tcp_show_unread(struct tcp_conn *c);

/** Bytes after which a gap's time stamp (tcp_ooo_state.ts_gap) is taken anew: far below 2^32. */
#define TCP_GAP_MAX (1u << 30)

/** 24 days. */
#define TCP_TS_OLD tcp_coarse(UINT64_C(24) * 24 * 3600 * 1000 * TCP_MS)

/** RFC 7323 section 5.5: after 24 days of silence TS.Recent says nothing. */
static inline bool tcp_ts_recent_is_old(const struct tcp_conn *c)
{
	return tcp_coarse(c->s->now) - c->ts_recent_at > TCP_TS_OLD;
}

/** Take RFC 7323's TS.Recent from a segment that was accepted. */
static inline void tcp_take_timestamp(struct tcp_conn *c, const struct tcp_segment *seg)
{
	/* RFC 7323 section 4.3, step 2. */
	if ((seg->has & TCP_HAS_TS) && seq_leq(seg->seq, c->last_ack_sent) &&
		(seq_geq(seg->tsval, c->ts_recent) || tcp_ts_recent_is_old(c))) {
		c->ts_recent = seg->tsval;
		c->ts_recent_at = tcp_coarse(c->s->now);
		c->ts_echo = seg->tsecr;
	}
}

/**
 * A segment has passed every check of RFC 9293 section 3.10.7.4 up to that of its ACK field. Before
 * this it changes nothing of its connection: what is refused may be anybody's.
 */
static inline void tcp_segment_accepted(struct tcp_conn *c, const struct tcp_segment *seg)
{
	c->heard_at = c->s->now;
	tcp_take_timestamp(c, seg);
}

#endif
