/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/strip.h"

#include "base/container_of.h"
#include "sim/headers.h"
#include "tcp/tcp_wire.h"

struct strip {
	struct sim_element element;
	uint64_t kinds;
};

/** @return true if there is one; with @p erase, it is gone then. */
static bool options(const struct strip *x, const struct sim_headers *h, bool erase)
{
	uint8_t *p = h->frame + h->l4 + TCP_HEADER_LEN, *end = h->frame + h->text;
	bool found = false;

	while (p < end && *p != TCP_OPT_END) {
		uint8_t kind = *p, len = kind == TCP_OPT_NOP ? 1 : end - p > 1 ? p[1] : 0;

		if (!len || len > end - p)
			break;
		if (kind > TCP_OPT_NOP && kind < 64 && (x->kinds >> kind & 1)) {
			found = true;
			if (erase)
				memset(p, TCP_OPT_NOP, len);
		}
		p += len;
	}
	return found;
}

static void strip_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct strip *x = container_of(e, struct strip, element);
	struct sim_headers h;

	if (sim_headers_find(m, &h) && h.is_tcp && options(x, &h, false)) {
		m = sim_packet_own(e->sim, m);
		if (!m)
			return;
		sim_headers_find(m, &h);
		options(x, &h, true);
		sim_headers_checksum(&h);
	}
	sim_pass(e, m);
}

struct sim_element *sim_strip_create(struct sim *s, uint64_t kinds)
{
	static const struct sim_element_ops ops = {strip_input, sim_element_free};
	struct strip *x = sim_element_new(s, &ops, sizeof *x);

	x->kinds = kinds;
	return &x->element;
}
