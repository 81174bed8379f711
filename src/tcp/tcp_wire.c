/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/tcp_wire.h"

#include "base/bytes.h"

#include <errno.h>

/** NOP, NOP, kind 8, length 10: RFC 7323 appendix A. */
#define TS_WORD 0x0101080au

static void tcp_wire_parse_sack(const uint8_t *o, unsigned len, struct tcp_segment *out)
{
	if (out->n_sack || len < 10 || (len - 2) % 8 || (len - 2) / 8 > TCP_SACK_MAX)
		return;
	for (unsigned i = 0; i < (len - 2) / 8; i++) {
		out->sack[i].left = load_be32(o + 2 + 8 * i);
		out->sack[i].right = load_be32(o + 6 + 8 * i);
	}
	out->n_sack = (uint8_t)((len - 2) / 8);
}

static void tcp_wire_parse_syn_option(const uint8_t *o, unsigned len, struct tcp_segment *out)
{
	switch (o[0]) {
	case TCP_OPT_MSS:
		if (len == 4 && !(out->has & TCP_HAS_MSS)) {
			out->mss = load_be16(o + 2);
			out->has |= TCP_HAS_MSS;
		}
		break;
	case TCP_OPT_WSCALE:
		if (len == 3 && !(out->has & TCP_HAS_WSCALE)) {
			out->wscale = o[2] > TCP_WSCALE_MAX ? TCP_WSCALE_MAX : o[2];
			out->has |= TCP_HAS_WSCALE;
		}
		break;
	case TCP_OPT_SACK_PERMITTED:
		if (len == 2)
			out->has |= TCP_HAS_SACK_PERMITTED;
		break;
	}
}

static void tcp_wire_parse_option(const uint8_t *o, unsigned len, struct tcp_segment *out)
{
	if (o[0] == TCP_OPT_TS) {
		if (len == 10 && !(out->has & TCP_HAS_TS)) {
			out->tsval = load_be32(o + 2);
			out->tsecr = load_be32(o + 6);
			out->has |= TCP_HAS_TS;
		}
	} else if (o[0] == TCP_OPT_SACK) {
		tcp_wire_parse_sack(o, len, out);
	} else if (out->flags & TCP_SYN) {
		tcp_wire_parse_syn_option(o, len, out);
	}
}

static int tcp_wire_parse_options(const uint8_t *o, unsigned left, struct tcp_segment *out)
{
	while (left) {
		unsigned len;

		if (o[0] == TCP_OPT_END)
			return 0;
		if (o[0] == TCP_OPT_NOP) {
			o++;
			left--;
			continue;
		}
		/* RFC 9293 section 3.1 (MUST-7) wants an illegal length survived and suggests a
		 * reset; a stranger could cause that, so the segment is dropped instead. */
		if (left < 2 || o[1] < 2 || o[1] > left)
			return -EINVAL;
		len = o[1];
		tcp_wire_parse_option(o, len, out);
		o += len;
		left -= len;
	}
	return 0;
}

int tcp_wire_parse(const uint8_t *p, size_t avail, size_t total, struct tcp_segment *out)
{
	unsigned hlen;

	if (avail < TCP_HEADER_LEN || total < avail)
		return -EINVAL;
	hlen = tcp_wire_header_len(p);
	if (hlen < TCP_HEADER_LEN || hlen > avail)
		return -EINVAL;
	out->sport = load_be16(p + TCP_OFF_SPORT);
	out->dport = load_be16(p + TCP_OFF_DPORT);
	out->seq = load_be32(p + TCP_OFF_SEQ);
	out->ack = load_be32(p + TCP_OFF_ACK);
	out->flags = p[TCP_OFF_FLAGS];
	out->wnd = load_be16(p + TCP_OFF_WND);
	out->header_len = (uint8_t)hlen;
	out->len = (uint32_t)(total - hlen);
	out->has = 0;
	out->n_sack = 0;
	if (hlen == TCP_HEADER_LEN + TCP_TS_LEN && load_be32(p + TCP_HEADER_LEN) == TS_WORD) {
		out->tsval = load_be32(p + TCP_HEADER_LEN + 4);
		out->tsecr = load_be32(p + TCP_HEADER_LEN + 8);
		out->has = TCP_HAS_TS;
		return 0;
	}
	return tcp_wire_parse_options(p + TCP_HEADER_LEN, hlen - TCP_HEADER_LEN, out);
}

unsigned tcp_wire_len(const struct tcp_segment *s)
{
	unsigned n = TCP_HEADER_LEN;

	if (s->has & TCP_HAS_MSS)
		n += 4;
	if (s->has & TCP_HAS_WSCALE)
		n += 4;
	if (s->has & TCP_HAS_TS)
		n += TCP_TS_LEN;
	else if (s->has & TCP_HAS_SACK_PERMITTED)
		n += 4;
	if (s->n_sack)
		n += 4 + 8u * s->n_sack;
	return n;
}

/**
 * A SYN's in the order that Linux has them, MSS, SACK-permitted, timestamps, window scale: the one
 * that middleboxes meet most. SACK-permitted takes the place of the timestamp option's two NOPs
 * where both are sent.
 */
static uint8_t *tcp_wire_emit_options(const struct tcp_segment *s, uint8_t *o)
{
	if (s->has & TCP_HAS_MSS) {
		store_be32(o, (uint32_t)TCP_OPT_MSS << 24 | 4u << 16 | s->mss);
		o += 4;
	}
	if (s->has & TCP_HAS_TS) {
		store_be32(o, TS_WORD);
		if (s->has & TCP_HAS_SACK_PERMITTED)
			store_be16(o, TCP_OPT_SACK_PERMITTED << 8 | 2);
		store_be32(o + 4, s->tsval);
		store_be32(o + 8, s->tsecr);
		o += TCP_TS_LEN;
	} else if (s->has & TCP_HAS_SACK_PERMITTED) {
		store_be32(o, (uint32_t)TCP_OPT_NOP << 24 | TCP_OPT_NOP << 16 |
				      TCP_OPT_SACK_PERMITTED << 8 | 2);
		o += 4;
	}
	if (s->has & TCP_HAS_WSCALE) {
		store_be32(o,
			(uint32_t)TCP_OPT_NOP << 24 | TCP_OPT_WSCALE << 16 | 3u << 8 | s->wscale);
		o += 4;
	}
	if (s->n_sack) {
		store_be32(o, (uint32_t)TCP_OPT_NOP << 24 | TCP_OPT_NOP << 16 | TCP_OPT_SACK << 8 |
				      (2 + 8u * s->n_sack));
		o += 4;
		for (unsigned i = 0; i < s->n_sack; i++, o += 8) {
			store_be32(o, s->sack[i].left);
			store_be32(o + 4, s->sack[i].right);
		}
	}
	return o;
}

unsigned tcp_wire_emit(const struct tcp_segment *s, uint8_t *p)
{
	unsigned len;

	store_be16(p + TCP_OFF_SPORT, s->sport);
	store_be16(p + TCP_OFF_DPORT, s->dport);
	store_be32(p + TCP_OFF_SEQ, s->seq);
	store_be32(p + TCP_OFF_ACK, s->ack);
	p[TCP_OFF_FLAGS] = s->flags;
	store_be16(p + TCP_OFF_WND, s->wnd);
	store_be32(p + TCP_OFF_CKSUM, 0); /* and the urgent pointer */
	len = (unsigned)(tcp_wire_emit_options(s, p + TCP_HEADER_LEN) - p);
	p[TCP_OFF_DATA] = (uint8_t)(len / 4 << 4);
	return len;
}
