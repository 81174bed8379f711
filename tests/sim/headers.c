/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/headers.h"

#include "ip/cksum.h"
#include "ip/eth_wire.h"
#include "ip/ip.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "tcp/tcp_wire.h"

#include <rte_mbuf.h>

static bool find_v4(struct sim_headers *h, uint32_t len)
{
	const uint8_t *p = h->frame + h->l3;
	uint32_t total, header;

	if (len < h->l3 + IPV4_LEN)
		return false;
	total = load_be16(p + IPV4_TOTAL_LENGTH);
	header = (p[IPV4_VERSION_IHL] & 15) * 4u;
	if (header < IPV4_LEN || total < header || total > len - h->l3)
		return false;
	h->v4 = true;
	h->l4 = h->l3 + header;
	h->end = h->l3 + total;
	h->is_tcp = p[IPV4_PROTOCOL] == IP_PROTO_TCP &&
		    !(load_be16(p + IPV4_FRAGMENT) & (IPV4_MF | IPV4_OFFSET_MASK));
	return true;
}

static bool find_v6(struct sim_headers *h, uint32_t len)
{
	const uint8_t *p = h->frame + h->l3;

	if (len < h->l3 + IPV6_LEN)
		return false;
	h->l4 = h->l3 + IPV6_LEN;
	h->end = h->l4 + load_be16(p + IPV6_PAYLOAD_LENGTH);
	h->is_tcp = p[IPV6_NEXT_HEADER] == IP_PROTO_TCP;
	return h->end <= len;
}

bool sim_headers_find(struct rte_mbuf *m, struct sim_headers *h)
{
	uint16_t type;

	*h = (struct sim_headers){.frame = rte_pktmbuf_mtod(m, uint8_t *), .l3 = ETH_LEN};
	if (m->data_len < ETH_LEN)
		return false;
	type = load_be16(h->frame + ETH_TYPE);
	if (!(type == ETH_TYPE_IPV4         ? find_v4(h, m->pkt_len)
		    : type == ETH_TYPE_IPV6 ? find_v6(h, m->pkt_len)
					    : false))
		return false;
	if (!h->is_tcp || h->end - h->l4 < TCP_HEADER_LEN) {
		h->is_tcp = false;
		return true;
	}
	h->text = h->l4 + tcp_wire_header_len(h->frame + h->l4);
	h->flags = h->frame[h->l4 + TCP_OFF_FLAGS];
	h->is_tcp = h->text >= h->l4 + TCP_HEADER_LEN && h->text <= h->end;
	return true;
}

void sim_headers_checksum(const struct sim_headers *h)
{
	uint8_t *l3 = h->frame + h->l3, *l4 = h->frame + h->l4;
	const uint32_t len = h->end - h->l4;
	uint64_t sum = cksum_pseudo(0, IP_PROTO_TCP, (uint16_t)len);

	if (h->v4) {
		cksum_store(l3 + IPV4_CKSUM, 0);
		cksum_store(l3 + IPV4_CKSUM, (uint16_t)~cksum_fold(cksum_bytes(l3, h->l4 - h->l3)));
	}
	if (!h->is_tcp)
		return;
	sum += h->v4 ? cksum_bytes(l3 + IPV4_SRC, 8) : cksum_bytes(l3 + IPV6_SRC, 32);
	cksum_store(l4 + TCP_OFF_CKSUM, 0);
	cksum_store(l4 + TCP_OFF_CKSUM, (uint16_t)~cksum_fold(sum + cksum_bytes(l4, len)));
}

bool sim_headers_are_sound(const struct sim_headers *h)
{
	uint8_t *ip = h->frame + h->l3 + IPV4_CKSUM, *tcp = h->frame + h->l4 + TCP_OFF_CKSUM;
	uint16_t ip_before = h->v4 ? load_be16(ip) : 0, tcp_before = load_be16(tcp);

	sim_headers_checksum(h);
	return (!h->v4 || load_be16(ip) == ip_before) && load_be16(tcp) == tcp_before;
}

void sim_headers_set_text(struct rte_mbuf *m, const struct sim_headers *h, uint32_t len)
{
	struct sim_headers now = *h;
	uint8_t *l3;

	now.frame = rte_pktmbuf_mtod(m, uint8_t *);
	now.end = h->text + len;
	l3 = now.frame + now.l3;
	if (now.v4)
		store_be16(l3 + IPV4_TOTAL_LENGTH, (uint16_t)(now.end - now.l3));
	else
		store_be16(l3 + IPV6_PAYLOAD_LENGTH, (uint16_t)(now.end - now.l4));
	sim_headers_checksum(&now);
}
