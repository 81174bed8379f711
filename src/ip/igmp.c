/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/igmp.h"

#include "ip/cksum.h"
#include "ip/group.h"
#include "ip/igmp_wire.h"
#include "ip/ipv4.h"
#include "ip/packet.h"
#include "ip/stack.h"

#include <rte_mbuf.h>

#define SECOND          UINT64_C(1000000000)
#define TENTH           (SECOND / 10)
#define IGMP_TTL        1
#define IGMP_TOS        0xc0          /* Internetwork Control (RFC 3376 section 4) */
#define IGMP_V1_MOST    (10 * SECOND) /* RFC 1112's queries say nothing of it */
#define IGMP_HEAD_MAX   1500
#define IGMP_IPV4_LEN   (IPV4_LEN + sizeof igmp_router_alert)
#define IGMP_MANTISSA   4
#define IGMP_ROBUSTNESS 7 /* mask */

/* RFC 2113. */
static const uint8_t igmp_router_alert[4] = {IPV4_OPT_ROUTER_ALERT, 4, 0, 0};

/* ---- sending ----------------------------------------------------------------------------- */

/* RFC 3376 section 4.2.13: 0.0.0.0 as long as there is no address. */
static struct ip_addr igmp_source(const struct ip_stack *s)
{
	for (unsigned i = 0; i < s->local.n; i++) {
		if (ip_addr_is_v4(&s->local.a[i].addr))
			return s->local.a[i].addr;
	}
	return (struct ip_addr){{[10] = 0xff, 0xff}};
}

static void igmp_send(struct ip_stack *s, struct rte_mbuf *m, const struct ip_addr *to)
{
	uint8_t *h = rte_pktmbuf_mtod(m, uint8_t *), *ip = h + ETH_LEN, *p = ip + IGMP_IPV4_LEN;
	uint16_t total = (uint16_t)(m->pkt_len - ETH_LEN);
	struct ip_addr src = igmp_source(s);
	uint8_t mac[ETH_ADDR_LEN];

	group_mac(mac, to);
	eth_store(h, mac, s->cfg.mac, ETH_TYPE_IPV4);
	ip[IPV4_VERSION_IHL] = 0x40 | IGMP_IPV4_LEN / 4;
	ip[IPV4_TOS] = IGMP_TOS;
	store_be16(ip + IPV4_TOTAL_LENGTH, total);
	store_be16(ip + IPV4_FRAGMENT, IPV4_DF);
	ip[IPV4_TTL] = IGMP_TTL;
	ip[IPV4_PROTOCOL] = IGMP_PROTO;
	memcpy(ip + IPV4_SRC, src.b + 12, 4);
	memcpy(ip + IPV4_DST, to->b + 12, 4);
	memcpy(ip + IPV4_LEN, igmp_router_alert, sizeof igmp_router_alert);
	cksum_store(ip + IPV4_CKSUM, (uint16_t)~cksum_fold(cksum_bytes(ip, IGMP_IPV4_LEN)));
	cksum_store(p + IGMP_CKSUM, (uint16_t)~cksum_fold(cksum_bytes(p, total - IGMP_IPV4_LEN)));
	s->stats.igmp_tx++;
	ip_transmit(s, m);
}

/* RFC 3376 section 6: all systems are in that group, and no report is ever sent for it. */
static bool igmp_is_reported(const struct ip_addr *group)
{
	return !ip_addr_equal(group, &group_all_systems);
}

const struct membership_wire igmp_wire = {
	.addr_len = 4,
	.head = ETH_LEN + IGMP_IPV4_LEN,
	.newest = 3,
	.report_type = IGMP_V3_REPORT,
	.report_to = {{[10] = 0xff, 0xff, 224, 0, 0, 22}},
	.older_report = {IGMP_V1_REPORT, IGMP_V2_REPORT},
	.older_leave = {0, IGMP_V2_LEAVE},
	.older_general = 2,
	.older_len = IGMP_LEN,
	.older_repeat = 10 * SECOND,
	.leave_to = {{[10] = 0xff, 0xff, 224, 0, 0, 2}},
	.is_reported = igmp_is_reported,
	.send = igmp_send,
};

/* ---- receiving --------------------------------------------------------------------------- */

/** RFC 3376 section 7.1: the length tells the version. @return false: of none. */
static bool igmp_read_query(const uint8_t *p, uint32_t len, struct membership_query *q)
{
	*q = (struct membership_query){.group = ip_addr_from_v4(p + IGMP_GROUP)};
	if (len == IGMP_LEN) {
		q->version = p[IGMP_CODE] ? 2 : 1;
		q->max_response = p[IGMP_CODE] ? p[IGMP_CODE] * TENTH : IGMP_V1_MOST;
		return true;
	}
	if (len < IGMP_QUERY_LEN)
		return false;
	q->version = 3;
	/* 0 asks for an answer at once, of all members together: not quite, then. */
	q->max_response = (p[IGMP_CODE] ? membership_code(p[IGMP_CODE], IGMP_MANTISSA) : 1) * TENTH;
	q->robustness = p[IGMP_QUERY_ROBUSTNESS] & IGMP_ROBUSTNESS;
	q->interval = membership_code(p[IGMP_QUERY_INTERVAL], IGMP_MANTISSA) * SECOND;
	q->num_sources = load_be16(p + IGMP_QUERY_SOURCES);
	q->sources = p + IGMP_QUERY_LEN;
	return q->num_sources <= (len - IGMP_QUERY_LEN) / 4;
}

/* RFC 3376 sections 4.1.12 and 9.1: from this link, and sent to where such a query goes. */
static bool igmp_is_for_us(const struct ip_rx *rx, const struct membership_query *q)
{
	bool general = ip_addr_is_any(&q->group);

	if (q->version > 1 && !rx->router_alert)
		return false;
	if (general && q->num_sources)
		return false;
	return !general || !ip_addr_is_multicast(&rx->dst) ||
	       ip_addr_equal(&rx->dst, &group_all_systems);
}

static bool igmp_message(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now)
{
	struct membership_query q;
	struct ip_addr group = ip_addr_from_v4(p + IGMP_GROUP);

	switch (p[IGMP_TYPE]) {
	case IGMP_QUERY:
		if (!igmp_read_query(p, len, &q) || !igmp_is_for_us(rx, &q))
			return false;
		membership_query(&s->igmp, &q, now);
		return true;
	case IGMP_V1_REPORT:
	case IGMP_V2_REPORT:
		/* RFC 2236 section 2: it is sent to the group that it tells of. */
		if (ip_addr_equal(&rx->dst, &group))
			membership_heard(&s->igmp, &group, now);
		return true;
	default:
		/* Leaves and reports of version 3 are for routers. */
		return true;
	}
}

void igmp_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	s->stats.igmp_rx++;
	if (m->pkt_len < IGMP_LEN || rx->ttl != IGMP_TTL) {
		s->stats.rx_bad_header++;
		rte_pktmbuf_free(m);
		return;
	}
	if (cksum_fold(cksum_mbuf(m, 0)) != 0xffff) {
		s->stats.rx_bad_cksum++;
		rte_pktmbuf_free(m);
		return;
	}
	m = packet_head(s, m, IGMP_HEAD_MAX);
	if (!m) {
		s->stats.rx_no_memory++;
		return;
	}
	if (!igmp_message(s, rx, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, now))
		s->stats.rx_bad_header++;
	rte_pktmbuf_free(m);
}
