/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_rnic.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_MAX (4u << 20)

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void foreign_rnic_start(struct foreign_rnic *p, struct foreign_world *w)
{
	*p = (struct foreign_rnic){.world = w, .terminate = -1, .out = malloc(OUT_MAX)};
	assert(p->out);
	p->initiator = world_chance(w, 0.5);
	p->markers = world_chance(w, 0.4);
	p->crc = world_chance(w, 0.6);
	p->revision = world_chance(w, 0.75) ? 2 : 1;
	p->enhanced = p->revision == 2;
	p->p2p = world_chance(w, 0.5);
	p->rtr = (uint8_t)(1 + world_below(w, 7));
	p->ird = (uint16_t)world_below(w, 9);
	p->ord = (uint16_t)world_below(w, 9);
	p->ulpdu_max = 128 + world_below(w, world_chance(w, 0.8) ? 1400 : 9000);
	p->cuts = world_chance(w, 0.35) ? 0.5 : 0;
	p->reserved = world_chance(w, 0.1);
	for (unsigned i = 0; i < FOREIGN_CODES; i++)
		p->expects[i] = -2;
	for (unsigned i = 0; i < 4; i++)
		p->tx_msn[i] = p->rx_msn[i] = 1;
}

void foreign_rnic_end(struct foreign_rnic *p)
{
	llp_mem_peer_done(&p->tcp);
	free(p->out);
}

/* ---- to TCP -----------------------------------------------------------------------------------
 */

/** In one segment, or in several. */
void foreign_rnic_flush(struct foreign_rnic *p)
{
	size_t at = 0, n;

	for (; p->tcp.llp && at < p->out_len; at += n) {
		n = p->out_len - at;
		if (world_chance(p->world, p->cuts))
			n = 1 + world_below(p->world, n);
		llp_mem_send_raw(p->tcp.llp, p->out + at, n);
	}
	p->out_len = 0;
}

void foreign_rnic_put(struct foreign_rnic *p, const void *octets, size_t len)
{
	assert(len <= OUT_MAX - p->out_len);
	if (!p->fin)
		memcpy(p->out + p->out_len, octets, len);
	p->out_len += p->fin ? 0 : len;
	if (!world_chance(p->world, p->cuts))
		foreign_rnic_flush(p);
}

static void show(const struct foreign_rnic *p, const char *way, const struct foreign_segment *s)
{
	if (!p->world->trace)
		return;
	if (s->tagged)
		printf("%s op %x%s stag %08x to %llx len %u\n", way, s->opcode, s->last ? " L" : "",
			s->stag, (unsigned long long)s->to, s->len);
	else
		printf("%s op %x%s qn %u msn %u mo %u ulp32 %08x len %u\n", way, s->opcode,
			s->last ? " L" : "", s->qn, s->msn, s->mo, s->ulp32, s->len);
}

void foreign_rnic_segment(
	struct foreign_rnic *p, const struct foreign_segment *s, enum foreign_flaw flaw)
{
	static uint8_t ulpdu[FOREIGN_ULPDU_MAX], fpdu[FOREIGN_FPDU_MAX];
	struct foreign_segment sent = *s;
	size_t len;

	if (p->reserved) {
		sent.reserved = (uint8_t)world_below(p->world, 16);
		sent.rdmap_reserved = (uint8_t)world_below(p->world, 4);
	}
	show(p, "<", &sent);
	len = foreign_put_segment(ulpdu, &sent);
	len = foreign_put_fpdu(
		&p->tx, fpdu, ulpdu, len, flaw, (uint32_t)prng_u64(&p->world->random));
	foreign_rnic_put(p, fpdu, len);
	p->has_sent = true;
}

static struct foreign_segment untagged(
	const struct foreign_rnic *p, uint8_t opcode, uint32_t qn, const void *header, uint32_t len)
{
	return (struct foreign_segment){.last = true,
		.ddp_version = 1,
		.rdmap_version = 1,
		.opcode = opcode,
		.qn = qn,
		.msn = p->tx_msn[qn],
		.payload = header,
		.len = len};
}

