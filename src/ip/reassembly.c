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
 * RTE_LIBRTE_IP_FRAG_MAX_FRAG (8) pieces. The oldest goes for one more, as what was lost of it will
 * not come; but first those of a source that would have more than its share.
 */
#define DATAGRAMS       16
#define DATAGRAMS_SHARE 8

/*
 * No router makes a fragment smaller than this, except the last: the lowest MTU is 576, or 1280 for
 * IPv6. Tiny fragments hide headers (RFC 1858) and fill tables.
 */
#define MIN_PIECE_V4 512
#define MIN_PIECE_V6 (IPV6_MIN_MTU - IPV6_LEN - IPV6_FRAGMENT_LEN - 8)

/*
 * What the pieces of a datagram have in common (RFC 791, RFC 8200 section 4.5): with IPv4 that is
 * the protocol, too.
 */
struct datagram_key {
	struct ip_addr src, dst;
	uint32_t id; /* of IPv4 behind the protocol */
};

/* A table of the library's has room for one, as it lets go of nothing but the old. */
struct datagram {
	struct rte_ip_frag_tbl *table;
	struct datagram_key key;
	uint64_t begun; /* when its first piece came */
	uint64_t order; /* how many were begun before */
	bool waits;     /* for more pieces */
};

struct reassembly {
	struct ip_stack *stack;
	struct datagram datagrams[DATAGRAMS];
	uint64_t begun;
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

/* All its pieces are for reassembly_bury(). */
static void reassembly_give_up(struct reassembly *r, struct datagram *d)
{
	rte_ip_frag_table_del_expired_entries(d->table, &r->row, UINT64_MAX);
	d->waits = false;
}

/** Its sender is told. */
static void reassembly_tell(struct reassembly *r, uint64_t now)
{
	struct ip_stack *s = r->stack;

	for (uint32_t i = 0; i < r->row.cnt; i++) {
		struct rte_mbuf *m = r->row.row[i];

		if (rte_pktmbuf_mtod(m, const uint8_t *)[IPV4_VERSION_IHL] >> 4 == 4)
			ipv4_not_reassembled(s, m, now);
		else
			ipv6_not_reassembled(s, m, now);
	}
}

static void reassembly_expire(struct reassembly *r, uint64_t now)
{
	for (unsigned i = 0; i < DATAGRAMS; i++) {
		struct datagram *d = &r->datagrams[i];

		if (!d->waits || now - d->begun <= TIMEOUT_NS)
			continue;
		reassembly_give_up(r, d);
		reassembly_tell(r, now);
		reassembly_bury(r);
	}
}

static void reassembly_sweep(struct timer *t, uint64_t now)
{
	struct reassembly *r = container_of(t, struct reassembly, sweep);

	reassembly_expire(r, now);
	if (now - r->last <= TIMEOUT_NS + SWEEP_NS)
		timer_start(r->stack->cfg.wheel, t, now + SWEEP_NS);
}

static void reassembly_free(struct reassembly *r)
{
	for (unsigned i = 0; i < DATAGRAMS && r->datagrams[i].table; i++)
		rte_ip_frag_table_destroy(r->datagrams[i].table);
	free(r);
}

int reassembly_init(struct ip_stack *s)
{
	struct reassembly *r = calloc(1, sizeof *r);

	if (!r)
		return -ENOMEM;
	r->stack = s;
	for (unsigned i = 0; i < DATAGRAMS; i++) {
		r->datagrams[i].table =
			rte_ip_frag_table_create(1, 1, 1, TIMEOUT_NS, SOCKET_ID_ANY);
		if (!r->datagrams[i].table) {
			reassembly_free(r);
			return -ENOMEM;
		}
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
	reassembly_free(r);
}

/* The piece may be inside a datagram: RFC 791, RFC 8200 section 4.5. */
static bool reassembly_piece_ok(uint32_t offset, uint32_t len, bool more, uint32_t least)
{
	if (len == 0 || offset + len > UINT16_MAX - IPV4_MAX_LEN)
		return false;
	return !more || (len % 8 == 0 && len >= least);
}

static bool reassembly_same(const struct datagram_key *a, const struct datagram_key *b)
{
	return a->id == b->id && ip_addr_equal(&a->src, &b->src) && ip_addr_equal(&a->dst, &b->dst);
}

static struct datagram *reassembly_find(struct reassembly *r, const struct datagram_key *key)
{
	for (unsigned i = 0; i < DATAGRAMS; i++) {
		struct datagram *d = &r->datagrams[i];

		if (d->waits && reassembly_same(&d->key, key))
			return d;
	}
	return NULL;
}

/** @return how many datagrams of @p src wait. */
static unsigned reassembly_of_source(const struct reassembly *r, const struct ip_addr *src)
{
	unsigned n = 0;

	for (unsigned i = 0; i < DATAGRAMS; i++)
		n += r->datagrams[i].waits && ip_addr_equal(&r->datagrams[i].key.src, src);
	return n;
}

/** @return of all that wait the one to give up for one more of @p src. */
static struct datagram *reassembly_oldest(struct reassembly *r, const struct ip_addr *src)
{
	struct datagram *oldest = NULL;
	bool most = false;

	for (unsigned i = 0; i < DATAGRAMS; i++) {
		struct datagram *d = &r->datagrams[i];
		unsigned more = ip_addr_equal(&d->key.src, src);
		bool over = reassembly_of_source(r, &d->key.src) + more > DATAGRAMS_SHARE;

		if (!oldest || (over == most ? d->order < oldest->order : over)) {
			oldest = d;
			most = over;
		}
	}
	return oldest;
}

/** @return a free place, or one to be made free, for a datagram of @p src. */
static struct datagram *reassembly_place(struct reassembly *r, const struct ip_addr *src)
{
	for (unsigned i = 0; i < DATAGRAMS; i++) {
		if (!r->datagrams[i].waits)
			return &r->datagrams[i];
	}
	return reassembly_oldest(r, src);
}

/** @return the datagram that a piece with @p key belongs to. */
static struct datagram *reassembly_begin(
	struct ip_stack *s, const struct datagram_key *key, uint64_t now)
{
	struct reassembly *r = s->reassembly;
	struct datagram *d;

	s->stats.rx_fragments++;
	reassembly_expire(r, now);
	r->last = now;
	if (!timer_running(&r->sweep))
		timer_start(s->cfg.wheel, &r->sweep, now + SWEEP_NS);
	d = reassembly_find(r, key);
	if (d)
		return d;
	d = reassembly_place(r, &key->src);
	reassembly_give_up(r, d);
	reassembly_bury(r);
	d->key = *key;
	d->begun = now;
	d->order = r->begun++;
	d->waits = true;
	return d;
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

static struct rte_mbuf *reassembly_end(
	struct ip_stack *s, struct datagram *d, struct rte_mbuf *whole)
{
	/* It is whole, or the library dropped it: pieces of it overlap, or are too many. A piece
	 * alone it would drop where that is empty, or has no place: reassembly_piece_ok(), and each
	 * datagram has a table. */
	if (whole || s->reassembly->row.cnt)
		d->waits = false;
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
	const struct datagram_key key = {ip_addr_from_v4(h + IPV4_SRC),
		ip_addr_from_v4(h + IPV4_DST),
		(uint32_t)h[IPV4_PROTOCOL] << 16 | load_be16(h + IPV4_ID)};
	struct datagram *d;

	if (!reassembly_piece_ok(offset, m->pkt_len - hlen, field & IPV4_MF, MIN_PIECE_V4))
		return reassembly_refuse(s, m);
	d = reassembly_begin(s, &key, now);
	reassembly_keep_ecn(m, h[IPV4_TOS]);
	m->l2_len = 0;
	m->l3_len = hlen;
	/* The library reads the header through its own struct, byte for byte as on the wire. */
	return reassembly_end(
		s, d, rte_ipv4_frag_reassemble_packet(d->table, &r->row, m, now, (void *)h));
}

struct rte_mbuf *reassembly_v6(struct ip_stack *s, struct rte_mbuf *m, uint16_t at, uint64_t now)
{
	struct reassembly *r = s->reassembly;
	uint8_t *h = rte_pktmbuf_mtod(m, uint8_t *);
	uint16_t field = load_be16(h + at + IPV6_FRAGMENT_OFFSET);
	uint32_t len = m->pkt_len - at - IPV6_FRAGMENT_LEN;
	const struct datagram_key key = {ip_addr_from_v6(h + IPV6_SRC),
		ip_addr_from_v6(h + IPV6_DST), load_be32(h + at + IPV6_FRAGMENT_ID)};
	struct datagram *d;

	/* The library knows no other extension header in front; nobody sends them so. */
	if (at != IPV6_LEN || !reassembly_piece_ok(field & IPV6_FRAGMENT_OFFSET_MASK, len,
				      field & IPV6_FRAGMENT_MORE, MIN_PIECE_V6))
		return reassembly_refuse(s, m);
	d = reassembly_begin(s, &key, now);
	reassembly_keep_ecn(m, (uint8_t)(load_be16(h + IPV6_VERSION_CLASS_FLOW) >> 4));
	m->l2_len = 0;
	m->l3_len = IPV6_LEN + IPV6_FRAGMENT_LEN;
	return reassembly_end(s, d,
		rte_ipv6_frag_reassemble_packet(
			d->table, &r->row, m, now, (void *)h, (void *)(h + at)));
}
