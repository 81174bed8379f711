/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file llp.h
 * The lower layer protocol as MPA sees it (RFC 5044 section 2): a reliable byte stream that keeps
 * records aligned to segments and has an EMSS. Our TCP implements it. Tests have an in-memory pair.
 *
 * Threads: a connection and its stack belong to one engine. Every call and every upcall happens
 * under that engine's lock. The engine passes the time to the stack when it drives it.
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
	/** The LLP went over the first so many bytes anyway, and their CRC32c, begun with all ones
	 * and not complemented (digest.h), is crc. 0: not known. */
	uint32_t crc_len;
	uint32_t crc;
};

/** Largest note, in bytes. */
#define LLP_NOTE_MAX 108

/** A note by the user about bytes that it took before their turn. taken() gives it back. */
struct llp_note {
	uint16_t len; /**< of what follows */
	uint8_t bytes[LLP_NOTE_MAX];
};

/**
 * The upcalls of a connection. None comes after closed(), llp_abort() or llp_release(). A user may
 * call any llp function from inside an upcall, except from ooo().
 */
struct llp_user_ops {
	/** The connection is established (both roles). */
	void (*connected)(void *user);

	/**
	 * In-order bytes are there: all that is unread, oldest first, in @p n pieces of @p total
	 * bytes.
	 *
	 * The user returns how many bytes, from the front, it is done with. The rest stays in the
	 * LLP's receive queue, and in its window. It is shown again, from its beginning, when at
	 * least @p *need bytes are there or after llp_resume(). With @p *need left at 0 that is at
	 * the next arrival. So MPA sees an FPDU when all of it has come, without a copy.
	 *
	 * A list has a maximum length. More bytes follow when all of this one was taken, or when
	 * less of it is left than needed.
	 */
	size_t (*readable)(
		void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need);

	/**
	 * A segment came before its turn: @p n pieces of @p total bytes. The first byte is @p ahead
	 * bytes behind the first unread one. May be NULL.
	 *
	 * The user may use the bytes now, write a note and return true. Then the LLP keeps the note
	 * instead of the bytes, and taken() comes in their turn. These bytes are never shown or
	 * offered again.
	 *
	 * Or it returns false and has used none of them. Then the LLP keeps the bytes and shows
	 * them in their turn. If it has to drop some, it offers them again when they are
	 * retransmitted, perhaps cut in another way.
	 *
	 * No llp function may be called in here.
	 */
	bool (*ooo)(void *user, const struct llp_iov *v, unsigned n, size_t total, uint64_t ahead,
		struct llp_note *note);

	/**
	 * It is the turn of bytes that ooo() took, as many as it was shown. All before them were
	 * shown by readable(). If the user left some of those unread because it needs more, the
	 * bytes taken were misread, and the user must end the connection. Not NULL if ooo() is not.
	 */
	void (*taken)(void *user, const struct llp_note *note);

	/**
	 * @p len bytes of text came, perhaps the next ones, and the LLP is about to sum them: how
	 * many of them, from the first, will a CRC32c be needed of? 0: of none, or nobody knows.
	 * They may be damaged or forged: nothing is to be learnt from them, and no llp function
	 * called. NULL: of none.
	 */
	size_t (*crc_covers)(const void *user, const uint8_t *text, size_t len);

	/** llp_reserve() has failed before, and there is room now. */
	void (*writable)(void *user);

	/** After llp_watch_acks(): llp_acked() may have moved on. Not NULL then. */
	void (*acked)(void *user);

	/**
	 * The peer closed its direction. All bytes before that were shown by readable(). Those that
	 * the user left unread are shown again as usual. Sending still works.
	 */
	void (*eof)(void *user);

	/**
	 * The peer closed its direction, but not all bytes before that were shown, as the user has
	 * left too many unread: eof() follows when it has taken them, or closed() if the stream was
	 * cut off there. It may come again. May be NULL.
	 */
	void (*eof_waits)(void *user);

	/**
	 * The connection is over. The handle may be read until this returns, such as by
	 * tcp_get_info(), and must not be used afterwards. @p error is 0 after an orderly close of
	 * both directions, and that is told of when the user has taken all bytes, or needs more
	 * than are left; else -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH,
	 * -ENETUNREACH, -ECONNABORTED, -EADDRNOTAVAIL. A protected stream has others, too (tls.h).
	 */
	void (*closed)(void *user, int error);
};

