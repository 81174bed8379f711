/* SPDX-License-Identifier: BSD-2-Clause */
/** @file igmp_wire.h IGMP: RFC 1112 appendix I, RFC 2236, RFC 3376. */
#ifndef IP_IGMP_WIRE_H
#define IP_IGMP_WIRE_H

enum {
	IGMP_TYPE = 0,
	IGMP_CODE = 1, /**< of a query: Max Resp Code, tenths of a second */
	IGMP_CKSUM = 2,
	IGMP_GROUP = 4,
	IGMP_LEN = 8, /**< of all messages of versions 1 and 2 */
	IGMP_QUERY_ROBUSTNESS = 8,
	IGMP_QUERY_INTERVAL = 9,
	IGMP_QUERY_SOURCES = 10,
	IGMP_QUERY_LEN = 12, /**< of version 3; sources follow */
};

enum {
	IGMP_QUERY = 0x11,
	IGMP_V1_REPORT = 0x12,
	IGMP_V2_REPORT = 0x16,
	IGMP_V2_LEAVE = 0x17,
	IGMP_V3_REPORT = 0x22,
};

#endif
