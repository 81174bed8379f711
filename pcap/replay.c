/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/replay.h"

#include "pcap/line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

void replay_differs(struct replay_session *x, const char *format, ...)
{
	va_list args;

	x->w->differences++;
	fprintf(x->w->out, "  differs: frame %llu: ", (unsigned long long)x->frame);
	va_start(args, format);
	vfprintf(x->w->out, format, args);
	va_end(args);
	putc('\n', x->w->out);
}

void replay_stop(struct replay_session *x, const char *why)
{
	fprintf(x->w->out, "  note: frame %llu: not replayed from here: %s\n",
		(unsigned long long)x->theirs->c->frame, why);
	x->stopped = true;
}

bool replay_owe(struct replay_session *x, uint32_t len)
{
	x->owed += len;
	if (x->owed > REPLAY_OWED_MAX)
		replay_stop(x, "more is asked for than the capture has");
	return !x->stopped;
}

/* ---- our RDMAP's QP: all memory is good, and none of it is kept ------------------------------ */

static int replay_stag_check(
	void *user, uint32_t stag, uint64_t to, uint32_t len, unsigned access, uint8_t **mem)
{
	struct replay_session *x = user;

	if (len != 0 && len - 1 > UINT64_MAX - to)
		return -EOVERFLOW;
	if (len > sizeof x->memory - RDMAP_ATOMIC_LEN)
		return -ERANGE;
	/* Aligned as its address: in verbs that is the TO (RFC 7306 section 5.1 minds). */
	*mem = x->memory + to % RDMAP_ATOMIC_LEN;
	return 0;
}

static int replay_stag_invalidate(void *user, uint32_t stag, bool remote)
{
	return 0;
}

static int replay_local_op(void *user, struct rdmap_wqe *w)
{
	return RDMAP_WC_LOC_QP_OP_ERR;
}

static const struct rdmap_rqe *replay_recv_take(void *user)
{
	struct replay_session *x = user;
	struct rdmap_rqe *rqe = (struct rdmap_rqe *)(void *)x->rqe;

	*rqe = (struct rdmap_rqe){.length = UINT32_MAX, .num_sge = 1};
	rqe->sge[0] = (struct rdmap_sge){.len = UINT32_MAX};
	return rqe;
}

static const struct rdmap_rqe *replay_recv_peek(void *user, uint32_t n)
{
	return NULL;
}

static void replay_recv_done(void *user)
{
}

static void replay_complete(void *user, const struct rdmap_wc *wc)
{
}

static void replay_rdmap_operational(void *user)
{
}

static void replay_peer_closed(void *user)
{
}

static void replay_ended(void *user, const struct rdmap_end *e)
{
	struct replay_session *x = user;

	x->ended = true;
	if (e->kind == RDMAP_END_TERMINATE_TX) {
		/* Sent or not: a responder that has had no good FPDU has to keep quiet. */
		x->terminated = true;
		x->terminate = *e;
	}
	rdmap_flush_sq(&x->rdmap);
}

static const struct rdmap_ops replay_rdmap_ops = {
	.stag_check = replay_stag_check,
	.stag_invalidate = replay_stag_invalidate,
	.local_op = replay_local_op,
	.recv_take = replay_recv_take,
	.recv_peek = replay_recv_peek,
	.recv_done = replay_recv_done,
	.complete = replay_complete,
	.operational = replay_rdmap_operational,
	.peer_closed = replay_peer_closed,
	.ended = replay_ended,
};

/* ---- our MPA, until RDMAP takes it ----------------------------------------------------------- */

static uint16_t replay_depth(uint16_t announced, bool enhanced)
{
	return !enhanced || announced > REPLAY_IRD_MAX ? REPLAY_IRD_MAX : announced;
}

static void replay_attach(struct replay_session *x)
{
	const struct stream_start *mine = &x->ours->start, *peer = &x->theirs->start;
	uint16_t ird = replay_depth(mine->st.ird, mine->st.enhanced);

	x->attached = true;
	/* A Read as RTR needs room even where none was announced (RFC 6581 section 9.1). */
	rdmap_attach(&x->rdmap, &x->mpa, ird != 0 ? ird : 1,
		replay_depth(peer->st.ird, peer->st.enhanced), x->irq, x->rtr);
}

static void replay_mpa_ignore(void *user)
{
}

static void replay_mpa_got(void *user, const struct mpa_start *st)
{
}

