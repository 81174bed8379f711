/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file segment.h
 * TCP segments as a person writes them, and as IP packets. Nothing of src/tcp is used: this is the
 * other side, written from the RFCs.
 *
 *     S 0 win 65535 <mss 1460,sackOK,ts 100 0,ws 7>
 *     P. 1:1001 ack 1 <sack 2001:3001>
 *     F. 1001 ack 1
 *
 * First the flags: S(YN) F(IN) R(ST) P(SH) .(ACK) U(RG) E(CE) C(WR), or - for none. Then the
 * sequence number of the first byte and, behind a colon, of the byte after the last. Numbers count
 * from the initial sequence number of their sender, which is 0; they may be negative, and one with
 * = before it is as on the wire. Then, in any order:
 *
 *     ack N   win N (as on the wire, unscaled)   urg N   mtu N (none) ttl N
 *     ect0 ect1 ce not-ect (the IP header's ECN field)
 *     other (text that differs from what belongs there)
 *     badsum (wrong TCP checksum)   doff N (header length in words, whatever is there)
 *     <options>: mss N, ws N, sackOK, ts VAL ECR, sack L:R L:R ..., nop, eol, no-ts,
 *                raw HEX (bytes); emitted in this order, padded with end-of-list
 *
 * In an expectation "ts . 5" takes any value, and only what is written counts, but: the flags
 * besides PSH must agree, and so must the SACK blocks.
 */
#ifndef TESTS_TCP_SEGMENT_H
#define TESTS_TCP_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32, ECE = 64, CWR = 128 };

/** Fields that a text gave, or a packet has. */
enum {
	HAS_ACK = 1 << 0,
	HAS_WIN = 1 << 1,
	HAS_MSS = 1 << 2,
	HAS_WS = 1 << 3,
	HAS_SACK_OK = 1 << 4,
	HAS_TS = 1 << 5,
	HAS_TSVAL = 1 << 6, /**< not "." */
	HAS_TSECR = 1 << 7,
	HAS_NO_TS = 1 << 8,
	HAS_ECN = 1 << 9,
	HAS_OTHER = 1 << 10,
	HAS_BADSUM = 1 << 11,
	HAS_DOFF = 1 << 12,
	HAS_SEQ_WIRE = 1 << 13,
	HAS_ACK_WIRE = 1 << 14,
	HAS_PSH = 1 << 15,
};

#define SEG_SACK_MAX 5

struct seg {
	uint32_t has;
	uint8_t flags;
	uint8_t ecn; /**< 0 - 3 */
	uint8_t ws, doff, n_sack;
	uint16_t win, urg, mss;
	uint32_t seq, ack, len;
	uint32_t tsval, tsecr;
	struct {
		uint32_t left, right;
	} sack[SEG_SACK_MAX];
	uint8_t options[40]; /**< as on the wire */
	unsigned n_options;
	const uint8_t *text; /**< of a parsed packet; points into it */
};

/** The addresses and ports between which a packet goes. */
struct seg_path {
	int family;
	uint8_t src[16], dst[16];
	uint16_t sport, dport;
};

/** The initial sequence numbers of the segment's sender and of its receiver. */
struct seg_base {
	uint32_t seq, ack;
};

/**
 * Read @p text. Timestamp options with a "." and those to be made up later are left to the caller;
 * raw options and all others are in options[], for a packet.
 * @return NULL, or what is wrong with it.
 */
const char *seg_parse_text(const char *text, const struct seg_base *base, struct seg *out);

/** Put a timestamp option in front of the others. @return false if there is no room for it. */
bool seg_add_timestamp(struct seg *s, uint32_t val, uint32_t ecr);

/** Make a packet of @p s with s->len bytes of text at @p text. @return its length. */
size_t seg_build(const struct seg *s, const struct seg_path *p, const uint8_t *text, uint8_t *out);

/**
 * Take a packet apart: every length and checksum must be right, every option well-formed.
 * @return NULL, or what is wrong with it.
 */
const char *seg_parse_packet(
	const uint8_t *packet, size_t len, struct seg_path *p, struct seg *out);

/** Write @p s as text. */
void seg_format(const struct seg *s, const struct seg_base *base, char *buf, size_t len);

/** Fill in checksums of an IP packet of any kind: IPv4 header, TCP, ICMP, ICMPv6. */
void packet_finish(uint8_t *packet, size_t len);

/** The IP header (20 or 40 bytes) before @p payload bytes of @p proto. @return its length. */
size_t packet_ip_header(
	const struct seg_path *p, uint8_t proto, size_t payload, uint8_t ecn, uint8_t *out);

#endif
