/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/mld.h"

#include "ip/cksum.h"
#include "ip/icmp_wire.h"
#include "ip/ipv6.h"
#include "ip/nd.h"
#include "ip/packet.h"
#include "ip/stack.h"

#define SECOND  UINT64_C(1000000000)
#define MLD_TTL 1 /* RFC 3810 section 5 */

/* The report and one of its records (RFC 3810 section 5.2). */
enum {
	MLD_RECORDS = 6,
	MLD_REPORT_LEN = 8,
	MLD_RECORD_TYPE = 0,
	MLD_RECORD_GROUP = 4,
	MLD_RECORD_LEN = 20,
	MLD_QUERY_LEN = 24,
};
enum { MLD_MODE_IS_EXCLUDE = 2, MLD_CHANGE_TO_EXCLUDE = 4 };

/* RFC 2711's router alert, with which RFC 3810 section 5 wants every message. */
static const uint8_t mld_router_alert[8] = {IPV6_NH_ICMP, 0, 5, 2, 0, 0, IPV6_OPT_PADN, 0};
static const struct ip_addr mld_all_mldv2_routers = {{0xff, 0x02, [15] = 0x16}};

/* RFC 3590: a link-local address that is known to be unique, or none. */
static struct ip_addr mld_report_source(const struct ip_stack *s)
{
	for (unsigned i = 0; i < s->local.n; i++) {
		const struct local_addr *l = &s->local.a[i];

		if (l->state == LOCAL_PREFERRED && ip_addr_is_link_local(&l->addr))
			return l->addr;
	}
	return (struct ip_addr){{0}};
}

/** @return how many records, each once: addresses may share a group. */
static uint16_t mld_store_records(const struct ip_stack *s, uint8_t *p, uint8_t type)
{
	uint16_t n = 0;

	for (unsigned i = 0; i < s->local.n; i++) {
		struct ip_addr group = nd_group(&s->local.a[i].addr);
		bool seen = ip_addr_is_v4(&s->local.a[i].addr);

		for (uint16_t k = 0; k < n && !seen; k++)
			seen = memcmp(p + k * MLD_RECORD_LEN + MLD_RECORD_GROUP, group.b, 16) == 0;
		if (seen)
			continue;
		memset(p + n * MLD_RECORD_LEN, 0, MLD_RECORD_GROUP);
		p[n * MLD_RECORD_LEN + MLD_RECORD_TYPE] = type;
		memcpy(p + n * MLD_RECORD_LEN + MLD_RECORD_GROUP, group.b, 16);
		n++;
	}
	return n;
}

static void mld_report(struct ip_stack *s, uint8_t type)
{
	struct ip_addr src = mld_report_source(s);
	uint8_t records[LOCAL_MAX * MLD_RECORD_LEN];
	uint16_t n = mld_store_records(s, records, type);
	uint16_t len = MLD_REPORT_LEN + n * MLD_RECORD_LEN;
	struct rte_mbuf *m = packet_new(s);
	uint8_t *h = NULL, *p;
	uint8_t mac[ETH_ADDR_LEN];
	uint64_t sum;

	if (m)
		h = (uint8_t *)rte_pktmbuf_append(
			m, ETH_LEN + IPV6_LEN + sizeof mld_router_alert + len);
	if (!h) {
		rte_pktmbuf_free(m);
		return;
	}
	eth_multicast_v6(mac, mld_all_mldv2_routers.b);
	eth_store(h, mac, s->cfg.mac, ETH_TYPE_IPV6);
	ipv6_store(h + ETH_LEN, &(struct ipv6_header){.src = &src,
					.dst = &mld_all_mldv2_routers,
					.payload_len = sizeof mld_router_alert + len,
					.next_header = IPV6_NH_HOP_BY_HOP,
					.hop_limit = MLD_TTL});
	memcpy(h + ETH_LEN + IPV6_LEN, mld_router_alert, sizeof mld_router_alert);
	p = h + ETH_LEN + IPV6_LEN + sizeof mld_router_alert;
	memset(p, 0, MLD_REPORT_LEN);
	p[ICMP_TYPE] = ICMPV6_MLDV2_REPORT;
	store_be16(p + MLD_RECORDS, n);
	memcpy(p + MLD_REPORT_LEN, records, n * MLD_RECORD_LEN);
	sum = cksum_pseudo(cksum_addrs(&src, &mld_all_mldv2_routers), IPV6_NH_ICMP, len);
	cksum_store(p + ICMP_CKSUM, (uint16_t)~cksum_fold(sum + cksum_bytes(p, len)));
	s->stats.icmp_tx++;
	ip_transmit(s, m);
}

void mld_join(struct ip_stack *s)
{
	mld_report(s, MLD_CHANGE_TO_EXCLUDE);
}

void mld_query(struct ip_stack *s, const struct ip_rx *rx, uint32_t len, uint64_t now)
{
	/* RFC 3810 section 5.1.14 and 6.2; once a second is often enough for any querier. */
	if (len < MLD_QUERY_LEN || rx->ttl != MLD_TTL || !ip_addr_is_link_local(&rx->src) ||
		(s->mld_answered && now - s->mld_answered < SECOND))
		return;
	s->mld_answered = now;
	mld_report(s, MLD_MODE_IS_EXCLUDE);
}