/** Memory of the program's that the LLP may send from where it lies (llp_memory_add()). */
struct llp_memory;

/** Bytes in such memory. */
struct llp_external {
	struct llp_memory *memory;
	const void *from;
	uint32_t len;
};

struct llp_ops {
	uint32_t (*emss)(const struct llp *l);
	void *(*reserve)(struct llp *l, uint32_t len, bool join);
	bool (*sums)(const struct llp *l); /* may be NULL */
	void (*commit)(struct llp *l, uint32_t len, uint32_t sum);
	bool (*takes_external)(const struct llp *l); /* may be NULL, and then the next two are */
	bool (*commit_external)(
		struct llp *l, uint32_t len, uint32_t head, const struct llp_external *e);
	bool (*own_external)(struct llp *l);
	void (*push)(struct llp *l);
	void (*resume)(struct llp *l);
	bool (*took_ooo)(const struct llp *l);
	size_t (*unacked)(const struct llp *l);
	uint64_t (*queued)(const struct llp *l);
	uint64_t (*acked)(const struct llp *l);
	void (*watch_acks)(struct llp *l);
	void (*shutdown)(struct llp *l);
	void (*abort)(struct llp *l);
	void (*orphan)(struct llp *l); /* may be NULL */
	void (*release)(struct llp *l);
	void (*endpoints)(
		const struct llp *l, struct ip_endpoint *local, struct ip_endpoint *remote);
	bool (*protects)(const struct llp *l);       /* may be NULL */
	void (*demand_addr)(struct llp *l);          /* may be NULL */
	void (*set_tos)(struct llp *l, uint8_t tos); /* may be NULL */
};

/** The common head of every LLP connection. The LLP sets ops. The user owns the rest. */
struct llp {
	const struct llp_ops *ops;
	const struct llp_user_ops *user_ops;
	void *user;
};

/** Octets at the begin of a connection that a message to be sent may need. */
#define LLP_HOT 1024

