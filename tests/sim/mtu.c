/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/mtu.h"

#include "base/container_of.h"
#include "ip/eth_wire.h"
#include "ip/icmp_wire.h"
#include "sim/icmp_error.h"

struct sim_mtu {
	struct sim_element element;
	struct sim_mtu_config cfg;
	uint64_t drops;
};

static void tell_sender(struct sim_mtu *x, const struct sim_headers *h)
{
	const struct sim_icmp_error error = {.type = h->v4 ? ICMP_UNREACHABLE : ICMPV6_TOO_BIG,
		.code = h->v4 ? ICMP_UNREACHABLE_FRAG_NEEDED : 0,
		.body = x->cfg.mtu};
	struct rte_mbuf *m = sim_icmp_error(x->element.sim, h, &error);

	if (m)
		sim_input(x->cfg.back, m);
}

static void mtu_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_mtu *x = container_of(e, struct sim_mtu, element);
	struct sim_headers h;

	if (!x->cfg.mtu || m->pkt_len <= (uint32_t)ETH_LEN + x->cfg.mtu ||
		!sim_headers_find(m, &h)) {
		sim_pass(e, m);
		return;
	}
	x->drops++;
	if (x->cfg.back)
		tell_sender(x, &h);
	rte_pktmbuf_free(m);
}

static const struct sim_element_ops ops = {mtu_input, sim_element_free};

struct sim_mtu *sim_mtu_create(struct sim *s, const struct sim_mtu_config *cfg)
{
	struct sim_mtu *x = sim_element_new(s, &ops, sizeof *x);

	x->cfg = *cfg;
	return x;
}

struct sim_element *sim_mtu_element(struct sim_mtu *x)
{
	return &x->element;
}

struct sim_mtu_config *sim_mtu_config(struct sim_mtu *x)
{
	return &x->cfg;
}

uint64_t sim_mtu_drops(const struct sim_mtu *x)
{
	return x->drops;
}