void foreign_rnic_untagged(
	struct foreign_rnic *p, uint8_t opcode, uint32_t qn, const void *header, uint32_t len)
{
	struct foreign_segment s = untagged(p, opcode, qn, header, len);

	foreign_rnic_segment(p, &s, FOREIGN_NO_FLAW);
	p->tx_msn[qn]++;
}

/* ---- messages of several segments -------------------------------------------------------------
 */

static uint32_t choose_len(struct foreign_rnic *p, uint32_t most)
{
	struct foreign_world *w = p->world;

	switch (world_below(w, 5)) {
	case 0:
		return 0;
	case 1:
		return least(most, 1 + world_below(w, 9));
	case 2:
		return most;
	default:
		return world_below(w, most + 1u);
	}
}

/** The next segment's payload: as much as fits, or less. */
static uint32_t choose_part(
	struct foreign_rnic *p, const struct foreign_message *m, uint32_t header)
{
	uint32_t left = m->len - m->sent, n = least(left, p->ulpdu_max - header);

	if (n > 1 && left < 1000 && world_chance(p->world, 0.4))
		n = 1 + world_below(p->world, world_chance(p->world, 0.3) ? least(n, 8) : n);
	return n;
}

static const uint8_t *choose_payload(struct foreign_rnic *p, uint32_t len)
{
	return p->world->noise + world_below(p->world, NOISE_LEN - len);
}

static void log_placed(struct foreign_rnic *p, uint32_t at, uint32_t len, const uint8_t *payload)
{
	struct foreign_world *w = p->world;

	assert(w->placings < PLACED_MOST);
	if (len)
		w->placed[w->placings++] = (struct placed){
			.at = at, .len = len, .payload = payload, .late = w->broken};
}

/** @return false: it is not whole yet. */
static bool send_tagged_part(struct foreign_rnic *p, struct foreign_message *m)
{
	uint32_t n = choose_part(p, m, 14);
	struct foreign_segment s = {.tagged = true,
		.ddp_version = 1,
		.rdmap_version = 1,
		.opcode = m->opcode,
		.stag = m->stag,
		.to = m->to + m->sent,
		.payload = m->payload + m->sent,
		.len = n};

	/* Nobody minds an empty segment before the last one. */
	if (m->len && world_chance(p->world, 0.03))
		s.len = n = 0;
	s.last = m->sent + n == m->len && (m->len == 0 || n != 0);
	foreign_rnic_segment(p, &s, FOREIGN_NO_FLAW);
	if (m->opcode == FOREIGN_WRITE)
		log_placed(p, m->at + m->sent, n, s.payload);
	m->sent += n;
	m->open = !s.last;
	return s.last;
}

static void send_write_part(struct foreign_rnic *p)
{
	if (!send_tagged_part(p, &p->write))
		return;
	p->write_len = p->write.len;
}

/** One of the windows to an area that may be used; or NULL. */
static struct window *bound_window(struct foreign_rnic *p, enum foreign_area area)
{
	struct foreign_world *w = p->world;
	unsigned i = world_below(w, WINDOWS);

	return window_area(i) == area && w->window[i].state == WINDOW_BOUND ? &w->window[i] : NULL;
}

static void begin_write(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct window *window = bound_window(p, AREA_WRITE);
	uint32_t room = window ? WINDOW_LEN : AREA_LEN;
	struct foreign_message *m = &p->write;
	uint32_t at;

	if (w->placings > PLACED_MOST / 2)
		return;
	*m = (struct foreign_message){
		.open = true, .opcode = FOREIGN_WRITE, .stag = w->stag[AREA_WRITE]};
	m->len = choose_len(p, least(room, world_chance(w, 0.2) ? 9000 : 700));
	at = world_below(w, room - m->len + 1);
	m->at = window ? window->at + at : at;
	m->to = window ? window->base + at : w->iova[AREA_WRITE] + at;
	if (window)
		m->stag = window->stag;
	m->payload = choose_payload(p, m->len);
	p->write_len = 0;
	if (!m->len) /* nobody may look at them (RFC 5041 section 5.2) */
		m->stag = (uint32_t)prng_u64(&w->random);
	send_write_part(p);
}

