/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tcp_wire.h
 * The TCP header and its options (RFC 9293 section 3.1, RFC 7323, RFC 2018), parsed and emitted.
 */
#ifndef TCP_TCP_WIRE_H
#define TCP_TCP_WIRE_H

#include "tcp/seq.h"

#include <stddef.h>
#include <stdint.h>

enum {
	TCP_FIN = 0x01,
	TCP_SYN = 0x02,
	TCP_RST = 0x04,
	TCP_PSH = 0x08,
	TCP_ACK = 0x10,
	TCP_URG = 0x20,
	TCP_ECE = 0x40,
	TCP_CWR = 0x80
};

enum {
	TCP_OFF_SPORT = 0,
	TCP_OFF_DPORT = 2,
	TCP_OFF_SEQ = 4,
	TCP_OFF_ACK = 8,
	TCP_OFF_DATA = 12, /**< header length in words, in the upper four bits */
	TCP_OFF_FLAGS = 13,
	TCP_OFF_WND = 14,
	TCP_OFF_CKSUM = 16,
	TCP_OFF_URG = 18,
	TCP_HEADER_LEN = 20,
	TCP_HEADER_MAX = 60
};

enum {
	TCP_OPT_END = 0,
	TCP_OPT_NOP = 1,
	TCP_OPT_MSS = 2,
	TCP_OPT_WSCALE = 3,
	TCP_OPT_SACK_PERMITTED = 4,
	TCP_OPT_SACK = 5,
	TCP_OPT_TS = 8
};

/** The timestamp option with the two NOPs in front that nearly everybody sends. */
#define TCP_TS_LEN 12
/** RFC 7323 section 2.3: a larger shift means 14. */
#define TCP_WSCALE_MAX 14
/** RFC 2018 section 3: what fits without timestamps. */
#define TCP_SACK_MAX 4

/** Which options a segment had, or shall have. */
enum { TCP_HAS_MSS = 1, TCP_HAS_WSCALE = 2, TCP_HAS_SACK_PERMITTED = 4, TCP_HAS_TS = 8 };

/** One segment's header; fields of options that are not in `has` are not valid. */
struct tcp_segment {
	uint32_t seq, ack;
	uint32_t len; /**< of the text alone */
	uint16_t sport, dport;
	uint16_t wnd; /**< as in the header, unscaled */
	uint8_t flags;
	uint8_t header_len;
	uint8_t has;
	uint8_t n_sack;
	uint8_t wscale;
	uint16_t mss;
	uint32_t tsval, tsecr;
	struct tcp_range sack[TCP_SACK_MAX];
};

/**
 * Parse the header at @p p.
 * @param avail bytes readable at @p p: at least the whole header, as tcp_wire_header_len() says.
 * @param total bytes of header and text together.
 * @return 0, or -EINVAL: the header or an option's length does not add up.
 *
 * A known option of a wrong length is passed over; options that belong on a SYN are not looked
 * at elsewhere (RFC 9293 section 3.2); the first of two equal options counts.
 */
int tcp_wire_parse(const uint8_t *p, size_t avail, size_t total, struct tcp_segment *out);

/** Length of the header at @p p, of which TCP_HEADER_LEN bytes are there. */
static inline unsigned tcp_wire_header_len(const uint8_t *p)
{
	return (unsigned)(p[TCP_OFF_DATA] >> 4) * 4;
}

/** Bytes of header that @p s takes when emitted; with its options padded to words. */
unsigned tcp_wire_len(const struct tcp_segment *s);

/** Write @p s at @p p, tcp_wire_len() bytes; the checksum field is 0. @return the length. */
unsigned tcp_wire_emit(const struct tcp_segment *s, uint8_t *p);

/** Sequence space that a segment takes: text, SYN and FIN (RFC 9293 section 3.4). */
static inline uint32_t tcp_segment_space(const struct tcp_segment *s)
{
	return s->len + ((s->flags & TCP_SYN) != 0) + ((s->flags & TCP_FIN) != 0);
}

#endif
