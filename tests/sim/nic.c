/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/nic.h"

#include "base/bytes.h"
#include "dpdk-port/tso.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "sim/headers.h"
#include "tcp/tcp_wire.h"

#include <rte_ip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Chains whose buffers are not given back yet. */
#define NIC_RING 4

struct sim_nic {
	struct sim_element *port;
	struct tso tso;
	struct sim_nic_stats stats;
	struct rte_mbuf *ring[NIC_RING]; /**< NULL: nothing */
	unsigned at;
};

struct sim_nic *sim_nic_create(struct sim_element *port)
{
	struct sim_nic *n = calloc(1, sizeof *n);

	if (!n)
		abort();
	n->port = port;
	n->tso.most = TSO_SEGMENTS_MAX;
	return n;
}

/** A chain has left, and its buffers are its descriptors' until their turn comes again. */
static void nic_keep(struct sim_nic *n, struct rte_mbuf *m)
{
	rte_pktmbuf_free(n->ring[n->at]);
	n->ring[n->at] = m;
	n->at = (n->at + 1) % NIC_RING;
}

/** A driver believes what a frame says of its parts. */
static void nic_check(const struct rte_mbuf *m)
{
	const char *why;

	if (rte_mbuf_check(m, 1, &why)) {
		fprintf(stderr, "sim: a frame for the NIC: %s\n", why);
		abort();
	}
}

/** What the driver left in the field is part of the sum; of a chain it has no length. */
static void nic_fill_tcp(const struct sim_headers *h)
{
	uint8_t *tcp = h->frame + h->l4;
	uint32_t len = h->end - h->l4, sum = rte_raw_cksum(tcp, len) + htons((uint16_t)len);
	uint16_t text;

	sum = (sum & 0xffff) + (sum >> 16);
	text = (uint16_t) ~((sum & 0xffff) + (sum >> 16));
	memcpy(tcp + TCP_OFF_CKSUM, &text, sizeof text);
}

/** Lengths and checksums of a segment, whose headers are the chain's. */
static void nic_finish(struct rte_mbuf *m, bool v4, uint16_t l2)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, l2);
	struct sim_headers h;
	uint16_t sum;

	if (v4) {
		store_be16(ip + IPV4_TOTAL_LENGTH, (uint16_t)(m->pkt_len - l2));
		store_be16(ip + IPV4_CKSUM, 0);
		sum = (uint16_t)~rte_raw_cksum(ip, IPV4_LEN);
		memcpy(ip + IPV4_CKSUM, &sum, sizeof sum);
	} else {
		store_be16(ip + IPV6_PAYLOAD_LENGTH, (uint16_t)(m->pkt_len - l2 - IPV6_LEN));
	}
	if (!sim_headers_find(m, &h) || !h.is_tcp)
		abort();
	nic_fill_tcp(&h);
}

/** The segment of @p len bytes of text from @p at on. */
static struct rte_mbuf *nic_cut(
	struct sim_nic *n, const struct rte_mbuf *m, uint32_t at, uint32_t len)
{
	uint32_t headers = m->l2_len + m->l3_len + m->l4_len, tcp = m->l2_len + m->l3_len;
	struct rte_mbuf *out = sim_packet_new(n->port->sim);
	const void *text;
	uint8_t *to;

	if (!out)
		return NULL;
	to = (uint8_t *)rte_pktmbuf_append(out, (uint16_t)(headers + len));
	if (!to)
		abort();
	memcpy(to, rte_pktmbuf_mtod(m, const void *), headers);
	text = rte_pktmbuf_read(m, headers + at, len, to + headers);
	if (text != to + headers)
		memcpy(to + headers, text, len);
	store_be32(to + tcp + TCP_OFF_SEQ, load_be32(to + tcp + TCP_OFF_SEQ) + at);
	if (headers + at + len < m->pkt_len)
		to[tcp + TCP_OFF_FLAGS] &= (uint8_t) ~(TCP_PSH | TCP_FIN);
	nic_finish(out, m->ol_flags & RTE_MBUF_F_TX_IPV4, m->l2_len);
	return out;
}

/** A chain: one frame for each tso_segsz bytes of its text. */
static void nic_segment(struct sim_nic *n, struct rte_mbuf *m)
{
	const uint32_t text = m->pkt_len - m->l2_len - m->l3_len - m->l4_len, size = m->tso_segsz;

	nic_check(m);
	n->stats.chains++;
	for (uint32_t at = 0; at < text; at += size) {
		struct rte_mbuf *out = nic_cut(n, m, at, RTE_MIN(size, text - at));

		n->stats.segments++;
		if (out)
			sim_pass(n->port, out);
	}
	nic_keep(n, m);
}

/** One that was not gathered with others, with its checksums made. */
static void nic_send_one(struct sim_nic *n, struct rte_mbuf *m)
{
	nic_check(m);
	if (m->nb_segs > 1) {
		n->stats.gathered++;
		rte_pktmbuf_refcnt_update(m, 1);
		nic_keep(n, m);
	}
	m = sim_packet_launch(n->port->sim, m);
	if (m)
		m = sim_packet_own(n->port->sim, m);
	if (m)
		sim_pass(n->port, m);
}

void sim_nic_flush(struct sim_nic *n)
{
	struct rte_mbuf *m = tso_take(&n->tso);

	if (m && m->ol_flags & RTE_MBUF_F_TX_TCP_SEG)
		nic_segment(n, m);
	else if (m)
		nic_send_one(n, m);
}

void sim_nic_send(struct sim_nic *n, struct rte_mbuf *m)
{
	if (tso_gather(&n->tso, m))
		return;
	sim_nic_flush(n);
	if (!tso_gather(&n->tso, m))
		nic_send_one(n, m);
}

void sim_nic_settle(struct sim_nic *n)
{
	for (unsigned i = 0; i < NIC_RING; i++)
		nic_keep(n, NULL);
}

bool sim_nic_has_queued(const struct sim_nic *n)
{
	return n->tso.head != NULL;
}

const struct sim_nic_stats *sim_nic_get_stats(const struct sim_nic *n)
{
	return &n->stats;
}

void sim_nic_destroy(struct sim_nic *n)
{
	if (!n)
		return;
	rte_pktmbuf_free(tso_take(&n->tso));
	sim_nic_settle(n);
	free(n);
}
