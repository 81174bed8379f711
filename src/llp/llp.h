/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file llp.h
 * The lower layer protocol as MPA sees it (RFC 5044 section 2): a reliable byte stream that takes
 * aligned records and tells its EMSS. Our TCP implements it; an in-memory pair does for tests.
 *
 * Threads: a connection and its stack belong to one engine; every call and every upcall happens
 * under that engine's lock. Time is the stack's: the engine tells it `now` when it drives it.
 */
#ifndef LLP_LLP_H
#define LLP_LLP_H

#include "base/ip_addr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llp;

/** A piece of received bytes; valid only during the upcall that shows it. */
struct llp_iov {
	const uint8_t *base;
	size_t len;
};

/** Bytes of a user's own that one note holds. */
#define LLP_NOTE_MAX 108

/** What the user wants to know again of bytes that it took before their turn. */
struct llp_note {
	uint16_t len; /**< of what follows */
	uint8_t bytes[LLP_NOTE_MAX];
};

/**
 * What the user of a connection is told. No upcall comes after closed(), nor after the user
 * called llp_abort() or llp_release(). A user may call any llp function from inside an upcall.
 */
struct llp_user_ops {
	/** The connection is established (both roles). */
	void (*connected)(void *user);

	/**
	 * In-order bytes are there: what is unread, oldest first, @p n pieces of @p total bytes.
	 * Return how many bytes, from the front, are done with; the rest stays in the LLP's receive
	 * queue (and inside its window) and is shown again, from its beginning, when at least
	 * @p *need bytes are there or after llp_resume(). Leave @p *need at 0 to be called at the
	 * next arrival. MPA uses this to see an FPDU only when all of it has come, without a copy.
	 * What is more than can be listed at a time follows when all of this was taken, or when
	 * less of it is left than needed.
	 */
	size_t (*readable)(
		void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need);

	/**
	 * A segment came before what precedes it: @p n pieces of @p total bytes, the first of which
	 * is @p ahead bytes behind the first unread one. NULL: the user does not want them. It may
	 * use them now and say true, with a note: then the LLP keeps that instead of the bytes, and
	 * taken() comes in their turn. Or false, and it must not have used any of them: they are
	 * kept and shown in their turn. Of those the LLP may have to forget some; it will offer
	 * them again, perhaps otherwise cut. What was taken it neither forgets nor shows or offers
	 * again. Here alone no llp function may be called.
	 */
	bool (*ooo)(void *user, const struct llp_iov *v, unsigned n, size_t total, uint64_t ahead,
		struct llp_note *note);

	/**
	 * The next bytes of the stream are those that ooo() took, as many as it was shown; not
	 * NULL where that is not. All before them have been shown by readable(). A user that left
	 * some of these unread, for want of more, has misread what it took, and can only end the
	 * connection.
	 */
	void (*taken)(void *user, const struct llp_note *note);

	/** llp_reserve() had refused; there is room again. */
	void (*writable)(void *user);

	/**
	 * The peer closed its direction; every byte before it has been shown. A user that left
	 * some, and then takes all that readable() shows, has all. Sending still works.
	 */
	void (*eof)(void *user);

	/**
	 * The connection is over and the handle must not be used any more; until this returns it
	 * may still be looked at, such as by tcp_get_info(). 0 after an orderly close of both
	 * directions, else -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH, -ENETUNREACH,
	 * -ECONNABORTED, -EADDRNOTAVAIL.
	 */
	void (*closed)(void *user, int error);
};

struct llp_ops {
	uint32_t (*emss)(const struct llp *l);
	void *(*reserve)(struct llp *l, uint32_t len, bool join);
	void (*commit)(struct llp *l, uint32_t len);
	void (*push)(struct llp *l);
	void (*resume)(struct llp *l);
	bool (*took_ooo)(const struct llp *l);
	size_t (*unacked)(const struct llp *l);
	void (*shutdown)(struct llp *l);
	void (*abort)(struct llp *l);
	void (*release)(struct llp *l);
	void (*endpoints)(
		const struct llp *l, struct ip_endpoint *local, struct ip_endpoint *remote);
};

