/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA Reads and Atomic Operations, each response against its request: RFC 5040 sections 4.4
 * and 5.2, RFC 7306 section 5.
 *
 * A request that was not seen is known by the MSNs of queue 1, but not what it was; a response that
 * was not seen by nothing. Until it is certain again which request a response is for, none is
 * judged.
 */
#include "pcap/check.h"
#include "pcap/describe.h"

/** Requests kept while it is not known which of them are answered. */
#define UNSURE_MAX 256

void check_forget_reads(struct stream *s)
{
	struct check_side *me = check_side_of(s), *peer = check_side_of(stream_peer(s));

	/* Requests of this end, and responses to the peer's. */
	me->requests_missing = true;
	me->reads.unsure |= !me->requests_counted;
	peer->reads.unsure = true;
}

/* True if all that is under way is in the list, and nothing else. */
static bool check_read_is_sure(const struct reads *r)
{
	return !r->unsure && r->lost == 0 && r->early == 0;
}

bool check_reads_known(const struct stream *s)
{
	const struct check_side *me = check_side_of(s);

	return check_read_is_sure(&me->reads) && !me->requests_missing &&
	       check_has_all(stream_peer(s));
}

/* ---- requests ------------------------------------------------------------------------------- */

/* What the peer has announced to take at one time; UINT16_MAX: not known. */
static uint16_t check_read_limit(const struct stream *s)
{
	const struct stream_start *mine = &s->start, *peer = &stream_peer(s)->start;

	if (!mine->seen || !peer->seen || !mine->st.enhanced || !peer->st.enhanced ||
		peer->st.ird == MPA_DEPTH_UNKNOWN)
		return UINT16_MAX;
	return peer->st.ird;
}

/* What was sent between the last request that was seen and this one. */
static void check_read_add_unseen(struct check_fpdu *x)
{
	const struct reads_request lost = {.lost = true, .frame = x->f->frame};
	struct reads *r = &x->me->reads;
	uint32_t n = x->unseen_requests;

	x->me->requests_missing = false;
	if (!x->me->requests_counted || n < r->early || n - r->early > UNSURE_MAX) {
		r->unsure |= n != r->early;
		n = r->early;
	}
	x->me->requests_counted = true;
	for (n -= r->early; n != 0; n--)
		reads_add(r, &lost);
	r->early = 0;
}

static void check_read_add(struct check_fpdu *x, struct reads_request *q)
{
	struct reads *r = &x->me->reads;
	const struct stream_start *mine = &x->s->start;
	uint16_t limit = check_read_limit(x->s);

	if (x->me->requests_missing) {
		check_read_add_unseen(x);
	} else if (r->early != 0) {
		r->unsure = true; /* answers to what was not seen, but nothing is missing */
		r->early = 0;
	}
	q->frame = x->f->frame;
	q->time = x->f->time;
	reads_add(r, q);
	if (r->unsure && r->n > (limit < UNSURE_MAX ? limit : UNSURE_MAX))
		reads_remove(r, &r->list[0]);
	/*
	 * A response that the capture has not seen yet may have arrived where the request was sent
	 * when frames are out of order; but not when nothing is missing. The responder's ORD is
	 * what it uses; the initiator's was a first value, and may be as much as the responder's
	 * IRD (RFC 6581 section 9.1).
	 */
	if (q->rtr || !check_read_is_sure(r) || !check_has_parsed(x))
		return;
	if (r->counted > limit)
		check_fail(x, REQ_RDMAP_6_1_4,
			"%u Reads and Atomic Operations are under way; the "
			"peer's IRD is %u",
			r->counted, limit);
	else if (!stream_is_initiator(x->s) && mine->seen && mine->st.enhanced &&
		 mine->st.ord != MPA_DEPTH_UNKNOWN && r->counted > mine->st.ord)
		check_fail(x, REQ_RDMAP_6_1_4,
			"%u Reads and Atomic Operations are under way; its own ORD is %u",
			r->counted, mine->st.ord);
}

static bool check_read_may_be_rtr(const struct check_fpdu *x)
{
	const struct stream_start *mine = &x->s->start, *peer = &stream_peer(x->s)->start;

	return x->f->number == 1 && !x->me->gap && stream_is_initiator(x->s) && mine->seen &&
	       (!mine->st.enhanced || mine->st.peer_to_peer) && peer->seen;
}

