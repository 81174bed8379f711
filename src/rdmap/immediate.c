/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Immediate Data (RFC 7306 section 6): a message of its own, which follows a Write. Between uiwarps
 * it may follow a Send, too; that says so, and both are one message to the program
 * (docs/connect.md).
 */
#include "rdmap/rdmap_priv.h"

#include <string.h>

bool rdmap_put_immediate(struct rdmap *r, struct rdmap_wqe *w)
{
	uint8_t opcode = w->flags & RDMAP_WR_SOLICITED ? RDMAP_OP_IMMEDIATE_SE : RDMAP_OP_IMMEDIATE;
	uint8_t *p = mpa_reserve(r->mpa, DDP_UNTAGGED_LEN + RDMAP_IMMEDIATE_LEN, true);
	uint32_t msn;

	if (!p)
		return false;
	msn = r->ddp.tx_msn[RDMAP_QN_SEND]++;
	if (w->op == RDMAP_WR_SEND_IMM)
		r->imms_sent++;
	else
		w->msn = msn;
	ddp_put_untagged(p, true, RDMAP_CONTROL(opcode), 0, RDMAP_QN_SEND, msn, 0);
	p += DDP_UNTAGGED_LEN;
	memset(p, 0, RDMAP_IMMEDIATE_LEN);
	memcpy(p, &w->imm, sizeof w->imm);
	mpa_commit(r->mpa);
	return true;
}

/* ---- of Sends ---------------------------------------------------------------------------- */

/* Sends with Invalidate have no room for the count. */
static bool rdmap_immediate_has_count(const struct ddp_segment *s)
{
	uint8_t opcode = s->ulp & RDMAP_CONTROL_OPCODE;

	return opcode == RDMAP_OP_SEND || opcode == RDMAP_OP_SEND_SE;
}

uint8_t rdmap_immediate_bits(const struct rdmap *r, const struct rdmap_wqe *w)
{
	return (w->op == RDMAP_WR_SEND_IMM ? RDMAP_CONTROL_IMM_DUE : 0) |
	       (r->imms_sent != 0 ? RDMAP_CONTROL_IMM_BEFORE : 0);
}

bool rdmap_immediate_agrees(const struct rdmap *r, const struct ddp_segment *s)
{
	bool before = s->ulp & RDMAP_CONTROL_IMM_BEFORE;

	if (!r->send_imm)
		return true;
	if (r->imm_due || before != (r->imms_received != 0))
		return false;
	return !rdmap_immediate_has_count(s) || !before || s->ulp32 == r->imms_received;
}

bool rdmap_immediate_place_of(const struct rdmap *r, const struct ddp_segment *s, uint32_t *n)
{
	uint32_t now = r->ddp.rx[RDMAP_QN_SEND].msn - r->imm_due - r->imms_received;
	uint32_t before = 0;

	if (r->send_imm && s->ulp & RDMAP_CONTROL_IMM_BEFORE) {
		before = s->ulp32;
		if (!rdmap_immediate_has_count(s)) {
			if (s->msn != r->ddp.rx[RDMAP_QN_SEND].msn)
				return false; /* how many are between is not known */
			before = r->imms_received;
		}
	}
	*n = s->msn - before - now;
	/* What is whole is not written to again. */
	return !(r->imm_due && *n == 0);
}

bool rdmap_immediate_due(struct rdmap *r, const struct ddp_segment *s)
{
	if (!r->send_imm || !(s->ulp & RDMAP_CONTROL_IMM_DUE) || !rdmap_immediate_has_count(s))
		return false;
	r->imm_due = true;
	r->send_len = s->mo + s->len;
	return true;
}

/* ---- receiving --------------------------------------------------------------------------- */

/* @return false: there is no element for it yet. */
static bool rdmap_immediate_take(struct rdmap *r, struct ddp_segment *s)
{
	if (!r->imm_due)
		r->rqe = r->ops->recv_take(r->user);
	if (!r->rqe)
		rdmap_no_buffer(r, s);
	return r->rqe;
}

static void rdmap_immediate_count(struct rdmap *r)
{
	r->imms_received += r->imm_due;
	r->imm_due = false;
}

void rdmap_on_immediate(struct rdmap *r, struct ddp_segment *s)
{
	struct rdmap_wc wc = {.op = r->imm_due ? RDMAP_WC_RECV : RDMAP_WC_RECV_IMM,
		.byte_len = r->imm_due ? r->send_len : rdmap_write_before(r),
		.flags = RDMAP_WC_WITH_IMM};
	uint8_t data[RDMAP_IMMEDIATE_LEN];

	if (r->rqe && !r->imm_due) { /* the rest of a Send is due */
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_OPCODE, s);
		return;
	}
	/* RFC 7306 section 6.3: exactly eight bytes. */
	if (s->len != sizeof data || !s->last) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_UNSPECIFIED, s);
		return;
	}
	if (!rdmap_immediate_take(r, s))
		return;
	ddp_place(s, data, sizeof data);
	memcpy(&wc.imm, data, sizeof wc.imm);
	if ((s->ulp & RDMAP_CONTROL_OPCODE) == RDMAP_OP_IMMEDIATE_SE)
		wc.flags |= RDMAP_WC_SOLICITED;
	rdmap_forget_write(r);
	rdmap_immediate_count(r);
	ddp_advance(&r->ddp, s);
	rdmap_recv_complete(r, &wc);
}
