/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/cksum.h"
#include "ip/echo.h"
#include "ip/icmp.h"
#include "ip/icmp_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/mld.h"
#include "ip/nd.h"
#include "ip/packet.h"

#define QUOTE_MAX (IPV6_MIN_MTU - IPV6_LEN - ICMP_LEN) /* RFC 4443 section 2.4(c) */
#define HEAD_MAX  1280

/* RFC 4443 section 2.4(e): what must not cause an error. */
static bool icmpv6_may_answer(const struct icmp_about *about, uint8_t type, uint8_t code)
{
	const struct ip_rx *rx = about->rx;

	if (ip_addr_is_any(&rx->src) || ip_addr_is_multicast(&rx->src))
		return false;
	/* Packets to groups only for Too Big and for options that ask for it. */
	if (ip_addr_is_multicast(&rx->dst) &&
		!(type == ICMPV6_PARAMETER && code == ICMPV6_PARAMETER_OPTION))
		return false;
	if (about->proto == IPV6_NH_ICMP) {
		uint8_t t;

		if (about->m->data_len <= about->l4_off)
			return false;
		t = *rte_pktmbuf_mtod_offset(about->m, const uint8_t *, about->l4_off);
		if (t < ICMPV6_FIRST_INFORMATIONAL || t == ICMPV6_REDIRECT)
			return false;
	}
	return true;
}

void icmpv6_error(struct ip_stack *s, const struct icmp_about *about, uint8_t type, uint8_t code,
	uint32_t arg, uint64_t now)
{
	struct ip_reply r = {.src = about->rx->dst, .dst = about->rx->src, .proto = IPV6_NH_ICMP};
	uint16_t len = about->m->data_len < QUOTE_MAX ? about->m->data_len : QUOTE_MAX;
	struct rte_mbuf *m;
	uint64_t sum;
	uint8_t *p;

	if (!icmpv6_may_answer(about, type, code) || !icmp_take_token(s, now))
		return;
	if (ip_addr_is_multicast(&r.src) && ip_source(s, &r.dst, &r.src) < 0)
		return;
	m = packet_new(s);
	p = m ? (uint8_t *)rte_pktmbuf_append(m, ICMP_LEN + len) : NULL;
	if (!p) {
		rte_pktmbuf_free(m);
		return;
	}
	p[ICMP_TYPE] = type;
	p[ICMP_CODE] = code;
	cksum_store(p + ICMP_CKSUM, 0);
	store_be32(p + ICMP_BODY, arg);
	memcpy(p + ICMP_LEN, rte_pktmbuf_mtod(about->m, const void *), len);
	sum = cksum_pseudo(cksum_addrs(&r.src, &r.dst), IPV6_NH_ICMP, ICMP_LEN + len);
	sum += cksum_bytes(p, ICMP_LEN + len);
	cksum_store(p + ICMP_CKSUM, (uint16_t)~cksum_fold(sum));
	s->stats.icmp_tx++;
	ip_reply(s, &r, m, now);
}

static bool icmpv6_error_kind(const uint8_t *p, struct ip_error *e)
{
	static const uint8_t unreachable[] = {
		[ICMPV6_UNREACHABLE_ROUTE] = IP_ERROR_NET,
		[ICMPV6_UNREACHABLE_ADMIN] = IP_ERROR_ADMIN,
		[ICMPV6_UNREACHABLE_SCOPE] = IP_ERROR_NET,
		[ICMPV6_UNREACHABLE_ADDRESS] = IP_ERROR_HOST,
		[ICMPV6_UNREACHABLE_PORT] = IP_ERROR_PORT,
		[ICMPV6_UNREACHABLE_POLICY] = IP_ERROR_ADMIN,
		[ICMPV6_UNREACHABLE_REJECT] = IP_ERROR_ADMIN,
	};
	uint32_t mtu;

	switch (p[ICMP_TYPE]) {
	case ICMPV6_UNREACHABLE:
		if (p[ICMP_CODE] >= sizeof unreachable)
			return false;
		e->kind = unreachable[p[ICMP_CODE]];
		return true;
	case ICMPV6_TOO_BIG:
		mtu = load_be32(p + ICMP_BODY);
		e->kind = IP_ERROR_MTU;
		e->mtu = mtu > UINT16_MAX ? UINT16_MAX : (uint16_t)mtu;
		return true;
	case ICMPV6_TIME_EXCEEDED:
		e->kind = IP_ERROR_TIME;
		return true;
	case ICMPV6_PARAMETER:
		/* "Unrecognized next header" says that nobody there speaks the protocol. */
		e->kind = IP_ERROR_PROTO;
		return p[ICMP_CODE] == ICMPV6_PARAMETER_NEXT_HEADER;
	default:
		return false;
	}
}

static void icmpv6_error_input(struct ip_stack *s, const uint8_t *p, uint32_t len, uint64_t now)
{
	const uint8_t *q = p + ICMP_LEN;
	uint32_t left = len - ICMP_LEN;
	struct ip_error e = {.mtu = 0};

	/* We send no extension headers, so the quoted transport header comes at once. */
	if (left < IPV6_LEN || q[IPV6_VERSION_CLASS_FLOW] >> 4 != 6 || !icmpv6_error_kind(p, &e))
		return;
	e.src = ip_addr_from_v6(q + IPV6_SRC);
	e.dst = ip_addr_from_v6(q + IPV6_DST);
	e.l4 = q + IPV6_LEN;
	e.l4_len = left - IPV6_LEN;
	icmp_report(s, q[IPV6_NEXT_HEADER], &e, now);
}

static void icmpv6_echo(
	struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	struct ip_reply r = {
		.src = rx->dst, .dst = rx->src, .proto = IPV6_NH_ICMP, .tos = rx->tos & 0xfc};

	/* RFC 4443 section 4.2: an echo to a group is answered from a unicast address. */
	if (ip_addr_is_any(&rx->src) ||
		(ip_addr_is_multicast(&rx->dst) && ip_source(s, &rx->src, &r.src) < 0)) {
		rte_pktmbuf_free(m);
		return;
	}
	icmp_echo_reply(s, &r, ICMPV6_ECHO_REPLY, m, now);
}

void icmpv6_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	bool from_link = !rx->from_self && !s->cfg.no_link;
	const uint8_t *p;

	s->stats.icmp_rx++;
	if (m->pkt_len < ICMP_LEN) {
		s->stats.rx_bad_header++;
		goto drop;
	}
	if (!rx->from_self && ip_l4_cksum(&rx->src, &rx->dst, IPV6_NH_ICMP, m, 0) != 0) {
		s->stats.rx_bad_cksum++;
		goto drop;
	}
	m = packet_head(s, m, HEAD_MAX);
	if (!m) {
		s->stats.rx_no_memory++;
		return;
	}
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	if (p[ICMP_TYPE] == ICMPV6_ECHO_REQUEST) {
		icmpv6_echo(s, rx, m, now);
		return;
	}
	if (p[ICMP_TYPE] == ICMPV6_ECHO_REPLY && s->echo)
		echo_reply_input(s->echo, rx, p, now);
	else if (p[ICMP_TYPE] < ICMPV6_FIRST_INFORMATIONAL)
		icmpv6_error_input(s, p, m->data_len, now);
	else if (p[ICMP_TYPE] >= ICMPV6_RS && p[ICMP_TYPE] <= ICMPV6_REDIRECT && from_link)
		nd_input(s, rx, p, m->data_len, now);
	else if (p[ICMP_TYPE] == ICMPV6_MLD_QUERY && from_link)
		mld_query(s, rx, m->data_len, now);
drop:
	rte_pktmbuf_free(m);
}
