/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/frame.h"

#include "ip/cksum.h"

#include <rte_ether.h>
#include <rte_mbuf.h>

#define ETH_LEN   14u
#define TAG_LEN   4u
#define TYPE_IPV4 0x0800u
#define TYPE_IPV6 0x86ddu
#define TYPE_VLAN 0x8100u
#define TYPE_QINQ 0x88a8u
#define PROTO_TCP 6u

struct rte_mbuf *wan_frame_adopt(struct rte_mbuf *m)
{
	if (unlikely(m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) && rte_vlan_insert(&m) != 0) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	/* These tell the owner of the memory: they belong to the buffer, not to the offloads. */
	m->ol_flags &= RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT;
	return m;
}

uint32_t wan_frame_header_len(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t len = ETH_LEN;
	uint16_t type;

	for (; len + TAG_LEN <= m->data_len; len += TAG_LEN) {
		type = load_be16(p + len - 2);
		if (type != TYPE_VLAN && type != TYPE_QINQ)
			break;
	}
	return len;
}

void wan_frame_corrupt(struct rte_mbuf *m, uint64_t random)
{
	uint32_t header = wan_frame_header_len(m);
	uint32_t first = m->pkt_len > header ? header : 0;
	uint64_t bit;
	uint32_t at;

	if (m->pkt_len == 0)
		return;
	bit = random % ((m->pkt_len - first) * UINT64_C(8));
	at = first + (uint32_t)(bit / 8);
	while (at >= m->data_len) {
		at -= m->data_len;
		m = m->next;
	}
	*rte_pktmbuf_mtod_offset(m, uint8_t *, at) ^= (uint8_t)(1u << bit % 8);
}

/** Plain sum of the 16-bit words of @p len bytes, an even number, in memory order. */
static uint64_t wan_frame_sum_words(const uint8_t *p, unsigned len)
{
	uint64_t sum = 0;
	uint16_t w;

	for (unsigned i = 0; i < len; i += 2) {
		memcpy(&w, p + i, sizeof w);
		sum += w;
	}
	return sum;
}

/** The TCP header, and the sum of the pseudo header in front of it; NULL: there is none. */
static const uint8_t *wan_frame_find_tcp(const struct rte_mbuf *m, uint64_t *pseudo)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned len = m->data_len, header = wan_frame_header_len(m);

	if (len < header + 20)
		return NULL;
	p += header;
	len -= header;
	if (load_be16(p - 2) == TYPE_IPV4) {
		header = (p[0] & 0xfu) * 4;
		/* A fragment has no header, or a checksum over more than itself. */
		if (p[9] != PROTO_TCP || (load_be16(p + 6) & 0x3fff) != 0 || header < 20 ||
			load_be16(p + 2) < header)
			return NULL;
		*pseudo = wan_frame_sum_words(p + 12, 8) +
			  cksum_word((uint16_t)(load_be16(p + 2) - header));
	} else if (load_be16(p - 2) == TYPE_IPV6 && len >= 40 && p[6] == PROTO_TCP) {
		header = 40;
		*pseudo = wan_frame_sum_words(p + 8, 32) + cksum_word(load_be16(p + 4));
	} else {
		return NULL;
	}
	*pseudo += cksum_word(PROTO_TCP);
	return len < header + 20 ? NULL : p + header;
}

bool wan_frame_is_tcp(const struct rte_mbuf *m)
{
	uint64_t pseudo;

	return wan_frame_find_tcp(m, &pseudo) != NULL;
}

bool wan_frame_is_unfilled(const struct rte_mbuf *m)
{
	uint64_t pseudo;
	const uint8_t *tcp = wan_frame_find_tcp(m, &pseudo);

	return tcp && cksum_tcp_is_unfilled(tcp, pseudo);
}
