/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file buffer.h
 * How much a connection may hold back each way: the receive buffer, which is the window that the
 * peer may fill, and the send buffer. Both follow what the path carries, within the stack's share
 * of the packet pool. Packets are counted, not bytes of text: a packet of one byte costs a whole
 * one.
 *
 * The share of one connection is a dynamic threshold: TCP_SHARE/(TCP_SHARE + 1) of what the others
 * leave. So one alone gets most of it, many get equal parts, and a part is always free for the next
 * one. Nobody has to be told. Memory is taken back by not moving the window's edge on.
 */
#ifndef TCP_BUFFER_H
#define TCP_BUFFER_H

#include "tcp/conn.h"

/** The receive buffer that every connection has, whatever the others hold: two of MPA's FPDUs. */
#define TCP_RECEIVE_BUFFER_MIN (128u * 1024)
/** The send buffer of a connection with a small cwnd: what a round of the engine can use up. */
#define TCP_SEND_BUFFER_MIN (512u * 1024)
/** RFC 7323 section 2.3: no window is larger than 2^30. */
#define TCP_BUFFER_MAX (1u << 30)
/** The same when half of the send budget is taken. */
#define TCP_SEND_BUFFER_SHORT (64u * 1024)
/** Full segments that may wait for a window that is closed: what goes out when it opens. */
#define TCP_SEND_BUFFER_CLOSED 4u
/** Records that a connection may queue though the others have taken all of the send budget but the
 *  part that is kept for this: a handshake of MPA, and the first of what follows. */
#define TCP_SEND_FLOOR 8u
/** Packets of unread text that a connection may hold though the others have taken all of the
 * receive budget but the part that is kept for this: a handshake of MPA, short FPDUs. */
#define TCP_RECEIVE_FLOOR 8u
/** A connection may have as much as this times what is left. */
#define TCP_SHARE 4u

/** Budgets and the window scale, from the pool and the configuration. */
void tcp_buffer_init_stack(struct tcp_stack *s);

/** The connection begins with the least. */
void tcp_buffer_init(struct tcp_conn *c);

/** It is established: the path's round trip time is known, perhaps, and measuring begins. */
void tcp_buffer_establish(struct tcp_conn *c);

/** It ends: what it claimed is free. */
void tcp_buffer_release(struct tcp_conn *c);

/** A round trip is over: let the receive buffer follow what came in it and was taken. */
void tcp_buffer_measure(struct tcp_conn *c);

/** Text comes, not counted in yet: is it time to measure? */
static inline void tcp_buffer_received(struct tcp_conn *c)
{
	if (c->s->now >= c->measure_at)
		tcp_buffer_measure(c);
}

/** The least that counts as a full segment: what every host takes (RFC 9293 section 3.7.1). */
#define TCP_RCV_MSS_MIN 536

/** May a segment with @p len bytes of text be a full one though larger ones came before? */
static inline bool tcp_buffer_is_full_segment(const struct tcp_conn *c, uint32_t len, uint8_t flags)
{
	/* The largest of this measurement so far, again; and its sender had more to send behind
	 * it: a message, or the end of one, has PSH, and its size says nothing. */
	return len == c->rcv_mss_now && !(flags & (TCP_PSH | TCP_FIN)) && len >= TCP_RCV_MSS_MIN;
}

/**
 * A segment with @p len bytes of text came, and @p flags. One that is larger than all before is a
 * full one. The path, or the peer, may have come down to less: then an ACK is due the sooner.
 */
static inline void tcp_buffer_segment(struct tcp_conn *c, uint32_t len, uint8_t flags)
{
	if (unlikely(len > c->rcv_mss_now)) {
		/* A port may have joined segments. */
		c->rcv_mss_now = (uint16_t)u32_min(len, c->mtu);
		if (c->rcv_mss < c->rcv_mss_now)
			c->rcv_mss = c->rcv_mss_now;
	} else if (unlikely(len < c->rcv_mss) && tcp_buffer_is_full_segment(c, len, flags)) {
		c->rcv_mss = (uint16_t)len;
	}
}

/** Bytes that may be unread or on their way here, now. */
static inline uint32_t tcp_rcv_buffer(const struct tcp_conn *c)
{
	return c->rcv_buffer;
}

/** Packets of all connections that may wait at most for one more of @p c, in order, to wait. */
static inline uint32_t tcp_buffer_receive_limit(const struct tcp_conn *c)
{
	uint32_t hard = c->s->rx_hard_limit;

	/* Half of what text in order has before that behind gaps is kept. */
	return c->recvq.count < TCP_RECEIVE_FLOOR ? hard : hard - hard / 14;
}

/** Where the window would end if it were told now; never before RCV.NXT. */
static inline uint32_t tcp_buffer_edge(const struct tcp_conn *c)
{
	uint32_t unread = c->recvq.bytes;

	return c->rcv_nxt + (c->rcv_buffer > unread ? c->rcv_buffer - unread : 0);
}

/** The least step in which the window opens (RFC 9293 section 3.8.6.2.2). */
static inline uint32_t tcp_buffer_step(const struct tcp_conn *c)
{
	return u32_min(c->rcv_buffer / 2, u32_max(c->rcv_mss, c->emss));
}

/** Bytes of text that may be queued and not yet be with the peer. */
uint32_t tcp_snd_buffer(const struct tcp_conn *c);

/** The same, but no more than the peer's window takes, and a little for when it moves on. */
uint32_t tcp_buffer_send_limit(const struct tcp_conn *c);

/** May @p len more bytes be queued? At least one record always may, while there are packets. */
bool tcp_buffer_may_queue(const struct tcp_conn *c, uint32_t len);

#endif
