/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ipv6_wire.h The IPv6 header and its extension headers (RFC 8200). */
#ifndef IP_IPV6_WIRE_H
#define IP_IPV6_WIRE_H

enum {
	IPV6_VERSION_CLASS_FLOW = 0,
	IPV6_PAYLOAD_LENGTH = 4,
	IPV6_NEXT_HEADER = 6,
	IPV6_HOP_LIMIT = 7,
	IPV6_SRC = 8,
	IPV6_DST = 24,
	IPV6_LEN = 40,
};

/** Next header values that we know (IANA). */
enum {
	IPV6_NH_HOP_BY_HOP = 0,
	IPV6_NH_ROUTING = 43,
	IPV6_NH_FRAGMENT = 44,
	IPV6_NH_ICMP = 58,
	IPV6_NH_NONE = 59,
	IPV6_NH_DEST_OPTIONS = 60,
};

/** The common part of extension headers, and the routing header (RFC 8200 section 4). */
enum {
	IPV6_EXT_NEXT = 0,
	IPV6_EXT_LENGTH = 1, /**< in units of 8 bytes, the first 8 not counted */
	IPV6_ROUTING_TYPE = 2,
	IPV6_ROUTING_LEFT = 3, /**< segments left */
};

/** The fragment header (RFC 8200 section 4.5). */
enum {
	IPV6_FRAGMENT_NEXT = 0,
	IPV6_FRAGMENT_OFFSET = 2, /**< offset << 3 | reserved | M */
	IPV6_FRAGMENT_ID = 4,
	IPV6_FRAGMENT_LEN = 8,
};
enum { IPV6_FRAGMENT_MORE = 1, IPV6_FRAGMENT_OFFSET_MASK = 0xfff8 };

/** Options in hop-by-hop and destination headers (RFC 8200 section 4.2). */
enum {
	IPV6_OPT_PAD1 = 0,
	IPV6_OPT_PADN = 1,
	IPV6_OPT_ROUTER_ALERT = 5,
	IPV6_OPT_ACTION_SHIFT = 6,
	IPV6_OPT_SKIP = 0,
	IPV6_OPT_DISCARD = 1,
	IPV6_OPT_REPORT = 2,
	IPV6_OPT_REPORT_UNICAST = 3,
};

#define IPV6_MIN_MTU 1280 /* RFC 8200 section 5 */

#endif