/** Hand the connection to another user, as the CM endpoint hands it to MPA. */
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
 * Reserve room for one record of @p len bytes (1 to 65,535 and MPA's own bytes). It is contiguous
 * and writable until llp_commit(). A record that fits the EMSS stays whole in one segment, also
 * when it is retransmitted. A larger one is cut like any TCP stream.
 * @param join the record may share a segment with the one before it, if that one was not sent yet
 *             and both fit the EMSS.
 * @return NULL when the send buffer is full (writable() follows) or the connection cannot send.
 */
static inline void *llp_reserve(struct llp *l, uint32_t len, bool join)
{
	return l->ops->reserve(l, len, join);
}

/**
 * Does the LLP sum what it sends in software? Then a user that goes over a record anyway can spare
 * it that, by llp_commit_summed().
 */
static inline bool llp_sums(const struct llp *l)
{
	return l->ops->sums && l->ops->sums(l);
}

/** Instead of a sum. */
#define LLP_SUM_UNKNOWN UINT32_MAX

/** Queue the first @p len bytes of the last reservation as a record. 0 cancels the reservation. */
static inline void llp_commit(struct llp *l, uint32_t len)
{
	l->ops->commit(l, len, LLP_SUM_UNKNOWN);
}

/**
 * The same, and @p sum is that of the record's 16-bit words as RFC 1071 has it, in memory order and
 * folded (digest.h), or LLP_SUM_UNKNOWN. It is believed.
 */
static inline void llp_commit_summed(struct llp *l, uint32_t len, uint32_t sum)
{
	l->ops->commit(l, len, sum);
}

/**
 * Is there a use for llp_commit_external()? It may be refused for a while, and then what was queued
 * by it is there still, and what more is queued is taken.
 */
static inline bool llp_takes_external(const struct llp *l)
{
	return l->ops->takes_external && l->ops->takes_external(l);
}

/**
 * Queue the last reservation as a record of @p len bytes: @p head bytes as they were written there,
 * then @p e, then zeros. Those of @p e are read where they lie when the record is sent, and once
 * more if it is sent again: until they are acknowledged, or llp_own_external(). Only where
 * llp_takes_external() says so.
 * @return false: nothing is queued, as that memory is not there. Then llp_commit() with 0.
 */
static inline bool llp_commit_external(
	struct llp *l, uint32_t len, uint32_t head, const struct llp_external *e)
{
	return l->ops->commit_external(l, len, head, e);
}

/**
 * The program is about to use its memory for something else, though not all was acknowledged: copy
 * what is queued from there, and let whoever sends read no more of it, as far as that can be had
 * without a long wait.
 * @return false: some of it could not be copied, and the connection will end.
 */
static inline bool llp_own_external(struct llp *l)
{
	return !l->ops->own_external || l->ops->own_external(l);
}

/** Send what is queued, as far as the windows allow. Without it, records wait to be joined. */
static inline void llp_push(struct llp *l)
{
	l->ops->push(l);
}

/**
 * Show the bytes again that the user left in readable(). Upcalls come from inside of this call, and
 * one of them may be closed(): what was left may be where a protected stream was damaged or cut
 * off. Inside readable() they come when that has returned.
 */
static inline void llp_resume(struct llp *l)
{
	l->ops->resume(l);
}

/** True if ooo() took bytes and their turn has not come. Their taken() cannot be deferred. */
static inline bool llp_took_ooo(const struct llp *l)
{
	return l->ops->took_ooo(l);
}

/** Bytes queued or sent and not acknowledged yet. */
static inline size_t llp_unacked(const struct llp *l)
{
	return l->ops->unacked(l);
}

/** A position that is never reached: one of the records was lost in the LLP itself. */
#define LLP_NEVER_ACKED UINT64_MAX

/**
 * Where the records end that are queued by now: a position in the stream, to be compared with
 * llp_acked() and with other positions. An LLP that adds bytes of its own counts them.
 */
static inline uint64_t llp_queued(const struct llp *l)
{
	return l->ops->queued(l);
}

/** The peer's TCP has acknowledged all before this position. It may be read inside closed(), too.
 */
static inline uint64_t llp_acked(const struct llp *l)
{
	return l->ops->acked(l);
}

/**
 * From now on acked() tells, once for many segments: before readable() shows what came with it, and
 * at the end of a round. The kernel does not tell of itself: there it is found out by looking,
 * at most 1 ms later.
 */
static inline void llp_watch_acks(struct llp *l)
{
	l->ops->watch_acks(l);
}

/**
 * Close our direction after all records are sent (FIN). Receiving goes on; closed() follows, never
 * from inside of this call.
 */
static inline void llp_shutdown(struct llp *l)
{
	l->ops->shutdown(l);
}

/** Reset the connection (RST). No upcall follows. The handle is invalid from now on. */
static inline void llp_abort(struct llp *l)
{
	l->ops->abort(l);
}

/**
 * The program is gone, and what is still to be sent before llp_release() waits for room. From now
 * on the connection lives as a released one does: it ends if the peer takes nothing for long, or if
 * there are too many of those. writable() and closed() still come, the latter also from inside of
 * calls for another connection. Bytes that still come are dropped.
 */
static inline void llp_orphan(struct llp *l)
{
	if (l->ops->orphan)
		l->ops->orphan(l);
}

/**
 * Give up the connection in good order. What is queued is delivered, then FIN and TIME-WAIT follow.
 * Bytes that still come are dropped. No upcall follows. The handle is invalid from now on.
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

/**
 * Does the LLP itself protect what it carries against change, by more than a checksum? It is known
 * from connected(), or from the first readable(), on, and inside closed() it is not any more.
 */
static inline bool llp_protects(const struct llp *l)
{
	return l->ops->protects && l->ops->protects(l);
}

/**
 * Inside llp_accept_fn: if this LLP wants proof of who connects to us, let that be proof of the
 * remote address, too, as of one that we connect to.
 */
static inline void llp_demand_addr(struct llp *l)
{
	if (l->ops->demand_addr)
		l->ops->demand_addr(l);
}

/**
 * What is sent from now on has the traffic class @p tos, DSCP << 2, as llp_connect_params has it;
 * the ECN bits are the LLP's.
 */
static inline void llp_set_tos(struct llp *l, uint8_t tos)
{
	if (l->ops->set_tos)
		l->ops->set_tos(l, tos);
}

/* ---- making connections ------------------------------------------------------------------ */

struct llp_stack;
struct llp_listener;

struct llp_connect_params {
	/** The any-address: chosen by route; port 0: ephemeral (RFC 6056) */
	struct ip_endpoint local;
	struct ip_endpoint remote;
	uint8_t tos; /**< DSCP << 2 */
	/** Name of the congestion control; NULL: the LLP's default. */
	const char *congestion_control;
};

/**
 * A connection to a listener is established: the three-way handshake is complete. Take it by
 * llp_set_user() and return 0, or return a negative errno and it is reset.
 */
typedef int llp_accept_fn(void *listener_user, struct llp *l);

/** How a local port is reserved. */
enum llp_port_flags {
	/** As SO_REUSEADDR: others with this flag may share the port, but none may listen. */
	LLP_PORT_REUSE = 1 << 0,
	/** A reservation of [::] does not include IPv4. */
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
	bool (*has_scopes)(const struct llp_stack *s); /* may be NULL */
	struct llp_memory *(*memory_add)(struct llp_stack *s, void *addr, size_t len); /* NULL */
	void (*memory_remove)(struct llp_stack *s, struct llp_memory *m);
};

/** The common head of every LLP stack. */
struct llp_stack {
	const struct llp_stack_ops *ops;
};

/**
 * Begin to connect. connected() or closed() follows after this has returned.
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
 * LLP_PORT_V6ONLY; 0.0.0.0 takes only IPv4. A reservation loses its LLP_PORT_REUSE: a listener
 * shares its port with no other, as with the kernel's rdma_listen().
 * @param backlog limit of connections that are in handshake at one time.
 * @return 0, -EADDRINUSE (the same address and port, or reserved by another as well),
 *         -EADDRNOTAVAIL, -ENOMEM.
 */
static inline int llp_listen(struct llp_stack *s, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct llp_listener **out)
{
	return s->ops->listen(s, local, backlog, accept, user, out);
}

/** Stop listening. Handshakes under way are reset. Accepted connections stay. */
static inline void llp_unlisten(struct llp_stack *s, struct llp_listener *l)
{
	s->ops->unlisten(l);
}

/** Find the local address for connections to @p remote. @return 0, or -ENETUNREACH. */
static inline int llp_source(
	struct llp_stack *s, const struct ip_addr *remote, struct ip_addr *local)
{
	return s->ops->source(s, remote, local);
}

/**
 * Is the next hop to @p remote resolved? If not, resolution begins.
 * @return 0: it is; -EAGAIN: ask again; -ENETUNREACH: there is no route.
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
 * Reserve a local port for an endpoint that is bound but neither listens nor connects yet
 * (rdma_bind_addr()). Port 0 chooses an ephemeral one and writes it back. A later listen or connect
 * of that endpoint uses the reservation. @p flags: enum llp_port_flags.
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
 * Does it have several interfaces, so that a link-local address is one of them only with its scope
 * (ip_addr_scope())? Otherwise those have none.
 */
static inline bool llp_has_scopes(const struct llp_stack *s)
{
	return s->ops->has_scopes && s->ops->has_scopes(s);
}

/**
 * Let records be sent from this memory where it lies. It is pinned until llp_memory_remove(). May
 * be called without the engine's lock.
 * @return NULL: they cannot, or not from here.
 */
static inline struct llp_memory *llp_memory_add(struct llp_stack *s, void *addr, size_t len)
{
	return s->ops->memory_add ? s->ops->memory_add(s, addr, len) : NULL;
}

/**
 * From now on nothing is sent from there: what is queued is copied. A connection that has no room
 * for that ends.
 */
static inline void llp_memory_remove(struct llp_stack *s, struct llp_memory *m)
{
	s->ops->memory_remove(s, m);
}

/**
 * Choose an ephemeral port that is free for a connection from @p local to @p remote. It is not
 * reserved. Others are given other ports for a long time, but not for ever.
 * @return 0: no port is free.
 */
static inline uint16_t llp_port_choose(
	struct llp_stack *s, const struct ip_addr *local, const struct ip_endpoint *remote)
{
	return s->ops->port_choose(s, local, remote);
}

#endif
