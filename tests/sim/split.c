/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/split.h"

#include "base/bytes.h"
#include "base/container_of.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "sim/headers.h"
#include "tcp/tcp_wire.h"

struct split {
	struct sim_element element;
	uint32_t most;
};

/** The part of @p h's text from @p off as a segment of its own. */
static struct rte_mbuf *cut(struct sim *s, const struct sim_headers *h, uint32_t off, uint32_t len)
{
	const uint32_t left = h->end - h->text - off - len;
	struct rte_mbuf *m = sim_packet_new(s);
	uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(h->text + len)) : NULL;

	if (!p) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(p, h->frame, h->text);
	memcpy(p + h->text, h->frame + h->text + off, len);
	store_be32(p + h->l4 + TCP_OFF_SEQ, load_be32(p + h->l4 + TCP_OFF_SEQ) + off);
	if (left)
		p[h->l4 + TCP_OFF_FLAGS] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
	if (off)
		p[h->l4 + TCP_OFF_FLAGS] &= (uint8_t)~TCP_CWR;
	sim_headers_set_text(m, h, len);
	return m;
}

static void split_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct split *x = container_of(e, struct split, element);
	struct sim_headers h;
	uint32_t text;

	if (!sim_headers_find(m, &h) || !h.is_tcp || h.end - h.text <= x->most ||
		(h.flags & TCP_SYN)) {
		sim_pass(e, m);
		return;
	}
	text = h.end - h.text;
	for (uint32_t off = 0; off < text; off += x->most) {
		struct rte_mbuf *part = cut(e->sim, &h, off, RTE_MIN(x->most, text - off));

		if (part)
			sim_pass(e, part);
	}
	rte_pktmbuf_free(m);
}

struct sim_element *sim_split_create(struct sim *s, uint32_t most)
{
	static const struct sim_element_ops ops = {split_input, sim_element_free};
	struct split *x = sim_element_new(s, &ops, sizeof *x);

	x->most = most;
	return &x->element;
}

void sim_split_set(struct sim_element *e, uint32_t most)
{
	container_of(e, struct split, element)->most = most;
}
