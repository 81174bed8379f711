/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pairing.h
 * Connects a QP without rdma_cm. The programs have exchanged addresses, QP numbers and PSNs, as
 * over InfiniBand, and name the peer at RTR. No iWARP standard has this: it works among uiwarps
 * only (docs/connect.md).
 *
 * Both sides know both pairs of address and QP number. The side with the lesser pair connects, and
 * the other waits at the service port (pairing_service.h). A QP that is paired with itself connects
 * from a port to the same port. As over InfiniBand, a failure is reported when there is something
 * to send. Until then a pairing goes on trying.
 *
 * All under the engine's lock.
 */
#ifndef RNIC_PAIRING_H
#define RNIC_PAIRING_H

#include "rnic/device.h"
#include "rnic/pairing_wire.h"

struct rdmap_end;

enum pairing_state {
	PAIRING_TRYING,   /**< it connects, or will connect again */
	PAIRING_WAITING,  /**< it waits to be connected */
	PAIRING_ANSWERED, /**< it has accepted, and nothing has come yet */
	PAIRING_JOINED,   /**< the stream is established */
	PAIRING_ENDING,   /**< the peer has, behind messages that are waited for no longer */
	PAIRING_PARTED,   /**< the peer has ended the stream; reported at the next send */
	PAIRING_FAILED,   /**< the QP is in ERROR */
};

struct pairing {
	struct rnic_qp *qp;
	struct rnic_path path;
	enum pairing_state state;
	struct rnic_ep *ep;  /**< of the connection, from its start-up on; or NULL */
	uint32_t sq_psn;     /**< PAIRING_PSN_UNKNOWN before RTS */
	uint32_t peer_psn;   /**< sq_psn according to the peer; likewise, before its hello */
	uint16_t ord;        /**< at most */
	uint64_t patience;   /**< ns from the first send to giving up; 0: for ever */
	uint64_t retries;    /**< likewise, once the peer has ended the stream */
	uint32_t backoff_ms; /**< before the next attempt */
	bool closing;        /**< the peer has closed, behind a message that waits */
	/** The next one; or, of the side that waits, a look at the requests that are held */
	struct timer attempt;
	struct timer deadline; /**< runs while something may be sent and no peer will answer */
};

#define PAIRING_PSN_UNKNOWN UINT32_MAX

/**
 * The QP goes to RTR with @p path. Its ird must be set.
 * @return 0; -EINVAL: the addresses are of two families, or not a host's; -EADDRNOTAVAIL:
 *         path.local is not ours; -EOPNOTSUPP: pairing is off; -EADDRINUSE: the service port is
 *         taken; -ENOMEM.
 */
int pairing_begin(struct rnic_qp *qp, const struct rnic_path *path);

/**
 * Attributes that the QP gets at RTS and later, and states: in SQD no time runs for what has not
 * started. @p mask of RNIC_QP_*.
 */
void pairing_modify(struct pairing *p, unsigned mask, const struct rnic_qp_attr *attr);

/** The program resets or destroys the QP, or moves it to ERROR: end the pairing. */
void pairing_end(struct rnic_qp *qp);

/** The QP is in ERROR: stop trying. */
void pairing_halt(struct pairing *p);

/** There may be sends, but there is no stream, or one that has no peer any more. */
void pairing_serve(struct pairing *p);

/**
 * The side that connects: the peer has accepted, and says this. Nothing may have been sent yet.
 * @return false: on other terms than ours. The pairing has failed, and its connection is over.
 */
bool pairing_take_reply(struct pairing *p, const void *data, uint16_t len);

/** Check whether @p request is from the QP's peer. @return PAIRING_TAKEN: call pairing_answer(). */
enum pairing_refusal pairing_judge(
	const struct pairing *p, const struct rnic_ep *request, const struct pairing_hello *hello);

/** Accept @p request. The pairing owns it from now on. */
void pairing_answer(struct pairing *p, struct rnic_ep *request, const struct pairing_hello *hello);

/**
 * The stream has ended.
 * @return true: the QP does not go to ERROR. That is so if the peer has ended it in good order,
 *         which a pure receiver over InfiniBand does not notice, or if it had not begun.
 */
bool pairing_outlives(struct pairing *p, const struct rdmap_end *e);

/** The peer has closed its direction. */
void pairing_peer_closed(struct pairing *p);

/**
 * The peer has closed its direction behind a message that waits for a receive element. Should there
 * be one in time, the stream ends as usual.
 */
void pairing_peer_closing(struct pairing *p);

#endif
