/* SPDX-License-Identifier: BSD-2-Clause */
/** @file udp_wire.h The UDP header (RFC 768). */
#ifndef IP_UDP_WIRE_H
#define IP_UDP_WIRE_H

enum {
	UDP_SRC_PORT = 0,
	UDP_DST_PORT = 2,
	UDP_LENGTH = 4, /**< header and data */
	UDP_CKSUM = 6,  /**< 0: none was made, which IPv6 does not allow */
	UDP_LEN = 8,
};

#endif