static void send_send_part(struct foreign_rnic *p)
{
	struct foreign_message *m = &p->send;
	uint32_t n = choose_part(p, m, 18);
	struct foreign_segment s = untagged(p, m->opcode, 0, m->payload + m->sent, n);

	s.mo = m->sent;
	s.ulp32 = m->ulp32;
	s.last = m->sent + n == m->len;
	foreign_rnic_segment(p, &s, FOREIGN_NO_FLAW);
	m->sent += n;
	m->open = !s.last;
	p->tx_msn[0] += s.last;
	if (s.last)
		p->write_len = 0;
}

/** May a message for a receive be sent? @p len: the room that it has there. */
static bool has_room(const struct foreign_rnic *p, uint32_t *len)
{
	const struct foreign_world *w = p->world;
	const struct receive *r = &w->receive[w->deliveries];

	if (p->send.open || w->deliveries + 2 >= MOST)
		return false;
	if (w->deliveries < w->receives)
		*len = r->part[0] + r->part[1];
	else
		*len = 0; /* whatever will be posted */
	return w->deliveries < w->receives ||
	       (w->waits && !w->closed && w->deliveries < w->receives + 3);
}

static struct delivery *deliver(struct foreign_rnic *p, uint8_t opcode)
{
	struct foreign_world *w = p->world;
	struct delivery *d = &w->delivery[w->deliveries++];

	*d = (struct delivery){.opcode = opcode, .placed = w->placings, .late = w->broken};
	return d;
}

/** A window that the peer takes away, and does not use; or NULL. */
static struct window *choose_window(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct window *window = &w->window[world_below(w, WINDOWS)];

	if (window->state != WINDOW_BOUND || (p->write.open && p->write.stag == window->stag))
		return NULL;
	for (unsigned i = 0; i < p->outbounds; i++)
		if (p->outbound[i].source == window->stag)
			return NULL;
	return window;
}

static void begin_send(struct foreign_rnic *p, uint32_t room)
{
	struct foreign_world *w = p->world;
	struct foreign_message *m = &p->send;
	struct window *window = world_chance(w, 0.5) ? choose_window(p) : NULL;
	bool solicited = world_chance(w, 0.3);
	struct delivery *d;

	*m = (struct foreign_message){.open = true,
		.opcode = solicited ? FOREIGN_SEND_SE : FOREIGN_SEND,
		.len = choose_len(p, room)};
	if (window) {
		m->opcode = solicited ? FOREIGN_SEND_SE_INV : FOREIGN_SEND_INV;
		m->ulp32 = window->stag;
		window->state = WINDOW_ENDING;
	}
	m->payload = choose_payload(p, m->len);
	d = deliver(p, m->opcode);
	d->payload = m->payload;
	d->len = m->len;
	d->stag = m->ulp32;
	send_send_part(p);
}

static void send_immediate(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	uint8_t data[FOREIGN_IMMEDIATE_LEN];
	uint8_t opcode = world_chance(w, 0.5) ? FOREIGN_IMMEDIATE : FOREIGN_IMMEDIATE_SE;
	struct delivery *d = deliver(p, opcode);

	d->write_len = p->write_len;
	foreign_put64(data, prng_u64(&w->random));
	memcpy(&d->imm, data, 4);
	p->write_len = 0;
	foreign_rnic_untagged(p, opcode, 0, data, sizeof data);
}

/* ---- its own requests -------------------------------------------------------------------------
 */

static struct foreign_outbound *outbound(struct foreign_rnic *p)
{
	struct foreign_outbound *o = &p->outbound[p->outbounds++];