/** The common head of every LLP connection. The LLP sets ops; the user owns the other two. */
struct llp {
	const struct llp_ops *ops;
	const struct llp_user_ops *user_ops;
	void *user;
};

/** Hand the connection to another user (the CM endpoint gives it to MPA, for one). */
static inline void llp_set_user(struct llp *l, const struct llp_user_ops *ops, void *user)
{
	l->user_ops = ops;
	l->user = user;
}

/** Bytes that one segment can carry now (RFC 5044 section 3: EMSS); may change with the path. */
static inline uint32_t llp_emss(const struct llp *l)
{
	return l->ops->emss(l);
}

/**
 * Room for one record of @p len bytes (1 - 65,535 + MPA's own bytes), contiguous and writable
 * until llp_commit(). The record stays whole in one segment, also when retransmitted, as long
 * as it fits the EMSS; a larger one is cut like any TCP stream.
 * @param join the record may share a segment with the one before it, if that has not been sent
 *             yet and both fit into the EMSS.
 * @return NULL when the send buffer is full (writable() follows) or the connection cannot send.
 */
static inline void *llp_reserve(struct llp *l, uint32_t len, bool join)
{
	return l->ops->reserve(l, len, join);
}

/** Queue the first @p len bytes of the last reservation as a record; 0 gives it back. */
static inline void llp_commit(struct llp *l, uint32_t len)
{
	l->ops->commit(l, len);
}

/** Send what is queued, as far as the windows allow. Without it, records wait to be joined. */
static inline void llp_push(struct llp *l)
{
	l->ops->push(l);
}

/** The user left bytes in readable() and wants to see them again, now. */
static inline void llp_resume(struct llp *l)
{
	l->ops->resume(l);
}

/** Is there text that ooo() took before its turn, which has not come yet? Its taken() cannot
 * wait. */
static inline bool llp_took_ooo(const struct llp *l)
{
	return l->ops->took_ooo(l);
}

/** Bytes queued or sent and not acknowledged yet. */
static inline size_t llp_unacked(const struct llp *l)
{
	return l->ops->unacked(l);
}

/** Close our direction after all records are sent (FIN). Receiving goes on; closed() follows. */
static inline void llp_shutdown(struct llp *l)
{
	l->ops->shutdown(l);
}

/** Throw the connection away (RST). No upcall follows; the handle is gone. */
static inline void llp_abort(struct llp *l)
{
	l->ops->abort(l);
}

/**
 * Let go of the connection in good order: what is queued is delivered, then FIN, TIME-WAIT; bytes
 * that still come are dropped. No upcall follows; the handle is gone for the user.
 */
static inline void llp_release(struct llp *l)
{
	l->ops->release(l);
}

static inline void llp_endpoints(
	const struct llp *l, struct ip_endpoint *local, struct ip_endpoint *remote)
{
	l->ops->endpoints(l, local, remote);
}

/* ---- making connections ------------------------------------------------------------------ */

struct llp_stack;
struct llp_listener;

struct llp_connect_params {
	struct ip_endpoint local; /**< any address: by route; port 0: ephemeral (RFC 6056) */
	struct ip_endpoint remote;
	uint8_t tos; /**< DSCP << 2 */
	/** By name, of an LLP that has a choice; NULL: its default. */
	const char *congestion_control;
};

/**
 * A connection to a listener is established (its three-way handshake is complete). Take it by
 * llp_set_user() and return 0, or return a negative errno: it is then reset.
 */
typedef int llp_accept_fn(void *listener_user, struct llp *l);

/** How a local port is reserved. */
enum llp_port_flags {
	/** May coincide with others that have it, none of which listens. */
	LLP_PORT_REUSE = 1 << 0,
	/** Of [::]: leaves IPv4 to others. */
	LLP_PORT_V6ONLY = 1 << 1,
};

