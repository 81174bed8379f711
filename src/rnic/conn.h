/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file conn.h
 * One connection, in three phases: start-up (MPA request and reply, with a deadline), stream (rdmap
 * owns it), and over.
 *
 * Until it is over, endpoint and QP point to it, and it points to them. It is freed when the lock
 * is released, never inside an upcall of MPA.
 */
#ifndef RNIC_CONN_H
#define RNIC_CONN_H

#include "base/peer_set.h"
#include "rnic/device.h"

enum conn_phase { CONN_START, CONN_STREAM, CONN_OVER };

/** The purpose of the timer during start-up. */
enum conn_wait {
	CONN_WAIT_PEER,   /**< the deadline for the peer's answer */
	CONN_WAIT_RETRY,  /**< initiator: the next attempt */
	CONN_WAIT_SETTLE, /**< initiator: accepted; the first FPDU waits (mpa_config.settle_ms) */
	CONN_WAIT_MAP,    /**< initiator: the peer's port mapper, or its turn; not in TCP's hands */
};

struct conn {
	LIST_ENTRY(conn) link;
	struct rnic *rnic;
	struct mpa mpa;
	enum conn_phase phase;
	enum conn_wait wait;
	/** The endpoint to notify; before the request has come: the listener */
	struct rnic_ep *ep;
	struct rnic_qp *qp; /**< also while the connection lingers after its end */
	LIST_ENTRY(conn) pending_link;
	struct peer_charge startup; /**< responder, while it is pending */
	uint8_t *start_text;        /**< the received part of the peer's frame, or NULL */
	struct conn_map *map; /**< initiator: the peer's port mapper is being asked; else NULL */
	union {
		struct {                                   /* of the start-up */
			struct llp_connect_params connect; /**< initiator */
			uint64_t start_deadline;
		};
		struct { /* of a close: as it was when its deadline was set */
			uint64_t close_transferred; /**< rdmap.transferred, and transferred_own */
			uint64_t close_own;
			size_t close_unacked; /**< llp_unacked() */
			size_t close_least;   /**< and the last time that our requests had got on */
			uint32_t close_tail;  /**< of the send queue */
		};
	};
	struct timer timer; /**< start-up (see wait); the RTR frame; close; lingering */
	struct engine_doorbell doorbell;

	uint16_t ird, ord; /**< ours: first as wanted, then as negotiated */

	/* The contents of the request. Initiator in CONN_WAIT_SETTLE: of the reply. */
	uint16_t peer_ird, peer_ord;
	uint8_t rtr; /**< responder: the peer's mask; initiator: the type to send */
	bool enhanced, peer_to_peer;
	bool requested;      /**< initiator: the request was sent, and no reply has come */
	bool protects;       /**< initiator: the LLP does, since it is connected */
	bool paired;         /**< of pairing.h, which has terms of its own */
	bool pending;        /**< in the listener's list, waiting for the MPA request */
	uint8_t retries;     /**< initiator: after RST */
	uint8_t stops;       /**< deadlines that began anew: conn_wait_again() */
	uint8_t close_alone; /**< close deadlines at which nothing of ours had moved, in a row */
	uint8_t revision;    /**< initiator: of the request */
	bool any_port;       /**< initiator: our port was proposed, not reserved */
	/** Initiator: the port that the program asked for, before it was mapped */
	uint16_t service_port;
	uint16_t private_len;
	uint8_t *private_data; /**< a copy; NULL: none, and always during the stream */

	struct rdmap_irqe *irq;
};

/** Our MPA terms for this connection. */
static inline const struct mpa_config *conn_mpa(const struct conn *c)
{
	return c->paired ? &c->rnic->pairing_mpa : &c->rnic->mpa;
}

/** How a connection ended, for the endpoint. */
struct conn_end {
	int status;                       /**< 0, or negative errno */
	const struct mpa_start *rejected; /**< the peer's rejecting MPA reply, or NULL */
	enum rnic_failure_mapper mapper;  /**< the peer's port mapper, if it is to blame */
	bool own;                         /**< our program has ended its QP, or made it fail */
};

