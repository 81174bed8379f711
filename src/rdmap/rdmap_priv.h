/* SPDX-License-Identifier: BSD-2-Clause */
/** @file rdmap_priv.h Private to this directory. */
#ifndef RDMAP_RDMAP_PRIV_H
#define RDMAP_RDMAP_PRIV_H

#include "rdmap/rdmap.h"

/** False once an upcall has ended the stream. Do not use it any more then. */
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

/** Messages of less are always copied. */
#define RDMAP_EXTERNAL_MIN 4096

/**
 * May the next @p len bytes of a message of @p whole be sent from where they lie? Only what fills a
 * segment: what shares one with others is copied, so that segments do not depend on it.
 */
static inline bool rdmap_may_lend(const struct rdmap *r, uint32_t whole, uint32_t len, uint32_t max)
{
	return r->external && whole >= RDMAP_EXTERNAL_MIN && len == max;
}

/** Do requests complete, all or some, when the peer's TCP has them? */
static inline bool rdmap_heeds_acks(const struct rdmap *r)
{
	return r->by_acks || r->external;
}

/**
 * Instead of mpa_commit(): the last @p len bytes are @p mem, which @p stag was checked for.
 * @return false: nothing was done; the LLP cannot send from there.
 */
bool rdmap_commit_external(struct rdmap *r, uint32_t stag, const uint8_t *mem, uint32_t len);

/**
 * Instead of rdmap_gather() and mpa_commit(): the same bytes, if they lie in one piece that the LLP
 * can send from.
 * @return false: nothing was done.
 */
bool rdmap_lend(struct rdmap *r, const struct rdmap_wqe *w, uint32_t len);

/** The position of byte @p offset in a receive element, or its end. */
struct rdmap_sge_at rdmap_sge_seek(const struct rdmap_rqe *q, uint32_t offset);

/** Copy the payload of @p s into a receive element, from @p at on. @return as rdmap_gather(). */
int rdmap_scatter(
	struct rdmap *r, const struct rdmap_rqe *q, struct rdmap_sge_at *at, struct ddp_segment *s);

/* ---- rx.c -------------------------------------------------------------------------------- */

/** There is no receive element for a message: let it wait in the LLP, or fail. */
void rdmap_no_buffer(struct rdmap *r, struct ddp_segment *s);

/** The length of the Write that ended right before a message; 0: none did. */
static inline uint32_t rdmap_write_before(const struct rdmap *r)
{
	return r->write_open ? 0 : r->write_len;
}

/** A message for a receive has come. A Write whose segments are around it goes on. */
static inline void rdmap_forget_write(struct rdmap *r)
{
	if (!r->write_open)
		r->write_len = 0;
}

/* ---- sq.c: completions ------------------------------------------------------------------- */

/** Every work request that has started has completed. */
bool rdmap_sq_is_drained(const struct rdmap *r);

/** @p w is finished. It completes when all before it have completed. */
void rdmap_sq_done(struct rdmap *r, struct rdmap_wqe *w, enum rdmap_wc_status status);

/** Sends and Writes complete of which the LLP knows that they have arrived. */
void rdmap_sq_take_acked(struct rdmap *r);

/** The oldest Read or Atomic whose answer has not come. There must be one (reads_out). */
struct rdmap_wqe *rdmap_sq_unanswered(const struct rdmap *r);

/**
 * An answer has come, to that one. All before it has arrived, then, whatever the LLP knows, and
 * completes. Not so with external payload, which may not have been read yet, and the peer guess.
 * @return false: the stream has ended meanwhile.
 */
bool rdmap_sq_answered(struct rdmap *r, const struct rdmap_wqe *w);

/** Complete the receive element that is taken. @p wc->op: RDMAP_WC_RECV or RDMAP_WC_RECV_IMM. */
void rdmap_recv_complete(struct rdmap *r, struct rdmap_wc *wc);

/* ---- irq.c: the peer's requests, answered in order -------------------------------- */

/** RFC 5040 section 7.2 (Read Requests, check 4), as Figure 9 codes it. @p rc of stag_check(). */
uint8_t rdmap_protection_code(int rc);

/** Queue a request of the peer. @return false: the IRD is exceeded, and the stream has ended. */
bool rdmap_irq_add(struct rdmap *r, const struct rdmap_irqe *q, struct ddp_segment *s);

/** Remove the oldest request: it is answered. */
void rdmap_irq_pop(struct rdmap *r);

/** The MSN of the oldest request. */
uint32_t rdmap_irq_msn(const struct rdmap *r);

/* ---- read.c ------------------------------------------------------------------------------ */

