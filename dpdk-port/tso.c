/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/tso.h"

#include "base/bytes.h"

#include <rte_ip.h>
#include <string.h>

/** Of the IP headers. */
enum {
	TSO_V4_LENGTH = 2,
	TSO_V4_ID = 4,
	TSO_V4_FRAGMENT = 6,
	TSO_V4_TTL = 8,
	TSO_V4_CHECKSUM = 10,
	TSO_V4_ADDRESSES = 12,
	TSO_V6_LENGTH = 4,
	TSO_V6_NEXT = 6,
	TSO_V6_HEADER = 40,
	TSO_V4_HEADER = 20,
};

/** Of the TCP header. */
enum {
	TSO_TCP_PORTS = 0,
	TSO_TCP_SEQ = 4,
	TSO_TCP_ACK = 8,
	TSO_TCP_OFFSET = 12,
	TSO_TCP_FLAGS = 13,
	TSO_TCP_WINDOW = 14,
	TSO_TCP_CHECKSUM = 16,
	TSO_TCP_URGENT = 18,
	TSO_TCP_OPTIONS = 20,
};

/** The last segment's alone; those that may differ. */
#define TSO_LAST 0x09 /* FIN, PSH */
/** What segments may have: more is for each its own, or not of the first alone. */
#define TSO_FLAGS 0x59 /* ECE, ACK, FIN, PSH */

/** IP counts its octets in 16 bits. */
#define TSO_IP_MAX 65535

static uint16_t tso_headers(const struct rte_mbuf *m)
{
	return (uint16_t)(m->l2_len + m->l3_len + m->l4_len);
}

static const uint8_t *tso_ip(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, const uint8_t *, m->l2_len);
}

static const uint8_t *tso_tcp(const struct rte_mbuf *m)
{
	return tso_ip(m) + m->l3_len;
}

/** A segment with text, of a connection that is established, whose checksum is the device's. */
static bool tso_is_segment(const struct rte_mbuf *m)
{
	bool v4 = m->ol_flags & RTE_MBUF_F_TX_IPV4;
	uint16_t ip = v4 ? TSO_V4_HEADER : TSO_V6_HEADER;

	if ((m->ol_flags & RTE_MBUF_F_TX_L4_MASK) != RTE_MBUF_F_TX_TCP_CKSUM || m->nb_segs != 1 ||
		m->l3_len != ip || m->l4_len < TSO_TCP_OPTIONS || m->data_len <= tso_headers(m))
		return false;
	return !(tso_tcp(m)[TSO_TCP_FLAGS] & ~TSO_FLAGS) && !(tso_tcp(m)[TSO_TCP_OFFSET] & 0xf);
}

static bool tso_same_layout(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	return a->ol_flags == b->ol_flags && a->l2_len == b->l2_len && a->l3_len == b->l3_len &&
	       a->l4_len == b->l4_len &&
	       memcmp(rte_pktmbuf_mtod(a, const void *), rte_pktmbuf_mtod(b, const void *),
		       a->l2_len) == 0;
}

/** All but the lengths, which follow from the text, and the checksum over them. */
static bool tso_same_ip(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	const uint8_t *x = tso_ip(a), *y = tso_ip(b);

	if (a->ol_flags & RTE_MBUF_F_TX_IPV4)
		return memcmp(x, y, TSO_V4_LENGTH) == 0 &&
		       memcmp(x + TSO_V4_ID, y + TSO_V4_ID, TSO_V4_CHECKSUM - TSO_V4_ID) == 0 &&
		       memcmp(x + TSO_V4_ADDRESSES, y + TSO_V4_ADDRESSES, 8) == 0;
	return memcmp(x, y, TSO_V6_LENGTH) == 0 &&
	       memcmp(x + TSO_V6_NEXT, y + TSO_V6_NEXT, TSO_V6_HEADER - TSO_V6_NEXT) == 0;
}

