/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file fixture.h
 * For tests that run under "uiwarp run" on a port that goes nowhere: our device, opened; QPs that
 * stand alone; and two connected through librdmacm over our own address, which the IP layer loops
 * back.
 */
#ifndef TESTS_UNIT_PROVIDER_FIXTURE_H
#define TESTS_UNIT_PROVIDER_FIXTURE_H

#include <infiniband/verbs.h>

#include <rdma/rdma_cma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#define FIXTURE_ADDRESS "10.99.0.1"
#define FIXTURE_SIZE    100000

struct end {
	struct rdma_cm_id *id;
	struct ibv_mr *mr; /**< of buf, with all rights */
	uint8_t *buf;      /**< FIXTURE_SIZE bytes */
	struct ibv_srq *srq;
};

/** A QP without a connection, with one CQ for both directions. */
struct lone {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap; /**< as created */
};

struct fixture {
	struct ibv_context *context;
	struct end client, server;
};

extern struct fixture fx;

/** Our device in the list of all, which the caller frees. */
struct ibv_device *fixture_device(struct ibv_device ***list);

int fixture_open(void **state);
int fixture_close(void **state);
#define OPENED(f) cmocka_unit_test_setup_teardown(f, fixture_open, fixture_close)

/** Connect fx.client and fx.server, each with builders, 4 elements, 2 sge, 16 bytes inline. */
int fixture_connect(void **state);
/** The same with all sends signaled, and the server's receives from a shared queue. */
int fixture_connect_srq(void **state);
int fixture_disconnect(void **state);
#define CONNECTED(f)     cmocka_unit_test_setup_teardown(f, fixture_connect, fixture_disconnect)
#define CONNECTED_SRQ(f) cmocka_unit_test_setup_teardown(f, fixture_connect_srq, fixture_disconnect)

/** A QP in RESET; @p cqe entries; builders when @p extended. */
void lone_open(struct lone *l, const struct ibv_qp_cap *cap, int cqe, bool extended);
void lone_close(struct lone *l);

/** Move a QP. @return as ibv_modify_qp(). */
int qp_go(struct ibv_qp *qp, enum ibv_qp_state to);

/** Poll until there is one. */
struct ibv_wc take(struct ibv_cq *cq);
/** Take the next of the client's sends, which must have succeeded. */
void take_sent(uint64_t wr_id);

/** A signaled request of one element, @p len bytes of the end's buffer; wr_id is 1000 + op. */
struct ibv_send_wr request(
	enum ibv_wr_opcode op, struct ibv_sge *sge, const struct end *from, uint32_t len);
/** Let it go to, or read from, @p offset of the server's buffer. */
void aim(struct ibv_send_wr *wr, size_t offset);
/** Post by the client; must succeed. */
void client_posts(struct ibv_send_wr *wr);

/** The first FPDU is the client's: from here on the server may send. */
void client_begins(void);

/**
 * A window of the first @p len bytes of the server's buffer, for its QP's peer; both have begun.
 */
struct ibv_mw *server_window(size_t len);

/** Fill a buffer of an end with a pattern. */
void fill(uint8_t *buf, uint8_t seed);
/** Post a receive of the whole buffer. */
void post_recv(struct end *e, uint64_t wr_id);

#endif
