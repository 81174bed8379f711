/* SPDX-License-Identifier: BSD-2-Clause */
/* Illegal things, one in a run, and the Terminates that they may cause: RFC 5040 sections 4.8 and
 * 7, RFC 5041 section 7, RFC 5044 section 8. */
#include "foreign_rnic.h"

#include <string.h>

/* RDMA layer: remote protection and operation errors. */
#define RDMA_STAG                FOREIGN_CODE(0, 1, 0)
#define RDMA_BOUNDS              FOREIGN_CODE(0, 1, 1)
#define RDMA_ACCESS              FOREIGN_CODE(0, 1, 2)
#define RDMA_STREAM              FOREIGN_CODE(0, 1, 3)
#define RDMA_WRAP                FOREIGN_CODE(0, 1, 4)
#define RDMA_INV                 FOREIGN_CODE(0, 1, 9)
#define RDMA_VERSION             FOREIGN_CODE(0, 2, 5)
#define RDMA_OPCODE              FOREIGN_CODE(0, 2, 6)
#define RDMA_STREAM_CATASTROPHIC FOREIGN_CODE(0, 2, 7)
#define RDMA_INV_OP              FOREIGN_CODE(0, 2, 9)
#define RDMA_OTHER               FOREIGN_CODE(0, 2, 0xff)
/* DDP: tagged and untagged buffers. */
#define DDP_STAG      FOREIGN_CODE(1, 1, 0)
#define DDP_BOUNDS    FOREIGN_CODE(1, 1, 1)
#define DDP_STREAM    FOREIGN_CODE(1, 1, 2)
#define DDP_WRAP      FOREIGN_CODE(1, 1, 3)
#define DDP_VERSION_T FOREIGN_CODE(1, 1, 4)
#define DDP_QN        FOREIGN_CODE(1, 2, 1)
#define DDP_BUFFER    FOREIGN_CODE(1, 2, 2)
#define DDP_MSN       FOREIGN_CODE(1, 2, 3)
#define DDP_MO        FOREIGN_CODE(1, 2, 4)
#define DDP_LONG      FOREIGN_CODE(1, 2, 5)
#define DDP_VERSION_U FOREIGN_CODE(1, 2, 6)
/* MPA */
#define MPA_CLOSED FOREIGN_CODE(2, 0, 1)
#define MPA_CRC    FOREIGN_CODE(2, 0, 2)
#define MPA_MARKER FOREIGN_CODE(2, 0, 3)

static void expect(struct foreign_rnic *p, const char *deed, int a, int b, int c)
{
	p->deed = deed;
	p->must = true;
	p->expects[0] = a;
	p->expects[1] = b ? b : -2;
	p->expects[2] = c ? c : -2;
	p->expects[3] = p->expects[4] = -2;
}

static void guilty(struct foreign_rnic *p, const struct foreign_segment *s)
{
	static uint8_t ulpdu[FOREIGN_ULPDU_MAX];

	p->guilty_len = s->tagged ? 14 : 18;
	p->guilty_ulpdu = (uint16_t)foreign_put_segment(ulpdu, s);
	memcpy(p->guilty, ulpdu, p->guilty_len);
}

static void send(struct foreign_rnic *p, const struct foreign_segment *s)
{
	p->reserved = false; /* else another header is quoted */
	guilty(p, s);
	p->world->broken = true;
	foreign_rnic_segment(p, s, FOREIGN_NO_FLAW);
	foreign_rnic_flush(p);
}

static struct foreign_segment tagged(struct foreign_rnic *p, uint8_t opcode)
{
	const struct foreign_world *w = p->world;

	return (struct foreign_segment){.tagged = true,
		.last = true,
		.ddp_version = 1,
		.rdmap_version = 1,
		.opcode = opcode,
		.stag = w->stag[AREA_WRITE],
		.to = w->iova[AREA_WRITE] + 100,
		.payload = w->noise + 1000,
		.len = 1 + world_below(p->world, 200)};
}

/** An STag that is none of the host's. */
static uint32_t no_stag(struct foreign_rnic *p)
{
	const struct foreign_world *w = p->world;

	/* Its index is right, so that the key is what is looked at; or anything. */
	return world_chance(p->world, 0.5) ? w->stag[AREA_WRITE] ^ (1u << world_below(p->world, 8))
					   : (uint32_t)prng_u64(&p->world->random) | 1;
}