	*o = (struct foreign_outbound){.id = (uint32_t)prng_u64(&p->world->random)};
	return o;
}

static void put_read(uint8_t *h, const struct foreign_outbound *o, uint32_t stag, uint64_t to)
{
	foreign_put32(h, o->stag);
	foreign_put64(h + 4, o->to);
	foreign_put32(h + 12, o->len);
	foreign_put32(h + 16, stag);
	foreign_put64(h + 20, to);
}

static void send_read(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct window *window = bound_window(p, AREA_READ);
	uint32_t room = window ? WINDOW_LEN : AREA_LEN, at;
	struct foreign_outbound *o = outbound(p);
	uint8_t header[FOREIGN_READ_LEN];

	o->stag = (uint32_t)prng_u64(&w->random);
	o->to = prng_u64(&w->random) >> 1;
	o->len = choose_len(p, world_chance(w, 0.2) ? room : 2000);
	at = world_below(w, room - o->len + 1);
	o->at = window ? window->at + at : at;
	o->source = window ? window->stag : w->stag[AREA_READ];
	if (!o->len) /* nobody may look at it (RFC 5040 section 5.2.1) */
		o->source = (uint32_t)prng_u64(&w->random);
	put_read(header, o, o->source, (window ? window->base : w->iova[AREA_READ]) + at);
	foreign_rnic_untagged(p, FOREIGN_READ_REQUEST, 1, header, sizeof header);
}

/** RFC 7306 section 5.1.1: @p mask has the highest bit of each field. */
static uint64_t add_fields(uint64_t a, uint64_t b, uint64_t mask)
{
	uint64_t sum = 0;
	unsigned carry = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned n = (unsigned)(a >> i & 1) + (unsigned)(b >> i & 1) + carry;

		sum |= (uint64_t)(n & 1) << i;
		carry = mask >> i & 1 ? 0 : n >> 1;
	}
	return sum;
}

static void put_atomic(uint8_t *h, const uint32_t *code_id_stag, const uint64_t *to_and_operands)
{
	for (unsigned i = 0; i < 3; i++)
		foreign_put32(h + 4 * i, code_id_stag[i]);
	for (unsigned i = 0; i < 5; i++)
		foreign_put64(h + 12 + 8 * i, to_and_operands[i]);
}

static uint64_t mask(struct foreign_world *w)
{
	return world_chance(w, 0.4) ? 0 : world_chance(w, 0.4) ? UINT64_MAX : prng_u64(&w->random);
}

