/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capture_block.h"

#include "base/bytes.h"
#include "base/guarded.h"

#include <rte_mbuf.h>
#include <string.h>

enum block_type {
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
};

#define BYTE_ORDER_MAGIC  0x1a2b3c4d
#define LINKTYPE_ETHERNET 1

#define OPT_END      0
#define SHB_USERAPPL 4
#define IF_NAME      2
#define IF_TSRESOL   9
#define EPB_FLAGS    2
#define ISB_IFDROP   5

struct writer {
	uint8_t *start, *at;
};

static void capture_block_put16(struct writer *w, uint16_t v)
{
	memcpy(w->at, &v, sizeof v);
	w->at += sizeof v;
}

static void capture_block_put32(struct writer *w, uint32_t v)
{
	memcpy(w->at, &v, sizeof v);
	w->at += sizeof v;
}

static void capture_block_put64(struct writer *w, uint64_t v)
{
	memcpy(w->at, &v, sizeof v);
	w->at += sizeof v;
}

/** A time stamp: the high half first, whatever the byte order. */
static void capture_block_put_time(struct writer *w, uint64_t v)
{
	capture_block_put32(w, (uint32_t)(v >> 32));
	capture_block_put32(w, (uint32_t)v);
}

static void capture_block_put_option(
	struct writer *w, uint16_t code, const void *value, uint16_t len)
{
	capture_block_put16(w, code);
	capture_block_put16(w, len);
	if (len)
		memcpy(w->at, value, len);
	memset(w->at + len, 0, (size_t)(-len & 3));
	w->at += (len + 3) / 4 * 4;
}

static struct writer capture_block_begin(uint8_t *b, uint32_t type)
{
	struct writer w = {b, b};

	capture_block_put32(&w, type);
	capture_block_put32(&w, 0);
	return w;
}

static size_t capture_block_end(struct writer *w)
{
	uint32_t len = (uint32_t)(w->at - w->start) + 4;

	capture_block_put32(w, len);
	memcpy(w->start + 4, &len, sizeof len);
	return len;
}

size_t capture_head(uint8_t b[CAPTURE_HEAD_MAX], const char *app, const char *ifname)
{
	const uint8_t nanoseconds = 9;
	struct writer w = capture_block_begin(b, BLOCK_SECTION);
	size_t n;

	capture_block_put32(&w, BYTE_ORDER_MAGIC);
	capture_block_put16(&w, 1); /* version 1.0 */
	capture_block_put16(&w, 0);
	capture_block_put64(&w, UINT64_MAX); /* length unknown */
	capture_block_put_option(&w, SHB_USERAPPL, app, (uint16_t)strnlen(app, 64));
	capture_block_put_option(&w, OPT_END, NULL, 0);
	n = capture_block_end(&w);

	w = capture_block_begin(b + n, BLOCK_INTERFACE);
	capture_block_put16(&w, LINKTYPE_ETHERNET);
	capture_block_put16(&w, 0);
	capture_block_put32(&w, 0); /* no limit on the frame's length */
	capture_block_put_option(&w, IF_NAME, ifname, (uint16_t)strnlen(ifname, 64));
	capture_block_put_option(&w, IF_TSRESOL, &nanoseconds, 1);
	capture_block_put_option(&w, OPT_END, NULL, 0);
	return n + capture_block_end(&w);
}

/** Sum of @p len bytes as big-endian 16-bit words, RFC 1071. */
static uint64_t capture_block_sum16(const uint8_t *p, size_t len)
{
	uint64_t sum = 0;

	for (; len >= 2; p += 2, len -= 2)
		sum += load_be16(p);
	if (len)
		sum += (uint64_t)*p << 8;
	return sum;
}

static uint16_t capture_block_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/** Do to the copy @p f what the port is asked to do to the frame. */
static void capture_block_fill_checksums(uint8_t *f, uint32_t len, const struct rte_mbuf *m)
{
	bool v4 = m->ol_flags & RTE_MBUF_F_TX_IPV4;
	uint32_t l3 = m->l2_len, l4 = l3 + m->l3_len;

	if (l4 + 20 > len || m->l3_len < (v4 ? 20 : 40))
		return;
	if (m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) {
		store_be16(f + l3 + 10, 0);
		store_be16(f + l3 + 10, capture_block_fold(capture_block_sum16(f + l3, m->l3_len)));
	}
	if ((m->ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_TCP_CKSUM) {
		/* The pseudo header: both addresses, protocol and length (RFC 9293 section 3.1). */
		uint64_t sum = v4 ? capture_block_sum16(f + l3 + 12, 8)
				  : capture_block_sum16(f + l3 + 8, 32);

		store_be16(f + l4 + 16, 0);
		sum += 6 + (len - l4) + capture_block_sum16(f + l4, len - l4);
		store_be16(f + l4 + 16, capture_block_fold(sum));
	}
}

void capture_packet_block(
	uint8_t *b, const struct rte_mbuf *m, enum capture_direction dir, uint64_t when)
{
	const uint64_t asked = RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_L4_MASK;
	struct writer w = capture_block_begin(b, BLOCK_PACKET);
	const uint32_t flags = dir;
	uint8_t *frame;

	capture_block_put32(&w, 0); /* interface */
	capture_block_put_time(&w, when);
	capture_block_put32(&w, m->pkt_len);
	capture_block_put32(&w, m->pkt_len);
	frame = w.at;
	for (const struct rte_mbuf *s = m; s; s = s->next) {
		/* It may be the program's memory, and be gone. */
		if (!guarded_copy_from(w.at, rte_pktmbuf_mtod(s, const void *), s->data_len))
			memset(w.at, 0, s->data_len);
		w.at += s->data_len;
	}
	if (dir == CAPTURE_OUT && (m->ol_flags & asked))
		capture_block_fill_checksums(frame, m->pkt_len, m);
	memset(w.at, 0, -m->pkt_len & 3);
	w.at += -m->pkt_len & 3;
	capture_block_put_option(&w, EPB_FLAGS, &flags, sizeof flags);
	capture_block_put_option(&w, OPT_END, NULL, 0);
	capture_block_end(&w);
}

size_t capture_statistics(uint8_t b[CAPTURE_STATISTICS_LEN], uint64_t when, uint64_t dropped)
{
	struct writer w = capture_block_begin(b, BLOCK_STATISTICS);

	capture_block_put32(&w, 0); /* interface */
	capture_block_put_time(&w, when);
	capture_block_put_option(&w, ISB_IFDROP, &dropped, sizeof dropped);
	capture_block_put_option(&w, OPT_END, NULL, 0);
	return capture_block_end(&w);
}