/** True of Reads and Atomics, which wait for an answer and count against the ORD. */
static inline bool rdmap_wr_waits(const struct rdmap_wqe *w)
{
	return w->op == RDMAP_WR_READ || w->op == RDMAP_WR_FETCH_ADD || w->op == RDMAP_WR_CMP_SWAP;
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

/** Send a Read Request. @return false: there is no room. */
bool rdmap_put_read_request(struct rdmap *r, const struct rdmap_irqe *q);

/** Send an empty Read Response for an RTR Read. */
enum rdmap_progress rdmap_answer_rtr(struct rdmap *r);

/** The answer to @p w, a Read or Atomic, has come. */
void rdmap_read_done(struct rdmap *r, struct rdmap_wqe *w);

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

/** Send the Immediate Data of @p w. @return false: there is no room. */
bool rdmap_put_immediate(struct rdmap *r, struct rdmap_wqe *w);

/** Of the control field of @p w, a Send: what the peer must know of Immediate Data. */
uint8_t rdmap_immediate_bits(const struct rdmap *r, const struct rdmap_wqe *w);

/** In its turn: what a Send's segment says of the Immediate Data before it is what has come. */
bool rdmap_immediate_agrees(const struct rdmap *r, const struct ddp_segment *s);

/**
 * Before its turn: the receive element of a Send, counted as in recv_peek().
 * @return false: it is not known.
 */
bool rdmap_immediate_place_of(const struct rdmap *r, const struct ddp_segment *s, uint32_t *n);

/** A Send is whole. @return true: it completes with its Immediate Data, which comes next. */
bool rdmap_immediate_due(struct rdmap *r, const struct ddp_segment *s);

void rdmap_on_immediate(struct rdmap *r, struct ddp_segment *s);

/* ---- rx.c -------------------------------------------------------------------------------- */

/**
 * Copy a message that must be an RDMAP header of exactly @p len bytes.
 * @return false: it is not, and the stream has ended.
 */
bool rdmap_take_header(struct rdmap *r, struct ddp_segment *s, uint8_t *p, uint32_t len);

/** RFC 5040 section 7.2, check 2: the opcode exists and fits the segment. */
bool rdmap_opcode_fits(const struct ddp_segment *s);

/** The stream is established: tell, and send what waits. */
void rdmap_open_sending(struct rdmap *r);

/** The stream's receive side, for MPA. */
void rdmap_on_ulpdu(void *user, const struct mpa_ulpdu *u);
void rdmap_on_placed(void *user, const struct mpa_ulpdu *u, bool whole);

/* ---- placement.c -------------------------------------------------------------------------- */

/** Out-of-order placement, for MPA: the question, and the placement itself. */
uint32_t rdmap_on_placement(void *user, const struct mpa_ulpdu *u);
bool rdmap_on_place(void *user, const struct mpa_ulpdu *u);

/* ---- terminate.c ------------------------------------------------------------------------- */

/** The contents of a Terminate. */
struct rdmap_error {
	uint8_t layer, etype, code;
	/** The offending segment, for the M and D bits; or NULL */
	const struct ddp_segment *segment;
	const uint8_t *read_header; /**< RDMAP_READ_HEADER_LEN bytes, for the R bit; or NULL */
	/**
	 * For a Read or Atomic Request that has no segment any more: its DDP header is rebuilt from
	 * these. request_opcode 0: not used.
	 */
	uint8_t request_opcode;
	uint32_t request_msn;
};

/** Build a Terminate. @p out: RDMAP_TERM_MAX bytes. @return its length. */
size_t rdmap_terminate_build(const struct rdmap_error *e, uint8_t *out);

/** Send the Terminate for @p e, close our direction, drop further input, and tell the QP. */
void rdmap_fail(struct rdmap *r, const struct rdmap_error *e);

/** rdmap_fail() for an error of the DDP layer. */
void rdmap_fail_ddp(struct rdmap *r, enum ddp_error error, const struct ddp_segment *s);

/** rdmap_fail() for an error of the RDMA layer found in @p s. */
void rdmap_fail_rdma(struct rdmap *r, uint8_t etype, uint8_t code, const struct ddp_segment *s);

/**
 * What we wait for will never come: the peer has closed. It may still hear why we go (RFC 5040
 * section 6.2.1).
 */
void rdmap_fail_cut_off(struct rdmap *r);

/** Try again to send a Terminate that waits for room. */
void rdmap_terminate_retry(struct rdmap *r);

void rdmap_on_terminate(struct rdmap *r, struct ddp_segment *s);

#endif
