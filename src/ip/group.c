/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/group.h"

#include "ip/eth_wire.h"
#include "ip/igmp.h"
#include "ip/mld.h"

#include <errno.h>
#include <rte_mbuf.h>

#define GROUP_SCOPE_HOST 1 /* RFC 4291 section 2.7: interface-local */

const struct ip_addr group_all_systems = {{[10] = 0xff, 0xff, 224, 0, 0, 1}};
const struct ip_addr group_all_nodes = {{0xff, 0x02, [15] = 1}};

static struct membership *group_table(struct ip_stack *s, const struct ip_addr *group)
{
	return ip_addr_is_v4(group) ? &s->igmp : &s->mld;
}

/* IPv6's scopes 0 and 15 are reserved, and 224.0.0.0 is no group (RFC 1112 section 4). */
static bool group_is_valid(const struct ip_addr *group)
{
	uint8_t scope = group->b[1] & 15;

	if (!ip_addr_is_multicast(group))
		return false;
	return ip_addr_is_v4(group) ? load_be32(group->b + 12) != UINT32_C(0xe0000000)
				    : scope != 0 && scope != 15;
}

int ip_group_join(struct ip_stack *s, const struct ip_addr *group, uint64_t now)
{
	return group_is_valid(group) ? membership_join(group_table(s, group), group, now) : -EINVAL;
}

void ip_group_leave(struct ip_stack *s, const struct ip_addr *group, uint64_t now)
{
	membership_leave(group_table(s, group), group, now);
}

bool ip_group_has(const struct ip_stack *s, const struct ip_addr *group)
{
	if (ip_addr_is_v4(group))
		return membership_has(&s->igmp, group) ||
		       (ip_addr_equal(group, &group_all_systems) && s->local.n_v4 != 0);
	return membership_has(&s->mld, group) ||
	       (ip_addr_equal(group, &group_all_nodes) && s->local.n > s->local.n_v4);
}

void group_mac(uint8_t mac[6], const struct ip_addr *group)
{
	static const uint8_t v4[3] = {0x01, 0x00, 0x5e};

	if (!ip_addr_is_v4(group)) {
		eth_multicast_v6(mac, group->b);
		return;
	}
	memcpy(mac, v4, sizeof v4);
	memcpy(mac + 3, group->b + 13, 3);
	mac[3] &= 0x7f;
}

static void group_loop_back(struct ip_stack *s, const struct rte_mbuf *m)
{
	struct rte_mbuf *copy;

	/* As on any link with a full queue. */
	if (s->loop_tail - s->loop_head == IP_LOOP_SIZE) {
		s->stats.loop_full++;
		return;
	}
	copy = rte_pktmbuf_copy(m, s->cfg.pool, 0, UINT32_MAX);
	if (!copy) {
		s->stats.rx_no_memory++;
		return;
	}
	copy->ol_flags = 0;
	s->loop[s->loop_tail++ & (IP_LOOP_SIZE - 1)] = copy;
}

void group_output(struct ip_stack *s, const struct ip_path *p, struct rte_mbuf *m)
{
	bool v4 = ip_addr_is_v4(&p->dst);
	uint8_t mac[ETH_ADDR_LEN];

	if (!s->cfg.no_link) {
		group_mac(mac, &p->dst);
		eth_store(rte_pktmbuf_mtod(m, uint8_t *), mac, s->cfg.mac,
			v4 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
	}
	if (ip_group_has(s, &p->dst))
		group_loop_back(s, m);
	if (!v4 && (p->dst.b[1] & 15) <= GROUP_SCOPE_HOST)
		rte_pktmbuf_free(m);
	else
		ip_transmit(s, m);
}

void group_init(struct ip_stack *s)
{
	membership_init(&s->igmp, s, &igmp_wire);
	membership_init(&s->mld, s, &mld_wire);
}

void group_fini(struct ip_stack *s)
{
	membership_fini(&s->igmp);
	membership_fini(&s->mld);
}
