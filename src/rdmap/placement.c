/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Placement before delivery (RFC 5041 section 5.3). Here payload is only copied: no state of the
 * stream changes, and no error is reported. In its turn the segment comes to rx.c and the others.
 * These make all checks again, and find the payload placed.
 *
 * Before any payload of a segment is placed, all of it is checked. So the same code runs twice. The
 * first time it acts as if the payload were placed already, and ddp_place() copies nothing.
 */
#include "rdmap/rdmap_priv.h"

/** Send queue elements that are looked at for the Read that a response belongs to. */
#define READS_MAX 64

static bool rdmap_placement_tagged(struct rdmap *r, struct ddp_segment *s, unsigned access)
{
	uint8_t *mem;

	if (s->len == 0)
		return true;
	if (r->ops->stag_check(r->user, s->stag, s->to, s->len, access, &mem) != 0)
		return false;
	return ddp_place(s, mem, s->len) == 0;
}

static bool rdmap_placement_is_sink(const struct rdmap_wqe *w, const struct ddp_segment *s)
{
	const struct rdmap_sge *sink = &w->sge[0];

	return w->op == RDMAP_WR_READ && w->num_sge != 0 && sink->stag == s->stag &&
	       s->to - sink->addr <= w->length && s->len <= w->length - (s->to - sink->addr);
}

/* Into the sink of any Read that is under way: which one it answers is for its turn to say. */
static bool rdmap_placement_read_response(struct rdmap *r, struct ddp_segment *s)
{
	uint32_t i = atomic_load_explicit(&r->sq->tail, memory_order_relaxed);

	for (unsigned n = 0; n < READS_MAX && i != r->sq->next; n++, i++) {
		if (rdmap_placement_is_sink(rdmap_sq_at(r->sq, i), s))
			return rdmap_placement_tagged(r, s, RDMAP_ACCESS_READ_SINK);
	}
	return false;
}

/*
 * Every message of the queue takes one receive element, so MSNs tell which; Immediate Data behind a
 * Send takes none.
 */
static bool rdmap_placement_send(struct rdmap *r, struct ddp_segment *s)
{
	const struct rdmap_rqe *q;
	struct rdmap_sge_at at;
	uint32_t n;

	if (!rdmap_immediate_place_of(r, s, &n))
		return false;
	q = n == 0 && r->rqe ? r->rqe : r->ops->recv_peek(r->user, n);
	if (!q || ddp_check_room(s, q->length) != DDP_OK)
		return false;
	at = rdmap_sge_seek(q, s->mo);
	return rdmap_scatter(r, q, &at, s) == 0;
}

static bool rdmap_placement_place(struct rdmap *r, struct ddp_segment *s)
{
	switch (s->ulp & RDMAP_CONTROL_OPCODE) {
	case RDMAP_OP_WRITE:
		return rdmap_placement_tagged(r, s, RDMAP_ACCESS_REMOTE_WRITE);
	case RDMAP_OP_READ_RESPONSE:
		return rdmap_placement_read_response(r, s);
	case RDMAP_OP_SEND:
	case RDMAP_OP_SEND_INV:
	case RDMAP_OP_SEND_SE:
	case RDMAP_OP_SEND_SE_INV:
		return rdmap_placement_send(r, s);
	default: /* acts when it is delivered; RFC 5040 section 5.5 rules 12 and 17 */
		return false;
	}
}

uint32_t rdmap_on_placement(void *user, const struct mpa_ulpdu *u)
{
	struct rdmap *r = user;
	struct ddp_segment s;

	/* What comes first may be a ready-to-receive frame, which is not like others. */
	if (!rdmap_alive(r) || r->rtr_expect != 0 || r->rtr_read)
		return 0;
	if (ddp_parse(&s, u) != DDP_OK || s.ulp >> RDMAP_CONTROL_VERSION_SHIFT != RDMAP_VERSION ||
		!rdmap_opcode_fits(&s))
		return 0;
	s.placed = true;
	return rdmap_placement_place(r, &s) ? s.header_len : 0;
}

bool rdmap_on_place(void *user, const struct mpa_ulpdu *u)
{
	struct ddp_segment s;

	ddp_parse(&s, u);
	return rdmap_placement_place(user, &s);
}
