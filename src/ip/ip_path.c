/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/ip_path.h"

#include "ip/cksum.h"
#include "ip/secure.h"

#include <errno.h>

int ip_path_find(struct ip_stack *s, struct ip_path *p, uint64_t now)
{
	struct ip_addr hop;

	if (!ip_addr_is_local(s, &p->src))
		return -EADDRNOTAVAIL;
	p->loop = ip_addr_is_local(s, &p->dst);
	p->neighbour = NULL;
	if (!p->loop && !ip_path_is_to_group(p)) {
		if (ip_addr_is_multicast(&p->dst) || ip_addr_is_any(&p->dst) ||
			local_is_broadcast(s, &p->dst) || route_next_hop(s, &p->dst, &hop) < 0) {
			s->stats.no_route++;
			return -ENETUNREACH;
		}
		if (!s->cfg.no_link)
			p->neighbour = neighbour_get(s, &hop, now);
	}
	p->mtu = pmtu_get(s, &p->dst);
	p->link_mtu = pmtu_link(s, &p->dst);
	if (unlikely(s->cfg.ipsec) && !p->loop)
		ip_secure_path(s, p);
	p->generation = s->generation;
	return 0;
}

int ip_next_hop(const struct ip_stack *s, const struct ip_addr *dst, struct ip_addr *hop)
{
	return route_next_hop(s, dst, hop);
}

int ip_reach(struct ip_stack *s, const struct ip_addr *dst, uint64_t now)
{
	struct ip_addr hop;

	if (ip_addr_is_local(s, dst))
		return 0;
	if (ip_addr_is_multicast(dst) || ip_addr_is_any(dst) || local_is_broadcast(s, dst) ||
		route_next_hop(s, dst, &hop) < 0)
		return -ENETUNREACH;
	if (s->cfg.no_link || neighbour_ask(neighbour_get(s, &hop, now), now))
		return 0;
	return -EAGAIN;
}

int ip_path_init(struct ip_stack *s, struct ip_path *p, const struct ip_addr *src,
	const struct ip_addr *dst, uint64_t now)
{
	if (ip_addr_is_v4(src) != ip_addr_is_v4(dst))
		return -EADDRNOTAVAIL;
	p->src = *src;
	p->dst = *dst;
	p->addr_sum = cksum_addrs(src, dst);
	return ip_path_find(s, p, now);
}

void ip_path_confirm(struct ip_stack *s, struct ip_path *p, uint64_t sent_at, uint64_t now)
{
	if (p->generation == s->generation && p->neighbour)
		neighbour_confirm(s, p->neighbour, sent_at, now);
}

bool ip_path_waits(const struct ip_path *p)
{
	return p->neighbour && p->neighbour->queued;
}

bool ip_doubt(struct ip_stack *s, const struct ip_addr *dst, uint64_t now)
{
	struct ip_neighbour *n;
	struct ip_addr hop;

	if (s->cfg.no_link || ip_addr_is_local(s, dst) || route_next_hop(s, dst, &hop) < 0)
		return false;
	n = neighbour_find(s, &hop);
	return n && neighbour_doubt(n, now);
}

uint16_t ip_path_too_big(struct ip_stack *s, struct ip_path *p, uint16_t mtu, uint64_t now)
{
	if (unlikely(s->cfg.ipsec) && !p->loop) {
		(void)pmtu_lower(s, &p->dst, ip_secure_whole(s, p, mtu), now);
		p->mtu = pmtu_get(s, &p->dst);
		ip_secure_path(s, p);
	} else {
		p->mtu = pmtu_lower(s, &p->dst, mtu, now);
	}
	return p->mtu;
}
