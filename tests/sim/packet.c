/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/packet.h"

#include "sim/headers.h"
#include "sim/sim.h"

#include <stdlib.h>

#define TX_CKSUM (RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_L4_MASK)
#define RX_GOOD  (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD)

struct rte_mbuf *sim_packet_new(struct sim *s)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(s->copies);

	if (!m) {
		s->no_packet++;
		return NULL;
	}
	*sim_packet(m) = (struct sim_packet){.writable = true};
	return m;
}

/** The bytes of @p m in one piece. */
static struct rte_mbuf *duplicate(struct sim *s, const struct rte_mbuf *m)
{
	struct rte_mbuf *c = sim_packet_new(s);
	char *to = c ? rte_pktmbuf_append(c, (uint16_t)m->pkt_len) : NULL;

	if (!to) {
		rte_pktmbuf_free(c);
		return NULL;
	}
	for (const struct rte_mbuf *part = m; part; part = part->next) {
		memcpy(to, rte_pktmbuf_mtod(part, const void *), part->data_len);
		to += part->data_len;
	}
	return c;
}

/** A reference to the bytes of @p m, which has one segment. */
static struct rte_mbuf *refer(struct sim *s, struct rte_mbuf *m)
{
	struct rte_mbuf *c = rte_pktmbuf_alloc(s->references);

	if (!c) {
		s->no_packet++;
		return NULL;
	}
	rte_pktmbuf_attach(c, m);
	*sim_packet(c) = (struct sim_packet){0};
	return c;
}

struct rte_mbuf *sim_packet_launch(struct sim *s, struct rte_mbuf *m)
{
	bool unfilled = m->ol_flags & TX_CKSUM;
	struct rte_mbuf *c = m->nb_segs == 1 ? refer(s, m) : duplicate(s, m);

	if (c) {
		/* A receiver with the port that the sender has believes what it is told. */
		c->ol_flags &= ~(uint64_t)(TX_CKSUM | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6);
		if (unfilled)
			c->ol_flags |= RX_GOOD;
		sim_packet(c)->unfilled = unfilled;
	}
	rte_pktmbuf_free(m);
	return c;
}

struct rte_mbuf *sim_packet_copy(struct sim *s, struct rte_mbuf *m)
{
	struct rte_mbuf *c = sim_packet(m)->writable ? duplicate(s, m) : refer(s, m);

	if (c) {
		c->ol_flags |= m->ol_flags & RX_GOOD;
		sim_packet(c)->unfilled = sim_packet(m)->unfilled;
	}
	return c;
}

struct rte_mbuf *sim_packet_own(struct sim *s, struct rte_mbuf *m)
{
	struct rte_mbuf *c = sim_packet(m)->writable ? m : duplicate(s, m);
	struct sim_headers h;

	if (c && sim_packet(m)->unfilled && sim_headers_find(c, &h))
		sim_headers_checksum(&h);
	if (c != m)
		rte_pktmbuf_free(m);
	if (c) {
		sim_packet(c)->unfilled = false;
		c->ol_flags &= ~(uint64_t)RX_GOOD;
	}
	return c;
}

static void fifo_grow(struct sim_fifo *f)
{
	struct sim_fifo bigger = {.cap = f->cap ? 2 * f->cap : 64};

	bigger.ring = malloc(bigger.cap * sizeof *bigger.ring);
	if (!bigger.ring)
		abort();
	for (uint32_t i = 0; i < f->n; i++)
		bigger.ring[i] = *sim_fifo_at(f, i);
	bigger.n = f->n;
	bigger.bytes = f->bytes;
	free(f->ring);
	*f = bigger;
}

void sim_fifo_push(struct sim_fifo *f, struct rte_mbuf *m, uint64_t at)
{
	if (f->n == f->cap)
		fifo_grow(f);
	*sim_fifo_at(f, f->n) = (struct sim_slot){m, at, m->pkt_len};
	f->n++;
	f->bytes += m->pkt_len;
}

void sim_fifo_free(struct sim_fifo *f)
{
	while (f->n)
		rte_pktmbuf_free(sim_fifo_take(f));
	free(f->ring);
	*f = (struct sim_fifo){0};
}

static bool before(struct rte_mbuf *a, struct rte_mbuf *b)
{
	const struct sim_packet *x = sim_packet(a), *y = sim_packet(b);

	return x->at < y->at || (x->at == y->at && x->order < y->order);
}

void sim_heap_push(struct sim_heap *h, struct rte_mbuf *m)
{
	uint32_t i = h->n++;

	if (h->n > h->cap) {
		h->cap = h->cap ? 2 * h->cap : 64;
		h->v = realloc(h->v, h->cap * sizeof(struct rte_mbuf *));
		if (!h->v)
			abort();
	}
	sim_packet(m)->order = h->order++;
	for (; i && before(m, h->v[(i - 1) / 2]); i = (i - 1) / 2)
		h->v[i] = h->v[(i - 1) / 2];
	h->v[i] = m;
}

struct rte_mbuf *sim_heap_take(struct sim_heap *h)
{
	struct rte_mbuf *first = h->v[0], *m = h->v[--h->n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && before(h->v[child + 1], h->v[child]))
			child++;
		if (!before(h->v[child], m))
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	h->v[i] = m;
	return first;
}

void sim_heap_free(struct sim_heap *h)
{
	while (h->n)
		rte_pktmbuf_free(h->v[--h->n]);
	free(h->v);
}