/** All but the sequence number, what may be the last one's, and the checksum. */
static bool tso_same_tcp(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	const uint8_t *x = tso_tcp(a), *y = tso_tcp(b);

	return memcmp(x, y, 4) == 0 && memcmp(x + TSO_TCP_ACK, y + TSO_TCP_ACK, 5) == 0 &&
	       ((x[TSO_TCP_FLAGS] ^ y[TSO_TCP_FLAGS]) & ~TSO_LAST) == 0 &&
	       memcmp(x + TSO_TCP_WINDOW, y + TSO_TCP_WINDOW, 2) == 0 &&
	       memcmp(x + TSO_TCP_URGENT, y + TSO_TCP_URGENT, a->l4_len - TSO_TCP_URGENT) == 0;
}

static bool tso_follows(const struct tso *t, const struct rte_mbuf *m)
{
	const struct rte_mbuf *h = t->head;
	uint32_t text = m->data_len - tso_headers(m);

	return !t->closed && t->segments < RTE_MIN(t->most, TSO_SEGMENTS_MAX) && text <= t->size &&
	       h->pkt_len - h->l2_len + text <= TSO_IP_MAX &&
	       load_be32(tso_tcp(m) + TSO_TCP_SEQ) == t->next && tso_same_layout(h, m) &&
	       tso_same_ip(h, m) && tso_same_tcp(h, m);
}

static void tso_append(struct tso *t, struct rte_mbuf *m)
{
	uint16_t headers = tso_headers(m),
		 flags = t->head->l2_len + t->head->l3_len + TSO_TCP_FLAGS;

	*rte_pktmbuf_mtod_offset(t->head, uint8_t *, flags) |= tso_tcp(m)[TSO_TCP_FLAGS];
	m->data_off += headers;
	m->data_len -= headers;
	m->pkt_len = m->data_len;
	t->head->pkt_len += m->data_len;
	t->last->next = m;
	t->last->nb_segs = 2;
	t->last = m;
}

bool tso_gather(struct tso *t, struct rte_mbuf *m)
{
	uint16_t text;
	uint32_t seq;
	bool last;

	if (!tso_is_segment(m) || (t->head && !tso_follows(t, m)))
		return false;
	text = (uint16_t)(m->data_len - tso_headers(m));
	seq = load_be32(tso_tcp(m) + TSO_TCP_SEQ);
	last = tso_tcp(m)[TSO_TCP_FLAGS] & TSO_LAST;
	if (t->head) {
		tso_append(t, m);
	} else {
		t->head = t->last = m;
		t->size = text;
		t->segments = 0;
	}
	t->segments++;
	t->next = seq + text;
	t->closed = last || text < t->size;
	return true;
}

static void tso_finish_ip(struct rte_mbuf *m, uint8_t *ip)
{
	uint32_t total = m->pkt_len - m->l2_len;
	uint16_t sum;

	if (!(m->ol_flags & RTE_MBUF_F_TX_IPV4)) {
		store_be16(ip + TSO_V6_LENGTH, (uint16_t)(total - TSO_V6_HEADER));
		return;
	}
	store_be16(ip + TSO_V4_LENGTH, (uint16_t)total);
	store_be16(ip + TSO_V4_CHECKSUM, 0);
	if (m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		return;
	sum = (uint16_t)~rte_raw_cksum(ip, TSO_V4_HEADER);
	memcpy(ip + TSO_V4_CHECKSUM, &sum, sizeof sum);
}

static void tso_finish(struct rte_mbuf *m, uint16_t size)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, m->l2_len);
	uint16_t sum;

	m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
	m->tso_segsz = size;
	tso_finish_ip(m, ip);
	sum = m->ol_flags & RTE_MBUF_F_TX_IPV4
		      ? rte_ipv4_phdr_cksum((const struct rte_ipv4_hdr *)ip, m->ol_flags)
		      : rte_ipv6_phdr_cksum((const struct rte_ipv6_hdr *)ip, m->ol_flags);
	memcpy(ip + m->l3_len + TSO_TCP_CHECKSUM, &sum, sizeof sum);
}

struct rte_mbuf *tso_take(struct tso *t)
{
	struct rte_mbuf *m = t->head;

	t->head = t->last = NULL;
	if (m && t->segments > 1) {
		m->nb_segs = t->segments;
		tso_finish(m, t->size);
	}
	return m;
}
