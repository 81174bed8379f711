/* SPDX-License-Identifier: BSD-2-Clause */
/** @file conn.h Private: a connection over a socket. */
#ifndef SOCK_CONN_H
#define SOCK_CONN_H

#include "base/container_of.h"
#include "sock/stack.h"

enum sock_state {
	SOCK_CONNECTING,
	SOCK_OPEN, /**< until both directions are closed */
	SOCK_OVER, /**< the descriptor is closed */
};

/** What a connection holds while it waits, in the account of its peer. */
struct sock_wait {
	struct peer_charge charge;
	int32_t weight; /**< of 64 bytes each */
};

struct sock_conn {
	struct llp llp;
	struct sock_source source;
	struct sock_stack *s;
	LIST_ENTRY(sock_conn) link; /**< in conns, then in dead */
	TAILQ_ENTRY(sock_conn) ready_link, dirty_link, held_link;
	struct ip_endpoint local, remote;
	struct sock_buffer *rx, *tx; /**< NULL: nothing is in them */
	struct timer timer;          /**< while something is unacknowledged, or an orphan lingers */
	struct sock_wait rx_wait;    /**< while its user leaves what has come, or needs more */
	struct sock_wait tx_wait;    /**< while the kernel has no room for what goes */
	struct peer_charge parting;  /**< an orphan is */
	uint64_t unacked_since;      /**< when the timer was started */
	uint64_t asked_at;           /**< first look that found an answer missing; 0: none is */
	uint32_t resent;             /**< segments that the kernel had sent again, and ... */
	unsigned tries;              /**< its tries to, both when the first of them grew last */
	uint64_t acked;              /**< bytes, the last time that enough was acknowledged */
	uint64_t acked_at;           /**< when that was, or something began to wait */
	uint64_t sent_at;            /**< time of the last send */
	unsigned series;             /**< sends since there was a pause between two */
	uint64_t taken;              /**< bytes that the kernel has taken */
	uint64_t acked_to;           /**< of them, the peer's, when it was looked at last */
	uint64_t acks_look;          /**< time from that look to the next */
	struct timer acks_timer;     /**< for it; acks.c */
	size_t need;                 /**< unread bytes until they are shown again */
	uint32_t emss;
	int error; /**< to be told at the end of the round, negative; 0: none */
	enum sock_state state;
	bool is_ready, is_dirty, is_held; /**< in that list */
	bool orphan;                      /**< the program is gone: what comes is dropped */
	/* Receiving. */
	bool urgent;  /**< a read may have ended at an urgent byte, with more behind it */
	bool more;    /**< the kernel may have more, and will not tell again */
	bool hangup;  /**< the peer has closed: read to the end */
	bool eof;     /**< there is no more */
	bool showing; /**< inside readable() */
	bool resume;  /**< llp_resume() in there */
	/* Sending. */
	bool heard;        /**< something has come since the last send */
	bool pushed;       /**< all that is queued may go */
	bool refused;      /**< a reservation was: tell writable() */
	bool blocked;      /**< the kernel has no room; epoll tells */
	bool corked;       /**< the last piece may wait in the kernel for more */
	bool acks_watched; /**< the user is told of acknowledgements */
	bool broken;       /**< the kernel takes no more: what has come is read, then it is over */
	bool fin_wanted, fin_sent;
	bool aborted; /**< it is reset, also after that */
};

static inline struct sock_conn *sock_conn_of(const struct llp *l)
{
	return container_of(l, struct sock_conn, llp);
}

/** @return the connection that is told of as @p source; NULL: it is of something else. */
struct sock_conn *sock_conn_of_source(struct sock_source *source);

/**
 * A connection on @p fd, which it owns from now on also on failure.
 * @return 0, -ENOMEM or -errno.
 */
int sock_conn_new(struct sock_stack *s, int fd, enum sock_state state, struct sock_conn **out);

/** The socket is connected: find out what is known only now. @return 0 or -errno. */
int sock_conn_opened(struct sock_conn *c);

/** It has something to be done at the end of the round. */
void sock_conn_mark_dirty(struct sock_conn *c);
void sock_conn_unmark_dirty(struct sock_conn *c);

/** What it has queued may wait for more, until sock_send_held(). */
void sock_conn_hold(struct sock_conn *c);
void sock_conn_unhold(struct sock_conn *c);

/** The kernel has more of it that epoll will not tell of. */
void sock_conn_mark_ready(struct sock_conn *c);
void sock_conn_unmark_ready(struct sock_conn *c);

/** Reset it, unless it was closed in good order, and close the descriptor. Allocates nothing. */
void sock_conn_close(struct sock_conn *c);

/** Close the descriptor, free what it holds, and the rest at the end of the round. */
void sock_conn_drop(struct sock_conn *c);

/** Nobody is to be told of it any more: see to it that it does not last. */
void sock_conn_orphan(struct sock_conn *c);

/** It is over: drop it and tell closed(). @param error 0 or negative. */
void sock_conn_end(struct sock_conn *c, int error);

/** End it if both directions are closed, the peer has acknowledged that, and all was read. */
void sock_conn_end_if_closed(struct sock_conn *c);

/** Was it reset, or given up by the kernel? */
bool sock_conn_is_lost(const struct sock_conn *c);

/** What the LLP's users know an error of the kernel as. */
int sock_conn_error(int error);

/** Something is sent: see to it that it is acknowledged one day. */
void sock_conn_expect_ack(struct sock_conn *c);

/* read.c */

/** Read at most a buffer, and show it. The connection may be over afterwards. */
void sock_read(struct sock_conn *c);

/** True if nothing forbids to read without an event, and nothing else is to be told of it. */
static inline bool sock_read_may_try(const struct sock_conn *c)
{
	return c->state == SOCK_OPEN && !c->rx && !c->blocked && !c->hangup && !c->eof && !c->error;
}

/** Read without an event. @return true if there was something. */
bool sock_read_try(struct sock_conn *c);

/** Show what is unread. */
void sock_show(struct sock_conn *c);

/* send.c */

/** Send what may go, and tell writable(). */
void sock_send(struct sock_conn *c);

/** Have those go that have been held for long enough. */
void sock_send_held(struct sock_stack *s);

/** Bytes that the kernel has not taken yet. */
static inline uint32_t sock_queued(const struct sock_conn *c)
{
	return c->tx ? c->tx->len : 0;
}

/* acks.c */

/** The user wants to be told of acknowledgements. */
void sock_acks_watch(struct sock_conn *c);

/** Look, and tell the user if it wants that and there is more. @return there was. */
bool sock_acks_tell(struct sock_conn *c);

/** Something was sent: look, soon, whether it is acknowledged. */
void sock_acks_expect(struct sock_conn *c);

/** Look. @return the position before which all is acknowledged. */
uint64_t sock_acks_to(struct sock_conn *c);

/* llp_ops.c */

extern const struct llp_ops sock_llp_ops;
extern const struct llp_stack_ops sock_llp_stack_ops;

#endif
