/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/rdmap_priv.h"

#include <errno.h>

static void rdmap_read_put_header(uint8_t *p, const struct rdmap_irqe *q)
{
	store_be32(p + RDMAP_AT_SINK_STAG, q->sink_stag);
	store_be64(p + RDMAP_AT_SINK_TO, q->sink_to);
	store_be32(p + RDMAP_AT_SIZE, q->len);
	store_be32(p + RDMAP_AT_SOURCE_STAG, q->src_stag);
	store_be64(p + RDMAP_AT_SOURCE_TO, q->src_to);
}

/* ---- we are the Data Source -------------------------------------------------------------- */

/* The source went away while we answered: quote the request as far as it was served. */
static void rdmap_read_fail_response(struct rdmap *r, const struct rdmap_irqe *q, int rc)
{
	uint8_t header[RDMAP_READ_HEADER_LEN];
	struct rdmap_irqe left = {
		.sink_stag = q->sink_stag,
		.sink_to = q->sink_to + q->sent,
		.len = q->len - q->sent,
		.src_stag = q->src_stag,
		.src_to = q->src_to + q->sent,
	};

	rdmap_read_put_header(header, &left);
	rdmap_fail(r, &(struct rdmap_error){.layer = RDMAP_LAYER_RDMA,
			      .etype = RDMAP_ETYPE_PROTECTION,
			      .code = rdmap_protection_code(rc),
			      .request_opcode = RDMAP_OP_READ_REQUEST,
			      .request_msn = rdmap_irq_msn(r),
			      .read_header = header});
}

enum rdmap_progress rdmap_send_read_response(struct rdmap *r)
{
	struct rdmap_irqe *q = &r->irq[r->irq_head];
	uint32_t left = q->len - q->sent, max = r->mulpdu - DDP_TAGGED_LEN;
	uint32_t n = left < max ? left : max;
	uint8_t *mem = NULL, *p;
	int rc;

	if (n != 0) {
		rc = r->ops->stag_check(r->user, q->src_stag, q->src_to + q->sent, n,
			RDMAP_ACCESS_REMOTE_READ, &mem);
		if (rc != 0) {
			rdmap_read_fail_response(r, q, rc);
			return RDMAP_OVER;
		}
	}
	p = mpa_reserve(r->mpa, DDP_TAGGED_LEN + n, true);
	if (!p)
		return RDMAP_BLOCKED;
	ddp_put_tagged(p, n == left, RDMAP_CONTROL(RDMAP_OP_READ_RESPONSE), q->sink_stag,
		q->sink_to + q->sent);
	if (!rdmap_may_lend(r, q->len, n, max) || !rdmap_commit_external(r, q->src_stag, mem, n)) {
		if (n != 0 && !mpa_gather(r->mpa, p + DDP_TAGGED_LEN, mem, n)) {
			mpa_cancel(r->mpa);
			rdmap_read_fail_response(r, q, -ERANGE);
			return RDMAP_OVER;
		}
		mpa_commit(r->mpa);
	}
	q->sent += n;
	r->transferred += n;
	if (n == left)
		rdmap_irq_pop(r);
	return RDMAP_MORE;
}

enum rdmap_progress rdmap_answer_rtr(struct rdmap *r)
{
	uint8_t *p = mpa_reserve(r->mpa, DDP_TAGGED_LEN, true);

	if (!p)
		return RDMAP_BLOCKED;
	ddp_put_tagged(
		p, true, RDMAP_CONTROL(RDMAP_OP_READ_RESPONSE), r->rtr_sink_stag, r->rtr_sink_to);
	mpa_commit(r->mpa);
	r->rtr_answer = false;
	return RDMAP_MORE;
}

static void rdmap_read_fail_request(
	struct rdmap *r, struct ddp_segment *s, const uint8_t *header, int rc)
{
	rdmap_fail(r, &(struct rdmap_error){.layer = RDMAP_LAYER_RDMA,
			      .etype = RDMAP_ETYPE_PROTECTION,
			      .code = rdmap_protection_code(rc),
			      .segment = s,
			      .read_header = header});
}

static bool rdmap_read_swallow_rtr(struct rdmap *r, const struct rdmap_irqe *q)
{
	if (!(r->rtr_expect & MPA_RTR_READ) || q->len != 0)
		return false;
	r->rtr_answer = true;
	r->rtr_sink_stag = q->sink_stag;
	r->rtr_sink_to = q->sink_to;
	r->wake = true;
	return true;
}

