/* SPDX-License-Identifier: BSD-2-Clause */
/* What the host sends: is it what its program has asked for, and the peer? */
#include "foreign_rnic.h"

#include <stdio.h>
#include <string.h>

static void wrong(struct foreign_rnic *p, const char *what)
{
	world_wrong(p->world, what);
}

/** Octets of a request as the host has to send them. */
static bool is_payload(const struct foreign_world *w, const struct request *q, uint32_t at,
	const uint8_t *payload, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		uint32_t n = at + i;
		uint32_t from = n < q->part[0] ? q->from[0] + n : q->from[1] + n - q->part[0];

		if (payload[i] != world_area(w, AREA_SEND)[from])
			return false;
	}
	return true;
}

/* ---- its requests, in order -------------------------------------------------------------------
 */

/** The request that the next segment must be of. */
static struct request *due(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;

	while (p->next < w->requests && request_is_local(&w->request[p->next]))
		p->next++;
	return p->next < w->requests ? &w->request[p->next] : NULL;
}

static unsigned reads_under_way(const struct foreign_rnic *p, const struct request *before)
{
	unsigned n = 0;

	for (const struct request *q = p->world->request; q < before; q++)
		n += request_is_read(q) && !world_has_answered(p->world, q);
	return n;
}

static struct request *begin(struct foreign_rnic *p, unsigned kinds)
{
	struct request *q = due(p);

	if (!q || !(kinds >> q->kind & 1)) {
		wrong(p, "the host sends what its program has not asked for, or too early");
		return NULL;
	}
	/* Behind the illegal thing answers are not noted, and may be heard where that was dropped.
	 */
	if (q->fence && reads_under_way(p, q) && !p->world->broken)
		wrong(p, "the host does not heed a fence");
	return q;
}

static void passed(struct foreign_rnic *p, struct request *q)
{
	q->seen = true;
	p->next++;
	p->next_at = 0;
	p->next_imm = false;
}

#define KIND(k) (1u << (k))

static void check_write(struct foreign_rnic *p, const struct foreign_segment *s)
{
	struct request *q = begin(p, KIND(REQUEST_WRITE) | KIND(REQUEST_WRITE_IMM));

	if (!q)
		return;
	if (p->next_imm || s->stag != q->stag || s->to != q->to + p->next_at)
		return wrong(p, "a Write of the host goes elsewhere");
	if (s->len > q->len - p->next_at || s->last != (p->next_at + s->len == q->len))
		return wrong(p, "a Write of the host has another length");
	if (!is_payload(p->world, q, p->next_at, s->payload, s->len))
		return wrong(p, "a Write of the host has other text");
	p->next_at += s->len;
	if (s->last && q->kind == REQUEST_WRITE_IMM)
		p->next_imm = true;
	else if (s->last)
		passed(p, q);
}

static uint8_t send_opcode(const struct request *q)
{
	if (q->invalidates)
		return q->solicited ? FOREIGN_SEND_SE_INV : FOREIGN_SEND_INV;
	return q->solicited ? FOREIGN_SEND_SE : FOREIGN_SEND;
}

static void check_send(struct foreign_rnic *p, const struct foreign_segment *s)
{
	struct request *q = begin(p, KIND(REQUEST_SEND));

	if (!q)
		return;
	if (s->opcode != send_opcode(q) || s->ulp32 != (q->invalidates ? q->stag : 0))
		return wrong(p, "a Send of the host is of another kind");
	if (s->len > q->len - p->next_at || s->last != (p->next_at + s->len == q->len))
		return wrong(p, "a Send of the host has another length");
	if (!is_payload(p->world, q, p->next_at, s->payload, s->len))
		return wrong(p, "a Send of the host has other text");
	p->next_at += s->len;
	if (s->last)
		passed(p, q);
}

static void check_immediate(struct foreign_rnic *p, const struct foreign_segment *s)
{
	struct request *q = begin(p, KIND(REQUEST_WRITE_IMM));

	if (!q)
		return;
	if (!p->next_imm || (s->opcode == FOREIGN_IMMEDIATE_SE) != q->solicited)
		wrong(p, "Immediate Data of the host are out of place");
	else if (!s->last || s->len != 8 || memcmp(s->payload, &q->imm, 4))
		wrong(p, "Immediate Data of the host are wrong");
	else
		passed(p, q);
}

static struct foreign_inbound *inbound(struct foreign_rnic *p, struct request *q)
{
	bool rtr = p->inbounds && !p->inbound[0].request;

	if (reads_under_way(p, q) + rtr >= p->host_ord || p->inbounds == FOREIGN_DEPTH) {
		wrong(p, "the host goes beyond its ORD");
		return NULL;
	}
	p->inbound[p->inbounds] = (struct foreign_inbound){.request = q};
	return &p->inbound[p->inbounds++];
}

static void check_rtr_read(struct foreign_rnic *p, const uint8_t *h)
{
	p->inbound[p->inbounds++] =
		(struct foreign_inbound){.stag = foreign_get32(h), .to = foreign_get64(h + 4)};
	if (foreign_get32(h + 12))
		wrong(p, "the host's RTR Read is not empty");
}

