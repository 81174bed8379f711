/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA messages: RFC 5040 sections 4 and 5, RFC 7306 sections 4 to 6. */
#include "pcap/check.h"
#include "pcap/describe.h"

#include "rdmap/opcode.h"

#define CONTROL_RESERVED 0x30

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

/** @return true if the message is what its opcode says. */
static bool check_control(struct check_fpdu *x)
{
	const struct rdmap_opcode_info *info = rdmap_opcode_info(x->opcode);
	const struct ddp_segment *s = &x->f->segment;

	if (!check_version(x))
		return false;
	if (s->ulp & CONTROL_RESERVED)
		check_fail(x, REQ_RDMAP_4_1_10, "RDMAP's control octet is 0x%02x", s->ulp);
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
		check_fail(x, check_message_queue_rule(x->opcode), "%s on queue %u", info->name,
			s->qn);
		return false;
	}
	if (!s->tagged && s->ulp32 != 0 && x->opcode != RDMAP_OP_SEND_INV &&
		x->opcode != RDMAP_OP_SEND_SE_INV)
		check_fail(x, check_message_is_7306(x->opcode) ? REQ_RDMAX_4_1_4 : REQ_RDMAP_4_1_11,
			"Invalidate STag 0x%x in %s", s->ulp32, info->name);
	return true;
}

/* ---- Reads ---------------------------------------------------------------------------------- */

/* What the peer has announced to take at one time; UINT16_MAX: not known. */
static uint16_t check_message_read_limit(const struct stream *s)
{
	const struct stream_start *mine = &s->start, *peer = &stream_peer(s)->start;

	if (!mine->seen || !peer->seen || !mine->st.enhanced || !peer->st.enhanced ||
		peer->st.ird == MPA_DEPTH_UNKNOWN)
		return UINT16_MAX;
	return peer->st.ird;
}

static void check_message_add_request(struct check_fpdu *x, struct reads_request *q)
{
	struct reads *r = &x->me->reads;
	uint16_t limit = check_message_read_limit(x->s);

	q->frame = x->f->frame;
	q->time = x->f->time;
	reads_add(r, q);
	/*
	 * A response that the capture has not seen yet may have arrived where the request was sent
	 * when frames are out of order; but not when nothing is missing.
	 */
	if (!q->rtr && !r->unsure && r->counted > limit &&
		!cap_reassembly_behind(&stream_peer(x->s)->tcp))
		check_fail(x, REQ_RDMAP_6_1_4,
			"%u Reads and Atomic Operations are under way; the "
			"peer's IRD is %u",
			r->counted, limit);
}

static bool check_message_may_be_rtr(const struct check_fpdu *x)
{
	const struct stream_start *mine = &x->s->start, *peer = &stream_peer(x->s)->start;

	return x->f->number == 1 && !x->me->gap && stream_is_initiator(x->s) && mine->seen &&
	       (!mine->st.enhanced || mine->st.peer_to_peer) && peer->seen;
}

static void check_message_on_read_request(struct check_fpdu *x)
{
	struct reads_request q = {0};
	uint8_t p[RDMAP_READ_HEADER_LEN];

	if (x->f->unseen || describe_payload(x->f, p, sizeof p) < sizeof p) {
		q.blank = true;
	} else {
		q.sink_stag = load_be32(p + RDMAP_AT_SINK_STAG);
		q.sink_to = load_be64(p + RDMAP_AT_SINK_TO);
		q.size = load_be32(p + RDMAP_AT_SIZE);
		/* Also without RFC 6581: SMB Direct's clients begin with one. */
		q.rtr = q.size == 0 && check_message_may_be_rtr(x);
		if (!q.rtr && q.size != 0 && check_message_may_be_rtr(x) &&
			x->s->start.st.peer_to_peer)
			check_fail(x, REQ_MPA2_9_2_8, "the Read is of %u octets", q.size);
	}
	check_message_add_request(x, &q);
}

/* True if the peer's requests are all in the list. */
static bool check_message_requests_known(const struct check_fpdu *x)
{
	const struct stream *peer = stream_peer(x->s);

	return !x->peer->reads.unsure && !cap_reassembly_behind(&peer->tcp) &&
	       peer->phase == STREAM_FPDU;
}

static void check_message_no_request(struct check_fpdu *x, bool atomic)
{
	if (check_message_requests_known(x))
		check_fail(x, atomic ? REQ_RDMAX_5_2_1_11 : REQ_RDMAP_5_2_1,
			"a response, but no request is open");
}

/* The response that is due may not be this one: which is it, or what is wrong? */
static struct reads_request *check_message_mismatch(struct check_fpdu *x, struct reads_request *q)
{
	const struct ddp_segment *s = &x->f->segment;
	struct reads *r = &x->peer->reads;
	struct reads_request *other = reads_match(r, s->stag, s->to);

	if (r->unsure || !check_message_requests_known(x)) {
		/* The ones before it were answered unseen. */
		if (!other)
			return NULL;
		while (other != reads_oldest(r, false)) {
			reads_remove(r, reads_oldest(r, false));
			other = reads_match(r, s->stag, s->to);
		}
		other->placed = (uint32_t)(s->to - other->sink_to);
		r->unsure = false;
		return other;
	}
	if (other && other != q) {
		check_fail(x, REQ_RDMAP_5_5_10,
			"it answers the Read of frame %llu; that of frame "
			"%llu is due",
			(unsigned long long)other->frame, (unsigned long long)q->frame);
		return other;
	}
	if (s->stag != q->sink_stag)
		check_fail(x, REQ_RDMAP_4_4_2, "STag 0x%x; the Read of frame %llu has 0x%x",
			s->stag, (unsigned long long)q->frame, q->sink_stag);
	else
		check_fail(x, REQ_DDP_5_2_8, "TO 0x%llx; the Read of frame %llu goes on at 0x%llx",
			(unsigned long long)s->to, (unsigned long long)q->frame,
			(unsigned long long)(q->sink_to + q->placed));
	return q;
}

