/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/box.h"

#include "base/bytes.h"
#include "base/container_of.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "sim/headers.h"
#include "tcp/tcp_wire.h"

#include <stdlib.h>

#define HOLD_MOST   (500 * SIM_MS)
#define REPEAT_MOST (60 * SIM_S)
#define REPEAT_P    0.02
#define REPEATS     64
/** From a quarter of a millisecond on. */
#define AGAIN_MOST   (4 * SIM_S)
#define AGAIN_SCALES 15
#define AGAINS       256
/** The least ephemeral port, and the bits that a translation changes: it stays one (RFC 6335
 * section 6). */
#define PORT_LEAST 49152
#define PORT_BITS  0x3fff

struct box {
	struct sim_element out, in; /**< out is the one that the simulation knows */
	struct prng rng;
	unsigned acts;
	uint16_t translation; /**< the difference of inside and outside ports */
	struct sim_fifo held;
	struct sim_event release;
	double again; /**< share of what comes again soon */
	struct sim_heap old;
	struct sim_event repeat; /**< of the first of them */
};

/* ---- what waits ---------------------------------------------------------------------------- */

static void let_go(struct box *x)
{
	sim_event_clear(&x->out.sim->events, &x->release);
	while (x->held.n)
		sim_pass(&x->out, sim_fifo_take(&x->held));
}

static void released(struct sim_event *e)
{
	let_go(container_of(e, struct box, release));
}

static void hold(struct box *x, struct rte_mbuf *m)
{
	sim_fifo_push(&x->held, m, 0);
	if (!sim_event_is_set(&x->release))
		sim_event_set(&x->out.sim->events, &x->release,
			x->out.sim->now + 1 + prng_below(&x->rng, HOLD_MOST));
}

static void repeat_next(struct box *x)
{
	sim_event_set(&x->out.sim->events, &x->repeat,
		x->old.n ? sim_packet(x->old.v[0])->at : SIM_NEVER);
}

static void repeated(struct sim_event *e)
{
	struct box *x = container_of(e, struct box, repeat);
	struct rte_mbuf *m = sim_heap_take(&x->old);

	repeat_next(x);
	sim_pass(&x->out, m);
}

/** Bytes of its own: the sender may use its memory again by then. */
static void keep_for_later(struct box *x, struct rte_mbuf *m, uint64_t most)
{
	struct rte_mbuf *copy;

	copy = sim_packet_copy(x->out.sim, m);
	copy = copy ? sim_packet_own(x->out.sim, copy) : NULL;
	if (!copy)
		return;
	sim_packet(copy)->at = x->out.sim->now + 1 + prng_below(&x->rng, most);
	sim_heap_push(&x->old, copy);
	repeat_next(x);
}

/* ---- what is rewritten --------------------------------------------------------------------- */

/** Write NOPs over the option at @p p, or a smaller MSS into it. */
static void rewrite_option(struct box *x, uint8_t *p, bool syn)
{
	const bool stripped = syn ? x->acts & BOX_STRIP && p[0] != TCP_OPT_MSS
				  : x->acts & BOX_NO_SACK && p[0] == TCP_OPT_SACK;

	if (stripped)
		memset(p, TCP_OPT_NOP, p[1]);
	else if (syn && x->acts & BOX_CLAMP && p[0] == TCP_OPT_MSS && p[1] == 4 &&
		 load_be16(p + 2) > 536)
		store_be16(p + 2, (uint16_t)(536 + prng_below(&x->rng, load_be16(p + 2) - 536u)));
}

static void rewrite_options(struct box *x, const struct sim_headers *h)
{
	uint8_t *p = h->frame + h->l4 + TCP_HEADER_LEN, *end = h->frame + h->text;

	while (p < end && *p != TCP_OPT_END) {
		uint8_t len = *p == TCP_OPT_NOP ? 1 : end - p > 1 ? p[1] : 0;

		if (!len || len > end - p)
			return;
		/* An option that only one side has been told of would break the stream. */
		if (*p != TCP_OPT_NOP && (h->flags & (TCP_SYN | TCP_ACK)) != (TCP_SYN | TCP_ACK))
			rewrite_option(x, p, h->flags & TCP_SYN);
		p += len;
	}
}

