/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file many_qps.h
 * One side of many connected queue pairs: an ordinary program of verbs and rdma_cm. All share a CQ
 * and an SRQ, so that the user's queues are as small as they get. What fails ends the program.
 */
#ifndef BENCH_MANY_QPS_H
#define BENCH_MANY_QPS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#define MANY_QPS_PORT      "7480"
#define MANY_QPS_UNDER_WAY 32
#define MANY_QPS_MESSAGE   64
#define MANY_QPS_BUFFERS   256 /**< receives that the SRQ has; one more is sent */
#define MANY_QPS_BLOCK     4096

/** Where the client may write to: private data of the server's. */
struct many_qps_target {
	uint64_t addr;
	uint32_t rkey;
};

struct many_qps {
	unsigned n;     /**< the caller's: how many there will be at most */
	unsigned depth; /**< the caller's: requests under way on each */
	bool client;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr, *block_mr;
	char buffer[MANY_QPS_BUFFERS + 1][MANY_QPS_MESSAGE];
	char block[MANY_QPS_BLOCK]; /**< the client's is written to the server's */
	struct rdma_cm_id **id;
	unsigned made, connected, ended;
	struct rdma_addrinfo *address;
	struct many_qps_target target; /**< of the client */
};

/** With @p address the side that connects to it, else the one that listens. */
void many_qps_open(struct many_qps *m, const char *address);

/** Until @p n are connected. */
void many_qps_connect(struct many_qps *m, unsigned n);

/** The client ends all connections; either side waits until all have ended. */
void many_qps_close(struct many_qps *m);

/** Give buffer @p i to the SRQ. */
void many_qps_post_receive(struct many_qps *m, unsigned i);

/** Send a message; its wr_id is MANY_QPS_BUFFERS. */
void many_qps_send(struct many_qps *m, struct ibv_qp *qp);

/** That with this number. */
struct ibv_qp *many_qps_find(const struct many_qps *m, uint32_t num);

#endif
