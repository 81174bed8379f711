/* SPDX-License-Identifier: BSD-2-Clause */
/* Immediate Data (RFC 7306 section 6): a message of its own, which follows a Write. */
#include "rdmap/rdmap_priv.h"

#include <string.h>

bool rdmap_put_immediate(struct rdmap *r, struct rdmap_wqe *w)
{
	uint8_t opcode = w->flags & RDMAP_WR_SOLICITED ? RDMAP_OP_IMMEDIATE_SE : RDMAP_OP_IMMEDIATE;
	uint8_t *p = mpa_reserve(r->mpa, DDP_UNTAGGED_LEN + RDMAP_IMMEDIATE_LEN, true);

	if (!p)
		return false;
	w->msn = r->ddp.tx_msn[RDMAP_QN_SEND]++;
	ddp_put_untagged(p, true, RDMAP_CONTROL(opcode), 0, RDMAP_QN_SEND, w->msn, 0);
	p += DDP_UNTAGGED_LEN;
	memset(p, 0, RDMAP_IMMEDIATE_LEN);
	memcpy(p, &w->imm, sizeof w->imm);
	mpa_commit(r->mpa);
	return true;
}

void rdmap_on_immediate(struct rdmap *r, struct ddp_segment *s)
{
	struct rdmap_wc wc = {
		.op = RDMAP_WC_RECV_IMM, .byte_len = r->write_len, .flags = RDMAP_WC_WITH_IMM};
	uint8_t data[RDMAP_IMMEDIATE_LEN];

	if (r->rqe) { /* the rest of a Send is due */
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_OPCODE, s);
		return;
	}
	/* RFC 7306 section 6.3: exactly eight bytes. */
	if (s->len != sizeof data || !s->last) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_UNSPECIFIED, s);
		return;
	}
	r->rqe = r->ops->recv_take(r->user);
	if (!r->rqe) {
		rdmap_no_buffer(r, s);
		return;
	}
	ddp_place(s, data, sizeof data);
	memcpy(&wc.imm, data, sizeof wc.imm);
	if ((s->ulp & RDMAP_CONTROL_OPCODE) == RDMAP_OP_IMMEDIATE_SE)
		wc.flags |= RDMAP_WC_SOLICITED;
	r->write_len = 0;
	ddp_advance(&r->ddp, s);
	rdmap_recv_complete(r, &wc);
}
