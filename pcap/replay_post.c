/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/describe.h"
#include "pcap/replay.h"

/** Local memory of ours: every STag is good. */
#define LOCAL_STAG 1

static struct rdmap_wqe *replay_post_next(struct replay_session *x)
{
	uint32_t head = atomic_load(&x->sq.head);
	struct rdmap_wqe *w;

	if (head - atomic_load(&x->sq.tail) == x->sq.size) {
		replay_stop(x, "too many requests wait for answers");
		return NULL;
	}
	w = rdmap_sq_at(&x->sq, head);
	*w = (struct rdmap_wqe){.wr_id = head, .flags = RDMAP_WR_SIGNALED, .num_sge = 1};
	return w;
}

static void replay_post_one(struct replay_session *x)
{
	atomic_fetch_add(&x->sq.head, 1);
	rdmap_run(&x->rdmap);
}

static void replay_post_send(struct replay_session *x, const struct ddp_segment *s, uint8_t opcode)
{
	struct rdmap_wqe *w = replay_post_next(x);

	/* Its last segment tells the length, truly or not. */
	if (!w || !replay_owe(x, s->mo + s->len))
		return;
	w->op = RDMAP_WR_SEND;
	if (opcode == RDMAP_OP_SEND_INV || opcode == RDMAP_OP_SEND_SE_INV) {
		w->op = RDMAP_WR_SEND_INV;
		w->inv_stag = s->ulp32;
	}
	if (opcode == RDMAP_OP_SEND_SE || opcode == RDMAP_OP_SEND_SE_INV)
		w->flags |= RDMAP_WR_SOLICITED;
	w->length = s->mo + s->len;
	w->sge[0] = (struct rdmap_sge){.len = w->length, .stag = LOCAL_STAG};
	replay_post_one(x);
}

static void replay_post_write(struct replay_session *x, const struct ddp_segment *s)
{
	struct rdmap_wqe *w;

	if (!x->write_open) {
		x->write_stag = s->stag;
		x->write_to = s->to;
		x->write_len = 0;
	}
	x->write_len += s->len;
	x->write_open = !s->last;
	if (!s->last || x->write_len > UINT32_MAX)
		return;
	w = replay_post_next(x);
	if (!w)
		return;
	w->op = RDMAP_WR_WRITE;
	w->remote_stag = x->write_stag;
	w->remote_to = x->write_to;
	w->length = (uint32_t)x->write_len;
	w->sge[0] = (struct rdmap_sge){.len = w->length, .stag = LOCAL_STAG};
	replay_post_one(x);
}

static void replay_post_read(struct replay_session *x, const struct stream_fpdu *f)
{
	uint8_t p[RDMAP_READ_HEADER_LEN];
	struct rdmap_wqe *w;

	if (describe_payload(f, p, sizeof p) < sizeof p)
		return;
	w = replay_post_next(x);
	if (!w)
		return;
	w->op = RDMAP_WR_READ;
	w->length = load_be32(p + RDMAP_AT_SIZE);
	w->remote_stag = load_be32(p + RDMAP_AT_SOURCE_STAG);
	w->remote_to = load_be64(p + RDMAP_AT_SOURCE_TO);
	w->sge[0] = (struct rdmap_sge){.addr = load_be64(p + RDMAP_AT_SINK_TO),
		.len = w->length,
		.stag = load_be32(p + RDMAP_AT_SINK_STAG)};
	replay_post_one(x);
}

void replay_post(struct replay_session *x, const struct stream_fpdu *f)
{
	const struct ddp_segment *s = &f->segment;
	uint8_t opcode = s->ulp & RDMAP_CONTROL_OPCODE;

	switch (opcode) {
	case RDMAP_OP_SEND:
	case RDMAP_OP_SEND_INV:
	case RDMAP_OP_SEND_SE:
	case RDMAP_OP_SEND_SE_INV:
		if (s->last)
			replay_post_send(x, s, opcode);
		break;
	case RDMAP_OP_WRITE:
		replay_post_write(x, s);
		break;
	case RDMAP_OP_READ_REQUEST:
		replay_post_read(x, f);
		break;
	case RDMAP_OP_ATOMIC_REQUEST:
		/* Its identifier is the sender's choice: the captured answer is to another. */
		replay_stop(x, "Atomic Requests: their answers cannot be replayed");
		break;
	default: /* Immediate Data has no answer; what answers is not posted */
		break;
	}
}
