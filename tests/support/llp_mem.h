/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file llp_mem.h
 * An LLP in memory: two hosts, a stack each, joined by byte pipes. Nothing moves by itself: the
 * test steps every delivery, so that each order of events can be made. All memory that is shown
 * to a user is its own allocation, exactly as long as the piece, and a handle is freed as soon as
 * its user let go of it: the address sanitizer sees every overrun and every late use.
 *
 * Upcalls come only from llp_mem_step() and llp_mem_run(), never from inside an llp function.
 */
#ifndef TESTS_SUPPORT_LLP_MEM_H
#define TESTS_SUPPORT_LLP_MEM_H

#include "llp/llp.h"

struct llp_mem;

/** Two hosts, 10.0.0.1 and 10.0.0.2; EMSS 1448, send buffers of 1 MiB, segments as sent. */
struct llp_mem *llp_mem_create(void);

/** Frees everything; open connections vanish without upcalls. */
void llp_mem_destroy(struct llp_mem *m);

/** The stack of host 0 or 1, for llp_connect() and llp_listen(). */
struct llp_stack *llp_mem_stack(struct llp_mem *m, unsigned host);

/** The address of host 0 or 1, with @p port. */
struct ip_endpoint llp_mem_endpoint(const struct llp_mem *m, unsigned host, uint16_t port);

/** EMSS of all connections, at once. */
void llp_mem_set_emss(struct llp_mem *m, uint32_t emss);

/** Deliver in pieces of at most @p bytes; 0: segments arrive as they were sent. */
void llp_mem_set_segment(struct llp_mem *m, size_t bytes);

/** Like llp_mem_set_segment(), but each piece's size is drawn from 1..bytes with this seed. */
void llp_mem_set_random_segment(struct llp_mem *m, size_t bytes, uint32_t seed);

/** Bytes that a connection can hold until they are delivered. */
void llp_mem_set_buffer(struct llp_mem *m, size_t bytes);

/** A host that answers nothing, and connections to which hang: a black hole. */
void llp_mem_set_silent(struct llp_mem *m, unsigned host, bool silent);

/** Hold back (or let go again) all that @p l sends. */
void llp_mem_hold(struct llp *l, bool hold);

/**
 * Piece @p k of what @p l has sent and is not delivered overtakes those before it: the receiver may
 * take it early. A piece is offered once. @return true if it was taken; else it comes in its turn.
 */
bool llp_mem_ooo(struct llp *l, unsigned k);

/**
 * Pieces sent by @p l and not delivered, and bytes of payload that they hold: not what was taken.
 */
unsigned llp_mem_pending(const struct llp *l, size_t *held);

/** One event: an establishment, the delivery of one piece, an end. @return false: all is quiet. */
bool llp_mem_step(struct llp_mem *m);

/** Step until all is quiet. Fails the process after @p max steps. @return steps made. */
unsigned llp_mem_run(struct llp_mem *m, unsigned max);

/** At the next step @p l gets closed(error), its peer closed(-ECONNRESET). */
void llp_mem_fail(struct llp *l, int error);

/** The other end of @p l's pipe, or NULL once that is gone. */
struct llp *llp_mem_other(struct llp *l);

/** Send bytes from @p l as they are, as one segment, at once; no alignment, no limit. */
void llp_mem_send_raw(struct llp *l, const void *bytes, size_t len);

/** Connections that their user has not let go of, without closed(). */
unsigned llp_mem_open_count(const struct llp_mem *m);

/** Segments delivered up to now, all connections. */
unsigned llp_mem_segments(const struct llp_mem *m);

/* ---- a user that only records: the test as the peer -------------------------------------- */

struct llp_mem_peer {
	struct llp_mem *m;
	struct llp *llp; /**< NULL: not there yet, or gone */
	struct llp_listener *listener;
	uint8_t *rx; /**< all that came */
	size_t rx_len, rx_room;
	bool connected, eof, closed;
	int error; /**< of closed */
};

/** Connect from @p host to @p to. */
void llp_mem_peer_connect(
	struct llp_mem_peer *p, struct llp_mem *m, unsigned host, const struct ip_endpoint *to);

/** Listen at @p host and take the first connection. */
void llp_mem_peer_listen(struct llp_mem_peer *p, struct llp_mem *m, unsigned host, uint16_t port);

/** Forget the first @p len received bytes. */
void llp_mem_peer_consume(struct llp_mem_peer *p, size_t len);

/** Abort the connection if it is there, free what was received. */
void llp_mem_peer_done(struct llp_mem_peer *p);

#endif
