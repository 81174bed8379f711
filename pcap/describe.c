/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/describe.h"

#include "rdmap/opcode.h"

#include <inttypes.h>

static const char *describe_yes(bool b)
{
	return b ? "1" : "0";
}

static void describe_add_depth(struct line *l, const char *name, uint16_t depth)
{
	if (depth == MPA_DEPTH_UNKNOWN)
		line_add(l, " %s -", name);
	else
		line_add(l, " %s %u", name, depth);
}

void describe_start(struct line *l, const struct stream_start *st)
{
	uint8_t f = st->flags;

	if (st->error && st->len < MPA_HEADER_LEN) {
		line_add(l, "no MPA frame: %s", st->error);
		return;
	}
	line_add(l, "MPA %s rev %u M%s C%s", st->kind == MPA_FRAME_REQUEST ? "Request" : "Reply",
		st->revision, describe_yes(f & MPA_FLAG_MARKERS), describe_yes(f & MPA_FLAG_CRC));
	if (st->kind == MPA_FRAME_REPLY || f & MPA_FLAG_REJECT)
		line_add(l, " R%s", describe_yes(f & MPA_FLAG_REJECT));
	if (st->revision >= 2 || f & MPA_FLAG_ENHANCED)
		line_add(l, " S%s", describe_yes(f & MPA_FLAG_ENHANCED));
	if (st->st.enhanced && !st->error) {
		describe_add_depth(l, "IRD", st->st.ird);
		describe_add_depth(l, "ORD", st->st.ord);
		if (st->words[0] & ~MPA_DEPTH_MASK || st->words[1] & ~MPA_DEPTH_MASK)
			line_add(l, " A%s B%s C%s D%s",
				describe_yes(st->words[0] & MPA_IRD_PEER_TO_PEER),
				describe_yes(st->words[0] & MPA_IRD_RTR_SEND),
				describe_yes(st->words[1] & MPA_ORD_RTR_WRITE),
				describe_yes(st->words[1] & MPA_ORD_RTR_READ));
	}
	if (st->st.send_imm && !st->error)
		line_add(l, " Send with Immediate %s",
			st->kind == MPA_FRAME_REQUEST ? "offered" : "agreed");
	line_add(l, " private data %u", st->pd_length);
	if (st->error)
		line_add(l, ": %s", st->error);
}

static const struct rdmap_opcode_info *describe_info_of(const struct stream_fpdu *f)
{
	return rdmap_opcode_info(f->segment.ulp & RDMAP_CONTROL_OPCODE);
}

/** "Send", "opcode 14": one word for a line or a table. */
static void describe_kind(struct line *l, const struct stream_fpdu *f)
{
	if (!f->header)
		line_add(l, "FPDU, headers not captured");
	else if (f->ddp == DDP_ERROR_SHORT)
		line_add(l, "FPDU, too short for DDP");
	else if (describe_info_of(f))
		line_add(l, "%s", describe_info_of(f)->name);
	else
		line_add(l, "opcode %u", f->segment.ulp & RDMAP_CONTROL_OPCODE);
}

size_t describe_payload(const struct stream_fpdu *f, uint8_t *out, size_t max)
{
	struct mpa_cursor c = f->segment.payload;
	size_t n = f->segment.len < max ? f->segment.len : max;

	if (!f->header || f->ddp == DDP_ERROR_SHORT || f->unseen)
		return 0;
	mpa_cursor_copy(&c, out, n);
	return n;
}

static void describe_add_read(struct line *l, const uint8_t *p)
{
	line_add(l, " sink 0x%x at 0x%llx size %u source 0x%x at 0x%llx",
		load_be32(p + RDMAP_AT_SINK_STAG),
		(unsigned long long)load_be64(p + RDMAP_AT_SINK_TO), load_be32(p + RDMAP_AT_SIZE),
		load_be32(p + RDMAP_AT_SOURCE_STAG),
		(unsigned long long)load_be64(p + RDMAP_AT_SOURCE_TO));
}

