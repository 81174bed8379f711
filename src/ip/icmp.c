/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/icmp.h"

#include "ip/cksum.h"
#include "ip/echo.h"
#include "ip/eth_wire.h"
#include "ip/icmp_wire.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/packet.h"

#define TOKENS_MAX    50                          /* errors in one burst */
#define TOKENS_NS     UINT64_C(10000000)          /* one more each 10 ms */
#define QUOTE_MAX     (576 - IPV4_LEN - ICMP_LEN) /* RFC 1812 section 4.3.2.3 */
#define MIN_QUOTED_L4 8
#define HEAD_MAX      (ICMP_LEN + IPV4_MAX_LEN + 60)

bool icmp_take_token(struct ip_stack *s, uint64_t now)
{
	struct icmp_limit *l = &s->icmp_limit;
	uint64_t more = (now - l->refilled) / TOKENS_NS;

	if (more) {
		l->tokens = more < TOKENS_MAX - l->tokens ? l->tokens + (unsigned)more : TOKENS_MAX;
		l->refilled += more * TOKENS_NS;
	}
	if (!l->tokens) {
		s->stats.icmp_errors_limited++;
		return false;
	}
	l->tokens--;
	return true;
}

void icmp_echo_reply(struct ip_stack *s, const struct ip_reply *r, uint8_t type, struct rte_mbuf *m,
	uint64_t now)
{
	uint64_t pseudo = 0;
	uint8_t *p;

	m = packet_own(s, m, ICMP_LEN);
	if (!m) {
		s->stats.rx_no_memory++;
		return;
	}
	p = rte_pktmbuf_mtod(m, uint8_t *);
	p[ICMP_TYPE] = type;
	cksum_store(p + ICMP_CKSUM, 0);
	if (r->proto == IPV6_NH_ICMP)
		pseudo =
			cksum_pseudo(cksum_addrs(&r->src, &r->dst), r->proto, (uint16_t)m->pkt_len);
	cksum_store(p + ICMP_CKSUM, (uint16_t)~cksum_fold(pseudo + cksum_mbuf(m, 0)));
	s->stats.icmp_tx++;
	ip_reply(s, r, m, now);
}

void icmp_report(struct ip_stack *s, uint8_t proto, const struct ip_error *e, uint64_t now)
{
	const struct ip_transport *t = &s->transport[proto];

	/* Only about what we can have sent. */
	if (e->l4_len < MIN_QUOTED_L4 || !t->error || !ip_addr_is_local(s, &e->src))
		return;
	s->stats.icmp_errors_rx++;
	t->error(t->ctx, e, now);
}

void icmp_report_own(struct ip_stack *s, const struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *h = rte_pktmbuf_mtod_offset(m, const uint8_t *, ETH_LEN);
	struct ip_error e = {.kind = IP_ERROR_HOST};
	uint16_t hlen;
	uint8_t proto;

	if (h[0] >> 4 == 4) {
		hlen = IPV4_LEN;
		proto = h[IPV4_PROTOCOL];
		e.src = ip_addr_from_v4(h + IPV4_SRC);
		e.dst = ip_addr_from_v4(h + IPV4_DST);
	} else {
		hlen = IPV6_LEN;
		proto = h[IPV6_NEXT_HEADER];
		e.src = ip_addr_from_v6(h + IPV6_SRC);
		e.dst = ip_addr_from_v6(h + IPV6_DST);
	}
	e.l4 = h + hlen;
	e.l4_len = m->data_len - ETH_LEN - hlen;
	icmp_report(s, proto, &e, now);
}

/* RFC 1122 section 3.2.2: nothing about ICMP errors (nor about what might be one). */
static bool icmp_is_error(const struct icmp_about *about)
{
	uint8_t type;

	if (about->proto != ICMP_PROTO)
		return false;
	if (about->m->data_len <= about->l4_off)
		return true;
	type = *rte_pktmbuf_mtod_offset(about->m, const uint8_t *, about->l4_off);
	return type != ICMP_ECHO_REQUEST && type != ICMP_ECHO_REPLY;
}

void icmp_unreachable(
	struct ip_stack *s, const struct icmp_about *about, uint8_t code, uint64_t now)
{
	const struct ip_reply r = {
		.src = about->rx->dst, .dst = about->rx->src, .proto = ICMP_PROTO, .tos = 0xc0};
	uint16_t len = about->m->data_len < QUOTE_MAX ? about->m->data_len : QUOTE_MAX;
	struct rte_mbuf *m;
	uint8_t *p;

