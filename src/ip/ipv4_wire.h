/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ipv4_wire.h The IPv4 header (RFC 791). */
#ifndef IP_IPV4_WIRE_H
#define IP_IPV4_WIRE_H

enum {
	IPV4_VERSION_IHL = 0,
	IPV4_TOS = 1,
	IPV4_TOTAL_LENGTH = 2,
	IPV4_ID = 4,
	IPV4_FRAGMENT = 6, /**< flags and offset */
	IPV4_TTL = 8,
	IPV4_PROTOCOL = 9,
	IPV4_CKSUM = 10,
	IPV4_SRC = 12,
	IPV4_DST = 16,
	IPV4_LEN = 20, /**< without options */
	IPV4_MAX_LEN = 60,
};

enum {
	IPV4_DF = 0x4000,
	IPV4_MF = 0x2000,
	IPV4_OFFSET_MASK = 0x1fff, /**< in units of 8 bytes */
};

/** The ECN codepoint, of IPV4_TOS and of IPv6's traffic class (RFC 3168 section 5). */
enum {
	IP_ECN_NOT_ECT = 0,
	IP_ECN_ECT1 = 1,
	IP_ECN_ECT0 = 2,
	IP_ECN_CE = 3,
	IP_ECN_MASK = 3,
};

/** Option types (RFC 791 section 3.1). */
enum {
	IPV4_OPT_END = 0,
	IPV4_OPT_NOP = 1,
	IPV4_OPT_LSRR = 131,
	IPV4_OPT_SSRR = 137,
	IPV4_OPT_ROUTER_ALERT = 148
};

#endif
