/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/rdmap_priv.h"

#define MESSAGE_MAX UINT32_C(0x7fffffff) /* what this RNIC's verbs promise */

/* What siw and cxgb4 put there; nobody looks at it in an empty message. */
#define RTR_STAG 1

/* ---- errors of our own ------------------------------------------------------------------- */

/* The work request at sq->next cannot be done: it completes in its turn, the stream ends. */
static enum rdmap_progress rdmap_tx_fail_wqe(
	struct rdmap *r, struct rdmap_wqe *w, enum rdmap_wc_status status)
{
	w->done = true;
	w->status = (uint8_t)status;
	r->sq->next++;
	r->tx = RDMAP_TX_NONE;
	/* RFC 5040 section 7.1 case 1. */
	rdmap_terminate(r, RDMAP_LAYER_RDMA, RDMAP_ETYPE_CATASTROPHIC, 0);
	return RDMAP_OVER;
}

static enum rdmap_progress rdmap_tx_finish_wqe(struct rdmap *r, struct rdmap_wqe *w)
{
	r->sq->next++;
	r->tx = RDMAP_TX_NONE;
	rdmap_sq_done(r, w, RDMAP_WC_SUCCESS);
	return rdmap_alive(r) ? RDMAP_MORE : RDMAP_OVER;
}

/* The last of a Send or Write is with the LLP. */
static enum rdmap_progress rdmap_tx_finish_message(struct rdmap *r, struct rdmap_wqe *w)
{
	if (!r->by_acks && !r->tx_external)
		return rdmap_tx_finish_wqe(r, w);
	w->end = mpa_queued(r->mpa);
	r->sq->next++;
	r->tx = RDMAP_TX_NONE;
	return RDMAP_MORE;
}

/* ---- messages with payload --------------------------------------------------------------- */

/** Of @p max bytes of payload at most. */
static enum rdmap_progress rdmap_tx_fill_segment(
	struct rdmap *r, struct rdmap_wqe *w, uint8_t *payload, uint32_t n, uint32_t max)
{
	if (!rdmap_may_lend(r, w->length, n, max) || !rdmap_lend(r, w, n)) {
		if (rdmap_gather(r, w, payload, n) != 0) {
			mpa_cancel(r->mpa);
			return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_PROT_ERR);
		}
		mpa_commit(r->mpa);
	}
	r->tx_offset += n;
	r->transferred += n;
	r->transferred_own += n;
	if (r->tx_offset != w->length)
		return RDMAP_MORE;
	if (w->op != RDMAP_WR_WRITE_IMM && w->op != RDMAP_WR_SEND_IMM)
		return rdmap_tx_finish_message(r, w);
	r->tx_imm = true;
	return RDMAP_MORE;
}

static enum rdmap_progress rdmap_tx_send_write(struct rdmap *r, struct rdmap_wqe *w)
{
	uint32_t left = w->length - r->tx_offset, max = r->mulpdu - DDP_TAGGED_LEN;
	uint32_t n = left < max ? left : max;
	uint8_t *p = mpa_reserve(r->mpa, DDP_TAGGED_LEN + n, true);

	if (!p)
		return RDMAP_BLOCKED;
	ddp_put_tagged(p, n == left, RDMAP_CONTROL(RDMAP_OP_WRITE), w->remote_stag,
		w->remote_to + r->tx_offset);
	return rdmap_tx_fill_segment(r, w, p + DDP_TAGGED_LEN, n, max);
}

/* Nothing comes between the two, so that the peer can tell how long the Write was. */
static enum rdmap_progress rdmap_tx_send_write_imm(struct rdmap *r, struct rdmap_wqe *w)
{
	if (!r->tx_imm)
		return rdmap_tx_send_write(r, w);
	return rdmap_put_immediate(r, w) ? rdmap_tx_finish_message(r, w) : RDMAP_BLOCKED;
}

static uint8_t rdmap_tx_send_opcode(const struct rdmap_wqe *w)
{
	bool solicited = w->flags & RDMAP_WR_SOLICITED;

	if (w->op == RDMAP_WR_SEND_INV)
		return solicited ? RDMAP_OP_SEND_SE_INV : RDMAP_OP_SEND_INV;
	if (w->op == RDMAP_WR_SEND_IMM)
		return RDMAP_OP_SEND; /* the event is for its Immediate Data */
	return solicited ? RDMAP_OP_SEND_SE : RDMAP_OP_SEND;
}

static enum rdmap_progress rdmap_tx_send_send(struct rdmap *r, struct rdmap_wqe *w)
{
	uint32_t left = w->length - r->tx_offset, max = r->mulpdu - DDP_UNTAGGED_LEN;
	uint32_t n = left < max ? left : max;
	uint8_t *p = mpa_reserve(r->mpa, DDP_UNTAGGED_LEN + n, true);

