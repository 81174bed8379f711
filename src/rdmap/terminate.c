/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/opcode.h"
#include "rdmap/rdmap_priv.h"
#include "rdmap/term_code.h"

#include <string.h>

/* ---- sending ----------------------------------------------------------------------------- */

/* Length and DDP header of a request of one segment: the peer's bytes, made again. */
static uint8_t *rdmap_terminate_put_request(uint8_t *p, uint8_t opcode, uint32_t msn)
{
	const struct rdmap_opcode_info *info = rdmap_opcode_info(opcode);

	store_be16(p, (uint16_t)(DDP_UNTAGGED_LEN + info->min_len));
	p += RDMAP_TERM_LENGTH_LEN;
	ddp_put_untagged(p, true, RDMAP_CONTROL(opcode), 0, info->qn, msn, 0);
	return p + DDP_UNTAGGED_LEN;
}

size_t rdmap_terminate_build(const struct rdmap_error *e, uint8_t *out)
{
	uint8_t *p = out + RDMAP_TERM_HEADER_LEN;

	memset(out, 0, RDMAP_TERM_HEADER_LEN);
	out[RDMAP_AT_TERM_TYPE] = (uint8_t)(e->layer << 4 | e->etype);
	out[RDMAP_AT_TERM_CODE] = e->code;
	if (!e->segment && e->request_opcode == 0)
		return RDMAP_TERM_HEADER_LEN;
	out[RDMAP_AT_TERM_HDRCT] = RDMAP_HDRCT_M | RDMAP_HDRCT_D;
	if (e->segment) {
		store_be16(p, (uint16_t)e->segment->ulpdu->len);
		ddp_copy_header(e->segment, p + RDMAP_TERM_LENGTH_LEN);
		p += RDMAP_TERM_LENGTH_LEN + e->segment->header_len;
	} else {
		p = rdmap_terminate_put_request(p, e->request_opcode, e->request_msn);
	}
	if (e->read_header) {
		out[RDMAP_AT_TERM_HDRCT] |= RDMAP_HDRCT_R;
		memcpy(p, e->read_header, RDMAP_READ_HEADER_LEN);
		p += RDMAP_READ_HEADER_LEN;
	}
	return (size_t)(p - out);
}

/* Send the Terminate and FIN, now if there is room. */
static void rdmap_terminate_send(struct rdmap *r)
{
	uint32_t len = DDP_UNTAGGED_LEN + (uint32_t)r->term_len;
	uint8_t *p = mpa_reserve(r->mpa, len, true);

	if (!p && mpa_may_send(r->mpa))
		return; /* writable() comes here again */
	/* A responder that has not seen an FPDU must not send one (RFC 5044 7.1.2), unless it is
	 * about the first one that came (mpa/fpdu.c). */
	if (p) {
		ddp_put_untagged(p, true, RDMAP_CONTROL(RDMAP_OP_TERMINATE), 0, RDMAP_QN_TERMINATE,
			r->ddp.tx_msn[RDMAP_QN_TERMINATE], 0);
		memcpy(p + DDP_UNTAGGED_LEN, r->term, r->term_len);
		mpa_commit(r->mpa);
		mpa_push(r->mpa);
	}
	r->term_len = 0;
	mpa_shutdown(r->mpa);
}

void rdmap_terminate_retry(struct rdmap *r)
{
	if (r->mpa && r->term_len != 0)
		rdmap_terminate_send(r);
}

void rdmap_fail(struct rdmap *r, const struct rdmap_error *e)
{
	size_t len;

	/* RFC 5040 section 7.1: the first error is the one that is told. */
	if (!rdmap_alive(r))
		return;
	len = rdmap_terminate_build(e, r->term);
	mpa_drop_input(r->mpa);
	/* The LLP has shown what it kept: the stream may have ended by that. */
	if (!rdmap_alive(r))
		return;
	r->term_len = (uint8_t)len;
	rdmap_terminate_send(r);
	rdmap_end(r, &(struct rdmap_end){.kind = RDMAP_END_TERMINATE_TX,
			     .layer = e->layer,
			     .etype = e->etype,
			     .code = e->code});
}

