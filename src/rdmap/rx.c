/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/opcode.h"
#include "rdmap/rdmap_priv.h"

/* ---- Write ------------------------------------------------------------------------------- */

static void rdmap_rx_on_write(struct rdmap *r, struct ddp_segment *s)
{
	if (s->len != 0) { /* RFC 5041 section 5.2: else STag and TO MUST NOT be checked */
		uint8_t *mem;
		int rc = r->ops->stag_check(
			r->user, s->stag, s->to, s->len, RDMAP_ACCESS_REMOTE_WRITE, &mem);

		if (rc == 0)
			rc = ddp_place(s, mem, s->len);
		if (rc != 0) {
			rdmap_fail_ddp(r, ddp_tagged_error(rc), s);
			return;
		}
	}
	r->transferred += s->len;
	r->write_len = s->len + (r->write_open ? r->write_len : 0);
	r->write_open = !s->last;
	ddp_advance(&r->ddp, s);
}

/* ---- Send -------------------------------------------------------------------------------- */

/* A receive element that cannot take the message completes with why; then the stream ends. */
static void rdmap_rx_spoil_recv(struct rdmap *r, enum rdmap_wc_status status)
{
	rdmap_recv_complete(r, &(struct rdmap_wc){.op = RDMAP_WC_RECV, .status = (uint8_t)status});
}

static void rdmap_rx_deliver_send(struct rdmap *r, struct ddp_segment *s)
{
	uint8_t opcode = s->ulp & RDMAP_CONTROL_OPCODE;
	struct rdmap_wc wc = {
		.op = RDMAP_WC_RECV, .status = RDMAP_WC_SUCCESS, .byte_len = s->mo + s->len};

	rdmap_forget_write(r);
	if (rdmap_immediate_due(r, s))
		return;
	if (opcode == RDMAP_OP_SEND_SE || opcode == RDMAP_OP_SEND_SE_INV)
		wc.flags |= RDMAP_WC_SOLICITED;
	if (opcode == RDMAP_OP_SEND_INV || opcode == RDMAP_OP_SEND_SE_INV) {
		wc.flags |= RDMAP_WC_WITH_INV;
		wc.inv_stag = s->ulp32;
		/* RFC 5040 section 5.3 and 7.2, checks 4 and 5. */
		if (r->ops->stag_invalidate(r->user, s->ulp32, true) != 0) {
			rdmap_fail_rdma(r, RDMAP_ETYPE_PROTECTION, RDMAP_CODE_CANNOT_INVALIDATE, s);
			return;
		}
	}
	rdmap_recv_complete(r, &wc);
}

void rdmap_no_buffer(struct rdmap *r, struct ddp_segment *s)
{
	/* What is placed already comes no second time. */
	if (!s->placed && r->ops->recv_wait && r->ops->recv_wait(r->user) && mpa_rx_pause(r->mpa))
		return;
	rdmap_fail_ddp(r, DDP_ERROR_NO_BUFFER, s);
}

static void rdmap_rx_on_send(struct rdmap *r, struct ddp_segment *s)
{
	enum ddp_error error;

	/* RFC 6581 section 9.2: no receive buffer is consumed. One that invalidates or solicits is
	 * a message. */
	if (r->rtr_expect & MPA_RTR_SEND && s->len == 0 && s->last &&
		(s->ulp & RDMAP_CONTROL_OPCODE) == RDMAP_OP_SEND) {
		ddp_advance(&r->ddp, s);
		return;
	}
	if (!rdmap_immediate_agrees(r, s)) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_OPCODE, s);
		return;
	}
	if (!r->rqe) {
		r->rqe = r->ops->recv_take(r->user);
		r->rx_at = (struct rdmap_sge_at){0};
		if (!r->rqe) {
			rdmap_no_buffer(r, s);
			return;
		}
	}
	error = ddp_check_room(s, r->rqe->length);
	if (error != DDP_OK) {
		rdmap_rx_spoil_recv(r, RDMAP_WC_LOC_LEN_ERR);
		rdmap_fail_ddp(r, error, s);
		return;
	}
	if (rdmap_scatter(r, r->rqe, &r->rx_at, s) != 0) {
		rdmap_rx_spoil_recv(r, RDMAP_WC_LOC_PROT_ERR);
		rdmap_terminate(r, RDMAP_LAYER_RDMA, RDMAP_ETYPE_CATASTROPHIC, 0);
		return;
	}
	r->transferred += s->len;
	ddp_advance(&r->ddp, s);
	if (s->last)
		rdmap_rx_deliver_send(r, s);
}

