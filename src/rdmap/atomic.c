/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic Operations (RFC 7306 section 5). Requests share queue 1, its order and the IRD and ORD
 * with Read Requests (section 5.2); responses come on queue 3.
 *
 * An operation is executed when it is its turn to be answered: after all Reads and Atomics before
 * it were answered, and before those after it (section 5.4 rule 8, section 7).
 */
#include "rdmap/atomic_op.h"
#include "rdmap/rdmap_priv.h"

#include <errno.h>

/* ---- we are the Responder ---------------------------------------------------------------- */

/*
 * The streams of one RNIC are serialised by its lock, as section 5.3 requires. The host's atomic
 * instruction makes the operation atomic for all other users of this memory, too: the program's
 * threads, other processes and their RNICs. The value is in the host's byte order (section 5.1.1).
 */
static int rdmap_atomic_execute(
	uint8_t *mem, uint8_t opcode, const struct rdmap_atomic *a, uint64_t *original)
{
	uint64_t *target = (uint64_t *)(void *)mem;
	int done;

	if (!guarded_copy_from(original, mem, sizeof *original))
		return -ERANGE;
	do
		done = guarded_exchange(
			target, original, rdmap_atomic_result(opcode, a, *original));
	while (done == 0);
	return done > 0 ? 0 : -ERANGE;
}

/* Section 8.2: of the program's own address, whatever the Tagged Offset that stands for it. */
static bool rdmap_atomic_is_aligned(const uint8_t *mem)
{
	return ((uintptr_t)mem & (RDMAP_ATOMIC_LEN - 1)) == 0;
}

static int rdmap_atomic_target_check(struct rdmap *r, const struct rdmap_irqe *q, uint8_t **mem)
{
	return r->ops->stag_check(
		r->user, q->src_stag, q->src_to, RDMAP_ATOMIC_LEN, RDMAP_ACCESS_REMOTE_ATOMIC, mem);
}

enum rdmap_progress rdmap_send_atomic_response(struct rdmap *r)
{
	const struct rdmap_irqe *q = &r->irq[r->irq_head];
	uint8_t *p = mpa_reserve(r->mpa, DDP_UNTAGGED_LEN + RDMAP_ATOMIC_RESPONSE_LEN, true);
	bool aligned = true;
	uint64_t original;
	uint8_t *mem;
	int rc;

	if (!p)
		return RDMAP_BLOCKED;
	rc = rdmap_atomic_target_check(r, q, &mem);
	if (rc == 0)
		aligned = rdmap_atomic_is_aligned(mem);
	if (rc == 0 && aligned)
		rc = rdmap_atomic_execute(mem, q->atomic_opcode, &q->operands, &original);
	/* Taken away since the request came, or other memory; the rules of section 8.1, case 2. */
	if (rc != 0 || !aligned) {
		mpa_cancel(r->mpa);
		rdmap_fail(r,
			&(struct rdmap_error){.layer = RDMAP_LAYER_RDMA,
				.etype = rc != 0 ? RDMAP_ETYPE_PROTECTION : RDMAP_ETYPE_OPERATION,
				.code = rc != 0 ? rdmap_protection_code(rc)
						: RDMAP_CODE_STREAM_CATASTROPHIC,
				.request_opcode = RDMAP_OP_ATOMIC_REQUEST,
				.request_msn = rdmap_irq_msn(r)});
		return RDMAP_OVER;
	}
	ddp_put_untagged(p, true, RDMAP_CONTROL(RDMAP_OP_ATOMIC_RESPONSE), 0,
		RDMAP_QN_ATOMIC_RESPONSE, r->ddp.tx_msn[RDMAP_QN_ATOMIC_RESPONSE]++, 0);
	p += DDP_UNTAGGED_LEN;
	store_be32(p + RDMAP_AT_ATOMIC_ORIGINAL_ID, q->request_id);
	store_be64(p + RDMAP_AT_ATOMIC_ORIGINAL_VALUE, original);
	mpa_commit(r->mpa);
	r->transferred += RDMAP_ATOMIC_LEN;
	rdmap_irq_pop(r);
	return RDMAP_MORE;
}

static void rdmap_atomic_load_request(struct rdmap_irqe *q, const uint8_t *p)
{
	*q = (struct rdmap_irqe){
		.atomic = true,
		.src_stag = load_be32(p + RDMAP_AT_ATOMIC_STAG),
		.src_to = load_be64(p + RDMAP_AT_ATOMIC_TO),
		.atomic_opcode = load_be32(p + RDMAP_AT_ATOMIC_OPCODE) & RDMAP_ATOMIC_OPCODE_MASK,
		.request_id = load_be32(p + RDMAP_AT_ATOMIC_REQUEST_ID),
		.operands = {.data = load_be64(p + RDMAP_AT_ATOMIC_DATA),
			.mask = load_be64(p + RDMAP_AT_ATOMIC_MASK),
			.compare = load_be64(p + RDMAP_AT_ATOMIC_COMPARE),
			.compare_mask = load_be64(p + RDMAP_AT_ATOMIC_COMPARE_MASK)},
	};
}

