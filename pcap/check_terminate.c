/* SPDX-License-Identifier: BSD-2-Clause */
/* Terminate: RFC 5040 sections 4.8 and 7.1. */
#include "pcap/check.h"
#include "pcap/describe.h"

#include "rdmap/term_code.h"

#include <stdlib.h>

#define HDRCT_RESERVED 0x1f

/* Error types and codes that say something of the quoted header: RFC 5040 Figure 9. */
#define TERM_DDP_TAGGED       1
#define TERM_DDP_UNTAGGED     2
#define TERM_TAGGED_VERSION   4
#define TERM_UNTAGGED_VERSION 6
#define TERM_UNTAGGED_QN      1
#define TERM_RDMA_OPERATION   2
#define TERM_RDMA_VERSION     5

/** Headers that are kept at first. */
#define CHECK_QUOTABLE_MIN 4

/** Room for a Terminate with all that it may carry. */
#define TERMINATE_LEN \
	(RDMAP_TERM_HEADER_LEN + RDMAP_TERM_LENGTH_LEN + DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN)

/* Few at first: most connections of a large capture have few FPDUs, and no Terminate. */
static struct check_quotable *check_quotable_next(struct check_side *me)
{
	if (me->quoted == me->cap_quotable && me->cap_quotable != CHECK_QUOTABLE) {
		unsigned cap = me->cap_quotable == 0 ? CHECK_QUOTABLE_MIN : 4 * me->cap_quotable;
		struct check_quotable *more = realloc(me->quotable, cap * sizeof *more);

		if (!more) {
			me->quoted = CHECK_QUOTABLE + 1; /* some are not kept */
			return NULL;
		}
		me->quotable = more;
		me->cap_quotable = cap;
	}
	/* None, if there was no memory for the first. */
	return me->cap_quotable == 0 ? NULL : &me->quotable[me->quoted++ % me->cap_quotable];
}

void check_forget_quotable(struct check_side *side)
{
	free(side->quotable);
	side->quotable = NULL;
	side->cap_quotable = 0;
}

void check_remember(struct check_fpdu *x)
{
	struct check_quotable *q = x->kept = check_quotable_next(x->me);
	const struct ddp_segment *s = &x->f->segment;

	if (!q)
		return;
	q->bad_crc = x->f->result == MPA_DEFRAME_CRC;
	q->doubted = 0;
	q->header_len = 0;
	if (!x->f->header || x->f->ddp == DDP_ERROR_SHORT)
		return;
	q->ulpdu_len = (uint16_t)x->f->fpdu.ulpdu.len;
	q->header_len = s->header_len;
	ddp_copy_header(s, q->header);
	q->read = x->opcode == RDMAP_OP_READ_REQUEST &&
		  describe_payload(x->f, q->read_header, sizeof q->read_header) ==
			  sizeof q->read_header;
}

void check_doubt(struct check_fpdu *x, unsigned at, unsigned n)
{
	if (x->kept)
		x->kept->doubted |= ((1u << n) - 1) << at;
}

/* ---- the quote ------------------------------------------------------------------------------ */

struct quote {
	uint16_t length;
	const uint8_t *header;
	size_t header_len;
	const uint8_t *read_header; /**< NULL: none */
};

static bool check_terminate_is_of(
	const struct check_quotable *c, const struct quote *q, uint32_t doubted)
{
	if (c->header_len != q->header_len)
		return false;
	for (unsigned i = 0; i < c->header_len; i++)
		if (c->header[i] != q->header[i] && !(doubted >> i & 1))
			return false;
	return true;
}

/* What its sender got wrong may be quoted as it should have been: that is nobody's second error. */
static bool check_terminate_is_doubtful(const struct check_side *peer, const struct quote *q)
{
	for (unsigned i = 0; i < peer->cap_quotable && i < peer->quoted; i++)
		if (check_terminate_is_of(&peer->quotable[i], q, peer->quotable[i].doubted))
			return true;
	return false;
}

/* A tagged segment may come again with another length: one that has the quoted length is meant. */
static const struct check_quotable *check_terminate_find(
	const struct check_side *peer, const struct quote *q)
{
	const struct check_quotable *other = NULL;

	for (unsigned i = 0; i < peer->cap_quotable && i < peer->quoted; i++) {
		const struct check_quotable *c = &peer->quotable[i];

		if (!check_terminate_is_of(c, q, 0))
			continue;
		if (c->ulpdu_len == q->length)
			return c;
		other = c;
	}
	return other;
}

