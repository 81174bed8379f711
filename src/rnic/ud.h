/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ud.h
 * Private: UD queue pairs (docs/ud.md). They have no connection: each send is a datagram, and each
 * datagram that comes takes a receive element. What finds none is dropped, and counted.
 *
 * All under the engine's lock, but for ud_aim().
 */
#ifndef RNIC_UD_H
#define RNIC_UD_H

#include "rnic/mcast.h"
#include "ud/datagram.h"

#include <stdatomic.h>

struct rnic_qp;

/** Of an RNIC. */
struct ud_service {
	const struct ud_net *net; /**< NULL: there are no UD QPs */
	uint16_t port;            /**< of the first space of QP numbers (device.h) */
	const char *remark;       /**< rnic_config.ud_remark */
	_Atomic bool told;
	bool open;
	struct mcast_table mcast;
	struct rnic_ud_stats stats;
};

/** Of a QP. */
struct ud {
	struct rnic_qp *qp;
	uint32_t qkey;
	bool block_self;    /**< nothing that it has sent to a group is for it */
	struct timer again; /**< there was no room, or others have their turn: go on then */
	LIST_HEAD(, mcast_member) groups;
};

/** Sends of one QP in a row, before others have their turn. */
#define UD_BURST 32

/** When the rest of a burst, or one without room, goes on. */
#define UD_AGAIN_NS UINT64_C(5000)

/**
 * Before the first UD QP: receive.
 * @return 0; -EOPNOTSUPP: there are none; -EADDRINUSE; or as ud_net.open().
 */
int ud_service_open(struct rnic *r);
void ud_service_close(struct rnic *r);

/** Make @p qp, which is new, a UD QP. @return 0, -ENOMEM. */
int ud_init(struct rnic_qp *qp);

/**
 * The QP is destroyed: nothing goes on. Of other QPs, too. What has been posted is sent first, as
 * far as there is room: from a device's queue it would have left by now, and there are programs
 * (mckey) that send without signals and end.
 */
void ud_end(struct rnic_qp *qp);

/** There may be sends. */
void ud_serve(struct rnic_qp *qp);

/** @p qp takes the message of a datagram, or it is dropped and counted. @p qp NULL: no such QP. */
void ud_receive(struct rnic_qp *qp, struct rnic *r, const struct ud_path *path,
	const struct ud_header *h, const uint8_t *message);

#endif