static void check_read(struct foreign_rnic *p, const struct foreign_segment *s)
{
	const uint8_t *h = s->payload;
	struct foreign_inbound *in;
	struct request *q;

	if (!s->last || s->len != FOREIGN_READ_LEN)
		return wrong(p, "a Read Request of the host has another length");
	if (p->rtr_expected)
		return check_rtr_read(p, h);
	q = begin(p, KIND(REQUEST_READ));
	in = q ? inbound(p, q) : NULL;
	if (!in)
		return;
	in->stag = foreign_get32(h);
	in->to = foreign_get64(h + 4);
	in->len = foreign_get32(h + 12);
	if (in->len != q->len || foreign_get32(h + 16) != q->stag || foreign_get64(h + 20) != q->to)
		wrong(p, "a Read Request of the host is for something else");
	else if (in->len && (in->stag != p->world->stag[AREA_SINK] ||
				    in->to != p->world->iova[AREA_SINK] + q->slot * SLOT_LEN))
		wrong(p, "a Read Request of the host names another sink");
	passed(p, q);
}

static void check_atomic(struct foreign_rnic *p, const struct foreign_segment *s)
{
	const uint8_t *h = s->payload;
	struct foreign_inbound *in;
	struct request *q;
	bool swap;

	if (!s->last || s->len != FOREIGN_ATOMIC_LEN)
		return wrong(p, "an Atomic Request of the host has another length");
	q = begin(p, KIND(REQUEST_FETCH_ADD) | KIND(REQUEST_CMP_SWAP));
	in = q ? inbound(p, q) : NULL;
	if (!in)
		return;
	swap = q->kind == REQUEST_CMP_SWAP;
	in->id = foreign_get32(h + 4);
	if (foreign_get32(h) != (swap ? 2 : 0) || foreign_get32(h + 8) != q->stag ||
		foreign_get64(h + 12) != q->to)
		wrong(p, "an Atomic Request of the host is for something else");
	for (unsigned i = 0; i < (swap ? 4 : 2); i++)
		if (foreign_get64(h + 20 + 8 * i) != q->operand[i])
			wrong(p, "an Atomic Request of the host has other operands");
	if (!swap && (foreign_get64(h + 36) || ~foreign_get64(h + 44)))
		wrong(p, "a FetchAdd of the host compares");
	passed(p, q);
}

/* ---- its answers ------------------------------------------------------------------------------
 */

static void outbound_done(struct foreign_rnic *p)
{
	p->outbounds--;
	memmove(p->outbound, p->outbound + 1, p->outbounds * sizeof *p->outbound);
	p->rtr_read = false; /* it was the first */
	p->owed -= p->owed != 0;
}

static void check_response(struct foreign_rnic *p, const struct foreign_segment *s)
{
	struct foreign_outbound *o = &p->outbound[0];

	if (!p->outbounds || o->atomic)
		return wrong(p, "the host answers a Read that is not the oldest request");
	if (s->stag != o->stag || s->to != o->to + o->got)
		return wrong(p, "a Read Response of the host goes elsewhere");
	if (s->len > o->len - o->got || s->last != (o->got + s->len == o->len))
		return wrong(p, "a Read Response of the host has another length");
	if (s->len && memcmp(s->payload, world_area(p->world, AREA_READ) + o->at + o->got, s->len))
		return wrong(p, "a Read Response of the host has other text");
	o->got += s->len;
	if (s->last)
		outbound_done(p);
}

static void check_atomic_response(struct foreign_rnic *p, const struct foreign_segment *s)
{
	const struct foreign_outbound *o = &p->outbound[0];

	if (!p->outbounds || !o->atomic)
		wrong(p, "the host answers an Atomic that is not the oldest request");
	else if (!s->last || s->len != FOREIGN_ATOMIC_RESPONSE_LEN)
		wrong(p, "an Atomic Response of the host has another length");
	else if (foreign_get32(s->payload) != o->id)
		wrong(p, "an Atomic Response of the host is for another request");
	else if (foreign_get64(s->payload + 4) != o->original)
		wrong(p, "an Atomic Response of the host has another value");
	else
		outbound_done(p);
}

/* ---- its Terminate ----------------------------------------------------------------------------
 */

/** RFC 5040 section 4.8, Figure 10. */
static void check_quote(struct foreign_rnic *p, const uint8_t *h, uint32_t len)
{
	bool m = h[2] & 0x80, d = h[2] & 0x40, r = h[2] & 0x20;
	uint32_t need = 4 + (m || d ? 2 : 0) + (d ? p->guilty_len : 0) + (r ? FOREIGN_READ_LEN : 0);
	bool llp = p->terminate >> 12 == 2;

	if (llp && h[2])
		wrong(p, "a Terminate of the LLP quotes a header");
	if (!d)
		return;
	if (len != need)
		wrong(p, "a Terminate has another length");
	else if (p->guilty_len &&
		 (memcmp(h + 6, p->guilty, p->guilty_len) || (h[4] << 8 | h[5]) != p->guilty_ulpdu))
		wrong(p, "a Terminate quotes another segment");
}