/* ---- dispatch ---------------------------------------------------------------------------- */

bool rdmap_take_header(struct rdmap *r, struct ddp_segment *s, uint8_t *p, uint32_t len)
{
	/* Its untagged buffer is as long as the header, and one segment always holds that. */
	if (s->len > len) {
		rdmap_fail_ddp(r, DDP_ERROR_TOO_LONG, s);
		return false;
	}
	if (s->len < len || !s->last) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_UNSPECIFIED, s);
		return false;
	}
	ddp_place(s, p, len);
	return true;
}

/* NULL: reserved. */
static void (*const rdmap_rx_handlers[RDMAP_OPCODES])(struct rdmap *r, struct ddp_segment *s) = {
	[RDMAP_OP_WRITE] = rdmap_rx_on_write,
	[RDMAP_OP_READ_REQUEST] = rdmap_on_read_request,
	[RDMAP_OP_READ_RESPONSE] = rdmap_on_read_response,
	[RDMAP_OP_SEND] = rdmap_rx_on_send,
	[RDMAP_OP_SEND_INV] = rdmap_rx_on_send,
	[RDMAP_OP_SEND_SE] = rdmap_rx_on_send,
	[RDMAP_OP_SEND_SE_INV] = rdmap_rx_on_send,
	[RDMAP_OP_TERMINATE] = rdmap_on_terminate,
	[RDMAP_OP_IMMEDIATE] = rdmap_on_immediate,
	[RDMAP_OP_IMMEDIATE_SE] = rdmap_on_immediate,
	[RDMAP_OP_ATOMIC_REQUEST] = rdmap_on_atomic_request,
	[RDMAP_OP_ATOMIC_RESPONSE] = rdmap_on_atomic_response,
};

bool rdmap_opcode_fits(const struct ddp_segment *s)
{
	uint8_t opcode = s->ulp & RDMAP_CONTROL_OPCODE;
	const struct rdmap_opcode_info *info = rdmap_opcode_info(opcode);

	return rdmap_rx_handlers[opcode] && info->tagged == s->tagged &&
	       (s->tagged || info->qn == s->qn);
}

static bool rdmap_rx_is_answer(uint8_t opcode)
{
	return opcode == RDMAP_OP_READ_RESPONSE || opcode == RDMAP_OP_ATOMIC_RESPONSE ||
	       opcode == RDMAP_OP_TERMINATE;
}

static void rdmap_rx_handle(struct rdmap *r, struct ddp_segment *s)
{
	uint8_t opcode = s->ulp & RDMAP_CONTROL_OPCODE;

	if (!r->answers_only || rdmap_rx_is_answer(opcode))
		rdmap_rx_handlers[opcode](r, s);
	else if (s->tagged)
		r->write_open = !s->last; /* a Write's; where it ends is known all the same */
	else
		ddp_advance(&r->ddp, s);
}

static void rdmap_rx_receive(struct rdmap *r, const struct mpa_ulpdu *u, bool placed, bool whole)
{
	struct ddp_segment s;
	enum ddp_error error;

	if (!rdmap_alive(r))
		return;
	error = ddp_parse(&s, u);
	s.placed = placed;
	s.failed = !whole;
	if (error == DDP_ERROR_SHORT) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_UNSPECIFIED, NULL);
		return;
	}
	if (error == DDP_OK && !s.tagged)
		error = ddp_check_untagged(&r->ddp, &s);
	if (error != DDP_OK) {
		rdmap_fail_ddp(r, error, &s);
		return;
	}
	/* RFC 5040 section 7.2, checks 2 and 3. Version 00b is the RDMA Consortium's. */
	if (s.ulp >> RDMAP_CONTROL_VERSION_SHIFT != RDMAP_VERSION) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_VERSION, &s);
		return;
	}
	if (!rdmap_opcode_fits(&s)) {
		rdmap_fail_rdma(r, RDMAP_ETYPE_OPERATION, RDMAP_CODE_OPCODE, &s);
		return;
	}
	rdmap_rx_handle(r, &s);
	r->rtr_expect = 0; /* only the first may be one */
	r->heard = true;
	if (!r->operational && rdmap_alive(r))
		rdmap_open_sending(r);
}

void rdmap_on_ulpdu(void *user, const struct mpa_ulpdu *u)
{
	rdmap_rx_receive(user, u, false, true);
}

void rdmap_on_placed(void *user, const struct mpa_ulpdu *u, bool whole)
{
	rdmap_rx_receive(user, u, true, whole);
}