static void send_atomic(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct foreign_outbound *o = outbound(p);
	unsigned i = world_below(w, ATOMICS);
	bool swap = world_chance(w, 0.5);
	uint64_t v[5] = {w->iova[AREA_ATOMIC] + 8 * i, prng_u64(&w->random), mask(w),
		world_chance(w, 0.5) ? w->atomic[i] : prng_u64(&w->random), mask(w)};
	uint32_t code[3] = {swap ? 2 : 0, o->id, w->stag[AREA_ATOMIC]};
	uint8_t header[FOREIGN_ATOMIC_LEN];

	o->atomic = true;
	o->original = w->atomic[i];
	put_atomic(header, code, v);
	if (w->broken) /* it is not done any more */
		;
	else if (swap && !((v[3] ^ o->original) & v[4]))
		w->atomic[i] = (o->original & ~v[2]) | (v[1] & v[2]);
	else if (!swap)
		w->atomic[i] = add_fields(o->original, v[1], v[2]);
	foreign_rnic_untagged(p, FOREIGN_ATOMIC_REQUEST, 1, header, sizeof header);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static void answered(struct foreign_rnic *p)
{
	if (p->inbound[0].request && !p->world->broken)
		p->inbound[0].request->answered = true;
	p->inbounds--;
	memmove(p->inbound, p->inbound + 1, p->inbounds * sizeof *p->inbound);
}

static void send_response_part(struct foreign_rnic *p)
{
	if (send_tagged_part(p, &p->response))
		answered(p);
}

static void answer(struct foreign_rnic *p)
{
	const struct foreign_inbound *in = &p->inbound[0];
	uint8_t header[FOREIGN_ATOMIC_RESPONSE_LEN];
	struct request *q = in->request;

	if (q && !p->world->broken)
		q->begun = true;
	if (q && q->kind != REQUEST_READ) {
		foreign_put32(header, in->id);
		foreign_put64(header + 4, prng_u64(&p->world->random));
		for (unsigned i = 0; i < 8; i++) /* in the host's order: it is little-endian */
			q->answer[i] = header[11 - i];
		foreign_rnic_untagged(p, FOREIGN_ATOMIC_RESPONSE, 3, header, sizeof header);
		answered(p);
		return;
	}
	p->response = (struct foreign_message){.open = true,
		.opcode = FOREIGN_READ_RESPONSE,
		.payload = choose_payload(p, in->len),
		.len = in->len,
		.stag = in->stag,
		.to = in->to};
	if (q && !p->world->broken)
		memcpy(q->answer, p->response.payload, in->len);
	send_response_part(p);
}

void foreign_rnic_answer_all(struct foreign_rnic *p)
{
	while (p->response.open || p->inbounds) {
		if (p->response.open)
			send_response_part(p);
		else
			answer(p);
	}
}

/* ---- RTR --------------------------------------------------------------------------------------
 */

/** RFC 6581 section 9.2: an empty message that its program knows nothing of. */
static void send_rtr(struct foreign_rnic *p)
{
	struct foreign_segment write = {
		.tagged = true, .last = true, .ddp_version = 1, .rdmap_version = 1};
	struct foreign_outbound o = {0};
	uint8_t header[FOREIGN_READ_LEN];
	uint8_t type = p->rtr_due;

	p->rtr_due = 0;
	o.stag = write.stag = (uint32_t)prng_u64(&p->world->random);
	o.to = write.to = prng_u64(&p->world->random);
	put_read(header, &o, o.stag, o.to);
	if (type == FOREIGN_RTR_WRITE)
		foreign_rnic_segment(p, &write, FOREIGN_NO_FLAW);
	else if (type == FOREIGN_RTR_SEND)
		foreign_rnic_untagged(p, FOREIGN_SEND, 0, NULL, 0);
	else
		foreign_rnic_untagged(p, FOREIGN_READ_REQUEST, 1, header, sizeof header);
	if (type == FOREIGN_RTR_READ) {
		p->rtr_read = true;
		*outbound(p) = o;
	}
}

/* ---- what it does -----------------------------------------------------------------------------
 */

/** Something to open the host's direction by (RFC 5044 section 7.1.2 rule 4). */
static void send_first(struct foreign_rnic *p)
{
	const struct foreign_segment empty = {
		.tagged = true, .last = true, .ddp_version = 1, .rdmap_version = 1};

	foreign_rnic_segment(p, &empty, FOREIGN_NO_FLAW);
}

static void finish(struct foreign_rnic *p)
{
	if (p->write.open)
		send_write_part(p);
	if (p->send.open)
		send_send_part(p);
	if (p->response.open)
		send_response_part(p);
	else if (p->inbounds)
		answer(p);
	if (!p->has_sent)
		send_first(p);
	foreign_rnic_flush(p);
}

unsigned foreign_rnic_round_up(unsigned n)
{
	while (n & (n - 1))
		n++;
	return n;
}

/**
 * RFC 5040 section 6.1; an RTR Read does not count. Linux's siw, which knows neither markers nor
 * revision 1, has as many under way as the next power of two.
 */
static bool may_ask(const struct foreign_rnic *p)
{
	bool siw = p->enhanced && !p->markers && p->ird & 1;
	unsigned most = siw ? foreign_rnic_round_up(p->ord) : p->ord;

	return p->outbounds < most + p->rtr_read;
}

static void begin_something(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	uint32_t room;

	switch (world_below(w, 7)) {
	case 0:
	case 1:
		if (!p->write.open)
			begin_write(p);
		break;
	case 2:
	case 3:
		if (has_room(p, &room))
			begin_send(p, room);
		break;
	case 4:
		if (has_room(p, &room))
			send_immediate(p);
		break;
	case 5:
		if (may_ask(p))
			send_read(p);
		break;
	default:
		if (may_ask(p))
			send_atomic(p);
		break;
	}
}

static void go_on(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;

	if (p->write.open && world_chance(w, 0.4))
		send_write_part(p);
	else if (p->send.open && world_chance(w, 0.5))
		send_send_part(p);
	else if (p->response.open && world_chance(w, 0.7))
		send_response_part(p);
	else if (p->inbounds && !p->response.open && world_chance(w, 0.3))
		answer(p);
	else if (!p->host_fin)
		begin_something(p);
	if (world_chance(w, 0.2))
		foreign_rnic_flush(p);
}

void foreign_rnic_act(struct foreign_rnic *p)
{
	foreign_startup_act(p);
	if (!p->may_send || p->fin || p->gone || p->startup_flaw)
		return;
	if (p->rtr_due && (p->calm || world_chance(p->world, 0.3)))
		send_rtr(p);
	else if (p->rtr_due)
		return;
	if (p->calm)
		finish(p);
	else
		go_on(p);
}

bool foreign_rnic_is_idle(const struct foreign_rnic *p)
{
	return !p->write.open && !p->send.open && !p->response.open && !p->inbounds &&
	       (!p->outbounds || p->host_fin) && !p->rtr_due && !p->out_len;
}

void foreign_rnic_close(struct foreign_rnic *p)
{
	if (!p->answered || p->fin || p->gone || p->write.open || p->send.open ||
		p->response.open || p->rtr_due || (!p->has_sent && !p->host_fin))
		return;
	foreign_rnic_flush(p);
	p->fin = true;
	if (p->tcp.llp)
		llp_shutdown(p->tcp.llp);
}

void foreign_rnic_abort(struct foreign_rnic *p)
{
	p->gone = true;
	if (p->tcp.llp)
		llp_abort(p->tcp.llp);
	p->tcp.llp = NULL;
	p->out_len = 0;
}

void foreign_rnic_terminate(struct foreign_rnic *p)
{
	/* Local catastrophic, with nothing quoted. */
	static const uint8_t header[4] = {0};

	foreign_rnic_untagged(p, FOREIGN_TERMINATE, 2, header, sizeof header);
	foreign_rnic_flush(p);
	p->fin = true;
	if (p->tcp.llp)
		llp_shutdown(p->tcp.llp);
}

/* ---- what comes -------------------------------------------------------------------------------
 */

void foreign_rnic_input(struct foreign_rnic *p)
{
	static uint8_t ulpdu[FOREIGN_ULPDU_MAX];
	struct foreign_segment s;
	const char *wrong = NULL;
	size_t n, len;

	while (p->tcp.rx_len && !p->world->wrong) {
		bool full = p->answered;

		if (full)
			n = foreign_get_fpdu(&p->rx, p->tcp.rx, p->tcp.rx_len, ulpdu, &len, &wrong);
		else
			n = foreign_startup_input(p, p->tcp.rx, p->tcp.rx_len);
		if (!n)
			break;
		if (wrong)
			return world_wrong(p->world, wrong);
		llp_mem_peer_consume(&p->tcp, n);
		if (full && !foreign_get_segment(ulpdu, len, &s))
			return world_wrong(p->world, "a segment of the host is too short");
		if (full) {
			show(p, ">", &s);
			foreign_check_segment(p, &s, len);
		}
	}
	if (p->tcp.eof && !p->host_fin) {
		p->host_fin = true;
		if (p->tcp.rx_len)
			world_wrong(p->world, "the host closes in the middle of an FPDU");
	}
}
