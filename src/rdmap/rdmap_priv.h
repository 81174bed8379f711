/* SPDX-License-Identifier: BSD-2-Clause */
/** @file rdmap_priv.h What the files of this directory share. */
#ifndef RDMAP_RDMAP_PRIV_H
#define RDMAP_RDMAP_PRIV_H

#include "rdmap/rdmap.h"

/** False once an upcall has ended the stream: touch nothing of it any more. */
static inline bool rdmap_alive(const struct rdmap *r)
{
	return r->mpa && !r->ended;
}

/* ---- rdmap.c ----------------------------------------------------------------------------- */

/** Tell the QP, once, that the stream is over. */
void rdmap_end(struct rdmap *r, const struct rdmap_end *e);

/* ---- buffer.c: scatter/gather lists ------------------------------------------------------ */

/**
 * Copy the next @p len bytes of @p w's data out, checking every piece.
 * @return 0, or as stag_check(); -EINVAL: the list is shorter than its length says.
 */
int rdmap_gather(struct rdmap *r, const struct rdmap_wqe *w, uint8_t *to, uint32_t len);

/** Where byte @p offset of a receive element is, or its end. */
struct rdmap_sge_at rdmap_sge_seek(const struct rdmap_rqe *q, uint32_t offset);

/** Copy the payload of @p s into a receive element, from @p at on. @return as rdmap_gather(). */
int rdmap_scatter(
	struct rdmap *r, const struct rdmap_rqe *q, struct rdmap_sge_at *at, struct ddp_segment *s);

/* ---- rx.c -------------------------------------------------------------------------------- */

/** A message finds no receive element: it waits in the LLP, or that is its error. */
void rdmap_no_buffer(struct rdmap *r, struct ddp_segment *s);

/* ---- sq.c: completions ------------------------------------------------------------------- */

/** Every work request that has started has completed. */
bool rdmap_sq_is_drained(const struct rdmap *r);

/** @p w is done; it completes when all before it have. */
void rdmap_sq_done(struct rdmap *r, struct rdmap_wqe *w, enum rdmap_wc_status status);

/** Complete the receive element in hand. @p wc->op: RDMAP_WC_RECV or RDMAP_WC_RECV_IMM. */
void rdmap_recv_complete(struct rdmap *r, struct rdmap_wc *wc);

/* ---- irq.c: requests of the peer that are answered in order -------------------------------- */

/** RFC 5040 section 7.2 (Read Requests, check 4), as Figure 9 codes it. @p rc of stag_check(). */
uint8_t rdmap_protection_code(int rc);

/**
 * Keep a request until its turn comes. @return false: there are as many as the IRD allows; the
 * stream has ended.
 */
bool rdmap_irq_add(struct rdmap *r, const struct rdmap_irqe *q, struct ddp_segment *s);

/** The oldest is answered. */
void rdmap_irq_pop(struct rdmap *r);

/** The MSN of the oldest one's request. */
uint32_t rdmap_irq_msn(const struct rdmap *r);

/* ---- read.c ------------------------------------------------------------------------------ */

/** True of those that wait for an answer, and count against the ORD. */
static inline bool rdmap_wr_waits(const struct rdmap_wqe *w)
{
	return w->op == RDMAP_WR_READ || w->op == RDMAP_WR_READ_INV ||
	       w->op == RDMAP_WR_FETCH_ADD || w->op == RDMAP_WR_CMP_SWAP;
}

/** The oldest of them, which is the element at the tail: all before it are completed. */
static inline struct rdmap_wqe *rdmap_oldest_waiting(const struct rdmap *r)
{
	return rdmap_sq_at(r->sq, atomic_load_explicit(&r->sq->tail, memory_order_relaxed));
}

enum rdmap_progress {
	RDMAP_MORE,    /**< call again */
	RDMAP_BLOCKED, /**< no room in the LLP; writable() follows */
	RDMAP_OVER,    /**< the stream has ended */
};

/** Send one segment of the response to the oldest inbound request, a Read. */
enum rdmap_progress rdmap_send_read_response(struct rdmap *r);