/* ---- Writes -----------------------------------------------------------------------------------
 */

static bool break_write(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct foreign_segment s = tagged(p, FOREIGN_WRITE);

	switch (world_below(w, 7)) {
	case 0:
		s.stag = no_stag(p);
		expect(p, "a Write with a bad STag", DDP_STAG, 0, 0);
		break;
	case 1:
		s.to = w->iova[AREA_WRITE] + AREA_LEN - s.len + 1 + world_below(w, 3000);
		expect(p, "a Write beyond its region", DDP_BOUNDS, 0, 0);
		break;
	case 2:
		s.to = w->iova[AREA_WRITE] - 1 - world_below(w, 3000);
		expect(p, "a Write before its region", DDP_BOUNDS, DDP_WRAP, 0);
		break;
	case 3:
		s.len = 2 + world_below(w, 100);
		s.to = UINT64_MAX - world_below(w, s.len - 1);
		expect(p, "a Write that wraps", DDP_WRAP, DDP_BOUNDS, 0);
		break;
	case 4:
		s.stag = w->stag[AREA_READ];
		s.to = w->iova[AREA_READ];
		expect(p, "a Write without the right", DDP_STAG, RDMA_ACCESS, 0);
		break;
	case 5:
		s.stag = w->stag[AREA_OTHER];
		s.to = w->iova[AREA_OTHER];
		expect(p, "a Write to another protection domain", DDP_STREAM, DDP_STAG, 0);
		break;
	default:
		s.ddp_version = (uint8_t)(2 * world_below(w, 2));
		expect(p, "a Write of another DDP version", DDP_VERSION_T, 0, 0);
		break;
	}
	send(p, &s);
	return true;
}

static unsigned ended_window(const struct foreign_world *w)
{
	unsigned i = 0;

	while (i < WINDOWS - 1 && !(w->window[i].state == WINDOW_FREE && w->window[i].used))
		i++;
	return i;
}

/** Through a window that has ended, is for the other way, or is shorter. */
static bool break_window(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	unsigned i = world_chance(w, 0.5) ? ended_window(w) : world_below(w, WINDOWS);
	const struct window *window = &w->window[i];
	struct foreign_segment s = tagged(p, FOREIGN_WRITE);

	s.stag = window->stag;
	s.to = window->base;
	if (window->state == WINDOW_FREE && window->used) {
		expect(p, "a Write to a window that has ended", DDP_STAG, 0, 0);
	} else if (window->state != WINDOW_BOUND) {
		return false;
	} else if (window_area(i) == AREA_READ) {
		expect(p, "a Write to a window to read", DDP_STAG, RDMA_ACCESS, 0);
	} else {
		s.to += WINDOW_LEN - s.len + 1;
		expect(p, "a Write beyond its window", DDP_BOUNDS, 0, 0);
	}
	send(p, &s);
	return true;
}

static bool break_window_read(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	unsigned i = world_below(w, WINDOWS);
	const struct window *window = &w->window[i];
	uint8_t h[FOREIGN_READ_LEN] = {0};
	struct foreign_segment s = foreign_rnic_message(p, FOREIGN_READ_REQUEST, 1, h, sizeof h);
	uint64_t to = window->base;

	if (p->outbounds >= p->ord || window->state != WINDOW_BOUND)
		return false;
	if (window_area(i) == AREA_WRITE) {
		expect(p, "a Read of a window to write", RDMA_ACCESS, RDMA_STAG, 0);
	} else {
		to += WINDOW_LEN - 6;
		expect(p, "a Read beyond its window", RDMA_BOUNDS, 0, 0);
	}
	foreign_put32(h + 12, 7);
	foreign_put32(h + 16, window->stag);
	foreign_put64(h + 20, to);
	send(p, &s);
	return true;
}

/* ---- Sends ------------------------------------------------------------------------------------
 */

/** @return false: no receive waits for a message. */
static bool next_room(const struct foreign_rnic *p, uint32_t *room)
{
	const struct foreign_world *w = p->world;
	const struct receive *r = &w->receive[w->deliveries];

	*room = r->part[0] + r->part[1];
	return w->deliveries < w->receives && !p->send.open;
}