static void check_read_request(struct check_fpdu *x, struct reads_request *q)
{
	uint8_t p[RDMAP_READ_HEADER_LEN];

	describe_payload(x->f, p, sizeof p);
	q->sink_stag = load_be32(p + RDMAP_AT_SINK_STAG);
	q->sink_to = load_be64(p + RDMAP_AT_SINK_TO);
	q->size = load_be32(p + RDMAP_AT_SIZE);
	/* Also without RFC 6581: SMB Direct's clients begin with one. */
	q->rtr = q->size == 0 && check_read_may_be_rtr(x);
	if (q->size != 0 && check_read_may_be_rtr(x) && x->s->start.st.peer_to_peer)
		check_fail(x, REQ_MPA2_9_2_8, "the Read is of %u octets", q->size);
}

static void check_atomic_request(struct check_fpdu *x, struct reads_request *q)
{
	uint8_t p[RDMAP_ATOMIC_REQUEST_LEN];
	uint32_t op;

	describe_payload(x->f, p, sizeof p);
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
	q->id = load_be32(p + RDMAP_AT_ATOMIC_REQUEST_ID);
}

void check_unknown_request(struct check_fpdu *x)
{
	struct reads_request q = {.lost = true};

	check_read_add(x, &q);
}

void check_request(struct check_fpdu *x)
{
	struct reads_request q = {.atomic = x->opcode == RDMAP_OP_ATOMIC_REQUEST};

	/* Cut off; or in several segments: legal, seen nowhere, and not looked into. */
	if (x->f->unseen || x->f->segment.mo != 0) {
		q.blank = true;
		q.rtr = !q.atomic && check_read_may_be_rtr(x);
	} else if (q.atomic) {
		check_atomic_request(x, &q);
	} else {
		check_read_request(x, &q);
	}
	check_read_add(x, &q);
}

/* ---- which request a response is for -------------------------------------------------------- */

/* True if the peer's requests are all in the list. */
static bool check_read_has_requests(const struct check_fpdu *x)
{
	return check_read_is_sure(&x->peer->reads) && !x->peer->requests_missing &&
	       check_has_parsed(x);
}

/* An answer to a request that was not seen, of which kind nobody knows. */
static void check_read_count_answer(struct check_fpdu *x)
{
	struct reads *r = &x->peer->reads;
	unsigned first, n = reads_after_lost(r, &first);

	if (!x->f->segment.last)
		return;
	if (n == 0) {
		r->early += x->peer->requests_missing || !check_has_parsed(x);
	} else if (++r->answers == n) {
		reads_truncate(r, first);
		r->answers = 0;
	}
}

/**
 * The request that is due, if it is certain which that is.
 * @return NULL: none, and that was told if it is wrong.
 */
static struct reads_request *check_read_due(struct check_fpdu *x, bool atomic)
{
	struct reads *r = &x->peer->reads;
	struct reads_request *q = reads_oldest(r, atomic);
	unsigned first;

	reads_after_lost(r, &first);
	if (q && q < r->list + first)
		return q;
	if (check_read_has_requests(x))
		check_fail(x, atomic ? REQ_RDMAX_5_2_1_11 : REQ_RDMAP_5_2_1,
			"a response, but no request is open");
	else
		check_read_count_answer(x);
	return NULL;
}

/* After responses that were not seen: one that only one request can be due for tells where we are.
 */
static void check_read_find(struct check_fpdu *x)
{
	const struct ddp_segment *s = &x->f->segment;
	struct reads *r = &x->peer->reads;
	struct reads_request *q;
	unsigned n;

	if (s->len == 0)
		return;
	n = reads_candidates(r, s->stag, s->to, &q);
	if (n == 0)
		return;
	/* The ones before it were answered unseen. */
	for (size_t before = (size_t)(q - r->list); before != 0; before--)
		reads_remove(r, &r->list[0]);
	q = r->list;
	if (n > 1 || q->blank || q->lost || x->peer->requests_missing ||
		x->peer->requests_counted == false)
		return;
	q->placed = (uint32_t)(s->to - q->sink_to);
	r->unsure = false;
}