struct llp_stack_ops {
	int (*connect)(struct llp_stack *s, const struct llp_connect_params *p,
		const struct llp_user_ops *ops, void *user, struct llp **out);
	int (*listen)(struct llp_stack *s, const struct ip_endpoint *local, unsigned backlog,
		llp_accept_fn *accept, void *user, struct llp_listener **out);
	void (*unlisten)(struct llp_listener *l);
	int (*source)(struct llp_stack *s, const struct ip_addr *remote, struct ip_addr *local);
	int (*reach)(struct llp_stack *s, const struct ip_addr *remote);
	bool (*is_local)(struct llp_stack *s, const struct ip_addr *a);
	int (*port_reserve)(struct llp_stack *s, struct ip_endpoint *local, unsigned flags);
	void (*port_release)(struct llp_stack *s, const struct ip_endpoint *local);
	uint16_t (*port_choose)(
		struct llp_stack *s, const struct ip_addr *local, const struct ip_endpoint *remote);
};

/** The common head of every LLP stack. */
struct llp_stack {
	const struct llp_stack_ops *ops;
};

/**
 * Begin to connect; connected() or closed() follows, never before this returned.
 * @return 0, -ENETUNREACH (no route), -EADDRNOTAVAIL (local is not ours, or no port is left),
 *         -EADDRINUSE (that pair exists), -EINVAL (no such congestion control), -ENOMEM.
 */
static inline int llp_connect(struct llp_stack *s, const struct llp_connect_params *p,
	const struct llp_user_ops *ops, void *user, struct llp **out)
{
	return s->ops->connect(s, p, ops, user, out);
}

/**
 * Listen. @p local: the any-address of IPv6 (::) takes both families unless it was reserved with
 * LLP_PORT_V6ONLY, 0.0.0.0 only IPv4. A reservation made with LLP_PORT_REUSE loses it: a listener
 * shares with nobody (as the kernel's rdma_listen()).
 * @param backlog connections at most that are in handshake at one time.
 * @return 0, -EADDRINUSE (the same address and port, or reserved by another as well),
 *         -EADDRNOTAVAIL, -ENOMEM.
 */
static inline int llp_listen(struct llp_stack *s, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct llp_listener **out)
{
	return s->ops->listen(s, local, backlog, accept, user, out);
}

/** Stop listening; handshakes under way are reset, accepted connections stay. */
static inline void llp_unlisten(struct llp_stack *s, struct llp_listener *l)
{
	s->ops->unlisten(l);
}

/** Which of our addresses would talk to @p remote. @return 0, or -ENETUNREACH. */
static inline int llp_source(
	struct llp_stack *s, const struct ip_addr *remote, struct ip_addr *local)
{
	return s->ops->source(s, remote, local);
}

/**
 * Is the path to @p remote known down to the link? If not, the next hop is asked.
 * @return 0; -EAGAIN: look again; -ENETUNREACH: there is none.
 */
static inline int llp_reach(struct llp_stack *s, const struct ip_addr *remote)
{
	return s->ops->reach(s, remote);
}

/** True if @p a is one of our addresses. */
static inline bool llp_is_local(struct llp_stack *s, const struct ip_addr *a)
{
	return s->ops->is_local(s, a);
}

/**
 * Take a local port for a bound endpoint that neither listens nor connects yet (rdma_bind_addr).
 * Port 0 chooses an ephemeral one and writes it back. A later listen or connect from that
 * endpoint uses the reservation. @p flags: enum llp_port_flags.
 * @return 0, -EADDRINUSE, -EADDRNOTAVAIL, -ENOMEM.
 */
static inline int llp_port_reserve(struct llp_stack *s, struct ip_endpoint *local, unsigned flags)
{
	return s->ops->port_reserve(s, local, flags);
}

static inline void llp_port_release(struct llp_stack *s, const struct ip_endpoint *local)
{
	s->ops->port_release(s, local);
}

/**
 * An ephemeral port that would do now for a connection from @p local to @p remote. It is not
 * reserved: others get another for long, but not for ever.
 * @return 0: there is none.
 */
static inline uint16_t llp_port_choose(
	struct llp_stack *s, const struct ip_addr *local, const struct ip_endpoint *remote)
{
	return s->ops->port_choose(s, local, remote);
}

#endif
