/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/icmp.h"

#include "ip/cksum.h"
#include "ip/echo.h"
#include "ip/eth_wire.h"
#include "ip/icmp_wire.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/packet.h"
#include "ip/secure.h"

#include <rte_mbuf.h>

#define TOKENS_MAX     50                          /* errors in one burst */
#define TOKENS_NS      UINT64_C(10000000)          /* one more each 10 ms */
#define ICMP_QUOTE_MAX (576 - IPV4_LEN - ICMP_LEN) /* RFC 1812 section 4.3.2.3 */
#define ICMP_HEAD_MAX  (ICMP_LEN + IPV4_MAX_LEN + 60)

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

uint64_t icmp_pseudo(
	uint8_t proto, const struct ip_addr *src, const struct ip_addr *dst, uint16_t len)
{
	return proto == IPV6_NH_ICMP ? cksum_pseudo(cksum_addrs(src, dst), proto, len) : 0;
}

struct rte_mbuf *icmp_receive(struct ip_stack *s, uint8_t proto, const struct ip_rx *rx,
	struct rte_mbuf *m, uint16_t head)
{
	uint64_t sum;

	s->stats.icmp_rx++;
	if (m->pkt_len < ICMP_LEN) {
		s->stats.rx_bad_header++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	sum = icmp_pseudo(proto, &rx->src, &rx->dst, (uint16_t)m->pkt_len);
	if (!rx->from_self && cksum_fold(sum + cksum_mbuf(m, 0)) != 0xffff) {
		s->stats.rx_bad_cksum++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	m = packet_head(s, m, head);
	if (!m)
		s->stats.rx_no_memory++;
	return m;
}

void icmp_echo_reply(struct ip_stack *s, const struct ip_reply *r, uint8_t type, struct rte_mbuf *m,
	uint64_t now)
{
	uint64_t sum;
	uint8_t *p;

	m = packet_own(s, m, ICMP_LEN);
	if (!m) {
		s->stats.rx_no_memory++;
		return;
	}
	p = rte_pktmbuf_mtod(m, uint8_t *);
	p[ICMP_TYPE] = type;
	cksum_store(p + ICMP_CKSUM, 0);
	sum = icmp_pseudo(r->proto, &r->src, &r->dst, (uint16_t)m->pkt_len);
	cksum_store(p + ICMP_CKSUM, (uint16_t)~cksum_fold(sum + cksum_mbuf(m, 0)));
	s->stats.icmp_tx++;
	ip_reply(s, r, m, now);
}

void icmp_send_error(struct ip_stack *s, const struct ip_reply *r, const struct icmp_error *e,
	const struct rte_mbuf *about, uint64_t now)
{
	uint16_t quoted = about->data_len < e->quote_max ? about->data_len : e->quote_max;
	uint16_t len = ICMP_LEN + quoted;
	struct rte_mbuf *m = packet_new(s);
	uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, len) : NULL;
	uint64_t sum;

	if (!p) {
		rte_pktmbuf_free(m);
		return;
	}
	p[ICMP_TYPE] = e->type;
	p[ICMP_CODE] = e->code;
	cksum_store(p + ICMP_CKSUM, 0);
	store_be32(p + ICMP_BODY, e->arg);
	memcpy(p + ICMP_LEN, rte_pktmbuf_mtod(about, const void *), quoted);
	sum = icmp_pseudo(r->proto, &r->src, &r->dst, len);
	cksum_store(p + ICMP_CKSUM, (uint16_t)~cksum_fold(sum + cksum_bytes(p, len)));
	s->stats.icmp_tx++;
	ip_reply(s, r, m, now);
}

bool icmp_report(struct ip_stack *s, uint8_t proto, const struct ip_error *e, uint64_t now)
{
	const struct ip_transport *t = &s->transport[proto];

	/* Only about what we can have sent. */
	if (e->l4_len < IP_QUOTED_LEN || !t->error || !ip_addr_is_local(s, &e->src))
		return false;
	s->stats.icmp_errors_rx++;
	t->error(t->ctx, e, now);
	return true;
}

bool icmp_report_quote_v4(
	struct ip_stack *s, const uint8_t *q, size_t len, struct ip_error *e, uint64_t now)
{
	size_t hlen;

