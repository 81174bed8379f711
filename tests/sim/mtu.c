/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/mtu.h"

#include "base/container_of.h"
#include "ip/cksum.h"
#include "ip/eth_wire.h"
#include "ip/icmp_wire.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "sim/headers.h"

/** What is quoted of the packet that was too big: its header and enough of TCP's. */
#define QUOTE_V4 28
#define QUOTE_V6 1232

struct sim_mtu {
	struct sim_element element;
	struct sim_mtu_config cfg;
	uint64_t drops;
};

/** The ICMP message's checksum over @p sum, the pseudo header's, and its own bytes. */
static void fill_checksum(uint8_t *icmp, uint32_t len, uint64_t sum)
{
	cksum_store(icmp + ICMP_CKSUM, 0);
	cksum_store(icmp + ICMP_CKSUM, (uint16_t)~cksum_fold(sum + cksum_bytes(icmp, len)));
}

/* The message comes from the destination's own address: it is as good as any router's. */

static uint32_t tell_v4(const struct sim_headers *h, uint16_t mtu, uint8_t *p)
{
	const uint8_t *old = h->frame + h->l3;
	const uint32_t quote = RTE_MIN(h->end - h->l3, (uint32_t)QUOTE_V4);
	uint8_t *icmp = p + IPV4_LEN;

	memset(p, 0, IPV4_LEN + ICMP_LEN);
	p[IPV4_VERSION_IHL] = 0x45;
	store_be16(p + IPV4_TOTAL_LENGTH, (uint16_t)(IPV4_LEN + ICMP_LEN + quote));
	p[IPV4_TTL] = 64;
	p[IPV4_PROTOCOL] = 1;
	memcpy(p + IPV4_SRC, old + IPV4_DST, 4);
	memcpy(p + IPV4_DST, old + IPV4_SRC, 4);
	cksum_store(p + IPV4_CKSUM, (uint16_t)~cksum_fold(cksum_bytes(p, IPV4_LEN)));
	icmp[ICMP_TYPE] = ICMP_UNREACHABLE;
	icmp[ICMP_CODE] = ICMP_UNREACHABLE_FRAG_NEEDED;
	store_be16(icmp + ICMP_NEXT_HOP_MTU, mtu);
	memcpy(icmp + ICMP_LEN, old, quote);
	fill_checksum(icmp, ICMP_LEN + quote, 0);
	return IPV4_LEN + ICMP_LEN + quote;
}

static uint32_t tell_v6(const struct sim_headers *h, uint16_t mtu, uint8_t *p)
{
	const uint8_t *old = h->frame + h->l3;
	const uint32_t quote = RTE_MIN(h->end - h->l3, (uint32_t)QUOTE_V6);
	uint8_t *icmp = p + IPV6_LEN;

	memset(p, 0, IPV6_LEN + ICMP_LEN);
	p[IPV6_VERSION_CLASS_FLOW] = 0x60;
	store_be16(p + IPV6_PAYLOAD_LENGTH, (uint16_t)(ICMP_LEN + quote));
	p[IPV6_NEXT_HEADER] = IPV6_NH_ICMP;
	p[IPV6_HOP_LIMIT] = 64;
	memcpy(p + IPV6_SRC, old + IPV6_DST, 16);
	memcpy(p + IPV6_DST, old + IPV6_SRC, 16);
	icmp[ICMP_TYPE] = ICMPV6_TOO_BIG;
	store_be32(icmp + ICMP_BODY, mtu);
	memcpy(icmp + ICMP_LEN, old, quote);
	fill_checksum(icmp, ICMP_LEN + quote,
		cksum_pseudo(
			cksum_bytes(p + IPV6_SRC, 32), IPV6_NH_ICMP, (uint16_t)(ICMP_LEN + quote)));
	return IPV6_LEN + ICMP_LEN + quote;
}

static void tell_sender(struct sim_mtu *x, const struct sim_headers *h)
{
	struct rte_mbuf *m = sim_packet_new(x->element.sim);
	uint8_t *p;
	uint32_t len;

	if (!m)
		return;
	p = rte_pktmbuf_mtod(m, uint8_t *);
	eth_store(p, h->frame + ETH_SRC, h->frame + ETH_DST, h->v4 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
	len = (h->v4 ? tell_v4 : tell_v6)(h, x->cfg.mtu, p + ETH_LEN);
	m->data_len = (uint16_t)(ETH_LEN + len);
	m->pkt_len = m->data_len;
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
