/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp_peer.h"

#include "ip/arp_wire.h"
#include "ip/eth_wire.h"
#include "ip/ipv4_wire.h"
#include "tcp/tcp_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PORT 10000 /* of ours */
#define MSS        1460
#define WSCALE     7
#define TTL        64
#define PROTO_TCP  6

static const uint8_t our_mac[] = {2, 0, 0, 0, 0, PEER_NUMBER};
static const uint8_t its_mac[] = {2, 0, 0, 0, 0, STACK_NUMBER};
static const uint8_t our_ip[] = {10, 0, 0, PEER_NUMBER};
static const uint8_t its_ip[] = {10, 0, 0, STACK_NUMBER};

static void die(const char *what)
{
	fprintf(stderr, "tcp_connections: the peer: %s\n", what);
	exit(1);
}

void peer_init(struct peer *p, struct rte_mempool *pool, unsigned n,
	void (*transmit)(void *ctx, struct rte_mbuf *m), void *ctx)
{
	*p = (struct peer){.pool = pool, .n = n, .transmit = transmit, .ctx = ctx};
	p->end = malloc(n * sizeof *p->end);
	if (!p->end)
		die("no memory");
	memset(p->end, 0xff, n * sizeof *p->end); /* all of it is there before any is counted */
}

/** A frame of @p len bytes with its Ethernet header. */
static struct rte_mbuf *frame(struct peer *p, uint16_t type, unsigned len, uint8_t **at)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool);
	uint8_t *h;

	if (!m)
		die("no packet");
	h = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(ETH_LEN + len));
	eth_store(h, its_mac, our_mac, type);
	*at = h + ETH_LEN;
	return m;
}

/** A segment of connection @p i, with @p len bytes of text. Checksums are the port's business. */
static void send_segment(struct peer *p, unsigned i, struct tcp_segment *seg, uint32_t len)
{
	struct peer_end *e = &p->end[i];
	struct rte_mbuf *m;
	uint8_t *h;

	seg->sport = (uint16_t)(FIRST_PORT + i / PEER_PORTS);
	seg->dport = (uint16_t)(PEER_PORT + i % PEER_PORTS);
	seg->seq = e->snd_nxt;
	seg->ack = e->rcv_nxt;
	seg->wnd = UINT16_MAX;
	seg->has |= TCP_HAS_TS;
	seg->tsval = (uint32_t)(p->now / 1000000);
	seg->tsecr = e->ts_recent;
	m = frame(p, ETH_TYPE_IPV4, IPV4_LEN + tcp_wire_len(seg) + len, &h);
	memset(h, 0, IPV4_LEN);
	h[IPV4_VERSION_IHL] = 0x45;
	store_be16(h + IPV4_TOTAL_LENGTH, (uint16_t)(m->pkt_len - ETH_LEN));
	store_be16(h + IPV4_FRAGMENT, IPV4_DF);
	h[IPV4_TTL] = TTL;
	h[IPV4_PROTOCOL] = PROTO_TCP;
	memcpy(h + IPV4_SRC, our_ip, sizeof our_ip);
	memcpy(h + IPV4_DST, its_ip, sizeof its_ip);
	memset(h + IPV4_LEN + tcp_wire_emit(seg, h + IPV4_LEN), 0x5a, len);
	m->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	e->snd_nxt += len + ((seg->flags & TCP_SYN) != 0);
	p->transmit(p->ctx, m);
}

void peer_connect(struct peer *p, unsigned i)
{
	struct tcp_segment syn = {.flags = TCP_SYN,
		.has = TCP_HAS_MSS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED,
		.mss = MSS,
		.wscale = WSCALE};

	p->end[i] = (struct peer_end){.snd_nxt = i * 2654435761u};
	send_segment(p, i, &syn, 0);
}

void peer_ask(struct peer *p, unsigned i, uint32_t len)
{
	struct tcp_segment text = {.flags = TCP_ACK | TCP_PSH};

	p->end[i].unanswered += len;
	send_segment(p, i, &text, len);
}

void peer_acknowledge(struct peer *p, unsigned i)
{
	struct tcp_segment ack = {.flags = TCP_ACK};

	send_segment(p, i, &ack, 0);
}

static void answer_arp(struct peer *p, const uint8_t *query)
{
	struct rte_mbuf *m;
	uint8_t *h;

	if (memcmp(query + ARP_TPA, our_ip, sizeof our_ip) != 0)
		return;
	m = frame(p, ETH_TYPE_ARP, ARP_LEN, &h);
	memcpy(h, query, ARP_SHA);
	store_be16(h + ARP_OP, ARP_OP_REPLY);
	memcpy(h + ARP_SHA, our_mac, sizeof our_mac);
	memcpy(h + ARP_SPA, our_ip, sizeof our_ip);
	memcpy(h + ARP_THA, query + ARP_SHA, ETH_ADDR_LEN + sizeof its_ip);
	p->transmit(p->ctx, m);
}

static void segment_comes(struct peer *p, const uint8_t *h, unsigned len)
{
	struct tcp_segment seg;
	struct peer_end *e;
	unsigned i;

	if (tcp_wire_parse(h, len, len, &seg))
		die("a bad header");
	i = (seg.dport - FIRST_PORT) * PEER_PORTS + seg.sport - PEER_PORT;
	if (i >= p->n)
		die("a segment of no connection");
	e = &p->end[i];
	p->segments++;
	e->ts_recent = seg.tsval;
	if (seg.flags & TCP_SYN) {
		e->rcv_nxt = seg.seq + 1;
		p->connected++;
		peer_acknowledge(p, i);
	} else if (seg.flags & (TCP_RST | TCP_FIN) || seg.seq != e->rcv_nxt ||
		   seg.ack != e->snd_nxt || seg.len > e->unanswered) {
		die("not the segment that must come"); /* repeated, or out of order: too late */
	}
	e->rcv_nxt += seg.len;
	e->unanswered -= seg.len;
	p->answered += seg.len;
}

void peer_input(struct peer *p, struct rte_mbuf *m)
{
	const uint8_t *h = rte_pktmbuf_mtod(m, const uint8_t *), *ip = h + ETH_LEN;

	if (load_be16(h + ETH_TYPE) == ETH_TYPE_ARP)
		answer_arp(p, ip);
	else if (load_be16(h + ETH_TYPE) == ETH_TYPE_IPV4 && ip[IPV4_PROTOCOL] == PROTO_TCP)
		segment_comes(p, ip + IPV4_LEN, load_be16(ip + IPV4_TOTAL_LENGTH) - IPV4_LEN);
	rte_pktmbuf_free(m);
}