void rdmap_on_atomic_request(struct rdmap *r, struct ddp_segment *s)
{
	uint8_t p[RDMAP_ATOMIC_REQUEST_LEN], *mem;
	struct rdmap_irqe q;
	int rc;

	if (!rdmap_take_header(r, s, p, sizeof p))
		return;
	rdmap_atomic_load_request(&q, p);
	/* Section 5.2.1, semantics 4. */
	if (q.atomic_opcode != RDMAP_ATOMIC_FETCH_ADD && q.atomic_opcode != RDMAP_ATOMIC_CMP_SWAP) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_OPCODE, s);
		return;
	}
	rc = rdmap_atomic_target_check(r, &q, &mem);
	if (rc != 0) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_PROTECTION, rdmap_protection_code(rc), s);
		return;
	}
	if (!rdmap_atomic_is_aligned(mem)) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_STREAM_CATASTROPHIC, s);
		return;
	}
	if (rdmap_irq_add(r, &q, s))
		ddp_advance(&r->ddp, s);
}

/* ---- we are the Requester ---------------------------------------------------------------- */

/* Section 5.2.1: what an operation has no use for is zero, and its masks are all ones. */
static void rdmap_atomic_put_request(uint8_t *p, const struct rdmap_wqe *w)
{
	bool swap = w->op == RDMAP_WR_CMP_SWAP;
	const struct rdmap_atomic *a = &w->atomic;

	store_be32(
		p + RDMAP_AT_ATOMIC_OPCODE, swap ? RDMAP_ATOMIC_CMP_SWAP : RDMAP_ATOMIC_FETCH_ADD);
	store_be32(p + RDMAP_AT_ATOMIC_REQUEST_ID, w->msn);
	store_be32(p + RDMAP_AT_ATOMIC_STAG, w->remote_stag);
	store_be64(p + RDMAP_AT_ATOMIC_TO, w->remote_to);
	store_be64(p + RDMAP_AT_ATOMIC_DATA, a->data);
	store_be64(p + RDMAP_AT_ATOMIC_MASK, a->mask);
	store_be64(p + RDMAP_AT_ATOMIC_COMPARE, swap ? a->compare : 0);
	store_be64(p + RDMAP_AT_ATOMIC_COMPARE_MASK, swap ? a->compare_mask : UINT64_MAX);
}

enum rdmap_progress rdmap_send_atomic_request(struct rdmap *r, struct rdmap_wqe *w)
{
	uint8_t *p = mpa_reserve(r->mpa, DDP_UNTAGGED_LEN + RDMAP_ATOMIC_REQUEST_LEN, true);

	if (!p)
		return RDMAP_BLOCKED;
	w->msn = r->ddp.tx_msn[RDMAP_QN_READ]++;
	ddp_put_untagged(
		p, true, RDMAP_CONTROL(RDMAP_OP_ATOMIC_REQUEST), 0, RDMAP_QN_READ, w->msn, 0);
	rdmap_atomic_put_request(p + DDP_UNTAGGED_LEN, w);
	mpa_commit(r->mpa);
	r->reads_out++;
	r->sq->next++;
	r->tx = RDMAP_TX_NONE;
	return RDMAP_MORE;
}

static bool rdmap_atomic_is_atomic(const struct rdmap_wqe *w)
{
	return w->op == RDMAP_WR_FETCH_ADD || w->op == RDMAP_WR_CMP_SWAP;
}

void rdmap_on_atomic_response(struct rdmap *r, struct ddp_segment *s)
{
	uint8_t p[RDMAP_ATOMIC_RESPONSE_LEN], *mem;
	struct rdmap_wqe *w;
	uint64_t value;
	int rc;

	/* The buffers of queue 3 are there with the requests (section 5.2.2, item 5). */
	if (r->reads_out == 0) {
		rdmap_fail_ddp(r, DDP_ERROR_NO_BUFFER, s);
		return;
	}
	w = rdmap_sq_unanswered(r);
	if (r->rtr_read || !rdmap_atomic_is_atomic(w)) { /* the answer to a Read is due */
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_OPCODE, s);
		return;
	}
	if (!rdmap_take_header(r, s, p, sizeof p))
		return;
	if (load_be32(p + RDMAP_AT_ATOMIC_ORIGINAL_ID) != w->msn) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_UNSPECIFIED, s);
		return;
	}
	if (!rdmap_sq_answered(r, w))
		return;
	value = load_be64(p + RDMAP_AT_ATOMIC_ORIGINAL_VALUE);
	rc = r->ops->stag_check(r->user, w->sge[0].stag, w->sge[0].addr, RDMAP_ATOMIC_LEN,
		RDMAP_ACCESS_READ_SINK, &mem);
	if (rc != 0 || !guarded_copy(mem, &value, sizeof value)) { /* our own program's fault */
		w->done = true;
		w->status = RDMAP_WC_LOC_PROT_ERR;
		rdmap_terminate(r, RDMAP_LAYER_RDMA, RDMAP_ETYPE_CATASTROPHIC, 0);
		return;
	}
	ddp_advance(&r->ddp, s);
	rdmap_read_done(r, w);
}
