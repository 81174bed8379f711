/* SPDX-License-Identifier: BSD-2-Clause */
/** @file rdmap_priv.h What the files of this directory share. */
#ifndef RDMAP_RDMAP_PRIV_H
#define RDMAP_RDMAP_PRIV_H

#include "rdmap/rdmap.h"

/** False once an upcall has ended the stream: touch nothing of it any more. */
static inline bool rdmap_alive(const struct rdmap *r)
{
	return r->mpa != NULL && !r->ended;
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

/** Copy the payload of @p s into the receive element. @return as rdmap_gather(). */
int rdmap_scatter(struct rdmap *r, struct ddp_segment *s);

/* ---- sq.c: completions ------------------------------------------------------------------- */

/** @p w is done; it completes when all before it have. */
void rdmap_sq_done(struct rdmap *r, struct rdmap_wqe *w, enum rdmap_wc_status status);

/** Complete the receive element in hand. */
void rdmap_recv_complete(struct rdmap *r, struct rdmap_wc *wc);

/* ---- read.c ------------------------------------------------------------------------------ */

enum rdmap_progress {
	RDMAP_MORE,    /**< call again */
	RDMAP_BLOCKED, /**< no room in the LLP; writable() follows */
	RDMAP_OVER,    /**< the stream has ended */
};

/** Send one segment of the response to the oldest inbound Read. */
enum rdmap_progress rdmap_send_response(struct rdmap *r);

/** Send the Read Request of @p w. */
enum rdmap_progress rdmap_send_read_request(struct rdmap *r, struct rdmap_wqe *w);

/** Send a Read Request, or give up for lack of room. */
bool rdmap_put_read_request(struct rdmap *r, const struct rdmap_inbound_read *q);

/** Send an empty Read Response for an RTR Read. */
enum rdmap_progress rdmap_answer_rtr(struct rdmap *r);

void rdmap_on_read_request(struct rdmap *r, struct ddp_segment *s);
void rdmap_on_read_response(struct rdmap *r, struct ddp_segment *s);

/* ---- rx.c -------------------------------------------------------------------------------- */

/** The stream's receive side, for MPA. */
void rdmap_on_ulpdu(void *user, const struct mpa_ulpdu *u);

/* ---- terminate.c ------------------------------------------------------------------------- */

/** What a Terminate says and quotes. */
struct rdmap_error {
	uint8_t layer, etype, code;
	const struct ddp_segment *segment; /**< the offending one: M and D bits. Or NULL */
	const uint8_t *read_header;        /**< RDMAP_READ_HEADER_LEN bytes: R bit. Or NULL */
	/** For a Read Request whose segment is not at hand: its DDP header is made again. */
	const uint32_t *read_msn;
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