static void describe_add_atomic(struct line *l, const uint8_t *p)
{
	uint32_t op = load_be32(p + RDMAP_AT_ATOMIC_OPCODE) & RDMAP_ATOMIC_OPCODE_MASK;

	if (op == RDMAP_ATOMIC_FETCH_ADD)
		line_add(l, " FetchAdd");
	else if (op == RDMAP_ATOMIC_CMP_SWAP)
		line_add(l, " CmpSwap");
	else
		line_add(l, " code %u", op);
	line_add(l, " id %u stag 0x%x to 0x%llx data 0x%llx",
		load_be32(p + RDMAP_AT_ATOMIC_REQUEST_ID), load_be32(p + RDMAP_AT_ATOMIC_STAG),
		(unsigned long long)load_be64(p + RDMAP_AT_ATOMIC_TO),
		(unsigned long long)load_be64(p + RDMAP_AT_ATOMIC_DATA));
	if (op == RDMAP_ATOMIC_CMP_SWAP)
		line_add(l, " compare 0x%llx",
			(unsigned long long)load_be64(p + RDMAP_AT_ATOMIC_COMPARE));
}

static void describe_add_terminate(struct line *l, const uint8_t *p)
{
	uint8_t h = p[RDMAP_AT_TERM_HDRCT];

	line_add(l, " layer %u type %u code 0x%02x M%s D%s R%s", p[RDMAP_AT_TERM_TYPE] >> 4,
		p[RDMAP_AT_TERM_TYPE] & 0xf, p[RDMAP_AT_TERM_CODE], describe_yes(h & RDMAP_HDRCT_M),
		describe_yes(h & RDMAP_HDRCT_D), describe_yes(h & RDMAP_HDRCT_R));
}

/** Between uiwarps (docs/connect.md). */
static bool describe_imm_due(const struct ddp_segment *s)
{
	uint8_t opcode = s->ulp & RDMAP_CONTROL_OPCODE;

	return (opcode == RDMAP_OP_SEND || opcode == RDMAP_OP_SEND_SE) &&
	       s->ulp & RDMAP_CONTROL_IMM_DUE;
}

/* What the payload of a message of headers says. */
static void describe_add_header(struct line *l, const struct stream_fpdu *f)
{
	uint8_t p[DESCRIBE_HEADER_MAX];
	size_t n = describe_payload(f, p, sizeof p);
	uint8_t opcode = f->segment.ulp & RDMAP_CONTROL_OPCODE;

	if (opcode == RDMAP_OP_READ_REQUEST && n >= RDMAP_READ_HEADER_LEN) {
		describe_add_read(l, p);
	} else if (opcode == RDMAP_OP_ATOMIC_REQUEST && n >= RDMAP_ATOMIC_REQUEST_LEN) {
		describe_add_atomic(l, p);
	} else if (opcode == RDMAP_OP_ATOMIC_RESPONSE && n >= RDMAP_ATOMIC_RESPONSE_LEN) {
		line_add(l, " id %u value 0x%llx", load_be32(p + RDMAP_AT_ATOMIC_ORIGINAL_ID),
			(unsigned long long)load_be64(p + RDMAP_AT_ATOMIC_ORIGINAL_VALUE));
	} else if (opcode == RDMAP_OP_TERMINATE && n >= RDMAP_TERM_HEADER_LEN) {
		describe_add_terminate(l, p);
	} else if ((opcode == RDMAP_OP_IMMEDIATE || opcode == RDMAP_OP_IMMEDIATE_SE) &&
		   n >= RDMAP_IMMEDIATE_LEN) {
		line_add(l, " data 0x%llx", (unsigned long long)load_be64(p));
	}
}

