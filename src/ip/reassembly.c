/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/reassembly.h"

#include "base/bytes.h"
#include "base/container_of.h"
#include "ip/ipv4.h"
#include "ip/ipv6.h"
#include "ip/stack.h"

#include <errno.h>
#include <rte_ip_frag.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

/*
 * RFC 8200 section 4.5: 60 seconds; RFC 1122 section 3.3.2: 60 to 120. The library calls the unit
 * cycles, but only compares it with the time that we pass: nanoseconds.
 */
#define TIMEOUT_NS (60 * SECOND)
#define SWEEP_NS   SECOND

/*
 * Fragments wait in receive buffers, and strangers must not use these up: 16 datagrams of at most
 * RTE_LIBRTE_IP_FRAG_MAX_FRAG (8) pieces.
 */
#define DATAGRAMS 16
#define BUCKETS   16
#define WAYS      4

/*
 * No router makes a fragment smaller than this, except the last: the lowest MTU is 576, or 1280 for
 * IPv6. Tiny fragments hide headers (RFC 1858) and fill tables.
 */
#define MIN_PIECE_V4 512
#define MIN_PIECE_V6 (IPV6_MIN_MTU - IPV6_LEN - IPV6_FRAGMENT_LEN - 8)

struct reassembly {
	struct ip_stack *stack;
	struct rte_ip_frag_tbl *table;
	struct rte_ip_frag_death_row row;
	struct timer sweep;
	uint64_t last; /* when the youngest fragment came */
};

static void reassembly_bury(struct reassembly *r)
{
	if (!r->row.cnt)
		return;
	r->stack->stats.reassembly_failed++;
	rte_ip_frag_free_death_row(&r->row, 0);
}

/** Their senders are told. With IPsec nobody knows whether it would have let them in. */
static void reassembly_expire(struct reassembly *r, uint64_t now)
{
	struct ip_stack *s = r->stack;

	rte_ip_frag_table_del_expired_entries(r->table, &r->row, now);
	for (uint32_t i = 0; i < r->row.cnt && !s->cfg.ipsec; i++) {
		struct rte_mbuf *m = r->row.row[i];

		if (rte_pktmbuf_mtod(m, const uint8_t *)[IPV4_VERSION_IHL] >> 4 == 4)
			ipv4_not_reassembled(s, m, now);
		else
			ipv6_not_reassembled(s, m, now);
	}
	reassembly_bury(r);
}

static void reassembly_sweep(struct timer *t, uint64_t now)
{
	struct reassembly *r = container_of(t, struct reassembly, sweep);

	reassembly_expire(r, now);
	if (now - r->last <= TIMEOUT_NS + SWEEP_NS)
		timer_start(r->stack->cfg.wheel, t, now + SWEEP_NS);
}

int reassembly_init(struct ip_stack *s)
{
	struct reassembly *r = calloc(1, sizeof *r);

	if (!r)
		return -ENOMEM;
	r->stack = s;
	r->table = rte_ip_frag_table_create(BUCKETS, WAYS, DATAGRAMS, TIMEOUT_NS, SOCKET_ID_ANY);
	if (!r->table) {
		free(r);
		return -ENOMEM;
	}
	timer_init(&r->sweep, reassembly_sweep);
	s->reassembly = r;
	return 0;
}

void reassembly_fini(struct ip_stack *s)
{
	struct reassembly *r = s->reassembly;

	if (!r)
		return;
	timer_stop(s->cfg.wheel, &r->sweep);
	rte_ip_frag_free_death_row(&r->row, 0);
	rte_ip_frag_table_destroy(r->table);
	free(r);
}

/* The piece may be inside a datagram: RFC 791, RFC 8200 section 4.5. */
static bool reassembly_piece_ok(uint32_t offset, uint32_t len, bool more, uint32_t least)
{
	if (len == 0 || offset + len > UINT16_MAX - IPV4_MAX_LEN)
		return false;
	return !more || (len % 8 == 0 && len >= least);
}

static void reassembly_begin(struct ip_stack *s, uint64_t now)
{
	struct reassembly *r = s->reassembly;

	s->stats.rx_fragments++;
	/* The library would drop what it takes the place of in silence. */
	reassembly_expire(r, now);
	r->last = now;
	if (!timer_running(&r->sweep))
		timer_start(s->cfg.wheel, &r->sweep, now + SWEEP_NS);
}

