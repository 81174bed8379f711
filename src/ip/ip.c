/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/ip.h"

#include "ip/group.h"
#include "ip/nd.h"
#include "ip/reassembly.h"
#include "ip/secure.h"
#include "ip/stack.h"

#include <errno.h>
#include <rte_mbuf.h>
#include <stdlib.h>

int ip_stack_create(const struct ip_stack_config *cfg, uint64_t now, struct ip_stack **out)
{
	struct ip_stack *s = calloc(1, sizeof *s);
	int rc;

	if (!s)
		return -ENOMEM;
	s->cfg = *cfg;
	s->generation = 1;
	s->mtu_v6 = cfg->mtu;
	s->icmp_limit.refilled = now;
	cfg->random.fill(cfg->random.ctx, &s->key, sizeof s->key);
	rc = reassembly_init(s);
	if (rc == 0)
		rc = ip_secure_init(s);
	if (rc < 0) {
		reassembly_fini(s);
		free(s);
		return rc;
	}
	route_init(s);
	neighbour_init(s);
	pmtu_init(s);
	nd_init(s);
	udp_init(s);
	group_init(s);
	*out = s;
	return 0;
}

void ip_stack_destroy(struct ip_stack *s)
{
	if (!s)
		return;
	group_fini(s);
	nd_fini(s);
	pmtu_fini(s);
	neighbour_fini(s);
	route_fini(s);
	local_fini(s);
	ip_secure_fini(s);
	reassembly_fini(s);
	while (s->loop_head != s->loop_tail)
		rte_pktmbuf_free(s->loop[s->loop_head++ & (IP_LOOP_SIZE - 1)]);
	free(s);
}

void ip_set_transport(struct ip_stack *s, uint8_t proto, const struct ip_transport *t)
{
	s->transport[proto] = *t;
	/* Never ask the port for what it cannot do. */
	if (t->tx_cksum != RTE_MBUF_F_TX_TCP_CKSUM || !s->cfg.tx_tcp_cksum)
		s->transport[proto].tx_cksum = 0;
}

const struct ip_stats *ip_stack_stats(const struct ip_stack *s)
{
	return &s->stats;
}

void ip_link_up(struct ip_stack *s, uint64_t now)
{
	if (s->cfg.no_link)
		return;
	neighbour_ask_again(s, now);
	membership_repeat(&s->igmp, now);
	membership_repeat(&s->mld, now);
	local_begin_again(s, now);
	s->linked = true;
}

void ip_expedite(struct ip_stack *s)
{
	if (s->cfg.expedite)
		s->cfg.expedite(s->cfg.expedite_ctx);
}