void describe_fpdu(struct line *l, const struct stream_fpdu *f)
{
	const struct ddp_segment *s = &f->segment;
	uint8_t opcode = s->ulp & RDMAP_CONTROL_OPCODE;

	describe_kind(l, f);
	if (!f->header || f->ddp == DDP_ERROR_SHORT) {
		line_add(l, " ULPDU %u", f->fpdu.ulpdu.len);
	} else {
		line_add(l, "%s", s->last ? " L" : "");
		if (s->tagged)
			line_add(l, " stag 0x%x to 0x%llx", s->stag, (unsigned long long)s->to);
		else
			line_add(l, " qn %u msn %u mo %u", s->qn, s->msn, s->mo);
		line_add(l, " len %u", s->len);
		if (opcode == RDMAP_OP_SEND_INV || opcode == RDMAP_OP_SEND_SE_INV)
			line_add(l, " invalidate 0x%x", s->ulp32);
		if (describe_imm_due(s))
			line_add(l, " immediate follows");
		describe_add_header(l, f);
	}
	if (f->result == MPA_DEFRAME_CRC)
		line_add(l, " [CRC wrong]");
	if (f->result == MPA_DEFRAME_MARKER)
		line_add(l, " [marker wrong]");
	if (f->unseen)
		line_add(l, " [not all captured]");
	if (!f->aligned)
		line_add(l, " [not aligned]");
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/** JSON's integers have no 64th bit in most readers, and not in the one that writes them here. */
static void describe_set_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(
		o, key, v <= INT64_MAX ? json_integer((json_int_t)v) : json_sprintf("%" PRIu64, v));
}

static void describe_set_bool(json_t *o, const char *key, bool v)
{
	json_object_set_new(o, key, json_boolean(v));
}

void describe_start_json(json_t *o, const struct stream_start *st)
{
	describe_set_bool(o, "request", st->kind == MPA_FRAME_REQUEST);
	if (st->error)
		json_object_set_new(o, "error", json_string(st->error));
	if (st->len < MPA_HEADER_LEN)
		return;
	describe_set_int(o, "revision", st->revision);
	describe_set_bool(o, "markers", st->flags & MPA_FLAG_MARKERS);
	describe_set_bool(o, "crc", st->flags & MPA_FLAG_CRC);
	describe_set_bool(o, "reject", st->flags & MPA_FLAG_REJECT);
	describe_set_bool(o, "enhanced", st->flags & MPA_FLAG_ENHANCED);
	describe_set_int(o, "private_data_length", st->pd_length);
	if (st->error || !st->st.enhanced)
		return;
	describe_set_int(o, "ird", st->st.ird);
	describe_set_int(o, "ord", st->st.ord);
	describe_set_bool(o, "peer_to_peer", st->words[0] & MPA_IRD_PEER_TO_PEER);
	describe_set_bool(o, "rtr_send", st->words[0] & MPA_IRD_RTR_SEND);
	describe_set_bool(o, "rtr_write", st->words[1] & MPA_ORD_RTR_WRITE);
	describe_set_bool(o, "rtr_read", st->words[1] & MPA_ORD_RTR_READ);
	if (st->st.send_imm)
		describe_set_bool(o, "send_with_immediate", true);
}

