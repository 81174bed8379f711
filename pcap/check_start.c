/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA's start-up: RFC 5044 section 7.1, RFC 6581 sections 6, 9 and 10. */
#include "pcap/check.h"

#define RES_5044 0x1f /* with what became S */
#define RES_6581 0x0f

struct place {
	struct check *k;
	struct stream *s;
	const struct stream_start *st;
};

#define fail(x, id, ...)                                                                      \
	report_violation(&(x)->k->report,                                                     \
		&(struct report_place){                                                       \
			(x)->s, (x)->st->frame, (x)->st->time, (x)->st->bytes, (x)->st->len}, \
		id, check_told((x)->s, id), __VA_ARGS__)

#define note(x, ...)                                                                          \
	report_note(&(x)->k->report,                                                          \
		&(struct report_place){                                                       \
			(x)->s, (x)->st->frame, (x)->st->time, (x)->st->bytes, (x)->st->len}, \
		__VA_ARGS__)

/* ---- the frame by itself -------------------------------------------------------------------- */

/* What could not be taken at all (mpa/startup.c). */
static void check_start_bad_frame(const struct place *x)
{
	const struct stream_start *st = x->st;

	if (st->len < MPA_HEADER_LEN || memcmp(st->bytes, "MPA ID Re", 9) != 0)
		fail(x, stream_is_initiator(x->s) ? REQ_MPA_7_1_1_1 : REQ_MPA_7_1_1_3,
			"%s where its start-up frame is due", st->error);
	else if (st->revision > 2)
		fail(x, REQ_MPA_7_1_1_12, "revision %u", st->revision);
	else if (st->pd_length > MPA_PRIVATE_MAX)
		fail(x, REQ_MPA_7_1_1_17, "PD_Length is %u", st->pd_length);
	else
		fail(x, REQ_MPA2_6_5, "the S bit, but %u octets of private data", st->pd_length);
}

/* As uiwarps use the reserved bits among themselves (docs/connect.md). */
static bool check_start_is_send_imm(const struct place *x)
{
	const struct stream_start *peer = &stream_peer(x->s)->start;

	return x->st->st.send_imm &&
	       (x->st->kind == MPA_FRAME_REQUEST || !peer->seen || peer->st.send_imm);
}

static void check_start_bits(const struct place *x)
{
	const struct stream_start *st = x->st;

	if (st->revision < 2 && st->flags & MPA_FLAG_ENHANCED)
		fail(x, REQ_MPA2_6_3, "the S bit in revision %u", st->revision);
	if (st->flags & RES_6581 && !check_start_is_send_imm(x))
		fail(x, st->revision < 2 ? REQ_MPA_7_1_1_11 : REQ_MPA2_6_1,
			"reserved bits 0x%02x are set", st->flags & RES_5044);
	if (st->kind == MPA_FRAME_REQUEST && st->flags & MPA_FLAG_REJECT)
		note(x, "the R bit is set in a Request, where it means nothing");
	if (st->revision == 0)
		note(x, "revision 0, the RDMA Consortium's");
}

static bool check_start_has_rtr(const struct stream_start *st)
{
	return st->words[0] & MPA_IRD_RTR_SEND || st->words[1] & ~MPA_DEPTH_MASK;
}

static void check_words(const struct place *x)
{
	const struct stream_start *st = x->st;
	bool p2p = st->words[0] & MPA_IRD_PEER_TO_PEER;

	if (!st->st.enhanced)
		return;
	if (!p2p && check_start_has_rtr(st))
		fail(x, REQ_MPA2_9_2_13, "flags 0x%04x 0x%04x", st->words[0], st->words[1]);
	if (p2p && !check_start_has_rtr(st)) {
		if (st->st.reject)
			return; /* as check_model() */
		if (st->kind == MPA_FRAME_REPLY)
			fail(x, REQ_MPA2_9_2_7, "A is set, and neither B, C nor D");
		else
			note(x, "A is set, and neither B, C nor D: no RTR indication is offered");
	}
}

/* ---- the reply to the request --------------------------------------------------------------- */