static void check_message_place_response(struct check_fpdu *x, struct reads_request *q)
{
	const struct ddp_segment *s = &x->f->segment;

	if (!q->blank && s->len > q->size - q->placed)
		check_fail(x, REQ_RDMAP_5_2_1_9, "%u octets; the Read of frame %llu has %u left",
			s->len, (unsigned long long)q->frame, q->size - q->placed);
	q->placed += s->len <= q->size - q->placed || q->blank ? s->len : q->size - q->placed;
	if (!s->last)
		return;
	if (!q->blank && q->placed != q->size)
		check_fail(x, q->size == 0 ? REQ_RDMAP_5_2_1_12 : REQ_RDMAP_5_2_1_9,
			"it ends after %u octets; the Read of frame %llu is of %u", q->placed,
			(unsigned long long)q->frame, q->size);
	reads_remove(&x->peer->reads, q);
}

static void check_message_on_read_response(struct check_fpdu *x)
{
	const struct ddp_segment *s = &x->f->segment;
	struct reads_request *q = reads_oldest(&x->peer->reads, false);

	if (!q) {
		check_message_no_request(x, false);
		return;
	}
	/* RFC 5041 section 5.2: STag and TO of an empty segment mean nothing. */
	if (s->len == 0 ? x->peer->reads.unsure && q->size != 0
			: !q->blank && (s->stag != q->sink_stag || s->to != q->sink_to + q->placed))
		q = s->len == 0 ? NULL : check_message_mismatch(x, q);
	if (q)
		check_message_place_response(x, q);
}

/* ---- Atomic Operations, Immediate Data ------------------------------------------------------ */

static void check_message_on_atomic_request(struct check_fpdu *x)
{
	struct reads_request q = {.atomic = true};
	uint8_t p[RDMAP_ATOMIC_REQUEST_LEN];
	uint32_t op;

	if (describe_payload(x->f, p, sizeof p) < sizeof p) {
		q.blank = true;
		check_message_add_request(x, &q);
		return;
	}
	op = load_be32(p + RDMAP_AT_ATOMIC_OPCODE);
	if ((op & RDMAP_ATOMIC_OPCODE_MASK) != RDMAP_ATOMIC_FETCH_ADD &&
		(op & RDMAP_ATOMIC_OPCODE_MASK) != RDMAP_ATOMIC_CMP_SWAP)
		check_fail(x, REQ_RDMAX_4_1_1, "atomic operation code %u",
			op & RDMAP_ATOMIC_OPCODE_MASK);
	if (op & ~(uint32_t)RDMAP_ATOMIC_OPCODE_MASK)
		check_fail(x, REQ_RDMAX_4_1_1,
			"reserved bits of the Atomic Request are set: 0x%08x", op);
	if (load_be64(p + RDMAP_AT_ATOMIC_TO) % RDMAP_ATOMIC_LEN != 0)
		check_note(x, "TO 0x%llx is not a multiple of 8; the address may be",
			(unsigned long long)load_be64(p + RDMAP_AT_ATOMIC_TO));
	q.id = load_be32(p + RDMAP_AT_ATOMIC_REQUEST_ID);
	check_message_add_request(x, &q);
}

static void check_message_on_atomic_response(struct check_fpdu *x)
{
	struct reads *r = &x->peer->reads;
	struct reads_request *q = reads_oldest(r, true);
	uint8_t p[RDMAP_ATOMIC_RESPONSE_LEN];
	uint32_t id;

	if (!q) {
		check_message_no_request(x, true);
		return;
	}
	if (describe_payload(x->f, p, sizeof p) == sizeof p && !q->blank) {
		id = load_be32(p + RDMAP_AT_ATOMIC_ORIGINAL_ID);
		while (q && r->unsure && q->id != id) {
			reads_remove(r, q);
			q = reads_oldest(r, true);
		}
		if (!q)
			return;
		if (q->id != id)
			check_fail(x, REQ_RDMAX_5_2_2_6,
				"Request Identifier %u; that of frame %llu, "
				"%u, is due",
				id, (unsigned long long)q->frame, q->id);
	}
	reads_remove(r, q);
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

/** @return true if a message of headers is all there. */
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
	/* In several segments: legal, seen nowhere, and not looked into. */
	return s->last && s->mo == 0;
}

void check_message(struct check_fpdu *x)
{
	if (!check_control(x))
		return;
	if (!check_length(x, rdmap_opcode_info(x->opcode)))
		return;
	switch (x->opcode) {
	case RDMAP_OP_READ_REQUEST:
		check_message_on_read_request(x);
		break;
	case RDMAP_OP_READ_RESPONSE:
		check_message_on_read_response(x);
		break;
	case RDMAP_OP_ATOMIC_REQUEST:
		check_message_on_atomic_request(x);
		break;
	case RDMAP_OP_ATOMIC_RESPONSE:
		check_message_on_atomic_response(x);
		break;
	case RDMAP_OP_TERMINATE:
		check_terminate(x);
		break;
	default:
		break;
	}
}