static bool break_send(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct foreign_segment s = foreign_rnic_message(p, FOREIGN_SEND, 0, w->noise, 0);
	uint32_t room;

	if (!next_room(p, &room) && w->waits)
		return false;
	if (w->deliveries >= w->receives && !p->send.open) {
		expect(p, "a Send without a receive", DDP_BUFFER, 0, 0);
		w->posts_none = true;
		send(p, &s);
		return true;
	}
	if (p->send.open)
		return false;
	s.len = world_below(w, room + 1);
	switch (world_below(w, 6)) {
	case 0:
		s.len = room + 1 + (world_chance(w, 0.5) ? 0 : world_below(w, 200));
		expect(p, "a Send too long", DDP_LONG, 0, 0);
		break;
	case 1:
		s.msn += world_chance(w, 0.5) ? 1 + world_below(w, 1000) : UINT32_MAX;
		expect(p, "a Send with a wrong MSN", DDP_MSN, DDP_BUFFER, 0);
		break;
	case 2:
		s.mo = 1 + world_below(w, room + 100);
		expect(p, "a Send with a wrong MO", DDP_MO, DDP_LONG, 0);
		break;
	case 3:
		s.opcode = FOREIGN_SEND_INV;
		s.ulp32 = world_chance(w, 0.5) ? no_stag(p) : w->stag[AREA_RECV];
		w->delivery[w->deliveries++] = (struct delivery){
			.payload = s.payload, .len = s.len, .late = true, .begun = true};
		expect(p, "a Send that invalidates what it may not", RDMA_INV, RDMA_STAG,
			RDMA_INV_OP);
		break;
	case 4:
		s.opcode = FOREIGN_IMMEDIATE;
		s.len = world_below(w, 2) ? 7 : 9 + world_below(w, 50);
		expect(p, "Immediate Data of another length", RDMA_OTHER, DDP_LONG, 0);
		break;
	default:
		s.ddp_version = (uint8_t)(2 * world_below(w, 2));
		expect(p, "a Send of another DDP version", DDP_VERSION_U, 0, 0);
		break;
	}
	send(p, &s);
	return true;
}

static bool break_open_send(struct foreign_rnic *p)
{
	struct foreign_segment s = foreign_rnic_message(p, p->send.opcode, 0, p->world->noise, 10);

	if (!p->send.open)
		return false;
	s.mo = p->send.sent + (world_chance(p->world, 0.5) ? 1 : UINT32_MAX);
	expect(p, "a Send with a gap", DDP_MO, DDP_LONG, 0);
	if (p->send.sent == 0 || world_chance(p->world, 0.4)) {
		s.mo = p->send.sent;
		s.opcode = FOREIGN_IMMEDIATE;
		s.len = 8;
		expect(p, "Immediate Data in a Send", RDMA_OPCODE, DDP_MO, DDP_MSN);
	}
	send(p, &s);
	return true;
}

/* ---- opcodes, versions and queues -------------------------------------------------------------
 */

static bool break_opcode(struct foreign_rnic *p)
{
	static const uint8_t on_queue_1[] = {FOREIGN_SEND, FOREIGN_TERMINATE, FOREIGN_IMMEDIATE,
		FOREIGN_ATOMIC_RESPONSE, FOREIGN_WRITE};
	struct foreign_world *w = p->world;
	struct foreign_segment s = foreign_rnic_message(p, FOREIGN_SEND, 1, w->noise, 28);
	struct foreign_segment t = tagged(p, (uint8_t)(12 + world_below(w, 4)));

	switch (world_below(w, 5)) {
	case 0:
		s.opcode = on_queue_1[world_below(w, 5)];
		expect(p, "an opcode on another queue", RDMA_OPCODE, 0, 0);
		send(p, &s);
		return true;
	case 1:
		expect(p, "an opcode that is reserved", RDMA_OPCODE, 0, 0);
		send(p, &t);
		return true;
	case 2:
		t.opcode = (uint8_t)(3 + world_below(w, 9));
		expect(p, "an opcode of the other buffer model", RDMA_OPCODE, 0, 0);
		send(p, &t);
		return true;
	case 3:
		s.qn = 4 + world_below(w, UINT32_MAX - 3);
		expect(p, "a queue that is not there", DDP_QN, 0, 0);
		send(p, &s);
		return true;
	default:
		t.opcode = FOREIGN_WRITE;
		t.rdmap_version = (uint8_t)(world_chance(w, 0.5) ? 0 : 2 + world_below(w, 2));
		expect(p, "another RDMAP version", RDMA_VERSION, 0, 0);
		send(p, &t);
		return true;
	}
}

