/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
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

void foreign_write_part(struct foreign_rnic *p)
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

void foreign_write_begin(struct foreign_rnic *p)
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
	foreign_write_part(p);
}

void foreign_send_part(struct foreign_rnic *p)
{
	struct foreign_message *m = &p->send;
	uint32_t n = choose_part(p, m, 18);
	struct foreign_segment s = foreign_rnic_message(p, m->opcode, 0, m->payload + m->sent, n);

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
bool foreign_send_has_room(const struct foreign_rnic *p, uint32_t *len)
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

void foreign_send_begin(struct foreign_rnic *p, uint32_t room)
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
	foreign_send_part(p);
}

void foreign_immediate_send(struct foreign_rnic *p)
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

struct foreign_outbound *foreign_outbound_add(struct foreign_rnic *p)
{
	struct foreign_outbound *o = &p->outbound[p->outbounds++];

	*o = (struct foreign_outbound){.id = (uint32_t)prng_u64(&p->world->random)};
	return o;
}

void foreign_read_put(uint8_t *h, const struct foreign_outbound *o, uint32_t stag, uint64_t to)
{
	foreign_put32(h, o->stag);
	foreign_put64(h + 4, o->to);
	foreign_put32(h + 12, o->len);
	foreign_put32(h + 16, stag);
	foreign_put64(h + 20, to);
}

void foreign_read_ask(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct window *window = bound_window(p, AREA_READ);
	uint32_t room = window ? WINDOW_LEN : AREA_LEN, at;
	struct foreign_outbound *o = foreign_outbound_add(p);
	uint8_t header[FOREIGN_READ_LEN];

	o->stag = (uint32_t)prng_u64(&w->random);
	o->to = prng_u64(&w->random) >> 1;
	o->len = choose_len(p, world_chance(w, 0.2) ? room : 2000);
	at = world_below(w, room - o->len + 1);
	o->at = window ? window->at + at : at;
	o->source = window ? window->stag : w->stag[AREA_READ];
	if (!o->len) /* nobody may look at it (RFC 5040 section 5.2.1) */
		o->source = (uint32_t)prng_u64(&w->random);
	foreign_read_put(header, o, o->source, (window ? window->base : w->iova[AREA_READ]) + at);
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

void foreign_atomic_ask(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct foreign_outbound *o = foreign_outbound_add(p);
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
	struct request *q = p->inbound[0].request;

	if (q)
		*(p->world->broken ? &q->late_answered : &q->answered) = true;
	p->inbounds--;
	memmove(p->inbound, p->inbound + 1, p->inbounds * sizeof *p->inbound);
}

void foreign_response_part(struct foreign_rnic *p)
{
	if (send_tagged_part(p, &p->response))
		answered(p);
}

void foreign_response_begin(struct foreign_rnic *p)
{
	const struct foreign_inbound *in = &p->inbound[0];
	uint8_t header[FOREIGN_ATOMIC_RESPONSE_LEN];
	struct request *q = in->request;

	if (q)
		*(p->world->broken ? &q->late_begun : &q->begun) = true;
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
	if (q && !(p->world->broken && q->begun)) /* by an illegal answer */
		memcpy(q->answer, p->response.payload, in->len);
	foreign_response_part(p);
}

void foreign_rnic_answer_all(struct foreign_rnic *p)
{
	while (p->response.open || p->inbounds) {
		if (p->response.open)
			foreign_response_part(p);
		else
			foreign_response_begin(p);
	}
}
