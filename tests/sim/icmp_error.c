/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/icmp_error.h"

#include "ip/cksum.h"
#include "ip/eth_wire.h"
#include "ip/icmp_wire.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "sim/packet.h"

/** What is quoted of the packet that was too big: its header and enough of TCP's. */
#define QUOTE_V4 28
#define QUOTE_V6 1232

/** The message's header and quote, its checksum over @p sum, the pseudo header's, and them. */
static void put_message(uint8_t *icmp, const struct sim_icmp_error *error, const uint8_t *old,
	uint32_t quote, uint64_t sum)
{
	icmp[ICMP_TYPE] = error->type;
	icmp[ICMP_CODE] = error->code;
	store_be32(icmp + ICMP_BODY, error->body);
	memcpy(icmp + ICMP_LEN, old, quote);
	cksum_store(icmp + ICMP_CKSUM, 0);
	cksum_store(icmp + ICMP_CKSUM,
		(uint16_t)~cksum_fold(sum + cksum_bytes(icmp, ICMP_LEN + quote)));
}

static uint32_t put_v4(uint8_t *p, const struct sim_headers *h, const struct sim_icmp_error *error)
{
	const uint8_t *old = h->frame + h->l3;
	const uint32_t quote = RTE_MIN(h->end - h->l3, (uint32_t)QUOTE_V4);

	memset(p, 0, IPV4_LEN);
	p[IPV4_VERSION_IHL] = 0x45;
	store_be16(p + IPV4_TOTAL_LENGTH, (uint16_t)(IPV4_LEN + ICMP_LEN + quote));
	p[IPV4_TTL] = 64;
	p[IPV4_PROTOCOL] = 1;
	memcpy(p + IPV4_SRC, old + IPV4_DST, 4);
	memcpy(p + IPV4_DST, old + IPV4_SRC, 4);
	cksum_store(p + IPV4_CKSUM, (uint16_t)~cksum_fold(cksum_bytes(p, IPV4_LEN)));
	put_message(p + IPV4_LEN, error, old, quote, 0);
	return IPV4_LEN + ICMP_LEN + quote;
}

static uint32_t put_v6(uint8_t *p, const struct sim_headers *h, const struct sim_icmp_error *error)
{
	const uint8_t *old = h->frame + h->l3;
	const uint32_t quote = RTE_MIN(h->end - h->l3, (uint32_t)QUOTE_V6);

	memset(p, 0, IPV6_LEN);
	p[IPV6_VERSION_CLASS_FLOW] = 0x60;
	store_be16(p + IPV6_PAYLOAD_LENGTH, (uint16_t)(ICMP_LEN + quote));
	p[IPV6_NEXT_HEADER] = IPV6_NH_ICMP;
	p[IPV6_HOP_LIMIT] = 64;
	memcpy(p + IPV6_SRC, old + IPV6_DST, 16);
	memcpy(p + IPV6_DST, old + IPV6_SRC, 16);
	put_message(p + IPV6_LEN, error, old, quote,
		cksum_pseudo(
			cksum_bytes(p + IPV6_SRC, 32), IPV6_NH_ICMP, (uint16_t)(ICMP_LEN + quote)));
	return IPV6_LEN + ICMP_LEN + quote;
}

struct rte_mbuf *sim_icmp_error(
	struct sim *s, const struct sim_headers *h, const struct sim_icmp_error *error)
{
	struct rte_mbuf *m = sim_packet_new(s);
	uint8_t *p;

	if (!m)
		return NULL;
	p = rte_pktmbuf_mtod(m, uint8_t *);
	eth_store(p, h->frame + ETH_SRC, h->frame + ETH_DST, h->v4 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
	m->pkt_len = ETH_LEN + (h->v4 ? put_v4 : put_v6)(p + ETH_LEN, h, error);
	m->data_len = (uint16_t)m->pkt_len;
	return m;
}
