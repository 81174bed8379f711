/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/vlan.h"

#include "base/bytes.h"

#include <rte_mbuf.h>
#include <string.h>

#define VLAN_ADDRESSES 12 /* the two before the tag */
#define VLAN_ETHER_LEN 14
#define VLAN_TPID      0x8100
#define VLAN_ID_MASK   0x0fff
#define VLAN_PCP_SHIFT 13
#define VLAN_TYPE_IPV4 0x0800
#define VLAN_TYPE_IPV6 0x86dd
#define VLAN_STRIPPED  (RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED)

/** RFC 2474 section 4.2.2: the precedence is the first three bits of the type of service. */
static uint16_t vlan_priority(const uint8_t *frame, uint16_t len)
{
	if (len < VLAN_ETHER_LEN + 2)
		return 0;
	switch (load_be16(frame + VLAN_ADDRESSES)) {
	case VLAN_TYPE_IPV4:
		return frame[VLAN_ETHER_LEN + 1] >> 5;
	case VLAN_TYPE_IPV6:
		return (frame[VLAN_ETHER_LEN] & 0x0f) >> 1;
	default:
		return 0;
	}
}

/** Make room behind the addresses. @return false: there is no headroom. */
static bool vlan_insert(struct rte_mbuf *m, uint16_t tci)
{
	uint8_t *h = (uint8_t *)rte_pktmbuf_prepend(m, VLAN_TAG_LEN);

	if (!h)
		return false;
	memmove(h, h + VLAN_TAG_LEN, VLAN_ADDRESSES);
	store_be16(h + VLAN_ADDRESSES, VLAN_TPID);
	store_be16(h + VLAN_ADDRESSES + 2, tci);
	return true;
}

bool vlan_push(struct rte_mbuf *m, uint16_t id)
{
	uint16_t priority = vlan_priority(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);

	if (m->data_len < VLAN_ETHER_LEN ||
		!vlan_insert(m, (uint16_t)(priority << VLAN_PCP_SHIFT | id)))
		return false;
	/* Offloads find IP's header by it. */
	m->l2_len += VLAN_TAG_LEN;
	return true;
}

bool vlan_pop(struct rte_mbuf *m, uint16_t id)
{
	uint8_t *h = rte_pktmbuf_mtod(m, uint8_t *);

	if ((m->ol_flags & VLAN_STRIPPED) == VLAN_STRIPPED) {
		m->ol_flags &= ~(uint64_t)VLAN_STRIPPED;
		return (m->vlan_tci & VLAN_ID_MASK) == id;
	}
	if (!id)
		return true;
	if (m->data_len < VLAN_ETHER_LEN + VLAN_TAG_LEN ||
		load_be16(h + VLAN_ADDRESSES) != VLAN_TPID ||
		(load_be16(h + VLAN_ADDRESSES + 2) & VLAN_ID_MASK) != id)
		return false;
	memmove(h + VLAN_TAG_LEN, h, VLAN_ADDRESSES);
	rte_pktmbuf_adj(m, VLAN_TAG_LEN);
	return true;
}

void vlan_restore(struct rte_mbuf *m)
{
	if ((m->ol_flags & VLAN_STRIPPED) == VLAN_STRIPPED && m->data_len >= VLAN_ADDRESSES &&
		vlan_insert(m, m->vlan_tci))
		m->ol_flags &= ~(uint64_t)VLAN_STRIPPED;
}