static void check_depths(
	const struct place *x, const struct mpa_start *request, const struct mpa_start *reply)
{
	if (reply->reject)
		return; /* it may tell here what it would need: RFC 6581 section 9.1 */
	if (request->ird == MPA_DEPTH_UNKNOWN) {
		if (reply->ord != MPA_DEPTH_UNKNOWN)
			fail(x, REQ_MPA2_9_1_11, "ORD is %u", reply->ord);
	} else if (reply->ord > request->ird) {
		fail(x, REQ_MPA2_9_1_3, "ORD is %u, the initiator's IRD %u", reply->ord,
			request->ird);
	}
	if (request->ord == MPA_DEPTH_UNKNOWN && reply->ird != MPA_DEPTH_UNKNOWN)
		fail(x, REQ_MPA2_9_1_9, "IRD is %u", reply->ird);
	else if (request->ord != MPA_DEPTH_UNKNOWN && reply->ird < request->ord)
		note(x, "IRD is %u, less than the initiator's ORD of %u", reply->ird, request->ord);
}

static void check_model(
	const struct place *x, const struct mpa_start *request, const struct mpa_start *reply)
{
	/* A and the others tell of the connection that there will be, and there will be none. */
	if (reply->reject)
		return;
	if (request->peer_to_peer && !reply->peer_to_peer)
		fail(x, REQ_MPA2_9_2_4, "A is not set");
	else if (!request->peer_to_peer && reply->peer_to_peer)
		fail(x, REQ_MPA2_9_2_12, "A is set");
	else if (request->peer_to_peer && !(request->rtr & reply->rtr))
		note(x, "no RTR indication that both ends can do");
}

static void check_pair(const struct place *x, const struct stream_start *request)
{
	const struct stream_start *reply = x->st;

	if (reply->revision > request->revision)
		note(x, "revision %u in answer to revision %u", reply->revision, request->revision);
	if (reply->st.enhanced && !request->st.enhanced)
		fail(x, REQ_MPA2_10_6, "the S bit in answer to a request without it");
	else if (!reply->st.enhanced && request->st.enhanced && !reply->st.reject)
		fail(x, REQ_MPA2_10_5, "no S bit, revision %u", reply->revision);
	if (reply->st.enhanced && request->st.enhanced) {
		check_depths(x, &request->st, &reply->st);
		check_model(x, &request->st, &reply->st);
	}
	if (!reply->st.reject && !reply->st.crc && !request->st.crc)
		note(x, "CRCs are off: neither end asks for them");
}

/* A reply was sent before the request was there if its segment does not acknowledge all of it. */
static void check_turn(const struct place *x, const struct stream_start *request)
{
	if ((int32_t)(x->st->ack - request->end) < 0)
		fail(x, REQ_MPA_7_1_2_2, "sent before the whole Request was there");
}

void check_start(struct check *k, struct stream *s)
{
	const struct stream_start *peer = &stream_peer(s)->start;
	struct place x = {k, s, &s->start};

	if (s->start.error) {
		check_start_bad_frame(&x);
		return;
	}
	if (s->start.near_key)
		fail(&x, s->start.kind == MPA_FRAME_REQUEST ? REQ_MPA_7_1_1_1 : REQ_MPA_7_1_1_3,
			"the key has wrong octets");
	check_start_bits(&x);
	check_words(&x);
	if (s->start.kind == MPA_FRAME_REQUEST && !stream_is_initiator(s))
		fail(&x, REQ_MPA_7_1_1_3,
			"a Request in answer to a Request: both ends are initiators");
	if (s->start.kind == MPA_FRAME_REPLY && stream_is_initiator(s))
		fail(&x, REQ_MPA_7_1_1_1, "a Reply where a Request is due");
	if (!peer->seen || peer->error || peer->kind == s->start.kind)
		return;
	if (s->start.kind == MPA_FRAME_REQUEST) {
		/* The Reply was sent, and seen, before it. */
		x = (struct place){k, stream_peer(s), peer};
		peer = &s->start;
	}
	check_turn(&x, peer);
	check_pair(&x, peer);
}