/* ---- requests ---------------------------------------------------------------------------------
 */

/**
 * A request is judged when its answer has its turn. As long as the host has others to send or to be
 * answered, that may be behind what comes later, and is legal.
 */
static bool may_ask_badly(const struct foreign_rnic *p)
{
	return p->outbounds < p->ord && !p->inbounds && p->next == p->world->requests;
}

static bool break_read(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	uint8_t h[FOREIGN_READ_LEN + 8] = {0};
	struct foreign_segment s =
		foreign_rnic_message(p, FOREIGN_READ_REQUEST, 1, h, FOREIGN_READ_LEN);
	uint32_t stag = w->stag[AREA_READ], len = 2 + world_below(w, 1000);
	uint64_t to = w->iova[AREA_READ];

	if (!may_ask_badly(p))
		return false;
	switch (world_below(w, 7)) {
	case 0:
		stag = no_stag(p);
		expect(p, "a Read with a bad STag", RDMA_STAG, 0, 0);
		break;
	case 1:
		to += AREA_LEN - len + 1;
		expect(p, "a Read beyond its region", RDMA_BOUNDS, 0, 0);
		break;
	case 2:
		len = UINT32_MAX;
		expect(p, "a Read of 4 GiB", RDMA_BOUNDS, RDMA_WRAP, 0);
		break;
	case 3:
		to = UINT64_MAX - world_below(w, len - 1);
		expect(p, "a Read that wraps", RDMA_WRAP, RDMA_BOUNDS, 0);
		break;
	case 4:
		stag = w->stag[AREA_WRITE];
		to = w->iova[AREA_WRITE];
		expect(p, "a Read without the right", RDMA_ACCESS, 0, 0);
		break;
	case 5:
		stag = w->stag[AREA_OTHER];
		to = w->iova[AREA_OTHER];
		expect(p, "a Read of another protection domain", RDMA_STREAM, RDMA_STAG, 0);
		break;
	default:
		s.len += world_chance(w, 0.5) ? 1 + world_below(w, 8) : UINT32_MAX;
		expect(p, "a Read Request of another length", RDMA_OTHER, DDP_LONG, 0);
		break;
	}
	foreign_put32(h + 12, len);
	foreign_put32(h + 16, stag);
	foreign_put64(h + 20, to);
	send(p, &s);
	return true;
}

static bool break_atomic(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	uint8_t h[FOREIGN_ATOMIC_LEN] = {0};
	struct foreign_segment s = foreign_rnic_message(p, FOREIGN_ATOMIC_REQUEST, 1, h, sizeof h);
	uint32_t stag = w->stag[AREA_ATOMIC], code = 0;
	uint64_t to = w->iova[AREA_ATOMIC];

	if (!may_ask_badly(p))
		return false;
	switch (world_below(w, 5)) {
	case 0:
		stag = no_stag(p);
		expect(p, "an Atomic with a bad STag", RDMA_STAG, 0, 0);
		break;
	case 1:
		to += 1 + world_below(w, 7);
		expect(p, "an Atomic that is not aligned", RDMA_STREAM_CATASTROPHIC, RDMA_OTHER,
			RDMA_BOUNDS);
		break;
	case 2:
		code = world_chance(w, 0.5) ? 1 : 3 + world_below(w, 13);
		expect(p, "an Atomic of no kind", RDMA_OPCODE, 0, 0);
		break;
	case 3:
		stag = w->stag[AREA_WRITE];
		to = w->iova[AREA_WRITE];
		expect(p, "an Atomic without the right", RDMA_ACCESS, 0, 0);
		break;
	default:
		to += AREA_LEN;
		expect(p, "an Atomic beyond its region", RDMA_BOUNDS, 0, 0);
		break;
	}
	foreign_put32(h, code);
	foreign_put32(h + 8, stag);
	foreign_put64(h + 12, to);
	send(p, &s);
	return true;
}