/** Send the Read Request of @p w. */
enum rdmap_progress rdmap_send_read_request(struct rdmap *r, struct rdmap_wqe *w);

/** Send a Read Request, or give up for lack of room. */
bool rdmap_put_read_request(struct rdmap *r, const struct rdmap_irqe *q);

/** Send an empty Read Response for an RTR Read. */
enum rdmap_progress rdmap_answer_rtr(struct rdmap *r);

/** The answer to @p w, a Read or Atomic, is here. */
void rdmap_read_done(struct rdmap *r, struct rdmap_wqe *w, enum rdmap_wc_status status);

void rdmap_on_read_request(struct rdmap *r, struct ddp_segment *s);
void rdmap_on_read_response(struct rdmap *r, struct ddp_segment *s);

/* ---- atomic.c: RFC 7306 section 5 ---------------------------------------------------------- */

/** Execute the oldest inbound request, an Atomic, and send its response. */
enum rdmap_progress rdmap_send_atomic_response(struct rdmap *r);

/** Send the Atomic Request of @p w. */
enum rdmap_progress rdmap_send_atomic_request(struct rdmap *r, struct rdmap_wqe *w);

void rdmap_on_atomic_request(struct rdmap *r, struct ddp_segment *s);
void rdmap_on_atomic_response(struct rdmap *r, struct ddp_segment *s);

/* ---- immediate.c: RFC 7306 section 6 -------------------------------------------------------- */

/** Send the Immediate Data of @p w, or give up for lack of room. */
bool rdmap_put_immediate(struct rdmap *r, struct rdmap_wqe *w);

void rdmap_on_immediate(struct rdmap *r, struct ddp_segment *s);

/* ---- rx.c -------------------------------------------------------------------------------- */

/**
 * Copy a message that is an RDMAP header of @p len bytes and nothing else.
 * @return false: it is not; the stream has ended.
 */
bool rdmap_take_header(struct rdmap *r, struct ddp_segment *s, uint8_t *p, uint32_t len);

/** RFC 5040 section 7.2, check 2: an opcode that exists, in the segment that it belongs in. */
bool rdmap_opcode_fits(const struct ddp_segment *s);

/** The stream's receive side, for MPA. */
void rdmap_on_ulpdu(void *user, const struct mpa_ulpdu *u);
void rdmap_on_placed(void *user, const struct mpa_ulpdu *u, bool whole);

/* ---- placement.c -------------------------------------------------------------------------- */

/** For MPA: can the payload of a ULPDU be placed before its turn? And do it. */
uint32_t rdmap_on_placement(void *user, const struct mpa_ulpdu *u);
bool rdmap_on_place(void *user, const struct mpa_ulpdu *u);

/* ---- terminate.c ------------------------------------------------------------------------- */

/** What a Terminate says and quotes. */
struct rdmap_error {
	uint8_t layer, etype, code;
	const struct ddp_segment *segment; /**< the offending one: M and D bits. Or NULL */
	const uint8_t *read_header;        /**< RDMAP_READ_HEADER_LEN bytes: R bit. Or NULL */
	/**
	 * For a Read or Atomic Request without its segment at hand: its DDP header is made again.
	 * request_opcode 0: none.
	 */
	uint8_t request_opcode;
	uint32_t request_msn;
};

/** Build a Terminate. @p out: RDMAP_TERM_MAX bytes. @return its length. */
size_t rdmap_terminate_build(const struct rdmap_error *e, uint8_t *out);

/** Send the Terminate for @p e, close our direction, drop what comes, tell the QP. */
void rdmap_fail(struct rdmap *r, const struct rdmap_error *e);

/** rdmap_fail() for an error of the DDP layer. */
void rdmap_fail_ddp(struct rdmap *r, enum ddp_error error, const struct ddp_segment *s);

/** rdmap_fail() for an error of the RDMA layer found in @p s. */
void rdmap_fail_rdma(struct rdmap *r, uint8_t etype, uint8_t code, const struct ddp_segment *s);

/** A Terminate had to wait for room: try again. */
void rdmap_terminate_retry(struct rdmap *r);

void rdmap_on_terminate(struct rdmap *r, struct ddp_segment *s);

#endif
