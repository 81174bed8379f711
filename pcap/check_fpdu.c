/* SPDX-License-Identifier: BSD-2-Clause */
/* FPDUs: RFC 5044 sections 4 and 7.1.2, RFC 6581 section 9.2. */
#include "pcap/check.h"

/** Largest ULPDU (RFC 5044 section 3). */
#define ULPDU_LIMIT 64768

/* ---- markers -------------------------------------------------------------------------------- */

static void check_marker_bits(struct check_fpdu *x)
{
	const struct stream_fpdu *f = x->f;
	uint64_t end = f->at + f->fpdu.len;

	for (uint64_t at = f->at + mpa_marker_distance(f->at); at < end; at += MPA_MARKER_PERIOD) {
		struct mpa_cursor c = f->raw;
		uint8_t m[MPA_MARKER_LEN];

		mpa_cursor_pass(&c, at - f->at);
		mpa_cursor_copy(&c, m, sizeof m);
		if (load_be16(m) != 0)
			check_fail(x, REQ_MPA_4_2_2, "the marker at octet %llu says 0x%04x there",
				(unsigned long long)at, load_be16(m));
		if (m[3] & 3)
			check_fail(x, REQ_MPA_4_2_3, "FPDUPTR of the marker at octet %llu is %u",
				(unsigned long long)at, load_be16(m + MPA_AT_FPDUPTR));
	}
}

static void check_markers(struct check_fpdu *x)
{
	const struct mpa_fpdu *u = &x->f->fpdu;

	if (!x->f->markers || x->f->unseen)
		return;
	check_marker_bits(x);
	if (x->f->result != MPA_DEFRAME_MARKER)
		return;
	check_fail(x, u->fpduptr == 0 ? REQ_MPA_4_3_10 : REQ_MPA_4_3_3,
		"FPDUPTR of the marker at octet %llu should be %u",
		(unsigned long long)u->marker_at, u->fpduptr);
}

/* ---- when it may come ----------------------------------------------------------------------- */

/* What the segment did not acknowledge had not reached its sender. */
static bool check_fpdu_sent_before(const struct stream_fpdu *f, uint32_t end)
{
	return (int32_t)(f->ack - end) < 0;
}

static bool check_fpdu_is_rtr(const struct check_fpdu *x, uint8_t rtr)
{
	uint32_t len = x->f->segment.len;

	if (!x->f->segment.last)
		return false;
	switch (x->opcode) {
	case RDMAP_OP_SEND:
		return len == 0 && rtr & MPA_RTR_SEND;
	case RDMAP_OP_WRITE:
		return len == 0 && rtr & MPA_RTR_WRITE;
	case RDMAP_OP_READ_REQUEST:
		return rtr & MPA_RTR_READ; /* that it is of length 0 is seen in its header */
	default:
		return false;
	}
}

static void check_fpdu_first_of_initiator(struct check_fpdu *x)
{
	const struct stream_start *request = &x->s->start, *reply = &stream_peer(x->s)->start;
	uint8_t rtr;

	if (!reply->seen || !request->seen)
		return;
	if (check_fpdu_sent_before(x->f, reply->end))
		check_fail(x, REQ_MPA_7_1_2_8, "an FPDU before the Reply had arrived");
	if (!reply->st.peer_to_peer || !request->st.peer_to_peer || !x->f->header)
		return;
	rtr = request->st.rtr & reply->st.rtr;
	if (check_fpdu_is_rtr(x, rtr) || x->opcode == RDMAP_OP_TERMINATE)
		return;
	check_fail(x, REQ_MPA2_9_2_8,
		"its first FPDU is none of the RTR indications that both "
		"ends can do (%s%s%s)",
		rtr & MPA_RTR_SEND ? " Send" : "", rtr & MPA_RTR_WRITE ? " Write" : "",
		rtr & MPA_RTR_READ ? " Read" : "");
}

/* No window is as large: what the peer has sent so long after its first FPDU tells that it came,
 * and sequence numbers do not any more. */
static bool check_fpdu_is_first_long_ago(const struct check_fpdu *x)
{
	return stream_peer(x->s)->deframe.at - x->peer->first_at >= REASSEMBLY_WINDOW_MAX;
}

static void check_fpdu_first_of_responder(struct check_fpdu *x)
{
	const struct stream *peer = stream_peer(x->s);

	if (x->peer->first && !check_fpdu_is_first_long_ago(x) &&
		check_fpdu_sent_before(x->f, x->peer->first_end))
		check_fail(x, REQ_MPA_7_1_2_12, "the initiator's first FPDU had not arrived");
	else if (!x->peer->first && !x->peer->gap && peer->start.seen && x->peer->fpdus == 0 &&
		 x->f->ack == peer->start.end)
		check_fail(x, REQ_MPA_7_1_2_12, "the initiator has not sent any");
}

static void check_first(struct check_fpdu *x)
{
	if (x->f->number != 1 || x->me->gap || x->s->c->initiator < 0)
		return;
	x->me->first = true;
	x->me->first_end = x->f->end_seq;
	x->me->first_at = x->f->at + x->f->fpdu.len;
	if (stream_is_initiator(x->s))
		check_fpdu_first_of_initiator(x);
	else
		check_fpdu_first_of_responder(x);
}

/* ---- the frame itself ----------------------------------------------------------------------- */

void check_count(struct check_fpdu *x)
{
	x->me->fpdus++;
	x->me->unaligned += !x->f->aligned;
	x->me->unseen += x->f->unseen;
	x->me->cut += x->f->segments > 1;
}

void check_framing(struct check_fpdu *x)
{
	const struct stream_fpdu *f = x->f;

	check_first(x);
	check_count(x);
	if (x->me->terminated)
		check_fail(x, REQ_RDMAP_5_4_7, "after its Terminate in frame %s",
			check_frame(x, x->me->terminate_frame));
	if (f->result == MPA_DEFRAME_CRC)
		check_fail(x, REQ_MPA_4_4_11, "the CRC of FPDU %llu is wrong%s",
			(unsigned long long)f->number, f->crc_zero ? ": it is zero" : "");
	check_markers(x);
	if (f->pad_dirty)
		check_fail(x, REQ_MPA_4_1_2, "the pad is not zero");
	if (f->fpdu.ulpdu.len > ULPDU_LIMIT)
		check_fail(x, REQ_MPA_3_5, "a ULPDU of %u octets", f->fpdu.ulpdu.len);
}
