/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file boundary.h
 * A host behind an IPsec boundary of the test's own, which does as it is told: it protects nothing.
 * The host is 10.0.0.1/24 and fd00::1/64.
 */
#ifndef TESTS_UNIT_IP_BOUNDARY_H
#define TESTS_UNIT_IP_BOUNDARY_H

#include "host.h"

#define OVERHEAD 40 /* octets that ESP adds */
#define ESP      50

#define ETH_V4 "02 00 00 00 00 01 02 00 00 00 00 02 08 00 "
#define ETH_V6 "02 00 00 00 00 01 02 00 00 00 00 02 86 dd "
#define FD1    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define FD2    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define FD9    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 09 "
#define OURS   "0a 00 00 01 "
#define PEER   "0a 00 00 02 "
#define FAR    "0a 00 00 09 "
#define SPI    "00 00 10 01 00 00 00 07 "
#define TCP    "13 88 c3 50 00 00 00 03 00 00 00 04 50 02 10 00 00 00 00 00 "

/** Headers: their lengths and checksums are filled in by boundary_received(). */
#define V4(proto, src, dst)       "45 00 00 00 00 00 40 00 40 " proto " 00 00 " src dst
#define V4_FRAGMENT(field, proto) "45 00 00 00 00 07 " field " 40 " proto " 00 00 " PEER OURS
#define V6(next, limit, src, dst) "60 00 00 00 00 00 " next " " limit " " src dst
#define V6_FRAGMENT(next, field)  next " 00 " field " 00 00 00 07 "
#define SECURED_V4                ETH_V4 V4("32", PEER, OURS) SPI
#define SECURED_V6                      \
	ETH_V6 V6("32", "40", FD2, FD1) \
	SPI

struct boundary {
	struct ip_flow out, in; /**< of the last packet each way */
	struct ip_flow asked;   /**< whether we have sent it */
	unsigned n_out, n_in, n_room;
	enum ip_ipsec_verdict out_verdict;
	enum ip_ipsec_verdict in_verdict;    /**< of ESP */
	enum ip_ipsec_verdict inner_verdict; /**< of all else */
	struct ip_addr tunnel;               /**< its other end; any address: transport mode */
	const char *outside;   /**< what a packet's payload begins with then; NULL: as it was */
	uint8_t outside_proto; /**< and whose it is */
	uint16_t overhead;
	const char *inside;    /**< what was protected, with a link's header */
	uint64_t inside_flags; /**< of its mbuf */
	const void *secured;   /**< what the last packet is said to be protected by */
	struct host *host;
};

extern struct boundary boundary;

/** Addresses of both families: ours, a neighbour's, another's, and one without a route. */
extern const struct boundary_family {
	const char *ours, *peer, *far, *foreign;
	uint16_t head, least; /**< of its header, of its path MTUs */
} boundary_families[2];

struct host *boundary_host(bool no_link);

/** The host receives this frame, its lengths and checksums filled in. */
void boundary_received(struct host *h, const char *hex);

#endif
