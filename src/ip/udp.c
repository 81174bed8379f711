/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/udp.h"

#include "ip/cksum.h"
#include "ip/packet.h"
#include "ip/secure.h"
#include "ip/stack.h"
#include "ip/udp_wire.h"

#include <errno.h>
#include <rte_mbuf.h>

#define UDP_GROUP_TTL 1 /* RFC 1112 section 6.1 */

/* ---- ports ------------------------------------------------------------------------------- */

static struct udp_port *udp_find(struct ip_stack *s, uint16_t port)
{
	for (unsigned i = 0; i < s->udp_used; i++) {
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
			if (s->udp_used <= i)
				s->udp_used = i + 1;
			return 0;
		}
	}
	return -ENOSPC;
}

void udp_close(struct ip_stack *s, uint16_t port)
{
	struct udp_port *p = udp_find(s, port);

	if (!p)
		return;
	p->open = false;
	while (s->udp_used != 0 && !s->udp[s->udp_used - 1].open)
		s->udp_used--;
}

/* ---- sending ----------------------------------------------------------------------------- */

static uint64_t udp_pseudo(const struct ip_addr *src, const struct ip_addr *dst, uint16_t len)
{
	return cksum_pseudo(cksum_addrs(src, dst), UDP_PROTO, len);
}

int udp_begin(struct ip_stack *s, struct udp_out *o, const struct udp_datagram *d, uint8_t **room,
	uint64_t now)
{
	uint8_t *h;
	int rc;

	*o = (struct udp_out){.path = {.tos = d->tos, .ttl = d->ttl, .to_group = true},
		.from = d->from,
		.to = d->to};
	if (d->ttl == 0 && ip_addr_is_multicast(&d->to.addr))
		o->path.ttl = UDP_GROUP_TTL;
	rc = ip_path_init(s, &o->path, &d->from.addr, &d->to.addr, now);
	if (rc)
		return rc;
	if (d->len > UINT16_MAX - UDP_LEN - IP_HEADROOM)
		return -EMSGSIZE;
	o->m = packet_new(s);
	if (!o->m)
		return -ENOMEM;
	h = (uint8_t *)rte_pktmbuf_append(o->m, (uint16_t)(UDP_LEN + d->len));
	if (!h) {
		udp_cancel(o);
		return -EMSGSIZE;
	}
	*room = h + UDP_LEN;
	return 0;
}

void udp_cancel(struct udp_out *o)
{
	rte_pktmbuf_free(o->m);
	o->m = NULL;
}

int udp_commit(struct ip_stack *s, struct udp_out *o, uint16_t sum, uint64_t now)
{
	uint8_t *h = rte_pktmbuf_mtod(o->m, uint8_t *);
	uint16_t size = (uint16_t)o->m->pkt_len, field;

	store_be16(h + UDP_SRC_PORT, o->from.port);
	store_be16(h + UDP_DST_PORT, o->to.port);
	store_be16(h + UDP_LENGTH, size);
	cksum_store(h + UDP_CKSUM, 0);
	field = (uint16_t)~cksum_fold(
		udp_pseudo(&o->from.addr, &o->to.addr, size) + cksum_bytes(h, UDP_LEN) + sum);
	/* RFC 768: zero stands for "none", and all ones is the same number. */
	cksum_store(h + UDP_CKSUM, field ? field : UINT16_MAX);
	s->stats.udp_tx++;
	return ip_send(s, &o->path, UDP_PROTO, o->m, now);
}

int udp_send(struct ip_stack *s, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const void *data, size_t len, uint64_t now)
{
	const struct udp_datagram d = {.from = *from, .to = *to, .len = len};
	struct udp_out o;
	uint8_t *room;
	int rc = len > UDP_DATA_MAX ? -EMSGSIZE : udp_begin(s, &o, &d, &room, now);

	if (rc)
		return rc;
	memcpy(room, data, len);
	return udp_commit(s, &o, cksum_fold(cksum_bytes(data, len)), now);
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
static struct rte_mbuf *udp_receive(
	struct ip_stack *s, const struct udp_port *p, const struct ip_rx *rx, struct rte_mbuf *m)
{
	size_t max = p->user.max ? p->user.max : UDP_DATA_MAX;
	uint16_t len = load_be16(rte_pktmbuf_mtod_offset(m, const uint8_t *, UDP_LENGTH));

	if (len < UDP_LEN || len > m->pkt_len || (size_t)len - UDP_LEN > max) {
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
	if (m->data_len - l4_off < UDP_LEN)
		return false;
	h = rte_pktmbuf_mtod_offset(m, const uint8_t *, l4_off);
	from.port = load_be16(h + UDP_SRC_PORT);
	to.port = load_be16(h + UDP_DST_PORT);
	p = udp_find(s, to.port);
	if (!p || (!p->user.groups && ip_addr_is_multicast(&rx->dst)))
		return false;
	packet_skip(m, l4_off);
	m = udp_receive(s, p, rx, m);
	if (!m)
		return true;
	s->stats.udp_rx++;
	h = rte_pktmbuf_mtod(m, const uint8_t *);
	if (p->user.datagram)
		p->user.datagram(p->user.ctx,
			&(struct udp_datagram){.from = from,
				.to = to,
				.tos = rx->tos,
				.ttl = rx->ttl,
				.data = h + UDP_LEN,
				.len = m->data_len - UDP_LEN},
			now);
	else
		p->user.input(p->user.ctx, &from, &to, h + UDP_LEN, m->data_len - UDP_LEN, now);
	rte_pktmbuf_free(m);
	return true;
}

static void udp_error(void *ctx, const struct ip_error *e, uint64_t now)
{
	struct ip_stack *s = ctx;
	struct udp_port *p = udp_find(s, load_be16(e->l4 + UDP_SRC_PORT));
	struct ip_endpoint to = {.addr = e->dst, .port = load_be16(e->l4 + UDP_DST_PORT)};

	ip_secure_udp_error(s, e, now);
	if (p && p->user.error)
		p->user.error(p->user.ctx, &to, e, now);
}

void udp_init(struct ip_stack *s)
{
	/* Errors come as to any transport. Input does not: a closed port needs the IP header. */
	s->transport[UDP_PROTO] =
		(struct ip_transport){.error = udp_error, .ctx = s, .min_len = UDP_LEN};
}