static void rewrite_ip(struct box *x, const struct sim_headers *h)
{
	uint8_t *l3 = h->frame + h->l3;

	if (x->acts & BOX_TTL)
		l3[h->v4 ? IPV4_TTL : IPV6_HOP_LIMIT] = (uint8_t)(1 + prng_below(&x->rng, 255));
	if (x->acts & BOX_ECN && prng_chance(&x->rng, 0.3)) {
		unsigned shift = h->v4 ? 0 : 4;

		l3[1] = (uint8_t)((l3[1] & ~(3u << shift)) | prng_below(&x->rng, 4) << shift);
	}
}

static void rewrite_tcp(struct box *x, const struct sim_headers *h)
{
	uint8_t *l4 = h->frame + h->l4;

	rewrite_options(x, h);
	if (x->acts & BOX_FLAGS && !(h->flags & TCP_SYN))
		l4[TCP_OFF_FLAGS] ^= (uint8_t)(prng_u64(&x->rng) & (TCP_PSH | TCP_ECE | TCP_CWR));
	else if (x->acts & BOX_FLAGS)
		l4[TCP_OFF_FLAGS] &= (uint8_t) ~(TCP_ECE | TCP_CWR);
	if (x->acts & BOX_WINDOW && prng_chance(&x->rng, 0.05))
		store_be16(l4 + TCP_OFF_WND,
			(uint16_t)prng_below(&x->rng, load_be16(l4 + TCP_OFF_WND) + 1u));
}

static void translate(const struct box *x, uint8_t *port)
{
	if (load_be16(port) >= PORT_LEAST)
		store_be16(port, load_be16(port) ^ x->translation);
}

/** @return @p m, with bytes of its own, or NULL. */
static struct rte_mbuf *rewrite(struct box *x, struct rte_mbuf *m, bool outwards)
{
	struct sim_headers h;

	m = sim_packet_own(x->out.sim, m);
	if (!m || !sim_headers_find(m, &h) || !h.is_tcp)
		return m;
	/* A segment that was corrupted on its way must not get a right checksum here. */
	if (!sim_headers_are_sound(&h)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	translate(x, h.frame + h.l4 + (outwards ? TCP_OFF_SPORT : TCP_OFF_DPORT));
	if (outwards) {
		rewrite_ip(x, &h);
		rewrite_tcp(x, &h);
	}
	sim_headers_checksum(&h);
	return m;
}

/* ---- the element --------------------------------------------------------------------------- */

static void out_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct box *x = container_of(e, struct box, out);

	if (x->translation || x->acts & ~(unsigned)(BOX_HOLD | BOX_REPEAT))
		m = rewrite(x, m, true);
	if (!m)
		return;
	if (x->acts & BOX_REPEAT && x->old.n != REPEATS && prng_chance(&x->rng, REPEAT_P))
		keep_for_later(x, m, REPEAT_MOST);
	/* As often within milliseconds as within seconds. */
	if (x->again > 0 && x->old.n < AGAINS && prng_chance(&x->rng, x->again))
		keep_for_later(x, m, AGAIN_MOST >> prng_below(&x->rng, AGAIN_SCALES));
	if (x->acts & BOX_HOLD)
		hold(x, m);
	else
		sim_pass(e, m);
}

static void in_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct box *x = container_of(e, struct box, in);

	if (x->translation)
		m = rewrite(x, m, false);
	if (m)
		sim_pass(e, m);
}

static void box_destroy(struct sim_element *e)
{
	struct box *x = container_of(e, struct box, out);

	sim_event_clear(&e->sim->events, &x->release);
	sim_event_clear(&e->sim->events, &x->repeat);
	sim_fifo_free(&x->held);
	sim_heap_free(&x->old);
	free(x);
}

struct box *box_create(struct sim *s)
{
	static const struct sim_element_ops out_ops = {out_input, box_destroy};
	static const struct sim_element_ops in_ops = {.input = in_input};
	struct box *x = sim_element_new(s, &out_ops, sizeof *x);

	x->in = (struct sim_element){.ops = &in_ops, .sim = s};
	x->rng.state = prng_u64(&s->rng);
	x->release.fn = released;
	x->repeat.fn = repeated;
	return x;
}

struct sim_element *box_out(struct box *x)
{
	return &x->out;
}

struct sim_element *box_in(struct box *x)
{
	return &x->in;
}

void box_set(struct box *x, unsigned acts)
{
	x->acts = acts;
	if (!(acts & BOX_HOLD))
		let_go(x);
}

void box_repeat(struct box *x, double p)
{
	x->again = p;
}

void box_rebind(struct box *x)
{
	x->translation ^= (uint16_t)(1 + prng_below(&x->rng, PORT_BITS));
}