	if (!p)
		return RDMAP_BLOCKED;
	if (r->tx_offset == 0)
		w->msn = r->ddp.tx_msn[RDMAP_QN_SEND];
	ddp_put_untagged(p, n == left,
		RDMAP_CONTROL(rdmap_tx_send_opcode(w)) | rdmap_immediate_bits(r, w),
		w->op == RDMAP_WR_SEND_INV ? w->inv_stag : r->imms_sent, RDMAP_QN_SEND, w->msn,
		r->tx_offset);
	r->ddp.tx_msn[RDMAP_QN_SEND] = w->msn + (n == left);
	return rdmap_tx_fill_segment(r, w, p + DDP_UNTAGGED_LEN, n, max);
}

/* Nothing comes between the two on their queue. */
static enum rdmap_progress rdmap_tx_send_send_imm(struct rdmap *r, struct rdmap_wqe *w)
{
	if (!r->send_imm) /* posted before it was known */
		return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_QP_OP_ERR);
	if (!r->tx_imm)
		return rdmap_tx_send_send(r, w);
	return rdmap_put_immediate(r, w) ? rdmap_tx_finish_message(r, w) : RDMAP_BLOCKED;
}

/* ---- the others -------------------------------------------------------------------------- */

/* The sink's STag goes out in a Read Request, but local write is all that it must allow. */
static bool rdmap_tx_sink_ok(struct rdmap *r, const struct rdmap_wqe *w)
{
	uint8_t *mem;

	return w->num_sge == 1 && w->sge[0].len >= w->length &&
	       r->ops->stag_check(r->user, w->sge[0].stag, w->sge[0].addr, w->length,
		       RDMAP_ACCESS_READ_SINK, &mem) == 0;
}

static enum rdmap_progress rdmap_tx_send_read(struct rdmap *r, struct rdmap_wqe *w)
{
	if (r->ord == 0)
		return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_QP_OP_ERR);
	if (w->length != 0 && !rdmap_tx_sink_ok(r, w))
		return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_PROT_ERR);
	return rdmap_send_read_request(r, w);
}

static enum rdmap_progress rdmap_tx_send_atomic(struct rdmap *r, struct rdmap_wqe *w)
{
	if (r->ord == 0)
		return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_QP_OP_ERR);
	if (w->length != RDMAP_ATOMIC_LEN)
		return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_LEN_ERR);
	if (!rdmap_tx_sink_ok(r, w))
		return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_PROT_ERR);
	return rdmap_send_atomic_request(r, w);
}

static enum rdmap_progress rdmap_tx_local_invalidate(struct rdmap *r, struct rdmap_wqe *w)
{
	if (r->ops->stag_invalidate(r->user, w->inv_stag, false) != 0)
		return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_PROT_ERR);
	return rdmap_tx_finish_wqe(r, w);
}

static enum rdmap_progress rdmap_tx_bind_window(struct rdmap *r, struct rdmap_wqe *w)
{
	int status = r->ops->local_op(r->user, w);

	if (status != RDMAP_WC_SUCCESS)
		return rdmap_tx_fail_wqe(r, w, (enum rdmap_wc_status)status);
	return rdmap_tx_finish_wqe(r, w);
}

static enum rdmap_progress (*const rdmap_tx_senders[RDMAP_WR_OPS])(
	struct rdmap *, struct rdmap_wqe *) = {
	[RDMAP_WR_SEND] = rdmap_tx_send_send,
	[RDMAP_WR_SEND_INV] = rdmap_tx_send_send,
	[RDMAP_WR_WRITE] = rdmap_tx_send_write,
	[RDMAP_WR_READ] = rdmap_tx_send_read,
	[RDMAP_WR_LOCAL_INV] = rdmap_tx_local_invalidate,
	[RDMAP_WR_WRITE_IMM] = rdmap_tx_send_write_imm,
	[RDMAP_WR_FETCH_ADD] = rdmap_tx_send_atomic,
	[RDMAP_WR_CMP_SWAP] = rdmap_tx_send_atomic,
	[RDMAP_WR_BIND_MW] = rdmap_tx_bind_window,
	[RDMAP_WR_SEND_IMM] = rdmap_tx_send_send_imm,
};

/* RFC 6581 section 9.2: before anything else. */
static enum rdmap_progress rdmap_tx_send_rtr(struct rdmap *r)
{
	struct rdmap_irqe empty = {.src_stag = RTR_STAG};
	uint8_t *p;

