/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/forge.h"

#include "base/bytes.h"
#include "base/container_of.h"
#include "ip/eth_wire.h"
#include "ip/icmp_wire.h"
#include "sim/headers.h"
#include "sim/icmp_error.h"
#include "tcp/tcp_wire.h"

/** Farther than any window reaches. */
#define FAR (UINT32_C(1) << 30)
/** Of the timestamp option with two NOPs before it, and of one SACK block likewise. */
#define SACK_LEN 12

enum lie {
	RST_FAR,
	RST_NEAR,
	RST_EXACT,
	SYN_NEAR,
	FIN_FAR,
	FIN_EXACT,
	ACK_AHEAD,
	WINDOW_CLOSED,
	SACK_OF_NOTHING,
	TEXT_OLD,
	TEXT_EXACT,
	ICMP_ERROR,
	ICMP_MTU,
	LIES
};

/** What it is a lie about. */
struct original {
	struct sim_headers h;
	uint32_t seq, next; /**< its first sequence number, and that behind it */
	uint8_t *tcp;       /**< of the forgery */
};

static void change(struct original *o, uint8_t flags, uint32_t seq)
{
	o->tcp[TCP_OFF_FLAGS] = flags;
	store_be32(o->tcp + TCP_OFF_SEQ, seq);
}

/** @return the length of a text, which is random. */
static uint32_t put_text(struct forge *x, struct rte_mbuf *m)
{
	uint32_t len = 1 + (uint32_t)prng_below(&x->rng, 400);
	uint8_t *to = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);

	for (uint32_t i = 0; i < len; i++)
		to[i] = (uint8_t)prng_u64(&x->rng);
	return len;
}

/** Say that some bytes have come which may be lost: those shortly behind the acknowledged ones. */
static void put_sack(struct forge *x, struct original *o, struct rte_mbuf *m)
{
	static const uint8_t ts[] = {TCP_OPT_NOP, TCP_OPT_NOP, TCP_OPT_TS, 10};
	uint8_t *p = o->tcp + TCP_HEADER_LEN;
	uint32_t left = load_be32(o->tcp + TCP_OFF_ACK) + 1 + (uint32_t)prng_below(&x->rng, 3000);
	uint32_t len = TCP_HEADER_LEN + SACK_LEN;

	if (o->h.text >= o->h.l4 + TCP_HEADER_LEN + TCP_TS_LEN && !memcmp(p, ts, sizeof ts)) {
		p += TCP_TS_LEN;
		len += TCP_TS_LEN;
	}
	if (o->h.text < o->h.l4 + len)
		rte_pktmbuf_append(m, (uint16_t)(o->h.l4 + len - o->h.text));
	else
		rte_pktmbuf_trim(m, (uint16_t)(o->h.text - (o->h.l4 + len)));
	p[0] = p[1] = TCP_OPT_NOP;
	p[2] = TCP_OPT_SACK;
	p[3] = 10;
	store_be32(p + 4, left);
	store_be32(p + 8, left + 1 + (uint32_t)prng_below(&x->rng, 3000));
	o->tcp[TCP_OFF_DATA] = (uint8_t)(len / 4 << 4);
	o->h.text = o->h.l4 + len;
}

/** @return bytes of text behind the header. */
static uint32_t forge_segment(struct forge *x, enum lie lie, struct original *o, struct rte_mbuf *m)
{
	uint32_t near = o->next + 40000 + (uint32_t)prng_below(&x->rng, 20000);

	switch (lie) {
	case RST_FAR:
		change(o, TCP_RST | TCP_ACK, o->next + FAR);
		return 0;
	case RST_NEAR:
		change(o, TCP_RST, near);
		return 0;
	case RST_EXACT:
		change(o, TCP_RST, o->next);
		return 0;
	case SYN_NEAR:
		change(o, TCP_SYN, near);
		return 0;
	case FIN_FAR:
		change(o, TCP_FIN | TCP_ACK, o->next + FAR);
		return 0;
	case FIN_EXACT:
		change(o, TCP_FIN | TCP_ACK, o->next);
		return 0;
	case ACK_AHEAD:
		store_be32(o->tcp + TCP_OFF_ACK, load_be32(o->tcp + TCP_OFF_ACK) + FAR);
		change(o, TCP_ACK, o->next);
		return 0;
	case WINDOW_CLOSED:
		store_be16(o->tcp + TCP_OFF_WND, 0);
		change(o, TCP_ACK, o->next);
		return 0;
	case SACK_OF_NOTHING:
		change(o, TCP_ACK, o->next);
		put_sack(x, o, m);
		return 0;
	case TEXT_OLD:
		change(o, TCP_ACK, o->seq - 100000);
		return put_text(x, m);
	default:
		change(o, TCP_ACK | TCP_PSH, o->next);
		return put_text(x, m);
	}
}

