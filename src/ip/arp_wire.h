/* SPDX-License-Identifier: BSD-2-Clause */
/** @file arp_wire.h ARP for IPv4 over Ethernet (RFC 826), after the Ethernet header. */
#ifndef IP_ARP_WIRE_H
#define IP_ARP_WIRE_H

enum {
	ARP_HTYPE = 0,
	ARP_PTYPE = 2,
	ARP_HLEN = 4,
	ARP_PLEN = 5,
	ARP_OP = 6,
	ARP_SHA = 8,  /**< sender's hardware address */
	ARP_SPA = 14, /**< sender's protocol address */
	ARP_THA = 18,
	ARP_TPA = 24,
	ARP_LEN = 28,
};

enum { ARP_HTYPE_ETHERNET = 1, ARP_OP_REQUEST = 1, ARP_OP_REPLY = 2 };

#endif
