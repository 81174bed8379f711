/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/udp.h"

#include "ip/cksum.h"
#include "ip/packet.h"
#include "ip/stack.h"
#include "ip/udp_wire.h"

#include <errno.h>

/* ---- ports ------------------------------------------------------------------------------- */

static struct udp_port *udp_find(struct ip_stack *s, uint16_t port)
{
	for (unsigned i = 0; i < UDP_PORTS_MAX; i++) {
		if (s->udp[i].open && s->udp[i].port == port)
			return &s->udp[i];
	}
	return NULL;
}

int udp_open(struct ip_stack *s, uint16_t port, const struct udp_user *u)
{
	if (udp_find(s, port))
		return -EADDRINUSE;
	for (unsigned i = 0; i < UDP_PORTS_MAX; i++) {
		if (!s->udp[i].open) {
			s->udp[i] = (struct udp_port){.open = true, .port = port, .user = *u};
			return 0;
		}
	}
	return -ENOSPC;
}

void udp_close(struct ip_stack *s, uint16_t port)
{
	struct udp_port *p = udp_find(s, port);

	if (p)
		p->open = false;
}

/* ---- sending ----------------------------------------------------------------------------- */

static uint64_t udp_pseudo(const struct ip_addr *src, const struct ip_addr *dst, uint16_t len)
{
	return cksum_pseudo(cksum_addrs(src, dst), UDP_PROTO, len);
}

int udp_send(struct ip_stack *s, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const void *data, size_t len, uint64_t now)
{
	struct ip_path path = {.tos = 0};
	struct rte_mbuf *m;
	uint16_t sum, size;
	uint8_t *h;
	int rc;

	if (len > UDP_DATA_MAX)
		return -EMSGSIZE;
	size = (uint16_t)(UDP_LEN + len);
	rc = ip_path_init(s, &path, &from->addr, &to->addr, now);
	if (rc)
		return rc;
	m = packet_new(s);
	h = m ? (uint8_t *)rte_pktmbuf_append(m, size) : NULL;
	if (!h) {
		rte_pktmbuf_free(m);
		return -ENOMEM;
	}
	store_be16(h + UDP_SRC_PORT, from->port);
	store_be16(h + UDP_DST_PORT, to->port);
	store_be16(h + UDP_LENGTH, size);
	cksum_store(h + UDP_CKSUM, 0);
	memcpy(h + UDP_LEN, data, len);
	sum = (uint16_t)~cksum_fold(
		udp_pseudo(&from->addr, &to->addr, size) + cksum_bytes(h, size));
	/* RFC 768: zero stands for "none", and all ones is the same number. */
	cksum_store(h + UDP_CKSUM, sum ? sum : UINT16_MAX);
	s->stats.udp_tx++;
	return ip_send(s, &path, UDP_PROTO, m, now);
}

/* ---- receiving --------------------------------------------------------------------------- */

static bool udp_cksum_ok(struct ip_stack *s, const struct ip_rx *rx, const struct rte_mbuf *m)
{
	uint16_t field;

	memcpy(&field, rte_pktmbuf_mtod_offset(m, const void *, UDP_CKSUM), sizeof field);
	/* RFC 8200 section 8.1: no datagram without a checksum. */
	if (!field)
		return ip_addr_is_v4(&rx->src);
	if (rx->l4_cksum_good || ip_l4_cksum(&rx->src, &rx->dst, UDP_PROTO, m, 0) == 0)
		return true;
	/* As ip_l4_cksum_unfilled(): left by a kernel to hardware that is not there. */
	if (field != cksum_fold(udp_pseudo(&rx->src, &rx->dst, (uint16_t)m->pkt_len)))
		return false;
	s->stats.rx_cksum_unfilled++;
	return true;
}

/** @return the datagram @p m, checked and contiguous; NULL: it was dropped. */
static struct rte_mbuf *udp_receive(struct ip_stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	uint16_t len = load_be16(rte_pktmbuf_mtod_offset(m, const uint8_t *, UDP_LENGTH));

	if (len < UDP_LEN || len > m->pkt_len || len - UDP_LEN > UDP_DATA_MAX) {
		s->stats.rx_bad_header++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	if (m->pkt_len > len)
		packet_trim(m, len);
	if (!udp_cksum_ok(s, rx, m)) {
		s->stats.rx_bad_cksum++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	m = packet_head(s, m, len);
	if (!m)
		s->stats.rx_no_memory++;
	return m;
}

bool udp_input(struct ip_stack *s, const struct ip_rx *rx, uint16_t l4_off, struct rte_mbuf *m,
	uint64_t now)
{
	struct ip_endpoint from = {.addr = rx->src}, to = {.addr = rx->dst};
	struct udp_port *p;
	const uint8_t *h;

	/* A data_len of less than l4_off cannot be: IP has seen the headers before. */
	if (m->data_len - l4_off < UDP_LEN || ip_addr_is_multicast(&rx->dst))
		return false;
	h = rte_pktmbuf_mtod_offset(m, const uint8_t *, l4_off);
	from.port = load_be16(h + UDP_SRC_PORT);
	to.port = load_be16(h + UDP_DST_PORT);
	p = udp_find(s, to.port);
	if (!p)
		return false;
	packet_skip(m, l4_off);
	m = udp_receive(s, rx, m);
	if (!m)
		return true;
	s->stats.udp_rx++;
	h = rte_pktmbuf_mtod(m, const uint8_t *);
	p->user.input(p->user.ctx, &from, &to, h + UDP_LEN, m->data_len - UDP_LEN, now);
	rte_pktmbuf_free(m);
	return true;
}

static void udp_error(void *ctx, const struct ip_error *e, uint64_t now)
{
	struct ip_stack *s = ctx;
	struct udp_port *p = udp_find(s, load_be16(e->l4 + UDP_SRC_PORT));
	struct ip_endpoint to = {.addr = e->dst, .port = load_be16(e->l4 + UDP_DST_PORT)};

	if (p && p->user.error)
		p->user.error(p->user.ctx, &to, e, now);
}

void udp_init(struct ip_stack *s)
{
	/* Errors come as to any transport. Input does not: a closed port needs the IP header. */
	s->transport[UDP_PROTO] =
		(struct ip_transport){.error = udp_error, .ctx = s, .min_len = UDP_LEN};
}