static void describe_header_json(json_t *o, const struct stream_fpdu *f)
{
	uint8_t p[DESCRIBE_HEADER_MAX];
	size_t n = describe_payload(f, p, sizeof p);
	uint8_t opcode = f->segment.ulp & RDMAP_CONTROL_OPCODE;

	if (opcode == RDMAP_OP_READ_REQUEST && n >= RDMAP_READ_HEADER_LEN) {
		describe_set_int(o, "sink_stag", load_be32(p + RDMAP_AT_SINK_STAG));
		describe_set_int(o, "sink_to", load_be64(p + RDMAP_AT_SINK_TO));
		describe_set_int(o, "size", load_be32(p + RDMAP_AT_SIZE));
		describe_set_int(o, "source_stag", load_be32(p + RDMAP_AT_SOURCE_STAG));
		describe_set_int(o, "source_to", load_be64(p + RDMAP_AT_SOURCE_TO));
	} else if (opcode == RDMAP_OP_ATOMIC_REQUEST && n >= RDMAP_ATOMIC_REQUEST_LEN) {
		describe_set_int(o, "atomic_opcode",
			load_be32(p + RDMAP_AT_ATOMIC_OPCODE) & RDMAP_ATOMIC_OPCODE_MASK);
		describe_set_int(o, "request_id", load_be32(p + RDMAP_AT_ATOMIC_REQUEST_ID));
		describe_set_int(o, "remote_stag", load_be32(p + RDMAP_AT_ATOMIC_STAG));
		describe_set_int(o, "remote_to", load_be64(p + RDMAP_AT_ATOMIC_TO));
		describe_set_int(o, "data", load_be64(p + RDMAP_AT_ATOMIC_DATA));
		describe_set_int(o, "mask", load_be64(p + RDMAP_AT_ATOMIC_MASK));
		describe_set_int(o, "compare", load_be64(p + RDMAP_AT_ATOMIC_COMPARE));
		describe_set_int(o, "compare_mask", load_be64(p + RDMAP_AT_ATOMIC_COMPARE_MASK));
	} else if (opcode == RDMAP_OP_ATOMIC_RESPONSE && n >= RDMAP_ATOMIC_RESPONSE_LEN) {
		describe_set_int(o, "request_id", load_be32(p + RDMAP_AT_ATOMIC_ORIGINAL_ID));
		describe_set_int(o, "value", load_be64(p + RDMAP_AT_ATOMIC_ORIGINAL_VALUE));
	} else if (opcode == RDMAP_OP_TERMINATE && n >= RDMAP_TERM_HEADER_LEN) {
		describe_set_int(o, "layer", p[RDMAP_AT_TERM_TYPE] >> 4);
		describe_set_int(o, "type", p[RDMAP_AT_TERM_TYPE] & 0xf);
		describe_set_int(o, "code", p[RDMAP_AT_TERM_CODE]);
		describe_set_int(o, "header_control", p[RDMAP_AT_TERM_HDRCT]);
	} else if ((opcode == RDMAP_OP_IMMEDIATE || opcode == RDMAP_OP_IMMEDIATE_SE) &&
		   n >= RDMAP_IMMEDIATE_LEN) {
		describe_set_int(o, "immediate", load_be64(p));
	}
}

void describe_fpdu_json(json_t *o, const struct stream_fpdu *f)
{
	const struct ddp_segment *s = &f->segment;
	struct line kind = {0};

	describe_kind(&kind, f);
	json_object_set_new(o, "message", json_string(kind.text));
	describe_set_int(o, "fpdu", f->number);
	describe_set_int(o, "ulpdu_length", f->fpdu.ulpdu.len);
	describe_set_bool(o, "aligned", f->aligned);
	describe_set_bool(o, "complete", !f->unseen);
	json_object_set_new(o, "crc",
		json_string(!f->crc                        ? "off"
			    : f->unseen                    ? "unknown"
			    : f->result == MPA_DEFRAME_CRC ? "bad"
							   : "good"));
	if (f->result == MPA_DEFRAME_MARKER)
		describe_set_bool(o, "bad_marker", true);
	if (!f->header || f->ddp == DDP_ERROR_SHORT)
		return;
	describe_set_int(o, "opcode", s->ulp & RDMAP_CONTROL_OPCODE);
	describe_set_bool(o, "tagged", s->tagged);
	describe_set_bool(o, "last", s->last);
	describe_set_int(o, "length", s->len);
	if (s->tagged) {
		describe_set_int(o, "stag", s->stag);
		describe_set_int(o, "tagged_offset", s->to); /* "to" is the address */
	} else {
		describe_set_int(o, "qn", s->qn);
		describe_set_int(o, "msn", s->msn);
		describe_set_int(o, "mo", s->mo);
		describe_set_int(o, "invalidate_stag", s->ulp32);
		if (describe_imm_due(s))
			describe_set_bool(o, "immediate_follows", true);
	}
	describe_header_json(o, f);
}
