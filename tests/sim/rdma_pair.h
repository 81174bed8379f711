/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rdma_pair.h
 * Two simulated hosts with one connected QP each and a registered buffer: the stage for tests
 * that want RDMA over a bad path.
 */
#ifndef TESTS_SIM_RDMA_PAIR_H
#define TESTS_SIM_RDMA_PAIR_H

#include "rnic/ep.h"
#include "sim/host.h"
#include "sim/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Of both buffers. Tagged offsets are in packets, and packets must not depend on this process. */
#define RDMA_IOVA UINT64_C(0x10000000)

struct rdma_side {
	struct sim_host *host;
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_qp *qp; /**< NULL: a test has destroyed it */
	struct rnic_mr *mr;
	struct rnic_ep *ep, *request;
	uint8_t *buf;
	bool established, disconnected, failed;
	int status; /**< of disconnected */
	/** When it changes: it is established or over, or has a completion after rdma_arm(). Called
	 *  outside of the host's engine, at the same virtual time. May be NULL. */
	void (*changed)(void *ctx);
	void *ctx;
	bool told; /**< that call is due */
};

struct rdma_pair {
	struct sim *sim;
	struct rdma_side a, b; /**< a connects, b listens */
	struct sim_link link;
	size_t size;
	uint16_t port;
};

/** Hosts on 10.0.0.0/24, or fd00::/64 with @p v6, buffers of @p size bytes, @p path both ways. */
void rdma_pair_create(struct rdma_pair *p, struct sim *s, const struct sim_path_config *path,
	bool v6, size_t size);

/** The same on two hosts that are there; b will listen on @p port. */
void rdma_pair_create_on(
	struct rdma_pair *p, struct sim_host *a, struct sim_host *b, uint16_t port, size_t size);

/** Let b listen, and accept any peer. */
void rdma_pair_listen(struct rdma_pair *p);

/** Begin to connect a, to any listener. */
void rdma_pair_connect_only(struct rdma_pair *p);

/** Both: begin to connect the QPs. */
void rdma_pair_start(struct rdma_pair *p);

/** Connect the QPs. @return false if that did not happen within @p limit ns. */
bool rdma_pair_connect(struct rdma_pair *p, uint64_t limit);

/** Post one signalled operation on a side; remote offset and length in the other's buffer. */
void rdma_post(struct rdma_pair *p, struct rdma_side *from, enum rdmap_wr_op op, size_t local,
	size_t remote, uint32_t len);

/** The same in two steps, with the element filled in between. */
struct rdmap_wqe *rdma_begin(struct rdma_pair *p, struct rdma_side *from, enum rdmap_wr_op op,
	size_t local, size_t remote, uint32_t len);
void rdma_commit(struct rdma_side *from);

void rdma_post_recv(struct rdma_side *side, size_t offset, uint32_t len);

/** Run until @p n completions came on @p side, all good. @return false at the limit or on error. */
bool rdma_complete(struct rdma_pair *p, struct rdma_side *side, unsigned n, uint64_t limit);

/** Bytes that look like nothing else of theirs. */
void rdma_fill(uint8_t *p, size_t n, uint32_t seed);

/**
 * Write the first @p len bytes of a's buffer, freshly filled, to b's and read them back behind
 * them.
 * @return false: that did not happen within @p limit ns, or other bytes came.
 */
bool rdma_write_and_read_back(struct rdma_pair *p, uint32_t len, uint64_t limit);

/** Call side->changed at its next completion. */
void rdma_arm(struct rdma_side *side);

/** Tear everything down but the simulation. */
void rdma_pair_destroy(struct rdma_pair *p);

#endif
