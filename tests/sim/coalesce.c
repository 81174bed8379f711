/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/coalesce.h"

#include "base/bytes.h"
#include "base/container_of.h"
#include "sim/headers.h"
#include "tcp/tcp_wire.h"

#include <stdlib.h>

struct coalesce {
	struct sim_element element;
	uint32_t most;
	uint64_t wait;
	struct rte_mbuf *held; /**< our own; NULL: none */
	struct sim_event release;
};

static void let_go(struct coalesce *x)
{
	struct rte_mbuf *m = x->held;

	sim_event_clear(&x->element.sim->events, &x->release);
	x->held = NULL;
	if (m)
		sim_pass(&x->element, m);
}

static void waited(struct sim_event *e)
{
	let_go(container_of(e, struct coalesce, release));
}

static bool is_plain_text(const struct sim_headers *h)
{
	return h->is_tcp && h->end > h->text && (h->flags & (uint8_t)~TCP_PSH) == TCP_ACK;
}

/** Same connection, addresses and ports, and @p b begins where @p a ends. */
static bool follows(const struct sim_headers *a, const struct sim_headers *b)
{
	const uint32_t addresses = a->v4 ? 12 : 8, len = a->v4 ? 8 : 32;
	const uint8_t *p = a->frame + a->l4, *q = b->frame + b->l4;

	return a->v4 == b->v4 && a->text == b->text && a->l4 == b->l4 &&
	       memcmp(a->frame + a->l3 + addresses, b->frame + b->l3 + addresses, len) == 0 &&
	       memcmp(p, q, 4) == 0 &&
	       load_be32(p + TCP_OFF_SEQ) + (a->end - a->text) == load_be32(q + TCP_OFF_SEQ);
}

/** Append the text of @p b to @p a, and take its newer acknowledgment and options. */
static void join(struct rte_mbuf *m, struct sim_headers *a, const struct sim_headers *b)
{
	const uint32_t len = b->end - b->text, header = a->text - a->l4;
	uint8_t *to = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	uint8_t seq[4];

	memcpy(seq, a->frame + a->l4 + TCP_OFF_SEQ, sizeof seq);
	memcpy(a->frame + a->l4, b->frame + b->l4, header);
	memcpy(a->frame + a->l4 + TCP_OFF_SEQ, seq, sizeof seq);
	memcpy(to, b->frame + b->text, len);
	sim_headers_set_text(m, a, a->end - a->text + len);
}

/** @return true: @p m, with headers @p h, has become part of what is held. */
static bool try_join(struct coalesce *x, struct rte_mbuf *m, const struct sim_headers *h)
{
	struct sim_headers a;

	if (!x->held || !sim_headers_find(x->held, &a) || !follows(&a, h) ||
		a.end - a.text + h->end - h->text > x->most ||
		rte_pktmbuf_tailroom(x->held) < h->end - h->text)
		return false;
	join(x->held, &a, h);
	rte_pktmbuf_free(m);
	return true;
}

static void coalesce_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct coalesce *x = container_of(e, struct coalesce, element);
	struct sim_headers h;

	if (!x->most || !sim_headers_find(m, &h) || !is_plain_text(&h)) {
		let_go(x);
		sim_pass(e, m);
		return;
	}
	if (try_join(x, m, &h))
		return;
	let_go(x);
	x->held = sim_packet_own(e->sim, m);
	if (x->held)
		sim_event_set(&e->sim->events, &x->release, e->sim->now + x->wait);
}

static void coalesce_destroy(struct sim_element *e)
{
	struct coalesce *x = container_of(e, struct coalesce, element);

	rte_pktmbuf_free(x->held);
	free(x);
}

struct sim_element *sim_coalesce_create(struct sim *s, uint32_t most, uint64_t wait)
{
	static const struct sim_element_ops ops = {coalesce_input, coalesce_destroy};
	struct coalesce *x = sim_element_new(s, &ops, sizeof *x);

	x->most = most;
	x->wait = wait;
	x->release.fn = waited;
	return &x->element;
}

void sim_coalesce_set(struct sim_element *e, uint32_t most, uint64_t wait)
{
	struct coalesce *x = container_of(e, struct coalesce, element);

	x->most = most;
	x->wait = wait;
}
