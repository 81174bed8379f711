/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/describe.h"
#include "pcap/replay.h"

#include "rdmap/term_code.h"

static const char *replay_answer_code_name(uint8_t layer, uint8_t etype, uint8_t code)
{
	const struct rdmap_term_code *c = rdmap_term_code(layer, etype, code);

	return c ? c->name : "an error of no RFC";
}

/* ---- what our stack sends ------------------------------------------------------------------- */

static void replay_answer_on_response(struct replay_session *x, const struct ddp_segment *s)
{
	struct reads_request *q = reads_oldest(&x->asked, false);

	if (!q) {
		replay_differs(x, "our stack sends a Read Response that nobody asked for");
		return;
	}
	if (s->len != 0 && (s->stag != q->sink_stag || s->to != q->sink_to + q->placed ||
				   s->len > q->size - q->placed))
		replay_differs(x,
			"our Read Response goes to STag 0x%x, TO 0x%llx, %u octets; the Read of "
			"frame "
			"%llu is for 0x%x, 0x%llx, %u",
			s->stag, (unsigned long long)s->to, s->len, (unsigned long long)q->frame,
			q->sink_stag, (unsigned long long)(q->sink_to + q->placed),
			q->size - q->placed);
	q->placed += s->len;
	if (!s->last)
		return;
	if (q->placed != q->size)
		replay_differs(x,
			"our Read Response has %u octets; the Read of frame %llu is of %u",
			q->placed, (unsigned long long)q->frame, q->size);
	reads_remove(&x->asked, q);
	x->answered++;
}

/* The start-up frame: what it says of itself, in the bits that the capture's has. */
static void replay_answer_on_start_frame(struct replay_session *x, const uint8_t *p, size_t len)
{
	const struct stream_start *st = &x->ours->start;
	struct stream_start mine = *st;
	const char *reason;
	struct line l = {0}, m = {0};
	size_t need;

	if (mpa_startup_parse(st->kind, p, len, &mine.st, &need, &reason) <= 0) {
		replay_differs(x, "our start-up frame is not one");
		return;
	}
	mine.flags = p[MPA_AT_FLAGS];
	mine.revision = p[MPA_AT_REVISION];
	mine.pd_length = load_be16(p + MPA_AT_PD_LENGTH);
	if (mine.st.enhanced) {
		mine.words[0] = load_be16(p + MPA_AT_PRIVATE_DATA + MPA_AT_IRD);
		mine.words[1] = load_be16(p + MPA_AT_PRIVATE_DATA + MPA_AT_ORD);
	}
	describe_start(&l, st);
	describe_start(&m, &mine);
	if (strcmp(l.text, m.text) != 0)
		fprintf(x->w->out, "  note: our %s\n        theirs %s\n", m.text, l.text);
}

void replay_sent(void *ctx, const uint8_t *record, size_t len)
{
	struct replay_session *x = ctx;
	struct llp_iov v = {.base = record, .len = len};
	struct mpa_cursor c = {.v = &v, .n = 1};
	struct mpa_deframe d = x->mpa.rx;
	struct mpa_fpdu f;
	struct ddp_segment s;

	if (!x->started) {
		replay_answer_on_start_frame(x, record, len);
		return;
	}
	/* Without markers a record is an FPDU by itself; with them its place counts. */
	d.crc = x->mpa.tx.crc;
	d.markers = x->mpa.tx.markers;
	d.at = x->sent_at;
	x->sent_at += len;
	if (mpa_deframe_look(&d, &c, len, &f) != MPA_DEFRAME_GOOD || f.len != len) {
		replay_differs(x, "our stack sends an FPDU that is not good");
		return;
	}
	if (ddp_parse(&s, &f.ulpdu) != DDP_OK)
		replay_differs(x, "our stack sends a segment without a DDP header");
	else if ((s.ulp & RDMAP_CONTROL_OPCODE) == RDMAP_OP_READ_RESPONSE)
		replay_answer_on_response(x, &s);
	else if ((s.ulp & RDMAP_CONTROL_OPCODE) == RDMAP_OP_ATOMIC_RESPONSE)
		x->answered++;
}

