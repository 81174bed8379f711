/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/mld.h"

#include "ip/cksum.h"
#include "ip/group.h"
#include "ip/icmp_wire.h"
#include "ip/ipv6.h"
#include "ip/stack.h"

#include <rte_mbuf.h>

#define SECOND         UINT64_C(1000000000)
#define MILLISECOND    UINT64_C(1000000)
#define MLD_TTL        1 /* RFC 3810 section 5 */
#define MLD_MANTISSA   12
#define MLD_QQIC       4 /* the same, of the Querier's Query Interval Code */
#define MLD_ROBUSTNESS 7 /* mask */

/* A query (RFC 3810 section 5.1), and all messages of version 1 (RFC 2710 section 3). */
enum {
	MLD_MAX_RESPONSE = 4, /**< code; in version 1 milliseconds */
	MLD_GROUP = 8,
	MLD_V1_LEN = 24,
	MLD_QUERY_ROBUSTNESS = 24,
	MLD_QUERY_INTERVAL = 25,
	MLD_QUERY_SOURCES = 26,
	MLD_QUERY_LEN = 28, /**< sources follow */
};

/* RFC 2711's router alert, with which RFC 3810 section 5 wants every message. */
static const uint8_t mld_router_alert[8] = {
	IPV6_NH_ICMP, 0, IPV6_OPT_ROUTER_ALERT, 2, 0, 0, IPV6_OPT_PADN, 0};

/* ---- sending ----------------------------------------------------------------------------- */

/* RFC 3590: a link-local address that is known to be unique, or none. */
static struct ip_addr mld_source(const struct ip_stack *s)
{
	for (unsigned i = 0; i < s->local.n; i++) {
		const struct local_addr *l = &s->local.a[i];

		if (l->state == LOCAL_PREFERRED && ip_addr_is_link_local(&l->addr))
			return l->addr;
	}
	return (struct ip_addr){{0}};
}

static void mld_send(struct ip_stack *s, struct rte_mbuf *m, const struct ip_addr *to)
{
	uint8_t *h = rte_pktmbuf_mtod(m, uint8_t *), *alert = h + ETH_LEN + IPV6_LEN;
	uint8_t *p = alert + sizeof mld_router_alert;
	uint16_t len = (uint16_t)(m->pkt_len - (size_t)(p - h));
	struct ip_addr src = mld_source(s);
	uint8_t mac[ETH_ADDR_LEN];
	uint64_t sum;

	group_mac(mac, to);
	eth_store(h, mac, s->cfg.mac, ETH_TYPE_IPV6);
	ipv6_store(h + ETH_LEN, &(struct ipv6_header){.src = &src,
					.dst = to,
					.payload_len = sizeof mld_router_alert + len,
					.next_header = IPV6_NH_HOP_BY_HOP,
					.hop_limit = MLD_TTL});
	memcpy(alert, mld_router_alert, sizeof mld_router_alert);
	sum = cksum_pseudo(cksum_addrs(&src, to), IPV6_NH_ICMP, len);
	cksum_store(p + ICMP_CKSUM, (uint16_t)~cksum_fold(sum + cksum_bytes(p, len)));
	s->stats.icmp_tx++;
	ip_transmit(s, m);
}

/* RFC 3810 section 6: never all nodes, nor what does not leave a host. */
static bool mld_is_reported(const struct ip_addr *group)
{
	return (group->b[1] & 15) > 1 && !ip_addr_equal(group, &group_all_nodes);
}

const struct membership_wire mld_wire = {
	.addr_len = 16,
	.head = ETH_LEN + IPV6_LEN + sizeof mld_router_alert,
	.newest = 2,
	.report_type = ICMPV6_MLDV2_REPORT,
	.report_to = {{0xff, 0x02, [15] = 0x16}},
	.older_report = {ICMPV6_MLD_REPORT},
	.older_leave = {ICMPV6_MLD_DONE},
	.older_len = MLD_V1_LEN,
	.older_repeat = 10 * SECOND,
	.leave_to = {{0xff, 0x02, [15] = 2}},
	.is_reported = mld_is_reported,
	.send = mld_send,
};

/* ---- receiving --------------------------------------------------------------------------- */

/** RFC 3810 section 8.1: the length tells the version. @return false: of none. */
static bool mld_read_query(const uint8_t *p, uint32_t len, struct membership_query *q)
{
	uint16_t code = load_be16(p + MLD_MAX_RESPONSE);

	*q = (struct membership_query){.version = 1,
		.group = ip_addr_from_v6(p + MLD_GROUP),
		/* 0 asks for an answer at once, of all members together: not quite, then. */
		.max_response = (code ? code : 1) * MILLISECOND};
	if (len == MLD_V1_LEN)
		return true;
	if (len < MLD_QUERY_LEN)
		return false;
	q->version = 2;
	q->max_response = (code ? membership_code(code, MLD_MANTISSA) : 1) * MILLISECOND;
	q->robustness = p[MLD_QUERY_ROBUSTNESS] & MLD_ROBUSTNESS;
	q->interval = membership_code(p[MLD_QUERY_INTERVAL], MLD_QQIC) * SECOND;
	q->num_sources = load_be16(p + MLD_QUERY_SOURCES);
	q->sources = p + MLD_QUERY_LEN;
	return q->num_sources <= (len - MLD_QUERY_LEN) / 16;
}

/* RFC 3810 sections 5.1.14, 5.1.15 and 6.2. */
static bool mld_is_for_us(const struct ip_rx *rx, const struct membership_query *q)
{
	bool general = ip_addr_is_any(&q->group);

	if (!ip_addr_is_link_local(&rx->src) || (general && q->num_sources))
		return false;
	return !general || !ip_addr_is_multicast(&rx->dst) ||
	       ip_addr_equal(&rx->dst, &group_all_nodes);
}

void mld_input(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now)
{
	struct membership_query q;
	struct ip_addr group;

	if (len < MLD_V1_LEN || rx->ttl != MLD_TTL || !rx->router_alert)
		goto bad;
	if (p[ICMP_TYPE] == ICMPV6_MLD_QUERY) {
		if (!mld_read_query(p, len, &q) || !mld_is_for_us(rx, &q))
			goto bad;
		membership_query(&s->mld, &q, now);
		return;
	}
	/* RFC 2710 section 3.7: a report is sent to the group that it tells of. */
	group = ip_addr_from_v6(p + MLD_GROUP);
	if (ip_addr_is_link_local(&rx->src) && ip_addr_equal(&rx->dst, &group))
		membership_heard(&s->mld, &group, now);
	return;
bad:
	s->stats.rx_bad_header++;
}