/* The source STag and sink STag stay, sizes and offsets tell how far it came (section 4.8). */
static bool check_terminate_is_of_read(const uint8_t *quoted, const uint8_t *sent)
{
	uint32_t done = load_be32(sent + RDMAP_AT_SIZE) - load_be32(quoted + RDMAP_AT_SIZE);

	return load_be32(quoted + RDMAP_AT_SINK_STAG) == load_be32(sent + RDMAP_AT_SINK_STAG) &&
	       load_be32(quoted + RDMAP_AT_SOURCE_STAG) == load_be32(sent + RDMAP_AT_SOURCE_STAG) &&
	       load_be64(quoted + RDMAP_AT_SINK_TO) == load_be64(sent + RDMAP_AT_SINK_TO) + done &&
	       load_be64(quoted + RDMAP_AT_SOURCE_TO) ==
		       load_be64(sent + RDMAP_AT_SOURCE_TO) + done;
}

static void check_quote(struct check_fpdu *x, const struct quote *q)
{
	const struct check_quotable *c = check_terminate_find(x->peer, q);
	bool read = q->read_header != NULL;

	if (!c && check_terminate_is_doubtful(x->peer, q))
		return;
	if (!c) {
		/* It may be older than what was kept, or lie in a hole. */
		if (x->peer->quoted <= CHECK_QUOTABLE && x->peer->unseen == 0 &&
			check_has_all(stream_peer(x->s)) && check_has_parsed(x))
			check_fail(x, read ? REQ_RDMAP_7_1_5 : REQ_RDMAP_7_1_4,
				"the DDP header that it quotes was not sent");
		return;
	}
	if (q->length != c->ulpdu_len && !c->bad_crc)
		check_fail(x, REQ_RDMAP_4_8_8, "DDP Segment Length %u; the segment has %u%s",
			q->length, c->ulpdu_len,
			q->length + c->header_len == c->ulpdu_len ? " with its header" : "");
	if (read && (x->peer->unseen != 0 || x->peer->gap))
		return; /* it may be in what was not seen */
	if (read && (!c->read || !check_terminate_is_of_read(q->read_header, c->read_header)))
		check_fail(
			x, REQ_RDMAP_7_1_5, "the Read Request header that it quotes was not sent");
}

/* ---- the bits, by Figure 10 ----------------------------------------------------------------- */

static void check_terminate_bits(
	struct check_fpdu *x, const struct rdmap_term *t, const struct quote *q)
{
	bool none = t->layer == RDMAP_LAYER_LLP ||
		    (t->layer == RDMAP_LAYER_RDMA && t->etype == RDMAP_ETYPE_CATASTROPHIC);
	/* Atomic Requests come in the same queue, but their header is not quoted (RFC 7306 8.2). */
	bool read = q->header_len == DDP_UNTAGGED_LEN &&
		    (q->header[DDP_AT_ULP] & RDMAP_CONTROL_OPCODE) == RDMAP_OP_READ_REQUEST;

	if (t->length_valid != t->ddp_header)
		check_fail(x, t->ddp_header ? REQ_RDMAP_4_8_4 : REQ_RDMAP_4_8_5,
			"M and D differ; both go with the DDP header");
	if (none && (t->ddp_header || t->rdmap_header))
		check_fail(x, t->ddp_header ? REQ_RDMAP_4_8_5 : REQ_RDMAP_4_8_6,
			"a header is quoted, which errors of this kind have not");
	if (t->layer == RDMAP_LAYER_DDP && t->etype != 0 && !t->ddp_header)
		check_fail(x, REQ_RDMAP_4_8_5, "no DDP header is quoted");
	if (t->rdmap_header && (t->layer != RDMAP_LAYER_RDMA || t->etype != RDMAP_ETYPE_PROTECTION))
		check_fail(
			x, REQ_RDMAP_4_8_6, "R is set, which only Remote Protection Errors have");
	if (!t->rdmap_header && t->layer == RDMAP_LAYER_RDMA &&
		t->etype == RDMAP_ETYPE_PROTECTION && read)
		check_fail(x, REQ_RDMAP_4_8_6, "the Read Request header is not quoted");
}

/** What M, D and R say is there. @return false: it is not, and that was told. */
static bool check_terminate_read_quote(struct check_fpdu *x, const struct rdmap_term *t,
	const uint8_t *p, size_t len, struct quote *q)
{
	size_t at = RDMAP_TERM_HEADER_LEN;

	*q = (struct quote){0};
	if (t->length_valid || t->ddp_header) {
		if (len - at < RDMAP_TERM_LENGTH_LEN) {
			check_fail(x, REQ_RDMAP_4_8_9, "it ends before the DDP Segment Length");
			return false;
		}
		q->length = load_be16(p + at);
		at += RDMAP_TERM_LENGTH_LEN;
	}
	if (t->ddp_header) {
		q->header_len = len == at                    ? 1
				: p[at] & DDP_CONTROL_TAGGED ? DDP_TAGGED_LEN
							     : DDP_UNTAGGED_LEN;
		if (len - at < q->header_len) {
			check_fail(x, REQ_RDMAP_4_8_10, "it ends within the DDP header");
			return false;
		}
		q->header = p + at;
		at += q->header_len;
	}
	if (t->rdmap_header) {
		if (len - at < RDMAP_READ_HEADER_LEN) {
			check_fail(x, REQ_RDMAP_4_8_11, "it ends within the RDMA header");
			return false;
		}
		q->read_header = p + at;
		at += RDMAP_READ_HEADER_LEN;
	}
	if (at != len)
		check_fail(x, REQ_RDMAP_4_8_1, "%zu octets more than its header bits tell of",
			len - at);
	return true;
}