static void replay_mpa_failed(void *user, enum mpa_error code, const char *reason)
{
	struct replay_session *x = user;

	x->ended = true;
	replay_differs(x, "our MPA does not accept it: %s", reason);
}

static void replay_mpa_gone(void *user, int error)
{
	struct replay_session *x = user;

	x->ended = true;
}

static const struct mpa_user_ops replay_mpa_ops = {
	.connected = replay_mpa_ignore,
	.request = replay_mpa_got,
	.reply = replay_mpa_got,
	.writable = replay_mpa_ignore,
	.eof = replay_mpa_ignore,
	.error = replay_mpa_failed,
	.closed = replay_mpa_gone,
};

static struct mpa_config replay_config_of(const struct stream_start *st)
{
	return (struct mpa_config){
		.revision = st->revision,
		.crc = st->st.crc ? MPA_CRC_PREFERRED : MPA_CRC_OFF,
		.markers = st->st.markers,
		.peer_to_peer = st->st.peer_to_peer,
		.rtr = st->st.rtr,
		.legacy = MPA_LEGACY_NEVER,
		.in_order = true,
		.send_imm = st->st.send_imm,
	};
}

static uint8_t replay_one_of(uint8_t mask)
{
	return mask & -mask;
}

/* The reply was captured: both frames are known now, and our responder can take its part. */
static void replay_start_responder(struct replay_session *x, const struct stream_start *reply)
{
	struct mpa_config config = replay_config_of(reply);
	const struct stream_start *request = &x->theirs->start;

	mpa_init_responder(&x->mpa, &x->llp.llp, &config, &replay_mpa_ops, x);
	replay_llp_feed(&x->llp, x->request, x->request_len);
	if (x->ended)
		return;
	if (reply->st.reject) {
		mpa_reject(&x->mpa, reply->st.private_data, reply->st.private_len);
		x->ended = true;
		return;
	}
	x->rtr = request->st.rtr & reply->st.rtr;
	mpa_accept(&x->mpa, reply->st.ird, reply->st.ord, replay_one_of(x->rtr),
		reply->st.private_data, reply->st.private_len);
	x->started = true;
	replay_attach(x);
}