/* ---- what the capture says ------------------------------------------------------------------ */

bool replay_asked(struct replay_session *x, const struct stream_fpdu *f)
{
	struct reads_request q = {.frame = f->frame};
	uint8_t p[RDMAP_READ_HEADER_LEN];

	uint8_t opcode = f->segment.ulp & RDMAP_CONTROL_OPCODE;

	x->requests += opcode == RDMAP_OP_READ_REQUEST || opcode == RDMAP_OP_ATOMIC_REQUEST;
	if (opcode != RDMAP_OP_READ_REQUEST || describe_payload(f, p, sizeof p) < sizeof p)
		return true;
	q.sink_stag = load_be32(p + RDMAP_AT_SINK_STAG);
	q.sink_to = load_be64(p + RDMAP_AT_SINK_TO);
	q.size = load_be32(p + RDMAP_AT_SIZE);
	reads_add(&x->asked, &q);
	return replay_owe(x, q.size);
}

/* True for errors that only memory, rights and buffers make, which a capture does not tell. */
static bool replay_answer_needs_memory(const struct rdmap_end *t)
{
	return (t->layer == RDMAP_LAYER_RDMA &&
		       (t->etype != RDMAP_ETYPE_OPERATION || t->code == RDMAP_CODE_UNSPECIFIED ||
			       t->code == RDMAP_CODE_CANNOT_INVALIDATE)) ||
	       (t->layer == RDMAP_LAYER_DDP && (t->etype != DDP_ERROR_INVALID_QN >> 8 ||
						       t->code == (uint8_t)DDP_ERROR_NO_BUFFER ||
						       t->code == (uint8_t)DDP_ERROR_TOO_LONG));
}

void replay_expected(struct replay_session *x, const struct stream_fpdu *f)
{
	const struct ddp_segment *s = &f->segment;
	uint8_t opcode = s->ulp & RDMAP_CONTROL_OPCODE, p[RDMAP_TERM_HEADER_LEN];
	struct rdmap_term t;
	struct rdmap_end end;

	/* What answers nothing is no model for us. */
	if ((opcode == RDMAP_OP_READ_RESPONSE || opcode == RDMAP_OP_ATOMIC_RESPONSE) && s->last)
		x->expected += x->expected < x->requests;
	if (opcode != RDMAP_OP_TERMINATE || describe_payload(f, p, sizeof p) < sizeof p)
		return;
	t = rdmap_term_read(p, f->number == 1 && stream_is_initiator(x->ours));
	x->expect_terminate = true;
	end = (struct rdmap_end){.layer = t.layer, .etype = t.etype, .code = t.code};
	if (x->terminated && (end.layer != x->terminate.layer || end.etype != x->terminate.etype ||
				     end.code != x->terminate.code))
		replay_differs(x, "our Terminate says \"%s\", the captured one \"%s\"",
			replay_answer_code_name(
				x->terminate.layer, x->terminate.etype, x->terminate.code),
			replay_answer_code_name(end.layer, end.etype, end.code));
	else if (!x->terminated && replay_answer_needs_memory(&end))
		fprintf(x->w->out,
			"  note: the captured Terminate (%s) comes of memory or buffers, of which "
			"the "
			"capture does not tell\n",
			replay_answer_code_name(end.layer, end.etype, end.code));
	else if (!x->terminated)
		replay_differs(x, "our stack accepts what was answered by a Terminate: %s",
			replay_answer_code_name(end.layer, end.etype, end.code));
}

void replay_judge(struct replay_session *x)
{
	if (x->terminated && !x->expect_terminate)
		replay_differs(x, "our stack ends the stream: %s",
			replay_answer_code_name(
				x->terminate.layer, x->terminate.etype, x->terminate.code));
	if (!x->terminated && !x->expect_terminate && x->answered < x->expected)
		replay_differs(x, "our stack answered %llu Reads; the capture has %llu answers",
			(unsigned long long)x->answered, (unsigned long long)x->expected);
}
