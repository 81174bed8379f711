/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/forger.h"

#include "base/container_of.h"
#include "ip/arp_wire.h"
#include "ip/cksum.h"
#include "ip/eth_wire.h"
#include "ip/icmp_wire.h"
#include "ip/ipv6.h"
#include "ip/ipv6_wire.h"

#define CLAIM_INTERVAL (100 * SIM_MS)
#define ND_MAX_HOPS    255

struct sim_forger {
	struct sim_element out, in; /**< out is the one that the simulation knows */
	struct sim_event event;
	struct sim_forger_config cfg;
	struct sim_forger_acts acts;
	struct sim_forger_stats stats;
	struct ip_addr victim, owner;
};

static void host_mac(const struct sim_host *h, uint8_t mac[ETH_ADDR_LEN])
{
	mac[0] = 2;
	mac[1] = 0;
	store_be32(mac + 2, sim_host_index(h) + 1);
}

/* ---- what it says -------------------------------------------------------------------------- */

static void put_arp(const struct sim_forger *f, uint8_t *p, bool reply)
{
	store_be16(p + ARP_HTYPE, ARP_HTYPE_ETHERNET);
	store_be16(p + ARP_PTYPE, ETH_TYPE_IPV4);
	p[ARP_HLEN] = ETH_ADDR_LEN;
	p[ARP_PLEN] = 4;
	store_be16(p + ARP_OP, reply ? ARP_OP_REPLY : ARP_OP_REQUEST);
	memcpy(p + ARP_SHA, f->cfg.mac, ETH_ADDR_LEN);
	memcpy(p + ARP_SPA, f->owner.b + 12, 4);
	host_mac(f->cfg.victim, p + ARP_THA);
	memcpy(p + ARP_TPA, (reply ? &f->victim : &f->owner)->b + 12, 4);
}

static void put_na(const struct sim_forger *f, uint8_t *p, bool reply)
{
	static const struct ip_addr all_nodes = {{0xff, 2, [15] = 1}};
	const struct ip_addr *to = reply ? &f->victim : &all_nodes;
	uint16_t len = ND_LEN + ND_OPT_LLADDR_LEN;
	uint8_t *na = p + IPV6_LEN;
	uint64_t sum = cksum_pseudo(cksum_addrs(&f->owner, to), IPV6_NH_ICMP, len);

	ipv6_store(p, &(struct ipv6_header){.src = &f->owner,
			      .dst = to,
			      .payload_len = len,
			      .next_header = IPV6_NH_ICMP,
			      .hop_limit = ND_MAX_HOPS});
	na[ICMP_TYPE] = ICMPV6_NA;
	store_be32(na + ND_FLAGS, ND_FLAG_OVERRIDE | (reply ? ND_FLAG_SOLICITED : 0));
	memcpy(na + ND_TARGET, f->owner.b, 16);
	na[ND_LEN + ND_OPT_TYPE] = ND_OPT_TARGET;
	na[ND_LEN + ND_OPT_LENGTH] = 1;
	memcpy(na + ND_LEN + ND_OPT_LLADDR, f->cfg.mac, ETH_ADDR_LEN);
	cksum_store(na + ICMP_CKSUM, (uint16_t)~cksum_fold(sum + cksum_bytes(na, len)));
}

/** To the victim, as if it had asked, or to all. */
static void say(struct sim_forger *f, bool reply)
{
	bool v4 = ip_addr_is_v4(&f->owner);
	uint16_t len = ETH_LEN + (v4 ? ARP_LEN : IPV6_LEN + ND_LEN + ND_OPT_LLADDR_LEN);
	struct rte_mbuf *m = rte_pktmbuf_alloc(f->out.sim->copies);
	uint8_t to[ETH_ADDR_LEN];
	uint8_t *h;

	if (!m) {
		f->out.sim->no_packet++;
		return;
	}
	*sim_packet(m) = (struct sim_packet){.writable = true};
	h = (uint8_t *)rte_pktmbuf_append(m, len);
	memset(h, 0, len);
	memset(to, 0xff, sizeof to);
	if (reply)
		host_mac(f->cfg.victim, to);
	else if (!v4)
		eth_multicast_v6(to, (const uint8_t[16]){[15] = 1});
	eth_store(h, to, f->cfg.mac, v4 ? ETH_TYPE_ARP : ETH_TYPE_IPV6);
	(v4 ? put_arp : put_na)(f, h + ETH_LEN, reply);
	f->stats.said++;
	sim_input(sim_host_port(f->cfg.victim), m);
}

