/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/greedy.h"

#include "base/bytes.h"
#include "base/container_of.h"
#include "sim/headers.h"
#include "tcp/seq.h"
#include "tcp/tcp_wire.h"

#include <stdlib.h>

struct sim_greedy {
	struct sim_element out, in;
	struct sim_greedy_config cfg;
	uint32_t highest; /**< of the text that came */
	uint32_t acked;   /**< told last */
	bool any;
	uint64_t count;
};

static void greedy_in(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_greedy *g = container_of(e, struct sim_greedy, in);
	struct sim_headers h;

	if (sim_headers_find(m, &h) && h.is_tcp && h.end > h.text) {
		uint32_t end = load_be32(h.frame + h.l4 + TCP_OFF_SEQ) + h.end - h.text;

		if (!g->any)
			g->highest = g->acked = end - (h.end - h.text);
		g->any = true;
		if (seq_gt(end, g->highest))
			g->highest = end;
	}
	sim_pass(e, m);
}

/** Overwrite SACK blocks by no-operations. */
static void hide_sack(const struct sim_headers *h)
{
	uint8_t *p = h->frame + h->l4 + TCP_HEADER_LEN, *end = h->frame + h->text;

	while (p < end && *p != TCP_OPT_END) {
		uint8_t kind = *p, len = kind == TCP_OPT_NOP ? 1 : end - p > 1 ? p[1] : 0;

		if (!len || len > end - p)
			return;
		if (kind == TCP_OPT_SACK)
			memset(p, TCP_OPT_NOP, len);
		p += len;
	}
}

static void send_ack(struct sim_greedy *g, struct rte_mbuf *m, uint32_t ack)
{
	struct sim_headers h;

	sim_headers_find(m, &h);
	store_be32(h.frame + h.l4 + TCP_OFF_ACK, ack);
	sim_headers_checksum(&h);
	g->count++;
	sim_pass(&g->out, m);
}

static void greedy_out(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_greedy *g = container_of(e, struct sim_greedy, out);
	unsigned pieces = g->cfg.pieces ? g->cfg.pieces : 1;
	struct sim_headers h;
	uint32_t ack, from = g->acked;

	if (!sim_headers_find(m, &h) || !h.is_tcp || !g->any || (h.flags & ~TCP_PSH) != TCP_ACK) {
		sim_pass(e, m);
		return;
	}
	m = sim_packet_own(e->sim, m);
	if (!m)
		return;
	sim_headers_find(m, &h);
	ack = load_be32(h.frame + h.l4 + TCP_OFF_ACK);
	if (g->cfg.hide) {
		ack = g->highest;
		hide_sack(&h);
	}
	for (unsigned i = 1; seq_gt(ack, from) && i < pieces; i++) {
		struct rte_mbuf *one = sim_packet_copy(e->sim, m);

		one = one ? sim_packet_own(e->sim, one) : NULL;
		if (one)
			send_ack(g, one, from + (uint32_t)((uint64_t)(ack - from) * i / pieces));
	}
	g->acked = ack;
	send_ack(g, m, ack);
}

static void greedy_destroy(struct sim_element *e)
{
	free(container_of(e, struct sim_greedy, out));
}

struct sim_greedy *sim_greedy_create(struct sim *s, const struct sim_greedy_config *cfg)
{
	static const struct sim_element_ops out_ops = {greedy_out, greedy_destroy};
	static const struct sim_element_ops in_ops = {.input = greedy_in};
	struct sim_greedy *g = sim_element_new(s, &out_ops, sizeof *g);

	g->in = (struct sim_element){.ops = &in_ops, .sim = s};
	g->cfg = *cfg;
	return g;
}

struct sim_element *sim_greedy_in(struct sim_greedy *g)
{
	return &g->in;
}

struct sim_element *sim_greedy_out(struct sim_greedy *g)
{
	return &g->out;
}

uint64_t sim_greedy_count(const struct sim_greedy *g)
{
	return g->count;
}