/** A copy of its headers, changed. */
static struct rte_mbuf *forge_from(struct forge *x, enum lie lie, const struct sim_headers *h)
{
	struct original o = {.h = *h};
	struct rte_mbuf *m = sim_packet_new(x->element.sim);
	uint32_t len;

	if (!m)
		return NULL;
	memcpy(rte_pktmbuf_append(m, (uint16_t)h->text), h->frame, h->text);
	o.h.frame = rte_pktmbuf_mtod(m, uint8_t *);
	o.tcp = o.h.frame + h->l4;
	o.seq = load_be32(o.tcp + TCP_OFF_SEQ);
	o.next = o.seq + (h->end - h->text);
	len = forge_segment(x, lie, &o, m);
	sim_headers_set_text(m, &o.h, len);
	return m;
}

/** What a host may be told of a connection that works, by somebody who has seen its segment. */
static void tell_by_icmp(struct forge *x, enum lie lie, const struct sim_headers *h)
{
	static const uint8_t v6_types[] = {
		ICMPV6_UNREACHABLE, ICMPV6_UNREACHABLE, ICMPV6_TIME_EXCEEDED, ICMPV6_PARAMETER};
	struct sim_icmp_error error = {
		.type = h->v4 ? ICMP_UNREACHABLE : v6_types[prng_below(&x->rng, 4)],
		.code = (uint8_t)prng_below(&x->rng, h->v4 ? 16 : 8)};
	struct rte_mbuf *m;

	if (lie == ICMP_MTU) {
		error.type = h->v4 ? ICMP_UNREACHABLE : ICMPV6_TOO_BIG;
		error.code = h->v4 ? ICMP_UNREACHABLE_FRAG_NEEDED : 0;
		error.body = (uint32_t)prng_below(&x->rng, 2000);
	}
	m = sim_icmp_error(x->element.sim, h, &error);
	if (m)
		sim_input(sim_host_port(x->sender), m);
}

static bool may_end(enum lie lie)
{
	return lie == RST_EXACT || lie == FIN_EXACT || lie == TEXT_EXACT;
}

static enum lie any_lie(struct forge *x)
{
	for (;;) {
		enum lie lie = (enum lie)prng_below(&x->rng, LIES);

		if (may_end(lie) && (prng_chance(&x->rng, 0.9) || (lie == TEXT_EXACT && !x->text)))
			continue;
		/* By the time that it arrives it may be exact. */
		if (lie != RST_NEAR || x->in_order)
			return lie;
	}
}

static void lie_about(struct forge *x, const struct sim_headers *h)
{
	enum lie lie = any_lie(x);
	struct rte_mbuf *m;

	if (may_end(lie))
		x->told(x->ctx, sim_host_number(h->frame + ETH_SRC),
			sim_host_number(h->frame + ETH_DST));
	if (lie == ICMP_ERROR || lie == ICMP_MTU) {
		tell_by_icmp(x, lie, h);
		return;
	}
	m = forge_from(x, lie, h);
	if (m)
		sim_pass(&x->element, m);
}

static void forge_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct forge *x = container_of(e, struct forge, element);
	struct rte_mbuf *copy;
	struct sim_headers h;

	if (!prng_chance(&x->rng, x->p)) {
		sim_pass(e, m);
		return;
	}
	copy = sim_packet_copy(e->sim, m);
	sim_pass(e, m);
	copy = copy ? sim_packet_own(e->sim, copy) : NULL;
	if (copy && sim_headers_find(copy, &h) && h.is_tcp && !(h.flags & (TCP_SYN | TCP_RST)))
		lie_about(x, &h);
	rte_pktmbuf_free(copy);
}

struct forge *forge_create(
	struct sim_host *sender, void (*told)(void *, unsigned, unsigned), void *ctx)
{
	static const struct sim_element_ops ops = {forge_input, sim_element_free};
	struct sim *s = sim_host_sim(sender);
	struct forge *x = sim_element_new(s, &ops, sizeof *x);

	x->rng.state = prng_u64(&s->rng);
	x->sender = sender;
	x->told = told;
	x->ctx = ctx;
	return x;
}