static void check_terminate(struct foreign_rnic *p, const struct foreign_segment *s)
{
	const uint8_t *h = s->payload;

	if (s->msn != 1 || !s->last || s->len < 4)
		return wrong(p, "a Terminate of the host is malformed");
	p->terminate = FOREIGN_CODE(h[0] >> 4, h[0] & 15, h[1]);
	if (p->world->trace)
		printf("> Terminate %x/%x/%02x\n", h[0] >> 4, h[0] & 15, h[1]);
	for (unsigned i = 0; i < FOREIGN_CODES && p->deed; i++)
		if (p->expects[i] == p->terminate)
			return check_quote(p, h, s->len);
	if (p->deed && p->world->broken && !p->world->stopped && !p->world->excused)
		wrong(p, "the host's Terminate does not fit what was wrong");
	else if (!p->deed && !p->world->stopped && !p->world->excused)
		wrong(p, "the host sends a Terminate for no reason");
}

/* ---- each segment -----------------------------------------------------------------------------
 */

static uint32_t queue_of(uint8_t opcode)
{
	switch (opcode) {
	case FOREIGN_READ_REQUEST:
	case FOREIGN_ATOMIC_REQUEST:
		return 1;
	case FOREIGN_TERMINATE:
		return 2;
	case FOREIGN_ATOMIC_RESPONSE:
		return 3;
	default:
		return 0;
	}
}

static bool check_header(struct foreign_rnic *p, const struct foreign_segment *s)
{
	if (s->ddp_version != 1 || s->rdmap_version != 1 || s->reserved || s->rdmap_reserved)
		wrong(p, "a version or a reserved bit of the host is wrong");
	else if (s->tagged != (s->opcode == FOREIGN_WRITE || s->opcode == FOREIGN_READ_RESPONSE))
		wrong(p, "an opcode of the host is of the other buffer model");
	else if (p->initiator && !p->has_sent)
		wrong(p, "the host, a responder, sends before the first FPDU");
	else if (p->terminate >= 0)
		wrong(p, "the host sends behind its Terminate");
	if (s->tagged || p->world->wrong)
		return !p->world->wrong;
	if (s->qn != queue_of(s->opcode) || s->msn != p->rx_msn[s->qn] || s->mo != p->rx_mo[s->qn])
		wrong(p, "QN, MSN or MO of the host is wrong");
	else if (s->last)
		p->rx_msn[s->qn]++;
	if (!p->world->wrong)
		p->rx_mo[s->qn] = s->last ? 0 : s->mo + s->len;
	return !p->world->wrong;
}

/** @return true: it was the RTR frame that had to come first (RFC 6581 section 9.2). */
static bool check_rtr(struct foreign_rnic *p, const struct foreign_segment *s)
{
	uint8_t types = p->rtr_expected, type = 0;

	if (!types)
		return false;
	if (s->opcode == FOREIGN_WRITE && !s->len && s->last)
		type = FOREIGN_RTR_WRITE;
	else if (s->opcode == FOREIGN_SEND && !s->len && s->last)
		type = FOREIGN_RTR_SEND;
	else if (s->opcode == FOREIGN_READ_REQUEST)
		type = FOREIGN_RTR_READ;
	if (!(type & types))
		wrong(p, "the host's first message is no RTR frame that was agreed on");
	else if (type == FOREIGN_RTR_READ)
		check_read(p, s);
	p->rtr_expected = 0;
	return true;
}

void foreign_check_segment(struct foreign_rnic *p, const struct foreign_segment *s, size_t len)
{
	bool rtr;

	if (len > FOREIGN_ULPDU_MAX - 767)
		wrong(p, "a segment of the host is above the largest MULPDU");
	if (!check_header(p, s))
		return;
	rtr = s->opcode != FOREIGN_TERMINATE && check_rtr(p, s);
	p->heard = p->may_send = true;
	if (rtr)
		return;
	switch (s->opcode) {
	case FOREIGN_WRITE:
		return check_write(p, s);
	case FOREIGN_READ_REQUEST:
		return check_read(p, s);
	case FOREIGN_READ_RESPONSE:
		return check_response(p, s);
	case FOREIGN_SEND:
	case FOREIGN_SEND_INV:
	case FOREIGN_SEND_SE:
	case FOREIGN_SEND_SE_INV:
		return check_send(p, s);
	case FOREIGN_TERMINATE:
		return check_terminate(p, s);
	case FOREIGN_IMMEDIATE:
	case FOREIGN_IMMEDIATE_SE:
		return check_immediate(p, s);
	case FOREIGN_ATOMIC_REQUEST:
		return check_atomic(p, s);
	case FOREIGN_ATOMIC_RESPONSE:
		return check_atomic_response(p, s);
	default:
		return wrong(p, "an opcode of the host is unknown");
	}
}