void rdmap_on_read_request(struct rdmap *r, struct ddp_segment *s)
{
	uint8_t p[RDMAP_READ_HEADER_LEN], *mem;
	struct rdmap_irqe q;
	int rc;

	if (!rdmap_take_header(r, s, p, sizeof p))
		return;
	q = (struct rdmap_irqe){
		.sink_stag = load_be32(p + RDMAP_AT_SINK_STAG),
		.sink_to = load_be64(p + RDMAP_AT_SINK_TO),
		.len = load_be32(p + RDMAP_AT_SIZE),
		.src_stag = load_be32(p + RDMAP_AT_SOURCE_STAG),
		.src_to = load_be64(p + RDMAP_AT_SOURCE_TO),
	};
	if (!rdmap_read_swallow_rtr(r, &q)) {
		/* Section 5.2.1: the source of an empty Read MUST NOT be validated. */
		rc = q.len == 0 ? 0
				: r->ops->stag_check(r->user, q.src_stag, q.src_to, q.len,
					  RDMAP_ACCESS_REMOTE_READ, &mem);
		if (rc != 0) {
			rdmap_read_fail_request(r, s, p, rc);
			return;
		}
		if (!rdmap_irq_add(r, &q, s))
			return;
	}
	ddp_advance(&r->ddp, s);
}

/* ---- we are the Data Sink ---------------------------------------------------------------- */

bool rdmap_put_read_request(struct rdmap *r, const struct rdmap_irqe *q)
{
	uint8_t *p = mpa_reserve(r->mpa, DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN, true);

	if (!p)
		return false;
	ddp_put_untagged(p, true, RDMAP_CONTROL(RDMAP_OP_READ_REQUEST), 0, RDMAP_QN_READ,
		r->ddp.tx_msn[RDMAP_QN_READ]++, 0);
	rdmap_read_put_header(p + DDP_UNTAGGED_LEN, q);
	mpa_commit(r->mpa);
	return true;
}

enum rdmap_progress rdmap_send_read_request(struct rdmap *r, struct rdmap_wqe *w)
{
	struct rdmap_irqe q = {
		.sink_stag = w->num_sge != 0 ? w->sge[0].stag : 0,
		.sink_to = w->num_sge != 0 ? w->sge[0].addr : 0,
		.len = w->length,
		.src_stag = w->remote_stag,
		.src_to = w->remote_to,
	};

	w->msn = r->ddp.tx_msn[RDMAP_QN_READ];
	if (!rdmap_put_read_request(r, &q))
		return RDMAP_BLOCKED;
	r->reads_out++;
	r->sq->next++;
	r->tx = RDMAP_TX_NONE;
	return RDMAP_MORE;
}

/* Read Responses come in the order of the requests (section 5.5 rule 20): check the oldest. */
static enum ddp_error rdmap_read_check_response(
	const struct rdmap *r, const struct rdmap_wqe *w, const struct ddp_segment *s)
{
	if (s->len == 0)
		return DDP_OK; /* RFC 5041 section 5.2: STag and TO MUST NOT be checked */
	if (w->num_sge == 0 || s->stag != w->sge[0].stag)
		return DDP_ERROR_INVALID_STAG;
	if (s->to != w->sge[0].addr + r->read_placed || s->len > w->length - r->read_placed)
		return DDP_ERROR_BOUNDS;
	return DDP_OK;
}

void rdmap_read_done(struct rdmap *r, struct rdmap_wqe *w)
{
	r->reads_out--;
	r->wake = true; /* ORD or a fence may have held up the next */
	rdmap_sq_done(r, w, RDMAP_WC_SUCCESS);
}

static void rdmap_read_finish(struct rdmap *r, struct rdmap_wqe *w)
{
	r->read_placed = 0;
	rdmap_read_done(r, w);
}

void rdmap_on_read_response(struct rdmap *r, struct ddp_segment *s)
{
	struct rdmap_wqe *w;
	enum ddp_error error;
	uint8_t *mem;
	int rc = 0;

	if (r->rtr_read && s->len == 0 && s->last) {
		r->rtr_read = false;
		r->wake = true;
		ddp_advance(&r->ddp, s);
		return;
	}
	if (r->rtr_read || r->reads_out == 0) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_OPCODE, s);
		return;
	}
	w = rdmap_sq_unanswered(r);
	if (w->op != RDMAP_WR_READ) { /* an Atomic's answer is due */
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_OPCODE, s);
		return;
	}
	error = rdmap_read_check_response(r, w, s);
	if (error == DDP_OK && !rdmap_sq_answered(r, w))
		return;
	if (error == DDP_OK && s->len != 0)
		rc = r->ops->stag_check(
			r->user, s->stag, s->to, s->len, RDMAP_ACCESS_READ_SINK, &mem);
	if (error == DDP_OK && s->len != 0 && rc == 0)
		rc = ddp_place(s, mem, s->len);
	if (rc != 0) { /* taken away under the Read: our own program's fault */
		error = ddp_tagged_error(rc);
		w->done = true;
		w->status = RDMAP_WC_LOC_PROT_ERR;
	}
	if (error != DDP_OK) {
		rdmap_fail_ddp(r, error, s);
		return;
	}
	r->read_placed += s->len;
	r->transferred += s->len;
	r->transferred_own += s->len;
	if (s->last && r->read_placed != w->length) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_UNSPECIFIED, s);
		return;
	}
	ddp_advance(&r->ddp, s);
	if (s->last)
		rdmap_read_finish(r, w);
}
