/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA messages: RFC 5040 sections 4 and 5, RFC 7306 sections 4 to 6. */
#include "pcap/check.h"
#include "pcap/describe.h"

#include "rdmap/opcode.h"

#define CONTROL_RESERVED 0x30
_Static_assert(CONTROL_RESERVED == (RDMAP_CONTROL_IMM_DUE | RDMAP_CONTROL_IMM_BEFORE), "");

/* ---- the control field ---------------------------------------------------------------------- */

static bool check_message_is_7306(uint8_t opcode)
{
	return opcode >= RDMAP_OP_IMMEDIATE;
}

/* Which demand puts an opcode on its queue. */
static enum requirement_id check_message_queue_rule(uint8_t opcode)
{
	switch (opcode) {
	case RDMAP_OP_READ_REQUEST:
		return REQ_RDMAP_5_2_1_5;
	case RDMAP_OP_TERMINATE:
		return REQ_RDMAP_5_4_2;
	case RDMAP_OP_IMMEDIATE:
	case RDMAP_OP_IMMEDIATE_SE:
		return REQ_RDMAX_6_3_4;
	case RDMAP_OP_ATOMIC_REQUEST:
		return REQ_RDMAX_5_2_1_8;
	case RDMAP_OP_ATOMIC_RESPONSE:
		return REQ_RDMAX_5_2_2_2;
	default:
		return REQ_RDMAP_5_3_4;
	}
}

static enum requirement_id check_message_model_rule(uint8_t opcode)
{
	switch (opcode) {
	case RDMAP_OP_WRITE:
		return REQ_RDMAP_5_1_1;
	case RDMAP_OP_READ_REQUEST:
		return REQ_RDMAP_5_2_1_1;
	case RDMAP_OP_READ_RESPONSE:
		return REQ_RDMAP_5_2_2_1;
	case RDMAP_OP_TERMINATE:
		return REQ_RDMAP_5_4_1;
	case RDMAP_OP_IMMEDIATE:
	case RDMAP_OP_IMMEDIATE_SE:
		return REQ_RDMAX_6_3_1;
	case RDMAP_OP_ATOMIC_REQUEST:
		return REQ_RDMAX_5_2_1_3;
	case RDMAP_OP_ATOMIC_RESPONSE:
		return REQ_RDMAX_5_2_2_1;
	default:
		return REQ_RDMAP_5_3_1;
	}
}

static bool check_version(struct check_fpdu *x)
{
	unsigned version = x->f->segment.ulp >> RDMAP_CONTROL_VERSION_SHIFT;

	if (version == RDMAP_VERSION)
		return true;
	/* RFC 5040 section 4.1: 00b is the RDMA Consortium's; its MPA has revision 0. */
	if (version == 0 && x->s->start.seen && x->s->start.revision == 0)
		return true;
	check_fail(x, check_message_is_7306(x->opcode) ? REQ_RDMAX_4_1_2 : REQ_RDMAP_4_1_9,
		"RDMA version %u", version);
	return false;
}

/* Of a Send between uiwarps that have agreed on Immediate Data behind it (docs/connect.md). */
static bool check_is_send_imm(const struct check_fpdu *x)
{
	const struct stream_start *mine = &x->s->start, *peer = &stream_peer(x->s)->start;

	return x->opcode >= RDMAP_OP_SEND && x->opcode <= RDMAP_OP_SEND_SE_INV &&
	       (!mine->seen || mine->st.send_imm) && (!peer->seen || peer->st.send_imm);
}

/* The Invalidate STag, where there is none; there uiwarps count. */
static void check_no_stag(struct check_fpdu *x)
{
	const struct ddp_segment *s = &x->f->segment;

	if (s->tagged || s->ulp32 == 0 || x->opcode == RDMAP_OP_SEND_INV ||
		x->opcode == RDMAP_OP_SEND_SE_INV ||
		(s->ulp & RDMAP_CONTROL_IMM_BEFORE && check_is_send_imm(x)))
		return;
	check_fail_header(x, DDP_AT_ULP32, 4,
		check_message_is_7306(x->opcode) ? REQ_RDMAX_4_1_4 : REQ_RDMAP_4_1_11,
		"Invalidate STag 0x%x in %s", s->ulp32, rdmap_opcode_info(x->opcode)->name);
}

/** @return true if the message is what its opcode says. */
static bool check_control(struct check_fpdu *x)
{
	const struct rdmap_opcode_info *info = rdmap_opcode_info(x->opcode);
	const struct ddp_segment *s = &x->f->segment;

	if (!check_version(x))
		return false;
	if (s->ulp & CONTROL_RESERVED && !check_is_send_imm(x))
		check_fail_header(x, DDP_AT_ULP, 1, REQ_RDMAP_4_1_10,
			"RDMAP's control octet is 0x%02x", s->ulp);
	if (!info) {
		check_fail(x, REQ_RDMAP_4_1_6, "opcode %u", x->opcode);
		return false;
	}
	if (info->tagged != s->tagged) {
		check_fail(x, check_message_model_rule(x->opcode), "%s in %s segment", info->name,
			s->tagged ? "a tagged" : "an untagged");
		return false;
	}
	if (!s->tagged && info->qn != s->qn) {
		check_fail(x, check_message_queue_rule(x->opcode), "%s on queue %u%s", info->name,
			s->qn,
			s->qn == __builtin_bswap32(info->qn) ? ": it looks little-endian" : "");
		return false;
	}
	check_no_stag(x);
	return true;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static enum requirement_id check_message_length_rule(uint8_t opcode)
{
	switch (opcode) {
	case RDMAP_OP_READ_REQUEST:
		return REQ_RDMAP_4_4_1;
	case RDMAP_OP_TERMINATE:
		return REQ_RDMAP_4_8_1;
	case RDMAP_OP_IMMEDIATE:
	case RDMAP_OP_IMMEDIATE_SE:
		return REQ_RDMAX_6_3_5;
	default:
		return REQ_RDMAX_4_1_1;
	}
}

/** @return true if a message of headers is as long as it must be. */
static bool check_length(struct check_fpdu *x, const struct rdmap_opcode_info *info)
{
	const struct ddp_segment *s = &x->f->segment;
	uint64_t end = (uint64_t)s->mo + s->len;

	if (s->tagged || info->max_len == RDMAP_LEN_ANY)
		return true;
	if (end > info->max_len || (s->last && end < info->min_len)) {
		check_fail(x, check_message_length_rule(x->opcode), "%s of %llu octets", info->name,
			(unsigned long long)end);
		return false;
	}
	return true;
}

bool check_message(struct check_fpdu *x)
{
	const struct rdmap_opcode_info *info = rdmap_opcode_info(x->opcode);

	if (!check_control(x) || !check_length(x, info))
		return false;
	if (!x->f->segment.last && !x->f->segment.tagged)
		return true; /* its end tells what it is */
	switch (x->opcode) {
	case RDMAP_OP_READ_REQUEST:
	case RDMAP_OP_ATOMIC_REQUEST:
		check_request(x);
		break;
	case RDMAP_OP_READ_RESPONSE:
	case RDMAP_OP_ATOMIC_RESPONSE:
		check_response(x);
		break;
	case RDMAP_OP_TERMINATE:
		/* In several segments: legal, seen nowhere, and not looked into. */
		if (x->f->segment.mo == 0)
			check_terminate(x);
		break;
	default:
		break;
	}
	return true;
}