	if (len < IPV4_LEN || q[IPV4_VERSION_IHL] >> 4 != 4)
		return false;
	hlen = (q[IPV4_VERSION_IHL] & 15) * 4U;
	/* What we send has no fragments: another one's first bytes are no transport header. */
	if (hlen < IPV4_LEN || len < hlen || (load_be16(q + IPV4_FRAGMENT) & IPV4_OFFSET_MASK))
		return false;
	e->src = ip_addr_from_v4(q + IPV4_SRC);
	e->dst = ip_addr_from_v4(q + IPV4_DST);
	e->l4 = q + hlen;
	e->l4_len = len - hlen;
	return icmp_report(s, q[IPV4_PROTOCOL], e, now);
}

bool icmp_report_quote_v6(
	struct ip_stack *s, const uint8_t *q, size_t len, struct ip_error *e, uint64_t now)
{
	/* We send no extension headers, so the quoted transport header comes at once. */
	if (len < IPV6_LEN || q[IPV6_VERSION_CLASS_FLOW] >> 4 != 6)
		return false;
	e->src = ip_addr_from_v6(q + IPV6_SRC);
	e->dst = ip_addr_from_v6(q + IPV6_DST);
	/* Of IPv4 nobody tells by ICMPv6. */
	if (ip_addr_is_v4(&e->src) || ip_addr_is_v4(&e->dst))
		return false;
	e->l4 = q + IPV6_LEN;
	e->l4_len = len - IPV6_LEN;
	return icmp_report(s, q[IPV6_NEXT_HEADER], e, now);
}

void icmp_report_own(struct ip_stack *s, const struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *h = rte_pktmbuf_mtod_offset(m, const uint8_t *, ETH_LEN);
	struct ip_error e = {.kind = IP_ERROR_HOST};

	if (ip_secure_report_own(s, h, m->data_len - ETH_LEN, now))
		return;
	/* A frame of ours is no different from a quote of it: each parser takes its own version. */
	if (!icmp_report_quote_v4(s, h, m->data_len - ETH_LEN, &e, now))
		icmp_report_quote_v6(s, h, m->data_len - ETH_LEN, &e, now);
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

/* RFC 1122 section 3.2.2: what must not cause an error. */
static bool icmp_may_answer(const struct icmp_about *about)
{
	const struct ip_rx *rx = about->rx;

	return !rx->secured && !ip_addr_is_any(&rx->src) && !ip_addr_is_multicast(&rx->dst) &&
	       !icmp_is_error(about);
}

static void icmp_tell(struct ip_stack *s, const struct icmp_about *about, uint8_t type,
	uint8_t code, uint64_t now)
{
	const struct ip_reply r = {
		.src = about->rx->dst, .dst = about->rx->src, .proto = ICMP_PROTO, .tos = 0xc0};
	const struct icmp_error e = {.type = type, .code = code, .quote_max = ICMP_QUOTE_MAX};

	if (icmp_may_answer(about) && icmp_take_token(s, now))
		icmp_send_error(s, &r, &e, about->m, now);
}

void icmp_unreachable(
	struct ip_stack *s, const struct icmp_about *about, uint8_t code, uint64_t now)
{
	icmp_tell(s, about, ICMP_UNREACHABLE, code, now);
}

void icmp_not_reassembled(struct ip_stack *s, const struct icmp_about *about, uint64_t now)
{
	icmp_tell(s, about, ICMP_TIME_EXCEEDED, ICMP_TIME_REASSEMBLY, now);
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
	struct ip_error e = {.mtu = 0};

	if (!icmp_error_kind(p, &e) ||
		!icmp_report_quote_v4(s, p + ICMP_LEN, len - ICMP_LEN, &e, now))
		s->stats.icmp_ignored++;
}

void icmp_input(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	const struct ip_reply reply = {
		.src = rx->dst, .dst = rx->src, .proto = ICMP_PROTO, .tos = rx->tos & 0xfc};
	const uint8_t *p;

	m = icmp_receive(s, ICMP_PROTO, rx, m, ICMP_HEAD_MAX);
	if (!m)
		return;
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
		s->stats.icmp_ignored++;
		break;
	}
	rte_pktmbuf_free(m);
}
