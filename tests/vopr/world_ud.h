/* SPDX-License-Identifier: BSD-2-Clause */
/** @file world_ud.h UD queue pairs, and the network that their datagrams cross. */
#ifndef TESTS_VOPR_WORLD_UD_H
#define TESTS_VOPR_WORLD_UD_H

#include "rnic/rnic.h"
#include "vopr/model_ud.h"

#define WORLD_UDS      2
#define WORLD_UD_PORT  7200
#define WORLD_UD_DEPTH 16u
/** Octets of each request's memory: a little more than a message and its header may have. */
#define WORLD_UD_PLACE 1152u

struct world;
struct world_host;
struct world_cq;
struct world_datagram;

struct world_ud {
	struct rnic_qp *qp; /**< NULL: empty slot */
	unsigned slot;
	struct world_cq *send_cq, *recv_cq;
	uint64_t sends, receives; /**< posted, ever: where the next one's memory is */
	struct model_ud model;
};

/** Of a host. */
struct world_uds {
	struct ud_net net;
	ud_input_fn *input;
	void *user;
	uint16_t port;
	struct world_datagram *writing;
	struct rnic_pd *pd;
	struct rnic_mr *mr;
	uint8_t *memory;
	struct world_ud qp[WORLD_UDS];
};

/** Before its RNIC is made. */
void world_uds_prepare(struct world_host *h);
void world_uds_begin(struct world_host *h);
void world_uds_end(struct world_host *h);
void world_uds_free(struct world_host *h);
/** A step. */
void world_ud_step(struct world_host *h);
struct world_ud *world_ud_find(struct world_host *h, uint32_t num);
void world_ud_complete(struct world_host *h, struct world_ud *u, const struct world_cq *cq,
	const struct rnic_wc *wc, const struct model_completion *c);
/** Has each one sent all? */
bool world_uds_are_idle(const struct world_host *h);
/** To ERROR: all comes back. */
void world_uds_flush(struct world_host *h);
/** Look whether what must have completed has. */
void world_uds_look(struct world_host *h);

#endif
