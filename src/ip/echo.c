/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/echo.h"

#include "base/bytes.h"
#include "ip/cksum.h"
#include "ip/icmp.h"
#include "ip/icmp_wire.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/packet.h"
#include "ip/stack.h"

#include <errno.h>
#include <rte_mbuf.h>
#include <string.h>

enum { ECHO_ID = ICMP_BODY, ECHO_SEQUENCE = ICMP_BODY + 2 };

/** Is the message at @p p, of which 8 bytes are there, about the request that we wait for? */
static bool echo_is_ours(const struct echo *e, const uint8_t *p)
{
	return e->state == ECHO_WAITING && load_be16(p + ECHO_ID) == e->id &&
	       load_be16(p + ECHO_SEQUENCE) == e->seq;
}

void echo_reply_input(struct echo *e, const struct ip_rx *rx, const uint8_t *p, uint64_t now)
{
	if (ip_addr_equal(&rx->src, &e->dst) && echo_is_ours(e, p)) {
		e->state = ECHO_REPLIED;
		e->answered = now;
	}
}

static void echo_error_input(void *ctx, const struct ip_error *error, uint64_t now)
{
	struct echo *e = ctx;
	uint8_t request = ip_addr_is_v4(&error->dst) ? ICMP_ECHO_REQUEST : ICMPV6_ECHO_REQUEST;

	if (!ip_addr_equal(&error->dst, &e->dst) || error->l4[ICMP_TYPE] != request ||
		!echo_is_ours(e, error->l4))
		return;
	e->state = ECHO_ERROR;
	e->error = error->kind;
	e->mtu = error->mtu;
	e->answered = now;
}

void echo_init(struct echo *e, struct ip_stack *ip, uint16_t id)
{
	const struct ip_transport t = {.error = echo_error_input, .ctx = e};

	*e = (struct echo){.ip = ip, .id = id};
	ip->echo = e;
	ip_set_transport(ip, ICMP_PROTO, &t);
	ip_set_transport(ip, IPV6_NH_ICMP, &t);
}

/** The message, its checksum filled in. */
static struct rte_mbuf *echo_request(const struct echo *e, const struct ip_path *path, uint16_t len)
{
	bool v4 = ip_addr_is_v4(&path->dst);
	struct rte_mbuf *m = packet_new(e->ip);
	uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, len) : NULL;
	uint64_t sum;

	if (!p) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memset(p, 0, len);
	p[ICMP_TYPE] = v4 ? ICMP_ECHO_REQUEST : ICMPV6_ECHO_REQUEST;
	store_be16(p + ECHO_ID, e->id);
	store_be16(p + ECHO_SEQUENCE, e->seq);
	sum = icmp_pseudo(v4 ? ICMP_PROTO : IPV6_NH_ICMP, &path->src, &path->dst, len);
	cksum_store(p + ICMP_CKSUM, (uint16_t)~cksum_fold(sum + cksum_bytes(p, len)));
	return m;
}

int echo_send(struct echo *e, const struct ip_addr *dst, uint16_t len, uint64_t now)
{
	bool v4 = ip_addr_is_v4(dst);
	uint16_t head = v4 ? IPV4_LEN : IPV6_LEN;
	struct ip_path path = {.mtu = 0};
	struct rte_mbuf *m;
	struct ip_addr src;
	int rc = ip_source(e->ip, dst, &src);

	if (rc == 0)
		rc = ip_path_init(e->ip, &path, &src, dst, now);
	if (rc != 0)
		return rc;
	if (len < head + ICMP_LEN || len > e->ip->cfg.mtu)
		return -EMSGSIZE;
	e->state = ECHO_IDLE;
	e->seq++;
	m = echo_request(e, &path, (uint16_t)(len - head));
	if (!m)
		return -ENOMEM;
	e->dst = *dst;
	e->len = len;
	e->sent = now;
	e->state = ECHO_WAITING;
	path.mtu = e->ip->cfg.mtu;
	rc = ip_send(e->ip, &path, v4 ? ICMP_PROTO : IPV6_NH_ICMP, m, now);
	if (rc != 0)
		e->state = ECHO_IDLE;
	return rc;
}
