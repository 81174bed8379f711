/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/echo.h"
#include "ip/icmp.h"
#include "ip/icmp_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/mld.h"
#include "ip/nd.h"
#include "ip/packet.h"

#include <rte_mbuf.h>

#define ICMPV6_QUOTE_MAX (IPV6_MIN_MTU - IPV6_LEN - ICMP_LEN) /* RFC 4443 section 2.4(c) */
#define ICMPV6_HEAD_MAX  1500 /* a query may have as many sources as fit a frame */

/* RFC 4443 section 2.4(e): what must not cause an error. */
static bool icmpv6_may_answer(const struct icmp_about *about, uint8_t type, uint8_t code)
{
	const struct ip_rx *rx = about->rx;

	/* Nothing from a group gets here: ipv6_check_addresses(). */
	if (ip_addr_is_any(&rx->src) || rx->secured)
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
	const struct icmp_error e = {
		.type = type, .code = code, .arg = arg, .quote_max = ICMPV6_QUOTE_MAX};

	if (!icmpv6_may_answer(about, type, code) || !icmp_take_token(s, now))
		return;
	if (!ip_addr_is_multicast(&r.src) || ip_source(s, &r.dst, &r.src) == 0)
		icmp_send_error(s, &r, &e, about->m, now);
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
		/* RFC 8201 section 4: there is no such link. */
		if (mtu < IPV6_MIN_MTU)
			return false;
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
	struct ip_error e = {.mtu = 0};

	if (!icmpv6_error_kind(p, &e) ||
		!icmp_report_quote_v6(s, p + ICMP_LEN, len - ICMP_LEN, &e, now))
		s->stats.icmp_ignored++;
}

static void icmpv6_echo(
	struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	struct ip_reply r = {
		.src = rx->dst, .dst = rx->src, .proto = IPV6_NH_ICMP, .tos = rx->tos & 0xfc};

	/* RFC 4443 section 4.2: an echo to a group is answered from a unicast address. */
	if (ip_addr_is_any(&rx->src) ||
		(ip_addr_is_multicast(&rx->dst) && ip_source(s, &rx->src, &r.src) < 0)) {
		s->stats.icmp_ignored++;
		rte_pktmbuf_free(m);
		return;
	}
	icmp_echo_reply(s, &r, ICMPV6_ECHO_REPLY, m, now);
}

void icmpv6_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	bool from_link = !rx->from_self && !rx->tunnelled && !s->cfg.no_link;
	const uint8_t *p;

	m = icmp_receive(s, IPV6_NH_ICMP, rx, m, ICMPV6_HEAD_MAX);
	if (!m)
		return;
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
	else if ((p[ICMP_TYPE] == ICMPV6_MLD_QUERY || p[ICMP_TYPE] == ICMPV6_MLD_REPORT) &&
		 from_link)
		mld_input(s, rx, p, m->data_len, now);
	else if (p[ICMP_TYPE] != ICMPV6_ECHO_REPLY)
		s->stats.icmp_ignored++;
	rte_pktmbuf_free(m);
}
