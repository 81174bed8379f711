/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file qp.h
 * The smallest QP over struct rdmap: a few memory regions, a send ring, a receive ring, a log of
 * completions. Either two of them over an in-memory LLP, or one opposite a peer of raw bytes.
 */
#ifndef TESTS_UNIT_RDMAP_QP_H
#define TESTS_UNIT_RDMAP_QP_H

#include "rdmap/rdmap.h"
#include "support/llp_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define QP_SQ_SIZE   128
#define QP_SQ_STRIDE 512
#define QP_RQ_SIZE   64
#define QP_RQ_STRIDE 512
#define QP_IRD       8

struct qp_region {
	uint32_t stag;
	uint64_t to;
	uint8_t *mem; /* its own allocation */
	uint32_t len;
	unsigned access;
	bool invalid, foreign; /* invalidated; of another PD */
	bool lent;             /* the LLP may send from it */
};

struct qp {
	struct rdmap r;
	struct mpa *m; /* its own allocation; freed when the stream lets go of it */
	struct mpa_config config;
	struct rdmap_sq sq;
	struct rdmap_irqe *irq;
	uint16_t ird, ord;
	uint8_t rtr;
	struct qp_region region[16];
	unsigned regions;
	uint8_t *rq;
	unsigned rq_head, rq_tail, taken;
	bool patient; /* a message waits for its element */
	unsigned recv_waits;
	bool shared_rq; /* nobody can tell which message takes which element */
	struct rdmap_wc wc[4096];
	unsigned wcs, wc_next;
	unsigned operationals, peer_closeds, draineds, endeds, local_ops;
	int local_op_status;
	struct rdmap_end end;
	void (*on_complete)(struct qp *q, const struct rdmap_wc *wc);
	void (*on_ended)(struct qp *q);
};

struct qp_net {
	struct llp_mem *mem;
	struct llp_mem_peer peer; /* instead of b */
	struct qp *a, *b;         /* initiator, responder */
	bool crc;                 /* raw peers agree to CRCs, and send zeros for them */
	bool full;                /* a's send buffer is, when it gets the raw peer's reply */
};

/** Two QPs on two hosts; change what you like before qp_net_connect(). */
void qp_net_init(struct qp_net *n);
void qp_net_connect(struct qp_net *n);
void qp_net_done(struct qp_net *n);

/** a is the initiator, b stays unused; the peer is raw and has sent its reply. CRC as n->crc. */
void qp_net_raw_initiator(struct qp_net *n);

/** One byte in @p q's send buffer, which has room for no more until qp_net_drain(). */
void qp_net_fill(struct qp_net *n, struct qp *q);

/** The raw peer gets that byte, and what waited behind it. */
void qp_net_drain(struct qp_net *n, struct qp *q);

/** b is the responder; the raw peer has sent its request. CRC as n->crc. */
void qp_net_raw_responder(struct qp_net *n);

/** Step until quiet. */
void qp_net_run(struct qp_net *n);

/** The raw peer sends one ULPDU. */
void qp_net_feed(struct qp_net *n, const void *ulpdu, size_t len);

/** The raw peer has received exactly this ULPDU next. */
void qp_net_expect(struct qp_net *n, const void *ulpdu, size_t len);

/** The raw peer has received nothing more. */
void qp_net_expect_nothing(struct qp_net *n);

/** The raw peer gets this Terminate (without its DDP header) and FIN. */
void qp_net_expect_terminate(struct qp_net *n, const void *header, size_t len);

/** ended() was called once, with this. */
void qp_expect_end(
	struct qp *q, int kind, int error, unsigned layer, unsigned etype, unsigned code);

/** A region of @p len bytes, filled with a pattern of its STag. */
struct qp_region *qp_region_add(
	struct qp *q, uint32_t stag, uint64_t to, uint32_t len, unsigned access);

/** The next send element, header zeroed; fill it, then qp_post(). */
struct rdmap_wqe *qp_wqe(struct qp *q, uint64_t wr_id, enum rdmap_wr_op op, unsigned flags);
void qp_wqe_sge(struct rdmap_wqe *w, const struct qp_region *g, uint32_t offset, uint32_t len);
void qp_wqe_inline(struct rdmap_wqe *w, const void *bytes, uint32_t len);
void qp_post(struct qp *q); /* advances head; does not run */
void qp_run(struct qp *q);  /* a doorbell */

void qp_post_recv(
	struct qp *q, uint64_t wr_id, const struct qp_region *g, uint32_t offset, uint32_t len);

/** The next completion is this. @return it. */
const struct rdmap_wc *qp_expect_wc(struct qp *q, uint64_t wr_id, enum rdmap_wc_status status,
	enum rdmap_wc_op op, uint32_t len);
void qp_expect_no_wc(struct qp *q);

#define FEED(n, literal)             qp_net_feed(n, literal, sizeof(literal) - 1)
#define EXPECT(n, literal)           qp_net_expect(n, literal, sizeof(literal) - 1)
#define EXPECT_TERMINATE(n, literal) qp_net_expect_terminate(n, literal, sizeof(literal) - 1)

/* Parts of DDP's headers for such literals; AT9: a tagged one's STag 9, TO 0x2000 and a little. */
#define ZERO4   "\x00\x00\x00\x00"
#define QN0     ZERO4
#define QN1     "\x00\x00\x00\x01"
#define MSN(n)  "\x00\x00\x00" n
#define MO(n)   "\x00\x00\x00" n
#define AT9(lo) "\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x20" lo

#define LOCAL  (RDMAP_ACCESS_LOCAL_WRITE)
#define REMOTE (LOCAL | RDMAP_ACCESS_REMOTE_READ | RDMAP_ACCESS_REMOTE_WRITE)

#endif
