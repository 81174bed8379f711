/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/ecn.h"

#include "ip/ipv4_wire.h"
#include "sim/headers.h"

#define ECN_CE 3

/** The ECN bits stand in the second byte of IPv4, and in the upper half of IPv6's. */
static unsigned get(const struct sim_headers *h)
{
	return h->frame[h->l3 + 1] >> (h->v4 ? 0 : 4) & ECN_CE;
}

bool sim_ecn_capable(struct rte_mbuf *m)
{
	struct sim_headers h;

	return sim_headers_find(m, &h) && get(&h) != 0;
}

struct rte_mbuf *sim_ecn_mark(struct sim *s, struct rte_mbuf *m)
{
	struct sim_headers h;

	m = sim_packet_own(s, m);
	if (m && sim_headers_find(m, &h)) {
		h.frame[h.l3 + 1] |= (uint8_t)(ECN_CE << (h.v4 ? 0 : 4));
		sim_headers_checksum(&h);
	}
	return m;
}
