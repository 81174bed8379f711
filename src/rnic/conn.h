/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file conn.h
 * One connection through its three ages: start-up (MPA request and reply, with a deadline), the
 * stream (rdmap has it), and over.
 *
 * The endpoint and the QP point to it, and it points to them, until it is over. It is freed when
 * the lock's holder is done, never inside an upcall of MPA.
 */
#ifndef RNIC_CONN_H
#define RNIC_CONN_H

#include "base/peer_set.h"
#include "rnic/device.h"

enum conn_phase { CONN_START, CONN_STREAM, CONN_OVER };

/** What the timer is for during start-up. */
enum conn_wait {
	CONN_WAIT_PEER,   /**< deadline: the peer must have answered */
	CONN_WAIT_RETRY,  /**< initiator: the next attempt */
	CONN_WAIT_SETTLE, /**< initiator: accepted; the first FPDU waits (mpa_config.settle_ms) */
};

struct conn {
	LIST_ENTRY(conn) link;
	struct rnic *rnic;
	struct mpa mpa;
	enum conn_phase phase;
	enum conn_wait wait;
	struct rnic_ep *ep; /**< told how it goes; for a request not yet made: the listener */
	struct rnic_qp *qp; /**< also when it is over, while it lingers */
	LIST_ENTRY(conn) pending_link;
	struct peer_charge startup; /**< responder, while it is pending */
	uint8_t *start_text;        /**< the part of the peer's frame that has come, or NULL */
	struct llp_connect_params connect; /**< initiator */
	uint64_t start_deadline;           /**< initiator */
	struct timer timer;                /**< start-up (see wait); close deadline; lingering */
	struct engine_doorbell doorbell;
	size_t close_unacked; /**< for the close deadline: what was left when it was set */
	uint32_t close_tail;

	uint16_t ird, ord; /**< ours: wanted, then negotiated */

	/* What the request said (responder), or shall say (initiator: private data; later the
	 * reply's, while it waits to settle). */
	uint16_t peer_ird, peer_ord;
	uint8_t rtr; /**< responder: the peer's mask; initiator: the one to send */
	bool enhanced, peer_to_peer;
	bool requested;   /**< initiator: the request is out, and no reply here */
	bool paired;      /**< of pairing.h: a start-up on terms of its own */
	bool pending;     /**< in the listener's list, waiting for the MPA request */
	uint8_t retries;  /**< initiator: after RST */
	uint8_t revision; /**< initiator: of the request */
	uint16_t private_len;
	uint8_t *private_data; /**< ours; NULL: none, and while there is a stream */

	struct rdmap_irqe *irq;
};

/** What our side wants of MPA on it. */
static inline const struct mpa_config *conn_mpa(const struct conn *c)
{
	return c->paired ? &c->rnic->pairing_mpa : &c->rnic->mpa;
}

/** How a connection ended, for the endpoint. */
struct conn_end {
	int status;                       /**< 0, or negative errno */
	const struct mpa_start *rejected; /**< the peer's MPA reply that said no, or NULL */
};

/** @return NULL: no memory. */
struct conn *conn_create(struct rnic *r);

/** Keep a copy of private data, instead of what was kept. @return 0 or -ENOMEM. */
int conn_keep_private(struct conn *c, const void *data, uint16_t len);

/** Start an initiator. ird, ord and private data must have been set. @return as llp_connect(). */
int conn_connect(struct conn *c, const struct llp_connect_params *p);

/**
 * Start a responder on @p l, for listener @p ep. If too many wait for their request already, the
 * peer that has most of them loses its oldest: a peer that asks at once is not the oldest for long.
 * @return 0, or -ENOMEM: nothing has happened.
 */
int conn_accepted(struct conn *c, struct llp *l, struct rnic_ep *ep);

/** The request has come, or will not: it is no start-up of its listener any more. */
void conn_leave_pending(struct conn *c);

/** Give the QP its inbound Reads. @return 0, -ENOMEM. */
int conn_prepare_stream(struct conn *c, uint16_t ird);

/** Responder: the RTR types to name in the reply, those of the peer's that we take; 0: none. */
uint8_t conn_common_rtr(const struct conn *c);

/** The timer fired during start-up. */
void conn_start_deadline(struct conn *c);

/** Start (again) a deadline @p ns from now. */
void conn_set_deadline(struct conn *c, uint64_t ns);
void conn_stop_deadline(struct conn *c);

/**
 * It is over: part from endpoint and QP, telling the endpoint. The LLP, if it still lives, may
 * finish sending. The QP, if any, has been moved to ERROR by the caller.
 */
void conn_over(struct conn *c, const struct conn_end *end);

/** The connection is over, but its Terminate still waits for room: reset it. */
void conn_linger_end(struct conn *c);

/** Reset it, then conn_over(). Start-up only: a stream is ended by its QP. */
void conn_abort(struct conn *c, int status);

/**
 * Responder: answer its request with a no, then conn_over().
 * @return 0, -EINVAL (too much private data), -ENOTCONN, -ENOMEM: nothing has happened.
 */
int conn_reject(struct conn *c, const void *private_data, uint16_t len);

/**
 * The same to a request that nobody will answer. A reset is for the last resort: a peer that is
 * reset may take it for dislike of its revision, and ask again (RFC 6581 section 10).
 */
void conn_refuse(struct conn *c);

/** Free at once, whatever it does (the device goes away). */
void conn_destroy(struct conn *c);

#endif
