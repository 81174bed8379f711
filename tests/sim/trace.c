/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/trace.h"

#include "sim/headers.h"
#include "tcp/tcp_wire.h"

#include <stdlib.h>

struct sim_trace {
	uint16_t port;
	uint64_t from, to;
	bool began;
	uint32_t base; /**< sequence number of the first text */
	int64_t high;  /**< sent so far, as wide as need be */
	uint8_t wscale;
	struct sim_trace_entry *v;
	size_t n, cap;
};

static void add(struct sim_trace *t, uint64_t at, enum sim_trace_kind kind, int64_t lo, int64_t hi)
{
	if (at < t->from || at >= t->to)
		return;
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 4096;
		t->v = realloc(t->v, t->cap * sizeof *t->v);
		if (!t->v)
			abort();
	}
	t->v[t->n++] = (struct sim_trace_entry){at, kind, lo, hi};
}

/** Of what is near the highest sent. */
static int64_t widen(const struct sim_trace *t, uint32_t seq)
{
	return t->high + (int32_t)(seq - t->base - (uint32_t)t->high);
}

static bool parse(struct rte_mbuf *m, struct tcp_segment *seg)
{
	struct sim_headers h;

	return sim_headers_find(m, &h) && h.is_tcp &&
	       tcp_wire_parse(h.frame + h.l4, h.text - h.l4, h.end - h.l4, seg) == 0;
}

void sim_trace_sent(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	struct sim_trace *t = ctx;
	struct tcp_segment seg;
	int64_t lo, hi;

	if (!parse(m, &seg) || seg.dport != t->port)
		return;
	if (seg.flags & TCP_SYN) {
		t->base = seg.seq + 1;
		t->began = true;
	}
	if (!t->began || !seg.len)
		return;
	lo = widen(t, seg.seq);
	hi = lo + seg.len;
	add(t, now, lo < t->high ? SIM_TRACE_AGAIN : SIM_TRACE_DATA, lo, hi);
	if (hi > t->high)
		t->high = hi;
}

void sim_trace_came(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	struct sim_trace *t = ctx;
	struct tcp_segment seg;
	int64_t ack;

	if (!parse(m, &seg) || seg.sport != t->port)
		return;
	if (seg.flags & TCP_SYN) {
		t->wscale = seg.has & TCP_HAS_WSCALE ? seg.wscale : 0;
		return;
	}
	if (!t->began || !(seg.flags & TCP_ACK))
		return;
	ack = widen(t, seg.ack);
	add(t, now, SIM_TRACE_ACK, ack, ack + ((int64_t)seg.wnd << t->wscale));
	for (unsigned i = 0; i < seg.n_sack; i++)
		add(t, now, SIM_TRACE_SACK, widen(t, seg.sack[i].left),
			widen(t, seg.sack[i].right));
}

struct sim_trace *sim_trace_create(uint16_t port, uint64_t from, uint64_t to)
{
	struct sim_trace *t = calloc(1, sizeof *t);

	if (!t)
		abort();
	*t = (struct sim_trace){.port = port, .from = from, .to = to};
	return t;
}

size_t sim_trace_get(const struct sim_trace *t, const struct sim_trace_entry **out)
{
	*out = t->v;
	return t->n;
}

void sim_trace_destroy(struct sim_trace *t)
{
	free(t->v);
	free(t);
}
