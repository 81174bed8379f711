/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/rdmap_priv.h"

static const uint8_t rdmap_sq_wc_ops[RDMAP_WR_OPS] = {
	[RDMAP_WR_SEND] = RDMAP_WC_SEND,
	[RDMAP_WR_SEND_INV] = RDMAP_WC_SEND,
	[RDMAP_WR_WRITE] = RDMAP_WC_WRITE,
	[RDMAP_WR_READ] = RDMAP_WC_READ,
	[RDMAP_WR_LOCAL_INV] = RDMAP_WC_LOCAL_INV,
	[RDMAP_WR_WRITE_IMM] = RDMAP_WC_WRITE,
	[RDMAP_WR_FETCH_ADD] = RDMAP_WC_FETCH_ADD,
	[RDMAP_WR_CMP_SWAP] = RDMAP_WC_CMP_SWAP,
	[RDMAP_WR_BIND_MW] = RDMAP_WC_BIND_MW,
	[RDMAP_WR_SEND_IMM] = RDMAP_WC_SEND,
};

/* Complete the element at the tail. */
static void rdmap_sq_complete_tail(struct rdmap *r, uint32_t tail, enum rdmap_wc_status status)
{
	const struct rdmap_wqe *w = rdmap_sq_at(r->sq, tail);
	bool tell = status != RDMAP_WC_SUCCESS || w->flags & RDMAP_WR_SIGNALED;
	struct rdmap_wc wc = {
		.wr_id = w->wr_id,
		.byte_len = w->length,
		.status = (uint8_t)status,
		.op = w->op < RDMAP_WR_OPS ? rdmap_sq_wc_ops[w->op] : RDMAP_WC_SEND,
	};

	/* The slot may be posted to again as soon as tail has passed it: w is not read after. */
	atomic_store_explicit(&r->sq->tail, tail + 1, memory_order_release);
	if (tell)
		r->ops->complete(r->user, &wc);
	else
		atomic_store_explicit(&r->sq->silent,
			atomic_load_explicit(&r->sq->silent, memory_order_relaxed) + 1,
			memory_order_release);
}

void rdmap_sq_complete_oldest(struct rdmap *r)
{
	uint32_t tail = atomic_load_explicit(&r->sq->tail, memory_order_relaxed);

	r->sq->next = tail + 1;
	rdmap_sq_complete_tail(r, tail, RDMAP_WC_SUCCESS);
}

/* Among those that have started. What is not done waits for its answer, or for an ACK. */
static bool rdmap_sq_has_succeeded(const struct rdmap_wqe *w, uint64_t acked)
{
	if (w->done)
		return w->status == RDMAP_WC_SUCCESS;
	return !rdmap_wr_waits(w) && w->end <= acked;
}

/* RFC 5040 section 5.5 rule 15: completed in the order in which they were submitted. */
static void rdmap_sq_advance(struct rdmap *r)
{
	struct rdmap_sq *q = r->sq;
	uint64_t acked = rdmap_heeds_acks(r) ? mpa_acked(r->mpa) : 0;

	while (rdmap_alive(r)) {
		uint32_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

		if (tail == q->next || !rdmap_sq_has_succeeded(rdmap_sq_at(q, tail), acked))
			break;
		rdmap_sq_complete_tail(r, tail, RDMAP_WC_SUCCESS);
	}
	if (r->draining && rdmap_alive(r) && rdmap_sq_is_drained(r)) {
		r->draining = false;
		r->ops->drained(r->user);
	}
}

void rdmap_sq_done(struct rdmap *r, struct rdmap_wqe *w, enum rdmap_wc_status status)
{
	w->done = true;
	w->status = (uint8_t)status;
	rdmap_sq_advance(r);
}

void rdmap_sq_take_acked(struct rdmap *r)
{
	if (rdmap_heeds_acks(r))
		rdmap_sq_advance(r);
}

struct rdmap_wqe *rdmap_sq_unanswered(const struct rdmap *r)
{
	uint32_t i = atomic_load_explicit(&r->sq->tail, memory_order_relaxed);
	struct rdmap_wqe *w;

	do
		w = rdmap_sq_at(r->sq, i++);
	while (!rdmap_wr_waits(w) || w->done);
	return w;
}

bool rdmap_sq_answered(struct rdmap *r, const struct rdmap_wqe *w)
{
	/* The peer's word is not enough where its memory is given back to the program. */
	while (rdmap_alive(r) && !r->external) {
		uint32_t tail = atomic_load_explicit(&r->sq->tail, memory_order_relaxed);

		if (rdmap_sq_at(r->sq, tail) == w)
			break;
		rdmap_sq_complete_tail(r, tail, RDMAP_WC_SUCCESS);
	}
	return rdmap_alive(r);
}

bool rdmap_sq_is_drained(const struct rdmap *r)
{
	return r->tx != RDMAP_TX_SQ &&
	       atomic_load_explicit(&r->sq->tail, memory_order_relaxed) == r->sq->next;
}

bool rdmap_sq_is_busy(const struct rdmap *r)
{
	if (r->sq_held)
		return !rdmap_sq_is_drained(r);
	return atomic_load_explicit(&r->sq->tail, memory_order_relaxed) !=
	       atomic_load_explicit(&r->sq->head, memory_order_acquire);
}

bool rdmap_sq_is_sent(const struct rdmap *r)
{
	return r->tx != RDMAP_TX_SQ && r->reads_out == 0 &&
	       r->sq->next == atomic_load_explicit(&r->sq->head, memory_order_acquire);
}

void rdmap_recv_complete(struct rdmap *r, struct rdmap_wc *wc)
{
	wc->wr_id = r->rqe->wr_id;
	r->rqe = NULL;
	r->transferred++;
	/* The place is free before the program can see the completion and post again into it. */
	r->ops->recv_done(r->user);
	r->ops->complete(r->user, wc);
}

void rdmap_fail_oldest(struct rdmap *r, enum rdmap_wc_status status)
{
	struct rdmap_sq *q = r->sq;
	uint32_t head = atomic_load_explicit(&q->head, memory_order_acquire);

	for (uint32_t i = atomic_load_explicit(&q->tail, memory_order_relaxed); i != head; i++) {
		struct rdmap_wqe *w = rdmap_sq_at(q, i);

		if (!w->done) {
			w->done = true;
			w->status = (uint8_t)status;
			return;
		}
	}
}

/*
 * The rest waits for a request that will not succeed any more, or is that request: so none
 * succeeds. A Write or Send that was given to the LLP after it may or may not have arrived.
 */
static enum rdmap_wc_status rdmap_sq_flush_status(const struct rdmap_wqe *w)
{
	return w->done && w->status != RDMAP_WC_SUCCESS ? w->status : RDMAP_WC_WR_FLUSH_ERR;
}

void rdmap_flush_sq(struct rdmap *r)
{
	struct rdmap_sq *q = r->sq;

	if (r->rqe)
		rdmap_recv_complete(r,
			&(struct rdmap_wc){.op = RDMAP_WC_RECV, .status = RDMAP_WC_WR_FLUSH_ERR});
	r->tx = RDMAP_TX_NONE;
	r->imm_due = false;
	r->reads_out = 0;
	/* The program has its memory back. */
	if (r->external && r->mpa)
		mpa_own_external(r->mpa);
	for (;;) {
		uint32_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

		if (tail == atomic_load_explicit(&q->head, memory_order_acquire))
			break;
		q->next = tail + 1;
		rdmap_sq_complete_tail(r, tail, rdmap_sq_flush_status(rdmap_sq_at(q, tail)));
	}
}
