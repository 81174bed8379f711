/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/eal.h"
#include "dpdk-port/external.h"
#include "dpdk-port/port_opening.h"

#include <errno.h>
#include <string.h>

/** LRO is never asked for: it would hide where segments, and so FPDUs, begin. */
static void port_choose_tso(struct opening *o, struct rte_eth_conf *conf)
{
	const uint64_t needs = RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	uint16_t most = o->info.tx_desc_lim.nb_seg_max;

	if ((conf->txmode.offloads & needs) != needs ||
		!(o->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_TCP_TSO))
		return;
	conf->txmode.offloads |= RTE_ETH_TX_OFFLOAD_TCP_TSO;
	o->p->caps.tx_tso = o->p->gathers = true;
	o->p->tso.most = most ? most : TSO_SEGMENTS_MAX;
}

/** Offloads worth having. Fast free stays off: buffers have external memory and references. */
static void port_choose_offloads(struct opening *o, struct rte_eth_conf *conf)
{
	const uint64_t rx = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
	const uint64_t tx = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM;

	conf->rxmode.offloads = o->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf->txmode.offloads = o->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	/* TAP's are computed by its driver in software, and cost it a copy. */
	if (!o->p->is_tap)
		conf->rxmode.offloads |= o->info.rx_offload_capa & rx;
	if (!o->p->is_tap || o->cfg->gather)
		conf->txmode.offloads |= o->info.tx_offload_capa & tx;
	o->p->caps.rx_cksum = conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
	o->p->caps.tx_ipv4_cksum = conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
	o->p->caps.tx_tcp_cksum = conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
	if (!o->p->is_tap)
		port_choose_tso(o, conf);
}

/**
 * A driver without MULTI_SEGS may take a frame's length for that of its first segment, and send
 * what lies behind that. A TAP's reads all, but see external_is_tap().
 */
static uint16_t port_most_segs(const struct opening *o, uint64_t tx_offloads)
{
	const struct rte_eth_desc_lim *l = &o->info.tx_desc_lim;
	uint16_t most = UINT16_MAX;

	if (o->p->is_tap || !(tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS))
		return 1;
	if (l->nb_seg_max)
		most = l->nb_seg_max;
	return l->nb_mtu_seg_max ? RTE_MIN(most, l->nb_mtu_seg_max) : most;
}

static void port_choose_external(struct opening *o, uint64_t tx_offloads)
{
	const char *why = external_refusal(o->cfg->device, tx_offloads);

	o->p->caps.external = o->cfg->gather && !why;
	if (o->cfg->gather && why)
		log_printf(o->cfg->log, LOG_LEVEL_WARNING,
			"port %s: gather is on and has no effect: %s", o->cfg->device, why);
}

bool port_want_interrupt(const struct opening *o)
{
	return !eal_is_software(o->cfg->device) || strncmp(o->cfg->device, "virtio_user", 11) == 0;
}

bool port_keeps_mac(const struct port *p)
{
	return p->is_tap || port_driver_is(p, "net_af_packet");
}

int port_configure(struct opening *o)
{
	struct rte_eth_conf conf = {0};
	uint32_t most = o->info.max_rx_pktlen;
	int r;

	port_choose_offloads(o, &conf);
	o->p->most_segs = port_most_segs(o, conf.txmode.offloads);
	port_choose_external(o, conf.txmode.offloads);
	/* Drivers that know only the standard frame take no other number here. */
	if (o->mtu <= o->info.max_mtu && most && most >= (uint32_t)o->mtu + RTE_ETHER_HDR_LEN)
		conf.rxmode.mtu = o->mtu;
	conf.intr_conf.rxq = port_want_interrupt(o);
	conf.intr_conf.rmv = o->info.dev_flags && *o->info.dev_flags & RTE_ETH_DEV_INTR_RMV;
	r = rte_eth_dev_configure(o->p->id, 1, 1, &conf);
	if (r && conf.intr_conf.rxq) {
		conf.intr_conf.rxq = 0;
		r = rte_eth_dev_configure(o->p->id, 1, 1, &conf);
	}
	if (r)
		return port_fail(o, r, "it takes no configuration");
	if (!port_driver_is(o->p, "net_af_packet")) {
		uint16_t now = 0;

		rte_eth_dev_get_mtu(o->p->id, &now);
		r = now == o->mtu ? 0 : rte_eth_dev_set_mtu(o->p->id, o->mtu);
		if (r && r != -ENOTSUP)
			return port_fail(o, r, "it does not take mtu %u", o->mtu);
	}
	o->p->caps.mtu = o->mtu;
	if (o->cfg->mac && !port_keeps_mac(o->p)) {
		struct rte_ether_addr a;

		memcpy(a.addr_bytes, o->cfg->mac, 6);
		r = rte_eth_dev_default_mac_addr_set(o->p->id, &a);
		if (r)
			return port_fail(o, r, "it does not take another MAC address");
	}
	return 0;
}
