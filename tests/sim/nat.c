/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/nat.h"

#include "base/container_of.h"
#include "ip/arp_wire.h"
#include "ip/cksum.h"
#include "ip/eth_wire.h"
#include "ip/ipv4_wire.h"
#include "sim/headers.h"
#include "sim/host.h"
#include "tcp/tcp_wire.h"

#include <stdlib.h>

#define MAPPINGS   256
#define FIRST_PORT 20000

/** One connection; peers are told apart by their port alone. */
struct mapping {
	uint16_t inside, outside, peer;
	uint64_t seen;
	bool used;
};

struct sim_nat {
	struct sim_element out, in; /**< out is the one that the simulation knows */
	struct sim_nat_config cfg;
	struct sim_nat_stats stats;
	uint8_t private[4], public[4];
	uint16_t next_port;
	struct mapping map[MAPPINGS];
};

static bool is_alive(struct sim_nat *n, struct mapping *p)
{
	if (p->used && n->cfg.idle && n->out.sim->now - p->seen > n->cfg.idle) {
		p->used = false;
		n->stats.expired++;
	}
	return p->used;
}

static struct mapping *find(struct sim_nat *n, uint16_t port, uint16_t peer, bool outwards)
{
	for (unsigned i = 0; i < MAPPINGS; i++) {
		struct mapping *p = &n->map[i];

		if (p->used && p->peer == peer && (outwards ? p->inside : p->outside) == port &&
			is_alive(n, p)) {
			p->seen = n->out.sim->now;
			return p;
		}
	}
	return NULL;
}

static struct mapping *add(struct sim_nat *n, uint16_t inside, uint16_t peer)
{
	for (unsigned i = 0; i < MAPPINGS; i++) {
		struct mapping *p = &n->map[i];

		if (is_alive(n, p))
			continue;
		*p = (struct mapping){.inside = inside,
			.outside = n->next_port++,
			.peer = peer,
			.seen = n->out.sim->now,
			.used = true};
		n->stats.mapped++;
		return p;
	}
	return NULL;
}

/** Replace the address at @p at if it is @p from. */
static void translate(uint8_t *at, const uint8_t *from, const uint8_t *to)
{
	if (memcmp(at, from, 4) == 0)
		memcpy(at, to, 4);
}

static void translate_arp(struct rte_mbuf *m, const uint8_t *from, const uint8_t *to)
{
	uint8_t *arp = rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_LEN);

	if (m->data_len < ETH_LEN + ARP_LEN ||
		load_be16(rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_TYPE)) != ETH_TYPE_ARP)
		return;
	translate(arp + ARP_SPA, from, to);
	translate(arp + ARP_TPA, from, to);
}

/** @return false: nobody knows the connection. */
static bool port_out(struct sim_nat *n, uint8_t *l4, uint8_t flags)
{
	uint16_t inside = load_be16(l4 + TCP_OFF_SPORT), peer = load_be16(l4 + TCP_OFF_DPORT);
	struct mapping *p = find(n, inside, peer, true);

	if (!p && ((flags & TCP_SYN) || n->cfg.remap))
		p = add(n, inside, peer);
	if (p)
		store_be16(l4 + TCP_OFF_SPORT, p->outside);
	return p != NULL;
}

static bool port_in(struct sim_nat *n, uint8_t *l4)
{
	struct mapping *p =
		find(n, load_be16(l4 + TCP_OFF_DPORT), load_be16(l4 + TCP_OFF_SPORT), false);

	if (p)
		store_be16(l4 + TCP_OFF_DPORT, p->inside);
	return p != NULL;
}

/** @return false: the packet is not to pass. */
static bool translate_v4(struct sim_nat *n, struct sim_headers *h, bool outwards)
{
	uint8_t *l3 = h->frame + h->l3, *l4 = h->frame + h->l4;

	if (outwards)
		translate(l3 + IPV4_SRC, n->private, n->public);
	else
		translate(l3 + IPV4_DST, n->public, n->private);
	if (h->is_tcp && !(outwards ? port_out(n, l4, h->flags) : port_in(n, l4))) {
		n->stats.drops++;
		return false;
	}
	sim_headers_checksum(h);
	return true;
}

static void pass_through(
	struct sim_nat *n, struct sim_element *e, struct rte_mbuf *m, bool outwards)
{
	struct sim_headers h;

	m = sim_packet_own(e->sim, m);
	if (!m)
		return;
	if (outwards)
		translate_arp(m, n->private, n->public);
	else
		translate_arp(m, n->public, n->private);
	if (sim_headers_find(m, &h) && h.v4 && !translate_v4(n, &h, outwards))
		rte_pktmbuf_free(m);
	else
		sim_pass(e, m);
}

static void nat_out(struct sim_element *e, struct rte_mbuf *m)
{
	pass_through(container_of(e, struct sim_nat, out), e, m, true);
}

static void nat_in(struct sim_element *e, struct rte_mbuf *m)
{
	pass_through(container_of(e, struct sim_nat, in), e, m, false);
}

static void nat_destroy(struct sim_element *e)
{
	free(container_of(e, struct sim_nat, out));
}

struct sim_nat *sim_nat_create(struct sim *s, const struct sim_nat_config *cfg)
{
	static const struct sim_element_ops out_ops = {nat_out, nat_destroy};
	static const struct sim_element_ops in_ops = {.input = nat_in};
	struct sim_nat *n = sim_element_new(s, &out_ops, sizeof *n);
	struct ip_addr inside = sim_host_address(cfg->inside), outside;

	if (ip_addr_parse(cfg->outside, &outside))
		abort();
	n->in = (struct sim_element){.ops = &in_ops, .sim = s};
	n->cfg = *cfg;
	n->next_port = FIRST_PORT;
	memcpy(n->private, inside.b + 12, 4);
	memcpy(n->public, outside.b + 12, 4);
	return n;
}

struct sim_element *sim_nat_out(struct sim_nat *n)
{
	return &n->out;
}

struct sim_element *sim_nat_in(struct sim_nat *n)
{
	return &n->in;
}

void sim_nat_forget(struct sim_nat *n)
{
	memset(n->map, 0, sizeof n->map);
}

const struct sim_nat_stats *sim_nat_stats(const struct sim_nat *n)
{
	return &n->stats;
}
