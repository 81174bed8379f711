/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file llp_mem.h
 * An LLP in memory: three hosts with a stack each, joined by byte pipes. Nothing moves by itself:
 * the test steps every delivery, so any order of events is possible. Each piece that a user sees
 * has its own allocation of its exact length, and a handle is freed as soon as its user has
 * released it. So the address sanitizer sees every overrun and every use after free.
 *
 * Upcalls come from llp_mem_step() and llp_mem_run(), and from llp_resume(), as every LLP's: that
 * shows what was left unread at once, and tells of closed() if that is due.
 */
#ifndef TESTS_SUPPORT_LLP_MEM_H
#define TESTS_SUPPORT_LLP_MEM_H

#include "llp/llp.h"

struct llp_mem;

/** The third is for tests that need a stranger. */
#define LLP_MEM_HOSTS 3

/** Hosts 10.0.0.1, 10.0.0.2 and 10.0.0.3; EMSS 1448, send buffers of 1 MiB, segments as sent. */
struct llp_mem *llp_mem_create(void);

/** Frees everything. Open connections end without upcalls. */
void llp_mem_destroy(struct llp_mem *m);

/** The stack of @p host, from 0, for llp_connect() and llp_listen(). */
struct llp_stack *llp_mem_stack(struct llp_mem *m, unsigned host);

/** The address of @p host, with @p port. */
struct ip_endpoint llp_mem_endpoint(const struct llp_mem *m, unsigned host, uint16_t port);

/** Set the EMSS of all connections. */
void llp_mem_set_emss(struct llp_mem *m, uint32_t emss);

/** All connections take external memory, which is read when it is committed. */
void llp_mem_set_external(struct llp_mem *m);

/** All connections say that they protect what they carry (llp_protects()). */
void llp_mem_set_protecting(struct llp_mem *m);

/** Records that had some, and calls of llp_own_external(). */
unsigned llp_mem_externals(const struct llp_mem *m);
unsigned llp_mem_owned(const struct llp_mem *m);

/** Regions of llp_memory_add() that are not removed. */
unsigned llp_mem_memories(const struct llp_mem *m);

/** Deliver in pieces of at most @p bytes; 0: segments as they were sent. */
void llp_mem_set_segment(struct llp_mem *m, size_t bytes);

/** Like llp_mem_set_segment(), but each piece's size is drawn from 1..bytes with this seed. */
void llp_mem_set_random_segment(struct llp_mem *m, size_t bytes, uint32_t seed);

/** Bytes that a connection can hold until they are delivered. */
void llp_mem_set_buffer(struct llp_mem *m, size_t bytes);

/**
 * A connection holds at most @p bytes that its user leaves unread, and one piece: the rest stays
 * where it is, and its user is told of an end behind that. 0: any.
 */
void llp_mem_set_unread(struct llp_mem *m, size_t bytes);

/** Make a host silent: connections to it hang. */
void llp_mem_set_silent(struct llp_mem *m, unsigned host, bool silent);

/** Hold back all that @p l sends, or release it. */
void llp_mem_hold(struct llp *l, bool hold);

/**
 * Undelivered piece @p k of @p l overtakes those before it: it is offered to the receiver's ooo().
 * A piece is offered once. @return true: it was taken; false: it comes in its turn.
 */
bool llp_mem_ooo(struct llp *l, unsigned k);

/** Number of undelivered pieces of @p l, and their bytes, without those that were taken. */
unsigned llp_mem_pending(const struct llp *l, size_t *held);

/**
 * Make one event: an establishment, the delivery of one piece, an end. @return false: there is
 * none.
 */
bool llp_mem_step(struct llp_mem *m);

/**
 * Step until there is no event. Fails the process after @p max steps. @return the number of steps.
 */
unsigned llp_mem_run(struct llp_mem *m, unsigned max);

/** At the next step @p l gets closed(error), its peer closed(-ECONNRESET). */
void llp_mem_fail(struct llp *l, int error);

/** The other end of @p l, or NULL once that is released. */
struct llp *llp_mem_other(struct llp *l);

/** What llp_set_tos() has set, or llp_connect(). */
uint8_t llp_mem_tos(const struct llp *l);

/** Was proof of the remote address demanded (llp_demand_addr())? */
bool llp_mem_demanded(const struct llp *l);

/** Send bytes from @p l as one segment, at once, without a limit. */
void llp_mem_send_raw(struct llp *l, const void *bytes, size_t len);

/** Connections that are neither released nor closed. */
unsigned llp_mem_open_count(const struct llp_mem *m);

/** And those of them whose program is gone (llp_orphan()). */
unsigned llp_mem_orphans(const struct llp_mem *m);

/** Number of delivered segments of all connections. */
unsigned llp_mem_segments(const struct llp_mem *m);

/*
 * ---- a user that only records, for tests that are the peer --------------------------------------
 */

struct llp_mem_peer {
	struct llp_mem *m;
	struct llp *llp; /**< NULL: not there yet, or gone */
	struct llp_listener *listener;
	uint8_t *rx; /**< all received bytes */
	size_t rx_len, rx_room;
	bool connected, eof, closed;
	int error; /**< of closed */
};

/** Connect from @p host to @p to. */
void llp_mem_peer_connect(
	struct llp_mem_peer *p, struct llp_mem *m, unsigned host, const struct ip_endpoint *to);

/** Listen at @p host and take the first connection. */
void llp_mem_peer_listen(struct llp_mem_peer *p, struct llp_mem *m, unsigned host, uint16_t port);

/** Remove the first @p len received bytes. */
void llp_mem_peer_consume(struct llp_mem_peer *p, size_t len);

/** Abort the connection, if there is one, and free the received bytes. */
void llp_mem_peer_done(struct llp_mem_peer *p);

#endif