	/* Groups never get here: ipv4_input() takes nothing for them. */
	if (icmp_is_error(about) || !icmp_take_token(s, now))
		return;
	m = packet_new(s);
	p = m ? (uint8_t *)rte_pktmbuf_append(m, ICMP_LEN + len) : NULL;
	if (!p) {
		rte_pktmbuf_free(m);
		return;
	}
	memset(p, 0, ICMP_LEN);
	p[ICMP_TYPE] = ICMP_UNREACHABLE;
	p[ICMP_CODE] = code;
	memcpy(p + ICMP_LEN, rte_pktmbuf_mtod(about->m, const void *), len);
	cksum_store(p + ICMP_CKSUM, (uint16_t)~cksum_fold(cksum_bytes(p, ICMP_LEN + len)));
	s->stats.icmp_tx++;
	ip_reply(s, &r, m, now);
}

static bool icmp_error_kind(const uint8_t *p, struct ip_error *e)
{
	if (p[ICMP_TYPE] == ICMP_TIME_EXCEEDED) {
		e->kind = IP_ERROR_TIME;
		return true;
	}
	switch (p[ICMP_CODE]) {
	case ICMP_UNREACHABLE_NET:
	case ICMP_UNREACHABLE_NET_UNKNOWN:
	case ICMP_UNREACHABLE_NET_TOS:
		e->kind = IP_ERROR_NET;
		return true;
	case ICMP_UNREACHABLE_HOST:
	case ICMP_UNREACHABLE_SOURCE_ROUTE:
	case ICMP_UNREACHABLE_HOST_UNKNOWN:
	case ICMP_UNREACHABLE_HOST_TOS:
		e->kind = IP_ERROR_HOST;
		return true;
	case ICMP_UNREACHABLE_PROTOCOL:
		e->kind = IP_ERROR_PROTO;
		return true;
	case ICMP_UNREACHABLE_PORT:
		e->kind = IP_ERROR_PORT;
		return true;
	case ICMP_UNREACHABLE_FRAG_NEEDED:
		e->kind = IP_ERROR_MTU;
		e->mtu = load_be16(p + ICMP_NEXT_HOP_MTU);
		return true;
	case ICMP_UNREACHABLE_NET_PROHIBITED:
	case ICMP_UNREACHABLE_HOST_PROHIBITED:
	case ICMP_UNREACHABLE_FILTERED:
		e->kind = IP_ERROR_ADMIN;
		return true;
	default:
		return false;
	}
}

static void icmp_error_input(struct ip_stack *s, const uint8_t *p, uint32_t len, uint64_t now)
{
	const uint8_t *q = p + ICMP_LEN;
	uint32_t left = len - ICMP_LEN;
	struct ip_error e = {.mtu = 0};
	uint32_t hlen;

	if (left < IPV4_LEN || !icmp_error_kind(p, &e))
		return;
	hlen = (q[IPV4_VERSION_IHL] & 15) * 4U;
	/* What we send has no fragments: another one's first bytes are no transport header. */
	if (q[IPV4_VERSION_IHL] >> 4 != 4 || hlen < IPV4_LEN || left < hlen ||
		(load_be16(q + IPV4_FRAGMENT) & IPV4_OFFSET_MASK))
		return;
	e.src = ip_addr_from_v4(q + IPV4_SRC);
	e.dst = ip_addr_from_v4(q + IPV4_DST);
	e.l4 = q + hlen;
	e.l4_len = left - hlen;
	icmp_report(s, q[IPV4_PROTOCOL], &e, now);
}

void icmp_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	const struct ip_reply reply = {
		.src = rx->dst, .dst = rx->src, .proto = ICMP_PROTO, .tos = rx->tos & 0xfc};
	const uint8_t *p;

	s->stats.icmp_rx++;
	if (m->pkt_len < ICMP_LEN) {
		s->stats.rx_bad_header++;
		goto drop;
	}
	if (!rx->from_self && cksum_fold(cksum_mbuf(m, 0)) != 0xffff) {
		s->stats.rx_bad_cksum++;
		goto drop;
	}
	m = packet_head(s, m, HEAD_MAX);
	if (!m) {
		s->stats.rx_no_memory++;
		return;
	}
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	switch (p[ICMP_TYPE]) {
	case ICMP_ECHO_REQUEST:
		icmp_echo_reply(s, &reply, ICMP_ECHO_REPLY, m, now);
		return;
	case ICMP_ECHO_REPLY:
		if (s->echo)
			echo_reply_input(s->echo, rx, p, now);
		break;
	case ICMP_UNREACHABLE:
	case ICMP_TIME_EXCEEDED:
		icmp_error_input(s, p, m->data_len, now);
		break;
	default:
		/* RFC 1122 section 3.2.2: unknown types are dropped silently. Source quench is
		 * ignored (RFC 6633), and so are redirects: routes come from a person. */
		break;
	}
drop:
	rte_pktmbuf_free(m);
}
