/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/overlap.h"

#include "base/bytes.h"
#include "base/container_of.h"
#include "ip/eth_wire.h"
#include "sim/headers.h"
#include "sim/host.h"
#include "tcp/seq.h"
#include "tcp/tcp_wire.h"

#include <stdlib.h>
#include <string.h>

/** Segments that are remembered, and bytes at each end of them. */
#define SEEN 64
#define EDGE 256

struct flow {
	unsigned peer;
	uint16_t peers_port, port;
};

/** What the host was given. */
struct seen {
	struct flow flow;
	uint32_t seq, len; /**< len 0: nothing */
	bool acked;
	uint8_t head[EDGE], tail[EDGE];
};

struct overlap {
	struct sim_element out, in; /**< out is the one that the simulation knows */
	struct prng rng;
	double p;
	uint16_t mtu;
	unsigned next;
	struct seen seen[SEEN];
};

static bool flow_is(const struct flow *a, const struct flow *b)
{
	return a->peer == b->peer && a->peers_port == b->peers_port && a->port == b->port;
}

static struct flow flow_to_host(const struct sim_headers *h)
{
	return (struct flow){sim_host_number(h->frame + ETH_SRC),
		load_be16(h->frame + h->l4 + TCP_OFF_SPORT),
		load_be16(h->frame + h->l4 + TCP_OFF_DPORT)};
}

static struct flow flow_from_host(const struct sim_headers *h)
{
	return (struct flow){sim_host_number(h->frame + ETH_DST),
		load_be16(h->frame + h->l4 + TCP_OFF_DPORT),
		load_be16(h->frame + h->l4 + TCP_OFF_SPORT)};
}

static uint32_t seq_of(const struct sim_headers *h)
{
	return load_be32(h->frame + h->l4 + TCP_OFF_SEQ);
}

static void note(struct overlap *x, const struct sim_headers *h)
{
	struct seen *s = &x->seen[x->next++ % SEEN];
	uint32_t len = h->end - h->text, edge = len < EDGE ? len : EDGE;

	s->flow = flow_to_host(h);
	s->seq = seq_of(h);
	s->len = len;
	s->acked = false;
	memcpy(s->head, h->frame + h->text, edge);
	memcpy(s->tail + EDGE - edge, h->frame + h->end - edge, edge);
}

/** @return what was given last of that flow and ends, or else begins, at @p seq, or NULL. */
static const struct seen *find(
	const struct overlap *x, const struct flow *flow, uint32_t seq, bool ends)
{
	for (unsigned i = 1; i <= SEEN; i++) {
		const struct seen *s = &x->seen[(x->next - i) % SEEN];

		if (s->len && flow_is(&s->flow, flow) && s->seq + (ends ? s->len : 0) == seq)
			return s;
	}
	return NULL;
}

/** How many bytes of @p s to give again, within @p room. */
static uint32_t some(struct overlap *x, const struct seen *s, uint32_t room)
{
	uint32_t most = !s || prng_chance(&x->rng, 0.3) ? 0 : s->len < EDGE ? s->len : EDGE;

	most = most < room ? most : room;
	return most ? 1 + (uint32_t)prng_below(&x->rng, most) : 0;
}

static uint8_t *put(struct overlap *x, uint8_t *to, const uint8_t *from, uint32_t n, bool others)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = others ? (uint8_t)prng_u64(&x->rng) : from[i];
	return to + n;
}

/** @return a longer one, or NULL. */
static struct rte_mbuf *widen(struct overlap *x, const struct sim_headers *h)
{
	const struct flow flow = flow_to_host(h);
	const uint32_t len = h->end - h->text, seq = seq_of(h);
	uint32_t room = h->end - h->l3 < x->mtu ? x->mtu - (h->end - h->l3) : 0;
	const struct seen *before = find(x, &flow, seq, true);
	const struct seen *behind = h->flags & TCP_FIN ? NULL : find(x, &flow, seq + len, false);
	uint32_t front = some(x, before, room), back = some(x, behind, room - front);
	struct rte_mbuf *m = front + back ? sim_packet_new(x->in.sim) : NULL;
	uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(h->end + front + back)) : NULL;

	if (!p) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(p, h->frame, h->text);
	store_be32(p + h->l4 + TCP_OFF_SEQ, seq - front);
	p += h->text;
	if (front)
		p = put(x, p, before->tail + EDGE - front, front, before->acked);
	memcpy(p, h->frame + h->text, len);
	if (back)
		put(x, p + len, behind->head, back, behind->acked);
	sim_headers_set_text(m, h, front + len + back);
	return m;
}

/** Make @p m longer, perhaps. @return it, or NULL: it was corrupted, and its host would not look.
 */
static struct rte_mbuf *change(struct overlap *x, struct rte_mbuf *m)
{
	struct rte_mbuf *longer = NULL;
	struct sim_headers h;

	if (!sim_headers_find(m, &h) || !h.is_tcp || h.flags & (TCP_SYN | TCP_RST) ||
		h.end == h.text)
		return m;
	if (!sim_headers_are_sound(&h)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	if (prng_chance(&x->rng, x->p))
		longer = widen(x, &h);
	note(x, &h);
	if (!longer)
		return m;
	rte_pktmbuf_free(m);
	return longer;
}

static void in_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct overlap *x = container_of(e, struct overlap, in);

	if (x->p > 0) {
		m = sim_packet_own(e->sim, m);
		m = m ? change(x, m) : NULL;
	}
	if (m)
		sim_pass(e, m);
}

static void out_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct overlap *x = container_of(e, struct overlap, out);
	struct sim_headers h;

	if (x->p > 0 && sim_headers_find(m, &h) && h.is_tcp && h.flags & TCP_ACK) {
		const struct flow flow = flow_from_host(&h);
		uint32_t ack = load_be32(h.frame + h.l4 + TCP_OFF_ACK);

		for (unsigned i = 0; i < SEEN; i++) {
			struct seen *s = &x->seen[i];

			if (flow_is(&s->flow, &flow) && seq_leq(s->seq + s->len, ack))
				s->acked = true;
		}
	}
	sim_pass(e, m);
}

struct overlap *overlap_create(struct sim *s, uint16_t mtu, uint64_t seed)
{
	static const struct sim_element_ops out_ops = {out_input, sim_element_free};
	static const struct sim_element_ops in_ops = {.input = in_input};
	struct overlap *x = sim_element_new(s, &out_ops, sizeof *x);

	x->in = (struct sim_element){.ops = &in_ops, .sim = s};
	x->rng.state = seed;
	x->mtu = mtu;
	return x;
}

struct sim_element *overlap_out(struct overlap *x)
{
	return &x->out;
}

struct sim_element *overlap_in(struct overlap *x)
{
	return &x->in;
}

void overlap_set(struct overlap *x, double p)
{
	x->p = p;
	/* A port may be used again meanwhile. */
	memset(x->seen, 0, sizeof x->seen);
}