static void replay_start_initiator(struct replay_session *x, const struct stream_start *request)
{
	struct mpa_config config = replay_config_of(request);

	mpa_init_initiator(&x->mpa, &x->llp.llp, &config, &replay_mpa_ops, x);
	x->llp.llp.user_ops->connected(x->llp.llp.user);
	mpa_request(&x->mpa, request->st.ird, request->st.ord, request->st.private_data,
		request->st.private_len);
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool replay_alive(const struct replay_session *x)
{
	return x && !x->stopped;
}

static void replay_on_opened(void *user, struct connection *c)
{
	struct replay *w = user;
	struct replay_session *x = NULL;
	struct line l = {0};

	line_add(&l, "connection #%llu: ", (unsigned long long)c->id);
	if (c->initiator >= 0) {
		line_add_endpoint(&l, &c->end[w->responder ? !c->initiator : c->initiator]);
		line_add(&l, "'s side, to our %s", w->responder ? "initiator" : "responder");
		x = calloc(1, sizeof *x);
	} else {
		line_add(&l, "its start is not in the capture");
	}
	fprintf(w->out, "%s\n", l.text);
	c->own = x;
	if (!x)
		return;
	x->w = w;
	x->theirs = &c->stream[w->responder ? !c->initiator : c->initiator];
	x->ours = stream_peer(x->theirs);
	replay_llp_init(&x->llp, replay_sent, x);
	x->sq.size = REPLAY_SQ_SIZE;
	x->sq.stride = sizeof(struct rdmap_wqe) + sizeof(struct rdmap_sge);
	x->sq.ring = calloc(x->sq.size, x->sq.stride);
	rdmap_init(&x->rdmap, &x->sq, &replay_rdmap_ops, x);
	if (!x->sq.ring)
		replay_stop(x, "out of memory");
}

static void replay_on_start(void *user, struct connection *c, struct stream *s)
{
	struct replay_session *x = c->own;

	if (!replay_alive(x))
		return;
	x->frame = s->start.frame;
	if (s->start.error && s == x->ours) {
		replay_stop(x, "its peer's start-up frame is no good");
	} else if (x->w->responder) {
		if (s == x->ours) {
			replay_start_initiator(x, &s->start);
		} else if (x->ours->start.seen) {
			replay_llp_feed(&x->llp, s->start.bytes, s->start.len);
			x->started = !x->ended && !s->start.st.reject;
		}
	} else if (s == x->theirs) {
		x->request_len = s->start.len;
		memcpy(x->request, s->start.bytes, s->start.len);
	} else if (x->theirs->start.seen) {
		replay_start_responder(x, &s->start);
	}
}

/* Its RTR message tells which we shall send; it is not posted, RDMAP sends its own. */
static bool replay_is_rtr(struct replay_session *x, const struct stream_fpdu *f)
{
	uint8_t opcode = f->segment.ulp & RDMAP_CONTROL_OPCODE;

	if (!x->w->responder || f->number != 1 || !x->ours->start.st.peer_to_peer ||
		!x->theirs->start.st.peer_to_peer)
		return false;
	x->rtr = opcode == RDMAP_OP_READ_REQUEST ? MPA_RTR_READ
		 : opcode == RDMAP_OP_WRITE      ? MPA_RTR_WRITE
		 : opcode == RDMAP_OP_SEND       ? MPA_RTR_SEND
						 : 0;
	return x->rtr != 0;
}

static void replay_on_ours(struct replay_session *x, const struct stream_fpdu *f)
{
	bool rtr;

	if (!f->header || f->ddp != DDP_OK)
		return;
	x->owed -= x->owed < f->segment.len ? x->owed : f->segment.len;
	rtr = replay_is_rtr(x, f);
	if (!x->attached)
		replay_attach(x);
	replay_expected(x, f);
	if (!rtr && !x->ended)
		replay_post(x, f);
}

static void replay_on_theirs(struct replay_session *x, const struct stream_fpdu *f)
{
	uint8_t *copy = x->w->fpdu;
	struct mpa_cursor raw = f->raw;

	if (f->unseen || f->fpdu.len > sizeof x->w->fpdu) {
		replay_stop(x, "not all of an FPDU is in the capture");
		return;
	}
	if (f->header && f->ddp == DDP_OK && f->result == MPA_DEFRAME_GOOD && !replay_asked(x, f))
		return;
	mpa_cursor_copy(&raw, copy, f->fpdu.len);
	x->fed++;
	if (!replay_llp_feed(&x->llp, copy, f->fpdu.len))
		replay_stop(x, "out of memory");
}

static void replay_on_fpdu(
	void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
	struct replay_session *x = c->own;

	if (!replay_alive(x))
		return;
	x->frame = f->frame;
	if (!x->started)
		replay_stop(x, "its start-up is not in the capture, or was not completed");
	else if (s == x->ours)
		replay_on_ours(x, f);
	else if (!x->ended)
		replay_on_theirs(x, f);
}

static void replay_on_lost(
	void *user, struct connection *c, struct stream *s, const struct piece *p, const char *why)
{
	if (replay_alive(c->own))
		replay_stop(c->own, why);
}

static void replay_on_missing(
	void *user, struct connection *c, struct stream *s, const struct piece *p)
{
	if (replay_alive(c->own))
		replay_stop(c->own, "octets are missing in the capture");
}

static void replay_on_fin(void *user, struct connection *c, struct stream *s, size_t rest)
{
	struct replay_session *x = c->own;

	if (!replay_alive(x) || s != x->theirs || !x->started || x->ended)
		return;
	x->frame = s->tcp.fin_frame;
	if (rest != 0 && rest <= sizeof x->w->fpdu && stream_captured(s, 0, rest)) {
		/* An FPDU that will not be whole. */
		struct mpa_cursor at = stream_cursor(s);

		mpa_cursor_copy(&at, x->w->fpdu, rest);
		replay_llp_feed(&x->llp, x->w->fpdu, rest);
	}
	replay_llp_eof(&x->llp);
}

static void replay_on_closed(
	void *user, struct connection *c, enum connection_end how, uint64_t frame)
{
	struct replay_session *x = c->own;

	if (!x)
		return;
	if (!x->stopped)
		replay_judge(x);
	fprintf(x->w->out, "  %llu FPDUs fed, %llu Reads answered\n", (unsigned long long)x->fed,
		(unsigned long long)x->answered);
	x->w->sessions++;
	replay_llp_end(&x->llp);
	reads_free(&x->asked);
	free(x->sq.ring);
	free(x);
	c->own = NULL;
}

const struct connection_ops replay_ops = {
	.opened = replay_on_opened,
	.start = replay_on_start,
	.fpdu = replay_on_fpdu,
	.lost = replay_on_lost,
	.missing = replay_on_missing,
	.fin = replay_on_fin,
	.closed = replay_on_closed,
};