/**
 * Requests for Reads that are taken at a time: IRD, up to a power of two, as Linux's siw has its
 * ORD rounded up to one outstanding (siw_qp.c, siw_qp_readq_init()).
 */
static inline uint16_t conn_irq_size(uint16_t ird)
{
	return ird ? (uint16_t)rnic_round_up(ird) : 0;
}

/** @return NULL: no memory. */
struct conn *conn_create(struct rnic *r);

/** Replace the copy of private data. @return 0 or -ENOMEM. */
int conn_keep_private(struct conn *c, const void *data, uint16_t len);

/** Start an initiator. ird, ord and private data must have been set. @return as llp_connect(). */
int conn_connect(struct conn *c, const struct llp_connect_params *p);

/**
 * Start a responder on @p l, for listener @p ep. If too many connections wait for their request
 * already, the peer with the most of them loses its oldest. A peer that sends its request at once
 * is hardly ever the oldest.
 * @return 0, or -ENOMEM: nothing has changed.
 */
int conn_accepted(struct conn *c, struct llp *l, struct rnic_ep *ep);

/** The request has come, or will not come: take it out of the listener's pending connections. */
void conn_leave_pending(struct conn *c);

/** Allocate the QP's inbound read queue. @return 0, -ENOMEM. */
int conn_prepare_stream(struct conn *c, uint16_t ird);

/** Responder: the RTR types of the peer that we take, for the reply; 0: none. */
uint8_t conn_common_rtr(const struct conn *c);

/** Get ready to ask port mappers, if the device has one. @return 0 or -ENOMEM. */
int conn_map_init(struct rnic *r);

/** All connections are gone. */
void conn_map_fini(struct rnic *r);

/**
 * Ask the peer's port mapper for the endpoint to connect to, if that is to be done.
 * @return 1: conn_start_now() or conn_over() follows; 0: connect now. An answer may still come,
 * and then the attempt is begun anew if it was to another port. -ENOMEM.
 */
int conn_map_ask(struct conn *c);

/** The peer has answered the start-up, or it is over: no mapping is wanted any more. */
void conn_map_end(struct conn *c);

/** Initiator: give up the attempt under way. conn_start_now() follows, or the deadline. */
void conn_start_stop(struct conn *c);

/** Initiator: begin an attempt at c->connect, or conn_over(). Not from an upcall. */
void conn_start_now(struct conn *c);

/** The timer fired during start-up. @param stood_still timer_stood_still(): wait anew for others.
 */
void conn_start_deadline(struct conn *c, bool stood_still);

/**
 * The deadline for what others have to send came after we stood still: they had no time either,
 * perhaps, and we none to hear it. Start it anew. Not for ever: a machine that stops again and
 * again must not keep what strangers have begun.
 * @return false: that has been so often enough.
 */
bool conn_wait_again(struct conn *c);

/** The orderly close of its stream begins, or what is left to be sent behind one: its deadline. */
void conn_begin_close(struct conn *c);

/** Start (again) a deadline @p ns from now. */
void conn_set_deadline(struct conn *c, uint64_t ns);
void conn_stop_deadline(struct conn *c);

/**
 * The connection is over. Notify the endpoint, and part from it and from the QP. The caller has
 * moved the QP, if any, to ERROR. The LLP may still finish sending.
 */
void conn_over(struct conn *c, const struct conn_end *end);

/** It is over, and has lingered for its Terminate long enough: reset it if that waits for room
 * still. */
void conn_linger_end(struct conn *c);

/** Reset it, then conn_over(). Start-up only: a stream is ended by its QP. */
void conn_abort(struct conn *c, int status);

/** The same with -ECONNABORTED, as our program has ended the QP. */
void conn_abandon(struct conn *c);

/**
 * Responder: reject the request, then conn_over().
 * @return 0; -EINVAL (too much private data), -ENOTCONN, -ENOMEM: nothing has changed.
 */
int conn_reject(struct conn *c, const void *private_data, uint16_t len);

/**
 * Reject a request that the program will not answer. It is reset only if that fails: after a reset
 * the peer may try again with another revision (RFC 6581 section 10).
 */
void conn_refuse(struct conn *c);

/** Free it at once, in any phase: the device is being destroyed. */
void conn_destroy(struct conn *c);

#endif
