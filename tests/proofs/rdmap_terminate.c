/* SPDX-License-Identifier: BSD-2-Clause */
/* Terminates (RFC 5040 section 4.8): made, and read out of any bytes. */
#include "proofs/rdmap_stub.h"

#include "ddp/ddp.c"
#include "rdmap/opcode.c"
#include "rdmap/term_code.c"
#include "rdmap/terminate.c"

static struct rdmap_end stub_end;

void rdmap_end(struct rdmap *r, const struct rdmap_end *e)
{
	stub_end = *e;
}

/*
 * Any error that quotes so: within the room for a Terminate, and read as it was meant. What it
 * quotes is no variable, so that the offsets are none either: that is much easier to prove.
 */
static void check_build(bool segment, bool tagged, uint8_t request, bool read_header)
{
	uint8_t out[RDMAP_TERM_MAX], header[RDMAP_READ_HEADER_LEN], bytes[DDP_HEADER_MAX];
	struct llp_iov v = {.base = bytes, .len = sizeof bytes};
	struct mpa_ulpdu u = {.at = {.v = &v, .n = 1}, .len = nondet_u16()};
	struct ddp_segment s = {.ulpdu = &u,
		.tagged = tagged,
		.header_len = tagged ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN};
	struct rdmap_error e = {.layer = nondet_u8(),
		.etype = nondet_u8(),
		.code = nondet_u8(),
		.segment = segment ? &s : NULL,
		.request_opcode = request,
		.request_msn = nondet_u32(),
		.read_header = read_header ? header : NULL};
	const size_t quote = RDMAP_TERM_HEADER_LEN + RDMAP_TERM_LENGTH_LEN;
	struct quoted q = {0};
	size_t len;

	bytes[0] = tagged ? DDP_CONTROL_TAGGED : 0;
	assume(e.layer <= RDMAP_LAYER_LLP && e.etype <= 2);
	len = rdmap_terminate_build(&e, out);
	assert(len >= RDMAP_TERM_HEADER_LEN && len <= RDMAP_TERM_MAX);
	assert(out[RDMAP_AT_TERM_TYPE] == (e.layer << 4 | e.etype));
	assert(out[RDMAP_AT_TERM_CODE] == e.code);
	assert(((out[RDMAP_AT_TERM_HDRCT] & RDMAP_HDRCT_R) != 0) == read_header);
	if (!segment && !request)
		return;
	rdmap_terminate_parse_quoted(&q, out + quote, len - quote);
	assert(q.known && q.tagged == (segment && tagged));
	if (request)
		assert(q.qn == RDMAP_QN_READ && q.msn == e.request_msn);
}

void proof_terminate_build(void)
{
	switch (nondet_u8()) {
	case 0:
		check_build(true, true, 0, false);
		break;
	case 1:
		check_build(true, false, 0, false);
		break;
	case 2:
		check_build(true, false, 0, true);
		break;
	case 3:
		check_build(false, false, RDMAP_OP_READ_REQUEST, true);
		break;
	case 4:
		check_build(false, false, RDMAP_OP_ATOMIC_REQUEST, false);
		break;
	default:
		check_build(false, false, 0, false);
	}
}

/* Whatever we send that quotes something, nobody takes it for one of siw's. */
void proof_terminate_unswapped(void)
{
	uint8_t p[RDMAP_TERM_HEADER_LEN] = {[RDMAP_AT_TERM_HDRCT] = RDMAP_HDRCT_M | RDMAP_HDRCT_D};
	uint8_t layer = nondet_u8(), etype = nondet_u8(), code = nondet_u8();

	assume(layer <= RDMAP_LAYER_LLP && etype <= 2);
	assume(rdmap_term_code(layer, etype, code));
	/* The two that look like RDMAP's own exchanged; see rdmap_term_code_is_swapped(). */
	assume(layer != RDMAP_LAYER_LLP || code < MPA_ERROR_CATASTROPHIC);
	p[RDMAP_AT_TERM_TYPE] = (uint8_t)(layer << 4 | etype);
	p[RDMAP_AT_TERM_CODE] = code;
	assert(!rdmap_term_read(p, nondet_bool()).swapped);
}

/* Any bytes as a Terminate, of any length: nothing but them is read, and the stream ends. */
void proof_terminate_any_bytes(void)
{
	struct mpa m = {.role = nondet_bool() ? MPA_RESPONDER : MPA_INITIATOR};
	struct rdmap_sq sq = {0};
	struct rdmap r = {.ops = &stub_ops, .mpa = &m, .sq = &sq, .heard = nondet_bool()};
	uint8_t bytes[STUB_FPDU_MOST];
	struct llp_iov v;
	struct mpa_ulpdu u;
	struct ddp_segment s;

	memcpy(stub_fpdu, bytes, sizeof bytes);
	stub_fpdu_len = nondet_u32();
	assume(stub_fpdu_len >= DDP_UNTAGGED_LEN && stub_fpdu_len <= STUB_FPDU_MOST);
	u = stub_ulpdu(&v);
	assume(ddp_parse(&s, &u) == DDP_OK && !s.tagged);
	rdmap_on_terminate(&r, &s);
	assert(stub_end.kind == RDMAP_END_TERMINATE_RX);
	assert(stub_end.layer < 16 && stub_end.etype < 16);
}