void rdmap_fail_ddp(struct rdmap *r, enum ddp_error error, const struct ddp_segment *s)
{
	rdmap_fail(r, &(struct rdmap_error){.layer = RDMAP_LAYER_DDP,
			      .etype = (uint8_t)(error >> 8),
			      .code = (uint8_t)error,
			      .segment = s});
}

void rdmap_fail_rdma(struct rdmap *r, uint8_t etype, uint8_t code, const struct ddp_segment *s)
{
	rdmap_fail(
		r, &(struct rdmap_error){
			   .layer = RDMAP_LAYER_RDMA, .etype = etype, .code = code, .segment = s});
}

void rdmap_terminate(struct rdmap *r, uint8_t layer, uint8_t etype, uint8_t code)
{
	rdmap_fail(r, &(struct rdmap_error){.layer = layer, .etype = etype, .code = code});
}

void rdmap_fail_cut_off(struct rdmap *r)
{
	rdmap_terminate(r, RDMAP_LAYER_LLP, RDMAP_ETYPE_MPA, MPA_ERROR_CLOSED);
}

/* ---- receiving --------------------------------------------------------------------------- */

/* What a received Terminate quotes of our message. */
struct quoted {
	bool known, tagged, last, sized;
	uint32_t qn, msn, stag;
	uint32_t len; /* if sized: the DDP Segment Length */
	uint64_t to;
};

/* The work request's status for the peer's error. */
static enum rdmap_wc_status rdmap_terminate_status_of(const struct rdmap_end *e)
{
	bool rdma = e->layer == RDMAP_LAYER_RDMA, ddp = e->layer == RDMAP_LAYER_DDP;

	if (rdma && e->code == RDMAP_CODE_CANNOT_INVALIDATE)
		return RDMAP_WC_REM_INV_REQ_ERR;
	if (rdma && e->etype == RDMAP_ETYPE_PROTECTION)
		return RDMAP_WC_REM_ACCESS_ERR;
	if (ddp && e->etype == DDP_ERROR_INVALID_STAG >> 8)
		return RDMAP_WC_REM_ACCESS_ERR;
	if (ddp && (e->etype << 8 | e->code) == DDP_ERROR_TOO_LONG)
		return RDMAP_WC_REM_INV_REQ_ERR;
	return RDMAP_WC_REM_OP_ERR;
}

/*
 * May @p len bytes from @p at on be a segment of the Write? The one that ends it is the last, and
 * those before another are full, so not shorter.
 */
static bool rdmap_terminate_is_segment(const struct rdmap *r, const struct quoted *q,
	const struct rdmap_wqe *w, uint64_t at, uint64_t len)
{
	uint64_t left = w->length - at, full = r->mulpdu_least - DDP_TAGGED_LEN;

	return (at == 0 || (at >= len && at >= full)) &&
	       (q->last ? len == left : len < left && len >= full);
}

/*
 * A tagged header has no number of its message, and the Write that it is about has often completed
 * already. So one that overlaps is not blamed for it: the segment must be one of its own. Linux siw
 * has the payload alone as the DDP Segment Length; by RFC 5040 section 4.8 the header counts, too.
 */
static bool rdmap_terminate_names_write(
	const struct rdmap *r, const struct quoted *q, const struct rdmap_wqe *w)
{
	uint64_t at = q->to - w->remote_to;

	if (!q->tagged || q->stag != w->remote_stag || at > w->length)
		return false;
	return !q->sized || rdmap_terminate_is_segment(r, q, w, at, q->len) ||
	       (q->len >= DDP_TAGGED_LEN &&
		       rdmap_terminate_is_segment(r, q, w, at, q->len - DDP_TAGGED_LEN));
}

static bool rdmap_terminate_names_untagged(
	const struct quoted *q, const struct rdmap_wqe *w, uint32_t qn)
{
	return !q->tagged && q->qn == qn && q->msn == w->msn;
}