	if (r->rtr_send & MPA_RTR_READ) {
		if (!rdmap_put_read_request(r, &empty))
			return RDMAP_BLOCKED;
		r->rtr_read = true;
	} else {
		bool write = r->rtr_send & MPA_RTR_WRITE;

		p = mpa_reserve(r->mpa, write ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN, true);
		if (!p)
			return RDMAP_BLOCKED;
		if (write)
			ddp_put_tagged(p, true, RDMAP_CONTROL(RDMAP_OP_WRITE), RTR_STAG, 0);
		else
			ddp_put_untagged(p, true, RDMAP_CONTROL(RDMAP_OP_SEND), 0, RDMAP_QN_SEND,
				r->ddp.tx_msn[RDMAP_QN_SEND]++, 0);
		mpa_commit(r->mpa);
	}
	r->rtr_send = 0;
	return RDMAP_MORE;
}

/* ---- the order of things ----------------------------------------------------------------- */

static bool rdmap_tx_sq_may_start(const struct rdmap *r)
{
	const struct rdmap_sq *q = r->sq;
	const struct rdmap_wqe *w;

	if (r->sq_held || q->next == atomic_load_explicit(&q->head, memory_order_acquire))
		return false;
	w = rdmap_sq_at(q, q->next);
	/* RFC 5040 section 5.5 rule 12: a fence waits until all Reads before have completed, and
	 * Atomics, of which RFC 7306 section 5.4 rule 4 says the same. */
	if (w->flags & RDMAP_WR_FENCE && r->reads_out != 0)
		return false;
	/* Section 6.1: never more outstanding than the ORD. What fails need not wait for that. */
	if (rdmap_wr_waits(w))
		return r->ord == 0 || r->eof || r->reads_out + r->rtr_read < r->ord;
	return true;
}

/* Choose the message to send now; messages are not interleaved (RFC 5041 section 5.3). */
static bool rdmap_tx_choose(struct rdmap *r)
{
	bool sq = rdmap_tx_sq_may_start(r), response = r->irq_count != 0;

	if (!sq && !response)
		return false;
	r->tx = response && (!sq || r->response_turn) ? RDMAP_TX_RESPONSE : RDMAP_TX_SQ;
	r->response_turn = r->tx == RDMAP_TX_SQ;
	r->tx_offset = 0;
	r->tx_imm = r->tx_external = false;
	r->tx_at = (struct rdmap_sge_at){0};
	return true;
}

static enum rdmap_progress rdmap_tx_step(struct rdmap *r)
{
	struct rdmap_wqe *w;

	if (r->tx == RDMAP_TX_RESPONSE)
		return r->irq[r->irq_head].atomic ? rdmap_send_atomic_response(r)
						  : rdmap_send_read_response(r);
	w = rdmap_sq_at(r->sq, r->sq->next);
	if (r->eof && rdmap_wr_waits(w)) {
		rdmap_fail_cut_off(r);
		return RDMAP_OVER;
	}
	if (w->op >= RDMAP_WR_OPS)
		return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_QP_OP_ERR);
	if (w->length > MESSAGE_MAX)
		return rdmap_tx_fail_wqe(r, w, RDMAP_WC_LOC_LEN_ERR);
	return rdmap_tx_senders[w->op](r, w);
}

/*
 * RFC 5040 section 6.2: when all that was posted is finished, our direction closes. ACKs that are
 * due may come behind the FIN. A response that waited would be under way, or behind that to the
 * ready-to-receive Read.
 */
static void rdmap_tx_close_if_idle(struct rdmap *r)
{
	if (r->tx == RDMAP_TX_NONE && r->rtr_send == 0 && !r->rtr_answer && rdmap_sq_is_sent(r))
		mpa_shutdown(r->mpa);
}

void rdmap_run(struct rdmap *r)
{
	enum rdmap_progress p = RDMAP_MORE;
	bool any = r->rtr_send != 0 || r->rtr_answer;

	if (!rdmap_alive(r) || !r->operational || r->running)
		return;
	r->running = true;
	r->wake = false;
	r->mulpdu = mpa_mulpdu(r->mpa);
	if (r->mulpdu < r->mulpdu_least)
		r->mulpdu_least = (uint16_t)r->mulpdu;
	if (r->rtr_send != 0)
		p = rdmap_tx_send_rtr(r);
	while (p == RDMAP_MORE) {
		/* It is a message: none of ours is cut by it. */
		if (r->rtr_answer && r->tx == RDMAP_TX_NONE) {
			p = rdmap_answer_rtr(r);
			continue;
		}
		if (r->tx == RDMAP_TX_NONE && !rdmap_tx_choose(r))
			break;
		p = rdmap_tx_step(r);
		any = true;
	}
	r->running = false;
	if (!rdmap_alive(r))
		return;
	if (r->closing)
		rdmap_tx_close_if_idle(r);
	if (any)
		mpa_push(r->mpa);
}