/* ---- the codes ------------------------------------------------------------------------------ */

static void check_codes(struct check_fpdu *x, const uint8_t *p, const struct rdmap_term *t)
{
	unsigned layer = p[RDMAP_AT_TERM_TYPE] >> 4, etype = p[RDMAP_AT_TERM_TYPE] & 0xf;
	unsigned reserved = (p[RDMAP_AT_TERM_HDRCT] & HDRCT_RESERVED) | p[RDMAP_AT_TERM_HDRCT + 1];

	if (t->swapped) {
		const struct rdmap_term_code *c = rdmap_term_code(t->layer, t->etype, t->code);

		check_fail(x, REQ_RDMAP_4_8_2,
			"Layer %u and EType %u have changed places, as in "
			"Linux siw; meant is %s",
			etype, layer, c ? c->name : "nothing known");
	} else if (!rdmap_term_code((uint8_t)layer, (uint8_t)etype, t->code)) {
		check_fail(x, REQ_RDMAP_4_8_3, "layer %u, type %u, code 0x%02x is no error", layer,
			etype, t->code);
	}
	if (reserved != 0)
		check_fail(x, REQ_RDMAP_4_8_7, "header control is 0x%02x%02x",
			p[RDMAP_AT_TERM_HDRCT], p[RDMAP_AT_TERM_HDRCT + 1]);
}

/* What the error says of the quoted segment, and the segment does not show. NULL: it does. */
static const char *check_terminate_contradiction(const struct rdmap_term *t, const struct quote *q)
{
	uint8_t control = q->header[DDP_AT_CONTROL], ulp = q->header[DDP_AT_ULP];
	bool tagged = control & DDP_CONTROL_TAGGED;
	bool ddp = t->layer == RDMAP_LAYER_DDP;

	if (ddp && (t->etype == TERM_DDP_TAGGED || t->etype == TERM_DDP_UNTAGGED) &&
		tagged != (t->etype == TERM_DDP_TAGGED))
		return tagged ? "tagged" : "untagged";
	if (ddp && t->code == (tagged ? TERM_TAGGED_VERSION : TERM_UNTAGGED_VERSION) &&
		t->etype != 0 && (control & DDP_CONTROL_VERSION) == DDP_VERSION)
		return "of DDP version 1";
	if (ddp && t->etype == TERM_DDP_UNTAGGED && t->code == TERM_UNTAGGED_QN &&
		load_be32(q->header + DDP_AT_QN) <= RDMAP_QN_TERMINATE)
		return "of a queue that there is";
	if (t->layer == RDMAP_LAYER_RDMA && t->etype == TERM_RDMA_OPERATION &&
		t->code == TERM_RDMA_VERSION && ulp >> RDMAP_CONTROL_VERSION_SHIFT == RDMAP_VERSION)
		return "of RDMA version 1";
	return NULL;
}

static void check_terminate_sense(
	struct check_fpdu *x, const struct rdmap_term *t, const struct quote *q)
{
	const struct rdmap_term_code *code = rdmap_term_code(t->layer, t->etype, t->code);
	const char *what = check_terminate_contradiction(t, q);

	if (what)
		check_fail(x, REQ_RDMAP_4_8_3, "it says \"%s\" of a segment that is %s",
			code ? code->name : "?", what);
}

void check_terminate(struct check_fpdu *x)
{
	uint8_t p[TERMINATE_LEN] = {0};
	size_t len = describe_payload(x->f, p, sizeof p);
	struct rdmap_term t;
	struct quote q;

	x->me->terminated = true;
	x->me->terminate_frame = x->f->frame;
	if (len < RDMAP_TERM_HEADER_LEN)
		return; /* not in the capture */
	t = rdmap_term_read(p, x->f->number == 1 && stream_is_initiator(x->s));
	check_codes(x, p, &t);
	if (!check_terminate_read_quote(x, &t, p, len, &q))
		return;
	check_terminate_bits(x, &t, &q);
	if (q.header) {
		check_quote(x, &q);
		if (!t.swapped)
			check_terminate_sense(x, &t, &q);
	}
}