/** More Reads at once than the host takes. */
static bool break_depth(struct foreign_rnic *p)
{
	uint8_t h[FOREIGN_READ_LEN] = {0};
	struct foreign_segment s;

	/* All in one segment, else it answers some before it sees the rest. */
	if (p->outbounds || !p->world->whole || !p->has_sent)
		return false;
	foreign_rnic_flush(p);
	p->cuts = 1;
	p->reserved = false;
	for (unsigned i = 0; i <= foreign_rnic_round_up(p->host_ird); i++) {
		s = foreign_rnic_message(p, FOREIGN_READ_REQUEST, 1, h, sizeof h);
		foreign_rnic_segment(p, &s, FOREIGN_NO_FLAW);
		p->tx_msn[1]++;
	}
	p->cuts = 0;
	expect(p, "too many Reads", DDP_BUFFER, 0, 0);
	guilty(p, &s);
	p->world->broken = true;
	foreign_rnic_flush(p);
	return true;
}

/* ---- responses --------------------------------------------------------------------------------
 */

static bool break_no_response(struct foreign_rnic *p)
{
	struct foreign_segment s = tagged(p, FOREIGN_READ_RESPONSE);
	uint8_t h[FOREIGN_ATOMIC_RESPONSE_LEN] = {0};
	struct foreign_segment a = foreign_rnic_message(p, FOREIGN_ATOMIC_RESPONSE, 3, h, sizeof h);

	/* None is under way, nor can one be before this comes. */
	if (p->inbounds || p->next != p->world->requests)
		return false;
	p->world->asks_none = true;
	if (world_chance(p->world, 0.5)) {
		expect(p, "a Read Response that nobody waits for", RDMA_OPCODE, DDP_STAG, 0);
		send(p, &s);
	} else {
		expect(p, "an Atomic Response that nobody waits for", DDP_BUFFER, RDMA_OPCODE,
			DDP_MSN);
		send(p, &a);
	}
	return true;
}

static bool break_response(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	const struct foreign_inbound *in = &p->inbound[0];
	uint8_t h[FOREIGN_ATOMIC_RESPONSE_LEN] = {0};
	struct foreign_segment s = tagged(p, FOREIGN_READ_RESPONSE);
	struct foreign_segment a = foreign_rnic_message(p, FOREIGN_ATOMIC_RESPONSE, 3, h, sizeof h);
	bool atomic;

	if (!p->inbounds || !in->request || p->response.open)
		return false;
	atomic = in->request->kind != REQUEST_READ;
	foreign_put32(h, in->id + atomic);
	s.stag = in->stag;
	s.to = in->to;
	s.len = in->len;
	switch (world_below(w, 5)) {
	case 0:
		if (atomic)
			expect(p, "an Atomic Response with a wrong number", RDMA_OTHER, RDMA_OPCODE,
				0);
		else
			expect(p, "an Atomic Response for a Read", RDMA_OPCODE, 0, 0);
		send(p, &a);
		return true;
	case 1:
		if (!atomic && !s.len)
			return false;
		s.stag ^= 1;
		expect(p, "a Read Response with another STag", DDP_STAG, RDMA_OPCODE, 0);
		break;
	case 2:
		if (!atomic && !s.len)
			return false;
		s.to += world_chance(w, 0.5) ? 1 : UINT64_MAX;
		expect(p, "a Read Response beside its place", DDP_BOUNDS, RDMA_OPCODE, 0);
		break;
	case 3:
		s.len += 1 + world_below(w, 20);
		expect(p, "a Read Response too long", DDP_BOUNDS, RDMA_OPCODE, DDP_STAG);
		break;
	default:
		if (atomic || !s.len)
			return false;
		s.len = world_below(w, s.len);
		in->request->begun = true;
		memcpy(in->request->answer, s.payload, s.len); /* may be there */
		expect(p, "a Read Response too short", RDMA_OTHER, 0, 0);
		break;
	}
	if (atomic)
		p->deed = "a Read Response for an Atomic";
	send(p, &s);
	return true;
}

/** The segment of a Read Response that ends it is longer than what is left. */
static bool break_open_response(struct foreign_rnic *p)
{
	const struct foreign_message *m = &p->response;
	struct foreign_segment s = tagged(p, FOREIGN_READ_RESPONSE);

	if (!m->open || !p->inbound[0].request)
		return false;
	s.stag = m->stag;
	s.to = m->to + m->sent;
	s.len = m->len - m->sent + 1;
	expect(p, "a Read Response too long", DDP_BOUNDS, 0, 0);
	send(p, &s);
	return true;
}