static bool rdmap_terminate_names(
	const struct rdmap *r, const struct quoted *q, const struct rdmap_wqe *w)
{
	switch (w->op) {
	case RDMAP_WR_WRITE:
		return rdmap_terminate_names_write(r, q, w);
	case RDMAP_WR_WRITE_IMM:
		return rdmap_terminate_names_write(r, q, w) ||
		       rdmap_terminate_names_untagged(q, w, RDMAP_QN_SEND);
	case RDMAP_WR_READ:
	case RDMAP_WR_FETCH_ADD:
	case RDMAP_WR_CMP_SWAP:
		return rdmap_terminate_names_untagged(q, w, RDMAP_QN_READ);
	case RDMAP_WR_SEND:
	case RDMAP_WR_SEND_INV:
		return rdmap_terminate_names_untagged(q, w, RDMAP_QN_SEND);
	case RDMAP_WR_SEND_IMM: /* the Send, or its Immediate Data right behind */
		return !q->tagged && q->qn == RDMAP_QN_SEND && q->msn - w->msn <= 1;
	default:
		return false;
	}
}

/* Is some of the request that is sent now with the LLP? It may have waited for room from the start.
 */
static bool rdmap_terminate_has_begun(const struct rdmap *r)
{
	return r->tx == RDMAP_TX_SQ && (r->tx_offset || r->tx_imm);
}

/*
 * Give the oldest work request that the Terminate names its status; rdmap_flush_sq() completes it
 * in its turn. A Write or Send has often completed already: its data was in the LLP. It is not
 * about one of which the peer has seen nothing.
 */
static void rdmap_terminate_blame(
	struct rdmap *r, const struct quoted *q, enum rdmap_wc_status status)
{
	uint32_t i = atomic_load_explicit(&r->sq->tail, memory_order_relaxed);
	uint32_t end = r->sq->next + rdmap_terminate_has_begun(r);

	for (; i != end; i++) {
		struct rdmap_wqe *w = rdmap_sq_at(r->sq, i);

		if (!rdmap_terminate_names(r, q, w))
			continue;
		w->done = true;
		w->status = (uint8_t)status;
		return;
	}
}

/* @p p: the DDP header, with the DDP Segment Length before it. */
static void rdmap_terminate_parse_quoted(struct quoted *q, const uint8_t *p, size_t len)
{
	if (len < DDP_TAGGED_LEN)
		return;
	q->len = load_be16(p - RDMAP_TERM_LENGTH_LEN);
	q->tagged = p[DDP_AT_CONTROL] & DDP_CONTROL_TAGGED;
	q->last = p[DDP_AT_CONTROL] & DDP_CONTROL_LAST;
	if (q->tagged) {
		q->stag = load_be32(p + DDP_AT_STAG);
		q->to = load_be64(p + DDP_AT_TO);
	} else if (len >= DDP_UNTAGGED_LEN) {
		q->qn = load_be32(p + DDP_AT_QN);
		q->msn = load_be32(p + DDP_AT_MSN);
	} else {
		return;
	}
	q->known = true;
}

void rdmap_on_terminate(struct rdmap *r, struct ddp_segment *s)
{
	struct rdmap_end end = {.kind = RDMAP_END_TERMINATE_RX};
	uint8_t buf[RDMAP_TERM_MAX];
	/* RFC 6581 section 8: from an initiator, instead of all else. */
	bool startup = mpa_is_responder(r->mpa) && !r->heard;
	size_t len = s->len < sizeof buf ? s->len : sizeof buf;
	const size_t quote = RDMAP_TERM_HEADER_LEN + RDMAP_TERM_LENGTH_LEN;
	struct quoted q = {0};

	ddp_place(s, buf, (uint32_t)len);
	end.etype = RDMAP_ETYPE_OPERATION;
	end.code = RDMAP_CODE_UNSPECIFIED; /* for one that is too short to say */
	if (len >= RDMAP_TERM_HEADER_LEN) {
		const struct rdmap_term t = rdmap_term_read(buf, startup);

		end.layer = t.layer;
		end.etype = t.etype;
		end.code = t.code;
		end.swapped = t.swapped;
		q.sized = t.length_valid;
		if (t.ddp_header && len > quote)
			rdmap_terminate_parse_quoted(&q, buf + quote, len - quote);
	}
	if (q.known)
		rdmap_terminate_blame(r, &q, rdmap_terminate_status_of(&end));
	/* RFC 5040 section 6.2.1: a graceful LLP teardown. */
	mpa_drop_input(r->mpa);
	mpa_shutdown(r->mpa);
	rdmap_end(r, &end);
}