/* ---- Reads ---------------------------------------------------------------------------------- */

/* The response that is due may not be this one: which is it, or what is wrong? */
static struct reads_request *check_read_mismatch(struct check_fpdu *x, struct reads_request *q)
{
	const struct ddp_segment *s = &x->f->segment;
	struct reads_request *other = reads_match(&x->peer->reads, s->stag, s->to);

	if (x->misplaced)
		return q; /* and told */
	if (other && other != q) {
		check_fail(x, REQ_RDMAP_5_5_10,
			"it answers the Read of frame %s; that of frame "
			"%s is due",
			check_frame(x, other->frame), check_frame(x, q->frame));
		return other;
	}
	if (s->stag != q->sink_stag)
		check_fail_header(x, DDP_AT_STAG, 4, REQ_RDMAP_4_4_2,
			"STag 0x%x; the Read of frame %s has 0x%x", s->stag,
			check_frame(x, q->frame), q->sink_stag);
	else
		check_fail_header(x, DDP_AT_TO, 8, REQ_DDP_5_2_8,
			"TO 0x%llx; the Read of frame %s goes on at 0x%llx",
			(unsigned long long)s->to, check_frame(x, q->frame),
			(unsigned long long)(q->sink_to + q->placed));
	/* The rest of its message may be right. */
	x->me->tagged_due = (struct check_message){
		.open = !s->last,
		.ulp = s->ulp,
		.ulp32 = q->sink_stag,
		.next = q->sink_to + q->placed + s->len,
	};
	return q;
}

static void check_read_place(struct check_fpdu *x, struct reads_request *q)
{
	const struct ddp_segment *s = &x->f->segment;

	if (!q->blank && s->len > q->size - q->placed)
		check_fail(x, REQ_RDMAP_5_2_1_9, "%u octets; the Read of frame %s has %u left",
			s->len, check_frame(x, q->frame), q->size - q->placed);
	q->placed += s->len <= q->size - q->placed || q->blank ? s->len : q->size - q->placed;
	if (!s->last)
		return;
	if (!q->blank && q->placed != q->size)
		check_fail(x, q->size == 0 ? REQ_RDMAP_5_2_1_12 : REQ_RDMAP_5_2_1_9,
			"it ends after %u octets; the Read of frame %s is of %u", q->placed,
			check_frame(x, q->frame), q->size);
	reads_remove(&x->peer->reads, q);
}

static void check_read_response(struct check_fpdu *x)
{
	const struct ddp_segment *s = &x->f->segment;
	struct reads_request *q;

	if (x->peer->reads.unsure)
		check_read_find(x);
	if (x->peer->reads.unsure)
		return;
	q = check_read_due(x, false);
	/* RFC 5041 section 5.2: STag and TO of an empty segment mean nothing. */
	if (q && s->len != 0 && !q->blank &&
		(s->stag != q->sink_stag || s->to != q->sink_to + q->placed))
		q = check_read_mismatch(x, q);
	if (q)
		check_read_place(x, q);
}

/* ---- Atomic Operations ---------------------------------------------------------------------- */

static void check_atomic_response(struct check_fpdu *x)
{
	struct reads_request *q;
	uint8_t p[RDMAP_ATOMIC_RESPONSE_LEN];
	uint32_t id;

	if (x->peer->reads.unsure)
		return;
	q = check_read_due(x, true);
	if (!q)
		return;
	if (describe_payload(x->f, p, sizeof p) == sizeof p && !q->blank) {
		id = load_be32(p + RDMAP_AT_ATOMIC_ORIGINAL_ID);
		if (q->id != id)
			check_fail(x, REQ_RDMAX_5_2_2_6,
				"Request Identifier %u; that of frame %s, "
				"%u, is due",
				id, check_frame(x, q->frame), q->id);
	}
	reads_remove(&x->peer->reads, q);
}

void check_response(struct check_fpdu *x)
{
	if (x->opcode == RDMAP_OP_READ_RESPONSE)
		check_read_response(x);
	else if (x->f->segment.mo == 0)
		check_atomic_response(x);
}
