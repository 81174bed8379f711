/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pairing_wire.h
 * The messages of a pairing, in MPA's private data (docs/connect.md). All big-endian.
 *
 *      0  4  "uiQP"
 *      4  1  version, 1
 *      5  1  request and accepting reply: 0; rejecting reply: enum pairing_refusal
 *      6  2  0
 *      8 4 number of the receiver's QP
 *     12  4  number of the sender's QP
 *     16 4 the sender's rq_psn: the receiver's starting PSN
 */
#ifndef RNIC_PAIRING_WIRE_H
#define RNIC_PAIRING_WIRE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>

#define PAIRING_HELLO_LEN 20
#define PAIRING_MAGIC     0x75695150u
#define PAIRING_VERSION   1
/** QP numbers and PSNs have 24 bits. */
#define PAIRING_NUMBER_MASK 0xffffffu

/** Why the side that waits rejects. After NOT_READY and BUSY the other side tries again. */
enum pairing_refusal {
	PAIRING_TAKEN,     /**< not refused */
	PAIRING_NOT_READY, /**< the QP was not brought to RTR in time */
	PAIRING_BUSY,      /**< too many requests are held */
	PAIRING_NO_QP,     /**< there is no such QP, or it belongs to rdma_cm */
	PAIRING_OTHER_QP,  /**< the QP has another peer */
	PAIRING_OTHER_PSN, /**< another starting PSN */
	PAIRING_ILL,       /**< not understood */
	PAIRING_REFUSALS
};

struct pairing_hello {
	uint8_t refusal; /**< enum pairing_refusal */
	uint32_t to_qp, from_qp;
	uint32_t psn;
};

static inline void pairing_put_hello(uint8_t p[PAIRING_HELLO_LEN], const struct pairing_hello *h)
{
	store_be32(p, PAIRING_MAGIC);
	p[4] = PAIRING_VERSION;
	p[5] = h->refusal;
	store_be16(p + 6, 0);
	store_be32(p + 8, h->to_qp);
	store_be32(p + 12, h->from_qp);
	store_be32(p + 16, h->psn);
}

/** @return false: it is no such message, or of another version. */
static inline bool pairing_get_hello(const void *data, size_t len, struct pairing_hello *h)
{
	const uint8_t *p = data;

	if (len != PAIRING_HELLO_LEN || load_be32(p) != PAIRING_MAGIC || p[4] != PAIRING_VERSION ||
		p[5] >= PAIRING_REFUSALS || load_be16(p + 6) != 0)
		return false;
	*h = (struct pairing_hello){.refusal = p[5],
		.to_qp = load_be32(p + 8),
		.from_qp = load_be32(p + 12),
		.psn = load_be32(p + 16)};
	return h->to_qp <= PAIRING_NUMBER_MASK && h->from_qp <= PAIRING_NUMBER_MASK &&
	       h->psn <= PAIRING_NUMBER_MASK;
}

#endif