/*
 * A piece waits with its ECN codepoint in each of its buffers, where a port may leave the packet's
 * hash: the library keeps the first piece's header alone.
 */
static void reassembly_keep_ecn(struct rte_mbuf *m, uint8_t traffic_class)
{
	for (; m; m = m->next)
		m->hash.usr = UINT32_C(1) << (traffic_class & IP_ECN_MASK);
}

/**
 * RFC 3168 section 5.3: congestion that one piece tells of is the whole's.
 * @return false: it cannot say so, as another piece says that its sender knows no ECN.
 */
static bool reassembly_join_ecn(struct rte_mbuf *whole)
{
	uint8_t *h = rte_pktmbuf_mtod(whole, uint8_t *);
	uint32_t seen = 0;

	for (const struct rte_mbuf *m = whole; m; m = m->next)
		seen |= m->hash.usr;
	if (!(seen & UINT32_C(1) << IP_ECN_CE))
		return true;
	if (seen & UINT32_C(1) << IP_ECN_NOT_ECT)
		return false;
	if (h[IPV4_VERSION_IHL] >> 4 == 4)
		h[IPV4_TOS] |= IP_ECN_CE;
	else
		h[IPV6_VERSION_CLASS_FLOW + 1] |= IP_ECN_CE << 4;
	return true;
}

static struct rte_mbuf *reassembly_end(struct ip_stack *s, struct rte_mbuf *whole)
{
	reassembly_bury(s->reassembly);
	if (!whole)
		return NULL;
	if (!reassembly_join_ecn(whole)) {
		s->stats.reassembly_failed++;
		rte_pktmbuf_free(whole);
		return NULL;
	}
	s->stats.reassembled++;
	/* What the port said of the first piece says nothing of the whole. */
	whole->ol_flags &= ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
	return whole;
}

struct rte_mbuf *reassembly_refuse(struct ip_stack *s, struct rte_mbuf *m)
{
	s->stats.rx_fragments++;
	s->stats.reassembly_failed++;
	rte_pktmbuf_free(m);
	return NULL;
}

struct rte_mbuf *reassembly_v4(struct ip_stack *s, struct rte_mbuf *m, uint16_t hlen, uint64_t now)
{
	struct reassembly *r = s->reassembly;
	uint8_t *h = rte_pktmbuf_mtod(m, uint8_t *);
	uint16_t field = load_be16(h + IPV4_FRAGMENT);
	uint32_t offset = (field & IPV4_OFFSET_MASK) * 8U;

	if (!reassembly_piece_ok(offset, m->pkt_len - hlen, field & IPV4_MF, MIN_PIECE_V4))
		return reassembly_refuse(s, m);
	reassembly_begin(s, now);
	reassembly_keep_ecn(m, h[IPV4_TOS]);
	m->l2_len = 0;
	m->l3_len = hlen;
	/* The library reads the header through its own struct, byte for byte as on the wire. */
	return reassembly_end(
		s, rte_ipv4_frag_reassemble_packet(r->table, &r->row, m, now, (void *)h));
}

struct rte_mbuf *reassembly_v6(struct ip_stack *s, struct rte_mbuf *m, uint16_t at, uint64_t now)
{
	struct reassembly *r = s->reassembly;
	uint8_t *h = rte_pktmbuf_mtod(m, uint8_t *);
	uint16_t field = load_be16(h + at + IPV6_FRAGMENT_OFFSET);
	uint32_t len = m->pkt_len - at - IPV6_FRAGMENT_LEN;

	/* The library knows no other extension header in front; nobody sends them so. */
	if (at != IPV6_LEN || !reassembly_piece_ok(field & IPV6_FRAGMENT_OFFSET_MASK, len,
				      field & IPV6_FRAGMENT_MORE, MIN_PIECE_V6))
		return reassembly_refuse(s, m);
	reassembly_begin(s, now);
	reassembly_keep_ecn(m, (uint8_t)(load_be16(h + IPV6_VERSION_CLASS_FLOW) >> 4));
	m->l2_len = 0;
	m->l3_len = IPV6_LEN + IPV6_FRAGMENT_LEN;
	return reassembly_end(s, rte_ipv6_frag_reassemble_packet(
					 r->table, &r->row, m, now, (void *)h, (void *)(h + at)));
}