/* ---- MPA --------------------------------------------------------------------------------------
 */

static bool break_fpdu(struct foreign_rnic *p)
{
	struct foreign_segment s = tagged(p, FOREIGN_WRITE);
	enum foreign_flaw flaw = FOREIGN_CRC_FLAW;

	if (world_chance(p->world, 0.7) && foreign_has_marker(&p->tx, 14 + s.len)) {
		flaw = FOREIGN_MARKER_FLAW;
		expect(p, "a wrong marker", MPA_MARKER, 0, 0);
	} else if (p->tx.crc) {
		expect(p, "a wrong CRC", MPA_CRC, 0, 0);
	} else {
		return false;
	}
	p->world->broken = true;
	foreign_rnic_segment(p, &s, flaw);
	foreign_rnic_flush(p);
	return true;
}

static bool break_short(struct foreign_rnic *p)
{
	static uint8_t fpdu[64];
	size_t n = world_below(p->world, 14);

	if (world_chance(p->world, 0.3)) /* tagged would do, untagged not */
		n = 14 + world_below(p->world, 4);
	expect(p, "a segment shorter than its header", RDMA_OTHER, 0, 0);
	p->world->broken = p->has_sent = true;
	foreign_rnic_put(p, fpdu,
		foreign_put_fpdu(
			&p->tx, fpdu, (const uint8_t[18]){1, 0x43}, n, FOREIGN_NO_FLAW, 0));
	foreign_rnic_flush(p);
	return true;
}

static void close_badly(struct foreign_rnic *p)
{
	foreign_rnic_flush(p);
	p->world->broken = p->has_sent = true;
	p->fin = true;
	if (p->tcp.llp)
		llp_shutdown(p->tcp.llp);
}

/** The end in the middle of a message, or of an FPDU. */
static bool break_fin(struct foreign_rnic *p)
{
	static uint8_t fpdu[FOREIGN_FPDU_MAX];
	struct foreign_segment s = tagged(p, FOREIGN_WRITE);
	uint8_t ulpdu[300];
	size_t n;

	if (world_chance(p->world, 0.4)) {
		n = foreign_put_fpdu(
			&p->tx, fpdu, ulpdu, foreign_put_segment(ulpdu, &s), FOREIGN_NO_FLAW, 0);
		foreign_rnic_put(p, fpdu, 1 + world_below(p->world, n - 1));
		expect(p, "the end of the stream in an FPDU", MPA_CLOSED, 0, 0);
	} else if (p->write.open || p->send.open || p->response.open) {
		expect(p, "the end of the stream in a message", MPA_CLOSED, 0, 0);
	} else if (p->inbounds && p->inbound[0].request) {
		expect(p, "the end of the stream before an answer", MPA_CLOSED, 0, 0);
	} else {
		return false;
	}
	close_badly(p);
	return true;
}

/** In a Write, behind whose first segments are whole answers. */
static bool break_fin_in_write(struct foreign_rnic *p)
{
	if (!p->write.open || p->send.open)
		return false;
	foreign_rnic_answer_all(p);
	expect(p, "the end of the stream in a Write", MPA_CLOSED, 0, 0);
	close_badly(p);
	return true;
}

bool foreign_rnic_break(struct foreign_rnic *p)
{
	static bool (*const deeds[])(struct foreign_rnic * p) = {break_write, break_window,
		break_window_read, break_send, break_open_send, break_opcode, break_read,
		break_depth, break_atomic, break_no_response, break_response, break_response,
		break_open_response, break_fpdu, break_fpdu, break_short, break_fin,
		break_fin_in_write};

	if (!p->asked && !p->rejects) {
		if (world_chance(p->world, 0.9))
			return false;
		p->startup_flaw = (enum foreign_startup_flaw)(
			1 + world_below(p->world, FOREIGN_FLAWS - 1 - !p->initiator));
		p->deed = "a start-up frame that is none";
		p->world->broken = true;
		return true;
	}
	if (!p->may_send || p->rtr_due || p->fin || p->gone || p->host_fin)
		return false;
	return deeds[world_below(p->world, sizeof deeds / sizeof *deeds)](p);
}
