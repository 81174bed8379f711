/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pairing.h
 * The pairing of a QP: its program has exchanged addresses, QP numbers and PSNs with that of the
 * peer, as over InfiniBand, and names the peer at RTR. No standard of iWARP knows this; it is our
 * own, among uiwarps (docs/connect.md).
 *
 * Both sides know both pairs of address and QP number, so both know which one connects: the lesser
 * pair. The other waits for it at the service port (pairing_service.h). A QP that is paired with
 * itself connects to itself, from a port to the same port. As over InfiniBand, failure is told when
 * there is something to send: a pairing that has nothing to send goes on trying.
 *
 * All under the engine's lock.
 */
#ifndef RNIC_PAIRING_H
#define RNIC_PAIRING_H

#include "rnic/device.h"
#include "rnic/pairing_wire.h"

struct rdmap_end;

enum pairing_state {
	PAIRING_TRYING,   /**< connects, or will again */
	PAIRING_WAITING,  /**< to be connected */
	PAIRING_ANSWERED, /**< has accepted; nothing has come yet */
	PAIRING_JOINED,   /**< the stream stands */
	PAIRING_PARTED,   /**< the peer has ended it: known when there is something to send */
	PAIRING_FAILED,   /**< so is the QP */
};

struct pairing {
	struct rnic_qp *qp;
	struct rnic_path path;
	enum pairing_state state;
	struct rnic_ep *ep;  /**< of the connection while it is being made, and after; or NULL */
	uint32_t sq_psn;     /**< PAIRING_PSN_UNKNOWN before RTS */
	uint32_t peer_psn;   /**< what the peer was told sq_psn is; likewise before it said so */
	uint16_t ord;        /**< at most */
	uint64_t patience;   /**< ns from the first send to giving up; 0: for ever */
	uint64_t retries;    /**< likewise, once the peer has parted */
	uint32_t backoff_ms; /**< before the next attempt */
	struct timer attempt;
	struct timer deadline; /**< runs while something waits to be sent */
};

#define PAIRING_PSN_UNKNOWN UINT32_MAX

/**
 * The QP goes to RTR, with attr->path; its ird must have been set.
 * @return 0; -EINVAL: a path between families, or to no host's address; -EADDRNOTAVAIL:
 *         path.local is not ours; -EOPNOTSUPP: pairing is off; -EADDRINUSE: the service port is
 *         taken; -ENOMEM.
 */
int pairing_begin(struct rnic_qp *qp, const struct rnic_path *path);

/** What the QP learns at RTS, and later. @p mask of RNIC_QP_*. */
void pairing_modify(struct pairing *p, unsigned mask, const struct rnic_qp_attr *attr);

/** The QP belongs to nobody any more: it is reset, destroyed or moved to ERROR by its program. */
void pairing_end(struct rnic_qp *qp);

/** The QP is in ERROR: nothing is tried any more. */
void pairing_halt(struct pairing *p);

/** There may be sends, and there is no stream. */
void pairing_serve(struct pairing *p);

/** Is this the peer that the QP waits for? @return PAIRING_TAKEN: give it to pairing_answer(). */
enum pairing_refusal pairing_judge(
	const struct pairing *p, const struct rnic_ep *request, const struct pairing_hello *hello);

/** Accept @p request, which is the pairing's from here on. */
void pairing_answer(struct pairing *p, struct rnic_ep *request, const struct pairing_hello *hello);

/**
 * The stream ends so. @return true: the QP does not go to ERROR. That is when the peer has ended it
 * in good order, which a pure receiver does not notice over InfiniBand, and before it has begun.
 */
bool pairing_outlives(struct pairing *p, const struct rdmap_end *e);

/** The peer has closed its direction. */
void pairing_peer_closed(struct pairing *p);

#endif