static void claim(struct sim_event *e)
{
	struct sim_forger *f = container_of(e, struct sim_forger, event);

	if (!f->acts.claims)
		return;
	say(f, false);
	say(f, true);
	sim_event_set(&f->out.sim->events, e, f->out.sim->now + CLAIM_INTERVAL);
}

/* ---- what passes --------------------------------------------------------------------------- */

/** ARP of type @p op, or the like of ND, about the owner? */
static bool is_about_owner(const struct sim_forger *f, const struct rte_mbuf *m, uint16_t op)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *), *p = h + ETH_LEN;
	bool ask = op == ARP_OP_REQUEST;

	if (load_be16(h + ETH_TYPE) == ETH_TYPE_ARP)
		return load_be16(p + ARP_OP) == op &&
		       !memcmp(p + (ask ? ARP_TPA : ARP_SPA), f->owner.b + 12, 4);
	return load_be16(h + ETH_TYPE) == ETH_TYPE_IPV6 && p[IPV6_NEXT_HEADER] == IPV6_NH_ICMP &&
	       p[IPV6_LEN + ICMP_TYPE] == (ask ? ICMPV6_NS : ICMPV6_NA) &&
	       !memcmp(p + IPV6_LEN + ND_TARGET, f->owner.b, 16);
}

static void out_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_forger *f = container_of(e, struct sim_forger, out);
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *);
	bool for_us = eth_addr_equal(h + ETH_DST, f->cfg.mac);
	bool asks = is_about_owner(f, m, ARP_OP_REQUEST);

	if (asks && f->acts.answers && (for_us || eth_addr_is_group(h + ETH_DST)))
		say(f, true);
	if (!for_us && !(asks && f->acts.silences)) {
		sim_pass(e, m);
		return;
	}
	f->stats.got += for_us;
	m = for_us && f->acts.forwards && !asks ? sim_packet_own(e->sim, m) : m;
	if (m && for_us && f->acts.forwards && !asks) {
		host_mac(f->cfg.owner, rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_DST));
		sim_pass(e, m);
		return;
	}
	rte_pktmbuf_free(m);
}

static void in_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_forger *f = container_of(e, struct sim_forger, in);

	if (f->acts.silences && is_about_owner(f, m, ARP_OP_REPLY))
		rte_pktmbuf_free(m);
	else
		sim_pass(e, m);
}

static void forger_destroy(struct sim_element *e)
{
	struct sim_forger *f = container_of(e, struct sim_forger, out);

	sim_event_clear(&e->sim->events, &f->event);
	sim_element_free(e);
}

struct sim_forger *sim_forger_create(struct sim *s, const struct sim_forger_config *cfg)
{
	static const struct sim_element_ops ops = {out_input, forger_destroy};
	static const struct sim_element_ops in_ops = {.input = in_input};
	struct sim_forger *f = sim_element_new(s, &ops, sizeof *f);

	f->in = (struct sim_element){.ops = &in_ops, .sim = s};
	f->event.fn = claim;
	f->cfg = *cfg;
	f->victim = sim_host_address(cfg->victim);
	f->owner = sim_host_address(cfg->owner);
	return f;
}

struct sim_element *sim_forger_out(struct sim_forger *f)
{
	return &f->out;
}

struct sim_element *sim_forger_in(struct sim_forger *f)
{
	return &f->in;
}

void sim_forger_set(struct sim_forger *f, const struct sim_forger_acts *acts)
{
	f->acts = *acts;
	claim(&f->event);
}

const struct sim_forger_stats *sim_forger_stats(const struct sim_forger *f)
{
	return &f->stats;
}
